/* tests/database/db_samples.c - see db_samples.h. */
#include "tests/database/db_samples.h"

#include <math.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

hone_db_workload sample_workload(int number) {
    static const char *const names[] = {"dense", "conv2d", "softmax"};
    return (hone_db_workload){
        .hash = {.lo = (uint64_t)number, .hi = 0x1111},
        .hash_version = 1,
        .name = names[number % 3],
        .program = "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")): ...",
        .args_json = "[[\"float32\", [4]]]",
        .flops = 2e6 * number,
    };
}

hone_db_target sample_target(int threads) {
    return (hone_db_target){
        .hash = {.lo = (uint64_t)threads, .hi = 0x2222},
        .text = "llvm -mcpu=test",
        .threads = threads,
    };
}

hone_db_session sample_session(const char *id) {
    return (hone_db_session){
        .id = id,
        .model = "mlp.onnx",
        .command_line = "hone tune mlp.onnx --db tuned.db",
        .hone_version = "0.1.0",
        .state = "running",
        .started_ns = SAMPLE_WALL_NS,
        .seed = UINT64_MAX - 6,
        .look_ahead = 8,
        .budget_trials = 100,
    };
}

hone_db_trial sample_trial(int64_t proposal, double median_ns) {
    bool ok = !isnan(median_ns);
    return (hone_db_trial){
        .session = "s1",
        .workload = sample_workload(1).hash,
        .target = sample_target(1).hash,
        .proposal = proposal,
        .sketch = (int32_t)(proposal % 3),
        .trace = "[[\"GetBlock\", [], [\"C\", \"main\"], [\"b0\"]]]",
        .program = {.lo = (uint64_t)proposal + 100, .hi = 7},
        .outcome = ok ? "ok" : "wrong_result",
        .message = ok ? NULL : "C[0, 3] is 2, must be 1",
        .median_ns = median_ns,
        .spread = ok ? 0.02 : (double)NAN,
        .max_error = 1e-6,
        .confirmed_ns = NAN,
        .predicted_score = 0.5,
        .drift = "none",
        .device = "local",
        .times = { .search = 1,
                    .queue = 2,
                    .build = 3,
                    .transfer = 4,
                    .load = 5,
                    .measure = 6,
                    .check = 7},
        .wall_ns = SAMPLE_WALL_NS + proposal * 1000000000,
    };
}

void sample_fill(hone_db *db) {
    for (int i = 1; i <= 2; i++) {
        hone_db_workload workload = sample_workload(i);
        hone_db_target target = sample_target(i);
        HONE_ASSERT_OK(hone_db_put_workload(db, &workload));
        HONE_ASSERT_OK(hone_db_put_target(db, &target));
    }
    hone_db_session first = sample_session("s1"), second = sample_session("s2");
    second.started_ns += 5000000000;
    HONE_ASSERT_OK(hone_db_begin_session(db, &first));
    HONE_ASSERT_OK(hone_db_begin_session(db, &second));
}

hone_status sample_top_k(hone_db *db, const hone_hash128 *workload, const hone_hash128 *target,
                         int64_t k, hone_db_visit_trial visit, void *ctx) {
    hone_db_filter best = {
        .workload = workload, .target = target, .limit = k, .order = HONE_DB_ORDER_BEST};
    return hone_db_trials(db, &best, visit, ctx);
}

/* ---- files ---- */

static char *dir;

int sample_files_begin(const char *name) {
    return hone_status_consume(hone_fs_temp_dir(name, &dir)) ? -1 : 0;
}

void sample_files_end(void) {
    hone_status_free(hone_fs_remove_tree(dir));
    hone_free(dir);
}

const char *sample_dir(void) {
    return dir;
}

char *sample_path(const char *name) {
    char *path = hone_path_join(dir, name);
    assert_non_null(path);
    return path;
}

hone_status sample_open(const char *path, hone_db_mode mode, hone_db **out_db) {
    hone_db_options options = {.path = path, .mode = mode};
    return hone_db_open_sqlite(&options, out_db);
}

char *sample_file(const char *name, int trials) {
    char *path = sample_path(name);
    hone_db *db = NULL;
    HONE_ASSERT_OK(sample_open(path, HONE_DB_CREATE, &db));
    sample_fill(db);
    for (int i = 0; i < trials; i++) {
        double samples[] = {100 + i, 101 + i, 102 + i};
        hone_db_trial trial = sample_trial(i, i % 5 == 4 ? (double)NAN : 100 + i);
        trial.samples_ns = samples;
        trial.sample_count = 3;
        HONE_ASSERT_OK(hone_db_commit_trial(db, &trial, NULL));
    }
    hone_db_close(db);
    return path;
}

int64_t sample_count_trials(hone_db *db) {
    hone_db_stats stats;
    HONE_ASSERT_OK(hone_db_get_stats(db, &stats));
    return stats.trials;
}

bool sample_take_number(void *ctx, const hone_db_row *row) {
    if (row->cells) *(int64_t *)ctx = row->cells[0].i;
    return true;
}
