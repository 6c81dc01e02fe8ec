/* tests/graph/test_halves.c - operators of float16 and bfloat16 against the same operators of
 * float64: they add up in float32, take their steps in it, and round once (docs/numerics.md). Run
 * as operators one by one, and fused into kernels. */
#include <math.h>
#include <string.h>

#include "support/core/attributes.h"
#include "support/data/rng.h"
#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

enum { MAX_INPUTS = 5, TEXT = 1024 };

/* The nearest number of the type, or its neighbour where float32 came out on the other side of the
 * middle: of the result, and of the terms that cancel in it. */
static const double UNITS = 0.51, WIDE = 0x1p-20;

/* clang-format off */
static const struct row {
    const char *name, *text; /* $: the type */
    double low, high;        /* of the inputs */
    double size;             /* of the terms that are added up */
} rows[] = {
    {"MatMul", "input a $ 3,4096\ninput b $ 4096,5\nnode MatMul a,b -> y\noutput y", -1, 1, 100},
    {"Gemm",
     "input a $ 300,3\ninput b $ 5,300\ninput c $ 5\n"
     "node Gemm a,b,c -> y transA=1 transB=1 alpha=0.7 beta=1.3\noutput y",
     -1, 1, 20},
    {"Conv",
     "input x $ 1,16,9,9\ninput w $ 6,16,3,3\ninput b $ 6\n"
     "node Conv x,w,b -> y pads=[1,1,1,1]\noutput y",
     -1, 1, 20},
    {"Conv, groups", "input x $ 1,32,5,5\ninput w $ 4,16,3,3\nnode Conv x,w -> y group=2\noutput y",
     -1, 1, 20},
    {"Conv, depthwise",
     "input x $ 1,4,19,19\ninput w $ 4,1,7,7\nnode Conv x,w -> y group=4\noutput y", -1, 1, 10},
    {"Conv, 1 dimension", "input x $ 1,64,40\ninput w $ 2,64,9\nnode Conv x,w -> y\noutput y", -1,
     1, 20},
    {"Conv, 3 dimensions", "input x $ 1,4,6,6,6\ninput w $ 2,4,3,3,3\nnode Conv x,w -> y\noutput y",
     -1, 1, 10},
    {"ReduceSum", "input x $ 2,5000\nnode ReduceSum x -> y axes=[1] keepdims=0\noutput y", 0, 1, 0},
    {"ReduceMean", "input x $ 2,5000\nnode ReduceMean x -> y axes=[1]\noutput y", 0, 100, 0},
    {"ReduceProd", "input x $ 2,64\nnode ReduceProd x -> y axes=[1]\noutput y", 0.8, 1.2, 0},
    {"ReduceL1", "input x $ 2,5000\nnode ReduceL1 x -> y axes=[1]\noutput y", -1, 1, 0},
    {"ReduceL2", "input x $ 2,900\nnode ReduceL2 x -> y axes=[1]\noutput y", -100, 100, 0},
    {"ReduceSumSquare", "input x $ 2,5000\nnode ReduceSumSquare x -> y axes=[1]\noutput y", -1, 1,
     0},
    {"ReduceLogSum", "input x $ 2,5000\nnode ReduceLogSum x -> y axes=[1]\noutput y", 0, 1, 10},
    {"ReduceLogSumExp", "input x $ 2,5000\nnode ReduceLogSumExp x -> y axes=[1]\noutput y", -1, 1,
     10},
    {"Softmax", "input x $ 2,3000\nnode Softmax x -> y axis=1\noutput y", -4, 4, 0},
    {"LogSoftmax", "input x $ 2,3000\nnode LogSoftmax x -> y axis=1\noutput y", -4, 4, 10},
    {"LayerNormalization",
     "input x $ 2,512\ninput s $ 512\ninput b $ 512\n"
     "node LayerNormalization x,s,b -> y axis=1\noutput y",
     -300, 300, 600},
    {"InstanceNormalization",
     "input x $ 2,3,20,20\ninput s $ 3\ninput b $ 3\n"
     "node InstanceNormalization x,s,b -> y\noutput y",
     -300, 300, 600},
    {"BatchNormalization",
     "input x $ 2,3,4,4\ninput s $ 3\ninput b $ 3\ninput m $ 3\ninput v $ 3\n"
     "node BatchNormalization x,s,b,m,v -> y\noutput y",
     0.1, 1, 30},
    {"BatchNormalization, training",
     "opset 15\ninput x $ 2,3,20,20\ninput s $ 3\ninput b $ 3\ninput m $ 3\ninput v $ 3\n"
     "node BatchNormalization x,s,b,m,v -> y,p,q training_mode=1\noutput y\noutput p",
     0, 900, 600},
    {"LayerNormalization, scale of outer dimensions",
     "input x $ 2,3,200\ninput s $ 2,3,1\ninput b $ 2,3,1\n"
     "node LayerNormalization x,s,b -> y axis=2\noutput y",
     -90, 90, 600},
    {"AveragePool", "input x $ 1,2,70,70\nnode AveragePool x -> y kernel_shape=[64,64]\noutput y",
     0, 100, 0},
    {"AveragePool, padded",
     "input x $ 1,2,9,9\nnode AveragePool x -> y kernel_shape=[5,5] pads=[2,2,2,2]\noutput y", 0,
     100, 0},
    {"GlobalAveragePool", "input x $ 1,2,80,80\nnode GlobalAveragePool x -> y\noutput y", 0, 100,
     0},
    {"Sum", "input a $ 9\ninput b $ 9\ninput c $ 9\nnode Sum a,b,c -> y\noutput y", -1, 1, 4},
    {"Mean", "input a $ 9\ninput b $ 9\ninput c $ 9\nnode Mean a,b,c -> y\noutput y", 1e4, 6e4, 0},
    {"Gelu", "opset 20\ninput x $ 200\nnode Gelu x -> y\noutput y", -4, 4, 0},
    {"Gelu, tanh", "opset 20\ninput x $ 200\nnode Gelu x -> y approximate='tanh'\noutput y", -4, 4,
     0.1},
    {"Elu", "input x $ 200\nnode Elu x -> y alpha=1.7\noutput y", -2, 2, 4},
    {"Selu", "input x $ 200\nnode Selu x -> y\noutput y", -2, 2, 4},
    {"LeakyRelu", "input x $ 200\nnode LeakyRelu x -> y alpha=0.1\noutput y", -2, 2, 0},
    {"HardSigmoid", "input x $ 200\nnode HardSigmoid x -> y\noutput y", -4, 4, 2},
    {"HardSwish", "opset 14\ninput x $ 200\nnode HardSwish x -> y\noutput y", -4, 4, 8},
    {"Softplus", "input x $ 200\nnode Softplus x -> y\noutput y", -4, 4, 4},
    {"Softsign", "input x $ 200\nnode Softsign x -> y\noutput y", -4, 4, 0},
};
/* clang-format on */

static void load(const char *pattern, const char *type, hone_module **out) {
    char text[TEXT];
    size_t length = 0;
    for (const char *c = pattern; *c; c++) {
        const char *piece = *c == '$' ? type : c;
        size_t count = *c == '$' ? strlen(type) : 1;
        assert_true(length + count < sizeof text);
        memcpy(text + length, piece, count);
        length += count;
    }
    text[length] = 0;
    HONE_ASSERT_OK(onnx_text_load(text, out));
}

/* Equal numbers in both types: those of the short one. */
static uint32_t make_inputs(const struct row *row, const hone_module *module, hone_tensor **narrow,
                            hone_tensor **wide) {
    const hone_graph_func *graph = hone_module_find(module, "main")->graph;
    hone_rng rng = hone_test_rng(11);
    for (uint32_t i = 0; i < graph->param_count; i++) {
        const hone_sinfo *info = graph->values[i].sinfo;
        int64_t shape[HONE_MAX_RANK];
        for (int32_t d = 0; d < info->rank; d++)
            shape[d] = hone_expr_const(info->shape[d]);
        HONE_ASSERT_OK(hone_tensor_create(info->dtype, info->rank, shape, &narrow[i]));
        HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F64, info->rank, shape, &wide[i]));
        hone_tensor_fill_random(narrow[i], &rng, row->low, row->high);
        for (int64_t k = 0; k < hone_tensor_count(narrow[i]); k++)
            hone_tensor_set_f64(wide[i], k, hone_tensor_get_f64(narrow[i], k));
    }
    return graph->param_count;
}

static void compare(const struct row *row, const char *type, const char *way, hone_tensor *got,
                    hone_tensor *want) {
    double eps = hone_dtype_epsilon(got->dtype);
    for (int64_t i = 0; i < hone_tensor_count(want); i++) {
        double x = hone_tensor_get_f64(got, i), y = hone_tensor_get_f64(want, i);
        double bound = UNITS * eps * fabs(y) + WIDE * (fabs(y) + row->size) + 0x1p-24;
        if (fabs(x - y) <= bound) continue;
        fail_msg("%s of %s, %s: element %lld is %.9g, should be %.9g within %.2g", row->name, type,
                 way, (long long)i, x, y, bound);
    }
}

static void check(const struct row *row, const char *type) {
    hone_module *narrow, *wide;
    hone_tensor *x[MAX_INPUTS], *y[MAX_INPUTS];
    run_results want, plain, planned;
    load(row->text, type, &narrow);
    load(row->text, "f64", &wide);
    uint32_t count = make_inputs(row, narrow, x, y);
    HONE_ASSERT_OK(run_plain(wide, NULL, y, count, 0, &want));
    HONE_ASSERT_OK(run_plain(narrow, NULL, x, count, 0, &plain));
    HONE_ASSERT_OK(run_planned(narrow, NULL, x, count, 0, &planned));
    compare(row, type, "one by one", plain.items[0], want.items[0]);
    compare(row, type, "fused", planned.items[0], want.items[0]);
    run_results_deinit(&want);
    run_results_deinit(&plain);
    run_results_deinit(&planned);
    for (uint32_t i = 0; i < count; i++) {
        hone_tensor_destroy(x[i]);
        hone_tensor_destroy(y[i]);
    }
    hone_module_release(narrow);
    hone_module_release(wide);
}

static void is_rounded_once(void **state) {
    check(*state, "f16");
    check(*state, "bf16");
}

/* In sequence each 1.1 would be added to a number whose neighbours are half a unit away. */
static void long_sums_are_folded_right(void **state) {
    static const char text[] = "const c f32 1 = 1.1\nconst s i64 1 = 4194304\ninput x f32 1\n"
                               "node Expand c,s -> e\nnode ReduceMean e -> m axes=[0]\n"
                               "node Add x,m -> y\noutput y";
    (void)state;
    hone_module *module;
    hone_tensor *x;
    run_results got;
    HONE_ASSERT_OK(onnx_text_load(text, &module));
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 1, (const int64_t[]){1}, &x));
    HONE_ASSERT_OK(run_planned(module, NULL, &x, 1, 1000, &got)); /* steps for the addition alone */
    assert_true(fabs(hone_tensor_get_f64(got.items[0], 0) - 1.1) < 1e-6);
    run_results_deinit(&got);
    hone_tensor_destroy(x);
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_sums_are_folded_right)};
    int failed = cmocka_run_group_tests_name("graph/long_sums", tests, NULL, NULL);
    return HONE_RUN_ROWS("graph/halves", rows, is_rounded_once) + failed;
}
