/* lower/vectors/lane_nest.c - see lane_nest.h. */
#include "lower/vectors/lane_nest.h"

#include "lower/ground/accesses.h"
#include "lower/ground/split_loop.h"

bool lower_nest_grow(lower_nest *nest, hone_node_id loop) {
    const hone_node *node = hone_func_node(nest->lower->func, loop);
    uint32_t l = nest->depth++;
    nest->loops[l] = loop;
    nest->vars[l] = node->u.loop.var;
    nest->extents[l] = hone_expr_const(node->u.loop.range.extent);
    nest->strides[l] = nest->count;
    return !__builtin_mul_overflow(nest->count, nest->extents[l], &nest->count);
}

bool lower_nest_begin(lower_nest *nest, hone_lower *lower, hone_node_id vector) {
    *nest = (lower_nest){.lower = lower, .count = 1};
    return lower_is_plain_loop(lower->func, vector) && lower_nest_grow(nest, vector);
}

hone_node_id lower_nest_around(const lower_nest *nest) {
    const hone_func *func = nest->lower->func;
    hone_node_id up = hone_func_node(func, nest->loops[nest->depth - 1])->parent;
    if (nest->depth == LOWER_MAX_NEST || !lower_is_plain_loop(func, up)) return HONE_NO_ID;
    const hone_node *node = hone_func_node(func, up);
    bool is_kind = node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_PARALLEL;
    bool is_alike =
        hone_dtype_equal(func->vars[node->u.loop.var].dtype, func->vars[nest->vars[0]].dtype);
    return is_kind && is_alike ? up : HONE_NO_ID;
}

static bool is_parallel(const lower_nest *nest) {
    for (uint32_t l = 0; l < nest->depth; l++) {
        if (hone_func_node(nest->lower->func, nest->loops[l])->loop_kind == HONE_LOOP_PARALLEL)
            return true;
    }
    return false;
}

bool lower_nest_is_fed(const lower_nest *nest, int64_t parts) {
    int64_t threads = nest->lower->options->target->num_threads;
    return !is_parallel(nest) || parts >= 2 * threads;
}

const hone_expr **lower_nest_digits(const lower_nest *nest, hone_ir *ir, const hone_expr *number) {
    hone_func *func = nest->lower->func;
    const hone_expr **map = hone_arena_zalloc(func->arena, func->var_count * sizeof *map);
    for (uint32_t l = 0; map && l < nest->depth; l++) {
        const hone_expr *stride = hone_expr_int(ir, number->dtype, nest->strides[l]);
        const hone_expr *extent = hone_expr_int(ir, number->dtype, nest->extents[l]);
        const hone_expr *digit = l > 0 ? hone_expr_floordiv(ir, number, stride) : number;
        if (l + 1 < nest->depth) digit = hone_expr_floormod(ir, digit, extent);
        map[nest->vars[l]] = digit;
    }
    return map;
}

static hone_status set_loop(lower_nest *nest, hone_node_id loop, hone_var var, int64_t extent) {
    hone_ir *ir = &nest->lower->ir;
    hone_node *node = hone_func_node(nest->lower->func, loop);
    node->u.loop.var = var;
    node->u.loop.range = lower_range(ir, nest->lower->func->vars[var].dtype, 0, extent);
    return hone_ir_finish(ir);
}

hone_status lower_nest_replace(lower_nest *nest, hone_var part, int64_t parts, hone_var lane,
                               int64_t lanes) {
    hone_func *func = nest->lower->func;
    hone_node_id vector = nest->loops[0], top = nest->loops[nest->depth - 1];
    hone_loop_kind kind = is_parallel(nest) ? HONE_LOOP_PARALLEL : HONE_LOOP_SERIAL;
    if (nest->depth == 1) {
        top = hone_func_add_loop(func, part, kind, hone_func_node(func, vector)->u.loop.range);
        if (top == HONE_NO_ID) return LOWER_NO_MEMORY();
        lower_wrap(func, vector, top);
    }
    for (uint32_t l = 1; l + 1 < nest->depth; l++)
        lower_splice(func, nest->loops[l]);
    hone_func_node(func, top)->loop_kind = kind;
    HONE_TRY(set_loop(nest, top, part, parts));
    return set_loop(nest, vector, lane, lanes);
}

bool lower_is_lane_part(const hone_expr *e) {
    return e->dtype.lanes == 1 && !hone_dtype_is_handle(e->dtype) && e->kind != HONE_EXPR_LET &&
           !lower_has_effects(e);
}

bool lower_sees_store(const hone_func *func, const hone_node *store, const hone_expr *load) {
    return hone_func_storage(func, load->u.buffer) ==
           hone_func_storage(func, store->u.store.buffer);
}
