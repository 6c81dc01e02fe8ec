/* tests/schedule/test_gpu_schedule.c - schedules for GPUs without a search: they never fail, keep
 * the meaning and the limits of the device, and have no race; and what loops they make. */
#include "tests/support/hone_test.h"

#include <stdio.h>

#include "ir/text/print/script_print.h"
#include "schedule/gpu/gpu_schedule.h"
#include "tests/support/gpu_check.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"
#include "tests/support/workloads.h"

enum { RANDOM_PROGRAMS = 120, DEVICES = 2 };

static const char *const devices[DEVICES] = {
    "cuda -arch=sm_90 -max_shared_memory_per_block=232448",
    "cuda -arch=sm_50 -max_threads_per_block=128 -max_shared_memory_per_block=16384",
};

static hone_gpu_limits limits_of(const hone_target *target) {
    bool is_new = target->max_threads_per_block > 128;
    return (hone_gpu_limits){.block_threads = target->max_threads_per_block,
                             .warp = target->warp_size,
                             .multiprocessors = is_new ? 132 : 0,
                             .shared_bytes = target->max_shared_bytes,
                             .registers = target->registers_per_block,
                             .has_matrix_units = is_new,
                             .copies_while_computing = is_new};
}

static bool is_right(const hone_func *func, const char *device, uint64_t seed) {
    hone_schedule *sch = NULL;
    hone_target target;
    hone_str why = {0};
    HONE_ASSERT_OK(hone_target_parse(device, &target));
    hone_gpu_limits limits = limits_of(&target);
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_gpu_schedule(sch, &limits));
    bool is_good = hone_test_gpu_is_right(func, sch->func, &target, seed, &why);
    if (!is_good) {
        hone_str text = {0};
        hone_status_free(hone_func_print(func, NULL, &text));
        hone_str_append(&text, "---- became ----\n");
        hone_status_free(hone_func_print(sch->func, NULL, &text));
        fprintf(stderr, "%s\n%s\n", hone_str_text(&why), hone_str_text(&text));
        hone_str_deinit(&text);
    }
    hone_str_deinit(&why);
    hone_schedule_destroy(sch);
    return is_good;
}

static void workload_is_right(void **state) {
    const hone_workload *row = *state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(row->text, &module);
    bool is_good = true;
    for (uint64_t i = 0; i < DEVICES; i++)
        is_good = is_good && is_right(func, devices[i], i);
    hone_module_release(module);
    assert_true(is_good);
}

static void random_programs_are_right(void **state) {
    (void)state;
    uint64_t programs = hone_test_count(RANDOM_PROGRAMS), first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_random_options varied = {.is_varied = true, .has_sizes = true};
        hone_func *func = hone_random_program(arena, seed, &varied);
        assert_non_null(func);
        bool is_good = is_right(func, devices[seed % DEVICES], seed);
        hone_arena_destroy(arena);
        if (!is_good) fail_msg("seed %llu", (unsigned long long)seed);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_are_right)};
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    int failed = hone_test_run_rows("schedule/gpu_workloads", hone_workloads,
                                    sizeof hone_workloads[0], count, workload_is_right);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
