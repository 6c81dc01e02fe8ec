/* codegen/llvm/vecmath.c - exp, exp2, log, tanh and erf in float32, on whole vectors.
 *
 * Range reduction and a polynomial, no calls, no tables; within 4 units in the last place of the
 * correctly rounded result, special values as libm has them (tested against it). exp and log use
 * the classic reductions by ln 2 in two parts; the coefficients of erf were fitted for this file
 * (Chebyshev nodes): x * P(x^2) up to 1, behind that 1 - exp(Q(|x| - 2)) with Q close to log(erfc).
 * Scalars take the same way, so vectorising a loop does not change its numbers. */
#include "codegen/llvm/gen.h"

#include <stdio.h>
#include <string.h>

#include "support/attributes.h"

enum { MAX_LANES = 256 };

typedef struct vec {
    gen *g;
    LLVMTypeRef f, i; /* float and i32, times lanes */
    unsigned lanes;
    bool has_avx512;
} vec;

#define B (v->g->builder)

static LLVMValueRef number(const vec *v, double value) {
    return gen_splat(v->g, LLVMConstReal(v->g->f32, value), v->lanes);
}
static LLVMValueRef integer(const vec *v, uint32_t value) {
    return gen_splat(v->g, LLVMConstInt(v->g->i32, value, 0), v->lanes);
}
static LLVMValueRef add(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFAdd(B, a, b, "");
}
static LLVMValueRef sub(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFSub(B, a, b, "");
}
static LLVMValueRef mul(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFMul(B, a, b, "");
}
/* a * b + c, in one rounding where the processor can. */
static LLVMValueRef fma_of(const vec *v, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    LLVMValueRef args[] = {a, b, c};
    return gen_intrinsic(v->g, "llvm.fmuladd", v->f, args, 3);
}
static LLVMValueRef call1(const vec *v, const char *name, LLVMValueRef x) {
    return gen_intrinsic(v->g, name, v->f, &x, 1);
}
static LLVMValueRef choose(const vec *v, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef yes, LLVMValueRef no) {
    return LLVMBuildSelect(B, LLVMBuildFCmp(B, p, a, b, ""), yes, no, "");
}
static LLVMValueRef as_float(const vec *v, LLVMValueRef x) {
    return LLVMBuildBitCast(B, x, v->f, "");
}
static LLVMValueRef as_int(const vec *v, LLVMValueRef x) {
    return LLVMBuildBitCast(B, x, v->i, "");
}

/* c[count - 1] + c[count - 2] x + …: the highest power comes first in c. */
static LLVMValueRef polynomial(const vec *v, LLVMValueRef x, const double *c, size_t count) {
    LLVMValueRef sum = number(v, c[0]);
    for (size_t k = 1; k < count; k++)
        sum = fma_of(v, sum, x, number(v, c[k]));
    return sum;
}

/* x rounded to an integer, as it lies behind the point of out_shifted: its lowest bits are those of
 * the integer, and there is nothing to convert. |x| < 2^22; NaN stays. */
static LLVMValueRef round_of(const vec *v, LLVMValueRef x, double factor,
                             LLVMValueRef *out_shifted) {
    LLVMValueRef shift = number(v, 12582912.0); /* 1.5 * 2^23 */
    *out_shifted = factor == 1.0 ? add(v, x, shift) : fma_of(v, x, number(v, factor), shift);
    return sub(v, *out_shifted, shift);
}

/* 2^n for an integer vector with -126 <= n <= 127. */
static LLVMValueRef power_of_two(const vec *v, LLVMValueRef n) {
    LLVMValueRef biased = LLVMBuildAdd(B, n, integer(v, 127), "");
    return as_float(v, LLVMBuildShl(B, biased, integer(v, 23), ""));
}

/* `count` lanes of x from `start` on; lanes that x does not have are poison. */
static LLVMValueRef lanes_of(const vec *v, LLVMValueRef x, unsigned have, unsigned start,
                             unsigned count) {
    LLVMValueRef picks[MAX_LANES];
    for (unsigned i = 0; i < count; i++)
        picks[i] =
            start + i < have ? gen_i32(v->g, (int32_t)(start + i)) : LLVMGetPoison(v->g->i32);
    return LLVMBuildShuffleVector(B, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(picks, count),
                                  "");
}

/* The `have` lanes of a, then those of b. */
static LLVMValueRef append_lanes(const vec *v, LLVMValueRef a, unsigned have, LLVMValueRef b,
                                 unsigned count) {
    LLVMValueRef picks[MAX_LANES];
    LLVMValueRef wide = have == count ? b : lanes_of(v, b, count, 0, have);
    for (unsigned i = 0; i < have + count; i++)
        picks[i] = gen_i32(v->g, (int32_t)i);
    return LLVMBuildShuffleVector(B, a, wide, LLVMConstVector(picks, have + count), "");
}

/* a op b by an instruction on registers of 4, 8 or 16 floats: `name` ends with their bits. */
static LLVMValueRef by_register(const vec *v, const char *name, LLVMValueRef a, LLVMValueRef b) {
    unsigned widest = v->g->target->vector_bits >= 512 ? 16 : 8, width = 4;
    while (width < v->lanes && width < widest)
        width *= 2;
    char full[64];
    snprintf(full, sizeof full, "%s.%u", name, width * 32);
    unsigned id = LLVMLookupIntrinsicID(full, strlen(full));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(v->g->module, id, NULL, 0);
    LLVMTypeRef signature = LLVMIntrinsicGetType(v->g->context, id, NULL, 0);
    LLVMTypeRef type = LLVMVectorType(v->g->f32, width);
    LLVMValueRef all = LLVMConstAllOnes(width == 16 ? v->g->i16 : v->g->i8), result = NULL;
    LLVMValueRef current_rounding = gen_i32(v->g, 4);
    if (v->lanes == 1) {
        LLVMValueRef zero = gen_i32(v->g, 0), empty = LLVMGetPoison(type);
        a = LLVMBuildInsertElement(B, empty, a, zero, "");
        b = LLVMBuildInsertElement(B, empty, b, zero, "");
        LLVMValueRef args[] = {a, b, LLVMConstNull(type), all, current_rounding};
        result = LLVMBuildCall2(B, signature, function, args, width == 16 ? 5 : 4, "");
        return LLVMBuildExtractElement(B, result, zero, "");
    }
    for (unsigned at = 0; at < v->lanes; at += width) {
        LLVMValueRef args[] = {lanes_of(v, a, v->lanes, at, width),
                               lanes_of(v, b, v->lanes, at, width), LLVMConstNull(type), all,
                               current_rounding};
        LLVMValueRef part = LLVMBuildCall2(B, signature, function, args, width == 16 ? 5 : 4, "");
        result = result ? append_lanes(v, result, at, part, width) : part;
    }
    unsigned have = LLVMGetVectorSize(LLVMTypeOf(result));
    return have == v->lanes ? result : lanes_of(v, result, have, 0, v->lanes);
}

/* p * 2^n for the integer that lies in `shifted` (see round_of), n up to ±252: in two steps, so
 * that results become infinite or subnormal properly; AVX-512 has an instruction for it. */
static LLVMValueRef scale(const vec *v, LLVMValueRef p, LLVMValueRef n, LLVMValueRef shifted) {
    if (v->has_avx512) return by_register(v, "llvm.x86.avx512.mask.scalef.ps", p, n);
    LLVMValueRef k = LLVMBuildSub(B, as_int(v, shifted), integer(v, 0x4b400000u), "");
    LLVMValueRef half = LLVMBuildAShr(B, k, integer(v, 1), "");
    LLVMValueRef rest = LLVMBuildSub(B, k, half, "");
    return mul(v, mul(v, p, power_of_two(v, half)), power_of_two(v, rest));
}

/* Between lo and hi; NaN stays. */
static LLVMValueRef clamp(const vec *v, LLVMValueRef x, double lo, double hi) {
    x = choose(v, LLVMRealOLT, x, number(v, lo), number(v, lo), x);
    return choose(v, LLVMRealOGT, x, number(v, hi), number(v, hi), x);
}

/* e^r for |r| <= ln 2 / 2, fitted for this degree: within 1.8 * 2^-24 of it, and e^0 is 1. */
static LLVMValueRef exp_core(const vec *v, LLVMValueRef r) {
    static const double c[] = {
        0.008312520255472418, 0.0418901570825555, 0.1666711464969909, 0.4999923149321296, 1.0, 1.0};
    return polynomial(v, r, c, HONE_COUNT(c));
}

static LLVMValueRef exp_of(const vec *v, LLVMValueRef x) {
    LLVMValueRef shifted, bounded = clamp(v, x, -104.0, 89.5);
    LLVMValueRef n = round_of(v, bounded, 1.44269504088896341, &shifted);
    LLVMValueRef r = fma_of(v, n, number(v, -0.693359375), bounded);
    r = fma_of(v, n, number(v, 2.12194440e-4), r);
    return scale(v, exp_core(v, r), n, shifted);
}

static LLVMValueRef exp2_of(const vec *v, LLVMValueRef x) {
    LLVMValueRef shifted, bounded = clamp(v, x, -151.0, 129.0);
    LLVMValueRef n = round_of(v, bounded, 1.0, &shifted);
    LLVMValueRef r = mul(v, sub(v, bounded, n), number(v, 0.693147180559945309));
    return scale(v, exp_core(v, r), n, shifted);
}

static LLVMValueRef log_of(const vec *v, LLVMValueRef x) {
    static const double c[] = {7.0376836292e-2,  -1.1514610310e-1, 1.1676998740e-1,
                               -1.2420140846e-1, 1.4249322787e-1,  -1.6668057665e-1,
                               2.0000714765e-1,  -2.4999993993e-1, 3.3333331174e-1};
    LLVMValueRef smallest = number(v, 1.17549435e-38), zero = number(v, 0);
    LLVMValueRef is_small = LLVMBuildFCmp(B, LLVMRealOLT, x, smallest, "");
    LLVMValueRef big = LLVMBuildSelect(B, is_small, mul(v, x, number(v, 8388608.0)), x, "");
    LLVMValueRef shift = LLVMBuildSelect(B, is_small, number(v, -23), zero, "");
    /* x = 2^e m with sqrt(1/2) <= m < sqrt(2) */
    LLVMValueRef bits = LLVMBuildSub(B, as_int(v, big), integer(v, 0x3f3504f3u), "");
    LLVMValueRef e = LLVMBuildAShr(B, bits, integer(v, 23), "");
    e = add(v, LLVMBuildSIToFP(B, e, v->f, ""), shift);
    LLVMValueRef m = LLVMBuildAnd(B, bits, integer(v, 0x7fffffu), "");
    m = as_float(v, LLVMBuildAdd(B, m, integer(v, 0x3f3504f3u), ""));
    LLVMValueRef f = sub(v, m, number(v, 1)), z = mul(v, f, f);
    LLVMValueRef y = mul(v, mul(v, polynomial(v, f, c, HONE_COUNT(c)), f), z);
    y = fma_of(v, e, number(v, -2.12194440e-4), y);
    y = fma_of(v, z, number(v, -0.5), y);
    y = fma_of(v, e, number(v, 0.693359375), add(v, f, y));
    LLVMValueRef infinity = number(v, __builtin_inf());
    y = choose(v, LLVMRealOEQ, x, infinity, infinity, y);
    y = choose(v, LLVMRealOEQ, x, zero, number(v, -__builtin_inf()), y);
    return choose(v, LLVMRealUGE, x, zero, choose(v, LLVMRealUNO, x, x, x, y),
                  number(v, __builtin_nan("")));
}

/* The size of one thing with the sign of another. */
static LLVMValueRef with_sign(const vec *v, LLVMValueRef size, LLVMValueRef sign) {
    LLVMValueRef args[] = {size, sign};
    return gen_intrinsic(v->g, "llvm.copysign", v->f, args, 2);
}

static LLVMValueRef tanh_of(const vec *v, LLVMValueRef x) {
    static const double c[] = {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                               1.33314422036e-1, -3.33332819422e-1};
    LLVMValueRef size = call1(v, "llvm.fabs", x), z = mul(v, x, x);
    LLVMValueRef small = fma_of(v, mul(v, polynomial(v, z, c, HONE_COUNT(c)), z), x, x);
    LLVMValueRef power = exp_of(v, add(v, size, size));
    LLVMValueRef part = LLVMBuildFDiv(B, number(v, 2), add(v, power, number(v, 1)), "");
    LLVMValueRef large = with_sign(v, sub(v, number(v, 1), part), x);
    return choose(v, LLVMRealOLT, size, number(v, 0.625), small, large);
}

static LLVMValueRef erf_of(const vec *v, LLVMValueRef x) {
    static const double p[] = {-9.673591193859465e-06, 0.00011268253729213029,
                               -0.0008484396385028958, 0.005221053492277861,
                               -0.026865437626838684,  0.11283782869577408,
                               -0.37612637877464294,   1.128379225730896};
    static const double q[] = {-4.986731383382903e-08,  1.8282278233527904e-06,
                               -1.9914408767363057e-05, 0.00013486258103512228,
                               -0.0007330357911996543,  0.003571286564692855,
                               -0.01646493934094906,    -0.9237509965896606,
                               -4.418160915374756,      -5.364941120147705};
    LLVMValueRef size = call1(v, "llvm.fabs", x);
    LLVMValueRef small = mul(v, x, polynomial(v, mul(v, x, x), p, HONE_COUNT(p)));
    LLVMValueRef t = sub(v, clamp(v, size, 0.95, 4.0), number(v, 2));
    LLVMValueRef rest = exp_of(v, polynomial(v, t, q, HONE_COUNT(q)));
    LLVMValueRef large = with_sign(v, sub(v, number(v, 1), rest), x);
    return choose(v, LLVMRealOLT, size, number(v, 1), small, large);
}

LLVMValueRef gen_vector_math(gen *g, hone_intrin intrin, LLVMValueRef x, unsigned lanes) {
    LLVMTypeRef type = LLVMTypeOf(x);
    if (type != gen_vector(g->f32, lanes)) return NULL;
    vec value = {g, type, gen_vector(g->i32, lanes), lanes, false};
    value.has_avx512 = hone_target_has_feature(g->target, "avx512vl") && lanes <= MAX_LANES;
    switch (intrin) {
    case HONE_INTRIN_EXP:
        return exp_of(&value, x);
    case HONE_INTRIN_EXP2:
        return exp2_of(&value, x);
    case HONE_INTRIN_LOG:
        return log_of(&value, x);
    case HONE_INTRIN_TANH:
        return tanh_of(&value, x);
    case HONE_INTRIN_ERF:
        return erf_of(&value, x);
    default:
        return NULL;
    }
}
