/* ir/script.c - the doors of script.h: text and files in, files out.
 *
 * Weights that are too large for the text stand in a .safetensors file beside it, under the names
 * "constant.0", "constant.1", ...: the numbers of metadata["relax.expr.Constant"][i].
 */
#include "ir/script.h"

#include <stdio.h>
#include <string.h>

#include "ir/script_impl.h"
#include "ir/script_print_graph.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "tensorfile/tensorfile.h"

enum { MOST_BYTES = 1 << 28, MOST_WEIGHTS = 1 << 20 };

hone_status hone_script_parse(const char *text, size_t length, const char *source_name,
                              hone_module **out_module) {
    assert(text && source_name && out_module);
    script_source source = {.text = text, .length = length, .name = source_name};
    return script_parse_module(&source, NULL, 0, out_module);
}

hone_status hone_script_parse_outline(const char *text, size_t length, const char *source_name,
                                      hone_module **out_module) {
    assert(text && source_name && out_module);
    script_source source = {
        .text = text, .length = length, .name = source_name, .is_outline = true};
    return script_parse_module(&source, NULL, 0, out_module);
}

/* "dir/prog.py" → "dir/prog.safetensors"; NULL when memory is short. */
static char *weights_path(const char *path) {
    hone_str out = {0};
    hone_str_append(&out, path);
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".py") == 0) hone_str_truncate(&out, length - 3);
    hone_str_append(&out, ".safetensors");
    return hone_str_take(&out);
}

/* The tensors of a set in the order of their numbers; those that are missing stay NULL. */
static hone_status sort_weights(const hone_tensor_set *set, hone_tensor ***out_weights,
                                uint32_t *out_count) {
    uint32_t count = (uint32_t)(set->count < MOST_WEIGHTS ? set->count : MOST_WEIGHTS);
    for (size_t i = 0; i < set->count; i++) {
        unsigned number = 0;
        bool numbered = sscanf(set->data[i].name, "constant.%u", &number) == 1;
        if (numbered && number < MOST_WEIGHTS && number >= count) count = number + 1;
    }
    hone_tensor **weights = hone_calloc(count ? count : 1, sizeof(hone_tensor *));
    if (!weights) return HONE_ERROR(HONE_CODE_NO_MEMORY, "weights");
    for (size_t i = 0; i < set->count; i++) {
        unsigned number = 0;
        bool numbered = sscanf(set->data[i].name, "constant.%u", &number) == 1;
        if (!numbered) number = (unsigned)i; /* a file of another tool: in its order */
        if (number < count) weights[number] = set->data[i].tensor;
    }
    *out_weights = weights;
    *out_count = count;
    return HONE_OK;
}

static hone_status parse_with_weights(const script_source *source, const char *path,
                                      hone_module **out_module) {
    hone_tensor_set set = {0};
    hone_tensor **weights = NULL;
    uint32_t count = 0;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_tensor_set_load(path, &set), done);
    HONE_TRY_GOTO(st, sort_weights(&set, &weights, &count), done);
    st = script_parse_module(source, weights, count, out_module);
done:
    hone_free(weights);
    hone_tensor_set_deinit(&set);
    return st;
}

static hone_status load(const char *path, bool is_outline, hone_module **out_module) {
    assert(path && out_module);
    *out_module = NULL;
    script_source source = {.name = strcmp(path, "-") == 0 ? "<stdin>" : path,
                            .is_outline = is_outline};
    char *text = NULL, *beside = NULL;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_fs_read(path, MOST_BYTES, &text, &source.length), done);
    source.text = text;
    beside = weights_path(path);
    if (!beside) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    } else if (strcmp(path, "-") != 0 && hone_fs_exists(beside)) {
        st = parse_with_weights(&source, beside, out_module);
    } else {
        st = script_parse_module(&source, NULL, 0, out_module);
    }
done:
    hone_free(beside);
    hone_free(text);
    return st;
}

hone_status hone_script_load(const char *path, hone_module **out_module) {
    return load(path, false, out_module);
}

hone_status hone_script_load_outline(const char *path, hone_module **out_module) {
    return load(path, true, out_module);
}

static hone_status save_weights(const hone_module *module, const char *path) {
    hone_tensor_set set = {0};
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < module->constant_count && !st; i++) {
        if (!module->constants[i] || !print_is_weight(module->constants[i])) continue;
        char name[32];
        hone_tensor *copy = NULL;
        snprintf(name, sizeof name, "constant.%u", i);
        HONE_TRY_GOTO(st, hone_tensor_clone(module->constants[i], &copy), done);
        st = hone_tensor_set_add(&set, name, copy);
    }
    if (!st && set.count) st = hone_tensor_set_save(path, &set);
done:
    hone_tensor_set_deinit(&set);
    return st;
}

hone_status hone_script_save(const hone_module *module, const char *path,
                             const hone_print_options *options) {
    assert(module && path);
    hone_str text = {0};
    char *beside = weights_path(path);
    hone_status st = HONE_OK;
    if (!beside) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    HONE_TRY_GOTO(st, hone_module_print(module, options, &text), done);
    if (strcmp(path, "-") != 0) HONE_TRY_GOTO(st, save_weights(module, beside), done);
    st = hone_fs_write_atomic(path, hone_str_text(&text), text.length);
done:
    hone_str_deinit(&text);
    hone_free(beside);
    return st;
}
