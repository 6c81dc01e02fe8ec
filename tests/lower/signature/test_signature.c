/* tests/lower/signature/test_signature.c - which parameters a program surely writes as a whole. */
#include <string.h>

#include "ir/core/module.h"
#include "ir/text/read/script.h"
#include "lower/signature/signature.h"
#include "support/core/arena.h"
#include "tests/support/hone_test.h"

#define PROGRAM(shape, grid, axes, kinds, loops, index)                                            \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(Y: T.Buffer((" shape "), \"float32\")):\n"                                           \
    "    for " loops " in T.grid(" grid "):\n"                                                     \
    "        with T.block(\"b\"):\n"                                                               \
    "            " axes " = T.axis.remap(\"" kinds "\", [" loops "])\n"                            \
    "            Y[" index "] = T.float32(1)\n"
#define TWO(shape, grid, index) PROGRAM(shape, grid, "va, vb", "SS", "a, b", index)
#define THREE(shape, grid, index) PROGRAM(shape, grid, "va, vb, vc", "SSS", "a, b, c", index)
/* W is a row of Y, by two views. */
#define VIEWED                                                                                     \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(Y: T.Buffer((8, 4), \"float32\"), Z: T.Buffer((8, 4), \"float32\")):\n"              \
    "    for a in range(8):\n"                                                                     \
    "        with T.block(\"b\"):\n"                                                               \
    "            va = T.axis.spatial(8, a)\n"                                                      \
    "            V = T.match_buffer(Y[va, 0:4], (4,))\n"                                           \
    "            W = T.match_buffer(V[0:4], (4,))\n"

/* Statements over Y and Z of 96 elements, in a function without blocks. */
#define FLAT                                                                                       \
    "from tvm.script import tirx as T\n"                                                           \
    "@T.prim_func\n"                                                                               \
    "def main(Y: T.Buffer((96,), \"float32\"), Z: T.Buffer((96,), \"float32\")):\n"
/* Statements over Y and Z of n and more elements, where that is not known. */
#define SIZED                                                                                      \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(y: T.handle, z: T.handle):\n"                                                        \
    "    n = T.int64()\n"                                                                          \
    "    m = T.int64()\n"                                                                          \
    "    Y = T.match_buffer(y, (n,), \"float32\")\n"                                               \
    "    Z = T.match_buffer(z, (n, m), \"float32\")\n"
/* Sums of rows, as far as a condition says. */
#define TRIANGLE(where)                                                                            \
    "    for a, k in T.grid(n, n):\n"                                                              \
    "        with T.block(\"b\"):\n"                                                               \
    "            va, vk = T.axis.remap(\"SR\", [a, k])\n"                                          \
    "            T.where(" where ")\n"                                                             \
    "            with T.init():\n"                                                                 \
    "                Y[va] = T.float32(0)\n"                                                       \
    "            Y[va] = Y[va] + Z[va, 0]\n"
/* Statements over tables of n by m and more. */
#define TABLE                                                                                      \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(y: T.handle, z: T.handle):\n"                                                        \
    "    n = T.int64()\n"                                                                          \
    "    m = T.int64()\n"                                                                          \
    "    Y = T.match_buffer(y, (n, m), \"float32\")\n"                                             \
    "    Z = T.match_buffer(z, (n, m), \"float32\")\n"
/* Statements over squares of n, and m of them. */
#define SQUARE                                                                                     \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(y: T.handle, z: T.handle):\n"                                                        \
    "    n = T.int64()\n"                                                                          \
    "    m = T.int64()\n"                                                                          \
    "    Y = T.match_buffer(y, (m, n, n), \"float32\")\n"                                          \
    "    Z = T.match_buffer(z, (n, n), \"float32\")\n"
#define LOWER                                                                                      \
    "    for b, i in T.grid(m, n):\n        for j in range(i + 1):\n            Y[b, i, j] = "     \
    "Z[i, j]\n"
/* Elements of Y, over a counter that begins somewhere and goes on. */
#define COUNTED(first, condition, stores, next)                                                    \
    SIZED                                                                                          \
    "    c = T.alloc_buffer((1,), \"int32\")\n"                                                    \
    "    c[0] = " first "\n    while " condition ":\n        " stores "\n        c[0] = " next     \
    "\n"
/* Rows of 16 of Y, by a function that is called. */
#define CALLED(reads)                                                                              \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(Y: T.Buffer((4, 16), \"float32\"), Z: T.Buffer((4, 16), \"float32\")):\n"            \
    "    for a in range(4):\n"                                                                     \
    "        with T.block(\"b\"):\n"                                                               \
    "            va = T.axis.spatial(4, a)\n"                                                      \
    "            T.reads(" reads ")\n"                                                             \
    "            T.writes(Y[va, 0:16])\n"                                                          \
    "            V = T.match_buffer(Y[va, 0:16], (16,), offset_factor=1)\n"                        \
    "            T.evaluate(T.call_extern(\"int32\", \"f\", V.access_ptr(\"w\"), Z.data))\n"

/* clang-format off */
static const struct row {
    const char *name, *program;
    hone_param_role want;
} rows[] = {
    {"two triangles, one with the diagonal",
     SQUARE LOWER "    for b, i in T.grid(m, n):\n        for j in range(n - i - 1):\n"
     "            Y[b, i, i + 1 + j] = T.float32(0)\n",
     HONE_PARAM_OUT},
    {"two triangles without the diagonal",
     SQUARE "    for b, i in T.grid(m, n):\n        for j in range(i):\n            Y[b, i, j] = Z[i, j]\n"
     "    for b, i in T.grid(m, n):\n        for j in range(n - i - 1):\n"
     "            Y[b, i, i + 1 + j] = T.float32(0)\n",
     HONE_PARAM_INOUT},
    {"triangles, the second one with its loops the other way about",
     SQUARE LOWER "    for i, b in T.grid(n, m):\n        for j in range(i, n):\n"
     "            Y[b, i, j] = T.float32(0)\n",
     HONE_PARAM_OUT},
    {"one triangle twice, by the other dimension",
     SQUARE LOWER "    for b, i in T.grid(m, n):\n        for j in range(n - i):\n"
     "            Y[b, i + j, i] = T.float32(0)\n",
     HONE_PARAM_INOUT},
    {"triangles by conditions, read behind both",
     SQUARE "    for b, i, j in T.grid(m, n, n):\n        if j <= i:\n            Y[b, i, j] = Z[i, j]\n"
     "    for b, i, j in T.grid(m, n, n):\n        if i < j:\n            Y[b, i, j] = T.float32(0)\n"
     "    for b, i, j in T.grid(m, n, n):\n        Z[i, j] = Y[b, j, i]\n",
     HONE_PARAM_OUT},
    {"triangles by conditions, read between the two",
     SQUARE "    for b, i, j in T.grid(m, n, n):\n        if j <= i:\n            Y[b, i, j] = Z[i, j]\n"
     "    for b, i, j in T.grid(m, n, n):\n        Z[i, j] = Y[b, j, i]\n"
     "    for b, i, j in T.grid(m, n, n):\n        if i < j:\n            Y[b, i, j] = T.float32(0)\n",
     HONE_PARAM_INOUT},
    {"triangles of all rows but the last",
     SQUARE LOWER "    for b, i in T.grid(m, n - 1):\n        for j in range(n - i - 1):\n"
     "            Y[b, i, i + 1 + j] = T.float32(0)\n",
     HONE_PARAM_INOUT},
    {"a triangle that a condition leaves out of a table",
     SQUARE LOWER "    for b, i in T.grid(m, n):\n        if b < 3:\n            for j in range(n - i - 1):\n"
     "                Y[b, i, i + 1 + j] = T.float32(0)\n",
     HONE_PARAM_INOUT},
    {"axes", TWO("4, 6", "4, 6", "va, vb"), HONE_PARAM_OUT},
    {"axes the other way", TWO("6, 4", "4, 6", "vb, va"), HONE_PARAM_OUT},
    {"too short", TWO("4, 7", "4, 6", "va, vb"), HONE_PARAM_INOUT},
    {"one axis twice", TWO("4, 4", "4, 4", "va, va"), HONE_PARAM_INOUT},
    {"digits", TWO("24,", "4, 6", "va * 6 + vb"), HONE_PARAM_OUT},
    {"three digits", THREE("2, 24", "2, 4, 6", "va, vb + vc * 4"), HONE_PARAM_OUT},
    {"digits in another order", THREE("24,", "2, 4, 3", "va + vb * 6 + vc * 2"), HONE_PARAM_OUT},
    {"digits with holes", TWO("28,", "4, 6", "va * 7 + vb"), HONE_PARAM_INOUT},
    {"digits that overlap", TWO("24,", "4, 6", "va * 5 + vb"), HONE_PARAM_INOUT},
    {"digits that begin late", TWO("24,", "4, 6", "va * 6 + vb + 1 - 1"), HONE_PARAM_OUT},
    {"digits that begin at one", TWO("25,", "4, 6", "va * 6 + vb + 1"), HONE_PARAM_INOUT},
    {"digits, too few", TWO("30,", "4, 6", "va * 6 + vb"), HONE_PARAM_INOUT},
    {"a digit of another index", TWO("4, 24", "4, 6", "va, va * 6 + vb"), HONE_PARAM_INOUT},
    {"a fused loop",
     "from tvm.script import tir as T\n@T.prim_func\ndef main(Y: T.Buffer((21, 4), \"float32\")):\n"
     "    for f in range(84):\n        with T.block(\"b\"):\n"
     "            va = T.axis.spatial(21, f // 4)\n            vb = T.axis.spatial(4, f % 4)\n"
     "            Y[va, vb] = T.float32(1)\n",
     HONE_PARAM_OUT},
    {"a half of a split",
     "from tvm.script import tir as T\n@T.prim_func\ndef main(Y: T.Buffer((21, 4), \"float32\")):\n"
     "    for a, f in T.grid(3, 32):\n        with T.block(\"b\"):\n"
     "            va = T.axis.spatial(21, a * 8 + f // 4)\n            vb = T.axis.spatial(4, f % "
     "4)\n"
     "            T.where(a * 8 + f // 4 < 20)\n            Y[va, vb] = T.float32(1)\n",
     HONE_PARAM_INOUT},
    {"filled, then added to",
     "from tvm.script import tir as T\n@T.prim_func\ndef main(Y: T.Buffer((21,), \"float32\")):\n"
     "    for a in range(21):\n        with T.block(\"i\"):\n            va = T.axis.spatial(21, "
     "a)\n            Y[va] = T.float32(1)\n"
     "        for k in range(3):\n            with T.block(\"b\"):\n                va = "
     "T.axis.spatial(21, a)\n"
     "                vk = T.axis.reduce(3, k)\n                Y[va] = Y[va] * T.float32(2)\n",
     HONE_PARAM_OUT},
    {"tiles with an init of blocks",
     "from tvm.script import tir as T\n@T.prim_func\n"
     "def main(Y: T.Buffer((8,), \"float32\"), X: T.Buffer((8, 16), \"float32\")):\n"
     "    for i, k in T.grid(2, 4):\n        with T.block(\"o\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n            with T.init():\n"
     "                for a in range(4):\n                    with T.block(\"i\"):\n"
     "                        va = T.axis.spatial(4, a)\n"
     "                        Y[vi * 4 + va] = T.float32(0)\n"
     "            for a, b in T.grid(4, 4):\n                with T.block(\"u\"):\n"
     "                    va, vb = T.axis.remap(\"SR\", [a, b])\n"
     "                    Y[vi * 4 + va] += X[vi * 4 + va, vk * 4 + vb]\n",
     HONE_PARAM_OUT},
    {"added to what is filled later",
     "from tvm.script import tir as T\n@T.prim_func\ndef main(Y: T.Buffer((22,), \"float32\")):\n"
     "    for a in range(21):\n        with T.block(\"i\"):\n            va = T.axis.spatial(21, "
     "a)\n            Y[va] = T.float32(1)\n"
     "        for k in range(3):\n            with T.block(\"b\"):\n                va = "
     "T.axis.spatial(21, a)\n"
     "                vk = T.axis.reduce(3, k)\n                Y[va + 1] = Y[va + 1] * "
     "T.float32(2)\n",
     HONE_PARAM_INOUT},
    {"read, then written over",
     "from tvm.script import tir as T\n@T.prim_func\n"
     "def main(Y: T.Buffer((8,), \"float32\"), Z: T.Buffer((8,), \"float32\")):\n"
     "    for a in range(8):\n        with T.block(\"z\"):\n            va = T.axis.spatial(8, "
     "a)\n            Z[va] = Y[va]\n"
     "    for a in range(8):\n        with T.block(\"y\"):\n            va = T.axis.spatial(8, "
     "7 - a)\n            Y[va] = Y[va] * T.float32(2)\n",
     HONE_PARAM_INOUT},
    {"stored in both branches of a condition on data",
     "from tvm.script import tir as T\n@T.prim_func\n"
     "def main(Y: T.Buffer((8,), \"float32\"), Z: T.Buffer((8,), \"float32\")):\n"
     "    for a in range(8):\n        with T.block(\"y\"):\n            va = T.axis.spatial(8, "
     "a)\n            if Z[va] < T.float32(0):\n                Y[va] = T.float32(1)\n"
     "            else:\n                Y[va] = Z[va]\n",
     HONE_PARAM_OUT},
    {"read by a view of a view",
     VIEWED "            for j in range(4):\n                Z[va, j] = W[j]\n", HONE_PARAM_IN},
    {"stored by a view of a view",
     VIEWED "            for j in range(4):\n                W[j] = W[j] + Z[va, j]\n",
     HONE_PARAM_INOUT},
    {"a pointer for reading is passed on",
     VIEWED "            T.evaluate(T.call_extern(\"int32\", \"f\", W.access_ptr(\"r\")))\n"
            "            Z[va, 0] = T.float32(0)\n",
     HONE_PARAM_IN},
    {"a pointer for writing is passed on",
     VIEWED "            T.evaluate(T.call_extern(\"int32\", \"f\", W.access_ptr(\"w\")))\n"
            "            Z[va, 0] = T.float32(0)\n",
     HONE_PARAM_OUT},
    {"a view's pointer is passed on",
     VIEWED "            T.evaluate(T.call_extern(\"int32\", \"f\", W.data))\n"
            "            Z[va, 0] = T.float32(0)\n",
     HONE_PARAM_INOUT},
    {"a number with a name",
     FLAT "    for a, b in T.grid(24, 4):\n        j: T.let[T.int32] = a * 4 + b\n"
          "        Y[j] = Z[j]\n",
     HONE_PARAM_OUT},
    {"a scalar",
     FLAT "    for a, b in T.grid(24, 4):\n        j: T.int32 = a * 4 + b\n"
          "        Y[j] = Z[j]\n",
     HONE_PARAM_OUT},
    {"in another order by bits",
     FLAT "    for a in range(96):\n        Y[T.bitwise_xor(a, 21)] = Z[a]\n", HONE_PARAM_OUT},
    {"some of the places by bits",
     FLAT "    for a in range(96):\n        Y[T.bitwise_or(a, 1)] = Z[a]\n", HONE_PARAM_INOUT},
    {"numbers that a short type does not hold",
     FLAT "    for a in range(192):\n        Y[T.Cast(\"int32\", T.Cast(\"int8\", a)) // 2 + 32] = Z[a // 2]\n",
     HONE_PARAM_INOUT},
    {"a scalar that changes",
     FLAT "    for a in range(96):\n        j: T.int32 = a\n        j = 5\n"
          "        Y[j] = Z[j]\n",
     HONE_PARAM_INOUT},
    {"a named row and a named place, then read",
     FLAT "    for a in range(24):\n        r: T.let[T.int32] = a * 4\n"
          "        for b in range(4):\n            j: T.let[T.int32] = r + b\n"
          "            Y[j] = Z[j]\n            Y[j] = Y[j] + Z[j]\n",
     HONE_PARAM_OUT},
    {"two halves",
     FLAT "    for a in range(48):\n        Y[a] = Z[a]\n"
          "    for a in range(48):\n        Y[a + 48] = Z[a]\n",
     HONE_PARAM_OUT},
    {"two halves and a hole",
     FLAT "    for a in range(48):\n        Y[a] = Z[a]\n"
          "    for a in range(47):\n        Y[a + 49] = Z[a]\n",
     HONE_PARAM_INOUT},
    {"three thirds of a large one, summed up",
     "from tvm.script import tirx as T\n@T.prim_func\n"
     "def main(Y: T.Buffer((3000, 2000), \"float32\")):\n"
     "    for a, b in T.grid(1000, 2000):\n        Y[a, b] = T.float32(0)\n"
     "        for k in range(9):\n            Y[a, b] = Y[a, b] + T.float32(1)\n"
     "    for a, b in T.grid(1000, 2000):\n        Y[a + 2000, b] = T.float32(0)\n"
     "    for a, b in T.grid(1000, 2000):\n        Y[a + 1000, b] = T.float32(0)\n"
     "        for k in range(9):\n            Y[a + 1000, b] += T.float32(1)\n",
     HONE_PARAM_OUT},
    {"a sum over what is written later",
     FLAT "    for a in range(48):\n        Y[a] = Y[a + 48]\n"
          "    for a in range(48):\n        Y[a + 48] = Z[a]\n",
     HONE_PARAM_INOUT},
    {"two branches",
     FLAT "    for a in range(96):\n        if a < 40:\n            Y[a] = Z[a]\n"
          "        else:\n            Y[a] = Z[a] * T.float32(2)\n",
     HONE_PARAM_OUT},
    {"around a corner", FLAT "    for a in range(96):\n        Y[(a + 5) % 96] = Z[a]\n",
     HONE_PARAM_OUT},
    {"the last one again", FLAT "    for a in range(100):\n        Y[T.min(a, 95)] = Z[0]\n",
     HONE_PARAM_OUT},
    {"all but the last one", FLAT "    for a in range(100):\n        Y[T.min(a, 94)] = Z[0]\n",
     HONE_PARAM_INOUT},
    {"begun in the first round",
     FLAT "    for a, k in T.grid(96, 3):\n        if k == 0:\n            Y[a] = T.float32(0)\n"
          "        Y[a] = Y[a] + Z[a]\n",
     HONE_PARAM_OUT},
    {"begun in the second round",
     FLAT "    for a, k in T.grid(96, 3):\n        if k == 1:\n            Y[a] = T.float32(0)\n"
          "        Y[a] = Y[a] + Z[a]\n",
     HONE_PARAM_INOUT},
    {"vectors",
     FLAT "    for a in range(24):\n        Y[T.ramp(a * 4, 1, 4)] = Z[T.ramp(a * 4, 1, 4)]\n",
     HONE_PARAM_OUT},
    {"left early",
     FLAT "    for a in range(96):\n        Y[a] = Z[a]\n        if a == 50:\n            break\n",
     HONE_PARAM_INOUT},
    {"a split of a split",
     "from tvm.script import tir as T\n@T.prim_func\ndef main(Y: T.Buffer((16,), \"float32\")):\n"
     "    for a, b, c in T.grid(4, 3, 2):\n        with T.block(\"b\"):\n"
     "            va = T.axis.spatial(16, a * 5 + b * 2 + c)\n"
     "            T.where(a * 5 + b * 2 + c < 16 and b * 2 + c < 5)\n"
     "            Y[va] = T.float32(1)\n",
     HONE_PARAM_OUT},
    {"a running sum",
     FLAT "    for a in range(96):\n"
          "        Y[a] = T.if_then_else(a > 0, Y[a - 1], T.float32(0)) + Z[a]\n",
     HONE_PARAM_OUT},
    {"a running sum by select",
     FLAT "    for a in range(96):\n"
          "        Y[a] = T.Select(a < 1, T.float32(0), Y[a - 1]) + Z[a]\n",
     HONE_PARAM_OUT},
    {"a running sum, unguarded",
     FLAT "    for a in range(96):\n"
          "        Y[a] = T.if_then_else(a >= 0, Y[a - 1], T.float32(0)) + Z[a]\n",
     HONE_PARAM_INOUT},
    {"a running sum by branches",
     FLAT "    for a in range(96):\n"
          "        if a > 0:\n"
          "            Y[a] = Y[a - 1] + Z[a]\n"
          "        else:\n"
          "            Y[a] = Z[a]\n",
     HONE_PARAM_OUT},
    {"a running sum by the wrong branches",
     FLAT "    for a in range(96):\n"
          "        if a < 5:\n"
          "            Y[a] = Y[T.max(a - 1, 0)] + Z[a]\n"
          "        else:\n"
          "            Y[a] = Z[a]\n",
     HONE_PARAM_INOUT},
    {"a running sum that begins apart",
     FLAT "    Y[0] = Z[0]\n"
          "    for a in range(1, 96):\n"
          "        Y[a] = Y[a - 1] + Z[a]\n",
     HONE_PARAM_OUT},
    {"a running sum that begins late",
     FLAT "    Y[1] = Z[0]\n"
          "    for a in range(2, 96):\n"
          "        Y[a] = Y[a - 1] + Z[a]\n",
     HONE_PARAM_INOUT},
    {"of the two before",
     FLAT "    for a in range(96):\n"
          "        Y[a] = T.if_then_else(a >= 2, Y[a - 1] + Y[a - 2], T.float32(1))\n",
     HONE_PARAM_OUT},
    {"of the three before, guarded for two",
     FLAT "    for a in range(96):\n"
          "        Y[a] = T.if_then_else(a >= 2, Y[a - 1] + Y[a - 3], T.float32(1))\n",
     HONE_PARAM_INOUT},
    {"of the one behind",
     FLAT "    for a in range(96):\n"
          "        Y[a] = T.if_then_else(a < 96 - 1, Y[a + 1], T.float32(1))\n",
     HONE_PARAM_INOUT},
    {"filled, then a running sum",
     FLAT "    for a in range(96):\n"
          "        Y[a] = Z[a]\n"
          "    for a in range(96 - 1):\n"
          "        Y[a + 1] = Y[a + 1] + Y[a]\n",
     HONE_PARAM_OUT},
    {"a sum of a triangle, of any size", SIZED TRIANGLE("k <= a"), HONE_PARAM_OUT},
    {"a sum of the other triangle, whose rows begin late, of any size", SIZED TRIANGLE("a <= k"),
     HONE_PARAM_INOUT},
    {"a sum of a triangle whose first row is empty, of any size", SIZED TRIANGLE("k < a"),
     HONE_PARAM_INOUT},
    {"a running sum, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = T.if_then_else(a > 0, Y[a - 1], T.float32(0)) + Z[a, 0]\n",
     HONE_PARAM_OUT},
    {"a running sum by select, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = T.Select(a < 1, T.float32(0), Y[a - 1]) + Z[a, 0]\n",
     HONE_PARAM_OUT},
    {"a running sum, unguarded, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = T.if_then_else(a >= 0, Y[a - 1], T.float32(0)) + Z[a, 0]\n",
     HONE_PARAM_INOUT},
    {"a running sum by branches, of any size",
     SIZED "    for a in range(n):\n"
           "        if a > 0:\n"
           "            Y[a] = Y[a - 1] + Z[a, 0]\n"
           "        else:\n"
           "            Y[a] = Z[a, 0]\n",
     HONE_PARAM_OUT},
    {"a running sum by the wrong branches, of any size",
     SIZED "    for a in range(n):\n"
           "        if a < 5:\n"
           "            Y[a] = Y[T.max(a - 1, 0)] + Z[a, 0]\n"
           "        else:\n"
           "            Y[a] = Z[a, 0]\n",
     HONE_PARAM_INOUT},
    {"a running sum that begins apart, of any size",
     SIZED "    Y[0] = Z[0, 0]\n"
           "    for a in range(1, n):\n"
           "        Y[a] = Y[a - 1] + Z[a, 0]\n",
     HONE_PARAM_OUT},
    {"a running sum that begins late, of any size",
     SIZED "    Y[1] = Z[0, 0]\n"
           "    for a in range(2, n):\n"
           "        Y[a] = Y[a - 1] + Z[a, 0]\n",
     HONE_PARAM_INOUT},
    {"of the two before, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = T.if_then_else(a >= 2, Y[a - 1] + Y[a - 2], T.float32(1))\n",
     HONE_PARAM_OUT},
    {"of the three before, guarded for two, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = T.if_then_else(a >= 2, Y[a - 1] + Y[a - 3], T.float32(1))\n",
     HONE_PARAM_INOUT},
    {"of the one behind, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = T.if_then_else(a < n - 1, Y[a + 1], T.float32(1))\n",
     HONE_PARAM_INOUT},
    {"filled, then a running sum, of any size",
     SIZED "    for a in range(n):\n"
           "        Y[a] = Z[a, 0]\n"
           "    for a in range(n - 1):\n"
           "        Y[a + 1] = Y[a + 1] + Y[a]\n",
     HONE_PARAM_OUT},
    {"a running sum of loops side by side, of any size",
     SIZED "    for a in T.parallel(n):\n"
           "        Y[a] = T.if_then_else(a > 0, Y[a - 1], T.float32(0)) + Z[a, 0]\n",
     HONE_PARAM_INOUT},
    {"a guard of a loop that nothing else needs",
     FLAT "    for k in range(3):\n"
          "        for a in range(96):\n"
          "            Y[a] = T.if_then_else(k > 0, Y[a], Z[a])\n",
     HONE_PARAM_OUT},
    {"a guard that lets in the first round",
     FLAT "    for k in range(3):\n"
          "        for a in range(96):\n"
          "            Y[a] = T.if_then_else(k < 2, Z[a], Y[95 - a])\n",
     HONE_PARAM_OUT},
    {"a guard that lets in the first round, turned",
     FLAT "    for k in range(3):\n"
          "        for a in range(96):\n"
          "            Y[a] = T.if_then_else(k >= 1, Z[a], Y[a])\n",
     HONE_PARAM_INOUT},
    {"a table of sums",
     TABLE "    for a, b in T.grid(n, m):\n"
           "        Y[a, b] = Z[a, b] + T.if_then_else(a > 0, Y[a - 1, b], T.float32(0)) + "
           "T.if_then_else(b > 0, Y[a, b - 1], T.float32(0)) - T.if_then_else(a > 0 and b > 0, Y[a "
           "- 1, b - 1], T.float32(0))\n",
     HONE_PARAM_OUT},
    {"a table of sums, one unguarded",
     TABLE
     "    for a, b in T.grid(n, m):\n"
     "        Y[a, b] = Z[a, b] + T.if_then_else(a > 0, Y[a - 1, b] + Y[a, b - 1], T.float32(0))\n",
     HONE_PARAM_INOUT},
    {"rows from the row before",
     TABLE "    for a, b in T.grid(n, m):\n"
           "        Y[a, b] = Z[a, b] + T.if_then_else(a > 0, Y[a - 1, m - 1 - b], T.float32(0))\n",
     HONE_PARAM_OUT},
    {"columns from the column before",
     TABLE "    for b, a in T.grid(m, n):\n"
           "        Y[a, b] = Z[a, b] + T.if_then_else(b > 0, Y[n - 1 - a, b - 1], T.float32(0))\n",
     HONE_PARAM_OUT},
    {"rows from the row before, not ended yet",
     TABLE "    for b, a in T.grid(m, n):\n"
           "        Y[a, b] = Z[a, b] + T.if_then_else(a > 0, Y[a - 1, m - 1 - b], T.float32(0))\n",
     HONE_PARAM_INOUT},
    {"a loop that may not run",
     SIZED "    for a in range(n):\n"
           "        for b in range(a):\n"
           "            Y[a] = Z[a, b]\n",
     HONE_PARAM_INOUT},
    {"a loop that may not run, of numbers",
     FLAT "    for a in range(96):\n"
          "        for b in range(a):\n"
          "            Y[a] = Z[b]\n",
     HONE_PARAM_INOUT},
    {"a loop that may not run for want of size",
     SIZED "    for a, b in T.grid(n, m - 5):\n"
           "        Y[a] = Z[a, b]\n",
     HONE_PARAM_INOUT},
    {"repeated, then read",
     SIZED "    for b in range(m):\n"
           "        for a in range(n):\n"
           "            Y[a] = T.if_then_else(b > 0, Y[a], T.float32(0)) + Z[a, b]\n",
     HONE_PARAM_INOUT},
    {"counted up", COUNTED("0", "c[0] < n", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_OUT},
    {"counted up, the end first", COUNTED("0", "n > c[0]", "Y[c[0]] = Z[c[0], 0]", "1 + c[0]"), HONE_PARAM_OUT},
    {"counted up to the last", COUNTED("0", "c[0] <= n - 1", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_OUT},
    {"counted until it is reached", COUNTED("0", "c[0] != n", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_OUT},
    {"counted down",
     SIZED "    c = T.alloc_buffer((1,), \"int64\")\n    c[0] = n - T.int64(1)\n    while c[0] >= T.int64(0):\n"
           "        Y[c[0]] = Z[c[0], 0]\n        c[0] = c[0] - T.int64(1)\n",
     HONE_PARAM_OUT},
    {"counted down from what is left of a size", COUNTED("T.Cast(\"int32\", n) - 1", "c[0] >= 0", "Y[c[0]] = Z[c[0], 0]", "c[0] - 1"), HONE_PARAM_INOUT},
    {"counted from the second", COUNTED("1", "c[0] < n", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_INOUT},
    {"counted to the last but one", COUNTED("0", "c[0] < n - 1", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_INOUT},
    {"counted by twos", COUNTED("0", "c[0] < n", "Y[c[0]] = Z[c[0], 0]", "c[0] + 2"), HONE_PARAM_INOUT},
    {"stored behind the step", COUNTED("-1", "c[0] < n - 1", "c[0] = c[0] + 1", "c[0]\n        Y[c[0]] = T.float32(0)"), HONE_PARAM_INOUT},
    {"stored behind the only step",
     SIZED "    c = T.alloc_buffer((1,), \"int32\")\n    c[0] = -1\n    while c[0] < n - 1:\n"
           "        c[0] = c[0] + 1\n        Y[c[0]] = Z[c[0], 0]\n",
     HONE_PARAM_OUT},
    {"a step under a condition", COUNTED("0", "c[0] < n", "Y[c[0]] = Z[c[0], 0]\n        if Z[0, 0] > T.float32(0):\n            c[0] = c[0] + 1", "c[0] + 1"), HONE_PARAM_INOUT},
    {"a begin that is not known", COUNTED("T.Cast(\"int32\", Z[0, 0])", "c[0] < n", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_INOUT},
    {"the other condition may end it", COUNTED("0", "c[0] < n and Z[0, c[0]] > T.float32(0)", "Y[c[0]] = Z[c[0], 0]", "c[0] + 1"), HONE_PARAM_INOUT},
    {"begun before the loop around it",
     SIZED "    c = T.alloc_buffer((1,), \"int32\")\n    c[0] = 0\n    for a in range(m):\n"
           "        while c[0] < n:\n            Y[c[0]] = Z[c[0], a]\n            c[0] = c[0] + 1\n",
     HONE_PARAM_INOUT},
    {"gone on with by a second loop",
     SIZED "    c = T.alloc_buffer((1,), \"int32\")\n    c[0] = 0\n    while c[0] < T.min(n, 7):\n"
           "        Y[c[0]] = Z[c[0], 0]\n        c[0] = c[0] + 1\n"
           "    while c[0] < n:\n        Y[c[0]] = T.float32(0)\n        c[0] = c[0] + 1\n",
     HONE_PARAM_OUT},
    {"two counters, one in the other's loop",
     TABLE "    c = T.alloc_buffer((2,), \"int64\")\n    c[0] = T.int64(0)\n    while c[0] < n:\n"
           "        c[1] = T.int64(0)\n        while c[1] < m:\n            Y[c[0], c[1]] = Z[c[0], c[1]]\n"
           "            c[1] = c[1] + T.int64(1)\n        c[0] = c[0] + T.int64(1)\n",
     HONE_PARAM_OUT},
    {"read before it is counted to",
     COUNTED("0", "c[0] < n - 1", "Y[c[0]] = Y[c[0] + 1]", "c[0] + 1"),
     HONE_PARAM_INOUT},
    {"written by a function", CALLED("Z[va, 0:16]"), HONE_PARAM_OUT},
    {"read and written by a function", CALLED("Y[va, 0:16], Z[va, 0:16]"), HONE_PARAM_INOUT},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module;
    const hone_member *member;
    hone_signature signature;
    hone_arena *arena = hone_arena_create(1 << 12);
    HONE_ASSERT_OK(hone_script_parse(row->program, strlen(row->program), "test", &module));
    hone_module_freeze(module);
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    HONE_ASSERT_OK(hone_signature_of(member->func, arena, &signature));
    hone_param_role got = signature.roles[0];
    hone_module_release(module);
    hone_arena_destroy(arena);
    assert_int_equal(got, row->want);
}

int main(void) {
    return HONE_RUN_ROWS("lower/signature", rows, check_row);
}
