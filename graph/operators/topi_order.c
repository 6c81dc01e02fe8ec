/* graph/operators/topi_order.c - operators in which elements along an axis depend on each other:
 * sums up to each place, sorting, the first k.
 *
 * What is sorted is found by counting: an element's place is how many come before it, equal ones in
 * their order. That is as many comparisons as the square of the extent, but no step waits for
 * another one. NaN counts as the largest number. */
#include <string.h>

#include "graph/operators/topi_build.h"

static int64_t axis_of(const hone_topi *t) {
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", -1);
    return axis < 0 ? axis + t->infos[0]->rank : axis;
}

/* A stage over the shape of argument 0 whose axis `last` comes behind the others, as what is
 * reduced or taken in order; out[] has its axes in the order of the dimensions. */
static void stage_along(hone_topi *t, int64_t last, bool keeps_axis, hone_te_stage *s,
                        const hone_expr **out) {
    const hone_expr *others[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[0]->rank, count = 0, next = 0;
    for (uint32_t d = 0; d < rank; d++)
        if (d != last || keeps_axis) others[count++] = t->shapes[0][d];
    hone_te_stage_begin(t->te, s, count, others, 1, &t->shapes[0][last]);
    for (uint32_t d = 0; d < rank; d++)
        out[d] = d == last && !keeps_axis ? s->axis[count] : s->axis[next++];
}

/* ---- sums and products so far ---- */

static hone_status flatten(hone_topi *t) {
    const hone_expr *const *shape = t->out_shape;
    const hone_sinfo *out = t->out;
    if (t->infos[0]->rank == 1) return HONE_OK;
    HONE_TRY(hone_topi_emit_reshape(t));
    t->buffers[0] = t->result;
    t->shapes[0] = shape;
    t->infos[0] = out;
    return HONE_OK;
}

static const hone_expr *element(hone_topi *t, const hone_expr *const *at) {
    const hone_expr *x = hone_topi_load(t, 0, at);
    hone_dtype dtype = hone_topi_wide(t->out->dtype);
    if (!x || !hone_dtype_is_bool(x->dtype)) return hone_expr_cast(&t->te->ir, dtype, x);
    return hone_expr_select(&t->te->ir, x, hone_topi_number(t, dtype, 1),
                            hone_topi_number(t, dtype, 0));
}

/* out[i] = out[i - 1] + x[i], or x[i - 1] */
hone_status hone_topi_emit_cumulate(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[HONE_MAX_RANK], *before[HONE_MAX_RANK];
    const hone_value *value = hone_attrs_find(&t->bind->attrs, "axis");
    bool is_flat = !value || value->kind == HONE_VALUE_NONE;
    bool is_sum = strcmp(t->op, "cumsum") == 0;
    bool is_late = hone_attrs_int(&t->bind->attrs, "exclusive", 0) != 0;
    if (is_flat) HONE_TRY(flatten(t));
    int64_t axis = is_flat ? 0 : axis_of(t);
    hone_dtype dtype = hone_topi_wide(t->out->dtype);
    if (hone_dtype_is_bool(dtype)) return hone_topi_unsupported(t, "sums that are truths");
    hone_buffer sums = hone_te_buffer(t->te, t->op, dtype, (uint32_t)t->out->rank, t->out_shape);
    stage_along(t, axis, false, &s, at);
    memcpy(before, at, (size_t)t->infos[0]->rank * sizeof *before);
    before[axis] = hone_topi_add_int(t, at[axis], -1);
    const hone_expr *is_first = hone_expr_binary(ir, HONE_OP_LT, hone_te_int(t->te, 0), at[axis]);
    const hone_expr *start = hone_topi_number(t, dtype, !is_sum), *so_far = NULL;
    so_far = hone_te_load(t->te, sums, before);
    const hone_op op = is_sum ? HONE_OP_ADD : HONE_OP_MUL;
    if (is_late) so_far = hone_expr_binary(ir, op, so_far, element(t, before));
    const hone_expr *choice[] = {is_first, so_far, start};
    const hone_expr *sum =
        so_far ? hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice) : NULL;
    if (!is_late) sum = hone_expr_binary(ir, op, sum, element(t, at));
    hone_te_update(t->te, &s, t->op, sums, at, sum);
    hone_topi_give(t, sums);
    return HONE_OK;
}

/* ---- sorting ---- */

static const hone_expr *is_nan(hone_topi *t, const hone_expr *x) {
    return hone_expr_call(&t->te->ir, HONE_DTYPE_BOOL, HONE_INTRIN_ISNAN, 1, &x);
}

/* a > b, NaN being the largest */
static const hone_expr *above(hone_topi *t, const hone_expr *a, const hone_expr *b) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *is_above = hone_expr_binary(ir, HONE_OP_GT, a, b);
    if (!is_above || !hone_dtype_is_float(a->dtype)) return is_above;
    const hone_expr *is_only_a =
        hone_expr_binary(ir, HONE_OP_AND, is_nan(t, a), hone_expr_not(ir, is_nan(t, b)));
    return hone_expr_binary(ir, HONE_OP_OR, is_above, is_only_a);
}

/* Does the element at `other` come before the one at `own`? */
static const hone_expr *comes_before(hone_topi *t, bool is_descending, int64_t axis,
                                     const hone_expr *const *other, const hone_expr *const *own) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *a = hone_topi_load(t, 0, other), *b = hone_topi_load(t, 0, own);
    if (a && hone_dtype_is_bool(a->dtype)) {
        a = hone_expr_cast(ir, HONE_DTYPE_I8, a);
        b = hone_expr_cast(ir, HONE_DTYPE_I8, b);
    }
    const hone_expr *is_first = is_descending ? above(t, a, b) : above(t, b, a);
    const hone_expr *is_last = is_descending ? above(t, b, a) : above(t, a, b);
    const hone_expr *is_earlier = hone_expr_binary(ir, HONE_OP_LT, other[axis], own[axis]);
    const hone_expr *is_equal =
        hone_expr_binary(ir, HONE_OP_AND, hone_expr_not(ir, is_last), is_earlier);
    return hone_expr_binary(ir, HONE_OP_OR, is_first, is_equal);
}

/* How many come before each element. */
static hone_buffer rank_elements(hone_topi *t, int64_t axis, bool is_descending) {
    hone_te_stage s;
    const hone_expr *own[HONE_MAX_RANK], *other[HONE_MAX_RANK];
    stage_along(t, axis, true, &s, own);
    memcpy(other, own, (size_t)t->infos[0]->rank * sizeof *other);
    other[axis] = s.axis[s.spatial_count];
    const hone_expr *is_before = comes_before(t, is_descending, axis, other, own);
    const hone_expr *one = hone_te_int(t->te, 1), *none = hone_te_int(t->te, 0);
    return hone_te_reduce(t->te, &s, "rank", HONE_TE_SUM,
                          hone_expr_select(&t->te->ir, is_before, one, none));
}

/* Which element comes at each place. */
static hone_buffer order_elements(hone_topi *t, int64_t axis, hone_buffer ranks) {
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    hone_buffer order =
        hone_te_buffer(t->te, "order", t->te->index, (uint32_t)t->infos[0]->rank, t->shapes[0]);
    stage_along(t, axis, false, &s, at);
    const hone_expr *element = at[axis];
    at[axis] = hone_te_load(t->te, ranks, at);
    hone_te_update(t->te, &s, "order", order, at, element);
    return order;
}

/* Of a size that comes later it is not known whether there are as many. */
static const hone_expr *within(hone_topi *t, const hone_expr *place, const hone_expr *extent) {
    const hone_expr *args[] = {place, extent};
    if (!extent || hone_expr_is_int(extent) || hone_expr_same(extent, t->out_shape[axis_of(t)]))
        return place;
    return hone_expr_call(&t->te->ir, place->dtype, HONE_INTRIN_CHECKED_INDEX, 2, args);
}

hone_status hone_topi_emit_sort(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    bool is_topk = strcmp(t->op, "topk") == 0;
    bool is_descending =
        hone_attrs_int(&t->bind->attrs, is_topk ? "largest" : "descending", is_topk) != 0;
    bool gives_values =
        strcmp(t->op, "sort") == 0 ||
        (is_topk && strcmp(hone_attrs_string(&t->bind->attrs, "ret_type", ""), "values") == 0);
    int64_t axis = axis_of(t);
    hone_buffer order = order_elements(t, axis, rank_elements(t, axis, is_descending));
    hone_topi_stage(t, &s);
    memcpy(at, s.axis, s.spatial_count * sizeof *at);
    at[axis] = within(t, s.axis[axis], t->shapes[0][axis]);
    const hone_expr *place = hone_te_load(t->te, order, at);
    at[axis] = place;
    const hone_expr *value =
        gives_values ? hone_topi_load(t, 0, at) : hone_expr_cast(&t->te->ir, t->out->dtype, place);
    t->result = hone_te_compute(t->te, &s, t->op, value);
    return HONE_OK;
}
