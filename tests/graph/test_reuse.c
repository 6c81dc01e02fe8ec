/* tests/graph/test_reuse.c - what a run of a model touches between two uses of a task's arguments.
 */
#include "tests/support/hone_test.h"

#include <string.h>

#include "graph/passes/prepare.h"
#include "graph/plan/tasks.h"
#include "ir/text/read/script.h"

#define HEAD                                                                                       \
    "@R.function\n"                                                                                \
    "def main(x: R.Tensor((4, 3), dtype=\"float32\")):\n"                                          \
    "    with R.dataflow():\n"
#define WEIGHT "R.const([[0.5, -1.0], [0.25, 0.0], [1.5, 2.0]], \"float32\")"

typedef struct row {
    const char *name, *text;
    int64_t distances[2][3]; /* of the tasks, in order; -1 ends them */
} row;

/* clang-format off */
static const row rows[] = {
    {"one kernel",
     HEAD "        a = R.matmul(x, " WEIGHT ")\n        R.output(a)\n    return a\n",
     {{0, 0, 0}, {-1}}},
    /* x and the weight: a and b; a was read last; b: x, the weight, a */
    {"two",
     HEAD "        a = R.matmul(x, " WEIGHT ")\n        b = R.nn.softmax(a)\n"
          "        R.output(b)\n    return b\n",
     {{64, 64, 0}, {0, 104, -1}}},
    /* a lies in the output's place, which the last kernel reads and writes again */
    {"a view",
     HEAD "        a = R.nn.softmax(x)\n        b = R.reshape(a, R.shape([3, 4]))\n"
          "        c = R.nn.softmax(b)\n        R.output(c)\n    return c\n",
     {{96, 0, -1}, {0, 96, -1}}},
    /* tensors of 8 TiB, whose workspace is noted in larger pieces: means of two calls each */
    {"large",
     "@R.function\ndef main(x: R.Tensor((1073741824, 2048), dtype=\"float32\")):\n"
     "    with R.dataflow():\n        a = R.nn.softmax(x)\n        b = R.cumsum(a, axis=1)\n"
     "        c = R.nn.softmax(b)\n        d = R.cumsum(c, axis=1)\n"
     "        R.output(d)\n    return d\n",
     {{3 * (INT64_C(1) << 42), 0, -1}, {0, 7 * (INT64_C(1) << 42), -1}}},
    /* the mean of two calls: x, then a, which was just made; a, whose place was read last, and b */
    {"two calls of a kernel",
     HEAD "        a = R.nn.softmax(x)\n        b = R.nn.softmax(a)\n"
          "        R.output(b)\n    return b\n",
     {{48, 48, -1}, {-1}}},
};
/* clang-format on */

static void check(void **state) {
    const row *r = *state;
    hone_module *module, *prepared;
    hone_task_list tasks;
    HONE_ASSERT_OK(hone_script_parse(r->text, strlen(r->text), "test.py", &module));
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    assert_int_equal(tasks.count, r->distances[1][0] < 0 ? 1 : 2);
    for (uint32_t i = 0; i < tasks.count; i++) {
        for (uint32_t k = 0; k < tasks.items[i].func->param_count; k++)
            assert_int_equal(tasks.items[i].distances[k], r->distances[i][k]);
    }
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("graph/reuse", rows, check);
}
