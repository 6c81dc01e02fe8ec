/* ir/script_call_expr.c - calls that are expressions: typed constants, casts, named operators,
 * vectors, and every intrinsic of intrins.def. */
#include "ir/script_impl.h"

#include <math.h>
#include <string.h>

static bool finish(script_parser *p, const script_call *call, const hone_expr *e,
                   script_value *out) {
    *out = SCRIPT_VALUE_EXPR(e);
    return script_check_ir(p, call->at);
}

static bool expr_arg(script_parser *p, const script_call *call, uint32_t index, const char *name,
                     const hone_expr **out) {
    const script_value *v = NULL;
    return script_need_arg(p, call, index, name, &v) && script_to_expr(p, v, out);
}

static bool int_arg(script_parser *p, const script_call *call, uint32_t index, const char *name,
                    int64_t *out) {
    const script_value *v = NULL;
    return script_need_arg(p, call, index, name, &v) && script_to_int(p, v, out);
}

/* ---- T.int32(3), T.float32("inf"), T.int64(), T.float32x4(x) ---- */

static bool special_float(const char *text, double *out) {
    static const struct {
        const char *name;
        double value;
    } rows[] = {
        {"inf",      INFINITY },
        {"+inf",     INFINITY },
        {"-inf",     -INFINITY},
        {"infinity", INFINITY },
        {"nan",      NAN      },
        {"-nan",     NAN      }
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].name, text) == 0) {
            *out = rows[i].value;
            return true;
        }
    }
    return false;
}

/* T.handle("float32", "global"), T.Ptr(T.float32) */
static bool pointer_type(script_parser *p, const script_call *call, script_value *out) {
    const script_value *type = script_arg(call, 0, "dtype");
    const script_value *scope = script_arg(call, 1, "storage_scope");
    const char *text = "global";
    *out = (script_value){.kind = SCRIPT_NEWVAR, .u.var = {.dtype = HONE_DTYPE_HANDLE}};
    if (!type) return true;
    if (!script_to_dtype(p, type, &out->u.var.pointee) ||
        (scope && !script_to_string(p, scope, &text))) {
        return false;
    }
    out->u.var.point_scope = script_strdup(p, text);
    return out->u.var.point_scope != NULL;
}

static bool typed_constant(script_parser *p, const script_call *call, hone_dtype dtype,
                           script_value *out) {
    const script_value *v = script_arg(call, 0, "expr");
    const script_value *size = script_arg(call, 1, "is_size_var");
    bool is_size = false;
    if (hone_dtype_is_handle(dtype)) return pointer_type(p, call, out);
    if (size && !script_to_bool(p, size, &is_size)) return false;
    if (!v) {
        *out = (script_value){
            .kind = SCRIPT_NEWVAR, .u.var = {.dtype = dtype, .is_size = is_size}
        };
        return true;
    }
    double value = 0;
    bool is_float = hone_dtype_is_float(dtype);
    if (v->kind == SCRIPT_STRING && is_float) {
        if (!special_float(v->u.s, &value)) {
            return script_fail(p, v->at,
                               "\"%s\" is no float; expected \"inf\", \"-inf\" or \"nan\"", v->u.s);
        }
        return finish(p, call, hone_expr_float(&p->ir, dtype, value), out);
    }
    if (v->kind == SCRIPT_INT && hone_dtype_is_integer(dtype) && dtype.lanes == 1) {
        bool fits = (dtype.code == HONE_DTYPE_CODE_UINT && dtype.bits == 64) ||
                    (v->u.i >= hone_dtype_min_int(dtype) && v->u.i <= hone_dtype_max_int(dtype));
        if (!fits) {
            return script_fail(p, v->at, "%lld does not fit %s", (long long)v->u.i,
                               HONE_DTYPE_NAME(dtype));
        }
    }
    const hone_expr *e = NULL;
    if (!script_to_expr_as(p, v, dtype, &e)) return false;
    if (e->kind == HONE_EXPR_STRING)
        return script_fail(p, v->at, "expected a number, found a string");
    return finish(p, call, e, out);
}

/* T.var("int32"), T.handle("float32") */
static bool call_var(script_parser *p, const script_call *call, script_value *out) {
    const script_value *v = script_arg(call, 0, "dtype");
    hone_dtype dtype = HONE_DTYPE_I32;
    if (v && !script_to_dtype(p, v, &dtype)) return false;
    *out = (script_value){.kind = SCRIPT_NEWVAR, .u.var = {.dtype = dtype}};
    return true;
}

static bool call_size_var(script_parser *p, const script_call *call, script_value *out) {
    if (!call_var(p, call, out)) return false;
    out->u.var.is_size = true;
    return true;
}

/* TypeVar("n"): an integer of every function that uses it, often a size. */
static bool call_type_var(script_parser *p, const script_call *call, script_value *out) {
    (void)p;
    (void)call;
    *out = (script_value){
        .kind = SCRIPT_NEWVAR, .u.var = {.dtype = HONE_DTYPE_I64, .is_size = true}
    };
    return true;
}

/* ---- casts ---- */

/* T.Cast("float32", x) and T.cast(x, "float32"): the dtype is told by what it is. */
static bool call_cast(script_parser *p, const script_call *call, script_value *out) {
    const script_value *a = NULL, *b = NULL;
    bool type_first = strcmp(call->callee, "T.Cast") == 0;
    if (!script_need_arg(p, call, 0, type_first ? "dtype" : "value", &a) ||
        !script_need_arg(p, call, 1, type_first ? "value" : "dtype", &b)) {
        return false;
    }
    const script_value *type = type_first ? a : b, *value = type_first ? b : a;
    bool is_type =
        type->kind == SCRIPT_STRING || type->kind == SCRIPT_DTYPE || type->kind == SCRIPT_PATH;
    if (!is_type) {
        return script_fail_type(p, type->at, "%s: expected a dtype here, found %s; it is %s",
                                call->callee, script_kind_name(type),
                                type_first ? "T.Cast(\"float32\", value)"
                                           : "T.cast(value, \"float32\")");
    }
    hone_dtype dtype;
    const hone_expr *e = NULL;
    if (!script_to_dtype(p, type, &dtype) || !script_to_expr(p, value, &e)) return false;
    if (dtype.lanes > 1 && e->dtype.lanes == 1) e = hone_expr_broadcast(&p->ir, e, dtype.lanes);
    if (!e) return script_check_ir(p, call->at);
    /* T.Cast is the node itself, T.cast the function, which folds constants */
    e = type_first ? hone_expr_cast(&p->ir, dtype, e) : script_cast(p, dtype, e);
    return finish(p, call, e, out);
}

static bool call_limit(script_parser *p, const script_call *call, script_value *out) {
    const script_value *type = NULL;
    hone_dtype d;
    if (!script_need_arg(p, call, 0, "dtype", &type) || !script_to_dtype(p, type, &d)) return false;
    bool is_infinity = strcmp(call->callee, "T.infinity") == 0;
    bool is_special = is_infinity || strcmp(call->callee, "T.nan") == 0;
    if (hone_dtype_is_float(d) && is_special) {
        return finish(p, call, hone_expr_float(&p->ir, d, is_infinity ? INFINITY : NAN), out);
    }
    bool is_number = hone_dtype_is_float(d) || hone_dtype_is_integer(d) || hone_dtype_is_bool(d);
    if (!is_number || is_special) {
        return script_fail_type(p, call->at, "%s of %s", call->callee, HONE_DTYPE_NAME(d));
    }
    bool is_min = strcmp(call->callee, "T.min_value") == 0;
    return finish(p, call, is_min ? hone_expr_lowest(&p->ir, d) : hone_expr_highest(&p->ir, d),
                  out);
}

/* ---- operators by name ---- */

typedef struct named_op {
    const char *name;
    hone_op op;
    bool folds; /* TVM's function folds; the node's own name (T.Add) does not */
} named_op;

static const named_op named_ops[] = {
    {"T.Add",      HONE_OP_ADD,      false},
    {"T.Sub",      HONE_OP_SUB,      false},
    {"T.Mul",      HONE_OP_MUL,      false},
    {"T.Div",      HONE_OP_DIV,      false},
    {"T.FloorDiv", HONE_OP_FLOORDIV, false},
    {"T.FloorMod", HONE_OP_FLOORMOD, false},
    {"T.Mod",      HONE_OP_TRUNCMOD, false},
    {"T.Min",      HONE_OP_MIN,      false},
    {"T.Max",      HONE_OP_MAX,      false},
    {"T.EQ",       HONE_OP_EQ,       false},
    {"T.NE",       HONE_OP_NE,       false},
    {"T.LT",       HONE_OP_LT,       false},
    {"T.LE",       HONE_OP_LE,       false},
    {"T.GT",       HONE_OP_GT,       false},
    {"T.GE",       HONE_OP_GE,       false},
    {"T.And",      HONE_OP_AND,      false},
    {"T.Or",       HONE_OP_OR,       false},
    {"T.TruncDiv", HONE_OP_TRUNCDIV, false},
    {"T.TruncMod", HONE_OP_TRUNCMOD, false},
    {"T.floordiv", HONE_OP_FLOORDIV, true },
    {"T.floormod", HONE_OP_FLOORMOD, true },
    {"T.indexdiv", HONE_OP_FLOORDIV, true },
    {"T.indexmod", HONE_OP_FLOORMOD, true },
    {"T.truncdiv", HONE_OP_TRUNCDIV, true },
    {"T.truncmod", HONE_OP_TRUNCMOD, true },
    {"T.div",      HONE_OP_DIV,      true },
    {"T.min",      HONE_OP_MIN,      true },
    {"T.max",      HONE_OP_MAX,      true },
};

static bool named_pair(script_parser *p, const named_op *row, const script_call *call,
                       const hone_expr *a, const hone_expr *b, const hone_expr **out) {
    hone_op op = row->op;
    bool whole = hone_dtype_is_integer(a->dtype) && hone_dtype_is_integer(b->dtype);
    if (op == HONE_OP_DIV && whole) op = HONE_OP_TRUNCDIV; /* T.Div of integers rounds to zero */
    if (row->folds) {
        *out = script_fold_binary(&p->ir, op, a, b);
    } else {
        script_unify(&p->ir, &a, &b);
        *out = hone_expr_binary(&p->ir, op, a, b);
    }
    return *out || script_check_ir(p, call->at);
}

static bool call_op(script_parser *p, const script_call *call, script_value *out) {
    const named_op *row = named_ops;
    while (strcmp(row->name, call->callee) != 0)
        row++;
    const hone_expr *a = NULL, *b = NULL, *e = NULL;
    bool is_fold = row->op == HONE_OP_MIN || row->op == HONE_OP_MAX || row->op == HONE_OP_AND ||
                   row->op == HONE_OP_OR;
    if (call->count > 2 && !is_fold) {
        return script_fail(p, call->at, "%s takes 2 arguments, %u given", call->callee,
                           call->count);
    }
    if (call->count > p->budget) return script_fail(p, call->at, "this statement is too long");
    p->budget -= call->count;
    if (!expr_arg(p, call, 0, "a", &a) || !expr_arg(p, call, 1, "b", &b)) return false;
    if (!named_pair(p, row, call, a, b, &e)) return false;
    for (uint32_t i = 2; i < call->count; i++) { /* max(a, b, c) */
        if (!script_to_expr(p, &call->args[i], &b) || !named_pair(p, row, call, e, b, &e)) {
            return false;
        }
    }
    return finish(p, call, e, out);
}

static bool call_not(script_parser *p, const script_call *call, script_value *out) {
    const hone_expr *e = NULL;
    return expr_arg(p, call, 0, "a", &e) && finish(p, call, hone_expr_not(&p->ir, e), out);
}

static bool call_ceildiv(script_parser *p, const script_call *call, script_value *out) {
    const hone_expr *a = NULL, *b = NULL;
    if (!expr_arg(p, call, 0, "lhs", &a) || !expr_arg(p, call, 1, "rhs", &b)) return false;
    script_unify(&p->ir, &a, &b);
    const hone_expr *one = hone_expr_int(&p->ir, hone_dtype_element(b->dtype), 1);
    const hone_expr *sum = script_fold_binary(&p->ir, HONE_OP_ADD, a, b);
    sum = script_fold_binary(&p->ir, HONE_OP_SUB, sum, one);
    return finish(p, call, script_fold_binary(&p->ir, HONE_OP_FLOORDIV, sum, b), out);
}

/* abs of a float is fabs, of a constant its value */
static bool call_abs(script_parser *p, const script_call *call, script_value *out) {
    const hone_expr *e = NULL;
    if (!expr_arg(p, call, 0, "x", &e)) return false;
    if (e->kind == HONE_EXPR_INT && e->u.i > INT64_MIN) {
        return finish(p, call, hone_expr_int(&p->ir, e->dtype, e->u.i < 0 ? -e->u.i : e->u.i), out);
    }
    hone_intrin intrin = hone_dtype_is_float(e->dtype) ? HONE_INTRIN_FABS : HONE_INTRIN_ABS;
    return finish(p, call, hone_expr_call(&p->ir, e->dtype, intrin, 1, &e), out);
}

/* ---- choices ---- */

static bool call_choice(script_parser *p, const script_call *call, script_value *out) {
    const hone_expr *a[3];
    static const char *const select_names[] = {"condition", "true_value", "false_value"};
    static const char *const ite_names[] = {"cond", "t", "f"};
    bool is_select = strcmp(call->callee, "T.Select") == 0;
    for (uint32_t i = 0; i < 3; i++) {
        const char *name = is_select ? select_names[i] : ite_names[i];
        const script_value *v = NULL;
        if (!script_need_arg(p, call, i, name, &v)) return false;
        if (i ? !script_to_expr(p, v, &a[i]) : !script_to_condition(p, v, "the condition", &a[0]))
            return false;
    }
    bool is_mixed = is_select && a[1]->kind != HONE_EXPR_INT && a[2]->kind != HONE_EXPR_INT &&
                    hone_dtype_is_float(a[1]->dtype) != hone_dtype_is_float(a[2]->dtype);
    if (is_mixed) {
        return script_fail_type(p, call->at, "the choices are %s and %s, must be of one type",
                                HONE_DTYPE_NAME(a[1]->dtype), HONE_DTYPE_NAME(a[2]->dtype));
    }
    script_unify(&p->ir, &a[1], &a[2]);
    if (is_select) return finish(p, call, hone_expr_select(&p->ir, a[0], a[1], a[2]), out);
    return finish(p, call, hone_expr_call(&p->ir, a[1]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, a),
                  out);
}

/* ---- vectors ---- */

static bool lanes_arg(script_parser *p, const script_call *call, uint32_t index, uint16_t *out) {
    int64_t lanes = 0;
    if (!int_arg(p, call, index, "lanes", &lanes)) return false;
    if (lanes < 1 || lanes > UINT16_MAX) {
        return script_fail(p, call->at, "lanes is %lld, expected 1 to %d", (long long)lanes,
                           UINT16_MAX);
    }
    *out = (uint16_t)lanes;
    return true;
}

static bool call_ramp(script_parser *p, const script_call *call, script_value *out) {
    const hone_expr *base = NULL, *stride = NULL;
    uint16_t lanes = 0;
    if (!expr_arg(p, call, 0, "base", &base) || !expr_arg(p, call, 1, "stride", &stride) ||
        !lanes_arg(p, call, 2, &lanes)) {
        return false;
    }
    script_unify(&p->ir, &base, &stride);
    return finish(p, call, hone_expr_ramp(&p->ir, base, stride, lanes), out);
}

static bool call_broadcast(script_parser *p, const script_call *call, script_value *out) {
    const hone_expr *e = NULL;
    uint16_t lanes = 0;
    if (!expr_arg(p, call, 0, "value", &e) || !lanes_arg(p, call, 1, &lanes)) return false;
    return finish(p, call, hone_expr_broadcast(&p->ir, e, lanes), out);
}

/* T.Shuffle([a, b], [i, j]): lanes i and j of the vectors a and b behind each other. */
static bool call_shuffle(script_parser *p, const script_call *call, script_value *out) {
    const script_value *vectors = NULL, *indices = NULL, *items[2] = {NULL, NULL};
    uint32_t counts[2] = {0, 0};
    int64_t lanes = 0;
    if (!script_need_arg(p, call, 0, "vectors", &vectors) ||
        !script_need_arg(p, call, 1, "indices", &indices)) {
        return false;
    }
    script_items(vectors, &items[0], &counts[0]);
    script_items(indices, &items[1], &counts[1]);
    const hone_expr **args =
        script_alloc(p, p->scratch, (size_t)counts[0] + counts[1], sizeof *args);
    if (!args) return false;
    for (uint32_t i = 0; i < counts[0] + counts[1]; i++) {
        const script_value *v = i < counts[0] ? &items[0][i] : &items[1][i - counts[0]];
        if (!script_to_expr(p, v, &args[i])) return false;
        if (i < counts[0]) lanes += args[i]->dtype.lanes;
        bool is_outside = i >= counts[0] && args[i]->kind == HONE_EXPR_INT &&
                          (args[i]->u.i < 0 || args[i]->u.i >= lanes);
        if (is_outside) {
            return script_fail(p, v->at, "lane %lld of vectors with %lld lanes",
                               (long long)args[i]->u.i, (long long)lanes);
        }
    }
    return finish(p, call, hone_expr_shuffle(&p->ir, counts[0], counts[1], args), out);
}

/* ---- T.Let(body, where={x: value}) and T.Let(x, value, body) ---- */

static bool let_var(script_parser *p, const script_value *v, hone_var *out) {
    if (v->kind == SCRIPT_EXPR && v->u.expr->kind == HONE_EXPR_VAR) {
        *out = v->u.expr->u.var;
        return true;
    }
    return script_fail(p, v->at, "expected a variable, found %s", script_kind_name(v));
}

static bool call_let(script_parser *p, const script_call *call, script_value *out) {
    const script_value *where = script_arg(call, 3, "where");
    if (!p->func) return script_fail(p, call->at, "T.Let stands outside of a tensor program");
    const hone_expr *body = NULL, *value = NULL;
    hone_var var = HONE_NO_ID;
    if (!where) {
        const script_value *v = NULL;
        if (!script_need_arg(p, call, 0, "var", &v) || !let_var(p, v, &var) ||
            !expr_arg(p, call, 1, "value", &value) || !expr_arg(p, call, 2, "body", &body)) {
            return false;
        }
        value = script_cast(p, p->func->vars[var].dtype, value);
        return finish(p, call, hone_expr_let(&p->ir, var, value, body), out);
    }
    if (where->kind != SCRIPT_DICT) return script_fail(p, where->at, "expected a dictionary");
    if (!expr_arg(p, call, 0, "body", &body)) return false;
    for (uint32_t i = where->count; i-- > 0;) {
        if (!let_var(p, &where->u.items[2 * i], &var) ||
            !script_to_expr(p, &where->u.items[2 * i + 1], &value)) {
            return false;
        }
        value = script_cast(p, p->func->vars[var].dtype, value);
        body = hone_expr_let(&p->ir, var, value, body);
    }
    return finish(p, call, body, out);
}

/* ---- values that pass through ---- */

/* Tree size up to a limit: an expression that a text shares n times is n times as large. */
static uint32_t tree_size(const hone_expr *e, uint32_t limit) {
    uint32_t size = 1;
    for (uint32_t i = 0; i < e->count && size < limit; i++) {
        size += tree_size(e->args[i], limit - size);
    }
    return size;
}

static bool call_identity(script_parser *p, const script_call *call, script_value *out) {
    const script_value *v = NULL;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    if (v->kind == SCRIPT_EXPR && tree_size(v->u.expr, 2000) >= 2000) {
        return script_fail(p, call->at, "this expression is too large to be repeated");
    }
    *out = *v;
    out->is_meta = strcmp(call->callee + 1, ".meta_var") == 0;
    return true;
}

/* T.call_intrin("float32", "tirx.exp", x) is T.exp(x, dtype="float32"). */
static bool call_intrin_by_name(script_parser *p, const script_call *call, script_value *out) {
    static const char *const rooms[] = {"tirx.", "tir.", "s_tir."};
    const script_value *type = NULL, *name = NULL;
    const char *op = NULL;
    hone_dtype dtype;
    if (!script_need_arg(p, call, 0, "dtype", &type) ||
        !script_need_arg(p, call, 1, "func_name", &name) || !script_to_dtype(p, type, &dtype) ||
        !script_to_string(p, name, &op)) {
        return false;
    }
    for (size_t i = 0; i < HONE_COUNT(rooms); i++) {
        size_t length = strlen(rooms[i]);
        if (strncmp(op, rooms[i], length) != 0) continue;
        op += length;
        break;
    }
    bool is_name = *op && strlen(op) < 100 && strcmp(op, "call_intrin") != 0;
    if (!is_name) return script_fail(p, name->at, "expected the name of an operator");
    const script_value value = {.kind = SCRIPT_DTYPE, .at = type->at, .u.dtype = dtype};
    script_keyword said = {"dtype", value};
    script_call inner = {.callee = hone_arena_printf(p->scratch, "T.%s", op),
                         .at = call->at,
                         .count = call->count - 2,
                         .args = call->args + 2,
                         .keyword_count = 1,
                         .keywords = &said};
    return inner.callee ? script_call_path(p, &inner, out) : script_no_memory(p);
}

static bool call_float_imm(script_parser *p, const script_call *call, script_value *out) {
    const script_value *type = NULL, *v = NULL;
    hone_dtype dtype;
    if (!script_need_arg(p, call, 0, "dtype", &type) || !script_need_arg(p, call, 1, "value", &v) ||
        !script_to_dtype(p, type, &dtype)) {
        return false;
    }
    script_call inner = {.callee = call->callee, .at = call->at, .count = 1, .args = v};
    return typed_constant(p, &inner, dtype, out);
}

static bool call_len(script_parser *p, const script_call *call, script_value *out) {
    const script_value *v = NULL;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    if (v->kind != SCRIPT_TUPLE && v->kind != SCRIPT_LIST) {
        return script_fail(p, call->at, "len of %s", script_kind_name(v));
    }
    *out = SCRIPT_VALUE_INT(v->count);
    return true;
}

/* int(x), float(x), bool(x) of constants */
static bool call_python(script_parser *p, const script_call *call, script_value *out) {
    const script_value *v = NULL;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    bool to_float = strcmp(call->callee, "float") == 0;
    if (to_float && v->kind == SCRIPT_STRING) {
        *out = (script_value){.kind = SCRIPT_FLOAT};
        return special_float(v->u.s, &out->u.f) || script_fail(p, v->at, "this is no float");
    }
    if (v->kind != SCRIPT_INT && v->kind != SCRIPT_FLOAT && v->kind != SCRIPT_BOOL) {
        return script_fail(p, v->at,
                           "%s of %s, which is not known before the program runs; T.Cast(\"%s\", "
                           "...) converts",
                           call->callee, script_kind_name(v),
                           to_float                            ? "float32"
                           : strcmp(call->callee, "bool") == 0 ? "bool"
                                                               : "int32");
    }
    double value = v->kind == SCRIPT_FLOAT ? v->u.f : (double)v->u.i;
    *out = (script_value){.kind = SCRIPT_FLOAT, .u.f = value};
    if (to_float) return true;
    if (!(fabs(value) < 9e18)) return script_fail(p, v->at, "this does not fit 64 bits");
    *out = SCRIPT_VALUE_INT(v->kind == SCRIPT_FLOAT ? (int64_t)value : v->u.i);
    if (strcmp(call->callee, "bool") == 0) {
        *out = (script_value){.kind = SCRIPT_BOOL, .u.i = value != 0};
    }
    return true;
}

/* T.target({…}, host={…}) keeps the host inside. */
static bool call_target(script_parser *p, const script_call *call, script_value *out) {
    const script_value *v = NULL, *host = script_arg(call, 1, "host");
    if (!script_need_arg(p, call, 0, "target_config", &v)) return false;
    *out = *v;
    if (!host || v->kind != SCRIPT_DICT) return true;
    script_value *items = script_alloc(p, p->scratch, 2 * (size_t)v->count + 2, sizeof *items);
    if (!items) return false;
    for (uint32_t i = 0; i < 2 * v->count; i++)
        items[i] = v->u.items[i];
    items[2 * v->count] = (script_value){.kind = SCRIPT_STRING, .at = host->at, .u.s = "host"};
    items[2 * v->count + 1] = *host;
    out->u.items = items;
    out->count = v->count + 1;
    return true;
}

/* ---- intrinsics ---- */

static const char *const renamed_intrins[][2] = {
    {"T.Return",          "ret"           },
    {"T.access_ptr",      "tvm_access_ptr"},
    {"T.tvm_call_packed", "call_packed"   },
    {"T.power",           "pow"           },
};

/* The dtype of a call that must say it: dtype=, or a leading dtype string. */
static bool given_dtype(script_parser *p, const script_call *call, hone_intrin intrin,
                        uint32_t *first, hone_dtype *out) {
    const script_value *v = script_arg(call, UINT32_MAX, "dtype");
    *first = 0;
    if (v) return script_to_dtype(p, v, out);
    bool leads = call->count > 0 &&
                 (call->args[0].kind == SCRIPT_STRING || call->args[0].kind == SCRIPT_DTYPE ||
                  call->args[0].kind == SCRIPT_PATH);
    hone_dtype dtype;
    bool is_call = intrin == HONE_INTRIN_CALL_EXTERN || intrin == HONE_INTRIN_CALL_PURE_EXTERN;
    if (leads &&
        (call->args[0].kind != SCRIPT_STRING || script_is_dtype_name(call->args[0].u.s, &dtype))) {
        *first = 1;
        return script_to_dtype(p, &call->args[0], out);
    }
    *out = HONE_DTYPE_I32;
    if (is_call || intrin == HONE_INTRIN_UNDEF) return true;
    return script_fail(p, call->at, "%s: the dtype is missing", call->callee);
}

static bool call_dtype(const hone_expr *const *args, uint32_t count, hone_intrin_result rule,
                       hone_dtype given, hone_dtype *out) {
    switch (rule) {
    case HONE_INTRIN_RESULT_FIRST:
        *out = count > 0 ? args[0]->dtype : given;
        return true;
    case HONE_INTRIN_RESULT_SECOND:
        *out = count > 1 ? args[1]->dtype : given;
        return true;
    case HONE_INTRIN_RESULT_INT32:
        *out = HONE_DTYPE_I32;
        return true;
    case HONE_INTRIN_RESULT_BOOL:
        *out = hone_dtype_with_lanes(HONE_DTYPE_BOOL, count > 0 ? args[0]->dtype.lanes : 1);
        return true;
    case HONE_INTRIN_RESULT_GIVEN:
        *out = given;
        return true;
    case HONE_INTRIN_RESULT_HANDLE:
        *out = HONE_DTYPE_HANDLE;
        return true;
    }
    return false;
}

bool script_to_argument(script_parser *p, const script_value *v, const hone_expr **out) {
    if (v->kind == SCRIPT_BUFFER) {
        hone_var data = HONE_NO_ID;
        if (!script_buffer_data(p, v->u.buffer, &data)) return false;
        *out = hone_func_var_expr(&p->ir, p->func, data);
        return *out || script_check_ir(p, v->at);
    }
    return script_to_expr(p, v, out);
}

/* A constant beside a float function is a float: T.exp(1), T.pow(x, 2). */
static void match_math(script_parser *p, hone_intrin intrin, uint32_t count,
                       const hone_expr **args) {
    if (count == 2 && hone_intrin_result_rule(intrin) == HONE_INTRIN_RESULT_FIRST) {
        script_unify(&p->ir, &args[0], &args[1]);
    }
    for (uint32_t i = 0; i < count && hone_intrin_is_math(intrin); i++) {
        if (args[i]->kind == HONE_EXPR_INT) args[i] = script_cast(p, HONE_DTYPE_F32, args[i]);
    }
}

static uint32_t bits_of(hone_dtype dtype) {
    return (uint32_t)dtype.bits * (dtype.lanes ? dtype.lanes : 1);
}

/* What no value of the operands makes right. */
static bool check_operands(script_parser *p, const script_call *call, hone_intrin intrin,
                           uint32_t count, const hone_expr *const *args, hone_dtype dtype) {
    if (intrin == HONE_INTRIN_REINTERPRET && count == 1 &&
        bits_of(args[0]->dtype) != bits_of(dtype)) {
        return script_fail_type(p, call->at, "%s as %s: %u bits are no %u bits",
                                HONE_DTYPE_NAME(args[0]->dtype), HONE_DTYPE_NAME(dtype),
                                bits_of(args[0]->dtype), bits_of(dtype));
    }
    if ((intrin == HONE_INTRIN_SHIFT_LEFT || intrin == HONE_INTRIN_SHIFT_RIGHT) && count == 2) {
        return script_check_shift(p, call->at, args[0], args[1]);
    }
    return true;
}

bool script_call_intrin(script_parser *p, const script_call *call, script_value *out,
                        bool *out_known) {
    *out_known = false;
    if (strncmp(call->callee, "T.", 2) != 0) return true;
    const char *name = call->callee + 2;
    for (size_t i = 0; i < HONE_COUNT(renamed_intrins); i++) {
        if (strcmp(call->callee, renamed_intrins[i][0]) == 0) name = renamed_intrins[i][1];
    }
    hone_dtype dtype = HONE_DTYPE_I32;
    if (*name && script_is_dtype_name(name, &dtype)) {
        *out_known = true;
        return typed_constant(p, call, dtype, out);
    }
    hone_intrin intrin;
    if (!hone_intrin_find(name, &intrin)) return true;
    *out_known = true;
    if (!p->func && !p->graph)
        return script_fail(p, call->at, "'%s' stands outside of a tensor program", call->callee);
    hone_intrin_result rule = hone_intrin_result_rule(intrin);
    uint32_t first = 0;
    if (rule == HONE_INTRIN_RESULT_GIVEN && !given_dtype(p, call, intrin, &first, &dtype)) {
        return false;
    }
    uint32_t count = call->count - first;
    const hone_expr **args = script_alloc(p, p->scratch, count, sizeof *args);
    if (!args) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_to_argument(p, &call->args[first + i], &args[i])) return false;
    }
    int arity = hone_intrin_arity(intrin);
    if (arity >= 0 && (uint32_t)arity != count) {
        return script_fail_type(p, call->at, "%s takes %d arguments, %u given", call->callee, arity,
                                count);
    }
    match_math(p, intrin, count, args);
    if (!check_operands(p, call, intrin, count, args, dtype)) return false;
    const script_value *said = script_arg(call, UINT32_MAX, "dtype");
    call_dtype(args, count, rule, dtype, &dtype);
    if (said && !script_to_dtype(p, said, &dtype)) return false;
    return finish(p, call, hone_expr_call(&p->ir, dtype, intrin, count, args), out);
}

const script_entry script_expr_calls[] = {
    {"TypeVar",                    call_type_var      },
    {"T.var",                      call_var           },
    {"T.Ptr",                      pointer_type       },
    {"T.SizeVar",                  call_size_var      },
    {"T.Cast",                     call_cast          },
    {"T.cast",                     call_cast          },
    {"T.min_value",                call_limit         },
    {"T.max_value",                call_limit         },
    {"T.infinity",                 call_limit         },
    {"T.nan",                      call_limit         },
    {"T.Add",                      call_op            },
    {"T.Sub",                      call_op            },
    {"T.Mul",                      call_op            },
    {"T.Div",                      call_op            },
    {"T.FloorDiv",                 call_op            },
    {"T.FloorMod",                 call_op            },
    {"T.Mod",                      call_op            },
    {"T.Min",                      call_op            },
    {"T.Max",                      call_op            },
    {"T.EQ",                       call_op            },
    {"T.NE",                       call_op            },
    {"T.LT",                       call_op            },
    {"T.LE",                       call_op            },
    {"T.GT",                       call_op            },
    {"T.GE",                       call_op            },
    {"T.And",                      call_op            },
    {"T.Or",                       call_op            },
    {"T.TruncDiv",                 call_op            },
    {"T.TruncMod",                 call_op            },
    {"T.floordiv",                 call_op            },
    {"T.floormod",                 call_op            },
    {"T.indexdiv",                 call_op            },
    {"T.indexmod",                 call_op            },
    {"T.truncdiv",                 call_op            },
    {"T.truncmod",                 call_op            },
    {"T.div",                      call_op            },
    {"T.min",                      call_op            },
    {"T.max",                      call_op            },
    {"T.Not",                      call_not           },
    {"T.ceildiv",                  call_ceildiv       },
    {"T.abs",                      call_abs           },
    {"T.Select",                   call_choice        },
    {"T.if_then_else",             call_choice        },
    {"T.Ramp",                     call_ramp          },
    {"T.ramp",                     call_ramp          },
    {"T.Broadcast",                call_broadcast     },
    {"T.broadcast",                call_broadcast     },
    {"T.Let",                      call_let           },
    {"T.Shuffle",                  call_shuffle       },
    {"T.llvm_lookup_intrinsic_id", call_identity      },
    {"T.call_intrin",              call_intrin_by_name},
    {"T.meta_var",                 call_identity      },
    {"I.meta_var",                 call_identity      },
    {"T.target",                   call_target        },
    {"T.StringImm",                call_identity      },
    {"T.FloatImm",                 call_float_imm     },
    {"T.IntImm",                   call_float_imm     },
    {"len",                        call_len           },
    {"int",                        call_python        },
    {"float",                      call_python        },
    {"bool",                       call_python        },
    {NULL,                         NULL               },
};
