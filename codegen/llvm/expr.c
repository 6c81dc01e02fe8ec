/* codegen/llvm/expr.c - expressions as values of their dtype. */
#include "codegen/llvm/gen.h"

enum { MAX_SHUFFLE = 64 };

static LLVMValueRef undefined(gen *g, hone_dtype dtype) {
    return LLVMGetUndef(gen_type(g, dtype));
}

LLVMValueRef gen_contract(LLVMValueRef value) {
    if (LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value)) {
        LLVMSetFastMathFlags(value, LLVMFastMathAllowContract);
    }
    return value;
}

LLVMValueRef gen_extreme(gen *g, hone_op op, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef both[] = {x, y};
    const char *name = op == HONE_OP_MAX ? "llvm.maximum" : "llvm.minimum";
    LLVMValueRef value = gen_intrinsic(g, name, LLVMTypeOf(x), both, 2);
    LLVMSetFastMathFlags(value, LLVMFastMathNoSignedZeros);
    return value;
}

/* The product of a sum of small floats is rounded before it is added. */
static LLVMValueRef contract(const hone_expr *e, LLVMValueRef value) {
    return codegen_is_small_float(e->dtype) ? value : gen_contract(value);
}

static LLVMValueRef float_binary(gen *g, const hone_expr *e, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
        if (gen_is_lone_sum(g, e)) return LLVMBuildFAdd(ir, a, b, "");
        return contract(e, LLVMBuildFAdd(ir, a, b, ""));
    case HONE_OP_SUB:
        return contract(e, LLVMBuildFSub(ir, a, b, ""));
    case HONE_OP_MUL:
        return contract(e, LLVMBuildFMul(ir, a, b, ""));
    case HONE_OP_DIV:
        return LLVMBuildFDiv(ir, a, b, "");
    case HONE_OP_MIN:
        return LLVMBuildSelect(ir, LLVMBuildFCmp(ir, LLVMRealOLT, a, b, ""), a, b, "");
    case HONE_OP_MAX:
        if (g->is_relaxed)
            return gen_intrinsic(g, "llvm.maxnum", LLVMTypeOf(a), (LLVMValueRef[]){a, b}, 2);
        return LLVMBuildSelect(ir, LLVMBuildFCmp(ir, LLVMRealOGT, a, b, ""), a, b, "");
    case HONE_OP_EQ:
        return LLVMBuildFCmp(ir, LLVMRealOEQ, a, b, "");
    case HONE_OP_NE:
        return LLVMBuildFCmp(ir, LLVMRealUNE, a, b, "");
    case HONE_OP_LT:
        return LLVMBuildFCmp(ir, LLVMRealOLT, a, b, "");
    case HONE_OP_LE:
        return LLVMBuildFCmp(ir, LLVMRealOLE, a, b, "");
    case HONE_OP_GT:
        return LLVMBuildFCmp(ir, LLVMRealOGT, a, b, "");
    case HONE_OP_GE:
        return LLVMBuildFCmp(ir, LLVMRealOGE, a, b, "");
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD: {
        LLVMTypeRef type = LLVMTypeOf(a);
        LLVMValueRef quotient = LLVMBuildFDiv(ir, a, b, "");
        quotient = gen_intrinsic(g, "llvm.floor", type, &quotient, 1);
        if (e->op == HONE_OP_FLOORDIV) return quotient;
        return LLVMBuildFSub(ir, a, LLVMBuildFMul(ir, quotient, b, ""), "");
    }
    default:
        gen_fail(g,
                 HONE_ERROR(HONE_CODE_UNSUPPORTED, "operator '%s' on %s",
                            hone_op_function((hone_op)e->op), HONE_DTYPE_NAME(e->args[0]->dtype)));
        return undefined(g, e->dtype);
    }
}

static LLVMValueRef floor_division(gen *g, LLVMValueRef a, LLVMValueRef b, bool wants_quotient) {
    LLVMBuilderRef ir = g->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = LLVMConstNull(type), rest;
    LLVMValueRef quotient = gen_signed_quotient(g, a, b, &rest);
    LLVMValueRef is_inexact = LLVMBuildICmp(ir, LLVMIntNE, rest, zero, "");
    LLVMValueRef signs = LLVMBuildXor(ir, rest, b, "");
    LLVMValueRef fix =
        LLVMBuildAnd(ir, is_inexact, LLVMBuildICmp(ir, LLVMIntSLT, signs, zero, ""), "");
    if (!wants_quotient) {
        return LLVMBuildSelect(ir, fix, LLVMBuildAdd(ir, rest, b, ""), rest, "");
    }
    LLVMValueRef less = LLVMBuildAdd(ir, quotient, LLVMConstAllOnes(type), "");
    return LLVMBuildSelect(ir, fix, less, quotient, "");
}

bool gen_has_lane(LLVMValueRef constant, int64_t value) {
    if (LLVMGetTypeKind(LLVMTypeOf(constant)) != LLVMVectorTypeKind) {
        return !LLVMIsAConstantInt(constant) || LLVMConstIntGetSExtValue(constant) == value;
    }
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(constant)); i++) {
        LLVMValueRef lane = LLVMGetAggregateElement(constant, i);
        if (!lane || gen_has_lane(lane, value)) return true;
    }
    return false;
}

bool gen_has_zero(LLVMValueRef constant) {
    return gen_has_lane(constant, 0);
}

LLVMValueRef gen_divisor(gen *g, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(b);
    if (!g->mask || (LLVMIsConstant(b) && !gen_has_zero(b))) return b;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        unsigned lanes = LLVMGetVectorSize(type);
        LLVMValueRef one = LLVMConstInt(LLVMGetElementType(type), 1, 0);
        return LLVMBuildSelect(g->builder, g->mask, b, gen_splat(g, one, lanes), "");
    }
    LLVMValueRef is_any = gen_any_lane(g, g->mask);
    return LLVMBuildSelect(g->builder, is_any, b, LLVMConstInt(type, 1, 0), "");
}

/* The greatest that an integer is in any lane, where none is below 0 and nothing wraps on the way;
 * -1 = it may be. What divides such numbers need not look at signs. */
static int64_t natural_most(gen *g, const hone_expr *e) {
    int64_t most = -1, a, b;
    if (!hone_dtype_is_int(e->dtype)) return -1;
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        return e->u.i;
    case HONE_EXPR_VAR: {
        hone_bound bound = hone_arith_bound(&g->arith, e);
        most = e->dtype.lanes == 1 && bound.min >= 0 ? bound.max : -1;
        break;
    }
    case HONE_EXPR_BROADCAST:
        return natural_most(g, e->args[0]);
    case HONE_EXPR_RAMP:
    case HONE_EXPR_BINARY:
        a = natural_most(g, e->args[0]);
        b = natural_most(g, e->args[1]);
        if (a < 0 || b < 0) return -1;
        if (e->kind == HONE_EXPR_RAMP && __builtin_mul_overflow(b, e->dtype.lanes - 1, &b))
            return -1;
        if (hone_expr_is_divmod(e) && hone_expr_may_trap(e)) return -1;
        if (hone_expr_is_op(e, HONE_OP_FLOORDIV)) return a; /* and less */
        if (hone_expr_is_op(e, HONE_OP_FLOORMOD)) return a < b ? a : b;
        bool is_product = hone_expr_is_op(e, HONE_OP_MUL);
        bool is_sum = e->kind == HONE_EXPR_RAMP || hone_expr_is_op(e, HONE_OP_ADD);
        if (is_product ? __builtin_mul_overflow(a, b, &most)
                       : !is_sum || __builtin_add_overflow(a, b, &most)) {
            return -1;
        }
        break;
    default:
        return -1;
    }
    return e->dtype.bits == 64 || most <= INT32_MAX >> (32 - e->dtype.bits) ? most : -1;
}

static LLVMValueRef int_divide(gen *g, const hone_expr *e, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    hone_op op = (hone_op)e->op;
    bool is_signed = hone_dtype_is_int(e->args[0]->dtype) &&
                     (natural_most(g, e->args[0]) < 0 || natural_most(g, e->args[1]) < 0);
    b = gen_checked_divisor(g, e->args[1], b);
    bool wants_quotient = op == HONE_OP_FLOORDIV || op == HONE_OP_TRUNCDIV || op == HONE_OP_DIV;
    if (!is_signed)
        return wants_quotient ? LLVMBuildUDiv(ir, a, b, "") : LLVMBuildURem(ir, a, b, "");
    if (op == HONE_OP_FLOORDIV || op == HONE_OP_FLOORMOD) {
        return floor_division(g, a, b, wants_quotient);
    }
    LLVMValueRef rest, quotient = gen_signed_quotient(g, a, b, &rest);
    return wants_quotient ? quotient : rest;
}

static LLVMIntPredicate int_predicate(hone_op op, bool is_signed) {
    switch (op) {
    case HONE_OP_EQ:
        return LLVMIntEQ;
    case HONE_OP_NE:
        return LLVMIntNE;
    case HONE_OP_LT:
        return is_signed ? LLVMIntSLT : LLVMIntULT;
    case HONE_OP_LE:
        return is_signed ? LLVMIntSLE : LLVMIntULE;
    case HONE_OP_GT:
        return is_signed ? LLVMIntSGT : LLVMIntUGT;
    default:
        return is_signed ? LLVMIntSGE : LLVMIntUGE;
    }
}

static LLVMValueRef int_binary(gen *g, const hone_expr *e, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    hone_op op = (hone_op)e->op;
    bool is_signed = hone_dtype_is_int(e->args[0]->dtype);
    switch (op) {
    case HONE_OP_ADD:
        return LLVMBuildAdd(ir, a, b, "");
    case HONE_OP_SUB:
        return LLVMBuildSub(ir, a, b, "");
    case HONE_OP_MUL:
        return LLVMBuildMul(ir, a, b, "");
    case HONE_OP_MIN:
    case HONE_OP_MAX: {
        LLVMIntPredicate p = int_predicate(op == HONE_OP_MIN ? HONE_OP_LT : HONE_OP_GT, is_signed);
        return LLVMBuildSelect(ir, LLVMBuildICmp(ir, p, a, b, ""), a, b, "");
    }
    case HONE_OP_AND:
        return LLVMBuildAnd(ir, a, b, "");
    case HONE_OP_OR:
        return LLVMBuildOr(ir, a, b, "");
    default:
        if (hone_op_is_compare(op)) {
            return LLVMBuildICmp(ir, int_predicate(op, is_signed), a, b, "");
        }
        return int_divide(g, e, a, b);
    }
}

/* Whether e loads, whatever its conditions say, what `load` loads. */
static bool always_loads(const hone_expr *e, const hone_expr *load) {
    if (e->kind == HONE_EXPR_LET) return false; /* its variable is another one elsewhere */
    if (e->kind == HONE_EXPR_LOAD && hone_expr_same(e, load)) return true;
    bool is_logic = e->kind == HONE_EXPR_BINARY && (e->op == HONE_OP_AND || e->op == HONE_OP_OR);
    bool is_choice = e->kind == HONE_EXPR_CALL && e->op == HONE_INTRIN_IF_THEN_ELSE;
    uint16_t sure = is_logic || is_choice ? 1 : e->count;
    for (uint16_t i = 0; i < sure; i++) {
        if (always_loads(e->args[i], load)) return true;
    }
    return false;
}

bool gen_is_inside(gen *g, hone_buffer buffer, const hone_expr *index) {
    int64_t elements = hone_buffer_elements(hone_func_buffer(g->func, buffer));
    int64_t stride = 0, reach = 0, lanes = index->dtype.lanes;
    if (elements < 1) return false;
    if (index->kind == HONE_EXPR_RAMP) {
        stride = hone_expr_const(index->args[1]);
        index = index->args[0];
        if (stride < 0) return false; /* or unknown */
    } else if (index->dtype.lanes != 1) {
        return false;
    }
    if (__builtin_mul_overflow(stride, lanes - 1, &reach) || reach >= elements) return false;
    hone_bound bound = hone_arith_bound(&g->arith, index);
    return bound.min >= 0 && bound.max < elements - reach;
}

/* Whether lanes of e may do what the statement would not do without them. Loads inside of their
 * buffer may not, nor those of places that the statement loads anyway: so the steps of an arg-max,
 * which ask for places that they choose from, have no masks. */
static bool needs_guard(gen *g, const hone_expr *e) {
    bool is_load = e->kind == HONE_EXPR_LOAD;
    if (is_load && g->whole && always_loads(g->whole, e)) return false;
    if (is_load && (e->count != 1 || !gen_is_inside(g, e->u.buffer, e->args[0]))) return true;
    if (hone_expr_may_trap(e) || hone_expr_is_effect(e)) return true;
    for (uint16_t i = 0; i < e->count; i++) {
        if (needs_guard(g, e->args[i])) return true;
    }
    return false;
}

/* `and` and `or` evaluate their right side only when it matters: it may load out of bounds, or
 * divide by 0. */
static LLVMValueRef short_circuit(gen *g, const hone_expr *e) {
    LLVMBuilderRef ir = g->builder;
    LLVMValueRef left = gen_value(g, e->args[0]);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(ir);
    LLVMBasicBlockRef more = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    bool is_and = e->op == HONE_OP_AND;
    LLVMBuildCondBr(ir, left, is_and ? more : done, is_and ? done : more);
    LLVMPositionBuilderAtEnd(ir, more);
    LLVMValueRef right = gen_value(g, e->args[1]);
    LLVMBasicBlockRef right_end = LLVMGetInsertBlock(ir);
    LLVMBuildBr(ir, done);
    LLVMPositionBuilderAtEnd(ir, done);
    LLVMValueRef phi = LLVMBuildPhi(ir, g->i1, "");
    LLVMValueRef values[] = {LLVMConstInt(g->i1, is_and ? 0 : 1, 0), right};
    LLVMBasicBlockRef blocks[] = {from, right_end};
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

/* short_circuit of vectors: the right side only touches the lanes in which it matters. */
static LLVMValueRef masked_logic(gen *g, const hone_expr *e) {
    LLVMBuilderRef ir = g->builder;
    LLVMValueRef left = gen_value(g, e->args[0]), outer = g->mask;
    LLVMValueRef matters = e->op == HONE_OP_AND ? left : LLVMBuildNot(ir, left, "");
    g->mask = outer ? LLVMBuildAnd(ir, outer, matters, "") : matters;
    LLVMValueRef right = gen_value(g, e->args[1]);
    g->mask = outer;
    return int_binary(g, e, left, right);
}

static LLVMValueRef binary(gen *g, const hone_expr *e) {
    const hone_expr *a = e->args[0], *b = e->args[1];
    if (codegen_is_index_compare(e)) {
        return LLVMBuildICmp(g->builder, int_predicate((hone_op)e->op, true), gen_index(g, a),
                             gen_index(g, b), "");
    }
    LLVMValueRef lanes = gen_bounded_lanes(g, e);
    if (lanes) return lanes;
    bool is_logic = e->op == HONE_OP_AND || e->op == HONE_OP_OR;
    /* numbers go around it also where they need not: steps of an arg-max seldom change it */
    if (is_logic && e->dtype.lanes == 1 && hone_expr_may_fail(b)) return short_circuit(g, e);
    if (is_logic && e->dtype.lanes > 1 && needs_guard(g, b)) return masked_logic(g, e);
    LLVMValueRef x = gen_value(g, a), y = gen_value(g, b);
    return hone_dtype_is_float(a->dtype) ? float_binary(g, e, x, y) : int_binary(g, e, x, y);
}

static LLVMValueRef variable(gen *g, const hone_expr *e) {
    const gen_var *var = &g->vars[e->u.var];
    if (!var->value && hone_dtype_is_handle(e->dtype)) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->u.var);
        if (id != HONE_NO_ID) return gen_buffer(g, id);
    }
    if (!var->value) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "variable '%s' has no value here",
                               g->func->vars[e->u.var].name));
        return undefined(g, e->dtype);
    }
    if (!var->is_index) return var->value;
    LLVMTypeRef type = gen_type(g, e->dtype);
    return type == g->i64 ? var->value : LLVMBuildTrunc(g->builder, var->value, type, "");
}

static LLVMValueRef select_value(gen *g, const hone_expr *e) {
    const hone_expr *extreme = hone_expr_as_extreme(e);
    if (extreme && hone_dtype_is_float(e->dtype)) {
        LLVMValueRef x = gen_value(g, extreme->args[0]), y = gen_value(g, extreme->args[1]);
        return gen_extreme(g, (hone_op)extreme->op, x, y);
    }
    LLVMValueRef condition = gen_value(g, e->args[0]);
    LLVMValueRef a = gen_value(g, e->args[1]), b = gen_value(g, e->args[2]);
    LLVMValueRef select = LLVMBuildSelect(g->builder, condition, a, b, "");
    gen_mark_rare(g, e, select);
    return select;
}

static LLVMValueRef ramp(gen *g, const hone_expr *e) {
    unsigned lanes = e->dtype.lanes;
    LLVMTypeRef element = gen_type(g, hone_dtype_element(e->dtype));
    LLVMValueRef base = gen_splat(g, gen_value(g, e->args[0]), lanes);
    LLVMValueRef stride = gen_splat(g, gen_value(g, e->args[1]), lanes);
    LLVMValueRef steps[1024];
    if (lanes > 1024) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector of %u lanes", lanes));
        return undefined(g, e->dtype);
    }
    for (unsigned i = 0; i < lanes; i++)
        steps[i] = LLVMConstInt(element, i, 0);
    LLVMValueRef offset = LLVMBuildMul(g->builder, stride, LLVMConstVector(steps, lanes), "");
    return LLVMBuildAdd(g->builder, base, offset, "");
}

static LLVMValueRef let(gen *g, const hone_expr *e) {
    gen_var saved = g->vars[e->u.var];
    g->vars[e->u.var] = (gen_var){.value = gen_value(g, e->args[0])};
    LLVMValueRef body = gen_value(g, e->args[1]);
    g->vars[e->u.var] = saved;
    return body;
}

/* Lanes of one vector, or of two alike: what LLVM has an instruction for. NULL = something else.
 * `value_of` makes the vectors. */
static LLVMValueRef shuffle_of_two(gen *g, const hone_expr *e,
                                   LLVMValueRef (*value_of)(gen *g, const hone_expr *e)) {
    LLVMValueRef picks[MAX_SHUFFLE];
    uint16_t vectors = (uint16_t)(e->count - e->dtype.lanes), lanes = e->args[0]->dtype.lanes,
             count = e->dtype.lanes;
    bool is_alike = vectors == 1 || (vectors == 2 && e->args[1]->dtype.lanes == lanes);
    if (!is_alike || lanes < 2 || count < 2 || count > MAX_SHUFFLE) return NULL;
    for (uint16_t i = 0; i < count; i++) {
        int64_t lane = hone_expr_const(e->args[vectors + i]);
        if (lane < 0 || lane >= lanes * vectors) return NULL;
        picks[i] = gen_i32(g, (int32_t)lane);
    }
    LLVMValueRef a = value_of(g, e->args[0]);
    LLVMValueRef b = vectors == 2 ? value_of(g, e->args[1]) : LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(g->builder, a, b, LLVMConstVector(picks, count), "");
}

/* Vectors one after the other, then the lanes picked by the constants behind them. */
static LLVMValueRef shuffle(gen *g, const hone_expr *e) {
    uint16_t picks = e->dtype.lanes, vectors = (uint16_t)(e->count - picks);
    LLVMTypeRef type = gen_type(g, e->dtype);
    LLVMValueRef two = shuffle_of_two(g, e, gen_value);
    if (two) return two;
    LLVMValueRef result = LLVMGetPoison(type);
    for (uint16_t i = 0; i < picks; i++) {
        int64_t lane = hone_expr_const(e->args[vectors + i]);
        uint16_t which = 0;
        while (which < vectors && lane >= e->args[which]->dtype.lanes) {
            lane -= e->args[which++]->dtype.lanes;
        }
        if (lane < 0 || which == vectors) {
            gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "shuffle picks a lane that is not there"));
            return LLVMGetUndef(type);
        }
        LLVMValueRef value = gen_value(g, e->args[which]);
        if (e->args[which]->dtype.lanes > 1) {
            value = LLVMBuildExtractElement(g->builder, value, gen_i32(g, (int32_t)lane), "");
        }
        if (picks == 1) return value;
        result = LLVMBuildInsertElement(g->builder, result, value, gen_i32(g, i), "");
    }
    return result;
}

static LLVMValueRef integer(gen *g, const hone_expr *e) {
    LLVMTypeRef type = gen_type(g, hone_dtype_element(e->dtype));
    return gen_splat(g, LLVMConstInt(type, (unsigned long long)e->u.i, 1), e->dtype.lanes);
}

/* The value of e; an operation on small floats as it comes, not yet rounded. */
static LLVMValueRef unrounded(gen *g, const hone_expr *e) {
    if (g->error) return undefined(g, e->dtype);
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
        return integer(g, e);
    case HONE_EXPR_FLOAT: {
        LLVMTypeRef type = gen_type(g, hone_dtype_element(e->dtype));
        return gen_splat(g, LLVMConstReal(type, codegen_float_constant(e)), e->dtype.lanes);
    }
    case HONE_EXPR_STRING:
        return LLVMBuildGlobalStringPtr(g->builder, e->u.s, "text");
    case HONE_EXPR_VAR:
        return variable(g, e);
    case HONE_EXPR_BINARY:
        return binary(g, e);
    case HONE_EXPR_NOT:
        return LLVMBuildNot(g->builder, gen_value(g, e->args[0]), "");
    case HONE_EXPR_SELECT:
        return select_value(g, e);
    case HONE_EXPR_CAST:
        return gen_cast(g, e->args[0]->dtype, e->dtype, gen_value(g, e->args[0]));
    case HONE_EXPR_LOAD:
        return gen_load(g, e);
    case HONE_EXPR_CALL:
        return gen_call(g, e);
    case HONE_EXPR_RAMP:
        return ramp(g, e);
    case HONE_EXPR_BROADCAST:
        return gen_splat(g, gen_value(g, e->args[0]), e->dtype.lanes);
    case HONE_EXPR_SHUFFLE:
        return shuffle(g, e);
    case HONE_EXPR_LET:
        return let(g, e);
    }
    return undefined(g, e->dtype);
}

LLVMValueRef gen_value(gen *g, const hone_expr *e) {
    LLVMValueRef value = unrounded(g, e);
    return codegen_is_unrounded(e) && !g->error ? gen_round_small(g, e->dtype, value) : value;
}

void gen_effect(gen *g, const hone_expr *e) {
    unrounded(g, e);
}

LLVMValueRef gen_stored_value(gen *g, const hone_expr *e) {
    if (e->kind == HONE_EXPR_LOAD) return gen_load_stored(g, e);
    if (e->kind == HONE_EXPR_SHUFFLE && !g->error) {
        LLVMValueRef two = shuffle_of_two(g, e, gen_stored_value);
        if (two) return two;
    }
    if (e->kind == HONE_EXPR_CAST) {
        return gen_cast_stored(g, e->args[0]->dtype, e->dtype, gen_value(g, e->args[0]));
    }
    LLVMValueRef value = unrounded(g, e);
    if (g->error) return LLVMGetUndef(gen_storage_type(g, e->dtype));
    return gen_to_storage(g, e->dtype, value);
}

LLVMValueRef gen_condition(gen *g, const hone_expr *e) {
    LLVMValueRef value = gen_value(g, e);
    if (hone_dtype_is_bool(e->dtype)) return value;
    return LLVMBuildICmp(g->builder, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
}
