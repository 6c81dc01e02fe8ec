/* ir/verify/verify_reduce.c - reductions of blocks: each update happens once, starts from what was
 * set, and adds to one element only. */
#include "ir/region/region.h"
#include "ir/verify/verify_impl.h"

/* ---- reductions ---- */

static bool binds(const verifier *v, hone_node_id id, hone_var var, bool reduce_only) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (reduce_only && block->axes[i].kind != HONE_AXIS_REDUCE) continue;
        if (hone_expr_uses_var(node->u.block.bindings[i], var)) return true;
    }
    return false;
}

bool verify_has_reduce_axis(const hone_block *block) {
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].kind == HONE_AXIS_REDUCE) return true;
    }
    return false;
}

/* A spatial axis is the loop, whose iterations then have no element in common: where its reduce
 * axes depend on the loop as well, it is because a loop inside is as long as this one says. */
static bool is_spatial_axis(const verifier *v, hone_node_id id, hone_var var) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_expr *binding = node->u.block.bindings[i];
        if (block->axes[i].kind == HONE_AXIS_SPATIAL && binding->kind == HONE_EXPR_VAR &&
            binding->u.var == var) {
            return true;
        }
    }
    return false;
}

/* Iterations that run apart must not reduce into one element; threads of one group may. */
static void check_reduce_loop_kind(verifier *v, hone_node_id id, const hone_node *loop) {
    const char *how = NULL;
    if (is_spatial_axis(v, id, loop->u.loop.var)) return;
    if (loop->loop_kind == HONE_LOOP_PARALLEL) how = "parallel";
    if (loop->loop_kind == HONE_LOOP_VECTORIZED) how = "vectorized";
    if (loop->loop_kind == HONE_LOOP_THREAD && loop->u.loop.thread_tag &&
        loop->u.loop.thread_tag[0] == 'b') {
        how = loop->u.loop.thread_tag;
    }
    if (how) {
        verify_error(v, id, "loop '%s' is %s and runs over a reduction axis of block '%s'",
                     verify_var_name(v, loop->u.loop.var), how,
                     hone_func_node(v->func, id)->u.block.block->name);
    }
}

void verify_reduction_loops(verifier *v, hone_node_id id) {
    const hone_node *block = hone_func_node(v->func, id);
    hone_node_id idle = HONE_NO_ID;
    const hone_expr *predicate = block->u.block.predicate;
    if (predicate && verify_never_holds(predicate)) return; /* it never runs */
    for (hone_node_id n = block->parent; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind == HONE_NODE_BLOCK) break;
        if (node->kind != HONE_NODE_FOR) continue;
        hone_var var = node->u.loop.var;
        bool is_guarded = predicate && hone_expr_uses_var(predicate, var);
        if (!binds(v, id, var, false) && !is_guarded &&
            hone_expr_const(node->u.loop.range.extent) > 1) {
            idle = n;
        }
        if (!binds(v, id, var, true)) continue;
        check_reduce_loop_kind(v, id, node);
        if (idle == HONE_NO_ID) continue;
        verify_error(
            v, id, "loop '%s' moves no axis of block '%s', so its updates run %lld times",
            verify_var_name(v, hone_func_node(v->func, idle)->u.loop.var),
            block->u.block.block->name,
            (long long)hone_expr_const(hone_func_node(v->func, idle)->u.loop.range.extent));
        return;
    }
}

static bool updates_in_place(const hone_block *block) {
    for (uint32_t k = 0; k < block->write_count; k++) {
        if (hone_region_of(block->read_count, block->reads, block->writes[k].buffer)) return true;
    }
    return false;
}

void verify_repeated_update(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    if (block->axis_count == 0 || !updates_in_place(block)) return;
    hone_node_id n = hone_func_node(v->func, id)->parent;
    for (; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = hone_func_node(v->func, n);
        if (loop->kind == HONE_NODE_BLOCK) return;
        if (loop->kind != HONE_NODE_FOR || binds(v, id, loop->u.loop.var, false)) continue;
        if (hone_expr_const(loop->u.loop.range.extent) < 2) continue;
        verify_warning(v, id, "block '%s' updates in place, and loop '%s' repeats it", block->name,
                       verify_var_name(v, loop->u.loop.var));
        return;
    }
}

static bool is_written_before(const verifier *v, hone_node_id id, hone_buffer buffer) {
    for (hone_node_id n = 0; n != HONE_NO_ID && n != id; n = hone_tree_next(v->func, 0, n)) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == buffer) return true;
        if (node->kind == HONE_NODE_EVAL) return true; /* a call may fill it */
    }
    return false;
}

/* C[i] = C[i] + ..., not in the T.init. */
static bool updates(const verifier *v, hone_node_id id, hone_node_id init, hone_buffer buffer) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(v->func, id, n)) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != buffer) continue;
        if (init != HONE_NO_ID && hone_tree_is_ancestor(v->func, init, n)) continue;
        if (hone_expr_loads(node->u.store.value, buffer)) return true;
    }
    return false;
}

/* T.init is inside of the loops: where they have no iterations the result is whatever was there. */
static void check_not_over_nothing(verifier *v, hone_node_id id) {
    const hone_axis *axis = hone_block_over_nothing(v->func, id, NULL);
    if (axis) {
        verify_error(v, id,
                     "block '%s' reduces over nothing: axis '%s' has the extent 0, so its T.init "
                     "never runs",
                     hone_func_node(v->func, id)->u.block.block->name,
                     verify_var_name(v, axis->var));
    }
}

void verify_init(verifier *v, hone_node_id id) {
    check_not_over_nothing(v, id);
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    hone_node_id init = hone_block_init_of(v->func, id);
    bool has_reduce = verify_has_reduce_axis(block);
    for (uint32_t i = 0; i < block->write_count && (has_reduce || init != HONE_NO_ID); i++) {
        hone_buffer buffer = block->writes[i].buffer;
        if (buffer >= v->func->buffer_count || !updates(v, id, init, buffer)) continue;
        if (!has_reduce) {
            verify_warning(v, id,
                           "block '%s' has T.init and no reduction axis, so that it starts anew "
                           "with every update",
                           block->name);
            return;
        }
        if (init != HONE_NO_ID && hone_stores_below(v->func, init, buffer)) continue;
        if (is_written_before(v, id, buffer)) continue;
        verify_warning(v, id, "block '%s' adds up in '%s', which %s and nothing sets before",
                       block->name, hone_func_buffer(v->func, buffer)->name,
                       init == HONE_NO_ID ? "no T.init sets" : "its T.init does not set");
    }
}

static void mark_reduce_vars(const hone_block *block, bool *set, bool value) {
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].kind == HONE_AXIS_REDUCE) set[block->axes[i].var] = value;
    }
}

static bool store_uses(const verifier *v, const hone_node *store, const bool *set) {
    for (uint32_t i = 0; i < store->u.store.rank; i++) {
        if (hone_expr_uses_any(store->u.store.indices[i], set, v->func->var_count)) return true;
    }
    return false;
}

static void check_init_store(verifier *v, hone_node_id id, hone_node_id init, hone_node_id at,
                             const bool *reduce) {
    const hone_node *store = hone_func_node(v->func, at);
    const char *block = hone_func_node(v->func, id)->u.block.block->name;
    bool is_in_init = init != HONE_NO_ID && hone_tree_is_ancestor(v->func, init, at);
    const char *buffer = store->u.store.buffer < v->func->buffer_count
                             ? hone_func_buffer(v->func, store->u.store.buffer)->name
                             : "?";
    if (store_uses(v, store, reduce)) {
        verify_error(v, at, "block '%s' writes '%s' at an index that moves with a reduction axis",
                     block, buffer);
    } else if (is_in_init && hone_expr_uses_any(store->u.store.value, reduce, v->func->var_count)) {
        verify_error(v, at, "the init of block '%s' depends on a reduction axis", block);
    }
}

/* A block that reduces without T.init: its store moves along, or forgets what was there. */
static void check_plain_store(verifier *v, hone_node_id id, hone_node_id at, const bool *reduce) {
    const hone_node *store = hone_func_node(v->func, at);
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    if (store->parent != id || store->u.store.buffer >= v->func->buffer_count) return;
    const char *buffer = hone_func_buffer(v->func, store->u.store.buffer)->name;
    if (store_uses(v, store, reduce)) {
        verify_warning(v, at, "block '%s' writes '%s' at an index that moves with a reduction axis",
                       block->name, buffer);
        return;
    }
    if (!hone_expr_loads(store->u.store.value, store->u.store.buffer) &&
        hone_expr_uses_any(store->u.store.value, reduce, v->func->var_count)) {
        verify_warning(v, at,
                       "block '%s' overwrites '%s' with every value of its reduction axis and "
                       "adds up nothing",
                       block->name, buffer);
    }
}

static hone_node_id direct_store(const verifier *v, hone_node_id parent, hone_buffer buffer) {
    hone_node_id found = HONE_NO_ID;
    for (hone_node_id n = hone_func_node(v->func, parent)->first; n != HONE_NO_ID;
         n = hone_func_node(v->func, n)->next) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer != buffer) continue;
        if (found != HONE_NO_ID) return HONE_NO_ID; /* several */
        found = n;
    }
    return found;
}

/* T.init sets the element that the block adds to. */
static void check_init_place(verifier *v, hone_node_id id, hone_node_id init) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    for (uint32_t i = 0; i < block->write_count; i++) {
        hone_buffer buffer = block->writes[i].buffer;
        if (buffer >= v->func->buffer_count) continue;
        hone_node_id first = direct_store(v, init, buffer), update = direct_store(v, id, buffer);
        if (first == HONE_NO_ID || update == HONE_NO_ID) continue;
        const hone_node *a = hone_func_node(v->func, first), *b = hone_func_node(v->func, update);
        bool same = a->u.store.rank == b->u.store.rank;
        for (uint32_t d = 0; same && d < a->u.store.rank; d++) {
            same = hone_expr_same(a->u.store.indices[d], b->u.store.indices[d]) ||
                   hone_prove_equal(&v->arith, a->u.store.indices[d], b->u.store.indices[d]);
        }
        if (same) verify_odd_start(v, id, first, update);
        if (same) continue;
        verify_warning(v, first,
                       "T.init of block '%s' sets another element of '%s' than the block "
                       "adds to",
                       block->name, hone_func_buffer(v->func, buffer)->name);
    }
}

/* The next node of a block that is not inside of a nested block. */
static hone_node_id next_inside(const verifier *v, hone_node_id id, hone_node_id n) {
    bool is_nested = n != id && hone_func_node(v->func, n)->kind == HONE_NODE_BLOCK;
    return is_nested ? hone_tree_next_over(v->func, id, n) : hone_tree_next(v->func, id, n);
}

/* What the init does in blocks of its own knows nothing of the reduction either. */
static void check_nested_init(verifier *v, hone_node_id id, hone_node_id init, const bool *reduce) {
    for (hone_node_id n = init; n != HONE_NO_ID; n = hone_tree_next(v->func, init, n)) {
        const hone_node *node = hone_func_node(v->func, n);
        bool is_used = false;
        if (node->kind == HONE_NODE_STORE && node->parent != init) {
            is_used = hone_expr_uses_any(node->u.store.value, reduce, v->func->var_count) ||
                      store_uses(v, node, reduce);
        }
        for (uint32_t i = 0; node->kind == HONE_NODE_BLOCK && i < node->u.block.block->axis_count;
             i++)
            is_used |= hone_expr_uses_any(node->u.block.bindings[i], reduce, v->func->var_count);
        if (!is_used) continue;
        verify_error(v, n, "the init of block '%s' depends on a reduction axis",
                     hone_func_node(v->func, id)->u.block.block->name);
        return;
    }
}

void verify_outputs_of_block(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    hone_node_id init = hone_block_init_of(v->func, id);
    if (!verify_has_reduce_axis(block)) return;
    bool *reduce = hone_arena_zalloc(v->arena, v->func->var_count + 1);
    if (!reduce) {
        v->is_short_of_memory = true;
        return;
    }
    mark_reduce_vars(block, reduce, true);
    for (hone_node_id n = next_inside(v, id, id); n != HONE_NO_ID; n = next_inside(v, id, n)) {
        if (hone_func_node(v->func, n)->kind != HONE_NODE_STORE) continue;
        if (init == HONE_NO_ID) {
            check_plain_store(v, id, n, reduce);
        } else {
            check_init_store(v, id, init, n, reduce);
            bool is_in_init = hone_tree_is_ancestor(v->func, init, n);
            if (!is_in_init && !store_uses(v, hone_func_node(v->func, n), reduce))
                check_plain_store(v, id, n, reduce);
        }
    }
    if (init != HONE_NO_ID) check_init_place(v, id, init);
    if (init != HONE_NO_ID) check_nested_init(v, id, init, reduce);
}
