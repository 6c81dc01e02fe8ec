/* schedule/state/sched_draft.h - a new block and the loops around it, while they are made.
 *
 *     sch_begin_draft(sch, 2, &d)                              for ax0 in 8, ax1 in 4:
 *     sch_draft_dim(sch, &d, "ax", eight)          →          with block("C"):
 *     sch_draft_dim(sch, &d, "ax", four)                          v0, v1 = ax0, ax1
 *     sch_draft_block(sch, &d, "C", store, &block)                     C[v1, v0] = A[v0, v1]
 *
 * Nothing of a draft is in the tree until sch_place_nest. All is in the schedule's arena. Within
 * schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_DRAFT_H
#define HONE_SCHEDULE_STATE_SCHED_DRAFT_H

#include "schedule/state/schedule.h"

/* The loops around a block, each the only child of the one in front of it, and how the block
 * depends on them. */
typedef struct sch_nest {
    hone_node_id top, bottom;   /* outermost and innermost loop; HONE_NO_ID: there is none */
    const hone_expr **bindings; /* one per axis of the block */
    const hone_expr *predicate; /* NULL = true */
} sch_nest;

typedef struct sch_draft {
    uint32_t count; /* of the axes so far */
    hone_axis *axes;
    const hone_expr **vars; /* the axes as expressions */
    sch_nest nest;
    hone_attrs annotations;
    const hone_region *read, *written; /* what the block declares; NULL: what its body touches */
} sch_draft;

/* An empty draft with room for so many axes. */
HONE_NODISCARD hone_status sch_begin_draft(hone_schedule *sch, uint32_t room, sch_draft *out);
/* The loop, not in the tree yet, becomes the innermost one of the nest. NO_MEMORY where it is
 * HONE_NO_ID. */
HONE_NODISCARD hone_status sch_nest_add_loop(hone_schedule *sch, sch_nest *io, hone_node_id loop);
/* A new axis with a new variable, of the type of the domain, which arith knows. The name is not
 * copied: it lives in the arena. NO_MEMORY where the name or an end of the domain is NULL. */
HONE_NODISCARD hone_status sch_make_axis(hone_schedule *sch, const char *name, hone_axis_kind kind,
                                         hone_range dom, hone_axis *out);
/* A loop like another one becomes the innermost one of the nest: its kind, thread tag and
 * annotations, the name with a suffix, and its range with map[v] in place of each variable v <
 * count (NULL: stays). The map then leads from its variable to the new one. */
HONE_NODISCARD hone_status sch_nest_copy_loop(hone_schedule *sch, sch_nest *io, hone_node_id loop,
                                              const char *suffix, const hone_expr **map,
                                              uint32_t count);
/* sch_make_axis, behind the axes of the draft, with its binding. */
HONE_NODISCARD hone_status sch_draft_axis(hone_schedule *sch, sch_draft *io, const char *name,
                                          hone_axis_kind kind, hone_range dom,
                                          const hone_expr *binding);
/* A loop over [0, extent) inside of those of the draft, and a spatial axis "v" that is bound to it;
 * the number of the axis is put behind both names ("ax" makes "ax0"). */
HONE_NODISCARD hone_status sch_draft_dim(hone_schedule *sch, sch_draft *io, const char *loop_name,
                                         const hone_expr *extent);
/* A STORE that is not in the tree yet. HONE_NO_ID where value or indices are NULL or memory is
 * short. */
hone_node_id sch_make_store(hone_schedule *sch, hone_buffer buffer, uint32_t rank,
                            const hone_expr *const *indices, const hone_expr *value);
/* Makes the block of a draft inside of its loops; body (HONE_NO_ID is NO_MEMORY) is all that it
 * holds. */
HONE_NODISCARD hone_status sch_draft_block(hone_schedule *sch, const sch_draft *d, const char *name,
                                           hone_node_id body, hone_node_id *out_block);
/* Puts the nest of a block, or the block itself where there is no loop, in front of a node of the
 * tree (is_behind: behind it). The block gets the bindings and the predicate of the nest. */
void sch_place_nest(hone_schedule *sch, const sch_nest *nest, hone_node_id block,
                    hone_node_id anchor, bool is_behind);

#endif
