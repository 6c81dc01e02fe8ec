/* codegen/llvm/smallfloat.c - conversions between float and small floats, by integer operations.
 *
 * After F. Giesen's half-float conversions: a normal number is rounded by adding to its bits, a
 * number that becomes subnormal is rounded by the hardware when a magic number is added. Works on
 * whole vectors; no calls. */
#include "codegen/llvm/smallfloat.h"

#include <string.h>

/* How a small float is laid out. */
typedef struct layout {
    unsigned bits, mantissa;
    int bias;
    bool has_infinity; /* e4m3fn has none: all ones is its only NaN */
} layout;

static layout layout_of(hone_dtype dtype) {
    switch (dtype.code) {
    case HONE_DTYPE_CODE_BFLOAT:
        return (layout){16, 7, 127, true};
    case HONE_DTYPE_CODE_FLOAT8_E4M3:
        return (layout){8, 3, 7, false};
    case HONE_DTYPE_CODE_FLOAT8_E5M2:
        return (layout){8, 2, 15, true};
    default:
        return (layout){16, 10, 15, true};
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

static LLVMValueRef to_f32(gen *g, layout l, LLVMValueRef bits, unsigned lanes) {
    shape shape_value = shape_of(g, lanes), *s = &shape_value;
    unsigned shift = 23 - l.mantissa;
    uint32_t exponent_bits = l.bits - 1 - l.mantissa;
    uint32_t exponent_mask = ((1u << exponent_bits) - 1) << 23;
    uint32_t rebias = (uint32_t)(127 - l.bias) << 23;
    LLVMValueRef wide = LLVMBuildZExt(B, bits, s->i, "");
    if (l.bias == 127) return as_float(s, shift_left(s, wide, shift)); /* the upper half of one */
    LLVMValueRef sign = shift_left(s, bit_and(s, wide, 1u << (l.bits - 1)), 32 - l.bits);
    LLVMValueRef body = shift_left(s, bit_and(s, wide, (1u << (l.bits - 1)) - 1), shift);
    LLVMValueRef exponent = bit_and(s, body, exponent_mask);
    LLVMValueRef normal = add(s, body, constant(s, rebias));
    LLVMValueRef subnormal_bits = add(s, normal, constant(s, 1u << 23));
    LLVMValueRef magic = constant(s, (uint32_t)(127 - l.bias + 1) << 23);
    LLVMValueRef subnormal =
        as_int(s, LLVMBuildFSub(B, as_float(s, subnormal_bits), as_float(s, magic), ""));
    LLVMValueRef value = choose(s, compare(s, LLVMIntEQ, exponent, 0), subnormal, normal);
    if (l.has_infinity) {
        LLVMValueRef special = add(s, normal, constant(s, (255u << 23) - rebias - exponent_mask));
        value = choose(s, compare(s, LLVMIntEQ, exponent, exponent_mask), special, value);
    } else {
        uint32_t nan = ((1u << (l.bits - 1)) - 1) << shift;
        value = choose(s, compare(s, LLVMIntEQ, body, nan), constant(s, 0x7fc00000u), value);
    }
    return as_float(s, LLVMBuildOr(B, value, sign, ""));
}

/* bfloat16 is the upper half of a float: what overflows is infinite, subnormals are no case of
 * their own. */
static LLVMValueRef upper_half(const shape *s, LLVMValueRef value) {
    LLVMValueRef u = as_int(s, value);
    LLVMValueRef odd = bit_and(s, shift_right(s, u, 16), 1);
    LLVMValueRef rounded = add(s, add(s, u, constant(s, 0x7fff)), odd);
    LLVMValueRef nan = LLVMBuildOr(B, bit_and(s, u, 0x80000000u), constant(s, 0x7fc00000u), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(B, LLVMRealUNO, value, value, "");
    LLVMValueRef half = shift_right(s, choose(s, is_nan, nan, rounded), 16);
    return LLVMBuildTrunc(B, half, gen_vector(s->g->i16, s->lanes), "");
}

static LLVMValueRef from_f32(gen *g, layout l, LLVMValueRef value, unsigned lanes) {
    shape shape_value = shape_of(g, lanes), *s = &shape_value;
    if (l.bias == 127) return upper_half(s, value);
    unsigned shift = 23 - l.mantissa;
    LLVMValueRef u = as_int(s, value);
    LLVMValueRef sign = shift_right(s, bit_and(s, u, 0x80000000u), 32 - l.bits);
    LLVMValueRef magnitude = bit_and(s, u, 0x7fffffffu);
    /* normal: round half to even, shift, rebias */
    LLVMValueRef odd = bit_and(s, shift_right(s, magnitude, shift), 1);
    LLVMValueRef rounded = add(s, add(s, magnitude, constant(s, (1u << (shift - 1)) - 1)), odd);
    LLVMValueRef normal =
        sub(s, shift_right(s, rounded, shift), constant(s, (uint32_t)(127 - l.bias) << l.mantissa));
    uint32_t ones = ((1u << (l.bits - 1 - l.mantissa)) - 1) << l.mantissa; /* exponent all ones */
    uint32_t nan =
        l.has_infinity ? ones | (1u << (l.mantissa - 1)) : ones | ((1u << l.mantissa) - 1);
    uint32_t overflow = l.has_infinity ? ones : nan;
    LLVMValueRef result =
        choose(s, compare(s, LLVMIntUGE, normal, overflow), constant(s, overflow), normal);
    uint32_t magic = (uint32_t)(127 - l.bias + 1 + (int)shift) << 23;
    LLVMValueRef sum =
        LLVMBuildFAdd(B, as_float(s, magnitude), as_float(s, constant(s, magic)), "");
    LLVMValueRef subnormal = sub(s, as_int(s, sum), constant(s, magic));
    uint32_t smallest = (uint32_t)(127 - l.bias + 1) << 23;
    result = choose(s, compare(s, LLVMIntULT, magnitude, smallest), subnormal, result);
    uint32_t infinity = 255u << 23;
    LLVMValueRef is_big = compare(s, LLVMIntUGE, magnitude, infinity);
    result = choose(s, is_big, constant(s, overflow), result);
    result = choose(s, compare(s, LLVMIntUGT, magnitude, infinity), constant(s, nan), result);
    result = LLVMBuildOr(B, result, sign, "");
    LLVMTypeRef narrow = gen_vector(LLVMIntTypeInContext(g->context, l.bits), lanes);
    return LLVMBuildTrunc(B, result, narrow, "");
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

LLVMValueRef gen_f16_to_f32(gen *g, LLVMValueRef half, unsigned lanes) {
    if (has_native_half(g)) {
        return LLVMBuildFPExt(g->builder, half, gen_vector(g->f32, lanes), "");
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
