/* graph/plan/plan_ports.c - inputs and outputs of a plan: results are written straight into outputs
 * where possible. */
#include "graph/plan/plan_impl.h"

#include "support/data/vec.h"

hone_status plan_inputs(planner *p) {
    uint32_t count = p->graph->param_count;
    hone_plan_port *ports = hone_arena_zalloc(p->ir.arena, (count + 1) * sizeof *ports);
    if (!ports) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < count; i++) {
        const hone_gvalue_info *info = &p->graph->values[i];
        ports[i].name = info->name;
        hone_status st = plan_add_tensor(p, HONE_PLAN_INPUT, i, info->sinfo, &ports[i].tensor);
        if (st) return hone_status_annotate(st, "input '%s'", info->name);
        p->values[i] = (plan_value){.is_known = true, .tensor = ports[i].tensor};
    }
    p->plan->inputs = ports;
    p->plan->input_count = count;
    return HONE_OK;
}

/* The name of output i: the model's, or "output" with a number. */
static const char *output_name(planner *p, uint32_t i, uint32_t count) {
    const hone_value *names = hone_attrs_find(&p->graph->attrs, "output_names");
    if (names && names->kind == HONE_VALUE_LIST && i < names->count &&
        names->u.items[i].kind == HONE_VALUE_STRING) {
        return names->u.items[i].u.s;
    }
    return count == 1 ? "output" : hone_arena_printf(p->ir.arena, "output%u", i);
}

/* Memory of a shape that is known only after it is written is no output yet then. */
static bool is_early(const planner *p, const plan_storage *storage, const hone_plan_tensor *t) {
    for (uint32_t d = 0; d < t->rank; d++) {
        if (hone_plan_phase_of(p->plan, t->shape[d]) > storage->phase) return true;
    }
    return false;
}

/* The storage becomes the output itself when it can, else it is copied there at the end. */
static hone_status plan_output(planner *p, uint32_t index, uint32_t tensor,
                               hone_plan_port *out_port) {
    uint32_t storage = p->storage_of[tensor];
    if (storage != HONE_NO_ID && p->storages[storage].place == HONE_PLAN_WORKSPACE &&
        !p->storages[storage].has_parts &&
        !is_early(p, &p->storages[storage], &p->tensors[tensor])) {
        p->storages[storage].place = HONE_PLAN_OUTPUT;
        p->storages[storage].index = index;
        out_port->tensor = tensor;
        return HONE_OK;
    }
    const hone_plan_tensor from = p->tensors[tensor];
    hone_sinfo info = {HONE_SINFO_TENSOR, from.dtype, (int32_t)from.rank, 0, from.shape, NULL};
    HONE_TRY(plan_add_tensor(p, HONE_PLAN_OUTPUT, index, &info, &out_port->tensor));
    plan_touch(p, tensor);
    uint32_t *args = hone_arena_zalloc(p->ir.arena, 2 * sizeof *args);
    if (!args) return HONE_NO_MEMORY("memory plan");
    args[0] = tensor;
    args[1] = out_port->tensor;
    hone_plan_step step = {
        .kind = HONE_PLAN_COPY, .callee = "copy", .arg_count = 2, .args = args, .output_count = 1};
    return plan_add_step(p, &step);
}

typedef struct tensor_list {
    uint32_t *data;
    size_t count, capacity;
} tensor_list;

/* Tuples within tuples are given item by item. */
static hone_status list_results(planner *p, const hone_garg *arg, tensor_list *io) {
    plan_value value;
    if (arg->kind == HONE_GARG_TUPLE) {
        for (uint32_t i = 0; i < arg->count; i++)
            HONE_TRY(list_results(p, &arg->u.items[i], io));
        return HONE_OK;
    }
    HONE_TRY(plan_value_of(p, arg, &value));
    for (uint32_t i = 0; i < (value.is_tuple ? value.count : 1); i++) {
        if (!hone_vec_push(io, value.is_tuple ? value.items[i] : value.tensor))
            return HONE_NO_MEMORY("memory plan");
    }
    return HONE_OK;
}

static hone_status plan_ports(planner *p, const tensor_list *results) {
    uint32_t count = (uint32_t)results->count;
    hone_plan_port *ports = hone_arena_zalloc(p->ir.arena, (count + 1) * sizeof *ports);
    if (!ports) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < count; i++) {
        ports[i].name = output_name(p, i, count);
        if (!ports[i].name) return HONE_NO_MEMORY("memory plan");
        HONE_TRY(plan_output(p, i, results->data[i], &ports[i]));
    }
    p->plan->outputs = ports;
    p->plan->output_count = count;
    return HONE_OK;
}

hone_status plan_outputs(planner *p) {
    tensor_list results = {0};
    hone_status st = list_results(p, &p->graph->result, &results);
    if (!st) st = plan_ports(p, &results);
    hone_vec_deinit(&results);
    return st;
}

typedef struct var_check {
    const hone_plan *plan;
    const char *missing;
} var_check;

static bool check_var(void *ctx, const hone_expr *e) {
    var_check *c = ctx;
    if (e->kind == HONE_EXPR_VAR && c->plan->vars[e->u.var].input == HONE_NO_ID &&
        c->plan->vars[e->u.var].tensor == HONE_NO_ID) {
        c->missing = c->plan->vars[e->u.var].name;
    }
    return true;
}

/* Every size that something depends on must be known. */
hone_status plan_check_vars(const planner *p) {
    var_check c = {p->plan, NULL};
    for (uint32_t i = 0; i < p->tensor_count; i++)
        hone_expr_walk(p->tensors[i].bytes, check_var, &c);
    if (!c.missing) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "size '%s' is no dimension of an input; give its number",
                      c.missing);
}
