/* tuner/space/postproc_limits.c - drops candidates that no compiler should see. */
#include "tuner/space/space_rule.h"

enum { MAX_UNROLLED = 1 << 14 };

static hone_status drop(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

/* Bodies that explicit unrolling would make below a node. */
hone_status hone_verify_limits(hone_schedule *sch) {
    const hone_func *func = sch->func;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        if (extent < 0) return drop("a loop's extent is not a constant");
        if (node->loop_kind != HONE_LOOP_UNROLLED) continue;
        int64_t product = extent;
        for (hone_node_id up = node->parent; up != HONE_NO_ID;
             up = hone_func_node(func, up)->parent) {
            const hone_node *outer = hone_func_node(func, up);
            if (outer->kind != HONE_NODE_FOR || outer->loop_kind != HONE_LOOP_UNROLLED) continue;
            int64_t more = hone_expr_const(outer->u.loop.range.extent);
            if (more > 0 && product <= MAX_UNROLLED) product *= more;
        }
        if (product > MAX_UNROLLED) return drop("too much is unrolled");
    }
    return HONE_OK;
}
