/* tests/ir/interp/test_interp_threads.c - threads that pass values to each other: each row says
 * what C[i] is in plain C. */
#include <stdio.h>

#include "ir/interp/interp.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

enum { COUNT = 64 };

#define REDUCE(values, identities, call)                                                           \
    "    with T.attr(T.comm_reducer(" values ", [" identities "]), \"reduce_scope\", "             \
    "T.reinterpret(T.uint64(0), dtype=\"handle\")):\n"                                             \
    "      T.tvm_thread_allreduce(" call ")\n"
#define LANES "  for t in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
#define LOCAL(name) "    " name " = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
#define OUTER(shape) "  L = T.alloc_buffer(" shape ", \"int32\", scope=\"local\")\n"
#define ROWS                                                                                       \
    "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"                                    \
    "    for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
#define SHARED(shape) "  S = T.alloc_buffer(" shape ", \"int32\", scope=\"shared\")\n"
#define AT_ONCE "two threads of a block store different values"
#define MASK "T.uint32(4294967295)"

static int32_t first_lane(const int32_t *a, int i) {
    return a[i / 32 * 32 + 3];
}
static int32_t of_eight(const int32_t *a, int i) {
    return a[i / 8 * 8 + (i + 1) % 8];
}
static int32_t up(const int32_t *a, int i) {
    return i % 16 >= 2 ? a[i - 2] : a[i];
}
static int32_t down(const int32_t *a, int i) {
    return i % 32 < 27 ? a[i + 5] : a[i];
}
static int32_t down_twice(const int32_t *a, int i) {
    return i % 32 < 30 ? a[i + 2] : a[i % 32 == 30 ? i + 1 : i];
}
static int32_t swapped(const int32_t *a, int i) {
    return a[i ^ 4];
}
static int32_t lane_mask(const int32_t *a, int i) {
    (void)a;
    return i < 20 ? (1 << 20) - 1 : 0;
}
static int32_t sum_of_warp(const int32_t *a, int i) {
    int32_t sum = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
        sum += a[k];
    return sum;
}
static int32_t most_of_four(const int32_t *a, int i) {
    int32_t most = INT32_MIN;
    for (int k = i / 4 * 4; k < i / 4 * 4 + 4; k++)
        most = a[k] > most ? a[k] : most;
    return most;
}
static int32_t negatives(const int32_t *a, int i) {
    int32_t votes = 0;
    for (int k = 0; k < 31; k++)
        votes |= (a[i / 32 * 32 + k] < 0) << k;
    return votes;
}
static int32_t sum_of_all(const int32_t *a, int i) {
    return sum_of_warp(a, 0) + sum_of_warp(a, 32) + 0 * i;
}
static int32_t sum_of_even(const int32_t *a, int i) {
    int32_t sum = 0;
    for (int k = 0; k < COUNT; k += 2)
        sum += a[k];
    return sum + 0 * i;
}
static int32_t sum_of_row(const int32_t *a, int i) {
    int32_t sum = 0;
    for (int k = i / 16 * 16; k < i / 16 * 16 + 16; k++)
        sum += a[k];
    return sum;
}
static int32_t sum_of_column(const int32_t *a, int i) {
    return a[i % 16] + a[i % 16 + 16] + a[i % 16 + 32] + a[i % 16 + 48];
}
static int32_t place_of_most(const int32_t *a, int i) {
    int best = 0;
    for (int k = 1; k < COUNT; k++)
        best = a[k] > a[best] ? k : best;
    return best + 0 * i;
}
static int32_t doubled_or_not(const int32_t *a, int i) {
    return i % 2 ? 2 * a[i ^ 2] : a[i] - 1;
}
static int32_t itself(const int32_t *a, int i) {
    return a[i];
}

/* clang-format off */
static const struct row {
    const char *name, *body;
    int32_t (*want)(const int32_t *a, int i);
    const char *message;
} rows[] = {
    {"shuffle from a lane", LANES "    C[t] = T.tvm_warp_shuffle(" MASK ", A[t], 3, 32, 32)\n",
     first_lane, NULL},
    {"shuffle within eight lanes",
     LANES "    C[t] = T.tvm_warp_shuffle(" MASK ", A[t], t + 1, 8, 32)\n", of_eight, NULL},
    {"shuffle up", LANES "    C[t] = T.tvm_warp_shuffle_up(" MASK ", A[t], 2, 16, 32)\n", up, NULL},
    {"shuffle down, spelled as in CUDA",
     LANES "    C[t] = T.cuda.__shfl_down_sync(" MASK ", A[t], 5, 32)\n", down, NULL},
    {"a shuffle of a shuffle",
     LANES "    C[t] = T.tvm_warp_shuffle_down(" MASK ", T.tvm_warp_shuffle_down(" MASK
           ", A[t], 1, 32, 32), 1, 32, 32)\n",
     down_twice, NULL},
    {"shuffle by exclusive or",
     LANES "    C[t] = T.tvm_warp_shuffle_xor(" MASK ", A[t], 4, 32, 32)\n", swapped, NULL},
    {"what is shuffled was there before anybody stored",
     LANES LOCAL("L") "    L[0] = A[t]\n"
                      "    L[0] = T.tvm_warp_shuffle_xor(" MASK ", L[0], 4, 32, 32)\n"
                      "    C[t] = L[0]\n",
     swapped, NULL},
    {"lanes are numbered along x first",
     "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "    for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "      C[y * 16 + x] = T.tvm_warp_shuffle(" MASK ", A[y * 16 + x], 3, 32, 32)\n",
     first_lane, NULL},
    {"also when x is the outer loop",
     "  for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "    for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "      C[y * 16 + x] = T.tvm_warp_shuffle(" MASK ", A[y * 16 + x], 3, 32, 32)\n",
     first_lane, NULL},
    {"the active lanes",
     LANES "    C[t] = 0\n    if t < 20:\n"
           "      C[t] = T.cast(T.tvm_warp_activemask(), \"int32\")\n",
     lane_mask, NULL},
    {"sum of a warp", LANES "    C[t] = T.cuda.warp_reduce(A[t], \"sum\", 32)\n", sum_of_warp,
     NULL},
    {"maximum of four lanes", LANES "    C[t] = T.cuda.warp_reduce(A[t], \"max\", 4)\n",
     most_of_four, NULL},
    {"a vote",
     LANES "    C[t] = T.cast(T.cuda.ballot_sync(T.uint32(2147483647), A[t] < 0), "
           "\"int32\")\n",
     negatives, NULL},
    {"both sides of a condition pass values",
     LANES "    if t % 2 == 1:\n"
           "      C[t] = 2 * T.tvm_warp_shuffle_xor(" MASK ", A[t], 2, 32, 32)\n"
           "    else:\n      if t % 4 == 0:\n"
           "        C[t] = T.tvm_warp_shuffle_xor(" MASK ", A[t], 0, 32, 32) - 1\n"
           "      else:\n        C[t] = A[t] - 1\n",
     doubled_or_not, NULL},
    {"sum over all threads",
     LANES LOCAL("S") REDUCE("lambda x, y: x + y", "0",
                             "T.uint32(1), A[t], T.bool(True), S[0], t") "    C[t] = S[0]\n",
     sum_of_all, NULL},
    {"sum where a condition holds, by the data of the result",
     LANES LOCAL("S") REDUCE("lambda x, y: x + y", "0",
                             "T.uint32(1), A[t], t % 2 == 0, S.data, t") "    C[t] = S[0]\n",
     sum_of_even, NULL},
    {"sum of rows, where the result is named at the top",
     "  S = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
     "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "   for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n" REDUCE(
         "lambda x0, y0: x0 + y0", "0",
         "T.uint32(1), A[y * 16 + x], T.bool(True), S[0], x") "    C[y * 16 + x] = S[0]\n",
     sum_of_row, NULL},
    {"sum of columns",
     "  S = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
     "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "   for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n" REDUCE(
         "lambda x0, y0: x0 + y0", "0",
         "T.uint32(1), A[y * 16 + x], T.bool(True), S[0], y") "    C[y * 16 + x] = S[0]\n",
     sum_of_column, NULL},
    {"sum over x and y",
     "  S = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
     "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "   for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n" REDUCE(
         "lambda x0, y0: x0 + y0", "0",
         "T.uint32(1), A[y * 16 + x], T.bool(True), S[0], y, x") "    C[y * 16 + x] = S[0]\n",
     sum_of_all, NULL},
    {"two results",
     LANES LOCAL("P") LOCAL("S")
         REDUCE("lambda x0, x1, y0, y1: (T.Select(x1 >= y1, x0, y0), T.Select(x1 >= y1, x1, y1))",
                "-1, T.min_value(\"int32\")",
                "T.uint32(2), t, A[t], T.bool(True), P[0], S[0], t") "    C[t] = P[0]\n",
     place_of_most, NULL},
    {"a reduction that some threads miss",
     LANES LOCAL("S") "    if t < 60:\n"
                      "      T.attr(T.comm_reducer(lambda x, y: x + y, [0]), \"reduce_scope\", 0)\n"
                      "      T.tvm_thread_allreduce(T.uint32(1), A[t], T.bool(True), S[0], t)\n"
                      "    C[t] = A[t]\n",
     NULL, "threads do not all come to tvm_thread_allreduce"},
    {"a reduction without a reducer",
     LANES LOCAL("S") "    T.tvm_thread_allreduce(T.uint32(1), A[t], T.bool(True), S[0], t)\n"
                      "    C[t] = A[t]\n",
     NULL, "tvm_thread_allreduce has no T.attr(T.comm_reducer(...), \"reduce_scope\", ...)"},
    {"a shuffle among no threads", "  C[0] = T.tvm_warp_shuffle(" MASK ", A[0], 3, 32, 32)\n", NULL,
     "values pass between threads, and no loop over threadIdx stands around"},
    {"a lane outside of its mask",
     LANES "    C[t] = T.tvm_warp_shuffle(T.uint32(255), A[t], 3, 32, 32)\n", NULL,
     "lane 8 is not in the mask of its shuffle"},
    {"a sync of warps orders the lanes of a warp",
     "  S = T.alloc_buffer((64,), \"int32\", scope=\"shared\")\n" LANES "    S[t] = A[t]\n"
     "    T.tvm_storage_sync(\"warp\")\n    C[t] = S[t ^ 4]\n",
     swapped, NULL},
    {"and not those of two warps",
     "  S = T.alloc_buffer((64,), \"int32\", scope=\"shared\")\n" LANES "    S[t] = A[t]\n"
     "    T.cuda.warp_sync()\n    C[t] = S[t ^ 32]\n",
     NULL, "two iterations of a parallel loop touch element"},
    {"a sync of the block does",
     "  S = T.alloc_buffer((64,), \"int32\", scope=\"shared\")\n" LANES "    S[t] = A[t]\n"
     "    T.cuda.cta_sync()\n    C[t] = S[t ^ 4]\n",
     swapped, NULL},
    {"a sync that half of a warp misses",
     LANES "    if t < 40:\n      T.tvm_storage_sync(\"warp\")\n    C[t] = A[t]\n", NULL,
     "threads do not all come to a sync of their warp"},
    {"blocks of threads do not share their memory",
     "  S = T.alloc_buffer((32,), \"int32\", scope=\"shared\")\n"
     "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
     "    for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "      S[t] = A[b * 32 + t]\n"
     "      T.tvm_storage_sync(\"shared\")\n"
     "      C[b * 32 + t] = S[t]\n",
     itself, NULL},
    {"memory of a warp, which is each row's along x",
     "  for y in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
     "    for x in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "      W = T.alloc_buffer((32,), \"int32\", scope=\"warp\")\n"
     "      W[x] = A[y * 32 + x]\n"
     "      T.tvm_storage_sync(\"shared\")\n"
     "      C[y * 32 + x] = W[3]\n",
     first_lane, NULL},
    {"arguments are all threads', also where only the inner ones name them",
     "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "    for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "      for k in range(2):\n"
     "        T.tvm_storage_sync(\"shared\")\n"
     "        C[y * 16 + x] = A[y * 16 + x]\n",
     itself, NULL},
    {"and what these store there can meet",
     "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "    for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "      T.tvm_storage_sync(\"shared\")\n"
     "      C[x] = A[y * 16 + x]\n",
     NULL, "touch element 0 of 'C'"},
    {"an array that each of them stores is each one's",
     OUTER("(2,)") LANES "    for v in range(2):\n      L[v] = A[t] * v\n" LANES "    C[t] = L[0] + L[1]\n", itself, NULL},
    {"by blocks", OUTER("(1,)") LANES
     "    with T.sblock(\"put\"):\n      i = T.axis.spatial(64, t)\n      L[0] = A[i]\n" LANES
     "    with T.sblock(\"get\"):\n      i = T.axis.spatial(64, t)\n      C[i] = L[0]\n", itself, NULL},
    {"in a loop around them",
     OUTER("(1,)") "  for o in range(3):\n  " LANES "      L[0] = A[t] + o - 2\n  " LANES "      C[t] = L[0]\n", itself, NULL},
    {"where they wait", OUTER("(1,)") "  for o in range(2):\n  " LANES
     "      T.tvm_storage_sync(\"shared\")\n      L[0] = A[t]\n  " LANES
     "      T.tvm_storage_sync(\"shared\")\n      C[t] = L[0]\n", itself, NULL},
    {"along two axes", OUTER("(1,)") ROWS "      L[0] = A[y * 16 + x]\n" ROWS "      C[y * 16 + x] = L[0]\n", itself, NULL},
    {"along two axes in another order", OUTER("(1,)") ROWS "      L[0] = A[y * 16 + x]\n"
     "  for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "    for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n      C[y * 16 + x] = L[0]\n", itself, NULL},
    {"along one of them, where the other has its places", OUTER("(4,)") ROWS "      L[y] = A[y * 16 + x]\n" ROWS
     "      C[y * 16 + x] = L[y]\n", itself, NULL},
    {"below a loop over threads", "  for y in T.thread_binding(4, thread=\"threadIdx.y\"):\n"
     "    L = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
     "    for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n      L[0] = A[y * 16 + x]\n"
     "    for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n      C[y * 16 + x] = L[0]\n", itself, NULL},
    {"but a thread reads what it stored itself", OUTER("(2,)") LANES "    L[0] = A[t]\n" LANES "    C[t] = L[1]\n", NULL,
     "never written"},
    {"one that some of them store is not", OUTER("(1,)") LANES "    if t < 63:\n      L[0] = A[t]\n" LANES
     "    C[t] = L[0]\n", NULL, "touch element 0 of 'L'"},
    {"nor one in global memory", "  L = T.alloc_buffer((1,), \"int32\")\n" LANES "    L[0] = A[t]\n" LANES
     "    C[t] = L[0]\n", NULL, "touch element 0 of 'L'"},
    {"nor one by which they hand on", OUTER("(64,)") LANES "    L[t] = A[t]\n" LANES "    C[t] = L[t ^ 4]\n", swapped, NULL},
    {"nor one from which they pick", OUTER("(2,)") LANES "    for v in range(2):\n      L[v] = A[t] * v\n" LANES
     "    C[t] = L[t % 2]\n", NULL, "touch element 0 of 'L'"},
    {"whatever the place is called", "  w = T.int32()\n" OUTER("(2,)") LANES
     "    for v in range(2):\n      L[v] = A[t] * v\n" LANES "    C[t] = T.Let(L[w], where={w: t % 2})\n", NULL,
     "touch element 0 of 'L'"},
    {"nor what they sum up together", OUTER("(1,)") LANES
     "    with T.sblock(\"sum\"):\n      k = T.axis.reduce(64, t)\n      with T.init():\n        L[0] = 0\n"
     "      L[0] = L[0] + A[k]\n" LANES "    C[t] = L[0]\n", sum_of_all, NULL},
    {"two threads store different values at once", SHARED("(32,)") LANES "    S[t % 32] = A[t]\n" LANES
     "    C[t] = S[t % 32]\n", NULL, AT_ONCE},
    {"of one value", SHARED("(64,)") LANES "    S[t // 2 * 2] = A[t // 2 * 2]\n" LANES
     "    C[t] = S[t // 2 * 2] * 0 + A[t]\n", itself, NULL},
    {"by lanes of vectors", SHARED("(80,)") LANES "    for v in T.vectorized(2):\n      S[t + v] = A[t] + v\n" LANES
     "    C[t] = S[t]\n", NULL, AT_ONCE},
    {"in a row of threads each", SHARED("(16,)") ROWS "      S[x] = A[y * 16 + x]\n" ROWS "      C[y * 16 + x] = S[x]\n",
     NULL, AT_ONCE},
    {"by blocks of axes", SHARED("(32,)") LANES
     "    with T.sblock(\"put\"):\n      i = T.axis.spatial(64, t)\n      S[i % 32] = A[i]\n" LANES
     "    with T.sblock(\"get\"):\n      i = T.axis.spatial(64, t)\n      C[i] = S[i % 32]\n", NULL, AT_ONCE},
    {"in different iterations is another time", SHARED("(64,)") LANES
     "    for k in range(2):\n      if t // 32 == k:\n        S[t % 32] = A[t]\n" LANES
     "    C[t] = A[t] + 0 * S[t % 32]\n", itself, NULL},
    {"in different blocks of threads is another place", SHARED("(32,)")
     "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
     "    for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n      S[t] = A[b * 32 + t]\n"
     "    for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n      C[b * 32 + t] = S[t]\n", itself, NULL},
    {"by virtual threads is one after the other", SHARED("(32,)")
     "  for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "    for v in T.thread_binding(2, thread=\"vthread.x\"):\n      S[t] = A[v * 32 + t]\n"
     "  for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "    for v in T.thread_binding(2, thread=\"vthread.x\"):\n      C[v * 32 + t] = A[v * 32 + t] + 0 * S[t]\n",
     itself, NULL},
    {"by one thread whose tag is bound twice", SHARED("(64,)") LANES
     "    for u in T.thread_binding(64, thread=\"threadIdx.x\"):\n      S[u] = A[u] + t - u\n" LANES
     "    C[t] = A[t] + 0 * S[t]\n", itself, NULL},
    {"to sum up together", SHARED("(1,)") LANES
     "    with T.sblock(\"sum\"):\n      k = T.axis.reduce(64, t)\n      with T.init():\n        S[0] = 0\n"
     "      S[0] = S[0] + A[k]\n" LANES "    C[t] = S[0]\n", sum_of_all, NULL},
    {"to sum up without a beginning", SHARED("(1,)") LANES "    S[0] = 0\n" LANES
     "    with T.sblock(\"sum\"):\n      k = T.axis.reduce(64, t)\n      S[0] = S[0] + A[k]\n" LANES
     "    C[t] = S[0]\n", NULL, AT_ONCE},
};
/* clang-format on */

static hone_status run(const char *text, bool is_scheduled, int32_t *a, int32_t *c) {
    static const int64_t shape[1] = {COUNT};
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    hone_tensor in = hone_tensor_view(a, HONE_DTYPE_I32, 1, shape);
    hone_tensor out = hone_tensor_view(c, HONE_DTYPE_I32, 1, shape);
    hone_tensor *args[] = {&in, &out};
    const hone_interp_options options = {
        .check_uninitialised = true, .check_races = true, .is_scheduled = is_scheduled};
    hone_status st = hone_interp_func(func, args, 2, &options);
    hone_module_release(module);
    return st;
}

static void check_as(const struct row *row, bool is_scheduled) {
    char text[4096];
    int32_t a[COUNT], c[COUNT];
    snprintf(text, sizeof text,
             "# tirx\n@T.prim_func\n"
             "def main(A: T.Buffer((64,), \"int32\"), C: T.Buffer((64,), \"int32\")):\n%s",
             row->body);
    for (int i = 0; i < COUNT; i++) {
        a[i] = (i * i * 7 + 3 * i) % 101 - 40;
        c[i] = -1000;
    }
    hone_status st = run(text, is_scheduled, a, c);
    if (!row->want) {
        HONE_ASSERT_ERROR(st, HONE_CODE_ILLEGAL, row->message);
        return;
    }
    HONE_ASSERT_OK(st);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(c[i], row->want(a, i));
}

static void check(void **state) {
    check_as(*state, false);
    check_as(*state, true);
}

int main(void) {
    return HONE_RUN_ROWS("ir/interp_threads", rows, check);
}
