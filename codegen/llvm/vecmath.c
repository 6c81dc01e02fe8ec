/* codegen/llvm/vecmath.c - exp, exp2, log, tanh and erf in float32, on whole vectors.
 *
 * Range reduction and a polynomial, no calls, no tables; within 4 units in the last place of the
 * correctly rounded result, special values as libm has them (tested against it). exp and log use
 * the classic reductions by ln 2 in two parts; the coefficients of erf were fitted for this file
 * (Chebyshev nodes): x * P(x^2) up to 1, behind that 1 - exp(Q(|x| - 2)) with Q close to log(erfc).
 * Scalars take the same way, so vectorising a loop does not change its numbers. */
#include "codegen/llvm/gen.h"

#include "support/attributes.h"

typedef struct vec {
    gen *g;
    LLVMTypeRef f, i; /* float and i32, times lanes */
    unsigned lanes;
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

/* 2^n for an integer vector with -126 <= n <= 127. */
static LLVMValueRef power_of_two(const vec *v, LLVMValueRef n) {
    LLVMValueRef biased = LLVMBuildAdd(B, n, integer(v, 127), "");
    return as_float(v, LLVMBuildShl(B, biased, integer(v, 23), ""));
}

/* p * 2^n, n up to ±252: in two steps, so that results become infinite or subnormal properly. */
static LLVMValueRef scale(const vec *v, LLVMValueRef p, LLVMValueRef n) {
    LLVMValueRef half = LLVMBuildAShr(B, n, integer(v, 1), "");
    LLVMValueRef rest = LLVMBuildSub(B, n, half, "");
    return mul(v, mul(v, p, power_of_two(v, half)), power_of_two(v, rest));
}

/* Between lo and hi; NaN stays. */
static LLVMValueRef clamp(const vec *v, LLVMValueRef x, double lo, double hi) {
    x = choose(v, LLVMRealOLT, x, number(v, lo), number(v, lo), x);
    return choose(v, LLVMRealOGT, x, number(v, hi), number(v, hi), x);
}

/* e^r for |r| <= ln 2 / 2. */
static LLVMValueRef exp_core(const vec *v, LLVMValueRef r) {
    static const double c[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                               4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};
    LLVMValueRef y = polynomial(v, r, c, HONE_COUNT(c));
    return add(v, fma_of(v, y, mul(v, r, r), r), number(v, 1));
}

/* NaN must not reach the conversion to an integer; its own path puts it back. */
static LLVMValueRef to_int(const vec *v, LLVMValueRef x) {
    LLVMValueRef safe = choose(v, LLVMRealUNO, x, x, number(v, 0), x);
    return LLVMBuildFPToSI(B, safe, v->i, "");
}

static LLVMValueRef exp_of(const vec *v, LLVMValueRef x) {
    LLVMValueRef bounded = clamp(v, x, -104.0, 89.5);
    LLVMValueRef n = call1(v, "llvm.nearbyint", mul(v, bounded, number(v, 1.44269504088896341)));
    LLVMValueRef r = fma_of(v, n, number(v, -0.693359375), bounded);
    r = fma_of(v, n, number(v, 2.12194440e-4), r);
    return scale(v, exp_core(v, r), to_int(v, n));
}

static LLVMValueRef exp2_of(const vec *v, LLVMValueRef x) {
    LLVMValueRef bounded = clamp(v, x, -151.0, 129.0);
    LLVMValueRef n = call1(v, "llvm.nearbyint", bounded);
    LLVMValueRef r = mul(v, sub(v, bounded, n), number(v, 0.693147180559945309));
    return scale(v, exp_core(v, r), to_int(v, n));
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
    vec value = {g, type, gen_vector(g->i32, lanes), lanes};
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
