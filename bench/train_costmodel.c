/* bench/train_costmodel.c - trains the cost model that is shipped, and says how good it is:
 * train_costmodel MODEL.db OUT.model [HELD_OUT.csv]
 *
 *   trials (train_corpus.h) ─► groups (workload, target) ─► one workload in five is held out
 *     the others ─► trees ─► pairs of the held out ones in the right order, before any trial
 *                        └─► the same after half of a group's trials
 *     all        ─► trees ─► OUT.model
 *
 * Pairs are those of one group whose times differ by 5 % or more. HELD_OUT.csv gets some trials of
 * workloads that are in no training, for tests: they are left out of OUT.model as well.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/train_corpus.h"
#include "costmodel/feature.h"
#include "costmodel/prior.h"
#include "costmodel/tree_train.h"
#include "support/os/fs.h"

enum { DEPTH = 6, ROUNDS = 320, OWN_DEPTH = 5, OWN_ROUNDS = 160, PARTS = 5, KEPT_GROUPS = 8 };
#define UNLIKE 1.05

/* ---- groups ---- */

static size_t group_end(const train_corpus *c, size_t begin) {
    size_t end = begin + 1;
    while (end < c->trials.count &&
           hone_hash128_equal(c->trials.data[end].of.group, c->trials.data[begin].of.group))
        end++;
    return end;
}

static bool is_held_out(const train_trial *s) {
    return s->workload.lo % PARTS == 0;
}

/* ---- training ---- */

static hone_status add(train_history *history, const train_trial *samples, size_t count) {
    for (size_t i = 0; i < count; i++)
        HONE_TRY(train_history_add(history, hone_feature_count(), &samples[i].of, 1));
    return HONE_OK;
}

/* Small steps that see a part of the columns each: what is shipped has the time. */
static hone_status train_shipped(const train_history *history, tree_forest **out) {
    const tree_train_options options = {.columns = hone_feature_count(),
                                        .seed = 1,
                                        .max_depth = DEPTH,
                                        .max_rounds = ROUNDS,
                                        .rate = 0.1,
                                        .share_of_columns = 0.3};
    return tree_train(history, &options, out);
}

/* As costmodel_xgboost.c does it. */
static hone_status train_own(const train_history *history, const tree_forest *prior,
                             tree_forest **out) {
    const tree_train_options options = {.columns = hone_feature_count(),
                                        .seed = 1,
                                        .max_depth = OWN_DEPTH,
                                        .max_rounds = OWN_ROUNDS,
                                        .prior = prior};
    return tree_train(history, &options, out);
}

static hone_status train_on(const train_corpus *c, bool with_held_out, tree_forest **out) {
    train_history history = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < c->trials.count && !st; i++) {
        const train_trial *s = &c->trials.data[i];
        if (with_held_out || !is_held_out(s)) st = add(&history, s, 1);
    }
    if (!st) st = train_shipped(&history, out);
    train_history_deinit(&history);
    return st;
}

/* ---- judging ---- */

typedef struct quality {
    double right, pairs, groups, sum_of_groups;
} quality;

static double score(const tree_forest *prior, const tree_forest *own, const train_trial *s) {
    double sum = 0;
    for (uint32_t r = 0; r < s->of.rows.row_count; r++) {
        const float *row = s->rows + (size_t)r * hone_feature_count();
        if (prior) sum += tree_forest_row(prior, row);
        if (own) sum += tree_forest_row(own, row);
    }
    return sum;
}

/* A level pair of scores counts half. */
static void judge(const tree_forest *prior, const tree_forest *own, const train_trial *samples,
                  size_t count, quality *io) {
    double right = 0, pairs = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (samples[i].of.time_ns * UNLIKE > samples[j].of.time_ns) continue;
            double x = score(prior, own, &samples[i]), y = score(prior, own, &samples[j]);
            right += x > y ? 1 : x < y ? 0 : 0.5;
            pairs += 1;
        }
    }
    if (pairs <= 0) return;
    io->right += right;
    io->pairs += pairs;
    io->groups += 1;
    io->sum_of_groups += right / pairs;
}

static void print_quality(const char *when, const quality *q) {
    printf("%-34s %5.1f %% of %.0f pairs right; %5.1f %% as the mean of %.0f groups\n", when,
           100 * q->right / q->pairs, q->pairs, 100 * q->sum_of_groups / q->groups, q->groups);
}

/* What half of the trials of a group teach is asked about the other half. */
static hone_status judge_after_half(const tree_forest *prior, const train_trial *samples,
                                    size_t count, quality *io_before, quality *io_after) {
    train_history history = {0};
    tree_forest *own = NULL;
    size_t half = count / 2;
    hone_status st = add(&history, samples, half);
    if (!st) st = train_own(&history, prior, &own);
    if (!st) judge(prior, NULL, samples + half, count - half, io_before);
    if (!st) judge(prior, own, samples + half, count - half, io_after);
    tree_forest_release(own);
    train_history_deinit(&history);
    return st;
}

static hone_status judge_held_out(const train_corpus *c, const tree_forest *prior) {
    quality before = {0}, rest = {0}, after = {0};
    for (size_t begin = 0, end; begin < c->trials.count; begin = end) {
        end = group_end(c, begin);
        const train_trial *samples = &c->trials.data[begin];
        if (!is_held_out(samples)) continue;
        judge(prior, NULL, samples, end - begin, &before);
        HONE_TRY(judge_after_half(prior, samples, end - begin, &rest, &after));
    }
    if (before.pairs <= 0) return HONE_ERROR(HONE_CODE_INVALID, "nothing is held out");
    print_quality("held out, before any trial:", &before);
    print_quality("of these the second halves:", &rest);
    print_quality("the same, after the first halves:", &after);
    return HONE_OK;
}

/* ---- writing ---- */

static hone_status write_model(const tree_forest *forest, const char *path) {
    hone_str text = {0};
    hone_prior_print(forest, &text);
    hone_status st = hone_str_check(&text);
    if (!st) st = hone_fs_write_atomic(path, hone_str_text(&text), text.length);
    printf("wrote %s: %zu trees, %zu bytes\n", path, tree_forest_count(forest), text.length);
    hone_str_deinit(&text);
    return st;
}

static void print_sample(const train_trial *s, size_t group, hone_str *out) {
    hone_str_printf(out, "%zu,%.6g,%u", group, s->of.time_ns, (unsigned)s->of.rows.row_count);
    for (size_t i = 0; i < (size_t)s->of.rows.row_count * hone_feature_count(); i++)
        hone_str_printf(out, ",%.4g", (double)s->rows[i]);
    hone_str_append_char(out, '\n');
}

/* Every fourth trial of the first held-out groups: group, time, rows, features. */
static hone_status write_held_out(const train_corpus *c, const char *path) {
    hone_str text = {0};
    size_t groups = 0;
    for (size_t begin = 0, end; begin < c->trials.count && groups < KEPT_GROUPS; begin = end) {
        end = group_end(c, begin);
        if (!is_held_out(&c->trials.data[begin])) continue;
        for (size_t i = begin; i < end; i += 4)
            print_sample(&c->trials.data[i], groups, &text);
        groups++;
    }
    hone_status st = hone_str_check(&text);
    if (!st) st = hone_fs_write_atomic(path, hone_str_text(&text), text.length);
    hone_str_deinit(&text);
    return st;
}

static hone_status run(train_corpus *c, char **args, int count) {
    tree_forest *forest = NULL;
    HONE_TRY(train_corpus_read(args[0], c));
    printf("%zu trials of %s; %zu that cannot be replayed\n", c->trials.count, args[0], c->refused);
    HONE_TRY(train_on(c, false, &forest));
    if (!forest) return HONE_ERROR(HONE_CODE_INVALID, "too few trials");
    hone_status st = judge_held_out(c, forest);
    if (!st && count > 2) st = write_held_out(c, args[2]);
    if (!st && count <= 2) { /* nobody judges it any more: all of them teach */
        tree_forest_release(forest);
        forest = NULL;
        st = train_on(c, true, &forest);
    }
    if (!st) st = write_model(forest, args[1]);
    tree_forest_release(forest);
    return st;
}

int main(int argc, char **argv) {
    train_corpus c = {0};
    if (argc < 3 || argc > 4) {
        fputs("usage: train_costmodel MODEL.db OUT.model [HELD_OUT.csv]\n", stderr);
        return 2;
    }
    hone_status st = run(&c, argv + 1, argc - 1);
    train_corpus_deinit(&c);
    if (!st) return 0;
    fprintf(stderr, "train_costmodel: %s\n", hone_status_message(st));
    hone_status_free(st);
    return 1;
}
