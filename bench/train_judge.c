/* bench/train_judge.c - see train_judge.h. */
#include "bench/train_judge.h"

#include "costmodel/feature.h"
#include "costmodel/tree_company.h"

enum { OWN_DEPTH = 5, OWN_ROUNDS = 160 };
#define UNLIKE 1.05

static double ask(const tree_forest *forest, const train_trial *s) {
    return tree_forest_rows(forest, s->rows, s->of.rows.row_count, hone_feature_count());
}

double train_score(const train_knowledge *k, const train_trial *s) {
    return nearby_score(k->near, &s->of.group, &s->of.rows, hone_feature_count(), ask(k->prior, s),
                        ask(k->own, s));
}

hone_status train_learn(const train_history *samples, train_knowledge *io) {
    const tree_train_options options = {.columns = hone_feature_count(),
                                        .seed = 1,
                                        .max_depth = OWN_DEPTH,
                                        .max_rounds = OWN_ROUNDS,
                                        .prior = io->prior};
    HONE_TRY(tree_company_train(samples, &options, &io->own));
    return nearby_make(samples, hone_feature_count(), io->prior, io->own, &io->near);
}

void train_knowledge_deinit(train_knowledge *k) {
    tree_forest_release(k->own);
    nearby_release(k->near);
    k->own = NULL;
    k->near = NULL;
}

train_pairs_right train_judge_pairs(const train_judged *all, size_t count) {
    train_pairs_right sum = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (all[i].time_ns * UNLIKE > all[j].time_ns) continue;
            sum.right += all[i].score > all[j].score ? 1 : all[i].score < all[j].score ? 0 : 0.5;
            sum.pairs += 1;
        }
    }
    return sum;
}

size_t train_rank_of(const train_judged *all, size_t count, size_t at, bool by_time) {
    size_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank += by_time ? all[i].time_ns < all[at].time_ns : all[i].score > all[at].score;
    return rank;
}

size_t train_found(const train_judged *all, size_t count, size_t best, size_t among) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += train_rank_of(all, count, i, true) < best &&
                 train_rank_of(all, count, i, false) < among;
    }
    return found;
}
