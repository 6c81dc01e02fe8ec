/* lower/ground/conditions.c - see conditions.h. */
#include "lower/ground/conditions.h"

const hone_expr *lower_gap_of(hone_arith *arith, const hone_expr *condition) {
    hone_ir *ir = &arith->ir;
    const hone_expr *e = condition;
    bool is_strict = hone_expr_is_op(e, HONE_OP_LT) || hone_expr_is_op(e, HONE_OP_GT);
    bool is_less = hone_expr_is_op(e, HONE_OP_LT) || hone_expr_is_op(e, HONE_OP_LE);
    bool is_more = hone_expr_is_op(e, HONE_OP_GT) || hone_expr_is_op(e, HONE_OP_GE);
    if (!is_less && !is_more) return NULL;
    const hone_expr *a = e->args[is_more], *b = e->args[is_less];
    if (!hone_dtype_is_int(a->dtype) || a->dtype.lanes != 1) return NULL;
    const hone_expr *gap = hone_expr_sub(ir, a, b);
    if (!is_strict) gap = hone_expr_sub(ir, gap, hone_expr_int(ir, a->dtype, 1));
    return gap ? hone_simplify(arith, gap) : NULL;
}

hone_interval lower_gap_range(lower_conditions *c, const hone_expr *part) {
    const hone_expr *gap =
        hone_expr_is_pure_index(part) ? lower_gap_of(&c->scope.arith, part) : NULL;
    return gap ? lower_range_below(&c->scope, gap) : (hone_interval){NULL, NULL};
}

/* What implies the condition for all iterations: the largest gap is below 0. */
static const hone_expr *hoist(lower_conditions *c, const hone_expr *part) {
    hone_ir *ir = &c->scope.arith.ir;
    if (hone_expr_is_pure_index(part) && !lower_varies_below(&c->scope, part)) return part;
    const hone_expr *most = lower_gap_range(c, part).max;
    if (!most || hone_expr_uses_any(most, c->scope.loops, c->scope.var_count)) return NULL;
    return hone_expr_binary(ir, HONE_OP_LT, most, hone_expr_int(ir, most->dtype, 0));
}

static bool note_condition(void *ctx, const hone_expr *part) {
    lower_conditions *c = ctx;
    if (hone_expr_is_int(part)) return true;
    for (uint32_t i = 0; i < c->count; i++) {
        if (hone_expr_same(c->conditions[i], part)) return true;
    }
    if (c->count == LOWER_MAX_CONDITIONS) return true;
    const hone_expr *hoisted = hoist(c, part);
    if (!hoisted) return true; /* stays where it is */
    c->conditions[c->count] = part;
    c->hoisted[c->count++] = hoisted;
    return true;
}

/* Not a comparison of integers of which the second is never the larger one. */
static bool may_hold(void *ctx, const hone_expr *part) {
    lower_conditions *c = ctx;
    if (hone_expr_is_int_value(part, 0)) return false;
    const hone_expr *gap =
        hone_expr_is_pure_index(part) ? lower_gap_of(&c->scope.arith, part) : NULL;
    return !gap || hone_arith_bound(&c->scope.arith, gap).min < 0;
}

/* Where one part never holds, the others are of no account. */
static bool note_choice(void *ctx, const hone_expr *e) {
    bool is_choice = hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE) && e->dtype.lanes == 1;
    if (is_choice && lower_conjuncts(e->args[0], may_hold, ctx))
        lower_conjuncts(e->args[0], note_condition, ctx);
    return true;
}

bool lower_is_tile(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_FOR &&
           (node->loop_kind == HONE_LOOP_VECTORIZED || node->loop_kind == HONE_LOOP_UNROLLED);
}

static void find_below(lower_conditions *c, hone_node_id root) {
    hone_func *func = c->scope.lower->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_IF || lower_has_else(func, n)) continue;
        lower_conjuncts(node->u.eval.value, note_condition, c);
    }
    hone_tree_walk_parts(func, root, false, note_choice, c);
}

hone_status lower_find_conditions(lower_conditions *c, hone_node_id root, hone_var kept,
                                  bool only_in_tiles) {
    hone_func *func = c->scope.lower->func;
    c->count = 0;
    HONE_TRY(lower_enter(&c->scope, root, kept));
    if (!only_in_tiles) {
        find_below(c, root);
        return hone_ir_finish(&c->scope.arith.ir);
    }
    hone_node_id next;
    for (hone_node_id n = root; n != HONE_NO_ID; n = next) {
        bool is_tile = lower_is_tile(func, n);
        next = is_tile ? hone_tree_next_over(func, root, n) : hone_tree_next(func, root, n);
        if (is_tile) find_below(c, n);
    }
    return hone_ir_finish(&c->scope.arith.ir);
}

void lower_drop_condition(lower_conditions *c, uint32_t i) {
    c->count--;
    c->conditions[i] = c->conditions[c->count];
    c->hoisted[i] = c->hoisted[c->count];
}

static const hone_expr *make_true(void *ctx, hone_ir *ir, const hone_expr *e) {
    lower_conditions *c = ctx;
    if (!hone_dtype_is_bool(e->dtype) || e->dtype.lanes != 1) return e;
    for (uint32_t i = 0; i < c->count; i++) {
        if (hone_expr_same(c->conditions[i], e)) return hone_expr_bool(ir, true);
    }
    return e;
}

hone_status lower_assume_conditions(lower_conditions *c, hone_node_id root) {
    return hone_tree_transform(c->scope.lower->func, root, make_true, c, false);
}
