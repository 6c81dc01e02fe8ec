/* ir/text/read/script.c - the doors of script.h: texts and files in. */
#include "ir/text/read/script.h"

#include <string.h>

#include "ir/text/read/script_impl.h"
#include "ir/text/script_weights.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { MOST_BYTES = 1 << 28 };

hone_status hone_script_parse(const char *text, size_t length, const char *source_name,
                              hone_module **out_module) {
    assert(text && source_name && out_module);
    py_source source = {.text = text, .length = length, .name = source_name};
    return script_parse_module(&source, NULL, 0, out_module);
}

hone_status hone_script_parse_outline(const char *text, size_t length, const char *source_name,
                                      hone_module **out_module) {
    assert(text && source_name && out_module);
    py_source source = {.text = text, .length = length, .name = source_name, .is_outline = true};
    return script_parse_module(&source, NULL, 0, out_module);
}

static hone_status parse_with_weights(const py_source *source, const char *path,
                                      hone_module **out_module) {
    hone_tensor_set set = {0};
    hone_tensor **weights = NULL;
    uint32_t count = 0;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_tensor_set_load(path, &set), done);
    HONE_TRY_GOTO(st, script_weights_sort(&set, &weights, &count), done);
    st = script_parse_module(source, weights, count, out_module);
done:
    hone_free(weights);
    hone_tensor_set_deinit(&set);
    return st;
}

static hone_status load(const char *path, bool is_outline, hone_module **out_module) {
    assert(path && out_module);
    *out_module = NULL;
    py_source source = {.name = strcmp(path, "-") == 0 ? "<stdin>" : path,
                        .is_outline = is_outline};
    char *text = NULL, *beside = NULL;
    hone_status st = HONE_OK;
    HONE_TRY_GOTO(st, hone_fs_read(path, MOST_BYTES, &text, &source.length), done);
    source.text = text;
    beside = script_weights_path(path);
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
