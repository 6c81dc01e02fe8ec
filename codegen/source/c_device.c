/* codegen/source/c_device.c - what a launch has and a function of a host has not: threads by their
 * numbers, barriers, memory that the threads of a block share. */
#include <string.h>

#include "codegen/groups.h"
#include "codegen/source/c_gen.h"

enum { SHARED_ALIGN = 128 };

/* ---- threads ---- */

/* "threadIdx.y" in the words of the dialect, or NULL. */
static const char *axis_of(const c_gen *g, const char *tag) {
    bool is_block = strncmp(tag, "blockIdx.", 9) == 0;
    if (!is_block && strncmp(tag, "threadIdx.", 10) != 0) return NULL;
    char axis = tag[is_block ? 9 : 10];
    if (axis < 'x' || axis > 'z') return NULL;
    return (is_block ? g->dialect->block_axes : g->dialect->thread_axes)[axis - 'x'];
}

/* Each thread is one iteration: the number of it is the variable. */
void c_thread_loop(c_gen *g, hone_node_id loop) {
    const hone_node *node = hone_func_node(g->func, loop);
    hone_var var = node->u.loop.var;
    const char *tag = node->u.loop.thread_tag ? node->u.loop.thread_tag : "?";
    const char *axis = axis_of(g, tag);
    if (!axis) {
        c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "loop '%s' is bound to thread '%s' in %s",
                             g->func->vars[var].name, tag, g->dialect->name));
        return;
    }
    bool is_open = c_open_scope(g, loop);
    const char *name = c_name(g, g->func->vars[var].name);
    const hone_expr *min = node->u.loop.range.min;
    if (hone_expr_is_int_value(min, 0))
        c_line(g, "const int64_t %s = %s;", name, axis);
    else
        c_line(g, "const int64_t %s = %s + (int64_t)%s;", name,
               c_at(g, c_index(g, min), C_PREC_ADD), axis);
    c_line(g, "(void)%s;", name);
    g->vars[var] = (c_var){.text = name, .is_index = true};
    c_children(g, loop);
    g->vars[var] = (c_var){0};
    c_close_scope(g, is_open);
}

/* ---- barriers ---- */

c_text c_sync(c_gen *g, const hone_expr *e) {
    const c_text nothing = {"0", C_PREC_POSTFIX};
    if (!g->dialect->is_device) return nothing; /* one thread */
    const char *scope = e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING ? e->args[0]->u.s : "";
    bool is_warp = strcmp(scope, "warp") == 0, is_block = strncmp(scope, "shared", 6) == 0;
    const char *barrier = is_warp    ? g->dialect->warp_barrier
                          : is_block ? g->dialect->barrier
                                     : NULL;
    if (barrier && is_block && g->is_operand) /* units that read memory by themselves see it */
        c_line(g, "asm volatile(\"fence.proxy.async.shared::cta;\\n\" ::: \"memory\");");
    if (barrier)
        c_line(g, "%s", barrier);
    else
        c_unsupported(g, c_printf(g, "a sync of '%s'", scope));
    return nothing;
}

/* ---- memory ---- */

static bool is_shared(const c_gen *g, hone_node_id node) {
    return c_space_of(g, hone_func_node(g->func, node)->u.alloc.buffer) == C_SPACE_SHARED;
}

/* An array of constant size. */
static void declare(c_gen *g, hone_buffer id, const char *words) {
    const hone_buffer_info *buffer = &g->func->buffers[id];
    int64_t elements = codegen_constant_bytes(buffer) < 0 ? -1 : hone_buffer_elements(buffer);
    if (elements >= 0 && c_is_of_warp(g, id)) elements = c_warp_elements(g, id);
    if (elements < 0) {
        c_unsupported(g, c_printf(g, "buffer '%s', whose size is known later", buffer->name));
        return;
    }
    const char *type = c_storage(g, buffer->dtype);
    g->buffers[id] = c_name(g, buffer->name);
    c_line(g, "%s%s %s[%lld];", words, type, g->buffers[id], (long long)(elements ? elements : 1));
}

/* A part of what a launch asks for: they lie one behind the other, as lower/device counts them. */
static void declare_dynamic(c_gen *g, hone_buffer id, int64_t *io_offset) {
    const hone_buffer_info *buffer = &g->func->buffers[id];
    const char *type = c_storage(g, buffer->dtype);
    int64_t bytes = codegen_constant_bytes(buffer);
    if (*io_offset == 0) c_line(g, "%s", g->dialect->dynamic_shared);
    if (c_is_operand(g, id) && *io_offset % GROUPS_ALIGN != 0)
        c_unsupported(g, c_printf(g, "'%s' in shared memory at no multiple of %d bytes",
                                  buffer->name, (int)GROUPS_ALIGN));
    g->buffers[id] = c_name(g, buffer->name);
    c_line(g, "%s *const %s = (%s *)(hone_dynamic_shared + %lld);", type, g->buffers[id], type,
           (long long)*io_offset);
    *io_offset += (bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
}

void c_declare_shared(c_gen *g) {
    const hone_func *func = g->func;
    int64_t offset = 0;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        if (hone_func_node(func, n)->kind != HONE_NODE_ALLOC || !is_shared(g, n)) continue;
        hone_buffer id = hone_func_node(func, n)->u.alloc.buffer;
        bool is_dynamic = strcmp(func->buffers[id].scope, "shared.dyn") == 0;
        if (is_dynamic && g->dialect->dynamic_shared)
            declare_dynamic(g, id, &offset);
        else
            declare(g, id,
                    c_is_operand(g, id) ? "__shared__ __align__(1024) " : g->dialect->shared_words);
    }
}

/* A thread's own. */
void c_device_alloc(c_gen *g, hone_node_id node) {
    hone_buffer id = hone_func_node(g->func, node)->u.alloc.buffer;
    if (is_shared(g, node)) {
        c_children(g, node);
        return;
    }
    bool is_open = c_open_scope(g, node);
    const char *scope = g->func->buffers[id].scope;
    if (scope && strncmp(scope, "wmma.", 5) == 0)
        c_declare_fragments(g, id);
    else if (groups_is_sums(g->func, id))
        c_declare_sums(g, id);
    else if (c_is_simdgroup(g, id))
        c_declare_simdgroup(g, id);
    else
        declare(g, id, g->dialect->array_words);
    if (g->buffers[id]) c_line(g, "(void)%s;", g->buffers[id]);
    c_children(g, node);
    g->buffers[id] = NULL;
    c_close_scope(g, is_open);
}
