/* ir/region/func_rewrite.c - rewrites all terms of a function, then the regions of blocks that
 * touch other elements. */
#include "ir/region/func_rewrite.h"

#include "ir/region/region.h"

typedef struct state {
    hone_func *func;
    hone_node_id root;
    hone_block *before; /* by node: what a block touches by its body alone */
} state;

static hone_status look(const state *s, hone_node_id block, hone_block *out) {
    return hone_block_infer_regions(s->func, block, s->func->arena, out);
}

static bool are_regions_same(const hone_func *func, uint32_t count_a, const hone_region *a,
                             uint32_t count_b, const hone_region *b) {
    if (count_a != count_b) return false;
    for (uint32_t i = 0; i < count_a; i++) {
        if (!hone_region_same(func, &a[i], &b[i])) return false;
    }
    return true;
}

static hone_status see_before(const state *s, hone_node_id at) {
    for (hone_node_id c = hone_func_node(s->func, at)->first; c != HONE_NO_ID;
         c = hone_func_node(s->func, c)->next) {
        HONE_TRY(see_before(s, c));
        bool counts = hone_func_node(s->func, c)->kind == HONE_NODE_BLOCK && c != s->root;
        if (counts) HONE_TRY(look(s, c, &s->before[c]));
    }
    return HONE_OK;
}

static hone_status update_block(const state *s, hone_node_id at) {
    hone_block now;
    const hone_block *old = &s->before[at];
    HONE_TRY(look(s, at, &now));
    if (are_regions_same(s->func, now.read_count, now.reads, old->read_count, old->reads) &&
        are_regions_same(s->func, now.write_count, now.writes, old->write_count, old->writes)) {
        return HONE_OK;
    }
    hone_node *node = hone_func_node(s->func, at);
    hone_block *block = hone_block_copy(s->func->arena, node->u.block.block);
    if (!block) return HONE_ERROR(HONE_CODE_NO_MEMORY, "block");
    block->read_count = now.read_count;
    block->reads = now.reads;
    block->write_count = now.write_count;
    block->writes = now.writes;
    node->u.block.block = block;
    return HONE_OK;
}

/* Inner blocks first: an outer one touches what the inner ones declare. */
static hone_status update_below(const state *s, hone_node_id at) {
    for (hone_node_id c = hone_func_node(s->func, at)->first; c != HONE_NO_ID;
         c = hone_func_node(s->func, c)->next) {
        HONE_TRY(update_below(s, c));
        bool counts = hone_func_node(s->func, c)->kind == HONE_NODE_BLOCK && c != s->root;
        if (counts) HONE_TRY(update_block(s, c));
    }
    return HONE_OK;
}

hone_status hone_func_rewrite(hone_func *func, hone_expr_rewrite rewrite, void *ctx) {
    state s = {.func = func, .root = hone_func_root_block(func)};
    s.before = hone_arena_zalloc(func->arena, (func->node_count + 1) * sizeof *s.before);
    if (!s.before) return HONE_ERROR(HONE_CODE_NO_MEMORY, "function");
    HONE_TRY(see_before(&s, 0));
    HONE_TRY(hone_tree_transform(func, 0, rewrite, ctx, true));
    return update_below(&s, 0);
}
