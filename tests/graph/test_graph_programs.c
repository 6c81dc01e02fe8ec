/* tests/graph/test_graph_programs.c - modules written as program text: tasks of bare PrimFuncs,
 * calls of symbolic kernels, weights given by name, patterns, flops, the plan of a function with
 * views and shared results, branches and loops. */
#include <string.h>

#include "graph/passes/fusion/pattern.h"
#include "graph/passes/pass.h"
#include "graph/plan/plan.h"
#include "graph/plan/tasks.h"
#include "ir/identity/structural.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/graph/plan_text.h"
#include "tests/support/hone_test.h"

static const char mm_text[] = "@T.prim_func\n"
                              "def mm(A: T.Buffer((4, 8), \"float32\"), B: T.Buffer((8, 6), "
                              "\"float32\"), C: T.Buffer((4, 6), "
                              "\"float32\")):\n"
                              "    for i, j, k in T.grid(4, 6, 8):\n"
                              "        with T.block(\"C\"):\n"
                              "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                              "            with T.init():\n"
                              "                C[vi, vj] = T.float32(0)\n"
                              "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

static const char calls_text[] =
    "@I.ir_module\n"
    "class Module:\n"
    "    @T.prim_func\n"
    "    def scale(x: T.handle, y: T.handle):\n"
    "        n = T.int64()\n"
    "        X = T.match_buffer(x, (n, 4), \"float32\")\n"
    "        Y = T.match_buffer(y, (n, 4), \"float32\")\n"
    "        for i, j in T.grid(n, 4):\n"
    "            with T.block(\"Y\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                Y[vi, vj] = X[vi, vj] * T.float32(2)\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((3, 4), \"float32\"), w: R.Tensor((4, 4), \"float32\")):\n"
    "        cls = Module\n"
    "        with R.dataflow():\n"
    "            a = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((3, 4), dtype=\"float32\"))\n"
    "            b: R.Tensor((3, 4), \"float32\") = R.matmul(a, w)\n"
    "            c: R.Tensor((12,), \"float32\") = R.reshape(b, R.shape([12]))\n"
    "            d: R.Tensor((12,), \"float32\") = R.nn.relu(c)\n"
    "            R.output(d)\n"
    "        return (d, d, x)\n";

static hone_module *parse(const char *text) {
    hone_module *module;
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "test.py", &module));
    return module;
}

static void lone_functions_are_tasks(void **state) {
    (void)state;
    hone_module *module = parse(mm_text), *prepared;
    hone_task_list tasks;
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    assert_int_equal(tasks.count, 1);
    assert_string_equal(tasks.items[0].name, "mm");
    assert_int_equal(tasks.items[0].weight, 1);
    assert_true(tasks.items[0].flops == 2.0 * 4 * 6 * 8);
    assert_true(tasks.items[0].bytes == 4.0 * (32 + 48 + 24));
    assert_true(hone_hash128_equal(tasks.items[0].hash, hone_func_hash(module->members[0].func)));
    assert_int_equal(hone_func_pattern(module->members[0].func), HONE_PATTERN_OUT_FUSABLE);
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
}

static void symbolic_calls_are_specialised(void **state) {
    (void)state;
    hone_module *module = parse(calls_text), *prepared;
    hone_task_list tasks;
    assert_int_equal(hone_func_pattern(hone_module_find(module, "scale")->func),
                     HONE_PATTERN_ELEMWISE);
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    assert_int_equal(tasks.skipped, 0);
    for (uint32_t i = 0; i < tasks.count; i++) {
        bool is_symbolic;
        hone_func_flops(tasks.items[i].func, &is_symbolic);
        assert_false(is_symbolic);
    }
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    hone_module_release(module);
}

static void weights_become_constants(void **state) {
    (void)state;
    hone_module *module = parse(calls_text);
    int64_t x_shape[] = {3, 4}, w_shape[] = {4, 4};
    hone_tensor *x, *w;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, x_shape, &x));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, w_shape, &w));
    for (int i = 0; i < 12; i++)
        hone_tensor_set_f64(x, i, i - 5);
    for (int i = 0; i < 16; i++)
        hone_tensor_set_f64(w, i, i % 5 == 0 ? 3 : 0);
    hone_graph_weight weight = {"w", w};
    hone_graph_options options = {.weights = &weight, .weight_count = 1};
    hone_tensor *inputs[] = {x, w};
    run_results both, bound;
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, 2, 0, &both));
    HONE_ASSERT_OK(run_planned(module, &options, inputs, 1, 0, &bound));
    assert_int_equal(both.count, 3);
    assert_int_equal(bound.count, 3);
    for (int i = 0; i < 12; i++) {
        double want = i > 5 ? 6.0 * (i - 5) : 0;
        for (int k = 0; k < 2; k++) {
            assert_true(hone_tensor_get_f64(both.items[k], i) == want);
            assert_true(hone_tensor_get_f64(bound.items[k], i) == want);
        }
        assert_true(hone_tensor_get_f64(bound.items[2], i) == i - 5);
    }
    run_results_deinit(&both);
    run_results_deinit(&bound);
    weight.name = "v";
    hone_module *out;
    hone_status unknown = hone_graph_prepare(module, &options, &out);
    weight = (hone_graph_weight){"w", x};
    hone_status misfit = hone_graph_prepare(module, &options, &out);
    hone_tensor_destroy(x);
    hone_tensor_destroy(w);
    hone_module_release(module);
    HONE_ASSERT_ERROR(unknown, HONE_CODE_INVALID, "there is no parameter 'v'");
    HONE_ASSERT_ERROR(misfit, HONE_CODE_TYPE,
                      "parameter 'w' is float32[4, 4], the given tensor is "
                      "float32[3, 4]");
}

/* What the tasks know of weights: the operand of the product, and nothing where it is given. */
static void tasks_know_their_weights(void **state) {
    (void)state;
    hone_module *module = parse(calls_text), *prepared;
    int64_t shape[] = {4, 4};
    hone_tensor *w;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &w));
    hone_graph_weight weight = {"w", w};
    for (size_t weights = 0; weights < 2; weights++) {
        hone_graph_options options = {.weights = &weight, .weight_count = weights};
        hone_task_list tasks;
        uint64_t constants = 0;
        HONE_ASSERT_OK(hone_graph_prepare(module, &options, &prepared));
        HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
        for (uint32_t i = 0; i < tasks.count; i++)
            constants |= tasks.items[i].constants;
        hone_task_list_deinit(&tasks);
        hone_module_release(prepared);
        assert_int_equal(constants, weights ? 2 : 0);
    }
    hone_tensor_destroy(w);
    hone_module_release(module);
}

/* ---- branches and loops ---- */

static const char flow_head[] =
    "@I.ir_module\n"
    "class Module:\n"
    "    @R.function(private=True)\n"
    "    def turn(i: R.Tensor((), \"int64\"), a: R.Tensor((4,), \"float32\"), b: R.Tensor((4,), "
    "\"float32\"), w: R.Tensor((4, 4), \"float32\")):\n"
    "        s = R.add(a, R.matmul(b, w))\n"
    "        return (b, a, s)\n" /* the states change places */
    "    @R.function(private=True)\n"
    "    def until(i: R.Tensor((), \"int64\"), a: R.Tensor((4,), \"float32\"), w: R.Tensor((4, "
    "4), \"float32\")):\n"
    "        s = R.subtract(R.matmul(a, w), R.const(1, \"float32\"))\n"
    "        go = R.greater(R.max(s), R.const(0, \"float32\"))\n"
    "        if go:\n"
    "            t = R.matmul(s, w)\n"
    "        else:\n"
    "            t = R.negative(s)\n"
    "        return (go, t)\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((4,), \"float32\"), w: R.Tensor((4, 4), \"float32\"), c: "
    "R.Tensor((), \"bool\"), n: R.Tensor((), \"int64\")):\n"
    "        cls = Module\n"
    "        z = R.multiply(x, x)\n";

/* What stands in main, the function's last lines. */
static const struct flow {
    const char *lines;
    int turns; /* of n */
} flows[] = {
    {"        if c:\n"
     "            y = R.matmul(z, w)\n"
     "        else:\n"
     "            y = R.matmul(R.add(x, z), w)\n"
     "        return (R.add(y, z), y)\n",             0},
    {"        if c:\n" /* results that are not the branch's own */
     "            y = (x, z, R.matmul(z, w))\n"
     "        else:\n"
     "            t = R.matmul(x, w)\n"
     "            y = (z, t, t)\n"
     "        return (y[0], y[1], y[2])\n",           0},
    {"        y = R.loop(cls.turn, 5, (x, z), (w,))\n"
     "        return (y[0], y[1], R.add(y[2], z))\n", 0},
    {"        y = R.loop(cls.until, n, (x,), (w,), c)\n"
     "        return R.add(y[0], z)\n",               9},
    {"        y: R.Tuple(R.Tensor((4,), \"float32\")) = R.loop(cls.until, n, (x,), (w,), c)\n"
     "        if c:\n"
     "            q = R.loop(cls.until, 3, (y[0],), (w,), c)\n"
     "            v = R.matmul(q[0], w)\n"
     "        else:\n"
     "            v = R.matmul(z, w)\n"
     "        return R.add(R.add(v, y[0]), z)\n",     4},
    {"        y = R.loop(cls.until, n, (x,), (w,), c)\n"
     "        return y[0]\n",                         0},
};

static void check_flow(const hone_module *module, hone_tensor **inputs, size_t at) {
    run_results plain, planned;
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, 4, 0, &plain));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, 4, 0, &planned));
    assert_int_equal(plain.count, planned.count);
    for (size_t i = 0; i < plain.count; i++) {
        for (int64_t e = 0; e < hone_tensor_count(plain.items[i]); e++) {
            double want = hone_tensor_get_f64(plain.items[i], e);
            double got = hone_tensor_get_f64(planned.items[i], e);
            if (want != got) fail_msg("flow %zu: result %zu is %g, not %g", at, i, got, want);
        }
    }
    run_results_deinit(&plain);
    run_results_deinit(&planned);
}

static void branches_and_loops_are_steps(void **state) {
    (void)state;
    const int64_t shape[] = {4, 4};
    hone_tensor *inputs[4];
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 1, shape, &inputs[0]));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &inputs[1]));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_BOOL, 0, NULL, &inputs[2]));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I64, 0, NULL, &inputs[3]));
    for (int i = 0; i < 4; i++)
        hone_tensor_set_f64(inputs[0], i, i - 1);
    for (int i = 0; i < 16; i++)
        hone_tensor_set_f64(inputs[1], i, i % 3 - 0.5 * (i % 5));
    for (size_t i = 0; i < HONE_COUNT(flows); i++) {
        hone_str text = {0};
        hone_str_printf(&text, "%s%s", flow_head, flows[i].lines);
        hone_module *module = parse(text.data);
        hone_tensor_set_i64(inputs[3], 0, flows[i].turns);
        for (int c = 0; c < 2; c++) {
            hone_tensor_set_i64(inputs[2], 0, c);
            check_flow(module, inputs, i);
        }
        hone_module_release(module);
        hone_str_deinit(&text);
    }
    for (size_t i = 0; i < HONE_COUNT(inputs); i++)
        hone_tensor_destroy(inputs[i]);
}

/* Tensors that live at the same time and are not views of each other must not overlap. */
static void plans_do_not_overlap(void **state) {
    (void)state;
    hone_module *module = parse(calls_text), *prepared;
    hone_plan *plan;
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_plan_create(prepared, NULL, HONE_PLAN_ALIGN, &plan));
    hone_str text = {0};
    plan_text(plan, &text);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const hone_plan_step *step = &plan->steps[i];
        const hone_plan_tensor *out = &plan->tensors[step->args[step->arg_count - 1]];
        for (uint32_t a = 0; a + 1 < step->arg_count; a++) {
            const hone_plan_tensor *in = &plan->tensors[step->args[a]];
            if (in->place != HONE_PLAN_WORKSPACE || out->place != HONE_PLAN_WORKSPACE) continue;
            int64_t x = in->offset->u.i, y = out->offset->u.i;
            assert_true(x + in->bytes->u.i <= y || y + out->bytes->u.i <= x);
        }
    }
    assert_int_equal(plan->output_count, 3);
    assert_non_null(strstr(hone_str_text(&text), "copy(")); /* d twice, and x itself */
    hone_str_deinit(&text);
    hone_plan_destroy(plan);
    hone_module_release(prepared);
    hone_module_release(module);
}

static void external_calls_are_steps(void **state) {
    (void)state;
    static const char text[] =
        "@I.ir_module\n"
        "class Module:\n"
        "    @R.function\n"
        "    def main(x: R.Tensor((2, 3), \"float32\")):\n"
        "        with R.dataflow():\n"
        "            a = R.call_dps_packed(\"env.twice\", (x,), out_sinfo=R.Tensor((2, 3), "
        "dtype=\"float32\"))\n"
        "            b: R.Tensor((2, 3), \"float32\") = R.nn.relu(a)\n"
        "            R.output(b)\n"
        "        return b\n";
    hone_module *module = parse(text), *prepared;
    hone_plan *plan;
    HONE_ASSERT_OK(hone_graph_prepare(module, NULL, &prepared));
    HONE_ASSERT_OK(hone_plan_create(prepared, NULL, HONE_PLAN_ALIGN, &plan));
    assert_int_equal(plan->step_count, 2);
    assert_int_equal(plan->steps[0].kind, HONE_PLAN_EXTERN);
    assert_string_equal(plan->steps[0].callee, "env.twice");
    assert_int_equal(plan->steps[0].output_count, 1);
    assert_int_equal(plan->steps[1].kind, HONE_PLAN_KERNEL);
    assert_int_equal(plan->steps[1].args[0], plan->steps[0].args[1]);
    hone_plan_destroy(plan);
    hone_module_release(prepared);
    hone_module_release(module);
}

static void passes_have_names(void **state) {
    (void)state;
    hone_module *module = parse(mm_text), *out;
    const char *name = "no_such_pass";
    hone_status st = hone_graph_run_passes(module, &name, 1, NULL, &out);
    hone_module_release(module);
    HONE_ASSERT_ERROR(st, HONE_CODE_NOT_FOUND,
                      "no graph pass 'no_such_pass'; there are choose, link_memory, link_calls, ");
    for (size_t i = 0; i < hone_graph_pass_count(); i++) {
        const hone_graph_pass *pass = hone_graph_pass_at(i);
        assert_ptr_equal(hone_graph_pass_find(pass->name), pass);
        assert_true(strlen(pass->help) > 10);
    }
    static const char *const pipelines[] = {"prepare", "interpret"};
    for (size_t p = 0; p < 2; p++) {
        for (const char *const *at = hone_graph_pipeline(pipelines[p]); *at; at++) {
            assert_non_null(hone_graph_pass_find(*at));
        }
    }
    assert_null(hone_graph_pipeline("nonsense"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_functions_are_tasks),
        cmocka_unit_test(symbolic_calls_are_specialised),
        cmocka_unit_test(weights_become_constants),
        cmocka_unit_test(tasks_know_their_weights),
        cmocka_unit_test(branches_and_loops_are_steps),
        cmocka_unit_test(plans_do_not_overlap),
        cmocka_unit_test(passes_have_names),
        cmocka_unit_test(external_calls_are_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
