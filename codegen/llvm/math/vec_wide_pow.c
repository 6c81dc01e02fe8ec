/* codegen/llvm/math/vec_wide_pow.c - functions of two float64: sums of two doubles on the way.
 *
 * Where a * b + c is not rounded once (x86 without FMA) pow and fmod go to libm. */
#include "codegen/llvm/math/vec_steps.h"

/* hi + lo, lo below half a unit of hi. */
typedef struct two {
    LLVMValueRef hi, lo;
} two;

/* a * b + c, rounded once whatever it costs. */
static LLVMValueRef fused(const vec *v, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    LLVMValueRef args[] = {a, b, c};
    return gen_intrinsic(v->g, "llvm.fma", v->f, args, 3);
}

/* For |a| >= |b|, or a = 0. */
static two sum_of(const vec *v, LLVMValueRef a, LLVMValueRef b, LLVMValueRef lo) {
    LLVMValueRef hi = add(v, a, b);
    return (two){hi, add(v, add(v, sub(v, a, hi), b), lo)};
}

static two product_of(const vec *v, two a, two b) {
    LLVMValueRef hi = mul(v, a.hi, b.hi);
    LLVMValueRef lo = fused(v, a.hi, b.hi, negative(v, hi));
    lo = fma_of(v, a.hi, b.lo, lo);
    return (two){hi, fma_of(v, a.lo, b.hi, lo)};
}

/* (m - 1) / (m + 1); m - 1 is exact. */
static two ratio_of(const vec *v, LLVMValueRef m) {
    LLVMValueRef one = number(v, 1), f = sub(v, m, one), d = add(v, m, one);
    LLVMValueRef lost = sub(v, m, sub(v, d, one)), inverse = quotient(v, one, d);
    LLVMValueRef hi = mul(v, f, inverse), minus = negative(v, hi);
    LLVMValueRef rest = fused(v, minus, lost, fused(v, minus, d, f));
    return (two){hi, mul(v, rest, inverse)};
}

/* log2 of a positive finite number, to 2^-63 of it: 2^e m, the series of the inverse hyperbolic
 * tangent of s = (m - 1) / (m + 1), its terms up to s^3 / 3 in two doubles. */
static two log2_of(const vec *v, LLVMValueRef x) {
    static const double c[] = {0.0645701135847418,  0.06642962328621099, 0.07692787891410022,
                               0.09090904117001572, 0.11111111135592656, 0.14285714285669163,
                               0.20000000000000012};
    LLVMValueRef e, m;
    vec_split(v, x, &e, &m);
    two s = ratio_of(v, m), z = product_of(v, s, s);
    LLVMValueRef tail = mul(v, vec_polynomial(v, z.hi, c, HONE_COUNT(c)), z.hi);
    two third = sum_of(v, number(v, 0.3333333333333333), tail, number(v, 1.850371707708594e-17));
    two w = product_of(v, product_of(v, z, third), s);
    two log = sum_of(v, s.hi, w.hi, add(v, s.lo, w.lo));
    two scale = {number(v, 2.8853900817779268), number(v, 4.0710547481862066e-17)};
    log = product_of(v, log, scale);
    return sum_of(v, e, log.hi, log.lo);
}

LLVMValueRef vec_wide_power(const vec *v, LLVMValueRef size, LLVMValueRef y) {
    if (!v->has_fma) {
        LLVMValueRef args[] = {size, y};
        LLVMValueRef all = is(v, LLVMRealPredicateTrue, size, size);
        return vec_or_libm(v, all, size, "pow", args, 2);
    }
    LLVMValueRef infinity = number(v, __builtin_inf()), none = number(v, 0);
    two log = log2_of(v, size);
    log.hi = choose(v, LLVMRealOEQ, size, none, number(v, -__builtin_inf()), log.hi);
    log.hi = choose(v, LLVMRealOEQ, size, infinity, infinity, log.hi);
    log.hi = choose(v, LLVMRealUNO, size, size, size, log.hi);
    LLVMValueRef t = mul(v, log.hi, y);
    LLVMValueRef lost = fused(v, log.lo, y, fused(v, log.hi, y, negative(v, t)));
    LLVMValueRef is_far = is(v, LLVMRealUGE, size_of(v, t), number(v, 1100));
    lost = pick(v, is_far, none, lost);
    t = vec_clamp(v, t, -1100.0, 1100.0);
    LLVMValueRef shifted, n = vec_round(v, t, 1.0, &shifted);
    LLVMValueRef r = add(v, sub(v, t, n), lost);
    return vec_scale(v, vec_wide_exp2(v, r), n, shifted);
}

/* The larger one times sqrt(1 + t^2), t what the smaller one is of it. */
LLVMValueRef vec_wide_hypot(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef a = size_of(v, x), b = size_of(v, y), one = number(v, 1), zero = number(v, 0);
    LLVMValueRef is_steep = is(v, LLVMRealOGT, b, a), infinity = number(v, __builtin_inf());
    LLVMValueRef large = pick(v, is_steep, b, a), small = pick(v, is_steep, a, b);
    LLVMValueRef t = quotient(v, small, choose(v, LLVMRealOEQ, large, zero, one, large));
    LLVMValueRef root = mul(v, large, root_of(v, fma_of(v, t, t, one)));
    root = choose(v, LLVMRealOEQ, a, infinity, infinity, root);
    return choose(v, LLVMRealOEQ, b, infinity, infinity, root);
}

/* While the quotient is below 2^52 it misses by one at most, and what is left is exact. */
LLVMValueRef vec_wide_fmod(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef a = size_of(v, x), b = size_of(v, y), args[] = {x, y};
    LLVMValueRef near = quotient(v, a, b), whole = call1(v, "llvm.trunc", near);
    LLVMValueRef rest = fma_of(v, negative(v, whole), b, a);
    rest = choose(v, LLVMRealOLT, rest, number(v, 0), add(v, rest, b), rest);
    rest = choose(v, LLVMRealOLT, a, b, a, rest);
    double limit = v->has_fma ? 4503599627370496.0 : 0.0;
    LLVMValueRef is_bad = is(v, LLVMRealUGE, near, number(v, limit));
    return vec_or_libm(v, is_bad, with_sign(v, rest, x), "fmod", args, 2);
}
