/* graph/plan/plan.c - walks the bindings once: calls become steps, views share the tensor behind
 * them. Results are written straight into the outputs where possible. */
#include "graph/plan/plan.h"

#include <assert.h>
#include <string.h>

#include "graph/plan/plan_impl.h"
#include "ir/core/grow.h"
#include "ir/ops/graph_infer.h"
#include "support/core/alloc.h"
#include "support/data/vec.h"

enum { ARENA_BYTES = 16384 };
enum { MOST_TOLD = 2 }; /* values that a message names, one in the body of another */

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "memory plan");
}

/* ---- tensors ---- */

static hone_status add_tensor(planner *p, hone_plan_place place, uint32_t index,
                              const hone_sinfo *info, uint32_t *out) {
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank < 0 ||
        (info->rank && !info->shape) || hone_dtype_is_void(info->dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a value of unknown shape; prepare the module first");
    }
    if (!hone_grow(p->ir.arena, (void **)&p->tensors, &p->tensor_capacity, p->tensor_count,
                   sizeof *p->tensors) ||
        !hone_grow(p->ir.arena, (void **)&p->storage_of, &p->storage_link_capacity, p->tensor_count,
                   sizeof *p->storage_of)) {
        return no_memory();
    }
    const hone_expr *bytes = hone_extent_int(&p->ir, (int64_t)hone_dtype_bytes(info->dtype));
    for (int32_t i = 0; i < info->rank; i++)
        bytes = hone_extent_mul(&p->ir, bytes, info->shape[i]);
    p->storage_of[p->tensor_count] = HONE_NO_ID;
    p->tensors[p->tensor_count] = (hone_plan_tensor){.place = place,
                                                     .index = index,
                                                     .bytes = bytes,
                                                     .dtype = info->dtype,
                                                     .rank = (uint32_t)info->rank,
                                                     .shape = info->shape};
    *out = p->tensor_count++;
    return hone_ir_finish(&p->ir);
}

hone_status plan_add_result(planner *p, const hone_sinfo *info, uint32_t *out) {
    HONE_TRY(add_tensor(p, HONE_PLAN_WORKSPACE, 0, info, out));
    if (!hone_grow(p->ir.arena, (void **)&p->storages, &p->storage_capacity, p->storage_count,
                   sizeof *p->storages)) {
        return no_memory();
    }
    const hone_expr *bytes = p->tensors[*out].bytes;
    p->storages[p->storage_count] = (plan_storage){.place = HONE_PLAN_WORKSPACE,
                                                   .bytes = bytes,
                                                   .phase = hone_plan_phase_of(p->plan, bytes),
                                                   .first = p->step_count,
                                                   .last = p->step_count};
    p->storage_of[*out] = p->storage_count++;
    return HONE_OK;
}

/* Another view of a tensor's memory. */
static hone_status add_view(planner *p, uint32_t of, const hone_sinfo *info, uint32_t *out) {
    HONE_TRY(add_tensor(p, p->tensors[of].place, p->tensors[of].index, info, out));
    p->storage_of[*out] = p->storage_of[of];
    return HONE_OK;
}

void plan_touch(planner *p, uint32_t tensor) {
    uint32_t storage = p->storage_of[tensor];
    if (storage != HONE_NO_ID) p->storages[storage].last = p->step_count;
}

hone_status plan_info(planner *p, const hone_sinfo *info, const hone_sinfo **out) {
    *out = info;
    if (!info || !p->sizes) return HONE_OK;
    *out = hone_sinfo_in_terms_of(&p->ir, info, p->sizes, p->graph->var_count);
    return hone_ir_finish(&p->ir);
}

static hone_status info_of(planner *p, const hone_gbind *bind, const hone_sinfo **out) {
    return plan_info(p, p->graph->values[bind->value].sinfo, out);
}

static hone_status constant_tensor(planner *p, uint32_t constant, uint32_t *out) {
    if (p->constants[constant] == HONE_NO_ID) {
        hone_garg arg = HONE_GARG_OF_CONSTANT(constant);
        const hone_sinfo *info = hone_garg_sinfo(p->plan->module, p->graph, &arg, p->ir.arena);
        HONE_TRY(add_tensor(p, HONE_PLAN_CONSTANT, constant, info, &p->constants[constant]));
    }
    *out = p->constants[constant];
    return HONE_OK;
}

hone_status plan_value_of(planner *p, const hone_garg *arg, plan_value *out) {
    memset(out, 0, sizeof *out);
    out->is_known = true;
    if (arg->kind == HONE_GARG_VALUE && p->values[arg->u.value].is_known) {
        *out = p->values[arg->u.value];
        return HONE_OK;
    }
    if (arg->kind == HONE_GARG_CONSTANT) return constant_tensor(p, arg->u.constant, &out->tensor);
    if (arg->kind != HONE_GARG_TUPLE) {
        return HONE_ERROR(HONE_CODE_INVALID, "an argument is no tensor; prepare the module first");
    }
    out->is_tuple = true;
    out->count = arg->count;
    out->items = hone_arena_zalloc(p->ir.arena, (arg->count + 1) * sizeof *out->items);
    if (!out->items) return no_memory();
    for (uint32_t i = 0; i < arg->count; i++) {
        plan_value item;
        HONE_TRY(plan_value_of(p, &arg->u.items[i], &item));
        if (item.is_tuple) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tuple of tuples");
        out->items[i] = item.tensor;
    }
    return HONE_OK;
}

static hone_status tensor_of_arg(planner *p, const hone_garg *arg, uint32_t *out) {
    plan_value value;
    HONE_TRY(plan_value_of(p, arg, &value));
    if (value.is_tuple || value.is_shape) {
        return HONE_ERROR(HONE_CODE_INVALID, "a %s where a tensor is wanted",
                          value.is_tuple ? "tuple" : "shape");
    }
    *out = value.tensor;
    return HONE_OK;
}

/* ---- what must hold ---- */

hone_status plan_check_extents(planner *p, const char *name, uint32_t tensor,
                               const hone_sinfo *info) {
    const hone_plan_tensor *from = &p->tensors[tensor];
    bool is_known = info && info->shape && (int32_t)from->rank == info->rank;
    for (uint32_t d = 0; is_known && d < from->rank; d++) {
        const char *what = hone_arena_printf(p->ir.arena, "dimension %u", d);
        hone_plan_check check = {HONE_PLAN_SAME, name, what, from->shape[d], info->shape[d], 0};
        HONE_TRY(plan_check_that(&p->checks, &check));
    }
    return HONE_OK;
}

/* ---- sizes of symbolic kernels, in the order of the ABI ---- */

static hone_status list_sizes(planner *p, const hone_fit *fit, hone_plan_step *step) {
    const hone_func *func = step->func;
    hone_var *vars = hone_arena_alloc(p->ir.arena, (func->var_count + 1) * sizeof *vars);
    const hone_expr **sizes = hone_arena_alloc(p->ir.arena, (func->var_count + 1) * sizeof *sizes);
    if (!vars || !sizes) return no_memory();
    step->size_count = hone_func_sizes(func, vars);
    for (uint32_t i = 0; i < step->size_count; i++) {
        sizes[i] = fit->sizes[vars[i]];
        if (sizes[i]) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "size '%s' of '%s' is given by nothing",
                          func->vars[vars[i]].name, func->name);
    }
    step->sizes = sizes;
    return HONE_OK;
}

/* What each buffer of a kernel gets, which must have as many dimensions. */
static hone_status tensors_of(planner *p, const hone_plan_step *step,
                              hone_fit_tensor **out_tensors) {
    const hone_func *func = step->func;
    hone_fit_tensor *tensors =
        hone_arena_zalloc(p->ir.arena, (step->arg_count + 1) * sizeof *tensors);
    if (!tensors) return no_memory();
    for (uint32_t i = 0, at = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        const hone_buffer_info *info = hone_func_buffer(func, func->params[i].buffer);
        const hone_plan_tensor *tensor = &p->tensors[step->args[at]];
        if (tensor->rank != info->rank) {
            return HONE_ERROR(HONE_CODE_INVALID, "argument %u of '%s' has %u dimensions, wants %u",
                              i, func->name, tensor->rank, info->rank);
        }
        tensors[at++] = (hone_fit_tensor){tensor->rank, tensor->shape};
    }
    *out_tensors = tensors;
    return HONE_OK;
}

/* What a call gives for scalar parameters, in the plan's sizes. */
static hone_status scalars_of(planner *p, const hone_gbind *bind, const hone_expr *const **out) {
    *out = bind->symbolic;
    if (!p->sizes || !bind->symbolic_count) return HONE_OK;
    const hone_expr **scalars =
        hone_arena_zalloc(p->ir.arena, bind->symbolic_count * sizeof *scalars);
    if (!scalars) return no_memory();
    for (uint32_t i = 0; i < bind->symbolic_count; i++)
        scalars[i] = hone_expr_substitute(&p->ir, bind->symbolic[i], p->sizes, p->graph->var_count);
    *out = scalars;
    return hone_ir_finish(&p->ir);
}

static hone_status step_sizes(planner *p, const hone_gbind *bind, hone_plan_step *step) {
    const hone_func *func = step->func;
    if (func->param_count - step->arg_count != bind->symbolic_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %u scalars, %u given", func->name,
                          func->param_count - step->arg_count, bind->symbolic_count);
    }
    hone_fit_tensor *tensors;
    HONE_TRY(tensors_of(p, step, &tensors));
    hone_arith arith;
    hone_arith_init(&arith, p->ir.arena);
    hone_fit fit = {.arith = &arith};
    const hone_expr *const *scalars;
    HONE_TRY(scalars_of(p, bind, &scalars));
    HONE_TRY(plan_check_call(&p->checks, func, tensors, scalars, &fit));
    HONE_TRY(plan_check_reduction(&p->checks, func, tensors, step->arg_count));
    return list_sizes(p, &fit, step);
}

/* ---- steps ---- */

hone_status plan_add_step(planner *p, const hone_plan_step *step) {
    if (!hone_grow(p->ir.arena, (void **)&p->steps, &p->step_capacity, p->step_count,
                   sizeof *p->steps)) {
        return no_memory();
    }
    p->steps[p->step_count++] = *step;
    return HONE_OK;
}

/* No extent is below 0, as n - 5 may be. */
static hone_status check_extents_of(planner *p, const hone_gbind *bind, uint32_t tensor) {
    const hone_expr *zero = hone_extent_int(&p->ir, 0);
    for (uint32_t d = 0; zero && d < p->tensors[tensor].rank; d++) {
        hone_plan_check check = {HONE_PLAN_AT_LEAST,
                                 p->graph->values[bind->value].name,
                                 hone_arena_printf(p->ir.arena, "dimension %u", d),
                                 p->tensors[tensor].shape[d],
                                 zero,
                                 0};
        if (check.got->kind != HONE_EXPR_VAR) HONE_TRY(plan_check_that(&p->checks, &check));
    }
    return hone_ir_finish(&p->ir);
}

static hone_status add_results(planner *p, const hone_gbind *bind, uint32_t *args,
                               uint32_t *out_count) {
    const hone_sinfo *info;
    HONE_TRY(info_of(p, bind, &info));
    plan_value *value = &p->values[bind->value];
    bool is_tuple = info && info->kind == HONE_SINFO_TUPLE;
    *out_count = is_tuple ? info->field_count : 1;
    value->is_known = true;
    value->is_tuple = is_tuple;
    value->count = is_tuple ? info->field_count : 0;
    value->items = args;
    for (uint32_t i = 0; i < *out_count; i++) {
        HONE_TRY(plan_add_result(p, is_tuple ? info->fields[i] : info, &args[i]));
        HONE_TRY(check_extents_of(p, bind, args[i]));
    }
    if (!is_tuple) value->tensor = args[0];
    return HONE_OK;
}

static uint32_t output_fields(const planner *p, const hone_gbind *bind) {
    const hone_sinfo *info = p->graph->values[bind->value].sinfo;
    return info && info->kind == HONE_SINFO_TUPLE ? info->field_count : 1;
}

static hone_status plan_call(planner *p, const hone_gbind *bind) {
    hone_plan_step step = {.kind = HONE_PLAN_EXTERN, .callee = bind->callee};
    uint32_t room = bind->arg_count + output_fields(p, bind) + 1;
    uint32_t *args = hone_arena_zalloc(p->ir.arena, room * sizeof *args);
    if (!args) return no_memory();
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        HONE_TRY(tensor_of_arg(p, &bind->args[i], &args[i]));
        plan_touch(p, args[i]);
    }
    HONE_TRY(add_results(p, bind, args + bind->arg_count, &step.output_count));
    step.args = args;
    step.arg_count = bind->arg_count + step.output_count;
    if (bind->kind == HONE_GBIND_CALL_TIR) {
        const hone_member *member = hone_module_find(p->plan->module, bind->callee);
        if (!member || member->kind != HONE_MEMBER_FUNC) {
            return HONE_ERROR(HONE_CODE_NOT_FOUND, "'%s' is called but not defined", bind->callee);
        }
        step.kind = HONE_PLAN_KERNEL;
        step.func = member->func;
        uint32_t buffers = 0;
        for (uint32_t i = 0; i < step.func->param_count; i++) {
            buffers += step.func->params[i].buffer != HONE_NO_ID;
        }
        if (buffers != step.arg_count) {
            return HONE_ERROR(HONE_CODE_INVALID, "'%s' takes %u tensors, %u given", bind->callee,
                              buffers, step.arg_count);
        }
        HONE_TRY(step_sizes(p, bind, &step));
    }
    return plan_add_step(p, &step);
}

static hone_status plan_view(planner *p, const hone_gbind *bind) {
    plan_value *value = &p->values[bind->value];
    const hone_sinfo *info;
    HONE_TRY(info_of(p, bind, &info));
    HONE_TRY(plan_value_of(p, &bind->args[0], value));
    if (value->is_tuple || !info || info->kind != HONE_SINFO_TENSOR || !info->shape) return HONE_OK;
    const char *name = p->graph->values[bind->value].name;
    uint32_t from = value->tensor;
    if (bind->kind != HONE_GBIND_CALL) HONE_TRY(plan_check_extents(p, name, from, info));
    HONE_TRY(add_view(p, from, info, &value->tensor));
    hone_plan_check check = {HONE_PLAN_SAME,
                             name,
                             "the number of bytes",
                             p->tensors[from].bytes,
                             p->tensors[value->tensor].bytes,
                             0};
    return plan_check_that(&p->checks, &check);
}

/* ---- sizes that are computed ---- */

static hone_status plan_shape(planner *p, const hone_gbind *bind) {
    plan_value *value = &p->values[bind->value];
    *value = (plan_value){.is_known = true, .is_shape = true};
    return tensor_of_arg(p, &bind->args[0], &value->tensor);
}

/* Names that the body of a branch or loop gives are sizes of the plan's; each turn finds them anew.
 */
static hone_status name_in_body(planner *p, const hone_sinfo *shape) {
    for (int32_t d = 0; p->sizes && d < shape->rank; d++) {
        const hone_expr *e = shape->shape[d];
        if (e->kind != HONE_EXPR_VAR || p->sizes[e->u.var]) continue;
        uint32_t v = p->plan->var_count++;
        p->vars[v] = (hone_plan_var){.name = p->graph->vars[e->u.var].name,
                                     .input = HONE_NO_ID,
                                     .tensor = HONE_NO_ID,
                                     .most = -1};
        p->sizes[e->u.var] = hone_expr_var(&p->ir, HONE_DTYPE_I64, v);
    }
    return hone_ir_finish(&p->ir);
}

/* A cast of a shape gives names to what it is made of. */
static hone_status plan_cast(planner *p, const hone_gbind *bind) {
    plan_value *value = &p->values[bind->value];
    const hone_sinfo *info = p->graph->values[bind->value].sinfo;
    hone_plan_step step = {.kind = HONE_PLAN_SIZES, .callee = "sizes", .arg_count = 1};
    HONE_TRY(plan_value_of(p, &bind->args[0], value));
    if (!value->is_shape) return plan_view(p, bind);
    if (!info || info->kind != HONE_SINFO_SHAPE || info->rank <= 0 || !info->shape) return HONE_OK;
    plan_touch(p, value->tensor);
    HONE_TRY(plan_vars_reserve(p->plan, 2 * (uint32_t)info->rank, &p->var_capacity, &p->vars));
    HONE_TRY(name_in_body(p, info));
    HONE_TRY(plan_info(p, info, &info));
    HONE_TRY(plan_bind_sizes(&p->checks, p->vars, p->graph->values[bind->value].name, info,
                             value->tensor, &step.phase));
    if (step.phase == 0) return HONE_OK;
    step.args = hone_arena_copy(p->ir.arena, &value->tensor, sizeof value->tensor);
    return step.args ? plan_add_step(p, &step) : no_memory();
}

static hone_status plan_get(planner *p, const hone_gbind *bind) {
    plan_value tuple;
    HONE_TRY(plan_value_of(p, &bind->args[0], &tuple));
    if (bind->index < 0 || (uint32_t)bind->index >= tuple.count) {
        return HONE_ERROR(HONE_CODE_INVALID, "item %d of a tuple of %u", bind->index, tuple.count);
    }
    p->values[bind->value] = (plan_value){.is_known = true, .tensor = tuple.items[bind->index]};
    return HONE_OK;
}

static hone_status plan_bind(planner *p, const hone_gbind *bind) {
    switch (bind->kind) {
    case HONE_GBIND_CALL_TIR:
    case HONE_GBIND_CALL_DPS:
        return plan_call(p, bind);
    case HONE_GBIND_TUPLE_GET:
        return plan_get(p, bind);
    case HONE_GBIND_ARG:
        return plan_view(p, bind);
    case HONE_GBIND_MATCH_CAST:
        return plan_cast(p, bind);
    case HONE_GBIND_CALL:
        if (strcmp(bind->callee, "reshape") == 0) return plan_view(p, bind);
        if (strcmp(bind->callee, "tensor_to_shape") == 0) return plan_shape(p, bind);
        if (strcmp(bind->callee, "loop") == 0) return plan_loop(p, bind);
        return HONE_ERROR(HONE_CODE_INVALID, "operator '%s' is left; prepare the module first",
                          bind->callee);
    case HONE_GBIND_CALL_FUNC:
        return plan_call_func(p, bind);
    case HONE_GBIND_CALL_PACKED:
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "call_packed of '%s' cannot be planned",
                          bind->callee);
    case HONE_GBIND_IF:
        return plan_if(p, bind);
    }
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a binding of unknown kind");
}

hone_status plan_bindings(planner *p) {
    for (uint32_t i = 0; i < p->graph->bind_count; i++) {
        const hone_gbind *bind = &p->graph->bindings[i];
        hone_status st = plan_bind(p, bind);
        bool is_told = p->depth < MOST_TOLD; /* of bodies in bodies these do */
        if (st && is_told)
            st = hone_status_annotate(st, "'%s'", p->graph->values[bind->value].name);
        if (st) return st;
    }
    return HONE_OK;
}

/* ---- ports ---- */

static hone_status plan_inputs(planner *p) {
    uint32_t count = p->graph->param_count;
    hone_plan_port *ports = hone_arena_zalloc(p->ir.arena, (count + 1) * sizeof *ports);
    if (!ports) return no_memory();
    for (uint32_t i = 0; i < count; i++) {
        const hone_gvalue_info *info = &p->graph->values[i];
        ports[i].name = info->name;
        hone_status st = add_tensor(p, HONE_PLAN_INPUT, i, info->sinfo, &ports[i].tensor);
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
        !is_early(p, &p->storages[storage], &p->tensors[tensor])) {
        p->storages[storage].place = HONE_PLAN_OUTPUT;
        p->storages[storage].index = index;
        out_port->tensor = tensor;
        return HONE_OK;
    }
    const hone_plan_tensor from = p->tensors[tensor];
    hone_sinfo info = {HONE_SINFO_TENSOR, from.dtype, (int32_t)from.rank, 0, from.shape, NULL};
    HONE_TRY(add_tensor(p, HONE_PLAN_OUTPUT, index, &info, &out_port->tensor));
    plan_touch(p, tensor);
    uint32_t *args = hone_arena_zalloc(p->ir.arena, 2 * sizeof *args);
    if (!args) return no_memory();
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
        if (!hone_vec_push(io, value.is_tuple ? value.items[i] : value.tensor)) return no_memory();
    }
    return HONE_OK;
}

static hone_status plan_ports(planner *p, const tensor_list *results) {
    uint32_t count = (uint32_t)results->count;
    hone_plan_port *ports = hone_arena_zalloc(p->ir.arena, (count + 1) * sizeof *ports);
    if (!ports) return no_memory();
    for (uint32_t i = 0; i < count; i++) {
        ports[i].name = output_name(p, i, count);
        if (!ports[i].name) return no_memory();
        HONE_TRY(plan_output(p, i, results->data[i], &ports[i]));
    }
    p->plan->outputs = ports;
    p->plan->output_count = count;
    return HONE_OK;
}

static hone_status plan_outputs(planner *p) {
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
static hone_status check_vars(const planner *p) {
    var_check c = {p->plan, NULL};
    for (uint32_t i = 0; i < p->tensor_count; i++)
        hone_expr_walk(p->tensors[i].bytes, check_var, &c);
    if (!c.missing) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "size '%s' is no dimension of an input; give its number",
                      c.missing);
}

/* ---- the plan ---- */

static hone_status place_storages(planner *p) {
    hone_plan *plan = p->plan;
    const hone_expr **bytes =
        hone_arena_zalloc(p->ir.arena, (plan->phase_count + 1) * sizeof *bytes);
    if (!bytes) return no_memory();
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
    }
}

static hone_status plan_graph(planner *p) {
    const hone_graph_func *graph = p->graph;
    hone_plan *plan = p->plan;
    uint32_t constants = plan->module->constant_count;
    p->values = hone_arena_zalloc(p->ir.arena, (graph->value_count + 1) * sizeof *p->values);
    p->constants = hone_arena_alloc(p->ir.arena, (constants + 1) * sizeof *p->constants);
    if (!p->values || !p->constants) return no_memory();
    for (uint32_t i = 0; i < constants; i++)
        p->constants[i] = HONE_NO_ID;
    HONE_TRY(plan_inputs(p));
    HONE_TRY(plan_vars_begin(plan, graph, p->tensors, &p->vars));
    HONE_TRY(plan_bindings(p));
    HONE_TRY(plan_outputs(p));
    HONE_TRY(check_vars(p));
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
    if (!plan) return no_memory();
    plan->module = hone_module_retain(module);
    plan->arena = hone_arena_create(ARENA_BYTES);
    hone_status st = HONE_OK;
    if (!plan->arena) {
        st = no_memory();
    } else {
        planner p = {
            .plan = plan, .align = align, .graph = member->graph, .ir = {.arena = plan->arena}};
        p.checks = (plan_checks){.arena = plan->arena, .plan = plan, .graph = member->graph};
        plan->name = hone_arena_strdup(plan->arena, member->name);
        st = plan->name ? plan_graph(&p) : no_memory();
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
