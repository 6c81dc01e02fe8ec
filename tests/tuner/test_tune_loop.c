/* The tuning loop over a simulated device: budgets, determinism, resume, stops, failures. */
#include "tests/support/hone_test.h"

#include <math.h>
#include <string.h>

#include "costmodel/feature.h"
#include "graph/prepare.h"
#include "ir/script.h"
#include "support/fs.h"
#include "support/vec.h"
#include "tuner/tune.h"

static const char program[] =
    "@I.ir_module\n"
    "class Module:\n"
    "    @T.prim_func\n"
    "    def dense(A: T.Buffer((24, 36)), B: T.Buffer((36, 40)), C: T.Buffer((24, 40))):\n"
    "        for i, j, k in T.grid(24, 40, 36):\n"
    "            with T.block(\"C\"):\n"
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                with T.init():\n"
    "                    C[vi, vj] = T.float32(0)\n"
    "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "    @T.prim_func\n"
    "    def scale(A: T.Buffer((64, 30)), B: T.Buffer((64, 30))):\n"
    "        for i, j in T.grid(64, 30):\n"
    "            with T.block(\"B\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                B[vi, vj] = A[vi, vj] * T.float32(2)\n";

typedef struct world {
    hone_module *module, *prepared;
    hone_task_list tasks;
    hone_db *db;
    hone_builder *builder;
    hone_runner *runner;
    hone_tune_options options;
    int64_t asked; /* how often a stop was asked for */
    int64_t stop_after;
    int fail_every;
    int64_t simulated;
} world;

/* A cost that has a shape: some features make it better, and a little is particular to the program.
 */
static void simulate(void *ctx, hone_hash128 hash, const float *features, uint32_t row_count,
                     hone_simulated_facts *out) {
    world *w = ctx;
    double sum = 1;
    uint32_t columns = hone_feature_count();
    for (uint32_t r = 0; r < row_count; r++) {
        for (uint32_t c = 0; c < columns; c += 7)
            sum += fabs(features[r * columns + c]);
    }
    *out = (hone_simulated_facts){.cost_ns = 1000 + 100 * sum + (double)(hash.lo % 100),
                                  .noise = 0.01,
                                  .noise_seed = hash.lo,
                                  .latency_ns = 1000000};
    w->simulated++;
    if (w->fail_every && w->simulated % w->fail_every == 0) out->failure = HONE_FAILURE_RUN_CRASH;
}

static hone_stop should_stop(void *ctx) {
    world *w = ctx;
    w->asked++;
    return w->stop_after && w->simulated >= w->stop_after ? HONE_STOP_DRAIN : HONE_STOP_NO;
}

static void open_world(world *w) {
    *w = (world){0};
    HONE_ASSERT_OK(hone_script_parse(program, strlen(program), "test.py", &w->module));
    HONE_ASSERT_OK(hone_graph_prepare(w->module, NULL, &w->prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&w->prepared, 1, &w->tasks));
    HONE_ASSERT_OK(hone_db_create_memory(&w->db));
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_NONE, &w->builder));
    HONE_ASSERT_OK(hone_runner_create_simulated(NULL, &w->runner));
    w->options = (hone_tune_options){.db = w->db,
                                     .builder = w->builder,
                                     .runner = w->runner,
                                     .seed = 7,
                                     .trials = 40,
                                     .work_dir = "/tmp",
                                     .model_name = "test",
                                     .command_line = "test",
                                     .hone_version = "0",
                                     .simulate = simulate,
                                     .should_stop = should_stop,
                                     .ctx = w};
    HONE_ASSERT_OK(hone_target_parse("llvm -mcpu=znver3 -num-cores=2", &w->options.target));
}

static void close_world(world *w) {
    hone_task_list_deinit(&w->tasks);
    hone_module_release(w->prepared);
    hone_module_release(w->module);
    hone_runner_release(w->runner);
    hone_builder_release(w->builder);
    hone_db_release(w->db);
}

/* ---- what was tried, in order ---- */

typedef struct trials {
    HONE_VEC(hone_hash128) programs;
    int64_t ok, failed;
    double best_ns;
} trials;

static bool note(void *ctx, const hone_db_trial *trial) {
    trials *t = ctx;
    bool is_ok = strcmp(trial->outcome, "ok") == 0;
    t->ok += is_ok;
    t->failed += !is_ok;
    if (is_ok && !(trial->median_ns >= t->best_ns)) t->best_ns = trial->median_ns;
    return hone_vec_push(&t->programs, trial->program);
}

static void list_trials(world *w, const char *session, trials *out) {
    *out = (trials){.best_ns = NAN};
    hone_db_filter filter = {.session = session};
    HONE_ASSERT_OK(hone_db_trials(w->db, &filter, note, out));
}

static bool has_duplicates(const trials *t) {
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
    world w;
    open_world(&w);
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, NULL, &all);
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
    close_world(&w);
}

static void same_seed_gives_the_same_trials(void **state) {
    (void)state;
    trials runs[3];
    for (int i = 0; i < 3; i++) {
        world w;
        open_world(&w);
        w.options.seed = i == 2 ? 8 : 7;
        hone_tune_result result;
        HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
        list_trials(&w, NULL, &runs[i]);
        hone_tune_result_deinit(&result);
        close_world(&w);
    }
    size_t bytes = runs[0].programs.count * sizeof(hone_hash128);
    assert_int_equal(runs[0].programs.count, runs[1].programs.count);
    assert_memory_equal(runs[0].programs.data, runs[1].programs.data, bytes);
    assert_memory_not_equal(runs[0].programs.data, runs[2].programs.data, bytes);
    for (int i = 0; i < 3; i++)
        hone_vec_deinit(&runs[i].programs);
}

static void second_run_goes_on(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_tune_result first, second;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &first));
    w.options.seed = 99;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &second));
    trials all;
    list_trials(&w, NULL, &all);
    assert_int_equal(all.programs.count, 80);
    assert_false(has_duplicates(&all));
    int64_t known = 0;
    for (uint32_t i = 0; i < second.task_count; i++) {
        known += second.tasks[i].known_trials;
        assert_true(second.tasks[i].best_ns <= first.tasks[i].best_ns);
        assert_true(second.tasks[i].before_ns == first.tasks[i].before_ns);
    }
    assert_int_equal(known, 40);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&first);
    hone_tune_result_deinit(&second);
    close_world(&w);
}

static void stop_drains_and_keeps_everything(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.stop_after = 10;
    w.options.trials = 1000;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, result.session, &all);
    assert_true(result.was_stopped);
    assert_true(result.trials >= 10 && result.trials <= 10 + 3 * 8);
    assert_int_equal(all.programs.count, result.trials);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void failures_are_recorded_and_tuning_goes_on(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.fail_every = 3;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    trials all;
    list_trials(&w, NULL, &all);
    assert_int_equal(result.trials, 40);
    assert_int_equal(all.failed, result.failed);
    assert_int_equal(all.failed, 13);
    hone_vec_deinit(&all.programs);
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void a_task_where_nothing_builds_ends(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_builder_release(w.builder);
    HONE_ASSERT_OK(hone_builder_create_null(HONE_FAILURE_BUILD_ERROR, &w.builder));
    w.options.builder = w.builder;
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.trials, 40);
    assert_int_equal(result.failed, 40);
    assert_true(isnan(result.tasks[0].best_ns));
    hone_tune_result_deinit(&result);
    close_world(&w);
}

static void strategies_and_models_by_name(void **state) {
    (void)state;
    static const char *const strategies[] = {"random", "replay", "evolutionary"};
    static const char *const models[] = {"null", "random", "xgboost"};
    for (int i = 0; i < 3; i++) {
        world w;
        open_world(&w);
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
        close_world(&w);
    }
}

static void one_task_by_name(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.options.only_task = "dense";
    hone_tune_result result;
    HONE_ASSERT_OK(hone_tune(&w.tasks, &w.options, &result));
    assert_int_equal(result.task_count, 1);
    assert_string_equal(result.tasks[0].name, "dense");
    hone_tune_result_deinit(&result);
    w.options.only_task = "nobody";
    HONE_ASSERT_ERROR(hone_tune(&w.tasks, &w.options, &result), HONE_CODE_NOT_FOUND, "nobody");
    hone_tune_result_deinit(&result);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_is_kept_and_nothing_is_tried_twice),
        cmocka_unit_test(same_seed_gives_the_same_trials),
        cmocka_unit_test(second_run_goes_on),
        cmocka_unit_test(stop_drains_and_keeps_everything),
        cmocka_unit_test(failures_are_recorded_and_tuning_goes_on),
        cmocka_unit_test(a_task_where_nothing_builds_ends),
        cmocka_unit_test(strategies_and_models_by_name),
        cmocka_unit_test(one_task_by_name),
    };
    return cmocka_run_group_tests_name("tuner/loop", tests, NULL, NULL);
}
