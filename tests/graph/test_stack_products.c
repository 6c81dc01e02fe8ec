/* tests/graph/test_stack_products.c - products of one operand by several matrices
 * (graph/passes/stack_products.c): what is computed stays, and they are one call where their parts
 * are views. */
#include <string.h>

#include "graph/passes/pass.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { MOST_INPUTS = 8 };

#define T(name, shape) name ": R.Tensor(" shape ", \"float32\"), "
#define THREE(n) T("a", "(6, " n ")") T("b", "(6, " n ")") T("c", "(6, " n ")")
#define HEADS(x, y) "    " #y " = R.reshape(" #x ", R.shape([2, 4, 4, 8]))\n"
#define JOIN(x, y, z) "    out = R.concat((" #x ", " #y ", " #z "), axis=-1)\n"

/* products, slices: calls of matmul, and of strided_slice, that are left. All but x is constant. */
/* clang-format off */
static const struct row {
    const char *name, *inputs, *body;
    uint32_t products, slices;
} rows[] = {
    {"three, with a sum, with another, and without", T("x", "(2, 4, 6)") THREE("32") T("d", "(32,)") T("e", "(32,)"),
     "    p = R.add(R.matmul(x, a), d)\n    q = R.matmul(x, b)\n    r = R.add(e, R.matmul(x, c))\n"
     HEADS(p, s) HEADS(q, t) HEADS(r, u) JOIN(s, t, u), 1, 3},
    {"thirds of columns, in another order", T("x", "(2, 4, 6)") T("a", "(6, 96)") T("d", "(96,)"),
     "    p = R.add(R.matmul(x, a), d)\n"
     "    l = R.split(p, indices_or_sections=3, axis=-1)\n"
     "    s = l[1]\n    t = l[2]\n    u = l[0]\n" JOIN(s, t, u), 1, 3},
    {"halves of columns, without a sum", T("x", "(8, 6)") T("a", "(6, 64)"),
     "    p = R.matmul(x, a)\n"
     "    l = R.split(p, indices_or_sections=2, axis=1)\n"
     "    out = R.multiply(l[0], R.sigmoid(l[1]))\n", 1, 2},
    {"views that are results", T("x", "(8, 6)") T("a", "(6, 64)"),
     "    p = R.matmul(x, a)\n"
     "    l = R.split(p, indices_or_sections=2, axis=1)\n"
     "    s = l[1]\n    t = l[0]\n    out = (s, t, R.exp(s))\n", 1, 2},
    {"two of one kind, and one of another", T("x", "(8, 6)") T("a", "(6, 32)") T("b", "(6, 16)") T("c", "(6, 32)"),
     "    p = R.matmul(x, a)\n    q = R.matmul(x, b)\n    r = R.matmul(x, c)\n" JOIN(p, q, r), 2, 2},
    {"elementwise work stays behind each", T("x", "(8, 6)") THREE("32"),
     "    p = R.nn.relu(R.matmul(x, a))\n    q = R.multiply(p, R.matmul(x, b))\n"
     "    out = R.concat((q, R.tanh(R.matmul(x, c))), axis=0)\n", 3, 0},
    {"parts would begin where no tensor may", T("x", "(3, 6)") THREE("32"),
     "    p = R.matmul(x, a)\n    q = R.matmul(x, b)\n    r = R.matmul(x, c)\n" JOIN(p, q, r), 3, 0},
    {"columns that are wanted as a whole, too", T("x", "(8, 6)") T("a", "(6, 64)"),
     "    p = R.matmul(x, a)\n    l = R.split(p, indices_or_sections=2, axis=1)\n"
     "    out = R.concat((l[0], l[1], p), axis=1)\n", 1, 2},
    {"columns of different widths", T("x", "(8, 6)") T("a", "(6, 96)"),
     "    p = R.matmul(x, a)\n    l = R.split(p, indices_or_sections=[32], axis=1)\n"
     "    out = R.concat((l[1], l[0]), axis=1)\n", 1, 2},
    {"a matrix that is multiplied twice", T("x", "(8, 6)") T("a", "(6, 32)"),
     "    p = R.matmul(x, a)\n    q = R.matmul(x, a)\n    out = R.concat((p, q), axis=0)\n", 1, 2},
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

static void count_calls(const hone_module *module, const hone_graph_options *options,
                        uint32_t *out_products, uint32_t *out_slices) {
    static const char *const passes[] = {"bind",           "infer",          "compose",
                                         "normalize",      "fold_transpose", "fold_constants",
                                         "stack_products", "normalize"};
    hone_module *now;
    HONE_ASSERT_OK(hone_graph_run_passes(module, passes, HONE_COUNT(passes), options, &now));
    const hone_graph_func *graph = hone_module_find(now, "main")->graph;
    *out_products = *out_slices = 0;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        *out_products += hone_gbind_calls(&graph->bindings[i], "matmul");
        *out_slices += hone_gbind_calls(&graph->bindings[i], "strided_slice");
    }
    hone_module_release(now);
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = module_of(row);
    hone_tensor *inputs[MOST_INPUTS];
    hone_graph_weight weights[MOST_INPUTS];
    run_results want, got;
    uint32_t products, slices, count = run_random_inputs(module, hone_test_seed(7), 1, inputs);
    const hone_graph_func *graph = hone_module_find(module, "main")->graph;
    for (uint32_t i = 1; i < count; i++)
        weights[i - 1] = (hone_graph_weight){graph->values[i].name, inputs[i]};
    hone_graph_options options = {.weights = weights, .weight_count = count - 1};
    HONE_ASSERT_OK(run_plain(module, &options, inputs, 1, 0, &want));
    options.is_for_many_threads = true;
    count_calls(module, &options, &products, &slices);
    HONE_ASSERT_OK(run_planned(module, &options, inputs, 1, 0, &got));
    assert_int_equal(got.count, want.count);
    for (size_t i = 0; i < want.count; i++) {
        hone_tensor_diff diff = hone_tensor_diff_make(got.items[i], want.items[i], 1e-5, 1e-5);
        assert_true(diff.is_comparable);
        assert_int_equal(diff.bad_count, 0);
    }
    assert_int_equal(products, row->products);
    assert_int_equal(slices, row->slices);
    run_results_deinit(&want);
    run_results_deinit(&got);
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(inputs[i]);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("graph/stack_products", rows, check_row);
}
