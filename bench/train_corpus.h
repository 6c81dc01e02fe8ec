/* bench/train_corpus.h - measured candidates out of a database, with the features of today.
 *
 *   trials of one workload and target ─► its program, its traces replayed ─► rows of features
 *
 * Features that a database keeps are those of the version that measured; traces mean what they
 * meant. So nothing has to be measured again when features change.
 */
#ifndef HONE_BENCH_TRAIN_CORPUS_H
#define HONE_BENCH_TRAIN_CORPUS_H

#include "costmodel/costmodel.h"
#include "support/data/vec.h"

typedef struct train_trial {
    hone_costmodel_sample of; /* group: workload and target; time: the least sample */
    hone_hash128 workload;
    double halves_ns[2]; /* the least of every other sample: what measuring it again would say */
    float *rows;         /* owned */
    size_t number;
} train_trial;

typedef struct train_corpus {
    HONE_VEC(train_trial) trials; /* by group, in the order of their proposals */
    size_t refused;               /* whose traces cannot be replayed (any more) */
} train_corpus;

/* Reads the ok trials of a database; *out zeroed. */
HONE_NODISCARD hone_status train_corpus_read(const char *path, train_corpus *out);
void train_corpus_deinit(train_corpus *corpus);

#endif
