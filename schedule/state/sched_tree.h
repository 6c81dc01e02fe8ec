/* schedule/state/sched_tree.h - the tree of a schedule: walks, small edits, copies, trials.
 *
 * Nodes are ids (ir/core/func.h). "Below" a node includes all levels, and the node itself where it
 * says so. Expressions, names and arrays that come out are in the schedule's arena, until it is
 * reset; NULL where memory is short. Within schedule/ only.
 */
#ifndef HONE_SCHEDULE_STATE_SCHED_TREE_H
#define HONE_SCHEDULE_STATE_SCHED_TREE_H

#include "schedule/state/schedule.h"

static inline hone_node *sch_node(const hone_schedule *sch, hone_node_id id) {
    return hone_func_node(sch->func, id);
}
static inline const hone_block *sch_block(const hone_schedule *sch, hone_node_id id) {
    return hone_func_node(sch->func, id)->u.block.block;
}

/* ---- walks ---- */
/* The scope of a node: the nearest block above it. HONE_NO_ID for the root block. */
hone_node_id sch_scope_of(const hone_schedule *sch, hone_node_id node);
/* The next block below root in program order, start with node == root; HONE_NO_ID at the end. What
 * is found are the blocks of one scope: those inside of them are not met. */
hone_node_id sch_next_block(const hone_schedule *sch, hone_node_id root, hone_node_id node);
/* The loops between a node and its scope, outermost first. */
HONE_NODISCARD hone_status sch_loops_of(hone_schedule *sch, hone_node_id node, uint32_t *out_count,
                                        const hone_node_id **out);
/* False for a node that a step has taken out, alone or with what was above it. */
bool sch_is_in_tree(const hone_schedule *sch, hone_node_id node);
/* The lowest common ancestor: the lowest node that is above, or is, both. Both are in the tree. */
hone_node_id sch_lca(const hone_schedule *sch, hone_node_id a, hone_node_id b);
/* a comes before b in program order. False where one of them is above the other. */
bool sch_is_before(const hone_schedule *sch, hone_node_id a, hone_node_id b);
/* The innermost loop around this one, in an unbroken chain of loops, whose variable its bounds use;
 * HONE_NO_ID: there is none. */
hone_node_id sch_bounds_depend_on(const hone_schedule *sch, hone_node_id loop);
/* Marks the variables of the loops above node up to `above`, which counts itself if include_above:
 * out_marks[v] for v <= func->var_count. Blocks on the way do not end it. */
HONE_NODISCARD hone_status sch_mark_loops(hone_schedule *sch, hone_node_id node, hone_node_id above,
                                          bool include_above, bool **out_marks);
/* The STORE that is all there is of a block's body, its init aside; HONE_NO_ID: the body is
 * something else. */
hone_node_id sch_single_store(const hone_schedule *sch, hone_node_id block);
/* The loop is proved to have at least one iteration. */
bool sch_surely_runs(hone_schedule *sch, hone_node_id loop);
/* A BREAK or CONTINUE stands anywhere in the block, so that a statement of it may be left out. */
bool sch_has_jumps(const hone_schedule *sch, hone_node_id block);

/* ---- expressions ---- */
/* The variable as an expression. */
const hone_expr *sch_var(hone_schedule *sch, hone_var var);
/* The value is the same wherever in the program it is computed: it is made of constants, symbolic
 * sizes and scalar parameters, without loads and calls. */
bool sch_is_fixed(const hone_schedule *sch, const hone_expr *e);
/* The expression with map[v] in the place of each variable v < count (NULL: stays). A value of
 * another type is cast, so that the expression around it keeps its own type; is_index: e is all of
 * an index, which may take the type of what is put in instead. */
const hone_expr *sch_put_in(hone_schedule *sch, const hone_expr *e, const hone_expr *const *map,
                            uint32_t count, bool is_index);
/* The conjuncts of a predicate that do not follow from the condition; NULL when all of them do, or
 * there is no predicate. */
const hone_expr *sch_without_implied(hone_schedule *sch, const hone_expr *predicate,
                                     const hone_expr *condition);

/* ---- edits ---- */
/* A serial loop that is not in the tree yet, over [0, extent), with a new variable that arith
 * knows. name is not copied: it lives in the arena. HONE_NO_ID when memory is short, or where name
 * or extent is NULL. */
hone_node_id sch_make_loop(hone_schedule *sch, const char *name, hone_dtype dtype,
                           const hone_expr *extent);
/* "base" + "suffix" + number (below 0: none). */
const char *sch_name(hone_schedule *sch, const char *base, const char *suffix, int64_t number);
/* Removes a node, and every loop above it that then has no child, up to the scope. */
void sch_remove_with_loops(hone_schedule *sch, hone_node_id node);
/* Puts a value in the place of a loop variable from node downwards, simplifying bounds, conditions,
 * bindings and indices. Insides of blocks are entered only where they use loops directly
 * (SCH_OPEN). */
HONE_NODISCARD hone_status sch_substitute_below(hone_schedule *sch, hone_node_id node, hone_var var,
                                                const hone_expr *value);
/* Adds a condition to the predicate of a block. What may fail (hone_expr_may_fail) is put behind
 * what may guard it. */
HONE_NODISCARD hone_status sch_add_predicate(hone_schedule *sch, hone_node_id block,
                                             const hone_expr *condition);
/* hone_tree_transform of all from root downwards, after which arith knows the bounds of loops as
 * they are now. */
HONE_NODISCARD hone_status sch_transform(hone_schedule *sch, hone_node_id root,
                                         hone_expr_rewrite rewrite, void *ctx, bool with_blocks);
/* sch_put_in, no expression being an index, for all expressions from root downwards, insides of
 * blocks included. */
HONE_NODISCARD hone_status sch_replace_vars(hone_schedule *sch, hone_node_id root,
                                            const hone_expr **map, uint32_t count);

/* ---- copies and trials ---- */
/* A copy of a sub-tree, not in the tree yet, with variables of its own for loops, axes and lets.
 * Buffers are shared. */
HONE_NODISCARD hone_status sch_copy_renamed(hone_schedule *sch, hone_node_id node,
                                            hone_node_id *out_copy);
/* A block from the node downwards allocates a buffer or makes a view, which a copy would share. */
bool sch_has_allocs_below(const hone_schedule *sch, hone_node_id node);
/* A trial is a step that is judged by what it makes. begin_trial keeps the program as it is (in the
 * arena); end_trial puts that back when st is a failure, and returns st; take_back puts it back in
 * any case. What arith knows goes with it. */
HONE_NODISCARD hone_status sch_begin_trial(hone_schedule *sch, hone_func **out_saved);
void sch_take_back(hone_schedule *sch, hone_func *saved);
HONE_NODISCARD hone_status sch_end_trial(hone_schedule *sch, hone_func *saved, hone_status st);

#endif
