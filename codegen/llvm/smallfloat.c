/* codegen/llvm/smallfloat.c - conversions between float and small floats, by integer operations.
 *
 * After F. Giesen's half-float conversions: a normal number is rounded by adding to its bits, a
 * number that becomes subnormal is rounded by the hardware when a magic number is added. Works on
 * whole vectors; no calls. */
#include "codegen/llvm/smallfloat.h"

#include <string.h>

#define QUIET_NAN 0x7fc00000u

/* How a small float is laid out, and what it has beside numbers (support/data/float16.h). */
typedef enum specials {
    INFINITE, /* the top exponent is infinity and NaN */
    NAN_LAST, /* fn: all ones is NaN */
    NAN_ZERO, /* fnuz: the bits of -0 are NaN */
    FINITE,   /* numbers only */
    POWERS,   /* no sign, no zero; all ones is NaN */
} specials;

typedef struct layout {
    unsigned bits, mantissa;
    int bias;
    specials specials;
} layout;

static layout layout_of(hone_dtype dtype) {
    switch (dtype.code) {
    case HONE_DTYPE_CODE_BFLOAT:
        return (layout){16, 7, 127, INFINITE};
    case HONE_DTYPE_CODE_FLOAT8_E4M3:
        return (layout){8, 3, 7, NAN_LAST};
    case HONE_DTYPE_CODE_FLOAT8_E5M2:
        return (layout){8, 2, 15, INFINITE};
    case HONE_DTYPE_CODE_FLOAT8_E3M4:
        return (layout){8, 4, 3, INFINITE};
    case HONE_DTYPE_CODE_FLOAT8_E4M3_IEEE:
        return (layout){8, 3, 7, INFINITE};
    case HONE_DTYPE_CODE_FLOAT8_E4M3B11FNUZ:
        return (layout){8, 3, 11, NAN_ZERO};
    case HONE_DTYPE_CODE_FLOAT8_E4M3FNUZ:
        return (layout){8, 3, 8, NAN_ZERO};
    case HONE_DTYPE_CODE_FLOAT8_E5M2FNUZ:
        return (layout){8, 2, 16, NAN_ZERO};
    case HONE_DTYPE_CODE_FLOAT8_E8M0FNU:
        return (layout){8, 0, 127, POWERS};
    case HONE_DTYPE_CODE_FLOAT6_E2M3FN:
        return (layout){6, 3, 1, FINITE};
    case HONE_DTYPE_CODE_FLOAT6_E3M2FN:
        return (layout){6, 2, 3, FINITE};
    case HONE_DTYPE_CODE_FLOAT4_E2M1FN:
        return (layout){4, 1, 1, FINITE};
    default:
        return (layout){16, 10, 15, INFINITE};
    }
}

typedef struct shape {
    gen *g;
    LLVMTypeRef i, f; /* vectors of i32 and float */
    unsigned lanes;
} shape;

static shape shape_of(gen *g, unsigned lanes) {
    return (shape){g, gen_vector(g->i32, lanes), gen_vector(g->f32, lanes), lanes};
}

static LLVMValueRef constant(const shape *s, uint32_t bits) {
    LLVMValueRef one = LLVMConstInt(s->g->i32, bits, 0);
    if (s->lanes == 1) return one;
    LLVMValueRef all[1024];
    unsigned lanes = s->lanes <= 1024 ? s->lanes : 1024;
    for (unsigned k = 0; k < lanes; k++)
        all[k] = one;
    return LLVMConstVector(all, lanes);
}

#define B (s->g->builder)
static LLVMValueRef add(const shape *s, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildAdd(B, a, b, "");
}
static LLVMValueRef sub(const shape *s, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSub(B, a, b, "");
}
static LLVMValueRef bit_and(const shape *s, LLVMValueRef a, uint32_t mask) {
    return LLVMBuildAnd(B, a, constant(s, mask), "");
}
static LLVMValueRef shift_left(const shape *s, LLVMValueRef a, unsigned by) {
    return LLVMBuildShl(B, a, constant(s, by), "");
}
static LLVMValueRef shift_right(const shape *s, LLVMValueRef a, unsigned by) {
    return LLVMBuildLShr(B, a, constant(s, by), "");
}
static LLVMValueRef choose(const shape *s, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(B, c, a, b, "");
}
static LLVMValueRef compare(const shape *s, LLVMIntPredicate p, LLVMValueRef a, uint32_t b) {
    return LLVMBuildICmp(B, p, a, constant(s, b), "");
}
static LLVMValueRef as_float(const shape *s, LLVMValueRef a) {
    return LLVMBuildBitCast(B, a, s->f, "");
}
static LLVMValueRef as_int(const shape *s, LLVMValueRef a) {
    return LLVMBuildBitCast(B, a, s->i, "");
}

/* Powers of two are the exponents of floats; the least is a subnormal one. */
static LLVMValueRef power_to_f32(const shape *s, LLVMValueRef wide) {
    LLVMValueRef value = shift_left(s, wide, 23);
    value = choose(s, compare(s, LLVMIntEQ, wide, 0), constant(s, 1u << 22), value);
    return choose(s, compare(s, LLVMIntEQ, wide, 255), constant(s, QUIET_NAN), value);
}

/* value, but of infinities and NaN; body: the bits without the sign, where a float has its. */
static LLVMValueRef special_to_f32(const shape *s, layout l, LLVMValueRef body, LLVMValueRef normal,
                                   LLVMValueRef value) {
    unsigned shift = 23 - l.mantissa;
    uint32_t exponent_mask = ((1u << (l.bits - 1 - l.mantissa)) - 1) << 23;
    uint32_t rebias = (uint32_t)(127 - l.bias) << 23;
    if (l.specials == INFINITE) {
        LLVMValueRef special = add(s, normal, constant(s, (255u << 23) - rebias - exponent_mask));
        LLVMValueRef exponent = bit_and(s, body, exponent_mask);
        return choose(s, compare(s, LLVMIntEQ, exponent, exponent_mask), special, value);
    }
    if (l.specials != NAN_LAST) return value;
    uint32_t nan = ((1u << (l.bits - 1)) - 1) << shift;
    return choose(s, compare(s, LLVMIntEQ, body, nan), constant(s, QUIET_NAN), value);
}

static LLVMValueRef to_f32(gen *g, layout l, LLVMValueRef bits, unsigned lanes) {
    shape shape_value = shape_of(g, lanes), *s = &shape_value;
    unsigned shift = 23 - l.mantissa;
    uint32_t exponent_mask = ((1u << (l.bits - 1 - l.mantissa)) - 1) << 23;
    uint32_t rebias = (uint32_t)(127 - l.bias) << 23, sign_bit = 1u << (l.bits - 1);
    LLVMValueRef wide = LLVMBuildZExt(B, bits, s->i, "");
    if (l.specials == POWERS) return as_float(s, power_to_f32(s, wide));
    if (l.bias == 127) return as_float(s, shift_left(s, wide, shift)); /* the upper half of one */
    LLVMValueRef sign = shift_left(s, bit_and(s, wide, sign_bit), 32 - l.bits);
    LLVMValueRef body = shift_left(s, bit_and(s, wide, sign_bit - 1), shift);
    LLVMValueRef exponent = bit_and(s, body, exponent_mask);
    LLVMValueRef normal = add(s, body, constant(s, rebias));
    LLVMValueRef subnormal_bits = add(s, normal, constant(s, 1u << 23));
    LLVMValueRef magic = constant(s, (uint32_t)(127 - l.bias + 1) << 23);
    LLVMValueRef subnormal =
        as_int(s, LLVMBuildFSub(B, as_float(s, subnormal_bits), as_float(s, magic), ""));
    LLVMValueRef value = choose(s, compare(s, LLVMIntEQ, exponent, 0), subnormal, normal);
    value = LLVMBuildOr(B, special_to_f32(s, l, body, normal, value), sign, "");
    if (l.specials == NAN_ZERO)
        value = choose(s, compare(s, LLVMIntEQ, wide, sign_bit), constant(s, QUIET_NAN), value);
    return as_float(s, value);
}

/* bfloat16 is the upper half of a float: what overflows is infinite, subnormals are no case of
 * their own. */
static LLVMValueRef upper_half(const shape *s, LLVMValueRef value) {
    LLVMValueRef u = as_int(s, value);
    LLVMValueRef odd = bit_and(s, shift_right(s, u, 16), 1);
    LLVMValueRef rounded = add(s, add(s, u, constant(s, 0x7fff)), odd);
    LLVMValueRef nan = LLVMBuildOr(B, bit_and(s, u, 0x80000000u), constant(s, QUIET_NAN), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(B, LLVMRealUNO, value, value, "");
    LLVMValueRef half = shift_right(s, choose(s, is_nan, nan, rounded), 16);
    return LLVMBuildTrunc(B, half, gen_vector(s->g->i16, s->lanes), "");
}

/* The nearest power of two, the middle goes up; NaN of what is not above zero, and of infinity. */
static LLVMValueRef power_from_f32(const shape *s, LLVMValueRef value) {
    LLVMValueRef u = as_int(s, value);
    LLVMValueRef power = shift_right(s, add(s, u, constant(s, 1u << 22)), 23);
    LLVMValueRef is_least = compare(s, LLVMIntULT, u, 3u << 21);
    power = choose(s, is_least, constant(s, 0), power);
    LLVMValueRef is_number =
        LLVMBuildAnd(B, compare(s, LLVMIntUGT, u, 0), compare(s, LLVMIntULT, u, 255u << 23), "");
    return choose(s, is_number, power, constant(s, 255));
}

/* The bits, without a sign, of the largest number, of what is too large, and of NaN. */
typedef struct ends {
    uint32_t largest, overflow, nan;
} ends;

static ends ends_of(layout l) {
    uint32_t sign_bit = 1u << (l.bits - 1), all = sign_bit - 1;
    uint32_t top = all - ((1u << l.mantissa) - 1); /* the exponent all ones */
    switch (l.specials) {
    case INFINITE:
        return (ends){top - 1, top, top | 1u << (l.mantissa - 1)};
    case NAN_LAST:
        return (ends){all - 1, all, all};
    case NAN_ZERO:
        return (ends){all, sign_bit, sign_bit};
    default:
        return (ends){all, all, sign_bit};
    }
}

static LLVMValueRef from_f32(gen *g, layout l, LLVMValueRef value, unsigned lanes) {
    shape shape_value = shape_of(g, lanes), *s = &shape_value;
    unsigned shift = 23 - l.mantissa;
    LLVMTypeRef narrow = gen_vector(l.bits > 8 ? g->i16 : g->i8, lanes);
    if (l.specials == POWERS) return LLVMBuildTrunc(B, power_from_f32(s, value), narrow, "");
    if (l.bias == 127) return upper_half(s, value);
    LLVMValueRef u = as_int(s, value);
    LLVMValueRef sign = shift_right(s, bit_and(s, u, 0x80000000u), 32 - l.bits);
    LLVMValueRef magnitude = bit_and(s, u, 0x7fffffffu);
    /* normal: round half to even, shift, rebias */
    LLVMValueRef odd = bit_and(s, shift_right(s, magnitude, shift), 1);
    LLVMValueRef rounded = add(s, add(s, magnitude, constant(s, (1u << (shift - 1)) - 1)), odd);
    LLVMValueRef normal =
        sub(s, shift_right(s, rounded, shift), constant(s, (uint32_t)(127 - l.bias) << l.mantissa));
    ends e = ends_of(l);
    LLVMValueRef overflow = constant(s, e.overflow);
    LLVMValueRef result = choose(s, compare(s, LLVMIntUGT, normal, e.largest), overflow, normal);
    uint32_t magic = (uint32_t)(127 - l.bias + 1 + (int)shift) << 23;
    LLVMValueRef sum =
        LLVMBuildFAdd(B, as_float(s, magnitude), as_float(s, constant(s, magic)), "");
    LLVMValueRef subnormal = sub(s, as_int(s, sum), constant(s, magic));
    uint32_t smallest = (uint32_t)(127 - l.bias + 1) << 23;
    result = choose(s, compare(s, LLVMIntULT, magnitude, smallest), subnormal, result);
    uint32_t infinity = 255u << 23;
    result = choose(s, compare(s, LLVMIntUGE, magnitude, infinity), overflow, result);
    result = choose(s, compare(s, LLVMIntUGT, magnitude, infinity), constant(s, e.nan), result);
    if (l.specials == NAN_ZERO)
        sign = choose(s, compare(s, LLVMIntEQ, result, 0), constant(s, 0), sign);
    return LLVMBuildTrunc(B, LLVMBuildOr(B, result, sign, ""), narrow, "");
}
#undef B

/* LLVM turns fpext and fptrunc of half into calls where the processor has no instruction. */
static bool has_native_half(const gen *g) {
    if (strncmp(g->target->triple, "x86_64", 6) != 0) return true;
    return hone_target_has_feature(g->target, "f16c");
}

/* Bits of half that are looked at become fabs and the like, which would be such calls, too. */
LLVMTypeRef gen_stored_half(const gen *g) {
    return has_native_half(g) ? g->f16 : g->i16;
}

/* Floats that were float16 are compared as the floats they are: LLVM would compare the float16
 * again, which x86 without AVX512-FP16 does lane by lane. A fence keeps it from that. */
static LLVMValueRef as_wide(gen *g, LLVMValueRef value, unsigned lanes) {
    bool is_x86 = strncmp(g->target->triple, "x86_64", 6) == 0;
    if (!is_x86 || lanes == 1) return value;
    return gen_intrinsic(g, "llvm.arithmetic.fence", LLVMTypeOf(value), &value, 1);
}

LLVMValueRef gen_f16_to_f32(gen *g, LLVMValueRef half, unsigned lanes) {
    if (has_native_half(g)) {
        LLVMValueRef wide = LLVMBuildFPExt(g->builder, half, gen_vector(g->f32, lanes), "");
        return as_wide(g, wide, lanes);
    }
    LLVMValueRef bits = LLVMBuildBitCast(g->builder, half, gen_vector(g->i16, lanes), "");
    return to_f32(g, layout_of(HONE_DTYPE_F16), bits, lanes);
}

LLVMValueRef gen_f32_to_f16(gen *g, LLVMValueRef value, unsigned lanes) {
    LLVMTypeRef type = gen_vector(gen_stored_half(g), lanes);
    if (has_native_half(g)) return LLVMBuildFPTrunc(g->builder, value, type, "");
    LLVMValueRef bits = from_f32(g, layout_of(HONE_DTYPE_F16), value, lanes);
    return LLVMBuildBitCast(g->builder, bits, type, "");
}

LLVMValueRef gen_small_to_f32(gen *g, hone_dtype dtype, LLVMValueRef bits) {
    return to_f32(g, layout_of(dtype), bits, dtype.lanes);
}

LLVMValueRef gen_f32_to_small(gen *g, hone_dtype dtype, LLVMValueRef value) {
    return from_f32(g, layout_of(dtype), value, dtype.lanes);
}
