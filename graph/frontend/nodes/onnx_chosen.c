/* graph/frontend/nodes/onnx_chosen.c - operators that choose some of what there is: how many is
 * known when the model runs.
 *
 * The indices that are chosen come first in an order of all indices, by how many were chosen so
 * far; their number is a size, and as many of them are taken. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

hone_status onnx_emit_sums(onnx_reader *r, hone_garg x, int64_t axis, hone_garg *out) {
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "cumsum", 1, &x, 1, &attr, out);
}

hone_status onnx_emit_put(onnx_reader *r, hone_garg x, hone_garg indices, hone_garg *out) {
    hone_garg args[] = {x, indices, x};
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(0)};
    return onnx_emit(r, "scatter_elements", 3, args, 1, &attr, out);
}

/* Where the indices go: what is chosen from the front on, the others from behind. */
static hone_status order_chosen(onnx_reader *r, hone_garg truths, hone_garg ones, hone_garg indices,
                                hone_garg *out) {
    hone_garg before, choice[] = {truths, {0}, {0}};
    HONE_TRY(onnx_emit_sums(r, ones, 0, &before));
    HONE_TRY(onnx_with_scalar(r, "subtract", before, 1, &choice[1]));
    HONE_TRY(onnx_emit2(r, "subtract", before, indices, &choice[2]));
    HONE_TRY(onnx_with_scalar(r, "subtract", choice[2], 1, &choice[2]));
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, out));
    return onnx_emit_put(r, indices, *out, out);
}

hone_status onnx_emit_chosen(onnx_reader *r, hone_garg truths, int64_t most, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *size = NULL;
    hone_garg ones, indices, count;
    HONE_TRY(onnx_info(r, &truths, &info));
    const hone_expr *extent = info->shape[0];
    HONE_TRY(onnx_emit_cast(r, truths, HONE_DTYPE_I64, &ones));
    HONE_TRY(onnx_indices(r, extent, 1, 0, &indices));
    HONE_TRY(order_chosen(r, truths, ones, indices, out));
    HONE_TRY(onnx_emit_along(r, "sum", ones, 0, &count));
    if (most < 0) most = hone_expr_const(extent);
    HONE_TRY(onnx_find_sizes(r, count, 1, most, &size));
    HONE_TRY(onnx_indices(r, size, 1, 0, &indices));
    return onnx_emit_take(r, *out, indices, 0, out);
}

/* Is it another number than 0? */
static hone_status truths_of(onnx_reader *r, hone_garg x, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    *out = x;
    return hone_dtype_is_bool(info->dtype) ? HONE_OK : onnx_with_scalar(r, "not_equal", x, 0, out);
}

/* ---- NonZero ---- */

static bool is_truth(const hone_tensor *t, int64_t i) {
    return hone_dtype_is_float(t->dtype) ? hone_tensor_get_f64(t, i) != 0
                                         : hone_tensor_get_i64(t, i) != 0;
}

/* Of a constant condition. */
static hone_status chosen_indices(const hone_tensor *condition, int64_t extent, hone_tensor **out) {
    int64_t count = 0, most = hone_tensor_count(condition);
    if (extent >= 0 && most > extent) most = extent;
    for (int64_t i = 0; i < most; i++)
        count += is_truth(condition, i);
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, out));
    for (int64_t i = 0, next = 0; i < most; i++) {
        if (is_truth(condition, i)) hone_tensor_set_i64(*out, next++, i);
    }
    return HONE_OK;
}

hone_status onnx_emit_index(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                            int32_t axis, hone_garg indices, hone_garg *out) {
    hone_garg args[2];
    int64_t behind = 1;
    HONE_TRY(onnx_indices(r, shape[axis], (int32_t)rank, axis, &args[0]));
    HONE_TRY(onnx_make_ints(r, rank, shape, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out));
    HONE_TRY(onnx_emit_flat(r, *out, out));
    HONE_TRY(onnx_emit_take(r, *out, indices, 0, out));
    hone_attr attr = {"axis", onnx_ints_value(r, 1, &behind)};
    return onnx_emit(r, "expand_dims", 1, out, 1, &attr, out);
}

/* A number other than 0, wherever one looks: what exporters count indices with. */
static bool is_all_true(const onnx_reader *r, const hone_garg *x) {
    const hone_gbind *bind = x->kind == HONE_GARG_VALUE ? onnx_bind_of(r, x->u.value) : NULL;
    if (!bind || bind->kind != HONE_GBIND_CALL || strcmp(bind->callee, "broadcast_to") != 0)
        return false;
    const hone_tensor *number = onnx_constant_of(r, &bind->args[0]);
    return number && hone_tensor_count(number) == 1 && is_truth(number, 0);
}

/* Those of all elements, in order, that are not 0. */
static hone_status non_zero_indices(onnx_reader *r, const hone_sinfo *data, hone_garg *out) {
    hone_garg truths;
    const hone_tensor *known = onnx_constant_of(r, &r->inputs[0]);
    const hone_expr *all = hone_extent_int(&r->ir, 1);
    if (known) {
        hone_tensor *indices;
        HONE_TRY(chosen_indices(known, -1, &indices));
        return onnx_add_constant(r, indices, out);
    }
    for (int32_t d = 0; d < data->rank; d++)
        all = hone_extent_mul(&r->ir, all, data->shape[d]);
    if (is_all_true(r, &r->inputs[0])) return onnx_indices(r, all, 1, 0, out);
    HONE_TRY(onnx_emit_flat(r, r->inputs[0], &truths));
    HONE_TRY(truths_of(r, truths, &truths));
    return onnx_emit_chosen(r, truths, -1, out);
}

static hone_status convert_non_zero(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    static const int64_t turned[] = {1, 0};
    hone_garg indices, columns[HONE_MAX_RANK];
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank == 0) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a scalar has no indices");
    HONE_TRY(non_zero_indices(r, data, &indices));
    for (int32_t d = 0; d < data->rank; d++)
        HONE_TRY(onnx_emit_index(r, (uint32_t)data->rank, data->shape, d, indices, &columns[d]));
    HONE_TRY(onnx_emit_concat(r, (uint32_t)data->rank, columns, 1, out));
    return onnx_emit_permute(r, *out, 2, turned, out);
}

/* ---- Compress ---- */

/* The condition may be shorter than the axis; what it says beyond it says nothing. */
static hone_status compress_by_data(onnx_reader *r, hone_garg x, const hone_expr *extent,
                                    int32_t axis, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg truths;
    HONE_TRY(onnx_input_info(r, 1, &info));
    if (info->rank != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "the condition (input 1) has %d dimensions, wants 1",
                          info->rank);
    }
    HONE_TRY(truths_of(r, r->inputs[1], &truths));
    int64_t count = hone_expr_const(info->shape[0]), most = hone_expr_const(extent);
    if (count >= 0 && most >= 0 && count > most) {
        HONE_TRY(onnx_emit_slice(r, truths, 0, 0, most, &truths));
    }
    HONE_TRY(onnx_emit_chosen(r, truths, -1, &truths));
    return onnx_emit_take(r, x, truths, axis, out);
}

static hone_status convert_compress(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    hone_tensor *indices;
    int64_t wanted;
    int32_t axis = 0;
    const hone_tensor *condition = onnx_constant_of(r, &r->inputs[1]);
    HONE_TRY(onnx_attr_int(r, "axis", 0, &wanted));
    hone_garg args[] = {r->inputs[0], {0}};
    if (!onnx_attr(r, "axis")) HONE_TRY(onnx_emit1(r, "flatten", args[0], &args[0]));
    HONE_TRY(onnx_info(r, &args[0], &data));
    HONE_TRY(onnx_axis(r, wanted, data->rank, &axis));
    if (!condition) return compress_by_data(r, args[0], data->shape[axis], axis, out);
    HONE_TRY(chosen_indices(condition, hone_expr_const(data->shape[axis]), &indices));
    HONE_TRY(onnx_add_constant(r, indices, &args[1]));
    return onnx_emit_take(r, args[0], args[1], axis, out);
}

const onnx_converter onnx_chosen_converters[] = {
    {"NonZero", convert_non_zero, 1, 1, 1, "", NULL},
    {"Compress",        convert_compress, 2, 2, 1, "axis", NULL},
    {0       },
};
