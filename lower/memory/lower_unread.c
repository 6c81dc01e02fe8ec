/* lower/memory/lower_unread.c - the pass that leaves out what nobody reads.
 * needs: ALLOC nodes, no blocks. keeps: what is computed. Of memory that the program allocates and
 * reads but to store to it again (or to other such memory), the stores go, with the allocation and
 * the loops and conditions that hold nothing then. On a GPU it would have to be somebody's: a
 * thread's own, which has a size, or all threads', which then wait for each other. What may end the
 * program stays: effects, divisions, and indices that are read from memory. */
#include "ir/core/touches.h"
#include "lower/ground/accesses.h"
#include "lower/ground/pipelined.h"

typedef struct search {
    const hone_func *func;
    bool *is_read;      /* by storage: somebody wants it, or nobody allocates it */
    hone_buffer target; /* what is stored to, unless it is read; else HONE_NO_ID */
    bool is_changed;
} search;

static void mark(search *s, hone_buffer storage) {
    s->is_changed |= !s->is_read[storage];
    s->is_read[storage] = true;
}

static bool may_end(void *ctx, const hone_expr *e) {
    bool *out = ctx;
    *out |= lower_has_effects(e) || hone_expr_may_trap(e);
    for (uint16_t i = 0; e->kind == HONE_EXPR_LOAD && i < e->count; i++)
        *out |= !hone_expr_is_pure_index(e->args[i]);
    return !*out;
}

static void find_end(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, may_end, ctx);
}

static void note(void *ctx, const hone_reference *ref) {
    search *s = ctx;
    bool is_for_nothing = ref->kind == HONE_REFERENCE_LOAD && s->target != HONE_NO_ID;
    if (ref->kind != HONE_REFERENCE_STORE && !is_for_nothing)
        mark(s, hone_func_storage(s->func, ref->buffer));
}

static void look_at(search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    s->target = HONE_NO_ID;
    if (node->kind == HONE_NODE_STORE) {
        hone_buffer storage = hone_func_storage(s->func, node->u.store.buffer);
        bool ends = false;
        if (!s->is_read[storage]) hone_node_walk_exprs(s->func, id, false, find_end, &ends);
        if (ends) mark(s, storage);
        if (!s->is_read[storage]) s->target = storage;
    }
    hone_node_walk_references(s->func, id, note, s);
}

static hone_status find_read(search *s) {
    const hone_func *func = s->func;
    s->is_read = hone_arena_alloc(func->arena, func->buffer_count + 1);
    if (!s->is_read) return LOWER_NO_MEMORY();
    for (hone_buffer b = 0; b < func->buffer_count; b++)
        s->is_read[b] = true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (lower_is_alloc(func, node)) s->is_read[node->u.alloc.buffer] = false;
    }
    do {
        s->is_changed = false;
        for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n))
            look_at(s, n);
    } while (s->is_changed);
    return HONE_OK;
}

/* ---- leaving out ---- */

static bool is_unread(const search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    if (node->kind == HONE_NODE_STORE)
        return !s->is_read[hone_func_storage(s->func, node->u.store.buffer)];
    return (node->kind == HONE_NODE_ALLOC || node->kind == HONE_NODE_DECL) &&
           !s->is_read[hone_func_storage(s->func, node->u.alloc.buffer)];
}

/* Statements of a pipeline are counted: an ATTR stays. */
static bool holds_nothing(const hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    bool may_be_asked = node->kind == HONE_NODE_IF && !lower_has_else(func, id) &&
                        hone_expr_is_pure_index(node->u.eval.value);
    bool is_loop = node->kind == HONE_NODE_FOR && !lower_is_pipelined(node) &&
                   hone_expr_is_pure_index(node->u.loop.range.extent);
    return node->first == HONE_NO_ID && (is_loop || may_be_asked);
}

static void remove_with_holders(hone_func *func, hone_node_id id) {
    hone_node_id parent = hone_func_node(func, id)->parent;
    hone_tree_remove(func, id);
    while (parent != 0 && holds_nothing(func, parent)) {
        hone_node_id next = hone_func_node(func, parent)->parent;
        hone_tree_remove(func, parent);
        parent = next;
    }
}

hone_status lower_unread(hone_lower *lower) {
    hone_func *func = lower->func;
    search s = {.func = func};
    uint32_t count = 0;
    HONE_TRY(find_read(&s));
    hone_node_id *unread = hone_arena_alloc(func->arena, (func->node_count + 1) * sizeof *unread);
    if (!unread) return LOWER_NO_MEMORY();
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (is_unread(&s, n)) unread[count++] = n;
    }
    while (count-- > 0) { /* what holds others comes after them */
        hone_node_id n = unread[count];
        if (hone_func_node(func, n)->first != HONE_NO_ID)
            lower_splice(func, n);
        else
            remove_with_holders(func, n);
    }
    return HONE_OK;
}
