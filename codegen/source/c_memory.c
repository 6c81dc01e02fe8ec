/* codegen/source/c_memory.c - where allocated buffers live: small ones are arrays where they are
 * used, larger ones of constant size come from the workspace once per function, those whose size is
 * known later are allocated in place and freed behind their scope. */
#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"

enum { MAX_ARRAY_BYTES = 16 << 10 };

static void workspace(c_gen *g, const char *name, const char *bytes) {
    c_line(g, "%s = rt->workspace_alloc(rt, %s);", name, bytes);
    c_open(g, "if (%s == NULL)", name);
    c_line(g, "rt->set_error(rt, -2, \"no workspace memory\");");
    c_leave(g, "-2");
    c_close(g);
}

static bool is_scratch(const hone_buffer_info *buffer) {
    return codegen_constant_bytes(buffer) > MAX_ARRAY_BYTES;
}

/* All large buffers of constant size below root that belong to this function (the body of a
 * parallel loop is another one). All are declared before the first jump to `leave`. */
void c_reserve(c_gen *g, hone_node_id root) {
    const hone_func *func = g->func;
    hone_node_id next;
    for (hone_node_id n = hone_func_node(func, root)->first; n != HONE_NO_ID; n = next) {
        const hone_node *node = hone_func_node(func, n);
        bool is_other =
            node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_PARALLEL && !g->is_parallel;
        next = is_other ? hone_tree_next_over(func, root, n) : hone_tree_next(func, root, n);
        if (node->kind != HONE_NODE_ALLOC) continue;
        hone_buffer id = node->u.alloc.buffer;
        const hone_buffer_info *buffer = &func->buffers[id];
        if (!is_scratch(buffer)) continue;
        if (g->scratch_count == HONE_COUNT(g->scratch)) {
            c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                 "more than %d large buffers are allocated in one function",
                                 (int)HONE_COUNT(g->scratch)));
            return;
        }
        g->buffers[id] = c_name(g, buffer->name);
        g->scratch[g->scratch_count++] = id;
        c_line(g, "%s *restrict %s = NULL;", c_storage(g, buffer->dtype), g->buffers[id]);
    }
    for (uint32_t i = 0; i < g->scratch_count; i++) {
        const hone_buffer_info *buffer = &func->buffers[g->scratch[i]];
        workspace(g, g->buffers[g->scratch[i]],
                  c_printf(g, "%lld", (long long)codegen_constant_bytes(buffer)));
    }
}

void c_release_all(c_gen *g) {
    for (uint32_t i = g->scratch_count; i > 0; i--) {
        const char *name = g->buffers[g->scratch[i - 1]];
        c_line(g, "if (%s != NULL) rt->workspace_free(rt, %s);", name, name);
    }
}

void c_alloc(c_gen *g, hone_node_id id) {
    hone_buffer buffer = hone_func_node(g->func, id)->u.alloc.buffer;
    const hone_buffer_info *info = &g->func->buffers[buffer];
    if (g->buffers[buffer]) { /* reserved */
        c_children(g, id);
        return;
    }
    const char *type = c_storage(g, info->dtype), *name = c_name(g, info->name);
    int64_t elements = codegen_constant_bytes(info) < 0 ? -1 : hone_buffer_elements(info);
    bool is_open = c_open_scope(g, id);
    if (elements >= 0) {
        c_line(g, "_Alignas(64) %s %s[%lld];", type, name, (long long)(elements ? elements : 1));
        c_line(g, "(void)%s;", name); /* it may only be written */
    } else {
        c_text bytes = {c_printf(g, "(int64_t)sizeof(%s)", type), C_PREC_UNARY};
        for (uint32_t d = 0; d < info->rank; d++) {
            c_text extent = c_index(g, info->shape[d]);
            bytes.s = c_printf(g, "%s * %s", bytes.s, c_at(g, extent, C_PREC_UNARY));
        }
        c_line(g, "%s *restrict %s;", type, name);
        workspace(g, name, bytes.s);
    }
    g->buffers[buffer] = name;
    c_children(g, id);
    g->buffers[buffer] = NULL;
    if (elements < 0) c_line(g, "rt->workspace_free(rt, %s);", name);
    c_close_scope(g, is_open);
}
