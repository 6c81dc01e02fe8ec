/* tests/codegen/test_vecmath.c - the math functions of generated code against libm in double, in
 * units of the last place, over their whole range and at special values; vectors and scalars. */
#include <math.h>
#include <string.h>

#include "ir/te/te.h"
#include "tests/codegen/derived_math.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

enum { COUNT = 65536 };

#define HOST "host"
#define AVX2 "llvm -mcpu=x86-64-v3"
#define SSE2 "llvm -mcpu=x86-64"

/* clang-format off */
/* lo == hi: bit patterns spread over all floats. */
static const struct row {
    const char *name, *target;
    hone_intrin intrin;
    double (*of_one)(double);
    double (*of_two)(double, double);
    double lo, hi, ulps; /* units at most */
    bool is_scalar;
    double second; /* a number in the program in place of the second argument; 0 = none */
} rows[] = {
    {"exp, everywhere",          HOST, HONE_INTRIN_EXP,     .of_one = exp,     .ulps = 3.5},
    {"exp",                      HOST, HONE_INTRIN_EXP,     .of_one = exp,     .ulps = 3.5, .lo = -104,   .hi = 89               },
    {"exp, scalar",              HOST, HONE_INTRIN_EXP,     .of_one = exp,     .ulps = 3.5, .lo = -104,   .hi = 89,  .is_scalar = true},
    {"exp, no FMA",              SSE2, HONE_INTRIN_EXP,     .of_one = exp,     .ulps = 3.5, .lo = -104,   .hi = 89               },
    {"exp, AVX2",                AVX2, HONE_INTRIN_EXP,     .of_one = exp,     .ulps = 3.5, .lo = -104,   .hi = 89               },
    {"exp2, everywhere",         HOST, HONE_INTRIN_EXP2,    .of_one = exp2,    .ulps = 3.5},
    {"exp2",                     HOST, HONE_INTRIN_EXP2,    .of_one = exp2,    .ulps = 3.5, .lo = -150,   .hi = 128              },
    {"exp10, everywhere",        HOST, HONE_INTRIN_EXP10,   .of_one = exp10_,  .ulps = 4},
    {"exp10",                    HOST, HONE_INTRIN_EXP10,   .of_one = exp10_,  .ulps = 4,   .lo = -46,    .hi = 39               },
    {"exp10, no FMA",            SSE2, HONE_INTRIN_EXP10,   .of_one = exp10_,  .ulps = 4,   .lo = -46,    .hi = 39               },
    {"log, everywhere",          HOST, HONE_INTRIN_LOG,     .of_one = log,     .ulps = 2},
    {"log",                      HOST, HONE_INTRIN_LOG,     .of_one = log,     .ulps = 2,   .lo = 1e-30,  .hi = 100              },
    {"log near 1",               HOST, HONE_INTRIN_LOG,     .of_one = log,     .ulps = 2,   .lo = 0.5,    .hi = 2                },
    {"log, no FMA",              SSE2, HONE_INTRIN_LOG,     .of_one = log,     .ulps = 2,   .lo = 0.5,    .hi = 2                },
    {"log2, everywhere",         HOST, HONE_INTRIN_LOG2,    .of_one = log2,    .ulps = 4},
    {"log2 near 1",              HOST, HONE_INTRIN_LOG2,    .of_one = log2,    .ulps = 4,   .lo = 0.5,    .hi = 2                },
    {"log2, no FMA",             SSE2, HONE_INTRIN_LOG2,    .of_one = log2,    .ulps = 4,   .lo = 0.5,    .hi = 2                },
    {"log10, everywhere",        HOST, HONE_INTRIN_LOG10,   .of_one = log10,   .ulps = 4},
    {"log10 near 1",             HOST, HONE_INTRIN_LOG10,   .of_one = log10,   .ulps = 4,   .lo = 0.5,    .hi = 2                },
    {"log10, no FMA",            SSE2, HONE_INTRIN_LOG10,   .of_one = log10,   .ulps = 4,   .lo = 0.5,    .hi = 2                },
    {"log1p, everywhere",        HOST, HONE_INTRIN_LOG1P,   .of_one = log1p,   .ulps = 4},
    {"log1p near 0",             HOST, HONE_INTRIN_LOG1P,   .of_one = log1p,   .ulps = 4,   .lo = -0.999, .hi = 3                },
    {"log1p, no FMA",            SSE2, HONE_INTRIN_LOG1P,   .of_one = log1p,   .ulps = 4,   .lo = -0.999, .hi = 3                },
    {"sin, everywhere",          HOST, HONE_INTRIN_SIN,     .of_one = sin,     .ulps = 4},
    {"sin",                      HOST, HONE_INTRIN_SIN,     .of_one = sin,     .ulps = 4,   .lo = -10,    .hi = 10               },
    {"sin, scalar",              HOST, HONE_INTRIN_SIN,     .of_one = sin,     .ulps = 4,   .lo = -10,    .hi = 10,  .is_scalar = true},
    {"sin, far",                 HOST, HONE_INTRIN_SIN,     .of_one = sin,     .ulps = 4,   .lo = -1e5,   .hi = 1e5              },
    {"sin, no FMA",              SSE2, HONE_INTRIN_SIN,     .of_one = sin,     .ulps = 4,   .lo = -2e4,   .hi = 2e4              },
    {"sin, AVX2",                AVX2, HONE_INTRIN_SIN,     .of_one = sin,     .ulps = 4},
    {"cos, everywhere",          HOST, HONE_INTRIN_COS,     .of_one = cos,     .ulps = 4},
    {"cos",                      HOST, HONE_INTRIN_COS,     .of_one = cos,     .ulps = 4,   .lo = -10,    .hi = 10               },
    {"cos, far",                 HOST, HONE_INTRIN_COS,     .of_one = cos,     .ulps = 4,   .lo = -1e5,   .hi = 1e5              },
    {"cos, no FMA",              SSE2, HONE_INTRIN_COS,     .of_one = cos,     .ulps = 4,   .lo = -2e4,   .hi = 2e4              },
    {"tan, everywhere",          HOST, HONE_INTRIN_TAN,     .of_one = tan,     .ulps = 4},
    {"tan",                      HOST, HONE_INTRIN_TAN,     .of_one = tan,     .ulps = 4,   .lo = -10,    .hi = 10               },
    {"tan, no FMA",              SSE2, HONE_INTRIN_TAN,     .of_one = tan,     .ulps = 4,   .lo = -2e4,   .hi = 2e4              },
    {"asin, everywhere",         HOST, HONE_INTRIN_ASIN,    .of_one = asin,    .ulps = 4},
    {"asin",                     HOST, HONE_INTRIN_ASIN,    .of_one = asin,    .ulps = 4,   .lo = -1,     .hi = 1                },
    {"asin, no FMA",             SSE2, HONE_INTRIN_ASIN,    .of_one = asin,    .ulps = 4,   .lo = -1,     .hi = 1                },
    {"acos, everywhere",         HOST, HONE_INTRIN_ACOS,    .of_one = acos,    .ulps = 4},
    {"acos",                     HOST, HONE_INTRIN_ACOS,    .of_one = acos,    .ulps = 4,   .lo = -1,     .hi = 1                },
    {"acos, no FMA",             SSE2, HONE_INTRIN_ACOS,    .of_one = acos,    .ulps = 4,   .lo = -1,     .hi = 1                },
    {"atan, everywhere",         HOST, HONE_INTRIN_ATAN,    .of_one = atan,    .ulps = 4},
    {"atan",                     HOST, HONE_INTRIN_ATAN,    .of_one = atan,    .ulps = 4,   .lo = -4,     .hi = 4                },
    {"atan, no FMA",             SSE2, HONE_INTRIN_ATAN,    .of_one = atan,    .ulps = 4,   .lo = -4,     .hi = 4                },
    {"sinh, everywhere",         HOST, HONE_INTRIN_SINH,    .of_one = sinh,    .ulps = 4},
    {"sinh",                     HOST, HONE_INTRIN_SINH,    .of_one = sinh,    .ulps = 4,   .lo = -5,     .hi = 5                },
    {"sinh to its end",          HOST, HONE_INTRIN_SINH,    .of_one = sinh,    .ulps = 4,   .lo = 80,     .hi = 90               },
    {"sinh, no FMA",             SSE2, HONE_INTRIN_SINH,    .of_one = sinh,    .ulps = 4,   .lo = -5,     .hi = 90               },
    {"cosh, everywhere",         HOST, HONE_INTRIN_COSH,    .of_one = cosh,    .ulps = 4},
    {"cosh",                     HOST, HONE_INTRIN_COSH,    .of_one = cosh,    .ulps = 4,   .lo = -5,     .hi = 90               },
    {"cosh, no FMA",             SSE2, HONE_INTRIN_COSH,    .of_one = cosh,    .ulps = 4,   .lo = -5,     .hi = 90               },
    {"tanh, everywhere",         HOST, HONE_INTRIN_TANH,    .of_one = tanh,    .ulps = 4},
    {"tanh",                     HOST, HONE_INTRIN_TANH,    .of_one = tanh,    .ulps = 4,   .lo = -10,    .hi = 10               },
    {"tanh near 0",              HOST, HONE_INTRIN_TANH,    .of_one = tanh,    .ulps = 4,   .lo = -1,     .hi = 1                },
    {"tanh, AVX2",               AVX2, HONE_INTRIN_TANH,    .of_one = tanh,    .ulps = 4,   .lo = -10,    .hi = 10               },
    {"tanh, no FMA",             SSE2, HONE_INTRIN_TANH,    .of_one = tanh,    .ulps = 4,   .lo = -10,    .hi = 10               },
    {"asinh, everywhere",        HOST, HONE_INTRIN_ASINH,   .of_one = asinh,   .ulps = 4},
    {"asinh",                    HOST, HONE_INTRIN_ASINH,   .of_one = asinh,   .ulps = 4,   .lo = -5,     .hi = 5                },
    {"asinh, no FMA",            SSE2, HONE_INTRIN_ASINH,   .of_one = asinh,   .ulps = 4,   .lo = -5,     .hi = 5                },
    {"acosh, everywhere",        HOST, HONE_INTRIN_ACOSH,   .of_one = acosh,   .ulps = 4},
    {"acosh",                    HOST, HONE_INTRIN_ACOSH,   .of_one = acosh,   .ulps = 4,   .lo = 1,      .hi = 5                },
    {"acosh, no FMA",            SSE2, HONE_INTRIN_ACOSH,   .of_one = acosh,   .ulps = 4,   .lo = 1,      .hi = 5                },
    {"atanh, everywhere",        HOST, HONE_INTRIN_ATANH,   .of_one = atanh,   .ulps = 4},
    {"atanh",                    HOST, HONE_INTRIN_ATANH,   .of_one = atanh,   .ulps = 4,   .lo = -1,     .hi = 1                },
    {"atanh, no FMA",            SSE2, HONE_INTRIN_ATANH,   .of_one = atanh,   .ulps = 4,   .lo = -1,     .hi = 1                },
    {"erf, everywhere",          HOST, HONE_INTRIN_ERF,     .of_one = erf,     .ulps = 4},
    {"erf",                      HOST, HONE_INTRIN_ERF,     .of_one = erf,     .ulps = 4,   .lo = -5,     .hi = 5                },
    {"erf near 0",               HOST, HONE_INTRIN_ERF,     .of_one = erf,     .ulps = 4,   .lo = -1,     .hi = 1                },
    {"erf, AVX2",                AVX2, HONE_INTRIN_ERF,     .of_one = erf,     .ulps = 4,   .lo = -5,     .hi = 5                },
    {"erf, no FMA",              SSE2, HONE_INTRIN_ERF,     .of_one = erf,     .ulps = 4,   .lo = -5,     .hi = 5                },
    {"sigmoid, everywhere",      HOST, HONE_INTRIN_SIGMOID, .of_one = sigmoid, .ulps = 4},
    {"sigmoid",                  HOST, HONE_INTRIN_SIGMOID, .of_one = sigmoid, .ulps = 4,   .lo = -103,   .hi = 103              },
    {"sigmoid, AVX2",            AVX2, HONE_INTRIN_SIGMOID, .of_one = sigmoid, .ulps = 4,   .lo = -103,   .hi = 103              },
    {"sqrt, everywhere",         HOST, HONE_INTRIN_SQRT,    .of_one = sqrt,    .ulps = 0.5},
    {"rsqrt, everywhere",        HOST, HONE_INTRIN_RSQRT,   .of_one = rsqrt_,  .ulps = 2},
    {"pow, everywhere",          HOST, HONE_INTRIN_POW,     .of_two = pow,     .ulps = 4},
    {"pow",                      HOST, HONE_INTRIN_POW,     .of_two = pow,     .ulps = 4,   .lo = -12,    .hi = 12               },
    {"pow, scalar",              HOST, HONE_INTRIN_POW,     .of_two = pow,     .ulps = 4,   .lo = 0,      .hi = 30,  .is_scalar = true},
    {"pow, AVX2",                AVX2, HONE_INTRIN_POW,     .of_two = pow,     .ulps = 4},
    {"pow, no FMA",              SSE2, HONE_INTRIN_POW,     .of_two = pow,     .ulps = 4,   .lo = 0,      .hi = 30               },
    {"atan2, everywhere",        HOST, HONE_INTRIN_ATAN2,   .of_two = atan2,   .ulps = 4},
    {"atan2",                    HOST, HONE_INTRIN_ATAN2,   .of_two = atan2,   .ulps = 4,   .lo = -3,     .hi = 3                },
    {"atan2, no FMA",            SSE2, HONE_INTRIN_ATAN2,   .of_two = atan2,   .ulps = 4},
    {"hypot, everywhere",        HOST, HONE_INTRIN_HYPOT,   .of_two = hypot,   .ulps = 1},
    {"hypot, no FMA",            SSE2, HONE_INTRIN_HYPOT,   .of_two = hypot,   .ulps = 1,   .lo = -3,     .hi = 3                },
    {"fmod, everywhere",         HOST, HONE_INTRIN_FMOD,    .of_two = fmod,    .ulps = 0},
    {"fmod",                     HOST, HONE_INTRIN_FMOD,    .of_two = fmod,    .ulps = 0,   .lo = -1e4,   .hi = 10               },
    {"fmod, no FMA",             SSE2, HONE_INTRIN_FMOD,    .of_two = fmod,    .ulps = 0,   .lo = -1e4,   .hi = 10               },
    {"pow(x, 2)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 2},
    {"pow(x, 3)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 3},
    {"pow(x, 4)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 4},
    {"pow(x, 1)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 1},
    {"pow(x, -1)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = -1},
    {"pow(x, 0.5)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 0.5},
    {"pow(x, -0.5)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = -0.5},
    {"pow(x, 0.25)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 0.25},
    {"pow(x, 0.75)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 0.75},
    {"pow(x, -0.75)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = -0.75},
    {"pow(x, 1.5)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 1.5},
    {"pow(x, -2)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = -2},
    {"pow(x, 2.5)", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 2.5},
    {"pow(x, 0.75), no FMA", SSE2, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 0.75},
    {"pow(x, 3), scalar", HOST, HONE_INTRIN_POW, .of_two = pow, .ulps = 4, .second = 3, .is_scalar = true},
};
/* clang-format on */

static const float specials[] = {
    0.0f,  -0.0f,        INFINITY, -INFINITY, NAN,      1e-45f,    1e-39f,  -1e-39f,
    1.0f,  -1.0f,        3.4e38f,  -3.4e38f,  88.7f,    89.0f,     -87.4f,  -103.9f,
    0.5f,  -0.5f,        2.0f,     -3.0f,     4.0f,     3.14159f,  1.5708f, -2.5f,
    1e30f, -16777217.0f, 1e10f,    71476.0f,  71477.0f, 8388609.f, 89.4f,   -0.99999994f,
};

static hone_status make(hone_arena *arena, const struct row *row, bool is_scalar, hone_func **out) {
    hone_te te;
    HONE_TRY(hone_te_begin(&te, arena, "math"));
    const hone_expr *n = hone_te_int(&te, COUNT);
    hone_buffer a = hone_te_input(&te, "A", HONE_DTYPE_F32, 1, &n);
    hone_buffer b = row->of_two ? hone_te_input(&te, "B", HONE_DTYPE_F32, 1, &n) : a;
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 1, &n, 0, NULL);
    const hone_expr *x[] = {hone_te_load(&te, a, s.axis), hone_te_load(&te, b, s.axis)};
    if (row->second != 0) x[1] = hone_expr_float(&te.ir, HONE_DTYPE_F32, row->second);
    const hone_expr *call =
        hone_expr_call(&te.ir, HONE_DTYPE_F32, row->intrin, row->of_two ? 2 : 1, x);
    hone_buffer c = hone_te_compute(&te, &s, "C", call);
    HONE_TRY(hone_te_finish(&te, 1, &c, out));
    hone_node_id loop = hone_tree_first_of(*out, 0, HONE_NODE_FOR);
    hone_func_node(*out, loop)->loop_kind = is_scalar ? HONE_LOOP_UNROLLED : HONE_LOOP_VECTORIZED;
    return HONE_OK;
}

/* How far apart, in units of the last place of the wanted result. */
static double distance(float got, double want) {
    float rounded = (float)want;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got)) {
        return rounded == got || (fabs(want) > 3.4e38 && fabsf(got) > 3.4e38f) ? 0 : INFINITY;
    }
    if (rounded == 0 && got == 0 && signbit(rounded) != signbit(got)) return INFINITY;
    double unit = fabs((double)nextafterf(fabsf(rounded), INFINITY) - fabs((double)rounded));
    return fabs((double)got - want) / unit;
}

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Both arguments at once: special values beside each other, then the row's range, the second one in
 * another order. NaN with bits in its lowest places, as arithmetic hands it on. */
static void fill(const struct row *row, float *x, float *y) {
    const uint32_t odd = 0x9e3779b1u;
    for (uint32_t i = 0; i < COUNT; i++) {
        double step = (row->hi - row->lo) / (COUNT - 1);
        bool is_everywhere = row->lo == row->hi;
        uint32_t bits = i * (UINT32_MAX / COUNT) + i % 977, other = bits * odd;
        x[i] = is_everywhere ? from_bits(bits) : (float)(row->lo + step * i);
        y[i] = is_everywhere ? from_bits(other) : (float)(row->lo + step * (i * odd % COUNT));
        if (i % 3 == 0) y[i] = rintf(y[i]);
    }
    size_t count = HONE_COUNT(specials);
    for (size_t i = 0; i < count * count; i++) {
        x[i] = specials[i % count];
        y[i] = specials[i / count];
    }
    x[count * count] = y[count * count] = from_bits(0x7fc00001U);
    for (uint32_t i = 0; i < COUNT && row->second != 0; i++)
        y[i] = (float)row->second;
}

static hone_status evaluate(const struct row *row, const char *target_text, bool is_scalar,
                            float *x, float *y, float *result) {
    hone_target target;
    HONE_TRY(hone_target_parse(target_text, &target));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_func *func;
    test_compiled compiled = {0};
    hone_status st = make(arena, row, is_scalar, &func);
    if (!st) st = test_compile(func, &target, &compiled);
    hone_arena_destroy(arena);
    if (st) return st;
    void *one[] = {x, result}, *two[] = {x, y, result};
    int32_t code = compiled.kernel(compiled.rt, row->of_two ? two : one, NULL);
    test_compiled_deinit(&compiled);
    return code ? HONE_ERROR(HONE_CODE_INTERNAL, "the kernel returned %d", (int)code) : HONE_OK;
}

static _Alignas(64) float xs[COUNT], ys[COUNT], results[COUNT], others[COUNT];

static bool runs_here(const char *target_text) {
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(target_text, &target));
    return hone_target_runs_here(&target);
}

static void is_close_to_libm(void **state) {
    const struct row *row = *state;
    if (!runs_here(row->target)) return;
    fill(row, xs, ys);
    HONE_ASSERT_OK(evaluate(row, row->target, row->is_scalar, xs, ys, results));
    double worst = 0;
    int at = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = (double)xs[i], y = (double)ys[i];
        double d = distance(results[i], row->of_two ? row->of_two(x, y) : row->of_one(x));
        if (!(d <= worst)) {
            worst = d;
            at = i;
        }
    }
    if (worst <= row->ulps) return;
    fail_msg("%.2f units at %.9g and %.9g: %.9g", worst, (double)xs[at], (double)ys[at],
             (double)results[at]);
}

/* Vectors of any width and scalars give the same bits. */
static void is_the_same_in_any_width(void **state) {
    const struct row *row = *state;
    static const char *const widths[] = {"host -vector-width=256", "host -vector-width=128"};
    fill(row, xs, ys);
    HONE_ASSERT_OK(evaluate(row, "host", false, xs, ys, results));
    for (size_t w = 0; w <= HONE_COUNT(widths); w++) {
        bool is_scalar = w == HONE_COUNT(widths);
        const char *target = is_scalar ? "host" : widths[w];
        HONE_ASSERT_OK(evaluate(row, target, is_scalar, xs, ys, others));
        for (int i = 0; i < COUNT; i++) {
            bool is_same = memcmp(&results[i], &others[i], sizeof results[i]) == 0 ||
                           (isnan(results[i]) && isnan(others[i]));
            if (!is_same)
                fail_msg("%.9g and %.9g at %.9g, %.9g", (double)results[i], (double)others[i],
                         (double)xs[i], (double)ys[i]);
        }
    }
}

/* clang-format off */
static const struct row own[] = {
    {"exp",     HOST, HONE_INTRIN_EXP,     .lo = -104,  .hi = 89       },
    {"exp2",    HOST, HONE_INTRIN_EXP2,    .lo = -150,  .hi = 128      },
    {"exp10",   HOST, HONE_INTRIN_EXP10,   .lo = -46,   .hi = 39       },
    {"log",     HOST, HONE_INTRIN_LOG,     .lo = 1e-30, .hi = 100      },
    {"log2",    HOST, HONE_INTRIN_LOG2,    .lo = 1e-30, .hi = 100      },
    {"log10",   HOST, HONE_INTRIN_LOG10,   .lo = 1e-30, .hi = 100      },
    {"log1p",   HOST, HONE_INTRIN_LOG1P,   .lo = -1,    .hi = 100      },
    {"sin",     HOST, HONE_INTRIN_SIN,     .lo = -1e5,  .hi = 1e5      },
    {"cos",     HOST, HONE_INTRIN_COS,     .lo = -1e5,  .hi = 1e5      },
    {"tan",     HOST, HONE_INTRIN_TAN,     .lo = -1e5,  .hi = 1e5      },
    {"asin",    HOST, HONE_INTRIN_ASIN,    .lo = -1,    .hi = 1        },
    {"acos",    HOST, HONE_INTRIN_ACOS,    .lo = -1,    .hi = 1        },
    {"atan",    HOST, HONE_INTRIN_ATAN,    .lo = -9,    .hi = 9        },
    {"sinh",    HOST, HONE_INTRIN_SINH,    .lo = -10,   .hi = 10       },
    {"cosh",    HOST, HONE_INTRIN_COSH,    .lo = -10,   .hi = 10       },
    {"tanh",    HOST, HONE_INTRIN_TANH,    .lo = -10,   .hi = 10       },
    {"asinh",   HOST, HONE_INTRIN_ASINH,   .lo = -10,   .hi = 10       },
    {"acosh",   HOST, HONE_INTRIN_ACOSH,   .lo = 1,     .hi = 10       },
    {"atanh",   HOST, HONE_INTRIN_ATANH,   .lo = -1,    .hi = 1        },
    {"erf",     HOST, HONE_INTRIN_ERF,     .lo = -5,    .hi = 5        },
    {"sigmoid", HOST, HONE_INTRIN_SIGMOID, .lo = -103,  .hi = 103      },
    {"pow",     HOST, HONE_INTRIN_POW,     .of_two = pow               },
    {"pow(x, 0.75)", HOST, HONE_INTRIN_POW, .of_two = pow, .second = 0.75},
    {"atan2",   HOST, HONE_INTRIN_ATAN2,   .of_two = atan2             },
    {"hypot",   HOST, HONE_INTRIN_HYPOT,   .of_two = hypot             },
    {"fmod",    HOST, HONE_INTRIN_FMOD,    .of_two = fmod              },
};
/* clang-format on */

int main(void) {
    int failed = HONE_RUN_ROWS("codegen/math", rows, is_close_to_libm);
    return HONE_RUN_ROWS("codegen/math, widths", own, is_the_same_in_any_width) + failed;
}
