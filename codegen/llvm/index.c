/* codegen/llvm/index.c - integer expressions as mathematical integers, in i64.
 *
 * Indices and loop bounds are never meant to wrap, so they are computed in 64 bits with nsw, which
 * lets LLVM fold them into addressing modes. What may wrap (ir/arith/exact.c) is computed as a
 * value and extended, as is what is not arithmetic (loads, calls). */
#include "codegen/llvm/gen.h"

/* The i64 of an integer expression that is known not to wrap. */
static LLVMValueRef number(gen *g, const hone_expr *e);

static LLVMValueRef extend(gen *g, const hone_expr *e) {
    LLVMValueRef value = gen_value(g, e);
    if (hone_dtype_is_float(e->dtype) || hone_dtype_is_handle(e->dtype) || e->dtype.lanes != 1) {
        gen_fail(
            g, HONE_ERROR(HONE_CODE_INVALID, "an index is of type %s", HONE_DTYPE_NAME(e->dtype)));
        return gen_i64(g, 0);
    }
    if (e->dtype.bits == 64 && !hone_dtype_is_bool(e->dtype)) return value;
    return hone_dtype_is_int(e->dtype) ? LLVMBuildSExt(g->builder, value, g->i64, "")
                                       : LLVMBuildZExt(g->builder, value, g->i64, "");
}

/* x // d and x % d for a constant power of two are a shift and a mask, also for negative x. */
static bool power_of_two(const hone_expr *e, int64_t *out_shift) {
    int64_t value = hone_expr_const(e);
    if (value <= 0 || (value & (value - 1)) != 0) return false;
    *out_shift = __builtin_ctzll((unsigned long long)value);
    return true;
}

static LLVMValueRef floor_divide(gen *g, const hone_expr *e, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    LLVMValueRef zero = gen_i64(g, 0), rest;
    bool wants_quotient = e->op == HONE_OP_FLOORDIV;
    if (hone_expr_const(e->args[1]) > 0 && hone_arith_bound(&g->arith, e->args[0]).min >= 0) {
        return wants_quotient ? LLVMBuildUDiv(ir, a, b, "") : LLVMBuildURem(ir, a, b, "");
    }
    LLVMValueRef quotient = gen_signed_quotient(g, a, b, &rest);
    LLVMValueRef is_inexact = LLVMBuildICmp(ir, LLVMIntNE, rest, zero, "");
    LLVMValueRef signs = LLVMBuildXor(ir, rest, b, "");
    LLVMValueRef differ = LLVMBuildICmp(ir, LLVMIntSLT, signs, zero, "");
    LLVMValueRef fix = LLVMBuildAnd(ir, is_inexact, differ, "");
    if (wants_quotient) {
        LLVMValueRef less = LLVMBuildSub(ir, quotient, gen_i64(g, 1), "");
        return LLVMBuildSelect(ir, fix, less, quotient, "");
    }
    LLVMValueRef more = LLVMBuildAdd(ir, rest, b, "");
    return LLVMBuildSelect(ir, fix, more, rest, "");
}

static LLVMValueRef divide(gen *g, const hone_expr *e, LLVMValueRef a) {
    LLVMValueRef rest, quotient;
    LLVMValueRef b = gen_checked_divisor(g, e->args[1], number(g, e->args[1]));
    if (hone_expr_is_divmod(e)) return floor_divide(g, e, a, b);
    quotient = gen_signed_quotient(g, a, b, &rest);
    return e->op == HONE_OP_TRUNCDIV ? quotient : rest;
}

static LLVMValueRef pick(gen *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(g->builder, LLVMBuildICmp(g->builder, predicate, a, b, ""), a, b, "");
}

static LLVMValueRef binary(gen *g, const hone_expr *e) {
    LLVMBuilderRef ir = g->builder;
    int64_t shift;
    LLVMValueRef a = number(g, e->args[0]);
    if (e->op == HONE_OP_FLOORDIV && power_of_two(e->args[1], &shift)) {
        return LLVMBuildAShr(ir, a, gen_i64(g, shift), "");
    }
    if (e->op == HONE_OP_FLOORMOD && power_of_two(e->args[1], &shift)) {
        return LLVMBuildAnd(ir, a, gen_i64(g, ((int64_t)1 << shift) - 1), "");
    }
    if (e->op >= HONE_OP_FLOORDIV && e->op <= HONE_OP_TRUNCMOD) return divide(g, e, a);
    LLVMValueRef b = number(g, e->args[1]);
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
        return LLVMBuildNSWAdd(ir, a, b, "");
    case HONE_OP_SUB:
        return LLVMBuildNSWSub(ir, a, b, "");
    case HONE_OP_MUL:
        return LLVMBuildNSWMul(ir, a, b, "");
    case HONE_OP_MIN:
        return pick(g, LLVMIntSLT, a, b);
    case HONE_OP_MAX:
        return pick(g, LLVMIntSGT, a, b);
    default:
        return extend(g, e);
    }
}

static LLVMValueRef number(gen *g, const hone_expr *e) {
    if (e->dtype.lanes != 1 || hone_dtype_is_float(e->dtype)) return extend(g, e);
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        return gen_i64(g, e->u.i);
    case HONE_EXPR_VAR:
        if (g->vars[e->u.var].is_index) return g->vars[e->u.var].value;
        return extend(g, e);
    case HONE_EXPR_BINARY:
        return hone_expr_is_pure_index(e) ? binary(g, e) : extend(g, e);
    case HONE_EXPR_SELECT:
        if (!hone_expr_is_pure_index(e)) return extend(g, e);
        return LLVMBuildSelect(g->builder, gen_condition(g, e->args[0]), number(g, e->args[1]),
                               number(g, e->args[2]), "");
    case HONE_EXPR_CAST:
        if (hone_dtype_is_integer(e->args[0]->dtype) && e->args[0]->dtype.bits <= e->dtype.bits &&
            e->args[0]->dtype.lanes == 1) {
            return number(g, e->args[0]);
        }
        return extend(g, e);
    case HONE_EXPR_CALL:
        return e->op == HONE_INTRIN_CHECKED_INDEX ? gen_checked_index(g, e) : extend(g, e);
    default:
        return extend(g, e);
    }
}

LLVMValueRef gen_index(gen *g, const hone_expr *e) {
    return hone_arith_is_exact(&g->arith, e) ? number(g, e) : extend(g, e);
}
