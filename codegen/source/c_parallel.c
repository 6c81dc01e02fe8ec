/* codegen/source/c_parallel.c - a parallel loop becomes a function of its own.
 *
 *   for i in parallel(min, n): body
 *     ⇒ struct closure c = { pointers and numbers that body uses };
 *        code = rt->parallel_for(rt, min, min + n, body, &c);
 */
#include <string.h>

#include "codegen/captures.h"
#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"

bool c_find_uses(c_gen *g, hone_node_id root, bool **out_vars, bool **out_buffers) {
    uint32_t vars = g->func->var_count + 1, buffers = g->func->buffer_count + 1;
    bool *has_var = hone_arena_zalloc(g->arena, vars);
    bool *has_buffer = hone_arena_zalloc(g->arena, buffers);
    *out_vars = hone_arena_zalloc(g->arena, vars);
    *out_buffers = hone_arena_zalloc(g->arena, buffers);
    if (!has_var || !has_buffer || !*out_vars || !*out_buffers) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
        return false;
    }
    for (uint32_t i = 0; i < g->func->var_count; i++)
        has_var[i] = g->vars[i].text != NULL;
    for (uint32_t i = 0; i < g->func->buffer_count; i++)
        has_buffer[i] = g->buffers[i] != NULL;
    const codegen_captures out = {has_var, has_buffer, *out_vars, *out_buffers};
    codegen_find_captures(g->func, root, &out);
    return true;
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
    bool outer_leave = g->uses_leave, outer_fault = g->uses_fault;
    const hone_node *node = hone_func_node(g->func, loop);
    memcpy(scratch, g->scratch, sizeof scratch);
    g->out = &body;
    g->indent = 1;
    g->is_parallel = true;
    g->scratch_count = 0;
    bool has_closure = false;
    for (hone_buffer b = 0; b < g->func->buffer_count; b++)
        has_closure |= buffers[b];
    for (hone_var v = 0; v < g->func->var_count; v++)
        has_closure |= vars[v];
    if (has_closure) unpack(g, name, vars, buffers);
    c_line(g, has_closure ? "(void)rt;" : "(void)rt, (void)closure;");
    size_t begin = c_begin_body(g);
    c_reserve(g, loop);
    const char *var = c_name(g, g->func->vars[node->u.loop.var].name);
    c_open(g, "for (int64_t %s = begin; %s < end; %s++)", var, var, var);
    g->vars[node->u.loop.var] = (c_var){.text = var, .is_index = true};
    c_children(g, loop);
    g->vars[node->u.loop.var] = (c_var){0};
    c_close(g);
    c_end_body(g, begin);
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
    g->uses_fault = outer_fault;
    g->is_parallel = false;
    g->indent = outer_indent;
    g->out = outer_out;
}

void c_parallel(c_gen *g, hone_node_id loop) {
    const hone_node *node = hone_func_node(g->func, loop);
    bool *vars, *buffers;
    if (!c_find_uses(g, loop, &vars, &buffers)) return;
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
