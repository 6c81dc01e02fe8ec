/* schedule/primitive/buffers/caching.h - for cache_read, cache_write and cache_inplace: the copy
 * while it is made, and which part of the buffer it holds.
 *
 * A copy that stands directly in its scope holds the box that it copies, from its own 0 on:
 *
 *     with block O: for ii: C[vo * 4 + ii] = A[vo * 4 + ii]        cache_read(c, 0, "shared")
 *  →  with block O: A_shared = alloc_buffer((4,))
 *         for ax0 in 4: A_shared[ax0] = A[vo * 4 + ax0]
 *         for ii: C[vo * 4 + ii] = A_shared[ii]
 *
 * Layer: within schedule/.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_BUFFERS_CACHING_H
#define HONE_SCHEDULE_PRIMITIVE_BUFFERS_CACHING_H

#include "schedule/primitive/move/move_domain.h"
#include "schedule/state/schedule_impl.h"

typedef struct caching {
    hone_schedule *sch;
    hone_node_id block, scope;
    hone_buffer buffer, cache;
    bool is_write;
    uint32_t user_count; /* who reads the cache (cache_read), or the writer (cache_write) */
    const hone_node_id *users;
    hone_node_id writer;   /* of the buffer in the scope, or HONE_NO_ID */
    hone_node_id place;    /* the loop or scope block that the copy stands in */
    bool is_read_outside;  /* some users stand outside of the place */
    hone_node_id anchor;   /* the child of place to stand before (read) or behind (write) */
    bool is_whole;         /* addresses of the buffer become those of the cache */
    const hone_range *box; /* what the cache holds, by dimension; NULL: the whole buffer */
} caching;

/* Reads a step's arguments: the block, its scope and the buffer. */
HONE_NODISCARD hone_status sch_begin_cache(caching *c, hone_rv block, int64_t index,
                                           const char *storage_scope);
/* The buffer of the cache, in the scope. */
HONE_NODISCARD hone_status sch_make_cache(caching *c, const char *storage_scope);
/* A block over what the cache holds: axes v0…, cache[v] = buffer[v] or the other way round. */
HONE_NODISCARD hone_status sch_make_cache_copy(caching *c, hone_node_id *out_block);
/* Puts it, below its nest, before (read) or behind (write) the anchor. */
HONE_NODISCARD hone_status sch_insert_cache_copy(caching *c, hone_node_id copy, sch_nest nest);
/* Lets what stands below top use the cache in place of the buffer. */
HONE_NODISCARD hone_status sch_redirect_to_cache(const caching *c, hone_node_id top,
                                                 bool writes_too);

/* Uses of the buffer by its address or as a view: those of the users can become uses of the cache,
 * others are declared by a block. Settles c->is_whole. */
HONE_NODISCARD hone_status sch_check_pointers(caching *c, const char *storage_scope);
/* Settles what is copied and what the cache holds (c->box). io: what the users touch; all that the
 * writer makes where is_all_written. */
HONE_NODISCARD hone_status sch_choose_cache_box(caching *c, bool is_all_written, sch_box *io);
/* cache_read of what comes from outside the scope: where the users read a place that the scope
 * looks up, w[rows[v], j], the box has that place alone. */
void sch_narrow_to_looked_up(const caching *c, sch_box *io);
/* Refuses a box of which nothing lies in the buffer: of padding, or of what never runs. */
HONE_NODISCARD hone_status sch_check_not_empty(caching *c, const sch_box *box);
/* cache_read of what comes from outside the scope: all of the box was written there before. */
HONE_NODISCARD hone_status sch_check_outside(caching *c, const sch_box *box);
/* Copies are placed by what blocks say that they touch: no statement of the scope that stands in no
 * block stores the buffer or (or_loads) loads it. */
HONE_NODISCARD hone_status sch_check_loose_uses(const caching *c, bool or_loads);
/* cache_write: the cache begins empty in each run of the scope, so the block may not go on with
 * what is in the buffer. */
HONE_NODISCARD hone_status sch_check_cache_begins(const caching *c);
/* cache_inplace: all that the block declares to read and write may be copied in front of each of
 * its instances, and back behind it. */
HONE_NODISCARD hone_status sch_check_copied_around(caching *c);

#endif
