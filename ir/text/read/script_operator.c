/* ir/text/read/script_operator.c - the operators of Python where one of the values is an
 * expression, which makes a node, or a tensor, which makes a call of a graph operator. */
#include <string.h>

#include "ir/text/read/script_impl.h"

/* ---- operators of the text ---- */

typedef struct operator_row {
    py_op of;
    const char *text;
    hone_op op;
    int intrin;        /* -1, or the call that it means */
    const char *graph; /* between tensors, or NULL */
} operator_row;

static const operator_row operators[] = {
    {PY_ADD,      "+",   HONE_OP_ADD,      -1,                      "R.add"          },
    {PY_SUB,      "-",   HONE_OP_SUB,      -1,                      "R.subtract"     },
    {PY_MUL,      "*",   HONE_OP_MUL,      -1,                      "R.multiply"     },
    {PY_DIV,      "/",   HONE_OP_DIV,      -1,                      "R.divide"       },
    {PY_FLOORDIV, "//",  HONE_OP_FLOORDIV, -1,                      "R.floor_divide" },
    {PY_MOD,      "%",   HONE_OP_FLOORMOD, -1,                      "R.floor_mod"    },
    {PY_EQ,       "==",  HONE_OP_EQ,       -1,                      "R.equal"        },
    {PY_NE,       "!=",  HONE_OP_NE,       -1,                      "R.not_equal"    },
    {PY_LT,       "<",   HONE_OP_LT,       -1,                      "R.less"         },
    {PY_LE,       "<=",  HONE_OP_LE,       -1,                      "R.less_equal"   },
    {PY_GT,       ">",   HONE_OP_GT,       -1,                      "R.greater"      },
    {PY_GE,       ">=",  HONE_OP_GE,       -1,                      "R.greater_equal"},
    {PY_AND,      "and", HONE_OP_AND,      -1,                      "R.logical_and"  },
    {PY_OR,       "or",  HONE_OP_OR,       -1,                      "R.logical_or"   },
    {PY_SHL,      "<<",  HONE_OP_COUNT,    HONE_INTRIN_SHIFT_LEFT,  NULL             },
    {PY_SHR,      ">>",  HONE_OP_COUNT,    HONE_INTRIN_SHIFT_RIGHT, NULL             },
    {PY_BITAND,   "&",   HONE_OP_COUNT,    HONE_INTRIN_BITWISE_AND, "R.bitwise_and"  },
    {PY_BITOR,    "|",   HONE_OP_COUNT,    HONE_INTRIN_BITWISE_OR,  "R.bitwise_or"   },
    {PY_BITXOR,   "^",   HONE_OP_COUNT,    HONE_INTRIN_BITWISE_XOR, "R.bitwise_xor"  },
    {PY_POW,      "**",  HONE_OP_COUNT,    HONE_INTRIN_POW,         "R.power"        },
};

static const operator_row *find_operator(py_op op) {
    for (size_t i = 0; i < HONE_COUNT(operators); i++) {
        if (operators[i].of == op) return &operators[i];
    }
    return NULL;
}

static bool is_word(const py_value *v) {
    return v->kind == PYV_STRING || v->kind == SCRIPT_DTYPE || v->kind == PYV_NONE;
}

/* Strings, element types and None are compared where the text is read. */
static bool compare_words(const operator_row *row, const py_value *a, const py_value *b,
                          py_value *out) {
    bool compares = row->op == HONE_OP_EQ || row->op == HONE_OP_NE;
    bool is_none = a->kind == PYV_NONE || b->kind == PYV_NONE;
    if (!compares || !(is_none || (is_word(a) && is_word(b)))) return false;
    const char *x = a->kind == SCRIPT_DTYPE ? HONE_DTYPE_NAME(script_dtype_of(a))
                    : a->kind == PYV_STRING ? a->u.s
                                            : "";
    const char *y = b->kind == SCRIPT_DTYPE ? HONE_DTYPE_NAME(script_dtype_of(b))
                    : b->kind == PYV_STRING ? b->u.s
                                            : "";
    bool same = strcmp(x, y) == 0 && (a->kind == PYV_NONE) == (b->kind == PYV_NONE);
    *out = (py_value){.kind = PYV_BOOL, .at = a->at, .u.i = same == (row->op == HONE_OP_EQ)};
    return true;
}

static bool graph_binary(script_parser *p, uint32_t at, const operator_row *row, const py_value *a,
                         const py_value *b, py_value *out) {
    if (!row->graph) return script_fail(p, at, "'%s' has no meaning between tensors", row->text);
    py_value args[2] = {*a, *b};
    script_call call = {.callee = row->graph, .at = at, .count = 2, .args = args};
    return script_call_graph(p, &call, out);
}

bool script_check_shift(script_parser *p, uint32_t at, const hone_expr *value,
                        const hone_expr *by) {
    if (by->kind != HONE_EXPR_INT || (by->u.i >= 0 && by->u.i < value->dtype.bits)) return true;
    return script_fail(p, at, "%s is shifted by %lld, must be 0 to %u",
                       HONE_DTYPE_NAME(value->dtype), (long long)by->u.i,
                       (unsigned)value->dtype.bits - 1);
}

static bool is_of_bits(const operator_row *row) {
    return row->op == HONE_OP_COUNT && row->intrin != HONE_INTRIN_POW;
}

/* The bits of a float are those of T.reinterpret. */
static bool check_bits(script_parser *p, const operator_row *row, const py_value *v,
                       const hone_expr *e) {
    if (!is_of_bits(row) || !hone_dtype_is_float(e->dtype)) return true;
    return script_fail_type(p, v->at, "an operand of '%s' is %s, must be an integer", row->text,
                            HONE_DTYPE_NAME(e->dtype));
}

/* What TVM's operators do not take: '/' of integers, '//' and '%' of floats. */
static bool check_division(script_parser *p, uint32_t at, hone_op op, const hone_expr *x,
                           const hone_expr *y) {
    bool is_float = hone_dtype_is_float(x->dtype) || hone_dtype_is_float(y->dtype);
    bool is_integer = hone_dtype_is_integer(x->dtype) && hone_dtype_is_integer(y->dtype);
    if (op == HONE_OP_DIV && is_integer) {
        return script_fail_type(p, at,
                                "'/' of integers: write '//' (rounds down) or "
                                "T.truncdiv (rounds to zero)");
    }
    if (op == HONE_OP_FLOORDIV && is_float) {
        return script_fail_type(p, at, "'//' of floats: write T.floor(a / b)");
    }
    if (op == HONE_OP_FLOORMOD && is_float) {
        return script_fail_type(p, at, "'%%' of floats: write T.fmod(a, b)");
    }
    return true;
}

/* `x and 15` of integers is bits in other languages, and nothing in TVM. */
static bool check_truth(script_parser *p, const py_value *v, const hone_expr *e, const char *op) {
    bool is_number = hone_dtype_is_integer(e->dtype) && e->kind != HONE_EXPR_INT;
    if (!is_number) return true;
    return script_fail_type(p, v->at, "an operand of '%s' is %s, must be bool; '%s' joins bits", op,
                            HONE_DTYPE_NAME(e->dtype), strcmp(op, "and") == 0 ? "&" : "|");
}

/* A plain number beside an operator of bits or in a test of equality has the type of the other
 * operand. */
static bool operand(script_parser *p, const operator_row *row, const py_value *v,
                    const py_value *other, const hone_expr **out) {
    bool is_equality = row->op == HONE_OP_EQ || row->op == HONE_OP_NE;
    if (v->kind != PYV_INT || !(is_of_bits(row) || is_equality)) return script_to_expr(p, v, out);
    const hone_expr *beside = NULL;
    if (!script_to_expr(p, other, &beside)) return false;
    bool takes = hone_dtype_is_integer(beside->dtype);
    return takes ? script_to_expr_as(p, v, hone_dtype_element(beside->dtype), out)
                 : script_to_expr(p, v, out);
}

bool script_binary_value(script_parser *p, uint32_t at, py_op of, const py_value *a,
                         const py_value *b, py_value *out) {
    const operator_row *row = find_operator(of);
    if (!row) {
        return script_fail(p, at, "operator '%s' is not part of TVMScript",
                           of == PY_MATMUL ? "@"
                           : of == PY_IN   ? "in"
                                           : "not in");
    }
    const char *op = row->text;
    bool is_equality = of == PY_EQ || of == PY_NE;
    if (p->budget == 0) return script_fail(p, at, "this statement has too many operators");
    p->budget--;
    if (compare_words(row, a, b, out)) return true;
    if (a->kind == SCRIPT_GARG || b->kind == SCRIPT_GARG)
        return graph_binary(p, at, row, a, b, out);
    const hone_expr *x = NULL, *y = NULL;
    if (!operand(p, row, a, b, &x) || !operand(p, row, b, a, &y)) return false;
    const hone_expr *text = x->kind == HONE_EXPR_STRING ? x : y;
    if (text->kind == HONE_EXPR_STRING && !is_equality) {
        return script_fail_type(p, (text == x ? a : b)->at, "operator '%s' of a string, \"%s\"", op,
                                text->u.s);
    }
    bool on_handle = hone_dtype_is_handle(x->dtype) || hone_dtype_is_handle(y->dtype);
    if (on_handle && !is_equality) {
        return script_fail_type(p, at, "operator '%s' of %s and %s", op, HONE_DTYPE_NAME(x->dtype),
                                HONE_DTYPE_NAME(y->dtype));
    }
    const hone_expr *result = NULL;
    bool connects = row->op == HONE_OP_AND || row->op == HONE_OP_OR;
    if (connects && (!check_truth(p, a, x, op) || !check_truth(p, b, y, op))) return false;
    if (connects && (!script_to_condition(p, a, "an operand of 'and' or 'or'", &x) ||
                     !script_to_condition(p, b, "an operand of 'and' or 'or'", &y))) {
        return false;
    }
    if (row->op != HONE_OP_COUNT) {
        if (!check_division(p, at, row->op, x, y)) return false;
        result = script_fold_binary(&p->ir, row->op, x, y);
    } else {
        const hone_expr *args[2] = {x, y};
        if (!check_bits(p, row, a, x) || !check_bits(p, row, b, y)) return false;
        if (script_unify(&p->ir, &x, &y)) {
            args[0] = x;
            args[1] = y;
        }
        bool shifts =
            row->intrin == HONE_INTRIN_SHIFT_LEFT || row->intrin == HONE_INTRIN_SHIFT_RIGHT;
        if (shifts && !script_check_shift(p, at, args[0], args[1])) return false;
        result = hone_expr_call(&p->ir, args[0]->dtype, (hone_intrin)row->intrin, 2, args);
    }
    *out = SCRIPT_VALUE_EXPR(result);
    out->at = a->at;
    return script_check_ir(p, at);
}

bool script_unary_value(script_parser *p, uint32_t at, py_op op, const py_value *a, py_value *out) {
    const char *text = op == PY_NEG ? "-" : op == PY_INVERT ? "~" : op == PY_POS ? "+" : "not";
    if (p->budget == 0) return script_fail(p, at, "this statement has too many operators");
    p->budget--;
    bool negates = op == PY_NEG, inverts = op == PY_INVERT;
    *out = *a;
    out->at = at;
    if (a->kind == SCRIPT_GARG) {
        const char *callee = negates ? "R.negative" : inverts ? "R.bitwise_not" : "R.logical_not";
        script_call call = {.callee = callee, .at = at, .count = 1, .args = a};
        return script_call_graph(p, &call, out);
    }
    const hone_expr *x = NULL;
    if (!script_to_expr(p, a, &x)) return false;
    if (hone_dtype_is_handle(x->dtype) || (inverts && hone_dtype_is_float(x->dtype))) {
        return script_fail_type(p, at, "operator '%s' of %s", text, HONE_DTYPE_NAME(x->dtype));
    }
    if (op == PY_NOT) {
        if (!script_to_condition(p, a, "what 'not' negates", &x)) return false;
        x = x->kind == HONE_EXPR_INT && x->dtype.lanes == 1 ? hone_expr_bool(&p->ir, !x->u.i)
                                                            : hone_expr_not(&p->ir, x);
    } else if (inverts) {
        x = hone_expr_call(&p->ir, x->dtype, HONE_INTRIN_BITWISE_NOT, 1, &x);
    } else if (negates) {
        const hone_expr *minus_one =
            script_fold_cast(&p->ir, hone_dtype_element(x->dtype), hone_expr_i32(&p->ir, -1));
        if (hone_dtype_is_float(x->dtype) && x->kind == HONE_EXPR_FLOAT) {
            x = hone_expr_float(&p->ir, x->dtype, -x->u.f);
        } else { /* as TVM negates */
            x = script_fold_binary(&p->ir, HONE_OP_MUL, x, minus_one);
        }
    }
    *out = SCRIPT_VALUE_EXPR(x);
    out->at = at;
    return script_check_ir(p, at);
}
