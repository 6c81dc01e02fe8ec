/* tests/schedule/steps/program_sequences.c - a test that gives each program of a file random steps.
 */
#include "tests/schedule/steps/program_sequences.h"

#include "tests/schedule/steps/program_file.h"
#include "tests/schedule/steps/random_sequence.h"
#include "tests/support/hone_test.h"

static bool take_steps(void *ctx, const hone_func *base, uint64_t seed) {
    hone_sequence_options options = {.replay_every = 1};
    return hone_random_sequence(base, seed, &options, ctx);
}

void hone_check_program_sequences(const char *file, uint64_t count) {
    hone_step_counts counts = {0};
    uint64_t failed = hone_try_programs(file, count, take_steps, &counts);
    print_message("%llu steps accepted of %llu\n", (unsigned long long)counts.accepted,
                  (unsigned long long)counts.tried);
    hone_step_counts_print(&counts);
    assert_int_equal(failed, 0);
    assert_true(counts.accepted > hone_test_count(count));
}
