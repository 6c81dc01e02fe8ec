/* graph/plan/plan_steps.c - walks the bindings once: calls become steps, views share the tensor
 * behind them. */
#include <string.h>

#include "graph/plan/plan_impl.h"
#include "ir/core/grow.h"
#include "ir/ops/graph_infer.h"

enum { MOST_TOLD = 2 }; /* values that a message names, one in the body of another */

/* ---- sizes of symbolic kernels, in the order of the ABI ---- */

static hone_status list_sizes(planner *p, const hone_fit *fit, hone_plan_step *step) {
    const hone_func *func = step->func;
    hone_var *vars = hone_arena_alloc(p->ir.arena, (func->var_count + 1) * sizeof *vars);
    const hone_expr **sizes = hone_arena_alloc(p->ir.arena, (func->var_count + 1) * sizeof *sizes);
    if (!vars || !sizes) return HONE_NO_MEMORY("memory plan");
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
    if (!tensors) return HONE_NO_MEMORY("memory plan");
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
    if (!scalars) return HONE_NO_MEMORY("memory plan");
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
        return HONE_NO_MEMORY("memory plan");
    }
    p->steps[p->step_count++] = *step;
    return HONE_OK;
}

/* No extent is below 0, as n - 5 may be. */
static hone_status check_extents_of(planner *p, const hone_gbind *bind, uint32_t tensor) {
    const hone_expr *zero = hone_extent_int(&p->ir, 0);
    for (uint32_t d = 0; zero && d < p->tensors[tensor].rank; d++) {
        hone_plan_check check = {HONE_PLAN_AT_LEAST,
                                 hone_graph_told_name(p->graph, bind),
                                 hone_arena_printf(p->ir.arena, "dimension %u", d),
                                 p->tensors[tensor].shape[d],
                                 zero,
                                 0,
                                 0};
        if (check.got->kind != HONE_EXPR_VAR) HONE_TRY(plan_check_that(&p->checks, &check));
    }
    return hone_ir_finish(&p->ir);
}

static hone_status add_results(planner *p, const hone_gbind *bind, uint32_t *args,
                               uint32_t *out_count) {
    const hone_sinfo *info;
    HONE_TRY(plan_info_of(p, bind, &info));
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
    if (!args) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < bind->arg_count; i++) {
        HONE_TRY(plan_tensor_of(p, &bind->args[i], &args[i]));
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

/* Consecutive places of the first dimension of a result, of sizes that are known, which legalize
 * left. */
static hone_status plan_part(planner *p, const hone_gbind *bind) {
    plan_value *value = &p->values[bind->value];
    const hone_sinfo *info;
    int64_t axis[HONE_MAX_RANK], first[HONE_MAX_RANK];
    uint32_t from;
    HONE_TRY(plan_info_of(p, bind, &info));
    HONE_TRY(plan_tensor_of(p, &bind->args[0], &from));
    bool is_known = info && hone_sinfo_is_static(info) && p->storage_of[from] != HONE_NO_ID &&
                    hone_garg_ints(&bind->args[1], axis) == 1 && axis[0] == 0 &&
                    hone_garg_ints(&bind->args[2], first) == 1 && first[0] >= 0;
    int64_t begin = is_known ? first[0] * (int64_t)hone_dtype_bytes(info->dtype) : -1;
    for (int32_t d = 1; is_known && d < info->rank; d++)
        begin *= hone_expr_const(info->shape[d]);
    if (begin < 0 || begin % p->align != 0) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a view that begins where no tensor does");
    }
    value->is_known = true;
    p->storages[p->storage_of[from]].has_parts = true;
    return plan_add_view(p, from, begin, info, &value->tensor);
}

static hone_status plan_view(planner *p, const hone_gbind *bind) {
    plan_value *value = &p->values[bind->value];
    const hone_sinfo *info;
    HONE_TRY(plan_info_of(p, bind, &info));
    HONE_TRY(plan_value_of(p, &bind->args[0], value));
    if (value->is_tuple || !info || info->kind != HONE_SINFO_TENSOR || !info->shape) return HONE_OK;
    const char *name = p->graph->values[bind->value].name;
    uint32_t from = value->tensor;
    if (bind->kind != HONE_GBIND_CALL) HONE_TRY(plan_check_extents(p, name, from, info));
    HONE_TRY(plan_add_view(p, from, 0, info, &value->tensor));
    hone_plan_check check = {HONE_PLAN_SAME,
                             name,
                             "the number of bytes",
                             p->tensors[from].bytes,
                             p->tensors[value->tensor].bytes,
                             0,
                             0};
    return plan_check_that(&p->checks, &check);
}

/* ---- sizes that are computed ---- */

static hone_status plan_shape(planner *p, const hone_gbind *bind) {
    plan_value *value = &p->values[bind->value];
    *value = (plan_value){.is_known = true, .is_shape = true};
    return plan_tensor_of(p, &bind->args[0], &value->tensor);
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
    HONE_TRY(plan_bind_sizes(&p->checks, p->vars, hone_graph_told_name(p->graph, bind), info,
                             value->tensor, &step.phase));
    if (step.phase == 0) return HONE_OK;
    step.args = hone_arena_copy(p->ir.arena, &value->tensor, sizeof value->tensor);
    return step.args ? plan_add_step(p, &step) : HONE_NO_MEMORY("memory plan");
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
        if (hone_gbind_calls(bind, "strided_slice")) return plan_part(p, bind);
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
        if (st && is_told) st = hone_graph_annotate_bind(p->graph, i, st);
        if (st) return st;
    }
    return HONE_OK;
}
