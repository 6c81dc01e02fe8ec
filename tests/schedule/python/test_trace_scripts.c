/* tests/schedule/python/test_trace_scripts.c - schedules as people write them: functions with
 * arguments, one name for all loops, slices and arithmetic. What they say in steps makes the same
 * program; what is wrong is said with its place. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "tests/support/program_text.h"

/* What every text below must make, in steps. */
/* clang-format off */
static const char reference[] = "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                                "l1, l2, l3 = sch.get_loops(block=b0)\n"
                                "l4, l5 = sch.split(loop=l2, factors=[None, 8])\n"
                                "sch.reorder(l1, l4, l3, l5)\n"
                                "b6 = sch.get_block(name=\"D\", func_name=\"main\")\n"
                                "sch.reverse_compute_at(block=b6, loop=l4)\n"
                                "l7, l8, l9 = sch.get_loops(block=b6)\n"
                                "sch.vectorize(loop=l9)\n"
                                "sch.parallel(loop=l1)\n"
                                "b10 = sch.decompose_reduction(block=b0, loop=l3)\n";

#define REST                                                                                       \
    "    d = sch.get_block(\"D\")\n"                                                               \
    "    sch.reverse_compute_at(d, j0)\n"                                                          \
    "    sch.vectorize(sch.get_loops(d)[-1])\n"                                                    \
    "    sch.parallel(i)\n"                                                                        \
    "    sch.decompose_reduction(block_C, k)\n"

static const struct row {
    const char *name, *text;
} rows[] = {
    {"a function alone, with a default",
     "def tile(sch: tvm.tir.Schedule, jfactor: int = 8) -> None:\n"
     "    \"\"\"Tiles.\n\n  Then sums.\"\"\"\n"
     "    block_C = sch.get_block(\"C\", \"main\")\n"
     "    i, j, k = sch.get_loops(block=block_C)\n"
     "    j0, j1 = sch.split(loop=j, factors=[None, jfactor])\n"
     "    sch.reorder(i, j0, k, j1)\n" REST "    return sch\n"},
    {"loops of Python", "block_C = sch.get_block(\"C\")\n"
                        "for loop in sch.get_loops(block_C)[1:2]:\n"
                        "    for unused, factor in [(0, 8)]:\n"
                        "        j0, j1 = sch.split(loop, factors=[None, factor])\n"
                        "        # more of the same\n"
                        "\n"
                        "loops = sch.get_loops(block_C)\n"
                        "sch.reorder(loops[0], j0, loops[len(loops) - 1], j1)\n"
                        "i, k = loops[0], loops[-1]\n"
                        "for name in [\"D\"]: d = sch.get_block(name)\n"
                        "sch.reverse_compute_at(d, j0)\n"
                        "for n in reversed(range(0, 2)):\n"
                        "    for loop in list(sch.get_loops(d)[2 + n:3]):\n"
                        "        sch.vectorize(loop)\n"
                        "sch.parallel(i)\n"
                        "sch.decompose_reduction(block_C, k)\n"},
    {"a function of a module", "def transform(mod, jfactor):\n"
                               "    sch = tvm.tir.Schedule(mod)\n"
                               "    block_C = sch.get_block(\"C\", \"main\")\n"
                               "    i, j, k = sch.get_loops(block=block_C)\n"
                               "    j0, j1 = sch.split(loop=j, factors=[None, jfactor])\n"
                               "    sch.reorder(i, j0, k, j1)\n" REST "    return sch.mod\n"
                               "\n"
                               "made = transform(MyModule, jfactor=8)\n"},
    {"functions that call functions", "def split_last(s, loop, a, b):\n"
                                      "    outer, inner = s.split(loop, factors=[None, a * b])\n"
                                      "    return outer, inner\n"
                                      "\n"
                                      "# not indented\n"
                                      "def last(s, block):\n"
                                      "    return s.get_loops(block)[-1]\n"
                                      "def tile(\n"
                                      "    s,\n"
                                      "    a,\n"
                                      "    b=2):\n"
                                      "    block_C = s.get_block(\"C\")\n"
                                      "    i, j, k = s.get_loops(block_C)\n"
                                      "    j0, j1 = split_last(s, j, a, b=b)\n"
                                      "    s.reorder(i, j0, k, j1)\n"
                                      "    block_D = s.get_block(\"D\")\n"
                                      "    s.reverse_compute_at(block_D, j0)\n"
                                      "    s.vectorize(last(s, block_D))\n"
                                      "    s.parallel(i); s.decompose_reduction(block_C, k)\n"
                                      "    return s\n"
                                      "\n"
                                      "sch = tvm.tir.Schedule(MyModule)\n"
                                      "sch = tile(sch, 4)\n"
                                      "sch.mod.show()\n"
                                      "print(sch.trace)\n"},
    {"one name for all loops, slices", "block_C = sch.get_block(\"C\")\n"
                                       "loops = sch.get_loops(block_C)\n"
                                       "i, j = loops[:2]\n"
                                       "(k,) = loops[2:]\n"
                                       "j0, j1 = sch.split(j, factors=[None, 8])\n"
                                       "sch.reorder(loops[0], j0, loops[-1], j1)\n"
                                       "block_D = sch.get_block(\"D\")\n"
                                       "sch.reverse_compute_at(block_D, j0)\n"
                                       "inner = sch.get_loops(block_D)[-1:]\n"
                                       "sch.vectorize(inner[0])\n"
                                       "sch.parallel(i)\n"
                                       "sch.decompose_reduction(block_C, k)\n"},
    {"numbers by name, blocks by name",
     "i, j, k = sch.get_loops(\"C\")\n"
     "width, half = 16, -2\n"
     "j0, j1 = sch.split(j, factors=[None, (width + half * 3) % 9 + width // 2 - 1])\n"
     "sch.reorder(i, j0, k, j1)\n"
     "sch.reverse_compute_at(\"D\", j0)\n"
     "_, _, last = sch.get_loops(block=\"D\")\n"
     "sch.vectorize(last)\n"
     "sch.parallel(i)\n"
     "sch.decompose_reduction(\"C\", k)\n"},
    {"programs beside the schedule", "from tvm.script import tir as T\n"
                                     "@tvm.script.ir_module\n"
                                     "class MyModule:\n"
                                     "    @T.prim_func\n"
                                     "    def main(A: T.Buffer((64, 64), \"float32\")):\n"
                                     "        for i, j in T.grid(64, 64):\n"
                                     "            A[i, j] = 0.0\n"
                                     "\n"
                                     "@T.prim_func\n"
                                     "def helper(A: T.Buffer((4,), \"float32\"),\n"
                                     "           B: T.Buffer((4,), \"float32\")):\n"
                                     "    for i in range(4):\n"
                                     "        B[i] = A[i]\n"
                                     "sch = tvm.tir.Schedule(MyModule)\n"
                                     "i, j, k = sch.get_loops(\"C\")\n"
                                     "j0, j1 = sch.split(j, factors=[None, 8])\n"
                                     "sch.reorder(i, j0, k, j1)\n"
                                     "sch.reverse_compute_at(\"D\", j0)\n"
                                     "sch.vectorize(sch.get_loops(\"D\")[2])\n"
                                     "sch.parallel(i)\n"
                                     "sch.decompose_reduction(\"C\", k)\n"},
    {"a schedule begun anew", "factor = 8\n"
                              "sch = tvm.tir.Schedule(MyModule)\n"
                              "i, j, k = sch.get_loops(\"C\")\n"
                              "sch.unroll(k)\n"
                              "sch.mod.show()\n"
                              "sch = tvm.tir.Schedule(MyModule)\n"
                              "i, j, k = sch.get_loops(\"C\")\n"
                              "j0, j1 = sch.split(j, factors=[None, factor])\n"
                              "sch.reorder(i, j0, k, j1)\n"
                              "sch.reverse_compute_at(\"D\", j0)\n"
                              "sch.vectorize(sch.get_loops(\"D\")[2])\n"
                              "sch.parallel(i)\n"
                              "sch.decompose_reduction(\"C\", k)\n"},
};
/* clang-format on */

static hone_status apply_text(const hone_func *base, const char *text, hone_schedule *sch) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    const hone_trace_context context = {.func = base};
    hone_status st = hone_trace_parse_script(arena, &context, text, strlen(text), "t", &trace);
    if (!st) st = hone_trace_apply(&trace, sch, NULL);
    hone_arena_destroy(arena);
    return st;
}

static void makes_the_program(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    hone_schedule *want = NULL, *got = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &want));
    HONE_ASSERT_OK(hone_schedule_create(base, &got));
    HONE_ASSERT_OK(apply_text(base, reference, want));
    hone_status st = apply_text(base, row->text, got);
    hone_str why = {0};
    bool same = !st && hone_func_equal(want->func, got->func, &why);
    if (!same) print_message("%s\n", hone_str_text(&why));
    hone_str_deinit(&why);
    hone_schedule_destroy(want);
    hone_schedule_destroy(got);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    assert_true(same);
}

#define C "c = sch.get_block(\"C\")\ni, j, k = sch.get_loops(c)\n"

/* clang-format off */
static const struct wrong {
    const char *name, *text;
    hone_code code;
    const char *part;
} wrongs[] = {
    {"for over one value", "b = sch.get_block(\"C\")\nfor x in b:\n    sch.unroll(x)\n",
     HONE_CODE_INVALID, "t:2:10: expected a list"},
    {"for without in", "for x of [1]:\n    pass\n", HONE_CODE_INVALID, "t:1:7: expected 'in'"},
    {"for without a body", "for x in [1]:\npass\n", HONE_CODE_INVALID, "expected an indented body"},
    {"for for ever", "for x in range(4096):\n    for y in range(4096):\n        pass\n",
     HONE_CODE_INVALID, "this runs for too long"},
    {"a long range", "for x in range(5000):\n    pass\n", HONE_CODE_INVALID,
     "the list is too long"},
    {"a range without steps", "for x in range(0, 5, 0):\n    pass\n", HONE_CODE_INVALID,
     "no step 0"},
    {"a length of a number", "sch.unroll(len(3))\n", HONE_CODE_INVALID,
     "t:1:15: expected one list"},
    {"consumers that are no list", "sch.cache_read(\"D\", 0, \"local\", consumer_blocks=\"D\")\n",
     HONE_CODE_INVALID, "argument 'consumer_blocks' must be a list"},
    {"an annotation of nothing", "sch.annotate(\"D\", \"key\", None)\n", HONE_CODE_INVALID,
     "argument 'ann_val' must be a value"},
    {"no value", "def f(sch, a):\n    sch.unroll(a)\n", HONE_CODE_INVALID,
     "no value for parameter 'a'"},
    {"unknown parameter", "def f(sch, a=1):\n    pass\nf(sch, b=2)\n", HONE_CODE_INVALID,
     "t:3:8: the function has no parameter 'b'"},
    {"too many arguments", "def f(sch):\n    pass\nf(sch, 2)\n", HONE_CODE_INVALID,
     "too many arguments for 'f'"},
    {"given twice", "def f(sch, a):\n    pass\nf(sch, 2, a=3)\n", HONE_CODE_INVALID,
     "given twice: argument 'a'"},
    {"calls without end", "def f(sch):\n    f(sch)\n", HONE_CODE_INVALID, "t:2:6: too many calls"},
    {"very many calls",
     "def f(sch):\n    pass\n"
     "def g(sch):\n    f(sch);f(sch);f(sch);f(sch);f(sch);f(sch)\n"
     "def h(sch):\n    g(sch);g(sch);g(sch);g(sch);g(sch);g(sch)\n"
     "def k(sch):\n    h(sch);h(sch);h(sch);h(sch);h(sch);h(sch)\n"
     "def l(sch):\n    k(sch);k(sch);k(sch);k(sch);k(sch);k(sch)\n",
     HONE_CODE_INVALID, "too many calls"},
    {"a place in the body", "def f(sch):\n    x = 1\n    sch.tile(x)\nf(sch)\n", HONE_CODE_INVALID,
     "t:3:9: unknown step 'tile'\n    sch.tile(x)\n        ^"},
    {"names of the body", "def f(sch):\n    x = 1\nf(sch)\n" C "sch.split(i, [x, 2])\n",
     HONE_CODE_INVALID, "undefined name 'x'"},
    {"a module is no loop", "def f(mod):\n    sch.unroll(mod)\nf(MyModule)\n", HONE_CODE_INVALID,
     "t:2:16: 'MyModule' is nothing that a step takes"},
    {"sampled variables", C "v, w = sch.sample_perfect_tile(i, n=2)\nx = v * 2\n",
     HONE_CODE_INVALID, "t:4:7: arithmetic is for whole numbers only"},
    {"division by zero", "x = 3 // 0\n", HONE_CODE_INVALID, "t:1:7: division by zero"},
    {"a large product", "x = 9223372036854775807 * 2\n", HONE_CODE_INVALID,
     "the number is too large"},
    {"out of range", "x = sch.get_loops(\"C\")[3]\n", HONE_CODE_INVALID, "index 3 of 3 items"},
    {"nothing of nothing", "f = lambda i: (i, ()[:0])\n", HONE_CODE_INVALID,
     "t:1:19: a range is (begin, end), found 0 items"},
    {"names and values", "a, b = sch.get_loops(\"C\")[:1]\n", HONE_CODE_INVALID,
     "2 names for 1 values"},
    {"one value", "a, b = 3\n", HONE_CODE_INVALID,
     "t:1:8: expected a list, one value for each name"},
    {"a loop of before", C "sch = tvm.tir.Schedule(M)\nsch.unroll(i)\n", HONE_CODE_INVALID,
     "t:4:12: this belongs to a schedule that was begun before"},
    {"some other call", "x = tvm.tune(sch)\n", HONE_CODE_INVALID,
     "t:1:13: what 'tvm.tune' does to the schedule is not known here"},
    {"no such block", "l = sch.get_loops(\"X\")\nsch.unroll(l[0])\n", HONE_CODE_ILLEGAL,
     "step 1: "},
    {"refused before", C "sch.parallel(k)\nl = sch.get_loops(c)\nsch.unroll(l[0])\n",
     HONE_CODE_ILLEGAL, "step 3: sch.parallel(loop=l3)"},
    {"an open string", "x = \"\"\"a\n", HONE_CODE_INVALID,
     "t:1:5: this string has no closing quote"},
};
/* clang-format on */

static void says_why(void **state) {
    const struct wrong *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    sch->wants_reasons = true;
    hone_status st = apply_text(base, row->text, sch);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    HONE_ASSERT_ERROR(st, row->code, row->part);
}

/* Three quotes: lines as they are, what stands behind backslashes, joined lines. */
static void reads_long_strings(void **state) {
    (void)state;
    static const char text[] =
        "code = \"\"\"\nint f(char *a) {\n    return a[0] == \"x\"[0]; \\\n}\n"
        "\\t\"\"\"\n"
        "sch.annotate(sch.get_block(\"C\"), \"pragma_import_c\", code)\n";
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    HONE_ASSERT_OK(apply_text(base, text, sch));
    assert_int_equal(sch->trace.count, 2);
    assert_string_equal(sch->trace.insts[1].inputs[1].u.s,
                        "\nint f(char *a) {\n    return a[0] == \"x\"[0]; }\n\t");
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

/* What is drawn does not matter to how many loops there are; it is drawn when it is applied. */
static void counts_below_samples(void **state) {
    (void)state;
    static const char text[] = "def space(sch):\n"
                               "    i, j, k = sch.get_loops(\"C\")\n"
                               "    factors = sch.sample_perfect_tile(j, n=3)\n"
                               "    sch.split(j, factors=factors)\n"
                               "    sch.unroll(sch.get_loops(\"C\")[-1])\n";
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    for (uint64_t seed = 0; seed < 8; seed++) {
        HONE_ASSERT_OK(hone_schedule_reset(sch));
        sch->rng = hone_rng_from_seed(seed);
        HONE_ASSERT_OK(apply_text(base, text, sch));
        assert_int_equal(sch->trace.count, 7);
    }
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_long_strings),
        cmocka_unit_test(counts_below_samples),
    };
    int failed = HONE_RUN_ROWS("schedule/trace_scripts", rows, makes_the_program);
    failed += HONE_RUN_ROWS("schedule/trace_scripts_wrong", wrongs, says_why);
    return failed + cmocka_run_group_tests_name("schedule/trace_scripts", tests, NULL, NULL);
}
