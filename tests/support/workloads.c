/* tests/support/workloads.c - small tensor programs, by name. */
#include "tests/support/workloads.h"

#include <stddef.h>

#define HEAD "@T.prim_func\ndef main("
#define BUF(name, shape) name ": T.Buffer(" shape ", \"float32\")"
#define ALLOC(name, shape) "    " name " = T.alloc_buffer(" shape ", \"float32\")\n"

/* C[i, j] = sum_k A[i, k] * B[k, j] into `out` */
#define DENSE_BLOCK(out, m, n, k)                                                                  \
    "    for i, j, k in T.grid(" #m ", " #n ", " #k "):\n"                                         \
    "        with T.block(\"dense\"):\n"                                                           \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                " out "[vi, vj] = T.float32(0)\n"                                             \
    "            " out "[vi, vj] = " out "[vi, vj] + A[vi, vk] * B[vk, vj]\n"
#define DENSE(m, n, k)                                                                             \
    HEAD BUF("A", "(" #m ", " #k ")") ", " BUF("B", "(" #k ", " #n ")") ", " BUF(                  \
        "C", "(" #m ", " #n ")") "):\n" DENSE_BLOCK("C", m, n, k)
#define DENSE_NT(m, n, k)                                                                          \
    HEAD BUF("A", "(" #m ", " #k ")") ", " BUF("B", "(" #n ", " #k ")") ", " BUF(                  \
        "C", "(" #m ", " #n ")") "):\n"                                                            \
                                 "    for i, j, k in T.grid(" #m ", " #n ", " #k "):\n"            \
                                 "        with T.block(\"dense\"):\n"                              \
                                 "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"     \
                                 "            with T.init():\n"                                    \
                                 "                C[vi, vj] = T.float32(0)\n"                      \
                                 "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]\n"
#define DENSE_RELU(m, n, k)                                                                        \
    HEAD BUF("A", "(" #m ", " #k ")") ", " BUF("B", "(" #k ", " #n ")") ", " BUF(                  \
        "bias", "(" #n ",)") ", " BUF("C", "(" #m ", " #n ")") "):\n" ALLOC("Y",                   \
                                                                            "(" #m ", " #n ")")    \
        ALLOC("Z", "(" #m ", " #n ")")                                                             \
            DENSE_BLOCK("Y", m, n, k) "    for i, j in T.grid(" #m ", " #n "):\n"                  \
                                      "        with T.block(\"bias_add\"):\n"                      \
                                      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"        \
                                      "            Z[vi, vj] = Y[vi, vj] + bias[vj]\n"             \
                                      "    for i, j in T.grid(" #m ", " #n "):\n"                  \
                                      "        with T.block(\"relu\"):\n"                          \
                                      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"        \
                                      "            C[vi, vj] = T.max(Z[vi, vj], T.float32(0))\n"

/* n x c x s x s data, padded by one, 3 x 3 kernel, bias and relu */
#define CONV_RELU                                                                                  \
    HEAD BUF("X", "(1, 3, 8, 8)") ", " BUF("W", "(5, 3, 3, 3)") ", " BUF(                          \
        "bias", "(5, 1, 1)") ", " BUF("Y", "(1, 5, 8, 8)") "):\n" ALLOC("P", "(1, 3, 10, 10)")     \
        ALLOC("C", "(1, 5, 8, 8)") ALLOC(                                                          \
            "D",                                                                                   \
            "(1, 5, 8, 8)") "    for n, c, h, w in T.grid(1, 3, 10, 10):\n"                        \
                            "        with T.block(\"pad\"):\n"                                     \
                            "            vn, vc, vh, vw = T.axis.remap(\"SSSS\", [n, c, h, w])\n"  \
                            "            P[vn, vc, vh, vw] = T.if_then_else(1 <= vh and vh < 9 "   \
                            "and 1 <= vw and vw < 9, "                                             \
                            "X[vn, vc, vh - 1, vw - 1], T.float32(0))\n"                           \
                            "    for n, f, h, w, c, kh, kw in T.grid(1, 5, 8, 8, 3, 3, 3):\n"      \
                            "        with T.block(\"conv\"):\n"                                    \
                            "            vn, vf, vh, vw, vc, vkh, vkw = "                          \
                            "T.axis.remap(\"SSSSRRR\", [n, f, h, w, c, kh, "                       \
                            "kw])\n"                                                               \
                            "            with T.init():\n"                                         \
                            "                C[vn, vf, vh, vw] = T.float32(0)\n"                   \
                            "            C[vn, vf, vh, vw] = C[vn, vf, vh, vw] + P[vn, vc, vh + "  \
                            "vkh, vw + vkw] * "                                                    \
                            "W[vf, vc, vkh, vkw]\n"                                                \
                            "    for n, f, h, w in T.grid(1, 5, 8, 8):\n"                          \
                            "        with T.block(\"bias_add\"):\n"                                \
                            "            vn, vf, vh, vw = T.axis.remap(\"SSSS\", [n, f, h, w])\n"  \
                            "            D[vn, vf, vh, vw] = C[vn, vf, vh, vw] + bias[vf, 0, 0]\n" \
                            "    for n, f, h, w in T.grid(1, 5, 8, 8):\n"                          \
                            "        with T.block(\"relu\"):\n"                                    \
                            "            vn, vf, vh, vw = T.axis.remap(\"SSSS\", [n, f, h, w])\n"  \
                            "            Y[vn, vf, vh, vw] = T.max(D[vn, vf, vh, vw], "            \
                            "T.float32(0))\n"

#define WINDOW(kind, first, step)                                                                  \
    HEAD BUF("X", "(1, 3, 9, 9)") ", " BUF(                                                        \
        "Y", "(1, 3, 4, 4)") "):\n"                                                                \
                             "    for n, c, h, w, kh, kw in T.grid(1, 3, 4, 4, 3, 3):\n"           \
                             "        with T.block(\"" kind "\"):\n"                               \
                             "            vn, vc, vh, vw, vkh, vkw = T.axis.remap(\"SSSSRR\", "    \
                             "[n, c, h, w, kh, kw])\n"                                             \
                             "            with T.init():\n"                                        \
                             "                Y[vn, vc, vh, vw] = " first "\n"                     \
                             "            Y[vn, vc, vh, vw] = " step "\n"

#define ROW(body) "    for i, k in T.grid(6, 40):\n" body

/* clang-format off */
const hone_workload hone_workloads[] = {
    {"dense", DENSE(16, 32, 24)},
    {"dense of primes", DENSE(7, 13, 11)},
    {"dense with one column", DENSE(12, 1, 32)},
    {"dense with one row", DENSE(1, 64, 32)},
    {"dense, weights transposed", DENSE_NT(4, 16, 32)},
    {"dense, weights transposed, one row", DENSE_NT(1, 10, 48)},
    {"dense of ones", DENSE(1, 1, 1)},
    {"dense, bias, relu", DENSE_RELU(8, 12, 16)},
    {"batch matmul",
     HEAD BUF("A", "(3, 4, 8)") ", " BUF("B", "(3, 8, 16)") ", " BUF(
         "C", "(3, 4, 16)") "):\n"
                            "    for b, i, j, k in T.grid(3, 4, 16, 8):\n"
                            "        with T.block(\"bmm\"):\n"
                            "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
                            "            with T.init():\n"
                            "                C[vb, vi, vj] = T.float32(0)\n"
                            "            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, "
                            "vj]\n"},
    {"conv2d, bias, relu", CONV_RELU},
    {"depthwise conv2d",
     HEAD BUF("X", "(1, 4, 10, 10)") ", " BUF("W", "(4, 3, 3)") ", " BUF(
         "Y", "(1, 4, 8, 8)") "):\n"
                              "    for n, c, h, w, kh, kw in T.grid(1, 4, 8, 8, 3, 3):\n"
                              "        with T.block(\"depthwise\"):\n"
                              "            vn, vc, vh, vw, vkh, vkw = T.axis.remap(\"SSSSRR\", [n, "
                              "c, h, w, kh, kw])\n"
                              "            with T.init():\n"
                              "                Y[vn, vc, vh, vw] = T.float32(0)\n"
                              "            Y[vn, vc, vh, vw] = Y[vn, vc, vh, vw] + X[vn, vc, vh + "
                              "vkh, vw + vkw] * "
                              "W[vc, vkh, vkw]\n"},
    {"maxpool", WINDOW("maxpool", "T.float32(-3.4028234663852886e+38)",
                       "T.max(Y[vn, vc, vh, vw], X[vn, vc, vh * 2 + vkh, vw * 2 + vkw])")},
    {"avgpool", WINDOW("avgpool", "T.float32(0)",
                       "Y[vn, vc, vh, vw] + X[vn, vc, vh * 2 + vkh, vw * 2 + vkw] * "
                       "T.float32(0.125)")},
    {"softmax", HEAD BUF("A", "(6, 40)") ", " BUF("B", "(6, 40)") "):\n" ALLOC("M", "(6,)")
                    ALLOC("E", "(6, 40)") ALLOC("S", "(6,)")
                        ROW("        with T.block(\"max\"):\n"
                            "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                            "            with T.init():\n"
                            "                M[vi] = T.float32(-3.4028234663852886e+38)\n"
                            "            M[vi] = T.max(M[vi], A[vi, vk])\n")
                            ROW("        with T.block(\"exp\"):\n"
                                "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                                "            E[vi, vk] = T.exp(A[vi, vk] - M[vi])\n")
                                ROW("        with T.block(\"sum\"):\n"
                                    "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                                    "            with T.init():\n"
                                    "                S[vi] = T.float32(0)\n"
                                    "            S[vi] = S[vi] + E[vi, vk]\n")
                                    ROW("        with T.block(\"norm\"):\n"
                                        "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                                        "            B[vi, vk] = E[vi, vk] / S[vi]\n")},
    {"elementwise chain",
     HEAD BUF("A", "(5, 48)") ", " BUF("b", "(48,)") ", " BUF("C", "(5, 48)") "):\n" ALLOC(
         "T1", "(5, 48)")
         ALLOC("T2", "(5, 48)") "    for i, j in T.grid(5, 48):\n"
                                "        with T.block(\"add\"):\n"
                                "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                "            T1[vi, vj] = A[vi, vj] + b[vj]\n"
                                "    for i, j in T.grid(5, 48):\n"
                                "        with T.block(\"sigmoid\"):\n"
                                "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                "            T2[vi, vj] = T.sigmoid(T1[vi, vj])\n"
                                "    for i, j in T.grid(5, 48):\n"
                                "        with T.block(\"mul\"):\n"
                                "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                "            C[vi, vj] = T1[vi, vj] * T2[vi, vj]\n"},
    {"transpose", HEAD BUF("A", "(24, 17)") ", " BUF(
                      "B", "(17, 24)") "):\n"
                                       "    for i, j in T.grid(17, 24):\n"
                                       "        with T.block(\"transpose\"):\n"
                                       "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                       "            B[vi, vj] = A[vj, vi]\n"},
    {"prime copy",
     HEAD BUF("A", "(101,)") ", " BUF("B", "(101,)") "):\n"
                                                     "    for i in range(101):\n"
                                                     "        with T.block(\"copy\"):\n"
                                                     "            vi = T.axis.spatial(101, i)\n"
                                                     "            B[vi] = A[vi]\n"},
    {"sum of all", HEAD BUF("A", "(16, 20)") ", " BUF(
                       "S", "(1,)") "):\n"
                                    "    for u, i, k in T.grid(1, 16, 20):\n"
                                    "        with T.block(\"sum\"):\n"
                                    "            vu, vi, vk = T.axis.remap(\"SRR\", [u, i, k])\n"
                                    "            with T.init():\n"
                                    "                S[vu] = T.float32(0)\n"
                                    "            S[vu] = S[vu] + A[vi, vk]\n"},
    {"sum of columns", HEAD BUF("A", "(24, 16)") ", " BUF(
                           "S", "(16,)") "):\n"
                                         "    for j, k in T.grid(16, 24):\n"
                                         "        with T.block(\"sum\"):\n"
                                         "            vj, vk = T.axis.remap(\"SR\", [j, k])\n"
                                         "            with T.init():\n"
                                         "                S[vj] = T.float32(0)\n"
                                         "            S[vj] = S[vj] + A[vk, vj]\n"},
    {"layernorm",
     HEAD BUF("A", "(6, 40)") ", " BUF("g", "(40,)") ", " BUF("B", "(6, 40)") "):\n" ALLOC(
         "M", "(6,)") ALLOC("V", "(6,)") ALLOC("Q", "(6, 40)")
         ROW("        with T.block(\"mean\"):\n"
             "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
             "            with T.init():\n"
             "                M[vi] = T.float32(0)\n"
             "            M[vi] = M[vi] + A[vi, vk] * T.float32(0.025)\n")
             ROW("        with T.block(\"square\"):\n"
                 "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                 "            Q[vi, vk] = (A[vi, vk] - M[vi]) * (A[vi, vk] - M[vi])\n")
                 ROW("        with T.block(\"var\"):\n"
                     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                     "            with T.init():\n"
                     "                V[vi] = T.float32(0)\n"
                     "            V[vi] = V[vi] + Q[vi, vk] * T.float32(0.025)\n")
                     ROW("        with T.block(\"scale\"):\n"
                         "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                         "            B[vi, vk] = (A[vi, vk] - M[vi]) / T.sqrt(V[vi] + "
                         "T.float32(0.001)) * "
                         "g[vk]\n")},
    {"conv2d in groups, relu",
     HEAD BUF("X", "(8, 7, 9)") ", " BUF("W", "(24, 4, 3, 3)") ", " BUF(
         "Y", "(24, 5, 7)") "):\n" ALLOC("C", "(24, 5, 7)")
         "    for f, h, w, c, kh, kw in T.grid(24, 5, 7, 4, 3, 3):\n"
         "        with T.block(\"conv\"):\n"
         "            vf, vh, vw, vc, vkh, vkw = T.axis.remap(\"SSSRRR\", [f, h, w, c, kh, kw])\n"
         "            with T.init():\n"
         "                C[vf, vh, vw] = T.float32(0)\n"
         "            C[vf, vh, vw] = C[vf, vh, vw] + X[vf // 12 * 4 + vc, vh + vkh, vw + vkw] * "
         "W[vf, vc, vkh, vkw]\n"
         "    for f, h, w in T.grid(24, 5, 7):\n"
         "        with T.block(\"relu\"):\n"
         "            vf, vh, vw = T.axis.remap(\"SSS\", [f, h, w])\n"
         "            Y[vf, vh, vw] = T.max(C[vf, vh, vw], T.float32(0))\n"},
    {NULL, NULL},
};
/* clang-format on */
