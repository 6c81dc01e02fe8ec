/* tuner/search/search_evolve.c - evolutionary search over traces: a population of elites and fresh
 * samples is mutated for a few generations; the cost model says who has children and who is
 * proposed. What was seen before, in this session or in the database, is never proposed again.
 *
 *   elites + samples ─► score ─► parents (by rank) ─► mutate, replay ─► score … ─► best unseen
 *
 * Source: MetaSchedule's evolutionary search; differs in: parents are drawn by rank instead of by
 * raw score (one lucky outlier does not own the population), children never fill up with clones,
 * and a fixed share of proposals is random.
 */
#include <stdlib.h>

#include "tuner/search/search.h"

enum { POPULATION = 128, GENERATIONS = 3, ATTEMPTS = 4, MAX_POOL = POPULATION * (GENERATIONS + 2) };
#define RANDOM_SHARE 0.1
#define ELITE_SHARE 0.5

typedef struct pool {
    hone_tune_task *task;
    hone_costmodel *model;
    hone_rng rng;
    hone_candidate *items; /* all distinct, of this round */
    uint32_t count;
    hone_map128 *known; /* programs in items */
} pool;

/* Adds a candidate unless its program is in the pool already. */
static bool add(pool *p, const hone_candidate *candidate) {
    uint64_t where = 0;
    if (p->count == MAX_POOL || hone_map128_find(p->known, candidate->program, &where))
        return false;
    if (!hone_map128_put(p->known, candidate->program, p->count)) return false;
    p->items[p->count++] = *candidate;
    return true;
}

/* Replays; a refused candidate is no failure. */
static hone_status try_add(pool *p, int32_t sketch, const hone_decision *decisions,
                           bool *out_added) {
    hone_candidate candidate;
    *out_added = false;
    hone_rng rng = hone_rng_split(&p->rng, hone_rng_next(&p->rng));
    hone_status st =
        hone_tune_task_replay(p->task, sketch, decisions, rng, p->task->scratch, &candidate);
    if (!st) {
        *out_added = add(p, &candidate);
        return HONE_OK;
    }
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
        rows[i] = (hone_costmodel_rows){p->items[from + i].features, p->items[from + i].row_count};
    }
    HONE_TRY(hone_costmodel_score(p->model, &p->task->task->hash, rows, count, scores));
    for (uint32_t i = 0; i < count; i++)
        p->items[from + i].score = scores[i];
    return HONE_OK;
}

static hone_status first_population(pool *p) {
    bool added;
    uint32_t elites = (uint32_t)(POPULATION * ELITE_SHARE);
    for (uint32_t i = 0; i < p->task->elite_count && i < elites; i++) {
        const hone_elite *e = &p->task->elites[i];
        HONE_TRY(try_add(p, e->sketch, e->decisions, &added));
    }
    for (uint32_t i = 0; i < POPULATION * ATTEMPTS && p->count < POPULATION; i++) {
        int32_t sketch = (int32_t)hone_rng_below(&p->rng, p->task->space.count);
        HONE_TRY(try_add(p, sketch, NULL, &added));
    }
    return HONE_OK;
}

/* Best first; ties by program, so that the order is that of nothing but the candidates. */
static int by_score(const void *a, const void *b) {
    const hone_candidate *x = *(const hone_candidate *const *)a;
    const hone_candidate *y = *(const hone_candidate *const *)b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    if (x->program.hi != y->program.hi) return x->program.hi < y->program.hi ? -1 : 1;
    return x->program.lo < y->program.lo ? -1 : x->program.lo > y->program.lo;
}

static const hone_candidate **ranked(pool *p) {
    const hone_candidate **order =
        hone_arena_alloc(p->task->scratch, (p->count + 1) * sizeof *order);
    if (!order) return NULL;
    for (uint32_t i = 0; i < p->count; i++)
        order[i] = &p->items[i];
    qsort(order, p->count, sizeof *order, by_score);
    return order;
}

/* Rank r of n with a probability that falls linearly from the best to the last. */
static uint32_t draw_rank(hone_rng *rng, uint32_t n) {
    uint32_t a = (uint32_t)hone_rng_below(rng, n), b = (uint32_t)hone_rng_below(rng, n);
    return a < b ? a : b;
}

static hone_status next_generation(pool *p) {
    const hone_candidate **order = ranked(p);
    if (!order) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    uint32_t parents = p->count < POPULATION ? p->count : POPULATION;
    uint32_t from = p->count, made = 0;
    for (uint32_t i = 0; i < POPULATION * ATTEMPTS && made < POPULATION; i++) {
        const hone_candidate *parent = order[draw_rank(&p->rng, parents)];
        const hone_trace *sketch = &p->task->space.sketches[parent->sketch];
        hone_decision *child =
            hone_arena_alloc(p->task->scratch, (sketch->count + 1) * sizeof *child);
        if (!child) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
        if (!hone_mutate(sketch, parent->decisions, &p->rng, p->task->scratch, child)) continue;
        bool added;
        HONE_TRY(try_add(p, parent->sketch, child, &added));
        made += added;
    }
    return score(p, from);
}

typedef struct choice {
    hone_tune_task *task;
    hone_candidate *out;
    uint32_t count;
} choice;

static hone_status take_if_new(choice *c, const hone_candidate *candidate) {
    bool is_new;
    HONE_TRY(hone_tune_task_note_program(c->task, candidate->program, &is_new));
    if (is_new) c->out[c->count++] = *candidate;
    return HONE_OK;
}

static hone_status take_best(choice *c, const pool *p, const hone_candidate **order,
                             uint32_t count) {
    for (uint32_t i = 0; i < p->count && c->count < count; i++)
        HONE_TRY(take_if_new(c, order[i]));
    return HONE_OK;
}

/* Takes the best unseen ones, and a random share from all over the pool. */
static hone_status choose(pool *p, const hone_candidate **order, uint32_t count,
                          hone_candidate *out, uint32_t *out_count) {
    choice c = {.task = p->task, .out = out};
    uint32_t randoms = (uint32_t)(count * RANDOM_SHARE + hone_rng_uniform(&p->rng));
    HONE_TRY(take_best(&c, p, order, randoms < count ? count - randoms : 0));
    for (uint32_t i = 0; i < 8 * count && c.count < count && p->count; i++)
        HONE_TRY(take_if_new(&c, order[hone_rng_below(&p->rng, p->count)]));
    HONE_TRY(take_best(&c, p, order, count));
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

static hone_status run(pool *p, uint32_t generations, uint32_t count, hone_candidate *out,
                       uint32_t *out_count) {
    HONE_TRY(first_population(p));
    HONE_TRY(score(p, 0));
    for (uint32_t g = 0; g < generations && p->count; g++)
        HONE_TRY(next_generation(p));
    const hone_candidate **order = ranked(p);
    if (!order) return HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    HONE_TRY(choose(p, order, count, out, out_count));
    for (uint32_t i = 0; i < *out_count; i++)
        HONE_TRY(settle(p->task, &out[i]));
    return HONE_OK;
}

static hone_status propose(hone_tune_task *task, hone_costmodel *model, hone_rng rng,
                           uint32_t generations, uint32_t count, hone_candidate *out,
                           uint32_t *out_count) {
    *out_count = 0;
    if (task->space.count == 0) return HONE_OK;
    hone_arena_reset(task->scratch);
    hone_map128 known = {0};
    pool p = {.task = task, .model = model, .rng = rng, .known = &known};
    p.items = hone_arena_alloc(task->scratch, MAX_POOL * sizeof *p.items);
    hone_status st = p.items ? run(&p, generations, count, out, out_count)
                             : HONE_ERROR(HONE_CODE_NO_MEMORY, "search");
    hone_map128_deinit(&known);
    return st;
}

static hone_status evolve(hone_tune_task *task, hone_costmodel *model, hone_rng rng, uint32_t count,
                          hone_candidate *out, uint32_t *out_count) {
    return propose(task, model, rng, GENERATIONS, count, out, out_count);
}

const hone_strategy hone_strategy_evolutionary = {.propose = evolve};
