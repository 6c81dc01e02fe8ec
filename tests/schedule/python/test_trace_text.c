/* tests/schedule/python/test_trace_text.c - texts of one trace in all spellings make one program:
 * TVM's JSON (new and old names, tuning records around it), the Python that TVM prints, and what
 * people write. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "tests/support/program_text.h"

static const char program[] =
    "from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((128, 128), \"float32\"), B: T.Buffer((128, 128), \"float32\"),\n"
    "         D: T.Buffer((128, 128), \"float32\")):\n"
    "    C = T.alloc_buffer((128, 128))\n"
    "    for i, j, k in T.grid(128, 128, 128):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "    for i, j in T.grid(128, 128):\n"
    "        with T.block(\"D\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n";

/* Written out by hand: what every text below must make. */
static const char reference[] =
    "b0 = sch.get_sblock(name=\"C\", func_name=\"main\")\n"
    "l1, l2, l3 = sch.get_loops(block=b0)\n"
    "l4, l5 = sch.split(loop=l1, factors=[None, 8])\n"
    "l6, l7 = sch.split(loop=l2, factors=[32, 4])\n"
    "sch.reorder(l4, l6, l3, l5, l7)\n"
    "b8 = sch.get_sblock(name=\"D\", func_name=\"main\")\n"
    "sch.reverse_compute_at(block=b8, loop=l6)\n"
    "sch.parallel(loop=l4)\n"
    "sch.annotate(block_or_loop=l7, ann_key=\"k\", ann_val=[1, \"a\"])\n"
    "b9 = sch.decompose_reduction(block=b0, loop=l3)\n";

#define INSTS(get_block)                                                                           \
    "[[\"" get_block "\", [], [\"C\", \"main\"], [\"b0\"]], "                                      \
    "[\"GetLoops\", [\"b0\"], [], [\"l1\", \"l2\", \"l3\"]], "                                     \
    "[\"SamplePerfectTile\", [\"l1\"], [2, 16], [\"v4\", \"v5\"]], "                               \
    "[\"Split\", [\"l1\", \"v4\", \"v5\"], [1, 0], [\"l6\", \"l7\"]], "                            \
    "[\"Split\", [\"l2\", \"None\", 4], [1], [\"l8\", \"l9\"]], "                                  \
    "[\"Reorder\", [\"l6\", \"l8\", \"l3\", \"l7\", \"l9\"], [], []], "                            \
    "[\"GetConsumers\", [\"b0\"], [], [\"b10\"]], "                                                \
    "[\"ReverseComputeAt\", [\"b10\", \"l8\"], [0, -1], []], "                                     \
    "[\"Parallel\", [\"l6\"], [], []], "                                                           \
    "[\"Annotate\", [\"l9\", [1, \"\\\"a\\\"\"]], [\"k\"], []], "                                  \
    "[\"DecomposeReduction\", [\"b0\", \"l3\"], [], [\"b11\"]]]"
#define DECISIONS "[[2, [16, 8]]]"

static const struct row {
    const char *name, *text;
} rows[] = {
    {"JSON",                               "[" INSTS("GetSBlock") ", " DECISIONS "]" },
    {"JSON, old name",                     "[" INSTS("GetBlock") ", " DECISIONS "]"  },
    {"JSON, a record's value",
     "[[" INSTS("GetSBlock") ", " DECISIONS "], [0.001, 0.002], {\"kind\": \"llvm\"}, "
                             "[[\"TENSOR\", \"float32\", [128, 128]]]]"              },
    {"JSON, a record's line",
     "[0, [[" INSTS("GetBlock") ", " DECISIONS
                                "], [0.001], {\"kind\": \"llvm\", \"num-cores\": 4}, "
                                "[[\"TENSOR\", \"float32\", [128, 128]]]]]\n"        },
    {"JSON, a stale decision is repaired", "[" INSTS("GetSBlock") ", [[2, [77, 8]]]]"},
    {"Python as TVM prints it",
     "# from tvm import tir\n"
     "def apply_trace(sch: tir.Schedule) -> None:\n"
     "  b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "  l1, l2, l3 = sch.get_loops(block=b0)\n"
     "  v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[16, 8])\n"
     "  l6, l7 = sch.split(loop=l1, factors=[v4, v5], preserve_unit_iters=True, "
     "disable_predication=False)\n"
     "  l8, l9 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True)\n"
     "  sch.reorder(l6, l8, l3, l7, l9)\n"
     "  b10, = sch.get_consumers(block=b0)\n"
     "  sch.reverse_compute_at(block=b10, loop=l8, preserve_unit_loops=False, index=-1)\n"
     "  sch.parallel(loop=l6)\n"
     "  sch.annotate(block_or_loop=l9, ann_key=\"k\", ann_val=[1, \"a\"])\n"
     "  b11 = sch.decompose_reduction(block=b0, loop=l3)\n"                          },
    {"Python as people write it",          "import tvm\nfrom tvm import tir\n\n"
                                  "def schedule_matmul(mod, jfactor=4):\n"
                                  "    \"\"\"Tiles.\n    Then sums.\"\"\"\n"
                                  "    pass\n"
                                  "sch = tvm.tir.Schedule(MyModule)\n"
                                  "block_C = sch.get_block('C', \"main\")\n"
                                  "i, j, k = sch.get_loops(block_C)  # three of them\n"
                                  "i0, i1 = sch.split(i, [None, 8])\n"
                                  "j0, j1 = sch.split(loop=j, factors=(32,\n        4))\n"
                                  "sch.reorder(i0, j0, k, i1, j1)\n"
                                  "block_D = sch.get_block(\"D\")\n"
                                  "sch.reverse_compute_at(block_D, j0); sch.parallel(i0)\n"
                                  "sch.annotate(j1, 'k', [1, 'a'])\n"
                                  "sch.decompose_reduction(block_C, k)\n"
                                  "return sch\n"    },
    {"steps within steps",
     "i, j, k = sch.get_loops(sch.get_block('C'))\n"
     "i0, i1 = sch.split(i, [None, 8])\n"
     "j0, j1 = sch.split(loop=j, factors=[32, 4])\n"
     "sch.reorder(i0, j0, k, i1, j1)\n"
     "sch.reverse_compute_at(sch.get_block(\"D\"), j0)\n"
     "sch.parallel(i0)\n"
     "sch.annotate(j1, 'k', [1, 'a'])\n"
     "sch.decompose_reduction(sch.get_block(name='C', func_name='main'), k)\n"       },
};

static hone_status parse(hone_arena *arena, const char *text, hone_trace *out) {
    return text[0] == '[' ? hone_trace_parse_json(arena, text, strlen(text), "t.json", out)
                          : hone_trace_parse_python(arena, text, strlen(text), "t.py", out);
}

static hone_status apply_text(const char *text, hone_schedule *sch) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    hone_status st = parse(arena, text, &trace);
    if (!st) st = hone_trace_apply(&trace, sch, NULL);
    hone_arena_destroy(arena);
    return st;
}

static void makes_the_program(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(program, &module);
    hone_schedule *want = NULL, *got = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &want));
    HONE_ASSERT_OK(hone_schedule_create(base, &got));
    HONE_ASSERT_OK(apply_text(reference, want));
    hone_status st = apply_text(row->text, got);
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

/* As TVM prints it: line by line, quotes as they are. */
static void reads_text_of_several_lines(void **state) {
    (void)state;
    static const char head[] = "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                               "sch.annotate(block_or_loop=b0, ann_key=\"pragma_import_c\", ";
    static const char *const tails[] = {
        "ann_val=\"#include \"x.h\"\n  int f(int a, char *b);\\n\")\nsch.enter_postproc()\n",
        "ann_val=\"#include \\\"x.h\\\"\\n  int f(int a, char "
        "*b);\\\\n\")\nsch.enter_postproc()\n"};
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(program, &module);
    hone_schedule *sch[2];
    for (int i = 0; i < 2; i++) {
        hone_str text = {0};
        hone_str_printf(&text, "%s%s", head, tails[i]);
        HONE_ASSERT_OK(hone_schedule_create(base, &sch[i]));
        HONE_ASSERT_OK(apply_text(hone_str_text(&text), sch[i]));
        assert_int_equal(sch[i]->trace.count, 3);
        hone_str_deinit(&text);
    }
    assert_true(hone_func_equal(sch[0]->func, sch[1]->func, NULL));
    for (int i = 0; i < 2; i++)
        hone_schedule_destroy(sch[i]);
    hone_module_release(module);
}

/* Without decisions a trace is a space: it draws anew, and each draw is a factorization. */
static void draws_without_decisions(void **state) {
    (void)state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(program, &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    bool seen[8] = {false};
    for (int i = 0; i < 200; i++) {
        HONE_ASSERT_OK(hone_schedule_reset(sch));
        HONE_ASSERT_OK(apply_text("[" INSTS("GetSBlock") ", []]", sch));
        const hone_decision *d = &sch->trace.decisions[2];
        assert_int_equal(d->count, 2);
        assert_int_equal(d->values[0] * d->values[1], 128);
        assert_true(d->values[1] <= 16);
        seen[__builtin_ctzll((unsigned long long)d->values[1])] = true;
    }
    for (int i = 0; i <= 4; i++)
        assert_true(seen[i]); /* 1, 2, 4, 8, 16 */
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

/* What two traces of one space differ by is read alone, and is what reading all of it gives. */
static void reads_decisions_alone(void **state) {
    (void)state;
    static const char first[] = "[" INSTS("GetSBlock") ", [[2, [8, 16]]]]";
    static const char second[] = " [ " INSTS("GetSBlock") " , [[2, [128, 1]]] ] ";
    static const char none[] = "[" INSTS("GetSBlock") ", []]";
    static const char wrong[] = "[" INSTS("GetSBlock") ", [[0, 1]]]";
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    size_t head = hone_trace_json_head(first);
    HONE_ASSERT_OK(parse(arena, first, &trace));
    assert_memory_equal(first, none, head);
    HONE_ASSERT_OK(hone_trace_parse_decisions(second, hone_trace_json_head(second), &trace));
    assert_int_equal(trace.decisions[2].count, 2);
    assert_int_equal(trace.decisions[2].values[0], 128);
    HONE_ASSERT_OK(hone_trace_parse_decisions(none, head, &trace));
    assert_int_equal(trace.decisions[2].count, 0);
    HONE_ASSERT_CODE(hone_trace_parse_decisions(wrong, head, &trace), HONE_CODE_INVALID);
    HONE_ASSERT_CODE(hone_trace_parse_decisions("[[],", 4, &trace), HONE_CODE_INVALID);
    static const char *const others[] = {"", "b0 = 1", "[", "[[\"]", "[[]", "[[]]", "[1, 2]"};
    for (size_t i = 0; i < HONE_COUNT(others); i++)
        assert_int_equal(hone_trace_json_head(others[i]), 0);
    assert_int_equal(hone_trace_json_head("[[\"]\\\"]\", []],[]]"), 14);
    hone_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_text_of_several_lines),
                                       cmocka_unit_test(draws_without_decisions),
                                       cmocka_unit_test(reads_decisions_alone)};
    int failed = HONE_RUN_ROWS("schedule/trace_text", rows, makes_the_program);
    return failed + cmocka_run_group_tests_name("schedule/trace_space", tests, NULL, NULL);
}
