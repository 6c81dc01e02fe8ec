/* bench/rank_trials.c - how well the cost model ranks candidates of one task that it has not seen:
 * rank_trials DRAWN.db TUNED.db [TRIALS]    prints an object of JSON
 *
 *   DRAWN.db, of `hone tune --strategy random`   ─► pairs drawn from the space, the best of it
 *   TUNED.db, of `hone tune`, behind the first TRIALS (64) ─► pairs that a search came to
 *
 * The same pairs are judged twice: by what is shipped, before any trial, and with what the first
 * TRIALS of TUNED.db taught. What looks like one of these is not asked about. `again` says how well
 * one half of each trial's samples ranks by the other half: no model can be expected to do better.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/train_judge.h"
#include "costmodel/feature.h"
#include "costmodel/prior.h"
#include "support/core/alloc.h"

enum { TRIALS = 64, BEST = 10, AMONG = 32 };

/* One task's trials, some of which are asked about. */
typedef struct question {
    const char *name;
    const train_corpus *of;
    size_t from;
} question;

static bool looks_like(const train_trial *a, const train_trial *b) {
    size_t bytes = (size_t)a->of.rows.row_count * hone_feature_count() * sizeof *a->rows;
    return a->of.rows.row_count == b->of.rows.row_count && memcmp(a->rows, b->rows, bytes) == 0;
}

static bool is_taught(const train_corpus *by, size_t count, const train_trial *trial) {
    for (size_t i = 0; i < count; i++) {
        if (looks_like(&by->trials.data[i], trial)) return true;
    }
    return false;
}

/* What says which of the trials asked about are faster. */
typedef enum judge_kind { BEFORE, AFTER, AGAIN, JUDGES } judge_kind;

/* Fills by[], each with room for all trials, by trial that is asked about; their number. */
static size_t rate(const question *q, const train_corpus *from, size_t taught,
                   const train_knowledge *known, train_judged *const by[JUDGES]) {
    const train_knowledge nothing = {.prior = known->prior};
    size_t count = 0;
    for (size_t i = q->from; i < q->of->trials.count; i++) {
        const train_trial *trial = &q->of->trials.data[i];
        if (is_taught(from, taught, trial)) continue;
        by[BEFORE][count] = (train_judged){trial->of.time_ns, train_score(&nothing, trial)};
        by[AFTER][count] = (train_judged){trial->of.time_ns, train_score(known, trial)};
        by[AGAIN][count++] = (train_judged){trial->halves_ns[0], -trial->halves_ns[1]};
    }
    return count;
}

/* Null where there is nothing to be right about. */
static void print_share(const char *name, double part, double whole, const char *end) {
    if (whole > 0) {
        printf("\"%s\": %.4f%s", name, part / whole, end);
    } else {
        printf("\"%s\": null%s", name, end);
    }
}

static void print(const char *name, train_judged *const by[JUDGES], size_t count) {
    static const char *const names[JUDGES] = {"before", "after", "again"};
    train_pairs_right right[JUDGES];
    size_t best = count < BEST ? count : BEST;
    for (int k = 0; k < JUDGES; k++)
        right[k] = train_judge_pairs(by[k], count);
    printf("\"%s\": {\"trials\": %zu, \"pairs\": %.0f, ", name, count, right[BEFORE].pairs);
    for (int k = 0; k < JUDGES; k++) {
        char of_best[32];
        snprintf(of_best, sizeof of_best, "best_%s", names[k]);
        print_share(names[k], right[k].right, right[k].pairs, ", ");
        print_share(of_best, (double)train_found(by[k], count, BEST, AMONG), (double)best,
                    k + 1 < JUDGES ? ", " : "}");
    }
}

static hone_status ask(const question *q, const train_corpus *from, size_t taught,
                       const train_knowledge *known) {
    size_t room = q->of->trials.count + 1;
    train_judged *all = hone_calloc(JUDGES * room, sizeof *all);
    if (!all) return HONE_ERROR(HONE_CODE_NO_MEMORY, "ranking");
    train_judged *const by[JUDGES] = {all, all + room, all + 2 * room};
    print(q->name, by, rate(q, from, taught, known, by));
    hone_free(all);
    return HONE_OK;
}

static hone_status learn(const train_corpus *by, size_t taught, train_knowledge *io) {
    train_history history = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < taught && !st; i++)
        st = train_history_add(&history, hone_feature_count(), &by->trials.data[i].of, 1);
    if (!st) st = train_learn(&history, io);
    train_history_deinit(&history);
    return st;
}

static bool is_one_task(const train_corpus *drawn, const train_corpus *tuned) {
    const train_trial *of[] = {drawn->trials.data, tuned->trials.data};
    size_t count[] = {drawn->trials.count, tuned->trials.count};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < count[k]; i++) {
            if (!hone_hash128_equal(of[k][i].of.group, of[0][0].of.group)) return false;
        }
    }
    return count[0] && count[1];
}

static hone_status run(char **paths, size_t trials, train_corpus *drawn, train_corpus *tuned,
                       tree_forest **out_prior) {
    HONE_TRY(train_corpus_read(paths[0], drawn));
    HONE_TRY(train_corpus_read(paths[1], tuned));
    if (!is_one_task(drawn, tuned)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s and %s must have trials of one task for one target", paths[0],
                          paths[1]);
    }
    HONE_TRY(hone_prior_shipped(out_prior));
    size_t taught = trials < tuned->trials.count ? trials : tuned->trials.count;
    train_knowledge known = {.prior = *out_prior};
    hone_status st = learn(tuned, taught, &known);
    printf("{\"taught\": %zu, ", taught);
    if (!st) st = ask(&(question){"drawn", drawn, 0}, tuned, taught, &known);
    printf(", ");
    if (!st) st = ask(&(question){"found", tuned, taught}, tuned, taught, &known);
    printf("}\n");
    train_knowledge_deinit(&known);
    return st;
}

int main(int argc, char **argv) {
    train_corpus drawn = {0}, tuned = {0};
    tree_forest *prior = NULL;
    if (argc < 3 || argc > 4) {
        fputs("usage: rank_trials DRAWN.db TUNED.db [TRIALS]\n", stderr);
        return 2;
    }
    size_t trials = argc > 3 ? strtoul(argv[3], NULL, 10) : TRIALS;
    hone_status st = run(argv + 1, trials, &drawn, &tuned, &prior);
    tree_forest_release(prior);
    train_corpus_deinit(&drawn);
    train_corpus_deinit(&tuned);
    if (!st) return 0;
    fprintf(stderr, "rank_trials: %s\n", hone_status_message(st));
    hone_status_free(st);
    return 1;
}
