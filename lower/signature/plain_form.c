/* lower/signature/plain_form.c - what a program does to its buffers, in a form that shows it.
 *
 * For looking only, on a copy: numbers that have a name (let, or a scalar that is stored once)
 * stand where they are used, and a call that gets pointers is what its block declares of it: loads
 * of what the block reads, then stores to all that it writes. */
#include "lower/signature/plain_form.h"

#include <string.h>

#include "ir/core/touches.h"

/* ---- numbers with a name ---- */

static hone_status put_let(hone_func *func, hone_node_id id) {
    const hone_node *node = hone_func_node(func, id);
    if (!hone_expr_is_pure_index(node->u.let.value)) return HONE_OK;
    HONE_TRY(lower_substitute_one(func, id, node->u.let.var, node->u.let.value));
    lower_splice(func, id);
    return HONE_OK;
}

typedef struct scalar {
    hone_buffer buffer;
    const hone_expr *value;
} scalar;

static const hone_expr *replace_scalar(void *ctx, hone_ir *ir, const hone_expr *e) {
    (void)ir;
    const scalar *s = ctx;
    return e->kind == HONE_EXPR_LOAD && e->u.buffer == s->buffer ? s->value : e;
}

static bool has_one_element(const hone_buffer_info *buffer) {
    for (uint32_t d = 0; d < buffer->rank; d++) {
        if (!hone_expr_is_int_value(buffer->shape[d], 1)) return false;
    }
    return hone_dtype_is_int(buffer->dtype);
}

/* The only store to an allocated buffer, and before all loads in the body that it stands in: what
 * is loaded is what was stored in the same iteration. HONE_NO_ID where there is none. */
static hone_status only_store(const hone_func *func, hone_node_id alloc, hone_buffer buffer,
                              hone_node_id *out) {
    lower_accesses all;
    *out = HONE_NO_ID;
    HONE_TRY(lower_find_accesses(func, alloc, buffer, &all));
    if (all.is_opaque || all.count == 0 || !all.items[0].is_store) return HONE_OK;
    hone_node_id store = all.items[0].node, body = hone_func_node(func, store)->parent;
    for (uint32_t i = 1; i < all.count; i++) {
        bool is_behind = hone_tree_is_ancestor(func, body, all.items[i].node);
        if (all.items[i].is_store || !is_behind) return HONE_OK;
    }
    *out = store;
    return HONE_OK;
}

static hone_status put_scalar(hone_func *func, hone_node_id alloc) {
    scalar s = {.buffer = hone_func_node(func, alloc)->u.alloc.buffer};
    hone_node_id store;
    if (!has_one_element(&func->buffers[s.buffer])) return HONE_OK;
    HONE_TRY(only_store(func, alloc, s.buffer, &store));
    if (store == HONE_NO_ID) return HONE_OK;
    s.value = hone_func_node(func, store)->u.store.value;
    if (!hone_expr_is_pure_index(s.value)) return HONE_OK;
    return hone_tree_transform(func, alloc, replace_scalar, &s, true);
}

hone_status lower_show_numbers(hone_lower *lower) {
    hone_func *func = lower->func;
    for (hone_node_id n = 0; n < func->node_count; n++) { /* by number: they move */
        const hone_node *node = hone_func_node(func, n);
        if (node->parent == HONE_NO_ID) continue;
        if (node->kind == HONE_NODE_ALLOC) HONE_TRY(put_scalar(func, n));
        if (node->kind == HONE_NODE_LET) HONE_TRY(put_let(func, n));
    }
    return HONE_OK;
}

/* ---- calls that get pointers ---- */

typedef struct opener {
    hone_lower *lower;
    const hone_buffer *storage;
    bool *is_touched; /* by buffer that is no view */
    bool is_any;
} opener;

static void touch(opener *o, hone_buffer buffer) {
    o->is_touched[o->storage[buffer]] = true;
    o->is_any = true;
}

static void find_pointers(void *ctx, const hone_reference *found) {
    if (found->kind == HONE_REFERENCE_POINTER) touch(ctx, found->buffer);
}

/* The block that says what a statement does, which it surely does whenever the block runs; or
 * HONE_NO_ID. */
static hone_node_id block_around(const hone_func *func, hone_node_id id, bool *out_is_init) {
    *out_is_init = false;
    for (hone_node_id n = hone_func_node(func, id)->parent; n != HONE_NO_ID;
         n = hone_func_node(func, n)->parent) {
        uint8_t kind = hone_func_node(func, n)->kind;
        if (kind == HONE_NODE_BLOCK) return n;
        if (kind == HONE_NODE_INIT) *out_is_init = true;
        if (kind == HONE_NODE_IF || kind == HONE_NODE_ELSE || kind == HONE_NODE_WHILE) break;
    }
    return HONE_NO_ID;
}

/* A loop over all of one dimension, at the end of parent; returns the index. NULL when memory is
 * short. */
static const hone_expr *add_loop(opener *o, const hone_range *range, hone_node_id *io_parent) {
    hone_func *func = o->lower->func;
    hone_ir *ir = &o->lower->ir;
    hone_dtype dtype = range->extent->dtype;
    if (hone_expr_is_int_value(range->extent, 1)) return range->min;
    hone_var var = hone_func_add_var(func, "all", dtype);
    hone_node_id loop = hone_func_add_node(func, HONE_NODE_FOR);
    if (var == HONE_NO_ID || loop == HONE_NO_ID) return NULL;
    hone_node *node = hone_func_node(func, loop);
    node->u.loop.var = var;
    node->u.loop.range = (hone_range){hone_expr_int(ir, dtype, 0), range->extent};
    hone_tree_append(func, *io_parent, loop);
    *io_parent = loop;
    return hone_expr_add(ir, range->min, hone_expr_var(ir, dtype, var));
}

/* At the end of parent: each element of a region is loaded, or stored to. */
static hone_status add_access(opener *o, hone_node_id parent, const hone_region *region,
                              bool is_store) {
    hone_func *func = o->lower->func;
    hone_ir *ir = &o->lower->ir;
    const hone_buffer_info *info = hone_func_buffer(func, region->buffer);
    const hone_expr **at = hone_arena_alloc(func->arena, (info->rank + 1) * sizeof *at);
    for (uint32_t d = 0; at && d < info->rank; d++) {
        at[d] = add_loop(o, &region->ranges[d], &parent);
        if (!at[d]) return LOWER_NO_MEMORY();
    }
    hone_node_id made = hone_func_add_node(func, is_store ? HONE_NODE_STORE : HONE_NODE_EVAL);
    if (!at || made == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_node *node = hone_func_node(func, made);
    if (is_store) {
        node->u.store.buffer = region->buffer;
        node->u.store.rank = (uint16_t)info->rank;
        node->u.store.indices = at;
        node->u.store.value = hone_expr_i32(ir, 0);
    } else {
        node->u.eval.value =
            hone_expr_load(ir, info->dtype, region->buffer, (uint16_t)info->rank, at);
    }
    hone_tree_append(func, parent, made);
    return hone_ir_finish(ir);
}

static hone_status add_accesses(opener *o, hone_node_id parent, uint32_t count,
                                const hone_region *regions, bool is_store) {
    for (uint32_t i = 0; i < count; i++) {
        if (!o->is_touched[o->storage[regions[i].buffer]]) continue;
        HONE_TRY(add_access(o, parent, &regions[i], is_store));
    }
    return HONE_OK;
}

/* Every buffer that a pointer leads to must be declared. */
static bool are_declared(const opener *o, const hone_block *block) {
    for (hone_buffer id = 0; id < o->lower->func->buffer_count; id++) {
        bool is_found = !o->is_touched[id];
        for (uint32_t i = 0; i < block->read_count; i++)
            is_found |= o->storage[block->reads[i].buffer] == id;
        for (uint32_t i = 0; i < block->write_count; i++)
            is_found |= o->storage[block->writes[i].buffer] == id;
        if (!is_found) return false;
    }
    return true;
}

static hone_status open_call(opener *o, hone_node_id id) {
    hone_func *func = o->lower->func;
    bool is_init;
    memset(o->is_touched, 0, func->buffer_count);
    o->is_any = false;
    hone_node_walk_references(func, id, find_pointers, o);
    hone_node_id around = o->is_any ? block_around(func, id, &is_init) : HONE_NO_ID;
    if (around == HONE_NO_ID) return HONE_OK;
    const hone_block *block = hone_func_node(func, around)->u.block.block;
    if (!are_declared(o, block)) return HONE_OK;
    hone_node_id at = hone_func_add_node(func, HONE_NODE_ATTR); /* holds them, to be taken away */
    if (at == HONE_NO_ID) return LOWER_NO_MEMORY();
    hone_tree_insert_before(func, id, at);
    hone_tree_remove(func, id);
    if (!is_init) HONE_TRY(add_accesses(o, at, block->read_count, block->reads, false));
    HONE_TRY(add_accesses(o, at, block->write_count, block->writes, true));
    lower_splice(func, at);
    return HONE_OK;
}

hone_status lower_show_calls(hone_lower *lower, const hone_buffer *storage) {
    hone_func *func = lower->func;
    opener o = {.lower = lower, .storage = storage};
    o.is_touched = hone_arena_alloc(func->arena, func->buffer_count + 1);
    if (!o.is_touched) return LOWER_NO_MEMORY();
    uint32_t count = func->node_count;
    for (hone_node_id n = 0; n < count; n++) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_EVAL && node->parent != HONE_NO_ID) HONE_TRY(open_call(&o, n));
    }
    return hone_ir_finish(&lower->ir);
}
