/* schedule/replay/trace_apply.h - replays traces: applies the steps of a trace to a schedule. */
#ifndef HONE_SCHEDULE_REPLAY_TRACE_APPLY_H
#define HONE_SCHEDULE_REPLAY_TRACE_APPLY_H

#include "schedule/state/schedule.h"

typedef struct hone_apply_options {
    const hone_decision *decisions; /* one per instruction; NULL = those of the trace */
    const bool *is_left_out;        /* one per instruction; NULL = all are applied */
    bool resample;                  /* ignore decisions, draw anew */
    bool skip_postproc;             /* stop at EnterPostproc */
    uint32_t done;                  /* so many instructions were applied already, … */
    const hone_rv *done_rvs; /* … and gave these variables of the schedule for the trace's */
    hone_rv *out_rvs;        /* the schedule's variable for each of the trace's; may be NULL */
    uint32_t *out_failed;    /* where it stopped, index of the refused instruction; may be NULL */
    /* called after each instruction (hone schedule --steps); may be NULL */
    hone_status (*after_step)(void *ctx, hone_schedule *sch, uint32_t step);
    void *ctx;
} hone_apply_options;
/* Applies a trace to a schedule, freshly reset or not: variables of the trace get new numbers. A
 * step that is refused ends it with ILLEGAL; where sch->wants_reasons, the message begins with the
 * step's number and its call ("step 7: sch.split(l3, factors=[None, 5]): …"). options may be NULL.
 */
HONE_NODISCARD hone_status hone_trace_apply(const hone_trace *trace, hone_schedule *sch,
                                            const hone_apply_options *options);

/* How many results the last instruction of the trace gives when the trace is applied to the program
 * (trace_count.c). Errors are those of the steps; ILLEGAL also where that depends on decisions
 * which are still open. */
HONE_NODISCARD hone_status hone_trace_count_results(const hone_trace_context *context,
                                                    const hone_trace *trace, uint32_t *out_count);

#endif
