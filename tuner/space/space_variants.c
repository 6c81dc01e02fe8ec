/* tuner/space/space_variants.c - sketches of other algorithms for the same task: each begins with
 * use_variant, so that everything that replays it knows what it is about.
 *
 *   variant ─► default schedule, opened               where its search begins
 *          ├─► its own ways (schedule/defaults/winograd.h)
 *          └─► the rules                              a few: they compete with the program's own
 */
#include "compile/first_schedule.h"
#include "schedule/defaults/pairs.h"
#include "schedule/defaults/winograd.h"
#include "schedule/primitive/primitives.h"
#include "schedule/variant/variant.h"
#include "tuner/space/space_rule.h"

enum { MOST_BY_RULES = 6, MOST_VECTORS = 4 };

typedef struct adding {
    hone_space *space;
    hone_schedule *sch;
    const hone_target *target;
    const hone_variant *variant;
    uint64_t constants;
    hone_draft *starts;
    uint32_t *start_count;
} adding;

static hone_status begin(adding *a, bool *out_serves) {
    HONE_TRY(hone_schedule_reset(a->sch));
    return hone_rule_attempt(hone_sch_use_variant(a->sch, a->variant), out_serves);
}

/* What the schedule did, as a sketch. */
static hone_status add_sketch(adding *a, hone_draft *out_start) {
    hone_trace trace;
    HONE_TRY(hone_trace_simplify(a->space->arena, &a->sch->trace, true, &trace));
    return hone_space_add(a->space, &trace, out_start) ? HONE_OK
                                                       : HONE_NO_MEMORY("sketches of variants");
}

static hone_status add_default(adding *a) {
    assert(*a->start_count < HONE_MAX_VARIANTS);
    HONE_TRY(hone_first_schedule(a->sch, a->target, a->constants));
    HONE_TRY(add_sketch(a, &a->starts[*a->start_count]));
    ++*a->start_count;
    return HONE_OK;
}

static hone_status add_way(adding *a, const hone_winograd_way *way) {
    bool is_done;
    HONE_TRY(begin(a, &is_done));
    HONE_TRY(
        hone_rule_attempt(hone_first_winograd(a->sch, a->target, a->constants, way), &is_done));
    return is_done ? add_sketch(a, NULL) : HONE_OK;
}

static hone_status add_ways(adding *a) {
    for (int32_t k = 0; k < 2 * MOST_VECTORS; k++) {
        const hone_winograd_way way = {.is_fused = k % 2 == 0, .vectors = k / 2 + 1};
        HONE_TRY(add_way(a, &way));
    }
    return HONE_OK;
}

static hone_status take_some(adding *a, const hone_space *from) {
    for (uint32_t i = 0; i < from->count && i < MOST_BY_RULES; i++) {
        hone_trace copy;
        if (!hone_trace_copy(a->space->arena, &from->sketches[i], &copy) ||
            !hone_space_add(a->space, &copy, NULL))
            return HONE_NO_MEMORY("sketches of variants");
    }
    return HONE_OK;
}

static hone_status add_by_rules(adding *a) {
    hone_space by_rules;
    hone_schedule *copy;
    bool serves;
    HONE_TRY(begin(a, &serves));
    HONE_TRY(hone_schedule_copy(a->sch, &copy));
    HONE_TRY(hone_space_generate_from(copy, a->target, &by_rules));
    hone_status st = take_some(a, &by_rules);
    hone_space_deinit(&by_rules);
    return st;
}

/* Products of pairs are worth it where the CPU has an instruction for them, and the rules find
 * nothing in their panels. */
static hone_status add_pairs(adding *a) {
    return hone_target_has_feature(a->target, "avx512bf16") ? add_default(a) : HONE_OK;
}

static hone_status add_variant(adding *a) {
    bool serves;
    HONE_TRY(begin(a, &serves));
    if (!serves) return HONE_OK;
    if (hone_pairs_is(a->sch)) return add_pairs(a);
    bool has_ways = hone_winograd_is(a->sch) && !hone_target_is_gpu(a->target);
    HONE_TRY(add_default(a));
    return has_ways ? add_ways(a) : add_by_rules(a);
}

static hone_status add_allowed(adding *a, const hone_variant *variant,
                               const hone_variant_rules *rules) {
    a->variant = variant;
    bool is_used = hone_first_serves(variant, a->target) && hone_variant_is_allowed(variant, rules);
    return is_used ? add_variant(a) : HONE_OK;
}

static hone_status add_all(adding *a, const hone_variant_rules *rules) {
    for (size_t i = 0; i < rules->given_count; i++)
        HONE_TRY(add_allowed(a, &rules->given[i], rules));
    for (size_t i = 0; hone_variant_at(i); i++)
        HONE_TRY(add_allowed(a, hone_variant_at(i), rules));
    return HONE_OK;
}

hone_status hone_space_add_variants(hone_space *space, const hone_func *func,
                                    const hone_target *target, uint64_t constants,
                                    const hone_variant_rules *rules, hone_draft *out_starts,
                                    uint32_t *out_count) {
    adding a = {.space = space,
                .target = target,
                .constants = constants,
                .starts = out_starts,
                .start_count = out_count};
    *out_count = 0;
    HONE_TRY(hone_schedule_create(func, &a.sch));
    a.sch->wants_reasons = false;
    hone_status st = add_all(&a, rules);
    hone_schedule_destroy(a.sch);
    return st;
}
