/* tests/costmodel/test_feature.c - features of programs whose numbers can be worked out by hand. */
#include <math.h>
#include <string.h>

#include "costmodel/feature.h"
#include "ir/text/read/script.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

/* C[128, 64] += A[128, 32] * B[32, 64], its loops and bindings as given. */
#define MATMUL(loops, bindings, dtype)                                                             \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((128, 32), \"" dtype "\"), B: T.Buffer((32, 64), \"" dtype "\"),\n"      \
    "         C: T.Buffer((128, 64), \"" dtype "\")):\n"                                           \
    "    for " loops ":\n"                                                                         \
    "        with T.block(\"C\"):\n"                                                               \
    "            " bindings "\n"                                                                   \
    "            with T.init():\n"                                                                 \
    "                C[vi, vj] = T." dtype "(0)\n"                                                 \
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

#define PLAIN                                                                                      \
    MATMUL("i, j, k in T.grid(128, 64, 32)", "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",      \
           "float32")

/* That program, tiled: k outermost of the inner loops, rows in parallel, columns in vectors. */
static const char tiled[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((128, 32), \"float32\"), B: T.Buffer((32, 64), \"float32\"),\n"
    "         C: T.Buffer((128, 64), \"float32\")):\n"
    "    for i0_j0 in T.parallel(16):\n"
    "        for k in range(32):\n"
    "            for i1 in T.unroll(16):\n"
    "                for j1 in T.vectorized(32):\n"
    "                    with T.block(\"C\"):\n"
    "                        vi = T.axis.spatial(128, i0_j0 // 2 * 16 + i1)\n"
    "                        vj = T.axis.spatial(64, i0_j0 % 2 * 32 + j1)\n"
    "                        vk = T.axis.reduce(32, k)\n"
    "                        with T.init():\n"
    "                            C[vi, vj] = T.float32(0)\n"
    "                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

/* What `tiled` is after lowering: no blocks, indices spelled out, vectors as ramps. */
static const char tiled_lowered[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((128, 32), \"float32\"), B: T.Buffer((32, 64), \"float32\"),\n"
    "         C: T.Buffer((128, 64), \"float32\")):\n"
    "    for i0_j0 in T.parallel(16):\n"
    "        for k in range(32):\n"
    "            for i1 in T.unroll(16):\n"
    "                for j1 in T.vectorized(32):\n"
    "                    C[i0_j0 // 2 * 16 + i1, i0_j0 % 2 * 32 + j1] = (\n"
    "                        C[i0_j0 // 2 * 16 + i1, i0_j0 % 2 * 32 + j1]\n"
    "                        + A[i0_j0 // 2 * 16 + i1, k] * B[k, i0_j0 % 2 * 32 + j1])\n";

/* A producer whose buffer is read tile by tile under a loop that both share. */
static const char fused[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((1024,), \"float32\"), D: T.Buffer((1024,), \"float32\")):\n"
    "    with T.block(\"root\"):\n"
    "        B = T.alloc_buffer((1024,))\n"
    "        for i0 in range(64):\n"
    "            for i1 in range(16):\n"
    "                with T.block(\"B\"):\n"
    "                    vi = T.axis.spatial(1024, i0 * 16 + i1)\n"
    "                    B[vi] = T.exp(A[vi])\n"
    "            for i1 in range(16):\n"
    "                with T.block(\"D\"):\n"
    "                    vi = T.axis.spatial(1024, i0 * 16 + i1)\n"
    "                    D[vi] = B[vi] * T.float32(2)\n";

/* Two nests, of which the first has wishes at its outer and its inner loop. */
static const char wished[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((64, 16), \"float32\"), B: T.Buffer((64,), \"float32\"), "
    "D: T.Buffer((64,), \"float32\")):\n"
    "    for i in T.serial(64, annotations={\"pragma_prefetch\": 32, \"pragma_prefetch_stores\": "
    "0, "
    "\"pragma_streaming_store\": 1}):\n"
    "        for k in T.serial(16, annotations={\"pragma_prefetch\": 4, \"pragma_vector_reduce\": "
    "8}):\n"
    "            with T.block(\"B\"):\n"
    "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
    "                with T.init():\n"
    "                    B[vi] = T.float32(0)\n"
    "                B[vi] = B[vi] + A[vi, vk]\n"
    "    for i in range(64):\n"
    "        with T.block(\"D\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            D[vi] = B[vi] * T.float32(2)\n";

/* More than there is of anything. */
static const char greedy[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
    "    for i in T.serial(64, annotations={\"pragma_prefetch_stores\": 9223372036854775807}):\n"
    "        with T.block(\"B\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            B[vi] = A[vi]\n";

static const struct row {
    const char *name, *program, *column;
    int row, rows;
    double want; /* before log2(1 + x); negative: the column itself is −want − 1 */
} rows[] = {
    {"multiply-adds",                         PLAIN,                                           "float_mad",                                     0,1, 128 * 64 * 32},
    {"no separate multiplication",            PLAIN,                                           "float_mul",                                     0,1, 0      },
    {"iterations",                            PLAIN,                                           "outer.iterations",                              0,1, 128 * 64 * 32},
    {"loops",                                 PLAIN,                                           "outer.loops",                                   0,1, 3      },
    {"the store comes with most lines",       PLAIN,                                           "access0.bytes",                                 0,1, 128 * 64 * 32 * 4},
    {"B strides over rows",                   PLAIN,                                           "access0.stride",                                0,1, 64     },
    {"B is touched whole",                    PLAIN,                                           "access0.unique_bytes",                          0,1, 32 * 64 * 4},
    {"each step is a line of B",              PLAIN,                                           "access0.lines",                                 0,1, 128 * 64 * 32},
    {"B is read again for each i",            PLAIN,                                           "access0.reuse_count",                           0,1, 128    },
    {"B is read again after j and k",         PLAIN,                                           "access0.reuse_iterations",                      0,1, 64 * 32},
    {"reduction",                             PLAIN,                                           "shape.reduction",                               0,1, 32     },
    {"innermost reduces",                     PLAIN,                                           "shape.innermost_reduces",                       0,1, -2     },
    {"all bytes",                             PLAIN,                                           "shape.bytes",                                   0,1, 4 * (128 * 32 + 32 * 64 + 128 * 64)},
    {"nothing in parallel",                   PLAIN,                                           "parallel.none",                                 0,1, -2     },
    {"bfloat16 is a float",
     MATMUL("i, j, k in T.grid(128, 64, 32)",                                                  "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",
     "bfloat16"),
     "float_mad",0,       1, 128 * 64 * 32},
    {"int8 is not",
     MATMUL("i, j, k in T.grid(128, 64, 32)",                                                                         "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",
     "int8"),
     "int_mad",0,1, 128 * 64 * 32},
    {"unit loops do not count",
     MATMUL("i, u, j, k in T.grid(128, 1, 64, 32)",                                                                                    "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",
     "float32"),
     "outer.loops",                                                                                                                 0,1, 3},
    {"another order of loops: C is the one that is kept",
     MATMUL("i, k, j in T.grid(128, 32, 64)",                                                                            "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",
     "float32"),
     "access0.reuse_count",0,1, 32},
    {"parallel iterations", tiled,"parallel.iterations",                                                                                                                                0,1,                                                                                                               16                                                                                                                                                                                                               },
    {"parallel is outermost",                                       tiled,                                                                  "parallel.outer_spatial",                                                                                                            0, 1,-2},
    {"vector is innermost",                                       tiled,                                                                "vectorize.inner_spatial",                                                                    0,1,-2},
    {"unrolled in the middle",                                       tiled,                                                                  "unroll.middle_spatial",                                                                      0,1,-2                    },
    {"a vector of 32 floats on 32 bytes",                                       tiled,                                                               "shape.vector_registers",                                                                   0,1,4                                                                                                                                                                                                                                                                                                                                                                                                                                         },
    {"all cores busy",                                       tiled,                                                    "shape.core_use",                                                        0,1,-2},
    {"division and remainder cancel",                                       tiled,                                                                       "shape.bytes",                                                                           0,1,
     4 * (128 * 32 + 32 * 64 + 128 * 64)},
    {"a tile of C stays while k runs",                                       tiled,                                                        "access0.reuse_count",                                                            0,1,32},
    {"registers of sums",                                       tiled,                                                       "tile.sums",                                                           0,1,16 * 4                                                                                                                                                                                                                                                                                                                                                                                                     },
    {"whole vectors",                                       tiled,                                                                    "tile.fill",                                                                        0,1,-2},
    {"16 rows of A and 4 vectors of B for 64 sums",                                       tiled,                                                                        "tile.loads_per_op",                                                                            0,1,
     -1 - 20.0 / 64},
    {"sums stay for all of k",                                       tiled,                                          "tile.steps",                                              0,1,32},
    {"two sums per cycle",                                       tiled,                                                               "tile.cycles",                                                                   0,1,128 * 64 * 32 / 8 / 2                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  },
    {"rows of vectors begin where vectors may",                                       tiled,                                                                   "tile.unaligned",                                                                       0,1,-1               },
    {"it is all of the kernel",                                       tiled,                                              "kernel.share",                                                  0,1,-2},
    {"one sum",                                       PLAIN,                                                              "tile.sums",                                                                  0,1,1},
    {"one lane of eight",                                       PLAIN,                                                                              "tile.fill",                                                                                  0,1,-1 - 1.0 / 8                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      },
    {"each sum waits for the last one",                                       PLAIN,                                                                    "tile.cycles",                                                                        0,1,128 * 64 * 32 * 4},
    {"two rows of columns",                                       fused,                                                      "float_math",                                                          0,2,1024},
    {"B is held for one tile only",                                       fused,                                                                  "alloc.bytes",                                                                      0,2,64                                                          },
    {"B is held 64 times",                                       fused,                                                          "alloc.outer",                                                              0,2,64                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         },
    {"D is no inner buffer",                                       fused,                                                                   "alloc.bytes",                                                                       1,2,0},
    {"D reads what B just wrote",                                       fused,                                                                 "access1.reuse_statement",                                                                     1,2,-2},
    {"sums in eight vectors",                                       wished,                                                            "wish.vector_reduce",                                                                0,2,8                   },
    {"the innermost wish holds",                                       wished,                                                                "wish.prefetch",                                                                   0,2,4                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        },
    {"another one of a loop around, too",                                       wished,                                                             "wish.streaming_store",                                                                0,2,1},
    {"a distance of 0 is a wish",                                       wished,                                                    "wish.prefetch_stores",                                                       0,2,1},
    {"wishes end with their loops",                                       wished,                                                            "wish.prefetch",                                                               1,2,0                                                  },
    {"the largest wish of all",                                       greedy,                                                          "wish.prefetch_stores",                                                             0,1,0x1p63                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   },
    {"B is 16 iterations away",                                       fused,                                                              "access1.reuse_iterations",                                                                 1,2,16},
};

static const hone_target target = {
    .kind = HONE_TARGET_LLVM,
    .vector_bits = 256,
    .num_cores = 4,
    .num_threads = 4,
    .cache_line_bytes = 64,
    .l1d_bytes = 32768,
    .l2_bytes = 1 << 20,
    .l3_bytes = 1 << 24,
};

static uint32_t column_of(const char *name) {
    for (uint32_t c = 0; c < hone_feature_count(); c++) {
        if (strcmp(hone_feature_name(c), name) == 0) return c;
    }
    fail_msg("no column '%s'", name);
    return 0;
}

static hone_module *parse(const char *text) {
    hone_module *module = NULL;
    HONE_ASSERT_OK(hone_script_parse(text, strlen(text), "test.py", &module));
    return module;
}

static const hone_func *func_of(const hone_module *module) {
    const hone_member *member = NULL;
    HONE_ASSERT_OK(hone_module_pick(module, NULL, &member));
    return member->func;
}

static void has_value(void **state) {
    const struct row *row = *state;
    hone_module *module = parse(row->program);
    hone_feature_state *features = NULL;
    const float *got = NULL;
    uint32_t count = 0;
    HONE_ASSERT_OK(hone_feature_state_create(&features));
    HONE_ASSERT_OK(hone_feature_extract(features, func_of(module), 0, &target, &got, &count));
    assert_int_equal(count, row->rows);
    float value = got[(size_t)row->row * hone_feature_count() + column_of(row->column)];
    double want = row->want < 0 ? -row->want - 1 : log2(1 + row->want);
    hone_feature_state_destroy(features);
    hone_module_release(module);
    if (fabs((double)value - want) > 1e-4) {
        fail_msg("%s is %g, want %g", row->column, (double)value, want);
    }
}

static void names_are_unique(void **state) {
    (void)state;
    for (uint32_t a = 0; a < hone_feature_count(); a++) {
        for (uint32_t b = 0; b < a; b++) {
            assert_string_not_equal(hone_feature_name(a), hone_feature_name(b));
        }
    }
}

static void extract_into(hone_feature_state *features, const char *text, hone_str *out) {
    hone_module *module = parse(text);
    const float *got = NULL;
    uint32_t count = 0;
    HONE_ASSERT_OK(hone_feature_extract(features, func_of(module), 0, &target, &got, &count));
    hone_str_append_n(out, (const char *)got, count * hone_feature_count() * sizeof *got);
    hone_module_release(module);
}

/* A state keeps nothing from one function to the next. */
static void does_not_remember(void **state) {
    (void)state;
    hone_feature_state *used = NULL, *fresh = NULL;
    hone_str first = {0}, again = {0}, waste = {0};
    HONE_ASSERT_OK(hone_feature_state_create(&used));
    HONE_ASSERT_OK(hone_feature_state_create(&fresh));
    extract_into(fresh, fused, &first);
    extract_into(used, tiled, &waste);
    extract_into(used, PLAIN, &waste);
    extract_into(used, fused, &again);
    assert_int_equal(first.length, again.length);
    assert_memory_equal(first.data, again.data, first.length);
    hone_str_deinit(&first);
    hone_str_deinit(&again);
    hone_str_deinit(&waste);
    hone_feature_state_destroy(used);
    hone_feature_state_destroy(fresh);
}

/* Blocks and axes are only names for loops: the lowered form looks the same. */
static void blocks_are_transparent(void **state) {
    (void)state;
    hone_feature_state *features = NULL;
    hone_str blocks = {0}, plain = {0};
    HONE_ASSERT_OK(hone_feature_state_create(&features));
    extract_into(features, tiled, &blocks);
    extract_into(features, tiled_lowered, &plain);
    assert_int_equal(blocks.length, plain.length);
    const float *a = (const void *)blocks.data, *b = (const void *)plain.data;
    for (uint32_t c = 0; c < hone_feature_count(); c++) {
        if (fabsf(a[c] - b[c]) > 1e-5F) {
            fail_msg("%s: %g with blocks, %g without", hone_feature_name(c), (double)a[c],
                     (double)b[c]);
        }
    }
    hone_str_deinit(&blocks);
    hone_str_deinit(&plain);
    hone_feature_state_destroy(features);
}

/* Rows of a program that lays its second parameter out, doubles that, and multiplies by it. */
static uint32_t rows_with_constants(uint64_t constants) {
    hone_feature_state *features = NULL;
    hone_module *module =
        parse("@T.prim_func\n"
              "def main(X: T.Buffer((8, 16)), W: T.Buffer((16, 8)), Y: T.Buffer((8, 16))):\n"
              "    P = T.alloc_buffer((8, 16))\n"
              "    Q = T.alloc_buffer((8, 16))\n"
              "    for i, j in T.grid(8, 16):\n"
              "        with T.block(\"turn\"):\n"
              "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
              "            P[vi, vj] = W[vj, vi]\n"
              "    for i, j in T.grid(8, 16):\n"
              "        with T.block(\"double\"):\n"
              "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
              "            Q[vi, vj] = P[vi, vj] * T.float32(2)\n"
              "    for i, j in T.grid(8, 16):\n"
              "        with T.block(\"product\"):\n"
              "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
              "            Y[vi, vj] = X[vi, vj] * Q[vi, vj]\n");
    const float *got = NULL;
    uint32_t count = 0;
    HONE_ASSERT_OK(hone_feature_state_create(&features));
    HONE_ASSERT_OK(
        hone_feature_extract(features, func_of(module), constants, &target, &got, &count));
    hone_feature_state_destroy(features);
    hone_module_release(module);
    return count;
}

/* What is computed of constants alone is computed before anything is timed. */
static void constants_are_left_out(void **state) {
    (void)state;
    assert_int_equal(rows_with_constants(0), 3);
    assert_int_equal(rows_with_constants(2), 1);
    assert_int_equal(rows_with_constants(1), 3); /* X alone makes nothing */
}

static void random_programs_give_finite_numbers(void **state) {
    (void)state;
    hone_feature_state *features = NULL;
    HONE_ASSERT_OK(hone_feature_state_create(&features));
    hone_arena *arena = hone_arena_create(1 << 16);
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + 300; seed++) {
        hone_arena_reset(arena);
        hone_func *func = hone_random_program(arena, seed, NULL);
        const float *got = NULL;
        uint32_t count = 0;
        HONE_ASSERT_OK(hone_feature_extract(features, func, 0, &target, &got, &count));
        assert_true(count > 0);
        for (size_t i = 0; i < (size_t)count * hone_feature_count(); i++) {
            assert_true(isfinite(got[i]));
        }
    }
    hone_arena_destroy(arena);
    hone_feature_state_destroy(features);
}

/* No figure is asserted; it is printed to be looked at. */
static void shows_its_speed(void **state) {
    (void)state;
    hone_feature_state *features = NULL;
    hone_module *module = parse(tiled);
    const float *got = NULL;
    uint32_t count = 0;
    HONE_ASSERT_OK(hone_feature_state_create(&features));
    int64_t started_ns = hone_clock_now(hone_clock_system());
    for (int i = 0; i < 2000; i++) {
        HONE_ASSERT_OK(hone_feature_extract(features, func_of(module), 0, &target, &got, &count));
    }
    double each_us = (double)(hone_clock_now(hone_clock_system()) - started_ns) / 2000 / 1e3;
    print_message("%.1f us per function\n", each_us);
    hone_module_release(module);
    hone_feature_state_destroy(features);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(does_not_remember),
        cmocka_unit_test(blocks_are_transparent),
        cmocka_unit_test(constants_are_left_out),
        cmocka_unit_test(random_programs_give_finite_numbers),
        cmocka_unit_test(shows_its_speed),
    };
    int failed = HONE_RUN_ROWS("costmodel/feature", rows, has_value);
    return failed + cmocka_run_group_tests_name("costmodel/features", tests, NULL, NULL);
}
