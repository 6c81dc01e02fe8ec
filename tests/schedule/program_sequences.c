#include "tests/schedule/program_sequences.h"

#include "tests/schedule/program_file.h"
#include "tests/schedule/random_sequence.h"
#include "tests/support/hone_test.h"

enum { MOST_FAILURES = 3 };

typedef struct tally {
    uint64_t count, first_seed, failed;
    hone_step_counts counts;
} tally;

static void try_program(void *ctx, const char *name, const hone_func *base) {
    tally *t = ctx;
    uint64_t failed = 0;
    hone_sequence_options options = {.replay_every = 1};
    for (uint64_t i = 0; i < t->count && failed < MOST_FAILURES; i++) {
        if (hone_random_sequence(base, t->first_seed + i, &options, &t->counts)) continue;
        print_error("in program %s\n", name);
        failed++;
    }
    t->failed += failed;
}

void hone_check_program_sequences(const char *file, uint64_t count) {
    tally t = {.count = hone_test_number("HONE_SEQUENCES", count),
               .first_seed = hone_test_number("HONE_FIRST_SEED", 1)};
    hone_visit_programs(file, try_program, &t);
    print_message("%llu steps accepted of %llu\n", (unsigned long long)t.counts.accepted,
                  (unsigned long long)t.counts.tried);
    hone_step_counts_print(&t.counts);
    assert_int_equal(t.failed, 0);
    assert_true(t.counts.accepted > t.count);
}
