/* graph/operators/topi_move.c - operators that only move data. */
#include <string.h>

#include "graph/operators/topi_build.h"

/* The row-major position of a set of indices. */
static const hone_expr *flat_index(hone_topi *t, uint32_t rank, const hone_expr *const *shape,
                                   const hone_expr *const *indices) {
    const hone_expr *at = hone_te_int(t->te, 0);
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_expr_is_int_value(shape[d], 1)) continue;
        if (!hone_expr_is_int_value(at, 0)) at = hone_expr_mul(&t->te->ir, at, shape[d]);
        at = hone_topi_sum(t, at, indices[d]);
        if (!at) return NULL;
    }
    return at;
}

/* There is one index along it, or none: nothing is computed then, nor divided by 0. */
static bool has_one_index(const hone_expr *extent) {
    return hone_expr_is_int_value(extent, 1) || hone_expr_is_int_value(extent, 0);
}

hone_status hone_topi_emit_reshape(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK];
    hone_topi_stage(t, &s);
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    const hone_expr *rest = flat_index(t, s.spatial_count, t->out_shape, s.axis);
    uint32_t outermost = 0;
    while (outermost < rank && has_one_index(t->shapes[0][outermost]))
        outermost++;
    for (uint32_t d = rank; d-- > 0;) {
        if (has_one_index(t->shapes[0][d])) {
            indices[d] = hone_te_int(t->te, 0);
        } else if (d == outermost) {
            indices[d] = rest;
        } else {
            indices[d] = hone_expr_floormod(&t->te->ir, rest, t->shapes[0][d]);
            rest = hone_expr_floordiv(&t->te->ir, rest, t->shapes[0][d]);
        }
    }
    t->result = hone_te_compute(t->te, &s, "reshape", hone_topi_load(t, 0, indices));
    return HONE_OK;
}

hone_status hone_topi_emit_permute(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK];
    int64_t axes[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    const hone_value *value = hone_attrs_find(&t->bind->attrs, "axes");
    bool reverse = !value || value->kind == HONE_VALUE_NONE;
    if (!reverse) HONE_TRY(hone_graph_attr_ints(t->bind, "axes", rank, 0, axes));
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < rank; d++) {
        int64_t axis = reverse ? (int64_t)(rank - 1 - d) : axes[d] < 0 ? axes[d] + rank : axes[d];
        indices[axis] = s.axis[d];
    }
    t->result = hone_te_compute(t->te, &s, "transpose", hone_topi_load(t, 0, indices));
    return HONE_OK;
}

/* if i < e0: a[i] else if i < e0 + e1: b[i - e0] ... */
hone_status hone_topi_emit_concat(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK], *starts[HONE_TOPI_MAX_ARGS + 1], *value = NULL;
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", 0);
    if (axis < 0) axis += t->out->rank;
    hone_topi_stage(t, &s);
    starts[0] = hone_te_int(t->te, 0);
    for (uint32_t i = 0; i < t->count; i++) {
        starts[i + 1] = hone_topi_sum(t, starts[i], t->shapes[i][axis]);
    }
    for (uint32_t i = t->count; i-- > 0;) {
        memcpy(indices, s.axis, s.spatial_count * sizeof *indices);
        bool is_static = starts[i] && hone_expr_is_int(starts[i]);
        indices[axis] = is_static ? hone_topi_add_int(t, s.axis[axis], -starts[i]->u.i)
                                  : hone_expr_sub(&t->te->ir, s.axis[axis], starts[i]);
        const hone_expr *part = hone_topi_load(t, i, indices);
        if (!value) {
            value = part;
            continue;
        }
        const hone_expr *is_here =
            hone_expr_binary(&t->te->ir, HONE_OP_LT, s.axis[axis], starts[i + 1]);
        const hone_expr *choice[] = {is_here, part, value};
        value = hone_expr_call(&t->te->ir, t->out->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, choice);
    }
    t->result = hone_te_compute(t->te, &s, "concat", value);
    return HONE_OK;
}

/* Where a slice begins; the shape inference has made sure of the rest. */
static int64_t first_index(int64_t begin, int64_t extent, int64_t stride) {
    int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? extent : extent - 1;
    if (begin < 0) begin += extent;
    return begin < low ? low : begin > high ? high : begin;
}

hone_status hone_topi_emit_slice(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK];
    int64_t axes[HONE_MAX_RANK], begin[HONE_MAX_RANK], strides[HONE_MAX_RANK];
    int32_t count = hone_garg_ints(&t->args[1], axes);
    bool has_strides = t->bind->arg_count > 4;
    if (count < 0 || hone_garg_ints(&t->args[2], begin) != count ||
        (has_strides && hone_garg_ints(&t->args[4], strides) != count)) {
        return hone_topi_unsupported(t, "indices that are not constant");
    }
    hone_topi_stage(t, &s);
    memcpy(indices, s.axis, s.spatial_count * sizeof *indices);
    for (int32_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + t->out->rank : axes[i];
        bool is_one = hone_expr_is_int_value(t->out_shape[axis], 1);
        int64_t stride = has_strides ? strides[i] : 1;
        int64_t extent = hone_expr_const(t->infos[0]->shape[axis]);
        indices[axis] =
            hone_topi_add_int(t, hone_topi_mul_int(t, s.axis[axis], is_one ? 1 : stride),
                              first_index(begin[i], extent, stride));
    }
    t->result = hone_te_compute(t->te, &s, "strided_slice", hone_topi_load(t, 0, indices));
    return HONE_OK;
}

/* An index as `mode` says: "fast" takes those that are there, "clip" the nearest of them, "wrap"
 * counts round, and "signed" takes those that are there, negative ones from the end. */
static const hone_expr *taken_index(hone_topi *t, const hone_expr *index, const hone_expr *extent) {
    hone_ir *ir = &t->te->ir;
    const char *mode = hone_attrs_string(&t->bind->attrs, "mode", "fast");
    if (!index || !extent) return NULL;
    if (strcmp(mode, "fast") == 0) return hone_topi_forward_index(t, index, extent);
    if (strcmp(mode, "signed") == 0) return hone_topi_index(t, index, extent);
    hone_dtype dtype = index->dtype.bits > t->te->index.bits ? index->dtype : t->te->index;
    index = hone_expr_cast(ir, dtype, index);
    const hone_expr *count = hone_expr_cast(ir, dtype, extent), *one = hone_expr_int(ir, dtype, 1);
    if (strcmp(mode, "wrap") == 0) {
        index = hone_expr_floormod(ir, index, count);
    } else {
        index = hone_expr_binary(ir, HONE_OP_MIN, index, hone_expr_sub(ir, count, one));
        index = hone_expr_binary(ir, HONE_OP_MAX, index, hone_expr_int(ir, dtype, 0));
    }
    return hone_expr_cast(ir, t->te->index, index);
}

hone_status hone_topi_emit_take(hone_topi *t) {
    hone_te_stage s;
    const hone_expr *indices[HONE_MAX_RANK];
    const char *mode = hone_attrs_string(&t->bind->attrs, "mode", "fast");
    static const char *const modes[] = {"fast", "clip", "wrap", "signed"};
    size_t known = 0;
    while (known < HONE_COUNT(modes) && strcmp(modes[known], mode) != 0)
        known++;
    if (known == HONE_COUNT(modes)) return hone_topi_unsupported(t, "mode '%s'", mode);
    int64_t axis = hone_attrs_int(&t->bind->attrs, "axis", 0);
    uint32_t rank = (uint32_t)t->infos[0]->rank, index_rank = (uint32_t)t->infos[1]->rank;
    if (axis < 0) axis += rank;
    hone_topi_stage(t, &s);
    for (uint32_t d = 0; d < (uint32_t)axis; d++)
        indices[d] = s.axis[d];
    indices[axis] = taken_index(t, hone_topi_load(t, 1, s.axis + axis), t->shapes[0][axis]);
    for (uint32_t d = (uint32_t)axis + 1; d < rank; d++)
        indices[d] = s.axis[d + index_rank - 1];
    t->result = hone_te_compute(t->te, &s, "take", hone_topi_load(t, 0, indices));
    return HONE_OK;
}

/* What is padded with; a double does not have all whole numbers of 64 bits. */
static const hone_expr *pad_number(hone_topi *t) {
    hone_dtype dtype = t->infos[0]->dtype;
    const hone_value *value = hone_attrs_find(&t->bind->attrs, "pad_value");
    if (!value) return hone_topi_number(t, dtype, 0);
    if (value->kind == HONE_VALUE_FLOAT) return hone_topi_number(t, dtype, value->u.f);
    bool fits = hone_dtype_is_integer(dtype) && value->u.i >= hone_dtype_min_int(dtype) &&
                value->u.i <= hone_dtype_max_int(dtype);
    return fits ? hone_expr_int(&t->te->ir, dtype, value->u.i)
                : hone_topi_number(t, dtype, (double)value->u.i);
}

hone_status hone_topi_emit_pad(hone_topi *t) {
    int64_t widths[2 * HONE_MAX_RANK], before[HONE_MAX_RANK], after[HONE_MAX_RANK];
    uint32_t rank = (uint32_t)t->infos[0]->rank;
    const char *mode = hone_attrs_string(&t->bind->attrs, "pad_mode", "constant");
    if (strcmp(mode, "constant") != 0) return hone_topi_emit_pad_copies(t);
    HONE_TRY(hone_graph_attr_ints(t->bind, "pad_width", 2 * rank, 0, widths));
    bool is_needed = false;
    for (uint32_t d = 0; d < rank; d++) {
        before[d] = widths[2 * d];
        after[d] = widths[2 * d + 1];
        is_needed |= before[d] || after[d];
    }
    if (is_needed) {
        t->result = hone_topi_padded(t, before, after, pad_number(t));
        return HONE_OK;
    }
    hone_te_stage s;
    hone_topi_stage(t, &s);
    t->result = hone_te_compute(t->te, &s, "pad", hone_topi_load(t, 0, s.axis));
    return HONE_OK;
}
