/* codegen/llvm/vecmath.c - exp, exp2, log, tanh, erf and sigmoid in float32, on whole vectors.
 *
 * Range reduction and a polynomial, no calls, no tables; within 4 units in the last place of the
 * correctly rounded result, special values as libm has them (tested against it). exp and log use
 * the classic reductions by ln 2 in two parts. Coefficients were fitted for this file (reweighted
 * least squares towards the smallest largest error): exp and 2^r of the lowest degree that serves;
 * erf is x * P(x^2) up to 0.84, behind that 1 - 2^Q(|x| - 2) with Q close to log2(erfc).
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

static LLVMValueRef pick(const vec *v, LLVMValueRef a, LLVMValueRef b, unsigned have,
                         unsigned start, unsigned count) {
    LLVMValueRef picks[MAX_LANES + 16];
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = start + i;
        picks[i] = lane < have ? gen_i32(v->g, (int32_t)lane) : LLVMGetPoison(v->g->i32);
    }
    return LLVMBuildShuffleVector(B, a, b, LLVMConstVector(picks, count), "");
}

/* `count` lanes of x (a scalar: one) from `start` on; lanes that x does not have are poison. */
static LLVMValueRef lanes_of(const vec *v, LLVMValueRef x, unsigned start, unsigned count) {
    if (v->lanes == 1) {
        LLVMValueRef none = LLVMGetPoison(LLVMVectorType(v->g->f32, count));
        return LLVMBuildInsertElement(B, none, x, gen_i32(v->g, 0), "");
    }
    return pick(v, x, LLVMGetPoison(LLVMTypeOf(x)), v->lanes, start, count);
}

/* The `have` lanes of a, then those of b. */
static LLVMValueRef append_lanes(const vec *v, LLVMValueRef a, unsigned have, LLVMValueRef b,
                                 unsigned count) {
    if (have > count) b = pick(v, b, LLVMGetPoison(LLVMTypeOf(b)), count, 0, have);
    return pick(v, a, b, have + count, 0, have + count);
}

/* The lanes of the value that x began with, as a scalar when that was one. */
static LLVMValueRef lanes_of_all(const vec *v, LLVMValueRef x) {
    if (v->lanes == 1) return LLVMBuildExtractElement(B, x, gen_i32(v->g, 0), "");
    if (LLVMGetVectorSize(LLVMTypeOf(x)) == v->lanes) return x;
    return pick(v, x, LLVMGetPoison(LLVMTypeOf(x)), v->lanes, 0, v->lanes);
}

/* What an AVX-512 instruction on registers of 4, 8 or 16 floats makes of x (and y, unless NULL):
 * `name` ends with their bits, behind the operands come what masked lanes keep, the mask, and for
 * whole registers perhaps how to round. */
static LLVMValueRef by_register(const vec *v, const char *name, LLVMValueRef x, LLVMValueRef y) {
    unsigned widest = v->g->target->vector_bits >= 512 ? 16 : 8, width = 4;
    while (width < v->lanes && width < widest)
        width *= 2;
    char full[64];
    snprintf(full, sizeof full, "%s.%u", name, width * 32);
    unsigned id = LLVMLookupIntrinsicID(full, strlen(full));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(v->g->module, id, NULL, 0);
    LLVMTypeRef signature = LLVMIntrinsicGetType(v->g->context, id, NULL, 0);
    LLVMTypeRef type = LLVMVectorType(v->g->f32, width);
    LLVMValueRef result = NULL;
    for (unsigned at = 0; at < v->lanes; at += width) {
        LLVMValueRef args[5];
        unsigned count = 0;
        args[count++] = lanes_of(v, x, at, width);
        if (y) args[count++] = lanes_of(v, y, at, width);
        args[count++] = LLVMConstNull(type);
        args[count++] = LLVMConstAllOnes(width == 16 ? v->g->i16 : v->g->i8);
        if (count < LLVMCountParamTypes(signature)) args[count++] = gen_i32(v->g, 4); /* as set */
        LLVMValueRef part = LLVMBuildCall2(B, signature, function, args, count, "");
        result = result ? append_lanes(v, result, at, part, width) : part;
    }
    return lanes_of_all(v, result);
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

/* The same where the result is a normal number: one addition to the exponent. What becomes of NaN
 * is undefined. */
static LLVMValueRef scale_normal(const vec *v, LLVMValueRef p, LLVMValueRef n,
                                 LLVMValueRef shifted) {
    if (v->has_avx512) return scale(v, p, n, shifted);
    LLVMValueRef raise = LLVMBuildShl(B, as_int(v, shifted), integer(v, 23), "");
    return as_float(v, LLVMBuildAdd(B, as_int(v, p), raise, ""));
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

/* e^x for x from -104 to 89.5, or NaN. */
static LLVMValueRef exp_within(const vec *v, LLVMValueRef x) {
    LLVMValueRef shifted, n = round_of(v, x, 1.44269504088896341, &shifted);
    LLVMValueRef r = fma_of(v, n, number(v, -0.693359375), x);
    r = fma_of(v, n, number(v, 2.12194440e-4), r);
    return scale(v, exp_core(v, r), n, shifted);
}

static LLVMValueRef exp_of(const vec *v, LLVMValueRef x) {
    return exp_within(v, clamp(v, x, -104.0, 89.5));
}

/* 2^r for |r| <= 1/2, fitted like exp_core. */
static LLVMValueRef exp2_core(const vec *v, LLVMValueRef r) {
    static const double c[] = {0.0013264700009346, 0.009671534317731429, 0.055507340042426835,
                               0.240222417543478,  0.693146977352075,    1.0};
    return polynomial(v, r, c, HONE_COUNT(c));
}

/* 2^x for x from -151 to 129, or NaN. */
static LLVMValueRef exp2_within(const vec *v, LLVMValueRef x) {
    LLVMValueRef shifted, n = round_of(v, x, 1.0, &shifted);
    return scale(v, exp2_core(v, sub(v, x, n)), n, shifted);
}

static LLVMValueRef exp2_of(const vec *v, LLVMValueRef x) {
    return exp2_within(v, clamp(v, x, -151.0, 129.0));
}

/* a / b for b from 1 to 2 and a from 0 to 2, the last bit perhaps wrong: an approximation and two
 * corrections take half the time of a division where there is an instruction for the first. */
static LLVMValueRef quotient(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    if (!v->has_avx512) return LLVMBuildFDiv(B, a, b, "");
    LLVMValueRef minus = LLVMBuildFNeg(B, b, "");
    LLVMValueRef inverse = by_register(v, "llvm.x86.avx512.rcp14.ps", b, NULL);
    inverse = fma_of(v, inverse, fma_of(v, minus, inverse, number(v, 1)), inverse);
    LLVMValueRef first = mul(v, a, inverse);
    return fma_of(v, fma_of(v, minus, first, a), inverse, first);
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

static LLVMValueRef at_most(const vec *v, LLVMValueRef x, double hi) {
    return choose(v, LLVMRealOGT, x, number(v, hi), number(v, hi), x);
}

/* An odd polynomial near 0; behind that (1 - e) / (1 + e) with e = exp(-2 |x|). */
static LLVMValueRef tanh_of(const vec *v, LLVMValueRef x) {
    static const double c[] = {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                               1.33314422036e-1, -3.33332819422e-1};
    LLVMValueRef size = call1(v, "llvm.fabs", x), z = mul(v, x, x), one = number(v, 1), shifted;
    LLVMValueRef small = fma_of(v, mul(v, polynomial(v, z, c, HONE_COUNT(c)), z), x, x);
    LLVMValueRef bounded = at_most(v, size, 9.5), log2 = number(v, -2.88539008177792681);
    LLVMValueRef n = round_of(v, bounded, -2.88539008177792681, &shifted);
    LLVMValueRef r = fma_of(v, bounded, log2, LLVMBuildFNeg(B, n, ""));
    LLVMValueRef e = scale_normal(v, exp2_core(v, r), n, shifted);
    LLVMValueRef large = quotient(v, sub(v, one, e), add(v, one, e));
    return choose(v, LLVMRealOGE, size, number(v, 0.625), with_sign(v, large, x), small);
}

static LLVMValueRef erf_of(const vec *v, LLVMValueRef x) {
    static const double p[] = {-0.0006359560675169147, 0.005058301565646861, -0.026806598739635177,
                               0.112828092263918,      -0.3761257901346168,  1.1283791611112932};
    static const double q[] = {-0.0018960098412577466, 0.004202545189551101, -0.024011484345508226,
                               -1.332534968198899,     -6.373975477206793,   -7.739967434597478};
    LLVMValueRef size = call1(v, "llvm.fabs", x);
    LLVMValueRef small = mul(v, x, polynomial(v, mul(v, x, x), p, HONE_COUNT(p)));
    LLVMValueRef t = sub(v, at_most(v, size, 3.95), number(v, 2));
    LLVMValueRef shifted, power = polynomial(v, t, q, HONE_COUNT(q));
    LLVMValueRef n = round_of(v, power, 1.0, &shifted);
    LLVMValueRef rest = scale_normal(v, exp2_core(v, sub(v, power, n)), n, shifted);
    LLVMValueRef large = with_sign(v, sub(v, number(v, 1), rest), x);
    return choose(v, LLVMRealOGE, size, number(v, 0.84), large, small);
}

/* 1 / (1 + exp(-x)), by e = exp(-|x|), so that small results keep their digits. */
static LLVMValueRef sigmoid_of(const vec *v, LLVMValueRef x) {
    LLVMValueRef size = at_most(v, call1(v, "llvm.fabs", x), 104.0), one = number(v, 1);
    LLVMValueRef e = exp_within(v, LLVMBuildFNeg(B, size, ""));
    LLVMValueRef above = choose(v, LLVMRealOLT, x, number(v, 0), e, one);
    return quotient(v, above, add(v, one, e));
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
    case HONE_INTRIN_SIGMOID:
        return sigmoid_of(&value, x);
    default:
        return NULL;
    }
}
