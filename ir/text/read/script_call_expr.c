/* ir/text/read/script_call_expr.c - calls that are expressions: operators by name, choices,
 * vectors, lets, and values that pass through. */
#include "ir/text/read/script_impl.h"

#include <string.h>

#include "support/core/attributes.h"

static bool expr_arg(script_parser *p, const script_call *call, uint32_t index, const char *name,
                     const hone_expr **out) {
    const py_value *v = NULL;
    return script_need_arg(p, call, index, name, &v) && script_to_expr(p, v, out);
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

/* T.And, T.Or and T.Not take no numbers, as in TVM. */
static bool expect_condition(script_parser *p, const script_call *call, const hone_expr *e) {
    if (hone_dtype_is_bool(e->dtype)) return true;
    return script_fail_type(p, call->at, "%s takes conditions, not a number of type %s",
                            call->callee, HONE_DTYPE_NAME(e->dtype));
}

static bool named_pair(script_parser *p, const named_op *row, const script_call *call,
                       const hone_expr *a, const hone_expr *b, const hone_expr **out) {
    hone_op op = row->op;
    bool joins = op == HONE_OP_AND || op == HONE_OP_OR;
    if (joins && (!expect_condition(p, call, a) || !expect_condition(p, call, b))) return false;
    bool whole = hone_dtype_is_integer(a->dtype) && hone_dtype_is_integer(b->dtype);
    if (op == HONE_OP_DIV && whole) op = HONE_OP_TRUNCDIV; /* T.Div of integers rounds to zero */
    bool is_float = hone_dtype_is_float(a->dtype) || hone_dtype_is_float(b->dtype);
    if (is_float && (op == HONE_OP_TRUNCDIV || op == HONE_OP_TRUNCMOD)) {
        return script_fail_type(p, call->at, "%s of floats: write %s", call->callee,
                                op == HONE_OP_TRUNCMOD ? "T.fmod(a, b)" : "T.trunc(a / b)");
    }
    if (row->folds) {
        *out = script_fold_binary(&p->ir, op, a, b);
    } else {
        script_unify(&p->ir, &a, &b);
        *out = hone_expr_binary(&p->ir, op, a, b);
    }
    return *out || script_check_ir(p, call->at);
}

static bool call_op(script_parser *p, const script_call *call, py_value *out) {
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
    static const char *const words[] = {"a", "b", "span"};
    if (!script_check_keywords(p, call, words, HONE_COUNT(words))) return false;
    if (call->count > p->budget) return script_fail(p, call->at, "this statement is too long");
    p->budget -= call->count;
    if (!expr_arg(p, call, 0, "a", &a) || !expr_arg(p, call, 1, "b", &b)) return false;
    if (!named_pair(p, row, call, a, b, &e)) return false;
    for (uint32_t i = 2; i < call->count; i++) { /* max(a, b, c) */
        if (!script_to_expr(p, &call->args[i], &b) || !named_pair(p, row, call, e, b, &e)) {
            return false;
        }
    }
    return script_finish(p, call, e, out);
}

static bool call_not(script_parser *p, const script_call *call, py_value *out) {
    const hone_expr *e = NULL;
    if (!expr_arg(p, call, 0, "a", &e)) return false;
    if (!expect_condition(p, call, e)) return false;
    return script_finish(p, call, hone_expr_not(&p->ir, e), out);
}

static bool call_ceildiv(script_parser *p, const script_call *call, py_value *out) {
    const hone_expr *a = NULL, *b = NULL;
    if (!expr_arg(p, call, 0, "lhs", &a) || !expr_arg(p, call, 1, "rhs", &b)) return false;
    script_unify(&p->ir, &a, &b);
    const hone_expr *one = hone_expr_int(&p->ir, hone_dtype_element(b->dtype), 1);
    const hone_expr *sum = script_fold_binary(&p->ir, HONE_OP_ADD, a, b);
    sum = script_fold_binary(&p->ir, HONE_OP_SUB, sum, one);
    return script_finish(p, call, script_fold_binary(&p->ir, HONE_OP_FLOORDIV, sum, b), out);
}

/* abs of a float is fabs, of a constant its value unless its type lacks that */
static bool call_abs(script_parser *p, const script_call *call, py_value *out) {
    const hone_expr *e = NULL;
    if (!expr_arg(p, call, 0, "x", &e)) return false;
    bool is_negative = hone_dtype_is_int(e->dtype) && e->u.i < 0;
    bool is_least = is_negative && e->u.i == hone_dtype_min_int(e->dtype);
    if (e->kind == HONE_EXPR_INT && !is_least) {
        return script_finish(p, call,
                             hone_expr_int(&p->ir, e->dtype, is_negative ? -e->u.i : e->u.i), out);
    }
    hone_intrin intrin = hone_dtype_is_float(e->dtype) ? HONE_INTRIN_FABS : HONE_INTRIN_ABS;
    return script_finish(p, call, hone_expr_call(&p->ir, e->dtype, intrin, 1, &e), out);
}

/* ---- choices ---- */

/* A number is no condition here, other than of an `if`. */
static bool choice_condition(script_parser *p, const py_value *v, const hone_expr **out) {
    if (!script_to_expr(p, v, out)) return false;
    if (hone_dtype_is_integer((*out)->dtype)) {
        return script_fail_type(p, v->at, "the condition is %s, must be bool, as in i != 0",
                                HONE_DTYPE_NAME((*out)->dtype));
    }
    return script_to_condition(p, v, "the condition", out);
}

static bool call_choice(script_parser *p, const script_call *call, py_value *out) {
    const hone_expr *a[3];
    static const char *const select_names[] = {"condition", "true_value", "false_value"};
    static const char *const ite_names[] = {"cond", "t", "f"};
    bool is_select = strcmp(call->callee, "T.Select") == 0;
    for (uint32_t i = 0; i < 3; i++) {
        const char *name = is_select ? select_names[i] : ite_names[i];
        const py_value *v = NULL;
        if (!script_need_arg(p, call, i, name, &v)) return false;
        if (i ? !script_to_expr(p, v, &a[i]) : !choice_condition(p, v, &a[0])) return false;
    }
    bool is_mixed = is_select && a[1]->kind != HONE_EXPR_INT && a[2]->kind != HONE_EXPR_INT &&
                    hone_dtype_is_float(a[1]->dtype) != hone_dtype_is_float(a[2]->dtype);
    if (is_mixed) {
        return script_fail_type(p, call->at, "the choices are %s and %s, must be of one type",
                                HONE_DTYPE_NAME(a[1]->dtype), HONE_DTYPE_NAME(a[2]->dtype));
    }
    script_unify(&p->ir, &a[1], &a[2]);
    if (is_select) return script_finish(p, call, hone_expr_select(&p->ir, a[0], a[1], a[2]), out);
    return script_finish(p, call,
                         hone_expr_call(&p->ir, a[1]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, a), out);
}

/* ---- vectors ---- */

/* T.vscale(), 4 * T.vscale(), T.vscale() * 4 */
static bool is_scaled(const hone_expr *e, int64_t *out_factor) {
    *out_factor = 1;
    if (hone_expr_is_vscale(e)) return true;
    if (e->kind != HONE_EXPR_BINARY || e->op != HONE_OP_MUL) return false;
    const hone_expr *number = e->args[hone_expr_is_vscale(e->args[0])];
    *out_factor = hone_expr_const(number);
    return number->kind == HONE_EXPR_INT &&
           (hone_expr_is_vscale(e->args[0]) || hone_expr_is_vscale(e->args[1]));
}

static bool lanes_arg(script_parser *p, const script_call *call, uint32_t index, uint16_t *out) {
    const py_value *v = NULL;
    int64_t lanes = 0;
    if (!script_need_arg(p, call, index, "lanes", &v)) return false;
    bool is_scalable = v->kind == SCRIPT_EXPR && is_scaled(script_expr_of(v), &lanes);
    if (!is_scalable && !script_to_int(p, v, &lanes)) return false;
    if (lanes < 1 || lanes >= HONE_DTYPE_SCALABLE) {
        return script_fail(p, call->at, "lanes is %lld, expected 1 to %d", (long long)lanes,
                           HONE_DTYPE_SCALABLE - 1);
    }
    *out = (uint16_t)(is_scalable ? lanes | HONE_DTYPE_SCALABLE : lanes);
    return true;
}

static bool call_ramp(script_parser *p, const script_call *call, py_value *out) {
    const hone_expr *base = NULL, *stride = NULL;
    uint16_t lanes = 0;
    if (!expr_arg(p, call, 0, "base", &base) || !expr_arg(p, call, 1, "stride", &stride) ||
        !lanes_arg(p, call, 2, &lanes)) {
        return false;
    }
    script_unify(&p->ir, &base, &stride);
    return script_finish(p, call, hone_expr_ramp(&p->ir, base, stride, lanes), out);
}

static bool call_broadcast(script_parser *p, const script_call *call, py_value *out) {
    const hone_expr *e = NULL;
    uint16_t lanes = 0;
    if (!expr_arg(p, call, 0, "value", &e) || !lanes_arg(p, call, 1, &lanes)) return false;
    return script_finish(p, call, hone_expr_broadcast(&p->ir, e, lanes), out);
}

/* T.Shuffle([a, b], [i, j]): lanes i and j of the vectors a and b behind each other. */
static bool call_shuffle(script_parser *p, const script_call *call, py_value *out) {
    const py_value *vectors = NULL, *indices = NULL, *items[2] = {NULL, NULL};
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
        const py_value *v = i < counts[0] ? &items[0][i] : &items[1][i - counts[0]];
        if (!script_to_expr(p, v, &args[i])) return false;
        if (i < counts[0]) lanes += args[i]->dtype.lanes;
        bool is_outside = i >= counts[0] && args[i]->kind == HONE_EXPR_INT &&
                          (args[i]->u.i < 0 || args[i]->u.i >= lanes);
        if (is_outside) {
            return script_fail(p, v->at, "lane %lld of vectors with %lld lanes",
                               (long long)args[i]->u.i, (long long)lanes);
        }
    }
    return script_finish(p, call, hone_expr_shuffle(&p->ir, counts[0], counts[1], args), out);
}

/* ---- T.Let(body, where={x: value}) and T.Let(x, value, body) ---- */

static bool let_var(script_parser *p, const py_value *v, hone_var *out) {
    if (v->kind == SCRIPT_EXPR && script_expr_of(v)->kind == HONE_EXPR_VAR) {
        *out = script_expr_of(v)->u.var;
        return true;
    }
    return script_fail(p, v->at, "expected a variable, found %s", script_kind_name(v));
}

static bool call_let(script_parser *p, const script_call *call, py_value *out) {
    const py_value *where = script_arg(call, 3, "where");
    if (!p->func) return script_fail(p, call->at, "T.Let stands outside of a tensor program");
    const hone_expr *body = NULL, *value = NULL;
    hone_var var = HONE_NO_ID;
    if (!where) {
        const py_value *v = NULL;
        if (!script_need_arg(p, call, 0, "var", &v) || !let_var(p, v, &var) ||
            !expr_arg(p, call, 1, "value", &value) || !expr_arg(p, call, 2, "body", &body)) {
            return false;
        }
        value = script_cast(p, p->func->vars[var].dtype, value);
        return script_finish(p, call, hone_expr_let(&p->ir, var, value, body), out);
    }
    if (where->kind != PYV_DICT) return script_fail(p, where->at, "expected a dictionary");
    if (!expr_arg(p, call, 0, "body", &body)) return false;
    for (uint32_t i = where->u.list->count; i-- > 0;) {
        if (!let_var(p, &where->u.list->keys[i], &var) ||
            !script_to_expr(p, &where->u.list->items[i], &value)) {
            return false;
        }
        value = script_cast(p, p->func->vars[var].dtype, value);
        body = hone_expr_let(&p->ir, var, value, body);
    }
    return script_finish(p, call, body, out);
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

static bool call_identity(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    if (v->kind == SCRIPT_EXPR && tree_size(script_expr_of(v), 2000) >= 2000) {
        return script_fail(p, call->at, "this expression is too large to be repeated");
    }
    *out = *v;
    out->is_meta = strcmp(call->callee + 1, ".meta_var") == 0;
    return true;
}

static bool call_len(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL;
    if (!script_need_arg(p, call, 0, "value", &v)) return false;
    const py_value *items;
    uint32_t count;
    if (v->kind != PYV_STRING && !py_items(v, &items, &count)) {
        return script_fail(p, call->at, "len of %s%s", script_kind_name(v),
                           v->kind == SCRIPT_BUFFER ? "; A.shape holds its sizes" : "");
    }
    *out = PYV_OF_INT(v->kind == PYV_STRING ? (int64_t)strlen(v->u.s) : count);
    return true;
}

static bool put(script_parser *p, py_value *dict, const char *key, const py_value *item) {
    py_value name = PYV_OF_STRING(key);
    name.at = item->at;
    return script_keep(p, py_put(&p->run, item->at, dict, &name, item));
}

/* T.target({…}, host={…}) keeps the host inside; a word is a kind, with a slash the tag of one. */
static bool call_target(script_parser *p, const script_call *call, py_value *out) {
    const py_value *v = NULL, *host = script_arg(call, 1, "host");
    if (!script_need_arg(p, call, 0, "target_config", &v)) return false;
    *out = *v;
    bool is_word = v->kind == PYV_STRING && !strchr(v->u.s, ' ');
    if (!host || !(v->kind == PYV_DICT || is_word)) return true;
    if (!script_keep(p, py_new_list(&p->run, PYV_DICT, out))) return false;
    out->at = v->at;
    if (is_word)
        return put(p, out, strchr(v->u.s, '/') ? "tag" : "kind", v) && put(p, out, "host", host);
    const py_list *dict = v->u.list;
    for (uint32_t i = 0; i < dict->count; i++) {
        if (!script_keep(p, py_put(&p->run, v->at, out, &dict->keys[i], &dict->items[i])))
            return false;
    }
    return put(p, out, "host", host);
}

const script_entry script_expr_calls[] = {
    {"T.Add",                      call_op       },
    {"T.Sub",                      call_op       },
    {"T.Mul",                      call_op       },
    {"T.Div",                      call_op       },
    {"T.FloorDiv",                 call_op       },
    {"T.FloorMod",                 call_op       },
    {"T.Mod",                      call_op       },
    {"T.Min",                      call_op       },
    {"T.Max",                      call_op       },
    {"T.EQ",                       call_op       },
    {"T.NE",                       call_op       },
    {"T.LT",                       call_op       },
    {"T.LE",                       call_op       },
    {"T.GT",                       call_op       },
    {"T.GE",                       call_op       },
    {"T.And",                      call_op       },
    {"T.Or",                       call_op       },
    {"T.TruncDiv",                 call_op       },
    {"T.TruncMod",                 call_op       },
    {"T.floordiv",                 call_op       },
    {"T.floormod",                 call_op       },
    {"T.indexdiv",                 call_op       },
    {"T.indexmod",                 call_op       },
    {"T.truncdiv",                 call_op       },
    {"T.truncmod",                 call_op       },
    {"T.div",                      call_op       },
    {"T.min",                      call_op       },
    {"T.max",                      call_op       },
    {"T.Not",                      call_not      },
    {"T.ceildiv",                  call_ceildiv  },
    {"T.abs",                      call_abs      },
    {"T.Select",                   call_choice   },
    {"T.if_then_else",             call_choice   },
    {"T.Ramp",                     call_ramp     },
    {"T.ramp",                     call_ramp     },
    {"T.Broadcast",                call_broadcast},
    {"T.broadcast",                call_broadcast},
    {"T.Let",                      call_let      },
    {"T.Shuffle",                  call_shuffle  },
    {"T.llvm_lookup_intrinsic_id", call_identity },
    {"T.meta_var",                 call_identity },
    {"I.meta_var",                 call_identity },
    {"T.target",                   call_target   },
    {"T.StringImm",                call_identity },
    {"len",                        call_len      },
    {NULL,                         NULL          },
};
