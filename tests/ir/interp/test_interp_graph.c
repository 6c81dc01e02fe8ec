/* tests/ir/interp/test_interp_graph.c - graph functions in the interpreter: call_tir with symbolic
 * sizes, constants, tuples, calls of functions, external functions, and what is refused. */
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/interp/interp.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

static const char kernels[] = "@I.ir_module\n"
                              "class Module:\n"
                              "  @T.prim_func\n"
                              "  def add(a: T.handle, b: T.handle, c: T.handle):\n"
                              "    n = T.int64()\n"
                              "    A = T.match_buffer(a, (n, T.int64(3)), \"float32\")\n"
                              "    B = T.match_buffer(b, (T.int64(3),), \"float32\")\n"
                              "    C = T.match_buffer(c, (n, T.int64(3)), \"float32\")\n"
                              "    for i, j in T.grid(n, T.int64(3)):\n"
                              "      with T.block(\"C\"):\n"
                              "        vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                              "        C[vi, vj] = A[vi, vj] + B[vj]\n"
                              "  @T.prim_func\n"
                              "  def rows(a: T.handle, c: T.handle, d: T.handle, k: T.int64):\n"
                              "    n = T.int64()\n"
                              "    A = T.match_buffer(a, (n, T.int64(3)), \"float32\")\n"
                              "    C = T.match_buffer(c, (n,), \"float32\")\n"
                              "    D = T.match_buffer(d, (n,), \"int32\")\n"
                              "    for i in range(n):\n"
                              "      with T.block(\"C\"):\n"
                              "        vi = T.axis.spatial(n, i)\n"
                              "        C[vi] = A[vi, 0] + A[vi, 2]\n"
                              "        D[vi] = T.Cast(\"int32\", vi + k)\n";

typedef struct graph {
    hone_module *module;
    hone_graph_func *main;
    const hone_sinfo *matrix, *vector, *ints; /* (n, 3), (n,), (n,) int32 */
    const hone_expr *n;
} graph;

static graph make_graph(void) {
    graph g = {0};
    float bias[3] = {10, 20, 30};
    const int64_t three = 3;
    uint32_t index;
    hone_tensor view = hone_tensor_view(bias, HONE_DTYPE_F32, 1, &three), *constant = NULL;
    HONE_ASSERT_OK(hone_script_parse(kernels, strlen(kernels), "kernels.py", &g.module));
    HONE_ASSERT_OK(hone_tensor_clone(&view, &constant));
    HONE_ASSERT_OK(hone_module_add_constant(g.module, constant, &index));
    hone_arena *arena = g.module->arena;
    hone_ir ir = {.arena = arena};
    g.main = hone_graph_func_create(arena, "main");
    g.n = hone_expr_var(&ir, HONE_DTYPE_I64, hone_graph_add_var(g.main, "n"));
    const hone_expr **shape = hone_arena_alloc(arena, 2 * sizeof *shape);
    shape[0] = g.n;
    shape[1] = hone_expr_int(&ir, HONE_DTYPE_I64, 3);
    g.matrix = hone_sinfo_tensor(arena, HONE_DTYPE_F32, 2, shape);
    g.vector = hone_sinfo_tensor(arena, HONE_DTYPE_F32, 1, shape);
    g.ints = hone_sinfo_tensor(arena, HONE_DTYPE_I32, 1, shape);
    HONE_ASSERT_OK(hone_ir_finish(&ir));
    HONE_ASSERT_OK(hone_module_add_graph(g.module, g.main));
    return g;
}

static const hone_garg *args_of(const graph *g, uint32_t count, const hone_garg *args) {
    return hone_arena_copy(g->module->arena, args, count * sizeof *args);
}

/* y = add(x, constant); t = rows(y) with k = n + 1; result = t[0], t[1] and y, by way of a tuple.
 */
static void fill_main(graph *g) {
    hone_arena *arena = g->module->arena;
    hone_ir ir = {.arena = arena};
    hone_gvalue x = hone_graph_add_param(g->main, "x", g->matrix);
    const hone_sinfo *fields[] = {g->vector, g->ints};
    const hone_sinfo *pair =
        hone_sinfo_tuple(arena, 2, hone_arena_copy(arena, fields, sizeof fields));
    hone_gvalue y = hone_graph_add_value(g->main, "y", g->matrix);
    hone_gvalue t = hone_graph_add_value(g->main, "t", pair);
    hone_gvalue first = hone_graph_add_value(g->main, "first", g->vector);

    hone_gbind *bind = hone_graph_add_bind(g->main, HONE_GBIND_CALL_TIR, y);
    bind->callee = "add";
    bind->arg_count = 2;
    bind->args = args_of(g, 2, (hone_garg[]){HONE_GARG_OF_VALUE(x), HONE_GARG_OF_CONSTANT(0)});
    bind = hone_graph_add_bind(g->main, HONE_GBIND_CALL_TIR, t);
    bind->callee = "rows";
    bind->arg_count = 1;
    bind->args = args_of(g, 1, (hone_garg[]){HONE_GARG_OF_VALUE(y)});
    const hone_expr **sizes = hone_arena_alloc(arena, sizeof *sizes);
    sizes[0] = hone_expr_add(&ir, g->n, hone_expr_int(&ir, HONE_DTYPE_I64, 1));
    bind->symbolic_count = 1;
    bind->symbolic = sizes;
    bind = hone_graph_add_bind(g->main, HONE_GBIND_TUPLE_GET, first);
    bind->arg_count = 1;
    bind->args = args_of(g, 1, (hone_garg[]){HONE_GARG_OF_VALUE(t)});
    g->main->result = (hone_garg){.kind = HONE_GARG_TUPLE, .count = 3};
    g->main->result.u.items = args_of(
        g, 3,
        (hone_garg[]){HONE_GARG_OF_VALUE(first), HONE_GARG_OF_VALUE(y), HONE_GARG_OF_VALUE(t)});
    HONE_ASSERT_OK(hone_ir_finish(&ir));
}

static void free_results(hone_tensor **results, size_t count) {
    for (size_t i = 0; i < count; i++)
        hone_tensor_destroy(results[i]);
    hone_free(results);
}

static void runs_a_graph(void **state) {
    (void)state;
    graph g = make_graph();
    float x[6] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {2, 3};
    hone_tensor input = hone_tensor_view(x, HONE_DTYPE_F32, 2, shape);
    hone_tensor *inputs[] = {&input}, **results = NULL;
    size_t count = 0;
    fill_main(&g);
    HONE_ASSERT_OK(hone_check_module(g.module));
    hone_status st = hone_interp_graph(g.module, "main", inputs, 1, NULL, &results, &count);
    hone_module_release(g.module);
    HONE_ASSERT_OK(st);
    assert_int_equal(count, 4); /* first, y, and the two of t */
    assert_true(hone_tensor_get_f64(results[0], 0) == 11 + 33);
    assert_true(hone_tensor_get_f64(results[0], 1) == 14 + 36);
    assert_true(hone_tensor_get_f64(results[1], 4) == 25);
    assert_int_equal(hone_tensor_get_i64(results[3], 1), 1 + 3);
    free_results(results, count);
}

static void widened_graphs_stay_wide(void **state) {
    (void)state;
    graph g = make_graph();
    float x[3] = {16777216, 1, 1};
    const int64_t shape[] = {1, 3};
    hone_tensor input = hone_tensor_view(x, HONE_DTYPE_F32, 2, shape);
    hone_tensor *inputs[] = {&input}, **results = NULL;
    size_t count = 0;
    const hone_interp_options wide = {.widen_f64 = true};
    fill_main(&g);
    hone_status st = hone_interp_graph(g.module, "main", inputs, 1, &wide, &results, &count);
    hone_module_release(g.module);
    HONE_ASSERT_OK(st);
    assert_true(hone_tensor_get_f64(results[0], 0) == 16777216.0 + 10 + 31);
    free_results(results, count);
}

static hone_status negate(void *ctx, const char *name, hone_tensor *const *args, size_t count) {
    (void)ctx;
    if (strcmp(name, "negate") != 0 || count != 2) return HONE_ERROR(HONE_CODE_NOT_FOUND, "no");
    for (int64_t i = 0; i < hone_tensor_count(args[1]); i++) {
        hone_tensor_set_f64(args[1], i, -hone_tensor_get_f64(args[0], i));
    }
    return HONE_OK;
}

/* sub(x) calls an external function; main(x) = sub(sub(x)) */
static void calls_functions(void **state) {
    (void)state;
    graph g = make_graph();
    hone_arena *arena = g.module->arena;
    hone_ir ir = {.arena = arena};
    hone_graph_func *sub = hone_graph_func_create(arena, "sub");
    const hone_expr **shape = hone_arena_alloc(arena, 2 * sizeof *shape);
    shape[0] = hone_expr_var(&ir, HONE_DTYPE_I64, hone_graph_add_var(sub, "m"));
    shape[1] = hone_expr_int(&ir, HONE_DTYPE_I64, 3);
    const hone_sinfo *matrix = hone_sinfo_tensor(arena, HONE_DTYPE_F32, 2, shape);
    hone_gvalue p = hone_graph_add_param(sub, "p", matrix);
    hone_gvalue q = hone_graph_add_value(sub, "q", matrix);
    hone_gbind *bind = hone_graph_add_bind(sub, HONE_GBIND_CALL_DPS, q);
    bind->callee = "negate";
    bind->arg_count = 1;
    bind->args = args_of(&g, 1, (hone_garg[]){HONE_GARG_OF_VALUE(p)});
    sub->result = HONE_GARG_OF_VALUE(q);
    HONE_ASSERT_OK(hone_module_add_graph(g.module, sub));

    hone_gvalue x = hone_graph_add_param(g.main, "x", g.matrix);
    hone_gvalue y = hone_graph_add_value(g.main, "y", g.matrix);
    hone_gvalue z = hone_graph_add_value(g.main, "z", g.matrix);
    const hone_gvalue chain[][2] = {
        {x, y},
        {y, z}
    };
    for (int i = 0; i < 2; i++) {
        bind = hone_graph_add_bind(g.main, HONE_GBIND_CALL_FUNC, chain[i][1]);
        bind->callee = "sub";
        bind->arg_count = 1;
        bind->args = args_of(&g, 1, (hone_garg[]){HONE_GARG_OF_VALUE(chain[i][0])});
    }
    g.main->result = HONE_GARG_OF_VALUE(z);

    float data[3] = {1, 2, 3};
    const int64_t dims[] = {1, 3};
    hone_tensor input = hone_tensor_view(data, HONE_DTYPE_F32, 2, dims);
    hone_tensor *inputs[] = {&input}, **results = NULL;
    size_t count = 0;
    const hone_interp_options options = {.call_extern = negate};
    hone_status without = hone_interp_graph(g.module, "main", inputs, 1, NULL, &results, &count);
    hone_status st = hone_interp_graph(g.module, "main", inputs, 1, &options, &results, &count);
    hone_module_release(g.module);
    HONE_ASSERT_ERROR(without, HONE_CODE_UNAVAILABLE, "external function 'negate' is called");
    HONE_ASSERT_OK(st);
    assert_int_equal(count, 1);
    assert_true(hone_tensor_get_f64(results[0], 2) == 3);
    free_results(results, count);
}

static void refuses(void **state) {
    (void)state;
    graph g = make_graph();
    float x[8] = {0};
    const int64_t wrong[] = {2, 4}, right[] = {2, 3};
    hone_tensor input = hone_tensor_view(x, HONE_DTYPE_F32, 2, wrong);
    hone_tensor *inputs[] = {&input}, **results = NULL;
    size_t count = 0;
    fill_main(&g);
    hone_status shape = hone_interp_graph(g.module, "main", inputs, 1, NULL, &results, &count);
    hone_status number = hone_interp_graph(g.module, "main", inputs, 0, NULL, &results, &count);
    hone_status name = hone_interp_graph(g.module, "other", inputs, 1, NULL, &results, &count);
    g.main->bindings[0].kind = HONE_GBIND_CALL;
    input = hone_tensor_view(x, HONE_DTYPE_F32, 2, right);
    hone_status op = hone_interp_graph(g.module, "main", inputs, 1, NULL, &results, &count);
    g.main->bindings[0].callee = "reshape";
    g.main->values[g.main->bindings[0].value].sinfo =
        g.main->values[g.main->bindings[1].value].sinfo;
    hone_status tuple = hone_interp_graph(g.module, "main", inputs, 1, NULL, &results, &count);
    hone_module_release(g.module);
    HONE_ASSERT_ERROR(shape, HONE_CODE_INVALID, "'x' has the extent 4 in dimension 1, must have 3");
    HONE_ASSERT_ERROR(number, HONE_CODE_INVALID, "'main' takes 1 inputs, got 0");
    HONE_ASSERT_ERROR(name, HONE_CODE_NOT_FOUND, "'other' is no graph function");
    HONE_ASSERT_ERROR(op, HONE_CODE_UNSUPPORTED, "legalise the graph first");
    HONE_ASSERT_ERROR(tuple, HONE_CODE_ILLEGAL, "what is reshaped is one tensor");
}

/* ---- the verifier on the same graph, spoiled ---- */

static hone_status check_spoiled(void (*spoil)(graph *g)) {
    graph g = make_graph();
    fill_main(&g);
    spoil(&g);
    hone_status st = hone_check_module(g.module);
    hone_module_release(g.module);
    return st;
}

static void no_callee(graph *g) {
    g->main->bindings[0].callee = "nothing";
}
static void one_argument(graph *g) {
    g->main->bindings[0].arg_count = 1;
}
static void wrong_order(graph *g) {
    hone_gbind first = g->main->bindings[0];
    g->main->bindings[0] = g->main->bindings[1];
    g->main->bindings[1] = first;
}
static void wrong_dtype(graph *g) {
    g->main->values[g->main->bindings[0].value].sinfo = g->ints;
}
static void wrong_element(graph *g) {
    g->main->bindings[2].index = 2;
}

static void verifies_graphs(void **state) {
    (void)state;
    HONE_ASSERT_ERROR(check_spoiled(no_callee), HONE_CODE_INVALID,
                      "call_tir of 'nothing', which is no tensor program");
    HONE_ASSERT_ERROR(check_spoiled(one_argument), HONE_CODE_INVALID,
                      "'add' takes 3 parameters, the call gives 1 inputs, 1 outputs and 0 sizes");
    HONE_ASSERT_ERROR(check_spoiled(wrong_order), HONE_CODE_INVALID,
                      "'y' is used before it is defined");
    HONE_ASSERT_ERROR(check_spoiled(wrong_dtype), HONE_CODE_INVALID, "'add' gets int32 for 'C'");
    HONE_ASSERT_ERROR(check_spoiled(wrong_element), HONE_CODE_INVALID,
                      "element 2 is taken of a value that has 2");
}

static void graphs_compare(void **state) {
    (void)state;
    graph a = make_graph(), b = make_graph();
    hone_str why = {0};
    fill_main(&a);
    fill_main(&b);
    b.main->values[0].name = "renamed";
    bool is_equal = hone_module_equal(a.module, b.module, &why);
    bool hashes_alike = hone_hash128_equal(hone_module_hash(a.module), hone_module_hash(b.module));
    hone_tensor_set_f64(b.module->constants[0], 1, 21);
    bool still_equal = hone_module_equal(a.module, b.module, &why);
    bool says_so = strstr(hone_str_text(&why), "constant") != NULL;
    hone_str_deinit(&why);
    hone_module_release(a.module);
    hone_module_release(b.module);
    assert_true(is_equal && hashes_alike);
    assert_false(still_equal);
    assert_true(says_so);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_a_graph),    cmocka_unit_test(widened_graphs_stay_wide),
        cmocka_unit_test(calls_functions), cmocka_unit_test(refuses),
        cmocka_unit_test(verifies_graphs), cmocka_unit_test(graphs_compare),
    };
    return cmocka_run_group_tests_name("ir/interp_graph", tests, NULL, NULL);
}
