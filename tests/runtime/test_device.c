/* tests/runtime/test_device.c - pinning, devices by name, and the probes; what every device must do
 * is tests/conformance/test_device_conformance.c. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "runtime/cache_flush.h"
#include "runtime/device.h"
#include "runtime/probe.h"
#include "tests/support/hone_test.h"

static void *do_nothing(void *arg) {
    return arg;
}

/* ThreadSanitizer starts a thread of its own beside the first one of a process, and a count of
 * threads that is off by one pins none. */
static void start_the_sanitizer(void) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Threads that fill the machine are pinned; afterwards the caller may go everywhere again. */
static void affinity_is_given_back(void **state) {
    (void)state;
    cpu_set_t before, after;
    hone_device *device = NULL;
    start_the_sanitizer();
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    HONE_ASSERT_OK(hone_device_open("cpu", 0, &device));
    HONE_ASSERT_OK(hone_device_set_threads(device, CPU_COUNT(&before)));
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    if (CPU_COUNT(&before) > 1) assert_int_equal(CPU_COUNT(&after), 1);
    HONE_ASSERT_OK(hone_device_set_threads(device, 1));
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    HONE_ASSERT_OK(hone_device_set_threads(device, CPU_COUNT(&before)));
    hone_device_destroy(device);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

static void probes_give_numbers(void **state) {
    (void)state;
    hone_reference_kernel kernel;
    int cpus[2];
    assert_true(hone_reference_kernel_init(&kernel));
    double ns = hone_reference_kernel_time(&kernel);
    hone_reference_kernel_deinit(&kernel);
    assert_true(ns > 0 && isfinite(ns));
    if (hone_probe_cpus(cpus)) {
        double trip = hone_probe_round_trip(cpus);
        assert_true(isnan(trip) || (trip > 0 && trip < 1e9)); /* NAN on a very busy machine */
    }
    char line[300] = {0};
    hone_cache_flush(line + 1, 200); /* any alignment */
    hone_cache_flush(line, 0);
}

static const struct row {
    const char *name;
    hone_code code;
    bool is_host;
} rows[] = {
    {"cpu",         HONE_CODE_OK,          true },
    {"null",        HONE_CODE_OK,          true },
    {"cpu:0",       HONE_CODE_OK,          true },
    {"cpu:1",       HONE_CODE_UNAVAILABLE, true },
    {"null:2",      HONE_CODE_UNAVAILABLE, true },
    {"cuda:999",    HONE_CODE_UNAVAILABLE, false},
    {"",            HONE_CODE_INVALID,     false},
    {"cp",          HONE_CODE_INVALID,     false},
    {"cpux",        HONE_CODE_INVALID,     false},
    {"cpu:",        HONE_CODE_INVALID,     false},
    {"cuda:1x",     HONE_CODE_INVALID,     false},
    {"cuda:999999", HONE_CODE_INVALID,     false},
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_device *device = NULL;
    HONE_ASSERT_CODE(hone_device_open(row->name, 0, &device), row->code);
    assert_true((device != NULL) == (row->code == HONE_CODE_OK));
    assert_true(hone_device_name_is_host(row->name) == row->is_host);
    assert_true(hone_device_name_is_alone(row->name) == (strcmp(row->name, "cuda:999") == 0));
    hone_device_destroy(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(affinity_is_given_back),
                                       cmocka_unit_test(probes_give_numbers)};
    return HONE_RUN_ROWS("runtime/device", rows, check_row) +
           cmocka_run_group_tests_name("runtime/probes", tests, NULL, NULL);
}
