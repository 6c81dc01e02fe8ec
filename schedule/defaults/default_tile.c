/* schedule/defaults/default_tile.c - dense layers, convolutions, pooling: the last axis of the
 * output is contiguous in all that is read, so it becomes vectors; some rows of them are held in
 * registers while the reduction runs.
 *
 *   for outer spatial…, col0, row0:         parallel, by auto_loops
 *     for reduce…:
 *       for row1 (unrolled): for col1 (vector): tile += …
 *     out = epilogue(tile)
 *
 * Where no tile divides rows or columns, the last one is shorter (lower/loops/lower_version.c).
 *
 * Where nothing is shared so (depthwise convolutions, pooling), rows share what they read of a
 * window that slides along them: its loop is unrolled around row1, and each read serves all places
 * of the window. Where less than half is shared (strides), rows go one by one, as what a step has
 * read serves the next steps along the columns. Small windows are unrolled as a whole, and their
 * padding is read as masked vectors where the image lies (default_padding.c). So it is where lanes
 * are channels, which share vectors of weights, but nothing of the image.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/packed.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MAX_VECTORS = 4, MAX_STREAM_VECTORS = 16, SPARE_REGISTERS = 4, MAX_ROWS = 32 };
enum { FEW_ROWS = 4, MANY_REGISTERS = 32, OPEN_VECTORS = 2, OPEN_ROWS = 8, OPEN_WINDOW_ROWS = 4 };
enum { MAX_WINDOW = 16, MAX_UNROLLED = 256, MAX_WHOLE = 1800, MAX_PLANES = 4 };
enum { WINDOW_VECTORS = 2, WINDOW_ROWS = 4, APART_SUMS = 8, EDGES = 3 };

/* Short rows that are summed as wholes: loads serve all steps of the reduction, if the vectors of a
 * tile are in registers together. */
static bool sums_short_rows(const hone_default_nest *n, hone_node_id column) {
    const hone_func *func = n->sch->func;
    const hone_block *block = hone_func_node(func, n->facts.block)->u.block.block;
    hone_var var = hone_func_node(func, column)->u.loop.var;
    for (uint32_t r = 0; r < block->read_count; r++) {
        int64_t stride;
        bool is_known = sch_stride_in_loop(n->sch, n->facts.block, &block->reads[r], var, &stride);
        if (is_known && stride > 1 && stride == n->facts.reduce) return true;
    }
    return false;
}

/* Rows of a tile whose sums are in registers beside a vector of each column and what of a row they
 * are multiplied with. */
static int64_t most_rows(const hone_default_nest *n, int64_t vectors) {
    return (n->limits->vector_registers - vectors - 1) / vectors;
}

/* No more vectors than rows, of which there are so many. */
static int64_t shared_vectors(const hone_default_nest *n, int64_t rows) {
    int64_t vectors = MAX_VECTORS;
    while (vectors > 2 && most_rows(n, vectors) < (rows < vectors ? rows : vectors))
        vectors--;
    return vectors;
}

/* Each step adds what it loads and nothing else: an operand in memory, which takes no register. */
static bool adds_loads(const hone_default_nest *n) {
    const hone_func *func = n->sch->func;
    const hone_node *store = hone_func_node(func, hone_func_node(func, n->facts.block)->last);
    if (store->kind != HONE_NODE_STORE) return false;
    const hone_expr *value = store->u.store.value;
    return hone_expr_is_op(value, HONE_OP_ADD) && value->args[0]->kind == HONE_EXPR_LOAD &&
           value->args[1]->kind == HONE_EXPR_LOAD;
}

/* Vectors of a tile that `rows` share. What is read once (0 rows: the sum of columns, a row by a
 * matrix) is read in long runs: as many vectors as half of the registers hold, or all of them where
 * only sums are in them, and as leave each thread some. */
static int64_t most_vectors(const hone_default_nest *n, int64_t extent, hone_node_id column,
                            int64_t rows) {
    if (n->facts.has_reuse && rows > 0) return shared_vectors(n, rows);
    if (sums_short_rows(n, column)) return MAX_VECTORS / 2;
    int64_t most = n->limits->vector_registers / (adds_loads(n) ? 1 : 2);
    int64_t threads = n->limits->threads;
    int64_t share = (extent + threads * n->lanes - 1) / (threads * n->lanes);
    if (most > MAX_STREAM_VECTORS) most = MAX_STREAM_VECTORS;
    if (most > share) most = share;
    return most > MAX_VECTORS ? most : MAX_VECTORS;
}

/* Nearly equal parts of an extent, none of more than so many. */
static int64_t equal_parts(int64_t extent, int64_t most) {
    int64_t parts = (extent + most - 1) / most;
    return (extent + parts - 1) / parts;
}

static bool fills_lanes(const hone_default_nest *n, int64_t columns) {
    int64_t vectors = (columns + n->lanes - 1) / n->lanes;
    return 4 * columns >= 3 * vectors * n->lanes;
}

/* Of columns that may be any number: few vectors, so that most of them are full. What is read once
 * (0 rows) is read in longer runs; a window has one, since its taps follow each other, and so has
 * what no rows share (1). */
static int64_t open_columns(const hone_default_nest *n, int64_t rows, int64_t vectors) {
    int64_t most = rows == 0 ? MAX_VECTORS : rows > 1 && n->facts.has_reuse ? OPEN_VECTORS : 1;
    if (most == OPEN_VECTORS && n->limits->vector_registers >= MANY_REGISTERS) most++;
    return (vectors < most ? vectors : most) * n->lanes;
}

/* Elements of the vector part: whole registers if they divide the extent, else what does and leaves
 * few lanes empty; whole registers and a rest where there is more to a step than a load, or nothing
 * is shared and the divisors are short. */
static int64_t column_tile(const hone_default_nest *n, int64_t extent, int64_t rows,
                           int64_t vectors) {
    int64_t most = vectors * n->lanes;
    if (hone_default_is_open(n->limits, extent)) return open_columns(n, rows, vectors);
    bool is_sum = adds_loads(n), may_rest = (n->facts.has_reuse || is_sum) && n->lanes > 1;
    int64_t tile = hone_default_divisor(extent, n->lanes, most, n->lanes);
    if (!tile) tile = hone_default_divisor(extent, n->lanes / 2 + 1, most, 1);
    bool is_good = tile && fills_lanes(n, tile) && (rows > 0 || 2 * tile >= most) &&
                   !(is_sum && tile % n->lanes);
    if (may_rest && extent > most && !is_good)
        return equal_parts((extent + n->lanes - 1) / n->lanes, vectors) * n->lanes;
    if (!tile && extent <= 2 * most) tile = extent;
    if (!tile) tile = hone_default_divisor(extent, 4, most, 1);
    return tile ? tile : extent; /* lowering cuts a long vector */
}

/* Rows share what is read along a column: the best loop is one that some such read does not move
 * along, the last of some length. -1: no loop is worth it. */
static int32_t row_loop(const hone_default_nest *n, uint32_t count, const hone_node_id *loops) {
    const hone_reduction_facts *f = &n->facts;
    const hone_func *func = n->sch->func;
    const hone_block *block = hone_func_node(func, f->block)->u.block.block;
    hone_var column = hone_func_node(func, loops[f->contiguous_space])->u.loop.var;
    int32_t best = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (!f->is_spatial[i] || (int32_t)i == f->contiguous_space || f->extents[i] == 1) continue;
        hone_var var = hone_func_node(func, loops[i])->u.loop.var;
        for (uint32_t r = 0; r < block->read_count; r++) {
            int64_t along_column, along_row;
            const hone_region *read = &block->reads[r];
            if (!sch_stride_in_loop(n->sch, f->block, read, column, &along_column) ||
                !sch_stride_in_loop(n->sch, f->block, read, var, &along_row)) {
                continue;
            }
            bool is_short = f->extents[i] < FEW_ROWS && best >= 0;
            if (along_column == 0 || along_row != 0) continue;
            if (!is_short || f->extents[best] < f->extents[i]) best = (int32_t)i;
        }
    }
    return best;
}

static bool strides_in(const hone_default_nest *n, const hone_region *read, hone_node_id loop,
                       int64_t *out) {
    hone_var var = hone_func_node(n->sch->func, loop)->u.loop.var;
    return sch_stride_in_loop(n->sch, n->facts.block, read, var, out);
}

/* Each step of the reduction reads other elements along the columns than all steps before it. */
static bool is_read_once(const hone_default_nest *n, uint32_t count, const hone_node_id *loops) {
    const hone_reduction_facts *f = &n->facts;
    const hone_block *block = hone_func_node(n->sch->func, f->block)->u.block.block;
    int64_t along = 0, step = 0;
    for (uint32_t r = 0; r < block->read_count; r++) {
        if (!strides_in(n, &block->reads[r], loops[f->contiguous_space], &along)) return false;
        for (uint32_t i = 0; i < count && along != 0; i++) {
            if (f->is_spatial[i] || f->extents[i] == 1) continue;
            if (!strides_in(n, &block->reads[r], loops[i], &step) ||
                step < along * f->extents[f->contiguous_space])
                return false;
        }
    }
    return true;
}

/* A window of a reduce loop that slides along a spatial one: by how many elements of what is read
 * the next place is on, and the next tap. */
typedef struct window {
    int64_t step, tap, taps;
    bool skips;    /* something is read along the columns that leaves elements out */
    bool is_alone; /* nothing is read that all lanes share, as weights of a channel are */
} window;

static bool slides(const hone_default_nest *n, const hone_node_id *loops, uint32_t row,
                   uint32_t reduce, window *out) {
    const hone_block *block = hone_func_node(n->sch->func, n->facts.block)->u.block.block;
    out->taps = n->facts.extents[reduce];
    for (uint32_t r = 0; r < block->read_count; r++) {
        const hone_region *read = &block->reads[r];
        bool is_known = strides_in(n, read, loops[row], &out->step) &&
                        strides_in(n, read, loops[reduce], &out->tap);
        if (is_known && out->step > 0 && out->tap > 0 && out->step < INT32_MAX &&
            out->tap < INT32_MAX)
            return true;
    }
    return false;
}

/* The next place reads half of what a place reads at least. */
static bool shares_half(const window *w) {
    return w->step % w->tap == 0 && 2 * w->step <= w->taps * w->tap;
}

typedef struct plan {
    int32_t row, column; /* loops; row may be -1 */
    int32_t window;      /* that slides along row, or -1 */
    int64_t rows, columns;
    bool is_apart;    /* of a window: rows go one by one, around the whole reduction */
    bool is_whole;    /* of a window: a tile is unrolled as a whole */
    bool is_row_last; /* tiles of rows inside of other loops but columns */
} plan;

/* At most so many rows: half of them at least, or nearly equal tiles if no number divides the
 * extent. */
static int64_t row_tile(int64_t extent, int64_t most) {
    int64_t least = most < 4 ? 2 : (most + 1) / 2;
    int64_t rows = hone_default_divisor(extent, least, most, 1);
    return rows || most < 1 ? rows : equal_parts(extent, most);
}

/* Of rows that may be any number few go together: those that are left are dear. */
static int64_t open_rows(const hone_default_nest *n, uint32_t row, int64_t most, int64_t few) {
    bool is_open = hone_default_is_open(n->limits, n->facts.extents[row]);
    return is_open && few < most ? few : most;
}

/* Rows of a window whose places share half of what they read: their sums are in registers, and its
 * weights, too, where there are many registers. */
static int64_t sharing_rows(const hone_default_nest *n, int64_t vectors, const window *w) {
    int64_t registers = n->limits->vector_registers;
    int64_t held = w->taps <= registers / 4 ? w->taps : 0;
    int64_t most = (registers - SPARE_REGISTERS - held) / vectors;
    return most * vectors * w->taps > MAX_UNROLLED ? MAX_UNROLLED / (vectors * w->taps) : most;
}

/* Rows of tiles that are unrolled as wholes: those that one column of taps reads are in registers
 * beside sums and weights. Those who have few registers multiply with what lies in memory. */
static int64_t holding_rows(const hone_default_nest *n, int64_t vectors, const window *w) {
    if (n->limits->vector_registers < MANY_REGISTERS) return sharing_rows(n, vectors, w);
    int64_t step = w->step / w->tap;
    int64_t weights = n->facts.has_reuse ? w->taps : 0;
    int64_t left = n->limits->vector_registers - SPARE_REGISTERS + 1 - weights;
    return (left - vectors * (w->taps - step)) / (vectors * (1 + step));
}

/* What the columns of a window read. */
static void look_along(const hone_default_nest *n, hone_node_id column, window *w) {
    const hone_block *block = hone_func_node(n->sch->func, n->facts.block)->u.block.block;
    int64_t stride;
    w->skips = false;
    w->is_alone = true;
    for (uint32_t r = 0; r < block->read_count; r++) {
        bool is_known = strides_in(n, &block->reads[r], column, &stride);
        if (is_known && stride > 1) w->skips = true;
        if (!is_known || stride == 0) w->is_alone = false;
    }
}

/* Rows of tiles that are unrolled as wholes, 0 where there would be too much of them: tiles at the
 * edges of an image are others, and fewer rows than registers hold share too little. They go one
 * by one where they do not share half, or where lanes are alone and sums are enough. */
static int64_t whole_rows(const hone_default_nest *n, int64_t columns, int64_t extent,
                          const window *w, bool *out_is_apart) {
    int64_t vectors = (columns + n->lanes - 1) / n->lanes;
    int64_t across = (extent + columns - 1) / columns;
    int64_t kinds = EDGES * (across < EDGES ? across : EDGES);
    int64_t whole = MAX_WHOLE / (kinds * vectors) / n->facts.reduce;
    int64_t apart = APART_SUMS / vectors, held = holding_rows(n, vectors, w);
    *out_is_apart = !shares_half(w) || held > whole;
    if (!*out_is_apart) return held;
    bool is_enough = apart <= whole && 4 * apart * vectors >= 3 * APART_SUMS;
    if (shares_half(w)) return w->is_alone && is_enough ? apart : 0;
    return apart < whole ? apart : whole;
}

/* Tiles of a window that are unrolled as wholes. Where registers are few and masks are vectors,
 * columns stay as they are, and weights have to be in registers, unless it is vectors that they
 * are or what they are multiplied with lies in pieces; else one or two vectors, as long as that
 * leaves some rows. */
static bool plan_whole(const hone_default_nest *n, uint32_t row, const window *w, plan *p) {
    int64_t extent = n->facts.extents[p->column], rows = 0, columns = p->columns;
    bool has_many = n->limits->vector_registers >= MANY_REGISTERS, is_apart = false;
    bool holds_weights = has_many || w->taps <= n->limits->vector_registers / 4;
    if (!holds_weights && !w->skips && !w->is_alone) return false;
    for (int64_t vectors = has_many ? WINDOW_VECTORS : 1; vectors > 0 && rows < WINDOW_ROWS;
         vectors--) {
        if (has_many) columns = column_tile(n, extent, 1, vectors);
        rows = whole_rows(n, columns, extent, w, &is_apart);
    }
    if (rows < 2) return false;
    p->columns = columns;
    p->rows = row_tile(n->facts.extents[row], rows);
    p->is_whole = true;
    p->is_apart = is_apart;
    return true;
}

static void plan_rows(const hone_default_nest *n, uint32_t row, uint32_t reduce, const window *w,
                      plan *p) {
    int64_t vectors = (p->columns + n->lanes - 1) / n->lanes;
    bool may_share = !w->is_alone || n->limits->vector_registers >= MANY_REGISTERS;
    bool is_open = hone_default_is_open(n->limits, n->facts.extents[p->column]);
    if (is_open || !plan_whole(n, row, w, p)) {
        int64_t most = shares_half(w) && may_share ? sharing_rows(n, vectors, w) : 0;
        most = open_rows(n, row, most, OPEN_WINDOW_ROWS);
        if (most < 2) return;
        p->rows = row_tile(n->facts.extents[row], most);
        p->is_whole = p->is_apart = false;
    }
    p->row = (int32_t)row;
    p->window = (int32_t)reduce;
}

/* The reduce loop whose window slides along a row with the nearest taps; -1: there is none. */
static int32_t find_window(const hone_default_nest *n, const hone_node_id *loops, uint32_t row,
                           window *io_best) {
    int32_t best = -1;
    window w = *io_best;
    for (uint32_t i = 0; i < n->facts.loop_count; i++) {
        int64_t taps = n->facts.extents[i];
        if (n->facts.is_spatial[i] || taps < 2 || taps > MAX_WINDOW) continue;
        if (!slides(n, loops, row, i, &w) || w.step >= w.taps * w.tap) continue;
        if (best >= 0 && w.tap >= io_best->tap) continue;
        best = (int32_t)i;
        *io_best = w;
    }
    return best;
}

/* Rows that a window slides along, the last that there are; of those who share what they read
 * without one, where lanes do not. Long runs are cut where rows share what they read, so that
 * registers hold some; without that they are read faster. */
static void plan_window(const hone_default_nest *n, const hone_node_id *loops, plan *io_plan) {
    plan p = *io_plan;
    window w = {0};
    bool is_long = p.columns > MAX_VECTORS * n->lanes;
    bool is_open = hone_default_is_open(n->limits, n->facts.extents[p.column]);
    look_along(n, loops[p.column], &w);
    if (p.row >= 0 && !w.is_alone) return;
    if (is_open)
        p.columns = n->lanes;
    else if (is_long)
        p.columns = column_tile(n, n->facts.extents[p.column], 1, MAX_VECTORS);
    for (uint32_t row = 0; row < n->facts.loop_count; row++) {
        bool is_row = n->facts.is_spatial[row] && (int32_t)row != p.column;
        if (!is_row || n->facts.extents[row] == 1) continue;
        int32_t reduce = find_window(n, loops, row, &w);
        if (reduce >= 0) plan_rows(n, row, (uint32_t)reduce, &w, &p);
    }
    if (p.window >= 0 && !(is_long && p.is_apart)) *io_plan = p;
}

/* A sum takes one instruction, and a vector one load: all that is read and written is of one type
 * of floats, and of what is read along columns nothing is left out. */
static bool is_plain_product(const hone_default_nest *n, hone_node_id column) {
    const hone_func *func = n->sch->func;
    const hone_block *block = hone_func_node(func, n->facts.block)->u.block.block;
    hone_dtype dtype = func->buffers[block->writes[0].buffer].dtype;
    bool is_plain = n->facts.has_reuse && n->lanes > 1 && hone_dtype_is_float(dtype);
    for (uint32_t r = 0; r < block->read_count && is_plain; r++) {
        int64_t stride;
        is_plain = hone_dtype_equal(func->buffers[block->reads[r].buffer].dtype, dtype) &&
                   strides_in(n, &block->reads[r], column, &stride) && stride >= 0 && stride <= 1;
    }
    return is_plain && dtype.bits >= 32;
}

/* Whether tiles of rows go inside of the other loops: what rows share (an image) would come anew
 * from beyond the second cache for each of them, where what they do not share (filters) stays. */
static bool puts_rows_last(const hone_default_nest *n, const hone_node_id *loops, const plan *p) {
    const hone_block *block = hone_func_node(n->sch->func, n->facts.block)->u.block.block;
    int64_t shared = 0, own = 0, stride;
    if (p->row < 0 || p->row > p->column || p->window >= 0) return false;
    for (uint32_t r = 0; r < block->read_count; r++) {
        int64_t bytes = hone_default_buffer_bytes(n->sch, block->reads[r].buffer);
        if (!strides_in(n, &block->reads[r], loops[p->row], &stride)) return false;
        *(stride == 0 ? &shared : &own) += bytes;
    }
    return 2 * shared > n->limits->l2_bytes && 2 * own <= n->limits->l2_bytes;
}

/* Spatial loops that are loops. */
static uint32_t wide_loops(const hone_reduction_facts *f) {
    uint32_t wide = 0;
    for (uint32_t i = 0; i < f->loop_count; i++)
        wide += f->is_spatial[i] && f->extents[i] > 1;
    return wide;
}

static plan make_plan(const hone_default_nest *n, uint32_t count, const hone_node_id *loops) {
    const hone_reduction_facts *f = &n->facts;
    plan p = {.column = f->contiguous_space, .rows = 1, .window = -1};
    p.row = row_loop(n, count, loops);
    int64_t rows = p.row >= 0 ? f->extents[p.row] : !is_read_once(n, count, loops);
    int64_t most = most_vectors(n, f->extents[p.column], loops[p.column], rows);
    p.columns = column_tile(n, f->extents[p.column], rows, most);
    int64_t vectors = (p.columns + n->lanes - 1) / n->lanes;
    if (vectors > MAX_VECTORS) p.row = -1;
    if (p.row >= 0) {
        int64_t held = open_rows(n, (uint32_t)p.row, most_rows(n, vectors), OPEN_ROWS);
        p.rows = row_tile(f->extents[p.row], held);
    }
    bool is_open = hone_default_is_open(n->limits, f->extents[p.column]);
    if (p.row >= 0 && !is_open && is_plain_product(n, loops[p.column])) {
        hone_default_sides all = {f->extents[p.row], f->extents[p.column]};
        hone_default_sides tile =
            hone_default_product_tile(n, all, (hone_default_sides){p.rows, p.columns});
        p.rows = tile.rows;
        p.columns = tile.columns;
    }
    plan_window(n, loops, &p);
    if (p.rows <= 1) p.row = p.window = -1;
    if (p.window < 0) p.is_apart = p.is_whole = false;
    p.is_row_last = wide_loops(f) > 2 && puts_rows_last(n, loops, &p);
    return p;
}

/* Outer loops, then the reduction, then the tile. With two spatial loops only (a matrix product)
 * columns go outside, so that a panel of the right matrix stays in the cache. Gives the last outer
 * loop, or HONE_NO_ID. */
static hone_status apply_plan(hone_default_nest *n, const plan *p, uint32_t count,
                              const hone_rv *loops, hone_rv *out_place, hone_rv *out_row) {
    const hone_reduction_facts *f = &n->facts;
    hone_rv column[2], row[2] = {HONE_NO_ID, HONE_NO_ID}, order[HONE_NEST_MAX_LOOPS + 2];
    uint32_t at = 0;
    const hone_default_sizes columns = {p->columns, (int64_t)2 * MAX_VECTORS * n->lanes, n->lanes};
    HONE_TRY(hone_default_split(n->sch, loops[p->column], &columns, column));
    if (p->row >= 0) {
        const hone_default_sizes rows = {p->rows, MAX_ROWS, 1};
        HONE_TRY(hone_default_split(n->sch, loops[p->row], &rows, row));
    }
    bool is_product = wide_loops(f) == 2 && p->row >= 0;
    if (is_product) order[at++] = column[0];
    for (uint32_t i = 0; i < count; i++) {
        if (!f->is_spatial[i]) continue;
        if ((int32_t)i == p->row) {
            if (!p->is_row_last) order[at++] = row[0];
        } else if ((int32_t)i != p->column) {
            order[at++] = loops[i];
        } else if (!is_product) {
            if (p->is_row_last) order[at++] = row[0];
            order[at++] = column[0];
        }
    }
    *out_place = order[at - 1];
    if (p->is_apart) order[at++] = row[1];
    for (uint32_t i = 0; i < count; i++) {
        if (!f->is_spatial[i] && ((int32_t)i != p->window || p->is_apart)) order[at++] = loops[i];
    }
    if (p->window >= 0 && !p->is_apart) order[at++] = loops[p->window];
    if (p->row >= 0 && !p->is_apart) order[at++] = row[1];
    order[at++] = column[1];
    *out_row = row[1];
    return hone_sch_reorder(n->sch, at, order);
}

/* What takes a tile that lies in one piece, or is unrolled as a whole, takes it by rows, as it is
 * in registers: one long vector, or a loop, would go through memory. */
static hone_status take_tile(hone_default_nest *n, hone_rv epilogue, const plan *p) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_node_id nodes[2];
    HONE_TRY(hone_sch_get_loops(n->sch, epilogue, &count, &loops));
    bool is_piece = p->columns == n->facts.extents[p->column] && p->columns % n->lanes != 0;
    if (count < 2 || !(is_piece || p->is_whole)) return HONE_OK;
    const int64_t sides[] = {p->rows, p->columns};
    for (int i = 0; i < 2; i++) {
        HONE_TRY(hone_schedule_node(n->sch, loops[count - 2 + i], &nodes[i]));
        const hone_node *node = hone_func_node(n->sch->func, nodes[i]);
        if (!hone_expr_is_int_value(node->u.loop.range.extent, sides[i])) return HONE_OK;
    }
    HONE_TRY(hone_sch_vectorize(n->sch, loops[count - 1]));
    return hone_sch_unroll(n->sch, loops[count - 2]);
}

/* What makes a plane (its padding) makes some of them first: the last stores to the cache would not
 * have ended when the first loads of the same places begin. */
static hone_status group_planes(hone_default_nest *n, const plan *p, const hone_rv *loops,
                                hone_rv place) {
    const hone_reduction_facts *f = &n->facts;
    uint32_t producers = 0;
    const hone_rv *made = NULL;
    int32_t around = (p->row < p->column ? p->row : p->column) - 1;
    if (p->rows != f->extents[p->row] || p->columns != f->extents[p->column]) return HONE_OK;
    while (around >= 0 && f->extents[around] == 1)
        around--;
    if (around < 0 || !f->is_spatial[around] || loops[around] == place) return HONE_OK;
    int64_t planes = hone_default_divisor(f->extents[around], 2, MAX_PLANES, 1);
    if (!planes) return HONE_OK;
    HONE_TRY(hone_sch_get_producers(n->sch, n->block, &producers, &made));
    hone_rv parts[2];
    const hone_default_sizes sizes = {planes, MAX_PLANES, 1};
    return producers ? hone_default_split(n->sch, loops[around], &sizes, parts) : HONE_OK;
}

/* What cannot take a tile alone (it joins several) takes it from a copy, since sums that lie where
 * others read them are stored in each step. */
static hone_status place_epilogue(hone_default_nest *n, hone_rv epilogue, hone_rv place,
                                  const plan *p) {
    if (epilogue == HONE_NO_ID) return HONE_OK;
    hone_status st = hone_sch_reverse_compute_at(n->sch, epilogue, place, true, -1);
    if (st && hone_status_code(st) == HONE_CODE_ILLEGAL) {
        hone_status_free(st);
        HONE_TRY(hone_sch_cache_write(n->sch, n->block, 0, "global", 0, NULL, &epilogue));
        st = hone_sch_reverse_compute_at(n->sch, epilogue, place, true, -1);
    }
    return !st && p->row >= 0 ? take_tile(n, epilogue, p) : st;
}

/* Vectors that are masked at the edges of an image, where masks take no registers. */
static bool takes_padding(const hone_default_nest *n, const plan *p, hone_node_id column) {
    return !n->limits->are_sizes_open && p->row >= 0 && p->window < 0 &&
           n->limits->vector_registers >= MANY_REGISTERS && is_plain_product(n, column);
}

hone_status hone_default_tile(hone_default_nest *n) {
    hone_rv epilogue, place, row;
    HONE_TRY(hone_default_epilogue(n->sch, n->block, &epilogue));
    if (epilogue == HONE_NO_ID) {
        HONE_TRY(hone_default_optional(
            hone_sch_cache_write(n->sch, n->block, 0, "global", 0, NULL, &epilogue)));
    }
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(n->sch, n->block, &count, &loops));
    hone_node_id nodes[HONE_NEST_MAX_LOOPS];
    if (count != n->facts.loop_count) return HONE_OK;
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(hone_schedule_node(n->sch, loops[i], &nodes[i]));
    }
    plan p = make_plan(n, count, nodes);
    if (p.is_whole) HONE_TRY(hone_default_inline_padding(n));
    if (takes_padding(n, &p, nodes[p.column]))
        HONE_TRY(hone_packed_take_padding(n->sch, n->block, &n->facts));
    HONE_TRY(apply_plan(n, &p, count, loops, &place, &row));
    HONE_TRY(hone_default_optional(place_epilogue(n, epilogue, place, &p)));
    for (uint32_t i = 0; i < count && p.window >= 0; i++) {
        bool is_unrolled = (int32_t)i == p.window || (p.is_whole && !n->facts.is_spatial[i]);
        if (is_unrolled) HONE_TRY(hone_default_optional(hone_sch_unroll(n->sch, loops[i])));
    }
    if (p.window >= 0) HONE_TRY(hone_default_optional(group_planes(n, &p, loops, place)));
    return row == HONE_NO_ID ? HONE_OK : hone_default_optional(hone_sch_unroll(n->sch, row));
}
