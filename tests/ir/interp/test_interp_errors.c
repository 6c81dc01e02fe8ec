/* tests/ir/interp/test_interp_errors.c - wrong programs end with the reason, the names and the
 * indices; arguments that do not fit are refused. */
#include <stdio.h>

#include "ir/interp/interp.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

#define FUNC                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((10, 4), \"int32\"), C: T.Buffer((10, 4), \"int32\")):\n"

/* clang-format off */
static const struct row {
    const char *name, *body;
    hone_code code;
    const char *message;
} rows[] = {
    {"read outside",
     "  for i in range(10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(10, i)\n"
     "      C[vi, 0] = A[vi + 2, 3]\n",
     HONE_CODE_ILLEGAL, "read of A[10, 3] is outside its shape (10, 4), in block 'B' (vi = 8)"},
    {"write outside",
     "  for i, j in T.grid(10, 5):\n"
     "    C[i, j] = 1\n",
     HONE_CODE_ILLEGAL, "write to C[0, 4] is outside its shape (10, 4), at (i = 0, j = 4)"},
    {"negative index",
     "  for i in range(10):\n"
     "    C[i, 0] = A[i - 1, 0]\n",
     HONE_CODE_ILLEGAL, "read of A[-1, 0]"},
    {"Select evaluates both sides",
     "  for i in range(10):\n"
     "    C[i, 0] = T.Select(i < 9, A[i + 1, 0], 0)\n",
     HONE_CODE_ILLEGAL, "read of A[10, 0]"},
    {"division by zero",
     "  for i in range(10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(10, i)\n"
     "      C[vi, 0] = 7 // (vi - 3)\n",
     HONE_CODE_ILLEGAL, "division by zero, in block 'B' (vi = 3)"},
    {"axis outside its domain",
     "  for i in range(10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(9, i)\n"
     "      C[vi, 0] = 1\n",
     HONE_CODE_ILLEGAL, "axis 'vi' of block 'B' is 9, outside of its domain [0, 9)"},
    {"never written",
     "  D = T.alloc_buffer((10,), \"int32\")\n"
     "  for i in range(9):\n"
     "    with T.block(\"D\"):\n"
     "      vi = T.axis.spatial(10, i)\n"
     "      D[vi] = 1\n"
     "  for i in range(10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(10, i)\n"
     "      C[vi, 0] = D[vi]\n",
     HONE_CODE_ILLEGAL, "read of 'D' at element 9, which was never written, in block 'B' (vi = 9)"},
    {"a new allocation is empty again",
     "  for i in range(10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(10, i)\n"
     "      D = T.alloc_buffer((1,), \"int32\")\n"
     "      if vi == 0:\n"
     "        D[0] = 5\n"
     "      C[vi, 0] = D[0]\n",
     HONE_CODE_ILLEGAL, "never written, in block 'B' (vi = 1)"},
    {"parallel reduction",
     "  for i in T.parallel(10):\n"
     "    C[0, 0] = C[0, 0] + A[i, 0]\n",
     HONE_CODE_ILLEGAL, "two iterations of a parallel loop touch element 0 of 'C'"},
    {"lanes of a vector that write one element",
     "  C[0, T.Ramp(0, 0, 4)] = A[0, T.Ramp(0, 1, 4)]\n", HONE_CODE_ILLEGAL,
     "two lanes of a vector write element 0 of 'C'"},
    {"a vector beyond the last row", "  C[9, T.Ramp(2, 1, 4)] = A[0, T.Ramp(0, 1, 4)]\n",
     HONE_CODE_ILLEGAL, "write to C[9, 4] is outside its shape (10, 4)"},
    {"an intrinsic of LLVM that is not known",
     "  C[0, 0] = T.call_llvm_pure_intrin(\"int32\", \"llvm.readcyclecounter\")\n",
     HONE_CODE_UNSUPPORTED,
     "T.call_llvm_pure_intrin of 'llvm.readcyclecounter' cannot be interpreted"},
    {"views that overlap, in parallel",
     "  D = T.decl_buffer((4, 4), \"int32\", data=C.data, strides=(2, 1))\n"
     "  for i in T.parallel(4):\n    for j in range(4):\n      D[i, j] = A[i, j]\n",
     HONE_CODE_ILLEGAL, "two iterations of a parallel loop touch element 2 of 'D'"},
    {"a view that begins too late",
     "  D = T.decl_buffer((40,), \"int32\", data=C.data, elem_offset=4)\n"
     "  for i in range(40):\n    D[i] = 1\n",
     HONE_CODE_ILLEGAL, "write to 'D' at element 40 of its storage, which has 40"},
    {"parallel prefix sum",
     "  for i in T.parallel(9):\n"
     "    C[i + 1, 0] = C[i, 0] + 1\n",
     HONE_CODE_ILLEGAL, "two iterations of a parallel loop touch element 4 of 'C'"},
    {"parallel loops one after the other",
     "  for i in T.parallel(10):\n"
     "    C[i, 0] = A[i, 0]\n"
     "  for i in T.parallel(10):\n"
     "    C[i, 1] = C[9 - i, 0]\n",
     HONE_CODE_OK, ""},
    {"parallel below serial",
     "  for t in range(3):\n"
     "    for i in T.parallel(9):\n"
     "      C[i + 1, t + 1] = C[i, t] + 1\n",
     HONE_CODE_OK, ""},
    {"a private allocation is no race",
     "  for i in T.parallel(10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(10, i)\n"
     "      D = T.alloc_buffer((1,), \"int32\")\n"
     "      D[0] = A[vi, 0]\n"
     "      C[vi, 0] = D[0]\n",
     HONE_CODE_OK, ""},
    {"threads fetch together",
     "  S = T.alloc_buffer((4,), \"int32\", scope=\"shared\")\n"
     "  for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "    for u in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "      with T.block(\"S\"):\n"
     "        v = T.axis.spatial(4, u)\n"
     "        S[v] = A[0, v]\n"
     "    with T.block(\"B\"):\n"
     "      v = T.axis.spatial(4, t)\n"
     "      C[0, v] = S[3 - v]\n",
     HONE_CODE_OK, ""},
    {"threads that reduce together",
     "  for i in range(4):\n"
     "    for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "      with T.block(\"B\"):\n"
     "        vi, vk = T.axis.remap(\"SR\", [i, t])\n"
     "        with T.init():\n"
     "          C[vi, 0] = 0\n"
     "        with T.block(\"D\"):\n"
     "          C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     HONE_CODE_OK, ""},
    {"threads that reduce without an init",
     "  for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "    with T.block(\"B\"):\n"
     "      vk = T.axis.reduce(4, t)\n"
     "      C[0, 0] = C[0, 0] + A[0, vk]\n",
     HONE_CODE_ILLEGAL, "two iterations of a parallel loop touch element"},
    {"threads that reduce the same",
     "  for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "    for k in range(4):\n"
     "      with T.block(\"B\"):\n"
     "        vk = T.axis.reduce(4, k)\n"
     "        with T.init():\n"
     "          C[0, 0] = 0\n"
     "        C[0, 0] = C[0, 0] + A[0, vk]\n",
     HONE_CODE_ILLEGAL, "two iterations of a parallel loop touch element"},
    {"threads wait for each other",
     "  S = T.alloc_buffer((4,), \"int32\", scope=\"shared\")\n"
     "  for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "    L = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
     "    L[0] = A[0, t]\n"
     "    for k in range(2):\n"
     "      S[t] = L[0] + k\n"
     "      T.evaluate(T.tvm_storage_sync(\"shared\"))\n"
     "      L[0] = S[3 - t]\n"
     "      T.evaluate(T.tvm_storage_sync(\"shared\"))\n"
     "    assert L[0] == A[0, t] + 1, \"not what was exchanged\"\n"
     "    C[0, t] = L[0]\n",
     HONE_CODE_OK, ""},
    {"threads that should wait",
     "  S = T.alloc_buffer((4,), \"int32\", scope=\"shared\")\n"
     "  for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "    S[t] = A[0, t]\n"
     "    C[0, t] = S[3 - t]\n"
     "    T.evaluate(T.tvm_storage_sync(\"shared\"))\n",
     HONE_CODE_ILLEGAL, "two iterations of a parallel loop touch element"},
    {"some threads wait",
     "  for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "    if t < 2:\n"
     "      T.evaluate(T.tvm_storage_sync(\"shared\"))\n",
     HONE_CODE_ILLEGAL, "threads do not all come to tvm_storage_sync"},
    {"threads that fetch together and wait",
     "  S = T.alloc_buffer((8,), \"int32\", scope=\"shared\")\n"
     "  for y in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
     "    for x in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "      for u in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
     "        S[y * 4 + u] = A[y, u]\n"
     "      T.evaluate(T.tvm_storage_sync(\"shared\"))\n"
     "      assert S[7 - y * 4 - x] == A[1 - y, 3 - x], \"not what was fetched\"\n"
     "      C[y, x] = S[7 - y * 4 - x]\n",
     HONE_CODE_OK, ""},
    {"a fragment before it is loaded",
     "  S = T.alloc_buffer((16, 16), \"int32\", scope=\"wmma.accumulator\")\n"
     "  T.evaluate(T.tvm_mma_sync(S.data, 0, S.data, 0, S.data, 0, S.data, 0))\n",
     HONE_CODE_ILLEGAL, "a fragment is used before it is loaded or filled"},
    {"a fragment outside of its buffer",
     "  S = T.alloc_buffer((16, 16), \"int32\", scope=\"wmma.accumulator\")\n"
     "  T.evaluate(T.tvm_fill_fragment(S.data, 16, 16, 16, 1, T.float32(0)))\n",
     HONE_CODE_ILLEGAL, "a fragment lies outside of its buffer"},
    {"an instruction of a warp without lanes",
     "  S = T.alloc_buffer((32, 8), \"int32\", scope=\"warp\")\n"
     "  T.evaluate(T.cuda.mma_fill_legacy(8, S.data, 0))\n",
     HONE_CODE_ILLEGAL, "stands in no loop over threadIdx.x"},
    {"assert", "  assert A[0, 0] > 100, \"too small\"\n", HONE_CODE_ILLEGAL,
     "assertion failed: too small"},
    {"external function that is not there",
     "  T.evaluate(T.call_extern(\"int32\", \"f\", A.data))\n", HONE_CODE_UNAVAILABLE,
     "external function 'f' is called, and there is none"},
    {"no end",
     "  C[0, 0] = 1\n"
     "  while C[0, 0] > 0:\n"
     "    C[0, 0] = 1\n",
     HONE_CODE_CANCELLED, "more than 100000 steps"},
};
/* clang-format on */

static hone_status run(const char *text, bool allow_repeats) {
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    hone_tensor **args = hone_test_make_args(func, 0);
    const hone_interp_options options = {.check_uninitialised = true,
                                         .check_races = true,
                                         .allow_repeats = allow_repeats,
                                         .max_steps = 100000};
    hone_status st = args ? hone_interp_func(func, args, func->param_count, &options) : HONE_OK;
    hone_test_free_args(func, args);
    hone_module_release(module);
    return st;
}

static void ends(void **state) {
    const struct row *row = *state;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", FUNC, row->body);
    hone_status st = run(text, false);
    if (row->code == HONE_CODE_OK)
        HONE_ASSERT_OK(st);
    else
        HONE_ASSERT_ERROR(st, row->code, row->message);
}

static void repeats(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool is_repeat;
    } cases[] = {
        {"  for i in T.parallel(4):\n    C[0, i % 2] = 7\n",                        true },
        {"  for i in T.parallel(4):\n    C[0, i % 2] = i % 2\n",                    true },
        {"  for i in T.parallel(4):\n    C[0, i % 2] = i\n",                        false},
        {"  C[0, T.Ramp(0, 0, 4)] = T.Broadcast(5, 4)\n",                           true },
        {"  C[0, T.Ramp(0, 0, 4)] = T.Ramp(5, 1, 4)\n",                             false},
        {"  for i in T.parallel(4):\n    C[0, 0] = 0\n    C[0, 0] = C[0, 0] + 1\n", false},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s%s", FUNC, cases[i].body);
        HONE_ASSERT_ERROR(run(text, false), HONE_CODE_ILLEGAL, "two ");
        hone_status st = run(text, true);
        if (cases[i].is_repeat)
            HONE_ASSERT_OK(st);
        else
            HONE_ASSERT_ERROR(st, HONE_CODE_ILLEGAL, "two ");
    }
}

static void refuses_arguments(void **state) {
    (void)state;
    static const int64_t good[2] = {10, 4}, bad[2] = {10, 5};
    int32_t data[64] = {0};
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(FUNC "  C[0, 0] = A[0, 0]\n", &module);
    hone_tensor a = hone_tensor_view(data, HONE_DTYPE_I32, 2, good);
    hone_tensor wrong_type = hone_tensor_view(data, HONE_DTYPE_F32, 2, good);
    hone_tensor wrong_rank = hone_tensor_view(data, HONE_DTYPE_I32, 1, good);
    hone_tensor wrong_shape = hone_tensor_view(data, HONE_DTYPE_I32, 2, bad);
    hone_tensor *args[] = {&a, &wrong_type};
    hone_status count = hone_interp_func(func, args, 1, NULL);
    hone_status type = hone_interp_func(func, args, 2, NULL);
    args[1] = &wrong_rank;
    hone_status rank = hone_interp_func(func, args, 2, NULL);
    args[1] = &wrong_shape;
    hone_status shape = hone_interp_func(func, args, 2, NULL);
    hone_module_release(module);
    HONE_ASSERT_ERROR(count, HONE_CODE_INVALID, "'main' takes 2 arguments, got 1");
    HONE_ASSERT_ERROR(type, HONE_CODE_INVALID, "argument 1 ('C') is float32, must be int32");
    HONE_ASSERT_ERROR(rank, HONE_CODE_INVALID, "argument 1 ('C') has 1 dimensions, must have 2");
    HONE_ASSERT_ERROR(shape, HONE_CODE_INVALID,
                      "argument 1 ('C') has shape (10, 5), must have (10, 4)");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_arguments),
                                       cmocka_unit_test(repeats)};
    int failed = HONE_RUN_ROWS("ir/interp_errors", rows, ends);
    return cmocka_run_group_tests_name("ir/interp_errors", tests, NULL, NULL) + failed;
}
