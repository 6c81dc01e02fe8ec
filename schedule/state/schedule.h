/* schedule/state/schedule.h - a program being transformed, and the record of how.
 *
 * A schedule owns a private copy of a function; primitives (primitives.h) change it. Each one
 * checks its own legality and either changes the program and appends one instruction to the trace,
 * or refuses (ILLEGAL, with the reason and the place) and changes nothing. None can make a wrong
 * program, except the few that are unsafe by name, which mark the trace.
 *
 * Blocks, loops and sampled integers are random variables: small numbers (hone_rv) that name what a
 * step of the trace produced. hone_schedule_node / hone_schedule_int look up what they stand for.
 *
 *   base function (frozen) ──clone──► schedule ──primitive, primitive, …──► program + trace
 *                                        ▲ hone_schedule_reset: O(size of the program), no malloc
 *
 * Memory: one arena, reset by hone_schedule_reset; a search thread keeps one schedule and replays
 * thousands of traces on it. What must outlive a reset is copied out (hone_trace_copy,
 * hone_module_of_func).
 * Threads: thread-compatible; copies may be used by other threads than the original.
 */
#ifndef HONE_SCHEDULE_STATE_SCHEDULE_H
#define HONE_SCHEDULE_STATE_SCHEDULE_H

#include "ir/arith/arith.h"
#include "ir/core/module.h"
#include "schedule/trace/trace.h"
#include "support/data/rng.h"

typedef struct hone_schedule hone_schedule;

struct hone_schedule {
    hone_func *func;   /* the program now; in arena */
    hone_ir ir;        /* ir.arena == arena */
    hone_arith arith;  /* knows the range of every loop variable and block axis, always */
    hone_arena *arena; /* owned */
    struct hone_schedule_base *base;    /* shared with copies: the program to begin with */
    struct hone_schedule_other *others; /* owned: variants of it that were used (sch_begin_with) */
    hone_trace trace;                   /* what was done since the reset; in arena */
    hone_rv_value *rvs; /* by random variable of the trace: what it stands for; in arena */
    uint32_t rv_capacity;
    uint32_t settled_count; /* of the nodes before this one all facts are known (schedule_impl.h) */
    bool has_forgotten;     /* but for some that the step at work has changed */
    hone_rng rng;           /* where sampling draws from */
    hone_node_id blame;     /* after a refusal: the node it is about, or HONE_NO_ID */
    const struct hone_tensor_intrins *intrins; /* not owned; NULL: the built-in ones only */
    bool fits_tiles; /* decisions come from a program with other extents: perfect tiles are made to
                        fit (hone_fit_perfect_tile) instead of repaired */
    bool wants_reasons; /* false: refusals carry a fixed text only (search); true: full messages */
};

/* Makes a schedule of a copy of `base`; destroy it with hone_schedule_destroy. base has to be in
 * scheduled form and well formed (hone_check_func): INVALID says what is wrong with it. */
HONE_NODISCARD hone_status hone_schedule_create(const hone_func *base, hone_schedule **out_sch);
/* Frees the schedule with all that lies in its arena; NULL is allowed. */
void hone_schedule_destroy(hone_schedule *sch);
/* Back to the program that the schedule began with; trace and random variables are forgotten, what
 * lies in the arena is freed. rng, intrins, fits_tiles and wants_reasons stay. */
HONE_NODISCARD hone_status hone_schedule_reset(hone_schedule *sch);
/* Back to the state that another schedule of the same program is in, which has to stay as it is as
 * long as this one is used; else as hone_schedule_reset. */
HONE_NODISCARD hone_status hone_schedule_reset_to(hone_schedule *sch, const hone_schedule *at);
/* Makes a second schedule in the state of the first, for rules that try variants: program, trace
 * and random variables are copied, rng is forked. */
HONE_NODISCARD hone_status hone_schedule_copy(const hone_schedule *sch, hone_schedule **out_sch);

/* The block or loop that a random variable stands for. ILLEGAL: a step has replaced it, or it is a
 * mark (HONE_RV_ROOT_MARK, …). INVALID: the variable does not exist, or is an integer. */
HONE_NODISCARD hone_status hone_schedule_node(hone_schedule *sch, hone_rv rv,
                                              hone_node_id *out_node);
/* The value of a sampled integer. INVALID: the variable does not exist, or is no integer. */
HONE_NODISCARD hone_status hone_schedule_int(hone_schedule *sch, hone_rv rv, int64_t *out_value);
/* A random variable for a node that no instruction made, for tests and analyses; HONE_NO_ID when
 * memory is short. */
hone_rv hone_schedule_bind_node(hone_schedule *sch, hone_node_id node);

/* Appends the program to `out` with the blamed node (sch->blame) marked and `note` beside it: what
 * a user sees after a refusal. */
HONE_NODISCARD hone_status hone_schedule_print_blame(const hone_schedule *sch, const char *note,
                                                     hone_str *out);

#endif
