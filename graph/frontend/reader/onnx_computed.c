/* graph/frontend/reader/onnx_computed.c - operands that say what a result looks like, where they
 * are known when the model runs: the arithmetic that operators of such operands have in common. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

hone_status onnx_emit_item(onnx_reader *r, hone_garg vector, uint32_t i, hone_garg *out) {
    const hone_expr *index = hone_extent_int(&r->ir, i);
    hone_garg indices;
    HONE_TRY(onnx_as_tensor(r, &vector));
    HONE_TRY(onnx_make_ints(r, 1, &index, 1, &indices));
    HONE_TRY(onnx_emit_flat(r, vector, &vector));
    HONE_TRY(onnx_emit_take(r, vector, indices, 0, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_I64, out);
}

hone_status onnx_emit_given_size(onnx_reader *r, hone_garg number, int64_t most,
                                 const hone_expr **out) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    *out = NULL;
    if (!onnx_known_ints(r, &number, &count, known, &rank) || count != 1)
        return onnx_find_sizes(r, number, 1, most, out);
    *out = known[0];
    if (!hone_expr_is_int(known[0]) || known[0]->u.i >= 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "a size of %lld", (long long)known[0]->u.i);
}

hone_status onnx_emit_size(onnx_reader *r, hone_garg number, int64_t most, const hone_expr **out) {
    HONE_TRY(onnx_with_scalar(r, "maximum", number, 0, &number));
    return onnx_emit_given_size(r, number, most, out);
}

/* ---- Range ---- */

/* ceil((limit - start) / delta) of whole numbers: -floor((start - limit) / delta) */
static hone_status count_whole(onnx_reader *r, const hone_garg *numbers, hone_garg *out) {
    HONE_TRY(onnx_emit2(r, "subtract", numbers[0], numbers[1], out));
    HONE_TRY(onnx_emit2(r, "floor_divide", *out, numbers[2], out));
    return onnx_emit1(r, "negative", *out, out);
}

static hone_status count_floats(onnx_reader *r, const hone_garg *numbers, hone_garg *out) {
    hone_garg delta;
    HONE_TRY(onnx_emit2(r, "subtract", numbers[1], numbers[0], out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F64, out));
    HONE_TRY(onnx_emit_cast(r, numbers[2], HONE_DTYPE_F64, &delta));
    HONE_TRY(onnx_emit2(r, "divide", *out, delta, out));
    HONE_TRY(onnx_emit1(r, "ceil", *out, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_I64, out);
}

hone_status onnx_emit_range(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *size;
    hone_garg numbers[3], whole[3];
    HONE_TRY(onnx_input_info(r, 0, &info));
    hone_dtype dtype = info->dtype;
    bool is_float = hone_dtype_is_float(dtype);
    for (uint32_t i = 0; i < 3; i++) {
        numbers[i] = r->inputs[i];
        HONE_TRY(onnx_as_tensor(r, &numbers[i]));
        HONE_TRY(onnx_emit_flat(r, numbers[i], &numbers[i]));
        if (!is_float) HONE_TRY(onnx_emit_cast(r, numbers[i], HONE_DTYPE_I64, &whole[i]));
    }
    HONE_TRY(is_float ? count_floats(r, numbers, out) : count_whole(r, whole, out));
    HONE_TRY(onnx_emit_size(r, *out, -1, &size));
    HONE_TRY(onnx_indices(r, size, 1, 0, out));
    HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, numbers[2], out));
    return onnx_emit2(r, "add", *out, numbers[0], out);
}

/* ---- Reshape ---- */

/* As many sizes of the data as there are in the target; 0 behind them. */
static hone_status sizes_of(onnx_reader *r, const hone_sinfo *data, uint32_t count,
                            hone_garg *out) {
    const hone_expr *sizes[HONE_MAX_RANK];
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = i < (uint32_t)data->rank ? data->shape[i] : hone_extent_int(&r->ir, 0);
    }
    return onnx_sizes_tensor(r, count, sizes, out);
}

/* The -1 is what is left of the elements. */
static hone_status fill_hole(onnx_reader *r, const hone_sinfo *data, hone_garg *io) {
    hone_garg is_hole, one, rest, total;
    const hone_expr *elements = hone_extent_int(&r->ir, 1);
    for (int32_t d = 0; d < data->rank; d++)
        elements = hone_extent_mul(&r->ir, elements, data->shape[d]);
    HONE_TRY(onnx_sizes_tensor(r, 1, &elements, &total));
    HONE_TRY(onnx_with_scalar(r, "equal", *io, -1, &is_hole));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 1, &one));
    HONE_TRY(onnx_emit_where(r, is_hole, one, *io, &rest));
    HONE_TRY(onnx_emit_along(r, "prod", rest, 0, &rest));
    HONE_TRY(onnx_with_scalar(r, "maximum", rest, 1, &rest));
    HONE_TRY(onnx_emit2(r, "floor_divide", total, rest, &rest));
    return onnx_emit_where(r, is_hole, rest, *io, io);
}

/* What is known of the target: no 0s, no -1. */
static void known_target(onnx_reader *r, const hone_garg *target, const hone_sinfo *data,
                         bool allow_zero, uint32_t count, const hone_expr **out) {
    onnx_known_items(r, target, count, out);
    for (uint32_t i = 0; i < count; i++) {
        bool is_number = out[i] && hone_expr_is_int(out[i]);
        bool is_kept = is_number && out[i]->u.i == 0 && !allow_zero;
        if (is_kept) out[i] = i < (uint32_t)data->rank ? data->shape[i] : NULL;
        if (is_number && !is_kept && out[i]->u.i < 0) out[i] = NULL;
    }
}

hone_status onnx_emit_target(onnx_reader *r, hone_garg target, const hone_sinfo *data,
                             bool allow_zero, uint32_t count, const hone_expr **out) {
    hone_garg is_zero, sizes;
    if (count == 0) return HONE_OK;
    known_target(r, &target, data, allow_zero, count, out);
    HONE_TRY(onnx_emit_cast(r, target, HONE_DTYPE_I64, &target));
    if (!allow_zero) {
        HONE_TRY(onnx_with_scalar(r, "equal", target, 0, &is_zero));
        HONE_TRY(sizes_of(r, data, count, &sizes));
        HONE_TRY(onnx_emit_where(r, is_zero, sizes, target, &target));
    }
    HONE_TRY(fill_hole(r, data, &target));
    return onnx_find_sizes(r, target, count, -1, out);
}

/* ---- Slice ---- */

/* From the end where it is below 0, then held from low to high. */
static hone_status held(onnx_reader *r, hone_garg index, hone_garg extent, hone_garg low,
                        hone_garg high, hone_garg *out) {
    hone_garg is_behind, from_end;
    HONE_TRY(onnx_with_scalar(r, "less", index, 0, &is_behind));
    HONE_TRY(onnx_emit2(r, "add", index, extent, &from_end));
    HONE_TRY(onnx_emit_where(r, is_behind, from_end, index, out));
    HONE_TRY(onnx_emit2(r, "maximum", *out, low, out));
    return onnx_emit2(r, "minimum", *out, high, out);
}

hone_status onnx_emit_indices(onnx_reader *r, const onnx_slice *slice, const hone_expr *extent,
                              hone_garg *out) {
    hone_garg count, last, is_forward, zero, minus, low, high, numbers[3];
    const hone_expr *size;
    HONE_TRY(onnx_sizes_tensor(r, 1, &extent, &count));
    HONE_TRY(onnx_with_scalar(r, "subtract", count, 1, &last));
    HONE_TRY(onnx_with_scalar(r, "greater", slice->step, 0, &is_forward));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &zero));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, -1, &minus));
    HONE_TRY(onnx_emit_where(r, is_forward, count, last, &high));
    HONE_TRY(onnx_emit_where(r, is_forward, zero, minus, &low));
    HONE_TRY(held(r, slice->start, count, zero, high, &numbers[0]));
    HONE_TRY(held(r, slice->end, count, low, high, &numbers[1]));
    numbers[2] = slice->step;
    HONE_TRY(count_whole(r, numbers, &count));
    HONE_TRY(onnx_emit_size(r, count, hone_expr_const(extent), &size));
    HONE_TRY(onnx_indices(r, size, 1, 0, out));
    HONE_TRY(onnx_emit2(r, "multiply", *out, slice->step, out));
    return onnx_emit2(r, "add", *out, numbers[0], out);
}
