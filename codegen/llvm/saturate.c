/* codegen/llvm/saturate.c - floats to integers: toward zero, what is out of range to the nearest
 * end, NaN to 0, as the interpreter does.
 *
 * LLVM's instruction for that takes vectors apart on x86. There numbers are first brought into the
 * range, and converted as they are then. */
#include "codegen/llvm/gen.h"

#include <math.h>
#include <string.h>

typedef struct ends {
    gen *g;
    LLVMTypeRef element; /* of the floats */
    hone_dtype to;
    unsigned bits; /* of a value: the sign is none */
} ends;

static LLVMValueRef number(const ends *s, double value) {
    return gen_splat(s->g, LLVMConstReal(s->element, value), s->to.lanes);
}

static LLVMValueRef integer(const ends *s, LLVMTypeRef type, int64_t value) {
    LLVMTypeRef element = LLVMGetElementType(type);
    return gen_splat(s->g, LLVMConstInt(element, (uint64_t)value, 1), s->to.lanes);
}

static LLVMValueRef choose(const ends *s, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef yes, LLVMValueRef no) {
    LLVMBuilderRef builder = s->g->builder;
    return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, p, a, b, ""), yes, no, "");
}

static double least(const ends *s) {
    return hone_dtype_is_int(s->to) ? -ldexp(1, (int)s->bits) : 0;
}

/* Both ends are numbers of the float type. */
static LLVMValueRef between_exact_ends(const ends *s, LLVMValueRef x) {
    LLVMBuilderRef b = s->g->builder;
    bool is_signed = hone_dtype_is_int(s->to);
    LLVMValueRef lo = number(s, least(s)), hi = number(s, ldexp(1, (int)s->bits) - 1);
    if (is_signed) x = choose(s, LLVMRealORD, x, x, x, number(s, 0));
    x = choose(s, LLVMRealOGT, x, lo, x, lo); /* NaN goes to 0 with those below it */
    x = choose(s, LLVMRealOLT, x, hi, x, hi);
    LLVMTypeRef type = gen_type(s->g, s->to);
    LLVMTypeRef word = s->to.bits < 32 ? gen_vector(s->g->i32, s->to.lanes) : type;
    bool fits_signed = is_signed || s->to.bits < 32;
    x = fits_signed ? LLVMBuildFPToSI(b, x, word, "") : LLVMBuildFPToUI(b, x, word, "");
    return word == type ? x : LLVMBuildTrunc(b, x, type, "");
}

/* The first number above the range is a power of two; those outside are converted as 0. */
static LLVMValueRef below_power(const ends *s, LLVMValueRef x) {
    LLVMBuilderRef b = s->g->builder;
    bool is_signed = hone_dtype_is_int(s->to);
    LLVMTypeRef type = gen_type(s->g, s->to);
    LLVMValueRef lo = number(s, least(s)), above = number(s, ldexp(1, (int)s->bits));
    LLVMValueRef safe = choose(s, LLVMRealOGE, x, lo, x, number(s, 0));
    safe = choose(s, LLVMRealOLT, safe, above, safe, number(s, 0));
    LLVMValueRef value =
        is_signed ? LLVMBuildFPToSI(b, safe, type, "") : LLVMBuildFPToUI(b, safe, type, "");
    LLVMValueRef most = is_signed ? integer(s, type, (int64_t)(((uint64_t)1 << s->bits) - 1))
                                  : LLVMConstAllOnes(type);
    value = choose(s, LLVMRealOGE, x, above, most, value);
    if (!is_signed) return value;
    LLVMValueRef bottom = integer(s, type, (int64_t)(~(uint64_t)0 << s->bits));
    return choose(s, LLVMRealOLT, x, lo, bottom, value);
}

LLVMValueRef gen_saturate(gen *g, hone_dtype to, LLVMValueRef value) {
    bool is_signed = hone_dtype_is_int(to);
    bool is_whole = to.bits == 8 || to.bits == 16 || to.bits == 32 || to.bits == 64;
    if (to.lanes == 1 || !is_whole || strncmp(g->target->triple, "x86_64", 6) != 0) {
        const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
        LLVMTypeRef types[] = {gen_type(g, to), LLVMTypeOf(value)};
        return gen_intrinsic_of(g, name, types, 2, &value, 1);
    }
    const ends s = {.g = g,
                    .element = LLVMGetElementType(LLVMTypeOf(value)),
                    .to = to,
                    .bits = is_signed ? to.bits - 1u : to.bits};
    unsigned digits = s.element == g->f64 ? 53 : 24;
    return s.bits <= digits ? between_exact_ends(&s, value) : below_power(&s, value);
}
