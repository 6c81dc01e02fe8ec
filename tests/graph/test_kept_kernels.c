/* tests/graph/test_kept_kernels.c - functions that are marked Primitive: each is one kernel, of
 * itself alone, where it can be; and what the module computes stays the same. */
#include <string.h>

#include "graph/plan/tasks.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { MOST_INPUTS = 4 };

#define X "x: R.Tensor((5, 8), \"float32\")"
#define W "w: R.Tensor((8, 8), \"float32\")"
#define IS_PRIMITIVE "    R.func_attr({\"Primitive\": True})\n"
#define SOFTMAX "    s = R.nn.softmax(R.matmul(x, w), axis=-1)\n    out = R.matmul(s, w)\n"

/* clang-format off */
static const struct row {
    const char *name, *kept, *kept_params, *kept_body, *main_body;
    uint32_t kernels; /* different ones */
} rows[] = {
    {"work around it stays outside", IS_PRIMITIVE, X ", " W, SOFTMAX,
     "    out = R.nn.relu(f(R.nn.relu(x), w))\n", 2},
    {"without the mark it is several kernels", "", X ", " W, SOFTMAX,
     "    out = R.nn.relu(f(R.nn.relu(x), w))\n", 4},
    {"the mark may say no", "    R.func_attr({\"Primitive\": False})\n", X ", " W, SOFTMAX,
     "    out = R.nn.relu(f(R.nn.relu(x), w))\n", 4},
    {"two calls are two kernels, and equal", IS_PRIMITIVE, X ", " W, SOFTMAX,
     "    out = f(f(x, w), w)\n", 1},
    {"a single operator takes nothing in", IS_PRIMITIVE, X ", " W, "    out = R.matmul(x, w)\n",
     "    out = R.nn.relu(f(x, w))\n", 2},
    {"views are a part of it", IS_PRIMITIVE, X ", " W,
     "    t = R.reshape(R.matmul(x, w), R.shape([8, 5]))\n"
     "    out = R.add(R.permute_dims(t), R.sum(x, axis=[1], keepdims=True))\n",
     "    out = f(x, w)\n", 1},
    {"what it makes of constants is one, too", IS_PRIMITIVE, X ", " W,
     "    out = R.add(R.matmul(x, w), R.multiply(R.ones((1, 8), \"float32\"), R.const(3.0, "
     "\"float32\")))\n", "    out = f(x, w)\n", 1},
    {"sorting is a part of it", IS_PRIMITIVE, X ", " W,
     "    out = R.nn.relu(R.sort(R.matmul(x, w), axis=1))\n", "    out = f(x, w)\n", 1},
    {"a kernel in a function that is called twice", IS_PRIMITIVE, X ", " W, SOFTMAX,
     "    out = g(g(x, w), w)\n", 2},
    {"of two results there are kernels by pattern", IS_PRIMITIVE, X ", " W,
     "    s = R.nn.softmax(x, axis=-1)\n    out = (s, R.matmul(s, w))\n",
     "    t = f(x, w)\n    out = R.add(t[0], t[1])\n", 2},
};
/* clang-format on */

static hone_module *module_of(const struct row *row) {
    hone_module *module;
    hone_str text = {0};
    hone_str_printf(&text,
                    "@I.ir_module\nclass Module:\n"
                    "  @R.function(private=True)\n  def f(%s):\n%s    with R.dataflow():\n",
                    row->kept_params, row->kept);
    for (const char *line = row->kept_body; *line; line = strchr(line, '\n') + 1)
        hone_str_printf(&text, "  %.*s\n", (int)(strchr(line, '\n') - line), line);
    hone_str_printf(&text, "      R.output(out)\n    return out\n"
                           "  @R.function(private=True)\n  def g(" X ", " W "):\n"
                           "    f = Module.f\n    with R.dataflow():\n"
                           "      out = R.nn.relu(f(x, w))\n"
                           "      R.output(out)\n    return out\n"
                           "  @R.function\n  def main(" X ", " W "):\n"
                           "    f = Module.f\n    g = Module.g\n    with R.dataflow():\n");
    for (const char *line = row->main_body; *line; line = strchr(line, '\n') + 1)
        hone_str_printf(&text, "  %.*s\n", (int)(strchr(line, '\n') - line), line);
    hone_str_append(&text, "      R.output(out)\n    return out\n");
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "test.py", &module);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    return module;
}

static uint32_t count_kernels(const hone_module *module) {
    hone_module *prepared;
    hone_task_list tasks;
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    uint32_t count = (uint32_t)tasks.count;
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    return count;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = module_of(row);
    hone_tensor *inputs[MOST_INPUTS];
    run_results want, got;
    uint32_t count = run_random_inputs(module, hone_test_seed(7), 1, inputs);
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, count, 0, &want));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, count, 0, &got));
    hone_tensor_diff diff = hone_tensor_diff_make(got.items[0], want.items[0], 1e-5, 1e-5);
    assert_true(diff.is_comparable);
    assert_int_equal(diff.bad_count, 0);
    assert_int_equal(count_kernels(module), row->kernels);
    run_results_deinit(&want);
    run_results_deinit(&got);
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(inputs[i]);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("graph/kept_kernels", rows, check_row);
}
