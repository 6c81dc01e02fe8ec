/* lower/threads/lower_cross_thread.c - the pass for reductions over threads.
 * needs: blocks with their inits. keeps: what is computed, but for the order of sums. A loop over
 * threads by which a block counts a reduction axis carries a sum from one iteration to the next.
 *
 *   for k0 in 4: for t in threadIdx.x: block: B[i] = B[i] + f(k0, t)
 *     ──►
 *   for t in threadIdx.x:
 *     own = 0
 *     for k0 in 4: own = own + f(k0, t)
 *     all = tvm_thread_allreduce(own, t)
 *     if t == 0: B[i] = all
 *
 * Where the nest has another form, the loop becomes one of a single thread, for which the others
 * wait. */
#include "ir/core/concurrent.h"
#include "lower/ground/accesses.h"
#include "lower/threads/threads.h"

enum { MOST_LOOPS = 16 };

/* A block and the loops straight around it, from the inside. */
typedef struct reduction {
    hone_lower *lower;
    hone_node_id block, store, init; /* store: the only statement; init: that of its INIT */
    hone_node_id loops[MOST_LOOPS];
    uint32_t loop_count;
    const hone_expr *all; /* the conditions that hold loops, or not; NULL: none */
    const hone_expr *outer;
    const hone_expr *value; /* what is added to the element */
    hone_op op;
    bool is_extreme; /* NaN wins */
} reduction;

/* ---- which loops carry sums ---- */

static bool binds(const hone_func *func, hone_node_id id, hone_var var, bool of_reduction) {
    const hone_node *node = hone_func_node(func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        bool is_spatial = block->axes[i].kind == HONE_AXIS_SPATIAL;
        if (is_spatial != of_reduction && hone_expr_uses_var(node->u.block.bindings[i], var))
            return true;
    }
    return false;
}

/* A block below the loop reduces over it; HONE_NO_ID: none does. */
static hone_node_id carries_sum(const hone_func *func, hone_node_id loop) {
    hone_var var = hone_func_node(func, loop)->u.loop.var;
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(func, loop, n)) {
        if (hone_func_node(func, n)->kind == HONE_NODE_BLOCK && binds(func, n, var, true)) return n;
    }
    return HONE_NO_ID;
}

/* ---- the form ---- */

static bool is_thread(const hone_node *loop) {
    return lower_axis_of(loop) >= LOWER_FIRST_THREAD;
}

/* The loops straight around the block as far as it reduces over them, a loop over threads among
 * them; below nothing that some threads pass by. */
static bool find_loops(reduction *r) {
    const hone_func *func = r->lower->func;
    bool has_thread = false;
    hone_node_id at = r->block;
    for (hone_node_id n; (n = hone_func_node(func, at)->parent) != HONE_NO_ID; at = n) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->first != node->last) break;
        if (!binds(func, r->block, node->u.loop.var, true)) break;
        if (binds(func, r->block, node->u.loop.var, false) || r->loop_count == MOST_LOOPS)
            return false;
        if (node->loop_kind == HONE_LOOP_THREAD && !is_thread(node)) return false;
        has_thread |= is_thread(node);
        r->loops[r->loop_count++] = n;
    }
    for (hone_node_id n = hone_func_node(func, at)->parent; n != HONE_NODE_TOP;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        bool is_plain = node->kind == HONE_NODE_FOR && node->loop_kind != HONE_LOOP_VECTORIZED &&
                        hone_expr_is_int(node->u.loop.range.extent);
        bool is_root = node->kind == HONE_NODE_BLOCK && !node->u.block.block->axis_count;
        if (!is_plain && !is_root) return false;
        /* another part of the sum in each iteration, with something in between */
        if (is_plain && binds(func, r->block, node->u.loop.var, true)) return false;
    }
    return has_thread;
}

static hone_node_id only_child(const hone_func *func, hone_node_id from) {
    const hone_node *node = hone_func_node(func, from);
    bool is_store = hone_func_node(func, from)->kind == HONE_NODE_STORE;
    return is_store && node->next == HONE_NO_ID ? from : HONE_NO_ID;
}

/* B[i] = B[i] op value, where value does not look at B. */
static bool find_step(reduction *r) {
    const hone_node *store = hone_func_node(r->lower->func, r->store);
    const hone_expr *value = store->u.store.value, *extreme = hone_expr_as_extreme(value);
    r->is_extreme = extreme != NULL;
    if (extreme) value = extreme;
    if (value->kind != HONE_EXPR_BINARY || store->u.store.converts) return false;
    r->op = (hone_op)value->op;
    if (r->op != HONE_OP_ADD && r->op != HONE_OP_MUL && r->op != HONE_OP_MIN &&
        r->op != HONE_OP_MAX)
        return false;
    for (int side = 0; side < 2; side++) {
        if (!lower_is_stored_element(store, value->args[side])) continue;
        r->value = value->args[1 - side];
        return !hone_expr_loads(r->value, store->u.store.buffer);
    }
    return false;
}

static bool find_statements(reduction *r) {
    const hone_func *func = r->lower->func;
    const hone_block *block = hone_func_node(func, r->block)->u.block.block;
    hone_node_id init = hone_block_init_of(func, r->block);
    hone_node_id body = hone_block_body_of(func, r->block);
    if (init == HONE_NO_ID || body == HONE_NO_ID || block->alloc_count || block->match_count)
        return false;
    hone_node_id first = hone_func_node(func, init)->first;
    r->store = only_child(func, body);
    r->init = first == HONE_NO_ID ? HONE_NO_ID : only_child(func, first);
    if (r->store == HONE_NO_ID || r->init == HONE_NO_ID) return false;
    const hone_node *store = hone_func_node(func, r->store), *start = hone_func_node(func, r->init);
    bool is_same =
        store->u.store.buffer == start->u.store.buffer &&
        (hone_expr_is_int(start->u.store.value) || start->u.store.value->kind == HONE_EXPR_FLOAT);
    for (uint32_t d = 0; is_same && d < store->u.store.rank; d++)
        is_same = hone_expr_same(store->u.store.indices[d], start->u.store.indices[d]);
    return is_same;
}

/* Conditions on what is summed, and on what is written. */
static bool part_condition(void *ctx, const hone_expr *part) {
    reduction *r = ctx;
    const hone_func *func = r->lower->func;
    bool has_inner = false, has_other = false;
    for (hone_var v = 0; v < func->var_count; v++) {
        bool is_inner = false;
        if (!hone_expr_uses_var(part, v)) continue;
        for (uint32_t i = 0; i < r->loop_count; i++)
            is_inner |= hone_func_node(func, r->loops[i])->u.loop.var == v;
        has_inner |= is_inner;
        has_other |= !is_inner;
    }
    if (has_inner && has_other) return false;
    r->all = lower_and(&r->lower->ir, r->all, part);
    if (!has_inner) r->outer = lower_and(&r->lower->ir, r->outer, part);
    return true;
}

static bool is_of_form(reduction *r) {
    const hone_expr *predicate = hone_func_node(r->lower->func, r->block)->u.block.predicate;
    if (!find_statements(r) || !find_step(r) || !find_loops(r)) return false;
    return !predicate || lower_conjuncts(predicate, part_condition, r);
}

/* ---- the new nest ---- */

static hone_status bind_axes(const reduction *r, hone_node_id root) {
    const hone_func *func = r->lower->func;
    const hone_node *node = hone_func_node(func, r->block);
    const hone_expr **map = hone_arena_zalloc(func->arena, (func->var_count + 1) * sizeof *map);
    if (!map) return LOWER_NO_MEMORY();
    for (uint32_t i = 0; i < node->u.block.block->axis_count; i++)
        map[node->u.block.block->axes[i].var] = node->u.block.bindings[i];
    return lower_substitute(r->lower->func, root, map, func->var_count);
}

static const hone_expr *combine(const reduction *r, const hone_expr *a, const hone_expr *b) {
    hone_ir *ir = &r->lower->ir;
    return r->is_extreme ? hone_expr_extreme(ir, r->op, a, b) : hone_expr_binary(ir, r->op, a, b);
}

static hone_status add_loops(const reduction *r, bool of_threads, hone_node_id *io_inner) {
    hone_func *func = r->lower->func;
    for (uint32_t i = r->loop_count; i > 0; i--) { /* from the outside */
        const hone_node old = *hone_func_node(func, r->loops[i - 1]);
        if (is_thread(&old) != of_threads) continue;
        hone_node_id loop = hone_func_add_loop(func, old.u.loop.var, (hone_loop_kind)old.loop_kind,
                                               old.u.loop.range);
        if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
        hone_node *node = hone_func_node(func, loop);
        node->u.loop.thread_tag = old.u.loop.thread_tag;
        if (node->loop_kind == HONE_LOOP_VECTORIZED) node->loop_kind = HONE_LOOP_SERIAL;
        hone_tree_append(func, *io_inner, loop);
        *io_inner = loop;
    }
    return HONE_OK;
}

/* T.comm_reducer(lambda x, y: x op y, [identity]) around what is below. */
static hone_status add_reducer(const reduction *r, hone_node_id parent, hone_node_id *out_attr) {
    hone_func *func = r->lower->func;
    hone_ir *ir = &r->lower->ir;
    const hone_expr *identity = hone_func_node(func, r->init)->u.store.value;
    hone_var *params = hone_arena_alloc(func->arena, 2 * sizeof *params);
    const hone_expr **parts = hone_arena_alloc(func->arena, 2 * sizeof *parts);
    hone_lambda *lambda = hone_arena_zalloc(func->arena, sizeof *lambda);
    if (!params || !parts || !lambda) return LOWER_NO_MEMORY();
    params[0] = hone_func_add_var(func, "x", identity->dtype);
    params[1] = hone_func_add_var(func, "y", identity->dtype);
    parts[0] = combine(r, hone_expr_var(ir, identity->dtype, params[0]),
                       hone_expr_var(ir, identity->dtype, params[1]));
    parts[1] = identity;
    *lambda = (hone_lambda){true, 2, 1, 1, params, &parts[0], &parts[1]};
    HONE_TRY(lower_new_mark(r->lower, "reduce_scope", out_attr));
    hone_func_node(func, *out_attr)->u.attr.node =
        (hone_value){.kind = HONE_VALUE_LAMBDA, .u.lambda = lambda};
    hone_tree_append(func, parent, *out_attr);
    return hone_ir_finish(ir);
}

static hone_status add_exchange(const reduction *r, hone_node_id parent, hone_buffer own,
                                hone_buffer all) {
    hone_func *func = r->lower->func;
    hone_ir *ir = &r->lower->ir;
    const hone_expr *zero = hone_expr_i32(ir, 0), *args[5 + MOST_LOOPS];
    size_t count = 0;
    hone_node_id attr, eval;
    HONE_TRY(add_reducer(r, parent, &attr));
    args[count++] = hone_expr_string(ir, "tvm_thread_allreduce");
    args[count++] = hone_expr_int(ir, HONE_DTYPE_U32, 1);
    args[count++] = hone_func_load(ir, func, own, &zero);
    args[count++] = hone_expr_bool(ir, true);
    args[count++] = hone_func_load(ir, func, all, &zero);
    for (uint32_t i = r->loop_count; i > 0; i--) {
        const hone_node *loop = hone_func_node(func, r->loops[i - 1]);
        if (is_thread(loop)) args[count++] = hone_func_var_expr(ir, func, loop->u.loop.var);
    }
    const hone_expr *call = hone_expr_call(ir, HONE_DTYPE_HANDLE, HONE_INTRIN_NAMED, count, args);
    HONE_TRY(hone_ir_finish(ir));
    eval = hone_func_add_node(func, HONE_NODE_EVAL);
    if (eval == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, eval)->u.eval.value = call;
    hone_tree_append(func, attr, eval);
    return HONE_OK;
}

/* By the first of the threads, where the block is done at all. */
static hone_status add_result(const reduction *r, hone_node_id parent, hone_buffer all) {
    hone_func *func = r->lower->func;
    hone_ir *ir = &r->lower->ir;
    const hone_expr *zero = hone_expr_i32(ir, 0), *condition = r->outer;
    for (uint32_t i = 0; i < r->loop_count; i++) {
        const hone_node *loop = hone_func_node(func, r->loops[i]);
        if (!is_thread(loop)) continue;
        const hone_expr *is_first = hone_expr_binary(
            ir, HONE_OP_EQ, hone_func_var_expr(ir, func, loop->u.loop.var), loop->u.loop.range.min);
        condition = lower_and(ir, condition, is_first);
    }
    hone_tree_remove(func, r->store);
    hone_tree_append(func, parent, r->store);
    hone_func_node(func, r->store)->u.store.value = hone_func_load(ir, func, all, &zero);
    HONE_TRY(hone_ir_finish(ir));
    return lower_wrap_if(r->lower, condition, r->store);
}

static hone_buffer add_number(const reduction *r, const char *name, hone_node_id *io_parent) {
    static const int64_t one[] = {1};
    hone_func *func = r->lower->func;
    hone_dtype dtype = hone_func_node(func, r->init)->u.store.value->dtype;
    hone_buffer buffer = hone_func_add_dense(func, name, dtype, 1, one, "local");
    hone_node_id alloc = lower_new_alloc(func, buffer);
    if (alloc == HONE_NO_ID) return HONE_NO_ID;
    hone_tree_append(func, *io_parent, alloc);
    *io_parent = alloc;
    return buffer;
}

static hone_status add_own_sum(const reduction *r, hone_node_id parent, hone_buffer own) {
    hone_func *func = r->lower->func;
    hone_ir *ir = &r->lower->ir;
    const hone_expr *zero = hone_expr_i32(ir, 0);
    HONE_TRY(
        lower_append_store(func, parent, own, zero, hone_func_node(func, r->init)->u.store.value));
    HONE_TRY(add_loops(r, false, &parent));
    const hone_expr *sum = combine(r, hone_func_load(ir, func, own, &zero), r->value);
    HONE_TRY(hone_ir_finish(ir));
    HONE_TRY(lower_append_store(func, parent, own, zero, sum));
    hone_node_id store = hone_func_node(func, parent)->last;
    return r->all ? lower_wrap_if(r->lower, r->all, store) : HONE_OK;
}

static hone_status add_up_together(const reduction *r) {
    hone_func *func = r->lower->func;
    hone_node_id top = hone_func_add_node(func, HONE_NODE_ATTR), inner = top;
    if (top == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(add_loops(r, true, &inner));
    hone_buffer own = add_number(r, "own", &inner);
    hone_buffer all = own == HONE_NO_ID ? own : add_number(r, "all", &inner);
    if (all == HONE_NO_ID) return LOWER_NO_MEMORY();
    HONE_TRY(add_own_sum(r, inner, own));
    HONE_TRY(add_exchange(r, inner, own, all));
    HONE_TRY(add_result(r, inner, all));
    HONE_TRY(bind_axes(r, top));
    hone_tree_remove(func, r->block); /* passes go through nodes by number, too */
    hone_tree_replace(func, r->loops[r->loop_count - 1], top);
    lower_splice(func, top);
    return HONE_OK;
}

static bool has_loop(const reduction *r, hone_node_id loop) {
    for (uint32_t i = 0; i < r->loop_count; i++) {
        if (r->loops[i] == loop) return true;
    }
    return false;
}

hone_status lower_cross_thread(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0, next; n != HONE_NO_ID; n = next) {
        hone_node *node = hone_func_node(func, n);
        next = hone_tree_next(func, 0, n);
        if (!hone_loop_is_of_threads(node)) continue;
        reduction r = {.lower = lower, .block = carries_sum(func, n)};
        if (r.block == HONE_NO_ID) continue;
        if (is_of_form(&r) && has_loop(&r, n)) {
            HONE_TRY(add_up_together(&r));
            next = 0; /* the tree is another one */
            continue;
        }
        node->loop_kind = HONE_LOOP_SERIAL;
        node->u.loop.thread_tag = NULL;
    }
    return hone_ir_finish(&lower->ir);
}
