/* tests/codegen/test_vecmath_small.c - the math functions of all float16 and bfloat16 numbers, and
 * of float32 numbers (every HONE_STRIDE-th one; 1 takes hours), in generated code against libm in
 * double. Small ones are computed as float32 and rounded once: half a unit and what float32 adds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/te/te.h"
#include "support/data/float16.h"
#include "tests/codegen/derived_math.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { COUNT = 65536 };

static const struct row {
    const char *name;
    hone_intrin intrin;
    double (*want)(double);
} rows[] = {
    {"exp",     HONE_INTRIN_EXP,     exp    },
    {"exp2",    HONE_INTRIN_EXP2,    exp2   },
    {"exp10",   HONE_INTRIN_EXP10,   exp10_ },
    {"log",     HONE_INTRIN_LOG,     log    },
    {"log2",    HONE_INTRIN_LOG2,    log2   },
    {"log10",   HONE_INTRIN_LOG10,   log10  },
    {"log1p",   HONE_INTRIN_LOG1P,   log1p  },
    {"sin",     HONE_INTRIN_SIN,     sin    },
    {"cos",     HONE_INTRIN_COS,     cos    },
    {"tan",     HONE_INTRIN_TAN,     tan    },
    {"asin",    HONE_INTRIN_ASIN,    asin   },
    {"acos",    HONE_INTRIN_ACOS,    acos   },
    {"atan",    HONE_INTRIN_ATAN,    atan   },
    {"sinh",    HONE_INTRIN_SINH,    sinh   },
    {"cosh",    HONE_INTRIN_COSH,    cosh   },
    {"tanh",    HONE_INTRIN_TANH,    tanh   },
    {"asinh",   HONE_INTRIN_ASINH,   asinh  },
    {"acosh",   HONE_INTRIN_ACOSH,   acosh  },
    {"atanh",   HONE_INTRIN_ATANH,   atanh  },
    {"erf",     HONE_INTRIN_ERF,     erf    },
    {"sigmoid", HONE_INTRIN_SIGMOID, sigmoid},
    {"sqrt",    HONE_INTRIN_SQRT,    sqrt   },
    {"rsqrt",   HONE_INTRIN_RSQRT,   rsqrt_ },
};

static const char *const targets[] = {
    "host",
    "llvm -mcpu=x86-64-v3",
    "llvm -mcpu=x86-64",
    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
    "c",
};

static hone_status make(hone_arena *arena, const struct row *row, hone_dtype dtype,
                        hone_func **out) {
    hone_te te;
    HONE_TRY(hone_te_begin(&te, arena, "math"));
    const hone_expr *n = hone_te_int(&te, COUNT);
    hone_buffer a = hone_te_input(&te, "A", dtype, 1, &n);
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 1, &n, 0, NULL);
    const hone_expr *x = hone_te_load(&te, a, s.axis);
    hone_buffer c =
        hone_te_compute(&te, &s, "C", hone_expr_call(&te.ir, dtype, row->intrin, 1, &x));
    HONE_TRY(hone_te_finish(&te, 1, &c, out));
    hone_node_id loop = hone_tree_first_of(*out, 0, HONE_NODE_FOR);
    hone_func_node(*out, loop)->loop_kind = HONE_LOOP_VECTORIZED;
    return HONE_OK;
}

/* ---- small floats ---- */

static double of_bits(hone_dtype dtype, uint32_t bits) {
    return hone_short_float_load(dtype, bits);
}

/* In units of the last place; those of float32 come on top. */
static double small_distance(hone_dtype dtype, uint32_t got_bits, double want) {
    double got = of_bits(dtype, got_bits);
    uint32_t rounded = hone_short_float_store(dtype, want);
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (rounded == got_bits) return 0;
    if (got == 0 && want == 0) return INFINITY; /* another sign */
    double largest = hone_dtype_equal(dtype, HONE_DTYPE_F16) ? 65504.0 : 0x1.fep127;
    if (isinf(got)) return fabs(want) > largest ? 0 : INFINITY;
    uint32_t size = rounded & 0x7fff;
    double unit = fabs(of_bits(dtype, size ? size : 1) - of_bits(dtype, size ? size - 1 : 0));
    return fabs(got - want) / unit;
}

static void check_small(const struct row *row, hone_dtype dtype, const char *text) {
    hone_target target;
    hone_func *func;
    HONE_ASSERT_OK(hone_target_parse(text, &target));
    if (target.kind == HONE_TARGET_LLVM && !test_can_run(&target)) return;
    hone_arena *arena = hone_arena_create(1 << 14);
    HONE_ASSERT_OK(make(arena, row, dtype, &func));
    hone_tensor **args = hone_test_make_args(func, 1);
    uint16_t *x = args[0]->data, *y = args[1]->data;
    for (uint32_t i = 0; i < COUNT; i++)
        x[i] = (uint16_t)i;
    HONE_ASSERT_OK(test_run(func, &target, args));
    for (uint32_t i = 0; i < COUNT; i++) {
        double at = of_bits(dtype, i), d = small_distance(dtype, y[i], row->want(at));
        if (d > 0.51) fail_msg("%s: %.2f units at %.9g: %.9g", text, d, at, of_bits(dtype, y[i]));
    }
    hone_test_free_args(func, args);
    hone_arena_destroy(arena);
}

static void all_of_float16(void **state) {
    for (size_t t = 0; t < HONE_COUNT(targets); t++)
        check_small(*state, HONE_DTYPE_F16, targets[t]);
}

static void all_of_bfloat16(void **state) {
    for (size_t t = 0; t < HONE_COUNT(targets); t++)
        check_small(*state, HONE_DTYPE_BF16, targets[t]);
}

/* ---- float32 ---- */

static double distance(float got, double want) {
    float rounded = (float)want;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (rounded == got) return signbit(rounded) == signbit(got) || rounded != 0 ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got)) {
        return fabs(want) > 3.4e38 && fabsf(got) > 3.4e38f ? 0 : INFINITY;
    }
    double unit = fabs((double)nextafterf(fabsf(rounded), INFINITY) - fabs((double)rounded));
    return fabs((double)got - want) / unit;
}

static double sweep(const struct row *row, const test_compiled *compiled, uint64_t stride) {
    static _Alignas(64) float x[COUNT], y[COUNT];
    double worst = 0;
    for (uint64_t first = 0; first <= UINT32_MAX; first += stride * COUNT) {
        for (uint64_t i = 0; i < COUNT; i++) {
            uint32_t bits = (uint32_t)(first + i * stride);
            memcpy(&x[i], &bits, sizeof bits);
        }
        void *buffers[] = {x, y};
        assert_int_equal(compiled->kernel(compiled->rt, buffers, NULL), 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            double d = distance(y[i], row->want((double)x[i]));
            if (d > 4) fail_msg("%.2f units at %.9g: %.9g", d, (double)x[i], (double)y[i]);
            if (d > worst) worst = d;
        }
    }
    return worst;
}

static void much_of_float32(void **state) {
    const struct row *row = *state;
    const char *wanted = getenv("HONE_STRIDE");
    uint64_t stride = wanted ? strtoull(wanted, NULL, 10) : 16381;
    for (size_t t = 0; t < 3; t++) {
        hone_target target;
        hone_func *func;
        HONE_ASSERT_OK(hone_target_parse(targets[t], &target));
        if (!hone_target_runs_here(&target)) continue;
        hone_arena *arena = hone_arena_create(1 << 14);
        test_compiled compiled = {0};
        HONE_ASSERT_OK(make(arena, row, HONE_DTYPE_F32, &func));
        HONE_ASSERT_OK(test_compile(func, &target, &compiled));
        double worst = sweep(row, &compiled, stride > 0 ? stride : 1);
        if (wanted) print_message("%s, %s: %.2f\n", row->name, targets[t], worst);
        test_compiled_deinit(&compiled);
        hone_arena_destroy(arena);
    }
}

int main(void) {
    return HONE_RUN_ROWS("codegen/math of float16", rows, all_of_float16) +
           HONE_RUN_ROWS("codegen/math of bfloat16", rows, all_of_bfloat16) +
           HONE_RUN_ROWS("codegen/math of float32", rows, much_of_float32);
}
