/* tests/ir/interp/test_interp_semantics.c - what programs compute, one idea per row: A is the
 * input, C the output, both in full. */
#include <math.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

#define FUNC(a, c)                                                                                 \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer(" a "), C: T.Buffer(" c ")):\n"
#define EACH(n)                                                                                    \
    "  for i in range(" #n "):\n"                                                                  \
    "    with T.block(\"B\"):\n"                                                                   \
    "      v = T.axis.spatial(" #n ", i)\n"

enum { MOST = 8 };

/* clang-format off */
static const struct row {
    const char *name, *text;
    double in[MOST], want[MOST];
} rows[] = {
    {"int32 wraps",
     FUNC("(2,), \"int32\"", "(2,), \"int32\"") EACH(2) "      C[v] = A[v] + 1\n",
     {2147483647, -1},
     {-2147483648.0, 0}},
    {"elements that are vectors",
     FUNC("(4,), \"int32\"",
          "(4,), \"int32\"") "  V = T.alloc_buffer((2,), \"int32x2\", scope=\"local\")\n"
                             "  V[1] = A[T.Ramp(0, 1, 2)]\n  V[0] = A[T.Ramp(2, 1, 2)] + V[1]\n"
                             "  C[T.Ramp(0, 1, 2)] = V[0]\n  C[T.Ramp(2, 1, 2)] = V[1]\n",
     {1, 2, 3, 4},
     {4, 6, 1, 2}},
    {"shuffled lanes",
     FUNC("(4,), \"int32\"", "(4,), \"int32\"") "  C[0:4] = T.Shuffle([A[T.Ramp(0, 1, 2)], "
                                                "A[T.Ramp(2, 1, 2)]], [3, 0, 2, 1])\n",
     {1, 2, 3, 4},
     {4, 1, 3, 2}},
    {"storage seen as a narrower type",
     FUNC("(2,), \"int32\"",
          "(8,), \"int8\"") "  V = T.Buffer((8,), \"int8\", data=A.data)\n"
                            "  for i in range(8):\n    C[i] = V[i]\n",
     {67305985, -2},
     {1, 2, 3, 4, -2, -1, -1, -1}},
    {"storage written as a narrower type",
     FUNC("(2,), \"int32\"",
          "(2,), \"int32\"") "  X = T.alloc_buffer((2,), \"int32\")\n"
                             "  V = T.Buffer((4,), \"int16\", data=X.data)\n"
                             "  for i in T.parallel(4):\n    V[i] = T.int16(1)\n"
                             "  for i in range(2):\n    C[i] = X[i] + A[i]\n",
     {0, 1},
     {65537, 65538}},
    {"functions of libm by name",
     FUNC("(1,), \"float32\"",
          "(3,), \"float32\"") "  C[0] = T.call_pure_extern(\"float32\", \"floorf\", A[0])\n"
                               "  C[1] = T.call_extern(\"float32\", \"powf\", A[0], T.float32(3))\n"
                               "  C[2] = T.call_pure_extern(\"float32\", \"fmaf\", A[0], A[0], A[0])\n",
     {-1.5},
     {-2, -3.375, 0.75}},
    {"they take and give what C says",
     FUNC("(1,), \"float32\"",
          "(3,), \"float32\"") "  C[0] = T.call_pure_extern(\"float32\", \"exp2\", A[0])\n"
                               "  C[1] = T.cast(T.call_pure_extern(\"float16\", \"hypotf\", 3, A[0]), \"float32\")\n"
                               "  C[2] = T.cast(T.call_pure_extern(\"float64\", \"sqrtf\", T.float64(16777217)), \"float32\")\n",
     {4},
     {16, 5, 4096}},
    {"large whole numbers that they take",
     FUNC("(1,), \"float32\"",
          "(2,), \"float32\"") "  C[0] = T.cast(T.call_pure_extern(\"float64\", \"cbrt\", "
                               "T.uint64(9223372036854775808)), \"float32\")\n"
                               "  C[1] = T.call_pure_extern(\"float32\", \"fabsf\", "
                               "T.int64(1152921573326323713))\n",
     {0},
     {2097152, 1152921642045800448}},
    {"a scalar is assigned",
     "# from tvm.script import tirx as T\n" FUNC(
         "(4,), \"int32\"",
         "(1,), \"int32\"") "  s: T.int32 = 0\n  for i in range(4):\n    if A[i] > "
                            "1:\n      s = s + A[i]\n  C[0] = s\n",
     {1, 2, 3, 4},
     {9}},
    {"int8 wraps",
     FUNC("(2,), \"int8\"", "(2,), \"int8\"") EACH(2) "      C[v] = A[v] * T.int8(2)\n",
     {100, -100},
     {-56, 56}},
    {"uint8 wraps",
     FUNC("(2,), \"uint8\"", "(2,), \"uint8\"") EACH(2) "      C[v] = A[v] - T.uint8(1)\n",
     {0, 255},
     {255, 254}},
    {"floor and trunc division",
     FUNC("(2,), \"int32\"",
          "(8,), \"int32\"") "  C[0] = A[0] // 2\n  C[1] = A[0] % 2\n  C[2] = T.truncdiv(A[0], 2)\n"
                             "  C[3] = T.truncmod(A[0], 2)\n  C[4] = A[1] // -2\n  C[5] = A[1] % "
                             "-2\n"
                             "  C[6] = T.truncdiv(A[1], -2)\n  C[7] = T.truncmod(A[1], -2)\n",
     {-7, 7},
     {-4, 1, -3, -1, -4, -1, -3, 1}},
    {"bytes of a word, and a word of bytes",
     FUNC("(4,), \"uint8\"",
          "(2,), \"int32\"") "  C[0] = T.reinterpret(A[T.Ramp(0, 1, 4)], "
                             "dtype=\"int32\")\n  V = T.alloc_buffer((4,), \"uint8\")\n"
                             "  V[T.Ramp(0, 1, 4)] = T.reinterpret(C[0], dtype=\"uint8x4\")\n"
                             "  C[1] = T.cast(V[3], \"int32\")\n",
     {1, 2, 3, 4},
     {67305985, 4}},
    {"a dot product of x86, over rows of B",
     FUNC("(4,), \"uint8\"",
          "(4,), \"int32\"") "  B = T.alloc_buffer((4, 4), \"int8\")\n"
                             "  for i, j in T.grid(4, 4):\n    B[i, j] = T.cast(i - j, \"int8\")\n"
                             "  for i in range(4):\n    C[i] = 100\n"
                             "  C[0:4] = T.call_llvm_pure_intrin(\"int32x4\", "
                             "\"llvm.x86.avx512.vpdpbusd.128\", "
                             "C[T.Ramp(0, 1, 4)], T.Broadcast(T.reinterpret(A[T.Ramp(0, 1, 4)], "
                             "dtype=\"int32\"), 4), "
                             "T.reinterpret(B[0, T.Ramp(0, 1, 16)], dtype=\"int32x4\"))\n",
     {255, 2, 0, 1},
     {95, 353, 611, 869}},
    {"pairs of products that saturate, and their sums",
     FUNC("(4,), \"uint8\"",
          "(1,), \"int32\"") "  B = T.alloc_buffer((4,), \"int8\")\n"
                             "  for i in range(4):\n    B[i] = T.int8(127)\n  W = "
                             "T.alloc_buffer((2,), \"int16\")\n"
                             "  W[0:2] = T.call_llvm_pure_intrin(\"int16x2\", "
                             "\"llvm.x86.avx512.pmaddubs.w.512\", "
                             "A[T.Ramp(0, 1, 4)], B[T.Ramp(0, 1, 4)])\n"
                             "  C[0] = T.cast(W[0], \"int32\") + T.cast(W[1], \"int32\")\n",
     {255, 255, 1, 2},
     {32767 + 381}},
    {"products and halves of ARM",
     FUNC(
         "(4,), \"int8\"",
         "(4,), \"int32\"") "  W = T.alloc_buffer((2,), \"int16\")\n"
                            "  W[0:2] = T.call_llvm_pure_intrin(\"int16x2\", "
                            "\"llvm.aarch64.neon.smull.v2i16\", "
                            "T.vectorlow(\"int8x2\", A[T.Ramp(0, 1, 4)]), T.vectorhigh(\"int8x2\", "
                            "A[T.Ramp(0, 1, 4)]))\n  C[0] = T.cast(W[0], \"int32\")\n  C[1] = "
                            "T.cast(W[1], \"int32\")\n"
                            "  C[2:4] = T.call_llvm_pure_intrin(\"int32x2\", "
                            "\"llvm.aarch64.neon.addp\", C[T.Ramp(0, 1, 2)], "
                            "C[T.Ramp(0, 1, 2)])\n",
     {-100, 3, 100, 5},
     {-10000, 15, -9985, -9985}},
    {"the next number of a short float",
     FUNC("(4,), \"float16\"", "(4,), \"float16\"") EACH(4) "      C[v] = T.nextafter(A[v], "
                                                            "T.float16(2))\n",
     {1, 0, 2048, -0.0},
     {1.0009765625, 5.9604644775390625e-8, 2047, 5.9604644775390625e-8}},
    {"sigmoid where exp is too large",
     FUNC("(1,), \"float64\"", "(1,), \"float64\"") EACH(1) "      C[v] = T.sigmoid(A[v])\n",
     {-735},
     {6.2168280216204053e-320}},
    {"integers of four bits",
     FUNC("(3,), \"int32\"", "(3,), \"int32\"") "  I = T.alloc_buffer((3,), \"int4\")\n" EACH(
         3) "      I[v] = T.cast(A[v], \"int4\") * T.int4(3)\n      C[v] = T.cast(I[v], "
            "\"int32\")\n",
     {1, 3, -7},
     {3, -7, -5}},
    {"float32 rounds every step",
     FUNC("(1,), \"float32\"", "(1,), \"float32\"") "  C[0] = (A[0] + T.float32(1)) - A[0]\n",
     {16777216},
     {0}},
    {"float64 does not",
     FUNC("(1,), \"float64\"", "(1,), \"float64\"") "  C[0] = (A[0] + T.float64(1)) - A[0]\n",
     {16777216},
     {1}},
    {"float16 rounds every step",
     FUNC("(2,), \"float16\"", "(2,), \"float16\"")
         EACH(2) "      C[v] = (A[v] + T.float16(1)) - A[v]\n",
     {2048, 1024},
     {0, 1}},
    {"bfloat16 keeps 8 bits",
     FUNC("(2,), \"float32\"", "(2,), \"bfloat16\"")
         EACH(2) "      C[v] = T.Cast(\"bfloat16\", A[v])\n",
     {257, 1.0078125},
     {256, 1.0078125}},
    {"float4 saturates",
     FUNC("(4,), \"float32\"", "(4,), \"float4_e2m1fn\"")
         EACH(4) "      C[v] = T.Cast(\"float4_e2m1fn\", A[v])\n",
     {0.75, 5.1, 100, -100},
     {1, 6, 6, -6}},
    {"float8_e4m3 has infinities",
     FUNC("(2,), \"float8_e4m3\"", "(2,), \"float32\"")
         EACH(2) "      C[v] = T.Cast(\"float32\", A[v] + A[v])\n",
     {240, 1.0625},
     {INFINITY, 2}},
    {"casts of floats to integers",
     FUNC("(4,), \"float32\"", "(4,), \"int8\"") EACH(4) "      C[v] = T.Cast(\"int8\", A[v])\n",
     {2.9, -2.9, 300, -300},
     {2, -2, 127, -128}},
    {"casts to bool",
     FUNC("(3,), \"float32\"", "(3,), \"bool\"") EACH(3) "      C[v] = T.Cast(\"bool\", A[v])\n",
     {0, 0.5, -2},
     {0, 1, 1}},
    {"unsigned comparison",
     FUNC("(2,), \"uint32\"", "(2,), \"int32\"")
         EACH(2) "      C[v] = T.Select(A[v] > T.uint32(5), 1, 0)\n",
     {4294967295.0, 3},
     {1, 0}},
    {"min and max take the second with a NaN",
     FUNC("(1,), \"float32\"", "(4,), \"float32\"") "  C[0] = T.max(A[0], T.float32(1))\n  C[1] = "
                                                    "T.min(A[0], T.float32(1))\n"
                                                    "  C[2] = T.max(T.float32(3), T.float32(2))\n  "
                                                    "C[3] = T.min(T.float32(3), T.float32(2))\n",
     {NAN},
     {1, 1, 3, 2}},
    {"if_then_else evaluates one side",
     FUNC("(2,), \"float32\"", "(4,), \"float32\"")
         EACH(4) "      C[v] = T.if_then_else(v < 2, A[v], T.float32(-1))\n",
     {5, 6},
     {5, 6, -1, -1}},
    {"init at the beginning of the reduction",
     FUNC("(2, 3), \"float32\"",
          "(2,), \"float32\"") "  for i, k in T.grid(2, 3):\n"
                               "    with T.block(\"B\"):\n"
                               "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                               "      with T.init():\n"
                               "        C[vi] = T.float32(10)\n"
                               "      C[vi] = C[vi] + A[vi, vk]\n",
     {1, 2, 3, 4, 5, 6},
     {16, 25}},
    {"reduction domain with an offset",
     FUNC("(4,), \"float32\"", "(1,), \"float32\"") "  for k in range(2):\n"
                                                    "    with T.block(\"B\"):\n"
                                                    "      vk = T.axis.reduce((2, 4), k + 2)\n"
                                                    "      with T.init():\n"
                                                    "        C[0] = T.float32(0)\n"
                                                    "      C[0] = C[0] + A[vk]\n",
     {1, 2, 3, 4},
     {7}},
    {"a predicate",
     FUNC("(5,), \"int32\"", "(5,), \"int32\"") "  for i, j in T.grid(2, 3):\n"
                                                "    with T.block(\"B\"):\n"
                                                "      v = T.axis.spatial(5, i * 3 + j)\n"
                                                "      T.where(i * 3 + j < 5)\n"
                                                "      C[v] = A[v] + 1\n",
     {1, 2, 3, 4, 5},
     {2, 3, 4, 5, 6}},
    {"vectors",
     FUNC("(4,), \"float32\"", "(4,), \"float32\"") "  C[T.Ramp(0, 1, 4)] = A[T.Ramp(3, -1, 4)] * "
                                                    "T.Broadcast(T.float32(2), 4)\n",
     {1, 2, 3, 4},
     {8, 6, 4, 2}},
    {"a vector is read before it is written",
     FUNC("(1,), \"float32\"",
          "(4,), \"float32\"") "  for i in range(4):\n    C[i] = T.Cast(\"float32\", i)\n"
                               "  C[T.Ramp(1, 1, 3)] = C[T.Ramp(0, 1, 3)]\n",
     {0},
     {0, 0, 1, 2}},
    {"while and let",
     FUNC("(1,), \"int32\"", "(2,), \"int32\"") "  C[0] = A[0]\n  C[1] = 0\n"
                                                "  while C[0] > 0:\n"
                                                "    x: T.int32 = C[0]\n"
                                                "    C[1] = C[1] + x\n"
                                                "    C[0] = x - 1\n",
     {4},
     {0, 10}},
    {"if and else",
     FUNC("(3,), \"int32\"", "(3,), \"int32\"") "  for i in range(3):\n"
                                                "    if A[i] > 0:\n      C[i] = 1\n"
                                                "    else:\n      C[i] = -1\n",
     {5, -5, 0},
     {1, -1, -1}},
    {"threads run in order",
     FUNC("(4,), \"float32\"",
          "(4,), \"float32\"") "  for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
                               "    for t in T.thread_binding(2, thread=\"threadIdx.x\"):\n"
                               "      with T.block(\"B\"):\n"
                               "        v = T.axis.spatial(4, b * 2 + t)\n"
                               "        C[v] = A[v] * T.float32(3)\n",
     {1, 2, 3, 4},
     {3, 6, 9, 12}},
    {"a view of a region",
     FUNC("(8,), \"int32\"", "(8,), \"int32\"") "  for i in range(4):\n"
                                                "    with T.block(\"B\"):\n"
                                                "      v = T.axis.spatial(4, i)\n"
                                                "      s = T.match_buffer(A[v * 2:v * 2 + 2], "
                                                "(2,), \"int32\", offset_factor=1)\n"
                                                "      d = T.match_buffer(C[v * 2:v * 2 + 2], "
                                                "(2,), \"int32\", offset_factor=1)\n"
                                                "      d[0] = s[1]\n"
                                                "      d[1] = s[0]\n",
     {1, 2, 3, 4, 5, 6, 7, 8},
     {2, 1, 4, 3, 6, 5, 8, 7}},
    {"another shape of the same storage",
     FUNC("(4,), \"int32\"",
          "(2, 2), \"int32\"") "  D = T.decl_buffer((4,), \"int32\", data=C.data)\n"
                               "  for i in range(4):\n    D[i] = A[3 - i]\n",
     {1, 2, 3, 4},
     {4, 3, 2, 1}},
    {"bits",
     FUNC("(1,), \"int32\"",
          "(6,), \"int32\"") "  C[0] = T.shift_left(A[0], 2)\n  C[1] = T.shift_right(A[0], 1)\n"
                             "  C[2] = T.bitwise_and(A[0], 6)\n  C[3] = T.bitwise_xor(A[0], 6)\n"
                             "  C[4] = T.bitwise_not(A[0])\n  C[5] = T.popcount(A[0])\n",
     {-5},
     {-20, -3, 2, -3, 4, 31}},
    {"shifts by the width or more, or below 0",
     FUNC("(4,), \"int32\"",
          "(8,), \"int32\"") "  for i in range(4):\n    C[i] = T.shift_left(-5, A[i])\n"
                             "    C[i + 4] = T.shift_right(-5, A[i])\n",
     {31, 32, -1, 1000},
     {-2147483648.0, 0, 0, 0, -1, -1, -1, -1}},
    {"the least number by -1",
     FUNC("(1,), \"int32\"", "(4,), \"int32\"") "  C[0] = (-2147483647 - 1) // A[0]\n  C[1] = "
                                                "(-2147483647 - 1) % A[0]\n"
                                                "  C[2] = T.truncdiv(-2147483647 - 1, A[0])\n"
                                                "  C[3] = T.truncmod(-2147483647 - 1, A[0])\n",
     {-1},
     {-2147483648.0, 0, -2147483648.0, 0}},
    {"leading zeros",
     FUNC("(5,), \"int32\"",
          "(8,), \"int32\"") "  for i in range(5):\n    C[i] = T.clz(A[i])\n"
                             "  C[5] = T.clz(T.int64(1))\n  C[6] = T.clz(T.int64(-1))\n"
                             "  C[7] = T.clz(T.int64(0))\n",
     {0, 1, 255, 2147483647, -2147483648},
     {32, 31, 24, 1, 0, 63, 0, 64}},
    {"powers of two",
     FUNC("(6,), \"int32\"",
          "(6,), \"float64\"") "  for i in range(6):\n    C[i] = T.ldexp(T.float64(1.5), A[i])\n",
     {0, 10, -3, 1023, 5000, -2147483648},
     {1.5, 1536, 0.1875, 0x1.8p1023, HUGE_VAL, 0}},
    {"fixed point",
     FUNC("(3,), \"int32\"",
          "(6,), \"int32\"") "  for i in range(3):\n    C[i] = T.q_multiply_shift(A[i], "
                             "1395864371, 31, -4)\n"
                             "  for i in range(3):\n    C[i + 3] = "
                             "T.q_multiply_shift_per_axis(A[i], 1073741824, i, 1, "
                             "31, i > 1, True)\n",
     {2147483647, -2147483648, 100},
     {87241523, -87241523, 4, 536870912, -536870912, 100}},
    {"functions",
     FUNC("(1,), \"float64\"",
          "(5,), \"float64\"") "  C[0] = T.sqrt(A[0])\n  C[1] = T.exp(T.float64(0))\n  C[2] = "
                               "T.pow(A[0], T.float64(2))\n"
                               "  C[3] = T.sigmoid(T.float64(0))\n  C[4] = "
                               "T.floor(T.float64(-1.5))\n",
     {4},
     {2, 1, 16, 0.5, -2}},
};
/* clang-format on */

/* Runs main of a text on A = in; the result is C. */
static void run(const char *text, const double *in, const hone_interp_options *options,
                double *out) {
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    hone_tensor **args = hone_test_make_args(func, 0);
    assert_non_null(args);
    for (int64_t i = 0; i < hone_tensor_count(args[0]); i++)
        hone_tensor_set_f64(args[0], i, in[i]);
    hone_status st = hone_interp_func(func, args, func->param_count, options);
    for (int64_t i = 0; i < hone_tensor_count(args[1]); i++) {
        out[i] = hone_tensor_get_f64(args[1], i);
    }
    hone_test_free_args(func, args);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

static void computes(void **state) {
    const struct row *row = *state;
    double got[64] = {0};
    run(row->text, row->in, NULL, got);
    for (int i = 0; i < MOST; i++) {
        if (got[i] == row->want[i]) continue;
        fail_msg("element %d is %.9g, want %.9g", i, got[i], row->want[i]);
    }
}

/* ---- what needs more than one table row ---- */

static const char half_sum[] =
    FUNC("(4,), \"float16\"", "(1,), \"float16\"") "  for k in range(4):\n"
                                                   "    with T.block(\"B\"):\n"
                                                   "      vk = T.axis.reduce(4, k)\n"
                                                   "      with T.init():\n"
                                                   "        C[0] = T.float16(0)\n"
                                                   "      C[0] = C[0] + A[vk]\n";

static void widening_keeps_digits(void **state) {
    (void)state;
    const double in[4] = {2048, 1, 1, 1};
    double got[1];
    const hone_interp_options wide = {.widen_f64 = true};
    run(half_sum, in, NULL, got);
    assert_true(got[0] == 2048);
    run(half_sum, in, &wide, got);
    assert_true(got[0] == 2052); /* 2051 rounded once, on the way out */
}

static void widened_results_may_stay_wide(void **state) {
    (void)state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(half_sum, &module);
    double in[4] = {2048, 1, 1, 1}, out[1] = {0};
    const int64_t shapes[2] = {4, 1};
    hone_tensor a = hone_tensor_view(in, HONE_DTYPE_F64, 1, &shapes[0]);
    hone_tensor c = hone_tensor_view(out, HONE_DTYPE_F64, 1, &shapes[1]);
    hone_tensor *args[] = {&a, &c};
    const hone_interp_options wide = {.widen_f64 = true};
    hone_status st = hone_interp_func(func, args, 2, &wide);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    assert_true(out[0] == 2051);
}

static void bits_are_of_the_rounded_float(void **state) {
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((1,), \"float32\"), "
                               "C: T.Buffer((1,), \"int32\")):\n"
                               "  C[0] = T.reinterpret(A[0] / T.float32(3), dtype=\"int32\")\n";
    const double in[1] = {1};
    double got[1];
    const hone_interp_options wide = {.widen_f64 = true};
    run(text, in, NULL, got);
    assert_true(got[0] == 0x3eaaaaab);
    run(text, in, &wide, got);
    assert_true(got[0] == 0x3eaaaaab);
}

static void sizes_come_from_shapes(void **state) {
    (void)state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse("@T.prim_func\n"
                                            "def main(a: T.handle, c: T.handle, k: T.int32):\n"
                                            "  n = T.int32()\n"
                                            "  A = T.match_buffer(a, (n, 2), \"int32\")\n"
                                            "  C = T.match_buffer(c, (n * 2,), \"int32\")\n"
                                            "  for i, j in T.grid(n, 2):\n"
                                            "    with T.block(\"B\"):\n"
                                            "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                            "      C[vi * 2 + vj] = A[vi, vj] + k\n",
                                            &module);
    int32_t in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0}, k = 10;
    const int64_t shape_a[] = {3, 2}, shape_c[] = {6}, wrong[] = {5};
    hone_tensor a = hone_tensor_view(in, HONE_DTYPE_I32, 2, shape_a);
    hone_tensor c = hone_tensor_view(out, HONE_DTYPE_I32, 1, shape_c);
    hone_tensor number = hone_tensor_view(&k, HONE_DTYPE_I32, 0, NULL);
    hone_tensor *args[] = {&a, &c, &number};
    hone_status st = hone_interp_func(func, args, 3, NULL);
    c = hone_tensor_view(out, HONE_DTYPE_I32, 1, wrong);
    hone_status refused = hone_interp_func(func, args, 3, NULL);
    hone_module_release(module);
    HONE_ASSERT_ERROR(refused, HONE_CODE_INVALID, "argument 1 ('C') has shape (5), must have (6)");
    HONE_ASSERT_OK(st);
    for (int i = 0; i < 6; i++)
        assert_int_equal(out[i], in[i] + 10);
}

static hone_status twice(void *ctx, const char *name, hone_tensor *const *args, size_t count) {
    ++*(int *)ctx;
    if (strcmp(name, "twice") != 0 || count != 3)
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s", name);
    for (int64_t i = 0; i < hone_tensor_count(args[1]); i++) {
        double value = hone_tensor_get_f64(args[0], i) * 2 + hone_tensor_get_f64(args[2], 0);
        hone_tensor_set_f64(args[1], i, value);
    }
    return HONE_OK;
}

static void external_functions(void **state) {
    (void)state;
    static const char text[] =
        FUNC("(4,), \"float32\"",
             "(4,), \"float32\"") "  with T.block(\"B\"):\n"
                                  "    T.evaluate(T.call_extern(\"int32\", \"twice\", "
                                  "T.tvm_access_ptr(T.type_annotation("
                                  "\"float32\"), A.data, 0, 4, 1), C.data, T.float32(1)))\n";
    const double in[4] = {1, 2, 3, 4};
    double got[4];
    int calls = 0;
    hone_interp_options options = {.call_extern = twice, .extern_ctx = &calls};
    run(text, in, &options, got);
    assert_true(got[0] == 3 && got[3] == 9);
    options.widen_f64 = true;
    run(text, in, &options, got);
    assert_true(got[0] == 3 && got[3] == 9);
    assert_int_equal(calls, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening_keeps_digits),
        cmocka_unit_test(widened_results_may_stay_wide),
        cmocka_unit_test(bits_are_of_the_rounded_float),
        cmocka_unit_test(sizes_come_from_shapes),
        cmocka_unit_test(external_functions),
    };
    int failed = HONE_RUN_ROWS("ir/interp_semantics", rows, computes);
    return cmocka_run_group_tests_name("ir/interp_semantics", tests, NULL, NULL) + failed;
}
