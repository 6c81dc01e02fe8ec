/* tests/runtime/cuda/test_device_cuda.c - a card's device on the fake driver: whatever call fails,
 * there is a status or a failure class, and nothing is left behind; what is launched is what was
 * asked.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cuda/cuda_fault.h"
#include "runtime/cuda/device_cuda.h"
#include "support/core/alloc.h"
#include "tests/runtime/cuda/fake_cuda/fake_cuda.h"
#include "tests/runtime/device_manifest.h"
#include "tests/support/hone_test.h"

enum { ELEMENTS = 1000, MACHINE_ERROR = 999, ROUNDS = 40 };

static fake_cuda_fail_function *fail_at;
static fake_cuda_look_function *look;
static unsigned int (*last_error)(void);
static const char *library_path;

static void open_fake(void) {
    static char path[1024];
    snprintf(path, sizeof path, "%s", hone_test_build_path("tests/fake_cuda/libcuda.so.1"));
    library_path = path;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    void *symbols[] = {dlsym(library, "fake_cuda_fail"), dlsym(library, "fake_cuda_look"),
                       dlsym(library, "cudaGetLastError")};
    memcpy(&fail_at, &symbols[0], sizeof fail_at); /* ISO C has no cast for this */
    memcpy(&look, &symbols[1], sizeof look);
    memcpy(&last_error, &symbols[2], sizeof last_error);
    assert_true(fail_at && look && last_error);
}

/* All that a trial does; a run that fails is a status here. */
static hone_status whole_trial(hone_device *device, const device_manifest *m) {
    const hone_device_artifact code = device_artifact();
    hone_device_module *module = NULL;
    hone_device_buffer *buffers[2] = {NULL, NULL};
    float a[ELEMENTS] = {0}, b[ELEMENTS];
    int64_t ns;
    hone_status st = HONE_OK;
    for (size_t i = 0; i < 2 && !st; i++)
        st = hone_device_buffer_create(device, sizeof a, i, &buffers[i]);
    if (!st) st = hone_device_buffer_write(device, buffers[0], a);
    if (!st) st = hone_device_buffer_protect(device, buffers[0], false);
    if (!st) st = hone_device_buffer_poison(device, buffers[1]);
    if (!st) st = hone_device_load(device, &code, &m->manifest, &module);
    const hone_device_launch launch = {
        .module = module, .buffers = buffers, .count = 1, .cache = HONE_CACHE_COLD};
    if (!st && hone_device_run(device, &launch, &ns)) {
        char said[128];
        hone_device_take_error(device, said, sizeof said);
        assert_true(said[0] && hone_device_fault(device) != HONE_FAILURE_NONE);
        st = HONE_ERROR(HONE_CODE_IO, "%s", said);
    }
    if (!st) st = hone_device_buffer_read(device, buffers[1], b);
    if (!st) assert_true(b[0] == 1);
    hone_device_unload(device, module);
    hone_device_buffer_destroy(device, buffers[0]);
    hone_device_buffer_destroy(device, buffers[1]);
    return st;
}

static hone_status from_begin_to_end(hone_cuda_library library) {
    const hone_device_cuda_options options = {.library = library, .library_path = library_path};
    hone_device *device = NULL;
    device_manifest m;
    device_manifest_init_steps(&m, "step_double", "step_add", ELEMENTS);
    m.values[DEVICE_VALUE_SHARED].k = 45000; /* so that it has to be asked for */
    HONE_TRY(hone_device_create_cuda(&options, &device));
    hone_status st = whole_trial(device, &m);
    hone_device_destroy(device);
    return st;
}

static const struct row {
    const char *symbol;
    int calls[2]; /* at least so many in all of it, by the driver and by the runtime */
} rows[] = {
    {"cuInit",                   {1, 0}},
    {"cuDeviceGetCount",         {1, 2}},
    {"cuDeviceGet",              {1, 0}},
    {"cuDeviceGetName",          {1, 1}},
    {"cuDeviceTotalMem_v2",      {1, 1}},
    {"cuDeviceGetAttribute",     {8, 8}},
    {"cuDevicePrimaryCtxRetain", {1, 0}},
    {"cuCtxPushCurrent_v2",      {1, 0}},
    {"cuCtxSetCurrent",          {0, 1}},
    {"cuStreamCreate",           {1, 1}},
    {"cuEventCreate",            {2, 2}},
    {"cuMemAlloc_v2",            {4, 4}},
    {"cuMemcpyHtoDAsync_v2",     {1, 1}},
    {"cuMemsetD8Async",          {8, 8}},
    {"cuModuleLoadDataEx",       {2, 2}},
    {"cuModuleGetFunction",      {2, 2}},
    {"cuFuncSetAttribute",       {2, 2}},
    {"cuEventRecord",            {2, 2}},
    {"cuLaunchKernel",           {2, 2}},
    {"cuStreamSynchronize",      {2, 2}},
    {"cuEventElapsedTime",       {1, 1}},
};

/* No memory, event or code, and no error that somebody else could take for an own one. */
static void check_nothing_is_left(void) {
    fake_cuda_record record;
    look(&record);
    assert_int_equal(record.allocations, 0);
    assert_int_equal(record.events, 0);
    assert_int_equal(record.modules, 0);
    assert_int_equal(record.astray, 0);
    assert_int_equal(last_error(), 0);
}

static void check_library(const struct row *row, hone_cuda_library library, int calls) {
    int failed = 0;
    for (int after = 0; after < ROUNDS; after++) {
        fail_at(row->symbol, after, MACHINE_ERROR);
        hone_status st = from_begin_to_end(library);
        fail_at(row->symbol, 0, 0);
        failed += st != HONE_OK;
        hone_status_free(st);
        check_nothing_is_left();
        if (failed <= after) break; /* there are no more calls */
    }
    if (failed < calls) fail_msg("%d calls failed, want %d", failed, calls);
}

/* The n-th call of each function fails, for every n that there is. */
static void check_row(void **state) {
    const struct row *row = *state;
    check_library(row, HONE_CUDA_DRIVER, row->calls[0]);
    check_library(row, HONE_CUDA_RUNTIME, row->calls[1]);
}

static void goes_well_by_both(void **state) {
    (void)state;
    HONE_ASSERT_OK(from_begin_to_end(HONE_CUDA_DRIVER));
    HONE_ASSERT_OK(from_begin_to_end(HONE_CUDA_RUNTIME));
    check_nothing_is_left();
}

/* Sizes of grids and blocks, shared bytes, and the number behind two addresses. */
static void launches_what_the_manifest_says(void **state) {
    (void)state;
    fake_cuda_record record;
    HONE_ASSERT_OK(from_begin_to_end(HONE_CUDA_DRIVER));
    look(&record);
    assert_string_equal(record.last.symbol, "step_add");
    assert_int_equal(record.last.grid[0], 8);
    assert_int_equal(record.last.grid[1], 1);
    assert_int_equal(record.last.block[0], DEVICE_BLOCK);
    assert_int_equal(record.last.shared_bytes, 45000);
    assert_int_equal(record.last.params[2], ELEMENTS);
    assert_true(record.last.params[0] != record.last.params[1]);
}

static void errors_have_an_owner(void **state) {
    (void)state;
    assert_int_equal(hone_cuda_fault_of(700).failure, HONE_FAILURE_RUN_CRASH);
    assert_true(hone_cuda_fault_of(700).kills);
    assert_int_equal(hone_cuda_fault_of(701).failure, HONE_FAILURE_RUN_CRASH);
    assert_false(hone_cuda_fault_of(701).kills);
    assert_int_equal(hone_cuda_fault_of(702).failure, HONE_FAILURE_RUN_TIMEOUT);
    assert_int_equal(hone_cuda_fault_of(214).failure, HONE_FAILURE_DEVICE_LOST); /* ECC */
    assert_int_equal(hone_cuda_fault_of(2).failure, HONE_FAILURE_DEVICE_LOST);
}

static hone_status run_once(void *context) {
    (void)context;
    return from_begin_to_end(HONE_CUDA_DRIVER);
}

static void survives_want_of_memory(void **state) {
    (void)state;
    hone_test_sweep_allocs(run_once, NULL);
}

static void says_what_lacks(void **state) {
    (void)state;
    hone_device *device = NULL;
    hone_device_cuda_options options = {.library = HONE_CUDA_DRIVER,
                                        .library_path = "/nonexistent/libcuda.so.1"};
    HONE_ASSERT_ERROR(hone_device_create_cuda(&options, &device), HONE_CODE_UNAVAILABLE,
                      "no CUDA driver");
    options.library = HONE_CUDA_RUNTIME;
    HONE_ASSERT_ERROR(hone_device_create_cuda(&options, &device), HONE_CODE_UNAVAILABLE,
                      "no CUDA runtime");
    options.library_path = library_path;
    options.ordinal = 2;
    HONE_ASSERT_ERROR(hone_device_create_cuda(&options, &device), HONE_CODE_UNAVAILABLE,
                      "no NVIDIA card 2: 2 found");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_well_by_both), cmocka_unit_test(launches_what_the_manifest_says),
        cmocka_unit_test(errors_have_an_owner), cmocka_unit_test(survives_want_of_memory),
        cmocka_unit_test(says_what_lacks)};
    open_fake();
    return HONE_RUN_ROWS("runtime/device_cuda", rows, check_row) +
           cmocka_run_group_tests_name("runtime/device_cuda", tests, NULL, NULL);
}
