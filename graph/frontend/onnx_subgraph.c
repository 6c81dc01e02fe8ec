/* graph/frontend/onnx_subgraph.c - graphs that nodes carry: read in place, as if their nodes stood
 * where the node does, or as a private function of the module.
 *
 *   main(x, w)                      main(x, w)
 *     If(c, then: y = x · w)   ⇒      y = if c: main_then(x, w) else: ...
 *                                   main_then(x, w)       what it takes from outside: its
 * parameters
 */
#include <string.h>

#include "graph/frontend/onnx_flow.h"
#include "graph/module/rewrite.h"
#include "ir/core/grow.h"

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
}

hone_status onnx_attr_graph(const onnx_reader *r, const char *name,
                            const Onnx__GraphProto **out_graph) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    *out_graph = attr ? attr->g : NULL;
    if (*out_graph) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' must be a graph", name);
}

/* ---- in place ---- */

static hone_status outputs_of(const onnx_reader *r, const Onnx__GraphProto *graph,
                              hone_garg *outputs) {
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name;
        if (!name || !onnx_lookup(r, name, &outputs[i])) {
            return HONE_ERROR(HONE_CODE_INVALID, "output '%.200s' of the graph is not defined",
                              name ? name : "");
        }
    }
    return HONE_OK;
}

static hone_status read_within(onnx_reader *r, const Onnx__GraphProto *graph,
                               const hone_garg *inputs, hone_garg *outputs) {
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        HONE_TRY(onnx_define(r, name ? name : "", inputs[i]));
    }
    HONE_TRY(onnx_read_nodes(r, graph));
    return outputs_of(r, graph, outputs);
}

hone_status onnx_read_inside(onnx_reader *r, const Onnx__GraphProto *graph, uint32_t input_count,
                             const hone_garg *inputs, hone_garg *outputs) {
    onnx_scope scope = {.around = r->scope};
    const Onnx__NodeProto *node = r->node;
    const onnx_converter *row = r->row;
    hone_garg *own = r->inputs;
    uint32_t inputs_before = r->input_count, outputs_before = r->output_count;
    uint32_t own_room = r->input_room;
    if (graph->n_input != input_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "its graph has %zu inputs, must have %u",
                          graph->n_input, (unsigned)input_count);
    }
    if (r->inside_count++ >= ONNX_MAX_INSIDE) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "graphs inside of nodes would be read more than %d "
                          "times: loops within loops",
                          ONNX_MAX_INSIDE);
    }
    r->inputs = hone_arena_alloc(r->arena, ONNX_FEW_INPUTS * sizeof *r->inputs);
    r->input_room = ONNX_FEW_INPUTS;
    r->scope = &scope;
    hone_status st = r->inputs ? read_within(r, graph, inputs, outputs) : no_memory();
    r->scope = scope.around;
    onnx_scope_deinit(&scope);
    r->inputs = own;
    r->input_room = own_room;
    r->node = node;
    r->row = row;
    r->input_count = inputs_before;
    r->output_count = outputs_before;
    return st;
}

/* ---- what a function takes from outside ---- */

static hone_status capture_value(onnx_reader *r, onnx_captured *c, hone_gvalue value) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->values[i].u.value == value) return HONE_OK;
    if (!hone_grow(r->arena, (void **)&c->values, &c->capacity, c->count, sizeof *c->values)) {
        return no_memory();
    }
    c->values[c->count++] = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

static hone_status capture_arg(onnx_reader *r, onnx_captured *c, const hone_garg *arg) {
    if (arg->kind == HONE_GARG_VALUE) return capture_value(r, c, arg->u.value);
    for (uint32_t i = 0; i < onnx_held_count(arg); i++)
        HONE_TRY(capture_arg(r, c, &arg->u.items[i]));
    return HONE_OK;
}

static hone_status capture_name(onnx_reader *r, onnx_captured *c, const char *name) {
    hone_garg arg;
    if (!name || !name[0] || !onnx_lookup(r, name, &arg)) return HONE_OK;
    for (uint32_t i = 0; i < c->name_count; i++)
        if (strcmp(c->names[i], name) == 0) return HONE_OK;
    if (!hone_grow(r->arena, (void **)&c->names, &c->name_capacity, c->name_count,
                   sizeof *c->names)) {
        return no_memory();
    }
    c->names[c->name_count++] = name;
    return capture_arg(r, c, &arg);
}

static hone_status capture_names(onnx_reader *r, onnx_captured *c, const Onnx__GraphProto *graph) {
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        for (size_t k = 0; k < node->n_input; k++)
            HONE_TRY(capture_name(r, c, node->input[k]));
        for (size_t k = 0; k < node->n_attribute; k++)
            if (node->attribute[k]->g) HONE_TRY(capture_names(r, c, node->attribute[k]->g));
    }
    for (size_t i = 0; i < graph->n_output; i++)
        HONE_TRY(capture_name(r, c, graph->output[i]->name));
    return HONE_OK;
}

static bool has_size(const hone_graph_func *graph, hone_gvalue value, hone_var var) {
    const hone_sinfo *info = graph->values[value].sinfo;
    bool is_tensor = info && info->kind == HONE_SINFO_TENSOR && info->shape;
    for (int32_t d = 0; is_tensor && d < info->rank; d++)
        if (info->shape[d]->kind == HONE_EXPR_VAR && info->shape[d]->u.var == var) return true;
    return false;
}

static bool is_told(const onnx_reader *r, const onnx_captured *c, hone_var var) {
    for (uint32_t i = 0; i < c->count; i++)
        if (has_size(r->graph, c->values[i].u.value, var)) return true;
    return false;
}

/* The first one of so many values that has the size goes along. */
static hone_status tell(onnx_reader *r, onnx_captured *c, uint32_t count, hone_var var) {
    for (hone_gvalue value = 0; value < count; value++)
        if (has_size(r->graph, value, var)) return capture_value(r, c, value);
    return HONE_OK;
}

static bool is_asked(const onnx_reader *r, const onnx_captured *c, hone_var var) {
    for (uint32_t i = 0; i < c->count; i++) {
        const hone_sinfo *info = r->graph->values[c->values[i].u.value].sinfo;
        for (int32_t d = 0; info && info->shape && d < info->rank; d++)
            if (hone_expr_uses_var(info->shape[d], var)) return true;
    }
    return false;
}

/* A function knows sizes by what it is called with: one parameter at least tells each. Those that
 * follow from data are told where something captured is made of them: boxes of four levels are n0 +
 * n1 + n2 + n3. */
hone_status onnx_capture_sizes(onnx_reader *r, onnx_captured *c) {
    const hone_graph_func *graph = r->graph;
    for (hone_var var = 0; var < graph->var_count; var++)
        if (!is_told(r, c, var)) HONE_TRY(tell(r, c, graph->param_count, var));
    for (hone_var var = 0; var < graph->var_count; var++)
        if (!is_told(r, c, var) && is_asked(r, c, var))
            HONE_TRY(tell(r, c, graph->value_count, var));
    return HONE_OK;
}

hone_status onnx_capture(onnx_reader *r, const Onnx__GraphProto *graph, onnx_captured *c) {
    HONE_TRY(capture_names(r, c, graph));
    return onnx_capture_sizes(r, c);
}

/* ---- functions ---- */

/* An argument outside as it is inside, where captured value i is parameter first + i. */
static hone_status inside_of(onnx_reader *r, const onnx_captured *c, uint32_t first, hone_garg arg,
                             hone_garg *out) {
    *out = arg;
    if (arg.kind == HONE_GARG_VALUE) {
        for (uint32_t i = 0; i < c->count; i++)
            if (c->values[i].u.value == arg.u.value) *out = HONE_GARG_OF_VALUE(first + i);
    } else if (arg.kind == HONE_GARG_TUPLE) {
        uint32_t count = onnx_held_count(&arg);
        hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *items);
        if (!items) return no_memory();
        for (uint32_t i = 0; i < count; i++)
            HONE_TRY(inside_of(r, c, first, arg.u.items[i], &items[i]));
        out->u.items = items;
    }
    return HONE_OK;
}

/* Sizes have the same numbers inside as outside. */
static hone_status add_params(const hone_graph_func *around, hone_graph_func *func,
                              const onnx_function *f) {
    for (hone_var v = 0; v < around->var_count; v++)
        if (hone_graph_add_var(func, around->vars[v].name) == HONE_NO_ID) return no_memory();
    for (uint32_t i = 0; i < f->lead_count; i++) {
        const char *name = i ? hone_arena_printf(func->arena, "state%u", i - 1) : "turn";
        if (!name || hone_graph_add_param(func, name, f->leads[i]) == HONE_NO_ID)
            return no_memory();
    }
    for (uint32_t i = 0; i < f->captured->count; i++) {
        const hone_gvalue_info *info = &around->values[f->captured->values[i].u.value];
        if (hone_graph_add_param(func, info->name, info->sinfo) == HONE_NO_ID) return no_memory();
    }
    return HONE_OK;
}

static hone_status define_captured(onnx_reader *r, onnx_scope *around, const onnx_function *f) {
    onnx_scope *inside = r->scope;
    for (uint32_t i = 0; i < f->captured->name_count; i++) {
        hone_garg arg;
        r->scope = around;
        bool is_there = onnx_lookup(r, f->captured->names[i], &arg);
        r->scope = inside;
        if (!is_there) continue;
        HONE_TRY(inside_of(r, f->captured, f->lead_count, arg, &arg));
        HONE_TRY(onnx_define(r, f->captured->names[i], arg));
    }
    return HONE_OK;
}

/* An if stands in no dataflow block. */
static void end_blocks(hone_graph_func *func) {
    bool has_if = false;
    for (uint32_t i = 0; i < func->bind_count; i++)
        has_if |= func->bindings[i].kind == HONE_GBIND_IF;
    for (uint32_t i = 0; has_if && i < func->bind_count; i++)
        func->bindings[i].in_dataflow = false;
}

void onnx_end_blocks(onnx_reader *r) {
    end_blocks(r->graph);
}

static hone_status finish_function(onnx_reader *r, const onnx_function *f, uint32_t count,
                                   hone_garg *outputs) {
    hone_graph_func *func = r->graph;
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(onnx_as_tensor(r, &outputs[i]));
        const hone_sinfo *info;
        HONE_TRY(
            hone_status_annotate(onnx_info(r, &outputs[i], &info), "output %u of its graph", i));
        bool is_made = outputs[i].kind == HONE_GARG_VALUE;
        if (is_made && outputs[i].u.value >= func->param_count)
            func->values[outputs[i].u.value].is_output = true;
    }
    func->result = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count, .u.items = outputs};
    if (count == 1 && !f->gives_tuple) func->result = outputs[0];
    func->result_sinfo = hone_garg_sinfo(r->module, func, &func->result, r->arena);
    end_blocks(func);
    HONE_TRY(hone_module_fresh_name(r->module, f->stem, &func->name));
    func->is_private = true;
    return hone_module_add_graph(r->module, func);
}

static hone_status fill_function(onnx_reader *r, onnx_scope *around, onnx_function *f) {
    hone_garg *leads = hone_arena_zalloc(r->arena, (f->lead_count + 1) * sizeof *leads);
    hone_garg *outputs = NULL;
    uint32_t count = 0;
    if (!leads) return no_memory();
    for (uint32_t i = 0; i < f->lead_count; i++)
        leads[i] = HONE_GARG_OF_VALUE(i);
    HONE_TRY(define_captured(r, around, f));
    HONE_TRY(f->read(r, f->ctx, leads, &outputs, &count));
    return finish_function(r, f, count, outputs);
}

hone_status onnx_make_function(onnx_reader *r, onnx_function *f, const char **out_name) {
    onnx_scope scope = {0}, *around_scope = r->scope;
    hone_graph_func *around = r->graph, *func = hone_graph_func_create(r->arena, f->stem);
    if (!func) return no_memory();
    HONE_TRY(add_params(around, func, f));
    struct onnx_found *found = r->found; /* of the function around */
    struct onnx_items *items = r->items;
    const uint32_t counts[] = {r->found_count, r->found_capacity, r->items_count,
                               r->items_capacity};
    const bool had_found = r->has_found_around;
    r->has_found_around |= r->found_count > 0;
    r->found = NULL;
    r->items = NULL;
    r->found_count = r->found_capacity = r->items_count = r->items_capacity = 0;
    r->graph = func;
    r->scope = &scope;
    hone_status st = fill_function(r, around_scope, f);
    r->graph = around;
    r->scope = around_scope;
    r->found = found;
    r->items = items;
    r->has_found_around = had_found;
    r->found_count = counts[0], r->found_capacity = counts[1];
    r->items_count = counts[2], r->items_capacity = counts[3];
    onnx_scope_deinit(&scope);
    *out_name = func->name;
    return st;
}
