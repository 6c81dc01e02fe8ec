/* lower/vectors/vector_cut.c - see vector_cut.h. */
#include "lower/vectors/vector_cut.h"

enum { MAX_UNROLLED_HEAD = 16 };

static bool note_bits_of(void *ctx, const hone_expr *e) {
    int32_t *widest = ctx;
    bool is_value = e->kind == HONE_EXPR_LOAD || e->kind == HONE_EXPR_CAST;
    if (is_value && e->dtype.bits > *widest) *widest = e->dtype.bits;
    return e->kind != HONE_EXPR_LOAD; /* indices do not count */
}

int64_t lower_vector_lanes(const hone_lower *lower, hone_node_id id) {
    const hone_func *func = lower->func;
    int32_t widest = 8;
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(func, id, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) {
            if (node->first == HONE_NO_ID) widest = 32; /* who knows */
            continue;
        }
        int32_t bits = func->buffers[node->u.store.buffer].dtype.bits;
        if (bits > widest) widest = bits;
        hone_expr_walk(node->u.store.value, note_bits_of, &widest);
    }
    return hone_target_lanes(lower->options->target, widest > 32 ? 32 : widest);
}

hone_status lower_cut_vector(hone_lower *lower, hone_node_id id, int64_t extent, int64_t lanes) {
    hone_func *func = lower->func;
    hone_ir *ir = &lower->ir;
    hone_node_id rest = HONE_NO_ID;
    hone_var var = hone_func_node(func, id)->u.loop.var;
    hone_dtype dtype = func->vars[var].dtype;
    const hone_expr *min = hone_func_node(func, id)->u.loop.range.min;
    int64_t head = extent / lanes;
    if (extent % lanes != 0) {
        rest = hone_tree_copy(func, id);
        if (rest == HONE_NO_ID) return LOWER_NO_MEMORY();
        const hone_expr *start = hone_expr_add(ir, min, hone_expr_int(ir, dtype, head * lanes));
        if (!start) return hone_ir_finish(ir);
        hone_var fresh = hone_func_add_var(func, func->vars[var].name, dtype);
        if (fresh == HONE_NO_ID) return LOWER_NO_MEMORY();
        HONE_TRY(lower_substitute_one(func, rest, var, hone_func_var_expr(ir, func, fresh)));
        hone_func_node(func, rest)->u.loop.var = fresh;
        hone_func_node(func, rest)->u.loop.range =
            (hone_range){start, hone_expr_int(ir, dtype, extent - head * lanes)};
        hone_tree_insert_after(func, id, rest);
    }
    hone_var outer = hone_func_add_var(func, func->vars[var].name, dtype);
    if (outer == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_range range = {hone_expr_int(ir, dtype, 0), hone_expr_int(ir, dtype, head)};
    hone_loop_kind kind = head <= MAX_UNROLLED_HEAD ? HONE_LOOP_UNROLLED : HONE_LOOP_SERIAL;
    hone_node_id around = hone_func_add_loop(func, outer, kind, range);
    if (around == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *start = hone_expr_add(
        ir, min,
        hone_expr_mul(ir, hone_func_var_expr(ir, func, outer), hone_expr_int(ir, dtype, lanes)));
    if (!start) return hone_ir_finish(ir);
    hone_func_node(func, id)->u.loop.range = (hone_range){start, hone_expr_int(ir, dtype, lanes)};
    lower_wrap(func, id, around);
    return HONE_OK;
}

hone_status lower_begin_at_zero(hone_lower *lower, hone_node_id id) {
    hone_func *func = lower->func;
    hone_ir *ir = &lower->ir;
    hone_var old = hone_func_node(func, id)->u.loop.var;
    const hone_expr *start = hone_func_node(func, id)->u.loop.range.min;
    hone_var fresh = hone_func_add_var(func, func->vars[old].name, func->vars[old].dtype);
    if (fresh == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *value = hone_expr_add(ir, start, hone_func_var_expr(ir, func, fresh));
    const hone_expr *zero = hone_expr_int(ir, start->dtype, 0);
    HONE_TRY(hone_ir_finish(ir));
    hone_func_node(func, id)->u.loop.var = fresh;
    hone_func_node(func, id)->u.loop.range.min = zero;
    return lower_substitute_one(func, id, old, value);
}
