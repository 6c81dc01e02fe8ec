/* schedule/state/sched_tree.c - moving about in the tree, and the small edits that primitives
 * share. */
#include "schedule/state/schedule_impl.h"

#include <stdio.h>
#include <string.h>

hone_node_id sch_scope_of(const hone_schedule *sch, hone_node_id node) {
    do {
        node = sch_node(sch, node)->parent;
    } while (node != HONE_NO_ID && sch_node(sch, node)->kind != HONE_NODE_BLOCK);
    return node;
}

hone_node_id sch_next_block(const hone_schedule *sch, hone_node_id root, hone_node_id node) {
    bool enter = node == root || sch_node(sch, node)->kind != HONE_NODE_BLOCK;
    do {
        node = enter ? hone_tree_next(sch->func, root, node)
                     : hone_tree_next_over(sch->func, root, node);
        enter = true;
    } while (node != HONE_NO_ID && sch_node(sch, node)->kind != HONE_NODE_BLOCK);
    return node;
}

hone_status sch_loops_of(hone_schedule *sch, hone_node_id node, uint32_t *out_count,
                         const hone_node_id **out) {
    uint32_t count = 0;
    hone_node_id up = sch_node(sch, node)->parent;
    for (hone_node_id n = up; n != HONE_NO_ID; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind == HONE_NODE_BLOCK) break;
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) count++;
    }
    hone_node_id *loops = hone_arena_alloc(sch->arena, (count + 1) * sizeof *loops);
    if (!loops) return sch_no_memory();
    uint32_t at = count;
    for (hone_node_id n = up; at > 0; n = sch_node(sch, n)->parent) {
        if (sch_node(sch, n)->kind == HONE_NODE_FOR) loops[--at] = n;
    }
    *out_count = count;
    *out = loops;
    return HONE_OK;
}

hone_node_id sch_lca(const hone_schedule *sch, hone_node_id a, hone_node_id b) {
    return hone_tree_lca(sch->func, a, b);
}

bool sch_is_within(const hone_schedule *sch, hone_node_id top, hone_node_id node) {
    return top == node || hone_tree_is_ancestor(sch->func, top, node);
}

hone_node_id sch_child_towards(const hone_schedule *sch, hone_node_id top, hone_node_id node) {
    while (sch_node(sch, node)->parent != top)
        node = sch_node(sch, node)->parent;
    return node;
}

hone_node_id sch_nearest_loop(const hone_schedule *sch, hone_node_id node, hone_node_id scope) {
    while (sch_node(sch, node)->kind != HONE_NODE_FOR && node != scope)
        node = sch_node(sch, node)->parent;
    return node;
}

bool sch_is_before(const hone_schedule *sch, hone_node_id a, hone_node_id b) {
    hone_node_id top = sch_lca(sch, a, b);
    if (top == a || top == b) return false;
    hone_node_id to_b = sch_child_towards(sch, top, b);
    for (hone_node_id n = sch_child_towards(sch, top, a); n != HONE_NO_ID;
         n = sch_node(sch, n)->next) {
        if (n == to_b) return true;
    }
    return false;
}

void sch_remove_with_loops(hone_schedule *sch, hone_node_id node) {
    for (;;) {
        hone_node_id parent = sch_node(sch, node)->parent;
        hone_tree_remove(sch->func, node);
        if (sch_node(sch, parent)->kind != HONE_NODE_FOR) return;
        if (sch_node(sch, parent)->first != HONE_NO_ID) return;
        node = parent;
    }
}

const char *sch_name(hone_schedule *sch, const char *base, const char *suffix, int64_t number) {
    size_t base_length = strlen(base), suffix_length = strlen(suffix);
    char digits[24] = "";
    size_t digit_count = 0;
    if (number >= 0 && number < 10) {
        digits[0] = (char)('0' + number);
        digit_count = 1;
    } else if (number >= 10) {
        digit_count = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number);
    }
    char *name = hone_arena_alloc(sch->arena, base_length + suffix_length + digit_count + 1);
    if (!name) return NULL;
    memcpy(name, base, base_length);
    memcpy(name + base_length, suffix, suffix_length);
    memcpy(name + base_length + suffix_length, digits, digit_count);
    name[base_length + suffix_length + digit_count] = '\0';
    return name;
}

hone_node_id sch_make_loop(hone_schedule *sch, const char *name, hone_dtype dtype,
                           const hone_expr *extent) {
    if (!name || !extent) return HONE_NO_ID;
    hone_var var = hone_func_add_named_var(sch->func, name, dtype);
    hone_range range = {hone_expr_int(&sch->ir, dtype, 0), extent};
    if (var == HONE_NO_ID || !range.min) return HONE_NO_ID;
    if (!hone_arith_bind(&sch->arith, var, range)) return HONE_NO_ID;
    return hone_func_add_loop(sch->func, var, HONE_LOOP_SERIAL, range);
}

bool sch_any_uses(uint32_t count, const hone_expr *const *list, hone_var var) {
    for (uint32_t i = 0; i < count; i++) {
        if (hone_expr_uses_var(list[i], var)) return true;
    }
    return false;
}

const hone_expr *sch_var(hone_schedule *sch, hone_var var) {
    return hone_func_var_expr(&sch->ir, sch->func, var);
}

bool sch_is_fixed(const hone_schedule *sch, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR)
        return sch->func->vars[e->u.var].is_size || hone_func_takes(sch->func, e->u.var);
    for (uint16_t i = 0; i < e->count; i++) {
        if (!sch_is_fixed(sch, e->args[i])) return false;
    }
    return e->kind != HONE_EXPR_LOAD && e->kind != HONE_EXPR_CALL;
}

/* ---- substitution ---- */

static const hone_expr *substituted(hone_schedule *sch, const hone_expr *e, hone_var var,
                                    const hone_expr *value) {
    if (!e || !hone_expr_uses_var(e, var)) return e;
    if (e->kind == HONE_EXPR_VAR) return value;
    return hone_simplify(&sch->arith, hone_expr_substitute_one(&sch->ir, e, var, value));
}

static hone_status substitute_block(hone_schedule *sch, hone_node_id id, hone_var var,
                                    const hone_expr *value) {
    uint32_t count = sch_block(sch, id)->axis_count;
    const hone_expr *const *old = sch_node(sch, id)->u.block.bindings;
    const hone_expr **fresh = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *e = substituted(sch, old[i], var, value);
        if (e == old[i]) continue;
        if (!fresh) {
            fresh = hone_arena_alloc(sch->arena, count * sizeof *fresh);
            if (!fresh) return sch_no_memory();
            memcpy(fresh, old, count * sizeof *fresh);
        }
        fresh[i] = e;
    }
    hone_node *node = sch_node(sch, id);
    if (fresh) node->u.block.bindings = fresh;
    node->u.block.predicate = substituted(sch, node->u.block.predicate, var, value);
    if (node->flags & SCH_OPEN) {
        const hone_expr **map = hone_arena_zalloc(sch->arena, (var + 1) * sizeof *map);
        if (!map) return sch_no_memory();
        map[var] = value;
        HONE_TRY(sch_replace_vars(sch, id, map, var + 1));
    }
    return sch_ir_error(sch);
}

static hone_status substitute_store(hone_schedule *sch, hone_node_id id, hone_var var,
                                    const hone_expr *value) {
    hone_node *node = sch_node(sch, id);
    uint32_t rank = node->u.store.rank;
    const hone_expr **indices = hone_arena_alloc(sch->arena, (rank + 1) * sizeof *indices);
    if (!indices) return sch_no_memory();
    for (uint32_t d = 0; d < rank; d++)
        indices[d] = substituted(sch, node->u.store.indices[d], var, value);
    node->u.store.indices = indices;
    const hone_expr *old = node->u.store.value; /* not simplified: loads keep their form */
    if (hone_expr_uses_var(old, var)) {
        node->u.store.value = hone_expr_substitute_one(&sch->ir, old, var, value);
    }
    return sch_ir_error(sch);
}

static hone_status substitute_loop(hone_schedule *sch, hone_node *node, hone_var var,
                                   const hone_expr *value) {
    hone_range *range = &node->u.loop.range;
    bool is_bound = hone_expr_uses_var(range->min, var) || hone_expr_uses_var(range->extent, var);
    if (!is_bound) return HONE_OK;
    range->min = substituted(sch, range->min, var, value);
    range->extent = substituted(sch, range->extent, var, value);
    HONE_TRY(sch_ir_error(sch));
    bool fine = hone_arith_bind(&sch->arith, node->u.loop.var, *range);
    return fine ? HONE_OK : sch_no_memory();
}

hone_status sch_substitute_below(hone_schedule *sch, hone_node_id root, hone_var var,
                                 const hone_expr *value) {
    hone_node_id n = root;
    while (n != HONE_NO_ID) {
        hone_node *node = sch_node(sch, n);
        switch ((hone_node_kind)node->kind) {
        case HONE_NODE_BLOCK:
            HONE_TRY(substitute_block(sch, n, var, value));
            n = hone_tree_next_over(sch->func, root, n);
            continue;
        case HONE_NODE_FOR:
            HONE_TRY(substitute_loop(sch, node, var, value));
            break;
        case HONE_NODE_IF:
        case HONE_NODE_WHILE:
        case HONE_NODE_EVAL:
        case HONE_NODE_ASSERT:
            node->u.eval.value = substituted(sch, node->u.eval.value, var, value);
            break;
        case HONE_NODE_LET:
            node->u.let.value = substituted(sch, node->u.let.value, var, value);
            break;
        case HONE_NODE_ATTR:
            node->u.attr.value = substituted(sch, node->u.attr.value, var, value);
            break;
        case HONE_NODE_STORE: /* in a loop inside of a block */
            HONE_TRY(substitute_store(sch, n, var, value));
            break;
        default:
            break;
        }
        n = hone_tree_next(sch->func, root, n);
    }
    return sch_ir_error(sch);
}

hone_status sch_add_predicate(hone_schedule *sch, hone_node_id block, const hone_expr *condition) {
    const hone_expr *old = sch_node(sch, block)->u.block.predicate;
    if (old && !hone_expr_is_int_value(old, 1)) {
        /* what fails where the new condition does not hold comes behind it */
        bool is_first = hone_expr_may_fail(old);
        condition = hone_expr_binary(&sch->ir, HONE_OP_AND, is_first ? condition : old,
                                     is_first ? old : condition);
    }
    if (!condition) return sch_ir_error(sch);
    sch_node(sch, block)->u.block.predicate = condition;
    return HONE_OK;
}

const hone_expr *sch_without_implied(hone_schedule *sch, const hone_expr *predicate,
                                     const hone_expr *condition) {
    if (!predicate) return NULL;
    if (hone_expr_is_op(predicate, HONE_OP_AND)) {
        const hone_expr *a = sch_without_implied(sch, predicate->args[0], condition);
        const hone_expr *b = sch_without_implied(sch, predicate->args[1], condition);
        return a && b ? hone_expr_binary(&sch->ir, HONE_OP_AND, a, b) : a ? a : b;
    }
    uint32_t mark = sch->arith.fact_count;
    hone_arith_push(&sch->arith, condition);
    bool follows = hone_prove(&sch->arith, predicate);
    hone_arith_pop(&sch->arith, mark);
    return follows ? NULL : predicate;
}

hone_node_id sch_bounds_depend_on(const hone_schedule *sch, hone_node_id loop) {
    const hone_range *range = &sch_node(sch, loop)->u.loop.range;
    if (hone_expr_is_int(range->min) && hone_expr_is_int(range->extent)) return HONE_NO_ID;
    for (hone_node_id n = sch_node(sch, loop)->parent; sch_node(sch, n)->kind == HONE_NODE_FOR;
         n = sch_node(sch, n)->parent) {
        hone_var var = sch_node(sch, n)->u.loop.var;
        if (hone_expr_uses_var(range->min, var) || hone_expr_uses_var(range->extent, var)) return n;
    }
    return HONE_NO_ID;
}

hone_status sch_mark_loops(hone_schedule *sch, hone_node_id node, hone_node_id above,
                           bool **out_marks) {
    bool *marks = hone_arena_zalloc(sch->arena, (sch->func->var_count + 1) * sizeof *marks);
    if (!marks) return sch_no_memory();
    for (hone_node_id n = sch_node(sch, node)->parent; n != above && n != HONE_NO_ID;
         n = sch_node(sch, n)->parent) {
        const hone_node *at = sch_node(sch, n);
        if (at->kind == HONE_NODE_FOR) marks[at->u.loop.var] = true;
    }
    *out_marks = marks;
    return HONE_OK;
}
