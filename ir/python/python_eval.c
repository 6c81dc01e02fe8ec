/* ir/python/python_eval.c - expressions: what they are worth. What Python would not compute (the
 * other half of an `or`, say) is not looked at. */
#include <math.h>
#include <string.h>

#include "ir/python/python_run.h"

/* ---- literals ---- */

/* 1.5f of other languages */
static bool has_suffix(const py_run *p, const py_node *node) {
    double ignored;
    return strchr("fFlLhH", p->source->text[node->end - 1]) &&
           !py_float_of(p->source, node->at, node->end - 1, &ignored);
}

static hone_status fail_suffix(py_run *p, const py_node *node) {
    const char *text = p->source->text + node->at, *type = p->host->float_type;
    int length = (int)(node->end - node->at) - 1;
    const char *what =
        type ? hone_arena_printf(p->arena,
                                 "Python's numbers have no suffix '%c'; %s(%.*s) says the type",
                                 text[length], type, length, text)
             : hone_arena_printf(p->arena, "Python's numbers have no suffix '%c'", text[length]);
    return what ? py_fail_at(p, node->at, what) : py_no_memory();
}

static hone_status eval_number(py_run *p, const py_node *node, py_value *out) {
    const char *why;
    bool is_huge = false, takes_any = p->host->takes_any_literal;
    if (node->kind == PY_INT) {
        *out = PYV_OF_INT(0);
        why = py_int_of(p->source, node->at, node->end, &out->u.i, &is_huge);
        if (!why && is_huge && !takes_any) why = py_number_too_large;
        if (is_huge) out->kind = PYV_HUGE;
    } else {
        if (has_suffix(p, node)) return fail_suffix(p, node);
        *out = PYV_OF_FLOAT(0);
        why = py_float_of(p->source, node->at, node->end, &out->u.f);
        if (!why && !isfinite(out->u.f) && !takes_any) why = "this number is too large";
    }
    return why ? py_fail_at(p, node->at, why) : HONE_OK;
}

static hone_status eval_slice(py_run *p, const py_node *node, py_value *out) {
    py_value parts[3] = {PYV_OF_NONE, PYV_OF_NONE, PYV_OF_NONE};
    for (uint32_t i = 0; i < 3; i++) {
        if (node->items[i]) HONE_TRY(py_eval(p, node->items[i], &parts[i]));
    }
    HONE_TRY(py_new_tuple(p, parts, 3, out));
    out->kind = PYV_SLICE;
    out->at = node->at;
    return HONE_OK;
}

static hone_status push_item(py_run *p, const py_node *node, py_value *list) {
    py_value item;
    bool is_all = node->kind == PY_STAR;
    HONE_TRY(node->kind == PY_SLICE ? eval_slice(p, node, &item)
                                    : py_eval(p, is_all ? node->base : node, &item));
    return is_all ? py_extend(p, node->base->at, list, &item) : py_append(p, node->at, list, &item);
}

static hone_status eval_list(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(py_new_list(p, PYV_LIST, out));
    for (uint32_t i = 0; i < node->count; i++)
        HONE_TRY(push_item(p, node->items[i], out));
    return HONE_OK;
}

hone_status py_eval_items(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(eval_list(p, node, out));
    *out = py_tuple_of(out);
    return HONE_OK;
}

static hone_status put_all(py_run *p, const py_node *node, py_value *dict) {
    py_value from;
    HONE_TRY(py_eval(p, node, &from));
    if (from.kind != PYV_DICT) return py_fail_at(p, node->at, "expected a dictionary");
    for (uint32_t i = 0; i < from.u.list->count; i++)
        HONE_TRY(py_put(p, node->at, dict, &from.u.list->keys[i], &from.u.list->items[i]));
    return HONE_OK;
}

static hone_status put_pair(py_run *p, const py_node *key, const py_node *item, py_value *dict) {
    py_value k, v;
    if (!key) return put_all(p, item, dict);
    HONE_TRY(py_eval(p, key, &k));
    HONE_TRY(py_eval(p, item, &v));
    return py_put(p, key->at, dict, &k, &v);
}

static hone_status eval_dict(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(py_new_list(p, PYV_DICT, out));
    for (uint32_t i = 0; i < node->count; i += 2)
        HONE_TRY(put_pair(p, node->items[i], node->items[i + 1], out));
    return HONE_OK;
}

/* ---- comprehensions ---- */

static hone_status run_clauses(py_run *p, const py_node *node, uint32_t i, py_value *out);

static hone_status run_each(py_run *p, const py_node *node, uint32_t i, py_value *out) {
    const py_node *clause = node->items[i];
    const py_value *items;
    py_value list;
    uint32_t count;
    HONE_TRY(py_eval(p, clause->base, &list));
    HONE_TRY(py_iterate(p, clause->base->at, &list, &items, &count));
    for (uint32_t k = 0; k < count; k++) {
        HONE_TRY(py_count_turn(p, clause->at));
        HONE_TRY(py_assign(p, clause->items[0], clause->base->at, &items[k]));
        HONE_TRY(run_clauses(p, node, i + 1, out));
    }
    return HONE_OK;
}

static hone_status run_clause(py_run *p, const py_node *node, uint32_t i, py_value *out) {
    const py_node *clause = node->items[i];
    if (clause->kind == PY_EACH) return run_each(p, node, i, out);
    if (clause->kind == PY_WHERE) {
        bool holds;
        py_value condition;
        HONE_TRY(py_eval(p, clause->base, &condition));
        HONE_TRY(py_truth(p, clause->base->at, &condition, &holds));
        return holds ? run_clauses(p, node, i + 1, out) : HONE_OK;
    }
    if (node->op == PY_KEYED) return put_pair(p, clause, node->items[i + 1], out);
    return push_item(p, clause, out);
}

static hone_status run_clauses(py_run *p, const py_node *node, uint32_t i, py_value *out) {
    HONE_TRY(py_descend(p, node->at));
    hone_status st = run_clause(p, node, i, out);
    p->depth--;
    return st;
}

/* With names of its own. */
static hone_status eval_comprehension(py_run *p, const py_node *node, py_value *out) {
    py_scope *outer = p->scope;
    HONE_TRY(py_new_list(p, node->op == PY_KEYED ? PYV_DICT : PYV_LIST, out));
    p->scope = py_new_scope(p, outer);
    hone_status st = p->scope ? run_clauses(p, node, 0, out) : py_no_memory();
    p->scope = outer;
    return st;
}

/* ---- indices and slices ---- */

static hone_status eval_index(py_run *p, const py_node *node, const py_value *v, int64_t *out) {
    if (v->kind >= PYV_HOST && p->host->index) return p->host->index(p, v, out);
    if (!py_is_int(v)) return py_fail_at(p, node->at, "the index is no number");
    *out = v->u.i;
    return HONE_OK;
}

static hone_status eval_bound(py_run *p, const py_node *node, bool *out_has, int64_t *io) {
    py_value v;
    *out_has = false;
    if (!node) return HONE_OK;
    HONE_TRY(py_eval(p, node, &v));
    if (v.kind == PYV_NONE) return HONE_OK;
    *out_has = true;
    return eval_index(p, node, &v, io);
}

/* Where in a list of count items; behind its ends it is the end. */
static int64_t clamp_place(bool has, int64_t n, bool is_from, bool is_back, int64_t count) {
    if (!has) return is_from == is_back ? count - is_back : is_back ? -1 : 0;
    if (n < 0) n += count;
    int64_t lowest = is_back ? -1 : 0, highest = is_back ? count - 1 : count;
    return n < lowest ? lowest : n > highest ? highest : n;
}

static hone_status take_slice(py_run *p, const py_node *node, const py_value *items, uint32_t count,
                              py_value *out) {
    bool has[3];
    int64_t n[3] = {0, 0, 1};
    for (uint32_t i = 0; i < 3; i++)
        HONE_TRY(eval_bound(p, node->items[i], &has[i], &n[i]));
    int64_t step = n[2];
    if (!step || step > INT32_MAX || step < -INT32_MAX) {
        return py_fail_at(p, node->at, "the step of the slice is out of range");
    }
    int64_t from = clamp_place(has[0], n[0], true, step < 0, count);
    int64_t to = clamp_place(has[1], n[1], false, step < 0, count);
    HONE_TRY(py_new_list(p, PYV_LIST, out));
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step)
        HONE_TRY(py_append(p, node->at, out, &items[i]));
    return HONE_OK;
}

static hone_status join_letters(py_run *p, uint32_t at, py_value *io) {
    const py_list *l = io->u.list;
    char *text = hone_arena_zalloc(p->arena, (size_t)l->count + 1);
    if (!text) return py_no_memory();
    for (uint32_t i = 0; i < l->count; i++) {
        text[i] = *l->items[i].u.s;
        if (text[i] & 0x80) return py_fail_at(p, at, "a part of a letter");
    }
    *io = PYV_OF_STRING(text);
    return HONE_OK;
}

static hone_status index_items(py_run *p, const py_node *node, const py_value *items,
                               uint32_t count, py_value *io) {
    const py_node *index = node->items[0];
    py_value v;
    int64_t from;
    HONE_TRY(py_eval(p, index, &v));
    HONE_TRY(eval_index(p, index, &v, &from));
    int64_t n = from < 0 ? from + count : from;
    if (n < 0 || n >= count) {
        const char *text = hone_arena_printf(p->arena, "index %lld of %u item%s", (long long)from,
                                             count, count == 1 ? "" : "s");
        return text ? py_fail_at(p, node->mark, text) : py_no_memory();
    }
    *io = items[n];
    return HONE_OK;
}

static hone_status index_dict(py_run *p, const py_node *node, py_value *io) {
    py_value key;
    HONE_TRY(py_eval(p, node->items[0], &key));
    const py_value *item = py_get(io, &key);
    if (!item) return py_fail_at(p, node->mark, "the dictionary has no such key");
    *io = *item;
    return HONE_OK;
}

static hone_status fail_kind(py_run *p, const py_node *node, const py_value *v, const char *what) {
    const char *text = hone_arena_printf(p->arena, "%s%s", py_kind_name(v), what);
    return text ? py_fail_at(p, node->mark, text) : py_no_memory();
}

static hone_status eval_subscript(py_run *p, const py_node *node, py_value *out) {
    const py_value *items;
    uint32_t count;
    HONE_TRY(py_eval(p, node->base, out));
    if (out->kind == PYV_UNKNOWN) return HONE_OK;
    if (out->kind >= PYV_HOST && p->host->subscript) return p->host->subscript(p, node, out);
    if (out->kind == PYV_DICT) return index_dict(p, node, out);
    bool has_items = out->kind == PYV_STRING || py_items(out, &items, &count);
    if (!has_items) return fail_kind(p, node, out, " takes no subscript");
    HONE_TRY(py_iterate(p, node->mark, out, &items, &count));
    if (node->items[0]->kind != PY_SLICE) return index_items(p, node, items, count, out);
    pyv_kind kind = out->kind;
    HONE_TRY(take_slice(p, node->items[0], items, count, out));
    if (kind == PYV_TUPLE) *out = py_tuple_of(out);
    return kind == PYV_STRING ? join_letters(p, node->mark, out) : HONE_OK;
}

/* ---- attributes and calls ---- */

static hone_status read_record(py_run *p, const py_node *node, py_value *io) {
    const py_value *item = py_get(io, &PYV_OF_STRING(node->name));
    if (item) {
        *io = *item;
        return HONE_OK;
    }
    hone_status st = py_fail_about(p, node->mark, "", node->name, " is not known of this");
    for (uint32_t i = 0; i < io->u.list->count; i++)
        st = hone_status_annotate(st, "%s", io->u.list->keys[i].u.s);
    return st;
}

static hone_status read_attribute(py_run *p, const py_node *node, py_value *io) {
    if (io->kind == PYV_RECORD) return read_record(p, node, io);
    if (py_is_number(io) && strcmp(node->name, "value") == 0) return HONE_OK; /* of an IntImm */
    if (io->kind >= PYV_UNKNOWN) return p->host->attribute(p, node, io);
    const char *what =
        hone_arena_printf(p->arena, "%s has no attribute '%s'", py_kind_name(io), node->name);
    return what ? py_fail_at(p, node->mark, what) : py_no_memory();
}

static hone_status eval_attribute(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(py_eval(p, node->base, out));
    return read_attribute(p, node, out);
}

static hone_status call_value(py_run *p, const py_node *node, py_value *io) {
    if (io->kind == PYV_FUNC) return py_call_func(p, io->u.func, node, io);
    if (io->kind >= PYV_UNKNOWN) return p->host->call(p, node, io);
    return fail_kind(p, node, io, " cannot be called");
}

static hone_status call_member(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(py_eval(p, node->base->base, out));
    if (out->kind >= PYV_HOST) return p->host->method(p, node, out);
    if (out->kind != PYV_RECORD && out->kind != PYV_UNKNOWN) return py_call_method(p, node, out);
    HONE_TRY(read_attribute(p, node->base, out));
    return call_value(p, node, out);
}

/* A function of Python by this name is not meant. */
static bool is_hidden(const py_run *p, const char *name) {
    return (p->host->hides && p->host->hides(p, name)) || py_find(p, name);
}

static hone_status eval_call(py_run *p, const py_node *node, py_value *out) {
    bool is_builtin = false;
    if (node->base->kind == PY_ATTRIBUTE) return call_member(p, node, out);
    if (node->base->kind == PY_NAME && !is_hidden(p, node->base->name)) {
        HONE_TRY(py_call_builtin(p, node, out, &is_builtin));
    }
    if (is_builtin) return HONE_OK;
    HONE_TRY(py_eval(p, node->base, out));
    return call_value(p, node, out);
}

/* **words: a dictionary of arguments by name. */
static hone_status eval_words(py_run *p, const py_node *node, py_value *dict) {
    HONE_TRY(put_all(p, node->base, dict));
    for (uint32_t i = 0; i < dict->u.list->count; i++) {
        if (dict->u.list->keys[i].kind == PYV_STRING) continue;
        return py_fail_at(p, node->at, py_word_is_no_string);
    }
    return HONE_OK;
}

static hone_status eval_arg(py_run *p, const py_node *node, py_value *list, py_value *dict) {
    py_value value;
    if (node->kind == PY_STARSTAR) return eval_words(p, node, dict);
    if (node->kind != PY_KEYWORD) return push_item(p, node, list);
    HONE_TRY(py_eval(p, node->base, &value));
    return py_put(p, node->at, dict, &PYV_OF_STRING(node->name), &value);
}

hone_status py_eval_args(py_run *p, const py_node *call, py_args *out) {
    py_value list, dict;
    HONE_TRY(py_new_list(p, PYV_LIST, &list));
    HONE_TRY(py_new_list(p, PYV_DICT, &dict));
    for (uint32_t i = 0; i < call->count; i++)
        HONE_TRY(eval_arg(p, call->items[i], &list, &dict));
    const py_list *words = dict.u.list;
    py_word *keywords = hone_arena_alloc(p->arena, (words->count + 1) * sizeof *keywords);
    if (!keywords) return py_no_memory();
    for (uint32_t i = 0; i < words->count; i++)
        keywords[i] = (py_word){words->keys[i].u.s, words->items[i]};
    *out = (py_args){.count = list.u.list->count,
                     .items = list.u.list->items,
                     .keyword_count = words->count,
                     .keywords = keywords};
    return HONE_OK;
}

const py_value *py_keyword(const py_args *args, const char *name) {
    for (uint32_t i = 0; i < args->keyword_count; i++) {
        if (strcmp(args->keywords[i].name, name) == 0) return &args->keywords[i].value;
    }
    return NULL;
}

/* ---- operators ---- */

/* 2^63 is a number of 64 bits with a minus before it alone. */
static bool is_least_int(const py_run *p, const py_node *node) {
    int64_t bits;
    bool is_huge;
    return node->kind == PY_INT && !py_int_of(p->source, node->at, node->end, &bits, &is_huge) &&
           is_huge && bits == INT64_MIN;
}

static hone_status eval_unary(py_run *p, const py_node *node, py_value *out) {
    py_value zero = PYV_OF_INT(0), operand;
    bool is_true;
    if (node->op == PY_NEG && is_least_int(p, node->base)) {
        *out = PYV_OF_INT(INT64_MIN);
        return HONE_OK;
    }
    HONE_TRY(py_eval(p, node->base, &operand));
    if (operand.kind >= PYV_HOST && p->host->unary) {
        *out = operand;
        return p->host->unary(p, node, out);
    }
    if (node->op == PY_NOT) {
        HONE_TRY(py_truth(p, node->at, &operand, &is_true));
        *out = PYV_OF_BOOL(!is_true);
        return HONE_OK;
    }
    if (operand.kind == PYV_FLOAT && node->op == PY_NEG) {
        *out = PYV_OF_FLOAT(-operand.u.f);
        return HONE_OK;
    }
    bool inverts = node->op == PY_INVERT;
    if (inverts && operand.kind == PYV_FLOAT) return py_fail_at(p, node->at, py_no_operator);
    *out = inverts ? PYV_OF_INT(-1) : zero;
    return py_compute(p, node->at, node->op == PY_POS ? PY_ADD : PY_SUB, &operand, out);
}

static hone_status eval_binary(py_run *p, const py_node *node, py_value *out) {
    bool took = false;
    HONE_TRY(py_eval(p, node->items[0], out));
    if (out->kind >= PYV_HOST && p->host->binary) HONE_TRY(p->host->binary(p, node, out, &took));
    if (took) return HONE_OK;
    for (uint32_t i = 1; i < node->count; i += 2) {
        py_value right;
        HONE_TRY(py_eval(p, node->items[i + 1], &right));
        HONE_TRY(py_compute(p, node->items[i]->at, node->items[i]->op, &right, out));
    }
    return HONE_OK;
}

static bool is_hosts(const py_run *p, const py_value *a, const py_value *b) {
    return p->host->compute && (a->kind >= PYV_HOST || b->kind >= PYV_HOST);
}

/* a < b: True, False, what the host makes of it, or what is not known. */
static hone_status compare(py_run *p, uint32_t at, const py_node *operator, const py_value * a,
                           const py_value *b, py_value *out) {
    bool holds, is_known;
    *out = *a;
    if (is_hosts(p, a, b)) return p->host->compute(p, operator->at, operator->op, b, out);
    HONE_TRY(py_relate(p, at, operator->op, a, b, &holds, &is_known));
    *out = is_known ? PYV_OF_BOOL(holds) : a->kind == PYV_UNKNOWN ? *a : *b;
    return HONE_OK;
}

/* a < b < c means a < b and b < c: False when one of them is. */
static hone_status join_both(py_run *p, uint32_t at, const py_value *one, py_value *io) {
    if (is_hosts(p, one, io)) return p->host->compute(p, at, PY_AND, one, io);
    bool is_false = io->kind == PYV_BOOL && !io->u.i;
    if (!is_false && (one->kind == PYV_UNKNOWN || !one->u.i)) *io = *one;
    return HONE_OK;
}

static hone_status eval_compare(py_run *p, const py_node *node, py_value *out) {
    py_value left, right, one;
    HONE_TRY(py_eval(p, node->items[0], &left));
    for (uint32_t i = 1; i < node->count; i += 2) {
        const py_node *operator= node->items[i];
        HONE_TRY(py_eval(p, node->items[i + 1], &right));
        HONE_TRY(compare(p, node->at, operator, & left, &right, &one));
        if (i == 1) {
            *out = one;
        } else {
            HONE_TRY(join_both(p, operator->at, &one, out));
        }
        left = right;
    }
    return HONE_OK;
}

static hone_status eval_logic(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(py_eval(p, node->items[0], out));
    for (uint32_t i = 1; i < node->count; i++) {
        py_value next;
        bool is_true, is_hosts_own = out->kind >= PYV_HOST && p->host->compute;
        if (!is_hosts_own) {
            HONE_TRY(py_truth(p, node->items[i - 1]->at, out, &is_true));
            if (is_true == (node->op == PY_OR)) break;
        }
        HONE_TRY(py_eval(p, node->items[i], &next));
        if (is_hosts(p, out, &next)) {
            HONE_TRY(p->host->compute(p, node->items[i]->at, node->op, &next, out));
        } else {
            *out = next;
        }
    }
    return HONE_OK;
}

static hone_status eval_choice(py_run *p, const py_node *node, py_value *out) {
    bool holds;
    HONE_TRY(py_eval(p, node->base, out));
    if (out->kind >= PYV_HOST && p->host->choice) return p->host->choice(p, node, out);
    HONE_TRY(py_truth(p, node->base->at, out, &holds));
    return py_eval(p, node->items[holds ? 0 : 1], out);
}

/* ---- all of them ---- */

static hone_status eval_name(py_run *p, const py_node *node, py_value *out) {
    const py_value *known = py_find(p, node->name);
    if (!known || p->host->names_all) return p->host->name(p, node, out);
    *out = *known;
    out->is_fresh = false;
    return HONE_OK;
}

static hone_status eval(py_run *p, const py_node *node, py_value *out) {
    switch (node->kind) {
    case PY_NAME:
        return eval_name(p, node, out);
    case PY_NONE:
        *out = PYV_OF_NONE;
        return HONE_OK;
    case PY_ELLIPSIS:
        *out = (py_value){.kind = PYV_ELLIPSIS};
        return HONE_OK;
    case PY_TRUE:
    case PY_FALSE:
        *out = PYV_OF_BOOL(node->kind == PY_TRUE);
        return HONE_OK;
    case PY_INT:
    case PY_FLOAT:
        return eval_number(p, node, out);
    case PY_TEXT:
    case PY_RAW_PIECE:
    case PY_FORMAT:
    case PY_JOINED:
        return py_eval_text(p, node, out);
    case PY_TUPLE:
        return py_eval_items(p, node, out);
    case PY_LIST:
    case PY_SET:
        return eval_list(p, node, out);
    case PY_DICT:
        return eval_dict(p, node, out);
    case PY_COMPREHENSION:
        return eval_comprehension(p, node, out);
    case PY_ATTRIBUTE:
        return eval_attribute(p, node, out);
    case PY_CALL:
        return eval_call(p, node, out);
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
    case PY_LAMBDA:
        return p->host->lambda(p, node, out);
    case PY_FOREIGN:
        return py_fail_about(p, node->at, "", node->name, " is not known here");
    default:
        return py_fail_at(p, node->at, "expected a value");
    }
}

hone_status py_eval(py_run *p, const py_node *node, py_value *out) {
    HONE_TRY(py_descend(p, node->at));
    *out = PYV_OF_NONE;
    p->at = node->at;
    hone_status st = eval(p, node, out);
    out->at = node->at;
    p->depth--;
    return st;
}
