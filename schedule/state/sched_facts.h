/* schedule/state/sched_facts.h - facts of blocks that a schedule keeps: what kind of block, does it
 * write elements once, all of what it declares, are its bindings affine.
 *
 * Answers are proofs: true holds for all sizes and in every iteration; false means "not shown"
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
    SCH_PIPELINE_KNOWN = 4, /* of the block as a scope */
    SCH_PIPELINE = 8,       /* sch_is_stage_pipeline (sched_reads.h) */
    SCH_DISJOINT_KNOWN = 16,
    SCH_DISJOINT = 32, /* sch_has_disjoint_writes */
    SCH_OPEN = 64,     /* its inside uses variables of loops around it: always valid */
    SCH_ONCE = 128,    /* of a block with init: no loop repeats an instance */
    SCH_ROLLED = 256,  /* it writes a rolling buffer, whose readers find what a whole one holds */
    SCH_EXACT_KNOWN = 512,
    SCH_EXACT = 1024, /* sch_writes_exactly */
};

/* ---- what a block is ---- */
/* The block declares to write (to read) something of the buffer. */
bool sch_writes(const hone_block *block, hone_buffer buffer);
bool sch_reads(const hone_block *block, hone_buffer buffer);
/* The block declares to read a buffer that it declares to write. */
bool sch_reads_own_output(const hone_block *block);
/* The block writes a buffer that its scope does not allocate. True of the root block. */
bool sch_is_output_block(hone_schedule *sch, hone_node_id block);
/* The other blocks of the block's scope that write a buffer which it reads, in program order,
 * whether they stand before it or behind. */
HONE_NODISCARD hone_status sch_producers(hone_schedule *sch, hone_node_id block,
                                         uint32_t *out_count, const hone_node_id **out);
/* The other blocks of the block's scope that read a buffer which it writes, likewise. */
HONE_NODISCARD hone_status sch_consumers(hone_schedule *sch, hone_node_id block,
                                         uint32_t *out_count, const hone_node_id **out);

typedef enum sch_block_class {
    SCH_BLOCK_COMPLETE,  /* spatial axes, no init, the only writer of its outputs, reads none of
                            them; its bindings may be any */
    SCH_BLOCK_REDUCTION, /* an init, spatial and reduce axes, affine bindings, the only writer;
                            reads its outputs only where it writes them, at places that reduce axes
                            do not move */
    SCH_BLOCK_OTHER,
} sch_block_class;
/* Both kinds stand in loops only, whose bounds load nothing, and are not open. within: the sub-tree
 * (a scope or a loop) in which the block must be the only writer. out_why (NULL: not wanted): why
 * it is neither; in the arena or static. */
sch_block_class sch_classify(hone_schedule *sch, hone_node_id block, hone_node_id within,
                             const char **out_why);
/* sch_classify within the block's scope, but a reduction whose bindings are not affine counts if
 * each of its sums begins and ends within one run of `loop` (sch_sums_within). */
sch_block_class sch_classify_below(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                   const char **out_why);
/* Only loops stand between the block and its scope, and their bounds load nothing. */
bool sch_is_below_loops_only(const hone_schedule *sch, hone_node_id block);
/* Only loops stand between the block and its scope, and their bounds load nothing that a block of
 * the scope writes (rows of a sparse matrix are fine). */
bool sch_is_below_known_loops(const hone_schedule *sch, hone_node_id block);
/* As sch_is_below_known_loops, and IFs whose conditions load nothing that a block of the scope
 * writes. */
bool sch_is_below_known_conditions(const hone_schedule *sch, hone_node_id block);

/* ---- bindings ---- */
/* The bindings are an affine iterator map of the loops onto all instances; a predicate may leave
 * instances out, but none in which an init would run. Without an init, loops may repeat instances;
 * with one, steps of a sum come in order, and what a loop repeats is whole sums. */
bool sch_has_affine_bindings(hone_schedule *sch, hone_node_id block);
/* No instance of the block runs twice within one iteration of `above`, a loop around it (or its
 * scope, or HONE_NO_ID: in one run of its scope). */
bool sch_meets_once(hone_schedule *sch, hone_node_id block, hone_node_id above);
/* sch_meets_once of a loop `above`. HONE_NO_ID: a block with an init runs no instance twice; one
 * without has affine bindings, and may. */
bool sch_counts_once(hone_schedule *sch, hone_node_id block, hone_node_id above);
/* The init of the block runs first: with these bindings (one per axis), in a nest of `loop` with
 * the loops around it and then outer_loop (or HONE_NO_ID) with those around that, the first
 * iteration of all is at the least value of every reduce axis; and where spatial and reduce axes
 * share loops, those count upwards. */
bool sch_reduces_forwards(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                          hone_node_id loop, hone_node_id outer_loop);
/* For each conjunct of a predicate that uses loops which feed reduce axes of the block: it holds
 * where these loops begin, all but the loop `but` (HONE_NO_ID: all), whose iteration may be any.
 * Others are not asked about. */
bool sch_begins_under(hone_schedule *sch, hone_node_id block, hone_node_id but,
                      const hone_expr *predicate);
/* Each sum of a reduction block begins and ends within one run of `loop`, which is around it: of
 * the loops from there inwards each feeds either spatial or reduce axes, of those outside none
 * feeds a reduce axis. Those outside may make an element again (a halo, below what reads it), each
 * time from its beginning. */
bool sch_sums_within(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The predicate of the block, if there is one, is false only where a binding lies behind the end of
 * its axis. */
bool sch_predicate_follows(hone_schedule *sch, hone_node_id block);

/* ---- what it writes ---- */
/* Different values of the spatial axes write disjoint elements, by what the block declares to
 * write. */
bool sch_has_disjoint_writes(hone_schedule *sch, hone_node_id block);
/* Different instances of a block of stores and lets, without init and reduce axes, store to
 * disjoint elements, whatever it declares (the boxes around several stores may overlap); and what
 * it loads of a buffer that it stores to, the same instance stores to. */
bool sch_has_disjoint_stores(hone_schedule *sch, hone_node_id block);
/* Each instance writes every element that the block declares to write. Believed where the buffer is
 * written by its address or a view. */
bool sch_writes_exactly(hone_schedule *sch, hone_node_id block);
/* Of each buffer that the block declares to write, an instance reads nothing but what the same
 * instance writes. */
bool sch_reads_where_it_writes(hone_schedule *sch, hone_node_id block);

/* ---- loops ---- */
typedef enum sch_loop_type {
    SCH_LOOP_DATA_PARALLEL, /* feeds spatial axes only (or none) */
    SCH_LOOP_REDUCE,        /* feeds reduce axes only */
    SCH_LOOP_OPAQUE,        /* feeds others, or both */
} sch_loop_type;
/* What the loop feeds of the blocks below it (those inside of blocks are not asked): a loop feeds
 * an axis whose binding uses its variable. */
sch_loop_type sch_loop_type_of(hone_schedule *sch, hone_node_id loop);
/* The loop feeds an axis of the block. */
bool sch_uses_loop(const hone_schedule *sch, hone_node_id block, hone_node_id loop);

/* ---- keeping facts ---- */
/* Works out SCH_OPEN of a new block. */
void sch_mark_open(hone_schedule *sch, hone_node_id block);
/* Works out what is not known of a block. */
void sch_settle_block(hone_schedule *sch, hone_node_id block);
/* sch_settle_block of the blocks that are new since the last call, of all where something was
 * forgotten. */
void sch_settle_facts(hone_schedule *sch);
/* To be called when the bindings or the predicate were changed in a way that may have made them
 * other than affine. */
void sch_forget_affine(hone_schedule *sch, hone_node_id block);
/* To be called when a block's stores or declared writes were changed. */
void sch_forget_writes(hone_schedule *sch, hone_node_id block);
/* To be called when blocks of the scope were moved, or access other elements. */
void sch_forget_pipeline(hone_schedule *sch, hone_node_id scope);
/* All three for a block, and sch_forget_pipeline for every scope around it. */
void sch_forget_facts(hone_schedule *sch, hone_node_id block);

#endif
