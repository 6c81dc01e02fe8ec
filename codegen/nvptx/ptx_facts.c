/* codegen/nvptx/ptx_facts.c - what a device function does with its buffers, found before code is
 * made: which it only reads (they go through the read-only cache), which it only writes, whether
 * its threads meet; and the size of its blocks. */
#include <stdlib.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "ir/core/concurrent.h"

int ptx_capability(const hone_target *target) {
    if (strncmp(target->cpu, "sm_", 3) != 0) return 0;
    return (int)strtol(target->cpu + 3, NULL, 10);
}

static ptx_buffer *storage(gen *g, hone_buffer buffer) {
    return &g->device->buffers[hone_func_storage(g->func, buffer)];
}

static bool is_meeting(const hone_expr *e) {
    if (hone_expr_is_call(e, HONE_INTRIN_STORAGE_SYNC)) return true;
    bool is_named = hone_expr_is_call(e, HONE_INTRIN_NAMED) ||
                    hone_expr_is_call(e, HONE_INTRIN_CALL_EXTERN) ||
                    hone_expr_is_call(e, HONE_INTRIN_CALL_PURE_EXTERN);
    if (!is_named || e->count == 0 || e->args[0]->kind != HONE_EXPR_STRING) return false;
    return strstr(e->args[0]->u.s, "atomic") || strstr(e->args[0]->u.s, "sync");
}

/* A pointer: (type, data, offset, extent, mask) says what for. */
static void note_pointer(gen *g, hone_var data, int64_t mask) {
    for (hone_buffer id = 0; id < g->func->buffer_count; id++) {
        if (g->func->buffers[id].data != data) continue;
        storage(g, id)->is_loaded |= (mask & 1) != 0;
        storage(g, id)->is_stored |= (mask & 2) != 0;
    }
}

static void note(gen *g, const hone_expr *e) {
    if (is_meeting(e)) g->device->meets = true;
    if (e->kind == HONE_EXPR_LOAD) storage(g, e->u.buffer)->is_loaded = true;
    if (e->kind == HONE_EXPR_VAR && hone_dtype_is_handle(e->dtype)) note_pointer(g, e->u.var, 3);
    if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF) && e->args[0]->kind == HONE_EXPR_LOAD) {
        storage(g, e->args[0]->u.buffer)->is_stored = true;
    }
    bool is_access = hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR) && e->count == 5 &&
                     e->args[1]->kind == HONE_EXPR_VAR && hone_expr_is_int(e->args[4]);
    if (is_access) {
        note_pointer(g, e->args[1]->u.var, e->args[4]->u.i);
        note(g, e->args[2]);
        return;
    }
    for (uint16_t i = 0; i < e->count; i++)
        note(g, e->args[i]);
}

static bool note_part(void *ctx, const hone_expr *e) {
    note(ctx, e);
    return false; /* it went down itself */
}

/* Blocks are as large as the loops over threadIdx say, of which those over one axis agree. */
static hone_status note_loop(gen *g, const hone_node *node) {
    const char *tag = node->u.loop.thread_tag;
    if (!hone_loop_is_of_threads(node) || strncmp(tag, "threadIdx.", 10) != 0) return HONE_OK;
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    int64_t *block = tag[10] >= 'x' && tag[10] <= 'z' ? &g->device->block[tag[10] - 'x'] : NULL;
    if (extent < 1 || !block || (*block && *block != extent)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "the loop '%s' over %s has no constant number of threads that others "
                          "have, too",
                          g->func->vars[node->u.loop.var].name, tag);
    }
    *block = extent;
    return HONE_OK;
}

hone_status ptx_find_facts(gen *g) {
    gen_device *d = hone_arena_zalloc(g->arena, sizeof *d);
    g->device = d;
    if (d)
        d->buffers = hone_arena_zalloc(g->arena, (g->func->buffer_count + 1) * sizeof *d->buffers);
    if (!d || !d->buffers) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    hone_tree_walk_parts(g->func, HONE_NODE_TOP, false, note_part, g);
    for (hone_node_id n = HONE_NODE_TOP; n != HONE_NO_ID; n = hone_tree_next(g->func, 0, n)) {
        const hone_node *node = hone_func_node(g->func, n);
        if (node->kind == HONE_NODE_STORE) storage(g, node->u.store.buffer)->is_stored = true;
        if (node->kind == HONE_NODE_FOR) HONE_TRY(note_loop(g, node));
        if (node->kind != HONE_NODE_EVAL) continue;
        HONE_TRY(ptx_note_fragment(g, node->u.eval.value));
    }
    for (int i = 0; i < 3; i++) {
        if (!d->block[i]) d->block[i] = 1;
    }
    return ptx_note_operands(g);
}
