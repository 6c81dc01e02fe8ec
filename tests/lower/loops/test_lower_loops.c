/* tests/lower/loops/test_lower_loops.c - loops as they are behind a pass. version: tiles for where
 * all conditions hold, and others. hoist_if: conditions that no iteration changes stand around
 * loops, and statements side by side share one; what may not be asked earlier stays where it is.
 * guard, clip: what terms of sums ask is asked around them, and ends loops. unroll: how far the
 * program may grow. */
#include "tests/lower/pass_rows.h"
#include "tests/support/hone_test.h"

/* clang-format off */
static const struct row hoist_rows[] = {
    {"out of all loops, and shared",
     HEAD "    for y in T.parallel(8):\n"
          "        for j in T.vectorized(8):\n"
          "            if y * 3 < n:\n"
          "                Y[y * 8 + j] = 0\n"
          "        for k, i in T.grid(9, 2):\n"
          "            for j in T.vectorized(4):\n"
          "                if y * 3 < n:\n"
          "                    Y[y * 8 + i * 4 + j] = Y[y * 8 + i * 4 + j] + A[k]\n",
     "        if y * 3 < n:\n"
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
          "            Y[y] = L[2]\n",
     "        if y < n:\n"
     "            L = T.alloc_buffer((4,), \"int32\")\n"
     "            for j in range(4):\n"
     "                L[j] = A[y * 4 + j]\n"
     "            for j in range(4):\n"
     "                Y[y * 4 + j] = L[3 - j]\n"
     "        else:\n"
     "            L = T.alloc_buffer((4,), \"int32\")\n"
     "            L[2] = A[y]\n"
     "            Y[y] = L[2]\n"},
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
          "                        Y[(y // 2 * 2 + i) * 7 + y % 2 * 4 + j] = L[i, j]\n",
     "            if y % 2 * 4 - 4 < 0:\n"
     "                L = T.alloc_buffer((2, 4), \"int32\")\n"
     "                if T.bool(True):\n"
     "                    for i in T.unroll(2):\n"
     "                        for j in T.vectorized(4):\n"
     "                            if T.bool(True):\n"
     "                                L[i, j] = A[i + j]\n"
     "                    for i in T.unroll(2):\n"},
    {"what varies stays",
     HEAD "    for y in range(8):\n"
          "        for j in range(8):\n"
          "            if y < n and j < n and n < 50:\n"
          "                Y[y * 8 + j] = 1\n",
     "    if n < 50:\n"
     "        for y in range(8):\n"
     "            if y < n:\n"
     "                for j in range(8):\n"
     "                    if j < n:\n"
     "                        Y[y * 8 + j] = 1\n"},
    {"only what all ask",
     HEAD "    for j in range(64):\n"
          "        if n < 5 and j < n:\n"
          "            Y[j] = 1\n"
          "        if n < 5:\n"
          "            Y[j] = Y[j] + 1\n",
     "    if n < 5:\n"
     "        for j in range(64):\n"
     "            if j < n:\n"
     "                Y[j] = 1\n"
     "            Y[j] = Y[j] + 1\n"},
    {"not where others do not ask",
     HEAD "    for j in range(64):\n"
          "        if n < 5:\n"
          "            Y[j] = 1\n"
          "        A[j] = 1\n",
     "    for j in range(64):\n"
     "        if n < 5:\n"},
    {"with a way out, choices stay",
     HEAD "    for j in range(64):\n"
          "        if n < 5:\n"
          "            Y[j] = 1\n"
          "        else:\n"
          "            Y[j] = 2\n",
     "    for j in range(64):\n"
     "        if n < 5:\n"},
    {"memory changes",
     HEAD "    for j in range(64):\n"
          "        if A[0] < 5:\n"
          "            A[j] = 7\n"
          "    for j in range(63):\n"
          "        if A[0] < 5:\n"
          "            A[j] = 6\n",
     "    for j in range(63):\n"
     "        if A[0] < 5:\n"},
    {"what may divide by zero is asked where it was",
     HEAD "    for j in range(64):\n"
          "        if j < n and 6 // n < 3:\n"
          "            Y[j] = 7\n",
     "    for j in range(64):\n"
     "        if j < n and 6 // n < 3:\n"},
    {"the iterations of a parallel loop stay",
     HEAD "    for j in T.parallel(64):\n"
          "        if n < 3:\n"
          "            Y[j] = 7\n",
     "    for j in T.parallel(64):\n"
     "        if n < 3:\n"},
};
/* clang-format on */

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
     "    L[0] = 0\n"                    },
    {"in a parallel loop all but the last iteration are the middle",
     HEAD "    for j in T.parallel(8):\n"
          "        for i in T.vectorized(8):\n"
          "            if j * 8 + i < 62:\n"
          "                Y[j * 8 + i] = A[i]\n",      "        if j < 7:\n"
     "            for i in T.vectorized(8):\n"
     "                Y[j * 8 + i] = A[i]\n"
     "        else:\n"
     "            for i in T.vectorized(6):\n"},
    {"and all but the first",
     HEAD "    for j in T.parallel(8):\n"
          "        for i in T.vectorized(8):\n"
          "            if 2 <= j * 8 + i:\n"
          "                Y[j * 8 + i] = A[i]\n",      "        if j >= 1:\n"
     "            for i in T.vectorized(8):\n"
     "                Y[j * 8 + i] = A[i]\n"
     "        else:\n"
     "            for i in T.vectorized(8):\n"
     "                if i >= 2:\n"           },
};

/* clang-format off */
static const struct row version_rows[] = {
    {"short tiles stay unrolled at the edge",
     HEAD "    for i in range((n + 5) // 6):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(6):\n"
          "                if i * 6 + t < n:\n"
          "                    Y[i * 6 + t] = Y[i * 6] + A[k]\n",
     "        else:\n"
     "            for k in range(9):\n"
     "                for t in T.unroll(6):\n"
     "                    if i * 6 + t < n:\n"},
    {"sums of the last rows go in pieces that are there as wholes",
     HEAD "    for i in range((n + 5) // 6):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(6):\n"
          "                if i * 6 + t < n:\n"
          "                    Y[i * 6 + t] = Y[i * 6 + t] + A[k]\n",
     "            for piece in range(2):\n"
     "                if i * 6 + (piece * 4 + 1) < n"},
    {"the last of the tiles of a fused loop has its number and ends with its work",
     HEAD "    for f in T.parallel(27):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(6):\n"
          "                if f % 9 * 6 + t < 50:\n"
          "                    Y[f % 9 * 6 + t] = Y[f % 9 * 6 + t] + A[k]\n",
     "        else:\n"
     "            for k in range(9):\n"
     "                for t in T.unroll(2):\n"
     "                    if T.Mul(8, 6) + t < 50:\n"
     "                        Y[T.Mul(8, 6) + t] = Y[T.Mul(8, 6) + t] + A[k]\n"},
    {"long ones do not",
     HEAD "    for i in range((n + 33) // 34):\n"
          "        for k in range(9):\n"
          "            for t in T.unroll(34):\n"
          "                if i * 34 + t < n:\n"
          "                    Y[i * 34 + t] = Y[i * 34] + A[k]\n",
     "        else:\n"
     "            for k, t in T.grid(9, 34):\n"
     "                if i * 34 + t < n:\n"},
};
/* clang-format on */

static const struct row cleanup_rows[] = {
    {"a loop of less than nothing, behind a condition that holds for no such iteration",
     LONG_HEAD "    for i in T.unroll(4):\n"
               "        if n * 4 + i < 2:\n"
               "            for k in range(2 - i):\n"
               "                Y[i * 8 + k] = A[k]\n", "        Y[8] = A[0]\n"          },
    {"what a loop of one iteration is left by stays in it",
     LONG_HEAD "    for i in range(4):\n"
               "        for k in range(1):\n"
               "            if A[i] > 2:\n"
               "                break\n"
               "            Y[i] = A[i]\n",             "    for i, k in T.grid(4, 1):\n"},
};

static const struct row unroll_rows[] = {
    {"marked loops before others leave room for them",
     LONG_HEAD "    for i in T.unroll(500):\n"
               "        Y[i] = A[i // 2]\n"
               "    for i in T.unroll(500):\n"
               "        Y[i] = Y[i] + A[i // 3]\n"
               "    for k in range(9):\n"
               "        for i in T.unroll(500):\n"
               "            Y[i] = Y[i] + A[k]\n",               "        Y[499] = A[k] + Y[499]\n"},
    {"but not for all",
     LONG_HEAD "    for k in T.unroll(9):\n"
               "        for i in T.unroll(500):\n"
               "            Y[i] = Y[i] + A[k]\n",               "    for k in T.unroll(9):\n"     },
    {"loops that a pragma allows have less",
     LONG_HEAD "    for k in T.serial(2, annotations={\"pragma_auto_unroll_max_step\": 400}):\n"
               "        for i in range(400):\n"
               "            Y[i // 2] = Y[i // 2] + A[k]\n"
               "        for i in range(400):\n"
               "            Y[i // 2] = Y[i // 2] + A[k + 2]\n", "        for i in range(400):\n"  },
};

/* Sums of four steps; they begin with FIRST, and a step adds TERM. */
#define GUARDED(FIRST, TERM)                                                                       \
    HEAD "    S = T.alloc_buffer((8,), \"int32\")\n"                                               \
         "    for i in range(4):\n"                                                                \
         "        for j in T.vectorized(8):\n"                                                     \
         "            S[j] = " FIRST "\n"                                                          \
         "        for k, l in T.grid(2, 2):\n"                                                     \
         "            for j in T.vectorized(8):\n"                                                 \
         "                S[j] = S[j] + " TERM "\n"                                                \
         "        for j in T.vectorized(8):\n"                                                     \
         "            Y[i * 8 + j] = S[j]\n"

/* clang-format off */
static const struct row guard_rows[] = {
    {"what a term asks of outer loops is asked around its step",
     GUARDED("0", "T.if_then_else(i + k < n, A[k * 8 + l + j], 0)"),
     "            for j in T.vectorized(8):\n"
     "                if i + k < n:\n"
     "                    S[j] = S[j] + A[k * 8 + l + j]\n"},
    {"and what ends the innermost loop",
     GUARDED("0", "T.if_then_else(i + l * 2 < n, A[k * 8 + l + j], 0)"),
     "                if i + l * 2 < n:\n"},
    {"what would be asked in the middle of a sum stays",
     GUARDED("0", "T.if_then_else((i + l) % 3 < n, A[k * 8 + l + j], 0)"),
     "                S[j] = T.if_then_else((i + l) % 3 < n"},
    {"so do conditions of lanes", GUARDED("0", "T.if_then_else(i + j < n, A[k * 8 + l + j], 0)"),
     "                S[j] = T.if_then_else(i + j < n"},
    {"terms that are something where it does not hold",
     GUARDED("0", "T.if_then_else(i + k < n, A[k * 8 + l + j], 1)"),
     "                S[j] = T.if_then_else(i + k < n"},
    {"and sums that begin with what nobody knows",
     GUARDED("A[j]", "T.if_then_else(i + k < n, A[k * 8 + l + j], 0)"),
     "                S[j] = T.if_then_else(i + k < n"},
};
/* clang-format on */

static const struct row clip_rows[] = {
    {"a loop ends where its condition does not hold any more, in steps of two",
     GUARDED("0", "T.if_then_else(i + k * 2 < 4, A[k * 8 + l + j], 0)"),
     "        for k, l in T.grid((1 - i) // 2 + 2, 2):\n"},
};

static void asks_around_steps(void **state) {
    hone_check_behind_pass(*state, "guard");
}

static void ends_loops_early(void **state) {
    hone_check_behind_pass(*state, "clip");
}

static void asks_where_it_may(void **state) {
    hone_check_behind_pass(*state, "hoist_if");
}

static void leaves_edges_alone(void **state) {
    hone_check_behind_pass(*state, "partition");
}

static void keeps_edges_short(void **state) {
    hone_check_behind_pass(*state, "version");
}

static void leaves_nothing_empty(void **state) {
    hone_check_behind_pass(*state, "cleanup");
}

static void grows_so_far(void **state) {
    hone_check_behind_pass(*state, "unroll");
}

int main(void) {
    return HONE_RUN_ROWS("lower/hoist_if", hoist_rows, asks_where_it_may) +
           HONE_RUN_ROWS("lower/partition", partition_rows, leaves_edges_alone) +
           HONE_RUN_ROWS("lower/version", version_rows, keeps_edges_short) +
           HONE_RUN_ROWS("lower/guard", guard_rows, asks_around_steps) +
           HONE_RUN_ROWS("lower/clip", clip_rows, ends_loops_early) +
           HONE_RUN_ROWS("lower/unroll", unroll_rows, grows_so_far) +
           HONE_RUN_ROWS("lower/cleanup", cleanup_rows, leaves_nothing_empty);
}
