/* tuner/space/space_tiling.c - multi-level tiling of a reduction on a CPU, "SSRSRS": spatial loops
 * in four parts, reduce loops in two, all sampled.
 *
 *   for S0…   parallel shares            for S2… for R1… for S3…   what stays in registers: the
 *     for S1…   a block of the output                               innermost spatial part is a
 *       for R0…   a block of the reduction                          vector, the rest unrolls
 *
 * Where the result goes: straight to the output; or through a tile of its own that is copied out
 * (or consumed by the epilogue) inside S0 or S1. Each is a sketch.
 *
 * Where the reduce axis is the contiguous one of what is read (B[j, k]), a vector along the output
 * would gather. Then one more sketch sums vectors of neighbouring k lane by lane (rfactor) and adds
 * up the lanes at the end of each tile.
 * Source: Ansor (OSDI 2020), MetaSchedule (NeurIPS 2022).
 */
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"
#include "tuner/space/space_rule.h"

enum { SPATIAL_PARTS = 4, REDUCE_PARTS = 2, MAX_INNERMOST = 64, LEVELS = 6 };

typedef struct tiling {
    hone_schedule *sch;
    hone_rv block;
    uint32_t counts[LEVELS];
    hone_rv levels[LEVELS][HONE_NEST_MAX_LOOPS + 1];
} tiling;

static const uint32_t spatial_levels[SPATIAL_PARTS] = {0, 1, 3, 5};
static const uint32_t reduce_levels[REDUCE_PARTS] = {2, 4};

static void put(tiling *t, uint32_t level, hone_rv loop) {
    t->levels[level][t->counts[level]++] = loop;
}

/* A prime of some size has no tile; then the whole loop may stand innermost, lowering cuts it. */
static int64_t innermost_limit(int64_t extent) {
    enum { WHOLE_LOOP = 4096 };
    for (int64_t d = MAX_INNERMOST; d >= 4; d--) {
        if (extent % d == 0) return MAX_INNERMOST;
    }
    return extent <= WHOLE_LOOP && extent > MAX_INNERMOST ? extent : MAX_INNERMOST;
}

static hone_status tile_loop(tiling *t, hone_rv loop, int64_t extent, bool is_spatial) {
    const uint32_t *levels = is_spatial ? spatial_levels : reduce_levels;
    uint32_t parts = is_spatial ? SPATIAL_PARTS : REDUCE_PARTS;
    if (extent == 1) { /* nothing to decide */
        put(t, levels[0], loop);
        return HONE_OK;
    }
    const hone_rv *sizes = NULL, *loops = NULL;
    hone_factor factors[SPATIAL_PARTS];
    HONE_TRY(
        hone_sch_sample_perfect_tile(t->sch, loop, parts, innermost_limit(extent), NULL, &sizes));
    for (uint32_t i = 0; i < parts; i++)
        factors[i] = HONE_FACTOR_OF_RV(sizes[i]);
    HONE_TRY(hone_sch_split(t->sch, loop, parts, factors, true, false, &loops));
    for (uint32_t i = 0; i < parts; i++)
        put(t, levels[i], loops[i]);
    return HONE_OK;
}

static hone_status reorder(tiling *t, hone_rv innermost) {
    hone_rv order[LEVELS * (HONE_NEST_MAX_LOOPS + 1) + 1];
    uint32_t count = 0;
    for (uint32_t level = 0; level < LEVELS; level++) {
        for (uint32_t i = 0; i < t->counts[level]; i++)
            order[count++] = t->levels[level][i];
    }
    if (innermost != HONE_NO_ID) order[count++] = innermost;
    return hone_sch_reorder(t->sch, count, order);
}

/* Splits and reorders the nest of a block; innermost (or HONE_NO_ID) is a loop that stays whole. */
static hone_status tile_nest(tiling *t, const hone_reduction_facts *f, uint32_t count,
                             const hone_rv *loops, hone_rv innermost) {
    HONE_TRY(hone_sch_annotate(t->sch, t->block, HONE_ANNOTATION_TILING,
                               HONE_VALUE_OF_STRING("SSRSRS"), HONE_NO_ID));
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(tile_loop(t, loops[i], f->extents[i], f->is_spatial[i]));
    }
    return reorder(t, innermost);
}

/* The last loop that stands around what level `level` of spatial tiles computes; 1 or 2. */
static hone_status cache_loop(const tiling *t, int32_t level, hone_rv *out) {
    uint32_t at = level == 2 && t->counts[1] ? 1 : 0;
    if (t->counts[at] == 0 || (level == 2 && at == 0)) {
        return HONE_ERROR(HONE_CODE_ILLEGAL, "there is no such level of tiles");
    }
    *out = t->levels[at][t->counts[at] - 1];
    return HONE_OK;
}

/* ---- where the result goes ---- */

static hone_status get_reduction(hone_schedule *sch, const char *name, hone_rv *out_block,
                                 hone_reduction_facts *out) {
    hone_node_id node;
    HONE_TRY(hone_sch_get_block(sch, name, out_block));
    HONE_TRY(hone_schedule_node(sch, *out_block, &node));
    if (hone_nest_reduction(sch, node, out)) return HONE_OK;
    return HONE_ERROR(HONE_CODE_ILLEGAL, "not a reduction that can be tiled");
}

/* level: 0 = the result is not cached, 1 or 2 = it is, within that level. */
static hone_status tile_plain(hone_schedule *sch, const char *block_name, const hone_target *target,
                              int32_t level) {
    (void)target;
    tiling t = {.sch = sch};
    hone_reduction_facts f;
    hone_rv epilogue = HONE_NO_ID, place;
    HONE_TRY(get_reduction(sch, block_name, &t.block, &f));
    if (level) HONE_TRY(hone_nest_epilogue(sch, t.block, &epilogue));
    if (level && epilogue == HONE_NO_ID) {
        HONE_TRY(hone_sch_cache_write(sch, t.block, 0, "global", 0, NULL, &epilogue));
    }
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(sch, t.block, &count, &loops));
    HONE_TRY(tile_nest(&t, &f, count, loops, HONE_NO_ID));
    if (level == 0) return HONE_OK;
    HONE_TRY(cache_loop(&t, level, &place));
    return hone_sch_reverse_compute_at(sch, epilogue, place, true, -1);
}

/* ---- vectors along the reduction ---- */

/* How many lanes to sum apart: a divisor of the extent, two registers at most. */
static int64_t lanes_for(const hone_reduction_facts *f, const hone_target *target) {
    int64_t most = 2 * hone_target_lanes(target, f->element_bits);
    int64_t extent = f->extents[f->contiguous_reduce];
    if (most < 8) most = 8;
    for (int64_t d = most; d >= 4; d--) {
        if (extent % d == 0) return d;
    }
    return 1;
}

/* Splits the lanes off and makes them a spatial axis, last in the new buffer. */
static hone_status factor_lanes(hone_schedule *sch, hone_rv block, const hone_reduction_facts *f,
                                int64_t lanes, hone_rv *out_rf) {
    uint32_t count = 0;
    const hone_rv *loops = NULL, *parts = NULL;
    HONE_TRY(hone_sch_get_loops(sch, block, &count, &loops));
    hone_factor factors[] = {{.kind = HONE_FACTOR_NONE}, HONE_FACTOR_OF_INT(lanes)};
    HONE_TRY(hone_sch_split(sch, loops[f->contiguous_reduce], 2, factors, true, false, &parts));
    HONE_TRY(hone_sch_rfactor(sch, parts[1], f->output_rank, out_rf));
    return hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("lanes"),
                             HONE_NO_ID);
}

static hone_status tile_lanes(hone_schedule *sch, const char *block_name, const hone_target *target,
                              int32_t level) {
    tiling t = {.sch = sch};
    hone_reduction_facts f;
    hone_rv block, epilogue, place;
    HONE_TRY(get_reduction(sch, block_name, &block, &f));
    int64_t lanes = lanes_for(&f, target);
    if (lanes == 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "no vector divides the reduction");
    HONE_TRY(factor_lanes(sch, block, &f, lanes, &t.block));
    uint32_t count = 0;
    const hone_rv *loops = NULL;
    HONE_TRY(hone_sch_get_loops(sch, t.block, &count, &loops));
    if (count != f.loop_count + 1) return HONE_ERROR(HONE_CODE_ILLEGAL, "unexpected loops");
    hone_rv whole[HONE_NEST_MAX_LOOPS], lane_loop = HONE_NO_ID;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) { /* the lanes stand behind the loop that they are from */
        if ((int32_t)i == f.contiguous_reduce + 1) {
            lane_loop = loops[i];
        } else {
            whole[n++] = loops[i];
        }
    }
    f.extents[f.contiguous_reduce] /= lanes;
    HONE_TRY(tile_nest(&t, &f, n, whole, lane_loop));
    HONE_TRY(cache_loop(&t, level, &place));
    HONE_TRY(hone_sch_reverse_compute_at(sch, block, place, true, -1));
    HONE_TRY(hone_nest_epilogue(sch, block, &epilogue));
    if (epilogue == HONE_NO_ID) return HONE_OK;
    bool is_done;
    return hone_rule_attempt(hone_sch_reverse_compute_at(sch, epilogue, place, true, -1), &is_done);
}

/* ---- the rule ---- */

hone_status hone_rule_multi_level_tiling(hone_schedule *sch, const char *block_name,
                                         const hone_target *target,
                                         hone_rule_results *out_results) {
    hone_reduction_facts f;
    hone_status st = HONE_OK;
    hone_node_id node = hone_rule_find_block(sch, block_name);
    bool is_found = node != HONE_NO_ID && hone_nest_reduction(sch, node, &f);
    bool is_plain = is_found && (f.has_reuse || f.is_spatially_contiguous);
    bool has_lanes = is_found && f.is_reduce_contiguous && !f.keeps_order;
    for (int32_t level = 2; level >= 0 && !st && is_plain; level--) {
        st = hone_rule_fork(sch, tile_plain, block_name, target, level, out_results);
    }
    for (int32_t level = 2; level >= 1 && !st && has_lanes; level--) {
        st = hone_rule_fork(sch, tile_lanes, block_name, target, level, out_results);
    }
    /* untiled as well where nothing is reused: the loops may be best as they are */
    if (st || out_results->count == 0 || !is_plain) {
        hone_status kept = hone_rule_keep(sch, out_results);
        return st ? hone_status_join(st, kept) : kept;
    }
    hone_schedule_destroy(sch);
    return HONE_OK;
}
