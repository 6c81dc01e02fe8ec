/* lower/loops/lower_guard.c - the pass that asks around a step of a sum what its term asks.
 * needs: no blocks. keeps: what is computed. A term that is nothing under a condition is left out
 * there, so that passes behind this one end loops early (lower_clip.c) or ask around them
 * (lower_hoist_if.c):
 *
 *   for k: for j in vectorized(16): S[j] = S[j] + if_then_else(a + k < n, f(j), 0)
 *     ⇒ for k: for j in vectorized(16): if a + k < n: S[j] = S[j] + f(j)
 *
 * Adding 0 changes a -0 alone, which a sum that began with 0 never is: whatever else is stored to
 * S, an allocation, is 0. The condition is not of lanes, nor of the innermost loop that runs in
 * order: what is asked in the middle of a sum keeps it out of registers. */
#include <math.h>

#include "lower/ground/accesses.h"
#include "lower/ground/conditions.h"

/* S[i] = S[i] + if_then_else(condition, term, 0) */
typedef struct step {
    hone_node_id store;
    const hone_expr *sum, *condition, *term;
} step;

static bool is_nothing(const hone_expr *e) {
    if (e->kind == HONE_EXPR_FLOAT) return e->u.f == 0 && !signbit(e->u.f);
    return hone_expr_is_int_value(e, 0);
}

static bool match_term(const hone_expr *e, step *out) {
    bool is_choice = e->kind == HONE_EXPR_CALL && e->op == HONE_INTRIN_IF_THEN_ELSE;
    if (!is_choice || !is_nothing(e->args[2]) || !hone_expr_is_pure_index(e->args[0])) return false;
    out->condition = e->args[0];
    out->term = e->args[1];
    return true;
}

static bool match_step(const hone_func *func, hone_node_id id, step *out) {
    const hone_node *node = hone_func_node(func, id);
    if (node->kind != HONE_NODE_STORE || !hone_expr_is_op(node->u.store.value, HONE_OP_ADD))
        return false;
    out->store = id;
    for (int side = 0; side < 2; side++) {
        out->sum = node->u.store.value->args[side];
        if (out->sum->kind == HONE_EXPR_LOAD && lower_is_stored_element(node, out->sum) &&
            match_term(node->u.store.value->args[1 - side], out)) {
            return true;
        }
    }
    return false;
}

/* ---- where the condition may be asked ---- */

typedef struct asker {
    hone_arith *arith;
    hone_var var; /* of the innermost loop that runs in order */
} asker;

/* The part of a condition stays outside of the loop, or ends it early. */
static bool leaves_loop(void *ctx, const hone_expr *part) {
    const asker *a = ctx;
    int64_t growth;
    if (!hone_expr_uses_var(part, a->var)) return true;
    const hone_expr *gap = lower_gap_of(a->arith, part);
    return gap && hone_linear_coeff(a->arith, gap, a->var, &growth) && lower_may_clip(growth);
}

/* No loop of lanes or copies around the step says what it is, nor, in the middle of it, the
 * innermost one besides. */
static bool is_asked_outside(const hone_func *func, hone_arith *arith, const step *s) {
    for (hone_node_id n = s->store; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        asker a = {arith, node->u.loop.var};
        if (node->loop_kind == HONE_LOOP_SERIAL)
            return lower_conjuncts(s->condition, leaves_loop, &a);
        if (hone_expr_uses_var(s->condition, a.var)) return false;
    }
    return false;
}

/* ---- that the sum is no -0 ---- */

static bool is_parameter(const hone_func *func, hone_buffer buffer) {
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == buffer) return true;
    }
    return false;
}

/* Stores 0, or adds to the element that it stores to. */
static bool keeps_sums(const hone_func *func, hone_node_id store) {
    const hone_node *node = hone_func_node(func, store);
    const hone_expr *value = node->u.store.value;
    if (is_nothing(value)) return true;
    if (!hone_expr_is_op(value, HONE_OP_ADD)) return false;
    for (int side = 0; side < 2; side++) {
        const hone_expr *e = value->args[side];
        if (e->kind == HONE_EXPR_LOAD && lower_is_stored_element(node, e)) return true;
    }
    return false;
}

static bool is_sum(const hone_func *func, hone_buffer buffer, const lower_accesses *all) {
    if (is_parameter(func, buffer) || func->buffers[buffer].alias_of != HONE_NO_ID) return false;
    if (all->is_opaque) return false;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].is_store && !keeps_sums(func, all->items[i].node)) return false;
    }
    return true;
}

static hone_status guard(hone_lower *lower, const step *s, const lower_accesses *by_buffer) {
    hone_func *func = lower->func;
    hone_buffer buffer = hone_func_node(func, s->store)->u.store.buffer;
    if (!is_sum(func, buffer, &by_buffer[buffer])) return HONE_OK;
    const hone_expr *value = hone_expr_add(&lower->ir, s->sum, s->term);
    HONE_TRY(hone_ir_finish(&lower->ir));
    hone_func_node(func, s->store)->u.store.value = value;
    return lower_wrap_if(lower, s->condition, s->store);
}

hone_status lower_guard(hone_lower *lower) {
    step s;
    hone_arith arith;
    lower_accesses *by_buffer = NULL; /* once there is a step */
    hone_arith_init(&arith, lower->func->arena);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(lower->func, 0, n)) {
        if (!match_step(lower->func, n, &s) || !is_asked_outside(lower->func, &arith, &s)) continue;
        if (!by_buffer) HONE_TRY(lower_find_all_accesses(lower->func, &by_buffer));
        HONE_TRY(guard(lower, &s, by_buffer));
    }
    return hone_ir_finish(&arith.ir);
}
