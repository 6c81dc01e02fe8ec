/* codegen/source/c_types.c - dtypes as C types, storage forms, conversions. */
#include <inttypes.h>

#include "codegen/source/c_gen.h"

static const char *unknown(c_gen *g, hone_dtype dtype) {
    c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s has no type for %s", g->dialect->name,
                         HONE_DTYPE_NAME(hone_dtype_element(dtype))));
    return "int";
}

static const char *int_type(c_gen *g, hone_dtype dtype) {
    int bits = dtype.bits < 8 ? 8 : dtype.bits; /* shorter ones have a byte each */
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return unknown(g, dtype);
    return c_printf(g, "%sint%d_t", hone_dtype_is_int(dtype) ? "" : "u", bits);
}

const char *c_type(c_gen *g, hone_dtype dtype) {
    if (hone_dtype_is_bool(dtype)) return "bool";
    bool is_double = hone_dtype_is_float(dtype) && dtype.bits == 64;
    if (is_double && !g->dialect->has_double) return unknown(g, dtype);
    if (hone_dtype_is_float(dtype)) return is_double ? "double" : "float";
    if (hone_dtype_is_handle(dtype)) return "void *";
    return hone_dtype_is_integer(dtype) ? int_type(g, dtype) : unknown(g, dtype);
}

const char *c_storage(c_gen *g, hone_dtype dtype) {
    if (hone_dtype_is_bool(dtype)) return "uint8_t";
    if (codegen_is_small_float(dtype)) return dtype.bits == 16 ? "uint16_t" : "uint8_t";
    return c_type(g, dtype);
}

static const char *small_name(hone_dtype dtype) {
    switch (dtype.code) {
    case HONE_DTYPE_CODE_BFLOAT:
        return "bf16";
    case HONE_DTYPE_CODE_FLOAT8_E4M3:
        return "f8e4m3";
    case HONE_DTYPE_CODE_FLOAT8_E5M2:
        return "f8e5m2";
    case HONE_DTYPE_CODE_FLOAT8_E3M4:
        return "f8e3m4";
    case HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE:
        return "f8e4m3_ieee";
    case HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ:
        return "f8e4m3b11fnuz";
    case HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ:
        return "f8e4m3fnuz";
    case HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ:
        return "f8e5m2fnuz";
    case HONE_DTYPE_CODE_FLOAT8_E8M0FNU:
        return "f8e8m0";
    case HONE_DTYPE_CODE_FLOAT6_E2M3FN:
        return "f6e2m3";
    case HONE_DTYPE_CODE_FLOAT6_E3M2FN:
        return "f6e3m2";
    case HONE_DTYPE_CODE_FLOAT4_E2M1FN:
        return "f4e2m1";
    default:
        return "f16";
    }
}

c_text c_to_storage(c_gen *g, hone_dtype dtype, c_text value) {
    if (!codegen_is_small_float(dtype)) return value;
    const char *helper = c_helper(g, "from_f32", small_name(dtype));
    return (c_text){c_printf(g, "%s(%s)", helper, value.s), C_PREC_POSTFIX};
}

c_text c_from_storage(c_gen *g, hone_dtype dtype, c_text stored) {
    if (hone_dtype_is_bool(dtype)) {
        return (c_text){c_printf(g, "%s != 0", c_at(g, stored, C_PREC_ADD)), C_PREC_COMPARE};
    }
    if (!codegen_is_small_float(dtype)) return stored;
    const char *helper = c_helper(g, "to_f32", small_name(dtype));
    return (c_text){c_printf(g, "%s(%s)", helper, stored.s), C_PREC_POSTFIX};
}

static c_text as(c_gen *g, const char *type, c_text value) {
    return (c_text){c_printf(g, "(%s)%s", type, c_at(g, value, C_PREC_UNARY)), C_PREC_UNARY};
}

c_text c_narrow(c_gen *g, hone_dtype from, hone_dtype to, c_text value) {
    if (codegen_narrows_twice(from, to)) {
        const char *helper = c_helper(g, "to_odd", "float");
        value = (c_text){c_printf(g, "%s(%s)", helper, as(g, "double", value).s), C_PREC_POSTFIX};
    } else if (!hone_dtype_is_float(from)) {
        value = as(g, "float", value);
    }
    return c_to_storage(g, to, value);
}

static bool is_short_integer(hone_dtype dtype) {
    return hone_dtype_is_integer(dtype) && !hone_dtype_is_bool(dtype) && dtype.bits < 8;
}

c_text c_wrapped(c_gen *g, hone_dtype dtype, c_text value) {
    if (!is_short_integer(dtype)) return value;
    unsigned mask = (1u << dtype.bits) - 1, sign = hone_dtype_is_int(dtype) ? (mask + 1) / 2 : 0;
    return (c_text){c_printf(g, "(%s)((((int32_t)%s & %u) ^ %u) - %u)", c_type(g, dtype),
                             c_at(g, value, C_PREC_UNARY), mask, sign, sign),
                    C_PREC_UNARY};
}

/* Saturates, NaN is 0. */
static c_text to_integer(c_gen *g, hone_dtype to, c_text value) {
    const char *type = c_type(g, to);
    const char *text = c_printf(g, "%s(%s)", c_helper(g, "saturate", type), value.s);
    if (is_short_integer(to)) {
        int low = hone_dtype_is_int(to) ? -(1 << (to.bits - 1)) : 0;
        text = c_printf(g, "%s(%s, %d, %d)", c_helper(g, "clamp", type), text, low,
                        low + (1 << to.bits) - 1);
    }
    return (c_text){text, C_PREC_POSTFIX};
}

c_text c_cast(c_gen *g, hone_dtype from, hone_dtype to, c_text value) {
    from.lanes = to.lanes = 1;
    if (hone_dtype_equal(from, to)) return value;
    if (hone_dtype_is_handle(from) || hone_dtype_is_handle(to)) {
        c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "cannot convert %s to %s",
                             HONE_DTYPE_NAME(from), HONE_DTYPE_NAME(to)));
        return value;
    }
    if (hone_dtype_is_bool(to)) {
        return (c_text){c_printf(g, "%s != 0", c_at(g, value, C_PREC_ADD)), C_PREC_COMPARE};
    }
    if (hone_dtype_is_float(from) && hone_dtype_is_integer(to)) return to_integer(g, to, value);
    if (codegen_is_small_float(from) && hone_dtype_equal(to, HONE_DTYPE_F32)) return value;
    if (is_short_integer(to)) return c_wrapped(g, to, value);
    if (!codegen_is_small_float(to)) return as(g, c_type(g, to), value);
    return c_from_storage(g, to, c_narrow(g, from, to, value));
}

c_text c_int_constant(hone_dtype dtype, int64_t value, c_gen *g) {
    if (hone_dtype_is_bool(dtype)) return (c_text){value ? "true" : "false", C_PREC_POSTFIX};
    if (value == INT64_MIN) return (c_text){"INT64_MIN", C_PREC_UNARY};
    c_prec prec = value < 0 ? C_PREC_UNARY : C_PREC_POSTFIX;
    if (!hone_dtype_is_int(dtype) && dtype.bits == 64) {
        return (c_text){c_printf(g, "UINT64_C(%" PRIu64 ")", (uint64_t)value), C_PREC_POSTFIX};
    }
    if (!hone_dtype_is_int(dtype) && dtype.bits == 32) {
        return (c_text){c_printf(g, "UINT32_C(%" PRIu32 ")", (uint32_t)value), C_PREC_POSTFIX};
    }
    if (value > INT32_MAX || value <= INT32_MIN) {
        return (c_text){
            c_printf(g, "%sINT64_C(%" PRId64 ")", value < 0 ? "-" : "", value < 0 ? -value : value),
            prec};
    }
    return (c_text){c_printf(g, "%" PRId64, value), prec};
}
