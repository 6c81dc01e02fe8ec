/* codegen/source/codegen_c.c - kernels as a file of C11 that needs nothing but libc and libm.
 *
 *   text of abi.h (behind its own guard), helpers that are used, bodies of parallel loops,
 *   int32_t symbol(const hone_rt *rt, void *const *buffers, const int64_t *sizes)
 */
#include "codegen/codegen.h"

#include "codegen/source/c_gen.h"
#include "lower/ground/lower.h"

extern const char hone_abi_text[]; /* abi.h, put here by the build */

static void unpack_buffers(c_gen *g, const hone_signature *s, const bool *used) {
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        const hone_buffer_info *buffer = &g->func->buffers[s->buffers[i]];
        if (!used[s->buffers[i]]) continue;
        c_line(g, "%s *restrict %s = buffers[%u]; /* %s */", c_storage(g, buffer->dtype),
               g->buffers[s->buffers[i]], (unsigned)i, HONE_DTYPE_NAME(buffer->dtype));
    }
}

/* A float travels as the bits of a double; integers stay int64_t. */
static void unpack_sizes(c_gen *g, const hone_signature *s, const bool *used) {
    for (uint32_t i = 0; i < s->size_count; i++) {
        hone_dtype dtype = g->func->vars[s->sizes[i]].dtype;
        const char *name = g->vars[s->sizes[i]].text;
        if (!used[s->sizes[i]]) continue;
        if (!hone_dtype_is_float(dtype)) {
            c_line(g, "const int64_t %s = sizes[%u];", name, (unsigned)i);
            continue;
        }
        const char *bits = c_name(g, "bits");
        c_line(g, "double %s;", bits);
        c_line(g, "memcpy(&%s, &sizes[%u], sizeof %s);", bits, (unsigned)i, bits);
        c_text value = c_cast(g, HONE_DTYPE_F64, dtype, (c_text){bits, C_PREC_POSTFIX});
        c_line(g, "const %s %s = %s;", c_type(g, dtype), name, value.s);
    }
}

static void declare(c_gen *g, const hone_signature *s) {
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        g->buffers[s->buffers[i]] = c_name(g, g->func->buffers[s->buffers[i]].name);
    }
    for (uint32_t i = 0; i < s->size_count; i++) {
        hone_var var = s->sizes[i];
        g->vars[var] = (c_var){.text = c_name(g, g->func->vars[var].name),
                               .is_index = !hone_dtype_is_float(g->func->vars[var].dtype)};
    }
}

static hone_status print_function(c_gen *g) {
    hone_signature s;
    HONE_TRY(hone_signature_of(g->func, g->arena, &s));
    bool *vars, *buffers;
    g->vars = hone_arena_zalloc(g->arena, (g->func->var_count + 1) * sizeof *g->vars);
    g->buffers = hone_arena_zalloc(g->arena, (g->func->buffer_count + 1) * sizeof *g->buffers);
    if (!g->vars || !g->buffers) return HONE_ERROR(HONE_CODE_NO_MEMORY, "C text");
    if (!hone_arith_bind_sizes(&g->arith, g->func)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "C text");
    }
    declare(g, &s);
    if (!c_find_uses(g, 0, &vars, &buffers)) return HONE_ERROR(HONE_CODE_NO_MEMORY, "C text");
    g->indent = 1;
    c_line(g, "(void)rt, (void)buffers, (void)sizes;");
    unpack_buffers(g, &s, buffers);
    unpack_sizes(g, &s, vars);
    size_t begin = c_begin_body(g);
    c_reserve(g, 0);
    c_children(g, 0);
    c_end_body(g, begin);
    hone_status st = g->error ? g->error : hone_ir_finish(&g->arith.ir);
    g->error = HONE_OK;
    return st;
}

/* C source that the program brings along; LLVM IR has no place here. */
static hone_status print_imports(const hone_func *func, hone_str *out) {
    const hone_value *texts = hone_attrs_find(&func->attrs, HONE_LOWER_IMPORT_C);
    if (hone_attrs_find(&func->attrs, HONE_LOWER_IMPORT_LLVM)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "pragma_import_llvm in C source");
    }
    for (uint32_t i = 0; texts && i < texts->count; i++) {
        codegen_append_c_source(texts->u.items[i].u.s, out);
        hone_str_append_char(out, '\n');
    }
    return HONE_OK;
}

static hone_status print_kernel(const hone_codegen_kernel *kernel, hone_str *out) {
    hone_str body = {0}, done = {0};
    c_gen g = {.dialect = &c_dialect_c11,
               .func = kernel->func,
               .symbol = kernel->symbol,
               .arena = hone_arena_create(1 << 16),
               .out = &body,
               .done = &done};
    if (!g.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "C text");
    hone_arith_init(&g.arith, g.arena);
    hone_status st = print_imports(kernel->func, out);
    if (!st) st = print_function(&g);
    if (!st) {
        hone_str_printf(out, "%s%s%s", hone_str_text(&g.helper_text),
                        g.helper_text.length ? "\n" : "", hone_str_text(&done));
        hone_str_printf(out,
                        "int32_t %s(const hone_rt *rt, void *const *buffers, "
                        "const int64_t *sizes);\n"
                        "int32_t %s(const hone_rt *rt, void *const *buffers, "
                        "const int64_t *sizes) {\n%s}\n",
                        kernel->symbol, kernel->symbol, hone_str_text(&body));
    }
    bool is_short = body.failed || done.failed || g.helper_text.failed;
    hone_str_deinit(&body);
    hone_str_deinit(&done);
    hone_str_deinit(&g.helper_text);
    hone_strmap_deinit(&g.helpers);
    hone_strmap_deinit(&g.names);
    hone_arena_destroy(g.arena);
    if (!st && is_short) return HONE_ERROR(HONE_CODE_NO_MEMORY, "C text");
    return st;
}

/* A tile is set to zero under one condition and added to under another, in other words: gcc cannot
 * see that the one follows from the other. */
static const char quiet[] = "#if defined(__GNUC__) && !defined(__clang__)\n"
                            "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
                            "#endif\n\n";

hone_status hone_codegen_c(const hone_codegen_kernel *kernels, size_t count,
                           const hone_codegen_options *options, hone_str *out) {
    (void)options; /* any compiler takes it, for any CPU */
    hone_str_printf(out,
                    "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
                    "#include <stdint.h>\n#include <string.h>\n\n%s%s\n",
                    quiet, hone_abi_text);
    for (size_t i = 0; i < count; i++)
        HONE_TRY(print_kernel(&kernels[i], out));
    return hone_str_check(out);
}
