/* codegen/llvm/math/vec_erf.c - the error function of float32.
 *
 * Where registers can be looked up in (AVX2 with FMA), erf(x) / x is one of eight polynomials, each
 * for |x| in half a unit: half of the instructions, and half of the time from x to the result.
 * Elsewhere two pieces and an exponential. Coefficients were fitted for this file; the largest
 * errors are 2.5 units in the last place with the table, 3.3 without. */
#include "codegen/llvm/math/vec_steps.h"

enum { POWERS = 7 };

/* The highest power first, in |x| less the middle of the piece: 0.25, 0.75, … The last piece ends
 * at 3.94, where x times it is 1, and it is nowhere more. */
/* clang-format off */
static const double pieces[POWERS][VEC_TABLE] = {
    {-0.0180696715, 0.0142019065, 0.0100800125, -0.00332728005, -0.00282983319, -0.000360706268, 0.000136812232, 9.27426227e-05},
    {-0.0349704213, -0.037270654, 0.00808482338, 0.014861891, 0.00357197621, -0.000674651528, -0.000717117277, -0.000355008902},
    {0.0890261233, -0.0248602629, -0.0579856634, -0.0196750667, 0.00285379658, 0.0047205952, 0.00264827698, 0.00134394167},
    {0.104691826, 0.169324234, 0.066341877, -0.0136731872, -0.0255078375, -0.0162394661, -0.00889318995, -0.00505437935},
    {-0.335351139, -0.100217491, 0.0846302137, 0.114094391, 0.079109937, 0.0474155024, 0.0290985536, 0.0189620201},
    {-0.181165487, -0.407035112, -0.401439309, -0.292021394, -0.194067538, -0.132004902, -0.0946651697, -0.0711108595},
    {1.10530555, 0.948207498, 0.738320112, 0.563812375, 0.44379434, 0.363599777, 0.307690978, 0.266666621},
};
/* clang-format on */

/* The number of the piece comes to lie in the lowest bits of a number in which they mean halves. */
static LLVMValueRef erf_by_pieces(const vec *v, LLVMValueRef x) {
    LLVMValueRef shift = number(v, 0x1.8p22), c[POWERS];
    LLVMValueRef size = vec_at_most(v, size_of(v, x), 3.94);
    LLVMValueRef from_first = sub(v, size, number(v, 0.25));
    LLVMValueRef shifted = add(v, from_first, shift);
    LLVMValueRef t = sub(v, from_first, sub(v, shifted, shift));
    vec_lookup(v, shifted, pieces, POWERS, c);
    LLVMValueRef sum = c[0];
    for (size_t k = 1; k < POWERS; k++)
        sum = fma_of(v, sum, t, c[k]);
    return with_sign(v, mul(v, size, sum), x);
}

/* x * P(x^2) up to 0.84, behind that 1 - 2^Q(|x| - 2) with Q close to log2(erfc). */
static LLVMValueRef erf_by_exp(const vec *v, LLVMValueRef x) {
    static const double p[] = {-0.0006359560675169147, 0.005058301565646861, -0.026806598739635177,
                               0.112828092263918,      -0.3761257901346168,  1.1283791611112932};
    static const double q[] = {-0.0018960098412577466, 0.004202545189551101, -0.024011484345508226,
                               -1.332534968198899,     -6.373975477206793,   -7.739967434597478};
    LLVMValueRef size = size_of(v, x);
    LLVMValueRef small = mul(v, x, vec_polynomial(v, mul(v, x, x), p, HONE_COUNT(p)));
    LLVMValueRef t = sub(v, vec_at_most(v, size, 3.95), number(v, 2));
    LLVMValueRef shifted, power = vec_polynomial(v, t, q, HONE_COUNT(q));
    LLVMValueRef n = vec_round(v, power, 1.0, &shifted);
    LLVMValueRef rest = vec_scale_normal(v, vec_exp2_core(v, sub(v, power, n)), n, shifted);
    LLVMValueRef large = with_sign(v, sub(v, number(v, 1), rest), x);
    return choose(v, LLVMRealOGE, size, number(v, 0.84), large, small);
}

LLVMValueRef vec_erf(const vec *v, LLVMValueRef x) {
    if (v->is_wide) return vec_wide_erf(v, x);
    return v->has_lookup ? erf_by_pieces(v, x) : erf_by_exp(v, x);
}
