/* tests/schedule/python/test_trace_errors.c - what is wrong with a trace is said with its place:
 * line, column and caret in Python, the number of the instruction in JSON; steps that cannot be
 * done say which. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/state/schedule.h"
#include "tests/support/program_text.h"

/* clang-format off */
static const char program[] = "from tvm.script import tir as T\n"
                              "@T.prim_func\n"
                              "def main(A: T.Buffer((6, 8)), B: T.Buffer((6, 8))):\n"
                              "    for i, j in T.grid(6, 8):\n"
                              "        with T.block(\"B\"):\n"
                              "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                              "            B[vi, vj] = A[vi, vj] + T.float32(1)\n";

#define B "b = sch.get_block(\"B\")\ni, j = sch.get_loops(b)\n"
#define JB "[\"GetSBlock\", [], [\"B\", \"main\"], [\"b0\"]]"
#define JL JB ", [\"GetLoops\", [\"b0\"], [], [\"l1\", \"l2\"]]"

#define FIFTY "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
#define CLOSED "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"

static const struct row {
    const char *name, *text;
    hone_code code;
    const char *part;
} rows[] = {
    {"unknown step", B "sch.tile(i)\n", HONE_CODE_INVALID,
     "t:3:5: unknown step 'tile'\nsch.tile(i)\n    ^"},
    {"unknown name", B "sch.parallel(loop=k)\n", HONE_CODE_INVALID, "t:3:19: undefined name 'k'"},
    {"an inner step without a result", B "sch.parallel(sch.vectorize(j))\n", HONE_CODE_INVALID,
     "argument 'loop' must be a block or a loop"},
    {"an inner list too short", B "sch.parallel(sch.split(j, [2, 4])[2])\n", HONE_CODE_INVALID,
     "index 2 of 2 items"},
    {"an inner list of any length", B "sch.parallel(sch.get_loops(b))\n", HONE_CODE_INVALID,
     "t:3:18: unpack the result"},
    {"unknown argument", B "sch.parallel(lop=i)\n", HONE_CODE_INVALID,
     "'parallel' has no argument 'lop'"},
    {"too many arguments", B "sch.parallel(i, j)\n", HONE_CODE_INVALID,
     "'parallel' takes at most 1 argument"},
    {"missing argument", B "sch.split(i)\n", HONE_CODE_INVALID,
     "'split' needs an argument 'factors'"},
    {"a call of another module", "import os\n" B "os.system(\"x\")\n", HONE_CODE_INVALID,
     "t:4:1: expected a step of the schedule, an assignment or a definition: 'os.system' is not "
     "run here\nos.system(\"x\")\n^"},
    {"a call of a name of it", "from os import system as run\ndef f(sch):\n    run(1)\nf(sch)\n",
     HONE_CODE_INVALID, "t:3:5: expected a step of the schedule"},
    {"calls of it in a list", "import os\n[os.remove(x) for x in [1]]\n", HONE_CODE_INVALID,
     "t:2:1: expected a step"},
    {"a step that is shown", B "print(1, sch.parallel(i))\n", HONE_CODE_INVALID,
     "t:3:14: what is shown is not read, and this is a step"},
    {"behind what is shown", B "print(\"sch.parallel(i)\"); sch.tile(i)\n", HONE_CODE_INVALID,
     "t:3:31: unknown step 'tile'"},
    {"no bracket", B "sch.parallel i\n", HONE_CODE_INVALID,
     "t:3:14: expected the end of the line, found 'i'"},
    {"open bracket", B "sch.parallel(i\n", HONE_CODE_INVALID, "this bracket is never closed"},
    {"open list", B "sch.split(i, [2, 3\n", HONE_CODE_INVALID, "this bracket is never closed"},
    {"open string", "b = sch.get_block(\"B)\n", HONE_CODE_INVALID,
     "t:1:19: this string has no closing quote"},
    {"bad escape", "b = sch.get_block(\"\\xq\")\n", HONE_CODE_INVALID, "lacks hexadecimal digits"},
    {"no number", B "sch.split(i, [2x])\n", HONE_CODE_INVALID, "t:3:15: this number is malformed"},
    {"large number", B "sch.split(i, [99999999999999999999])\n", HONE_CODE_INVALID,
     "this number does not fit 64 bits"},
    {"wrong type", B "sch.split(i, 2)\n", HONE_CODE_INVALID, "argument 'factors' must be a list"},
    {"a loop must be one", B "sch.parallel(3)\n", HONE_CODE_INVALID,
     "argument 'loop' must be a block or a loop"},
    {"an expression for a loop", B "sch.reorder(i, lambda x: x)\n", HONE_CODE_INVALID,
     "argument 'ordered_loops' must be values, not expressions"},
    {"an expression for a value", B "sch.annotate(i, \"k\", [1, lambda x: x])\n", HONE_CODE_INVALID,
     "argument 'ann_val' must be values, not expressions"},
    {"a string must be one", B "sch.bind(i, 3)\n", HONE_CODE_INVALID,
     "argument 'thread_axis' must be a string"},
    {"too many names", B "a, c, d = sch.split(i, [2, 3])\n", HONE_CODE_INVALID,
     "3 names for 2 results"},
    {"no result", B "x, y = sch.parallel(i)\n", HONE_CODE_INVALID, "this step has no result"},
    {"unknown count", "b = sch.get_block(\"B\")\nl = sch.get_loops(b)\n", HONE_CODE_INVALID,
     "unpack the result"},
    {"not a step", B "try:\n  sch.parallel(i)\n", HONE_CODE_INVALID,
     "t:3:1: try is not known here"},
    {"rest of a line", B "sch.parallel(i) i\n", HONE_CODE_INVALID, "expected the end of the line"},
    {"wrong decision", B "x, y = sch.sample_perfect_tile(i, 2, decision=[\"a\", 1])\n",
     HONE_CODE_INVALID, "the decision must be"},
    {"huge n", B "x = sch.sample_perfect_tile(i, 4294967297)\n", HONE_CODE_INVALID,
     "n is out of range"},
    {"deep nesting",
     B "sch.annotate(i, 'k', " FIFTY FIFTY FIFTY FIFTY "1" CLOSED CLOSED CLOSED CLOSED ")\n",
     HONE_CODE_INVALID, "nested too deeply"},
    {"a map that is cut off", B "sch.transform_block_layout(b, lambda i, j: (i,\n",
     HONE_CODE_INVALID, "t:3:27: this bracket is never closed"},
    {"a name that no map knows", B "sch.transform_block_layout(b,\n    lambda i, j: (i, k))\n",
     HONE_CODE_INVALID, "t:4:22: undefined name 'k'"},
    {"a loop in a map", B "sch.transform_block_layout(b, lambda x, y: (x, i))\n", HONE_CODE_INVALID,
     "t:3:48: undefined name 'i'"},
    {"a map of one word", B "sch.transform_block_layout(b, lambda, j)\n", HONE_CODE_INVALID,
     "lambda"},
    {"a star without a name", B "sch.transform_block_layout(b, lambda i, *: (i,))\n",
     HONE_CODE_INVALID, "expected a parameter of the lambda"},
    {"a map without a body", B "sch.transform_block_layout(b, lambda i, j)\n", HONE_CODE_INVALID,
     "t:3:42: expected ':'"},
    {"a map that is none", B "sch.transform_block_layout(b, 3)\n", HONE_CODE_INVALID,
     "argument 'index_map' must be a lambda or an index map"},
    {"a call that makes no map", B "sch.transform_block_layout(b, T.index_map(3))\n",
     HONE_CODE_INVALID, "expected an argument by its name"},
    {"a map of another rank", B "sch.transform_block_layout(b, lambda i: (i,))\n",
     HONE_CODE_ILLEGAL, "the index map has 1 parameters, expected 2"},
    {"JSON: a map that is no JSON",
     "[[" JL ", [\"TransformBlockLayout\", [\"b0\"], [\"{\"], []]], []]", HONE_CODE_INVALID,
     "step 3"},
    {"JSON: a map without nodes",
     "[[" JL ", [\"TransformBlockLayout\", [\"b0\"], [\"{}\"], []]], []]", HONE_CODE_INVALID,
     "step 3: index map: expected an object with root_index and nodes"},
    {"JSON: a map of itself",
     "[[" JL ", [\"TransformBlockLayout\", [\"b0\"], [\"{\\\"root_index\\\": 2, \\\"nodes\\\": "
     "[{\\\"type\\\": \\\"Array\\\", \\\"data\\\": []}, "
     "{\\\"type\\\": \\\"Array\\\", \\\"data\\\": [3]}, {\\\"type\\\": \\\"IndexMap\\\", "
     "\\\"data\\\": {\\\"initial_indices\\\": 0, "
     "\\\"final_indices\\\": 1}}, {\\\"type\\\": \\\"Add\\\", \\\"data\\\": {\\\"a\\\": 3, "
     "\\\"b\\\": 3}}]}\"], []]], []]",
     HONE_CODE_INVALID, "nested too deeply"},
    {"JSON: a map is missing", "[[" JL ", [\"TransformBlockLayout\", [\"b0\"], [], []]], []]",
     HONE_CODE_INVALID, "is missing"},
    {"no such block", "b = sch.get_block(\"Q\")\n", HONE_CODE_ILLEGAL,
     "no block is named 'Q'; there are 'root', 'B'"},
    {"names the step", B "sch.split(i, [4, 2])\nsch.split(j, [3, 2])\n", HONE_CODE_ILLEGAL,
     "step 4: l5, l6 = sch.split(loop=l2, factors=[3, 2]"},
    {"a loop that is gone", B "sch.fuse(i, j)\nsch.parallel(i)\n", HONE_CODE_ILLEGAL,
     "l1 no longer exists: an earlier step replaced it"},
    {"a block for a loop", B "sch.parallel(b)\n", HONE_CODE_INVALID,
     "b0 is a block, expected a loop"},
    {"a loop for a block", B "sch.compute_inline(i)\n", HONE_CODE_INVALID,
     "l1 is a loop, expected a block"},
    {"an integer for a loop", B "x, y = sch.sample_perfect_tile(i, 2)\nsch.parallel(x)\n",
     HONE_CODE_INVALID, "v3 is an integer, expected a block or a loop"},
    {"a loop for a factor", B "sch.split(i, [j, 2])\n", HONE_CODE_INVALID, "is not an integer"},
    {"a mark for a loop", B "l = sch.sample_compute_location(b, decision=-1)\nsch.parallel(l)\n",
     HONE_CODE_ILLEGAL, "is a mark (root or inline), not a loop"},
    {"wrong number of loops", "b = sch.get_block(\"B\")\ni, = sch.get_loops(b)\n",
     HONE_CODE_ILLEGAL, "it gave 2 results, the trace has names for 1"},
    {"decision of other length", B "x, y = sch.sample_perfect_tile(i, 2, decision=[1, 2, 3])\n",
     HONE_CODE_ILLEGAL, "of extent 6 has 3 factors, n is 2"},
    {"decision out of range", "x = sch.sample_categorical([1, 2], [0.5, 0.5], decision=2)\n",
     HONE_CODE_ILLEGAL, "decision 2 is no index of 2 candidates"},
    {"negative probability", "x = sch.sample_categorical([1, 2], [-1.0, 0.5])\n", HONE_CODE_ILLEGAL,
     "probability 0 is negative"},
    {"lists of other length", "x = sch.sample_categorical([1], [0.5, 0.5])\n", HONE_CODE_INVALID,
     "two lists of one length"},
    {"no UTF-8", "b = sch.get_block(\"\xcd\")\n", HONE_CODE_INVALID, "this string is not UTF-8"},
    {"probabilities beyond all", "x = sch.sample_categorical([1, 2], [1e308, 1e308])\n",
     HONE_CODE_ILLEGAL, "the probabilities are too large"},
    {"no candidates", "x = sch.sample_categorical([], [])\n", HONE_CODE_ILLEGAL, "no candidate"},
    {"JSON: empty", "[", HONE_CODE_INVALID, "t: "},
    {"JSON: no pair", "[[]]", HONE_CODE_INVALID, "a trace must be [instructions, decisions]"},
    {"JSON: an object", "{\"a\": 1}", HONE_CODE_INVALID,
     "a trace must be [instructions, decisions]"},
    {"JSON: short instruction", "[[[\"GetLoops\", [], []]], []]", HONE_CODE_INVALID,
     "step 1: must be [kind, inputs, attributes, outputs]"},
    {"JSON: unknown kind", "[[" JB ", [\"Tile\", [], [], []]], []]", HONE_CODE_UNSUPPORTED,
     "step 2: unknown kind 'Tile'"},
    {"JSON: undefined variable", "[[[\"GetLoops\", [\"b0\"], [], [\"l1\"]]], []]",
     HONE_CODE_INVALID, "step 1: GetLoops: 'b0' is not defined"},
    {"JSON: its own output", "[[[\"GetLoops\", [\"l0\"], [], [\"l0\"]]], []]", HONE_CODE_INVALID,
     "'l0' is not defined"},
    {"JSON: output is no name", "[[[\"GetSBlock\", [], [\"B\", \"main\"], [1]]], []]",
     HONE_CODE_INVALID, "an output must be a name"},
    {"JSON: no inputs", "[[" JL ", [\"Split\", [], [1, 0], []]], []]", HONE_CODE_INVALID,
     "an input must be a block or a loop"},
    {"JSON: no attributes", "[[[\"GetSBlock\", [], [], [\"b0\"]]], []]", HONE_CODE_INVALID,
     "an attribute must be a string"},
    {"JSON: wrong attribute", "[[" JL ", [\"Bind\", [\"l1\"], [7], []]], []]", HONE_CODE_INVALID,
     "an attribute must be a string"},
    {"JSON: list of variables", "[[" JL ", [\"Annotate\", [\"b0\", [\"l1\"]], [\"k\"], []]], []]",
     HONE_CODE_INVALID, "list of variables"},
    {"JSON: no value", "[[" JL ", [\"Annotate\", [\"b0\"], [\"k\"], []]], []]", HONE_CODE_INVALID,
     "the value is missing"},
    {"JSON: too many outputs", "[[" JL ", [\"Parallel\", [\"l1\"], [], [\"l3\"]]], []]",
     HONE_CODE_ILLEGAL, "it gave 0 results, the trace has names for 1"},
    {"JSON: huge n",
     "[[" JL ", [\"SamplePerfectTile\", [\"l1\"], [4294967298, 16], [\"v3\", \"v4\"]]], []]",
     HONE_CODE_INVALID, "n must be from 1 to 16"},
    {"JSON: decision for no sample", "[[" JB "], [[0, [1]]]]", HONE_CODE_INVALID,
     "decision for instruction 0 (from 0), GetSBlock, which does not sample"},
    {"JSON: decision out of range", "[[" JB "], [[9, [1]]]]", HONE_CODE_INVALID,
     "decision for instruction 9"},
    {"JSON: decision of text",
     "[[" JL ", [\"SamplePerfectTile\", [\"l1\"], [1, 16], [\"v3\"]]], [[2, [\"x\"]]]]",
     HONE_CODE_INVALID, "is not made of integers"},
    {"JSON: reorder of nothing", "[[" JL ", [\"Reorder\", [], [], []]], []]", HONE_CODE_ILLEGAL,
     "reorder needs at least one loop"},
    {"JSON: fuse of nothing", "[[" JL ", [\"Fuse\", [], [1], [\"l3\"]]], []]", HONE_CODE_ILLEGAL,
     "fuse needs at least one loop"},
    {"JSON: split without factors", "[[" JL ", [\"Split\", [\"l1\"], [1, 0], []]], []]",
     HONE_CODE_ILLEGAL, "split needs at least one factor"},
    {"JSON: factor is text",
     "[[" JL ", [\"Split\", [\"l1\", \"\\\"a\\\"\"], [1, 0], [\"l3\"]]], []]", HONE_CODE_INVALID,
     "a factor must be"},
    {"JSON: text for a loop", "[[" JL ", [\"Reorder\", [\"\\\"l1\\\"\"], [], []]], []]",
     HONE_CODE_INVALID, "an input must be a block or a loop"},
};
/* clang-format on */

static void says_why(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *base = hone_test_parse(program, &module);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    size_t length = strlen(row->text);
    hone_status st = strncmp(row->name, "JSON", 4) == 0
                         ? hone_trace_parse_json(arena, row->text, length, "t", &trace)
                         : hone_trace_parse_python(arena, row->text, length, "t", &trace);
    if (!st) st = hone_trace_apply(&trace, sch, NULL);
    hone_arena_destroy(arena);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    HONE_ASSERT_ERROR(st, row->code, row->part);
}

int main(void) {
    return HONE_RUN_ROWS("schedule/trace_errors", rows, says_why);
}
