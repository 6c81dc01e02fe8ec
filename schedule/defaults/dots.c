/* schedule/defaults/dots.c - see dots.h. */
#include "schedule/defaults/dots.h"

#include "schedule/defaults/default_impl.h"
#include "schedule/nests/loop_strides.h"
#include "schedule/primitive/primitives.h"

enum { MOST_SUMS = 16, MOST_COLUMNS = 8, LEAST_VECTORS = 2 };

/* ---- roles ---- */

static const hone_block *block_of(const hone_dots *d) {
    return hone_func_node(d->sch->func, d->f.block)->u.block.block;
}

static bool moves(const hone_dots *d, const hone_region *read, int32_t axis) {
    int64_t stride;
    return !sch_stride_in_axis(d->sch, read, block_of(d)->axes[axis].var, &stride) || stride != 0;
}

/* All that is read lies along the sum, or does not move along it; two reads at least lie so. */
static bool lies_along_sum(const hone_dots *d) {
    const hone_block *block = block_of(d);
    uint32_t count = 0;
    for (uint32_t r = 0; r < block->read_count; r++) {
        int64_t stride;
        hone_var sum = block->axes[d->f.contiguous_reduce].var;
        if (!sch_stride_in_axis(d->sch, &block->reads[r], sum, &stride) || stride < 0 || stride > 1)
            return false;
        count += stride == 1;
    }
    return count >= 2;
}

/* Something that is read lies still along the axis; and, where there is a column, moves along it.
 */
static bool is_shared_along(const hone_dots *d, int32_t axis, int32_t column) {
    const hone_block *block = block_of(d);
    if (!d->f.is_spatial[axis] || d->f.extents[axis] < 2 || axis == column) return false;
    for (uint32_t r = 0; r < block->read_count; r++) {
        bool counts = column < 0 || moves(d, &block->reads[r], column);
        if (counts && !moves(d, &block->reads[r], axis)) return true;
    }
    return false;
}

static int32_t find_axis(const hone_dots *d, int32_t column) {
    for (int32_t axis = (int32_t)d->f.loop_count; axis-- > 0;) {
        if (is_shared_along(d, axis, column)) return axis;
    }
    return -1;
}

bool hone_dots_find(hone_schedule *sch, hone_node_id node, int64_t lanes, int64_t registers,
                    hone_dots *out) {
    *out = (hone_dots){.sch = sch, .registers = registers, .row = -1, .column = -1};
    if (!hone_nest_reduction(sch, node, &out->f)) return false;
    const hone_reduction_facts *f = &out->f;
    if (!f->has_reuse || f->contiguous_reduce < 0 || f->keeps_order || f->element_bits < 32 ||
        lanes < 2 || f->extents[f->contiguous_reduce] < LEAST_VECTORS * lanes ||
        !lies_along_sum(out))
        return false;
    out->column = find_axis(out, -1);
    if (out->column >= 0) out->row = find_axis(out, out->column);
    return out->column >= 0;
}

/* ---- sizes ---- */

bool hone_dots_divides(const hone_dots *d, int64_t rows) {
    return d->row < 0 ? rows == 1 : d->f.extents[d->row] % rows == 0;
}

/* Beside the sums, what a row reads is held, and what columns read, if there are other rows. */
int64_t hone_dots_most_columns(const hone_dots *d, int64_t rows) {
    int64_t columns = MOST_COLUMNS;
    if (columns > d->f.extents[d->column]) columns = d->f.extents[d->column];
    for (; columns > 0; columns--) {
        int64_t sums = rows * columns, held = 1 + (rows > 1 ? columns : 1);
        if (sums <= MOST_SUMS && sums + held <= d->registers) break;
    }
    return columns;
}

/* More of them share more. */
static hone_status sample_columns(const hone_dots *d, int64_t rows, int64_t chosen, hone_rv *out) {
    int64_t values[MOST_COLUMNS], count = hone_dots_most_columns(d, rows), index = chosen - 1;
    double probs[MOST_COLUMNS];
    if (count < 1 || chosen > count)
        return HONE_ERROR(HONE_CODE_ILLEGAL, "registers do not hold the sums");
    for (int64_t i = 0; i < count; i++) {
        values[i] = i + 1;
        probs[i] = (double)(i + 1);
    }
    hone_decision decision = {1, &index};
    return hone_sch_sample_categorical(d->sch, (uint32_t)count, values, probs,
                                       chosen ? &decision : NULL, out);
}

/* ---- loops ---- */

typedef struct places {
    hone_rv outer, sum;  /* the last loop around a tile; the first that sums */
    hone_rv row, column; /* of a tile; row HONE_NO_ID where it has one */
} places;

static hone_status split_side(const hone_dots *d, hone_rv loop, hone_factor size, hone_rv out[2]) {
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, size};
    const hone_rv *parts = NULL;
    HONE_TRY(hone_sch_split(d->sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    return HONE_OK;
}

/* What is read again for each tile of rows is a column's, which stays near. */
static hone_status make_nest(const hone_dots *d, const hone_rv *loops, int64_t rows,
                             hone_rv columns, places *out) {
    const hone_reduction_facts *f = &d->f;
    hone_rv order[HONE_NEST_MAX_LOOPS + 2], parts[2];
    uint32_t at = 0;
    *out = (places){.sum = HONE_NO_ID, .row = HONE_NO_ID};
    for (int32_t i = 0; i < (int32_t)f->loop_count; i++) {
        if (f->is_spatial[i] && i != d->row && i != d->column) order[at++] = loops[i];
    }
    HONE_TRY(split_side(d, loops[d->column], HONE_FACTOR_OF_RV(columns), parts));
    order[at++] = parts[0];
    out->column = parts[1];
    if (d->row >= 0 && rows > 1) {
        HONE_TRY(split_side(d, loops[d->row], HONE_FACTOR_OF_INT(rows), parts));
        order[at++] = parts[0];
        out->row = parts[1];
    } else if (d->row >= 0) {
        order[at++] = loops[d->row];
    }
    out->outer = order[at - 1];
    for (int32_t i = 0; i < (int32_t)f->loop_count; i++) {
        if (f->is_spatial[i] || i == f->contiguous_reduce) continue;
        if (out->sum == HONE_NO_ID) out->sum = loops[i];
        order[at++] = loops[i];
    }
    if (out->sum == HONE_NO_ID) out->sum = loops[f->contiguous_reduce];
    order[at++] = loops[f->contiguous_reduce];
    if (out->row != HONE_NO_ID) order[at++] = out->row;
    order[at++] = out->column;
    return hone_sch_reorder(d->sch, at, order);
}

hone_status hone_dots_apply(const hone_dots *d, hone_rv block, int64_t rows, int64_t columns) {
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    hone_rv epilogue, size;
    places at;
    HONE_TRY(hone_default_epilogue(d->sch, block, &epilogue));
    HONE_TRY(hone_sch_get_loops(d->sch, block, &count, &loops));
    if (count != d->f.loop_count) return HONE_ERROR(HONE_CODE_ILLEGAL, "unexpected loops");
    HONE_TRY(sample_columns(d, rows, columns, &size));
    HONE_TRY(make_nest(d, loops, rows, size, &at));
    if (at.row != HONE_NO_ID) HONE_TRY(hone_sch_unroll(d->sch, at.row));
    HONE_TRY(hone_sch_unroll(d->sch, at.column));
    HONE_TRY(hone_sch_annotate(d->sch, at.sum, "pragma_vector_reduce", HONE_VALUE_OF_INT(1),
                               HONE_NO_ID));
    if (epilogue == HONE_NO_ID) return HONE_OK;
    return hone_default_optional(hone_sch_reverse_compute_at(d->sch, epilogue, at.outer, true, -1));
}
