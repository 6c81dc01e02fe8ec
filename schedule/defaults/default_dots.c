/* schedule/defaults/default_dots.c - products both sides of which lie along their sum (a few rows
 * by weights that come with each call, stored as [out, in]): some rows and columns go together,
 * each sum in a vector of its own that lowering collects (lower/vectors/lower_reduce.c), so that
 * what is loaded serves several of them, and what is large is read once.
 *
 *   for outer spatial…, column0, row0:
 *     for reduce… (pragma_vector_reduce):
 *       for row1, column1 (unrolled): out[row, column] += x[row, k] * w[column, k]
 *     out = epilogue(out)
 */
#include <math.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MOST_SUMS = 16, MOST_COLUMNS = 8, LEAST_VECTORS = 2 };

/* Operations that add up the lanes of a sum. */
static const double COLLECTING = 8;

static const double WORTH_A_REST = 1.15; /* how much longer tiles that divide may take */

typedef struct dots {
    const hone_default_nest *n;
    int32_t row, column; /* loops; row -1: there is none */
    int64_t rows, columns;
} dots;

static const hone_block *block_of(const hone_default_nest *n) {
    return hone_func_node(n->sch->func, n->facts.block)->u.block.block;
}

static bool moves(const hone_default_nest *n, const hone_region *read, int32_t axis) {
    int64_t stride;
    return !sch_stride_in_axis(n->sch, read, block_of(n)->axes[axis].var, &stride) || stride != 0;
}

/* All that is read lies along the sum, or does not move along it; two reads at least lie so. */
static bool lies_along_sum(const hone_default_nest *n) {
    const hone_block *block = block_of(n);
    uint32_t count = 0;
    for (uint32_t r = 0; r < block->read_count; r++) {
        int64_t stride;
        hone_var sum = block->axes[n->facts.contiguous_reduce].var;
        if (!sch_stride_in_axis(n->sch, &block->reads[r], sum, &stride) || stride < 0 || stride > 1)
            return false;
        count += stride == 1;
    }
    return count >= 2;
}

/* Something that is read lies still along the axis; and, where there is a column, moves along it.
 */
static bool is_shared_along(const hone_default_nest *n, int32_t axis, int32_t column) {
    const hone_reduction_facts *f = &n->facts;
    const hone_block *block = block_of(n);
    if (!f->is_spatial[axis] || f->extents[axis] < 2 || axis == column) return false;
    for (uint32_t r = 0; r < block->read_count; r++) {
        bool counts = column < 0 || moves(n, &block->reads[r], column);
        if (counts && !moves(n, &block->reads[r], axis)) return true;
    }
    return false;
}

static int32_t find_axis(const hone_default_nest *n, int32_t column) {
    for (int32_t axis = (int32_t)n->facts.loop_count; axis-- > 0;) {
        if (is_shared_along(n, axis, column)) return axis;
    }
    return -1;
}

/* Of a sum: its product, and its part of the loads. */
static double time_of(int64_t rows, int64_t columns) {
    return 1 + (double)(rows + columns) / (double)(rows * columns);
}

/* Beside the sums, what a row reads is held, and what columns read, if there are other rows. */
static bool fits(const dots *d, int64_t rows, int64_t columns) {
    int64_t sums = rows * columns, held = 1 + (rows > 1 ? columns : 1);
    return sums <= MOST_SUMS && sums + held <= d->n->limits->vector_registers;
}

/* Rows are divided, so that what is left over is columns. */
static void choose_tile(dots *d) {
    int64_t all_rows = d->row < 0 ? 1 : d->n->facts.extents[d->row];
    int64_t all_columns = d->n->facts.extents[d->column];
    double least = 3;
    for (int64_t rows = 1; rows <= all_rows && rows <= MOST_SUMS; rows++) {
        for (int64_t columns = 1; columns <= all_columns && columns <= MOST_COLUMNS; columns++) {
            if (all_rows % rows != 0 || !fits(d, rows, columns)) continue;
            double time = time_of(rows, columns) * (all_columns % columns ? WORTH_A_REST : 1);
            if (time >= least) continue;
            least = time;
            d->rows = rows;
            d->columns = columns;
        }
    }
}

static bool find_dots(const hone_default_nest *n, dots *out) {
    const hone_reduction_facts *f = &n->facts;
    *out = (dots){.n = n, .rows = 1, .columns = 1};
    if (!f->has_reuse || f->contiguous_reduce < 0 || f->keeps_order || f->element_bits < 32 ||
        f->extents[f->contiguous_reduce] < LEAST_VECTORS * (int64_t)n->lanes || n->lanes < 2 ||
        !lies_along_sum(n))
        return false;
    out->column = find_axis(n, -1);
    if (out->column < 0) return false;
    out->row = find_axis(n, out->column);
    choose_tile(out);
    return out->rows * out->columns > 1;
}

typedef struct places {
    hone_rv outer, sum;  /* the last loop around a tile; the first that sums */
    hone_rv row, column; /* of a tile; HONE_NO_ID where there is one */
} places;

static hone_status split_side(const dots *d, const hone_rv *loops, int32_t axis, int64_t size,
                              hone_rv *io_order, uint32_t *io_count, hone_rv *out_inner) {
    hone_rv parts[2] = {HONE_NO_ID, HONE_NO_ID};
    *out_inner = HONE_NO_ID;
    if (axis < 0) return HONE_OK;
    if (size == 1) {
        io_order[(*io_count)++] = loops[axis];
        return HONE_OK;
    }
    HONE_TRY(hone_default_split(d->n->sch, loops[axis], size, MOST_SUMS, parts));
    io_order[(*io_count)++] = parts[0];
    *out_inner = parts[1];
    return HONE_OK;
}

/* What is read again for each tile of rows is a column's, which stays near. */
static hone_status make_nest(const dots *d, const hone_rv *loops, places *out) {
    const hone_reduction_facts *f = &d->n->facts;
    hone_rv order[HONE_NEST_MAX_LOOPS + 2];
    uint32_t at = 0;
    *out = (places){.sum = HONE_NO_ID};
    for (int32_t i = 0; i < (int32_t)f->loop_count; i++) {
        if (f->is_spatial[i] && i != d->row && i != d->column) order[at++] = loops[i];
    }
    HONE_TRY(split_side(d, loops, d->column, d->columns, order, &at, &out->column));
    HONE_TRY(split_side(d, loops, d->row, d->rows, order, &at, &out->row));
    out->outer = order[at - 1];
    for (int32_t i = 0; i < (int32_t)f->loop_count; i++) {
        if (f->is_spatial[i] || i == f->contiguous_reduce) continue;
        if (out->sum == HONE_NO_ID) out->sum = loops[i];
        order[at++] = loops[i];
    }
    if (out->sum == HONE_NO_ID) out->sum = loops[f->contiguous_reduce];
    order[at++] = loops[f->contiguous_reduce];
    if (out->row != HONE_NO_ID) order[at++] = out->row;
    if (out->column != HONE_NO_ID) order[at++] = out->column;
    return hone_sch_reorder(d->n->sch, at, order);
}

static hone_status apply(hone_default_nest *n, const dots *d) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_rv epilogue;
    places at;
    HONE_TRY(hone_default_epilogue(n->sch, n->block, &epilogue));
    HONE_TRY(hone_sch_get_loops(n->sch, n->block, &count, &loops));
    if (count != n->facts.loop_count) return HONE_OK;
    HONE_TRY(make_nest(d, loops, &at));
    if (at.row != HONE_NO_ID) HONE_TRY(hone_sch_unroll(n->sch, at.row));
    if (at.column != HONE_NO_ID) HONE_TRY(hone_sch_unroll(n->sch, at.column));
    HONE_TRY(hone_default_collect(n->sch, at.sum, 1));
    if (epilogue == HONE_NO_ID) return HONE_OK;
    return hone_default_optional(hone_sch_reverse_compute_at(n->sch, epilogue, at.outer, true, -1));
}

double hone_default_dots_time(const hone_default_nest *n, double sums) {
    dots d;
    if (!find_dots(n, &d)) return HUGE_VAL;
    return sums *
           (time_of(d.rows, d.columns) / (double)n->lanes + COLLECTING / (double)n->facts.reduce);
}

hone_status hone_default_dots(hone_default_nest *n, bool *out_is_done) {
    dots d;
    *out_is_done = find_dots(n, &d);
    return *out_is_done ? apply(n, &d) : HONE_OK;
}
