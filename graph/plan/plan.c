/* graph/plan/plan.c - see plan.h: ports, steps, memory, one after the other. */
#include "graph/plan/plan.h"

#include <assert.h>
#include <string.h>

#include "graph/plan/plan_impl.h"
#include "ir/ops/graph_infer.h"
#include "support/core/alloc.h"

enum { ARENA_BYTES = 16384 };

static hone_status place_storages(planner *p) {
    hone_plan *plan = p->plan;
    const hone_expr **bytes =
        hone_arena_zalloc(p->ir.arena, (plan->phase_count + 1) * sizeof *bytes);
    if (!bytes) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < plan->phase_count; i++) {
        HONE_TRY(plan_place(&p->ir, i, p->align, p->storages, p->storage_count, &bytes[i],
                            &plan->unplanned_bytes));
    }
    if (plan->phase_count > 1) plan->unplanned_bytes = -1;
    plan->workspace_bytes = bytes;
    return HONE_OK;
}

static void place_tensors(planner *p) {
    for (uint32_t i = 0; i < p->tensor_count; i++) {
        if (p->storage_of[i] == HONE_NO_ID) continue;
        const plan_storage *storage = &p->storages[p->storage_of[i]];
        p->tensors[i].place = storage->place;
        p->tensors[i].index =
            storage->place == HONE_PLAN_WORKSPACE ? storage->phase : storage->index;
        p->tensors[i].offset = storage->offset;
        if (p->begins[i])
            p->tensors[i].offset = hone_extent_add(&p->ir, storage->offset, p->begins[i]);
    }
}

static hone_status plan_graph(planner *p) {
    const hone_graph_func *graph = p->graph;
    hone_plan *plan = p->plan;
    uint32_t constants = plan->module->constant_count;
    p->values = hone_arena_zalloc(p->ir.arena, (graph->value_count + 1) * sizeof *p->values);
    p->constants = hone_arena_alloc(p->ir.arena, (constants + 1) * sizeof *p->constants);
    if (!p->values || !p->constants) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < constants; i++)
        p->constants[i] = HONE_NO_ID;
    HONE_TRY(plan_inputs(p));
    HONE_TRY(plan_vars_begin(plan, graph, p->tensors, &p->vars));
    HONE_TRY(plan_bindings(p));
    HONE_TRY(plan_outputs(p));
    HONE_TRY(plan_check_vars(p));
    HONE_TRY(place_storages(p));
    place_tensors(p);
    plan->tensors = p->tensors;
    plan->tensor_count = p->tensor_count;
    plan->steps = p->steps;
    plan->step_count = p->step_count;
    plan->checks = p->checks.items;
    plan->check_count = p->checks.count;
    return HONE_OK;
}

hone_status hone_plan_create(hone_module *module, const char *name, int64_t align,
                             hone_plan **out_plan) {
    *out_plan = NULL;
    assert(align > 0 && align % HONE_PLAN_ALIGN == 0);
    const hone_member *member;
    HONE_TRY(hone_module_pick(module, name, &member));
    if (member->kind != HONE_MEMBER_GRAPH) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' is no graph function", member->name);
    }
    hone_plan *plan = hone_calloc(1, sizeof *plan);
    if (!plan) return HONE_NO_MEMORY("memory plan");
    plan->module = hone_module_retain(module);
    plan->arena = hone_arena_create(ARENA_BYTES);
    hone_status st = HONE_OK;
    if (!plan->arena) {
        st = HONE_NO_MEMORY("memory plan");
    } else {
        planner p = {
            .plan = plan, .align = align, .graph = member->graph, .ir = {.arena = plan->arena}};
        p.checks = (plan_checks){.arena = plan->arena, .plan = plan, .graph = member->graph};
        plan->name = hone_arena_strdup(plan->arena, member->name);
        st = plan->name ? plan_graph(&p) : HONE_NO_MEMORY("memory plan");
        st = hone_status_join(st, hone_ir_finish(&p.ir));
    }
    if (st)
        hone_plan_destroy(plan);
    else
        *out_plan = plan;
    return st;
}

void hone_plan_destroy(hone_plan *plan) {
    if (!plan) return;
    if (plan->arena) hone_arena_destroy(plan->arena);
    hone_module_release(plan->module);
    hone_free(plan);
}
