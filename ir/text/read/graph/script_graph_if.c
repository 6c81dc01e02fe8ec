/* ir/text/read/graph/script_graph_if.c - if in graph functions. Its branches become functions of
 * the module:
 *
 *   if c:                                    y = if c: cls.main_then(x) else: cls.main_else(x)
 *       y = R.add(x, x)
 *   else:                             ⇒      def main_then(x): return R.add(x, x)
 *       y = R.negative(x)                    def main_else(x): return R.negative(x)
 *
 * Both end with a value of the same name, which is what the if makes. Printed they stand inside
 * again. */
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

typedef struct branch_end {
    const char *name;
    const hone_sinfo *info;       /* as it is written, or NULL */
    const hone_graph_func *graph; /* of the branch, whose sizes that speaks of */
} branch_end;

/* What the last statement of a branch names; y = y_then is no binding but what is returned. */
static bool take_result(script_parser *p, const char *suffix, branch_end *end) {
    hone_graph_func *g = p->graph;
    const py_value *value = script_lookup(p, end->name);
    const hone_gbind *last = g->bind_count ? &g->bindings[g->bind_count - 1] : NULL;
    if (!value || !script_to_garg(p, value, false, &g->result)) return false;
    if (g->result.kind != HONE_GARG_VALUE) return true;
    hone_gvalue_info *info = &g->values[g->result.u.value];
    bool is_own = last && last->value == g->result.u.value && !last->in_dataflow;
    if (is_own && last->kind == HONE_GBIND_ARG) {
        end->info = info->sinfo;
        g->result = last->args[0];
        g->bind_count--;
    } else if (is_own) {
        info->name = hone_arena_printf(p->arena, "%s_%s", end->name, suffix);
    }
    return info->name || script_no_memory(p);
}

/* A branch: a suite, or what follows "elif": the conditions and suites from the i-th item on. */
typedef struct branch {
    const py_node *node; /* PY_SUITE, PY_IF */
    uint32_t i;
} branch;

static bool read_body(script_parser *p, script_outside *o, branch b, branch_end *end) {
    bool is_elif = b.node->kind == PY_IF;
    uint32_t at = is_elif ? b.node->items[b.i + 1]->mark : b.node->mark;
    p->graph = hone_graph_func_create(p->arena, o->in_module);
    if (!p->graph) return script_no_memory(p);
    p->graph->is_private = true;
    p->in_dataflow = p->has_return = false;
    p->dataflow_count = 0;
    if (!script_bring_sizes(p, o) || !script_bring_values(p, o)) return false;
    const py_name *last = py_newest(&p->run);
    bool ok =
        is_elif ? script_parse_if(p, b.node, b.i) : script_suite(p, b.node, script_graph_statement);
    if (!ok) return false;
    if (p->has_return) return script_fail(p, at, "return stands inside of this branch");
    if (py_newest(&p->run) == last) return script_fail(p, at, "this branch names no value");
    *end = (branch_end){.name = py_newest(&p->run)->name, .graph = p->graph};
    return take_result(p, o->name, end) &&
           script_check(p, at, hone_module_add_graph(p->module, p->graph));
}

static bool read_branch(script_parser *p, script_outside *o, branch b, branch_end *end) {
    if (!script_name_inside(p, o) || !script_enter(p, b.node->at)) return false;
    script_inside before = script_enter_inside(p);
    bool ok = read_body(p, o, b, end);
    script_leave_inside(p, &before);
    p->run.depth--;
    return ok;
}

/* The names that both use: what one takes from outside, the other is called with as well. */
static bool find_both(script_parser *p, const py_node *node, uint32_t i, script_outside *then,
                      script_outside *otherwise) {
    if (!script_infer_graph(p, p->graph)) return false;
    if (i + 2 >= node->count) {
        return script_fail(p, node->items[i + 1]->mark,
                           "an 'if' of a graph function has an 'else'");
    }
    if (!script_find_names(p, then, node->items[i + 1])) return false;
    otherwise->captured = then->captured;
    otherwise->captured_count = then->captured_count;
    for (uint32_t k = i + 2; k < node->count; k++) {
        if (!script_find_names(p, otherwise, node->items[k])) return false;
    }
    then->captured_count = otherwise->captured_count;
    return true;
}

static bool bind_if(script_parser *p, uint32_t at, const hone_garg *condition,
                    const script_outside *then, const script_outside *otherwise, py_value *out) {
    uint32_t count = HONE_GBIND_IF_ARGS + then->captured_count;
    hone_garg *args = script_alloc(p, p->arena, count, sizeof *args);
    if (!args) return false;
    args[0] = *condition;
    args[HONE_GBIND_IF_THEN] = (hone_garg){.kind = HONE_GARG_GLOBAL, .u.s = then->in_module};
    args[HONE_GBIND_IF_ELSE] = (hone_garg){.kind = HONE_GARG_GLOBAL, .u.s = otherwise->in_module};
    for (uint32_t i = 0; i < then->captured_count; i++)
        args[HONE_GBIND_IF_ARGS + i] = HONE_GARG_OF_VALUE(then->captured[i]);
    hone_gbind bind = {.kind = HONE_GBIND_IF, .arg_count = count, .args = args};
    return script_bind(p, at, &bind, NULL, out);
}

/* What is written in a branch, in terms of the sizes around: they have the same names. */
static bool type_around(script_parser *p, const branch_end *end, const hone_sinfo **out) {
    const hone_graph_func *g = end->graph;
    *out = end->info;
    if (!end->info) return true;
    const hone_expr **sizes = script_alloc(p, p->scratch, g->var_count, sizeof *sizes);
    if (!sizes) return false;
    for (hone_var var = 0; var < g->var_count; var++) {
        sizes[var] = NULL;
        for (hone_var i = 0; i < p->graph->var_count; i++) {
            const hone_var_info *around = &p->graph->vars[i];
            bool is_same = strcmp(around->name, g->vars[var].name) == 0;
            if (is_same) sizes[var] = hone_expr_var(&p->ir, around->dtype, i);
        }
    }
    *out = hone_sinfo_in_terms_of(&p->ir, end->info, sizes, g->var_count);
    return *out || script_check_ir(p, p->run.at);
}

bool script_parse_if(script_parser *p, const py_node *node, uint32_t i) {
    script_outside then = {.is_branch = true, .graph = p->graph, .name = "then"};
    script_outside otherwise = {.is_branch = true, .graph = p->graph, .name = "else"};
    branch_end end = {0}, other = {0};
    uint32_t at = node->items[i + 1]->mark;
    hone_garg condition;
    py_value value;
    if (p->in_dataflow) return script_fail(p, at, "'if' stands inside of R.dataflow");
    if (!script_eval(p, node->items[i], &value) || !script_to_garg(p, &value, false, &condition) ||
        !find_both(p, node, i, &then, &otherwise)) {
        return false;
    }
    bool is_elif = i + 3 < node->count;
    branch first = {.node = node->items[i + 1]};
    branch second = {.node = is_elif ? node : node->items[i + 2], .i = i + 2};
    if (!read_branch(p, &then, first, &end) || !read_branch(p, &otherwise, second, &other)) {
        return false;
    }
    if (strcmp(end.name, other.name) != 0) {
        return script_fail(p, at, "one branch ends with '%s', the other one with '%s'", end.name,
                           other.name);
    }
    const hone_sinfo *info = NULL;
    return bind_if(p, at, &condition, &then, &otherwise, &value) && type_around(p, &end, &info) &&
           script_bind_name(p, end.name, at, &value, info);
}
