/* schedule/primitive/buffers/staging.h - the core of all steps that put a buffer of their own, the
 * stage, between blocks and the buffer that they access, and copy from one to the other.
 *
 *     with block B: B[v] = A[v] + 1               users: B; buffer: A; anchor: the loop of B
 *  →  with block A_local: A_local[v0] = A[v0]     stage: A_local; copy: the block A_local
 *     with block B: B[v] = A_local[v] + 1
 *
 * A step settles, in this order, who uses the stage, which part of the buffer it holds, where the
 * copy stands and over which elements it runs; then it makes the stage, the copy, and lets the
 * users access the stage:
 *
 *   step                 the stage holds     the copy runs over       the copy stands
 *   cache_read, _write   the box touched     that box                 around those who take part
 *   cache_inplace        all of the buffer   the box of an instance   around each instance
 *   read_at, write_at    all of the buffer   the box, in one block    in a loop that is named
 *   reindex              by axes, or a map   the axes of the user     before or behind the nest
 *
 * Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_STAGING_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_STAGING_H

#include "schedule/state/schedule_impl.h"

typedef struct sch_staging {
    hone_schedule *sch;
    hone_node_id block, scope; /* what the step is called with; its scope gets stage and copy */
    hone_buffer buffer, stage; /* stage: HONE_NO_ID until it is made */
    uint32_t rank;             /* of the buffer */
    bool is_write; /* the users write the stage, which is copied to the buffer behind them; else
                      they read it, and the buffer is copied to it before */
    uint32_t user_count;
    const hone_node_id *users; /* blocks of the scope that will access the stage */
    hone_node_id writer;       /* the block of the scope that writes the buffer, or HONE_NO_ID */
    hone_node_id place;        /* the loop, or the scope, of which the copy becomes a child */
    hone_node_id anchor;       /* its child that the copy stands before (is_write: behind) */
    bool is_read_outside;  /* some users stand outside of place: they find what all its iterations
                              copied */
    bool is_whole;         /* the stage must hold all: addresses of the buffer become its own */
    const hone_range *box; /* what the stage holds, from its index 0 on; NULL: the whole buffer */
    hone_node_id copy;     /* the copying block, once it is made */
} sch_staging;

/* Fills in block, scope, buffer and rank; stage and writer are none. index: the number of the
 * buffer among what the block reads (s->is_write: writes). ILLEGAL: there is no such buffer, or the
 * block is the root block, or storage_scope (NULL: not asked) names no storage scope. */
HONE_NODISCARD hone_status sch_begin_staging(sch_staging *s, hone_rv block, int64_t index,
                                             const char *storage_scope);
/* Makes the stage, which the scope allocates. Strings and shape live in the arena. */
HONE_NODISCARD hone_status sch_make_stage(sch_staging *s, const char *name, uint32_t rank,
                                          const hone_expr *const *shape, const char *storage_scope);
/* sch_make_stage of the shape of s->box, or of the buffer, called by buffer and storage scope
 * ("A_local"). */
HONE_NODISCARD hone_status sch_make_stage_of_box(sch_staging *s, const char *storage_scope);
/* The store that copies an element, with its indices in both; not in the tree yet. HONE_NO_ID where
 * memory is short or an index is NULL. */
hone_node_id sch_make_copy_store(const sch_staging *s, const hone_expr *const *in_buffer,
                                 const hone_expr *const *in_stage);
/* Puts the copy, inside of its nest, in its place. */
void sch_place_copy(const sch_staging *s, const sch_nest *nest);
/* Lets the users, and all in them, load from the stage (s->is_write: and store to it). Declared
 * regions follow. */
HONE_NODISCARD hone_status sch_redirect_users(const sch_staging *s);
/* The condition under which an iteration of s->place needs a copy for the blocks
 * (sch_outer_conditions); NULL: each does. ILLEGAL where one of several blocks has a condition:
 * each might need it in other iterations. */
HONE_NODISCARD hone_status sch_conditions_of_copy(const sch_staging *s, uint32_t count,
                                                  const hone_node_id *blocks,
                                                  const hone_expr **out);
/* ILLEGAL: s->writer does not surely write all of what is copied. */
HONE_NODISCARD hone_status sch_refuse_part(const sch_staging *s);
/* ILLEGAL: s->block does not surely write all of the box that it declares. */
HONE_NODISCARD hone_status sch_refuse_box(const sch_staging *s);

#endif
