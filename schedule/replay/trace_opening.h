/* schedule/replay/trace_opening.h - the opening of a trace: its first steps, which draw nothing.
 * They are applied once; replays of the trace with other decisions begin behind them, with the same
 * outcome. */
#ifndef HONE_SCHEDULE_REPLAY_TRACE_OPENING_H
#define HONE_SCHEDULE_REPLAY_TRACE_OPENING_H

#include "schedule/replay/trace_apply.h"

typedef struct hone_trace_opening {
    hone_schedule *at; /* owned; NULL: there is nothing to save, replays begin with the program */
    hone_rv *rvs;      /* in its arena; by variable of the trace: that of the schedule */
    uint32_t count;    /* of the steps */
} hone_trace_opening;

/* Applies the opening to sch, which is reset before and left in between. Where a step is refused
 * there is no opening, so that each replay says so. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_trace_opening_init(const hone_trace *trace, hone_schedule *sch,
                                                   hone_trace_opening *out);
void hone_trace_opening_deinit(hone_trace_opening *opening); /* all zero is allowed */

/* hone_schedule_reset and hone_trace_apply of the same trace, on a schedule of the same program
 * that uses the same intrinsics; the options leave out and watch steps behind the opening only. The
 * opening has to outlive what the schedule holds then. */
HONE_NODISCARD hone_status hone_trace_opening_apply(const hone_trace_opening *opening,
                                                    const hone_trace *trace, hone_schedule *sch,
                                                    const hone_apply_options *options);

#endif
