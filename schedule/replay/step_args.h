/* schedule/replay/step_args.h - the arguments of an instruction, read for its step. */
#ifndef HONE_SCHEDULE_REPLAY_STEP_ARGS_H
#define HONE_SCHEDULE_REPLAY_STEP_ARGS_H

#include "schedule/state/schedule.h"
#include "schedule/trace/trace_args.h"

typedef struct replay {
    hone_schedule *sch;
    const hone_trace *trace;
    hone_rv *map; /* trace's variable → schedule's */
} replay;

/* args: one per argument of the instruction's traits; lists in the schedule's arena. INVALID for
 * another kind of input or attribute than the traits name, and for one that is missing. */
HONE_NODISCARD hone_status replay_read_args(const replay *r, const hone_inst *inst,
                                            hone_step_arg args[HONE_MAX_ARGS]);

#endif
