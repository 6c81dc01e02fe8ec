/* ir/ops/fit.h - do the tensors of a call fit what the callee declares of its parameters?
 *
 * A size of the callee takes its value from the first dimension that names it. Every other place
 * where it stands then demands something of the call: "dimension 0 of 'B' is q, wants p". What
 * holds for all sizes of the caller is not reported; what holds for none is an error; the rest is
 * known when the call is made, and checked by whoever runs it.
 */
#ifndef HONE_IR_OPS_FIT_H
#define HONE_IR_OPS_FIT_H

#include "ir/arith/arith.h"
#include "support/core/strbuf.h"

/* A tensor that is passed: dense, of these extents in the caller's sizes. */
typedef struct hone_fit_tensor {
    uint32_t rank;
    const hone_expr *const *shape;
} hone_fit_tensor;

typedef enum hone_fit_what {
    HONE_FIT_EXTENT, /* of a dimension */
    HONE_FIT_STRIDE, /* of a dimension */
    HONE_FIT_OFFSET, /* elem_offset of the buffer */
    HONE_FIT_SCALAR  /* a scalar parameter */
} hone_fit_what;

/* A demand that does not hold for all sizes of the caller. */
typedef struct hone_fit_point {
    hone_fit_what what;
    const char *name; /* of the buffer, or of the scalar */
    uint32_t dim;     /* EXTENT, STRIDE */
    const hone_expr *got;
    const hone_expr
        *wanted;   /* in the caller's sizes; NULL = it depends on a size that nothing gives */
    bool is_never; /* they differ for all sizes of the caller */
} hone_fit_point;

typedef struct hone_fit {
    hone_arith *arith;       /* results are made in its arena */
    const hone_expr **sizes; /* by variable of the callee: int64, or NULL = nothing gives it */
    uint32_t count;
    void (*report)(void *ctx, const hone_fit_point *point);
    void *ctx;
} hone_fit;

/* Binds the sizes of a tensor program (fit->sizes) and reports its demands. tensors: one per buffer
 * parameter, in order; one of another rank, or without a shape, is passed over. scalars: one per
 * other parameter, NULL = not known. Fails with NO_MEMORY only. */
HONE_NODISCARD hone_status hone_fit_func(hone_fit *fit, const hone_func *func,
                                         const hone_fit_tensor *tensors,
                                         const hone_expr *const *scalars);
/* For a graph program, piece by piece: begins a fit of a callee with var_count sizes. First
 * hone_fit_bind for every extent, then hone_fit_check. */
HONE_NODISCARD hone_status hone_fit_begin(hone_fit *fit, uint32_t var_count);
/* Binds the callee's size `want`, if it is a size that has no value yet, to `got`. */
void hone_fit_bind(hone_fit *fit, const hone_expr *want, const hone_expr *got);
/* Reports the point, with `want` in the caller's sizes, unless point->got equals it for all sizes.
 */
void hone_fit_check(hone_fit *fit, const hone_fit_point *point, const hone_expr *want);

/* An expression of the callee in the caller's sizes; NULL where it depends on a size that nothing
 * gives, or memory is short. */
const hone_expr *hone_fit_in_caller(hone_fit *fit, const hone_expr *e);

/* The sizes that a kernel is called with, in their order (lower/signature/signature.h); returns how
 * many. out has room for func->var_count. */
uint32_t hone_func_sizes(const hone_func *func, hone_var *out);

/* Appends what the point is about: "dimension 0 of 'B'", "the stride of dimension 1 of 'B'". */
void hone_fit_describe(const hone_fit_point *point, hone_str *out);

#endif
