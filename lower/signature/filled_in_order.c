/* lower/signature/filled_in_order.c - follows a program in the order of its loops, which are
 * symbols, to see whether what it reads of a buffer was written before.
 *
 *     for i:                          known in iteration i: what was known before the loop, and
 *                                     what the loop wrote in the iterations before i;
 *         for j:                      so in j,
 *             C[i, j] = C[i - 1, j]
 *         read C[i, 0]                then all that the inner loop wrote in this iteration
 *
 * Conditions around a read, of statements and of expressions, hold where it happens. Iterations of
 * loops that are not run one after the other know nothing of each other. */
#include <string.h>

#include "lower/signature/filled_boxes.h"
#include "lower/signature/plain_form.h"

enum { MOST_ACCESSES = 64 };

typedef struct follower {
    lower_filling f;
    const lower_accesses *all;
    bool has_failed; /* a read is not shown to come after a store */
} follower;

/* ---- reads ---- */

static void check(follower *w, const hone_expr *e);

static bool knows(const hone_expr *fact) {
    return fact && hone_expr_is_pure_index(fact) && fact->dtype.lanes == 1;
}

static void check_under(follower *w, const hone_expr *condition, const hone_expr *e) {
    uint32_t mark = w->f.arith.fact_count;
    if (knows(condition)) hone_arith_push(&w->f.arith, condition);
    check(w, e);
    hone_arith_pop(&w->f.arith, mark);
}

static const hone_expr *opposite(follower *w, const hone_expr *condition) {
    return knows(condition) ? hone_expr_not(&w->f.arith.ir, condition) : NULL;
}

/* A value that is not chosen does not count, whether it is read or not. */
static void check_choice(follower *w, const hone_expr *e) {
    check(w, e->args[0]);
    check_under(w, e->args[0], e->args[1]);
    check_under(w, opposite(w, e->args[0]), e->args[2]);
}

static void check(follower *w, const hone_expr *e) {
    if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        check_choice(w, e);
        return;
    }
    for (uint16_t i = 0; i < e->count; i++)
        check(w, e->args[i]);
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != w->f.buffer) return;
    w->has_failed =
        w->has_failed || (!lower_is_filled(&w->f) && !lower_is_element_filled(&w->f, e->args));
}

/* ---- statements ---- */

static void follow_children(follower *w, hone_node_id parent);

/* What the stores of a statement write, as seen from outside of it. */
static void fill(follower *w, hone_node_id statement) {
    const hone_func *func = w->f.lower->func;
    for (uint32_t i = 0; i < w->all->count; i++) {
        const lower_access *access = &w->all->items[i];
        bool is_there =
            access->node == statement || hone_tree_is_ancestor(func, statement, access->node);
        if (!access->is_store || !is_there) continue;
        lower_fill(&w->f, hone_func_node(func, statement)->parent, access);
    }
}

static void fill_before(follower *w, hone_node_id loop) {
    const hone_func *func = w->f.lower->func;
    uint8_t kind = hone_func_node(func, loop)->loop_kind;
    if (kind != HONE_LOOP_SERIAL && kind != HONE_LOOP_UNROLLED) return;
    for (uint32_t i = 0; i < w->all->count; i++) {
        const lower_access *access = &w->all->items[i];
        if (!access->is_store || !hone_tree_is_ancestor(func, loop, access->node)) continue;
        lower_fill_before(&w->f, loop, access);
    }
}

/* Follows what is below a place, and forgets it: how it looks from outside is told by fill. */
static void follow_within(follower *w, hone_node_id place) {
    lower_box before[LOWER_MAX_BOXES];
    uint32_t count = w->f.count;
    memcpy(before, w->f.boxes, count * sizeof *before);
    if (hone_func_node(w->f.lower->func, place)->kind == HONE_NODE_FOR) fill_before(w, place);
    follow_children(w, place);
    memcpy(w->f.boxes, before, count * sizeof *before);
    w->f.count = count;
}

static void follow_branch(follower *w, const hone_expr *condition, hone_node_id branch) {
    uint32_t mark = w->f.arith.fact_count;
    if (knows(condition)) hone_arith_push(&w->f.arith, condition);
    follow_within(w, branch);
    hone_arith_pop(&w->f.arith, mark);
}

static void follow_if(follower *w, hone_node_id id) {
    const hone_node *node = hone_func_node(w->f.lower->func, id);
    const hone_expr *condition = node->u.eval.value;
    hone_node_id other = node->last;
    check(w, condition);
    follow_branch(w, condition, id);
    if (other == HONE_NO_ID || hone_func_node(w->f.lower->func, other)->kind != HONE_NODE_ELSE)
        return;
    follow_branch(w, opposite(w, condition), other);
}

static void follow(follower *w, hone_node_id id) {
    const hone_node *node = hone_func_node(w->f.lower->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        check(w, node->u.loop.range.min);
        check(w, node->u.loop.range.extent);
        follow_within(w, id);
        return;
    case HONE_NODE_IF:
        follow_if(w, id);
        return;
    case HONE_NODE_STORE:
        for (uint32_t d = 0; d < node->u.store.rank; d++)
            check(w, node->u.store.indices[d]);
        check(w, node->u.store.value);
        return;
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        check(w, node->u.eval.value);
        follow_within(w, id);
        return;
    case HONE_NODE_ALLOC:
    case HONE_NODE_ATTR:
        follow_within(w, id);
        return;
    default: /* loops without an end that is known, and what leaves them */
        w->has_failed = true;
        return;
    }
}

/* One after the other. */
static void follow_children(follower *w, hone_node_id parent) {
    const hone_func *func = w->f.lower->func;
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID && !w->has_failed;
         c = hone_func_node(func, c)->next) {
        if (hone_func_node(func, c)->kind == HONE_NODE_ELSE) continue;
        follow(w, c);
        fill(w, c);
    }
}

hone_status lower_is_filled_in_order(hone_lower *lower, hone_buffer buffer,
                                     const lower_accesses *all, bool *out_is_filled) {
    follower w = {.all = all};
    *out_is_filled = false;
    if (all->count > MOST_ACCESSES) return HONE_OK;
    HONE_TRY(lower_filling_begin(&w.f, lower, buffer));
    follow_children(&w, HONE_NODE_TOP);
    *out_is_filled = !w.has_failed && lower_is_filled(&w.f);
    return hone_ir_finish(&w.f.arith.ir);
}
