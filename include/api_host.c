/* include/api_host.c - programs beside the library, sizes and variants, and tensors of callers. */
#include "include/api_host.h"

#include <dlfcn.h>
#include <string.h>

#include "compile/records/variant_choice.h"
#include "runtime/model_load.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

/* ---- programs ---- */

/* The folder of the library that this function is in. */
static const char *library_folder(hone_arena *arena) {
    Dl_info info;
    const char *(*here)(hone_arena *) = library_folder;
    void *address;
    memcpy(&address, &here, sizeof address); /* ISO C has no cast for this */
    if (!dladdr(address, &info) || !info.dli_fname) return NULL;
    char *folder = hone_path_dirname(info.dli_fname);
    const char *kept = folder ? hone_arena_strdup(arena, folder) : NULL;
    hone_free(folder);
    return kept;
}

static hone_status find_in(hone_arena *arena, const char *folder, const char *below,
                           const char *name, const char **out_path) {
    const char *path = hone_arena_printf(arena, "%s%s/%s", folder, below, name);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", name);
    *out_path = hone_fs_exists(path) ? path : NULL;
    return HONE_OK;
}

hone_status hone_api_find_program(hone_arena *arena, const char *folder, const char *name,
                                  const char **out_path) {
    static const char *const below[] = {"", "/../bin", "/../../bin"}; /* lib/x86_64-linux-gnu */
    const char *beside = folder ? folder : library_folder(arena);
    *out_path = NULL;
    for (size_t i = 0; beside && !*out_path && i < (folder ? 1 : HONE_COUNT(below)); i++)
        HONE_TRY(find_in(arena, beside, below[i], name, out_path));
    if (!folder || *out_path) return HONE_OK;
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: there is no %s in this folder", folder, name);
}

/* ---- sizes ---- */

hone_status hone_api_read_sizes(size_t count, const char *const *sizes,
                                hone_dim_variants *out_variants) {
    *out_variants = (hone_dim_variants){0};
    for (size_t i = 0; i < count; i++) {
        if (!sizes || !sizes[i]) return HONE_ERROR(HONE_CODE_INVALID, "size %zu is NULL", i);
    }
    return hone_dim_variants_parse(sizes, count, out_variants);
}

hone_status hone_api_read_one_choice(size_t count, const char *const *sizes,
                                     hone_dim_variants *out_variants) {
    HONE_TRY(hone_api_read_sizes(count, sizes, out_variants));
    if (out_variants->count <= 1) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "a size is bound to one number, not to several");
}

/* ---- variants ---- */

static hone_status check_variants(const hone_variant_options *options) {
    if (options->size != sizeof *options) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "size is %zu, must be sizeof(hone_variant_options), %zu", options->size,
                          sizeof *options);
    }
    for (size_t i = 0; i < options->variant_count; i++) {
        if (!options->variant || !options->variant[i])
            return HONE_ERROR(HONE_CODE_INVALID, "variant %zu is NULL", i);
    }
    return HONE_OK;
}

hone_status hone_api_read_variants(const hone_variant_options *options, hone_arena *arena,
                                   hone_variant_rules *out) {
    static const hone_variant_words words = {"variants", "max_error", "variant"};
    *out = (hone_variant_rules){0};
    if (!options) return HONE_OK;
    HONE_TRY(check_variants(options));
    const hone_variant_choice choice = {options->variants, options->max_error, options->variant,
                                        options->variant_count};
    return hone_variant_choice_read(&choice, &words, arena, out);
}

/* ---- tensors ---- */

static bool find_type(DLDataType type, hone_dtype *out) {
    for (uint8_t code = HONE_DTYPE_CODE_INT; code < HONE_DTYPE_CODE_COUNT; code++) {
        *out = (hone_dtype){code, type.bits, type.lanes};
        bool is_number = code != HONE_DTYPE_CODE_HANDLE && type.bits >= 8 && type.lanes == 1;
        DLDataType known = hone_dl_type(*out);
        if (is_number && known.code == type.code && (known.code || code == HONE_DTYPE_CODE_INT))
            return true;
    }
    return false;
}

static bool is_dense(const DLTensor *t) {
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; t->strides && d >= 0; d--) {
        if (t->shape[d] > 1 && t->strides[d] != stride) return false;
        stride *= t->shape[d] > 0 ? t->shape[d] : 1;
    }
    return true;
}

static const char *what_is_wrong(const DLTensor *t) {
    if (!t) return "is NULL";
    if (t->device.device_type != 1) return "is not on the CPU";
    if (t->ndim < 0 || t->ndim > HONE_MAX_RANK) return "has too many dimensions";
    if (t->ndim && !t->shape) return "has no shape";
    int64_t count = 1;
    for (int32_t d = 0; d < t->ndim; d++) {
        if (t->shape[d] < 0) return "has a negative size";
        count = t->shape[d] ? count : 0;
    }
    if (count && !t->data) return "has no data";
    return is_dense(t) ? NULL : "is not dense and row-major";
}

hone_status hone_api_view(const DLTensor *tensor, const char *what, hone_tensor *out_view) {
    const char *wrong = what_is_wrong(tensor);
    *out_view = (hone_tensor){0};
    if (wrong) return HONE_ERROR(HONE_CODE_INVALID, "%s %s", what, wrong);
    hone_dtype dtype;
    if (!find_type(tensor->dtype, &dtype)) {
        return HONE_ERROR(HONE_CODE_TYPE,
                          "%s has elements of a type that is not known (%d, %d bits)", what,
                          (int)tensor->dtype.code, (int)tensor->dtype.bits);
    }
    char *data = tensor->data;
    *out_view = hone_tensor_view(data ? data + tensor->byte_offset : NULL, dtype, tensor->ndim,
                                 tensor->shape);
    return HONE_OK;
}

DLTensor hone_api_dl_tensor(hone_tensor *tensor) {
    return (DLTensor){
        .data = tensor->data,
        .device = {1, 0},
        .ndim = tensor->rank,
        .dtype = hone_dl_type(tensor->dtype),
        .shape = tensor->shape
    };
}
