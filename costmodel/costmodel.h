/* costmodel/costmodel.h - ranks candidates before they are measured, and learns from what was.
 *
 * A cost model sees plain numbers only: a candidate is a matrix of float features, one row per
 * buffer that its program writes (costmodel/feature.h makes them), and belongs to a group (its
 * task). Scores are comparable within one group and one training: higher is better.
 *
 * Backends: xgboost (learns), random (an order that depends on seed and features alone), null (0
 * for everybody). What a model returns depends only on its options, the updates it got, in order,
 * and the candidate: never on time, addresses, threads or earlier queries.
 *
 * Lifetime: one owner, who ends it with _destroy.
 * Threads:  thread-safe. score may be called by many threads at once, also during an update: a
 *           call ends with the model that it began with.
 * Layer:    may include support/, target/, measure/, ir/, lower/, schedule/.
 */
#ifndef HONE_COSTMODEL_COSTMODEL_H
#define HONE_COSTMODEL_COSTMODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/status.h"
#include "support/data/hash.h"

typedef struct hone_costmodel hone_costmodel;

/* The features of one candidate: row_count rows of the model's feature_count columns. Zero rows
 * are allowed (nothing is known about it). */
typedef struct hone_costmodel_rows {
    const float *data;
    uint32_t row_count;
} hone_costmodel_rows;

typedef struct hone_costmodel_sample {
    hone_hash128 group; /* its task, e.g. the workload's hash; times are compared within a group */
    hone_costmodel_rows rows;
    double time_ns; /* of one run; NAN, 0 or less = the candidate failed */
} hone_costmodel_sample;

/* How well the model ranked candidates that it had not seen: each update scores its new samples
 * before it trains on them. Weighted towards the latest updates. */
typedef struct hone_costmodel_quality {
    int64_t samples;      /* trained on so far, failures included */
    double pair_accuracy; /* fraction of pairs in the right order; 0.5 is chance; NAN = unknown */
    double rank_correlation; /* Spearman, averaged over groups; NAN = unknown */
    bool trusted;            /* scores come from the trained model, not from the random order */
    int64_t last_train_ns;   /* how long the last training took (for reports; decides nothing) */
    int32_t trees;
} hone_costmodel_quality;

typedef struct hone_costmodel_options {
    uint32_t feature_count; /* columns of every row; at least 1 */
    uint64_t seed;
    int32_t min_samples;       /* what it was not trained before for: random order until so many
                                  have been seen; 0 = 24 */
    int32_t max_depth;         /* 0 = 5 */
    int32_t max_rounds;        /* trees at most; 0 = 160 */
    int32_t max_train_samples; /* the latest and the fastest of each group are kept; 0 = 4096 */
    bool begins_untrained;     /* without what is shipped (prior.h); which is for the columns of
                                  feature.h only */
} hone_costmodel_options;

HONE_NODISCARD hone_status hone_costmodel_create_xgboost(const hone_costmodel_options *options,
                                                         hone_costmodel **out_model);
HONE_NODISCARD hone_status hone_costmodel_create_random(const hone_costmodel_options *options,
                                                        hone_costmodel **out_model);
HONE_NODISCARD hone_status hone_costmodel_create_null(const hone_costmodel_options *options,
                                                      hone_costmodel **out_model);
/* By name: "xgboost", "random", "null" (or "none"); INVALID lists them. */
HONE_NODISCARD hone_status hone_costmodel_check_name(const char *name);
HONE_NODISCARD hone_status hone_costmodel_create(const char *name,
                                                 const hone_costmodel_options *options,
                                                 hone_costmodel **out_model);
void hone_costmodel_destroy(hone_costmodel *model); /* NULL is allowed */

/* Takes new measurements (copies them), judges itself on them, then trains again when there are
 * enough new ones (a fifth of what it was last trained on, or 16). INVALID: a feature or time that
 * is infinite or NAN where it may not be; nothing is taken then. */
HONE_NODISCARD hone_status hone_costmodel_update(hone_costmodel *model,
                                                 const hone_costmodel_sample *samples,
                                                 size_t count);
/* As update, without training: to take many batches in a row (history) and train once at the end
 * with hone_costmodel_train. */
HONE_NODISCARD hone_status hone_costmodel_add(hone_costmodel *model,
                                              const hone_costmodel_sample *samples, size_t count);
HONE_NODISCARD hone_status hone_costmodel_train(hone_costmodel *model);

/* Writes one finite score per candidate; all belong to `group`. */
HONE_NODISCARD hone_status hone_costmodel_score(hone_costmodel *model, const hone_hash128 *group,
                                                const hone_costmodel_rows *candidates, size_t count,
                                                float *out_scores);

/* How far each candidate is from all that was measured of its group, in units of scores: what it
 * may be better than its score. 0 where one that looks like it was measured, and for all while
 * nothing is known of the group. */
HONE_NODISCARD hone_status hone_costmodel_doubt(hone_costmodel *model, const hone_hash128 *group,
                                                const hone_costmodel_rows *candidates, size_t count,
                                                float *out_doubts);

void hone_costmodel_get_quality(hone_costmodel *model, hone_costmodel_quality *out_quality);

#endif
