/* tests/graph/test_task_weights.c - which arguments of a task are weights, and what a run of the
 * model touches in all. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "graph/passes/prepare.h"
#include "graph/plan/tasks.h"
#include "ir/text/read/script.h"

#define HEAD                                                                                       \
    "@R.function\n"                                                                                \
    "def main(x: R.Tensor((4, 3), dtype=\"float32\"), y: R.Tensor((3, 2), dtype=\"float32\")):\n"  \
    "    with R.dataflow():\n"
#define WEIGHT "R.const([[0.5, -1.0], [0.25, 0.0], [1.5, 2.0]], \"float32\")"

typedef struct row {
    const char *name, *text;
    uint64_t weights[2]; /* of the tasks, in order */
    uint32_t count;
    int64_t least, most; /* bytes of the footprint */
} row;

static const row rows[] = {
    {"a constant",
     HEAD "        a = R.matmul(x, " WEIGHT ")\n        R.output(a)\n    return a\n",
     {2},
     1, 24,
     64 },
    {"an input",
     HEAD "        a = R.matmul(x, y)\n        R.output(a)\n    return a\n",
     {0},
     1, 0,
     64 },
    {"a constant in one place only",
     HEAD "        a = R.matmul(x, " WEIGHT ")\n        b = R.matmul(x, y)\n"
          "        c = R.nn.softmax(a)\n        d = R.nn.softmax(b)\n        R.output(c, d)\n"
          "    return (c, d)\n",                                                      {0, 0},
     2, 24 + 2 * 32,
     512},
    {"a program without a graph",
     "@T.prim_func\n"
     "def main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
     "    for i in range(4):\n"
     "        with T.block(\"B\"):\n"
     "            vi = T.axis.spatial(4, i)\n"
     "            B[vi] = A[vi] * T.float32(2)\n",                                    {0},
     1, 0,
     0  },
};

static void check(void **state) {
    const row *r = *state;
    hone_module *module, *prepared;
    hone_task_list tasks;
    HONE_ASSERT_OK(hone_script_parse(r->text, strlen(r->text), "test.py", &module));
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    assert_int_equal(tasks.count, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        assert_int_equal(tasks.items[i].constants, r->weights[i]);
    assert_in_range(tasks.footprint_bytes, r->least, r->most);
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("graph/task_weights", rows, check);
}
