/* tests/lower/loops/test_lower_tail_rows.c - tiles of sums some rows of which are not there, for
 * each number of rows: those that are left go in pieces of their own, and the program still means
 * the same. */
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

static const struct row {
    const char *name;
    int tile, columns; /* rows and columns of a tile */
    const char *also;  /* what else is asked */
    bool is_apart;     /* else: a row goes on from the sum of the one before */
} rows[] = {
    {"two rows",                          2,  4,  "",               true },
    {"three",                             3,  8,  "",               true },
    {"six, and few columns",              6,  1,  "",               true },
    {"eight",                             8,  16, "",               true },
    {"fourteen",                          14, 32, "",               true },
    {"more rows than there ever are",     28, 16, "",               true },
    {"many columns",                      5,  64, "",               true },
    {"columns are left over, too",        6,  16, " and j < n",     true },
    {"columns of several registers",      6,  32, " and j < n",     true },
    {"columns that may all be gone",      5,  32, " and j + 9 < n", true },
    {"steps are left out, too",           6,  16, " and k < n",     true },
    {"both",                              7,  8,  " and j + k < n", true },
    {"a row goes on from the one before", 6,  4,  "",               false},
};

/* Y[n, row] are n rows of a product, 0 behind them. */
static void print_program(const struct row *row, char out[2048]) {
    char from[64];
    snprintf(from, sizeof from, "T.max(t * %d + r - %d, 0)", row->tile, !row->is_apart);
    if (row->is_apart) snprintf(from, sizeof from, "t * %d + r", row->tile);
    snprintf(out, 2048,
             "from tvm.script import tir as T\n"
             "@T.prim_func\n"
             "def main(A: T.Buffer((32, 5), \"int32\"), B: T.Buffer((5, %d), \"int32\"), "
             "Y: T.Buffer((30, 32, %d), \"int32\")):\n"
             "    for n, i, j in T.grid(30, 32, %d):\n"
             "        Y[n, i, j] = 0\n"
             "    for n in range(30):\n"
             "        for t in range((n + %d) // %d):\n"
             "            for k in range(5):\n"
             "                for r in T.unroll(%d):\n"
             "                    for j in T.vectorized(%d):\n"
             "                        if t * %d + r < n%s:\n"
             "                            Y[n, t * %d + r, j] = Y[n, %s, j] + A[t * %d + r, k] * "
             "B[k, j]\n",
             row->columns, row->columns, row->columns, row->tile - 1, row->tile, row->tile,
             row->columns, row->tile, row->also, row->tile, from, row->tile);
}

static hone_status agree(const hone_func *base, const hone_func *lowered) {
    hone_tensor **want = hone_test_make_args(base, 1), **got = hone_test_make_args(base, 1);
    hone_str why = {0};
    hone_status st = hone_interp_func(base, want, base->param_count, &(hone_interp_options){0});
    if (!st) st = hone_interp_func(lowered, got, base->param_count, &(hone_interp_options){0});
    if (!st && !hone_test_args_agree(base, 1, got, want, &why))
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
    hone_str_deinit(&why);
    hone_test_free_args(base, want);
    hone_test_free_args(base, got);
    return st;
}

static bool has_pieces(const hone_func *func) {
    for (uint32_t v = 0; v < func->var_count; v++) {
        if (strncmp(func->vars[v].name, "piece", strlen("piece")) == 0) return true;
    }
    return false;
}

static void means_the_same(void **state) {
    const struct row *row = *state;
    char program[2048];
    hone_module *module;
    const hone_member *member;
    hone_target target;
    hone_func *lowered = NULL;
    print_program(row, program);
    HONE_ASSERT_OK(hone_script_parse(program, strlen(program), "program", &module));
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3", &target));
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st =
        hone_lower_func(member->func, &(hone_lower_options){.target = &target}, arena, &lowered);
    if (!st) st = agree(member->func, lowered);
    bool is_apart = !st && has_pieces(lowered);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    assert_int_equal(is_apart, row->is_apart);
}

int main(void) {
    return HONE_RUN_ROWS("lower/tail_rows", rows, means_the_same);
}
