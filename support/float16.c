/* support/float16.c - see float16.h.
 *
 * One routine packs any of the formats from a double (every float32 is one) and one unpacks them;
 * a format is three numbers. Going through double is exact: its 53 bits hold every float32.
 */
#include "support/float16.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct format {
    int exponent_bits, mantissa_bits;
    bool has_infinity; /* e4m3fn: no; its top exponent is for numbers too, all ones is NaN */
} format;

static const format f16 = {5, 10, true};
static const format bf16 = {8, 7, true};
static const format f8e4m3 = {4, 3, false};
static const format f8e5m2 = {5, 2, true};

static uint32_t nan_bits(format f) {
    uint32_t exponent = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    uint32_t mantissa = f.has_infinity ? 1u << (f.mantissa_bits - 1) : (1u << f.mantissa_bits) - 1;
    return exponent | mantissa;
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

static uint32_t pack(format f, double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 63) << (f.exponent_bits + f.mantissa_bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    uint32_t top = (1u << f.exponent_bits) - 1;
    uint32_t overflow = f.has_infinity ? top << f.mantissa_bits : nan_bits(f);
    if (exponent == 0x7ff) return sign | (mantissa ? nan_bits(f) : overflow);
    if (exponent == 0) return sign; /* a double subnormal is below every format's range */

    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int biased = exponent - 1023 + bias;
    int shift = 52 - f.mantissa_bits;
    mantissa |= UINT64_C(1) << 52;
    if (biased > (int)top) return sign | overflow;
    uint64_t packed;
    if (biased <= 0) {
        packed = shift_rounded(mantissa, shift + 1 - biased); /* subnormal, or the least normal */
    } else {
        /* the hidden bit adds one to the exponent, a carry out of the mantissa as well */
        packed = ((uint64_t)(biased - 1) << f.mantissa_bits) + shift_rounded(mantissa, shift);
    }
    return sign | (packed >= overflow ? overflow : (uint32_t)packed);
}

static float unpack(format f, uint32_t bits) {
    uint32_t top = (1u << f.exponent_bits) - 1;
    uint32_t exponent = bits >> f.mantissa_bits & top;
    uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    float value;
    if (exponent == top && f.has_infinity) {
        value = mantissa ? NAN : INFINITY;
    } else if (exponent == top && mantissa == (1u << f.mantissa_bits) - 1) {
        value = NAN;
    } else if (exponent == 0) {
        value = ldexpf((float)mantissa, 1 - bias - f.mantissa_bits);
    } else {
        uint32_t whole = mantissa | 1u << f.mantissa_bits;
        value = ldexpf((float)whole, (int)exponent - bias - f.mantissa_bits);
    }
    return bits >> (f.exponent_bits + f.mantissa_bits) & 1 ? -value : value;
}

float hone_f16_to_f32(uint16_t bits) {
    return unpack(f16, bits);
}

float hone_bf16_to_f32(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value = 0;
    memcpy(&value, &wide, sizeof value);
    return value;
}

float hone_f8e4m3_to_f32(uint8_t bits) {
    return unpack(f8e4m3, bits);
}

float hone_f8e5m2_to_f32(uint8_t bits) {
    return unpack(f8e5m2, bits);
}

uint16_t hone_f16_from_f32(float value) {
    return (uint16_t)pack(f16, value);
}

uint16_t hone_bf16_from_f32(float value) {
    return (uint16_t)pack(bf16, value);
}

uint8_t hone_f8e4m3_from_f32(float value) {
    return (uint8_t)pack(f8e4m3, value);
}

uint8_t hone_f8e5m2_from_f32(float value) {
    return (uint8_t)pack(f8e5m2, value);
}

uint16_t hone_f16_from_f64(double value) {
    return (uint16_t)pack(f16, value);
}

uint16_t hone_bf16_from_f64(double value) {
    return (uint16_t)pack(bf16, value);
}

uint8_t hone_f8e4m3_from_f64(double value) {
    return (uint8_t)pack(f8e4m3, value);
}

uint8_t hone_f8e5m2_from_f64(double value) {
    return (uint8_t)pack(f8e5m2, value);
}
