/* schedule/replay/trace_count.c - how long a list is that only the program knows: the trace is
 * applied as far as it goes. */
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "schedule/trace/trace_parts.h"

hone_status hone_trace_count_results(const hone_trace_context *context, const hone_trace *trace,
                                     uint32_t *out_count) {
    *out_count = 0;
    hone_schedule *sch = NULL;
    hone_trace_part part;
    HONE_TRY(hone_trace_part_of(trace->arena, trace, context, trace->count - 1, &part));
    HONE_TRY(hone_schedule_create(part.func, &sch));
    sch->wants_reasons = true;
    sch->intrins = context->intrins;
    hone_status st =
        hone_trace_apply(trace, sch, &(hone_apply_options){.is_left_out = part.is_left_out});
    if (!st) *out_count = sch->trace.insts[sch->trace.count - 1].output_count;
    hone_schedule_destroy(sch);
    return st;
}
