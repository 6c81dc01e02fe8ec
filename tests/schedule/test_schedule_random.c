/* Random programs under random steps: what is accepted verifies and means the same, what is refused
 * is refused by a status and leaves the program as it was. HONE_SEQUENCES sets how many. */
#include "tests/support/hone_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/script.h"
#include "ir/structural.h"
#include "ir/verify.h"
#include "tests/schedule/random_steps.h"
#include "tests/schedule/trace_round_trip.h"
#include "tests/support/random_program.h"

enum { DEFAULT_SEQUENCES = 12000, STEPS = 8, UNSAFE_STEPS = 4 };

static void explain(const hone_schedule *sch, const hone_func *base, uint64_t seed,
                    const char *step, const char *why) {
    hone_str text = {0};
    fprintf(stderr, "seed %llu, after %s: %s\n", (unsigned long long)seed, step, why);
    if (base) hone_status_free(hone_func_print(base, NULL, &text));
    hone_str_append(&text, "---- became ----\n");
    hone_status_free(hone_func_print(sch->func, NULL, &text));
    hone_str_append(&text, "---- by ----\n");
    hone_status_free(hone_trace_print_python(&sch->trace, &text));
    fprintf(stderr, "%s\n", hone_str_text(&text)); /* cmocka cuts long messages */
    hone_str_deinit(&text);
}

static bool is_well_formed(const hone_schedule *sch, uint64_t seed, const char *step) {
    hone_status st = hone_check_func(sch->func);
    if (!st) return true;
    explain(sch, NULL, seed, step, hone_status_message(st));
    hone_status_free(st);
    return false;
}

/* A refused step must leave the program as it was. */
static bool step_is_clean(hone_schedule *sch, hone_rng *rng, uint64_t seed, bool is_unsafe,
                          uint64_t *io_accepted) {
    const char *name = "";
    hone_hash128 before = hone_func_hash(sch->func);
    hone_status st =
        is_unsafe ? hone_random_unsafe_step(sch, rng, &name) : hone_random_step(sch, rng, &name);
    if (!st) {
        ++*io_accepted;
        return is_well_formed(sch, seed, name);
    }
    hone_code code = hone_status_code(st);
    bool fits = code == HONE_CODE_ILLEGAL || code == HONE_CODE_INVALID;
    if (!fits) explain(sch, NULL, seed, name, hone_status_message(st));
    hone_status_free(st);
    if (!fits) return false;
    if (hone_hash128_equal(before, hone_func_hash(sch->func))) return true;
    explain(sch, NULL, seed, name, "a refused step changed the program");
    return false;
}

static bool run_sequence(uint64_t seed, const hone_tensor_intrins *intrins, uint64_t *io_accepted) {
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_random_options options = {.use_int64 = seed % 5 == 0};
    hone_func *base = hone_random_program(arena, seed, &options);
    assert_non_null(base);
    hone_schedule *sch = NULL;
    HONE_ASSERT_OK(hone_schedule_create(base, &sch));
    sch->intrins = intrins;
    hone_rng rng = hone_rng_from_seed(seed * 7919 + 1);
    sch->rng = hone_rng_from_seed(seed);
    sch->wants_reasons = seed % 2;
    bool fine = true;
    for (int i = 0; i < STEPS && fine; i++)
        fine = step_is_clean(sch, &rng, seed, false, io_accepted);
    hone_str why = {0};
    if (fine && !hone_test_agrees(base, sch->func, seed, &why)) {
        explain(sch, base, seed, "all steps", hone_str_text(&why));
        fine = false;
    }
    /* what is unsafe by name may change the meaning, but not break the program or the trace */
    for (int i = 0; i < UNSAFE_STEPS && fine && seed % 8 == 0; i++) {
        uint64_t ignored = 0;
        fine = step_is_clean(sch, &rng, seed, i % 2 == 0, &ignored);
    }
    if (fine && seed % 4 == 0 && !hone_trace_survives(base, sch, &why)) {
        explain(sch, base, seed, "replay", hone_str_text(&why));
        fine = false;
    }
    hone_str_deinit(&why);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    return fine;
}

static void accepted_sequences_keep_the_meaning(void **state) {
    (void)state;
    const char *wanted = getenv("HONE_SEQUENCES"), *first = getenv("HONE_FIRST_SEED");
    uint64_t count = wanted ? strtoull(wanted, NULL, 10) : DEFAULT_SEQUENCES;
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    uint64_t accepted = 0, failed = 0;
    hone_tensor_intrins *intrins = hone_random_intrins();
    assert_non_null(intrins);
    for (uint64_t i = 0; i < count; i++)
        failed += !run_sequence(seed + i, intrins, &accepted);
    hone_tensor_intrins_destroy(intrins);
    print_message("%llu sequences, %llu steps accepted of %llu\n", (unsigned long long)count,
                  (unsigned long long)accepted, (unsigned long long)count * STEPS);
    assert_int_equal(failed, 0);
    assert_true(accepted > count / 2);
}

/* Seeds that failed once: copies of what was never written; replays that were refused; a buffer
 * dropped that a block had hidden to write; merged with one who had not changed all yet; moved
 * instances that did not run before; a region that named a buffer made inside;
 * padding of an axis that begins at 1; a block moved before what it reads. */
static const uint64_t once_failed[] = {77006538,  81001177,  81069163,  90005554,  90032934,
                                       80000072,  80015716,  80076184,  81080100,  200009700,
                                       200021296, 220078896, 310018304, 320044742, 910046459,
                                       910155022, 910234383, 920362008, 930003151};

static void what_failed_once_is_mended(void **state) {
    (void)state;
    uint64_t accepted = 0, failed = 0;
    hone_tensor_intrins *intrins = hone_random_intrins();
    assert_non_null(intrins);
    for (size_t i = 0; i < HONE_COUNT(once_failed); i++)
        failed += !run_sequence(once_failed[i], intrins, &accepted);
    hone_tensor_intrins_destroy(intrins);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_failed_once_is_mended),
                                       cmocka_unit_test(accepted_sequences_keep_the_meaning)};
    return cmocka_run_group_tests_name("schedule/random", tests, NULL, NULL);
}
