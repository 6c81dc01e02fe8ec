/* tests/lower/driver/test_lower_programs.c - the programs of schedule/primitive/golden, which are
 * made to be hard for one primitive or another, under random schedules, lowered. HONE_SEQUENCES
 * sets how many per program. */
#include "tests/lower/driver/lower_sequence.h"
#include "tests/schedule/steps/program_file.h"
#include "tests/support/hone_test.h"

enum { DEFAULT_SEQUENCES = 12 };

static const struct row { const char *file; } rows[] = {{"programs.txt"}, {"bases.txt"}};

static bool lower_program(void *ctx, const hone_func *base, uint64_t seed) {
    hone_arena *arena = hone_arena_create(1 << 16);
    bool is_fine = hone_lower_sequence(arena, base, seed, NULL, ctx);
    hone_arena_destroy(arena);
    return is_fine;
}

static void lowered_programs_keep_the_meaning(void **state) {
    const struct row *row = *state;
    hone_lower_counts counts = {0};
    uint64_t failed = hone_try_programs(row->file, DEFAULT_SEQUENCES, lower_program, &counts);
    print_message("%llu of %llu lowered\n", (unsigned long long)counts.lowered,
                  (unsigned long long)counts.tried);
    assert_int_equal(failed, 0);
    assert_true(counts.lowered > counts.tried / 2);
}

int main(void) {
    return HONE_RUN_ROWS("lower/programs", rows, lowered_programs_keep_the_meaning);
}
