/* tests/tuner/tune_world.c - a tuning loop with a simulated device, whose times depend on features.
 */
#include "tests/tuner/tune_world.h"

#include <math.h>
#include <string.h>

#include "costmodel/feature.h"
#include "graph/passes/prepare.h"
#include "ir/text/read/script.h"
#include "tests/support/hone_test.h"

static const char dense_and_scale[] =
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

/* A cost that has a shape: some features make it better, and a little is particular to the program.
 */
static double cost_of(tune_world *w, hone_hash128 hash, const float *features, uint32_t row_count) {
    double sum = 1, cost = 0;
    uint64_t bits = 0;
    uint32_t columns = hone_feature_count();
    if (!features && hone_map128_find(&w->costs, hash, &bits)) {
        memcpy(&cost, &bits, sizeof cost);
        return cost;
    }
    for (uint32_t r = 0; features && r < row_count; r++) {
        for (uint32_t c = 0; c < columns; c += 7)
            sum += fabs(features[r * columns + c]);
    }
    cost = 1000 + 100 * sum + (double)(hash.lo % 100);
    memcpy(&bits, &cost, sizeof bits);
    assert_true(hone_map128_put(&w->costs, hash, bits));
    return cost;
}

static void simulate(void *ctx, hone_hash128 hash, const float *features, uint32_t row_count,
                     hone_simulated_facts *out) {
    tune_world *w = ctx;
    *out = (hone_simulated_facts){.cost_ns = cost_of(w, hash, features, row_count),
                                  .noise = 0.01,
                                  .noise_seed = hash.lo,
                                  .latency_ns = 1000000};
    if (w->is_uneven) out->latency_ns *= 1 + (int64_t)(hash.hi % 40);
    w->simulated++;
    if (w->fail_every && w->simulated % w->fail_every == 0) out->failure = w->fail_as;
}

static hone_stop should_stop(void *ctx) {
    tune_world *w = ctx;
    w->asked++;
    return w->stop_after && w->simulated >= w->stop_after ? HONE_STOP_DRAIN : HONE_STOP_NO;
}

void tune_world_open(tune_world *w) {
    tune_world_open_program(w, dense_and_scale);
}

void tune_world_open_program(tune_world *w, const char *program) {
    *w = (tune_world){0};
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
                                     .evaluations = 192, /* the default takes longer */
                                     .work_dir = "/tmp",
                                     .model_name = "test",
                                     .command_line = "test",
                                     .hone_version = "0",
                                     .simulate = simulate,
                                     .should_stop = should_stop,
                                     .ctx = w};
    HONE_ASSERT_OK(hone_target_parse("llvm -mcpu=znver3 -num-cores=2", &w->options.target));
}

void tune_world_close(tune_world *w) {
    hone_task_list_deinit(&w->tasks);
    hone_module_release(w->prepared);
    hone_module_release(w->module);
    hone_runner_destroy(w->runner);
    hone_builder_release(w->builder);
    hone_db_close(w->db);
    hone_map128_deinit(&w->costs);
}

static bool note(void *ctx, const hone_db_trial *trial) {
    tune_trials *t = ctx;
    bool is_ok = strcmp(trial->outcome, "ok") == 0;
    t->ok += is_ok;
    t->failed += !is_ok;
    if (is_ok && !(trial->median_ns >= t->best_ns)) t->best_ns = trial->median_ns;
    uint64_t place = hone_hash_mix(trial->workload.lo ^ (uint64_t)trial->proposal);
    t->fingerprint += hone_hash_mix(trial->program.lo ^ place);
    return hone_vec_push(&t->programs, trial->program);
}

void tune_trials_list(tune_world *w, const char *session, tune_trials *out) {
    *out = (tune_trials){.best_ns = NAN};
    hone_db_filter filter = {.session = session};
    HONE_ASSERT_OK(hone_db_trials(w->db, &filter, note, out));
}
