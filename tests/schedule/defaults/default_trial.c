/* tests/schedule/defaults/default_trial.c - see default_trial.h. */
#include "tests/schedule/defaults/default_trial.h"

#include "ir/verify/verify.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

const hone_default_limits default_machines[DEFAULT_MACHINES] = {
    {.threads = 4,
     .vector_lanes = 8,
     .vector_registers = 16,
     .l1_bytes = 32768,
     .l2_bytes = 1 << 20                                                                         },
    {.threads = 1,  .vector_lanes = 1, .vector_registers = 8, .l1_bytes = 4096, .l2_bytes = 65536},
    {.threads = 64,
     .vector_lanes = 16,
     .vector_registers = 32,
     .l1_bytes = 49152,
     .l2_bytes = 1 << 21                                                                         },
};

bool default_trial(const hone_func *func, const hone_default_limits *limits, uint64_t seed,
                   hone_schedule **out_sch) {
    hone_str why = {0};
    HONE_ASSERT_OK(hone_schedule_create(func, out_sch));
    HONE_ASSERT_OK(hone_default_schedule(*out_sch, limits));
    const hone_func *made = (*out_sch)->func;
    hone_status st = hone_check_func(made);
    if (st) hone_str_append(&why, hone_status_message(st));
    bool is_good = !st && hone_test_agrees(func, made, seed, &why);
    hone_status_free(st);
    if (!is_good) hone_test_show_change(func, made, hone_str_text(&why));
    hone_str_deinit(&why);
    return is_good;
}

bool default_trial_is_right(const hone_func *func, const hone_default_limits *limits,
                            uint64_t seed) {
    hone_schedule *sch;
    bool is_good = default_trial(func, limits, seed, &sch);
    hone_schedule_destroy(sch);
    return is_good;
}
