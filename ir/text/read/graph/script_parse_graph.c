/* ir/text/read/graph/script_parse_graph.c - a graph program: parameters, dataflow blocks, bindings,
 * result. */
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

/* A type: its sizes are numbers and names, no results of operators. */
static bool parse_type(script_parser *p, const py_node *node, const hone_sinfo **out) {
    uint32_t before = p->graph->value_count;
    py_value type;
    if (!script_eval(p, node, &type) || !script_to_sinfo(p, &type, out)) return false;
    if (p->graph->value_count == before) return true;
    return script_fail(p, node->at, "a type cannot hold the call of an operator");
}

/* ---- parameters ---- */

static bool parse_param(script_parser *p, const py_node *param) {
    py_value value;
    const hone_sinfo *info = NULL;
    if (!parse_type(p, param->items[0], &info)) return false;
    hone_gvalue made = hone_graph_add_param(p->graph, param->name, info);
    if (made == HONE_NO_ID) return script_no_memory(p);
    return script_garg_value(p, HONE_GARG_OF_VALUE(made), &value) &&
           script_define(p, param->name, value);
}

static bool parse_signature(script_parser *p, const py_node *def) {
    if (!script_check_params(p, def, "': R.Tensor(...)' or another")) return false;
    for (uint32_t i = def->count_ahead; i + 2 < def->count; i++) {
        if (p->graph->param_count > 65535) {
            return script_fail(p, def->items[i]->at, "too many parameters");
        }
        p->budget = SCRIPT_STATEMENT_BUDGET;
        if (!parse_param(p, def->items[i])) return false;
    }
    const py_node *result = def->items[def->count - 2];
    return !result || parse_type(p, result, &p->graph->result_sinfo);
}

/* ---- assignments ---- */

/* A call that says what it returns keeps that beside an annotation that knows less. */
static bool knows_less(const hone_sinfo *info, const hone_sinfo *known) {
    bool is_tensor = known && known->kind == HONE_SINFO_TENSOR && known->shape;
    if (!is_tensor) return false;
    return info->kind == HONE_SINFO_OBJECT ||
           (info->kind == HONE_SINFO_TENSOR && !info->shape &&
            (info->rank < 0 || info->rank == known->rank) &&
            (hone_dtype_is_void(info->dtype) || hone_dtype_equal(info->dtype, known->dtype)));
}

/* Gives the value a name of its own; what is no new value (an alias, a constant, a tuple) becomes
 * a binding. */
bool script_bind_name(script_parser *p, const char *name, uint32_t at, const py_value *v,
                      const hone_sinfo *info) {
    py_value value = *v;
    switch (v->kind) {
    case SCRIPT_NEWVAR: {
        const hone_expr *e = script_graph_size(p, name);
        return e && script_define(p, name, SCRIPT_VALUE_EXPR(e));
    }
    case SCRIPT_MODULE:
    case SCRIPT_PATH:
    case SCRIPT_GLOBAL:
    case SCRIPT_LOCAL:
    case SCRIPT_SINFO:
    case SCRIPT_DTYPE:
        return script_define(p, name, value);
    default:
        break;
    }
    bool is_new =
        v->kind == SCRIPT_GARG && v->is_fresh && script_garg_of(v)->kind == HONE_GARG_VALUE;
    if (!is_new) {
        hone_garg *arg = script_alloc(p, p->arena, 1, sizeof *arg);
        if (!arg || !script_to_garg(p, v, false, arg)) return false;
        hone_gbind bind = {.kind = HONE_GBIND_ARG, .arg_count = 1, .args = arg};
        if (!script_bind(p, at, &bind, NULL, &value)) return false;
    }
    hone_gvalue_info *made = &p->graph->values[script_garg_of(&value)->u.value];
    made->name = script_strdup(p, name);
    if (info && !knows_less(info, made->sinfo)) made->sinfo = info;
    value.is_fresh = false;
    return made->name && script_define(p, name, value);
}

static bool assign_names(script_parser *p, const char *const *names, uint32_t count, uint32_t at,
                         const py_value *v) {
    if (count == 1) return script_bind_name(p, names[0], at, v, NULL);
    const py_value *items = NULL;
    uint32_t have = 0;
    script_items(v, &items, &have);
    bool unpack = v->kind == SCRIPT_GARG;
    if (!unpack && have != count) {
        return script_fail(p, at, "%u names for %u value%s", count, have, have == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < count; i++) {
        py_value args[2] = {*v, PYV_OF_INT(i)}, one;
        script_call call = {.callee = "R.TupleGetItem", .at = at, .count = 2, .args = args};
        if (unpack && !script_call_graph(p, &call, &one)) return false;
        if (!script_bind_name(p, names[i], at, unpack ? &one : &items[i], NULL)) return false;
    }
    return true;
}

static bool parse_annotated(script_parser *p, const py_node *node) {
    const char *name;
    const hone_sinfo *info = NULL;
    py_value v;
    if (!script_need_name(p, node->items[0], "a name", &name) ||
        !parse_type(p, node->items[1], &info)) {
        return false;
    }
    if (!node->base) return script_expected(p, node->items[1]->end, "'=' of an assignment");
    return script_eval(p, node->base, &v) && script_bind_name(p, name, node->at, &v, info);
}

static bool fail_change(script_parser *p, const py_node *node) {
    return script_fail(p, node->mark,
                       "a graph value does not change; a new one gets a name: y = R.add(x, x)");
}

static bool parse_assignment(script_parser *p, const py_node *node) {
    enum { MOST = 256 };
    const py_node *target = node->items[0];
    const char *names[MOST];
    uint32_t count = 0, star;
    py_value v;
    if (target->kind == PY_SUBSCRIPT) return fail_change(p, node);
    if (node->count > 1) return script_expected(p, node->items[1]->end, "the end of the line");
    if (!script_target_names(p, target, "a name", MOST, names, &count, &star)) return false;
    if (star != HONE_NO_ID) return script_expected(p, target->at, "names without '*'");
    if (!script_eval(p, node->base, &v)) return false;
    if (target->kind == PY_NAME) return script_bind_name(p, names[0], node->at, &v, NULL);
    return assign_names(p, names, count, node->at, &v);
}

/* ---- statements ---- */

static bool parse_with(script_parser *p, const py_node *node) {
    py_value v;
    if (!script_eval(p, node->items[0]->base, &v)) return false;
    bool is_dataflow = v.kind == SCRIPT_FRAME && script_frame_of(&v)->kind == SCRIPT_FRAME_DATAFLOW;
    if (!is_dataflow || node->count != 2 || node->items[0]->items[0]) {
        return script_fail(p, v.at, "expected R.dataflow() behind 'with'");
    }
    if (p->in_dataflow) return script_fail(p, node->at, "R.dataflow inside of R.dataflow");
    p->in_dataflow = true;
    p->has_output = false;
    bool ok = script_suite(p, script_body(node), script_graph_statement);
    p->in_dataflow = false;
    p->dataflow_count++;
    return ok;
}

static bool parse_return(script_parser *p, const py_node *node) {
    const py_place place = py_place_of(&p->places, node->at);
    py_value v;
    if (p->in_dataflow) return script_fail(p, node->at, "return stands inside of R.dataflow");
    p->has_return = true;
    p->graph->result_line = place.line;
    p->graph->result_column = place.column;
    if (!node->base) {
        return script_fail(p, node->at, "a graph function returns a value: return x");
    }
    return script_eval(p, node->base, &v) && script_to_garg(p, &v, false, &p->graph->result);
}

/* A call that stands for itself, or what says nothing. */
static bool parse_value(script_parser *p, const py_node *node) {
    py_value v;
    if (!script_eval(p, node->base, &v)) return false;
    bool nothing = v.kind == SCRIPT_GARG && script_garg_of(&v)->kind == HONE_GARG_TUPLE &&
                   !script_garg_of(&v)->count;
    bool idle = nothing || v.kind == PYV_NONE || v.kind == PYV_STRING ||
                v.kind == PYV_ELLIPSIS; /* R.tuple() is nothing */
    bool call = v.kind == SCRIPT_GARG && v.is_fresh;
    if (!idle && !call) {
        return script_fail(p, v.at, "expected a statement, found %s%s", script_kind_name(&v),
                           v.kind == SCRIPT_GARG ? "; a result is returned: return x" : "");
    }
    if (call && script_garg_of(&v)->kind == HONE_GARG_VALUE) {
        p->graph->values[script_garg_of(&v)->u.value].name = "_";
    }
    return true;
}

static bool parse_other(script_parser *p, const py_node *node) {
    if (p->in_dataflow && p->has_output) {
        return script_fail(p, node->at,
                           "this statement stands behind R.output, which ends its block");
    }
    switch (node->kind) {
    case PY_ASSIGN:
        return parse_assignment(p, node);
    case PY_ANNOTATE:
        return parse_annotated(p, node);
    case PY_VALUE:
        return parse_value(p, node);
    case PY_AUGMENT:
        return fail_change(p, node);
    default:
        return script_expected(p, node->at, "a statement of a graph function");
    }
}

bool script_graph_statement(script_parser *p, const py_node *node) {
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (p->has_return) {
        return script_fail(p, node->at,
                           node->kind == PY_RETURN ? "return stands twice in this function"
                                                   : "this statement stands behind return");
    }
    switch (node->kind) {
    case PY_WITH:
        return parse_with(p, node);
    case PY_RETURN:
        return parse_return(p, node);
    case PY_IF:
        return script_parse_if(p, node, 0);
    case PY_PASS:
        return true;
    case PY_DEF:
        if (node->count_ahead) return script_parse_inner_graph(p, node);
        return script_fail(p, node->at, "'def' is not supported in graph functions");
    case PY_FOR:
        return script_fail(p, node->at, "'for' is not supported in graph functions");
    case PY_WHILE:
        return script_fail(p, node->at, "'while' is not supported in graph functions");
    case PY_ASSERT:
        return script_fail(p, node->at, "'assert' is not supported in graph functions");
    default:
        return parse_other(p, node);
    }
}

/* ---- the function ---- */

static bool settle_name(script_parser *p, uint32_t at) {
    hone_graph_func *g = p->graph;
    const char *symbol = hone_attrs_string(&g->attrs, "global_symbol", NULL);
    if (symbol && g->is_private) {
        return script_fail(p, at, "a private function has no \"global_symbol\"");
    }
    if (!symbol || strcmp(symbol, g->name) != 0) return true;
    return hone_attrs_without(p->arena, &g->attrs, "global_symbol", &g->attrs) ||
           script_no_memory(p);
}

bool script_read_graph(script_parser *p, const py_node *def, const script_call *options,
                       const char *name, script_outside *outside) {
    uint32_t at = script_name_at(p, def);
    p->graph = hone_graph_func_create(p->arena, name);
    if (!p->graph) return script_no_memory(p);
    p->def = def;
    p->in_dataflow = p->has_return = false;
    p->dataflow_count = 0;
    p->value_budget = 1000000;
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (!script_option(p, options, "private", &p->graph->is_private) ||
        !script_option(p, options, "pure", &p->graph->is_pure)) {
        return false;
    }
    if (outside && !script_bring_sizes(p, outside)) return false;
    if (!parse_signature(p, def)) return false;
    if (outside && !script_bring_values(p, outside)) return false;
    if (!script_suite(p, script_body(def), script_graph_statement)) return false;
    if (!p->has_return) return script_fail(p, at, "graph function '%s' has no return", name);
    return settle_name(p, at) && script_check(p, at, hone_module_add_graph(p->module, p->graph));
}

bool script_parse_graph(script_parser *p, const py_node *def, const script_call *options) {
    py_scope *around = py_open_scope(&p->run, false);
    const char *name = script_strdup(p, def->name);
    bool ok = name && script_read_graph(p, def, options, name, NULL);
    p->graph = NULL;
    p->def = NULL;
    p->run.scope = around;
    return ok;
}
