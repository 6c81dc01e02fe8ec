/* tests/schedule/gpu/test_gpu_schedule.c - schedules for GPUs without a search: they never fail,
 * keep the meaning and the limits of the device, and have no race; and what loops they make. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "ir/text/print/script_print.h"
#include "ir/verify/verify.h"
#include "schedule/variant/variant.h"
#include "tests/schedule/gpu/gpu_trial.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"
#include "tests/support/workloads.h"

enum { RANDOM_PROGRAMS = 120, DEVICES = 2, GROUPS = 3, LARGE_ROWS = 2 };

/* clang-format off */
static const char *const devices[] = {
    "cuda -arch=sm_90 -max_shared_memory_per_block=232448 -num-cores=132",
    "cuda -arch=sm_50 -max_threads_per_block=128 -max_shared_memory_per_block=16384",
    "cuda -arch=sm_80 -max_shared_memory_per_block=166912 -num-cores=1", /* large tiles */
    "nvidia/nvidia-h100",                                                /* groups of warps */
};
/* clang-format on */

static void workload_is_right(void **state) {
    const hone_workload *row = *state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(row->text, &module);
    bool is_good = true;
    for (uint64_t i = 0; i < hone_test_ways(DEVICES); i++)
        is_good = is_good && gpu_trial_is_right(func, devices[i], i);
    hone_module_release(module);
    assert_true(is_good);
}

/* ---- products ---- */

#define BUF(name, shape, type) name ": T.Buffer(" shape ", \"" type "\")"
/* C[…] += wide A[…] * wide B[…] over so many axes. */
#define SUM(axes, kinds, grid, to, a, b, wide)                                                     \
    "    for " axes " in T.grid(" grid "):\n"                                                      \
    "        with T.block(\"C\"):\n"                                                               \
    "            " axes " = T.axis.remap(\"" kinds "\", [" axes "])\n"                             \
    "            with T.init():\n"                                                                 \
    "                " to " = T." wide "(0)\n"                                                     \
    "            " to " = " to " + T.cast(" a ", \"" wide "\") * T.cast(" b ", \"" wide "\")\n"
#define PRODUCT(m, n, k, b_shape, b, type, wide)                                                   \
    "@T.prim_func\ndef main(" BUF("A", "(" m ", " k ")", type) ", " BUF(                           \
        "B", b_shape, type) ", " BUF("C", "(" m ", " n ")",                                        \
                                     wide) "):\n" SUM("i, j, k", "SSR", m ", " n ", " k,           \
                                                      "C[i, j]", "A[i, k]", b, wide)
#define NN(m, n, k, type, wide) PRODUCT(m, n, k, "(" k ", " n ")", "B[k, j]", type, wide)
#define NT(m, n, k, type, wide) PRODUCT(m, n, k, "(" n ", " k ")", "B[j, k]", type, wide)
#define CAST                                                                                       \
    "    for i, j in T.grid(40, 48):\n"                                                            \
    "        with T.block(\"D\"):\n"                                                               \
    "            i, j = T.axis.remap(\"SS\", [i, j])\n"                                            \
    "            D[i, j] = T.max(T.cast(C[i, j], \"float16\") + bias[j], T.float16(0))\n"
/* Fractions cut off where units round them. */
#define CUT(x)                                                                                     \
    "T.Select(T.isnan(" x "), " x ", T.reinterpret(\"float32\", T.bitwise_and(T.reinterpret("      \
    "\"uint32\", " x "), T.uint32(0xffffe000))))"
/* A product and what follows it. */
#define JOINED(k)                                                                                  \
    "@T.prim_func\ndef main(" BUF("A", "(40, " k ")", "float16") ", " BUF(                         \
        "B", "(" k ", 48)",                                                                        \
        "float16") ", " BUF("bias", "(48,)",                                                       \
                            "float16") ", " BUF("D", "(40, 48)",                                   \
                                                "float16") "):\n"                                  \
                                                           "    C = T.alloc_buffer((40, 48), "     \
                                                           "\"float32\")\n" SUM(                   \
                                                               "i, j, k", "SSR", "40, 48, " k,     \
                                                               "C[i, j]", "A[i, k]", "B[k, j]",    \
                                                               "float32") CAST

/* clang-format off */
static const struct row {
    const char *name, *text;
    uint32_t matrix_calls; /* on a device that has them */
} products[] = {
    {"half floats", NN("64", "64", "48", "float16", "float32"), 3},
    {"half floats, weights transposed", NT("64", "64", "48", "float16", "float32"), 3},
    {"half floats, odd sizes", NN("37", "29", "19", "float16", "float32"), 3},
    {"half floats, transposed, odd sizes", NT("37", "29", "19", "float16", "float32"), 3},
    {"bytes", NT("32", "48", "64", "int8", "int32"), 3},
    {"rounded after sixteen", NN("32", "32", "32", "float16", "float16"), 3},
    {"first operand transposed",
     "@T.prim_func\ndef main(" BUF("A", "(48, 40)", "float16") ", " BUF(
         "B", "(48, 24)", "float16") ", " BUF("C", "(40, 24)",
                                              "float32") "):\n" SUM("i, j, k", "SSR", "40, 24, 48",
                                                                    "C[i, j]", "A[k, i]", "B[k, j]",
                                                                    "float32"),
     3},
    {"result transposed",
     "@T.prim_func\ndef main(" BUF("A", "(48, 40)", "float16") ", " BUF(
         "B", "(48, 24)", "float16") ", " BUF("C", "(24, 40)",
                                              "float32") "):\n" SUM("i, j, k", "SSR", "40, 24, 48",
                                                                    "C[j, i]", "A[k, i]", "B[k, j]",
                                                                    "float32"),
     3},
    {"a batch",
     "@T.prim_func\ndef main(" BUF("A", "(3, 20, 32)", "float16") ", " BUF(
         "B", "(3, 24, 32)", "float16") ", " BUF("C", "(3, 20, 24)",
                                                 "float32") "):\n" SUM("b, i, j, k", "SSSR",
                                                                       "3, 20, 24, 32",
                                                                       "C[b, i, j]", "A[b, i, k]",
                                                                       "B[b, j, k]", "float32"),
     3},
    {"what follows is joined", JOINED("64"), 3},
    {"few tiles, many steps: in parts", NN("16", "32", "1024", "float16", "float32"), 3},
    {"few tiles of floats, many steps", NT("20", "24", "2048", "float32", "float32"), 0},
    {"a batch of few tiles, many steps",
     "@T.prim_func\ndef main(" BUF("A", "(2, 8, 1024)", "float16") ", " BUF(
         "B", "(2, 1024, 8)", "float16") ", " BUF("C", "(2, 8, 8)",
                                                  "float32") "):\n" SUM("b, i, j, k", "SSSR",
                                                                        "2, 8, 8, 1024",
                                                                        "C[b, i, j]", "A[b, i, k]",
                                                                        "B[b, k, j]", "float32"),
     3},
    {"a convolution of channels last",
     "@T.prim_func\ndef main(" BUF("A", "(2, 9, 9, 8)", "float16") ", " BUF(
         "B", "(3, 3, 8, 20)",
         "float16") ", " BUF("C", "(2, 4, 4, 20)",
                             "float32") "):\n" SUM("n, h, w, o, y, x, i", "SSSSRRR",
                                                   "2, 4, 4, 20, 3, 3, 8", "C[n, h, w, o]",
                                                   "A[n, h * 2 + y, w * 2 + x, i]", "B[y, x, i, o]",
                                                   "float32"),
     3},
    {"a convolution of channels first",
     "@T.prim_func\ndef main(" BUF("A", "(2, 8, 9, 9)", "float16") ", " BUF(
         "B", "(20, 8, 3, 3)",
         "float16") ", " BUF("C", "(2, 20, 7, 7)",
                             "float32") "):\n" SUM("n, o, h, w, i, y, x", "SSSSRRR",
                                                   "2, 20, 7, 7, 8, 3, 3", "C[n, o, h, w]",
                                                   "A[n, i, h + y, w + x]", "B[o, i, y, x]",
                                                   "float32"),
     3},
    {"rows known at run time",
     "@T.prim_func\ndef main(a: T.handle, " BUF(
         "B", "(64, 40)", "float32") ", c: T.handle):\n"
                                     "    n = T.int64()\n"
                                     "    A = T.match_buffer(a, (n, 64), \"float32\")\n"
                                     "    C = T.match_buffer(c, (n, 40), \"float32\")\n" SUM(
                                         "i, j, k", "SSR", "n, 40, 64", "C[i, j]", "A[i, k]",
                                         "B[k, j]", "float32"),
     0},
    {"half floats, all sizes known at run time",
     "@T.prim_func\ndef main(a: T.handle, b: T.handle, c: T.handle):\n"
     "    n = T.int32()\n    m = T.int32()\n    l = T.int32()\n"
     "    A = T.match_buffer(a, (n, l), \"float16\")\n"
     "    B = T.match_buffer(b, (m, l), \"float16\")\n"
     "    C = T.match_buffer(c, (n, m), \"float32\")\n" SUM("i, j, k", "SSR", "n, m, l", "C[i, j]",
                                                            "A[i, k]", "B[j, k]", "float32"),
     3},
    {"floats that are cut, not rounded",
     "@T.prim_func\ndef main(" BUF("A", "(64, 48)", "float32") ", " BUF("B", "(64, 48)", "float32") ", "
     BUF("C", "(64, 64)", "float32") "):\n"
     SUM("i, j, k", "SSR", "64, 64, 48", "C[i, j]", CUT("A[i, k]"), CUT("B[j, k]"), "float32"), 0},
};
/* clang-format on */

/* Of the instructions of matrix units: how many load, and multiply. */
static uint32_t count_matrix_calls(const hone_func *func) {
    hone_str text = {0};
    uint32_t count = 0;
    hone_status_free(hone_func_print(func, NULL, &text));
    for (const char *at = hone_str_text(&text); (at = strstr(at, "T.tvm_")); at++)
        count += strncmp(at, "T.tvm_load_matrix_sync", 22) == 0 ||
                 strncmp(at, "T.tvm_mma_sync", 14) == 0;
    hone_str_deinit(&text);
    return count;
}

/* Of what is made here nobody is warned. */
static void assert_no_findings(const hone_func *func) {
    hone_findings found = {.arena = hone_arena_create(4096)};
    char text[256] = "";
    HONE_ASSERT_OK(hone_verify_func(func, &found));
    if (found.count) snprintf(text, sizeof text, "%s", found.items[0].text);
    hone_arena_destroy(found.arena);
    assert_string_equal(text, "");
}

static void product_is_tiled(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(row->text, &module);
    bool is_good = true;
    uint64_t count = row - products < LARGE_ROWS ? DEVICES + 1 : DEVICES; /* the last is slow */
    for (uint64_t i = 0; i < hone_test_ways(count); i++)
        is_good = is_good && gpu_trial_is_right(func, devices[i], i);
    hone_schedule *sch = gpu_trial_schedule(func, devices[0]);
    uint32_t calls = count_matrix_calls(sch->func);
    assert_no_findings(sch->func);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    assert_true(is_good);
    assert_int_equal(calls, row->matrix_calls);
}

/* ---- products of floats that are rounded (variant tf32) ---- */

/* clang-format off */
static const struct row rounded[] = {
    {"rounded", NN("64", "64", "48", "float32", "float32"), 3},
    {"rounded, odd sizes", NN("37", "29", "19", "float32", "float32"), 3},
    {"rounded, weights transposed", NT("40", "48", "33", "float32", "float32"), 3},
    {"rounded, in parts", NT("8", "8", "1024", "float32", "float32"), 3},
    {"rounded, a convolution",
     "@T.prim_func\ndef main(" BUF("A", "(2, 9, 9, 8)", "float32") ", " BUF("B", "(3, 3, 8, 20)", "float32") ", "
     BUF("C", "(2, 4, 4, 20)", "float32") "):\n"
     SUM("n, h, w, o, y, x, i", "SSSSRRR", "2, 4, 4, 20, 3, 3, 8", "C[n, h, w, o]", "A[n, h * 2 + y, w * 2 + x, i]",
         "B[y, x, i, o]", "float32"), 3},
    {"rounded, a batch",
     "@T.prim_func\ndef main(" BUF("A", "(3, 20, 32)", "float32") ", " BUF("B", "(3, 24, 32)", "float32") ", "
     BUF("C", "(3, 20, 24)", "float32") "):\n"
     SUM("b, i, j, k", "SSSR", "3, 20, 24, 32", "C[b, i, j]", "A[b, i, k]", "B[b, j, k]", "float32"), 3},
};
/* clang-format on */

/* On devices[GROUPS] too: what their groups do not multiply single warps do. */
static void rounded_floats_are_on_units(void **state) {
    const struct row *row = *state;
    static const uint32_t with_units[] = {0, GROUPS};
    hone_module *module = NULL;
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_func *made = NULL;
    bool is_good = true;
    HONE_ASSERT_OK(hone_variant_apply(hone_variant_find("tf32"),
                                      hone_test_parse(row->text, &module), arena, &made));
    for (size_t i = 0; i < HONE_COUNT(with_units); i++) {
        const char *device = devices[with_units[i]];
        hone_schedule *sch = gpu_trial_schedule(made, device);
        is_good = is_good && count_matrix_calls(sch->func) == row->matrix_calls;
        hone_schedule_destroy(sch);
        is_good = is_good && gpu_trial_is_right(made, device, i);
    }
    is_good = is_good && gpu_trial_is_right(made, devices[1], 0); /* by threads */
    hone_arena_destroy(arena);
    hone_module_release(module);
    assert_true(is_good);
}

/* ---- products by groups of warps ---- */

/* clang-format off */
static const struct group_row {
    const char *name, *text;
} group_products[] = {
    {"groups",                      NN("70", "72", "136", "float16", "float32")         },
    {"groups, weights transposed",  NT("64", "80", "64", "float16", "float32")          },
    {"groups, sums of half floats", NN("64", "64", "64", "float16", "float16")          },
    {"groups, bfloat",              NT("40", "40", "100", "bfloat16", "float32")        },
    {"groups, bytes",               NN("48", "64", "130", "int8", "int32")              },
    {"groups, in parts",            NN("40", "40", "1024", "float16", "float32")        },
    {"groups, a convolution of one tap, channels last",
     "@T.prim_func\ndef main(" BUF("A", "(1, 6, 9, 40)", "float16") ", " BUF("B", "(48, 1, 1, 40)", "float16") ", "
     BUF("C", "(1, 6, 9, 48)", "float32") "):\n"
     SUM("n, y, x, o, c, r, s", "SSSSRRR", "1, 6, 9, 48, 40, 1, 1", "C[n, y, x, o]", "A[n, y, x, c]", "B[o, r, s, c]", "float32")},
    {"groups, a batch",
     "@T.prim_func\ndef main(" BUF("A", "(3, 40, 64)", "float16") ", " BUF("B", "(3, 48, 64)", "float16") ", "
     BUF("C", "(3, 40, 48)", "float32") "):\n"
     SUM("b, i, j, k", "SSSR", "3, 40, 48, 64", "C[b, i, j]", "A[b, i, k]", "B[b, j, k]", "float32")},
};
/* clang-format on */

static void groups_multiply(void **state) {
    const struct group_row *row = *state;
    hone_module *module = NULL;
    hone_str text = {0};
    const hone_func *func = hone_test_parse(row->text, &module);
    bool is_good = gpu_trial_is_right(func, devices[GROUPS], 1);
    hone_schedule *sch = gpu_trial_schedule(func, devices[GROUPS]);
    HONE_ASSERT_OK(hone_func_print(sch->func, NULL, &text));
    assert_no_findings(sch->func);
    bool is_by_groups = strstr(hone_str_text(&text), "T.ptx.wgmma(") != NULL;
    hone_str_deinit(&text);
    hone_schedule_destroy(sch);
    hone_module_release(module);
    assert_true(is_good);
    assert_true(is_by_groups);
}

/* ---- launches ---- */

static uint32_t count_launches(const hone_func *func) {
    uint32_t count = 0;
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = hone_func_node(func, root)->first; n != HONE_NO_ID;
         n = hone_func_node(func, n)->next)
        count++;
    return count;
}

/* One that multiplies and one that adds up with what follows, where blocks would be too few. */
static void few_tiles_are_parts(void **state) {
    /* clang-format off */
    static const struct {
        const char *text;
        uint32_t launches;
    } cases[] = {
        {NN("16", "32", "1024", "float16", "float32"), 2},
        {NN("16", "32", "1000", "float16", "float32"), 1}, /* parts would be short */
        {NN("640", "1024", "1024", "float16", "float32"), 1}, /* 160 tiles */
        {NN("16", "32", "1024", "float16", "float16"), 1}, /* a sum in 16 bits keeps its order */
        {JOINED("2048"), 2},
        {NT("20", "24", "2048", "float32", "float32"), 2}, /* no unit multiplies these */
        {NN("5", "7", "65536", "float32", "float32"), 2},
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        hone_module *module = NULL;
        hone_schedule *sch =
            gpu_trial_schedule(hone_test_parse(cases[i].text, &module), devices[0]);
        uint32_t launches = count_launches(sch->func);
        hone_schedule_destroy(sch);
        hone_module_release(module);
        if (launches != cases[i].launches)
            fail_msg("case %zu: %u launches, not %u", i, launches, cases[i].launches);
    }
}

static void rows_are_one_launch(void **state) {
    static const char *const names[] = {"softmax", "layernorm", "dense, bias, relu",
                                        "conv2d, bias, relu", "elementwise chain"};
    (void)state;
    for (const hone_workload *w = hone_workloads; w->name; w++) {
        bool is_named = false;
        for (size_t i = 0; i < HONE_COUNT(names); i++)
            is_named = is_named || strcmp(names[i], w->name) == 0;
        if (!is_named) continue;
        hone_module *module = NULL;
        hone_schedule *sch = gpu_trial_schedule(hone_test_parse(w->text, &module), devices[0]);
        uint32_t launches = count_launches(sch->func);
        hone_schedule_destroy(sch);
        hone_module_release(module);
        if (launches != 1) fail_msg("%s: %u launches", w->name, launches);
    }
}

/* Neighbouring threads read and write neighbours: tiles are turned around in shared memory. */
static void transposes_have_tiles(void **state) {
    (void)state;
    for (const hone_workload *w = hone_workloads; w->name; w++) {
        if (strcmp(w->name, "transpose") != 0) continue;
        hone_module *module = NULL;
        hone_str text = {0};
        hone_schedule *sch = gpu_trial_schedule(hone_test_parse(w->text, &module), devices[0]);
        hone_status_free(hone_func_print(sch->func, NULL, &text));
        bool has_tile = strstr(hone_str_text(&text), "scope=\"shared\"") != NULL;
        hone_str_deinit(&text);
        hone_schedule_destroy(sch);
        hone_module_release(module);
        assert_true(has_tile);
    }
}

static void random_programs_are_right(void **state) {
    (void)state;
    uint64_t programs = hone_test_count(RANDOM_PROGRAMS), first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_random_options varied = {.is_varied = true, .has_sizes = true};
        hone_func *func = hone_random_program(arena, seed, &varied);
        assert_non_null(func);
        bool is_good = gpu_trial_is_right(func, devices[seed % DEVICES], seed);
        hone_arena_destroy(arena);
        if (!is_good) fail_msg("seed %llu", (unsigned long long)seed);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_right), cmocka_unit_test(few_tiles_are_parts),
        cmocka_unit_test(rows_are_one_launch), cmocka_unit_test(transposes_have_tiles)};
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    int failed = hone_test_run_rows("schedule/gpu_workloads", hone_workloads,
                                    sizeof hone_workloads[0], count, workload_is_right);
    failed += HONE_RUN_ROWS("schedule/gpu_products", products, product_is_tiled);
    failed += HONE_RUN_ROWS("schedule/gpu_rounded", rounded, rounded_floats_are_on_units);
    failed += HONE_RUN_ROWS("schedule/gpu_groups", group_products, groups_multiply);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
