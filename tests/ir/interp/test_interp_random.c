/* tests/ir/interp/test_interp_random.c - random programs: the generator makes legal ones, and the
 * same program with its loops split and exchanged by hand computes the same. */
#include "ir/identity/structural.h"
#include "ir/interp/interp.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { SEEDS = 300 };

static void loop_order_does_not_matter(void **state) {
    (void)state;
    uint32_t stages = 0, reductions = 0, predicates = 0;
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        const hone_random_options plain = {.without_splits = true};
        hone_func *a = hone_random_program(arena, seed, &plain);
        hone_func *b = hone_random_program(arena, seed, NULL);
        assert_non_null(a);
        assert_non_null(b);
        for (hone_node_id n = 0; n < b->node_count; n++) {
            const hone_node *node = hone_func_node(b, n);
            if (node->kind != HONE_NODE_BLOCK) continue;
            stages++;
            reductions += hone_block_init_of(b, n) != HONE_NO_ID;
            predicates += node->u.block.predicate != NULL;
        }
        hone_test_agree(a, b, seed);
        hone_arena_destroy(arena);
    }
    assert_true(stages > 3 * SEEDS && reductions > SEEDS / 2 && predicates > SEEDS / 5);
}

static void the_seed_decides(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1 << 16);
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + 20; seed++) {
        const hone_func *a = hone_random_program(arena, seed, NULL);
        const hone_func *b = hone_random_program(arena, seed, NULL);
        assert_true(hone_hash128_equal(hone_func_hash(a), hone_func_hash(b)));
    }
    hone_arena_destroy(arena);
}

/* Legal programs have no errors; what they declare covers what inference finds. */
static void the_verifier_agrees(void **state) {
    (void)state;
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        const hone_func *func = hone_random_program(arena, seed, NULL);
        hone_findings findings = {.arena = arena};
        HONE_ASSERT_OK(hone_verify_func(func, &findings));
        if (findings.error_count > 0) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, findings.items[0].text);
        }
        hone_arena_destroy(arena);
    }
}

/* Loops over spatial axes may run in parallel, loops over reduction axes may not. */
static bool only_moves(const hone_func *func, hone_node_id block, hone_var var,
                       hone_axis_kind kind) {
    const hone_node *node = hone_func_node(func, block);
    bool moves = false;
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (!hone_expr_uses_var(node->u.block.bindings[i], var)) continue;
        if (node->u.block.block->axes[i].kind != kind) return false;
        moves = true;
    }
    return moves;
}

static uint32_t make_parallel(hone_func *func, hone_axis_kind kind) {
    uint32_t count = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        hone_node_id up = hone_func_node(func, n)->parent;
        for (; up != HONE_NO_ID; up = hone_func_node(func, up)->parent) {
            hone_node *loop = hone_func_node(func, up);
            if (loop->kind != HONE_NODE_FOR || !only_moves(func, n, loop->u.loop.var, kind))
                continue;
            if (hone_expr_const(loop->u.loop.range.extent) < 2) continue;
            loop->loop_kind = HONE_LOOP_PARALLEL;
            count++;
        }
    }
    return count;
}

static void races_are_found(void **state) {
    (void)state;
    const hone_interp_options options = {.check_races = true};
    uint32_t reductions = 0;
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        for (int reduce = 0; reduce < 2; reduce++) {
            hone_arena *arena = hone_arena_create(1 << 16);
            hone_func *func = hone_random_program(arena, seed, NULL);
            hone_axis_kind kind = reduce ? HONE_AXIS_REDUCE : HONE_AXIS_SPATIAL;
            bool is_wrong = make_parallel(func, kind) > 0 && reduce;
            hone_tensor **args = hone_test_make_args(func, seed);
            hone_status st = hone_interp_func(func, args, func->param_count, &options);
            hone_test_free_args(func, args);
            hone_arena_destroy(arena);
            reductions += is_wrong;
            if (is_wrong)
                HONE_ASSERT_ERROR(st, HONE_CODE_ILLEGAL, "parallel loop touch");
            else
                HONE_ASSERT_OK(st);
        }
    }
    assert_true(reductions > SEEDS / 4);
}

/* Every allocation fails once: nothing leaks, nothing crashes, the code is NO_MEMORY. */
static void memory_runs_out(void **state) {
    (void)state;
    hone_tensor *no_bounds[64] = {NULL}; /* of arguments; they are kept of all elements */
    const uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + 12; seed++) {
        const hone_interp_options options = {.check_races = true,
                                             .check_uninitialised = true,
                                             .widen_f64 = seed % 2 == 0,
                                             .out_bounds = seed % 2 ? no_bounds : NULL};
        hone_arena *arena = hone_arena_create(1 << 16);
        const hone_func *func = hone_random_program(arena, seed, NULL);
        hone_tensor **args = hone_test_make_args(func, seed);
        bool has_failed = true;
        for (uint64_t nth = 1; has_failed; nth++) {
            hone_alloc_fail_nth(nth, false);
            hone_status st = hone_interp_func(func, args, func->param_count, &options);
            has_failed = hone_alloc_has_failed();
            hone_alloc_fail_nth(0, false);
            HONE_ASSERT_CODE(st, has_failed ? HONE_CODE_NO_MEMORY : HONE_CODE_OK);
        }
        has_failed = true;
        for (uint64_t nth = 1; has_failed; nth++) {
            hone_alloc_fail_nth(nth, false);
            hone_code code = hone_status_consume(hone_check_func(func));
            has_failed = hone_alloc_has_failed();
            hone_alloc_fail_nth(0, false); /* a proof without memory is one that was not found */
            assert_true(code == HONE_CODE_OK || (has_failed && code == HONE_CODE_NO_MEMORY));
        }
        hone_test_free_args(func, args);
        hone_arena_destroy(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_order_does_not_matter),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(the_verifier_agrees),
        cmocka_unit_test(races_are_found),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("ir/interp_random", tests, NULL, NULL);
}
