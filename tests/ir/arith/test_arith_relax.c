/* tests/ir/arith/test_arith_relax.c - intervals of relaxed expressions. The variables:
 * arith_text.h. */
#include <stdio.h>

#include "tests/ir/arith/arith_text.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *in;
    const char *relax; /* one letter per variable */
    const char *want;  /* "min .. max", "exact" behind it when both are reached */
    const char *fact;
} rows[] = {
    {"x",                       "ab", "x .. x exact",                     NULL                      },
    {"a * 2 + x",               "a",  "x .. x + 6 exact",                 NULL                      },
    {"x - a",                   "a",  "x - 3 .. x exact",                 NULL                      },
    {"a * 8 + b",               "b",  "a * 8 .. a * 8 + 7 exact",         NULL                      },
    {"a * 8 + b",               "ab", "0 .. 31 exact",                    NULL                      },
    {"(x * 4 + a) // 2",        "a",  "x * 2 .. x * 2 + 1 exact",         NULL                      },
    {"(x * 2 + a) // 2",        "a",  "x .. x + 1 exact",                 NULL                      },
    {"(x + a) // 4",            "a",  "x // 4 .. (x + 3) // 4 exact",     NULL                      },
    {"(x + b) % 8",             "b",  "0 .. 7 exact",                     NULL                      },
    {"(x + a) % 8",             "a",  "0 .. 7",                           NULL                      },
    {"(x + a) % 4",             "a",  "0 .. 3 exact",                     NULL                      },
    {"(x + a) % 5",             "a",  "0 .. 4",                           NULL                      }, /* one is missing */
    {"(x * 8 + a) % 8",         "a",  "0 .. 3 exact",                     NULL                      },
    {"i * 2 + x",               "i",  "x .. n * 2 + x - 2 exact",         NULL                      },
    {"i * m + j",               "ij", "0 .. m * n - 1 exact",             NULL                      },
    {"i * m + j",               "j",  "i * m .. i * m + m - 1 exact",     NULL                      },
    {"i % m",                   "i",  "0 .. m - 1",                       NULL                      },
    {"i // 4",                  "i",  "0 .. (n + 3) // 4 - 1 exact",      NULL                      },
    {"min(a + x, y)",           "a",  "min(x, y) .. min(x + 3, y) exact", NULL                      },
    {"max(b - 4, 0)",           "b",  "0 .. 3 exact",                     NULL                      },
    {"a + a // 2",              "a",  "0 .. 4 exact",                     NULL                      },
    {"select(y < 3, x, x + 4)", "y",  "x .. x + 4",                       NULL                      },
    {"x + y",                   "y",  "-inf .. inf",                      NULL                      },
    {"a * x",                   "a",  "-inf .. inf",                      NULL                      },
    {"a * n",                   "a",  "0 .. n * 3 exact",                 NULL                      },
    {"a * 8 + b",               "ab", "0 .. 9",                           "a * 8 + b < 10"          },
    {"a * 8 + b",               "ab", "0 .. n - 1",                       "a * 8 + b < n and n < 20"},
};

static void check_row(void **state) {
    const struct row *row = *state;
    hone_arith arith;
    hone_arena *arena = hone_arena_create(4096);
    hone_arith_init(&arith, arena);
    text_bind(&arith);
    bool relax[26] = {false}, exact = false;
    for (const char *c = row->relax; *c; c++)
        relax[*c - 'a'] = true;
    uint32_t mark = hone_arith_push(&arith, row->fact ? text_expr(&arith.ir, row->fact) : NULL);
    hone_interval r = hone_arith_relax(&arith, text_expr(&arith.ir, row->in), relax, 26, &exact);
    hone_arith_pop(&arith, mark);
    hone_str text = {0};
    if (r.min) text_print(r.min, &text);
    hone_str_printf(&text, r.min ? " .. " : "-inf .. ");
    if (r.max) text_print(r.max, &text);
    hone_str_printf(&text, "%s%s", r.max ? "" : "inf", exact ? " exact" : "");
    hone_status st = hone_ir_finish(&arith.ir);
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
    char got[256];
    snprintf(got, sizeof got, "%s", text.data);
    hone_str_deinit(&text);
    assert_string_equal(got, row->want);
}

int main(void) {
    return HONE_RUN_ROWS("ir/arith_relax", rows, check_row);
}
