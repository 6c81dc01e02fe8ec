/* schedule/defaults/default_across.c - reductions of rows of about a vector: vectors go across the
 * rows, a lane for each, so that no lanes have to be added up, and each sum keeps its order. Rows
 * are turned around in registers on their way (lower/vectors/lower_transpose.c), very short ones
 * picked out of dense loads.
 *
 *   for row0: for other reduce…: for reduce (unrolled): for row1 (vector): out[row] op= X[row, …]
 *
 * Where there are other loops that reduce, default_lanes.c is for rows that are one loop.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/primitive/primitives.h"

enum { LEAST_LENGTH = 5, LEAST_LANES = 4, LONG_VECTOR = 16, MOST_LENGTH = 16 };

/* Lanes that what is read fills; places of extremes are wider than the numbers they are of. */
static int64_t lanes_of(const hone_default_nest *n) {
    const hone_func *func = n->sch->func;
    const hone_block *block = hone_func_node(func, n->facts.block)->u.block.block;
    int32_t bits = 0;
    for (uint32_t r = 0; r < block->read_count; r++) {
        hone_buffer buffer = block->reads[r].buffer;
        int32_t of_read = hone_func_buffer(func, buffer)->dtype.bits;
        if (buffer != block->writes[0].buffer && of_read > bits) bits = of_read;
    }
    return n->facts.element_bits > 32 && bits == 32 ? n->limits->vector_lanes : n->lanes;
}

/* Two tiles of long registers are less work than as many horizontal sums. */
static int64_t longest_row(const hone_default_nest *n) {
    if (n->limits->vector_lanes >= LONG_VECTOR && n->lanes == n->limits->vector_lanes)
        return 2 * MOST_LENGTH;
    int64_t lanes = lanes_of(n);
    return lanes < MOST_LENGTH ? lanes : MOST_LENGTH;
}

/* Lanes of bytes are picked well only from long registers. */
static bool has_shuffles(const hone_default_nest *n) {
    return n->lanes >= LEAST_LANES &&
           (n->facts.element_bits >= 32 || n->limits->vector_lanes >= LONG_VECTOR);
}

typedef struct roles {
    uint32_t column, reduce; /* loops: along what is written; the one that reduces along rows */
    bool is_only;            /* no other loop reduces */
} roles;

static bool is_along(const hone_default_shape *s, uint32_t loop) {
    bool is_along = false;
    for (uint32_t a = 1; a < s->access_count; a++)
        is_along |= s->strides[loop][a] == 1;
    return is_along;
}

static bool reduces(const hone_default_shape *s, uint32_t loop) {
    return s->strides[loop][0] == 0 && s->extents[loop] > 1;
}

static bool find_roles(const hone_default_shape *s, roles *out) {
    bool has_column = false;
    uint32_t along = 0, reducing = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->extents[i] == 1) continue;
        int64_t written = s->strides[i][0];
        if (written < 0) return false;
        if (written == 1) out->column = i;
        has_column |= written == 1;
        reducing += reduces(s, i);
        if (!reduces(s, i) || !is_along(s, i)) continue;
        out->reduce = i;
        along++;
    }
    out->is_only = reducing == 1;
    return has_column && along == 1;
}

/* Long enough for shuffles, not too long; beside other loops that reduce, shorter than a vector and
 * no work of default_lanes.c. */
static bool has_length(const hone_default_nest *n, const hone_default_shape *joined,
                       const roles *r) {
    int64_t length = joined->extents[r->reduce];
    bool is_joined = n->facts.extents[n->facts.contiguous_reduce] < LEAST_LENGTH;
    if (length < LEAST_LENGTH || length > longest_row(n)) return false;
    return r->is_only || (is_joined && length < n->lanes);
}

/* Rows that are read once, and what all of them or all of their elements share. */
static bool reads_rows(const hone_default_shape *s, const roles *r) {
    bool has_rows = false;
    for (uint32_t a = 1; a < s->access_count; a++) {
        int64_t across = s->strides[r->column][a], along = s->strides[r->reduce][a];
        bool is_row = across > 1 && along == 1;
        if (!is_row && across != 0 && across != 1) return false;
        for (uint32_t i = 0; i < s->count; i++) {
            if (i == r->column || i == r->reduce || s->extents[i] == 1) continue;
            if ((s->strides[i][a] == 0) == is_row) return false;
        }
        has_rows |= is_row;
    }
    return has_rows;
}

static hone_status take_rows(hone_default_shape *s, const roles *r, int64_t lanes) {
    hone_schedule *sch = s->n->sch;
    hone_rv place, epilogue, column[2], order[HONE_NEST_MAX_LOOPS + 1];
    uint32_t at = 0;
    const hone_default_sizes columns = {lanes, lanes, lanes};
    HONE_TRY(hone_default_split(sch, s->loops[r->column], &columns, column));
    for (uint32_t i = 0; i < s->count; i++) {
        if (i == r->reduce || reduces(s, i)) continue;
        order[at++] = i == r->column ? column[0] : s->loops[i];
    }
    place = order[at - 1];
    for (uint32_t i = 0; i < s->count; i++) {
        if (i != r->reduce && reduces(s, i)) order[at++] = s->loops[i];
    }
    order[at++] = s->loops[r->reduce];
    order[at++] = column[1];
    HONE_TRY(hone_sch_reorder(sch, at, order));
    HONE_TRY(hone_sch_unroll(sch, s->loops[r->reduce]));
    HONE_TRY(hone_sch_vectorize(sch, column[1]));
    HONE_TRY(hone_default_epilogue(sch, s->n->block, &epilogue));
    if (epilogue == HONE_NO_ID) return HONE_OK;
    return hone_default_optional(hone_sch_reverse_compute_at(sch, epilogue, place, true, -1));
}

hone_status hone_default_across(hone_default_nest *n, bool *out_is_done) {
    const hone_reduction_facts *f = &n->facts;
    *out_is_done = false;
    if (!f->is_reduce_contiguous || !has_shuffles(n)) return HONE_OK;
    bool fits;
    roles r;
    hone_default_shape s;
    HONE_TRY(hone_default_read_shape(n, f->block, &s, &fits));
    if (!fits) return HONE_OK;
    hone_default_shape joined = s;
    HONE_TRY(hone_default_join_loops(&joined, true));
    if (!find_roles(&joined, &r) || !reads_rows(&joined, &r) ||
        joined.extents[r.column] < 2 * lanes_of(n) || !has_length(n, &joined, &r)) {
        return HONE_OK;
    }
    *out_is_done = true;
    HONE_TRY(hone_default_join_loops(&s, false));
    return take_rows(&s, &r, lanes_of(n));
}
