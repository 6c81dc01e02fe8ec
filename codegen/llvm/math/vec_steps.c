/* codegen/llvm/math/vec_steps.c - the steps that the functions of vec_*.c share: polynomials,
 * rounding, scaling by powers of two, and the way out to libm. */
#include "codegen/llvm/math/vec_steps.h"

#include <stdio.h>
#include <string.h>

#define B (v->g->builder)

LLVMValueRef vec_polynomial(const vec *v, LLVMValueRef x, const double *c, size_t count) {
    LLVMValueRef sum = number(v, c[0]);
    for (size_t k = 1; k < count; k++)
        sum = fma_of(v, sum, x, number(v, c[k]));
    return sum;
}

LLVMValueRef vec_round(const vec *v, LLVMValueRef x, double factor, LLVMValueRef *out_shifted) {
    LLVMValueRef shift = number(v, by_width(v, 0x1.8p23, 0x1.8p52));
    *out_shifted = factor == 1.0 ? add(v, x, shift) : fma_of(v, x, number(v, factor), shift);
    return sub(v, *out_shifted, shift);
}

/* 2^n for an integer vector with -126 <= n <= 127. */
static LLVMValueRef power_of_two(const vec *v, LLVMValueRef n) {
    LLVMValueRef biased = LLVMBuildAdd(B, n, integer(v, 127), "");
    return as_float(v, LLVMBuildShl(B, biased, integer(v, 23), ""));
}

/* ---- instructions on registers ---- */

static LLVMValueRef pick_lanes(const vec *v, LLVMValueRef a, LLVMValueRef b, unsigned have,
                               unsigned start, unsigned count) {
    LLVMValueRef picks[VEC_MAX_LANES + 16];
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = start + i;
        picks[i] = lane < have ? gen_i32(v->g, (int32_t)lane) : LLVMGetPoison(v->g->i32);
    }
    return LLVMBuildShuffleVector(B, a, b, LLVMConstVector(picks, count), "");
}

/* `count` lanes of x (a scalar: one) from `start` on; lanes that x does not have are poison. */
static LLVMValueRef lanes_of(const vec *v, LLVMValueRef x, unsigned start, unsigned count) {
    if (v->lanes == 1) {
        LLVMValueRef none = LLVMGetPoison(LLVMVectorType(v->g->f32, count));
        return LLVMBuildInsertElement(B, none, x, gen_i32(v->g, 0), "");
    }
    return pick_lanes(v, x, LLVMGetPoison(LLVMTypeOf(x)), v->lanes, start, count);
}

/* The `have` lanes of a, then those of b. */
static LLVMValueRef append_lanes(const vec *v, LLVMValueRef a, unsigned have, LLVMValueRef b,
                                 unsigned count) {
    if (have > count) b = pick_lanes(v, b, LLVMGetPoison(LLVMTypeOf(b)), count, 0, have);
    return pick_lanes(v, a, b, have + count, 0, have + count);
}

/* The lanes of the value that x began with, as a scalar when that was one. */
static LLVMValueRef lanes_of_all(const vec *v, LLVMValueRef x) {
    if (v->lanes == 1) return LLVMBuildExtractElement(B, x, gen_i32(v->g, 0), "");
    if (LLVMGetVectorSize(LLVMTypeOf(x)) == v->lanes) return x;
    return pick_lanes(v, x, LLVMGetPoison(LLVMTypeOf(x)), v->lanes, 0, v->lanes);
}

/* What an AVX-512 instruction on registers of 4, 8 or 16 floats makes of x (and y, unless NULL):
 * `name` ends with their bits, behind the operands come a number (unless it is negative), what
 * masked lanes keep, the mask, and for whole registers perhaps how to round. */
static LLVMValueRef by_register(const vec *v, const char *name, LLVMValueRef x, LLVMValueRef y,
                                int32_t immediate) {
    unsigned widest = v->g->target->vector_bits >= 512 ? 16 : 8, width = 4;
    while (width < v->lanes && width < widest)
        width *= 2;
    char full[64];
    snprintf(full, sizeof full, "%s.%u", name, width * 32);
    unsigned id = LLVMLookupIntrinsicID(full, strlen(full));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(v->g->module, id, NULL, 0);
    LLVMTypeRef signature = LLVMIntrinsicGetType(v->g->context, id, NULL, 0);
    LLVMTypeRef type = LLVMVectorType(v->g->f32, width);
    LLVMValueRef result = NULL;
    for (unsigned at = 0; at < v->lanes; at += width) {
        LLVMValueRef args[6];
        unsigned count = 0;
        args[count++] = lanes_of(v, x, at, width);
        if (y) args[count++] = lanes_of(v, y, at, width);
        if (immediate >= 0) args[count++] = gen_i32(v->g, immediate);
        args[count++] = LLVMConstNull(type);
        args[count++] = LLVMConstAllOnes(width == 16 ? v->g->i16 : v->g->i8);
        if (count < LLVMCountParamTypes(signature)) args[count++] = gen_i32(v->g, 4); /* as set */
        LLVMValueRef part = LLVMBuildCall2(B, signature, function, args, count, "");
        result = result ? append_lanes(v, result, at, part, width) : part;
    }
    return lanes_of_all(v, result);
}

/* 2^n of a double that is an integer from -1022 to 1023: as numbers, since most CPUs have no shift
 * of 64-bit integers that keeps the sign. */
static LLVMValueRef wide_power_of_two(const vec *v, LLVMValueRef n) {
    LLVMValueRef biased = add(v, n, number(v, 0x1.8p52 + 1023));
    return as_float(v, LLVMBuildShl(B, as_int(v, biased), integer(v, 52), ""));
}

static LLVMValueRef wide_scale(const vec *v, LLVMValueRef p, LLVMValueRef n) {
    LLVMValueRef shifted, half = vec_round(v, mul(v, n, number(v, 0.5)), 1.0, &shifted);
    p = mul(v, p, wide_power_of_two(v, half));
    return mul(v, p, wide_power_of_two(v, sub(v, n, half)));
}

/* Two steps, each by a normal number; AVX-512 has an instruction for it. */
LLVMValueRef vec_scale(const vec *v, LLVMValueRef p, LLVMValueRef n, LLVMValueRef shifted) {
    if (v->is_wide) return wide_scale(v, p, n);
    if (v->has_avx512) return by_register(v, "llvm.x86.avx512.mask.scalef.ps", p, n, -1);
    LLVMValueRef k = LLVMBuildSub(B, as_int(v, shifted), integer(v, 0x4b400000u), "");
    LLVMValueRef half = LLVMBuildAShr(B, k, integer(v, 1), "");
    LLVMValueRef rest = LLVMBuildSub(B, k, half, "");
    return mul(v, mul(v, p, power_of_two(v, half)), power_of_two(v, rest));
}

/* One addition to the exponent. */
LLVMValueRef vec_scale_normal(const vec *v, LLVMValueRef p, LLVMValueRef n, LLVMValueRef shifted) {
    if (v->has_avx512) return vec_scale(v, p, n, shifted);
    LLVMValueRef raise = LLVMBuildShl(B, as_int(v, shifted), integer(v, v->is_wide ? 52 : 23), "");
    return as_float(v, LLVMBuildAdd(B, as_int(v, p), raise, ""));
}

LLVMValueRef vec_within_1(const vec *v, LLVMValueRef x) {
    enum { SMALLER_SIZE = 2 }; /* with the sign of the first; the other one when one is NaN */
    return by_register(v, "llvm.x86.avx512.mask.range.ps", x, number(v, 1), SMALLER_SIZE);
}

/* An approximation and two corrections, where there is an instruction for the first. */
LLVMValueRef vec_quotient_near_1(const vec *v, LLVMValueRef a, LLVMValueRef b) {
    if (!v->has_avx512) return quotient(v, a, b);
    LLVMValueRef minus = negative(v, b);
    LLVMValueRef inverse = by_register(v, "llvm.x86.avx512.rcp14.ps", b, NULL, -1);
    inverse = fma_of(v, inverse, fma_of(v, minus, inverse, number(v, 1)), inverse);
    LLVMValueRef first = mul(v, a, inverse);
    return fma_of(v, fma_of(v, minus, first, a), inverse, first);
}

void vec_lookup(const vec *v, LLVMValueRef index, const double tables[][VEC_TABLE], size_t count,
                LLVMValueRef *out) {
    bool is_512 = v->has_avx512 && v->g->target->vector_bits >= 512 && v->lanes > VEC_TABLE;
    unsigned width = is_512 ? 2 * VEC_TABLE : VEC_TABLE;
    const char *name = is_512 ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx2.permps";
    for (unsigned at = 0; at < v->lanes; at += width) {
        LLVMValueRef part = lanes_of(v, index, at, width);
        part = LLVMBuildBitCast(B, part, LLVMVectorType(v->g->i32, width), "");
        for (size_t k = 0; k < count; k++) {
            LLVMValueRef entries[2 * VEC_TABLE];
            for (unsigned i = 0; i < width; i++)
                entries[i] = LLVMConstReal(v->g->f32, tables[k][i % VEC_TABLE]);
            LLVMValueRef args[] = {LLVMConstVector(entries, width), part};
            LLVMValueRef found = gen_intrinsic_of(v->g, name, NULL, 0, args, 2);
            out[k] = at ? append_lanes(v, out[k], at, found, width) : found;
        }
    }
    for (size_t k = 0; k < count; k++)
        out[k] = lanes_of_all(v, out[k]);
}

LLVMValueRef vec_at_most(const vec *v, LLVMValueRef x, double hi) {
    return choose(v, LLVMRealOGT, x, number(v, hi), number(v, hi), x);
}

LLVMValueRef vec_clamp(const vec *v, LLVMValueRef x, double lo, double hi) {
    return vec_at_most(v, choose(v, LLVMRealOLT, x, number(v, lo), number(v, lo), x), hi);
}

/* ---- libm ---- */

static void mark_cold(gen *g, LLVMValueRef function) {
    static const char *const names[] = {"noinline", "cold", "nounwind"};
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->context, kind, 0));
    }
}

/* A function of the module that calls libm for each lane: "hone.sinf.16", "hone.sin.8". */
static LLVMValueRef libm_function(const vec *v, const char *libm, unsigned count,
                                  LLVMTypeRef *out_type) {
    gen *g = v->g;
    LLVMTypeRef parameters[] = {v->f, v->f};
    *out_type = LLVMFunctionType(v->f, parameters, count, 0);
    char name[64];
    snprintf(name, sizeof name, "hone.%s%s.%u", libm, v->is_wide ? "" : "f", v->lanes);
    LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
    if (function) return function;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(B);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(B);
    LLVMSetCurrentDebugLocation2(B, NULL);
    function = LLVMAddFunction(g->module, name, *out_type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    mark_cold(g, function);
    LLVMPositionBuilderAtEnd(B, LLVMAppendBasicBlockInContext(g->context, function, ""));
    LLVMValueRef args[] = {LLVMGetParam(function, 0), LLVMGetParam(function, count - 1)};
    hone_dtype element = v->is_wide ? HONE_DTYPE_F64 : HONE_DTYPE_F32;
    hone_dtype dtype = hone_dtype_with_lanes(element, (uint16_t)v->lanes);
    LLVMBuildRet(B, gen_libm(g, libm, dtype, args, count));
    LLVMPositionBuilderAtEnd(B, here);
    LLVMSetCurrentDebugLocation2(B, place);
    return function;
}

/* Whether a lane has it. */
static LLVMValueRef any(const vec *v, LLVMValueRef condition) {
    if (v->lanes == 1) return condition;
    LLVMTypeRef bits = LLVMIntTypeInContext(v->g->context, v->lanes);
    LLVMValueRef all = LLVMBuildBitCast(B, condition, bits, "");
    return LLVMBuildICmp(B, LLVMIntNE, all, LLVMConstNull(bits), "");
}

LLVMValueRef vec_or_libm(const vec *v, LLVMValueRef is_bad, LLVMValueRef fast, const char *libm,
                         LLVMValueRef *args, unsigned count) {
    gen *g = v->g;
    LLVMTypeRef type;
    LLVMValueRef function = libm_function(v, libm, count, &type);
    LLVMBasicBlockRef slow = LLVMAppendBasicBlockInContext(g->context, g->frame->function, libm);
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMBasicBlockRef blocks[] = {LLVMGetInsertBlock(B), slow};
    LLVMBuildCondBr(B, any(v, is_bad), slow, after);
    LLVMPositionBuilderAtEnd(B, slow);
    LLVMValueRef called = LLVMBuildCall2(B, type, function, args, count, "");
    LLVMValueRef values[] = {fast, pick(v, is_bad, called, fast)};
    LLVMBuildBr(B, after);
    LLVMPositionBuilderAtEnd(B, after);
    LLVMValueRef result = LLVMBuildPhi(B, v->f, "");
    LLVMAddIncoming(result, values, blocks, 2);
    return result;
}

vec vec_in_double(const vec *v) {
    vec d = *v;
    d.element = v->g->f64;
    d.bits = v->g->i64;
    d.f = gen_vector(d.element, v->lanes);
    d.i = gen_vector(d.bits, v->lanes);
    d.is_wide = true;
    d.has_avx512 = false;
    return d;
}
