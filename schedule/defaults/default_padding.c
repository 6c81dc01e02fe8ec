/* schedule/defaults/default_padding.c - paddings that go into the block which reads them:
 *
 *   P[y, x] = if_then_else(inside, X[y - 1, x - 1], 0)     no P: vectors of X, masked at the edges
 *
 * That pays where the reduction is unrolled, since masks are constants then and most tiles have
 * none (lower/loops/lower_partition.c); nothing is written and read again.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/sched_tree.h"

/* Its value is an element that is read, or a number. */
static bool is_padding(const hone_schedule *sch, hone_node_id block) {
    hone_node_id id = sch_single_store(sch, block);
    if (id == HONE_NO_ID) return false;
    const hone_expr *value = hone_func_node(sch->func, id)->u.store.value;
    if (!hone_expr_is_call(value, HONE_INTRIN_IF_THEN_ELSE)) return false;
    hone_expr_kind outside = value->args[2]->kind;
    return value->args[1]->kind == HONE_EXPR_LOAD &&
           (outside == HONE_EXPR_INT || outside == HONE_EXPR_FLOAT);
}

hone_status hone_default_inline_padding(hone_default_nest *n) {
    uint32_t count = 0, readers = 0;
    const hone_rv *producers = NULL, *consumers = NULL;
    HONE_TRY(hone_sch_get_producers(n->sch, n->block, &count, &producers));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(n->sch, producers[i], &node));
        if (!is_padding(n->sch, node)) continue;
        HONE_TRY(hone_sch_get_consumers(n->sch, producers[i], &readers, &consumers));
        if (readers != 1) continue;
        HONE_TRY(hone_default_optional(hone_sch_compute_inline(n->sch, producers[i])));
    }
    return HONE_OK;
}
