/* tests/compile/test_edge_values.c - what operators of ONNX make of NaN, infinities, zeros of both
 * signs, and the least and greatest numbers, alone and within rows: as the references of
 * edge_values.h say, in every way of running. */
#include <math.h>
#include <string.h>

#include "tests/compile/compile_fixture.h"
#include "tests/compile/edge_values.h"
#include "tests/graph/graph_run.h"
#include "tests/graph/onnx_text.h"
#include "tests/support/hone_test.h"

typedef enum way_of_running { INTERPRETED, PLANNED, PLAIN, DEFAULT } way_of_running;

static const struct row {
    const char *name, *type; /* of onnx_text.h */
    hone_dtype dtype;
    double tolerance; /* of what is rounded: relative, and of 1 */
    way_of_running way;
} rows[] = {
    {"float32, interpreted",      "f32", HONE_DTYPE_INIT(FLOAT, 32, 1), 2e-6,  INTERPRETED},
    {"float32, planned",          "f32", HONE_DTYPE_INIT(FLOAT, 32, 1), 2e-6,  PLANNED    },
    {"float32, plain",            "f32", HONE_DTYPE_INIT(FLOAT, 32, 1), 2e-6,  PLAIN      },
    {"float32, default schedule", "f32", HONE_DTYPE_INIT(FLOAT, 32, 1), 2e-6,  DEFAULT    },
    {"float64, interpreted",      "f64", HONE_DTYPE_INIT(FLOAT, 64, 1), 1e-13, INTERPRETED},
    {"float64, default schedule", "f64", HONE_DTYPE_INIT(FLOAT, 64, 1), 1e-13, DEFAULT    },
    {"float16, interpreted",      "f16", HONE_DTYPE_INIT(FLOAT, 16, 1), 5e-2,  INTERPRETED},
    {"float16, default schedule", "f16", HONE_DTYPE_INIT(FLOAT, 16, 1), 5e-2,  DEFAULT    },
};

static fixture shared;

/* ---- running ---- */

static hone_status run_compiled(const hone_module *module, bool is_plain, hone_tensor **inputs,
                                run_results *out) {
    hone_compile_options options = fixture_options(&shared, "edges");
    hone_loaded_model *model = NULL;
    const hone_model_entry *entry;
    options.no_schedule = is_plain;
    HONE_TRY(fixture_compile(module, &options, NULL, &model));
    hone_status st = hone_loaded_model_entry(model, NULL, &entry);
    if (!st) st = hone_loaded_model_make_outputs(model, entry, inputs, &out->items);
    if (!st) st = fixture_run(model, entry, inputs, out->items);
    if (!st) out->count = (size_t)entry->output_count;
    hone_loaded_model_close(model);
    return st;
}

static void run(const char *text, way_of_running way, hone_tensor **inputs, size_t input_count,
                run_results *out) {
    hone_module *module;
    memset(out, 0, sizeof *out);
    HONE_ASSERT_OK(onnx_text_load(text, &module));
    hone_status st = HONE_OK;
    if (way == INTERPRETED) {
        st = run_plain(module, NULL, inputs, input_count, 0, out);
    } else if (way == PLANNED) {
        st = run_planned(module, NULL, inputs, input_count, 0, out);
    } else {
        st = run_compiled(module, way == PLAIN, inputs, out);
    }
    hone_module_release(module);
    HONE_ASSERT_OK(st);
}

/* ---- comparing ---- */

static double in_type(hone_dtype dtype, double value) {
    double element;
    hone_element_set_f64(dtype, &element, value);
    return hone_element_get_f64(dtype, &element);
}

/* tolerance 0: exactly, but for the sign of zero */
static bool is_right(double got, double want, double tolerance) {
    if (got == want || (isnan(got) && isnan(want))) return true;
    return fabs(got - want) <= tolerance * fmax(1, fabs(want)) && isfinite(got - want);
}

/* The operators that are wrong are all said, each with the first of its mistakes. */
static int wrong_count;
static const char *last_wrong;

static void check(const char *name, double x, double y, hone_dtype dtype, double got, double want,
                  double tolerance) {
    if (hone_dtype_is_float(dtype)) want = in_type(dtype, want);
    if (last_wrong == name || is_right(got, want, tolerance)) return;
    print_error("%s of %g, %g is %.9g, should be %.9g\n", name, x, y, got, want);
    last_wrong = name;
    wrong_count++;
}

static void end_checks(void) {
    int count = wrong_count;
    wrong_count = 0;
    last_wrong = NULL;
    assert_int_equal(count, 0);
}

/* ---- one and two elements ---- */

/* Every pair of edge values. */
static void make_pairs(const hone_tensor *edges, hone_tensor **out_x, hone_tensor **out_z) {
    int64_t count = hone_tensor_count(edges), shape[] = {count, count};
    HONE_ASSERT_OK(hone_tensor_create(edges->dtype, 2, shape, out_x));
    HONE_ASSERT_OK(hone_tensor_create(edges->dtype, 2, shape, out_z));
    for (int64_t i = 0; i < count * count; i++) {
        hone_tensor_set_f64(*out_x, i, hone_tensor_get_f64(edges, i / count));
        hone_tensor_set_f64(*out_z, i, hone_tensor_get_f64(edges, i % count));
    }
}

static void print_elements(const edge_element *table, const char *type, int count, hone_str *out) {
    static const char *const numbers[] = {"zero = 0",   "six = 6",   "four = 4",
                                          "one = 1",    "two = 2",   "three = 3",
                                          "minus = -1", "inf = inf", "half = 0.5"};
    hone_str_printf(out, "opset 20\ninput x %s %d,%d\ninput z %s %d,%d\n", type, count, count, type,
                    count, count);
    for (size_t i = 0; i < HONE_COUNT(numbers); i++) {
        int length = (int)strcspn(numbers[i], " ");
        hone_str_printf(out, "const %.*s %s 1 %s\n", length, numbers[i], type,
                        numbers[i] + length + 1);
    }
    for (; table->name; table++) {
        hone_str_printf(out, "node %s -> %s %s\noutput %s\n", table->node, table->name,
                        table->attrs, table->name);
    }
}

static void check_elements(const struct row *row, const edge_element *table) {
    hone_tensor *edges, *inputs[2];
    hone_str text = {0};
    run_results results;
    HONE_ASSERT_OK(edge_values_create(row->dtype, &edges));
    make_pairs(edges, &inputs[0], &inputs[1]);
    print_elements(table, row->type, (int)hone_tensor_count(edges), &text);
    run(hone_str_text(&text), row->way, inputs, 2, &results);
    for (size_t k = 0; table[k].name; k++) {
        assert_true(k < results.count);
        const hone_tensor *got = results.items[k];
        double tolerance = table[k].is_rounded ? row->tolerance : 0;
        for (int64_t i = 0; i < hone_tensor_count(got); i++) {
            double x = hone_tensor_get_f64(inputs[0], i), y = hone_tensor_get_f64(inputs[1], i);
            check(table[k].name, x, y, got->dtype, hone_tensor_get_f64(got, i), table[k].want(x, y),
                  tolerance);
        }
    }
    run_results_deinit(&results);
    hone_str_deinit(&text);
    hone_tensor_destroy(edges);
    for (int i = 0; i < 2; i++)
        hone_tensor_destroy(inputs[i]);
    end_checks();
}

static void check_unary(void **state) {
    check_elements(*state, edge_unary);
}
static void check_binary(void **state) {
    check_elements(*state, edge_binary);
}
static void check_compare(void **state) {
    check_elements(*state, edge_compare);
}

/* ---- rows ---- */

enum { ROWS = 40, COLUMNS = 37 };

/* Plain numbers, and in most rows something else: one of a kind, two, or nothing but. */
static void fill_rows(hone_tensor *x) {
    static const double odd[][2] = {
        {(double)NAN,       (double)NAN      },
        {(double)INFINITY,  (double)INFINITY },
        {-(double)INFINITY, -(double)INFINITY},
        {(double)INFINITY,  -(double)INFINITY},
        {(double)NAN,       (double)INFINITY },
        {-(double)INFINITY, (double)NAN      },
        {0.0,               -0.0             },
    };
    hone_rng rng = hone_test_rng(27);
    hone_tensor_fill_random(x, &rng, 0.5, 1.5);
    for (int64_t i = 0; i < ROWS * COLUMNS; i += 3)
        hone_tensor_set_f64(x, i, -hone_tensor_get_f64(x, i));
    for (int64_t r = 0; r < ROWS; r++) {
        if (r % 5 == 0) continue;
        const double *kind = odd[r % (int64_t)HONE_COUNT(odd)];
        bool is_whole = r % 5 == 4;
        int64_t first = is_whole ? 0 : r * 7 % COLUMNS, second = is_whole ? 1 : r * 11 % COLUMNS;
        for (int64_t c = first; c < (is_whole ? COLUMNS : first + 1); c++)
            hone_tensor_set_f64(x, r * COLUMNS + c, kind[0]);
        hone_tensor_set_f64(x, r * COLUMNS + second, kind[1]);
    }
}

static void print_rows(const char *type, int axis, hone_str *out) {
    hone_str_printf(out, "opset 18\ninput x %s %d,%d\nconst a i64 1 = %d\n", type, ROWS, COLUMNS,
                    axis);
    for (const edge_row *e = edge_rows; e->name; e++) {
        bool is_reduce = e->kind == EDGE_NUMBER;
        hone_str_printf(out, "node %s %s -> %s ", e->op, is_reduce ? "x,a" : "x", e->name);
        if (is_reduce) hone_str_printf(out, "keepdims=%d", (int)((e - edge_rows) % 2));
        if (!is_reduce) hone_str_printf(out, "axis=%d", axis);
        hone_str_printf(out, "\noutput %s\n", e->name);
    }
}

static void check_axis(const struct row *row, int axis) {
    int64_t shape[] = {ROWS, COLUMNS}, length = shape[axis], others = shape[1 - axis];
    hone_tensor *x;
    hone_str text = {0};
    run_results results;
    HONE_ASSERT_OK(hone_tensor_create(row->dtype, 2, shape, &x));
    fill_rows(x);
    print_rows(row->type, axis, &text);
    run(hone_str_text(&text), row->way, &x, 1, &results);
    for (const edge_row *e = edge_rows; e->name; e++) {
        const hone_tensor *got = results.items[e - edge_rows];
        for (int64_t o = 0; o < others; o++) {
            double line[ROWS + COLUMNS];
            for (int64_t i = 0; i < length; i++) {
                line[i] = hone_tensor_get_f64(x, axis ? o * COLUMNS + i : i * COLUMNS + o);
            }
            for (int64_t i = 0; i < (e->kind == EDGE_ROW ? length : 1); i++) {
                int64_t at = e->kind != EDGE_ROW ? o : axis ? o * COLUMNS + i : i * COLUMNS + o;
                check(e->name, (double)o, (double)i, got->dtype, hone_tensor_get_f64(got, at),
                      e->want(line, length, i), e->is_rounded ? 4 * row->tolerance : 0);
            }
        }
    }
    run_results_deinit(&results);
    hone_str_deinit(&text);
    hone_tensor_destroy(x);
}

static void check_rows(void **state) {
    check_axis(*state, 0);
    check_axis(*state, 1);
    end_checks();
}

/* ---- windows ---- */

enum { CHANNELS = 3, HEIGHT = 9, WIDTH = 21 };

/* The maximum of a window around (y, x) of one channel, of what lies inside. */
static double window_max(const hone_tensor *data, int64_t c, int64_t y, int64_t x, int64_t reach) {
    double line[HEIGHT * WIDTH];
    int64_t count = 0;
    for (int64_t i = 0; i < HEIGHT * WIDTH; i++) {
        int64_t dy = i / WIDTH - y, dx = i % WIDTH - x;
        bool is_inside = dy >= -reach && dy <= reach && dx >= -reach && dx <= reach;
        if (is_inside) line[count++] = hone_tensor_get_f64(data, c * HEIGHT * WIDTH + i);
    }
    return edge_rows[0].want(line, count, 0);
}

static void check_windows(void **state) {
    const struct row *row = *state;
    int64_t shape[] = {1, CHANNELS, HEIGHT, WIDTH};
    hone_tensor *data;
    hone_str text = {0};
    run_results results;
    HONE_ASSERT_OK(hone_tensor_create(row->dtype, 4, shape, &data));
    hone_rng rng = hone_test_rng(28);
    hone_tensor_fill_random(data, &rng, -2, 2);
    for (int64_t i = HEIGHT * WIDTH; i < 3 * HEIGHT * WIDTH; i++) /* the last channel: all -inf */
        if (i % 17 == 3 || i >= 2 * HEIGHT * WIDTH) hone_tensor_set_f64(data, i, -(double)INFINITY);
    for (int64_t i = 5; i < 2 * HEIGHT * WIDTH; i += 61)
        hone_tensor_set_f64(data, i, (double)NAN);
    hone_str_printf(
        &text,
        "opset 13\ninput x %s 1,%d,%d,%d\n"
        "node MaxPool x -> y kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1]\noutput y\n"
        "node GlobalMaxPool x -> z\noutput z\n",
        row->type, CHANNELS, HEIGHT, WIDTH);
    run(hone_str_text(&text), row->way, &data, 1, &results);
    for (int64_t i = 0; i < CHANNELS * HEIGHT * WIDTH; i++) {
        int64_t c = i / (HEIGHT * WIDTH), y = i / WIDTH % HEIGHT, x = i % WIDTH;
        check("MaxPool", (double)y, (double)x, row->dtype, hone_tensor_get_f64(results.items[0], i),
              window_max(data, c, y, x, 1), 0);
        check("GlobalMaxPool", (double)c, 0, row->dtype, hone_tensor_get_f64(results.items[1], c),
              window_max(data, c, y, x, HEIGHT + WIDTH), 0);
    }
    run_results_deinit(&results);
    hone_str_deinit(&text);
    hone_tensor_destroy(data);
    end_checks();
}

/* ---- powers of two types ---- */

/* Rounded to zero, to the nearest end where it is out of range; NaN counts as 0. */
static double to_int32(double value) {
    if (isnan(value)) return 0;
    return value >= INT32_MAX ? INT32_MAX : value <= INT32_MIN ? INT32_MIN : trunc(value);
}

static void check_powers(void **state) {
    const struct row *row = *state;
    static const double wholes[] = {0, 1, -1, 2, -8, 16, 3, INT32_MAX, INT32_MIN, 16777217};
    hone_tensor *edges, *inputs[2];
    run_results results;
    hone_str text = {0};
    HONE_ASSERT_OK(edge_values_create(row->dtype, &edges));
    int64_t count = hone_tensor_count(edges), shape[] = {(int64_t)HONE_COUNT(wholes), count};
    HONE_ASSERT_OK(hone_tensor_create(HONE_DTYPE_I32, 2, shape, &inputs[0]));
    HONE_ASSERT_OK(hone_tensor_create(row->dtype, 2, shape, &inputs[1]));
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
        hone_tensor_set_f64(inputs[0], i, wholes[i / count]);
        hone_tensor_set_f64(inputs[1], i, hone_tensor_get_f64(edges, i % count));
    }
    hone_str_printf(&text,
                    "opset 15\ninput x i32 %d,%d\ninput z %s %d,%d\n"
                    "node Pow x,z -> a\noutput a\nnode Pow z,x -> b\noutput b\n",
                    (int)shape[0], (int)count, row->type, (int)shape[0], (int)count);
    run(hone_str_text(&text), row->way, inputs, 2, &results);
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
        double x = hone_tensor_get_f64(inputs[0], i), z = hone_tensor_get_f64(inputs[1], i);
        check("a power of whole numbers", x, z, HONE_DTYPE_I32,
              hone_tensor_get_f64(results.items[0], i), to_int32(pow(x, z)), 1e-9);
        check("a whole power", z, x, row->dtype, hone_tensor_get_f64(results.items[1], i),
              pow(z, x), row->tolerance);
    }
    run_results_deinit(&results);
    hone_str_deinit(&text);
    hone_tensor_destroy(edges);
    for (int i = 0; i < 2; i++)
        hone_tensor_destroy(inputs[i]);
    end_checks();
}

int main(void) {
    if (fixture_begin(&shared) != 0) return 1;
    int code = HONE_RUN_ROWS("compile/edges_unary", rows, check_unary);
    code |= HONE_RUN_ROWS("compile/edges_binary", rows, check_binary);
    code |= HONE_RUN_ROWS("compile/edges_compare", rows, check_compare);
    code |= HONE_RUN_ROWS("compile/edges_rows", rows, check_rows);
    code |= HONE_RUN_ROWS("compile/edges_windows", rows, check_windows);
    code |= HONE_RUN_ROWS("compile/edges_powers", rows, check_powers);
    fixture_end(&shared);
    return code;
}
