/* schedule/defaults/default_bytes.c - products of bytes: four that one instruction sums have to lie
 * side by side. Channels of an image do where they come last: it is turned first, in a copy. Steps
 * beyond the last four would be products of single bytes: zeros are added to them.
 *
 *   turned[n, y, x, c] = X[n, c, y, x], 0 beyond the last channel
 *   Y[n, f, y, x] = sum over c, dy, dx of turned[n, y + dy, x + dx, c] * W[f, c, dy, dx]
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/primitive/primitives.h"

enum { FOUR = 4 };

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

/* The block that makes what the block reads. */
static hone_status find_maker(hone_default_nest *n, hone_buffer buffer, hone_rv *out_maker) {
    uint32_t count = 0;
    const hone_rv *makers = NULL;
    HONE_TRY(hone_sch_get_producers(n->sch, n->block, &count, &makers));
    for (uint32_t i = 0; i < count; i++) {
        hone_node_id node;
        HONE_TRY(hone_schedule_node(n->sch, makers[i], &node));
        const hone_block *block = hone_func_node(n->sch->func, node)->u.block.block;
        *out_maker = makers[i];
        if (block->write_count == 1 && block->writes[0].buffer == buffer) return HONE_OK;
    }
    return HONE_ERROR(HONE_CODE_ILLEGAL, "nothing makes a copy with zeros");
}

static hone_status pad(hone_default_nest *n, int32_t axis) {
    int64_t padding[HONE_NEST_MAX_LOOPS];
    for (uint32_t a = 0; a < n->facts.loop_count; a++)
        padding[a] = (int32_t)a == axis ? FOUR : 1;
    return hone_sch_pad_einsum(n->sch, n->block, n->facts.loop_count, padding);
}

/* The copy that is read: with zeros where there are some, else one is made. */
static hone_status make_copy(hone_default_nest *n, const hone_packed_fours *fours, hone_rv *out) {
    hone_node_id node;
    if (fours->padded < 0)
        return hone_sch_cache_read(n->sch, n->block, fours->read, "global", 0, NULL, out);
    HONE_TRY(pad(n, fours->padded));
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    const hone_block *block = hone_func_node(n->sch->func, node)->u.block.block;
    return find_maker(n, block->reads[fours->read].buffer, out);
}

/* Fails with ILLEGAL where a step is refused. */
static hone_status lay_out(hone_default_nest *n, const hone_packed_fours *fours) {
    hone_default_nest copy = {.sch = n->sch, .limits = n->limits};
    const hone_index_map *map;
    hone_node_id node;
    HONE_TRY(make_copy(n, fours, &copy.block));
    if (fours->dimension >= 0) {
        uint32_t dimension = (uint32_t)fours->dimension;
        HONE_TRY(hone_schedule_node(n->sch, copy.block, &node));
        hone_buffer made = hone_func_node(n->sch->func, node)->u.block.block->writes[0].buffer;
        HONE_TRY(make_map(n->sch, hone_func_buffer(n->sch->func, made)->rank, dimension, &map));
        HONE_TRY(hone_sch_transform_layout(n->sch, copy.block, true, 0, map, NULL, false));
        HONE_TRY(hone_default_optional(order_copy(&copy, dimension)));
    }
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    (void)hone_nest_reduction(n->sch, node, &n->facts);
    return HONE_OK;
}

/* Whether the block becomes a product of what is laid out: found out on a copy. */
static hone_status try_fours(const hone_default_nest *n, const hone_packed_fours *fours,
                             bool *out_is_done) {
    hone_default_nest on_copy = *n;
    *out_is_done = false;
    HONE_TRY(hone_schedule_copy(n->sch, &on_copy.sch));
    on_copy.sch->wants_reasons = false;
    hone_status st = lay_out(&on_copy, fours);
    if (!st) st = hone_default_packed(&on_copy, out_is_done);
    hone_schedule_destroy(on_copy.sch);
    return hone_default_optional(st);
}

hone_status hone_default_bytes(hone_default_nest *n, bool *out_is_done) {
    hone_node_id node;
    hone_packed_fours fours;
    *out_is_done = false;
    if (n->lanes < 2) return HONE_OK;
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    if (!hone_packed_find_fours(n->sch, node, &fours)) return HONE_OK;
    HONE_TRY(try_fours(n, &fours, out_is_done));
    if (!*out_is_done) return HONE_OK;
    HONE_TRY(lay_out(n, &fours));
    return hone_default_packed(n, out_is_done);
}
