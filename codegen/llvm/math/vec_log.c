/* codegen/llvm/math/vec_log.c - logarithms and what is made of them.
 *
 * log(2^e m) with sqrt(1/2) <= m < sqrt(2): the polynomial of Cephes in f = m - 1, and e ln 2 in
 * two parts. Exact where the result is (log2 of powers of two). */
#include "codegen/llvm/math/vec_steps.h"

#define B (v->g->builder)

#define LN2 0.693147180559945309

/* The exponent is made a number by its bits: few CPUs convert 64-bit integers. */
static void wide_split(const vec *v, LLVMValueRef x, LLVMValueRef *out_e, LLVMValueRef *out_m) {
    const uint64_t least = 0x3fe6a09e667f3bcdu, bias = 0x3ff0000000000000u; /* sqrt(1/2), 1 */
    LLVMValueRef is_small = is(v, LLVMRealOLT, x, number(v, 0x1p-1022));
    LLVMValueRef big = pick(v, is_small, mul(v, x, number(v, 0x1p54)), x);
    LLVMValueRef bits = LLVMBuildAdd(B, as_int(v, big), integer(v, bias - least), "");
    LLVMValueRef e = LLVMBuildLShr(B, bits, integer(v, 52), "");
    e = as_float(v, LLVMBuildOr(B, e, integer(v, 0x4330000000000000u), "")); /* 2^52 + e */
    LLVMValueRef zero = pick(v, is_small, number(v, 0x1p52 + 1023 + 54), number(v, 0x1p52 + 1023));
    *out_e = sub(v, e, zero);
    LLVMValueRef m = LLVMBuildAnd(B, bits, integer(v, 0xfffffffffffffu), "");
    *out_m = as_float(v, LLVMBuildAdd(B, m, integer(v, least), ""));
}

void vec_split(const vec *v, LLVMValueRef x, LLVMValueRef *out_e, LLVMValueRef *out_m) {
    if (v->is_wide) {
        wide_split(v, x, out_e, out_m);
        return;
    }
    LLVMValueRef is_small = is(v, LLVMRealOLT, x, number(v, 1.17549435e-38));
    LLVMValueRef big = pick(v, is_small, mul(v, x, number(v, 8388608.0)), x);
    LLVMValueRef shift = pick(v, is_small, number(v, -23), number(v, 0));
    LLVMValueRef bits = LLVMBuildSub(B, as_int(v, big), integer(v, 0x3f3504f3u), "");
    LLVMValueRef e = LLVMBuildAShr(B, bits, integer(v, 23), "");
    *out_e = add(v, LLVMBuildSIToFP(B, e, v->f, ""), shift);
    LLVMValueRef m = LLVMBuildAnd(B, bits, integer(v, 0x7fffffu), "");
    *out_m = as_float(v, LLVMBuildAdd(B, m, integer(v, 0x3f3504f3u), ""));
}

/* f^3 P(f), what log(1 + f) has beside f - f^2 / 2. */
static LLVMValueRef log_rest(const vec *v, LLVMValueRef f, LLVMValueRef z) {
    static const double c[] = {7.0376836292e-2,  -1.1514610310e-1, 1.1676998740e-1,
                               -1.2420140846e-1, 1.4249322787e-1,  -1.6668057665e-1,
                               2.0000714765e-1,  -2.4999993993e-1, 3.3333331174e-1};
    if (v->is_wide) return vec_wide_log_rest(v, f, z);
    return mul(v, mul(v, vec_polynomial(v, f, c, HONE_COUNT(c)), f), z);
}

/* log(2^e (1 + f)) + extra; extra may be NULL. */
static LLVMValueRef log_sum(const vec *v, LLVMValueRef e, LLVMValueRef f, LLVMValueRef extra) {
    LLVMValueRef z = mul(v, f, f), y = log_rest(v, f, z);
    y = fma_of(v, e, number(v, by_width(v, -2.12194440e-4, 7.371002565167799e-13)), y);
    if (extra) y = add(v, y, extra);
    y = fma_of(v, z, number(v, -0.5), y);
    return fma_of(v, e, number(v, by_width(v, 0.693359375, 0.6931471805592082)), add(v, f, y));
}

/* What a logarithm is at infinity, 0, below 0 and of NaN. */
static LLVMValueRef with_specials(const vec *v, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef infinity = number(v, __builtin_inf()), zero = number(v, 0);
    y = choose(v, LLVMRealOEQ, x, infinity, infinity, y);
    y = choose(v, LLVMRealOEQ, x, zero, number(v, -__builtin_inf()), y);
    return choose(v, LLVMRealUGE, x, zero, choose(v, LLVMRealUNO, x, x, x, y),
                  number(v, __builtin_nan("")));
}

LLVMValueRef vec_log(const vec *v, LLVMValueRef x) {
    LLVMValueRef e, m;
    vec_split(v, x, &e, &m);
    return with_specials(v, x, log_sum(v, e, sub(v, m, number(v, 1)), NULL));
}

/* log(m), and e. */
static LLVMValueRef log_of_fraction(const vec *v, LLVMValueRef x, LLVMValueRef *out_e) {
    LLVMValueRef m;
    vec_split(v, x, out_e, &m);
    LLVMValueRef f = sub(v, m, number(v, 1)), z = mul(v, f, f);
    return add(v, f, fma_of(v, z, number(v, -0.5), log_rest(v, f, z)));
}

LLVMValueRef vec_log2(const vec *v, LLVMValueRef x) {
    LLVMValueRef e, y = log_of_fraction(v, x, &e);
    return with_specials(v, x, fma_of(v, y, number(v, 1.44269504088896341), e));
}

LLVMValueRef vec_log10(const vec *v, LLVMValueRef x) {
    LLVMValueRef e, y = log_of_fraction(v, x, &e);
    y = fma_of(v, e, number(v, by_width(v, 2.48745663981195213739e-4, 8.241712586023572e-13)),
               mul(v, y, number(v, 0.434294481903251828)));
    y = fma_of(v, e, number(v, by_width(v, 0.30078125, 0.301029995663157)), y);
    return with_specials(v, x, y);
}

/* With u = 1 + x, rounded: log(u) + c / u where c is what the rounding took away; near 0 (e = 0),
 * where that would cost digits, x itself is f. */
LLVMValueRef vec_log1p(const vec *v, LLVMValueRef x) {
    LLVMValueRef one = number(v, 1), zero = number(v, 0), e, m;
    LLVMValueRef u = add(v, one, x);
    vec_split(v, u, &e, &m);
    LLVMValueRef of_large = sub(v, one, sub(v, u, x)), of_small = sub(v, x, sub(v, u, one));
    LLVMValueRef lost = choose(v, LLVMRealOGT, x, one, of_large, of_small);
    LLVMValueRef is_near = is(v, LLVMRealOEQ, e, zero);
    LLVMValueRef f = pick(v, is_near, x, sub(v, m, one));
    LLVMValueRef extra = pick(v, is_near, zero, quotient(v, lost, u));
    LLVMValueRef y = with_specials(v, u, log_sum(v, e, f, extra));
    return choose(v, LLVMRealOEQ, x, zero, x, y);
}

/* Behind these the functions below are log(2 x), and 1 + x is x. */
#define HUGE_SIZE by_width(v, 0x1p28, 0x1p60)

/* log(1 + t), or log(2 size) where size is huge. */
static LLVMValueRef log1p_or_huge(const vec *v, LLVMValueRef size, LLVMValueRef t) {
    LLVMValueRef is_huge = is(v, LLVMRealOGT, size, number(v, HUGE_SIZE));
    LLVMValueRef y = vec_log1p(v, pick(v, is_huge, size, t));
    return add(v, y, pick(v, is_huge, number(v, LN2), number(v, 0)));
}

/* log(|x| + sqrt(x^2 + 1)) as log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1))). */
LLVMValueRef vec_asinh(const vec *v, LLVMValueRef x) {
    LLVMValueRef size = size_of(v, x), one = number(v, 1), z = mul(v, size, size);
    LLVMValueRef below = add(v, one, root_of(v, add(v, z, one)));
    LLVMValueRef y = log1p_or_huge(v, size, add(v, size, quotient(v, z, below)));
    return with_sign(v, y, x);
}

/* log(x + sqrt(x^2 - 1)) with t = x - 1. */
LLVMValueRef vec_acosh(const vec *v, LLVMValueRef x) {
    LLVMValueRef one = number(v, 1), t = sub(v, x, one);
    LLVMValueRef root = root_of(v, fma_of(v, t, t, add(v, t, t)));
    LLVMValueRef y = log1p_or_huge(v, x, add(v, t, root));
    return choose(v, LLVMRealOLT, x, one, number(v, __builtin_nan("")), y);
}

LLVMValueRef vec_atanh(const vec *v, LLVMValueRef x) {
    LLVMValueRef size = size_of(v, x);
    LLVMValueRef t = quotient(v, add(v, size, size), sub(v, number(v, 1), size));
    return with_sign(v, mul(v, vec_log1p(v, t), number(v, 0.5)), x);
}
