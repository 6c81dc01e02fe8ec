/* tuner/search/search_evolve.c - evolutionary search over traces: elites and fresh samples are the
 * first generation; the cost model says who has children and who is proposed. What was seen before,
 * in this session or in the database, is never proposed again.
 *
 *   elites + samples ─► score ─► parents (by rank) ─► mutate, replay ─► score … ─┐
 *     dealt to islands             of the island; in the last generation of all   ├─► best unseen
 *   the fastest that were measured ─► one step from each ─► score ────────────────┘
 *
 * A round evaluates (replays and scores) so many candidates, whatever they come to: it takes as
 * long for a hard task as for an easy one, and depends on no clock. Islands keep a lucky one of the
 * model's favourites from owning the population before others were looked at. Mutators whose
 * children are better than their parents, says the model, are tried more often (mutate.c).
 *
 * A fifth of the candidates looks like another one: other decisions, the same rows of features
 * (loops of one iteration in other places, say). They cost a trial each and say the same, so few of
 * each looks are kept and proposed as long as there are others. And part of each batch are
 * neighbours of what was fastest when measured, whatever the model thinks of that. Another part are
 * those that may be the best: their score and what they may be better, for they are unlike all that
 * was measured.
 *
 * Source: MetaSchedule's evolutionary search; differs in: islands; parents are drawn by rank
 * instead of by raw score (one lucky outlier does not own the population), children never fill up
 * with clones, and a fixed share of proposals is random.
 */
#include <math.h>
#include <stdlib.h>

#include "tuner/search/search.h"

enum {
    ISLANDS = 4,
    NEIGHBOURS = ISLANDS, /* where those of the fastest live; nobody moves there */
    ALL_ISLANDS,
    SPARES, /* those that look like enough others, on no island: nobody's parents */
    GENERATIONS = 6,
    NO_MUTATOR = HONE_MUTATORS,
    MOST_ALIKE = 2, /* of the same looks in a round, and of all proposals */
    CLIMBED = 8     /* of the fastest, whose neighbours are looked at */
};
#define RANDOM_SHARE 0.1
#define NEIGHBOUR_SHARE 0.25       /* of a batch */
#define HOPEFUL_SHARE 0.25         /* of a batch */
#define HOPE 2.0                   /* so much of its doubt a candidate may be better */
#define NEIGHBOUR_EVALUATIONS 0.12 /* of the evaluations */
#define FIRST_SHARE 0.25 /* of the evaluations, for the first generation; half of it elites */

typedef struct member {
    hone_candidate candidate;
    uint32_t island, mutator;
    float parent_score;
    float hope; /* the score that it may have at best; set when proposals are chosen */
} member;

typedef struct pool {
    hone_tune_task *task;
    hone_costmodel *model;
    hone_rng rng;
    hone_kin kin;
    member *items;        /* all distinct, of this round */
    uint32_t count, left; /* left: evaluations */
    hone_map128 *known;   /* programs in items */
    hone_map128 *looks;   /* how many of items look so */
} pool;

/* Adds a member unless its program is in the pool already; a spare where enough look like it. */
static hone_status add(pool *p, const member *m) {
    const hone_candidate *c = &m->candidate;
    uint64_t alike;
    if (hone_map128_find(p->known, c->program, NULL)) return HONE_OK;
    hone_map128_find(p->looks, c->looks, &alike);
    if (!hone_map128_put(p->known, c->program, 0) ||
        !hone_map128_put(p->looks, c->looks, alike + 1)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    }
    member *added = &p->items[p->count++];
    *added = *m;
    if (alike >= MOST_ALIKE) added->island = SPARES;
    return HONE_OK;
}

/* Replays; a refused candidate is no failure. Whether it came in is seen by the count. */
static hone_status evaluate(pool *p, const hone_draft *draft, member m) {
    hone_rng rng = hone_rng_split(&p->rng, hone_rng_next(&p->rng));
    p->left--;
    hone_status st = hone_tune_task_replay(p->task, draft->sketch, draft->decisions, rng,
                                           p->task->scratch, &m.candidate);
    if (!st) return add(p, &m);
    hone_code code = hone_status_code(st);
    if (code != HONE_CODE_ILLEGAL && code != HONE_CODE_INVALID) return st;
    hone_status_free(st);
    return HONE_OK;
}

static hone_status score(pool *p, uint32_t from) {
    uint32_t count = p->count - from;
    if (count == 0) return HONE_OK;
    hone_costmodel_rows *rows = hone_arena_alloc(p->task->scratch, count * sizeof *rows);
    float *scores = hone_arena_alloc(p->task->scratch, count * sizeof *scores);
    if (!rows || !scores) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    for (uint32_t i = 0; i < count; i++) {
        const hone_candidate *c = &p->items[from + i].candidate;
        rows[i] = (hone_costmodel_rows){c->features, c->row_count};
    }
    HONE_TRY(hone_costmodel_score(p->model, &p->task->task->hash, rows, count, scores));
    for (uint32_t i = 0; i < count; i++)
        p->items[from + i].candidate.score = scores[i];
    return HONE_OK;
}

static hone_status first_generation(pool *p) {
    uint32_t room = (uint32_t)(p->left * FIRST_SHARE), until = p->left - room;
    uint32_t elites = p->task->elite_count < room / 2 ? p->task->elite_count : room / 2;
    for (uint32_t i = 0; i < elites; i++) {
        const hone_elite *e = &p->task->elites[i];
        hone_draft draft = {e->sketch, e->decisions};
        HONE_TRY(evaluate(p, &draft, (member){.island = i % ISLANDS, .mutator = NO_MUTATOR}));
    }
    while (p->left > until) {
        hone_draft draft = {(int32_t)hone_rng_below(&p->rng, p->task->space.count), NULL};
        member m = {.island = p->left % ISLANDS, .mutator = NO_MUTATOR};
        HONE_TRY(evaluate(p, &draft, m));
    }
    return score(p, 0);
}

/* Best first; ties by program, so that the order is that of nothing but the candidates. */
static int by_score(const void *a, const void *b) {
    const hone_candidate *x = &(*(const member *const *)a)->candidate;
    const hone_candidate *y = &(*(const member *const *)b)->candidate;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    if (x->program.hi != y->program.hi) return x->program.hi < y->program.hi ? -1 : 1;
    return x->program.lo < y->program.lo ? -1 : x->program.lo > y->program.lo;
}

static int by_hope(const void *a, const void *b) {
    float x = (*(const member *const *)a)->hope, y = (*(const member *const *)b)->hope;
    return x != y ? (x < y) - (x > y) : by_score(a, b);
}

static bool lives_on(const member *m, uint32_t island) {
    return island == ALL_ISLANDS ? m->island < ALL_ISLANDS : m->island == island;
}

/* The members of an island (or the spares), best first; NULL: no memory. */
static const member **ranked(pool *p, uint32_t island, uint32_t *out_count) {
    const member **order = hone_arena_alloc(p->task->scratch, (p->count + 1) * sizeof *order);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count && order; i++) {
        if (lives_on(&p->items[i], island)) order[count++] = &p->items[i];
    }
    if (order) qsort(order, count, sizeof *order, by_score);
    *out_count = count;
    return order;
}

/* Rank r of n with a probability that falls linearly from the best to the last. */
static uint32_t draw_rank(hone_rng *rng, uint32_t n) {
    uint32_t a = (uint32_t)hone_rng_below(rng, n), b = (uint32_t)hone_rng_below(rng, n);
    return a < b ? a : b;
}

/* One child, of a parent with this score. */
static hone_status bear(pool *p, const hone_draft *parent, float parent_score, uint32_t island) {
    hone_child child;
    if (!hone_mutate(&p->kin, parent, &p->rng, p->task->scratch, &child)) {
        p->left--;
        return HONE_OK;
    }
    return evaluate(
        p, &child.draft,
        (member){.island = island, .mutator = child.mutator, .parent_score = parent_score});
}

/* So many children; as many of the best as there are children to have may be parents. */
static hone_status breed(pool *p, uint32_t island, uint32_t children) {
    uint32_t count;
    const member **order = ranked(p, island, &count);
    if (!order) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    uint32_t parents = count < children ? count : children;
    for (uint32_t i = 0; i < children && parents; i++) {
        const member *parent = order[draw_rank(&p->rng, parents)];
        hone_draft draft = {parent->candidate.sketch, parent->candidate.decisions};
        uint32_t home = parent->island == NEIGHBOURS ? 0 : parent->island;
        HONE_TRY(bear(p, &draft, parent->candidate.score, home));
    }
    return HONE_OK;
}

static void note_mutators(pool *p, uint32_t from) {
    for (uint32_t i = from; i < p->count; i++) {
        const member *m = &p->items[i];
        if (m->island == SPARES) continue;
        hone_mutate_note(p->task->mutators, m->mutator, m->candidate.score > m->parent_score);
    }
}

static hone_status next_generation(pool *p, uint32_t generation) {
    uint32_t from = p->count, share = p->left / (GENERATIONS - generation);
    bool is_last = generation + 1 == GENERATIONS;
    for (uint32_t k = 0; k < (is_last ? 1 : ISLANDS); k++)
        HONE_TRY(breed(p, is_last ? ALL_ISLANDS : k, is_last ? share : share / ISLANDS));
    HONE_TRY(score(p, from));
    note_mutators(p, from);
    return HONE_OK;
}

/* Some of the fastest that do not look alike, the fastest first. */
static uint32_t climbers(const hone_tune_task *task, const hone_elite **out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->elite_count && count < CLIMBED; i++) {
        bool is_alike = isinf(task->elites[i].time_ns); /* advice: it was not measured here */
        for (uint32_t k = 0; k < count && !is_alike; k++)
            is_alike = hone_hash128_equal(out[k]->looks, task->elites[i].looks);
        if (!is_alike) out[count++] = &task->elites[i];
    }
    return count;
}

/* Single steps from what was fastest when it was measured. */
static hone_status climb(pool *p, uint32_t steps) {
    const hone_elite *of[CLIMBED];
    uint32_t count = climbers(p->task, of), from = p->count;
    for (uint32_t i = 0; i < steps && count; i++) {
        const hone_elite *elite = of[draw_rank(&p->rng, count)];
        hone_draft draft = {elite->sketch, elite->decisions};
        HONE_TRY(bear(p, &draft, 0, NEIGHBOURS));
    }
    return score(p, from);
}

typedef struct choice {
    hone_tune_task *task;
    hone_candidate *out;
    uint32_t count;
} choice;

static uint64_t alike(const choice *c, hone_hash128 looks) {
    uint64_t count = hone_tune_task_alike(c->task, looks);
    for (uint32_t i = 0; i < c->count; i++)
        count += hone_hash128_equal(c->out[i].looks, looks);
    return count;
}

static hone_status take_if_new(choice *c, const hone_candidate *candidate, uint64_t most_alike) {
    bool is_new;
    if (alike(c, candidate->looks) >= most_alike) return HONE_OK;
    HONE_TRY(hone_tune_task_note_program(c->task, candidate->program, &is_new));
    if (is_new) c->out[c->count++] = *candidate;
    return HONE_OK;
}

static hone_status take_best(choice *c, const member **order, uint32_t from, uint32_t count,
                             uint64_t most_alike) {
    for (uint32_t i = 0; i < from && c->count < count; i++)
        HONE_TRY(take_if_new(c, &order[i]->candidate, most_alike));
    return HONE_OK;
}

/* The members of all islands, first those that may be the best, by what is known too little of. */
static hone_status hopeful(pool *p, const member ***out_order, uint32_t *out_count) {
    const member **order = *out_order = ranked(p, ALL_ISLANDS, out_count);
    hone_costmodel_rows *rows = hone_arena_alloc(p->task->scratch, (p->count + 1) * sizeof *rows);
    float *doubts = hone_arena_alloc(p->task->scratch, (p->count + 1) * sizeof *doubts);
    if (!order || !rows || !doubts) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    for (uint32_t i = 0; i < p->count; i++) {
        const hone_candidate *c = &p->items[i].candidate;
        rows[i] = (hone_costmodel_rows){c->features, c->row_count};
    }
    HONE_TRY(hone_costmodel_doubt(p->model, &p->task->task->hash, rows, p->count, doubts));
    for (uint32_t i = 0; i < p->count; i++)
        p->items[i].hope = p->items[i].candidate.score + (float)HOPE * doubts[i];
    qsort(order, *out_count, sizeof *order, by_hope);
    return HONE_OK;
}

/* Takes the best neighbours, those that may be the best, the best unseen ones, and a random share
 * from all over the pool. */
static hone_status choose(pool *p, uint32_t count, hone_candidate *out, uint32_t *out_count) {
    choice c = {.task = p->task, .out = out};
    uint32_t all, near, left;
    const member **hoped, **order = ranked(p, ALL_ISLANDS, &all),
                          **nearest = ranked(p, NEIGHBOURS, &near);
    const member **spares = ranked(p, SPARES, &left);
    if (!order || !nearest || !spares) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    HONE_TRY(hopeful(p, &hoped, &all));
    uint32_t randoms = (uint32_t)(count * RANDOM_SHARE + hone_rng_uniform(&p->rng));
    uint32_t sure = randoms < count ? count - randoms : 0;
    HONE_TRY(take_best(&c, nearest, near, (uint32_t)(sure * NEIGHBOUR_SHARE + 0.5), MOST_ALIKE));
    HONE_TRY(
        take_best(&c, hoped, all, c.count + (uint32_t)(sure * HOPEFUL_SHARE + 0.5), MOST_ALIKE));
    HONE_TRY(take_best(&c, order, all, sure, MOST_ALIKE));
    for (uint32_t i = 0; i < 8 * count && c.count < count && all; i++) {
        const member *any = order[hone_rng_below(&p->rng, all)];
        HONE_TRY(take_if_new(&c, &any->candidate, MOST_ALIKE));
    }
    HONE_TRY(take_best(&c, order, all, count, MOST_ALIKE));
    HONE_TRY(take_best(&c, order, all, count, UINT64_MAX)); /* there is nothing else */
    HONE_TRY(take_best(&c, spares, left, count, UINT64_MAX));
    *out_count = c.count;
    return HONE_OK;
}

/* Copies what outlives the round. */
static hone_status settle(hone_tune_task *task, hone_candidate *c) {
    hone_rng unused = hone_rng_from_seed(0);
    float score_kept = c->score;
    HONE_TRY(hone_tune_task_replay(task, c->sketch, c->decisions, unused, task->arena, c));
    c->score = score_kept;
    return hone_tune_task_trace(task, task->arena, &c->trace);
}

static hone_status run(pool *p, uint32_t count, hone_candidate *out, uint32_t *out_count) {
    HONE_TRY(first_generation(p));
    HONE_TRY(climb(p, (uint32_t)(p->task->evaluations * NEIGHBOUR_EVALUATIONS)));
    for (uint32_t g = 0; g < GENERATIONS && p->count; g++)
        HONE_TRY(next_generation(p, g));
    HONE_TRY(choose(p, count, out, out_count));
    for (uint32_t i = 0; i < *out_count; i++)
        HONE_TRY(settle(p->task, &out[i]));
    return HONE_OK;
}

/* The elites of the task and of its siblings. */
static hone_status gather_kin(pool *p) {
    hone_tune_task *task = p->task;
    uint32_t count = 0;
    for (uint32_t t = 0; t < task->sibling_count; t++)
        count += task->siblings[t]->elite_count;
    hone_relative *relatives = hone_arena_alloc(task->scratch, (count + 1) * sizeof *relatives);
    if (!relatives) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    p->kin = (hone_kin){&task->space, relatives, count, task->mutators};
    for (uint32_t t = 0; t < task->sibling_count; t++) {
        const hone_tune_task *sibling = task->siblings[t];
        for (uint32_t i = 0; i < sibling->elite_count; i++) {
            const hone_elite *e = &sibling->elites[i];
            *relatives++ = (hone_relative){&sibling->space.sketches[e->sketch], e->decisions};
        }
    }
    return HONE_OK;
}

static hone_status evolve(hone_tune_task *task, hone_costmodel *model, hone_rng rng, uint32_t count,
                          hone_candidate *out, uint32_t *out_count) {
    *out_count = 0;
    if (task->space.count == 0) return HONE_OK;
    hone_arena_reset(task->scratch);
    hone_map128 known = {0}, looks = {0};
    pool p = {.task = task,
              .model = model,
              .rng = rng,
              .left = task->evaluations,
              .known = &known,
              .looks = &looks};
    p.items = hone_arena_alloc(task->scratch, p.left * sizeof *p.items);
    hone_status st = p.items ? gather_kin(&p) : HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    if (!st) st = hone_tune_task_keep_openings(task);
    if (!st) st = run(&p, count, out, out_count);
    hone_map128_deinit(&known);
    hone_map128_deinit(&looks);
    hone_status dropped = hone_tune_task_drop_openings(task);
    return st ? hone_status_join(st, dropped) : dropped;
}

const hone_strategy hone_strategy_evolutionary = {.takes_advice = true, .propose = evolve};
