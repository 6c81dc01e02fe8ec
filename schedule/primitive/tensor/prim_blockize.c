/* schedule/primitive/tensor/prim_blockize.c - blockize: makes one block of a nest of loops and the
 * block in it, or of neighbouring nests.
 *
 *     for i0, j0, i1, j1: with block C: vi, vj = i0*16+i1, j0*16+j1                  blockize(i1)
 *  →  for i0, j0: with block C_o: vi_o, vj_o = i0, j0
 *         for i1, j1: with block C: vi_i, vj_i = i1, j1         (vi is vi_o*16+vi_i everywhere)
 *
 * An init goes into the new block, as a nest over the inner spatial axes: the new block is the
 * reduction then, the old one an update.
 *
 * Checks: below the loop stands one nest with one block (list form: the blocks stand in
 * neighbouring nests, with the same outer bindings); no inner bound uses an outer loop; every
 * binding is a multiple of the inner extent, of the outer loops, plus an inner part that runs over
 * all of that extent (or no binding and no predicate uses both outer and inner loops); each part of
 * the predicate speaks of outer or of inner loops; all of the box that the new block writes is
 * written; blocks that use the loops around them as they are stand with others of their kind only.
 */
#include "schedule/primitive/tensor/blockizing.h"

#include "ir/region/region.h"
#include "schedule/primitive/primitive_impl.h"

static hone_status plan_init(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    const hone_block *block = sch_block(sch, p->block);
    if (hone_block_init_of(sch->func, p->block) == HONE_NO_ID) return HONE_OK;
    const char *why = NULL;
    if (sch_classify(sch, p->block, sch_scope_of(sch, p->block), &why) == SCH_BLOCK_OTHER) {
        return sch_refuse(sch, p->block, "%s is not a reduction: %s", sch_block_name(sch, p->block),
                          why);
    }
    for (uint32_t i = 0; i < block->axis_count; i++) {
        p->has_init = p->has_init || block->axes[i].kind == HONE_AXIS_REDUCE;
    }
    if (!p->has_init) return HONE_OK;
    if (b->count > 1) {
        return sch_refuse(sch, p->block, "%s has an init: decompose its reduction first",
                          sch_block_name(sch, p->block));
    }
    return sch_plan_init(sch, p->block, p->top, "", &p->init);
}

/* ---- the new block ---- */

/* The axis of the new block for one old axis; blocks with the same binding share it. */
static hone_status outer_axis(blockizing *b, part *p, uint32_t i) {
    hone_schedule *sch = b->sch;
    const hone_axis *old = &sch_block(sch, p->block)->axes[i];
    const axis_parts *parts = &p->axes[i];
    for (uint32_t k = 0; k < b->axis_count; k++) {
        bool is_taken = false;
        for (uint32_t j = 0; j < i; j++)
            is_taken = is_taken || p->outer_vars[j] == b->axes[k].var;
        if (is_taken || b->axes[k].kind != old->kind) continue;
        if (!hone_expr_same(b->bindings[k], parts->outer)) continue;
        if (!hone_expr_same(b->axes[k].dom.extent, parts->outer_extent)) continue;
        p->outer_vars[i] = b->axes[k].var;
        return HONE_OK;
    }
    const hone_var_info var = sch->func->vars[old->var];
    hone_range dom = {hone_expr_int(&sch->ir, var.dtype, 0), parts->outer_extent};
    hone_axis *axis = &b->axes[b->axis_count];
    HONE_TRY(sch_make_axis(sch, sch_name(sch, var.name, "_o", -1), old->kind, dom, axis));
    b->bindings[b->axis_count++] = parts->outer;
    p->outer_vars[i] = axis->var;
    return HONE_OK;
}

static hone_status outer_axes(blockizing *b) {
    hone_schedule *sch = b->sch;
    uint32_t room = 1;
    for (uint32_t i = 0; i < b->count; i++)
        room += sch_block(sch, b->parts[i].block)->axis_count;
    b->axes = hone_arena_alloc(sch->arena, room * sizeof *b->axes);
    b->bindings = hone_arena_alloc(sch->arena, room * sizeof *b->bindings);
    if (!b->axes || !b->bindings) return sch_no_memory();
    for (uint32_t i = 0; i < b->count; i++) {
        part *p = &b->parts[i];
        for (uint32_t a = 0; a < sch_block(sch, p->block)->axis_count; a++)
            HONE_TRY(outer_axis(b, p, a));
    }
    return HONE_OK;
}

/* ---- the old block, inside ---- */

/* What an old axis is now: outer * extent + inner, of the new axes. */
static const hone_expr *axis_value(blockizing *b, const part *p, uint32_t i,
                                   const hone_expr *inner) {
    hone_schedule *sch = b->sch;
    const axis_parts *parts = &p->axes[i];
    if (hone_expr_is_int_value(parts->inner_extent, 1)) return sch_var(sch, p->outer_vars[i]);
    if (hone_expr_is_int_value(parts->outer_extent, 1)) return inner;
    const hone_expr *times =
        hone_expr_mul(&sch->ir, sch_var(sch, p->outer_vars[i]), parts->inner_extent);
    return hone_simplify(&sch->arith, hone_expr_add(&sch->ir, times, inner));
}

typedef struct renaming {
    blockizing *b;
    const hone_expr **map;
    size_t count;
} renaming;

static const hone_expr *rename_axes(void *ctx, hone_ir *ir, const hone_expr *e) {
    const renaming *r = ctx;
    (void)ir;
    return e->kind == HONE_EXPR_VAR && e->u.var < r->count && r->map[e->u.var] ? r->map[e->u.var]
                                                                               : e;
}

/* Old axes give way to the inner ones, everywhere in the block. */
static hone_status make_inner(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    const hone_block *from = sch_block(sch, p->block);
    hone_axis *axes = hone_arena_alloc(sch->arena, (from->axis_count + 1) * sizeof *axes);
    const hone_expr **bindings =
        hone_arena_alloc(sch->arena, (from->axis_count + 1) * sizeof *bindings);
    renaming r = {.b = b, .count = sch->func->var_count};
    r.map = hone_arena_zalloc(sch->arena, (r.count + 1) * sizeof *r.map);
    if (!axes || !bindings || !r.map) return sch_no_memory();
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->axis_count; i++) {
        const axis_parts *parts = &p->axes[i];
        const hone_var_info var = sch->func->vars[from->axes[i].var];
        const hone_expr *inner = NULL;
        if (!hone_expr_is_int_value(parts->inner_extent, 1)) {
            hone_range dom = {hone_expr_int(&sch->ir, var.dtype, 0), parts->inner_extent};
            const char *name = sch_name(sch, var.name, "_i", -1);
            HONE_TRY(sch_make_axis(sch, name, from->axes[i].kind, dom, &axes[count]));
            inner = sch_var(sch, axes[count].var);
            bindings[count++] = parts->inner;
        }
        r.map[from->axes[i].var] = axis_value(b, p, i, inner);
        if (!r.map[from->axes[i].var]) return sch_ir_error(sch);
    }
    HONE_TRY(sch_transform(sch, p->block, rename_axes, &r, true));
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, p->block));
    if (!block) return sch_no_memory();
    block->axes = axes;
    block->axis_count = count;
    hone_node *node = sch_node(sch, p->block);
    node->u.block.block = block;
    node->u.block.bindings = bindings;
    node->u.block.predicate = p->inner_predicate;
    sch_forget_affine(sch, p->block);
    sch_forget_writes(sch, p->block);
    return sch_ir_error(sch);
}

/* One of the regions that the block writes holds all of this one. */
static bool is_written_there(blockizing *b, const hone_block *block, const hone_region *read) {
    hone_schedule *sch = b->sch;
    for (uint32_t i = 0; i < block->write_count; i++) {
        const hone_region *written = &block->writes[i];
        if (written->buffer == read->buffer &&
            hone_region_covers(&sch->arith, sch->func, written, read)) {
            return true;
        }
    }
    return false;
}

/* An update reads what it goes on with. */
static hone_status read_own_output(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, p->block));
    if (!block) return sch_no_memory();
    uint32_t room = block->read_count + block->write_count + 1, count = 0;
    hone_region *reads = hone_arena_alloc(sch->arena, room * sizeof *reads);
    if (!reads) return sch_no_memory();
    for (uint32_t i = 0; i < block->write_count; i++)
        reads[count++] = block->writes[i];
    for (uint32_t i = 0; i < block->read_count; i++) {
        if (!is_written_there(b, block, &block->reads[i])) reads[count++] = block->reads[i];
    }
    block->reads = reads;
    block->read_count = count;
    sch_node(sch, p->block)->u.block.block = block;
    return HONE_OK;
}

/* ---- regions ---- */

/* The box of one region over the new block's axes, or over the outer loops where the old block is
 * still as it was. */
static hone_status relax(blockizing *b, const part *p, const hone_region *region,
                         hone_interval **out, bool *out_is_exact) {
    hone_schedule *sch = b->sch;
    uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
    *out = hone_arena_zalloc(sch->arena, (rank + 1) * sizeof **out);
    if (!*out) return sch_no_memory();
    return hone_region_relax(&sch->arith, sch->func, p->block, region, p->is_inner, p->var_count,
                             *out, out_is_exact);
}

static hone_status check_writes(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    const hone_block *block = sch_block(sch, p->block);
    const hone_expr *predicate = sch_node(sch, p->block)->u.block.predicate;
    hone_interval *box = NULL;
    for (uint32_t i = 0; i < block->write_count; i++) {
        bool is_exact = false;
        sch_node(sch, p->block)->u.block.predicate = p->inner_predicate;
        hone_status st = relax(b, p, &block->writes[i], &box, &is_exact);
        sch_node(sch, p->block)->u.block.predicate = predicate;
        if (st || is_exact) {
            HONE_TRY(st);
            continue;
        }
        return sch_refuse(
            sch, p->block,
            "%s does not surely write all of the box of '%s' that the new block would declare",
            sch_block_name(sch, p->block), sch_buffer_name(sch, block->writes[i].buffer));
    }
    return HONE_OK;
}

typedef struct box_list {
    uint32_t count;
    hone_buffer *buffers;
    hone_interval **boxes;
} box_list;

static hone_status add_box(blockizing *b, const part *p, const hone_region *region, box_list *io) {
    hone_schedule *sch = b->sch;
    hone_interval *box = NULL;
    HONE_TRY(relax(b, p, region, &box, NULL));
    for (uint32_t i = 0; i < io->count; i++) {
        if (io->buffers[i] != region->buffer) continue;
        uint32_t rank = hone_func_buffer(sch->func, region->buffer)->rank;
        for (uint32_t d = 0; d < rank; d++) {
            io->boxes[i][d] = hone_interval_union(&sch->arith, io->boxes[i][d], box[d]);
        }
        return HONE_OK;
    }
    io->buffers[io->count] = region->buffer;
    io->boxes[io->count++] = box;
    return HONE_OK;
}

static hone_status box_region(blockizing *b, hone_buffer buffer, const hone_interval *box,
                              hone_region *out) {
    hone_schedule *sch = b->sch;
    const hone_buffer_info *info = hone_func_buffer(sch->func, buffer);
    hone_range *ranges = hone_arena_alloc(sch->arena, (info->rank + 1) * sizeof *ranges);
    if (!ranges) return sch_no_memory();
    for (uint32_t d = 0; d < info->rank; d++) {
        hone_dtype dtype = info->shape[d]->dtype;
        if (hone_interval_range(&sch->arith, box[d], dtype, &ranges[d])) continue;
        ranges[d] = (hone_range){hone_expr_int(&sch->ir, dtype, 0), info->shape[d]};
    }
    *out = (hone_region){buffer, ranges};
    return sch_ir_error(sch);
}

/* The box that all parts touch, for each buffer, in order of first mention; of several parts, as in
 * TVM, the last one first: later steps name buffers by their place. */
static hone_status unite(blockizing *b, bool of_writes, uint32_t *out_count,
                         const hone_region **out_regions) {
    hone_schedule *sch = b->sch;
    uint32_t room = 1;
    for (uint32_t i = 0; i < b->count; i++) {
        const hone_block *block = sch_block(sch, b->parts[i].block);
        room += of_writes ? block->write_count : block->read_count;
    }
    box_list list = {0};
    list.buffers = hone_arena_alloc(sch->arena, room * sizeof *list.buffers);
    list.boxes = hone_arena_alloc(sch->arena, room * sizeof *list.boxes);
    hone_region *regions = hone_arena_alloc(sch->arena, room * sizeof *regions);
    if (!list.buffers || !list.boxes || !regions) return sch_no_memory();
    for (uint32_t i = 0; i < b->count; i++) {
        const hone_block *block = sch_block(sch, b->parts[i].block);
        uint32_t count = of_writes ? block->write_count : block->read_count;
        for (uint32_t k = 0; k < count; k++) {
            const hone_region *region = of_writes ? &block->writes[k] : &block->reads[k];
            HONE_TRY(add_box(b, &b->parts[i], region, &list));
        }
    }
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t at = b->count > 1 ? list.count - 1 - i : i;
        HONE_TRY(box_region(b, list.buffers[i], list.boxes[i], &regions[at]));
    }
    *out_count = list.count;
    *out_regions = regions;
    return HONE_OK;
}

/* Bounds of the loops that go into the block are read there, too. */
static hone_status read_bounds(blockizing *b, hone_block *block) {
    for (uint32_t i = 0; i < b->count; i++) {
        for (hone_node_id n = sch_node(b->sch, b->parts[i].block)->parent; n != b->outer;
             n = sch_node(b->sch, n)->parent) {
            HONE_TRY(sch_read_loaded(b->sch, block, sch_node(b->sch, n)->u.loop.range.min));
            HONE_TRY(sch_read_loaded(b->sch, block, sch_node(b->sch, n)->u.loop.range.extent));
        }
    }
    return HONE_OK;
}

/* ---- putting it together ---- */

/* One nest of loops stands between top and the block. */
static hone_status check_nest(blockizing *b, const part *p) {
    hone_schedule *sch = b->sch;
    for (hone_node_id n = p->block; n != p->top; n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (sch_node(sch, node->parent)->kind != HONE_NODE_FOR) {
            return sch_refuse(sch, p->block, "something other than loops stands around %s",
                              sch_block_name(sch, p->block));
        }
        if (node->prev != HONE_NO_ID || node->next != HONE_NO_ID) {
            return sch_refuse(sch, p->top, "there is more than the nest of %s in %s",
                              sch_block_name(sch, p->block), sch_loop_name(sch, node->parent));
        }
    }
    return HONE_OK;
}

/* What uses the loops as they are can't go into a block that has axes, where they are not seen. */
static hone_status check_open(blockizing *b) {
    hone_schedule *sch = b->sch;
    uint32_t axes = 0;
    for (uint32_t i = 0; i < b->count; i++)
        axes += sch_block(sch, b->parts[i].block)->axis_count;
    for (uint32_t i = 0; i < b->count && axes > 0; i++)
        HONE_TRY(sch_require_closed(sch, b->parts[i].block));
    return HONE_OK;
}

static hone_status check(blockizing *b) {
    hone_schedule *sch = b->sch;
    HONE_TRY(check_open(b));
    for (uint32_t i = 0; i < b->count; i++) {
        HONE_TRY(check_nest(b, &b->parts[i]));
        HONE_TRY(sch_divide_part(b, &b->parts[i]));
        HONE_TRY(check_writes(b, &b->parts[i]));
        HONE_TRY(plan_init(b, &b->parts[i]));
    }
    for (uint32_t i = 1; i < b->count; i++) {
        const hone_expr *one = b->parts[0].outer_predicate, *other = b->parts[i].outer_predicate;
        if (one == other || (one && other && hone_expr_same(one, other))) continue;
        return sch_refuse(
            sch, b->parts[i].block, "the predicates of %s and %s differ in the loops around both",
            sch_block_name(sch, b->parts[0].block), sch_block_name(sch, b->parts[i].block));
    }
    return HONE_OK;
}

static hone_status move_init(blockizing *b, part *p) {
    hone_schedule *sch = b->sch;
    hone_node_id block, top, init = hone_func_add_node(sch->func, HONE_NODE_INIT);
    if (init == HONE_NO_ID) return sch_no_memory();
    /* anew: the inner axes do not run over all of the loops */
    HONE_TRY(sch_plan_init(sch, p->block, p->top, "", &p->init));
    HONE_TRY(sch_take_init(sch, p->block, &p->init, &block, &top));
    hone_block *plain = hone_block_copy(sch->arena, sch_block(sch, block));
    if (!plain) return sch_no_memory();
    plain->annotations = (hone_attrs){0}; /* they stay with the update */
    sch_node(sch, block)->u.block.block = plain;
    HONE_TRY(read_own_output(b, p));
    hone_tree_append(sch->func, init, top);
    hone_tree_prepend(sch->func, b->outer, init);
    return HONE_OK;
}

/* The new block stands in the place of the first part; the parts go into it. */
static hone_status build_outer(blockizing *b, const char *name) {
    hone_schedule *sch = b->sch;
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    b->outer = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    if (!block || !name || b->outer == HONE_NO_ID) return sch_no_memory();
    HONE_TRY(outer_axes(b));
    *block = (hone_block){.name = name, .axis_count = b->axis_count, .axes = b->axes};
    hone_node *node = sch_node(sch, b->outer);
    node->u.block.block = block;
    node->u.block.bindings = b->bindings;
    node->u.block.predicate = b->parts[0].outer_predicate;
    hone_tree_insert_before(sch->func, b->parts[0].top, b->outer);
    for (uint32_t i = 0; i < b->count; i++) {
        hone_tree_remove(sch->func, b->parts[i].top);
        hone_tree_append(sch->func, b->outer, b->parts[i].top);
        HONE_TRY(make_inner(b, &b->parts[i]));
    }
    HONE_TRY(unite(b, false, &block->read_count, &block->reads));
    HONE_TRY(read_bounds(b, block));
    HONE_TRY(unite(b, true, &block->write_count, &block->writes));
    sch_mark_open(sch, b->outer);
    return b->parts[0].has_init ? move_init(b, &b->parts[0]) : HONE_OK;
}

/* The init may turn out not to have a nest of its own, when the rest is done. */
static hone_status make_outer(blockizing *b, const char *name) {
    hone_func *saved;
    if (!b->parts[0].has_init) return build_outer(b, name);
    HONE_TRY(sch_begin_trial(b->sch, &saved));
    return sch_end_trial(b->sch, saved, build_outer(b, name));
}

hone_status sch_blockize_loop(hone_schedule *sch, hone_node_id loop, bool preserve_unit_iters,
                              hone_node_id *out_block) {
    part one = {.top = loop, .block = sch_next_block(sch, loop, loop)};
    blockizing b = {.sch = sch, .keeps_units = preserve_unit_iters, .count = 1, .parts = &one};
    if (one.block == HONE_NO_ID) {
        return sch_refuse(sch, loop, "there is no block in %s", sch_loop_name(sch, loop));
    }
    HONE_TRY(check(&b));
    HONE_TRY(make_outer(&b, sch_name(sch, sch_block(sch, one.block)->name, "_o", -1)));
    *out_block = b.outer;
    return HONE_OK;
}

hone_status hone_sch_blockize_loop(hone_schedule *sch, hone_rv loop_rv, bool preserve_unit_iters,
                                   hone_rv *out_block) {
    hone_node_id loop;
    blockizing b = {.sch = sch, .keeps_units = preserve_unit_iters};
    HONE_TRY(sch_resolve_node(sch, loop_rv, &loop));
    if (sch_node(sch, loop)->kind == HONE_NODE_BLOCK) {
        return HONE_ERROR(HONE_CODE_INVALID, "b%u is a block, expected a loop or a list of blocks",
                          loop_rv);
    }
    HONE_TRY(sch_blockize_loop(sch, loop, preserve_unit_iters, &b.outer));
    return sch_record_node(sch, HONE_INST_BLOCKIZE,
                           SCH_ARGS(SCH_RV(loop_rv), SCH_INT(preserve_unit_iters)), b.outer,
                           out_block);
}

/* The parts are neighbours below one loop or block, in the order in which they are named. */
static hone_status find_parts(blockizing *b, const hone_node_id *blocks) {
    hone_schedule *sch = b->sch;
    hone_node_id place = sch_node(sch, blocks[0])->parent;
    if (place == 0) return sch_refuse(sch, blocks[0], "the root block has no scope");
    for (uint32_t i = 1; i < b->count; i++) {
        if (sch_scope_of(sch, blocks[i]) != sch_scope_of(sch, blocks[0])) {
            return sch_refuse(sch, blocks[i], "%s is not in the scope of %s",
                              sch_block_name(sch, blocks[i]), sch_block_name(sch, blocks[0]));
        }
        place = sch_lca(sch, place, sch_node(sch, blocks[i])->parent);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        hone_node_id top = sch_child_towards(sch, place, blocks[i]);
        b->parts[i] = (part){.top = top, .block = blocks[i]};
        if (i == 0 || sch_node(sch, b->parts[i - 1].top)->next == top) continue;
        return sch_refuse(sch, blocks[i], "%s does not stand right behind %s",
                          sch_block_name(sch, blocks[i]), sch_block_name(sch, blocks[i - 1]));
    }
    return HONE_OK;
}

hone_status hone_sch_blockize_blocks(hone_schedule *sch, uint32_t count, const hone_rv *block_rvs,
                                     bool preserve_unit_iters, hone_rv *out_block) {
    if (count == 0) return sch_refuse(sch, HONE_NO_ID, "blockize needs a loop or blocks");
    blockizing b = {.sch = sch, .keeps_units = preserve_unit_iters, .count = count};
    hone_node_id *blocks = hone_arena_alloc(sch->arena, count * sizeof *blocks);
    b.parts = hone_arena_zalloc(sch->arena, count * sizeof *b.parts);
    if (!blocks || !b.parts) return sch_no_memory();
    const char *name = "outer_";
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(sch_resolve_block(sch, block_rvs[i], &blocks[i]));
        name = sch_name(sch, name, sch_block(sch, blocks[i])->name, -1);
        if (name) name = sch_name(sch, name, "_", -1);
        if (!name) return sch_no_memory();
    }
    HONE_TRY(find_parts(&b, blocks));
    HONE_TRY(check(&b));
    HONE_TRY(make_outer(&b, name));
    return sch_record_node(sch, HONE_INST_BLOCKIZE,
                           SCH_ARGS(SCH_LIST(count, rvs, block_rvs), SCH_INT(preserve_unit_iters)),
                           b.outer, out_block);
}

static hone_status apply_target(hone_schedule *sch, const hone_step_arg *target, bool keeps_units) {
    if (target->rv != HONE_NO_ID) return hone_sch_blockize_loop(sch, target->rv, keeps_units, NULL);
    return hone_sch_blockize_blocks(sch, target->count, target->list.rvs, keeps_units, NULL);
}

SCH_STEP(BLOCKIZE, apply_target(sch, &a[0], a[1].number != 0), .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG("target", TARGET, 0), SCH_ARG_KEEP_UNITS(0)});
