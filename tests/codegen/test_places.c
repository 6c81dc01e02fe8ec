/* tests/codegen/test_places.c - places of vectors in memory: which instructions reach them, that
 * lanes which are off stay away from what could fail, and that the numbers are those of the
 * interpreter. */
#include "tests/support/code_text.h"
#include "tests/support/hone_test.h"

#define HEAD                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"

/* Y[i, j] of rows of n from X of rows of m, in vectors of `lanes`. */
#define ROWS(m, n, lanes, dtype, value)                                                            \
    HEAD "def main(X: T.Buffer((4, " m "), \"" dtype "\"), I: T.Buffer((4, " n                     \
         "), \"int32\"), Y: T.Buffer((4, " n "), \"" dtype "\")):\n"                               \
         "    for i, j0 in T.grid(4, " n " // " lanes "):\n"                                       \
         "        for j1 in T.vectorized(" lanes "):\n"                                            \
         "            with T.block(\"rows\"):\n"                                                   \
         "                vi = T.axis.spatial(4, i)\n"                                             \
         "                vj = T.axis.spatial(" n ", j0 * " lanes " + j1)\n"                       \
         "                Y[vi, vj] = " value "\n"

/* ROWS below a condition on lanes. */
#define ROWS_WHERE(condition, m, n, dtype, value)                                                  \
    HEAD "def main(X: T.Buffer((4, " m "), \"" dtype "\"), I: T.Buffer((4, " n                     \
         "), \"int32\"), Y: T.Buffer((4, " n "), \"" dtype "\")):\n"                               \
         "    for i in range(4):\n"                                                                \
         "        for j in T.vectorized(" n "):\n"                                                 \
         "            if " condition ":\n"                                                         \
         "                Y[i, j] = " value "\n"

/* Padding on both sides, read in steps of two: a lane is off at each edge. */
#define PADDED(dtype)                                                                              \
    ROWS("15", "8", "8", dtype,                                                                    \
         "T.if_then_else(1 <= vj * 2 and vj * 2 < 14, X[vi, vj * 2 - 1], T.Cast(\"" dtype          \
         "\", 3))")

/* Steps of an arg-max, eight beside each other: `better` may ask for what lies inside. */
#define ARG_MAX(better)                                                                            \
    HEAD "def main(X: T.Buffer((4, 64), \"float32\"), B: T.Buffer((4, 8), \"float32\"), "          \
         "I: T.Buffer((4, 8), \"int32\")):\n"                                                      \
         "    for i, k, u in T.grid(4, 8, 1):\n"                                                   \
         "        for j in T.vectorized(8):\n"                                                     \
         "            at: T.let[T.int32] = T.Select(" better ", I[i, j], k * 8 + j)\n"             \
         "            best: T.let[T.float32] = T.Select(B[i, j] > X[i, k * 8 + j], B[i, j], "      \
         "X[i, k * 8 + j])\n"                                                                      \
         "            I[i, j] = at\n"                                                              \
         "            B[i, j] = best\n"

/* Y = X, made wider. */
#define WIDENED(from, to)                                                                          \
    HEAD "def main(X: T.Buffer((4, 16), \"" from "\"), Y: T.Buffer((4, 16), \"" to "\")):\n"       \
         "    for i in range(4):\n"                                                                \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i, j] = T.Cast(\"" to "\", X[i, j])\n"

/* Y = X, turned. */
#define TURNED(dtype)                                                                              \
    HEAD "def main(X: T.Buffer((16, 16), \"" dtype "\"), Y: T.Buffer((16, 16), \"" dtype "\")):\n" \
         "    for i in T.unroll(16):\n"                                                            \
         "        for j in T.vectorized(16):\n"                                                    \
         "            Y[i, j] = X[j, i]\n"

/* clang-format off */
static const struct row {
    const char *name, *program;
    const char *cpu, *instruction; /* text in the machine code for it; "!text": not in it */
} rows[] = {
    {"each twice",                     ROWS("8", "16", "16", "float32", "X[vi, vj // 2]"),       "x86-64-v3", "!vmovss"     },
    {"each four times, bytes",         ROWS("8", "32", "32", "int8", "X[vi, vj // 4]"),          "x86-64-v3", "!vpinsrb"    },
    {"again and again",                ROWS("4", "16", "8", "float32", "X[vi, vj % 4]"),         "x86-64-v3", "!vmovss"     },
    {"pairs turned",                   ROWS("16", "16", "16", "float32", "X[vi, vj // 2 * 2 + 1 - vj % 2]"), "x86-64-v3", "!vmovss"},
    {"a run with a start",             ROWS("24", "16", "16", "float32", "X[vi, 3 + vj]"),       "x86-64-v3", "!vinsertps"  },
    {"backwards",                      ROWS("16", "16", "16", "float32", "X[vi, 15 - vj]"),      "x86-64-v3", "!vinsertps"  },
    {"far apart",                      ROWS("160", "16", "16", "float32", "X[vi, vj * 10]"),     "x86-64-v3", "!gather"     },
    {"every seventh",                  ROWS("112", "16", "16", "float32", "X[vi, vj * 7]"),      "x86-64-v3", "!vpermps"    },
    {"every seventh with AVX-512",     ROWS("112", "16", "16", "float32", "X[vi, vj * 7]"),      "znver4",    "vpermt2ps"   },
    {"every twelfth byte",             ROWS("768", "64", "64", "int8", "X[vi, vj * 12]"),        "znver4",    "vpermt2b"    },
    {"every eleventh is too far",      ROWS("176", "16", "16", "float32", "X[vi, vj * 11]"),     "znver4",    "!vpermt2ps"  },
    {"either, no masks with AVX-512",  ROWS("16", "16", "16", "bool", "Y[vi, vj] or X[vi, vj]"), "znver4",    "!{z}"        },
    {"either of bytes far apart",      ROWS("112", "16", "16", "bool", "Y[vi, vj] or X[vi, vj * 7]"), "znver4", "!vpextrb" },
    {"quotients of what is below 0",   ROWS("16", "16", "16", "int32", "(X[vi, vj] * -3 - 1) // 7 * 10 + (X[vi, vj] * -3 - 1) % 7"), "x86-64-v3", NULL},
    {"by data",                        ROWS("16", "16", "16", "float32", "X[vi, I[vi, vj]]"),    "x86-64-v3", NULL          },
    {"steps, off at the edges",        PADDED("float32"),                                        "x86-64-v3", "!vpextrq"    },
    {"the same of bytes",              PADDED("int8"),                                           "x86-64-v3", "!vpextrq"    },
    {"the same with AVX-512",          PADDED("float32"),                                        "znver4",    "!vgatherqps" },
    {"known lanes are stored plainly", ROWS_WHERE("1 <= j and j < 6", "8", "8", "float32", "X[i, j]"), "x86-64-v3", "!vmaskmovps\t%"},
    {"masked with AVX-512",            ROWS_WHERE("1 <= j and j < 6", "8", "8", "float32", "X[i, j]"), "znver4", "{%k1}"},
    {"known lanes, backwards",         ROWS_WHERE("1 <= j and j < 6", "8", "8", "float32", "X[i, 7 - j]"), "x86-64-v3", "!vpextrq"},
    {"known lanes of half floats",     ROWS_WHERE("j != 3", "8", "8", "float16", "X[i, j]"),     "x86-64-v3", "!vpextrw\t$3"},
    {"unknown lanes",                  ROWS_WHERE("I[i, j] > 2", "8", "8", "float32", "X[i, j]"), "x86-64-v3", "vmaskmovps" },
    {"odd bytes with AVX-512",         ROWS("15", "15", "15", "int8", "X[vi, vj]"),              "znver4", "{%k1}"          },
    {"odd doubles with AVX-512",       ROWS("7", "7", "7", "float64", "X[vi, vj]"),              "znver4", "{%k1}"          },
    {"bfloat16 is shifted",            WIDENED("bfloat16", "float32"),                           "x86-64-v3", "!vpor"       },
    {"float16 is compared as float32", ROWS("32", "32", "32", "float16", "T.max(X[vi, vj], T.float16(0))"), "znver4", "!vucomiss"},
    {"so are two of them",             ROWS("32", "32", "32", "float16", "T.Select(X[vi, vj] > X[vi, 31 - vj], X[vi, vj], Y[vi, vj])"), "znver4", "!vucomiss"},
    {"and what is no number",          ROWS("32", "32", "32", "float16", "T.Select(T.isnan(X[vi, vj]), T.float16(1), X[vi, vj])"), "x86-64-v4", "!vucomiss"},
    {"float16 is turned as it is",     TURNED("float16"),                                        "znver4", "!vcvtph2ps"     },
    {"arg-max, no masks",              ARG_MAX("B[i, j] > X[i, k * 8 + j] or B[i, j] == X[i, k * 8 + j] and I[i, j] < k * 8 + j"), "x86-64-v3", "!vmaskmov"},
    {"arg-max, no masks with AVX-512", ARG_MAX("B[i, j] > X[i, k * 8 + j] or B[i, j] == X[i, k * 8 + j] and I[i, j] < k * 8 + j"), "znver4", "!{z}"},
    {"other places inside have none",  ARG_MAX("B[i, j] > T.float32(3) or X[i, k * 8 + j] > T.float32(2) and I[3 - i, j] < 7"), "x86-64-v3", "!vmaskmov"},
    {"odd vectors are stored plainly", ROWS("7", "7", "7", "float32", "X[vi, vj]"),              "x86-64-v3", "!vmaskmovps\t%"},
};

/* What must not be computed in lanes that are off: divisions by 0, loads out of bounds. */
static const struct guard {
    const char *name, *program;
} guards[] = {
    {"division",           ROWS("16", "16", "8", "int32", "T.if_then_else(I[vi, vj] != 0, 100 // I[vi, vj], 7)")},
    {"rest",               ROWS("16", "16", "8", "int32", "T.if_then_else(I[vi, vj] > 0, T.truncmod(100, I[vi, vj]), 7)")},
    {"unsigned division",  ROWS("16", "16", "8", "uint32", "T.if_then_else(X[vi, vj] > T.uint32(0), T.uint32(100) // X[vi, vj], T.uint32(7))")},
    {"other branch",       ROWS("16", "16", "8", "int32", "T.if_then_else(I[vi, vj] == 0, 7, 100 % I[vi, vj])")},
    {"nested",             ROWS("16", "16", "8", "int32", "T.if_then_else(vj < 11, T.if_then_else(I[vi, vj] != 0, vj // I[vi, vj], 1), 2)")},
    {"by a number",        ROWS("16", "16", "8", "int32", "T.if_then_else(I[vi, vj] > 9, vj // (I[0, 0] // 9), 5)")},
    {"by lane numbers",    ROWS("16", "16", "16", "int32", "T.if_then_else(vj > 0, 100 // vj, X[vi, vj])")},
    {"by lane numbers, by data", ROWS("16", "16", "16", "int32", "T.if_then_else(I[vi, vj] > vj * 0 and vj > 0, 100 // vj, X[vi, vj])")},
    {"by lane numbers, and the rest", ROWS("16", "16", "16", "int32", "T.if_then_else(I[vi, vj] != 0 and vj != 0, T.truncmod(100 + X[vi, vj], vj), X[vi, vj])")},
    {"below a condition",  ROWS_WHERE("I[i, j] > 0", "8", "8", "int32", "100 // I[i, j] + X[i, j]")},
    {"asked of a quotient", ROWS("16", "16", "8", "int32", "T.if_then_else(I[vi, vj] != 0, T.Select(X[vi, vj] > 3 and 100 // I[vi, vj] > 9, X[vi, vj], 1), 2)")},
    {"or where data says", ROWS("16", "16", "16", "int32", "T.Cast(\"int32\", I[vi, vj] < 0 or I[vi, vj] > 3 or X[vi, I[vi, vj]] > 3)")},
    {"behind the end",     ROWS("13", "16", "16", "int32", "T.if_then_else(vi * 13 + vj < 52, X[0, 0] + X[vi, T.min(vj, 12)], 1)")},
};
/* clang-format on */

static void is_reached(void **state) {
    const struct row *row = *state;
    HONE_ASSERT_OK(test_code(row->program, row->cpu, NULL, row->instruction));
}

static void is_guarded(void **state) {
    const struct guard *guard = *state;
    HONE_ASSERT_OK(test_code(guard->program, "x86-64-v3", NULL, NULL));
}

int main(void) {
    return HONE_RUN_ROWS("codegen/places", rows, is_reached) +
           HONE_RUN_ROWS("codegen/lanes that are off", guards, is_guarded);
}
