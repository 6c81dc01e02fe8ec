/* schedule/primitive/reduce/prim_decompose.c - decompose_reduction: takes the init of a reduction
 * block out, into a block of its own in front of a loop.
 *     for i, k: with block C: init: C[i] = 0;  C[i] += A[i, k]
 *  →  for i_init: C[i_init] = 0
 *     for i, k: C[i] += A[i, k]
 *
 * Checks: the block is a reduction, in all or at least in each iteration of the loops outside
 * (below what reads it, a block with a halo makes some elements several times); the loop is around
 * it; each loop outside that one feeds spatial axes only (another would start anew in each of its
 * iterations); no condition of the predicate speaks of both loops that the init leaves out and
 * loops that it keeps; who else reads the result below the loop reads it behind the block; the
 * block reads its result where it writes it only; what the init reads, and what its conditions do,
 * is not made below the loop; spatial loops below it do not write the same elements again.
 */
#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/init_nest.h"

#include <string.h>

/* A loop outside the one that the init shall stand before. */
static hone_status check_outer(hone_schedule *sch, hone_node_id block, hone_node_id loop,
                               hone_node_id outer) {
    hone_var var = sch_node(sch, outer)->u.loop.var;
    if (sch_feeds_axis(sch, block, var, HONE_AXIS_REDUCE)) {
        return sch_refuse(sch, outer, "%s, outside %s, feeds a reduce axis of %s",
                          sch_loop_name(sch, outer), sch_loop_name(sch, loop),
                          sch_block_name(sch, block));
    }
    return HONE_OK;
}

/* Who reads the result in the loop before the block writes it would find the init. */
static hone_status check_readers(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_consumers(sch, block, &count, &readers));
    for (uint32_t i = 0; i < count; i++) {
        if (!hone_tree_is_ancestor(sch->func, loop, readers[i])) continue;
        return sch_require_pipeline(sch, sch_scope_of(sch, block));
    }
    return HONE_OK;
}

/* Where instances share elements, the inits of later ones must not come before the updates of
 * earlier ones. */
static hone_status check_disjoint(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    if (sch_has_disjoint_writes(sch, block)) return HONE_OK;
    for (hone_node_id n = sch_node(sch, block)->parent;; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR &&
            sch_feeds_axis(sch, block, node->u.loop.var, HONE_AXIS_SPATIAL)) {
            return sch_refuse(sch, block,
                              "%s may write the same element for different values of its spatial "
                              "axes",
                              sch_block_name(sch, block));
        }
        if (n == loop) return HONE_OK;
    }
}

/* Is no point met twice during one iteration of the loops outside of this one? */
static bool counts_within(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    hone_node_id parent = sch_node(sch, loop)->parent;
    bool is_inside = sch_node(sch, parent)->kind == HONE_NODE_FOR;
    return sch_counts_once(sch, block, HONE_NO_ID) ||
           (is_inside && sch_counts_once(sch, block, parent)) || sch_sums_within(sch, block, loop);
}

static hone_status check(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    if (!hone_tree_is_ancestor(sch->func, loop, block) ||
        sch_scope_of(sch, loop) != sch_scope_of(sch, block)) {
        return sch_refuse(sch, loop, "%s is not around %s", sch_loop_name(sch, loop),
                          sch_block_name(sch, block));
    }
    if (hone_block_init_of(sch->func, block) == HONE_NO_ID) {
        return sch_refuse(sch, block, "%s has no init", sch_block_name(sch, block));
    }
    for (hone_node_id n = sch_node(sch, loop)->parent; sch_node(sch, n)->kind != HONE_NODE_BLOCK;
         n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) HONE_TRY(check_outer(sch, block, loop, n));
    }
    const char *why = NULL;
    if (sch_classify_below(sch, block, loop, &why) != SCH_BLOCK_REDUCTION) {
        return sch_refuse(sch, block, "%s is not a reduction: %s", sch_block_name(sch, block),
                          why ? why : "it has no reduce axis");
    }
    if (!counts_within(sch, block, loop)) {
        return sch_refuse(sch, loop, "%s repeats %s, which would go on from one init",
                          sch_loop_name(sch, loop), sch_block_name(sch, block));
    }
    HONE_TRY(check_disjoint(sch, block, loop));
    return check_readers(sch, block, loop);
}

/* The init of a fused epilogue reads: what it reads, and what its conditions do, must be there
 * before the loop. */
static hone_status check_init_reads(hone_schedule *sch, hone_node_id block, hone_node_id loop) {
    hone_node_id init = hone_block_init_of(sch->func, block);
    SCH_EACH_BLOCK (sch, loop, n) {
        const hone_block *writer = sch_block(sch, n);
        for (uint32_t w = 0; w < writer->write_count; w++) {
            hone_buffer buffer = writer->writes[w].buffer;
            bool is_condition = sch_condition_loads(sch_node(sch, block), buffer);
            if (!is_condition && !hone_loads_below(sch->func, init, buffer)) continue;
            return sch_refuse(sch, n, "%s makes '%s' in %s, which the %s of %s reads",
                              sch_block_name(sch, n), sch_buffer_name(sch, buffer),
                              sch_loop_name(sch, loop), is_condition ? "predicate" : "init",
                              sch_block_name(sch, block));
        }
    }
    return HONE_OK;
}

/* What is left: it now reads what it accumulates into. */
static hone_status make_update(hone_schedule *sch, hone_node_id id) {
    const hone_block *from = sch_block(sch, id);
    hone_block *block = hone_block_copy(sch->arena, from);
    uint32_t reads = from->read_count + from->write_count;
    hone_region *regions = hone_arena_alloc(sch->arena, (reads + 1) * sizeof *regions);
    if (!block || !regions) return sch_no_memory();
    memcpy(regions, from->writes, from->write_count * sizeof *regions);
    uint32_t count = from->write_count;
    for (uint32_t i = 0; i < from->read_count; i++) {
        if (!sch_writes(from, from->reads[i].buffer)) regions[count++] = from->reads[i];
    }
    block->reads = regions;
    block->read_count = count;
    block->name = sch_name(sch, from->name, "_update", -1);
    if (!block->name) return sch_no_memory();
    sch_node(sch, id)->u.block.block = block;
    return HONE_OK;
}

hone_status hone_sch_decompose_reduction(hone_schedule *sch, hone_rv block_rv, hone_rv loop_rv,
                                         hone_rv *out_init) {
    hone_node_id block, loop, init = HONE_NO_ID, top = HONE_NO_ID;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &loop));
    HONE_TRY(check(sch, block, loop));
    HONE_TRY(check_init_reads(sch, block, loop));
    HONE_TRY(sch_require_visible(sch, block, sch_node(sch, loop)->parent));
    sch_init_nest nest;
    HONE_TRY(sch_plan_init(sch, block, loop, "_init", &nest));
    HONE_TRY(sch_take_init(sch, block, &nest, &init, &top));
    HONE_TRY(make_update(sch, block));
    hone_tree_insert_before(sch->func, loop, top);
    /* where instances share elements, the init may store to others than the update reads */
    if (!sch_has_disjoint_writes(sch, block)) sch_forget_pipeline(sch, sch_scope_of(sch, block));
    return sch_record_node(sch, HONE_INST_DECOMPOSE_REDUCTION,
                           SCH_ARGS(SCH_RV(block_rv), SCH_RV(loop_rv)), init, out_init);
}

SCH_STEP(DECOMPOSE_REDUCTION, hone_sch_decompose_reduction(sch, a[0].rv, a[1].rv, NULL),
         .gives = HONE_GIVES_BLOCK, .args = {SCH_ARG_BLOCK(0), SCH_ARG_LOOP(1)});
