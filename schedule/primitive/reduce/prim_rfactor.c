/* schedule/primitive/reduce/prim_rfactor.c - rfactor: splits a reduction in two. The loop becomes a
 * spatial axis of a first block that reduces into a new buffer with one more dimension; a second
 * block reduces that dimension.
 *
 *     for i, ko, ki: with block B: init: B[i] = 0; B[i] += A[i, ko*8+ki]        rfactor(ko, 0)
 *  →  for i, ko, ki: with block B_rf: init: B_rf[ko, i] = 0; B_rf[ko, i] += A[i, ko*8+ki]
 *     for i, ko:     with block B:    init: B[i] = 0; B[i] += B_rf[ko, i]
 *
 * The first block gets a nest of its own before the old one; where no reduce axis is left to it, it
 * has no init and stores what it would have added. The old loops stay with the second block, but
 * for those that it no longer needs.
 *
 * Under a predicate on its reduce loops (ki*3 + ko < 2) an element of the new buffer might get no
 * value. The first block then runs always, and where the predicate does not hold it adds the
 * identity: B_rf[ko, i] += if_then_else(ki*3 + ko < 2, A[i, ki*3+ko], 0).
 *
 * Checks: the loop is serial and feeds reduce axes only (or runs once and feeds nothing), no loop
 * feeds both kinds; one block is below it, a reduction (reducer.h says which), in a scope that is a
 * pipeline of stages; it is the first block of its nest, which from the first reduce loop on holds
 * nothing else; what it makes in loops that run at once can be seen outside of them; the new axis
 * fits in the buffer; each element of the new buffer gets a value in spite of the predicate.
 */
#include "ir/verify/verify.h"
#include "schedule/primitive/primitive_impl.h"
#include "schedule/primitive/reduce/rfactor.h"
#include "schedule/state/init_nest.h"

/* ---- checks ---- */

static sch_loop_type type_in_block(const hone_schedule *sch, hone_node_id block, hone_var var) {
    if (!sch_feeds_axis(sch, block, var, HONE_AXIS_REDUCE)) return SCH_LOOP_DATA_PARALLEL;
    bool spatial = sch_feeds_axis(sch, block, var, HONE_AXIS_SPATIAL);
    return spatial ? SCH_LOOP_OPAQUE : SCH_LOOP_REDUCE;
}

/* A reduction has no other axes. */
static bool feeds_nothing(const hone_schedule *sch, hone_node_id block, hone_var var) {
    return !sch_feeds_axis(sch, block, var, HONE_AXIS_SPATIAL) &&
           !sch_feeds_axis(sch, block, var, HONE_AXIS_REDUCE);
}

/* Feeds reduce axes; the factored loop may feed nothing if it runs once. */
bool sch_rfactor_reduces(const rfactoring *r, hone_node_id loop) {
    const hone_node *node = sch_node(r->sch, loop);
    hone_var var = node->u.loop.var;
    if (type_in_block(r->sch, r->block, var) == SCH_LOOP_REDUCE) return true;
    return loop == r->loop && hone_expr_is_int_value(node->u.loop.range.extent, 1) &&
           feeds_nothing(r->sch, r->block, var);
}

static hone_status check_loop(rfactoring *r, uint32_t i, bool is_inside_reduction) {
    hone_schedule *sch = r->sch;
    const hone_node *node = sch_node(sch, r->loops[i]);
    if (is_inside_reduction && node->first != node->last) {
        return sch_refuse(sch, r->loops[i], "%s holds more than the nest of %s",
                          sch_loop_name(sch, r->loops[i]), sch_block_name(sch, r->block));
    }
    if (is_inside_reduction && r->loops[i] != r->loop &&
        !hone_expr_is_int_value(node->u.loop.range.extent, 1) &&
        feeds_nothing(sch, r->block, node->u.loop.var)) {
        return sch_refuse(sch, r->loops[i], "%s repeats %s, and would repeat its sums",
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
    bool runs_at_once =
        node->loop_kind != HONE_LOOP_SERIAL && node->loop_kind != HONE_LOOP_UNROLLED;
    if (runs_at_once && feeds_nothing(sch, r->block, node->u.loop.var) &&
        !hone_expr_is_int_value(node->u.loop.range.extent, 1)) {
        return sch_refuse(sch, r->loops[i],
                          "%s runs its iterations at once, which would share the new buffer",
                          sch_loop_name(sch, r->loops[i]));
    }
    sch_loop_type type = type_in_block(sch, r->block, node->u.loop.var);
    if (type == SCH_LOOP_OPAQUE) {
        return sch_refuse(sch, r->loops[i], "%s feeds both spatial and reduce axes",
                          sch_loop_name(sch, r->loops[i]));
    }
    if (r->loops[i] == r->loop && !sch_rfactor_reduces(r, r->loop)) {
        return sch_refuse(sch, r->loop, "%s feeds no reduce axis", sch_loop_name(sch, r->loop));
    }
    return HONE_OK;
}

static hone_status check_loops(rfactoring *r) {
    hone_schedule *sch = r->sch;
    HONE_TRY(sch_loops_of(sch, r->block, &r->loop_count, &r->loops));
    hone_node_id first = sch_next_block(sch, r->loops[0], r->loops[0]);
    if (first != r->block) {
        return sch_refuse(sch, first, "%s stands before %s in %s", sch_block_name(sch, first),
                          sch_block_name(sch, r->block), sch_loop_name(sch, r->loops[0]));
    }
    bool is_inside_reduction = false;
    for (uint32_t i = 0; i < r->loop_count; i++) {
        is_inside_reduction = is_inside_reduction || sch_rfactor_reduces(r, r->loops[i]);
        HONE_TRY(check_loop(r, i, is_inside_reduction));
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

/* ---- the new buffers ---- */

static const hone_expr **insert_at(hone_schedule *sch, uint32_t count, const hone_expr *const *list,
                                   uint32_t at, const hone_expr *item) {
    const hone_expr **out = hone_arena_alloc(sch->arena, (count + 1) * sizeof *out);
    if (!out) return NULL;
    for (uint32_t i = 0, k = 0; i <= count; i++)
        out[i] = i == at ? item : list[k++];
    return out;
}

static hone_status make_buffers(rfactoring *r) {
    hone_schedule *sch = r->sch;
    const hone_expr *extent = sch_node(sch, r->loop)->u.loop.range.extent;
    for (uint32_t i = 0; i < r->reducer.count; i++) {
        const hone_buffer_info old = *hone_func_buffer(sch->func, r->reducer.buffers[i]);
        const hone_expr **shape = insert_at(sch, old.rank, old.shape, r->axis, extent);
        if (!shape) return sch_no_memory();
        r->rf_buffers[i] = sch_make_buffer(sch, sch_name(sch, old.name, ".rf", -1), old.dtype,
                                           old.rank + 1, shape, old.scope);
        if (r->rf_buffers[i] == HONE_NO_ID) return sch_no_memory();
        HONE_TRY(sch_add_alloc(sch, r->scope, r->rf_buffers[i]));
    }
    return HONE_OK;
}

/* ---- blocks ---- */

static hone_status start_draft(rfactoring *r, rfactor_draft *d) {
    hone_schedule *sch = r->sch;
    uint32_t room = sch_block(sch, r->block)->axis_count + r->loop_count + 1;
    *d = (rfactor_draft){0};
    d->map = hone_arena_zalloc(sch->arena, (r->var_count + 1) * sizeof *d->map);
    return d->map ? sch_begin_draft(sch, room, &d->block) : sch_no_memory();
}

static hone_status add_axis(rfactoring *r, rfactor_draft *d, const char *name, hone_axis_kind kind,
                            hone_range dom, const hone_expr *binding, const hone_expr **out_var) {
    hone_schedule *sch = r->sch;
    HONE_TRY(sch_draft_axis(sch, &d->block, name, kind, dom, binding));
    d->has_reduce = d->has_reduce || kind == HONE_AXIS_REDUCE;
    *out_var = d->block.vars[d->block.count - 1];
    return HONE_OK;
}

/* An axis for a loop, named after it. */
static hone_status add_loop_axis(rfactoring *r, rfactor_draft *d, hone_node_id loop,
                                 hone_axis_kind kind, const hone_expr *binding,
                                 const hone_expr **out_var) {
    const hone_node node = *sch_node(r->sch, loop);
    const char *name = r->sch->func->vars[node.u.loop.var].name;
    return add_axis(r, d, sch_name(r->sch, "v", name, -1), kind, node.u.loop.range, binding,
                    out_var);
}

/* Puts a drafted block together in place of what the block holds. */
static hone_status finish_block(rfactoring *r, rfactor_draft *d, const char *name,
                                hone_node_id block, const hone_buffer *buffers, uint32_t rank,
                                const hone_expr *const *indices, const hone_expr *const *rhs,
                                const hone_expr *predicate) {
    hone_schedule *sch = r->sch;
    const hone_block made = {.name = name,
                             .axes = d->block.axes,
                             .axis_count = d->block.count,
                             .annotations = sch_block(sch, r->block)->annotations};
    hone_block *copy = hone_block_copy(sch->arena, &made);
    if (!copy || !name || !indices) return sch_no_memory();
    while (sch_node(sch, block)->first != HONE_NO_ID) {
        hone_tree_remove(sch->func, sch_node(sch, block)->first);
    }
    HONE_TRY(sch_reducer_fill(sch, &r->reducer, block, buffers, rank, indices, rhs, d->has_reduce));
    hone_node *node = sch_node(sch, block);
    node->u.block.block = copy;
    node->u.block.bindings = d->block.nest.bindings;
    node->u.block.predicate = predicate;
    sch_forget_affine(sch, block);
    return sch_update_regions(sch, block);
}

/* An axis is divided into one for each loop that feeds it, the factored one excepted;
 * axis_of: those made so far by loop variable. */
static hone_status split_axis(rfactoring *r, rfactor_draft *d, uint32_t i,
                              const hone_expr **axis_of) {
    hone_schedule *sch = r->sch;
    const hone_node old = *sch_node(sch, r->block);
    const hone_expr *binding = old.u.block.bindings[i];
    uint32_t loop_count = 0;
    const hone_node_id *loops = NULL;
    HONE_TRY(sch_rfactor_loops_of_axis(r, i, &loop_count, &loops));
    for (uint32_t k = 0; k < loop_count; k++) {
        hone_var var = sch_node(sch, loops[k])->u.loop.var;
        if (axis_of[var]) continue;
        HONE_TRY(add_loop_axis(r, d, loops[k], HONE_AXIS_REDUCE, r->fresh[var], &axis_of[var]));
    }
    d->map[old.u.block.block->axes[i].var] =
        hone_expr_substitute(&sch->ir, binding, axis_of, r->var_count);
    return sch_ir_error(sch);
}

static hone_status keep_axis(rfactoring *r, rfactor_draft *d, uint32_t i,
                             const hone_expr *binding) {
    hone_axis axis = sch_block(r->sch, r->block)->axes[i];
    return add_axis(r, d, r->sch->func->vars[axis.var].name, axis.kind, axis.dom, binding,
                    &d->map[axis.var]);
}

/* The first block reads what the old one said that it reads, at the new axes; the sums, if it said
 * so of them, are others now. */
static hone_status carry_reads(rfactoring *r, const rfactor_draft *d, hone_node_id rf) {
    hone_schedule *sch = r->sch;
    const hone_block *old = sch_block(sch, r->block);
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, rf));
    hone_region *reads = hone_arena_alloc(sch->arena, (old->read_count + 1) * sizeof *reads);
    if (!block || !reads) return sch_no_memory();
    for (uint32_t i = 0; i < old->read_count; i++) {
        uint32_t rank = hone_func_buffer(sch->func, old->reads[i].buffer)->rank;
        hone_range *ranges = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *ranges);
        if (!ranges) return sch_no_memory();
        for (uint32_t k = 0; k < r->reducer.count; k++) {
            if (old->reads[i].buffer == r->reducer.buffers[k]) return HONE_OK;
        }
        for (uint32_t n = 0; n < rank; n++) {
            hone_range range = old->reads[i].ranges[n];
            ranges[n].min = hone_expr_substitute(&sch->ir, range.min, d->map, r->var_count);
            ranges[n].extent = hone_expr_substitute(&sch->ir, range.extent, d->map, r->var_count);
        }
        reads[i] = (hone_region){old->reads[i].buffer, ranges};
    }
    block->reads = reads;
    block->read_count = old->read_count;
    sch_node(sch, rf)->u.block.block = block;
    return sch_ir_error(sch);
}

/* The first block: the factored loop is its first axis. */
static hone_status make_rf_block(rfactoring *r, hone_node_id rf) {
    hone_schedule *sch = r->sch;
    const hone_node old = *sch_node(sch, r->block);
    rfactor_draft d;
    HONE_TRY(start_draft(r, &d));
    const hone_expr **axis_of = hone_arena_zalloc(sch->arena, (r->var_count + 1) * sizeof *axis_of);
    hone_var factored = sch_node(sch, r->loop)->u.loop.var;
    const bool *is_divided = sch_rfactor_split_axes(r);
    if (!axis_of || !is_divided) return sch_no_memory();
    HONE_TRY(
        add_loop_axis(r, &d, r->loop, HONE_AXIS_SPATIAL, r->fresh[factored], &axis_of[factored]));
    for (uint32_t i = 0; i < old.u.block.block->axis_count; i++) {
        const hone_expr *binding = old.u.block.bindings[i];
        if (is_divided[i]) {
            HONE_TRY(split_axis(r, &d, i, axis_of));
        } else {
            binding = hone_expr_substitute(&sch->ir, binding, r->fresh, r->var_count);
            HONE_TRY(keep_axis(r, &d, i, binding));
        }
    }
    uint32_t rank = r->reducer.rank;
    const hone_expr **indices =
        insert_at(sch, rank, r->reducer.indices, r->axis, axis_of[factored]);
    for (uint32_t i = 0; indices && i <= rank; i++)
        indices[i] = hone_expr_substitute(&sch->ir, indices[i], d.map, r->var_count);
    const hone_expr *rhs[SCH_REDUCER_BUFFERS];
    for (uint32_t i = 0; i < r->reducer.count; i++)
        rhs[i] = hone_expr_substitute(&sch->ir, r->reducer.rhs[i], d.map, r->var_count);
    const hone_expr *predicate = old.u.block.predicate;
    if (r->is_guarded) {
        HONE_TRY(sch_rfactor_guard(r, &d, is_divided, axis_of, rhs));
        predicate = sch_rfactor_staying_part(r, predicate);
    }
    if (predicate) {
        predicate = hone_expr_substitute(&sch->ir, predicate, r->fresh, r->var_count);
    }
    HONE_TRY(finish_block(r, &d, sch_name(sch, old.u.block.block->name, "_rf", -1), rf,
                          r->rf_buffers, rank + 1, indices, rhs, predicate));
    return r->is_guarded ? HONE_OK : carry_reads(r, &d, rf);
}

/* The second block keeps the old loops but those that only the first one reduces over. */
static void drop_loops(rfactoring *r) {
    hone_schedule *sch = r->sch;
    for (uint32_t i = 0; i < r->loop_count; i++) {
        if (r->loops[i] == r->loop || !sch_rfactor_reduces(r, r->loops[i])) continue;
        hone_node_id child = sch_node(sch, r->loops[i])->first;
        hone_tree_remove(sch->func, child);
        hone_tree_replace(sch->func, r->loops[i], child);
    }
}

/* The second block reads the new buffers, and names them in the order in which it writes. */
static hone_status order_reads(const rfactoring *r) {
    hone_schedule *sch = r->sch;
    hone_block *block = hone_block_copy(sch->arena, sch_block(sch, r->block));
    hone_region *reads =
        block ? hone_arena_copy(sch->arena, block->reads, block->read_count * sizeof *reads) : NULL;
    if (!reads) return sch_no_memory();
    uint32_t done = 0;
    for (uint32_t i = 0; i < r->reducer.count; i++) {
        for (uint32_t k = done; k < block->read_count; k++) {
            if (reads[k].buffer != r->rf_buffers[i]) continue;
            hone_region found = reads[k];
            reads[k] = reads[done];
            reads[done++] = found;
            break;
        }
    }
    block->reads = reads;
    sch_node(sch, r->block)->u.block.block = block;
    return HONE_OK;
}

static hone_status make_final_block(rfactoring *r) {
    hone_schedule *sch = r->sch;
    const hone_block *old = sch_block(sch, r->block);
    const hone_node node = *sch_node(sch, r->block);
    rfactor_draft d;
    HONE_TRY(start_draft(r, &d));
    const hone_expr *reduce = NULL;
    HONE_TRY(add_loop_axis(r, &d, r->loop, HONE_AXIS_REDUCE,
                           sch_var(sch, sch_node(sch, r->loop)->u.loop.var), &reduce));
    for (uint32_t i = 0; i < old->axis_count; i++) {
        if (old->axes[i].kind != HONE_AXIS_SPATIAL) continue;
        HONE_TRY(keep_axis(r, &d, i, node.u.block.bindings[i]));
    }
    uint32_t rank = r->reducer.rank;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t i = 0; i < rank; i++) {
        indices[i] = hone_expr_substitute(&sch->ir, r->reducer.indices[i], d.map, r->var_count);
    }
    const hone_expr **rf_indices = insert_at(sch, rank, indices, r->axis, reduce);
    if (!rf_indices) return sch_no_memory();
    const hone_expr *rhs[SCH_REDUCER_BUFFERS];
    for (uint32_t i = 0; i < r->reducer.count; i++)
        rhs[i] = hone_func_load(&sch->ir, sch->func, r->rf_buffers[i], rf_indices);
    const hone_expr *predicate = sch_rfactor_spatial_part(r, node.u.block.predicate);
    drop_loops(r);
    HONE_TRY(finish_block(r, &d, old->name, r->block, r->reducer.buffers, rank, indices, rhs,
                          predicate));
    return order_reads(r);
}

static hone_status split_reduction(rfactoring *r, hone_node_id *out_rf) {
    hone_schedule *sch = r->sch;
    hone_node_id rf = hone_func_add_node(sch->func, HONE_NODE_BLOCK);
    sch_nest nest = {.top = HONE_NO_ID, .bottom = HONE_NO_ID};
    r->var_count = sch->func->var_count;
    r->fresh = hone_arena_zalloc(sch->arena, (r->var_count + 1) * sizeof *r->fresh);
    if (rf == HONE_NO_ID || !r->fresh) return sch_no_memory();
    HONE_TRY(make_buffers(r));
    for (uint32_t i = 0; i < r->loop_count; i++)
        HONE_TRY(sch_nest_copy_loop(sch, &nest, r->loops[i], "", r->fresh, r->var_count));
    HONE_TRY(make_rf_block(r, rf));
    hone_tree_append(sch->func, nest.bottom, rf);
    hone_tree_insert_before(sch->func, r->loops[0], nest.top);
    HONE_TRY(make_final_block(r));
    *out_rf = rf;
    return HONE_OK;
}

/* Under a condition on reduce loops the new axes may have values that no iteration gives them. */
static hone_status split_and_check(rfactoring *r, hone_node_id *out_rf) {
    HONE_TRY(split_reduction(r, out_rf));
    hone_status st = hone_check_func(r->sch->func);
    if (!st) return HONE_OK;
    hone_status refusal =
        sch_refuse(r->sch, r->block, "the predicate of %s allows no such axes: %s",
                   sch_block_name(r->sch, r->block), hone_status_message(st));
    hone_status_free(st);
    return refusal;
}

hone_status hone_sch_rfactor(hone_schedule *sch, hone_rv loop_rv, int64_t factor_axis,
                             hone_rv *out_rf) {
    rfactoring r = {.sch = sch};
    hone_node_id rf;
    HONE_TRY(sch_resolve_loop(sch, loop_rv, &r.loop));
    HONE_TRY(check_block(&r));
    HONE_TRY(sch_require_visible(sch, r.block, r.scope));
    HONE_TRY(sch_reducer_match(sch, r.block, &r.reducer));
    HONE_TRY(sch_rfactor_check_predicate(&r));
    int64_t rank = r.reducer.rank;
    if (factor_axis < -(rank + 1) || factor_axis > rank) {
        return sch_refuse(sch, r.block, "factor_axis is %lld, must be from %lld to %lld",
                          (long long)factor_axis, (long long)(-(rank + 1)), (long long)rank);
    }
    r.axis = (uint32_t)(factor_axis < 0 ? factor_axis + rank + 1 : factor_axis);
    if (r.cuts_reduction) {
        hone_func *saved = NULL;
        HONE_TRY(sch_begin_trial(sch, &saved));
        HONE_TRY(sch_end_trial(sch, saved, split_and_check(&r, &rf)));
    } else {
        HONE_TRY(split_reduction(&r, &rf));
    }
    return sch_record_node(sch, HONE_INST_RFACTOR, SCH_ARGS(SCH_RV(loop_rv), SCH_INT(factor_axis)),
                           rf, out_rf);
}

SCH_STEP(RFACTOR, hone_sch_rfactor(sch, a[0].rv, a[1].number, NULL), .gives = HONE_GIVES_BLOCK,
         .args = {SCH_ARG_LOOP(0), SCH_ARG_INT("factor_axis", 0)});
