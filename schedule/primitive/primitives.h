/* schedule/primitive/primitives.h - the steps that change a schedule: one function for each
 * instruction.
 *
 * Blocks, loops and sampled integers are given and returned as random variables (schedule.h). A
 * step that is not legal is ILLEGAL, with the reason, and changes nothing.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_PRIMITIVES_H
#define HONE_SCHEDULE_PRIMITIVE_PRIMITIVES_H

#include "schedule/state/schedule.h"

/* ---- getting hold of things ---- */
/* NOT_FOUND or ILLEGAL (two blocks of that name). func_name NULL = this function. */
HONE_NODISCARD hone_status hone_sch_get_block(hone_schedule *sch, const char *name, hone_rv *out);
/* The loops around a block, outermost first; out in the arena. */
HONE_NODISCARD hone_status hone_sch_get_loops(hone_schedule *sch, hone_rv block,
                                              uint32_t *out_count, const hone_rv **out_loops);
HONE_NODISCARD hone_status hone_sch_get_child_blocks(hone_schedule *sch, hone_rv block_or_loop,
                                                     uint32_t *out_count, const hone_rv **out);
HONE_NODISCARD hone_status hone_sch_get_producers(hone_schedule *sch, hone_rv block,
                                                  uint32_t *out_count, const hone_rv **out);
HONE_NODISCARD hone_status hone_sch_get_consumers(hone_schedule *sch, hone_rv block,
                                                  uint32_t *out_count, const hone_rv **out);
HONE_NODISCARD hone_status hone_sch_get_output_blocks(hone_schedule *sch, hone_rv block,
                                                      uint32_t *out_count, const hone_rv **out);

/* ---- sampling: decision NULL = draw from sch->rng; else used (and repaired as TVM does) ---- */
HONE_NODISCARD hone_status hone_sch_sample_perfect_tile(hone_schedule *sch, hone_rv loop,
                                                        uint32_t n, int64_t max_innermost_factor,
                                                        const hone_decision *decision,
                                                        const hone_rv **out_factors);
/* As above; the factors from partition_pos on multiply to a multiple of innerpart_factor. An extent
 * that this does not divide gives -1, 1, … (all of it in the first part). */
HONE_NODISCARD hone_status hone_sch_sample_partitioned_tile(hone_schedule *sch, hone_rv loop,
                                                            uint32_t n, int64_t partition_pos,
                                                            int64_t innerpart_factor,
                                                            const hone_decision *decision,
                                                            const hone_rv **out_factors);
HONE_NODISCARD hone_status hone_sch_sample_categorical(hone_schedule *sch, uint32_t count,
                                                       const int64_t *candidates,
                                                       const double *probs,
                                                       const hone_decision *decision, hone_rv *out);
/* The result is a loop, or the marks HONE_RV_ROOT ("leave it") and HONE_RV_INLINE. */
HONE_NODISCARD hone_status hone_sch_sample_compute_location(hone_schedule *sch, hone_rv block,
                                                            const hone_decision *decision,
                                                            hone_rv *out);

/* ---- loops ---- */
/* A factor: a random variable, a constant, or "None" (inferred). */
typedef struct hone_factor {
    enum { HONE_FACTOR_NONE, HONE_FACTOR_INT, HONE_FACTOR_RV } kind;
    int64_t value;
    hone_rv rv;
} hone_factor;
#define HONE_FACTOR_OF_INT(x) ((hone_factor){.kind = HONE_FACTOR_INT, .value = (x)})
#define HONE_FACTOR_OF_RV(x) ((hone_factor){.kind = HONE_FACTOR_RV, .rv = (x)})

HONE_NODISCARD hone_status hone_sch_split(hone_schedule *sch, hone_rv loop, uint32_t count,
                                          const hone_factor *factors, bool preserve_unit_iters,
                                          bool disable_predication, const hone_rv **out_loops);
HONE_NODISCARD hone_status hone_sch_fuse(hone_schedule *sch, uint32_t count, const hone_rv *loops,
                                         bool preserve_unit_iters, hone_rv *out_loop);
HONE_NODISCARD hone_status hone_sch_merge(hone_schedule *sch, uint32_t count, const hone_rv *loops,
                                          hone_rv *out_loop);
/* Factors are lengths; one loop each, and one more for the rest when none is None. */
HONE_NODISCARD hone_status hone_sch_loop_partition(hone_schedule *sch, hone_rv loop, uint32_t count,
                                                   const hone_factor *factors,
                                                   bool preserve_unit_iters, uint32_t *out_count,
                                                   const hone_rv **out_loops);
HONE_NODISCARD hone_status hone_sch_reorder(hone_schedule *sch, uint32_t count,
                                            const hone_rv *loops);
HONE_NODISCARD hone_status hone_sch_add_unit_loop(hone_schedule *sch, hone_rv block_or_loop,
                                                  hone_rv *out_loop);
HONE_NODISCARD hone_status hone_sch_parallel(hone_schedule *sch, hone_rv loop);
HONE_NODISCARD hone_status hone_sch_vectorize(hone_schedule *sch, hone_rv loop);
HONE_NODISCARD hone_status hone_sch_unroll(hone_schedule *sch, hone_rv loop);
HONE_NODISCARD hone_status hone_sch_bind(hone_schedule *sch, hone_rv loop, const char *thread_axis);

/* ---- blocks ---- */
HONE_NODISCARD hone_status hone_sch_compute_at(hone_schedule *sch, hone_rv block, hone_rv loop,
                                               bool preserve_unit_loops, int64_t index);
HONE_NODISCARD hone_status hone_sch_reverse_compute_at(hone_schedule *sch, hone_rv block,
                                                       hone_rv loop, bool preserve_unit_loops,
                                                       int64_t index);
HONE_NODISCARD hone_status hone_sch_compute_inline(hone_schedule *sch, hone_rv block);
HONE_NODISCARD hone_status hone_sch_reverse_compute_inline(hone_schedule *sch, hone_rv block);
/* consumers: blocks that shall read the cache; count 0 = all of them. */
HONE_NODISCARD hone_status hone_sch_cache_read(hone_schedule *sch, hone_rv block,
                                               int64_t read_buffer_index, const char *scope,
                                               uint32_t consumer_count, const hone_rv *consumers,
                                               hone_rv *out_block);
HONE_NODISCARD hone_status hone_sch_cache_write(hone_schedule *sch, hone_rv block,
                                                int64_t write_buffer_index, const char *scope,
                                                uint32_t consumer_count, const hone_rv *consumers,
                                                hone_rv *out_block);
/* The buffer, a number among what the block reads or writes, in the layout of the block's axes. */
HONE_NODISCARD hone_status hone_sch_reindex(hone_schedule *sch, hone_rv block, bool is_write,
                                            int64_t buffer_index, hone_rv *out_block);
/* The same in another storage scope, at the indices that a map makes of all axes of the block. */
HONE_NODISCARD hone_status hone_sch_reindex_cache_read(hone_schedule *sch, hone_rv block,
                                                       int64_t read_buffer_index,
                                                       const char *storage_scope,
                                                       const hone_index_map *index_map,
                                                       hone_rv *out_block);
HONE_NODISCARD hone_status hone_sch_reindex_cache_write(hone_schedule *sch, hone_rv block,
                                                        int64_t write_buffer_index,
                                                        const char *storage_scope,
                                                        const hone_index_map *index_map,
                                                        hone_rv *out_block);
/* What the block both reads and writes; out_blocks (may be NULL): the copy in and the copy out. */
HONE_NODISCARD hone_status hone_sch_cache_inplace(hone_schedule *sch, hone_rv block,
                                                  int64_t read_buffer_index,
                                                  const char *storage_scope,
                                                  const hone_rv **out_blocks);
/* One block for each index that the block computes at least cse_thresh times (0: at all). */
HONE_NODISCARD hone_status hone_sch_cache_index(hone_schedule *sch, hone_rv block,
                                                const char *storage_scope, int64_t cse_thresh,
                                                uint32_t *out_count, const hone_rv **out_blocks);
/* One block of copies for each iteration of a loop around the block. */
HONE_NODISCARD hone_status hone_sch_read_at(hone_schedule *sch, hone_rv loop, hone_rv block,
                                            int64_t read_buffer_index, const char *storage_scope,
                                            hone_rv *out_block);
HONE_NODISCARD hone_status hone_sch_write_at(hone_schedule *sch, hone_rv loop, hone_rv block,
                                             int64_t write_buffer_index, const char *storage_scope,
                                             hone_rv *out_block);
HONE_NODISCARD hone_status hone_sch_fuse_reduction_epilogue(hone_schedule *sch,
                                                            hone_rv reduction_block,
                                                            hone_rv epilogue_block);
HONE_NODISCARD hone_status hone_sch_decompose_reduction(hone_schedule *sch, hone_rv block,
                                                        hone_rv loop, hone_rv *out_init);
HONE_NODISCARD hone_status hone_sch_rfactor(hone_schedule *sch, hone_rv loop, int64_t factor_axis,
                                            hone_rv *out_rf);
/* new_order: a permutation of the block's axes, count of them. */
HONE_NODISCARD hone_status hone_sch_reorder_block_iter_var(hone_schedule *sch, hone_rv block,
                                                           uint32_t count,
                                                           const int64_t *new_order);

/* A bijective map of the axes; loops of their own around the block. The free variables of a map are
 * random variables here (ir/core/index_map.h). */
HONE_NODISCARD hone_status hone_sch_transform_block_layout(hone_schedule *sch, hone_rv block,
                                                           const hone_index_map *index_map);

/* The map gives a begin and an end for each dimension of a buffer, over the axes of the block. What
 * cannot be shown of reads is believed, and marks the trace as unsafe. */
HONE_NODISCARD hone_status hone_sch_annotate_buffer_access(hone_schedule *sch, hone_rv block,
                                                           int64_t buffer_index, bool is_write,
                                                           const hone_index_map *gen_new_ranges);

/* ---- storage: buffer_index counts what the block writes ---- */
HONE_NODISCARD hone_status hone_sch_storage_align(hone_schedule *sch, hone_rv block,
                                                  int64_t buffer_index, int64_t axis,
                                                  int64_t factor, int64_t offset);
HONE_NODISCARD hone_status hone_sch_set_scope(hone_schedule *sch, hone_rv block,
                                              int64_t buffer_index, const char *storage_scope);
/* Unsafe: marks the trace. */
HONE_NODISCARD hone_status hone_sch_unsafe_set_dtype(hone_schedule *sch, hone_rv block,
                                                     int64_t buffer_index, const char *dtype);
/* Unsafe: marks the trace. buf_type: "read" or "write". */
HONE_NODISCARD hone_status hone_sch_unsafe_hide_buffer_access(hone_schedule *sch, hone_rv block,
                                                              const char *buf_type, uint32_t count,
                                                              const int64_t *indices);

/* The buffer, a number among what the block reads or writes, in another layout. pad_value (NULL:
 * there may be no padding): a map from the new indices to what the padding holds, or one without
 * parameters. assume_injective_transform is unsafe: marks the trace. */
HONE_NODISCARD hone_status hone_sch_transform_layout(hone_schedule *sch, hone_rv block,
                                                     bool is_write, int64_t buffer_index,
                                                     const hone_index_map *index_map,
                                                     const hone_index_map *pad_value,
                                                     bool assume_injective_transform);
HONE_NODISCARD hone_status hone_sch_set_axis_separator(hone_schedule *sch, hone_rv block,
                                                       bool is_write, int64_t buffer_index,
                                                       uint32_t count,
                                                       const int64_t *axis_separators);

/* ---- notes ---- */
/* One block of all below a loop (of neighbouring blocks with the loops that are not around all of
 * them). preserve_unit_iters is kept for the trace: axes of the new block that take one value stay
 * either way. */
HONE_NODISCARD hone_status hone_sch_blockize_loop(hone_schedule *sch, hone_rv loop,
                                                  bool preserve_unit_iters, hone_rv *out_block);
HONE_NODISCARD hone_status hone_sch_blockize_blocks(hone_schedule *sch, uint32_t count,
                                                    const hone_rv *blocks, bool preserve_unit_iters,
                                                    hone_rv *out_block);
HONE_NODISCARD hone_status hone_sch_decompose_padding(hone_schedule *sch, hone_rv block,
                                                      hone_rv loop, hone_rv *out_block);
/* padding: one factor per axis of the block. */
HONE_NODISCARD hone_status hone_sch_pad_einsum(hone_schedule *sch, hone_rv block, uint32_t count,
                                               const int64_t *padding);
HONE_NODISCARD hone_status hone_sch_rolling_buffer(hone_schedule *sch, hone_rv block,
                                                   int64_t write_buffer_index);
/* NOT_FOUND: no such intrinsic, built in or in sch->intrins (schedule/intrin/tensor_intrin.h). */
HONE_NODISCARD hone_status hone_sch_tensorize(hone_schedule *sch, hone_rv block_or_loop,
                                              const char *tensor_intrin, bool preserve_unit_iters);
/* value: INT, FLOAT, STRING, BOOL, LIST, MAP; value_rv != HONE_NO_ID: that variable's integer. */
HONE_NODISCARD hone_status hone_sch_annotate(hone_schedule *sch, hone_rv block_or_loop,
                                             const char *key, hone_value value, hone_rv value_rv);
HONE_NODISCARD hone_status hone_sch_unannotate(hone_schedule *sch, hone_rv block_or_loop,
                                               const char *key);
/* Marks that what follows is a postprocessor's work. */
HONE_NODISCARD hone_status hone_sch_enter_postproc(hone_schedule *sch);

#endif
