/* Random programs under random steps. HONE_SEQUENCES sets how many, HONE_FIRST_SEED from where,
 * HONE_STEP_COUNTS=1 prints how often each step was accepted. */
#include "tests/support/hone_test.h"

#include "tests/schedule/random_sequence.h"
#include "tests/support/random_program.h"

enum { DEFAULT_SEQUENCES = 12000 };

static bool run_sequence(uint64_t seed, const hone_sequence_options *options,
                         hone_step_counts *io_counts) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options program = {
        .use_int64 = seed % 5 == 0, .is_varied = true, .has_sizes = true};
    hone_func *base = hone_random_program(arena, seed, &program);
    assert_non_null(base);
    bool is_fine = hone_random_sequence(base, seed, options, io_counts);
    hone_arena_destroy(arena);
    return is_fine;
}

static void accepted_sequences_keep_the_meaning(void **state) {
    (void)state;
    uint64_t count = hone_test_number("HONE_SEQUENCES", DEFAULT_SEQUENCES);
    uint64_t seed = hone_test_number("HONE_FIRST_SEED", 1);
    uint64_t failed = 0;
    hone_step_counts counts = {0};
    hone_tensor_intrins *intrins = hone_random_intrins();
    assert_non_null(intrins);
    hone_sequence_options options = {.intrins = intrins, .replay_every = 4};
    for (uint64_t i = 0; i < count; i++)
        failed += !run_sequence(seed + i, &options, &counts);
    hone_tensor_intrins_destroy(intrins);
    print_message("%llu sequences, %llu steps accepted of %llu\n", (unsigned long long)count,
                  (unsigned long long)counts.accepted, (unsigned long long)counts.tried);
    hone_step_counts_print(&counts);
    assert_int_equal(failed, 0);
    assert_true(counts.accepted > count / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepted_sequences_keep_the_meaning)};
    return cmocka_run_group_tests_name("schedule/random", tests, NULL, NULL);
}
