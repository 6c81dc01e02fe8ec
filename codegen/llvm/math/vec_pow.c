/* codegen/llvm/math/vec_pow.c - functions of two float32 that need more digits on the way: in
 * double. Those of two float64 are in vec_wide_pow.c. */
#include "codegen/llvm/math/vec_steps.h"

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

/* The number that all lanes are. */
static bool is_number(const vec *v, LLVMValueRef y, double *out) {
    LLVMBool is_rounded;
    for (unsigned lane = 0; lane < v->lanes; lane++) {
        LLVMValueRef c = y;
        if (LLVMGetTypeKind(LLVMTypeOf(y)) == LLVMVectorTypeKind) {
            c = LLVMIsConstant(y) ? LLVMGetAggregateElement(y, lane) : NULL;
        }
        if (!c || !LLVMIsAConstantFP(c)) return false;
        double value = LLVMConstRealGetDouble(c, &is_rounded);
        if (lane && value != *out) return false;
        *out = value;
    }
    return true;
}

/* x^y for small multiples of a quarter: roots and products, within 3 units in the last place. The
 * roots of -0 and of -infinity are those of 0 and of infinity here. NULL: another y, or one by
 * which something between would be subnormal where the result is not. */
static LLVMValueRef power_by_number(const vec *v, LLVMValueRef x, double y) {
    double size = y < 0 ? -y : y;
    bool is_whole = size == 1 || size == 2 || size == 3 || size == 4;
    bool is_root = size == 0.25 || size == 0.5 || size == 0.75 || size == 1.5;
    if ((!is_whole && !is_root) || y < -1) return NULL;
    LLVMValueRef factor = x;
    if (is_root) {
        LLVMValueRef infinity = number(v, __builtin_inf());
        factor = add(v, root_of(v, x), number(v, 0));
        factor = choose(v, LLVMRealOEQ, x, number(v, -__builtin_inf()), infinity, factor);
    }
    LLVMValueRef result = factor;
    if (size == 0.25) result = root_of(v, factor);
    if (size == 0.75) result = mul(v, factor, root_of(v, factor));
    if (size == 2 || size == 3 || size == 1.5 || size == 4) result = mul(v, factor, factor);
    if (size == 3 || size == 1.5) result = mul(v, result, factor);
    if (size == 4) result = mul(v, result, result);
    return y < 0 ? quotient(v, number(v, 1), result) : result;
}

LLVMValueRef vec_pow(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    double exponent;
    LLVMValueRef short_way = is_number(v, y, &exponent) ? power_by_number(v, x, exponent) : NULL;
    if (short_way) return short_way;
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
