/* tests/graph/graph_run.c - runs graph modules operator by operator, and as plans. */
#include "tests/graph/graph_run.h"

#include <inttypes.h>
#include <string.h>

#include "graph/plan/plan.h"
#include "ir/core/fold.h"
#include "ir/interp/interp.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

void run_results_deinit(run_results *results) {
    for (size_t i = 0; i < results->count; i++)
        hone_tensor_destroy(results->items[i]);
    hone_free(results->items);
    memset(results, 0, sizeof *results);
}

hone_status run_plain(const hone_module *module, const hone_graph_options *options,
                      hone_tensor *const *inputs, size_t input_count, int64_t max_steps,
                      run_results *out_results) {
    hone_module *plain;
    memset(out_results, 0, sizeof *out_results);
    HONE_TRY(hone_graph_prepare_plain(module, options, &plain));
    hone_status st = hone_check_module(plain);
    hone_interp_options how = {.check_uninitialised = true, .max_steps = max_steps};
    if (!st) {
        st = hone_interp_graph(plain, "main", inputs, input_count, &how, &out_results->items,
                               &out_results->count);
    }
    hone_module_release(plain);
    return st;
}

/* ---- a plan, step by step ---- */

typedef struct machine {
    const hone_plan *plan;
    int64_t sizes[64];
    char **workspaces; /* by phase */
    hone_tensor *const *inputs;
    run_results *results;
    int64_t max_steps;
} machine;

static int64_t eval(const hone_plan *plan, const hone_expr *e, const int64_t *sizes) {
    int64_t value;
    return hone_fold_sizes(e, sizes, plan->var_count, &value) ? value : -1;
}

static hone_tensor view_of(const machine *m, uint32_t index) {
    const hone_plan_tensor *tensor = &m->plan->tensors[index];
    int64_t shape[HONE_MAX_RANK];
    void *data = NULL;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        shape[d] = eval(m->plan, tensor->shape[d], m->sizes);
    }
    switch (tensor->place) {
    case HONE_PLAN_INPUT:
        data = m->inputs[tensor->index]->data;
        break;
    case HONE_PLAN_OUTPUT:
        data = m->results->items[tensor->index]->data;
        break;
    case HONE_PLAN_CONSTANT:
        data = m->plan->module->constants[tensor->index]->data;
        break;
    case HONE_PLAN_WORKSPACE:
        data = m->workspaces[tensor->index] + eval(m->plan, tensor->offset, m->sizes);
        break;
    }
    return hone_tensor_view(data, tensor->dtype, (int32_t)tensor->rank, shape);
}

static uint32_t phase_of(const hone_plan *plan, const hone_plan_tensor *tensor) {
    uint32_t last = 0;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        uint32_t phase = hone_plan_phase_of(plan, tensor->shape[d]);
        if (phase > last) last = phase;
    }
    return last;
}

static hone_status make_output(machine *m, uint32_t i) {
    const hone_plan_tensor *tensor = &m->plan->tensors[m->plan->outputs[i].tensor];
    int64_t shape[HONE_MAX_RANK];
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = eval(m->plan, tensor->shape[d], m->sizes);
    HONE_TRY(
        hone_tensor_create(tensor->dtype, (int32_t)tensor->rank, shape, &m->results->items[i]));
    memset(m->results->items[i]->data, 0x5a, hone_tensor_bytes(m->results->items[i]));
    return HONE_OK;
}

static hone_status check(const machine *m, const hone_plan_check *c) {
    int64_t got = eval(m->plan, c->got, m->sizes), wanted = eval(m->plan, c->wanted, m->sizes);
    bool is_so = c->relation == HONE_PLAN_SAME       ? got == wanted
                 : c->relation == HONE_PLAN_AT_LEAST ? got >= wanted
                                                     : got <= wanted;
    if (is_so) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "'%s': %s is %" PRId64 ", against %" PRId64, c->place,
                      c->what, got, wanted);
}

/* Its sizes are known: what must hold of them, its outputs, its workspace. */
static hone_status begin_phase(machine *m, uint32_t phase) {
    const hone_plan *plan = m->plan;
    for (uint32_t i = 0; i < plan->check_count; i++)
        if (!plan->checks[i].demand && plan->checks[i].phase == phase)
            HONE_TRY(check(m, &plan->checks[i]));
    for (uint32_t i = 0; i < plan->output_count; i++) {
        if (phase_of(plan, &plan->tensors[plan->outputs[i].tensor]) != phase) continue;
        HONE_TRY(make_output(m, i));
    }
    size_t bytes = (size_t)eval(plan, plan->workspace_bytes[phase], m->sizes);
    hone_free(m->workspaces[phase]); /* of the turn before, in a loop */
    m->workspaces[phase] = hone_aligned_alloc(64, bytes + 64);
    if (!m->workspaces[phase]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "workspace");
    memset(m->workspaces[phase], 0x5a, bytes);
    return HONE_OK;
}

static hone_status find_sizes(machine *m, const hone_plan_step *step) {
    hone_tensor from = view_of(m, step->args[0]);
    for (uint32_t v = 0; v < m->plan->var_count; v++) {
        const hone_plan_var *var = &m->plan->vars[v];
        if (var->phase == step->phase) m->sizes[v] = hone_tensor_get_i64(&from, var->dim);
    }
    return begin_phase(m, step->phase);
}

/* Kernels are made for sizes from 1 on. */
static bool is_empty(const machine *m, const hone_plan_step *step) {
    for (uint32_t i = step->arg_count - step->output_count; i < step->arg_count; i++) {
        hone_tensor view = view_of(m, step->args[i]);
        if (hone_tensor_count(&view) != 0) return false;
    }
    return true;
}

static hone_status meet_demand(const machine *m, const hone_plan_step *step) {
    for (uint32_t i = 0; i < m->plan->check_count; i++)
        if (m->plan->checks[i].demand == step->demand) HONE_TRY(check(m, &m->plan->checks[i]));
    return HONE_OK;
}

/* Steps of branches and loops: which step comes next. */
static uint32_t run_flow(const machine *m, const hone_plan_step *step, uint32_t next) {
    hone_tensor args[3];
    for (uint32_t i = 0; i < step->arg_count; i++)
        args[i] = view_of(m, step->args[i]);
    int64_t limit;
    switch (step->kind) {
    case HONE_PLAN_UNLESS:
        return hone_tensor_get_i64(&args[0], 0) ? next : step->target;
    case HONE_PLAN_GO:
        return step->target;
    case HONE_PLAN_START:
        hone_tensor_set_i64(&args[0], 0, -1);
        return next;
    case HONE_PLAN_NEXT:
        limit = step->size_count ? eval(m->plan, step->sizes[0], m->sizes)
                                 : hone_tensor_get_i64(&args[1], 0);
        hone_tensor_set_i64(&args[0], 0, hone_tensor_get_i64(&args[0], 0) + 1);
        return hone_tensor_get_i64(&args[0], 0) < limit ? next : step->target;
    default:
        memcpy((char *)args[2].data +
                   (size_t)hone_tensor_get_i64(&args[1], 0) * hone_tensor_bytes(&args[0]),
               args[0].data, hone_tensor_bytes(&args[0]));
        return next;
    }
}

static hone_status run_step(machine *m, const hone_plan_step *step) {
    hone_tensor views[128], *args[128];
    uint32_t next = 0, size = 0, count = 0;
    if (step->kind == HONE_PLAN_SIZES) return find_sizes(m, step);
    if (step->kind == HONE_PLAN_DEMAND) return meet_demand(m, step);
    if (is_empty(m, step)) return HONE_OK;
    if (step->kind == HONE_PLAN_COPY) {
        hone_tensor from = view_of(m, step->args[0]), to = view_of(m, step->args[1]);
        memcpy(to.data, from.data, hone_tensor_bytes(&to));
        return HONE_OK;
    }
    int64_t scalars[16];
    for (uint32_t i = 0; i < step->func->param_count; i++, count++) {
        args[count] = &views[count];
        if (step->func->params[i].buffer != HONE_NO_ID) {
            views[count] = view_of(m, step->args[next++]);
            continue;
        }
        scalars[size] = eval(m->plan, step->sizes[size], m->sizes);
        views[count] = hone_tensor_view(&scalars[size++], HONE_DTYPE_I64, 0, NULL);
    }
    hone_interp_options how = {.max_steps = m->max_steps};
    return hone_interp_func(step->func, args, count, &how);
}

static hone_status run_plan(const hone_plan *plan, hone_tensor *const *inputs, size_t input_count,
                            int64_t max_steps, run_results *out_results) {
    machine m = {.plan = plan, .inputs = inputs, .results = out_results, .max_steps = max_steps};
    if (input_count != plan->input_count || plan->var_count > HONE_COUNT(m.sizes)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%zu inputs for %u, %u sizes", input_count,
                          plan->input_count, plan->var_count);
    }
    for (uint32_t v = 0; v < plan->var_count; v++) {
        if (plan->vars[v].input == HONE_NO_ID) continue;
        m.sizes[v] = inputs[plan->vars[v].input]->shape[plan->vars[v].dim];
    }
    m.results->items = hone_calloc(plan->output_count + 1, sizeof *m.results->items);
    m.results->count = plan->output_count;
    m.workspaces = hone_calloc(plan->phase_count, sizeof *m.workspaces);
    bool is_short = !m.results->items || !m.workspaces;
    hone_status st = is_short ? HONE_ERROR(HONE_CODE_NO_MEMORY, "outputs") : begin_phase(&m, 0);
    for (uint32_t i = 0, next; !st && i < plan->step_count; i = next) {
        next = i + 1;
        bool is_flow = plan->steps[i].kind > HONE_PLAN_SIZES;
        if (is_flow && plan->steps[i].kind != HONE_PLAN_DEMAND)
            next = run_flow(&m, &plan->steps[i], next);
        else
            st = run_step(&m, &plan->steps[i]);
    }
    for (uint32_t i = 0; m.workspaces && i < plan->phase_count; i++)
        hone_free(m.workspaces[i]);
    hone_free(m.workspaces);
    return st;
}

hone_status run_planned(const hone_module *module, const hone_graph_options *options,
                        hone_tensor *const *inputs, size_t input_count, int64_t max_steps,
                        run_results *out_results) {
    hone_module *prepared;
    hone_plan *plan = NULL;
    memset(out_results, 0, sizeof *out_results);
    HONE_TRY(hone_graph_prepare(module, options, &prepared));
    hone_status st = hone_check_module(prepared);
    if (!st) st = hone_plan_create(prepared, "main", HONE_PLAN_ALIGN, &plan);
    if (!st) st = run_plan(plan, inputs, input_count, max_steps, out_results);
    hone_plan_destroy(plan);
    hone_module_release(prepared);
    if (st) run_results_deinit(out_results);
    return st;
}

uint32_t run_random_inputs(const hone_module *module, uint64_t seed, double most,
                           hone_tensor **out) {
    hone_rng rng = hone_rng_from_seed(seed);
    const hone_graph_func *graph = hone_module_find(module, "main")->graph;
    for (uint32_t i = 0; i < graph->param_count; i++) {
        const hone_sinfo *info = graph->values[i].sinfo;
        int64_t shape[HONE_MAX_RANK];
        for (int32_t d = 0; d < info->rank; d++)
            shape[d] = hone_expr_const(info->shape[d]);
        HONE_ASSERT_OK(hone_tensor_create(info->dtype, info->rank, shape, &out[i]));
        hone_tensor_fill_random(out[i], &rng, -most, most);
    }
    return graph->param_count;
}
