/* codegen/llvm/types.c - dtypes as LLVM types, storage forms, conversions.
 *
 * float16 uses the processor's conversions where it has them (F16C, AArch64); bfloat16 and shorter
 * floats are converted with integer operations, because the calls that LLVM would make have no
 * place in a kernel. Rounding is to nearest even everywhere. */
#include "codegen/llvm/gen.h"

#include "codegen/llvm/smallfloat.h"

LLVMTypeRef gen_vector(LLVMTypeRef element, unsigned lanes) {
    return lanes > 1 ? LLVMVectorType(element, lanes) : element;
}

static LLVMTypeRef int_type(gen *g, unsigned bits) {
    return bits == 1 ? g->i1 : LLVMIntTypeInContext(g->context, bits);
}

LLVMTypeRef gen_type(gen *g, hone_dtype dtype) {
    LLVMTypeRef element;
    if (hone_dtype_is_bool(dtype))
        element = g->i1;
    else if (hone_dtype_is_integer(dtype))
        element = int_type(g, dtype.bits);
    else if (hone_dtype_is_float(dtype))
        element = dtype.bits == 64 ? g->f64 : g->f32;
    else if (hone_dtype_is_handle(dtype))
        element = g->ptr;
    else
        element = g->empty;
    return element == g->empty ? element : gen_vector(element, dtype.lanes);
}

LLVMTypeRef gen_storage_type(gen *g, hone_dtype dtype) {
    LLVMTypeRef element;
    if (hone_dtype_is_bool(dtype))
        element = g->i8;
    else if (dtype.code == HONE_DTYPE_CODE_FLOAT && dtype.bits == 16)
        element = gen_stored_half(g);
    else if (codegen_is_small_float(dtype) || hone_dtype_is_integer(dtype))
        element = int_type(g, dtype.bits < 8 ? 8 : dtype.bits);
    else
        return gen_type(g, dtype);
    return gen_vector(element, dtype.lanes);
}

LLVMValueRef gen_i64(gen *g, int64_t value) {
    return LLVMConstInt(g->i64, (unsigned long long)value, 1);
}

LLVMValueRef gen_i32(gen *g, int32_t value) {
    return LLVMConstInt(g->i32, (unsigned long long)(int64_t)value, 1);
}

LLVMValueRef gen_splat(gen *g, LLVMValueRef scalar, unsigned lanes) {
    if (lanes <= 1) return scalar;
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), lanes);
    LLVMValueRef one =
        LLVMBuildInsertElement(g->builder, LLVMGetPoison(type), scalar, gen_i32(g, 0), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(g->i32, lanes));
    return LLVMBuildShuffleVector(g->builder, one, LLVMGetPoison(type), zeros, "splat");
}

LLVMValueRef gen_any_lane(gen *g, LLVMValueRef mask) {
    LLVMTypeRef bits = LLVMIntTypeInContext(g->context, LLVMGetVectorSize(LLVMTypeOf(mask)));
    LLVMValueRef all = LLVMBuildBitCast(g->builder, mask, bits, "");
    return LLVMBuildICmp(g->builder, LLVMIntNE, all, LLVMConstNull(bits), "");
}

LLVMValueRef gen_to_storage(gen *g, hone_dtype dtype, LLVMValueRef value) {
    LLVMTypeRef type = gen_storage_type(g, dtype);
    if (hone_dtype_is_bool(dtype)) return LLVMBuildZExt(g->builder, value, type, "");
    if (!codegen_is_small_float(dtype)) {
        if (LLVMTypeOf(value) == type) return value;
        return hone_dtype_is_int(dtype) /* the byte holds the same number */
                   ? LLVMBuildSExt(g->builder, value, type, "")
                   : LLVMBuildZExt(g->builder, value, type, "");
    }
    LLVMValueRef stored = g->processor->narrow ? g->processor->narrow(g, dtype, value) : NULL;
    if (stored) return stored;
    if (dtype.code == HONE_DTYPE_CODE_FLOAT) return gen_f32_to_f16(g, value, dtype.lanes);
    return gen_f32_to_small(g, dtype, value);
}

LLVMValueRef gen_from_storage(gen *g, hone_dtype dtype, LLVMValueRef stored) {
    LLVMTypeRef type = gen_type(g, dtype);
    if (hone_dtype_is_bool(dtype)) {
        return LLVMBuildICmp(g->builder, LLVMIntNE, stored, LLVMConstNull(LLVMTypeOf(stored)), "");
    }
    if (!codegen_is_small_float(dtype)) {
        return LLVMTypeOf(stored) == type ? stored : LLVMBuildTrunc(g->builder, stored, type, "");
    }
    if (dtype.code == HONE_DTYPE_CODE_FLOAT) return gen_f16_to_f32(g, stored, dtype.lanes);
    return gen_small_to_f32(g, dtype, stored);
}

LLVMValueRef gen_round_small(gen *g, hone_dtype dtype, LLVMValueRef value) {
    return gen_from_storage(g, dtype, gen_to_storage(g, dtype, value));
}

/* A double as a float whose last bit holds what is lost: rounding that once more, to a type with
 * two bits less or fewer, rounds once. */
static LLVMValueRef to_odd(gen *g, LLVMValueRef value, LLVMTypeRef type) {
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef wide = LLVMTypeOf(value);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef word = gen_vector(g->i32, is_vector ? LLVMGetVectorSize(type) : 1);
    LLVMValueRef near = LLVMBuildFPTrunc(b, value, type, "");
    LLVMValueRef back = LLVMBuildFPExt(b, near, wide, "");
    LLVMValueRef sizes[] = {gen_intrinsic(g, "llvm.fabs", wide, &back, 1),
                            gen_intrinsic(g, "llvm.fabs", wide, &value, 1)};
    LLVMValueRef is_over = LLVMBuildFCmp(b, LLVMRealOGT, sizes[0], sizes[1], "");
    LLVMValueRef is_off = LLVMBuildFCmp(b, LLVMRealONE, back, value, "");
    LLVMValueRef bits = LLVMBuildBitCast(b, near, word, "");
    bits = LLVMBuildAdd(b, bits, LLVMBuildSExt(b, is_over, word, ""), "");
    bits = LLVMBuildOr(b, bits, LLVMBuildZExt(b, is_off, word, ""), "");
    return LLVMBuildBitCast(b, bits, type, "");
}

static LLVMValueRef from_float(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value) {
    LLVMTypeRef type = gen_type(g, to);
    LLVMBuilderRef b = g->builder;
    if (hone_dtype_is_bool(to)) {
        return LLVMBuildFCmp(b, LLVMRealUNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
    }
    if (hone_dtype_is_integer(to)) return gen_saturate(g, to, value);
    bool is_wide_from = from.bits == 64, is_wide_to = to.bits == 64;
    if (is_wide_from && !is_wide_to) {
        value = codegen_narrows_twice(from, to) ? to_odd(g, value, type)
                                                : LLVMBuildFPTrunc(b, value, type, "");
    }
    return !is_wide_from && is_wide_to ? LLVMBuildFPExt(b, value, type, "") : value;
}

static LLVMValueRef from_integer(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value) {
    LLVMTypeRef type = gen_type(g, to);
    LLVMBuilderRef b = g->builder;
    bool is_signed = hone_dtype_is_int(from);
    if (hone_dtype_is_bool(to)) {
        return LLVMBuildICmp(b, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
    }
    if (hone_dtype_is_float(to)) {
        bool is_wide = codegen_narrows_twice(from, to);
        LLVMTypeRef first = is_wide ? gen_vector(g->f64, to.lanes) : type;
        value =
            is_signed ? LLVMBuildSIToFP(b, value, first, "") : LLVMBuildUIToFP(b, value, first, "");
        return is_wide ? to_odd(g, value, type) : value;
    }
    unsigned have = hone_dtype_is_bool(from) ? 1 : from.bits;
    if (to.bits < have) return LLVMBuildTrunc(b, value, type, "");
    if (to.bits == have) return value;
    return is_signed ? LLVMBuildSExt(b, value, type, "") : LLVMBuildZExt(b, value, type, "");
}

/* A small float is not rounded yet. */
static LLVMValueRef convert(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value) {
    if (hone_dtype_equal(from, to)) return value;
    if (from.lanes == 1 && to.lanes > 1) {
        value = gen_splat(g, value, to.lanes);
        from.lanes = to.lanes;
        if (hone_dtype_equal(from, to)) return value;
    }
    if (hone_dtype_is_handle(from) || hone_dtype_is_handle(to)) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "cannot convert %s to %s",
                               HONE_DTYPE_NAME(from), HONE_DTYPE_NAME(to)));
        return LLVMGetUndef(gen_type(g, to));
    }
    return hone_dtype_is_float(from) ? from_float(g, from, to, value)
                                     : from_integer(g, from, to, value);
}

LLVMValueRef gen_cast(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value) {
    bool is_rounded = codegen_is_small_float(to) && !hone_dtype_same_element(from, to);
    value = convert(g, from, to, value);
    return is_rounded && !g->error ? gen_round_small(g, to, value) : value;
}

LLVMValueRef gen_cast_stored(gen *g, hone_dtype from, hone_dtype to, LLVMValueRef value) {
    value = convert(g, from, to, value);
    return g->error ? LLVMGetUndef(gen_storage_type(g, to)) : gen_to_storage(g, to, value);
}
