/* tests/graph/test_share_repeated.c - products with what is repeated
 * (graph/passes/share_repeated.c): what is computed stays, and where the repetition is that of
 * whole matrices it is gone. */
#include <string.h>

#include "graph/passes/pass.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { MOST_INPUTS = 4 };

#define Q(heads, rows) "q: R.Tensor((2, " #heads ", " #rows ", 5), \"float32\"), "
#define K "k: R.Tensor((2, 3, 7, 5), \"float32\")"
#define APART(x, y) "    " #y " = R.reshape(" #x ", R.shape([2, 3, 1, 7, 5]))\n"
#define SPREAD(x, y) "    " #y " = R.broadcast_to(" #x ", R.shape([2, 3, 4, 7, 5]))\n"
#define JOIN(x, y) "    " #y " = R.reshape(" #x ", R.shape([2, 12, 7, 5]))\n"
#define REPEAT(x, y) APART(x, y##1) SPREAD(y##1, y##2) JOIN(y##2, y)

/* spread: how many broadcast_to are left. */
/* clang-format off */
static const struct row {
    const char *name, *inputs, *body;
    uint32_t spread;
} rows[] = {
    {"keys that serve four heads", Q(12, 6) K,
     REPEAT(k, r) "    out = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 0},
    {"one row of each head", Q(12, 1) K,
     REPEAT(k, r) "    out = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 0},
    {"values, too", Q(12, 6) K,
     REPEAT(k, r) "    s = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n"
     "    w = R.nn.softmax(s, axis=-1)\n"
     "    out = R.matmul(w, r)\n", 0},
    {"what has five dimensions already",
     Q(12, 6) "k: R.Tensor((2, 3, 1, 7, 5), \"float32\")",
     SPREAD(k, s) JOIN(s, r) "    out = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 0},
    {"no more dimensions than the matrices have",
     "q: R.Tensor((12, 6, 5), \"float32\"), k: R.Tensor((3, 1, 5, 7), \"float32\")",
     "    s = R.broadcast_to(k, R.shape([3, 4, 5, 7]))\n"
     "    out = R.matmul(q, R.reshape(s, R.shape([12, 5, 7])))\n", 0},
    {"who else wants it gets it", Q(12, 6) K,
     REPEAT(k, r) "    s = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n"
     "    out = R.add(R.sum(s), r)\n", 1},
    {"a few rows to which something is added", Q(12, 10) K ", m: R.Tensor((10, 7), \"float32\")",
     REPEAT(k, r) "    s = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n"
     "    out = R.add(s, m)\n", 0},
    {"many such rows stay", Q(12, 11) K ", m: R.Tensor((11, 7), \"float32\")",
     REPEAT(k, r) "    s = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n"
     "    out = R.add(s, m)\n", 1},
    {"heads in another order stay",
     Q(12, 6) "k: R.Tensor((2, 1, 3, 7, 5), \"float32\")",
     "    s = R.broadcast_to(k, R.shape([2, 4, 3, 7, 5]))\n"
     JOIN(s, r) "    out = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 1},
    {"rows that are repeated stay",
     Q(3, 6) "k: R.Tensor((2, 3, 7, 5), \"float32\")",
     "    a = R.reshape(k, R.shape([2, 3, 7, 1, 5]))\n"
     "    s = R.broadcast_to(a, R.shape([2, 3, 7, 4, 5]))\n"
     "    r = R.reshape(s, R.shape([2, 3, 28, 5]))\n"
     "    out = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 1},
    {"queries that serve all heads stay", Q(1, 6) K,
     REPEAT(k, r) "    out = R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 1},
    {"queries that are turned stay",
     "q: R.Tensor((2, 12, 5, 6), \"float32\"), " K,
     REPEAT(k, r) "    t = R.permute_dims(q, axes=[0, 1, 3, 2])\n"
     "    out = R.matmul(t, R.permute_dims(r, axes=[0, 1, 3, 2]))\n", 1},
};
/* clang-format on */

static hone_module *module_of(const struct row *row) {
    hone_module *module;
    hone_str text = {0};
    hone_str_printf(&text, "@R.function\ndef main(%s):\n  with R.dataflow():\n%s", row->inputs,
                    row->body);
    hone_str_append(&text, "    R.output(out)\n  return out\n");
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "test.py", &module);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    return module;
}

/* Calls of broadcast_to behind the pass; a chain of passes as `prepare` has it up to there. */
static uint32_t count_spread(const hone_module *module) {
    static const char *const passes[] = {"infer", "normalize", "fold_transpose", "normalize",
                                         "share_repeated"};
    hone_module *shared;
    uint32_t count = 0;
    HONE_ASSERT_OK(hone_graph_run_passes(module, passes, HONE_COUNT(passes), NULL, &shared));
    const hone_graph_func *graph = hone_module_find(shared, "main")->graph;
    for (uint32_t i = 0; i < graph->bind_count; i++)
        count += hone_gbind_calls(&graph->bindings[i], "broadcast_to");
    hone_module_release(shared);
    return count;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = module_of(row);
    hone_tensor *inputs[MOST_INPUTS];
    run_results want, got;
    uint32_t count = run_random_inputs(module, hone_test_seed(7), 1, inputs);
    uint32_t spread = count_spread(module);
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, count, 0, &want));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, count, 0, &got));
    hone_tensor_diff diff = hone_tensor_diff_make(got.items[0], want.items[0], 1e-5, 1e-5);
    assert_true(diff.is_comparable);
    assert_int_equal(diff.bad_count, 0);
    assert_int_equal(spread, row->spread);
    run_results_deinit(&want);
    run_results_deinit(&got);
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(inputs[i]);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("graph/share_repeated", rows, check_row);
}
