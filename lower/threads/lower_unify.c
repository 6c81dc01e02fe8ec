/* lower/threads/lower_unify.c - the pass that puts each axis of a launch once around all of it.
 * needs: no blocks; allocations where they belong. keeps: what is computed, where no loop over an
 * axis inside of another one over it depends on both.
 *
 *   for b in blockIdx.x:                       for b in blockIdx.x: for t in threadIdx.x:
 *     for t in threadIdx.x: S[t] = A[t]   ──►    S[t] = A[t]
 *     C[b] = S[0]                                if t == 0: C[b] = S[0]
 *
 * A statement that does not stand below an axis is done by its first thread, unless each has its
 * own of what it stores. The next pass inserts what threads must wait for. What is allocated in
 * global memory below threads is made each thread's or each block's own. */
#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/core/touches.h"
#include "lower/threads/threads.h"

typedef struct unifier {
    hone_lower *lower;
    uint32_t present; /* bits of the axes of the launch */
    const hone_expr *axes[LOWER_AXES], *extents[LOWER_AXES];
    uint32_t *need; /* by node: axes whose first thread alone may do it */
} unifier;

static uint32_t bit_of(int axis) {
    return UINT32_C(1) << axis;
}

/* ---- which axes there are ---- */

/* The longer of two extents. */
static const hone_expr *longer(hone_ir *ir, const hone_expr *a, const hone_expr *b) {
    if (!a || hone_expr_same(a, b)) return b;
    if (hone_expr_is_int(a) && hone_expr_is_int(b)) return a->u.i > b->u.i ? a : b;
    return hone_expr_binary(ir, HONE_OP_MAX, a, b);
}

static hone_status find_axes(unifier *u, hone_node_id root) {
    hone_func *func = u->lower->func;
    hone_ir *ir = &u->lower->ir;
    bool has_lanes = false;
    u->present = 0;
    memset(u->extents, 0, sizeof u->extents);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        int axis = lower_axis_of(node);
        has_lanes |= node->kind == HONE_NODE_EVAL &&
                     lower_call_sort_of(node->u.eval.value) == LOWER_CALL_LANES;
        if (axis < 0) continue;
        u->present |= bit_of(axis);
        u->extents[axis] = longer(ir, u->extents[axis], node->u.loop.range.extent);
    }
    if (has_lanes && !u->extents[LOWER_THREAD_X]) {
        u->present |= bit_of(LOWER_THREAD_X);
        u->extents[LOWER_THREAD_X] = hone_expr_i32(ir, LOWER_WARP_LANES);
    }
    return hone_ir_finish(ir);
}

/* The name of the first loop over an axis, for its only one. */
static const char *name_of_axis(const hone_func *func, hone_node_id root, int axis) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (lower_axis_of(node) == axis) return func->vars[node->u.loop.var].name;
    }
    return "lane";
}

static hone_node_id add_axis(unifier *u, hone_node_id root, int axis) {
    hone_func *func = u->lower->func;
    hone_ir *ir = &u->lower->ir;
    hone_dtype dtype = u->extents[axis]->dtype;
    hone_var var = hone_func_add_var(func, name_of_axis(func, root, axis), dtype);
    const hone_range range = {hone_expr_int(ir, dtype, 0), u->extents[axis]};
    if (var == HONE_NO_ID) return HONE_NO_ID;
    hone_node_id loop = hone_func_add_loop(func, var, HONE_LOOP_THREAD, range);
    u->axes[axis] = hone_expr_var(ir, dtype, var);
    if (loop != HONE_NO_ID) hone_func_node(func, loop)->u.loop.thread_tag = lower_axis_tag(axis);
    return loop;
}

/* The nest of all axes around root. */
static hone_status make_nest(unifier *u, hone_node_id root) {
    hone_node_id inner = root;
    for (int a = LOWER_AXES - 1; a >= 0; a--) {
        if (!u->extents[a]) continue;
        hone_node_id loop = add_axis(u, root, a);
        if (loop == HONE_NO_ID) return LOWER_NO_MEMORY();
        lower_wrap(u->lower->func, inner, loop);
        inner = loop;
    }
    return hone_ir_finish(&u->lower->ir);
}

/* ---- what a statement needs ---- */

static uint32_t shared_along(const hone_func *func, hone_buffer buffer, uint32_t missing) {
    const char *scope = func->buffers[hone_func_storage(func, buffer)].scope;
    uint32_t needed = 0;
    for (int a = 0; a < LOWER_AXES; a++) {
        if ((missing & bit_of(a)) && !hone_scope_is_own(scope, lower_axis_tag(a)))
            needed |= bit_of(a);
    }
    return needed;
}

typedef struct pointed {
    const hone_func *func;
    uint32_t missing, needed;
} pointed;

static void find_pointed(void *ctx, const hone_reference *ref) {
    pointed *p = ctx;
    if (ref->may_write) p->needed |= shared_along(p->func, ref->buffer, p->missing);
}

/* The axes whose first thread alone may do it. */
static uint32_t need_of_call(const hone_func *func, hone_node_id eval, uint32_t missing) {
    const hone_expr *call = hone_func_node(func, eval)->u.eval.value;
    lower_call_sort sort = lower_call_sort_of(call);
    if (sort == LOWER_CALL_SYNC || sort == LOWER_CALL_SYNC_WARP || sort == LOWER_CALL_REDUCE)
        return 0;
    bool is_extern = !hone_expr_is_call(call, HONE_INTRIN_NAMED);
    if (sort == LOWER_CALL_OTHER && is_extern && !hone_expr_is_pure_index(call)) return missing;
    if (sort == LOWER_CALL_LANES) missing &= ~bit_of(LOWER_THREAD_X);
    pointed p = {func, missing, 0};
    hone_node_walk_references(func, eval, find_pointed, &p);
    return p.needed;
}

/* ---- conditions ---- */

static const hone_expr *first_of(unifier *u, uint32_t axes) {
    hone_ir *ir = &u->lower->ir;
    const hone_expr *condition = NULL;
    for (int a = 0; a < LOWER_AXES; a++) {
        if (!(axes & bit_of(a))) continue;
        const hone_expr *zero = hone_expr_int(ir, u->axes[a]->dtype, 0);
        condition = lower_and(ir, condition, hone_expr_binary(ir, HONE_OP_EQ, u->axes[a], zero));
    }
    return condition;
}

static hone_status guard(unifier *u, hone_node_id id, uint32_t need) {
    if (need == 0) return HONE_OK;
    const hone_expr *condition = first_of(u, need);
    HONE_TRY(hone_ir_finish(&u->lower->ir));
    if (hone_func_node(u->lower->func, id)->kind == HONE_NODE_ELSE)
        return lower_guard_children(u->lower->func, id, condition);
    return lower_wrap_if(u->lower, condition, id);
}

/* What blocks do to global memory for each other has no order. */
static hone_status check_need(const unifier *u, hone_node_id id, uint32_t need) {
    const hone_func *func = u->lower->func;
    const hone_node *node = hone_func_node(func, id);
    if (!(need & (bit_of(LOWER_FIRST_THREAD) - 1)) || node->kind != HONE_NODE_STORE) return HONE_OK;
    hone_buffer storage = hone_func_storage(func, node->u.store.buffer);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "'%s' is stored between two loops over blocks of threads, which do not wait "
                      "for each other",
                      func->buffers[storage].name);
}

/* ---- loops over an axis inside of one over it ---- */

/* What stands in the loop depends on the axis, by a name (LET) or not. */
static hone_status depends_on(const unifier *u, hone_node_id loop, int axis, bool *out_depends) {
    const hone_func *func = u->lower->func;
    bool *depends = hone_arena_zalloc(func->arena, func->var_count + 1); /* by variable */
    if (!depends) return LOWER_NO_MEMORY();
    depends[u->axes[axis]->u.var] = true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_LET &&
            hone_expr_uses_any(node->u.let.value, depends, func->var_count))
            depends[node->u.let.var] = true;
    }
    *out_depends = hone_tree_uses_any(func, loop, false, depends, func->var_count);
    return HONE_OK;
}

static hone_status refuse_twice(const unifier *u, hone_node_id id, const char *why) {
    const hone_node *node = hone_func_node(u->lower->func, id);
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "loop '%s' is bound to %s inside of a loop that is bound to it, too, and %s",
                      u->lower->func->vars[node->u.loop.var].name, node->u.loop.thread_tag, why);
}

static bool is_allocated_below(const hone_func *func, hone_node_id loop, hone_node_id store,
                               hone_buffer buffer) {
    for (hone_node_id n = hone_func_node(func, store)->parent; n != loop;
         n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        bool is_named = node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL;
        if (is_named && node->u.alloc.buffer == buffer) return true;
    }
    return false;
}

/* One thread does its part of the inner loop only: nobody else's may depend on the outer one, or
 * be kept by each thread. */
static hone_status check_twice(const unifier *u, hone_node_id id, int axis) {
    const hone_func *func = u->lower->func;
    bool depends;
    HONE_TRY(depends_on(u, id, axis, &depends));
    if (depends) return refuse_twice(u, id, "what stands in it depends on both");
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(func, id, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_STORE) continue;
        hone_buffer b = hone_func_storage(func, node->u.store.buffer);
        bool is_own = hone_scope_is_own(func->buffers[b].scope, lower_axis_tag(axis));
        if (is_own && !is_allocated_below(func, id, n, b))
            return refuse_twice(u, id, "stores what each thread has of its own");
    }
    return HONE_OK;
}

/* ---- all statements ---- */

/* A loop over an axis: its variable becomes that of the nest. */
static hone_status enter_axis(unifier *u, hone_node_id id, int axis, uint32_t bound) {
    hone_func *func = u->lower->func;
    hone_ir *ir = &u->lower->ir;
    if (bound & bit_of(axis)) HONE_TRY(check_twice(u, id, axis));
    const hone_node *node = hone_func_node(func, id);
    hone_dtype dtype = func->vars[node->u.loop.var].dtype;
    const hone_expr *index = u->axes[axis], *extent = node->u.loop.range.extent;
    if (!hone_dtype_equal(index->dtype, dtype)) index = hone_expr_cast(ir, dtype, index);
    const hone_expr *inside = hone_expr_binary(ir, HONE_OP_LT, index, extent);
    if (!hone_expr_is_int_value(node->u.loop.range.min, 0))
        index = hone_expr_add(ir, node->u.loop.range.min, index);
    HONE_TRY(hone_ir_finish(ir));
    bool is_whole = hone_expr_same(extent, u->extents[axis]) ||
                    (hone_expr_is_int(extent) && hone_expr_is_int(u->extents[axis]) &&
                     extent->u.i == u->extents[axis]->u.i);
    if (!is_whole) HONE_TRY(lower_guard_children(func, id, inside));
    return lower_substitute_one(func, id, hone_func_node(func, id)->u.loop.var, index);
}

static hone_status unify(unifier *u, hone_node_id id, uint32_t bound);

/* Where all children need one condition, that is left to whoever is around. */
static hone_status unify_children(unifier *u, hone_node_id id, uint32_t bound) {
    const hone_func *func = u->lower->func;
    bool agree = true;
    hone_node_id first = hone_func_node(func, id)->first;
    for (hone_node_id c = first; c != HONE_NO_ID; c = hone_func_node(func, c)->next) {
        HONE_TRY(unify(u, c, bound));
        agree &= u->need[c] == u->need[first];
    }
    if (first != HONE_NO_ID && agree) u->need[id] = u->need[first];
    for (hone_node_id c = first, next; !agree && c != HONE_NO_ID; c = next) {
        next = hone_func_node(func, c)->next;
        HONE_TRY(guard(u, c, u->need[c]));
    }
    return HONE_OK;
}

static hone_status unify(unifier *u, hone_node_id id, uint32_t bound) {
    const hone_func *func = u->lower->func;
    const hone_node *node = hone_func_node(func, id);
    uint32_t missing = u->present & ~bound;
    int axis = lower_axis_of(node);
    if (axis >= 0) {
        HONE_TRY(enter_axis(u, id, axis, bound));
        bound |= bit_of(axis);
    }
    node = hone_func_node(func, id);
    if (node->kind == HONE_NODE_STORE) {
        u->need[id] = shared_along(func, node->u.store.buffer, missing);
        return check_need(u, id, u->need[id]);
    }
    if (node->kind == HONE_NODE_EVAL) {
        u->need[id] = need_of_call(func, id, missing);
        return HONE_OK;
    }
    return unify_children(u, id, bound);
}

/* The loops over axes below root have no iterations of their own any more. */
static void drop_axes(hone_func *func, hone_node_id root) {
    for (hone_node_id n = root, next; n != HONE_NO_ID; n = next) {
        next = hone_tree_next(func, root, n);
        if (n != root && lower_axis_of(hone_func_node(func, n)) >= 0) lower_splice(func, n);
    }
}

static hone_status unify_launch(unifier *u, hone_node_id root, hone_node_id *out_nest) {
    hone_func *func = u->lower->func;
    HONE_TRY(lower_settle_scopes(u->lower, root));
    HONE_TRY(find_axes(u, root));
    HONE_TRY(make_nest(u, root));
    u->need = hone_arena_zalloc(func->arena, 4 * (func->node_count + 1) * sizeof *u->need);
    if (!u->need) return LOWER_NO_MEMORY();
    hone_node_id inner = hone_func_node(func, root)->parent;
    HONE_TRY(unify(u, root, 0));
    HONE_TRY(guard(u, root, u->need[root]));
    drop_axes(func, inner);
    while (lower_axis_of(hone_func_node(func, hone_func_node(func, inner)->parent)) >= 0)
        inner = hone_func_node(func, inner)->parent;
    *out_nest = inner;
    return HONE_OK;
}

hone_status lower_unify(hone_lower *lower) {
    hone_func *func = lower->func;
    unifier u = {.lower = lower};
    HONE_TRY(lower_sink_memory(lower));
    for (hone_node_id n = lower_next_launch(func, HONE_NODE_TOP); n != HONE_NO_ID;
         n = lower_next_launch(func, n)) {
        HONE_TRY(unify_launch(&u, n, &n));
    }
    return hone_ir_finish(&lower->ir);
}
