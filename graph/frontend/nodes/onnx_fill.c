/* graph/frontend/nodes/onnx_fill.c - tensors that are made of numbers and shapes alone, or of
 * repetitions.
 */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum {
    MOST_ELEMENTS = 1 << 28,
    MOST_FOLDED = 1 << 20
}; /* of a constant; others are made by calls */

/* ---- ranges ---- */

/* start + i * delta in float64, rounded once. */
static hone_status long_range(onnx_reader *r, hone_dtype dtype, int64_t count, double start,
                              double delta, hone_garg *out) {
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, count), 1, 0, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_F64, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, delta, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, start, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

static hone_status range_of_floats(onnx_reader *r, hone_dtype dtype, hone_garg *out) {
    double number[3];
    for (uint32_t i = 0; i < 3; i++)
        number[i] = hone_tensor_get_f64(onnx_constant_of(r, &r->inputs[i]), 0);
    double count = ceil((number[1] - number[0]) / number[2]);
    if (!(count >= 1)) count = 0;
    if (count > MOST_ELEMENTS) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than 2^28 numbers");
    int64_t extent = (int64_t)count;
    if (extent > MOST_FOLDED) return long_range(r, dtype, extent, number[0], number[2], out);
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(dtype, 1, &extent, &tensor));
    for (int64_t i = 0; i < extent; i++)
        hone_tensor_set_f64(tensor, i, number[0] + (double)i * number[2]);
    return onnx_add_constant(r, tensor, out);
}

/* ceil((limit - start) / step) */
static const hone_expr *range_extent(onnx_reader *r, const hone_expr *start, const hone_expr *limit,
                                     int64_t step) {
    hone_ir *ir = &r->ir;
    const hone_expr *from = step > 0 ? start : limit, *to = step > 0 ? limit : start;
    const hone_expr *back = hone_extent_mul(ir, from, hone_extent_int(ir, -1));
    const hone_expr *span = hone_extent_sum(ir, to, back);
    int64_t by = step > 0 ? step : -step;
    return hone_extent_div(ir, hone_extent_add(ir, span, by - 1), by);
}

static hone_status range_of_ints(onnx_reader *r, const hone_expr *const *numbers, hone_dtype dtype,
                                 hone_garg *out) {
    if (!hone_expr_is_int(numbers[2]) || numbers[2]->u.i == 0 || numbers[2]->u.i == INT64_MIN) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "delta (input 2) must be constant and not 0");
    }
    int64_t step = numbers[2]->u.i;
    const hone_expr *extent = range_extent(r, numbers[0], numbers[1], step);
    if (!extent) return hone_ir_finish(&r->ir);
    if (hone_expr_is_int(extent) && extent->u.i < 1) extent = hone_extent_int(&r->ir, 0);
    hone_garg start;
    HONE_TRY(onnx_indices(r, extent, 1, 0, out));
    HONE_TRY(onnx_make_ints(r, 1, numbers, 0, &start));
    if (step != 1) HONE_TRY(onnx_with_scalar(r, "multiply", *out, (double)step, out));
    if (!hone_expr_is_int_value(numbers[0], 0)) HONE_TRY(onnx_emit2(r, "add", *out, start, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* start + i * delta, as long as that is before the limit */
static hone_status convert_range(onnx_reader *r, hone_garg *out) {
    const hone_expr *numbers[3], *known[ONNX_MAX_KNOWN];
    const hone_sinfo *info;
    hone_dtype dtype = HONE_DTYPE_I64;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t count;
        int32_t rank;
        HONE_TRY(onnx_input_info(r, i, &info));
        dtype = info->dtype;
        const hone_tensor *tensor = onnx_constant_of(r, &r->inputs[i]);
        bool is_known = onnx_known_ints(r, &r->inputs[i], &count, known, &rank) && count == 1;
        bool is_number = tensor && hone_tensor_count(tensor) == 1;
        if (!is_known && !is_number) return onnx_emit_range(r, out);
        numbers[i] = is_known ? known[0]
                     : hone_dtype_is_float(dtype)
                         ? NULL
                         : hone_extent_int(&r->ir, hone_tensor_get_i64(tensor, 0));
    }
    return hone_dtype_is_float(dtype) ? range_of_floats(r, dtype, out)
                                      : range_of_ints(r, numbers, dtype, out);
}

/* ---- constants of a shape ---- */

static hone_status filled(onnx_reader *r, const hone_tensor *value, uint32_t rank,
                          const int64_t *shape, hone_garg *out) {
    hone_dtype dtype = value ? value->dtype : HONE_DTYPE_F32;
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(dtype, (int32_t)rank, shape, &tensor));
    size_t bytes = hone_dtype_bytes(dtype);
    int64_t count = hone_tensor_count(tensor);
    for (int64_t i = 0; value && i < count; i++)
        memcpy((char *)tensor->data + (size_t)i * bytes, value->data, bytes);
    return onnx_add_constant(r, tensor, out);
}

static hone_status check_extents(uint32_t rank, const hone_expr *const *shape, int64_t *sizes) {
    int64_t elements = 1;
    for (uint32_t i = 0; i < rank; i++) {
        sizes[i] = hone_expr_is_int(shape[i]) ? shape[i]->u.i : 1;
        if (sizes[i] < 0 || __builtin_mul_overflow(elements, sizes[i], &elements) ||
            elements > MOST_ELEMENTS) {
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %u of the shape is %lld", i,
                              (long long)sizes[i]);
        }
    }
    return HONE_OK;
}

/* Sizes that come later: a number is broadcast to them. */
static hone_status broadcast_number(onnx_reader *r, const hone_tensor *value, uint32_t rank,
                                    const hone_expr *const *shape, hone_garg *out) {
    hone_garg args[2];
    HONE_TRY(filled(r, value, 0, NULL, &args[0]));
    HONE_TRY(onnx_make_ints(r, rank, shape, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
}

static hone_status convert_constant_of_shape(onnx_reader *r, hone_garg *out) {
    const hone_expr *shape[ONNX_MAX_KNOWN];
    int64_t sizes[HONE_MAX_RANK];
    uint32_t rank;
    const Onnx__AttributeProto *attr = onnx_attr(r, "value");
    hone_tensor *value = NULL;
    HONE_TRY(onnx_sizes(r, 0, "the shape", &rank, shape));
    if (rank > HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_INVALID, "a shape of %u dimensions", rank);
    HONE_TRY(check_extents(rank, shape, sizes));
    if (attr && attr->t) HONE_TRY(onnx_unpack_tensor(r, attr->t, NULL, &value));
    bool is_folded = true;
    int64_t elements = 1;
    for (uint32_t i = 0; i < rank; i++) {
        is_folded &= hone_expr_is_int(shape[i]);
        elements *= sizes[i];
    }
    is_folded &= elements <= MOST_FOLDED;
    hone_status st = HONE_OK;
    if (value && hone_tensor_count(value) != 1) {
        st = HONE_ERROR(HONE_CODE_INVALID, "attribute 'value' must hold one element");
    }
    if (!st) {
        st = is_folded ? filled(r, value, rank, sizes, out)
                       : broadcast_number(r, value, rank, shape, out);
    }
    hone_tensor_destroy(value);
    return st;
}

/* 1 where column - row is k, else 0. */
static hone_status convert_eye_like(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *like;
    int64_t k, type;
    hone_dtype dtype;
    hone_garg row, column;
    HONE_TRY(onnx_input_info(r, 0, &like));
    HONE_TRY(onnx_attr_int(r, "k", 0, &k));
    HONE_TRY(onnx_attr_int(r, "dtype", 0, &type));
    dtype = like->dtype;
    if (onnx_attr(r, "dtype"))
        HONE_TRY(onnx_dtype(type > INT32_MAX || type < 0 ? -1 : (int32_t)type, &dtype));
    if (like->rank != 2) {
        return HONE_ERROR(HONE_CODE_INVALID, "a matrix of %d dimensions", like->rank);
    }
    HONE_TRY(onnx_indices(r, like->shape[0], 2, 0, &row));
    HONE_TRY(onnx_indices(r, like->shape[1], 2, 1, &column));
    HONE_TRY(onnx_with_scalar(r, "add", row, (double)k, &row));
    HONE_TRY(onnx_emit2(r, "equal", row, column, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* ---- parts and repetitions ---- */

/* Column less row is at least k, or at most: a k that is computed. */
static hone_status computed_triangle(onnx_reader *r, bool is_upper, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg row, column, k = r->inputs[1], zero;
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank < 2) return HONE_ERROR(HONE_CODE_INVALID, "data of %d dimensions", data->rank);
    HONE_TRY(onnx_as_tensor(r, &k));
    HONE_TRY(onnx_emit_reshape(r, k, 0, NULL, &k));
    HONE_TRY(onnx_indices(r, data->shape[data->rank - 2], 2, 0, &row));
    HONE_TRY(onnx_indices(r, data->shape[data->rank - 1], 2, 1, &column));
    HONE_TRY(onnx_emit2(r, "add", row, k, &row));
    HONE_TRY(onnx_emit2(r, is_upper ? "greater_equal" : "less_equal", column, row, &column));
    HONE_TRY(onnx_scalar(r, data->dtype, 0, &zero));
    return onnx_emit_where(r, column, r->inputs[0], zero, out);
}

static hone_status convert_trilu(onnx_reader *r, hone_garg *out) {
    int64_t k = 0, is_upper;
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_attr_int(r, "upper", 1, &is_upper));
    bool is_given = onnx_has_input(r, 1);
    bool is_known = is_given && onnx_known_ints(r, &r->inputs[1], &count, known, &rank);
    if (is_given && !(is_known && count == 1 && hone_expr_is_int(known[0]))) {
        return computed_triangle(r, is_upper != 0, out);
    }
    if (is_given) k = known[0]->u.i;
    hone_attr attr = {"k", HONE_VALUE_OF_INT(k)};
    return onnx_emit(r, is_upper ? "triu" : "tril", 1, r->inputs, 1, &attr, out);
}

/* Numbers that are sizes: a dimension of 1 in front of each is broadcast, and joined with it. */
static hone_status repeat_sizes(onnx_reader *r, const hone_sinfo *data,
                                const hone_expr *const *repeats, hone_garg *out) {
    uint32_t rank = (uint32_t)data->rank;
    const hone_expr *apart[2 * HONE_MAX_RANK], *wide[2 * HONE_MAX_RANK], *joined[HONE_MAX_RANK];
    if (2 * rank > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "repeats that are sizes, of %u dimensions", rank);
    }
    for (uint32_t d = 0; d < rank; d++) {
        apart[2 * d] = hone_extent_int(&r->ir, 1);
        wide[2 * d] = repeats[d];
        apart[2 * d + 1] = wide[2 * d + 1] = data->shape[d];
        joined[d] = hone_extent_mul(&r->ir, repeats[d], data->shape[d]);
    }
    hone_garg args[2];
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], 2 * rank, apart, &args[0]));
    HONE_TRY(onnx_make_ints(r, 2 * rank, wide, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out));
    return onnx_emit_reshape(r, *out, rank, joined, out);
}

static hone_status convert_tile(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *repeats[ONNX_MAX_KNOWN];
    int64_t times[HONE_MAX_RANK];
    uint32_t count;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_sizes(r, 1, "the repeats", &count, repeats));
    if (count != (uint32_t)data->rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u repeats for %d dimensions", count, data->rank);
    }
    bool is_static = true;
    for (uint32_t i = 0; i < count; i++) {
        is_static &= hone_expr_is_int(repeats[i]);
        times[i] = hone_expr_is_int(repeats[i]) ? repeats[i]->u.i : 1;
        if (times[i] < 0) return HONE_ERROR(HONE_CODE_INVALID, "%lld repeats", (long long)times[i]);
    }
    if (!is_static) return repeat_sizes(r, data, repeats, out);
    hone_attr attr = {"repeats", onnx_ints_value(r, count, times)};
    return onnx_emit(r, "tile", 1, r->inputs, 1, &attr, out);
}

const onnx_converter onnx_fill_converters[] = {
    {"Range",           convert_range, 3, 3, 1, "", NULL},
    {"ConstantOfShape",                convert_constant_of_shape, 1, 1, 1, "value", NULL},
    {"EyeLike",                convert_eye_like, 1, 1, 1, "dtype k", NULL},
    {"Trilu",             convert_trilu, 1, 2, 1, "upper", NULL},
    {"Tile", convert_tile, 2, 2, 1, "", NULL},
    {0               },
};
