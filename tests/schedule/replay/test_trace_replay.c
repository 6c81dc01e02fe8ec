/* tests/schedule/replay/test_trace_replay.c - what is recorded means the same elsewhere: the trace
 * as text, on the program as text, gives the program that it gave here, node for node. */
#include "tests/support/hone_test.h"

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "schedule/primitive/primitives.h"
#include "schedule/python/trace_parse.h"
#include "schedule/replay/trace_apply.h"
#include "tests/schedule/steps/random_steps.h"
#include "tests/support/random_program.h"

enum { PROGRAMS = 400, STEPS = 8 };

/* The program as it comes back from its text. */
static hone_module *through_text(const hone_func *func) {
    hone_module *module = NULL, *parsed = NULL;
    hone_str text = {0};
    HONE_ASSERT_OK(hone_module_of_func(func, &module));
    HONE_ASSERT_OK(hone_module_print(module, NULL, &text));
    HONE_ASSERT_OK(hone_script_parse(text.data, text.length, "test.py", &parsed));
    hone_str_deinit(&text);
    hone_module_release(module);
    return parsed;
}

static void apply_random_steps(hone_schedule *sch, uint64_t seed) {
    hone_rng rng = hone_rng_from_seed(seed + 1);
    for (int i = 0; i < STEPS; i++)
        hone_status_free(hone_random_step(sch, &rng));
}

/* Random steps name nodes that no instruction made; such traces can't be written down. */
static bool is_self_contained(const hone_trace *trace) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < trace->count; i++)
        made += trace->insts[i].output_count;
    return made == trace->rv_count;
}

/* A schedule whose every step goes through get_block and get_loops. */
static void tile_first_block(hone_schedule *sch) {
    hone_node_id root = hone_func_root_block(sch->func), block = HONE_NO_ID;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        if (n != root && hone_func_node(sch->func, n)->kind == HONE_NODE_BLOCK) block = n;
    }
    hone_rv rv;
    uint32_t count = 0;
    const hone_rv *loops = NULL, *parts = NULL, *split = NULL;
    HONE_ASSERT_OK(
        hone_sch_get_block(sch, hone_func_node(sch->func, block)->u.block.block->name, &rv));
    HONE_ASSERT_OK(hone_sch_get_loops(sch, rv, &count, &loops));
    for (uint32_t i = 0; i < count; i++) {
        HONE_ASSERT_OK(hone_sch_sample_perfect_tile(sch, loops[i], 2, 8, NULL, &parts));
        hone_factor factors[] = {HONE_FACTOR_OF_RV(parts[0]), HONE_FACTOR_OF_RV(parts[1])};
        HONE_ASSERT_OK(hone_sch_split(sch, loops[i], 2, factors, true, false, &split));
        if (i == 0) hone_status_free(hone_sch_parallel(sch, split[0]));
    }
}

static void check(const hone_func *base, uint64_t seed, bool as_python) {
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_schedule *here = NULL, *there = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &here));
    here->rng = hone_rng_from_seed(seed);
    bool is_random = seed % 4 == 0;
    if (is_random) apply_random_steps(here, seed);
    if (!is_self_contained(&here->trace)) {
        HONE_ASSERT_OK(hone_schedule_reset(here));
        is_random = false;
    }
    if (!is_random) tile_first_block(here);
    hone_str text = {0};
    hone_trace trace;
    if (as_python) {
        HONE_ASSERT_OK(hone_trace_print_python(&here->trace, &text));
        HONE_ASSERT_OK(hone_trace_parse_python(arena, text.data, text.length, "trace.py", &trace));
    } else {
        HONE_ASSERT_OK(hone_trace_print_json(&here->trace, &text));
        HONE_ASSERT_OK(hone_trace_parse_json(arena, text.data, text.length, "trace", &trace));
    }
    hone_module *parsed = through_text(base);
    HONE_ASSERT_OK(hone_schedule_create(parsed->members[0].func, &there));
    HONE_ASSERT_OK(hone_trace_apply(&trace, there, NULL));
    bool same = hone_hash128_equal(hone_func_hash(here->func), hone_func_hash(there->func));
    if (!same) print_error("seed %llu\n", (unsigned long long)seed);
    hone_schedule_destroy(here);
    hone_schedule_destroy(there);
    hone_module_release(parsed);
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
    assert_true(same);
}

static void replays_alike(void **state) {
    (void)state;
    uint64_t first = hone_test_seed(1);
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_func *base = hone_random_program(arena, seed, NULL);
        assert_non_null(base);
        check(base, seed, seed % 2);
        hone_arena_destroy(arena);
    }
}

/* Equal programs get equal numbers. */
static void canonical_copies_are_equal(void **state) {
    (void)state;
    uint64_t first = hone_test_seed(1);
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_func *base = hone_random_program(arena, seed, NULL);
        hone_func *copy = hone_func_copy_canonical(arena, base);
        assert_non_null(copy);
        bool equal = hone_func_equal(base, copy, NULL);
        hone_test_agree(base, copy, seed);
        hone_arena_destroy(arena);
        assert_true(equal);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_alike),
        cmocka_unit_test(canonical_copies_are_equal),
    };
    return cmocka_run_group_tests_name("schedule/trace_replay", tests, NULL, NULL);
}
