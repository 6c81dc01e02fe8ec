/* codegen/nvptx/ptx_atomic.c - updates of an element that several threads may do at once: one
 * instruction where there is one for the type, else a loop until nobody came in between. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "ir/ops/named_op.h"
#include "support/core/attributes.h"

/* ---- one instruction ---- */

static bool as_instruction(hone_atomic u, hone_dtype dtype, LLVMAtomicRMWBinOp *out) {
    static const LLVMAtomicRMWBinOp ops[] = {
        [HONE_ATOMIC_ADD] = LLVMAtomicRMWBinOpAdd, [HONE_ATOMIC_SUB] = LLVMAtomicRMWBinOpSub,
        [HONE_ATOMIC_MIN] = LLVMAtomicRMWBinOpMin, [HONE_ATOMIC_MAX] = LLVMAtomicRMWBinOpMax,
        [HONE_ATOMIC_AND] = LLVMAtomicRMWBinOpAnd, [HONE_ATOMIC_OR] = LLVMAtomicRMWBinOpOr,
        [HONE_ATOMIC_XOR] = LLVMAtomicRMWBinOpXor, [HONE_ATOMIC_EXCHANGE] = LLVMAtomicRMWBinOpXchg};
    if (u == HONE_ATOMIC_COMPARE || dtype.bits < 32) return false;
    *out = ops[u];
    if (hone_dtype_is_float(dtype)) {
        *out = LLVMAtomicRMWBinOpFAdd;
        return u == HONE_ATOMIC_ADD;
    }
    if (!hone_dtype_is_int(dtype) && u == HONE_ATOMIC_MIN) *out = LLVMAtomicRMWBinOpUMin;
    if (!hone_dtype_is_int(dtype) && u == HONE_ATOMIC_MAX) *out = LLVMAtomicRMWBinOpUMax;
    return true;
}

/* ---- a loop ---- */

static LLVMValueRef less(gen *g, hone_dtype dtype, LLVMValueRef a, LLVMValueRef b) {
    if (hone_dtype_is_float(dtype)) return LLVMBuildFCmp(g->builder, LLVMRealOLT, a, b, "");
    LLVMIntPredicate p = hone_dtype_is_int(dtype) ? LLVMIntSLT : LLVMIntULT;
    return LLVMBuildICmp(g->builder, p, a, b, "");
}

static LLVMValueRef updated(gen *g, hone_atomic u, hone_dtype dtype, LLVMValueRef old,
                            LLVMValueRef value) {
    LLVMBuilderRef b = g->builder;
    bool is_float = hone_dtype_is_float(dtype);
    switch (u) {
    case HONE_ATOMIC_ADD:
        return is_float ? LLVMBuildFAdd(b, old, value, "") : LLVMBuildAdd(b, old, value, "");
    case HONE_ATOMIC_SUB:
        return is_float ? LLVMBuildFSub(b, old, value, "") : LLVMBuildSub(b, old, value, "");
    case HONE_ATOMIC_MIN:
        return LLVMBuildSelect(b, less(g, dtype, old, value), old, value, "");
    case HONE_ATOMIC_MAX:
        return LLVMBuildSelect(b, less(g, dtype, value, old), old, value, "");
    case HONE_ATOMIC_EXCHANGE:
    case HONE_ATOMIC_COMPARE:
        return value;
    default:
        break;
    }
    if (is_float) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "bits of a float are updated atomically"));
        return value;
    }
    if (u == HONE_ATOMIC_AND) return LLVMBuildAnd(b, old, value, "");
    return u == HONE_ATOMIC_OR ? LLVMBuildOr(b, old, value, "") : LLVMBuildXor(b, old, value, "");
}

/* The element as bits; `expected` (or NULL) must be there for a change. */
static LLVMValueRef by_loop(gen *g, hone_atomic u, hone_dtype dtype, LLVMValueRef at,
                            LLVMValueRef value, LLVMValueRef expected) {
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef stored = gen_storage_type(g, dtype);
    LLVMTypeRef bits = LLVMIntTypeInContext(g->context, (unsigned)hone_dtype_bytes(dtype) * 8);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), again = gen_block(g, "again");
    LLVMBasicBlockRef change = gen_block(g, ""), after = gen_block(g, "");
    LLVMValueRef first = LLVMBuildLoad2(b, bits, at, "");
    LLVMSetVolatile(first, 1);
    LLVMBuildBr(b, again);
    LLVMPositionBuilderAtEnd(b, again);
    LLVMValueRef held = LLVMBuildPhi(b, bits, "");
    LLVMValueRef old = gen_from_storage(g, dtype, LLVMBuildBitCast(b, held, stored, ""));
    if (expected) {
        LLVMValueRef is_it = hone_dtype_is_float(dtype)
                                 ? LLVMBuildFCmp(b, LLVMRealOEQ, old, expected, "")
                                 : LLVMBuildICmp(b, LLVMIntEQ, old, expected, "");
        LLVMBuildCondBr(b, is_it, change, after);
    } else {
        LLVMBuildBr(b, change);
    }
    LLVMPositionBuilderAtEnd(b, change);
    LLVMValueRef new = gen_to_storage(g, dtype, updated(g, u, dtype, old, value));
    new = LLVMBuildBitCast(b, new, bits, "");
    LLVMValueRef both = LLVMBuildAtomicCmpXchg(b, at, held, new, LLVMAtomicOrderingMonotonic,
                                               LLVMAtomicOrderingMonotonic, 0);
    LLVMValueRef found = LLVMBuildExtractValue(b, both, 0, "");
    LLVMBuildCondBr(b, LLVMBuildExtractValue(b, both, 1, ""), after, again);
    LLVMValueRef values[] = {first, found};
    LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(b)};
    LLVMAddIncoming(held, values, blocks, 2);
    LLVMPositionBuilderAtEnd(b, after);
    return old;
}

/* ---- */

static LLVMValueRef refuse(gen *g, const hone_expr *e, const char *name) {
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of %s", name,
                           HONE_DTYPE_NAME(e->args[2]->dtype)));
    return gen_i32(g, 0);
}

static LLVMValueRef emit(gen *g, const hone_expr *e, hone_atomic u) {
    hone_dtype dtype = e->args[2]->dtype;
    LLVMAtomicRMWBinOp op;
    LLVMValueRef at = gen_value(g, e->args[1]), value = gen_value(g, e->args[2]), old;
    LLVMValueRef expected = u == HONE_ATOMIC_COMPARE ? value : NULL;
    if (expected) value = gen_value(g, e->args[3]);
    if (g->error) return gen_i32(g, 0);
    if (as_instruction(u, dtype, &op)) {
        old = LLVMBuildAtomicRMW(g->builder, op, at, value, LLVMAtomicOrderingMonotonic, 0);
    } else {
        old = by_loop(g, u, dtype, at, value, expected);
    }
    return hone_dtype_equal(e->dtype, dtype) ? old : gen_i32(g, 0); /* else it is not used */
}

LLVMValueRef ptx_atomic_call(gen *g, const hone_expr *e, const char *name) {
    hone_atomic update = hone_atomic_of(name, e->count);
    if (update == HONE_ATOMIC_NONE) return NULL;
    hone_dtype dtype = e->args[2]->dtype;
    bool fits = dtype.lanes == 1 && !hone_dtype_is_bool(dtype);
    return fits ? emit(g, e, update) : refuse(g, e, e->args[0]->u.s);
}
