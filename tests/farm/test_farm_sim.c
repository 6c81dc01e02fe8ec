/* tests/farm/test_farm_sim.c - runs the farm simulation for a range of seeds.
 *
 *     test_farm_sim                 200 seeds, as many with damaged messages (FARM_SIM_BITS), and
 *                                   those that once went wrong
 *     test_farm_sim FROM COUNT      others
 *     test_farm_sim SEED            one, with what all parties log
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "tests/farm/farm_sim.h"
#include "tests/support/hone_test.h"

/* Farms in which somebody once broke a rule, or the watch thought so. */
static const uint64_t known_seeds[] = {
    703380,    704208,    708508,    709626,    1006624,   1420,      3008688,   1015974,  20026456,
    600023370, 510008160, 510012588, 530023458, 550023498, 580009272, 580004602, 820186176};

/* A directory of its own for each seed, in memory where there is such a place. */
static bool run_seed(uint64_t seed, bool log, farm_sim_stats *total) {
    farm_sim_stats stats = {0};
    hone_str why = {0};
    char *dir = NULL;
    bool ok = false;
    hone_status st = hone_fs_temp_dir("hone-sim", &dir);
    if (!st) ok = farm_sim_run(seed, dir, log, &stats, &why);
    if (!st) st = hone_fs_remove_tree(dir);
    if (st) printf("%s\n", hone_status_message(st));
    if (!ok) {
        printf("seed %" PRIu64 ": %s\n  again, with a log: test_farm_sim %" PRIu64 "\n", seed,
               hone_str_text(&why), seed);
    }
    total->trials += stats.trials;
    total->good += stats.good;
    total->lost += stats.lost;
    total->cancelled += stats.cancelled;
    total->abandoned += stats.abandoned;
    total->frames += stats.frames;
    total->restarts += stats.restarts;
    total->runs += stats.runs;
    total->virtual_ns += stats.virtual_ns;
    hone_status_free(st);
    hone_str_deinit(&why);
    hone_free(dir);
    return ok && !st;
}

int main(int argc, char **argv) {
    uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 10) : hone_test_seed(1);
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : hone_test_count(200);
    uint64_t failed = 0;
    farm_sim_stats total = {0};
    if (!getenv("TMPDIR") && hone_fs_is_dir("/dev/shm")) setenv("TMPDIR", "/dev/shm", 1);
    for (size_t i = 0; argc == 1 && i < HONE_COUNT(known_seeds); i++) {
        failed += !run_seed(known_seeds[i], false, &total);
    }
    for (uint64_t seed = from; seed < from + count; seed++) {
        failed += !run_seed(seed, argc == 2, &total);
        if (argc == 1) failed += !run_seed(FARM_SIM_BITS + seed, false, &total);
    }
    printf("%" PRIu64 " farms, %" PRIu64 " failed: %" PRIu64 " trials (%" PRIu64 " good, %" PRIu64
           " lost, %" PRIu64 " cancelled, %" PRIu64 " abandoned), %" PRIu64 " runs, %" PRIu64
           " restarts, %" PRIu64 " frames, %" PRId64 " s of virtual time\n",
           argc == 1 ? 2 * count + HONE_COUNT(known_seeds) : count, failed, total.trials,
           total.good, total.lost, total.cancelled, total.abandoned, total.runs, total.restarts,
           total.frames, total.virtual_ns / HONE_NS_PER_S);
    return failed ? 1 : 0;
}
