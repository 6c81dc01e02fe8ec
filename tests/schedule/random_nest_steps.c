#include "tests/schedule/random_pick.h"
#include "tests/schedule/random_steps.h"

/* Random steps that make blocks of nests, or change what is inside blocks. */

/* A loop, or a block with the one whose nest stands behind its own. */
static hone_status blockize(hone_schedule *sch, hone_rng *rng) {
    hone_rv out, blocks[2];
    bool keep = hone_rng_below(rng, 2);
    if (hone_rng_below(rng, 3)) {
        hone_rv loop = hone_random_pick(sch, rng, HONE_NODE_FOR);
        return loop == HONE_NO_ID ? hone_random_nothing()
                                  : hone_sch_blockize_loop(sch, loop, keep, &out);
    }
    blocks[0] = hone_random_pick(sch, rng, HONE_NODE_BLOCK);
    hone_node_id node;
    if (blocks[0] == HONE_NO_ID) return hone_random_nothing();
    HONE_TRY(sch_resolve_block(sch, blocks[0], &node));
    while (sch_node(sch, node)->next == HONE_NO_ID && node != 0)
        node = sch_node(sch, node)->parent;
    node = sch_node(sch, node)->next;
    if (node != HONE_NO_ID && sch_node(sch, node)->kind == HONE_NODE_FOR) {
        node = sch_next_block(sch, node, node);
    }
    if (node == HONE_NO_ID || sch_node(sch, node)->kind != HONE_NODE_BLOCK)
        return hone_random_nothing();
    blocks[1] = hone_random_name(sch, node);
    if (blocks[1] == HONE_NO_ID) return hone_random_nothing();
    return hone_sch_blockize_blocks(sch, 1 + (uint32_t)hone_rng_below(rng, 2), blocks, keep, &out);
}

static const struct {
    const char *name;
    hone_status (*run)(hone_schedule *sch, hone_rng *rng);
} steps[] = {
    {"blockize", blockize},
};

hone_status hone_random_nest_step(hone_schedule *sch, hone_rng *rng, const char **out_name) {
    uint64_t kind = hone_rng_below(rng, HONE_COUNT(steps));
    *out_name = steps[kind].name;
    return steps[kind].run(sch, rng);
}
