/* tests/codegen/test_vecmath_wide.c - the math functions of float64 in generated code against libm
 * in long double, in units of the last place: all bit patterns sampled, the range where something
 * happens, special values beside each other; as vectors and scalars, with and without FMA, on
 * 64-bit ARM where it can be run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/te/te.h"
#include "support/data/rng.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { COUNT = 49152 };

static long double sigmoid(long double x) {
    return 1 / (1 + expl(-x));
}
static long double rsqrt_(long double x) {
    return 1 / sqrtl(x);
}
static long double exp10_(long double x) {
    return powl(10, x);
}

/* clang-format off */
static const struct row {
    const char *name;
    hone_intrin intrin;
    double lo, hi; /* where something happens */
    long double (*of_one)(long double);
    long double (*of_two)(long double, long double);
    double ulps; /* units at most */
} rows[] = {
    {"exp",     HONE_INTRIN_EXP,     -746,  710,  .of_one = expl,    .ulps = 2},
    {"exp2",    HONE_INTRIN_EXP2,    -1076, 1025, .of_one = exp2l,   .ulps = 2},
    {"exp10",   HONE_INTRIN_EXP10,   -325,  309,  .of_one = exp10_,  .ulps = 3},
    {"log",     HONE_INTRIN_LOG,     0.4,   3,    .of_one = logl,    .ulps = 2},
    {"log2",    HONE_INTRIN_LOG2,    0.4,   3,    .of_one = log2l,   .ulps = 3},
    {"log10",   HONE_INTRIN_LOG10,   0.4,   3,    .of_one = log10l,  .ulps = 3},
    {"log1p",   HONE_INTRIN_LOG1P,   -1,    3,    .of_one = log1pl,  .ulps = 2},
    {"sin",     HONE_INTRIN_SIN,     -20,   20,   .of_one = sinl,    .ulps = 3},
    {"sin far", HONE_INTRIN_SIN,     -2e6,  2e6,  .of_one = sinl,    .ulps = 3},
    {"cos",     HONE_INTRIN_COS,     -20,   20,   .of_one = cosl,    .ulps = 3},
    {"cos far", HONE_INTRIN_COS,     -2e6,  2e6,  .of_one = cosl,    .ulps = 3},
    {"tan",     HONE_INTRIN_TAN,     -20,   20,   .of_one = tanl,    .ulps = 4},
    {"asin",    HONE_INTRIN_ASIN,    -1,    1,    .of_one = asinl,   .ulps = 3},
    {"acos",    HONE_INTRIN_ACOS,    -1,    1,    .of_one = acosl,   .ulps = 3},
    {"atan",    HONE_INTRIN_ATAN,    -4,    4,    .of_one = atanl,   .ulps = 3},
    {"sinh",    HONE_INTRIN_SINH,    -6,    6,    .of_one = sinhl,   .ulps = 3},
    {"sinh end", HONE_INTRIN_SINH,   700,   711,  .of_one = sinhl,   .ulps = 3},
    {"cosh",    HONE_INTRIN_COSH,    -711,  711,  .of_one = coshl,   .ulps = 3},
    {"tanh",    HONE_INTRIN_TANH,    -5,    5,    .of_one = tanhl,   .ulps = 4},
    {"asinh",   HONE_INTRIN_ASINH,   -5,    5,    .of_one = asinhl,  .ulps = 4},
    {"acosh",   HONE_INTRIN_ACOSH,   1,     5,    .of_one = acoshl,  .ulps = 4},
    {"atanh",   HONE_INTRIN_ATANH,   -1,    1,    .of_one = atanhl,  .ulps = 4},
    {"erf",     HONE_INTRIN_ERF,     -6.5,  6.5,  .of_one = erfl,    .ulps = 4},
    {"sigmoid", HONE_INTRIN_SIGMOID, -750,  750,  .of_one = sigmoid, .ulps = 4},
    {"sqrt",    HONE_INTRIN_SQRT,    0,     100,  .of_one = sqrtl,   .ulps = 0.501},
    {"rsqrt",   HONE_INTRIN_RSQRT,   0,     100,  .of_one = rsqrt_,  .ulps = 2},
    {"pow",     HONE_INTRIN_POW,     -40,   40,   .of_two = powl,    .ulps = 2},
    {"pow near 1", HONE_INTRIN_POW,  0.9,   1.1,  .of_two = powl,    .ulps = 2},
    {"atan2",   HONE_INTRIN_ATAN2,   -3,    3,    .of_two = atan2l,  .ulps = 4},
    {"hypot",   HONE_INTRIN_HYPOT,   -3,    3,    .of_two = hypotl,  .ulps = 2},
    {"fmod",    HONE_INTRIN_FMOD,    -1e4,  10,   .of_two = fmodl,   .ulps = 0},
};

static const double specials[] = {
    0.0,    -0.0,    INFINITY, -INFINITY, NAN,     5e-324,   1e-310,   -1e-310,
    1.0,    -1.0,    1.7e308,  -1.7e308,  709.78,  710.5,    -708.4,   -745.2,
    0.5,    -0.5,    2.0,      -3.0,      4.0,     3.141592653589793,  1.5707963267948966, -2.5,
    1e300,  -9007199254740993.0, 1e22,    1599999.0, 1600001.0, 4503599627370497.0, 710.4, -0.99999999999999989,
};

static const char *const targets[] = {
    "host",
    "llvm -mcpu=x86-64-v3",
    "llvm -mcpu=x86-64",
    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
};
/* clang-format on */

static hone_status make(hone_arena *arena, const struct row *row, bool is_scalar, hone_func **out) {
    hone_te te;
    HONE_TRY(hone_te_begin(&te, arena, "math"));
    const hone_expr *n = hone_te_int(&te, COUNT);
    hone_buffer a = hone_te_input(&te, "A", HONE_DTYPE_F64, 1, &n);
    hone_buffer b = hone_te_input(&te, "B", HONE_DTYPE_F64, 1, &n);
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 1, &n, 0, NULL);
    const hone_expr *x[] = {hone_te_load(&te, a, s.axis), hone_te_load(&te, b, s.axis)};
    const hone_expr *call =
        hone_expr_call(&te.ir, HONE_DTYPE_F64, row->intrin, row->of_two ? 2 : 1, x);
    hone_buffer c = hone_te_compute(&te, &s, "C", call);
    HONE_TRY(hone_te_finish(&te, 1, &c, out));
    hone_node_id loop = hone_tree_first_of(*out, 0, HONE_NODE_FOR);
    hone_func_node(*out, loop)->loop_kind = is_scalar ? HONE_LOOP_UNROLLED : HONE_LOOP_VECTORIZED;
    return HONE_OK;
}

/* How far apart, in units of the last place of the wanted result. */
static double distance(double got, long double want) {
    double rounded = (double)want;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (rounded == got) return signbit(rounded) == signbit(got) || rounded != 0 ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got)) {
        return fabsl(want) > 1.797e308L && fabs(got) > 1.797e308 ? 0 : INFINITY;
    }
    long double unit = (long double)nextafter(fabs(rounded), INFINITY) - (long double)fabs(rounded);
    return (double)(fabsl((long double)got - want) / unit);
}

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void fill(const struct row *row, double *x, double *y) {
    hone_rng rng = hone_test_rng(11);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t bits = hone_rng_next(&rng), other = hone_rng_next(&rng);
        double step = (row->hi - row->lo) / (COUNT - 1);
        bool is_everywhere = i % 3 == 0;
        x[i] =
            is_everywhere ? from_bits(bits) : row->lo + step * (i + (double)(bits >> 40) * 0x1p-24);
        y[i] = is_everywhere ? from_bits(other)
                             : row->lo + (row->hi - row->lo) * ((double)(other >> 11) * 0x1p-53);
        if (row->intrin == HONE_INTRIN_POW && row->lo > 0) y[i] *= 5000;
        if (i % 7 == 0) y[i] = rint(y[i]);
    }
    size_t count = HONE_COUNT(specials);
    for (size_t i = 0; i < count * count; i++) {
        x[i] = specials[i % count];
        y[i] = specials[i / count];
    }
}

static void check(const struct row *row, const char *target, bool is_scalar,
                  hone_tensor *const *args) {
    const double *x = args[0]->data, *y = args[1]->data, *z = args[2]->data;
    double worst = 0;
    int at = 0;
    for (int i = 0; i < COUNT; i++) {
        long double want = row->of_two ? row->of_two((long double)x[i], (long double)y[i])
                                       : row->of_one((long double)x[i]);
        double d = distance(z[i], want);
        if (!(d <= worst)) {
            worst = d;
            at = i;
        }
    }
    if (getenv("HONE_SHOW")) print_message("%s, %s: %.2f\n", row->name, target, worst);
    if (worst <= row->ulps) return;
    fail_msg("%s%s: %.2f units at %.17g and %.17g: %.17g", target, is_scalar ? ", scalar" : "",
             worst, x[at], y[at], z[at]);
}

static void is_close_to_libm(void **state) {
    const struct row *row = *state;
    hone_arena *arena = hone_arena_create(1 << 14);
    for (size_t t = 0; t <= HONE_COUNT(targets); t++) {
        bool is_scalar = t == HONE_COUNT(targets);
        const char *text = targets[is_scalar ? 0 : t];
        hone_target target;
        HONE_ASSERT_OK(hone_target_parse(text, &target));
        if (!test_can_run(&target)) continue;
        hone_func *func;
        HONE_ASSERT_OK(make(arena, row, is_scalar, &func));
        hone_tensor **args = hone_test_make_args(func, 1);
        fill(row, args[0]->data, args[1]->data);
        HONE_ASSERT_OK(test_run(func, &target, args));
        check(row, text, is_scalar, args);
        hone_test_free_args(func, args);
    }
    hone_arena_destroy(arena);
}

int main(void) {
    return HONE_RUN_ROWS("codegen/math of float64", rows, is_close_to_libm);
}
