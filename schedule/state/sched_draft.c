/* schedule/state/sched_draft.c - makes axes, loops and blocks, and puts them into the tree. */
#include "schedule/state/schedule_impl.h"

hone_status sch_begin_draft(hone_schedule *sch, uint32_t room, sch_draft *out) {
    *out = (sch_draft){
        .nest = {.top = HONE_NO_ID, .bottom = HONE_NO_ID}
    };
    out->axes = hone_arena_alloc(sch->arena, (room + 1) * sizeof *out->axes);
    out->vars = hone_arena_alloc(sch->arena, (room + 1) * sizeof *out->vars);
    out->nest.bindings = hone_arena_alloc(sch->arena, (room + 1) * sizeof *out->nest.bindings);
    return out->axes && out->vars && out->nest.bindings ? HONE_OK : sch_no_memory();
}

hone_status sch_nest_add_loop(hone_schedule *sch, sch_nest *io, hone_node_id loop) {
    if (loop == HONE_NO_ID) return sch_no_memory();
    if (io->bottom == HONE_NO_ID) {
        io->top = loop;
    } else {
        hone_tree_append(sch->func, io->bottom, loop);
    }
    io->bottom = loop;
    return HONE_OK;
}

hone_status sch_nest_copy_loop(hone_schedule *sch, sch_nest *io, hone_node_id loop,
                               const char *suffix, const hone_expr **map, uint32_t count) {
    const hone_node old = *sch_node(sch, loop);
    const hone_var_info var = sch->func->vars[old.u.loop.var];
    hone_range range = {hone_expr_substitute(&sch->ir, old.u.loop.range.min, map, count),
                        hone_expr_substitute(&sch->ir, old.u.loop.range.extent, map, count)};
    hone_node_id copy =
        range.min ? sch_make_loop(sch, sch_name(sch, var.name, suffix, -1), var.dtype, range.extent)
                  : HONE_NO_ID;
    HONE_TRY(sch_nest_add_loop(sch, io, copy));
    hone_node *node = sch_node(sch, copy);
    node->loop_kind = old.loop_kind;
    node->u.loop.thread_tag = old.u.loop.thread_tag;
    node->u.loop.annotations = old.u.loop.annotations;
    node->u.loop.range = range;
    map[old.u.loop.var] = sch_var(sch, node->u.loop.var);
    return hone_arith_bind(&sch->arith, node->u.loop.var, range) ? HONE_OK : sch_no_memory();
}

hone_status sch_make_axis(hone_schedule *sch, const char *name, hone_axis_kind kind, hone_range dom,
                          hone_axis *out) {
    if (!name || !dom.min || !dom.extent) return sch_no_memory();
    hone_var var = hone_func_add_named_var(sch->func, name, dom.extent->dtype);
    if (var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, dom)) return sch_no_memory();
    *out = (hone_axis){var, kind, dom};
    return HONE_OK;
}

hone_status sch_draft_axis(hone_schedule *sch, sch_draft *io, const char *name, hone_axis_kind kind,
                           hone_range dom, const hone_expr *binding) {
    uint32_t i = io->count++;
    HONE_TRY(sch_make_axis(sch, name, kind, dom, &io->axes[i]));
    io->vars[i] = sch_var(sch, io->axes[i].var);
    io->nest.bindings[i] = binding;
    return sch_ir_error(sch);
}

hone_status sch_draft_dim(hone_schedule *sch, sch_draft *io, const char *loop_name,
                          const hone_expr *extent) {
    const char *name = sch_name(sch, loop_name, "", io->count);
    hone_node_id loop = sch_make_loop(sch, name, extent->dtype, extent);
    HONE_TRY(sch_nest_add_loop(sch, &io->nest, loop));
    const hone_node node = *sch_node(sch, loop);
    return sch_draft_axis(sch, io, sch_name(sch, "v", "", io->count), HONE_AXIS_SPATIAL,
                          node.u.loop.range, sch_var(sch, node.u.loop.var));
}

hone_node_id sch_make_store(hone_schedule *sch, hone_buffer buffer, uint32_t rank,
                            const hone_expr *const *indices, const hone_expr *value) {
    return hone_func_add_store(sch->func, buffer, rank, indices, indices ? value : NULL);
}

hone_status sch_draft_block(hone_schedule *sch, const sch_draft *d, const char *name,
                            hone_node_id body, hone_node_id *out_block) {
    HONE_TRY(sch_ir_error(sch));
    hone_block *block = hone_arena_zalloc(sch->arena, sizeof *block);
    hone_node_id id = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    if (!block || !name || body == HONE_NO_ID || id == HONE_NO_ID) return sch_no_memory();
    *block = (hone_block){.name = name,
                          .axis_count = d->count,
                          .axes = d->axes,
                          .read_count = d->read != NULL,
                          .reads = d->read,
                          .write_count = d->written != NULL,
                          .writes = d->written,
                          .annotations = d->annotations};
    sch_node(sch, id)->u.block.block = block;
    sch_node(sch, id)->u.block.bindings = d->nest.bindings;
    sch_node(sch, id)->u.block.predicate = d->nest.predicate;
    hone_tree_append(sch->func, id, body);
    if (d->nest.bottom != HONE_NO_ID) hone_tree_append(sch->func, d->nest.bottom, id);
    *out_block = id;
    return d->read && d->written ? HONE_OK : sch_update_regions(sch, id);
}

void sch_place_nest(hone_schedule *sch, const sch_nest *nest, hone_node_id block,
                    hone_node_id anchor, bool is_behind) {
    hone_node_id top = nest->top == HONE_NO_ID ? block : nest->top;
    hone_node *node = sch_node(sch, block);
    node->u.block.bindings = nest->bindings;
    node->u.block.predicate = nest->predicate;
    if (nest->bottom != HONE_NO_ID && node->parent != nest->bottom) {
        hone_tree_append(sch->func, nest->bottom, block);
    }
    if (is_behind) {
        hone_tree_insert_after(sch->func, anchor, top);
    } else {
        hone_tree_insert_before(sch->func, anchor, top);
    }
}
