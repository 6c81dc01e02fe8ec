/* graph/frontend/nodes/onnx_quant.c - quantised operators: sums of whole numbers are exact, of
 * int32; what becomes a short number again is rounded once, halves to the even one, and held in its
 * type.
 *
 * Where a zero point is one number, or one for each column, the products are of the short numbers
 * as they are, and what zero points add is taken off behind: a sum over the weight, which is folded
 * where that is constant, and one over each row of the data. Constant filters of bytes become int8,
 * moved where they must be. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- scales and zero points along dimensions ---- */

/* A vector as [1, ..., n, ..., 1] of `rank` dimensions, n at `axis`; what is one number stays. */
static hone_status along(onnx_reader *r, hone_garg vector, int32_t rank, int32_t axis,
                         hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, &vector, &info));
    *out = vector;
    if (info->rank > 1)
        return HONE_ERROR(HONE_CODE_INVALID, "a scale or zero point of %d dimensions", info->rank);
    if (info->rank == 1 && hone_expr_is_int_value(info->shape[0], 1))
        return onnx_emit_reshape(r, vector, 0, NULL, out);
    if (info->rank == 0) return HONE_OK;
    for (int32_t i = 0; i < rank; i++)
        shape[i] = hone_extent_int(&r->ir, 1);
    shape[axis] = info->shape[0];
    return onnx_emit_reshape(r, vector, (uint32_t)rank, shape, out);
}

/* Numbers for blocks along the axis, as a number for each element of the data. */
static hone_status spread_blocks(onnx_reader *r, hone_garg x, int64_t block, const hone_sinfo *data,
                                 int32_t axis, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *apart[HONE_MAX_RANK + 1], *whole[HONE_MAX_RANK + 1];
    HONE_TRY(onnx_info(r, &x, &info));
    int64_t count = hone_expr_const(info->shape[axis]), extent = hone_expr_const(data->shape[axis]);
    if (count < 0 || extent < 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "blocks of a dimension whose size is not known; "
                                                 "give it with --shape");
    }
    if (info->rank != data->rank || info->rank >= HONE_MAX_RANK || count < 1 || extent < 1 ||
        (extent + block - 1) / block != count) {
        return HONE_ERROR(HONE_CODE_INVALID, "the blocks do not fit the data");
    }
    for (int32_t i = 0; i <= info->rank; i++) {
        apart[i] = i == axis + 1 ? hone_extent_int(&r->ir, 1) : info->shape[i > axis ? i - 1 : i];
        whole[i] = i == axis + 1 ? hone_extent_int(&r->ir, block) : apart[i];
    }
    uint32_t rank = (uint32_t)info->rank;
    hone_garg target[2];
    HONE_TRY(onnx_emit_reshape(r, x, rank + 1, apart, &target[0]));
    HONE_TRY(onnx_make_ints(r, rank + 1, whole, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, out));
    memcpy(apart, info->shape, rank * sizeof *apart);
    apart[axis] = hone_extent_int(&r->ir, count * block);
    HONE_TRY(onnx_emit_reshape(r, *out, rank, apart, out));
    return count * block == extent ? HONE_OK : onnx_emit_slice(r, *out, axis, 0, extent, out);
}

/* Scale or zero point (an input) as QuantizeLinear lays it along the data: one number, one for each
 * index along the axis, or one for each block. */
static hone_status spread_input(onnx_reader *r, uint32_t input, const hone_sinfo *data,
                                hone_garg *out) {
    const hone_sinfo *info;
    int64_t axis, block;
    int32_t at = 0;
    HONE_TRY(onnx_input_info(r, input, &info));
    HONE_TRY(onnx_attr_int(r, "axis", 1, &axis));
    HONE_TRY(onnx_attr_int(r, "block_size", 0, &block));
    bool is_one = info->rank == 0 || (info->rank == 1 && hone_expr_is_int_value(info->shape[0], 1));
    if (!is_one) HONE_TRY(onnx_axis(r, axis, data->rank, &at));
    if (block == 0 || is_one) return along(r, r->inputs[input], data->rank, at, out);
    if (block < 0)
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'block_size' is %lld", (long long)block);
    return spread_blocks(r, r->inputs[input], block, data, at, out);
}

/* ---- rounding ---- */

static bool is_float8(hone_dtype dtype) {
    return hone_dtype_is_float(dtype) && dtype.bits == 8 &&
           dtype.code != HONE_DTYPE_CODE_FLOAT8_E8M0FNU;
}

/* Floats of 8 or 4 bits have no zero point but 0. */
static hone_status quantize_to_float(onnx_reader *r, hone_garg x, hone_dtype dtype,
                                     hone_garg *out) {
    int64_t saturates;
    HONE_TRY(onnx_attr_int(r, "saturate", 1, &saturates));
    if (saturates && is_float8(dtype)) return onnx_emit_float8(r, x, dtype, out);
    return onnx_emit_cast(r, x, dtype, out);
}

/* round(x) + zero, held in dtype; without a zero point, where that is NONE. */
static hone_status requantize(onnx_reader *r, hone_garg x, hone_garg zero, hone_dtype dtype,
                              hone_garg *out) {
    const hone_sinfo *info;
    *out = x;
    if (zero.kind != HONE_GARG_NONE) {
        HONE_TRY(onnx_info(r, &x, &info));
        HONE_TRY(onnx_emit1(r, "round", x, out));
        HONE_TRY(onnx_emit_cast(r, zero, info->dtype, &zero));
        HONE_TRY(onnx_emit2(r, "add", *out, zero, out));
    }
    return onnx_emit_saturated(r, *out, dtype, out);
}

/* The type of the zero point, or that an attribute says, or uint8. */
static hone_status quantized_dtype(onnx_reader *r, hone_dtype *out) {
    const hone_sinfo *info;
    int64_t type;
    *out = HONE_DTYPE_U8;
    HONE_TRY(onnx_attr_int(r, "output_dtype", 0, &type));
    if (type) HONE_TRY(onnx_dtype((int32_t)type, out));
    if (onnx_has_input(r, 2)) {
        HONE_TRY(onnx_input_info(r, 2, &info));
        *out = info->dtype;
    }
    bool is_known = hone_dtype_is_integer(*out) || is_float8(*out) ||
                    out->code == HONE_DTYPE_CODE_FLOAT4_E2M1FN;
    if (is_known) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "numbers quantised to %s", HONE_DTYPE_NAME(*out));
}

/* Floats of 16 bits are divided and multiplied as float32, whole numbers, too. */
static hone_status as_wide_float(onnx_reader *r, hone_garg x, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    bool is_wide = hone_dtype_equal(info->dtype, HONE_DTYPE_F64);
    return onnx_emit_cast(r, x, is_wide ? HONE_DTYPE_F64 : HONE_DTYPE_F32, out);
}

/* What R.quantize and R.dequantize say too: whole numbers, one scale or one along an axis. As such
 * calls they are seen by what makes operators of whole numbers (graph/compose/compose_quant.c). */
static bool is_call_of_texts(const onnx_reader *r, const hone_sinfo *data, hone_dtype whole,
                             hone_dtype number) {
    const hone_sinfo *scale = hone_garg_sinfo(r->module, r->graph, &r->inputs[1], r->arena);
    bool is_small = whole.bits == 8 || (whole.bits == 32 && hone_dtype_is_int(whole));
    return !r->rewrite && is_small && hone_dtype_is_integer(whole) && !onnx_attr(r, "block_size") &&
           !onnx_attr(r, "precision") && hone_dtype_equal(number, HONE_DTYPE_F32) &&
           (hone_dtype_is_integer(data->dtype) || hone_dtype_equal(data->dtype, HONE_DTYPE_F32)) &&
           scale && hone_dtype_equal(scale->dtype, HONE_DTYPE_F32) && scale->rank <= 1;
}

static hone_status as_call(onnx_reader *r, const char *op, const hone_sinfo *data, hone_dtype dtype,
                           hone_garg *out) {
    int64_t axis;
    const hone_sinfo *info;
    hone_garg args[3] = {r->inputs[0], r->inputs[1], r->inputs[2]};
    HONE_TRY(onnx_attr_int(r, "axis", 1, &axis));
    HONE_TRY(onnx_input_info(r, 1, &info));
    if (!onnx_has_input(r, 2)) HONE_TRY(onnx_scalar(r, data->dtype, 0, &args[2]));
    bool is_one = info->rank == 0 || hone_expr_is_int_value(info->shape[0], 1);
    if (is_one || data->rank == 0) axis = -1;
    hone_attr attrs[] = {
        {"axis",             HONE_VALUE_OF_INT(axis)},
        { "out_dtype", onnx_text_value(r, HONE_DTYPE_NAME(dtype))}
    };
    return onnx_emit(r, op, 3, args, 2, attrs, out);
}

/* What the quotient is rounded to, void: to nothing but float32. Since opset 23 the standard says:
 * the type of the scale, or what `precision` names. */
static hone_status type_of_quotient(onnx_reader *r, hone_dtype *out) {
    const hone_sinfo *scale;
    int64_t type;
    HONE_TRY(onnx_input_info(r, 1, &scale));
    HONE_TRY(onnx_attr_int(r, "precision", 0, &type));
    *out = scale->dtype;
    if (type) HONE_TRY(onnx_dtype((int32_t)type, out));
    if (r->opset < 23 || !hone_dtype_is_short_float(*out)) *out = HONE_DTYPE_VOID;
    return HONE_OK;
}

static hone_status convert_quantize(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg x, scale, zero = {.kind = HONE_GARG_NONE};
    hone_dtype dtype, narrow;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(quantized_dtype(r, &dtype));
    if (onnx_has_input(r, 2) && is_call_of_texts(r, data, dtype, HONE_DTYPE_F32))
        return as_call(r, "quantize", data, dtype, out);
    HONE_TRY(spread_input(r, 1, data, &scale));
    if (onnx_has_input(r, 2)) HONE_TRY(spread_input(r, 2, data, &zero));
    x = r->inputs[0];
    HONE_TRY(type_of_quotient(r, &narrow));
    HONE_TRY(onnx_narrow(r, narrow, &x));
    HONE_TRY(onnx_narrow(r, narrow, &scale));
    HONE_TRY(as_wide_float(r, x, &x));
    HONE_TRY(as_wide_float(r, scale, &scale));
    HONE_TRY(onnx_emit2(r, "divide", x, scale, &x));
    HONE_TRY(onnx_narrow(r, narrow, &x));
    HONE_TRY(as_wide_float(r, x, &x));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &x, "the scale"));
    return hone_dtype_is_float(dtype) ? quantize_to_float(r, x, dtype, out)
                                      : requantize(r, x, zero, dtype, out);
}

static hone_status convert_dequantize(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data, *info;
    hone_garg x, scale, zero;
    int64_t type;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &info));
    HONE_TRY(onnx_attr_int(r, "output_dtype", 0, &type));
    hone_dtype dtype = info->dtype;
    if (type) HONE_TRY(onnx_dtype((int32_t)type, &dtype));
    bool is_float = hone_dtype_is_float(data->dtype);
    if (is_call_of_texts(r, data, data->dtype, dtype))
        return as_call(r, "dequantize", data, dtype, out);
    HONE_TRY(spread_input(r, 1, data, &scale));
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], is_float ? HONE_DTYPE_F32 : HONE_DTYPE_I32, &x));
    if (onnx_has_input(r, 2) && !is_float) {
        HONE_TRY(spread_input(r, 2, data, &zero));
        HONE_TRY(onnx_emit_cast(r, zero, HONE_DTYPE_I32, &zero));
        HONE_TRY(onnx_emit2(r, "subtract", x, zero, &x));
    }
    HONE_TRY(as_wide_float(r, scale, &scale));
    HONE_TRY(onnx_info(r, &scale, &info));
    HONE_TRY(onnx_emit_cast(r, x, info->dtype, &x));
    HONE_TRY(onnx_emit2(r, "multiply", x, scale, out));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], out, "the scale"));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* From the extremes, 0 among them, to uint8; nothing but zeros have the scale 1. */
static hone_status convert_dynamic_quantize(onnx_reader *r, hone_garg *out) {
    hone_garg low, high, span, is_flat, choice[3], zero, x;
    HONE_TRY(onnx_emit1(r, "min", r->inputs[0], &low));
    HONE_TRY(onnx_emit1(r, "max", r->inputs[0], &high));
    HONE_TRY(onnx_with_scalar(r, "minimum", low, 0, &low));
    HONE_TRY(onnx_with_scalar(r, "maximum", high, 0, &high));
    HONE_TRY(onnx_emit2(r, "subtract", high, low, &span));
    HONE_TRY(onnx_with_scalar(r, "equal", span, 0, &is_flat));
    choice[0] = is_flat;
    HONE_TRY(onnx_scalar_like(r, &span, 1, &choice[1]));
    HONE_TRY(onnx_with_scalar(r, "divide", span, 255, &choice[2]));
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, &out[1]));
    HONE_TRY(onnx_emit2(r, "divide", low, out[1], &zero));
    HONE_TRY(onnx_emit1(r, "negative", zero, &zero));
    HONE_TRY(onnx_emit_saturated(r, zero, HONE_DTYPE_U8, &out[2]));
    HONE_TRY(onnx_emit2(r, "divide", r->inputs[0], out[1], &x));
    return requantize(r, x, out[2], HONE_DTYPE_U8, &out[0]);
}

/* ---- sums of products ---- */

/* One side of a product of whole numbers. */
typedef struct factor {
    hone_garg x, zero; /* zero: NONE, or int32 that fits x by broadcasting */
    bool is_one_zero;  /* one number */
} factor;

/* A constant of nothing but zeros. */
static bool is_nothing(const onnx_reader *r, const hone_garg *zero) {
    const hone_tensor *tensor = onnx_constant_of(r, zero);
    for (int64_t i = 0; tensor && i < hone_tensor_count(tensor); i++) {
        if (hone_tensor_get_i64(tensor, i) != 0) return false;
    }
    return tensor != NULL;
}

/* The factor and its zero point, both inputs; a vector of these lies along `axis` from the end (-1
 * is the last). */
static hone_status read_factor(onnx_reader *r, uint32_t input, uint32_t zero, int32_t axis,
                               factor *out) {
    const hone_sinfo *data, *info;
    *out = (factor){.x = r->inputs[input], .zero = {.kind = HONE_GARG_NONE}};
    HONE_TRY(onnx_input_info(r, input, &data));
    if (!hone_dtype_is_integer(data->dtype) || data->dtype.bits > 16) {
        return HONE_ERROR(HONE_CODE_INVALID, "input %u is of %s, must be of short whole numbers",
                          input, HONE_DTYPE_NAME(data->dtype));
    }
    if (!onnx_has_input(r, zero) || is_nothing(r, &r->inputs[zero])) return HONE_OK;
    HONE_TRY(onnx_input_info(r, zero, &info));
    out->zero = r->inputs[zero];
    if (info->rank < 2) HONE_TRY(along(r, out->zero, data->rank, data->rank + axis, &out->zero));
    HONE_TRY(onnx_emit_cast(r, out->zero, HONE_DTYPE_I32, &out->zero));
    HONE_TRY(onnx_info(r, &out->zero, &info));
    out->is_one_zero = info->rank == 0;
    return HONE_OK;
}

/* x - zero as int32; x itself without a zero point. */
static hone_status take_off_zero(onnx_reader *r, factor *f) {
    if (f->zero.kind == HONE_GARG_NONE) return HONE_OK;
    HONE_TRY(onnx_emit_cast(r, f->x, HONE_DTYPE_I32, &f->x));
    HONE_TRY(onnx_emit2(r, "subtract", f->x, f->zero, &f->x));
    f->zero = (hone_garg){.kind = HONE_GARG_NONE};
    return HONE_OK;
}

/* zero * the sums of x along axes, which stay, of extent 1 */
static hone_status zero_sums(onnx_reader *r, hone_garg x, hone_garg zero, uint32_t count,
                             const int64_t *axes, hone_garg *out) {
    hone_attr attrs[] = {
        {"axis", onnx_ints_value(r, count, axes)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_I32, &x));
    HONE_TRY(onnx_emit(r, "sum", 1, &x, 2, attrs, out));
    return onnx_emit2(r, "multiply", *out, zero, out);
}

/* Takes zero points of columns off a product of numbers as they are: the sums of the rows times
 * these. */
static hone_status take_off_columns(onnx_reader *r, const factor *a, const factor *b,
                                    hone_garg *io) {
    int64_t axis = -1;
    hone_garg sums;
    HONE_TRY(zero_sums(r, a->x, b->zero, 1, &axis, &sums));
    return onnx_emit2(r, "subtract", *io, sums, io);
}

/* What the zero point of rows adds: the sums of columns, without their own zero points. */
static hone_status take_off_rows(onnx_reader *r, const factor *a, factor b, hone_garg *io) {
    int64_t axis = -2;
    hone_garg sums;
    const hone_sinfo *info;
    HONE_TRY(take_off_zero(r, &b));
    HONE_TRY(zero_sums(r, b.x, a->zero, 1, &axis, &sums));
    HONE_TRY(onnx_info(r, &r->inputs[0], &info));
    if (info->rank == 1) {
        hone_attr attr_axis = {"axis", onnx_ints_value(r, 1, &axis)};
        HONE_TRY(onnx_emit(r, "squeeze", 1, &sums, 1, &attr_axis, &sums));
    }
    return onnx_emit2(r, "subtract", *io, sums, io);
}

static hone_status integer_matmul(onnx_reader *r, factor a, factor b, hone_garg *out) {
    const hone_sinfo *a_info, *b_info;
    hone_attr attr = {"out_dtype", onnx_text_value(r, "int32")};
    HONE_TRY(onnx_info(r, &a.x, &a_info));
    HONE_TRY(onnx_info(r, &b.x, &b_info));
    bool has_columns = b_info->rank > 1;
    bool is_short = a.zero.kind == HONE_GARG_NONE || (a.is_one_zero && has_columns);
    if (!is_short) HONE_TRY(take_off_zero(r, &a));
    if (!is_short || !has_columns || a_info->rank < 2) HONE_TRY(take_off_zero(r, &b));
    hone_garg args[] = {a.x, b.x};
    HONE_TRY(onnx_emit(r, "matmul", 2, args, 1, &attr, out));
    if (b.zero.kind != HONE_GARG_NONE) HONE_TRY(take_off_columns(r, &a, &b, out));
    return a.zero.kind == HONE_GARG_NONE ? HONE_OK : take_off_rows(r, &a, b, out);
}

/* ---- convolutions ---- */

/* The sums over the whole kernel of each filter, times zero, as [filters, 1, ...]. */
static hone_status filter_sums(onnx_reader *r, hone_garg w, hone_garg zero, hone_garg *out) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK];
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, &w, &info));
    for (int32_t i = 1; i < info->rank; i++) {
        axes[i - 1] = i;
        shape[i - 1] = i == 1 ? info->shape[0] : hone_extent_int(&r->ir, 1);
    }
    HONE_TRY(zero_sums(r, w, zero, (uint32_t)info->rank - 1, axes, out));
    return onnx_emit_reshape(r, *out, (uint32_t)info->rank - 1, shape, out);
}

/* Constant filters of bytes, less their zero points: number i of all of them. */
typedef struct known_filters {
    const hone_tensor *w, *zero; /* zero: one for all, one for each filter, or NULL */
    int64_t per_zero;            /* elements that share a zero point */
} known_filters;

static int64_t number_of(const known_filters *k, int64_t i) {
    int64_t zero = k->zero ? hone_tensor_get_i64(k->zero, i / k->per_zero) : 0;
    return hone_tensor_get_i64(k->w, i) - zero;
}

/* False where nothing is known, or filters are int8 without zero points already. */
static bool know_filters(const onnx_reader *r, const factor *w, uint32_t zero, known_filters *out) {
    *out = (known_filters){.w = onnx_constant_of(r, &w->x)};
    if (!out->w || out->w->dtype.bits != 8 || hone_tensor_count(out->w) == 0) return false;
    out->per_zero = hone_tensor_count(out->w);
    if (w->zero.kind == HONE_GARG_NONE) return out->w->dtype.code != HONE_DTYPE_CODE_INT;
    out->zero = onnx_constant_of(r, &r->inputs[zero]);
    if (!out->zero || out->zero->rank > 1) return false;
    int64_t zeros = hone_tensor_count(out->zero);
    if (zeros != 1 && zeros != out->w->shape[0]) return false;
    out->per_zero /= zeros;
    return true;
}

/* The filters as int8, less *out_shift, by which all come into its range: machines multiply such by
 * fours. False where they are spread over more. */
static hone_status move_into_bytes(onnx_reader *r, const known_filters *k, bool *out_moved,
                                   int64_t *out_shift, hone_garg *out) {
    int64_t least = INT64_MAX, most = INT64_MIN, count = hone_tensor_count(k->w);
    hone_tensor *moved;
    for (int64_t i = 0; i < count; i++) {
        int64_t number = number_of(k, i);
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    *out_moved = most - least <= UINT8_MAX;
    *out_shift = most > INT8_MAX ? most - INT8_MAX : least < INT8_MIN ? least - INT8_MIN : 0;
    if (!*out_moved) return HONE_OK;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I8, k->w->rank, k->w->shape, &moved));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(moved, i, number_of(k, i) - *out_shift);
    return onnx_add_constant(r, moved, out);
}

/* What filters of nothing but `shift` give, for all of them, of one group. */
static hone_status add_shift(onnx_reader *r, hone_garg x, const hone_tensor *w, int64_t filler,
                             int64_t shift, hone_garg *io) {
    int64_t axis = 1, channels = w->shape[1], shape[HONE_MAX_RANK] = {1, 1};
    hone_attr attrs[] = {
        {"axis",  onnx_ints_value(r, 1, &axis)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)                 }
    };
    hone_garg sides[2], sums;
    hone_tensor *filter;
    memcpy(shape + 2, w->shape + 2, (size_t)(w->rank - 2) * sizeof *shape);
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_I32, &x));
    HONE_TRY(onnx_emit(r, "sum", 1, &x, 2, attrs, &sides[0]));
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I32, w->rank, shape, &filter));
    for (int64_t i = 0; i < hone_tensor_count(filter); i++)
        hone_tensor_set_i64(filter, i, shift);
    HONE_TRY(onnx_add_constant(r, filter, &sides[1]));
    HONE_TRY(onnx_emit_conv(r, sides, "int32", filler * channels, &sums));
    return onnx_emit2(r, "add", *io, sums, io);
}

/* The convolution of x, as it is, by filters that are constant: *out_done is false where those are
 * not, or do not become int8. */
static hone_status conv_of_bytes(onnx_reader *r, hone_garg x, const known_filters *k,
                                 int64_t filler, bool *out_done, hone_garg *out) {
    int64_t shift, groups;
    hone_garg sides[2] = {x};
    *out_done = false;
    HONE_TRY(onnx_attr_int(r, "group", 1, &groups));
    HONE_TRY(move_into_bytes(r, k, out_done, &shift, &sides[1]));
    *out_done = *out_done && (shift == 0 || groups == 1);
    if (!*out_done) return HONE_OK;
    HONE_TRY(onnx_emit_conv(r, sides, "int32", filler, out));
    return shift == 0 ? HONE_OK : add_shift(r, x, k->w, filler, shift, out);
}

enum { CONV_ZERO = 2, QLINEAR_SCALE = 6, QLINEAR_ZERO, QLINEAR_BIAS }; /* inputs */

/* What stands around the data is the zero point. Where that is known the data stays as it is. */
static hone_status integer_conv(onnx_reader *r, factor x, factor w, uint32_t w_zero,
                                hone_garg *out) {
    const hone_tensor *known =
        onnx_has_input(r, CONV_ZERO) ? onnx_constant_of(r, &r->inputs[CONV_ZERO]) : NULL;
    hone_garg sums;
    known_filters filters;
    bool is_known = known && x.is_one_zero, is_done = false;
    int64_t filler = is_known ? hone_tensor_get_i64(known, 0) : 0;
    bool stays = is_known || x.zero.kind == HONE_GARG_NONE;
    if (stays && know_filters(r, &w, w_zero, &filters))
        HONE_TRY(conv_of_bytes(r, x.x, &filters, filler, &is_done, out));
    HONE_TRY(take_off_zero(r, &w));
    if (!is_known) HONE_TRY(take_off_zero(r, &x));
    hone_garg sides[] = {x.x, w.x};
    if (!is_done) HONE_TRY(onnx_emit_conv(r, sides, "int32", filler, out));
    if (!is_known) return HONE_OK;
    HONE_TRY(filter_sums(r, w.x, x.zero, &sums));
    return onnx_emit2(r, "subtract", *out, sums, out);
}

/* ---- operators ---- */

static hone_status convert_matmul_integer(onnx_reader *r, hone_garg *out) {
    factor a, b;
    HONE_TRY(read_factor(r, 0, 2, -2, &a));
    HONE_TRY(read_factor(r, 1, 3, -1, &b));
    return integer_matmul(r, a, b, out);
}

static hone_status convert_conv_integer(onnx_reader *r, hone_garg *out) {
    factor x, w;
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 1, &info));
    HONE_TRY(read_factor(r, 0, 2, -1, &x));
    HONE_TRY(read_factor(r, 1, 3, -info->rank, &w));
    return integer_conv(r, x, w, 3, out);
}

/* a scale for each row, or filter: along axis (from the end) of the result */
static hone_status scale_along(onnx_reader *r, uint32_t input, int32_t rank, int32_t axis,
                               hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, input, &info));
    *out = r->inputs[input];
    if (info->rank < 2) HONE_TRY(along(r, *out, rank, rank + axis, out));
    return as_wide_float(r, *out, out);
}

/* sums * (scale of a * scale of b / scale of the result), rounded, + zero point */
static hone_status scale_sums(onnx_reader *r, hone_garg sums, hone_garg a, hone_garg b,
                              hone_garg *out) {
    const hone_sinfo *info, *zero_info;
    hone_garg scale, whole, zero = r->inputs[QLINEAR_ZERO];
    HONE_TRY(onnx_info(r, &sums, &info));
    HONE_TRY(onnx_input_info(r, QLINEAR_ZERO, &zero_info));
    HONE_TRY(along(r, r->inputs[QLINEAR_SCALE], info->rank, info->rank > 1 ? info->rank - 2 : 0,
                   &whole));
    HONE_TRY(as_wide_float(r, whole, &whole));
    HONE_TRY(along(r, zero, info->rank, info->rank > 1 ? info->rank - 2 : 0, &zero));
    HONE_TRY(onnx_emit2(r, "multiply", a, b, &scale));
    HONE_TRY(onnx_emit2(r, "divide", scale, whole, &scale));
    HONE_TRY(onnx_emit_cast(r, sums, HONE_DTYPE_F32, &sums));
    HONE_TRY(onnx_emit2(r, "multiply", sums, scale, out));
    return requantize(r, *out, zero, zero_info->dtype, out);
}

/* The bias is of int32, and of the scale of the sums. */
static hone_status add_bias(onnx_reader *r, int32_t axis, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg bias;
    if (!onnx_has_input(r, QLINEAR_BIAS)) return HONE_OK;
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(
        along(r, r->inputs[QLINEAR_BIAS], info->rank, axis < 0 ? axis + info->rank : axis, &bias));
    return onnx_emit2(r, "add", *io, bias, io);
}

/* a, its scale, its zero point, b, ..., the scale and zero point of the result; a bias has what was
 * fused (graph/compose/compose_quant.c) */
static hone_status convert_qlinear_matmul(onnx_reader *r, hone_garg *out) {
    factor a, b;
    hone_garg sums, scales[2];
    const hone_sinfo *info;
    HONE_TRY(read_factor(r, 0, 2, -2, &a));
    HONE_TRY(read_factor(r, 3, 5, -1, &b));
    HONE_TRY(integer_matmul(r, a, b, &sums));
    HONE_TRY(add_bias(r, -1, &sums));
    HONE_TRY(onnx_info(r, &sums, &info));
    HONE_TRY(scale_along(r, 1, info->rank, -2, &scales[0]));
    HONE_TRY(scale_along(r, 4, info->rank, -1, &scales[1]));
    return scale_sums(r, sums, scales[0], scales[1], out);
}

static hone_status convert_qlinear_conv(onnx_reader *r, hone_garg *out) {
    factor x, w;
    hone_garg sums, scales[2];
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 3, &info));
    HONE_TRY(read_factor(r, 0, 2, -1, &x));
    HONE_TRY(read_factor(r, 3, 5, -info->rank, &w));
    HONE_TRY(integer_conv(r, x, w, 5, &sums));
    HONE_TRY(onnx_info(r, &sums, &info));
    HONE_TRY(add_bias(r, 1, &sums));
    HONE_TRY(scale_along(r, 1, info->rank, -1, &scales[0]));
    HONE_TRY(scale_along(r, 4, info->rank, 1 - info->rank, &scales[1]));
    return scale_sums(r, sums, scales[0], scales[1], out);
}

#define CONV_ATTRS "auto_pad dilations group kernel_shape pads strides"

const onnx_converter onnx_quant_converters[] = {
    {"QuantizeLinear",   convert_quantize, 2, 3, 1, "axis block_size output_dtype precision saturate",
     NULL},
    {"DequantizeLinear",                 convert_dequantize, 2, 3, 1, "axis block_size output_dtype", NULL},
    {"DynamicQuantizeLinear",                 convert_dynamic_quantize, 1, 1, 3, "", NULL},
    {"MatMulInteger",               convert_matmul_integer, 2, 4, 1, "", NULL},
    {"ConvInteger", convert_conv_integer, 2, 4, 1, CONV_ATTRS, NULL},
    {"QLinearMatMul",                 convert_qlinear_matmul, 8, 8, 1, "", NULL},
    {"QLinearConv",                 convert_qlinear_conv, 8, 9, 1, CONV_ATTRS, NULL},
    {0             },
};
