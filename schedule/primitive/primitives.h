/* schedule/primitive/primitives.h - the steps that change a schedule: one function for each
 * instruction of a trace (schedule/trace/insts.def), as TVM's methods of tir.Schedule.
 *
 * Blocks, loops and sampled integers are given and returned as random variables
 * (schedule/state/schedule.h). A step either changes the program and appends one instruction to the
 * trace, or fails:
 *   ILLEGAL    nothing was changed: the program would mean something else, the step does not apply,
 *              or an earlier step has replaced the block or loop; with the reason; the node is
 *              sch->blame
 *   INVALID    a variable of another kind (a loop for a block), or one that does not exist
 *   NO_MEMORY  the schedule must be reset
 * What is written of ILLEGAL below are the main cases; the head of the file that has the step lists
 * all checks.
 *
 * Results: a single out_… may be NULL (not wanted). Arrays are in the schedule's arena, until it is
 * reset; strings and lists that are given are copied.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_PRIMITIVES_H
#define HONE_SCHEDULE_PRIMITIVE_PRIMITIVES_H

#include "schedule/state/schedule.h"

/* ---- another algorithm ---- */
struct hone_variant;
/* The program becomes a variant of itself (schedule/variant/variant.h), with other blocks, which
 * later steps work on. ILLEGAL: a step was done before; the variant is not for this program. */
HONE_NODISCARD hone_status hone_sch_use_variant(hone_schedule *sch,
                                                const struct hone_variant *variant);

/* The variant that a trace makes the program first; its strings live in the trace. False: it stays
 * as it is, or there is no such variant any more. */
bool hone_trace_variant(const hone_trace *trace, struct hone_variant *out);

/* ---- getting hold of things ---- */
/* The only block of this name in the function. ILLEGAL: there is none, or there are several. */
HONE_NODISCARD hone_status hone_sch_get_block(hone_schedule *sch, const char *name, hone_rv *out);
/* The loops between a block and its scope, outermost first. */
HONE_NODISCARD hone_status hone_sch_get_loops(hone_schedule *sch, hone_rv block,
                                              uint32_t *out_count, const hone_rv **out_loops);
/* The blocks directly below a block or loop, in program order, but not those in the init of the
 * block. */
HONE_NODISCARD hone_status hone_sch_get_child_blocks(hone_schedule *sch, hone_rv block_or_loop,
                                                     uint32_t *out_count, const hone_rv **out);
/* The other blocks of the block's scope that write a buffer which it reads, in program order. */
HONE_NODISCARD hone_status hone_sch_get_producers(hone_schedule *sch, hone_rv block,
                                                  uint32_t *out_count, const hone_rv **out);
/* The other blocks of the block's scope that read a buffer which it writes, in program order. */
HONE_NODISCARD hone_status hone_sch_get_consumers(hone_schedule *sch, hone_rv block,
                                                  uint32_t *out_count, const hone_rv **out);
/* The blocks anywhere below `block` (its scope: usually the root) that write a buffer which their
 * own scope does not allocate. */
HONE_NODISCARD hone_status hone_sch_get_output_blocks(hone_schedule *sch, hone_rv block,
                                                      uint32_t *out_count, const hone_rv **out);

/* ---- sampling: decision NULL = draw from sch->rng; else used (and repaired as TVM does) ---- */
/* n factors (1 to HONE_MAX_TILE_PARTS), outermost first, whose product is the extent of the loop;
 * the last one is at most max_innermost_factor (-1: no limit), unless a decision says otherwise. A
 * loop whose extent is no constant gives -1, 1, … (all of it in the first part), for split to
 * infer. ILLEGAL: arguments out of range; a decision with another number of factors, or one below
 * 1. */
HONE_NODISCARD hone_status hone_sch_sample_perfect_tile(hone_schedule *sch, hone_rv loop,
                                                        uint32_t n, int64_t max_innermost_factor,
                                                        const hone_decision *decision,
                                                        const hone_rv **out_factors);
/* As hone_sch_sample_perfect_tile, but the factors from number partition_pos on multiply to a
 * multiple of innerpart_factor. An extent that innerpart_factor does not divide gives -1, 1, … */
HONE_NODISCARD hone_status hone_sch_sample_partitioned_tile(hone_schedule *sch, hone_rv loop,
                                                            uint32_t n, int64_t partition_pos,
                                                            int64_t innerpart_factor,
                                                            const hone_decision *decision,
                                                            const hone_rv **out_factors);
/* One of `count` candidates, drawn with probabilities proportional to probs (none negative, one
 * above 0). The decision is its index. ILLEGAL: other probs; a decision that is no index. */
HONE_NODISCARD hone_status hone_sch_sample_categorical(hone_schedule *sch, uint32_t count,
                                                       const int64_t *candidates,
                                                       const double *probs,
                                                       const hone_decision *decision, hone_rv *out);
/* A place that compute_at accepts for the block: a loop, or the marks HONE_RV_ROOT_MARK (leave it)
 * and HONE_RV_INLINE_MARK. The decision is the index of the loop among those around the block's
 * consumers, -1 for the root, -2 for inlining; one that is no longer legal becomes the greatest
 * legal one below it, or -1. */
HONE_NODISCARD hone_status hone_sch_sample_compute_location(hone_schedule *sch, hone_rv block,
                                                            const hone_decision *decision,
                                                            hone_rv *out);

/* ---- loops ---- */
/* Splits a loop into `count` nested ones, outermost first: i = (i_0 * f1 + i_1) * f2 + i_2 … At
 * most one factor is None (or -1): the extent divided by the others, rounded up. Where the product
 * exceeds the extent, every block below gets the predicate i < extent; with disable_predication
 * that is ILLEGAL, as it is where a statement outside of blocks would need the predicate. ILLEGAL
 * too: the loop does not start at 0, is bound to a thread, annotated, or left by a break; the
 * product is below the extent. preserve_unit_iters: loops of extent 1 stay in the bindings. */
HONE_NODISCARD hone_status hone_sch_split(hone_schedule *sch, hone_rv loop, uint32_t count,
                                          const hone_factor *factors, bool preserve_unit_iters,
                                          bool disable_predication, const hone_rv **out_loops);
/* Makes one loop of nested ones, given from the outermost in, each the only child of the one
 * before. ILLEGAL: another form; an extent that depends on another of them; a loop that split would
 * refuse. */
HONE_NODISCARD hone_status hone_sch_fuse(hone_schedule *sch, uint32_t count, const hone_rv *loops,
                                         bool preserve_unit_iters, hone_rv *out_loop);
/* Makes one nest of at least two nests beside each other, whose loops agree level by level from
 * what they share down to the loops given: the bodies follow each other in the order of the
 * arguments. The new loop is the innermost one. ILLEGAL where that could change the order of
 * dependent accesses. */
HONE_NODISCARD hone_status hone_sch_merge(hone_schedule *sch, uint32_t count, const hone_rv *loops,
                                          hone_rv *out_loop);
/* Cuts the range of a loop into parts, one behind the other, each a loop with a copy of the body;
 * the factors are the lengths of the parts, one may be None; the rest of the range is one more part
 * when none is. Blocks without axes are put around the parts: they are scopes of later steps.
 * out_count and out_loops (NULL: not wanted): the new loops in order. */
HONE_NODISCARD hone_status hone_sch_loop_partition(hone_schedule *sch, hone_rv loop, uint32_t count,
                                                   const hone_factor *factors,
                                                   bool preserve_unit_iters, uint32_t *out_count,
                                                   const hone_rv **out_loops);
/* Permutes loops of one chain to the order given, outermost first; loops between them that are not
 * named keep their places. ILLEGAL: the loops are no chain; a bound depends on a loop that would
 * come to stand inside; dependent instances of a block would change their order. */
HONE_NODISCARD hone_status hone_sch_reorder(hone_schedule *sch, uint32_t count,
                                            const hone_rv *loops);
/* Puts a loop of one iteration around a block or a loop. ILLEGAL for the root block. */
HONE_NODISCARD hone_status hone_sch_add_unit_loop(hone_schedule *sch, hone_rv block_or_loop,
                                                  hone_rv *out_loop);
/* Lets the iterations of a loop run at once on several cores. ILLEGAL: it feeds an axis that is not
 * spatial; two iterations may touch an element that one of them writes, unless each has a copy of
 * its own. */
HONE_NODISCARD hone_status hone_sch_parallel(hone_schedule *sch, hone_rv loop);
/* Lets the iterations of a loop run as lanes of vectors. ILLEGAL: as for parallel; no constant
 * extent. */
HONE_NODISCARD hone_status hone_sch_vectorize(hone_schedule *sch, hone_rv loop);
/* Has the body of a loop written out once per iteration. ILLEGAL: no constant extent. */
HONE_NODISCARD hone_status hone_sch_unroll(hone_schedule *sch, hone_rv loop);
/* Binds a loop to a thread axis: "blockIdx.x", "threadIdx.y", "vthread.z", … ILLEGAL: another name;
 * as for parallel, but that threadIdx may feed reduce axes of a block with its init (the threads
 * reduce together); another extent than that of loops launched together under the same name. */
HONE_NODISCARD hone_status hone_sch_bind(hone_schedule *sch, hone_rv loop, const char *thread_axis);

/* ---- blocks ---- */
/* Moves a producer into a loop around all of its consumers, over the part of its axes that one
 * iteration uses. loop: a loop, or a mark as sample_compute_location gives (ROOT: nothing changes;
 * INLINE: compute_inline). index: the number of the child of the loop to stand before; -1 the last
 * legal place, -2 the first one. preserve_unit_loops: axes that take one value get a loop, too. */
HONE_NODISCARD hone_status hone_sch_compute_at(hone_schedule *sch, hone_rv block, hone_rv loop,
                                               bool preserve_unit_loops, int64_t index);
/* Moves a consumer into a loop around all of its producers, over the part of its axes whose
 * elements one iteration makes; arguments as for hone_sch_compute_at (INLINE:
 * reverse_compute_inline). */
HONE_NODISCARD hone_status hone_sch_reverse_compute_at(hone_schedule *sch, hone_rv block,
                                                       hone_rv loop, bool preserve_unit_loops,
                                                       int64_t index);
/* Puts the value that a producer stores where its consumers load it, and removes the block.
 * ILLEGAL: an output block, a reduction, more than one store, indices that are no bijection of the
 * axes. */
HONE_NODISCARD hone_status hone_sch_compute_inline(hone_schedule *sch, hone_rv block);
/* Puts what a consumer computes behind the store of its only producer, and removes the consumer. */
HONE_NODISCARD hone_status hone_sch_reverse_compute_inline(hone_schedule *sch, hone_rv block);
/* Copies what a block reads into a buffer of another storage scope, and lets the consumers read
 * that: those of the blocks named that read the buffer, all blocks of the scope that do when count
 * is 0. out_block: the copying block. */
HONE_NODISCARD hone_status hone_sch_cache_read(hone_schedule *sch, hone_rv block,
                                               int64_t read_buffer_index, const char *scope,
                                               uint32_t consumer_count, const hone_rv *consumers,
                                               hone_rv *out_block);
/* Lets a block write into a buffer of another storage scope, which is copied out behind it.
 * consumers: blocks that shall read the cache, not what is copied out; others that are named do not
 * mind. out_block: the copying block. */
HONE_NODISCARD hone_status hone_sch_cache_write(hone_schedule *sch, hone_rv block,
                                                int64_t write_buffer_index, const char *scope,
                                                uint32_t consumer_count, const hone_rv *consumers,
                                                hone_rv *out_block);
/* Copies a buffer that a block reads (or writes) into one with a dimension for each axis that the
 * access uses, and lets the block access that. out_block: the copying block. */
HONE_NODISCARD hone_status hone_sch_reindex(hone_schedule *sch, hone_rv block, bool is_write,
                                            int64_t buffer_index, hone_rv *out_block);
/* As hone_sch_reindex of a buffer that is read, into another storage scope, at the indices that a
 * map makes of all axes of the block. */
HONE_NODISCARD hone_status hone_sch_reindex_cache_read(hone_schedule *sch, hone_rv block,
                                                       int64_t read_buffer_index,
                                                       const char *storage_scope,
                                                       const hone_index_map *index_map,
                                                       hone_rv *out_block);
/* As hone_sch_reindex_cache_read, of a buffer that is written. */
HONE_NODISCARD hone_status hone_sch_reindex_cache_write(hone_schedule *sch, hone_rv block,
                                                        int64_t write_buffer_index,
                                                        const char *storage_scope,
                                                        const hone_index_map *index_map,
                                                        hone_rv *out_block);
/* Copies what a block both reads and writes into a buffer of another storage scope in front of each
 * of its instances, and back behind it. out_blocks (NULL: not wanted): the copy in and the copy
 * out. */
HONE_NODISCARD hone_status hone_sch_cache_inplace(hone_schedule *sch, hone_rv block,
                                                  int64_t read_buffer_index,
                                                  const char *storage_scope,
                                                  const hone_rv **out_blocks);
/* Computes once, in a block of its own, each sub-expression of the block's stored value that
 * depends on axes alone, is more than a variable or a number, and occurs at least cse_thresh times
 * (0: once). out_count and out_blocks (NULL: not wanted): the new blocks. */
HONE_NODISCARD hone_status hone_sch_cache_index(hone_schedule *sch, hone_rv block,
                                                const char *storage_scope, int64_t cse_thresh,
                                                uint32_t *out_count, const hone_rv **out_blocks);
/* Copies what the block reads of a buffer in one iteration of a loop around it into another storage
 * scope, in front of what uses it, by one block that holds the loops of the copy. */
HONE_NODISCARD hone_status hone_sch_read_at(hone_schedule *sch, hone_rv loop, hone_rv block,
                                            int64_t read_buffer_index, const char *storage_scope,
                                            hone_rv *out_block);
/* As hone_sch_read_at for what the block writes, which is copied out behind it. */
HONE_NODISCARD hone_status hone_sch_write_at(hone_schedule *sch, hone_rv loop, hone_rv block,
                                             int64_t write_buffer_index, const char *storage_scope,
                                             hone_rv *out_block);
/* Lets a reduction begin with what the epilogue would add to its result: D[i] = C[i] + E[i] becomes
 * the init D[i] = E[i]. ILLEGAL where the epilogue does not continue the operation of the
 * reduction. */
HONE_NODISCARD hone_status hone_sch_fuse_reduction_epilogue(hone_schedule *sch,
                                                            hone_rv reduction_block,
                                                            hone_rv epilogue_block);
/* Takes the init of a reduction block out, into a block of its own (out_init) in front of a loop
 * around it. */
HONE_NODISCARD hone_status hone_sch_decompose_reduction(hone_schedule *sch, hone_rv block,
                                                        hone_rv loop, hone_rv *out_init);
/* Makes the loop a spatial axis of a first block (out_rf) that reduces into a buffer with one more
 * dimension; the old block then reduces that dimension. factor_axis: where it stands, negative from
 * the end. */
HONE_NODISCARD hone_status hone_sch_rfactor(hone_schedule *sch, hone_rv loop, int64_t factor_axis,
                                            hone_rv *out_rf);
/* Lists the axes of a block in another order; what runs does not change. new_order: a permutation
 * of 0 … count - 1, count being the number of axes. */
HONE_NODISCARD hone_status hone_sch_reorder_block_iter_var(hone_schedule *sch, hone_rv block,
                                                           uint32_t count,
                                                           const int64_t *new_order);

/* Runs a block over the axes that a bijective map makes of its own, in serial loops of their own,
 * one per new axis, which take the place of those around it. Free variables of the map are random
 * variables of the schedule (ir/core/index_map.h). ILLEGAL: another block in these loops; loops
 * that are not bound to the axes one by one; an axis that would be both spatial and reduce; an
 * order of instances that matters. */
HONE_NODISCARD hone_status hone_sch_transform_block_layout(hone_schedule *sch, hone_rv block,
                                                           const hone_index_map *index_map);

/* Replaces the region that the block declares of a buffer by what the map says: a begin and an end
 * for each dimension, over the block's axes. ILLEGAL where it surely lacks what the block touches.
 * What cannot be shown of reads is believed, and marks the trace as unsafe. */
HONE_NODISCARD hone_status hone_sch_annotate_buffer_access(hone_schedule *sch, hone_rv block,
                                                           int64_t buffer_index, bool is_write,
                                                           const hone_index_map *gen_new_ranges);

/* ---- storage: buffer_index counts what the block writes ---- */
/* Asks that the stride of a dimension be factor * k + offset elements, by the annotation
 * "buffer_dim_align". axis: the dimension, negative from the end. ILLEGAL: no such dimension;
 * factor below 1; a buffer that the function does not allocate. */
HONE_NODISCARD hone_status hone_sch_storage_align(hone_schedule *sch, hone_rv block,
                                                  int64_t buffer_index, int64_t axis,
                                                  int64_t factor, int64_t offset);
/* Puts a buffer, with its views, into another storage scope. ILLEGAL: no such scope; a buffer that
 * the function does not allocate, or whose address is taken. */
HONE_NODISCARD hone_status hone_sch_set_scope(hone_schedule *sch, hone_rv block,
                                              int64_t buffer_index, const char *storage_scope);
/* Gives a buffer another element type (its name, "float16"): what is stored is converted to it,
 * what is loaded is converted back. Unsafe: marks the trace. */
HONE_NODISCARD hone_status hone_sch_unsafe_set_dtype(hone_schedule *sch, hone_rv block,
                                                     int64_t buffer_index, const char *dtype);
/* Takes buffers out of what the block declares to read (buf_type "read") or to write ("write"); the
 * body stays. indices: their numbers, each once. Unsafe: marks the trace. */
HONE_NODISCARD hone_status hone_sch_unsafe_hide_buffer_access(hone_schedule *sch, hone_rv block,
                                                              const char *buf_type, uint32_t count,
                                                              const int64_t *indices);

/* Keeps a buffer (number buffer_index among what the block reads or writes) in another layout: each
 * access goes to the indices that the map makes of its own. pad_value (NULL: none): what padding
 * holds, new elements that no old index leads to, as a map from the new indices or one without
 * parameters. ILLEGAL: a map that is not shown to be injective; padding without a pad_value.
 * assume_injective_transform: believed, and marks the trace as unsafe. */
HONE_NODISCARD hone_status hone_sch_transform_layout(hone_schedule *sch, hone_rv block,
                                                     bool is_write, int64_t buffer_index,
                                                     const hone_index_map *index_map,
                                                     const hone_index_map *pad_value,
                                                     bool assume_injective_transform);
/* Says between which dimensions of a buffer its address is split: `count` of them, ascending, each
 * from 0 to the rank. What is accessed does not change. */
HONE_NODISCARD hone_status hone_sch_set_axis_separator(hone_schedule *sch, hone_rv block,
                                                       bool is_write, int64_t buffer_index,
                                                       uint32_t count,
                                                       const int64_t *axis_separators);

/* ---- blocks as units, and notes ---- */
/* Makes one block of all below a loop: one nest with one block in it. preserve_unit_iters: loops of
 * one iteration stay in the bindings; axes of the new block that take one value stay either way. */
HONE_NODISCARD hone_status hone_sch_blockize_loop(hone_schedule *sch, hone_rv loop,
                                                  bool preserve_unit_iters, hone_rv *out_block);
/* Makes one block of blocks in neighbouring nests, with those of their loops that are not around
 * all of them. */
HONE_NODISCARD hone_status hone_sch_blockize_blocks(hone_schedule *sch, uint32_t count,
                                                    const hone_rv *blocks, bool preserve_unit_iters,
                                                    hone_rv *out_block);
/* Where a block stores either a value or a constant, by a condition on its axes: a new block
 * (out_block) fills all with the constant in front of the loop, and the old one runs over what is
 * inside only. */
HONE_NODISCARD hone_status hone_sch_decompose_padding(hone_schedule *sch, hone_rv block,
                                                      hone_rv loop, hone_rv *out_block);
/* Rounds the extents of a block's axes up to multiples of padding (one factor from 1 on for each
 * axis): what it reads is copied into larger buffers, with zeros around, and what it writes is
 * copied out of one. ILLEGAL where zeros could fail in the body or change a result. */
HONE_NODISCARD hone_status hone_sch_pad_einsum(hone_schedule *sch, hone_rv block, uint32_t count,
                                               const int64_t *padding);
/* Keeps of a buffer that is made piece by piece in a loop the last piece only (indices modulo its
 * length), and computes what two pieces share once. */
HONE_NODISCARD hone_status hone_sch_rolling_buffer(hone_schedule *sch, hone_rv block,
                                                   int64_t write_buffer_index);
/* Puts the implementation of a tensor intrinsic in the place of a block, or of all below a loop
 * (which is blockized first). NOT_FOUND: no such intrinsic, built in or in sch->intrins
 * (schedule/intrin/tensor_intrin.h). ILLEGAL: the body is not what the description computes; with
 * the first difference. */
HONE_NODISCARD hone_status hone_sch_tensorize(hone_schedule *sch, hone_rv block_or_loop,
                                              const char *tensor_intrin, bool preserve_unit_iters);
/* Adds an annotation to a block or loop; one of that key that is there already stays, as in TVM.
 * value: INT, FLOAT, STRING, BOOL, LIST or MAP, copied; value_rv other than HONE_NO_ID: the integer
 * of that variable instead. */
HONE_NODISCARD hone_status hone_sch_annotate(hone_schedule *sch, hone_rv block_or_loop,
                                             const char *key, hone_value value, hone_rv value_rv);
/* Takes an annotation away. ILLEGAL: there is none of that key. */
HONE_NODISCARD hone_status hone_sch_unannotate(hone_schedule *sch, hone_rv block_or_loop,
                                               const char *key);
/* Records that what follows is a postprocessor's work. Changes nothing. */
HONE_NODISCARD hone_status hone_sch_enter_postproc(hone_schedule *sch);

#endif
