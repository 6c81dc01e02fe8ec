/* tests/schedule/python/test_trace_language.c - Python in hand-written schedules: expressions,
 * statements, what the program says of loops and blocks; what is not known is said with its place.
 */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "support/os/fs.h"
#include "tests/support/program_text.h"

static hone_status read_text(const hone_func *base, const char *text, size_t length,
                             hone_str *out) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_schedule *sch = NULL;
    hone_trace trace;
    const hone_trace_context context = {.func = base};
    hone_status st = hone_trace_parse_script(arena, &context, text, length, "t", &trace);
    if (!st) st = hone_schedule_create(base, &sch);
    if (!st) st = hone_trace_apply(&trace, sch, NULL);
    if (!st && out) st = hone_trace_print_python(&sch->trace, out);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    return st;
}

/* Each of these is true in Python. */
static const struct truth {
    const char *text;
} truths[] = {
    {"1 + 2 * 3 == 7"},
    {"(1 + 2) * 3 == 9"},
    {"-7 // 2 == -4 and -7 % 2 == 1 and 7 // -2 == -4"},
    {"7 / 2 == 3.5 and 2 ** 10 == 1024 and 2 ** -1 == 0.5 and -2 ** 2 == -4"},
    {"0x10 == 16 and 1_000 == 1000 and 1e3 == 1000"},
    {"not 0 and not \"\" and not [] and not None and not {}"},
    {"(0 or 5) == 5 and (3 and 4) == 4 and (None or \"x\") == \"x\""},
    {"True or undefined_name"},
    {"not (False and undefined_name)"},
    {"(1 if 2 > 1 else undefined_name) == 1"},
    {"(undefined_name if 2 < 1 else 4 if False else 6) == 6"},
    {"1 < 2 <= 2 < 3 and not 1 < 3 < 2"},
    {"2 in [1, 2] and 3 not in (1, 2) and \"b\" in \"abc\" and \"k\" in {\"k\": 1}"},
    {"None is None and 3 is not None"},
    {"[1, 2] + [3] == [1, 2, 3] and (1,) + (2,) == (1, 2) and [0] * 3 == [0, 0, 0]"},
    {"[1, 2] != (1, 2)"},
    {"[0, 1, 2, 3][-1] == 3 and [0, 1, 2, 3][1:-1] == [1, 2] and (1, 2, 3)[1:] == (2, 3)"},
    {"[0, 1, 2, 3, 4][::2] == [0, 2, 4] and [0, 1, 2][::-1] == [2, 1, 0] and \"abc\"[1] == \"b\""},
    {"list(range(3)) == [0, 1, 2] and list(range(5, 0, -2)) == [5, 3, 1]"},
    {"list(enumerate(\"ab\", 1)) == [(1, \"a\"), (2, \"b\")]"},
    {"list(zip([1, 2], \"ab\", (3, 4))) == [(1, \"a\", 3), (2, \"b\", 4)]"},
    {"[x * y for x in range(3) for y in [1, 10] if x if y > 0] == [1, 10, 2, 20]"},
    {"[a + b for a, b in [(1, 2), (3, 4)]] == [3, 7]"},
    {"[x for x in [] for y in undefined_name] == []"},
    {"sum(x for x in range(4)) == 6 and max([1, 5, 2]) == 5 and min(3, 2) == 2"},
    {"{k: v for k, v in zip(\"ab\", [1, 2])} == {\"b\": 2, \"a\": 1}"},
    {"{\"a\": 1}.get(\"b\", 7) == 7 and list({\"a\": 1}.items()) == [(\"a\", 1)] and {\"a\": [1, "
     "2]}[\"a\"][1] == 2"},
    {"sorted([3, 1, 2]) == [1, 2, 3] and sorted(\"ba\", reverse=True) == [\"b\", \"a\"]"},
    {"all([1, True]) and not any([0, False]) and abs(-3) == 3 and int(3.9) == 3 and str(4) == "
     "\"4\""},
    {"f\"a{1 + 1}b{'c'}{{}}\" == \"a2bc{}\" and f\"{7:03d}\" == \"007\" and f'{[1, \"x\"]}' == "
     "\"[1, 'x']\""},
    {"\"%s_%d\" % (\"a\", 3) == \"a_3\" and \"{}{1}\".format(\"x\", \"y\") == \"xy\" and "
     "\",\".join([\"a\", \"b\"]) == \"a,b\""},
    {"\"a\" \"b\" == \"ab\" and r\"\\n\" != \"\\n\" and \"A.b\".lower().split(\".\") == [\"a\", "
     "\"b\"]"},
    {"\"abc\".startswith(\"ab\") and \"abc\".endswith(\"c\") and \"a-b\".replace(\"-\", \"_\") == "
     "\"a_b\""},
    {"len({1: \"x\", (1, 2): \"y\"}) == 2"},
    {"[*range(2), *[5]] == [0, 1, 5]"},
    {"math.prod([2, 3, 4]) == 24"},
};

static void is_true(void **state) {
    const struct truth *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    char text[1024];
    snprintf(text, sizeof text, "import math\nassert %s\nassert not (%s), 1\n", row->text,
             row->text);
    hone_status st = read_text(base, text, strlen(text), NULL);
    hone_module_release(module);
    HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, "t:3:1: this does not hold");
}

/* clang-format off */
static const struct wrong {
    const char *text, *part;
} wrongs[] = {
    {"break\n", "there is no loop around this"},
    {"assert 1 == 2\n", "t:1:1: this does not hold"},
    {"raise ValueError(\"no\")\n", "gives up here"},
    {"try:\n    pass\n", "try is not known here"},
    {"if MyModule:\n    pass\n", "undefined name 'MyModule'"},
    {"import numpy as np\nif np.random.rand() > 3:\n    pass\n",
     "what 'numpy.random.rand' is, is not known here"},
    {"v = sch.sample_categorical([1, 2], [0.5, 0.5])\nif v == 1:\n    pass\n",
     "t:2:4: this is drawn only when the schedule is applied"},
    {"v = sch.sample_categorical([1, 2], [0.5, 0.5])\nif sch.get(v) > 1:\n    pass\n",
     "'what depends on what is drawn' is, is not known here"},
    {"from lib import tile\ntile(sch, 3)\n",
     "what 'lib.tile' does to the schedule is not known here"},
    {"x = sch.get(sch.get_block(\"C\")).body\n", "'body' is not known of this"},
    {"a, *b, c = [1]\n", "3 names for 1 values"},
    {"a, b = 1, 2, 3\n", "2 names for 3 values"},
    {"x = [1, 2][2]\n", "index 2 of 2 items"},
    {"x = {\"a\": 1}[\"b\"]\n", "the dictionary has no such key"},
    {"x = f\"{1:z}\"\n", "this way to print a value is not known"},
    {"x = f\"{1\"\n", "expected '}'"},
    {"x = 3\nx(4)\n", "an integer cannot be called"},
    {"x = lambda n: n + 1\ny = x(4)\n", "write a function with def"},
    {"x = [1] * 5000\n", "the list is too long"},
    {"x = \"ab\" * 2\n", "these cannot be computed with"},
    {"x = [y for y in 3]\n", "expected a list"},
    {"x = 3 +\n", "t:1:8: expected an expression, found the end of the line"},
    {"def f(**kw):\n    pass\n", "too many arguments for 'f'"},
    {"def f(a, *, b):\n    pass\nf(1, 2)\n", "t:3:6: too many arguments for 'f'"},
    {"def f(a, **more):\n    pass\nf(1, b=2, **{\"b\": 3})\n", "given twice: argument 'b'"},
    {"def f(a, *, b=2, **more):\n    assert (a, b, more) != (1, 3, {\"c\": 4})\nf(1, **{\"b\": 3, "
     "\"c\": 4})\n",
     "t:2:5: this does not hold"},
    {"s2 = sch.copy()\n", "a trace has one schedule"},
    {"while True:\n    pass\n", "this runs for too long"},
    {"x = 9 ** 99\n", "the number is too large"},
    {"x = max(sch.get_loops(\"C\"))\n", "have no order"},
    {"x = [1]\nx.append(x)\nsch.annotate(\"C\", \"k\", x)\n", "nested too deeply"},
    {"x.append(3)\n", "undefined name 'x'"},
    {"a = sch\nsch = tvm.s_tir.Schedule(M)\na.get_block(\"C\")\n", "followed by another one"},
    {"from tvm.tir import IndexMap as M\nx = M.from_func(ndim=2)\n", "t:2:16: expected a lambda"},
    {"def f(i, j):\n    k = i\n    return k, j\nsch.transform_layout(\"C\", (\"write\", 0), f)\n",
     "does nothing but return one"},
};
/* clang-format on */

static void says_why(void **state) {
    const struct wrong *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    hone_status st = read_text(base, row->text, strlen(row->text), NULL);
    hone_module_release(module);
    HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, row->part);
}

/* Files of the fuzzer's corpus: whole scripts, and the steps that they make. */
static const struct script {
    const char *file, *steps;
} scripts[] = {
    {"python_words.py",
     "# from tvm import s_tir\n"
     "def apply_trace(sch: s_tir.Schedule) -> None:\n"
     "  b0 = sch.get_sblock(name=\"C\", func_name=\"main\")\n"
     "  l1, l2, l3 = sch.get_loops(block=b0)\n"
     "  l4, l5 = sch.split(loop=l1, factors=[8, 8], preserve_unit_iters=True, "
     "disable_predication=False)\n"
     "  l6, l7 = sch.split(loop=l2, factors=[None, 16], preserve_unit_iters=True, "
     "disable_predication=False)\n"
     "  sch.reorder(l4, l6, l5, l7, l3)\n"
     "  l8 = sch.fuse(l4, l6, preserve_unit_iters=True)\n"
     "  l9 = sch.fuse(l5, l7, preserve_unit_iters=True)\n"
     "  sch.bind(loop=l8, thread_axis=\"blockIdx.x\")\n"
     "  sch.bind(loop=l9, thread_axis=\"threadIdx.x\")\n"
     "  sch.annotate(block_or_loop=l8, ann_key=\"pragma_outer_03\", ann_val=\"16x8\")\n"
     "  b10, = sch.get_consumers(block=b0)\n"
     "  l11, l12 = sch.get_loops(block=b10)\n"
     "  sch.vectorize(loop=l12)\n"
     "  sch.annotate(block_or_loop=b0, ann_key=\"n\", ann_val=3)\n"
     "  l13, l14 = sch.split(loop=l3, factors=[None, 2], preserve_unit_iters=True, "
     "disable_predication=False)\n"
     "  l15, l16 = sch.split(loop=l13, factors=[None, 2], preserve_unit_iters=True, "
     "disable_predication=False)\n"                      },
    {"python_values.py",
     "# from tvm import s_tir\n"
     "def apply_trace(sch: s_tir.Schedule) -> None:\n"
     "  b0 = sch.get_sblock(name=\"C\", func_name=\"main\")\n"
     "  b1 = sch.get_sblock(name=\"D\", func_name=\"main\")\n"
     "  sch.transform_layout(block=b0, buffer=(\"write\", 0), index_map=lambda i, j: (i // 4, j // "
     "4, i % 4, j % 4,), pad_value=None, assume_injective_transform=False)\n"
     "  l2, l3 = sch.get_loops(block=b1)\n"
     "  l4 = sch.fuse(l2, l3, preserve_unit_iters=True)\n"
     "  l5, l6 = sch.split(loop=l4, factors=[16, 256], preserve_unit_iters=True, "
     "disable_predication=False)\n"
     "  sch.bind(loop=l5, thread_axis=\"blockIdx.x\")\n"
     "  sch.bind(loop=l6, thread_axis=\"threadIdx.x\")\n"},
};

static char *load(const char *file, size_t *out_length) {
    char path[128], *text = NULL;
    snprintf(path, sizeof path, "tests/fuzz/corpus/trace/%s", file);
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(path), 1 << 16, &text, out_length));
    return text;
}

static void makes_steps(void **state) {
    const struct script *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    size_t length;
    char *text = load(row->file, &length);
    hone_str steps = {0};
    HONE_ASSERT_OK(read_text(base, text, length, &steps));
    free(text);
    hone_module_release(module);
    assert_string_equal(hone_str_text(&steps), row->steps);
    hone_str_deinit(&steps);
}

/* Wherever a script ends, a status is all that comes of it. */
static void ends_anywhere(void **state) {
    (void)state;
    static const char *const files[] = {"python_words.py", "python_space.py", "python_values.py"};
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(hone_test_dense_relu, &module);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t length;
        char *text = load(files[i], &length);
        for (size_t n = 0; n < length; n += 1 + n % 29) {
            char *part = malloc(n ? n : 1); /* of this size, so that ASan sees what is beyond */
            memcpy(part, text, n);
            hone_status_free(read_text(base, part, n, NULL));
            free(part);
        }
        free(text);
    }
    hone_module_release(module);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(ends_anywhere)};
    int failed = HONE_RUN_ROWS("schedule/trace_language_true", truths, is_true);
    failed += HONE_RUN_ROWS("schedule/trace_language_wrong", wrongs, says_why);
    failed += HONE_RUN_ROWS("schedule/trace_language_scripts", scripts, makes_steps);
    return failed + cmocka_run_group_tests_name("schedule/trace_language", tests, NULL, NULL);
}
