/* schedule/primitive/buffers/caching.h - for cache_read, cache_write and cache_inplace: which part
 * of the buffer a cache (a stage, staging.h) holds, who else may touch the buffer, and the copy.
 *
 * The cache holds the box that is copied, from its own index 0 on, where the copy is a child of its
 * scope:
 *
 *     with block O: for ii: C[vo * 4 + ii] = A[vo * 4 + ii]        cache_read(c, 0, "shared")
 * →  with block O: A_shared = alloc_buffer((4,))
 *         for ax0 in 4: A_shared[ax0] = A[vo * 4 + ax0]
 *         for ii: C[vo * 4 + ii] = A_shared[ii]
 *
 * Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_CACHING_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_CACHING_H

#include "schedule/primitive/buffers/staging.h"
#include "schedule/primitive/move/move_domain.h"

/* ---- the copy ---- */
/* Makes the copying block, with an axis v0, v1, … for each dimension, and its nest of loops over
 * the box; it runs in those iterations of s->place only in which the blocks need it
 * (sch_conditions_of_copy). */
HONE_NODISCARD hone_status sch_make_cache_copy(sch_staging *s, sch_box *box, uint32_t count,
                                               const hone_node_id *blocks, sch_nest *out);

/* ---- what it holds ---- */
/* Settles what is copied (io) and what the cache holds (s->box). io is given as the box that the
 * users touch, and may become larger. is_all_written: the writer surely writes all of it. */
HONE_NODISCARD hone_status sch_choose_cache_box(sch_staging *s, bool is_all_written, sch_box *io);
/* For cache_read of a buffer from outside the scope. Where all users read a dimension at just one
 * index that the scope declares and looks up (w[rows[v], j]), the box is narrowed to that index: io
 * is what relaxing the loaded index gave, which is the whole dimension. */
void sch_narrow_to_looked_up(const sch_staging *s, sch_box *io);
/* ILLEGAL where no element of the box lies in the buffer: the block reads only padding, or never
 * runs. */
HONE_NODISCARD hone_status sch_check_not_empty(const sch_staging *s, const sch_box *box);
/* For cache_read of a buffer from outside the scope: ILLEGAL unless the scope declares to read all
 * of the box, and all of it was written before (sch_was_written_outside). */
HONE_NODISCARD hone_status sch_check_outside(const sch_staging *s, const sch_box *box);

/* ---- who else touches the buffer ---- */
/* Settles s->is_whole. Where the users take the buffer's address or view it, they can use the cache
 * instead if it has the layout of the whole buffer; others that do so must have declared it by a
 * block. ILLEGAL otherwise. */
HONE_NODISCARD hone_status sch_check_pointers(sch_staging *s, const char *storage_scope);
/* Copies are placed by what blocks declare. ILLEGAL where a statement of the scope outside of its
 * blocks stores to the buffer or (or_loads) loads from it. */
HONE_NODISCARD hone_status sch_check_loose_uses(const sch_staging *s, bool or_loads);
/* For cache_write: what the cache holds at the beginning of each run of the scope is undefined.
 * ILLEGAL where the block accumulates onto the buffer (sch_accumulates), or a reduction in it goes
 * on with what an earlier run of the scope has begun. */
HONE_NODISCARD hone_status sch_check_cache_begins(const sch_staging *s);
/* For cache_inplace: ILLEGAL unless all that the block declares to read and write of the buffer may
 * be copied in before each of its instances and out behind it. */
HONE_NODISCARD hone_status sch_check_copied_around(const sch_staging *s);

#endif
