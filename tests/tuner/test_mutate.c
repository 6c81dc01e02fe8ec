/* tests/tuner/test_mutate.c - mutation changes just one decision, and only within what it may be.
 */
#include "tests/support/hone_test.h"

#include <string.h>

#include "schedule/replay/trace_apply.h"
#include "tests/support/program_text.h"
#include "tests/support/workloads.h"
#include "tuner/space/space.h"

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

static void check_step(const hone_trace *sketch, const hone_decision *old, const hone_decision *now,
                       uint32_t *io_tiles) {
    uint32_t changed = 0;
    for (uint32_t i = 0; i < sketch->count; i++) {
        if (same(&old[i], &now[i])) continue;
        changed++;
        const hone_inst *inst = &sketch->insts[i];
        assert_int_equal(old[i].count, now[i].count);
        if (inst->kind == HONE_INST_SAMPLE_PERFECT_TILE) {
            check_tile(inst, &old[i], &now[i]);
            ++*io_tiles;
        } else if (inst->kind == HONE_INST_SAMPLE_CATEGORICAL) {
            assert_in_range(now[i].values[0], 0, inst->attrs[0].count - 1);
        } else {
            assert_int_equal(inst->kind, HONE_INST_SAMPLE_COMPUTE_LOCATION);
            assert_true(now[i].values[0] >= -2);
        }
    }
    assert_int_equal(changed, 1);
}

static void changes_one_decision(void **state) {
    const hone_workload *row = *state;
    fixture f;
    set_up(&f, row->text);
    hone_rng rng = hone_test_rng(5);
    for (uint32_t k = 0; k < f.space.count; k++) {
        const hone_trace *sketch = &f.space.sketches[k];
        hone_decision *now = sample(&f, sketch);
        hone_decision *next = hone_arena_alloc(f.arena, (sketch->count + 1) * sizeof *next);
        hone_decision *twin = hone_arena_alloc(f.arena, (sketch->count + 1) * sizeof *twin);
        uint32_t tiles = 0, steps = 0;
        for (; steps < STEPS; steps++) {
            hone_rng same_rng = rng;
            if (!hone_mutate(sketch, now, &rng, f.arena, next)) break;
            assert_true(hone_mutate(sketch, now, &same_rng, f.arena, twin));
            for (uint32_t i = 0; i < sketch->count; i++)
                assert_true(same(&next[i], &twin[i]));
            check_step(sketch, now, next, &tiles);
            memcpy(now, next, sketch->count * sizeof *now);
        }
        assert_int_equal(steps, STEPS); /* jobs can always change */
        if (tiles) assert_in_range(tiles, STEPS * 8 / 10, STEPS * 97 / 100);
    }
    tear_down(&f);
}

static void nothing_to_change(void **state) {
    (void)state;
    hone_arena *arena = hone_arena_create(1024);
    hone_trace empty;
    hone_trace_init(&empty, arena);
    hone_rng rng = hone_test_rng(1);
    hone_decision none = {0, NULL}, out;
    assert_false(hone_mutate(&empty, &none, &rng, arena, &out));
    hone_arena_destroy(arena);
}

int main(void) {
    size_t count = 0;
    while (hone_workloads[count].name)
        count++;
    int failed = hone_test_run_rows("tuner/mutate", hone_workloads, sizeof hone_workloads[0], count,
                                    changes_one_decision);
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_to_change)};
    return failed + cmocka_run_group_tests_name("tuner/mutate", tests, NULL, NULL);
}
