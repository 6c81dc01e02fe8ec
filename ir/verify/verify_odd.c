/* ir/verify/verify_odd.c - what is well formed and hardly meant: statements without effect,
 * conditions that never hold, names that hide each other. Warnings only. */
#include <string.h>

#include "ir/verify/verify_impl.h"
#include "support/data/map.h"

/* ---- stores ---- */

void verify_odd_store(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    const hone_expr *value = node->u.store.value;
    if (value->kind != HONE_EXPR_LOAD || value->u.buffer != node->u.store.buffer) return;
    if (value->count != node->u.store.rank) return;
    for (uint32_t d = 0; d < value->count; d++) {
        if (!hone_expr_same(value->args[d], node->u.store.indices[d])) return;
    }
    verify_warning(v, id, "'%s' is given the value that it has; this statement does nothing",
                   hone_func_buffer(v->func, node->u.store.buffer)->name);
}

/* ---- what a piece of program does ---- */

typedef struct contents {
    const verifier *v;
    hone_var var;
    bool *is_read; /* by buffer */
    bool uses_var, has_effect;
} contents;

static bool look_at(void *ctx, const hone_expr *e) {
    contents *c = ctx;
    c->uses_var |= e->kind == HONE_EXPR_VAR && e->u.var == c->var;
    c->has_effect |= e->kind == HONE_EXPR_VAR && hone_dtype_is_handle(e->dtype);
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer < c->v->func->buffer_count) {
        c->is_read[e->u.buffer] = true;
    }
    c->has_effect |= hone_expr_is_effect(e);
    return true;
}

/* Does the piece read one of the buffers that it writes, or an alias? */
static bool reads_its_writes(const contents *c, hone_node_id root) {
    const hone_func *func = c->v->func;
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_BLOCK && node->u.block.block->match_count) return true;
        if (node->kind == HONE_NODE_DECL) return true;
        if (node->kind != HONE_NODE_STORE || node->u.store.buffer >= func->buffer_count) continue;
        if (c->is_read[node->u.store.buffer]) return true;
        if (func->buffers[node->u.store.buffer].alias_of != HONE_NO_ID) return true;
    }
    return false;
}

static bool contents_of(verifier *v, hone_node_id root, hone_var var, contents *out) {
    *out = (contents){.v = v, .var = var};
    out->is_read = hone_arena_zalloc(v->arena, v->func->buffer_count + 1);
    if (!out->is_read) {
        v->is_short_of_memory = true;
        return false;
    }
    hone_tree_walk_parts(v->func, root, true, look_at, out);
    return true;
}

static bool has_kind(const verifier *v, hone_node_id root, hone_node_kind kind) {
    return hone_tree_first_of(v->func, root, kind) != HONE_NO_ID;
}

/* ---- loops ---- */

/* Only loops of a text: axes may hide the loops that they are bound to, and names of what a
 * schedule makes do not matter. */
static void check_loop_name(verifier *v, hone_node_id id) {
    if (!hone_func_node(v->func, id)->line) return;
    const char *name = verify_var_name(v, hone_func_node(v->func, id)->u.loop.var);
    for (hone_node_id n = hone_func_node(v->func, id)->parent; n != HONE_NO_ID;
         n = hone_func_node(v->func, n)->parent) {
        const hone_node *node = hone_func_node(v->func, n);
        if (node->kind == HONE_NODE_BLOCK && node->u.block.block->axis_count) return;
        if (node->kind != HONE_NODE_FOR) continue;
        if (strcmp(verify_var_name(v, node->u.loop.var), name) != 0 || *name == '_') continue;
        verify_warning(v, id, "loop '%s' hides the loop '%s' around it, which nothing inside sees",
                       name, name);
        return;
    }
}

void verify_odd_loop(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    contents c;
    check_loop_name(v, id);
    if (extent < 2 || node->loop_kind == HONE_LOOP_THREAD) return;
    if (has_kind(v, id, HONE_NODE_WHILE) || has_kind(v, id, HONE_NODE_BREAK) ||
        !has_kind(v, id, HONE_NODE_STORE) || !contents_of(v, id, node->u.loop.var, &c)) {
        return;
    }
    if (c.uses_var || c.has_effect || reads_its_writes(&c, id)) return;
    verify_warning(v, id, "nothing in loop '%s' uses '%s': its %lld iterations all do the same",
                   verify_var_name(v, node->u.loop.var), verify_var_name(v, node->u.loop.var),
                   (long long)extent);
}

void verify_odd_while(verifier *v, hone_node_id id) {
    const hone_node *node = hone_func_node(v->func, id);
    contents c = {.v = v, .var = HONE_NO_ID};
    c.is_read = hone_arena_zalloc(v->arena, v->func->buffer_count + 1);
    if (!c.is_read) {
        v->is_short_of_memory = true;
        return;
    }
    hone_expr_walk(node->u.eval.value, look_at, &c);
    bool is_constant = node->u.eval.value->kind == HONE_EXPR_INT; /* verify.c speaks of these */
    if (is_constant || reads_its_writes(&c, id) || has_kind(v, id, HONE_NODE_BREAK) ||
        has_kind(v, id, HONE_NODE_EVAL)) {
        return;
    }
    verify_warning(v, id,
                   "nothing in this loop changes what its condition reads: it runs for ever, or "
                   "not at all");
}

/* ---- conditions ---- */

void verify_odd_condition(verifier *v, hone_node_id id, const hone_expr *condition) {
    if (!hone_expr_is_pure_index(condition) || condition->kind == HONE_EXPR_INT) return;
    const hone_expr *negated = hone_expr_not(&v->arith.ir, condition);
    if (!negated || !hone_prove(&v->arith, negated)) return;
    verify_warning(v, id, "this condition never holds");
}

/* ---- names ---- */

/* The first block, in the order of the text, whose name another one before it has. */
static hone_node_id find_second(verifier *v, hone_strmap *names) {
    const hone_func *func = v->func;
    for (hone_node_id b = 0; b != HONE_NO_ID; b = hone_tree_next(func, 0, b)) {
        const hone_node *node = hone_func_node(func, b);
        const char *name = node->kind == HONE_NODE_BLOCK ? node->u.block.block->name : "";
        if (hone_strmap_find(names, name, NULL)) return b;
        if (*name && !hone_strmap_put(names, name, b)) v->is_short_of_memory = true;
    }
    return HONE_NO_ID;
}

void verify_block_names(verifier *v) {
    hone_strmap names = {0};
    hone_node_id second = find_second(v, &names);
    hone_strmap_deinit(&names);
    if (second == HONE_NO_ID) return;
    verify_warning(v, second,
                   "two blocks are named '%s'; a schedule finds a block by a name of its own",
                   hone_func_node(v->func, second)->u.block.block->name);
}
