/* Random steps on programs that the generator does not make: symbolic sizes, int64, several
 * writers, updates in place, nested blocks, views, conditions and statements between loops, loops
 * that do not begin at 0. What is accepted means the same. HONE_SEQUENCES sets how many per
 * program. */
#include "tests/support/hone_test.h"

#include <stdlib.h>

#include "tests/schedule/random_sequence.h"
#include "tests/support/program_text.h"

enum { DEFAULT_SEQUENCES = 800 };

#define HEAD "from tvm.script import tir as T\n@T.prim_func\n"
#define F32 ", \"float32\")"

static const struct base {
    const char *name, *text;
} bases[] = {
    {"symbolic matmul and relu",
     HEAD "def main(a: T.handle, b: T.handle, d: T.handle):\n"
          "    n = T.int32()\n    m = T.int32()\n"
          "    A = T.match_buffer(a, (n, 5))\n    B = T.match_buffer(b, (5, m))\n"
          "    D = T.match_buffer(d, (n, m))\n    C = T.alloc_buffer((n, m))\n"
          "    for i, j, k in T.grid(n, m, 5):\n"
          "        with T.block(\"C\"):\n"
          "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
          "            with T.init():\n                C[vi, vj] = T.float32(0)\n"
          "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
          "    for i, j in T.grid(n, m):\n"
          "        with T.block(\"D\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n"                                                       },
    {"symbolic int64 stages",
     HEAD "def main(a: T.handle, c: T.handle):\n"
          "    n = T.int64()\n"
          "    A = T.match_buffer(a, (n, T.int64(6)))\n    C = T.match_buffer(c, (n, T.int64(4)))\n"
          "    B = T.alloc_buffer((n, T.int64(6)))\n    R = T.alloc_buffer((n,))\n"
          "    for i, j in T.grid(n, T.int64(6)):\n"
          "        with T.block(\"B\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            B[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "    for i, k in T.grid(n, T.int64(6)):\n"
          "        with T.block(\"R\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            with T.init():\n                R[vi] = T.float32(0)\n"
          "            R[vi] = R[vi] + B[vi, vk]\n"
          "    for i, j in T.grid(n, T.int64(4)):\n"
          "        with T.block(\"C\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            C[vi, vj] = B[vi, vj + T.int64(2)] - R[vi]\n"                                                       },
    {"int64 beside int32",                     HEAD
     "def main(A: T.Buffer((T.int64(7), T.int64(9))" F32 ", C: T.Buffer((7, 9)" F32 "):\n"
     "    B = T.alloc_buffer((T.int64(7), T.int64(9)))\n"
     "    for i, j in T.grid(T.int64(7), T.int64(9)):\n"
     "        with T.block(\"B\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            B[vi, vj] = A[vi, vj] + T.float32(1)\n"
     "    for i, j in T.grid(7, 9):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            C[vi, vj] = B[T.Cast(\"int64\", vi), T.Cast(\"int64\", vj)] * T.float32(2)\n"  },
    {"int64 loop in an int32 one",
     HEAD "def main(A: T.Buffer((6, T.int64(5))" F32 ", C: T.Buffer((6, T.int64(5))" F32 "):\n"
          "    for i in range(6):\n        for j in T.serial(T.int64(5)):\n"
          "            with T.block(\"C\"):\n"
          "                vi = T.axis.spatial(6, i)\n                vj = "
          "T.axis.spatial(T.int64(5), j)\n"
          "                C[vi, vj] = A[vi, vj] + T.float32(1)\n"                                                         },
    {"in place",                               HEAD "def main(X: T.Buffer((8, 6)" F32 ", Y: T.Buffer((8, 6)" F32 "):\n"
                      "    for i, j in T.grid(8, 6):\n"
                      "        with T.block(\"X\"):\n"
                      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                      "            X[vi, vj] = X[vi, vj] * T.float32(2)\n"
                      "    for i, j in T.grid(8, 6):\n"
                      "        with T.block(\"Y\"):\n"
                      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                      "            Y[vi, vj] = X[vi, vj] + Y[vi, vj]\n"                                    },
    {"shift in place",                         HEAD "def main(X: T.Buffer((9,)" F32 "):\n"
                            "    for i in range(8):\n        for j in range(1):\n"
                            "            with T.block(\"X\"):\n"
                            "                vi = T.axis.spatial(8, i)\n"
                            "                X[vi] = X[vi + 1] + T.float32(1)\n"                     },
    {"reads what is written later",
     HEAD "def main(X: T.Buffer((6, 4)" F32 ", Y: T.Buffer((6, 4)" F32 "):\n"
          "    for i, j in T.grid(6, 4):\n"
          "        with T.block(\"Y\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            Y[vi, vj] = X[5 - vi, vj]\n"
          "        for k in range(3):\n"
          "            with T.block(\"X\"):\n"
          "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
          "                with T.init():\n                    X[vi, vj] = T.float32(1)\n"
          "                X[vi, vj] = X[vi, vj] * T.float32(2)\n"                                                         },
    {"backwards",                              HEAD "def main(A: T.Buffer((8, 6)" F32 ", D: T.Buffer((8, 6)" F32 "):\n"
                       "    C = T.alloc_buffer((8, 6))\n    R = T.alloc_buffer((8,))\n"
                       "    for i, j in T.grid(8, 6):\n"
                       "        with T.block(\"C\"):\n"
                       "            vi = T.axis.spatial(8, 7 - i)\n"
                       "            vj = T.axis.spatial(6, j)\n"
                       "            C[vi, 5 - vj] = A[vi, vj] * T.float32(2)\n"
                       "    for i, k in T.grid(8, 6):\n"
                       "        with T.block(\"R\"):\n"
                       "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                       "            with T.init():\n                R[7 - vi] = T.float32(0)\n"
                       "            R[7 - vi] = R[7 - vi] + C[vi, vk]\n"
                       "    for i, j in T.grid(8, 6):\n"
                       "        with T.block(\"D\"):\n"
                       "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                       "            D[7 - vi, vj] = C[7 - vi, 5 - vj] + R[vi]\n"                          },
    {"a reduction of what was made backwards",
     HEAD "def main(A: T.Buffer((8, 6)" F32 ", D: T.Buffer((8,)" F32 "):\n"
          "    C = T.alloc_buffer((8, 6))\n"
          "    for i, j in T.grid(8, 6):\n"
          "        with T.block(\"C\"):\n"
          "            vi = T.axis.spatial(8, 7 - i)\n"
          "            vj = T.axis.spatial(6, j)\n"
          "            C[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "    for i, k in T.grid(8, 6):\n"
          "        with T.block(\"D\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            with T.init():\n                D[vi] = T.float32(0)\n"
          "            D[vi] = D[vi] + C[vi, 5 - vk]\n"                                                                    },
    {"two writers of one buffer",
     HEAD "def main(A: T.Buffer((10,)" F32 ", C: T.Buffer((10,)" F32 "):\n"
          "    for i, j in T.grid(5, 2):\n"
          "        with T.block(\"low\"):\n"
          "            vi = T.axis.spatial(10, i * 2 + j)\n"
          "            C[vi] = A[vi]\n"
          "        with T.block(\"high\"):\n"
          "            vi = T.axis.spatial(10, 9 - i * 2 - j)\n"
          "            C[vi] = A[vi] * T.float32(3)\n"                                                                     },
    {"filled, then partly overwritten",
     HEAD "def main(A: T.Buffer((6,)" F32 ", C: T.Buffer((8,)" F32 "):\n"
          "    B = T.alloc_buffer((8,))\n"
          "    for i in range(8):\n"
          "        with T.block(\"fill\"):\n"
          "            vi = T.axis.spatial(8, i)\n            B[vi] = T.float32(0)\n"
          "    for i in range(6):\n"
          "        with T.block(\"part\"):\n"
          "            vi = T.axis.spatial(6, i)\n            B[vi + 1] = A[vi]\n"
          "    for i in range(8):\n"
          "        with T.block(\"C\"):\n"
          "            vi = T.axis.spatial(8, i)\n            C[vi] = B[vi] + T.float32(1)\n"                              },
    {"under conditions",                       HEAD
     "def main(A: T.Buffer((8, 4)" F32 ", B: T.Buffer((8, 4)" F32 ", C: T.Buffer((8, 4)" F32 "):\n"
     "    S = T.alloc_buffer((8, 4))\n"
     "    for i, j in T.grid(8, 4):\n"
     "        with T.block(\"S\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            S[vi, vj] = A[vi, vj] + T.float32(1)\n"
     "    for i, j in T.grid(8, 4):\n"
     "        if i < 5:\n"
     "            with T.block(\"B\"):\n"
     "                vi = T.axis.spatial(5, i)\n                vj = T.axis.spatial(4, j)\n"
     "                B[vi, vj] = S[vi, vj]\n"
     "        else:\n"
     "            with T.block(\"C\"):\n"
     "                vi = T.axis.spatial((5, 8), i)\n                vj = T.axis.spatial(4, j)\n"
     "                C[vi, vj] = S[vi, vj] * T.float32(2)\n"                                      },
    {"loops that begin late",
     HEAD "def main(A: T.Buffer((12, 7)" F32 ", C: T.Buffer((10,)" F32 "):\n"
          "    B = T.alloc_buffer((12, 7))\n"
          "    for i in T.serial(3, 15):\n        for j in T.serial(2, 9):\n"
          "            with T.block(\"B\"):\n"
          "                vi = T.axis.spatial(12, i - 3)\n"
          "                vj = T.axis.spatial(7, j - 2)\n"
          "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "    for i in T.serial(1, 11):\n        for k in T.serial(4, 11):\n"
          "            with T.block(\"C\"):\n"
          "                vi = T.axis.spatial((1, 11), i)\n"
          "                vk = T.axis.reduce(7, k - 4)\n"
          "                with T.init():\n                    C[vi - 1] = T.float32(0)\n"
          "                C[vi - 1] = C[vi - 1] + B[vi + 1, vk]\n"                                                        },
    {"triangle",                               HEAD "def main(A: T.Buffer((7, 7)" F32 ", C: T.Buffer((7,)" F32 "):\n"
                      "    for i in range(7):\n        for k in range(7):\n"
                      "            with T.block(\"C\"):\n"
                      "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                      "                T.where(k <= i)\n"
                      "                with T.init():\n                    C[vi] = T.float32(0)\n"
                      "                C[vi] = C[vi] + A[vi, vk]\n"                                        },
    {"nested blocks",
     HEAD "def main(A: T.Buffer((8, 12)" F32 ", C: T.Buffer((8, 12)" F32 "):\n"
          "    B = T.alloc_buffer((8, 12))\n"
          "    for i, j in T.grid(4, 3):\n"
          "        with T.block(\"outer\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            t = T.alloc_buffer((2, 4))\n"
          "            for x, y in T.grid(2, 4):\n"
          "                with T.block(\"t\"):\n"
          "                    vx, vy = T.axis.remap(\"SS\", [x, y])\n"
          "                    t[vx, vy] = A[vi * 2 + vx, vj * 4 + vy] + T.float32(1)\n"
          "            for x, y in T.grid(2, 4):\n"
          "                with T.block(\"B\"):\n"
          "                    vx, vy = T.axis.remap(\"SS\", [x, y])\n"
          "                    B[vi * 2 + vx, vj * 4 + vy] = t[vx, vy] * T.float32(2)\n"
          "    for i, j in T.grid(8, 12):\n"
          "        with T.block(\"C\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            C[vi, vj] = B[vi, vj] - T.float32(3)\n"                                                             },
    {"views",                                  HEAD "def main(A: T.Buffer((8, 8)" F32 ", C: T.Buffer((8, 8)" F32 "):\n"
                   "    B = T.alloc_buffer((8, 8))\n"
                   "    for i, j in T.grid(8, 8):\n"
                   "        with T.block(\"B\"):\n"
                   "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "            B[vi, vj] = A[vi, vj] + T.float32(1)\n"
                   "    for i in range(4):\n"
                   "        with T.block(\"view\"):\n"
                   "            vi = T.axis.spatial(4, i)\n"
                   "            T.reads(B[vi * 2:vi * 2 + 2, 0:8])\n            T.writes(C[vi * "
                   "2:vi * 2 + 2, 0:8])\n"
                   "            b = T.match_buffer(B[vi * 2:vi * 2 + 2, 0:8], (2, 8), strides=[8, "
                   "1], offset_factor=1)\n"
                   "            for x, y in T.grid(2, 8):\n"
                   "                with T.block(\"C\"):\n"
                   "                    vx, vy = T.axis.remap(\"SS\", [x, y])\n"
                   "                    C[vi * 2 + vx, vy] = b[vx, vy] * T.float32(2)\n"                      },
    {"stale regions",                          HEAD "def main(A: T.Buffer((10,)" F32 ", C: T.Buffer((8,)" F32 "):\n"
                           "    B = T.alloc_buffer((10,))\n"
                           "    for i in range(10):\n"
                           "        with T.block(\"B\"):\n"
                           "            vi = T.axis.spatial(10, i)\n"
                           "            T.reads(A[vi])\n            T.writes(B[vi])\n"
                           "            B[vi] = A[vi] * T.float32(2)\n"
                           "    for i in range(8):\n"
                           "        with T.block(\"C\"):\n"
                           "            vi = T.axis.spatial(8, i)\n"
                           "            T.reads(B[vi])\n            T.writes(C[vi])\n"
                           "            C[vi] = B[vi] + B[vi + 2]\n"                                  },
    {"argmax",                                 HEAD "def main(A: T.Buffer((4, 6)" F32 ", V: T.Buffer((4,)" F32
                    ", N: T.Buffer((4,), \"int32\")):\n"
                    "    for i, k in T.grid(4, 6):\n"
                    "        with T.block(\"best\"):\n"
                    "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                    "            with T.init():\n                N[vi] = -1\n                V[vi] "
                    "= T.float32(-1e30)\n"
                    "            N[vi] = T.Select(V[vi] >= A[vi, vk], N[vi], vk)\n"
                    "            V[vi] = T.max(V[vi], A[vi, vk])\n"                                          },
    {"scan",                                   HEAD
     "def main(A: T.Buffer((9, 3)" F32 ", S: T.Buffer((9, 3)" F32 "):\n"
     "    for i, j in T.grid(9, 3):\n"
     "        with T.block(\"S\"):\n"
     "            vi = T.axis.scan(9, i)\n            vj = T.axis.spatial(3, j)\n"
     "            S[vi, vj] = A[vi, vj] + T.if_then_else(vi > 0, S[vi - 1, vj], T.float32(0))\n"               },
    {"repeated by a loop",                     HEAD
     "def main(A: T.Buffer((5,)" F32 ", C: T.Buffer((5, 4)" F32 "):\n"
     "    B = T.alloc_buffer((5,))\n"
     "    for r in range(4):\n"
     "        for i in range(5):\n"
     "            with T.block(\"B\"):\n"
     "                vi = T.axis.spatial(5, i)\n                vr = T.axis.opaque(4, r)\n"
     "                B[vi] = A[vi] + T.Cast(\"float32\", vr)\n"
     "        for i in range(5):\n"
     "            with T.block(\"C\"):\n"
     "                vi, vr = T.axis.remap(\"SS\", [i, r])\n                C[vi, vr] = B[vi]\n"},
    {"summed over a spatial axis",
     HEAD "def main(A: T.Buffer((6, 8)" F32 ", C: T.Buffer((6,)" F32 "):\n"
          "    for i in range(6):\n"
          "        with T.block(\"zero\"):\n"
          "            vi = T.axis.spatial(6, i)\n            C[vi] = T.float32(0)\n"
          "    for i, j in T.grid(6, 8):\n"
          "        with T.block(\"add\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            C[vi] = C[vi] + A[vi, vj]\n"                                                                        },
    {"scattered",                              HEAD "def main(A: T.Buffer((6,)" F32
                       ", I: T.Buffer((6,), \"int32\"), C: T.Buffer((9,)" F32 "):\n"
                       "    for i in range(6):\n        for u in range(1):\n"
                       "            with T.block(\"C\"):\n"
                       "                vi = T.axis.spatial(6, i)\n"
                       "                C[I[vi] % 3 + vi // 2] = A[vi]\n"                                 },
    {"softmax",                                HEAD
     "def main(A: T.Buffer((3, 7)" F32 ", O: T.Buffer((3, 7)" F32 "):\n"
     "    M = T.alloc_buffer((3,))\n    E = T.alloc_buffer((3, 7))\n    S = T.alloc_buffer((3,))\n"
     "    for i, k in T.grid(3, 7):\n"
     "        with T.block(\"M\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "            with T.init():\n                M[vi] = T.min_value(\"float32\")\n"
     "            M[vi] = T.max(M[vi], A[vi, vk])\n"
     "    for i, j in T.grid(3, 7):\n"
     "        with T.block(\"E\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            E[vi, vj] = T.exp(A[vi, vj] - M[vi])\n"
     "    for i, k in T.grid(3, 7):\n"
     "        with T.block(\"S\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "            with T.init():\n                S[vi] = T.float32(0)\n"
     "            S[vi] = S[vi] + E[vi, vk]\n"
     "    for i, j in T.grid(3, 7):\n"
     "        with T.block(\"O\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            O[vi, vj] = E[vi, vj] / S[vi]\n"                                                          },
    {"gather",                                 HEAD
     "def main(A: T.Buffer((9, 4)" F32 ", I: T.Buffer((6,), \"int32\"), C: T.Buffer((6, 4)" F32
     "):\n"
     "    B = T.alloc_buffer((9, 4))\n    J = T.alloc_buffer((6,), \"int32\")\n"
     "    for i in range(6):\n"
     "        with T.block(\"J\"):\n"
     "            vi = T.axis.spatial(6, i)\n            J[vi] = I[vi] % 9\n"
     "    for i, j in T.grid(9, 4):\n"
     "        with T.block(\"B\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n            B[vi, vj] = A[vi, vj] + "
     "T.float32(1)\n"
     "    for i, j in T.grid(6, 4):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n            C[vi, vj] = B[J[vi], vj]\n"             },
    {"stages in one nest",                     HEAD
     "def main(A: T.Buffer((5, 7)" F32 ", W: T.Buffer((7, 3)" F32 ", D: T.Buffer((5, 3)" F32 "):\n"
     "    P = T.alloc_buffer((5, 7))\n    C = T.alloc_buffer((5, 3))\n"
     "    for i in range(5):\n"
     "        for k in range(7):\n"
     "            with T.block(\"P\"):\n"
     "                vi, vk = T.axis.remap(\"SS\", [i, k])\n"
     "                P[vi, vk] = A[vi, vk] + T.float32(1)\n"
     "        for j, k in T.grid(3, 7):\n"
     "            with T.block(\"C\"):\n"
     "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "                with T.init():\n                    C[vi, vj] = T.float32(0)\n"
     "                C[vi, vj] = C[vi, vj] + P[vi, vk] * W[vk, vj]\n"
     "        for j in range(3):\n"
     "            with T.block(\"D\"):\n"
     "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "                D[vi, vj] = T.exp(C[vi, vj])\n"                                            },
    {"rows by rows",
     HEAD "def main(A: T.Buffer((4, 7)" F32 ", C: T.Buffer((4, 5)" F32 "):\n"
          "    for i in range(4):\n"
          "        with T.block(\"O\"):\n"
          "            vi = T.axis.spatial(4, i)\n"
          "            L = T.alloc_buffer((7,))\n            M = T.alloc_buffer((5,))\n"
          "            for k in range(7):\n"
          "                with T.block(\"L\"):\n"
          "                    vk = T.axis.spatial(7, k)\n"
          "                    L[vk] = A[vi, vk] * T.float32(2)\n"
          "            for j, k in T.grid(5, 7):\n"
          "                with T.block(\"M\"):\n"
          "                    vj, vk = T.axis.remap(\"SR\", [j, k])\n"
          "                    with T.init():\n                        M[vj] = T.float32(0)\n"
          "                    M[vj] = M[vj] + L[vk] * A[vi, vk]\n"
          "            for j in range(5):\n"
          "                with T.block(\"C\"):\n"
          "                    vj = T.axis.spatial(5, j)\n"
          "                    C[vi, vj] = M[vj]\n"                                                                        },
    {"filled by two",                          HEAD
     "def main(A: T.Buffer((6, 5)" F32 ", D: T.Buffer((6, 5)" F32 ", E: T.Buffer((6,)" F32 "):\n"
     "    B = T.alloc_buffer((6, 5))\n    C = T.alloc_buffer((6, 5))\n"
     "    for i, j in T.grid(2, 5):\n"
     "        with T.block(\"B0\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            B[vi, vj] = A[vi, vj] + T.float32(1)\n"
     "    for i in range(6):\n"
     "        for j in range(5):\n"
     "            with T.block(\"B1\"):\n"
     "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "                T.where(2 <= i)\n"
     "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"
     "        for j in range(2):\n"
     "            with T.block(\"C0\"):\n"
     "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "                C[vi, vj] = A[vi, vj + 3]\n"
     "        for j in range(3):\n"
     "            with T.block(\"C1\"):\n"
     "                vi = T.axis.spatial(6, i)\n                vj = T.axis.spatial(5, j + 2)\n"
     "                C[vi, vj] = A[vi, vj - 2]\n"
     "        for j in range(5):\n"
     "            with T.block(\"D\"):\n"
     "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "                D[vi, vj] = C[vi, vj] + C[vi, 4 - vj]\n"
     "    for i, k in T.grid(6, 5):\n"
     "        with T.block(\"E\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "            with T.init():\n                E[vi] = T.float32(0)\n"
     "            E[vi] = E[vi] + B[vi, vk] * C[vi, vk]\n"                                            },
    {"halves",                                 HEAD
     "def main(A: T.Buffer((7, 4)" F32 ", C: T.Buffer((7, 4)" F32 ", D: T.Buffer((7, 4)" F32 "):\n"
     "    B = T.alloc_buffer((7, 4))\n"
     "    for i, j in T.grid(3, 4):\n"
     "        with T.block(\"B0\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            B[vi, vj] = A[vi, vj] + T.float32(1)\n"
     "    for i, j in T.grid(4, 4):\n"
     "        with T.block(\"B1\"):\n"
     "            vi = T.axis.spatial(7, 3 + i)\n            vj = T.axis.spatial(4, j)\n"
     "            B[vi, vj] = A[vi, vj] + T.float32(2)\n"
     "    for i, j in T.grid(7, 4):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            C[vi, vj] = B[vi, vj] * T.float32(2)\n"
     "    for i, j in T.grid(7, 4):\n"
     "        with T.block(\"D\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            D[vi, vj] = C[vi, vj] - B[6 - vi, vj]\n"                                                   },
};

static void check_base(void **state) {
    const struct base *row = *state;
    const char *wanted = getenv("HONE_SEQUENCES"), *first = getenv("HONE_FIRST_SEED");
    uint64_t count = wanted ? strtoull(wanted, NULL, 10) : DEFAULT_SEQUENCES;
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    uint64_t failed = 0;
    hone_step_counts counts = {0};
    hone_sequence_options options = {.replay_every = 1};
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(row->text, &module);
    for (uint64_t i = 0; i < count && failed < 3; i++)
        failed += !hone_random_sequence(base, seed + i, &options, &counts);
    hone_module_release(module);
    print_message("%llu steps accepted of %llu\n", (unsigned long long)counts.accepted,
                  (unsigned long long)counts.tried);
    hone_step_counts_print(&counts);
    assert_int_equal(failed, 0);
    assert_true(counts.accepted > count / 4);
}

int main(void) {
    return HONE_RUN_ROWS("schedule/bases", bases, check_base);
}
