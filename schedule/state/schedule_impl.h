/* schedule/state/schedule_impl.h - what all primitives need of a schedule: refusals, random
 * variables, recording. It includes the headers on the program being changed:
 *
 *   sched_tree.h    walks, edits, copies, trials
 *   sched_draft.h   new blocks and their loops
 *   sched_facts.h   what blocks and loops are
 *   sched_order.h   may things run in another order?
 *   sched_reads.h   are reads covered?
 *   sched_buffer.h  buffers, addresses, regions
 *
 * Every function that returns a status may also fail with NO_MEMORY; after that the schedule has to
 * be reset. Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHEDULE_IMPL_H
#define HONE_SCHEDULE_STATE_SCHEDULE_IMPL_H

#include "ir/core/touches.h"
#include "ir/region/written.h"
#include "schedule/state/sched_buffer.h"
#include "schedule/state/sched_draft.h"
#include "schedule/state/sched_facts.h"
#include "schedule/state/sched_order.h"
#include "schedule/state/sched_reads.h"
#include "schedule/state/sched_tree.h"
#include "schedule/state/schedule.h"
#include "schedule/trace/trace_args.h"

/* ---- failures ---- */
/* Makes the refusal of a step: ILLEGAL, and sch->blame = blame (HONE_NO_ID: no node). Without
 * sch->wants_reasons the format itself is the message, so that a search formats nothing. */
HONE_NODISCARD hone_status sch_refuse(hone_schedule *sch, hone_node_id blame, const char *format,
                                      ...) HONE_PRINTF(3, 4);
/* NO_MEMORY. */
HONE_NODISCARD hone_status sch_no_memory(void);
/* The first error that making expressions met (in sch->ir or sch->arith) since the last call, or
 * HONE_OK. To be asked before a NULL expression is taken to mean anything but short memory. */
HONE_NODISCARD hone_status sch_ir_error(hone_schedule *sch);
/* "block 'C'", for messages; in the arena. */
const char *sch_block_name(const hone_schedule *sch, hone_node_id block);
/* A buffer as the program calls it, for messages. */
const char *sch_buffer_name(const hone_schedule *sch, hone_buffer buffer);
/* "loop 'i_0'", for messages; in the arena. */
const char *sch_loop_name(const hone_schedule *sch, hone_node_id loop);

/* ---- another program ---- */
/* Makes of the program that the schedule began with another one, in an arena. */
typedef hone_status (*sch_maker)(const void *ctx, const hone_func *func, hone_arena *arena,
                                 hone_func **out);
/* The program becomes what make(ctx) gives; no step was done yet. It is kept with the schedule, by
 * its key, so that replays do not make it again. Fails as make and hone_schedule_create do. */
HONE_NODISCARD hone_status sch_begin_with(hone_schedule *sch, uint64_t key, sch_maker make,
                                          const void *ctx);

/* ---- loops that are split, fused or cut ---- */
/* ILLEGAL where a break belongs to the loop: of several new loops it would leave one only. */
HONE_NODISCARD hone_status sch_check_no_break(hone_schedule *sch, hone_node_id loop);
/* ILLEGAL where the loop has annotations, a thread binding or a break. */
HONE_NODISCARD hone_status sch_check_plain_loop(hone_schedule *sch, hone_node_id loop);
/* ILLEGAL where the loop is not shown to start at 0. */
HONE_NODISCARD hone_status sch_check_starts_at_zero(hone_schedule *sch, hone_node_id loop);

/* ---- random variables ---- */
/* The loop that a variable stands for. INVALID: the variable is of another kind, or does not exist.
 * ILLEGAL: an earlier step has replaced the loop, or it is a mark (HONE_RV_ROOT_MARK, …). */
HONE_NODISCARD hone_status sch_resolve_loop(hone_schedule *sch, hone_rv rv, hone_node_id *out);
/* The block that a variable stands for; fails as sch_resolve_loop does. */
HONE_NODISCARD hone_status sch_resolve_block(hone_schedule *sch, hone_rv rv, hone_node_id *out);
/* sch_resolve_block, and its scope. ILLEGAL also for the root block, which has none. */
HONE_NODISCARD hone_status sch_resolve_in_scope(hone_schedule *sch, hone_rv rv, hone_node_id *out,
                                                hone_node_id *out_scope);
/* The block or loop that a variable stands for; fails as sch_resolve_loop does. */
HONE_NODISCARD hone_status sch_resolve_node(hone_schedule *sch, hone_rv rv, hone_node_id *out);

/* ---- recording ---- */
/* The arguments of a step, in the order of its traits: SCH_ARGS(SCH_RV(loop), SCH_TEXT(axis)). */
#define SCH_ARGS(...) ((const hone_step_arg[]){__VA_ARGS__})
#define SCH_RV(x)                                                                                  \
    { .rv = (x) }
#define SCH_INT(x)                                                                                 \
    { .number = (x) }
#define SCH_TEXT(x)                                                                                \
    { .text = (x) }
#define SCH_MAP(x)                                                                                 \
    { .map = (x) }
#define SCH_ACCESS(is_write_, x)                                                                   \
    { .number = (x), .is_write = (is_write_) }
/* Plain data, or a variable that stands for it. */
#define SCH_DATA(x, rv_)                                                                           \
    { .data = (x), .rv = (rv_) }
/* kind: rvs, factors, numbers or reals. */
#define SCH_LIST(count_, kind, x)                                                                  \
    { .rv = HONE_NO_ID, .count = (count_), .list.kind = (x) }
#define SCH_NO_DECISION ((hone_decision){0, NULL})

/* Room for so many variables more; false when memory is short. */
bool sch_reserve_rvs(hone_schedule *sch, uint32_t count);
/* The last thing that a step does: works out facts of blocks that are new or changed, appends the
 * instruction with its arguments, and makes its output variables, which stand for values (count of
 * them) and get consecutive numbers from *out_first (NULL: not wanted). Texts and lists are copied;
 * data and maps live in the arena. */
HONE_NODISCARD hone_status sch_record_values(hone_schedule *sch, hone_inst_kind kind,
                                             const hone_step_arg *args, uint32_t count,
                                             const hone_rv_value *values, hone_decision decision,
                                             hone_rv *out_first);
/* sch_record_values of a step without results and decision. */
HONE_NODISCARD hone_status sch_record(hone_schedule *sch, hone_inst_kind kind,
                                      const hone_step_arg *args);
/* sch_record_values of a step that gives one node, out (NULL: not wanted) its variable. */
HONE_NODISCARD hone_status sch_record_node(hone_schedule *sch, hone_inst_kind kind,
                                           const hone_step_arg *args, hone_node_id node,
                                           hone_rv *out);
/* sch_record_values of a step that gives nodes; out (NULL: not wanted): their variables, an array
 * in the arena. */
HONE_NODISCARD hone_status sch_record_nodes(hone_schedule *sch, hone_inst_kind kind,
                                            const hone_step_arg *args, uint32_t count,
                                            const hone_node_id *nodes, const hone_rv **out);

#endif
