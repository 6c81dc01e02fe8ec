/* lower/loops/lower_clip.c - the pass that shortens reduction loops by their conditions.
 * needs: no blocks. keeps: what is computed. A reduction loop whose whole body stands under a
 * condition like k0 * 64 + k1 < 500 ends early instead, or begins late:
 *
 *   for k1 in 64: if k0 * 64 + k1 < 500: body   ⇒   for k1 in min(64, 500 - k0 * 64): body
 *   for dy in 3: if 1 <= y + dy: body           ⇒   for dy in max(0, 1 - y) .. 3: body
 *   for j in 2: if f + j * 2 < 3: body          ⇒   for j in min(2, (4 - f) // 2): body
 *
 * so that the body has no condition and what it accumulates can stay in registers. Loops that
 * place what is stored keep their constant extents (lower_version takes care of those). */
#include "lower/ground/conditions.h"

typedef struct clipper {
    lower_scope scope; /* the variables below the loop, and the ranges of all */
    hone_node_id loop, guard;
    const hone_expr *rest; /* conjuncts that stay */
    bool is_clipped;
} clipper;

static bool places_a_store(const hone_func *func, hone_node_id loop) {
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) continue;
        for (uint32_t d = 0; d < node->u.store.rank; d++) {
            if (hone_expr_uses_var(node->u.store.indices[d], var)) return true;
        }
    }
    return false;
}

/* The only child of a loop or of a condition without an alternative, else HONE_NO_ID. */
static hone_node_id next_in_chain(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    bool is_chain =
        node->kind == HONE_NODE_FOR || (node->kind == HONE_NODE_IF && !lower_has_else(func, id));
    return is_chain ? lower_only_child(func, id) : HONE_NO_ID;
}

/* What is divided by may be 0 where the body never runs. */
static bool may_trap(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return hone_expr_may_trap(e);
}

/* The least number of steps of `coefficient` that reach from `rest` to 0 or beyond. */
static const hone_expr *steps_to_zero(hone_ir *ir, const hone_expr *rest, int64_t coefficient) {
    const hone_expr *zero = hone_expr_int(ir, rest->dtype, 0);
    const hone_expr *gap = hone_expr_sub(ir, zero, rest);
    if (coefficient == 1) return gap;
    gap = hone_expr_add(ir, gap, hone_expr_int(ir, rest->dtype, coefficient - 1));
    return hone_expr_floordiv(ir, gap, hone_expr_int(ir, rest->dtype, coefficient));
}

/* Narrows the loop when the condition says n * var < b or b <= var, and b does not vary inside. */
static bool narrow(clipper *c, const hone_expr *part) {
    hone_ir *ir = &c->scope.lower->ir;
    const hone_func *func = c->scope.lower->func;
    hone_node *loop = hone_func_node(func, c->loop);
    hone_var var = loop->u.loop.var;
    if (!hone_expr_is_pure_index(part)) return false;
    const hone_expr *gap = lower_gap_of(&c->scope.arith, part); /* coefficient * var + rest < 0 */
    int64_t coefficient;
    if (!gap || !hone_dtype_equal(gap->dtype, loop->u.loop.range.extent->dtype) ||
        !hone_linear_coeff(&c->scope.arith, gap, var, &coefficient) ||
        !lower_may_clip(coefficient)) {
        return false;
    }
    const hone_expr *zero = hone_expr_int(ir, gap->dtype, 0),
                    *one = hone_expr_int(ir, gap->dtype, 1);
    const hone_expr *rest = zero ? hone_expr_substitute_one(ir, gap, var, zero) : NULL;
    if (!rest || hone_expr_find(rest, may_trap, NULL) || lower_varies_below(&c->scope, rest))
        return false;
    const hone_expr *begin = loop->u.loop.range.min;
    const hone_expr *end = hone_expr_add(ir, begin, loop->u.loop.range.extent);
    if (coefficient > 0)
        end = hone_expr_binary(ir, HONE_OP_MIN, end, steps_to_zero(ir, rest, coefficient));
    else
        begin = hone_expr_binary(ir, HONE_OP_MAX, begin, hone_expr_add(ir, rest, one));
    const hone_expr *extent = hone_expr_sub(ir, end, begin);
    extent = hone_expr_binary(ir, HONE_OP_MAX, extent, zero);
    extent = extent ? hone_simplify(&c->scope.arith, extent) : NULL;
    begin = begin ? hone_simplify(&c->scope.arith, begin) : NULL;
    if (!extent || !begin) return false;
    loop->u.loop.range.min = begin;
    loop->u.loop.range.extent = extent;
    c->is_clipped = true;
    return true;
}

static bool take_part(void *ctx, const hone_expr *part) {
    clipper *c = ctx;
    if (!narrow(c, part)) c->rest = lower_and(&c->scope.lower->ir, c->rest, part);
    return true;
}

static hone_status clip(clipper *c) {
    hone_func *func = c->scope.lower->func;
    HONE_TRY(lower_enter(&c->scope, c->loop, HONE_NO_ID));
    c->rest = NULL;
    c->is_clipped = false;
    lower_conjuncts(hone_func_node(func, c->guard)->u.eval.value, take_part, c);
    if (!c->is_clipped) return hone_ir_finish(&c->scope.arith.ir);
    if (c->rest)
        hone_func_node(func, c->guard)->u.eval.value = c->rest;
    else
        lower_splice(func, c->guard);
    return hone_ir_finish(&c->scope.arith.ir);
}

/* By all conditions below the loop that hold nothing but loops and each other. */
static hone_status clip_by_chain(clipper *c) {
    const hone_func *func = c->scope.lower->func;
    hone_node_id next;
    for (hone_node_id at = next_in_chain(func, c->loop); at != HONE_NO_ID; at = next) {
        next = next_in_chain(func, at);
        c->guard = at;
        bool is_guard = hone_func_node(func, at)->kind == HONE_NODE_IF && !lower_has_else(func, at);
        if (is_guard) HONE_TRY(clip(c));
    }
    return HONE_OK;
}

hone_status lower_clip(hone_lower *lower) {
    hone_func *func = lower->func;
    clipper c = {.scope = {.lower = lower}};
    hone_arith_init(&c.scope.arith, func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_SERIAL) continue;
        if (!hone_expr_is_int(node->u.loop.range.extent) || places_a_store(func, n)) continue;
        if (lower_has_threads(func, n)) continue;
        c.loop = n;
        HONE_TRY(clip_by_chain(&c));
    }
    return hone_ir_finish(&c.scope.arith.ir);
}
