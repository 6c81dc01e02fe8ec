/* bench/train_costmodel.c - trains the cost model that is shipped, and says how good it is:
 * train_costmodel MODEL.db OUT.model [HELD_OUT.csv]
 * train_costmodel --judge MODEL.db     how good the one that is shipped is on all of these
 *
 *   trials (train_corpus.h) ─► groups (workload, target) ─► one workload in five is held out
 *     the others ─► trees ─► pairs of the held out ones in the right order, before any trial
 *                        ├─► the same of every other trial, after those between them
 *                        └─► the same of the second half of a group's trials, after the first:
 * those that the search came to last, near to what is fast all        ─► trees ─► OUT.model
 *
 * Pairs are those of one group whose times differ by 5 % or more. HELD_OUT.csv gets some trials of
 * workloads that are in no training, for tests: they are left out of OUT.model as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/train_judge.h"
#include "costmodel/feature.h"
#include "costmodel/prior.h"
#include "costmodel/tree_train.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

enum { DEPTH = 7, ROUNDS = 400, PARTS = 5, KEPT_GROUPS = 8 };

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

static bool is_any(const train_trial *s) {
    return s != NULL;
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
                                        .shrink = 10,
                                        .share_of_columns = 0.2};
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
    double best, found; /* the fastest tenth of each group; how many the first fifth has of them */
} quality;

static void judge_best(const train_judged *all, size_t count, quality *io) {
    for (size_t i = 0; i < count; i++) {
        if (train_rank_of(all, count, i, true) >= (count + 9) / 10) continue;
        io->best += 1;
        io->found += train_rank_of(all, count, i, false) < (count + 4) / 5;
    }
}

static void judge_pairs(const train_judged *all, size_t count, quality *io) {
    train_pairs_right of = train_judge_pairs(all, count);
    if (of.pairs <= 0) return;
    io->right += of.right;
    io->pairs += of.pairs;
    io->groups += 1;
    io->sum_of_groups += of.right / of.pairs;
}

static void print_quality(const char *when, const quality *q) {
    printf(
        "%-38s %5.1f %% of %.0f pairs right; %5.1f %% as the mean of %.0f groups; of the fastest "
        "tenth %.0f %% in the first fifth\n",
        when, 100 * q->right / q->pairs, q->pairs, 100 * q->sum_of_groups / q->groups, q->groups,
        100 * q->found / q->best);
}

/* Which of a group's trials are asked about; the others may teach. */
typedef enum share { ALL, EVERY_OTHER, SECOND_HALF } share;

static bool is_asked(share which, size_t i, size_t count) {
    return which == ALL || (which == EVERY_OTHER ? i % 2 == 1 : i >= count / 2);
}

static hone_status judge(const train_knowledge *k, const train_trial *samples, size_t count,
                         share which, quality *io) {
    size_t asked = 0;
    train_judged *all = hone_calloc(count, sizeof *all);
    if (!all) return HONE_ERROR(HONE_CODE_NO_MEMORY, "judging");
    for (size_t i = 0; i < count; i++) {
        if (is_asked(which, i, count))
            all[asked++] = (train_judged){samples[i].of.time_ns, train_score(k, &samples[i])};
    }
    judge_pairs(all, asked, io);
    judge_best(all, asked, io);
    hone_free(all);
    return HONE_OK;
}

/* What the others teach. */
static hone_status learn(const train_trial *samples, size_t count, share which,
                         train_knowledge *io) {
    train_history history = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < count && !st; i++) {
        if (!is_asked(which, i, count)) st = add(&history, &samples[i], 1);
    }
    if (!st) st = train_learn(&history, io);
    train_history_deinit(&history);
    return st;
}

static hone_status judge_after(const tree_forest *prior, const train_trial *samples, size_t count,
                               share which, quality *io_before, quality *io_after) {
    train_knowledge k = {.prior = prior};
    hone_status st = judge(&k, samples, count, which, io_before);
    if (!st) st = learn(samples, count, which, &k);
    if (!st) st = judge(&k, samples, count, which, io_after);
    train_knowledge_deinit(&k);
    return st;
}

static hone_status judge_all(const train_corpus *c, const tree_forest *prior,
                             bool (*is_judged)(const train_trial *s)) {
    quality all = {0}, before[2] = {{0}}, after[2] = {{0}};
    for (size_t begin = 0, end; begin < c->trials.count; begin = end) {
        end = group_end(c, begin);
        const train_trial *samples = &c->trials.data[begin];
        if (!is_judged(samples)) continue;
        HONE_TRY(judge(&(train_knowledge){.prior = prior}, samples, end - begin, ALL, &all));
        for (int i = 0; i < 2; i++) {
            HONE_TRY(judge_after(prior, samples, end - begin, i ? SECOND_HALF : EVERY_OTHER,
                                 &before[i], &after[i]));
        }
    }
    if (all.pairs <= 0) return HONE_ERROR(HONE_CODE_INVALID, "nothing is held out");
    print_quality("held out, before any trial:", &all);
    print_quality("of these every other one:", &before[0]);
    print_quality("the same, after those between:", &after[0]);
    print_quality("of these the second halves:", &before[1]);
    print_quality("the same, after the first halves:", &after[1]);
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
    hone_status st = judge_all(c, forest, is_held_out);
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

/* Of workloads that are in nobody's training. */
static hone_status judge_shipped(train_corpus *c, const char *path) {
    tree_forest *forest = NULL;
    HONE_TRY(train_corpus_read(path, c));
    HONE_TRY(hone_prior_shipped(&forest));
    hone_status st = judge_all(c, forest, is_any);
    tree_forest_release(forest);
    return st;
}

int main(int argc, char **argv) {
    train_corpus c = {0};
    bool only_judges = argc == 3 && strcmp(argv[1], "--judge") == 0;
    if (argc < 3 || argc > 4) {
        fputs("usage: train_costmodel MODEL.db OUT.model [HELD_OUT.csv]\n"
              "       train_costmodel --judge MODEL.db\n",
              stderr);
        return 2;
    }
    hone_status st = only_judges ? judge_shipped(&c, argv[2]) : run(&c, argv + 1, argc - 1);
    train_corpus_deinit(&c);
    if (!st) return 0;
    fprintf(stderr, "train_costmodel: %s\n", hone_status_message(st));
    hone_status_free(st);
    return 1;
}
