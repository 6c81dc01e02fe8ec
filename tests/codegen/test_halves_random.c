/* tests/codegen/test_halves_random.c - random programs of 16-bit floats: every operation is rounded
 * by itself, and so is each step of a sum that is kept in 16 bits. Compiled code has the bits of
 * the interpreter, as written and under the default schedule (docs/numerics.md). HONE_SEQUENCES
 * sets how many. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "schedule/defaults/default_schedule.h"
#include "support/core/attributes.h"
#include "support/data/rng.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

enum { ROWS = 8, COLUMNS = 48, DEPTH = 4, TEXT = 4096, PROGRAMS = 3 };

static const struct row {
    const char *name, *dtype, *loop;
    bool is_scheduled;
} rows[] = {
    {"float16",              "float16",            "serial",     false},
    {"float16, vectors",     "float16",            "vectorized", false},
    {"float16, scheduled",   "float16",            "serial",     true },
    {"bfloat16",             "bfloat16",           "serial",     false},
    {"bfloat16, vectors",    "bfloat16",           "vectorized", false},
    {"bfloat16, scheduled",  "bfloat16",           "serial",     true },
    {"float8_e5m2, vectors", "float8_e5m2",        "vectorized", false},
    {"float8_e4m3, vectors", "float8_e4m3fn",      "vectorized", false},
    {"e4m3fnuz, vectors",    "float8_e4m3fnuz",    "vectorized", false},
    {"e5m2fnuz, vectors",    "float8_e5m2fnuz",    "vectorized", false},
    {"e3m4, vectors",        "float8_e3m4",        "vectorized", false},
    {"e2m3, vectors",        "float6_e2m3fn",      "vectorized", false},
    {"e3m2, vectors",        "float6_e3m2fn",      "vectorized", false},
    {"e2m1, vectors",        "float4_e2m1fn",      "vectorized", false},
    {"e8m0, vectors",        "float8_e8m0fnu",     "vectorized", false},
    {"e4m3b11, vectors",     "float8_e4m3b11fnuz", "vectorized", false},
    {"e2m3, scheduled",      "float6_e2m3fn",      "serial",     true },
};

/* The block of rows: D is what an expression gives, S a sum over it. */
static const char program[] =
    "# from tvm.script import tirx as T\n"
    "@T.prim_func(s_tir=True)\n"
    "def main(A: T.Buffer((8, 48), \"%s\"), B: T.Buffer((8, 48), \"%s\"),\n"
    "         D: T.Buffer((8, 48), \"%s\"), S: T.Buffer((8,), \"%s\")):\n"
    "    for i in range(8):\n"
    "        for j in T.%s(48):\n"
    "            with T.sblock(\"value\"):\n"
    "                v, w = T.axis.remap(\"SS\", [i, j])\n"
    "                D[v, w] = %s\n"
    "    for i, k in T.grid(8, 48):\n"
    "        with T.sblock(\"sum\"):\n"
    "            v, w = T.axis.remap(\"SR\", [i, k])\n"
    "            with T.init():\n"
    "                S[v] = T.Cast(\"%s\", T.float32(0.1))\n"
    "            S[v] = S[v] + D[v, w] * B[v, w]\n";

/* ---- expressions ---- */

static void write_value(hone_rng *rng, const char *dtype, int depth, hone_str *out);

static void write_leaf(hone_rng *rng, const char *dtype, hone_str *out) {
    static const char *const numbers[] = {"0.1", "3", "-0.7", "1e-6", "300"};
    uint32_t pick = (uint32_t)hone_rng_below(rng, 5);
    if (pick == 0) {
        hone_str_printf(out, "T.Cast(\"%s\", T.float32(%s))", dtype,
                        numbers[hone_rng_below(rng, HONE_COUNT(numbers))]);
    } else {
        hone_str_printf(out, "%s[v, w]", pick % 2 ? "A" : "B");
    }
}

static void write_call(hone_rng *rng, const char *dtype, int depth, const char *before,
                       const char *between, hone_str *out) {
    hone_str_append(out, before);
    write_value(rng, dtype, depth - 1, out);
    if (between) {
        hone_str_append(out, between);
        write_value(rng, dtype, depth - 1, out);
    }
    hone_str_append(out, ")");
}

static void write_value(hone_rng *rng, const char *dtype, int depth, hone_str *out) {
    static const char *const forms[][2] = {
        {"(",                " + "},
        {"(",                " - "},
        {"(",                " * "},
        {"(",                " * "},
        {"(",                " / "},
        {"T.max(",           ", " },
        {"T.min(",           ", " },
        {"T.sqrt(T.fabs(",   NULL },
        {"T.floor(",         NULL },
        {"T.Select(v < 3, ", ", " },
        {"T.fma(A[v, w], ",  ", " },
        {"T.nextafter(",     ", " },
        {"T.floormod(",      ", " },
    };
    if (depth == 0 || hone_rng_below(rng, 6) == 0) {
        write_leaf(rng, dtype, out);
        return;
    }
    size_t pick = hone_rng_below(rng, HONE_COUNT(forms));
    write_call(rng, dtype, depth, forms[pick][0], forms[pick][1], out);
    if (strncmp(forms[pick][0], "T.sqrt", 6) == 0) hone_str_append(out, ")");
}

/* ---- running ---- */

/* Numbers of all sizes, those without a finite product and subnormals among them. */
static void fill(hone_rng *rng, hone_tensor *t) {
    for (int64_t i = 0; i < hone_tensor_count(t); i++) {
        double unit = (double)hone_rng_between(rng, -4096, 4096) / 4096;
        int exponent = (int)hone_rng_between(rng, -3, 3);
        if (hone_rng_below(rng, 16) == 0) exponent = (int)hone_rng_between(rng, -20, 14);
        hone_tensor_set_f64(t, i, ldexp(unit, exponent));
    }
}

static void make_args(uint64_t seed, hone_dtype dtype, hone_tensor *args[5]) {
    const int64_t shape[] = {ROWS, COLUMNS};
    hone_rng rng = hone_rng_from_seed(seed);
    for (int i = 0; i < 4; i++) {
        HONE_ASSERT_OK(hone_tensor_create(dtype, i == 3 ? 1 : 2, shape, &args[i]));
        if (i < 2) fill(&rng, args[i]);
    }
    args[4] = NULL;
}

static void destroy_args(hone_tensor *args[5]) {
    for (int i = 0; i < 4; i++)
        hone_tensor_destroy(args[i]);
}

static void compare(const char *text, const char *target, hone_tensor *const *got,
                    hone_tensor *const *want) {
    for (int a = 2; a < 4; a++) {
        for (int64_t i = 0; i < hone_tensor_count(want[a]); i++) {
            double x = hone_tensor_get_f64(got[a], i), y = hone_tensor_get_f64(want[a], i);
            if (x == y ? signbit(x) == signbit(y) : isnan(x) && isnan(y)) continue;
            fail_msg("%s: element %lld of %s is %.9g, should be %.9g\n%s", target, (long long)i,
                     a == 2 ? "D" : "S", x, y, text);
        }
    }
}

static const hone_func *scheduled(const hone_func *func, const hone_target *target,
                                  hone_schedule **out_sch) {
    hone_default_limits limits = {.threads = target->num_threads,
                                  .vector_lanes = target->vector_bits / 32};
    HONE_ASSERT_OK(hone_schedule_create(func, out_sch));
    HONE_ASSERT_OK(hone_default_schedule(*out_sch, &limits));
    return (*out_sch)->func;
}

static void check_program(const struct row *row, uint64_t seed, const char *text) {
    static const char *const targets[] = {"host", "llvm -mcpu=x86-64", "llvm -mcpu=x86-64-v3", "c",
                                          "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1"};
    hone_module *module;
    hone_dtype dtype;
    hone_tensor *want[5], *got[5];
    const hone_func *func = hone_test_parse(text, &module);
    assert_true(hone_dtype_parse(row->dtype, &dtype));
    make_args(seed, dtype, want);
    HONE_ASSERT_OK(hone_interp_func(func, want, 4, &(hone_interp_options){0}));
    for (size_t t = 0; t < HONE_COUNT(targets); t++) {
        hone_target target;
        hone_schedule *sch = NULL;
        HONE_ASSERT_OK(hone_target_parse(targets[t], &target));
        if (target.kind != HONE_TARGET_C && !test_can_run(&target)) continue;
        const hone_func *given = row->is_scheduled ? scheduled(func, &target, &sch) : func;
        make_args(seed, dtype, got);
        HONE_ASSERT_OK(test_run(given, &target, got));
        compare(text, targets[t], got, want);
        destroy_args(got);
        hone_schedule_destroy(sch);
    }
    destroy_args(want);
    hone_module_release(module);
}

static void rounds_each_operation(void **state) {
    const struct row *row = *state;
    uint64_t count = hone_test_count(PROGRAMS), first = hone_test_seed(1);
    for (uint64_t i = 0; i < count; i++) {
        char text[TEXT];
        hone_rng rng = hone_rng_from_seed(first + i);
        hone_str value = {0};
        write_value(&rng, row->dtype, DEPTH, &value);
        snprintf(text, sizeof text, program, row->dtype, row->dtype, row->dtype, row->dtype,
                 row->loop, hone_str_text(&value), row->dtype);
        hone_str_deinit(&value);
        check_program(row, first + i, text);
    }
}

int main(void) {
    return HONE_RUN_ROWS("codegen/halves_random", rows, rounds_each_operation);
}
