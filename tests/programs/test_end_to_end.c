/* tests/programs/test_end_to_end.c - the end-to-end model of the public chapters in all its forms:
 * one answer.
 *
 * Every row is a module of tests/programs/ with main(x, w0, b0, w1, b1), a dense layer, relu, and a
 * dense layer. Each is run operator by operator, and as the plan of its fused kernels, with
 * external functions given in C where it calls some; parameters are passed, or bound beforehand.
 * The reference is plain C below.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/passes/pass.h"
#include "graph/plan/tasks.h"
#include "ir/identity/structural.h"
#include "ir/interp/interp.h"
#include "ir/te/te.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { IN = 96, HIDDEN = 48, OUT = 10, ARGS = 5 };

static const struct row {
    const char *name, *program;
    bool is_external; /* calls env.dense and env.rectify */
    int tasks;        /* distinct kernels after fusion; 0 = sizes are bound at run time */
} rows[] = {
    {"call_tir",                       "mlp_call_tir",            false, 3},
    {"call_dps_packed, dynamic sizes", "mlp_dynamic",             false, 0},
    {"two dataflow blocks",            "mlp_two_dataflow_blocks", false, 3},
    {"external functions",             "mlp_extern_static",       true,  0},
    {"external, dynamic sizes",        "mlp_extern",              true,  0},
    {"programs and externals mixed",   "mlp_mixture_static",      true,  1},
    {"high-level operators",           "mlp_operators",           false, 2},
    {"fused by hand",                  "mlp_fused",               false, 4},
    {"functions called by main",       "fused_dense_add",         false, 0},
};

typedef struct arguments {
    hone_tensor *items[ARGS];
    float want[OUT];
} arguments;

static void dense(const float *x, const float *w, const float *b, int rows_of_w, int columns,
                  float *y) {
    for (int j = 0; j < rows_of_w; j++) {
        double sum = 0;
        for (int k = 0; k < columns; k++)
            sum += (double)x[k] * (double)w[j * columns + k];
        y[j] = (float)(sum + (double)b[j]);
    }
}

static void rectify(const float *x, int64_t count, float *y) {
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

static void make_arguments(arguments *a) {
    static const int64_t shapes[ARGS][2] = {
        {1,      IN    },
        {HIDDEN, IN    },
        {HIDDEN, 0     },
        {OUT,    HIDDEN},
        {OUT,    0     }
    };
    hone_rng rng = hone_test_rng(3);
    for (int i = 0; i < ARGS; i++) {
        HONE_ASSERT_OK(
            hone_tensor_create(HONE_DTYPE_F32, shapes[i][1] ? 2 : 1, shapes[i], &a->items[i]));
        hone_tensor_fill_random(a->items[i], &rng, -1, 1);
    }
    float hidden[HIDDEN];
    dense(a->items[0]->data, a->items[1]->data, a->items[2]->data, HIDDEN, IN, hidden);
    rectify(hidden, HIDDEN, hidden);
    dense(hidden, a->items[3]->data, a->items[4]->data, OUT, HIDDEN, a->want);
}

static void free_arguments(arguments *a) {
    for (int i = 0; i < ARGS; i++)
        hone_tensor_destroy(a->items[i]);
}

static hone_status call_extern(void *ctx, const char *name, hone_tensor *const *args,
                               size_t count) {
    (void)ctx;
    if (strcmp(name, "env.rectify") == 0 && count == 2) {
        rectify(args[0]->data, hone_tensor_count(args[0]), args[1]->data);
    } else if (strcmp(name, "env.dense") == 0 && count == 4) {
        dense(args[0]->data, args[1]->data, args[2]->data, (int)args[1]->shape[0],
              (int)args[1]->shape[1], args[3]->data);
    } else {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "no external function '%s'", name);
    }
    return HONE_OK;
}

static hone_module *load(const char *name) {
    char relative[128];
    snprintf(relative, sizeof relative, "tests/programs/%s.py", name);
    hone_module *module = NULL;
    HONE_ASSERT_OK(hone_script_load(hone_test_source_path(relative), &module));
    HONE_ASSERT_OK(hone_check_module(module));
    hone_module_freeze(module);
    return module;
}

static bool is_right(const arguments *a, const hone_tensor *got) {
    if (hone_tensor_count(got) != OUT || !got->data) return false;
    for (int i = 0; i < OUT; i++) {
        if (fabs(hone_tensor_get_f64(got, i) - (double)a->want[i]) > 1e-4) return false;
    }
    return true;
}

/* Operators one by one. */
static bool runs_plainly(const hone_module *module, const hone_graph_options *options,
                         const arguments *a, size_t input_count) {
    hone_module *plain;
    hone_interp_options interp = {.call_extern = call_extern, .check_uninitialised = true};
    hone_tensor **results;
    size_t count;
    HONE_ASSERT_OK(hone_graph_prepare_plain(module, options, &plain));
    HONE_ASSERT_OK(hone_interp_graph(plain, "main", (hone_tensor *const *)a->items, input_count,
                                     &interp, &results, &count));
    hone_module_release(plain);
    run_results owned = {results, count};
    bool ok = count == 1 && is_right(a, results[0]);
    run_results_deinit(&owned);
    return ok;
}

static bool runs_as_planned(const hone_module *module, const hone_graph_options *options,
                            const arguments *a, size_t input_count) {
    run_results results;
    HONE_ASSERT_OK(
        run_planned(module, options, (hone_tensor *const *)a->items, input_count, 0, &results));
    bool ok = results.count == 1 && is_right(a, results.items[0]);
    run_results_deinit(&results);
    return ok;
}

static void gives_the_answer(void **state) {
    const struct row *row = *state;
    arguments a;
    make_arguments(&a);
    hone_module *module = load(row->program);
    assert_true(runs_plainly(module, NULL, &a, ARGS));
    if (!row->is_external) assert_true(runs_as_planned(module, NULL, &a, ARGS));
    if (row->tasks) {
        hone_module *prepared;
        hone_task_list tasks;
        HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
        HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
        if ((int)tasks.count != row->tasks) print_message("%u tasks\n", (unsigned)tasks.count);
        int count = (int)tasks.count;
        hone_task_list_deinit(&tasks);
        hone_module_release(prepared);
        assert_int_equal(count, row->tasks);
    }
    hone_module_release(module);
    free_arguments(&a);
}

/* Parameters bound by name: main takes x alone. */
static void binds_parameters(void **state) {
    (void)state;
    static const struct {
        const char *program, *names[4];
    } bound[] = {
        {"mlp_call_tir",  {"w0", "b0", "w1", "b1"}                            },
        {"mlp_dynamic",   {"w0", "b0", "w1", "b1"}                            },
        {"mlp_operators", {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}},
    };
    arguments a;
    make_arguments(&a);
    for (size_t r = 0; r < HONE_COUNT(bound); r++) {
        hone_graph_weight weights[4];
        for (int i = 0; i < 4; i++)
            weights[i] = (hone_graph_weight){bound[r].names[i], a.items[i + 1]};
        hone_graph_options options = {.weights = weights, .weight_count = 4};
        hone_module *module = load(bound[r].program);
        assert_true(runs_plainly(module, &options, &a, 1));
        assert_true(runs_as_planned(module, &options, &a, 1));
        weights[0].name = "no_such_parameter";
        hone_module *prepared = NULL;
        HONE_ASSERT_ERROR(hone_graph_prepare(module, &options, &prepared), HONE_CODE_INVALID,
                          "no_such_parameter");
        hone_module_release(module);
    }
    free_arguments(&a);
}

/* With weights known, transposing them is done once, and two kernels are left. */
static void fuses_dense_and_relu(void **state) {
    (void)state;
    arguments a;
    make_arguments(&a);
    hone_graph_weight weights[4] = {
        {"fc1_weight", a.items[1]},
        {"fc1_bias",   a.items[2]},
        {"fc2_weight", a.items[3]},
        {"fc2_bias",   a.items[4]},
    };
    hone_graph_options options = {.weights = weights, .weight_count = 4};
    hone_module *module = load("mlp_operators"), *prepared;
    hone_task_list tasks;
    HONE_ASSERT_OK(hone_graph_prepare(module, &options, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    uint32_t count = tasks.count;
    bool names_fit = count == 2 && strstr(tasks.items[0].name, "relu") &&
                     strstr(tasks.items[0].name, "add") && !strstr(tasks.items[1].name, "relu");
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
    free_arguments(&a);
    assert_int_equal(count, 2);
    assert_true(names_fit);
}

/* Pattern match and rewriting: multiply and add become one kernel, and mean what they meant. */
static void fuses_multiply_and_add(void **state) {
    (void)state;
    static const int64_t shape[] = {5, 7};
    hone_tensor *inputs[2];
    hone_rng rng = hone_test_rng(5);
    for (int i = 0; i < 2; i++) {
        HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &inputs[i]));
        hone_tensor_fill_random(inputs[i], &rng, -2, 2);
    }
    hone_module *module = load("mul_add"), *prepared;
    hone_task_list tasks;
    run_results results;
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, 2, 0, &results));
    bool ok = results.count == 1;
    for (int64_t i = 0; ok && i < 35; i++) {
        double x = hone_tensor_get_f64(inputs[0], i), y = hone_tensor_get_f64(inputs[1], i);
        ok = fabs(hone_tensor_get_f64(results.items[0], i) - (x * y + y)) < 1e-5;
    }
    uint32_t count = tasks.count;
    run_results_deinit(&results);
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
    hone_tensor_destroy(inputs[0]);
    hone_tensor_destroy(inputs[1]);
    assert_true(ok);
    assert_int_equal(count, 1);
}

/* Tensor expressions make the programs that the text has. */
static void builds_from_expressions(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_te te;
    HONE_ASSERT_OK(hone_te_begin(&te, arena, "main"));
    const hone_expr *n = hone_te_int(&te, 72), *m = hone_te_int(&te, 88), *k = hone_te_int(&te, 40);
    hone_buffer x = hone_te_input(&te, "X", HONE_DTYPE_F32, 2, (const hone_expr *[]){n, k});
    hone_buffer w = hone_te_input(&te, "W", HONE_DTYPE_F32, 2, (const hone_expr *[]){k, m});
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 2, (const hone_expr *[]){n, m}, 1, &k);
    const hone_expr *xs = hone_te_load(&te, x, (const hone_expr *[]){s.axis[0], s.axis[2]});
    const hone_expr *ws = hone_te_load(&te, w, (const hone_expr *[]){s.axis[2], s.axis[1]});
    hone_buffer product =
        hone_te_reduce(&te, &s, "product", HONE_TE_SUM, hone_expr_mul(&te.ir, xs, ws));
    hone_te_stage_begin(&te, &s, 2, (const hone_expr *[]){n, m}, 0, NULL);
    const hone_expr *p = hone_te_load(&te, product, s.axis);
    hone_buffer out = hone_te_compute(
        &te, &s, "positive",
        hone_expr_binary(&te.ir, HONE_OP_MAX, p, hone_expr_float(&te.ir, HONE_DTYPE_F32, 0)));
    hone_func *func;
    HONE_ASSERT_OK(hone_te_finish(&te, 1, &out, &func));
    hone_module *module = load("te_matmul_relu");
    const hone_member *member;
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    hone_str difference = {0};
    bool is_equal = hone_func_equal(func, member->func, &difference);
    if (!is_equal) print_message("%s\n", hone_str_text(&difference));
    hone_str_deinit(&difference);
    hone_module_release(module);
    hone_arena_destroy(arena);
    assert_true(is_equal);
}

/* The program that is wrong on purpose: an axis of 48 bound to a loop of 47, or the like. */
static void refuses_the_wrong_domain(void **state) {
    (void)state;
    hone_module *module = NULL;
    HONE_ASSERT_OK(
        hone_script_load(hone_test_source_path("tests/programs/matmul_relu_bad_axis.py"), &module));
    hone_status st = hone_check_module(module);
    hone_module_release(module);
    HONE_ASSERT_CODE(st, HONE_CODE_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binds_parameters),         cmocka_unit_test(fuses_dense_and_relu),
        cmocka_unit_test(fuses_multiply_and_add),   cmocka_unit_test(builds_from_expressions),
        cmocka_unit_test(refuses_the_wrong_domain),
    };
    int failed = HONE_RUN_ROWS("programs/end_to_end", rows, gives_the_answer);
    return failed + cmocka_run_group_tests_name("programs/graphs", tests, NULL, NULL);
}
