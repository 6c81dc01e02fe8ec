/* graph/passes/choose.c - computes both branches of an if, and takes the elements of the right one:
 *   y = if c: then(x) else: else(x)   ⇒   a = then(x); b = else(x); y = where(c, a, b)
 * where neither can fail nor takes long: divisions of integers and lookups stay behind their
 * condition, and so do products, reductions and calls of anything but operators. Both must make a
 * tensor of one type and shape. Others are steps of the plan (plan/plan_flow.c).
 * needs: nothing
 * keeps: everything else; link_calls puts the branches in
 */
#include <string.h>

#include "graph/module/rewrite.h"
#include "graph/passes/graph_passes.h"
#include "ir/ops/graph_infer.h"

enum { MAX_DEPTH = 8 }; /* of branches and calls in branches; deeper, or recursive: stays */

/* ---- what cannot fail ---- */

static bool is_total(const hone_module *module, const char *name, int depth);

static bool is_total_operator(const hone_module *module, const hone_graph_func *graph,
                              const hone_gbind *bind) {
    static const char *const divisions[] = {"divide", "floor_divide", "mod", "fmod"};
    static const char *const lookups[] = {"take", "gather_elements", "gather_nd",
                                          "scatter_elements", "scatter_nd"};
    const hone_graph_op *op = hone_graph_op_find(bind->callee);
    if (!op || op->pattern > HONE_PATTERN_INJECTIVE) return false;
    for (size_t i = 0; i < HONE_COUNT(lookups); i++) {
        if (strcmp(lookups[i], bind->callee) == 0) return false;
    }
    for (size_t i = 0; i < HONE_COUNT(divisions); i++) {
        if (strcmp(divisions[i], bind->callee) != 0) continue;
        const hone_sinfo *info = hone_garg_sinfo(module, graph, &bind->args[0], graph->arena);
        return info && info->kind == HONE_SINFO_TENSOR && hone_dtype_is_float(info->dtype);
    }
    return true;
}

static bool is_total_bind(const hone_module *module, const hone_graph_func *graph,
                          const hone_gbind *bind, int depth) {
    switch (bind->kind) {
    case HONE_GBIND_ARG:
    case HONE_GBIND_TUPLE_GET:
        return true;
    case HONE_GBIND_CALL:
        return is_total_operator(module, graph, bind);
    case HONE_GBIND_CALL_FUNC:
        return is_total(module, bind->callee, depth + 1);
    case HONE_GBIND_IF:
        return is_total(module, bind->args[HONE_GBIND_IF_THEN].u.s, depth + 1) &&
               is_total(module, bind->args[HONE_GBIND_IF_ELSE].u.s, depth + 1);
    default:
        return false;
    }
}

static bool is_total(const hone_module *module, const char *name, int depth) {
    const hone_member *member = hone_module_find(module, name);
    if (depth > MAX_DEPTH || !member || member->kind != HONE_MEMBER_GRAPH) return false;
    for (uint32_t i = 0; i < member->graph->bind_count; i++) {
        if (!is_total_bind(module, member->graph, &member->graph->bindings[i], depth)) return false;
    }
    return true;
}

/* ---- the choice ---- */

static hone_gbind call_of_branch(const hone_gbind *bind, uint32_t which) {
    return (hone_gbind){.kind = HONE_GBIND_CALL_FUNC,
                        .callee = bind->args[which].u.s,
                        .arg_count = bind->arg_count - HONE_GBIND_IF_ARGS,
                        .args = bind->args + HONE_GBIND_IF_ARGS,
                        .line = bind->line,
                        .column = bind->column};
}

static bool is_known_tensor(const hone_sinfo *info) {
    return info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 &&
           (info->shape || info->rank == 0) && !hone_dtype_is_void(info->dtype);
}

static bool is_same_tensor(const hone_sinfo *a, const hone_sinfo *b) {
    if (!is_known_tensor(a) || !is_known_tensor(b)) return false;
    if (a->rank != b->rank || !hone_dtype_equal(a->dtype, b->dtype)) return false;
    for (int32_t d = 0; d < a->rank; d++) {
        if (!hone_extent_same(a->shape[d], b->shape[d])) return false;
    }
    return true;
}

static hone_status call_branch(hone_rewrite *rw, const hone_gbind *old, const hone_sinfo *info,
                               hone_garg *out) {
    const hone_garg *args;
    HONE_TRY(hone_rewrite_args(rw, old, &args));
    hone_gvalue value = hone_graph_add_value(rw->now, "lv", info);
    hone_gbind *made =
        value == HONE_NO_ID ? NULL : hone_graph_add_bind(rw->now, HONE_GBIND_CALL_FUNC, value);
    if (!made) return HONE_ERROR(HONE_CODE_NO_MEMORY, "branch");
    *made = *old;
    made->value = value;
    made->args = args;
    *out = HONE_GARG_OF_VALUE(value);
    return HONE_OK;
}

static hone_status choose(hone_rewrite *rw, const hone_gbind *bind, bool *out_done) {
    if (bind->kind != HONE_GBIND_IF || !is_total_bind(rw->module, rw->old, bind, 0)) return HONE_OK;
    hone_arena *arena = rw->module->arena;
    const hone_gbind then = call_of_branch(bind, HONE_GBIND_IF_THEN);
    const hone_gbind otherwise = call_of_branch(bind, HONE_GBIND_IF_ELSE);
    const hone_sinfo *then_info, *else_info;
    HONE_TRY(hone_graph_infer_bind(rw->module, rw->old, &then, arena, &then_info));
    HONE_TRY(hone_graph_infer_bind(rw->module, rw->old, &otherwise, arena, &else_info));
    if (!is_same_tensor(then_info, else_info)) return HONE_OK;
    hone_garg args[3], out;
    HONE_TRY(hone_rewrite_arg(rw, &bind->args[0], &args[0]));
    const hone_sinfo *condition = hone_rewrite_info(rw, &args[0]);
    if (!condition || condition->kind != HONE_SINFO_TENSOR) return HONE_OK;
    HONE_TRY(call_branch(rw, &then, then_info, &args[1]));
    HONE_TRY(call_branch(rw, &otherwise, else_info, &args[2]));
    HONE_TRY(hone_rewrite_call(rw, "where", 3, args, (hone_attrs){0}, &out));
    hone_rewrite_set(rw, bind->value, out);
    *out_done = true;
    return HONE_OK;
}

hone_status hone_pass_choose(hone_module *module, const hone_graph_options *options) {
    (void)options;
    for (uint32_t i = 0; i < module->member_count; i++) {
        const hone_graph_func *graph = module->members[i].graph;
        bool has_if = false;
        for (uint32_t b = 0; graph && b < graph->bind_count; b++)
            has_if |= graph->bindings[b].kind == HONE_GBIND_IF;
        if (has_if) HONE_TRY(hone_rewrite_member(module, i, choose, NULL));
    }
    return HONE_OK;
}
