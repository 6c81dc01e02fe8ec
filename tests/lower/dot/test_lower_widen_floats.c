/* tests/lower/dot/test_lower_widen_floats.c - copies of short floats that are widened wherever they
 * are read become float32, others stay; products of short floats under default schedules mean the
 * same behind all passes. */
#include <stdio.h>
#include <string.h>

#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "schedule/defaults/default_schedule.h"
#include "tests/lower/pass_rows.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

enum { PRODUCTS = 40 };

#define PRODUCT(type, columns, last, copied, read)                                                 \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((40, 24), \"" type "\"), W: T.Buffer((24, 16), \"" type "\"), "          \
    "Y: T.Buffer((40, 16), \"float32\")):\n"                                                       \
    "    P = T.alloc_buffer((24, " last "), \"" type "\")\n"                                       \
    "    for k, j in T.grid(24, " columns "):\n"                                                   \
    "        P[k, j] = " copied "\n"                                                               \
    "    for i, j in T.grid(40, " columns "):\n"                                                   \
    "        Y[i, j] = T.float32(0)\n"                                                             \
    "        for k in range(24):\n"                                                                \
    "            Y[i, j] = Y[i, j] + T.Cast(\"float32\", A[i, k]) * " read "\n"
#define OPEN                                                                                       \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(w: T.handle, y: T.handle):\n"                                                        \
    "    n = T.int32()\n"                                                                          \
    "    W = T.match_buffer(w, (n, n, 4), \"float16\")\n"                                          \
    "    Y = T.match_buffer(y, (n, n, 4, 8), \"float32\")\n"                                       \
    "    P = T.alloc_buffer((n, n, 4), \"float16\")\n"                                             \
    "    for i, k, j in T.grid(n, n, 4):\n"                                                        \
    "        P[i, k, j] = W[i, k, j]\n"                                                            \
    "    for i, k, j, l in T.grid(n, n, 4, 8):\n"                                                  \
    "        Y[i, k, j, l] = T.Cast(\"float32\", P[i, k, j])\n"
#define WISHED                                                                                     \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((40, 24), \"bfloat16\"), Y: T.Buffer((40,), \"float32\")):\n"            \
    "    P = T.alloc_buffer((40, 24), \"bfloat16\")\n"                                             \
    "    for i, k in T.grid(40, 24):\n"                                                            \
    "        P[i, k] = A[i, k]\n"                                                                  \
    "    for i in range(40):\n"                                                                    \
    "        Y[i] = T.float32(0)\n"                                                                \
    "        for k in T.serial(24, annotations={\"pragma_bf16_dot\": 1}):\n"                       \
    "            for l in range(24):\n"                                                            \
    "                Y[i] = Y[i] + T.Cast(\"float32\", P[i, k]) * T.Cast(\"float32\", P[i, l])\n"
#define WIDENED "T.Cast(\"float32\", P[k, j])"

static const struct row rows[] = {
    {"a copy of float16",                 PRODUCT("float16",           "16",                                               "16",  "W[k, j]",           WIDENED),
     "    P = T.alloc_buffer((24, 16))\n"                                                                                                                                                                                        },
    {"what is stored is widened",         PRODUCT("float16",           "16",                                               "16",  "W[k, j]",           WIDENED),
     "        P[k, j] = T.Cast(\"float32\", W[k, j])\n"                                                                                                                                                                          },
    {"what is read is wide",              PRODUCT("float16",           "16",                                               "16",  "W[k, j]",           WIDENED),
     "T.Cast(\"float32\", A[i, k]) * P[k, j]\n"                                                                                                                                                                                  },
    {"a copy of bfloat16",                PRODUCT("bfloat16",          "16",                                               "16",  "W[k, j]",           WIDENED),
     "    P = T.alloc_buffer((24, 16))\n"                                                                                                                                                                                        },
    {"what is computed is rounded first",
     PRODUCT("float16",                                                "16",                                               "16",  "W[k, j] * W[k, j]", WIDENED),
     "        P[k, j] = T.Cast(\"float32\", W[k, j] * W[k, j])\n"                                                                                                                                                                },
    {"which is read too seldom",          PRODUCT("float16",           "16",                                               "600", "W[k, j]",           WIDENED),
     "    P = T.alloc_buffer((24, 600), \"float16\")\n"                                                                                                                                                                          },
    {"whose size is not known",           OPEN,                        "    P = T.alloc_buffer((n, n, 4), \"float16\")\n"},
    {"pairs",                          PRODUCT("bfloat16",                                             "2",                                                                    "2",      "W[k, j]",                   WIDENED),
     "    P = T.alloc_buffer((24, 2), \"bfloat16\")\n"},
    {"which is read as it is, too",
     PRODUCT("float16",            "16",                                                                    "16",                                                                         "W[k, j]",                                                                "T.Cast(\"float32\", P[k, j] + P[k, j])"),
     "    P = T.alloc_buffer((24, 16), \"float16\")\n"                                                                                                                                                                                          },
    {"which becomes float64",
     PRODUCT("float16", "16",                                                                    "16",                                                                         "W[k, j]",                                                                      "T.Cast(\"float32\", T.Cast(\"float64\", P[k, j]))"),
     "    P = T.alloc_buffer((24, 16), \"float16\")\n"                                                                                                                                                                                                     },
};

static const struct row wished[] = {
    {"which is to be a dot product", WISHED, "    P = T.alloc_buffer((40, 24), \"bfloat16\")\n"},
};

static void check_row(void **state) {
    hone_check_behind_pass(*state, "widen_floats");
}

/* ---- products ---- */

static int between(hone_rng *rng, int low, int high) {
    return (int)hone_rng_between(rng, low, high);
}

/* Of a batch or not, either side turned or not, and of float32 or not, rounded behind the sum or
 * not. */
static void print_product(hone_rng *rng, hone_str *text) {
    static const char *const types[] = {"float16", "bfloat16", "float32"};
    bool x_turned = between(rng, 0, 1), w_turned = between(rng, 0, 1);
    const char *x = types[between(rng, 0, 2)], *w = types[between(rng, 0, 1)];
    hone_str_printf(text,
                    "B, M, N, K = %d, %d, %d, %d\n"
                    "@T.prim_func\n"
                    "def main(X: T.Buffer((B, %s), \"%s\"), W: T.Buffer((B, %s), \"%s\"), "
                    "Y: T.Buffer((B, M, N), \"%s\")):\n"
                    "    R = T.alloc_buffer((B, M, N))\n",
                    between(rng, 1, 2), between(rng, 1, 40), between(rng, 1, 50),
                    between(rng, 1, 9), x_turned ? "K, M" : "M, K", x, w_turned ? "N, K" : "K, N",
                    w, w);
    hone_str_printf(text,
                    "    for b, i, j, k in T.grid(B, M, N, K):\n"
                    "        with T.block(\"matmul\"):\n"
                    "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
                    "            with T.init():\n"
                    "                R[vb, vi, vj] = T.float32(0)\n"
                    "            R[vb, vi, vj] = R[vb, vi, vj] + T.Cast(\"float32\", X[vb, %s]) * "
                    "T.Cast(\"float32\", W[vb, %s])\n"
                    "    for b, i, j in T.grid(B, M, N):\n"
                    "        with T.block(\"out\"):\n"
                    "            vb, vi, vj = T.axis.remap(\"SSS\", [b, i, j])\n"
                    "            Y[vb, vi, vj] = T.Cast(\"%s\", R[vb, vi, vj])\n",
                    x_turned ? "vk, vi" : "vi, vk", w_turned ? "vj, vk" : "vk, vj", w);
}

static bool has_wide_copy(const hone_func *func) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        const char *copy = strstr(func->buffers[b].name, "_global");
        if (copy && hone_dtype_equal(func->buffers[b].dtype, HONE_DTYPE_F32)) return true;
    }
    return false;
}

static bool is_right(const char *text, uint64_t seed, int *io_widened) {
    const hone_default_limits limits = {.threads = 1,
                                        .vector_lanes = seed % 2 ? 8 : 16,
                                        .vector_registers = seed % 2 ? 16 : 32,
                                        .l1_bytes = 1 << 15,
                                        .l2_bytes = 1 << 20};
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    hone_target target;
    hone_func *lowered = NULL;
    hone_str why = {0};
    const hone_func *func = hone_test_parse(text, &module);
    HONE_ASSERT_OK(hone_target_parse(seed % 2 ? "x86-64-v3" : "x86-64-v4", &target));
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_default_schedule(sch, &limits));
    hone_arena *arena = hone_arena_create(1 << 12);
    HONE_ASSERT_OK(
        hone_lower_func(sch->func, &(hone_lower_options){.target = &target}, arena, &lowered));
    bool is_good = hone_test_agrees(func, lowered, seed, &why);
    if (!is_good) fprintf(stderr, "%s\n%s\n", hone_str_text(&why), text);
    *io_widened += has_wide_copy(lowered);
    hone_str_deinit(&why);
    hone_arena_destroy(arena);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    return is_good;
}

/* A sixth of them at least are wide enough for copies. */
static void products_of_short_floats_are_right(void **state) {
    uint64_t count = hone_test_count(PRODUCTS), first = hone_test_seed(0);
    int widened = 0, tried = 0;
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++, tried++) {
        hone_rng rng = hone_rng_from_seed(seed);
        hone_str text = {0};
        print_product(&rng, &text);
        bool is_good = is_right(hone_str_text(&text), seed, &widened);
        hone_str_deinit(&text);
        if (!is_good) fail_msg("seed %llu", (unsigned long long)seed);
    }
    assert_true(tried < 20 || 6 * widened >= tried);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_of_short_floats_are_right)};
    int failed = HONE_RUN_ROWS("lower/widen floats", rows, check_row);
    failed += HONE_RUN_ROWS("lower/widen no pairs", wished, check_row);
    return failed +
           cmocka_run_group_tests_name("lower/products of short floats", tests, NULL, NULL);
}
