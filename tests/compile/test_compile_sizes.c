/* tests/compile/test_compile_sizes.c - compiled models whose shapes depend on data: outputs that
 * get their shape set, outputs that the call makes, sizes of 0, and what callers and data do wrong.
 */
#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"
#include "tests/compile/compile_fixture.h"
#include "tests/support/hone_test.h"

/* s = [n, m]: x is 3 × 4; n has an upper bound, m has none. */
static const char program[] =
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"
    "from tvm.script import tir as T\n"
    "@I.ir_module\nclass M:\n    @R.function\n"
    "    def main(x: R.Tensor((3, 4), \"float32\"), s: R.Tensor((2,), \"int32\")):\n"
    "        R.func_attr({\"tir_var_upper_bound\": {\"n\": 5}})\n"
    "        n = T.int64()\n        m = T.int64()\n"
    "        with R.dataflow():\n"
    "            a = R.add(x, x)\n"
    "            u = R.match_cast(R.tensor_to_shape(R.add(s, s)), R.Shape([n, m]))\n"
    "            b = R.broadcast_to(a, R.shape([n, 3, 4]))\n"
    "            c = R.multiply(b, b)\n"
    "            d = R.broadcast_to(R.sum(x), R.shape([m, n]))\n"
    "            e = R.exp(d)\n"
    "            f = R.concat((R.log(e), d), axis=0)\n"
    "            R.output(a, c, f)\n"
    "        return (c, f, a)\n";

enum { BOUNDED, MADE, FIXED, OUTPUTS };

static fixture shared;
static hone_module *module;
static hone_loaded_model *model;
static const hone_model_entry *entry;

static void make_inputs(int32_t n, int32_t m, hone_tensor **out) {
    int64_t x_shape[] = {3, 4}, s_shape[] = {2};
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, x_shape, &out[0]));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I32, 1, s_shape, &out[1]));
    for (int i = 0; i < 12; i++)
        hone_tensor_set_f64(out[0], i, i * 0.125);
    hone_tensor_set_i64(out[1], 0, n);
    hone_tensor_set_i64(out[1], 1, m);
}

static void free_inputs(hone_tensor **inputs) {
    hone_tensor_destroy(inputs[0]);
    hone_tensor_destroy(inputs[1]);
}

static const struct row {
    const char *name;
    int32_t n, m; /* half of the sizes */
    const char *refusal;
} rows[] = {
    {"both sizes",           1, 3,       NULL                                  },
    {"the upper bound",      2, 1,       NULL                                  },
    {"no first size",        0, 2,       NULL                                  },
    {"no second size",       1, 0,       NULL                                  },
    {"nothing",              0, 0,       NULL                                  },
    {"more than the bound",  3, 1,       "size 'n' is 6, wants at most 5"      },
    {"below 0",              1, -1,      "size 'm' is -2, wants at least 0"    },
    {"more than memory has", 2, 1 << 30, NULL /* -2^31: twice it is no int32 */},
};

static void check_values(hone_tensor *const *outputs, int64_t n, int64_t m) {
    int64_t bounded[] = {n, 3, 4}, made[] = {2 * m, n};
    for (int d = 0; d < 3; d++)
        assert_int_equal(outputs[BOUNDED]->shape[d], bounded[d]);
    for (int d = 0; d < 2; d++)
        assert_int_equal(outputs[MADE]->shape[d], made[d]);
    for (int64_t i = 0; i < n * 12; i++) {
        double a = (double)(i % 12) * 0.25;
        assert_true(hone_tensor_get_f64(outputs[BOUNDED], i) == a * a);
    }
    for (int64_t i = 0; i < 2 * m * n; i++)
        assert_true(hone_tensor_get_f64(outputs[MADE], i) - 8.25 < 1e-5);
    for (int64_t i = 0; i < 12; i++)
        assert_true(hone_tensor_get_f64(outputs[FIXED], i) == (double)i * 0.25);
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_tensor *inputs[2], **outputs;
    make_inputs(row->n, row->m, inputs);
    HONE_ASSERT_OK(hone_loaded_model_make_outputs(model, entry, inputs, &outputs));
    hone_status st = fixture_run(model, entry, inputs, outputs);
    bool is_beyond = row->m == 1 << 30;
    if (row->refusal || is_beyond) {
        HONE_ASSERT_ERROR(st, HONE_CODE_INVALID, row->refusal ? row->refusal : "size 'm' is -");
    } else {
        HONE_ASSERT_OK(st);
        check_values(outputs, 2 * row->n, 2 * row->m);
    }
    hone_model_free_outputs(entry, outputs);
    free_inputs(inputs);
}

/* What the library says of its outputs. */
static void ports_tell(void **state) {
    (void)state;
    const hone_model_port *ports = entry->outputs;
    assert_int_equal(entry->output_count, OUTPUTS);
    assert_int_equal(ports[BOUNDED].sized, HONE_MODEL_AT_MOST);
    assert_int_equal(ports[BOUNDED].shape[0], 5);
    assert_string_equal(ports[BOUNDED].dim_names[0], "n");
    assert_int_equal(ports[MADE].sized, HONE_MODEL_MADE);
    assert_int_equal(ports[MADE].shape[0], -1);
    assert_string_equal(ports[MADE].dim_names[1], "n");
    assert_int_equal(ports[FIXED].sized, HONE_MODEL_GIVEN);
}

/* One call, many times: with other data each time, after a failure too. */
static void calls_repeat(void **state) {
    (void)state;
    static const int32_t sizes[][2] = {
        {1, 3},
        {2, 0},
        {9, 9},
        {2, 8},
        {0, 1}
    };
    hone_tensor *inputs[2], **outputs;
    hone_model_call *call;
    make_inputs(1, 1, inputs);
    HONE_ASSERT_OK(hone_loaded_model_make_outputs(model, entry, inputs, &outputs));
    HONE_ASSERT_OK(hone_model_call_create(model, entry, inputs, outputs, &call));
    for (size_t i = 0; i < HONE_COUNT(sizes); i++) {
        hone_tensor_set_i64(inputs[1], 0, sizes[i][0]);
        hone_tensor_set_i64(inputs[1], 1, sizes[i][1]);
        int32_t code = hone_model_call_run(call);
        assert_int_equal(code, sizes[i][0] == 9 ? HONE_MODEL_BAD_ARGUMENT : HONE_MODEL_OK);
        if (!code) check_values(outputs, 2 * sizes[i][0], 2 * sizes[i][1]);
    }
    hone_model_call_destroy(call);
    hone_model_free_outputs(entry, outputs);
    free_inputs(inputs);
}

/* The C interface as programs use it; the bounded output is not aligned, so it is a copy. */
static void tensors_are_made(void **state) {
    (void)state;
    float x[12] = {0}, bounded[5 * 12 + 1], fixed[12];
    int32_t s[2] = {1, 2};
    int64_t x_shape[] = {3, 4}, s_shape[] = {2}, bounded_shape[] = {77, 3, 4};
    DLTensor in[] = {
        {.data = x, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = x_shape},
        {.data = s, .device = {1, 0}, .ndim = 1, .dtype = {0, 32, 1}, .shape = s_shape}
    };
    DLTensor first = {
        .data = bounded + 1,
        .device = {1,   0},
        .ndim = 3,
        .dtype = { 2, 32, 1},
        .shape = bounded_shape
    };
    DLTensor last = {
        .data = fixed, .device = {1,   0},
             .ndim = 2, .dtype = { 2, 32, 1},
             .shape = x_shape
    };
    DLManagedTensor made;
    memset(&made, 0x5a, sizeof made); /* whatever it was */
    DLTensor *inputs[] = {&in[0], &in[1]}, *outputs[] = {&first, &made.dl_tensor, &last};
    assert_int_equal(entry->run(NULL, inputs, outputs), HONE_MODEL_OK);
    assert_int_equal(bounded_shape[0], 2);
    assert_int_equal(made.dl_tensor.ndim, 2);
    assert_int_equal(made.dl_tensor.shape[0], 8);
    assert_int_equal(made.dl_tensor.shape[1], 2);
    assert_non_null(made.deleter);
    made.deleter(&made);
    s[0] = 9;
    assert_int_equal(entry->run(NULL, inputs, outputs), HONE_MODEL_BAD_ARGUMENT);
    assert_null(made.dl_tensor.data);
    int64_t asked[3][3];
    first.shape = asked[0];
    made.dl_tensor.shape = asked[1];
    last.shape = asked[2];
    assert_int_equal(entry->output_shapes(inputs, outputs), HONE_MODEL_OK);
    assert_int_equal(asked[0][0], 5);
    assert_int_equal(asked[1][1], -1);
}

/* Two sizes of each turn, the second of which is found later; what has the first one is kept in
 * memory while they change. item = s[i] * t[i]. */
static const char turns[] =
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"
    "from tvm.script import tir as T\n"
    "@I.ir_module\nclass M:\n    @R.function(private=True)\n"
    "    def turn(i: R.Tensor((), \"int64\"), a: R.Tensor((1,), \"float64\"), "
    "s: R.Tensor((8,), \"int64\"), t: R.Tensor((8,), \"int64\")):\n"
    "        n = T.int64()\n        m = T.int64()\n"
    "        at = R.reshape(i, R.shape([1]))\n"
    "        u = R.match_cast(R.tensor_to_shape(R.take(s, at, axis=0)), R.Shape([n]))\n"
    "        b = R.cumsum(R.broadcast_to(a, R.shape([n])), axis=0)\n"
    "        most = R.max(b, keepdims=True)\n"
    "        v = R.match_cast(R.tensor_to_shape(R.take(t, at, axis=0)), R.Shape([m]))\n"
    "        c = R.cumsum(R.broadcast_to(most, R.shape([m])), axis=0)\n"
    "        item = R.max(c, keepdims=True)\n"
    "        return (a, item)\n"
    "    @R.function\n"
    "    def main(a: R.Tensor((1,), \"float64\"), s: R.Tensor((8,), \"int64\"), "
    "t: R.Tensor((8,), \"int64\")):\n"
    "        y = R.loop(M.turn, 8, (a,), (s, t))\n"
    "        return y[1]\n";

static hone_status run_turns(const hone_module *looped, hone_tensor **inputs,
                             const int64_t *sizes) {
    hone_loaded_model *loaded;
    const hone_model_entry *of_turns;
    hone_tensor **outputs;
    hone_compile_options options = fixture_options(&shared, "turns");
    HONE_TRY(fixture_compile(looped, &options, NULL, &loaded));
    HONE_TRY(hone_loaded_model_entry(loaded, NULL, &of_turns));
    for (int call = 0; call < 2; call++) {
        HONE_TRY(hone_loaded_model_make_outputs(loaded, of_turns, inputs, &outputs));
        HONE_TRY(fixture_run(loaded, of_turns, inputs, outputs));
        for (int i = 0; i < 8; i++)
            assert_true(hone_tensor_get_f64(outputs[0], i) == (double)(sizes[i] * sizes[7 - i]));
        hone_model_free_outputs(of_turns, outputs);
    }
    hone_loaded_model_close(loaded);
    return HONE_OK;
}

/* A turn's memory may be more than that of the turn before, and reach over what lay behind it. */
static void phases_begin_again(void **state) {
    (void)state;
    static const int64_t sizes[] = {3, 5000, 1, 700, 9000, 2, 20000, 40}, one = 1, eight = 8;
    hone_module *looped;
    hone_tensor *inputs[3];
    HONE_ASSERT_OK(fixture_module(turns, &looped));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F64, 1, &one, &inputs[0]));
    hone_tensor_set_f64(inputs[0], 0, 1);
    for (int k = 1; k <= 2; k++) {
        HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I64, 1, &eight, &inputs[k]));
        for (int i = 0; i < 8; i++)
            hone_tensor_set_i64(inputs[k], i, sizes[k == 1 ? i : 7 - i]);
    }
    HONE_ASSERT_OK(run_turns(looped, inputs, sizes));
    for (int k = 0; k < 3; k++)
        hone_tensor_destroy(inputs[k]);
    hone_module_release(looped);
}

/* A row of a tensor that data give n rows: a result alone, and one that is an output, too. */
#define ROW_OF(results)                                                                            \
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"                          \
    "from tvm.script import tir as T\n"                                                            \
    "@I.ir_module\nclass M:\n    @R.function\n"                                                    \
    "    def main(n: R.Tensor((1,), \"int64\"), x: R.Tensor((65536,), \"float64\")):\n"            \
    "        m = T.int64()\n"                                                                      \
    "        u = R.match_cast(R.tensor_to_shape(n), R.Shape([m]))\n"                               \
    "        b = R.cumsum(R.broadcast_to(x, R.shape([m, 65536])), axis=1)\n"                       \
    "        y = R.take(b, n, axis=0)\n"                                                           \
    "        return " results "\n"

static void reach_for_nothing(const char *text) {
    static const int64_t one = 1, many = 65536;
    hone_module *rows_of_data;
    hone_loaded_model *loaded;
    const hone_model_entry *of_rows;
    hone_tensor *inputs[2], **outputs;
    hone_compile_options options = fixture_options(&shared, "rows");
    HONE_ASSERT_OK(fixture_module(text, &rows_of_data));
    HONE_ASSERT_OK(fixture_compile(rows_of_data, &options, NULL, &loaded));
    HONE_ASSERT_OK(hone_loaded_model_entry(loaded, NULL, &of_rows));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I64, 1, &one, &inputs[0]));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F64, 1, &many, &inputs[1]));
    HONE_ASSERT_OK(hone_loaded_model_make_outputs(loaded, of_rows, inputs, &outputs));
    hone_status st = fixture_run(loaded, of_rows, inputs, outputs);
    HONE_ASSERT_ERROR(st, HONE_CODE_ILLEGAL, "an index is out of range");
    hone_model_free_outputs(of_rows, outputs);
    hone_loaded_model_close(loaded);
    hone_module_release(rows_of_data);
    free_inputs(inputs);
}

/* No row is there: that is told, and nothing else happens. */
static void rows_of_nothing(void **state) {
    (void)state;
    reach_for_nothing(ROW_OF("y"));
    reach_for_nothing(ROW_OF("(b, y)"));
}

static hone_status begin(void) {
    hone_compile_options options = fixture_options(&shared, "sizes");
    HONE_TRY(fixture_module(program, &module));
    HONE_TRY(fixture_compile(module, &options, NULL, &model));
    return hone_loaded_model_entry(model, NULL, &entry);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ports_tell), cmocka_unit_test(calls_repeat),
                                       cmocka_unit_test(tensors_are_made),
                                       cmocka_unit_test(phases_begin_again),
                                       cmocka_unit_test(rows_of_nothing)};
    if (fixture_begin(&shared) != 0) return 1;
    hone_status st = begin();
    if (st) fprintf(stderr, "%s\n", hone_status_message(st));
    int code = st ? 1 : HONE_RUN_ROWS("compile/sizes", rows, check_row);
    if (!st) code |= cmocka_run_group_tests(tests, NULL, NULL);
    hone_status_free(st);
    hone_loaded_model_close(model);
    hone_module_release(module);
    fixture_end(&shared);
    return code;
}
