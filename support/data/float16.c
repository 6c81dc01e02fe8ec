/* support/data/float16.c - see float16.h.
 *
 * One routine packs any of the formats from a double (every float32 is one) and one unpacks them;
 * a format is a few numbers. Going through double is exact: its 53 bits hold every float32.
 */
#include "support/data/float16.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef enum specials {
    INFINITE, /* the top exponent is infinity and NaN */
    NAN_LAST, /* fn: all ones is NaN, the rest of the top exponent numbers */
    NAN_ZERO, /* fnuz: the bits of -0 are NaN, the top exponent numbers */
    FINITE,   /* numbers only */
    POWERS,   /* e8m0fnu: no sign, no zero; all ones is NaN */
} specials;

typedef struct format {
    int exponent_bits, mantissa_bits, bias;
    specials specials;
} format;

static const format f16 = {5, 10, 15, INFINITE};
static const format bf16 = {8, 7, 127, INFINITE};
static const format f8e4m3 = {4, 3, 7, NAN_LAST};
static const format f8e5m2 = {5, 2, 15, INFINITE};

static format format_of(hone_dtype dtype) {
    switch ((hone_dtype_code)dtype.code) {
    case HONE_DTYPE_CODE_BFLOAT:
        return bf16;
    case HONE_DTYPE_CODE_FLOAT8_E4M3:
        return f8e4m3;
    case HONE_DTYPE_CODE_FLOAT8_E5M2:
        return f8e5m2;
    case HONE_DTYPE_CODE_FLOAT8_E3M4:
        return (format){3, 4, 3, INFINITE};
    case HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE:
        return (format){4, 3, 7, INFINITE};
    case HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ:
        return (format){4, 3, 11, NAN_ZERO};
    case HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ:
        return (format){4, 3, 8, NAN_ZERO};
    case HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ:
        return (format){5, 2, 16, NAN_ZERO};
    case HONE_DTYPE_CODE_FLOAT8_E8M0FNU:
        return (format){8, 0, 127, POWERS};
    case HONE_DTYPE_CODE_FLOAT6_E2M3FN:
        return (format){2, 3, 1, FINITE};
    case HONE_DTYPE_CODE_FLOAT6_E3M2FN:
        return (format){3, 2, 3, FINITE};
    case HONE_DTYPE_CODE_FLOAT4_E2M1FN:
        return (format){2, 1, 1, FINITE};
    default:
        assert(dtype.code == HONE_DTYPE_CODE_FLOAT && dtype.bits == 16);
        return f16;
    }
}

static uint32_t sign_bit(format f) {
    return 1u << (f.exponent_bits + f.mantissa_bits);
}

/* All exponents and mantissas that are numbers are below or equal to it. */
static uint32_t largest(format f) {
    uint32_t all = sign_bit(f) - 1;
    if (f.specials == INFINITE) return (((1u << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
    return f.specials == NAN_LAST ? all - 1 : all;
}

static uint32_t nan_bits(format f) {
    if (f.specials == INFINITE) return (largest(f) + 1) | 1u << (f.mantissa_bits - 1);
    return f.specials == NAN_LAST ? sign_bit(f) - 1 : sign_bit(f);
}

/* What is too large for the format. */
static uint32_t overflow_bits(format f, uint32_t sign) {
    if (f.specials == FINITE) return sign | largest(f);
    if (f.specials == NAN_ZERO) return nan_bits(f);
    return sign | (largest(f) + 1);
}

/* Shifts right, rounding to nearest, ties to even. */
static uint64_t shift_rounded(uint64_t value, int shift) {
    if (shift <= 0) return value << -shift;
    if (shift > 54) return 0; /* the value has 53 bits: less than half of the last place */
    uint64_t half = UINT64_C(1) << (shift - 1);
    uint64_t rest = value & (2 * half - 1);
    uint64_t result = value >> shift;
    return result + (rest > half || (rest == half && (result & 1)));
}

static uint32_t pack_power(double value) {
    int exponent = 0;
    if (!(value > 0) || isinf(value)) return 255;
    double part = frexp(value, &exponent); /* from 0.5 up to 1 */
    int biased = exponent - 1 + 127 + (part >= 0.75);
    return biased < 0 ? 0 : biased > 255 ? 255 : (uint32_t)biased;
}

static uint32_t pack(format f, double value) {
    uint64_t bits = 0;
    if (f.specials == POWERS) return pack_power(value);
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 63 ? sign_bit(f) : 0;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7ff && mantissa)
        return f.specials == INFINITE ? sign | nan_bits(f) : nan_bits(f);
    if (exponent == 0x7ff) return overflow_bits(f, sign);
    uint32_t zero = f.specials == NAN_ZERO ? 0 : sign;
    if (exponent == 0) return zero; /* a double subnormal is below every format's range */

    int biased = exponent - 1023 + f.bias;
    int shift = 52 - f.mantissa_bits;
    mantissa |= UINT64_C(1) << 52;
    if (biased >= 1 << f.exponent_bits) return overflow_bits(f, sign);
    uint64_t packed;
    if (biased <= 0) {
        packed = shift_rounded(mantissa, shift + 1 - biased); /* subnormal, or the least normal */
    } else {
        /* the hidden bit adds one to the exponent, a carry out of the mantissa as well */
        packed = ((uint64_t)(biased - 1) << f.mantissa_bits) + shift_rounded(mantissa, shift);
    }
    if (packed > largest(f)) return overflow_bits(f, sign);
    return packed ? sign | (uint32_t)packed : zero;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float unpack(format f, uint32_t bits) {
    uint32_t exponent = bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
    uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
    bool is_negative = bits & sign_bit(f);
    uint32_t magnitude = bits & (sign_bit(f) - 1);
    float value;
    if (f.specials == POWERS) {
        return bits == 255 ? NAN : ldexpf(1.0f, (int)bits - f.bias);
    }
    if (f.specials == NAN_ZERO && is_negative && !magnitude) return NAN;
    if (magnitude > largest(f)) {
        bool is_infinity = f.specials == INFINITE && !mantissa;
        value = is_infinity ? INFINITY : NAN;
    } else if (exponent == 0) {
        value = ldexpf((float)mantissa, 1 - f.bias - f.mantissa_bits);
    } else {
        value = float_of((exponent + 127 - (uint32_t)f.bias) << 23 | mantissa
                                                                         << (23 - f.mantissa_bits));
    }
    return is_negative ? -value : value;
}

/* Most are of one of two types: these by the shortest way. */
double hone_short_float_load(hone_dtype dtype, uint32_t bits) {
    if (dtype.code == HONE_DTYPE_CODE_BFLOAT) return (double)float_of(bits << 16);
    uint32_t exponent = bits & 0x7c00;
    if (dtype.code == HONE_DTYPE_CODE_FLOAT && exponent != 0 && exponent != 0x7c00) {
        uint32_t sign = (bits & 0x8000) << 16;
        return (double)float_of(sign | ((bits & 0x7fff) + (112u << 10)) << 13);
    }
    return (double)unpack(format_of(dtype), bits);
}

uint32_t hone_short_float_store(hone_dtype dtype, double value) {
    return pack(format_of(dtype), value);
}
