/* The programs of schedule/golden, which are made to be hard for one primitive or another, under
 * random schedules, lowered. HONE_SEQUENCES sets how many per program. */
#include "tests/lower/lower_sequence.h"
#include "tests/schedule/program_file.h"
#include "tests/support/hone_test.h"

enum { DEFAULT_SEQUENCES = 12, MOST_FAILURES = 3 };

static const struct row { const char *file; } rows[] = {{"programs.txt"}, {"bases.txt"}};

typedef struct tally {
    uint64_t count, first_seed, failed;
    hone_lower_counts counts;
} tally;

static void lower_program(void *ctx, const char *name, const hone_func *base) {
    tally *t = ctx;
    uint64_t failed = 0;
    for (uint64_t i = 0; i < t->count && failed < MOST_FAILURES; i++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        bool is_fine = hone_lower_sequence(arena, base, t->first_seed + i, NULL, &t->counts);
        hone_arena_destroy(arena);
        if (is_fine) continue;
        print_error("in program %s\n", name);
        failed++;
    }
    t->failed += failed;
}

static void lowered_programs_keep_the_meaning(void **state) {
    const struct row *row = *state;
    tally t = {.count = hone_test_number("HONE_SEQUENCES", DEFAULT_SEQUENCES),
               .first_seed = hone_test_number("HONE_FIRST_SEED", 1)};
    hone_visit_programs(row->file, lower_program, &t);
    print_message("%llu of %llu lowered\n", (unsigned long long)t.counts.lowered,
                  (unsigned long long)t.counts.tried);
    assert_int_equal(t.failed, 0);
    assert_true(t.counts.lowered > t.counts.tried / 2);
}

int main(void) {
    return HONE_RUN_ROWS("lower/programs", rows, lowered_programs_keep_the_meaning);
}
