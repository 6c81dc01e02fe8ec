/* tests/tuner/test_tune_loop.c - the tuning loop over a simulated device: budgets, determinism,
 * resume, stops, failures, spaces. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <string.h>

#include "graph/passes/prepare.h"
#include "ir/text/read/script.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/tuner/tune_world.h"

static bool has_duplicates(const tune_trials *t) {
    for (size_t i = 0; i < t->programs.count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (hone_hash128_equal(t->programs.data[i], t->programs.data[k])) return true;
        }
    }
    return false;
}

/* ---- tests ---- */

static void budget_is_kept_and_nothing_is_tried_twice(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    tune_trials all;
    tune_trials_list(&w, NULL, &all);
    assert_int_equal(result.trials, 40);
    assert_int_equal(all.programs.count, 40);
    assert_false(has_duplicates(&all));
    assert_int_equal(result.task_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(result.tasks[i].trials > 0);
        assert_true(result.tasks[i].best_ns <= result.tasks[i].before_ns);
    }
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void same_seed_gives_the_same_trials(void **state) {
    (void)state;
    tune_trials runs[3];
    for (int i = 0; i < 3; i++) {
        tune_world w;
        tune_world_open(&w);
        w.options.seed = i == 2 ? 8 : 7;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        tune_trials_list(&w, NULL, &runs[i]);
        hone_tune_result_deinit(&result);
        tune_world_close(&w);
    }
    size_t bytes = runs[0].programs.count * sizeof(hone_hash128);
    assert_int_equal(runs[0].programs.count, runs[1].programs.count);
    assert_memory_equal(runs[0].programs.data, runs[1].programs.data, bytes);
    assert_memory_not_equal(runs[0].programs.data, runs[2].programs.data, bytes);
    for (int i = 0; i < 3; i++)
        hone_vec_deinit(&runs[i].programs);
}

/* What is proposed depends on the look-ahead, not on how many devices there are or who answers
 * first. */
static void devices_do_not_matter(void **state) {
    (void)state;
    static const struct {
        int32_t slots, look_ahead;
        bool is_uneven;
    } runs[] = {
        {1,  24, false},
        {3,  24, true },
        {60, 24, true },
        {3,  16, true }
    };
    enum { RUNS = sizeof runs / sizeof runs[0] };
    uint64_t fingerprints[RUNS];
    for (int i = 0; i < RUNS; i++) {
        tune_world w;
        tune_world_open(&w);
        w.is_uneven = runs[i].is_uneven;
        w.options.trials = 120;
        w.options.evaluations = 64;
        w.options.look_ahead = runs[i].look_ahead;
        hone_runner_destroy(w.runner);
        hone_runner_simulated_options options = {.slots = runs[i].slots};
        HONE_ASSERT_OK(hone_runner_create_simulated(&options, &w.runner));
        w.options.runner = w.runner;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        tune_trials all;
        tune_trials_list(&w, NULL, &all);
        assert_int_equal(all.programs.count, 120);
        fingerprints[i] = all.fingerprint;
        hone_vec_deinit(&all.programs);
        hone_tune_result_deinit(&result);
        tune_world_close(&w);
    }
    assert_true(fingerprints[1] == fingerprints[0]);
    assert_true(fingerprints[2] == fingerprints[0]);
    assert_true(fingerprints[3] != fingerprints[0]); /* another look-ahead is another run */
}

/* How far a search looks is part of what decides. */
static void evaluations_decide(void **state) {
    (void)state;
    uint64_t fingerprints[2];
    for (int i = 0; i < 2; i++) {
        tune_world w;
        tune_world_open(&w);
        w.options.evaluations = 64 + 64 * i;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        tune_trials all;
        tune_trials_list(&w, NULL, &all);
        fingerprints[i] = all.fingerprint;
        hone_vec_deinit(&all.programs);
        hone_tune_result_deinit(&result);
        tune_world_close(&w);
    }
    assert_true(fingerprints[0] != fingerprints[1]);
}

/* What is still to gain is said when there were trials enough, and is a share. */
static void says_what_is_still_to_gain(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    hone_tune_result result;
    w.options.trials = 8;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_true(isnan(result.tasks[0].still_to_gain)); /* too few */
    hone_tune_result_deinit(&result);
    w.options.trials = 120;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    for (uint32_t i = 0; i < result.task_count; i++) {
        double gain = result.tasks[i].still_to_gain;
        assert_true(gain >= 0 && gain < 1);
    }
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void look_ahead_is_kept_and_checked(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    hone_tune_result result;
    w.options.look_ahead = 7;
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_INVALID, "look-ahead");
    hone_tune_result_deinit(&result);
    w.options.strategy = "random";
    w.options.look_ahead = 8; /* nobody thinks while somebody works */
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* Times of a confirmation are told by their ratio to another one, so the last digits differ. */
static void assert_no_worse(const hone_tune_task_result *first,
                            const hone_tune_task_result *second) {
    assert_true(second->best_ns <= first->best_ns * (1 + 1e-9));
    assert_true(fabs(second->before_ns / first->before_ns - 1) < 1e-9);
}

static void second_run_goes_on(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    hone_tune_result first, second;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &first));
    w.options.seed = 99;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &second));
    tune_trials all;
    tune_trials_list(&w, NULL, &all);
    assert_int_equal(all.programs.count, 80);
    assert_false(has_duplicates(&all));
    int64_t known = 0;
    for (uint32_t i = 0; i < second.task_count; i++) {
        known += second.tasks[i].known_trials;
        assert_no_worse(&first.tasks[i], &second.tasks[i]);
    }
    assert_int_equal(known, 40);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&first);
    hone_tune_result_deinit(&second);
    tune_world_close(&w);
}

/* Times that were taken with caches in another state are no times of this session's: what was tried
 * then is tried again. */
static void other_states_are_not_compared(void **state) {
    (void)state;
    static const struct {
        hone_cache_state cache;
        int64_t footprint_bytes, known;
        bool is_here; /* what the machine can do stands there, too, and makes no difference */
    } runs[] = {
        {HONE_CACHE_HOT,   0,   0,  false},
        {HONE_CACHE_COLD,  0,   0,  true },
        {HONE_CACHE_MODEL, 100, 0,  false},
        {HONE_CACHE_MODEL, 200, 0,  true },
        {HONE_CACHE_HOT,   0,   12, true },
        {HONE_CACHE_MODEL, 100, 12, true },
        {HONE_CACHE_COLD,  0,   12, false},
        {HONE_CACHE_HOT,   0,   24, true }
    };
    tune_world w;
    tune_world_open(&w);
    w.options.trials = 12;
    for (size_t i = 0; i < HONE_COUNT(runs); i++) {
        hone_tune_result result;
        int64_t known = 0;
        w.options.seed = 7 + i / 4;
        w.options.cache = runs[i].cache;
        w.options.is_here = runs[i].is_here;
        w.tasks.footprint_bytes = runs[i].footprint_bytes;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        assert_int_equal(result.trials, 12);
        for (uint32_t k = 0; k < result.task_count; k++)
            known += result.tasks[k].known_trials;
        assert_int_equal(known, runs[i].known);
        hone_tune_result_deinit(&result);
    }
    tune_world_close(&w);
}

/* Failures that came after the first run, more than a second one reads. */
static void add_failures(tune_world *w, const hone_tune_result *first, int count) {
    hone_db_trial *batch = hone_calloc((size_t)count, sizeof *batch);
    assert_non_null(batch);
    for (int i = 0; i < count; i++) {
        batch[i] = (hone_db_trial){
            .session = first->session,
            .workload = first->tasks[0].workload,
            .target = hone_target_hash(&w->options.target),
            .proposal = 1000 + i,
            .trace = "[[], []]",
            .program = {.lo = (uint64_t)i, .hi = 99},
            .outcome = "run_crash",
            .median_ns = NAN,
            .confirmed_ns = NAN
        };
    }
    HONE_ASSERT_OK(hone_db_commit_trials(w->db, batch, (size_t)count));
    hone_free(batch);
}

/* Of very many trials some are read: the default schedule and the fastest are among them, and no
 * program is tried again. */
static void second_run_goes_on_from_very_many(void **state) {
    (void)state;
    enum { MANY = 13000, FEW = 2 }; /* too few to find anything good again */
    tune_world w;
    tune_world_open(&w);
    hone_tune_result first, second;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &first));
    add_failures(&w, &first, MANY);
    w.options.seed = 99;
    w.options.trials = FEW;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &second));
    tune_trials mine, theirs;
    tune_trials_list(&w, second.session, &mine);
    tune_trials_list(&w, first.session, &theirs);
    assert_int_equal(mine.programs.count, FEW);
    for (size_t i = 0; i < FEW * 40; i++) { /* the failures come after the first 40 */
        assert_false(hone_hash128_equal(mine.programs.data[i / 40], theirs.programs.data[i % 40]));
    }
    hone_vec_deinit(&mine.programs);
    hone_vec_deinit(&theirs.programs);
    int64_t known = 0;
    for (uint32_t i = 0; i < second.task_count; i++) {
        known += second.tasks[i].known_trials;
        assert_no_worse(&first.tasks[i], &second.tasks[i]);
    }
    assert_int_equal(known, 40 + MANY);
    hone_tune_result_deinit(&first);
    hone_tune_result_deinit(&second);
    tune_world_close(&w);
}

static void stop_drains_and_keeps_everything(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    w.stop_after = 10;
    w.options.trials = 1000;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    tune_trials all;
    tune_trials_list(&w, result.session, &all);
    assert_true(result.was_stopped);
    assert_true(result.trials >= 10 && result.trials <= 10 + 3 * 8);
    assert_int_equal(all.programs.count, result.trials);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void failures_are_recorded_and_tuning_goes_on(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    w.fail_every = 3;
    w.fail_as = HONE_FAILURE_RUN_CRASH;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    tune_trials all;
    tune_trials_list(&w, NULL, &all);
    assert_int_equal(result.trials, 40);
    assert_int_equal(all.failed, result.failed);
    assert_int_equal(all.failed, 13);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* What a device does is not held against candidates, and takes nothing from the budget. */
static void faults_of_devices_are_not_recorded(void **state) {
    (void)state;
    for (int every = 2; every <= 5; every++) {
        tune_world w;
        tune_world_open(&w);
        w.fail_every = every;
        w.fail_as = every == 3 ? HONE_FAILURE_CANCELLED : HONE_FAILURE_DEVICE_LOST;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        tune_trials all;
        tune_trials_list(&w, NULL, &all);
        assert_int_equal(result.trials, 40);
        assert_int_equal(all.ok, 40);
        assert_int_equal(all.failed, 0);
        assert_false(result.was_stopped);
        assert_true(result.tasks[0].before_ns > 0); /* the default schedule, too */
        hone_vec_deinit(&all.programs);
        hone_tune_result_deinit(&result);
        tune_world_close(&w);
    }
}

/* A device that does nothing right ends the run, with its word; mended, the same command does all
 * that it would have done at first. */
static void a_broken_device_ends_it_and_nothing_is_lost(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    w.fail_every = 1;
    w.fail_as = HONE_FAILURE_DEVICE_LOST;
    hone_tune_result result;
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_UNAVAILABLE,
                      "simulated device_lost");
    hone_tune_result_deinit(&result);
    tune_trials all;
    tune_trials_list(&w, NULL, &all);
    assert_int_equal(all.ok + all.failed, 0);
    hone_vec_deinit(&all.programs);
    w.fail_every = 0;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    assert_true(result.tasks[0].before_ns > 0);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void a_broken_builder_ends_it(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    hone_builder_release(w.builder);
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_MACHINE_ERROR, &w.builder));
    w.options.builder = w.builder;
    hone_tune_result result;
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_UNAVAILABLE,
                      "through no fault of theirs");
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* Databases have such rows from earlier versions: their programs are tried. */
static void recorded_faults_are_forgotten(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    w.options.trials = 8;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    const hone_hash128 target = hone_target_hash(&w.options.target);
    for (uint64_t i = 0; i < 3; i++) {
        int64_t record;
        hone_db_trial lost = {
            .session = result.session,
            .workload = w.tasks.items[0].hash,
            .target = target,
            .proposal = 100 + (int64_t)i,
            .sketch = -1,
            .program = {i + 1, i},
            .trace = "[[], []]",
            .outcome = "device_lost",
            .median_ns = NAN,
            .spread = NAN,
            .max_error = NAN,
            .confirmed_ns = NAN
        };
        HONE_ASSERT_OK(hone_db_commit_trial(w.db, &lost, &record));
    }
    hone_tune_result_deinit(&result);
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    int64_t known = 0;
    for (uint32_t i = 0; i < result.task_count; i++)
        known += result.tasks[i].known_trials;
    assert_int_equal(known, 8);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void a_task_where_nothing_builds_ends(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    hone_builder_release(w.builder);
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_BUILD_ERROR, &w.builder));
    w.options.builder = w.builder;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    assert_int_equal(result.failed, 40);
    assert_true(isnan(result.tasks[0].best_ns));
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void strategies_and_models_by_name(void **state) {
    (void)state;
    static const char *const strategies[] = {"random", "replay", "evolutionary"};
    static const char *const models[] = {"null", "random", "xgboost"};
    for (int i = 0; i < 3; i++) {
        tune_world w;
        tune_world_open(&w);
        w.options.strategy = strategies[i];
        w.options.cost_model = models[i];
        w.options.trials = 24;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        assert_int_equal(result.trials, 24);
        hone_tune_result_deinit(&result);
        w.options.strategy = "no such";
        HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_INVALID, "no such");
        hone_tune_result_deinit(&result);
        tune_world_close(&w);
    }
}

/* ---- a space of the user's, and a schedule that is written already ---- */

static const char three_draws[] =
    "def space(sch):\n"
    "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
    "    sch.split(j, [None, sch.sample_categorical([2, 4, 8], [0.3, 0.3, 0.4])])\n";

static const char many_draws[] = "def space(sch):\n"
                                 "    i, j, k = sch.get_loops(sch.get_block(\"C\"))\n"
                                 "    sch.split(i, sch.sample_perfect_tile(i, 3))\n"
                                 "    sch.split(j, sch.sample_perfect_tile(j, 3))\n";

static const char notes[] =
    "def space(sch):\n"
    "    note = sch.sample_categorical([0, 1, 2, 3, 4, 5, 6, 7], [0.125] * 8)\n"
    "    sch.annotate(sch.get_block(\"C\"), \"a.note\", note)\n";

typedef struct kinds {
    int64_t before, drawn;
    hone_hash128 before_program;
} kinds;

static bool note_kind(void *ctx, const hone_db_trial *trial) {
    kinds *k = ctx;
    k->before += trial->sketch < 0;
    k->drawn += trial->sketch >= 0;
    if (trial->sketch < 0) k->before_program = trial->program;
    return true;
}

static void tune_own_space(tune_world *w, const char *text, hone_tune_result *out,
                           kinds *out_kinds) {
    char *dir = NULL;
    hone_str path = {0};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-test", &dir));
    hone_str_printf(&path, "%s/space.py", dir);
    HONE_ASSERT_OK(hone_fs_write_atomic(hone_str_text(&path), text, strlen(text)));
    w->options.space_path = hone_str_text(&path);
    HONE_ASSERT_OK(hone_tune(&w->tasks, &w->options, out));
    *out_kinds = (kinds){0};
    HONE_ASSERT_OK(hone_db_trials(w->db, NULL, note_kind, out_kinds));
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_str_deinit(&path);
    hone_free(dir);
}

/* The budget is the space's; the program as written is timed to compare with, and is no winner. */
static void own_space_has_the_budget(void **state) {
    (void)state;
    tune_world w;
    hone_tune_result result;
    kinds k;
    tune_world_open(&w);
    w.options.only_task = "dense";
    w.options.trials = 5;
    tune_own_space(&w, many_draws, &result, &k);
    assert_int_equal(k.drawn, 5);
    assert_int_equal(k.before, 1);
    assert_int_equal(result.trials, 5);
    assert_int_equal(result.tasks[0].trials, 5);
    assert_true(result.tasks[0].before_ns > 0);
    assert_true(hone_hash128_equal(k.before_program, result.tasks[0].workload));
    assert_false(result.is_used_up);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void small_space_is_used_up(void **state) {
    (void)state;
    tune_world w;
    hone_tune_result result;
    kinds k;
    tune_world_open(&w);
    w.options.only_task = "dense";
    tune_own_space(&w, three_draws, &result, &k);
    assert_int_equal(k.drawn, 3);
    assert_true(result.is_used_up);
    assert_false(result.has_converged);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* To the cost model all of them are one; each is another program, and is tried. */
static void space_of_who_looks_alike_is_used_up(void **state) {
    (void)state;
    tune_world w;
    hone_tune_result result;
    kinds k;
    tune_world_open(&w);
    w.options.only_task = "dense";
    tune_own_space(&w, notes, &result, &k);
    assert_int_equal(k.drawn, 8);
    assert_true(result.is_used_up);
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

/* It is no space of `scale`, which has no block C: that task is left out. */
static void tasks_of_other_spaces_are_left_out(void **state) {
    (void)state;
    tune_world w;
    hone_tune_result result;
    kinds k;
    tune_world_open(&w);
    tune_own_space(&w, three_draws, &result, &k);
    assert_int_equal(result.task_count, 1);
    assert_string_equal(result.tasks[0].name, "dense");
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void written_schedules_are_to_be_beaten(void **state) {
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def scale(A: T.Buffer((64, 30)), B: T.Buffer((64, 30))):\n"
                               "    for j in T.unroll(30):\n"
                               "        for i in range(64):\n"
                               "            with T.block(\"B\"):\n"
                               "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                               "                B[vi, vj] = A[vi, vj] * T.float32(2)\n";
    tune_world w;
    hone_tune_result result;
    kinds k = {0};
    tune_world_open(&w);
    hone_task_list_deinit(&w.tasks);
    hone_module_release(w.prepared);
    hone_module_release(w.module);
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "test.py", &w.module));
    HONE_ASSERT_OK(hone_graph_prepare(w.module, NULL, &w.prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&w.prepared, 1, &w.tasks));
    w.options.trials = 8;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    HONE_ASSERT_OK(hone_db_trials(w.db, NULL, note_kind, &k));
    assert_int_equal(k.before, 1);
    assert_true(hone_hash128_equal(k.before_program, result.tasks[0].workload));
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

static void one_task_by_name(void **state) {
    (void)state;
    tune_world w;
    tune_world_open(&w);
    w.options.only_task = "dense";
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.task_count, 1);
    assert_string_equal(result.tasks[0].name, "dense");
    hone_tune_result_deinit(&result);
    w.options.only_task = "nobody";
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_NOT_FOUND, "nobody");
    hone_tune_result_deinit(&result);
    tune_world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_is_kept_and_nothing_is_tried_twice),
        cmocka_unit_test(same_seed_gives_the_same_trials),
        cmocka_unit_test(devices_do_not_matter),
        cmocka_unit_test(look_ahead_is_kept_and_checked),
        cmocka_unit_test(evaluations_decide),
        cmocka_unit_test(says_what_is_still_to_gain),
        cmocka_unit_test(second_run_goes_on),
        cmocka_unit_test(other_states_are_not_compared),
        cmocka_unit_test(second_run_goes_on_from_very_many),
        cmocka_unit_test(stop_drains_and_keeps_everything),
        cmocka_unit_test(failures_are_recorded_and_tuning_goes_on),
        cmocka_unit_test(faults_of_devices_are_not_recorded),
        cmocka_unit_test(a_broken_device_ends_it_and_nothing_is_lost),
        cmocka_unit_test(a_broken_builder_ends_it),
        cmocka_unit_test(recorded_faults_are_forgotten),
        cmocka_unit_test(a_task_where_nothing_builds_ends),
        cmocka_unit_test(strategies_and_models_by_name),
        cmocka_unit_test(one_task_by_name),
        cmocka_unit_test(own_space_has_the_budget),
        cmocka_unit_test(small_space_is_used_up),
        cmocka_unit_test(space_of_who_looks_alike_is_used_up),
        cmocka_unit_test(tasks_of_other_spaces_are_left_out),
        cmocka_unit_test(written_schedules_are_to_be_beaten),
    };
    return cmocka_run_group_tests_name("tuner/loop", tests, NULL, NULL);
}
