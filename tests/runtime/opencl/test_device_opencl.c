/* tests/runtime/opencl/test_device_opencl.c - an OpenCL device by programs of its own: launches one
 * after the other, scratch, values; what does not build; who writes where it may not. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/launch.h"
#include "runtime/device.h"
#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

enum { N = 200 };

static const char text[] =

    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void twice(__global const float *A, __global float *T, const long n) {\n"
    "  long i = get_global_id(0);\n"
    "  if (i < n) T[i] = A[i] * 2;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void turn(__global const float *T, __global float *B, const long n) {\n"
    "  long i = get_global_id(0);\n"
    "  __local float row[32];\n"
    "  row[get_local_id(0)] = i < n ? T[i] : 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  long j = get_group_id(0) * 32 + 31 - get_local_id(0);\n"
    "  if (j < n) B[j] = row[31 - get_local_id(0)] + 1;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void behind(__global const float *T, __global float *B, const long n) {\n"
    "  long i = get_global_id(0);\n"
    "  if (i < n) B[i] = T[i];\n"
    "  if (i == 0) B[n + 3] = 7;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void before(__global const float *T, __global float *B, const long n) {\n"
    "  long i = get_global_id(0);\n"
    "  if (i == 0) B[-2] = 7;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void into_input(__global float *A, __global float *B, const long n) {\n"
    "  long i = get_global_id(0);\n"
    "  if (i == 0) A[5] = 7;\n"
    "}\n";

/* T = 2 A on the device, then the kernel named from T, or A, to B. */
static const hone_launch_value values[] = {
    {HONE_LAUNCH_SIZE,  0, 0, 0 }, /* 0: n */
    {HONE_LAUNCH_CONST, 0, 0, 31}, /* 1 */
    {HONE_LAUNCH_ADD,   0, 1, 0 }, /* 2 */
    {HONE_LAUNCH_CONST, 0, 0, 32}, /* 3 */
    {HONE_LAUNCH_DIV,   2, 3, 0 }, /* 4: blocks */
    {HONE_LAUNCH_CONST, 0, 0, 1 }, /* 5 */
    {HONE_LAUNCH_CONST, 0, 0, 0 }, /* 6 */
    {HONE_LAUNCH_CONST, 0, 0, 4 }, /* 7 */
    {HONE_LAUNCH_MUL,   0, 7, 0 }, /* 8: bytes of T */
};
static const int32_t scratch[] = {8};
static const hone_launch_arg to_scratch[] = {
    {HONE_LAUNCH_ARG_BUFFER,  0},
    {HONE_LAUNCH_ARG_SCRATCH, 0},
    {HONE_LAUNCH_ARG_VALUE,   0}
};
static const hone_launch_arg from_scratch[] = {
    {HONE_LAUNCH_ARG_SCRATCH, 0},
    {HONE_LAUNCH_ARG_BUFFER,  1},
    {HONE_LAUNCH_ARG_VALUE,   0}
};
static const hone_launch_arg from_input[] = {
    {HONE_LAUNCH_ARG_BUFFER, 0},
    {HONE_LAUNCH_ARG_BUFFER, 1},
    {HONE_LAUNCH_ARG_VALUE,  0}
};

typedef struct world {
    hone_device *device;
    hone_device_module *module;
    hone_device_buffer *buffers[2];
    float a[N], b[N];
} world;

static void open_world(world *w) {
    hone_status st = hone_device_open("opencl", 0, &w->device);
    if (hone_status_code(st) == HONE_CODE_UNAVAILABLE) {
        print_message("%s\n", hone_status_message(st));
        hone_status_free(st);
        skip();
    }
    HONE_ASSERT_OK(st);
    for (int i = 0; i < N; i++)
        w->a[i] = (float)i * 0.5f;
    for (size_t i = 0; i < 2; i++)
        HONE_ASSERT_OK(hone_device_buffer_create(w->device, sizeof w->a, i, &w->buffers[i]));
    HONE_ASSERT_OK(hone_device_buffer_write(w->device, w->buffers[0], w->a));
    HONE_ASSERT_OK(hone_device_buffer_protect(w->device, w->buffers[0], false));
    HONE_ASSERT_OK(hone_device_buffer_poison(w->device, w->buffers[1]));
}

static void close_world(world *w) {
    hone_device_unload(w->device, w->module);
    for (int i = 0; i < 2; i++)
        hone_device_buffer_destroy(w->device, w->buffers[i]);
    hone_device_destroy(w->device);
}

/* The kernel named, behind `twice` when it reads what that leaves. */
static hone_status load(world *w, const char *symbol, const void *bytes, size_t count) {
    static const int64_t sizes[] = {N};
    const hone_arg args[] = {
        {.name = "A", .dtype = HONE_DTYPE_F32, .role = HONE_ARG_IN,  .rank = 1, .shape = {N}},
        {.name = "B", .dtype = HONE_DTYPE_F32, .role = HONE_ARG_OUT, .rank = 1, .shape = {N}}
    };
    bool is_alone = strcmp(symbol, "into_input") == 0;
    const hone_launch launches[] = {
        {"twice", {4, 5, 5}, {3, 5, 5}, 6, 3, to_scratch                          },
        {symbol,  {4, 5, 5}, {3, 5, 5}, 6, 3, is_alone ? from_input : from_scratch}
    };
    const hone_manifest manifest = {.abi_version = HONE_ABI_VERSION,
                                    .entry = "kernel",
                                    .arg_count = 2,
                                    .args = args,
                                    .size_count = 1,
                                    .sizes = sizes,
                                    .value_count = HONE_COUNT(values),
                                    .values = values,
                                    .scratch_count = 1,
                                    .scratch = scratch,
                                    .launch_count = 2,
                                    .launches = launches};
    const hone_device_artifact artifact = {.bytes = bytes, .byte_count = count};
    return hone_device_load(w->device, &artifact, &manifest, &w->module);
}

static int32_t run(world *w, int64_t count, hone_cache_state cache) {
    const hone_device_launch launch = {
        .module = w->module, .buffers = w->buffers, .count = count, .cache = cache};
    int64_t ns = 0;
    int32_t code = hone_device_run(w->device, &launch, &ns);
    if (code == 0) assert_true(ns > 0);
    return code;
}

static void assert_right(world *w) {
    HONE_ASSERT_OK(hone_device_buffer_read(w->device, w->buffers[1], w->b));
    for (int i = 0; i < N; i++)
        assert_true(w->b[i] == w->a[i] * 2 + 1);
    for (int i = 0; i < 2; i++)
        assert_true(hone_device_buffer_damage(w->device, w->buffers[i]) == INT64_MIN);
}

static void launches_run_in_order(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    HONE_ASSERT_OK(load(&w, "turn", text, sizeof text - 1));
    assert_int_equal(run(&w, 1, HONE_CACHE_HOT), 0);
    assert_right(&w);
    HONE_ASSERT_OK(hone_device_buffer_poison(w.device, w.buffers[1]));
    assert_int_equal(run(&w, 3, HONE_CACHE_COLD), 0);
    assert_right(&w);
    close_world(&w);
}

/* Other threads may be reading the environment while the library is opened. */
static void environment_stays_where_it_is(void **state) {
    (void)state;
    world w = {0};
    size_t count = 0;
    char **before = environ;
    while (before[count])
        count++;
    char **copy = hone_calloc(count + 1, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, before, (count + 1) * sizeof *copy);
    open_world(&w);
    int differs = memcmp(copy, before, (count + 1) * sizeof *copy);
    const char *way = getenv("POCL_WORK_GROUP_METHOD");
    close_world(&w);
    hone_free(copy);
    assert_int_equal(differs, 0);
    assert_string_equal(way, "loops");
}

static void what_is_no_program_is_refused(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    HONE_ASSERT_ERROR(load(&w, "turn", "\1\2\3\4", 4), HONE_CODE_ILLEGAL, "does not build");
    HONE_ASSERT_ERROR(load(&w, "other", text, sizeof text - 1), HONE_CODE_INVALID, "no kernel");
    close_world(&w);
}

static const struct row {
    const char *symbol;
    int buffer;
    int64_t damage;
} rows[] = {
    {"behind",     1, N * 4 + 12},
    {"before",     1, -5        }, /* its last byte */
    {"into_input", 0, 0         },
};

static void writing_elsewhere_shows(void **state) {
    const struct row *row = *state;
    world w = {0};
    open_world(&w);
    HONE_ASSERT_OK(load(&w, row->symbol, text, sizeof text - 1));
    assert_int_equal(run(&w, 1, HONE_CACHE_HOT), 0);
    int64_t damage = hone_device_buffer_damage(w.device, w.buffers[row->buffer]);
    close_world(&w);
    assert_int_equal(damage, row->damage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_stays_where_it_is), /* first: it is opened once */
        cmocka_unit_test(launches_run_in_order),
        cmocka_unit_test(what_is_no_program_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + HONE_RUN_ROWS("runtime/opencl", rows, writing_elsewhere_shows);
}
