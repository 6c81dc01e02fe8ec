/* codegen/llvm/math/vec_steps.h - arithmetic on one vector, or one scalar, of a fixed number of
 * lanes: what the polynomials of vec_*.c are written with. For these files, and those of GPUs that
 * go on where they end.
 *
 * Scalars take the same way as vectors, so vectorising a loop does not change its numbers.
 */
#ifndef HONE_CODEGEN_LLVM_MATH_VEC_STEPS_H
#define HONE_CODEGEN_LLVM_MATH_VEC_STEPS_H

#include "codegen/llvm/gen.h"
#include "support/core/attributes.h"

enum { VEC_MAX_LANES = 256, VEC_TABLE = 8 };

typedef struct vec {
    gen *g;
    LLVMTypeRef element, bits; /* float and i32, or double and i64 */
    LLVMTypeRef f, i;          /* the same, times lanes */
    unsigned lanes;
    bool is_wide;    /* double */
    bool has_fma;    /* a * b + c is rounded once */
    bool has_avx512; /* of float: instructions that scale and approximate */
    bool has_lookup; /* of float: vec_lookup */
    bool has_ex2;    /* of one float: NVIDIA's ex2.approx, 2 units in the last place at most */
} vec;

static inline LLVMValueRef number(const vec *v, double value) {
    return gen_splat(v->g, LLVMConstReal(v->element, value), v->lanes);
}
static inline LLVMValueRef integer(const vec *v, uint64_t value) {
    return gen_splat(v->g, LLVMConstInt(v->bits, value, 0), v->lanes);
}
/* What a step takes of float, or of double. */
static inline double by_width(const vec *v, double narrow, double wide) {
    return v->is_wide ? wide : narrow;
}
static inline LLVMValueRef add(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFAdd(v->g->builder, a, b, "");
}
static inline LLVMValueRef sub(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFSub(v->g->builder, a, b, "");
}
static inline LLVMValueRef mul(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFMul(v->g->builder, a, b, "");
}
static inline LLVMValueRef quotient(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFDiv(v->g->builder, a, b, "");
}
static inline LLVMValueRef negative(const vec *v, LLVMValueRef a) {
    return LLVMBuildFNeg(v->g->builder, a, "");
}
/* a * b + c, in one rounding where the processor can. */
static inline LLVMValueRef fma_of(const vec *v, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    LLVMValueRef args[] = {a, b, c};
    return gen_intrinsic(v->g, "llvm.fmuladd", v->f, args, 3);
}
static inline LLVMValueRef call1(const vec *v, const char *name, LLVMValueRef x) {
    return gen_intrinsic(v->g, name, v->f, &x, 1);
}
static inline LLVMValueRef size_of(const vec *v, LLVMValueRef x) {
    return call1(v, "llvm.fabs", x);
}
static inline LLVMValueRef root_of(const vec *v, LLVMValueRef x) {
    return call1(v, "llvm.sqrt", x);
}
/* The size of one thing with the sign of another. */
static inline LLVMValueRef with_sign(const vec *v, LLVMValueRef size, LLVMValueRef sign) {
    LLVMValueRef args[] = {size, sign};
    return gen_intrinsic(v->g, "llvm.copysign", v->f, args, 2);
}
static inline LLVMValueRef is(const vec *v, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFCmp(v->g->builder, p, a, b, "");
}
static inline LLVMValueRef both(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildAnd(v->g->builder, a, b, "");
}
static inline LLVMValueRef pick(const vec *v, LLVMValueRef condition, LLVMValueRef yes,
                                LLVMValueRef no) {
    return LLVMBuildSelect(v->g->builder, condition, yes, no, "");
}
static inline LLVMValueRef choose(const vec *v, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b,
                                  LLVMValueRef yes, LLVMValueRef no) {
    return pick(v, is(v, p, a, b), yes, no);
}
static inline LLVMValueRef as_float(const vec *v, LLVMValueRef x) {
    return LLVMBuildBitCast(v->g->builder, x, v->f, "");
}
static inline LLVMValueRef as_int(const vec *v, LLVMValueRef x) {
    return LLVMBuildBitCast(v->g->builder, x, v->i, "");
}

/* vec_steps.c */
/* c[count - 1] + c[count - 2] x + …: the highest power comes first in c. */
LLVMValueRef vec_polynomial(const vec *v, LLVMValueRef x, const double *c, size_t count);
/* x * factor rounded to an integer, as it lies behind the point of out_shifted: its lowest bits are
 * those of the integer, and there is nothing to convert. Below 2^22 (2^51) in size; NaN stays. */
LLVMValueRef vec_round(const vec *v, LLVMValueRef x, double factor, LLVMValueRef *out_shifted);
/* p * 2^n for the integer that lies in `shifted` (see vec_round), n up to ±252 (±2044): results
 * become infinite or subnormal properly. With AVX-512, or wide, n alone counts; with AVX-512
 * however large. */
LLVMValueRef vec_scale(const vec *v, LLVMValueRef p, LLVMValueRef n, LLVMValueRef shifted);
/* vec_scale where the result is a normal number. What becomes of NaN is undefined. */
LLVMValueRef vec_scale_normal(const vec *v, LLVMValueRef p, LLVMValueRef n, LLVMValueRef shifted);
/* x, or ±1 where it is larger, 1 where it is NaN; with AVX-512 alone. */
LLVMValueRef vec_within_1(const vec *v, LLVMValueRef x);
/* a / b for b from 1 to 2 and a from 0 to 2, the last bit perhaps wrong, in half the time. */
LLVMValueRef vec_quotient_near_1(const vec *v, LLVMValueRef a, LLVMValueRef b);
/* out[k] = table[k][the lowest three bits of `index`, a float], for `count` tables of eight; where
 * has_lookup. */
void vec_lookup(const vec *v, LLVMValueRef index, const double tables[][VEC_TABLE], size_t count,
                LLVMValueRef *out);
LLVMValueRef vec_at_most(const vec *v, LLVMValueRef x, double hi);          /* NaN stays */
LLVMValueRef vec_clamp(const vec *v, LLVMValueRef x, double lo, double hi); /* NaN stays */
/* `fast`, and in lanes where `is_bad` holds what libm makes of the arguments. One branch, hardly
 * ever taken, guards the calls. */
LLVMValueRef vec_or_libm(const vec *v, LLVMValueRef is_bad, LLVMValueRef fast, const char *libm,
                         LLVMValueRef *args, unsigned count);
/* As many lanes in double, on the way to a float. */
vec vec_in_double(const vec *v);

/* vec_exp.c */
LLVMValueRef vec_exp(const vec *v, LLVMValueRef x);
LLVMValueRef vec_exp2(const vec *v, LLVMValueRef x);
LLVMValueRef vec_exp10(const vec *v, LLVMValueRef x);
LLVMValueRef vec_sinh(const vec *v, LLVMValueRef x);
LLVMValueRef vec_cosh(const vec *v, LLVMValueRef x);
LLVMValueRef vec_tanh(const vec *v, LLVMValueRef x);
LLVMValueRef vec_sigmoid(const vec *v, LLVMValueRef x);
/* 2^r for |r| <= 1/2. */
LLVMValueRef vec_exp2_core(const vec *v, LLVMValueRef r);

/* vec_erf.c */
LLVMValueRef vec_erf(const vec *v, LLVMValueRef x);

/* vec_log.c */
LLVMValueRef vec_log(const vec *v, LLVMValueRef x);
LLVMValueRef vec_log2(const vec *v, LLVMValueRef x);
LLVMValueRef vec_log10(const vec *v, LLVMValueRef x);
LLVMValueRef vec_log1p(const vec *v, LLVMValueRef x);
LLVMValueRef vec_asinh(const vec *v, LLVMValueRef x);
LLVMValueRef vec_acosh(const vec *v, LLVMValueRef x);
LLVMValueRef vec_atanh(const vec *v, LLVMValueRef x);
/* x = 2^e * m with sqrt(1/2) <= m < sqrt(2), for positive finite x, subnormal ones included. */
void vec_split(const vec *v, LLVMValueRef x, LLVMValueRef *out_e, LLVMValueRef *out_m);

/* vec_trig.c */
LLVMValueRef vec_sin(const vec *v, LLVMValueRef x);
LLVMValueRef vec_cos(const vec *v, LLVMValueRef x);
LLVMValueRef vec_tan(const vec *v, LLVMValueRef x);
LLVMValueRef vec_asin(const vec *v, LLVMValueRef x);
LLVMValueRef vec_acos(const vec *v, LLVMValueRef x);
LLVMValueRef vec_atan(const vec *v, LLVMValueRef x);
LLVMValueRef vec_atan2(const vec *v, LLVMValueRef y, LLVMValueRef x);
/* sin(r + quadrant pi / 2), and for double tan, of |r| <= pi / 4; the lowest two bits count. */
LLVMValueRef vec_sine_of(const vec *v, LLVMValueRef r, LLVMValueRef quadrant);
LLVMValueRef vec_tangent_of(const vec *v, LLVMValueRef r, LLVMValueRef quadrant);

/* vec_pow.c */
LLVMValueRef vec_pow(const vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef vec_hypot(const vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef vec_fmod(const vec *v, LLVMValueRef x, LLVMValueRef y);

/* vec_wide.c: for double, what the functions above are made of */
LLVMValueRef vec_wide_exp(const vec *v, LLVMValueRef r);
LLVMValueRef vec_wide_exp2(const vec *v, LLVMValueRef r);
LLVMValueRef vec_wide_sinh(const vec *v, LLVMValueRef z);
LLVMValueRef vec_wide_tanh(const vec *v, LLVMValueRef z);
LLVMValueRef vec_wide_log_rest(const vec *v, LLVMValueRef f, LLVMValueRef z);
LLVMValueRef vec_wide_sin(const vec *v, LLVMValueRef z);
LLVMValueRef vec_wide_cos(const vec *v, LLVMValueRef z);
LLVMValueRef vec_wide_asin(const vec *v, LLVMValueRef z);
LLVMValueRef vec_wide_atan(const vec *v, LLVMValueRef z);
LLVMValueRef vec_wide_erf(const vec *v, LLVMValueRef x);

/* vec_wide_pow.c */
/* size^y, but for 1^y and size^0. */
LLVMValueRef vec_wide_power(const vec *v, LLVMValueRef size, LLVMValueRef y);
LLVMValueRef vec_wide_hypot(const vec *v, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef vec_wide_fmod(const vec *v, LLVMValueRef x, LLVMValueRef y);

#endif
