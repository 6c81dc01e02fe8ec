/* graph/operators/topi_image.c - operators on images: what an element of the result comes from is
 * worked out from its index. */
#include <string.h>

#include "graph/operators/topi_build.h"

enum { MAX_UNROLLED = 4 };

/* data[.., indices[i, k], ..] * weights[i, k] at the axes of a stage. */
static const hone_expr *weighted(hone_topi *t, uint32_t axis, const hone_expr *const *axes,
                                 const hone_expr *tap) {
    const hone_expr *at[HONE_MAX_RANK], *row[] = {axes[axis], tap};
    uint32_t rank = (uint32_t)t->out->rank;
    memcpy(at, axes, rank * sizeof *at);
    at[axis] = hone_expr_cast(&t->te->ir, t->te->index, hone_topi_load(t, 1, row));
    const hone_expr *x = hone_topi_widen(t, hone_topi_load(t, 0, at));
    return hone_expr_mul(&t->te->ir, x, hone_topi_widen(t, hone_topi_load(t, 2, row)));
}

/* A few taps are terms of one expression. */
static void few_taps(hone_topi *t, uint32_t axis, int64_t taps) {
    hone_te_stage s;
    const hone_expr *sum = NULL;
    hone_topi_stage(t, &s);
    for (int64_t k = 0; k < taps; k++) {
        const hone_expr *term = weighted(t, axis, s.axis, hone_te_int(t->te, k));
        sum = sum ? hone_expr_add(&t->te->ir, sum, term) : term;
    }
    t->result =
        hone_te_compute(t->te, &s, "resample", hone_expr_cast(&t->te->ir, t->out->dtype, sum));
}

hone_status hone_topi_emit_resample(hone_topi *t) {
    int64_t taps = hone_expr_const(t->infos[1]->shape[1]);
    uint32_t axis = (uint32_t)hone_attrs_int(&t->bind->attrs, "axis", 0);
    if (taps >= 1 && taps <= MAX_UNROLLED) {
        few_taps(t, axis, taps);
        return HONE_OK;
    }
    hone_te_stage s;
    uint32_t rank = (uint32_t)t->out->rank;
    hone_te_stage_begin(t->te, &s, rank, t->out_shape, 1, &t->shapes[1][1]);
    hone_topi_give(t, hone_te_reduce(t->te, &s, "resample", HONE_TE_SUM,
                                     weighted(t, axis, s.axis, s.axis[rank])));
    return HONE_OK;
}
