/* tests/lower/driver/test_lower_random.c - random programs with random loop kinds mean the same
 * after every pass, by the interpreter. */
#include <stdio.h>

#include "ir/interp/interp.h"
#include "ir/text/print/script_print.h"
#include "lower/ground/lower.h"
#include "tests/support/annotate_loops.h"
#include "tests/support/hone_test.h"
#include "tests/support/random_program.h"

enum { SEEDS = 500 };

typedef struct after_pass {
    const hone_func *original;
    uint64_t seed;
    hone_tensor **want;
} after_pass;

static hone_status check_pass(void *ctx, const char *pass, const hone_func *func) {
    after_pass *a = ctx;
    hone_tensor **got = hone_test_make_args(a->original, a->seed);
    hone_interp_options options = {.check_uninitialised = true};
    hone_status st = hone_interp_func(func, got, func->param_count, &options);
    hone_str why = {0};
    if (!st && !hone_test_args_agree(a->original, a->seed, got, a->want, &why)) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s", hone_str_text(&why));
    }
    if (st) {
        hone_str text = {0};
        hone_status_free(hone_func_print(a->original, NULL, &text));
        hone_status_free(hone_func_print(func, NULL, &text));
        fputs(hone_str_text(&text), stderr);
        hone_str_deinit(&text);
    }
    hone_str_deinit(&why);
    hone_test_free_args(a->original, got);
    return hone_status_annotate(st, "seed %llu, after %s", (unsigned long long)a->seed, pass);
}

static hone_status check_seed(uint64_t seed, const hone_target *target, uint32_t *changed) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options program = {.is_varied = true};
    hone_func *func = hone_random_program(arena, seed, &program);
    hone_rng rng = hone_rng_from_seed(seed);
    *changed += test_annotate_loops(func, &rng);
    hone_tensor **want = hone_test_make_args(func, seed);
    hone_interp_options interp = {0};
    hone_status st = hone_interp_func(func, want, func->param_count, &interp);
    after_pass ctx = {func, seed, want};
    hone_lower_options options = {.target = target, .after = check_pass, .ctx = &ctx};
    hone_func *lowered;
    if (!st) st = hone_lower_func(func, &options, arena, &lowered);
    hone_test_free_args(func, want);
    hone_arena_destroy(arena);
    return st;
}

static void every_pass_keeps_the_meaning(void **state) {
    (void)state;
    hone_target targets[2]; /* they differ in which vectors may fill a register in part */
    HONE_ASSERT_OK(hone_target_parse("x86-64-v3", &targets[0]));
    HONE_ASSERT_OK(hone_target_parse("x86-64-v4", &targets[1]));
    uint32_t changed = 0;
    uint64_t first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        HONE_ASSERT_OK(check_seed(seed, &targets[seed % 2], &changed));
    }
    assert_true(changed > SEEDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pass_keeps_the_meaning)};
    return cmocka_run_group_tests_name("lower/random", tests, NULL, NULL);
}
