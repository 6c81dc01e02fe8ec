/* tests/schedule/defaults/test_default_schedule.c - default schedules never fail, keep the meaning,
 * and keep expressions small. */
#include "tests/support/hone_test.h"

#include <stdio.h>

#include "schedule/primitive/primitives.h"
#include "tests/schedule/defaults/default_trial.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"
#include "tests/support/workloads.h"

enum { RANDOM_PROGRAMS = 400 };

/* A machine where parameters never change. */
static hone_default_limits with_constants(const hone_default_limits *limits) {
    hone_default_limits out = *limits;
    out.constants = UINT64_MAX;
    return out;
}

static void workload_is_right(void **state) {
    const hone_workload *row = *state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(row->text, &module);
    bool is_good = true;
    for (size_t i = 0; i < DEFAULT_MACHINES; i++) {
        const hone_default_limits with = with_constants(&default_machines[i]);
        is_good = is_good && default_trial_is_right(func, &default_machines[i], i) &&
                  default_trial_is_right(func, &with, i);
    }
    hone_module_release(module);
    assert_true(is_good);
}

static void random_programs_are_right(void **state) {
    (void)state;
    uint64_t programs = hone_test_count(RANDOM_PROGRAMS), first = hone_test_seed(0);
    for (uint64_t seed = first; seed < first + programs; seed++) {
        hone_arena *arena = hone_arena_create(1 << 16);
        hone_random_options varied = {.is_varied = true, .has_sizes = true};
        hone_func *func = hone_random_program(arena, seed, &varied);
        assert_non_null(func);
        const hone_default_limits *machine = &default_machines[seed % DEFAULT_MACHINES];
        const hone_default_limits with = with_constants(machine);
        bool is_good = default_trial_is_right(func, seed % 2 ? &with : machine, seed);
        hone_arena_destroy(arena);
        if (!is_good) fail_msg("seed %llu", (unsigned long long)seed);
    }
}

/* ---- how large expressions become ---- */

enum { CHAIN = 40 };

/* Each link reads the one before so many times. */
static void print_chain(const char *link, hone_str *text) {
    hone_str_append(text, "@T.prim_func\n"
                          "def main(S0: T.Buffer((64,), \"float32\"), Out: T.Buffer((64,), "
                          "\"float32\")):\n");
    for (int k = 1; k <= CHAIN; k++)
        hone_str_printf(text, "    S%d = T.alloc_buffer((64,))\n", k);
    for (int k = 1; k <= CHAIN + 1; k++) {
        char to[16];
        snprintf(to, sizeof to, k > CHAIN ? "Out" : "S%d", k);
        hone_str_printf(text,
                        "    for i in range(64):\n        with T.block(\"%s\"):\n"
                        "            v = T.axis.spatial(64, i)\n            %s[v] = ",
                        to, to);
        for (const char *c = link; *c; c++) {
            if (*c == '@')
                hone_str_printf(text, "S%d[v]", k - 1);
            else
                hone_str_printf(text, "%c", *c);
        }
        hone_str_append(text, "\n");
    }
}

static bool count_term(void *ctx, const hone_expr *e) {
    (void)e;
    return ++*(uint64_t *)ctx <= 1000000;
}

static uint64_t terms_of(const hone_func *func) {
    uint64_t terms = 0;
    hone_tree_walk_parts(func, 0, false, count_term, &terms);
    return terms;
}

static hone_schedule *schedule_chain(const char *link, hone_module **out_module) {
    hone_schedule *sch = NULL;
    hone_str text = {0};
    print_chain(link, &text);
    HONE_ASSERT_OK(hone_str_check(&text));
    HONE_ASSERT_OK(hone_schedule_create(hone_test_parse(text.data, out_module), &sch));
    hone_str_deinit(&text);
    return sch;
}

static void chains_stay_small(void **state) {
    static const char *const links[] = {"@ * T.sigmoid(@)", "@ * @ + @", "@ * T.float32(2)",
                                        "T.if_then_else(@ > T.float32(0), @, @ * @)"};
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(links); i++) {
        hone_module *module = NULL;
        hone_schedule *sch = schedule_chain(links[i], &module);
        HONE_ASSERT_OK(hone_default_schedule(sch, &default_machines[0]));
        if (terms_of(sch->func) > CHAIN * 512) fail_msg("a chain of %s became huge", links[i]);
        hone_schedule_destroy(sch);
        hone_module_release(module);
    }
}

static void huge_inlining_is_refused(void **state) {
    (void)state;
    hone_module *module = NULL;
    hone_schedule *sch = schedule_chain("@ * @", &module);
    hone_status st = HONE_OK;
    int done = 0;
    for (; !st && done < CHAIN; done++) {
        char name[16];
        hone_rv block;
        snprintf(name, sizeof name, "S%d", done + 1);
        HONE_ASSERT_OK(hone_sch_get_block(sch, name, &block));
        st = hone_sch_compute_inline(sch, block);
    }
    assert_in_range(done, 8, 20);
    HONE_ASSERT_ERROR(st, HONE_CODE_ILLEGAL, "terms");
    assert_true(terms_of(sch->func) < 200000);
    hone_schedule_destroy(sch);
    hone_module_release(module);
}

int main(void) {
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    int failed = hone_test_run_rows("schedule/default", hone_workloads, sizeof hone_workloads[0],
                                    count, workload_is_right);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_right),
        cmocka_unit_test(chains_stay_small),
        cmocka_unit_test(huge_inlining_is_refused),
    };
    return failed + cmocka_run_group_tests_name("schedule/default", tests, NULL, NULL);
}
