/* tests/graph/frontend/test_onnx_reach.c - which elements an operator of ONNX reaches: Slice with
 * places anywhere, and operands that are broadcast; both against references written out from the
 * standard. The interpreter refuses what lies outside of a buffer. */
#include <math.h>
#include <stdio.h>

#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

/* ---- Slice ---- */

enum { MAX_EXTENT = 7 };

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* The standard: starts are clamped to [0, extent], or [0, extent - 1] for negative steps, ends to
 * [0, extent] or [-1, extent - 1]. */
static int reach(int64_t extent, int64_t start, int64_t end, int64_t step, int64_t *out) {
    int count = 0, is_back = step < 0;
    if (start < 0) start += extent;
    if (end < 0) end += extent;
    start = clamp(start, 0, extent - is_back);
    end = clamp(end, -is_back, extent - is_back);
    for (int64_t at = start; is_back ? at > end : at < end; at += clamp(step, -extent, extent))
        out[count++] = at;
    return count;
}

static int64_t draw_place(hone_rng *rng) {
    static const int64_t far[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 1000, -1000};
    if (hone_rng_below(rng, 8) == 0) return far[hone_rng_below(rng, HONE_COUNT(far))];
    return (int64_t)hone_rng_below(rng, 5 * MAX_EXTENT) - 5 * MAX_EXTENT / 2;
}

static void check_slice(int64_t extent, int64_t start, int64_t end, int64_t step) {
    int64_t want[MAX_EXTENT];
    int count = reach(extent, start, end, step, want);
    char text[512];
    snprintf(text, sizeof text,
             "opset 13\ninput x f32 2,%lld\nconst s i64 1 = %lld\nconst e i64 1 = %lld\n"
             "const a i64 1 = -1\nconst t i64 1 = %lld\nnode Slice x,s,e,a,t -> y\noutput y\n",
             (long long)extent, (long long)start, (long long)end, (long long)step);
    int64_t shape[] = {2, extent};
    hone_module *module = NULL;
    hone_tensor *x;
    run_results results = {0};
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 2, shape, &x));
    for (int64_t i = 0; i < 2 * extent; i++)
        hone_tensor_set_f64(x, i, (double)i);
    hone_status st = onnx_text_load(text, &module);
    if (!st) st = run_plain(module, NULL, &x, 1, 0, &results);
    hone_tensor_destroy(x);
    hone_module_release(module);
    if (st && count == 0) { /* may be refused: it has no elements */
        hone_status_free(st);
        return;
    }
    HONE_ASSERT_OK(st);
    assert_int_equal(results.items[0]->shape[1], count);
    for (int i = 0; i < 2 * count; i++) {
        double place = (double)(i / count * extent + want[i % count]);
        assert_true(hone_tensor_get_f64(results.items[0], i) == place);
    }
    run_results_deinit(&results);
}

static void check_slices(void **state) {
    (void)state;
    hone_rng rng = hone_test_rng(27);
    check_slice(5, -9, -20, -1);
    check_slice(5, 10, -100, -7);
    for (uint64_t i = hone_test_count(4000); i > 0; i--) {
        int64_t step = (int64_t)hone_rng_below(&rng, 15) - 7;
        if (step == 0) step = (i % 2 ? 1 : -1) * (INT64_C(1) << 62);
        check_slice(1 + (int64_t)hone_rng_below(&rng, MAX_EXTENT), draw_place(&rng),
                    draw_place(&rng), step);
    }
}

/* ---- operands that are broadcast to 3 × 5 × 7 ---- */

enum { N = 3, C = 5, S = 7, ELEMENTS = N * C * S };

/* Dimensions of an operand; 0 = it has fewer. */
typedef struct dims {
    int d[3];
} dims;

static double operand(dims o, int64_t n, int64_t c, int64_t s, double seed) {
    const int64_t at[] = {n, c, s};
    int64_t place = 0;
    for (int i = 0; i < 3; i++)
        place = o.d[i] ? place * o.d[i] + (o.d[i] == 1 ? 0 : at[i]) : place;
    return sin(seed + (double)place);
}

static double data_at(int64_t i) {
    return cos((double)(i * i % 97));
}

/* (x - mean) / sqrt(variance + epsilon) over the dimensions from `axis` on */
static double normalised(int64_t i, int axis) {
    int64_t length = axis == 0 ? ELEMENTS : axis == 1 ? C * S : S, first = i / length * length;
    double sum = 0, squares = 0;
    for (int64_t k = first; k < first + length; k++)
        sum += data_at(k);
    for (int64_t k = first; k < first + length; k++)
        squares += pow(data_at(k) - sum / (double)length, 2);
    return (data_at(i) - sum / (double)length) / sqrt(squares / (double)length + 1e-5);
}

static double layer_norm(int64_t i, double a, double b, int axis) {
    return normalised(i, axis) * a + b;
}
static double prelu(int64_t i, double a, double b, int axis) {
    (void)b;
    (void)axis;
    return data_at(i) > 0 ? data_at(i) : data_at(i) * a;
}
static double where(int64_t i, double a, double b, int axis) {
    (void)axis;
    return data_at(i) > 0 ? a : b;
}
static double expand(int64_t i, double a, double b, int axis) {
    (void)b;
    (void)axis;
    return data_at(i) + a;
}

#define LAYER_NORM(axis) "node LayerNormalization x,a,b -> y axis=" #axis
#define WHERE "const z f32 1 = 0\nnode Greater x,z -> p\nnode Where p,a,b -> y"
#define EXPAND "const h i64 3 = 3,5,7\nnode Expand a,h -> t\nnode Add x,t -> y"

static const struct row {
    const char *name, *nodes;
    double (*want)(int64_t i, double a, double b, int axis);
    int axis;
    dims a, b;
} rows[] = {
    {"LayerNormalization, axis 1",      LAYER_NORM(1),         layer_norm, 1, {{0, 5, 7}}, {{0, 5, 7}}},
    {"a scale for each channel",        LAYER_NORM(1),         layer_norm, 1, {{0, 5, 1}}, {{0, 5, 1}}},
    {"a scale for each place",          LAYER_NORM(1),         layer_norm, 1, {{0, 1, 7}}, {{0, 5, 1}}},
    {"a scale of 1 x 1",                LAYER_NORM(1),         layer_norm, 1, {{0, 1, 1}}, {{0, 1, 7}}},
    {"a scale of fewer dimensions",     LAYER_NORM(1),         layer_norm, 1, {{0, 0, 7}}, {{0, 0, 1}}},
    {"a scale of one element",          LAYER_NORM(2),         layer_norm, 2, {{0, 0, 1}}, {{0, 0, 7}}},
    {"all dimensions",                  LAYER_NORM(0),         layer_norm, 0, {{3, 1, 7}}, {{1, 5, 1}}},
    {"a scale of more dimensions",      LAYER_NORM(2),         layer_norm, 2, {{0, 5, 1}}, {{0, 0, 7}}},
    {"a scale of all dimensions",       LAYER_NORM(2),         layer_norm, 2, {{3, 5, 7}}, {{3, 1, 1}}},
    {"leading dimensions of 1",         LAYER_NORM(2),         layer_norm, 2, {{1, 1, 7}}, {{0, 1, 7}}},
    {"PRelu, a slope for each channel", "node PRelu x,a -> y", prelu,      0, {{0, 5, 1}}, {{0, 0, 1}}},
    {"PRelu, a slope for each place",   "node PRelu x,a -> y", prelu,      0, {{0, 0, 7}}, {{0, 0, 1}}},
    {"PRelu, one slope",                "node PRelu x,a -> y", prelu,      0, {{1, 1, 1}}, {{0, 0, 1}}},
    {"Where",                           WHERE,                 where,      0, {{3, 1, 1}}, {{0, 5, 1}}},
    {"Where, vectors",                  WHERE,                 where,      0, {{0, 0, 7}}, {{0, 0, 1}}},
    {"Expand",                          EXPAND,                expand,     0, {{0, 5, 1}}, {{0, 0, 1}}},
    {"Expand of one",                   EXPAND,                expand,     0, {{0, 0, 1}}, {{0, 0, 1}}},
};

static hone_tensor *make_operand(dims o, double seed, char *text, size_t size) {
    int64_t shape[3];
    int32_t rank = 0;
    hone_tensor *tensor;
    for (int i = 0; i < 3; i++)
        if (o.d[i]) shape[rank++] = o.d[i];
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, rank, shape, &tensor));
    for (int64_t i = 0; i < hone_tensor_count(tensor); i++)
        hone_tensor_set_f64(tensor, i, sin(seed + (double)i));
    text[0] = 0;
    for (int i = 0, length = 0; i < 3; i++) {
        if (!o.d[i]) continue;
        length += snprintf(text + length, size - (size_t)length, length ? ",%d" : "%d", o.d[i]);
    }
    return tensor;
}

static void check_results(const struct row *row, const hone_tensor *got) {
    assert_int_equal(hone_tensor_count(got), ELEMENTS);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        int64_t n = i / (C * S), c = i / S % C, s = i % S;
        double a = operand(row->a, n, c, s, 1), b = operand(row->b, n, c, s, 2);
        double want = row->want(i, a, b, row->axis), is = hone_tensor_get_f64(got, i);
        if (fabs(is - want) < 1e-4) continue;
        fail_msg("[%d, %d, %d] is %g, should be %g", (int)n, (int)c, (int)s, is, want);
    }
}

static void check_row(void **state) {
    const struct row *row = *state;
    char text[512], a[32], b[32];
    int64_t shape[] = {N, C, S};
    hone_tensor *inputs[3];
    hone_module *module;
    run_results plain, planned;
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_F32, 3, shape, &inputs[0]));
    for (int64_t i = 0; i < ELEMENTS; i++)
        hone_tensor_set_f64(inputs[0], i, data_at(i));
    inputs[1] = make_operand(row->a, 1, a, sizeof a);
    inputs[2] = make_operand(row->b, 2, b, sizeof b);
    snprintf(text, sizeof text,
             "opset 17\ninput x f32 3,5,7\ninput a f32 %s\ninput b f32 %s\n%s\noutput y\n", a, b,
             row->nodes);
    HONE_ASSERT_OK(onnx_text_load(text, &module));
    HONE_ASSERT_OK(run_plain(module, NULL, inputs, 3, 0, &plain));
    HONE_ASSERT_OK(run_planned(module, NULL, inputs, 3, 0, &planned));
    hone_module_release(module);
    check_results(row, plain.items[0]);
    check_results(row, planned.items[0]);
    run_results_deinit(&plain);
    run_results_deinit(&planned);
    for (int i = 0; i < 3; i++)
        hone_tensor_destroy(inputs[i]);
}

int main(void) {
    static const struct { const char *name; } slices[] = {{"places anywhere"}};
    int code = HONE_RUN_ROWS("graph/onnx_slice", slices, check_slices);
    return code | HONE_RUN_ROWS("graph/onnx_broadcast", rows, check_row);
}
