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
/* The next block below root in program order; start with node == root; HONE_NO_ID at the end. It
 * goes through the blocks of one scope: the walk does not enter blocks. */
hone_node_id sch_next_block(const hone_schedule *sch, hone_node_id root, hone_node_id node);
/* for each block n below root in program order, by sch_next_block. */
#define SCH_EACH_BLOCK(sch, root, n)                                                               \
    for (hone_node_id n = sch_next_block(sch, root, root); n != HONE_NO_ID;                        \
         n = sch_next_block(sch, root, n))
/* The loops between a node and its scope, outermost first; the array is in the arena. */
HONE_NODISCARD hone_status sch_loops_of(hone_schedule *sch, hone_node_id node, uint32_t *out_count,
                                        const hone_node_id **out);
/* False for a node that a step has taken out, alone or with what was above it. */
bool sch_is_in_tree(const hone_schedule *sch, hone_node_id node);
/* The lowest common ancestor: the lowest node that is above, or is, both. Both are in the tree. */
hone_node_id sch_lca(const hone_schedule *sch, hone_node_id a, hone_node_id b);
/* a comes before b in program order. False where one of them is above the other. */
bool sch_is_before(const hone_schedule *sch, hone_node_id a, hone_node_id b);
/* node is top, or stands somewhere below it. */
bool sch_is_within(const hone_schedule *sch, hone_node_id top, hone_node_id node);
/* The child of top, which is above node, that is node or has it below it. */
hone_node_id sch_child_towards(const hone_schedule *sch, hone_node_id top, hone_node_id node);
/* The node, if it is a loop, or the nearest loop above it within the scope; the scope, which is the
 * node or above it, where there is none. */
hone_node_id sch_nearest_loop(const hone_schedule *sch, hone_node_id node, hone_node_id scope);
/* The innermost loop, in the unbroken chain of loops around this one, whose variable the bounds of
 * this loop use; HONE_NO_ID: there is none. */
hone_node_id sch_bounds_depend_on(const hone_schedule *sch, hone_node_id loop);
/* Marks the variables of the loops between node and `above` (HONE_NO_ID: all around node), through
 * the blocks in between: out_marks[v] for v <= func->var_count, in the arena. */
HONE_NODISCARD hone_status sch_mark_loops(hone_schedule *sch, hone_node_id node, hone_node_id above,
                                          bool **out_marks);
/* The STORE that is all there is of a block's body, its init aside; HONE_NO_ID: the body is
 * something else. */
hone_node_id sch_single_store(const hone_schedule *sch, hone_node_id block);

/* ---- expressions ---- */
/* One of the expressions uses the variable. */
bool sch_any_uses(uint32_t count, const hone_expr *const *list, hone_var var);
/* The variable as an expression. */
const hone_expr *sch_var(hone_schedule *sch, hone_var var);
/* The expression has one value throughout the program: it is made of constants, symbolic sizes and
 * scalar parameters, without loads and calls. */
bool sch_is_fixed(const hone_schedule *sch, const hone_expr *e);
/* Substitutes map[v] for each variable v < count (NULL: stays). A replacement of another type is
 * cast to that of the variable; but is_index, which says that e is a whole index, lets the index
 * take the type of what is put in instead. */
const hone_expr *sch_put_in(hone_schedule *sch, const hone_expr *e, const hone_expr *const *map,
                            uint32_t count, bool is_index);
/* Drops the conjuncts of a predicate that follow from the condition; NULL when none is left, or
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
/* Replaces a loop variable by a value from node downwards, simplifying bounds, conditions, bindings
 * and indices. Insides of blocks are entered only where they use loops directly (SCH_OPEN). */
HONE_NODISCARD hone_status sch_substitute_below(hone_schedule *sch, hone_node_id node, hone_var var,
                                                const hone_expr *value);
/* Adds a conjunct to the predicate of a block. A conjunct that may fail when evaluated
 * (hone_expr_may_fail) is put behind those that may guard it. */
HONE_NODISCARD hone_status sch_add_predicate(hone_schedule *sch, hone_node_id block,
                                             const hone_expr *condition);
/* hone_tree_transform of all from root downwards; then lets arith know the bounds that loops have
 * now. Arguments as there. */
HONE_NODISCARD hone_status sch_transform(hone_schedule *sch, hone_node_id root,
                                         hone_expr_rewrite rewrite, void *ctx, bool with_blocks);
/* sch_put_in for all expressions from root downwards, insides of blocks included, none counting as
 * an index. */
HONE_NODISCARD hone_status sch_replace_vars(hone_schedule *sch, hone_node_id root,
                                            const hone_expr **map, uint32_t count);

/* ---- copies and trials ---- */
/* A copy of a sub-tree, not in the tree yet; its loops, axes and lets have new variables. Buffers
 * are shared with the original. */
HONE_NODISCARD hone_status sch_copy_renamed(hone_schedule *sch, hone_node_id node,
                                            hone_node_id *out_copy);
/* A block from the node downwards allocates a buffer or makes a view: sch_copy_renamed would make
 * two blocks share it. */
bool sch_has_allocs_below(const hone_schedule *sch, hone_node_id node);
/* Begins a trial: edits that are taken back unless what comes out is legal. Keeps the program as it
 * is, with what arith knows, in the arena; cost: a copy of the program. */
HONE_NODISCARD hone_status sch_begin_trial(hone_schedule *sch, hone_func **out_saved);
/* Puts the program back as it was at sch_begin_trial. */
void sch_take_back(hone_schedule *sch, hone_func *saved);
/* Ends a trial and returns st: with a failure, after sch_take_back. */
HONE_NODISCARD hone_status sch_end_trial(hone_schedule *sch, hone_func *saved, hone_status st);

#endif
