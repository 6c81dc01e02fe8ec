/* tests/graph/test_channels_last.c - convolutions with their channels last
 * (graph/passes/channels_last.c): what is computed stays, and between convolutions nothing is
 * turned. */
#include <string.h>

#include "graph/passes/pass.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { SHARED_BYTES = 101376, MOST_INPUTS = 6 };

#define X "x: R.Tensor((2, 6, 9, 7), \"float16\"), "
#define W(name, out, in, y, x) name ": R.Tensor((" #out ", " #in ", " #y ", " #x "), \"float16\"), "
#define C(name, channels) name ": R.Tensor((" #channels ", 1, 1), \"float16\"), "

/* turned: how many permute_dims the prepared program computes, weights (inputs here) included. */
/* clang-format off */
static const struct row {
    const char *name, *inputs, *body;
    uint32_t turned;
} rows[] = {
    {"a convolution: image, weights and result", X W("w", 8, 6, 3, 3),
     "    out = R.nn.conv2d(x, w, padding=1)\n", 3},
    {"a chain with a bias and a branch", X W("w", 6, 6, 3, 3) W("v", 6, 6, 1, 1) C("b", 6),
     "    y = R.nn.relu(R.add(R.nn.conv2d(x, w, padding=1), b))\n"
     "    z = R.nn.conv2d(y, v)\n"
     "    out = R.nn.relu(R.add(z, x))\n",
     5},
    {"strides, dilation, pools, means over space", X W("w", 8, 6, 3, 2) W("v", 5, 8, 1, 1),
     "    y = R.nn.conv2d(x, w, strides=[2, 1], padding=[2, 1], dilation=[1, 2])\n"
     "    p = R.nn.max_pool2d(y, pool_size=[3, 3], strides=[1, 1], padding=1)\n"
     "    q = R.nn.avg_pool2d(p, pool_size=[2, 2], ceil_mode=True, padding=[1, 0], strides=[2, "
     "2])\n"
     "    z = R.nn.conv2d(q, v)\n"
     "    out = R.mean(z, axis=[2, 3])\n",
     3},
    {"groups go along", X W("w", 6, 6, 1, 1) W("v", 6, 1, 3, 3) W("u", 4, 6, 1, 1),
     "    y = R.nn.conv2d(x, w)\n"
     "    z = R.clip(R.nn.conv2d(y, v, padding=1, groups=6), 0, 6)\n"
     "    out = R.nn.conv2d(z, u)\n",
     5},
    {"but do not begin", X W("w", 6, 1, 3, 3), "    out = R.nn.conv2d(x, w, padding=1, groups=6)\n",
     0},
    {"gates of channels, kept dimensions", X W("w", 6, 6, 1, 1) W("v", 6, 6, 1, 1),
     "    y = R.nn.conv2d(x, w)\n"
     "    s = R.sigmoid(R.nn.conv2d(R.mean(y, axis=[2, 3], keepdims=True), v))\n"
     "    m = R.max(y, axis=[1], keepdims=True)\n"
     "    out = R.subtract(R.multiply(y, s), m)\n",
     4},
    {"tensors side by side", X W("w", 4, 6, 1, 1) W("v", 3, 10, 1, 1),
     "    y = R.nn.conv2d(x, w)\n"
     "    c = R.concat((x, y), axis=1)\n"
     "    d = R.concat((c, c), axis=-1)\n"
     "    out = R.nn.conv2d(d, v)\n",
     4},
    {"resized between convolutions", X W("w", 6, 6, 1, 1) W("v", 6, 6, 1, 1),
     "    y = R.nn.conv2d(x, w)\n"
     "    a = R.image.resize2d(y, R.shape([13, 11]), layout=\"NCHW\", method=\"linear\")\n"
     "    b = R.image.resize2d(a, R.shape([18, 14]), layout=\"NCHW\", "
     "method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\", "
     "rounding_method=\"floor\")\n"
     "    out = R.nn.conv2d(b, v)\n",
     4},
    {"a transposed convolution between others", X W("w", 6, 6, 1, 1) W("u", 6, 4, 2, 2) W("v", 5, 4, 3, 3),
     "    y = R.nn.conv2d(x, w)\n"
     "    z = R.nn.relu(R.nn.conv2d_transpose(y, u, strides=[2, 2]))\n"
     "    out = R.nn.conv2d(z, v, padding=1)\n",
     5},
    {"transposed ones: taps that phases lack, groups, one dimension, and without strides",
     X W("w", 6, 5, 3, 2) W("u", 5, 5, 3, 3) W("v", 5, 2, 3, 3)
     "y: R.Tensor((1, 4, 9), \"float16\"), t: R.Tensor((4, 3, 4), \"float16\"), ",
     "    a = R.nn.conv2d_transpose(x, w, strides=[2, 1], padding=[1, 0], output_padding=[1, 0])\n"
     "    b = R.nn.conv2d_transpose(a, u, dilation=[2, 1], padding=[1, 1])\n"
     "    c = R.nn.conv2d_transpose(b, v, strides=[1, 2], groups=5)\n"
     "    d = R.nn.conv1d_transpose(y, t, strides=2, padding=1)\n"
     "    out = R.add(R.mean(c, axis=[2, 3]), R.sum(d))\n",
     7},
    {"what is read in the old order, too", X W("w", 6, 6, 1, 1) W("v", 6, 6, 1, 1),
     "    y = R.nn.conv2d(x, w)\n"
     "    r = R.reshape(y, R.shape([2, 6, 63]))\n"
     "    s = R.reshape(R.nn.softmax(r, axis=-1), R.shape([2, 6, 9, 7]))\n"
     "    out = R.nn.conv2d(R.add(y, s), v)\n",
     6},
    {"a text's own turns are taken up",
     "x: R.Tensor((2, 9, 7, 6), \"float16\"), " W("w", 8, 6, 3, 3),
     "    y = R.permute_dims(x, axes=[0, 3, 1, 2])\n"
     "    z = R.nn.relu(R.nn.conv2d(y, w))\n"
     "    out = R.permute_dims(z, axes=[0, 2, 3, -3])\n",
     1},
    {"layouts of a text",
     "x: R.Tensor((2, 9, 7, 6), \"float16\"), w: R.Tensor((3, 3, 6, 8), \"float16\")",
     "    out = R.nn.conv2d(x, w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n", 2},
    {"one dimension, and three",
     "x: R.Tensor((1, 4, 19), \"float16\"), w: R.Tensor((6, 4, 3), \"float16\"), "
     "y: R.Tensor((1, 3, 4, 5, 6), \"float16\"), v: R.Tensor((5, 3, 2, 1, 3), \"float16\")",
     "    a = R.nn.conv1d(x, w, padding=1)\n"
     "    b = R.nn.conv3d(y, v)\n"
     "    out = R.add(R.sum(a), R.sum(b, axis=[1, 3]))\n",
     5},
    {"ranks beside each other, each with channels of its own",
     "x: R.Tensor((3, 3, 3, 3), \"float16\"), w: R.Tensor((3, 3, 1, 1), \"float16\"), "
     "y: R.Tensor((3, 3, 3), \"float16\"), v: R.Tensor((3, 3, 1), \"float16\")",
     "    a = R.nn.conv2d(x, w)\n"
     "    b = R.nn.conv1d(y, v)\n"
     "    c = R.add(a, b)\n"
     "    d = R.nn.relu(R.subtract(b, c))\n"
     "    out = R.nn.conv2d(d, w)\n",
     8},
    {"sums of 32 bits of what has 16", X W("w", 6, 6, 3, 3),
     "    a = R.nn.conv2d(x, w, padding=1, out_dtype=\"float32\")\n"
     "    out = R.permute_dims(R.nn.relu(a), axes=[0, 2, 3, 1])\n",
     2},
    {"other types stay",
     "x: R.Tensor((2, 6, 9, 7), \"float32\"), w: R.Tensor((8, 6, 3, 3), \"float32\")",
     "    out = R.nn.conv2d(x, w)\n", 0},
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

/* Calls of permute_dims behind the pass; a chain of passes as `prepare` has it up to there. */
static uint32_t count_turned(const hone_module *module, const hone_graph_options *options) {
    static const char *const passes[] = {"infer", "compose", "normalize", "channels_last",
                                         "normalize"};
    hone_module *turned;
    uint32_t count = 0;
    HONE_ASSERT_OK(hone_graph_run_passes(module, passes, HONE_COUNT(passes), options, &turned));
    const hone_graph_func *graph = hone_module_find(turned, "main")->graph;
    for (uint32_t i = 0; i < graph->bind_count; i++) {
        const hone_gbind *bind = &graph->bindings[i];
        count += bind->kind == HONE_GBIND_CALL && strcmp(bind->callee, "permute_dims") == 0;
    }
    hone_module_release(turned);
    return count;
}

static void check_row(void **state) {
    const struct row *row = *state;
    const hone_graph_options options = {.matrix_shared_bytes = SHARED_BYTES};
    hone_module *module = module_of(row);
    hone_tensor *inputs[MOST_INPUTS];
    run_results want, got;
    uint32_t count = run_random_inputs(module, hone_test_seed(7), 1, inputs);
    uint32_t turned = count_turned(module, &options);
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, count, 0, &want));
    HONE_ASSERT_OK(run_planned(module, &options, inputs, count, 0, &got));
    hone_tensor_diff diff = hone_tensor_diff_make(got.items[0], want.items[0], 0.01, 0.01);
    assert_true(diff.is_comparable);
    assert_int_equal(diff.bad_count, 0);
    assert_int_equal(turned, row->turned);
    run_results_deinit(&want);
    run_results_deinit(&got);
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(inputs[i]);
    hone_module_release(module);
}

/* What has a known rank alone is refused by its own name, not by that of what turns it. */
static void leave_unknown_shapes(void **state) {
    static const struct row row = {
        "", "x: R.Tensor(ndim=4, dtype=\"float16\"), " W("w", 6, 6, 1, 1),
        "    a = R.nn.conv2d(x, w)\n"
        "    b = R.nn.relu(R.add(a, a))\n"
        "    c = R.concat((b, R.nn.max_pool2d(b, pool_size=[2, 2])), axis=1)\n"
        "    out = R.permute_dims(R.mean(c, axis=[2, 3], keepdims=True), axes=[0, 2, 3, 1])\n",
        0};
    const hone_graph_options options = {.matrix_shared_bytes = SHARED_BYTES};
    (void)state;
    hone_module *module = module_of(&row), *prepared = NULL;
    assert_int_equal(count_turned(module, &options), 1); /* the text's own */
    HONE_ASSERT_ERROR(hone_graph_prepare(module, &options, &prepared), HONE_CODE_UNSUPPORTED,
                      "the number of channels of the data must be known");
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest others[] = {cmocka_unit_test(leave_unknown_shapes)};
    int failed = cmocka_run_group_tests_name("graph/channels_last", others, NULL, NULL);
    if (failed) return failed;
    return HONE_RUN_ROWS("graph/channels_last", rows, check_row);
}
