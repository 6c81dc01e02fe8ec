/* tests/tuner/test_reference.c - check bundles of programs that nobody waits for: those that the
 * CPU's default schedule, and simple kernels of a device, make say what the plain program says. */
#include <math.h>
#include <string.h>

#include "graph/plan/tasks.h"
#include "ir/text/read/script.h"
#include "measure/check_bundle.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"
#include "tuner/task/reference.h"

static const struct row {
    const char *name, *program;
} rows[] = {
    {"sums of products, then a maximum",
     "@T.prim_func\n"
     "def main(A: T.Buffer((100, 84)), B: T.Buffer((84, 90)), C: T.Buffer((100, 90))):\n"
     "    P = T.alloc_buffer((100, 90))\n"
     "    for i, j, k in T.grid(100, 90, 84):\n"
     "        with T.block(\"P\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                P[vi, vj] = T.float32(0)\n"
     "            P[vi, vj] = P[vi, vj] + A[vi, vk] * B[vk, vj]\n"
     "    for i, j in T.grid(100, 90):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            C[vi, vj] = T.max(P[vi, vj], T.float32(0))\n"                      },
    {"short floats",
     "@T.prim_func\n"
     "def main(A: T.Buffer((64, 48), \"float16\"), B: T.Buffer((48, 32), \"float16\"), "
     "C: T.Buffer((64, 32), \"float16\")):\n"
     "    for i, j, k in T.grid(64, 32, 48):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float16(0)\n"
     "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"                   },
    {"vectors of a number repeated and of lanes in another order",
     "@T.prim_func\n"
     "def main(A: T.Buffer((64,)), C: T.Buffer((64,))):\n"
     "    for i in range(16):\n"
     "        with T.block(\"C\"):\n"
     "            vi = T.axis.spatial(16, i)\n"
     "            T.reads(A[vi * 4:vi * 4 + 4])\n"
     "            T.writes(C[vi * 4:vi * 4 + 4])\n"
     "            C[T.Ramp(vi * 4, 1, 4)] = T.max(A[T.Ramp(vi * 4, 1, 4)], "
     "T.Broadcast(T.float32(0.1), 4)) * T.Shuffle([A[T.Ramp(vi * 4, 1, 4)]], [3, 2, 1, 0]) + "
     "T.Broadcast(A[vi * 4], 4)\n"                                                   },
    {"integers",                                                   "@T.prim_func\n"
                 "def main(A: T.Buffer((50, 70), \"int32\"), C: T.Buffer((70,), \"int32\")):\n"
                 "    for j, k in T.grid(70, 50):\n"
                 "        with T.block(\"C\"):\n"
                 "            vj, vk = T.axis.remap(\"SR\", [j, k])\n"
                 "            with T.init():\n"
                 "                C[vj] = 0\n"
                 "            C[vj] = C[vj] + A[vk, vj] * A[vk, 0]\n"},
};

typedef struct world {
    char *dir;
    hone_builder *builder;
    hone_runner *runner, *device; /* device: NULL where there is no OpenCL */
    hone_target host, device_target;
} world;
static world shared;

static hone_runner *open_runner(const char *device) {
    hone_runner *runner = NULL;
    const hone_runner_local_options options = {.executor_path = hone_test_build_path("hone-runner"),
                                               .device = device};
    hone_status st = hone_runner_create_local(&options, &runner);
    if (device && st) { /* a machine without OpenCL */
        hone_status_free(st);
        return NULL;
    }
    HONE_ASSERT_OK(st);
    return runner;
}

static void set_up(void) {
    const hone_builder_local_options builder = {.worker_path = hone_test_build_path("hone-worker")};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-reference", &shared.dir));
    HONE_ASSERT_OK(hone_builder_create_local(&builder, &shared.builder));
    HONE_ASSERT_OK(hone_target_detect(&shared.host));
    HONE_ASSERT_OK(hone_target_parse("opencl", &shared.device_target));
    shared.runner = open_runner(NULL);
    shared.device = open_runner("opencl");
}

static void tear_down(void) {
    hone_runner_destroy(shared.runner);
    hone_runner_destroy(shared.device);
    hone_builder_release(shared.builder);
    HONE_ASSERT_OK(hone_fs_remove_tree(shared.dir));
    hone_free(shared.dir);
}

typedef struct made {
    hone_arena *arena;
    hone_check_bundle bundle;
} made;

/* The bundle of a task by a way: patience 0 is that of users, 1 ns is none. */
static void make(const hone_task_list *list, int64_t patience_ns, hone_runner *device, made *out) {
    out->arena = hone_arena_create(4096);
    hone_tune_task task = {.task = &list->items[0], .arena = out->arena};
    const hone_reference_options options = {.builder = shared.builder,
                                            .runner = shared.runner,
                                            .target = &shared.host,
                                            .device_runner = device,
                                            .device_target = &shared.device_target,
                                            .patience_ns = patience_ns,
                                            .work_dir = shared.dir,
                                            .seed = 7};
    HONE_ASSERT_OK(hone_make_reference(&task, &options));
    HONE_ASSERT_OK(hone_check_bundle_open(task.check_path, &out->bundle));
}

static void free_made(made *m) {
    hone_check_bundle_close(&m->bundle);
    hone_arena_destroy(m->arena);
}

/* f64 twins differ by the order of their sums, and bounds are of the same size. */
static void compare(const made *got, const made *want) {
    assert_int_equal(got->bundle.count, want->bundle.count);
    for (size_t i = 0; i < want->bundle.count; i++) {
        const hone_check_tensor *g = &got->bundle.tensors[i], *w = &want->bundle.tensors[i];
        hone_tensor_difference difference;
        if (!w->reference) continue;
        assert_true(hone_dtype_equal(g->reference_dtype, w->reference_dtype));
        HONE_ASSERT_OK(hone_tensor_compare(g->reference_dtype, g->reference, w->reference_dtype,
                                           w->reference, w->count, 1e-9, &difference));
        if (difference.wrong_count) {
            fail_msg("element %lld is %g, must be %g", (long long)difference.max_index,
                     difference.got, difference.want);
        }
        assert_true(g->bound <= 16 * w->bound);
    }
}

static hone_module *parse(const char *text) {
    hone_module *module = NULL;
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "program", &module));
    hone_module_freeze(module);
    return module;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = parse(row->program);
    hone_task_list list;
    made plain, scheduled, simple;
    HONE_ASSERT_OK(hone_tasks_extract(&module, 1, &list));
    make(&list, 0, NULL, &plain);
    make(&list, 1, NULL, &scheduled);
    compare(&scheduled, &plain);
    free_made(&scheduled);
    if (shared.device) {
        make(&list, 1, shared.device, &simple);
        compare(&simple, &plain);
        free_made(&simple);
    }
    free_made(&plain);
    hone_task_list_deinit(&list);
    hone_module_release(module);
}

/* What is left out of a sum is no rounding, nor is a tile that is wrong. */
static void rounding_explains_little(void **state) {
    (void)state;
    assert_true(hone_rounding_bound(HONE_DTYPE_F32, 2 * 4096, 200) < 0.02);
    assert_true(hone_rounding_bound(HONE_DTYPE_F16, 2 * 64, 30) < 3);
    assert_true(hone_rounding_bound(HONE_DTYPE_F32, 0, 1) > 0);
    assert_true(hone_rounding_bound(HONE_DTYPE_I32, 1e6, 1e6) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_explains_little)};
    set_up();
    int failed = HONE_RUN_ROWS("tuner/reference", rows, check_row) +
                 cmocka_run_group_tests_name("tuner/reference", tests, NULL, NULL);
    tear_down();
    return failed;
}
