/* graph/plan/plan_sizes.c - where the symbolic sizes of a plan come from: dimensions of inputs, and
 * elements of tensors that R.match_cast gives names. */
#include <string.h>

#include "graph/plan/plan_impl.h"
#include "ir/arith/arith.h"
#include "ir/ops/graph_infer.h"

/* ---- phases ---- */

typedef struct phase_walk {
    const hone_plan *plan;
    uint32_t phase;
} phase_walk;

static bool note_phase(void *ctx, const hone_expr *e) {
    phase_walk *walk = ctx;
    if (e->kind == HONE_EXPR_VAR && e->u.var < walk->plan->var_count) {
        uint32_t phase = walk->plan->vars[e->u.var].phase;
        if (phase > walk->phase) walk->phase = phase;
    }
    return true;
}

uint32_t hone_plan_phase_of(const hone_plan *plan, const hone_expr *e) {
    phase_walk walk = {plan, 0};
    hone_expr_walk(e, note_phase, &walk);
    return walk.phase;
}

hone_status hone_plan_most(const hone_plan *plan, const hone_expr *e, int64_t *out_most) {
    hone_arith arith;
    hone_arith_init(&arith, plan->arena);
    *out_most = -1;
    for (uint32_t v = 0; v < plan->var_count; v++) {
        int64_t most = plan->vars[v].most;
        int64_t least = plan->vars[v].phase == 0;
        if (!hone_arith_bind_const(&arith, v, least, most < 0 ? HONE_BOUND_POS_INF : most)) {
            return HONE_NO_MEMORY("memory plan");
        }
    }
    hone_bound bound = hone_arith_bound(&arith, e);
    HONE_TRY(hone_ir_finish(&arith.ir));
    if (bound.max != HONE_BOUND_POS_INF && bound.max >= 0) *out_most = bound.max;
    return HONE_OK;
}

/* ---- vars ---- */

static void find_dimension(const hone_plan *plan, const hone_plan_tensor *tensors, uint32_t v,
                           hone_plan_var *out) {
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const hone_plan_tensor *tensor = &tensors[plan->inputs[i].tensor];
        for (uint32_t d = 0; d < tensor->rank; d++) {
            if (tensor->shape[d]->kind != HONE_EXPR_VAR || tensor->shape[d]->u.var != v) continue;
            out->input = i;
            out->dim = d;
            return;
        }
    }
}

/* Relax's "tir_var_upper_bound". */
static int64_t greatest(const hone_graph_func *graph, const char *name) {
    const hone_value *bounds = hone_attrs_find(&graph->attrs, "tir_var_upper_bound");
    if (!bounds || bounds->kind != HONE_VALUE_MAP) return -1;
    hone_attrs map = {bounds->count, bounds->u.attrs};
    return hone_attrs_int(&map, name, -1);
}

hone_status plan_vars_begin(hone_plan *plan, const hone_graph_func *graph,
                            const hone_plan_tensor *tensors, hone_plan_var **out_vars) {
    hone_plan_var *vars =
        hone_arena_zalloc(plan->arena, ((size_t)graph->var_count + 1) * sizeof *vars);
    if (!vars) return HONE_NO_MEMORY("memory plan");
    for (uint32_t v = 0; v < graph->var_count; v++) {
        vars[v] = (hone_plan_var){
            .name = graph->vars[v].name, .input = HONE_NO_ID, .tensor = HONE_NO_ID, .most = -1};
        find_dimension(plan, tensors, v, &vars[v]);
    }
    plan->vars = *out_vars = vars;
    plan->var_count = graph->var_count;
    plan->phase_count = 1;
    return HONE_OK;
}

hone_status plan_vars_reserve(hone_plan *plan, uint32_t more, uint32_t *io_capacity,
                              hone_plan_var **io_vars) {
    if (plan->var_count + more <= *io_capacity) return HONE_OK;
    uint32_t room = 2 * plan->var_count + more;
    hone_plan_var *vars = hone_arena_zalloc(plan->arena, room * sizeof *vars);
    if (!vars) return HONE_NO_MEMORY("memory plan");
    memcpy(vars, *io_vars, plan->var_count * sizeof *vars);
    *io_capacity = room;
    plan->vars = *io_vars = vars;
    return HONE_OK;
}

/* ---- elements ---- */

/* Element `dim` of the tensor gets the name, if it has none yet, or must be what is written. */
static hone_status bind_element(plan_checks *checks, hone_plan_var *vars, hone_plan_var element,
                                const char *place, const hone_expr *want) {
    hone_plan *plan = checks->plan;
    hone_ir ir = {.arena = checks->arena};
    uint32_t v = plan->var_count;
    bool is_name = want->kind == HONE_EXPR_VAR && vars[want->u.var].input == HONE_NO_ID &&
                   vars[want->u.var].tensor == HONE_NO_ID;
    if (is_name) v = want->u.var;
    element.name =
        is_name ? vars[v].name : hone_arena_printf(checks->arena, "dimension_%u", element.dim);
    element.most = is_name ? greatest(checks->graph, element.name) : -1;
    if (!element.name) return HONE_NO_MEMORY("memory plan");
    vars[v] = element;
    plan->var_count += !is_name;
    const char *what = hone_arena_printf(checks->arena, "size '%s'", element.name);
    const hone_expr *got = hone_expr_var(&ir, HONE_DTYPE_I64, v);
    const hone_expr *none = hone_extent_int(&ir, 0);
    if (!what || !got || !none) return HONE_NO_MEMORY("memory plan");
    hone_plan_check least = {HONE_PLAN_AT_LEAST, place, what, got, none, 0, 0};
    HONE_TRY(plan_check_add(checks, &least));
    if (element.most >= 0) {
        hone_plan_check most = {HONE_PLAN_AT_MOST, place, what, got, NULL, 0, 0};
        most.wanted = hone_extent_int(&ir, element.most);
        HONE_TRY(hone_ir_finish(&ir));
        return plan_check_add(checks, &most);
    }
    hone_plan_check same = {HONE_PLAN_SAME, place, what, got, want, 0, 0};
    return is_name ? HONE_OK : plan_check_that(checks, &same);
}

hone_status plan_bind_sizes(plan_checks *checks, hone_plan_var *vars, const char *name,
                            const hone_sinfo *shape, uint32_t tensor, uint32_t *out_phase) {
    hone_plan *plan = checks->plan;
    *out_phase = 0;
    if (shape->rank <= 0 || !shape->shape) return HONE_OK;
    *out_phase = plan->phase_count++;
    for (int32_t d = 0; d < shape->rank; d++) {
        hone_plan_var element = {.input = HONE_NO_ID,
                                 .dim = (uint32_t)d,
                                 .tensor = tensor,
                                 .phase = *out_phase,
                                 .most = -1};
        HONE_TRY(bind_element(checks, vars, element, name, shape->shape[d]));
    }
    return HONE_OK;
}
