/* tests/codegen/test_device_code.c - programs for GPUs as OpenCL C, on the device that is there,
 * compute what the interpreter says; as CUDA C they are what nvcc takes. HONE_SEQUENCES sets how
 * many random schedules. */
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "schedule/gpu/gpu_schedule.h"
#include "support/core/attributes.h"
#include "tests/lower/device/gpu_recipe.h"
#include "tests/schedule/steps/random_sequence.h"
#include "tests/support/gpu/cuda_tools.h"
#include "tests/support/gpu/run_opencl.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

/* ---- by hand ---- */

#define TWO(shape, dtype)                                                                          \
    "def main(A: T.Buffer((" shape ",), \"" dtype "\"), B: T.Buffer((" shape ",), \"" dtype        \
    "\")):\n"
#define BLOCKS(count) "  for b in T.thread_binding(" count ", thread=\"blockIdx.x\"):\n"
#define THREADS(count) "    for t in T.thread_binding(" count ", thread=\"threadIdx.x\"):\n"
#define SHARED(name, count, dtype)                                                                 \
    "    " name " = T.alloc_buffer((" count ",), \"" dtype "\", scope=\"shared\")\n"

/* clang-format off */
static const struct row {
    const char *name, *text;
} rows[] = {
    {"each thread an element", TWO("256", "float32") BLOCKS("4") THREADS("64")
     "      B[b * 64 + t] = T.exp(A[b * 64 + t]) * T.float32(2)\n"},
    {"a neighbour's element", TWO("64", "float32") BLOCKS("1") SHARED("S", "64", "float32")
     THREADS("64") "      S[t] = A[t]\n"
     THREADS("64") "      B[t] = S[63 - t] + T.float32(1)\n"},
    {"again and again", TWO("64", "float32") BLOCKS("1") SHARED("S", "64", "float32")
     "    for k in range(4):\n"
     "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
     "        S[t] = A[t] + T.cast(k, \"float32\")\n"
     "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
     "        B[t] = S[63 - t] + T.float32(1)\n"},
    {"a condition on which threads do not agree",
     TWO("64", "float32") BLOCKS("1") SHARED("S", "64", "float32")
     THREADS("64") "      S[t] = A[t]\n"
     THREADS("64") "      if t < 40:\n        B[t] = S[39 - t] + T.float32(1)\n"
                   "      else:\n        B[t] = S[t - 20]\n"},
    {"launches one after the other", TWO("64", "float32")
     "  X = T.alloc_buffer((64,), \"float32\")\n"
     "  for t in T.thread_binding(64, thread=\"blockIdx.x\"):\n    X[t] = A[63 - t]\n"
     "  X[3] = X[4] * T.float32(2)\n"
     "  for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n    B[t] = X[63 - t]\n"},
    {"a size that is known late",
     "def main(a: T.handle, b: T.handle):\n  n = T.int32()\n  A = T.match_buffer(a, (n,))\n"
     "  B = T.match_buffer(b, (n,))\n"
     "  for b in T.thread_binding((n + 31) // 32, thread=\"blockIdx.x\"):\n" THREADS("32")
     "      if b * 32 + t < n:\n        B[b * 32 + t] = A[n - 1 - (b * 32 + t)]\n"},
    {"a number from outside",
     "def main(A: T.Buffer((64,), \"float32\"), k: T.int32, x: T.float32, "
     "B: T.Buffer((64,), \"float32\")):\n" BLOCKS("2") THREADS("32")
     "      B[b * 32 + t] = A[b * 32 + t] * x + T.cast(k, \"float32\")\n"},
    {"float16 in shared memory",
     TWO("64", "float16") BLOCKS("1") SHARED("S", "64", "float16")
     THREADS("64") "      S[t] = A[t] * A[t]\n"
     THREADS("64") "      B[t] = S[63 - t] + T.float16(1.0009765625)\n"},
    {"bfloat16", TWO("64", "bfloat16") BLOCKS("2") THREADS("32")
     "      B[b * 32 + t] = A[b * 32 + t] * T.bfloat16(3)\n"},
    {"bytes", TWO("64", "int8") BLOCKS("2") THREADS("32")
     "      B[b * 32 + t] = A[b * 32 + t] * T.int8(77) + T.int8(100)\n"},
    {"truth", TWO("64", "bool") BLOCKS("2") THREADS("32")
     "      B[b * 32 + t] = not A[b * 32 + t] or t == 5\n"},
    {"double", TWO("64", "float64") BLOCKS("2") THREADS("32")
     "      B[b * 32 + t] = T.tanh(A[b * 32 + t]) / T.float64(3)\n"},
    {"vectors", TWO("256", "float32") BLOCKS("2") THREADS("32")
     "      for v in T.vectorized(4):\n"
     "        B[b * 128 + t * 4 + v] = A[b * 128 + t * 4 + v] + T.cast(v, \"float32\")\n"},
    {"copies of vectors through shared memory",
     TWO("256", "float16") BLOCKS("2") SHARED("S", "128", "float16")
     THREADS("16") "      for v in T.vectorized(8):\n        S[t * 8 + v] = A[b * 128 + t * 8 + v]\n"
     THREADS("16") "      for v in T.vectorized(8):\n"
                   "        B[b * 128 + t * 8 + v] = S[(15 - t) * 8 + v]\n"},
    {"vectors that start anywhere", TWO("66", "float32") BLOCKS("1") THREADS("16")
     "      for v in T.vectorized(4):\n        B[t * 4 + v + 1] = A[t * 4 + v + 2]\n"},
    {"atomic updates",
     TWO("64", "int32") BLOCKS("1") THREADS("64") "      B[t] = 0\n" BLOCKS("2") THREADS("32")
     "      T.evaluate(T.call_extern(\"int32\", \"atomicAdd\", T.address_of(B[t % 7]), "
     "A[b * 32 + t]))\n"
     "      T.evaluate(T.call_extern(\"int32\", \"atomicMax\", T.address_of(B[8 + t % 3]), "
     "A[b * 32 + t] * 3))\n"},
    {"names of OpenCL",
     "def main(half: T.Buffer((64,), \"float32\"), kernel: T.Buffer((64,), \"float32\")):\n"
     "  for local in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
     "    kernel[local] = half[local] + T.float32(1)\n"},
    {"three axes",
     "def main(A: T.Buffer((4, 6, 8), \"float32\"), B: T.Buffer((8, 6, 4), \"float32\")):\n"
     "  for x in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
     "   for y in T.thread_binding(3, thread=\"blockIdx.y\"):\n"
     "    for i in T.thread_binding(2, thread=\"threadIdx.z\"):\n"
     "     for j in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
     "      for k in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
     "       B[k, y * 2 + j, x * 2 + i] = A[x * 2 + i, y * 2 + j, k]\n"},
};
/* clang-format on */

/* What base computes, by the interpreter, beside what func does on the device. */
static hone_status check(const hone_func *base, const hone_func *func, uint64_t seed) {
    const hone_interp_options options = {0};
    hone_tensor **want = hone_test_make_args(base, seed), **got = hone_test_make_args(base, seed);
    hone_status st = hone_interp_func(base, want, base->param_count, &options);
    if (!st) st = hone_test_run_opencl(func, got);
    st = hone_test_compare(base, seed, want, got, st, func);
    hone_test_free_args(base, want);
    return st;
}

static const hone_func *parse_row(const struct row *row, hone_module **out_module) {
    hone_str text = {0};
    hone_str_printf(&text, "# tirx\n@T.prim_func\n%s", row->text);
    const hone_func *func = hone_test_parse(hone_str_text(&text), out_module);
    hone_str_deinit(&text);
    return func;
}

static void computes_the_same(void **state) {
    hone_module *module = NULL;
    hone_test_need_opencl();
    const hone_func *func = parse_row(*state, &module);
    hone_status st = check(func, func, 1);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

/* ---- schedules at random ---- */

enum { DEFAULT_SEQUENCES = 40, COMPILED_SEQUENCES = 20 };

typedef struct program {
    hone_arena *arena;
    hone_func *base;
    hone_schedule *sch;
} program;

/* What the target "opencl" has. */
static const hone_gpu_limits small = {.block_threads = 256, .warp = 1, .shared_bytes = 16384};

/* Under steps at random, or the schedule that needs no search. */
static hone_status make_program(uint64_t seed, program *out) {
    const hone_random_options options = {.is_varied = true, .has_sizes = true};
    out->arena = hone_arena_create(1 << 16);
    out->base = hone_random_program(out->arena, seed, &options);
    assert_non_null(out->base);
    HONE_TRY(hone_schedule_create(out->base, &out->sch));
    return seed % 2 ? gpu_recipe_apply(out->sch, seed) : hone_gpu_schedule(out->sch, &small);
}

static void free_program(program *p) {
    hone_schedule_destroy(p->sch);
    hone_arena_destroy(p->arena);
}

static bool run_sequence(uint64_t seed, uint64_t *io_run) {
    program p = {0};
    hone_status st = make_program(seed, &p);
    if (!st) st = check(p.base, p.sch->func, seed);
    hone_code code = hone_status_code(st);
    bool is_fine = code == HONE_CODE_OK || code == HONE_CODE_UNSUPPORTED;
    *io_run += !st;
    if (!is_fine) hone_explain_sequence(p.base, p.sch, seed, "code", hone_status_message(st));
    hone_status_free(st);
    free_program(&p);
    return is_fine;
}

static void random_schedules_compute_the_same(void **state) {
    (void)state;
    hone_test_need_opencl();
    uint64_t count = hone_test_count(DEFAULT_SEQUENCES), failed = 0, run = 0;
    uint64_t seed = hone_test_seed(1);
    for (uint64_t i = 0; i < count; i++)
        failed += !run_sequence(seed + i, &run);
    assert_int_equal(failed, 0);
    assert_true(run > count * 3 / 4);
}

/* ---- as CUDA C ---- */

#define CARD "nvidia/nvidia-h100"

/* All in one file: nvcc takes seconds to begin. */
static hone_status print_all(hone_str *out) {
    char symbol[32];
    hone_status st = HONE_OK;
    for (size_t i = 0; i < HONE_COUNT(rows) && !st; i++) {
        hone_module *module = NULL;
        const hone_func *func = parse_row(&rows[i], &module);
        snprintf(symbol, sizeof symbol, "row_%zu", i);
        st = hone_test_print_launches(func, CARD, "cu", symbol, out);
        hone_module_release(module);
    }
    for (uint64_t seed = 1; seed <= COMPILED_SEQUENCES && !st; seed++) {
        program p = {0};
        snprintf(symbol, sizeof symbol, "random_%d", (int)seed);
        st = make_program(seed, &p);
        if (!st) st = hone_test_print_launches(p.sch->func, CARD, "cu", symbol, out);
        if (hone_status_code(st) == HONE_CODE_UNSUPPORTED) {
            hone_status_free(st);
            st = HONE_OK;
        }
        free_program(&p);
    }
    return st;
}

static void nvcc_takes_it(void **state) {
    static const char *const options[] = {"-arch=sm_80", "-ptx", NULL};
    (void)state;
    hone_str text = {0};
    hone_test_tool nvcc;
    bool is_there = hone_test_find_tool("nvcc", &nvcc);
    hone_status st = print_all(&text);
    if (!st && is_there) st = hone_test_call_tool(&nvcc, &text, ".cu", options, NULL);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    if (!is_there) print_message("there is no nvcc\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_schedules_compute_the_same),
                                       cmocka_unit_test(nvcc_takes_it)};
    return HONE_RUN_ROWS("codegen/device", rows, computes_the_same) +
           cmocka_run_group_tests_name("codegen/device_random", tests, NULL, NULL);
}
