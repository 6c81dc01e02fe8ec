/* tuner/space/space_packed.c - products whose right side is packed for the tile: a copy in which
 * the columns of a tile lie one behind the other, whatever the layout it came in.
 *
 *   pack[col / C, k…, col % C] = W[…]       the whole of it first, or for each group of columns
 *   for col0…: for row0: for group:         group: tiles beside each other, that use the same rows
 *     for k…: for row1 (unrolled): for col1 (vector): tile += …
 *     out = epilogue(tile)                  the tile is turned on its way where columns are not
 *                                           contiguous in the output (filters of a convolution)
 *
 * Columns of a tile are whole vectors, as many as the sketch says; rows are sampled, up to what
 * registers hold beside a vector of each column and one of a row. Where a tile divides neither rows
 * nor columns the last one is shorter (lower/loops/lower_version.c).
 * Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008).
 */
#include "ir/text/map/index_map_parse.h"
#include "schedule/defaults/auto_loops.h"
#include "schedule/defaults/loop_strides.h"
#include "schedule/primitive/primitives.h"
#include "support/core/strbuf.h"
#include "tuner/space/space_rule.h"

enum { MOST_VECTORS = 4, FEW_REGISTERS = 16, MAX_ROW_CHOICES = 12, MOST_GROUPED = 8 };

/* What a sketch is of; bits of the argument of a variant. */
enum {
    VECTORS = 7,    /* of a tile */
    PER_PANEL = 8,  /* packed within the loop over panels */
    IS_TURNED = 16, /* columns are not the contiguous axis of the output */
    IS_PACKED = 32,
    PREFETCHES = 64, /* steps of the reduction ask for what later ones read */
};

/* Axis a of the block is bound to loop a of its nest. */
typedef struct packed {
    hone_schedule *sch;
    hone_rv block;
    hone_node_id node;
    hone_reduction_facts f;
    uint32_t column, row; /* axes */
    uint32_t read;        /* number of what is packed; of all reads where nothing is */
    int64_t columns;      /* of a tile */
    int64_t vectors, registers;
} packed;

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

static const hone_block *block_of(const packed *p) {
    return hone_func_node(p->sch->func, p->node)->u.block.block;
}

/* ---- who is what ---- */

static bool moves(const packed *p, const hone_region *region, uint32_t axis) {
    int64_t stride;
    return !sch_stride_in_axis(p->sch, region, block_of(p)->axes[axis].var, &stride) || stride != 0;
}

/* The dimension of an access that is just this axis; -1: there is none. */
static int32_t dimension_of(const packed *p, const hone_region *region, uint32_t axis) {
    uint32_t rank = hone_func_buffer(p->sch->func, region->buffer)->rank;
    for (uint32_t d = 0; d < rank; d++) {
        const hone_expr *e = region->ranges[d].min;
        if (e->kind == HONE_EXPR_VAR && e->u.var == block_of(p)->axes[axis].var) return (int32_t)d;
    }
    return -1;
}

/* Each axis that the access moves along is one of its dimensions. */
static bool is_simple(const packed *p, const hone_region *region) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (p->f.extents[a] > 1 && moves(p, region, a) && dimension_of(p, region, a) < 0)
            return false;
    }
    return true;
}

static bool moves_in_reduction(const packed *p, const hone_region *region) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] && p->f.extents[a] > 1 && moves(p, region, a)) return true;
    }
    return false;
}

/* What is read along columns: one operand that can be packed. What does not reduce, or lies in
 * vectors already, stays as it is. */
static bool find_operand(packed *p, bool is_packed) {
    const hone_block *block = block_of(p);
    p->read = block->read_count;
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_region *region = &block->reads[r];
        int64_t stride;
        if (!moves(p, region, p->column)) continue;
        bool fits = is_packed && p->read == block->read_count && is_simple(p, region) &&
                    moves_in_reduction(p, region);
        if (fits) {
            p->read = r;
            continue;
        }
        if (!sch_stride_in_axis(p->sch, region, block->axes[p->column].var, &stride) || stride != 1)
            return false;
    }
    return !is_packed || p->read < block->read_count;
}

/* Rows share what is read along columns: the last axis of the output of that kind, and of some
 * length. */
static bool find_row(packed *p) {
    const hone_block *block = block_of(p);
    bool is_found = false;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] || a == p->column || p->f.extents[a] < 2) continue;
        bool is_shared = true;
        for (uint32_t r = 0; r < block->read_count; r++) {
            const hone_region *region = &block->reads[r];
            bool counts = moves(p, region, p->column) && moves_in_reduction(p, region);
            if (counts && moves(p, region, a)) is_shared = false;
        }
        if (!is_shared) continue;
        p->row = a;
        is_found = true;
    }
    return is_found;
}

/* An axis that is not contiguous in the output, along which just one operand moves. */
static bool find_other_column(packed *p) {
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] || (int32_t)a == p->f.contiguous_space || p->f.extents[a] < 2)
            continue;
        uint32_t count = 0;
        for (uint32_t r = 0; r < block_of(p)->read_count; r++)
            count += moves(p, &block_of(p)->reads[r], a);
        p->column = a;
        if (count == 1 && find_operand(p, true) && find_row(p) &&
            (int32_t)p->row == p->f.contiguous_space) {
            return true;
        }
    }
    return false;
}

/* One loop for each axis, in their order; one type of floats all over. */
static bool is_plain(const packed *p) {
    const hone_node *node = hone_func_node(p->sch->func, p->node);
    const hone_block *block = block_of(p);
    hone_dtype dtype = hone_func_buffer(p->sch->func, block->writes[0].buffer)->dtype;
    bool is_plain = hone_dtype_is_float(dtype) && dtype.bits >= 32;
    for (uint32_t r = 0; r < block->read_count && is_plain; r++) {
        const hone_buffer_info *read = hone_func_buffer(p->sch->func, block->reads[r].buffer);
        is_plain = hone_dtype_equal(read->dtype, dtype);
    }
    hone_node_id loop = node->parent;
    for (uint32_t a = p->f.loop_count; a-- > 0 && is_plain;) {
        const hone_node *around = hone_func_node(p->sch->func, loop);
        const hone_expr *bound = node->u.block.bindings[a];
        is_plain = bound->kind == HONE_EXPR_VAR && bound->u.var == around->u.loop.var;
        loop = around->parent;
    }
    return is_plain && is_simple(p, &block->writes[0]);
}

static bool read_roles(packed *p, bool is_turned, bool is_packed) {
    if (!p->f.has_reuse || p->f.contiguous_space < 0 || p->f.keeps_order || !is_plain(p))
        return false;
    if (is_turned) return find_other_column(p);
    p->column = (uint32_t)p->f.contiguous_space;
    return find_operand(p, is_packed) && find_row(p);
}

static bool is_product(hone_schedule *sch, hone_node_id node, const hone_target *target,
                       int32_t kind, packed *out) {
    *out = (packed){.sch = sch, .node = node};
    if (!hone_nest_reduction(sch, node, &out->f)) return false;
    out->vectors = kind & VECTORS;
    out->registers = hone_target_vector_registers(target);
    int64_t lanes = hone_target_lanes(target, out->f.element_bits);
    out->columns = out->vectors * lanes;
    return lanes > 1 && read_roles(out, kind & IS_TURNED, kind & IS_PACKED) &&
           out->f.extents[out->column] >= out->columns - lanes + 1;
}

/* ---- decisions ---- */

/* Rows whose sums are in registers; more of them are likelier, since they share more. */
static hone_status sample_rows(const packed *p, hone_rv *out) {
    int64_t most = (p->registers - p->vectors - 1) / p->vectors, rows[MAX_ROW_CHOICES];
    double probs[MAX_ROW_CHOICES];
    uint32_t count = 0;
    if (most > p->f.extents[p->row]) most = p->f.extents[p->row];
    int64_t step = (most + MAX_ROW_CHOICES - 1) / MAX_ROW_CHOICES;
    for (int64_t r = most; r >= 1 && count < MAX_ROW_CHOICES; r -= step) {
        rows[count] = r;
        probs[count++] = (double)r;
    }
    if (count == 0) return illegal("registers hold no row");
    return hone_sch_sample_categorical(p->sch, count, rows, probs, NULL, out);
}

/* So many steps ahead. */
static hone_status sample_prefetch(const packed *p, hone_rv loop) {
    static const int64_t steps[] = {16, 32, 64};
    static const double probs[] = {0.25, 0.5, 0.25};
    hone_rv ahead;
    HONE_TRY(hone_sch_sample_categorical(p->sch, HONE_COUNT(steps), steps, probs, NULL, &ahead));
    return hone_sch_annotate(p->sch, loop, "pragma_prefetch", HONE_VALUE_OF_INT(0), ahead);
}

/* How many tiles stand beside each other: none of them is left over. */
static hone_status sample_group(const packed *p, hone_rv *out) {
    int64_t tiles = (p->f.extents[p->column] + p->columns - 1) / p->columns, groups[MOST_GROUPED];
    double probs[MOST_GROUPED];
    uint32_t count = 0;
    for (int64_t g = 1; g <= MOST_GROUPED; g *= 2) {
        if (tiles % g) break;
        groups[count] = g;
        probs[count++] = 1.0 / (double)g;
    }
    return hone_sch_sample_categorical(p->sch, count, groups, probs, NULL, out);
}

/* ---- the copy ---- */

static bool is_used(const packed *p, const hone_region *region, uint32_t axis) {
    return dimension_of(p, region, axis) >= 0;
}

/* "lambda v0, v1, v2: (v1 // 16, v2, v1 % 16)": spatial axes, columns, then what is summed; columns
 * of a tile last. columns 1: the axis of columns last as it is. */
static void print_map(const packed *p, const hone_region *region, int64_t columns, hone_str *text) {
    hone_str_append(text, "lambda ");
    for (uint32_t a = 0; a < p->f.loop_count; a++)
        hone_str_printf(text, "%sv%u", a ? ", " : "", a);
    hone_str_append(text, ": (");
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t a = 0; a < p->f.loop_count; a++) {
            bool is_there = a != p->column && is_used(p, region, a);
            if (is_there && p->f.is_spatial[a] == (pass == 0)) hone_str_printf(text, "v%u, ", a);
        }
        if (pass == 0 && columns > 1)
            hone_str_printf(text, "v%u // %lld, ", p->column, (long long)columns);
    }
    hone_str_printf(text, "v%u", p->column);
    if (columns > 1) hone_str_printf(text, " %% %lld", (long long)columns);
    hone_str_append(text, ")");
}

static hone_status make_map(const packed *p, const hone_region *region, int64_t columns,
                            const hone_index_map **out_map) {
    hone_str text = {0};
    print_map(p, region, columns, &text);
    hone_status st = hone_str_check(&text);
    py_source source = {.name = "map", .text = hone_str_text(&text), .length = text.length};
    if (!st) st = hone_index_map_parse(p->sch->arena, &source, NULL, 0, out_map);
    hone_str_deinit(&text);
    return st;
}

/* The copy: it has a loop for each axis that the operand uses, in their order. */
typedef struct copying {
    hone_rv block;
    uint32_t count;
    uint32_t axes[HONE_NEST_MAX_LOOPS];
    bool is_inner[HONE_NEST_MAX_LOOPS]; /* contiguous in the operand; goes inside */
    uint32_t column;                    /* which of them */
    bool is_turned;                     /* columns are not contiguous in the operand */
} copying;

/* The last dimensions of the operand, until they are as long as a vector. */
static void find_inner(const packed *p, const hone_region *region, copying *c) {
    int32_t rank = (int32_t)hone_func_buffer(p->sch->func, region->buffer)->rank;
    int64_t length = 1, lanes = p->columns / p->vectors;
    for (int32_t d = rank - 1; d >= 0 && length < lanes; d--) {
        for (uint32_t i = 0; i < c->count; i++) {
            if (dimension_of(p, region, c->axes[i]) != d) continue;
            if (i == c->column) return;
            c->is_inner[i] = true;
            length *= p->f.extents[c->axes[i]];
        }
    }
}

static hone_status copy_operand(packed *p, copying *out) {
    const hone_index_map *map;
    const hone_region *region = &block_of(p)->reads[p->read];
    int64_t stride;
    *out = (copying){.block = HONE_NO_ID};
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!is_used(p, region, a)) continue;
        if (a == p->column) out->column = out->count;
        out->axes[out->count++] = a;
    }
    hone_var column = block_of(p)->axes[p->column].var;
    out->is_turned = !sch_stride_in_axis(p->sch, region, column, &stride) || stride != 1;
    if (out->is_turned) find_inner(p, region, out);
    HONE_TRY(make_map(p, region, p->columns, &map));
    return hone_sch_reindex_cache_read(p->sch, p->block, p->read, "global", map, &out->block);
}

/* Loops of the copy that are (not) inner ones, but that over columns. */
static uint32_t list_loops(const copying *c, const hone_rv *loops, bool are_inner, hone_rv *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (i != c->column && c->is_inner[i] == are_inner) out[n++] = loops[i];
    }
    return n;
}

/* Panels one after another. Columns that are not contiguous are turned in squares: vectors of them
 * along what is (lower/vectors/lower_transpose.c). */
static hone_status pack_all(const packed *p, const copying *c) {
    uint32_t count = 0, n = 0;
    const hone_rv *loops = NULL, *parts = NULL;
    hone_rv order[HONE_NEST_MAX_LOOPS + 2], fused;
    bool is_done;
    int64_t lanes = p->columns / p->vectors;
    hone_factor factors[] = {
        {.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(p->vectors), HONE_FACTOR_OF_INT(lanes)};
    if (!c->is_turned) factors[1].value = p->columns;
    HONE_TRY(hone_sch_get_loops(p->sch, c->block, &count, &loops));
    if (count != c->count) return illegal("unexpected loops");
    HONE_TRY(hone_sch_split(p->sch, loops[c->column], c->is_turned ? 3 : 2, factors, true, false,
                            &parts));
    order[n++] = parts[0];
    n += list_loops(c, loops, false, order + n);
    if (c->is_turned) order[n++] = parts[1];
    uint32_t first = n;
    n += list_loops(c, loops, true, order + n);
    uint32_t inner = n - first;
    order[n++] = parts[c->is_turned ? 2 : 1];
    HONE_TRY(hone_sch_reorder(p->sch, n, order));
    if (inner > 1)
        HONE_TRY(
            hone_rule_attempt(hone_sch_fuse(p->sch, inner, order + first, true, &fused), &is_done));
    return hone_sch_vectorize(p->sch, order[n - 1]);
}

/* Below the loop over panels, columns innermost; there are so many loops around. */
static hone_status pack_panel(const packed *p, const copying *c, hone_rv place, uint32_t depth) {
    hone_rv order[HONE_NEST_MAX_LOOPS + 1];
    const hone_rv *loops = NULL;
    uint32_t count = 0;
    HONE_TRY(hone_sch_compute_at(p->sch, c->block, place, true, -1));
    HONE_TRY(hone_sch_get_loops(p->sch, c->block, &count, &loops));
    if (count != depth + c->count) return illegal("unexpected loops");
    uint32_t n = list_loops(c, loops + depth, false, order);
    order[n++] = loops[depth + c->column];
    if (n > 1) HONE_TRY(hone_sch_reorder(p->sch, n, order));
    return hone_sch_vectorize(p->sch, order[n - 1]);
}

/* ---- the nest ---- */

typedef struct places {
    hone_rv panel, tile; /* the last loop around a panel's tiles, and around a tile */
    hone_rv row, reduce; /* the reduction begins there */
    uint32_t depth;      /* loops down to tile */
    uint32_t panel_depth;
} places;

static hone_status split_row(const packed *p, hone_rv loop, hone_rv out[2]) {
    hone_rv rows;
    const hone_rv *parts = NULL;
    HONE_TRY(sample_rows(p, &rows));
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_RV(rows)};
    HONE_TRY(hone_sch_split(p->sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    return HONE_OK;
}

static hone_status split_column(const packed *p, hone_rv loop, hone_rv out[3]) {
    hone_rv group;
    const hone_rv *parts = NULL;
    HONE_TRY(sample_group(p, &group));
    hone_factor factors[] = {
        {.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_RV(group), HONE_FACTOR_OF_INT(p->columns)};
    HONE_TRY(hone_sch_split(p->sch, loop, 3, factors, true, false, &parts));
    for (int i = 0; i < 3; i++)
        out[i] = parts[i];
    return HONE_OK;
}

/* Axes that the operand moves along, the panels, other axes, rows, tiles, the reduction, a tile. */
static hone_status tile_nest(const packed *p, places *out) {
    const hone_block *block = block_of(p);
    const hone_region *operand = p->read < block->read_count ? &block->reads[p->read] : NULL;
    bool goes_first[HONE_NEST_MAX_LOOPS];
    uint32_t count = 0, n = 0;
    const hone_rv *loops = NULL;
    hone_rv row[2], column[3], order[HONE_NEST_MAX_LOOPS + 3];
    for (uint32_t a = 0; a < p->f.loop_count; a++)
        goes_first[a] = operand && is_used(p, operand, a);
    HONE_TRY(hone_sch_get_loops(p->sch, p->block, &count, &loops));
    if (count != p->f.loop_count) return illegal("unexpected loops");
    HONE_TRY(split_row(p, loops[p->row], row));
    HONE_TRY(split_column(p, loops[p->column], column));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t a = 0; a < count; a++) {
            bool is_other = p->f.is_spatial[a] && a != p->row && a != p->column;
            if (is_other && goes_first[a] == (pass == 0)) order[n++] = loops[a];
        }
        if (pass == 0) order[n++] = column[0];
        if (pass == 0) out->panel_depth = n;
    }
    order[n++] = row[0];
    order[n++] = column[1];
    out->depth = n;
    for (uint32_t a = 0; a < count; a++) {
        if (!p->f.is_spatial[a]) order[n++] = loops[a];
    }
    order[n++] = row[1];
    order[n++] = column[2];
    *out = (places){column[0], column[1], row[1], order[out->depth], out->depth, out->panel_depth};
    return hone_sch_reorder(p->sch, n, order);
}

/* ---- where the tile goes ---- */

static hone_status find_consumer(const packed *p, hone_rv *out) {
    uint32_t count = 0;
    const hone_rv *consumers = NULL;
    hone_node_id node;
    *out = HONE_NO_ID;
    HONE_TRY(hone_sch_get_consumers(p->sch, p->block, &count, &consumers));
    if (count != 1) return HONE_OK;
    HONE_TRY(hone_schedule_node(p->sch, consumers[0], &node));
    if (hone_block_init_of(p->sch->func, node) == HONE_NO_ID) *out = consumers[0];
    return HONE_OK;
}

/* The tile in a buffer of its own: sums lie there as they are in registers. What read the output
 * reads that. */
static hone_status cache_tile(const packed *p, bool is_turned, hone_rv *out_epilogue) {
    hone_rv consumer;
    bool is_done;
    HONE_TRY(find_consumer(p, &consumer));
    if (!is_turned && consumer != HONE_NO_ID) {
        *out_epilogue = consumer;
        return hone_rule_attempt(hone_sch_set_scope(p->sch, p->block, 0, "local"), &is_done);
    }
    if (!is_turned)
        return hone_sch_cache_write(p->sch, p->block, 0, "local", 0, NULL, out_epilogue);
    const hone_index_map *map;
    HONE_TRY(make_map(p, &block_of(p)->writes[0], 1, &map));
    HONE_TRY(hone_sch_reindex_cache_write(p->sch, p->block, 0, "local", map, out_epilogue));
    if (consumer == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_sch_compute_inline(p->sch, *out_epilogue));
    *out_epilogue = consumer;
    return HONE_OK;
}

/* The loops of the epilogue within a tile: the last dimension is a vector, the other side of the
 * tile, so many loops before it, unrolls. */
static hone_status take_tile(const packed *p, hone_rv epilogue, const places *at, uint32_t before) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    bool is_done;
    HONE_TRY(hone_sch_reverse_compute_at(p->sch, epilogue, at->tile, true, -1));
    HONE_TRY(hone_sch_get_loops(p->sch, epilogue, &count, &loops));
    if (before < 1 || count < at->depth + before + 1) return HONE_OK;
    hone_rv side = loops[count - 1 - before], last = loops[count - 1];
    HONE_TRY(hone_rule_attempt(hone_sch_unroll(p->sch, side), &is_done));
    return hone_rule_attempt(hone_sch_vectorize(p->sch, last), &is_done);
}

/* How many dimensions of the output stand behind the side of the tile that is not contiguous. */
static uint32_t dimensions_behind(const packed *p, uint32_t side) {
    const hone_region *written = &block_of(p)->writes[0];
    uint32_t rank = hone_func_buffer(p->sch->func, written->buffer)->rank;
    return rank - 1 - (uint32_t)dimension_of(p, written, side);
}

static hone_status pack(hone_schedule *sch, const char *name, const hone_target *target,
                        int32_t kind) {
    packed p;
    places at;
    copying copy = {.block = HONE_NO_ID};
    hone_rv epilogue;
    hone_node_id node = hone_rule_find_block(sch, name);
    if (node == HONE_NO_ID || !is_product(sch, node, target, kind, &p))
        return illegal("no product of this kind");
    uint32_t behind = dimensions_behind(&p, kind & IS_TURNED ? p.column : p.row);
    HONE_TRY(hone_sch_get_block(sch, name, &p.block));
    HONE_TRY(cache_tile(&p, kind & IS_TURNED, &epilogue));
    HONE_TRY(hone_schedule_node(sch, p.block, &p.node));
    if (kind & IS_PACKED) HONE_TRY(copy_operand(&p, &copy));
    if (copy.is_turned && kind & PER_PANEL) return illegal("vectors do not go along columns");
    HONE_TRY(hone_sch_annotate(sch, p.block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("packed"),
                               HONE_NO_ID));
    HONE_TRY(hone_schedule_node(sch, p.block, &p.node));
    HONE_TRY(tile_nest(&p, &at));
    HONE_TRY(take_tile(&p, epilogue, &at, behind));
    HONE_TRY(hone_sch_unroll(sch, at.row));
    if (kind & PREFETCHES) HONE_TRY(sample_prefetch(&p, at.reduce));
    if (copy.block == HONE_NO_ID) return HONE_OK;
    return kind & PER_PANEL ? pack_panel(&p, &copy, at.panel, at.panel_depth) : pack_all(&p, &copy);
}

/* ---- the rule ---- */

/* Vectors of a tile: more than two take registers from rows, where there are few. */
static int32_t most_vectors(const hone_target *target) {
    return hone_target_vector_registers(target) > FEW_REGISTERS ? MOST_VECTORS : MOST_VECTORS - 1;
}

hone_status hone_rule_packed_tiles(hone_schedule *sch, const char *block_name,
                                   const hone_target *target, hone_rule_results *out_results) {
    static const int32_t kinds[] = {IS_PACKED, IS_PACKED | PREFETCHES, IS_PACKED | PER_PANEL,
                                    IS_PACKED | IS_TURNED, 0};
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    for (size_t k = 0; k < HONE_COUNT(kinds) && node != HONE_NO_ID; k++) {
        for (int32_t vectors = most_vectors(target); vectors >= 1 && !st; vectors--) {
            packed p;
            int32_t kind = kinds[k] | vectors;
            if (!is_product(sch, node, target, kind, &p)) continue;
            st = hone_rule_fork(sch, pack, block_name, target, kind, out_results);
        }
    }
    hone_status kept = hone_rule_keep(sch, out_results);
    return st ? hone_status_join(st, kept) : kept;
}
