/* tests/compile/test_compile_weights.c - weights given at compile time: kernels that lay them out
 * find them laid out, calls compute the same bits as with weights that are handed over, and what
 * nobody reads is not kept. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/data/rng.h"
#include "support/os/fs.h"
#include "tests/compile/compile_fixture.h"
#include "tests/support/hone_test.h"
#include "tests/support/sanitizer.h"

static fixture shared;

#define HEAD                                                                                       \
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"                          \
    "from tvm.script import tir as T\n@I.ir_module\nclass M:\n"
/* A dense layer of 16 inputs whose weight is packed by 8 columns (and padded to 24). */
#define DENSE                                                                                      \
    "    @T.prim_func\n"                                                                           \
    "    def dense(X: T.Buffer((5, 16), \"float32\"), W: T.Buffer((16, 20), \"float32\"),\n"       \
    "              Y: T.Buffer((5, 20), \"float32\")):\n"                                          \
    "        P = T.alloc_buffer((3, 16, 8))\n"                                                     \
    "        for j, k, l in T.grid(3, 16, 8):\n"                                                   \
    "            with T.block(\"pack\"):\n"                                                        \
    "                vj, vk, vl = T.axis.remap(\"SSS\", [j, k, l])\n"                              \
    "                P[vj, vk, vl] = T.if_then_else(vj * 8 + vl < 20, W[vk, vj * 8 + vl], "        \
    "T.float32(0))\n"                                                                              \
    "        for i, j, k in T.grid(5, 20, 16):\n"                                                  \
    "            with T.block(\"dense\"):\n"                                                       \
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                              \
    "                with T.init():\n"                                                             \
    "                    Y[vi, vj] = T.float32(0)\n"                                               \
    "                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * P[vj // 8, vk, vj % 8]\n"
/* A convolution of 3 channels, 8 filters in one block, by two steps: turned, then packed. */
#define CONV                                                                                       \
    "    @T.prim_func\n"                                                                           \
    "    def conv(X: T.Buffer((1, 3, 9, 9), \"float32\"), W: T.Buffer((8, 3, 3, 3), "              \
    "\"float32\"),\n"                                                                              \
    "             Y: T.Buffer((1, 8, 7, 7), \"float32\")):\n"                                      \
    "        Q = T.alloc_buffer((3, 3, 3, 8))\n"                                                   \
    "        for f, c, y, x in T.grid(8, 3, 3, 3):\n"                                              \
    "            with T.block(\"turn\"):\n"                                                        \
    "                vf, vc, vy, vx = T.axis.remap(\"SSSS\", [f, c, y, x])\n"                      \
    "                Q[vy, vx, vc, vf] = W[vf, vc, vy, vx]\n"                                      \
    "        for f, y, x, c, dy, dx in T.grid(8, 7, 7, 3, 3, 3):\n"                                \
    "            with T.block(\"conv\"):\n"                                                        \
    "                vf, vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSRRR\", [f, y, x, c, dy, dx])\n"  \
    "                with T.init():\n"                                                             \
    "                    Y[0, vf, vy, vx] = T.float32(0)\n"                                        \
    "                Y[0, vf, vy, vx] = Y[0, vf, vy, vx] + X[0, vc, vy + vdy, vx + vdx] * Q[vdy, " \
    "vdx, vc, vf]\n"
/* Two calls of one kernel with different weights, a third with the first's again. */
#define THREE_CALLS                                                                                \
    HEAD DENSE                                                                                     \
        "    @R.function\n"                                                                        \
        "    def main(x: R.Tensor((5, 16), \"float32\"), u: R.Tensor((16, 20), \"float32\"),\n"    \
        "             w: R.Tensor((16, 20), \"float32\")):\n"                                      \
        "        with R.dataflow():\n"                                                             \
        "            a = R.call_tir(M.dense, (x, u), out_sinfo=R.Tensor((5, 20), \"float32\"))\n"  \
        "            b = R.call_tir(M.dense, (x, w), out_sinfo=R.Tensor((5, 20), \"float32\"))\n"  \
        "            e = R.exp(x)\n"                                                               \
        "            c = R.call_tir(M.dense, (e, u), out_sinfo=R.Tensor((5, 20), \"float32\"))\n"  \
        "            R.output(a, b, c)\n"                                                          \
        "        return (a, b, c)\n"

static const struct row {
    const char *name, *program;
    const char *bound;     /* names of what gets a value at compile time */
    int64_t weights_bytes; /* that the library then holds, each a multiple of 64 */
    bool is_packed;        /* no kernel packs any more */
} rows[] = {
    {"dense",                      HEAD DENSE,  "W",   1536,       true },
    {"conv",                       HEAD CONV,   "W",   896,        true },
    {"nothing bound",              HEAD DENSE,  "",    0,          false},
    {"only the input is a weight", HEAD DENSE,  "X",   320,        false},
    {"all is bound",               HEAD DENSE,  "X W", 320 + 1536, true },
    {"two weights, three calls",   THREE_CALLS, "u w", 2 * 1536,   true },
    {"one of two is known",        THREE_CALLS, "u",   1536,       false},
};

enum { MOST = 4 };

/* Values for all inputs of the model without bound parameters, by name. */
typedef struct values {
    size_t count;
    hone_graph_weight items[MOST];
    hone_tensor *tensors[MOST];
} values;

static void make_values(const hone_model_entry *entry, values *out) {
    hone_rng rng = hone_test_rng(11);
    out->count = (size_t)entry->input_count;
    for (int32_t i = 0; i < entry->input_count; i++) {
        const hone_model_port *port = &entry->inputs[i];
        HONE_ASSERT_OK(hone_tensor_create(hone_model_port_dtype(port), port->ndim, port->shape,
                                          &out->tensors[i]));
        hone_tensor_fill_random(out->tensors[i], &rng, -1, 1);
        char *name = hone_strdup(port->name);
        assert_non_null(name);
        out->items[i] = (hone_graph_weight){name, out->tensors[i]};
    }
}

static void free_values(values *v) {
    for (size_t i = 0; i < v->count; i++) {
        hone_free((char *)(uintptr_t)v->items[i].name);
        hone_tensor_destroy(v->tensors[i]);
    }
}

static bool is_bound(const struct row *row, const char *name) {
    char padded[64], sought[64];
    snprintf(padded, sizeof padded, " %s ", row->bound);
    snprintf(sought, sizeof sought, " %s ", name);
    return strstr(padded, sought) != NULL;
}

/* Runs with the values of the inputs that are still there. */
static void run(const hone_loaded_model *model, const values *v, hone_tensor ***out_outputs) {
    const hone_model_entry *entry;
    hone_tensor *inputs[MOST];
    HONE_ASSERT_OK(hone_loaded_model_entry(model, NULL, &entry));
    for (int32_t i = 0; i < entry->input_count; i++) {
        for (size_t k = 0; k < v->count; k++) {
            if (strcmp(entry->inputs[i].name, v->items[k].name) == 0) inputs[i] = v->tensors[k];
        }
    }
    HONE_ASSERT_OK(hone_loaded_model_make_outputs(model, entry, inputs, out_outputs));
    HONE_ASSERT_OK(fixture_run(model, entry, inputs, *out_outputs));
}

static void compare(const hone_loaded_model *with, const hone_loaded_model *without,
                    const values *v) {
    const hone_model_entry *entry;
    hone_tensor **got, **want;
    run(with, v, &got);
    run(without, v, &want);
    HONE_ASSERT_OK(hone_loaded_model_entry(with, NULL, &entry));
    bool is_same = true;
    for (int32_t i = 0; i < entry->output_count; i++)
        is_same &= memcmp(got[i]->data, want[i]->data, hone_tensor_bytes(want[i])) == 0;
    hone_model_free_outputs(entry, got);
    hone_model_free_outputs(entry, want);
    assert_true(is_same);
}

/* The kernels as they are built, as text: does one of them pack? */
static bool packs(const hone_module *module, hone_compile_options options) {
    char path[200];
    char *text;
    size_t length;
    options.emit = HONE_COMPILE_PROGRAM;
    HONE_ASSERT_OK(fixture_compile(module, &options, NULL, NULL));
    snprintf(path, sizeof path, "%s.py", options.output);
    HONE_ASSERT_OK(hone_fs_read(path, SIZE_MAX, &text, &length));
    bool found = strstr(text, "\"pack\"") || strstr(text, "\"turn\"");
    hone_free(text);
    return found;
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module;
    hone_loaded_model *without, *with;
    const hone_model_entry *entry;
    hone_compile_result result;
    values v = {0};
    hone_graph_weight bound[MOST];
    HONE_ASSERT_OK(fixture_module(row->program, &module));
    hone_compile_options options = fixture_options(&shared, "without");
    options.no_schedule = true;
    HONE_ASSERT_OK(fixture_compile(module, &options, NULL, &without));
    HONE_ASSERT_OK(hone_loaded_model_entry(without, NULL, &entry));
    make_values(entry, &v);

    options = fixture_options(&shared, "with");
    options.no_schedule = true;
    options.weight_values = bound;
    for (size_t i = 0; i < v.count; i++) {
        if (is_bound(row, v.items[i].name)) bound[options.weight_count++] = v.items[i];
    }
    HONE_ASSERT_OK(fixture_compile(module, &options, &result, &with));
    int64_t bytes = result.weights_bytes;
    hone_compile_result_deinit(&result);
    compare(with, without, &v);
    bool still_packs = packs(module, options);
    hone_loaded_model_close(with);
    hone_loaded_model_close(without);
    free_values(&v);
    hone_module_release(module);
    assert_int_equal(bytes, row->weights_bytes);
    assert_int_equal(still_packs, !row->is_packed);
}

/* ---- values that do not fit ---- */

static hone_status compile_with(const char *name, int64_t rows_given) {
    hone_module *module;
    hone_tensor *tensor;
    HONE_TRY(fixture_module(HEAD DENSE, &module));
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 2, (int64_t[]){rows_given, 20}, &tensor));
    hone_graph_weight weight = {name, tensor};
    hone_compile_options options = fixture_options(&shared, "misfit");
    options.weight_values = &weight;
    options.weight_count = 1;
    hone_status st = fixture_compile(module, &options, NULL, NULL);
    hone_tensor_destroy(tensor);
    hone_module_release(module);
    return st;
}

static void refuses_what_does_not_fit(void **state) {
    (void)state;
    HONE_ASSERT_ERROR(compile_with("W", 15), HONE_CODE_TYPE, "'W' does not take");
    HONE_ASSERT_ERROR(compile_with("Y", 5), HONE_CODE_UNSUPPORTED, "'Y' is written");
    HONE_ASSERT_ERROR(compile_with("U", 5), HONE_CODE_INVALID, "'U'");
}

/* ---- many weights ---- */

enum { LAYERS = 40, SIDE = 512, LAYER_BYTES = SIDE * SIDE * 4 };

/* A layer whose weight is packed, and LAYERS calls of it, each with a weight of its own. */
static void put_layers(hone_str *out) {
    hone_str_append(out, HEAD);
    hone_str_printf(out,
                    "    @T.prim_func\n"
                    "    def layer(X: T.Buffer((1, %d), \"float32\"), W: T.Buffer((%d, %d), "
                    "\"float32\"), Y: T.Buffer((1, %d), \"float32\")):\n"
                    "        P = T.alloc_buffer((%d, %d, 8))\n"
                    "        for k, j in T.grid(%d, %d):\n"
                    "            with T.block(\"pack\"):\n"
                    "                vk, vj = T.axis.remap(\"SS\", [k, j])\n"
                    "                P[vj // 8, vk, vj %% 8] = W[vk, vj]\n"
                    "        for j, k in T.grid(%d, %d):\n"
                    "            with T.block(\"layer\"):\n"
                    "                vj, vk = T.axis.remap(\"SR\", [j, k])\n"
                    "                with T.init():\n"
                    "                    Y[0, vj] = T.float32(0)\n"
                    "                Y[0, vj] = Y[0, vj] + X[0, vk] * P[vj // 8, vk, vj %% 8]\n"
                    "    @R.function\n    def main(x: R.Tensor((1, %d), \"float32\")",
                    SIDE, SIDE, SIDE, SIDE, SIDE / 8, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE);
    for (int i = 0; i < LAYERS; i++)
        hone_str_printf(out, ", w%d: R.Tensor((%d, %d), \"float32\")", i, SIDE, SIDE);
    hone_str_append(out, "):\n        with R.dataflow():\n");
    for (int i = 0; i < LAYERS; i++) {
        hone_str_printf(out, "            x%d = R.call_tir(M.layer, (%s", i + 1, i ? "" : "x");
        if (i) hone_str_printf(out, "x%d", i);
        hone_str_printf(out, ", w%d), out_sinfo=R.Tensor((1, %d), \"float32\"))\n", i, SIDE);
    }
    hone_str_printf(out, "            R.output(x%d)\n        return x%d\n", LAYERS, LAYERS);
}

static void make_layer_weight(int i, hone_graph_weight *out) {
    static char names[LAYERS][16];
    hone_tensor *tensor;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, (int64_t[]){SIDE, SIDE}, &tensor));
    for (int64_t e = 0; e < SIDE * SIDE; e++)
        ((float *)tensor->data)[e] = (float)(i * SIDE * SIDE + e);
    snprintf(names[i], sizeof names[i], "w%d", i);
    *out = (hone_graph_weight){names[i], tensor};
}

static int64_t most_resident_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}

/* *out_more: by how much the process grew meanwhile. */
static hone_status compile_layers(const char *name, hone_compile_result *out_result,
                                  int64_t *out_more) {
    hone_module *module;
    hone_str text = {0};
    hone_graph_weight weights[LAYERS];
    for (int i = 0; i < LAYERS; i++)
        make_layer_weight(i, &weights[i]);
    put_layers(&text);
    HONE_ASSERT_OK(fixture_module(hone_str_text(&text), &module));
    hone_str_deinit(&text);
    hone_compile_options options = fixture_options(&shared, name);
    options.no_schedule = true;
    options.weight_values = weights;
    options.weight_count = LAYERS;
    int64_t before = most_resident_bytes();
    hone_status st = fixture_compile(module, &options, out_result, NULL);
    *out_more = most_resident_bytes() - before;
    hone_module_release(module);
    for (int i = 0; i < LAYERS; i++)
        hone_tensor_destroy((hone_tensor *)(uintptr_t)weights[i].tensor);
    return st;
}

/* Whoever compiles a model of gigabytes has its weights in memory, but not what they are made into
 * as well. */
static void holds_one_packed_weight_at_a_time(void **state) {
    (void)state;
    hone_compile_result result;
    int64_t more;
    HONE_ASSERT_OK(compile_layers("large", &result, &more));
    int64_t bytes = result.weights_bytes;
    hone_compile_result_deinit(&result);
    assert_int_equal(bytes, (int64_t)LAYERS * LAYER_BYTES);
#ifdef UNDER_SANITIZER
    more = 0; /* what was freed is kept */
#endif
    /* what is bound is copied, and one weight is made at a time */
    assert_in_range(more, 0, LAYERS * LAYER_BYTES + 12 * LAYER_BYTES);
}

/* As of a disk that is full: there is room for kernels, and for one weight. */
static void names_the_file_that_cannot_grow(void **state) {
    (void)state;
    int64_t more;
    struct rlimit before, room;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    room = (struct rlimit){.rlim_cur = LAYER_BYTES * 3 / 2, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
    hone_status st = compile_layers("full", NULL, &more);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    HONE_ASSERT_ERROR(st, HONE_CODE_IO, "full.weights: cannot write");
}

int main(void) {
    if (fixture_begin(&shared)) return 1;
    const struct CMUnitTest misfits[] = {cmocka_unit_test(refuses_what_does_not_fit)};
    const struct CMUnitTest layers[] = {cmocka_unit_test(holds_one_packed_weight_at_a_time),
                                        cmocka_unit_test(names_the_file_that_cannot_grow)};
    int failed = HONE_RUN_ROWS("compile/weights", rows, check_row) +
                 cmocka_run_group_tests_name("compile/weights", misfits, NULL, NULL) +
                 cmocka_run_group_tests_name("compile/weights_layers", layers, NULL, NULL);
    fixture_end(&shared);
    return failed;
}
