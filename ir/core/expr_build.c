/* ir/core/expr_build.c - constructors: check types, allocate, never simplify. */
#include "ir/core/expr.h"

#include <math.h>
#include <string.h>

#include "ir/core/fold.h"

hone_status hone_ir_finish(hone_ir *ir) {
    hone_status st = ir->error;
    ir->error = HONE_OK;
    return st;
}

const hone_expr *hone_ir_fail(hone_ir *ir, hone_status st) {
    if (ir->error) {
        hone_status_free(st);
    } else {
        ir->error = st;
    }
    return NULL;
}

static hone_expr *make(hone_ir *ir, hone_expr_kind kind, hone_dtype dtype, size_t count) {
    hone_expr *e = hone_arena_alloc(ir->arena, sizeof *e + count * sizeof e->args[0]);
    if (!e) {
        hone_ir_fail(ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "expression"));
        return NULL;
    }
    e->kind = (uint8_t)kind;
    e->op = 0;
    e->count = (uint16_t)count;
    e->dtype = dtype;
    e->u.i = 0;
    return e;
}

static hone_expr *make_with(hone_ir *ir, hone_expr_kind kind, hone_dtype dtype, size_t count,
                            const hone_expr *const *args) {
    for (size_t i = 0; i < count; i++) {
        if (!args[i]) return NULL;
    }
    hone_expr *e = make(ir, kind, dtype, count);
    if (e && count) memcpy(e->args, args, count * sizeof args[0]);
    return e;
}

const hone_expr *hone_expr_int(hone_ir *ir, hone_dtype dtype, int64_t value) {
    hone_expr *e = make(ir, HONE_EXPR_INT, dtype, 0);
    if (e) e->u.i = value;
    return e;
}

const hone_expr *hone_expr_i32(hone_ir *ir, int64_t value) {
    return hone_expr_int(ir, HONE_DTYPE_I32, value);
}

const hone_expr *hone_expr_bool(hone_ir *ir, bool value) {
    return hone_expr_int(ir, HONE_DTYPE_BOOL, value ? 1 : 0);
}

const hone_expr *hone_expr_float(hone_ir *ir, hone_dtype dtype, double value) {
    hone_expr *e = make(ir, HONE_EXPR_FLOAT, dtype, 0);
    if (e) e->u.f = isnan(value) ? (double)NAN : value; /* its sign and bits mean nothing */
    return e;
}

const hone_expr *hone_expr_string(hone_ir *ir, const char *text) {
    hone_expr *e = make(ir, HONE_EXPR_STRING, HONE_DTYPE_HANDLE, 0);
    if (!e) return NULL;
    e->u.s = hone_arena_strdup(ir->arena, text);
    if (!e->u.s) return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_NO_MEMORY, "string"));
    return e;
}

const hone_expr *hone_expr_var(hone_ir *ir, hone_dtype dtype, hone_var var) {
    hone_expr *e = make(ir, HONE_EXPR_VAR, dtype, 0);
    if (e) e->u.var = var;
    return e;
}

/* ---- binary: operands are brought to one dtype ---- */

static bool is_constant(const hone_expr *e) {
    return e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_FLOAT;
}

/* A scalar constant in another dtype, or NULL when it cannot be one without loss of meaning. */
static const hone_expr *constant_as(hone_ir *ir, const hone_expr *e, hone_dtype dtype) {
    dtype = hone_dtype_with_lanes(dtype, 1);
    bool to_float = hone_dtype_is_float(dtype);
    if (e->kind == HONE_EXPR_INT && to_float) {
        return hone_expr_float(ir, dtype, hone_fold_to_float(e->dtype, e->u.i, dtype));
    }
    if (e->kind == HONE_EXPR_INT && (hone_dtype_is_integer(dtype) || hone_dtype_is_bool(dtype))) {
        return hone_expr_int(ir, dtype, e->u.i);
    }
    if (e->kind == HONE_EXPR_FLOAT && to_float) return hone_expr_float(ir, dtype, e->u.f);
    return NULL;
}

static bool is_index_pair(hone_dtype narrow, hone_dtype wide) {
    return narrow.code == wide.code && hone_dtype_is_integer(narrow) && narrow.bits < wide.bits;
}

static const hone_expr *type_mismatch(hone_ir *ir, hone_op op, const hone_expr *a,
                                      const hone_expr *b) {
    const char *left = a->kind == HONE_EXPR_STRING ? "a string" : HONE_DTYPE_NAME(a->dtype);
    const char *right = b->kind == HONE_EXPR_STRING ? "a string" : HONE_DTYPE_NAME(b->dtype);
    return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "operands of '%s' are %s and %s",
                                       hone_op_spelling(op), left, right));
}

/* Brings both operands to one dtype, or fails. */
static bool unify(hone_ir *ir, hone_op op, const hone_expr **lhs, const hone_expr **rhs) {
    const hone_expr *a = *lhs, *b = *rhs;
    if (hone_dtype_equal(a->dtype, b->dtype)) return true;
    if (a->dtype.lanes == 1 && b->dtype.lanes > 1) {
        const hone_expr *c = is_constant(a) ? constant_as(ir, a, b->dtype) : NULL;
        a = hone_expr_broadcast(ir, c ? c : a, b->dtype.lanes);
    } else if (b->dtype.lanes == 1 && a->dtype.lanes > 1) {
        const hone_expr *c = is_constant(b) ? constant_as(ir, b, a->dtype) : NULL;
        b = hone_expr_broadcast(ir, c ? c : b, a->dtype.lanes);
    }
    if (!a || !b) return false;
    if (!hone_dtype_equal(a->dtype, b->dtype) && a->dtype.lanes == b->dtype.lanes) {
        if (is_constant(b) && (!is_constant(a) || !is_index_pair(a->dtype, b->dtype))) {
            const hone_expr *c = constant_as(ir, b, a->dtype);
            if (c) b = c;
        } else if (is_constant(a)) {
            const hone_expr *c = constant_as(ir, a, b->dtype);
            if (c) a = c;
        }
        if (is_index_pair(a->dtype, b->dtype)) a = hone_expr_cast(ir, b->dtype, a);
        if (is_index_pair(b->dtype, a->dtype)) b = hone_expr_cast(ir, a->dtype, b);
    }
    if (!a || !b) return false;
    if (!hone_dtype_equal(a->dtype, b->dtype)) {
        type_mismatch(ir, op, a, b);
        return false;
    }
    *lhs = a;
    *rhs = b;
    return true;
}

const hone_expr *hone_expr_binary(hone_ir *ir, hone_op op, const hone_expr *lhs,
                                  const hone_expr *rhs) {
    assert(op < HONE_OP_COUNT);
    if (!lhs || !rhs) return NULL;
    if (!unify(ir, op, &lhs, &rhs)) return NULL;
    hone_dtype dtype = lhs->dtype;
    if (hone_op_is_compare(op) || op == HONE_OP_AND || op == HONE_OP_OR) {
        dtype = hone_dtype_with_lanes(HONE_DTYPE_BOOL, lhs->dtype.lanes);
    }
    hone_expr *e = make(ir, HONE_EXPR_BINARY, dtype, 2);
    if (!e) return NULL;
    e->op = (uint8_t)op;
    e->args[0] = lhs;
    e->args[1] = rhs;
    return e;
}

const hone_expr *hone_expr_not(hone_ir *ir, const hone_expr *value) {
    if (!value) return NULL;
    return make_with(ir, HONE_EXPR_NOT, hone_dtype_with_lanes(HONE_DTYPE_BOOL, value->dtype.lanes),
                     1, &value);
}

const hone_expr *hone_expr_select(hone_ir *ir, const hone_expr *cond, const hone_expr *if_true,
                                  const hone_expr *if_false) {
    if (!cond || !if_true || !if_false) return NULL;
    if (!unify(ir, HONE_OP_MAX, &if_true, &if_false)) return NULL;
    const hone_expr *args[] = {cond, if_true, if_false};
    return make_with(ir, HONE_EXPR_SELECT, if_true->dtype, 3, args);
}

static bool is_number(const hone_expr *e) {
    return e->kind == HONE_EXPR_FLOAT && e->u.f == e->u.f;
}

const hone_expr *hone_expr_extreme(hone_ir *ir, hone_op op, const hone_expr *x,
                                   const hone_expr *y) {
    assert(op == HONE_OP_MAX || op == HONE_OP_MIN);
    if (!x || !y) return NULL;
    if (!hone_dtype_is_float(x->dtype) || is_number(x)) return hone_expr_binary(ir, op, x, y);
    if (is_number(y)) return hone_expr_binary(ir, op, y, x);
    hone_dtype truth = hone_dtype_with_lanes(HONE_DTYPE_BOOL, x->dtype.lanes);
    const hone_expr *is_nan = hone_expr_call(ir, truth, HONE_INTRIN_ISNAN, 1, &x);
    return hone_expr_select(ir, is_nan, x, hone_expr_binary(ir, op, x, y));
}

const hone_expr *hone_expr_cast(hone_ir *ir, hone_dtype dtype, const hone_expr *value) {
    if (!value) return NULL;
    dtype = hone_dtype_with_lanes(dtype, value->dtype.lanes);
    if (hone_dtype_equal(dtype, value->dtype)) return value;
    return make_with(ir, HONE_EXPR_CAST, dtype, 1, &value);
}

const hone_expr *hone_expr_load(hone_ir *ir, hone_dtype dtype, hone_buffer buffer, size_t rank,
                                const hone_expr *const *indices) {
    hone_expr *e = make_with(ir, HONE_EXPR_LOAD, dtype, rank, indices);
    if (!e) return NULL;
    e->u.buffer = buffer;
    uint16_t lanes = 1;
    for (size_t i = 0; i < rank; i++) {
        if (indices[i]->dtype.lanes > lanes) lanes = indices[i]->dtype.lanes;
    }
    if (lanes > 1 && dtype.lanes == 1) e->dtype.lanes = lanes;
    return e;
}

const hone_expr *hone_expr_call(hone_ir *ir, hone_dtype dtype, hone_intrin intrin, size_t count,
                                const hone_expr *const *args) {
    assert(intrin < HONE_INTRIN_COUNT);
    int arity = hone_intrin_arity(intrin);
    if (arity >= 0 && (size_t)arity != count) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "'%s' takes %d argument%s, %zu given",
                                           hone_intrin_spelling(intrin), arity,
                                           arity == 1 ? "" : "s", count));
    }
    if (intrin == HONE_INTRIN_IF_THEN_ELSE) {
        if (!args[0] || !args[1] || !args[2]) return NULL;
        const hone_expr *copy[] = {args[0], args[1], args[2]};
        if (!unify(ir, HONE_OP_MAX, &copy[1], &copy[2])) return NULL;
        hone_expr *e = make_with(ir, HONE_EXPR_CALL, copy[1]->dtype, 3, copy);
        if (e) e->op = HONE_INTRIN_IF_THEN_ELSE;
        return e;
    }
    hone_expr *e = make_with(ir, HONE_EXPR_CALL, dtype, count, args);
    if (e) e->op = (uint8_t)intrin;
    return e;
}

const hone_expr *hone_expr_ramp(hone_ir *ir, const hone_expr *base, const hone_expr *stride,
                                uint16_t lanes) {
    if (!base || !stride) return NULL;
    if (!unify(ir, HONE_OP_ADD, &base, &stride)) return NULL;
    if (base->dtype.lanes != 1) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "the base of a ramp is a vector"));
    }
    const hone_expr *args[] = {base, stride};
    return make_with(ir, HONE_EXPR_RAMP, hone_dtype_with_lanes(base->dtype, lanes), 2, args);
}

const hone_expr *hone_expr_broadcast(hone_ir *ir, const hone_expr *value, uint16_t lanes) {
    if (!value) return NULL;
    if (value->dtype.lanes != 1) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "the value of a broadcast is a vector"));
    }
    return make_with(ir, HONE_EXPR_BROADCAST, hone_dtype_with_lanes(value->dtype, lanes), 1,
                     &value);
}

const hone_expr *hone_expr_shuffle(hone_ir *ir, size_t vector_count, size_t index_count,
                                   const hone_expr *const *args) {
    size_t count = vector_count + index_count;
    if (!vector_count || !index_count || count > UINT16_MAX) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_INVALID,
                                           "a shuffle of %zu vectors with %zu indices",
                                           vector_count, index_count));
    }
    for (size_t i = 0; i < count; i++) {
        if (!args[i]) return NULL;
        bool is_vector = i < vector_count;
        if (is_vector ? !hone_dtype_same_element(args[i]->dtype, args[0]->dtype)
                      : !hone_dtype_is_integer(args[i]->dtype) || args[i]->dtype.lanes != 1) {
            return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "%s %zu of a shuffle is %s",
                                               is_vector ? "vector" : "index",
                                               is_vector ? i : i - vector_count,
                                               HONE_DTYPE_NAME(args[i]->dtype)));
        }
    }
    hone_dtype dtype = hone_dtype_with_lanes(args[0]->dtype, (uint16_t)index_count);
    return make_with(ir, HONE_EXPR_SHUFFLE, dtype, count, args);
}

const hone_expr *hone_expr_let(hone_ir *ir, hone_var var, const hone_expr *value,
                               const hone_expr *body) {
    if (!value || !body) return NULL;
    const hone_expr *args[] = {value, body};
    hone_expr *e = make_with(ir, HONE_EXPR_LET, body->dtype, 2, args);
    if (e) e->u.var = var;
    return e;
}

const hone_expr *hone_expr_with_args(hone_ir *ir, const hone_expr *e,
                                     const hone_expr *const *args) {
    bool changed = false;
    for (size_t i = 0; i < e->count; i++) {
        if (!args[i]) return NULL;
        changed |= args[i] != e->args[i];
    }
    if (!changed) return e;
    hone_expr *copy = make_with(ir, (hone_expr_kind)e->kind, e->dtype, e->count, args);
    if (!copy) return NULL;
    copy->op = e->op;
    copy->u = e->u;
    return copy;
}

static const hone_expr *in_lanes(hone_ir *ir, const hone_expr *number, uint16_t lanes) {
    return lanes > 1 ? hone_expr_broadcast(ir, number, lanes) : number;
}

const hone_expr *hone_expr_highest(hone_ir *ir, hone_dtype dtype) {
    hone_dtype lane = hone_dtype_with_lanes(dtype, 1);
    const hone_expr *number;
    if (hone_dtype_is_float(lane)) {
        number = hone_expr_float(ir, lane, hone_dtype_max_float(lane));
    } else if (hone_dtype_is_uint(lane) && lane.bits == 64) { /* no constant has it */
        const hone_expr *zero = hone_expr_int(ir, lane, 0);
        number = hone_expr_call(ir, lane, HONE_INTRIN_BITWISE_NOT, 1, &zero);
    } else {
        number = hone_expr_int(ir, lane, hone_dtype_max_int(lane));
    }
    return in_lanes(ir, number, dtype.lanes);
}

const hone_expr *hone_expr_lowest(hone_ir *ir, hone_dtype dtype) {
    hone_dtype lane = hone_dtype_with_lanes(dtype, 1);
    const hone_expr *number = hone_dtype_is_float(lane)
                                  ? hone_expr_float(ir, lane, -hone_dtype_max_float(lane))
                                  : hone_expr_int(ir, lane, hone_dtype_min_int(lane));
    return in_lanes(ir, number, dtype.lanes);
}

/* float16 to float64 and bfloat16; of the smaller ones some have none. */
static bool has_infinity(hone_dtype dtype) {
    return dtype.code == HONE_DTYPE_CODE_FLOAT || dtype.code == HONE_DTYPE_CODE_BFLOAT;
}

static const hone_expr *infinity(hone_ir *ir, hone_dtype dtype, double sign) {
    const hone_expr *number =
        hone_expr_float(ir, hone_dtype_with_lanes(dtype, 1), sign * (double)INFINITY);
    return in_lanes(ir, number, dtype.lanes);
}

const hone_expr *hone_expr_greatest(hone_ir *ir, hone_dtype dtype) {
    return has_infinity(dtype) ? infinity(ir, dtype, 1) : hone_expr_highest(ir, dtype);
}

const hone_expr *hone_expr_least(hone_ir *ir, hone_dtype dtype) {
    return has_infinity(dtype) ? infinity(ir, dtype, -1) : hone_expr_lowest(ir, dtype);
}
