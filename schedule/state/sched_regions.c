/* schedule/state/sched_regions.c - what a step finds out anew of blocks that it changed: their
 * regions. */
#include <string.h>

#include "ir/region/region.h"
#include "schedule/state/schedule_impl.h"

/* ---- regions ---- */

const hone_region *sch_regions_of(const hone_block *block, bool of_writes, uint32_t *out_count) {
    *out_count = of_writes ? block->write_count : block->read_count;
    return of_writes ? block->writes : block->reads;
}

const hone_region *sch_element_region(hone_schedule *sch, hone_buffer buffer, uint32_t rank,
                                      const hone_expr *const *indices) {
    hone_region *region = hone_arena_alloc(sch->arena, sizeof *region);
    hone_range *ranges = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges);
    if (!region || !ranges) return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        hone_dtype dtype = hone_func_buffer(sch->func, buffer)->shape[d]->dtype;
        ranges[d] = (hone_range){indices[d], hone_expr_int(&sch->ir, dtype, 1)};
    }
    *region = (hone_region){buffer, ranges};
    return region;
}

hone_status sch_declare_regions(hone_schedule *sch, hone_node_id id, bool of_writes, uint32_t count,
                                const hone_region *regions) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    if (!block) return sch_no_memory();
    *(of_writes ? &block->write_count : &block->read_count) = count;
    *(of_writes ? &block->writes : &block->reads) = regions;
    block->regions_inferred = false;
    sch_node(sch, id)->u.block.block = block;
    sch_forget_facts(sch, id);
    return HONE_OK;
}

hone_status sch_update_regions(hone_schedule *sch, hone_node_id id) {
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    if (!block) return sch_no_memory();
    HONE_TRY(hone_block_infer_regions(sch->func, id, sch->arena, block));
    sch_node(sch, id)->u.block.block = block;
    sch_forget_writes(sch, id);
    return HONE_OK;
}

typedef struct index_search {
    uint32_t count;
    hone_region *list;
    uint32_t first; /* those before it are in their place */
} index_search;

static bool visit_index(void *ctx, const hone_expr *e) {
    index_search *s = ctx;
    for (uint32_t i = s->first; e->kind == HONE_EXPR_LOAD && i < s->count; i++) {
        if (s->list[i].buffer != e->u.buffer) continue;
        hone_region found = s->list[i];
        memmove(&s->list[s->first + 1], &s->list[s->first], (i - s->first) * sizeof found);
        s->list[s->first++] = found;
        break;
    }
    return true;
}

static void visit_indices(index_search *s, const hone_func *func, uint32_t count,
                          const hone_region *regions) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < hone_func_buffer(func, regions[i].buffer)->rank; d++) {
            hone_expr_walk(regions[i].ranges[d].min, visit_index, s);
            hone_expr_walk(regions[i].ranges[d].extent, visit_index, s);
        }
    }
}

hone_status sch_renew_regions(hone_schedule *sch, hone_node_id id) {
    const hone_block *old = sch_block(sch, id);
    HONE_TRY(sch_update_regions(sch, id));
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    hone_region *list =
        block ? hone_arena_alloc(sch->arena, (block->read_count + 1) * sizeof *list) : NULL;
    if (!list) return sch_no_memory();
    if (block->read_count) memcpy(list, block->reads, block->read_count * sizeof *list);
    index_search s = {.count = block->read_count, .list = list};
    visit_indices(&s, sch->func, old->read_count, old->reads);
    visit_indices(&s, sch->func, old->write_count, old->writes);
    block->reads = list;
    sch_node(sch, id)->u.block.block = block;
    return HONE_OK;
}

/* Blocks below first (they stand behind in pre-order), then the block itself. */
hone_status sch_update_regions_below(hone_schedule *sch, hone_node_id id) {
    SCH_EACH_BLOCK (sch, id, n) {
        HONE_TRY(sch_update_regions_below(sch, n));
    }
    return sch_renew_regions(sch, id);
}
