/* schedule/defaults/default_lanes.c - reductions whose contiguous axis is the reduced one (a row's
 * sum; weights that are stored as [out, in]): neighbouring elements are summed apart, one per lane,
 * and the lanes added up at the end. Some rows go together, so that several sums are under way.
 *
 *   for outer spatial…:
 *     for reduce…: for rows (unrolled): for lane (vector): sums[row, lane] += …
 *     out[row] = sum of lanes
 */
#include "schedule/defaults/default_impl.h"
#include "schedule/primitive/primitives.h"

enum { MAX_ROWS = 4, MAX_VECTORS = 4 };

static int64_t lane_count(const hone_default_nest *n) {
    int64_t extent = n->facts.extents[n->facts.contiguous_reduce];
    int64_t most = (n->facts.has_reuse ? 2 : MAX_VECTORS) * (int64_t)n->lanes;
    if (most < 8) most = 8;
    int64_t lanes = hone_default_divisor(extent, n->lanes, most, n->lanes);
    return lanes ? lanes : hone_default_divisor(extent, 4, most, 1);
}

/* The innermost spatial loop of some length is worked on several rows at a time. */
static int32_t row_loop(const hone_reduction_facts *f) {
    for (int32_t i = (int32_t)f->loop_count; i-- > 0;) {
        if (f->is_spatial[i] && f->extents[i] > 1) return i;
    }
    return -1;
}

/* Gives the last loop outside the reduction; HONE_NO_ID when there is none. */
static hone_status tile(hone_default_nest *n, hone_rv rf, hone_rv *out_place) {
    const hone_reduction_facts *f = &n->facts;
    uint32_t count = 0, at = 0;
    const hone_rv *loops = NULL;
    hone_rv order[HONE_NEST_MAX_LOOPS + 3], row = HONE_NO_ID;
    *out_place = HONE_NO_ID;
    HONE_TRY(hone_sch_get_loops(n->sch, rf, &count, &loops));
    if (count != f->loop_count + 1) return HONE_OK;
    int32_t row_at = row_loop(f);
    int64_t rows = row_at < 0 ? 1 : hone_default_divisor(f->extents[row_at], 1, MAX_ROWS, 1);
    uint32_t lane_at = (uint32_t)f->contiguous_reduce + 1;
    for (uint32_t i = 0; i < f->loop_count; i++) {
        if (!f->is_spatial[i]) continue;
        hone_rv loop = loops[i < lane_at ? i : i + 1];
        if ((int32_t)i == row_at && rows > 1) {
            hone_rv split[2];
            const hone_default_sizes sizes = {rows, MAX_ROWS, 1};
            HONE_TRY(hone_default_split(n->sch, loop, &sizes, split));
            loop = split[0];
            row = split[1];
        }
        order[at++] = loop;
        *out_place = loop;
    }
    for (uint32_t i = 0; i < f->loop_count; i++) {
        if (!f->is_spatial[i]) order[at++] = loops[i < lane_at ? i : i + 1];
    }
    if (row != HONE_NO_ID) order[at++] = row;
    order[at++] = loops[lane_at];
    HONE_TRY(hone_sch_reorder(n->sch, at, order));
    return row == HONE_NO_ID ? HONE_OK : hone_default_optional(hone_sch_unroll(n->sch, row));
}

hone_status hone_default_lanes(hone_default_nest *n) {
    int64_t lanes = lane_count(n);
    if (lanes < 2) return HONE_OK;
    uint32_t count = 0;
    const hone_rv *loops = NULL, *parts = NULL;
    hone_rv rf, place, epilogue;
    HONE_TRY(hone_sch_get_loops(n->sch, n->block, &count, &loops));
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(lanes)};
    HONE_TRY(
        hone_sch_split(n->sch, loops[n->facts.contiguous_reduce], 2, factors, true, false, &parts));
    HONE_TRY(hone_sch_rfactor(n->sch, parts[1], n->facts.output_rank, &rf));
    HONE_TRY(tile(n, rf, &place));
    if (place == HONE_NO_ID) return HONE_OK;
    HONE_TRY(hone_sch_reverse_compute_at(n->sch, n->block, place, true, -1));
    HONE_TRY(hone_default_epilogue(n->sch, n->block, &epilogue));
    if (epilogue == HONE_NO_ID) return HONE_OK;
    return hone_default_optional(hone_sch_reverse_compute_at(n->sch, epilogue, place, true, -1));
}
