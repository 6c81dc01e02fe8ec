/* ir/text/read/script_eval.c - expressions of the text: what they are worth. Numbers are computed,
 * calls make what they stand for, from left to right. */
#include <string.h>

#include "ir/text/read/script_impl.h"

/* ---- literals ---- */

static bool eval_int(script_parser *p, const py_node *node, script_value *out) {
    bool is_huge;
    const char *why = py_int_of(&p->source, node->at, node->end, &out->u.i, &is_huge);
    out->kind = is_huge ? SCRIPT_HUGE : SCRIPT_INT;
    return !why || script_fail(p, node->at, "%s", why);
}

/* 1.5f of other languages */
static bool has_suffix(const script_parser *p, const py_node *node) {
    double ignored;
    return strchr("fFlLhH", p->source.text[node->end - 1]) &&
           !py_float_of(&p->source, node->at, node->end - 1, &ignored);
}

static bool eval_float(script_parser *p, const py_node *node, script_value *out) {
    const char *text = p->source.text + node->at;
    if (has_suffix(p, node)) {
        int length = (int)(node->end - node->at) - 1;
        return script_fail(p, node->at,
                           "Python's numbers have no suffix '%c'; T.float32(%.*s) says the type",
                           text[length], length, text);
    }
    out->kind = SCRIPT_FLOAT;
    const char *why = py_float_of(&p->source, node->at, node->end, &out->u.f);
    return !why || script_fail(p, node->at, "%s", why);
}

static bool append_text(script_parser *p, const py_node *node, hone_str *out) {
    const char *why = "formatted strings are not part of TVMScript";
    char *piece = node->kind == PY_TEXT ? py_text_of(&p->source, node, p->scratch, &why) : NULL;
    if (!piece) return why ? script_fail(p, node->at, "%s", why) : script_no_memory(p);
    hone_str_append(out, piece);
    return true;
}

/* "a" "b" is one string. */
static bool eval_text(script_parser *p, const py_node *node, script_value *out) {
    hone_str all = {0};
    bool is_joined = node->kind == PY_JOINED, ok = true;
    for (uint32_t i = 0; ok && i < (is_joined ? node->count : 1); i++)
        ok = append_text(p, is_joined ? node->items[i] : node, &all);
    out->kind = SCRIPT_STRING;
    out->u.s = ok && !all.failed ? hone_arena_strdup(p->scratch, hone_str_text(&all)) : NULL;
    hone_str_deinit(&all);
    return ok && (out->u.s || script_no_memory(p));
}

/* ---- several in brackets ---- */

typedef struct list {
    script_value *items;
    uint32_t count, capacity;
} list;

static bool push(script_parser *p, list *l, const script_value *item) {
    if (l->count == 2 * UINT16_MAX) return script_fail(p, item->at, "too many items");
    if (!script_grow(p, p->scratch, (void **)&l->items, &l->capacity, l->count, sizeof *l->items)) {
        return false;
    }
    l->items[l->count++] = *item;
    return true;
}

static bool eval_slice(script_parser *p, const py_node *node, script_value *out);

/* One item, or all that a "*x" has. */
static bool push_node(script_parser *p, const py_node *node, list *l) {
    bool is_all = node->kind == PY_STAR, ok = true;
    script_value v;
    const script_value *items = &v;
    uint32_t count = 1;
    if (node->kind == PY_SLICE) {
        ok = eval_slice(p, node, &v);
    } else {
        ok = script_eval(p, is_all ? node->base : node, &v);
    }
    if (ok && is_all) script_items(&v, &items, &count);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = push(p, l, &items[i]);
    return ok && (l->count <= UINT16_MAX || script_fail(p, node->at, "too many items"));
}

bool script_eval_items(script_parser *p, const py_node *node, const script_value **out_items,
                       uint32_t *out_count) {
    list l = {0};
    for (uint32_t i = 0; i < node->count; i++) {
        if (!push_node(p, node->items[i], &l)) return false;
    }
    *out_items = l.items;
    *out_count = l.count;
    return true;
}

static bool eval_dict(script_parser *p, const py_node *node, script_value *out) {
    list l = {0};
    for (uint32_t i = 0; i < node->count; i++) {
        script_value v;
        if (!node->items[i]) {
            return script_fail(p, node->items[i + 1]->at, "'**' is not part of TVMScript here");
        }
        if (!script_eval(p, node->items[i], &v) || !push(p, &l, &v)) return false;
    }
    out->kind = SCRIPT_DICT;
    out->count = l.count / 2;
    out->u.items = l.items;
    return true;
}

/* ---- what stands behind a value ---- */

static const char *name_of_callee(const script_value *callee) {
    switch (callee->kind) {
    case SCRIPT_PATH:
    case SCRIPT_GLOBAL:
        return callee->u.s;
    case SCRIPT_METHOD:
        return callee->u.method.name;
    case SCRIPT_MACRO:
        return callee->u.macro->def->name;
    case SCRIPT_LOCAL:
        return callee->u.local->name;
    case SCRIPT_GARG:
        return "this function";
    default:
        return NULL;
    }
}

static bool call_value(script_parser *p, const script_value *callee, const script_call *call,
                       script_value *out) {
    switch (callee->kind) {
    case SCRIPT_METHOD:
        return script_call_method(p, callee, call, out);
    case SCRIPT_MACRO:
        return script_call_macro(p, callee->u.macro, call, out);
    case SCRIPT_LOCAL:
        return script_call_local(p, callee->u.local, call, out);
    case SCRIPT_GARG:
        return script_call_extern(p, callee, call, out);
    case SCRIPT_GLOBAL:
        return p->func ? script_call_function(p, callee->u.s, call, out)
                       : script_call_global(p, callee->u.s, call, out);
    default:
        return script_call_path(p, call, out);
    }
}

/* Sizes in quotes are names for what stands behind them in the same T.Buffer. */
static bool is_description(const script_value *v) {
    return v->kind == SCRIPT_PATH && strcmp(v->u.s, "T.Buffer") == 0;
}

static bool eval_call(script_parser *p, const py_node *node, script_value *out) {
    script_value callee;
    script_call call;
    if (!script_eval(p, node->base, &callee)) return false;
    const char *name = name_of_callee(&callee);
    if (!name) {
        const char *hint = callee.kind == SCRIPT_BUFFER ? "; an element of it is A[i]" : "";
        return script_fail(p, callee.at, "%s cannot be called%s", script_kind_name(&callee), hint);
    }
    const py_node *description = p->description;
    if (is_description(&callee)) p->description = node;
    bool ok = script_eval_arguments(p, name, node, &call);
    p->description = description;
    p->at = node->at;
    return ok && call_value(p, &callee, &call, out);
}

static bool eval_attribute(script_parser *p, const py_node *node, script_value *out) {
    script_value base;
    return script_eval(p, node->base, &base) &&
           script_attribute(p, &base, node->name, node->mark, out);
}

static bool eval_slice(script_parser *p, const py_node *node, script_value *out) {
    script_value *parts = script_alloc(p, p->scratch, 3, sizeof *parts);
    if (!parts) return false;
    for (uint32_t i = 0; i < 3; i++) {
        if (node->items[i] && !script_eval(p, node->items[i], &parts[i])) return false;
    }
    *out = (script_value){.kind = SCRIPT_SLICE, .at = node->at, .u.items = parts};
    return true;
}

static bool eval_subscript(script_parser *p, const py_node *node, script_value *out) {
    const py_node *description = p->description;
    script_value base;
    if (!script_eval(p, node->base, &base)) return false;
    if (is_description(&base)) p->description = node;
    bool ok = script_subscript(p, &base, node, out);
    p->description = description;
    return ok;
}

/* ---- operators ---- */

/* -2^63, whose digits alone do not fit 64 bits. */
static bool is_least_int(const script_parser *p, const py_node *node) {
    int64_t bits;
    bool is_huge = false;
    return node->op == PY_NEG && node->base->kind == PY_INT &&
           !py_int_of(&p->source, node->base->at, node->base->end, &bits, &is_huge) && is_huge &&
           bits == INT64_MIN;
}

static bool eval_unary(script_parser *p, const py_node *node, script_value *out) {
    script_value operand;
    if (is_least_int(p, node)) {
        *out = SCRIPT_VALUE_INT(INT64_MIN);
        return true;
    }
    return script_eval(p, node->base, &operand) &&
           script_unary_value(p, node->at, node->op, &operand, out);
}

static bool eval_binary(script_parser *p, const py_node *node, script_value *out) {
    if (!script_eval(p, node->items[0], out)) return false;
    for (uint32_t i = 1; i < node->count; i += 2) {
        script_value left = *out, right;
        if (!script_eval(p, node->items[i + 1], &right) ||
            !script_binary_value(p, node->items[i]->at, node->items[i]->op, &left, &right, out)) {
            return false;
        }
    }
    return true;
}

static bool compare(script_parser *p, const py_node *operator, const script_value * left,
                    const script_value *right, script_value *out) {
    py_op op = operator->op;
    bool asks_is = op == PY_IS || op == PY_IS_NOT;
    if (asks_is && right->kind != SCRIPT_NONE) {
        return script_fail(p, operator->at, "'is' asks for None here; '==' compares values");
    }
    op = op == PY_IS ? PY_EQ : op == PY_IS_NOT ? PY_NE : op;
    return script_binary_value(p, operator->at, op, left, right, out);
}

/* a < b < c means a < b and b < c. */
static bool eval_compare(script_parser *p, const py_node *node, script_value *out) {
    script_value left, right, one;
    if (!script_eval(p, node->items[0], &left)) return false;
    for (uint32_t i = 1; i < node->count; i += 2) {
        const py_node *operator= node->items[i];
        if (!script_eval(p, node->items[i + 1], &right)) return false;
        if (!compare(p, operator, & left, &right, &one)) return false;
        const script_value before = *out;
        if (i == 1) {
            *out = one;
        } else if (!script_binary_value(p, operator->at, PY_AND, &before, &one, out)) {
            return false;
        }
        left = right;
    }
    return true;
}

static bool eval_logic(script_parser *p, const py_node *node, script_value *out) {
    if (!script_eval(p, node->items[0], out)) return false;
    for (uint32_t i = 1; i < node->count; i++) {
        script_value left = *out, right;
        if (!script_eval(p, node->items[i], &right) ||
            !script_binary_value(p, node->items[i]->at, node->op, &left, &right, out)) {
            return false;
        }
    }
    return true;
}

/* A condition that is known chooses here; another one is asked when the program runs. */
static bool eval_choice(script_parser *p, const py_node *node, script_value *out) {
    script_value cond, yes, no;
    const hone_expr *args[3];
    if (!script_eval(p, node->base, &cond)) return false;
    if (cond.kind == SCRIPT_BOOL || cond.kind == SCRIPT_INT) {
        return script_eval(p, node->items[cond.u.i ? 0 : 1], out);
    }
    if (!script_eval(p, node->items[0], &yes) || !script_eval(p, node->items[1], &no) ||
        !script_to_expr(p, &cond, &args[0]) || !script_to_expr(p, &yes, &args[1]) ||
        !script_to_expr(p, &no, &args[2])) {
        return false;
    }
    script_unify(&p->ir, &args[1], &args[2]);
    *out = SCRIPT_VALUE_EXPR(
        hone_expr_call(&p->ir, args[1]->dtype, HONE_INTRIN_IF_THEN_ELSE, 3, args));
    return script_check_ir(p, node->base->at);
}

/* ---- all of them ---- */

static bool eval_constant(const py_node *node, script_value *out) {
    out->kind = node->kind == PY_NONE       ? SCRIPT_NONE
                : node->kind == PY_ELLIPSIS ? SCRIPT_ELLIPSIS
                                            : SCRIPT_BOOL;
    out->u.i = node->kind == PY_TRUE;
    return true;
}

static bool refuse(script_parser *p, const py_node *node) {
    switch (node->kind) {
    case PY_COMPREHENSION:
        return script_fail(p, node->items[0]->at, "comprehensions are not part of TVMScript");
    case PY_FOREIGN:
        return script_fail(p, node->at, "'%s' is not part of TVMScript", node->name);
    case PY_SET:
        return script_fail(p, node->at, "sets are not part of TVMScript");
    default:
        return script_expected(p, node->at, "an expression");
    }
}

static bool eval(script_parser *p, const py_node *node, script_value *out) {
    switch (node->kind) {
    case PY_NAME:
        return script_eval_name(p, node, out);
    case PY_NONE:
    case PY_TRUE:
    case PY_FALSE:
    case PY_ELLIPSIS:
        return eval_constant(node, out);
    case PY_INT:
        return eval_int(p, node, out);
    case PY_FLOAT:
        return eval_float(p, node, out);
    case PY_TEXT:
    case PY_FORMAT:
    case PY_JOINED:
        return eval_text(p, node, out);
    case PY_TUPLE:
    case PY_LIST:
        out->kind = node->kind == PY_TUPLE ? SCRIPT_TUPLE : SCRIPT_LIST;
        return script_eval_items(p, node, &out->u.items, &out->count);
    case PY_DICT:
        return eval_dict(p, node, out);
    case PY_LAMBDA:
        *out = (script_value){.kind = SCRIPT_LAMBDA, .u.node = node};
        return true;
    case PY_CALL:
        return eval_call(p, node, out);
    case PY_ATTRIBUTE:
        return eval_attribute(p, node, out);
    case PY_SUBSCRIPT:
        return eval_subscript(p, node, out);
    case PY_UNARY:
        return eval_unary(p, node, out);
    case PY_BINARY:
        return eval_binary(p, node, out);
    case PY_COMPARE:
        return eval_compare(p, node, out);
    case PY_LOGIC:
        return eval_logic(p, node, out);
    case PY_CHOICE:
        return eval_choice(p, node, out);
    default:
        return refuse(p, node);
    }
}

bool script_eval(script_parser *p, const py_node *node, script_value *out) {
    *out = (script_value){.kind = SCRIPT_NONE};
    if (!script_enter(p, node->at)) return false;
    p->at = node->at;
    if (!eval(p, node, out)) return false;
    out->at = node->at;
    p->depth--;
    return true;
}
