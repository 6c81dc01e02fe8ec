/* tests/ir/arith/test_arith_simplify.c - canonical forms, one row each. The variables:
 * arith_text.h. */
#include <stdio.h>

#include "tests/ir/arith/arith_text.h"
#include "tests/support/hone_test.h"

/* clang-format off */
static const struct row {
    const char *in, *want;
} rows[] = {
    /* sums */
    {"x + 0", "x"},
    {"x * 1 + y", "x + y"},
    {"y + x", "x + y"},
    {"0 - x", "x * -1"},
    {"3 - x", "3 - x"},
    {"n - 1 - x + 1", "n - x"},
    {"x + 2 + y + 3", "x + y + 5"},
    {"x * 3 - x - x", "x"},
    {"(x + y) * 2 - y * 2", "x * 2"},
    {"(x + 1) * (y + 1)", "x + x * y + y + 1"},
    {"x * y - y * x", "0"},
    {"a * 64 + b * 8 + d", "a * 64 + b * 8 + d"},
    /* quotients */
    {"(x * 4 + a) // 4", "x"},
    {"(x * 4 + a) % 4", "a"},
    {"(x * 8 + a) // 4", "x * 2"},
    {"(x * 4 + y) // 4", "x + y // 4"},
    {"x // 4 * 4 + x % 4", "x"},
    {"x - x // 4 * 4", "x % 4"},
    {"x // 8 * 2 + x // 4 % 2", "x // 4"},
    {"x // 4 % 2 * 4 + x % 4", "x % 8"},
    {"x // 2 // 3", "x // 6"},
    {"(x // 2 + 5) // 3", "(x + 4) // 6 + 1"},
    {"(a * 2 + b // 4) % 5 * 4 + b % 4", "(a * 8 + b) % 20"},
    {"(a * 8 + b) // 20 * 5 + (a * 2 + b // 4) % 5", "a * 2 + b // 4"},
    {"(a * 8 + b) // 20 * 5 + (a * 2 + b // 4) % 5 + b", "a * 2 + b + b // 4"},
    {"b % 4 + (b // 4 + x * 2) % 5 * 4",
     "b % 4 + (b // 4 + x * 2) % 5 * 4"}, /* x * 8 might overflow */
    {"x % 12 // 4", "x // 4 % 3"},
    {"x % 12 % 4", "x % 4"},
    {"x % 6 // 4", "x % 6 // 4"}, /* 4 does not divide 6 */
    {"(x % 6 + 6 * y) % 3", "x % 3"},
    {"(a * 8 + b) // 8", "a"},
    {"(a * 8 + b) % 32", "a * 8 + b"},
    {"(x * 8 + b) % 32", "b + x % 4 * 8"},
    {"(x * 8 + b) // 32", "x // 4"},
    {"(x * 6 + 4) // 4", "x * 3 // 2 + 1"},
    {"(x * 6 + y) // 4", "(x * 6 + y) // 4"},
    {"x * 5 % 4", "x % 4"},
    {"c // 16", "0"},
    {"c % 16", "c"},
    {"(c + 16) // 16", "1"},
    {"(c - 16) // 16", "-1"},
    {"(b + 8) % 8", "b"},
    {"x // -4", "x * -1 // 4"},
    {"truncdiv(b, 4)", "b // 4"},
    {"truncmod(b + x % 2, 4)", "(b + x % 2) % 4"},
    {"x // 0", "x // 0"},
    {"x * 4 - x * 4 // 3 * 3", "x % 3"}, /* the remainder is that of a smaller number */
    {"x * 3 - x * 3 // 2 * 2 + y", "x % 2 + y"},
    {"x * 7 // 2 - x * 7 // 6 * 3", "x * 7 // 2 % 3"},
    /* symbolic sizes */
    {"(i * m + j) // m", "i"},
    {"(i * m + j) % m", "j"},
    {"(x * n * 4 + n * y) // n", "x * 4 + y"},
    {"x // n * n + x % n", "x"},
    {"x // n // m * m * n + x // n % m * n + x % n", "x"},
    {"x // n // 4 * n * 4 + x // n % 4 * n + x % n", "x"},
    {"i // n", "0"},
    {"i % n", "i"},
    {"(n * m) // m", "n"},
    {"(x * (n + 1)) // (n + 1)", "x"},
    {"n * 4 // (n * 2)", "2"},
    /* min and max */
    {"min(a, 10)", "a"},
    {"max(a, 10)", "10"},
    {"min(x, x + 1)", "x"},
    {"max(max(x, y), x)", "max(x, y)"},
    {"min(x * 4 + 4, 10) - x * 4", "min(10 - x * 4, 4)"},
    {"min(i, n)", "i"},
    {"max(n, 1)", "n"},
    {"min(y, x)", "min(x, y)"},
    /* comparisons */
    {"a < 4", "True"},
    {"a * 8 + b < 32", "True"},
    {"a * 8 + b < 31", "a * 8 + b < 31"},
    {"x + 1 > x", "True"},
    {"x * 2 < 5", "x < 3"},
    {"x * 4 == 6", "False"},
    {"x * 4 == 8", "x == 2"},
    {"5 < x", "x >= 6"},
    {"x <= y", "x <= y"},
    {"x < y + 1", "x <= y"},
    {"x - y < 0", "x < y"},
    {"y > x", "x < y"},
    {"i < n", "True"},
    {"i * m + j < n * m", "True"},
    {"not x < y", "y <= x"},
    {"x < 5 and x < 10", "x < 5"},
    {"x < 5 and x >= 5", "False"},
    {"x < 5 or x >= 5", "True"},
    {"a < 10 and x < 3", "x < 3"},
    {"a < 10 or x < 3", "True"},
    {"not (x < 5 and y == 3)", "x >= 5 or y != 3"},
    {"likely(a < 9)", "True"},
    /* choices, casts */
    {"select(a < 4, x, y)", "x"},
    {"select(x < 3, y, y)", "y"},
    {"select(x < 3, min(x, 3), y)", "select(x < 3, x, y)"},
    {"if_then_else(b >= 8, x, y)", "y"},
    {"i64(x) * 2 + i64(x)", "i64(x) * 3"},
    {"i64(x + 1)", "i64(x) + 1"},
    {"(i64(x) + 1) * (i64(y) * 4294967296)",
     "(i64(x) + 1) * (i64(y) * 4294967296)"}, /* no sum: it might overflow */
    {"(i64(x) + 1) * (i64(y) * 4294967296) * i64(x) * 2",
     "(i64(x) + 1) * (i64(y) * 4294967296) * i64(x) * 2"},
    {"i64(x) * 8 * i64(y) * 4294967296", "i64(x) * i64(y) * 34359738368"},
    {"i32(i64(a))", "a"},
    {"i32(i64(a) * 5 % 12) // 4", "a * 5 // 4 % 3"},
    {"i32(i64(x) * 5 % 12) // 4", "i32(i64(x) * 5 // 4 % 3)"},
    {"i32((i64(x) + i64(y)) % 12) % 4", "i32((i64(x) + i64(y)) % 4)"},
    {"i32(i64(x) // 3 % 2) * 3 + i32(i64(x) % 3)", "i32(i64(x) % 6)"},
    {"9223372036854775807 + x + 1", "9223372036854775807 + x + 1"},
};
/* clang-format on */

static const struct under_fact {
    const char *in, *fact, *want;
} under_facts[] = {
    {"c > b and a < b",      "a >= b and b == a", "False"}, /* the part that is dropped hides nothing */
    {"c > b and a < b",      "a > b",             "False"},
    {"c > b and b >= c - 3", "b + 2 >= c",        "b < c"},
};

static void check(const char *in, const char *fact, const char *want) {
    hone_arith arith;
    hone_arena *arena = hone_arena_create(4096);
    hone_arith_init(&arith, arena);
    text_bind(&arith);
    const hone_expr *e = text_expr(&arith.ir, in);
    if (fact) hone_arith_push(&arith, text_expr(&arith.ir, fact));
    const hone_expr *s = hone_simplify(&arith, e);
    hone_str got = {0};
    if (s) text_print(s, &got);
    bool is_stable = s && hone_simplify(&arith, s) == s;
    hone_status st = hone_ir_finish(&arith.ir);
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
    char text[256];
    snprintf(text, sizeof text, "%s", got.data ? got.data : "(wrong row)");
    hone_str_deinit(&got);
    assert_string_equal(text, want);
    assert_true(is_stable); /* the very same node: nothing is made anew */
}

static void check_row(void **state) {
    const struct row *row = *state;
    check(row->in, NULL, row->want);
}

static void check_under_fact(void **state) {
    const struct under_fact *row = *state;
    check(row->in, row->fact, row->want);
}

int main(void) {
    int failed = HONE_RUN_ROWS("ir/arith_simplify", rows, check_row);
    return failed + HONE_RUN_ROWS("ir/arith_simplify_under_facts", under_facts, check_under_fact);
}
