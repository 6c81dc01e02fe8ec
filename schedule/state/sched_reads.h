/* schedule/state/sched_reads.h - is all that a block reads written before? What a block surely
 * writes, covered reads, and reads of what the block itself wrote.
 *
 * A box has one interval for each dimension of a buffer, both ends included. Its ends are
 * expressions over the loops around `top`: the question is about one iteration (or one run) of that
 * node. "Surely" means whatever conditions hold, and for all sizes; false means "not shown". Within
 * schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_READS_H
#define HONE_SCHEDULE_STATE_SCHED_READS_H

#include "ir/region/written.h"
#include "schedule/state/schedule.h"

/* ---- what is surely written ---- */
/* The program, for questions of ir/region/written.h, with the exact writes that are remembered. */
hone_dataflow sch_dataflow(hone_schedule *sch);
/* The node is an IF with an ELSE: what is below it may stand in the other case. */
bool sch_has_two_cases(const hone_schedule *sch, hone_node_id n);
/* In each iteration of `top`, which is around the block (a loop, or the scope of the block), the
 * block writes every element of the box (NULL: of the buffer). */
bool sch_surely_writes(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                       const hone_interval *box_or_null);
/* sch_surely_writes, judged by the stores that are direct children of the block's body, several of
 * which may cover the box together: B[vi] and B[vi + 8], for eight instances, cover 16 elements. */
bool sch_stores_cover(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                      const hone_interval *box);
/* sch_surely_writes for a read that is no box. Both regions are single elements; `read` is
 * `written` with some expressions put in for the axes of the block `from`, and in each iteration of
 * `top`, which is around both, `from` surely runs for all values that these expressions take in the
 * block `to`:
 *
 *     from: B[vi // 15, vi % 15]     to: B[(x * 2) // 15, (x * 2) % 15]     put in: vi = x * 2
 */
bool sch_is_covered_by_axes(hone_schedule *sch, hone_node_id from, const hone_region *written,
                            hone_node_id to, const hone_region *read, hone_node_id top);

/* ---- covered reads ---- */
/* The read is covered: no other block of the scope writes the buffer; or all that do stand before
 * the reader, change none of the elements in later iterations of the loops around both, and have
 * surely written all that is read, one of them or several together. out_why (never NULL): the
 * reason of a false, a static text. */
bool sch_is_covered_read(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                         const hone_region *read, const char **out_why);
/* ILLEGAL unless all that the reader reads of the buffer is covered (sch_is_covered_read in its
 * scope); the message is that of sch_require_pipeline. */
HONE_NODISCARD hone_status sch_require_covered(hone_schedule *sch, hone_node_id reader,
                                               hone_buffer buffer);
/* Every read of every block of the scope is covered, and the scope holds nothing but loops, blocks
 * and known conditions. out_why and out_blame (NULL: not wanted): the reason of a false and the
 * node that it is about. A yes is kept (SCH_PIPELINE); a no is tried again when it is asked for
 * again. */
bool sch_is_stage_pipeline(hone_schedule *sch, hone_node_id scope, const char **out_why,
                           hone_node_id *out_blame);
/* ILLEGAL, with the reason, unless the scope is a stage pipeline. */
HONE_NODISCARD hone_status sch_require_pipeline(hone_schedule *sch, hone_node_id scope);
/* A block of the scope that stands before the reader writes the buffer of the region.
 * out_is_covered: these blocks surely wrote all of the region. Unlike sch_is_covered_read, it is
 * not asked whether they change it later. */
bool sch_has_writer_before(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                           const hone_region *read, bool *out_is_covered);
/* For a region that shall be read inside the block, where nobody writes its buffer. Going outwards,
 * the first scope that has blocks in front which write the buffer decides: these surely wrote all
 * of the region. True where there is no such scope: the buffer comes from outside. */
bool sch_was_written_outside(hone_schedule *sch, hone_node_id block, const hone_region *read);

/* ---- the block itself ---- */
/* Every load of the buffer in the block is a read after write: the same instance surely wrote the
 * element before. True of a block that loads nothing of it. False also where a break may skip the
 * write, or the buffer's address is taken. */
bool sch_reads_after_write(hone_schedule *sch, hone_node_id block, hone_buffer buffer);
/* The block accumulates: it may read an element that was in the buffer before its first instance,
 * which neither its init nor the same instance has written. Here false is the proof, and true means
 * "not shown". */
bool sch_accumulates(hone_schedule *sch, hone_node_id block, hone_buffer buffer);

#endif
