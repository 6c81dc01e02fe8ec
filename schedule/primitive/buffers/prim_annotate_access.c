/* schedule/primitive/buffers/prim_annotate_access.c - annotate_buffer_access: says which region of
 * a buffer a block reads or writes, in place of what was found out.
 *
 *     T.reads(A[0:16, vj])                       annotate(b, 0, "read", lambda vi, vj:
 *  →  T.reads(A[vi - 1:vi + 1, vj])                  ((vi - 1, vi + 1), vj))
 *     T.sblock_attr({"explicit_read_region": [0]})
 *
 * Checks: the block has a buffer of that number, and its axes are the parameters of the map, which
 * gives a begin and an end, not below it, for each dimension. A region of writes holds all that is
 * written (whether all of it is written, others find out: sch_writes_exactly). A region of reads
 * must not lack what is surely read; where it can't be shown to hold all that is read (an index
 * that is loaded or computed from floats), the caller is believed, and the trace is marked as
 * unsafe.
 */
#include "ir/region/region.h"
#include "ir/text/map/index_map_parse.h"
#include "schedule/primitive/layout/layout_map.h"
#include "schedule/primitive/primitive_impl.h"

typedef struct claim {
    hone_schedule *sch;
    hone_node_id block;
    bool is_write;
    int64_t index;
    hone_buffer buffer;
    uint32_t rank;
    hone_range *ranges;
} claim;

/* The type of indices: that of the axes. */
static hone_dtype index_dtype(const claim *c) {
    const hone_block *block = sch_block(c->sch, c->block);
    return block->axis_count ? block->axes[0].dom.extent->dtype : HONE_DTYPE_I32;
}

/* The map with begin, end, begin, end, … as its indices: a single index i is from i to i + 1. */
static hone_status spell_out(claim *c, const hone_index_map *map, hone_index_map **out) {
    hone_schedule *sch = c->sch;
    uint32_t axis_count = sch_block(sch, c->block)->axis_count;
    HONE_TRY(hone_index_map_instantiate(sch->arena, map, axis_count, &map));
    *out = hone_arena_alloc(sch->arena, sizeof **out);
    const hone_expr **ends =
        hone_arena_alloc(sch->arena, (2 * (size_t)map->count + 1) * sizeof *ends);
    if (!*out || !ends) return sch_no_memory();
    **out = *map;
    (*out)->is_ranges = false;
    if (map->is_ranges || map->count != c->rank) return HONE_OK;
    for (uint32_t d = 0; d < c->rank; d++) {
        const hone_expr *one = hone_expr_int(&sch->ir, map->indices[d]->dtype, 1);
        ends[2 * d] = map->indices[d];
        ends[2 * d + 1] = hone_expr_add(&sch->ir, map->indices[d], one);
    }
    (*out)->indices = ends;
    (*out)->count = 2 * c->rank;
    return sch_ir_error(sch);
}

static hone_status read_ranges(claim *c, const hone_index_map *map) {
    hone_schedule *sch = c->sch;
    const hone_block *block = sch_block(sch, c->block);
    HONE_TRY(sch_resolve_map(sch, c->block, map, block->axis_count, index_dtype(c), &map));
    if (map->count != 2 * c->rank) {
        return sch_refuse(sch, c->block,
                          "the map gives %u begins and ends, '%s' has %u dimensions of two each",
                          map->count, sch_buffer_name(sch, c->buffer), c->rank);
    }
    const hone_expr **axes = hone_arena_alloc(sch->arena, (block->axis_count + 1) * sizeof *axes);
    const hone_expr **ends = hone_arena_alloc(sch->arena, (map->count + 1) * sizeof *ends);
    c->ranges = hone_arena_alloc(sch->arena, (c->rank + 1) * sizeof *c->ranges);
    if (!axes || !ends || !c->ranges) return sch_no_memory();
    for (uint32_t i = 0; i < block->axis_count; i++)
        axes[i] = sch_var(sch, block->axes[i].var);
    hone_index_map_apply(&sch->ir, map, axes, ends);
    HONE_TRY(sch_ir_error(sch));
    for (uint32_t d = 0; d < c->rank; d++) {
        const hone_expr *extent = hone_expr_sub(&sch->ir, ends[2 * d + 1], ends[2 * d]);
        sch->arith.keeps_units = true; /* an axis of one value may grow later */
        c->ranges[d].min = hone_simplify(&sch->arith, ends[2 * d]);
        c->ranges[d].extent = extent ? hone_simplify(&sch->arith, extent) : NULL;
        sch->arith.keeps_units = false;
        HONE_TRY(sch_ir_error(sch));
        if (hone_arith_bound(&sch->arith, c->ranges[d].extent).min >= 0) continue;
        return sch_refuse(sch, c->block, "the end of dimension %u may be below its begin", d);
    }
    return HONE_OK;
}

/* Does one range surely begin before or end behind another one, for all values of the axes? */
static bool surely_leaves(claim *c, const hone_range *inner, const hone_range *outer) {
    hone_ir *ir = &c->sch->ir;
    const hone_expr *inner_end = hone_expr_add(ir, inner->min, inner->extent);
    const hone_expr *outer_end = hone_expr_add(ir, outer->min, outer->extent);
    if (!inner_end || !outer_end) return false;
    return hone_prove_less(&c->sch->arith, inner->min, outer->min) ||
           hone_prove_less(&c->sch->arith, outer_end, inner_end);
}

static hone_status check_against_body(claim *c, bool *out_is_promise) {
    hone_schedule *sch = c->sch;
    const hone_region claimed = {c->buffer, c->ranges};
    hone_block found;
    *out_is_promise = false;
    HONE_TRY(hone_block_infer_regions(sch->func, c->block, sch->arena, &found));
    for (uint32_t i = 0; i < (c->is_write ? found.write_count : found.read_count); i++) {
        const hone_region *actual = c->is_write ? &found.writes[i] : &found.reads[i];
        if (actual->buffer != c->buffer) continue;
        bool holds_all = hone_region_covers(&sch->arith, sch->func, &claimed, actual);
        bool leaves = false;
        for (uint32_t d = 0; d < c->rank && !holds_all; d++)
            leaves = leaves || surely_leaves(c, &actual->ranges[d], &c->ranges[d]);
        if (c->is_write ? !holds_all : leaves) {
            return sch_refuse(sch, c->block,
                              c->is_write ? "%s may write more of '%s' than that region"
                                          : "%s reads more of '%s' than that region",
                              sch_block_name(sch, c->block), sch_buffer_name(sch, c->buffer));
        }
        *out_is_promise = !holds_all;
    }
    return HONE_OK;
}

/* Adds the number to the list of what was said by hand. */
static hone_status note_index(claim *c, hone_block *block) {
    hone_schedule *sch = c->sch;
    const char *key = c->is_write ? "explicit_write_region" : "explicit_read_region";
    const hone_value *old = hone_attrs_find(&block->annotations, key);
    uint32_t count = old && old->kind == HONE_VALUE_LIST ? old->count : 0;
    hone_value *items = hone_arena_alloc(sch->arena, (count + 1) * sizeof *items);
    if (!items) return sch_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        items[i] = old->u.items[i];
        if (items[i].kind == HONE_VALUE_INT && items[i].u.i == c->index) return HONE_OK;
    }
    items[count] = HONE_VALUE_OF_INT(c->index);
    hone_value list = {.kind = HONE_VALUE_LIST, .count = count + 1, .u.items = items};
    return hone_attrs_with(sch->arena, &block->annotations, key, list, &block->annotations)
               ? HONE_OK
               : sch_no_memory();
}

static hone_status replace_region(claim *c) {
    hone_schedule *sch = c->sch;
    uint32_t count;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, c->block));
    if (!block) return sch_no_memory();
    const hone_region *old = sch_regions_of(block, c->is_write, &count);
    hone_region *regions = hone_arena_copy(sch->arena, old, count * sizeof *regions);
    if (!regions) return sch_no_memory();
    regions[c->index].ranges = c->ranges;
    HONE_TRY(note_index(c, block));
    sch_node(sch, c->block)->u.block.block = block;
    return sch_declare_regions(sch, c->block, c->is_write, count, regions);
}

hone_status hone_sch_annotate_buffer_access(hone_schedule *sch, hone_rv block, int64_t buffer_index,
                                            bool is_write, const hone_index_map *gen_new_ranges) {
    claim c = {.sch = sch, .is_write = is_write, .index = buffer_index};
    bool is_promise = false;
    HONE_TRY(sch_resolve_block(sch, block, &c.block));
    HONE_TRY(sch_nth_buffer(sch, c.block, is_write, buffer_index, &c.buffer));
    c.rank = hone_func_buffer(sch->func, c.buffer)->rank;
    hone_index_map *map = NULL;
    HONE_TRY(spell_out(&c, gen_new_ranges, &map));
    HONE_TRY(read_ranges(&c, map));
    HONE_TRY(check_against_body(&c, &is_promise));
    const hone_index_map *recorded;
    HONE_TRY(sch_recorded_map(sch, map, sch_block(sch, c.block)->axis_count, index_dtype(&c),
                              &recorded));
    hone_index_map *ranges = hone_arena_alloc(sch->arena, sizeof *ranges);
    if (!ranges) return sch_no_memory();
    *ranges = *recorded;
    ranges->is_ranges = true;
    HONE_TRY(replace_region(&c));
    sch->trace.is_unsafe = sch->trace.is_unsafe || is_promise;
    const hone_operand index = {.kind = HONE_OPERAND_INT, .u.i = buffer_index};
    return sch_record(
        sch, HONE_INST_ANNOTATE_BUFFER_ACCESS,
        SCH_ARGS(SCH_RV(block), SCH_DATA(&index, HONE_NO_ID), SCH_INT(is_write), SCH_MAP(ranges)));
}

static hone_status apply_regions(hone_schedule *sch, const hone_step_arg *a) {
    if (a[1].data->kind != HONE_OPERAND_INT) {
        return hone_inst_malformed(HONE_INST_ANNOTATE_BUFFER_ACCESS,
                                   "buffer_index must be an integer");
    }
    return hone_sch_annotate_buffer_access(sch, a[0].rv, a[1].data->u.i, a[2].number != 0,
                                           a[3].map);
}

SCH_STEP(ANNOTATE_BUFFER_ACCESS, apply_regions(sch, a), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0), SCH_ARG("buffer_index", DATA, 1),
                  SCH_ARG("buf_type", BUF_TYPE, 2), SCH_ARG("gen_new_ranges", MAP, 3)});
