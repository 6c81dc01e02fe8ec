/* graph/operators/topi_loss.c - losses: the prediction of the class that each target names. */
#include <string.h>

#include "graph/operators/topi_build.h"

/* One target: is it counted, and the index of its class, the first where it is not. */
typedef struct target {
    const hone_expr *is_counted, *class;
} target;

static target target_at(hone_topi *t, const hone_expr *const *axes) {
    hone_ir *ir = &t->te->ir;
    int64_t ignored = hone_attrs_int(&t->bind->attrs, "ignore_index", -100);
    const hone_expr *classes = t->shapes[0][t->infos[0]->rank > 1], *zero = hone_te_int(t->te, 0);
    const hone_expr *number = hone_topi_load(t, 1, axes);
    if (!number || !classes) return (target){0};
    const hone_expr *wide = hone_expr_cast(ir, HONE_DTYPE_I64, number);
    const hone_expr *is_counted =
        hone_expr_binary(ir, HONE_OP_NE, wide, hone_expr_int(ir, HONE_DTYPE_I64, ignored));
    const hone_expr *class = hone_topi_index(t, number, classes);
    if (!class) return (target){0};
    return (target){is_counted, hone_expr_select(ir, is_counted, class, zero)};
}

static const hone_expr *weight_of(hone_topi *t, target of, hone_dtype dtype) {
    const hone_expr *weight = t->count > 2 ? hone_topi_widen(t, hone_topi_load(t, 2, &of.class))
                                           : hone_topi_number(t, dtype, 1);
    return hone_expr_select(&t->te->ir, of.is_counted, weight, hone_topi_number(t, dtype, 0));
}

/* -prediction * weight, or 0 where the target is not counted */
static const hone_expr *loss_of(hone_topi *t, target of, const hone_expr *const *axes,
                                hone_dtype dtype) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[HONE_MAX_RANK], *zero = hone_topi_number(t, dtype, 0);
    uint32_t rank = (uint32_t)t->infos[0]->rank, class = rank > 1;
    for (uint32_t d = 0; d < rank; d++)
        at[d] = d < class ? axes[d] : d == class ? of.class : axes[d - 1];
    const hone_expr *value = hone_topi_widen(t, hone_topi_load(t, 0, at));
    if (t->count > 2) {
        const hone_expr *weight = hone_topi_widen(t, hone_topi_load(t, 2, &of.class));
        value = hone_expr_mul(ir, value, weight);
    }
    return hone_expr_select(ir, of.is_counted, hone_expr_sub(ir, zero, value), zero);
}

static void begin_sum(hone_topi *t, hone_te_stage *s) {
    hone_te_stage_begin(t->te, s, 0, NULL, (uint32_t)t->infos[1]->rank, t->shapes[1]);
}

static void each_loss(hone_topi *t) {
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *value =
        loss_of(t, target_at(t, s.axis), s.axis, hone_topi_wide(t->out->dtype));
    t->result =
        hone_te_compute(t->te, &s, "nll_loss", hone_expr_cast(&t->te->ir, t->out->dtype, value));
}

static hone_buffer sum_of_losses(hone_topi *t, hone_dtype dtype) {
    hone_te_stage s;
    begin_sum(t, &s);
    const hone_expr *value = loss_of(t, target_at(t, s.axis), s.axis, dtype);
    if (s.reduce_count == 0) return hone_te_compute(t->te, &s, "nll_loss", value);
    return hone_te_reduce(t->te, &s, "nll_loss", HONE_TE_SUM, value);
}

static hone_buffer sum_of_weights(hone_topi *t, hone_dtype dtype) {
    hone_te_stage s;
    begin_sum(t, &s);
    const hone_expr *value = weight_of(t, target_at(t, s.axis), dtype);
    if (s.reduce_count == 0) return hone_te_compute(t->te, &s, "nll_weight", value);
    return hone_te_reduce(t->te, &s, "nll_weight", HONE_TE_SUM, value);
}

hone_status hone_topi_emit_nll_loss(hone_topi *t) {
    const char *reduction = hone_attrs_string(&t->bind->attrs, "reduction", "mean");
    hone_dtype dtype = hone_topi_wide(t->out->dtype);
    if (!hone_dtype_is_float(dtype)) return hone_topi_unsupported(t, "losses of integers");
    if (strcmp(reduction, "none") == 0) {
        each_loss(t);
        return HONE_OK;
    }
    hone_buffer sum = sum_of_losses(t, dtype);
    if (strcmp(reduction, "sum") == 0) {
        hone_topi_give(t, sum);
        return HONE_OK;
    }
    hone_buffer weights = sum_of_weights(t, dtype);
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *mean =
        hone_expr_binary(&t->te->ir, HONE_OP_DIV, hone_te_load(t->te, sum, s.axis),
                         hone_te_load(t->te, weights, s.axis));
    t->result =
        hone_te_compute(t->te, &s, "nll_mean", hone_expr_cast(&t->te->ir, t->out->dtype, mean));
    return HONE_OK;
}
