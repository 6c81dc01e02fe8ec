/* ir/region/region.c - infers regions. Region inference walks a block once. Loops below it are
 * relaxed, its own axes and everything outside stay symbolic; conditions on the way down become
 * facts (region_impl.h) that tighten the intervals. */
#include "ir/region/region.h"

#include "ir/region/region_walk.h"

struct hone_region_inference {
    region_walk walk; /* between blocks: what is known of the whole function */
};

static void walk_expr(region_walk *walk, const hone_expr *e);

/* ---- expressions ---- */

static void walk_args(region_walk *walk, const hone_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        walk_expr(walk, e->args[i]);
}

/* tvm_access_ptr(type, data, offset, extent, mask): bit 0 of mask = read, bit 1 = written. */
static bool walk_access_ptr(region_walk *walk, const hone_expr *e) {
    if (e->count != 5 || e->args[1]->kind != HONE_EXPR_VAR) return false;
    hone_buffer buffer = region_buffer_of_data(walk, e->args[1]->u.var);
    if (buffer == HONE_NO_ID) return false;
    int64_t mask = e->args[4]->kind == HONE_EXPR_INT ? e->args[4]->u.i : 3;
    region_record_opaque(walk, buffer, mask & 1, mask & 2);
    walk_expr(walk, e->args[2]);
    walk_expr(walk, e->args[3]);
    return true;
}

/* A branch under a condition (or its negation, when it is one comparison). */
static const hone_expr *negation(region_walk *walk, const hone_expr *cond) {
    hone_ir *ir = &walk->arith.ir;
    if (cond->kind == HONE_EXPR_NOT) return cond->args[0];
    if (hone_expr_is_op(cond, HONE_OP_OR)) {
        const hone_expr *a = negation(walk, cond->args[0]), *b = negation(walk, cond->args[1]);
        return a && b ? hone_expr_binary(ir, HONE_OP_AND, a, b) : NULL;
    }
    if (cond->kind != HONE_EXPR_BINARY) return NULL;
    switch ((hone_op)cond->op) {
    case HONE_OP_LT:
        return hone_expr_binary(ir, HONE_OP_GE, cond->args[0], cond->args[1]);
    case HONE_OP_LE:
        return hone_expr_binary(ir, HONE_OP_GT, cond->args[0], cond->args[1]);
    case HONE_OP_GT:
        return hone_expr_binary(ir, HONE_OP_LE, cond->args[0], cond->args[1]);
    case HONE_OP_GE:
        return hone_expr_binary(ir, HONE_OP_LT, cond->args[0], cond->args[1]);
    case HONE_OP_NE:
        return hone_expr_binary(ir, HONE_OP_EQ, cond->args[0], cond->args[1]);
    default:
        return NULL;
    }
}

/* Conditions tighten what relaxing gives and do not simplify a point: an access at v - 2 under
 * v == 2 stays at v - 2. Returns what pop_condition wants. */
static uint32_t push_condition(region_walk *walk, const hone_expr *cond) {
    uint32_t mark = walk->facts.count;
    cond = cond ? region_resolve(walk, cond) : NULL;
    if (cond && !region_facts_add(&walk->facts, &walk->arith, cond)) walk->is_out_of_memory = true;
    return mark;
}

static void pop_condition(region_walk *walk, uint32_t mark) {
    walk->facts.count = mark;
}

static void walk_expr(region_walk *walk, const hone_expr *e) {
    if (!walk->block) return; /* stores only */
    if (e->kind == HONE_EXPR_LOAD) {
        region_record_access(walk, &walk->reads, e->u.buffer, e->args);
    } else if (e->kind == HONE_EXPR_VAR) {
        hone_buffer buffer =
            hone_dtype_is_handle(e->dtype) ? region_buffer_of_data(walk, e->u.var) : HONE_NO_ID;
        if (buffer != HONE_NO_ID) region_record_handle(walk, buffer);
    } else if (e->kind == HONE_EXPR_LET) {
        walk_expr(walk, e->args[0]);
        region_set_value(walk, e->u.var, region_resolve(walk, e->args[0]));
        walk->has_values = true;
        walk_expr(walk, e->args[1]);
        return;
    } else if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        walk_expr(walk, e->args[0]);
        uint32_t mark = push_condition(walk, e->args[0]);
        walk_expr(walk, e->args[1]);
        pop_condition(walk, mark);
        mark = push_condition(walk, negation(walk, e->args[0]));
        walk_expr(walk, e->args[2]);
        pop_condition(walk, mark);
        return;
    } else if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) && e->args[0]->kind == HONE_EXPR_LOAD) {
        region_record_handle(walk, e->args[0]->u.buffer);
        walk_args(walk, e->args[0]);
        return;
    } else if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && walk_access_ptr(walk, e)) {
        return;
    }
    walk_args(walk, e);
}

/* ---- statements ---- */

static void walk_children(region_walk *walk, hone_node_id parent);

/* The loop's variable runs from now on. A range that depends on other running variables is bound to
 * its hull and its ends become facts, so that A[i - j] with j <= i stays exact. */
static void bind_loop(region_walk *walk, hone_var var, const hone_range *written) {
    hone_arith *arith = &walk->arith;
    hone_ir *ir = &arith->ir;
    uint32_t count = walk->func->var_count;
    hone_range range = {region_resolve(walk, written->min), region_resolve(walk, written->extent)};
    if (!range.min || !range.extent) return;
    if (!region_note(walk, var)) return;
    bool depends = hone_expr_uses_any(range.min, walk->relax, count) ||
                   hone_expr_uses_any(range.extent, walk->relax, count);
    if (!depends) {
        if (!hone_arith_bind(arith, var, range)) walk->is_out_of_memory = true;
        walk->relax[var] = true;
        return;
    }
    bool is_exact;
    const hone_expr *last = region_last_of(walk, &range);
    if (!last) return;
    hone_interval hull =
        region_relax_span(arith, &walk->facts, range.min, last, walk->relax, count, &is_exact);
    hone_range outer;
    if (hone_interval_range(arith, hull, range.min->dtype, &outer) &&
        !hone_arith_bind(arith, var, outer)) {
        walk->is_out_of_memory = true;
    }
    walk->relax[var] = true;
    const hone_expr *v = hone_expr_var(ir, walk->func->vars[var].dtype, var);
    const hone_expr *inside =
        hone_expr_binary(ir, HONE_OP_AND, hone_expr_binary(ir, HONE_OP_GE, v, range.min),
                         hone_expr_binary(ir, HONE_OP_LE, v, last));
    if (inside && !region_facts_add(&walk->facts, arith, inside)) walk->is_out_of_memory = true;
}

static void walk_loop(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    walk_expr(walk, node->u.loop.range.min);
    walk_expr(walk, node->u.loop.range.extent);
    uint32_t mark = walk->facts.count;
    bind_loop(walk, node->u.loop.var, &node->u.loop.range);
    walk_children(walk, id);
    walk->facts.count = mark;
    walk->relax[node->u.loop.var] = false;
}

/* The values of axes are among those of the walk. */
static void record_declared(region_walk *walk, region_touches *list, const hone_region *region) {
    hone_ir *ir = &walk->arith.ir;
    uint32_t rank = hone_func_buffer(walk->func, region->buffer)->rank;
    uint32_t count = walk->func->var_count;
    hone_interval *dims = hone_arena_alloc(ir->arena, (rank + 1) * sizeof *dims);
    if (!dims) {
        walk->is_out_of_memory = true;
        return;
    }
    for (uint32_t d = 0; d < rank; d++) {
        bool is_exact;
        hone_range range = {
            hone_expr_substitute(ir, region->ranges[d].min, walk->values, count),
            hone_expr_substitute(ir, region->ranges[d].extent, walk->values, count)};
        const hone_expr *last = range.min;
        if (!range.min || !range.extent) return;
        if (!hone_expr_is_int_value(range.extent, 1)) last = region_last_of(walk, &range);
        if (!last) return;
        dims[d] = region_relax_span(&walk->arith, &walk->facts, range.min, last, walk->relax, count,
                                    &is_exact);
    }
    region_record(walk, list, region->buffer, dims);
}

/* Of all stores, those in a block; its axes have any value of their domains. */
static void walk_through_block(region_walk *walk, hone_node_id id) {
    const hone_block *block = hone_func_node(walk->func, id)->u.block.block;
    uint32_t mark = walk->facts.count;
    for (uint32_t i = 0; i < block->axis_count; i++)
        bind_loop(walk, block->axes[i].var, &block->axes[i].dom);
    walk_children(walk, id);
    walk->facts.count = mark;
}

/* A nested block counts as what it declares. */
static void walk_block(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    const hone_block *block = node->u.block.block;
    if (!walk->block) {
        walk_through_block(walk, id);
        return;
    }
    for (uint32_t i = 0; i < block->axis_count; i++) {
        walk_expr(walk, node->u.block.bindings[i]);
        region_set_value(walk, block->axes[i].var, region_resolve(walk, node->u.block.bindings[i]));
    }
    if (node->u.block.predicate) walk_expr(walk, node->u.block.predicate);
    uint32_t mark = push_condition(walk, node->u.block.predicate);
    for (uint32_t i = 0; i < block->read_count; i++) {
        record_declared(walk, &walk->reads, &block->reads[i]);
    }
    for (uint32_t i = 0; i < block->write_count; i++) {
        record_declared(walk, &walk->writes, &block->writes[i]);
    }
    pop_condition(walk, mark);
}

static void walk_node(region_walk *walk, hone_node_id id);

static void walk_if(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    const hone_expr *condition = node->u.eval.value;
    walk_expr(walk, condition);
    uint32_t mark = push_condition(walk, condition);
    hone_node_id child = node->first;
    while (child != HONE_NO_ID && hone_func_node(walk->func, child)->kind != HONE_NODE_ELSE) {
        walk_node(walk, child);
        child = hone_func_node(walk->func, child)->next;
    }
    pop_condition(walk, mark);
    if (child == HONE_NO_ID) return;
    mark = push_condition(walk, negation(walk, condition));
    walk_children(walk, child);
    pop_condition(walk, mark);
}

static void record_store(region_walk *walk, const hone_node *store) {
    hone_buffer buffer = store->u.store.buffer;
    bool is_fit = buffer < walk->func->buffer_count &&
                  hone_func_buffer(walk->func, buffer)->rank == store->u.store.rank;
    if (walk->block || is_fit)
        region_record_access(walk, &walk->writes, buffer, store->u.store.indices);
    else if (buffer < walk->func->buffer_count)
        region_record(walk, &walk->writes, buffer, NULL);
}

static void walk_node(region_walk *walk, hone_node_id id) {
    const hone_node *node = hone_func_node(walk->func, id);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_FOR:
        walk_loop(walk, id);
        return;
    case HONE_NODE_BLOCK:
        walk_block(walk, id);
        return;
    case HONE_NODE_IF:
        walk_if(walk, id);
        return;
    case HONE_NODE_STORE:
        record_store(walk, node);
        walk_expr(walk, node->u.store.value);
        for (uint32_t i = 0; i < node->u.store.rank; i++)
            walk_expr(walk, node->u.store.indices[i]);
        return;
    case HONE_NODE_LET:
        walk_expr(walk, node->u.let.value);
        region_set_value(walk, node->u.let.var, region_resolve(walk, node->u.let.value));
        walk->has_values = true;
        break;
    case HONE_NODE_ATTR:
        if (node->u.attr.value) walk_expr(walk, node->u.attr.value);
        break;
    case HONE_NODE_WHILE:
    case HONE_NODE_EVAL:
    case HONE_NODE_ASSERT:
        walk_expr(walk, node->u.eval.value);
        break;
    default:
        break;
    }
    walk_children(walk, id);
}

static void walk_children(region_walk *walk, hone_node_id parent) {
    hone_node_id child = hone_func_node(walk->func, parent)->first;
    for (; child != HONE_NO_ID; child = hone_func_node(walk->func, child)->next) {
        walk_node(walk, child);
    }
}

/* ---- one block ---- */

/* Storage that is made below the block does not show outside of it; false: another one does not
 * look into it. */
static void mark_locals(region_walk *walk, hone_node_id root, bool is_local) {
    walk->has_locals = false;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(walk->func, root, n)) {
        const hone_node *node = hone_func_node(walk->func, n);
        if (node->kind == HONE_NODE_BLOCK) {
            const hone_block *block = node->u.block.block;
            for (uint32_t i = 0; i < block->alloc_count; i++)
                walk->has_locals = walk->is_local[block->allocs[i]] = is_local;
        } else if (node->kind == HONE_NODE_ALLOC ||
                   (node->kind == HONE_NODE_DECL &&
                    hone_func_buffer(walk->func, node->u.alloc.buffer)->alias_of == HONE_NO_ID)) {
            walk->has_locals = walk->is_local[node->u.alloc.buffer] = is_local;
        }
    }
}

/* A variable of one value keeps its name in regions, as in TVM: A[vi, vk], not A[0, vk]. */
static bool bind_unless_unit(region_walk *walk, hone_var var, hone_range range) {
    if (hone_expr_is_int_value(range.extent, 1)) return true;
    return region_note(walk, var) && hone_arith_bind(&walk->arith, var, range);
}

/* What is known of the variables outside: the loops around, the axes of enclosing blocks. */
static bool bind_outside(region_walk *walk, hone_node_id block) {
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_func_node(walk->func, n)->parent) {
        const hone_node *node = hone_func_node(walk->func, n);
        if (node->kind == HONE_NODE_FOR) {
            if (!bind_unless_unit(walk, node->u.loop.var, node->u.loop.range)) return false;
        } else if (node->kind == HONE_NODE_BLOCK) {
            const hone_block *b = node->u.block.block;
            for (uint32_t i = 0; i < b->axis_count; i++) {
                if (!bind_unless_unit(walk, b->axes[i].var, b->axes[i].dom)) return false;
            }
        }
    }
    return true;
}

/* What holds for all blocks of the function. */
static bool walk_init(region_walk *walk, const hone_func *func, hone_arena *arena) {
    *walk = (region_walk){.func = func};
    hone_arith_init(&walk->arith, arena);
    walk->relax = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *walk->relax);
    walk->values = hone_arena_zalloc(arena, (func->var_count + 1) * sizeof *walk->values);
    walk->is_local = hone_arena_zalloc(arena, (func->buffer_count + 1) * sizeof *walk->is_local);
    if (!walk->relax || !walk->values || !walk->is_local) return false;
    return hone_arith_bind_sizes(&walk->arith, func);
}

static bool lies_within(region_walk *walk, const hone_interval *inner, const hone_interval *outer) {
    if (!outer->min || !outer->max) return true; /* the whole dimension */
    if (!inner->min || !inner->max) return false;
    bool is_same = hone_expr_same(inner->min, outer->min) && hone_expr_same(inner->max, outer->max);
    return is_same || hone_prove_contains(&walk->arith, *outer, *inner);
}

/* All that is read of the buffer is written too. */
static bool is_written(region_walk *walk, const region_touch *read) {
    for (uint32_t i = 0; i < walk->writes.count; i++) {
        const region_touch *written = &walk->writes.items[i];
        if (written->buffer != read->buffer) continue;
        uint32_t d = 0, rank = hone_func_buffer(walk->func, read->buffer)->rank;
        while (d < rank && lies_within(walk, &read->dims[d], &written->dims[d]))
            d++;
        return d == rank;
    }
    return false;
}

/* What conditions rule out altogether is empty, and no less than that. */
static void keep_from_below_zero(region_walk *walk, hone_range *io) {
    if (!hone_expr_is_int(io->extent) || io->extent->u.i >= 0) return;
    const hone_expr *zero = hone_expr_int(&walk->arith.ir, io->extent->dtype, 0);
    if (zero) io->extent = zero;
}

static bool stays_as_written(const hone_interval *dim) {
    bool is_clipped =
        hone_expr_is_op(dim->min, HONE_OP_MIN) || hone_expr_is_op(dim->min, HONE_OP_MAX);
    return hone_expr_is_op(dim->min, HONE_OP_FLOORDIV) || (is_clipped && dim->min == dim->max);
}

static const hone_region *finish_regions(region_walk *walk, const region_touches *list,
                                         bool without_written, uint32_t *out_count) {
    hone_arena *arena = region_arena(walk);
    hone_region *regions = hone_arena_alloc(arena, (list->count + 1) * sizeof *regions);
    *out_count = 0;
    if (!regions) return NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        const region_touch *t = &list->items[i];
        const hone_buffer_info *buffer = hone_func_buffer(walk->func, t->buffer);
        if (without_written && is_written(walk, t)) continue;
        hone_range *ranges = hone_arena_alloc(arena, (buffer->rank + 1) * sizeof *ranges);
        if (!ranges) return NULL;
        for (uint32_t d = 0; d < buffer->rank; d++) {
            hone_dtype dtype = t->dims[d].min ? t->dims[d].min->dtype : buffer->shape[d]->dtype;
            if (t->dims[d].min && t->dims[d].max &&
                hone_interval_range(&walk->arith, t->dims[d], dtype, &ranges[d])) {
                keep_from_below_zero(walk, &ranges[d]);
                if (stays_as_written(&t->dims[d]))
                    ranges[d].min = region_fixed(&walk->arith, t->dims[d].min);
                continue;
            }
            ranges[d] = (hone_range){hone_expr_int(&walk->arith.ir, buffer->shape[d]->dtype, 0),
                                     buffer->shape[d]};
        }
        regions[(*out_count)++] = (hone_region){.buffer = t->buffer, .ranges = ranges};
    }
    return regions;
}

static hone_status no_memory(region_walk *walk, const char *of) {
    HONE_TRY(hone_ir_finish(&walk->arith.ir));
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "regions of '%s'", of);
}

static bool infer_both(region_walk *walk, hone_node_id id, hone_block *out) {
    bool has_init = hone_block_init_of(walk->func, id) != HONE_NO_ID;
    if (!bind_outside(walk, id)) return false;
    walk_children(walk, id);
    out->reads = finish_regions(walk, &walk->reads, has_init, &out->read_count);
    out->writes = finish_regions(walk, &walk->writes, false, &out->write_count);
    return !walk->is_out_of_memory && out->reads && out->writes;
}

static hone_status infer(region_walk *walk, hone_node_id id, hone_block *out) {
    assert(hone_func_node(walk->func, id)->kind == HONE_NODE_BLOCK);
    walk->block = hone_func_node(walk->func, id)->u.block.block;
    walk->reads.count = walk->writes.count = 0;
    mark_locals(walk, id, true);
    bool is_done = infer_both(walk, id, out);
    mark_locals(walk, id, false);
    region_forget_noted(walk);
    return is_done ? hone_ir_finish(&walk->arith.ir) : no_memory(walk, walk->block->name);
}

static hone_status infer_one(const hone_func *func, hone_node_id block, bool believes,
                             hone_arena *arena, hone_block *out) {
    region_walk walk;
    assert(func && arena && out);
    if (!walk_init(&walk, func, arena)) return no_memory(&walk, func->name);
    walk.believes = believes;
    return infer(&walk, block, out);
}

hone_status hone_block_infer_regions(const hone_func *func, hone_node_id block, hone_arena *arena,
                                     hone_block *out) {
    return infer_one(func, block, false, arena, out);
}

hone_status hone_block_shown_regions(const hone_func *func, hone_node_id block, hone_arena *arena,
                                     hone_block *out) {
    return infer_one(func, block, true, arena, out);
}

hone_status hone_region_inference_begin(const hone_func *func, bool believes, hone_arena *arena,
                                        hone_region_inference **out) {
    assert(func && arena && out);
    *out = hone_arena_alloc(arena, sizeof **out);
    if (!*out) return HONE_ERROR(HONE_CODE_NO_MEMORY, "regions of '%s'", func->name);
    if (!walk_init(&(*out)->walk, func, arena)) return no_memory(&(*out)->walk, func->name);
    (*out)->walk.believes = believes;
    return HONE_OK;
}

hone_status hone_region_inference_next(hone_region_inference *inference, hone_node_id block,
                                       hone_block *out) {
    return infer(&inference->walk, block, out);
}

hone_status hone_func_stores(const hone_func *func, hone_arena *arena,
                             const hone_region *const **out) {
    region_walk walk;
    uint32_t count = 0;
    assert(func && arena && out);
    const hone_region **by_buffer =
        hone_arena_zalloc(arena, (func->buffer_count + 1) * sizeof *by_buffer);
    *out = by_buffer;
    if (!walk_init(&walk, func, arena) || !by_buffer) return no_memory(&walk, func->name);
    walk_children(&walk, HONE_NODE_TOP);
    const hone_region *found = finish_regions(&walk, &walk.writes, false, &count);
    if (walk.is_out_of_memory || !found) return no_memory(&walk, func->name);
    for (uint32_t i = 0; i < count; i++)
        by_buffer[found[i].buffer] = &found[i];
    hone_status_free(hone_ir_finish(&walk.arith.ir)); /* of a program that is not well formed */
    return HONE_OK;
}
