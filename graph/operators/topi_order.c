/* graph/operators/topi_order.c - sums and products up to each index along an axis, and automata
 * that go along it. */
#include <string.h>

#include "graph/operators/topi_build.h"

static int64_t axis_of(const hone_topi *t) {
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", -1);
    return axis < 0 ? axis + t->infos[0]->rank : axis;
}

/* A stage over the shape of argument 0 whose axis `last` comes behind the others, taken in order;
 * out[] has its axes in the order of the dimensions. */
static void stage_along(hone_topi *t, int64_t last, hone_te_stage *s, const hone_expr **out) {
    const hone_expr *others[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[0]->rank, count = 0, next = 0;
    for (uint32_t d = 0; d < rank; d++)
        if (d != last) others[count++] = t->shapes[0][d];
    hone_te_stage_begin(t->te, s, count, others, 1, &t->shapes[0][last]);
    for (uint32_t d = 0; d < rank; d++)
        out[d] = d == last ? s->axis[count] : s->axis[next++];
}

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

/* Whether there is something before the index along the axis, and what is in the buffer there. */
static const hone_expr *stored_before(hone_topi *t, hone_buffer buffer, int64_t axis,
                                      const hone_expr *const *at, const hone_expr **out_is_there) {
    const hone_expr *before[HONE_MAX_RANK];
    memcpy(before, at, (size_t)t->infos[0]->rank * sizeof *before);
    before[axis] = hone_topi_add_int(t, at[axis], -1);
    *out_is_there = hone_expr_binary(&t->te->ir, HONE_OP_LT, hone_te_int(t->te, 0), at[axis]);
    return hone_te_load(t->te, buffer, before);
}

/* The axis; without one argument 0 is made flat. */
static hone_status find_axis(hone_topi *t, int64_t *out) {
    const hone_value *value = hone_attrs_find(&t->bind->attrs, "axis");
    bool is_flat = !value || value->kind == HONE_VALUE_NONE;
    if (is_flat) HONE_TRY(flatten(t));
    *out = is_flat ? 0 : axis_of(t);
    return HONE_OK;
}

/* out[i] = table[out[i - 1], x[i]]; before the first one it is in state 0. */
hone_status hone_topi_emit_automaton(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[HONE_MAX_RANK], *cell[2], *is_there;
    int64_t axis;
    const hone_dtype dtype = t->out->dtype;
    bool is_table = t->infos[1]->rank == 2 && hone_dtype_is_integer(t->infos[1]->dtype);
    if (!is_table || !hone_dtype_is_integer(t->infos[0]->dtype) || !hone_dtype_is_integer(dtype))
        return hone_topi_unsupported(t, "wants whole numbers and a table [states, kinds] of such");
    HONE_TRY(find_axis(t, &axis));
    hone_buffer states = hone_te_buffer(t->te, t->op, dtype, (uint32_t)t->out->rank, t->out_shape);
    stage_along(t, axis, &s, at);
    const hone_expr *state = stored_before(t, states, axis, at, &is_there);
    const hone_expr *choice[] = {is_there, state, hone_topi_number(t, dtype, 0)};
    state = state ? hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice) : NULL;
    cell[0] = hone_topi_index(t, state, t->shapes[1][0]);
    cell[1] = hone_topi_index(t, hone_topi_load(t, 0, at), t->shapes[1][1]);
    hone_te_update(t->te, &s, t->op, states, at,
                   hone_expr_cast(ir, dtype, hone_topi_load(t, 1, cell)));
    t->result = states;
    return HONE_OK;
}

/* out[i] = out[i - 1] + x[i], or x[i - 1] */
hone_status hone_topi_emit_cumulate(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[HONE_MAX_RANK], *before[HONE_MAX_RANK], *is_there;
    int64_t axis;
    bool is_sum = strcmp(t->op, "cumsum") == 0;
    bool is_late = hone_attrs_int(&t->bind->attrs, "exclusive", 0) != 0;
    HONE_TRY(find_axis(t, &axis));
    hone_dtype dtype = hone_topi_wide(t->out->dtype);
    if (hone_dtype_is_bool(dtype)) return hone_topi_unsupported(t, "sums that are truths");
    hone_buffer sums = hone_te_buffer(t->te, t->op, dtype, (uint32_t)t->out->rank, t->out_shape);
    stage_along(t, axis, &s, at);
    const hone_expr *start = hone_topi_number(t, dtype, !is_sum);
    const hone_expr *so_far = stored_before(t, sums, axis, at, &is_there);
    const hone_op op = is_sum ? HONE_OP_ADD : HONE_OP_MUL;
    memcpy(before, at, (size_t)t->infos[0]->rank * sizeof *before);
    before[axis] = hone_topi_add_int(t, at[axis], -1);
    if (is_late) so_far = hone_expr_binary(ir, op, so_far, element(t, before));
    const hone_expr *choice[] = {is_there, so_far, start};
    const hone_expr *sum =
        so_far ? hone_expr_call(ir, dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice) : NULL;
    if (!is_late) sum = hone_expr_binary(ir, op, sum, element(t, at));
    hone_te_update(t->te, &s, t->op, sums, at, sum);
    hone_topi_give(t, sums);
    return HONE_OK;
}
