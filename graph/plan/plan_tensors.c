/* graph/plan/plan_tensors.c - what values are: tensors in memory, views of them, tuples. */
#include <string.h>

#include "graph/plan/plan_impl.h"
#include "ir/core/grow.h"
#include "ir/ops/graph_infer.h"

hone_status plan_add_tensor(planner *p, hone_plan_place place, uint32_t index,
                            const hone_sinfo *info, uint32_t *out) {
    bool is_tensor = info && info->kind == HONE_SINFO_TENSOR;
    if (is_tensor && (info->rank < 0 || (info->rank && !info->shape))) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "a tensor whose shape is not said; say it with names for sizes that are "
                          "open, as in R.Tensor((\"n\", 4), \"float32\")");
    }
    if (!is_tensor || hone_dtype_is_void(info->dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "a value of unknown shape; prepare the module first");
    }
    if (!hone_grow(p->ir.arena, (void **)&p->tensors, &p->tensor_capacity, p->tensor_count,
                   sizeof *p->tensors) ||
        !hone_grow(p->ir.arena, (void **)&p->storage_of, &p->storage_link_capacity, p->tensor_count,
                   sizeof *p->storage_of) ||
        !hone_grow(p->ir.arena, (void **)&p->begins, &p->begin_capacity, p->tensor_count,
                   sizeof *p->begins)) {
        return HONE_NO_MEMORY("memory plan");
    }
    const hone_expr *bytes = hone_extent_int(&p->ir, (int64_t)hone_dtype_bytes(info->dtype));
    for (int32_t i = 0; i < info->rank; i++)
        bytes = hone_extent_mul(&p->ir, bytes, info->shape[i]);
    p->storage_of[p->tensor_count] = HONE_NO_ID;
    p->begins[p->tensor_count] = 0;
    p->tensors[p->tensor_count] = (hone_plan_tensor){.place = place,
                                                     .index = index,
                                                     .bytes = bytes,
                                                     .dtype = info->dtype,
                                                     .rank = (uint32_t)info->rank,
                                                     .shape = info->shape};
    *out = p->tensor_count++;
    return hone_ir_finish(&p->ir);
}

/* In what is not taken an extent such as n - 5 may be below 0, and takes no room then. */
static hone_status hold_above(planner *p, const hone_expr **io_extent) {
    bool is_positive = true;
    if (p->checks.demand && (*io_extent)->kind != HONE_EXPR_VAR)
        HONE_TRY(plan_check_is_positive(&p->checks, *io_extent, &is_positive));
    const hone_expr *zero = hone_extent_int(&p->ir, 0);
    if (!is_positive && zero) *io_extent = hone_expr_binary(&p->ir, HONE_OP_MAX, *io_extent, zero);
    return hone_ir_finish(&p->ir);
}

/* The bytes of a result. Who reaches for what is not there reads at index 0 before that is told
 * (HONE_INTRIN_CHECKED_INDEX): where there may be nothing along a dimension there is room for one.
 */
static hone_status room_of(planner *p, const hone_plan_tensor *t, const hone_expr **out) {
    const hone_expr *room = hone_extent_int(&p->ir, (int64_t)hone_dtype_bytes(t->dtype));
    const hone_expr *one = hone_extent_int(&p->ir, 1);
    for (uint32_t d = 0; d < t->rank && room && one; d++) {
        const hone_expr *extent = t->shape[d];
        if (hone_expr_is_int_value(extent, 0)) extent = one;
        if (hone_plan_phase_of(p->plan, extent) > 0)
            extent = hone_expr_binary(&p->ir, HONE_OP_MAX, extent, one);
        else
            HONE_TRY(hold_above(p, &extent));
        room = hone_extent_mul(&p->ir, room, extent);
    }
    *out = room;
    return hone_ir_finish(&p->ir);
}

hone_status plan_add_result(planner *p, const hone_sinfo *info, uint32_t *out) {
    HONE_TRY(plan_add_tensor(p, HONE_PLAN_WORKSPACE, 0, info, out));
    if (!hone_grow(p->ir.arena, (void **)&p->storages, &p->storage_capacity, p->storage_count,
                   sizeof *p->storages)) {
        return HONE_NO_MEMORY("memory plan");
    }
    const hone_expr *bytes;
    HONE_TRY(room_of(p, &p->tensors[*out], &bytes));
    p->storages[p->storage_count] = (plan_storage){.place = HONE_PLAN_WORKSPACE,
                                                   .bytes = bytes,
                                                   .phase = hone_plan_phase_of(p->plan, bytes),
                                                   .first = p->step_count,
                                                   .last = p->step_count};
    p->storage_of[*out] = p->storage_count++;
    return HONE_OK;
}

hone_status plan_add_view(planner *p, uint32_t of, int64_t begin, const hone_sinfo *info,
                          uint32_t *out) {
    HONE_TRY(plan_add_tensor(p, p->tensors[of].place, p->tensors[of].index, info, out));
    p->storage_of[*out] = p->storage_of[of];
    p->begins[*out] = p->begins[of] + begin;
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

hone_status plan_info_of(planner *p, const hone_gbind *bind, const hone_sinfo **out) {
    return plan_info(p, p->graph->values[bind->value].sinfo, out);
}

static hone_status constant_tensor(planner *p, uint32_t constant, uint32_t *out) {
    if (p->constants[constant] == HONE_NO_ID) {
        hone_garg arg = HONE_GARG_OF_CONSTANT(constant);
        const hone_sinfo *info = hone_garg_sinfo(p->plan->module, p->graph, &arg, p->ir.arena);
        HONE_TRY(plan_add_tensor(p, HONE_PLAN_CONSTANT, constant, info, &p->constants[constant]));
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
    if (!out->items) return HONE_NO_MEMORY("memory plan");
    for (uint32_t i = 0; i < arg->count; i++) {
        plan_value item;
        HONE_TRY(plan_value_of(p, &arg->u.items[i], &item));
        if (item.is_tuple) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a tuple of tuples");
        out->items[i] = item.tensor;
    }
    return HONE_OK;
}

hone_status plan_tensor_of(planner *p, const hone_garg *arg, uint32_t *out) {
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
        hone_plan_check check = {HONE_PLAN_SAME, name, what, from->shape[d], info->shape[d], 0, 0};
        HONE_TRY(plan_check_that(&p->checks, &check));
    }
    return HONE_OK;
}
