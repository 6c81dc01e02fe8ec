/* tests/measure/test_measure_values.c - names, manifests, defaults, statistics. */
#include <math.h>
#include <string.h>

#include "measure/run.h"
#include "support/core/arena.h"
#include "tests/support/hone_test.h"

static void failure_names_are_stable(void **state) {
    (void)state;
    static const char *const want[] = {
        "ok",        "build_error",  "build_timeout", "load_error", "run_timeout",
        "run_crash", "wrong_result", "device_lost",   "cancelled",  "machine_error"};
    assert_int_equal(HONE_FAILURE_COUNT, sizeof want / sizeof *want);
    for (int i = 0; i < HONE_FAILURE_COUNT; i++) {
        hone_failure back;
        assert_string_equal(hone_failure_name((hone_failure)i), want[i]);
        assert_true(hone_failure_parse(want[i], &back));
        assert_int_equal(back, i);
        assert_true(strlen(hone_failure_meaning((hone_failure)i)) > 10);
    }
    hone_failure none;
    assert_false(hone_failure_parse("boredom", &none));
    assert_int_equal(none, HONE_FAILURE_NONE);
    assert_string_equal(hone_failure_name((hone_failure)99), "unknown");
}

/* Only what a candidate did is held against it. */
static void every_outcome_is_somebodys(void **state) {
    (void)state;
    for (int i = 0; i < HONE_FAILURE_COUNT; i++) {
        const hone_failure failure = (hone_failure)i;
        const bool is_machines =
            failure == HONE_FAILURE_DEVICE_LOST || failure == HONE_FAILURE_MACHINE_ERROR;
        const bool is_nobodys = failure == HONE_FAILURE_NONE || failure == HONE_FAILURE_CANCELLED;
        assert_int_equal(hone_failure_fault(failure), is_machines  ? HONE_FAULT_MACHINE
                                                      : is_nobodys ? HONE_FAULT_NOBODY
                                                                   : HONE_FAULT_CANDIDATE);
    }
    assert_int_equal(hone_failure_fault((hone_failure)99), HONE_FAULT_MACHINE);
}

static void impossible_results_are_named(void **state) {
    (void)state;
    static const struct {
        double ns;
        const char *problem;
    } rows[] = {
        {1500,     NULL                            },
        {0.3,      NULL                            },
        {0,        "a time that no kernel can take"},
        {1e-300,   "a time that no kernel can take"},
        {-1,       "a time that no kernel can take"},
        {INFINITY, "a time that no kernel can take"},
        {NAN,      "a time that no kernel can take"},
    };
    hone_run_result r;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hone_run_result_init(&r);
        r.sample_count = 2;
        r.samples_ns[0] = 1500;
        r.samples_ns[1] = rows[i].ns;
        const char *problem = hone_run_result_problem(&r, true);
        assert_int_equal(problem != NULL, rows[i].problem != NULL);
        if (problem) assert_string_equal(problem, rows[i].problem);
    }
    hone_run_result_init(&r);
    assert_string_equal(hone_run_result_problem(&r, true), "a success without a time");
    assert_null(hone_run_result_problem(&r, false));
    r.error_ratio = 3;
    assert_non_null(hone_run_result_problem(&r, false));
    hone_run_result_fail(&r, HONE_FAILURE_RUN_CRASH, "it died");
    assert_null(hone_run_result_problem(&r, true));
    r.times.load_ns = -1;
    assert_non_null(hone_run_result_problem(&r, true));
}

static void sizes_of_arguments(void **state) {
    (void)state;
    static const struct {
        uint32_t rank;
        int64_t shape[3];
        int64_t elements;
    } rows[] = {
        {0, {0},                                  1 },
        {1, {7},                                  7 },
        {3, {2, 3, 5},                            30},
        {2, {0, 9},                               0 },
        {2, {INT64_C(1) << 40, 0},                0 },
        {2, {INT64_C(1) << 20, INT64_C(1) << 30}, -1},
        {1, {-1},                                 -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hone_arg arg = {.dtype = HONE_DTYPE_F32, .rank = rows[i].rank};
        memcpy(arg.shape, rows[i].shape, sizeof rows[i].shape);
        assert_int_equal(hone_arg_elements(&arg), rows[i].elements);
        assert_int_equal(hone_arg_bytes(&arg), rows[i].elements < 0 ? -1 : rows[i].elements * 4);
    }
    hone_arg wide = {.dtype = HONE_DTYPE_F64, .rank = 1, .shape = {HONE_ARG_MAX_BYTES}};
    assert_int_equal(hone_arg_bytes(&wide), -1);
}

static void manifests_are_checked(void **state) {
    (void)state;
    hone_arg arg = {"A", HONE_DTYPE_F32, HONE_ARG_IN, 1, {4}};
    hone_manifest m = {.entry = "f", .arg_count = 1, .args = &arg};
    HONE_ASSERT_OK(hone_manifest_check(&m));
    m.entry = "";
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "entry");
    m.entry = "f";
    arg.role = (hone_arg_role)7;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "role 7");
    arg.role = HONE_ARG_OUT;
    arg.dtype = HONE_DTYPE_HANDLE;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "'A'");
    arg.dtype = hone_dtype_with_lanes(HONE_DTYPE_F32, 4);
    HONE_ASSERT_CODE(hone_manifest_check(&m), HONE_CODE_INVALID);
    arg.dtype = HONE_DTYPE_F32;
    arg.shape[0] = -3;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "negative");
    arg.shape[0] = 4;
    m.arg_count = HONE_MANIFEST_MAX_ARGS + 1;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "arguments");
    m.arg_count = 1;
    m.extern_count = 1;
    HONE_ASSERT_CODE(hone_manifest_check(&m), HONE_CODE_INVALID);
}

static void requests_are_checked(void **state) {
    (void)state;
    hone_run_request r = {.manifest = {.entry = "f"}};
    HONE_ASSERT_ERROR(hone_run_request_check(&r), HONE_CODE_INVALID, "artifact");
    r.artifact_path = "k.so";
    HONE_ASSERT_OK(hone_run_request_check(&r));
    r.threads = -1;
    HONE_ASSERT_ERROR(hone_run_request_check(&r), HONE_CODE_INVALID, "threads is -1");
    r.threads = 2;
    r.timeout_ns = -1;
    HONE_ASSERT_CODE(hone_run_request_check(&r), HONE_CODE_INVALID);
}

static void policies_get_defaults(void **state) {
    (void)state;
    hone_timing_policy p = hone_timing_policy_defaults(&(hone_timing_policy){0});
    assert_true(p.min_repeat_ns > 0 && p.min_sample_ns > 0 && p.slow_ratio > 1);
    assert_in_range(p.min_samples, 1, p.max_samples);
    p = hone_timing_policy_defaults(
        &(hone_timing_policy){.max_samples = 1000000, .incumbent_ns = (double)NAN});
    assert_int_equal(p.max_samples, HONE_RUN_MAX_SAMPLES);
    assert_true(p.incumbent_ns == 0);
    p = hone_timing_policy_defaults(&(hone_timing_policy){.max_samples = 2});
    assert_int_equal(p.min_samples, 2);
}

static void copies_stand_alone(void **state) {
    (void)state;
    char path[] = "k.so", name[] = "A", ext[] = "ext", entry[] = "f";
    uint8_t bytes[] = {1, 2, 3};
    hone_arg arg = {name, HONE_DTYPE_F32, HONE_ARG_IN, 1, {4}};
    int64_t sizes[] = {5, 6};
    const char *externs[] = {ext};
    hone_run_request r = {
        .artifact_path = path,
        .artifact_bytes = bytes,
        .artifact_byte_count = sizeof bytes,
        .manifest = {.entry = entry,
                     .arg_count = 1,
                     .args = &arg,
                     .size_count = 2,
                     .sizes = sizes,
                     .extern_count = 1,
                     .externs = externs}
    };
    hone_run_request copy;
    hone_arena *arena = hone_arena_create(1024);
    HONE_ASSERT_OK(hone_run_request_copy(&r, arena, &copy));
    path[0] = name[0] = ext[0] = entry[0] = '?';
    bytes[0] = 9;
    arg.shape[0] = 9;
    sizes[1] = 9;
    assert_string_equal(copy.artifact_path, "k.so");
    assert_string_equal(copy.manifest.entry, "f");
    assert_string_equal(copy.manifest.args[0].name, "A");
    assert_string_equal(copy.manifest.externs[0], "ext");
    assert_int_equal(copy.artifact_bytes[0], 1);
    assert_int_equal(copy.manifest.args[0].shape[0], 4);
    assert_int_equal(copy.manifest.sizes[1], 6);
    hone_arena_destroy(arena);
}

static void statistics(void **state) {
    (void)state;
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(hone_stat_median(odd, 3) == 3);
    assert_true(hone_stat_median(even, 4) == 2.5);
    assert_true(hone_stat_median(one, 1) == 7);
    assert_true(isnan(hone_stat_median(NULL, 0)));
    assert_true(isnan(hone_stat_spread(one, 1)));
    assert_true(fabs(hone_stat_spread(even, 4) - 1.5 / 2.5) < 1e-12); /* quartiles 1.75, 3.25 */
    double many[1001]; /* beyond what is sorted on the stack */
    for (int i = 0; i < 1001; i++)
        many[i] = (double)((i * 37) % 1001);
    assert_true(hone_stat_median(many, 1001) == 500);
    hone_run_result r;
    hone_run_result_init(&r);
    assert_true(isnan(r.median_ns));
    r.sample_count = 3;
    memcpy(r.samples_ns, odd, sizeof odd);
    hone_run_result_summarize(&r);
    assert_true(r.median_ns == 3 && r.best_ns == 1);
    hone_run_result_fail(&r, HONE_FAILURE_RUN_CRASH, "exit %d", 3);
    assert_int_equal(r.sample_count, 0);
    assert_true(isnan(r.median_ns));
    assert_string_equal(r.message, "exit 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_names_are_stable),
        cmocka_unit_test(every_outcome_is_somebodys),
        cmocka_unit_test(impossible_results_are_named),
        cmocka_unit_test(sizes_of_arguments),
        cmocka_unit_test(manifests_are_checked),
        cmocka_unit_test(requests_are_checked),
        cmocka_unit_test(policies_get_defaults),
        cmocka_unit_test(copies_stand_alone),
        cmocka_unit_test(statistics),
    };
    return cmocka_run_group_tests_name("measure/values", tests, NULL, NULL);
}
