/* codegen/llvm/fault.c - what a kernel cannot do: divide by 0, reach for what is not there.
 *
 * Nothing of it ends a kernel where it happens, so that loops and vectors stay what they are: a
 * number that does no harm stands in, and a bit is set in `fault`, a register of the function. It
 * is looked at once, where the function returns: the shares of a parallel loop hand theirs on as
 * any other code. */
#include "codegen/llvm/gen.h"

static LLVMValueRef one_like(gen *g, LLVMTypeRef type) {
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef element = is_vector ? LLVMGetElementType(type) : type;
    LLVMValueRef one = LLVMConstInt(element, 1, 1);
    return is_vector ? gen_splat(g, one, LLVMGetVectorSize(type)) : one;
}

/* One bit of all lanes that count. */
static LLVMValueRef any_that_counts(gen *g, LLVMValueRef is_wrong) {
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(is_wrong)) == LLVMVectorTypeKind;
    if (!g->mask) return is_vector ? gen_any_lane(g, is_wrong) : is_wrong;
    if (is_vector) return gen_any_lane(g, LLVMBuildAnd(g->builder, is_wrong, g->mask, ""));
    return LLVMBuildAnd(g->builder, is_wrong, gen_any_lane(g, g->mask), "");
}

static void note(gen *g, codegen_fault fault, LLVMValueRef is_wrong) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef bit =
        LLVMBuildSelect(b, any_that_counts(g, is_wrong), gen_i32(g, 1 << fault), gen_i32(g, 0), "");
    LLVMValueRef before = LLVMBuildLoad2(b, g->i32, g->frame->fault, "");
    LLVMBuildStore(b, LLVMBuildOr(b, before, bit, ""), g->frame->fault);
    g->frame->may_fault = true;
}

static LLVMValueRef is_zero(gen *g, LLVMValueRef b) {
    return LLVMBuildICmp(g->builder, LLVMIntEQ, b, LLVMConstNull(LLVMTypeOf(b)), "");
}

/* LLVM (19 still does) divides by both sides of a select when they turn out to be constants, and a
 * side with a 0 in any lane makes all of its lanes poison. So no 0 may get into one: 1 is added to
 * it, which no select of LLVM's making undoes, before the lanes that are off get theirs. */
LLVMValueRef gen_checked_divisor(gen *g, const hone_expr *divisor, LLVMValueRef b) {
    if (LLVMIsConstant(b) && !gen_has_zero(b)) return b;
    LLVMValueRef wanted = gen_divisor(g, b);
    if (divisor->dtype.lanes == 1 && hone_arith_bound(&g->arith, divisor).min >= 1) return wanted;
    note(g, CODEGEN_FAULT_DIVISION, is_zero(g, wanted));
    LLVMValueRef one = LLVMBuildZExt(g->builder, is_zero(g, b), LLVMTypeOf(b), "");
    return gen_divisor(g, LLVMBuildOr(g->builder, b, one, ""));
}

LLVMValueRef gen_signed_quotient(gen *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *out_rest) {
    LLVMBuilderRef ir = g->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef all = LLVMConstAllOnes(type);
    bool may_be_minus_one = !LLVMIsConstant(b) || gen_has_lane(b, -1);
    LLVMValueRef is_minus_one = LLVMBuildICmp(ir, LLVMIntEQ, b, all, "");
    if (may_be_minus_one) b = LLVMBuildSelect(ir, is_minus_one, one_like(g, type), b, "");
    if (out_rest) *out_rest = LLVMBuildSRem(ir, a, b, "");
    LLVMValueRef quotient = LLVMBuildSDiv(ir, a, b, "");
    if (!may_be_minus_one) return quotient;
    LLVMValueRef negated = LLVMBuildSub(ir, LLVMConstNull(type), a, "");
    return LLVMBuildSelect(ir, is_minus_one, negated, quotient, "");
}

LLVMValueRef gen_checked_index(gen *g, const hone_expr *e) {
    LLVMBuilderRef b = g->builder;
    bool is_scalar = e->dtype.lanes == 1;
    LLVMValueRef at = is_scalar ? gen_index(g, e->args[0]) : gen_value(g, e->args[0]);
    LLVMValueRef extent = is_scalar ? gen_index(g, e->args[1]) : gen_value(g, e->args[1]);
    LLVMValueRef is_inside = LLVMBuildICmp(b, LLVMIntULT, at, extent, "");
    note(g, CODEGEN_FAULT_INDEX, LLVMBuildNot(b, is_inside, ""));
    return LLVMBuildSelect(b, is_inside, at, LLVMConstNull(LLVMTypeOf(at)), "");
}

/* A block that is entered when a bit is set and nothing else has failed. */
static void report(gen *g, LLVMValueRef bits, codegen_fault fault) {
    LLVMBuilderRef b = g->builder;
    LLVMBasicBlockRef wrong =
        LLVMAppendBasicBlockInContext(g->context, g->frame->function, "fault");
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMValueRef bit = LLVMBuildAnd(b, bits, gen_i32(g, 1 << fault), "");
    LLVMValueRef code = LLVMBuildLoad2(b, g->i32, g->frame->code, "");
    LLVMValueRef is_first = LLVMBuildICmp(b, LLVMIntEQ, code, gen_i32(g, 0), "");
    LLVMValueRef is_set = LLVMBuildICmp(b, LLVMIntNE, bit, gen_i32(g, 0), "");
    LLVMBuildCondBr(b, LLVMBuildAnd(b, is_set, is_first, ""), wrong, next);
    LLVMPositionBuilderAtEnd(b, wrong);
    gen_set_error(g, codegen_fault_code(fault), codegen_fault_text(fault));
    LLVMBuildStore(b, gen_i32(g, codegen_fault_code(fault)), g->frame->code);
    LLVMBuildBr(b, next);
    LLVMPositionBuilderAtEnd(b, next);
}

void gen_report_faults(gen *g) {
    if (!g->frame->may_fault) return;
    LLVMValueRef bits = LLVMBuildLoad2(g->builder, g->i32, g->frame->fault, "");
    for (int fault = 0; fault < CODEGEN_FAULT_COUNT; fault++)
        report(g, bits, (codegen_fault)fault);
}
