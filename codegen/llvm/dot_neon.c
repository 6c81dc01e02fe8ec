/* codegen/llvm/dot_neon.c - sums of four products of bytes, or of two of int16, on 64-bit ARM.
 *
 *   dotprod   sdot, udot; u * s = (u - 128) * s + 2 * (64 * s)
 *   i8mm      usdot, unsigned times signed
 *   others    products of half a register each, which fit into 16 (32) bits, and their neighbours
 *             added: smull, saddlp, addp
 */
#include "codegen/llvm/dot_parts.h"

enum { LANES = 4 };

#define B (d->g->builder)

static LLVMValueRef bytes(const gen_dots *d, LLVMValueRef x) {
    return LLVMBuildBitCast(B, x, LLVMVectorType(d->g->i8, 4 * LANES), "");
}

static LLVMValueRef each_byte(const gen_dots *d, int value) {
    return gen_splat(d->g, LLVMConstInt(d->g->i8, (unsigned long long)value & 255, 0), 4 * LANES);
}

static LLVMValueRef instruction(const gen_dots *d, const char *name, LLVMValueRef c, LLVMValueRef a,
                                LLVMValueRef b) {
    LLVMTypeRef types[] = {LLVMTypeOf(c), LLVMVectorType(d->g->i8, 4 * LANES)};
    LLVMValueRef args[] = {c, bytes(d, a), bytes(d, b)};
    return gen_intrinsic_of(d->g, name, types, 2, args, 3);
}

static LLVMValueRef by_dotprod(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    if (d->a_signed && d->b_signed) return instruction(d, "llvm.aarch64.neon.sdot", c, a, b);
    if (!d->a_signed && !d->b_signed) return instruction(d, "llvm.aarch64.neon.udot", c, a, b);
    LLVMValueRef u = d->a_signed ? b : a, s = d->a_signed ? a : b;
    if (hone_target_has_feature(d->g->target, "i8mm")) {
        return instruction(d, "llvm.aarch64.neon.usdot", c, u, s);
    }
    u = LLVMBuildXor(B, bytes(d, u), each_byte(d, 128), "");
    c = instruction(d, "llvm.aarch64.neon.sdot", c, u, s);
    for (int i = 0; i < 2; i++)
        c = instruction(d, "llvm.aarch64.neon.sdot", c, each_byte(d, 64), s);
    return c;
}

static LLVMValueRef widened(const gen_dots *d, LLVMValueRef x, bool is_signed, LLVMTypeRef type,
                            unsigned half) {
    unsigned count = LLVMGetVectorSize(type);
    x = gen_dot_lanes(d, x, half * count, count);
    return is_signed ? LLVMBuildSExt(B, x, type, "") : LLVMBuildZExt(B, x, type, "");
}

/* The products of each half, in words. */
static LLVMValueRef products(const gen_dots *d, LLVMValueRef a, LLVMValueRef b, unsigned half) {
    bool is_bytes = d->group == 4;
    LLVMTypeRef words = LLVMVectorType(d->g->i32, LANES);
    LLVMTypeRef type = is_bytes ? LLVMVectorType(d->g->i16, 2 * LANES) : words;
    LLVMTypeRef both[] = {words, type};
    LLVMValueRef all = LLVMBuildMul(B, widened(d, a, d->a_signed, type, half),
                                    widened(d, b, d->b_signed, type, half), "");
    const char *name =
        d->a_signed || d->b_signed ? "llvm.aarch64.neon.saddlp" : "llvm.aarch64.neon.uaddlp";
    return is_bytes ? gen_intrinsic_of(d->g, name, both, 2, &all, 1) : all;
}

LLVMValueRef gen_dot_neon(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    bool is_bytes = d->group == 4;
    if (is_bytes && hone_target_has_feature(d->g->target, "dotprod")) return by_dotprod(d, c, a, b);
    LLVMTypeRef small = LLVMVectorType(is_bytes ? d->g->i8 : d->g->i16, d->group * LANES);
    a = LLVMBuildBitCast(B, a, small, "");
    b = LLVMBuildBitCast(B, b, small, "");
    LLVMValueRef halves[] = {products(d, a, b, 0), products(d, a, b, 1)};
    LLVMValueRef sums =
        gen_intrinsic(d->g, "llvm.aarch64.neon.addp", LLVMTypeOf(halves[0]), halves, 2);
    return LLVMBuildAdd(B, c, sums, "");
}
