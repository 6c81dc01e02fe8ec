/* schedule/defaults/default_bytes.c - convolutions of bytes in the layout of images: four products
 * that one instruction sums have to lie side by side, which channels do where they come last. The
 * image is turned first, in a copy.
 *
 *   turned[n, y, x, c] = X[n, c, y, x]
 *   Y[n, f, y, x] = sum over c, dy, dx of turned[n, y + dy, x + dx, c] * W[f, c, dy, dx]
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/primitive/primitives.h"

/* "lambda d0, d1, d2: (d0, d2, d1)": the dimension comes last. */
static void print_map(uint32_t rank, uint32_t dimension, hone_str *text) {
    hone_str_append(text, "lambda ");
    for (uint32_t d = 0; d < rank; d++)
        hone_str_printf(text, "%sd%u", d ? ", " : "", d);
    hone_str_append(text, ": (");
    for (uint32_t d = 0; d < rank; d++) {
        if (d != dimension) hone_str_printf(text, "d%u, ", d);
    }
    hone_str_printf(text, "d%u)", dimension);
}

static hone_status make_map(hone_schedule *sch, uint32_t rank, uint32_t dimension,
                            const hone_index_map **out_map) {
    hone_str text = {0};
    print_map(rank, dimension, &text);
    return hone_default_read_map(sch, &text, out_map);
}

/* The copy writes in the order of memory, in tiles. */
static hone_status order_copy(hone_default_nest *copy, uint32_t dimension) {
    uint32_t count = 0, at = 0;
    const hone_rv *loops = NULL;
    hone_rv order[HONE_NEST_MAX_LOOPS];
    hone_node_id node;
    HONE_TRY(hone_sch_get_loops(copy->sch, copy->block, &count, &loops));
    if (count > HONE_NEST_MAX_LOOPS || dimension >= count) return HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (i != dimension) order[at++] = loops[i];
    }
    order[at++] = loops[dimension];
    HONE_TRY(hone_sch_reorder(copy->sch, at, order));
    HONE_TRY(hone_schedule_node(copy->sch, copy->block, &node));
    return hone_default_transpose(copy, node);
}

/* Fails with ILLEGAL where a step is refused. */
static hone_status turn(hone_default_nest *n, uint32_t read, uint32_t dimension) {
    hone_default_nest copy = {.sch = n->sch, .limits = n->limits};
    const hone_index_map *map;
    hone_node_id node;
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    hone_buffer buffer = hone_func_node(n->sch->func, node)->u.block.block->reads[read].buffer;
    HONE_TRY(make_map(n->sch, hone_func_buffer(n->sch->func, buffer)->rank, dimension, &map));
    HONE_TRY(hone_sch_cache_read(n->sch, n->block, read, "global", 0, NULL, &copy.block));
    HONE_TRY(hone_sch_transform_layout(n->sch, copy.block, true, 0, map, NULL, false));
    HONE_TRY(hone_default_optional(order_copy(&copy, dimension)));
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    (void)hone_nest_reduction(n->sch, node, &n->facts);
    return HONE_OK;
}

/* Whether the block becomes a product of what is turned: found out on a copy. */
static hone_status try_turn(const hone_default_nest *n, uint32_t read, uint32_t dimension,
                            bool *out_is_done) {
    hone_default_nest on_copy = *n;
    *out_is_done = false;
    HONE_TRY(hone_schedule_copy(n->sch, &on_copy.sch));
    on_copy.sch->wants_reasons = false;
    hone_status st = turn(&on_copy, read, dimension);
    if (!st) st = hone_default_packed(&on_copy, out_is_done);
    hone_schedule_destroy(on_copy.sch);
    return hone_default_optional(st);
}

hone_status hone_default_bytes(hone_default_nest *n, bool *out_is_done) {
    hone_node_id node;
    uint32_t read = 0;
    *out_is_done = false;
    if (n->lanes < 2) return HONE_OK;
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    int32_t dimension = hone_packed_find_turn(n->sch, node, &read);
    if (dimension < 0) return HONE_OK;
    HONE_TRY(try_turn(n, read, (uint32_t)dimension, out_is_done));
    if (!*out_is_done) return HONE_OK;
    HONE_TRY(turn(n, read, (uint32_t)dimension));
    return hone_default_packed(n, out_is_done);
}
