/* tests/schedule/steps/random_block_steps.c - random steps on blocks: where they stand, what they
 * keep, how they reduce. */
#include "schedule/primitive/primitives.h"
#include "tests/schedule/steps/random_pick.h"
#include "tests/schedule/steps/random_steps.h"

static hone_status move(hone_schedule *sch, hone_rng *rng, hone_rv block, bool is_reverse) {
    hone_node_id node;
    HONE_TRY(sch_resolve_block(sch, block, &node));
    uint32_t count = 0;
    const hone_node_id *others = NULL;
    HONE_TRY(is_reverse ? sch_producers(sch, node, &count, &others)
                        : sch_consumers(sch, node, &count, &others));
    hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
    if (count) {
        hone_node_id other = others[hone_rng_below(rng, count)];
        loop = hone_random_loop_of(sch, rng, hone_random_name(sch, other));
    }
    if (loop == HONE_NO_ID) return hone_random_nothing();
    bool keep = hone_rng_below(rng, 2);
    int64_t index = hone_rng_below(rng, 4) ? -1 : hone_rng_between(rng, -2, 2);
    return is_reverse ? hone_sch_reverse_compute_at(sch, block, loop, keep, index)
                      : hone_sch_compute_at(sch, block, loop, keep, index);
}

static hone_status compute_at(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    return move(sch, rng, block, false);
}

static hone_status reverse_compute_at(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    return move(sch, rng, block, true);
}

/* Some of the blocks that read what a block reads or writes, some of them twice. */
static uint32_t pick_consumers(hone_schedule *sch, hone_rng *rng, hone_rv block, bool is_write,
                               hone_rv out[4]) {
    hone_node_id node;
    uint32_t count = 0, wanted = (uint32_t)hone_rng_below(rng, 4);
    const hone_node_id *blocks = NULL;
    if (hone_rng_below(rng, 3)) return 0;
    if (hone_status_consume(sch_resolve_block(sch, block, &node))) return 0;
    if (!is_write) out[0] = block;
    hone_status st = sch_consumers(sch, node, &count, &blocks);
    if (hone_status_consume(st)) return 0;
    for (uint32_t i = !is_write; i < wanted; i++) {
        out[i] = count ? hone_random_name(sch, blocks[hone_rng_below(rng, count)])
                       : hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    }
    return wanted;
}

static hone_status cache_read(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv out, consumers[4];
    int64_t index = (int64_t)hone_rng_below(rng, 2);
    uint32_t count = pick_consumers(sch, rng, block, false, consumers);
    return hone_sch_cache_read(sch, block, index, "local", count, consumers, &out);
}

static hone_status cache_write(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv out, consumers[4];
    int64_t index = hone_rng_below(rng, 4) == 0;
    uint32_t count = pick_consumers(sch, rng, block, true, consumers);
    return hone_sch_cache_write(sch, block, index, "global", count, consumers, &out);
}

static hone_status decompose(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv out, loop = hone_random_loop_of(sch, rng, block);
    return loop == HONE_NO_ID ? hone_random_nothing()
                              : hone_sch_decompose_reduction(sch, block, loop, &out);
}

static hone_status rfactor(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv out, loop = hone_random_loop_of(sch, rng, block);
    return loop == HONE_NO_ID ? hone_random_nothing()
                              : hone_sch_rfactor(sch, loop, hone_rng_between(rng, -2, 1), &out);
}

static hone_status location(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    hone_rv loop;
    (void)rng;
    HONE_TRY(hone_sch_sample_compute_location(sch, block, NULL, &loop));
    return hone_sch_compute_at(sch, block, loop, true, -1);
}

static hone_status inline_it(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    (void)rng;
    return hone_sch_compute_inline(sch, block);
}

static hone_status reverse_inline(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    (void)rng;
    return hone_sch_reverse_compute_inline(sch, block);
}

/* Named by others: what is found stands where they would look for it. */
static hone_status find(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    uint32_t count;
    const hone_rv *found;
    switch (hone_rng_below(rng, 5)) {
    case 0:
        return hone_sch_get_producers(sch, block, &count, &found);
    case 1:
        return hone_sch_get_consumers(sch, block, &count, &found);
    case 2:
        return hone_sch_get_child_blocks(sch, block, &count, &found);
    case 3:
        return hone_sch_get_output_blocks(sch, block, &count, &found);
    default:
        return hone_sch_enter_postproc(sch);
    }
}

hone_random_group hone_random_block_steps(void) {
    static const hone_random_row rows[] = {
        HONE_STEP_ON(ANY, "compute_at", compute_at),
        HONE_STEP_ON(ANY, "compute_at", compute_at),
        HONE_STEP_ON(ANY, "reverse_compute_at", reverse_compute_at),
        HONE_STEP_ON(SPATIAL, "reverse_compute_at", reverse_compute_at),
        HONE_STEP_ON(ANY, "cache_read", cache_read),
        HONE_STEP_ON(ANY, "cache_write", cache_write),
        HONE_STEP_ON(REDUCTION, "decompose_reduction", decompose),
        HONE_STEP_ON(REDUCTION, "rfactor", rfactor),
        HONE_STEP_ON(SPATIAL, "compute_inline", inline_it),
        HONE_STEP_ON(SPATIAL, "reverse_compute_inline", reverse_inline),
        HONE_STEP_ON(ANY, "sample_compute_location", location),
        HONE_STEP_ON(ANY, "get_* or enter_postproc", find),
    };
    return (hone_random_group){rows, HONE_COUNT(rows)};
}
