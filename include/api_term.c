/* include/api_term.c - a hone_term is a hone_expr under another name, hone_terms a hone_ir. */
#include <hone/term.h>

#include <string.h>

#include "include/api.h"
#include "ir/core/expr.h"

static hone_ir *ir_of(hone_terms *terms) {
    return (hone_ir *)terms;
}
static const hone_expr *expr_of(const hone_term *term) {
    return (const hone_expr *)term;
}
static const hone_term *term_of(const hone_expr *e) {
    return (const hone_term *)e;
}

/* Records a failure; takes st. */
static const hone_term *fail(hone_terms *terms, hone_status st) {
    return term_of(hone_ir_fail(ir_of(terms), st));
}

/* A text that a caller must give. */
static bool has_text(hone_terms *terms, const char *what, const char *text) {
    if (!text) fail(terms, HONE_ERROR(HONE_CODE_INVALID, "the %s of a term is NULL", what));
    return text != NULL;
}

static bool read_type(hone_terms *terms, const char *type, hone_dtype *out) {
    if (!has_text(terms, "type", type)) return false;
    if (hone_dtype_parse(type, out)) return true;
    fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' is no type", type));
    return false;
}

/* A number, or a truth; NULL is no mistake of this call. */
static bool is_operand(hone_terms *terms, const char *op, bool wants_bool, const hone_term *term) {
    if (!term) return false;
    hone_dtype dtype = expr_of(term)->dtype;
    bool is_fine = wants_bool ? hone_dtype_is_bool(dtype)
                              : !hone_dtype_is_handle(dtype) && !hone_dtype_is_void(dtype);
    if (is_fine) return true;
    fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' takes %s, not %s", op,
                           wants_bool ? "bool" : "numbers", HONE_DTYPE_NAME(dtype)));
    return false;
}

/* The list of arguments is there, and so is each of them. */
static bool has_args(hone_terms *terms, size_t count, const hone_term *const *args) {
    if (count > UINT16_MAX) {
        fail(terms, HONE_ERROR(HONE_CODE_INVALID, "%zu arguments, at most %d", count, UINT16_MAX));
        return false;
    }
    if (count && !args) {
        fail(terms, HONE_ERROR(HONE_CODE_INVALID, "the arguments of a term are NULL"));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!args[i]) return false;
    }
    return true;
}

/* A number for each lane of a vector type. */
static const hone_term *in_lanes(hone_terms *terms, hone_dtype dtype, const hone_expr *number) {
    return term_of(dtype.lanes > 1 ? hone_expr_broadcast(ir_of(terms), number, dtype.lanes)
                                   : number);
}

const hone_term *hone_term_int(hone_terms *terms, const char *type, int64_t value) {
    hone_dtype dtype;
    if (!terms || !read_type(terms, type, &dtype)) return NULL;
    if (hone_dtype_is_float(dtype)) return hone_term_float(terms, type, (double)value);
    if (!hone_dtype_is_integer(dtype) && !hone_dtype_is_bool(dtype)) {
        return fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' has no integers", type));
    }
    hone_dtype lane = hone_dtype_with_lanes(dtype, 1);
    if (hone_dtype_is_bool(dtype))
        return in_lanes(terms, dtype, hone_expr_bool(ir_of(terms), value != 0));
    if (value < hone_dtype_min_int(lane) || value > hone_dtype_max_int(lane)) {
        return fail(terms, HONE_ERROR(HONE_CODE_INVALID, "%lld is no %s", (long long)value, type));
    }
    const hone_expr *number = hone_expr_int(ir_of(terms), lane, value);
    return in_lanes(terms, dtype, number);
}

const hone_term *hone_term_float(hone_terms *terms, const char *type, double value) {
    hone_dtype dtype;
    if (!terms || !read_type(terms, type, &dtype)) return NULL;
    if (!hone_dtype_is_float(dtype)) {
        return fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' is no type of floats", type));
    }
    const hone_expr *number = hone_expr_float(ir_of(terms), hone_dtype_with_lanes(dtype, 1), value);
    return in_lanes(terms, dtype, number);
}

static const hone_term *limit(hone_terms *terms, const char *type, bool is_high) {
    hone_dtype dtype;
    if (!terms || !read_type(terms, type, &dtype)) return NULL;
    if (!hone_dtype_is_float(dtype) && !hone_dtype_is_integer(dtype)) {
        return fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' has no numbers", type));
    }
    return term_of(is_high ? hone_expr_highest(ir_of(terms), dtype)
                           : hone_expr_lowest(ir_of(terms), dtype));
}

const hone_term *hone_term_highest(hone_terms *terms, const char *type) {
    return limit(terms, type, true);
}

const hone_term *hone_term_lowest(hone_terms *terms, const char *type) {
    return limit(terms, type, false);
}

const hone_term *hone_term_string(hone_terms *terms, const char *text) {
    if (!terms || !has_text(terms, "text", text)) return NULL;
    return term_of(hone_expr_string(ir_of(terms), text));
}

/* "+", "min", or TVMScript's "T.Add". */
static bool find_op(const char *name, hone_op *out) {
    for (int op = 0; op < HONE_OP_COUNT; op++) {
        const char *function = hone_op_function((hone_op)op);
        bool is_it = strcmp(hone_op_spelling((hone_op)op), name) == 0 ||
                     strcmp(function, name) == 0 || strcmp(function + 2, name) == 0;
        if (!is_it) continue;
        *out = (hone_op)op;
        return true;
    }
    return false;
}

const hone_term *hone_term_binary(hone_terms *terms, const char *op, const hone_term *a,
                                  const hone_term *b) {
    hone_op found;
    if (!terms || !has_text(terms, "operator", op)) return NULL;
    if (!find_op(op, &found)) {
        return fail(terms, HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no operator", op));
    }
    bool is_logic = found == HONE_OP_AND || found == HONE_OP_OR;
    if (!is_operand(terms, op, is_logic, a) || !is_operand(terms, op, is_logic, b)) return NULL;
    bool is_float =
        hone_dtype_is_float(expr_of(a)->dtype) || hone_dtype_is_float(expr_of(b)->dtype);
    if (found == HONE_OP_DIV && !is_float) {
        return fail(terms, HONE_ERROR(HONE_CODE_TYPE,
                                      "'/' of integers: '//' rounds down, truncdiv to zero"));
    }
    if (is_float && (found == HONE_OP_TRUNCDIV || found == HONE_OP_TRUNCMOD)) {
        return fail(terms, HONE_ERROR(HONE_CODE_TYPE, "%s of floats: '%s' is a call of its own", op,
                                      found == HONE_OP_TRUNCMOD ? "fmod" : "trunc"));
    }
    return term_of(hone_expr_binary(ir_of(terms), found, expr_of(a), expr_of(b)));
}

const hone_term *hone_term_not(hone_terms *terms, const hone_term *value) {
    if (!terms || !is_operand(terms, "not", true, value)) return NULL;
    return term_of(hone_expr_not(ir_of(terms), expr_of(value)));
}

const hone_term *hone_term_select(hone_terms *terms, const hone_term *condition,
                                  const hone_term *if_true, const hone_term *if_false) {
    if (!terms || !is_operand(terms, "select", true, condition)) return NULL;
    if (!is_operand(terms, "select", false, if_true)) return NULL;
    if (!is_operand(terms, "select", false, if_false)) return NULL;
    return term_of(
        hone_expr_select(ir_of(terms), expr_of(condition), expr_of(if_true), expr_of(if_false)));
}

const hone_term *hone_term_cast(hone_terms *terms, const char *type, const hone_term *value) {
    hone_dtype dtype;
    if (!terms || !read_type(terms, type, &dtype)) return NULL;
    if (!is_operand(terms, "cast", false, value)) return NULL;
    if (hone_dtype_is_handle(dtype) || hone_dtype_is_void(dtype)) {
        return fail(terms, HONE_ERROR(HONE_CODE_TYPE, "nothing is cast to '%s'", type));
    }
    return term_of(hone_expr_cast(ir_of(terms), dtype, expr_of(value)));
}

/* ---- calls ---- */

/* What is special about the arguments of a few functions; NULL = nothing, or all is well. */
static const char *args_fault(hone_intrin intrin, const hone_expr *const *args, size_t count) {
    switch (intrin) {
    case HONE_INTRIN_CALL_EXTERN:
    case HONE_INTRIN_CALL_PURE_EXTERN:
    case HONE_INTRIN_CALL_PACKED:
        return count && args[0]->kind == HONE_EXPR_STRING ? NULL : "its name first, as a string";
    case HONE_INTRIN_ADDRESS_OF:
        return args[0]->kind == HONE_EXPR_LOAD ? NULL : "an element of an array";
    case HONE_INTRIN_IF_THEN_ELSE:
        if (!hone_dtype_is_bool(args[0]->dtype)) return "a bool first";
        return hone_dtype_equal(args[1]->dtype, args[2]->dtype) ? NULL : "two values of one type";
    default:
        break;
    }
    if (hone_intrin_is_math(intrin)) {
        for (size_t i = 0; i < count; i++) {
            if (!hone_dtype_is_float(args[i]->dtype)) return "floats";
            if (!hone_dtype_equal(args[i]->dtype, args[0]->dtype)) return "values of one type";
        }
    }
    return NULL;
}

/* The type that a call has by its arguments; void when they do not tell. */
static hone_dtype implied_type(hone_intrin intrin, const hone_expr *const *args, size_t count) {
    switch (hone_intrin_result_rule(intrin)) {
    case HONE_INTRIN_RESULT_FIRST:
        return count > 0 ? args[0]->dtype : HONE_DTYPE_VOID;
    case HONE_INTRIN_RESULT_SECOND:
        return count > 1 ? args[1]->dtype : HONE_DTYPE_VOID;
    case HONE_INTRIN_RESULT_INT32:
        return HONE_DTYPE_I32;
    case HONE_INTRIN_RESULT_BOOL:
        return HONE_DTYPE_BOOL;
    case HONE_INTRIN_RESULT_HANDLE:
        return HONE_DTYPE_HANDLE;
    case HONE_INTRIN_RESULT_GIVEN:
        break;
    }
    return HONE_DTYPE_VOID;
}

/* A name that programs may write; what only lowering makes has no type of its own there. */
static bool find_function(const char *name, hone_intrin *out) {
    return hone_intrin_find(name, out) && *out != HONE_INTRIN_NAMED &&
           *out < HONE_INTRIN_VECTOR_REDUCE_ADD;
}

static bool call_type(hone_terms *terms, const char *type, const char *name, hone_dtype implied,
                      hone_dtype *out) {
    *out = implied;
    if (!type && hone_dtype_is_void(implied)) {
        fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' must be given a type", name));
        return false;
    }
    if (!type) return true;
    if (!read_type(terms, type, out)) return false;
    if (hone_dtype_is_void(implied) || hone_dtype_equal(*out, implied)) return true;
    fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' is %s here, not %s", name,
                           HONE_DTYPE_NAME(implied), type));
    return false;
}

const hone_term *hone_term_call(hone_terms *terms, const char *type, const char *name, size_t count,
                                const hone_term *const *args) {
    hone_dtype dtype;
    hone_intrin intrin;
    if (!terms || !has_text(terms, "function", name) || !has_args(terms, count, args)) return NULL;
    if (!find_function(name, &intrin)) {
        return fail(terms, HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no function", name));
    }
    int arity = hone_intrin_arity(intrin);
    if (arity >= 0 && (size_t)arity != count) {
        return fail(terms, HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %d arguments, got %zu", name,
                                      arity, count));
    }
    const hone_expr *const *exprs = (const hone_expr *const *)args;
    const char *fault = args_fault(intrin, exprs, count);
    if (fault) return fail(terms, HONE_ERROR(HONE_CODE_TYPE, "'%s' takes %s", name, fault));
    if (!call_type(terms, type, name, implied_type(intrin, exprs, count), &dtype)) return NULL;
    return term_of(hone_expr_call(ir_of(terms), dtype, intrin, count, exprs));
}

const hone_term *hone_term_with_args(hone_terms *terms, const hone_term *term,
                                     const hone_term *const *args) {
    const hone_expr *e = expr_of(term);
    if (!terms || !e || !has_args(terms, e->count, args)) return NULL;
    if (e->kind == HONE_EXPR_CAST) return hone_term_cast(terms, HONE_DTYPE_NAME(e->dtype), args[0]);
    for (size_t i = 0; i < e->count; i++) {
        const hone_expr *now = expr_of(args[i]);
        bool is_same = hone_dtype_equal(now->dtype, e->args[i]->dtype) &&
                       (now->kind == HONE_EXPR_STRING) == (e->args[i]->kind == HONE_EXPR_STRING);
        if (is_same) continue;
        return fail(terms,
                    HONE_ERROR(HONE_CODE_TYPE, "argument %zu is %s, was %s", i,
                               HONE_DTYPE_NAME(now->dtype), HONE_DTYPE_NAME(e->args[i]->dtype)));
    }
    return term_of(hone_expr_with_args(ir_of(terms), e, (const hone_expr *const *)args));
}

hone_term_kind hone_term_get_kind(const hone_term *term) {
    if (!term) return HONE_TERM_OTHER;
    switch ((hone_expr_kind)expr_of(term)->kind) {
    case HONE_EXPR_INT:
        return HONE_TERM_INT;
    case HONE_EXPR_FLOAT:
        return HONE_TERM_FLOAT;
    case HONE_EXPR_STRING:
        return HONE_TERM_STRING;
    case HONE_EXPR_VAR:
        return HONE_TERM_VARIABLE;
    case HONE_EXPR_BINARY:
        return HONE_TERM_BINARY;
    case HONE_EXPR_NOT:
        return HONE_TERM_NOT;
    case HONE_EXPR_SELECT:
        return HONE_TERM_SELECT;
    case HONE_EXPR_CAST:
        return HONE_TERM_CAST;
    case HONE_EXPR_LOAD:
        return HONE_TERM_LOAD;
    case HONE_EXPR_CALL:
        return HONE_TERM_CALL;
    case HONE_EXPR_RAMP:
    case HONE_EXPR_BROADCAST:
    case HONE_EXPR_SHUFFLE:
    case HONE_EXPR_LET:
        break;
    }
    return HONE_TERM_OTHER;
}

void hone_term_get_type(const hone_term *term, char out_type[24]) {
    if (!out_type) return;
    out_type[0] = '\0';
    if (term) hone_dtype_print(expr_of(term)->dtype, out_type, HONE_DTYPE_NAME_BYTES);
}

const char *hone_term_name(const hone_term *term) {
    const hone_expr *e = expr_of(term);
    if (!e) return NULL;
    if (e->kind == HONE_EXPR_BINARY) return hone_op_spelling((hone_op)e->op);
    if (e->kind == HONE_EXPR_STRING) return e->u.s;
    if (e->kind != HONE_EXPR_CALL) return NULL;
    if (e->op == HONE_INTRIN_NAMED && e->count) return e->args[0]->u.s;
    return hone_intrin_spelling((hone_intrin)e->op);
}

size_t hone_term_arg_count(const hone_term *term) {
    return term ? expr_of(term)->count : 0;
}

const hone_term *hone_term_arg(const hone_term *term, size_t index) {
    return index < hone_term_arg_count(term) ? term_of(expr_of(term)->args[index]) : NULL;
}

int64_t hone_term_int_value(const hone_term *term) {
    return term && expr_of(term)->kind == HONE_EXPR_INT ? expr_of(term)->u.i : 0;
}

double hone_term_float_value(const hone_term *term) {
    const hone_expr *e = expr_of(term);
    if (!e) return 0;
    return e->kind == HONE_EXPR_FLOAT ? e->u.f : e->kind == HONE_EXPR_INT ? (double)e->u.i : 0;
}

int hone_term_same(const hone_term *a, const hone_term *b) {
    return a && b ? hone_expr_same(expr_of(a), expr_of(b)) : a == b;
}
