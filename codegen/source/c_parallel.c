/* codegen/source/c_parallel.c - a parallel loop becomes a function of its own.
 *
 *   for i in parallel(min, n): body
 *     ⇒ struct closure c = { pointers and numbers that body uses };
 *        code = rt->parallel_for(rt, min, min + n, body, &c);
 */
#include <string.h>

#include "codegen/source/c_gen.h"
#include "support/attributes.h"

typedef struct uses {
    const c_gen *g;
    bool *vars, *buffers;
} uses;

static void use_buffer(uses *u, hone_buffer buffer) {
    while (!u->g->buffers[buffer] && u->g->func->buffers[buffer].alias_of != HONE_NO_ID) {
        buffer = u->g->func->buffers[buffer].alias_of;
    }
    if (u->g->buffers[buffer]) u->buffers[buffer] = true;
}

static bool note_use(void *ctx, const hone_expr *e) {
    uses *u = ctx;
    if (e->kind == HONE_EXPR_VAR) {
        if (u->g->vars[e->u.var].text) u->vars[e->u.var] = true;
        for (hone_buffer id = 0; hone_dtype_is_handle(e->dtype) && id < u->g->func->buffer_count;
             id++) {
            if (u->g->func->buffers[id].data != e->u.var) continue;
            use_buffer(u, id); /* its shape may be handed over as well */
            const hone_buffer_info *buffer = &u->g->func->buffers[id];
            for (uint32_t d = 0; d < buffer->rank; d++)
                hone_expr_walk(buffer->shape[d], note_use, u);
        }
    }
    if (e->kind == HONE_EXPR_LOAD) use_buffer(u, e->u.buffer);
    return true;
}

static void note_expr(void *ctx, hone_node_id at, const hone_expr *e) {
    (void)at;
    hone_expr_walk(e, note_use, ctx);
}

void c_find_uses(c_gen *g, hone_node_id root, bool *vars, bool *buffers) {
    uses u = {g, vars, buffers};
    hone_tree_walk_exprs(g->func, root, false, note_expr, &u);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(g->func, root, n)) {
        const hone_node *node = hone_func_node(g->func, n);
        if (node->kind == HONE_NODE_STORE) use_buffer(&u, node->u.store.buffer);
        if (node->kind != HONE_NODE_ALLOC) continue;
        const hone_buffer_info *buffer = &g->func->buffers[node->u.alloc.buffer];
        for (uint32_t d = 0; d < buffer->rank; d++)
            hone_expr_walk(buffer->shape[d], note_use, &u);
    }
}

static const char *member_type(c_gen *g, hone_var var) {
    return g->vars[var].is_index ? "int64_t" : c_type(g, g->func->vars[var].dtype);
}

/* Members of the closure in the function's text, their values at the loop. */
static void print_closure(c_gen *g, const char *name, const bool *vars, const bool *buffers) {
    hone_str_printf(g->done, "struct %s {\n", name);
    for (hone_buffer b = 0; b < g->func->buffer_count; b++) {
        if (!buffers[b]) continue;
        hone_str_printf(g->done, "    %s *%s;\n", c_storage(g, g->func->buffers[b].dtype),
                        g->buffers[b]);
    }
    for (hone_var v = 0; v < g->func->var_count; v++) {
        if (!vars[v]) continue;
        if (g->vars[v].is_lanes) {
            c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                 "C source cannot hand the vector '%s' to a parallel loop",
                                 g->func->vars[v].name));
        }
        hone_str_printf(g->done, "    %s %s;\n", member_type(g, v), g->vars[v].text);
    }
    hone_str_append(g->done, "};\n");
}

static const char *closure_values(c_gen *g, const bool *vars, const bool *buffers) {
    const char *all = "";
    for (hone_buffer b = 0; b < g->func->buffer_count; b++) {
        if (!buffers[b]) continue;
        all = c_printf(g, "%s%s(%s *)%s", all, *all ? ", " : "",
                       c_storage(g, g->func->buffers[b].dtype), g->buffers[b]);
    }
    for (hone_var v = 0; v < g->func->var_count; v++) {
        if (vars[v]) all = c_printf(g, "%s%s%s", all, *all ? ", " : "", g->vars[v].text);
    }
    return all;
}

static void unpack(c_gen *g, const char *name, const bool *vars, const bool *buffers) {
    c_line(g, "const struct %s *const all = closure;", name);
    for (hone_buffer b = 0; b < g->func->buffer_count; b++) {
        if (!buffers[b]) continue;
        c_line(g, "%s *restrict %s = all->%s;", c_storage(g, g->func->buffers[b].dtype),
               g->buffers[b], g->buffers[b]);
    }
    for (hone_var v = 0; v < g->func->var_count; v++) {
        if (!vars[v]) continue;
        c_line(g, "const %s %s = all->%s;", member_type(g, v), g->vars[v].text, g->vars[v].text);
    }
}

/* The loop over [begin, end) as a function; what it uses from around keeps its name inside. */
static void print_body(c_gen *g, hone_node_id loop, const char *name, const bool *vars,
                       const bool *buffers) {
    hone_str body = {0}, *outer_out = g->out;
    int32_t outer_indent = g->indent;
    uint32_t outer_scratch = g->scratch_count;
    hone_buffer scratch[HONE_COUNT(g->scratch)];
    bool outer_leave = g->uses_leave;
    const hone_node *node = hone_func_node(g->func, loop);
    memcpy(scratch, g->scratch, sizeof scratch);
    g->out = &body;
    g->indent = 1;
    g->is_parallel = true;
    g->uses_leave = false;
    g->scratch_count = 0;
    bool has_closure = false;
    for (hone_buffer b = 0; b < g->func->buffer_count; b++)
        has_closure |= buffers[b];
    for (hone_var v = 0; v < g->func->var_count; v++)
        has_closure |= vars[v];
    if (has_closure) unpack(g, name, vars, buffers);
    c_line(g, has_closure ? "(void)rt;" : "(void)rt, (void)closure;");
    c_line(g, "int32_t code = 0;");
    c_reserve(g, loop);
    const char *var = c_name(g, g->func->vars[node->u.loop.var].name);
    c_open(g, "for (int64_t %s = begin; %s < end; %s++)", var, var, var);
    g->vars[node->u.loop.var] = (c_var){.text = var, .is_index = true};
    c_children(g, loop);
    g->vars[node->u.loop.var] = (c_var){0};
    c_close(g);
    if (g->uses_leave) hone_str_append(g->out, "leave:\n");
    c_release_all(g);
    c_line(g, "return code;");
    hone_str_printf(g->done,
                    "static int32_t %s(const hone_rt *rt, void *closure, int64_t begin,\n"
                    "    int64_t end) {\n%s}\n\n",
                    name, hone_str_text(&body));
    for (uint32_t i = 0; i < g->scratch_count; i++)
        g->buffers[g->scratch[i]] = NULL;
    hone_str_deinit(&body);
    memcpy(g->scratch, scratch, sizeof scratch);
    g->scratch_count = outer_scratch;
    g->uses_leave = outer_leave;
    g->is_parallel = false;
    g->indent = outer_indent;
    g->out = outer_out;
}

void c_parallel(c_gen *g, hone_node_id loop) {
    const hone_node *node = hone_func_node(g->func, loop);
    bool *vars = hone_arena_zalloc(g->arena, g->func->var_count + 1);
    bool *buffers = hone_arena_zalloc(g->arena, g->func->buffer_count + 1);
    if (!vars || !buffers) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
        return;
    }
    c_find_uses(g, loop, vars, buffers);
    const char *name = c_printf(g, "%s_parallel_%u", g->symbol, (unsigned)++g->parallel_count);
    const char *values = closure_values(g, vars, buffers);
    c_text min = c_index(g, node->u.loop.range.min);
    c_text extent = c_index(g, node->u.loop.range.extent);
    if (*values) print_closure(g, name, vars, buffers);
    print_body(g, loop, name, vars, buffers);
    c_open(g, "%s", "");
    if (*values) c_line(g, "struct %s closure = {%s};", name, values);
    const char *end =
        hone_expr_is_int_value(node->u.loop.range.min, 0)
            ? extent.s
            : c_printf(g, "%s + %s", c_at(g, min, C_PREC_ADD), c_at(g, extent, C_PREC_MUL));
    c_line(g, "code = rt->parallel_for(rt, %s, %s, %s, %s);", min.s, end, name,
           *values ? "&closure" : "NULL");
    c_close(g);
    c_line(g, "if (code != 0) goto leave;");
    g->uses_leave = true;
}
