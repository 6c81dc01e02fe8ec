/* ir/region/region.h - which elements of which buffers a piece of program touches.
 *
 * Regions are boxes of symbolic intervals (ranges per dimension), over the variables that are free
 * in the piece. Memory comes from the arena of the function. Thread-compatible.
 */
#ifndef HONE_IR_REGION_REGION_H
#define HONE_IR_REGION_REGION_H

#include "ir/arith/arith.h"

/* Reads and writes of a block as TVMScript infers them when T.reads/T.writes are left out: the
 * union box of all accesses below (nested blocks by their declared regions with bindings put in),
 * over the block's own axes; loops inside are relaxed and tightened by the conditions around an
 * access. A block with an init does not read a buffer of which it reads no more than it writes.
 * Buffers made inside are left out; views and aliases count as their source; a buffer whose address
 * escapes is touched as a whole. Each buffer once, in order of first access (the right side of a
 * store before its indices). */
HONE_NODISCARD hone_status hone_block_infer_regions(const hone_func *func, hone_node_id block,
                                                    hone_arena *arena, uint32_t *out_read_count,
                                                    const hone_region **out_reads,
                                                    uint32_t *out_write_count,
                                                    const hone_region **out_writes);
/* The same, but what happens by an address is left out where the block declares to read or write
 * that buffer (of a pointer that says so, to do the same): the declaration tells more. */
HONE_NODISCARD hone_status hone_block_shown_regions(const hone_func *func, hone_node_id block,
                                                    hone_arena *arena, uint32_t *out_read_count,
                                                    const hone_region **out_reads,
                                                    uint32_t *out_write_count,
                                                    const hone_region **out_writes);

/* A region of a block over the loops outside it: axes replaced by bindings, then the loops marked
 * in relax[] run over their domains. The block's predicate tightens the box; an end that depends on
 * a loop that is not relaxed comes out as min/max. The caller has bound the loops in arith. A
 * dimension of which nothing is known is the whole one. out_is_exact (may be NULL): every element
 * of the box is touched, so it may stand for what is surely written. */
HONE_NODISCARD hone_status hone_region_relax(hone_arith *arith, const hone_func *func,
                                             hone_node_id block, const hone_region *region,
                                             const bool *relax, uint32_t relax_count,
                                             hone_interval *out_intervals /* rank */,
                                             bool *out_is_exact);
/* The same of a place in a body, which speaks of the loops themselves. */
HONE_NODISCARD hone_status hone_access_relax(hone_arith *arith, const hone_func *func,
                                             const hone_region *access, const bool *relax,
                                             uint32_t relax_count,
                                             hone_interval *out_intervals /* rank */,
                                             bool *out_is_exact);
/* The same of points in any space: values over the block's axes, each of them below its end. */
HONE_NODISCARD hone_status hone_values_relax(hone_arith *arith, const hone_func *func,
                                             hone_node_id block, uint32_t count,
                                             const hone_expr *const *values,
                                             const hone_expr *const *ends, const bool *relax,
                                             uint32_t relax_count, hone_interval *out_intervals,
                                             bool *out_is_exact);
/* The first region of the buffer, or NULL. */
const hone_region *hone_region_of(uint32_t count, const hone_region *regions, hone_buffer buffer);
/* The regions that the block writes: those declared, but found out anew where
 * annotate_buffer_access said more than is stored. False when they can't be (or memory is short).
 */
bool hone_block_stores(const hone_func *func, hone_node_id block, hone_arena *arena,
                       uint32_t *out_count, const hone_region **out_regions);
/* A predicate leaves the values lo to hi of a spatial axis: do these still reach all of each
 * parameter that the axis moves a store to, since what the others would write lies outside or where
 * these write? False also where that is not seen, where it moves none, and without a predicate. */
bool hone_axis_reaches_all_outputs(const hone_func *func, hone_node_id block, const hone_axis *axis,
                                   int64_t lo, int64_t hi);
/* Are they written alike, bound by bound? */
bool hone_region_same(const hone_func *func, const hone_region *a, const hone_region *b);
/* True when every point of inner surely lies in outer. */
bool hone_region_covers(hone_arith *arith, const hone_func *func, const hone_region *outer,
                        const hone_region *inner);

#endif
