/* costmodel/tree_train.h - trains trees with XGBoost: the one place that calls it.
 *
 * The prediction of a sample is the sum over its rows ("pack-sum", as TVM's XGBModel does it, see
 * xgb_model.py), so the trees learn what each store contributes without being told. Different from
 * there: what is learned is which of two samples of a group is faster (train_pairs.h), not how fast
 * each is; a failure is slower than all others; a part of the samples is held out to stop early,
 * and constant columns are left away. Trees that stand on a prior are shrunk more.
 */
#ifndef HONE_COSTMODEL_TREE_TRAIN_H
#define HONE_COSTMODEL_TREE_TRAIN_H

#include "costmodel/train_history.h"
#include "costmodel/tree_forest.h"

typedef struct tree_train_options {
    uint32_t columns;
    uint64_t seed;
    int32_t max_depth, max_rounds;
    double rate;              /* how far each tree goes; 0 = 0.12 */
    double shrink;            /* of leaves (XGBoost's lambda); 0 = 0.5, on a prior 30 */
    double share_of_columns;  /* that a node may ask about, drawn anew for each; 0 = all */
    const tree_forest *prior; /* the new trees stand on what these say; NULL = on nothing */
} tree_train_options;

/* Depends on the history, the options and nothing else. *out_forest = NULL when there is nothing to
 * learn from (no rows, or all alike). */
HONE_NODISCARD hone_status tree_train(const train_history *history,
                                      const tree_train_options *options, tree_forest **out_forest);

#endif
