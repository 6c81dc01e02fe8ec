/* lower/lower_hoist_if.c
 * needs: no blocks. keeps: what is computed. What all statements of a loop's body ask and no
 * iteration changes is asked once, around the loop; statements that follow each other under one
 * condition share it:
 *
 *   if y < 33: S0                           if y < 33:
 *   for k in 9:                                 S0
 *       for j in vectorized(16):         ⇒      for k in 9:
 *           if y < 33: S1                           for j in vectorized(16): S1
 *
 * so that nothing is asked in the middle of a sum, which could not stay in registers then. On a
 * GPU everything stays: threads must meet at barriers. */
#include "lower/passes.h"

/* Can it be computed anywhere in its scope, with the same result? */
static bool is_plain(const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_VAR:
    case HONE_EXPR_INT:
        return true;
    case HONE_EXPR_BINARY:
        if (hone_dtype_is_float(e->dtype)) return false;
        if (hone_expr_may_trap(e)) return false;
        break;
    case HONE_EXPR_NOT:
    case HONE_EXPR_CAST:
        break;
    default:
        return false;
    }
    for (uint16_t i = 0; i < e->count; i++) {
        if (!is_plain(e->args[i])) return false;
    }
    return true;
}

static bool is_choice(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_IF && !lower_has_else(func, id) &&
           node->u.eval.value->dtype.lanes == 1;
}

/* ---- what a loop's body asks ---- */

static bool is_other(void *ctx, const hone_expr *part) {
    return !hone_expr_same(ctx, part);
}

/* Does every child ask for it? */
static bool is_asked_by_all(const hone_func *func, hone_node_id parent, const hone_expr *part) {
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID;
         c = hone_func_node(func, c)->next) {
        if (!is_choice(func, c)) return false;
        const hone_expr *condition = hone_func_node(func, c)->u.eval.value;
        if (lower_conjuncts(condition, is_other, (void *)(uintptr_t)part)) return false;
    }
    return true;
}

typedef struct hoister {
    hone_lower *lower;
    hone_node_id parent;
    hone_var var;             /* of the loop; HONE_NO_ID = none */
    const hone_expr *hoisted; /* NULL = nothing */
    const hone_expr *rest;    /* of one child's condition; NULL = nothing */
} hoister;

static bool note_common(void *ctx, const hone_expr *part) {
    hoister *h = ctx;
    bool is_fixed = is_plain(part) && (h->var == HONE_NO_ID || !hone_expr_uses_var(part, h->var));
    if (is_fixed && is_asked_by_all(h->lower->func, h->parent, part)) {
        h->hoisted = lower_and(&h->lower->ir, h->hoisted, part);
    }
    return true;
}

static bool note_rest(void *ctx, const hone_expr *part) {
    hoister *h = ctx;
    if (lower_conjuncts(h->hoisted, is_other, (void *)(uintptr_t)part))
        h->rest = lower_and(&h->lower->ir, h->rest, part);
    return true;
}

/* Takes what was hoisted out of the conditions of the children. */
static hone_status relieve(hoister *h) {
    hone_func *func = h->lower->func;
    hone_node_id next;
    for (hone_node_id c = hone_func_node(func, h->parent)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        h->rest = NULL;
        lower_conjuncts(hone_func_node(func, c)->u.eval.value, note_rest, h);
        HONE_TRY(hone_ir_finish(&h->lower->ir));
        hone_func_node(func, c)->u.eval.value = h->rest;
        if (!h->rest) lower_splice(func, c);
    }
    return HONE_OK;
}

/* For a loop, and for an allocation, which stands between a loop and its statements. */
static hone_status hoist_out_of(hone_lower *lower, hone_node_id id) {
    hone_func *func = lower->func;
    const hone_node *node = hone_func_node(func, id);
    if (node->first == HONE_NO_ID || !is_choice(func, node->first)) return HONE_OK;
    hoister h = {.lower = lower, .parent = id, .var = HONE_NO_ID};
    if (node->kind == HONE_NODE_FOR) h.var = node->u.loop.var;
    lower_conjuncts(hone_func_node(func, node->first)->u.eval.value, note_common, &h);
    HONE_TRY(hone_ir_finish(&lower->ir));
    if (!h.hoisted) return HONE_OK;
    HONE_TRY(relieve(&h));
    hone_node_id around = lower_new_if(func, h.hoisted);
    if (around == HONE_NO_ID) return LOWER_NO_MEMORY();
    lower_wrap(func, id, around);
    return HONE_OK;
}

static bool may_hoist_out_of(const hone_node *node) {
    if (node->kind == HONE_NODE_ALLOC) return true;
    return node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_PARALLEL &&
           node->loop_kind != HONE_LOOP_THREAD;
}

/* ---- statements side by side ---- */

static bool ask_the_same(const hone_func *func, hone_node_id a, hone_node_id b) {
    if (b == HONE_NO_ID || !is_choice(func, a) || !is_choice(func, b)) return false;
    const hone_expr *condition = hone_func_node(func, a)->u.eval.value;
    return is_plain(condition) && hone_expr_same(condition, hone_func_node(func, b)->u.eval.value);
}

static void share_conditions(hone_func *func, hone_node_id parent) {
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID;
         c = hone_func_node(func, c)->next) {
        bool is_shared = false;
        for (hone_node_id next; ask_the_same(func, c, next = hone_func_node(func, c)->next);) {
            hone_tree_move_children(func, next, c);
            hone_tree_remove(func, next);
            is_shared = true;
        }
        if (is_shared) share_conditions(func, c);
    }
}

static hone_status hoist_below(hone_lower *lower, hone_node_id parent) {
    hone_func *func = lower->func;
    hone_node_id next;
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        HONE_TRY(hoist_below(lower, c));
        if (may_hoist_out_of(hone_func_node(func, c))) HONE_TRY(hoist_out_of(lower, c));
    }
    share_conditions(func, parent);
    return HONE_OK;
}

hone_status lower_hoist_if(hone_lower *lower) {
    if (hone_target_is_gpu(lower->options->target)) return HONE_OK;
    return hoist_below(lower, 0);
}
