/* lower/ground/passes.h - the passes and the helpers they share, inside lower/ only. */
#ifndef HONE_LOWER_GROUND_PASSES_H
#define HONE_LOWER_GROUND_PASSES_H

#include "lower/ground/lower.h"

#define HONE_LOWER_PASS(name, run, devices, makes_vectors, tvm_names, summary)                     \
    hone_status run(hone_lower *lower);
#include "lower/ground/lower_passes.def"
#undef HONE_LOWER_PASS

#define LOWER_NO_MEMORY() HONE_ERROR(HONE_CODE_NO_MEMORY, "lowering")

/* Turns the INIT of a block into its first statement. */
HONE_NODISCARD hone_status lower_init_of(hone_lower *lower, hone_node_id block, hone_node_id init);

/* Nothing below root stores to what the condition loads, so that it stays what it was. */
bool lower_stays_true(const hone_func *func, hone_node_id root, const hone_expr *condition);
/* The IF has an ELSE. */
bool lower_has_else(const hone_func *func, hone_node_id choice);
/* for each child n of a node, in order; n stays in its place meanwhile. */
#define LOWER_EACH_CHILD(func, parent, n)                                                          \
    for (hone_node_id n = hone_func_node(func, parent)->first; n != HONE_NO_ID;                    \
         n = hone_func_node(func, n)->next)
/* The only child of a node; HONE_NO_ID when it has none, or several. */
hone_node_id lower_only_child(const hone_func *func, hone_node_id parent);
/* An ALLOC of the buffer that is not in the tree yet. HONE_NO_ID when memory is short, or when the
 * buffer is HONE_NO_ID since memory was short for it. */
hone_node_id lower_new_alloc(hone_func *func, hone_buffer buffer);
/* Gives a STORE this index, its only one, and this value. */
HONE_NODISCARD hone_status lower_set_store(hone_func *func, hone_node_id store,
                                           const hone_expr *index, const hone_expr *value);
/* At the end of parent: buffer[index] = value. */
HONE_NODISCARD hone_status lower_append_store(hone_func *func, hone_node_id parent,
                                              hone_buffer buffer, const hone_expr *index,
                                              const hone_expr *value);
/* To be called before a loop is removed: the nearest loops below it inherit the pragmas that they
 * do not have themselves. */
HONE_NODISCARD hone_status lower_hand_down_pragmas(hone_func *func, hone_node_id loop);
/* Annotation of a loop: its stores should go past the caches. Where the loop is gone, the key of an
 * ATTR around what stood in it. */
#define LOWER_STREAM_WISH "pragma_streaming_store"
/* To be called before a loop is removed: where it is annotated with LOWER_STREAM_WISH, wraps it
 * in an ATTR with that key. */
HONE_NODISCARD hone_status lower_keep_wish(hone_lower *lower, hone_node_id loop);
/* Puts wrapper, which is not in the tree, where node was, with node as its only child. */
void lower_wrap(hone_func *func, hone_node_id node, hone_node_id wrapper);
/* Puts node into an IF with this condition. */
HONE_NODISCARD hone_status lower_wrap_if(hone_lower *lower, const hone_expr *condition,
                                         hone_node_id node);
/* Puts all children of parent into one IF with this condition. */
HONE_NODISCARD hone_status lower_guard_children(hone_func *func, hone_node_id parent,
                                                const hone_expr *condition);
/* An IF and its ELSE, which is not below it yet; neither is in the tree. */
HONE_NODISCARD hone_status lower_new_choice(hone_lower *lower, const hone_expr *condition,
                                            hone_node_id *out_choice, hone_node_id *out_else);
/* Puts node into an IF with this condition, and copy, which is not in the tree, into its ELSE; the
 * copy's loops and lets get variables of their own (lower_rename_vars). */
HONE_NODISCARD hone_status lower_wrap_choice(hone_lower *lower, const hone_expr *condition,
                                             hone_node_id node, hone_node_id copy,
                                             hone_node_id *out_choice);
/* A new ATTR that says no more than its key, not in the tree yet. */
HONE_NODISCARD hone_status lower_new_mark(hone_lower *lower, const char *key, hone_node_id *out);
/* All threads of a block wait for each other: an EVAL that is not in the tree yet. */
HONE_NODISCARD hone_status lower_new_sync(hone_lower *lower, hone_node_id *out);
/* Puts the children of node where node was. */
void lower_splice(hone_func *func, hone_node_id node);
/* Replaces variables below root (regions of blocks too): map[v] for v < count, NULL = keep. */
HONE_NODISCARD hone_status lower_substitute(hone_func *func, hone_node_id root,
                                            const hone_expr *const *map, uint32_t count);
HONE_NODISCARD hone_status lower_substitute_one(hone_func *func, hone_node_id root, hone_var var,
                                                const hone_expr *value);
/* Gives the loops (and LETs) below root variables of their own: ranges are looked up by variable,
 * so a copy needs that. */
HONE_NODISCARD hone_status lower_rename_vars(hone_lower *lower, hone_node_id root);
/* Gives allocations below root buffers of their own. */
HONE_NODISCARD hone_status lower_rename_buffers(hone_func *func, hone_node_id root);
/* condition and other, either of which may be NULL (true). */
const hone_expr *lower_and(hone_ir *ir, const hone_expr *condition, const hone_expr *other);
/* Calls visit for each conjunct of the condition until one call returns false; returns whether all
 * returned true. */
bool lower_conjuncts(const hone_expr *condition, bool (*visit)(void *ctx, const hone_expr *part),
                     void *ctx);
/* A vectorized loop. */
bool lower_is_vector(const hone_func *func, hone_node_id id);
/* Root is a loop that is bound to threads, or such a loop stands below it: its iterations run at
 * once and must all reach the same barriers, so it cannot be shortened or put under conditions. */
bool lower_has_threads(const hone_func *func, hone_node_id root);
/* Number of nodes below root, root included; stops counting at limit. */
uint32_t lower_size(const hone_func *func, hone_node_id root, uint32_t limit);
/* Fewer nodes than limit, and nothing below root is declared or allocated: it may be copied. */
bool lower_is_plain_code(const hone_func *func, hone_node_id root, uint32_t limit);

#endif
