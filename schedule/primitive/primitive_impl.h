/* schedule/primitive/primitive_impl.h - for the primitives only: what they do for each other.
 *
 * A primitive is a public function hone_sch_x(sch, random variables, …) in a file of its own: it
 * resolves its variables to nodes, checks, changes the tree, and records. Checks come before the
 * first change, so a refusal leaves the program as it was.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_PRIMITIVE_IMPL_H
#define HONE_SCHEDULE_PRIMITIVE_PRIMITIVE_IMPL_H

#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

/* The traits of an instruction (schedule/trace/trace_args.h), at the end of its primitive's file:
 *
 *     SCH_STEP(BIND, hone_sch_bind(sch, a[0].rv, a[1].text), .gives = HONE_GIVES_NOTHING,
 *              .args = {SCH_ARG_LOOP(0), SCH_ARG_STRING("thread_axis", 0)})
 *
 * a: the arguments, in the order of .args; decision: NULL for none. */
#define SCH_STEP(name, call, ...)                                                                  \
    static hone_status apply_##name(hone_schedule *sch, const hone_step_arg *a,                    \
                                    const hone_decision *decision) {                               \
        (void)a, (void)decision;                                                                   \
        return call;                                                                               \
    }                                                                                              \
    const hone_inst_traits hone_traits_##name = {.apply = apply_##name, __VA_ARGS__}

/* An argument at input `at`, or attribute `at`. */
#define SCH_ARG_(name_, kind_, at, ...)                                                            \
    { .name = name_, .place = HONE_ARG_##kind_, .index = at, __VA_ARGS__ }
#define SCH_ARG(name, kind, at) SCH_ARG_(name, kind, at, .is_required = true)
#define SCH_ARG_OPTIONAL(name, kind, at) SCH_ARG_(name, kind, at, .is_required = false)
#define SCH_ARG_BLOCK(at) SCH_ARG("block", INPUT, at)
#define SCH_ARG_LOOP(at) SCH_ARG("loop", INPUT, at)
#define SCH_ARG_NODE SCH_ARG("block_or_loop", INPUT, 0)
#define SCH_ARG_STRING(name, at) SCH_ARG(name, STRING, at)
#define SCH_ARG_SCOPE(at) SCH_ARG("storage_scope", STRING, at)
#define SCH_ARG_INT(name, at) SCH_ARG(name, INT, at)
#define SCH_ARG_INT_OR(name, at, value) SCH_ARG_(name, INT, at, .fallback = value)
#define SCH_ARG_BOOL_OR(name, at, value) SCH_ARG_(name, BOOL, at, .fallback = value)
#define SCH_ARG_KEEP_UNITS(at) SCH_ARG_BOOL_OR("preserve_unit_iters", at, true)
#define SCH_ARG_READ_BUFFER(name) SCH_ARG(name, BUFFER, 0)
#define SCH_ARG_WRITTEN_BUFFER(name)                                                               \
    SCH_ARG_(name, BUFFER, 0, .is_required = true, .is_write = true)
#define SCH_ARG_ACCESS SCH_ARG("buffer", ACCESS, 0)
#define SCH_ARG_MAP(at) SCH_ARG("index_map", MAP, at)
#define SCH_ARG_FACTORS SCH_ARG("factors", REST, 1)
#define SCH_ARG_LOOPS(name) SCH_ARG_OPTIONAL(name, VARARGS, 0)
#define SCH_ARG_DECISION SCH_ARG_OPTIONAL("decision", DECISION, 0)

/* blockize of a loop, with all its checks, but without recording an instruction. */
HONE_NODISCARD hone_status sch_blockize_loop(hone_schedule *sch, hone_node_id loop,
                                             bool preserve_unit_iters, hone_node_id *out_block);
/* ILLEGAL where the loop, as it stands, could not be bound to the thread axis `tag`
 * ("threadIdx.x"). Whether its iterations are independent is not asked. */
HONE_NODISCARD hone_status sch_check_thread_loop(hone_schedule *sch, hone_node_id loop,
                                                 const char *tag);
/* Would compute_at accept the step? For sample_compute_location. Changes nothing. */
bool sch_can_compute_at(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* compute_inline of a block, with all its checks, but without recording an instruction. */
HONE_NODISCARD hone_status sch_inline_block(hone_schedule *sch, hone_node_id block);
/* reverse_compute_inline, likewise. */
HONE_NODISCARD hone_status sch_reverse_inline_block(hone_schedule *sch, hone_node_id block);
/* Would compute_inline accept the step? Changes nothing. */
bool sch_can_compute_inline(hone_schedule *sch, hone_node_id block);

#endif
