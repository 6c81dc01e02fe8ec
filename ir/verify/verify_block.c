/* ir/verify/verify_block.c - what a block promises: its bindings run exactly over its axes,
 * reductions add up once, and its regions hold what it touches. */
#include <string.h>

#include "ir/verify/verify_impl.h"

/* ---- bindings and domains ---- */

/* Its range as a whole leaves the domain; whether some iteration does is looked for where there are
 * conditions. */
static void report_outside(verifier *v, hone_node_id id, uint32_t i, hone_interval span,
                           bool is_certain) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_axis *axis = &node->u.block.block->axes[i];
    const char *kind = verify_axis_word(axis->kind), *name = verify_var_name(v, axis->var);
    const char *block = node->u.block.block->name;
    long long min = axis->dom.min->u.i, end = min + axis->dom.extent->u.i;
    int64_t value;
    hone_outside answer =
        is_certain ? HONE_OUTSIDE_UNKNOWN
                   : hone_find_outside(&v->points, id, node->u.block.bindings[i], min, end, &value);
    if (answer == HONE_OUTSIDE_NEVER) return;
    if (answer == HONE_OUTSIDE_FOUND) {
        hone_str where = {0};
        verify_show_point(v, node->u.block.bindings[i], &where);
        verify_error(v, id,
                     "binding of %s '%s' of block '%s' is %lld%s, outside of its domain [%lld, "
                     "%lld)",
                     kind, name, block, (long long)value, hone_str_text(&where), min, end);
        hone_str_deinit(&where);
        return;
    }
    (is_certain ? verify_error : verify_warning)(
        v, id,
        "binding of %s '%s' of block '%s' %s %lld to %lld, outside of its domain [%lld, %lld)",
        kind, name, block, is_certain ? "runs from" : "may run from", (long long)span.min->u.i,
        (long long)span.max->u.i, min, end);
}

static bool never_holds(const hone_expr *e) {
    if (hone_expr_is_op(e, HONE_OP_AND)) return never_holds(e->args[0]) || never_holds(e->args[1]);
    return hone_expr_is_int_value(e, 0);
}

/* What a binding says of itself tells nothing of the loops and conditions around it: none of the
 * loops may have an iteration, no condition may ever hold. */
static bool never_runs(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && hone_expr_is_int_value(node->u.loop.range.extent, 0))
            return true;
        const hone_expr *condition = node->kind == HONE_NODE_BLOCK ? node->u.block.predicate : NULL;
        if (condition && never_holds(condition)) return true;
    }
    return false;
}

static void check_constant_domain(verifier *v, hone_node_id id, uint32_t i, hone_interval span,
                                  bool is_certain) {
    const hone_axis *axis = &hone_func_node(v->func, id)->u.block.block->axes[i];
    int64_t min = axis->dom.min->u.i, extent = axis->dom.extent->u.i;
    int64_t lo = span.min->u.i, hi = span.max->u.i;
    if (hi < lo) { /* nothing runs */
        if (is_certain || v->facts.count > 0) {
            verify_warning(v, id, "block '%s' never runs: its conditions cannot all hold",
                           hone_func_node(v->func, id)->u.block.block->name);
        }
        return;
    }
    if (lo < min || hi > min + extent - 1)
        report_outside(v, id, i, span, is_certain);
    else if (hi - lo + 1 < extent && !never_runs(v->func, id))
        verify_uncovered(v, id, i, lo, hi);
}

static bool leaves_symbolic_domain(verifier *v, hone_node_id id, const hone_axis *axis,
                                   const hone_expr *binding) {
    hone_str where = {0}, sizes = {0};
    int64_t value, extent;
    bool leaves = verify_leaves_for_all_sizes(v, binding, axis->dom.min, axis->dom.extent, &value,
                                              &extent, &where, &sizes);
    if (leaves) {
        verify_error(v, id,
                     "binding of %s '%s' of block '%s' is %lld%s, outside of its domain, whose "
                     "extent is %lld%s",
                     verify_axis_word(axis->kind), verify_var_name(v, axis->var),
                     hone_func_node(v->func, id)->u.block.block->name, (long long)value,
                     hone_str_text(&where), (long long)extent, hone_str_text(&sizes));
    }
    hone_str_deinit(&where);
    hone_str_deinit(&sizes);
    return leaves;
}

static void check_symbolic_domain(verifier *v, hone_node_id id, const hone_axis *axis,
                                  const hone_expr *binding, hone_interval span) {
    hone_ir *ir = &v->arith.ir;
    const char *block = hone_func_node(v->func, id)->u.block.block->name;
    if (!span.min || !span.max) return;
    const hone_expr *end = hone_expr_add(ir, axis->dom.min, axis->dom.extent);
    if (!end) return;
    if (!hone_prove_less_equal(&v->arith, axis->dom.min, span.min) ||
        !hone_prove_less(&v->arith, span.max, end)) {
        if (leaves_symbolic_domain(v, id, axis, binding)) return;
        bool always = !v->facts.count && !v->facts.has_others &&
                      hone_prove_less_equal(&v->arith, end, span.min);
        if (always) {
            verify_error(v, id,
                         "binding of %s '%s' of block '%s' lies behind its domain in every "
                         "iteration; an axis takes its extent first, then its binding",
                         verify_axis_word(axis->kind), verify_var_name(v, axis->var), block);
            return;
        }
        verify_warning(v, id,
                       "cannot show that the binding of %s '%s' of block '%s' stays in its domain",
                       verify_axis_word(axis->kind), verify_var_name(v, axis->var), block);
    }
}

static void check_binding(verifier *v, hone_node_id id, uint32_t i) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_axis *axis = &node->u.block.block->axes[i];
    const hone_expr *binding = node->u.block.bindings[i];
    verify_integer(v, binding, "the binding of an axis");
    verify_integer(v, axis->dom.min, "the begin of an axis");
    verify_integer(v, axis->dom.extent, "the extent of an axis");
    if (!binding || !hone_dtype_is_integer(binding->dtype) || axis->kind == HONE_AXIS_OPAQUE ||
        !hone_expr_is_pure_index(binding)) {
        return;
    }
    bool is_exact;
    hone_interval span = region_relax_span(&v->arith, &v->facts, binding, binding, v->relax,
                                           v->func->var_count, &is_exact);
    bool is_certain =
        is_exact && !v->facts.count && !v->facts.has_others && !never_runs(v->func, id);
    bool is_constant = span.min && span.max && span.min->kind == HONE_EXPR_INT &&
                       span.max->kind == HONE_EXPR_INT && axis->dom.min->kind == HONE_EXPR_INT &&
                       axis->dom.extent->kind == HONE_EXPR_INT;
    if (is_constant)
        check_constant_domain(v, id, i, span, is_certain);
    else
        check_symbolic_domain(v, id, axis, binding, span);
}

/* Two axes that are one loop: T.axis.remap("SS", [i, i]). */
static bool check_bound_twice(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t i = 1; i < block->axis_count; i++) {
        const hone_expr *binding = node->u.block.bindings[i];
        for (uint32_t k = 0; k < i && binding->kind == HONE_EXPR_VAR; k++) {
            if (!hone_expr_same(binding, node->u.block.bindings[k])) continue;
            verify_warning(
                v, id,
                "axes '%s' and '%s' of block '%s' are bound to one loop, '%s': only where "
                "they are equal is anything done",
                verify_var_name(v, block->axes[k].var), verify_var_name(v, block->axes[i].var),
                block->name, verify_var_name(v, binding->u.var));
            return true;
        }
    }
    return false;
}

/* Loops run at most as often as their extents say, so that axes with more values are not covered.
 */
static void check_together(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    double axes = 1, loops = 1;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        int64_t extent = hone_expr_const(block->axes[i].dom.extent);
        if (extent < 1 || !hone_expr_is_pure_index(node->u.block.bindings[i])) return;
        axes *= (double)extent;
    }
    for (hone_node_id n = node->parent; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = hone_func_node(v->func, n);
        if (loop->kind == HONE_NODE_BLOCK && n != hone_func_root_block(v->func)) return;
        if (loop->kind == HONE_NODE_LET || loop->kind == HONE_NODE_WHILE) return;
        if (loop->kind != HONE_NODE_FOR) continue;
        int64_t extent = hone_expr_const(loop->u.loop.range.extent);
        if (extent < 1) return;
        bool moves = false;
        for (uint32_t i = 0; i < block->axis_count; i++)
            moves |= hone_expr_uses_var(node->u.block.bindings[i], loop->u.loop.var);
        if (moves) loops *= (double)extent;
    }
    if (loops >= axes || verify_shares_output(v, id) || v->out->error_count > 0) return;
    if (check_bound_twice(v, id)) return;
    verify_warning(
        v, id,
        "the axes of block '%s' have %.0f values together, the loops that move them only %.0f",
        block->name, axes, loops);
}

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

static bool has_reduce_axis(const hone_block *block) {
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

/* A loop inside the reduction that moves no axis repeats every update. */
static void check_reduction_loops(verifier *v, hone_node_id id) {
    const hone_node *block = hone_func_node(v->func, id);
    hone_node_id idle = HONE_NO_ID;
    const hone_expr *predicate = block->u.block.predicate;
    if (predicate && never_holds(predicate)) return; /* it never runs */
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
    for (uint32_t i = 0; i < block->read_count; i++) {
        for (uint32_t k = 0; k < block->write_count; k++) {
            if (block->reads[i].buffer == block->writes[k].buffer) return true;
        }
    }
    return false;
}

/* A spatial axis takes each value once; an update in place shows when it does not. */
static void check_repeated_update(verifier *v, hone_node_id id) {
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
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    const hone_axis *none = NULL;
    if (hone_block_init_of(v->func, id) == HONE_NO_ID) return;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        if (!hone_expr_is_int_value(axis->dom.extent, 0)) continue;
        if (axis->kind != HONE_AXIS_REDUCE) return; /* nothing is written anyway */
        none = axis;
    }
    if (none) {
        verify_error(v, id,
                     "block '%s' reduces over nothing: axis '%s' has the extent 0, so its T.init "
                     "never runs",
                     block->name, verify_var_name(v, none->var));
    }
}

/* What a reduction adds to must have been set, by its T.init or before. */
static void check_init(verifier *v, hone_node_id id) {
    check_not_over_nothing(v, id);
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    hone_node_id init = hone_block_init_of(v->func, id);
    bool has_reduce = has_reduce_axis(block);
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

static void check_outputs(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    hone_node_id init = hone_block_init_of(v->func, id);
    bool *reduce = hone_arena_zalloc(v->arena, v->func->var_count + 1);
    if (!reduce) {
        v->is_short_of_memory = true;
        return;
    }
    if (!has_reduce_axis(block)) return;
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

/* ---- views ---- */

/* The region that a view shows lies in the buffer. */
static void check_match_region(verifier *v, hone_node_id id, const hone_match *match) {
    const hone_buffer_info *source = hone_func_buffer(v->func, match->source.buffer);
    for (uint32_t d = 0; d < source->rank; d++) {
        const hone_range *range = &match->source.ranges[d];
        int64_t extent = hone_expr_const(source->shape[d]), width = hone_expr_const(range->extent);
        int64_t value;
        if (extent < 0 || width < 0 || !hone_dtype_is_integer(range->min->dtype)) continue;
        if (hone_find_outside(&v->points, id, range->min, 0, extent - width + 1, &value) !=
            HONE_OUTSIDE_FOUND) {
            continue;
        }
        hone_str where = {0};
        verify_show_point(v, range->min, &where);
        verify_error(v, id,
                     "'%s' shows %lld to %lld%s of dimension %u of '%s', whose extent is %lld",
                     hone_func_buffer(v->func, match->buffer)->name, (long long)value,
                     (long long)(value + width - 1), hone_str_text(&where), (unsigned)d,
                     source->name, (long long)extent);
        hone_str_deinit(&where);
    }
}

/* The extent of a region is that of the view, in every iteration. */
static void check_match_extent(verifier *v, hone_node_id id, const hone_match *match,
                               const hone_expr *extent, const hone_expr *want) {
    int64_t number = hone_expr_const(want), value;
    if (number < 0 || !hone_dtype_is_integer(extent->dtype)) return;
    if (hone_find_outside(&v->points, id, extent, number, number + 1, &value) != HONE_OUTSIDE_FOUND)
        return;
    hone_str where = {0};
    verify_show_point(v, extent, &where);
    verify_error(v, id,
                 "'%s' has the extent %lld where the region of '%s' that it matches has %lld%s",
                 hone_func_buffer(v->func, match->buffer)->name, (long long)number,
                 hone_func_buffer(v->func, match->source.buffer)->name, (long long)value,
                 hone_str_text(&where));
    hone_str_deinit(&where);
}

/* Strides that are numbers are those of what the view shows. */
static void check_match_strides(verifier *v, hone_node_id id, const hone_buffer_info *view,
                                const hone_buffer_info *source) {
    int64_t dense = 1;
    for (uint32_t back = 1; view->strides && back <= view->rank; back++) {
        uint32_t d = view->rank - back, of = source->rank - back;
        int64_t want = source->strides ? hone_expr_const(source->strides[of]) : dense;
        int64_t said = hone_expr_const(view->strides[d]),
                extent = hone_expr_const(source->shape[of]);
        bool matters = hone_expr_const(view->shape[d]) != 1;
        if (want >= 0 && said >= 0 && want != said && matters) {
            verify_error(v, id,
                         "'%s' has the stride %lld in dimension %u where '%s', which it shows, "
                         "has %lld",
                         view->name, (long long)said, (unsigned)d, source->name, (long long)want);
            return;
        }
        if (extent < 0 || dense < 0 || __builtin_mul_overflow(dense, extent, &dense)) dense = -1;
    }
}

/* T.match_buffer inside of a block: the last dimensions of the region are those of the view, the
 * ones before are one wide. */
static void check_match(verifier *v, hone_node_id id, const hone_match *match) {
    const hone_buffer_info *view = hone_func_buffer(v->func, match->buffer);
    const hone_buffer_info *source = hone_func_buffer(v->func, match->source.buffer);
    if (!hone_dtype_equal(view->dtype, source->dtype)) {
        verify_error(v, id, "'%s' is %s and matches '%s', which is %s", view->name,
                     HONE_DTYPE_NAME(view->dtype), source->name, HONE_DTYPE_NAME(source->dtype));
    }
    if (view->rank > source->rank) {
        verify_error(v, id, "'%s' has %u dimensions and matches a region of %u of '%s'", view->name,
                     (unsigned)view->rank, (unsigned)source->rank, source->name);
        return;
    }
    check_match_region(v, id, match);
    uint32_t ahead = source->rank - view->rank;
    for (uint32_t d = 0; d < source->rank; d++) {
        const hone_expr *extent = match->source.ranges[d].extent;
        const hone_expr *one = hone_expr_i32(&v->arith.ir, 1);
        const hone_expr *want = d < ahead ? one : view->shape[d - ahead];
        if (one) check_match_extent(v, id, match, extent, want);
    }
    check_match_strides(v, id, view, source);
    if (view->scope && source->scope && strcmp(view->scope, source->scope) != 0) {
        verify_error(v, id, "'%s' is in the scope \"%s\" and matches '%s', which is in \"%s\"",
                     view->name, view->scope, source->name, source->scope);
    }
}

/* ---- the two halves ---- */

void verify_block_outside(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_block *block = node->u.block.block;
    region_facts facts = v->facts;
    uint32_t mark = v->arith.fact_count, guards = v->points.guard_count;
    v->node = id;
    if (node->u.block.predicate) {
        verify_condition(v, node->u.block.predicate, "the predicate of a block");
        hone_arith_push(&v->arith, node->u.block.predicate);
        region_facts_add(&v->facts, &v->arith, node->u.block.predicate);
        verify_know(v, node->u.block.predicate, false, false);
    }
    for (uint32_t i = 0; i < block->axis_count; i++)
        check_binding(v, id, i);
    check_together(v, id);
    hone_arith_pop(&v->arith, mark);
    v->points.guard_count = guards;
    v->facts = facts;
    if (has_reduce_axis(block))
        check_reduction_loops(v, id);
    else
        check_repeated_update(v, id);
}

void verify_block_inside(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, id)->u.block.block;
    v->node = id;
    for (uint32_t i = 0; i < block->match_count; i++) {
        const hone_match *match = &block->matches[i];
        if (match->buffer >= v->func->buffer_count) {
            verify_error(v, id, "block '%s' matches a buffer that does not exist", block->name);
            continue;
        }
        verify_region_shape(v, id, &match->source, "views");
        if (match->source.buffer < v->func->buffer_count) check_match(v, id, match);
    }
    verify_regions(v, id);
    check_init(v, id);
    check_outputs(v, id);
}
