/* tests/graph/test_cut_scans.c - running sums in chunks (graph/passes/cut_scans.c): what is
 * computed stays, whole numbers exactly, and nothing goes over a long row in order. */
#include <math.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { MOST_INPUTS = 1 };

/* scans: how many there are then; longest: the most steps of one. */
static const struct row {
    const char *name, *shape, *dtype, *attrs;
    uint32_t scans;
    int64_t longest;
} rows[] = {
    {"short rows stay",                "(8, 255)",     "float32", "cumsum(x, axis=1",                  1, 255 },
    {"a row that chunks divide",       "(3, 600)",     "float32", "cumsum(x, axis=1",                  2, 30  },
    {"a prime length",                 "(2, 1009)",    "float32", "cumsum(x, axis=-1",                 2, 32  },
    {"without its own element",        "(2, 1009)",    "float32", "cumsum(x, axis=1, exclusive=True",  2, 32  },
    {"an axis in the middle",          "(2, 520, 3)",  "float64", "cumsum(x, axis=1",                  2, 26  },
    {"the first axis",                 "(300, 5)",     "int64",   "cumsum(x, axis=0",                  2, 30  },
    {"chunks of chunks",               "(70001,)",     "int32",   "cumsum(x, axis=0",                  3, 128 },
    {"a vector without an axis",       "(257,)",       "int32",   "cumsum(x",                          2, 32  },
    {"products that wrap around",      "(3, 700)",     "int32",   "cumprod(x, axis=1",                 2, 28  },
    {"products without their own",     "(3, 701)",     "int32",   "cumprod(x, axis=1, exclusive=True", 2, 32  },
    {"half floats stay in one sum",    "(2, 1024)",    "float16", "cumsum(x, axis=1",                  1, 1024},
    {"another type stays",             "(2, 1024)",    "int32",   "cumsum(x, axis=1, dtype=\"int64\"", 1, 1024},
    {"rows enough are threads enough", "(16385, 256)", "float32", "cumsum(x, axis=1",                  1, 256 },
};

static hone_module *module_of(const struct row *row) {
    hone_module *module;
    hone_str text = {0};
    hone_str_printf(&text,
                    "@R.function\ndef main(x: R.Tensor(%s, \"%s\")):\n  with R.dataflow():\n"
                    "    out = R.%s)\n    R.output(out)\n  return out\n",
                    row->shape, row->dtype, row->attrs);
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "test.py", &module);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    return module;
}

static void count_scans(const hone_module *module, const hone_graph_options *options,
                        uint32_t *out_count, int64_t *out_longest) {
    static const char *const passes[] = {"infer", "compose", "normalize", "cut_scans", "infer"};
    hone_module *cut;
    *out_count = 0;
    *out_longest = 0;
    HONE_ASSERT_OK(hone_graph_run_passes(module, passes, HONE_COUNT(passes), options, &cut));
    const hone_graph_func *graph = hone_module_find(cut, "main")->graph;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        if (bind->kind != HONE_GBIND_CALL || strncmp(bind->callee, "cum", 3) != 0) continue;
        const hone_sinfo *info = graph->values[bind->value].sinfo;
        int64_t axis = hone_attrs_int(&bind->attrs, "axis", 0);
        int64_t steps = hone_expr_const(info->shape[axis < 0 ? axis + info->rank : axis]);
        *out_longest = steps > *out_longest ? steps : *out_longest;
        ++*out_count;
    }
    hone_module_release(cut);
}

/* Sums of numbers below 1 in either order, or the same whole numbers. */
static void assert_same(const hone_tensor *got, const hone_tensor *want) {
    bool is_float = hone_dtype_is_float(want->dtype);
    double most = is_float ? 1e-3 : 0;
    assert_int_equal(hone_tensor_count(got), hone_tensor_count(want));
    for (int64_t i = 0; i < hone_tensor_count(want); i++) {
        if (!is_float) assert_int_equal(hone_tensor_get_i64(got, i), hone_tensor_get_i64(want, i));
        assert_true(fabs(hone_tensor_get_f64(got, i) - hone_tensor_get_f64(want, i)) <= most);
    }
}

static void check_values(const hone_module *module, const hone_graph_options *options) {
    hone_tensor *inputs[MOST_INPUTS];
    run_results want, got;
    uint32_t count = run_random_inputs(module, hone_test_seed(5), 3, inputs);
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, count, 0, &want));
    HONE_ASSERT_OK(run_planned(module, options, inputs, count, 0, &got));
    assert_same(got.items[0], want.items[0]);
    run_results_deinit(&want);
    run_results_deinit(&got);
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(inputs[i]);
}

static void check_row(void **state) {
    const struct row *row = *state;
    const hone_graph_options of_gpus = {.is_for_many_threads = true}, of_cpus = {0};
    hone_module *module = module_of(row);
    uint32_t scans;
    int64_t longest;
    count_scans(module, &of_gpus, &scans, &longest);
    assert_int_equal(scans, row->scans);
    assert_int_equal(longest, row->longest);
    if (scans > 1) check_values(module, &of_gpus);
    count_scans(module, &of_cpus, &scans, &longest);
    assert_int_equal(scans, 1);
    hone_module_release(module);
}

int main(void) {
    return HONE_RUN_ROWS("graph/cut_scans", rows, check_row);
}
