/* schedule/defaults/default_padding.c - paddings that go into the block which reads them:
 *
 *   P[y, x] = if_then_else(inside, X[y - 1, x - 1], 0)     no P: vectors of X, masked at the edges
 *
 * That pays where the reduction is unrolled, since masks are constants then and most tiles have
 * none (lower/loops/lower_partition.c); nothing is written and read again. So it is where paddings
 * are thin beside the image, and the loop over channels goes inside: tiles at an edge, and the taps
 * that lie outside of it, have bodies of their own.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/sched_tree.h"

enum {
    THIN = 2,           /* places at an edge, of a window of few taps; else one */
    FEW_TAPS = 3,       /* beyond, tiles at an edge are of more kinds than have bodies */
    THIN_SHARE = 3,     /* of the image, beside which a padding is no more than one */
    MANY_CHANNELS = 16, /* beside which changes of taps take little */
};

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

/* At most so many places at each edge, and not many beside those of the image. */
static bool is_thin(const hone_schedule *sch, hone_node_id block, int64_t places) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    const hone_buffer_info *to = hone_func_buffer(sch->func, inner->writes[0].buffer), *from;
    double all = 1, own = 1;
    uint32_t next = 0;
    if (inner->read_count != 1) return false;
    from = hone_func_buffer(sch->func, inner->reads[0].buffer);
    /* dimensions side by side, but for those of one that are left out */
    for (uint32_t d = 0; d < to->rank; d++) {
        int64_t padded = hone_expr_const(to->shape[d]), extent = -1;
        while (next < from->rank && padded > 1 && hone_expr_is_int_value(from->shape[next], 1))
            next++;
        if (next < from->rank) extent = hone_expr_const(from->shape[next++]);
        if (padded < 1 || extent < 1 || extent > padded || padded - extent > 2 * places)
            return false;
        all *= (double)padded;
        own *= (double)extent;
    }
    return THIN_SHARE * all <= (THIN_SHARE + 1) * own;
}

/* places: at an edge, of those that are thin; 0: all of them. */
static hone_status inline_some(hone_schedule *sch, hone_rv block, int64_t places) {
    uint32_t count = 0, readers = 0;
    const hone_rv *producers = NULL, *consumers = NULL;
    HONE_TRY(hone_sch_get_producers(sch, block, &count, &producers));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(sch, producers[i], &node));
        if (!is_padding(sch, node) || (places && !is_thin(sch, node, places))) continue;
        HONE_TRY(hone_sch_get_consumers(sch, producers[i], &readers, &consumers));
        if (readers != 1) continue;
        HONE_TRY(hone_default_optional(hone_sch_compute_inline(sch, producers[i])));
    }
    return HONE_OK;
}

hone_status hone_default_inline_padding(hone_default_nest *n) {
    return inline_some(n->sch, n->block, 0);
}

hone_status hone_packed_take_padding(hone_schedule *sch, hone_rv block,
                                     const hone_reduction_facts *f) {
    int64_t longest = 1, taps = 1; /* steps of the longest sum, and of another one */
    for (uint32_t a = 0; a < f->loop_count; a++) {
        int64_t steps = f->is_spatial[a] ? 1 : f->extents[a];
        int64_t less = steps < longest ? steps : longest;
        if (steps > longest) longest = steps;
        if (less > taps) taps = less;
    }
    bool pays = longest >= MANY_CHANNELS && f->element_bits >= 32;
    return pays ? inline_some(sch, block, taps > FEW_TAPS ? 1 : THIN) : HONE_OK;
}
