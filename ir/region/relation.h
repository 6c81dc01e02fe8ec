/* ir/region/relation.h - the access relation: which elements blocks and statements touch, as a
 * function of the loops around them; and what follows for two of its points.
 *
 * A point gives each loop around an access one iteration. A relation holds accesses to one buffer,
 * each a box whose ends are expressions over the loops: axes of blocks are replaced by their
 * bindings and names (lets) by their values, so accesses of different places can be compared. A
 * question compares two points p and q, and says of each loop how they stand to each other:
 *
 *   differ    p and q have different values of it
 *   run       each has any value of its domain
 *   fixed     both have the same: of what stands outside of `top`, sizes, parameters, and whatever
 *             is no loop of the relation
 *
 * "Disjoint" means that no element that an access touches at p is touched by an access at q, by the
 * same access or another one. Conditions (predicates, ifs) only take points away: what is disjoint
 * without them is disjoint with them. Loops of threads are loops; whether their iterations share a
 * buffer at all, its scope says (ir/core/concurrent.h).
 *
 * Answers are proofs: true holds for every value of what is fixed; false means "not shown", which
 * is also said where memory is short. Nothing here depends on anything but the tree, the relation
 * and what arith knows of the loops: asked twice of one version of a tree, a question has one
 * answer.
 *
 * Memory: the arena of the arith context. Thread-compatible.
 */
#ifndef HONE_IR_REGION_RELATION_H
#define HONE_IR_REGION_RELATION_H

#include "ir/arith/itermap.h"

typedef struct hone_access {
    uint32_t rank;
    const hone_expr *const *mins; /* by dimension; NULL: it may lie anywhere */
    const int64_t *extents;       /* by dimension, at least 1 where min is known */
} hone_access;

typedef struct hone_relation {
    hone_arith *arith; /* knows the domains of the loops */
    const hone_func *func;
    hone_buffer buffer;
    hone_node_id top; /* a loop or block; its iterations are fixed, loops below it are the points */
    uint32_t count, capacity;
    hone_access *accesses;
    uint32_t loop_count, loop_capacity;
    hone_node_id *loops; /* those between top and the accesses, each once */
    bool is_short_of_memory;
} hone_relation;

/* ---- making ---- */
/* Without accesses yet. */
void hone_relation_begin(hone_relation *rel, hone_arith *arith, const hone_func *func,
                         hone_buffer buffer, hone_node_id top);
/* Adds what the block, below top, declares to read and write of the buffer, with its bindings in
 * the place of its axes. */
void hone_relation_add_block(hone_relation *rel, hone_node_id block);
/* Adds a box as it is written, over iterators that the question names. */
void hone_relation_add_box(hone_relation *rel, const hone_range *ranges);
/* Adds a single element that the statement, which is below top or is it, accesses. */
void hone_relation_add_element(hone_relation *rel, hone_node_id statement,
                               const hone_expr *const *indices);

/* Gives each access to a single element one index, which counts elements in the order of the
 * buffer's shape: digits of a number that several dimensions have together become that number.
 * Indices are within the shape wherever the access is done. False, and nothing is changed: a size
 * or an index is not known, or they are too many to count. */
bool hone_relation_count_elements(hone_relation *rel);

/* ---- questions ---- */
/* Injective: points that differ in at least one of the iterators (all else is fixed) touch disjoint
 * elements.
 *   To show: for p != q, box(p) and box(q) have no element in common, of all pairs of accesses.
 *   Shown by an iterator map of all dimensions: indices that are an injective one of the iterators;
 *   of boxes, their numbers, where they are aligned to their length; of several accesses whose
 *   distances are multiples of a step, an index with one iterator more, which counts the steps.
 *   Counter-example: B[vi // 2] at vi = 0, 1. */
bool hone_is_injective(const hone_relation *rel, uint32_t iter_count, const hone_iter *iters);
/* Injective in a loop: points that differ in the loop, while all other loops of the relation run,
 * touch disjoint elements.
 *   To show: p[loop] != q[loop] makes box(p) and box(q) disjoint whatever else p and q are.
 *   Shown by dimensions in which all accesses are at one index, which is the same expression for
 *   all: one of them, or several that share loops with it, are an injective map of all loops that
 *   they use, the loop among them.
 *   Counter-example: B[i + j] at (i, j) = (0, 1), (1, 0), which is injective in neither loop. */
bool hone_is_injective_in(const hone_relation *rel, hone_node_id loop);
/* Carries no dependence: points that differ in the loop, while loops below it run and those outside
 * are fixed, touch disjoint elements.
 *   To show: as hone_is_injective_in, for one iteration of what is outside of the loop.
 *   Shown by a dimension in which all that is touched in one iteration lies behind (or in front of)
 *   all that is touched in the one before; or where it is injective in the loop.
 *   Counter-example: B[i], B[i + 1] at i = 0, 1. */
bool hone_carries_no_dependence(const hone_relation *rel, hone_node_id loop);
/* Disjoint: whatever the loops of both relations do, what is outside of their top being fixed, the
 * accesses of a and b touch disjoint elements.
 *   To show: for all p of a and q of b, box(p) and box(q) have no element in common.
 *   Shown by a dimension in which all of one lies in front of all of the other.
 *   Counter-example: B[i] and B[j + 7], i, j < 8, at i = 7, j = 0. */
bool hone_is_disjoint(const hone_relation *a, const hone_relation *b);

/* ---- counter-examples ---- */
/* No, with a witness: points that differ in the iterator, all else being the same, touch one
 * element: a where the iterator is *out_p, b where it is *out_q. `at` gives, by variable, what else
 * is fixed to a value (NULL: nothing; what has none there may have any). a and b have one access
 * each, to single elements; the iterator runs from a number. False: none was found among its first
 * values. */
bool hone_find_overlap(const hone_relation *a, const hone_relation *b, const hone_iter *iter,
                       const hone_expr *const *at, int64_t *out_p, int64_t *out_q);

#endif
