/* tensorfile/tensor_set.c - sets of named tensors, and files by extension. */
#include <string.h>

#include "support/core/alloc.h"
#include "support/data/vec.h"
#include "support/os/fs.h"
#include "tensorfile/tensorfile.h"

#define MAX_FILE_BYTES ((size_t)1 << 40)

void hone_tensor_set_deinit(hone_tensor_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        hone_free(set->data[i].name);
        hone_tensor_destroy(set->data[i].tensor);
    }
    hone_vec_deinit(set);
}

const hone_tensor *hone_tensor_set_find(const hone_tensor_set *set, const char *name) {
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->data[i].name, name) == 0) return set->data[i].tensor;
    }
    return NULL;
}

hone_status hone_tensor_set_add(hone_tensor_set *set, const char *name, hone_tensor *tensor) {
    hone_status st = HONE_OK;
    hone_named_tensor item = {.tensor = tensor};
    if (!*name) {
        st = HONE_ERROR(HONE_CODE_INVALID, "a tensor without a name");
    } else if (hone_tensor_set_find(set, name)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "there are two tensors '%s'", name);
    } else {
        item.name = hone_strdup(name);
        if (item.name && hone_vec_push(set, item)) return HONE_OK;
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "tensor '%s'", name);
    }
    hone_free(item.name);
    hone_tensor_destroy(tensor);
    return st;
}

/* ---- files ---- */

static hone_status read_npy_set(const void *bytes, size_t count, hone_tensor_set *out_set) {
    hone_tensor *tensor = NULL;
    HONE_TRY(hone_npy_read(bytes, count, &tensor));
    return hone_tensor_set_add(out_set, "arr_0", tensor);
}

static hone_status write_npy_set(const hone_tensor_set *set, hone_str *out) {
    if (set->count == 1) return hone_npy_write(set->data[0].tensor, out);
    return HONE_ERROR(HONE_CODE_INVALID, "a .npy file holds one tensor, not %zu; use .npz",
                      set->count);
}

static const struct format {
    const char *extension;
    hone_status (*read)(const void *bytes, size_t count, hone_tensor_set *out_set);
    hone_status (*write)(const hone_tensor_set *set, hone_str *out);
} formats[] = {
    {".npy",         read_npy_set,          write_npy_set         },
    {".npz",         hone_npz_read,         hone_npz_write        },
    {".safetensors", hone_safetensors_read, hone_safetensors_write},
};

static hone_status find_format(const char *path, const struct format **out_format) {
    const char *extension = hone_path_extension(path);
    for (size_t i = 0; i < HONE_COUNT(formats); i++) {
        *out_format = &formats[i];
        if (strcmp(extension, formats[i].extension) == 0) return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s: no such kind of tensor file; there are .npy, .npz and .safetensors",
                      path);
}

hone_status hone_tensor_set_load(const char *path, hone_tensor_set *out_set) {
    *out_set = (hone_tensor_set){0};
    const struct format *format;
    char *bytes = NULL;
    size_t count = 0;
    HONE_TRY(find_format(path, &format));
    HONE_TRY(hone_fs_read(path, MAX_FILE_BYTES, &bytes, &count));
    hone_status st = hone_status_annotate(format->read(bytes, count, out_set), "%s", path);
    hone_free(bytes);
    if (st) hone_tensor_set_deinit(out_set);
    return st;
}

hone_status hone_tensor_set_save(const char *path, const hone_tensor_set *set) {
    const struct format *format;
    hone_str bytes = {0};
    HONE_TRY(find_format(path, &format));
    hone_status st = hone_status_annotate(format->write(set, &bytes), "%s", path);
    if (!st) st = hone_fs_write_atomic(path, hone_str_text(&bytes), bytes.length);
    hone_str_deinit(&bytes);
    return st;
}

hone_status hone_npy_load(const char *path, hone_tensor **out_tensor) {
    *out_tensor = NULL;
    char *bytes = NULL;
    size_t count = 0;
    HONE_TRY(hone_fs_read(path, MAX_FILE_BYTES, &bytes, &count));
    hone_status st = hone_status_annotate(hone_npy_read(bytes, count, out_tensor), "%s", path);
    hone_free(bytes);
    return st;
}

hone_status hone_npy_save(const char *path, const hone_tensor *tensor) {
    hone_str bytes = {0};
    hone_status st = hone_status_annotate(hone_npy_write(tensor, &bytes), "%s", path);
    if (!st) st = hone_fs_write_atomic(path, hone_str_text(&bytes), bytes.length);
    hone_str_deinit(&bytes);
    return st;
}
