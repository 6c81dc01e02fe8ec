/* ir/verify/verify_flow.c - what is read and written over a whole function: storage that nothing
 * fills before it is read or that nothing uses, and a program that writes nothing. What calls do
 * with handles is unknown, so that a buffer whose handle is used counts as written. */
#include <string.h>

#include "ir/verify/verify_impl.h"

static bool is_effect(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return hone_expr_is_effect(e);
}

static bool has_effect(const hone_func *func) {
    return hone_tree_first_of(func, 0, HONE_NODE_ASSERT) != HONE_NO_ID ||
           hone_tree_find_part(func, 0, false, is_effect, NULL);
}

static bool writes_output(const verifier *v) {
    for (hone_buffer b = 0; b < v->func->buffer_count; b++) {
        bool is_of_handle = v->func->buffers[b].data != HONE_NO_ID;
        bool is_written = v->usage[b].first_write != HONE_NO_ID || v->usage[b].is_viewed;
        if (is_written && (is_of_handle || hone_func_is_parameter(v->func, b))) return true;
    }
    return false;
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

/* By node: how many stand before it in the text. NULL where memory is short. */
static const uint32_t *number_nodes(verifier *v) {
    uint32_t count = 0;
    uint32_t *numbers = hone_arena_zalloc(v->arena, v->func->node_count * sizeof *numbers);
    v->is_short_of_memory |= !numbers;
    for (hone_node_id n = 0; numbers && n != HONE_NO_ID; n = hone_tree_next(v->func, 0, n))
        numbers[n] = count++;
    return numbers;
}

/* A second buffer of its name hides it from all that comes after. */
static void report_unused(verifier *v, hone_node_id alloc, hone_buffer buffer) {
    const hone_func *func = v->func;
    const char *name = func->buffers[buffer].name;
    bool is_hidden = false;
    for (hone_buffer b = buffer + 1; b < func->buffer_count && !is_hidden; b++)
        is_hidden = strcmp(func->buffers[b].name, name) == 0;
    v->declared = &func->buffers[buffer];
    verify_warning(v, alloc, "'%s' is allocated and nothing uses it%s", name,
                   is_hidden ? "; another buffer of that name hides it" : "");
    v->declared = NULL;
}

static void check_filled(verifier *v, const uint32_t *numbers, hone_node_id alloc,
                         hone_buffer buffer) {
    const hone_usage *usage = &v->usage[buffer];
    hone_node_id read = usage->first_read, write = usage->first_write;
    if (usage->is_pointed_to || usage->is_viewed) return;
    if (read == HONE_NO_ID) {
        if (write == HONE_NO_ID) report_unused(v, alloc, buffer);
        return;
    }
    const char *name = hone_func_buffer(v->func, buffer)->name;
    if (write == HONE_NO_ID) {
        verify_warning(v, read, "'%s' is read and nothing writes it", name);
    } else if (numbers[read] < numbers[write] && !share_loop(v->func, read, write) &&
               !hone_tree_is_ancestor(v->func, write, read)) {
        verify_warning(v, read, "'%s' is read before anything writes it", name);
    }
}

static void check_allocated(verifier *v) {
    const hone_func *func = v->func;
    const uint32_t *numbers = number_nodes(v);
    for (hone_node_id id = 0; numbers && id != HONE_NO_ID; id = hone_tree_next(func, 0, id)) {
        const hone_node *node = hone_func_node(func, id);
        if (node->kind == HONE_NODE_ALLOC && node->u.alloc.buffer < func->buffer_count) {
            check_filled(v, numbers, id, node->u.alloc.buffer);
        }
        if (node->kind != HONE_NODE_BLOCK) continue;
        for (uint32_t i = 0; i < node->u.block.block->alloc_count; i++) {
            hone_buffer alloc = node->u.block.block->allocs[i];
            if (alloc < func->buffer_count) check_filled(v, numbers, id, alloc);
        }
    }
}

void verify_flow(verifier *v) {
    const hone_func *func = v->func;
    if (!v->usage) return;
    check_allocated(v);
    bool has_body = hone_tree_first_of(func, 0, HONE_NODE_STORE) != HONE_NO_ID;
    if (has_body && func->param_count > 0 && !writes_output(v) && !has_effect(func)) {
        verify_warning(v, HONE_NO_ID, "'%s' writes none of its parameters, so it does nothing",
                       func->name ? func->name : "?");
    }
}
