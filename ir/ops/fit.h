/* ir/ops/fit.h - do the tensors of a call fit what the callee declares of its parameters?
 *
 * A callee's size is what the first dimension that names it has; every other place where it stands
 * then demands something of the call: "dimension 0 of 'B' is q, wants p". What is the same for all
 * sizes of the caller is not reported, what differs for all of them is an error, and the rest is
 * known when the call is made: whoever runs it checks then.
 */
#ifndef HONE_IR_OPS_FIT_H
#define HONE_IR_OPS_FIT_H

#include "ir/arith/arith.h"
#include "support/strbuf.h"

/* A tensor that is passed: dense, of these extents in the caller's sizes. */
typedef struct hone_fit_tensor {
    uint32_t rank;
    const hone_expr *const *shape;
} hone_fit_tensor;

typedef enum hone_fit_what {
    HONE_FIT_EXTENT,
    HONE_FIT_STRIDE,
    HONE_FIT_OFFSET,
    HONE_FIT_SCALAR
} hone_fit_what;

/* Something that is not the same for all sizes of the caller. */
typedef struct hone_fit_point {
    hone_fit_what what;
    const char *name; /* of the buffer, or of the scalar */
    uint32_t dim;     /* EXTENT, STRIDE */
    const hone_expr *got;
    const hone_expr *wanted; /* in the caller's sizes; NULL = it depends on what no one gives */
    bool is_never;           /* it differs for all sizes */
} hone_fit_point;

typedef struct hone_fit {
    hone_arith *arith;       /* results are made in its arena */
    const hone_expr **sizes; /* by variable of the callee: int64, or NULL = nothing gives it */
    uint32_t count;
    void (*report)(void *ctx, const hone_fit_point *point);
    void *ctx;
} hone_fit;

/* tensors[]: one per buffer parameter, in order; one of another rank, or without a shape, is left
 * out. scalars[]: one per other parameter, or NULL = not known. Fills in fit->sizes and reports.
 * NO_MEMORY only. */
HONE_NODISCARD hone_status hone_fit_func(hone_fit *fit, const hone_func *func,
                                         const hone_fit_tensor *tensors,
                                         const hone_expr *const *scalars);
/* The same of a function of graphs, parameter by parameter: first all are bound, then checked. */
HONE_NODISCARD hone_status hone_fit_begin(hone_fit *fit, uint32_t var_count);
void hone_fit_bind(hone_fit *fit, const hone_expr *want, const hone_expr *got);
void hone_fit_check(hone_fit *fit, const hone_fit_point *point, const hone_expr *want);

/* What a number of the callee is in the caller's sizes; NULL where that cannot be said, or memory
 * is short. */
const hone_expr *hone_fit_in_caller(hone_fit *fit, const hone_expr *e);

/* The sizes that a kernel is called with, in their order (lower/signature/signature.h). out: room
 * for func->var_count. */
uint32_t hone_func_sizes(const hone_func *func, hone_var *out);

/* "dimension 0 of 'B'", "the stride of dimension 1 of 'B'", …: what is, wants. */
void hone_fit_describe(const hone_fit_point *point, hone_str *out);

#endif
