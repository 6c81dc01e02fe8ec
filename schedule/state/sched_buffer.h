/* schedule/state/sched_buffer.h - buffers of a schedule: which one is meant, who allocates it, who
 * accesses it other than by its regions; regions worked out anew; accesses redirected.
 *
 * Where a `block` is given to something that is about a buffer, it is the one to blame. Within
 * schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_BUFFER_H
#define HONE_SCHEDULE_STATE_SCHED_BUFFER_H

#include "schedule/state/schedule.h"

/* ---- which one ---- */
/* The buffer with this number among what the block declares to write (to read). ILLEGAL: there is
 * none. */
HONE_NODISCARD hone_status sch_nth_buffer(hone_schedule *sch, hone_node_id block, bool is_write,
                                          int64_t index, hone_buffer *out);
/* The number of the buffer of this name among what the block declares to write (to read);
 * "B_shared_dyn", as it is printed, means "B_shared.dyn", too. ILLEGAL: there is none, or there are
 * two. */
HONE_NODISCARD hone_status sch_find_buffer(hone_schedule *sch, hone_node_id block, const char *name,
                                           bool is_write, int64_t *out_index);
/* The block that allocates a buffer; HONE_NO_ID for parameters, views and what statements allocate.
 */
hone_node_id sch_alloc_site(const hone_schedule *sch, hone_buffer buffer);
/* ILLEGAL where no block allocates the buffer. */
HONE_NODISCARD hone_status sch_require_allocated(hone_schedule *sch, hone_node_id block,
                                                 hone_buffer buffer);
/* ILLEGAL where this is no storage scope. */
HONE_NODISCARD hone_status sch_require_scope_name(hone_schedule *sch, hone_node_id block,
                                                  const char *scope);

/* ---- making and dropping ---- */
/* A dense row-major buffer that no block allocates yet. Strings and shape are not copied;
 * HONE_NO_ID where name is NULL or memory short. */
hone_buffer sch_make_buffer(hone_schedule *sch, const char *name, hone_dtype dtype, uint32_t rank,
                            const hone_expr *const *shape, const char *scope);
/* "A" and "shared.dyn" make "A_shared.dyn"; in the arena, NULL when memory is short. */
const char *sch_scoped_name(hone_schedule *sch, const char *base, const char *scope);
/* The scope (a block) allocates the buffer from now on. */
HONE_NODISCARD hone_status sch_add_alloc(hone_schedule *sch, hone_node_id scope,
                                         hone_buffer buffer);
/* The scope (a block) no longer allocates the buffer. */
HONE_NODISCARD hone_status sch_drop_alloc(hone_schedule *sch, hone_node_id scope,
                                          hone_buffer buffer);

/* ---- addresses and views ---- */
/* Something in the function takes the address of the buffer, or names its data. */
bool sch_takes_address(const hone_schedule *sch, hone_buffer buffer);
/* sch_takes_address for what stands from top downwards. */
bool sch_takes_address_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
/* sch_takes_address for one expression. */
bool sch_expr_takes_address(const hone_schedule *sch, const hone_expr *e, hone_buffer buffer);
/* Something in the function takes the address of the buffer, or views it by T.match_buffer. */
bool sch_has_opaque_access(const hone_schedule *sch, hone_buffer buffer);
/* sch_has_opaque_access for what stands from top downwards. */
bool sch_has_opaque_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
/* ILLEGAL where the buffer is also used by its address or as a view of any kind. */
HONE_NODISCARD hone_status sch_require_no_views(hone_schedule *sch, hone_node_id block,
                                                hone_buffer buffer);
/* Marks the buffer and all of its views by T.match_buffer, views of views too: out_marks[b] for
 * each buffer of the function. ILLEGAL where the address of one is taken, or one is viewed by
 * T.decl_buffer. */
HONE_NODISCARD hone_status sch_mark_views(hone_schedule *sch, hone_node_id block,
                                          hone_buffer buffer, bool **out_marks);

/* ---- accesses ---- */
/* Something from top downwards loads from the buffer, whatever regions are declared. */
bool sch_loads_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
/* Something from top downwards stores to the buffer, whatever regions are declared. */
bool sch_stores_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
/* The bounds of a loop load from the buffer. */
bool sch_bounds_load(const hone_node *loop, hone_buffer buffer);
/* The condition of an IF, or the predicate of a block, loads from the buffer. False for other
 * nodes. */
bool sch_condition_loads(const hone_node *node, hone_buffer buffer);
/* ILLEGAL where a block accesses the buffer without declaring it, as only unsafe_hide_buffer_access
 * can have made it. */
HONE_NODISCARD hone_status sch_require_declared(hone_schedule *sch, hone_buffer buffer);
/* out: what the block is seen to read of the buffer, where its declaration, by which steps on it
 * go, does not cover that; NULL where it does, and for the root block. */
HONE_NODISCARD hone_status sch_reads_beyond(hone_schedule *sch, hone_node_id block,
                                            hone_buffer buffer, const hone_region **out);
/* From top downwards, all loads of one buffer (writes_too: and stores) become accesses of another
 * one, which holds a box of it, from its own 0 on (box: one range per dimension), or all of it at
 * the same indices (box NULL: then views and addresses follow, too). Declared regions follow. */
HONE_NODISCARD hone_status sch_redirect_accesses(hone_schedule *sch, hone_node_id top,
                                                 hone_buffer from, hone_buffer to,
                                                 const hone_range *box, bool writes_too);

/* ---- regions ---- */
/* What the block declares becomes what its body is seen to touch (hone_block_infer_regions). */
HONE_NODISCARD hone_status sch_update_regions(hone_schedule *sch, hone_node_id block);
/* sch_update_regions, with those reads in front of which the old regions had loads in their
 * indices, in their order there: as TVM lists them. */
HONE_NODISCARD hone_status sch_renew_regions(hone_schedule *sch, hone_node_id block);
/* sch_renew_regions of the blocks inside, innermost first, then of the block. */
HONE_NODISCARD hone_status sch_update_regions_below(hone_schedule *sch, hone_node_id block);
/* The block, a copy that is being made, declares to read all of each buffer that the expression
 * loads and of which it declares nothing yet. */
HONE_NODISCARD hone_status sch_read_loaded(hone_schedule *sch, hone_block *block,
                                           const hone_expr *e);

#endif
