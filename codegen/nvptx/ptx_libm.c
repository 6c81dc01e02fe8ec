/* codegen/nvptx/ptx_libm.c - what polynomials leave to libm, where there is none: sines of numbers
 * too large for their reductions, remainders of far larger ones, powers of two. Computed in double;
 * and functions that programs call by libm's names. */
#include <string.h>

#include "codegen/llvm/math/vec_steps.h"
#include "codegen/nvptx/nvptx.h"

/* ---- turns: x = (quadrant + rest) pi / 2 for any finite x ----
 *
 * x is M 2^e. Of 2 / pi times 2^e those bits count that give the quadrant and 192 behind the point:
 * what stands before them adds whole turns, what stands behind less than 2^-139 (M has 53 bits). */

enum { POINT = 192, PAD = 128, WINDOW = 256 };

/* 2 / pi behind PAD zeros. */
static const uint64_t two_over_pi[] = {
    0x0000000000000000, 0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab, 0xf0cfbc209af4361d, 0xa9e391615ee61b08, 0x6599855f14a06840};

static LLVMTypeRef wide_int(gen *g, unsigned bits) {
    return LLVMIntTypeInContext(g->context, bits);
}

static LLVMValueRef wide_const(gen *g, unsigned bits, int64_t value) {
    return LLVMConstInt(wide_int(g, bits), (unsigned long long)value, 1);
}

static LLVMValueRef table(gen *g) {
    static const char name[] = "hone_two_over_pi";
    LLVMValueRef found = LLVMGetNamedGlobal(g->module, name), words[HONE_COUNT(two_over_pi)];
    if (found) return found;
    for (size_t i = 0; i < HONE_COUNT(two_over_pi); i++)
        words[i] = LLVMConstInt(g->i64, two_over_pi[i], 0);
    LLVMTypeRef type = LLVMArrayType2(g->i64, HONE_COUNT(two_over_pi));
    found = LLVMAddGlobalInAddressSpace(g->module, type, name, PTX_CONSTANT);
    LLVMSetInitializer(found, LLVMConstArray2(g->i64, words, HONE_COUNT(two_over_pi)));
    LLVMSetGlobalConstant(found, 1);
    LLVMSetLinkage(found, LLVMInternalLinkage);
    return found;
}

/* WINDOW bits of the table from a bit on. */
static LLVMValueRef window(gen *g, LLVMValueRef first) {
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef type = wide_int(g, WINDOW + 64);
    LLVMValueRef word = LLVMBuildLShr(b, first, gen_i64(g, 6), ""), all = LLVMConstNull(type);
    for (int i = 0; i < WINDOW / 64 + 1; i++) {
        LLVMValueRef at = LLVMBuildAdd(b, word, gen_i64(g, i), "");
        at = LLVMBuildGEP2(b, g->i64, table(g), &at, 1, "");
        LLVMValueRef part = LLVMBuildZExt(b, LLVMBuildLoad2(b, g->i64, at, ""), type, "");
        all = LLVMBuildShl(b, all, wide_const(g, WINDOW + 64, 64), "");
        all = LLVMBuildOr(b, all, part, "");
    }
    LLVMValueRef rest = LLVMBuildAnd(b, first, gen_i64(g, 63), "");
    rest = LLVMBuildSub(b, gen_i64(g, 64), rest, "");
    all = LLVMBuildLShr(b, all, LLVMBuildZExt(b, rest, type, ""), "");
    return LLVMBuildTrunc(b, all, wide_int(g, WINDOW), "");
}

/* size / 2^POINT, of a number that is not negative. */
static LLVMValueRef to_double(gen *g, LLVMValueRef size) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef args[] = {size, LLVMConstInt(g->i1, 0, 0)};
    LLVMValueRef zeros = gen_intrinsic(g, "llvm.ctlz", LLVMTypeOf(size), args, 2);
    LLVMValueRef top = LLVMBuildShl(b, size, zeros, "");
    top = LLVMBuildLShr(b, top, wide_const(g, WINDOW, WINDOW - 64), "");
    top = LLVMBuildUIToFP(b, LLVMBuildTrunc(b, top, g->i64, ""), g->f64, "");
    /* 2^(WINDOW - 64 - POINT - zeros), zeros being at most WINDOW */
    LLVMValueRef power = LLVMBuildSub(b, gen_i64(g, 1023 + WINDOW - 64 - POINT),
                                      LLVMBuildTrunc(b, zeros, g->i64, ""), "");
    power = LLVMBuildShl(b, power, gen_i64(g, 52), "");
    return LLVMBuildFMul(b, top, LLVMBuildBitCast(b, power, g->f64, ""), "");
}

/* The rest in radians, within a quarter turn, and the quadrant in the lowest bits. */
static LLVMValueRef reduce(gen *g, LLVMValueRef x, LLVMValueRef *out_quadrant) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef bits = LLVMBuildBitCast(b, x, g->i64, "");
    LLVMValueRef e = LLVMBuildLShr(b, bits, gen_i64(g, 52), "");
    e = LLVMBuildAnd(b, e, gen_i64(g, 2047), "");
    LLVMValueRef digits = LLVMBuildAnd(b, bits, gen_i64(g, (INT64_C(1) << 52) - 1), "");
    digits = LLVMBuildOr(b, digits, gen_i64(g, INT64_C(1) << 52), "");
    LLVMValueRef first = LLVMBuildAdd(b, e, gen_i64(g, POINT + PAD - WINDOW - 1075), "");
    LLVMValueRef product = LLVMBuildZExt(b, digits, wide_int(g, WINDOW), "");
    product = LLVMBuildMul(b, product, window(g, first), "");
    /* half a quadrant more, so that the rest is from -1/2 to 1/2 */
    LLVMTypeRef wide = wide_int(g, WINDOW);
    LLVMValueRef half =
        LLVMBuildShl(b, wide_const(g, WINDOW, 1), wide_const(g, WINDOW, POINT - 1), "");
    LLVMValueRef point = wide_const(g, WINDOW, POINT);
    LLVMValueRef raised = LLVMBuildAdd(b, product, half, "");
    LLVMValueRef quadrant = LLVMBuildLShr(b, raised, point, "");
    LLVMValueRef whole = LLVMBuildShl(b, quadrant, point, "");
    LLVMValueRef rest = LLVMBuildSub(b, product, whole, "");
    LLVMValueRef is_below = LLVMBuildICmp(b, LLVMIntSLT, rest, LLVMConstNull(wide), "");
    LLVMValueRef size = LLVMBuildSelect(b, is_below, LLVMBuildNeg(b, rest, ""), rest, "");
    LLVMValueRef turns = to_double(g, size), negative = LLVMBuildFNeg(b, turns, "");
    turns = LLVMBuildSelect(b, is_below, negative, turns, "");
    /* of a negative x all is the other way round */
    LLVMValueRef is_negative = LLVMBuildICmp(b, LLVMIntSLT, bits, gen_i64(g, 0), "");
    quadrant = LLVMBuildTrunc(b, quadrant, g->i64, "");
    *out_quadrant = LLVMBuildSelect(b, is_negative, LLVMBuildNeg(b, quadrant, ""), quadrant, "");
    turns = LLVMBuildSelect(b, is_negative, LLVMBuildFNeg(b, turns, ""), turns, "");
    LLVMValueRef low = LLVMBuildFMul(b, turns, LLVMConstReal(g->f64, 0x1.1a62633145c07p-54), "");
    LLVMValueRef args[] = {turns, LLVMConstReal(g->f64, 0x1.921fb54442d18p+0), low};
    return gen_intrinsic(g, "llvm.fma", g->f64, args, 3);
}

static vec one_double(gen *g) {
    return (vec){.g = g,
                 .element = g->f64,
                 .bits = g->i64,
                 .f = g->f64,
                 .i = g->i64,
                 .lanes = 1,
                 .is_wide = true,
                 .has_fma = true};
}

/* x is a double; of infinities and NaN comes NaN. */
static LLVMValueRef wave(gen *g, const char *name, LLVMValueRef x) {
    const vec v = one_double(g);
    LLVMValueRef quadrant, r = reduce(g, x, &quadrant), y;
    if (strcmp(name, "tan") == 0) {
        y = vec_tangent_of(&v, r, quadrant);
    } else {
        if (name[0] == 'c') quadrant = LLVMBuildAdd(g->builder, quadrant, gen_i64(g, 1), "");
        y = vec_sine_of(&v, r, quadrant);
    }
    LLVMValueRef none = LLVMBuildFSub(g->builder, x, x, ""); /* NaN, where x is not finite */
    return LLVMBuildFAdd(g->builder, y, none, "");
}

/* ---- remainders ---- */

/* 2^n for -1022 <= n <= 1023 */
static LLVMValueRef power_of_two(gen *g, LLVMValueRef n) {
    LLVMValueRef bits = LLVMBuildAdd(g->builder, n, gen_i64(g, 1023), "");
    bits = LLVMBuildShl(g->builder, bits, gen_i64(g, 52), "");
    return LLVMBuildBitCast(g->builder, bits, g->f64, "");
}

/* Of a number above 0, with 1023 more; below 1 of a subnormal one. */
static LLVMValueRef exponent_of(gen *g, LLVMValueRef x) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef bits = LLVMBuildBitCast(b, x, g->i64, "");
    LLVMValueRef e = LLVMBuildLShr(b, bits, gen_i64(g, 52), "");
    LLVMValueRef args[] = {bits, LLVMConstInt(g->i1, 0, 0)};
    LLVMValueRef zeros = gen_intrinsic(g, "llvm.ctlz", g->i64, args, 2);
    LLVMValueRef of_small = LLVMBuildSub(b, gen_i64(g, 12), zeros, "");
    LLVMValueRef is_small = LLVMBuildICmp(b, LLVMIntEQ, e, gen_i64(g, 0), "");
    return LLVMBuildSelect(b, is_small, of_small, e, "");
}

/* What is left of `rest` without multiples of b 2^k, k such that their number is below 2^52: that
 * number is right to one, and the remainder exact. k is 2046 at most. */
static LLVMValueRef take_multiples(gen *g, LLVMValueRef rest, LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    const vec v = one_double(g);
    LLVMValueRef far = LLVMBuildSub(ir, exponent_of(g, rest), exponent_of(g, b), "");
    LLVMValueRef args[] = {LLVMBuildSub(ir, far, gen_i64(g, 51), ""), gen_i64(g, 0)};
    LLVMValueRef k = gen_intrinsic(g, "llvm.smax", g->i64, args, 2);
    LLVMValueRef half = LLVMBuildLShr(ir, k, gen_i64(g, 1), "");
    LLVMValueRef step = LLVMBuildFMul(ir, b, power_of_two(g, half), "");
    step = LLVMBuildFMul(ir, step, power_of_two(g, LLVMBuildSub(ir, k, half, "")), "");
    LLVMValueRef count = call1(&v, "llvm.trunc", LLVMBuildFDiv(ir, rest, step, ""));
    LLVMValueRef left = fma_of(&v, negative(&v, count), step, rest);
    return choose(&v, LLVMRealOLT, left, number(&v, 0), add(&v, left, step), left);
}

/* Blocks of the function that is being written, which need not be the kernel. */
static LLVMBasicBlockRef block(gen *g) {
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(g->builder));
    return LLVMAppendBasicBlockInContext(g->context, function, "");
}

static LLVMValueRef fmod_of(gen *g, LLVMValueRef x, LLVMValueRef y) {
    LLVMBuilderRef ir = g->builder;
    const vec v = one_double(g);
    LLVMValueRef a = size_of(&v, x), b = size_of(&v, y), infinity = number(&v, __builtin_inf());
    LLVMBasicBlockRef before = LLVMGetInsertBlock(ir), loop = block(g), body = block(g);
    LLVMBasicBlockRef after = block(g);
    LLVMValueRef has_one =
        both(&v, is(&v, LLVMRealOLT, a, infinity),
             both(&v, is(&v, LLVMRealOGT, b, number(&v, 0)), is(&v, LLVMRealOLT, b, infinity)));
    LLVMBuildBr(ir, loop);
    LLVMPositionBuilderAtEnd(ir, loop);
    LLVMValueRef rest = LLVMBuildPhi(ir, g->f64, "");
    LLVMBuildCondBr(ir, both(&v, has_one, is(&v, LLVMRealOGE, rest, b)), body, after);
    LLVMPositionBuilderAtEnd(ir, body);
    LLVMValueRef values[] = {a, take_multiples(g, rest, b)};
    LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(ir)};
    LLVMBuildBr(ir, loop);
    LLVMAddIncoming(rest, values, blocks, 2);
    LLVMPositionBuilderAtEnd(ir, after);
    LLVMValueRef result = with_sign(&v, rest, x);
    LLVMValueRef none = quotient(&v, mul(&v, x, y), mul(&v, x, y)); /* NaN, but for y infinite */
    LLVMValueRef is_far = both(&v, is(&v, LLVMRealOEQ, b, infinity), is(&v, LLVMRealOLT, a, b));
    return pick(&v, has_one, result, pick(&v, is_far, x, none));
}

/* ---- x 2^n ---- */

/* A float's exponents are far within a double's, which is rounded once. */
static LLVMValueRef scaled_float(gen *g, LLVMValueRef x, LLVMValueRef n) {
    LLVMValueRef args[] = {n, gen_i32(g, 500)};
    args[0] = gen_intrinsic(g, "llvm.smin", g->i32, args, 2);
    args[1] = gen_i32(g, -500);
    n = gen_intrinsic(g, "llvm.smax", g->i32, args, 2);
    LLVMValueRef power = power_of_two(g, LLVMBuildSExt(g->builder, n, g->i64, ""));
    return LLVMBuildFMul(g->builder, x, power, "");
}

/* Towards n in up to three steps; going down, only the last may leave the normal numbers. */
static LLVMValueRef scaled_double(gen *g, LLVMValueRef x, LLVMValueRef n) {
    LLVMBuilderRef b = g->builder;
    n = LLVMBuildSExt(b, n, g->i64, "");
    for (int i = 0; i < 2; i++) {
        LLVMValueRef is_high = LLVMBuildICmp(b, LLVMIntSGT, n, gen_i64(g, 1023), "");
        LLVMValueRef is_low = LLVMBuildICmp(b, LLVMIntSLT, n, gen_i64(g, -1022), "");
        LLVMValueRef by = LLVMBuildSelect(b, is_high, gen_i64(g, 1023), gen_i64(g, 0), "");
        by = LLVMBuildSelect(b, is_low, gen_i64(g, -1022 + 53), by, "");
        x = LLVMBuildFMul(b, x, power_of_two(g, by), "");
        n = LLVMBuildSub(b, n, by, "");
    }
    LLVMValueRef args[] = {n, gen_i64(g, 1023)};
    args[0] = gen_intrinsic(g, "llvm.smin", g->i64, args, 2);
    args[1] = gen_i64(g, -1022);
    n = gen_intrinsic(g, "llvm.smax", g->i64, args, 2);
    return LLVMBuildFMul(b, x, power_of_two(g, n), "");
}

/* ---- */

LLVMValueRef ptx_libm(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                      unsigned count) {
    LLVMBuilderRef b = g->builder;
    bool is_narrow = type == g->f32;
    LLVMValueRef x = is_narrow ? LLVMBuildFPExt(b, args[0], g->f64, "") : args[0], result;
    bool is_wave = strcmp(name, "sin") == 0 || strcmp(name, "cos") == 0 || strcmp(name, "tan") == 0;
    if (is_wave && count == 1) {
        result = wave(g, name, x);
    } else if (strcmp(name, "fmod") == 0 && count == 2) {
        result = fmod_of(g, x, is_narrow ? LLVMBuildFPExt(b, args[1], g->f64, "") : args[1]);
    } else if (strcmp(name, "ldexp") == 0 && count == 2) {
        result = is_narrow ? scaled_float(g, x, args[1]) : scaled_double(g, x, args[1]);
    } else {
        return NULL;
    }
    return is_narrow ? LLVMBuildFPTrunc(b, result, type, "") : result;
}

/* ---- by name ---- */

/* An instruction by the name of double's function. */
static LLVMValueRef by_instruction(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                                   unsigned count) {
    static const struct {
        const char *libm, *llvm;
        unsigned count;
    } rows[] = {
        {"ceil",      "llvm.ceil",      1},
        {"copysign",  "llvm.copysign",  2},
        {"fabs",      "llvm.fabs",      1},
        {"floor",     "llvm.floor",     1},
        {"fma",       "llvm.fma",       3},
        {"fmax",      "llvm.maxnum",    2},
        {"fmin",      "llvm.minnum",    2},
        {"nearbyint", "llvm.nearbyint", 1},
        {"rint",      "llvm.nearbyint", 1},
        {"round",     "llvm.round",     1},
        {"sqrt",      "llvm.sqrt",      1},
        {"trunc",     "llvm.trunc",     1},
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].libm, name) != 0 || rows[i].count != count) continue;
        return gen_intrinsic(g, rows[i].llvm, type, args, count);
    }
    return NULL;
}

LLVMValueRef ptx_libm_call(gen *g, const hone_expr *e, const char *name) {
    LLVMTypeRef type = gen_type(g, e->dtype);
    LLVMValueRef args[4];
    size_t length = strlen(name);
    unsigned count = e->count - 1u;
    hone_intrin intrin;
    /* that of float has an f behind */
    if (type == g->f32 && name[length - 1] == 'f')
        name = hone_arena_printf(g->arena, "%.*s", (int)length - 1, name);
    if (!name || (type != g->f32 && type != g->f64) || count > 4) return NULL;
    hone_dtype dtype = type == g->f32 ? HONE_DTYPE_F32 : HONE_DTYPE_F64;
    for (unsigned i = 0; i < count; i++)
        args[i] = gen_cast(g, e->args[i + 1]->dtype, dtype, gen_value(g, e->args[i + 1]));
    LLVMValueRef value = by_instruction(g, name, type, args, count);
    if (value || !hone_intrin_find(name, &intrin)) return value;
    return gen_vector_math(g, intrin, args, 1);
}
