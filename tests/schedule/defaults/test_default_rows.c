/* tests/schedule/defaults/test_default_rows.c - which loops default schedules make of what goes
 * along rows: sums of them, running sums, programs that go over rows several times. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "tests/schedule/defaults/default_trial.h"
#include "tests/schedule/defaults/loop_counts.h"
#include "tests/support/program_text.h"
#include "tests/support/workloads.h"

/* A row-wise program goes over its rows once. */
static void softmax_is_one_nest(void **state) {
    (void)state;
    const hone_workload *w = hone_workloads;
    while (strcmp(w->name, "softmax") != 0)
        w++;
    default_loops got = default_loops_of(w->text);
    assert_int_equal(got.top, 1);
    assert_int_equal(got.vectorized, 2);
    assert_int_equal(got.collected, 2);
}

/* Running sums along one of three axes. */
static void print_running_sums(int scan, hone_str *text) {
    hone_str_append(text, "@T.prim_func\n"
                          "def main(X: T.Buffer((2, 9, 37), \"float32\"), Y: T.Buffer((2, 9, 37), "
                          "\"float32\")):\n"
                          "    for a, b, c in T.grid(2, 9, 37):\n"
                          "        with T.block(\"Y\"):\n");
    for (int d = 0; d < 3; d++) {
        hone_str_printf(text, "            v%c = T.axis.%s(%d, %c)\n", 'a' + d,
                        d == scan ? "scan" : "spatial",
                        d == 0   ? 2
                        : d == 1 ? 9
                                 : 37,
                        'a' + d);
    }
    hone_str_printf(text,
                    "            Y[va, vb, vc] = T.if_then_else(0 < v%c, Y[va%s, vb%s, vc%s], "
                    "T.float32(0)) + X[va, vb, vc]\n",
                    'a' + scan, scan == 0 ? " - 1" : "", scan == 1 ? " - 1" : "",
                    scan == 2 ? " - 1" : "");
}

/* They have vectors where what is added up lies across the rows, on every machine with some. */
static void running_sums_have_vectors(void **state) {
    (void)state;
    for (int scan = 0; scan < 3; scan++) {
        hone_str text = {0};
        hone_module *module = NULL;
        print_running_sums(scan, &text);
        const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
        bool is_good = true;
        for (size_t i = 0; i < DEFAULT_MACHINES; i++) {
            hone_schedule *sch = NULL;
            HONE_ASSERT_OK(hone_schedule_create(func, &sch));
            HONE_ASSERT_OK(hone_default_schedule(sch, &default_machines[i]));
            bool wants_vectors = scan < 2 && default_machines[i].vector_lanes > 1;
            is_good = is_good && (default_count_loops(sch->func).vectorized > 0) == wants_vectors &&
                      default_trial_is_right(func, &default_machines[i], i);
            hone_schedule_destroy(sch);
        }
        hone_module_release(module);
        hone_str_deinit(&text);
        if (!is_good) fail_msg("running sums along axis %d", scan);
    }
}

/* What a running sum is written across: rows of two axes are one, a long one is cut, one that would
 * end with a mask is left to compilers; where rows do not follow one another, each is its own. */
static void short_rows_of_running_sums_are_joined(void **state) {
    static const struct {
        const char *shape, *axes, *before;
        int rows, columns, want; /* want: lanes, with vectors of 16 */
    } sums[] = {
        {"30, 5, 8",  "vk, vi, vj", "vk - 1, vi, vj", 5,  8, 40},
        {"30, 50, 9", "vk, vi, vj", "vk - 1, vi, vj", 50, 9, 64},
        {"30, 5, 9",  "vk, vi, vj", "vk - 1, vi, vj", 5,  9, 0 },
        {"5, 30, 9",  "vi, vk, vj", "vi, vk - 1, vj", 5,  9, 9 },
    };
    const hone_default_limits limits = {.threads = 1, .vector_lanes = 16, .l1_bytes = 1 << 15};
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(sums); i++) {
        hone_str text = {0};
        hone_module *module = NULL;
        hone_schedule *sch = NULL;
        hone_str_printf(
            &text,
            "@T.prim_func\n"
            "def main(X: T.Buffer((%s), \"float32\"), Y: T.Buffer((%s), \"float32\")):\n"
            "    for i, j, k in T.grid(%d, %d, 30):\n"
            "        with T.block(\"Y\"):\n"
            "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
            "            vk = T.axis.scan(30, k)\n"
            "            Y[%s] = T.if_then_else(0 < vk, Y[%s], T.float32(0)) + X[%s]\n",
            sums[i].shape, sums[i].shape, sums[i].rows, sums[i].columns, sums[i].axes,
            sums[i].before, sums[i].axes);
        const hone_func *func = hone_test_parse(hone_str_text(&text), &module);
        HONE_ASSERT_OK(hone_schedule_create(func, &sch));
        HONE_ASSERT_OK(hone_default_schedule(sch, &limits));
        assert_int_equal(default_count_loops(sch->func).longest_vector, sums[i].want);
        hone_schedule_destroy(sch);
        for (size_t m = 0; m < DEFAULT_MACHINES; m++)
            assert_true(default_trial_is_right(func, &default_machines[m], m));
        hone_module_release(module);
        hone_str_deinit(&text);
    }
}

/* Rows of several axes, too: each is reduced along its own length, not across the others. */
static void batched_rows_are_reduced_one_by_one(void **state) {
    (void)state;
    default_loops got =
        default_loops_of("@T.prim_func\n"
                         "def main(X: T.Buffer((3, 37, 197), \"float32\"), Y: T.Buffer((3, 37, "
                         "197), \"float32\")):\n"
                         "    M = T.alloc_buffer((3, 37))\n"
                         "    E = T.alloc_buffer((3, 37, 197))\n"
                         "    S = T.alloc_buffer((3, 37))\n"
                         "    for b, i, k in T.grid(3, 37, 197):\n"
                         "        with T.block(\"M\"):\n"
                         "            vb, vi, vk = T.axis.remap(\"SSR\", [b, i, k])\n"
                         "            with T.init():\n"
                         "                M[vb, vi] = T.float32(-1e30)\n"
                         "            M[vb, vi] = T.max(M[vb, vi], X[vb, vi, vk])\n"
                         "    for b, i, j in T.grid(3, 37, 197):\n"
                         "        with T.block(\"E\"):\n"
                         "            vb, vi, vj = T.axis.remap(\"SSS\", [b, i, j])\n"
                         "            E[vb, vi, vj] = T.exp(X[vb, vi, vj] - M[vb, vi])\n"
                         "    for b, i, k in T.grid(3, 37, 197):\n"
                         "        with T.block(\"S\"):\n"
                         "            vb, vi, vk = T.axis.remap(\"SSR\", [b, i, k])\n"
                         "            with T.init():\n"
                         "                S[vb, vi] = T.float32(0)\n"
                         "            S[vb, vi] = S[vb, vi] + E[vb, vi, vk]\n"
                         "    for b, i, j in T.grid(3, 37, 197):\n"
                         "        with T.block(\"Y\"):\n"
                         "            vb, vi, vj = T.axis.remap(\"SSS\", [b, i, j])\n"
                         "            Y[vb, vi, vj] = E[vb, vi, vj] / S[vb, vi]\n");
    assert_int_equal(got.top, 1);
    assert_int_equal(got.vectorized, 2);
    assert_int_equal(got.collected, 2);
    assert_int_equal(got.longest_vector, 197);
}

/* What is gone over twice and comes from afar is asked for a row ahead, in steps of four vectors.
 */
static void rows_are_asked_for_ahead(void **state) {
    (void)state;
    static const struct {
        int rows, columns;
        int64_t ahead;
    } cases[] = {
        {512,  1024, 32},
        {512,  1000, 32},
        {16,   1024, 0 }, /* all of it is near */
        {64,   8192, 0 }, /* the first cache does not hold two rows */
        {9000, 100,  0 }, /* short rows */
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "M, N = %d, %d\n"
                 "@T.prim_func\n"
                 "def main(X: T.Buffer((M, N), \"float32\"), Y: T.Buffer((M, N), \"float32\")):\n"
                 "    S = T.alloc_buffer((M,), \"float32\")\n"
                 "    for i, k in T.grid(M, N):\n"
                 "        with T.block(\"sum\"):\n"
                 "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                 "            with T.init():\n"
                 "                S[vi] = T.float32(0)\n"
                 "            S[vi] = S[vi] + X[vi, vk]\n"
                 "    for i, k in T.grid(M, N):\n"
                 "        with T.block(\"less\"):\n"
                 "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
                 "            Y[vi, vk] = X[vi, vk] - S[vi]\n",
                 cases[i].rows, cases[i].columns);
        assert_int_equal(default_loops_of(text).ahead, cases[i].ahead);
    }
}

/* Sums along rows, whatever their length; not along columns, which lie apart, and not short ones.
 */
static void sums_are_collected_along_rows(void **state) {
    (void)state;
    static const struct {
        const char *shape, *extents, *index;
        uint32_t collected;
    } cases[] = {
        {"(64, 1024)", "64, 1024", "vi, vk", 1},
        {"(64, 997)",  "64, 997",  "vi, vk", 1},
        {"(997, 64)",  "64, 997",  "vk, vi", 0},
        {"(64, 5)",    "64, 5",    "vi, vk", 0},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "@T.prim_func\n"
                 "def main(A: T.Buffer(%s, \"float32\"), S: T.Buffer((64,), \"float32\")):\n"
                 "    for i, k in T.grid(%s):\n"
                 "        with T.block(\"S\"):\n"
                 "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                 "            with T.init():\n"
                 "                S[vi] = T.float32(0)\n"
                 "            S[vi] = S[vi] + A[%s]\n",
                 cases[i].shape, cases[i].extents, cases[i].index);
        assert_int_equal(default_loops_of(text).collected, cases[i].collected);
    }
}

/* Planes that lie in one piece are one run, however short their rows are; parts of them are not. */
static void planes_are_summed_as_one_row(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        uint32_t collected;
    } cases[] = {
        {"(64, 5, 5)", 1},
        {"(64, 5, 6)", 0},
        {"(64, 6, 5)", 1},
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "@T.prim_func\n"
                 "def main(A: T.Buffer(%s, \"float32\"), S: T.Buffer((64,), \"float32\")):\n"
                 "    for i, y, x in T.grid(64, 5, 5):\n"
                 "        with T.block(\"S\"):\n"
                 "            vi, vy, vx = T.axis.remap(\"SRR\", [i, y, x])\n"
                 "            with T.init():\n"
                 "                S[vi] = T.float32(0)\n"
                 "            S[vi] = S[vi] + A[vi, vy, vx]\n",
                 cases[i].shape);
        assert_int_equal(default_loops_of(text).collected, cases[i].collected);
        hone_module *module = NULL;
        const hone_func *func = hone_test_parse(text, &module);
        bool is_good = default_trial_is_right(func, &default_machines[0], i);
        hone_module_release(module);
        assert_true(is_good);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_is_one_nest),
        cmocka_unit_test(running_sums_have_vectors),
        cmocka_unit_test(short_rows_of_running_sums_are_joined),
        cmocka_unit_test(batched_rows_are_reduced_one_by_one),
        cmocka_unit_test(rows_are_asked_for_ahead),
        cmocka_unit_test(sums_are_collected_along_rows),
        cmocka_unit_test(planes_are_summed_as_one_row),
    };
    return cmocka_run_group_tests_name("schedule/default rows", tests, NULL, NULL);
}
