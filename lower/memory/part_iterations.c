/* lower/memory/part_iterations.c - a dimension of a buffer for the iterations of a loop that run at
 * once.
 *
 * for s in range(4):                          T = alloc_buffer((8, 9))
 *     for i in T.parallel(8):                 for s in range(4):
 *         for t in range(2):         →            for i in T.parallel(8):
 *             T[i + t] = …                            for t in range(2):
 *         … T[i] … T[i + 1] …                             T[i, i + t] = …
 *
 * for what cannot be an allocation inside of the loop: an iteration may go on with what it stored
 * in an earlier iteration of a loop around it. Where iterations may store to the same elements and
 * look up where they read, one runs after the other. */
#include "ir/region/relation.h"
#include "lower/ground/scope.h"
#include "lower/memory/lifetimes.h"
#include "support/data/tensor.h"

typedef struct parting {
    lower_scope scope; /* of one iteration */
    hone_buffer buffer;
    lower_accesses all;
    hone_node_id loop;
} parting;

/* What all stores touch in dimension d in one iteration; false where that is not known. */
static bool stored_in(parting *p, uint32_t d, hone_interval *out) {
    *out = (hone_interval){NULL, NULL};
    for (uint32_t i = 0; i < p->all.count; i++) {
        if (!p->all.items[i].is_store) continue;
        hone_interval one = lower_range_below(&p->scope, p->all.items[i].indices[d]);
        if (!one.min || !one.max) return false;
        *out = out->min ? hone_interval_union(&p->scope.arith, *out, one) : one;
        if (!out->min || !out->max) return false;
    }
    return out->min != NULL;
}

static bool has_disjoint_stores(parting *p) {
    const hone_func *func = p->scope.lower->func;
    hone_relation stores;
    hone_relation_begin(&stores, &p->scope.arith, func, p->buffer,
                        hone_func_node(func, p->loop)->parent);
    for (uint32_t i = 0; i < p->all.count; i++) {
        const lower_access *access = &p->all.items[i];
        if (access->is_store) hone_relation_add_element(&stores, access->node, access->indices);
    }
    return hone_carries_no_dependence(&stores, p->loop);
}

/* Where an index goes in one iteration; of one that is looked up the numbers it lies between. */
static hone_interval reach_of(parting *p, const hone_expr *index) {
    hone_interval interval = lower_range_below(&p->scope, index);
    if (interval.min && interval.max) return interval;
    hone_bound bound = hone_arith_bound(&p->scope.arith, index);
    hone_ir *ir = &p->scope.arith.ir;
    if (bound.min < INT32_MIN || bound.max > INT32_MAX) return (hone_interval){NULL, NULL};
    return (hone_interval){hone_expr_int(ir, index->dtype, bound.min),
                           hone_expr_int(ir, index->dtype, bound.max)};
}

/* Takes the conditions around a node, below the loop, as facts. */
static void learn_conditions(parting *p, hone_node_id at) {
    const hone_func *func = p->scope.lower->func;
    for (hone_node_id below = at, n; below != p->loop; below = n) {
        n = hone_func_node(func, below)->parent;
        const hone_node *node = hone_func_node(func, n);
        bool is_else = hone_func_node(func, below)->kind == HONE_NODE_ELSE;
        if (node->kind == HONE_NODE_IF && !is_else && hone_expr_is_pure_index(node->u.eval.value))
            hone_arith_push(&p->scope.arith, node->u.eval.value);
    }
}

static bool reads_within(parting *p, const lower_access *load, const hone_interval *stored) {
    bool is_within = true;
    uint32_t mark = p->scope.arith.fact_count;
    learn_conditions(p, load->node);
    for (uint32_t d = 0; d < p->scope.lower->func->buffers[p->buffer].rank && is_within; d++) {
        hone_interval loaded = reach_of(p, load->indices[d]);
        is_within = hone_prove_contains(&p->scope.arith, stored[d], loaded);
    }
    hone_arith_pop(&p->scope.arith, mark);
    return is_within;
}

/* Does an iteration read within the box that it stores to itself? Else it may read what another one
 * has stored in an earlier iteration of a loop around theirs. */
static bool reads_its_own(parting *p) {
    hone_interval stored[HONE_MAX_RANK];
    for (uint32_t d = 0; d < p->scope.lower->func->buffers[p->buffer].rank; d++) {
        if (!stored_in(p, d, &stored[d])) return false;
    }
    for (uint32_t i = 0; i < p->all.count; i++) {
        const lower_access *access = &p->all.items[i];
        if (!access->is_store && !reads_within(p, access, stored)) return false;
    }
    return true;
}

/* Is a place that is read looked up, B[X[i]]? Then nobody knows whose values these are. */
static bool looks_up(const parting *p) {
    for (uint32_t i = 0; i < p->all.count; i++) {
        const lower_access *access = &p->all.items[i];
        for (uint32_t d = 0; d < p->scope.lower->func->buffers[p->buffer].rank; d++) {
            if (!access->is_store && !hone_expr_is_pure_index(access->indices[d])) return true;
        }
    }
    return false;
}

static const hone_expr **with_iteration(void *ctx, const hone_expr *const *indices) {
    parting *p = ctx;
    hone_func *func = p->scope.lower->func;
    hone_ir *ir = &p->scope.lower->ir;
    const hone_node *loop = hone_func_node(func, p->loop);
    const hone_expr *var = hone_func_var_expr(ir, func, loop->u.loop.var);
    const hone_expr *number = hone_expr_sub(ir, var, loop->u.loop.range.min);
    if (number) number = hone_simplify(&p->scope.arith, number);
    return lower_with_first(ir, number, func->buffers[p->buffer].rank - 1, indices);
}

static hone_status add_dimension(parting *p) {
    hone_func *func = p->scope.lower->func;
    const hone_expr *extent = hone_func_node(func, p->loop)->u.loop.range.extent;
    HONE_TRY(lower_grow_buffer(p->scope.lower, p->buffer, extent));
    HONE_TRY(lower_map_accesses(func, p->loop, p->buffer, with_iteration, p));
    return lower_find_accesses(func, p->loop, p->buffer, &p->all);
}

/* The extent is known where the buffer is allocated. */
static bool may_part(const parting *p, hone_node_id alloc) {
    const hone_func *func = p->scope.lower->func;
    const hone_buffer_info *info = &func->buffers[p->buffer];
    const hone_expr *extent = hone_func_node(func, p->loop)->u.loop.range.extent;
    if (info->strides || info->elem_offset || info->separator_count) return false;
    if (info->rank >= HONE_MAX_RANK) return false;
    for (hone_node_id n = p->loop; n != alloc; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && hone_expr_uses_var(extent, node->u.loop.var))
            return false;
        if (node->kind == HONE_NODE_LET && hone_expr_uses_var(extent, node->u.let.var))
            return false;
    }
    return hone_expr_is_pure_index(extent) && !hone_expr_is_int_value(extent, 1);
}

static bool holds_all(const parting *p) {
    for (uint32_t i = 0; i < p->all.count; i++) {
        if (!hone_tree_is_ancestor(p->scope.lower->func, p->loop, p->all.items[i].node))
            return false;
    }
    return true;
}

static hone_status part_loop(parting *p, hone_node_id alloc) {
    hone_func *func = p->scope.lower->func;
    if (!holds_all(p) || !may_part(p, alloc)) return HONE_OK;
    HONE_TRY(lower_enter(&p->scope, p->loop, hone_func_node(func, p->loop)->u.loop.var));
    if (has_disjoint_stores(p)) return HONE_OK;
    if (reads_its_own(p)) return add_dimension(p);
    if (looks_up(p)) hone_func_node(func, p->loop)->loop_kind = HONE_LOOP_SERIAL;
    return HONE_OK;
}

/* The next loop around a node, below alloc, whose iterations run at once; alloc: there is none. */
static hone_node_id concurrent_around(const hone_func *func, hone_node_id node,
                                      hone_node_id alloc) {
    do
        node = hone_func_node(func, node)->parent;
    while (node != alloc && !hone_node_is_concurrent_loop(hone_func_node(func, node)));
    return node;
}

hone_status lower_part_iterations(hone_lower *lower, hone_node_id alloc,
                                  const lower_accesses *all) {
    hone_func *func = lower->func;
    parting p = {.scope.lower = lower, .buffer = hone_func_node(func, alloc)->u.alloc.buffer};
    p.all = *all;
    p.loop = concurrent_around(func, all->items[0].node, alloc);
    if (p.loop == alloc) return HONE_OK;
    hone_arith_init(&p.scope.arith, func->arena);
    for (; p.loop != alloc; p.loop = concurrent_around(func, p.loop, alloc))
        HONE_TRY(part_loop(&p, alloc));
    return hone_ir_finish(&p.scope.arith.ir);
}
