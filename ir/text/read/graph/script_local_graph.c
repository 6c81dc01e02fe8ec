/* ir/text/read/graph/script_local_graph.c - functions inside of graph functions.
 *
 *   def main(x):                             @R.function(private=True)
 *       @R.function                          def main_inner(y, x): return R.add(y, x)
 *       def inner(y): return R.add(y, x)  ⇒
 *       return inner(x)                      def main(x): return cls.main_inner(x, x)
 *
 * Such a function becomes one of the module; the values around that it uses become its last
 * parameters, sizes around become sizes of its own. It may call itself and its neighbours. As a
 * value (a closure that is returned or handed on) it is refused. */
#include <stdio.h>
#include <string.h>

#include "ir/text/read/graph/script_graph_impl.h"

/* ---- which names ---- */

static bool is_noted(const script_outside *o, const char *name) {
    for (uint32_t i = 0; i < o->name_count; i++) {
        if (strcmp(o->names[i].name, name) == 0) return true;
    }
    return false;
}

static bool note_name(script_parser *p, script_outside *o, const char *name,
                      const py_value *value) {
    if (!script_grow(p, p->scratch, (void **)&o->names, &o->name_capacity, o->name_count,
                     sizeof *o->names)) {
        return false;
    }
    o->names[o->name_count++] = (script_used_name){name, *value};
    return true;
}

static void note_captured(script_outside *o, hone_gvalue value) {
    for (uint32_t i = 0; i < o->captured_count; i++) {
        if (o->captured[i] == value) return;
    }
    o->captured[o->captured_count++] = value;
}

/* A size that the signature does not name comes inside with a parameter that has it. */
static void note_size(script_outside *o, hone_var size) {
    for (uint32_t i = 0; i < o->graph->param_count; i++) {
        const hone_sinfo *info = o->graph->values[i].sinfo;
        for (int32_t d = 0; info && info->shape && d < info->rank; d++) {
            const hone_expr *e = info->shape[d];
            if (e->kind != HONE_EXPR_VAR || e->u.var != size) continue;
            note_captured(o, i);
            return;
        }
    }
}

static bool note_read(script_parser *p, script_outside *o, const char *name) {
    const py_value *value = script_lookup(p, name);
    if (!value || is_noted(o, name)) return true;
    if (!note_name(p, o, name, value)) return false;
    bool is_value = value->kind == SCRIPT_GARG && script_garg_of(value)->kind == HONE_GARG_VALUE;
    bool is_size = value->kind == SCRIPT_EXPR && script_expr_of(value)->kind == HONE_EXPR_VAR;
    if (is_value) note_captured(o, script_garg_of(value)->u.value);
    if (is_size && !o->in_signature) note_size(o, script_expr_of(value)->u.var);
    for (uint32_t i = 0; value->kind == SCRIPT_LOCAL && i < script_local_of(value)->count; i++)
        note_captured(o, script_local_of(value)->captured[i]);
    return true;
}

static bool find_names(script_parser *p, script_outside *o, const py_node *node);

/* Behind its statement a name that was given there means that. */
static bool note_named(script_parser *p, script_outside *o, const py_node *target) {
    py_value none = {.kind = PYV_NONE};
    if (target->kind != PY_NAME && target->kind != PY_PARAM) return find_names(p, o, target);
    return !target->name || is_noted(o, target->name) || note_name(p, o, target->name, &none);
}

static bool find_all(script_parser *p, script_outside *o, const py_node *node) {
    bool ok = find_names(p, o, node->base);
    for (uint32_t i = 0; ok && i < node->count; i++)
        ok = find_names(p, o, node->items[i]);
    return ok;
}

static bool find_in_def(script_parser *p, script_outside *o, const py_node *def) {
    bool is_outermost = o->in_signature, ok = true;
    for (uint32_t i = def->count_ahead; ok && i + 1 < def->count; i++) {
        bool is_param = i + 2 < def->count;
        ok = is_param ? find_all(p, o, def->items[i]) : find_names(p, o, def->items[i]);
        if (ok && is_param && is_outermost) ok = note_named(p, o, def->items[i]);
    }
    o->in_signature = false;
    return ok && find_names(p, o, script_body(def));
}

static bool find_names(script_parser *p, script_outside *o, const py_node *node) {
    bool ok = true;
    if (!node) return true;
    switch (node->kind) {
    case PY_NAME:
        return note_read(p, o, node->name);
    case PY_DEF:
        return find_in_def(p, o, node);
    case PY_ASSIGN:
        ok = find_names(p, o, node->base);
        for (uint32_t i = 0; ok && i < node->count; i++)
            ok = note_named(p, o, node->items[i]);
        return ok;
    case PY_ANNOTATE:
        return find_names(p, o, node->items[1]) && find_names(p, o, node->base) &&
               note_named(p, o, node->items[0]);
    default:
        return find_all(p, o, node);
    }
}

bool script_find_names(script_parser *p, script_outside *o, const py_node *node) {
    if (!o->captured)
        o->captured = script_alloc(p, p->scratch, o->graph->value_count, sizeof *o->captured);
    if (!o->params)
        o->params = script_alloc(p, p->scratch, o->graph->value_count, sizeof *o->params);
    return o->captured && o->params && find_names(p, o, node);
}

/* ---- what they mean inside ---- */

static bool define_local(script_parser *p, const char *name, const char *in_module, uint32_t count,
                         const hone_gvalue *captured) {
    script_local *local = script_alloc(p, p->scratch, 1, sizeof *local);
    if (!local) return false;
    *local = (script_local){.name = in_module, .count = count, .captured = captured};
    return script_define(p, name, (py_value){.kind = SCRIPT_LOCAL, .u.host = local});
}

bool script_bring_sizes(script_parser *p, script_outside *o) {
    for (uint32_t i = 0; i < o->name_count; i++) {
        py_value value = o->names[i].value;
        bool is_size = value.kind == SCRIPT_EXPR && script_expr_of(&value)->kind == HONE_EXPR_VAR;
        if (value.kind == SCRIPT_GARG || value.kind == SCRIPT_LOCAL || value.kind == PYV_NONE ||
            value.kind == SCRIPT_SINFO) { /* a type may have sizes of the function around */
            continue;
        }
        if (is_size) {
            const hone_expr *e =
                script_graph_size(p, o->graph->vars[script_expr_of(&value)->u.var].name);
            if (!e) return false;
            value = SCRIPT_VALUE_EXPR(e);
        }
        if (!script_define(p, o->names[i].name, value)) return false;
    }
    /* it may call itself */
    return o->is_branch || define_local(p, o->name, o->in_module, o->captured_count, o->params);
}

static hone_gvalue param_of(const script_outside *o, hone_gvalue captured) {
    uint32_t i = 0;
    while (o->captured[i] != captured)
        i++;
    return o->params[i];
}

static bool add_params(script_parser *p, script_outside *o) {
    const hone_expr **sizes = script_alloc(p, p->scratch, o->graph->var_count, sizeof *sizes);
    if (!sizes) return false;
    for (uint32_t v = 0; v < o->graph->var_count; v++) {
        sizes[v] = script_graph_size(p, o->graph->vars[v].name);
        if (!sizes[v]) return false;
    }
    for (uint32_t i = 0; i < o->captured_count; i++) {
        const hone_gvalue_info *around = &o->graph->values[o->captured[i]];
        const hone_sinfo *info =
            hone_sinfo_in_terms_of(&p->ir, around->sinfo, sizes, o->graph->var_count);
        if (!script_check_ir(p, p->run.at)) return false;
        o->params[i] = hone_graph_add_param(p->graph, around->name, info);
        if (o->params[i] == HONE_NO_ID) return script_no_memory(p);
    }
    return true;
}

/* A function beside this one, called from here. */
static bool bring_neighbour(script_parser *p, const script_outside *o, const char *name,
                            const script_local *local) {
    hone_gvalue *captured = script_alloc(p, p->scratch, local->count, sizeof *captured);
    if (!captured) return false;
    for (uint32_t i = 0; i < local->count; i++)
        captured[i] = param_of(o, local->captured[i]);
    return define_local(p, name, local->name, local->count, captured);
}

bool script_bring_values(script_parser *p, script_outside *o) {
    if (!add_params(p, o)) return false;
    for (uint32_t i = 0; i < o->name_count; i++) {
        const char *name = o->names[i].name;
        const py_value *value = &o->names[i].value;
        if (value->kind == SCRIPT_LOCAL && !bring_neighbour(p, o, name, script_local_of(value))) {
            return false;
        }
        if (value->kind != SCRIPT_GARG || script_garg_of(value)->kind != HONE_GARG_VALUE) continue;
        py_value own;
        hone_gvalue param = param_of(o, script_garg_of(value)->u.value);
        if (!script_garg_value(p, HONE_GARG_OF_VALUE(param), &own)) return false;
        if (!script_define(p, name, own)) return false;
    }
    return true;
}

/* ---- the function ---- */

static bool is_taken(const script_parser *p, const char *name) {
    for (uint32_t i = 0; i < p->global_count; i++) {
        if (strcmp(p->globals[i], name) == 0) return true;
    }
    return hone_module_find(p->module, name) != NULL;
}

/* "main_inner", "main_inner1", … */
bool script_name_inside(script_parser *p, script_outside *o) {
    for (unsigned number = 0;; number++) {
        char suffix[16] = "";
        if (number) snprintf(suffix, sizeof suffix, "%u", number);
        o->in_module = hone_arena_printf(p->arena, "%s_%s%s", o->graph->name, o->name, suffix);
        if (!o->in_module) return script_no_memory(p);
        if (!is_taken(p, o->in_module)) return true;
    }
}

script_inside script_enter_inside(script_parser *p) {
    script_inside before = {p->graph,
                            p->def,
                            p->in_dataflow,
                            p->has_output,
                            p->has_return,
                            p->dataflow_count,
                            py_open_scope(&p->run, true)};
    return before;
}

void script_leave_inside(script_parser *p, const script_inside *before) {
    p->graph = before->graph;
    p->def = before->def;
    p->in_dataflow = before->in_dataflow;
    p->has_output = before->has_output;
    p->has_return = before->has_return;
    p->dataflow_count = before->dataflow_count;
    p->run.scope = before->scope;
}

static bool read_inside(script_parser *p, const py_node *def, const script_call *options,
                        script_outside *o) {
    script_inside before = script_enter_inside(p);
    bool ok = script_read_graph(p, def, options, o->in_module, o);
    if (ok) p->graph->is_private = true;
    script_leave_inside(p, &before);
    return ok;
}

bool script_parse_local(script_parser *p, const py_node *def, const script_call *options) {
    script_outside o = {.graph = p->graph, .name = def->name, .in_signature = true};
    if (!script_infer_graph(p, p->graph) || !script_find_names(p, &o, def)) return false;
    if (!script_name_inside(p, &o) || !script_enter(p, def->at) ||
        !read_inside(p, def, options, &o)) {
        return false;
    }
    p->run.depth--;
    hone_gvalue *captured = script_alloc(p, p->scratch, o.captured_count, sizeof *captured);
    if (!captured) return false;
    if (o.captured_count) memcpy(captured, o.captured, o.captured_count * sizeof *captured);
    return define_local(p, o.name, o.in_module, o.captured_count, captured);
}
