/* codegen/llvm/math/vec_trig.c - sines and their inverses; polynomials of Cephes for float32.
 *
 * x = n pi / 2 + r with pi / 2 in parts, as Eigen does it: three of full length where a * b + c is
 * rounded once, else four short ones whose products with n are exact. Arguments that are too large
 * for that go to libm. */
#include "codegen/llvm/math/vec_steps.h"

#define B (v->g->builder)

#define PI 3.14159265358979324
#define HALF_PI 1.57079632679489662
#define QUARTER_PI 0.785398163397448310
#define TAN_EIGHTH_PI 0.414213562373095049

/* A quarter turn more or less costs digits: how far the reductions below serve. */
static double largest(const vec *v) {
    if (v->is_wide) return 1600000.0;
    return v->has_fma ? 71476.0625 : 15499.0;
}

/* r, and in the lowest bits of out_quadrant n. */
static LLVMValueRef reduce_turns(const vec *v, LLVMValueRef x, LLVMValueRef *out_quadrant) {
    static const double whole[] = {-1.57079601287841796875, -3.1391647326017846e-07,
                                   -5.390302529957764765544681040410068817436695e-15};
    static const double split[] = {-1.5703125, -0.000483989715576171875,
                                   1.62865035235881805419921875e-07,
                                   5.5644315544167710640977020375430583953857421875e-11};
    /* doubles: three parts of 33 bits, whose products are exact up to 2^20 turns, and the rest */
    static const double wide[] = {-0x1.921fb544p+0, -0x1.0b4611a6p-34, -0x1.3198a2ep-69,
                                  -0x1.b839a252049c1p-104};
    const double *parts = v->is_wide ? wide : v->has_fma ? whole : split;
    size_t count = v->is_wide || !v->has_fma ? 4 : 3;
    LLVMValueRef shifted, n = vec_round(v, x, 0.636619772367581343, &shifted), r = x;
    for (size_t i = 0; i < count; i++)
        r = fma_of(v, n, number(v, parts[i]), r);
    *out_quadrant = as_int(v, shifted);
    /* -0 + n * 1.6e-7 is +0 */
    return v->has_fma && !v->is_wide ? r : choose(v, LLVMRealOEQ, x, number(v, 0), x, r);
}

/* sin(r) and cos(r) for |r| <= pi / 4. */
static LLVMValueRef sin_core(const vec *v, LLVMValueRef r, LLVMValueRef z) {
    static const double c[] = {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1};
    LLVMValueRef p = v->is_wide ? vec_wide_sin(v, z) : vec_polynomial(v, z, c, HONE_COUNT(c));
    return with_sign(v, fma_of(v, mul(v, p, z), r, r), r); /* of -0, too */
}
static LLVMValueRef cos_core(const vec *v, LLVMValueRef z) {
    static const double c[] = {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2};
    LLVMValueRef p = v->is_wide ? vec_wide_cos(v, z) : vec_polynomial(v, z, c, HONE_COUNT(c));
    LLVMValueRef rest = mul(v, mul(v, p, z), z);
    return add(v, fma_of(v, z, number(v, -0.5), rest), number(v, 1));
}

/* The quadrant is an odd one. */
static LLVMValueRef is_odd_one(const vec *v, LLVMValueRef quadrant) {
    LLVMValueRef masked = LLVMBuildAnd(B, quadrant, integer(v, 1), "");
    return LLVMBuildICmp(B, LLVMIntNE, masked, LLVMConstNull(v->i), "");
}

static LLVMValueRef or_libm(const vec *v, LLVMValueRef x, LLVMValueRef fast, const char *libm) {
    LLVMValueRef is_huge = is(v, LLVMRealOGT, size_of(v, x), number(v, largest(v)));
    return vec_or_libm(v, is_huge, fast, libm, &x, 1);
}

LLVMValueRef vec_sine_of(const vec *v, LLVMValueRef r, LLVMValueRef quadrant) {
    LLVMValueRef z = mul(v, r, r);
    LLVMValueRef y = pick(v, is_odd_one(v, quadrant), cos_core(v, z), sin_core(v, r, z));
    LLVMValueRef turned = LLVMBuildAnd(B, quadrant, integer(v, 2), "");
    LLVMValueRef sign = LLVMBuildShl(B, turned, integer(v, v->is_wide ? 62 : 30), "");
    return as_float(v, LLVMBuildXor(B, as_int(v, y), sign, ""));
}

/* sin(x + quarters pi / 2). */
static LLVMValueRef wave(const vec *v, LLVMValueRef x, uint32_t quarters, const char *libm) {
    LLVMValueRef quadrant, r = reduce_turns(v, x, &quadrant);
    if (quarters) quadrant = LLVMBuildAdd(B, quadrant, integer(v, quarters), "");
    return or_libm(v, x, vec_sine_of(v, r, quadrant), libm);
}

LLVMValueRef vec_sin(const vec *v, LLVMValueRef x) {
    return wave(v, x, 0, "sin");
}

LLVMValueRef vec_cos(const vec *v, LLVMValueRef x) {
    return wave(v, x, 1, "cos");
}

/* sin / cos, or -cos / sin in every other quarter. */
LLVMValueRef vec_tangent_of(const vec *v, LLVMValueRef r, LLVMValueRef quadrant) {
    LLVMValueRef z = mul(v, r, r);
    LLVMValueRef s = sin_core(v, r, z), c = cos_core(v, z), is_odd = is_odd_one(v, quadrant);
    LLVMValueRef above = pick(v, is_odd, negative(v, c), s);
    return quotient(v, above, pick(v, is_odd, s, c));
}

static LLVMValueRef wide_tan(const vec *v, LLVMValueRef x) {
    LLVMValueRef quadrant, r = reduce_turns(v, x, &quadrant);
    return or_libm(v, x, vec_tangent_of(v, r, quadrant), "tan");
}

LLVMValueRef vec_tan(const vec *v, LLVMValueRef x) {
    if (v->is_wide) return wide_tan(v, x);
    static const double c[] = {9.38540185543e-3, 3.11992232697e-3, 2.44301354525e-2,
                               5.34112807005e-2, 1.33387994085e-1, 3.33331568548e-1};
    LLVMValueRef quadrant, r = reduce_turns(v, x, &quadrant), z = mul(v, r, r);
    LLVMValueRef y = fma_of(v, mul(v, vec_polynomial(v, z, c, HONE_COUNT(c)), z), r, r);
    LLVMValueRef is_odd = is_odd_one(v, quadrant);
    return or_libm(v, x, pick(v, is_odd, quotient(v, number(v, -1), y), y), "tan");
}

/* asin(t) for 0 <= t <= 1/2, from z = t^2. */
static LLVMValueRef asin_core(const vec *v, LLVMValueRef t, LLVMValueRef z) {
    static const double c[] = {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2,
                               1.6666752422e-1};
    LLVMValueRef p = v->is_wide ? vec_wide_asin(v, z) : vec_polynomial(v, z, c, HONE_COUNT(c));
    return fma_of(v, mul(v, p, z), t, t);
}

/* asin(|x|) up to 1/2; behind that asin(sqrt((1 - |x|) / 2)), which is (pi / 2 - asin(|x|)) / 2. */
static LLVMValueRef asin_folded(const vec *v, LLVMValueRef x, LLVMValueRef *out_is_large) {
    LLVMValueRef size = size_of(v, x), half = number(v, 0.5);
    LLVMValueRef is_large = is(v, LLVMRealOGT, size, half);
    LLVMValueRef z = pick(v, is_large, mul(v, half, sub(v, number(v, 1), size)), mul(v, x, x));
    *out_is_large = is_large;
    return asin_core(v, pick(v, is_large, root_of(v, z), size), z);
}

LLVMValueRef vec_asin(const vec *v, LLVMValueRef x) {
    LLVMValueRef is_large, y = asin_folded(v, x, &is_large);
    LLVMValueRef large = fma_of(v, y, number(v, -2), number(v, HALF_PI));
    return with_sign(v, pick(v, is_large, large, y), x);
}

LLVMValueRef vec_acos(const vec *v, LLVMValueRef x) {
    LLVMValueRef is_large, y = asin_folded(v, x, &is_large), twice = add(v, y, y);
    LLVMValueRef is_below = is(v, LLVMRealOLT, x, number(v, 0));
    LLVMValueRef large = pick(v, is_below, sub(v, number(v, PI), twice), twice);
    LLVMValueRef small = sub(v, number(v, HALF_PI), with_sign(v, y, x));
    return pick(v, is_large, large, small);
}

/* base + atan(t) for |t| <= tan(pi / 8). */
static LLVMValueRef atan_core(const vec *v, LLVMValueRef t, LLVMValueRef base) {
    static const double c[] = {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1,
                               -3.33329491539e-1};
    LLVMValueRef z = mul(v, t, t);
    LLVMValueRef p = v->is_wide ? vec_wide_atan(v, z) : vec_polynomial(v, z, c, HONE_COUNT(c));
    LLVMValueRef y = fma_of(v, mul(v, p, z), t, t);
    return add(v, base, y);
}

/* atan(x) as pi / 4 + atan((x - 1) / (x + 1)) or pi / 2 - atan(1 / x), by one division. */
LLVMValueRef vec_atan(const vec *v, LLVMValueRef x) {
    LLVMValueRef size = size_of(v, x), one = number(v, 1);
    LLVMValueRef is_mid = is(v, LLVMRealOGT, size, number(v, TAN_EIGHTH_PI));
    LLVMValueRef is_large = is(v, LLVMRealOGT, size, number(v, 1 / TAN_EIGHTH_PI));
    LLVMValueRef above = pick(v, is_large, number(v, -1), pick(v, is_mid, sub(v, size, one), size));
    LLVMValueRef below = pick(v, is_large, size, pick(v, is_mid, add(v, size, one), one));
    LLVMValueRef mid = pick(v, is_mid, number(v, QUARTER_PI), number(v, 0));
    LLVMValueRef base = pick(v, is_large, number(v, HALF_PI), mid);
    return with_sign(v, atan_core(v, quotient(v, above, below), base), x);
}

/* The smaller over the larger one, between 0 and 1; of two zeros 0, of two infinities 1. */
static LLVMValueRef slope(const vec *v, LLVMValueRef small, LLVMValueRef large) {
    LLVMValueRef zero = number(v, 0), one = number(v, 1);
    LLVMValueRef of_equal = choose(v, LLVMRealOEQ, large, zero, zero, one);
    return choose(v, LLVMRealOEQ, small, large, of_equal, quotient(v, small, large));
}

LLVMValueRef vec_atan2(const vec *v, LLVMValueRef y, LLVMValueRef x) {
    LLVMValueRef one = number(v, 1), of_x = size_of(v, x), of_y = size_of(v, y);
    LLVMValueRef is_steep = is(v, LLVMRealOGT, of_y, of_x);
    LLVMValueRef t = slope(v, pick(v, is_steep, of_x, of_y), pick(v, is_steep, of_y, of_x));
    LLVMValueRef is_mid = is(v, LLVMRealOGT, t, number(v, TAN_EIGHTH_PI));
    LLVMValueRef base = pick(v, is_mid, number(v, QUARTER_PI), number(v, 0));
    t = pick(v, is_mid, quotient(v, sub(v, t, one), add(v, t, one)), t);
    LLVMValueRef angle = atan_core(v, t, base);
    angle = pick(v, is_steep, sub(v, number(v, HALF_PI), angle), angle);
    LLVMValueRef is_behind = LLVMBuildICmp(B, LLVMIntSLT, as_int(v, x), LLVMConstNull(v->i), "");
    angle = pick(v, is_behind, sub(v, number(v, PI), angle), angle);
    return with_sign(v, angle, y);
}
