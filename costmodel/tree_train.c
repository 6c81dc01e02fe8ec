/* costmodel/tree_train.c - see tree_train.h. */
#include "costmodel/tree_train.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <xgboost/c_api.h>

#include "costmodel/train_pairs.h"
#include "support/core/alloc.h"
#include "support/core/number.h"

/* Below HOLDOUT_MIN samples every one is needed for training, and the rounds are few instead. */
enum { HOLDOUT_MIN = 48, HOLDOUT_ONE_IN = 6, FEW_ROUNDS = 40, PATIENCE = 12 };

/* How surely a difference of sums tells which of two is faster: a logistic curve of this slope. */
#define SLOPE 4.0

#define RATE 0.12
#define SHRINK 0.5
#define SHRINK_ON_PRIOR 30.0

/* Everything about one training; arrays have one entry per row or per sample. */
typedef struct training {
    const train_history *history;
    const tree_train_options *options;
    size_t samples, rows;
    uint32_t *used; /* the columns that vary */
    size_t used_count;
    float *matrix; /* rows × used_count */
    uint32_t *sample_of;
    train_pairs pairs;
    bool *is_held_out;    /* per sample */
    float *sum;           /* per sample: what the trees say so far */
    float *prior;         /* per sample: what those said that were there before */
    double *slope, *bend; /* per sample: of the loss, along its sum */
    float *grad, *hess;
    DMatrixHandle data;
    BoosterHandle booster;
} training;

static hone_status xgb_error(const char *doing) {
    return HONE_ERROR(HONE_CODE_INTERNAL, "cannot %s: XGBoost says: %s", doing, XGBGetLastError());
}

#define XGB_TRY(call, doing)                                                                       \
    do {                                                                                           \
        if ((call) != 0) return xgb_error(doing);                                                  \
    } while (0)

static void training_end(training *t) {
    if (t->booster) XGBoosterFree(t->booster);
    if (t->data) XGDMatrixFree(t->data);
    hone_free(t->used);
    hone_free(t->matrix);
    hone_free(t->sample_of);
    hone_vec_deinit(&t->pairs);
    hone_free(t->is_held_out);
    hone_free(t->slope);
    hone_free(t->bend);
    hone_free(t->sum);
    hone_free(t->prior);
    hone_free(t->grad);
    hone_free(t->hess);
}

/* ---- data ---- */

static bool varies(const train_history *history, uint32_t columns, uint32_t column) {
    const float *first = NULL;
    for (size_t i = 0; i < history->samples.count; i++) {
        const train_sample *s = &history->samples.data[i];
        for (uint32_t r = 0; r < s->row_count; r++) {
            const float *cell = &s->rows[(size_t)r * columns + column];
            if (!first) first = cell;
            if (*cell != *first) return true;
        }
    }
    return false;
}

static hone_status choose_columns(training *t) {
    uint32_t columns = t->options->columns;
    t->used = hone_calloc(columns, sizeof *t->used);
    if (!t->used) return HONE_ERROR(HONE_CODE_NO_MEMORY, "columns of the cost model");
    for (uint32_t c = 0; c < columns; c++) {
        if (varies(t->history, columns, c)) t->used[t->used_count++] = c;
    }
    return HONE_OK;
}

static hone_status allocate(training *t) {
    t->matrix = hone_calloc(t->rows * t->used_count, sizeof *t->matrix);
    t->sample_of = hone_calloc(t->rows, sizeof *t->sample_of);
    t->is_held_out = hone_calloc(t->samples, sizeof *t->is_held_out);
    t->slope = hone_calloc(t->samples, sizeof *t->slope);
    t->bend = hone_calloc(t->samples, sizeof *t->bend);
    t->sum = hone_calloc(t->samples, sizeof *t->sum);
    t->prior = hone_calloc(t->samples, sizeof *t->prior);
    t->grad = hone_calloc(t->rows, sizeof *t->grad);
    t->hess = hone_calloc(t->rows, sizeof *t->hess);
    bool ok = t->matrix && t->sample_of && t->is_held_out && t->slope && t->bend && t->sum &&
              t->prior && t->grad && t->hess;
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "training of the cost model");
}

/* Held out by sequence number, so that a sample stays on its side from training to training. */
static bool is_held_out(const training *t, const train_sample *sample) {
    if (t->samples < HOLDOUT_MIN) return false;
    uint64_t lot = hone_hash_mix(t->options->seed ^ hone_hash_mix(sample->sequence + 1));
    return lot % HOLDOUT_ONE_IN == 0;
}

static void fill(training *t) {
    size_t row = 0;
    for (size_t i = 0; i < t->samples; i++) {
        const train_sample *s = &t->history->samples.data[i];
        t->is_held_out[i] = is_held_out(t, s);
        for (uint32_t r = 0; r < s->row_count; r++, row++) {
            const float *from = &s->rows[(size_t)r * t->options->columns];
            if (t->options->prior) t->prior[i] += (float)tree_forest_row(t->options->prior, from);
            float *to = &t->matrix[row * t->used_count];
            t->sample_of[row] = (uint32_t)i;
            for (size_t c = 0; c < t->used_count; c++)
                to[c] = from[t->used[c]];
        }
    }
}

/* ---- boosting ---- */

static hone_status set_number(BoosterHandle booster, const char *name, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    XGB_TRY(XGBoosterSetParam(booster, name, text), "set a parameter");
    return HONE_OK;
}

static hone_status set_share(BoosterHandle booster, const char *name, double value) {
    char text[32];
    hone_snprintf(text, sizeof text, "%g", value);
    XGB_TRY(XGBoosterSetParam(booster, name, text), "set a parameter");
    return HONE_OK;
}

static hone_status make_booster(training *t) {
    static const char *const fixed[][2] = {
        {"verbosity",                   "0"               },
        {"nthread",                     "1"               },
        {"objective",                   "reg:squarederror"},
        {"base_score",                  "0"               },
        {"tree_method",                 "hist"            },
        {"max_bin",                     "32"              },
        {"gamma",                       "0.01"            },
        {"min_child_weight",            "3"               },
        {"disable_default_eval_metric", "1"               },
    };
    XGB_TRY(XGDMatrixCreateFromMat_omp(t->matrix, t->rows, t->used_count, NAN, &t->data, 1),
            "make a training matrix");
    XGB_TRY(XGBoosterCreate(&t->data, 1, &t->booster), "make a booster");
    for (size_t i = 0; i < HONE_COUNT(fixed); i++) {
        XGB_TRY(XGBoosterSetParam(t->booster, fixed[i][0], fixed[i][1]), "set a parameter");
    }
    /* what stands on a prior has to be sure of what it changes */
    double shrink = t->options->prior ? SHRINK_ON_PRIOR : SHRINK;
    HONE_TRY(set_share(t->booster, "lambda", t->options->shrink > 0 ? t->options->shrink : shrink));
    HONE_TRY(set_share(t->booster, "eta", t->options->rate > 0 ? t->options->rate : RATE));
    if (t->options->share_of_columns > 0)
        HONE_TRY(set_share(t->booster, "colsample_bynode", t->options->share_of_columns));
    HONE_TRY(set_number(t->booster, "seed", t->options->seed & 0x7fffffff));
    return set_number(t->booster, "max_depth", (uint64_t)t->options->max_depth);
}

/* Sums what the trees say per sample. */
static hone_status predict(training *t) {
    bst_ulong count = 0;
    const float *said = NULL;
    XGB_TRY(XGBoosterPredict(t->booster, t->data, 1, 0, 1, &count, &said), "predict");
    if (count != t->rows) {
        return HONE_ERROR(HONE_CODE_INTERNAL, "XGBoost predicted %zu rows, not %zu", (size_t)count,
                          t->rows);
    }
    for (size_t i = 0; i < t->samples; i++)
        t->sum[i] = t->prior[i];
    for (size_t r = 0; r < t->rows; r++)
        t->sum[t->sample_of[r]] += said[r];
    return HONE_OK;
}

/* The chance that the trees give to the wrong order of a pair. */
static double doubt(const training *t, const train_pair *pair) {
    return 1 / (1 + exp(SLOPE * ((double)t->sum[pair->fast] - (double)t->sum[pair->slow])));
}

static bool is_judge(const training *t, const train_pair *pair) {
    return t->is_held_out[pair->fast] || t->is_held_out[pair->slow];
}

/* Mean logarithmic loss of pairs that are held out. */
static double held_out_loss(const training *t) {
    double loss = 0, weight = 0;
    for (size_t i = 0; i < t->pairs.count; i++) {
        const train_pair *pair = &t->pairs.data[i];
        if (!is_judge(t, pair)) continue;
        loss -= (double)pair->weight * log1p(-doubt(t, pair) * (1 - 1e-9));
        weight += (double)pair->weight;
    }
    return weight > 0 ? loss / weight : (double)NAN;
}

/* Slope and curvature of the logarithmic loss of all pairs, along each sample's sum. */
static void differentiate(training *t) {
    memset(t->slope, 0, t->samples * sizeof *t->slope);
    memset(t->bend, 0, t->samples * sizeof *t->bend);
    for (size_t i = 0; i < t->pairs.count; i++) {
        const train_pair *pair = &t->pairs.data[i];
        if (is_judge(t, pair)) continue;
        double p = doubt(t, pair), weight = 4 * (double)pair->weight;
        t->slope[pair->fast] -= weight * p / SLOPE;
        t->slope[pair->slow] += weight * p / SLOPE;
        t->bend[pair->fast] += weight * p * (1 - p);
        t->bend[pair->slow] += weight * p * (1 - p);
    }
}

/* When all n rows of a sample move together the curvature is n times that of one row: the Hessian
 * carries that factor, or steps would overshoot. */
static hone_status boost(training *t) {
    differentiate(t);
    for (size_t r = 0; r < t->rows; r++) {
        uint32_t i = t->sample_of[r];
        t->grad[r] = (float)t->slope[i];
        t->hess[r] = (float)t->bend[i] * (float)t->history->samples.data[i].row_count;
    }
    XGB_TRY(XGBoosterBoostOneIter(t->booster, t->data, t->grad, t->hess, t->rows), "boost");
    return HONE_OK;
}

/* Adds trees until what is held out does not get better; *out_rounds = how many to use. */
static hone_status boost_all(training *t, int *out_rounds) {
    int rounds = t->options->max_rounds;
    if (t->samples < HOLDOUT_MIN && rounds > FEW_ROUNDS) rounds = FEW_ROUNDS;
    double best = INFINITY;
    *out_rounds = 0;
    for (int round = 0; round <= rounds; round++) {
        HONE_TRY(predict(t));
        double loss = held_out_loss(t);
        if (isnan(loss) || loss < best) {
            best = loss;
            *out_rounds = round;
        } else if (round - *out_rounds >= PATIENCE) {
            break;
        }
        if (round < rounds) HONE_TRY(boost(t));
    }
    return HONE_OK;
}

#ifndef NDEBUG
/* Our evaluation of the trees says what XGBoost says (float sums against double ones). */
static bool agrees(training *t, int rounds, const tree_forest *forest) {
    float row[1 << 16] = {0};
    bst_ulong count = 0;
    const float *said = NULL;
    if (t->options->columns > HONE_COUNT(row)) return true;
    if (XGBoosterPredict(t->booster, t->data, 1, (unsigned)rounds, 0, &count, &said) != 0) {
        return false;
    }
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < t->used_count; c++) {
            row[t->used[c]] = t->matrix[r * t->used_count + c];
        }
        if (fabs(tree_forest_row(forest, row) - (double)said[r]) > 1e-4) return false;
    }
    return true;
}
#endif

static hone_status dump(training *t, int rounds, tree_forest **out_forest) {
    bst_ulong count = 0;
    const char **trees = NULL;
    XGB_TRY(XGBoosterDumpModelEx(t->booster, "", 0, "text", &count, &trees), "read the trees");
    if ((bst_ulong)rounds < count) count = (bst_ulong)rounds;
    if (!count) return HONE_OK;
    HONE_TRY(tree_forest_parse(trees, (size_t)count, t->used, t->used_count, out_forest));
    assert(agrees(t, (int)count, *out_forest));
    return HONE_OK;
}

static hone_status run(training *t, tree_forest **out_forest) {
    int rounds = 0;
    HONE_TRY(choose_columns(t));
    HONE_TRY(train_pairs_make(t->history, t->options->seed, &t->pairs));
    if (!t->used_count || !t->pairs.count) return HONE_OK;
    HONE_TRY(allocate(t));
    fill(t);
    HONE_TRY(make_booster(t));
    HONE_TRY(boost_all(t, &rounds));
    return dump(t, rounds, out_forest);
}

hone_status tree_train(const train_history *history, const tree_train_options *options,
                       tree_forest **out_forest) {
    *out_forest = NULL;
    training t = {
        .history = history,
        .options = options,
        .samples = history->samples.count,
        .rows = history->row_total,
    };
    if (!t.rows) return HONE_OK;
    hone_status st = run(&t, out_forest);
    training_end(&t);
    return st;
}
