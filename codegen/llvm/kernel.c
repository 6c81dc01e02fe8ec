/* codegen/llvm/kernel.c - the entry point of a kernel: unpacks its arguments and calls the body.
 *
 *   i32 symbol(ptr rt, ptr buffers, ptr sizes)      what abi.h says
 *   i32 symbol.body(ptr rt, noalias ptr…, i64…)     where alias facts are parameter attributes
 */
#include "codegen/llvm/gen.h"

void gen_dereferenceable(gen *g, LLVMValueRef function, unsigned parameter,
                         const hone_buffer_info *buffer) {
    int64_t elements = hone_buffer_elements(buffer);
    int64_t bytes = (int64_t)hone_dtype_bytes(buffer->dtype);
    if (elements <= 0 || elements > (INT64_C(1) << 40) || buffer->strides) return;
    gen_parameter(g, function, parameter, "dereferenceable", (uint64_t)(elements * bytes));
}

gen_var gen_size_value(gen *g, hone_var var, LLVMValueRef bits) {
    hone_dtype dtype = g->func->vars[var].dtype;
    if (!hone_dtype_is_float(dtype)) return (gen_var){.value = bits, .is_index = true};
    LLVMValueRef value = LLVMBuildBitCast(g->builder, bits, g->f64, "");
    return (gen_var){.value = gen_cast(g, HONE_DTYPE_F64, dtype, value)};
}

static LLVMValueRef body_function(gen *g, const hone_signature *s, LLVMTypeRef *out_type) {
    uint32_t count = 1 + s->buffer_count + s->size_count;
    LLVMTypeRef *types = hone_arena_alloc(g->arena, count * sizeof *types);
    if (!types) return NULL;
    types[0] = g->ptr;
    for (uint32_t i = 0; i < s->buffer_count; i++)
        types[1 + i] = g->ptr;
    for (uint32_t i = 0; i < s->size_count; i++)
        types[1 + s->buffer_count + i] = g->i64;
    *out_type = LLVMFunctionType(g->i32, types, count, 0);
    const char *name = hone_arena_printf(g->arena, "%s.body", g->symbol);
    LLVMValueRef body = LLVMAddFunction(g->module, name ? name : "body", *out_type);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        gen_noalias(g, body, 1 + i, s->buffers[i]);
        gen_dereferenceable(g, body, 1 + i, &g->func->buffers[s->buffers[i]]);
    }
    return body;
}

static LLVMValueRef load_slot(gen *g, LLVMTypeRef type, LLVMValueRef array, uint32_t index) {
    LLVMValueRef at = gen_i64(g, index);
    at = LLVMBuildInBoundsGEP2(g->builder, type, array, &at, 1, "");
    return LLVMBuildLoad2(g->builder, type, at, "");
}

static void entry_function(gen *g, const hone_signature *s, LLVMTypeRef body_type,
                           LLVMValueRef body) {
    LLVMTypeRef parameters[] = {g->ptr, g->ptr, g->ptr};
    LLVMTypeRef type = LLVMFunctionType(g->i32, parameters, 3, 0);
    LLVMValueRef entry = LLVMAddFunction(g->module, g->symbol, type);
    gen_lines_function(g, entry, HONE_NODE_TOP);
    LLVMPositionBuilderAtEnd(g->builder, LLVMAppendBasicBlockInContext(g->context, entry, "entry"));
    uint32_t count = 1 + s->buffer_count + s->size_count;
    LLVMValueRef *args = hone_arena_alloc(g->arena, count * sizeof *args);
    if (!args) {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
        return;
    }
    args[0] = LLVMGetParam(entry, 0);
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        args[1 + i] = load_slot(g, g->ptr, LLVMGetParam(entry, 1), i);
    }
    for (uint32_t i = 0; i < s->size_count; i++) {
        args[1 + s->buffer_count + i] = load_slot(g, g->i64, LLVMGetParam(entry, 2), i);
    }
    LLVMBuildRet(g->builder, LLVMBuildCall2(g->builder, body_type, body, args, count, ""));
}

bool gen_kernel_begin(gen *g) {
    hone_arith_init(&g->arith, g->arena);
    g->loop.node = HONE_NO_ID;
    g->vars = hone_arena_zalloc(g->arena, (g->func->var_count + 1) * sizeof *g->vars);
    g->buffers = hone_arena_zalloc(g->arena, (g->func->buffer_count + 1) * sizeof *g->buffers);
    return g->vars && g->buffers && hone_arith_bind_sizes(&g->arith, g->func);
}

static hone_status find_read(gen *g, const hone_signature *s) {
    bool *is_read = hone_arena_zalloc(g->arena, g->func->buffer_count + 1);
    if (!is_read) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    for (uint32_t i = 0; i < s->buffer_count; i++)
        is_read[s->buffers[i]] = s->roles[i] == HONE_PARAM_IN;
    g->is_only_read = is_read;
    return HONE_OK;
}

void gen_kernel(gen *g) {
    hone_signature s;
    hone_status st = hone_signature_of(g->func, g->arena, &s);
    if (!st) st = find_read(g, &s);
    if (st) {
        gen_fail(g, st);
        return;
    }
    LLVMTypeRef body_type;
    LLVMValueRef body = body_function(g, &s, &body_type);
    if (!body || !gen_kernel_begin(g)) {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
        return;
    }
    gen_frame frame = {.rt = LLVMGetParam(body, 0)};
    gen_frame_begin(g, &frame, body, HONE_NODE_TOP);
    for (uint32_t i = 0; i < s.buffer_count; i++) {
        g->buffers[s.buffers[i]] = LLVMGetParam(body, 1 + i);
    }
    for (uint32_t i = 0; i < s.size_count; i++) {
        g->vars[s.sizes[i]] =
            gen_size_value(g, s.sizes[i], LLVMGetParam(body, 1 + s.buffer_count + i));
    }
    gen_reserve(g, HONE_NODE_TOP);
    gen_children(g, HONE_NODE_TOP);
    gen_lines_at(g, HONE_NODE_TOP);
    gen_frame_end(g);
    entry_function(g, &s, body_type, body);
}
