/* support/data/tensor.h - dense row-major tensors in host memory: views, and a few helpers.
 *
 * hone_tensor is a view: copying the struct copies no data and owns nothing. hone_tensor_create and
 * its like return one on the heap that owns its data (64-byte aligned, zeroed), alone or with
 * others; end that one with hone_tensor_destroy, never a view.
 * Rank 0 is a scalar of one element. Thread-compatible.
 */
#ifndef HONE_SUPPORT_DATA_TENSOR_H
#define HONE_SUPPORT_DATA_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/data/dtype.h"
#include "support/data/rng.h"

#define HONE_MAX_RANK 12

typedef struct hone_tensor {
    void *data;
    hone_dtype dtype;
    int32_t rank;
    int64_t shape[HONE_MAX_RANK];
} hone_tensor;

/* A view of memory that the caller owns; copies the shape. rank <= HONE_MAX_RANK. */
hone_tensor hone_tensor_view(void *data, hone_dtype dtype, int32_t rank, const int64_t *shape);

/* Returns a zeroed tensor owned by the caller. INVALID: a negative size, a rank above
 * HONE_MAX_RANK, a type that cannot be stored, more bytes than fit; NO_MEMORY. */
HONE_NODISCARD hone_status hone_tensor_create(hone_dtype dtype, int32_t rank, const int64_t *shape,
                                              hone_tensor **out_tensor);
/* A copy with its data, owned by the caller. */
HONE_NODISCARD hone_status hone_tensor_clone(const hone_tensor *tensor, hone_tensor **out_tensor);
/* Another tensor over the same data, owned by the caller; `tensor` is no view. Nobody may change
 * the data from here on; it goes with the last that has it. May be called from any thread. */
HONE_NODISCARD hone_status hone_tensor_share(const hone_tensor *tensor, hone_tensor **out_tensor);
/* A tensor over a part of a file, which is read as it is touched, and must keep its length until
 * the tensor is destroyed. INVALID: an offset that is no multiple of 64, a file that ends before
 * the part does; UNSUPPORTED: no regular file; IO. */
HONE_NODISCARD hone_status hone_tensor_map(const char *path, uint64_t offset, hone_dtype dtype,
                                           int32_t rank, const int64_t *shape,
                                           hone_tensor **out_tensor);
/* Ends a tensor made by one of these or by _convert; NULL is allowed. */
void hone_tensor_destroy(hone_tensor *tensor);

int64_t hone_tensor_count(const hone_tensor *tensor); /* elements; 1 for rank 0 */
size_t hone_tensor_bytes(const hone_tensor *tensor);
bool hone_tensor_same_shape(const hone_tensor *a, const hone_tensor *b);

/* One element (lane 0 is not special: `index` counts lanes of vector types too) by its flat index,
 * converted: floats to integers truncate and saturate (NaN gives 0), integers wrap when narrowed,
 * floats round to nearest even, bool is "not zero". The index is in range (assert). */
double hone_tensor_get_f64(const hone_tensor *tensor, int64_t index);
int64_t hone_tensor_get_i64(const hone_tensor *tensor, int64_t index);
void hone_tensor_set_f64(hone_tensor *tensor, int64_t index, double value);
void hone_tensor_set_i64(hone_tensor *tensor, int64_t index, int64_t value);

/* Those four for a lone element in memory. */
double hone_element_get_f64(hone_dtype dtype, const void *element);
int64_t hone_element_get_i64(hone_dtype dtype, const void *element);
void hone_element_set_f64(hone_dtype dtype, void *element, double value);
void hone_element_set_i64(hone_dtype dtype, void *element, int64_t value);

/* Returns a new tensor of another element type, converted element by element. */
HONE_NODISCARD hone_status hone_tensor_convert(const hone_tensor *tensor, hone_dtype dtype,
                                               hone_tensor **out_tensor);

/* Floats uniform in [lo, hi); integers uniform in [lo, hi]. */
void hone_tensor_fill_random(hone_tensor *tensor, hone_rng *rng, double lo, double hi);

/* How two tensors differ. Equal infinities agree; NaN agrees with NaN. */
typedef struct hone_tensor_diff {
    bool is_comparable; /* same shape; else nothing else is set */
    int64_t bad_count;  /* elements with |got - want| > atol + rtol * |want| */
    int64_t worst;      /* flat index of the largest excess; -1 when none is bad */
    double worst_got, worst_want;
    double max_abs, max_rel; /* over all elements; infinite when one side is NaN */
} hone_tensor_diff;

hone_tensor_diff hone_tensor_diff_make(const hone_tensor *got, const hone_tensor *want, double rtol,
                                       double atol);
/* One line for people: "3 of 128 elements differ, worst at [0, 5]: got 1.5, want 1.25 (max …)". */
void hone_tensor_diff_print(const hone_tensor_diff *diff, const hone_tensor *want, hone_str *out);

/* "float32[1, 3, 224, 224]". */
void hone_tensor_print_type(const hone_tensor *tensor, hone_str *out);

#endif
