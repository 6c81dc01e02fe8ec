#include <hone/term.h>

#include <string.h>

#include "include/api.h"
#include "ir/expr.h"

/* A hone_term is a hone_expr under another name, hone_terms a hone_ir. */

static hone_ir *ir_of(hone_terms *terms) {
    return (hone_ir *)terms;
}
static const hone_expr *expr_of(const hone_term *term) {
    return (const hone_expr *)term;
}
static const hone_term *term_of(const hone_expr *e) {
    return (const hone_term *)e;
}

static bool read_type(hone_terms *terms, const char *type, hone_dtype *out) {
    if (hone_dtype_parse(type, out)) return true;
    hone_ir_fail(ir_of(terms), HONE_ERROR(HONE_CODE_TYPE, "'%s' is no type", type));
    return false;
}

const hone_term *hone_term_int(hone_terms *terms, const char *type, int64_t value) {
    hone_dtype dtype;
    if (!read_type(terms, type, &dtype)) return NULL;
    return term_of(hone_expr_int(ir_of(terms), dtype, value));
}

const hone_term *hone_term_float(hone_terms *terms, const char *type, double value) {
    hone_dtype dtype;
    if (!read_type(terms, type, &dtype)) return NULL;
    return term_of(hone_expr_float(ir_of(terms), dtype, value));
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
    if (!find_op(op, &found)) {
        return term_of(
            hone_ir_fail(ir_of(terms), HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no operator", op)));
    }
    return term_of(hone_expr_binary(ir_of(terms), found, expr_of(a), expr_of(b)));
}

const hone_term *hone_term_not(hone_terms *terms, const hone_term *value) {
    return term_of(hone_expr_not(ir_of(terms), expr_of(value)));
}

const hone_term *hone_term_select(hone_terms *terms, const hone_term *condition,
                                  const hone_term *if_true, const hone_term *if_false) {
    return term_of(
        hone_expr_select(ir_of(terms), expr_of(condition), expr_of(if_true), expr_of(if_false)));
}

const hone_term *hone_term_cast(hone_terms *terms, const char *type, const hone_term *value) {
    hone_dtype dtype;
    if (!read_type(terms, type, &dtype)) return NULL;
    return term_of(hone_expr_cast(ir_of(terms), dtype, expr_of(value)));
}

const hone_term *hone_term_call(hone_terms *terms, const char *type, const char *name, size_t count,
                                const hone_term *const *args) {
    hone_dtype dtype;
    hone_intrin intrin;
    if (!read_type(terms, type, &dtype)) return NULL;
    if (!hone_intrin_find(name, &intrin)) {
        return term_of(hone_ir_fail(ir_of(terms),
                                    HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is no function", name)));
    }
    int arity = hone_intrin_arity(intrin);
    if (arity >= 0 && (size_t)arity != count) {
        return term_of(hone_ir_fail(
            ir_of(terms),
            HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %d arguments, got %zu", name, arity, count)));
    }
    for (size_t i = 0; i < count; i++) {
        if (!args[i]) return NULL;
    }
    return term_of(
        hone_expr_call(ir_of(terms), dtype, intrin, count, (const hone_expr *const *)args));
}

const hone_term *hone_term_with_args(hone_terms *terms, const hone_term *term,
                                     const hone_term *const *args) {
    if (!term) return NULL;
    for (size_t i = 0; i < expr_of(term)->count; i++) {
        if (!args[i]) return NULL;
    }
    return term_of(
        hone_expr_with_args(ir_of(terms), expr_of(term), (const hone_expr *const *)args));
}

hone_term_kind hone_term_get_kind(const hone_term *term) {
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
    hone_dtype_print(expr_of(term)->dtype, out_type, HONE_DTYPE_NAME_BYTES);
}

const char *hone_term_name(const hone_term *term) {
    const hone_expr *e = expr_of(term);
    if (e->kind == HONE_EXPR_BINARY) return hone_op_spelling((hone_op)e->op);
    if (e->kind == HONE_EXPR_STRING) return e->u.s;
    if (e->kind != HONE_EXPR_CALL) return NULL;
    if (e->op == HONE_INTRIN_NAMED && e->count) return e->args[0]->u.s;
    return hone_intrin_spelling((hone_intrin)e->op);
}

size_t hone_term_arg_count(const hone_term *term) {
    return expr_of(term)->count;
}

const hone_term *hone_term_arg(const hone_term *term, size_t index) {
    return index < expr_of(term)->count ? term_of(expr_of(term)->args[index]) : NULL;
}

int64_t hone_term_int_value(const hone_term *term) {
    return expr_of(term)->kind == HONE_EXPR_INT ? expr_of(term)->u.i : 0;
}

double hone_term_float_value(const hone_term *term) {
    const hone_expr *e = expr_of(term);
    return e->kind == HONE_EXPR_FLOAT ? e->u.f : e->kind == HONE_EXPR_INT ? (double)e->u.i : 0;
}

int hone_term_same(const hone_term *a, const hone_term *b) {
    return hone_expr_same(expr_of(a), expr_of(b));
}
