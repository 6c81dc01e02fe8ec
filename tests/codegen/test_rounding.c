/* tests/codegen/test_rounding.c - casts to small floats round once: numbers close to the middle
 * between two of them, in wider types than float. Casts to integers go toward zero and stop at the
 * ends of their range. Compiled code gives the bits of the interpreter, which are those of numpy
 * (float16). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "support/core/attributes.h"
#include "support/data/rng.h"
#include "tests/support/compiled.h"
#include "tests/support/elsewhere.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

enum { COUNT = 6000 };

static const struct row {
    const char *name, *from, *to, *bits;
    int mantissa, least, most; /* exponents to try */
} rows[] = {
    {"float64 to float16",        "float64",  "float16",            "uint16", 10, -30,  17 },
    {"float64 to bfloat16",       "float64",  "bfloat16",           "uint16", 7,  -150, 129},
    {"float64 to float8_e4m3fn",  "float64",  "float8_e4m3fn",      "uint8",  3,  -14,  7  },
    {"float64 to float8_e5m2",    "float64",  "float8_e5m2",        "uint8",  2,  -22,  18 },
    {"float64 to e4m3fnuz",       "float64",  "float8_e4m3fnuz",    "uint8",  3,  -14,  7  },
    {"float64 to e5m2fnuz",       "float64",  "float8_e5m2fnuz",    "uint8",  2,  -22,  18 },
    {"float64 to e4m3b11fnuz",    "float64",  "float8_e4m3b11fnuz", "uint8",  3,  -18,  5  },
    {"float64 to float8_e8m0fnu", "float64",  "float8_e8m0fnu",     "uint8",  0,  -140, 130},
    {"int32 to bfloat16",         "int32",    "bfloat16",           "uint16", 7,  8,    30 },
    {"uint32 to bfloat16",        "uint32",   "bfloat16",           "uint16", 7,  8,    31 },
    {"int64 to bfloat16",         "int64",    "bfloat16",           "uint16", 7,  8,    52 },
    {"int32 to float16",          "int32",    "float16",            "uint16", 10, 8,    18 },
    {"float32 to int8",           "float32",  "int8",               "int8",   3,  -3,   9  },
    {"float32 to uint8",          "float32",  "uint8",              "uint8",  3,  -3,   9  },
    {"float32 to int16",          "float32",  "int16",              "int16",  9,  -3,   17 },
    {"float32 to uint16",         "float32",  "uint16",             "uint16", 9,  -3,   17 },
    {"float32 to int32",          "float32",  "int32",              "int32",  20, 10,   34 },
    {"float32 to uint32",         "float32",  "uint32",             "uint32", 20, 10,   34 },
    {"float32 to int64",          "float32",  "int64",              "int64",  20, 40,   66 },
    {"float32 to uint64",         "float32",  "uint64",             "uint64", 20, 40,   66 },
    {"float64 to int8",           "float64",  "int8",               "int8",   3,  -3,   9  },
    {"float64 to int32",          "float64",  "int32",              "int32",  20, 10,   34 },
    {"float64 to uint32",         "float64",  "uint32",             "uint32", 20, 10,   34 },
    {"float64 to int64",          "float64",  "int64",              "int64",  40, 40,   66 },
    {"float64 to uint64",         "float64",  "uint64",             "uint64", 40, 40,   66 },
    {"float16 to int8",           "float16",  "int8",               "int8",   3,  -3,   9  },
    {"bfloat16 to uint32",        "bfloat16", "uint32",             "uint32", 5,  10,   34 },
};

static const char program[] =
    "# from tvm.script import tirx as T\n"
    "@T.prim_func(s_tir=True)\n"
    "def main(A: T.Buffer((6000,), \"%s\"), B: T.Buffer((6000,), \"%s\")):\n"
    "    for i0 in range(500):\n"
    "        for i1 in T.%s(12):\n"
    "            with T.sblock(\"cast\"):\n"
    "                v = T.axis.spatial(6000, i0 * 12 + i1)\n"
    "                B[v] = T.reinterpret(\"%s\", T.cast(A[v], \"%s\"))\n";

/* 1.mmmm1 times a power of two, and as little as can be more or less. */
static double near_middle(hone_rng *rng, const struct row *row) {
    int64_t top =
        hone_rng_between(rng, (int64_t)1 << row->mantissa, ((int64_t)2 << row->mantissa) - 1);
    int64_t bits = (2 * top + 1) << (51 - row->mantissa);
    bits += hone_rng_between(rng, -1, 1);
    double value = ldexp((double)bits, (int)hone_rng_between(rng, row->least, row->most) - 52);
    return hone_rng_below(rng, 2) ? -value : value;
}

static bool is_small_float(const char *name) {
    return strstr(name, "float") != NULL;
}

/* Powers of two, what lies just below them, and what is no number. */
static void fill_ends(hone_tensor *a) {
    static const double others[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e30};
    int64_t at = 0;
    for (size_t i = 0; i < HONE_COUNT(others); i++)
        hone_tensor_set_f64(a, at++, others[i]);
    for (int e = -2; e <= 66; e++) {
        double power = ldexp(1, e), below = nextafter(power, 0),
               low = (double)nextafterf((float)power, 0);
        double three[] = {power, below, low};
        for (size_t i = 0; i < HONE_COUNT(three); i++) {
            hone_tensor_set_f64(a, at++, three[i]);
            hone_tensor_set_f64(a, at++, -three[i]);
        }
    }
}

static void fill(const struct row *row, hone_tensor *a) {
    hone_rng rng = hone_test_rng(7);
    for (int64_t i = 0; i < COUNT; i++) {
        double value = near_middle(&rng, row);
        if (hone_dtype_is_float(a->dtype)) {
            hone_tensor_set_f64(a, i, value);
        } else {
            int64_t off = hone_rng_between(&rng, -1, 1);
            int64_t number = (int64_t)(hone_dtype_is_int(a->dtype) ? value : fabs(value));
            hone_tensor_set_i64(a, i, number + (number > 1 ? off : 0));
        }
    }
    if (hone_dtype_is_float(a->dtype) && !is_small_float(row->to)) fill_ends(a);
}

static void check(const struct row *row, const char *loop) {
    static const char *const targets[] = {"host", "llvm -mcpu=x86-64", "llvm -mcpu=x86-64-v3", "c",
                                          "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1"};
    char text[1024];
    hone_module *module;
    hone_tensor *args[3] = {0}, *want;
    snprintf(text, sizeof text, program, row->from, row->bits, loop, row->bits, row->to);
    const hone_func *func = hone_test_parse(text, &module);
    for (uint32_t i = 0; i < 2; i++) {
        hone_dtype dtype = hone_func_buffer(func, func->params[i].buffer)->dtype;
        HONE_ASSERT_OK(hone_tensor_create(dtype, 1, (const int64_t[]){COUNT}, &args[i]));
    }
    fill(row, args[0]);
    HONE_ASSERT_OK(hone_interp_func(func, args, 2, &(hone_interp_options){0}));
    HONE_ASSERT_OK(hone_tensor_clone(args[1], &want));
    for (size_t t = 0; t < HONE_COUNT(targets); t++) {
        hone_target target;
        HONE_ASSERT_OK(hone_target_parse(targets[t], &target));
        if (target.kind != HONE_TARGET_C && !test_can_run(&target)) continue;
        memset(args[1]->data, 0, hone_tensor_bytes(args[1]));
        HONE_ASSERT_OK(test_run(func, &target, args));
        for (int64_t i = 0; i < COUNT; i++) {
            int64_t got = hone_tensor_get_i64(args[1], i), should = hone_tensor_get_i64(want, i);
            if (got == should) continue;
            fail_msg("%s, %s: %.17g becomes %#llx, should be %#llx", row->name, targets[t],
                     hone_tensor_get_f64(args[0], i), (unsigned long long)got,
                     (unsigned long long)should);
        }
    }
    hone_tensor_destroy(args[0]);
    hone_tensor_destroy(args[1]);
    hone_tensor_destroy(want);
    hone_module_release(module);
}

static void rounds_once(void **state) {
    const struct row *row = *state;
    check(row, "serial");
    check(row, "vectorized");
}

int main(void) {
    return HONE_RUN_ROWS("codegen/rounding", rows, rounds_once);
}
