/* ir/region/region.h - which elements of which buffers a piece of program touches.
 *
 * A region is a box of a buffer, one range per dimension, over the variables that are free in the
 * piece. Memory comes from the arena of the function, unless an arena is given. Thread-compatible.
 */
#ifndef HONE_IR_REGION_REGION_H
#define HONE_IR_REGION_REGION_H

#include "ir/arith/arith.h"

/* What a block reads and writes, as TVMScript infers it where T.reads and T.writes are left out:
 * for each buffer the box around all accesses below, over the block's own axes. Nested blocks count
 * by their declared regions, with bindings put in; loops inside are relaxed, within the conditions
 * around the access.
 *
 * What a block with an init reads of a buffer is left out where it writes as much of it. Left out
 * as well: buffers that are allocated inside. Views and aliases count as their source; a buffer
 * whose address escapes is touched as a whole. Each buffer comes once, in order of first access
 * (the right side of a store before its indices). Sets the reads and writes of `out` and nothing
 * else of it: it may be a copy of the block. */
HONE_NODISCARD hone_status hone_block_infer_regions(const hone_func *func, hone_node_id block,
                                                    hone_arena *arena, hone_block *out);
/* hone_block_infer_regions without what is touched through an address: where the block declares the
 * buffer, that tells more. (Of a pointer that says what it is for, reading or writing, only that.)
 */
HONE_NODISCARD hone_status hone_block_shown_regions(const hone_func *func, hone_node_id block,
                                                    hone_arena *arena, hone_block *out);

/* hone_block_infer_regions of many blocks: what is known of the whole function is found once, so a
 * block costs what lies below and around it. believes: what is touched through an address is left
 * out as hone_block_shown_regions does. Lives in the arena. While it is used, the function gains no
 * variables and no buffers, and what it binds by lets stays; what blocks declare may change. */
typedef struct hone_region_inference hone_region_inference;
HONE_NODISCARD hone_status hone_region_inference_begin(const hone_func *func, bool believes,
                                                       hone_arena *arena,
                                                       hone_region_inference **out);
HONE_NODISCARD hone_status hone_region_inference_next(hone_region_inference *inference,
                                                      hone_node_id block, hone_block *out);

/* By buffer, in the arena: the box around all stores of the function, whatever its loops and axes
 * do, within the conditions around them; NULL where nothing stores. Also of buffers inside; what
 * blocks declare does not count, nor what is done by an address or a view in a block. Of a program
 * that is not well formed, something. */
HONE_NODISCARD hone_status hone_func_stores(const hone_func *func, hone_arena *arena,
                                            const hone_region *const **out);

/* A declared region of a block, over the loops outside: bindings are put in for axes, then the
 * loops marked in relax[] (by variable) run over their domains, within the block's predicate. Ends
 * may depend on loops that are not relaxed, by min and max. A dimension of which nothing is known
 * is the whole one. The caller has bound the loops in arith. out_intervals: one per dimension.
 * out_is_exact (may be NULL): every element of the box is touched, so the box may stand for what is
 * surely written. */
HONE_NODISCARD hone_status hone_region_relax(hone_arith *arith, const hone_func *func,
                                             hone_node_id block, const hone_region *region,
                                             const bool *relax, uint32_t relax_count,
                                             hone_interval *out_intervals /* rank */,
                                             bool *out_is_exact);
/* hone_region_relax of what a block declares, or (HONE_NO_ID) of an access in a body, whose indices
 * use the loops themselves, under a further condition over the loops (NULL: none). */
HONE_NODISCARD hone_status hone_access_relax(hone_arith *arith, const hone_func *func,
                                             hone_node_id block_or_none, const hone_region *region,
                                             const hone_expr *under, const bool *relax,
                                             uint32_t relax_count,
                                             hone_interval *out_intervals /* rank */,
                                             bool *out_is_exact);
/* hone_region_relax of `count` values over the block's axes instead of a region: value i lies in
 * [0, ends[i]). out_intervals: one per value. */
HONE_NODISCARD hone_status hone_values_relax(hone_arith *arith, const hone_func *func,
                                             hone_node_id block, uint32_t count,
                                             const hone_expr *const *values,
                                             const hone_expr *const *ends, const bool *relax,
                                             uint32_t relax_count, hone_interval *out_intervals,
                                             bool *out_is_exact);
/* The first region of the buffer, or NULL. */
const hone_region *hone_region_of(uint32_t count, const hone_region *regions, hone_buffer buffer);
/* For a block with a predicate that shall run for the values lo to hi (both included) of a spatial
 * axis only. True: in the dimensions that the axis indexes, it still writes every element of each
 * parameter of the function that it writes, so all that is left out are writes outside of the
 * parameters, or to elements that are written anyway. False: not shown; or the axis indexes no
 * parameter, or there is no predicate. */
bool hone_axis_reaches_all_outputs(const hone_func *func, hone_node_id block, const hone_axis *axis,
                                   int64_t lo, int64_t hi);
/* They are of one buffer, with structurally equal bounds. False does not mean that the regions
 * differ. */
bool hone_region_same(const hone_func *func, const hone_region *a, const hone_region *b);
/* outer covers inner: it is proved to contain every element of it. False: not shown, or another
 * buffer. */
bool hone_region_covers(hone_arith *arith, const hone_func *func, const hone_region *outer,
                        const hone_region *inner);

#endif
