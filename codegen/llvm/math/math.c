/* codegen/llvm/math/math.c - calls: intrinsics of LLVM, functions of libm, bit operations, choices.
 *
 * float16 and its relatives arrive as float, so the float function serves them. Most functions of
 * numbers are polynomials (vecmath.c); for libm a vector is taken apart into scalars. */
#include "codegen/llvm/gen.h"

#include <stdio.h>
#include <string.h>

#include "support/core/attributes.h"

/* What a call of numbers becomes that has no polynomial: an LLVM intrinsic that is one instruction.
 */
static const struct math_row {
    hone_intrin intrin;
    const char *llvm;
} math_rows[] = {
    {HONE_INTRIN_SQRT,      "llvm.sqrt"     },
    {HONE_INTRIN_FLOOR,     "llvm.floor"    },
    {HONE_INTRIN_CEIL,      "llvm.ceil"     },
    {HONE_INTRIN_ROUND,     "llvm.nearbyint"},
    {HONE_INTRIN_NEARBYINT, "llvm.nearbyint"},
    {HONE_INTRIN_TRUNC,     "llvm.trunc"    },
    {HONE_INTRIN_FABS,      "llvm.fabs"     },
    {HONE_INTRIN_COPYSIGN,  "llvm.copysign" },
    {HONE_INTRIN_FMA,       "llvm.fma"      },
};

static LLVMValueRef undefined(gen *g, const hone_expr *e) {
    return LLVMGetUndef(gen_type(g, e->dtype));
}

LLVMValueRef gen_intrinsic_of(gen *g, const char *name, LLVMTypeRef *types, unsigned type_count,
                              LLVMValueRef *args, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, types, type_count);
    LLVMTypeRef signature = LLVMIntrinsicGetType(g->context, id, types, type_count);
    return LLVMBuildCall2(g->builder, signature, function, args, count, "");
}

LLVMValueRef gen_intrinsic(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned count) {
    return gen_intrinsic_of(g, name, &type, 1, args, count);
}

static LLVMValueRef libm_call(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                              unsigned count) {
    LLVMValueRef value = g->processor->libm(g, name, type, args, count);
    if (value) return value;
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of %s", name,
                           type == g->f32 ? "float32" : "float64"));
    return LLVMGetUndef(type);
}

LLVMValueRef gen_libm(gen *g, const char *name, hone_dtype dtype, LLVMValueRef *args,
                      unsigned count) {
    LLVMTypeRef type = gen_type(g, dtype);
    LLVMTypeRef element = gen_type(g, hone_dtype_element(dtype));
    if (dtype.lanes == 1) return libm_call(g, name, element, args, count);
    LLVMValueRef result = LLVMGetPoison(type);
    for (unsigned lane = 0; lane < dtype.lanes; lane++) {
        LLVMValueRef at = gen_i32(g, (int32_t)lane), scalars[4];
        for (unsigned i = 0; i < count; i++) {
            scalars[i] = LLVMBuildExtractElement(g->builder, args[i], at, "");
        }
        LLVMValueRef value = libm_call(g, name, element, scalars, count);
        result = LLVMBuildInsertElement(g->builder, result, value, at, "");
    }
    return result;
}

static LLVMValueRef constant(gen *g, const hone_expr *e, double value) {
    LLVMTypeRef type = gen_type(g, hone_dtype_element(e->dtype));
    return gen_splat(g, LLVMConstReal(type, value), e->dtype.lanes);
}

static LLVMValueRef inverse_root(gen *g, const hone_expr *e, LLVMValueRef x) {
    LLVMValueRef root = gen_intrinsic(g, "llvm.sqrt", gen_type(g, e->dtype), &x, 1);
    return LLVMBuildFDiv(g->builder, constant(g, e, 1.0), root, "");
}

/* The next number of a type: bits of one sign count up from zero. */
static LLVMValueRef next_number(gen *g, hone_dtype dtype, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef ir = g->builder;
    LLVMTypeRef element = LLVMIntTypeInContext(g->context, dtype.bits < 8 ? 8 : dtype.bits);
    LLVMTypeRef word = gen_vector(element, dtype.lanes);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(a));
    LLVMValueRef one = gen_splat(g, LLVMConstInt(element, 1, 0), dtype.lanes);
    LLVMValueRef sign =
        gen_splat(g, LLVMConstInt(element, UINT64_C(1) << (dtype.bits - 1), 0), dtype.lanes);
    LLVMValueRef grows = LLVMBuildICmp(ir, LLVMIntEQ, LLVMBuildFCmp(ir, LLVMRealOLT, a, b, ""),
                                       LLVMBuildFCmp(ir, LLVMRealOGT, a, zero, ""), "");
    LLVMValueRef bits = LLVMBuildBitCast(ir, gen_to_storage(g, dtype, a), word, "");
    LLVMValueRef step = LLVMBuildSelect(ir, grows, one, LLVMConstAllOnes(word), "");
    LLVMValueRef first = LLVMBuildSelect(ir, LLVMBuildFCmp(ir, LLVMRealOLT, b, zero, ""),
                                         LLVMBuildOr(ir, sign, one, ""), one, "");
    bits = LLVMBuildSelect(ir, LLVMBuildFCmp(ir, LLVMRealOEQ, a, zero, ""), first,
                           LLVMBuildAdd(ir, bits, step, ""), "");
    bits = LLVMBuildBitCast(ir, bits, gen_storage_type(g, dtype), "");
    LLVMValueRef next = gen_from_storage(g, dtype, bits);
    next = LLVMBuildSelect(ir, LLVMBuildFCmp(ir, LLVMRealOEQ, a, b, ""), b, next, "");
    LLVMValueRef is_nan = LLVMBuildFCmp(ir, LLVMRealUNO, a, b, "");
    return LLVMBuildSelect(ir, is_nan, LLVMBuildFAdd(ir, a, b, ""), next, "");
}

static LLVMValueRef math_call(gen *g, const hone_expr *e) {
    LLVMValueRef args[4];
    if (e->count > 4) return NULL;
    for (uint16_t i = 0; i < e->count; i++)
        args[i] = gen_value(g, e->args[i]);
    LLVMValueRef value = gen_vector_math(g, (hone_intrin)e->op, args, e->dtype.lanes);
    if (value) return value;
    if (e->op == HONE_INTRIN_RSQRT) return inverse_root(g, e, args[0]);
    if (e->op == HONE_INTRIN_NEXTAFTER) return next_number(g, e->dtype, args[0], args[1]);
    for (size_t i = 0; i < HONE_COUNT(math_rows); i++) {
        const struct math_row *row = &math_rows[i];
        if (row->intrin != (hone_intrin)e->op) continue;
        return gen_intrinsic(g, row->llvm, gen_type(g, e->dtype), args, e->count);
    }
    return NULL;
}

static LLVMValueRef absolute(gen *g, const hone_expr *e) {
    LLVMValueRef x = gen_value(g, e->args[0]);
    LLVMTypeRef type = gen_type(g, e->dtype);
    if (hone_dtype_is_float(e->dtype)) return gen_intrinsic(g, "llvm.fabs", type, &x, 1);
    if (!hone_dtype_is_int(e->dtype)) return x;
    LLVMValueRef negative = LLVMBuildNeg(g->builder, x, "");
    LLVMValueRef is_negative = LLVMBuildICmp(g->builder, LLVMIntSLT, x, LLVMConstNull(type), "");
    return LLVMBuildSelect(g->builder, is_negative, negative, x, "");
}

/* isnan and relatives. */
static LLVMValueRef classify(gen *g, const hone_expr *e) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef x = gen_value(g, e->args[0]);
    if (!hone_dtype_is_float(e->args[0]->dtype)) {
        LLVMTypeRef type = gen_type(g, e->dtype);
        return e->op == HONE_INTRIN_ISFINITE ? LLVMConstAllOnes(type) : LLVMConstNull(type);
    }
    if (e->op == HONE_INTRIN_ISNAN) return LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef size = gen_intrinsic(g, "llvm.fabs", type, &x, 1);
    LLVMTypeRef element = gen_type(g, hone_dtype_element(e->args[0]->dtype));
    LLVMValueRef infinity =
        gen_splat(g, LLVMConstReal(element, __builtin_inf()), e->args[0]->dtype.lanes);
    LLVMRealPredicate p = e->op == HONE_INTRIN_ISINF ? LLVMRealOEQ : LLVMRealONE;
    return LLVMBuildFCmp(b, p, size, infinity, "");
}

/* A count of the width or more, or below 0, moves all bits out: what is left is 0, or the sign. */
static LLVMValueRef shift(gen *g, const hone_expr *e, LLVMValueRef x, LLVMValueRef y) {
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    bool keeps_sign = e->op == HONE_INTRIN_SHIFT_RIGHT && hone_dtype_is_int(e->dtype);
    LLVMTypeRef element = gen_type(g, hone_dtype_element(e->dtype));
    LLVMValueRef most = gen_splat(g, LLVMConstInt(element, e->dtype.bits - 1u, 0), e->dtype.lanes);
    LLVMValueRef is_whole = LLVMBuildICmp(b, LLVMIntUGT, y, most, "");
    LLVMValueRef by = LLVMBuildSelect(b, is_whole, most, y, "");
    if (keeps_sign) return LLVMBuildAShr(b, x, by, "");
    LLVMValueRef left =
        e->op == HONE_INTRIN_SHIFT_LEFT ? LLVMBuildShl(b, x, by, "") : LLVMBuildLShr(b, x, by, "");
    return LLVMBuildSelect(b, is_whole, LLVMConstNull(type), left, "");
}

static LLVMValueRef bit_operation(gen *g, const hone_expr *e) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef x = gen_value(g, e->args[0]);
    LLVMValueRef y = e->count > 1 ? gen_value(g, e->args[1]) : NULL;
    if (y && LLVMTypeOf(y) != LLVMTypeOf(x)) {
        y = gen_cast(g, e->args[1]->dtype, e->args[0]->dtype, y);
    }
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_SHIFT_LEFT:
    case HONE_INTRIN_SHIFT_RIGHT:
        return shift(g, e, x, y);
    case HONE_INTRIN_BITWISE_AND:
        return LLVMBuildAnd(b, x, y, "");
    case HONE_INTRIN_BITWISE_OR:
        return LLVMBuildOr(b, x, y, "");
    case HONE_INTRIN_BITWISE_XOR:
        return LLVMBuildXor(b, x, y, "");
    case HONE_INTRIN_BITWISE_NOT:
        return LLVMBuildNot(b, x, "");
    default:
        return gen_intrinsic(g, "llvm.ctpop", LLVMTypeOf(x), &x, 1);
    }
}

static LLVMValueRef leading_zeros(gen *g, const hone_expr *e) {
    LLVMValueRef x = gen_value(g, e->args[0]);
    LLVMValueRef args[] = {x, LLVMConstInt(g->i1, 0, 0)}; /* known of 0 as well */
    LLVMValueRef count = gen_intrinsic(g, "llvm.ctlz", LLVMTypeOf(x), args, 2);
    return gen_cast(g, e->args[0]->dtype, e->dtype, count);
}

/* An exponent as int. One of more bits becomes one beyond those of all numbers. */
static LLVMValueRef exponent(gen *g, const hone_expr *e) {
    hone_dtype dtype = e->dtype, wanted = hone_dtype_with_lanes(HONE_DTYPE_I32, dtype.lanes);
    LLVMValueRef value = gen_value(g, e);
    bool is_unsigned = !hone_dtype_is_int(dtype);
    if (dtype.bits < 32 || (dtype.bits == 32 && !is_unsigned)) {
        return gen_cast(g, dtype, wanted, value);
    }
    enum { MOST = 1 << 14 };
    LLVMTypeRef type = LLVMTypeOf(value), element = gen_type(g, hone_dtype_element(dtype));
    LLVMValueRef most = gen_splat(g, LLVMConstInt(element, MOST, 1), dtype.lanes);
    LLVMValueRef args[] = {value, most};
    args[0] = gen_intrinsic(g, is_unsigned ? "llvm.umin" : "llvm.smin", type, args, 2);
    args[1] = LLVMConstNeg(most);
    if (!is_unsigned) args[0] = gen_intrinsic(g, "llvm.smax", type, args, 2);
    return gen_cast(g, dtype, wanted, args[0]);
}

static LLVMValueRef scale_by_power(gen *g, const hone_expr *e) {
    const hone_expr *power = e->args[1];
    bool is_known = hone_dtype_is_float(e->dtype) && hone_dtype_is_integer(power->dtype) &&
                    e->args[0]->dtype.lanes == e->dtype.lanes &&
                    power->dtype.lanes == e->dtype.lanes;
    if (!is_known) return NULL;
    LLVMValueRef args[] = {gen_value(g, e->args[0]), exponent(g, power)};
    return gen_libm(g, "ldexp", e->dtype, args, 2);
}

/* Only the branch taken is evaluated. */
static LLVMValueRef scalar_choice(gen *g, const hone_expr *e) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef condition = gen_condition(g, e->args[0]);
    LLVMBasicBlockRef blocks[3];
    for (int i = 0; i < 3; i++) {
        blocks[i] = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    }
    LLVMBuildCondBr(b, condition, blocks[0], blocks[1]);
    LLVMValueRef values[2];
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(b, blocks[i]);
        values[i] = gen_value(g, e->args[i + 1]);
        blocks[i] = LLVMGetInsertBlock(b);
        LLVMBuildBr(b, blocks[2]);
    }
    LLVMPositionBuilderAtEnd(b, blocks[2]);
    LLVMValueRef phi = LLVMBuildPhi(b, gen_type(g, e->dtype), "");
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

/* Loads in each branch touch only the lanes that take it. */
static LLVMValueRef vector_choice(gen *g, const hone_expr *e) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef condition = gen_value(g, e->args[0]), outer = g->mask;
    g->mask = outer ? LLVMBuildAnd(b, outer, condition, "") : condition;
    LLVMValueRef yes = gen_value(g, e->args[1]);
    LLVMValueRef rest = LLVMBuildNot(b, condition, "");
    g->mask = outer ? LLVMBuildAnd(b, outer, rest, "") : rest;
    LLVMValueRef no = gen_value(g, e->args[2]);
    g->mask = outer;
    return LLVMBuildSelect(b, condition, yes, no, "");
}

static LLVMValueRef choice(gen *g, const hone_expr *e) {
    if (e->args[0]->dtype.lanes > 1) return vector_choice(g, e);
    if (!hone_expr_may_fail(e->args[1]) && !hone_expr_may_fail(e->args[2])) {
        LLVMValueRef condition = gen_condition(g, e->args[0]);
        LLVMValueRef yes = gen_value(g, e->args[1]), no = gen_value(g, e->args[2]);
        return LLVMBuildSelect(g->builder, condition, yes, no, "");
    }
    return scalar_choice(g, e);
}

enum { MAX_REDUCED_LANES = 1024 };

/* `dtype` is that of x and y, lanes included. */
static LLVMValueRef reduce_floats(gen *g, bool is_sum, hone_dtype dtype, LLVMValueRef x,
                                  LLVMValueRef y) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value = is_sum ? LLVMBuildFAdd(b, x, y, "") : LLVMBuildFMul(b, x, y, "");
    return codegen_is_small_float(dtype) ? gen_round_small(g, dtype, value) : value;
}

static LLVMValueRef reduce_two(gen *g, hone_intrin intrin, hone_dtype dtype, LLVMValueRef x,
                               LLVMValueRef y) {
    LLVMBuilderRef b = g->builder;
    bool is_float = hone_dtype_is_float(dtype), is_signed = hone_dtype_is_int(dtype),
         is_min = false;
    switch (intrin) {
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
        return is_float ? reduce_floats(g, true, dtype, x, y) : LLVMBuildAdd(b, x, y, "");
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
        return is_float ? reduce_floats(g, false, dtype, x, y) : LLVMBuildMul(b, x, y, "");
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
        return gen_extreme(g, HONE_OP_MIN, x, y);
    case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
        return gen_extreme(g, HONE_OP_MAX, x, y);
    default:
        is_min = intrin == HONE_INTRIN_VECTOR_REDUCE_MIN;
    }
    LLVMIntPredicate p =
        is_signed ? (is_min ? LLVMIntSLT : LLVMIntSGT) : (is_min ? LLVMIntULT : LLVMIntUGT);
    LLVMValueRef wins = is_float ? LLVMBuildFCmp(b, is_min ? LLVMRealOLT : LLVMRealOGT, x, y, "")
                                 : LLVMBuildICmp(b, p, x, y, "");
    return LLVMBuildSelect(b, wins, x, y, "");
}

/* `count` lanes of a vector from `start` on. */
static LLVMValueRef some_lanes(gen *g, LLVMValueRef x, unsigned start, unsigned count) {
    LLVMValueRef picks[MAX_REDUCED_LANES];
    if (count == 1) return LLVMBuildExtractElement(g->builder, x, gen_i32(g, (int32_t)start), "");
    for (unsigned i = 0; i < count; i++)
        picks[i] = gen_i32(g, (int32_t)(start + i));
    return LLVMBuildShuffleVector(g->builder, x, LLVMGetPoison(LLVMTypeOf(x)),
                                  LLVMConstVector(picks, count), "");
}

/* The tree of the interpreter: lanes at even places, at odd places, both. */
static LLVMValueRef reduce_tree(gen *g, hone_intrin intrin, hone_dtype dtype, LLVMValueRef x,
                                unsigned lanes, unsigned start, unsigned step) {
    if (start + step >= lanes) return some_lanes(g, x, start, 1);
    LLVMValueRef even = reduce_tree(g, intrin, dtype, x, lanes, start, 2 * step);
    LLVMValueRef odd = reduce_tree(g, intrin, dtype, x, lanes, start + step, 2 * step);
    return reduce_two(g, intrin, dtype, even, odd);
}

static LLVMValueRef reduce_lanes(gen *g, const hone_expr *e) {
    LLVMValueRef x = gen_value(g, e->args[0]);
    hone_dtype dtype = hone_dtype_element(e->dtype);
    unsigned lanes = e->args[0]->dtype.lanes;
    hone_intrin intrin = (hone_intrin)e->op;
    if (lanes > MAX_REDUCED_LANES) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "a vector of %u lanes", lanes));
        return undefined(g, e);
    }
    if (lanes & (lanes - 1)) return reduce_tree(g, intrin, dtype, x, lanes, 0, 1);
    for (; lanes > 1; lanes /= 2) { /* the same tree: halves are what differs in the last bit */
        LLVMValueRef low = some_lanes(g, x, 0, lanes / 2);
        hone_dtype part = hone_dtype_with_lanes(dtype, (uint16_t)(lanes / 2));
        x = reduce_two(g, intrin, part, low, some_lanes(g, x, lanes / 2, lanes / 2));
    }
    return x;
}

static LLVMValueRef reinterpret(gen *g, const hone_expr *e) {
    hone_dtype from = e->args[0]->dtype;
    LLVMValueRef stored = gen_to_storage(g, from, gen_value(g, e->args[0]));
    LLVMTypeRef type = gen_storage_type(g, e->dtype);
    stored = LLVMBuildBitCast(g->builder, stored, type, "");
    return gen_from_storage(g, e->dtype, stored);
}

/* address_of(load): where the element lies. tvm_access_ptr(type, data, offset, extent, rw). */
static LLVMValueRef address(gen *g, const hone_expr *e) {
    if (e->op == HONE_INTRIN_ADDRESS_OF) {
        const hone_expr *load = e->args[0];
        if (load->kind == HONE_EXPR_LOAD && load->count == 1 && load->args[0]->dtype.lanes == 1) {
            return gen_address(g, load->u.buffer, gen_index(g, load->args[0]));
        }
    } else if (e->args[1]->kind == HONE_EXPR_VAR) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->args[1]->u.var);
        if (id != HONE_NO_ID) return gen_address(g, id, gen_index(g, e->args[2]));
    }
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s of something that is no buffer element",
                           hone_intrin_spelling((hone_intrin)e->op)));
    return LLVMGetUndef(g->ptr);
}

/* An address that may lie beyond the end of its buffer. */
static LLVMValueRef any_address(gen *g, const hone_expr *e) {
    const hone_expr *load = e->args[0];
    bool is_element = hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) &&
                      load->kind == HONE_EXPR_LOAD && load->count == 1 &&
                      load->args[0]->dtype.lanes == 1;
    if (!is_element) return gen_value(g, e);
    LLVMTypeRef type = gen_storage_type(g, g->func->buffers[load->u.buffer].dtype);
    LLVMValueRef index = gen_index(g, load->args[0]);
    return LLVMBuildGEP2(g->builder, type, gen_buffer(g, load->u.buffer), &index, 1, "");
}

/* prefetch(address, is_written = 0, locality = 3, is_data = 1): as LLVM has it. A place that is no
 * address, or numbers that are not constant, ask for nothing. */
static LLVMValueRef prefetch(gen *g, const hone_expr *e) {
    int64_t numbers[] = {0, 3, 1};
    static const int64_t most[] = {1, 3, 1};
    bool is_known = e->count > 0 && hone_dtype_is_handle(e->args[0]->dtype);
    for (uint16_t i = 1; i < e->count && i <= 3; i++) {
        numbers[i - 1] = hone_expr_const(e->args[i]);
        is_known &= numbers[i - 1] >= 0 && numbers[i - 1] <= most[i - 1];
    }
    if (!is_known) return gen_i32(g, 0);
    LLVMValueRef args[] = {any_address(g, e->args[0]), gen_i32(g, (int32_t)numbers[0]),
                           gen_i32(g, (int32_t)numbers[1]), gen_i32(g, (int32_t)numbers[2])};
    gen_intrinsic(g, "llvm.prefetch", g->ptr, args, 4);
    return gen_i32(g, 0);
}

static LLVMValueRef give_back(gen *g, const hone_expr *e) {
    LLVMValueRef code = gen_value(g, e->args[0]);
    if (hone_dtype_is_integer(e->args[0]->dtype)) {
        code = gen_cast(g, e->args[0]->dtype, HONE_DTYPE_I32, code);
    } else {
        code = gen_i32(g, 0);
    }
    gen_leave_if(g, LLVMConstInt(g->i1, 1, 0), code);
    return gen_i32(g, 0);
}

LLVMValueRef gen_call(gen *g, const hone_expr *e) {
    LLVMValueRef value = g->processor->call ? g->processor->call(g, e) : NULL;
    if (value) return value;
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_ABS:
        return absolute(g, e);
    case HONE_INTRIN_ISNAN:
    case HONE_INTRIN_ISINF:
    case HONE_INTRIN_ISFINITE:
        return classify(g, e);
    case HONE_INTRIN_CLZ:
        return leading_zeros(g, e);
    case HONE_INTRIN_LDEXP:
        value = scale_by_power(g, e);
        break;
    case HONE_INTRIN_POPCOUNT:
    case HONE_INTRIN_SHIFT_LEFT:
    case HONE_INTRIN_SHIFT_RIGHT:
    case HONE_INTRIN_BITWISE_AND:
    case HONE_INTRIN_BITWISE_OR:
    case HONE_INTRIN_BITWISE_XOR:
    case HONE_INTRIN_BITWISE_NOT:
        return bit_operation(g, e);
    case HONE_INTRIN_IF_THEN_ELSE:
        return choice(g, e);
    case HONE_INTRIN_LIKELY:
        return gen_value(g, e->args[0]);
    case HONE_INTRIN_CHECKED_INDEX:
        value = gen_checked_index(g, e);
        return LLVMTypeOf(value) == gen_type(g, e->dtype)
                   ? value
                   : LLVMBuildTrunc(g->builder, value, gen_type(g, e->dtype), "");
    case HONE_INTRIN_REINTERPRET:
        return reinterpret(g, e);
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
    case HONE_INTRIN_VECTOR_REDUCE_MAX:
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
    case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
        return reduce_lanes(g, e);
    case HONE_INTRIN_DOT2:
    case HONE_INTRIN_DOT2_BF16:
    case HONE_INTRIN_DOT4:
        return gen_dot(g, e);
    case HONE_INTRIN_ADDRESS_OF:
    case HONE_INTRIN_ACCESS_PTR:
        return address(g, e);
    case HONE_INTRIN_UNDEF:
    case HONE_INTRIN_TYPE_ANNOTATION:
        return undefined(g, e);
    case HONE_INTRIN_ASSUME:
        return LLVMConstInt(g->i1, 1, 0);
    case HONE_INTRIN_STORAGE_SYNC:
        return gen_i32(g, 0);
    case HONE_INTRIN_PREFETCH:
        return prefetch(g, e);
    case HONE_INTRIN_RETURN:
        return give_back(g, e);
    case HONE_INTRIN_CALL_EXTERN:
    case HONE_INTRIN_CALL_PURE_EXTERN:
    case HONE_INTRIN_CALL_PACKED:
        return gen_extern_call(g, e);
    default:
        if (hone_dtype_is_float(e->dtype)) value = math_call(g, e);
    }
    if (value) return value;
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' of %s",
                           hone_intrin_spelling((hone_intrin)e->op), HONE_DTYPE_NAME(e->dtype)));
    return undefined(g, e);
}
