/* graph/plan/plan_flow.c - branches, loops and calls of graph functions: their bodies become steps
 * of the one plan, over the one workspace.
 *
 *     unless c ──────┐             start i
 *     demand         │             copy what the states begin with
 *     steps of then  │         ┌─► next i below the limit ──┐
 *     go ─────────┐  │         │   unless c ────────────────┤
 *     demand   ◄──┼──┘         │   demand                   │
 *     steps of    │            │   steps of the body        │
 *     else        │            │   place items of scans     │
 *     ...      ◄──┘            │   copy new states          │
 *                              └── go             ...    ◄──┘
 *
 * Memory is planned by the order of steps: what both branches make is one piece, which lives from
 * the first write to the last use; what a loop finds made and touches lives until the loop ends.
 */
#include "graph/plan/plan_impl.h"
#include "ir/core/grow.h"
#include "ir/ops/graph_infer.h"

enum { MAX_DEPTH = 32 };

/* ---- steps ---- */

static hone_status add_flow(planner *p, hone_plan_step_kind kind, uint32_t count,
                            const uint32_t *args, uint32_t output_count) {
    static const char *const names[] = {
        [HONE_PLAN_COPY] = "copy",    [HONE_PLAN_UNLESS] = "unless", [HONE_PLAN_GO] = "go",
        [HONE_PLAN_START] = "start",  [HONE_PLAN_NEXT] = "next",     [HONE_PLAN_PLACE] = "place",
        [HONE_PLAN_DEMAND] = "demand"};
    hone_plan_step step = {
        .kind = kind, .callee = names[kind], .arg_count = count, .output_count = output_count};
    step.args = hone_arena_copy(p->ir.arena, args, count * sizeof *args);
    if (!step.args) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < count; i++)
        plan_touch(p, args[i]);
    return plan_add_step(p, &step);
}

static hone_status add_copy(planner *p, uint32_t from, uint32_t to) {
    const uint32_t args[] = {from, to, 0};
    return add_flow(p, HONE_PLAN_COPY, 2, args, 1);
}

static hone_status add_jump(planner *p, uint32_t *out_step) {
    const uint32_t none[] = {0};
    *out_step = p->step_count;
    return add_flow(p, HONE_PLAN_GO, 0, none, 0);
}

static hone_status add_unless(planner *p, uint32_t condition, uint32_t *out_step) {
    const uint32_t args[] = {condition, 0};
    *out_step = p->step_count;
    return add_flow(p, HONE_PLAN_UNLESS, 1, args, 0);
}

/* Whose checks those around a branch or loop are. */
typedef struct demands {
    uint32_t demand, phases_before;
} demands;

/* What the coming steps demand of sizes that are known here is demanded where the plan comes by,
 * until end_demand. */
static hone_status begin_demand(planner *p, demands *out_around) {
    const uint32_t none[] = {0};
    *out_around = (demands){p->checks.demand, p->checks.phases_before};
    p->checks.demand = ++p->checks.demand_count;
    p->checks.phases_before = p->plan->phase_count;
    HONE_TRY(add_flow(p, HONE_PLAN_DEMAND, 0, none, 0));
    p->steps[p->step_count - 1].demand = p->checks.demand;
    return HONE_OK;
}

static void end_demand(planner *p, const demands *around) {
    p->checks.demand = around->demand;
    p->checks.phases_before = around->phases_before;
}

static hone_sinfo info_of_tensor(const planner *p, uint32_t tensor) {
    const hone_plan_tensor *t = &p->tensors[tensor];
    return (hone_sinfo){HONE_SINFO_TENSOR, t->dtype, (int32_t)t->rank, 0, t->shape, NULL};
}

/* A copy in memory of its own. */
static hone_status add_twin(planner *p, uint32_t of, uint32_t *out) {
    const hone_sinfo info = info_of_tensor(p, of);
    HONE_TRY(plan_add_result(p, &info, out));
    return add_copy(p, of, *out);
}

/* ---- bodies ---- */

static hone_status find_body(const planner *p, const char *name, uint32_t param_count,
                             const hone_graph_func **out) {
    const hone_member *member = name ? hone_module_find(p->plan->module, name) : NULL;
    *out = member && member->kind == HONE_MEMBER_GRAPH ? member->graph : NULL;
    if (*out && (*out)->param_count == param_count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s' is no graph function that takes %u",
                      name ? name : "?", (unsigned)param_count);
}

static void bind_tensor(planner *p, uint32_t tensor, const hone_sinfo *param,
                        const hone_expr **sizes) {
    const hone_sinfo info = info_of_tensor(p, tensor);
    hone_sinfo_bind_sizes(param, &info, sizes);
}

static void bind_param(planner *p, const plan_value *arg, const hone_sinfo *param,
                       const hone_expr **sizes) {
    bool is_tuple = param && param->kind == HONE_SINFO_TUPLE;
    if (!arg->is_tuple) bind_tensor(p, arg->tensor, param, sizes);
    for (uint32_t i = 0; arg->is_tuple && is_tuple && i < arg->count && i < param->field_count; i++)
        bind_tensor(p, arg->items[i], param->fields[i], sizes);
}

/* A tensor that a body is called with must be as its parameter says. */
static hone_status check_param(planner *p, uint32_t i, const plan_value *arg) {
    const hone_sinfo *info;
    if (arg->is_tuple) return HONE_OK;
    HONE_TRY(plan_info(p, p->graph->values[i].sinfo, &info));
    return plan_check_extents(p, p->graph->values[i].name, arg->tensor, info);
}

/* Steps of a body that is called with these values; what it gives. */
static hone_status plan_body(planner *p, const hone_graph_func *body, const plan_value *args,
                             plan_value *out) {
    const hone_expr **sizes =
        hone_arena_zalloc(p->ir.arena, ((size_t)body->var_count + 1) * sizeof *sizes);
    plan_value *values =
        hone_arena_zalloc(p->ir.arena, ((size_t)body->value_count + 1) * sizeof *values);
    if (!sizes || !values) return HONE_NO_MEMORY("memory plan");
    if (p->depth == MAX_DEPTH) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "'%s' is called more than %d deep: it may call "
                          "itself",
                          body->name, MAX_DEPTH);
    }
    for (uint32_t i = 0; i < body->param_count; i++) {
        bind_param(p, &args[i], body->values[i].sinfo, sizes);
        values[i] = args[i];
    }
    const planner around = *p;
    p->graph = body;
    p->values = values;
    p->sizes = sizes;
    p->depth++;
    hone_status st = HONE_OK;
    for (uint32_t i = 0; i < body->param_count && !st; i++)
        st = check_param(p, i, &args[i]);
    if (!st) st = plan_bindings(p);
    if (!st) st = plan_value_of(p, &body->result, out);
    p->graph = around.graph;
    p->values = around.values;
    p->sizes = around.sizes;
    p->depth = around.depth;
    return st;
}

static hone_status values_of(planner *p, uint32_t count, const hone_garg *args, plan_value **out) {
    *out = hone_arena_zalloc(p->ir.arena, ((size_t)count + 1) * sizeof **out);
    if (!*out) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(plan_value_of(p, &args[i], &(*out)[i]));
    return HONE_OK;
}

hone_status plan_call_func(planner *p, const hone_gbind *bind) {
    const hone_graph_func *body;
    plan_value *args;
    HONE_TRY(find_body(p, bind->callee, bind->arg_count, &body));
    HONE_TRY(values_of(p, bind->arg_count, bind->args, &args));
    return plan_body(p, body, args, &p->values[bind->value]);
}

/* ---- branches ---- */

/* What a branch gives, item by item. */
static uint32_t *items_of(plan_value *value, uint32_t *out_count) {
    *out_count = value->is_tuple ? value->count : 1;
    return value->is_tuple ? value->items : &value->tensor;
}

/* Memory that was made since, for this tensor or one that it is a view of; HONE_NO_ID: another's.
 */
static uint32_t own_storage(const planner *p, uint32_t tensor, uint32_t since) {
    uint32_t storage = p->storage_of[tensor];
    return storage != HONE_NO_ID && storage >= since ? storage : HONE_NO_ID;
}

static bool is_among(const planner *p, uint32_t count, const uint32_t *items, uint32_t storage) {
    for (uint32_t i = 0; i < count; i++)
        if (p->storage_of[items[i]] == storage) return true;
    return false;
}

/* The results of the first branch, each in memory of its own. */
static hone_status take_results(planner *p, uint32_t since, plan_value *value) {
    uint32_t count, *from = items_of(value, &count);
    uint32_t *items = hone_arena_zalloc(p->ir.arena, ((size_t)count + 1) * sizeof *items);
    if (!items) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = own_storage(p, from[i], since);
        items[i] = from[i];
        bool is_taken = own == HONE_NO_ID || is_among(p, i, items, own);
        if (is_taken) HONE_TRY(add_twin(p, from[i], &items[i]));
    }
    if (value->is_tuple)
        value->items = items;
    else
        value->tensor = items[0];
    return HONE_OK;
}

/* All that lies in one piece lies in the other one. */
static void join_storages(planner *p, uint32_t from, uint32_t to) {
    plan_storage *gone = &p->storages[from], *kept = &p->storages[to];
    for (uint32_t t = 0; t < p->tensor_count; t++)
        if (p->storage_of[t] == from) p->storage_of[t] = to;
    if (gone->first < kept->first) kept->first = gone->first;
    if (gone->last > kept->last) kept->last = gone->last;
    gone->bytes = hone_extent_int(&p->ir, 0);
}

/* The results of the other branch come to lie where those of the first do. */
static hone_status give_results(planner *p, uint32_t since, plan_value *value,
                                plan_value *results) {
    uint32_t count, wanted, *items = items_of(value, &count), *to = items_of(results, &wanted);
    if (count != wanted) return HONE_ERROR(HONE_CODE_TYPE, "branches of different results");
    for (uint32_t i = 0; i < count; i++) {
        const hone_sinfo info = info_of_tensor(p, items[i]);
        HONE_TRY(plan_check_extents(p, "if", to[i], &info));
        uint32_t own = own_storage(p, items[i], since), target = p->storage_of[to[i]];
        bool is_whole =
            own != HONE_NO_ID && !p->storages[own].has_parts && !p->storages[target].has_parts;
        bool joins = is_whole && own != target && !is_among(p, i, to, own) &&
                     hone_extent_same(p->storages[own].bytes, p->storages[target].bytes);
        if (joins)
            join_storages(p, own, target);
        else if (own != target)
            HONE_TRY(add_copy(p, items[i], to[i]));
    }
    return hone_ir_finish(&p->ir);
}

hone_status plan_if(planner *p, const hone_gbind *bind) {
    uint32_t count = bind->arg_count - HONE_GBIND_IF_ARGS, unless, go;
    const hone_graph_func *then, *otherwise;
    plan_value condition, *args, *out = &p->values[bind->value], other;
    demands around;
    HONE_TRY(find_body(p, bind->args[HONE_GBIND_IF_THEN].u.s, count, &then));
    HONE_TRY(find_body(p, bind->args[HONE_GBIND_IF_ELSE].u.s, count, &otherwise));
    HONE_TRY(plan_value_of(p, &bind->args[0], &condition));
    HONE_TRY(values_of(p, count, bind->args + HONE_GBIND_IF_ARGS, &args));
    HONE_TRY(add_unless(p, condition.tensor, &unless));
    uint32_t since = p->storage_count;
    HONE_TRY(begin_demand(p, &around));
    HONE_TRY(plan_body(p, then, args, out));
    HONE_TRY(take_results(p, since, out));
    end_demand(p, &around);
    HONE_TRY(add_jump(p, &go));
    p->steps[unless].target = p->step_count;
    since = p->storage_count;
    HONE_TRY(begin_demand(p, &around));
    HONE_TRY(plan_body(p, otherwise, args, &other));
    HONE_TRY(give_results(p, since, &other, out));
    end_demand(p, &around);
    p->steps[go].target = p->step_count;
    return HONE_OK;
}

/* ---- loops ---- */

/* What lives through a loop. */
typedef struct looping {
    const hone_gbind *bind;
    const hone_graph_func *body;
    uint32_t state_count, scan_count; /* the condition is no state */
    uint32_t counter, condition;      /* tensors; HONE_NO_ID: there is no condition */
    uint32_t *results;                /* states, then scans */
    plan_value *args;                 /* of the body */
    uint32_t begin, since, next, unless;
} looping;

static hone_status count_results(const planner *p, looping *l) {
    const hone_sinfo *info = p->graph->values[l->bind->value].sinfo;
    if (!info || info->kind != HONE_SINFO_TUPLE || info->field_count < l->state_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "what the loop gives is not known");
    }
    l->scan_count = info->field_count - l->state_count;
    return HONE_OK;
}

static hone_status add_counter(planner *p, looping *l) {
    const hone_sinfo number = {.kind = HONE_SINFO_TENSOR, .dtype = HONE_DTYPE_I64};
    HONE_TRY(plan_add_result(p, &number, &l->counter));
    const uint32_t args[] = {l->counter, 0};
    l->args[0] = (plan_value){.is_known = true, .tensor = l->counter};
    return add_flow(p, HONE_PLAN_START, 1, args, 1);
}

/* The states as they begin, and room for the scans. */
static hone_status add_states(planner *p, looping *l) {
    const hone_garg *args = l->bind->args;
    plan_value begin, captured;
    HONE_TRY(plan_value_of(p, &args[HONE_LOOP_STATES], &begin));
    HONE_TRY(plan_value_of(p, &args[HONE_LOOP_CAPTURED], &captured));
    for (uint32_t i = 0; i < l->state_count; i++) {
        HONE_TRY(add_twin(p, begin.items[i], &l->results[i]));
        l->args[1 + i] = (plan_value){.is_known = true, .tensor = l->results[i]};
    }
    for (uint32_t i = 0; i < captured.count; i++) {
        l->args[1 + l->state_count + i] =
            (plan_value){.is_known = true, .tensor = captured.items[i]};
    }
    for (uint32_t i = l->state_count; i < l->state_count + l->scan_count; i++) {
        const hone_sinfo *info;
        HONE_TRY(plan_info(p, p->graph->values[l->bind->value].sinfo->fields[i], &info));
        HONE_TRY(plan_add_result(p, info, &l->results[i]));
    }
    l->condition = HONE_NO_ID;
    if (l->bind->arg_count <= HONE_LOOP_CONDITION) return HONE_OK;
    plan_value condition;
    HONE_TRY(plan_value_of(p, &args[HONE_LOOP_CONDITION], &condition));
    return add_twin(p, condition.tensor, &l->condition);
}

static hone_status begin_turn(planner *p, looping *l) {
    const hone_garg *limit = &l->bind->args[HONE_LOOP_LIMIT];
    uint32_t args[] = {l->counter, 0, 0};
    bool is_size = limit->kind == HONE_GARG_PRIM;
    l->begin = l->next = p->step_count;
    l->since = p->storage_count;
    if (!is_size) {
        plan_value value;
        HONE_TRY(plan_value_of(p, limit, &value));
        args[1] = value.tensor;
    }
    HONE_TRY(add_flow(p, HONE_PLAN_NEXT, is_size ? 1 : 2, args, 0));
    if (is_size) {
        const hone_expr **size = hone_arena_zalloc(p->ir.arena, sizeof *size);
        if (!size) return HONE_NO_MEMORY("memory plan");
        *size = p->sizes
                    ? hone_expr_substitute(&p->ir, limit->u.expr, p->sizes, p->graph->var_count)
                    : limit->u.expr;
        p->steps[l->next].sizes = size;
        p->steps[l->next].size_count = 1;
    }
    l->unless = HONE_NO_ID;
    if (l->condition != HONE_NO_ID) HONE_TRY(add_unless(p, l->condition, &l->unless));
    return hone_ir_finish(&p->ir);
}

static bool is_state(const planner *p, const looping *l, uint32_t tensor) {
    uint32_t storage = p->storage_of[tensor];
    return storage != HONE_NO_ID && is_among(p, l->state_count, l->results, storage);
}

/* New states: those that are old ones of others are kept aside before any is overwritten. */
static hone_status renew_states(planner *p, const looping *l, uint32_t *news) {
    for (uint32_t i = 0; i < l->state_count; i++) {
        bool is_same = p->storage_of[news[i]] == p->storage_of[l->results[i]];
        if (!is_same && is_state(p, l, news[i])) HONE_TRY(add_twin(p, news[i], &news[i]));
    }
    for (uint32_t i = 0; i < l->state_count; i++) {
        const hone_sinfo info = info_of_tensor(p, news[i]);
        HONE_TRY(plan_check_extents(p, "loop", l->results[i], &info));
        bool is_same = p->storage_of[news[i]] == p->storage_of[l->results[i]];
        if (!is_same) HONE_TRY(add_copy(p, news[i], l->results[i]));
    }
    return HONE_OK;
}

static hone_status end_turn(planner *p, looping *l, plan_value *made) {
    uint32_t has_condition = l->condition != HONE_NO_ID, go;
    if (!made->is_tuple || made->count != has_condition + l->state_count + l->scan_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' gives %u values, not %u", l->body->name,
                          made->is_tuple ? made->count : 1,
                          has_condition + l->state_count + l->scan_count);
    }
    uint32_t *news = made->items + has_condition;
    for (uint32_t i = l->state_count; i < l->state_count + l->scan_count; i++) {
        const uint32_t args[] = {news[i], l->counter, l->results[i], 0};
        HONE_TRY(add_flow(p, HONE_PLAN_PLACE, 3, args, 1));
    }
    if (has_condition) HONE_TRY(add_copy(p, made->items[0], l->condition));
    HONE_TRY(renew_states(p, l, news));
    HONE_TRY(add_jump(p, &go));
    p->steps[go].target = l->begin;
    p->steps[l->next].target = p->step_count;
    if (has_condition) p->steps[l->unless].target = p->step_count;
    for (uint32_t s = 0; s < l->since; s++)
        if (p->storages[s].last >= l->begin) p->storages[s].last = go;
    return HONE_OK;
}

hone_status plan_loop(planner *p, const hone_gbind *bind) {
    looping l = {.bind = bind};
    const hone_garg *args = bind->args;
    plan_value made;
    demands around;
    l.state_count = args[HONE_LOOP_STATES].count;
    uint32_t param_count = 1 + l.state_count + args[HONE_LOOP_CAPTURED].count;
    HONE_TRY(find_body(p, args[HONE_LOOP_BODY].u.s, param_count, &l.body));
    HONE_TRY(count_results(p, &l));
    uint32_t result_count = l.state_count + l.scan_count;
    l.args = hone_arena_zalloc(p->ir.arena, ((size_t)param_count + 1) * sizeof *l.args);
    l.results = hone_arena_zalloc(p->ir.arena, ((size_t)result_count + 1) * sizeof *l.results);
    if (!l.args || !l.results) return HONE_NO_MEMORY("memory plan");
    HONE_TRY(add_counter(p, &l));
    HONE_TRY(add_states(p, &l));
    HONE_TRY(begin_turn(p, &l));
    HONE_TRY(begin_demand(p, &around));
    HONE_TRY(plan_body(p, l.body, l.args, &made));
    HONE_TRY(end_turn(p, &l, &made));
    end_demand(p, &around);
    p->values[bind->value] =
        (plan_value){.is_known = true, .is_tuple = true, .count = result_count, .items = l.results};
    return HONE_OK;
}
