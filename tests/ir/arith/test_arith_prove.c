/* tests/ir/arith/test_arith_prove.c - what must be provable, and what must not be. The variables:
 * arith_text.h. */
#include "tests/ir/arith/arith_text.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *condition;
    const char *fact; /* NULL = none */
    bool want;
} rows[] = {
  /* constants */
    {"a * 8 + b < 32",                                     NULL,                     true },
    {"a * 8 + b < 31",                                     NULL,                     false},
    {"a * 8 + b <= 31",                                    NULL,                     true },
    {"x % 8 < 8",                                          NULL,                     true },
    {"x % 8 >= 0",                                         NULL,                     true },
    {"x // 4 * 4 <= x",                                    NULL,                     true },
    {"x // 4 * 4 < x",                                     NULL,                     false},
    {"x // 4 * 4 + 3 >= x",                                NULL,                     true },
    {"x // 4 * 4 + 2 >= x",                                NULL,                     false},
    {"min(x, y) <= x",                                     NULL,                     true },
    {"max(x, y) >= x and max(x, y) >= y",                  NULL,                     true },
    {"max(x, y) <= x",                                     NULL,                     false},
    {"max(x, y) <= z",                                     "x <= z",                 false},
    {"max(x, y) <= z",                                     "x <= z and y <= z",      true },
    {"x // 4 <= n // 4",                                   "x <= n",                 true },
    {"x // 4 < y",                                         "x <= y * 4",             false},
    {"0 - x // 4 >= 0 - 2",                                "x <= 11",                true },
    {"0 - x // 4 >= 0 - 2",                                "x <= 12",                false},
    {"(a + 4) % (b + 5) >= 0",                             NULL,                     true },
    {"(a + 4) % (b + 5) >= 4",                             NULL,                     false}, /* 7 % 5 */
    {"(a + 4) % (b + 8) >= 4",                             NULL,                     true },
    {"min(x * 4, y * 4 + 2) != 3",                         NULL,                     true },
    {"min(x * 4, y * 4 + 2) != 2",                         NULL,                     false},
    {"x * 5 // 2 != 5",                                    NULL,                     false}, /* x is 2 */
    {"x * 4 != 7",                                         NULL,                     true },
    {"x * 6 + y * 4 != 9",                                 NULL,                     true },
    {"x == y",                                             NULL,                     false},
 /* sizes */
    {"n >= 1",                                             NULL,                     true },
    {"n >= 2",                                             NULL,                     false},
    {"i < n",                                              NULL,                     true },
    {"i <= n - 1",                                         NULL,                     true },
    {"i < n - 1",                                          NULL,                     false},
    {"i * m + j < n * m",                                  NULL,                     true },
    {"i * m + j < n * m - 1",                              NULL,                     false},
    {"(i * m + j) * 4 + a < n * m * 4",                    NULL,                     true },
    {"(n + 3) // 4 * 4 >= n",                              NULL,                     true },
    {"(n + 2) // 4 * 4 >= n",                              NULL,                     false},
    {"(n + 3) // 4 * 4 < n + 4",                           NULL,                     true },
    {"(n + 3) // 4 >= 1",                                  NULL,                     true },
    {"n * m >= n",                                         NULL,                     true },
    {"n * m >= m",                                         NULL,                     true },
    {"n * m > m",                                          NULL,                     false},
    {"i // 4 < (n + 3) // 4",                              NULL,                     true },
    {"i // 4 <= n // 4",                                   NULL,                     true },
    {"(n + 15) // 16 <= (n + 63) // 64 * 4",               NULL,                     true },
    {"(n + 15) // 16 < (n + 63) // 64 * 4",                NULL,                     false},
    {"x // 64 < n",                                        "x < n * 64",             true },
    {"x // 64 < n",                                        "x <= n * 64",            false},
    {"x // 64 * 3 + 2 < n * 3",                            "x < n * 64",             true },
    {"x // 2 * 8 + b < n * 8",                             "x < n * 2",              true },
    {"x // 2 * 8 + b < n * 8 - 1",                         "x < n * 2",              false},
    {"x // 2 * 16 + a // 2 * 8 + b < (n + 63) // 64 * 16", "x < (n + 63) // 64 * 2", true },
    {"x // 2 * 16 + a // 2 * 9 + b < (n + 63) // 64 * 16", "x < (n + 63) // 64 * 2", false},
    {"x // 64 * 3 + 3 < n * 3",                            "x < n * 64",             false},
    {"(n + 16) // 16 <= (n + 63) // 64 * 4",               NULL,                     false},
    {"n // 64 * 4 <= n // 16",                             NULL,                     true },
    {"n // 64 * 4 <= (n - 16) // 16",                      NULL,                     false},
    {"(n - 5) // 64 * 4 <= (n - 5) // 16",                 NULL,                     true },
    {"min(i + 4, n) <= n",                                 NULL,                     true },
    {"min(n, m) >= 1",                                     NULL,                     true },
    {"i % 4 <= i",                                         NULL,                     true },
    {"select(x < 3, i, 0) < n",                            NULL,                     true },
    {"x % n < n",                                          NULL,                     true },
    {"x % n >= 0",                                         NULL,                     true },
    {"x % n < n - 1",                                      NULL,                     false},
    {"x % y < y",                                          NULL,                     false},
    {"x // n < 4",                                         "x < n * 4",              true },
    {"x // n < 4",                                         "x < n * 4 + 1",          false},
    {"x // n < m",                                         "x < n * m",              true },
    {"x // n < m",                                         "x <= n * m",             false},
    {"x // n * 3 < m * 3 - 2",                             "x < n * m",              true },
    {"x // n + y >= 0",                                    "x + y * n >= 0",         true },
    {"x // n + y >= 0",                                    "x + y * n >= 0 - 1",     false},
    {"x // y < m",                                         "x < y * m",              false}, /* y may be 0 */
    {"x // (n + 1) < m",                                   "x < n * m + m",          true },
    {"x // (n + 1) < m",                                   "x <= n * m + m",         false},
    {"x // n >= 0",                                        "x >= 0",                 true },
    {"x // n >= 1",                                        "x >= n - 1",             false},
    {"x // y >= 0",                                        "x >= 0",                 false},
 /* facts */
    {"x < 10",                                             "x < 5",                  true },
    {"x < 4",                                              "x < 5",                  false},
    {"x < z",                                              "x < y and y < z",        true },
    {"x + 2 <= z",                                         "x < y and y < z",        true },
    {"x * 4 + y < n",                                      "x * 4 + y < n",          true },
    {"x * 8 + y * 2 < n * 2 - 1",                          "x * 4 + y < n",          true },
    {"a <= 2",                                             "a * 8 + b < 24",         true },
    {"x == 3",                                             "x >= 3 and x <= 3",      true },
    {"x >= 1",                                             "x >= 0 and x != 0",      true },
    {"x != y",                                             "x != y",                 true },
    {"y > x",                                              "not y <= x",             true },
    {"x == y + 1",                                         "x - y == 1",             true },
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_arith arith;
    hone_arena *arena = hone_arena_create(4096);
    hone_arith_init(&arith, arena);
    text_bind(&arith);
    const hone_expr *condition = text_expr(&arith.ir, row->condition);
    const hone_expr *fact = row->fact ? text_expr(&arith.ir, row->fact) : NULL;
    bool readable = condition && (fact || !row->fact);
    uint32_t mark = hone_arith_push(&arith, fact);
    bool got = hone_prove(&arith, condition);
    hone_arith_pop(&arith, mark);
    hone_status st = hone_ir_finish(&arith.ir);
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
    assert_true(readable);
    assert_int_equal(got, row->want);
}

int main(void) {
    return HONE_RUN_ROWS("ir/arith_prove", rows, check_row);
}
