/* ir/python/python_run.c - statements: assignments, loops, conditions. What they depend on must be
 * known before anything runs. */
#include "ir/python/python_run.h"

#include <string.h>

enum { MAX_TURNS = 10000, MAX_SUITES = 40 };

hone_status py_count_turn(py_run *p, uint32_t at) {
    if (++p->turn_count > MAX_TURNS) return py_fail_at(p, at, "this runs for too long");
    return HONE_OK;
}

/* ---- targets ---- */

static hone_status set_item(py_run *p, const py_node *target, const py_value *value) {
    py_value list, index;
    HONE_TRY(py_eval(p, target->base, &list));
    HONE_TRY(py_eval(p, target->items[0], &index));
    if (list.kind == PYV_DICT) return py_put(p, target->mark, &list, &index, value);
    if (list.kind != PYV_LIST || !py_is_int(&index)) {
        return py_fail_at(p, target->mark, "no item of this can be set");
    }
    int64_t n = index.u.i < 0 ? index.u.i + list.u.list->count : index.u.i;
    if (n < 0 || n >= list.u.list->count) {
        return py_fail_at(p, target->mark, "the index is out of range");
    }
    list.u.list->items[n] = *value;
    return HONE_OK;
}

static hone_status set_attribute(py_run *p, const py_node *target) {
    py_value object;
    HONE_TRY(py_eval(p, target->base, &object));
    if (object.kind == PYV_UNKNOWN) return HONE_OK;
    return py_fail_at(p, target->at, "attributes cannot be set");
}

static hone_status set_name(py_run *p, const py_node *target, const py_value *value) {
    const py_value *known = py_find(p, target->name);
    bool is_in_place = value->kind == PYV_NONE && known && known->kind == PYV_HOST;
    return is_in_place ? HONE_OK : py_bind(p, target->name, value); /* sch = f(sch) */
}

static hone_status count_mismatch(py_run *p, uint32_t at, uint32_t names, uint32_t values) {
    const char *text = hone_arena_printf(p->arena, "%u names for %u values", names, values);
    return text ? py_fail_at(p, at, text) : py_no_memory();
}

static uint32_t find_star(const py_node *target) {
    uint32_t i = 0;
    while (i < target->count && target->items[i]->kind != PY_STAR)
        i++;
    return i;
}

static hone_status take_rest(py_run *p, const py_node *target, uint32_t at, const py_value *items,
                             uint32_t count) {
    py_value list;
    HONE_TRY(py_new_list(p, PYV_LIST, &list));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(py_append(p, at, &list, &items[i]));
    return py_assign(p, target->base, at, &list);
}

static hone_status spread(py_run *p, const py_node *target, uint32_t at, const py_value *value) {
    const py_value *items;
    uint32_t count, star = find_star(target), taken = 0;
    if (!py_items(value, &items, &count)) {
        return py_fail_at(p, at, "expected a list, one value for each name");
    }
    bool has_star = star < target->count;
    if (has_star ? count + 1 < target->count : count != target->count) {
        return count_mismatch(p, at, target->count, count);
    }
    uint32_t rest = has_star ? count + 1 - target->count : 0;
    for (uint32_t i = 0; i < target->count; i++) {
        HONE_TRY(i == star ? take_rest(p, target->items[i], at, items + taken, rest)
                           : py_assign(p, target->items[i], at, &items[taken]));
        taken += i == star ? rest : 1;
    }
    return HONE_OK;
}

hone_status py_assign(py_run *p, const py_node *target, uint32_t at, const py_value *value) {
    const py_value copy = *value; /* it may be that of a name */
    switch (target->kind) {
    case PY_NAME:
        return set_name(p, target, &copy);
    case PY_SUBSCRIPT:
        return set_item(p, target, &copy);
    case PY_ATTRIBUTE:
        return set_attribute(p, target);
    case PY_TUPLE:
    case PY_LIST:
        return spread(p, target, at, &copy);
    default:
        return py_fail_at(p, target->at, "expected a name to give the value to");
    }
}

/* ---- assignments ---- */

static hone_status run_assign(py_run *p, const py_node *node) {
    py_value value;
    HONE_TRY(py_eval(p, node->base, &value));
    for (uint32_t i = 0; i < node->count; i++)
        HONE_TRY(py_assign(p, node->items[i], node->base->at, &value));
    return HONE_OK;
}

static hone_status run_annotated(py_run *p, const py_node *node) {
    py_value value;
    if (!node->base) return HONE_OK;
    HONE_TRY(py_eval(p, node->base, &value));
    return py_assign(p, node->items[0], node->base->at, &value);
}

/* target op= value */
static hone_status run_update(py_run *p, const py_node *node) {
    const py_node *target = node->items[0];
    py_value left, value;
    HONE_TRY(py_eval(p, target, &left));
    HONE_TRY(py_eval(p, node->base, &value));
    if (node->op == PY_ADD && left.kind == PYV_LIST) { /* whoever holds the list sees it */
        return py_extend(p, node->base->at, &left, &value);
    }
    HONE_TRY(py_compute(p, target->at, node->op, &value, &left));
    return py_assign(p, target, node->base->at, &left);
}

/* ---- what holds other statements ---- */

static hone_status run_inner(py_run *p, const py_node *suite) {
    if (p->suite_depth == MAX_SUITES) return py_fail_at(p, suite->at, "nested too deeply");
    HONE_TRY(py_descend(p, suite->at));
    p->suite_depth++;
    hone_status st = py_run_suite(p, suite);
    p->suite_depth--;
    p->depth--;
    return st;
}

static hone_status run_if(py_run *p, const py_node *node) {
    for (uint32_t i = 0; i + 1 < node->count; i += 2) {
        py_value condition;
        bool holds;
        HONE_TRY(py_eval(p, node->items[i], &condition));
        HONE_TRY(py_truth(p, node->items[i]->at, &condition, &holds));
        if (holds) return run_inner(p, node->items[i + 1]);
    }
    return node->count % 2 ? run_inner(p, node->items[node->count - 1]) : HONE_OK;
}

/* "break" and "continue" end here. False: no more turns. */
static bool goes_on(py_run *p) {
    bool does = p->flow == PY_GOES_ON || p->flow == PY_CONTINUES;
    if (p->flow != PY_RETURNS) p->flow = PY_GOES_ON;
    return does;
}

/* "else:" behind a loop runs when nothing broke it. */
static hone_status end_loop(py_run *p, const py_node *otherwise, bool was_broken) {
    return otherwise && !was_broken ? run_inner(p, otherwise) : HONE_OK;
}

static hone_status run_for(py_run *p, const py_node *node) {
    const py_value *items;
    py_value list;
    uint32_t count;
    bool is_going = true;
    HONE_TRY(py_eval(p, node->base, &list));
    HONE_TRY(py_iterate(p, node->base->at, &list, &items, &count));
    for (uint32_t i = 0; i < count && is_going; i++) {
        HONE_TRY(py_count_turn(p, node->at));
        HONE_TRY(py_assign(p, node->items[0], node->base->at, &items[i]));
        HONE_TRY(run_inner(p, node->items[1]));
        is_going = goes_on(p);
        if (list.kind == PYV_LIST) {
            HONE_TRY(py_iterate(p, node->base->at, &list, &items, &count));
        }
    }
    return end_loop(p, node->items[2], !is_going);
}

static hone_status run_while(py_run *p, const py_node *node) {
    bool is_going = true;
    while (is_going) {
        py_value condition;
        bool holds;
        HONE_TRY(py_count_turn(p, node->at));
        HONE_TRY(py_eval(p, node->base, &condition));
        HONE_TRY(py_truth(p, node->base->at, &condition, &holds));
        if (!holds) break;
        HONE_TRY(run_inner(p, node->items[0]));
        is_going = goes_on(p);
    }
    return end_loop(p, node->items[1], !is_going);
}

/* "with x as y:" of things unknown (a target, a pass context): the suite runs. */
static hone_status run_with(py_run *p, const py_node *node) {
    for (uint32_t i = 0; i + 1 < node->count; i++) {
        const py_node *item = node->items[i];
        py_value value;
        HONE_TRY(py_eval(p, item->base, &value));
        if (value.kind != PYV_UNKNOWN) {
            return py_fail_at(p, item->at, "nothing is known of how to enter this");
        }
        if (item->items[0]) HONE_TRY(py_assign(p, item->items[0], item->at, &value));
    }
    return run_inner(p, node->items[node->count - 1]);
}

/* ---- simple statements ---- */

static hone_status run_assert(py_run *p, const py_node *node) {
    py_value value;
    bool holds = true;
    HONE_TRY(py_eval(p, node->base, &value));
    if (value.kind != PYV_UNKNOWN) HONE_TRY(py_truth(p, node->at, &value, &holds));
    return holds ? HONE_OK : py_fail_at(p, node->at, "this does not hold");
}

static hone_status run_jump(py_run *p, const py_node *node) {
    if (!p->suite_depth) return py_fail_at(p, node->at, "there is no loop around this");
    p->flow = node->kind == PY_BREAK ? PY_BREAKS : PY_CONTINUES;
    return HONE_OK;
}

/* Outside of functions it says nothing. */
static hone_status run_return(py_run *p, const py_node *node) {
    py_value value = PYV_OF_NONE;
    if (!p->call_depth) return HONE_OK;
    if (node->base) HONE_TRY(py_eval(p, node->base, &value)); /* may call what returns */
    p->flow = PY_RETURNS;
    p->result = value;
    return HONE_OK;
}

/* A name stays known, which nobody who deletes it asks for again. */
static hone_status run_del(const py_run *p, const py_node *node) {
    uint32_t count = node->base->kind == PY_TUPLE ? node->base->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const py_node *target = node->base->kind == PY_TUPLE ? node->base->items[i] : node->base;
        if (target->kind != PY_NAME) return py_fail_at(p, target->at, "only names can be deleted");
    }
    return HONE_OK;
}

/* What is not known: say what to do instead. */
static hone_status refuse(py_run *p, const py_node *node) {
    const char *what = "this statement is not known here: write it with if, for and functions";
    if (node->kind == PY_STATEMENT && strcmp(node->name, "raise") == 0) {
        what = "the text gives up here, by raise";
    } else if (node->kind == PY_STATEMENT && strcmp(node->name, "try") == 0) {
        what = "try is not known here: leave out the steps that are refused";
    }
    return py_fail_at(p, node->at, what);
}

static hone_status run_value(py_run *p, const py_node *node) {
    py_value ignored;
    return py_eval(p, node->base, &ignored);
}

static hone_status run_statement(py_run *p, const py_node *node) {
    switch (node->kind) {
    case PY_VALUE:
        return run_value(p, node);
    case PY_ASSIGN:
        return run_assign(p, node);
    case PY_AUGMENT:
        return run_update(p, node);
    case PY_ANNOTATE:
        return run_annotated(p, node);
    case PY_DEF:
        return py_define(p, node);
    case PY_RETURN:
        return run_return(p, node);
    case PY_IF:
        return run_if(p, node);
    case PY_FOR:
        return run_for(p, node);
    case PY_WHILE:
        return run_while(p, node);
    case PY_WITH:
        return run_with(p, node);
    case PY_BREAK:
    case PY_CONTINUE:
        return run_jump(p, node);
    case PY_ASSERT:
        return run_assert(p, node);
    case PY_PASS:
        return HONE_OK;
    case PY_DEL:
        return run_del(p, node);
    default:
        return refuse(p, node);
    }
}

bool py_is_docstring(const py_node *node) {
    return node->kind == PY_VALUE && (node->base->kind == PY_TEXT || node->base->kind == PY_JOINED);
}

hone_status py_run_suite(py_run *p, const py_node *suite) {
    for (uint32_t i = 0; i < suite->count && p->flow == PY_GOES_ON; i++) {
        bool took = false;
        if (py_is_docstring(suite->items[i])) continue;
        if (p->host->statement) HONE_TRY(p->host->statement(p, suite->items[i], &took));
        if (!took) HONE_TRY(run_statement(p, suite->items[i]));
    }
    return HONE_OK;
}
