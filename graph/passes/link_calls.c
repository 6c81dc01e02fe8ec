/* graph/passes/link_calls.c - finds out who is called, so that later passes see one function with
 * calls of programs:
 *   call_dps_packed of a name that is a PrimFunc of the module → call_tir of it
 *   a call of another graph function                          → what that function does
 *   bindings without effect that nobody uses                  → nothing
 * A graph function stays a call when it has sizes that its caller does not know, or calls itself on
 * the way.
 * What was in a function with the attribute Primitive keeps the mark of one kernel (fusion/fuse.c).
 * Private functions that were called go away; others stay, for callers outside.
 * needs: nothing
 * keeps: names, order
 */
#include "graph/module/module_parts.h"
#include "graph/module/unused.h"
#include "graph/passes/graph_passes.h"
#include "ir/core/module.h"
#include "ir/ops/graph_infer.h"

enum { MAX_DEPTH = 64 };

/* ---- names ---- */

static void link_names(const hone_module *module, hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        hone_gbind *bind = &graph->bindings[i];
        if (bind->kind != HONE_GBIND_CALL_DPS) continue;
        const hone_func *program = hone_module_find_program(module, bind->callee);
        if (!program) continue;
        bind->kind = HONE_GBIND_CALL_TIR;
        bind->callee = program->name;
    }
}

/* ---- calls of graph functions ---- */

static const hone_graph_func *callee_of(const hone_module *module, const hone_gbind *bind) {
    if (bind->kind != HONE_GBIND_CALL_FUNC) return NULL;
    const hone_member *member = hone_module_find(module, bind->callee);
    return member && member->kind == HONE_MEMBER_GRAPH ? member->graph : NULL;
}

static bool calls_others(const hone_module *module, const hone_graph_func *graph) {
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        if (bind->kind == HONE_GBIND_IF || callee_of(module, bind)) return true;
    }
    return false;
}

/* Of the same shape, as far as anything is known of it. */
static bool is_same_shape(hone_arena *arena, const hone_sinfo *a, const hone_sinfo *b) {
    if (!a || !b || a->kind != b->kind || a->field_count != b->field_count) return false;
    for (uint32_t i = 0; i < a->field_count; i++) {
        if (!is_same_shape(arena, a->fields[i], b->fields[i])) return false;
    }
    if (a->rank != b->rank || !a->shape != !b->shape) return false;
    for (int32_t d = 0; a->shape && d < a->rank; d++) {
        if (!hone_extent_equals(arena, a->shape[d], b->shape[d])) return false;
    }
    return true;
}

/* A call that is to be put in. */
typedef struct inlining {
    const hone_gbind *call;
    const hone_graph_func *from;
    hone_garg *map;          /* by value of the callee */
    const hone_expr **sizes; /* by symbolic size of the callee */
    uint32_t kernel;         /* that all of it is; or what numbers of kernels in it count from */
    bool is_kernel;
    hone_ir ir; /* in the caller's arena */
} inlining;

/* The callee's sizes in terms of the caller's: all of them, by parameters that have just the shapes
 * of what they are called with. */
static hone_status find_sizes(const hone_module *module, const hone_graph_func *to, inlining *in,
                              bool *out_found) {
    const hone_graph_func *from = in->from;
    in->ir = (hone_ir){.arena = to->arena};
    in->sizes = hone_arena_zalloc(to->arena, ((size_t)from->var_count + 1) * sizeof *in->sizes);
    if (!in->sizes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    *out_found = true;
    for (uint32_t i = 0; from->var_count && i < from->param_count; i++) {
        const hone_sinfo *arg = hone_garg_sinfo(module, to, &in->call->args[i], to->arena);
        hone_sinfo_bind_sizes(from->values[i].sinfo, arg, in->sizes);
    }
    for (uint32_t i = 0; from->var_count && i < from->param_count; i++) {
        const hone_sinfo *arg = hone_garg_sinfo(module, to, &in->call->args[i], to->arena);
        const hone_sinfo *param =
            hone_sinfo_in_terms_of(&in->ir, from->values[i].sinfo, in->sizes, from->var_count);
        *out_found &= is_same_shape(to->arena, param, arg);
    }
    for (uint32_t v = 0; v < from->var_count; v++)
        *out_found &= in->sizes[v] != NULL;
    return hone_ir_finish(&in->ir);
}

/* Is it the call of a leaf, without calls that would have to be put in first? */
static hone_status open_call(const hone_module *module, const hone_graph_func *to,
                             const hone_gbind *call, inlining *out, bool *out_can) {
    *out = (inlining){.call = call, .from = callee_of(module, call)};
    *out_can =
        out->from && out->from->param_count == call->arg_count && !calls_others(module, out->from);
    return *out_can ? find_sizes(module, to, out, out_can) : HONE_OK;
}

/* ---- in terms of the caller ---- */

static hone_status translate_exprs(inlining *in, uint32_t count,
                                   const hone_expr *const **io_exprs) {
    const hone_expr **copy = hone_arena_alloc(in->ir.arena, ((size_t)count + 1) * sizeof *copy);
    if (!copy) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = hone_expr_substitute(&in->ir, (*io_exprs)[i], in->sizes, in->from->var_count);
    }
    *io_exprs = copy;
    return hone_ir_finish(&in->ir);
}

static hone_status translate(inlining *in, hone_garg arg, hone_garg *out) {
    *out = arg;
    if (arg.kind == HONE_GARG_VALUE) {
        *out = in->map[arg.u.value];
    } else if (arg.kind == HONE_GARG_SHAPE) {
        return translate_exprs(in, arg.count, &out->u.exprs);
    } else if (arg.kind == HONE_GARG_PRIM) {
        out->u.expr = hone_expr_substitute(&in->ir, arg.u.expr, in->sizes, in->from->var_count);
        return hone_ir_finish(&in->ir);
    } else if (arg.kind == HONE_GARG_TUPLE) {
        hone_garg *items = hone_arena_zalloc(in->ir.arena, (arg.count + 1) * sizeof *items);
        if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
        for (uint32_t i = 0; i < arg.count; i++)
            HONE_TRY(translate(in, arg.u.items[i], &items[i]));
        out->u.items = items;
    }
    return HONE_OK;
}

/* Extents among what an operator is told. */
static hone_status translate_attrs(inlining *in, hone_attrs *attrs) {
    for (uint32_t i = 0; i < attrs->count; i++) {
        hone_value value = attrs->items[i].value;
        if (value.kind != HONE_VALUE_EXPR) continue;
        value.u.expr = hone_expr_substitute(&in->ir, value.u.expr, in->sizes, in->from->var_count);
        HONE_TRY(hone_ir_finish(&in->ir));
        if (!hone_attrs_with(in->ir.arena, attrs, attrs->items[i].key, value, attrs)) {
            return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
        }
    }
    return HONE_OK;
}

static hone_status put_in_bind(inlining *in, hone_graph_func *to, const hone_gbind *like) {
    const hone_gvalue_info *info = &in->from->values[like->value];
    const hone_sinfo *type =
        hone_sinfo_in_terms_of(&in->ir, info->sinfo, in->sizes, in->from->var_count);
    HONE_TRY(hone_ir_finish(&in->ir));
    hone_garg *args = hone_arena_zalloc(to->arena, (like->arg_count + 1) * sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    for (uint32_t a = 0; a < like->arg_count; a++)
        HONE_TRY(translate(in, like->args[a], &args[a]));
    hone_gbind bind = *like;
    HONE_TRY(translate_exprs(in, bind.symbolic_count, &bind.symbolic));
    HONE_TRY(translate_attrs(in, &bind.attrs));
    bind.args = args;
    bind.value = hone_graph_add_value(to, info->name, type);
    if (in->is_kernel || like->kernel)
        bind.kernel = in->kernel + (in->is_kernel ? 0 : like->kernel);
    bind.in_dataflow = in->call->in_dataflow;
    bind.dataflow_block = in->call->dataflow_block;
    hone_gbind *made =
        bind.value == HONE_NO_ID ? NULL : hone_graph_add_bind(to, bind.kind, bind.value);
    if (!made) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    *made = bind;
    in->map[like->value] = HONE_GARG_OF_VALUE(bind.value);
    return HONE_OK;
}

/* The callee's bindings, then the call's own value as another name of its result. */
static hone_status put_in(inlining *in, hone_graph_func *to) {
    const hone_graph_func *from = in->from;
    const hone_gbind *call = in->call;
    in->map = hone_arena_zalloc(to->arena, (from->value_count + 1) * sizeof *in->map);
    if (!in->map) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    for (uint32_t i = 0; i < from->param_count; i++)
        in->map[i] = call->args[i];
    for (uint32_t i = 0; i < from->bind_count; i++)
        HONE_TRY(put_in_bind(in, to, &from->bindings[i]));
    hone_garg *result = hone_arena_zalloc(to->arena, sizeof *result);
    if (!result) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    HONE_TRY(translate(in, from->result, result));
    hone_gbind *alias = hone_graph_add_bind(to, HONE_GBIND_ARG, call->value);
    if (!alias) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    alias->args = result;
    alias->arg_count = 1;
    alias->in_dataflow = call->in_dataflow;
    alias->dataflow_block = call->dataflow_block;
    return HONE_OK;
}

/* Numbers for the kernels of a call, behind *io_last, the last one of the module. */
static void number_kernels(inlining *in, uint32_t *io_last) {
    uint32_t most = 0;
    in->is_kernel = hone_attrs_int(&in->from->attrs, "Primitive", 0) != 0;
    for (uint32_t i = 0; !in->is_kernel && i < in->from->bind_count; i++)
        if (in->from->bindings[i].kernel > most) most = in->from->bindings[i].kernel;
    in->kernel = in->is_kernel ? ++*io_last : *io_last;
    *io_last += most;
}

/* Which calls is decided before anything moves: a function may call itself. */
static hone_status put_in_calls(hone_module *module, hone_graph_func *graph, uint32_t *io_kernels,
                                bool *out_changed) {
    hone_gbind *old = graph->bindings;
    uint32_t count = graph->bind_count;
    inlining *calls = hone_arena_zalloc(graph->arena, ((size_t)count + 1) * sizeof *calls);
    bool *can = hone_arena_zalloc(graph->arena, (size_t)count + 1), any = false;
    if (!calls || !can) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(open_call(module, graph, &old[i], &calls[i], &can[i]));
        any |= can[i];
    }
    if (!any) return HONE_OK;
    *out_changed = true;
    graph->bindings = NULL;
    graph->bind_count = graph->bind_capacity = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (can[i]) {
            number_kernels(&calls[i], io_kernels);
            HONE_TRY(put_in(&calls[i], graph));
            continue;
        }
        hone_gbind *made = hone_graph_add_bind(graph, old[i].kind, old[i].value);
        if (!made) return HONE_ERROR(HONE_CODE_NO_MEMORY, "graph");
        *made = old[i];
    }
    return HONE_OK;
}

static void drop_private(hone_module *module) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_member *member = &module->members[i];
        bool is_private = member->graph && member->graph->is_private;
        if (is_private && !hone_module_calls(module, member->name)) continue;
        module->members[count++] = *member;
    }
    hone_module_cut(module, count);
}

/* ---- the pass ---- */

hone_status hone_pass_link_calls(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        hone_graph_func *graph = module->members[i].graph;
        if (!graph) continue;
        HONE_TRY(hone_graph_drop_unused(graph, hone_gbind_has_no_effect));
        link_names(module, graph);
    }
    bool changed = true, any = false;
    uint32_t kernels = 0;
    for (int depth = 0; changed && depth < MAX_DEPTH; depth++) {
        changed = false;
        for (uint32_t i = 0; i < module->member_count; i++) {
            if (module->members[i].graph)
                HONE_TRY(put_in_calls(module, module->members[i].graph, &kernels, &changed));
        }
        any |= changed;
    }
    if (any) drop_private(module);
    return HONE_OK;
}
