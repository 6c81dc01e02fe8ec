/* tests/graph/test_fuse_attention.c - attention as one kernel
 * (graph/passes/fusion/fuse_attention.c) beside the operators that it is made of: which chains
 * become one, and that they compute the same.
 */
#include <string.h>

#include "graph/operators/attention_kernel.h"
#include "ir/text/read/script.h"
#include "tests/graph/graph_run.h"
#include "tests/support/hone_test.h"

enum { SHARED_BYTES = 101376, LITTLE = 49152, MOST_INPUTS = 4, GROUPS_BYTES = 232448 };

#define CHAIN(products, bias, weights)                                                             \
    "    s = " products "\n    e = " bias "\n    p = R.nn.softmax(e, axis=-1)\n    out = " weights \
    "\n"
#define SCORES "R.multiply(R.matmul(q, R.permute_dims(k, axes=[0, 1, 3, 2])), R.const(0.125, TYPE))"
#define SUMS "R.matmul(p, v)"
#define INF "R.const(float(\"-inf\"), TYPE)"

/* TYPE becomes the type. queries, keys: shapes of q, and of k and v; bias: that of m, "" without.
 */
/* clang-format off */
static const struct row {
    const char *name, *dtype, *queries, *keys, *bias, *body;
    int64_t shared_bytes;
    unsigned kernels; /* attention's and the bias's; 0: attention is several */
    bool is_causal;   /* its kernel knows what comes later */
} rows[] = {
    {"an operator", "float16", "1, 40, 2, 64", "1, 70, 2, 64", "",
     "    out = R.nn.attention(q, k, v)\n", SHARED_BYTES, 1, false},
    {"long heads of bfloat16", "bfloat16", "1, 150, 1, 128", "1, 64, 1, 128", "",
     "    out = R.nn.attention(q, k, v)\n", SHARED_BYTES, 1, false},
    {"long heads, causal, of many tiles", "float16", "1, 150, 1, 128", "1, 550, 1, 128", "",
     "    out = R.nn.attention(q, k, v, causal_mask=\"BottomRight\")\n", SHARED_BYTES, 1, true},
    {"a causal mask", "float16", "2, 70, 1, 64", "2, 70, 1, 64", "",
     "    out = R.nn.attention(q, k, v, causal_mask=\"TopLeft\")\n", SHARED_BYTES, 1, true},
    {"a causal mask behind a past", "float16", "1, 30, 1, 64", "1, 200, 1, 64", "",
     "    out = R.nn.attention(q, k, v, causal_mask=\"BottomRight\")\n", SHARED_BYTES, 1, true},
    {"a causal mask before keys that nobody sees", "float16", "1, 30, 1, 64", "1, 200, 1, 64", "",
     "    out = R.nn.attention(q, k, v, causal_mask=\"TopLeft\")\n", SHARED_BYTES, 1, true},
    {"a bias", "float16", "1, 33, 2, 64", "1, 70, 2, 64", "1, 2, 33, 70",
     "    out = R.nn.attention(q, k, v, m)\n", SHARED_BYTES, 1, false},
    {"a bias of some axes", "float16", "2, 2, 64, 64", "2, 2, 64, 64", "2, 1, 1, 64",
     CHAIN(SCORES, "R.add(s, m)", SUMS), SHARED_BYTES, 1, false},
    {"a bias in front", "float16", "2, 2, 64, 64", "2, 2, 64, 64", "64",
     CHAIN(SCORES, "R.add(m, s)", SUMS), SHARED_BYTES, 1, false},
    {"division", "float16", "1, 2, 64, 64", "1, 2, 100, 64", "1",
     CHAIN("R.divide(R.matmul(q, R.permute_dims(k, axes=[0, 1, 3, 2])), R.const(8.0, TYPE))",
           "R.add(s, m)", SUMS),
     SHARED_BYTES, 1, false},
    {"heads inside, as projections leave them", "float16", "1, 40, 2, 64", "1, 40, 2, 64", "",
     "    a = R.permute_dims(q, axes=[0, 2, 1, 3])\n"
     "    b = R.permute_dims(k, axes=[0, 2, 3, 1])\n"
     "    c = R.permute_dims(v, axes=[0, 2, 1, 3])\n"
     "    s = R.matmul(a, R.permute_dims(R.permute_dims(k, axes=[0, 2, 1, 3]), axes=[0, 1, 3, "
     "2]))\n"
     "    p = R.nn.softmax(R.multiply(s, R.const(0.125, TYPE)), axis=-1)\n"
     "    out = R.permute_dims(R.matmul(p, c), axes=[0, 2, 1, 3])\n",
     SHARED_BYTES, 1, false},
    {"heads inside, keys turned at once", "float16", "1, 40, 2, 64", "1, 40, 2, 64", "",
     "    a = R.permute_dims(q, axes=[0, 2, 1, 3])\n"
     "    b = R.permute_dims(k, axes=[0, 2, 3, -3])\n"
     "    c = R.permute_dims(v, axes=[0, 2, 1, 3])\n"
     "    p = R.nn.softmax(R.multiply(R.matmul(a, b), R.const(0.125, TYPE)), axis=-1)\n"
     "    out = R.permute_dims(R.matmul(p, c), axes=[0, 2, 1, 3])\n",
     SHARED_BYTES, 1, false},
    {"weights that are wanted as well", "float16", "1, 2, 64, 64", "1, 2, 64, 64", "",
     CHAIN(SCORES, "s", "R.add(R.matmul(p, v), R.sum(p, axis=-1, keepdims=True))"), SHARED_BYTES,
     0, false},
    {"another axis", "float16", "1, 2, 64, 64", "1, 2, 64, 64", "",
     "    p = R.nn.softmax(" SCORES ", axis=2)\n    out = " SUMS "\n", SHARED_BYTES, 0, false},
    {"heads of another size", "float16", "1, 40, 2, 32", "1, 40, 2, 32", "",
     "    out = R.nn.attention(q, k, v)\n", SHARED_BYTES, 0, false},
    {"float32", "float32", "1, 40, 2, 64", "1, 40, 2, 64", "",
     "    out = R.nn.attention(q, k, v)\n", SHARED_BYTES, 0, false},
    {"one query", "float16", "1, 1, 2, 64", "1, 40, 2, 64", "",
     "    out = R.nn.attention(q, k, v)\n", SHARED_BYTES, 0, false},
    {"scores that change their order", "float16", "1, 2, 64, 64", "1, 2, 64, 64", "",
     CHAIN("R.multiply(R.matmul(q, R.permute_dims(k, axes=[0, 1, 3, 2])), R.const(-0.25, TYPE))",
           "s", SUMS),
     SHARED_BYTES, 0, false},
    {"scores that are all equal", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "",
     CHAIN("R.multiply(R.matmul(q, R.permute_dims(k, axes=[0, 1, 3, 2])), R.const(0.0, TYPE))", "s",
           SUMS),
     SHARED_BYTES, 0, false},
    {"a scale that adds an axis", "float16", "1, 2, 64, 64", "1, 2, 64, 64", "",
     CHAIN("R.multiply(R.matmul(q, R.permute_dims(k, axes=[0, 1, 3, 2])), R.full((1, 1, 1, 1, 1), "
           "R.const(0.25, TYPE)))",
           "s", SUMS),
     SHARED_BYTES, 0, false},
    {"queries that get an axis by a scale", "float16", "2, 64, 64", "1, 2, 64, 64", "",
     CHAIN("R.matmul(R.multiply(q, R.full((1, 1, 1, 1), R.const(0.25, TYPE))), R.permute_dims(k, "
           "axes=[0, 1, 3, 2]))",
           "s", SUMS),
     SHARED_BYTES, 0, false},
    {"a mask of heads, shaped like one of queries", "float16", "1, 16, 16, 64", "1, 16, 64, 64", "",
     "    s = " SCORES "\n"
     "    m = R.reshape(R.triu(R.full((16, 64), R.const(-20000.0, TYPE)), k=1), (1, 16, 1, 64))\n"
     "    p = R.nn.softmax(R.add(s, m), axis=-1)\n    out = " SUMS "\n",
     SHARED_BYTES, 1, false},
    {"rows that are hidden, by the least number", "bfloat16", "1, 2, 64, 64", "1, 2, 70, 64", "",
     CHAIN(SCORES, "R.add(s, R.const(-3.3895313892515355e38, TYPE))", SUMS), SHARED_BYTES, true,
     false},
    {"rows that are hidden in part, a tile, or all", "bfloat16", "1, 2, 64, 64", "1, 2, 70, 64", "",
     "    s = " SCORES "\n"
     "    m = R.tril(R.full((64, 70), R.const(-3.3895313892515355e38, TYPE)), k=6)\n"
     "    p = R.nn.softmax(R.add(s, m), axis=-1)\n    out = " SUMS "\n",
     SHARED_BYTES, 1, false},
    {"rows that are hidden in part or a tile, by -inf", "float16", "1, 2, 64, 64", "1, 2, 70, 64",
     "",
     "    s = " SCORES "\n"
     "    m = R.multiply(R.tril(R.full((64, 70), R.const(-60000.0, TYPE)), k=5), R.const(60000.0, "
     "TYPE))\n"
     "    p = R.nn.softmax(R.add(s, m), axis=-1)\n    out = " SUMS "\n",
     SHARED_BYTES, 1, false},
    {"float32 between tensors of 16 bits", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "",
     "    a = R.multiply(R.astype(q, \"float32\"), R.const(0.25, \"float32\"))\n"
     "    b = R.multiply(R.astype(k, \"float32\"), R.const(0.5, \"float32\"))\n"
     "    p = R.nn.softmax(R.matmul(a, R.permute_dims(b, axes=[0, 1, 3, 2])), axis=-1)\n"
     "    out = R.astype(R.matmul(p, R.astype(v, \"float32\")), TYPE)\n",
     SHARED_BYTES, 1, false},
    {"the same, in heads behind it", "bfloat16", "2, 40, 128", "2, 40, 128", "",
     "    a = R.permute_dims(R.reshape(R.astype(q, \"float32\"), (2, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    b = R.permute_dims(R.reshape(R.astype(k, \"float32\"), (2, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    c = R.permute_dims(R.reshape(R.astype(v, \"float32\"), (2, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    s = R.matmul(a, R.permute_dims(b, axes=[0, 1, 3, 2]))\n"
     "    p = R.nn.softmax(R.multiply(s, R.const(0.125, \"float32\")), axis=-1)\n"
     "    o = R.permute_dims(R.matmul(p, c), axes=[0, 2, 1, 3])\n"
     "    out = R.astype(R.reshape(o, (2, 40, 128)), TYPE)\n",
     SHARED_BYTES, 1, false},
    {"a softmax of float32", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "1, 1, 64, 70",
     "    s = R.add(" SCORES ", m)\n"
     "    p = R.astype(R.nn.softmax(R.astype(s, \"float32\"), axis=-1), TYPE)\n    out = " SUMS "\n",
     SHARED_BYTES, 1, false},
    {"a bias of float32", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "1, 1, 64, 1",
     "    e = R.multiply(R.astype(R.greater(m, R.const(0.0, TYPE)), \"float32\"), "
     "R.const(-3.4028234663852886e38, \"float32\"))\n"
     "    s = R.add(R.astype(" SCORES ", \"float32\"), e)\n"
     "    p = R.astype(R.nn.softmax(s, axis=-1), TYPE)\n    out = " SUMS "\n",
     SHARED_BYTES, 2, false},
    {"queries that see no key", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "1, 1, 64, 1",
     "    e = R.where(R.greater(m, R.const(0.0, TYPE)), R.const(0.0, TYPE), " INF ")\n"
     "    p = R.nn.softmax(R.add(" SCORES ", e), axis=-1)\n"
     "    n = R.equal(R.max(e, axis=[-1], keepdims=True), " INF ")\n"
     "    w = R.where(n, R.const(0.0, TYPE), p)\n    out = R.matmul(w, v)\n",
     SHARED_BYTES, 2, false},
    {"queries of another bias that see no key", "float16", "1, 2, 64, 64", "1, 2, 70, 64",
     "1, 1, 64, 1",
     "    n = R.equal(R.max(m, axis=[-1], keepdims=True), " INF ")\n"
     "    p = R.nn.softmax(R.add(" SCORES ", R.negative(m)), axis=-1)\n"
     "    w = R.where(n, R.const(0.0, TYPE), p)\n    out = R.matmul(w, v)\n",
     SHARED_BYTES, 0, false},
    {"sums that stay float32", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "",
     "    p = R.nn.softmax(R.astype(" SCORES ", \"float32\"), axis=-1)\n"
     "    out = R.matmul(p, R.astype(v, \"float32\"))\n",
     SHARED_BYTES, 0, false},
    {"heads that share keys and values", "float16", "1, 4, 40, 64", "1, 2, 70, 64", "",
     "    r = R.reshape(R.broadcast_to(R.expand_dims(k, axis=[2]), (1, 2, 2, 70, 64)), (1, 4, 70, 64))\n"
     "    u = R.reshape(R.broadcast_to(R.reshape(v, (1, 2, 1, 70, 64)), (1, 2, 2, 70, 64)), "
     "(1, 4, 70, 64))\n"
     "    s = R.multiply(R.matmul(q, R.permute_dims(r, axes=[0, 1, 3, 2])), R.const(0.125, TYPE))\n"
     "    out = R.matmul(R.nn.softmax(s, axis=-1), u)\n",
     SHARED_BYTES, 1, false},
    {"the same, in float32 and in heads behind it", "float16", "2, 40, 256", "2, 40, 128", "",
     "    a = R.permute_dims(R.reshape(R.astype(q, \"float32\"), (2, 40, 4, 64)), axes=[0, 2, 1, 3])\n"
     "    b = R.permute_dims(R.reshape(R.astype(k, \"float32\"), (2, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    c = R.permute_dims(R.reshape(R.astype(v, \"float32\"), (2, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    r = R.reshape(R.broadcast_to(R.reshape(b, (2, 2, 1, 40, 64)), (2, 2, 2, 40, 64)), (2, 4, 40, 64))\n"
     "    u = R.reshape(R.broadcast_to(R.reshape(c, (2, 2, 1, 40, 64)), (2, 2, 2, 40, 64)), (2, 4, 40, 64))\n"
     "    s = R.matmul(a, R.permute_dims(r, axes=[0, 1, 3, 2]))\n"
     "    p = R.nn.softmax(R.multiply(s, R.const(0.125, \"float32\")), axis=-1)\n"
     "    o = R.permute_dims(R.matmul(p, u), axes=[0, 2, 1, 3])\n"
     "    out = R.astype(R.reshape(o, (2, 40, 256)), TYPE)\n",
     SHARED_BYTES, 1, false},
    {"keys behind a past, joined in float32", "float16", "1, 32, 256", "1, 40, 128", "",
     "    a = R.permute_dims(R.reshape(R.astype(q, \"float32\"), (1, 32, 4, 64)), axes=[0, 2, 1, 3])\n"
     "    b = R.permute_dims(R.reshape(R.astype(k, \"float32\"), (1, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    c = R.permute_dims(R.reshape(R.astype(v, \"float32\"), (1, 40, 2, 64)), axes=[0, 2, 1, 3])\n"
     "    b2 = R.concat((b, b), axis=2)\n    c2 = R.concat((c, c), axis=2)\n"
     "    r = R.reshape(R.broadcast_to(R.reshape(b2, (1, 2, 1, 80, 64)), (1, 2, 2, 80, 64)), (1, 4, 80, 64))\n"
     "    u = R.reshape(R.broadcast_to(R.reshape(c2, (1, 2, 1, 80, 64)), (1, 2, 2, 80, 64)), (1, 4, 80, 64))\n"
     "    s = R.matmul(a, R.permute_dims(r, axes=[0, 1, 3, 2]))\n"
     "    p = R.nn.softmax(R.multiply(s, R.const(0.125, \"float32\")), axis=-1)\n"
     "    o = R.permute_dims(R.matmul(p, u), axes=[0, 2, 1, 3])\n"
     "    out = R.astype(R.reshape(o, (1, 32, 256)), TYPE)\n",
     SHARED_BYTES, 2, false},
    {"weights in bytes", "float16", "1, 2, 64, 64", "1, 2, 70, 64", "",
     "    p = R.astype(R.multiply(R.nn.softmax(" SCORES ", axis=-1), R.const(100.0, TYPE)), \"int8\")\n"
     "    out = R.matmul(R.astype(p, TYPE), v)\n",
     SHARED_BYTES, 0, false},
    {"less shared memory", "float16", "1, 40, 2, 128", "1, 40, 2, 128", "",
     "    out = R.nn.attention(q, k, v)\n", LITTLE, 0, false},
    {"no such device", "float16", "1, 40, 2, 64", "1, 40, 2, 64", "",
     "    out = R.nn.attention(q, k, v)\n", 0, 0, false},
};
/* clang-format on */

static void say_parameter(hone_str *out, const char *name, const char *shape, const char *dtype) {
    if (*shape) hone_str_printf(out, "%s: R.Tensor((%s,), \"%s\"), ", name, shape, dtype);
}

static hone_module *module_of(const struct row *row) {
    hone_module *module;
    hone_str text = {0};
    hone_str_append(&text, "@R.function\ndef main(");
    say_parameter(&text, "q", row->queries, row->dtype);
    say_parameter(&text, "k", row->keys, row->dtype);
    say_parameter(&text, "v", row->keys, row->dtype);
    say_parameter(&text, "m", row->bias, row->dtype);
    hone_str_append(&text, "):\n  with R.dataflow():\n");
    for (const char *at = row->body; *at; at++) {
        if (strncmp(at, "TYPE", 4) == 0) {
            hone_str_printf(&text, "\"%s\"", row->dtype);
            at += 3;
        } else {
            hone_str_printf(&text, "%c", *at);
        }
    }
    hone_str_append(&text, "    R.output(out)\n  return out\n");
    hone_status st = hone_script_parse(hone_str_text(&text), text.length, "test.py", &module);
    hone_str_deinit(&text);
    HONE_ASSERT_OK(st);
    return module;
}

/* Fails unless the prepared module is one kernel that carries its schedule, or none of it does. */
static void check_kernels(const struct row *row, const hone_module *module,
                          const hone_graph_options *options) {
    hone_module *prepared;
    uint32_t count = 0, written = 0;
    HONE_ASSERT_OK(hone_graph_prepare(module, options, &prepared));
    for (uint32_t i = 0; i < prepared->member_count; i++) {
        const hone_func *func = prepared->members[i].func;
        if (!func) continue;
        count++;
        written += hone_attrs_find(&func->attrs, "hone.synced") != NULL;
        if (row->is_causal) assert_int_equal(func->param_count, 4);
    }
    hone_module_release(prepared);
    assert_int_equal(written, row->kernels > 0);
    if (row->kernels) assert_int_equal(count, row->kernels);
}

/* Devices without groups of warps, and with them (and more memory). */
static void check_way(const struct row *row, bool has_groups) {
    hone_graph_options options = {.matrix_shared_bytes = row->shared_bytes,
                                  .has_group_units = has_groups};
    if (has_groups && row->shared_bytes == SHARED_BYTES) options.matrix_shared_bytes = GROUPS_BYTES;
    hone_module *module = module_of(row);
    hone_tensor *inputs[MOST_INPUTS];
    run_results want, got;
    uint32_t count = run_random_inputs(module, hone_test_seed(5), 2, inputs);
    check_kernels(row, module, &options);
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, count, 0, &want));
    HONE_ASSERT_OK(run_planned(module, &options, inputs, count, 0, &got));
    double within = strcmp(row->dtype, "bfloat16") == 0 ? 0.05 : 0.01; /* scores are rounded */
    hone_tensor_diff diff = hone_tensor_diff_make(got.items[0], want.items[0], within, within);
    assert_true(diff.is_comparable);
    assert_int_equal(diff.bad_count, 0);
    run_results_deinit(&want);
    run_results_deinit(&got);
    for (uint32_t i = 0; i < count; i++)
        hone_tensor_destroy(inputs[i]);
    hone_module_release(module);
}

static void check_row(void **state) {
    const struct row *row = *state;
    check_way(row, false);
    if (row->kernels) check_way(row, true);
}

int main(void) {
    return HONE_RUN_ROWS("graph/fuse_attention", rows, check_row);
}
