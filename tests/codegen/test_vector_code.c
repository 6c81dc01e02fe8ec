/* tests/codegen/test_vector_code.c - reductions, tiles turned around and sums of bytes, as vectors:
 * the pass sees them, the machine code has the instruction that they are for, and the numbers are
 * those of the interpreter, on several kinds of CPU. */
#include "tests/support/code_text.h"
#include "tests/support/hone_test.h"

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"

/* The largest of each row, in `registers` vectors; rows of n elements. */
#define ROW_MAX(n, dtype, registers)                                                               \
    HEAD "def main(X: T.Buffer((5, " n "), \"" dtype "\"), Y: T.Buffer((5,), \"" dtype "\")):\n"   \
         "    for i in range(5):\n"                                                                \
         "        Y[i] = X[i, 0]\n"                                                                \
         "        for k in T.serial(" n ", annotations={\"pragma_vector_reduce\": " registers      \
         "}):\n"                                                                                   \
         "            Y[i] = T.max(X[i, k], Y[i])\n"

/* Two sums in one pass, what is summed computed beside it; the sums are collected around both
 * loops. */
#define ROW_SUMS(n)                                                                                \
    HEAD "def main(X: T.Buffer((3, 4, " n "), \"float32\"), Z: T.Buffer((3, 4, " n                 \
         "), \"float32\"), S: T.Buffer((3,), \"float32\"), Q: T.Buffer((3,), \"float32\")):\n"     \
         "    for i in range(3):\n"                                                                \
         "        S[i] = T.float32(0)\n"                                                           \
         "        Q[i] = T.float32(1)\n"                                                           \
         "        for j in T.serial(4, annotations={\"pragma_vector_reduce\": 4}):\n"              \
         "            for k in T.vectorized(" n "):\n"                                             \
         "                Z[i, j, k] = T.exp(X[i, j, k])\n"                                        \
         "            for k in range(" n "):\n"                                                    \
         "                S[i] = S[i] + Z[i, j, k]\n"                                              \
         "                Q[i] = Q[i] + Z[i, j, k] * X[i, j, k]\n"

/* A loop makes what the next one adds up, and something stands between them. */
#define FED_SUM(n, value, between, read)                                                           \
    HEAD "def main(X: T.Buffer((3, " n "), \"float32\"), Z: T.Buffer((3, " n                       \
         "), \"float32\"), S: T.Buffer((3,), \"float32\"), Q: T.Buffer((3,), \"float32\")):\n"     \
         "    for i in range(3):\n"                                                                \
         "        for k in T.vectorized(" n "):\n"                                                 \
         "            Z[i, k] = T.exp(" value ")\n"                                                \
         "        " between "\n"                                                                   \
         "        for k in T.serial(" n ", annotations={\"pragma_vector_reduce\": 4}):\n"          \
         "            S[i] = S[i] + " read "\n"

/* What must stay as it is: each step reads the sum so far of another place. */
#define PREFIX                                                                                     \
    HEAD "def main(X: T.Buffer((64,), \"float32\"), Y: T.Buffer((65,), \"float32\")):\n"           \
         "    Y[0] = T.float32(0)\n"                                                               \
         "    for k in T.serial(64, annotations={\"pragma_vector_reduce\": 4}):\n"                 \
         "        Y[k + 1] = Y[k] + X[k]\n"

/* Tiles of m rows (of Y) by n lanes. */
#define TRANSPOSE(m, n, dtype)                                                                     \
    HEAD "def main(X: T.Buffer((3 * " n ", 2 * " m "), \"" dtype "\"), Z: T.Buffer((2 * " m        \
         ", 3 * " n "), \"" dtype "\"), Y: T.Buffer((2 * " m ", 3 * " n "), \"" dtype "\")):\n"    \
         "    for i0, j0 in T.grid(2, 3):\n"                                                       \
         "        for i1 in range(" m "):\n"                                                       \
         "            for j1 in T.vectorized(" n "):\n"                                            \
         "                Y[i0 * " m " + i1, j0 * " n " + j1] = X[j0 * " n " + j1, i0 * " m        \
         " + i1] + Z[i0 * " m " + i1, j0 * " n " + j1]\n"

/* Sums of the first n of m numbers, of some rows at once. */
#define ACROSS(n, m, lanes, dtype)                                                                 \
    HEAD "def main(X: T.Buffer((4 * " lanes ", " m "), \"" dtype "\"), Y: T.Buffer((4 * " lanes    \
         ",), \"" dtype "\")):\n"                                                                  \
         "    for i in range(4):\n"                                                                \
         "        for j in T.vectorized(" lanes "):\n"                                             \
         "            Y[i * " lanes " + j] = T.Cast(\"" dtype "\", 0)\n"                           \
         "        for k in range(" n "):\n"                                                        \
         "            for j in T.vectorized(" lanes "):\n"                                         \
         "                Y[i * " lanes " + j] = Y[i * " lanes " + j] + X[i * " lanes " + j, k]\n"

/* k4 says where the loop over four stands: around j or inside of it. */
#define DOT(a, b, loops)                                                                           \
    HEAD "def main(A: T.Buffer((3, 32), \"" a "\"), B: T.Buffer((8, 16, 4), \"" b                  \
         "\"), C: T.Buffer((3, 16), \"int32\")):\n"                                                \
         "    for i in range(3):\n"                                                                \
         "        for j in range(16):\n"                                                           \
         "            C[i, j] = 7\n"                                                               \
         "        for k in range(8):\n" loops                                                      \
         "                    C[i, j] = C[i, j] + T.Cast(\"int32\", A[i, k * 4 + u]) * "           \
         "T.Cast(\"int32\", B[k, j, u])\n"
/* So many columns: the only one of a tail, or more than a vector has. */
#define DOT_COLUMNS(n, loop)                                                                       \
    HEAD "def main(A: T.Buffer((3, 32), \"uint8\"), B: T.Buffer((8, " n ", 4), \"int8\"), "        \
         "C: T.Buffer((3, " n "), \"int32\")):\n"                                                  \
         "    for i in range(3):\n"                                                                \
         "        for j in range(" n "):\n"                                                        \
         "            C[i, j] = 7\n"                                                               \
         "        for k in range(8):\n"                                                            \
         "            for u in T.unroll(4):\n"                                                     \
         "                for j in " loop "(" n "):\n"                                             \
         "                    C[i, j] = C[i, j] + T.Cast(\"int32\", A[i, k * 4 + u]) * "           \
         "T.Cast(\"int32\", B[k, j, u])\n"
#define LANES_OUTSIDE                                                                              \
    "            for j in T.vectorized(16):\n"                                                     \
    "                for u in range(4):\n"
#define LANES_INSIDE                                                                               \
    "            for u in T.unroll(4):\n"                                                          \
    "                for j in range(16):\n"

/* The sum goes on over k around two loops over rows, as in a tile of a matrix product. */
#define DOT_ROWS(a, b)                                                                             \
    HEAD "def main(A: T.Buffer((6, 32), \"" a "\"), B: T.Buffer((8, 16, 4), \"" b                  \
         "\"), C: T.Buffer((6, 16), \"int32\")):\n"                                                \
         "    for k in range(8):\n"                                                                \
         "        for i0 in range(2):\n"                                                           \
         "            for i1 in T.unroll(3):\n"                                                    \
         "                for u in range(4):\n"                                                    \
         "                    for j in T.vectorized(16):\n"                                        \
         "                        C[i0 * 3 + i1, j] = C[i0 * 3 + i1, j] + "                        \
         "T.Cast(\"int32\", A[i0 * 3 + i1, k * 4 + u]) * T.Cast(\"int32\", B[k, j, u])\n"

/* Sums of two; B is packed from rows before, and what is packed is widened. */
#define DOT_TWO(a, b)                                                                              \
    HEAD "def main(A: T.Buffer((3, 16), \"" a "\"), B: T.Buffer((16, 16), \"" b                    \
         "\"), C: T.Buffer((3, 16), \"int32\")):\n"                                                \
         "    P = T.alloc_buffer((8, 16, 2), \"" b "\")\n"                                         \
         "    for k in range(8):\n"                                                                \
         "        for j in range(16):\n"                                                           \
         "            for u in T.vectorized(2):\n"                                                 \
         "                P[k, j, u] = B[k * 2 + u, j]\n"                                          \
         "    for i in range(3):\n"                                                                \
         "        for j in range(16):\n"                                                           \
         "            C[i, j] = 7\n"                                                               \
         "        for k in range(8):\n"                                                            \
         "            for u in range(2):\n"                                                        \
         "                for j in T.vectorized(16):\n"                                            \
         "                    C[i, j] = C[i, j] + T.Cast(\"int32\", A[i, k * 2 + u]) * "           \
         "T.Cast(\"int32\", P[k, j, u])\n"

/* Rows of B that lie side by side in C, so many of its columns. */
#define PACK(columns, rows, dtype)                                                                 \
    HEAD "def main(B: T.Buffer((3 * " rows ", " columns "), \"" dtype                              \
         "\"), C: T.Buffer((3, " columns ", " rows "), \"" dtype "\")):\n"                         \
         "    for i, j in T.grid(3, " columns "):\n"                                               \
         "        for u in T.vectorized(" rows "):\n"                                              \
         "            C[i, j, u] = B[i * " rows " + u, j]\n"

/* Two products of bfloat16; the loop over terms may carry a wish. */
#define DOT_BF16(wish)                                                                             \
    HEAD "def main(A: T.Buffer((3, 16), \"bfloat16\"), P: T.Buffer((8, 16, 2), \"bfloat16\"), "    \
         "C: T.Buffer((3, 16), \"float32\")):\n"                                                   \
         "    for i in range(3):\n"                                                                \
         "        for k in T.serial(8" wish "):\n"                                                 \
         "            for u in range(2):\n"                                                        \
         "                for j in T.vectorized(16):\n"                                            \
         "                    C[i, j] = C[i, j] + T.Cast(\"float32\", A[i, k * 2 + u]) * "         \
         "T.Cast(\"float32\", P[k, j, u])\n"

/* Written out, bytes of both sides moving with the lanes; 8 lanes. */
#define TERM(k) "T.Cast(\"int32\", A[j * 4 + " k "]) * T.Cast(\"int32\", B[j * 4 + " k "])"
#define DOT_PAIRS(a, b)                                                                            \
    HEAD "def main(A: T.Buffer((32,), \"" a "\"), B: T.Buffer((32,), \"" b                         \
         "\"), C: T.Buffer((8,), \"int32\")):\n"                                                   \
         "    for j in range(8):\n"                                                                \
         "        C[j] = C[j] + (" TERM("2") " + " TERM("0") " + (" TERM("1") " + " TERM(          \
             "3") "))\n"

/* clang-format off */
/* Products of some rows with a vector, as many sums side by side. */
#define TILE_SUMS(place, rows)                                                                     \
    HEAD "def main(A: T.Buffer((32, 100), \"float32\"), W: T.Buffer((100,), \"float32\"), "        \
         "C: T.Buffer((16,), \"float32\")):\n"                                                    \
         "    for i in range(3):\n"                                                                \
         "        for k in T.serial(100, annotations={\"pragma_vector_reduce\": 1}):\n"             \
         "            for u in T.unroll(" rows "):\n"                                               \
         "                C[" place "] = C[" place "] + A[i * 4 + u, k] * W[k]\n"

/* Memory that is asked for before it is needed: nothing else changes. */
#define PREFETCH                                                                                   \
    HEAD "def main(X: T.Buffer((64,), \"float32\"), Y: T.Buffer((64,), \"float32\")):\n"            \
         "    for i in range(4):\n"                                                                \
         "        T.evaluate(T.prefetch(T.address_of(X[i * 16]), 0, 3, 1))\n"                       \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i * 16 + j] = X[i * 16 + j] + T.float32(1)\n"

/* Prefetches of panels that a loop reads: one line for each vector, none for the numbers beside. */
#define PREFETCH_WISHED(wish)                                                                      \
    HEAD "def main(A: T.Buffer((8, 64), \"float32\"), P: T.Buffer((64, 16), \"float32\"), "        \
         "C: T.Buffer((8, 16), \"float32\")):\n"                                                   \
         "    for i in range(8):\n"                                                                \
         "        for k in T.serial(64, annotations={\"pragma_prefetch\": " wish "}):\n"            \
         "            for j in T.vectorized(16):\n"                                                \
         "                C[i, j] = C[i, j] + A[i, k] * P[k, j]\n"

/* Outputs of a tile of 1 x 32, asked for while its sums are made. */
#define PREFETCH_OUTPUT(ahead)                                                                     \
    HEAD "def main(A: T.Buffer((8, 64), \"float32\"), P: T.Buffer((64, 32), \"float32\"), "        \
         "C: T.Buffer((8, 32), \"float32\")):\n"                                                   \
         "    for i in T.serial(8, annotations={\"pragma_prefetch_stores\": " ahead "}):\n"        \
         "        S = T.alloc_buffer((32,))\n"                                                      \
         "        for j in T.vectorized(32):\n"                                                    \
         "            S[j] = T.float32(0)\n"                                                       \
         "        for k in range(64):\n"                                                           \
         "            for j in T.vectorized(32):\n"                                                \
         "                S[j] = S[j] + A[i, k] * P[k, j]\n"                                        \
         "        for j in T.vectorized(32):\n"                                                    \
         "            C[i, j] = S[j]\n"

/* A vector of 32 columns over panels of 16. */
#define PANELS                                                                                     \
    HEAD "def main(A: T.Buffer((8, 8), \"float32\"), P: T.Buffer((2, 8, 16), \"float32\"), "        \
         "C: T.Buffer((8, 32), \"float32\")):\n"                                                   \
         "    for i in range(8):\n"                                                                \
         "        for k in range(8):\n"                                                            \
         "            for j in T.vectorized(32):\n"                                                \
         "                C[i, j] = C[i, j] + A[i, k] * P[j // 16, k, j % 16]\n"

/* An output that is written once, and one that is read again. */
#define STREAM(wish)                                                                               \
    HEAD "def main(X: T.Buffer((512,), \"float32\"), Y: T.Buffer((512,), \"float32\")):\n"          \
         "    for i in T.serial(32, annotations={\"pragma_streaming_store\": " wish "}):\n"          \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i * 16 + j] = X[i * 16 + j] + T.float32(1)\n"
/* The wish stands on a loop that code has no loop for. */
#define STREAM_BELOW(unrolled, vectorized)                                                          \
    HEAD "def main(X: T.Buffer((512,), \"float32\"), Y: T.Buffer((512,), \"float32\")):\n"          \
         "    for i in range(8):\n"                                                                \
         "        for u in T.unroll(4" unrolled "):\n"                                             \
         "            for j in T.vectorized(16" vectorized "):\n"                                  \
         "                Y[i * 64 + u * 16 + j] = X[i * 64 + u * 16 + j] + T.float32(1)\n"
#define STREAM_WISH(value) ", annotations={\"pragma_streaming_store\": " value "}"
#define STREAM_CROOKED                                                                             \
    HEAD "def main(X: T.Buffer((512,), \"float32\"), Y: T.Buffer((513,), \"float32\")):\n"          \
         "    for i in T.serial(32, annotations={\"pragma_streaming_store\": 1}):\n"                \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i * 16 + j + 1] = X[i * 16 + j] + T.float32(1)\n"

/* Vectors that fill registers in part: columns behind a whole vector, sums in registers. */
#define ODD_COLUMNS(n)                                                                             \
    HEAD "def main(A: T.Buffer((8, 40), \"float32\"), B: T.Buffer((40, " n "), \"float32\"), "      \
         "C: T.Buffer((8, " n "), \"float32\")):\n"                                                \
         "    for i0 in range(2):\n"                                                               \
         "        S = T.alloc_buffer((4, " n "))\n"                                                \
         "        for i1 in T.unroll(4):\n"                                                        \
         "            for j in T.vectorized(" n "):\n"                                             \
         "                S[i1, j] = T.float32(0)\n"                                               \
         "        for k in range(40):\n"                                                           \
         "            for i1 in T.unroll(4):\n"                                                    \
         "                for j in T.vectorized(" n "):\n"                                         \
         "                    S[i1, j] = S[i1, j] + A[i0 * 4 + i1, k] * B[k, j]\n"                 \
         "        for i1 in T.unroll(4):\n"                                                        \
         "            for j in T.vectorized(" n "):\n"                                             \
         "                C[i0 * 4 + i1, j] = S[i1, j]\n"

/* All kinds of operations on them; divisions of integers must not see lanes that do not exist. */
/* Planes of 9 rows of n, with a border, fused and cut into vectors. */
#define DIGITS(n, less, dtype)                                                                           \
    HEAD "def main(A: T.Buffer((8, 9, " n "), \"" dtype "\"), B: T.Buffer((8,), \"" dtype            \
         "\"), W: T.Buffer((" n ",), \"" dtype "\"), Y: T.Buffer((8 * 9 * " n " - " less              \
         ",), \"" dtype "\")):\n"                                                                    \
         "    for i in range((72 * " n " - " less " + 15) // 16):\n"                                          \
         "        for j in T.vectorized(16):\n"                                                    \
         "            if i * 16 + j < 72 * " n " - " less ":\n"                                               \
         "                Y[i * 16 + j] = T.if_then_else((i * 16 + j) // " n " % 9 > 0 and "       \
         "(i * 16 + j) % " n " < " n " - 2, A[(i * 16 + j) // (9 * " n "), (i * 16 + j) // " n      \
         " % 9 - 1, (i * 16 + j) % " n " + 2], W[(i * 16 + j) % " n "]) + "                        \
         "B[(i * 16 + j) // (9 * " n ")]\n"

/* The largest of what lies beside each other, and one of three: what is loaded is shared where it
 * lies in the buffer, which is not so at its end. */
#define STEPS(n)                                                                                   \
    HEAD "def main(X: T.Buffer((8, 33), \"float32\"), Z: T.Buffer((8, " n                          \
         "), \"float32\"), Y: T.Buffer((8, 16), \"float32\")):\n"                                 \
         "    for i in range(8):\n"                                                                \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i, j] = T.max(T.max(X[i, j * 2], X[i, j * 2 + 1]), X[i, j * 2 + 2]) + "    \
         "Z[i, j * 3]\n"

/* In a program that a schedule shaped: LLVM leaves what it is given. */
#define QUOTIENT(of)                                                                               \
    HEAD "def main(A: T.Buffer((90,), \"float32\"), Y: T.Buffer((16, 3, 16), \"float32\")):\n"     \
         "    for i, u in T.grid(16, 3):\n"                                                        \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i, u, j] = A[(" of ") // 7 + j + 3]\n"

/* n rows at once, added up in order. */
#define DOT_ROW(n)                                                                                 \
    HEAD "def main(A: T.Buffer((" n ", 40), \"float32\"), B: T.Buffer((40,), \"float32\"), "        \
         "Y: T.Buffer((" n ",), \"float32\")):\n"                                                  \
         "    for j in T.vectorized(" n "):\n"                                                     \
         "        Y[j] = T.float32(0)\n"                                                           \
         "    for k in range(40):\n"                                                               \
         "        for j in T.unroll(" n "):\n"                                                     \
         "            Y[j] = Y[j] + A[j, k] * B[k]\n"

/* Squares of a row, collected in so many registers (of 16 lanes). */
#define SQUARES(n)                                                                                 \
    HEAD "def main(A: T.Buffer((4, 512), \"float32\"), Y: T.Buffer((4,), \"float32\")):\n"          \
         "    for i in range(4):\n"                                                                \
         "        Y[i] = T.float32(0)\n"                                                           \
         "        for k in T.serial(512, annotations={\"pragma_vector_reduce\": " n "}):\n"         \
         "            Y[i] = Y[i] + A[i, k] * A[i, k]\n"

#define ARG_MAX                                                                                    \
    HEAD "def main(A: T.Buffer((4, 40), \"float32\"), V: T.Buffer((4,), \"float32\"), "             \
         "I: T.Buffer((4,), \"int32\")):\n"                                                        \
         "    for i in T.parallel(4):\n"                                                           \
         "        I[i] = -1\n"                                                                     \
         "        V[i] = T.float32(-1000)\n"                                                       \
         "        for k in range(40):\n"                                                           \
         "            v: T.let[T.float32] = T.Select(V[i] >= A[i, k], V[i], A[i, k])\n"            \
         "            I[i] = T.Select(V[i] >= A[i, k], I[i], k)\n"                                 \
         "            V[i] = v\n"

#define ODD_OPERATIONS(n)                                                                          \
    HEAD "def main(A: T.Buffer((4, " n "), \"float32\"), I: T.Buffer((4, " n "), \"int32\"), "      \
         "Y: T.Buffer((4, " n "), \"float32\"), Z: T.Buffer((4, " n "), \"int32\")):\n"            \
         "    for i in range(4):\n"                                                                \
         "        for j in T.vectorized(" n "):\n"                                                 \
         "            Y[i, j] = T.Select(A[i, j] < T.float32(0.5), T.exp(A[i, j]), "               \
         "T.sqrt(T.fabs(A[i, j]))) * A[i, 0] - T.floor(A[i, j] * T.float32(7))\n"                  \
         "        for j in T.vectorized(" n "):\n"                                                 \
         "            Z[i, j] = T.max(I[i, j] // 3, 1000 // (T.bitwise_and(I[i, j], 7) + 1)) + "   \
         "T.Cast(\"int32\", A[i, j] * T.float32(100)) + T.shift_right(I[i, j], 2)\n"               \
         "        for k in range(4):\n"                                                            \
         "            for j in T.vectorized(" n "):\n"                                             \
         "                if k + j < 5:\n"                                                         \
         "                    Y[i, j] = T.if_then_else(I[k, j] < I[i, j] and j > 1, A[k, j], "     \
         "T.Cast(\"float32\", j)) + Y[i, j]\n"

static const struct row {
    const char *name, *program;
    const char *lowered;     /* text in the lowered program, for 512 bits; "!text": not in it */
    const char *instruction; /* the same of the machine code for Zen 4; NULL = any */
} rows[] = {
    {"past the caches",              STREAM("1"),                                "streaming_store\", 1", "vmovntps" },
    {"asked for by a vector",        STREAM_BELOW("", STREAM_WISH("1")),         "streaming_store\", 1", "vmovntps" },
    {"asked for by unrolled rows",   STREAM_BELOW(STREAM_WISH("1"), ""),         "streaming_store\", 1", "vmovntps" },
    {"forbidden by a vector",        STREAM_BELOW(STREAM_WISH("1"), STREAM_WISH("0")), "!hone.streaming", "!vmovntps" },
    {"not past the caches",          STREAM("0"),                                "!hone.streaming",   NULL        },
    {"read again, in caches",        STREAM("1") "    for i in range(512):\n        Y[i] = Y[i] * T.float32(2)\n",
                                                                                 "!hone.streaming",   NULL        },
    {"unaligned, in caches",         STREAM_CROOKED,                             "!hone.streaming",   NULL        },
    {"across panels",                PANELS,                                     "!Broadcast(16",     "vfmadd"    },
    {"largest of a row",             ROW_MAX("100", "float32", "2"),             "vector_reduce_max", "vmaxps"    },
    {"largest of a short row",       ROW_MAX("7", "float32", "4"),               "vector_reduce_max", NULL        },
    {"largest of a long row",        ROW_MAX("1000", "float64", "1"),            "vector_reduce_max", "vmaxpd"    },
    {"largest int of a row",         ROW_MAX("67", "int32", "3"),                "vector_reduce_max", "vpmaxsd"   },
    {"sums of a tile of rows",       TILE_SUMS("i * 4 + u", "4"),                "Ramp(0, 1, 16)",    "vfmadd"    },
    {"sums that are one",            TILE_SUMS("i * 4 + u // 2", "4"),           "!collector",        NULL        },
    {"sums of a large tile",         TILE_SUMS("i * 4 + u % 4", "9"),            "!collector",        NULL        },
    {"sums beside what they sum",    ROW_SUMS("64"),                             "vector_reduce_add", "vscalefps" },
    {"sums of odd rows",             ROW_SUMS("27"),                             "vector_reduce_add", NULL        },
    {"a part at a time",             FED_SUM("1000", "X[i, k] - Q[i]", "S[i] = T.float32(0)", "Z[i, k]"),  "!range(62)", "vscalefps"},
    {"where it is read twice",       FED_SUM("1000", "X[i, k]", "S[i] = T.float32(0)", "(Z[i, k] * Z[i, k] + X[i, k])"), "!range(62)", NULL},
    {"not where it is read from afar", FED_SUM("1000", "X[i, k]", "S[i] = T.float32(0)", "Z[i, 999 - k]"), "range(62)", NULL},
    {"not where one more is read",   FED_SUM("1000", "X[i, k]", "S[i] = T.float32(0)", "Z[i, k] * Z[i, 7]"), "range(62)", NULL},
    {"not where the sum is read",    FED_SUM("1000", "X[i, k] - S[i]", "Q[i] = T.float32(0)", "Z[i, k]"), "range(62)", NULL},
    {"not over what reads it",       FED_SUM("1000", "X[i, k]", "Q[i] = Z[i, 3]", "Z[i, k]"), "range(62)", NULL},
    {"not over what it reads",       FED_SUM("1000", "X[i, k]", "X[i, 0] = T.float32(0)", "Z[i, k]"), "range(62)", NULL},
    {"not over a change of it",      FED_SUM("1000", "X[i, k]", "Z[i, 0] = T.float32(0)", "Z[i, k]"), "range(62)", NULL},
    {"not of short rows",            FED_SUM("272", "X[i, k]", "S[i] = T.float32(0)", "Z[i, k]"), "range(17)", NULL},
    {"running sums",                 PREFIX,                                     "!vector_reduce",    NULL        },
    {"tile of 16",                   TRANSPOSE("16", "16", "float32"),            "T.Shuffle",         "vshufps"   },
    {"tile of 8",                    TRANSPOSE("8", "8", "float64"),              "T.Shuffle",         NULL        },
    {"tile of 4",                    TRANSPOSE("4", "4", "int8"),                 "T.Shuffle",         NULL        },
    {"tile of 6",                    TRANSPOSE("6", "6", "float32"),              "T.Shuffle",         NULL        },
    {"tile of 16 x 14",              TRANSPOSE("16", "14", "float32"),            "T.Shuffle",         "vshufps"   },
    {"tile of 5 x 8",                TRANSPOSE("5", "8", "float32"),              "T.Shuffle",         NULL        },
    {"tile of 13 x 4",               TRANSPOSE("13", "4", "int32"),               "T.Shuffle",         NULL        },
    {"squares side by side",         TRANSPOSE("7", "16", "float32"),             "turned = T.alloc_buffer((128,)", "vshufps"},
    {"four squares of words",        ACROSS("4", "9", "16", "float32"),           "turned = T.alloc_buffer((64,)", NULL},
    {"squares that are not full",    TRANSPOSE("7", "13", "int32"),               "turned = T.alloc_buffer((128,)", NULL},
    {"two squares of bytes",         ACROSS("6", "7", "16", "uint8"),              "turned = T.alloc_buffer((128,)", NULL},
    {"sums across 8 rows of doubles", ACROSS("7", "7", "8", "float64"),           "turned = T.alloc_buffer((64,)", NULL},
    {"sums of 5 are picked",         ACROSS("5", "5", "16", "float32"),           "!T.Shuffle",        "vpermt2ps" },
    {"not those of rows further on", ACROSS("5", "6", "16", "float32"),           "turned = T.alloc_buffer((128,)", NULL},
    {"a tile and a short one",       ACROSS("20", "20", "16", "float32"),         "turned = T.alloc_buffer((64,)", NULL},
    {"rather than one row",          ACROSS("17", "17", "16", "float32"),         "turned = T.alloc_buffer((128,)", NULL},
    {"more rows than a tile",        TRANSPOSE("49", "16", "float32"),            "T.Shuffle",         "vshufps"   },
    {"tiles of 15 rows and 13",      TRANSPOSE("43", "9", "int32"),               "T.Shuffle",         NULL        },
    {"many rows of bytes",           TRANSPOSE("64", "16", "int8"),               "T.Shuffle",         NULL        },
    {"rows of doubles, one over",    TRANSPOSE("17", "8", "float64"),             "T.Shuffle",         NULL        },
    {"many rows of 3",               TRANSPOSE("50", "3", "float32"),             "!T.Shuffle",        NULL        },
    {"tile of 3 is left alone",      TRANSPOSE("3", "3", "float32"),              "!T.Shuffle",        NULL        },
    {"tile of 2 x 8 is left alone",  TRANSPOSE("2", "8", "float32"),              "!T.Shuffle",        NULL        },
    {"bytes, unsigned by signed",    DOT("uint8", "int8", LANES_OUTSIDE),        "dot4",              "vpdpbusd"  },
    {"bytes, signed by signed",      DOT("int8", "int8", LANES_INSIDE),          "dot4",              "vpdpbusd"  },
    {"bytes, signed by unsigned",    DOT("int8", "uint8", LANES_INSIDE),         "dot4",              "vpdpbusd"  },
    {"bytes, unsigned by unsigned",  DOT("uint8", "uint8", LANES_OUTSIDE),       "dot4",              "vpdpbusd"  },
    {"signed bytes, rows",           DOT_ROWS("int8", "int8"),                   "lack",              "vpdpbusd"  },
    {"signed bytes, raised once",    DOT_ROWS("int8", "int8"),                   "raised",            "vpdpbusd"  },
    {"unsigned bytes, rows",         DOT_ROWS("uint8", "uint8"),                 "!lack",             "vpdpbusd"  },
    {"bytes, written out",           DOT_PAIRS("uint8", "int8"),                 "dot4",              "vpdpbusd"  },
    {"signed bytes, written out",    DOT_PAIRS("int8", "int8"),                  "dot4",              "vpdpbusd"  },
    {"pairs of int16",               DOT_TWO("int16", "int16"),                  "dot2",              "vpdpwssd"  },
    {"pairs of bytes, widened",      DOT_TWO("uint8", "int8"),                   "P = T.alloc_buffer((8, 16, 2), \"int16\")", "vpdpwssd"},
    {"pairs of rows, interleaved",   DOT_TWO("int8", "uint8"),                   "T.Shuffle",         "vpdpwssd"  },
    {"80 bytes of four rows",        PACK("80", "4", "int8"),                    "!turned",           NULL        },
    {"27 bytes of four rows",        PACK("27", "4", "int8"),                    "B_1[T.Ramp(at + 11, 1, 16)]", "!vpinsrb"},
    {"5 bytes of four rows",         PACK("5", "4", "uint8"),                    "!turned",           NULL        },
    {"three words of two rows",      PACK("3", "2", "int16"),                    "T.Shuffle",         NULL        },
    {"1000 numbers of two rows",     PACK("1001", "2", "float32"),               "T.min(",            NULL        },
    {"pairs of bfloat16",            DOT_BF16(""),                               "dot2(",             "vfmadd"    },
    {"the same, wished",             DOT_BF16(", annotations={\"pragma_bf16_dot\": 1}"), "dot2_bf16(", "vdpbf16ps" },
    {"prefetched",                   PREFETCH,                                   "prefetch",          "prefetcht0"},
    {"prefetched by a loop",         PREFETCH_WISHED("9"),                       " + 144]), 0, 3, 1)", "prefetcht0"},
    {"no number beside",             PREFETCH_WISHED("9"),                       "!address_of(A",     NULL        },
    {"not prefetched",               PREFETCH_WISHED("0"),                       "!tirx.prefetch",    NULL        },
    {"the last row alone",           PREFETCH_WISHED("63"),                      " + 1008]), 0, 3",  "prefetcht0"},
    {"nothing is that far",          PREFETCH_WISHED("64"),                      "!tirx.prefetch",        NULL        },
    {"outputs prefetched",           PREFETCH_OUTPUT("0"),                       " + 16]), 1, 3, 1)", "prefetchw" },
    {"outputs of the next",          PREFETCH_OUTPUT("1"),                       " + 32]), 1, 3, 1)", "prefetchw" },
    {"odd columns",                  ODD_COLUMNS("23"),                          "Ramp(16, 1, 7)",    "!vbroadcastss\t%xmm"},
    {"one column behind",            ODD_COLUMNS("17"),                          "!, 0, 1)",          "vfmadd231ss"},
    {"two columns behind",           ODD_COLUMNS("18"),                          "Ramp(16, 1, 2)",    "!vbroadcastss\t%xmm"},
    {"few columns",                  ODD_COLUMNS("5"),                           "Ramp(0, 1, 5)",     "vfmadd"    },
    {"operations on 3",              ODD_OPERATIONS("3"),                        "Ramp(0, 1, 3)",     NULL        },
    {"operations on 13",             ODD_OPERATIONS("13"),                       "Ramp(",             NULL        },
    {"operations on 22",             ODD_OPERATIONS("22"),                       "Ramp(",             NULL        },
    {"rows end within vectors",      DIGITS("49", "5", "float32"),                   "T.if_then_else(T.Ramp(", "!gather"  },
    {"short rows",                   DIGITS("17", "5", "int32"),                    "T.if_then_else(T.Ramp(", "!gather"  },
    {"rows of bytes",                DIGITS("31", "5", "uint8"),                    "T.if_then_else(T.Ramp(", NULL       },
    {"rows of doubles",              DIGITS("43", "5", "float64"),                  "T.if_then_else(T.Ramp(", NULL       },
    {"row by row",                   DIGITS("49", "0", "float32"),               "row in range(72)", "!gather"        },
    {"row by row, in bytes",         DIGITS("31", "0", "uint8"),                 "row in range(72)", NULL             },
    {"steps side by side",           STEPS("48"),                                "T.Ramp(",          "!120(%r"        },
    {"at the end of what there is",  STEPS("46"),                                "T.Ramp(",          "120(%r"         },
    {"pixels of 3 channels",         DIGITS("3", "5", "float32"),                     "T.Ramp(32, 1, 16) % ", NULL         },
    {"pixels of 7 channels",         DIGITS("7", "5", "int16"),                       "T.Ramp(96, 1, 16) % ", "!gather"    },
    {"quotients of what is not below 0", QUOTIENT("i * 5 + u"),                  "// 7",             "!sarq"     },
    {"quotients of what may be",     QUOTIENT("u * 5 - i"),                      "// 7",             NULL        },
    {"a sum alone is not fused",     DOT_ROW("1"),                                NULL,               "!vfmadd"    },
    {"sums beside each other are",   DOT_ROW("4"),                                NULL,               "vfmadd231ss"},
    {"four registers are not",       SQUARES("4"),                                NULL,               "!vfmadd"    },
    {"eight registers are",          SQUARES("8"),                                NULL,               "vfmadd231ps"},
    {"an arg-max goes around",       ARG_MAX,                                     "T.Select(",        "!cmov"      },
    {"one column of bytes",          DOT_COLUMNS("1", "range"),                  "dot4(\"int32\"",    "vpdpbusd"  },
    {"80 columns of bytes",          DOT_COLUMNS("80", "T.vectorized"),          "dot4(\"int32x16\"", "vpdpbusd"  },
    {"100 columns of bytes",         DOT_COLUMNS("100", "T.vectorized"),         "dot4(\"int32x50\"", "vpdpbusd"  },
    {"wider numbers are left alone", DOT("int16", "int8", LANES_INSIDE),         "!dot4",             NULL        },
};
/* clang-format on */

static void is_right_in_vectors(void **state) {
    const struct row *row = *state;
    HONE_ASSERT_OK(test_code(row->program, "znver4", row->lowered, row->instruction));
}

int main(void) {
    return HONE_RUN_ROWS("codegen/vector code", rows, is_right_in_vectors);
}
