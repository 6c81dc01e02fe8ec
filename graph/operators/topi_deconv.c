/* graph/operators/topi_deconv.c - transposed convolutions: the data with zeros between its elements
 * and around them is a block of its own, over which the kernel runs from its end. */
#include <string.h>

#include "graph/operators/topi_build.h"

enum { MAX_SPATIAL = 3 };

typedef struct spread {
    uint32_t spatial;
    int64_t kernel[MAX_SPATIAL], strides[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t
        before[MAX_SPATIAL]; /* zeros in front of the data; below 0: elements that are left out */
} spread;

static hone_status read_spread(hone_topi *t, spread *w) {
    int64_t padding[2 * MAX_SPATIAL];
    w->spatial = (uint32_t)t->infos[0]->rank - 2;
    HONE_TRY(hone_graph_attr_ints(t->bind, "strides", w->spatial, 1, w->strides));
    HONE_TRY(hone_graph_attr_ints(t->bind, "dilation", w->spatial, 1, w->dilation));
    HONE_TRY(hone_graph_attr_padding(t->bind, w->spatial, padding));
    for (uint32_t i = 0; i < w->spatial; i++) {
        w->kernel[i] = hone_expr_const(t->infos[1]->shape[i + 2]);
        w->before[i] = (w->kernel[i] - 1) * w->dilation[i] - padding[i];
    }
    return HONE_OK;
}

static const hone_expr *both(hone_topi *t, const hone_expr *a, const hone_expr *b) {
    return a && b ? hone_expr_binary(&t->te->ir, HONE_OP_AND, a, b) : a ? a : b;
}

/* The element that stands at `axis` of the spread data, and whether one does; NULL = always. */
static const hone_expr *element_at(hone_topi *t, const spread *w, uint32_t i, const hone_expr *axis,
                                   const hone_expr **is_there) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *zero = hone_te_int(t->te, 0),
                    *place = hone_topi_add_int(t, axis, -w->before[i]);
    const hone_expr *found = NULL;
    if (w->before[i] > 0)
        found = hone_expr_binary(ir, HONE_OP_LE, hone_te_int(t->te, w->before[i]), axis);
    if (w->strides[i] > 1) {
        const hone_expr *stride = hone_te_int(t->te, w->strides[i]);
        const hone_expr *rest = hone_expr_floormod(ir, place, stride);
        found = both(t, found, hone_expr_binary(ir, HONE_OP_EQ, rest, zero));
        place = hone_expr_floordiv(ir, place, stride);
    }
    found = both(t, found, hone_expr_binary(ir, HONE_OP_LT, place, t->shapes[0][i + 2]));
    *is_there = both(t, *is_there, found);
    return place;
}

static hone_buffer spread_data(hone_topi *t, const spread *w) {
    hone_te_stage s;
    const hone_expr *shape[MAX_SPATIAL + 2] = {t->shapes[0][0], t->shapes[0][1]};
    const hone_expr *at[MAX_SPATIAL + 2], *is_there = NULL;
    for (uint32_t i = 0; i < w->spatial; i++)
        shape[i + 2] =
            hone_topi_add_int(t, t->out_shape[i + 2], (w->kernel[i] - 1) * w->dilation[i]);
    hone_te_stage_begin(t->te, &s, w->spatial + 2, shape, 0, NULL);
    at[0] = s.axis[0];
    at[1] = s.axis[1];
    for (uint32_t i = 0; i < w->spatial; i++)
        at[i + 2] = element_at(t, w, i, s.axis[i + 2], &is_there);
    hone_dtype dtype = t->infos[0]->dtype;
    const hone_expr *choice[] = {is_there, hone_topi_load(t, 0, at), hone_topi_number(t, dtype, 0)};
    return hone_te_compute(t->te, &s, "data_spread",
                           hone_expr_call(&t->te->ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice));
}

/* Input channel rc of the group of output channel co, and co within its group. */
static void channels_at(hone_topi *t, const hone_expr *co, const hone_expr *rc, int64_t ins,
                        int64_t groups, const hone_expr **out_in, const hone_expr **out_filter) {
    int64_t per_group = hone_expr_const(t->infos[1]->shape[1]);
    *out_in = rc;
    *out_filter = co;
    if (groups == 1) return;
    const hone_expr *size = hone_te_int(t->te, per_group);
    const hone_expr *group = per_group == 1 ? co : hone_expr_floordiv(&t->te->ir, co, size);
    *out_in = hone_topi_sum(t, hone_topi_mul_int(t, group, ins), rc);
    *out_filter = per_group == 1 ? hone_te_int(t->te, 0) : hone_expr_floormod(&t->te->ir, co, size);
}

hone_status hone_topi_emit_deconv(hone_topi *t) {
    spread w = {0};
    hone_te_stage s;
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    int64_t groups = hone_attrs_int(&t->bind->attrs, "groups", 1);
    int64_t channels = hone_expr_const(t->infos[1]->shape[0]);
    if (channels < 0 || hone_expr_const(t->infos[1]->shape[1]) < 0) {
        return hone_topi_unsupported(t, "channels of unknown number");
    }
    HONE_TRY(read_spread(t, &w));
    hone_buffer data = spread_data(t, &w);
    const hone_expr *reduce[MAX_SPATIAL + 1] = {hone_te_int(t->te, channels / groups)};
    for (uint32_t i = 0; i < w.spatial; i++)
        reduce[i + 1] = hone_te_int(t->te, w.kernel[i]);
    hone_te_stage_begin(t->te, &s, rank, t->out_shape, w.spatial + 1, reduce);
    const hone_expr *at[MAX_SPATIAL + 2], *filter[MAX_SPATIAL + 2];
    at[0] = s.axis[0];
    channels_at(t, s.axis[1], s.axis[rank], channels / groups, groups, &at[1], &filter[1]);
    filter[0] = at[1];
    for (uint32_t i = 0; i < w.spatial; i++) {
        const hone_expr *tap = s.axis[rank + 1 + i];
        at[i + 2] = hone_topi_sum(t, s.axis[i + 2], hone_topi_mul_int(t, tap, w.dilation[i]));
        filter[i + 2] = hone_expr_sub(&t->te->ir, hone_te_int(t->te, w.kernel[i] - 1), tap);
    }
    hone_dtype wide = hone_topi_wide(t->out->dtype);
    const hone_expr *x = hone_expr_cast(&t->te->ir, wide, hone_te_load(t->te, data, at));
    const hone_expr *f = hone_expr_cast(&t->te->ir, wide, hone_topi_load(t, 1, filter));
    hone_topi_give(t, hone_te_reduce(t->te, &s, "conv_transpose", HONE_TE_SUM,
                                     hone_expr_mul(&t->te->ir, x, f)));
    return HONE_OK;
}
