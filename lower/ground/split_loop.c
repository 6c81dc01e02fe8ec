/* lower/ground/split_loop.c - see split_loop.h. */
#include "lower/ground/split_loop.h"

hone_range lower_range(hone_ir *ir, hone_dtype dtype, int64_t first, int64_t count) {
    return (hone_range){hone_expr_int(ir, dtype, first), hone_expr_int(ir, dtype, count)};
}

hone_node_id lower_new_loop(hone_lower *lower, const char *name, hone_loop_kind kind,
                            hone_range range, const hone_expr **out_var) {
    hone_func *func = lower->func;
    if (!range.min || !range.extent) return HONE_NO_ID;
    hone_var var = hone_func_add_var(func, name, range.min->dtype);
    if (var == HONE_NO_ID) return HONE_NO_ID;
    *out_var = hone_func_var_expr(&lower->ir, func, var);
    return *out_var ? hone_func_add_loop(func, var, kind, range) : HONE_NO_ID;
}

/* start + count */
static const hone_expr *later(hone_ir *ir, const hone_expr *start, int64_t count) {
    return hone_expr_is_int(start)
               ? hone_expr_int(ir, start->dtype, start->u.i + count)
               : hone_expr_add(ir, start, hone_expr_int(ir, start->dtype, count));
}

hone_status lower_cut_off(hone_lower *lower, hone_node_id loop, int64_t count,
                          hone_node_id *out_rest) {
    hone_func *func = lower->func;
    hone_ir *ir = &lower->ir;
    hone_range range = hone_func_node(func, loop)->u.loop.range;
    int64_t rest = hone_expr_const(range.extent) - count;
    *out_rest = hone_tree_copy(func, loop);
    if (*out_rest == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(lower_rename_vars(lower, *out_rest));
    hone_dtype dtype = range.min->dtype;
    hone_func_node(func, loop)->u.loop.range.extent = hone_expr_int(ir, dtype, count);
    hone_func_node(func, *out_rest)->u.loop.range =
        (hone_range){later(ir, range.min, count), hone_expr_int(ir, dtype, rest)};
    hone_tree_insert_after(func, loop, *out_rest);
    return hone_ir_finish(ir);
}

hone_status lower_in_parts(hone_lower *lower, hone_node_id loop, int64_t count, hone_loop_kind kind,
                           hone_node_id *out_around) {
    hone_func *func = lower->func;
    hone_ir *ir = &lower->ir;
    hone_range range = hone_func_node(func, loop)->u.loop.range;
    const char *name = func->vars[hone_func_node(func, loop)->u.loop.var].name;
    hone_dtype dtype = range.min->dtype;
    const hone_expr *part;
    hone_range parts = lower_range(ir, dtype, 0, hone_expr_const(range.extent) / count);
    *out_around = lower_new_loop(lower, name, kind, parts, &part);
    if (*out_around == HONE_NO_ID) return LOWER_NO_MEMORY();
    const hone_expr *done = hone_expr_mul(ir, part, hone_expr_int(ir, dtype, count));
    hone_func_node(func, loop)->u.loop.range =
        (hone_range){hone_expr_add(ir, range.min, done), hone_expr_int(ir, dtype, count)};
    return hone_ir_finish(ir);
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

hone_status lower_repeat_body(hone_lower *lower, hone_node_id id, int64_t extent) {
    hone_func *func = lower->func;
    hone_ir *ir = &lower->ir;
    hone_var var = hone_func_node(func, id)->u.loop.var;
    const hone_expr *min = hone_func_node(func, id)->u.loop.range.min;
    hone_dtype dtype = func->vars[var].dtype;
    HONE_TRY(lower_keep_wish(lower, id));
    for (int64_t i = 0; i < extent; i++) {
        const hone_expr *value = hone_expr_add(ir, min, hone_expr_int(ir, dtype, i));
        if (!value) return hone_ir_finish(ir);
        value = hone_simplify_plain(ir, value);
        LOWER_EACH_CHILD (func, id, c) {
            hone_node_id copy = hone_tree_copy(func, c);
            if (copy == HONE_NO_ID) return LOWER_NO_MEMORY();
            HONE_TRY(lower_substitute_one(func, copy, var, value));
            hone_tree_insert_before(func, id, copy);
        }
    }
    hone_tree_remove(func, id);
    return HONE_OK;
}
