/* codegen/source/codegen_device.c - launches as text: CUDA C, OpenCL C, Metal.
 *
 *   prelude of the dialect, helpers that are used,
 *   for each launch an entry: a pointer for each buffer, a 64-bit integer for each scalar
 */
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/source/c_gen.h"

/* ---- the entry ---- */

static void find_block(const hone_func *func, int64_t out_extents[3]) {
    static const char *const tags[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
    for (int i = 0; i < 3; i++)
        out_extents[i] = 1;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR || node->loop_kind != HONE_LOOP_THREAD) continue;
        int64_t extent = hone_expr_const(node->u.loop.range.extent);
        for (int i = 0; node->u.loop.thread_tag && i < 3; i++) {
            bool is_it = strcmp(node->u.loop.thread_tag, tags[i]) == 0;
            if (is_it && extent > out_extents[i]) out_extents[i] = extent;
        }
    }
}

static const char *entry_words(c_gen *g) {
    int64_t block[3];
    find_block(g->func, block);
    const c_blank blanks[] = {
        {'X',                   c_printf(g, "%lld", (long long)block[0])},
        {'Y',               c_printf(g, "%lld", (long long)block[1])},
        {'Z',                     c_printf(g, "%lld", (long long)block[2])},
        {'P',c_printf(g, "%lld", (long long)(block[0] * block[1] * block[2]))},
        {0}
    };
    return c_fill(g, g->dialect->entry_words, blanks);
}

static bool is_address(const void *ctx, const hone_expr *e) {
    (void)ctx;
    return e->kind == HONE_EXPR_CALL && hone_dtype_is_handle(e->dtype);
}

/* Which parameters are only read: nothing is stored there, and no address of anything is taken. */
static bool *find_written(c_gen *g) {
    const hone_func *func = g->func;
    bool *written = hone_arena_zalloc(g->arena, func->buffer_count + 1);
    if (!written) return NULL;
    bool is_taken = hone_tree_find_part(func, 0, false, is_address, NULL);
    for (hone_buffer b = 0; is_taken && b < func->buffer_count; b++)
        written[b] = true;
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_STORE)
            written[hone_func_storage(func, node->u.store.buffer)] = true;
    }
    return written;
}

static const char *parameter(c_gen *g, const char *form, const char *type, const char *name,
                             uint32_t number) {
    const c_blank blanks[] = {
        {'T',   type},
        {'N',     name},
        {'I',c_printf(g, "%u", (unsigned)number)},
        {0  }
    };
    return c_fill(g, form, blanks);
}

/* The bits of a double are in that integer. */
static void unpack_float(c_gen *g, hone_var var, const char *bits) {
    hone_dtype dtype = g->func->vars[var].dtype;
    const char *both = c_name(g, "both");
    c_open(g, "union");
    c_line(g, "int64_t bits;");
    c_line(g, "%s value;", c_type(g, HONE_DTYPE_F64));
    g->indent--;
    c_line(g, "} %s;", both);
    c_line(g, "%s.bits = %s;", both, bits);
    c_text value = {c_printf(g, "%s.value", both), C_PREC_POSTFIX};
    const char *name = c_name(g, g->func->vars[var].name);
    c_line(g, "const %s %s = %s;", c_type(g, dtype), name,
           c_cast(g, HONE_DTYPE_F64, dtype, value).s);
    g->vars[var] = (c_var){.text = name};
}

static const char *scalar(c_gen *g, hone_var var, uint32_t number) {
    bool is_float = hone_dtype_is_float(g->func->vars[var].dtype);
    const char *name = c_name(g, is_float ? "bits" : g->func->vars[var].name);
    if (is_float)
        unpack_float(g, var, name);
    else
        g->vars[var] = (c_var){.text = name, .is_index = true};
    return parameter(g, g->dialect->entry_scalar, "", name, number);
}

static const char *buffer(c_gen *g, hone_buffer id, const bool *written, uint32_t number) {
    const hone_buffer_info *info = &g->func->buffers[id];
    g->buffers[id] = c_name(g, info->name);
    return parameter(g, written[id] ? g->dialect->entry_buffer : g->dialect->entry_read_only,
                     c_storage(g, info->dtype), g->buffers[id], number);
}

/* The parameters as text; what must be made of them first goes to the body. */
static const char *parameters(c_gen *g) {
    const bool *written = find_written(g);
    const char *all = "";
    if (!written) c_fail(g, HONE_NO_MEMORY("C text"));
    for (uint32_t p = 0; written && p < g->func->param_count; p++) {
        const hone_param *param = &g->func->params[p];
        const char *text = param->buffer == HONE_NO_ID ? scalar(g, param->var, p)
                                                       : buffer(g, param->buffer, written, p);
        all = c_printf(g, "%s%s%s", all, p ? ", " : "", text);
    }
    const char *places = g->dialect->entry_places;
    return c_printf(g, "%s%s%s", all, *all && *places ? ", " : "", places);
}

/* ---- a launch ---- */

static hone_status print_body(c_gen *g, const char **out_head) {
    g->vars = hone_arena_zalloc(g->arena, (g->func->var_count + 1) * sizeof *g->vars);
    g->buffers = hone_arena_zalloc(g->arena, (g->func->buffer_count + 1) * sizeof *g->buffers);
    g->values = hone_arena_zalloc(g->arena, (g->func->var_count + 1) * sizeof *g->values);
    if (!g->vars || !g->buffers || !g->values || !hone_arith_bind_sizes(&g->arith, g->func))
        return HONE_NO_MEMORY("C text");
    g->indent = 1;
    g->is_parallel = true; /* further loops are a thread's own */
    c_find_operands(g);
    *out_head = c_printf(g, "%s%s(%s)", entry_words(g), g->symbol, parameters(g));
    c_declare_shared(g);
    c_children(g, 0);
    hone_status st = g->error ? g->error : hone_ir_finish(&g->arith.ir);
    g->error = HONE_OK;
    return st;
}

static hone_status print_launch(const c_dialect *dialect, const hone_codegen_kernel *kernel,
                                hone_str *out) {
    hone_str body = {0};
    const char *head = "";
    c_gen g = {.dialect = dialect,
               .func = kernel->func,
               .symbol = kernel->symbol,
               .arena = hone_arena_create(1 << 16),
               .out = &body};
    if (!g.arena) return HONE_NO_MEMORY("C text");
    hone_arith_init(&g.arith, g.arena);
    hone_status st = print_body(&g, &head);
    if (!st) {
        hone_str_printf(out, "\n%s%s%s {\n%s}\n", hone_str_text(&g.helper_text),
                        g.helper_text.length ? "\n" : "", head, hone_str_text(&body));
    }
    bool is_short = body.failed || g.helper_text.failed;
    hone_str_deinit(&body);
    hone_str_deinit(&g.helper_text);
    hone_strmap_deinit(&g.helpers);
    hone_strmap_deinit(&g.names);
    hone_arena_destroy(g.arena);
    return !st && is_short ? HONE_NO_MEMORY("C text") : st;
}

static hone_status print_all(const c_dialect *dialect, const hone_codegen_kernel *kernels,
                             size_t count, hone_str *out) {
    hone_str_append(out, dialect->prelude);
    for (size_t i = 0; i < count; i++)
        HONE_TRY(print_launch(dialect, &kernels[i], out));
    return hone_str_check(out);
}

hone_status hone_codegen_cuda(const hone_codegen_kernel *kernels, size_t count,
                              const hone_codegen_options *options, hone_str *out) {
    (void)options; /* any card takes it */
    return print_all(&c_dialect_cuda, kernels, count, out);
}

hone_status hone_codegen_opencl(const hone_codegen_kernel *kernels, size_t count,
                                const hone_codegen_options *options, hone_str *out) {
    (void)options;
    return print_all(&c_dialect_opencl, kernels, count, out);
}

hone_status hone_codegen_metal(const hone_codegen_kernel *kernels, size_t count,
                               const hone_codegen_options *options, hone_str *out) {
    (void)options;
    return print_all(&c_dialect_metal, kernels, count, out);
}
