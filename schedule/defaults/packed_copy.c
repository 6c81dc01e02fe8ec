/* schedule/defaults/packed_copy.c - the operand of a packed product and its tile in the order of
 * the product's loops: index maps, and the loops of the copy. */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

static bool is_used(const hone_packed *p, const hone_region *region, uint32_t axis) {
    return hone_packed_place(p, region, axis) >= 0;
}

/* ---- maps ---- */

/* "lambda v0, v1, v2: (v1 // 16, v2, v1 % 16)": spatial axes, columns, then what is summed; columns
 * of a tile last, or what is summed together, (v1 // 16, v2 // 4, v1 % 16, v2 % 4). columns 1: the
 * axis of columns last as it is. */
static void print_map(const hone_packed *p, const hone_region *region, int64_t columns,
                      hone_str *text) {
    hone_str_append(text, "lambda ");
    for (uint32_t a = 0; a < p->f.loop_count; a++)
        hone_str_printf(text, "%sv%u", a ? ", " : "", a);
    hone_str_append(text, ": (");
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t a = 0; a < p->f.loop_count; a++) {
            bool is_there = a != p->column && (int32_t)a != p->last_sum && is_used(p, region, a);
            if (is_there && p->f.is_spatial[a] == (pass == 0)) hone_str_printf(text, "v%u, ", a);
        }
        if (pass == 0 && columns > 1)
            hone_str_printf(text, "v%u // %lld, ", p->column, (long long)columns);
    }
    bool has_sum = p->last_sum >= 0 && is_used(p, region, (uint32_t)p->last_sum);
    bool is_grouped = has_sum && p->together > 1;
    if (has_sum) hone_str_printf(text, "v%d", p->last_sum);
    if (is_grouped) hone_str_printf(text, " // %lld", (long long)p->together);
    hone_str_printf(text, "%sv%u", has_sum ? ", " : "", p->column);
    if (columns > 1) hone_str_printf(text, " %% %lld", (long long)columns);
    if (is_grouped) hone_str_printf(text, ", v%d %% %lld", p->last_sum, (long long)p->together);
    hone_str_append(text, ")");
}

static hone_status make_map(const hone_packed *p, const hone_region *region, int64_t columns,
                            const hone_index_map **out_map) {
    hone_str text = {0};
    print_map(p, region, columns, &text);
    return hone_default_read_map(p->sch, &text, out_map);
}

/* ---- the operand ---- */

/* The last dimensions of the operand, until they are as long as a vector. */
static void find_inner(const hone_packed *p, const hone_region *region, hone_packed_copy *c) {
    int32_t rank = (int32_t)hone_func_buffer(p->sch->func, region->buffer)->rank;
    int64_t length = 1, lanes = p->lanes;
    int32_t column = hone_packed_place(p, region, p->column);
    for (int32_t d = rank - 1; d > column && length < lanes; d--) {
        for (uint32_t i = 0; i < c->count; i++) {
            if (hone_packed_place(p, region, c->axes[i]) != d) continue;
            c->is_inner[i] = true;
            length *= p->f.extents[c->axes[i]];
        }
    }
}

hone_status hone_packed_copy_operand(hone_packed *p, hone_packed_copy *out) {
    const hone_index_map *map;
    const hone_region *region = &hone_packed_block(p)->reads[p->read];
    int64_t stride;
    *out = (hone_packed_copy){.block = HONE_NO_ID};
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!is_used(p, region, a)) continue;
        if (a == p->column) out->column = out->count;
        out->axes[out->count++] = a;
    }
    hone_var column = hone_packed_block(p)->axes[p->column].var;
    out->is_turned = !sch_stride_in_axis(p->sch, region, column, &stride) || stride != 1;
    if (out->is_turned) find_inner(p, region, out);
    HONE_TRY(make_map(p, region, p->columns, &map));
    return hone_sch_reindex_cache_read(p->sch, p->block, p->read, "global", map, &out->block);
}

hone_status hone_packed_widen_shared(hone_packed *p) {
    hone_rv copy;
    uint32_t count = hone_packed_block(p)->read_count;
    for (uint32_t r = 0; r < count; r++) {
        if (r == p->read || !hone_packed_is_narrow(p, r) || !hone_packed_is_shared(p, r)) continue;
        HONE_TRY(hone_sch_cache_read(p->sch, p->block, r, "global", 0, NULL, &copy));
        HONE_TRY(hone_schedule_node(p->sch, p->block, &p->node));
    }
    return HONE_OK;
}

/* Loops of the copy that are (not) inner ones, but that over columns. */
static uint32_t list_loops(const hone_packed_copy *c, const hone_rv *loops, bool are_inner,
                           hone_rv *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (i != c->column && c->is_inner[i] == are_inner) out[n++] = loops[i];
    }
    return n;
}

/* Bytes: what is summed together goes inside of the columns of a panel, of which there are so many
 * loops around (lower/vectors/lower_interleave.c). */
static hone_status interleave(const hone_packed *p, const hone_packed_copy *c, const hone_rv *loops,
                              hone_rv panel, hone_rv columns) {
    const hone_rv *parts = NULL;
    hone_rv order[HONE_NEST_MAX_LOOPS + 2];
    uint32_t n = 0;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(p->together)};
    if (panel != HONE_NO_ID) order[n++] = panel;
    for (uint32_t i = 0; i < c->count; i++) {
        if (i == c->column) continue;
        order[n++] = loops[i];
        if ((int32_t)c->axes[i] != p->last_sum) continue;
        HONE_TRY(hone_sch_split(p->sch, loops[i], 2, factors, true, false, &parts));
        order[n - 1] = parts[0];
    }
    if (!parts) return illegal("nothing is summed together");
    order[n++] = columns;
    order[n++] = parts[1];
    HONE_TRY(hone_sch_reorder(p->sch, n, order));
    return hone_sch_vectorize(p->sch, order[n - 1]);
}

/* In front of `order`, which has n loops: what does not go inside, then columns, in squares a
 * vector of them at a time, along what is contiguous in the operand
 * (lower/vectors/lower_transpose.c). columns: the loops over vectors of a panel and over their
 * lanes, or one over all of them. */
static hone_status order_copy(const hone_packed *p, const hone_packed_copy *c, const hone_rv *loops,
                              const hone_rv *columns, hone_rv *order, uint32_t n) {
    hone_rv fused;
    n += list_loops(c, loops, false, order + n);
    if (c->is_turned) order[n++] = columns[0];
    uint32_t first = n;
    n += list_loops(c, loops, true, order + n);
    uint32_t inner = n - first;
    order[n++] = columns[c->is_turned ? 1 : 0];
    if (n > 1) HONE_TRY(hone_sch_reorder(p->sch, n, order));
    if (inner > 1)
        HONE_TRY(hone_default_optional(hone_sch_fuse(p->sch, inner, order + first, true, &fused)));
    return hone_sch_vectorize(p->sch, order[n - 1]);
}

/* Panels one after another. */
hone_status hone_packed_pack_all(const hone_packed *p, const hone_packed_copy *c) {
    uint32_t count = 0;
    const hone_rv *loops = NULL, *parts = NULL;
    hone_rv order[HONE_NEST_MAX_LOOPS + 2];
    hone_factor factors[] = {
        {.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(p->vectors), HONE_FACTOR_OF_INT(p->lanes)};
    HONE_TRY(hone_sch_get_loops(p->sch, c->block, &count, &loops));
    if (count != c->count) return illegal("unexpected loops");
    bool in_squares = c->is_turned && p->together == 1;
    if (!in_squares) factors[1].value = p->columns;
    HONE_TRY(
        hone_sch_split(p->sch, loops[c->column], in_squares ? 3 : 2, factors, true, false, &parts));
    if (p->together > 1) return interleave(p, c, loops, parts[0], parts[1]);
    order[0] = parts[0];
    return order_copy(p, c, loops, parts + 1, order, 1);
}

/* Below the loop over panels; there are so many loops around. */
hone_status hone_packed_pack_panel(const hone_packed *p, const hone_packed_copy *c,
                                   const hone_packed_places *at) {
    hone_rv order[HONE_NEST_MAX_LOOPS + 2];
    const hone_rv *loops = NULL, *columns;
    uint32_t count = 0, depth = at->panel_depth;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(p->lanes)};
    HONE_TRY(hone_sch_compute_at(p->sch, c->block, at->panel, true, -1));
    HONE_TRY(hone_sch_get_loops(p->sch, c->block, &count, &loops));
    if (count != depth + c->count) return illegal("unexpected loops");
    columns = &loops[depth + c->column];
    if (p->together > 1) return interleave(p, c, loops + depth, HONE_NO_ID, *columns);
    if (c->is_turned) HONE_TRY(hone_sch_split(p->sch, *columns, 2, factors, true, false, &columns));
    return order_copy(p, c, loops + depth, columns, order, 0);
}

/* ---- the output ---- */

/* A dimension of its output that two axes of a product go over as one (filters of all groups of a
 * convolution) becomes two, in what the product writes and in what takes that, so that a tile of
 * one axis is a tile of the output.
 *
 *   R[g * 24 + f] += …; Y[v] = T.max(R[v], 0)
 *     ⇒   R[g, f] += …; Y[g * 24 + f] = T.max(R[g, f], 0)
 */

/* A dimension that is two axes, of which the inner one has so many places. */
typedef struct pair {
    uint32_t dimension;
    int64_t inner;
} pair;

static const hone_region *written_of(const hone_packed *p) {
    return &hone_packed_block(p)->writes[0];
}

static bool find_pair(const hone_packed *p, pair *out) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        int32_t dimension = hone_packed_place(p, written_of(p), a);
        if (dimension < 0 || hone_packed_dimension(p, written_of(p), a) >= 0) continue;
        int64_t inner = hone_packed_inner(p, written_of(p), (uint32_t)dimension);
        *out = (pair){(uint32_t)dimension, inner};
        return true;
    }
    return false;
}

/* The axis of a block that is the dimension of what it reads; -1: none is. */
static int32_t taking_axis(const hone_block *block, hone_buffer read, uint32_t dimension) {
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (block->reads[r].buffer != read) continue;
        const hone_expr *at = block->reads[r].ranges[dimension].min;
        for (uint32_t a = 0; a < block->axis_count; a++)
            if (at->kind == HONE_EXPR_VAR && at->u.var == block->axes[a].var) return (int32_t)a;
    }
    return -1;
}

static hone_status divide_taker(const hone_packed *p, hone_rv taker, int32_t axis, int64_t by) {
    hone_node_id node;
    const hone_index_map *map;
    HONE_TRY(hone_schedule_node(p->sch, taker, &node));
    uint32_t count = hone_func_node(p->sch->func, node)->u.block.block->axis_count;
    HONE_TRY(hone_default_divide_map(p->sch, count, (uint32_t)axis, by, &map));
    return hone_sch_transform_block_layout(p->sch, taker, map);
}

hone_status hone_packed_set_apart(hone_packed *p) {
    pair d;
    hone_rv taker;
    hone_node_id node;
    const hone_index_map *map;
    if (!find_pair(p, &d)) return HONE_OK;
    HONE_TRY(hone_nest_epilogue(p->sch, p->block, &taker));
    if (taker == HONE_NO_ID)
        HONE_TRY(hone_sch_cache_write(p->sch, p->block, 0, "global", 0, NULL, &taker));
    HONE_TRY(hone_schedule_node(p->sch, p->block, &p->node));
    HONE_TRY(hone_schedule_node(p->sch, taker, &node));
    hone_buffer written = written_of(p)->buffer;
    int32_t axis =
        taking_axis(hone_func_node(p->sch->func, node)->u.block.block, written, d.dimension);
    if (axis < 0) return illegal("what takes the output takes it by no axis");
    uint32_t rank = hone_func_buffer(p->sch->func, written)->rank;
    HONE_TRY(hone_default_divide_map(p->sch, rank, d.dimension, d.inner, &map));
    HONE_TRY(hone_sch_transform_layout(p->sch, p->block, true, 0, map, NULL, false));
    HONE_TRY(divide_taker(p, taker, axis, d.inner));
    return hone_schedule_node(p->sch, p->block, &p->node);
}

/* ---- the tile ---- */

/* Whether a tile of what the block reads is a tile of its own: each index is an axis. */
static bool stays_in_place(const hone_packed *p, hone_node_id block, hone_buffer read) {
    const hone_block *b = hone_func_node(p->sch->func, block)->u.block.block;
    for (uint32_t r = 0; r < b->read_count; r++) {
        if (b->reads[r].buffer != read) continue;
        uint32_t rank = hone_func_buffer(p->sch->func, read)->rank;
        for (uint32_t d = 0; d < rank; d++) {
            const hone_expr *at = b->reads[r].ranges[d].min;
            if (at->kind != HONE_EXPR_VAR && !hone_expr_is_int(at)) return false;
        }
    }
    return true;
}

/* What read the output reads the tile. */
static hone_status cache_tile(const hone_packed *p, hone_rv *out_epilogue) {
    hone_rv consumer;
    HONE_TRY(hone_nest_epilogue(p->sch, p->block, &consumer));
    if (!p->is_turned && consumer != HONE_NO_ID) {
        *out_epilogue = consumer;
        return hone_default_optional(hone_sch_set_scope(p->sch, p->block, 0, "local"));
    }
    if (!p->is_turned)
        return hone_sch_cache_write(p->sch, p->block, 0, "local", 0, NULL, out_epilogue);
    const hone_index_map *map;
    bool is_near = true;
    hone_node_id node;
    if (consumer != HONE_NO_ID) {
        HONE_TRY(hone_schedule_node(p->sch, consumer, &node));
        is_near = stays_in_place(p, node, hone_packed_block(p)->writes[0].buffer);
    }
    HONE_TRY(make_map(p, &hone_packed_block(p)->writes[0], 1, &map));
    HONE_TRY(hone_sch_reindex_cache_write(p->sch, p->block, 0, "local", map, out_epilogue));
    if (consumer == HONE_NO_ID || !is_near) return HONE_OK;
    HONE_TRY(hone_sch_compute_inline(p->sch, *out_epilogue));
    *out_epilogue = consumer;
    return HONE_OK;
}

hone_status hone_packed_cache_tile(hone_packed *p, hone_rv *out_epilogue) {
    HONE_TRY(hone_packed_set_apart(p));
    HONE_TRY(cache_tile(p, out_epilogue));
    return hone_schedule_node(p->sch, p->block, &p->node);
}
