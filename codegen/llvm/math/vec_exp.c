/* codegen/llvm/math/vec_exp.c - e^x and what is made of it.
 *
 * The classic reduction by ln 2 in two parts. Coefficients were fitted for this file (reweighted
 * least squares towards the smallest largest error), those of exp and 2^r of the lowest degree that
 * serves; sinh near 0 is that of Cephes. */
#include "codegen/llvm/math/vec_steps.h"

/* ln 2 for doubles: products of the first part, which has 40 bits, are exact. */
#define LN2_HI 0.6931471805592082
#define LN2_LO 7.371002565167799e-13

/* e^r for |r| <= ln 2 / 2, fitted for this degree: within 1.8 * 2^-24 of it, and e^0 is 1. */
static LLVMValueRef exp_core(const vec *v, LLVMValueRef r) {
    if (v->is_wide) return vec_wide_exp(v, r);
    static const double c[] = {
        0.008312520255472418, 0.0418901570825555, 0.1666711464969909, 0.4999923149321296, 1.0, 1.0};
    return vec_polynomial(v, r, c, HONE_COUNT(c));
}

/* x = n ln 2 + r; gives e^r. */
static LLVMValueRef exp_reduced(const vec *v, LLVMValueRef x, LLVMValueRef *out_n,
                                LLVMValueRef *out_shifted) {
    LLVMValueRef n = vec_round(v, x, 1.44269504088896341, out_shifted);
    LLVMValueRef r = fma_of(v, n, number(v, by_width(v, -0.693359375, -LN2_HI)), x);
    *out_n = n;
    return exp_core(v, fma_of(v, n, number(v, by_width(v, 2.12194440e-4, -LN2_LO)), r));
}

/* e^x for x from -104 to 89.5 (-746 to 710.5), or NaN. */
static LLVMValueRef exp_within(const vec *v, LLVMValueRef x) {
    LLVMValueRef n, shifted, p = exp_reduced(v, x, &n, &shifted);
    return vec_scale(v, p, n, shifted);
}

/* By AVX-512: x as it comes. What is far away, or no number, gives an r that makes no sense; it is
 * kept small, and n decides alone. */
static LLVMValueRef exp_of_any(const vec *v, LLVMValueRef x) {
    LLVMValueRef n = call1(v, "llvm.nearbyint", mul(v, x, number(v, 1.44269504088896341)));
    LLVMValueRef r = fma_of(v, n, number(v, -0.693359375), x);
    r = vec_within_1(v, fma_of(v, n, number(v, 2.12194440e-4), r));
    return vec_scale(v, exp_core(v, r), n, NULL);
}

LLVMValueRef vec_exp(const vec *v, LLVMValueRef x) {
    if (v->has_avx512) return exp_of_any(v, x);
    return exp_within(v, vec_clamp(v, x, by_width(v, -104, -746), by_width(v, 89.5, 710.5)));
}

/* Fitted like exp_core. */
LLVMValueRef vec_exp2_core(const vec *v, LLVMValueRef r) {
    if (v->is_wide) return vec_wide_exp2(v, r);
    static const double c[] = {0.0013264700009346, 0.009671534317731429, 0.055507340042426835,
                               0.240222417543478,  0.693146977352075,    1.0};
    return vec_polynomial(v, r, c, HONE_COUNT(c));
}

LLVMValueRef vec_exp2(const vec *v, LLVMValueRef x) {
    const char *name = v->g->is_relaxed ? "llvm.nvvm.ex2.approx.ftz.f" : "llvm.nvvm.ex2.approx.f";
    if (v->has_ex2) return gen_intrinsic_of(v->g, name, NULL, 0, &x, 1);
    x = vec_clamp(v, x, by_width(v, -151, -1076), by_width(v, 129, 1025));
    LLVMValueRef shifted, n = vec_round(v, x, 1.0, &shifted);
    return vec_scale(v, vec_exp2_core(v, sub(v, x, n)), n, shifted);
}

/* x = n log10(2) + r, the first part of log10(2) in so few bits that products with n are exact. */
LLVMValueRef vec_exp10(const vec *v, LLVMValueRef x) {
    x = vec_clamp(v, x, by_width(v, -46, -324.5), by_width(v, 39, 309));
    LLVMValueRef shifted, n = vec_round(v, x, 3.32192809488736235, &shifted);
    LLVMValueRef r = fma_of(v, n, number(v, by_width(v, -0.30078125, -0.301029995663157)), x);
    double rest = by_width(v, -2.48745663981195213739e-4, -8.241712586023572e-13);
    r = fma_of(v, n, number(v, rest), r);
    return vec_scale(v, exp_core(v, mul(v, r, number(v, 2.30258509299404568))), n, shifted);
}

/* e^|x| / 2, which is finite where sinh and cosh are. */
static LLVMValueRef half_exp(const vec *v, LLVMValueRef size) {
    LLVMValueRef n, shifted, one = number(v, 1);
    LLVMValueRef p = exp_reduced(v, vec_at_most(v, size, by_width(v, 90.5, 711.5)), &n, &shifted);
    return vec_scale(v, p, sub(v, n, one), sub(v, shifted, one));
}

LLVMValueRef vec_sinh(const vec *v, LLVMValueRef x) {
    static const double c[] = {2.03721912945e-4, 8.33028376239e-3, 1.66667160211e-1};
    LLVMValueRef size = size_of(v, x), z = mul(v, x, x), half = half_exp(v, size);
    LLVMValueRef p = v->is_wide ? vec_wide_sinh(v, z) : vec_polynomial(v, z, c, HONE_COUNT(c));
    LLVMValueRef small = fma_of(v, mul(v, p, z), x, x);
    LLVMValueRef large = sub(v, half, quotient(v, number(v, 0.25), half));
    return choose(v, LLVMRealOGE, size, number(v, 1), with_sign(v, large, x), small);
}

LLVMValueRef vec_cosh(const vec *v, LLVMValueRef x) {
    LLVMValueRef half = half_exp(v, size_of(v, x));
    return add(v, half, quotient(v, number(v, 0.25), half));
}

/* An odd polynomial near 0; behind that (1 - e) / (1 + e) with e = exp(-2 |x|). */
LLVMValueRef vec_tanh(const vec *v, LLVMValueRef x) {
    static const double c[] = {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                               1.33314422036e-1, -3.33332819422e-1};
    LLVMValueRef size = size_of(v, x), z = mul(v, x, x), one = number(v, 1), shifted;
    LLVMValueRef p = v->is_wide ? vec_wide_tanh(v, z) : vec_polynomial(v, z, c, HONE_COUNT(c));
    LLVMValueRef small = fma_of(v, mul(v, p, z), x, x);
    LLVMValueRef bounded = vec_at_most(v, size, by_width(v, 9.5, 20)),
                 log2 = number(v, -2.88539008177792681);
    LLVMValueRef n = vec_round(v, bounded, -2.88539008177792681, &shifted);
    LLVMValueRef r = fma_of(v, bounded, log2, negative(v, n));
    LLVMValueRef e = vec_scale_normal(v, vec_exp2_core(v, r), n, shifted);
    LLVMValueRef large = vec_quotient_near_1(v, sub(v, one, e), add(v, one, e));
    return with_sign(v, choose(v, LLVMRealOGE, size, number(v, 0.625), large, small), x);
}

/* 1 / (1 + exp(-x)), by e = exp(-|x|), so that small results keep their digits. */
LLVMValueRef vec_sigmoid(const vec *v, LLVMValueRef x) {
    LLVMValueRef size = vec_at_most(v, size_of(v, x), by_width(v, 104, 746)), one = number(v, 1);
    LLVMValueRef e = exp_within(v, negative(v, size));
    LLVMValueRef above = choose(v, LLVMRealOLT, x, number(v, 0), e, one);
    return vec_quotient_near_1(v, above, add(v, one, e));
}
