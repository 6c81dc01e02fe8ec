/* tests/lower/test_lower_passes.c - programs as they are behind a pass; of buffers, see
 * test_lower_allocs.c. hoist_init: inits leave loops that run over the reduction once and from its
 * start. version: tiles for where all conditions hold, and others. hoist_if: conditions that no
 * iteration changes stand around loops, and statements side by side share one; what may not be
 * asked earlier stays where it is. carry: vectors whose indices are digits of a number are made
 * twice, for where no digit carries, and as they were. rows: those over several rows go row by row
 * instead where rows divide them. reduce: sums are collected where somebody adds to them and nobody
 * else stores them. unroll: how far the program may grow. */
#include "tests/lower/pass_rows.h"
#include "tests/support/hone_test.h"

#define SUM(EXTENT, BINDING)                                                                       \
    HEAD "    for i, f in T.grid(4, " EXTENT "):\n"                                                \
         "        with T.block(\"S\"):\n"                                                          \
         "            vi = T.axis.spatial(4, i)\n"                                                 \
         "            vk = T.axis.reduce(8, " BINDING ")\n"                                        \
         "            with T.init():\n"                                                            \
         "                Y[vi] = 0\n"                                                             \
         "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n"

static const struct row init_rows[] = {
    {"a reduction that its loop goes over again and again begins within it", SUM("32",               "f % 8"),
     "            with T.init():\n"                                                                                                  },
    {"one that ends with its first value does, too",                         SUM("8",                "7 - f"),
     "            with T.init():\n"                                                                                                  },
    {"one of which others in the loop see the sum begins within it",
     HEAD "    for i, k in T.grid(4, 8):\n"
          "        with T.block(\"R\"):\n"
          "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
          "            Y[vi * 8 + vk + 8] = Y[vi]\n"
          "        with T.block(\"S\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.reads(A[vi * 8 + vk])\n"
          "            T.writes(Y[vi])\n"
          "            with T.init():\n"
          "                Y[vi] = 0\n"
          "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n",                                            "            with T.init():\n"},
    {"one of which a condition asks for both loops begins where its loop does",
     HEAD "    for i, f in T.grid(4, 8):\n"
          "        with T.block(\"S\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, f])\n"
          "            T.where(i + f < 10)\n"
          "            with T.init():\n"
          "                Y[vi] = 0\n"
          "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n", "            T.where(T.Add(i, 0) < 10)\n"                              },
    {"one that runs once begins in front of its loop",                                                                  SUM("8",                                                         "f"),
     "        with T.sblock(\"S_init\"):\n"},
};

static const struct row asked_rows[] = {
    {"one that a condition in the loop reads begins within it",
     HEAD "    for i, k in T.grid(4, 8):\n"
          "        if Y[i] > 0:\n"
          "            A[i * 8 + k] = 1\n"
          "        with T.block(\"S\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.reads(A[vi * 8 + vk])\n"
          "            T.writes(Y[vi])\n"
          "            with T.init():\n"
          "                Y[vi] = 0\n"
          "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n", "            with T.init():\n"},
};

static const struct row flatten_rows[] = {
    {"a view begins where it says",
     HEAD "    V = T.decl_buffer((4, 4), \"int32\", data=A.data, elem_offset=n)\n"
          "    for i, j in T.grid(4, 4):\n"
          "        Y[i * 4 + j] = V[i, j]\n", "[n + i * 4 + j]"},
};

static const struct row partition_rows[] = {
    {"where a part of the body does nothing the rest still begins at 0",
     HEAD "    for o in range(3):\n"
          "        L = T.alloc_buffer((4,), \"int32\")\n"
          "        for i in range(4):\n"
          "            if o * 4 + i < 9:\n"
          "                L[i] = T.if_then_else(o * 4 + i < 7, A[o * 4 + i], 0)\n"
          "            if o * 4 + i < 7:\n"
          "                Y[o * 4 + i] = A[i]\n"
          "        for j in T.vectorized(4):\n"
          "            if o * 4 + j < 7:\n"
          "                Y[o * 4 + j + 16] = L[j]\n", "    L = T.alloc_buffer((4,), \"int32\")\n"
     "    L[0] = 0\n"},
};

static const struct row hoist_rows[] = {
    {"out of all loops, and shared",
     HEAD "    for y in T.parallel(8):\n"
          "        for j in T.vectorized(8):\n"
          "            if y * 3 < n:\n"
          "                Y[y * 8 + j] = 0\n"
          "        for k, i in T.grid(9, 2):\n"
          "            for j in T.vectorized(4):\n"
          "                if y * 3 < n:\n"
          "                    Y[y * 8 + i * 4 + j] = Y[y * 8 + i * 4 + j] + A[k]\n",    "        if y * 3 < n:\n"
     "            for j in T.vectorized(8):\n"
     "                Y[y * 8 + j] = 0\n"
     "            for k, i in T.grid(9, 2):\n"
     "                for j in T.vectorized(4):\n"
     "                    Y[y * 8 + i * 4 + j] = Y[y * 8 + i * 4 + j] + A[k]\n"},
    {"both cases, which have buffers of their own",
     HEAD "    for y in T.parallel(8):\n"
          "        L = T.alloc_buffer((4,), \"int32\")\n"
          "        if y < n:\n"
          "            for j in range(4):\n"
          "                L[j] = A[y * 4 + j]\n"
          "        else:\n"
          "            L[2] = A[y]\n"
          "        if y < n:\n"
          "            for j in range(4):\n"
          "                Y[y * 4 + j] = L[3 - j]\n"
          "        else:\n"
          "            Y[y] = L[2]\n",                                                   "        if y < n:\n"
     "            L = T.alloc_buffer((4,), \"int32\")\n"
     "            for j in range(4):\n"
     "                L[j] = A[y * 4 + j]\n"
     "            for j in range(4):\n"
     "                Y[y * 4 + j] = L[3 - j]\n"
     "        else:\n"
     "            L = T.alloc_buffer((4,), \"int32\")\n"
     "            L[2] = A[y]\n"
     "            Y[y] = L[2]\n"                                                                                              },
    {"what two edges ask, in one order",
     HEAD "    for y in T.parallel(6):\n"
          "        L = T.alloc_buffer((2, 4), \"int32\")\n"
          "        for i in T.unroll(2):\n"
          "            for j in T.vectorized(4):\n"
          "                if y // 2 * 2 + i < 5:\n"
          "                    if y % 2 * 4 + j < 7:\n"
          "                        L[i, j] = A[i + j]\n"
          "        for i in T.unroll(2):\n"
          "            for j in T.vectorized(4):\n"
          "                if y % 2 * 4 + j < 7:\n"
          "                    if y // 2 * 2 + i < 5:\n"
          "                        Y[(y // 2 * 2 + i) * 7 + y % 2 * 4 + j] = L[i, j]\n", "            if y % 2 * 4 - 4 < 0:\n"
     "                L = T.alloc_buffer((2, 4), \"int32\")\n"
     "                if T.bool(True):\n"
     "                    for i in T.unroll(2):\n"
     "                        for j in T.vectorized(4):\n"
     "                            if T.bool(True):\n"
     "                                L[i, j] = A[i + j]\n"
     "                    for i in T.unroll(2):\n"                          },
    {"what varies stays",
     HEAD "    for y in range(8):\n"
          "        for j in range(8):\n"
          "            if y < n and j < n and n < 50:\n"
          "                Y[y * 8 + j] = 1\n",                                          "    if n < 50:\n"
     "        for y in range(8):\n"
     "            if y < n:\n"
     "                for j in range(8):\n"
     "                    if j < n:\n"
     "                        Y[y * 8 + j] = 1\n"                                                                    },
    {"only what all ask",
     HEAD "    for j in range(64):\n"
          "        if n < 5 and j < n:\n"
          "            Y[j] = 1\n"
          "        if n < 5:\n"
          "            Y[j] = Y[j] + 1\n",                                               "    if n < 5:\n"
     "        for j in range(64):\n"
     "            if j < n:\n"
     "                Y[j] = 1\n"
     "            Y[j] = Y[j] + 1\n"                                                                                      },
    {"not where others do not ask",
     HEAD "    for j in range(64):\n"
          "        if n < 5:\n"
          "            Y[j] = 1\n"
          "        A[j] = 1\n",                                                          "    for j in range(64):\n"
     "        if n < 5:\n"                                                                                                           },
    {"with a way out, choices stay",
     HEAD "    for j in range(64):\n"
          "        if n < 5:\n"
          "            Y[j] = 1\n"
          "        else:\n"
          "            Y[j] = 2\n",                                                      "    for j in range(64):\n"
     "        if n < 5:\n"                                                                                                       },
    {"memory changes",
     HEAD "    for j in range(64):\n"
          "        if A[0] < 5:\n"
          "            A[j] = 7\n"
          "    for j in range(63):\n"
          "        if A[0] < 5:\n"
          "            A[j] = 6\n",                                                      "    for j in range(63):\n"
     "        if A[0] < 5:\n"                                                                                                    },
    {"what may divide by zero is asked where it was",
     HEAD "    for j in range(64):\n"
          "        if j < n and 6 // n < 3:\n"
          "            Y[j] = 7\n",                                                      "    for j in range(64):\n"
     "        if j < n and 6 // n < 3:\n"                                                                                        },
    {"the iterations of a parallel loop stay",
     HEAD "    for j in T.parallel(64):\n"
          "        if n < 3:\n"
          "            Y[j] = 7\n",                                                      "    for j in T.parallel(64):\n"
     "        if n < 3:\n"                                                                                                       },
};

static const struct row version_rows[] = {
    {"short tiles stay unrolled at the edge",
     HEAD "    for i in range((n + 5) // 6):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(6):\n"
          "                if i * 6 + t < n:\n"
          "                    Y[i * 6 + t] = Y[i * 6 + t] + A[k]\n",         "        else:\n"
     "            for k in range(9):\n"
     "                for t in T.unroll(6):\n"
     "                    if i * 6 + t < n:\n"                                         },
    {"the last of the tiles of a fused loop has its number and ends with its work",
     HEAD "    for f in T.parallel(27):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(6):\n"
          "                if f % 9 * 6 + t < 50:\n"
          "                    Y[f % 9 * 6 + t] = Y[f % 9 * 6 + t] + A[k]\n", "        else:\n"
     "            for k in range(9):\n"
     "                for t in T.unroll(2):\n"
     "                    if T.Mul(8, 6) + t < 50:\n"
     "                        Y[T.Mul(8, 6) + t] = Y[T.Mul(8, 6) + t] + A[k]\n"},
    {"long ones do not",
     HEAD "    for i in range((n + 33) // 34):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(34):\n"
          "                if i * 34 + t < n:\n"
          "                    Y[i * 34 + t] = Y[i * 34 + t] + A[k]\n",       "        else:\n"
     "            for k, t in T.grid(9, 34):\n"
     "                if i * 34 + t < n:\n"                                          },
};

#undef HEAD
#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((400,), \"int32\"), Y: T.Buffer((2000,), \"int32\"), n: T.int32):\n"

static const struct row carry_rows[] = {
    {"a remainder goes on, a quotient stands still",
     HEAD "    for i in range(125):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) % 49] + A[(i * 16 + j) // 49]\n",    "        if i * 16 % 49 < 34:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = A[i * 16 // 49] + A[i * 16 % 49 + j]\n"
     "        else:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = T.Select(i * 16 % 49 + j < 49, A[i * 16 // 49], "
     "A[i * 16 // 49 + 1]) + T.if_then_else(i * 16 % 49 + j < 49, A[i * 16 % 49 + j], "
     "A[i * 16 % 49 + j - 49])\n"                                                  },
    {"rows of rows end where a row does",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) // 205 * 41 + (i * 16 + j) % 41]\n", "        if i * 16 % 41 < 26:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = A[i * 16 // 205 * 41 + (i * 16 % 41 + j)]\n"
     "        else:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = T.if_then_else(i * 16 % 41 + j < 41, "
     "A[i * 16 // 205 * 41 + (i * 16 % 41 + j)], "
     "A[(i * 16 + 41) // 205 * 41 + (i * 16 % 41 + j - 41)])\n"                 },
    {"from a number, by several, behind one that nobody knows",
     HEAD "    for j in T.vectorized(4, 12):\n"
          "        Y[j] = A[(n + j * 3) % 300]\n",                                         "    if (n + 12) % 300 < 279:\n"
     "        for j in T.vectorized(4, 12):\n"
     "            Y[j] = A[(n + 12) % 300 + j * 3 - 12]\n"                                                              },
    {"a digit of a digit",
     HEAD "    for i in range(499):\n"
          "        for j in T.vectorized(4):\n"
          "            Y[i * 4 + j] = A[(i * 4 + j) % 100 // 9]\n",                        "        if i % 25 * 4 % 9 < 6:\n"
     "            for j in T.vectorized(4):\n"
     "                Y[i * 4 + j] = A[i % 25 * 4 // 9]\n"                                             },
    {"vectors that are longer are cut",
     HEAD "    for i in range(50):\n"
          "        for j in T.vectorized(32):\n"
          "            Y[i * 32 + j] = A[(i * 32 + j) % 49]\n",                            "            if (i * 32 + j * 8) % 49 < 42:\n"                                 },
    {"short rows are always in two parts",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(8):\n"
          "            Y[i * 8 + j] = A[(i * 8 + j) % 15]\n",                              "    for i in range(100):\n"
     "        for j in T.vectorized(8):\n"
     "            Y[i * 8 + j] = T.if_then_else(i * 8 % 15 + j < 15, A[i * 8 % 15 + j], "
     "A[i * 8 % 15 + j - 15])\n"                                                                             },
    {"shorter ones are as they were",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(8):\n"
          "            Y[i * 8 + j] = A[(n + i * 8 + j) % 7]\n",                           "    for i in range(100):\n"
     "        for j in T.vectorized(8):\n"
     "            Y[i * 8 + j] = A[(n + i * 8 + j) % 7]\n"                                                },
    {"rows that end in different places are as they were",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) % 49] + A[(i * 16 + j) % 50]\n",     "        else:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = A[(i * 16 + j) % 49] + A[(i * 16 + j) % 50]\n"},
    {"what is known inside alone is not asked outside",
     HEAD "    for j in T.vectorized(16):\n"
          "        Y[j] = A[(j + A[0]) % 100]\n",                                          "    for j in T.vectorized(16):\n"
     "        Y[j] = A[(j + A[0]) % 100]\n"                                                                              },
};

#define SHAPED(loop) HEAD "    for u in T.unroll(2):\n" loop

static const struct row neighbour_rows[] = {
    {"what a schedule left over",
     SHAPED("        for j in range(30):\n"
            "            if u * 30 + j < n:\n"
            "                Y[u * 30 + j] = Y[u * 30 + j] + A[j + 1] * A[u]\n"),
     "        for j in T.vectorized(30):\n"                                                                  },
    {"where nothing is shaped it stays",
     HEAD "    for j in range(30):\n"
          "        Y[j] = A[j]\n",                                                "    for j in range(30):\n"},
    {"what reads what others write",
     SHAPED("        for j in range(30):\n"
            "            Y[j + 1] = Y[j] + A[j]\n"),
     "        for j in range(30):\n"                                                                         },
    {"a sum",
     SHAPED("        for j in range(30):\n"
            "            Y[u] = Y[u] + A[j]\n"),
     "        for j in range(30):\n"                                                                         },
    {"neighbours far apart",
     SHAPED("        for j in range(30):\n"
            "            Y[j] = A[j * 2]\n"),
     "        for j in range(30):\n"                                                                         },
    {"places that are looked up",
     SHAPED("        for j in range(30):\n"
            "            Y[j] = A[A[j]]\n"),
     "        for j in range(30):\n"                                                                         },
    {"a place that the loop changes",
     SHAPED("        for j in range(30):\n"
            "            Y[Y[0] + j] = A[j]\n"),
     "        for j in range(30):\n"                                                                         },
    {"a few",
     SHAPED("        for j in range(7):\n"
            "            Y[j] = A[j]\n"),
     "        for j in range(7):\n"                                                                          },
};

static const struct row unroll_rows[] = {
    {"marked loops before others leave room for them",
     HEAD "    for i in T.unroll(500):\n"
          "        Y[i] = A[i // 2]\n"
          "    for i in T.unroll(500):\n"
          "        Y[i] = Y[i] + A[i // 3]\n"
          "    for k in range(9):\n"
          "        for i in T.unroll(500):\n"
          "            Y[i] = Y[i] + A[k]\n",               "        Y[499] = A[k] + Y[499]\n"},
    {"but not for all",
     HEAD "    for k in T.unroll(9):\n"
          "        for i in T.unroll(500):\n"
          "            Y[i] = Y[i] + A[k]\n",               "    for k in T.unroll(9):\n"     },
    {"loops that a pragma allows have less",
     HEAD "    for k in T.serial(2, annotations={\"pragma_auto_unroll_max_step\": 400}):\n"
          "        for i in range(400):\n"
          "            Y[i // 2] = Y[i // 2] + A[k]\n"
          "        for i in range(400):\n"
          "            Y[i // 2] = Y[i // 2] + A[k + 2]\n", "        for i in range(400):\n"  },
};

static const struct row period_rows[] = {
    {"channels of pixels",
     HEAD "    for i in T.parallel(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) // 6] + A[(i * 16 + j) % 3]\n", "    for i in T.parallel(33):\n"
     "        for step in T.unroll(3):\n"
     "            for j in T.vectorized(16):\n"
     "                Y[(i * 3 + step) * 16 + j] = A[(j + step * 16) // 6 + i * 8] + "
     "A[(j + step * 16) % 3]\n"
     "    for i in T.unroll(99, 100):\n"
     "        for j in T.vectorized(16):\n"
     "            Y[i * 16 + j] = A[(i * 16 + j) // 6] + A[(i * 16 + j) % 3]\n"},
    {"of which some are left over",
     HEAD "    for i in T.parallel(100):\n"
          "        for j in T.vectorized(16):\n"
          "            if i * 16 + j < 1598:\n"
          "                Y[i * 16 + j] = A[(i * 16 + j) % 5]\n",                    "    for i in T.parallel(19):\n"
     "        for step in T.unroll(5):\n"
     "            for j in T.vectorized(16):\n"
     "                Y[(i * 5 + step) * 16 + j] = A[(j + step * 16) % 5]\n"
     "    for i in T.unroll(95, 100):\n"
     "        if i < 99:\n"                                                                       },
    {"those that are the same in all vectors stay",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) % 4]\n",                        "    for i in range(100):\n"
     "        for j in T.vectorized(16):\n"                                                           },
    {"from where nobody knows",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j + n) % 3]\n",                    "    for i in range(100):\n"
     "        for j in T.vectorized(16):\n"                                                       },
};

static const struct row fused_rows[] = {
    {"nothing to do",
     HEAD "    for i in range(8):\n"
          "        for j in T.vectorized(8):\n"
          "            if i * 8 + j < n:\n"
          "                pass\n",                                                                  "    for i in range(8):\n"                                       },
    {"of which the last vector is a part",
     HEAD
     "    for i in T.parallel(116):\n"
     "        for j in T.vectorized(16):\n"
     "            if i * 16 + j < 1850:\n"
     "                Y[i * 16 + j] = T.Select((i * 16 + j) % 37 < 30, A[(i * 16 + j) // 37], n)\n", "    for row in T.parallel(50):\n"
     "        for j in T.vectorized(37):\n"
     "            Y[row * 37 + j] = T.Select(j < 30, A[row], n)\n"},
    {"of pixels of three channels, in three loops",
     HEAD "    for i in range(5):\n"
          "        for k in range(8):\n"
          "            for j in T.vectorized(48):\n"
          "                if i * 8 + k < 34:\n"
          "                    Y[i * 384 + k * 48 + j] = T.Select(2 <= (i * 128 + k * 16 + j // 3) "
          "% 34, "
          "A[(i * 384 + k * 48 + j) % 102], n)\n",                                                   "    for row in range(16):\n"
     "        for j in T.vectorized(102):\n"
     "            Y[row * 102 + j] = T.Select(j >= 6, A[j], n)\n"                                                   },
    {"without a loop around",
     HEAD "    for j in T.vectorized(185):\n"
          "        Y[j] = A[j % 37] * A[j // 37]\n",                                                 "    for row in range(5):\n"
     "        for j in T.vectorized(37):\n"
     "            Y[row * 37 + j] = A[row] * A[j]\n"                                                              },
    {"long ones with digits that come again are cut",
     HEAD "    for i in range(62):\n"
          "        for j in T.vectorized(28):\n"
          "            Y[i * 28 + j] = A[(i * 28 + j) // 217] + A[(i * 28 + j) % 7]\n",              "    for row in range(8):\n"
     "        for j in range(27):\n"
     "            for j_1 in T.vectorized(8):\n"                               },
    {"that hold whole vectors are no digits of them",
     HEAD "    for i in range(30):\n"
          "        for j in T.vectorized(64):\n"
          "            Y[i * 64 + j] = A[(i * 64 + j) % 32]\n",                                      "        for j in T.vectorized(64):\n"                           },
    {"in which others are written",
     HEAD "    for i in range(37):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = Y[(i * 16 + j) // 37 * 37]\n",                                "        for j in T.vectorized(16):\n"                           },
    {"that end in the middle of one",
     HEAD "    for i in range(36):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) % 37]\n",                                      "        for j in T.vectorized(16):\n"                           },
    {"after which digits in a row are others",
     HEAD "    for i in range(37):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = A[(i * 16 + j) % 37 + (i * 16 + j) % 9]\n",                   "        for j in T.vectorized(16):\n"                           },
    {"whose elements cost more than digits",
     HEAD "    F = T.alloc_buffer((640,))\n"
          "    for i in range(40):\n"
          "        for j in T.vectorized(16):\n"
          "            F[i * 16 + j] = T.exp(T.Cast(\"float32\", A[(i * 16 + j) % 10]))\n"
          "    Y[0] = T.Cast(\"int32\", F[n])\n",                                                    "        for j in T.vectorized(16):\n"                           },
};

static const struct row vectorize_rows[] = {
    {"the branch that no lane takes is not loaded",
     HEAD "    for i in range(500):\n"
          "        for j in T.vectorized(8):\n"
          "            Y[j] = T.if_then_else(j < n, 0, A[i])\n",                           "A[T.Broadcast(i, 8)]"                                                                   },
    {"a few vectors are unrolled",
     HEAD "    for j in T.vectorized(72):\n"
          "        Y[j] = A[j]\n",                                                         "    for j in T.unroll(9):\n"                                                            },
    {"lanes that lie near are one vector",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(8):\n"
          "            Y[i * 8 + j] = A[(i * 8 + j) // 4] + A[(i * 8 + j) % 4]\n",         "        Y[i * 8:i * 8 + 8] = "                                                          },
    {"lanes that do not are as many as go straight on",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(8):\n"
          "            Y[i * 8 + j] = A[(i * 8 + j) // 4 % 2 * 100 + (i * 8 + j) % 4]\n",  "            Y[i * 8 + j * 4:i * 8 + j * 4 + 4] = A[T.Ramp(j * 100, 1, 4)]\n"            },
    {"comparisons that are the same in all lanes",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = T.if_then_else((i * 16 + j) % 128 < 64, "
          "T.if_then_else((i * 16 + j) % 128 < 32, A[i], A[j]), A[i + 1])\n",              "= T.if_then_else(i % 8 * 16 - 64 < 0, A[T.Ramp(0, 1, 16)], T.Broadcast(A[i + 1], 16))"  },
    {"counted down",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(8):\n"
          "            if 40 <= i % 10 * 8 + j:\n"
          "                Y[i * 8 + j] = A[j]\n",                                         "        if 39 - i % 10 * 8 < 0:\n"                                                      },
    {"but not one that is not",
     HEAD "    for i in range(100):\n"
          "        for j in T.vectorized(16):\n"
          "            Y[i * 16 + j] = T.if_then_else(i % 10 * 8 + j < 64, A[i], A[j])\n", "= T.if_then_else(T.Broadcast(i % 10 * 8, 16) + T.Ramp(0, 1, 16) < T.Broadcast(64, 16), "},
};

#define WISH "annotations={\"pragma_vector_reduce\": 1}"

/* Nothing is collected where the total would be stored though there is nothing to add. */
static const struct row reduce_rows[] = {
    {"through loops that run",
     HEAD "    for k in T.serial(4, " WISH "):\n"
          "        for i, j in T.grid(2, 16):\n"
          "            Y[5] = Y[5] + A[j]\n",     "T.vector_reduce_add("            },
    {"not through one that may not",
     HEAD "    for k in T.serial(4, " WISH "):\n"
          "        for i, j in T.grid(n, 16):\n"
          "            Y[5] = Y[5] + A[j]\n",     "        Y[5] = A[j] + Y[5]\n"    },
    {"not where others that run at once store the same",
     HEAD "    for p in T.parallel(4):\n"
          "        for k in T.serial(n, " WISH "):\n"
          "            for j in range(16):\n"
          "                Y[5] = Y[5] + A[j]\n", "            Y[5] = A[j] + Y[5]\n"},
};

static const struct row cleanup_rows[] = {
    {"a loop of less than nothing, behind a condition that holds for no such iteration",
     HEAD "    for i in T.unroll(4):\n"
          "        if n * 4 + i < 2:\n"
          "            for k in range(2 - i):\n"
          "                Y[i * 8 + k] = A[k]\n", "        Y[8] = A[0]\n"},
};

static void asks_where_it_may(void **state) {
    hone_check_behind_pass(*state, "hoist_if");
}

static void begins_where_it_may(void **state) {
    hone_check_behind_pass(*state, "hoist_init");
}

static void collects_where_it_may(void **state) {
    hone_check_behind_pass(*state, "reduce");
}

static void counts_elements(void **state) {
    hone_check_behind_pass(*state, "flatten");
}

static void makes_vectors_of_neighbours(void **state) {
    hone_check_behind_pass(*state, "neighbours");
}

static void takes_vectors_together(void **state) {
    hone_check_behind_pass(*state, "period");
}

static void leaves_edges_alone(void **state) {
    hone_check_behind_pass(*state, "partition");
}

static void goes_over_rows(void **state) {
    hone_check_behind_pass(*state, "rows");
}

static void compares_once(void **state) {
    hone_check_behind_pass(*state, "vectorize");
}

static void keeps_edges_short(void **state) {
    hone_check_behind_pass(*state, "version");
}

static void asks_whether_digits_carry(void **state) {
    hone_check_behind_pass(*state, "carry");
}

static void leaves_nothing_empty(void **state) {
    hone_check_behind_pass(*state, "cleanup");
}

static void grows_so_far(void **state) {
    hone_check_behind_pass(*state, "unroll");
}

int main(void) {
    return HONE_RUN_ROWS("lower/hoist_init", init_rows, begins_where_it_may) +
           HONE_RUN_ROWS("lower/hoist_init/conditions", asked_rows, begins_where_it_may) +
           HONE_RUN_ROWS("lower/flatten", flatten_rows, counts_elements) +
           HONE_RUN_ROWS("lower/hoist_if", hoist_rows, asks_where_it_may) +
           HONE_RUN_ROWS("lower/partition", partition_rows, leaves_edges_alone) +
           HONE_RUN_ROWS("lower/version", version_rows, keeps_edges_short) +
           HONE_RUN_ROWS("lower/period", period_rows, takes_vectors_together) +
           HONE_RUN_ROWS("lower/rows", fused_rows, goes_over_rows) +
           HONE_RUN_ROWS("lower/vectorize", vectorize_rows, compares_once) +
           HONE_RUN_ROWS("lower/carry", carry_rows, asks_whether_digits_carry) +
           HONE_RUN_ROWS("lower/neighbours", neighbour_rows, makes_vectors_of_neighbours) +
           HONE_RUN_ROWS("lower/reduce", reduce_rows, collects_where_it_may) +
           HONE_RUN_ROWS("lower/unroll", unroll_rows, grows_so_far) +
           HONE_RUN_ROWS("lower/cleanup", cleanup_rows, leaves_nothing_empty);
}
