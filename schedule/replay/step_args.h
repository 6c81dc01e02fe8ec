/* schedule/replay/step_args.h - the arguments of an instruction, read for its step. */
#ifndef HONE_SCHEDULE_REPLAY_STEP_ARGS_H
#define HONE_SCHEDULE_REPLAY_STEP_ARGS_H

#include "schedule/state/schedule.h"
#include "schedule/trace/trace_args.h"

/* A trace that is being applied to a schedule. */
typedef struct replay {
    hone_schedule *sch;
    const hone_trace *trace;
    hone_rv *map; /* by variable of the trace: the variable of the schedule */
} replay;

/* Reads the arguments of an instruction: args gets one per argument of its traits, lists being in
 * the schedule's arena. INVALID where an input or attribute is missing or of another kind than the
 * traits say. */
HONE_NODISCARD hone_status replay_read_args(const replay *r, const hone_inst *inst,
                                            hone_step_arg args[HONE_MAX_ARGS]);

#endif
