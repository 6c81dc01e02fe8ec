/* lower/pipeline/background.c - pipelines of a GPU whose first stage copies to shared memory while
 * threads compute (software_pipeline_async_stages [0]; cp.async):
 *
 *   for i in E: A: B[..] = G[..]; C: g(B[..])         stage [0, S], order [0, 1]
 *     =>
 *   A(0) … A(S - 1)                                   each a group of copies
 *   for i in E:
 *     wait for all groups but the last S - 1; sync    B of i is there, B of i - 1 is done with
 *     if i + S < E: A(i + S)                          into the copy of B that i - 1 had; a group
 *     C(i)
 *
 * Where C comes first by order, A(i + S) stands behind it and fills the copy of B that i - 1 had,
 * or, where C is a product that goes on (ptx.wgmma), that of i - 2: products of two iterations are
 * under way.
 *
 * One sync an iteration is enough, and the pass that inserts others is told so: what A stores in
 * the loop is below LOWER_APART. Groups end and are waited for by T.ptx.cp; stores below
 * HONE_LOWER_BEHIND are copies of a group (ir/interp/interp_async.c). */
#include <string.h>

#include "lower/ground/pipelined.h"
#include "lower/pipeline/pipeline_write.h"

/* ---- is it one ---- */

static bool names_first_stage(const hone_attrs *attrs) {
    const hone_value *list = hone_attrs_find(attrs, LOWER_PIPELINE_ASYNC);
    bool is_one = list && list->kind == HONE_VALUE_LIST && list->count == 1;
    if (!is_one) return false;
    hone_attr item = {.key = LOWER_PIPELINE_ASYNC, .value = list->u.items[0]};
    const hone_attrs one = {.count = 1, .items = &item};
    return hone_attrs_int(&one, LOWER_PIPELINE_ASYNC, -1) == 0;
}

static bool is_shared(const hone_func *func, hone_buffer buffer) {
    const char *scope = func->buffers[hone_func_storage(func, buffer)].scope;
    return scope && strncmp(scope, "shared", 6) == 0;
}

/* What is read is shared, or made while the loop runs. */
static bool is_read_inside(const void *ctx, const hone_expr *e) {
    const lower_pipe *pipe = ctx;
    return e->kind == HONE_EXPR_LOAD &&
           (is_shared(pipe->scope.lower->func, e->u.buffer) || pipe->versions[e->u.buffer]);
}

static bool is_copy(const lower_pipe *pipe, const lower_part *part) {
    const hone_func *func = pipe->scope.lower->func;
    bool is_copy = true;
    for (hone_node_id n = part->node; n != HONE_NO_ID; n = hone_tree_next(func, part->node, n)) {
        const hone_node *node = hone_func_node(func, n);
        is_copy &= node->kind != HONE_NODE_EVAL && node->kind != HONE_NODE_ALLOC;
        if (node->kind != HONE_NODE_STORE) continue;
        hone_buffer to = node->u.store.buffer;
        is_copy &= is_shared(func, to) && pipe->versions[to] > 0;
    }
    return is_copy && !hone_tree_find_part(func, part->node, false, is_read_inside, pipe);
}

/* The part stands among its like by order, too: all copies behind the others, or in front. */
static bool comes_together(const lower_pipe *pipe, uint32_t i, uint32_t copies) {
    int64_t others = pipe->part_count - copies, order = pipe->parts[i].order;
    bool is_late = pipe->parts[0].order >= others;
    return i < copies
               ? order >= (is_late ? others : 0) && (is_late || order < copies)
               : order < (is_late ? others : pipe->part_count) && (is_late || order >= copies);
}

/* Copies first by place, and all else together in the end; by order either comes first. */
static bool has_two_stages(const lower_pipe *pipe) {
    bool is_fine = pipe->last_stage > 0;
    uint32_t copies = 0;
    for (uint32_t i = 0; i < pipe->part_count; i++)
        copies += pipe->parts[i].stage == 0;
    for (uint32_t i = 0; i < pipe->part_count; i++) {
        const lower_part *part = &pipe->parts[i];
        bool is_first = i < copies;
        is_fine &= part->stage == (is_first ? 0 : pipe->last_stage);
        is_fine &= comes_together(pipe, i, copies);
        if (is_fine && is_first) is_fine = is_copy(pipe, part);
    }
    return is_fine && copies > 0 && copies < pipe->part_count;
}

static bool is_of_threads(const hone_func *func, hone_node_id inside, const hone_range *range) {
    for (hone_node_id n = inside; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        bool counts = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_THREAD &&
                      strncmp(node->u.loop.thread_tag, "threadIdx", 9) == 0;
        if (counts && (hone_expr_uses_var(range->min, node->u.loop.var) ||
                       hone_expr_uses_var(range->extent, node->u.loop.var)))
            return true;
    }
    return false;
}

/* All threads of a block come to the loop, and equally often. */
static bool is_common(const hone_func *func, hone_node_id loop) {
    for (hone_node_id n = loop; n != HONE_NODE_TOP; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_IF || node->kind == HONE_NODE_ELSE ||
            node->kind == HONE_NODE_WHILE)
            return false;
        if (node->kind != HONE_NODE_FOR || node->loop_kind == HONE_LOOP_THREAD) continue;
        bool is_plain =
            node->loop_kind == HONE_LOOP_SERIAL || node->loop_kind == HONE_LOOP_UNROLLED;
        if (!is_plain || is_of_threads(func, n, &node->u.loop.range)) return false;
    }
    return true;
}

bool lower_may_copy_behind(const lower_pipe *pipe) {
    const hone_lower *lower = pipe->scope.lower;
    const hone_node *loop = hone_func_node(lower->func, pipe->loop);
    return hone_target_can(lower->options->target, HONE_TARGET_COPIES_BEHIND) &&
           names_first_stage(&loop->u.loop.annotations) && has_two_stages(pipe) &&
           is_common(lower->func, pipe->loop);
}

/* ---- products that go on ---- */

static bool is_product(const hone_expr *e) {
    return hone_expr_is_named(e, "ptx.wgmma") && e->count == 11 &&
           hone_expr_is_int_value(e->args[5], 0); /* write_end waits for the first tile's sums */
}

/* The EVAL that is all an iteration does behind its copies: a ptx.wgmma that each one comes to,
 * once. HONE_NO_ID: it does more, and what that touches may be under way. */
static hone_node_id only_product(const lower_pipe *pipe) {
    const hone_func *func = pipe->scope.lower->func;
    hone_node_id found = HONE_NO_ID;
    if (pipe->condition) return HONE_NO_ID;
    for (uint32_t i = 0; i < pipe->part_count; i++) {
        hone_node_id root = pipe->parts[i].node;
        if (pipe->parts[i].stage == 0) continue;
        for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
            const hone_node *node = hone_func_node(func, n);
            if (node->kind == HONE_NODE_ATTR || node->kind == HONE_NODE_LET) continue;
            bool is_it = node->kind == HONE_NODE_EVAL && is_product(node->u.eval.value);
            if (!is_it || found != HONE_NO_ID) return HONE_NO_ID;
            found = n;
        }
    }
    return found;
}

bool lower_goes_on(const lower_pipe *pipe) {
    return pipe->is_background && pipe->parts[0].order > 0 && only_product(pipe) != HONE_NO_ID;
}

/* ptx.wgmma(…, 1): the one of the iteration may go on. */
static hone_status let_go_on(lower_pipe *pipe, hone_node_id eval) {
    hone_lower *lower = pipe->scope.lower;
    const hone_expr *call = hone_func_node(lower->func, eval)->u.eval.value;
    const hone_expr **args =
        hone_arena_alloc(lower->func->arena, (call->count + 1u) * sizeof *args);
    if (!args) return LOWER_NO_MEMORY();
    memcpy(args, call->args, call->count * sizeof *args);
    args[call->count] = hone_expr_i32(&lower->ir, 1);
    hone_func_node(lower->func, eval)->u.eval.value =
        hone_expr_call(&lower->ir, call->dtype, HONE_INTRIN_NAMED, call->count + 1u, args);
    return hone_ir_finish(&lower->ir);
}

/* ---- writing ---- */

static hone_status add_call(lower_pipe *pipe, hone_node_id into, uint32_t count,
                            const hone_expr *const *args) {
    hone_lower *lower = pipe->scope.lower;
    const hone_expr *call =
        hone_expr_call(&lower->ir, HONE_DTYPE_VOID, HONE_INTRIN_NAMED, count, args);
    hone_node_id eval = hone_func_add_node(lower->func, HONE_NODE_EVAL);
    if (eval == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(lower->func, eval)->u.eval.value = call;
    hone_tree_append(lower->func, into, eval);
    return hone_ir_finish(&lower->ir);
}

/* What was copied since the last one is a group. */
static hone_status add_commit(lower_pipe *pipe, hone_node_id into) {
    hone_ir *ir = &pipe->scope.lower->ir;
    const hone_expr *args[] = {hone_expr_string(ir, "ptx.cp"), hone_expr_string(ir, "async"),
                               hone_expr_string(ir, "commit_group"), hone_expr_string(ir, "")};
    return add_call(pipe, into, 4, args);
}

static hone_status add_wait(lower_pipe *pipe, hone_node_id into) {
    hone_lower *lower = pipe->scope.lower;
    hone_ir *ir = &lower->ir;
    hone_node_id sync;
    const hone_expr *args[] = {hone_expr_string(ir, "ptx.cp"),
                               hone_expr_i32(ir, (int32_t)pipe->last_stage - 1),
                               hone_expr_string(ir, "async"), hone_expr_string(ir, "wait_group"),
                               hone_expr_string(ir, "")};
    HONE_TRY(add_call(pipe, into, 5, args));
    HONE_TRY(lower_new_sync(lower, &sync));
    hone_tree_append(lower->func, into, sync);
    return HONE_OK;
}

static hone_status add_mark(lower_pipe *pipe, const char *key, hone_node_id into,
                            hone_node_id *out) {
    HONE_TRY(lower_new_mark(pipe->scope.lower, key, out));
    hone_tree_append(pipe->scope.lower->func, into, *out);
    return HONE_OK;
}

/* Does the loop get as far as `iteration`? NULL: surely. */
static const hone_expr *is_reached(lower_pipe *pipe, const hone_expr *iteration) {
    hone_ir *ir = &pipe->scope.lower->ir;
    const hone_range *range = &hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.range;
    const hone_expr *end = hone_expr_add(ir, range->min, range->extent);
    const hone_expr *holds =
        hone_simplify_plain(ir, hone_expr_binary(ir, HONE_OP_LT, iteration, end));
    return holds && hone_expr_is_int_value(holds, 1) ? NULL : holds;
}

/* A group each, also where there is nothing to copy, so that groups can be counted. */
static hone_status write_prologue(lower_pipe *pipe, hone_node_id into) {
    const hone_expr *min = hone_func_node(pipe->scope.lower->func, pipe->loop)->u.loop.range.min;
    for (int64_t i = 0; i < pipe->last_stage; i++) {
        const hone_expr *iteration = lower_pipe_moved(pipe, min, i);
        hone_node_id copies;
        HONE_TRY(add_mark(pipe, HONE_LOWER_BEHIND, into, &copies));
        for (uint32_t order = 0; order < pipe->part_count; order++) {
            const lower_part *part = lower_pipe_part(pipe, order);
            if (part->stage > 0) continue;
            HONE_TRY(lower_pipe_copy(pipe, part, iteration, is_reached(pipe, iteration), copies));
        }
        HONE_TRY(add_commit(pipe, into));
    }
    return hone_ir_finish(&pipe->scope.lower->ir);
}

static hone_status write_copies(lower_pipe *pipe) {
    hone_func *func = pipe->scope.lower->func;
    const hone_expr *var = hone_func_var_expr(&pipe->scope.lower->ir, func,
                                              hone_func_node(func, pipe->loop)->u.loop.var);
    const hone_expr *ahead = lower_pipe_moved(pipe, var, pipe->last_stage);
    const hone_expr *guard = is_reached(pipe, ahead);
    hone_node_id copies;
    HONE_TRY(add_mark(pipe, HONE_LOWER_BEHIND, pipe->loop, &copies));
    HONE_TRY(add_mark(pipe, LOWER_APART, copies, &copies));
    for (uint32_t order = 0; order < pipe->part_count; order++) {
        const lower_part *part = lower_pipe_part(pipe, order);
        if (part->stage == 0) HONE_TRY(lower_pipe_emit(pipe, part->node, ahead, guard, copies));
    }
    return add_commit(pipe, pipe->loop);
}

static hone_status write_body(lower_pipe *pipe, hone_node_id into) {
    hone_func *func = pipe->scope.lower->func;
    const hone_expr *var = hone_func_var_expr(&pipe->scope.lower->ir, func,
                                              hone_func_node(func, pipe->loop)->u.loop.var);
    bool is_late = pipe->parts[0].order > 0;
    hone_tree_append(func, into, pipe->loop);
    HONE_TRY(add_wait(pipe, pipe->loop));
    if (!is_late) HONE_TRY(write_copies(pipe));
    for (uint32_t order = 0; order < pipe->part_count; order++) {
        const lower_part *part = lower_pipe_part(pipe, order);
        if (part->stage > 0) HONE_TRY(lower_pipe_emit(pipe, part->node, var, NULL, pipe->loop));
    }
    return is_late ? write_copies(pipe) : HONE_OK;
}

static hone_status write_end(lower_pipe *pipe, const hone_expr *data, hone_node_id into) {
    const hone_expr *args[] = {hone_expr_string(&pipe->scope.lower->ir, "ptx.wgmma_wait"), data};
    return add_call(pipe, into, 2, args);
}

hone_status lower_write_background(lower_pipe *pipe) {
    hone_func *func = pipe->scope.lower->func;
    hone_node_id box = hone_func_add_node(func, HONE_NODE_ATTR);
    if (box == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_replace(func, pipe->loop, box);
    hone_node_id product = lower_goes_on(pipe) ? only_product(pipe) : HONE_NO_ID;
    if (product != HONE_NO_ID) HONE_TRY(let_go_on(pipe, product));
    lower_pipe_empty(pipe);
    HONE_TRY(write_prologue(pipe, box));
    HONE_TRY(write_body(pipe, box));
    if (product != HONE_NO_ID)
        HONE_TRY(write_end(pipe, hone_func_node(func, product)->u.eval.value->args[1], box));
    HONE_TRY(lower_pipe_allocate(pipe, box));
    lower_splice(func, box);
    return HONE_OK;
}
