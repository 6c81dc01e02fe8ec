/* ir/verify/verify_race.c - iterations that run at once, or in any order, and store into one
 * element. */
#include <string.h>

#include "ir/core/concurrent.h"
#include "ir/core/touches.h"
#include "ir/region/relation.h"
#include "ir/verify/verify_impl.h"

static bool allocates(const hone_block *block, hone_buffer buffer) {
    for (uint32_t i = 0; i < block->alloc_count; i++) {
        if (block->allocs[i] == buffer) return true;
    }
    for (uint32_t i = 0; i < block->match_count; i++) {
        if (block->matches[i].buffer == buffer) return true;
    }
    return false;
}

/* What a loop does not share between its iterations: what begins to exist inside of it, and what
 * blocks allocate, which is moved to where it is used. */
bool verify_is_private(const verifier *v, hone_node_id loop, hone_buffer buffer) {
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind == HONE_NODE_BLOCK && allocates(node->u.block.block, buffer)) return true;
    }
    for (hone_node_id n = loop; n != HONE_NO_ID; n = hone_tree_next(v->func, loop, n)) {
        const hone_node *node = hone_func_node(v->func, n);
        bool is_here = node->kind == HONE_NODE_BLOCK && allocates(node->u.block.block, buffer);
        is_here |= (node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL) &&
                   node->u.alloc.buffer == buffer;
        if (is_here) return true;
    }
    return false;
}

typedef struct dependence {
    const verifier *v;
    hone_var var;
    uint32_t depth;
    bool is_found;
    const hone_expr *load; /* the first load on the way, which may give anything */
} dependence;

/* Through axes and lets. */
static bool find_var(void *ctx, const hone_expr *e) {
    dependence *d = ctx;
    if (d->is_found || d->depth > 50) return false;
    if (e->kind == HONE_EXPR_LOAD) {
        if (!d->load) d->load = e;
        return false;
    }
    if (e->kind == HONE_EXPR_CALL || e->kind == HONE_EXPR_LET) {
        d->is_found = true;
    } else if (e->kind == HONE_EXPR_VAR && e->u.var < d->v->func->var_count) {
        const hone_expr *source = d->v->points.vars[e->u.var].source;
        d->is_found = e->u.var == d->var;
        d->depth++;
        if (source && !d->is_found) hone_expr_walk(source, find_var, d);
        d->depth--;
    }
    return !d->is_found;
}

static bool depends(const verifier *v, const hone_expr *e, hone_var var,
                    const hone_expr **out_load) {
    dependence d = {.v = v, .var = var};
    hone_expr_walk(e, find_var, &d);
    *out_load = d.load;
    return d.is_found;
}

static bool is_guarded_by(const verifier *v, hone_var var) {
    for (uint32_t i = 0; i < v->points.guard_count; i++) {
        const hone_expr *load;
        if (depends(v, v->points.guards[i].condition, var, &load) || load) return true;
    }
    return false;
}

const char *verify_loop_kind(const hone_node *loop) {
    if (loop->loop_kind == HONE_LOOP_PARALLEL) return "parallel";
    return loop->loop_kind == HONE_LOOP_VECTORIZED ? "vectorized" : loop->u.loop.thread_tag;
}

/* B[X[i]] = ...: what X holds decides whether iterations meet. */
static void report_scatter(verifier *v, hone_node_id id, const hone_node *loop,
                           const hone_expr *load) {
    const hone_buffer_info *by = hone_func_buffer(v->func, load->u.buffer);
    verify_warning(v, id,
                   "iterations of the %s loop '%s' write '%s' where '%s' says, and nothing keeps "
                   "two of them from one element; make the loop serial, or update atomically",
                   verify_loop_kind(loop), verify_var_name(v, loop->u.loop.var),
                   hone_func_buffer(v->func, hone_func_node(v->func, id)->u.store.buffer)->name,
                   by->name);
}

/* All iterations of a parallel or vectorized loop store into the element that this store names.
 * False: nothing more is to be said of this store. */
static bool check_loop(verifier *v, hone_node_id id, hone_node_id at) {
    const hone_node *store = hone_func_node(v->func, id), *loop = hone_func_node(v->func, at);
    hone_var var = loop->u.loop.var;
    const hone_expr *load = NULL;
    const hone_expr *extent = loop->u.loop.range.extent;
    if ((extent->kind == HONE_EXPR_INT && extent->u.i < 2) || is_guarded_by(v, var)) return true;
    for (uint32_t d = 0; d < store->u.store.rank; d++) {
        const hone_expr *other;
        if (depends(v, store->u.store.indices[d], var, &other)) return true;
        if (!load) load = other;
    }
    if (verify_is_private(v, at, store->u.store.buffer)) return true;
    if (load) {
        if (load->u.buffer < v->func->buffer_count) report_scatter(v, id, loop, load);
        return false;
    }
    if (loop->loop_kind == HONE_LOOP_THREAD) return true; /* each thread may have one */
    verify_warning(v, id,
                   "'%s' is written by all iterations of the %s loop '%s' at the same element",
                   hone_func_buffer(v->func, store->u.store.buffer)->name, verify_loop_kind(loop),
                   verify_var_name(v, var));
    return true;
}

/* Threads run at once as well; what is local belongs to one of them. */
static bool runs_at_once(const verifier *v, const hone_node *loop, hone_buffer buffer) {
    if (hone_node_is_concurrent_loop(loop)) return true;
    const char *scope = hone_func_buffer(v->func, buffer)->scope;
    return hone_loop_is_of_threads(loop) && (!scope || strncmp(scope, "global", 6) == 0);
}

/* ---- blocks ---- */

/* By variable: the first values of axes and loops around the store, as far as these are numbers. */
static const hone_expr **first_values(verifier *v) {
    const hone_expr **at = hone_arena_zalloc(v->arena, (v->func->var_count + 1) * sizeof *at);
    if (!at) v->is_short_of_memory = true;
    for (hone_node_id n = at ? v->block : HONE_NO_ID; n != HONE_NO_ID;
         n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
        for (uint32_t i = 0; block && i < block->axis_count; i++)
            if (hone_expr_is_int(block->axes[i].dom.min))
                at[block->axes[i].var] = block->axes[i].dom.min;
        if (node->kind == HONE_NODE_FOR && hone_expr_is_int(node->u.loop.range.min))
            at[node->u.loop.var] = node->u.loop.range.min;
    }
    return at;
}

/* Two values of one axis, all else being the same, where the store writes what `other` indexes:
 * whatever all else is, or where it begins. */
static bool find_clash(verifier *v, hone_node_id id, const hone_expr *const *other,
                       const hone_axis *axis, int64_t *out) {
    const hone_node *store = hone_func_node(v->func, id);
    const hone_iter iter = {axis->var, axis->dom};
    hone_relation writes, others;
    hone_relation_begin(&writes, &v->arith, v->func, store->u.store.buffer, v->block);
    others = writes;
    hone_relation_add_element(&writes, id, store->u.store.indices);
    hone_relation_add_element(&others, id, other);
    if (other == store->u.store.indices && hone_is_injective(&writes, 1, &iter)) return false;
    if (hone_find_overlap(&writes, &others, &iter, NULL, &out[0], &out[1])) return true;
    const hone_expr **at = first_values(v);
    return at && hone_find_overlap(&writes, &others, &iter, at, &out[0], &out[1]);
}

/* The first load of what the store writes that is evaluated whatever holds, at another place. */
typedef struct own_load {
    const hone_node *store;
    const hone_expr *found;
} own_load;

static bool find_own_load(void *ctx, const hone_expr *e) {
    own_load *own = ctx;
    if (own->found || e->kind == HONE_EXPR_SELECT || e->kind == HONE_EXPR_LET) return false;
    if (hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) return false;
    if (e->kind != HONE_EXPR_LOAD || e->u.buffer != own->store->u.store.buffer) return true;
    for (uint32_t d = 0; d < e->count && d < own->store->u.store.rank; d++) {
        if (!hone_expr_same(e->args[d], own->store->u.store.indices[d])) own->found = e;
    }
    return true;
}

/* An instance that reads what another one writes: A[vi + 1] = A[vi] + A[vi + 2]. */
static void check_own_reads(verifier *v, hone_node_id id, const hone_block *block) {
    const hone_node *store = hone_func_node(v->func, id);
    own_load own = {.store = store};
    hone_expr_walk(store->u.store.value, find_own_load, &own);
    if (!own.found || own.found->count != store->u.store.rank) return;
    for (uint32_t i = 0; i < block->axis_count; i++) {
        const hone_axis *axis = &block->axes[i];
        int64_t clash[2];
        if (axis->kind != HONE_AXIS_SPATIAL) continue;
        if (!find_clash(v, id, own.found->args, axis, clash)) continue;
        verify_warning(v, id,
                       "block '%s' reads, where spatial axis '%s' is %lld, the element of '%s' "
                       "that it writes where it is %lld; spatial axes have no order",
                       block->name, verify_var_name(v, axis->var), (long long)clash[1],
                       hone_func_buffer(v->func, store->u.store.buffer)->name, (long long)clash[0]);
        return;
    }
}

static bool has_constant_domains(const hone_block *block) {
    for (uint32_t i = 0; i < block->axis_count; i++) {
        if (block->axes[i].dom.min->kind != HONE_EXPR_INT ||
            block->axes[i].dom.extent->kind != HONE_EXPR_INT) {
            return false;
        }
    }
    return true;
}

/* ---- memory that is written anew ---- */

static bool touches(const verifier *v, hone_node_id top, hone_buffer buffer) {
    return hone_loads_below(v->func, top, buffer) || hone_stores_below(v->func, top, buffer) ||
           hone_has_opaque_access(v->func, top, buffer);
}

static bool is_touched_beside(const verifier *v, hone_node_id id, hone_buffer buffer) {
    for (hone_node_id c = id, p; (p = hone_func_node(v->func, c)->parent) != HONE_NO_ID; c = p) {
        for (hone_node_id n = hone_func_node(v->func, p)->first; n != HONE_NO_ID;
             n = hone_func_node(v->func, n)->next) {
            if (n != c && touches(v, n, buffer)) return true;
        }
    }
    return false;
}

/* Iterations of a loop around all that touches the buffer share it while they run at once: threads
 * of a block its shared memory, say. */
static bool is_shared_at_once(const verifier *v, const hone_node *loop, hone_buffer buffer) {
    return hone_loop_is_of_threads(loop) &&
           !hone_scope_is_own(hone_func_buffer(v->func, buffer)->scope, loop->u.loop.thread_tag);
}

/* How many values of an axis of the block there are while the loops around all that touches the
 * buffer stand still: a tile of shared memory or a thread's own, say, is filled and read in each of
 * their iterations, and written anew in the next. Threads that share it do not wait for each other.
 * -1: not known. */
static int64_t values_at_once(verifier *v, const hone_expr *binding, hone_buffer buffer) {
    bool is_around = false; /* the node is around all that touches the buffer */
    hone_range range;
    bool *inner = hone_arena_zalloc(v->arena, v->func->var_count + 1);
    if (!inner) v->is_short_of_memory = true;
    for (hone_node_id n = v->block; inner && n != HONE_NO_ID;
         n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        is_around = is_around || !is_touched_beside(v, n, buffer);
        if (node->kind == HONE_NODE_FOR)
            inner[node->u.loop.var] = !is_around || is_shared_at_once(v, node, buffer);
    }
    if (!inner || !binding) return -1;
    hone_interval values = hone_arith_relax(&v->arith, binding, inner, v->func->var_count, NULL);
    if (!hone_interval_range(&v->arith, values, binding->dtype, &range)) return -1;
    return hone_expr_const(range.extent);
}

/* The axis, or as many of its values as there are at once. */
static hone_axis axis_at_once(verifier *v, hone_node_id id, const hone_block *block, uint32_t i) {
    hone_buffer buffer = hone_func_node(v->func, id)->u.store.buffer;
    const char *scope = hone_func_buffer(v->func, buffer)->scope;
    hone_axis axis = block->axes[i];
    if (!scope || strncmp(scope, "global", 6) == 0) return axis;
    int64_t count =
        values_at_once(v, hone_func_node(v->func, v->block)->u.block.bindings[i], buffer);
    if (count < 1 || count >= hone_expr_const(axis.dom.extent)) return axis;
    axis.dom.extent = hone_expr_int(&v->arith.ir, axis.dom.extent->dtype, count);
    if (!axis.dom.extent) axis.dom.extent = block->axes[i].dom.extent;
    return axis;
}

static bool check_spatial_axes(verifier *v, hone_node_id id, const hone_block *block) {
    const hone_node *store = hone_func_node(v->func, id);
    for (uint32_t i = 0; i < block->axis_count; i++) {
        int64_t clash[2];
        if (block->axes[i].kind != HONE_AXIS_SPATIAL) continue;
        if (!find_clash(v, id, store->u.store.indices, &block->axes[i], clash)) continue;
        const hone_axis axis = axis_at_once(v, id, block, i);
        if (!find_clash(v, id, store->u.store.indices, &axis, clash)) continue;
        verify_warning(v, id,
                       "block '%s' writes one element of '%s' where spatial axis '%s' is %lld and "
                       "%lld",
                       block->name, hone_func_buffer(v->func, store->u.store.buffer)->name,
                       verify_var_name(v, axis.var), (long long)clash[0], (long long)clash[1]);
        return false;
    }
    return true;
}

/* Instances of a block that differ in a spatial axis may run in any order. */
static void check_block(verifier *v, hone_node_id id) {
    const hone_block *block = hone_func_node(v->func, v->block)->u.block.block;
    hone_node_id parent = hone_func_node(v->func, id)->parent;
    if (parent != v->block && hone_func_node(v->func, parent)->kind != HONE_NODE_LET) return;
    if (!has_constant_domains(block) || block->axis_count == 0) return;
    if (allocates(block, hone_func_node(v->func, id)->u.store.buffer)) return;
    const hone_node *store = hone_func_node(v->func, id);
    if (store->u.store.rank != hone_func_buffer(v->func, store->u.store.buffer)->rank) return;
    if (check_spatial_axes(v, id, block) && !v->out->errors_only) check_own_reads(v, id, block);
}

void verify_races(verifier *v, hone_node_id id) {
    const hone_node *store = hone_func_node(v->func, id);
    if (store->u.store.buffer >= v->func->buffer_count) return;
    uint32_t left = v->loops_at_once;
    for (hone_node_id n = store->parent; left > 0; n = hone_func_node(v->func, n)->parent) {
        const hone_node *loop = hone_func_node(v->func, n);
        if (!hone_node_is_concurrent_loop(loop) && !hone_loop_is_of_threads(loop)) continue;
        left--;
        if (runs_at_once(v, loop, store->u.store.buffer) && !check_loop(v, id, n)) break;
    }
    if (v->block != HONE_NO_ID) check_block(v, id);
}
