/* graph/operators/topi_reduce.c - reductions over axes, softmax, layer normalisation. */
#include <string.h>

#include "graph/operators/topi_build.h"

/* The reduced dimensions of argument 0 and how its axes come from those of a stage. */
typedef struct reduction {
    bool is_axis[HONE_MAX_RANK];
    uint32_t rank, spatial_count, reduce_count;
    const hone_expr *spatial[HONE_MAX_RANK], *reduce[HONE_MAX_RANK];
} reduction;

static hone_status read_axes(hone_topi *t, const char *key, bool keep, reduction *r) {
    hone_infer in = {.bind = t->bind, .op = hone_graph_op_find(t->op)};
    memset(r, 0, sizeof *r);
    r->rank = (uint32_t)t->infos[0]->rank;
    HONE_TRY(hone_infer_axes(&in, key, (int32_t)r->rank, r->is_axis));
    for (uint32_t d = 0; d < r->rank; d++) {
        if (r->is_axis[d]) r->reduce[r->reduce_count++] = t->shapes[0][d];
        if (!r->is_axis[d])
            r->spatial[r->spatial_count++] = t->shapes[0][d];
        else if (keep)
            r->spatial[r->spatial_count++] = hone_te_int(t->te, 1);
    }
    return HONE_OK;
}

static void begin_stage(hone_topi *t, const reduction *r, hone_te_stage *s) {
    hone_te_stage_begin(t->te, s, r->spatial_count, r->spatial, r->reduce_count, r->reduce);
}

/* The input's indices at the axes of a reducing stage. */
static void input_indices(const reduction *r, bool keep, const hone_te_stage *s,
                          const hone_expr **out) {
    uint32_t spatial = 0, reduce = s->spatial_count;
    for (uint32_t d = 0; d < r->rank; d++) {
        if (r->is_axis[d]) {
            out[d] = s->axis[reduce++];
            spatial += keep;
        } else {
            out[d] = s->axis[spatial++];
        }
    }
}

/* The index in a reduced buffer that belongs to a full set of indices. */
static const hone_expr *reduced_at(hone_topi *t, const reduction *r, hone_buffer buffer,
                                   const hone_expr *const *full) {
    const hone_expr *at[HONE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t d = 0; d < r->rank; d++) {
        if (!r->is_axis[d]) at[count++] = full[d];
    }
    return hone_te_load(t->te, buffer, at);
}

static const hone_expr *load_input(hone_topi *t, const reduction *r, bool keep,
                                   const hone_te_stage *s) {
    const hone_expr *at[HONE_MAX_RANK];
    input_indices(r, keep, s, at);
    return hone_topi_load(t, 0, at);
}

/* Product of the reduced extents as a number of some dtype. */
static const hone_expr *reduced_count(hone_topi *t, const reduction *r, hone_dtype dtype) {
    const hone_expr *count = hone_te_int(t->te, 1);
    for (uint32_t i = 0; i < r->reduce_count; i++) {
        bool both = hone_expr_is_int(count) && hone_expr_is_int(r->reduce[i]);
        count = both ? hone_te_int(t->te, count->u.i * r->reduce[i]->u.i)
                     : hone_expr_mul(&t->te->ir, count, r->reduce[i]);
        if (!count) return NULL;
    }
    if (hone_expr_is_int(count)) return hone_topi_number(t, dtype, (double)count->u.i);
    return hone_expr_cast(&t->te->ir, dtype, count);
}

static hone_status divide_by_count(hone_topi *t, const reduction *r, hone_buffer sum) {
    hone_te_stage s;
    hone_topi_stage(t, &s);
    const hone_expr *count = reduced_count(t, r, hone_topi_wide(t->out->dtype));
    const hone_expr *mean = hone_topi_mean(t, hone_te_load(t->te, sum, s.axis), count);
    mean = hone_expr_cast(&t->te->ir, t->out->dtype, mean);
    t->result = hone_te_compute(t->te, &s, "mean", mean);
    return HONE_OK;
}

static hone_te_reducer reducer_of(const char *op) {
    if (strcmp(op, "max") == 0 || strcmp(op, "argmax") == 0) return HONE_TE_MAXIMUM;
    if (strcmp(op, "min") == 0 || strcmp(op, "argmin") == 0) return HONE_TE_MINIMUM;
    return strcmp(op, "prod") == 0 ? HONE_TE_PROD : HONE_TE_SUM;
}

hone_status hone_topi_emit_reduce(hone_topi *t) {
    reduction r;
    hone_te_stage s;
    bool keep = hone_attrs_int(&t->bind->attrs, "keepdims", 0) != 0;
    bool is_mean = strcmp(t->op, "mean") == 0;
    HONE_TRY(read_axes(t, "axis", keep, &r));
    begin_stage(t, &r, &s);
    const hone_expr *x = load_input(t, &r, keep, &s);
    hone_te_reducer reducer = reducer_of(t->op);
    if (r.reduce_count == 0) {
        t->result = hone_te_compute(t->te, &s, t->op, x);
        return HONE_OK;
    }
    bool is_sum = reducer == HONE_TE_SUM || reducer == HONE_TE_PROD;
    hone_buffer all = hone_te_reduce(t->te, &s, is_mean ? "sum" : t->op, reducer,
                                     is_sum ? hone_topi_widen(t, x) : x);
    if (is_mean) return divide_by_count(t, &r, all);
    hone_topi_give(t, all);
    return HONE_OK;
}

/* Is x, of what `best` is the extreme, that? The first NaN is, where there is one. */
static const hone_expr *is_extreme(hone_topi *t, const hone_expr *x, const hone_expr *best) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *is_best = hone_expr_binary(ir, HONE_OP_EQ, x, best);
    if (!is_best || !hone_dtype_is_float(x->dtype)) return is_best;
    const hone_expr *is_nan = hone_expr_call(ir, HONE_DTYPE_BOOL, HONE_INTRIN_ISNAN, 1, &x);
    return hone_expr_binary(ir, HONE_OP_OR, is_best, is_nan);
}

/* What an index counts as where the extreme is not. Of floats the last one, so that an index comes
 * out even where a schedule computes x twice and not in the same bits. */
static const hone_expr *no_index(hone_topi *t, const reduction *r) {
    hone_ir *ir = &t->te->ir;
    if (!hone_dtype_is_float(t->infos[0]->dtype)) return hone_expr_highest(ir, HONE_DTYPE_I64);
    const hone_expr *count = reduced_count(t, r, HONE_DTYPE_I64);
    if (count && hone_expr_is_int(count)) return hone_expr_int(ir, HONE_DTYPE_I64, count->u.i - 1);
    return hone_expr_sub(ir, count, hone_expr_int(ir, HONE_DTYPE_I64, 1));
}

/* The extreme value first, then the least index that holds it. */
hone_status hone_topi_emit_arg_reduce(hone_topi *t) {
    reduction r, flat;
    hone_te_stage s;
    bool keep = hone_attrs_int(&t->bind->attrs, "keepdims", 0) != 0;
    HONE_TRY(read_axes(t, "axis", keep, &r));
    HONE_TRY(read_axes(t, "axis", false, &flat));
    if (r.reduce_count == 0) return hone_topi_unsupported(t, "no axis to reduce");
    begin_stage(t, &flat, &s);
    hone_buffer best =
        hone_te_reduce(t->te, &s, "best", reducer_of(t->op), load_input(t, &flat, false, &s));
    begin_stage(t, &r, &s);
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[HONE_MAX_RANK], *index = hone_te_int(t->te, 0);
    input_indices(&r, keep, &s, at);
    for (uint32_t i = 0; i < r.reduce_count; i++) { /* row-major over the reduced dimensions */
        index = hone_topi_sum(t, i ? hone_expr_mul(ir, index, r.reduce[i]) : index,
                              s.axis[s.spatial_count + i]);
    }
    index = hone_expr_cast(ir, HONE_DTYPE_I64, index);
    const hone_expr *is_here =
        is_extreme(t, hone_topi_load(t, 0, at), reduced_at(t, &flat, best, at));
    const hone_expr *found = hone_expr_select(ir, is_here, index, no_index(t, &r));
    t->result = hone_te_reduce(t->te, &s, t->op, HONE_TE_MIN, found);
    return HONE_OK;
}

/* ---- softmax ---- */

static hone_status softmax_axis(hone_topi *t, reduction *r) {
    hone_infer in = {.bind = t->bind, .op = hone_graph_op_find(t->op)};
    int32_t axis;
    HONE_TRY(hone_infer_axis(&in, hone_attrs_int(&t->bind->attrs, "axis", -1), t->infos[0]->rank,
                             &axis));
    memset(r, 0, sizeof *r);
    r->rank = (uint32_t)t->infos[0]->rank;
    r->is_axis[axis] = true;
    for (uint32_t d = 0; d < r->rank; d++) {
        if (r->is_axis[d])
            r->reduce[r->reduce_count++] = t->shapes[0][d];
        else
            r->spatial[r->spatial_count++] = t->shapes[0][d];
    }
    return HONE_OK;
}

/* x - max, at a full set of indices */
static const hone_expr *shifted(hone_topi *t, const reduction *r, hone_buffer max,
                                const hone_expr *const *at) {
    return hone_expr_sub(&t->te->ir, hone_topi_widen(t, hone_topi_load(t, 0, at)),
                         hone_topi_widen(t, reduced_at(t, r, max, at)));
}

hone_status hone_topi_emit_softmax(hone_topi *t) {
    reduction r;
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    hone_ir *ir = &t->te->ir;
    bool is_log = strcmp(t->op, "nn.log_softmax") == 0;
    HONE_TRY(softmax_axis(t, &r));
    begin_stage(t, &r, &s);
    hone_buffer max =
        hone_te_reduce(t->te, &s, "softmax_maxelem", HONE_TE_MAX, load_input(t, &r, false, &s));
    hone_buffer exps = HONE_NO_ID;
    if (!is_log) {
        hone_topi_stage(t, &s);
        exps = hone_te_compute(t->te, &s, "softmax_exp",
                               hone_topi_intrin(t, HONE_INTRIN_EXP, shifted(t, &r, max, s.axis)));
    }
    begin_stage(t, &r, &s);
    input_indices(&r, false, &s, at);
    const hone_expr *term = is_log ? hone_topi_intrin(t, HONE_INTRIN_EXP, shifted(t, &r, max, at))
                                   : hone_te_load(t->te, exps, at);
    hone_buffer sum = hone_te_reduce(t->te, &s, "softmax_expsum", HONE_TE_SUM, term);
    hone_topi_stage(t, &s);
    const hone_expr *total = reduced_at(t, &r, sum, s.axis);
    const hone_expr *value =
        is_log ? hone_expr_sub(ir, shifted(t, &r, max, s.axis),
                               hone_topi_intrin(t, HONE_INTRIN_LOG, total))
               : hone_expr_binary(ir, HONE_OP_DIV, hone_te_load(t->te, exps, s.axis), total);
    t->result = hone_te_compute(t->te, &s, is_log ? "log_softmax_norm" : "softmax_norm",
                                hone_expr_cast(ir, t->out->dtype, value));
    return HONE_OK;
}

/* ---- layer normalisation ---- */

/* gamma or beta at the normalised axes of a full set of indices */
static const hone_expr *scale_at(hone_topi *t, const reduction *r, uint32_t arg,
                                 const hone_expr *const *full) {
    const hone_expr *at[HONE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t d = 0; d < r->rank; d++) {
        if (r->is_axis[d]) at[count++] = full[d];
    }
    return hone_topi_widen(t, hone_topi_load(t, arg, at));
}

static double attr_float(const hone_topi *t, const char *key, double fallback) {
    const hone_value *value = hone_attrs_find(&t->bind->attrs, key);
    if (value && value->kind == HONE_VALUE_FLOAT) return value->u.f;
    return value && value->kind == HONE_VALUE_INT ? (double)value->u.i : fallback;
}

hone_status hone_topi_emit_layer_norm(hone_topi *t) {
    reduction r;
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    hone_ir *ir = &t->te->ir;
    hone_dtype dtype = hone_topi_wide(t->out->dtype);
    if (!hone_attrs_find(&t->bind->attrs, "axes")) return hone_topi_unsupported(t, "no axes");
    for (uint32_t i = 0; i < t->count; i++) {
        if (hone_dtype_is_float(t->infos[i]->dtype)) continue;
        return hone_topi_unsupported(t, "a tensor of %s", HONE_DTYPE_NAME(t->infos[i]->dtype));
    }
    HONE_TRY(read_axes(t, "axes", false, &r));
    if (t->infos[1]->rank != (int32_t)r.reduce_count ||
        t->infos[2]->rank != (int32_t)r.reduce_count) {
        return hone_topi_unsupported(t, "a scale of another rank than the normalised axes");
    }
    const hone_expr *count = reduced_count(t, &r, dtype);
    begin_stage(t, &r, &s);
    hone_buffer sum = hone_te_reduce(t->te, &s, "layer_norm_sum", HONE_TE_SUM,
                                     hone_topi_widen(t, load_input(t, &r, false, &s)));
    begin_stage(t, &r, &s);
    input_indices(&r, false, &s, at);
    const hone_expr *mean = hone_expr_binary(ir, HONE_OP_DIV, reduced_at(t, &r, sum, at), count);
    const hone_expr *away = hone_expr_sub(ir, hone_topi_widen(t, hone_topi_load(t, 0, at)), mean);
    hone_buffer squares =
        hone_te_reduce(t->te, &s, "layer_norm_squares", HONE_TE_SUM, hone_expr_mul(ir, away, away));
    hone_topi_stage(t, &s);
    mean = hone_expr_binary(ir, HONE_OP_DIV, reduced_at(t, &r, sum, s.axis), count);
    away = hone_expr_sub(ir, hone_topi_widen(t, hone_topi_load(t, 0, s.axis)), mean);
    const hone_expr *variance =
        hone_expr_binary(ir, HONE_OP_DIV, reduced_at(t, &r, squares, s.axis), count);
    const hone_expr *spread = hone_topi_intrin(
        t, HONE_INTRIN_SQRT,
        hone_expr_add(ir, variance, hone_topi_number(t, dtype, attr_float(t, "epsilon", 1e-5))));
    const hone_expr *value = hone_expr_mul(ir, hone_expr_binary(ir, HONE_OP_DIV, away, spread),
                                           scale_at(t, &r, 1, s.axis));
    value = hone_expr_add(ir, value, scale_at(t, &r, 2, s.axis));
    t->result = hone_te_compute(t->te, &s, "layer_norm", hone_expr_cast(ir, t->out->dtype, value));
    return HONE_OK;
}
