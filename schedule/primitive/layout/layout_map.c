/* schedule/primitive/layout/layout_map.c - resolves index maps and applies them to iterators. */
#include "schedule/primitive/layout/layout_map.h"
#include "ir/text/map/index_map_parse.h"

/* ---- the map itself ---- */

hone_status sch_resolve_map(hone_schedule *sch, hone_node_id blame, const hone_index_map *map,
                            uint32_t rank, hone_dtype dtype, const hone_index_map **out) {
    *out = NULL;
    HONE_TRY(hone_index_map_instantiate(sch->arena, map, rank, &map));
    if (map->param_count != rank) {
        return sch_refuse(sch, blame, "the index map has %u parameters, expected %u",
                          map->param_count, rank);
    }
    if (map->is_ranges || !map->count) {
        return sch_refuse(sch, blame, "the index map gives no indices");
    }
    int64_t *values = hone_arena_alloc(sch->arena, (map->free_count + 1) * sizeof *values);
    if (!values) return sch_no_memory();
    for (uint32_t i = 0; i < map->free_count; i++)
        HONE_TRY(hone_schedule_int(sch, map->frees[i], &values[i]));
    map = hone_index_map_copy(sch->arena, map); /* a trace may live shorter than the program */
    if (map) map = hone_index_map_bind_frees(sch->arena, map, values);
    if (map) map = hone_index_map_with_dtype(sch->arena, map, dtype);
    *out = map;
    return map ? HONE_OK : sch_no_memory();
}

hone_status sch_recorded_map(hone_schedule *sch, const hone_index_map *map, uint32_t rank,
                             hone_dtype dtype, const hone_index_map **out) {
    *out = NULL;
    if (!map) return HONE_OK;
    HONE_TRY(hone_index_map_instantiate(sch->arena, map, rank, &map));
    map = hone_index_map_copy(sch->arena, map);
    if (map) map = hone_index_map_with_dtype(sch->arena, map, dtype);
    *out = map;
    return map ? HONE_OK : sch_no_memory();
}

/* ---- what it makes of iterators ---- */

/* A sum of splits is below its largest scale times how many steps that has, unless they overlap;
 * anything else is below the largest value that it can take. */
static const hone_expr *extent_of(hone_schedule *sch, const sch_mapping *m, uint32_t i,
                                  const bool *marks) {
    hone_dtype dtype = m->indices[i]->dtype;
    const hone_expr *one = hone_expr_int(&sch->ir, dtype, 1);
    if (m->indices[i]->kind == HONE_EXPR_INT) return hone_expr_add(&sch->ir, m->indices[i], one);
    const hone_iter_sum *sum = m->detected.reason ? NULL : &m->detected.sums[i];
    if (sum && sum->count && (!sum->base || hone_expr_is_int_value(sum->base, 0))) {
        const hone_expr *end = hone_expr_mul(&sch->ir, sum->splits[0].extent, sum->splits[0].scale);
        if (end && hone_prove_less(&sch->arith, m->indices[i], end)) return end;
    }
    hone_interval reach =
        hone_arith_relax(&sch->arith, m->indices[i], marks, sch->func->var_count, NULL);
    return reach.max ? hone_expr_add(&sch->ir, reach.max, one) : NULL;
}

/* 0 <= e < end, as it stands or by the values that it takes. */
static bool is_within(hone_schedule *sch, const hone_expr *e, const hone_expr *end,
                      const bool *marks) {
    if (hone_prove_index(&sch->arith, e, end)) return true;
    hone_interval span = hone_arith_relax(&sch->arith, e, marks, sch->func->var_count, NULL);
    return hone_prove_less_equal(&sch->arith, hone_expr_int(&sch->ir, e->dtype, 0), span.min) &&
           hone_prove_less(&sch->arith, span.max, end);
}

static hone_status check_index(hone_schedule *sch, hone_node_id blame, const sch_mapping *m,
                               uint32_t i, const bool *marks) {
    HONE_TRY(sch_ir_error(sch));
    if (m->indices[i] && m->extents[i] && is_within(sch, m->indices[i], m->extents[i], marks)) {
        return HONE_OK;
    }
    HONE_TRY(sch_ir_error(sch));
    return sch_refuse(sch, blame, "index %u of the map may be negative, or has no known bound", i);
}

/* i + 1, or 1: nothing would have the first place. */
static hone_status check_start(hone_schedule *sch, hone_node_id blame, const sch_mapping *m,
                               uint32_t i) {
    const hone_expr *index = m->indices[i];
    const hone_expr *zero = hone_expr_int(&sch->ir, index->dtype, 0);
    if (!zero || !hone_prove_less(&sch->arith, zero, index)) {
        return sch_ir_error(sch);
    }
    return sch_refuse(sch, blame, "index %u of the map does not start at 0", i);
}

/* The index is computed in its own type: 100000 rows of 100000 joined are no int32. */
static hone_status check_size(hone_schedule *sch, hone_node_id blame, const sch_mapping *m,
                              uint32_t i) {
    hone_dtype dtype = m->indices[i]->dtype;
    if (hone_arith_bound(&sch->arith, m->extents[i]).min <= hone_dtype_max_int(dtype)) {
        return HONE_OK;
    }
    return sch_refuse(sch, blame, "index %u of the map is too large for %s", i,
                      HONE_DTYPE_NAME(dtype));
}

/* The extent that a chain of divisions by numbers has by its tiles, or -1: 16 of i % 16, 2 of
 * i % 16 // 8. */
static int64_t tile_extent(hone_schedule *sch, const hone_expr *e) {
    bool is_mod = hone_expr_is_op(e, HONE_OP_FLOORMOD);
    if (!is_mod && !hone_expr_is_op(e, HONE_OP_FLOORDIV)) {
        hone_bound bound = hone_arith_bound(&sch->arith, e);
        return bound.min == 0 && bound.max < INT32_MAX ? bound.max + 1 : -1;
    }
    int64_t divisor = hone_expr_const(e->args[1]), extent = tile_extent(sch, e->args[0]);
    if (divisor < 1 || extent < 1) return -1;
    return is_mod ? divisor : (extent + divisor - 1) / divisor;
}

/* Where a tile is larger than what is tiled, the index has the extent of the tile. */
static hone_status widen(hone_schedule *sch, const hone_expr *index, uint32_t i, sch_mapping *m) {
    int64_t tile = tile_extent(sch, index), reach = hone_expr_const(m->extents[i]);
    if (reach < 0 || tile <= reach) return HONE_OK;
    m->reaches[i] = m->extents[i];
    m->extents[i] = hone_expr_int(&sch->ir, m->extents[i]->dtype, tile);
    return sch_ir_error(sch);
}

hone_status sch_apply_map(hone_schedule *sch, hone_node_id blame, const hone_index_map *map,
                          uint32_t iter_count, const hone_iter *iters, bool keeps_tiles,
                          sch_mapping *out) {
    *out = (sch_mapping){.iter_count = iter_count, .count = map->count, .iters = iters};
    const hone_expr **args = hone_arena_alloc(sch->arena, (iter_count + 1) * sizeof *args);
    bool *marks = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *marks);
    out->indices = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *out->indices);
    out->extents = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *out->extents);
    out->reaches = hone_arena_zalloc(sch->arena, (map->count + 1) * sizeof *out->reaches);
    const hone_expr **raw = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *raw);
    if (!args || !marks || !out->indices || !out->extents || !out->reaches || !raw) {
        return sch_no_memory();
    }
    for (uint32_t i = 0; i < iter_count; i++) {
        args[i] = sch_var(sch, iters[i].var);
        marks[iters[i].var] = true;
    }
    hone_index_map_apply(&sch->ir, map, args, out->indices);
    HONE_TRY(sch_ir_error(sch));
    for (uint32_t i = 0; i < map->count; i++) {
        raw[i] = out->indices[i];
        out->indices[i] = hone_simplify(&sch->arith, raw[i]);
        if (!out->indices[i]) return sch_ir_error(sch);
    }
    hone_itermap_detect(&sch->arith, map->count, out->indices, iter_count, iters, NULL,
                        HONE_ITERMAP_NONE, true, &out->detected);
    for (uint32_t i = 0; i < map->count; i++) {
        out->extents[i] = hone_simplify(&sch->arith, extent_of(sch, out, i, marks));
        HONE_TRY(check_index(sch, blame, out, i, marks));
        HONE_TRY(check_start(sch, blame, out, i));
        HONE_TRY(check_size(sch, blame, out, i));
        if (keeps_tiles) HONE_TRY(widen(sch, raw[i], i, out));
        if (hone_expr_is_int(out->extents[i])) { /* iterators may be of several types */
            hone_dtype dtype = out->indices[i]->dtype;
            out->extents[i] = hone_expr_int(&sch->ir, dtype, out->extents[i]->u.i);
        }
    }
    return HONE_OK;
}

/* ---- accesses ---- */

static const hone_expr **simplified(hone_schedule *sch, uint32_t count,
                                    const hone_expr *const *indices) {
    const hone_expr **out = hone_arena_alloc(sch->arena, (count + 1) * sizeof *out);
    for (uint32_t i = 0; out && i < count; i++) {
        bool is_axis = indices[i]->kind == HONE_EXPR_VAR; /* also one of one value, as in TVM */
        out[i] = is_axis ? indices[i] : hone_simplify(&sch->arith, indices[i]);
        if (!out[i]) return NULL;
    }
    return out;
}

static const hone_expr *simplify_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    if (e->kind != HONE_EXPR_LOAD) return e;
    const hone_expr **indices = simplified(ctx, e->count, e->args);
    return indices ? hone_expr_with_args(ir, e, indices) : hone_ir_fail(ir, sch_no_memory());
}

hone_status sch_simplify_accesses(hone_schedule *sch, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(sch->func, root, n)) {
        hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_STORE) continue;
        node->u.store.indices = simplified(sch, node->u.store.rank, node->u.store.indices);
        if (!node->u.store.indices) return sch_no_memory();
    }
    HONE_TRY(hone_tree_transform(sch->func, root, simplify_load, sch, false));
    return sch_ir_error(sch);
}
