/* costmodel/train_pairs.h - pairs of samples of a group whose times differ: what trees learn to put
 * in order.
 *
 * A group has the same weight per sample however many pairs it has: small ones count as well. In
 * large groups each sample has some partners instead of all.
 */
#ifndef HONE_COSTMODEL_TRAIN_PAIRS_H
#define HONE_COSTMODEL_TRAIN_PAIRS_H

#include "costmodel/train_history.h"

typedef struct train_pair {
    uint32_t fast, slow; /* samples of the history */
    float weight;
} train_pair;

typedef HONE_VEC(train_pair) train_pairs;

/* Depends on the history and the seed alone; free with hone_vec_deinit. Failures are slower than
 * all that did not fail. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status train_pairs_make(const train_history *history, uint64_t seed,
                                            train_pairs *out_pairs);

#endif
