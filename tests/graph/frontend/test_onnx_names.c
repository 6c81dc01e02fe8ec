/* tests/graph/frontend/test_onnx_names.c - names of any kind stay apart: random ones that differ in
 * what no identifier has. */
#include <stdio.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "support/data/rng.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

enum { MODELS = 200, NAMES = 6 };

static const char *const letters[] = {".", "_", "/", ":",  "-",  "1",
                                      "é", "è", "a", "_1", "*/", "\""};

/* A name that is none of the first `count`. */
static void make_name(hone_rng *rng, char names[][32], size_t count) {
    bool is_new = false;
    while (!is_new) {
        size_t parts = 1 + hone_rng_below(rng, 4), length = 0;
        for (size_t i = 0; i < parts; i++)
            length += (size_t)snprintf(names[count] + length, 32 - length, "%s",
                                       letters[hone_rng_below(rng, HONE_COUNT(letters))]);
        is_new = true;
        for (size_t i = 0; i < count; i++)
            is_new &= strcmp(names[i], names[count]) != 0;
    }
}

/* Relu of matrices whose sizes have the same kind of names, each an output. */
static void write_model(char names[][32], char sizes[][32], hone_str *out) {
    for (size_t i = 0; i < NAMES; i++)
        hone_str_printf(out, "input %s f32 s%s,s%s\n", names[i], sizes[i], sizes[(i + 1) % NAMES]);
    for (size_t i = 0; i < NAMES; i++)
        hone_str_printf(out, "node Relu %s -> r%s\noutput r%s\n", names[i], names[i], names[i]);
}

static void check_names(const hone_module *module, char names[][32], char sizes[][32]) {
    const hone_graph_func *graph = module->members[0].graph;
    const hone_value *outputs = hone_attrs_find(&graph->attrs, "output_names");
    assert_int_equal(graph->param_count, NAMES);
    assert_int_equal(graph->var_count, NAMES);
    assert_int_equal(outputs->count, NAMES);
    for (size_t i = 0; i < NAMES; i++) {
        const hone_expr *size = graph->values[i].sinfo->shape[0];
        assert_string_equal(graph->values[i].name, names[i]);
        assert_string_equal(graph->vars[size->u.var].name + 1, sizes[i]);
        assert_string_equal(outputs->u.items[i].u.s + 1, names[i]);
    }
}

/* What is printed is the same program: nothing became one. */
static void check_text(const hone_module *module) {
    hone_str text = {0};
    hone_module *again;
    HONE_ASSERT_OK(hone_module_print(module, NULL, &text));
    HONE_ASSERT_OK(hone_script_parse(hone_str_text(&text), text.length, "again.py", &again));
    assert_true(hone_module_equal(module, again, NULL));
    hone_module_release(again);
    hone_str_deinit(&text);
}

static void random_names(void **state) {
    (void)state;
    hone_rng rng = hone_rng_from_seed(hone_test_seed(1));
    for (int m = 0; m < MODELS; m++) {
        char names[NAMES][32], sizes[NAMES][32];
        hone_str text = {0};
        hone_module *module;
        for (size_t i = 0; i < NAMES; i++) {
            make_name(&rng, names, i);
            make_name(&rng, sizes, i);
        }
        write_model(names, sizes, &text);
        HONE_ASSERT_OK(onnx_text_load(hone_str_text(&text), &module));
        hone_module_freeze(module);
        check_names(module, names, sizes);
        check_text(module);
        hone_module_release(module);
        hone_str_deinit(&text);
    }
}

static void size_without_a_name(void **state) {
    (void)state;
    hone_module *module;
    HONE_ASSERT_OK(onnx_text_load("input a f32 ?,?\ninput b f32 a_dim0,a_dim1_1\nnode Relu a -> y\n"
                                  "node Relu b -> z\noutput y\noutput z",
                                  &module));
    const hone_graph_func *graph = module->members[0].graph;
    assert_int_equal(graph->var_count, 4);
    assert_string_equal(graph->vars[0].name, "a_dim0_1");
    assert_string_equal(graph->vars[1].name, "a_dim1");
    hone_module_release(module);
}

static void size_that_is_a_number(void **state) {
    (void)state;
    hone_module *module;
    HONE_ASSERT_OK(onnx_text_load("input a f32 N,'3\nnode Relu a -> y\noutput y", &module));
    const hone_graph_func *graph = module->members[0].graph;
    assert_int_equal(graph->var_count, 1);
    assert_int_equal(hone_expr_const(graph->values[0].sinfo->shape[1]), 3);
    hone_module_release(module);
}

static void wrong_names(void **state) {
    (void)state;
    hone_module *module;
    HONE_ASSERT_ERROR(
        onnx_text_load("input a f32 2\ninput a f32 2\nnode Relu a -> y\noutput y", &module),
        HONE_CODE_INVALID, "there are two inputs 'a'");
    HONE_ASSERT_ERROR(onnx_text_load("input \xe9 f32 2\nnode Relu \xe9 -> y\noutput y", &module),
                      HONE_CODE_INVALID, "is not UTF-8");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_names),
        cmocka_unit_test(size_without_a_name),
        cmocka_unit_test(size_that_is_a_number),
        cmocka_unit_test(wrong_names),
    };
    return cmocka_run_group_tests_name("graph/onnx_names", tests, NULL, NULL);
}
