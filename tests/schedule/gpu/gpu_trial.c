/* tests/schedule/gpu/gpu_trial.c - see gpu_trial.h. */
#include "tests/schedule/gpu/gpu_trial.h"

#include <string.h>

#include "schedule/gpu/gpu_schedule.h"
#include "tests/support/gpu/gpu_check.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

static hone_gpu_limits limits_of(const hone_target *target) {
    bool is_new = target->max_threads_per_block >= GPU_TRIAL_NEW;
    return (hone_gpu_limits){.block_threads = target->max_threads_per_block,
                             .warp = target->warp_size,
                             .multiprocessors = is_new ? target->num_cores : 0,
                             .shared_bytes = target->max_shared_bytes,
                             .registers = target->registers_per_block,
                             .has_matrix_units = is_new,
                             .has_bfloat_units = is_new,
                             .has_group_units = strcmp(target->cpu, "sm_90a") == 0,
                             .copies_while_computing = is_new};
}

hone_schedule *gpu_trial_schedule(const hone_func *func, const char *device) {
    hone_schedule *sch = NULL;
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(device, &target));
    hone_gpu_limits limits = limits_of(&target);
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_gpu_schedule(sch, &limits));
    return sch;
}

bool gpu_trial_is_right(const hone_func *func, const char *device, uint64_t seed) {
    hone_schedule *sch = gpu_trial_schedule(func, device);
    hone_target target;
    hone_str why = {0};
    HONE_ASSERT_OK(hone_target_parse(device, &target));
    bool is_good = hone_test_gpu_is_right(func, sch->func, &target, seed, &why);
    if (!is_good) hone_test_show_change(func, sch->func, hone_str_text(&why));
    hone_str_deinit(&why);
    hone_schedule_destroy(sch);
    return is_good;
}
