/* lower/ground/scope.c - see scope.h. */
#include "lower/ground/scope.h"

#include <string.h>

#include "ir/core/concurrent.h"

/* Copies have variables of their own, so there are more of them from node to node. Sizes are looked
 * up in all of the program, and known until it has other variables or statements. */
static hone_status learn_sizes(lower_scope *s) {
    hone_func *func = s->lower->func;
    s->var_count = func->var_count;
    s->node_count = func->node_count;
    if (s->var_count >= s->capacity) {
        s->capacity = 2 * func->var_count + 64;
        s->loops = hone_arena_alloc(func->arena, s->capacity);
        s->others = hone_arena_alloc(func->arena, s->capacity);
        s->bound = hone_arena_alloc(func->arena, s->capacity);
    }
    if (!s->loops || !s->others || !s->bound) return LOWER_NO_MEMORY();
    memset(s->bound, false, s->var_count);
    hone_arith_clear(&s->arith);
    return hone_arith_bind_sizes(&s->arith, func) ? HONE_OK : LOWER_NO_MEMORY();
}

static hone_status bind(const hone_node *loop, hone_arith *arith) {
    bool is_bound = hone_arith_bind(arith, loop->u.loop.var, loop->u.loop.range);
    return is_bound ? HONE_OK : LOWER_NO_MEMORY();
}

hone_status lower_bind_around(const hone_func *func, hone_node_id id, hone_arith *arith) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        if (hone_func_node(func, n)->kind == HONE_NODE_FOR)
            HONE_TRY(bind(hone_func_node(func, n), arith));
    }
    return HONE_OK;
}

/* Forgets the loops of the last node. */
static hone_status forget(lower_scope *s) {
    const hone_func *func = s->lower->func;
    if (s->var_count != func->var_count || s->node_count != func->node_count)
        HONE_TRY(learn_sizes(s));
    hone_arith_pop(&s->arith, 0);
    for (hone_var v = 0; v < s->var_count; v++) {
        if (s->bound[v] &&
            !hone_arith_bind_const(&s->arith, v, HONE_BOUND_NEG_INF, HONE_BOUND_POS_INF))
            return LOWER_NO_MEMORY();
    }
    memset(s->bound, false, s->var_count);
    memset(s->loops, false, s->var_count);
    memset(s->others, false, s->var_count);
    return HONE_OK;
}

static hone_status bind_if_loop(lower_scope *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->lower->func, id);
    if (node->kind != HONE_NODE_FOR) return HONE_OK;
    s->bound[node->u.loop.var] = true;
    return bind(node, &s->arith);
}

static hone_status begin(lower_scope *s, hone_node_id root) {
    const hone_func *func = s->lower->func;
    HONE_TRY(forget(s));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_func_node(func, n)->parent)
        HONE_TRY(bind_if_loop(s, n));
    return HONE_OK;
}

static void mark(lower_scope *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->lower->func, id);
    if (node->kind == HONE_NODE_LET) s->others[node->u.let.var] = true;
    if (node->kind == HONE_NODE_FOR) s->loops[node->u.loop.var] = true;
}

hone_status lower_enter(lower_scope *s, hone_node_id root, hone_var kept) {
    const hone_func *func = s->lower->func;
    HONE_TRY(begin(s, root));
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        mark(s, n);
        HONE_TRY(bind_if_loop(s, n));
    }
    if (kept != HONE_NO_ID) s->loops[kept] = false;
    return HONE_OK;
}

/* The loops between root and a node, the outer ones first: the ranges of others may depend on them.
 */
static hone_status enter_between(lower_scope *s, hone_node_id root, hone_node_id node) {
    const hone_func *func = s->lower->func;
    hone_node_id around = hone_func_node(func, node)->parent;
    while (around != root && hone_func_node(func, around)->kind == HONE_NODE_ALLOC)
        around = hone_func_node(func, around)->parent;
    if (around != root) HONE_TRY(enter_between(s, root, around));
    mark(s, node);
    return bind_if_loop(s, node);
}

hone_status lower_enter_for(lower_scope *s, hone_node_id root, const lower_accesses *accesses) {
    HONE_TRY(begin(s, root));
    for (uint32_t i = 0; i < accesses->count; i++)
        HONE_TRY(enter_between(s, root, accesses->items[i].node));
    return HONE_OK;
}

void lower_count_sharers(lower_scope *s, hone_node_id at, const char *memory) {
    const hone_func *func = s->lower->func;
    if (!memory || strncmp(memory, "global", 6) == 0) return;
    for (hone_node_id n = at; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        bool is_shared =
            hone_loop_is_of_threads(node) && !hone_scope_is_own(memory, node->u.loop.thread_tag);
        if (is_shared) s->loops[node->u.loop.var] = true;
    }
}

bool lower_varies_below(const lower_scope *s, const hone_expr *e) {
    return hone_expr_uses_any(e, s->loops, s->var_count) ||
           hone_expr_uses_any(e, s->others, s->var_count);
}

hone_interval lower_range_below(lower_scope *s, const hone_expr *index) {
    bool is_known = hone_expr_is_pure_index(index) && index->dtype.lanes == 1 &&
                    !hone_expr_uses_any(index, s->others, s->var_count);
    if (!is_known) return (hone_interval){NULL, NULL};
    return hone_arith_relax(&s->arith, index, s->loops, s->var_count, NULL);
}
