/* schedule/defaults/default_beside.c - sums of columns, and of what else is read once in long rows:
 * some rows are gone over beside each other, so that memory is read as it lies, and each sum is
 * taken up once for all of them. The sums of a chunk of columns stay in the first cache.
 *
 *   for i, k: Y[i] += X[k, i]
 *     ⇒
 *   for chunk:
 *     for k0: for i0: for k1 (unrolled): for i1 (vectors): Y[i] += X[k, i]
 *
 * A tile in registers along all of k would read a short run of each row: that is as fast where all
 * is in the second cache, or a tile is a row.
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/primitive/primitives.h"

enum { VECTORS = 4, ROWS = 8, LEAST_ROWS = 4, LEAST_STEPS = 16, TILE_VECTORS = 16 };

/* So many rows that none is left over, if there is such a number. */
static int64_t choose_rows(int64_t all) {
    int64_t rows = hone_default_divisor(all, LEAST_ROWS, ROWS, 1), parts = (all + ROWS - 1) / ROWS;
    return rows ? rows : (all + parts - 1) / parts;
}

hone_status hone_default_beside_nest(const hone_default_nest *n, const hone_rv rows_and_columns[2],
                                     const int64_t extents[2]) {
    hone_schedule *sch = n->sch;
    hone_rv rows[2], columns[2] = {HONE_NO_ID, rows_and_columns[1]}, order[4];
    const int64_t vector = (int64_t)VECTORS * n->lanes;
    const hone_default_sizes some = {choose_rows(extents[0]), (int64_t)2 * ROWS, 1};
    const hone_default_sizes vectors = {vector, 2 * vector, n->lanes};
    uint32_t count = 0;
    HONE_TRY(hone_default_split(sch, rows_and_columns[0], &some, rows));
    if (extents[1] > vector)
        HONE_TRY(hone_default_split(sch, rows_and_columns[1], &vectors, columns));
    order[count++] = rows[0];
    if (columns[0] != HONE_NO_ID) order[count++] = columns[0];
    order[count++] = rows[1];
    order[count++] = columns[1];
    HONE_TRY(hone_sch_reorder(sch, count, order));
    HONE_TRY(hone_sch_unroll(sch, rows[1]));
    return hone_sch_vectorize(sch, columns[1]);
}

int64_t hone_default_beside_chunk(const hone_default_nest *n, int64_t columns, int64_t others) {
    int64_t most = n->limits->l1_bytes / 2 / (n->facts.element_bits / 8);
    int64_t parts = most < columns && most > 0 ? (columns + most - 1) / most : 1;
    if (others < n->limits->threads && parts < n->limits->threads) parts = n->limits->threads;
    return (columns + parts - 1) / parts;
}

/* ---- sums of columns ---- */

typedef struct roles {
    uint32_t column, row; /* loops: along what is written; the closest one that reduces */
    int64_t others;       /* iterations of the other spatial loops */
} roles;

static bool is_column(const hone_default_shape *s, uint32_t loop) {
    bool is_column = s->extents[loop] > 1;
    for (uint32_t a = 0; a < s->access_count && is_column; a++)
        is_column = s->strides[loop][a] == 1;
    return is_column;
}

static bool reduces(const hone_default_shape *s, uint32_t loop) {
    return s->strides[loop][0] == 0;
}

/* Each step reads rows of its own. */
static bool moves_on(const hone_default_shape *s, uint32_t loop, int64_t length) {
    bool moves_on = s->access_count > 1;
    for (uint32_t a = 1; a < s->access_count && moves_on; a++)
        moves_on = s->strides[loop][a] >= length;
    return moves_on;
}

/* Not all that is read stays in the second cache, or may be larger than it is now. */
static bool comes_from_afar(const hone_default_shape *s) {
    const hone_block *block = hone_func_node(s->n->sch->func, s->block)->u.block.block;
    int64_t bytes = 0;
    for (uint32_t r = 0; r < block->read_count; r++)
        bytes += hone_default_buffer_bytes(s->n->sch, block->reads[r].buffer);
    return bytes > s->n->limits->l2_bytes;
}

static bool find_roles(const hone_default_shape *s, roles *out) {
    const hone_default_limits *limits = s->n->limits;
    int32_t column = -1, row = -1;
    out->others = 1;
    for (uint32_t i = 0; i < s->count; i++) {
        if (is_column(s, i)) column = (int32_t)i;
        if (hone_default_is_open(limits, s->extents[i])) return false;
    }
    if (column < 0 || s->extents[column] <= (int64_t)TILE_VECTORS * s->n->lanes) return false;
    for (uint32_t i = 0; i < s->count; i++) {
        if ((int32_t)i == column || s->extents[i] == 1) continue;
        if (!moves_on(s, i, s->extents[column])) return false;
        if (!reduces(s, i))
            out->others *= s->extents[i];
        else if (s->extents[i] >= LEAST_ROWS && (row < 0 || s->strides[i][1] < s->strides[row][1]))
            row = (int32_t)i;
    }
    out->column = (uint32_t)column;
    out->row = (uint32_t)row;
    return row >= 0;
}

static hone_status put_beside(hone_default_shape *s, const roles *r) {
    hone_schedule *sch = s->n->sch;
    hone_rv order[HONE_NEST_MAX_LOOPS + 1], parts[2] = {HONE_NO_ID, s->loops[r->column]};
    hone_rv epilogue, place = HONE_NO_ID;
    uint32_t count = 0;
    int64_t all = s->extents[r->column], chunk = hone_default_beside_chunk(s->n, all, r->others);
    const int64_t step = (int64_t)VECTORS * s->n->lanes;
    if (chunk < all) {
        chunk = (chunk + step - 1) / step * step;
        const hone_default_sizes sizes = {chunk, 4 * chunk, step};
        HONE_TRY(hone_default_split(sch, s->loops[r->column], &sizes, parts));
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (i != r->column && !reduces(s, i)) order[count++] = s->loops[i];
    if (parts[0] != HONE_NO_ID) order[count++] = parts[0];
    if (count > 0) place = order[count - 1];
    for (uint32_t i = 0; i < s->count; i++)
        if (i != r->row && reduces(s, i)) order[count++] = s->loops[i];
    order[count++] = s->loops[r->row];
    order[count++] = parts[1];
    HONE_TRY(hone_sch_reorder(sch, count, order));
    HONE_TRY(hone_default_beside_nest(
        s->n, order + count - 2, (const int64_t[]){s->extents[r->row], chunk < all ? chunk : all}));
    HONE_TRY(hone_default_epilogue(sch, s->n->block, &epilogue));
    if (epilogue == HONE_NO_ID || place == HONE_NO_ID) return HONE_OK;
    return hone_default_optional(hone_sch_reverse_compute_at(sch, epilogue, place, true, -1));
}

hone_status hone_default_beside(hone_default_nest *n, bool *out_is_done) {
    bool fits;
    roles r;
    hone_default_shape s;
    *out_is_done = false;
    if (!n->facts.is_spatially_contiguous || n->facts.has_reuse || n->lanes < 2 ||
        n->facts.reduce < LEAST_STEPS)
        return HONE_OK;
    HONE_TRY(hone_default_read_shape(n, n->facts.block, &s, &fits));
    if (!fits) return HONE_OK;
    hone_default_shape joined = s;
    HONE_TRY(hone_default_join_loops(&joined, true));
    if (!find_roles(&joined, &r) || !comes_from_afar(&joined)) return HONE_OK;
    *out_is_done = true;
    HONE_TRY(hone_default_join_loops(&s, false));
    return put_beside(&s, &r);
}
