/* codegen/llvm/vec_pow.c - functions of two float32 that need more digits on the way: in double.
 * Those of two float64 are in vec_wide_pow.c. */
#include "codegen/llvm/vec_steps.h"

#define B (v->g->builder)

static LLVMValueRef widen(const vec *d, LLVMValueRef x) {
    return LLVMBuildFPExt(d->g->builder, x, d->f, "");
}
static LLVMValueRef narrow(const vec *v, LLVMValueRef x) {
    return LLVMBuildFPTrunc(B, x, v->f, "");
}

/* log2 of a positive finite float, to 2^-38 of it: 2^e m with s = (m - 1) / (m + 1), and the series
 * of the inverse hyperbolic tangent, |s| < 0.172. */
static LLVMValueRef log2_wide(const vec *v, const vec *d, LLVMValueRef x) {
    static const double c[] = {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0};
    LLVMValueRef e, m, one = number(d, 1);
    vec_split(v, x, &e, &m);
    m = widen(d, m);
    LLVMValueRef s = quotient(d, sub(d, m, one), add(d, m, one)), z = mul(d, s, s);
    LLVMValueRef series = mul(d, vec_polynomial(d, z, c, HONE_COUNT(c)), s);
    return fma_of(d, series, number(d, 2.88539008177792681), widen(d, e));
}

/* 2^t, t wide; NaN stays. */
static LLVMValueRef exp2_wide(const vec *v, const vec *d, LLVMValueRef t) {
    t = vec_clamp(d, t, -160.0, 130.0);
    LLVMValueRef shift = number(d, 6755399441055744.0); /* 1.5 * 2^52 */
    LLVMValueRef n = sub(d, add(d, t, shift), shift);
    LLVMValueRef p = vec_exp2_core(v, narrow(v, sub(d, t, n)));
    n = narrow(v, n);
    return vec_scale(v, p, n, add(v, n, number(v, 12582912.0)));
}

/* |x|^y, but for 1^y and x^0. */
static LLVMValueRef power_of_size(const vec *v, LLVMValueRef size, LLVMValueRef y) {
    if (v->is_wide) return vec_wide_power(v, size, y);
    const vec d = vec_in_double(v);
    LLVMValueRef infinity = number(&d, __builtin_inf()), wide = widen(&d, size);
    LLVMValueRef log = log2_wide(v, &d, size);
    log = choose(v, LLVMRealOEQ, size, number(v, 0), number(&d, -__builtin_inf()), log);
    log = choose(v, LLVMRealOEQ, size, number(v, __builtin_inf()), infinity, log);
    log = choose(v, LLVMRealUNO, size, size, wide, log);
    return exp2_wide(v, &d, mul(&d, log, widen(&d, y)));
}

/* Whether it is an integer; infinities are, NaN is not. */
static LLVMValueRef is_whole(const vec *v, LLVMValueRef x) {
    return is(v, LLVMRealOEQ, call1(v, "llvm.trunc", x), x);
}

LLVMValueRef vec_pow(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef one = number(v, 1), zero = number(v, 0), size = size_of(v, x);
    LLVMValueRef result = power_of_size(v, size, y);
    result = choose(v, LLVMRealOEQ, size, one, one, result);
    LLVMValueRef is_integer = is_whole(v, y), half = mul(v, y, number(v, 0.5));
    LLVMValueRef is_odd = both(v, is_integer, LLVMBuildNot(B, is_whole(v, half), ""));
    result = pick(v, is_odd, with_sign(v, result, x), result);
    LLVMValueRef is_below =
        both(v, is(v, LLVMRealOLT, x, zero), is(v, LLVMRealONE, size, number(v, __builtin_inf())));
    LLVMValueRef has_none = both(v, is_below, LLVMBuildNot(B, is_integer, ""));
    result = pick(v, has_none, number(v, __builtin_nan("")), result);
    /* whatever the other one is, NaN included */
    result = choose(v, LLVMRealOEQ, x, one, one, result);
    return choose(v, LLVMRealOEQ, y, zero, one, result);
}

LLVMValueRef vec_hypot(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    if (v->is_wide) return vec_wide_hypot(v, x, y);
    const vec d = vec_in_double(v);
    LLVMValueRef a = widen(&d, x), b = widen(&d, y), infinity = number(v, __builtin_inf());
    LLVMValueRef root = narrow(v, root_of(&d, fma_of(&d, a, a, mul(&d, b, b))));
    root = choose(v, LLVMRealOEQ, size_of(v, x), infinity, infinity, root);
    return choose(v, LLVMRealOEQ, size_of(v, y), infinity, infinity, root);
}

/* While the quotient has at most 28 bits its product with y is exact. */
LLVMValueRef vec_fmod(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    if (v->is_wide) return vec_wide_fmod(v, x, y);
    const vec d = vec_in_double(v);
    LLVMValueRef a = widen(&d, size_of(v, x)), b = widen(&d, size_of(v, y));
    LLVMValueRef exact = quotient(&d, a, b), whole = call1(&d, "llvm.trunc", exact);
    LLVMValueRef rest = fma_of(&d, negative(&d, whole), b, a);
    rest = choose(&d, LLVMRealOLT, rest, number(&d, 0), add(&d, rest, b), rest);
    rest = choose(&d, LLVMRealOLT, a, b, a, rest);
    LLVMValueRef is_bad = is(&d, LLVMRealUGE, exact, number(&d, 268435456.0));
    LLVMValueRef args[] = {x, y};
    return vec_or_libm(v, is_bad, with_sign(v, narrow(v, rest), x), "fmod", args, 2);
}
