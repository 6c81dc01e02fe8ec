/* graph/operators/topi_adaptive.c - means of windows that share an axis out: window i of `count`
 * over `extent` elements goes from floor(i * extent / count) to ceil((i + 1) * extent / count). */
#include "graph/operators/topi_build.h"

enum { MAX_SPATIAL = 3 };

typedef struct share {
    int64_t extent, count, longest; /* of one axis; longest: elements of the largest window */
} share;

static int64_t first_of(const share *s, int64_t i) {
    return i * s->extent / s->count;
}

static int64_t end_of(const share *s, int64_t i) {
    return ((i + 1) * s->extent + s->count - 1) / s->count;
}

static hone_status read_share(const hone_topi *t, uint32_t i, share *out) {
    *out = (share){.extent = hone_expr_const(t->infos[0]->shape[i + 2]),
                   .count = hone_expr_const(t->out->shape[i + 2])};
    if (out->extent < 0 || out->count < 1)
        return hone_topi_unsupported(t, "a size that is not known");
    if (out->extent > INT32_MAX || out->count > INT32_MAX)
        return hone_topi_unsupported(t, "an axis of 2^31 elements");
    for (int64_t k = 0; k < out->count; k++) {
        int64_t length = end_of(out, k) - first_of(out, k);
        if (length > out->longest) out->longest = length;
    }
    return HONE_OK;
}

static bool is_even(const share *s) {
    return s->extent % s->count == 0;
}

static const hone_expr *first_at(hone_topi *t, const share *s, const hone_expr *i) {
    if (is_even(s)) return hone_topi_mul_int(t, i, s->longest);
    return hone_expr_floordiv(&t->te->ir, hone_topi_mul_int(t, i, s->extent),
                              hone_te_int(t->te, s->count));
}

static const hone_expr *end_at(hone_topi *t, const share *s, const hone_expr *i) {
    if (is_even(s)) return hone_topi_add_int(t, first_at(t, s, i), s->longest);
    const hone_expr *all = hone_topi_mul_int(t, hone_topi_add_int(t, i, 1), s->extent);
    return hone_expr_floordiv(&t->te->ir, hone_topi_add_int(t, all, s->count - 1),
                              hone_te_int(t->te, s->count));
}

/* Sums; what lies behind the end of a shorter window counts as 0. */
static hone_buffer sum_windows(hone_topi *t, uint32_t spatial, const share *shares) {
    uint32_t rank = spatial + 2;
    const hone_expr *reduce[MAX_SPATIAL], *at[MAX_SPATIAL + 2], *inside = NULL;
    hone_te_stage s;
    for (uint32_t i = 0; i < spatial; i++)
        reduce[i] = hone_te_int(t->te, shares[i].longest);
    hone_te_stage_begin(t->te, &s, rank, t->out_shape, spatial, reduce);
    at[0] = s.axis[0];
    at[1] = s.axis[1];
    for (uint32_t i = 0; i < spatial; i++) {
        const hone_expr *axis = s.axis[i + 2];
        at[i + 2] = hone_topi_sum(t, first_at(t, &shares[i], axis), s.axis[rank + i]);
        if (is_even(&shares[i])) continue;
        const hone_expr *here = hone_topi_op(t, HONE_OP_LT, at[i + 2], end_at(t, &shares[i], axis));
        inside = hone_topi_both(t, inside, here);
    }
    const hone_expr *zero = hone_topi_number(t, t->infos[0]->dtype, 0);
    const hone_expr *x = hone_topi_choose(t, inside, hone_topi_load(t, 0, at), zero);
    return hone_te_reduce(t->te, &s, "adaptive_pool_sum", HONE_TE_SUM, hone_topi_widen(t, x));
}

/* How many elements a window has, as a number to divide by. */
static const hone_expr *window_size(hone_topi *t, uint32_t spatial, const share *shares,
                                    const hone_expr *const *axis) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *count = NULL;
    int64_t even = 1;
    for (uint32_t i = 0; i < spatial; i++) {
        if (is_even(&shares[i])) {
            even *= shares[i].longest;
            continue;
        }
        const hone_expr *length = hone_expr_sub(ir, end_at(t, &shares[i], axis[i + 2]),
                                                first_at(t, &shares[i], axis[i + 2]));
        count = count ? hone_expr_mul(ir, count, length) : length;
    }
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    if (!count) return hone_topi_number(t, wide, (double)even);
    return hone_expr_cast(ir, wide, hone_topi_mul_int(t, count, even));
}

hone_status hone_topi_emit_adaptive_pool(hone_topi *t) {
    uint32_t spatial = (uint32_t)t->infos[0]->rank - 2;
    share shares[MAX_SPATIAL];
    hone_te_stage s;
    for (uint32_t i = 0; i < spatial; i++)
        HONE_TRY(read_share(t, i, &shares[i]));
    hone_buffer sum = sum_windows(t, spatial, shares);
    hone_topi_stage(t, &s);
    const hone_expr *size = window_size(t, spatial, shares, s.axis);
    const hone_expr *mean = hone_topi_mean(t, hone_te_load(t->te, sum, s.axis), size);
    t->result =
        hone_te_compute(t->te, &s, "pool_avg", hone_expr_cast(&t->te->ir, t->out->dtype, mean));
    return HONE_OK;
}
