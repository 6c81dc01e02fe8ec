/* schedule/defaults/default_scan.c - running sums and the like, which go over an axis in order
 * (a scan axis), across the rows that they are written to: the lanes of a vector are neighbours
 * in such a row, each of which goes its own way. Rows of several axes are one.
 *
 *   for column0 (a part for each thread, where nothing else is parallel):
 *     for scan: for column1 (vector): Y[scan, column] = Y[scan - 1, column] + X[scan, column]
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/primitive/primitives.h"
#include "schedule/state/schedule_impl.h"

enum { VECTORS = 4 }; /* that the lanes of a column are in */

/* The loop feeds spatial axes alone. */
static bool is_spatial(const hone_default_shape *s, uint32_t at) {
    hone_node_id loop;
    hone_schedule *sch = s->n->sch;
    const hone_node *node = hone_func_node(sch->func, s->block);
    hone_status st = hone_schedule_node(sch, s->loops[at], &loop);
    if (st) {
        hone_status_free(st);
        return false;
    }
    hone_var var = hone_func_node(sch->func, loop)->u.loop.var;
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        bool is_used = hone_expr_uses_var(node->u.block.bindings[a], var);
        if (is_used && node->u.block.block->axes[a].kind != HONE_AXIS_SPATIAL) return false;
    }
    return true;
}

/* All that is read and written lies along it, or stays. */
static bool is_column(const hone_default_shape *s, uint32_t at) {
    for (uint32_t a = 0; a < s->access_count; a++) {
        bool stays = a > 0 && s->strides[at][a] == 0;
        if (!stays && s->strides[at][a] != 1) return false;
    }
    return s->extents[at] > 1 && is_spatial(s, at);
}

/* Short rows that follow one another become one, as long as what was written last stays near. */
static hone_status join_rows(hone_default_shape *s) {
    if (s->n->limits->are_sizes_open)
        return HONE_OK; /* places of one would be quotients by sizes */
    for (uint32_t i = s->count; i-- > 1;) {
        if (!is_column(s, i) || !is_spatial(s, i - 1) || !hone_default_may_join(s, i - 1)) continue;
        int64_t bytes = s->extents[i - 1] * s->extents[i] * (s->bits / 8);
        if (bytes > s->n->limits->l1_bytes / 2) continue;
        HONE_TRY(hone_default_join(s, i - 1, false));
    }
    return HONE_OK;
}

static bool has_other_rows(const hone_default_shape *s, uint32_t column) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (i != column && s->extents[i] > 1 && is_spatial(s, i)) return true;
    }
    return false;
}

/* Whole vectors for each thread, of which the column then is a share. */
static hone_status split_column(const hone_default_shape *s, hone_rv loop, int64_t *io_extent,
                                hone_rv out[2]) {
    const hone_rv *parts = NULL;
    int64_t lanes = s->n->limits->vector_lanes, threads = s->n->limits->threads;
    int64_t share = (*io_extent + threads - 1) / threads;
    int64_t whole = share > VECTORS * lanes ? VECTORS * lanes : lanes;
    share = (share + whole - 1) / whole * whole;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(share)};
    HONE_TRY(hone_sch_split(s->n->sch, loop, 2, factors, true, false, &parts));
    out[0] = parts[0];
    out[1] = parts[1];
    *io_extent = share;
    return HONE_OK;
}

/* Vectors; what is too long for one goes in several, the last of which may be shorter. Where it
 * would be stored by a mask, and read again at once, which CPUs wait for, it is left to compilers,
 * who end with smaller vectors. */
static hone_status cut_column(const hone_default_shape *s, hone_rv column, int64_t extent) {
    const hone_rv *parts = NULL;
    int64_t lanes = s->n->limits->vector_lanes, vector = VECTORS * lanes;
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(vector)};
    bool is_masked = lanes > 2 && extent % (lanes / 2) != 0;
    if (extent <= vector && is_masked && sch_reads_own_output(sch_block(s->n->sch, s->block)))
        return HONE_OK;
    if (extent <= vector) return hone_sch_vectorize(s->n->sch, column);
    HONE_TRY(hone_sch_split(s->n->sch, column, 2, factors, true, false, &parts));
    return hone_sch_vectorize(s->n->sch, parts[1]);
}

static hone_status put_column_last(const hone_default_shape *s, uint32_t column) {
    hone_rv order[HONE_NEST_MAX_LOOPS + 1], parts[2] = {HONE_NO_ID, s->loops[column]};
    int64_t extent = s->extents[column];
    uint32_t at = 0;
    if (s->n->limits->threads > 1 && !has_other_rows(s, column))
        HONE_TRY(split_column(s, s->loops[column], &extent, parts));
    if (parts[0] != HONE_NO_ID) order[at++] = parts[0];
    for (uint32_t i = 0; i < s->count; i++) {
        if (i != column) order[at++] = s->loops[i];
    }
    order[at++] = parts[1];
    HONE_TRY(hone_sch_reorder(s->n->sch, at, order));
    return cut_column(s, parts[1], extent);
}

hone_status hone_default_scan(hone_default_nest *n, hone_node_id block, bool *out_is_done) {
    hone_default_shape s;
    *out_is_done = false;
    if (n->limits->vector_lanes < 2) return HONE_OK;
    if (!hone_nest_has_scan_axis(n->sch, block)) return HONE_OK;
    *out_is_done = true;
    bool fits;
    HONE_TRY(hone_default_read_shape(n, block, &s, &fits));
    if (fits) HONE_TRY(join_rows(&s));
    for (uint32_t i = 0; fits && i < s.count; i++) {
        if (is_column(&s, i)) return put_column_last(&s, i);
    }
    return HONE_OK;
}
