/* graph/operators/topi_repeat.c - operators that repeat, turn round or cut off what they are given.
 */
#include <string.h>

#include "graph/operators/topi_build.h"

static int64_t axis_of(const hone_topi *t) {
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", 0);
    return axis < 0 ? axis + t->infos[0]->rank : axis;
}

/* What lies above or below a diagonal, else 0. */
hone_status hone_topi_emit_triangle(hone_topi *t) {
    hone_te_stage s;
    hone_ir *ir = &t->te->ir;
    int64_t k = hone_attrs_int(&t->bind->attrs, "k", 0);
    int64_t most = hone_dtype_max_int(HONE_DTYPE_I32) / 2;
    k = k > most ? most : k < -most ? -most : k; /* as far as no matrix reaches */
    hone_topi_stage(t, &s);
    const hone_expr *row = s.axis[s.spatial_count - 2], *column = s.axis[s.spatial_count - 1];
    const hone_expr *diagonal = hone_topi_add_int(t, row, k);
    bool is_upper = strcmp(t->op, "triu") == 0;
    const hone_expr *is_kept =
        hone_expr_binary(ir, is_upper ? HONE_OP_GE : HONE_OP_LE, column, diagonal);
    const hone_expr *x = hone_topi_load(t, 0, s.axis),
                    *zero = hone_topi_number(t, t->out->dtype, 0);
    t->result = hone_te_compute(t->te, &s, t->op, hone_expr_select(ir, is_kept, x, zero));
    return HONE_OK;
}

hone_status hone_topi_emit_flip(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    int64_t axis = axis_of(t);
    hone_topi_stage(t, &s);
    memcpy(at, s.axis, s.spatial_count * sizeof *at);
    const hone_expr *last = hone_topi_add_int(t, t->shapes[0][axis], -1);
    at[axis] = hone_expr_sub(&t->te->ir, last, s.axis[axis]);
    t->result = hone_te_compute(t->te, &s, "flip", hone_topi_load(t, 0, at));
    return HONE_OK;
}

hone_status hone_topi_emit_tile(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t of = s.spatial_count - rank + d;
        bool is_once = hone_expr_same(t->shapes[0][d], t->out_shape[of]);
        at[d] = is_once ? s.axis[of] : hone_expr_floormod(&t->te->ir, s.axis[of], t->shapes[0][d]);
    }
    t->result = hone_te_compute(t->te, &s, "tile", hone_topi_load(t, 0, at));
    return HONE_OK;
}

/* Without an axis: of all elements in their order. */
hone_status hone_topi_emit_repeat(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    const hone_value *value = hone_attrs_find(&t->bind->attrs, "axis");
    bool is_flat = !value || value->kind == HONE_VALUE_NONE;
    int64_t times = hone_attrs_int(&t->bind->attrs, "repeats", 1), axis = is_flat ? 0 : axis_of(t);
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    hone_topi_stage(t, &s);
    memcpy(at, s.axis, s.spatial_count * sizeof *at);
    const hone_expr *rest = hone_expr_floordiv(&t->te->ir, s.axis[axis], hone_te_int(t->te, times));
    for (uint32_t d = rank; is_flat && d-- > 1;) {
        at[d] = hone_expr_floormod(&t->te->ir, rest, t->shapes[0][d]);
        rest = hone_expr_floordiv(&t->te->ir, rest, t->shapes[0][d]);
    }
    if (rank) at[axis] = rest;
    t->result = hone_te_compute(t->te, &s, "repeat", hone_topi_load(t, 0, at));
    return HONE_OK;
}

/* ---- padding with what lies inside ---- */

typedef const hone_expr *(*inside_fn)(hone_topi *t, const hone_expr *at, const hone_expr *extent);

/* ... 2 1 0 1 2 ... n-1 n-2 ...: the ends stand once */
static const hone_expr *reflected(hone_topi *t, const hone_expr *at, const hone_expr *extent) {
    hone_ir *ir = &t->te->ir;
    if (hone_expr_is_int_value(extent, 1)) return hone_te_int(t->te, 0);
    const hone_expr *round = hone_topi_add_int(t, hone_topi_mul_int(t, extent, 2), -2);
    if (!round) return NULL;
    if (!hone_expr_is_int(round))
        round = hone_expr_binary(ir, HONE_OP_MAX, round, hone_te_int(t->te, 1));
    const hone_expr *there = hone_expr_floormod(ir, at, round);
    return hone_expr_binary(ir, HONE_OP_MIN, there, hone_expr_sub(ir, round, there));
}

static const hone_expr *clamped(hone_topi *t, const hone_expr *at, const hone_expr *extent) {
    hone_ir *ir = &t->te->ir;
    const hone_expr *low = hone_expr_binary(ir, HONE_OP_MAX, at, hone_te_int(t->te, 0));
    return hone_expr_binary(ir, HONE_OP_MIN, low, hone_topi_add_int(t, extent, -1));
}

static const hone_expr *wrapped(hone_topi *t, const hone_expr *at, const hone_expr *extent) {
    return hone_expr_floormod(&t->te->ir, at, extent);
}

hone_status hone_topi_emit_pad_copies(hone_topi *t) {
    static const struct {
        const char *mode;
        inside_fn inside;
    } modes[] = {
        {"reflect",   reflected},
        {"replicate", clamped  },
        {"edge",      clamped  },
        {"circular",  wrapped  },
    };
    hone_te_stage s;
    const hone_expr *at[HONE_MAX_RANK];
    int64_t widths[2 * HONE_MAX_RANK];
    const char *mode = hone_attrs_string(&t->bind->attrs, "pad_mode", "");
    size_t kind = 0;
    while (kind < HONE_COUNT(modes) && strcmp(modes[kind].mode, mode) != 0)
        kind++;
    if (kind == HONE_COUNT(modes)) return hone_topi_unsupported(t, "pad_mode '%s'", mode);
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    HONE_TRY(hone_graph_attr_ints(t->bind, "pad_width", 2 * rank, 0, widths));
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < rank; d++) {
        at[d] = hone_topi_add_int(t, s.axis[d], -widths[2 * d]);
        bool is_padded = widths[2 * d] || widths[2 * d + 1];
        if (is_padded) at[d] = modes[kind].inside(t, at[d], t->shapes[0][d]);
    }
    t->result = hone_te_compute(t->te, &s, "pad", hone_topi_load(t, 0, at));
    return HONE_OK;
}
