/* costmodel/train_history.h - the measurements a model learns from.
 *
 * When there are more samples than may be kept, slow old ones go first.
 * A value in the caller's storage; {0} is empty; thread-compatible.
 */
#ifndef HONE_COSTMODEL_TRAIN_HISTORY_H
#define HONE_COSTMODEL_TRAIN_HISTORY_H

#include "costmodel/costmodel.h"
#include "support/data/map.h"
#include "support/data/vec.h"

typedef struct train_sample {
    hone_hash128 group;
    uint64_t sequence; /* how many came before it, ever */
    double time_ns;    /* NAN = failed */
    uint32_t row_count;
    float *rows; /* owned; row_count × columns */
} train_sample;

typedef struct train_history {
    HONE_VEC(train_sample) samples; /* by sequence */
    hone_map128 best;               /* group → bits of its best time */
    size_t row_total;               /* rows of all samples */
    uint64_t seen;                  /* samples ever added */
} train_history;

void train_history_deinit(train_history *history);

/* Copies the samples, all or none. */
HONE_NODISCARD hone_status train_history_add(train_history *history, uint32_t columns,
                                             const hone_costmodel_sample *samples, size_t count);
/* Drops samples until at most `limit` are left: the oldest of those that take more than
 * twice the best time of their group, then the oldest. */
void train_history_trim(train_history *history, size_t limit);

#endif
