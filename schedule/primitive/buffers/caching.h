/* schedule/primitive/buffers/caching.h - for cache_read, cache_write and cache_inplace: the cache
 * while it is made, and which part of the buffer it holds.
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

#include "schedule/primitive/move/move_domain.h"
#include "schedule/state/schedule_impl.h"

typedef struct caching {
    hone_schedule *sch;
    hone_node_id block, scope;
    hone_buffer buffer, cache;
    bool is_write;
    uint32_t
        user_count; /* blocks that will access the cache: its readers (cache_read), or its writer */
    const hone_node_id *users;
    hone_node_id writer;   /* the block of the scope that writes the buffer, or HONE_NO_ID */
    hone_node_id place;    /* the loop, or the scope, of which the copy is a child */
    bool is_read_outside;  /* some users stand outside of place */
    hone_node_id anchor;   /* the child of place to stand before (read) or behind (write) */
    bool is_whole;         /* the cache must hold all: addresses of the buffer become its own */
    const hone_range *box; /* what the cache holds, by dimension; NULL: the whole buffer */
} caching;

/* Fills in block, scope and buffer from the arguments of a step: the number of the buffer among
 * what the block reads (c->is_write: writes), and the name of a storage scope. ILLEGAL: there is no
 * such buffer, or no such storage scope. */
HONE_NODISCARD hone_status sch_begin_cache(caching *c, hone_rv block, int64_t index,
                                           const char *storage_scope);
/* Makes the buffer c->cache, of the shape of the box, and lets the scope allocate it. */
HONE_NODISCARD hone_status sch_make_cache(caching *c, const char *storage_scope);
/* Makes the copying block, not in the tree yet: one axis v0, v1, … for each dimension, and the
 * store cache[v…] = buffer[…] (c->is_write: buffer[…] = cache[v…]). */
HONE_NODISCARD hone_status sch_make_cache_copy(caching *c, hone_node_id *out_block);
/* Puts the copying block, inside of its nest, in front of the anchor, or behind it (c->is_write).
 */
HONE_NODISCARD hone_status sch_insert_cache_copy(caching *c, hone_node_id copy, sch_nest nest);
/* Lets all loads (writes_too: and stores) from top downwards go to the cache instead of the buffer.
 */
HONE_NODISCARD hone_status sch_redirect_to_cache(const caching *c, hone_node_id top,
                                                 bool writes_too);

/* Settles c->is_whole. Where the users take the buffer's address or view it, they can use the cache
 * instead if it has the layout of the whole buffer; others that do so must have declared it by a
 * block. ILLEGAL otherwise. */
HONE_NODISCARD hone_status sch_check_pointers(caching *c, const char *storage_scope);
/* Settles what is copied (io) and what the cache holds (c->box). io is given as the box that the
 * users touch, and may become larger. is_all_written: the writer surely writes all of it. */
HONE_NODISCARD hone_status sch_choose_cache_box(caching *c, bool is_all_written, sch_box *io);
/* For cache_read of a buffer from outside the scope. Where all users read a dimension at just one
 * index that the scope declares and looks up (w[rows[v], j]), the box is narrowed to that index: io
 * is what relaxing the loaded index gave, which is the whole dimension. */
void sch_narrow_to_looked_up(const caching *c, sch_box *io);
/* ILLEGAL where no element of the box lies in the buffer: the block reads only padding, or never
 * runs. */
HONE_NODISCARD hone_status sch_check_not_empty(caching *c, const sch_box *box);
/* For cache_read of a buffer from outside the scope: ILLEGAL unless the scope declares to read all
 * of the box, and all of it was written before (sch_was_written_outside). */
HONE_NODISCARD hone_status sch_check_outside(caching *c, const sch_box *box);
/* Copies are placed by what blocks declare. ILLEGAL where a statement of the scope outside of its
 * blocks stores to the buffer or (or_loads) loads from it. */
HONE_NODISCARD hone_status sch_check_loose_uses(const caching *c, bool or_loads);
/* For cache_write: what the cache holds at the beginning of each run of the scope is undefined.
 * ILLEGAL where the block accumulates onto the buffer (sch_accumulates), or a reduction in it goes
 * on with what an earlier run of the scope has begun. */
HONE_NODISCARD hone_status sch_check_cache_begins(const caching *c);
/* For cache_inplace: ILLEGAL unless all that the block declares to read and write of the buffer may
 * be copied in before each of its instances and out behind it. */
HONE_NODISCARD hone_status sch_check_copied_around(caching *c);

#endif
