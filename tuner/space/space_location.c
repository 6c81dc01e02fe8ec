/* tuner/space/space_location.c - a block that is read by others and was left where it is may be
 * computed elsewhere: in place, or in some loop of its consumers. Where is a sampled decision. */
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

#include <string.h>

static bool is_tiled(const hone_schedule *sch, hone_node_id block) {
    const hone_block *inner = hone_func_node(sch->func, block)->u.block.block;
    const char *how = hone_attrs_string(&inner->annotations, HONE_ANNOTATION_TILING, NULL);
    return how && strcmp(how, "rfactor") != 0;
}

static hone_status sample_place(hone_schedule *sch, hone_rv block) {
    static const int64_t at_root = -1; /* while the space is made, everything stays where it is */
    hone_rv place;
    HONE_TRY(hone_sch_sample_compute_location(sch, block, &(hone_decision){1, &at_root}, &place));
    return hone_sch_compute_at(sch, block, place, true, -1);
}

/* The first half of a reduction that was cut in two has no name that rules know. */
static hone_status place_first_half(hone_schedule *sch, hone_rv block) {
    uint32_t count = 0;
    const hone_rv *producers = NULL;
    HONE_TRY(hone_sch_get_producers(sch, block, &count, &producers));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(sch, producers[i], &node));
        const hone_block *inner = hone_func_node(sch->func, node)->u.block.block;
        const char *how = hone_attrs_string(&inner->annotations, HONE_ANNOTATION_TILING, "");
        if (strcmp(how, "rfactor") == 0) return sample_place(sch, producers[i]);
    }
    return HONE_OK;
}

static hone_status place_block(hone_schedule *sch, const char *name, const hone_target *target,
                               int32_t argument) {
    (void)target;
    (void)argument;
    hone_rv block;
    uint32_t count = 0;
    const hone_rv *consumers = NULL;
    HONE_TRY(hone_sch_get_block(sch, name, &block));
    HONE_TRY(hone_sch_get_consumers(sch, block, &count, &consumers));
    if (count) HONE_TRY(sample_place(sch, block));
    hone_node_id node;
    HONE_TRY(hone_schedule_node(sch, block, &node));
    hone_attrs attrs = hone_func_node(sch->func, node)->u.block.block->annotations;
    return hone_attrs_find(&attrs, HONE_ANNOTATION_TILING) ? place_first_half(sch, block) : HONE_OK;
}

hone_status hone_rule_random_compute_location(hone_schedule *sch, const char *block_name,
                                              const hone_target *target,
                                              hone_rule_results *out_results) {
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    if (node != HONE_NO_ID && node != hone_func_root_block(sch->func) && !is_tiled(sch, node)) {
        st = hone_rule_fork(sch, place_block, block_name, target, 0, out_results);
        if (!st && out_results->count) {
            hone_schedule_destroy(sch);
            return HONE_OK;
        }
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
