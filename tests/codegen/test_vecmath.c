/* The math functions of generated code against libm in double, in units of the last place, over
 * their whole range and at special values; vectors and scalars. */
#include <math.h>
#include <string.h>

#include "ir/te.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

enum { COUNT = 4096 };

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double rsqrt_(double x) {
    return 1 / sqrt(x);
}

static const struct row {
    const char *name, *target;
    hone_intrin intrin;
    double (*reference)(double);
    double lo, hi, ulps;
    bool is_vector;
} rows[] = {
    {"exp",            "host",                 HONE_INTRIN_EXP,     exp,     -104,  89,  4, true },
    {"exp, scalar",    "host",                 HONE_INTRIN_EXP,     exp,     -104,  89,  4, false},
    {"exp, no FMA",    "llvm -mcpu=x86-64",    HONE_INTRIN_EXP,     exp,     -104,  89,  4, true },
    {"exp2",           "host",                 HONE_INTRIN_EXP2,    exp2,    -150,  128, 4, true },
    {"log",            "host",                 HONE_INTRIN_LOG,     log,     1e-30, 100, 4, true },
    {"log near 1",     "host",                 HONE_INTRIN_LOG,     log,     0.5,   2,   4, true },
    {"log, no FMA",    "llvm -mcpu=x86-64",    HONE_INTRIN_LOG,     log,     0.5,   2,   4, true },
    {"tanh",           "host",                 HONE_INTRIN_TANH,    tanh,    -10,   10,  4, true },
    {"tanh near 0",    "host",                 HONE_INTRIN_TANH,    tanh,    -1,    1,   4, true },
    {"erf",            "host",                 HONE_INTRIN_ERF,     erf,     -5,    5,   4, true },
    {"erf, no FMA",    "llvm -mcpu=x86-64-v2", HONE_INTRIN_ERF,     erf,     -5,    5,   4, true },
    {"sigmoid",        "host",                 HONE_INTRIN_SIGMOID, sigmoid, -80,   80,  4, true },
    {"sqrt",           "host",                 HONE_INTRIN_SQRT,    sqrt,    0,     100, 1, true },
    {"rsqrt",          "host",                 HONE_INTRIN_RSQRT,   rsqrt_,  0.01,  100, 2, true },
    {"sin, by libm",   "host",                 HONE_INTRIN_SIN,     sin,     -10,   10,  2, true },
    {"log1p, by libm", "host",                 HONE_INTRIN_LOG1P,   log1p,   -0.9,  10,  2, true },
};

static const float specials[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN,   1e-45f, 1e-39f, -1e-39f,
                                 1.0f, -1.0f, 3.4e38f,  -3.4e38f,  88.7f, 89.0f,  -87.4f, -103.9f};

static hone_status make(hone_arena *arena, const struct row *row, hone_func **out) {
    hone_te te;
    HONE_TRY(hone_te_begin(&te, arena, "math"));
    const hone_expr *n = hone_te_int(&te, COUNT);
    hone_buffer a = hone_te_input(&te, "A", HONE_DTYPE_F32, 1, &n);
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 1, &n, 0, NULL);
    const hone_expr *x = hone_te_load(&te, a, s.axis);
    hone_buffer b =
        hone_te_compute(&te, &s, "B", hone_expr_call(&te.ir, HONE_DTYPE_F32, row->intrin, 1, &x));
    HONE_TRY(hone_te_finish(&te, 1, &b, out));
    hone_node_id loop = hone_tree_first_of(*out, 0, HONE_NODE_FOR);
    hone_func_node(*out, loop)->loop_kind =
        row->is_vector ? HONE_LOOP_VECTORIZED : HONE_LOOP_UNROLLED;
    return HONE_OK;
}

/* How far apart, in units of the last place of the wanted result. */
static double distance(float got, double want) {
    float rounded = (float)want;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got)) {
        return rounded == got || (fabs(want) > 3.4e38 && fabsf(got) > 3.4e38f) ? 0 : INFINITY;
    }
    double unit = fabs((double)nextafterf(fabsf(rounded), INFINITY) - fabs((double)rounded));
    return fabs((double)got - want) / unit;
}

static void fill(const struct row *row, float *x) {
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(row->lo + (row->hi - row->lo) * i / (COUNT - 1));
    }
    memcpy(x, specials, sizeof specials);
}

static void is_close_to_libm(void **state) {
    const struct row *row = *state;
    static _Alignas(64) float x[COUNT], y[COUNT];
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_func *func;
    test_compiled compiled = {0};
    hone_status st = make(arena, row, &func);
    if (!st) st = test_compile(func, &target, &compiled);
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
    fill(row, x);
    void *buffers[] = {x, y};
    int32_t code = compiled.kernel(compiled.rt, buffers, NULL);
    test_compiled_deinit(&compiled);
    assert_int_equal(code, 0);
    double worst = 0, at = 0;
    for (int i = 0; i < COUNT; i++) {
        double d = distance(y[i], row->reference((double)x[i]));
        if (!(d <= worst)) {
            worst = d;
            at = (double)x[i];
        }
    }
    if (!(worst <= row->ulps)) fail_msg("%.2f units at %.9g", worst, at);
}

int main(void) {
    return HONE_RUN_ROWS("codegen/math", rows, is_close_to_libm);
}
