/* lower/ground/scope.c - see scope.h. */
#include "lower/ground/scope.h"

#include <string.h>

#include "ir/core/concurrent.h"

/* Copies have variables of their own, so there are more of them from node to node. */
static hone_status make_room(lower_scope *s) {
    hone_func *func = s->lower->func;
    s->var_count = func->var_count;
    if (s->var_count < s->capacity) return HONE_OK;
    s->capacity = 2 * func->var_count + 64;
    s->loops = hone_arena_alloc(func->arena, s->capacity);
    s->others = hone_arena_alloc(func->arena, s->capacity);
    return s->loops && s->others ? HONE_OK : LOWER_NO_MEMORY();
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

/* Binds the loops below a node; itself too, where it is a loop. */
static hone_status bind_below(const hone_func *func, hone_node_id root, hone_arith *arith) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_FOR)
            HONE_TRY(bind(hone_func_node(func, n), arith));
    }
    return HONE_OK;
}

hone_status lower_enter(lower_scope *s, hone_node_id root, hone_var kept) {
    hone_func *func = s->lower->func;
    HONE_TRY(make_room(s));
    hone_arith_clear(&s->arith);
    if (!hone_arith_bind_sizes(&s->arith, func)) return LOWER_NO_MEMORY();
    HONE_TRY(lower_bind_around(func, root, &s->arith));
    for (uint32_t i = 0; i < s->var_count; i++)
        s->loops[i] = s->others[i] = false;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_LET) s->others[node->u.let.var] = true;
        if (node->kind == HONE_NODE_FOR) s->loops[node->u.loop.var] = true;
    }
    HONE_TRY(bind_below(func, root, &s->arith));
    if (kept != HONE_NO_ID) s->loops[kept] = false;
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

hone_interval lower_range_below(lower_scope *s, const hone_expr *index, bool *out_is_exact) {
    bool is_known = hone_expr_is_pure_index(index) && index->dtype.lanes == 1 &&
                    !hone_expr_uses_any(index, s->others, s->var_count);
    if (!is_known) return (hone_interval){NULL, NULL};
    return hone_arith_relax(&s->arith, index, s->loops, s->var_count, out_is_exact);
}
