/* schedule/state/sched_reads.h - does a read find its values written? What a block surely writes,
 * and what it reads of itself.
 *
 * A box has one interval for each dimension of a buffer, both ends included, over the loops around
 * `top`, the node within one iteration (or run) of which it is asked. "Surely" means whatever
 * conditions hold, for all sizes; false means "not shown". Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_READS_H
#define HONE_SCHEDULE_STATE_SCHED_READS_H

#include "schedule/state/schedule.h"

/* ---- what is surely written ---- */
/* During one iteration of top, a loop around the block or its scope, the block surely writes all of
 * the box (NULL: of the buffer). */
bool sch_surely_writes(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                       const hone_interval *box_or_null);
/* As sch_surely_writes, from the stores that stand directly in the block's body, of which several
 * must cover the box together: B[vi] and B[vi + 8], for eight instances. */
bool sch_stores_cover(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                      const hone_interval *box);
/* For reads that are no boxes: both regions are single elements, the one read is the one written
 * with expressions in the place of the writer's axes, and during one iteration of top, which is
 * around both, `from` surely runs for all values that these expressions take in `to`. */
bool sch_is_covered_by_axes(hone_schedule *sch, hone_node_id from, const hone_region *written,
                            hone_node_id to, const hone_region *read, hone_node_id top);

/* ---- covered reads ---- */
/* The read is covered: no other block of the scope writes the buffer; or all that do stand before
 * the reader, are done with the elements (no loop around both goes on changing them), and one of
 * them, or several together, surely wrote all that is read. out_why (never NULL): the reason of a
 * false, static. */
bool sch_is_covered_read(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                         const hone_region *read, const char **out_why);
/* sch_is_covered_read for all that a block reads of a buffer. ILLEGAL in the words of
 * sch_require_pipeline. */
HONE_NODISCARD hone_status sch_require_covered(hone_schedule *sch, hone_node_id reader,
                                               hone_buffer buffer);
/* Every read of every block of the scope is covered, and nothing but loops, blocks and known
 * conditions stands in it. out_why and out_blame (NULL: not wanted): the reason of a false, and the
 * node it is about. A yes is kept (SCH_PIPELINE); after a no it is tried again. */
bool sch_is_stage_pipeline(hone_schedule *sch, hone_node_id scope, const char **out_why,
                           hone_node_id *out_blame);
/* ILLEGAL unless the scope is a stage pipeline; with the reason. */
HONE_NODISCARD hone_status sch_require_pipeline(hone_schedule *sch, hone_node_id scope);
/* A block of the scope that stands before the reader writes the buffer of the region that it reads.
 * out_is_covered: they surely write all of it. Whether they are done is not asked. */
bool sch_has_writer_before(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                           const hone_region *read, bool *out_is_covered);
/* For a region that shall be read inside a block in which nobody writes the buffer: in the
 * innermost scope around it that has blocks in front which write the buffer, these surely write all
 * of the region; or there are none anywhere. */
bool sch_was_written_outside(hone_schedule *sch, hone_node_id block, const hone_region *read);

/* ---- the block itself ---- */
/* Every load of the buffer in the block is a read after write: the same instance surely wrote the
 * element before. True of a block that loads nothing of it. False where a break or an address may
 * hide something. */
bool sch_reads_after_write(hone_schedule *sch, hone_node_id block, hone_buffer buffer);
/* The block accumulates onto what was in the buffer before its first instance: it reads an element
 * that neither its init has set nor the same instance has written before. Here true is what may be,
 * false is proved. */
bool sch_accumulates(hone_schedule *sch, hone_node_id block, hone_buffer buffer);

#endif
