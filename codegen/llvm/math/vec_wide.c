/* codegen/llvm/math/vec_wide.c - the polynomials of vec_*.c for float64, and erf.
 *
 * Interpolated at Chebyshev points in 200 bits for this file, to within 2^-54 of what is computed;
 * that of the logarithm in s = f / (2 + f), as fdlibm has it. */
#include "codegen/llvm/math/vec_steps.h"

/* e^r for |r| <= ln 2 / 2. */
LLVMValueRef vec_wide_exp(const vec *v, LLVMValueRef r) {
    static const double c[] = {2.0914686968086876e-09,
                               2.5105217004720745e-08,
                               2.75572736431103e-07,
                               2.7557255400206422e-06,
                               2.4801587325547743e-05,
                               0.00019841269874820627,
                               0.0013888888888883748,
                               0.008333333333326136,
                               0.04166666666666667,
                               0.1666666666666667,
                               0.5,
                               1.0,
                               1.0};
    return vec_polynomial(v, r, c, HONE_COUNT(c));
}

/* 2^r for |r| <= 1/2. */
LLVMValueRef vec_wide_exp2(const vec *v, LLVMValueRef r) {
    static const double c[] = {
        4.4549605981865186e-10, 7.072585949269223e-09, 1.0178062445845774e-07,
        1.321544258792169e-06,  1.525273382983612e-05, 0.0001540353044173605,
        0.0013333558146416936,  0.009618129107606888,  0.0555041086648216,
        0.24022650695910097,    0.6931471805599453,    1.0};
    return vec_polynomial(v, r, c, HONE_COUNT(c));
}

/* (sinh(x) - x) / x^3 for z = x^2 <= 1. */
LLVMValueRef vec_wide_sinh(const vec *v, LLVMValueRef z) {
    static const double c[] = {7.746278224810715e-13,  1.6057676882739475e-10, 2.50521177239532e-08,
                               2.7557319191250885e-06, 0.00019841269841324471, 0.008333333333333299,
                               0.16666666666666666};
    return vec_polynomial(v, z, c, HONE_COUNT(c));
}

/* (tanh(x) - x) / x^3 for |x| <= 0.625. */
LLVMValueRef vec_wide_tanh(const vec *v, LLVMValueRef z) {
    static const double c[] = {
        6.479872918951109e-06,   -3.1190227437815513e-05, 9.256153036516744e-05,
        -0.00023758584039791723, 0.0005896591704308033,   -0.00145577511739838,
        0.003592121713787555,    -0.008863235100297065,   0.021869488518873555,
        -0.05396825396789384,    0.1333333333333304,      -0.3333333333333333};
    return vec_polynomial(v, z, c, HONE_COUNT(c));
}

/* What log(1 + f) has beside f - f^2 / 2, z = f^2. */
LLVMValueRef vec_wide_log_rest(const vec *v, LLVMValueRef f, LLVMValueRef z) {
    static const double c[] = {0.1461703754879165, 0.1533167403016786, 0.18182890556695602,
                               0.2222221111514416, 0.2857142862609589, 0.3999999999989924,
                               0.666666666666667};
    LLVMValueRef s = quotient(v, f, add(v, f, number(v, 2))), t = mul(v, s, s);
    LLVMValueRef r = mul(v, vec_polynomial(v, t, c, HONE_COUNT(c)), t);
    return mul(v, s, fma_of(v, z, number(v, 0.5), r));
}

/* (sin(r) - r) / r^3 for |r| <= pi / 4. */
LLVMValueRef vec_wide_sin(const vec *v, LLVMValueRef z) {
    static const double c[] = {1.5917988979397435e-10, -2.5051129896450185e-08,
                               2.7557316093198404e-06, -0.00019841269836740532,
                               0.008333333333330936,   -0.16666666666666666};
    return vec_polynomial(v, z, c, HONE_COUNT(c));
}

/* (cos(r) - 1 + r^2 / 2) / r^4. */
LLVMValueRef vec_wide_cos(const vec *v, LLVMValueRef z) {
    static const double c[] = {-1.138254464534925e-11, 2.087614504941318e-09,
                               -2.755731726587808e-07, 2.48015872987544e-05,
                               -0.0013888888888887389, 0.041666666666666664};
    return vec_polynomial(v, z, c, HONE_COUNT(c));
}

/* (asin(t) - t) / t^3 for |t| <= 1/2. */
LLVMValueRef vec_wide_asin(const vec *v, LLVMValueRef z) {
    static const double c[] = {0.02877844261259304,  -0.014881409392818066, 0.017419357964884856,
                               0.00545087818772055,  0.010324318288744113,  0.011478952690257387,
                               0.013971235301124539, 0.017352391265909227,  0.022372173002005596,
                               0.030381944137085216, 0.04464285714637338,   0.07499999999998425,
                               0.16666666666666669};
    return vec_polynomial(v, z, c, HONE_COUNT(c));
}

/* (atan(t) - t) / t^3 for |t| <= tan(pi / 8). */
LLVMValueRef vec_wide_atan(const vec *v, LLVMValueRef z) {
    static const double c[] = {0.01627552168389342,  -0.03456132296826231, 0.04551233844829568,
                               -0.05230375457576669, 0.058789182929757273, -0.06666423954373413,
                               0.07692296323157785,  -0.09090908751706075, 0.11111111105119366,
                               -0.14285714285659457, 0.19999999999999804,  -0.3333333333333333};
    return vec_polynomial(v, z, c, HONE_COUNT(c));
}

/* Up to 0.84 x P(x^2), up to 2.3 a polynomial around 1.57, behind that 1 - 2^Q(|x| - 4). */
LLVMValueRef vec_wide_erf(const vec *v, LLVMValueRef x) {
    static const double p[] = {
        1.0675214301587227e-08, -1.5696950914003972e-07, 1.6399099292465962e-06,
        -1.492191972724604e-05, 0.00012055190243801408,  -0.0008548323503896113,
        0.005223977571219506,   -0.026866170640250445,   0.11283791670932568,
        -0.37612638903183343,   1.1283791670955126};
    static const double m[] = {
        3.919396407396734e-08,   -4.536034689625257e-08, -4.150778492297537e-07,
        1.0784972267247132e-06,  2.0569216851349353e-06, -1.265551225682387e-05,
        4.727308722235858e-06,   8.790329827299906e-05,  -0.00018405604506171327,
        -0.00026228788629020626, 0.001582329590661129,   -0.0013194221159011231,
        -0.005770274285755047,   0.01672652249442296,    -0.007277616414520162,
        -0.04844213715529036,    0.12566426182807758,    -0.1506129251387544,
        0.0959317994514342,      0.9736026274615671};
    static const double q[] = {
        5.98146646270827e-13,   -3.732013867568472e-12, 2.7478208815943618e-12,
        7.783698135930739e-11,  -8.932482658956474e-10, 7.964845802296777e-09,
        -6.264831348625484e-08, 4.528380844751031e-07,  -3.0965505282103355e-06,
        2.039799502887709e-05,  -0.0001313220820084533, 0.0008398628664487159,
        -0.0054723487987421845, -1.4043836804128704,    -11.882580097990404,
        -25.950878567481038};
    LLVMValueRef size = size_of(v, x), shifted;
    LLVMValueRef small = mul(v, x, vec_polynomial(v, mul(v, x, x), p, HONE_COUNT(p)));
    LLVMValueRef near = sub(v, vec_at_most(v, size, 2.5), number(v, 1.57));
    LLVMValueRef middle = vec_polynomial(v, near, m, HONE_COUNT(m));
    LLVMValueRef far = sub(v, vec_at_most(v, size, 6.0), number(v, 4));
    LLVMValueRef power = vec_polynomial(v, far, q, HONE_COUNT(q));
    LLVMValueRef n = vec_round(v, power, 1.0, &shifted);
    LLVMValueRef rest = vec_scale_normal(v, vec_wide_exp2(v, sub(v, power, n)), n, shifted);
    LLVMValueRef large = sub(v, number(v, 1), rest);
    large = choose(v, LLVMRealOGE, size, number(v, 2.3), large, middle);
    return choose(v, LLVMRealOGE, size, number(v, 0.84), with_sign(v, large, x), small);
}
