/* tests/schedule/nests/test_auto_loops.c - loops chosen from the root's annotations: which
 * become parallel and vectorized, and that what was recorded replays. Each row is a whole program
 * and what its loops are afterwards, in order: a letter (s serial, p parallel, v vectorized, u
 * unrolled) and the extent. */
#include "tests/support/hone_test.h"

#include <stdio.h>

#include "ir/identity/structural.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/replay/trace_apply.h"
#include "tests/support/program_text.h"

#define ROOT(jobs, lanes, steps)                                                                   \
    "    with T.block(\"root\"):\n"                                                                \
    "        T.block_attr({\"meta_schedule.parallel\": " #jobs                                     \
    ", \"meta_schedule.vectorize\": " #lanes ", \"meta_schedule.unroll_explicit\": " #steps "})\n"
#define COPY_2D(jobs, lanes, m, n, index)                                                          \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((" #m ", " #n "), \"float32\"), B: T.Buffer((" #m ", " #n                \
    "), \"float32\")):\n" ROOT(jobs, lanes,                                                        \
                               0) "        for i, j in T.grid(" #m ", " #n "):\n"                  \
                                  "            with T.block(\"B\"):\n"                             \
                                  "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"        \
                                  "                B[vi, vj] = A[" index "]\n"
#define SUM(jobs, lanes, steps, order, m, n, k)                                                    \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((" #m ", " #k "), \"float32\"), B: T.Buffer((" #k ", " #n                \
    "), \"float32\"), C: T.Buffer((" #m ", " #n "), \"float32\")):\n" ROOT(                        \
        jobs, lanes, steps) "        for " order ":\n"                                             \
                            "            with T.block(\"C\"):\n"                                   \
                            "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"      \
                            "                with T.init():\n"                                     \
                            "                    C[vi, vj] = T.float32(0)\n"                       \
                            "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

#define OPEN_ROWS(index)                                                                           \
    "@T.prim_func\n"                                                                               \
    "def main(a: T.handle, b: T.handle):\n"                                                        \
    "    n = T.int64()\n"                                                                          \
    "    A = T.match_buffer(a, (n, 8, n), \"float32\")\n"                                          \
    "    B = T.match_buffer(b, (n, 8, n), \"float32\")\n" ROOT(                                    \
        1, 16, 0) "        for i, j, k in T.grid(n, 8, n):\n"                                      \
                  "            with T.block(\"B\"):\n"                                             \
                  "                vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])\n"                \
                  "                B[vi, vj, vk] = A[" index "] + A[vi, 0, 0]\n"

#define CHUNKS(jobs, chunk, n)                                                                     \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((" #n ",), \"float32\"), B: T.Buffer((" #n ",), \"float32\")):\n"        \
    "    with T.block(\"root\"):\n"                                                                \
    "        T.block_attr({\"meta_schedule.parallel\": " #jobs                                     \
    ", \"meta_schedule.vectorize\": 16, \"hone.chunk\": " #chunk "})\n"                            \
    "        for i in range(" #n "):\n"                                                            \
    "            with T.block(\"B\"):\n"                                                           \
    "                vi = T.axis.spatial(" #n ", i)\n"                                             \
    "                B[vi] = A[vi]\n"

/* clang-format 14 crashes when it aligns this table */
/* clang-format off */
static const struct row {
    const char *name, *text, *loops;
} rows[] = {
    {"a contiguous block is one loop", COPY_2D(4, 16, 8, 32, "vi, vj"), "p16 v16 "},
    {"chunks that divide it, no longer than wished", CHUNKS(4, 7, 512), "p8 s4 v16 "},
    {"of one thread", CHUNKS(1, 16, 512), "s2 s16 v16 "},
    {"none divides it", CHUNKS(4, 7, 208), "p13 v16 "},
    {"all of it would be one", CHUNKS(4, 32, 512), "p32 v16 "},
    {"chunks of more than there can be", CHUNKS(4, 9223372036854775807, 512), "p32 v16 "},
    {"chunks of a prime of vectors", CHUNKS(4, 134217688, 2147483024), "p134217689 v16 "},
    {"no chunks", CHUNKS(4, -9223372036854775807, 512), "p32 v16 "},
    {"one job: no threads", COPY_2D(1, 16, 8, 32, "vi, vj"), "s16 v16 "},
    {"no vectors", COPY_2D(4, 1, 8, 32, "vi, vj"), "p8 s32 "},
    {"a prime stays whole", COPY_2D(4, 16, 1, 31, "vi, vj"), "v31 "},
    {"no length divides it: whole vectors and a shorter one", COPY_2D(4, 16, 1, 67, "vi, vj"), "p5 v16 "},
    {"whole registers that divide it", COPY_2D(4, 16, 12, 5, "vi, vj"), "p5 v12 "},
    {"flipped reads: rows apart", COPY_2D(4, 16, 8, 8, "vj, vi"), "p8 v8 "},
    {"jobs are reached with two loops",
     SUM(16, 8, 0, "i, j, k in T.grid(4, 8, 3)", 4, 8, 3), "p32 s3 "},
    {"enough jobs with one", SUM(4, 8, 0, "i, j, k in T.grid(4, 8, 3)", 4, 8, 3), "p4 s8 s3 "},
    {"columns innermost", SUM(4, 8, 0, "i, k, j in T.grid(4, 3, 8)", 4, 8, 3),
     "p4 v8 s3 v8 "},
    {"a unit loop inside does not stop vectors",
     SUM(4, 8, 0, "i, k, j, u in T.grid(4, 3, 8, 1)", 4, 8, 3), "p4 v8 s3 v8 s1 "},
    {"the reduction is never parallel", SUM(4, 8, 0, "k, i, j in T.grid(3, 4, 8)", 4, 8, 3),
     "s4 v8 s3 s4 v8 "},
    {"rows whose length comes later follow each other", OPEN_ROWS("vi, vj, vk"), "s-1 s-1 v4 "},
    {"rows that are read across", OPEN_ROWS("vk, vj, vi"), "s-1 s8 s-1 v4 "},
};
/* clang-format on */

static void describe(const hone_func *func, hone_str *out) {
    static const char kinds[] = {'s', 'p', 'v', 'u', 't'};
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        hone_str_printf(out, "%c%lld ", kinds[node->loop_kind],
                        (long long)hone_expr_const(node->u.loop.range.extent));
    }
}

static void loops_are(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(row->text, &module);
    hone_schedule *sch = NULL, *again = NULL;
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_schedule_create(func, &again));
    HONE_ASSERT_OK(hone_auto_loops(sch));
    HONE_ASSERT_OK(hone_auto_decompose(sch));
    HONE_ASSERT_OK(hone_trace_apply(&sch->trace, again, NULL));
    hone_str got = {0};
    describe(sch->func, &got);
    char text[256];
    snprintf(text, sizeof text, "%s", hone_str_text(&got));
    bool replays = hone_hash128_equal(hone_func_hash(sch->func), hone_func_hash(again->func));
    hone_str_deinit(&got);
    hone_schedule_destroy(sch);
    hone_schedule_destroy(again);
    hone_module_release(module);
    assert_string_equal(text, row->loops);
    assert_true(replays);
}

/* Without annotations nothing is done, nothing recorded. */
static void does_nothing_unasked(void **state) {
    (void)state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(
        "@T.prim_func\n"
        "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
        "    for i in range(8):\n"
        "        with T.block(\"B\"):\n"
        "            vi = T.axis.spatial(8, i)\n"
        "            B[vi] = A[vi]\n",
        &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_auto_loops(sch));
    HONE_ASSERT_OK(hone_auto_decompose(sch));
    assert_int_equal(sch->trace.count, 0);
    assert_true(hone_hash128_equal(hone_func_hash(sch->func), hone_func_hash(func)));
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

int main(void) {
    int failed = HONE_RUN_ROWS("schedule/auto_loops", rows, loops_are);
    const struct CMUnitTest tests[] = {cmocka_unit_test(does_nothing_unasked)};
    return failed + cmocka_run_group_tests_name("schedule/auto_loops", tests, NULL, NULL);
}
