/* tests/programs/test_transformations.c - the transformations of the public chapters, as traces
 * over our counterparts of their programs: each is legal, gives a well-formed program that computes
 * the same, and has the shape that the chapter shows. */
#include <stdio.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "schedule/primitive/primitives.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { SEEDS = 12 };

static const struct row {
    const char *name, *program, *trace, *func;
    const char *parts[5]; /* of the text that comes out */
    const char *equals;   /* a program that comes out, names apart; or NULL */
    int least_programs;   /* a search space: at least so many different programs from 12 seeds */
} rows[] = {
    {"split, reorder, reverse_compute_at, decompose_reduction",
     "matmul_relu",       "matmul_relu",
     "matmul_relu", {"for i, j_0 in T.grid(96, 20)", "M_init", "M_update"},
     NULL,                       0},
    {"parallel, unroll, vectorize",
     "add_int64",         "add_int64",
     "add",         {"T.parallel(3)", "T.unroll(2)", "T.vectorized(5)"},
     NULL,                       0},
    {"batch matmul to a given program",
     "batch_matmul_relu", "batch_matmul_relu",
     "bmm_relu",    {"T.parallel(8)"},
     "batch_matmul_relu_target", 0},
    {"convolution in tiles",
     "conv2d",            "conv2d",
     "conv",        {"T.parallel(21)", "T.vectorized(4)"},
     NULL,                       0},
    {"one fixed tile",
     "matmul_float_init", "matmul_float_init",
     "main",        {"T.grid(128, 28)", "M_init"},
     NULL,                       0},
    {"a tile drawn at random",
     "matmul_float_init", "matmul_float_init_stochastic",
     "main",        {"M_init"},
     NULL,                       3},
    {"a tile as decided",
     "matmul_float_init", "matmul_float_init_decided",
     "main",        {"T.grid(128, 14)"},
     NULL,                       0},
    {"vector add on a grid of threads",
     "vector_add_grid",   "vector_add_grid",
     "main",        {"T.thread_binding(8, thread=\"blockIdx.x\")",
      "T.thread_binding(256, thread=\"threadIdx.x\")"},
     NULL,                       0},
    {"window sum by shared memory",
     "window_sum",        "window_sum",
     "main",        {"scope=\"shared\"", "T.where(", "T.thread_binding(128, thread=\"threadIdx.x\")"},
     NULL,                       0},
    {"matmul, tiles in local memory",
     "matmul_float_init", "matmul_float_init_local",
     "main",        {"scope=\"local\"", "thread=\"threadIdx.y\"", "T.unroll(4)"},
     NULL,                       0},
    {"matmul, threads that fetch together",
     "matmul_float_init", "matmul_float_init_shared",
     "main",        {"X_shared = T.sblock_alloc_buffer((128, 96), scope=\"shared\")", "T.vectorized(4)"},
     NULL,                       0},
    {"matmul by the fragments of a warp",
     "matmul_half",       "matmul_half_wmma",
     "main",        {"T.tvm_mma_sync(", "T.tvm_fill_fragment(", "\"col_major\""},
     NULL,                       0},
    {"matmul by the lanes of a warp",
     "matmul_warp",       "matmul_warp_mma",
     "main",        {"T.ptx_legacy.mma(\"m16n8k16\"", "T.ptx_legacy.ldmatrix(T.bool(True)"},
     NULL,                       0},
};

static const char *path_of(const char *folder, const char *name) {
    char relative[128];
    snprintf(relative, sizeof relative, "tests/programs/%s%s.py", folder, name);
    return hone_test_source_path(relative);
}

static const hone_func *load(const char *name, const char *func, hone_module **out_module) {
    const hone_member *member = NULL;
    HONE_ASSERT_OK(hone_script_load(path_of("", name), out_module));
    HONE_ASSERT_OK(hone_module_pick(*out_module, func, &member));
    assert_int_equal(member->kind, HONE_MEMBER_FUNC);
    return member->func;
}

static void check_parts(const struct row *row, const hone_func *func) {
    hone_str text = {0};
    HONE_ASSERT_OK(hone_func_print(func, NULL, &text));
    bool is_missing = false;
    for (size_t i = 0; i < HONE_COUNT(row->parts) && row->parts[i]; i++) {
        if (strstr(hone_str_text(&text), row->parts[i])) continue;
        print_message("no '%s' in:\n%s", row->parts[i], hone_str_text(&text));
        is_missing = true;
    }
    hone_str_deinit(&text);
    assert_false(is_missing);
}

/* The printed trace, read again and replayed, makes the same program. */
static void check_replay(hone_schedule *sch, const hone_func *base) {
    hone_hash128 want = hone_func_hash(sch->func);
    hone_arena *arena = hone_arena_create(1 << 14);
    for (int form = 0; form < 2; form++) {
        hone_str text = {0};
        hone_trace again;
        hone_schedule *other;
        HONE_ASSERT_OK(form ? hone_trace_print_json(&sch->trace, &text)
                            : hone_trace_print_python(&sch->trace, &text));
        HONE_ASSERT_OK(form ? hone_trace_parse_json(arena, text.data, text.length, "t", &again)
                            : hone_trace_parse_python(arena, text.data, text.length, "t", &again));
        HONE_ASSERT_OK(hone_schedule_create(base, &other));
        HONE_ASSERT_OK(hone_trace_apply(&again, other, NULL));
        hone_hash128 got = hone_func_hash(other->func);
        hone_schedule_destroy(other);
        hone_str_deinit(&text);
        assert_true(hone_hash128_equal(got, want));
    }
    hone_arena_destroy(arena);
}

static void check_equals(const char *name, const hone_func *got) {
    hone_module *module;
    hone_str difference = {0};
    const hone_func *want = load(name, NULL, &module);
    bool is_equal = hone_func_equal(got, want, &difference);
    if (!is_equal) print_message("%s\n", hone_str_text(&difference));
    hone_str_deinit(&difference);
    hone_module_release(module);
    assert_true(is_equal);
}

static void transforms(void **state) {
    const struct row *row = *state;
    hone_module *module;
    const hone_func *base = load(row->program, row->func, &module);
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_trace trace;
    hone_schedule *sch;
    HONE_ASSERT_OK(hone_trace_load(arena, path_of("traces/", row->trace), NULL, NULL, &trace));
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    sch->wants_reasons = true;
    hone_hash128 seen[SEEDS];
    int distinct = 0;
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + (row->least_programs ? SEEDS : 1); seed++) {
        HONE_ASSERT_OK(hone_schedule_reset(sch));
        sch->rng = hone_rng_from_seed(seed);
        HONE_ASSERT_OK(hone_trace_apply(&trace, sch, NULL));
        HONE_ASSERT_OK(hone_check_func(sch->func));
        hone_hash128 hash = hone_func_hash(sch->func);
        bool is_new = true;
        for (int i = 0; i < distinct; i++)
            is_new &= !hone_hash128_equal(seen[i], hash);
        if (!is_new) continue;
        seen[distinct++] = hash;
        if (distinct <= 4) hone_test_agree(base, sch->func, seed); /* slow */
        check_parts(row, sch->func);
        check_replay(sch, base);
    }
    assert_true(distinct >= row->least_programs);
    if (row->equals) check_equals(row->equals, sch->func);
    assert_false(hone_func_equal(base, sch->func, NULL));
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    hone_module_release(module);
}

/* Dive into a stochastic schedule: after the sampling step there is a tile, and no split yet. */
static void stops_after_sampling(void **state) {
    (void)state;
    hone_module *module;
    const hone_func *base = load("matmul_float_init", "main", &module);
    hone_schedule *sch;
    hone_rv block;
    const hone_rv *loops, *tile;
    uint32_t count;
    int64_t outer, inner;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    HONE_ASSERT_OK(hone_sch_get_block(sch, "M", &block));
    HONE_ASSERT_OK(hone_sch_get_loops(sch, block, &count, &loops));
    HONE_ASSERT_OK(hone_sch_sample_perfect_tile(sch, loops[1], 2, 16, NULL, &tile));
    HONE_ASSERT_OK(hone_schedule_int(sch, tile[0], &outer));
    HONE_ASSERT_OK(hone_schedule_int(sch, tile[1], &inner));
    assert_int_equal(outer * inner, 112);
    assert_true(inner <= 16);
    assert_true(hone_func_equal(base, sch->func, NULL));
    hone_factor factors[2] = {HONE_FACTOR_OF_RV(tile[0]), HONE_FACTOR_OF_RV(tile[1])};
    HONE_ASSERT_OK(hone_sch_split(sch, loops[1], 2, factors, true, false, &loops));
    assert_false(hone_func_equal(base, sch->func, NULL));
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stops_after_sampling)};
    int failed = HONE_RUN_ROWS("programs/transformations", rows, transforms);
    return failed + cmocka_run_group_tests_name("programs/sampling", tests, NULL, NULL);
}
