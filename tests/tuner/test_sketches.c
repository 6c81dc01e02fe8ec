/* tests/tuner/test_sketches.c - what the sketches of a program contain: properties that good code
 * needs. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <string.h>

#include "schedule/replay/trace_apply.h"
#include "schedule/variant/variant.h"
#include "tests/support/gpu/gpu_check.h"
#include "tests/support/program_text.h"
#include "tests/support/workloads.h"
#include "tuner/space/space.h"

struct row {
    const char *workload;
    uint32_t least, most;    /* sketches */
    const char *some, *none; /* a text that some sketch, and that no sketch has; NULL = any */
};

static const struct row rows[] = {
    {"dense",                     17, 17, "sch.cache_write(",             "sch.rfactor("       },
    {"dense",                     17, 17, "v1 // 8, v2, v1 % 8",          NULL                 },
    {"dense, bias, relu",         12, 12, "sch.reverse_compute_at(",      "sch.cache_write("   },
    {"dense, bias, relu",         12, 12, "sch.compute_inline(",          NULL                 },
    {"dense, weights transposed", 15, 15, "sch.rfactor(",                 NULL                 },
    {"dense, weights transposed", 15, 15, "sch.reindex_cache_read(",      NULL                 },
    {"dense, weights transposed", 15, 15, "pragma_vector_reduce",         NULL                 },
    {"conv2d, bias, relu",        8,  8,  "sch.sample_compute_location(", NULL                 },
    {"conv2d in groups, relu",    12, 12, "v0 // 12, v0 % 12",            NULL                 },
    {"conv2d in groups, relu",    12, 12, "sch.reindex_cache_read(",      NULL                 },
    {"maxpool",                   3,  3,  "\"SSRSRS\"",                   NULL                 },
    {"sum of all",                2,  4,  "sch.rfactor(",                 NULL                 },
    {"sum of columns",            3,  3,  "\"SSRSRS\"",                   "sch.rfactor("       },
    {"elementwise chain",         1,  1,  "sch.compute_inline(",          "sample_perfect_tile"},
    {"transpose",                 9,  9,  "meta_schedule.vectorize",      "unroll_explicit"    },
    {"transpose",                 9,  9,  "sch.cache_write(",             NULL                 },
    {"dense of ones",             1,  1,  "meta_schedule.parallel",       "sample_perfect_tile"},
    {"softmax",                   4,  32, "sch.rfactor(",                 NULL                 },
};

static const struct row gpu_rows[] = {
    {"dense",              1, 1,  "\"SSSRRSRS\"",                    "meta_schedule.parallel"      },
    {"dense",              1, 1,  "\"vthread.x\"",                   "\"wmma"                      },
    {"conv2d, bias, relu", 1, 1,  "meta_schedule.cooperative_fetch", "sch.sample_compute_location("},
    {"maxpool",            2, 2,  "\"cross-thread\"",                NULL                          },
    {"sum of all",         2, 4,  "sch.rfactor(",                    "SSRSRS"                      },
    {"elementwise chain",  1, 1,  "\"threadIdx.x\"",                 "meta_schedule"               },
    {"softmax",            2, 32, "\"shared\"",                      NULL                          },
};

static const hone_target target = {.kind = HONE_TARGET_LLVM,
                                   .triple = "x86_64-linux-gnu",
                                   .vector_bits = 256,
                                   .num_cores = 4,
                                   .num_threads = 4,
                                   .cache_line_bytes = 64};

static const char *text_of(const char *name) {
    for (const hone_workload *w = hone_workloads; w->name; w++) {
        if (strcmp(w->name, name) == 0) return w->text;
    }
    fail_msg("no workload '%s'", name);
    return NULL;
}

static void check_sketches(const struct row *row, const hone_target *device) {
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text_of(row->workload), &module);
    hone_space space;
    hone_str all = {0};
    HONE_ASSERT_OK(hone_space_generate(func, device, &space));
    for (uint32_t i = 0; i < space.count; i++) {
        HONE_ASSERT_OK(hone_trace_print_python(&space.sketches[i], &all));
    }
    uint32_t count = space.count;
    bool has_some = !row->some || strstr(hone_str_text(&all), row->some);
    bool has_none = !row->none || !strstr(hone_str_text(&all), row->none);
    if (!has_some || !has_none) print_message("%s\n", hone_str_text(&all));
    hone_str_deinit(&all);
    hone_space_deinit(&space);
    hone_module_release(module);
    assert_in_range(count, row->least, row->most);
    assert_true(has_some);
    assert_true(has_none);
}

static void check_row(void **state) {
    check_sketches(*state, &target);
}

static void check_gpu_row(void **state) {
    hone_target gpu;
    HONE_ASSERT_OK(hone_target_parse("nvidia/nvidia-h100", &gpu));
    check_sketches(*state, &gpu);
}

/* A product of few tiles has one sketch in parts, and those that it had. */
static void few_tiles_have_parts(void **state) {
    static const struct {
        const char *steps;
        bool has_parts;
    } cases[] = {
        {"2048", true },
        {"256",  false},
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        hone_module *module = NULL;
        hone_target gpu;
        hone_space space;
        uint32_t parted = 0;
        char text[1024];
        snprintf(text, sizeof text,
                 "@T.prim_func\n"
                 "def main(A: T.Buffer((32, %s), \"float16\"), B: T.Buffer((%s, 64), "
                 "\"float16\"), C: T.Buffer((32, 64), \"float32\")):\n"
                 "    for i, j, k in T.grid(32, 64, %s):\n"
                 "        with T.block(\"C\"):\n"
                 "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                 "            with T.init():\n"
                 "                C[vi, vj] = T.float32(0)\n"
                 "            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], \"float32\") * "
                 "T.cast(B[vk, vj], \"float32\")\n",
                 cases[i].steps, cases[i].steps, cases[i].steps);
        HONE_ASSERT_OK(hone_target_parse("nvidia/nvidia-a100", &gpu));
        HONE_ASSERT_OK(hone_space_generate(hone_test_parse(text, &module), &gpu, &space));
        for (uint32_t n = 0; n < space.count; n++) {
            hone_str trace = {0};
            HONE_ASSERT_OK(hone_trace_print_python(&space.sketches[n], &trace));
            parted += strstr(hone_str_text(&trace), "sch.rfactor(") != NULL;
            hone_str_deinit(&trace);
        }
        uint32_t count = space.count;
        hone_space_deinit(&space);
        hone_module_release(module);
        assert_int_equal(parted, cases[i].has_parts);
        assert_int_equal(count - parted, 2); /* fragments, threads */
    }
}

/* Sketches of TF32, where it is allowed: by matrix units, and right as the variant has it. */
static void rounded_floats_have_sketches(void **state) {
    static const char text[] =
        "@T.prim_func\n"
        "def main(A: T.Buffer((48, 40)), B: T.Buffer((40, 64)), C: T.Buffer((48, 64))):\n"
        "    for i, j, k in T.grid(48, 64, 40):\n"
        "        with T.block(\"C\"):\n"
        "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
        "            with T.init():\n"
        "                C[vi, vj] = T.float32(0)\n"
        "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";
    static const double allowed[] = {HONE_VARIANTS_ALL, 2e-3};
    (void)state;
    hone_module *module = NULL;
    hone_target gpu;
    hone_func *rounded = NULL;
    hone_arena *arena = hone_arena_create(1 << 14);
    const hone_func *func = hone_test_parse(text, &module);
    HONE_ASSERT_OK(hone_target_parse("nvidia/nvidia-a100", &gpu));
    HONE_ASSERT_OK(hone_variant_apply(hone_variant_find("tf32"), func, arena, &rounded));
    for (size_t i = 0; i < HONE_COUNT(allowed); i++) {
        const hone_variant_rules rules = {.most_error = allowed[i]};
        hone_draft starts[HONE_MAX_VARIANTS];
        hone_space space;
        uint32_t count, by_units = 0;
        HONE_ASSERT_OK(hone_space_generate(func, &gpu, &space));
        const uint32_t own = space.count;
        HONE_ASSERT_OK(hone_space_add_variants(&space, func, &gpu, 0, &rules, starts, &count));
        for (uint32_t n = own; n < space.count; n++) {
            hone_schedule *sch = NULL;
            hone_str trace = {0}, why = {0};
            const hone_apply_options options = {.resample = true};
            HONE_ASSERT_OK(hone_trace_print_python(&space.sketches[n], &trace));
            by_units += strstr(hone_str_text(&trace), "sch.tensorize(") != NULL;
            HONE_ASSERT_OK(hone_schedule_create(func, &sch));
            hone_status st = hone_trace_apply(&space.sketches[n], sch, &options);
            if (!st) st = hone_postprocess(sch, &gpu);
            bool is_good = st ? hone_status_code(st) == HONE_CODE_ILLEGAL
                              : hone_test_gpu_is_right(rounded, sch->func, &gpu, n, &why);
            if (!is_good) fprintf(stderr, "%s\n", hone_str_text(&why));
            hone_status_free(st);
            hone_schedule_destroy(sch);
            hone_str_deinit(&trace);
            hone_str_deinit(&why);
            assert_true(is_good);
        }
        assert_int_equal(count, i);
        assert_int_equal(by_units > 1, i); /* the default one, and those of rules */
        hone_space_deinit(&space);
    }
    hone_arena_destroy(arena);
    hone_module_release(module);
}

/* One thread: no parallel decision at all. */
static void one_thread_has_no_jobs(void **state) {
    (void)state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text_of("dense"), &module);
    hone_target single = target;
    single.num_threads = 1;
    hone_space space;
    hone_str text = {0};
    HONE_ASSERT_OK(hone_space_generate(func, &single, &space));
    HONE_ASSERT_OK(hone_trace_print_python(&space.sketches[0], &text));
    assert_null(strstr(hone_str_text(&text), "meta_schedule.parallel"));
    hone_str_deinit(&text);
    hone_space_deinit(&space);
    hone_module_release(module);
}

int main(void) {
    int failed = HONE_RUN_ROWS("tuner/sketches", rows, check_row);
    failed += HONE_RUN_ROWS("tuner/sketches for GPUs", gpu_rows, check_gpu_row);
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_tiles_have_parts),
                                       cmocka_unit_test(rounded_floats_have_sketches),
                                       cmocka_unit_test(one_thread_has_no_jobs)};
    return failed + cmocka_run_group_tests_name("tuner/sketches", tests, NULL, NULL);
}
