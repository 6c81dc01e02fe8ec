/* schedule/state/sched_buffer.h - buffers of a schedule: which one is meant, who allocates it, who
 * accesses it other than by its regions; regions inferred anew; accesses redirected to another
 * buffer.
 *
 * Functions about a buffer that also take a `block` blame that block when they refuse. Within
 * schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_BUFFER_H
#define HONE_SCHEDULE_STATE_SCHED_BUFFER_H

#include "schedule/state/schedule.h"

/* ---- which one ---- */
/* The buffer of number `index` (from 0) among what the block declares to write (is_write) or to
 * read. ILLEGAL: there is none. */
HONE_NODISCARD hone_status sch_nth_buffer(hone_schedule *sch, hone_node_id block, bool is_write,
                                          int64_t index, hone_buffer *out);
/* The opposite of sch_nth_buffer: the number of the buffer with this name. "B_shared_dyn", as
 * TVMScript prints it, means "B_shared.dyn", too. ILLEGAL: there is none, or there are two. */
HONE_NODISCARD hone_status sch_find_buffer(hone_schedule *sch, hone_node_id block, const char *name,
                                           bool is_write, int64_t *out_index);
/* The block that allocates a buffer; HONE_NO_ID for parameters, views and what statements allocate.
 */
hone_node_id sch_alloc_site(const hone_schedule *sch, hone_buffer buffer);
/* ILLEGAL where no block allocates the buffer. */
HONE_NODISCARD hone_status sch_require_allocated(hone_schedule *sch, hone_node_id block,
                                                 hone_buffer buffer);
/* ILLEGAL unless `scope` is the name of a storage scope. */
HONE_NODISCARD hone_status sch_require_scope_name(hone_schedule *sch, hone_node_id block,
                                                  const char *scope);

/* ---- making and dropping ---- */
/* Adds a dense row-major buffer to the function, which no block allocates yet. Strings and shape
 * are not copied: they live in the arena. HONE_NO_ID where name is NULL or memory short. */
hone_buffer sch_make_buffer(hone_schedule *sch, const char *name, hone_dtype dtype, uint32_t rank,
                            const hone_expr *const *shape, const char *scope);
/* The name of a cache: "A" and "shared.dyn" make "A_shared.dyn"; in the arena, NULL when memory is
 * short. */
const char *sch_scoped_name(hone_schedule *sch, const char *base, const char *scope);
/* The scope (a block) allocates the buffer from now on. */
HONE_NODISCARD hone_status sch_add_alloc(hone_schedule *sch, hone_node_id scope,
                                         hone_buffer buffer);
/* The scope (a block) no longer allocates the buffer. */
HONE_NODISCARD hone_status sch_drop_alloc(hone_schedule *sch, hone_node_id scope,
                                          hone_buffer buffer);

/* ---- addresses and views ---- */
/* ILLEGAL where the buffer's address is used, or it shares storage with a view of either kind
 * (T.match_buffer, T.decl_buffer). */
HONE_NODISCARD hone_status sch_require_no_views(hone_schedule *sch, hone_node_id block,
                                                hone_buffer buffer);
/* Marks the buffer and its views by T.match_buffer, views of views too: out_marks[b] for each
 * buffer of the function, in the arena. ILLEGAL where the address of one of them is used, or one
 * has a view by T.decl_buffer. */
HONE_NODISCARD hone_status sch_mark_views(hone_schedule *sch, hone_node_id block,
                                          hone_buffer buffer, bool **out_marks);

/* ---- accesses ---- */
/* The bounds of a loop load from the buffer. */
bool sch_bounds_load(const hone_node *loop, hone_buffer buffer);
/* The condition of an IF, or the predicate of a block, loads from the buffer. False for other
 * nodes. */
bool sch_condition_loads(const hone_node *node, hone_buffer buffer);
/* ILLEGAL where a block accesses the buffer without declaring it, as unsafe_hide_buffer_access
 * leaves it. */
HONE_NODISCARD hone_status sch_require_declared(hone_schedule *sch, hone_buffer buffer);
/* Whether the declared reads of the block, which steps rely on, leave out something of the buffer
 * that its body is seen to read. out: all that the body reads of it (in the arena); NULL where the
 * declaration covers that, and for the root block. */
HONE_NODISCARD hone_status sch_reads_beyond(hone_schedule *sch, hone_node_id block,
                                            hone_buffer buffer, const hone_region **out);
/* What becomes of accesses to a buffer. */
typedef struct sch_access_change {
    hone_buffer from, to; /* may be the same */
    uint32_t rank;        /* of `to` */
    /* The indices in `to` for those in `from`, in the arena; NULL: memory is short. */
    const hone_expr *const *(*map)(void *ctx, uint32_t rank, const hone_expr *const *indices);
    void *ctx;
    const hone_expr *const *at; /* map NULL: the indices of all accesses; NULL: as they are */
    bool has_storage;           /* the data pointer of `from` becomes that of `to` */
} sch_access_change;
/* Changes the loads from top downwards (with_regions: those within regions that blocks declare,
 * too), and the stores (with_stores). The declared regions of the buffer itself stay. */
HONE_NODISCARD hone_status sch_change_accesses(hone_schedule *sch, hone_node_id top,
                                               const sch_access_change *change, bool with_regions,
                                               bool with_stores);
/* From top downwards, all loads of `from` (writes_too: and stores) become accesses of `to`, and the
 * declared regions follow.
 *   box given (one range per dimension): `to` holds that part, from its own index 0 on
 *   box NULL: `to` holds everything at the same indices; then views and addresses follow, too */
HONE_NODISCARD hone_status sch_redirect_accesses(hone_schedule *sch, hone_node_id top,
                                                 hone_buffer from, hone_buffer to,
                                                 const hone_range *box, bool writes_too);

/* ---- regions ---- */
/* What the block declares to write (of_writes) or to read: *out_count of them. */
const hone_region *sch_regions_of(const hone_block *block, bool of_writes, uint32_t *out_count);
/* The region of a single element, in the arena; NULL where memory is short. */
const hone_region *sch_element_region(hone_schedule *sch, hone_buffer buffer, uint32_t rank,
                                      const hone_expr *const *indices);
/* Lets the block declare these regions (in the arena) instead of what it declares to write
 * (of_writes) or to read; they count as written by hand (hone_block.regions_inferred), and facts
 * are forgotten (sch_forget_facts). */
HONE_NODISCARD hone_status sch_declare_regions(hone_schedule *sch, hone_node_id block,
                                               bool of_writes, uint32_t count,
                                               const hone_region *regions);
/* Replaces the declared reads and writes of the block by what its body is seen to touch
 * (hone_block_infer_regions). */
HONE_NODISCARD hone_status sch_update_regions(hone_schedule *sch, hone_node_id block);
/* sch_update_regions, but reads come in the order in which TVM lists them: first the buffers that
 * the old regions loaded within their indices, in the order of these loads. */
HONE_NODISCARD hone_status sch_renew_regions(hone_schedule *sch, hone_node_id block);
/* sch_renew_regions of the blocks inside, innermost first, then of the block. */
HONE_NODISCARD hone_status sch_update_regions_below(hone_schedule *sch, hone_node_id block);
/* To `block`, a copy of a block in the making, adds declared reads: all of each buffer that the
 * expression loads and of which it declares nothing yet. */
HONE_NODISCARD hone_status sch_read_loaded(hone_schedule *sch, hone_block *block,
                                           const hone_expr *e);

#endif
