/* tests/ir/interp/test_interp_matrix.c - mma.sync of every shape, its registers filled as the PTX
 * manual says (ISA 9.7.14.5, "Matrix Fragments for mma.mMnNkK"): the formulas below are those of
 * the manual, over t = the lane and i = the element; and copies, updates and products by their
 * names in CUDA. */
#include <stdio.h>

#include "ir/interp/interp.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

enum { MOST = 16 * 64 };

/* clang-format off */
static const struct shape {
    const char *name, *dtype, *sum_dtype;
    int rows, depth, a_count, b_count, c_count; /* elements of one lane */
    const char *a_row, *a_column, *b_row, *c_row;
} shapes[] = {
    {"m16n8k8", "float16", "float32", 16, 8, 4, 2, 4, "t // 4 + 8 * (i // 2)", "t % 4 * 2 + i % 2",
     "t % 4 * 2 + i", "t // 4 + 8 * (i // 2)"},
    {"m16n8k16", "float16", "float16", 16, 16, 8, 4, 4, "t // 4 + 8 * (i // 2 % 2)",
     "t % 4 * 2 + i % 2 + 8 * (i // 4)", "t % 4 * 2 + i % 2 + 8 * (i // 2)",
     "t // 4 + 8 * (i // 2)"},
    {"m16n8k4", "float32", "float32", 16, 4, 2, 1, 4, "t // 4 + 8 * i", "t % 4", "t % 4",
     "t // 4 + 8 * (i // 2)"},
    {"m16n8k8", "float32", "float32", 16, 8, 4, 2, 4, "t // 4 + 8 * (i % 2)",
     "t % 4 + 4 * (i // 2)", "t % 4 + 4 * i", "t // 4 + 8 * (i // 2)"},
    {"m16n8k16", "int8", "int32", 16, 16, 8, 4, 4, "t // 4 + 8 * (i // 4)", "t % 4 * 4 + i % 4",
     "t % 4 * 4 + i", "t // 4 + 8 * (i // 2)"},
    {"m16n8k32", "uint8", "int32", 16, 32, 16, 8, 4, "t // 4 + 8 * (i // 4 % 2)",
     "t % 4 * 4 + i % 4 + 16 * (i // 8)", "t % 4 * 4 + i % 4 + 16 * (i // 4)",
     "t // 4 + 8 * (i // 2)"},
    {"m8n8k16", "int8", "int32", 8, 16, 4, 4, 2, "t // 4", "t % 4 * 4 + i", "t % 4 * 4 + i",
     "t // 4"},
    {"m16n8k32", "int4", "int32", 16, 32, 16, 8, 4, "t // 4 + 8 * (i // 8)", "t % 4 * 8 + i % 8",
     "t % 4 * 8 + i", "t // 4 + 8 * (i // 2)"},
    {"m16n8k64", "int4", "int32", 16, 64, 32, 16, 4, "t // 4 + 8 * (i // 8 % 2)",
     "t % 4 * 8 + i % 8 + 32 * (i // 16)", "t % 4 * 8 + i % 8 + 32 * (i // 8)",
     "t // 4 + 8 * (i // 2)"},
    {"m8n8k32", "int4", "int32", 8, 32, 8, 8, 2, "t // 4", "t % 4 * 8 + i", "t % 4 * 8 + i",
     "t // 4"},
    {"m8n8k4", "float64", "float64", 8, 4, 1, 1, 2, "t // 4", "t % 4", "t % 4", "t // 4"},
};
/* clang-format on */

static void write_text(const struct shape *s, char *text, size_t size) {
    snprintf(
        text, size,
        "# tirx\n@T.prim_func\n"
        "def main(A: T.Buffer((%d, %d), \"int32\"), B: T.Buffer((%d, 8), \"int32\"), "
        "C: T.Buffer((%d, 8), \"int32\")):\n"
        "  for t in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
        "    RA = T.alloc_buffer((%d,), \"%s\", scope=\"local\")\n"
        "    RB = T.alloc_buffer((%d,), \"%s\", scope=\"local\")\n"
        "    RC = T.alloc_buffer((%d,), \"%s\", scope=\"local\")\n"
        "    for i in range(%d):\n      RA[i] = T.cast(A[%s, %s], \"%s\")\n"
        "    for i in range(%d):\n      RB[i] = T.cast(B[%s, t // 4], \"%s\")\n"
        "    for i in range(%d):\n      RC[i] = T.cast(C[%s, t %% 4 * 2 + i %% 2], \"%s\")\n"
        "    T.evaluate(T.ptx_legacy.mma(\"%s\", \"row\", \"col\", \"a\", \"b\", \"c\", RA.data, "
        "0, "
        "RB.data, 0, RC.data, 0, False, dtype=\"%s\"))\n"
        "    for i in range(%d):\n      C[%s, t %% 4 * 2 + i %% 2] = T.cast(RC[i], \"int32\")\n",
        s->rows, s->depth, s->depth, s->rows, s->a_count, s->dtype, s->b_count, s->dtype,
        s->c_count, s->sum_dtype, s->a_count, s->a_row, s->a_column, s->dtype, s->b_count, s->b_row,
        s->dtype, s->c_count, s->c_row, s->sum_dtype, s->name, s->sum_dtype, s->c_count, s->c_row);
}

static hone_status run(const char *text, hone_tensor *const *args, size_t count) {
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    const hone_interp_options options = {.check_uninitialised = true, .check_races = true};
    hone_status st = hone_interp_func(func, args, count, &options);
    hone_module_release(module);
    return st;
}

static void multiplies(void **state) {
    const struct shape *s = *state;
    char text[4096];
    int32_t a[MOST], b[MOST], c[MOST], want[MOST];
    int64_t of_a[2] = {s->rows, s->depth}, of_b[2] = {s->depth, 8}, of_c[2] = {s->rows, 8};
    int lift = s->dtype[0] == 'u' ? 0 : 3;
    for (int i = 0; i < s->rows * s->depth; i++)
        a[i] = (i * 5 + i / 7) % 7 - lift;
    for (int i = 0; i < s->depth * 8; i++)
        b[i] = (i * 3 + i / 11) % 7 - lift;
    for (int i = 0; i < s->rows * 8; i++) {
        c[i] = want[i] = i % 13;
        for (int k = 0; k < s->depth; k++)
            want[i] += a[i / 8 * s->depth + k] * b[k * 8 + i % 8];
    }
    hone_tensor args[3] = {hone_tensor_view(a, HONE_DTYPE_I32, 2, of_a),
                           hone_tensor_view(b, HONE_DTYPE_I32, 2, of_b),
                           hone_tensor_view(c, HONE_DTYPE_I32, 2, of_c)};
    hone_tensor *all[3] = {&args[0], &args[1], &args[2]};
    write_text(s, text, sizeof text);
    HONE_ASSERT_OK(run(text, all, 3));
    for (int i = 0; i < s->rows * 8; i++)
        assert_int_equal(c[i], want[i]);
}

/* ---- tiles, of 8 by 16 and 16 by 32, that lie in memory by rows or by columns ---- */

enum { M = 8, N = 32, K = 16 };

static const char *layout(bool by_columns) {
    return by_columns ? "col_major" : "row_major";
}

static void write_tiles(bool a, bool b, bool c, char *text, size_t size) {
    snprintf(text, size,
             "# tirx\n@T.prim_func\n"
             "def main(A: T.Buffer((128,), \"int32\"), B: T.Buffer((512,), \"int32\"), "
             "C: T.Buffer((256,), \"int32\")):\n"
             "  FA = T.alloc_buffer((128,), \"int32\", scope=\"wmma.matrix_a\")\n"
             "  FB = T.alloc_buffer((512,), \"int32\", scope=\"wmma.matrix_b\")\n"
             "  FC = T.alloc_buffer((256,), \"int32\", scope=\"wmma.accumulator\")\n"
             "  T.evaluate(T.tvm_load_matrix_sync(FA.data, 8, 32, 16, 0, A.data, %d, \"%s\"))\n"
             "  T.evaluate(T.tvm_load_matrix_sync(FB.data, 8, 32, 16, 0, B.data, %d, \"%s\"))\n"
             "  T.evaluate(T.tvm_load_matrix_sync(FC.data, 8, 32, 16, 0, C.data, %d, \"%s\"))\n"
             "  T.evaluate(T.tvm_mma_sync(FC.data, 0, FA.data, 0, FB.data, 0, FC.data, 0))\n"
             "  T.evaluate(T.tvm_store_matrix_sync(FC.data, 8, 32, 16, 0, C.data, %d, \"%s\"))\n",
             a ? M : K, layout(a), b ? K : N, layout(b), c ? M : N, layout(c), c ? M : N,
             layout(c));
}

static void tiles_lie_either_way(void **state) {
    (void)state;
    for (int way = 0; way < 8; way++) {
        bool a_turned = way & 1, b_turned = way & 2, c_turned = way & 4;
        int32_t a[M * K], b[K * N], c[M * N], want[M * N] = {0};
        int64_t of_a = M * K, of_b = K * N, of_c = M * N;
        char text[2048];
        for (int i = 0; i < M * K; i++)
            a[i] = i % 11 - 5;
        for (int i = 0; i < K * N; i++)
            b[i] = i % 13 - 6;
        for (int i = 0; i < M * N; i++)
            c[i] = i % 17;
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) {
                int at = c_turned ? j * M + i : i * N + j;
                want[at] = c[at];
                for (int k = 0; k < K; k++)
                    want[at] +=
                        a[a_turned ? k * M + i : i * K + k] * b[b_turned ? j * K + k : k * N + j];
            }
        }
        hone_tensor args[3] = {hone_tensor_view(a, HONE_DTYPE_I32, 1, &of_a),
                               hone_tensor_view(b, HONE_DTYPE_I32, 1, &of_b),
                               hone_tensor_view(c, HONE_DTYPE_I32, 1, &of_c)};
        hone_tensor *all[3] = {&args[0], &args[1], &args[2]};
        write_tiles(a_turned, b_turned, c_turned, text, sizeof text);
        HONE_ASSERT_OK(run(text, all, 3));
        assert_memory_equal(c, want, sizeof c);
    }
}

/* ---- calls by their names ---- */

#define THREADS "  for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
#define SHARED "    S = T.alloc_buffer((8,), \"int32\", scope=\"shared\")\n"
#define COPY(to, from)                                                                             \
    "    T.evaluate(T.ptx_cp_async(\"int32\", S.data, " to ", A.data, " from ", 4))\n"

/* clang-format off */
static const struct row {
    const char *name, *body;
    int32_t want[8]; /* A is 0, 1, 4, 9, ... */
    const char *message;
} rows[] = {
    {"atomicAdd",
     THREADS "    C[t] = 0\n    T.tvm_storage_sync(\"shared\")\n"
             "    T.evaluate(T.call_extern(\"int32\", \"atomicAdd\", T.address_of(C[t % 2]), "
             "A[t]))\n",
     {56, 84},
     NULL},
    {"atomics of every kind",
     "  for t in range(1):\n    for i in range(8):\n      C[i] = 12\n"
     "    T.evaluate(T.call_extern(\"int32\", \"atomicSub\", T.address_of(C[0]), 5))\n"
     "    T.evaluate(T.call_extern(\"int32\", \"atomicMin\", T.address_of(C[1]), 5))\n"
     "    T.evaluate(T.call_extern(\"int32\", \"atomicMax\", T.address_of(C[2]), 50))\n"
     "    T.evaluate(T.call_extern(\"int32\", \"atomicXor\", T.address_of(C[3]), 5))\n"
     "    T.evaluate(T.call_extern(\"int32\", \"atomicCAS\", T.address_of(C[4]), 12, 3))\n"
     "    T.evaluate(T.call_extern(\"int32\", \"atomicCAS\", T.address_of(C[5]), 13, 3))\n"
     "    C[6] = T.cuda.atomic_add(T.address_of(C[7]), 1)\n",
     {7, 5, 50, 9, 3, 12, 12, 13},
     NULL},
    {"an update and a plain read",
     THREADS "    T.evaluate(T.cuda.atomic_add(T.address_of(C[0]), C[1]))\n"
             "    if t == 7:\n      C[2] = C[0]\n",
     {0},
     "two iterations of a parallel loop touch element 0 of 'C' (one writes)"},
    {"a product of bytes",
     "  V = T.alloc_buffer((1,), \"int8x4\", scope=\"local\")\n"
     "  for i in range(8):\n"
     "    V[0] = T.Broadcast(T.cast(0 - i, \"int8\"), 4)\n"
     "    C[i] = T.call_pure_extern(\"int32\", \"__dp4a\", V[0], V[0], A[i])\n",
     {0, 5, 20, 45, 80, 125, 180, 245},
     NULL},
    {"a product of bytes, without a dtype and with one",
     "  V = T.alloc_buffer((1,), \"int8x4\", scope=\"local\")\n"
     "  for i in range(8):\n"
     "    V[0] = T.Broadcast(T.cast(0 - i, \"int8\"), 4)\n"
     "    C[i] = T.dp4a(V[0], V[0], A[i]) + T.dp4a(\"int32\", V[0], V[0])\n",
     {0, 9, 36, 81, 144, 225, 324, 441},
     NULL},
    {"bytes in a word",
     "  for i in range(8):\n"
     "    C[i] = T.call_pure_extern(\"int32\", \"__dp4a\", -1, 67305985, i)\n",
     {-10, -9, -8, -7, -6, -5, -4, -3},
     NULL},
    {"copies that are waited for",
     THREADS SHARED COPY("t", "7 - t") "    T.evaluate(T.ptx_commit_group())\n"
                                       "    T.evaluate(T.ptx_wait_group(0))\n"
                                       "    C[t] = S[t]\n",
     {49, 36, 25, 16, 9, 4, 1, 0},
     NULL},
    {"copies in the words of PTX",
     THREADS SHARED
     "    T.ptx.cp(T.cuda.cvta_generic_to_shared(T.address_of(S[t])), T.address_of(A[t]), 4, "
     "\"async\", \"ca\", \"shared\", \"global\", \"\", \"\", \"\")\n"
     "    T.ptx.cp(\"async\", \"commit_group\", \"\")\n"
     "    T.ptx.cp(0, \"async\", \"wait_group\", \"\")\n"
     "    C[t] = S[t]\n",
     {0, 1, 4, 9, 16, 25, 36, 49},
     NULL},
    {"a copy of the last group is under way",
     THREADS SHARED COPY("t", "t") "    T.evaluate(T.ptx_commit_group())\n"
                                   "    T.evaluate(T.ptx_wait_group(1))\n"
                                   "    C[t] = S[t]\n",
     {0},
     "element 0 of 'S' is touched while it is copied asynchronously"},
    {"a copy that was never committed",
     THREADS SHARED COPY("t", "t") "    T.evaluate(T.ptx_wait_group(0))\n"
                                   "    C[t] = S[t]\n",
     {0},
     "element 0 of 'S' is touched while it is copied asynchronously"},
    {"the group before the last one has come",
     "  S = T.alloc_buffer((8,), \"int32\", scope=\"shared\")\n"
     "  for t in range(1):\n" COPY("0", "3") "    T.evaluate(T.ptx_commit_group())\n" COPY(
         "1", "2") "    T.evaluate(T.ptx_commit_group())\n"
                   "    T.evaluate(T.ptx_wait_group(1))\n"
                   "    C[t] = S[0]\n",
     {9},
     NULL},
    {"copies by attributes",
     "  S = T.alloc_buffer((2,), \"int32\", scope=\"shared\")\n"
     "  with T.attr(0, \"async_commit_queue_scope\", 0):\n"
     "    T.attr(0, \"async_scope\", 1)\n"
     "    S[0] = A[3]\n"
     "  with T.attr(0, \"async_commit_queue_scope\", 0):\n"
     "    T.attr(0, \"async_scope\", 1)\n"
     "    S[1] = A[4]\n"
     "  with T.attr(0, \"async_wait_queue_scope\", 0):\n"
     "    T.attr(0, \"async_wait_inflight_count\", 1)\n"
     "    C[0] = S[0]\n",
     {9},
     NULL},
    {"and one too few",
     "  S = T.alloc_buffer((2,), \"int32\", scope=\"shared\")\n"
     "  with T.attr(0, \"async_commit_queue_scope\", 0):\n"
     "    T.attr(0, \"async_scope\", 1)\n"
     "    S[T.Ramp(0, 1, 2)] = A[T.Ramp(0, 1, 2)]\n"
     "  with T.attr(0, \"async_wait_queue_scope\", 0):\n"
     "    T.attr(0, \"async_wait_inflight_count\", 1)\n"
     "    C[0] = S[1]\n",
     {0},
     "element 1 of 'S' is touched while it is copied asynchronously"},
    {"mma of half a warp",
     THREADS "    R = T.alloc_buffer((1,), \"float64\", scope=\"local\")\n"
             "    S = T.alloc_buffer((2,), \"float64\", scope=\"local\")\n"
             "    R[0] = T.float64(1)\n    S[0] = T.float64(1)\n    S[1] = T.float64(1)\n"
             "    T.evaluate(T.ptx_legacy.mma(\"m8n8k4\", \"row\", \"col\", \"fp64\", \"fp64\", "
             "\"fp64\", R.data, 0, R.data, 0, S.data, 0, False, dtype=\"float64\"))\n",
     {0},
     "an instruction of a warp is executed by less than its lanes"},
};
/* clang-format on */

static void runs(void **state) {
    const struct row *row = *state;
    static const int64_t eight[1] = {8};
    char text[4096];
    int32_t a[8], c[8] = {0};
    for (int i = 0; i < 8; i++)
        a[i] = i * i;
    hone_tensor in = hone_tensor_view(a, HONE_DTYPE_I32, 1, eight);
    hone_tensor out = hone_tensor_view(c, HONE_DTYPE_I32, 1, eight);
    hone_tensor *all[2] = {&in, &out};
    snprintf(text, sizeof text,
             "# tirx\n@T.prim_func\n"
             "def main(A: T.Buffer((8,), \"int32\"), C: T.Buffer((8,), \"int32\")):\n%s",
             row->body);
    hone_status st = run(text, all, 2);
    if (row->message) {
        HONE_ASSERT_ERROR(st, HONE_CODE_ILLEGAL, row->message);
        return;
    }
    HONE_ASSERT_OK(st);
    assert_memory_equal(c, row->want, sizeof c);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_lie_either_way)};
    int failed = HONE_RUN_ROWS("ir/interp_mma", shapes, multiplies);
    failed += cmocka_run_group_tests_name("ir/interp_tiles", tests, NULL, NULL);
    return HONE_RUN_ROWS("ir/interp_device_calls", rows, runs) + failed;
}
