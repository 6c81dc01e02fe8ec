/* tests/lower/driver/test_lower_schedule_random.c - random programs under random schedules,
 * lowered. HONE_SEQUENCES sets how many. */
#include "tests/lower/driver/lower_sequence.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { DEFAULT_SEQUENCES = 1500 };

static bool run_sequence(uint64_t seed, const hone_tensor_intrins *intrins,
                         hone_lower_counts *io_counts) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options program = {.is_varied = true, .has_sizes = true};
    hone_func *base = hone_random_program(arena, seed, &program);
    assert_non_null(base);
    bool is_fine = hone_lower_sequence(arena, base, seed, intrins, io_counts);
    hone_arena_destroy(arena);
    return is_fine;
}

static void lowered_schedules_keep_the_meaning(void **state) {
    (void)state;
    uint64_t count = hone_test_count(DEFAULT_SEQUENCES), failed = 0;
    uint64_t seed = hone_test_seed(1);
    hone_lower_counts counts = {0};
    hone_tensor_intrins *intrins = hone_random_intrins();
    assert_non_null(intrins);
    for (uint64_t i = 0; i < count; i++)
        failed += !run_sequence(seed + i, intrins, &counts);
    hone_tensor_intrins_destroy(intrins);
    print_message("%llu of %llu lowered\n", (unsigned long long)counts.lowered,
                  (unsigned long long)count);
    print_message("%llu of %llu outputs are still outputs\n", (unsigned long long)counts.outputs[1],
                  (unsigned long long)counts.outputs[0]);
    assert_int_equal(failed, 0);
    assert_true(counts.lowered > count / 2);
    assert_true(counts.outputs[1] > counts.outputs[0] * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lowered_schedules_keep_the_meaning)};
    return cmocka_run_group_tests_name("lower/schedule_random", tests, NULL, NULL);
}
