/* costmodel/tree_train.h - trains trees with XGBoost: the one place that calls it.
 *
 * The prediction of a sample is the sum over its rows ("pack-sum", as TVM's XGBModel does it, see
 * xgb_model.py), so the trees learn what each store contributes without being told. Different from
 * there: failures are label 0 with weight, a part of the samples is held out to stop early,
 * constant columns are left away, and the trees learn the square root of the label, which keeps
 * slow candidates apart (worth about two points of pair accuracy in
 * tests/costmodel/test_costmodel_learning.c; a logarithm costs five).
 */
#ifndef HONE_COSTMODEL_TREE_TRAIN_H
#define HONE_COSTMODEL_TREE_TRAIN_H

#include "costmodel/train_history.h"
#include "costmodel/tree_forest.h"

typedef struct tree_train_options {
    uint32_t columns;
    uint64_t seed;
    int32_t max_depth, max_rounds;
    const tree_forest *prior; /* the new trees stand on what these say; NULL = on nothing */
} tree_train_options;

/* Depends on the history, the options and nothing else. *out_forest = NULL when there is nothing to
 * learn from (no rows, or all alike). */
HONE_NODISCARD hone_status tree_train(const train_history *history,
                                      const tree_train_options *options, tree_forest **out_forest);

/* The label that a sum of trees stands for. */
static inline double tree_train_label(double sum) {
    return sum < 0 ? -(sum * sum) : sum * sum;
}

#endif
