/* costmodel/nearby.h - what was measured near a candidate, of its own group.
 *
 * Trees need many samples to change what they were taught before, and cut one column at a time.
 * This is the other half: from all samples of a group, by their distance, what a candidate's time
 * should be beside what the trees of before say (a Gaussian process over the residuals). A dozen
 * samples say which structures of a task are worse than was thought.
 *
 *     log time of a sample ≈ slope × what is known before + a smooth function of its features
 *
 * Depends on the history alone. Immutable and reference-counted, like the trees.
 *
 * Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, algorithm 2.1; the
 * kernel is the exponential one, since times jump.
 */
#ifndef HONE_COSTMODEL_NEARBY_H
#define HONE_COSTMODEL_NEARBY_H

#include "costmodel/train_history.h"
#include "costmodel/tree_forest.h"

typedef struct nearby nearby;

/* What the groups of a history teach; own stands on prior (each may be NULL). *out_nearby = NULL
 * where no group has enough samples. */
HONE_NODISCARD hone_status nearby_make(const train_history *history, uint32_t columns,
                                       const tree_forest *prior, const tree_forest *own,
                                       nearby **out_nearby);
nearby *nearby_retain(nearby *all); /* NULL stays NULL */
void nearby_release(nearby *all);

/* The mean of two opinions, each in units of its spread over the samples of the group: what all
 * trees say, and what is near. The larger, the faster. (Both stand on what was known before: as a
 * third opinion that counted too much.) Where the group is not known, or all is NULL, before + own.
 */
double nearby_score(const nearby *all, const hone_hash128 *group, const hone_costmodel_rows *rows,
                    uint32_t columns, double before, double own);

/* How far a candidate is from all samples of its group, from 0 (one looks like it) to 1, in units
 * of nearby_score: what it may be beside what is thought. 0 where the group is not known. */
double nearby_doubt(const nearby *all, const hone_hash128 *group, const hone_costmodel_rows *rows,
                    uint32_t columns);

#endif
