/* schedule/defaults/default_transpose.c - transposes and what computes on their way: the output is
 * written along one loop (columns), an input is read along another (rows). Square tiles of a
 * register's width are turned in registers (lower/vectors/lower_transpose.c).
 *
 *   for others…, row0, column0: for row1 (unrolled): for column1 (vector): Y = f(X)
 *
 * with as many rows as fill lines of the input.
 *
 * Rows that lie about a multiple of WAY_BYTES apart throw each other out of the first cache, and
 * have pages of their own: several tiles each way are taken together. Where a register is shorter
 * than a line, those of the output would be gone before they are whole: tiles lie in a buffer until
 * then.
 *
 *   for others…, row0, column0:
 *     for column1, row1: for row2 (unrolled): for column2 (vector): buffer = f(X)
 *     Y = buffer
 */
#include <string.h>

#include "schedule/defaults/default_impl.h"
#include "schedule/defaults/transposes.h"
#include "schedule/primitive/primitives.h"

enum {
    LINE_BITS = 512,
    MOST_SIDE = 16,
    LEAST_SIDE = 4,
    WAY_BYTES = 4096,
    NEAR_BYTES = 32,
    MIDDLE_ROWS = 64
};

typedef hone_default_shape shape;

/* Which loop an input is read along, while the innermost one goes across its rows; -1: none. */
static int32_t find_row(const shape *s) {
    uint32_t last = s->count - 1;
    if (s->strides[last][0] != 1 || s->extents[last] < LEAST_SIDE) return -1;
    for (uint32_t a = 1; a < s->access_count; a++) {
        if (s->strides[last][a] <= 1) continue;
        for (uint32_t i = 0; i < last; i++) {
            bool is_along = s->strides[i][a] == 1 && s->strides[i][0] > 1;
            if (is_along && s->extents[i] >= LEAST_SIDE) return (int32_t)i;
        }
    }
    return -1;
}

/* Whether rows of a tile of the output share sets of the first cache. */
static bool share_sets(const shape *s, int32_t row) {
    int64_t bytes = s->strides[row][0] * s->bits / 8, beyond = bytes % WAY_BYTES;
    return bytes >= WAY_BYTES / 2 && (beyond <= NEAR_BYTES || WAY_BYTES - beyond <= NEAR_BYTES);
}

/* Splits a loop in parts, the inner ones of these lengths (0 = there is none). */
static hone_status split(shape *s, uint32_t loop, int64_t middle, int64_t inner, hone_rv parts[3]) {
    hone_factor factors[] = {
        {.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(middle), HONE_FACTOR_OF_INT(inner)};
    const hone_rv *made = NULL;
    if (middle == 0) {
        parts[1] = HONE_NO_ID;
        hone_rv two[2];
        const hone_default_sizes side = {inner, MOST_SIDE, LEAST_SIDE};
        HONE_TRY(hone_default_split(s->n->sch, s->loops[loop], &side, two));
        parts[0] = two[0];
        parts[2] = two[1];
        return HONE_OK;
    }
    HONE_TRY(hone_sch_split(s->n->sch, s->loops[loop], 3, factors, true, false, &made));
    memcpy(parts, made, 3 * sizeof *parts);
    return HONE_OK;
}

static int64_t at_most(int64_t value, int64_t limit) {
    return value < limit ? value : limit;
}

/* Tiles side by side whose input is in the first cache together, beside a buffer where there is
 * one: a power of two, so that they end where rows of such lengths do. */
static int64_t middle_columns(const shape *s, int64_t side, bool is_buffered) {
    int64_t bytes = s->n->limits->l1_bytes, tiles = 1;
    int64_t elements = (is_buffered ? bytes * 2 / 3 : bytes) * 8 / s->bits;
    while (tiles < MOST_SIDE && 2 * tiles * side * MIDDLE_ROWS <= elements)
        tiles *= 2;
    return tiles;
}

/* The loops around, then those of a tile; parts that are HONE_NO_ID are left out. */
static hone_status nest(const shape *s, uint32_t row_loop, const hone_rv row[3],
                        const hone_rv col[3], const hone_transpose_way *way) {
    hone_schedule *sch = s->n->sch;
    uint32_t column = s->count - 1, at = 0;
    hone_rv order[HONE_NEST_MAX_LOOPS + 4], buffer;
    for (uint32_t i = 0; i < column; i++)
        order[at++] = i != row_loop ? s->loops[i] : way->columns_first ? col[0] : row[0];
    order[at++] = way->columns_first ? row[0] : col[0];
    if (col[1] != HONE_NO_ID) order[at++] = col[1];
    if (row[1] != HONE_NO_ID) order[at++] = row[1];
    order[at++] = row[2];
    order[at++] = col[2];
    HONE_TRY(hone_sch_reorder(sch, at, order));
    if (way->is_buffered) {
        HONE_TRY(hone_sch_cache_write(sch, s->n->block, 0, "global", 0, NULL, &buffer));
        HONE_TRY(hone_sch_reverse_compute_at(sch, buffer, way->columns_first ? row[0] : col[0],
                                             true, -1));
    }
    HONE_TRY(hone_sch_unroll(sch, row[2]));
    return hone_sch_vectorize(sch, col[2]);
}

static hone_status tile(shape *s, uint32_t row_loop, int64_t side, bool shares_sets) {
    const hone_transpose_way way = {.is_buffered = shares_sets && side * s->bits < LINE_BITS};
    uint32_t column = s->count - 1;
    int64_t line = at_most(LINE_BITS / s->bits, MOST_SIDE);
    int64_t row_side = at_most(s->extents[row_loop], shares_sets || line < side ? side : line);
    hone_rv row[3], col[3];
    HONE_TRY(split(s, row_loop, shares_sets ? MIDDLE_ROWS / side : 0, row_side, row));
    HONE_TRY(split(s, column, shares_sets ? middle_columns(s, side, way.is_buffered) : 0,
                   at_most(s->extents[column], side), col));
    return nest(s, row_loop, row, col, &way);
}

static int64_t side_of(const hone_default_nest *n, const shape *s) {
    return at_most((int64_t)n->limits->vector_lanes * 32 / s->bits, MOST_SIDE);
}

/* ---- ways that a search tries ---- */

static hone_status illegal(const char *why) {
    return HONE_ERROR(HONE_CODE_ILLEGAL, "%s", why);
}

static hone_status split_by(const shape *s, uint32_t loop, hone_factor tiles, int64_t inner,
                            hone_rv parts[3]) {
    const hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, tiles, HONE_FACTOR_OF_INT(inner)};
    const hone_rv *made = NULL;
    HONE_TRY(hone_sch_split(s->n->sch, s->loops[loop], 3, factors, true, false, &made));
    memcpy(parts, made, 3 * sizeof *parts);
    return HONE_OK;
}

hone_status hone_transpose_schedule(hone_schedule *sch, hone_rv block,
                                    const hone_default_limits *limits,
                                    const hone_transpose_way *way) {
    hone_default_nest n = {.sch = sch, .limits = limits, .block = block};
    hone_node_id node;
    shape s;
    bool fits;
    hone_rv row[3], col[3];
    HONE_TRY(hone_schedule_node(sch, block, &node));
    HONE_TRY(hone_default_read_shape(&n, node, &s, &fits));
    if (!fits || limits->vector_lanes < LEAST_SIDE || s.bits < 8 || find_row(&s) < 0)
        return illegal("no transpose in plain loops");
    if (!way->is_buffered) HONE_TRY(hone_default_join_loops(&s, false));
    int32_t at = find_row(&s);
    int64_t side = side_of(&n, &s), row_side = side * way->row_registers;
    bool is_line = way->row_registers > 1 && side * s.bits >= LINE_BITS; /* one fills it */
    if (at < 0 || is_line || s.extents[at] < row_side || s.extents[s.count - 1] < side)
        return illegal("too small for a tile");
    HONE_TRY(split_by(&s, (uint32_t)at, way->rows, row_side, row));
    HONE_TRY(split_by(&s, s.count - 1, way->columns, side, col));
    return nest(&s, (uint32_t)at, row, col, way);
}

hone_status hone_default_transpose(hone_default_nest *n, hone_node_id block) {
    shape s;
    bool fits;
    int64_t lanes = n->limits->vector_lanes;
    HONE_TRY(hone_default_read_shape(n, block, &s, &fits));
    if (!fits || lanes < LEAST_SIDE || s.bits < 8) return HONE_OK;
    int32_t row = find_row(&s);
    if (row < 0) return HONE_OK;
    int64_t side = side_of(n, &s);
    bool shares_sets =
        share_sets(&s, row) && s.extents[row] >= side &&
        s.extents[s.count - 1] >= side; /* rows of their own have places of their own */
    if (!shares_sets) HONE_TRY(hone_default_join_loops(&s, false));
    row = find_row(&s);
    return row < 0 ? HONE_OK : tile(&s, (uint32_t)row, side, shares_sets);
}
