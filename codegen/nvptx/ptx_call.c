/* codegen/nvptx/ptx_call.c - calls that GPUs make in their own way: barriers, and functions of CUDA
 * by name. */
#include <assert.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "ir/ops/named_op.h"
#include "support/core/attributes.h"

LLVMValueRef ptx_asm(gen *g, LLVMTypeRef result, const char *text, const char *constraints,
                     LLVMValueRef *args, unsigned count, uint32_t facts) {
    LLVMTypeRef types[PTX_MOST_ASM];
    assert(count <= HONE_COUNT(types));
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                         (facts & PTX_ASM_EFFECT) != 0, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef call = LLVMBuildCall2(g->builder, type, code, args, count, "");
    if (facts & PTX_ASM_CONVERGENT) {
        unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
        LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(g->context, kind, 0));
    }
    return call;
}

static LLVMValueRef meet_warp(gen *g) {
    LLVMValueRef all = gen_i32(g, -1);
    gen_intrinsic_of(g, "llvm.nvvm.bar.warp.sync", NULL, 0, &all, 1);
    return gen_i32(g, 0);
}

/* What was written to shared memory is seen by units that read it by themselves, too, where some
 * are called later. */
static LLVMValueRef meet_block(gen *g) {
    if (ptx_multiplies_later(g))
        ptx_asm(g, g->empty, "fence.proxy.async.shared::cta;", "~{memory}", NULL, 0,
                PTX_ASM_EFFECT);
    gen_intrinsic_of(g, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
    return gen_i32(g, 0);
}

static LLVMValueRef storage_sync(gen *g, const hone_expr *e) {
    const char *scope =
        e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING ? e->args[0]->u.s : "shared";
    if (strcmp(scope, "warp") == 0) return meet_warp(g);
    if (strncmp(scope, "shared", 6) == 0) return meet_block(g);
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "tvm_storage_sync of \"%s\" in a kernel", scope));
    return gen_i32(g, 0);
}

/* ---- sums of four products of bytes ---- */

static LLVMValueRef dp4a(gen *g, bool a_signed, bool b_signed, LLVMValueRef *args) {
    static const char *const texts[] = {
        "dp4a.u32.u32 $0, $1, $2, $3;", "dp4a.u32.s32 $0, $1, $2, $3;",
        "dp4a.s32.u32 $0, $1, $2, $3;", "dp4a.s32.s32 $0, $1, $2, $3;"};
    return ptx_asm(g, g->i32, texts[2 * a_signed + b_signed], "=r,r,r,r", args, 3, 0);
}

/* Four bytes as they lie, of those from `lane` on. */
static LLVMValueRef word_of(gen *g, LLVMValueRef x, unsigned lane) {
    LLVMTypeRef type = LLVMTypeOf(x);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return x;
    unsigned words = LLVMGetVectorSize(type) / 4;
    x = LLVMBuildBitCast(g->builder, x, gen_vector(g->i32, words), "");
    return words == 1 ? x : LLVMBuildExtractElement(g->builder, x, gen_i32(g, (int32_t)lane), "");
}

static LLVMValueRef dot4(gen *g, const hone_expr *e) {
    if (e->op != HONE_INTRIN_DOT4 || ptx_capability(g->target) < 61) return NULL;
    LLVMBuilderRef b = g->builder;
    unsigned lanes = e->dtype.lanes;
    LLVMValueRef c = gen_value(g, e->args[0]), result = LLVMGetPoison(gen_type(g, e->dtype));
    LLVMValueRef left = gen_value(g, e->args[1]), right = gen_value(g, e->args[2]);
    bool is_same = e->args[1]->dtype.lanes == 4; /* the same four bytes for all */
    for (unsigned i = 0; i < lanes; i++) {
        LLVMValueRef at = gen_i32(g, (int32_t)i);
        LLVMValueRef sum = lanes == 1 ? c : LLVMBuildExtractElement(b, c, at, "");
        LLVMValueRef args[] = {word_of(g, left, is_same ? 0 : i), word_of(g, right, i), sum};
        sum = dp4a(g, hone_dtype_is_int(e->args[1]->dtype), hone_dtype_is_int(e->args[2]->dtype),
                   args);
        if (lanes == 1) return sum;
        result = LLVMBuildInsertElement(b, result, sum, at, "");
    }
    return result;
}

/* (a, b, c = 0) */
static LLVMValueRef call_dp4a(gen *g, const hone_expr *e) {
    const hone_expr *a = e->args[1], *b = e->args[2];
    LLVMValueRef args[] = {word_of(g, gen_value(g, a), 0), word_of(g, gen_value(g, b), 0),
                           e->count > 3 ? gen_value(g, e->args[3]) : gen_i32(g, 0)};
    return dp4a(g, hone_dtype_is_int(a->dtype), hone_dtype_is_int(b->dtype), args);
}

/* ---- choosing ---- */

LLVMValueRef ptx_call_in(const ptx_call_row *rows, size_t count, gen *g, const hone_expr *e,
                         const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0) return rows[i].emit(g, e);
    }
    return NULL;
}

static LLVMValueRef call_by_name(gen *g, const hone_expr *e, const char *name) {
    LLVMValueRef value = ptx_warp_call(g, e, name);
    if (!value) value = ptx_atomic_call(g, e, name);
    if (!value) value = ptx_async_call(g, e, name);
    if (!value) value = ptx_barrier_call(g, e, name);
    if (!value) value = ptx_mma_call(g, e, name);
    if (!value) value = ptx_wgmma_call(g, e, name);
    if (!value) value = ptx_wgmma_lanes_call(g, e, name);
    if (!value) value = ptx_wmma_call(g, e);
    if (value) return value;
    if (strcmp(name, "cuda.cta_sync") == 0) return meet_block(g);
    if (strcmp(name, "cuda.warp_sync") == 0) return meet_warp(g);
    bool is_dp4a = strcmp(name, "__dp4a") == 0 || strcmp(name, "dp4a") == 0;
    if (is_dp4a && (e->count == 3 || e->count == 4)) return call_dp4a(g, e);
    return NULL;
}

static LLVMValueRef refuse(gen *g, const hone_expr *e, const char *name) {
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "there is no code for '%s' in a kernel", name));
    return hone_dtype_is_void(e->dtype) || hone_dtype_is_handle(e->dtype)
               ? gen_i32(g, 0)
               : LLVMGetUndef(gen_type(g, e->dtype));
}

LLVMValueRef ptx_call(gen *g, const hone_expr *e) {
    const char *name = e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING ? e->args[0]->u.s : "?";
    LLVMValueRef value;
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_STORAGE_SYNC:
        return storage_sync(g, e);
    case HONE_INTRIN_PREFETCH:
        return gen_i32(g, 0); /* other threads go on meanwhile */
    case HONE_INTRIN_DOT4:
        return dot4(g, e);
    case HONE_INTRIN_NAMED:
    case HONE_INTRIN_CALL_EXTERN:
    case HONE_INTRIN_CALL_PURE_EXTERN:
        value = call_by_name(g, e, hone_named_op_same(name));
        if (!value && hone_libm_of_call(e)) value = ptx_libm_call(g, e, name);
        return value ? value : refuse(g, e, name);
    case HONE_INTRIN_CALL_PACKED:
        return refuse(g, e, name);
    default:
        return NULL;
    }
}
