/* schedule/state/schedule_impl.h - what primitives ask of a schedule, and how they change and
 * record. Inside of schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHEDULE_IMPL_H
#define HONE_SCHEDULE_STATE_SCHEDULE_IMPL_H

#include "schedule/state/schedule.h"

/* ---- hone_node.flags: cached facts, inherited by clones ----
 * They are worked out when a step has made or changed a block (sch_record does so), never later
 * because somebody asks: a fact is kept through steps that make it harder to show, and what a
 * schedule accepts shall depend on its trace alone. */
enum {
    SCH_AFFINE_KNOWN = 1,   /* BLOCK: SCH_AFFINE is valid */
    SCH_AFFINE = 2,         /* BLOCK: bindings are an affine map of the loops onto the axes */
    SCH_PIPELINE_KNOWN = 4, /* BLOCK as a scope: SCH_PIPELINE is valid */
    SCH_PIPELINE = 8,       /* every consumer in the scope finds all it reads written before it */
    SCH_APART_KNOWN = 16,   /* BLOCK: SCH_APART is valid */
    SCH_APART = 32,         /* BLOCK: no two values of its spatial axes write one element */
    SCH_OPEN = 64,          /* BLOCK: uses loops around it in other ways than by its bindings */
    SCH_ONCE = 128,         /* BLOCK with init: no loop repeats it; valid with SCH_AFFINE_KNOWN */
    SCH_ROLLED =
        256, /* BLOCK: writes a rolling buffer, whose readers find what a whole one holds */
    SCH_EXACT_KNOWN = 512, /* BLOCK: SCH_EXACT is valid */
    SCH_EXACT = 1024,      /* BLOCK: each run writes every element that it declares to write */
};

/* Makes the refusal of a step: ILLEGAL, blames node. The message is made only when wanted. */
HONE_NODISCARD hone_status sch_refuse(hone_schedule *sch, hone_node_id blame, const char *format,
                                      ...) HONE_PRINTF(3, 4);
HONE_NODISCARD hone_status sch_no_memory(void);
/* The error of the expression builder, if any. */
HONE_NODISCARD hone_status sch_ir_error(hone_schedule *sch);

/* Names for messages: "block 'C'", "loop 'i_0'"; in the arena. */
const char *sch_block_name(const hone_schedule *sch, hone_node_id block);
const char *sch_loop_name(const hone_schedule *sch, hone_node_id loop);

/* What is asked of loops that are taken apart or put together. No break: it would leave one of the
 * new loops only. Plain: no annotations, no thread binding and no break. */
HONE_NODISCARD hone_status sch_check_no_break(hone_schedule *sch, hone_node_id loop);
HONE_NODISCARD hone_status sch_check_plain_loop(hone_schedule *sch, hone_node_id loop);
HONE_NODISCARD hone_status sch_check_starts_at_zero(hone_schedule *sch, hone_node_id loop);

/* ---- random variables ---- */
HONE_NODISCARD hone_status sch_resolve_loop(hone_schedule *sch, hone_rv rv, hone_node_id *out);
HONE_NODISCARD hone_status sch_resolve_block(hone_schedule *sch, hone_rv rv, hone_node_id *out);
/* A block or a loop. */
HONE_NODISCARD hone_status sch_resolve_node(hone_schedule *sch, hone_rv rv, hone_node_id *out);

#define SCH_RV(x) ((hone_operand){.kind = HONE_OPERAND_RV, .u.rv = (x)})
#define SCH_INT(x) ((hone_operand){.kind = HONE_OPERAND_INT, .u.i = (x)})
#define SCH_STRING(x) ((hone_operand){.kind = HONE_OPERAND_STRING, .u.s = (x)})
#define SCH_NO_DECISION ((hone_decision){0, NULL})

/* Appends the instruction and makes its output variables; values has output_count entries. The
 * first output is out_first (may be NULL); outputs are consecutive. */
HONE_NODISCARD hone_status sch_record(hone_schedule *sch, hone_inst_kind kind, uint32_t input_count,
                                      const hone_operand *inputs, uint32_t attr_count,
                                      const hone_value *attrs, uint32_t output_count,
                                      const hone_rv_value *values, hone_decision decision,
                                      hone_rv *out_first);
/* Records an instruction whose outputs are nodes of one kind; out (may be NULL) gets the variables
 * as an array in the arena. */
HONE_NODISCARD hone_status sch_record_nodes(hone_schedule *sch, hone_inst_kind kind,
                                            uint32_t input_count, const hone_operand *inputs,
                                            uint32_t attr_count, const hone_value *attrs,
                                            uint32_t output_count, const hone_node_id *nodes,
                                            hone_rv_kind output_kind, const hone_rv **out);

/* ---- the tree ---- */
static inline hone_node *sch_node(const hone_schedule *sch, hone_node_id id) {
    return hone_func_node(sch->func, id);
}
static inline const hone_block *sch_block(const hone_schedule *sch, hone_node_id id) {
    return hone_func_node(sch->func, id)->u.block.block;
}
/* The nearest block above a node. */
hone_node_id sch_scope_of(const hone_schedule *sch, hone_node_id node);
/* The next block in the scope of root (blocks are not entered): start with node == root. */
hone_node_id sch_next_block(const hone_schedule *sch, hone_node_id root, hone_node_id node);
/* The loops between a block and its scope, outermost first; out in the arena. */
HONE_NODISCARD hone_status sch_loops_of(hone_schedule *sch, hone_node_id node, uint32_t *out_count,
                                        const hone_node_id **out);
/* Not taken out by a step. */
bool sch_is_in_tree(const hone_schedule *sch, hone_node_id node);
/* The lowest node that is above (or is) both. */
hone_node_id sch_lca(const hone_schedule *sch, hone_node_id a, hone_node_id b);
/* Removes a node and every loop above it that has no other child, up to the scope. */
void sch_remove_with_loops(hone_schedule *sch, hone_node_id node);
/* True when a comes before b in program order (neither is above the other). */
bool sch_is_before(const hone_schedule *sch, hone_node_id a, hone_node_id b);

/* A loop that is not in the tree yet, over [0, extent) with a new variable, known to arith. name
 * lives in the arena. HONE_NO_ID when memory is short. */
hone_node_id sch_make_loop(hone_schedule *sch, const char *name, hone_dtype dtype,
                           const hone_expr *extent);
/* "base" + "suffix" + number (number < 0: none), in the arena; NULL when memory is short. */
const char *sch_name(hone_schedule *sch, const char *base, const char *suffix, int64_t number);
/* Replaces a loop variable in all below node, not inside blocks, simplifying the bindings. */
HONE_NODISCARD hone_status sch_substitute_below(hone_schedule *sch, hone_node_id node, hone_var var,
                                                const hone_expr *value);
/* Adds a condition to the predicate of a block. */
HONE_NODISCARD hone_status sch_add_predicate(hone_schedule *sch, hone_node_id block,
                                             const hone_expr *condition);
/* What of a predicate does not follow from the condition, or NULL. */
const hone_expr *sch_without_implied(hone_schedule *sch, const hone_expr *predicate,
                                     const hone_expr *condition);
const hone_expr *sch_var(hone_schedule *sch, hone_var var);
/* The same wherever the program runs: made of numbers, symbolic sizes and parameters. */
bool sch_is_fixed(const hone_schedule *sch, const hone_expr *e);
/* Puts map[v] (NULL = keep) in the place of variables v < count; what is of another type is cast,
 * so that the expression keeps its own. A variable that is an index by itself may change its type.
 */
const hone_expr *sch_put_in(hone_schedule *sch, const hone_expr *e, const hone_expr *const *map,
                            uint32_t count, bool is_index);
/* Rewrites all expressions below root (see hone_tree_transform); what is known of the loops there
 * follows their bounds. */
HONE_NODISCARD hone_status sch_transform(hone_schedule *sch, hone_node_id root,
                                         hone_expr_rewrite rewrite, void *ctx, bool with_blocks);
/* sch_put_in for all below root, blocks included. */
HONE_NODISCARD hone_status sch_replace_vars(hone_schedule *sch, hone_node_id root,
                                            const hone_expr **map, uint32_t count);
/* A copy under loop variables and axes of its own, not in the tree yet. */
HONE_NODISCARD hone_status sch_copy_renamed(hone_schedule *sch, hone_node_id node,
                                            hone_node_id *out_copy);
/* A block below (or here) allocates a buffer or makes a view: a copy would share them. */
bool sch_has_allocs_below(const hone_schedule *sch, hone_node_id node);
/* For steps that are judged by what comes out: end_trial takes all edits since begin_trial back
 * when st is a failure, which it returns; take_back does so in any case. */
HONE_NODISCARD hone_status sch_begin_trial(hone_schedule *sch, hone_func **out_saved);
void sch_take_back(hone_schedule *sch, hone_func *saved);
HONE_NODISCARD hone_status sch_end_trial(hone_schedule *sch, hone_func *saved, hone_status st);
/* ---- facts ---- */
typedef enum sch_block_class {
    SCH_BLOCK_COMPLETE,  /* spatial only, the only writer of its outputs, reads none of them */
    SCH_BLOCK_REDUCTION, /* with init, spatial and reduce axes, affine, dominant */
    SCH_BLOCK_OTHER,
} sch_block_class;
/* within: the sub-tree in which the block must be the only writer (a scope or a loop). out_why (may
 * be NULL): why it is neither; a text in the arena or static. */
sch_block_class sch_classify(hone_schedule *sch, hone_node_id block, hone_node_id within,
                             const char **out_why);
/* The same within its scope; a reduction need not be affine if its sums are within `loop`. */
sch_block_class sch_classify_below(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                                   const char **out_why);
/* Does the sum of each element begin and end within one iteration of the loops outside of `loop`?
 * They may make an element again (a halo, below what reads it), each time anew. */
bool sch_sums_within(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* No two values of its spatial axes write the same element. */
bool sch_writes_apart(hone_schedule *sch, hone_node_id block);
/* The same of what a block of several stores writes, where the boxes that it declares may overlap;
 * and what it reads there, the same instance writes. */
bool sch_stores_apart(hone_schedule *sch, hone_node_id block);
/* Bindings map the loops onto the axes; of a reduction, each run over its reduce axes is whole. */
bool sch_has_affine_bindings(hone_schedule *sch, hone_node_id block);
/* Under these bindings, the first iteration of the loop, of those around it and of outer_loop (and
 * those around it) is at the start of all reduce axes: there the init runs. */
bool sch_reduces_forwards(hone_schedule *sch, hone_node_id block, const hone_expr *const *bindings,
                          hone_node_id loop, hone_node_id outer_loop);
/* Where the reduce loops of the block begin, all but one (or HONE_NO_ID), what the predicate says
 * of them surely holds. */
bool sch_begins_under(hone_schedule *sch, hone_node_id block, hone_node_id but,
                      const hone_expr *predicate);
/* No point of the block is met twice within one iteration of `above` (HONE_NO_ID: at all). */
bool sch_meets_once(hone_schedule *sch, hone_node_id block, hone_node_id above);
/* And no point is met twice within one iteration of `above` (HONE_NO_ID: at all, which only a block
 * with an init is held to). */
bool sch_counts_once(hone_schedule *sch, hone_node_id block, hone_node_id above);
/* The predicate, if there is one, only keeps the bindings inside their axes. */
bool sch_predicate_follows(hone_schedule *sch, hone_node_id block);
/* Bindings were changed in a way that may have made them other than affine. */
void sch_forget_affine(hone_schedule *sch, hone_node_id block);
/* Works out SCH_OPEN, for blocks that are new. */
void sch_mark_open(hone_schedule *sch, hone_node_id block);
/* The regions of the block were changed: what was known of it and of the scopes around it. */
void sch_forget_facts(hone_schedule *sch, hone_node_id block);
/* Only what it writes, and how; only what is known of it as a scope. */
void sch_forget_writes(hone_schedule *sch, hone_node_id block);
void sch_forget_pipeline(hone_schedule *sch, hone_node_id scope);
/* Works out what is not known of a block; of all blocks that the step changed or made. */
void sch_settle_block(hone_schedule *sch, hone_node_id block);
void sch_settle_facts(hone_schedule *sch);
/* May the instances of the block run in another order? Its axes are spatial or reduce, its bindings
 * affine, different spatial values write different elements, and what it both reads and writes it
 * reads where it writes. */
bool sch_is_order_free(hone_schedule *sch, hone_node_id block, const char **out_why);
/* The same within one iteration of a loop around it (HONE_NO_ID: of all). */
bool sch_is_order_free_below(hone_schedule *sch, hone_node_id block, hone_node_id above,
                             const char **out_why);
/* The same by its stores, whatever it declares, where nobody else below the loop touches what it
 * writes. */
bool sch_is_order_free_alone(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* What one block below the loop writes and another one touches, they do in the same iteration of
 * each of the loops from there to bottom. */
bool sch_share_iterations(hone_schedule *sch, hone_node_id loop, hone_node_id bottom);
/* Either that, or the scope is a pipeline of stages. ILLEGAL. */
HONE_NODISCARD hone_status sch_require_stages(hone_schedule *sch, hone_node_id loop,
                                              hone_node_id bottom);
/* The same for all blocks below a loop together, which stay where they are: each order free, and
 * where there are several, what one reads of another was written in the same iteration. bottom: the
 * innermost of the loops that change their order, or take blocks which did not share them. ILLEGAL
 * with the reason. */
HONE_NODISCARD hone_status sch_require_order_free(hone_schedule *sch, hone_node_id loop,
                                                  hone_node_id bottom);
/* Instances of the block in different iterations of a loop around it touch different slices of what
 * it writes: elements that several instances write are written within one iteration. */
bool sch_has_own_slices(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* A new order of a chain of loops leaves those without slices of their own in their order, for each
 * block below: instances that meet in an element keep theirs. */
bool sch_may_reorder_slices(hone_schedule *sch, uint32_t count, const hone_node_id *before,
                            const hone_node_id *after);
/* What both blocks touch of the buffer in one iteration of the loop lies, in some dimension, behind
 * all that they touch in those before; or is one place for both, another one in each iteration. */
bool sch_share_slices(hone_schedule *sch, hone_node_id a, hone_node_id b, hone_buffer buffer,
                      hone_node_id loop);
/* In all iterations of the loop, what the one touches of the buffer lies, in some dimension, in
 * front of what the other does: a part to each. */
bool sch_has_own_part(hone_schedule *sch, hone_node_id a, hone_node_id b, hone_buffer buffer,
                      hone_node_id loop);
/* Of several blocks below a loop that write one buffer, each but the first updates what is there
 * (reads it where it writes it), has a part of its own, or shares slices of it with those before,
 * in each loop from this one to bottom (none where that is HONE_NO_ID). ILLEGAL names the two. */
HONE_NODISCARD hone_status sch_require_own_outputs(hone_schedule *sch, hone_node_id loop,
                                                   hone_node_id bottom);
/* Every block that touches a buffer that this block writes stands below the loop, and the buffer is
 * local to the scope: lowering gives each iteration its own. No iteration goes on with what one
 * before it made. */
bool sch_is_private_below(hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* The iterations of the loop may run at once where others see what the block writes. ILLEGAL. */
HONE_NODISCARD hone_status sch_require_at_once(hone_schedule *sch, hone_node_id block,
                                               hone_node_id loop);
/* Does a loop of the nest around the block run its iterations at once? */
bool sch_is_in_concurrent_loop(const hone_schedule *sch, hone_node_id block);
/* A block that goes from its loops to a place elsewhere reads there what iterations that run at
 * once have made, each for itself before: ILLEGAL where they make the same elements. */
HONE_NODISCARD hone_status sch_require_leavable(hone_schedule *sch, hone_node_id reader,
                                                hone_node_id place);
/* Another block comes to touch, at a place (a loop or block that it will be a child of), what
 * iterations of parallel or vectorized loops around a block have each made for itself before:
 * ILLEGAL where they make the same elements. */
HONE_NODISCARD hone_status sch_require_seen(hone_schedule *sch, hone_node_id writer,
                                            hone_node_id place);
/* Is the statement a condition that loads nothing which a block of the scope writes? */
bool sch_is_known_condition(const hone_schedule *sch, hone_node_id n);
/* Something other than loops and blocks stands below the loop. */
bool sch_has_other_statements(const hone_schedule *sch, hone_node_id loop);
/* The same, but for such conditions. */
bool sch_has_loose_statements(const hone_schedule *sch, hone_node_id loop);
/* The same, but for those that do not use the loop either. */
bool sch_has_unguarded_statements(const hone_schedule *sch, hone_node_id loop);
/* Only loops stand between the block and its scope, with bounds that load nothing. */
bool sch_is_below_loops_only(const hone_schedule *sch, hone_node_id block);
/* The same; bounds may load what no block of the scope writes (rows of a sparse matrix). */
bool sch_is_below_known_loops(const hone_schedule *sch, hone_node_id block);
/* The same, or conditions that load no more than such bounds. */
bool sch_is_below_known_conditions(const hone_schedule *sch, hone_node_id block);
/* The loop has at least one iteration. */
bool sch_surely_runs(hone_schedule *sch, hone_node_id loop);
/* A binding of the block speaks of the loop. */
bool sch_is_fed_by(const hone_schedule *sch, hone_node_id block, hone_node_id loop);
/* What the block reads of the buffers that it writes, each instance reads where it writes. */
bool sch_reads_where_it_writes(hone_schedule *sch, hone_node_id block);
/* Each run of the block writes all of the regions that it declares to write. */
bool sch_writes_exactly(hone_schedule *sch, hone_node_id block);
/* All runs of the block during one iteration of the loop (or the scope) top write the box, each
 * store a part of it. */
bool sch_stores_cover(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                      const hone_interval *box);
/* A loop is left early in the block: it may leave out any of its iterations. */
bool sch_has_jumps(const hone_schedule *sch, hone_node_id block);
/* All that the block reads of the buffer, it surely wrote before in the same run. */
bool sch_reads_own_writes(hone_schedule *sch, hone_node_id block, hone_buffer buffer);
/* The block reads of the buffer what was there before its first instance: neither its init sets it
 * nor the same run writes it. */
bool sch_goes_on(hone_schedule *sch, hone_node_id block, hone_buffer buffer);
/* During one iteration of top (a loop around the block, or its scope), does the block surely write
 * all of the box of a buffer? */
bool sch_surely_writes(hone_schedule *sch, hone_node_id block, hone_buffer buffer, hone_node_id top,
                       const hone_interval *box_or_null);
/* The reader reads one element at a place that is one of the writer with other values put in for
 * its axes, and during one iteration of top the writer surely runs over these values. */
bool sch_writes_alike(hone_schedule *sch, hone_node_id from, const hone_region *written,
                      hone_node_id to, const hone_region *read, hone_node_id top);
bool sch_is_stage_pipeline(hone_schedule *sch, hone_node_id scope, const char **out_why,
                           hone_node_id *out_blame);
HONE_NODISCARD hone_status sch_require_pipeline(hone_schedule *sch, hone_node_id scope);
/* The same for one read of one block: nobody writes the buffer in the scope, or those who do stand
 * before, are done with the values, and one of them, or all together, surely wrote all that is
 * read. */
bool sch_read_is_fed(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                     const hone_region *read, const char **out_why);
/* ... for all that a block reads of a buffer, with sch_require_pipeline's words. */
HONE_NODISCARD hone_status sch_require_fed(hone_schedule *sch, hone_node_id reader,
                                           hone_buffer buffer);
/* Does somebody in the scope, before the reader, write the buffer of what it reads? out: they
 * surely write all of it. */
bool sch_has_writer_before(hone_schedule *sch, hone_node_id scope, hone_node_id reader,
                           const hone_region *read, bool *out_is_covered);
/* A region that shall be read inside a block, where nobody writes the buffer: do those who write it
 * around the block surely write all of the region before? Also true where there is none. */
bool sch_was_written_outside(hone_schedule *sch, hone_node_id block, const hone_region *read);
/* Writes a buffer that is visible outside its scope. */
bool sch_is_output_block(hone_schedule *sch, hone_node_id block);
bool sch_writes(const hone_block *block, hone_buffer buffer);
bool sch_reads(const hone_block *block, hone_buffer buffer);
bool sch_reads_own_output(const hone_block *block);
/* Blocks of the scope that write what block reads / read what it writes; in program order, in the
 * arena, without block itself. */
HONE_NODISCARD hone_status sch_producers(hone_schedule *sch, hone_node_id block,
                                         uint32_t *out_count, const hone_node_id **out);
HONE_NODISCARD hone_status sch_consumers(hone_schedule *sch, hone_node_id block,
                                         uint32_t *out_count, const hone_node_id **out);

typedef enum sch_loop_type {
    SCH_LOOP_DATA_PARALLEL, /* feeds spatial axes only (or none) */
    SCH_LOOP_REDUCE,        /* feeds reduce axes only */
    SCH_LOOP_OPAQUE,        /* feeds others, or both */
} sch_loop_type;
sch_loop_type sch_loop_type_of(hone_schedule *sch, hone_node_id loop);

/* The innermost loop around this one with which its bounds run; HONE_NO_ID when they are the same
 * in all iterations of those around. */
hone_node_id sch_bounds_depend_on(const hone_schedule *sch, hone_node_id loop);

/* The only STORE of a block's body (not in nested blocks or loops), or HONE_NO_ID. */
hone_node_id sch_single_store(const hone_schedule *sch, hone_node_id block);

/* marks[v] = true for the variables of all loops between node (excluded) and above (excluded when a
 * block, included when include_above). The array has func->var_count entries, in the arena. */
HONE_NODISCARD hone_status sch_mark_loops(hone_schedule *sch, hone_node_id node, hone_node_id above,
                                          bool include_above, bool **out_marks);

/* Somebody takes the buffer's address; its address or a view of it; so in a sub-tree alone. */
bool sch_takes_address(const hone_schedule *sch, hone_buffer buffer);
bool sch_has_opaque_access(const hone_schedule *sch, hone_buffer buffer);
bool sch_takes_address_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
bool sch_has_opaque_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
bool sch_expr_takes_address(const hone_schedule *sch, const hone_expr *e, hone_buffer buffer);
/* Something in the sub-tree loads from the buffer, or stores to it, whatever the regions say. */
bool sch_loads_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
/* The bounds of a loop load the buffer. */
bool sch_bounds_load(const hone_node *loop, hone_buffer buffer);
/* So does the condition of an if, or the predicate of a block. */
bool sch_condition_loads(const hone_node *node, hone_buffer buffer);
/* Adds all of each buffer that the expression loads to what the block reads, if nothing of it was.
 */
HONE_NODISCARD hone_status sch_read_loaded(hone_schedule *sch, hone_block *block,
                                           const hone_expr *e);
bool sch_stores_below(const hone_schedule *sch, hone_node_id top, hone_buffer buffer);
/* Works out reads and writes of a block anew; with those buffers in front that were read in the
 * places of its regions until now, as TVM lists them; the same for the blocks in it first. */
HONE_NODISCARD hone_status sch_update_regions(hone_schedule *sch, hone_node_id block);
HONE_NODISCARD hone_status sch_renew_regions(hone_schedule *sch, hone_node_id block);
HONE_NODISCARD hone_status sch_update_regions_below(hone_schedule *sch, hone_node_id block);
HONE_NODISCARD hone_status sch_drop_alloc(hone_schedule *sch, hone_node_id scope,
                                          hone_buffer buffer);
HONE_NODISCARD hone_status sch_add_alloc(hone_schedule *sch, hone_node_id scope,
                                         hone_buffer buffer);

/* ---- buffers ---- */
/* The buffer at an index of what the block reads (or writes); the index of the one of a name. */
HONE_NODISCARD hone_status sch_nth_buffer(hone_schedule *sch, hone_node_id block, bool is_write,
                                          int64_t index, hone_buffer *out);
HONE_NODISCARD hone_status sch_find_buffer(hone_schedule *sch, hone_node_id block, const char *name,
                                           bool is_write, int64_t *out_index);
/* The block that allocates a buffer; HONE_NO_ID for parameters, views and the like. */
hone_node_id sch_alloc_site(const hone_schedule *sch, hone_buffer buffer);
HONE_NODISCARD hone_status sch_require_allocated(hone_schedule *sch, hone_node_id block,
                                                 hone_buffer buffer);
HONE_NODISCARD hone_status sch_require_no_views(hone_schedule *sch, hone_node_id block,
                                                hone_buffer buffer);
/* Marks the buffer and its views (T.match_buffer, views of views too), by buffer; ILLEGAL when
 * somebody takes the address of one or views it by T.decl_buffer. */
HONE_NODISCARD hone_status sch_mark_views(hone_schedule *sch, hone_node_id block,
                                          hone_buffer buffer, bool **out_marks);
/* No block accesses the buffer without declaring it, as unsafe_hide_buffer_access allows. */
HONE_NODISCARD hone_status sch_require_declared(hone_schedule *sch, hone_buffer buffer);
/* What stands in the block reads of the buffer, where that is more than the block says that it
 * reads, which steps on the block go by; else NULL, as for the root. */
HONE_NODISCARD hone_status sch_reads_beyond(hone_schedule *sch, hone_node_id block,
                                            hone_buffer buffer, const hone_region **out);
HONE_NODISCARD hone_status sch_require_scope_name(hone_schedule *sch, hone_node_id block,
                                                  const char *scope);
/* "A_shared.dyn", in the arena; NULL when memory is short. */
const char *sch_scoped_name(hone_schedule *sch, const char *base, const char *scope);
/* A dense buffer, not allocated by any block yet; strings are not copied, NULL gives HONE_NO_ID. */
hone_buffer sch_make_buffer(hone_schedule *sch, const char *name, hone_dtype dtype, uint32_t rank,
                            const hone_expr *const *shape, const char *scope);
/* All accesses of what is below top to one buffer go to another, which holds a box of it, from its
 * own 0 on, or, where box is NULL, has the same shape; writes_too: the stores as well. Declared
 * regions follow. */
HONE_NODISCARD hone_status sch_redirect_accesses(hone_schedule *sch, hone_node_id top,
                                                 hone_buffer from, hone_buffer to,
                                                 const hone_range *box, bool writes_too);

/* Records a step on one block that has no results. */
HONE_NODISCARD hone_status sch_record_simple(hone_schedule *sch, hone_inst_kind kind, hone_rv block,
                                             uint32_t attr_count, const hone_value *attrs);

#endif
