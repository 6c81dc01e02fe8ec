/* bench/train_judge.h - how well trials are ranked by what is shipped, and by what other trials of
 * the same task taught beside it. Pairs are those whose times differ by 5 % or more.
 */
#ifndef HONE_BENCH_TRAIN_JUDGE_H
#define HONE_BENCH_TRAIN_JUDGE_H

#include "bench/train_corpus.h"
#include "costmodel/nearby.h"
#include "costmodel/tree_forest.h"

/* What is known of a group; own and near NULL: nothing was measured of it. */
typedef struct train_knowledge {
    const tree_forest *prior;
    tree_forest *own;
    nearby *near;
} train_knowledge;

typedef struct train_judged {
    double time_ns, score;
} train_judged;

typedef struct train_pairs_right {
    double right, pairs; /* a level pair of scores is half right */
} train_pairs_right;

double train_score(const train_knowledge *knowledge, const train_trial *trial);
/* What samples teach, as a tuning learns it (costmodel_xgboost.c). */
HONE_NODISCARD hone_status train_learn(const train_history *samples, train_knowledge *io_knowledge);
void train_knowledge_deinit(train_knowledge *knowledge); /* the prior stays */

train_pairs_right train_judge_pairs(const train_judged *all, size_t count);
/* How many of them stand before one: by time, or by score. */
size_t train_rank_of(const train_judged *all, size_t count, size_t at, bool by_time);
/* How many of the `best` fastest are among the first so many by score. */
size_t train_found(const train_judged *all, size_t count, size_t best, size_t among);

#endif
