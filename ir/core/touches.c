/* ir/core/touches.c - see touches.h: looks for loads, stores, addresses and views of buffers. */
#include "ir/core/touches.h"

enum { WRITES = 2 }; /* a bit of rw_mask */

/* ---- all that is done ---- */

typedef struct walk {
    const hone_func *func;
    hone_reference_visit visit;
    void *ctx;
    hone_node_id at;
    bool is_read_only; /* the pointer that is looked at */
} walk;

static void meet(const walk *w, hone_reference_kind kind, hone_buffer buffer,
                 const hone_expr *const *indices, uint32_t rank) {
    const bool is_open = kind == HONE_REFERENCE_POINTER && !w->is_read_only;
    const hone_reference ref = {
        kind, is_open || kind == HONE_REFERENCE_STORE, buffer, w->at, indices, rank};
    w->visit(w->ctx, &ref);
}

static void meet_handle(const walk *w, const hone_expr *var) {
    for (hone_buffer b = 0; hone_dtype_is_handle(var->dtype) && b < w->func->buffer_count; b++) {
        if (w->func->buffers[b].data == var->u.var) meet(w, HONE_REFERENCE_POINTER, b, NULL, 0);
    }
}

static bool meet_part(void *ctx, const hone_expr *e) {
    walk *w = ctx;
    const hone_expr *element = hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) ? e->args[0] : NULL;
    if (e->kind == HONE_EXPR_LOAD) meet(w, HONE_REFERENCE_LOAD, e->u.buffer, e->args, e->count);
    if (e->kind == HONE_EXPR_VAR) meet_handle(w, e);
    if (element && element->kind == HONE_EXPR_LOAD) {
        meet(w, HONE_REFERENCE_POINTER, element->u.buffer, element->args, element->count);
        for (uint32_t i = 0; i < element->count; i++)
            hone_expr_walk(element->args[i], meet_part, w);
        return false;
    }
    if (!hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR)) return true;
    for (uint32_t i = 0; i < e->count; i++) { /* ptype, data, offset, extent, rw_mask */
        w->is_read_only = i == 1 && hone_expr_is_int(e->args[4]) && !(e->args[4]->u.i & WRITES);
        hone_expr_walk(e->args[i], meet_part, w);
    }
    w->is_read_only = false;
    return false;
}

static void meet_expr(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, meet_part, ctx);
}

void hone_node_walk_references(const hone_func *func, hone_node_id id, hone_reference_visit visit,
                               void *ctx) {
    const hone_node *node = hone_func_node(func, id);
    const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
    walk w = {func, visit, ctx, id, false};
    hone_node_walk_exprs(func, id, false, meet_expr, &w);
    if (node->kind == HONE_NODE_STORE)
        meet(&w, HONE_REFERENCE_STORE, node->u.store.buffer, node->u.store.indices,
             node->u.store.rank);
    for (uint32_t i = 0; block && i < block->match_count; i++)
        meet(&w, HONE_REFERENCE_MATCH, block->matches[i].source.buffer, NULL, 0);
}

void hone_walk_references(const hone_func *func, hone_node_id top, hone_reference_visit visit,
                          void *ctx) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(func, top, n))
        hone_node_walk_references(func, n, visit, ctx);
}

/* ---- one buffer ---- */

typedef struct search {
    const hone_func *func;
    hone_buffer buffer;
} search;

static bool is_address_of(const void *ctx, const hone_expr *e) {
    const search *s = ctx;
    hone_var data = hone_func_buffer(s->func, s->buffer)->data;
    if (e->kind == HONE_EXPR_VAR) return data != HONE_NO_ID && e->u.var == data;
    bool is_address = hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) ||
                      hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR);
    return is_address && e->count && e->args[0]->kind == HONE_EXPR_LOAD &&
           e->args[0]->u.buffer == s->buffer;
}

static bool is_load_of(const void *ctx, const hone_expr *e) {
    const hone_buffer *buffer = ctx;
    return e->kind == HONE_EXPR_LOAD && e->u.buffer == *buffer;
}

bool hone_loads_below(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    return hone_tree_find_part(func, top, false, is_load_of, &buffer) != NULL;
}

bool hone_stores_below(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    for (hone_node_id n = top; n != HONE_NO_ID; n = hone_tree_next(func, top, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE && node->u.store.buffer == buffer) return true;
    }
    return false;
}

bool hone_expr_takes_address(const hone_func *func, const hone_expr *e, hone_buffer buffer) {
    return hone_expr_find(e, is_address_of, &(search){func, buffer}) != NULL;
}

bool hone_takes_address_below(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    return hone_tree_find_part(func, top, false, is_address_of, &(search){func, buffer}) != NULL;
}

bool hone_has_opaque_access(const hone_func *func, hone_node_id top, hone_buffer buffer) {
    bool is_found = hone_takes_address_below(func, top, buffer);
    for (hone_node_id n = top; n != HONE_NO_ID && !is_found; n = hone_tree_next(func, top, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_BLOCK) continue;
        const hone_block *block = hone_func_node(func, n)->u.block.block;
        for (uint32_t i = 0; i < block->match_count; i++)
            is_found = is_found || block->matches[i].source.buffer == buffer;
    }
    return is_found;
}

bool hone_has_alias(const hone_func *func, hone_buffer buffer) {
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (hone_func_buffer(func, b)->alias_of == buffer) return true;
    }
    return false;
}

/* ---- all buffers of a function ---- */

typedef struct usage_search {
    const hone_func *func;
    hone_usage *of; /* by buffer */
    hone_node_id at;
} usage_search;

/* NULL where there is no such buffer. */
static hone_usage *usage_of(usage_search *s, hone_buffer buffer) {
    buffer = hone_func_storage(s->func, buffer);
    return buffer < s->func->buffer_count ? &s->of[buffer] : NULL;
}

/* A load that names a place: T.address_of(A[i]), T.tvm_thread_allreduce(..., r[0], tx). */
static void note_place(usage_search *s, const hone_expr *e) {
    hone_usage *usage = e->kind == HONE_EXPR_LOAD ? usage_of(s, e->u.buffer) : NULL;
    if (usage) usage->is_pointed_to = true;
}

static bool note_expr(void *ctx, const hone_expr *e) {
    usage_search *s = ctx;
    bool is_address = hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF);
    hone_usage *read = e->kind == HONE_EXPR_LOAD ? usage_of(s, e->u.buffer) : NULL;
    if (read && read->first_read == HONE_NO_ID) read->first_read = s->at;
    for (uint32_t i = 0; (is_address || hone_expr_is_call(e, HONE_INTRIN_NAMED)) && i < e->count;
         i++) {
        note_place(s, e->args[i]);
    }
    for (hone_buffer b = 0; e->kind == HONE_EXPR_VAR && b < s->func->buffer_count; b++) {
        bool is_handle = hone_dtype_is_handle(e->dtype);
        if (is_handle && s->func->buffers[b].data == e->u.var) s->of[b].is_pointed_to = true;
    }
    return !is_address;
}

static void note_exprs(void *ctx, hone_node_id at, const hone_expr *e) {
    usage_search *s = ctx;
    s->at = at;
    hone_expr_walk(e, note_expr, s);
}

static void note_node(usage_search *s, hone_node_id id) {
    const hone_node *node = hone_func_node(s->func, id);
    const hone_block *block = node->kind == HONE_NODE_BLOCK ? node->u.block.block : NULL;
    hone_usage *written = node->kind == HONE_NODE_STORE ? usage_of(s, node->u.store.buffer) : NULL;
    if (written && written->first_write == HONE_NO_ID) written->first_write = id;
    if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer < s->func->buffer_count)
        s->of[node->u.alloc.buffer].is_allocated = true;
    for (uint32_t i = 0; block && i < block->alloc_count; i++) {
        if (block->allocs[i] < s->func->buffer_count) s->of[block->allocs[i]].is_allocated = true;
    }
    for (uint32_t i = 0; block && i < block->match_count; i++) {
        hone_usage *source = usage_of(s, block->matches[i].source.buffer);
        if (source) source->is_viewed = true;
    }
}

const hone_usage *hone_usage_of(const hone_func *func, hone_arena *arena) {
    usage_search s = {.func = func};
    s.of = hone_arena_zalloc(arena, (func->buffer_count + 1) * sizeof *s.of);
    if (!s.of) return NULL;
    for (hone_buffer b = 0; b < func->buffer_count; b++)
        s.of[b].first_read = s.of[b].first_write = HONE_NO_ID;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n))
        note_node(&s, n);
    hone_tree_walk_exprs(func, 0, false, note_exprs, &s);
    return s.of;
}
