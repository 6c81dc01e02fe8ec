/* schedule/gpu/gpu_schedule.c - the steps, each of which leaves out what is refused:
 *
 *   inline ─► products by tiles ─► inline what only one reads ─► rows ─► sums by threads together
 *          ─► what is left: as it stands
 *
 * Padding is a copy of its own until it is clear that no product has it in its tiles: then windows
 * ask where they read. */
#include "schedule/gpu/gpu_schedule.h"

#include "schedule/defaults/default_impl.h"
#include "schedule/gpu/gpu_impl.h"
#include "schedule/gpu/gpu_product.h"
#include "schedule/gpu/gpu_sketch.h"
#include "schedule/primitive/primitives.h"

typedef hone_status (*way)(hone_gpu *g, hone_rv block);

static hone_status inline_one(hone_gpu *g, hone_rv block) {
    hone_node_id node;
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    return hone_nest_should_inline(g->sch, node) ? hone_sch_compute_inline(g->sch, block) : HONE_OK;
}

/* Whether all steps of a way are accepted: found out on a copy, since some of them alone would
 * leave the program worse than before. */
static hone_status is_accepted(const hone_gpu *g, way go, hone_rv block, bool *out) {
    hone_schedule *copy = NULL;
    *out = false;
    HONE_TRY(hone_schedule_copy(g->sch, &copy));
    copy->wants_reasons = false;
    hone_gpu there = {.sch = copy, .limits = g->limits};
    hone_status st = go(&there, block);
    hone_schedule_destroy(copy);
    *out = st == HONE_OK;
    return hone_default_optional(st);
}

/* What no product has taken up: tiles in shared memory stay what they are. */
static hone_status join_window(hone_gpu *g, hone_rv block) {
    hone_node_id node;
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    return hone_gpu_is_bound(g->sch, node) ? HONE_OK : hone_gpu_join_prologue(g, block);
}

static hone_status list_blocks(hone_gpu *g, uint32_t *out_count, const hone_rv **out) {
    hone_rv root;
    hone_node_id node = hone_func_root_block(g->sch->func);
    HONE_TRY(
        hone_sch_get_block(g->sch, hone_func_node(g->sch->func, node)->u.block.block->name, &root));
    return hone_sch_get_child_blocks(g->sch, root, out_count, out);
}

/* The blocks below the root, last to first, each by the first way that fits. */
static hone_status schedule_blocks(hone_gpu *g, uint32_t way_count, const way *ways) {
    uint32_t count = 0;
    const hone_rv *blocks = NULL;
    HONE_TRY(list_blocks(g, &count, &blocks));
    for (uint32_t i = count; i-- > 0;) {
        bool is_done = false;
        for (uint32_t w = 0; w < way_count && !is_done; w++) {
            HONE_TRY(is_accepted(g, ways[w], blocks[i], &is_done));
            if (is_done) HONE_TRY(ways[w](g, blocks[i]));
        }
    }
    return HONE_OK;
}

hone_status hone_gpu_bind_rest(hone_schedule *sch, const hone_gpu_limits *limits) {
    static const way ways[] = {hone_gpu_own_rows,  hone_gpu_rows, hone_gpu_reduce,
                               hone_gpu_transpose, hone_gpu_bind, hone_gpu_bind_alone};
    hone_gpu g = {.sch = sch, .limits = limits};
    return schedule_blocks(&g, HONE_COUNT(ways), ways);
}

hone_status hone_gpu_schedule(hone_schedule *sch, const hone_gpu_limits *limits) {
    static const way inlining[] = {inline_one},
                     products[] = {hone_gpu_groups, hone_gpu_fragments, hone_gpu_product},
                     windows[] = {join_window};
    assert(sch && limits);
    hone_gpu g = {.sch = sch, .limits = limits};
    bool wants_reasons = sch->wants_reasons;
    sch->wants_reasons = false;
    hone_status st = schedule_blocks(&g, 1, inlining);
    if (!st) st = schedule_blocks(&g, HONE_COUNT(products), products);
    if (!st) st = schedule_blocks(&g, 1, windows);
    if (!st) st = hone_gpu_bind_rest(sch, limits);
    sch->wants_reasons = wants_reasons;
    return hone_default_optional(st);
}
