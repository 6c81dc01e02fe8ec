/* codegen/llvm/parallel.c - functions, and parallel loops as functions of their own.
 *
 *   for i in parallel(min, n): body
 *     ⇒ closure[] = { pointers and numbers that body uses }
 *        code = rt->parallel_for(rt, min, min + n, share, closure)
 *   share(rt, closure, begin, end)   unpacks the closure and calls
 *   body(rt, begin, end, …)          whose pointer parameters are noalias, like those of a kernel
 */
#include "codegen/captures.h"
#include "codegen/llvm/gen.h"

#include <stdio.h>
#include <string.h>

void gen_parameter(gen *g, LLVMValueRef function, unsigned parameter, const char *name,
                   uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, parameter + 1,
                            LLVMCreateEnumAttribute(g->context, kind, value));
}

/* abi.h: what is only read lies wherever its elements may. */
static uint64_t alignment_of(const gen *g, hone_buffer buffer) {
    hone_dtype element = hone_dtype_element(g->func->buffers[buffer].dtype);
    return g->is_only_read[buffer] ? hone_dtype_bytes(element) : 64;
}

void gen_noalias(gen *g, LLVMValueRef function, unsigned parameter, hone_buffer buffer) {
    gen_parameter(g, function, parameter, "noalias", 0);
    gen_parameter(g, function, parameter, "align", alignment_of(g, buffer));
    gen_parameter(g, function, parameter, "nonnull", 0);
    gen_parameter(g, function, parameter, "noundef", 0);
}

void gen_frame_begin(gen *g, gen_frame *frame, LLVMValueRef function, hone_node_id node) {
    frame->function = function;
    frame->scope = gen_lines_function(g, function, node);
    g->frame = frame;
    frame->entry = gen_block(g, "entry");
    LLVMBasicBlockRef start = gen_block(g, "start");
    frame->leave = gen_block(g, "leave");
    LLVMPositionBuilderAtEnd(g->builder, start);
    frame->code = gen_alloca(g, g->i32, 1, "code");
    LLVMBuildStore(g->builder, gen_i32(g, 0), frame->code);
    frame->fault = gen_alloca(g, g->i32, 1, "fault");
    LLVMBuildStore(g->builder, gen_i32(g, 0), frame->fault);
    LLVMPositionBuilderAtEnd(g->builder, frame->entry);
    LLVMBuildBr(g->builder, start);
    LLVMPositionBuilderAtEnd(g->builder, start);
}

/* Whoever is told that the function has ended finds what it has stored past the caches. */
static void fence(gen *g) {
    if (strncmp(g->target->triple, "x86_64", 6) != 0) return; /* elsewhere the caller's lock does */
    gen_intrinsic_of(g, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
}

void gen_frame_leave(gen *g) {
    LLVMBuildBr(g->builder, g->frame->leave);
    LLVMPositionBuilderAtEnd(g->builder, g->frame->leave);
}

void gen_frame_end(gen *g) {
    gen_frame_leave(g);
    gen_release_all(g);
    gen_report_faults(g);
    if (g->frame->has_streams) fence(g);
    LLVMBuildRet(g->builder, LLVMBuildLoad2(g->builder, g->i32, g->frame->code, ""));
}

static bool find_captures(gen *g, hone_node_id loop, codegen_captures *out) {
    uint32_t vars = g->func->var_count + 1, buffers = g->func->buffer_count + 1;
    bool *has_var = hone_arena_zalloc(g->arena, vars);
    bool *has_buffer = hone_arena_zalloc(g->arena, buffers);
    *out = (codegen_captures){has_var, has_buffer, hone_arena_zalloc(g->arena, vars),
                              hone_arena_zalloc(g->arena, buffers)};
    if (!has_var || !has_buffer || !out->vars || !out->buffers) return false;
    for (uint32_t i = 0; i < g->func->var_count; i++)
        has_var[i] = g->vars[i].value != NULL;
    for (uint32_t i = 0; i < g->func->buffer_count; i++)
        has_buffer[i] = g->buffers[i] != NULL;
    codegen_find_captures(g->func, loop, out);
    return true;
}

typedef struct slots {
    uint32_t count;
    LLVMValueRef *values; /* outside */
    LLVMTypeRef *types;
    uint32_t *ids; /* variable, or buffer when is_buffer */
    bool *is_buffer;
} slots;

static bool collect_slots(gen *g, const codegen_captures *c, slots *s) {
    uint32_t most = g->func->var_count + g->func->buffer_count;
    s->values = hone_arena_alloc(g->arena, (most + 1) * sizeof *s->values);
    s->types = hone_arena_alloc(g->arena, (most + 3) * sizeof *s->types);
    s->ids = hone_arena_alloc(g->arena, (most + 1) * sizeof *s->ids);
    s->is_buffer = hone_arena_alloc(g->arena, (most + 1) * sizeof *s->is_buffer);
    if (!s->values || !s->types || !s->ids || !s->is_buffer) return false;
    for (uint32_t i = 0; i < g->func->buffer_count; i++) {
        if (!c->buffers[i]) continue;
        s->values[s->count] = g->buffers[i];
        s->ids[s->count] = i;
        s->is_buffer[s->count++] = true;
    }
    for (uint32_t i = 0; i < g->func->var_count; i++) {
        if (!c->vars[i]) continue;
        s->values[s->count] = g->vars[i].value;
        s->ids[s->count] = i;
        s->is_buffer[s->count++] = false;
    }
    for (uint32_t i = 0; i < s->count; i++)
        s->types[i] = LLVMTypeOf(s->values[i]);
    return true;
}

static LLVMValueRef slot_address(gen *g, LLVMTypeRef closure, LLVMValueRef base, uint32_t slot) {
    LLVMValueRef indices[] = {gen_i32(g, 0), gen_i32(g, (int32_t)slot)};
    return LLVMBuildInBoundsGEP2(g->builder, closure, base, indices, 2, "");
}

/* i32 share(ptr rt, ptr closure, i64 begin, i64 end) */
static LLVMValueRef make_share(gen *g, LLVMTypeRef closure, LLVMValueRef body,
                               LLVMTypeRef body_type, const slots *s, const char *name,
                               hone_node_id loop) {
    LLVMTypeRef parameters[] = {g->ptr, g->ptr, g->i64, g->i64};
    LLVMTypeRef type = LLVMFunctionType(g->i32, parameters, 4, 0);
    LLVMValueRef share = LLVMAddFunction(g->module, name, type);
    LLVMSetLinkage(share, LLVMInternalLinkage);
    gen_lines_function(g, share, loop);
    LLVMPositionBuilderAtEnd(g->builder, LLVMAppendBasicBlockInContext(g->context, share, "entry"));
    LLVMValueRef *args = hone_arena_alloc(g->arena, (s->count + 3) * sizeof *args);
    if (!args) {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
        return share;
    }
    args[0] = LLVMGetParam(share, 0);
    args[1] = LLVMGetParam(share, 2);
    args[2] = LLVMGetParam(share, 3);
    for (uint32_t i = 0; i < s->count; i++) {
        LLVMValueRef at = slot_address(g, closure, LLVMGetParam(share, 1), i);
        args[i + 3] = LLVMBuildLoad2(g->builder, s->types[i], at, "");
    }
    LLVMValueRef code = LLVMBuildCall2(g->builder, body_type, body, args, s->count + 3, "");
    LLVMBuildRet(g->builder, code);
    return share;
}

static LLVMTypeRef body_type_of(gen *g, const slots *s) {
    LLVMTypeRef *types = hone_arena_alloc(g->arena, (s->count + 3) * sizeof *types);
    if (!types) return NULL;
    types[0] = g->ptr;
    types[1] = types[2] = g->i64;
    memcpy(types + 3, s->types, s->count * sizeof *types);
    return LLVMFunctionType(g->i32, types, s->count + 3, 0);
}

/* The loop over [begin, end) as a function; variables and buffers are its parameters inside. */
static void emit_body(gen *g, hone_node_id loop, LLVMValueRef body, const slots *s) {
    gen_var *outer_vars = g->vars;
    LLVMValueRef *outer_buffers = g->buffers;
    gen_frame *outer_frame = g->frame, frame = {.rt = LLVMGetParam(body, 0), .is_parallel = true};
    gen_loop outer_loop = g->loop;
    uint32_t vars = g->func->var_count + 1, buffers = g->func->buffer_count + 1;
    g->vars = hone_arena_zalloc(g->arena, vars * sizeof *g->vars);
    g->buffers = hone_arena_zalloc(g->arena, buffers * sizeof *g->buffers);
    if (g->vars && g->buffers) {
        gen_frame_begin(g, &frame, body, loop);
        for (uint32_t i = 0; i < s->count; i++) {
            LLVMValueRef parameter = LLVMGetParam(body, i + 3);
            if (s->is_buffer[i]) {
                g->buffers[s->ids[i]] = parameter;
                gen_noalias(g, body, i + 3, s->ids[i]);
            } else {
                g->vars[s->ids[i]] = outer_vars[s->ids[i]];
                g->vars[s->ids[i]].value = parameter;
            }
        }
        gen_reserve(g, loop);
        gen_counted_loop(g, loop, LLVMGetParam(body, 1), LLVMGetParam(body, 2));
        gen_frame_end(g);
    } else {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
    }
    g->vars = outer_vars;
    g->buffers = outer_buffers;
    g->frame = outer_frame;
    g->loop = outer_loop;
}

static void call_parallel(gen *g, const hone_node *node, LLVMTypeRef closure, LLVMValueRef share,
                          const slots *s) {
    LLVMBuilderRef b = g->builder;
    LLVMValueRef memory = gen_alloca(g, closure, 1, "closure");
    for (uint32_t i = 0; i < s->count; i++) {
        LLVMBuildStore(b, s->values[i], slot_address(g, closure, memory, i));
    }
    LLVMValueRef min = gen_index(g, node->u.loop.range.min);
    LLVMValueRef end = LLVMBuildNSWAdd(b, min, gen_index(g, node->u.loop.range.extent), "");
    LLVMTypeRef parameters[] = {g->ptr, g->i64, g->i64, g->ptr, g->ptr};
    LLVMTypeRef type = LLVMFunctionType(g->i32, parameters, 5, 0);
    LLVMValueRef args[] = {g->frame->rt, min, end, share, memory};
    LLVMValueRef code = LLVMBuildCall2(b, type, gen_rt_member(g, 0), args, 5, "");
    gen_leave_if(g, LLVMBuildICmp(b, LLVMIntNE, code, gen_i32(g, 0), ""), code);
}

void gen_parallel(gen *g, hone_node_id id) {
    codegen_captures c;
    slots s = {0};
    bool is_found = find_captures(g, id, &c) && collect_slots(g, &c, &s);
    LLVMTypeRef body_type = is_found ? body_type_of(g, &s) : NULL;
    if (!body_type) {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
        return;
    }
    char name[256];
    uint32_t number = g->parallel_count++;
    snprintf(name, sizeof name, "%s.parallel%u", g->symbol, number);
    LLVMValueRef body = LLVMAddFunction(g->module, name, body_type);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder);
    LLVMTypeRef closure = LLVMStructTypeInContext(g->context, s.types, s.count, 0);
    emit_body(g, id, body, &s);
    snprintf(name, sizeof name, "%s.share%u", g->symbol, number);
    LLVMValueRef share = make_share(g, closure, body, body_type, &s, name, id);
    LLVMPositionBuilderAtEnd(g->builder, here);
    gen_lines_at(g, id);
    call_parallel(g, hone_func_node(g->func, id), closure, share, &s);
}
