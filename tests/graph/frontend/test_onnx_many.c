/* tests/graph/frontend/test_onnx_many.c - nodes of many operands and many results: lists of
 * hundreds, as real models have them (cells of a cache, parts of a split). */
#include <stdio.h>

#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

enum { LENGTH = 4 };

/* So many of one name, or names with numbers behind them. */
static void repeat(hone_str *text, const char *name, int count) {
    for (int i = 0; i < count; i++)
        hone_str_printf(text, "%s%s", i ? "," : "", name);
}

static void number(hone_str *text, const char *stem, int count) {
    for (int i = 0; i < count; i++)
        hone_str_printf(text, "%s%s%d", i ? "," : "", stem, i);
}

/* The one result for x = 1, 2, 3, …, which both ways give. */
static hone_tensor *result_of(const hone_str *text, int64_t length, run_results *out_results) {
    hone_module *module;
    hone_tensor *x;
    run_results planned = {0};
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 1, &length, &x));
    for (int64_t i = 0; i < length; i++)
        hone_tensor_set_f64(x, i, (double)(i + 1));
    HONE_ASSERT_OK(onnx_text_load(hone_str_text(text), &module));
    HONE_ASSERT_OK(run_plain(module, NULL, &x, 1, 0, out_results));
    HONE_ASSERT_OK(run_planned(module, NULL, &x, 1, 0, &planned));
    hone_tensor *result = out_results->items[0];
    assert_int_equal(planned.count, 1);
    assert_int_equal(hone_tensor_count(planned.items[0]), hone_tensor_count(result));
    for (int64_t i = 0; i < hone_tensor_count(result); i++)
        assert_true(hone_tensor_get_f64(planned.items[0], i) == hone_tensor_get_f64(result, i));
    run_results_deinit(&planned);
    hone_tensor_destroy(x);
    hone_module_release(module);
    return result;
}

static void takes_300_operands(void **state) {
    (void)state;
    enum { COUNT = 300 };
    hone_str text = {0};
    run_results results = {0};
    hone_str_append(&text, "opset 13\ninput x f32 4\nnode Concat ");
    repeat(&text, "x", COUNT);
    hone_str_append(&text, " -> c axis=0\nnode Sum ");
    repeat(&text, "c", COUNT);
    hone_str_append(&text, " -> y\noutput y\n");
    hone_tensor *y = result_of(&text, LENGTH, &results);
    assert_int_equal(hone_tensor_count(y), COUNT * LENGTH);
    for (int64_t i = 0; i < COUNT * LENGTH; i++)
        assert_true(hone_tensor_get_f64(y, i) == (double)(COUNT * (i % LENGTH + 1)));
    run_results_deinit(&results);
    hone_str_deinit(&text);
}

static void joins_40_quantised_parts(void **state) {
    (void)state;
    enum { COUNT = 40 };
    hone_str text = {0};
    run_results results = {0};
    hone_str_append(&text, "opset 13\ninput x f32 4\nconst s f32 = 1.0\nconst z u8 = 0\n"
                           "node QuantizeLinear x,s,z -> q\nnode com.microsoft.QLinearConcat s,z,");
    repeat(&text, "q,s,z", COUNT);
    hone_str_append(&text, " -> c axis=0\nnode DequantizeLinear c,s,z -> y\noutput y\n");
    hone_tensor *y = result_of(&text, LENGTH, &results);
    assert_int_equal(hone_tensor_count(y), COUNT * LENGTH);
    for (int64_t i = 0; i < COUNT * LENGTH; i++)
        assert_true(hone_tensor_get_f64(y, i) == (double)(i % LENGTH + 1));
    run_results_deinit(&results);
    hone_str_deinit(&text);
}

/* Apart and joined again, the other way round. */
static void check_split(const char *lengths, int count) {
    hone_str text = {0};
    run_results results = {0};
    hone_str_printf(&text, "opset 13\ninput x f32 %d\n", count);
    if (lengths) {
        hone_str_printf(&text, "const l i64 %d = ", count);
        repeat(&text, lengths, count);
        hone_str_append_char(&text, '\n');
    }
    hone_str_printf(&text, "node Split x%s -> ", lengths ? ",l" : "");
    number(&text, "p", count);
    hone_str_append(&text, " axis=0\nnode Concat ");
    for (int i = count; i-- > 0;)
        hone_str_printf(&text, "p%d%s", i, i ? "," : " -> y axis=0\noutput y\n");
    hone_tensor *y = result_of(&text, count, &results);
    for (int64_t i = 0; i < count; i++)
        assert_true(hone_tensor_get_f64(y, i) == (double)(count - i));
    run_results_deinit(&results);
    hone_str_deinit(&text);
}

static void splits_into_hundreds(void **state) {
    (void)state;
    check_split(NULL, 150);
    check_split("1", 150);
}

/* As the caches of a decoder that a model carries twice, once for its first step. */
static void branches_with_90_results(void **state) {
    (void)state;
    enum { COUNT = 90 };
    static const char *const branches[][2] = {
        {"then_branch", "Neg"},
        {"else_branch", "Abs"}
    };
    hone_str text = {0};
    run_results results = {0};
    hone_str_append(&text, "opset 13\ninput x f32 4\nnode ReduceMax x -> m keepdims=0\n"
                           "const k f32 = 2\nnode Greater m,k -> c\n");
    for (size_t b = 0; b < HONE_COUNT(branches); b++) {
        hone_str_printf(&text, "body %s\n", branches[b][0]);
        for (int i = 0; i < COUNT; i++)
            hone_str_printf(&text, "node %s x -> %c%d\noutput %c%d f32 4\n", branches[b][1],
                            branches[b][0][0], i, branches[b][0][0], i);
        hone_str_append(&text, "end\n");
    }
    hone_str_append(&text, "node If c -> ");
    number(&text, "r", COUNT);
    hone_str_append(&text, "\nnode Sum ");
    number(&text, "r", COUNT);
    hone_str_append(&text, " -> y\noutput y\n");
    hone_tensor *y = result_of(&text, LENGTH, &results);
    for (int64_t i = 0; i < LENGTH; i++)
        assert_true(hone_tensor_get_f64(y, i) == -(double)(COUNT * (i + 1)));
    run_results_deinit(&results);
    hone_str_deinit(&text);
}

static void loops_with_80_states(void **state) {
    (void)state;
    enum { COUNT = 80 };
    hone_str text = {0};
    run_results results = {0};
    hone_str_append(&text, "opset 13\ninput x f32 4\nconst n i64 = 20\nconst one f32 = 1\nbody\n"
                           "input i i64\ninput c bool\n");
    for (int i = 0; i < COUNT; i++)
        hone_str_printf(&text, "input s%d f32 4\n", i);
    for (int i = 0; i < COUNT; i++)
        hone_str_printf(&text, "node Add s%d,one -> t%d\n", i, i);
    hone_str_append(&text, "node Identity c -> d\noutput d bool\n");
    for (int i = 0; i < COUNT; i++)
        hone_str_printf(&text, "output t%d f32 4\n", i);
    hone_str_append(&text, "end\nnode Loop n,,");
    repeat(&text, "x", COUNT);
    hone_str_append(&text, " -> ");
    number(&text, "r", COUNT);
    hone_str_append(&text, "\nnode Sum ");
    number(&text, "r", COUNT);
    hone_str_append(&text, " -> y\noutput y\n");
    hone_tensor *y = result_of(&text, LENGTH, &results);
    for (int64_t i = 0; i < LENGTH; i++)
        assert_true(hone_tensor_get_f64(y, i) == (double)(COUNT * (i + 21)));
    run_results_deinit(&results);
    hone_str_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_300_operands),   cmocka_unit_test(joins_40_quantised_parts),
        cmocka_unit_test(splits_into_hundreds), cmocka_unit_test(branches_with_90_results),
        cmocka_unit_test(loops_with_80_states),
    };
    return cmocka_run_group_tests_name("graph/onnx_many", tests, NULL, NULL);
}
