/* codegen/llvm/dot.c - sums of four products of bytes (dot4), or of two of int16 (dot2).
 *
 * dot4:
 *   VNNI     vpdpbusd, unsigned times signed; other signs by what it takes to bring them there:
 *            s * s = (s + 128) * s - 128 * s, u * u = u * (u - 128) + 2 * (64 * u)
 *   x86      bytes at even and at odd places as 16-bit numbers, two vpmaddwd: exact, since
 *            2 * 255 * 255 fits into 32 bits
 *   ARM      sdot, udot, usdot; else smull and additions of neighbours: dot_neon.c
 *   others   widened, multiplied and added
 * dot2: vpdpwssd with VNNI, vpmaddwd on other x86; else as dot4. Of bfloat16: halves of a word as
 *   floats, which a shift or a mask makes of them, and two FMAs; dot2_bf16: vdpbf16ps.
 */
#include <stdio.h>
#include <string.h>

#include "codegen/llvm/dot_parts.h"

#define B (d->g->builder)

static LLVMValueRef bytes(const gen_dots *d, LLVMValueRef x) {
    return LLVMBuildBitCast(B, x, LLVMVectorType(d->g->i8, 4 * d->lanes), "");
}
static LLVMValueRef words(const gen_dots *d, LLVMValueRef x) {
    return LLVMBuildBitCast(B, x, LLVMVectorType(d->g->i32, d->lanes), "");
}
static LLVMValueRef each_byte(const gen_dots *d, int value) {
    return gen_splat(d->g, LLVMConstInt(d->g->i8, (unsigned long long)value & 255, 0),
                     4 * d->lanes);
}

static LLVMValueRef call(const gen_dots *d, const char *name, LLVMValueRef *args, unsigned count) {
    return gen_intrinsic_of(d->g, name, NULL, 0, args, count);
}

/* ---- VNNI ---- */

static LLVMValueRef vnni(const gen_dots *d, const char *instruction, LLVMValueRef c, LLVMValueRef a,
                         LLVMValueRef b) {
    char name[48];
    snprintf(name, sizeof name, "llvm.x86.avx512.%s.%u", instruction, d->lanes * 32);
    LLVMValueRef args[] = {c, words(d, a), words(d, b)};
    return call(d, name, args, 3);
}
static LLVMValueRef dpbusd(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    return vnni(d, "vpdpbusd", c, a, b);
}

static LLVMValueRef by_vnni(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    if (d->group == 2) return vnni(d, "vpdpwssd", c, a, b);
    LLVMValueRef zero = LLVMConstNull(LLVMVectorType(d->g->i32, d->lanes));
    if (!d->a_signed && d->b_signed) return dpbusd(d, c, a, b);
    if (d->a_signed && !d->b_signed) return dpbusd(d, c, b, a);
    if (d->a_signed) {
        LLVMValueRef raised = LLVMBuildXor(B, bytes(d, a), each_byte(d, 128), "");
        LLVMValueRef excess = dpbusd(d, zero, each_byte(d, 128), b);
        return LLVMBuildSub(B, dpbusd(d, c, raised, b), excess, "");
    }
    LLVMValueRef lowered = LLVMBuildXor(B, bytes(d, b), each_byte(d, 128), "");
    LLVMValueRef lack = dpbusd(d, zero, a, each_byte(d, 64));
    lack = LLVMBuildAdd(B, lack, lack, "");
    return LLVMBuildAdd(B, dpbusd(d, c, a, lowered), lack, "");
}

/* ---- pairs of 16 bits ---- */

/* The bytes at even (odd) places, as numbers of 16 bits. */
static LLVMValueRef half(const gen_dots *d, LLVMValueRef x, bool is_signed, bool is_odd) {
    LLVMTypeRef type = LLVMVectorType(d->g->i16, 2 * d->lanes);
    LLVMValueRef eight = gen_splat(d->g, LLVMConstInt(d->g->i16, 8, 0), 2 * d->lanes);
    x = LLVMBuildBitCast(B, x, type, "");
    if (!is_odd) x = LLVMBuildShl(B, x, eight, "");
    return is_signed ? LLVMBuildAShr(B, x, eight, "") : LLVMBuildLShr(B, x, eight, "");
}

static LLVMValueRef pairs(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    const char *name = d->lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                       : d->lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                       : "llvm.x86.sse2.pmadd.wd";
    LLVMTypeRef type = LLVMVectorType(d->g->i16, 2 * d->lanes);
    LLVMValueRef args[] = {LLVMBuildBitCast(B, a, type, ""), LLVMBuildBitCast(B, b, type, "")};
    return LLVMBuildAdd(B, c, call(d, name, args, 2), "");
}

static LLVMValueRef by_pairs(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    if (d->group == 2) return pairs(d, c, a, b);
    for (int is_odd = 0; is_odd < 2; is_odd++)
        c = pairs(d, c, half(d, a, d->a_signed, is_odd), half(d, b, d->b_signed, is_odd));
    return c;
}

/* ---- bfloat16 ---- */

static LLVMValueRef dpbf16(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    char name[48];
    snprintf(name, sizeof name, "llvm.x86.avx512bf16.dpbf16ps.%u", d->lanes * 32);
    LLVMTypeRef type = LLVMVectorType(LLVMBFloatTypeInContext(d->g->context), 2 * d->lanes);
    LLVMValueRef args[] = {c, LLVMBuildBitCast(B, a, type, ""), LLVMBuildBitCast(B, b, type, "")};
    return call(d, name, args, 3);
}

/* The first or second bfloat16 of each word. */
static LLVMValueRef float_half(const gen_dots *d, LLVMValueRef x, bool is_second) {
    LLVMValueRef bits = LLVMConstInt(d->g->i32, is_second ? 0xffff0000u : 16, 0);
    LLVMValueRef all = gen_splat(d->g, bits, d->lanes);
    x = is_second ? LLVMBuildAnd(B, words(d, x), all, "") : LLVMBuildShl(B, words(d, x), all, "");
    return LLVMBuildBitCast(B, x, LLVMVectorType(d->g->f32, d->lanes), "");
}

static LLVMValueRef by_floats(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    for (int is_second = 0; is_second < 2; is_second++) {
        LLVMValueRef left = float_half(d, a, is_second), right = float_half(d, b, is_second);
        LLVMValueRef product = gen_contract(LLVMBuildFMul(B, left, right, ""));
        c = gen_contract(LLVMBuildFAdd(B, c, product, ""));
    }
    return c;
}

/* ---- any CPU ---- */

static LLVMValueRef widened(const gen_dots *d, LLVMValueRef x, bool is_signed, unsigned k) {
    LLVMValueRef picks[GEN_DOT_MAX_PICKS];
    LLVMTypeRef type = LLVMVectorType(d->g->i32, d->lanes);
    for (unsigned i = 0; i < d->lanes; i++)
        picks[i] = gen_i32(d->g, (int32_t)(d->group * i + k));
    x = LLVMBuildShuffleVector(B, x, x, LLVMConstVector(picks, d->lanes), "");
    return is_signed ? LLVMBuildSExt(B, x, type, "") : LLVMBuildZExt(B, x, type, "");
}

static LLVMValueRef by_products(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef small = d->group == 4 ? d->g->i8 : d->g->i16;
    a = LLVMBuildBitCast(B, a, LLVMVectorType(small, d->group * d->lanes), "");
    b = LLVMBuildBitCast(B, b, LLVMVectorType(small, d->group * d->lanes), "");
    for (unsigned k = 0; k < d->group; k++) {
        LLVMValueRef left = widened(d, a, d->a_signed, k), right = widened(d, b, d->b_signed, k);
        c = LLVMBuildAdd(B, c, LLVMBuildMul(B, left, right, ""), "");
    }
    return c;
}

/* ---- parts of a register's size ---- */

LLVMValueRef gen_dot_lanes(const gen_dots *d, LLVMValueRef x, unsigned start, unsigned count) {
    LLVMValueRef picks[GEN_DOT_MAX_PICKS];
    for (unsigned i = 0; i < count; i++)
        picks[i] = gen_i32(d->g, (int32_t)(start + i));
    return LLVMBuildShuffleVector(B, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(picks, count),
                                  "");
}

static LLVMValueRef join(const gen_dots *d, LLVMValueRef done, LLVMValueRef part, unsigned have) {
    LLVMValueRef picks[GEN_DOT_MAX_PICKS];
    unsigned all = have + d->lanes;
    for (unsigned i = 0; i < have; i++)
        picks[i] = i < d->lanes ? gen_i32(d->g, (int32_t)i) : LLVMGetPoison(d->g->i32);
    if (have > d->lanes) {
        part = LLVMBuildShuffleVector(B, part, part, LLVMConstVector(picks, have), "");
    }
    for (unsigned i = 0; i < all; i++)
        picks[i] = gen_i32(d->g, (int32_t)i);
    return LLVMBuildShuffleVector(B, done, part, LLVMConstVector(picks, all), "");
}

static bool has_vnni(const gen *g) {
    const hone_target *t = g->target;
    return (hone_target_has_feature(t, "avx512vnni") && hone_target_has_feature(t, "avx512vl")) ||
           hone_target_has_feature(t, "avxvnni"); /* of 256 bits */
}

static unsigned part_lanes(const gen *g, unsigned lanes, bool is_float) {
    bool is_x86 = strncmp(g->target->triple, "x86_64", 6) == 0;
    unsigned widest = (unsigned)g->target->vector_bits / 32;
    bool has_wide = is_float || has_vnni(g) || hone_target_has_feature(g->target, "avx512bw");
    bool has_512 = hone_target_has_feature(g->target, "avx512f");
    if (is_x86 && widest > 8 && (!has_wide || !has_512)) widest = 8;
    if (is_x86 && !is_float && !hone_target_has_feature(g->target, "avx2")) widest = 4;
    if (widest < 4 || strncmp(g->target->triple, "aarch64", 7) == 0) widest = 4;
    if (widest > 16) widest = 16;
    unsigned least = 4;
    while (least < lanes && least < widest)
        least *= 2;
    return least;
}

/* With so many elements; what is added may be anything. */
static LLVMValueRef pad(const gen_dots *d, LLVMValueRef x, unsigned have, unsigned want) {
    LLVMValueRef picks[GEN_DOT_MAX_PICKS], none = LLVMGetPoison(LLVMTypeOf(x));
    if (have == want) return x;
    for (unsigned i = 0; i < want; i++)
        picks[i] = i < have ? gen_i32(d->g, (int32_t)i) : LLVMGetPoison(d->g->i32);
    return LLVMBuildShuffleVector(B, x, none, LLVMConstVector(picks, want), "");
}

/* Bytes or numbers of 16 bits, as they lie in memory. */
static LLVMValueRef side(gen *g, const hone_expr *e) {
    bool is_raw = hone_dtype_is_float(e->dtype);
    if (is_raw && e->kind != HONE_EXPR_LOAD) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "dot2 of bfloat16 that is no load"));
        return LLVMGetUndef(gen_storage_type(g, e->dtype));
    }
    return is_raw ? gen_load_stored(g, e) : gen_value(g, e);
}

LLVMValueRef gen_dot(gen *g, const hone_expr *e) {
    unsigned lanes = e->dtype.lanes, a_lanes = e->args[1]->dtype.lanes;
    unsigned group = e->op == HONE_INTRIN_DOT4 ? 4 : 2;
    bool is_float = hone_dtype_is_float(e->dtype);
    LLVMValueRef c = gen_value(g, e->args[0]), a = side(g, e->args[1]), b = side(g, e->args[2]);
    LLVMValueRef result = NULL;
    gen_dots dots = {g, part_lanes(g, lanes, is_float), group, hone_dtype_is_int(e->args[1]->dtype),
                     hone_dtype_is_int(e->args[2]->dtype)};
    const gen_dots *d = &dots;
    unsigned all = (lanes + d->lanes - 1) / d->lanes * d->lanes;
    if (group * all > GEN_DOT_MAX_PICKS) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "dot%u of %u lanes", group, lanes));
        return LLVMGetUndef(gen_type(g, e->dtype));
    }
    if (a_lanes == group) { /* the same group for all */
        a = gen_splat(g, LLVMBuildBitCast(B, a, g->i32, ""), d->lanes);
    }
    bool is_x86 = strncmp(g->target->triple, "x86_64", 6) == 0;
    bool is_arm = strncmp(g->target->triple, "aarch64", 7) == 0;
    if (a_lanes != group) a = pad(d, a, group * lanes, group * all);
    b = pad(d, b, group * lanes, group * all);
    if (lanes == 1) c = LLVMBuildBitCast(B, c, LLVMVectorType(g->i32, 1), "");
    c = pad(d, c, lanes, all);
    for (unsigned at = 0; at < all; at += d->lanes) {
        LLVMValueRef left =
            a_lanes == group ? a : gen_dot_lanes(d, a, group * at, group * d->lanes);
        LLVMValueRef right = gen_dot_lanes(d, b, group * at, group * d->lanes);
        LLVMValueRef old = gen_dot_lanes(d, c, at, d->lanes);
        LLVMValueRef part = e->op == HONE_INTRIN_DOT2_BF16 ? dpbf16(d, old, left, right)
                            : is_float                     ? by_floats(d, old, left, right)
                            : has_vnni(g)                  ? by_vnni(d, old, left, right)
                            : is_x86                       ? by_pairs(d, old, left, right)
                            : is_arm                       ? gen_dot_neon(d, old, left, right)
                                                           : by_products(d, old, left, right);
        result = result ? join(d, result, part, at) : part;
    }
    if (all != lanes) result = gen_dot_lanes(d, result, 0, lanes);
    return lanes == 1 ? LLVMBuildBitCast(B, result, g->i32, "") : result;
}
