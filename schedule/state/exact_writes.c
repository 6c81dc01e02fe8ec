/* schedule/state/exact_writes.c - what blocks surely write, and read of what they wrote: the
 * questions of ir/region/written.h, with what a schedule remembers of its blocks. */
#include "schedule/state/schedule_impl.h"

#include "ir/region/region.h"

static bool writes_exactly(void *ctx, hone_node_id block) {
    return sch_writes_exactly(ctx, block);
}

hone_dataflow sch_dataflow(hone_schedule *sch) {
    return (hone_dataflow){&sch->arith, sch->func, writes_exactly, sch, false};
}

bool sch_writes_exactly(hone_schedule *sch, hone_node_id id) {
    if (!(sch_node(sch, id)->flags & SCH_EXACT_KNOWN)) {
        hone_dataflow flow = sch_dataflow(sch);
        bool is_exact = hone_writes_exactly(&flow, id);
        sch_node(sch, id)->flags |= (uint16_t)(SCH_EXACT_KNOWN | (is_exact ? SCH_EXACT : 0));
    }
    return (sch_node(sch, id)->flags & SCH_EXACT) != 0;
}

bool sch_stores_cover(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                      const hone_interval *box) {
    hone_dataflow flow = sch_dataflow(sch);
    hone_written stores;
    hone_written_begin(&stores, &flow, buffer, top);
    hone_written_add_stores(&stores, block);
    return stores.count > 1 && hone_covers(&stores, box);
}

bool sch_has_two_cases(const hone_schedule *sch, hone_node_id n) {
    return sch_node(sch, n)->kind == HONE_NODE_IF &&
           sch_node(sch, sch_node(sch, n)->last)->kind == HONE_NODE_ELSE;
}

bool sch_surely_writes(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                       const hone_interval *box_or_null) {
    hone_dataflow flow = sch_dataflow(sch);
    hone_written made;
    if (sch_has_two_cases(sch, top)) return false;
    hone_written_begin(&made, &flow, buffer, top);
    hone_written_add(&made, block);
    return box_or_null ? hone_covers(&made, box_or_null) : hone_covers_buffer(&made);
}

bool sch_reads_after_write(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    hone_dataflow flow = sch_dataflow(sch);
    return hone_reads_after_write(&flow, block, buffer, false);
}

bool sch_accumulates(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    hone_dataflow flow = sch_dataflow(sch);
    bool has_init = hone_block_init_of(sch->func, block) != HONE_NO_ID;
    if (!has_init && !sch_reads(sch_block(sch, block), buffer)) {
        /* a read may be hidden (unsafe_hide_buffer_access) */
        return sch_single_store(sch, block) != HONE_NO_ID &&
               hone_loads_below(sch->func, block, buffer);
    }
    return !hone_reads_after_write(&flow, block, buffer, has_init);
}
