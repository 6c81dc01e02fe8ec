/* tensorfile/tensorfile.h - named tensors in files: npy, npz, safetensors.
 *
 * A tensor set is an ordered list of named tensors. Reading gives tensors that own their data,
 * row-major and in this machine's byte order: big-endian and column-major files are converted.
 * Every number in a file is checked before it is believed; a bad file is INVALID with the path,
 * the entry and the reason, never a crash.
 *
 *     .npy          one tensor, NumPy format 1.0 to 3.0; its name in a set is "arr_0"
 *     .npz          a zip of npy files, stored or deflated
 *     .safetensors  a JSON header and raw data; holds bfloat16 and float8, which npy cannot
 *
 * Lifetime: a set is a value in the caller's storage; {0} is empty.
 * Threads:  thread-compatible.
 * Layer:    may include support/.
 */
#ifndef HONE_TENSORFILE_TENSORFILE_H
#define HONE_TENSORFILE_TENSORFILE_H

#include <stddef.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/data/tensor.h"

typedef struct hone_named_tensor {
    char *name;          /* owned */
    hone_tensor *tensor; /* owned */
} hone_named_tensor;

typedef struct hone_tensor_set {
    hone_named_tensor *data;
    size_t count, capacity;
} hone_tensor_set;

void hone_tensor_set_deinit(hone_tensor_set *set); /* leaves {0} */
/* The tensor of that name, or NULL. */
const hone_tensor *hone_tensor_set_find(const hone_tensor_set *set, const char *name);
/* Takes the tensor (made by hone_tensor_create), also when it fails; copies the name. INVALID when
 * the name is taken or empty. */
HONE_NODISCARD hone_status hone_tensor_set_add(hone_tensor_set *set, const char *name,
                                               hone_tensor *tensor);

/* ---- files, by extension: .npy, .npz, .safetensors; INVALID for others ---- */
HONE_NODISCARD hone_status hone_tensor_set_load(const char *path, hone_tensor_set *out_set);
/* Written to a temporary name and renamed. .npy takes exactly one tensor. */
HONE_NODISCARD hone_status hone_tensor_set_save(const char *path, const hone_tensor_set *set);

/* One .npy file; the tensor is owned by the caller (hone_tensor_destroy). */
HONE_NODISCARD hone_status hone_npy_load(const char *path, hone_tensor **out_tensor);
HONE_NODISCARD hone_status hone_npy_save(const char *path, const hone_tensor *tensor);

/* ---- in memory ---- */
HONE_NODISCARD hone_status hone_npy_read(const void *bytes, size_t count, hone_tensor **out_tensor);
HONE_NODISCARD hone_status hone_npz_read(const void *bytes, size_t count, hone_tensor_set *out_set);
HONE_NODISCARD hone_status hone_safetensors_read(const void *bytes, size_t count,
                                                 hone_tensor_set *out_set);

/* Append the file's bytes. UNSUPPORTED: an element type that the format does not have. */
HONE_NODISCARD hone_status hone_npy_write(const hone_tensor *tensor, hone_str *out);
HONE_NODISCARD hone_status hone_npz_write(const hone_tensor_set *set, hone_str *out);
HONE_NODISCARD hone_status hone_safetensors_write(const hone_tensor_set *set, hone_str *out);

#endif
