/* graph/operators/topi_index.c - operators whose indices are computed: gather, scatter.
 *
 * Indices count from the end where they are negative. One that lies outside is an error when the
 * kernel runs: it stays an index that does not lie in the buffer, which lower/memory/lower_check.c
 * finds. */
#include <string.h>

#include "graph/operators/topi_build.h"

static const hone_expr *limited(hone_topi *t, const hone_expr *index, const hone_expr *extent) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *low = hone_expr_int(ir, index->dtype, -1);
    const hone_expr *from = hone_expr_binary(ir, HONE_OP_MAX, index, low);
    return hone_expr_binary(ir, HONE_OP_MIN, from, extent);
}

static const hone_expr *as_index(hone_topi *t, const hone_expr *index, const hone_expr *extent,
                                 bool from_end) {
    hone_ir *ir = &t->te->ir;
    if (!index || !extent) return NULL;
    bool is_signed = hone_dtype_is_int(index->dtype);
    bool is_wide = index->dtype.bits > t->te->index.bits ||
                   (!is_signed && index->dtype.bits == t->te->index.bits);
    hone_dtype dtype = is_wide ? HONE_DTYPE_I64 : t->te->index;
    bool is_huge = !is_signed && index->dtype.bits == 64; /* not all fit into int64 */
    if (is_huge) {
        const hone_expr *most = hone_expr_cast(ir, index->dtype, extent);
        index = hone_expr_binary(ir, HONE_OP_MIN, index, most);
    }
    index = hone_expr_cast(ir, dtype, index);
    const hone_expr *end = hone_expr_cast(ir, dtype, extent);
    if (!index || !end) return NULL;
    if (is_signed && from_end) {
        const hone_expr *zero = hone_expr_int(ir, dtype, 0);
        index = hone_expr_select(ir, hone_expr_binary(ir, HONE_OP_LT, index, zero),
                                 hone_expr_add(ir, index, end), index);
    }
    if (is_wide && index) index = limited(t, index, end);
    return hone_expr_cast(ir, t->te->index, index);
}

const hone_expr *hone_topi_index(hone_topi *t, const hone_expr *index, const hone_expr *extent) {
    return as_index(t, index, extent, true);
}

const hone_expr *hone_topi_forward_index(hone_topi *t, const hone_expr *index,
                                         const hone_expr *extent) {
    return as_index(t, index, extent, false);
}

/* ---- gather ---- */

static int64_t axis_of(const hone_topi *t) {
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", 0);
    return axis < 0 ? axis + t->infos[0]->rank : axis;
}

hone_status hone_topi_emit_gather_elements(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK];
    int64_t axis = axis_of(t);
    hone_topi_stage(t, &s);
    memcpy(indices, s.axis, s.spatial_count * sizeof *indices);
    indices[axis] = hone_topi_index(t, hone_topi_load(t, 1, s.axis), t->shapes[0][axis]);
    t->result = hone_te_compute(t->te, &s, "gather_elements", hone_topi_load(t, 0, indices));
    return HONE_OK;
}

/* The indices that the last dimension of the indices holds, at these axes in front of it. */
static uint32_t tuple_indices(hone_topi *t, uint32_t first, const hone_expr *const *axes,
                              const hone_expr **out) {
    const hone_expr *at[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[1]->rank;
    uint32_t count = (uint32_t)hone_expr_const(t->infos[1]->shape[rank - 1]);
    memcpy(at, axes, (rank - 1) * sizeof *at);
    for (uint32_t i = 0; i < count; i++) {
        at[rank - 1] = hone_te_int(t->te, i);
        out[i] = hone_topi_index(t, hone_topi_load(t, 1, at), t->shapes[0][first + i]);
    }
    return count;
}

hone_status hone_topi_emit_gather_nd(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK];
    uint32_t batch = (uint32_t)hone_attrs_int(&t->bind->attrs, "batch_dims", 0);
    uint32_t lead = (uint32_t)t->infos[1]->rank - 1, rank = (uint32_t)t->infos[0]->rank;
    hone_topi_stage(t, &s);
    memcpy(indices, s.axis, batch * sizeof *indices);
    uint32_t next = batch + tuple_indices(t, batch, s.axis, indices + batch);
    for (uint32_t d = next; d < rank; d++)
        indices[d] = s.axis[lead + d - next];
    t->result = hone_te_compute(t->te, &s, "gather_nd", hone_topi_load(t, 0, indices));
    return HONE_OK;
}

/* ---- one of many ---- */

static const hone_expr *given_number(hone_topi *t, uint32_t arg) {
    const hone_expr *e = t->args[arg].kind == HONE_GARG_PRIM ? t->args[arg].u.expr : NULL;
    if (e && e->kind == HONE_EXPR_FLOAT) return hone_topi_number(t, t->out->dtype, e->u.f);
    if (e && e->kind == HONE_EXPR_INT) return hone_expr_int(&t->te->ir, t->out->dtype, e->u.i);
    return hone_ir_fail(&t->te->ir, hone_topi_unsupported(t, "a number that is not known"));
}

/* Indices that are not there are nowhere. */
hone_status hone_topi_emit_one_hot(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    const hone_expr *at[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->out->rank, count = 0;
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", -1);
    if (axis < 0) axis += rank;
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < rank; d++)
        if (d != axis) at[count++] = s.axis[d];
    const hone_expr *index = hone_topi_load(t, 0, at);
    if (index && index->dtype.bits < 64) index = hone_expr_cast(ir, HONE_DTYPE_I64, index);
    const hone_expr *own = index ? hone_expr_cast(ir, index->dtype, s.axis[axis]) : NULL;
    const hone_expr *is_here = hone_expr_binary(ir, HONE_OP_EQ, index, own);
    t->result =
        hone_te_compute(t->te, &s, "one_hot",
                        hone_expr_select(ir, is_here, given_number(t, 1), given_number(t, 2)));
    return HONE_OK;
}

/* ---- scatter: a copy of the data, then one update after the other ---- */

static const hone_expr *combined(hone_topi *t, const char *how, const hone_expr *old,
                                 const hone_expr *update) {
    hone_ir *ir = &t->te->ir;
    if (strcmp(how, "update") == 0) return update;
    if (strcmp(how, "add") == 0) return hone_expr_add(ir, old, update);
    if (strcmp(how, "mul") == 0) return hone_expr_mul(ir, old, update);
    if (strcmp(how, "max") == 0) return hone_expr_extreme(ir, HONE_OP_MAX, old, update);
    if (strcmp(how, "min") == 0) return hone_expr_extreme(ir, HONE_OP_MIN, old, update);
    return hone_ir_fail(ir, hone_topi_unsupported(t, "reduction '%s'", how));
}

static void store(hone_topi *t, const hone_te_stage *s, const hone_expr *const *indices,
                  const hone_expr *update) {
    const char *how = hone_attrs_string(&t->bind->attrs, "reduction", "update");
    const hone_expr *old = hone_te_load(t->te, t->result, indices);
    hone_te_update(t->te, s, "scatter", t->result, indices, combined(t, how, old, update));
}

static void copy_data(hone_topi *t) {
    hone_te_stage s;
    hone_topi_stage(t, &s);
    t->result = hone_te_compute(t->te, &s, t->op, hone_topi_load(t, 0, s.axis));
}

hone_status hone_topi_emit_scatter_elements(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *others[HONE_MAX_RANK], *indices[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[1]->rank, axis = (uint32_t)axis_of(t), count = 0;
    copy_data(t);
    for (uint32_t d = 0; d < rank; d++)
        if (d != axis) others[count++] = t->shapes[1][d];
    hone_te_stage_begin(t->te, &s, count, others, 1, &t->shapes[1][axis]);
    for (uint32_t d = 0, next = 0; d < rank; d++)
        indices[d] = d == axis ? s.axis[count] : s.axis[next++];
    const hone_expr *update = hone_topi_load(t, 2, indices), *index = hone_topi_load(t, 1, indices);
    indices[axis] = hone_topi_index(t, index, t->shapes[0][axis]);
    store(t, &s, indices, update);
    return HONE_OK;
}

hone_status hone_topi_emit_scatter_nd(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK], *axes[2 * HONE_MAX_RANK];
    uint32_t lead = (uint32_t)t->infos[1]->rank - 1;
    uint32_t count = (uint32_t)hone_expr_const(t->infos[1]->shape[lead]);
    uint32_t slices = (uint32_t)t->infos[0]->rank - count;
    copy_data(t);
    hone_te_stage_begin(t->te, &s, slices, t->shapes[0] + count, lead, t->shapes[1]);
    memcpy(axes, s.axis + slices, lead * sizeof *axes);
    memcpy(axes + lead, s.axis, slices * sizeof *axes);
    tuple_indices(t, 0, axes, indices);
    memcpy(indices + count, s.axis, slices * sizeof *indices);
    store(t, &s, indices, hone_topi_load(t, 2, axes));
    return HONE_OK;
}
