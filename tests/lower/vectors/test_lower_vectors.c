/* tests/lower/vectors/test_lower_vectors.c - vectors as they are behind a pass. carry: those whose
 * indices are digits of a number are made twice, for where no digit carries, and as they were.
 * rows: those over several rows go row by row instead where rows divide them. reduce: sums are
 * collected where somebody adds to them and nobody else stores them. */
#include "tests/lower/pass_rows.h"
#include "tests/support/hone_test.h"

/* clang-format off */
static const struct row carry_rows[] = {
    {"a remainder goes on, a quotient stands still",
     LONG_HEAD "    for i in range(125):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) % 49] + A[(i * 16 + j) // 49]\n",
     "        if i * 16 % 49 < 34:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = A[i * 16 // 49] + A[i * 16 % 49 + j]\n"
     "        else:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = T.Select(i * 16 % 49 + j < 49, A[i * 16 // 49], "
     "A[i * 16 // 49 + 1]) + T.if_then_else(i * 16 % 49 + j < 49, A[i * 16 % 49 + j], "
     "A[i * 16 % 49 + j - 49])\n"},
    {"rows of rows end where a row does",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) // 205 * 41 + (i * 16 + j) % 41]\n",
     "        if i * 16 % 41 < 26:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = A[i * 16 // 205 * 41 + (i * 16 % 41 + j)]\n"
     "        else:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = T.if_then_else(i * 16 % 41 + j < 41, "
     "A[i * 16 // 205 * 41 + (i * 16 % 41 + j)], "
     "A[(i * 16 + 41) // 205 * 41 + (i * 16 % 41 + j - 41)])\n"},
    {"from a number, by several, behind one that nobody knows",
     LONG_HEAD "    for j in T.vectorized(4, 12):\n"
               "        Y[j] = A[(n + j * 3) % 300]\n",
     "    if (n + 12) % 300 < 279:\n"
     "        for j in T.vectorized(4, 12):\n"
     "            Y[j] = A[(n + 12) % 300 + j * 3 - 12]\n"},
    {"a digit of a digit",
     LONG_HEAD "    for i in range(499):\n"
               "        for j in T.vectorized(4):\n"
               "            Y[i * 4 + j] = A[(i * 4 + j) % 100 // 9]\n",
     "        if i % 25 * 4 % 9 < 6:\n"
     "            for j in T.vectorized(4):\n"
     "                Y[i * 4 + j] = A[i % 25 * 4 // 9]\n"},
    {"vectors that are longer are cut",
     LONG_HEAD "    for i in range(50):\n"
               "        for j in T.vectorized(32):\n"
               "            Y[i * 32 + j] = A[(i * 32 + j) % 49]\n",
     "            if (i * 32 + j * 8) % 49 < 42:\n"},
    {"short rows are always in two parts",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(8):\n"
               "            Y[i * 8 + j] = A[(i * 8 + j) % 15]\n",
     "    for i in range(100):\n"
     "        for j in T.vectorized(8):\n"
     "            Y[i * 8 + j] = T.if_then_else(i * 8 % 15 + j < 15, A[i * 8 % 15 + j], "
     "A[i * 8 % 15 + j - 15])\n"},
    {"shorter ones are as they were",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(8):\n"
               "            Y[i * 8 + j] = A[(n + i * 8 + j) % 7]\n",
     "    for i in range(100):\n"
     "        for j in T.vectorized(8):\n"
     "            Y[i * 8 + j] = A[(n + i * 8 + j) % 7]\n"},
    {"rows that end in different places are as they were",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) % 49] + A[(i * 16 + j) % 50]\n",
     "        else:\n"
     "            for j in T.vectorized(16):\n"
     "                Y[i * 16 + j] = A[(i * 16 + j) % 49] + A[(i * 16 + j) % 50]\n"},
    {"what is known inside alone is not asked outside",
     LONG_HEAD "    for j in T.vectorized(16):\n"
               "        Y[j] = A[(j + A[0]) % 100]\n",
     "    for j in T.vectorized(16):\n"
     "        Y[j] = A[(j + A[0]) % 100]\n"},
};
/* clang-format on */

#define SHAPED(loop) LONG_HEAD "    for u in T.unroll(2):\n" loop

/* clang-format off */
static const struct row neighbour_rows[] = {
    {"what a schedule left over",
     SHAPED("        for j in range(30):\n"
            "            if u * 30 + j < n:\n"
            "                Y[u * 30 + j] = Y[u * 30 + j] + A[j + 1] * A[u]\n"),
     "        for j in T.vectorized(30):\n"},
    {"where nothing is shaped it stays",
     LONG_HEAD "    for j in range(30):\n"
               "        Y[j] = A[j]\n",
     "    for j in range(30):\n"},
    {"what reads what others write",
     SHAPED("        for j in range(30):\n"
            "            Y[j + 1] = Y[j] + A[j]\n"),
     "        for j in range(30):\n"},
    {"a sum",
     SHAPED("        for j in range(30):\n"
            "            Y[u] = Y[u] + A[j]\n"),
     "        for j in range(30):\n"},
    {"neighbours far apart",
     SHAPED("        for j in range(30):\n"
            "            Y[j] = A[j * 2]\n"),
     "        for j in range(30):\n"},
    {"places that are looked up",
     SHAPED("        for j in range(30):\n"
            "            Y[j] = A[A[j]]\n"),
     "        for j in range(30):\n"},
    {"a place that the loop changes",
     SHAPED("        for j in range(30):\n"
            "            Y[Y[0] + j] = A[j]\n"),
     "        for j in range(30):\n"},
    {"a few",
     SHAPED("        for j in range(7):\n"
            "            Y[j] = A[j]\n"),
     "        for j in range(7):\n"},
};
/* clang-format on */

/* clang-format off */
static const struct row period_rows[] = {
    {"channels of pixels",
     LONG_HEAD "    for i in T.parallel(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) // 6] + A[(i * 16 + j) % 3]\n",
     "    for i in T.parallel(33):\n"
     "        for step in T.unroll(3):\n"
     "            for j in T.vectorized(16):\n"
     "                Y[(i * 3 + step) * 16 + j] = A[(j + step * 16) // 6 + i * 8] + "
     "A[(j + step * 16) % 3]\n"
     "    for i in T.unroll(99, 100):\n"
     "        for j in T.vectorized(16):\n"
     "            Y[i * 16 + j] = A[(i * 16 + j) // 6] + A[(i * 16 + j) % 3]\n"},
    {"of which some are left over",
     LONG_HEAD "    for i in T.parallel(100):\n"
               "        for j in T.vectorized(16):\n"
               "            if i * 16 + j < 1598:\n"
               "                Y[i * 16 + j] = A[(i * 16 + j) % 5]\n",
     "    for i in T.parallel(19):\n"
     "        for step in T.unroll(5):\n"
     "            for j in T.vectorized(16):\n"
     "                Y[(i * 5 + step) * 16 + j] = A[(j + step * 16) % 5]\n"
     "    for i in T.unroll(95, 100):\n"
     "        if i < 99:\n"},
    {"those that are the same in all vectors stay",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) % 4]\n",
     "    for i in range(100):\n"
     "        for j in T.vectorized(16):\n"},
    {"from where nobody knows",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j + n) % 3]\n",
     "    for i in range(100):\n"
     "        for j in T.vectorized(16):\n"},
};
/* clang-format on */

/* clang-format off */
static const struct row fused_rows[] = {
    {"nothing to do",
     LONG_HEAD "    for i in range(8):\n"
               "        for j in T.vectorized(8):\n"
               "            if i * 8 + j < n:\n"
               "                pass\n",
     "    for i in range(8):\n"},
    {"of which the last vector is a part",
     LONG_HEAD
     "    for i in T.parallel(116):\n"
     "        for j in T.vectorized(16):\n"
     "            if i * 16 + j < 1850:\n"
     "                Y[i * 16 + j] = T.Select((i * 16 + j) % 37 < 30, A[(i * 16 + j) // 37], n)\n",
     "    for row in T.parallel(50):\n"
     "        for j in T.vectorized(37):\n"
     "            Y[row * 37 + j] = T.Select(j < 30, A[row], n)\n"},
    {"of pixels of three channels, in three loops",
     LONG_HEAD
     "    for i in range(5):\n"
     "        for k in range(8):\n"
     "            for j in T.vectorized(48):\n"
     "                if i * 8 + k < 34:\n"
     "                    Y[i * 384 + k * 48 + j] = T.Select(2 <= (i * 128 + k * 16 + j // 3) "
     "% 34, "
     "A[(i * 384 + k * 48 + j) % 102], n)\n",
     "    for row in range(16):\n"
     "        for j in T.vectorized(102):\n"
     "            Y[row * 102 + j] = T.Select(j >= 6, A[j], n)\n"},
    {"without a loop around",
     LONG_HEAD "    for j in T.vectorized(185):\n"
               "        Y[j] = A[j % 37] * A[j // 37]\n",
     "    for row in range(5):\n"
     "        for j in T.vectorized(37):\n"
     "            Y[row * 37 + j] = A[row] * A[j]\n"},
    {"long ones with digits that come again are cut",
     LONG_HEAD "    for i in range(62):\n"
               "        for j in T.vectorized(28):\n"
               "            Y[i * 28 + j] = A[(i * 28 + j) // 217] + A[(i * 28 + j) % 7]\n",
     "    for row in range(8):\n"
     "        for j in range(27):\n"
     "            for j_1 in T.vectorized(8):\n"},
    {"that hold whole vectors are no digits of them",
     LONG_HEAD "    for i in range(30):\n"
               "        for j in T.vectorized(64):\n"
               "            Y[i * 64 + j] = A[(i * 64 + j) % 32]\n",
     "        for j in T.vectorized(64):\n"},
    {"in which others are written",
     LONG_HEAD "    for i in range(37):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = Y[(i * 16 + j) // 37 * 37]\n",
     "        for j in T.vectorized(16):\n"},
    {"that end in the middle of one",
     LONG_HEAD "    for i in range(36):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) % 37]\n",
     "        for j in T.vectorized(16):\n"},
    {"after which digits in a row are others",
     LONG_HEAD "    for i in range(37):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = A[(i * 16 + j) % 37 + (i * 16 + j) % 9]\n",
     "        for j in T.vectorized(16):\n"},
    {"whose elements cost more than digits",
     LONG_HEAD "    F = T.alloc_buffer((640,))\n"
               "    for i in range(40):\n"
               "        for j in T.vectorized(16):\n"
               "            F[i * 16 + j] = T.exp(T.Cast(\"float32\", A[(i * 16 + j) % 10]))\n"
               "    Y[0] = T.Cast(\"int32\", F[n])\n",
     "        for j in T.vectorized(16):\n"},
};
/* clang-format on */

/* clang-format off */
static const struct row vectorize_rows[] = {
    {"what lanes may take is loaded once, and checked",
     LONG_HEAD "    for i in range(500):\n"
               "        for j in T.vectorized(8):\n"
               "            Y[j] = T.if_then_else(j < n, 0, A[i])\n",
     "T.Broadcast(A[T.checked_index(i, 400)], 8))"},
    {"what is there where some lane takes it is loaded for those alone",
     LONG_HEAD "    for i in range(7, 500):\n"
               "        for j in T.vectorized(8):\n"
               "            Y[j] = T.if_then_else(j < i - 399, 0, A[i - 7])\n",
     "A[T.Broadcast(i - 7, 8)]"},
    {"a few vectors are unrolled",
     LONG_HEAD "    for j in T.vectorized(72):\n"
               "        Y[j] = A[j]\n",
     "    for j in T.unroll(9):\n"},
    {"lanes that lie near are one vector",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(8):\n"
               "            Y[i * 8 + j] = A[(i * 8 + j) // 4] + A[(i * 8 + j) % 4]\n",
     "        Y[i * 8:i * 8 + 8] = "},
    {"lanes that do not are as many as go straight on",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(8):\n"
               "            Y[i * 8 + j] = A[(i * 8 + j) // 4 % 2 * 100 + (i * 8 + j) % 4]\n",
     "            Y[i * 8 + j * 4:i * 8 + j * 4 + 4] = A[T.Ramp(j * 100, 1, 4)]\n"},
    {"comparisons that are the same in all lanes",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = T.if_then_else((i * 16 + j) % 128 < 64, "
               "T.if_then_else((i * 16 + j) % 128 < 32, A[i], A[j]), A[i + 1])\n",
     "= T.if_then_else(i % 8 * 16 - 64 < 0, A[T.Ramp(0, 1, 16)], T.Broadcast(A[i + 1], 16))"},
    {"counted down",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(8):\n"
               "            if 40 <= i % 10 * 8 + j:\n"
               "                Y[i * 8 + j] = A[j]\n",
     "        if 39 - i % 10 * 8 < 0:\n"},
    {"but not one that is not",
     LONG_HEAD "    for i in range(100):\n"
               "        for j in T.vectorized(16):\n"
               "            Y[i * 16 + j] = T.if_then_else(i % 10 * 8 + j < 64, A[i], A[j])\n",
     "= T.if_then_else(T.Broadcast(i % 10 * 8, 16) + T.Ramp(0, 1, 16) < T.Broadcast(64, 16), "},
};
/* clang-format on */

#define WISH "annotations={\"pragma_vector_reduce\": 1}"

/* Nothing is collected where the total would be stored though there is nothing to add. */
static const struct row reduce_rows[] = {
    {"through loops that run",
     LONG_HEAD "    for k in T.serial(4, " WISH "):\n"
               "        for i, j in T.grid(2, 16):\n"
               "            Y[5] = Y[5] + A[j]\n",     "T.vector_reduce_add("                         },
    {"not through one that may not",
     LONG_HEAD "    for k in T.serial(4, " WISH "):\n"
               "        for i, j in T.grid(n, 16):\n"
               "            Y[5] = Y[5] + A[j]\n",     "        Y[5] = A[j] + Y[5]\n"                 },
    {"what is left of a length that comes later",
     LONG_HEAD "    for k in T.serial(n, " WISH "):\n"
               "        Y[5] = Y[5] + A[k]\n",         "if T.Add(0, n // 8 * 8) + lane < T.Add(0, n):"},
    {"not where others that run at once store the same",
     LONG_HEAD "    for p in T.parallel(4):\n"
               "        for k in T.serial(n, " WISH "):\n"
               "            for j in range(16):\n"
               "                Y[5] = Y[5] + A[j]\n", "            Y[5] = A[j] + Y[5]\n"             },
};

static void asks_whether_digits_carry(void **state) {
    hone_check_behind_pass(*state, "carry");
}

static void makes_vectors_of_neighbours(void **state) {
    hone_check_behind_pass(*state, "neighbours");
}

static void takes_vectors_together(void **state) {
    hone_check_behind_pass(*state, "period");
}

static void goes_over_rows(void **state) {
    hone_check_behind_pass(*state, "rows");
}

static void compares_once(void **state) {
    hone_check_behind_pass(*state, "vectorize");
}

static void collects_where_it_may(void **state) {
    hone_check_behind_pass(*state, "reduce");
}

int main(void) {
    return HONE_RUN_ROWS("lower/period", period_rows, takes_vectors_together) +
           HONE_RUN_ROWS("lower/rows", fused_rows, goes_over_rows) +
           HONE_RUN_ROWS("lower/vectorize", vectorize_rows, compares_once) +
           HONE_RUN_ROWS("lower/carry", carry_rows, asks_whether_digits_carry) +
           HONE_RUN_ROWS("lower/neighbours", neighbour_rows, makes_vectors_of_neighbours) +
           HONE_RUN_ROWS("lower/reduce", reduce_rows, collects_where_it_may);
}
