/* lower/loops/lower_unroll.c - the pass that unrolls loops.
 * needs: no blocks. keeps: what is computed, in order. Repeats the body of a loop that is marked
 * unrolled, or that a surrounding pragma allows (pragma_auto_unroll_max_step: loops whose
 * iterations, multiplied over the nest, are at most so many), as long as the program does not grow
 * beyond a limit; a loop that would is left as it is. Marked loops may take it to eight times the
 * limit: an image has tiles of many kinds at its edges (lower_partition.c), in front of those of
 * its middle, and tiles that stay loops have their sums in memory. What is counted are statements
 * of the machine: a store of a vector that fills four registers is four. */
#include "lower/ground/split_loop.h"

enum { DEFAULT_MAX_STATEMENTS = 512, MARKED_LIMITS = 8, MAX_COPIES = 512 };

typedef struct unroller {
    hone_lower *lower;
    int64_t budget;  /* statements that may still be made, */
    int64_t reserve; /* of these for marked loops alone */
    int64_t natural; /* lanes of a register */
} unroller;

/* What the nearest pragmas around say; a pragma on an inner loop wins. */
typedef struct pragmas {
    int64_t max_step;
} pragmas;

/* Statements below a loop, as many as there are registers of results; stops beyond limit. */
static int64_t count_statements(const unroller *u, hone_node_id root, int64_t limit) {
    const hone_func *func = u->lower->func;
    int64_t sum = 0;
    for (hone_node_id n = hone_func_node(func, root)->first; n != HONE_NO_ID && sum <= limit;
         n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        sum++;
        if (node->kind != HONE_NODE_STORE || node->u.store.rank == 0) continue;
        sum += (node->u.store.indices[0]->dtype.lanes - 1) / u->natural;
    }
    return sum;
}

/* reserve: statements of the budget that must be left. */
static hone_status unroll_loop(unroller *u, hone_node_id id, int64_t extent, int64_t reserve) {
    hone_func *func = u->lower->func;
    if (extent > MAX_COPIES || hone_tree_jump_of(func, id, true) != HONE_NO_ID) return HONE_OK;
    int64_t before = count_statements(u, id, u->budget), after = extent * before;
    if (after - before > u->budget - reserve) return HONE_OK;
    u->budget -= after - before;
    return lower_repeat_body(u->lower, id, extent);
}

/* Unrolls below a node, inner loops first. *out_step: iterations of the nest below, multiplied; it
 * decides whether the loop around still fits the pragma. */
static hone_status visit(unroller *u, hone_node_id id, pragmas p, int64_t *out_step) {
    hone_func *func = u->lower->func;
    hone_node *node = hone_func_node(func, id);
    if (node->kind == HONE_NODE_FOR) {
        const hone_attrs *attrs = &node->u.loop.annotations;
        p.max_step = hone_attrs_int(attrs, "pragma_auto_unroll_max_step", p.max_step);
    }
    int64_t most = 1;
    hone_node_id next;
    for (hone_node_id c = node->first; c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        int64_t step = 1;
        HONE_TRY(visit(u, c, p, &step));
        if (step > most) most = step;
    }
    node = hone_func_node(func, id);
    *out_step = most;
    if (node->kind != HONE_NODE_FOR) return HONE_OK;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    *out_step = extent < 0 || extent > INT32_MAX || most > INT32_MAX ? INT64_MAX : most * extent;
    if (extent < 0) return HONE_OK;
    bool is_asked = node->loop_kind == HONE_LOOP_UNROLLED;
    bool is_allowed = node->loop_kind == HONE_LOOP_SERIAL && *out_step <= p.max_step;
    if (is_asked || is_allowed) return unroll_loop(u, id, extent, is_asked ? 0 : u->reserve);
    return HONE_OK;
}

hone_status lower_unroll(hone_lower *lower) {
    int64_t limit = lower->options->max_unrolled_nodes;
    if (limit <= 0) limit = DEFAULT_MAX_STATEMENTS;
    unroller u = {.lower = lower,
                  .budget = MARKED_LIMITS * limit,
                  .reserve = (MARKED_LIMITS - 1) * limit,
                  .natural = hone_target_lanes(lower->options->target, 32)};
    int64_t step;
    return visit(&u, 0, (pragmas){0}, &step);
}
