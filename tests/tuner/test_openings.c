/* tests/tuner/test_openings.c - replays that begin behind the opening of a sketch give what replays
 * from the program give: the same program and trace, or a refusal. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "ir/identity/structural.h"
#include "schedule/replay/trace_opening.h"
#include "tests/support/program_text.h"
#include "tests/support/workloads.h"
#include "tuner/space/space.h"

enum { DRAWS = 4 };

/* Two schedules of a program: one replays all steps, the other one begins behind the opening. */
typedef struct pair {
    hone_schedule *whole, *behind;
    hone_space space;
    hone_target target;
    int openings; /* in which something is done */
} pair;

static hone_status replay(hone_schedule *sch, const hone_trace_opening *opening,
                          const hone_trace *sketch, const hone_target *target, uint64_t seed) {
    sch->rng = hone_rng_from_seed(seed);
    HONE_TRY(
        hone_trace_opening_apply(opening, sketch, sch, &(hone_apply_options){.resample = true}));
    return hone_postprocess(sch, target);
}

static void assert_same(const pair *p, const char *name, uint32_t sketch) {
    hone_str texts[2] = {{0}, {0}};
    hone_hash128 a = hone_func_hash(p->whole->func), b = hone_func_hash(p->behind->func);
    HONE_ASSERT_OK(hone_trace_print_json(&p->whole->trace, &texts[0]));
    HONE_ASSERT_OK(hone_trace_print_json(&p->behind->trace, &texts[1]));
    bool is_same =
        hone_hash128_equal(a, b) && strcmp(hone_str_text(&texts[0]), hone_str_text(&texts[1])) == 0;
    hone_str_deinit(&texts[0]);
    hone_str_deinit(&texts[1]);
    if (!is_same) fail_msg("%s, sketch %u: another program or trace", name, sketch);
}

static void check_sketch(pair *p, const char *name, uint32_t sketch) {
    static const hone_trace_opening none = {0};
    const hone_trace *trace = &p->space.sketches[sketch];
    hone_trace_opening opening;
    HONE_ASSERT_OK(hone_trace_opening_init(trace, p->behind, &opening));
    p->openings += opening.at != NULL;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        hone_status a = replay(p->whole, &none, trace, &p->target, seed);
        hone_status b = replay(p->behind, &opening, trace, &p->target, seed);
        hone_code codes[] = {hone_status_code(a), hone_status_code(b)};
        hone_status_free(a);
        hone_status_free(b);
        if (codes[0] != codes[1])
            fail_msg("%s, sketch %u: %d and %d", name, sketch, codes[0], codes[1]);
        if (codes[0] == HONE_CODE_OK) assert_same(p, name, sketch);
    }
    HONE_ASSERT_OK(hone_schedule_reset(p->behind));
    hone_trace_opening_deinit(&opening);
}

static void check_workload(pair *p, const hone_workload *w) {
    hone_module *module = NULL;
    hone_draft starts[HONE_MAX_VARIANTS];
    uint32_t count;
    const hone_variant_rules rules = {.most_error = 1};
    const hone_func *func = hone_test_parse(w->text, &module);
    HONE_ASSERT_OK(hone_space_generate(func, &p->target, &p->space));
    HONE_ASSERT_OK(hone_space_add_variants(&p->space, func, &p->target, 0, &rules, starts, &count));
    HONE_ASSERT_OK(hone_schedule_create(func, &p->whole));
    HONE_ASSERT_OK(hone_schedule_create(func, &p->behind));
    for (uint32_t s = 0; s < p->space.count; s++)
        check_sketch(p, w->name, s);
    hone_schedule_destroy(p->behind);
    hone_schedule_destroy(p->whole);
    hone_space_deinit(&p->space);
    hone_module_release(module);
}

static void replays_behind_openings_are_the_same(void **state) {
    (void)state;
    static const char *const targets[] = {"x86-64-v4", "nvidia/nvidia-h100"};
    for (size_t t = 0; t < HONE_COUNT(targets); t++) {
        pair p = {0};
        HONE_ASSERT_OK(hone_target_parse(targets[t], &p.target));
        for (const hone_workload *w = hone_workloads; w->name; w++)
            check_workload(&p, w);
        if (p.openings == 0) fail_msg("no opening for %s", targets[t]);
    }
}

static void an_opening_that_is_refused_is_none(void **state) {
    (void)state;
    hone_module *module = NULL;
    hone_schedule *sch = NULL;
    hone_trace trace;
    hone_trace_opening opening;
    const hone_func *func = hone_test_parse(hone_workloads[0].text, &module);
    hone_arena *arena = hone_arena_create(1 << 12);
    static const char json[] = "[[[\"GetSBlock\", [], [\"nowhere\", \"main\"], [\"b0\"]], "
                               "[\"ComputeInline\", [\"b0\"], [], []]], []]";
    HONE_ASSERT_OK(hone_trace_parse_json(arena, json, sizeof json - 1, "trace", &trace));
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_trace_opening_init(&trace, sch, &opening));
    assert_null(opening.at);
    hone_status st = hone_trace_opening_apply(&opening, &trace, sch, NULL);
    assert_true(st != HONE_OK);
    hone_status_free(st);
    hone_schedule_destroy(sch);
    hone_arena_destroy(arena);
    hone_module_release(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_behind_openings_are_the_same),
        cmocka_unit_test(an_opening_that_is_refused_is_none),
    };
    return cmocka_run_group_tests_name("tuner/openings", tests, NULL, NULL);
}
