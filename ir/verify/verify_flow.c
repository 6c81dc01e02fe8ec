/* ir/verify/verify_flow.c - what is read and written over a whole function: storage that nothing
 * fills before it is read or that nothing uses, and a program that writes nothing. What calls do
 * with handles is unknown, so that a buffer whose handle is used counts as written. */
#include <string.h>

#include "ir/verify/verify_impl.h"

typedef struct flow {
    verifier *v;
    hone_node_id *first_read, *first_write; /* by buffer, in the order of the text */
    bool *escapes;                          /* by buffer: a handle or a view of it is about */
    bool writes_output, has_effect;
    hone_node_id at;
} flow;

static bool note_expr(void *ctx, const hone_expr *e) {
    flow *f = ctx;
    const hone_func *func = f->v->func;
    if (e->kind == HONE_EXPR_LOAD && e->u.buffer < func->buffer_count) {
        hone_buffer buffer = hone_func_storage(func, e->u.buffer);
        if (buffer < func->buffer_count && f->first_read[buffer] == HONE_NO_ID) {
            f->first_read[buffer] = f->at;
        }
    }
    if (e->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)e->op)) f->has_effect = true;
    if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) || hone_expr_is_call(e, HONE_INTRIN_NAMED)) {
        /* a load names the place: T.address_of(A[0]), T.tvm_thread_allreduce(..., r[0], tx) */
        for (uint32_t i = 0; i < e->count; i++) {
            const hone_expr *load = e->args[i];
            if (load->kind != HONE_EXPR_LOAD || load->u.buffer >= func->buffer_count) continue;
            f->escapes[hone_func_storage(func, load->u.buffer)] = true;
        }
        if (e->op == HONE_INTRIN_ADDRESS_OF) return false;
    }
    if (e->kind != HONE_EXPR_VAR || !hone_dtype_is_handle(e->dtype)) return true;
    for (hone_buffer b = 0; b < func->buffer_count; b++) {
        if (func->buffers[b].data == e->u.var) f->escapes[b] = true;
    }
    return true;
}

static void note_top(void *ctx, hone_node_id at, const hone_expr *e) {
    flow *f = ctx;
    f->at = at;
    hone_expr_walk(e, note_expr, f);
}

static bool is_output(const hone_func *func, hone_buffer buffer) {
    bool is_of_handle = func->buffers[buffer].data != HONE_NO_ID;
    return is_of_handle || hone_func_is_parameter(func, buffer);
}

static void note_store(flow *f, hone_node_id id, hone_buffer buffer) {
    const hone_func *func = f->v->func;
    buffer = hone_func_storage(func, buffer);
    if (buffer >= func->buffer_count) return;
    if (f->first_write[buffer] == HONE_NO_ID) f->first_write[buffer] = id;
    f->writes_output |= is_output(func, buffer);
}

static void note_node(flow *f, hone_node_id id) {
    const hone_node *node = hone_func_node(f->v->func, id);
    if (node->kind == HONE_NODE_STORE) note_store(f, id, node->u.store.buffer);
    if (node->kind == HONE_NODE_ASSERT) f->has_effect = true;
    if (node->kind != HONE_NODE_BLOCK) return;
    for (uint32_t i = 0; i < node->u.block.block->match_count; i++) { /* a view may be written */
        hone_buffer source =
            hone_func_storage(f->v->func, node->u.block.block->matches[i].source.buffer);
        if (source >= f->v->func->buffer_count) continue;
        f->escapes[source] = true;
        f->writes_output |= is_output(f->v->func, source);
    }
}

/* Does a loop hold both, so that what is written late may be read early the next time? */
static bool share_loop(const hone_func *func, hone_node_id a, hone_node_id b) {
    for (hone_node_id n = a; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        uint8_t kind = hone_func_node(func, n)->kind;
        bool is_loop = kind == HONE_NODE_FOR || kind == HONE_NODE_WHILE;
        if (is_loop && hone_tree_is_ancestor(func, n, b)) return true;
    }
    return false;
}

static bool comes_before(const hone_func *func, hone_node_id a, hone_node_id b) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (n == a) return true;
        if (n == b) return false;
    }
    return false;
}

/* A second buffer of its name hides it from all that comes after. */
static void report_unused(flow *f, hone_node_id alloc, hone_buffer buffer) {
    const hone_func *func = f->v->func;
    const char *name = func->buffers[buffer].name;
    bool is_hidden = false;
    for (hone_buffer b = buffer + 1; b < func->buffer_count && !is_hidden; b++)
        is_hidden = strcmp(func->buffers[b].name, name) == 0;
    f->v->declared = &func->buffers[buffer];
    verify_warning(f->v, alloc, "'%s' is allocated and nothing uses it%s", name,
                   is_hidden ? "; another buffer of that name hides it" : "");
    f->v->declared = NULL;
}

static void check_filled(flow *f, hone_node_id alloc, hone_buffer buffer) {
    verifier *v = f->v;
    hone_node_id read = f->first_read[buffer], write = f->first_write[buffer];
    if (f->escapes[buffer]) return;
    if (read == HONE_NO_ID) {
        if (write == HONE_NO_ID) report_unused(f, alloc, buffer);
        return;
    }
    const char *name = hone_func_buffer(v->func, buffer)->name;
    if (write == HONE_NO_ID) {
        verify_warning(v, read, "'%s' is read and nothing writes it", name);
    } else if (read != write && comes_before(v->func, read, write) &&
               !share_loop(v->func, read, write) && !hone_tree_is_ancestor(v->func, write, read)) {
        verify_warning(v, read, "'%s' is read before anything writes it", name);
    }
}

static void check_allocated(flow *f) {
    const hone_func *func = f->v->func;
    for (hone_node_id id = 0; id != HONE_NO_ID; id = hone_tree_next(func, 0, id)) {
        const hone_node *node = hone_func_node(func, id);
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer < func->buffer_count) {
            check_filled(f, id, node->u.alloc.buffer);
        }
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->alloc_count; i++) {
            hone_buffer alloc = node->u.block.block->allocs[i];
            if (alloc < func->buffer_count) check_filled(f, id, alloc);
        }
    }
}

void verify_flow(verifier *v) {
    const hone_func *func = v->func;
    flow f = {.v = v};
    size_t count = func->buffer_count + 1;
    f.first_read = hone_arena_alloc(v->arena, count * sizeof *f.first_read);
    f.first_write = hone_arena_alloc(v->arena, count * sizeof *f.first_write);
    f.escapes = hone_arena_zalloc(v->arena, count);
    if (!f.first_read || !f.first_write || !f.escapes) {
        v->is_short_of_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        f.first_read[i] = f.first_write[i] = HONE_NO_ID;
    for (hone_node_id id = 0; id != HONE_NO_ID; id = hone_tree_next(func, 0, id))
        note_node(&f, id);
    hone_tree_walk_exprs(func, 0, false, note_top, &f);
    check_allocated(&f);
    bool has_body = hone_tree_first_of(func, 0, HONE_NODE_STORE) != HONE_NO_ID;
    if (has_body && !f.writes_output && !f.has_effect && func->param_count > 0) {
        verify_warning(v, HONE_NO_ID, "'%s' writes none of its parameters, so it does nothing",
                       func->name ? func->name : "?");
    }
}
