/* schedule/primitive/buffers/cache_checks.c - what else in a scope may touch a buffer of which a
 * copy is made. */
#include "schedule/primitive/buffers/caching.h"

/* Does a statement load the buffer, but for what stands inside of a loop or a condition? */
static bool loads_itself(const sch_staging *c, hone_node_id n) {
    const hone_node *node = hone_func_node(c->sch->func, n);
    switch ((hone_node_kind)node->kind) {
    case HONE_NODE_INIT:
        return false;
    case HONE_NODE_FOR:
        return sch_bounds_load(node, c->buffer);
    case HONE_NODE_IF:
    case HONE_NODE_ELSE:
        return sch_condition_loads(node, c->buffer);
    default:
        return hone_loads_below(c->sch->func, n, c->buffer);
    }
}

/* A statement of the scope that stands in no block of it and stores the buffer, or (or_loads) loads
 * it; HONE_NO_ID where there is none. */
static hone_node_id find_loose_use(const sch_staging *c, bool or_loads) {
    const hone_func *func = c->sch->func;
    hone_node_id n = hone_tree_next(func, c->scope, c->scope);
    while (n != HONE_NO_ID) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK) {
            n = hone_tree_next_over(func, c->scope, n);
            continue;
        }
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == c->buffer) return n;
        if (or_loads && loads_itself(c, n)) {
            return n;
        }
        n = hone_tree_next(func, c->scope, n);
    }
    return HONE_NO_ID;
}

hone_status sch_check_loose_uses(const sch_staging *c, bool or_loads) {
    hone_node_id use = find_loose_use(c, or_loads);
    if (use == HONE_NO_ID) return HONE_OK;
    return sch_refuse(c->sch, use, "a statement outside of the blocks of %s uses '%s'",
                      sch_block_name(c->sch, c->scope), sch_buffer_name(c->sch, c->buffer));
}

/* Marks the variables that do not run anew in each run of the scope: all but sizes, loops of the
 * scope and axes that these feed. */
static bool *mark_outside(const sch_staging *c) {
    const hone_func *func = c->sch->func;
    bool *outside = hone_arena_alloc(c->sch->arena, func->var_count + 1);
    for (hone_var v = 0; outside && v < func->var_count; v++)
        outside[v] = !func->vars[v].is_size;
    hone_node_id n = outside ? hone_tree_next(func, c->scope, c->scope) : HONE_NO_ID;
    for (; n != HONE_NO_ID; n = hone_tree_next(func, c->scope, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR) outside[node->u.loop.var] = false;
        if (node->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = node->u.block.block;
        for (uint32_t a = 0; a < block->axis_count; a++) {
            outside[block->axes[a].var] =
                hone_expr_uses_any(node->u.block.bindings[a], outside, func->var_count);
        }
    }
    return outside;
}

/* An expression where the loops of the scope around a node begin; NULL where memory is short. */
static const hone_expr *at_begin(const sch_staging *c, hone_node_id id, const hone_expr *e) {
    hone_schedule *sch = c->sch;
    for (hone_node_id n = sch_node(sch, id)->parent; e && n != c->scope;
         n = sch_node(sch, n)->parent) {
        const hone_node *node = sch_node(sch, n);
        if (node->kind == HONE_NODE_FOR) {
            e = hone_expr_substitute_one(&sch->ir, e, node->u.loop.var, node->u.loop.range.min);
        }
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t a = 0; e && a < node->u.block.block->axis_count; a++) {
            e = hone_expr_substitute_one(&sch->ir, e, node->u.block.block->axes[a].var,
                                         node->u.block.bindings[a]);
        }
    }
    return e ? hone_simplify(&sch->arith, e) : NULL;
}

/* Reduce axes that run in the scope alone, from their first value on: the init begins anew. Where
 * they have one value, it must be the first. */
static bool begins_in_scope(const sch_staging *c, hone_node_id id, const bool *outside) {
    hone_schedule *sch = c->sch;
    const hone_node *node = sch_node(sch, id);
    const hone_block *block = node->u.block.block;
    for (uint32_t a = 0; a < block->axis_count; a++) {
        const hone_expr *binding = node->u.block.bindings[a], *first = block->axes[a].dom.min;
        if (block->axes[a].kind != HONE_AXIS_REDUCE) continue;
        if (hone_expr_uses_any(binding, outside, sch->func->var_count)) {
            if (!hone_prove_equal(&sch->arith, binding, first)) return false;
            continue;
        }
        const hone_expr *begin = at_begin(c, id, binding);
        if (!begin || !hone_prove_less_equal(&sch->arith, begin, first)) return false;
    }
    return true;
}

hone_status sch_check_cache_begins(const sch_staging *c) {
    hone_schedule *sch = c->sch;
    bool *outside = mark_outside(c);
    if (!outside) return sch_no_memory();
    if (sch_accumulates(sch, c->block, c->buffer)) {
        return sch_refuse(sch, c->block, "%s goes on with what is in '%s'",
                          sch_block_name(sch, c->block), sch_buffer_name(sch, c->buffer));
    }
    for (hone_node_id n = c->block; n != HONE_NO_ID; n = hone_tree_next(sch->func, c->block, n)) {
        if (sch_node(sch, n)->kind != HONE_NODE_BLOCK ||
            hone_block_init_of(sch->func, n) == HONE_NO_ID || begins_in_scope(c, n, outside)) {
            continue;
        }
        return sch_refuse(sch, n, "%s, in %s, goes on with a sum that began before",
                          sch_block_name(sch, n), sch_block_name(sch, c->scope));
    }
    return HONE_OK;
}
