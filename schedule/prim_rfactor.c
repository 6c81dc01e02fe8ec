#include "schedule/schedule_impl.h"

#include <string.h>

/* rfactor: splits a reduction in two. The loop becomes a spatial axis of a first block that reduces
 * into a new buffer with one more dimension; a second block reduces that dimension.
 *
 *     for i, ko, ki: with block B: init: B[i] = 0; B[i] += A[i, ko*8+ki]        rfactor(ko, 0)
 *  →  for i, ko, ki: with block B_rf: init: B_rf[ko, i] = 0; B_rf[ko, i] += A[i, ko*8+ki]
 *     for i, ko:     with block B:    init: B[i] = 0; B[i] += B_rf[ko, i]
 *
 * Checks: the loop is serial and feeds reduce axes only, no loop feeds both kinds; one block is
 * below it, a reduction, in a scope that is a pipeline of stages; its nest has nothing else in it;
 * init and body are one store each and match sum, product, min or max with its identity; the new
 * axis fits in the buffer; no predicate depends on a reduce loop. */

typedef struct rfactoring {
    hone_schedule *sch;
    hone_node_id loop, block, scope, top; /* top: the outermost loop of the nest */
    hone_node_id init_store, store;
    uint32_t axis; /* where the new dimension stands */
    uint32_t loop_count;
    const hone_node_id *loops;
    hone_op reducer;
    const hone_expr *identity, *rhs; /* body: C = C op rhs */
    hone_buffer buffer, rf_buffer;
} rfactoring;

/* ---- checks ---- */

static sch_loop_type type_in_block(const hone_schedule *sch, hone_node_id block, hone_var var) {
    bool spatial = false, reduce = false;
    const hone_node *node = sch_node(sch, block);
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++) {
        if (!hone_expr_uses_var(node->u.block.bindings[i], var)) continue;
        spatial = spatial || node->u.block.block->axes[i].kind == HONE_AXIS_SPATIAL;
        reduce = reduce || node->u.block.block->axes[i].kind == HONE_AXIS_REDUCE;
    }
    if (spatial && reduce) return SCH_LOOP_OPAQUE;
    return reduce ? SCH_LOOP_REDUCE : SCH_LOOP_DATA_PARALLEL;
}

static hone_status check_loops(rfactoring *r) {
    hone_schedule *sch = r->sch;
    HONE_TRY(sch_loops_of(sch, r->block, &r->loop_count, &r->loops));
    r->top = r->loops[0];
    for (uint32_t i = 0; i < r->loop_count; i++) {
        const hone_node *node = sch_node(sch, r->loops[i]);
        if (node->first != node->last) {
            return sch_refuse(sch, r->loops[i], "%s holds more than the nest of %s",
                              sch_loop_name(sch, r->loops[i]), sch_block_name(sch, r->block));
        }
        if (!hone_expr_is_int_value(node->u.loop.range.min, 0)) {
            return sch_refuse(sch, r->loops[i], "%s does not start at 0",
                              sch_loop_name(sch, r->loops[i]));
        }
        for (uint32_t k = 0; k < i; k++) {
            if (!hone_expr_uses_var(node->u.loop.range.extent,
                                    sch_node(sch, r->loops[k])->u.loop.var)) {
                continue;
            }
            return sch_refuse(sch, r->loops[i], "the extent of %s depends on %s",
                              sch_loop_name(sch, r->loops[i]), sch_loop_name(sch, r->loops[k]));
        }
        sch_loop_type type = type_in_block(sch, r->block, node->u.loop.var);
        if (type == SCH_LOOP_OPAQUE) {
            return sch_refuse(sch, r->loops[i], "%s feeds both spatial and reduce axes",
                              sch_loop_name(sch, r->loops[i]));
        }
        const hone_expr *predicate = sch_node(sch, r->block)->u.block.predicate;
        if (type == SCH_LOOP_REDUCE && predicate &&
            hone_expr_uses_var(predicate, node->u.loop.var)) {
            return sch_refuse(sch, r->loops[i],
                              "the predicate of %s depends on %s: parts of the "
                              "new buffer would stay without a value",
                              sch_block_name(sch, r->block), sch_loop_name(sch, r->loops[i]));
        }
        if (r->loops[i] == r->loop && type != SCH_LOOP_REDUCE) {
            return sch_refuse(sch, r->loop, "%s feeds no reduce axis", sch_loop_name(sch, r->loop));
        }
    }
    return HONE_OK;
}

static hone_status check_block(rfactoring *r) {
    hone_schedule *sch = r->sch;
    if (sch_node(sch, r->loop)->loop_kind != HONE_LOOP_SERIAL) {
        return sch_refuse(sch, r->loop, "%s is not serial", sch_loop_name(sch, r->loop));
    }
    r->block = sch_next_block(sch, r->loop, r->loop);
    if (r->block == HONE_NO_ID || sch_next_block(sch, r->loop, r->block) != HONE_NO_ID) {
        return sch_refuse(sch, r->loop, "there must be just one block below %s",
                          sch_loop_name(sch, r->loop));
    }
    r->scope = sch_scope_of(sch, r->block);
    HONE_TRY(sch_require_pipeline(sch, r->scope));
    const char *why = NULL;
    if (sch_classify(sch, r->block, r->scope, &why) != SCH_BLOCK_REDUCTION) {
        return sch_refuse(sch, r->block, "%s is not a reduction: %s", sch_block_name(sch, r->block),
                          why ? why : "it has no reduce axis");
    }
    return check_loops(r);
}

/* ---- the reducer ---- */

static bool is_float_value(const hone_expr *e, double value) {
    return e->kind == HONE_EXPR_FLOAT && e->u.f == value;
}

/* Is e the neutral element of the operation in its dtype? */
static bool is_identity(hone_op op, const hone_expr *e) {
    bool is_float = hone_dtype_is_float(e->dtype);
    double top = is_float ? hone_dtype_max_float(e->dtype) : 0;
    double inf = __builtin_inf();
    switch (op) {
    case HONE_OP_ADD:
        return hone_expr_is_int_value(e, 0) || is_float_value(e, 0.0);
    case HONE_OP_MUL:
        return hone_expr_is_int_value(e, 1) || is_float_value(e, 1.0);
    case HONE_OP_MAX:
        if (is_float) return is_float_value(e, -top) || is_float_value(e, -inf);
        return hone_expr_is_int_value(e, hone_dtype_min_int(e->dtype));
    case HONE_OP_MIN:
        if (is_float) return is_float_value(e, top) || is_float_value(e, inf);
        return hone_expr_is_int_value(e, hone_dtype_max_int(e->dtype));
    default:
        return false;
    }
}

static bool loads_same(const hone_expr *e, const hone_node *store) {
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != store->u.store.buffer) return false;
    for (uint32_t d = 0; d < store->u.store.rank; d++) {
        if (!hone_expr_same(e->args[d], store->u.store.indices[d])) return false;
    }
    return true;
}

typedef struct buffer_search {
    hone_buffer buffer;
    bool found;
} buffer_search;

static bool look_for_buffer(void *ctx, const hone_expr *e) {
    buffer_search *s = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == s->buffer) s->found = true;
    return !s->found;
}

hone_status sch_match_reducer(hone_schedule *sch, hone_node_id block, sch_reducer *out) {
    hone_node_id init = hone_block_init_of(sch->func, block);
    *out = (sch_reducer){.init_store = HONE_NO_ID, .store = sch_single_store(sch, block)};
    if (init != HONE_NO_ID && sch_node(sch, init)->first == sch_node(sch, init)->last) {
        out->init_store = sch_node(sch, init)->first;
    }
    bool is_plain = out->store != HONE_NO_ID && out->init_store != HONE_NO_ID &&
                    sch_node(sch, out->init_store)->kind == HONE_NODE_STORE;
    if (!is_plain) {
        return sch_refuse(sch, block, "init and body of %s must be one store each",
                          sch_block_name(sch, block));
    }
    const hone_node *store = sch_node(sch, out->store);
    const hone_expr *value = store->u.store.value;
    if (value->kind == HONE_EXPR_BINARY) {
        out->op = (hone_op)value->op;
        bool left = loads_same(value->args[0], store);
        bool right = !left && hone_op_commutes(out->op) && loads_same(value->args[1], store);
        out->rhs = left ? value->args[1] : right ? value->args[0] : NULL;
    }
    out->identity = sch_node(sch, out->init_store)->u.store.value;
    out->buffer = store->u.store.buffer;
    buffer_search s = {out->buffer, false};
    if (out->rhs) hone_expr_walk(out->rhs, look_for_buffer, &s);
    if (out->rhs && !s.found && is_identity(out->op, out->identity) &&
        sch_node(sch, out->init_store)->u.store.buffer == out->buffer) {
        return HONE_OK;
    }
    return sch_refuse(sch, block,
                      "%s matches none of sum, product, min and max with its "
                      "identity as init",
                      sch_block_name(sch, block));
}

static hone_status match_reducer(rfactoring *r) {
    sch_reducer found;
    HONE_TRY(sch_match_reducer(r->sch, r->block, &found));
    r->init_store = found.init_store;
    r->store = found.store;
    r->reducer = found.op;
    r->identity = found.identity;
    r->rhs = found.rhs;
    r->buffer = found.buffer;
    return HONE_OK;
}

/* ---- the new buffer ---- */

static const hone_expr **insert_at(hone_schedule *sch, uint32_t count, const hone_expr *const *list,
                                   uint32_t at, const hone_expr *item) {
    const hone_expr **out = hone_arena_alloc(sch->arena, (count + 1) * sizeof *out);
    if (!out) return NULL;
    for (uint32_t i = 0, k = 0; i <= count; i++)
        out[i] = i == at ? item : list[k++];
    return out;
}

static hone_status make_buffer(rfactoring *r) {
    hone_schedule *sch = r->sch;
    const hone_buffer_info old = *hone_func_buffer(sch->func, r->buffer);
    const hone_expr *extent = sch_node(sch, r->loop)->u.loop.range.extent;
    hone_buffer_info info = {.name = sch_name(sch, old.name, "_rf", -1),
                             .dtype = old.dtype,
                             .rank = old.rank + 1,
                             .shape = insert_at(sch, old.rank, old.shape, r->axis, extent),
                             .scope = old.scope,
                             .data = HONE_NO_ID,
                             .alias_of = HONE_NO_ID,
                             .matched_handle = HONE_NO_ID};
    if (!info.name || !info.shape) return sch_no_memory();
    r->rf_buffer = hone_func_add_buffer(sch->func, &info);
    return r->rf_buffer == HONE_NO_ID ? sch_no_memory()
                                      : sch_add_alloc(sch, r->scope, r->rf_buffer);
}

/* ---- blocks ---- */

/* A block in the making. map replaces the old block's axis variables. */
typedef struct draft {
    hone_block block;
    hone_axis *axes;
    const hone_expr **bindings;
    const hone_expr **map;
    uint32_t count;
} draft;

static hone_status start_draft(rfactoring *r, const char *name, draft *d) {
    hone_schedule *sch = r->sch;
    uint32_t room = sch_block(sch, r->block)->axis_count + r->loop_count + 1;
    *d = (draft){.block = {.name = name}};
    d->axes = hone_arena_alloc(sch->arena, room * sizeof *d->axes);
    d->bindings = hone_arena_alloc(sch->arena, room * sizeof *d->bindings);
    d->map = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *d->map);
    return d->axes && d->bindings && d->map && name ? HONE_OK : sch_no_memory();
}

static hone_status add_axis(rfactoring *r, draft *d, const char *name, hone_axis_kind kind,
                            hone_range dom, const hone_expr *binding, const hone_expr **out_var) {
    hone_schedule *sch = r->sch;
    hone_var var = name ? hone_func_add_named_var(sch->func, name, dom.extent->dtype) : HONE_NO_ID;
    if (var == HONE_NO_ID || !hone_arith_bind(&sch->arith, var, dom)) return sch_no_memory();
    d->axes[d->count] = (hone_axis){var, kind, dom};
    d->bindings[d->count++] = binding;
    *out_var = sch_var(sch, var);
    return sch_ir_error(sch);
}

/* Copies the spatial axes of the old block under new variables. */
static hone_status add_spatial_axes(rfactoring *r, draft *d, const hone_expr *const *loop_map,
                                    uint32_t loop_map_count) {
    hone_schedule *sch = r->sch;
    const hone_node old = *sch_node(sch, r->block);
    for (uint32_t i = 0; i < old.u.block.block->axis_count; i++) {
        hone_axis axis = old.u.block.block->axes[i];
        if (axis.kind != HONE_AXIS_SPATIAL) continue;
        const hone_expr *binding = old.u.block.bindings[i];
        if (loop_map) {
            binding = hone_expr_substitute(&sch->ir, binding, loop_map, loop_map_count);
        }
        const hone_expr *var = NULL;
        HONE_TRY(add_axis(r, d, sch->func->vars[axis.var].name, HONE_AXIS_SPATIAL, axis.dom,
                          binding, &var));
        d->map[axis.var] = var;
    }
    return HONE_OK;
}

static hone_node_id make_store(rfactoring *r, hone_buffer buffer, uint32_t rank,
                               const hone_expr *const *indices, const hone_expr *value) {
    hone_node_id id = hone_func_add_node(r->sch->func, HONE_NODE_STORE);
    if (id == HONE_NO_ID || !value || !indices) return HONE_NO_ID;
    hone_node *node = sch_node(r->sch, id);
    node->u.store.buffer = buffer;
    node->u.store.rank = rank;
    node->u.store.indices = indices;
    node->u.store.value = value;
    return id;
}

/* Puts a drafted block together: init stores identity, body stores load op rhs. */
static hone_status finish_block(rfactoring *r, draft *d, hone_buffer buffer, uint32_t rank,
                                const hone_expr *const *indices, const hone_expr *rhs,
                                const hone_expr *predicate, hone_node_id block) {
    hone_schedule *sch = r->sch;
    hone_block *copy = hone_block_copy(sch->arena, &d->block);
    if (!copy || !indices) return sch_no_memory();
    copy->axes = d->axes;
    copy->axis_count = d->count;
    const hone_expr *load = hone_func_load(&sch->ir, sch->func, buffer, indices);
    const hone_expr *value = hone_expr_binary(&sch->ir, r->reducer, load, rhs);
    hone_node_id init = hone_func_add_node(sch->func, HONE_NODE_INIT);
    hone_node_id init_store = make_store(r, buffer, rank, indices, r->identity);
    hone_node_id store = make_store(r, buffer, rank, indices, value);
    HONE_TRY(sch_ir_error(sch));
    if (init == HONE_NO_ID || init_store == HONE_NO_ID || store == HONE_NO_ID) {
        return sch_no_memory();
    }
    while (sch_node(sch, block)->first != HONE_NO_ID) {
        hone_tree_remove(sch->func, sch_node(sch, block)->first);
    }
    hone_tree_append(sch->func, init, init_store);
    hone_tree_append(sch->func, block, init);
    hone_tree_append(sch->func, block, store);
    hone_node *node = sch_node(sch, block);
    node->u.block.block = copy;
    node->u.block.bindings = d->bindings;
    node->u.block.predicate = predicate;
    sch_forget_affine(sch, block);
    return sch_update_regions(sch, block);
}

/* The first block, in the old nest. Reduce loops become reduce axes of their own, except the
 * factored loop, which becomes a spatial axis. */
static hone_status make_rf_block(rfactoring *r, hone_node_id rf) {
    hone_schedule *sch = r->sch;
    const hone_node old = *sch_node(sch, r->block);
    const hone_block *from = old.u.block.block;
    draft d;
    HONE_TRY(start_draft(r, sch_name(sch, from->name, "_rf", -1), &d));
    uint32_t var_count = sch->func->var_count;
    const hone_expr **loop_map = hone_arena_zalloc(sch->arena, (var_count + 1) * sizeof *loop_map);
    if (!loop_map) return sch_no_memory();
    const hone_expr *new_axis = NULL;
    for (uint32_t i = 0; i < r->loop_count; i++) {
        const hone_node loop = *sch_node(sch, r->loops[i]);
        hone_var var = loop.u.loop.var;
        if (r->loops[i] != r->loop && type_in_block(sch, r->block, var) != SCH_LOOP_REDUCE)
            continue;
        hone_axis_kind kind = r->loops[i] == r->loop ? HONE_AXIS_SPATIAL : HONE_AXIS_REDUCE;
        const hone_expr *axis = NULL;
        HONE_TRY(add_axis(r, &d, sch_name(sch, "v", sch->func->vars[var].name, -1), kind,
                          loop.u.loop.range, sch_var(sch, var), &axis));
        loop_map[var] = axis;
        if (r->loops[i] == r->loop) new_axis = axis;
    }
    HONE_TRY(add_spatial_axes(r, &d, NULL, 0));
    for (uint32_t i = 0; i < from->axis_count; i++) {
        if (from->axes[i].kind != HONE_AXIS_REDUCE) continue;
        d.map[from->axes[i].var] =
            hone_expr_substitute(&sch->ir, old.u.block.bindings[i], loop_map, var_count);
    }
    const hone_node store = *sch_node(sch, r->store);
    uint32_t rank = store.u.store.rank;
    const hone_expr **indices = insert_at(sch, rank, store.u.store.indices, r->axis, new_axis);
    for (uint32_t i = 0; indices && i <= rank; i++) {
        indices[i] = hone_expr_substitute(&sch->ir, indices[i], d.map, var_count);
    }
    const hone_expr *rhs = hone_expr_substitute(&sch->ir, r->rhs, d.map, var_count);
    return finish_block(r, &d, r->rf_buffer, rank + 1, indices, rhs, old.u.block.predicate, rf);
}

/* The parts of the predicate that say nothing of reduce loops. */
static const hone_expr *spatial_conditions(rfactoring *r, const hone_expr *e,
                                           const hone_expr *const *map, uint32_t count) {
    if (!e) return NULL;
    if (hone_expr_is_op(e, HONE_OP_AND)) {
        const hone_expr *a = spatial_conditions(r, e->args[0], map, count);
        const hone_expr *b = spatial_conditions(r, e->args[1], map, count);
        if (!a || !b) return a ? a : b;
        return hone_expr_binary(&r->sch->ir, HONE_OP_AND, a, b);
    }
    for (uint32_t i = 0; i < r->loop_count; i++) {
        hone_var var = sch_node(r->sch, r->loops[i])->u.loop.var;
        if (!map[var] && hone_expr_uses_var(e, var)) return NULL;
    }
    return hone_expr_substitute(&r->sch->ir, e, map, count);
}

/* The second block, in a nest of its own behind the old one: spatial loops and the factored one. */
static hone_status make_final_block(rfactoring *r) {
    hone_schedule *sch = r->sch;
    const hone_node old = *sch_node(sch, r->block);
    draft d;
    HONE_TRY(start_draft(r, old.u.block.block->name, &d));
    uint32_t var_count = sch->func->var_count;
    const hone_expr **loop_map = hone_arena_zalloc(sch->arena, (var_count + 1) * sizeof *loop_map);
    if (!loop_map) return sch_no_memory();
    hone_node_id top = HONE_NO_ID, bottom = HONE_NO_ID;
    hone_range factored = sch_node(sch, r->loop)->u.loop.range;
    const hone_expr *loop_var = NULL;
    for (uint32_t i = 0; i < r->loop_count; i++) {
        const hone_node loop = *sch_node(sch, r->loops[i]);
        hone_var var = loop.u.loop.var;
        if (r->loops[i] != r->loop && type_in_block(sch, r->block, var) == SCH_LOOP_REDUCE)
            continue;
        const hone_var_info info = sch->func->vars[var];
        hone_node_id copy = sch_make_loop(sch, info.name, info.dtype, loop.u.loop.range.extent);
        if (copy == HONE_NO_ID) return sch_no_memory();
        sch_node(sch, copy)->loop_kind = loop.loop_kind;
        sch_node(sch, copy)->u.loop.thread_tag = loop.u.loop.thread_tag;
        loop_map[var] = sch_var(sch, sch_node(sch, copy)->u.loop.var);
        if (r->loops[i] == r->loop) loop_var = loop_map[var];
        if (bottom == HONE_NO_ID) {
            top = copy;
        } else {
            hone_tree_append(sch->func, bottom, copy);
        }
        bottom = copy;
    }
    const hone_expr *reduce = NULL;
    const char *name = sch->func->vars[sch_node(sch, r->loop)->u.loop.var].name;
    HONE_TRY(add_axis(r, &d, sch_name(sch, "v", name, -1), HONE_AXIS_REDUCE, factored, loop_var,
                      &reduce));
    HONE_TRY(add_spatial_axes(r, &d, loop_map, var_count));
    const hone_node store = *sch_node(sch, r->store);
    uint32_t rank = store.u.store.rank;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t i = 0; i < rank; i++) {
        indices[i] = hone_expr_substitute(&sch->ir, store.u.store.indices[i], d.map, var_count);
    }
    const hone_expr **rf_indices = insert_at(sch, rank, indices, r->axis, reduce);
    if (!rf_indices) return sch_no_memory();
    const hone_expr *rhs = hone_func_load(&sch->ir, sch->func, r->rf_buffer, rf_indices);
    const hone_expr *predicate = spatial_conditions(r, old.u.block.predicate, loop_map, var_count);
    hone_tree_remove(sch->func, r->block);
    hone_tree_append(sch->func, bottom, r->block);
    hone_tree_insert_after(sch->func, r->top, top);
    return finish_block(r, &d, r->buffer, rank, indices, rhs, predicate, r->block);
}

hone_status hone_sch_rfactor(hone_schedule *sch, hone_rv loop_rv, int64_t factor_axis,
                             hone_rv *out_rf) {
    rfactoring r = {.sch = sch};
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &r.loop));
    HONE_TRY(check_block(&r));
    HONE_TRY(match_reducer(&r));
    int64_t rank = sch_node(sch, r.store)->u.store.rank;
    if (factor_axis < -(rank + 1) || factor_axis > rank) {
        return sch_refuse(sch, r.block, "factor_axis is %lld, must be from %lld to %lld",
                          (long long)factor_axis, (long long)(-(rank + 1)), (long long)rank);
    }
    r.axis = (uint32_t)(factor_axis < 0 ? factor_axis + rank + 1 : factor_axis);
    HONE_TRY(make_buffer(&r));
    hone_node_id rf = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    if (rf == HONE_NO_ID) return sch_no_memory();
    hone_node_id bottom = r.loops[r.loop_count - 1];
    HONE_TRY(make_rf_block(&r, rf));
    HONE_TRY(make_final_block(&r));
    hone_tree_append(sch->func, bottom, rf);
    hone_operand input = SCH_RV(loop_rv);
    hone_value attr = HONE_VALUE_OF_INT(factor_axis);
    hone_rv_value value = {.kind = HONE_RV_BLOCK, .node = rf};
    return sch_record(sch, HONE_INST_RFACTOR, 1, &input, 1, &attr, 1, &value, SCH_NO_DECISION,
                      out_rf);
}
