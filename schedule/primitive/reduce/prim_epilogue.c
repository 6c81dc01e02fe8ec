/* schedule/primitive/reduce/prim_epilogue.c - fuse_reduction_epilogue: lets a reduction begin with
 * what a block behind it would add.
 *
 *     init: C[i] = 0;  C[i] += A[i, k]                       D[i] = C[i] + E[i]
 *  →  init: D[i] = E[i];  D[i] += A[i, k]
 *
 * The same for products, min and max, when the epilogue applies the operation of the reduction once
 * more; for a sum also D = C - E, and for all of them D = C. (Sums of floats are added in another
 * order.) What TVM also takes and is wrong is refused: relu or clip behind a sum, which it applies
 * in every step, and epilogues that read the result elsewhere. The buffer of the result stays
 * allocated, as in TVM; lowering drops it.
 *
 * Checks: the reduction is a sum, product, min or max that begins with its identity; the epilogue
 * is complete, without a predicate, with one store that runs over all its axes, and loads the
 * result once, at one axis per dimension over the whole buffer; nobody else reads the result, which
 * is local; all else that the epilogue reads is there before the reduction begins.
 */
#include "schedule/primitive/primitive_impl.h"
#include "schedule/primitive/reduce/reducer.h"

typedef struct fusing {
    hone_schedule *sch;
    hone_node_id block, epilogue, scope;
    hone_node_id store; /* of the epilogue */
    sch_one_reduction reducer;
    const hone_expr *load;  /* of the result, in the epilogue */
    const hone_expr *start; /* what the reduction begins with, over the epilogue's axes */
    uint32_t load_count;
} fusing;

static hone_status check_blocks(fusing *f) {
    hone_schedule *sch = f->sch;
    const char *why = NULL;
    f->scope = sch_scope_of(sch, f->block);
    if (f->scope == HONE_NO_ID || sch_scope_of(sch, f->epilogue) != f->scope) {
        return sch_refuse(sch, f->epilogue, "%s and %s are not in the same scope",
                          sch_block_name(sch, f->block), sch_block_name(sch, f->epilogue));
    }
    HONE_TRY(sch_require_pipeline(sch, f->scope));
    if (sch_classify(sch, f->block, f->scope, &why) != SCH_BLOCK_REDUCTION) {
        return sch_refuse(sch, f->block, "%s is not a reduction: %s", sch_block_name(sch, f->block),
                          why ? why : "it has no init");
    }
    HONE_TRY(sch_match_one_reduction(sch, f->block, &f->reducer));
    if (sch_classify(sch, f->epilogue, f->scope, &why) != SCH_BLOCK_COMPLETE) {
        return sch_refuse(sch, f->epilogue, "%s is not complete: %s",
                          sch_block_name(sch, f->epilogue), why ? why : "it is a reduction");
    }
    const hone_expr *predicate = sch_node(sch, f->epilogue)->u.block.predicate;
    if (predicate && !hone_expr_is_int_value(predicate, 1)) {
        return sch_refuse(sch, f->epilogue, "%s has a predicate", sch_block_name(sch, f->epilogue));
    }
    f->store = sch_single_store(sch, f->epilogue);
    if (f->store != HONE_NO_ID && sch_block(sch, f->epilogue)->write_count == 1) return HONE_OK;
    return sch_refuse(sch, f->epilogue, "the body of %s is not a single store",
                      sch_block_name(sch, f->epilogue));
}

/* Nobody writes the result any more: it must be local, and for the epilogue alone. */
static hone_status check_result(fusing *f) {
    hone_schedule *sch = f->sch;
    hone_buffer buffer = f->reducer.buffer;
    uint32_t count = 0;
    const hone_node_id *readers = NULL;
    HONE_TRY(sch_require_no_views(sch, f->block, buffer));
    HONE_TRY(sch_require_declared(sch, buffer));
    if (sch_is_output_block(sch, f->block)) {
        return sch_refuse(sch, f->block, "%s writes an output of the function",
                          sch_block_name(sch, f->block));
    }
    HONE_TRY(sch_consumers(sch, f->block, &count, &readers));
    for (uint32_t i = 0; i < count; i++) {
        if (readers[i] == f->epilogue) continue;
        return sch_refuse(sch, readers[i], "%s also reads '%s'", sch_block_name(sch, readers[i]),
                          sch_buffer_name(sch, buffer));
    }
    if (count) return HONE_OK;
    return sch_refuse(sch, f->epilogue, "%s does not read '%s'", sch_block_name(sch, f->epilogue),
                      sch_buffer_name(sch, buffer));
}

static bool find_load(void *ctx, const hone_expr *e) {
    fusing *f = ctx;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer == f->reducer.buffer) {
        f->load = e;
        f->load_count++;
    }
    return true;
}

/* Finds f in C op f, and what the reduction shall begin with. */
static hone_status match_epilogue(fusing *f) {
    hone_schedule *sch = f->sch;
    const hone_node *store = sch_node(sch, f->store);
    const hone_expr *value = store->u.store.value;
    const char *name = sch_buffer_name(sch, f->reducer.buffer);
    hone_expr_walk(value, find_load, f);
    for (uint32_t d = 0; d < store->u.store.rank; d++)
        hone_expr_walk(store->u.store.indices[d], find_load, f);
    if (f->load_count != 1) {
        return sch_refuse(sch, f->epilogue, "%s loads '%s' %u times, must load it once",
                          sch_block_name(sch, f->epilogue), name, f->load_count);
    }
    if (value == f->load) {
        f->start = f->reducer.identity;
        return HONE_OK;
    }
    bool is_same = value->kind == HONE_EXPR_BINARY && value->op == f->reducer.op;
    if (is_same && value->args[0] == f->load) f->start = value->args[1];
    if (is_same && value->args[1] == f->load) f->start = value->args[0];
    if (f->reducer.op == HONE_OP_ADD && hone_expr_is_op(value, HONE_OP_SUB) &&
        value->args[0] == f->load) {
        f->start = hone_expr_sub(&sch->ir, f->reducer.identity, value->args[1]);
    }
    if (f->start) return HONE_OK;
    return sch_refuse(sch, f->epilogue,
                      "%s does more to '%s' than the operation of %s once more: applied in each "
                      "step, it would give another result",
                      sch_block_name(sch, f->epilogue), name, sch_block_name(sch, f->block));
}

static bool is_whole_axis(hone_schedule *sch, hone_node_id block, hone_var var,
                          const hone_expr *extent) {
    const hone_node *node = sch_node(sch, block);
    for (uint32_t a = 0; a < node->u.block.block->axis_count; a++) {
        const hone_axis *axis = &node->u.block.block->axes[a];
        if (axis->var != var) continue;
        hone_bound bound = hone_arith_bound(&sch->arith, node->u.block.bindings[a]);
        int64_t length = hone_expr_const(axis->dom.extent);
        bool is_all = length >= 0 ? bound.min <= 0 && bound.max >= length - 1
                                  : node->u.block.bindings[a]->kind == HONE_EXPR_VAR;
        return is_all && hone_expr_is_int_value(axis->dom.min, 0) &&
               hone_prove_equal(&sch->arith, axis->dom.extent, extent);
    }
    return false;
}

/* One axis per dimension, over all of it; each axis is used. The map leads from the epilogue's axes
 * to the indices at which the reduction stores. */
static hone_status map_axes(fusing *f, const hone_expr **map) {
    hone_schedule *sch = f->sch;
    const hone_buffer_info *buffer = hone_func_buffer(sch->func, f->reducer.buffer);
    const hone_node *store = sch_node(sch, f->reducer.store);
    const hone_block *epilogue = sch_block(sch, f->epilogue);
    bool fits = sch_has_affine_bindings(sch, f->epilogue);
    for (uint32_t d = 0; d < buffer->rank && fits; d++) {
        const hone_expr *index = f->load->args[d];
        bool is_only =
            hone_expr_is_int_value(index, 0) && hone_expr_is_int_value(buffer->shape[d], 1);
        if (is_only) continue;
        fits = index->kind == HONE_EXPR_VAR && !map[index->u.var] &&
               is_whole_axis(sch, f->epilogue, index->u.var, buffer->shape[d]);
        if (fits) {
            map[index->u.var] = hone_expr_cast(&sch->ir, index->dtype, store->u.store.indices[d]);
        }
    }
    for (uint32_t a = 0; a < epilogue->axis_count && fits; a++) {
        const hone_axis *axis = &epilogue->axes[a];
        if (map[axis->var]) continue;
        fits = hone_expr_is_int_value(axis->dom.extent, 1);
        map[axis->var] = axis->dom.min;
    }
    if (fits) return HONE_OK;
    return sch_refuse(sch, f->epilogue,
                      "%s does not read each dimension of '%s' by one axis over all of it",
                      sch_block_name(sch, f->epilogue), buffer->name);
}

static hone_status rebuild(fusing *f, const hone_expr *const *map, uint32_t map_count) {
    hone_schedule *sch = f->sch;
    const hone_node out = *sch_node(sch, f->store);
    const hone_expr **indices =
        hone_arena_alloc(sch->arena, (out.u.store.rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    sch->arith.keeps_units = true; /* an axis of one value stays, where later steps find it */
    for (uint32_t d = 0; d < out.u.store.rank; d++) {
        indices[d] = hone_simplify(
            &sch->arith, hone_expr_substitute(&sch->ir, out.u.store.indices[d], map, map_count));
    }
    sch->arith.keeps_units = false;
    const hone_expr *start = hone_expr_substitute(&sch->ir, f->start, map, map_count);
    HONE_TRY(sch_ir_error(sch));
    const hone_expr *load = hone_func_load(&sch->ir, sch->func, out.u.store.buffer, indices);
    const hone_expr *value = hone_expr_binary(&sch->ir, f->reducer.op, load, f->reducer.rhs);
    HONE_TRY(sch_ir_error(sch));
    hone_node_id stores[] = {f->reducer.init_store, f->reducer.store};
    for (int i = 0; i < 2; i++) {
        hone_node *store = sch_node(sch, stores[i]);
        store->u.store.buffer = out.u.store.buffer;
        store->u.store.rank = out.u.store.rank;
        store->u.store.indices = indices;
        store->u.store.value = i ? value : start;
    }
    sch_remove_with_loops(sch, f->epilogue);
    HONE_TRY(sch_update_regions(sch, f->block));
    sch_forget_facts(sch, f->block);
    const char *why = NULL;
    if (sch_classify(sch, f->block, f->scope, &why) != SCH_BLOCK_REDUCTION ||
        !sch_has_disjoint_writes(sch, f->block)) {
        return sch_refuse(sch, f->block, "%s would not be a reduction any more: %s",
                          sch_block_name(sch, f->block),
                          why ? why : "it would write elements twice");
    }
    return sch_require_pipeline(sch, f->scope);
}

hone_status hone_sch_fuse_reduction_epilogue(hone_schedule *sch, hone_rv reduction_block,
                                             hone_rv epilogue_block) {
    fusing f = {.sch = sch};
    HONE_TRY(sch_resolve_block(sch, reduction_block, &f.block));
    HONE_TRY(sch_resolve_block(sch, epilogue_block, &f.epilogue));
    HONE_TRY(check_blocks(&f));
    HONE_TRY(check_result(&f));
    HONE_TRY(match_epilogue(&f));
    hone_dtype from = hone_func_buffer(sch->func, f.reducer.buffer)->dtype;
    hone_dtype to = hone_func_buffer(sch->func, sch_node(sch, f.store)->u.store.buffer)->dtype;
    if (!hone_dtype_equal(from, to)) {
        return sch_refuse(sch, f.epilogue, "%s converts %s to %s", sch_block_name(sch, f.epilogue),
                          HONE_DTYPE_NAME(from), HONE_DTYPE_NAME(to));
    }
    uint32_t count = sch->func->var_count;
    const hone_expr **map = hone_arena_zalloc(sch->arena, (count + 1) * sizeof *map);
    if (!map) return sch_no_memory();
    HONE_TRY(map_axes(&f, map));
    hone_func *saved = NULL;
    HONE_TRY(sch_begin_trial(sch, &saved));
    HONE_TRY(sch_end_trial(sch, saved, rebuild(&f, map, count)));
    return sch_record(sch, HONE_INST_FUSE_REDUCTION_EPILOGUE,
                      SCH_ARGS(SCH_RV(reduction_block), SCH_RV(epilogue_block)));
}

SCH_STEP(FUSE_REDUCTION_EPILOGUE, hone_sch_fuse_reduction_epilogue(sch, a[0].rv, a[1].rv),
         .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG("reduction_block", INPUT, 0), SCH_ARG("epilogue_block", INPUT, 1)});
