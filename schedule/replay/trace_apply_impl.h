/* schedule/replay/trace_apply_impl.h - for the files that replay traces only: what they share. All
 * that is read here may come from a stranger's file, so nothing is taken for granted. */
#ifndef HONE_SCHEDULE_REPLAY_TRACE_APPLY_IMPL_H
#define HONE_SCHEDULE_REPLAY_TRACE_APPLY_IMPL_H

#include "schedule/state/schedule_impl.h"

typedef struct replay {
    hone_schedule *sch;
    const hone_trace *trace;
    hone_rv *map; /* trace's variable → schedule's */
} replay;

/* INVALID: "Split: …". */
HONE_NODISCARD hone_status replay_malformed(const hone_inst *inst, const char *what);
/* Input i as a variable of the schedule. */
HONE_NODISCARD hone_status replay_rv(const replay *r, const hone_inst *inst, uint32_t i,
                                     hone_rv *out);
/* Input i, a list of integers; out in the arena. */
HONE_NODISCARD hone_status replay_ints(const replay *r, const hone_inst *inst, uint32_t i,
                                       uint32_t *out_count, int64_t **out);
/* Attribute i; fallback when it is missing and optional. */
HONE_NODISCARD hone_status replay_int(const hone_inst *inst, uint32_t i, int64_t fallback,
                                      bool is_optional, int64_t *out);
HONE_NODISCARD hone_status replay_string(const hone_inst *inst, uint32_t i, const char **out);
/* Attribute i, the index of a buffer among a block's reads or writes, or the buffer's name. */
HONE_NODISCARD hone_status replay_buffer(const replay *r, const hone_inst *inst, uint32_t i,
                                         hone_rv block, bool is_write, int64_t *out);

/* Input i, an index map over variables of the schedule; NULL when it is missing or nothing. */
HONE_NODISCARD hone_status replay_map(const replay *r, const hone_inst *inst, uint32_t i,
                                      const hone_index_map **out);

/* Steps that change where and how buffers are kept; block is the first input. */
HONE_NODISCARD hone_status replay_buffer_step(replay *r, const hone_inst *inst, hone_rv block);

#endif
