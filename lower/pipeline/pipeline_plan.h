/* lower/pipeline/pipeline_plan.h - the statements of a pipelined loop and what may overtake what;
 * inside lower/ only. */
#ifndef HONE_LOWER_PIPELINE_PIPELINE_PLAN_H
#define HONE_LOWER_PIPELINE_PIPELINE_PLAN_H

#include "lower/ground/accesses.h"
#include "lower/ground/scope.h"

/* A statement: in iteration i it runs at the time i + stage, among those of that time by order. */
typedef struct lower_part {
    hone_node_id node; /* an ATTR */
    int64_t stage, order;
    lower_accesses *accesses; /* by buffer; a view counts as an opaque use of what it shows */
    bool has_effect;          /* calls what may do anything, or may stop the program */
} lower_part;

typedef struct lower_pipe {
    lower_scope scope; /* of one iteration */
    hone_node_id loop;
    const char *name; /* of the loop, for messages */
    uint32_t part_count, part_capacity;
    lower_part *parts; /* in the order of the program */
    int64_t last_stage;
    const hone_expr *condition; /* that all parts stand under, or NULL */
    uint32_t buffer_count;      /* before copies were made */
    uint32_t *versions; /* by buffer: 0 = not made in the loop's body, else how many copies */
    bool is_background; /* the first stage copies while threads compute: background.c */
} lower_pipe;

/* Finds what the parts touch, refuses (INVALID) what would change the program, and says how many
 * copies each buffer of the body needs (one on entry). */
HONE_NODISCARD hone_status lower_plan_pipe(lower_pipe *pipe);
/* background.c: the stages that annotations name as asynchronous are what a GPU can do in the
 * background: the first stage copies to shared memory of the body, all else comes last. */
bool lower_may_copy_behind(const lower_pipe *pipe);
/* The products of an iteration (of matrix units) may still run when those of the next one begin
 * (background.c). */
bool lower_goes_on(const lower_pipe *pipe);
/* The buffer whose data T.tvm_access_ptr(type, data, offset, extent, mask) points into; HONE_NO_ID
 * for other expressions. */
hone_buffer lower_pointed_buffer(const hone_func *func, const hone_expr *e);

#endif
