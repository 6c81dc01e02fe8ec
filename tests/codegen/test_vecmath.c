/* The math functions of generated code against libm in double, in units of the last place, over
 * their whole range and at special values; vectors and scalars. */
#include <math.h>
#include <string.h>

#include "ir/te.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

enum { COUNT = 65536 };

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
    {"tanh, AVX2",     "llvm -mcpu=x86-64-v3", HONE_INTRIN_TANH,    tanh,    -10,   10,  4, true },
    {"tanh, no FMA",   "llvm -mcpu=x86-64",    HONE_INTRIN_TANH,    tanh,    -10,   10,  4, true },
    {"erf",            "host",                 HONE_INTRIN_ERF,     erf,     -5,    5,   4, true },
    {"erf near 0",     "host",                 HONE_INTRIN_ERF,     erf,     -1,    1,   4, true },
    {"erf, AVX2",      "llvm -mcpu=x86-64-v3", HONE_INTRIN_ERF,     erf,     -5,    5,   4, true },
    {"erf, no FMA",    "llvm -mcpu=x86-64-v2", HONE_INTRIN_ERF,     erf,     -5,    5,   4, true },
    {"sigmoid",        "host",                 HONE_INTRIN_SIGMOID, sigmoid, -103,  103, 4, true },
    {"sigmoid, AVX2",  "llvm -mcpu=x86-64-v3", HONE_INTRIN_SIGMOID, sigmoid, -103,  103, 4, true },
    {"exp, AVX2",      "llvm -mcpu=x86-64-v3", HONE_INTRIN_EXP,     exp,     -104,  89,  4, true },
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

/* NaN with bits in its lowest places, as arithmetic hands it on. */
static void fill(const struct row *row, float *x) {
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(row->lo + (row->hi - row->lo) * i / (COUNT - 1));
    }
    memcpy(x, specials, sizeof specials);
    const uint32_t nan = 0x7fc00001U;
    memcpy(&x[HONE_COUNT(specials)], &nan, sizeof nan);
}

static hone_status evaluate(const struct row *row, const char *target_text, bool is_vector,
                            float *x, float *y) {
    struct row kind = *row;
    kind.is_vector = is_vector;
    hone_target target;
    HONE_TRY(hone_target_parse(target_text, &target));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_func *func;
    test_compiled compiled = {0};
    hone_status st = make(arena, &kind, &func);
    if (!st) st = test_compile(func, &target, &compiled);
    hone_arena_destroy(arena);
    if (st) return st;
    void *buffers[] = {x, y};
    int32_t code = compiled.kernel(compiled.rt, buffers, NULL);
    test_compiled_deinit(&compiled);
    return code ? HONE_ERROR(HONE_CODE_INTERNAL, "the kernel returned %d", (int)code) : HONE_OK;
}

static void is_close_to_libm(void **state) {
    const struct row *row = *state;
    static _Alignas(64) float x[COUNT], y[COUNT];
    fill(row, x);
    HONE_ASSERT_OK(evaluate(row, row->target, row->is_vector, x, y));
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

/* Vectors of any width and scalars give the same bits. */
static void is_the_same_in_any_width(void **state) {
    const struct row *row = *state;
    static _Alignas(64) float x[COUNT], y[COUNT], z[COUNT];
    static const char *const widths[] = {"host -vector-width=256", "host -vector-width=128"};
    fill(row, x);
    HONE_ASSERT_OK(evaluate(row, "host", true, x, y));
    for (size_t w = 0; w <= HONE_COUNT(widths); w++) {
        bool is_scalar = w == HONE_COUNT(widths);
        HONE_ASSERT_OK(evaluate(row, is_scalar ? "host" : widths[w], !is_scalar, x, z));
        for (int i = 0; i < COUNT; i++) {
            bool is_same = memcmp(&y[i], &z[i], sizeof y[i]) == 0 || (isnan(y[i]) && isnan(z[i]));
            if (!is_same)
                fail_msg("%.9g and %.9g at %.9g", (double)y[i], (double)z[i], (double)x[i]);
        }
    }
}

static const struct row own[] = {
    {"exp",     "host", HONE_INTRIN_EXP,     exp,     -104,  89,  4, true},
    {"exp2",    "host", HONE_INTRIN_EXP2,    exp2,    -150,  128, 4, true},
    {"log",     "host", HONE_INTRIN_LOG,     log,     1e-30, 100, 4, true},
    {"tanh",    "host", HONE_INTRIN_TANH,    tanh,    -10,   10,  4, true},
    {"erf",     "host", HONE_INTRIN_ERF,     erf,     -5,    5,   4, true},
    {"sigmoid", "host", HONE_INTRIN_SIGMOID, sigmoid, -103,  103, 4, true},
};

int main(void) {
    int failed = HONE_RUN_ROWS("codegen/math", rows, is_close_to_libm);
    return HONE_RUN_ROWS("codegen/math, widths", own, is_the_same_in_any_width) + failed;
}
