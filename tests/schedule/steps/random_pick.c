/* tests/schedule/steps/random_pick.c - picks blocks and loops by recorded steps. */
#include "tests/schedule/steps/random_pick.h"

#include "schedule/primitive/primitives.h"

/* Gets hold of a block by recorded steps, so that the trace can be replayed: from the root down.
 * Where the root's name is not its own, the variable is bound without a step. */
static hone_rv name_block(hone_schedule *sch, hone_node_id block) {
    hone_node_id root = hone_func_root_block(sch->func);
    hone_rv rv = HONE_NO_ID;
    if (block == root) {
        hone_status st = hone_sch_get_block(sch, sch_block(sch, root)->name, &rv);
        return hone_status_consume(st) ? hone_schedule_bind_node(sch, block) : rv;
    }
    hone_node_id scope = sch_scope_of(sch, block);
    uint32_t count = 0;
    const hone_rv *children = NULL;
    hone_status st = hone_sch_get_child_blocks(sch, name_block(sch, scope), &count, &children);
    if (hone_status_consume(st)) return HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        if (hone_status_consume(hone_schedule_node(sch, children[i], &node))) continue;
        if (node == block) return children[i];
    }
    return HONE_NO_ID;
}

hone_rv hone_random_name(hone_schedule *sch, hone_node_id node) {
    if (sch_node(sch, node)->kind == HONE_NODE_BLOCK) return name_block(sch, node);
    hone_node_id block = sch_next_block(sch, node, node);
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    if (block == HONE_NO_ID) return hone_schedule_bind_node(sch, node);
    hone_status st = hone_sch_get_loops(sch, name_block(sch, block), &count, &loops);
    if (hone_status_consume(st)) return HONE_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id at;
        if (hone_status_consume(hone_schedule_node(sch, loops[i], &at))) continue;
        if (at == node) return loops[i];
    }
    return HONE_NO_ID;
}

/* All nodes of one kind that are in the tree (the root block left out), picked from at random. */
hone_rv hone_random_pick(hone_schedule *sch, hone_rng *rng, hone_node_kind kind) {
    hone_node_id root = hone_func_root_block(sch->func);
    uint32_t count = 0;
    hone_node_id found = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != kind || n == root) continue;
        /* no step of a trace can name a loop inside a block */
        if (kind == HONE_NODE_FOR && sch_next_block(sch, n, n) == HONE_NO_ID) continue;
        if (hone_rng_below(rng, ++count) == 0) found = n;
    }
    return found == HONE_NO_ID ? HONE_NO_ID : hone_random_name(sch, found);
}

static bool is_spatial(const hone_block *block) {
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].kind != HONE_AXIS_SPATIAL) return false;
    }
    return true;
}

static bool stores_a_choice(const hone_schedule *sch, const hone_node *node) {
    if (node->first == HONE_NO_ID) return false;
    const hone_node *body = sch_node(sch, node->first);
    if (body->kind != HONE_NODE_STORE) return false;
    const hone_expr *value = body->u.store.value;
    return hone_expr_is_call(value, HONE_INTRIN_IF_THEN_ELSE);
}

static bool is_wished(const hone_schedule *sch, hone_node_id id, hone_random_wish wish) {
    const hone_node *node = sch_node(sch, id);
    const hone_block *block = node->u.block.block;
    switch (wish) {
    case HONE_WISH_ANY:
        return true;
    case HONE_WISH_REDUCTION:
        return hone_block_init_of(sch->func, id) != HONE_NO_ID;
    case HONE_WISH_SPATIAL:
        return is_spatial(block);
    case HONE_WISH_PADDING:
        return stores_a_choice(sch, node);
    case HONE_WISH_IN_PLACE:
        return hone_block_init_of(sch->func, id) == HONE_NO_ID && sch_reads_own_output(block);
    }
    return false;
}

hone_rv hone_random_block(hone_schedule *sch, hone_rng *rng, hone_random_wish wish) {
    hone_node_id root = hone_func_root_block(sch->func);
    hone_node_id found = HONE_NO_ID;
    uint32_t count = 0;
    if (hone_rng_below(rng, 5) == 0) return hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK || n == root || !is_wished(sch, n, wish))
            continue;
        if (hone_rng_below(rng, ++count) == 0) found = n;
    }
    return found == HONE_NO_ID ? HONE_NO_ID : hone_random_name(sch, found);
}

/* A loop around the block of another one is the likelier choice for compute_at and friends. */
hone_rv hone_random_loop_of(hone_schedule *sch, hone_rng *rng, hone_rv block) {
    const hone_node_id *loops = NULL;
    uint32_t count = 0;
    hone_node_id node;
    hone_status st = sch_resolve_block(sch, block, &node);
    if (!st) st = sch_loops_of(sch, node, &count, &loops);
    if (hone_status_consume(st) || count == 0) return HONE_NO_ID;
    return hone_random_name(sch, loops[hone_rng_below(rng, count)]);
}

hone_status hone_random_nothing(void) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "nothing to work on");
}
