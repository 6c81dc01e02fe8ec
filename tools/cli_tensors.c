/* tools/cli_tensors.c - tensors that users name. */
#include "tools/cli_tensors.h"

#include <string.h>

#include "graph/frontend/onnx_import.h"
#include "graph/graph_options.h"
#include "support/fs.h"
#include "support/rng.h"

enum { INPUT_SEED = 20 };

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "tensors");
}

/* ---- files ---- */

static hone_status add_one(hone_tensor_set *set, const char *name, size_t name_length,
                           hone_tensor *tensor) {
    hone_str text = {0};
    if (name_length) {
        hone_str_append_n(&text, name, name_length);
    } else {
        hone_str_printf(&text, "%zu", set->count);
    }
    hone_status st = hone_tensor_set_add(set, hone_str_text(&text), tensor);
    hone_str_deinit(&text);
    return st;
}

static hone_status add_all(hone_tensor_set *set, const char *path, const char *name,
                           size_t name_length) {
    hone_tensor_set file;
    HONE_TRY(hone_tensor_set_load(path, &file));
    hone_status st = HONE_OK;
    if (name_length && file.count != 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: holds %zu tensors, a name is for one", path,
                        file.count);
    }
    for (size_t i = 0; i < file.count && !st; i++) {
        hone_tensor *tensor = file.data[i].tensor;
        file.data[i].tensor = NULL;
        st = name_length ? add_one(set, name, name_length, tensor)
                         : hone_tensor_set_add(set, file.data[i].name, tensor);
    }
    hone_tensor_set_deinit(&file);
    return st;
}

static hone_status load_one(hone_tensor_set *set, const char *text) {
    const char *equals = hone_fs_exists(text) ? NULL : strchr(text, '=');
    const char *path = equals ? equals + 1 : text;
    size_t name_length = equals ? (size_t)(equals - text) : 0;
    const char *ending = hone_path_extension(path);
    hone_tensor *tensor;
    if (strcmp(ending, ".pb") == 0) {
        HONE_TRY(hone_onnx_load_tensor(path, &tensor));
        return add_one(set, text, name_length, tensor);
    }
    if (strcmp(ending, ".npy") == 0) {
        HONE_TRY(hone_npy_load(path, &tensor));
        return add_one(set, text, name_length, tensor);
    }
    return add_all(set, path, text, name_length);
}

hone_status hone_cli_load_tensors(const hone_cli_list *files, hone_tensor_set *out_set) {
    *out_set = (hone_tensor_set){0};
    for (size_t i = 0; i < files->count; i++)
        HONE_TRY(load_one(out_set, files->items[i]));
    return HONE_OK;
}

/* ---- made up ---- */

static int64_t find_size(const char *name, const hone_dim_variants *sizes) {
    const hone_dim_variant *variant = sizes->count ? &sizes->items[0] : NULL;
    for (size_t i = 0; variant && name && i < variant->dim_count; i++) {
        if (strcmp(variant->dims[i].name, name) == 0) return variant->dims[i].size;
    }
    return 1;
}

static hone_status make_up(const hone_cli_want *want, const hone_dim_variants *sizes, hone_rng *rng,
                           hone_tensor_set *set) {
    int64_t shape[HONE_MAX_RANK];
    for (int32_t d = 0; d < want->rank; d++) {
        shape[d] = want->shape[d];
        if (shape[d] < 0) shape[d] = find_size(want->dim_names[d], sizes);
    }
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(want->dtype, want->rank, shape, &tensor));
    if (want->is_size) {
        hone_tensor_set_i64(tensor, 0, find_size(want->name, sizes));
    } else {
        hone_tensor_fill_random(tensor, rng, hone_dtype_is_float(want->dtype) ? -1 : 0, 1);
    }
    return add_one(set, want->name, strlen(want->name), tensor);
}

static hone_status make_up_all(hone_cli *cli, const hone_cli_want *wants, size_t count,
                               const hone_cli_list *shapes, hone_tensor_set *set) {
    hone_dim_variants sizes = {0};
    hone_status st = hone_dim_variants_parse(shapes->items, shapes->count, &sizes);
    hone_rng rng = hone_rng_from_seed(INPUT_SEED);
    for (size_t i = 0; i < count && !st; i++)
        st = make_up(&wants[i], &sizes, &rng, set);
    hone_dim_variants_deinit(&sizes);
    if (!st && count) HONE_LOG(&cli->log, HONE_LOG_INFO, "no --in: the inputs are made up");
    return st;
}

/* ---- matching ---- */

static hone_tensor *find_named(hone_tensor_set *set, const char *name) {
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->data[i].name, name) == 0) return set->data[i].tensor;
    }
    return NULL;
}

static hone_status wrong_count(const hone_cli_want *wants, size_t count, size_t given) {
    hone_str names = {0};
    for (size_t i = 0; i < count; i++) {
        hone_str_printf(&names, "%s'%s' %s[", i ? ", " : "", wants[i].name,
                        HONE_DTYPE_NAME(wants[i].dtype));
        for (int32_t d = 0; d < wants[i].rank; d++) {
            if (d) hone_str_append(&names, ", ");
            if (wants[i].shape[d] >= 0) {
                hone_str_printf(&names, "%lld", (long long)wants[i].shape[d]);
            } else {
                hone_str_append(&names, wants[i].dim_names[d] ? wants[i].dim_names[d] : "any");
            }
        }
        hone_str_append(&names, "]");
    }
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "%zu tensors are given with --in, it takes %zu: %s", given,
                   count, hone_str_text(&names));
    hone_str_deinit(&names);
    return st;
}

static bool have_names(hone_tensor_set *set, const hone_cli_want *wants, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!find_named(set, wants[i].name)) return false;
    }
    return true;
}

/* An int4 is a byte in a file: int8 that fits it, uint8 for uint4. */
static hone_status take_as_four_bits(const hone_cli_want *want, hone_tensor *tensor) {
    bool is_four = want->dtype.bits == 4 && hone_dtype_is_integer(want->dtype);
    bool is_byte = tensor->dtype.bits == 8 && tensor->dtype.code == want->dtype.code;
    if (!is_four || !is_byte) return HONE_OK;
    int64_t count = hone_tensor_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = hone_tensor_get_i64(tensor, i);
        if (value >= hone_dtype_min_int(want->dtype) && value <= hone_dtype_max_int(want->dtype))
            continue;
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is %s, and element %lld of its tensor is %lld",
                          want->name, HONE_DTYPE_NAME(want->dtype), (long long)i, (long long)value);
    }
    tensor->dtype = want->dtype;
    return HONE_OK;
}

hone_status hone_cli_match_tensors(hone_cli *cli, const hone_cli_want *wants, size_t count,
                                   const hone_cli_list *shapes, hone_tensor_set *set,
                                   hone_tensor ***out_tensors) {
    *out_tensors = hone_arena_zalloc(cli->arena, (count + 1) * sizeof **out_tensors);
    if (!*out_tensors) return no_memory();
    if (set->count == 0) HONE_TRY(make_up_all(cli, wants, count, shapes, set));
    if (set->count != count) return wrong_count(wants, count, set->count);
    bool is_by_name = have_names(set, wants, count);
    for (size_t i = 0; i < count; i++) {
        (*out_tensors)[i] = is_by_name ? find_named(set, wants[i].name) : set->data[i].tensor;
        HONE_TRY(take_as_four_bits(&wants[i], (*out_tensors)[i]));
    }
    return HONE_OK;
}

hone_status hone_cli_wants_of_entry(hone_cli *cli, const hone_model_entry *entry,
                                    const hone_cli_want **out_wants) {
    size_t count = (size_t)entry->input_count;
    hone_cli_want *wants = hone_arena_zalloc(cli->arena, (count + 1) * sizeof *wants);
    if (!wants) return no_memory();
    for (size_t i = 0; i < count; i++) {
        const hone_model_port *port = &entry->inputs[i];
        wants[i].name = port->name;
        wants[i].dtype = hone_model_port_dtype(port);
        wants[i].rank = port->ndim;
        if (port->ndim > HONE_MAX_RANK || hone_dtype_is_void(wants[i].dtype)) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "input '%s' has %d dimensions of type '%s'",
                              port->name, (int)port->ndim, port->dtype_name);
        }
        for (int32_t d = 0; d < port->ndim; d++) {
            wants[i].shape[d] = port->shape[d];
            wants[i].dim_names[d] = port->dim_names[d];
        }
    }
    *out_wants = wants;
    return HONE_OK;
}
