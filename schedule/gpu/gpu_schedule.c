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

/* A second schedule to try ways on. Most are refused by their first look at a block, which changes
 * nothing: then the next one finds it as it was. */
typedef struct trying {
    hone_gpu *g;
    hone_schedule *copy; /* in the state of g->sch; NULL: to be made */
} trying;

static void forget_copy(trying *t) {
    hone_schedule_destroy(t->copy);
    t->copy = NULL;
}

static hone_status need_copy(trying *t) {
    if (t->copy) return HONE_OK;
    HONE_TRY(hone_schedule_copy(t->g->sch, &t->copy));
    t->copy->wants_reasons = false;
    return HONE_OK;
}

/* Whether all steps of a way are accepted: found out on a copy, since some of them alone would
 * leave the program worse than before. */
static hone_status is_accepted(trying *t, way go, hone_rv block, bool *out) {
    *out = false;
    HONE_TRY(need_copy(t));
    hone_gpu there = {.sch = t->copy, .limits = t->g->limits};
    const uint32_t steps = t->copy->trace.count;
    hone_status st = go(&there, block);
    if (t->copy->trace.count != steps) forget_copy(t);
    *out = st == HONE_OK;
    return hone_default_optional(st);
}

/* What no product has taken up: tiles in shared memory stay what they are. */
static hone_status join_window(hone_gpu *g, hone_rv block) {
    hone_node_id node;
    HONE_TRY(hone_schedule_node(g->sch, block, &node));
    return hone_gpu_is_bound(g->sch, node) ? HONE_OK : hone_gpu_join_prologue(g, block);
}

static hone_status schedule_block(trying *t, hone_rv block, uint32_t way_count, const way *ways) {
    bool is_done = false;
    for (uint32_t w = 0; w < way_count && !is_done; w++) {
        HONE_TRY(is_accepted(t, ways[w], block, &is_done));
        if (is_done) HONE_TRY(ways[w](t->g, block));
    }
    return HONE_OK;
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
    trying t = {.g = g};
    hone_status st = list_blocks(g, &count, &blocks);
    while (!st && count-- > 0)
        st = schedule_block(&t, blocks[count], way_count, ways);
    forget_copy(&t);
    return st;
}

hone_status hone_gpu_bind_rest(hone_schedule *sch, const hone_gpu_limits *limits) {
    static const way ways[] = {hone_gpu_own_rows,  hone_gpu_rows, hone_gpu_reduce,
                               hone_gpu_transpose, hone_gpu_bind, hone_gpu_bind_alone};
    hone_gpu g = {.sch = sch, .limits = limits};
    return schedule_blocks(&g, HONE_COUNT(ways), ways);
}

hone_status hone_gpu_schedule(hone_schedule *sch, const hone_gpu_limits *limits) {
    static const way inlining[] = {inline_one},
                     products[] = {hone_gpu_parts, hone_gpu_groups, hone_gpu_fragments,
                                   hone_gpu_product},
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
