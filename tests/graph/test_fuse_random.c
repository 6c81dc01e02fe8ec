/* tests/graph/test_fuse_random.c - random graphs of elementwise, broadcast, reducing, moving and
 * matrix operators with shared values: fused and planned they must give what they give operator by
 * operator; preparing twice gives the same hashes; a symbolic batch bound late gives the same
 * kernels as one written out. */
#include <stdio.h>
#include <string.h>

#include "graph/plan/tasks.h"
#include "support/data/rng.h"
#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

enum { GRAPHS = 400, MAX_VALUES = 24, ROWS = 5 };

/* A value of the graph being made: float32[batch or 1, columns]. */
typedef struct value {
    char name[16];
    bool has_batch;
    int columns;
} value;

typedef struct maker {
    hone_rng rng;
    hone_str text;
    value values[MAX_VALUES];
    int count;
} maker;

static int below(maker *m, int bound) {
    return (int)hone_rng_below(&m->rng, (uint64_t)bound);
}

static const value *pick(maker *m) {
    /* mostly recent ones: long chains; sometimes old ones: values with several users */
    int back = below(m, 3) ? below(m, m->count < 3 ? m->count : 3) : below(m, m->count);
    return &m->values[m->count - 1 - back];
}

static value *add_value(maker *m, bool has_batch, int columns) {
    value *v = &m->values[m->count];
    snprintf(v->name, sizeof v->name, "v%d", m->count);
    v->has_batch = has_batch;
    v->columns = columns;
    m->count++;
    return v;
}

static void add_unary(maker *m) {
    static const char *const ops[] = {"Relu", "Sigmoid",  "Tanh",    "Neg",
                                      "Abs",  "Identity", "Softmax", "LeakyRelu"};
    const value x = *pick(m);
    value *y = add_value(m, x.has_batch, x.columns);
    hone_str_printf(&m->text, "node %s %s -> %s\n", ops[below(m, 8)], x.name, y->name);
}

static void add_binary(maker *m) {
    static const char *const ops[] = {"Add", "Mul", "Sub", "Max"};
    const value a = *pick(m), b = *pick(m);
    if (a.columns != b.columns && a.columns != 1 && b.columns != 1) return;
    value *y =
        add_value(m, a.has_batch || b.has_batch, a.columns > b.columns ? a.columns : b.columns);
    hone_str_printf(&m->text, "node %s %s,%s -> %s\n", ops[below(m, 4)], a.name, b.name, y->name);
}

static void add_bias(maker *m) {
    const value x = *pick(m);
    value *y = add_value(m, x.has_batch, x.columns);
    hone_str_printf(&m->text, "const c%s f32 %d = random\nnode Add %s,c%s -> %s\n", y->name,
                    x.columns, x.name, y->name, y->name);
}

static void add_matmul(maker *m) {
    const value x = *pick(m);
    int columns = 1 + below(m, 4);
    value *y = add_value(m, x.has_batch, columns);
    hone_str_printf(&m->text, "const w%s f32 %d,%d = random\n", y->name, columns, x.columns);
    hone_str_printf(&m->text, "node Gemm %s,w%s -> %s transB=1\n", x.name, y->name, y->name);
}

static void add_reduce(maker *m) {
    static const char *const ops[] = {"ReduceMean", "ReduceMax", "ReduceL1"};
    const value x = *pick(m);
    value *y = add_value(m, x.has_batch, 1);
    hone_str_printf(&m->text, "node %s %s -> %s axes=[1] keepdims=1\n", ops[below(m, 3)], x.name,
                    y->name);
}

static void add_move(maker *m) {
    const value x = *pick(m), z = *pick(m);
    if (below(m, 2) && x.has_batch == z.has_batch) {
        value *y = add_value(m, x.has_batch, x.columns + z.columns);
        hone_str_printf(&m->text, "node Concat %s,%s -> %s axis=1\n", x.name, z.name, y->name);
        return;
    }
    value *y = add_value(m, x.has_batch, x.columns); /* there and back again */
    hone_str_printf(&m->text, "node Transpose %s -> t%s perm=[1,0]\n", x.name, y->name);
    hone_str_printf(&m->text, "node Exp t%s -> e%s\nnode Transpose e%s -> %s perm=[1,0]\n", y->name,
                    y->name, y->name, y->name);
    hone_str_printf(&m->text, "node Tanh %s -> n%s\n", y->name, y->name);
}

static void make_graph(maker *m, uint64_t seed, const char *batch) {
    static void (*const adders[])(maker *) = {add_unary, add_unary,  add_binary, add_binary,
                                              add_bias,  add_matmul, add_reduce, add_move};
    memset(m, 0, sizeof *m);
    m->rng = hone_rng_from_seed(seed);
    add_value(m, true, 3);
    add_value(m, true, 3);
    add_value(m, false, 3);
    hone_str_printf(&m->text, "opset 11\ninput v0 f32 %s,3\ninput v1 f32 %s,3\ninput v2 f32 1,3\n",
                    batch, batch);
    int steps = 3 + below(m, 14);
    for (int i = 0; i < steps && m->count + 1 < MAX_VALUES; i++)
        adders[below(m, 8)](m);
    hone_str_printf(&m->text, "output v%d\n", m->count - 1);
    if (below(m, 2)) hone_str_printf(&m->text, "output v%d\n", 3 + below(m, m->count - 3));
    if (below(m, 8) == 0) hone_str_append(&m->text, "output v0\n"); /* an input as it is */
}

static void make_inputs(uint64_t seed, hone_tensor *out[3]) {
    hone_rng rng = hone_rng_from_seed(seed + 1000);
    for (int i = 0; i < 3; i++) {
        int64_t shape[] = {i == 2 ? 1 : ROWS, 3};
        HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &out[i]));
        hone_tensor_fill_random(out[i], &rng, -1, 1);
    }
}

static void compare(const run_results *got, const run_results *want, const char *text) {
    bool ok = got->count == want->count;
    for (size_t i = 0; ok && i < got->count; i++) {
        hone_tensor_diff diff = hone_tensor_diff_make(got->items[i], want->items[i], 1e-4, 1e-5);
        ok = diff.is_comparable && diff.bad_count == 0;
    }
    if (!ok) print_error("%s", text);
    assert_true(ok);
}

/* How many kernels the prepared module has, and their hash. */
static hone_hash128 prepared_hash(const hone_module *module, const hone_graph_options *options,
                                  uint32_t *out_kernels) {
    hone_module *prepared;
    hone_task_list tasks;
    HONE_ASSERT_OK(hone_graph_prepare(module, options, &prepared));
    HONE_ASSERT_OK(hone_tasks_extract(&prepared, 1, &tasks));
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    *out_kernels = 0;
    for (uint32_t i = 0; i < tasks.count; i++) {
        hone_hasher_hash(&hasher, tasks.items[i].hash);
        *out_kernels += tasks.items[i].weight;
    }
    hone_task_list_deinit(&tasks);
    hone_module_release(prepared);
    return hone_hasher_finish(&hasher);
}

static void check_graph(uint64_t seed, uint32_t *calls, uint32_t *kernels) {
    maker m;
    hone_module *module, *symbolic;
    hone_tensor *inputs[3];
    run_results plain, planned, late;
    hone_graph_dim dim = {"N", ROWS};
    hone_graph_options bound = {.dims = &dim, .dim_count = 1};
    make_graph(&m, seed, "5");
    HONE_ASSERT_OK(onnx_text_load(hone_str_text(&m.text), &module));
    make_inputs(seed, inputs);
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, 3, 0, &plain));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, 3, 0, &planned));
    compare(&planned, &plain, hone_str_text(&m.text));
    uint32_t first, second;
    hone_hash128 hash = prepared_hash(module, NULL, &first);
    assert_true(hone_hash128_equal(hash, prepared_hash(module, NULL, &second)));
    *calls += module->members[0].graph->bind_count;
    *kernels += first;
    hone_str_deinit(&m.text);
    make_graph(&m, seed, "N");
    HONE_ASSERT_OK(onnx_text_load(hone_str_text(&m.text), &symbolic));
    assert_true(hone_hash128_equal(hash, prepared_hash(symbolic, &bound, &second)));
    HONE_ASSERT_OK(run_planned(symbolic, NULL, inputs, 3, 0, &late));
    compare(&late, &plain, hone_str_text(&m.text));
    run_results_deinit(&plain);
    run_results_deinit(&planned);
    run_results_deinit(&late);
    for (int i = 0; i < 3; i++)
        hone_tensor_destroy(inputs[i]);
    hone_module_release(module);
    hone_module_release(symbolic);
    hone_str_deinit(&m.text);
}

static void random_graphs(void **state) {
    (void)state;
    uint32_t calls = 0, kernels = 0;
    uint64_t first = hone_test_seed(0);
    for (uint64_t i = 0; i < GRAPHS; i++)
        check_graph(first + i, &calls, &kernels);
    printf("%d graphs: %u operators, %u kernels\n", GRAPHS, calls, kernels);
    assert_true(kernels * 10 < calls * 9); /* fusion happens */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
