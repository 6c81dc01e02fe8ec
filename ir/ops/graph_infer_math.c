/* ir/ops/graph_infer_math.c - shapes of elementwise operators, matrix products and reductions. */
#include <string.h>

#include "ir/ops/graph_infer.h"

hone_status hone_infer_same(hone_infer *in) {
    in->result = in->args[0];
    return HONE_OK;
}

hone_status hone_infer_float(hone_infer *in) {
    hone_dtype dtype = in->args[0]->dtype;
    if (!hone_dtype_is_float(dtype) && !hone_dtype_is_void(dtype)) {
        return hone_infer_fail(in, "wants a floating-point tensor");
    }
    const hone_value *axis = hone_attrs_find(&in->bind->attrs, "axis"); /* of a softmax */
    int32_t ignored;
    if (axis && axis->kind == HONE_VALUE_INT && in->args[0]->rank >= 0)
        HONE_TRY(hone_infer_axis(in, axis->u.i, in->args[0]->rank, &ignored));
    return hone_infer_same(in);
}

static hone_status same_dtype(const hone_infer *in, uint32_t a, uint32_t b) {
    bool differ = hone_dtypes_differ(in->args[a]->dtype, in->args[b]->dtype);
    return differ ? hone_infer_fail(in, "element types differ") : HONE_OK;
}

/* That of all of these; unknown where one of them is. */
static hone_dtype common_dtype(const hone_infer *in, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (hone_dtype_is_void(in->args[i]->dtype)) return HONE_DTYPE_VOID;
    }
    return in->args[first]->dtype;
}

static hone_status broadcast_to_dtype(hone_infer *in, uint32_t count, hone_dtype dtype) {
    const hone_expr *shape[HONE_MAX_RANK];
    int32_t rank;
    HONE_TRY(hone_infer_broadcast(in, count, in->args, shape, &rank));
    return hone_infer_tensor(in, dtype, rank, shape);
}

static hone_status both_tensors(const hone_infer *in) {
    if (in->args[1]->kind == HONE_SINFO_TENSOR) return HONE_OK;
    if (hone_dtypes_differ(in->args[0]->dtype, in->args[1]->dtype)) { /* R.add(x, 1) */
        const char *dtype = HONE_DTYPE_NAME(in->args[0]->dtype);
        return hone_infer_fail(in, "element types differ; R.const(1, \"%s\") is a tensor", dtype);
    }
    return hone_infer_doubt(in, "the second argument must be a tensor");
}

hone_status hone_infer_binary(hone_infer *in) {
    HONE_TRY(both_tensors(in));
    HONE_TRY(same_dtype(in, 0, 1));
    return broadcast_to_dtype(in, 2, common_dtype(in, 0, 2));
}

hone_status hone_infer_compare(hone_infer *in) {
    HONE_TRY(both_tensors(in));
    HONE_TRY(same_dtype(in, 0, 1));
    return broadcast_to_dtype(in, 2, HONE_DTYPE_BOOL);
}

hone_status hone_infer_logical(hone_infer *in) {
    for (uint32_t i = 0; i < in->bind->arg_count; i++) {
        if (in->args[i]->kind != HONE_SINFO_TENSOR ||
            hone_dtypes_differ(in->args[i]->dtype, HONE_DTYPE_BOOL)) {
            return hone_infer_doubt(in, "wants bool tensors");
        }
    }
    return broadcast_to_dtype(in, in->bind->arg_count, HONE_DTYPE_BOOL);
}

hone_status hone_infer_where(hone_infer *in) {
    if (hone_dtypes_differ(in->args[0]->dtype, HONE_DTYPE_BOOL)) {
        return hone_infer_fail(in, "the condition must be bool");
    }
    HONE_TRY(same_dtype(in, 1, 2));
    return broadcast_to_dtype(in, 3, common_dtype(in, 1, 3));
}

hone_status hone_infer_fma(hone_infer *in) {
    HONE_TRY(same_dtype(in, 0, 1));
    HONE_TRY(same_dtype(in, 0, 2));
    return broadcast_to_dtype(in, 3, common_dtype(in, 0, 3));
}

hone_status hone_infer_astype(hone_infer *in) {
    hone_dtype dtype;
    const char *name = hone_attrs_string(&in->bind->attrs, "dtype", "void");
    if (!hone_dtype_parse(name, &dtype) || !hone_dtype_is_storable(dtype) ||
        hone_dtype_is_handle(dtype)) {
        return hone_infer_fail(in, "'%s' is no element type", name);
    }
    return hone_infer_tensor(in, dtype, in->args[0]->rank, in->args[0]->shape);
}

/* ---- matrix products: numpy's matmul, with optional swapping of the last two dimensions ---- */

/* Batch dimensions are broadcast like any others. */
static hone_status matmul_batch(hone_infer *in, const hone_expr **shape, int32_t *out_rank) {
    hone_sinfo a = *in->args[0], b = *in->args[1];
    a.rank = a.rank > 2 ? a.rank - 2 : 0;
    b.rank = b.rank > 2 ? b.rank - 2 : 0;
    const hone_sinfo *batch[] = {&a, &b};
    return hone_infer_broadcast(in, 2, batch, shape, out_rank);
}

static hone_status check_summed(const hone_infer *in, const hone_expr *a, const hone_expr *b) {
    if (hone_infer_same_extent(in, a, b)) return HONE_OK;
    if (!hone_extent_differs(a, b)) {
        return hone_infer_doubt(in, "the summed extents are not known to be equal");
    }
    return hone_infer_fail(in, "the summed extents are %lld and %lld", (long long)a->u.i,
                           (long long)b->u.i);
}

hone_status hone_infer_matmul(hone_infer *in) {
    const hone_sinfo *a = in->args[0], *b = in->args[1];
    HONE_TRY(both_tensors(in));
    HONE_TRY(hone_infer_factor_dtypes(in));
    if (a->rank < 1 || b->rank < 1) return hone_infer_fail(in, "wants at least one dimension");
    bool ta = hone_attrs_int(&in->bind->attrs, "transpose_a", 0) != 0 && a->rank > 1;
    bool tb = hone_attrs_int(&in->bind->attrs, "transpose_b", 0) != 0 && b->rank > 1;
    const hone_expr *ka = ta ? a->shape[a->rank - 2] : a->shape[a->rank - 1];
    const hone_expr *kb = b->rank == 1 || tb ? b->shape[b->rank - 1] : b->shape[b->rank - 2];
    HONE_TRY(check_summed(in, ka, kb));
    const hone_expr *shape[HONE_MAX_RANK + 2];
    int32_t rank;
    HONE_TRY(matmul_batch(in, shape, &rank));
    if (a->rank > 1) shape[rank++] = ta ? a->shape[a->rank - 1] : a->shape[a->rank - 2];
    if (b->rank > 1) shape[rank++] = tb ? b->shape[b->rank - 2] : b->shape[b->rank - 1];
    return hone_infer_tensor(in, hone_infer_out_dtype(in, common_dtype(in, 0, 2)), rank, shape);
}

hone_status hone_infer_linear(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *w = in->args[1];
    HONE_TRY(both_tensors(in));
    HONE_TRY(hone_infer_factor_dtypes(in));
    if (x->rank < 1 || w->rank != 2) {
        return hone_infer_fail(in, "wants data of one or more and a weight of two dimensions");
    }
    HONE_TRY(check_summed(in, x->shape[x->rank - 1], w->shape[1]));
    const hone_expr *shape[HONE_MAX_RANK];
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
    shape[x->rank - 1] = w->shape[0];
    return hone_infer_tensor(in, hone_infer_out_dtype(in, common_dtype(in, 0, 2)), x->rank, shape);
}

/* ---- reductions ---- */

static hone_status reduce_to(hone_infer *in, hone_dtype dtype) {
    const hone_sinfo *x = in->args[0];
    bool is_axis[HONE_MAX_RANK];
    const hone_expr *shape[HONE_MAX_RANK];
    bool keep = hone_attrs_int(&in->bind->attrs, "keepdims", 0) != 0;
    int32_t rank = 0;
    HONE_TRY(hone_infer_axes(in, "axis", x->rank, is_axis));
    for (int32_t i = 0; i < x->rank; i++) {
        if (!is_axis[i])
            shape[rank++] = x->shape[i];
        else if (keep)
            shape[rank++] = hone_extent_int(&in->ir, 1);
    }
    return hone_infer_tensor(in, dtype, rank, shape);
}

/* What has no value of nothing: indices, and means of whole numbers. */
static hone_status check_some(const hone_infer *in, const char *what) {
    const hone_sinfo *x = in->args[0];
    bool is_axis[HONE_MAX_RANK];
    HONE_TRY(hone_infer_axes(in, "axis", x->rank, is_axis));
    for (int32_t i = 0; i < x->rank; i++) {
        if (!is_axis[i] || !hone_expr_is_int_value(x->shape[i], 0)) continue;
        return hone_infer_fail(in, "dimension %d is 0: there is no %s of nothing", i, what);
    }
    return HONE_OK;
}

hone_status hone_infer_reduce(hone_infer *in) {
    bool is_whole = hone_dtype_is_integer(in->args[0]->dtype);
    if (is_whole && strcmp(in->op->name, "mean") == 0)
        HONE_TRY(check_some(in, "mean of whole numbers"));
    return reduce_to(in, in->args[0]->dtype);
}

hone_status hone_infer_arg_reduce(hone_infer *in) {
    HONE_TRY(check_some(in, "index"));
    return reduce_to(in, HONE_DTYPE_I64);
}

/* Matrices are the last two dimensions. */
/* Of square matrices: without so many of their last two dimensions. */
static hone_status square(hone_infer *in, int32_t dropped) {
    const hone_sinfo *x = in->args[0];
    if (!hone_dtype_is_float(x->dtype)) return hone_infer_fail(in, "wants floats");
    if (x->rank < 2 || !hone_infer_same_extent(in, x->shape[x->rank - 2], x->shape[x->rank - 1])) {
        return hone_infer_fail(in, "the last two dimensions must be equal");
    }
    return hone_infer_tensor(in, x->dtype, x->rank - dropped, x->shape);
}

hone_status hone_infer_det(hone_infer *in) {
    return square(in, 2);
}

hone_status hone_infer_inverse(hone_infer *in) {
    return square(in, 0);
}

hone_status hone_infer_couple(hone_infer *in) {
    return square(in, 1);
}

static bool is_table(const hone_sinfo *info, int32_t rank, hone_dtype dtype) {
    return info->kind == HONE_SINFO_TENSOR && info->rank == rank &&
           !hone_dtypes_differ(info->dtype, dtype);
}

/* Rows, a table of nodes, [n, 4], what they compare with, and the roots of trees in groups: where
 * each row ends in each tree. */
hone_status hone_infer_descend(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *roots = in->args[3];
    if (x->rank != 2 || !is_table(in->args[1], 2, HONE_DTYPE_I32) ||
        !hone_expr_is_int_value(in->args[1]->shape[1], 4) || !is_table(in->args[2], 1, x->dtype) ||
        !is_table(roots, 2, HONE_DTYPE_I32))
        return hone_infer_fail(in,
                               "wants rows, nodes of four int32, limits of the type of the rows "
                               "and roots of int32 in groups");
    const hone_expr *shape[] = {roots->shape[0], x->shape[0], roots->shape[1]};
    return hone_infer_tensor(in, HONE_DTYPE_I32, 3, shape);
}

/* Costs of rows and columns: the way through them, from behind. */
hone_status hone_infer_time_warp(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    if (x->rank != 2 || !hone_dtype_is_float(x->dtype))
        return hone_infer_fail(in, "wants floats of two dimensions");
    const hone_expr *shape[] = {hone_extent_int(&in->ir, 2),
                                hone_extent_sum(&in->ir, x->shape[0], x->shape[1])};
    return hone_infer_tensor(in, HONE_DTYPE_I32, 2, shape);
}

/* Rows of bytes, and how many of each row count. */
hone_status hone_infer_murmur_hash(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *lengths = in->args[1];
    if (!is_table(x, 2, HONE_DTYPE_U8) || !is_table(lengths, 1, HONE_DTYPE_I64) ||
        !hone_infer_same_extent(in, x->shape[0], lengths->shape[0]))
        return hone_infer_fail(in, "wants rows of bytes and a length of int64 for each");
    return hone_infer_tensor(in, HONE_DTYPE_U32, 1, x->shape);
}

/* ---- quantised numbers ---- */

/* A scale, or zero point: one number, or one for each place along the axis. */
static hone_status check_spread(const hone_infer *in, uint32_t arg, const char *what) {
    const hone_sinfo *data = in->args[0], *info = in->args[arg];
    int32_t axis;
    if (info->kind != HONE_SINFO_TENSOR || info->rank > 1)
        return hone_infer_fail(in, "%s must be a number or a vector", what);
    if (info->rank == 0 || hone_expr_is_int_value(info->shape[0], 1)) return HONE_OK;
    HONE_TRY(hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", -1), data->rank, &axis));
    if (!hone_extent_differs(info->shape[0], data->shape[axis])) return HONE_OK;
    return hone_infer_fail(in, "%s must have a number for each place along axis %d", what, axis);
}

hone_status hone_infer_quantize(hone_infer *in) {
    bool is_back = strcmp(in->op->name, "dequantize") == 0;
    const char *name =
        hone_attrs_string(&in->bind->attrs, "out_dtype", is_back ? "float32" : "int8");
    hone_dtype dtype;
    if (!hone_dtype_parse(name, &dtype))
        return hone_infer_fail(in, "'%s' is no element type", name);
    HONE_TRY(check_spread(in, 1, "the scale"));
    HONE_TRY(check_spread(in, 2, "the zero point"));
    return hone_infer_tensor(in, dtype, in->args[0]->rank, in->args[0]->shape);
}
