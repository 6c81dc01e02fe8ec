/* tests/codegen/test_codegen_c.c - what C spells differently from the language, each as a small
 * program against the interpreter: small floats, integers that wrap, rounding divisions, casts that
 * saturate, lanes. Every row is compiled with all warnings as errors. */
#include <string.h>

#include "ir/text/read/script.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

#define ONE_BUFFER(in, out, value)                                                                 \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((64,), \"" in "\"), B: T.Buffer((64,), \"" out "\")):\n"                 \
    "    for i in range(64):\n"                                                                    \
    "        with T.block(\"B\"):\n"                                                               \
    "            vi = T.axis.spatial(64, i)\n"                                                     \
    "            B[vi] = " value "\n"

#define BODY(in, out, lines)                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((64,), \"" in "\"), B: T.Buffer((64,), \"" out "\")):\n" lines

/* clang-format off */
static const struct row {
    const char *name, *text;
} rows[] = {
    {"float16",
     ONE_BUFFER("float16", "float16", "A[vi] * T.float16(1.0009765625) + T.float16(0.5)")},
    {"to float16, subnormal and too large",
     ONE_BUFFER("float32", "float16",
                "T.cast(A[vi] * T.float32(1e-7) + T.if_then_else(vi % 8 == 0, T.float32(1e6), "
                "T.float32(0)), \"float16\")")},
    {"bfloat16", ONE_BUFFER("bfloat16", "bfloat16", "A[vi] * A[vi]")},
    {"float8 e4m3", ONE_BUFFER("float32", "float8_e4m3fn",
                               "T.cast(A[vi] * T.cast(vi, \"float32\"), \"float8_e4m3fn\")")},
    {"float8 e5m2",
     ONE_BUFFER("float8_e5m2", "float32", "T.cast(A[vi], \"float32\") * T.float32(3)")},
    {"functions of libm by name",
     ONE_BUFFER("float32", "float32",
                "T.call_pure_extern(\"float32\", \"floorf\", A[vi] * T.float32(0.3)) + "
                "T.call_extern(\"float32\", \"fmaf\", A[vi], A[vi], T.float32(1))")},
    {"they take and give what C says",
     ONE_BUFFER("float32", "float32",
                "T.call_pure_extern(\"float32\", \"exp2\", A[vi]) * T.cast(T.call_pure_extern("
                "\"float64\", \"sqrtf\", T.cast(vi, \"float64\")), \"float32\")")},
    {"of small floats, with a whole number",
     ONE_BUFFER("float16", "float16", "T.call_pure_extern(\"float16\", \"atan2f\", A[vi], vi)")},
    {"int8 wraps", ONE_BUFFER("int8", "int8", "A[vi] * T.int8(77) + T.int8(100)")},
    {"uint8 wraps", ONE_BUFFER("uint8", "uint8", "A[vi] - T.uint8(3)")},
    {"int4 wraps",
     ONE_BUFFER("int32", "int4", "T.cast(A[vi] * 5, \"int4\") + T.cast(A[vi], \"int4\")")},
    {"uint4 of floats", ONE_BUFFER("float32", "uint4", "T.cast(A[vi] * T.float32(3), \"uint4\")")},
    {"int32 wraps", ONE_BUFFER("int32", "int32", "(A[vi] + 3) * 2000000011")},
    {"int64", ONE_BUFFER("int64", "int64", "A[vi] * T.int64(5000000000) - T.int64(7)")},
    {"floor division", ONE_BUFFER("int32", "int32", "(A[vi] - 3) // 2 * 10 + (A[vi] - 3) % 2")},
    {"floor division of indices",
     ONE_BUFFER("int32", "int32", "A[(vi - 63 + 63) // 2] + (vi - 40) // 7 + (vi - 40) % 7")},
    {"floor division of indices below 0",
     ONE_BUFFER("int32", "int32", "A[(0 - vi) // 7 + 10] + A[(0 - vi) % 7]")},
    {"a difference is taken away",
     ONE_BUFFER("float32", "float32", "A[vi] * T.float32(3) - (A[vi] - T.float32(2))")},
    {"floor division of floats",
     ONE_BUFFER("float32", "float32",
                "T.floordiv(A[vi], T.float32(0.25)) + T.floormod(A[vi], T.float32(0.25))")},
    {"halves to even", ONE_BUFFER("int32", "float64",
                                  "T.round(T.cast(vi, \"float64\") * T.float64(0.5) - "
                                  "T.float64(7)) + T.nearbyint(T.float64(2.5))")},
    {"shifts", ONE_BUFFER("int32", "int32",
                          "T.bitwise_xor(T.shift_left(A[vi], 3), T.shift_right(A[vi] - 4, 1))")},
    {"fixed point", ONE_BUFFER("int32", "int32",
                               "T.q_multiply_shift(A[vi] * 70000001, 1395864371, 31, vi % 9 - 6)")},
    {"fixed point by axis", ONE_BUFFER("int32", "int32",
                                       "T.q_multiply_shift_per_axis(A[vi] * 7001, 1395864371, vi % "
                                       "5, vi % 3, 31, vi % 2 == 0, True)")},
    {"popcount", ONE_BUFFER("int32", "int32", "T.popcount(A[vi] - 2) + T.bitwise_not(A[vi])")},
    {"leading zeros",
     ONE_BUFFER("int32", "int32",
                "T.clz(A[vi]) + T.clz(-A[vi] * A[vi]) * 100 + T.clz(A[vi] - A[vi]) * 10000")},
    {"leading zeros of int64",
     ONE_BUFFER("int64", "int32",
                "T.clz(A[vi] * T.int64(3000000000)) + T.clz(A[vi] - A[vi]) * 100")},
    {"leading zeros of uint64",
     ONE_BUFFER("uint64", "int32", "T.clz(A[vi]) + T.clz(T.bitwise_not(A[vi])) * 100")},
    {"powers of two",
     ONE_BUFFER("float32", "float32", "T.ldexp(A[vi], vi - 30) + T.ldexp(A[vi], vi * 5 - 200)")},
    {"large powers of two",
     ONE_BUFFER("float64", "float64",
                "T.ldexp(A[vi], T.cast(vi, \"int64\") * T.int64(-5000000000) + T.int64(1))")},
    {"powers of two of float16", ONE_BUFFER("float16", "float16", "T.ldexp(A[vi], vi % 20 - 12)")},
    {"casts saturate", ONE_BUFFER("float32", "int8", "T.cast(A[vi] * T.float32(1000), \"int8\")")},
    {"casts to unsigned",
     ONE_BUFFER("float32", "uint8", "T.cast(A[vi] * T.float32(500), \"uint8\")")},
    {"casts to int64",
     ONE_BUFFER("float32", "int64", "T.cast(A[vi] * T.float32(1e20), \"int64\")")},
    {"bool", ONE_BUFFER("float32", "bool", "A[vi] > T.float32(0) and vi != 3 or vi == 5")},
    {"not", ONE_BUFFER("bool", "bool", "not A[vi]")},
    {"functions",
     ONE_BUFFER(
         "float32", "float32",
         "T.sigmoid(A[vi]) + T.rsqrt(A[vi] + T.float32(2)) + T.erf(A[vi]) - T.exp10(A[vi])")},
    {"double", ONE_BUFFER("float64", "float64",
                          "T.tanh(A[vi]) + T.max(A[vi], T.float64(0.1)) / T.float64(3)")},
    {"guarded load",
     ONE_BUFFER("float32", "float32", "T.if_then_else(vi >= 1, A[vi - 1], T.float32(-1))")},
    {"select and abs",
     ONE_BUFFER("int32", "int32", "T.Select(A[vi] > 2, T.abs(A[vi] - 4), T.min(vi, 9))")},
    {"constants", ONE_BUFFER("float32", "float32",
                             "T.if_then_else(vi < 32, T.float32(\"inf\"), T.float32(\"-inf\"))")},
    {"large constants",
     ONE_BUFFER("int64", "int64", "A[vi] + T.int64(-9223372036854775807) + T.int64(4294967296)")},
    {"reinterpret", ONE_BUFFER("float32", "int32", "T.reinterpret(\"int32\", A[vi])")},
    {"lanes", BODY("float32", "float32",
                   "    for i in range(4):\n        B[T.ramp(i * 16, 1, 16)] = A[T.ramp(i * 16 + "
                   "15, -1, 16)] + T.broadcast(A[i], 16)\n")},
    {"lanes that overlap", BODY("float32", "float32",
                                "    for i in range(64):\n        B[i] = A[i]\n    B[T.ramp(1, 1, "
                                "32)] = B[T.ramp(0, 1, 32)]\n")},
    {"a let",
     BODY("float32", "float32",
          "    for i in range(64):\n        x: T.float32 = A[i] * A[i]\n        B[i] = x + x\n")},
    {"a let that is only prefetched",
     BODY(
         "float32", "float32",
         "    for i in range(7):\n        T.evaluate(T.prefetch(T.address_of(A[i * 8 + 8]), 0, 3, "
         "1))\n        T.evaluate(T.prefetch(T.address_of(A[i * 8 + 9]), 0, 3, 1))\n        B[i] = "
         "A[i]\n")},
    {"while", BODY("int32", "int32",
                   "    n = T.alloc_buffer((1,), \"int32\")\n    n[0] = 0\n    for i in "
                   "range(64):\n        B[i] = 1\n    while n[0] < 64:\n        B[n[0]] = A[n[0]] "
                   "* 2\n        n[0] = n[0] + 3\n")},
    {"else", BODY("int32", "int32",
                  "    for i in range(64):\n        if A[i] > 2:\n            B[i] = 1\n        "
                  "else:\n            B[i] = A[i] - 9\n")},
    {"names of C", "from tvm.script import tir as T\n@T.prim_func\ndef main(int: T.Buffer((8,), "
                   "\"float32\"), tanh: T.Buffer((8,), \"float32\")):\n    for register in "
                   "range(8):\n        tanh[register] = T.tanh(int[register])\n"},
    {"scratch of each iteration",
     BODY("float32", "float32",
          "    big = T.alloc_buffer((8000,))\n    for i in range(64):\n        big[i * 125] = "
          "A[i]\n    for i in range(64):\n        B[i] = big[i * 125] + T.float32(1)\n")},
    {"parallel with scratch",
     BODY("float32", "float32",
          "    big = T.alloc_buffer((8000,))\n    for i in T.parallel(4):\n        for j in "
          "range(16):\n            big[j * 500] = A[i * 16 + j]\n        for j in range(16):\n     "
          "       B[i * 16 + j] = big[j * 500] + T.cast(i, \"float32\")\n")},
};
/* clang-format on */

static void agrees(void **state) {
    const struct row *row = *state;
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse("c -num-threads=2", &target));
    hone_module *module = NULL;
    const hone_member *member;
    HONE_ASSERT_OK(hone_script_parse(row->text, strlen(row->text), row->name, &module));
    hone_status st = hone_module_pick(module, NULL, &member);
    for (uint64_t seed = 1; !st && seed <= 3; seed++)
        st = test_compare(member->func, &target, seed, 1e-6);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

int main(void) {
    return HONE_RUN_ROWS("codegen/c", rows, agrees);
}
