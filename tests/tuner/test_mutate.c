/* tests/tuner/test_mutate.c - mutation changes little, and only within what it may be; it learns
 * which mutators do well. */
#include "tests/support/hone_test.h"

#include <string.h>

#include "schedule/replay/trace_apply.h"
#include "tests/support/program_text.h"
#include "tests/support/workloads.h"
#include "tuner/space/mutator.h"

enum { STEPS = 300 };

static const hone_target target = {.kind = HONE_TARGET_LLVM,
                                   .triple = "x86_64-linux-gnu",
                                   .vector_bits = 256,
                                   .num_cores = 4,
                                   .num_threads = 4,
                                   .cache_line_bytes = 64};

typedef struct fixture {
    hone_module *module;
    const hone_func *func;
    hone_space space;
    hone_schedule *sch;
    hone_arena *arena;
} fixture;

static void set_up(fixture *f, const char *text) {
    f->func = hone_test_parse(text, &f->module);
    HONE_ASSERT_OK(hone_space_generate(f->func, &target, &f->space));
    HONE_ASSERT_OK(hone_schedule_create(f->func, &f->sch));
    f->arena = hone_arena_create(4096);
}

static void tear_down(fixture *f) {
    hone_arena_destroy(f->arena);
    hone_schedule_destroy(f->sch);
    hone_space_deinit(&f->space);
    hone_module_release(f->module);
}

/* Decisions of a random sample that is not refused. */
static hone_decision *sample(fixture *f, const hone_trace *sketch) {
    hone_status st;
    do {
        HONE_ASSERT_OK(hone_schedule_reset(f->sch));
        st = hone_trace_apply(sketch, f->sch, &(hone_apply_options){.resample = true});
        hone_status_free(st);
    } while (st);
    hone_trace kept;
    HONE_ASSERT_OK(hone_trace_simplify(f->arena, &f->sch->trace, true, &kept));
    assert_int_equal(kept.count, sketch->count);
    return kept.decisions;
}

static bool same(const hone_decision *a, const hone_decision *b) {
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->values, b->values, a->count * sizeof *a->values) == 0);
}

static void check_tile(const hone_inst *inst, const hone_decision *old, const hone_decision *now) {
    int64_t before = 1, after = 1;
    for (uint32_t i = 0; i < old->count; i++) {
        before *= old->values[i];
        after *= now->values[i];
        assert_true(now->values[i] >= 1);
    }
    assert_int_equal(before, after);
    int64_t limit = inst->attrs[1].u.i, last = now->values[now->count - 1];
    assert_true(limit < 0 || last <= limit || last <= old->values[old->count - 1]);
}

static void check_decision(const hone_inst *inst, const hone_decision *old,
                           const hone_decision *now) {
    assert_int_equal(old->count, now->count);
    if (inst->kind == HONE_INST_SAMPLE_PERFECT_TILE) {
        check_tile(inst, old, now);
    } else if (inst->kind == HONE_INST_SAMPLE_CATEGORICAL) {
        assert_in_range(now->values[0], 0, inst->attrs[0].count - 1);
    } else {
        assert_int_equal(inst->kind, HONE_INST_SAMPLE_COMPUTE_LOCATION);
        assert_true(now->values[0] >= -2);
    }
}

/* Swapping changes two tiles at most, all others one decision. */
static void check_step(const hone_trace *sketch, const hone_decision *old,
                       const hone_child *child) {
    uint32_t changed = 0;
    const hone_decision *now = child->draft.decisions;
    for (uint32_t i = 0; i < sketch->count; i++) {
        if (same(&old[i], &now[i])) continue;
        changed++;
        check_decision(&sketch->insts[i], &old[i], &now[i]);
    }
    assert_in_range(changed, 1, child->mutator == HONE_MUTATOR_IS_swap ? 2 : 1);
}

/* Kept apart from the mutators that leave the sketch. */
static hone_space only(const hone_trace *sketch) {
    return (hone_space){.sketches = (hone_trace *)(uintptr_t)sketch, .count = 1};
}

static void changes_little(void **state) {
    const hone_workload *row = *state;
    fixture f;
    set_up(&f, row->text);
    hone_rng rng = hone_test_rng(5);
    uint32_t counts[HONE_MUTATORS] = {0};
    for (uint32_t k = 0; k < f.space.count; k++) {
        const hone_trace *sketch = &f.space.sketches[k];
        hone_relative relative = {sketch, sample(&f, sketch)};
        hone_space space = only(sketch);
        hone_kin kin = {&space, &relative, 1, NULL};
        hone_child now =
                       {
                           {0, sample(&f, sketch)},
                           0
        },
                   next, twin;
        uint32_t steps = 0;
        for (; steps < STEPS; steps++) {
            hone_rng same_rng = rng;
            if (!hone_mutate(&kin, &now.draft, &rng, f.arena, &next)) break;
            assert_true(hone_mutate(&kin, &now.draft, &same_rng, f.arena, &twin));
            for (uint32_t i = 0; i < sketch->count; i++)
                assert_true(same(&next.draft.decisions[i], &twin.draft.decisions[i]));
            check_step(sketch, now.draft.decisions, &next);
            counts[next.mutator]++;
            now = next;
        }
        assert_int_equal(steps, STEPS); /* jobs can always change */
    }
    assert_int_equal(counts[HONE_MUTATOR_IS_sketch], 0);
    assert_true(counts[HONE_MUTATOR_IS_category] > 0);
    if (counts[HONE_MUTATOR_IS_tile]) assert_true(counts[HONE_MUTATOR_IS_shift] > 0);
    tear_down(&f);
}

/* The other sketch takes the tiles over, so far as it has as many. */
static void switches_sketches(void **state) {
    (void)state;
    fixture f;
    set_up(&f, hone_workloads[0].text);
    assert_true(f.space.count > 1);
    hone_kin kin = {.space = &f.space};
    hone_rng rng = hone_test_rng(6);
    hone_child child = {0};
    hone_draft parent = {0, sample(&f, &f.space.sketches[0])};
    while (child.mutator != HONE_MUTATOR_IS_sketch)
        assert_true(hone_mutate(&kin, &parent, &rng, f.arena, &child));
    assert_int_not_equal(child.draft.sketch, parent.sketch);
    const hone_trace *sketch = &f.space.sketches[child.draft.sketch];
    uint32_t known = 0;
    for (uint32_t i = 0; i < sketch->count; i++) {
        known += child.draft.decisions[i].count > 0;
        if (!hone_inst_is_sampling(sketch->insts[i].kind))
            assert_int_equal(child.draft.decisions[i].count, 0);
    }
    assert_true(known > 0);
    HONE_ASSERT_OK(hone_schedule_reset(f.sch));
    hone_apply_options options = {.decisions = child.draft.decisions};
    HONE_ASSERT_OK(hone_trace_apply(sketch, f.sch, &options));
    tear_down(&f);
}

/* A mutator whose children are better is drawn more often, but none is given up. */
static void learns_who_does_well(void **state) {
    (void)state;
    fixture f;
    set_up(&f, hone_workloads[0].text);
    const hone_trace *tiled = &f.space.sketches[f.space.count - 1]; /* with tiles to change */
    hone_space space = only(tiled);
    hone_mutator_record record[HONE_MUTATORS] = {0};
    hone_kin kin = {.space = &space, .record = record};
    hone_draft parent = {0, sample(&f, tiled)};
    uint32_t before = 0, after = 0, others = 0;
    hone_child child;
    hone_rng rng = hone_test_rng(7);
    for (int i = 0; i < STEPS; i++) {
        assert_true(hone_mutate(&kin, &parent, &rng, f.arena, &child));
        before += child.mutator == HONE_MUTATOR_IS_category;
    }
    for (int i = 0; i < 5 * STEPS; i++) {
        for (uint32_t k = 0; k < HONE_MUTATORS; k++)
            hone_mutate_note(record, k, k == HONE_MUTATOR_IS_category);
    }
    assert_true(record[0].made < 5 * STEPS); /* what was long ago fades */
    for (int i = 0; i < STEPS; i++) {
        assert_true(hone_mutate(&kin, &parent, &rng, f.arena, &child));
        after += child.mutator == HONE_MUTATOR_IS_category;
        others += child.mutator == HONE_MUTATOR_IS_shift;
    }
    assert_true(after > 2 * before);
    assert_true(others > 0);
    tear_down(&f);
}

/* Factors fit another loop: the largest divisors that are no larger, the first takes the rest. */
static void tiles_fit(void **state) {
    (void)state;
    static const int64_t wanted[] = {9, 4, 6};
    int64_t out[4];
    hone_tile_fit(100, -1, 3, wanted, 3, out);
    assert_true(out[0] == 5 && out[1] == 4 && out[2] == 5);
    hone_tile_fit(96, 4, 3, wanted, 2, out);
    assert_true(out[0] == 24 && out[1] == 4);
    hone_tile_fit(96, -1, 3, wanted, 4, out);
    assert_true(out[0] == 4 && out[1] == 1 && out[2] == 4 && out[3] == 6);
    hone_tile_fit(7, -1, 3, wanted, 3, out);
    assert_true(out[0] == 7 && out[1] == 1 && out[2] == 1);
}

static void nothing_to_change(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    hone_trace empty;
    hone_trace_init(&empty, arena);
    hone_rng rng = hone_test_rng(1);
    hone_space space = only(&empty);
    hone_decision none = {0, NULL};
    hone_child out;
    assert_false(
        hone_mutate(&(hone_kin){.space = &space}, &(hone_draft){0, &none}, &rng, arena, &out));
    hone_arena_destroy(arena);
}

int main(void) {
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    int failed = hone_test_run_rows("tuner/mutate", hone_workloads, sizeof hone_workloads[0], count,
                                    changes_little);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_change), cmocka_unit_test(switches_sketches),
        cmocka_unit_test(learns_who_does_well), cmocka_unit_test(tiles_fit)};
    return failed + cmocka_run_group_tests_name("tuner/mutate", tests, NULL, NULL);
}
