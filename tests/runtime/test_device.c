/* tests/runtime/test_device.c - what every device must do; and the probes. */
#include <math.h>
#include <sched.h>

#include "runtime/cache_flush.h"
#include "runtime/device.h"
#include "runtime/device_opencl.h"
#include "runtime/model/abi.h"
#include "runtime/probe.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

/* Drivers are not made to be looked at by TSan. */
static hone_status make_opencl(hone_device **out) {
#ifdef __SANITIZE_THREAD__
    *out = NULL;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "no OpenCL under TSan");
#else
    return hone_device_create_opencl(0, 0, out);
#endif
}

static const struct row {
    const char *name;
    hone_status (*make)(hone_device **out);
} rows[] = {
    {"cpu",    hone_device_create_cpu },
    {"null",   hone_device_create_null},
    {"opencl", make_opencl            },
};

static void buffers_hold_what_is_written(hone_device *device) {
    for (size_t bytes = 0; bytes < 9000; bytes = bytes * 3 + 1) {
        hone_device_buffer *b = NULL;
        unsigned char *data = hone_malloc(bytes + 1), *back = hone_calloc(1, bytes + 1);
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)(i * 7);
        HONE_ASSERT_OK(hone_device_buffer_create(device, bytes, bytes % 2, &b));
        HONE_ASSERT_OK(hone_device_buffer_write(device, b, data));
        assert_true(hone_device_buffer_damage(device, b) == INT64_MIN);
        HONE_ASSERT_OK(hone_device_buffer_protect(device, b, false));
        HONE_ASSERT_OK(hone_device_buffer_read(device, b, back));
        assert_memory_equal(data, back, bytes);
        HONE_ASSERT_OK(hone_device_buffer_protect(device, b, true));
        HONE_ASSERT_OK(hone_device_buffer_poison(device, b));
        HONE_ASSERT_OK(hone_device_buffer_read(device, b, back));
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(back[i], 0xFF);
        hone_device_buffer_destroy(device, b);
        hone_free(data);
        hone_free(back);
    }
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_device *device = NULL;
    hone_device_module *module = NULL;
    hone_status st = row->make(&device);
    if (hone_status_code(st) == HONE_CODE_UNAVAILABLE) {
        print_message("%s\n", hone_status_message(st));
        hone_status_free(st);
        skip();
    }
    HONE_ASSERT_OK(st);
    HONE_ASSERT_CODE(hone_device_set_threads(device, 0), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_device_set_threads(device, 2));
    HONE_ASSERT_OK(hone_device_set_threads(device, 1));
    buffers_hold_what_is_written(device);
    hone_manifest manifest = {.abi_version = HONE_ABI_VERSION + 1, .entry = "f"};
    const hone_device_artifact artifact = {.path = "/nonexistent.so"};
    HONE_ASSERT_ERROR(hone_device_load(device, &artifact, &manifest, &module), HONE_CODE_VERSION,
                      "ABI");
    manifest.entry = NULL;
    HONE_ASSERT_CODE(hone_device_load(device, &artifact, &manifest, &module), HONE_CODE_INVALID);
    assert_null(module);
    char message[64] = "left over";
    hone_device_take_error(device, message, sizeof message);
    assert_string_equal(message, "");
    hone_device_destroy(device);
}

/* Threads that fill the machine are pinned; afterwards the caller may go everywhere again. */
static void affinity_is_given_back(void **state) {
    (void)state;
    cpu_set_t before, after;
    hone_device *device = NULL;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    HONE_ASSERT_OK(hone_device_create_cpu(&device));
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(affinity_is_given_back),
                                       cmocka_unit_test(probes_give_numbers)};
    return HONE_RUN_ROWS("runtime/device", rows, check_row) +
           cmocka_run_group_tests_name("runtime/probes", tests, NULL, NULL);
}
