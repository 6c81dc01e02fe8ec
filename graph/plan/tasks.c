/* graph/plan/tasks.c - collects the kernels of a module, each once, with how often it is called. */
#include "graph/plan/tasks.h"

#include <string.h>

#include "graph/passes/specialize.h"
#include "graph/plan/reuse.h"
#include "ir/core/grow.h"
#include "ir/identity/structural.h"
#include "support/data/map.h"
#include "support/text/nearest.h"

enum { ARENA_BYTES = 8192, MAX_TURNS = 1 << 20, MAX_DEPTH = 6 };

typedef struct extractor {
    hone_task_list *list;
    hone_map128 known;    /* hash → index of the task */
    hone_map128 symbolic; /* kernels that were skipped */
    hone_strmap names;
    uint32_t capacity;
} extractor;

/* The kernel's name; with a number when another task has it. */
static hone_status unique_name(extractor *x, const char *name, const char **out) {
    *out = hone_arena_strdup(x->list->arena, name);
    for (uint32_t i = 1; *out && hone_strmap_find(&x->names, *out, NULL); i++) {
        *out = hone_arena_printf(x->list->arena, "%s_%u", name, i);
    }
    return *out && hone_strmap_put(&x->names, *out, 1) ? HONE_OK : HONE_NO_MEMORY("tasks");
}

static hone_status new_task(extractor *x, const hone_func *func, hone_hash128 hash,
                            uint64_t constants, uint32_t times, uint32_t variant) {
    hone_task_list *list = x->list;
    if (!hone_grow(list->arena, (void **)&list->items, &x->capacity, list->count,
                   sizeof *list->items) ||
        !hone_map128_put(&x->known, hash, list->count)) {
        return HONE_NO_MEMORY("tasks");
    }
    hone_task *task = &list->items[list->count];
    memset(task, 0, sizeof *task);
    HONE_TRY(unique_name(x, func->name, &task->name));
    task->func = func;
    task->hash = hash;
    task->constants = constants;
    task->weight = times;
    task->variant = variant;
    task->flops = hone_func_flops(func, NULL);
    task->bytes = hone_func_param_bytes(func);
    task->distances =
        hone_arena_zalloc(list->arena, (func->param_count + 1) * sizeof *task->distances);
    if (!task->distances) return HONE_NO_MEMORY("tasks");
    list->count++;
    return HONE_OK;
}

static bool has_scalars(const hone_func *func) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) return true;
    }
    return false;
}

/* One call of a kernel. */
static hone_status count_call(extractor *x, const hone_func *func, uint64_t constants,
                              uint32_t times, uint32_t variant) {
    hone_hash128 hash = hone_func_hash(func);
    if (hone_func_is_symbolic(func) || has_scalars(func)) {
        if (hone_map128_find(&x->symbolic, hash, NULL)) return HONE_OK;
        x->list->skipped++;
        return hone_map128_put(&x->symbolic, hash, 1) ? HONE_OK : HONE_NO_MEMORY("tasks");
    }
    uint64_t known;
    if (hone_map128_find(&x->known, hash, &known)) {
        x->list->items[known].weight += times;
        x->list->items[known].constants &= constants;
        return HONE_OK;
    }
    return new_task(x, func, hash, constants, times, variant);
}

static uint64_t constants_of(const hone_gbind *call) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < call->arg_count && i < 64; i++) {
        if (call->args[i].kind == HONE_GARG_CONSTANT) bits |= UINT64_C(1) << i;
    }
    return bits;
}

/* How often one call of a graph function runs what it names in this argument. */
static uint32_t turns_of(const hone_gbind *bind) {
    bool is_loop = bind->kind == HONE_GBIND_CALL && strcmp(bind->callee, "loop") == 0;
    const hone_garg *limit = is_loop ? &bind->args[HONE_LOOP_LIMIT] : NULL;
    bool is_known = limit && limit->kind == HONE_GARG_PRIM && hone_expr_is_int(limit->u.expr);
    int64_t turns = is_known ? limit->u.expr->u.i : 1;
    return turns < 1 || turns > MAX_TURNS ? 1 : (uint32_t)turns;
}

/* How often a function runs in a run of those that none calls; branches count as if all ran. */
static uint32_t times_of(const hone_module *module, const char *name, uint32_t depth) {
    uint64_t times = 0;
    bool is_called = false;
    for (uint32_t m = 0; m < module->member_count && depth < MAX_DEPTH; m++) {
        const hone_graph_func *graph = module->members[m].graph;
        for (uint32_t i = 0; graph && i < graph->bind_count; i++) {
            const hone_gbind *bind = &graph->bindings[i];
            bool is_here = bind->kind == HONE_GBIND_CALL_FUNC && strcmp(bind->callee, name) == 0;
            for (uint32_t a = 0; a < bind->arg_count; a++)
                is_here |=
                    bind->args[a].kind == HONE_GARG_GLOBAL && strcmp(bind->args[a].u.s, name) == 0;
            if (!is_here) continue;
            is_called = true;
            times += (uint64_t)turns_of(bind) * times_of(module, graph->name, depth + 1);
        }
    }
    if (!is_called) return 1;
    return times > MAX_TURNS ? MAX_TURNS : (uint32_t)times;
}

static hone_status extract_graph(extractor *x, const hone_module *module,
                                 const hone_graph_func *graph, uint32_t variant) {
    uint32_t times = times_of(module, graph->name, 0);
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        if (bind->kind != HONE_GBIND_CALL_TIR) continue;
        const hone_member *member = hone_module_find(module, bind->callee);
        if (!member || member->kind != HONE_MEMBER_FUNC) {
            return HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is called but not defined", bind->callee);
        }
        HONE_TRY(count_call(x, member->func, constants_of(bind), times, variant));
    }
    return HONE_OK;
}

static int64_t constant_bytes(const hone_module *module) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < module->constant_count; i++) {
        if (module->constants[i]) bytes += (int64_t)hone_tensor_bytes(module->constants[i]);
    }
    return bytes;
}

/* ---- what a run touches ---- */

typedef struct distance_sums {
    int64_t *sums; /* of a task's parameters */
    uint32_t calls;
} distance_sums;

static hone_status add_call(extractor *x, const hone_plan_step *step, const int64_t *distances,
                            distance_sums *sums) {
    uint64_t task;
    if (!hone_map128_find(&x->known, hone_func_hash(step->func), &task)) return HONE_OK;
    distance_sums *s = &sums[task];
    uint32_t count = x->list->items[task].func->param_count;
    if (!s->sums) s->sums = hone_arena_zalloc(x->list->arena, (count + 1) * sizeof *s->sums);
    if (!s->sums) return HONE_NO_MEMORY("tasks");
    for (uint32_t i = 0; i < step->arg_count && i < count; i++)
        s->sums[i] += distances[i];
    s->calls++;
    return HONE_OK;
}

/* The means of all calls; tasks that a module does not call keep what others say. */
static hone_status note_distances(extractor *x, const hone_plan *plan) {
    hone_task_list *list = x->list;
    const int64_t *const *distances;
    distance_sums *sums = hone_arena_zalloc(list->arena, (list->count + 1) * sizeof *sums);
    if (!sums) return HONE_NO_MEMORY("tasks");
    HONE_TRY(hone_plan_reuse(plan, list->arena, &distances));
    for (uint32_t i = 0; i < plan->step_count; i++)
        if (distances[i]) HONE_TRY(add_call(x, &plan->steps[i], distances[i], sums));
    for (uint32_t t = 0; t < list->count; t++) {
        for (uint32_t i = 0; sums[t].calls && i < list->items[t].func->param_count; i++)
            list->items[t].distances[i] = sums[t].sums[i] / sums[t].calls;
    }
    return HONE_OK;
}

/* What there is no plan of has no workspace that anybody knows; its weights are all there is. */
static void note_without_plan(hone_task_list *list, int64_t bytes) {
    for (uint32_t t = 0; t < list->count; t++) {
        for (uint32_t i = 0; i < list->items[t].func->param_count && i < 64; i++) {
            bool is_weight = list->items[t].constants >> i & 1;
            if (is_weight && !list->items[t].distances[i]) list->items[t].distances[i] = bytes;
        }
    }
}

/* The distances of the largest module count. */
static hone_status note_footprint(extractor *x, hone_module *module) {
    hone_task_list *list = x->list;
    if (!hone_module_has_graph(module)) return HONE_OK;
    hone_plan *plan = NULL;
    hone_status st = hone_plan_create(module, NULL, HONE_PLAN_ALIGN, &plan);
    int64_t bytes = st ? 0 : hone_expr_const(plan->workspace_bytes[0]);
    hone_status_free(st);
    bytes = constant_bytes(module) + (bytes > 0 ? bytes : 0);
    st = HONE_OK;
    bool is_largest = bytes > list->footprint_bytes;
    if (is_largest) list->footprint_bytes = bytes;
    if (is_largest && plan) st = note_distances(x, plan);
    if (is_largest && !plan) note_without_plan(list, bytes);
    hone_plan_destroy(plan);
    return st;
}

static hone_status extract_module(extractor *x, const hone_module *module, uint32_t variant) {
    bool has_graph = false;
    for (uint32_t i = 0; i < module->member_count; i++) {
        if (module->members[i].kind != HONE_MEMBER_GRAPH) continue;
        has_graph = true;
        HONE_TRY(extract_graph(x, module, module->members[i].graph, variant));
    }
    for (uint32_t i = 0; !has_graph && i < module->member_count; i++) {
        if (module->members[i].kind != HONE_MEMBER_FUNC) continue;
        HONE_TRY(count_call(x, module->members[i].func, 0, 1, variant));
    }
    return HONE_OK;
}

hone_status hone_tasks_extract(hone_module *const *modules, size_t module_count,
                               hone_task_list *out_list) {
    memset(out_list, 0, sizeof *out_list);
    out_list->arena = hone_arena_create(ARENA_BYTES);
    if (!out_list->arena) return HONE_NO_MEMORY("tasks");
    out_list->modules =
        hone_arena_zalloc(out_list->arena, (module_count + 1) * sizeof *out_list->modules);
    if (!out_list->modules) return HONE_NO_MEMORY("tasks");
    for (size_t i = 0; i < module_count; i++) {
        assert(modules[i]->is_frozen);
        out_list->modules[out_list->module_count++] = hone_module_retain(modules[i]);
    }
    extractor x = {.list = out_list};
    hone_status st = HONE_OK;
    for (size_t i = 0; !st && i < module_count; i++) {
        st = extract_module(&x, modules[i], (uint32_t)i);
        if (!st) st = note_footprint(&x, modules[i]);
    }
    hone_map128_deinit(&x.known);
    hone_map128_deinit(&x.symbolic);
    hone_strmap_deinit(&x.names);
    return st;
}

hone_status hone_task_list_check_name(const hone_task_list *list, const char *name) {
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return HONE_OK;
    const char *meant = hone_name_suggest(name, list->items, list->count, sizeof *list->items);
    if (!meant) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "no task is named '%s'; `hone tasks` lists them",
                          name);
    }
    return HONE_ERROR(HONE_CODE_NOT_FOUND, "no task is named '%s'; did you mean '%s'?", name,
                      meant);
}

void hone_task_list_deinit(hone_task_list *list) {
    for (uint32_t i = 0; i < list->module_count; i++)
        hone_module_release(list->modules[i]);
    hone_arena_destroy(list->arena);
    memset(list, 0, sizeof *list);
}
