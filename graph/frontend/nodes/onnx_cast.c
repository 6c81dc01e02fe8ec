/* graph/frontend/nodes/onnx_cast.c - numbers as those of another type. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

static bool has_eight_bits(hone_dtype dtype) {
    return hone_dtype_is_float(dtype) && dtype.bits == 8;
}

/* Held within the type's finite numbers, NaN aside: as float8 numbers are cast where nobody says
 * otherwise. */
hone_status onnx_emit_float8(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg args[3] = {{0}};
    double most = hone_dtype_max_float(dtype);
    HONE_TRY(onnx_info(r, &x, &info));
    bool is_float = hone_dtype_is_float(info->dtype) && !has_eight_bits(info->dtype);
    HONE_TRY(onnx_emit_cast(r, x, is_float ? info->dtype : HONE_DTYPE_F32, &args[0]));
    HONE_TRY(onnx_info(r, &args[0], &info));
    for (int i = 1; i <= 2; i++) {
        const hone_expr *limit = hone_expr_float(&r->ir, info->dtype, i == 1 ? -most : most);
        args[i] = (hone_garg){.kind = HONE_GARG_PRIM, .u.expr = limit};
    }
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(onnx_emit(r, "clip", 3, args, 0, NULL, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* What is added below the exponent of a float32 before it is cut off. */
static hone_status emit_rounding(onnx_reader *r, uint32_t mode, hone_garg bits, hone_garg *out) {
    hone_garg is_normal, whole, less;
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_U32, mode == 0 ? 0x7fffff : 0x400000, &whole));
    *out = whole;
    if (mode == 0) return HONE_OK;
    HONE_TRY(onnx_with_scalar(r, "greater_equal", bits, 0x800000, &is_normal));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_U32, 0x3fffff, &less));
    return onnx_emit_where(r, is_normal, whole, less, out);
}

/* To powers of two: the exponents of float32, whatever the sign is, rounded by `round_mode`;
 * infinities and NaN are NaN. In the nearest mode halves go up, but below the normal numbers. */
static hone_status emit_power(onnx_reader *r, hone_garg x, bool saturates, hone_dtype dtype,
                              hone_garg *out) {
    enum { UP, NEAREST, DOWN };
    static const char *const modes[] = {"up", "nearest", "down", NULL};
    uint32_t mode;
    hone_garg bits, exponent, extra, is_finite, nan;
    hone_attr as_bits = {"dtype", onnx_text_value(r, "uint32")};
    hone_attr as_power = {"dtype", onnx_text_value(r, HONE_DTYPE_NAME(dtype))};
    HONE_TRY(onnx_attr_word(r, "round_mode", modes[UP], modes, &mode));
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_F32, &x));
    HONE_TRY(onnx_emit(r, "bitcast", 1, &x, 1, &as_bits, &bits));
    HONE_TRY(onnx_with_scalar(r, "bitwise_and", bits, 0x7fffffff, &bits));
    exponent = bits;
    if (mode != DOWN) {
        HONE_TRY(emit_rounding(r, mode, bits, &extra));
        HONE_TRY(onnx_emit2(r, "add", bits, extra, &exponent));
    }
    HONE_TRY(onnx_with_scalar(r, "right_shift", exponent, 23, &exponent));
    HONE_TRY(onnx_with_scalar(r, "minimum", exponent, saturates ? 254 : 255, &exponent));
    HONE_TRY(onnx_with_scalar(r, "less", bits, 0x7f800000, &is_finite));
    HONE_TRY(onnx_scalar_like(r, &exponent, 255, &nan));
    HONE_TRY(onnx_emit_where(r, is_finite, exponent, nan, &exponent));
    HONE_TRY(onnx_emit_cast(r, exponent, HONE_DTYPE_U8, &exponent));
    return onnx_emit(r, "bitcast", 1, &exponent, 1, &as_power, out);
}

/* To integers of less than 8 bits the standard rounds, halves to the even number, where it cuts
 * fractions off for all others; of the int32 the cast that follows keeps the low bits. */
static hone_status emit_rounded(onnx_reader *r, hone_garg x, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    if (hone_dtype_is_short_float(info->dtype)) HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_F32, &x));
    HONE_TRY(onnx_emit1(r, "round", x, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_I32, out);
}

static hone_status cast_to(onnx_reader *r, hone_dtype to, hone_garg *out) {
    const hone_sinfo *info;
    int64_t saturates;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_int(r, "saturate", 1, &saturates));
    bool is_same = hone_dtype_equal(info->dtype, to);
    if (to.code == HONE_DTYPE_CODE_FLOAT8_E8M0FNU && !is_same)
        return emit_power(r, r->inputs[0], saturates, to, out);
    if (to.bits < 8 && hone_dtype_is_integer(to) && hone_dtype_is_float(info->dtype))
        HONE_TRY(emit_rounded(r, r->inputs[0], &r->inputs[0]));
    if (!has_eight_bits(to) || !saturates || is_same)
        return onnx_emit_cast(r, r->inputs[0], to, out);
    return onnx_emit_float8(r, r->inputs[0], to, out);
}

static hone_status convert_cast(onnx_reader *r, hone_garg *out) {
    int64_t to;
    hone_dtype dtype;
    if (!onnx_attr(r, "to")) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'to' is missing");
    HONE_TRY(onnx_attr_int(r, "to", 0, &to));
    if (to >= 0 && to <= INT32_MAX && onnx_is_string_type((int32_t)to))
        return onnx_strings_of_numbers(r, r->inputs[0], out);
    HONE_TRY(onnx_dtype(to > INT32_MAX || to < 0 ? -1 : (int32_t)to, &dtype));
    bool is_known = r->inputs[0].kind == HONE_GARG_SHAPE || r->inputs[0].kind == HONE_GARG_PRIM;
    if (is_known && hone_dtype_equal(dtype, HONE_DTYPE_I64)) {
        *out = r->inputs[0];
        return HONE_OK;
    }
    return cast_to(r, dtype, out);
}

static hone_status convert_cast_like(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *like;
    HONE_TRY(onnx_input_info(r, 1, &like));
    return cast_to(r, like->dtype, out);
}

static bool has_bytes(hone_dtype dtype) {
    bool is_short = dtype.bits < 8 && !hone_dtype_is_bool(dtype);
    return !is_short && (!hone_dtype_is_float(dtype) || dtype.bits > 8);
}

/* A truth takes a byte. */
static uint32_t width_of(hone_dtype dtype) {
    return hone_dtype_is_bool(dtype) ? 8 : dtype.bits;
}

static hone_status convert_bit_cast(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t to;
    hone_dtype dtype;
    if (!onnx_attr(r, "to")) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'to' is missing");
    HONE_TRY(onnx_attr_int(r, "to", 0, &to));
    HONE_TRY(onnx_dtype(to > INT32_MAX || to < 0 ? -1 : (int32_t)to, &dtype));
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (width_of(dtype) != width_of(info->dtype)) {
        return HONE_ERROR(HONE_CODE_TYPE, "the bits of %s as %s", HONE_DTYPE_NAME(info->dtype),
                          HONE_DTYPE_NAME(dtype));
    }
    if (!has_bytes(dtype) || !has_bytes(info->dtype)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "bits of floats of 8 bits, or of less than that");
    }
    hone_attr attr = {"dtype", onnx_text_value(r, HONE_DTYPE_NAME(dtype))};
    return onnx_emit(r, "bitcast", 1, r->inputs, 1, &attr, out);
}

const onnx_converter onnx_cast_converters[] = {
    {"BitCast", convert_bit_cast, 1, 1, 1, "to", NULL},
    {"Cast",        convert_cast, 1, 1, 1, "round_mode saturate to", NULL},
    {"CastLike",        convert_cast_like, 2, 2, 1, "round_mode saturate", NULL},
    {0    },
};
