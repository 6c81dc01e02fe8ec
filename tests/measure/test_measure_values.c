/* tests/measure/test_measure_values.c - names, manifests, defaults, statistics. */
#include <math.h>
#include <string.h>

#include "measure/run.h"
#include "support/core/arena.h"
#include "support/core/attributes.h"
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
    r.error_ratio = 1;
    assert_null(hone_run_result_problem(&r, false));
    r.error_ratio = 1.5;
    assert_non_null(hone_run_result_problem(&r, false));
    hone_run_result_fail(&r, HONE_FAILURE_RUN_CRASH, "it died");
    assert_null(hone_run_result_problem(&r, true));
}

static void no_step_takes_less_than_no_time(void **state) {
    (void)state;
    static const size_t steps[] = {
        offsetof(hone_run_times, queue_ns), offsetof(hone_run_times, transfer_ns),
        offsetof(hone_run_times, load_ns),  offsetof(hone_run_times, check_ns),
        offsetof(hone_run_times, wait_ns),  offsetof(hone_run_times, measure_ns),
    };
    const int64_t before = -1;
    for (size_t i = 0; i < HONE_COUNT(steps); i++) {
        hone_run_result r;
        hone_run_result_init(&r);
        assert_null(hone_run_result_problem(&r, false));
        memcpy((char *)&r.times + steps[i], &before, sizeof before);
        assert_non_null(hone_run_result_problem(&r, false));
    }
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

/* A launch over 1024 threads of a size, in two axes, with an intermediate. */
static const hone_launch_value launch_values[] = {
    {HONE_LAUNCH_CONST, 0, 0, 128                        },
    {HONE_LAUNCH_SIZE,  0, 0, 0                          },
    {HONE_LAUNCH_ADD,   0, 1, 0                          }, /* 128 + n */
    {HONE_LAUNCH_CONST, 0, 0, 1                          },
    {HONE_LAUNCH_SUB,   2, 3, 0                          }, /* 127 + n */
    {HONE_LAUNCH_DIV,   4, 0, 0                          }, /* the blocks */
    {HONE_LAUNCH_MOD,   1, 0, 0                          },
    {HONE_LAUNCH_MIN,   6, 3, 0                          },
    {HONE_LAUNCH_MAX,   6, 3, 0                          },
    {HONE_LAUNCH_MUL,   1, 1, 0                          }, /* n * n */
    {HONE_LAUNCH_CONST, 0, 0, HONE_LAUNCH_MAX_THREADS + 1},
    {HONE_LAUNCH_CONST, 0, 0, 9                          },
};
static const int32_t launch_scratch[] = {9};
static const hone_launch_arg launch_args[] = {
    {HONE_LAUNCH_ARG_SCRATCH, 0},
    {HONE_LAUNCH_ARG_VALUE,   9},
    {HONE_LAUNCH_ARG_BUFFER,  0}
};
static const int64_t launch_sizes[] = {300};
static const hone_arg launch_buffer = {"A", HONE_DTYPE_INIT(FLOAT, 32, 1), HONE_ARG_OUT, 1, {4}};

static hone_manifest launch_manifest(const hone_launch *launch) {
    return (hone_manifest){.entry = "f",
                           .arg_count = 1,
                           .args = &launch_buffer,
                           .size_count = 1,
                           .sizes = launch_sizes,
                           .value_count = HONE_COUNT(launch_values),
                           .values = launch_values,
                           .scratch_count = 1,
                           .scratch = launch_scratch,
                           .launch_count = 1,
                           .launches = launch};
}

/* clang-format off */
static const struct launch_row {
    const char *name;
    hone_launch launch;
    int64_t n;
    const char *problem; /* of the check, or of the values; NULL: fine */
} launch_rows[] = {
    {"fine", {"f", {5, 3, 3}, {0, 3, 3}, 3, 3, launch_args}, 300, NULL},
    {"nothing to do", {"f", {1, 3, 3}, {0, 3, 3}, 3, 3, launch_args}, 0, NULL},
    {"no symbol", {"", {5, 3, 3}, {0, 3, 3}, 3, 3, launch_args}, 300, "names no kernel"},
    {"unknown grid", {"f", {5, 12, 3}, {0, 3, 3}, 3, 3, launch_args}, 300, "grid of launch 0"},
    {"negative index", {"f", {5, 3, 3}, {0, -1, 3}, 3, 3, launch_args}, 300, "number -1"},
    {"open block", {"f", {5, 3, 3}, {3, 1, 3}, 3, 3, launch_args}, 300, "extent y is no constant"},
    {"one block too wide", {"f", {5, 3, 3}, {3, 3, 10}, 3, 3, launch_args}, 300, "extent z"},
    {"block too large", {"f", {5, 3, 3}, {0, 0, 3}, 3, 3, launch_args}, 300, "16384 threads"},
    {"block a little too large", {"f", {5, 3, 3}, {0, 11, 3}, 3, 3, launch_args}, 300, "1152 threads"},
    {"unknown shared",
     {"f", {5, 3, 3}, {0, 3, 3}, 12, 3, launch_args},
     300,
     "shared memory of launch 0"},
    {"lost arguments", {"f", {5, 3, 3}, {0, 3, 3}, 3, 3, NULL}, 300, "3 arguments"},
    {"grid too high",
     {"f", {3, 1, 3}, {0, 3, 3}, 3, 3, launch_args},
     70000,
     "grid of launch 0 is 70000"},
    {"negative grid", {"f", {1, 3, 3}, {0, 3, 3}, 3, 3, launch_args}, -1, "grid of launch 0 is -1"},
    {"shared too large",
     {"f", {3, 3, 3}, {0, 3, 3}, 9, 3, launch_args},
     2000,
     "shared memory of launch 0 is"},
    {"scratch too large",
     {"f", {3, 3, 3}, {0, 3, 3}, 3, 3, launch_args},
     INT64_C(1) << 20,
     "scratch buffer 0"},
    {"too large a number",
     {"f", {3, 3, 3}, {0, 3, 3}, 3, 3, launch_args},
     INT64_C(1) << 32,
     "value 9: mul"},
};
/* clang-format on */

static void check_launch_row(void **state) {
    const struct launch_row *row = *state;
    hone_manifest m = launch_manifest(&row->launch);
    int64_t values[HONE_COUNT(launch_values)];
    hone_status st = hone_manifest_check(&m);
    if (!st) st = hone_launch_values(&m, &row->n, values);
    if (row->problem) {
        HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, row->problem);
    } else {
        HONE_ASSERT_OK(st);
    }
}

static void launch_values_are_computed(void **state) {
    (void)state;
    static const int64_t rows[][9] = {
  /* n   128  n    sum  1  -1   div mod min */
        {300, 128, 300, 428, 1, 427, 3, 44, 1},
        {0,   128, 0,   128, 1, 127, 0, 0,  0},
    };
    const hone_launch launch = {
        "f", {5, 3, 3},
         {0, 3, 3},
         3, 3, launch_args
    };
    hone_manifest m = launch_manifest(&launch);
    int64_t values[HONE_COUNT(launch_values)];
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        HONE_ASSERT_OK(hone_launch_values(&m, &rows[i][0], values));
        assert_memory_equal(values, &rows[i][1], sizeof rows[i] - sizeof rows[i][0]);
        assert_int_equal(values[8], rows[i][7] > 1 ? rows[i][7] : 1);
        assert_int_equal(values[9], rows[i][0] * rows[i][0]);
    }
}

/* Floors, whatever the signs; no division by zero, no overflow. */
static void launch_values_divide(void **state) {
    (void)state;
    static const struct {
        int64_t a, b, div, mod;
        bool is_number;
    } rows[] = {
        {7,         2,  3,  1,  true },
        {-7,        2,  -4, 1,  true },
        {7,         -2, -4, -1, true },
        {-7,        -2, 3,  -1, true },
        {-8,        2,  -4, 0,  true },
        {5,         0,  0,  0,  false},
        {INT64_MIN, -1, 0,  0,  false},
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        const hone_launch_value list[] = {
            {HONE_LAUNCH_CONST, 0, 0, rows[i].a},
            {HONE_LAUNCH_CONST, 0, 0, rows[i].b},
            {HONE_LAUNCH_DIV,   0, 1, 0        },
            {HONE_LAUNCH_MOD,   0, 1, 0        },
        };
        hone_manifest m = {.entry = "f", .value_count = 4, .values = list};
        int64_t values[4];
        HONE_ASSERT_OK(hone_manifest_check(&m));
        hone_code code = hone_status_consume(hone_launch_values(&m, NULL, values));
        assert_int_equal(code, rows[i].is_number ? HONE_CODE_OK : HONE_CODE_INVALID);
        if (!rows[i].is_number) continue;
        assert_int_equal(values[2], rows[i].div);
        assert_int_equal(values[3], rows[i].mod);
    }
}

static void launch_lists_are_checked(void **state) {
    (void)state;
    const hone_launch launch = {
        "f", {5, 3, 3},
         {0, 3, 3},
         3, 3, launch_args
    };
    hone_manifest m = launch_manifest(&launch);
    HONE_ASSERT_OK(hone_manifest_check(&m));
    m.size_count = 0;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "value 1 names number 0 of 0");
    m.size_count = 1;
    m.value_count = 9;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "scratch buffer 0");
    m.value_count = HONE_LAUNCH_MAX_VALUES + 1;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "values");
    const hone_launch_value forward = {HONE_LAUNCH_ADD, 0, 0, 0};
    m = (hone_manifest){.entry = "f", .value_count = 1, .values = &forward};
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "value 0 names number 0 of 0");
    const hone_launch_value itself[] = {
        {HONE_LAUNCH_CONST, 0, 0, 1},
        {HONE_LAUNCH_ADD,   0, 1, 0}
    };
    m = (hone_manifest){.entry = "f", .value_count = 2, .values = itself};
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "value 1 names number 1 of 1");
    m.value_count = 1;
    const hone_launch_value odd = {(hone_launch_op)77, 0, 0, 0};
    m.values = &odd;
    HONE_ASSERT_ERROR(hone_manifest_check(&m), HONE_CODE_INVALID, "operation 77");
}

static void requests_are_checked(void **state) {
    (void)state;
    hone_run_request r = {.manifest = {.entry = "f"}};
    HONE_ASSERT_ERROR(hone_run_request_check(&r), HONE_CODE_INVALID, "artifact");
    r.artifact_path = "k.so";
    HONE_ASSERT_OK(hone_run_request_check(&r));
    r.threads = -1;
    HONE_ASSERT_ERROR(hone_run_request_check(&r), HONE_CODE_INVALID, "threads is -1");
    r.threads = 1025;
    HONE_ASSERT_ERROR(hone_run_request_check(&r), HONE_CODE_INVALID, "threads is 1025");
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
    hone_launch_value values[] = {
        {HONE_LAUNCH_CONST, 0, 0, 1}
    };
    int32_t scratch[] = {0};
    hone_launch_arg launch_arg = {HONE_LAUNCH_ARG_VALUE, 0};
    hone_launch launch = {entry, {0}, {0}, 0, 1, &launch_arg};
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
                     .externs = externs,
                     .value_count = 1,
                     .values = values,
                     .scratch_count = 1,
                     .scratch = scratch,
                     .launch_count = 1,
                     .launches = &launch}
    };
    hone_run_request copy;
    hone_arena *arena = hone_arena_create(1024);
    HONE_ASSERT_OK(hone_run_request_copy(&r, arena, &copy));
    path[0] = name[0] = ext[0] = entry[0] = '?';
    bytes[0] = 9;
    arg.shape[0] = 9;
    sizes[1] = values[0].k = 9;
    scratch[0] = launch_arg.index = launch.grid[2] = 9;
    assert_string_equal(copy.artifact_path, "k.so");
    assert_string_equal(copy.manifest.entry, "f");
    assert_string_equal(copy.manifest.args[0].name, "A");
    assert_string_equal(copy.manifest.externs[0], "ext");
    assert_int_equal(copy.artifact_bytes[0], 1);
    assert_int_equal(copy.manifest.args[0].shape[0], 4);
    assert_int_equal(copy.manifest.sizes[1], 6);
    assert_int_equal(copy.manifest.values[0].k, 1);
    assert_int_equal(copy.manifest.scratch[0], 0);
    assert_string_equal(copy.manifest.launches[0].symbol, "f");
    assert_int_equal(copy.manifest.launches[0].grid[2], 0);
    assert_int_equal(copy.manifest.launches[0].args[0].index, 0);
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
        cmocka_unit_test(no_step_takes_less_than_no_time),
        cmocka_unit_test(sizes_of_arguments),
        cmocka_unit_test(manifests_are_checked),
        cmocka_unit_test(launch_values_are_computed),
        cmocka_unit_test(launch_values_divide),
        cmocka_unit_test(launch_lists_are_checked),
        cmocka_unit_test(requests_are_checked),
        cmocka_unit_test(policies_get_defaults),
        cmocka_unit_test(copies_stand_alone),
        cmocka_unit_test(statistics),
    };
    return HONE_RUN_ROWS("measure/launches", launch_rows, check_launch_row) +
           cmocka_run_group_tests_name("measure/values", tests, NULL, NULL);
}
