/* lower/loops/lower_cleanup.c - the pass that removes what holds nothing.
 * needs: no blocks. keeps: what is computed. Simplifies, then removes loops, ifs and allocations
 * that hold nothing. */
#include "lower/ground/passes.h"

static bool is_removable(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
    case HONE_NODE_ALLOC:
    case HONE_NODE_DECL:
    case HONE_NODE_LET:
    case HONE_NODE_ELSE:
    case HONE_NODE_ATTR:
        return node->first == HONE_NO_ID;
    case HONE_NODE_IF:
        return node->first == HONE_NO_ID;
    case HONE_NODE_EVAL:
        return hone_expr_is_pure_index(node->u.eval.value) &&
               !hone_expr_may_trap(node->u.eval.value);
    default:
        return false;
    }
}

static void clean(hone_func *func, hone_node_id parent) {
    hone_node_id next;
    for (hone_node_id c = hone_func_node(func, parent)->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        clean(func, c);
        if (is_removable(func, c)) hone_tree_remove(func, c);
    }
}

hone_status lower_cleanup(hone_lower *lower) {
    HONE_TRY(lower_simplify(lower));
    clean(lower->func, 0);
    return HONE_OK;
}
