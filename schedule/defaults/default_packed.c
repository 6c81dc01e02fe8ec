/* schedule/defaults/default_packed.c - products an operand of which is laid out for the tile, so
 * that each step of the sum reads the next vectors of one stream: weights when the model is
 * compiled (lower/signature/split_constants.h); what comes with each call (a transposed matrix,
 * the keys of attention, filters) where no vectors lie along its columns, and its copy costs less
 * than sums along the reduction (default_lanes.c), or vectors along rows of the image; and a matrix
 * that the second cache does not hold where many rows go over it, since its own rows lie far apart.
 *
 *   pack[f / C, c, dy, dx, f % C] = W[f, c, dy, dx]
 *   for f0…, n, y0, x0:
 *     for c, dy, dx: for y1, x1 (unrolled): for f1 (vectors): tile[y1, x1, f1] += X[…] * pack[…]
 *     Y = epilogue(tile)
 *
 * Columns of a tile are the contiguous axis of the output (a matrix product), or another one: the
 * filters of a convolution, which is turned on its way out then. It competes with vectors along
 * rows of the image (default_tile.c), whose lanes are left over where an image is small, and which
 * are no vectors at all where it is read in strides.
 */
#include <math.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum {
    MAX_VECTORS = 4,
    MAX_ROWS = 32,
    SET_STRIDE = 2048,   /* bytes; so far apart, lines are in two sets of a cache at most */
    UNROLLED_TAPS = 16,  /* steps of a sum that compilers unroll */
    MANY_REGISTERS = 32, /* of a CPU that multiplies by a number in memory, too */
    FEW_ROWS = 4, /* of a product whose right side, of short floats, is better read where it lies */
    ROWS_TO_WIDEN = 24,   /* for which it is widened in a copy of the run */
    ROWS_TO_COPY = 384,   /* for which a right side that is not near is copied, panel by panel */
    PANELS_PER_THREAD = 4 /* that are packed and used by one thread, so that threads end together */
};

/* What a step of a sum in lanes takes, beside a product of a tile. */
static const double LANES_STEP = 2.5;

/* How much faster a tile has to be for whose sake filters are laid out in each call. */
static const double WORTH_A_COPY = 1.1;

/* How much longer a copy takes whose vectors lie far from each other (taps of a channel). */
static const double SCATTERED = 9;

/* What a vector from the second cache takes, which is asked for ahead. */
static const double STREAMED = 0.75;

/* What it takes to load a number as an operand of the only product that it is for. */
static const double OPERAND = 0.6;

/* What a vector takes that is half empty, beside a whole one: it is one of half the width. */
static const double HALF_EMPTY = 0.45;

/* A way to tile a product: columns of p, and rows along both axes. */
typedef struct way {
    hone_packed p;
    int64_t rows, outer_rows;
    double time;      /* of a step, from the first cache; beside other schedules the least of all */
    double streaming; /* what it takes beside that to have panels from beyond that cache */
} way;

static const hone_region *operand_of(const hone_packed *p) {
    return &hone_packed_block(p)->reads[p->read];
}

static bool reads_constant(const hone_default_nest *n, const hone_packed *p) {
    return hone_default_is_constant(n->sch, n->limits, operand_of(p)->buffer);
}

static bool lies_along_columns(const hone_packed *p) {
    int64_t stride;
    hone_var column = hone_packed_block(p)->axes[p->column].var;
    return sch_stride_in_axis(p->sch, operand_of(p), column, &stride) && stride == 1;
}

static int64_t extent_of(const hone_packed *p, int32_t axis) {
    return axis < 0 ? 1 : p->f.extents[axis];
}

/* Rows that go over the same elements of the operand, along whatever axes. */
static double rows_of_operand(const hone_packed *p) {
    double rows = 1;
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] || a == p->column) continue;
        if (hone_packed_place(p, operand_of(p), a) < 0) rows *= (double)p->f.extents[a];
    }
    return rows;
}

/* What each of its rows reads is more than the second cache holds, and comes from beyond it in
 * lines that lie far apart, many times: a copy of a panel stays near. */
static bool is_far_and_used_often(const hone_default_nest *n, const hone_packed *p) {
    double bytes =
        (double)p->f.reduce * (double)extent_of(p, (int32_t)p->column) * p->f.element_bits / 8;
    return n->limits->l2_bytes > 0 && bytes >= (double)n->limits->l2_bytes &&
           rows_of_operand(p) >= ROWS_TO_COPY;
}

/* An operand of the run that may be worth a copy: bytes, which are summed in fours, floats that are
 * widened, one along whose columns there are no vectors, and one that is far. */
static bool may_copy(const hone_default_nest *n, const hone_packed *p) {
    return p->together > 1 || hone_packed_is_narrow(p, p->read) || !lies_along_columns(p) ||
           is_far_and_used_often(n, p);
}

/* ---- how large a tile is ---- */

/* What it takes to turn a tile on its way out: squares of a register's width, however full, each of
 * which is loaded, turned in log2(lanes) rounds of shuffles, and stored. */
static double turning_time(const hone_default_nest *n, int64_t outer_rows, int64_t rows,
                           int64_t columns) {
    int64_t squares =
        outer_rows * ((rows + n->lanes - 1) / n->lanes) * ((columns + n->lanes - 1) / n->lanes);
    return (double)(squares * n->lanes) * (2 + log2((double)n->lanes));
}

/* One step of the reduction for all tiles, those at the edges as they are. */
static double time_of(const hone_default_nest *n, const way *w) {
    const hone_packed *p = &w->p;
    const int64_t all[] = {extent_of(p, p->outer_row), extent_of(p, (int32_t)p->row),
                           extent_of(p, (int32_t)p->column)};
    const int64_t tile[] = {w->outer_rows, w->rows, p->columns};
    double time = 0;
    for (int corner = 0; corner < 8; corner++) {
        int64_t side[3];
        double count = 1;
        for (int d = 0; d < 3; d++) {
            bool is_rest = corner >> d & 1;
            side[d] = is_rest ? all[d] % tile[d] : tile[d];
            count *= (double)(is_rest ? side[d] > 0 : all[d] / tile[d]);
        }
        if (count == 0) continue;
        double step = hone_default_step_time(n, side[0] * side[1], side[2]);
        if (p->is_turned) step += turning_time(n, side[0], side[1], side[2]) / (double)p->f.reduce;
        time += count * step;
    }
    return time;
}

/* Panels that a core's first cache does not hold come from the second one, for each tile. */
static double streaming_time(const hone_default_nest *n, const way *w) {
    const hone_packed *p = &w->p;
    const int64_t all[] = {extent_of(p, p->outer_row), extent_of(p, (int32_t)p->row),
                           extent_of(p, (int32_t)p->column)};
    const int64_t tile[] = {w->outer_rows, w->rows, p->columns};
    if (p->f.reduce * p->columns * p->f.element_bits / 8 <= n->limits->l1_bytes) return 0;
    double vectors = STREAMED * (double)p->vectors;
    for (int d = 0; d < 3; d++)
        vectors *= (double)((all[d] + tile[d] - 1) / tile[d]);
    return vectors;
}

/* How many numbers of what columns share stay in registers from step to step of the innermost sum,
 * where that is unrolled and moves along a dimension of theirs that rows along the outer axis move
 * along, too: taps of a window. */
static int64_t held_for_taps(const hone_default_nest *n, const way *w) {
    const hone_packed *p = &w->p;
    const hone_block *block = hone_packed_block(p);
    int64_t held = 0;
    bool is_folded = n->limits->vector_registers >= MANY_REGISTERS; /* loads are operands */
    if (is_folded || p->outer_row < 0 || w->outer_rows < 2 ||
        extent_of(p, p->last_sum) > UNROLLED_TAPS)
        return 0;
    for (uint32_t r = 0; r < block->read_count; r++) {
        int64_t across, along;
        const hone_region *read = &block->reads[r];
        if (!hone_packed_is_shared(p, r)) continue;
        if (!sch_stride_in_axis(p->sch, read, block->axes[p->outer_row].var, &across) ||
            !sch_stride_in_axis(p->sch, read, block->axes[p->last_sum].var, &along))
            continue;
        if (along > 0 && across % along == 0)
            held += across / along * (w->outer_rows - 1) * w->rows;
    }
    return held;
}

static bool fits(const hone_default_nest *n, const way *w) {
    int64_t held = held_for_taps(n, w);
    return hone_default_tile_fits(n, w->outer_rows * w->rows, w->p.columns) &&
           (held == 0 || w->outer_rows * w->rows * w->p.vectors + w->p.vectors + held <=
                             n->limits->vector_registers);
}

/* The fastest tile of so many vectors. */
static void choose_rows(const hone_default_nest *n, way *io, way *best, double *io_least) {
    int64_t tall = extent_of(&io->p, io->p.outer_row), wide = extent_of(&io->p, (int32_t)io->p.row);
    for (io->outer_rows = 1; io->outer_rows <= tall && io->outer_rows <= MAX_ROWS;
         io->outer_rows++) {
        for (io->rows = 1; io->rows <= wide && io->rows <= MAX_ROWS; io->rows++) {
            if (!fits(n, io)) break;
            io->time = time_of(n, io);
            io->streaming = io->p.is_turned ? streaming_time(n, io) : 0;
            if (io->time < *io_least) *io_least = io->time;
            if (io->time + io->streaming < best->time + best->streaming) *best = *io;
        }
    }
}

static void choose_tile(const hone_default_nest *n, way *io, way *best) {
    int64_t extent = extent_of(&io->p, (int32_t)io->p.column);
    double least = HUGE_VAL;
    for (int64_t vectors = 1; vectors <= MAX_VECTORS; vectors++) {
        io->p.lanes = n->lanes;
        io->p.vectors = vectors;
        io->p.columns = vectors * n->lanes;
        if (io->p.columns >= extent + n->lanes) break;
        choose_rows(n, io, best, &least);
    }
    best->time = least;
}

/* Whether vectors can go along rows: all that is read lies in them. */
static bool has_vectors(const hone_packed *p) {
    const hone_block *block = hone_packed_block(p);
    for (uint32_t r = 0; r < block->read_count; r++) {
        int64_t stride;
        if (!sch_stride_in_axis(p->sch, &block->reads[r], block->axes[p->row].var, &stride))
            return false;
        if (stride < 0 || stride > 1) return false;
    }
    return true;
}

/* How long the rows are along which vectors would go: both axes of an image may be one
 * (default_joined.c). */
static int64_t run_of_rows(const hone_default_nest *n, const hone_packed *p) {
    hone_default_axes axes;
    int64_t run = extent_of(p, (int32_t)p->row);
    bool is_joined = p->outer_row >= 0 && hone_default_may_join_axes(n, &axes) &&
                     axes.inner == p->row && axes.outer == (uint32_t)p->outer_row;
    return is_joined ? run * extent_of(p, p->outer_row) : run;
}

/* What vectors along the contiguous axis would take for as much. */
static double plain_time(const hone_default_nest *n, const hone_packed *p) {
    int64_t run = run_of_rows(n, p);
    int64_t all_rows = extent_of(p, (int32_t)p->row) * extent_of(p, p->outer_row);
    if (!has_vectors(p)) return HUGE_VAL;
    const hone_default_sides all = {extent_of(p, (int32_t)p->column), run};
    return hone_default_least_time(n, all) * (double)(all_rows / run);
}

/* What it takes without a copy of an operand of the run: sums of lanes along the reduction, in
 * tiles (default_dots.c), or each with a load of its own, few of which are under way at a time,
 * where all lies along it. */
static double lanes_time(const hone_default_nest *n, const hone_packed *p) {
    if (!n->facts.is_reduce_contiguous) return HUGE_VAL;
    double tall = (double)(extent_of(p, p->outer_row) * extent_of(p, (int32_t)p->row));
    double sums = tall * (double)extent_of(p, (int32_t)p->column);
    double apart = LANES_STEP * sums / (double)n->lanes, tiled = hone_default_dots_time(n, sums);
    return tiled < apart ? tiled : apart;
}

static bool has_rows(const hone_packed *p, int64_t least) {
    return p->f.space >= least * extent_of(p, (int32_t)p->column);
}

/* What it takes to lay an operand of the run out, for a step of the reduction. */
static double copying_time(const hone_default_nest *n, const hone_packed *p) {
    return turning_time(n, 1, 1, extent_of(p, (int32_t)p->column)) / (double)n->lanes;
}

/* The steps of the innermost sum lie side by side in the operand: so its copy is one stream. */
static bool is_stream(const hone_packed *p) {
    int64_t stride;
    hone_var sum = hone_packed_block(p)->axes[p->last_sum].var;
    return sch_stride_in_axis(p->sch, operand_of(p), sum, &stride) && stride == 1;
}

/* Elements of the operand from column to column lie a multiple of so many bytes apart that those of
 * a tile, read where they are, share sets of the first cache. */
static bool shares_sets(const hone_packed *p) {
    int64_t stride;
    hone_var column = hone_packed_block(p)->axes[p->column].var;
    return sch_stride_in_axis(p->sch, operand_of(p), column, &stride) && stride > 0 &&
           stride * (p->f.element_bits / 8) % SET_STRIDE == 0;
}

/* A number that one product alone takes is an operand of it in memory, where CPUs have such: less
 * than a load of its own. */
static double turned_time(const hone_default_nest *n, const way *w) {
    bool has_operands = n->limits->vector_registers >= MANY_REGISTERS &&
                        w->p.columns >= extent_of(&w->p, (int32_t)w->p.column) && w->p.vectors == 1;
    double rows = (double)(extent_of(&w->p, w->p.outer_row) * extent_of(&w->p, (int32_t)w->p.row));
    return has_operands ? w->time - (1 - OPERAND) * rows : w->time;
}

/* Filters that come with each call: beside vectors along rows of the image, the last of which may
 * be half empty. Where no lanes are saved, a copy only serves the cache. */
static bool pays_to_turn(const hone_default_nest *n, const way *w) {
    const hone_packed *p = &w->p;
    int64_t row = run_of_rows(n, p), column = extent_of(p, (int32_t)p->column);
    int64_t full = row / n->lanes, rest = row % n->lanes;
    bool is_half = rest > 0 && rest * 2 <= n->lanes;
    double vectors = (double)full + (is_half ? 0.5 : rest > 0);
    double turned = (double)(row * ((column + n->lanes - 1) / n->lanes));
    bool saves_lanes = !has_vectors(p) || turned < vectors * (double)column;
    if (!saves_lanes && !shares_sets(p)) return false;
    double copying = copying_time(n, p) * (is_stream(p) ? 1 : SCATTERED), plain = plain_time(n, p);
    if (is_half) plain *= ((double)full + HALF_EMPTY) / (double)(full + 1);
    return (turned_time(n, w) + copying) * WORTH_A_COPY < plain;
}

static bool pays(const hone_default_nest *n, const way *w) {
    if (w->p.together > 1) return true;
    bool is_constant = reads_constant(n, &w->p);
    if (w->p.is_turned && !is_constant) return pays_to_turn(n, w);
    if (w->p.is_turned) return turned_time(n, w) < plain_time(n, &w->p);
    if (hone_packed_is_narrow(&w->p, w->p.read) && lies_along_columns(&w->p))
        return has_rows(&w->p, is_constant ? FEW_ROWS : ROWS_TO_WIDEN);
    if (is_constant || lies_along_columns(&w->p)) return true; /* the latter is far */
    return w->time + copying_time(n, &w->p) < lanes_time(n, &w->p);
}

static bool find_way(hone_default_nest *n, hone_node_id node, way *out) {
    out->time = HUGE_VAL;
    out->streaming = 0;
    for (int is_turned = 0; is_turned < 2; is_turned++) {
        way w = {.time = HUGE_VAL};
        if (!hone_packed_find(n->sch, node, is_turned, true, &w.p)) continue;
        if (!reads_constant(n, &w.p) && !may_copy(n, &w.p)) continue;
        w.p.last_sum = hone_packed_longest_sum(&w.p);
        if (is_turned) w.p.outer_row = hone_packed_find_outer_row(&w.p);
        choose_tile(n, &w, out);
        if (out->time < HUGE_VAL) return pays(n, out);
    }
    return false;
}

/* ---- loops ---- */

/* Bytes that come from beyond the second cache, where something that is gone over several times
 * does not stay there. */
static double traffic(const hone_default_nest *n, int64_t bytes, int64_t times) {
    return (double)bytes * (bytes * 2 > n->limits->l2_bytes ? (double)times : 1);
}

static int64_t panels_of(const hone_packed *p) {
    return (extent_of(p, (int32_t)p->column) + p->columns - 1) / p->columns;
}

/* Whether all panels are gone over for each row of tiles, rather than all rows for each panel: of a
 * part of the operand that has rows of its own (a group, one of several matrices). */
static bool puts_rows_first(const hone_default_nest *n, const way *w) {
    const hone_packed *p = &w->p;
    const hone_block *block = hone_packed_block(p);
    int64_t weights = hone_default_buffer_bytes(p->sch, block->reads[p->read].buffer), others = 0,
            strips = 1, parts = 1;
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (r != p->read) others += hone_default_buffer_bytes(p->sch, block->reads[r].buffer);
    }
    for (uint32_t a = 0; a < p->f.loop_count; a++) {
        if (!p->f.is_spatial[a] || a == p->column || a == p->row) continue;
        bool is_part = hone_packed_place(p, operand_of(p), a) >= 0;
        *(is_part ? &parts : &strips) *= (int32_t)a == p->outer_row
                                             ? (p->f.extents[a] + w->outer_rows - 1) / w->outer_rows
                                             : p->f.extents[a];
    }
    weights /= parts;
    others /= parts;
    int64_t panels = panels_of(p);
    return traffic(n, weights, strips) + (double)others <
           traffic(n, others, panels) + (double)weights;
}

/* Whether a panel of what comes with the call is packed when its turn comes, not all in front. */
static bool packs_by_panel(const hone_default_nest *n, const hone_packed *p, bool rows_first) {
    if (rows_first || reads_constant(n, p)) return false;
    if (p->together > 1 || p->is_turned) return true;
    return lies_along_columns(p) && !hone_packed_is_narrow(p, p->read) &&
           panels_of(p) >= PANELS_PER_THREAD * (int64_t)n->limits->threads;
}

/* Decisions that are made: a search goes on from them. */
static hone_status choose_sides(hone_default_nest *n, const way *w, hone_packed_tiling *out) {
    const hone_packed *p = &w->p;
    const hone_default_sizes rows = {w->rows, MAX_ROWS, 1}, outer = {w->outer_rows, MAX_ROWS, 1};
    HONE_TRY(hone_default_choose(n->sch, extent_of(p, (int32_t)p->row), &rows, &out->rows));
    return hone_default_choose(n->sch, extent_of(p, p->outer_row), &outer, &out->outer_rows);
}

static hone_status apply(hone_default_nest *n, way *w, bool rows_first) {
    hone_packed *p = &w->p;
    hone_packed_copy copy;
    hone_packed_places at;
    hone_rv epilogue;
    bool by_panel = packs_by_panel(n, p, rows_first);
    p->block = n->block;
    HONE_TRY(hone_packed_widen_shared(p));
    HONE_TRY(hone_packed_cache_tile(p, &epilogue));
    HONE_TRY(hone_packed_copy_operand(p, &copy));
    HONE_TRY(hone_schedule_node(n->sch, p->block, &p->node));
    hone_packed_tiling tiling = {.group = HONE_FACTOR_OF_INT(1), .rows_first = rows_first};
    HONE_TRY(choose_sides(n, w, &tiling));
    HONE_TRY(hone_packed_nest(p, &tiling, &at));
    HONE_TRY(hone_packed_take_tile(p, epilogue, &at));
    if (p->together == 1 && p->is_turned && !n->limits->are_sizes_open)
        HONE_TRY(hone_packed_take_padding(n->sch, p->block, &n->facts));
    HONE_TRY(hone_sch_unroll(n->sch, at.row));
    if (at.outer_row != HONE_NO_ID) HONE_TRY(hone_sch_unroll(n->sch, at.outer_row));
    return by_panel ? hone_packed_pack_panel(p, &copy, &at) : hone_packed_pack_all(p, &copy);
}

/* On a copy first: a step that is refused in the middle would leave half of it. */
static hone_status try_way(hone_default_nest *n, way *w, bool rows_first, bool *out_is_done) {
    hone_schedule *copy = NULL;
    HONE_TRY(hone_schedule_copy(n->sch, &copy));
    copy->wants_reasons = false;
    hone_default_nest on_copy = *n;
    on_copy.sch = copy;
    way tried = *w;
    tried.p.sch = copy;
    hone_status st = apply(&on_copy, &tried, rows_first);
    *out_is_done = !st;
    hone_schedule_destroy(copy);
    return hone_default_optional(st);
}

hone_status hone_default_packed(hone_default_nest *n, bool *out_is_done) {
    way w;
    hone_node_id node;
    *out_is_done = false;
    if (n->lanes < 2) return HONE_OK;
    HONE_TRY(hone_schedule_node(n->sch, n->block, &node));
    if (!find_way(n, node, &w)) return HONE_OK;
    bool rows_first = puts_rows_first(n, &w);
    HONE_TRY(try_way(n, &w, rows_first, out_is_done));
    return *out_is_done ? apply(n, &w, rows_first) : HONE_OK;
}
