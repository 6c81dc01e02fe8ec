/* schedule/state/sched_facts.h - what blocks and loops are, and what a schedule remembers of it:
 * complete or reduction block, disjoint and exact writes, affine bindings.
 *
 * A yes is proved for all values of the sizes and in every iteration; false means "not shown"
 * (memory may also have been short, which the next step reports). Facts are worked out when a step
 * has made or changed a block (sch_record does so), never later because somebody asks: a fact is
 * kept through steps that make it harder to show, and what a schedule accepts shall depend on its
 * trace alone. Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_FACTS_H
#define HONE_SCHEDULE_STATE_SCHED_FACTS_H

#include "schedule/state/schedule.h"

/* hone_node.flags of a BLOCK, inherited by clones. A fact is valid where its _KNOWN is set. */
enum {
    SCH_AFFINE_KNOWN = 1,   /* for SCH_AFFINE and SCH_ONCE */
    SCH_AFFINE = 2,         /* sch_has_affine_bindings */
    SCH_PIPELINE_KNOWN = 4, /* the block being a scope */
    SCH_PIPELINE = 8,       /* sch_is_stage_pipeline (sched_reads.h) */
    SCH_DISJOINT_KNOWN = 16,
    SCH_DISJOINT = 32, /* sch_has_disjoint_writes */
    SCH_OPEN = 64,     /* its inside uses variables of loops around it; always known */
    SCH_ONCE = 128,    /* of a block with init: no loop repeats an instance */
    SCH_ROLLED = 256,  /* it writes a rolling buffer, whose readers find what a whole one holds */
    SCH_EXACT_KNOWN = 512,
    SCH_EXACT = 1024, /* sch_writes_exactly */
};

/* ---- what a block is ---- */
/* The block declares to write something of the buffer. */
bool sch_writes(const hone_block *block, hone_buffer buffer);
/* The block declares to read something of the buffer. */
bool sch_reads(const hone_block *block, hone_buffer buffer);
/* The block declares to read a buffer that it declares to write. */
bool sch_reads_own_output(const hone_block *block);
/* The block writes a buffer that its scope does not allocate, so that others than the blocks of the
 * scope may read it. True of the root block. */
bool sch_is_output_block(hone_schedule *sch, hone_node_id block);
/* The other blocks of the block's scope that write a buffer which it reads, in program order, be it
 * in front of the block or behind it. The array is in the arena. */
HONE_NODISCARD hone_status sch_producers(hone_schedule *sch, hone_node_id block,
                                         uint32_t *out_count, const hone_node_id **out);
/* The other blocks of the block's scope that read a buffer which it writes; as sch_producers. */
HONE_NODISCARD hone_status sch_consumers(hone_schedule *sch, hone_node_id block,
                                         uint32_t *out_count, const hone_node_id **out);

typedef enum sch_block_class {
    SCH_BLOCK_COMPLETE,  /* spatial axes, no init, the only writer of its outputs, reads none of
                            them; its bindings may be any */
    SCH_BLOCK_REDUCTION, /* an init, spatial and reduce axes, affine bindings, the only writer;
                            reads its outputs only where it writes them, at indices that no reduce
                            axis is part of */
    SCH_BLOCK_OTHER,
} sch_block_class;
/* Complete and reduction blocks stand below loops only, whose bounds load nothing, and are not open
 * (SCH_OPEN). within: the scope or loop below which the block must be the only writer of its
 * outputs. out_why (NULL: not wanted): why it is neither; in the arena or static. */
sch_block_class sch_classify(hone_schedule *sch, hone_node_id block, hone_node_id within,
                             const char **out_why);
/* ILLEGAL, with the reason, where sch_classify says that the block is neither. */
HONE_NODISCARD hone_status sch_require_plain(hone_schedule *sch, hone_node_id block,
                                             hone_node_id within);
/* ILLEGAL where the block is open (SCH_OPEN). */
HONE_NODISCARD hone_status sch_require_closed(hone_schedule *sch, hone_node_id block);
/* sch_classify within the block's scope; but for a reduction it is enough, where bindings are not
 * affine, that each output element is summed up within one run of `loop` (sch_sums_within). */
sch_block_class sch_classify_below(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                   const char **out_why);
/* Only loops stand between the block and its scope, and their bounds load nothing. */
bool sch_is_below_loops_only(const hone_schedule *sch, hone_node_id block);
/* Only loops stand between the block and its scope. Their bounds may load, but nothing that a block
 * of the scope writes: the rows of a sparse matrix are fine. */
bool sch_is_below_known_loops(const hone_schedule *sch, hone_node_id block);
/* sch_is_below_known_loops, but IFs may stand there too, if their conditions load nothing that a
 * block of the scope writes. */
bool sch_is_below_known_conditions(const hone_schedule *sch, hone_node_id block);

/* ---- bindings ---- */
/* The bindings are a quasi-affine iterator map of the loops onto all instances (TVM's affine
 * binding). A predicate may leave instances out, but none in which an init would run. Without an
 * init, loops may run an instance several times. With one they may repeat a reduction as a whole,
 * from init to last step, and the steps of each come in ascending order. */
bool sch_has_affine_bindings(hone_schedule *sch, hone_node_id block);
/* No instance of the block runs twice within one iteration of `above`, a loop around it (or its
 * scope, or HONE_NO_ID: within one run of its scope). */
bool sch_meets_once(hone_schedule *sch, hone_node_id block, hone_node_id above);
/* What sch_is_order_free asks of bindings. `above` is a loop: sch_meets_once. HONE_NO_ID: a block
 * with an init runs no instance twice; one without has affine bindings, and may repeat instances.
 */
bool sch_counts_once(hone_schedule *sch, hone_node_id block, hone_node_id above);
/* The init of the block would run before every update if the block had these bindings (one per
 * axis) in a nest of `loop` and the loops around it, inside of which stand outer_loop (or
 * HONE_NO_ID) and those around that: the first iteration of the nest is at the least value of every
 * reduce axis, and loops that spatial and reduce axes share count upwards. */
bool sch_reduces_forwards(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                          hone_node_id loop, hone_node_id outer_loop);
/* The predicate leaves out no first step of a reduction, in which an init runs: each of its
 * conjuncts that uses loops which feed reduce axes of the block holds where these loops begin,
 * whatever the iteration of `but`, one of the loops (HONE_NO_ID: none is free). */
bool sch_begins_under(hone_schedule *sch, hone_node_id block, hone_node_id but,
                      const hone_expr *predicate);
/* Each element of a reduction block's output is reduced, from init to last step, within one run of
 * `loop`, which is around the block: from there inwards, each loop feeds either spatial or reduce
 * axes; outside, none feeds a reduce axis. The loops outside may come to an element again (a halo),
 * each time from its init on. */
bool sch_sums_within(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The predicate of the block, if there is one, only cuts off iterations in which a binding lies
 * behind the end of its axis: what split and fuse leave. */
bool sch_predicate_follows(hone_schedule *sch, hone_node_id block);

/* ---- what it writes ---- */
/* Instances with different values of the spatial axes write disjoint elements, by what the block
 * declares to write. */
bool sch_has_disjoint_writes(hone_schedule *sch, hone_node_id block);
/* Different instances of a block without init and reduce axes, of stores and lets alone, store to
 * disjoint elements, whatever the block declares (the boxes around several stores may overlap); and
 * what an instance loads of a buffer that the block stores to, it stores to itself. */
bool sch_has_disjoint_stores(hone_schedule *sch, hone_node_id block);
/* Exact writes: each instance writes every element that the block declares to write. Believed where
 * the buffer is written by its address or through a view. */
bool sch_writes_exactly(hone_schedule *sch, hone_node_id block);
/* Of each buffer that the block declares to write, it declares to read no more than that. */
bool sch_reads_where_it_writes(hone_schedule *sch, hone_node_id block);

/* ---- loops ---- */
typedef enum sch_loop_type {
    SCH_LOOP_DATA_PARALLEL, /* feeds spatial axes only (or none) */
    SCH_LOOP_REDUCE,        /* feeds reduce axes only */
    SCH_LOOP_OPAQUE,        /* feeds others, or both */
} sch_loop_type;
/* Which axes the loop feeds, of the blocks below it (insides of blocks are not looked at); a loop
 * feeds an axis whose binding uses its variable. */
sch_loop_type sch_loop_type_of(hone_schedule *sch, hone_node_id loop);
/* The loop feeds an axis of the block: some binding uses its variable. Its predicate is not asked.
 */
bool sch_uses_loop(const hone_schedule *sch, hone_node_id block, hone_node_id loop);

/* ---- keeping facts ---- */
/* Works out SCH_OPEN of a new block. */
void sch_mark_open(hone_schedule *sch, hone_node_id block);
/* Works out the facts of a block whose _KNOWN is not set. */
void sch_settle_block(hone_schedule *sch, hone_node_id block);
/* sch_settle_block of the blocks that are new since the last call; of all blocks where something
 * was forgotten (sch_forget_…) meanwhile. */
void sch_settle_facts(hone_schedule *sch);
/* To be called when a step may have made bindings or predicate other than affine. */
void sch_forget_affine(hone_schedule *sch, hone_node_id block);
/* To be called when a step has changed a block's stores or declared writes. */
void sch_forget_writes(hone_schedule *sch, hone_node_id block);
/* To be called when blocks of the scope were moved, or access other elements than before. */
void sch_forget_pipeline(hone_schedule *sch, hone_node_id scope);
/* sch_forget_affine and _writes of the block, and sch_forget_pipeline of it and of every scope
 * around it. */
void sch_forget_facts(hone_schedule *sch, hone_node_id block);

#endif
