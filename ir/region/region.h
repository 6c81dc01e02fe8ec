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
/* As hone_block_infer_regions, without what is touched by an address of a buffer that the block
 * declares to read or write (of a pointer that says which: to read, or to write): there the
 * declaration tells more. */
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
/* As hone_region_relax, of an access in a body, whose indices use the loops themselves: there are
 * no bindings to put in and no predicate. */
HONE_NODISCARD hone_status hone_access_relax(hone_arith *arith, const hone_func *func,
                                             const hone_region *access, const bool *relax,
                                             uint32_t relax_count,
                                             hone_interval *out_intervals /* rank */,
                                             bool *out_is_exact);
/* As hone_region_relax, of points in any space: `count` values over the block's axes, each of them
 * at least 0 and below its end. out_intervals: one for each value. */
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
/* The block has a predicate, and is going to run for the values lo to hi (both included) of a
 * spatial axis only. True: it still writes every element, in the dimensions that the axis indexes,
 * of each parameter of the function that it writes; so what is left out writes nothing but places
 * outside of the parameters, or elements that are written anyway. False: not shown, the axis
 * indexes no parameter, or there is no predicate. */
bool hone_axis_reaches_all_outputs(const hone_func *func, hone_node_id block, const hone_axis *axis,
                                   int64_t lo, int64_t hi);
/* Structurally equal: the same buffer, and the same expressions for every bound. False does not
 * mean that they differ. */
bool hone_region_same(const hone_func *func, const hone_region *a, const hone_region *b);
/* outer is proved to contain every element of inner. False: not shown, or other buffers. */
bool hone_region_covers(hone_arith *arith, const hone_func *func, const hone_region *outer,
                        const hone_region *inner);

#endif
