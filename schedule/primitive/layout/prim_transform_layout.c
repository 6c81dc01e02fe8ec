/* schedule/primitive/layout/prim_transform_layout.c - transform_layout: keeps a buffer in another
 * layout; each access goes to the place that a map gives it.
 *
 *     B = T.alloc_buffer((128, 128));  B[vi, vj] = …      transform_layout(b, "B",
 *                                                              lambda i, j: (i // 16, j, i % 16))
 *  →  B = T.alloc_buffer((8, 128, 16));  B[vi // 16, vj, vi % 16] = …
 *
 * A parameter is kept in the new layout by the caller: the signature changes. Places that no index
 * leads to are padding: refused without a pad_value, else filled with it (layout_padding.h), and
 * assumed to hold it in a parameter that is only read. A map that comes with its inverse needs no
 * pad_value but where results would have such places: they stay empty, nobody reads them.
 *
 * Checks: the buffer is a parameter or allocated by a block, dense, and nobody takes its address or
 * a view of it; the map is injective and its indices have no gaps but padding (not checked with
 * assume_injective_transform, which marks the trace as unsafe); pad_value has the buffer's type; no
 * symbolic size loses the only dimension that tells it; no block aligns the buffer's rows.
 */
#include "ir/region/region.h"
#include "schedule/primitive/layout/layout_padding.h"
#include "schedule/primitive/primitive_impl.h"

/* ---- checks ---- */

static hone_status check_kind(hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    bool is_known =
        sch_alloc_site(sch, buffer) != HONE_NO_ID || hone_func_is_parameter(sch->func, buffer);
    if (!is_known || info->alias_of != HONE_NO_ID) {
        return sch_refuse(sch, block, "buffer '%s' is neither a parameter nor allocated by a block",
                          info->name);
    }
    if (info->strides || (info->elem_offset && !hone_expr_is_int_value(info->elem_offset, 0)) ||
        info->separator_count) {
        return sch_refuse(sch, block, "buffer '%s' has strides, an offset or axis separators",
                          info->name);
    }
    HONE_TRY(sch_require_declared(sch, buffer));
    return sch_require_no_views(sch, block, buffer);
}

static hone_status check_alignment(hone_schedule *sch, hone_buffer buffer) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = sch_block(sch, n);
        if (!sch_writes(block, buffer)) continue;
        if (!hone_attrs_find(&block->annotations, "buffer_dim_align")) continue;
        return sch_refuse(sch, n, "%s aligns dimensions of what it writes: transform first",
                          sch_block_name(sch, n));
    }
    return HONE_OK;
}

static bool is_dimension(uint32_t rank, const hone_expr *const *shape, hone_var var) {
    for (uint32_t d = 0; d < rank; d++) {
        if (shape[d]->kind == HONE_EXPR_VAR && shape[d]->u.var == var) return true;
    }
    return false;
}

/* A size is what some dimension of a parameter is, or a parameter itself. */
static bool is_told(const sch_layout *l, hone_var size) {
    const hone_func *func = l->sch->func;
    if (hone_func_takes(func, size)) return true;
    for (uint32_t i = 0; i < func->param_count; i++) {
        hone_buffer buffer = func->params[i].buffer;
        if (buffer == HONE_NO_ID) continue;
        const hone_buffer_info *info = hone_func_buffer(func, buffer);
        bool is_this = buffer == l->buffer;
        if (is_dimension(is_this ? l->m.count : info->rank, is_this ? l->m.extents : info->shape,
                         size)) {
            return true;
        }
    }
    return false;
}

static hone_status check_sizes(const sch_layout *l) {
    hone_schedule *sch = l->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, l->buffer);
    for (uint32_t d = 0; d < info->rank; d++) {
        const hone_expr *size = info->shape[d];
        if (size->kind != HONE_EXPR_VAR || is_told(l, size->u.var)) continue;
        return sch_refuse(sch, l->blame, "no parameter would tell the size '%s' any more",
                          sch->func->vars[size->u.var].name);
    }
    return HONE_OK;
}

/* ---- the map ---- */

static hone_status apply_map(sch_layout *l, const hone_index_map *map) {
    hone_schedule *sch = l->sch;
    const hone_buffer_info info = *hone_func_buffer(sch->func, l->buffer);
    hone_dtype dtype = info.rank ? info.shape[0]->dtype : HONE_DTYPE_I32;
    hone_iter *iters = hone_arena_alloc(sch->arena, (info.rank + 1) * sizeof *iters);
    if (!iters) return sch_no_memory();
    HONE_TRY(sch_resolve_map(sch, l->blame, map, info.rank, dtype, &l->map));
    for (uint32_t d = 0; d < info.rank; d++) {
        hone_range range = {hone_expr_int(&sch->ir, dtype, 0), info.shape[d]};
        hone_var var = hone_func_add_named_var(sch->func, "dim", dtype);
        if (!range.min || var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, range)) {
            return sch_no_memory();
        }
        iters[d] = (hone_iter){var, range};
    }
    l->rank = info.rank;
    HONE_TRY(sch_find_numbers(sch, l->map, info.rank, iters, &l->numbers));
    return sch_apply_map(sch, l->blame, l->numbers.map, l->numbers.count, l->numbers.iters, true,
                         &l->m);
}

/* A number takes the type of the buffer if it is of its kind. */
static const hone_expr *as_element(hone_schedule *sch, const hone_expr *value, hone_dtype dtype) {
    bool is_int = value->kind == HONE_EXPR_INT && hone_dtype_is_integer(dtype) &&
                  hone_dtype_is_integer(value->dtype);
    bool is_float = value->kind == HONE_EXPR_FLOAT && hone_dtype_is_float(dtype);
    if (is_int) return hone_expr_int(&sch->ir, dtype, value->u.i);
    return is_float ? hone_expr_float(&sch->ir, dtype, value->u.f) : value;
}

static hone_status resolve_pad_value(sch_layout *l, const hone_index_map *pad_value) {
    hone_schedule *sch = l->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, l->buffer);
    if (!pad_value) return HONE_OK;
    if (!pad_value->variadic && !pad_value->param_count && pad_value->count == 1) {
        pad_value = hone_index_map_of_constant(sch->arena, l->m.count, pad_value->indices[0]);
        if (!pad_value) return sch_no_memory();
    }
    HONE_TRY(sch_resolve_map(sch, l->blame, pad_value, l->m.count, l->m.extents[0]->dtype,
                             &l->pad_value));
    if (l->pad_value->count != 1) {
        return sch_refuse(sch, l->blame, "pad_value gives %u values, expected one",
                          l->pad_value->count);
    }
    const hone_expr *value = as_element(sch, l->pad_value->indices[0], info->dtype);
    if (value != l->pad_value->indices[0]) {
        l->pad_value = hone_index_map_of_constant(sch->arena, l->m.count, value);
        if (!value || !l->pad_value) return sch_no_memory();
    }
    if (hone_dtype_equal(l->pad_value->indices[0]->dtype, info->dtype)) return HONE_OK;
    return sch_refuse(sch, l->blame, "pad_value is %s, buffer '%s' is %s",
                      HONE_DTYPE_NAME(l->pad_value->indices[0]->dtype), info->name,
                      HONE_DTYPE_NAME(info->dtype));
}

static bool may_stay_empty(const sch_layout *l) {
    return l->map->inverse && !hone_func_is_parameter(l->sch->func, l->buffer);
}

/* Is there padding? New variables stand for the indices. */
static hone_status look_for_padding(sch_layout *l, bool assume_injective) {
    hone_schedule *sch = l->sch;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (l->m.count + 1) * sizeof *indices);
    const hone_expr **old = hone_arena_alloc(sch->arena, (l->rank + 1) * sizeof *old);
    const hone_expr *padding = NULL;
    if (!indices || !old) return sch_no_memory();
    for (uint32_t i = 0; i < l->m.count; i++) {
        const hone_expr *extent = l->m.extents[i];
        hone_range range = {hone_expr_int(&sch->ir, extent->dtype, 0), extent};
        hone_var var = hone_func_add_named_var(sch->func, "axis", extent->dtype);
        if (!range.min || var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, range)) {
            return sch_no_memory();
        }
        indices[i] = sch_var(sch, var);
    }
    bool is_known = sch_layout_invert(l, indices, old, &padding);
    HONE_TRY(sch_ir_error(sch));
    if (!is_known && !assume_injective) {
        return sch_refuse(sch, l->blame, "the index map is not shown to be injective: %s",
                          l->m.detected.reason ? l->m.detected.reason
                                               : "an index leaves gaps in its range");
    }
    l->has_padding = padding != NULL && !assume_injective;
    if (!l->has_padding || l->pad_value) return HONE_OK;
    if (may_stay_empty(l)) {
        l->has_padding = false;
        return HONE_OK;
    }
    return sch_refuse(sch, l->blame,
                      "the index map leaves places of '%s' without an element: give them a "
                      "pad_value",
                      sch_buffer_name(sch, l->buffer));
}

/* ---- the accesses ---- */

/* Indices of an access under the map; of the type that the access has. */
static const hone_expr *const *new_indices(void *ctx, uint32_t rank,
                                           const hone_expr *const *indices) {
    sch_layout *l = ctx;
    hone_schedule *sch = l->sch;
    const hone_index_map *map = l->map;
    const hone_expr **out = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *out);
    if (out && rank && !hone_dtype_equal(indices[0]->dtype, map->vars[0].dtype)) {
        map = hone_index_map_with_dtype(sch->arena, map, indices[0]->dtype);
    }
    if (!out || !map) return NULL;
    hone_index_map_apply(&sch->ir, map, indices, out);
    for (uint32_t i = 0; i < map->count; i++) {
        if (!out[i]) return NULL;
        if (out[i]->kind == HONE_EXPR_VAR) continue; /* also an axis of one value, as in TVM */
        out[i] = hone_simplify(&sch->arith, out[i]);
        if (!out[i]) return NULL;
    }
    return out;
}

static bool is_scalar_access(const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->args[i]->dtype.lanes != 1) return false;
    }
    return true;
}

static bool is_vector_access(const void *ctx, const hone_expr *e) {
    const sch_layout *l = ctx;
    return e->kind == HONE_EXPR_LOAD && e->u.buffer == l->buffer && !is_scalar_access(e);
}

static hone_status check_scalar(sch_layout *l) {
    hone_schedule *sch = l->sch;
    bool found = hone_tree_find_part(sch->func, 0, false, is_vector_access, l);
    for (hone_node_id n = 0; n != HONE_NO_ID && !found; n = hone_tree_next(sch->func, 0, n)) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != l->buffer) continue;
        for (uint32_t d = 0; d < node->u.store.rank; d++)
            found = found || node->u.store.indices[d]->dtype.lanes != 1;
    }
    if (!found) return HONE_OK;
    return sch_refuse(sch, l->blame, "'%s' is accessed by vectors",
                      sch_buffer_name(sch, l->buffer));
}

/* All accesses, those in the places of regions too (X[I[i]]), but those in the body of a writer
 * that padding changes as a whole: it is out of the tree meanwhile. */
static hone_status rewrite_accesses(sch_layout *l) {
    hone_schedule *sch = l->sch;
    bool has_writer = l->has_padding && l->writer != HONE_NO_ID;
    const sch_access_change change = {
        .from = l->buffer, .to = l->buffer, .rank = l->m.count, .map = new_indices, .ctx = l};
    hone_node_id aside = hone_func_add_node(sch->func, HONE_NODE_FOR);
    if (aside == HONE_NO_ID) return sch_no_memory();
    if (has_writer) hone_tree_move_children(sch->func, l->writer, aside);
    HONE_TRY(sch_change_accesses(sch, 0, &change, true, true));
    if (has_writer) hone_tree_move_children(sch->func, aside, l->writer);
    return HONE_OK;
}

static hone_status whole_region(const sch_layout *l, hone_region *out) {
    hone_range *ranges = hone_arena_alloc(l->sch->arena, (l->m.count + 1) * sizeof *ranges);
    if (!ranges) return sch_no_memory();
    for (uint32_t i = 0; i < l->m.count; i++) {
        const hone_expr *extent = l->m.extents[i];
        ranges[i] = (hone_range){hone_expr_int(&l->sch->ir, extent->dtype, 0), extent};
    }
    *out = (hone_region){l->buffer, ranges};
    return sch_ir_error(l->sch);
}

/* The region of this buffer in a list, from what the block does now, or all of it where only the
 * list speaks of it; the others stay. */
static hone_status renew_region(const sch_layout *l, uint32_t count, const hone_region **io,
                                uint32_t fresh_count, const hone_region *fresh) {
    const hone_region *now = hone_region_of(fresh_count, fresh, l->buffer);
    hone_region whole;
    if (!now) HONE_TRY(whole_region(l, &whole));
    hone_region *list = hone_arena_alloc(l->sch->arena, (count + 1) * sizeof *list);
    if (!list) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (*io)[i];
        if (list[i].buffer == l->buffer) list[i] = now ? *now : whole;
    }
    *io = list;
    return HONE_OK;
}

static hone_status renew_regions(sch_layout *l, hone_node_id id) {
    hone_schedule *sch = l->sch;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, id));
    hone_block found;
    if (!block) return sch_no_memory();
    HONE_TRY(hone_block_infer_regions(sch->func, id, sch->arena, &found));
    HONE_TRY(renew_region(l, block->read_count, &block->reads, found.read_count, found.reads));
    HONE_TRY(renew_region(l, block->write_count, &block->writes, found.write_count, found.writes));
    sch_node(sch, id)->u.block.block = block;
    sch_forget_facts(sch, id);
    return HONE_OK;
}

/* Inner blocks first: outer ones go by what those declare. */
static hone_status renew_all_regions(sch_layout *l) {
    hone_schedule *sch = l->sch;
    hone_node_id *blocks = hone_arena_alloc(sch->arena, sch->func->node_count * sizeof *blocks);
    uint32_t count = 0;
    if (!blocks) return sch_no_memory();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(sch->func, 0, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = sch_block(sch, n);
        bool accesses = sch_reads(block, l->buffer) || sch_writes(block, l->buffer);
        if (accesses && !(l->has_padding && n == l->writer)) blocks[count++] = n;
    }
    while (count-- > 0)
        HONE_TRY(renew_regions(l, blocks[count]));
    return HONE_OK;
}

static hone_status change(sch_layout *l, const hone_index_map *map, const hone_index_map *pad_value,
                          bool assume_injective) {
    hone_schedule *sch = l->sch;
    HONE_TRY(apply_map(l, map));
    HONE_TRY(resolve_pad_value(l, pad_value));
    HONE_TRY(check_sizes(l));
    HONE_TRY(look_for_padding(l, assume_injective));
    HONE_TRY(sch_find_plain_writer(l));
    HONE_TRY(rewrite_accesses(l));
    hone_buffer_info *info = &sch->func->buffers[l->buffer];
    info->rank = l->m.count;
    info->shape = l->m.extents;
    if (l->has_padding && l->writer != HONE_NO_ID) HONE_TRY(sch_fill_padding(l));
    HONE_TRY(renew_all_regions(l));
    if (l->has_padding && l->writer == HONE_NO_ID) HONE_TRY(sch_fill_padding(l));
    return HONE_OK;
}

hone_status hone_sch_transform_layout(hone_schedule *sch, hone_rv block, bool is_write,
                                      int64_t buffer_index, const hone_index_map *index_map,
                                      const hone_index_map *pad_value,
                                      bool assume_injective_transform) {
    sch_layout l = {.sch = sch, .writer = HONE_NO_ID};
    hone_func *saved = NULL;
    const hone_index_map *map, *pad;
    HONE_TRY(sch_resolve_block(sch, block, &l.blame));
    HONE_TRY(sch_nth_buffer(sch, l.blame, is_write, buffer_index, &l.buffer));
    HONE_TRY(check_kind(sch, l.blame, l.buffer));
    HONE_TRY(check_alignment(sch, l.buffer));
    HONE_TRY(check_scalar(&l));
    uint32_t rank = hone_func_buffer(sch->func, l.buffer)->rank;
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(
        sch_end_trial(sch, saved, change(&l, index_map, pad_value, assume_injective_transform)));
    hone_dtype dtype = l.m.count ? l.m.extents[0]->dtype : HONE_DTYPE_I32;
    HONE_TRY(sch_recorded_map(sch, index_map, rank, dtype, &map));
    HONE_TRY(sch_recorded_map(sch, l.pad_value, l.m.count, dtype, &pad));
    return sch_record(sch, HONE_INST_TRANSFORM_LAYOUT,
                      SCH_ARGS(SCH_RV(block), SCH_ACCESS(is_write, buffer_index), SCH_MAP(map),
                               SCH_MAP(pad), SCH_INT(assume_injective_transform)));
}

SCH_STEP(TRANSFORM_LAYOUT,
         hone_sch_transform_layout(sch, a[0].rv, a[1].is_write, a[1].number, a[2].map, a[3].map,
                                   a[4].number != 0),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG_ACCESS,
                  SCH_ARG_("index_map", MAP, 1, .is_required = true, .takes_separators = true),
                  SCH_ARG_("pad_value", MAP, 2, .is_attr_in_json = true),
                  SCH_ARG_("assume_injective_transform", BOOL, 2, .is_unsafe = true)});
