/* tests/conformance/device_cases.c - see device_cases.h. */
#include "tests/conformance/device_cases.h"

#include <stdio.h>
#include <string.h>

#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "tests/runtime/device_manifest.h"
#include "tests/support/hone_test.h"

/* ---- every device ---- */

static void buffers(hone_device *device) {
    for (size_t bytes = 0; bytes < 9000; bytes = bytes * 3 + 1) {
        hone_device_buffer *b = NULL;
        unsigned char *data = hone_malloc(bytes + 1), *back = hone_calloc(1, bytes + 1);
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)(i * 7);
        HONE_ASSERT_OK(hone_device_buffer_create(device, bytes, bytes % 2, &b));
        HONE_ASSERT_OK(hone_device_buffer_write(device, b, data));
        assert_true(hone_device_buffer_damage(device, b) == INT64_MIN);
        HONE_ASSERT_OK(hone_device_buffer_protect(device, b, false));
        assert_true(hone_device_buffer_damage(device, b) == INT64_MIN);
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

static void refuses(hone_device *device) {
    hone_device_module *module = NULL;
    HONE_ASSERT_CODE(hone_device_set_threads(device, 0), HONE_CODE_INVALID);
    HONE_ASSERT_OK(hone_device_set_threads(device, 2));
    HONE_ASSERT_OK(hone_device_set_threads(device, 1));
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
}

/* ---- devices apart ---- */

enum { MANY = 70001 };

/* A and B of a manifest, and what is in them. */
typedef struct bench {
    hone_device *device;
    hone_device_module *module;
    hone_device_buffer *buffers[2];
    int64_t count;
    float *a, *b;
} bench;

static void bench_init(bench *w, hone_device *device, const device_manifest *m) {
    const hone_device_artifact artifact = device_artifact();
    *w = (bench){.device = device, .count = m->args[0].shape[0]};
    const size_t bytes = (size_t)w->count * sizeof(float);
    w->a = hone_malloc(bytes + 1);
    w->b = hone_malloc(bytes + 1);
    for (int64_t i = 0; i < w->count; i++)
        w->a[i] = (float)(i % 1000);
    HONE_ASSERT_OK(hone_device_load(device, &artifact, &m->manifest, &w->module));
    for (size_t i = 0; i < 2; i++)
        HONE_ASSERT_OK(hone_device_buffer_create(device, bytes, i, &w->buffers[i]));
    HONE_ASSERT_OK(hone_device_buffer_write(device, w->buffers[0], w->a));
    HONE_ASSERT_OK(hone_device_buffer_protect(device, w->buffers[0], false));
    HONE_ASSERT_OK(hone_device_buffer_poison(device, w->buffers[1]));
}

static void bench_deinit(bench *w) {
    hone_device_unload(w->device, w->module);
    hone_device_buffer_destroy(w->device, w->buffers[0]);
    hone_device_buffer_destroy(w->device, w->buffers[1]);
    hone_free(w->a);
    hone_free(w->b);
}

static int32_t bench_run(bench *w, int64_t count, hone_cache_state cache) {
    int64_t ns = -1;
    const hone_device_launch launch = {
        .module = w->module, .buffers = w->buffers, .count = count, .cache = cache};
    int32_t code = hone_device_run(w->device, &launch, &ns);
    assert_true(ns >= 0);
    return code;
}

static void expect_whole(bench *w) {
    HONE_ASSERT_OK(hone_device_buffer_read(w->device, w->buffers[1], w->b));
    for (int64_t i = 0; i < w->count; i++)
        assert_true(w->b[i] == 2 * w->a[i] + 1);
}

static void expect_unharmed(const bench *w) {
    for (int i = 0; i < 2; i++)
        assert_true(hone_device_buffer_damage(w->device, w->buffers[i]) == INT64_MIN);
}

static void run_rightly(hone_device *device, const device_manifest *m) {
    bench w;
    bench_init(&w, device, m);
    assert_int_equal(bench_run(&w, 1, HONE_CACHE_HOT), 0);
    expect_whole(&w);
    assert_int_equal(bench_run(&w, 50, HONE_CACHE_HOT), 0);
    assert_int_equal(bench_run(&w, 3, HONE_CACHE_COLD), 0);
    assert_int_equal(bench_run(&w, 0, HONE_CACHE_HOT), 0);
    expect_whole(&w);
    expect_unharmed(&w);
    bench_deinit(&w);
}

static void computes(hone_device *device) {
    static const int64_t sizes[] = {1, 127, 128, 129, MANY};
    device_manifest m;
    for (size_t i = 0; i < HONE_COUNT(sizes); i++) {
        device_manifest_init(&m, "self_test", sizes[i]);
        run_rightly(device, &m);
        device_manifest_init_steps(&m, "step_double", "step_add", sizes[i]);
        run_rightly(device, &m);
    }
}

/* Nothing is launched, and that is right. */
static void nothing(hone_device *device) {
    device_manifest m;
    device_manifest_init(&m, "stray", 0);
    run_rightly(device, &m);
}

static void shared_memory(hone_device *device) {
    static const int64_t bytes[] = {DEVICE_BLOCK * 4,
                                    48 * 1024 + 4}; /* the last has to be asked for */
    device_manifest m;
    bench w;
    for (size_t i = 0; i < HONE_COUNT(bytes); i++) {
        device_manifest_init(&m, "reverse", 10 * DEVICE_BLOCK);
        m.values[DEVICE_VALUE_SHARED].k = bytes[i];
        bench_init(&w, device, &m);
        assert_int_equal(bench_run(&w, 1, HONE_CACHE_HOT), 0);
        HONE_ASSERT_OK(hone_device_buffer_read(device, w.buffers[1], w.b));
        for (int64_t k = 0; k < w.count; k++) {
            int64_t in_block = k % DEVICE_BLOCK;
            assert_true(w.b[k] == w.a[k - in_block + DEVICE_BLOCK - 1 - in_block]);
        }
        bench_deinit(&w);
    }
}

static void expect_damage(hone_device *device, const char *symbol, int buffer, int64_t at) {
    device_manifest m;
    bench w;
    device_manifest_init(&m, symbol, 1000);
    bench_init(&w, device, &m);
    assert_int_equal(bench_run(&w, 1, HONE_CACHE_HOT), 0);
    assert_true(hone_device_buffer_damage(device, w.buffers[buffer]) == at);
    assert_true(hone_device_buffer_damage(device, w.buffers[1 - buffer]) == INT64_MIN);
    bench_deinit(&w);
}

static void damage(hone_device *device) {
    expect_damage(device, "behind", 1, 4000);
    expect_damage(device, "before", 1, -1);
    expect_damage(device, "into_input", 0, 0);
}

/* Beside scratch, which no argument's guards tell of. */
static void scratch_damage(hone_device *device) {
    char said[128];
    device_manifest m;
    bench w;
    device_manifest_init_steps(&m, "behind", "step_add", 1000);
    bench_init(&w, device, &m);
    assert_int_not_equal(bench_run(&w, 1, HONE_CACHE_HOT), 0);
    assert_int_equal(hone_device_fault(device), HONE_FAILURE_RUN_CRASH);
    hone_device_take_error(device, said, sizeof said);
    assert_non_null(strstr(said, "scratch buffer 0"));
    bench_deinit(&w);
}

/* The context dies; what follows is not the fault of who follows. */
static void expect_fault(hone_device *device, const char *symbol) {
    char said[256];
    device_manifest m;
    bench w, next;
    device_manifest_init(&m, "self_test", 1000);
    bench_init(&next, device, &m);
    device_manifest_init(&m, symbol, 1000);
    bench_init(&w, device, &m);
    assert_int_not_equal(bench_run(&w, 1, HONE_CACHE_HOT), 0);
    assert_int_equal(hone_device_fault(device), HONE_FAILURE_RUN_CRASH);
    hone_device_take_error(device, said, sizeof said);
    assert_true(said[0] != 0);
    assert_int_not_equal(bench_run(&next, 1, HONE_CACHE_HOT), 0);
    assert_int_equal(hone_device_fault(device), HONE_FAILURE_DEVICE_LOST);
    hone_status st = hone_device_buffer_write(device, w.buffers[1], w.a);
    assert_int_equal(hone_status_consume(st), HONE_CODE_IO);
    bench_deinit(&w);
    bench_deinit(&next);
}

static void stray(hone_device *device) {
    expect_fault(device, "stray");
}

static void crooked(hone_device *device) {
    expect_fault(device, "crooked");
}

static void trap(hone_device *device) {
    expect_fault(device, "trap");
}

/* Ends by being killed. */
static void hang(hone_device *device) {
    device_manifest m;
    bench w;
    device_manifest_init(&m, "hang", 1000);
    bench_init(&w, device, &m);
    fputs("hanging\n", stderr);
    (void)bench_run(&w, 1, HONE_CACHE_HOT);
    bench_deinit(&w);
    fail_msg("came back");
}

static void expect_no_load(hone_device *device, const hone_device_artifact *artifact,
                           const device_manifest *m, hone_code code, const char *part) {
    hone_device_module *module = NULL;
    HONE_ASSERT_ERROR(hone_device_load(device, artifact, &m->manifest, &module), code, part);
    assert_null(module);
}

static void refuses_to_load(hone_device *device) {
    static const char text[] = "this is no code";
    const hone_device_artifact garbage = {.bytes = (const uint8_t *)text, .byte_count = 15},
                               missing = {.path = "/nonexistent.ptx"}, code = device_artifact();
    device_manifest m;
    device_manifest_init(&m, "self_test", 10);
    expect_no_load(device, &garbage, &m, HONE_CODE_INVALID, "cannot load it");
    expect_no_load(device, &missing, &m, HONE_CODE_NOT_FOUND, "nonexistent");
    m.manifest.target = "llvm";
    expect_no_load(device, &code, &m, HONE_CODE_UNSUPPORTED, "'llvm'");
    m.manifest.target = "cuda -arch=sm_999";
    expect_no_load(device, &code, &m, HONE_CODE_UNSUPPORTED, "sm_999");
    device_manifest_init(&m, "not_there", 10);
    expect_no_load(device, &code, &m, HONE_CODE_INVALID, "'not_there'");
    device_manifest_init(&m, "reverse", 10);
    m.values[DEVICE_VALUE_SHARED].k = 1 << 20;
    expect_no_load(device, &code, &m, HONE_CODE_INVALID, "shared memory");
    device_manifest_init_steps(&m, "step_double", "step_add", 10);
    m.values[DEVICE_VALUE_BYTES].k = INT64_C(1) << 43; /* more than any device has */
    expect_no_load(device, &code, &m, HONE_CODE_INVALID, "scratch buffer 0");
    device_manifest_init(&m, "self_test", 10);
    m.manifest.launch_count = m.manifest.value_count = 0;
    expect_no_load(device, &code, &m, HONE_CODE_INVALID, "of the host");
}

const device_case device_cases[] = {
    {"buffers",         DEVICE_EVERY, false, buffers        },
    {"refuses",         DEVICE_EVERY, false, refuses        },
    {"computes",        DEVICE_APART, false, computes       },
    {"nothing",         DEVICE_APART, false, nothing        },
    {"shared_memory",   DEVICE_APART, false, shared_memory  },
    {"damage",          DEVICE_APART, false, damage         },
    {"scratch_damage",  DEVICE_APART, false, scratch_damage },
    {"refuses_to_load", DEVICE_APART, false, refuses_to_load},
    {"stray",           DEVICE_APART, false, stray          },
    {"crooked",         DEVICE_APART, false, crooked        },
    {"trap",            DEVICE_APART, false, trap           },
    {"hang",            DEVICE_APART, true,  hang           },
};
const int device_case_count = (int)HONE_COUNT(device_cases);
