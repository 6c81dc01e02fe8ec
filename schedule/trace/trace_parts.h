/* schedule/trace/trace_parts.h - which function of a module each step of a trace works on.
 *
 * A schedule of a module knows all its functions: get_block says which one it looks in, and what is
 * made of a block stays in its function. Functions do not see each other, so that a trace falls
 * into parts, one for each function, that may be applied one after the other. */
#ifndef HONE_SCHEDULE_TRACE_TRACE_PARTS_H
#define HONE_SCHEDULE_TRACE_TRACE_PARTS_H

#include "schedule/trace/trace.h"

typedef struct hone_trace_part {
    const struct hone_func *func;
    bool *is_left_out; /* by instruction: works on another function; NULL: none does */
} hone_trace_part;

typedef struct hone_trace_parts {
    uint32_t count;
    hone_trace_part *items; /* in the order in which the trace comes to them */
    uint32_t *of_inst;      /* index into items; HONE_NO_ID for a number that all parts draw */
} hone_trace_parts;

/* Divides the trace into at least one part, in the arena. Steps on "main", or that name no
 * function, work on context->func where that is given. INVALID: a step that works on no function,
 * or on two. */
HONE_NODISCARD hone_status hone_trace_split_parts(hone_arena *arena, const hone_trace *trace,
                                                  const hone_trace_context *context,
                                                  hone_trace_parts *out);

/* The part of the trace that one instruction is of; context->func where there is no module. */
HONE_NODISCARD hone_status hone_trace_part_of(hone_arena *arena, const hone_trace *trace,
                                              const hone_trace_context *context, uint32_t inst,
                                              hone_trace_part *out);

/* A copy (in arena) whose get_block steps name the function that they look in, as TVM wants it: by
 * of_inst, or NULL: that of the first part. */
HONE_NODISCARD hone_status hone_trace_name_funcs(hone_arena *arena, const hone_trace *trace,
                                                 const hone_trace_part *parts,
                                                 const uint32_t *of_inst, hone_trace *out);

#endif
