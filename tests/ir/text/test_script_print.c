/* tests/ir/text/test_script_print.c - what the printer writes: the canonical spelling, the classic
 * one, marks, descriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "support/os/fs.h"
#include "tensorfile/tensorfile.h"
#include "tests/support/hone_test.h"

static const char source[] =
    "@T.prim_func\n"
    "def f(X: T.Buffer[(1, 96), \"float32\"], W: T.Buffer((48, 96), \"float32\"), "
    "Z: T.Buffer((1, 48), \"float32\")):\n"
    "    Y = T.alloc_buffer((1, 48), \"float32\")\n"
    "    for i, j, k in T.grid(1, 48, 96):\n"
    "        with T.block(\"Y\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                Y[vi, vj] = 0\n"
    "            Y[vi, vj] += X[vi, vk] * W[vj, vk]\n"
    "    for i in range(12):\n"
    "        for j in T.vectorized(4):\n"
    "            with T.block(\"Z\"):\n"
    "                v = T.axis.spatial(48, i * 4 + j)\n"
    "                Z[0, v] = T.max(Y[0, v], 0)\n";

static const char canonical[] =
    "# from tvm.script import tirx as T\n"
    "\n"
    "@T.prim_func(s_tir=True)\n"
    "def f(X: T.Buffer((1, 96), \"float32\"), W: T.Buffer((48, 96), \"float32\"), "
    "Z: T.Buffer((1, 48), \"float32\")):\n"
    "    # with T.sblock(\"root\"):\n"
    "    Y = T.sblock_alloc_buffer((1, 48))\n"
    "    for i, j, k in T.grid(1, 48, 96):\n"
    "        with T.sblock(\"Y\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            T.reads(X[vi, vk], W[vj, vk])\n"
    "            T.writes(Y[vi, vj])\n"
    "            with T.init():\n"
    "                Y[vi, vj] = T.float32(0.0)\n"
    "            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]\n"
    "    for i in range(12):\n"
    "        for j in T.vectorized(4):\n"
    "            with T.sblock(\"Z\"):\n"
    "                v = T.axis.spatial(48, i * 4 + j)\n"
    "                T.reads(Y[0, v])\n"
    "                T.writes(Z[0, v])\n"
    "                Z[0, v] = T.max(Y[0, v], T.float32(0.0))\n";

static hone_module *read_source(const char *text) {
    hone_module *module = NULL;
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "p.py", &module));
    return module;
}

static void prints_canonical(void **state) {
    (void)state;
    hone_module *module = read_source(source);
    hone_str out = {0};
    HONE_ASSERT_OK(hone_func_print(module->members[0].func, NULL, &out));
    hone_module_release(module);
    assert_string_equal(out.data, canonical);
    hone_str_deinit(&out);
}

static void prints_classic(void **state) {
    (void)state;
    hone_module *module = read_source(source);
    hone_print_options options = {
        .dialect = HONE_DIALECT_CLASSIC, .mark = HONE_NO_ID, .bare = true};
    hone_str out = {0};
    HONE_ASSERT_OK(hone_func_print(module->members[0].func, &options, &out));
    hone_module_release(module);
    assert_int_equal(strncmp(out.data, "@T.prim_func\ndef f(", 19), 0);
    assert_non_null(
        strstr(out.data, "    # with T.block(\"root\"):\n    Y = T.alloc_buffer((1, 48))\n"));
    assert_non_null(strstr(out.data, "        with T.block(\"Y\"):\n"));
    assert_null(strstr(out.data, "sblock"));
    hone_str_deinit(&out);
}

static hone_node_id loop_number(const hone_func *func, int number) {
    hone_node_id id = HONE_NODE_TOP;
    while ((id = hone_tree_next(func, HONE_NODE_TOP, id)) != HONE_NO_ID) {
        if (hone_func_node(func, id)->kind == HONE_NODE_FOR && number-- == 0) return id;
    }
    return HONE_NO_ID;
}

static void marks_a_node(void **state) {
    (void)state;
    hone_module *module = read_source(source);
    const hone_func *func = module->members[0].func;
    hone_print_options options = {.mark = loop_number(func, 1), .mark_note = "this one"};
    hone_str out = {0}, about = {0};
    HONE_ASSERT_OK(hone_func_print(func, &options, &out));
    hone_node_describe(func, loop_number(func, 4), &about);
    hone_module_release(module);
    assert_non_null(strstr(out.data, "    for i in range(1):\n"
                                     "        for j in range(48):\n"
                                     "        ^^^^^^^^^^^^^^^^^^^ this one\n"
                                     "            for k in range(96):\n"));
    assert_string_equal(about.data, "j: T.vectorized(0, 4)");
    hone_str_deinit(&out);
    hone_str_deinit(&about);
}

/* Equal names in sight of each other are told apart; a name is free again behind its scope. */
static void makes_names_unique(void **state) {
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def f(A: T.Buffer((64,))):\n"
                               "    for i in range(4):\n"
                               "        for i in range(8):\n"
                               "            A[i] = 0\n"
                               "    for i in range(2):\n"
                               "        A[i] = 1\n";
    hone_module *module = read_source(text);
    hone_str out = {0};
    HONE_ASSERT_OK(hone_module_print(module, NULL, &out));
    hone_module_release(module);
    assert_non_null(strstr(out.data, "for i, i_1 in T.grid(4, 8):\n            A[i_1] = "));
    assert_non_null(strstr(out.data, "for i in range(2):\n            A[i] = "));
    hone_str_deinit(&out);
}

/* More loops than one T.grid may have are several. */
static void prints_many_loops(void **state) {
    (void)state;
    enum { LOOPS = 130 };
    hone_str text = {0}, out = {0};
    hone_str_append(&text, "@T.prim_func\ndef f(A: T.Buffer((1,))):\n");
    for (int32_t i = 0; i < LOOPS; i++)
        hone_str_printf(&text, "%*sfor i%d in range(1):\n", 4 + i, "", i);
    hone_str_printf(&text, "%*sA[0] = 0\n", 4 + LOOPS, "");
    hone_module *module = read_source(hone_str_text(&text)), *again;
    HONE_ASSERT_OK(hone_module_print(module, NULL, &out));
    again = read_source(hone_str_text(&out));
    assert_true(hone_hash128_equal(hone_func_hash(module->members[0].func),
                                   hone_func_hash(again->members[0].func)));
    hone_module_release(module);
    hone_module_release(again);
    hone_str_deinit(&text);
    hone_str_deinit(&out);
}

/* A symbol that no function can be written with stays an attribute. */
static void names_functions_by_symbol(void **state) {
    (void)state;
    static const char *const symbols[][2] = {
        {"other",  "def other("},
        {"ma(in",  "def f("    },
        {"main^=", "def f("    },
        {"def",    "def f("    },
        {"3d",     "def f("    },
    };
    for (size_t i = 0; i < HONE_COUNT(symbols); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "@T.prim_func\n"
                 "def f(A: T.Buffer((64,))):\n"
                 "    T.func_attr({\"global_symbol\": \"%s\"})\n"
                 "    A[0] = 1\n",
                 symbols[i][0]);
        hone_module *module = read_source(text), *again = NULL;
        hone_str out = {0};
        HONE_ASSERT_OK(hone_module_print(module, NULL, &out));
        assert_non_null(strstr(out.data, symbols[i][1]));
        again = read_source(out.data);
        assert_true(hone_module_equal(module, again, NULL));
        hone_module_release(module);
        hone_module_release(again);
        hone_str_deinit(&out);
    }
}

/* Weights stand beside the text and come back: mlp_params.py names four of them. */
static void keeps_weights(void **state) {
    (void)state;
    static const int64_t shapes[4][2] = {
        {4, 6},
        {4, 1},
        {3, 4},
        {3, 1}
    };
    static const int32_t ranks[4] = {2, 1, 2, 1};
    char *dir = NULL, *text = NULL;
    size_t length = 0;
    hone_tensor_set set = {0};
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-script", &dir));
    char *path = hone_path_join(dir, "mlp_params.py"),
         *weights = hone_path_join(dir, "mlp_params.safetensors");
    const char *program = hone_test_source_path("tests/programs/mlp_params.py");
    HONE_ASSERT_OK(hone_fs_read(program, 1 << 20, &text, &length));
    HONE_ASSERT_OK(hone_fs_write_atomic(path, text, length));
    for (int i = 0; i < 4; i++) {
        char name[16];
        hone_tensor *tensor = NULL;
        snprintf(name, sizeof name, "constant.%d", 3 - i);
        HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, ranks[3 - i], shapes[3 - i], &tensor));
        hone_test_fill(tensor, 3.5 - i);
        HONE_ASSERT_OK(hone_tensor_set_add(&set, name, tensor));
    }
    HONE_ASSERT_OK(hone_tensor_set_save(weights, &set));
    hone_module *module = NULL, *copy = NULL;
    HONE_ASSERT_OK(hone_script_load(path, &module));
    assert_int_equal(module->constant_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(module->constants[i]->shape[0], shapes[i][0]);
        assert_true(hone_tensor_get_f64(module->constants[i], 0) == 0.5 + i);
    }
    HONE_ASSERT_OK(hone_script_save(module, path, NULL));
    HONE_ASSERT_OK(hone_script_load(path, &copy));
    hone_str difference = {0};
    bool same = hone_module_equal(module, copy, &difference);
    if (!same) print_error("%s\n", hone_str_text(&difference));
    hone_module_release(module);
    hone_module_release(copy);
    hone_tensor_set_deinit(&set);
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_str_deinit(&difference);
    free(dir);
    free(path);
    free(weights);
    free(text);
    assert_true(same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_canonical),  cmocka_unit_test(prints_classic),
        cmocka_unit_test(marks_a_node),      cmocka_unit_test(makes_names_unique),
        cmocka_unit_test(prints_many_loops), cmocka_unit_test(names_functions_by_symbol),
        cmocka_unit_test(keeps_weights),
    };
    return cmocka_run_group_tests_name("ir/script_print", tests, NULL, NULL);
}
