/* tests/ir/test_program_agree.c - what tests take for the same result: rounding may make another
 * one of a small sum of large terms, and whatever it is used for, by the sizes and the types of the
 * terms; a missing or a wrong term is never rounding, and an element is not judged by others. */
#include "tests/support/hone_test.h"

#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { SEEDS = 20 };

#define FUNC(params) "@T.prim_func\ndef main(" params "):\n"
#define X_OF(n, type) "X: T.Buffer((" n ",), \"" type "\"), "
#define Y_OF(n, type) "Y: T.Buffer((" n ",), \"" type "\")"

/* X summed up in some order, less X summed up from its begin, is S[0] - S[1]. */
#define TWO_SUMS(first)                                                                            \
    "    S = T.alloc_buffer((2,))\n"                                                               \
    "    for i in range(2):\n"                                                                     \
    "        S[i] = T.float32(0)\n"                                                                \
    "    for k in range(128):\n"                                                                   \
    "        S[0] = S[0] + " first "\n"                                                            \
    "    for k in range(128):\n"                                                                   \
    "        S[1] = S[1] + X[k] * T.float32(64)\n"
#define DIFFERENCE(first)                                                                          \
    FUNC(X_OF("128", "float32") Y_OF("1", "float32")) TWO_SUMS(first) "    Y[0] = S[0] - S[1]\n"
#define OF_DIFFERENCE(first, type, value)                                                          \
    FUNC(X_OF("128", "float32") Y_OF("1", type)) TWO_SUMS(first) "    Y[0] = " value "\n"
#define IN_ORDER "X[k] * T.float32(64)"
#define FROM_END "X[127 - k] * T.float32(64)"

/* 512 terms; Y has something larger beside their sum. */
#define SUM(type, term, value)                                                                     \
    FUNC(X_OF("512", type) Y_OF("2", type))                                                        \
    "    S = T.alloc_buffer((1,), \"" type "\")\n"                                                 \
    "    S[0] = T." type "(0)\n"                                                                   \
    "    for k in range(512):\n"                                                                   \
    "        S[0] = " term "\n"                                                                    \
    "    Y[0] = X[0] * T." type "(1000)\n"                                                         \
    "    Y[1] = " value "\n"
#define HALVES(index) SUM("float16", "S[0] + T.fabs(X[" index "])", "S[0]")
#define EIGHT_HALVES(n) "T.Select(k < " n ", S[0] + (T.fabs(X[k]) + T.float16(1)), S[0])"
#define SIGMOID "T.float16(1) / (T.float16(1) + T.exp(S[0] * T.float16(0.01)))"
/* they cancel in pairs */
#define SIGNED(index)                                                                              \
    "S[0] + T.Select(k % 2 == 0, X[" index "] + T.float32(2), X[" index "] - T.float32(2))"

/* One of eight elements is a thousand or a million times smaller than the others. */
#define SCALED(type, large, small)                                                                 \
    FUNC(X_OF("8", type) Y_OF("8", type))                                                          \
    "    for i in range(8):\n"                                                                     \
    "        Y[i] = (X[i] + T." type "(2)) * T.Select(i == 3, T." type "(" small "), T." type      \
    "(" large "))\n"

/* A window over X with zeros beside it; what the edges give is small. */
#define WINDOW(value)                                                                              \
    FUNC(X_OF("64", "float32") Y_OF("64", "float32"))                                              \
    "    for i in range(64):\n"                                                                    \
    "        Y[i] = T.float32(0)\n"                                                                \
    "        for k in range(3):\n"                                                                 \
    "            Y[i] = Y[i] + " value "\n"                                                        \
    "        Y[i] = Y[i] * T.Select(i % 63 == 0, T.float32(0.001), T.float32(1000))\n"

/* A float32 buffer beside a half one, of which it may be made. */
#define BESIDE_HALVES(value)                                                                       \
    FUNC(X_OF("8", "float32") "H: T.Buffer((8,), \"float16\"), " Y_OF("8", "float32"))             \
    "    for i in range(8):\n"                                                                     \
    "        H[i] = T.Cast(\"float16\", X[i] * T.float32(3)) * T.float16(0.3)\n"                   \
    "        Y[i] = " value "\n"

/* clang-format off */
static const struct row {
    const char *name, *base, *text;
    bool agrees;
} rows[] = {
    {"the same order", DIFFERENCE(IN_ORDER), DIFFERENCE(IN_ORDER), true},
    {"from the end", DIFFERENCE(IN_ORDER), DIFFERENCE(FROM_END), true},
    {"every other one first", DIFFERENCE(IN_ORDER),
     DIFFERENCE("X[k % 64 * 2 + k // 64] * T.float32(64)"), true},
    {"one is missing", DIFFERENCE(IN_ORDER),
     DIFFERENCE("T.Select(k == 77, T.float32(0), X[k] * T.float32(64))"), false},
    {"one is there twice", DIFFERENCE(IN_ORDER), DIFFERENCE("X[T.min(k, 126)] * T.float32(64)"),
     false},
    {"one is too large", DIFFERENCE(IN_ORDER),
     DIFFERENCE("T.Select(k == 77, X[k] * T.float32(192), X[k] * T.float32(64))"), false},
    {"products that are not rounded", SUM("float32", "S[0] + X[k] * X[511 - k]", "S[0]"),
     SUM("float32", "T.fma(X[k], X[511 - k], S[0])", "S[0]"), true},
    {"terms that cancel, from the end", SUM("float32", SIGNED("k"), "S[0]"),
     SUM("float32", SIGNED("511 - k"), "S[0]"), true},
    {"one of 512 terms that cancel is missing", SUM("float32", SIGNED("k"), "S[0]"),
     SUM("float32", "T.Select(k == 77, S[0], " SIGNED("k") ")", "S[0]"), false},
    {"one of 512 small terms is missing", SUM("float32", "S[0] + T.float32(1e-4)", "S[0]"),
     SUM("float32", "T.Select(k == 511, S[0], S[0] + T.float32(1e-4))", "S[0]"), false},
    {"halves from the end", HALVES("k"), HALVES("511 - k"), true},
    {"bfloat16 from the end", SUM("bfloat16", "S[0] + X[k]", "S[0]"),
     SUM("bfloat16", "S[0] + X[511 - k]", "S[0]"), true},
    {"one of eight halves is missing", SUM("float16", EIGHT_HALVES("8"), "S[0]"),
     SUM("float16", EIGHT_HALVES("7"), "S[0]"), false},
    {"a function of halves", SUM("float16", "S[0] + X[k]", SIGMOID),
     SUM("float16", "S[0] + X[511 - k]", SIGMOID), true},
    {"a function of a sum", SUM("float32", "S[0] + X[k]", "T.tanh(S[0] * T.float32(0.01))"),
     SUM("float32", "S[0] + X[511 - k]", "T.tanh(S[0] * T.float32(0.01))"), true},
    {"a function of another sum", SUM("float32", "S[0] + X[k]", "T.tanh(S[0] * T.float32(0.01))"),
     SUM("float32", "S[0] + X[k] + T.float32(1e-4)", "T.tanh(S[0] * T.float32(0.01))"), false},
    {"a small element is off by a percent", SCALED("float32", "1000", "0.001"),
     SCALED("float32", "1000", "0.00101"), false},
    {"a small half is off by a percent", SCALED("float16", "1000", "0.1"),
     SCALED("float16", "1000", "0.101"), false},
    {"an edge is not zero",
     WINDOW("T.if_then_else(i + k >= 1 and i + k < 65, X[i + k - 1], T.float32(0))"),
     WINDOW("T.if_then_else(i + k >= 1, X[T.min(i + k - 1, 63)], T.float32(0))"), false},
    {"beside halves", BESIDE_HALVES("X[i] * T.float32(3)"),
     BESIDE_HALVES("X[i] * T.float32(3.0003)"), false},
    {"made of halves", BESIDE_HALVES("T.Cast(\"float32\", H[i])"),
     BESIDE_HALVES("X[i] * T.float32(0.9)"), true},
    {"made of other halves", BESIDE_HALVES("T.Cast(\"float32\", H[i])"),
     BESIDE_HALVES("X[i] * T.float32(0.91)"), false},
    {"a choice near a tie", OF_DIFFERENCE(IN_ORDER, "int32", "T.Select(S[0] > S[1], 1, 5)"),
     OF_DIFFERENCE(FROM_END, "int32", "T.Select(S[0] > S[1], 1, 5)"), true},
    {"a choice near a tie, and neither side",
     OF_DIFFERENCE(IN_ORDER, "int32", "T.Select(S[0] > S[1], 1, 5)"),
     OF_DIFFERENCE(FROM_END, "int32", "10"), false},
    {"a choice that is certain",
     OF_DIFFERENCE(IN_ORDER, "int32", "T.Select(S[0] > S[1] + T.float32(1), 1, 5)"),
     OF_DIFFERENCE(IN_ORDER, "int32", "T.Select(S[0] > S[1] - T.float32(1), 1, 5)"), false},
    {"a whole number near the next one",
     OF_DIFFERENCE(IN_ORDER, "int32", "T.Cast(\"int32\", S[0] - S[1] + T.float32(3))"),
     OF_DIFFERENCE(FROM_END, "int32", "T.Cast(\"int32\", S[0] - S[1] + T.float32(3))"), true},
    {"a whole number far from the next one",
     OF_DIFFERENCE(IN_ORDER, "int32", "T.Cast(\"int32\", S[0] - S[1] + T.float32(3.5))"),
     OF_DIFFERENCE(IN_ORDER, "int32", "T.Cast(\"int32\", S[0] - S[1] + T.float32(4.5))"), false},
    {"the positive part of what is certainly negative",
     OF_DIFFERENCE(IN_ORDER, "float32", "T.max(S[0] - S[1] - T.float32(1), T.float32(0))"),
     OF_DIFFERENCE(FROM_END, "float32", "T.float32(1e-6)"), false},
    {"the last bit of 64", OF_DIFFERENCE(IN_ORDER, "int64", "T.int64(1152921504606846976)"),
     OF_DIFFERENCE(IN_ORDER, "int64", "T.int64(1152921504606846977)"), false},
    {"an index that was rounded",
     OF_DIFFERENCE(IN_ORDER, "float32", "X[T.Cast(\"int32\", S[0] - S[1] + T.float32(3))]"),
     OF_DIFFERENCE(FROM_END, "float32", "X[T.Cast(\"int32\", S[0] - S[1] + T.float32(3))]"), true},
};
/* clang-format on */

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *base_module = NULL, *module = NULL;
    const hone_func *base = hone_test_parse(row->base, &base_module);
    const hone_func *func = hone_test_parse(row->text, &module);
    uint32_t count = 0;
    hone_str why = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        count += hone_test_agrees(base, func, seed, count == seed - 1 ? &why : NULL);
    if (row->agrees && count < SEEDS) print_error("%s\n", hone_str_text(&why));
    hone_str_deinit(&why);
    hone_module_release(module);
    hone_module_release(base_module);
    assert_int_equal(count, row->agrees ? SEEDS : 0);
}

int main(void) {
    return HONE_RUN_ROWS("ir/program_agree", rows, check_row);
}
