/* schedule/primitive/move/prim_inline.c - compute_inline: puts the body of a producer where its
 * consumers load what it stores.
 *     B[i] = A[i] + 1;  C[i] = B[i] * 2   →   C[i] = (A[i] + 1) * 2
 *
 * Checks: the scope is a pipeline of stages; the block is complete, without init, and is no output
 * block; (a predicate may go: consumers read only what surely was written;) its body is one store
 * whose indices are a bijective affine map of its axes; no one else takes the buffer's address or a
 * view of it; the scope has another block; what comes out is not huge (inline_size.c).
 */
#include "schedule/primitive/move/inlining.h"

#include <string.h>

#include "schedule/primitive/primitive_impl.h"
#include "schedule/state/instance_order.h"

/* ---- what both directions share ---- */

/* store: what the block is made of, or HONE_NO_ID. */
static hone_status check_movable(hone_schedule *sch, hone_node_id block, hone_node_id store) {
    hone_node_id scope = sch_scope_of(sch, block);
    if (scope == HONE_NO_ID) {
        return sch_refuse(sch, block, "the root block can't be inlined");
    }
    if (hone_block_init_of(sch->func, block) != HONE_NO_ID) {
        return sch_refuse(sch, block, "%s has an init, a reduction can't be inlined",
                          sch_block_name(sch, block));
    }
    const char *why = NULL;
    if (sch_classify(sch, block, scope, &why) != SCH_BLOCK_COMPLETE) {
        return sch_refuse(sch, block, "%s is not complete: %s", sch_block_name(sch, block),
                          why ? why : "it is a reduction");
    }
    if (store == HONE_NO_ID || sch_block(sch, block)->write_count != 1) {
        return sch_refuse(sch, block, "the body of %s is not a single store",
                          sch_block_name(sch, block));
    }
    if (sch_block(sch, block)->match_count) {
        return sch_refuse(sch, block, "%s looks at buffers through T.match_buffer",
                          sch_block_name(sch, block));
    }
    return sch_require_pipeline(sch, scope);
}

hone_status sch_check_movable_store(hone_schedule *sch, hone_node_id block,
                                    hone_node_id *out_store) {
    *out_store = sch_single_store(sch, block);
    return check_movable(sch, block, *out_store);
}

hone_status sch_check_movable_loops(hone_schedule *sch, hone_node_id block,
                                    hone_node_id *out_store) {
    hone_node_id n = hone_block_body_of(sch->func, block);
    while (n != HONE_NO_ID && sch_node(sch, n)->next == HONE_NO_ID &&
           sch_node(sch, n)->kind == HONE_NODE_FOR &&
           hone_expr_is_int(sch_node(sch, n)->u.loop.range.min) &&
           hone_expr_is_int(sch_node(sch, n)->u.loop.range.extent)) {
        n = sch_node(sch, n)->first;
    }
    bool is_store = n != HONE_NO_ID && sch_node(sch, n)->next == HONE_NO_ID &&
                    sch_node(sch, n)->kind == HONE_NODE_STORE;
    *out_store = is_store ? n : HONE_NO_ID;
    return check_movable(sch, block, *out_store);
}

/* Indices of a kind that can be read off: each an axis of its own or a constant. */
static bool invert_plain(hone_schedule *sch, uint32_t axis_count, const hone_iter *iters,
                         uint32_t rank, const hone_expr *const *indices,
                         const hone_expr *const *index_values, const hone_expr **values) {
    for (uint32_t d = 0; d < rank; d++) {
        if (hone_expr_is_int(indices[d])) continue;
        if (indices[d]->kind != HONE_EXPR_VAR || values[indices[d]->u.var]) return false;
        hone_dtype dtype = sch->func->vars[indices[d]->u.var].dtype;
        values[indices[d]->u.var] = hone_expr_cast(&sch->ir, dtype, index_values[d]);
    }
    for (uint32_t a = 0; a < axis_count; a++) {
        if (values[iters[a].var]) continue;
        if (!hone_expr_is_int_value(iters[a].range.extent, 1)) return false;
        values[iters[a].var] = iters[a].range.min;
    }
    return true;
}

hone_status sch_invert_indices(hone_schedule *sch, hone_node_id block, const hone_iter *iters,
                               uint32_t rank, const hone_expr *const *indices,
                               const hone_expr *const *index_values,
                               const hone_expr ***out_values) {
    uint32_t axis_count = sch_block(sch, block)->axis_count;
    size_t bytes = (sch->func->var_count + 1) * sizeof(hone_expr *);
    const hone_expr **values = hone_arena_zalloc(sch->arena, bytes);
    const hone_expr **solution = hone_arena_zalloc(sch->arena, (axis_count + 1) * sizeof *solution);
    if (!values || !solution || !iters) return sch_no_memory();
    *out_values = values;
    if (invert_plain(sch, axis_count, iters, rank, indices, index_values, values)) {
        return sch_ir_error(sch);
    }
    memset(values, 0, bytes);
    hone_itermap map;
    if (!hone_itermap_detect(&sch->arith, rank, indices, axis_count, iters, NULL,
                             HONE_ITERMAP_BIJECTIVE, true, &map) ||
        !hone_itermap_inverse(&sch->arith, &map, index_values, axis_count, iters, solution)) {
        return sch_refuse(sch, block,
                          "the indices in %s are not a bijective affine map of its axes",
                          sch_block_name(sch, block));
    }
    for (uint32_t a = 0; a < axis_count; a++)
        values[iters[a].var] = solution[a] ? solution[a] : iters[a].range.min;
    return sch_ir_error(sch);
}

/* ---- compute_inline ---- */

typedef struct inliner {
    hone_schedule *sch;
    hone_node_id block;
    hone_buffer buffer;
    hone_node store; /* a copy */
    const hone_iter *iters;
    hone_status error;
} inliner;

static const hone_expr *inline_load(void *ctx, hone_ir *ir, const hone_expr *e) {
    inliner *in = ctx;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != in->buffer) return e;
    const hone_expr **values = NULL;
    in->error = sch_invert_indices(in->sch, in->block, in->iters, in->store.u.store.rank,
                                   in->store.u.store.indices, e->args, &values);
    if (in->error) return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_ILLEGAL, "inline"));
    return sch_put_in(in->sch, in->store.u.store.value, values, in->sch->func->var_count, false);
}

/* Says so or does so: an access may be hidden (unsafe_hide_buffer_access). */
static bool loads(const hone_schedule *sch, hone_node_id block, hone_buffer buffer) {
    if (sch_reads(sch_block(sch, block), buffer)) return true;
    return hone_loads_below(sch->func, block, buffer);
}

static hone_status check_inline(hone_schedule *sch, hone_node_id block, hone_node_id *out_store) {
    HONE_TRY(sch_check_movable_store(sch, block, out_store));
    if (sch_is_output_block(sch, block)) {
        return sch_refuse(sch, block, "%s writes an output of the function",
                          sch_block_name(sch, block));
    }
    hone_node *store = sch_node(sch, *out_store);
    const hone_expr **ignored = NULL;
    HONE_TRY(sch_invert_indices(sch, block, sch_whole_axes(sch, sch_block(sch, block)),
                                store->u.store.rank, store->u.store.indices, store->u.store.indices,
                                &ignored));
    if (hone_has_opaque_access(sch->func, 0, store->u.store.buffer)) {
        return sch_refuse(sch, block, "buffer '%s' is also used by its address or as a view",
                          sch_buffer_name(sch, store->u.store.buffer));
    }
    hone_node_id scope = sch_scope_of(sch, block);
    hone_node_id first = sch_next_block(sch, scope, scope);
    if (first == block && sch_next_block(sch, scope, first) == HONE_NO_ID) {
        return sch_refuse(sch, block, "%s is the only block in its scope",
                          sch_block_name(sch, block));
    }
    bool is_in_concurrent_loop = sch_is_in_concurrent_loop(sch, block);
    for (hone_node_id n = first; n != HONE_NO_ID; n = sch_next_block(sch, scope, n)) {
        if (n == block || !loads(sch, n, store->u.store.buffer)) continue;
        if (is_in_concurrent_loop) HONE_TRY(sch_require_leavable(sch, block, n));
        HONE_TRY(
            sch_require_small_inline(sch, block, store->u.store.value, store->u.store.buffer, n));
    }
    return HONE_OK;
}

/* Rewrites one consumer; the loads may stand in blocks nested in it. */
static hone_status rewrite_consumer(hone_schedule *sch, hone_node_id consumer, inliner *in) {
    hone_status st = sch_transform(sch, consumer, inline_load, in, false);
    if (in->error) {
        hone_status_free(st);
        st = in->error;
        in->error = HONE_OK;
    }
    return st ? st : sch_update_regions_below(sch, consumer);
}

hone_status sch_inline_block(hone_schedule *sch, hone_node_id block) {
    hone_node_id store;
    HONE_TRY(check_inline(sch, block, &store));
    hone_buffer buffer = sch_node(sch, store)->u.store.buffer;
    HONE_TRY(sch_require_declared(sch, buffer));
    inliner in = {.sch = sch, .block = block, .buffer = buffer, .store = *sch_node(sch, store)};
    in.iters = sch_whole_axes(sch, sch_block(sch, block));
    hone_node_id scope = sch_scope_of(sch, block);
    SCH_EACH_BLOCK (sch, scope, n) {
        if (n != block && loads(sch, n, buffer)) HONE_TRY(rewrite_consumer(sch, n, &in));
    }
    sch_remove_with_loops(sch, block);
    return sch_drop_alloc(sch, scope, buffer);
}

hone_status hone_sch_compute_inline(hone_schedule *sch, hone_rv block_rv) {
    hone_node_id block;
    HONE_TRY(sch_resolve_block(sch, block_rv, &block));
    HONE_TRY(sch_inline_block(sch, block));
    return sch_record(sch, HONE_INST_COMPUTE_INLINE, SCH_ARGS(SCH_RV(block_rv)));
}

static bool quietly(hone_schedule *sch, hone_status (*check)(hone_schedule *, hone_node_id),
                    hone_node_id block) {
    bool wants_reasons = sch->wants_reasons;
    sch->wants_reasons = false;
    hone_status st = check(sch, block);
    sch->wants_reasons = wants_reasons;
    if (!st) return true;
    hone_status_free(st);
    return false;
}

static hone_status only_check_inline(hone_schedule *sch, hone_node_id block) {
    hone_node_id store;
    return check_inline(sch, block, &store);
}

bool sch_can_compute_inline(hone_schedule *sch, hone_node_id block) {
    return quietly(sch, only_check_inline, block);
}

SCH_STEP(COMPUTE_INLINE, hone_sch_compute_inline(sch, a[0].rv), .gives = HONE_GIVES_NOTHING,
         .args = {SCH_ARG_BLOCK(0)});
