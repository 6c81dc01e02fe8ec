/* tests/lower/device/test_lower_device.c - programs for GPUs: after each pass, and launch by
 * launch, they compute what the program does that they were made of. Threads race nowhere, wait for
 * each other where they must, and come to a sync all together. HONE_SEQUENCES sets how many random
 * ones. */
#include <stdio.h>
#include <string.h>

#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "schedule/gpu/gpu_schedule.h"
#include "schedule/intrin/tensor_intrin.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"
#include "tests/lower/device/gpu_recipe.h"
#include "tests/schedule/steps/random_sequence.h"
#include "tests/support/gpu/run_launches.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"
#include "tests/support/workloads.h"

/* ---- by hand ---- */

#define TWO(shape)                                                                                 \
    "def main(A: T.Buffer((" shape ",), \"float32\"), B: T.Buffer((" shape ",), \"float32\")):\n"
#define SHARED(name, count)                                                                        \
    "  " name " = T.alloc_buffer((" count ",), \"float32\", scope=\"shared\")\n"

#define SUM(rows, columns)                                                                         \
    "def main(A: T.Buffer((" rows ", " columns "), \"float32\"), B: T.Buffer((" rows               \
    ",), \"float32\")):\n"
#define ADDED(rows, columns, row, column)                                                          \
    "      vi = T.axis.spatial(" rows ", " row ")\n"                                               \
    "      vk = T.axis.reduce(" columns ", " column ")\n"                                          \
    "      with T.init():\n       B[vi] = T.float32(0)\n      B[vi] = B[vi] + A[vi, vk]\n"

#define ASK "      if b < 1:\n        S[t] = S[t] + A[t]\n"
#define ASK_FOUR_TIMES ASK ASK ASK ASK
#define ASK_OFTEN                                                                                  \
    ASK_FOUR_TIMES ASK_FOUR_TIMES ASK_FOUR_TIMES ASK_FOUR_TIMES ASK_FOUR_TIMES ASK_FOUR_TIMES      \
        ASK_FOUR_TIMES

/* clang-format off */
static const struct row {
    const char *name, *text;
    int syncs;          /* that stand in the lowered program; -1: refused */
    size_t launches;
    const char *message;
} rows[] = {
    {"no threads at all: one of them does it", TWO("16") "  for i in range(16):\n    B[i] = A[i] + T.float32(1)\n", 0, 1, NULL},
    {"each thread has its own elements",
     TWO("256") "  for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "      B[b * 64 + t] = A[b * 64 + t] * T.float32(2)\n", 0, 1, NULL},
    {"digits of one number that several axes have",
     "def main(A: T.Buffer((200704,), \"float32\"), B: T.Buffer((2, 56, 56, 32), \"float32\")):\n"
     "  for b in T.thread_binding(49, thread=\"blockIdx.x\"):\n"
     "    for u in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
     "      for c in range(4):\n"
     "        for t in T.thread_binding(128, thread=\"threadIdx.x\"):\n"
     "          for v in range(4):\n"
     "            with T.sblock(\"B\"):\n"
     "              r = T.axis.spatial(6272, b * 128 + u * 64 + c * 16 + t // 8)\n"
     "              o = T.axis.spatial(32, t % 8 * 4 + v)\n"
     "              B[r // 3136, r // 56 % 56, r % 56, o] = A[r * 32 + o]\n", 0, 1, NULL},
    {"shared memory that no thread reads of another",
     TWO("64") SHARED("S", "64") "  for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "    S[t] = A[t]\n    B[t] = S[t] + T.float32(1)\n", 0, 1, NULL},
    {"a loop with a condition, that only the first thread comes to",
     TWO("1") "  for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
              "    if t < 1:\n"
              "      c = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
              "      c[0] = 0\n      B[0] = T.float32(0)\n"
              "      while c[0] < 3:\n        B[0] = B[0] + A[0]\n        c[0] = c[0] + 1\n", 0, 1, NULL},
    {"a loop with a condition, that two threads come to",
     TWO("1") "  for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
              "    if t < 2:\n"
              "      c = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
              "      c[0] = 0\n      B[0] = T.float32(0)\n"
              "      while c[0] < 3:\n        B[0] = B[0] + A[0]\n        c[0] = c[0] + 1\n", -1, 0, "a loop"},
    {"copies in the background, waited for once an iteration",
     TWO("256") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
                "    S = T.alloc_buffer((64,), scope=\"shared\")\n"
                "    for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 2],"
                " \"software_pipeline_order\": [0, 1], \"software_pipeline_async_stages\": [0]}):\n"
                "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "        S[t] = A[k * 64 + t]\n"
                "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "        B[k * 64 + t] = S[63 - t] + T.float32(1)\n", 2, 1, NULL},
    {"copies in the background, behind what uses others",
     TWO("256") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
                "    S = T.alloc_buffer((64,), scope=\"shared\")\n"
                "    for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 2],"
                " \"software_pipeline_order\": [1, 0], \"software_pipeline_async_stages\": [0]}):\n"
                "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "        S[t] = A[k * 64 + t]\n"
                "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "        B[k * 64 + t] = S[63 - t] + T.float32(1)\n", 2, 1, NULL},
    {"copies in the background, more of them than iterations",
     TWO("128") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
                "    S = T.alloc_buffer((64,), scope=\"shared\")\n"
                "    for k in T.serial(2, annotations={\"software_pipeline_stage\": [0, 3],"
                " \"software_pipeline_order\": [0, 1], \"software_pipeline_async_stages\": [0]}):\n"
                "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "        S[t] = A[k * 64 + t]\n"
                "      for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                "        B[k * 64 + t] = S[63 - t] + T.float32(1)\n", 2, 1, NULL},
    {"copies in the background, by digits of a number that a condition cuts",
     "def main(A: T.Buffer((4, 48), \"float32\"), B: T.Buffer((4, 48), \"float32\")):\n"
     "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
     "    S = T.alloc_buffer((4, 12), scope=\"shared\")\n"
     "    for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 2],"
     " \"software_pipeline_order\": [0, 1], \"software_pipeline_async_stages\": [0]}):\n"
     "      for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "        for v in T.vectorized(4):\n"
     "          if t * 4 + v < 48:\n"
     "            S[t // 3, (t * 4 + v) % 12] = A[k, t * 4 + v]\n"
     "      for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "        for j in range(3):\n"
     "          B[k, t * 3 + j] = S[3 - t // 4, 11 - t % 4 * 3 - j]\n", 2, 1, NULL},
    {"copies in the background, by digits of which a whole multiple stands outside",
     "def main(A: T.Buffer((4, 60), \"float32\"), B: T.Buffer((4, 60), \"float32\")):\n"
     "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
     "    S = T.alloc_buffer((18, 4), scope=\"shared\")\n"
     "    for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 2],"
     " \"software_pipeline_order\": [0, 1], \"software_pipeline_async_stages\": [0]}):\n"
     "      for i in range(2):\n"
     "        for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "          for v in T.vectorized(3):\n"
     "            if i * 16 + t < 20:\n"
     "              S[k + i * 12 + (t * 3 + v) // 4, (t * 3 + v) % 4] = A[k, i * 48 + t * 3 + v]\n"
     "      for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "        for j in range(4):\n"
     "          if t < 15:\n"
     "            B[k, t * 4 + j] = S[k + 14 - t, 3 - j]\n", 2, 1, NULL},
    {"copies in the background, again and again",
     TWO("256") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
                "    S = T.alloc_buffer((32,), scope=\"shared\")\n"
                "    for o in range(2):\n"
                "     for k in T.serial(4, annotations={\"software_pipeline_stage\": [0, 1],"
                " \"software_pipeline_order\": [0, 1], \"software_pipeline_async_stages\": [0]}):\n"
                "      for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
                "        S[t] = A[o * 128 + k * 32 + t]\n"
                "      for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
                "        B[o * 128 + k * 32 + t] = S[31 - t] + T.float32(1)\n", 3, 1, NULL},
    {"a neighbour's element",
     TWO("64") SHARED("S", "64") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      S[t] = A[t]\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      B[t] = S[63 - t] + T.float32(1)\n", 1, 1, NULL},
    {"again and again: before it is read, and before it is written",
     TWO("64") SHARED("S", "64") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
               "   for k in range(4):\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      S[t] = A[t] + T.cast(k, \"float32\")\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      B[t] = S[63 - t] + T.float32(1)\n", 2, 1, NULL},
    {"one thread for all",
     TWO("64") SHARED("S", "1") "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
               "    S[0] = A[b]\n"
               "    S[0] = S[0] * T.float32(3)\n"
               "    for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
               "      B[b * 32 + t] = S[0]\n", 1, 1, NULL},
    {"a condition on which threads do not agree",
     TWO("64") SHARED("S", "64") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      S[t] = A[t]\n"
               "    for k in range(2):\n"
               "     for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      B[t] = T.float32(0)\n"
               "      if t < 40:\n"
               "        B[t] = S[39 - t] + T.float32(1)\n"
               "      else:\n"
               "        B[t] = S[t - 20]\n", 1, 1, NULL},
    {"launches one after the other, with memory in between",
     TWO("64") "  X = T.alloc_buffer((64,), \"float32\")\n"
               "  for t in T.thread_binding(64, thread=\"blockIdx.x\"):\n"
               "    X[t] = A[63 - t]\n"
               "  X[3] = X[4] * T.float32(2)\n"
               "  for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "    B[t] = X[63 - t]\n", 0, 3, NULL},
    {"a loop of launches",
     TWO("64") "  for k in range(3):\n"
               "   for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "    B[t] = A[t] + T.cast(k, \"float32\")\n", 0, 3, NULL},
    {"memory of each thread, named further out",
     TWO("64") "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
               "   for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
               "    L = T.alloc_buffer((4,), \"float32\")\n"
               "    for i in range(4):\n"
               "      L[i] = A[b * 32 + t] * T.cast(i, \"float32\")\n"
               "    B[b * 32 + t] = L[1] + L[3]\n", 0, 1, NULL},
    {"what nobody reads, of a size that is not known, and what only that reads",
     "def main(a: T.handle, B: T.Buffer((64,), \"float32\")):\n"
     "  n = T.int32()\n"
     "  A = T.match_buffer(a, (n,), \"float32\")\n"
     "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
     "   for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "    X = T.alloc_buffer((n,), \"float32\")\n"
     "    Y = T.alloc_buffer((n,), \"float32\")\n"
     "    for i in range(n):\n"
     "      X[i] = A[i] + T.float32(1)\n"
     "    for i in range(n):\n"
     "      Y[i] = X[n - 1 - i]\n"
     "    B[b * 32 + t] = A[0]\n", 0, 1, NULL},
    {"a sum over the lanes of a warp",
     SUM("8", "32") "  for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
                    "   for k in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
                    "    with T.sblock(\"B\"):\n" ADDED("8", "32", "i", "k"), 0, 1, NULL},
    {"a sum over several warps, a part by each thread",
     SUM("3", "384") "  for i in T.thread_binding(3, thread=\"blockIdx.x\"):\n"
                     "   for k0 in range(4):\n"
                     "    for k in T.thread_binding(96, thread=\"threadIdx.x\"):\n"
                     "     with T.sblock(\"B\"):\n" ADDED("3", "384", "i", "k0 * 96 + k"), 1, 1, NULL},
    {"sums over a number of threads that is no power of two, several at once",
     SUM("12", "20") "  for i in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                     "   for j in T.thread_binding(3, thread=\"threadIdx.y\"):\n"
                     "    for k in T.thread_binding(20, thread=\"threadIdx.x\"):\n"
                     "     with T.sblock(\"B\"):\n" ADDED("12", "20", "i * 3 + j", "k"), 6, 1, NULL},
    {"a sum of which the last threads have no part",
     SUM("5", "50") "  for i in T.thread_binding(5, thread=\"blockIdx.x\"):\n"
                    "   for k in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                    "    with T.sblock(\"B\"):\n      T.where(k < 50)\n" ADDED("5", "50", "i", "k"), 1, 1, NULL},
    {"a sum in parts, with something in between",
     SUM("3", "128") SHARED("S", "4") "  for i in T.thread_binding(3, thread=\"blockIdx.x\"):\n"
                     "   for k0 in range(4):\n"
                     "    S[k0] = A[i, k0]\n"
                     "    for k in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
                     "     with T.sblock(\"B\"):\n" ADDED("3", "128", "i", "k0 * 32 + k"), 0, 1, NULL},
    {"many conditions on which threads agree: the time to look at them does not double with each",
     TWO("64") SHARED("S", "64") "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      S[t] = A[t]\n" ASK_OFTEN
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      if b < 1:\n        B[t] = S[63 - t]\n", 1, 1, NULL},
    {"both loops of one thread",
     TWO("64") "  for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
               "   for u in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
               "    B[t * 8 + u] = A[t * 8 + u]\n", -1, 0, "depends on both"},
    {"too many threads",
     TWO("2048") "  for y in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
                 "   for t in T.thread_binding(1024, thread=\"threadIdx.x\"):\n"
                 "    B[y * 1024 + t] = A[y * 1024 + t]\n", -1, 0, "1024 x 2 x 1 threads"},
    {"too much shared memory",
     TWO("64") SHARED("S", "200000") "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
               "   for k in range(3125):\n"
               "    for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      S[k * 64 + t] = A[t]\n"
               "   for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "      B[t] = S[199999 - t] + S[t]\n", -1, 0, "bytes of shared memory"},
};
/* clang-format on */

static int count_syncs(const hone_func *func) {
    int count = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        count += node->kind == HONE_NODE_EVAL &&
                 hone_expr_is_call(node->u.eval.value, HONE_INTRIN_STORAGE_SYNC);
    }
    return count;
}

static const char device[] = "nvidia/nvidia-h100";

typedef struct oracle {
    const hone_func *base;
    hone_tensor **want;
    uint64_t seed;
    bool is_planned, is_unified, is_vector;
} oracle;

/* Between unify and sync threads do not wait yet. */
static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    oracle *o = ctx;
    o->is_planned = o->is_planned || strcmp(pass, "plan_allocs") == 0;
    if (strcmp(pass, "unify") == 0 || strcmp(pass, "allreduce") == 0) {
        o->is_unified = true;
        return HONE_OK;
    }
    const hone_interp_options options = {.check_uninitialised = true,
                                         .check_races =
                                             o->is_unified && strcmp(pass, "vectorize") != 0,
                                         .allow_repeats = true};
    hone_tensor **got = hone_test_make_args(o->base, o->seed);
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    st = hone_test_compare(o->base, o->seed, o->want, got, st, func);
    return hone_status_annotate(st, "after %s", pass);
}

static hone_status check_launches(const oracle *o, const hone_func *lowered,
                                  const hone_launches *launches) {
    const hone_interp_options options = {.check_races = true, .allow_repeats = true};
    hone_tensor **got = hone_test_make_args(o->base, o->seed);
    hone_status st = hone_test_run_launches(lowered, launches, got, &options);
    st = hone_test_compare(o->base, o->seed, o->want, got, st, lowered);
    return hone_status_annotate(st, "launches");
}

/* Lowers func, which computes what base does, and compares: after each pass, or at the end. */
static hone_status lower_and_check(const hone_func *base, const hone_func *func, uint64_t seed,
                                   bool after_each, hone_arena *arena, hone_func **out_lowered,
                                   hone_launches *out_launches) {
    hone_target target;
    HONE_TRY(hone_target_parse(device, &target));
    oracle o = {.base = base, .want = hone_test_make_args(base, seed), .seed = seed};
    const hone_interp_options plain = {0};
    hone_lower_options options = {
        .target = &target, .after = after_each ? check_pass : NULL, .ctx = &o};
    hone_status st = hone_interp_func(base, o.want, base->param_count, &plain);
    if (!st) st = hone_lower_func(func, &options, arena, out_lowered);
    if (!st) st = hone_lower_launches(*out_lowered, "kernel", &target, arena, out_launches);
    if (!st) st = check_launches(&o, *out_lowered, out_launches);
    hone_test_free_args(base, o.want);
    return st;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_str text = {0};
    hone_module *module = NULL;
    hone_func *lowered = NULL;
    hone_launches launches = {0};
    hone_str_printf(&text, "# tirx\n@T.prim_func\n%s", row->text);
    const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = lower_and_check(func, func, 1, true, arena, &lowered, &launches);
    int syncs = st ? -1 : count_syncs(lowered);
    size_t count = launches.launch_count;
    hone_arena_destroy(arena);
    hone_module_release(module);
    hone_str_deinit(&text);
    if (row->message) {
        HONE_ASSERT_ERROR(st, HONE_CODE_UNSUPPORTED, row->message);
        return;
    }
    HONE_ASSERT_OK(st);
    assert_int_equal(syncs, row->syncs);
    assert_int_equal(count, row->launches);
}

/* ---- arrays that threads have parts of ---- */

/* clang-format off */
#define PARTS                                                                                      \
    "# tirx\n@T.prim_func\n" TWO("96")                                                             \
    "  L = T.alloc_buffer((96,), \"float32\", scope=\"local\")\n"                                   \
    "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"                                      \
    "    for o in range(2):\n"                                                                     \
    "      for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"                                \
    "        for v in range(3):\n"                                                                 \
    "          L[o * 48 + t * 3 + v] = A[o * 48 + t * 3 + v]\n"                                    \
    "    for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
#define ONE_FOR(first)                                                                             \
    "# tirx\n@T.prim_func\n" TWO("16")                                                             \
    "  L = T.alloc_buffer((2,), \"float32\", scope=\"local\")\n"                                   \
    "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"                                     \
    "    for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n" first                           \
    "    for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"                                 \
    "      B[t] = L[0] + L[1] * A[t]\n"
#define ROWS(column)                                                                               \
    "# tirx\n@T.prim_func\n" TWO("32")                                                             \
    "  L = T.alloc_buffer((4, 8), \"float32\", elem_offset=0, scope=\"local\")\n"                  \
    "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"                                     \
    "    for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"                                  \
    "      for x in T.thread_binding(8, thread=\"threadIdx.x\"):\n"                                \
    "        L[y, x] = A[y * 8 + x]\n"                                                             \
    "    for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"                                  \
    "      for x in T.thread_binding(8, thread=\"threadIdx.x\"):\n"                                \
    "        B[y * 8 + x] = L[y, " column "]\n"
static const struct parts {
    const char *name, *text;
    int64_t elements; /* of L afterwards; 0: it cannot be lowered */
    bool is_own;
} parts_rows[] = {
    {"the same loops",
     PARTS "      for o, v in T.grid(2, 3):\n        B[o * 48 + t * 3 + v] = L[o * 48 + t * 3 + v]\n", 6, true},
    {"some of them",
     PARTS "      for o in range(2):\n        B[o * 48 + t * 3] = L[o * 48 + t * 3]\n", 6, true},
    {"a neighbour's",
     PARTS "      for o in range(2):\n        B[o * 48 + t * 3] = L[o * 48 + (15 - t) * 3]\n", 96, false},
    {"of another stride",
     PARTS "      for v in range(6):\n        B[t * 6 + v] = L[t * 6 + v]\n", 96, false},
    {"beyond the thread's stride",
     PARTS "      for v in range(2):\n        if t < 15:\n          B[t * 3 + v] = L[t * 3 + v * 3]\n", 96, false},
    {"the same for each", ONE_FOR("      for v in range(2):\n        L[v] = A[v + 3]\n"), 2, true},
    {"the first thread's", ONE_FOR("      if t < 1:\n        for v in range(2):\n          L[v] = A[v]\n"), 2, false},
    {"until a thread leaves",
     ONE_FOR("      for v in range(2):\n        if v > t:\n          break\n        L[v] = A[v]\n"), 0, false},
    {"where an array says",
     ONE_FOR("      I = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
             "      I[0] = t // 8\n      L[I[0]] = A[I[0]]\n"), 2, false},
    {"the same for each, where a block comes to it",
     "# tirx\n@T.prim_func\n" TWO("16") "  L = T.alloc_buffer((2,), \"float32\", scope=\"local\")\n"
     "  for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
     "    for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n      B[t] = A[t]\n"
     "    if A[1] > A[0]:\n"
     "      for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "        for v in range(2):\n          L[v] = A[t] + A[v]\n"
     "      for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n        B[t] = L[0] - L[1]\n", 2, true},
    {"of the threads of another launch",
     "# tirx\n@T.prim_func\n" TWO("16") "  L = T.alloc_buffer((2,), \"float32\", scope=\"local\")\n"
     "  for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "    for v in range(2):\n      L[v] = A[t] + A[v]\n"
     "  for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n    B[t] = L[0] + L[1]\n", 0, false},
    {"one thread's of another launch",
     "# tirx\n@T.prim_func\n" TWO("16") "  L = T.alloc_buffer((2,), \"float32\", scope=\"local\")\n"
     "  for t in T.thread_binding(1, thread=\"threadIdx.x\"):\n"
     "    for v in range(2):\n      L[v] = A[v + 3]\n"
     "  for t in T.thread_binding(16, thread=\"threadIdx.x\"):\n    B[t] = L[0] + L[1] * A[t]\n", 2, false},
    {"along two axes", ROWS("x"), 1, true},
    {"along one of two axes", ROWS("7 - x"), 32, false},
};
/* clang-format on */

static void check_array(const struct parts *row, const hone_func *lowered) {
    bool is_found = false;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(lowered, 0, n)) {
        const hone_node *node = hone_func_node(lowered, n);
        if (node->kind != HONE_NODE_ALLOC) continue;
        const hone_buffer_info *info = hone_func_buffer(lowered, node->u.alloc.buffer);
        if (strcmp(info->name, "L") != 0) continue;
        assert_int_equal(hone_buffer_elements(info), row->elements);
        assert_int_equal(strcmp(info->scope, "local") == 0, row->is_own);
        is_found = true;
    }
    assert_true(is_found);
}

static void parts_are_kept(void **state) {
    const struct parts *row = *state;
    hone_module *module = NULL;
    hone_func *lowered = NULL;
    hone_launches launches = {0};
    const hone_func *func = hone_test_parse(row->text, &module);
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = lower_and_check(func, func, 1, true, arena, &lowered, &launches);
    if (row->elements > 0) {
        HONE_ASSERT_OK(st);
        check_array(row, lowered);
    } else {
        assert_int_equal(hone_status_consume(st), HONE_CODE_UNSUPPORTED);
    }
    hone_arena_destroy(arena);
    hone_module_release(module);
}

/* ---- with the schedules that are made without a search ---- */

static hone_status schedule_for_device(hone_schedule *sch) {
    hone_target target;
    HONE_TRY(hone_target_parse(device, &target));
    const hone_gpu_limits limits = {.block_threads = target.max_threads_per_block,
                                    .warp = target.warp_size,
                                    .multiprocessors = 4,
                                    .shared_bytes = target.max_shared_bytes,
                                    .registers = target.registers_per_block,
                                    .has_matrix_units = true};
    return hone_gpu_schedule(sch, &limits);
}

static void workload_is_lowered(void **state) {
    const hone_workload *row = *state;
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    hone_func *lowered;
    hone_launches launches;
    const hone_func *func = hone_test_parse(row->text, &module);
    hone_arena *arena = hone_arena_create(1 << 16);
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    hone_status st = schedule_for_device(sch);
    if (!st) st = lower_and_check(func, sch->func, 1, false, arena, &lowered, &launches);
    if (st) hone_explain_sequence(func, sch, 1, row->name, hone_status_message(st));
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

/* ---- with the traces of tests/programs ---- */

static const struct traced {
    const char *name, *program, *trace;
} traced_rows[] = {
    {"a grid",                          "vector_add",        "vector_add_grid"         },
    {"a window in shared memory",       "window_sum",        "window_sum"              },
    {"tiles in registers",              "matmul_float_init", "matmul_float_init_local" },
    {"tiles in shared memory",          "matmul_float_init", "matmul_float_init_shared"},
    {"fragments of matrix units",       "matmul_half",       "matmul_half_wmma"        },
    {"stages within stages",            "matmul_half",       "matmul_half_wmma_stages" },
    {"fragments that are loaded ahead", "matmul_half",       "matmul_half_wmma_ahead"  },
};

/* The text of a file of tests/programs; hone_free. */
static char *read_text(const char *folder, const char *name) {
    char relative[256], *bytes = NULL;
    size_t count = 0;
    snprintf(relative, sizeof relative, "tests/programs/%s%s.py", folder, name);
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(relative), 1 << 20, &bytes, &count));
    return bytes;
}

static hone_status apply_trace(hone_schedule *sch, const char *name, hone_arena *arena) {
    hone_trace trace;
    const hone_apply_options options = {0};
    char *text = read_text("traces/", name);
    hone_status st = hone_trace_parse_python(arena, text, strlen(text), name, &trace);
    if (!st) st = hone_trace_apply(&trace, sch, &options);
    hone_free(text);
    return st;
}

static void trace_is_lowered(void **state) {
    const struct traced *row = *state;
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    hone_tensor_intrins *intrins = NULL;
    hone_func *lowered;
    hone_launches launches;
    char *text = read_text("", row->program);
    const hone_func *func = hone_test_parse(text, &module);
    hone_arena *arena = hone_arena_create(1 << 16);
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_tensor_intrins_create(&intrins));
    sch->intrins = intrins;
    hone_status st = apply_trace(sch, row->trace, arena);
    if (!st) st = lower_and_check(func, sch->func, 1, false, arena, &lowered, &launches);
    hone_schedule_destroy(sch);
    hone_tensor_intrins_destroy(intrins);
    hone_arena_destroy(arena);
    hone_module_release(module);
    hone_free(text);
    HONE_ASSERT_OK(st);
}

/* ---- at random ---- */

enum { DEFAULT_SEQUENCES = 60 };

static bool run_sequence(uint64_t seed, uint64_t *io_lowered, uint64_t *io_syncs) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options program = {.is_varied = true, .has_sizes = true};
    hone_func *base = hone_random_program(arena, seed, &program), *lowered = NULL;
    hone_schedule *sch = NULL;
    hone_launches launches;
    assert_non_null(base);
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    hone_status st = seed % 3 ? gpu_recipe_apply(sch, seed) : schedule_for_device(sch);
    if (!st) st = lower_and_check(base, sch->func, seed, true, arena, &lowered, &launches);
    hone_code code = hone_status_code(st);
    bool is_fine = code == HONE_CODE_OK || code == HONE_CODE_UNSUPPORTED;
    *io_lowered += !st;
    if (!st) *io_syncs += (uint64_t)count_syncs(lowered);
    if (!is_fine) hone_explain_sequence(base, sch, seed, "lowering", hone_status_message(st));
    hone_status_free(st);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    return is_fine;
}

static void random_schedules_keep_the_meaning(void **state) {
    (void)state;
    uint64_t count = hone_test_count(DEFAULT_SEQUENCES), failed = 0, lowered = 0, syncs = 0;
    uint64_t seed = hone_test_seed(1);
    for (uint64_t i = 0; i < count; i++)
        failed += !run_sequence(seed + i, &lowered, &syncs);
    print_message("%llu of %llu lowered, with %llu syncs\n", (unsigned long long)lowered,
                  (unsigned long long)count, (unsigned long long)syncs);
    assert_int_equal(failed, 0);
    assert_true(lowered > count * 3 / 4);
}

static size_t count_workloads(void) {
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    return count;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_schedules_keep_the_meaning)};
    return HONE_RUN_ROWS("lower/device", rows, check_row) +
           HONE_RUN_ROWS("lower/device_parts", parts_rows, parts_are_kept) +
           HONE_RUN_ROWS("lower/device_traces", traced_rows, trace_is_lowered) +
           hone_test_run_rows("lower/device_workloads", hone_workloads, sizeof *hone_workloads,
                              count_workloads(), workload_is_lowered) +
           cmocka_run_group_tests_name("lower/device_random", tests, NULL, NULL);
}
