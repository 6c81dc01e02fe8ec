/* tests/lower/loops/test_lower_partition.c - tiles of a size that divides nothing, and sums that
 * leave out what lies outside: the main body has no condition, nor have the edges, and the program
 * still means the same. */
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "lower/ground/lower.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

static const char trace_text[] = "b = sch.get_block(name=\"Y\", func_name=\"main\")\n"
                                 "i, j, k = sch.get_loops(block=b)\n"
                                 "i0, i1 = sch.split(loop=i, factors=[None, %d])\n"
                                 "j0, jv, j1 = sch.split(loop=j, factors=[None, %d, 8])\n"
                                 "sch.reorder(j0, i0, k, i1, jv, j1)\n"
                                 "sch.parallel(loop=j0)\n"
                                 "sch.unroll(loop=i1)\n"
                                 "sch.unroll(loop=jv)\n"
                                 "sch.vectorize(loop=j1)\n"
                                 "c = sch.cache_write(b, 0, \"local\")\n"
                                 "sch.reverse_compute_at(block=c, loop=i0)\n"
                                 "sch.decompose_reduction(block=b, loop=k)\n";

static const struct row {
    const char *name;
    int m, n, k, pad;
    int stride, tile; /* of a sum that leaves out what lies outside; 0: a product */
    int vectors;      /* of 8 columns in a tile; 0: one */
} rows[] = {
    {"everything divides",             8,  16, 3, 0, 0, 0, 0},
    {"rows are left over",             9,  16, 3, 0, 0, 0, 0},
    {"columns are left over",          8,  17, 3, 0, 0, 0, 0},
    {"both",                           11, 21, 5, 0, 0, 0, 0},
    {"smaller than a tile",            3,  5,  4, 0, 0, 0, 0},
    {"one",                            1,  1,  1, 0, 0, 0, 0},
    {"padding of one all around",      10, 18, 3, 1, 0, 0, 0},
    {"padding and rest",               11, 21, 3, 1, 0, 0, 0},
    {"taps outside",                   12, 16, 3, 1, 1, 1, 0},
    {"many taps outside",              7,  16, 5, 2, 1, 1, 0},
    {"more taps than places",          2,  9,  7, 3, 1, 1, 0},
    {"strides",                        9,  17, 3, 1, 2, 1, 0},
    {"taps outside of a tile",         12, 16, 3, 1, 1, 4, 0},
    {"several edges of a tile",        16, 16, 5, 2, 1, 4, 0},
    {"two tiles, both at edges",       8,  16, 3, 1, 1, 4, 0},
    {"tiles of which some do nothing", 3,  16, 3, 1, 1, 8, 0},
    {"strides and tiles",              10, 17, 3, 1, 2, 2, 0},
    {"a column is left over",          9,  17, 3, 0, 0, 0, 2},
    {"a vector and a part of one",     5,  45, 3, 0, 0, 0, 4},
    {"parts of vectors and padding",   11, 21, 3, 1, 0, 0, 2},
};

/* Y[i, j] is the sum of B[k, j] times A's row i * stride + k - pad, of those k that have one. */
static void print_window(const struct row *row, char out[1024]) {
    int height = (row->m - 1) * row->stride + row->k - 2 * row->pad;
    snprintf(out, 1024,
             "from tvm.script import tir as T\n"
             "@T.prim_func\n"
             "def main(A: T.Buffer((%d, %d), \"float32\"), B: T.Buffer((%d, %d), \"float32\"), "
             "Y: T.Buffer((%d, %d), \"float32\")):\n"
             "    for i, j, k in T.grid(%d, %d, %d):\n"
             "        with T.block(\"Y\"):\n"
             "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
             "            with T.init():\n"
             "                Y[vi, vj] = T.float32(0)\n"
             "            if %d <= vi * %d + vk and vi * %d + vk < %d:\n"
             "                Y[vi, vj] = Y[vi, vj] + A[vi * %d + vk - %d, vj] * B[vk, vj]\n",
             height, row->n, row->k, row->n, row->m, row->n, row->m, row->n, row->k, row->pad,
             row->stride, row->stride, height + row->pad, row->stride, row->pad);
}

/* Y = A B, where A is the middle of a larger, padded matrix. */
static void print_program(const struct row *row, char out[1024]) {
    int p = row->pad;
    if (row->tile) {
        print_window(row, out);
        return;
    }
    snprintf(out, 1024,
             "from tvm.script import tir as T\n"
             "@T.prim_func\n"
             "def main(A: T.Buffer((%d, %d), \"float32\"), B: T.Buffer((%d, %d), \"float32\"), "
             "Y: T.Buffer((%d, %d), \"float32\")):\n"
             "    for i, j, k in T.grid(%d, %d, %d):\n"
             "        with T.block(\"Y\"):\n"
             "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
             "            with T.init():\n"
             "                Y[vi, vj] = T.float32(0)\n"
             "            Y[vi, vj] = Y[vi, vj] + T.if_then_else(vi >= %d and vi < %d, "
             "A[vi - %d, vk], T.float32(0)) * B[vk, vj]\n",
             row->m - 2 * p, row->k, row->k, row->n, row->m, row->n, row->m, row->n, row->k, p,
             row->m - p, p);
}

/* Conditions and choices inside of reduction loops. */
static bool has_choice(void *ctx, const hone_expr *e) {
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) ++*(int *)ctx;
    return true;
}

static int conditions_in(const hone_func *func, hone_node_id loop) {
    int count = 0;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        const hone_node *node = hone_func_node(func, n);
        count += node->kind == HONE_NODE_IF;
        if (node->kind == HONE_NODE_STORE) {
            hone_expr_walk(node->u.store.value, has_choice, &count);
        }
    }
    return count;
}

static int conditions_of(const hone_func *func) {
    int count = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        if (func->vars[node->u.loop.var].name[0] == 'k') count += conditions_in(func, n);
    }
    return count;
}

static hone_status agree(const hone_func *base, const hone_func *lowered) {
    hone_tensor **want = hone_test_make_args(base, 1), **got = hone_test_make_args(base, 1);
    hone_interp_options interp = {.check_uninitialised = true};
    hone_status st = hone_interp_func(base, want, base->param_count, &interp);
    if (!st) st = hone_interp_func(lowered, got, base->param_count, &interp);
    hone_str why = {0};
    if (!st && !hone_test_args_agree(base, 1, got, want, &why)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
    }
    hone_str_deinit(&why);
    hone_test_free_args(base, want);
    hone_test_free_args(base, got);
    return st;
}

static hone_status lower(const struct row *row, const hone_func *base, hone_schedule *sch,
                         hone_arena *arena, const hone_func **out_func) {
    char text[sizeof trace_text + 16];
    hone_trace trace;
    hone_target target;
    hone_func *lowered;
    HONE_TRY(hone_target_parse("x86-64-v3", &target));
    snprintf(text, sizeof text, trace_text, row->tile ? row->tile : 4,
             row->vectors ? row->vectors : 1);
    HONE_TRY(hone_trace_parse_python(arena, text, strlen(text), "trace", &trace));
    sch->wants_reasons = true;
    HONE_TRY(hone_trace_apply(&trace, sch, &(hone_apply_options){0}));
    hone_lower_options options = {.target = &target};
    HONE_TRY(hone_lower_func(sch->func, &options, arena, &lowered));
    *out_func = lowered;
    return agree(base, lowered);
}

static void has_no_conditions(void **state) {
    const struct row *row = *state;
    char program[1024];
    hone_module *module;
    const hone_member *member;
    const hone_func *lowered = NULL;
    hone_schedule *sch = NULL;
    print_program(row, program);
    HONE_ASSERT_OK(hone_script_parse(program, strlen(program), "program", &module));
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_status st = hone_schedule_create(member->func, &sch);
    if (!st) st = lower(row, member->func, sch, arena, &lowered);
    int conditions = st ? 0 : conditions_of(lowered);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    if (row->tile <= 1) assert_int_equal(conditions, 0); /* else: which body an iteration takes */
}

#define HEAD "from tvm.script import tir as T\n@T.prim_func\n"

/* 40 rows, three taps `apart` rows apart. */
#define TAPS(loop, apart)                                                                          \
    HEAD "def main(A: T.Buffer((40, 16), \"float32\"), Y: T.Buffer((40, 16), \"float32\")):\n"     \
         "    for i in T." loop "(40):\n"                                                          \
         "        for x in T.vectorized(16):\n"                                                    \
         "            Y[i, x] = T.float32(0)\n"                                                    \
         "        for k in range(3):\n"                                                            \
         "            for x in T.vectorized(16):\n"                                                \
         "                Y[i, x] = Y[i, x] + T.if_then_else(" apart " <= i + k * " apart          \
         " and i + k * " apart " < 40 + " apart ", A[i + k * " apart " - " apart                   \
         ", x], T.float32(0))\n"

/* Rows of sums over taps d (and e along the tile) and k channels, with padding of one. */
#define WINDOW(channels, taps, rows_of_a, condition, column)                                       \
    HEAD "def main(A: T.Buffer((8, " channels ", " rows_of_a "), \"float32\"), "                   \
         "B: T.Buffer((3, 3, " channels ", 8), \"float32\"), "                                     \
         "Y: T.Buffer((8, 2, 4, 8), \"float32\")):\n"                                              \
         "    for y, z in T.grid(8, 2):\n"                                                         \
         "        S = T.alloc_buffer((4, 8))\n"                                                    \
         "        for x in T.unroll(4):\n"                                                         \
         "            for v in T.vectorized(8):\n"                                                 \
         "                S[x, v] = T.float32(0)\n"                                                \
         "        for d, e, k in T.grid(3, " taps ", " channels "):\n"                             \
         "            for x in T.unroll(4):\n"                                                     \
         "                for v in T.vectorized(8):\n"                                             \
         "                    S[x, v] = S[x, v] + T.if_then_else(" condition                       \
         ", A[y + d - 1, k, " column "], T.float32(0)) * B[d, e, k, v]\n"                          \
         "        for x in T.unroll(4):\n"                                                         \
         "            for v in T.vectorized(8):\n"                                                 \
         "                Y[y, z, x, v] = S[x, v]\n"

/* Programs as they stand, and how often the loop k stands in what they become. */
/* clang-format off */
static const struct text_row {
    const char *name, *text;
    int loops;
} text_rows[] = {
    {"an alternative is work, too: the loop goes on",
     HEAD "def main(A: T.Buffer((8,), \"float32\"), Y: T.Buffer((2,), \"float32\")):\n"
          "    for k in range(8):\n"
          "        if k < 2:\n"
          "            Y[0] = A[k]\n"
          "        else:\n"
          "            Y[1] = A[k]\n",
     1},
    {"sums beside padding are not copied",
     HEAD "def main(A: T.Buffer((8, 16), \"float32\"), Y: T.Buffer((8, 16), \"float32\")):\n"
          "    P = T.alloc_buffer((4, 16))\n"
          "    for i in range(4):\n"
          "        for p in range(4):\n"
          "            for x in T.vectorized(16):\n"
          "                P[p, x] = T.if_then_else(1 <= i * 2 + p and i * 2 + p < 9, "
          "A[i * 2 + p - 1, x], T.float32(0))\n"
          "        for y, k in T.grid(2, 3):\n"
          "            for x in T.vectorized(16):\n"
          "                Y[i * 2 + y, x] = Y[i * 2 + y, x] + P[y + k, x]\n",
     1},
    {"nor are they when both are in a loop",
     HEAD "def main(A: T.Buffer((3, 8, 16), \"float32\"), Y: T.Buffer((8, 16), \"float32\")):\n"
          "    P = T.alloc_buffer((4, 16))\n"
          "    for i, c in T.grid(4, 3):\n"
          "        for p in range(4):\n"
          "            for x in T.vectorized(16):\n"
          "                P[p, x] = T.if_then_else(1 <= i * 2 + p and i * 2 + p < 9, "
          "A[c, i * 2 + p - 1, x], T.float32(0))\n"
          "        for y, k in T.grid(2, 3):\n"
          "            for x in T.vectorized(16):\n"
          "                Y[i * 2 + y, x] = Y[i * 2 + y, x] + P[y + k, x]\n",
     1},
    {"sums that leave something out are",
     HEAD "def main(A: T.Buffer((8, 16), \"float32\"), Y: T.Buffer((8, 16), \"float32\")):\n"
          "    for i in range(8):\n"
          "        for x in T.vectorized(16):\n"
          "            Y[i, x] = T.float32(0)\n"
          "        for k in range(3):\n"
          "            for x in T.vectorized(16):\n"
          "                Y[i, x] = Y[i, x] + T.if_then_else(1 <= i + k and i + k < 9, "
          "A[i + k - 1, x], T.float32(0))\n",
     3},
    {"edges of taps far apart have a copy each", TAPS("serial", "5"), 3},
    {"also where iterations stay together", TAPS("parallel", "5"), 3},
    {"and of many rows", TAPS("parallel", "13"), 3},
    {"not where the rows of an edge differ", TAPS("serial", "1"), 3},
    {"a last tile of one is a number",
     HEAD "def main(A: T.Buffer((3, 9), \"float32\"), Y: T.Buffer((3, 9), \"float32\")):\n"
          "    for f in T.parallel(6):\n"
          "        for k in T.vectorized(8):\n"
          "            if f % 2 * 8 + k < 9:\n"
          "                Y[f // 2, f % 2 * 8 + k] = A[f // 2, f % 2 * 8 + k] * T.float32(2)\n",
     0},
    {"a border of rows in two halves",
     WINDOW("64", "1", "4", "1 <= y + d and y + d < 9", "x"), 2},
    {"borders of columns, and one of rows",
     WINDOW("64", "3", "8",
            "1 <= y + d and y + d < 9 and 1 <= z * 4 + e + x and z * 4 + e + x < 9",
            "z * 4 + e + x - 1"),
     4},
    {"of conditions that hold apart",
     WINDOW("64", "1", "4", "1 <= y + d and y + d < 9",
            "x], T.float32(0)) * T.if_then_else(y + d < 5, A[y, k, x"),
     4},
    {"taps so far apart that few places of a tile differ",
     WINDOW("64", "3", "8",
            "1 <= y + d and y + d < 9 and 12 <= z * 4 + e * 12 + x and z * 4 + e * 12 + x < 20",
            "z * 4 + e * 12 + x - 12"),
     4},
    {"too little work to ask in between",
     WINDOW("2", "1", "4", "1 <= y + d and y + d < 9", "x"), 5},
    {"all taps of a wide kernel",
     HEAD "def main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((9, 8), \"float32\"), "
          "Y: T.Buffer((8,), \"float32\")):\n"
          "    for x in T.unroll(8):\n"
          "        Y[x] = T.float32(0)\n"
          "    for tap, k in T.grid(9, 8):\n"
          "        for x in T.unroll(8):\n"
          "            if 4 <= x + tap and x + tap < 12:\n"
          "                Y[x] = Y[x] + A[k, x + tap - 4] * B[tap, k]\n",
     9},
};
/* clang-format on */

static int loops_named_k(const hone_func *func) {
    int count = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        count += strcmp(func->vars[node->u.loop.var].name, "k") == 0;
    }
    return count;
}

static void copies_what_it_needs(void **state) {
    const struct text_row *row = *state;
    hone_module *module;
    const hone_member *member;
    hone_target target;
    hone_func *lowered = NULL;
    HONE_ASSERT_OK(hone_script_parse(row->text, strlen(row->text), "program", &module));
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3", &target));
    hone_arena *arena = hone_arena_create(1 << 12);
    hone_lower_options options = {.target = &target};
    hone_status st = hone_lower_func(member->func, &options, arena, &lowered);
    if (!st) st = agree(member->func, lowered);
    int loops = st ? 0 : loops_named_k(lowered);
    hone_arena_destroy(arena);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    assert_int_equal(loops, row->loops);
}

int main(void) {
    return HONE_RUN_ROWS("lower/partition", rows, has_no_conditions) +
           HONE_RUN_ROWS("lower/partition", text_rows, copies_what_it_needs);
}
