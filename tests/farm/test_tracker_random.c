/* tests/farm/test_tracker_random.c - whole farms over a network that loses, doubles, delays and
 * overtakes, with parties that are killed and come back: every trial ends exactly once, with its
 * own result.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/farm/tracker_party.h"
#include "tests/support/hone_test.h"

enum { TUNERS = 2, RUNNERS = 3, SEEDS = 8 };

/* clang-format off */
static const struct row {
    const char *name;
    hone_simnet_faults faults;
    bool tracker_restarts, runner_restarts, tuner_restarts, has_state;
} rows[] = {
    {"a quiet network", {0, 0, 0, 0, 0, 0, 0}, false, false, false, false},
    {"lost messages", {0, 20 * HONE_NS_PER_MS, 0.2, 0, 0, 0, 0}, false, false, false, false},
    {"doubled messages", {0, 20 * HONE_NS_PER_MS, 0, 0.5, 0, 0, 0}, false, false, false, false},
    {"late messages", {0, 900 * HONE_NS_PER_MS, 0, 0.3, 0.5, 0, 0}, false, false, false, false},
    {"lost connections", {0, 20 * HONE_NS_PER_MS, 0, 0, 0, 0.02, 0}, false, false, false, false},
    {"all of it", {0, 300 * HONE_NS_PER_MS, 0.1, 0.1, 0.2, 0.01, 0}, false, false, false, false},
    {"runners restart",
     {0, 50 * HONE_NS_PER_MS, 0.05, 0.05, 0.1, 0.005, 0},
     false,
     true,
     false,
     false},
    {"tuners restart",
     {0, 50 * HONE_NS_PER_MS, 0.05, 0.05, 0.1, 0.005, 0},
     false,
     false,
     true,
     false},
    {"the tracker restarts",
     {0, 50 * HONE_NS_PER_MS, 0.05, 0.05, 0.1, 0.005, 0},
     true,
     false,
     false,
     false},
    {"the tracker, with state",
     {0, 50 * HONE_NS_PER_MS, 0.05, 0.05, 0.1, 0.005, 0},
     true,
     false,
     false,
     true},
    {"everybody restarts",
     {0, 100 * HONE_NS_PER_MS, 0.05, 0.05, 0.1, 0.005, 0},
     true,
     true,
     true,
     false},
    {"everybody, with state",
     {0, 100 * HONE_NS_PER_MS, 0.05, 0.05, 0.1, 0.005, 0},
     true,
     true,
     true,
     true},
};
/* clang-format on */

typedef struct farm {
    farm_world w;
    party_tuner tuners[TUNERS];
    party_runner runners[RUNNERS];
    uint64_t instances;
    hone_rng rng;
    int restarts;
} farm;

static void start(farm *f, const struct row *row, uint64_t seed, const char *store_path) {
    hone_tracker_options o = {.grace_ns = 20 * HONE_NS_PER_S};
    memset(f, 0, sizeof *f);
    if (store_path) {
        farm_world_init_keys(&f->w, NULL, store_path);
    } else {
        farm_world_init(&f->w, seed, &o);
    }
    f->rng = hone_rng_from_seed(seed);
    hone_simnet_set_faults(f->w.simnet, &row->faults);
    for (int i = 0; i < TUNERS; i++) {
        f->tuners[i].device_key = "pi4";
        f->tuners[i].at_once = 6;
        party_tuner_start(&f->tuners[i], &f->w, 10 * ++f->instances);
    }
    for (int i = 0; i < RUNNERS; i++) {
        snprintf(f->runners[i].name, sizeof f->runners[i].name, "board%d", i);
        f->runners[i].device_key = "pi4";
        party_runner_start(&f->runners[i], &f->w, 10 * ++f->instances, seed + (uint64_t)i);
    }
}

/* One of the parties that may restart does, for a while or at once. */
static void restart_somebody(farm *f, const struct row *row) {
    uint64_t who = hone_rng_below(&f->rng, 3);
    int64_t away_ns = hone_rng_between(&f->rng, 0, 5) * HONE_NS_PER_S;
    f->restarts++;
    if (who == 0 && row->tracker_restarts) {
        farm_tracker_stop(&f->w);
        farm_run(&f->w, away_ns);
        farm_tracker_start(&f->w);
    } else if (who == 1 && row->runner_restarts) {
        party_runner *runner = &f->runners[hone_rng_below(&f->rng, RUNNERS)];
        party_runner_stop(runner);
        farm_run(&f->w, away_ns);
        party_runner_start(runner, &f->w, 10 * ++f->instances, hone_rng_next(&f->rng));
    } else if (who == 2 && row->tuner_restarts) {
        party_tuner *tuner = &f->tuners[hone_rng_below(&f->rng, TUNERS)];
        party_tuner_stop(tuner);
        farm_run(&f->w, away_ns);
        party_tuner_start(tuner, &f->w, 10 * ++f->instances);
    }
}

static bool is_over(const farm *f) {
    for (int i = 0; i < TUNERS; i++) {
        if (f->tuners[i].over < PARTY_TRIALS) return false;
    }
    return true;
}

static void run_farm(const struct row *row, uint64_t seed, const char *store_path) {
    farm *f = hone_malloc(sizeof *f);
    assert_non_null(f);
    start(f, row, seed, store_path);
    bool restarts = row->tracker_restarts || row->runner_restarts || row->tuner_restarts;
    for (int step = 0; !is_over(f); step++) {
        farm_run(&f->w, 4 * HONE_NS_PER_S);
        if (restarts && f->restarts < 12) restart_somebody(f, row);
        if (step >= 300) fail_msg("'%s': the trials do not end", row->name);
    }
    /* A loss needs somebody who was lost, or a message that was late for many seconds. */
    int lost = 0;
    for (int i = 0; i < TUNERS; i++)
        lost += f->tuners[i].lost;
    if (row->faults.drop == 0 && row->faults.lose == 0 && row->faults.reorder == 0) {
        assert_int_equal(lost, 0);
    }
    assert_true(lost <= PARTY_TRIALS * TUNERS / 4);
    hone_simnet_set_faults(f->w.simnet, &(hone_simnet_faults){0});
    farm_run(&f->w, 120 * HONE_NS_PER_S);
    hone_tracker_stats stats = hone_tracker_get_stats(f->w.tracker);
    assert_int_equal(stats.waiting + stats.running, 0);
    assert_int_equal(stats.request_bytes, 0);
    assert_int_equal(stats.tuners, TUNERS);
    assert_int_equal(stats.runners, RUNNERS);
    assert_int_equal(stats.peers, TUNERS + RUNNERS);
    farm_world_deinit(&f->w);
    hone_free(f);
}

static void check_row(void **state) {
    const struct row *row = *state;
    char *dir = NULL, *path = NULL;
    if (row->has_state) {
        HONE_ASSERT_OK(hone_fs_temp_dir("hone-farm", &dir));
        path = hone_path_join(dir, "state.db");
    }
    uint64_t first = hone_test_seed(1), seeds = hone_test_count(SEEDS);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        print_message("seed %" PRIu64 "\n", seed); /* the last line tells which one failed */
        run_farm(row, seed, path);
        if (path) HONE_ASSERT_OK(hone_fs_remove_file(path));
    }
    if (dir) HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    hone_free(path);
}

int main(void) {
    return HONE_RUN_ROWS("farm/tracker_random", rows, check_row);
}
