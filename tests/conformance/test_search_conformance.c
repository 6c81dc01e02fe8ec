/* tests/conformance/test_search_conformance.c - what every search strategy must do; each case runs
 * on each row of tuner/search/strategies.def. */
#include <math.h>
#include <stdio.h>

#include "tests/support/hone_test.h"
#include "tests/tuner/tune_world.h"
#include "tuner/search/search.h"

static const char *const strategies[] = {
#define HONE_STRATEGY(name) #name,
#include "tuner/search/strategies.def"
#undef HONE_STRATEGY
};

enum { BATCH = 8, ROUNDS = 4, MOST = BATCH * ROUNDS };

/* A task with its cost model, before anything was proposed. */
typedef struct world {
    tune_world tuning;
    hone_target target;
    hone_tune_task *task;
    hone_costmodel *model;
    const hone_strategy *strategy;
    hone_candidate found[MOST];
    uint32_t count;
} world;

static void open_world(world *w, const char *strategy, uint32_t task, int32_t threads) {
    *w = (world){0};
    tune_world_open(&w->tuning);
    w->target = w->tuning.options.target;
    w->target.num_threads = threads;
    hone_costmodel_options options = {.feature_count = hone_feature_count(), .seed = 3};
    HONE_ASSERT_OK(hone_costmodel_create("random", &options, &w->model));
    HONE_ASSERT_OK(hone_tune_task_create(&w->tuning.tasks.items[task], &w->target,
                                         &(hone_tune_task_options){0}, &w->task));
    w->task->evaluations = 192; /* the default takes longer */
    HONE_ASSERT_OK(hone_strategy_find(strategy, &w->strategy));
}

static void close_world(world *w) {
    hone_tune_task_destroy(w->task);
    hone_costmodel_destroy(w->model);
    tune_world_close(&w->tuning);
}

/* One batch, behind those that were found before. */
static uint32_t propose(world *w, uint64_t seed) {
    uint32_t count = MOST;
    assert_true(w->count + BATCH <= MOST);
    HONE_ASSERT_OK(w->strategy->propose(w->task, w->model, hone_test_rng(seed), BATCH,
                                        w->found + w->count, &count));
    assert_in_range(count, 0, BATCH);
    w->count += count;
    w->task->proposals += count;
    return count;
}

static void assert_all_differ(const world *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 0; k < i; k++)
            assert_false(hone_hash128_equal(w->found[i].program, w->found[k].program));
    }
}

/* ---- cases ---- */

static void proposes_what_was_not_seen(const char *strategy) {
    world w;
    open_world(&w, strategy, 0, 2);
    for (uint64_t round = 0; round < ROUNDS; round++)
        assert_int_equal(propose(&w, round), BATCH); /* there are many */
    assert_all_differ(&w);
    close_world(&w);
}

static void proposals_can_be_replayed(const char *strategy) {
    world w;
    open_world(&w, strategy, 0, 2);
    propose(&w, 1);
    for (uint32_t i = 0; i < w.count; i++) {
        hone_candidate again, *c = &w.found[i];
        assert_non_null(c->trace);
        assert_true(c->row_count > 0);
        HONE_ASSERT_OK(hone_tune_task_replay(w.task, c->sketch, c->decisions, hone_test_rng(9),
                                             w.task->arena, &again));
        assert_true(hone_hash128_equal(again.program, c->program));
    }
    close_world(&w);
}

/* What was folded and the numbers that are drawn are all that it depends on. */
static void same_history_same_proposals(const char *strategy) {
    world a, b;
    open_world(&a, strategy, 0, 2);
    open_world(&b, strategy, 0, 2);
    world *both[] = {&a, &b};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 2; k++) {
            uint32_t from = both[k]->count;
            propose(both[k], round);
            for (uint32_t i = from; i < both[k]->count; i++)
                hone_tune_task_fold(both[k]->task, &both[k]->found[i], 100 + (i * 7) % 13);
        }
    }
    assert_int_equal(a.count, b.count);
    for (uint32_t i = 0; i < a.count; i++)
        assert_true(hone_hash128_equal(a.found[i].program, b.found[i].program));
    close_world(&a);
    close_world(&b);
}

static void goes_on_when_all_fails(const char *strategy) {
    world w;
    open_world(&w, strategy, 0, 2);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint32_t from = w.count;
        assert_int_equal(propose(&w, round), BATCH);
        for (uint32_t i = from; i < w.count; i++)
            hone_tune_task_fold(w.task, &w.found[i], NAN);
    }
    assert_all_differ(&w);
    close_world(&w);
}

/* A loop for one thread leaves next to nothing to decide. */
static void ends_when_there_is_nothing_new(const char *strategy) {
    world w;
    open_world(&w, strategy, 1, 1);
    uint32_t round = 0;
    while (round < ROUNDS && propose(&w, round) > 0)
        round++;
    assert_true(round < ROUNDS);
    assert_all_differ(&w);
    close_world(&w);
}

/* ---- each case on each strategy ---- */

#define CASE(function)                                                                             \
    { #function, function }
static const struct {
    const char *name;
    void (*run)(const char *strategy);
} cases[] = {
    CASE(proposes_what_was_not_seen),     CASE(proposals_can_be_replayed),
    CASE(same_history_same_proposals),    CASE(goes_on_when_all_fails),
    CASE(ends_when_there_is_nothing_new),
};

enum { STRATEGIES = HONE_COUNT(strategies), CASES = HONE_COUNT(cases) };

typedef struct row {
    char name[96];
    int strategy, which;
} row;

static void run_case(void **state) {
    const row *r = *state;
    cases[r->which].run(strategies[r->strategy]);
}

static void unknown_names_are_refused(void **state) {
    (void)state;
    const hone_strategy *found;
    HONE_ASSERT_ERROR(hone_strategy_find("best", &found), HONE_CODE_INVALID,
                      "unknown strategy 'best'; expected evolutionary, random or replay");
    assert_null(found);
}

int main(void) {
    static row rows[STRATEGIES * CASES];
    struct CMUnitTest tests[STRATEGIES * CASES + 1] = {cmocka_unit_test(unknown_names_are_refused)};
    for (int i = 0; i < STRATEGIES * CASES; i++) {
        rows[i] = (row){.strategy = i / CASES, .which = i % CASES};
        snprintf(rows[i].name, sizeof rows[i].name, "%s: %s", strategies[i / CASES],
                 cases[i % CASES].name);
        tests[i + 1] = (struct CMUnitTest){
            .name = rows[i].name, .test_func = run_case, .initial_state = &rows[i]};
    }
    return cmocka_run_group_tests_name("search conformance", tests, NULL, NULL);
}
