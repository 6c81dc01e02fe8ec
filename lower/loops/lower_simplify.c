/* lower/loops/lower_simplify.c - the pass that simplifies all expressions.
 * needs: nothing. keeps: the program. Simplifies every expression by the ranges of the loops around
 * it and the conditions that guard it; takes an IF apart whose condition is constant, and offsets
 * of 0 from what is allocated. */
#include <string.h>

#include "lower/ground/pipelined.h"

static hone_status simplify_children(hone_lower *lower, hone_arith *arith, hone_node_id parent);
static hone_status simplify_node(hone_lower *lower, hone_arith *arith, hone_node_id id);

static const hone_expr *simplify(hone_arith *arith, const hone_expr *e) {
    return e ? hone_simplify(arith, e) : NULL;
}

static hone_status simplify_list(hone_arith *arith, hone_func *func, uint32_t count,
                                 const hone_expr *const **list) {
    bool is_changed = false;
    const hone_expr **out = hone_arena_alloc(func->arena, (count ? count : 1) * sizeof *out);
    if (!out) return LOWER_NO_MEMORY();
    for (uint32_t i = 0; i < count; i++) {
        out[i] = simplify(arith, (*list)[i]);
        if (!out[i]) return hone_ir_finish(&arith->ir);
        is_changed |= out[i] != (*list)[i];
    }
    if (is_changed) *list = out;
    return HONE_OK;
}

hone_status lower_hand_down_pragmas(hone_func *func, hone_node_id id) {
    const hone_attrs attrs = hone_func_node(func, id)->u.loop.annotations;
    hone_node_id next;
    for (hone_node_id n = hone_func_node(func, id)->first; n != HONE_NO_ID && attrs.count;
         n = next) {
        hone_node *node = hone_func_node(func, n);
        bool is_loop = node->kind == HONE_NODE_FOR;
        next = is_loop ? hone_tree_next_over(func, id, n) : hone_tree_next(func, id, n);
        for (uint32_t i = 0; i < attrs.count && is_loop; i++) {
            const hone_attr *a = &attrs.items[i];
            hone_attrs *inner = &node->u.loop.annotations;
            if (strncmp(a->key, "pragma_", 7) != 0 || hone_attrs_find(inner, a->key)) continue;
            if (!hone_attrs_with(func->arena, inner, a->key, a->value, inner)) {
                return LOWER_NO_MEMORY();
            }
        }
    }
    return HONE_OK;
}

static hone_status simplify_loop(hone_lower *lower, hone_arith *arith, hone_node_id id) {
    hone_node *node = hone_func_node(lower->func, id);
    hone_range range = {simplify(arith, node->u.loop.range.min),
                        simplify(arith, node->u.loop.range.extent)};
    if (!range.min || !range.extent) return hone_ir_finish(&arith->ir);
    node->u.loop.range = range;
    if (hone_expr_is_int(range.extent) && range.extent->u.i < 0) {
        hone_tree_remove(lower->func, id); /* behind a condition that never holds */
        return HONE_OK;
    }
    if (hone_expr_is_int_value(range.extent, 1) && node->loop_kind != HONE_LOOP_THREAD &&
        !lower_is_pipelined(node) && hone_tree_jump_of(lower->func, id, true) == HONE_NO_ID) {
        HONE_TRY(lower_hand_down_pragmas(lower->func, id));
        HONE_TRY(lower_substitute_one(lower->func, id, node->u.loop.var, range.min));
        HONE_TRY(simplify_children(lower, arith, id));
        lower_splice(lower->func, id);
        return HONE_OK;
    }
    if (!hone_arith_bind(arith, node->u.loop.var, range)) return LOWER_NO_MEMORY();
    return simplify_children(lower, arith, id);
}

/* Keeps one branch of an IF whose condition is known. */
static void keep_branch(hone_func *func, hone_node_id id, bool taken) {
    hone_node_id last = hone_func_node(func, id)->last;
    bool has_else = lower_has_else(func, id);
    if (taken) {
        if (has_else) hone_tree_remove(func, last);
        lower_splice(func, id);
    } else if (has_else) {
        hone_tree_remove(func, last);
        hone_tree_replace(func, id, last);
        lower_splice(func, last);
    } else {
        hone_tree_remove(func, id);
    }
}

static hone_status simplify_if(hone_lower *lower, hone_arith *arith, hone_node_id id) {
    hone_func *func = lower->func;
    const hone_expr *condition = simplify(arith, hone_func_node(func, id)->u.eval.value);
    if (!condition) return hone_ir_finish(&arith->ir);
    hone_func_node(func, id)->u.eval.value = condition;
    if (condition->dtype.lanes > 1) return simplify_children(lower, arith, id);
    bool is_fact = lower_stays_true(func, id, condition);
    uint32_t mark = hone_arith_push(arith, is_fact ? condition : NULL);
    hone_node_id next;
    for (hone_node_id c = hone_func_node(func, id)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        if (hone_func_node(func, c)->kind == HONE_NODE_ELSE) break;
        HONE_TRY(simplify_node(lower, arith, c));
    }
    hone_arith_pop(arith, mark);
    hone_node_id last = hone_func_node(func, id)->last;
    if (last != HONE_NO_ID && hone_func_node(func, last)->kind == HONE_NODE_ELSE) {
        const hone_expr *negation = hone_expr_not(&lower->ir, condition);
        if (!negation) return hone_ir_finish(&lower->ir);
        mark = hone_arith_push(arith, is_fact ? negation : NULL);
        HONE_TRY(simplify_children(lower, arith, last));
        hone_arith_pop(arith, mark);
    }
    if (hone_expr_is_int(condition)) keep_branch(func, id, condition->u.i != 0);
    return HONE_OK;
}

static hone_status simplify_node(hone_lower *lower, hone_arith *arith, hone_node_id id) {
    hone_func *func = lower->func;
    hone_node *node = hone_func_node(func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        return simplify_loop(lower, arith, id);
    case HONE_NODE_IF:
        return simplify_if(lower, arith, id);
    case HONE_NODE_STORE:
        HONE_TRY(simplify_list(arith, func, node->u.store.rank, &node->u.store.indices));
        node->u.store.value = simplify(arith, node->u.store.value);
        return node->u.store.value ? HONE_OK : hone_ir_finish(&arith->ir);
    case HONE_NODE_EVAL:
    case HONE_NODE_WHILE:
    case HONE_NODE_ASSERT:
        node->u.eval.value = simplify(arith, node->u.eval.value);
        if (!node->u.eval.value) return hone_ir_finish(&arith->ir);
        return simplify_children(lower, arith, id);
    case HONE_NODE_LET:
        node->u.let.value = simplify(arith, node->u.let.value);
        if (!node->u.let.value) return hone_ir_finish(&arith->ir);
        return simplify_children(lower, arith, id);
    default:
        return simplify_children(lower, arith, id);
    }
}

static hone_status simplify_children(hone_lower *lower, hone_arith *arith, hone_node_id parent) {
    hone_node_id next;
    for (hone_node_id c = hone_func_node(lower->func, parent)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(lower->func, c)->next; /* c may be replaced by its children */
        HONE_TRY(simplify_node(lower, arith, c));
    }
    return HONE_OK;
}

/* What is allocated begins where its memory does, whether its declaration says so or not. */
static void drop_offsets(hone_func *func) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_ALLOC) continue;
        hone_buffer_info *info = &func->buffers[node->u.alloc.buffer];
        if (info->elem_offset && hone_expr_is_int_value(info->elem_offset, 0))
            info->elem_offset = NULL;
    }
}

hone_status lower_simplify(hone_lower *lower) {
    hone_arith arith;
    drop_offsets(lower->func);
    hone_arith_init(&arith, lower->func->arena);
    if (!hone_arith_bind_sizes(&arith, lower->func)) return LOWER_NO_MEMORY();
    HONE_TRY(simplify_children(lower, &arith, 0));
    return hone_ir_finish(&arith.ir);
}
