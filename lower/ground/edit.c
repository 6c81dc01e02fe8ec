/* lower/ground/edit.c - tree edits and substitutions that several passes need. */
#include "ir/core/concurrent.h"
#include "lower/ground/passes.h"

static hone_node_id new_if(hone_func *func, const hone_expr *condition) {
    hone_node_id id = hone_func_add_node(func, HONE_NODE_IF);
    if (id != HONE_NO_ID) hone_func_node(func, id)->u.eval.value = condition;
    return id;
}

hone_node_id lower_only_child(const hone_func *func, hone_node_id parent) {
    const hone_node *node = hone_func_node(func, parent);
    return node->first == node->last ? node->first : HONE_NO_ID;
}

hone_node_id lower_new_alloc(hone_func *func, hone_buffer buffer) {
    hone_node_id id = buffer == HONE_NO_ID ? HONE_NO_ID : hone_func_add_node(func, HONE_NODE_ALLOC);
    if (id != HONE_NO_ID) hone_func_node(func, id)->u.alloc.buffer = buffer;
    return id;
}

hone_status lower_new_mark(hone_lower *lower, const char *key, hone_node_id *out) {
    const hone_expr *one = hone_expr_i32(&lower->ir, 1);
    *out = hone_func_add_node(lower->func, HONE_NODE_ATTR);
    if (*out == HONE_NO_ID || !one) return LOWER_NO_MEMORY();
    hone_node *node = hone_func_node(lower->func, *out);
    node->u.attr.key = key;
    node->u.attr.node = HONE_VALUE_OF_INT(0);
    node->u.attr.value = one;
    return HONE_OK;
}

hone_status lower_new_sync(hone_lower *lower, hone_node_id *out) {
    const hone_expr *scope = hone_expr_string(&lower->ir, "shared");
    const hone_expr *call =
        hone_expr_call(&lower->ir, HONE_DTYPE_I32, HONE_INTRIN_STORAGE_SYNC, 1, &scope);
    HONE_TRY(hone_ir_finish(&lower->ir));
    *out = hone_func_add_node(lower->func, HONE_NODE_EVAL);
    if (*out == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(lower->func, *out)->u.eval.value = call;
    return HONE_OK;
}

hone_status lower_keep_wish(hone_lower *lower, hone_node_id loop) {
    const hone_node *node = hone_func_node(lower->func, loop);
    int64_t wish = hone_attrs_int(&node->u.loop.annotations, LOWER_STREAM_WISH, -1);
    if (wish < 0) return HONE_OK;
    hone_node_id attr;
    HONE_TRY(lower_new_mark(lower, LOWER_STREAM_WISH, &attr));
    hone_func_node(lower->func, attr)->u.attr.value = hone_expr_i32(&lower->ir, wish > 0);
    lower_wrap(lower->func, loop, attr);
    return hone_ir_finish(&lower->ir);
}

bool lower_has_else(const hone_func *func, hone_node_id choice) {
    hone_node_id last = hone_func_node(func, choice)->last;
    return last != HONE_NO_ID && hone_func_node(func, last)->kind == HONE_NODE_ELSE;
}

hone_status lower_set_store(hone_func *func, hone_node_id store, const hone_expr *index,
                            const hone_expr *value) {
    hone_node *node = hone_func_node(func, store);
    node->u.store.rank = 1;
    node->u.store.indices = hone_arena_copy(func->arena, &index, sizeof index);
    if (!node->u.store.indices) return LOWER_NO_MEMORY();
    node->u.store.value = value;
    return HONE_OK;
}

hone_status lower_append_store(hone_func *func, hone_node_id parent, hone_buffer buffer,
                               const hone_expr *index, const hone_expr *value) {
    hone_node_id id = hone_func_add_node(func, HONE_NODE_STORE);
    if (id == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_func_node(func, id)->u.store.buffer = buffer;
    hone_tree_append(func, parent, id);
    return lower_set_store(func, id, index, value);
}

void lower_wrap(hone_func *func, hone_node_id node, hone_node_id wrapper) {
    hone_tree_insert_before(func, node, wrapper);
    hone_tree_remove(func, node);
    hone_tree_append(func, wrapper, node);
}

hone_status lower_wrap_if(hone_lower *lower, const hone_expr *condition, hone_node_id node) {
    HONE_TRY(hone_ir_finish(&lower->ir));
    hone_node_id around = new_if(lower->func, condition);
    if (around == HONE_NO_ID) return LOWER_NO_MEMORY();
    lower_wrap(lower->func, node, around);
    return HONE_OK;
}

hone_status lower_guard_children(hone_func *func, hone_node_id parent, const hone_expr *condition) {
    hone_node_id guard = new_if(func, condition);
    if (guard == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_move_children(func, parent, guard);
    hone_tree_append(func, parent, guard);
    return HONE_OK;
}

hone_status lower_new_choice(hone_lower *lower, const hone_expr *condition,
                             hone_node_id *out_choice, hone_node_id *out_else) {
    HONE_TRY(hone_ir_finish(&lower->ir));
    *out_choice = new_if(lower->func, condition);
    *out_else = hone_func_add_node(lower->func, HONE_NODE_ELSE);
    return *out_choice == HONE_NO_ID || *out_else == HONE_NO_ID ? LOWER_NO_MEMORY() : HONE_OK;
}

hone_status lower_wrap_choice(hone_lower *lower, const hone_expr *condition, hone_node_id node,
                              hone_node_id copy, hone_node_id *out_choice) {
    hone_func *func = lower->func;
    hone_node_id other;
    HONE_TRY(lower_new_choice(lower, condition, out_choice, &other));
    HONE_TRY(lower_rename_vars(lower, copy));
    lower_wrap(func, node, *out_choice);
    hone_tree_append(func, *out_choice, other);
    hone_tree_append(func, other, copy);
    return HONE_OK;
}

bool lower_is_vector(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    return node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_VECTORIZED;
}

bool lower_has_threads(const hone_func *func, hone_node_id root) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        if (hone_loop_is_of_threads(hone_func_node(func, n))) return true;
    }
    return false;
}

void lower_splice(hone_func *func, hone_node_id node) {
    for (hone_node_id child; (child = hone_func_node(func, node)->first) != HONE_NO_ID;) {
        hone_tree_remove(func, child);
        hone_tree_insert_before(func, node, child);
    }
    hone_tree_remove(func, node);
}

typedef struct substitution {
    const hone_expr *const *map;
    uint32_t count;
} substitution;

static const hone_expr *replace_var(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ir;
    const substitution *s = ctx;
    if (e->kind != HONE_EXPR_VAR || e->u.var >= s->count || !s->map[e->u.var]) return e;
    return s->map[e->u.var];
}

hone_status lower_substitute(hone_func *func, hone_node_id root, const hone_expr *const *map,
                             uint32_t count) {
    substitution s = {map, count};
    return hone_tree_transform(func, root, replace_var, &s, true);
}

typedef struct substitution_one {
    hone_var var;
    const hone_expr *value;
} substitution_one;

static const hone_expr *replace_one(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ir;
    const substitution_one *s = ctx;
    return e->kind == HONE_EXPR_VAR && e->u.var == s->var ? s->value : e;
}

hone_status lower_substitute_one(hone_func *func, hone_node_id root, hone_var var,
                                 const hone_expr *value) {
    substitution_one s = {var, value};
    return hone_tree_transform(func, root, replace_one, &s, true);
}

const hone_expr *lower_and(hone_ir *ir, const hone_expr *condition, const hone_expr *other) {
    if (!condition) return other;
    if (!other) return condition;
    return hone_expr_binary(ir, HONE_OP_AND, condition, other);
}

bool lower_conjuncts(const hone_expr *condition, bool (*visit)(void *ctx, const hone_expr *part),
                     void *ctx) {
    if (!condition) return true;
    if (hone_expr_is_op(condition, HONE_OP_AND)) {
        return lower_conjuncts(condition->args[0], visit, ctx) &&
               lower_conjuncts(condition->args[1], visit, ctx);
    }
    return visit(ctx, condition);
}

uint32_t lower_size(const hone_func *func, hone_node_id root, uint32_t limit) {
    uint32_t count = 0;
    for (hone_node_id n = root; n != HONE_NO_ID && count < limit;
         n = hone_tree_next(func, root, n)) {
        count++;
    }
    return count;
}

bool lower_is_plain_code(const hone_func *func, hone_node_id root, uint32_t limit) {
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        uint8_t kind = hone_func_node(func, n)->kind;
        if (kind == HONE_NODE_ALLOC || kind == HONE_NODE_DECL || kind == HONE_NODE_LET)
            return false;
    }
    return lower_size(func, root, limit) < limit;
}
