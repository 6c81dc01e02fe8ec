/* compile/part_graph.c - a memory plan (graph/plan/plan.h) to the tables of the driver. */

#include "compile/parts.h"
#include "support/data/dtype_dlpack.h"

typedef struct maker {
    parts *p;
    const hone_plan *plan;
    part_plan *out;
    int32_t *values; /* variable → value */
} maker;

static hone_status bad_size(const maker *m) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' has a size that compiled models cannot compute",
                      m->plan->name);
}

static hone_status value_of(maker *m, const hone_expr *e, int32_t *out) {
    *out = part_value_expr(m->out, e, m->values);
    return *out < 0 ? bad_size(m) : HONE_OK;
}

/* Where a size is read; *out -1: nowhere, nothing depends on it. */
static hone_status make_var(maker *m, const hone_plan_var *var, int32_t *out) {
    *out = -1;
    if (var->input == HONE_NO_ID && var->tensor == HONE_NO_ID) return HONE_OK;
    if (var->tensor == HONE_NO_ID) {
        *out = part_value_make(m->out, HONE_MT_DIM, (int32_t)var->input, (int32_t)var->dim);
    } else {
        hone_dtype dtype = m->plan->tensors[var->tensor].dtype;
        *out = part_value_element(m->out, var->phase, var->tensor, var->dim,
                                  (uint32_t)hone_dtype_bytes(dtype));
    }
    return *out < 0 ? parts_no_memory() : HONE_OK;
}

static hone_status make_vars(maker *m) {
    m->values = hone_arena_alloc(m->p->arena, (m->plan->var_count + 1) * sizeof *m->values);
    if (!m->values) return parts_no_memory();
    for (uint32_t v = 0; v < m->plan->var_count; v++)
        HONE_TRY(make_var(m, &m->plan->vars[v], &m->values[v]));
    return HONE_OK;
}

static hone_status shape_values(maker *m, uint32_t rank, const hone_expr *const *shape,
                                const int32_t **out) {
    int32_t *values = hone_arena_alloc(m->p->arena, (rank + 1) * sizeof *values);
    if (!values) return parts_no_memory();
    for (uint32_t d = 0; d < rank; d++)
        HONE_TRY(value_of(m, shape[d], &values[d]));
    *out = values;
    return HONE_OK;
}

static hone_status make_tensor(maker *m, const hone_plan_tensor *tensor) {
    part_tensor made = {
        .row = {.rank = (int32_t)tensor->rank, .type = hone_dtype_dlpack_word(tensor->dtype)}
    };
    HONE_TRY(shape_values(m, tensor->rank, tensor->shape, &made.shape));
    HONE_TRY(value_of(m, tensor->bytes, &made.row.bytes));
    switch (tensor->place) {
    case HONE_PLAN_INPUT:
    case HONE_PLAN_OUTPUT:
        made.row.place = HONE_MT_PORT;
        made.row.index = (int32_t)(tensor->place == HONE_PLAN_OUTPUT ? m->plan->input_count : 0) +
                         (int32_t)tensor->index;
        break;
    case HONE_PLAN_CONSTANT:
        made.row.place = HONE_MT_WEIGHT;
        made.weight = m->plan->module->constants[tensor->index];
        break;
    case HONE_PLAN_WORKSPACE:
        made.row.place = HONE_MT_WORKSPACE;
        made.row.index = (int32_t)tensor->index;
        HONE_TRY(value_of(m, tensor->offset, &made.row.value));
        break;
    }
    return hone_vec_push(&m->out->tensors, made) ? HONE_OK : parts_no_memory();
}

static hone_status make_step(maker *m, const hone_plan_step *step) {
    static const hone_mt_step_kind kinds[] = {
        [HONE_PLAN_KERNEL] = HONE_MT_KERNEL, [HONE_PLAN_EXTERN] = HONE_MT_EXTERN,
        [HONE_PLAN_COPY] = HONE_MT_COPY,     [HONE_PLAN_SIZES] = HONE_MT_SIZES,
        [HONE_PLAN_UNLESS] = HONE_MT_UNLESS, [HONE_PLAN_GO] = HONE_MT_GO,
        [HONE_PLAN_START] = HONE_MT_START,   [HONE_PLAN_NEXT] = HONE_MT_NEXT,
        [HONE_PLAN_PLACE] = HONE_MT_PLACE,   [HONE_PLAN_DEMAND] = HONE_MT_DEMAND};
    part_step made = {.kind = kinds[step->kind],
                      .arg_count = step->arg_count,
                      .size_count = step->size_count,
                      .detail = (int32_t)step->output_count};
    if (step->kind == HONE_PLAN_SIZES) made.detail = (int32_t)step->phase;
    if (step->kind > HONE_PLAN_SIZES) made.detail = (int32_t)step->target;
    if (step->kind == HONE_PLAN_DEMAND) made.detail = -(int32_t)step->demand;
    int32_t *args = hone_arena_alloc(m->p->arena, (step->arg_count + 1) * sizeof *args);
    int32_t *sizes = hone_arena_alloc(m->p->arena, (step->size_count + 1) * sizeof *sizes);
    made.name = hone_arena_strdup(m->p->arena, step->callee);
    if (!args || !sizes || !made.name) return parts_no_memory();
    for (uint32_t i = 0; i < step->arg_count; i++)
        args[i] = (int32_t)step->args[i];
    for (uint32_t i = 0; i < step->size_count; i++)
        HONE_TRY(value_of(m, step->sizes[i], &sizes[i]));
    made.args = args;
    made.sizes = sizes;
    if (step->kind == HONE_PLAN_KERNEL) {
        uint64_t constants = parts_constants_of(m->out, args, step->arg_count);
        HONE_TRY(parts_add_kernel(m->p, step->func, constants, &made.kernel));
    }
    return hone_vec_push(&m->out->steps, made) ? HONE_OK : parts_no_memory();
}

static hone_status make_check(maker *m, const hone_plan_check *check) {
    hone_mt_check made = {.place = hone_arena_strdup(m->p->arena, check->place),
                          .what = hone_arena_strdup(m->p->arena, check->what),
                          .relation = (int32_t)check->relation,
                          .phase = check->demand ? -(int32_t)check->demand : (int32_t)check->phase};
    _Static_assert((int)HONE_PLAN_AT_MOST == (int)HONE_MT_AT_MOST &&
                       (int)HONE_PLAN_AT_LEAST == (int)HONE_MT_AT_LEAST,
                   "relations have one numbering");
    HONE_TRY(value_of(m, check->got, &made.got));
    HONE_TRY(value_of(m, check->wanted, &made.wanted));
    return part_check_add(m->out, made) ? HONE_OK : parts_no_memory();
}

/* From which phase on the shape of a tensor is known. */
static uint32_t phase_of(const hone_plan *plan, const hone_plan_tensor *tensor) {
    uint32_t last = 0;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        uint32_t phase = hone_plan_phase_of(plan, tensor->shape[d]);
        if (phase > last) last = phase;
    }
    return last;
}

static hone_status make_ports(maker *m) {
    const hone_plan *plan = m->plan;
    m->out->port_count = plan->input_count + plan->output_count;
    m->out->ports =
        hone_arena_zalloc(m->p->arena, (m->out->port_count + 1) * sizeof *m->out->ports);
    if (!m->out->ports) return parts_no_memory();
    for (uint32_t i = 0; i < m->out->port_count; i++) {
        bool is_input = i < plan->input_count;
        uint32_t t =
            is_input ? plan->inputs[i].tensor : plan->outputs[i - plan->input_count].tensor;
        m->out->ports[i] = (hone_mt_port){.is_input = is_input,
                                          .is_written = !is_input,
                                          .phase = (int32_t)phase_of(plan, &plan->tensors[t]),
                                          .shape = m->out->tensors.data[t].shape};
    }
    return HONE_OK;
}

static hone_status make_workspaces(maker *m) {
    const hone_plan *plan = m->plan;
    int32_t *values = hone_arena_alloc(m->p->arena, plan->phase_count * sizeof *values);
    if (!values) return parts_no_memory();
    m->out->workspace_bytes = 0;
    for (uint32_t i = 0; i < plan->phase_count; i++) {
        const hone_expr *bytes = plan->workspace_bytes[i];
        bool is_known = hone_expr_is_int(bytes) && m->out->workspace_bytes >= 0;
        m->out->workspace_bytes = is_known ? m->out->workspace_bytes + bytes->u.i : -1;
        HONE_TRY(value_of(m, bytes, &values[i]));
    }
    m->out->workspaces = values;
    m->out->phase_count = plan->phase_count;
    return HONE_OK;
}

static hone_status make_plan(maker *m) {
    const hone_plan *plan = m->plan;
    HONE_TRY(make_vars(m));
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        HONE_TRY(make_tensor(m, &plan->tensors[i]));
    for (uint32_t i = 0; i < plan->check_count; i++)
        HONE_TRY(make_check(m, &plan->checks[i]));
    for (uint32_t i = 0; i < plan->step_count; i++)
        HONE_TRY(make_step(m, &plan->steps[i]));
    HONE_TRY(make_ports(m));
    return make_workspaces(m);
}

/* ---- ports of the entry ---- */

/* What the sizes of a plan are called, as its expressions are printed with. */
static hone_status name_sizes(parts *p, const hone_plan *plan, hone_func *out) {
    hone_var_info *vars = hone_arena_zalloc(p->arena, (plan->var_count + 1) * sizeof *vars);
    if (!vars) return parts_no_memory();
    for (uint32_t v = 0; v < plan->var_count; v++)
        vars[v].name = (char *)(uintptr_t)plan->vars[v].name;
    *out = (hone_func){.vars = vars, .var_count = plan->var_count};
    return HONE_OK;
}

/* An output whose shape depends on data: bounded, where each such dimension is. */
static hone_status bound_port(const hone_plan *plan, const hone_plan_tensor *tensor,
                              part_port *out) {
    out->sized = HONE_MODEL_AT_MOST;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        int64_t most = 0;
        bool is_late = hone_plan_phase_of(plan, tensor->shape[d]) > 0;
        if (is_late) HONE_TRY(hone_plan_most(plan, tensor->shape[d], &most));
        if (is_late) out->shape[d] = most;
        if (most < 0) out->sized = HONE_MODEL_MADE;
    }
    for (uint32_t d = 0; out->sized == HONE_MODEL_MADE && d < tensor->rank; d++) {
        if (!hone_expr_is_int(tensor->shape[d])) out->shape[d] = -1;
    }
    return HONE_OK;
}

static hone_status describe_port(parts *p, const hone_plan *plan, const hone_func *vars,
                                 const hone_plan_port *port, part_port *out) {
    const hone_plan_tensor *tensor = &plan->tensors[port->tensor];
    *out = (part_port){.name = hone_arena_strdup(p->arena, port->name),
                       .dtype = tensor->dtype,
                       .rank = tensor->rank};
    if (tensor->rank > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' has %u dimensions, at most %d are possible",
                          port->name, tensor->rank, HONE_MAX_RANK);
    }
    for (uint32_t d = 0; d < tensor->rank; d++) {
        const hone_expr *e = tensor->shape[d];
        out->shape[d] = hone_expr_is_int(e) ? e->u.i : -1;
        HONE_TRY(parts_name_dim(p, vars, e, &out->dim_names[d]));
    }
    if (phase_of(plan, tensor)) HONE_TRY(bound_port(plan, tensor, out));
    return out->name ? HONE_OK : parts_no_memory();
}

static hone_status describe_ports(parts *p, const hone_plan *plan, const hone_plan_port *ports,
                                  uint32_t count, part_port **out) {
    part_port *made = hone_arena_zalloc(p->arena, (count + 1) * sizeof *made);
    hone_func vars;
    if (!made) return parts_no_memory();
    HONE_TRY(name_sizes(p, plan, &vars));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(describe_port(p, plan, &vars, &ports[i], &made[i]));
    *out = made;
    return HONE_OK;
}

static hone_status describe_entry(const maker *m, bool is_special, part_entry *entry) {
    const hone_plan *plan = m->plan;
    parts *p = m->p;
    part_port *inputs, *outputs;
    HONE_TRY(describe_ports(p, plan, plan->inputs, plan->input_count, &inputs));
    HONE_TRY(describe_ports(p, plan, plan->outputs, plan->output_count, &outputs));
    if (is_special) HONE_TRY(parts_guard(m->out, inputs, plan->input_count));
    return parts_put_ports(entry, inputs, plan->input_count, outputs, plan->output_count);
}

hone_status parts_add_graph(parts *p, hone_module *module, const char *name,
                            const hone_dim_variant *variant, part_entry *entry) {
    hone_plan *plan;
    HONE_TRY(hone_plan_create(module, name, parts_alignment(p), &plan));
    if (!hone_vec_push(&p->plans, plan)) {
        hone_plan_destroy(plan);
        return parts_no_memory();
    }
    if (!hone_vec_push(&entry->plans, (part_plan){.workspace_bytes = -1})) return parts_no_memory();
    maker m = {.p = p, .plan = plan, .out = &hone_vec_last(&entry->plans)};
    HONE_TRY(make_plan(&m));
    return describe_entry(&m, variant != NULL, entry);
}
