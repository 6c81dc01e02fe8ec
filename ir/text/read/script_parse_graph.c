/* ir/text/read/script_parse_graph.c - a graph program: parameters, dataflow blocks, bindings,
 * result. */
#include <string.h>

#include "ir/text/read/script_graph_impl.h"

/* A type: its sizes are numbers and names, no results of operators. */
static bool parse_type(script_parser *p, const hone_sinfo **out) {
    uint32_t at = p->pos, before = p->graph->value_count;
    script_value type;
    if (!script_parse_expr(p, &type) || !script_to_sinfo(p, &type, out)) return false;
    if (p->graph->value_count == before) return true;
    return script_fail(p, at, "a type cannot hold the call of an operator");
}

/* ---- parameters ---- */

static bool parse_param(script_parser *p) {
    const char *name = NULL;
    uint32_t at = p->pos;
    script_value value;
    const hone_sinfo *info = NULL;
    if (!script_need_name(p, "a parameter", &name)) return false;
    for (uint32_t i = 0; i < p->graph->param_count; i++) {
        if (strcmp(p->graph->values[i].name, name) == 0) {
            return script_fail(p, at, "two parameters are named '%s'", name);
        }
    }
    if (!script_take_op(p, ":")) {
        return script_fail(
            p, at, "parameter '%s' has no type; expected ': R.Tensor(...)' or another", name);
    }
    if (!parse_type(p, &info)) return false;
    hone_gvalue param = hone_graph_add_param(p->graph, name, info);
    if (param == HONE_NO_ID) return script_no_memory(p);
    return script_garg_value(p, HONE_GARG_OF_VALUE(param), &value) && script_define(p, name, value);
}

static bool parse_signature(script_parser *p) {
    if (!script_need_op(p, "(", "behind the name of the function")) return false;
    while (!script_at_op(p, ")")) {
        if (p->graph->param_count > 65535) return script_fail(p, p->pos, "too many parameters");
        p->budget = SCRIPT_STATEMENT_BUDGET;
        if (!parse_param(p)) return false;
        if (!script_take_op(p, ",")) break;
    }
    if (!script_need_op(p, ")", "or ','")) return false;
    if (!script_take_op(p, "->")) return true;
    return parse_type(p, &p->graph->result_sinfo);
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
bool script_bind_name(script_parser *p, const char *name, uint32_t at, const script_value *v,
                      const hone_sinfo *info) {
    script_value value = *v;
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
    bool is_new = v->kind == SCRIPT_GARG && v->is_fresh && v->u.garg->kind == HONE_GARG_VALUE;
    if (!is_new) {
        hone_garg *arg = script_alloc(p, p->arena, 1, sizeof *arg);
        if (!arg || !script_to_garg(p, v, false, arg)) return false;
        hone_gbind bind = {.kind = HONE_GBIND_ARG, .arg_count = 1, .args = arg};
        if (!script_bind(p, at, &bind, NULL, &value)) return false;
    }
    hone_gvalue_info *made = &p->graph->values[value.u.garg->u.value];
    made->name = script_strdup(p, name);
    if (info && !knows_less(info, made->sinfo)) made->sinfo = info;
    value.is_fresh = false;
    return made->name && script_define(p, name, value);
}

static bool assign_names(script_parser *p, const char *const *names, uint32_t count, uint32_t at,
                         const script_value *v) {
    if (count == 1) return script_bind_name(p, names[0], at, v, NULL);
    const script_value *items = NULL;
    uint32_t have = 0;
    script_items(v, &items, &have);
    bool unpack = v->kind == SCRIPT_GARG;
    if (!unpack && have != count) {
        return script_fail(p, at, "%u names for %u value%s", count, have, have == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < count; i++) {
        script_value args[2] = {*v, SCRIPT_VALUE_INT(i)}, one;
        script_call call = {.callee = "R.TupleGetItem", .at = at, .count = 2, .args = args};
        if (unpack && !script_call_graph(p, &call, &one)) return false;
        if (!script_bind_name(p, names[i], at, unpack ? &one : &items[i], NULL)) return false;
    }
    return true;
}

static bool parse_assignment(script_parser *p) {
    enum { MOST = 256 };
    const char *names[MOST];
    uint32_t count = 0, at = p->pos;
    script_value v;
    const hone_sinfo *info = NULL;
    bool bracket = script_take_op(p, "(");
    do {
        if (count == MOST) return script_fail(p, p->pos, "too many names");
        if (!script_need_name(p, "a name", &names[count++])) return false;
    } while (script_take_op(p, ",") && !script_at_op(p, "=") && !script_at_op(p, ")"));
    bool comma = p->source.text[p->tokens[p->pos - 1].start] == ',';
    if (bracket && !script_need_op(p, ")", "")) return false;
    if (count == 1 && script_take_op(p, ":") && !parse_type(p, &info)) return false;
    if (!script_need_op(p, "=", "of an assignment") || !script_parse_expr_list(p, &v)) return false;
    if (count == 1 && !comma) {
        if (!script_bind_name(p, names[0], at, &v, info)) return false;
    } else if (!assign_names(p, names, count, at, &v)) {
        return false;
    }
    return script_need_newline(p);
}

/* ---- statements ---- */

static bool parse_with(script_parser *p) {
    uint32_t at = p->pos++;
    script_value v;
    if (!script_parse_expr(p, &v)) return false;
    if (v.kind != SCRIPT_FRAME || v.u.frame->kind != SCRIPT_FRAME_DATAFLOW) {
        return script_fail(p, v.at, "expected R.dataflow() behind 'with'");
    }
    if (p->in_dataflow) return script_fail(p, at, "R.dataflow inside of R.dataflow");
    p->in_dataflow = true;
    p->has_output = false;
    bool ok = script_suite(p, script_graph_statement);
    p->in_dataflow = false;
    p->dataflow_count++;
    return ok;
}

static bool parse_return(script_parser *p) {
    uint32_t at = p->pos++;
    script_value v;
    if (p->in_dataflow) return script_fail(p, at, "return stands inside of R.dataflow");
    if (p->has_return) return script_fail(p, at, "return stands twice in this function");
    p->has_return = true;
    p->graph->result_line = p->tokens[at].line;
    p->graph->result_column = p->tokens[at].column;
    if (script_peek(p)->kind == PY_TOKEN_NEWLINE) {
        return script_fail(p, at, "a graph function returns a value: return x");
    }
    return script_parse_expr_list(p, &v) && script_to_garg(p, &v, false, &p->graph->result) &&
           script_need_newline(p);
}

static bool at_assignment(const script_parser *p) {
    if (script_peek(p)->kind != PY_TOKEN_NAME && !script_at_op(p, "(")) return false;
    return script_at_op_ahead(p, 1, "=") || script_at_op_ahead(p, 1, ":") ||
           script_at_op_ahead(p, 1, ",") ||
           (script_at_op(p, "(") && (script_at_op_ahead(p, 2, ",")));
}

bool script_graph_statement(script_parser *p) {
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (p->has_return) return script_fail(p, p->pos, "this statement stands behind return");
    if (script_at_word(p, "with")) return parse_with(p);
    if (script_at_word(p, "return")) return parse_return(p);
    if (script_at_op(p, "@")) return script_parse_inner_graph(p);
    if (script_at_word(p, "if")) return script_parse_if(p);
    if (script_take_word(p, "pass")) return script_need_newline(p);
    static const char *const others[] = {"for", "while", "def", "assert"};
    for (size_t i = 0; i < HONE_COUNT(others); i++) {
        if (script_at_word(p, others[i])) {
            return script_fail(p, p->pos, "'%s' is not supported in graph functions", others[i]);
        }
    }
    if (p->in_dataflow && p->has_output) {
        return script_fail(p, p->pos,
                           "this statement stands behind R.output, which ends its block");
    }
    if (at_assignment(p)) return parse_assignment(p);
    script_value v;
    if (!script_parse_expr(p, &v)) return false;
    bool nothing = v.kind == SCRIPT_GARG && v.u.garg->kind == HONE_GARG_TUPLE && !v.u.garg->count;
    bool idle = nothing || v.kind == SCRIPT_NONE || v.kind == SCRIPT_STRING ||
                v.kind == SCRIPT_ELLIPSIS; /* R.tuple() is nothing */
    bool call = v.kind == SCRIPT_GARG && v.is_fresh;
    bool is_added = !idle && !call && script_peek(p)->kind == PY_TOKEN_OP &&
                    p->source.text[script_peek(p)->start + script_peek(p)->length - 1] == '=';
    if (is_added) {
        return script_fail(p, p->pos,
                           "a graph value does not change; a new one gets a name: "
                           "y = R.add(x, x)");
    }
    if (!idle && !call) {
        return script_fail(p, v.at, "expected a statement, found %s%s", script_kind_name(&v),
                           v.kind == SCRIPT_GARG ? "; a result is returned: return x" : "");
    }
    if (call && v.u.garg->kind == HONE_GARG_VALUE) {
        p->graph->values[v.u.garg->u.value].name = "_";
    }
    return script_need_newline(p);
}

/* ---- the function ---- */

static bool parse_options(script_parser *p, const script_value *options) {
    for (uint32_t i = 0; options && i < options->count; i++) {
        const char *key = options->u.items[2 * i].u.s;
        const script_value *v = &options->u.items[2 * i + 1];
        if (strcmp(key, "private") == 0 && !script_to_bool(p, v, &p->graph->is_private))
            return false;
        if (strcmp(key, "pure") == 0 && !script_to_bool(p, v, &p->graph->is_pure)) return false;
    }
    return true;
}

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

bool script_read_graph(script_parser *p, const script_value *options, const char *name,
                       script_outside *outside) {
    uint32_t at = p->pos - 1; /* its name */
    p->graph = hone_graph_func_create(p->arena, name);
    if (!p->graph) return script_no_memory(p);
    p->in_dataflow = p->has_return = false;
    p->dataflow_count = 0;
    p->value_budget = 1000000;
    p->budget = SCRIPT_STATEMENT_BUDGET;
    if (!parse_options(p, options)) return false;
    if (outside && !script_bring_sizes(p, outside)) return false;
    if (!parse_signature(p)) return false;
    if (outside && !script_bring_values(p, outside)) return false;
    if (!script_suite(p, script_graph_statement)) return false;
    if (!p->has_return) return script_fail(p, at, "graph function '%s' has no return", name);
    return settle_name(p, at) && script_check(p, at, hone_module_add_graph(p->module, p->graph));
}

bool script_parse_graph(script_parser *p, const script_value *options, const char *name) {
    uint32_t names = p->name_count;
    bool ok = script_read_graph(p, options, name, NULL);
    p->graph = NULL;
    p->name_count = names;
    return ok;
}
