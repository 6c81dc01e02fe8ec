/* codegen/llvm/memory.c - where allocated buffers live.
 *
 * Small ones of constant size are allocas, so that LLVM can keep them in registers. Larger ones
 * come from the runtime's workspace, once per call (or per share of a parallel loop): the
 * allocation is made where the function begins, not where a loop passes by. A size that is only
 * known later is allocated in place and freed behind its scope. */
#include "codegen/llvm/gen.h"

#include "support/core/attributes.h"

enum { MAX_STACK_BUFFER = 16 << 10, MAX_STACK_FRAME = 128 << 10 };

/* rt->workspace_alloc(rt, bytes), leaving the function when there is none. */
static LLVMValueRef workspace(gen *g, LLVMValueRef bytes, const char *name) {
    LLVMTypeRef parameters[] = {g->ptr, g->i64};
    LLVMTypeRef type = LLVMFunctionType(g->ptr, parameters, 2, 0);
    LLVMValueRef args[] = {g->frame->rt, bytes};
    LLVMValueRef memory = LLVMBuildCall2(g->builder, type, gen_rt_member(g, 1), args, 2, name);
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
    LLVMAddCallSiteAttribute(memory, LLVMAttributeReturnIndex,
                             LLVMCreateEnumAttribute(g->context, kind, 0));
    kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(memory, LLVMAttributeReturnIndex,
                             LLVMCreateEnumAttribute(g->context, kind, 64));
    return memory;
}

static void check_memory(gen *g, LLVMValueRef memory) {
    LLVMBasicBlockRef fail = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "oom");
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMBuildCondBr(g->builder, LLVMBuildIsNull(g->builder, memory, ""), fail, next);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    g->processor->abandon(g, -2, "no workspace memory");
    LLVMPositionBuilderAtEnd(g->builder, next);
}

static void release(gen *g, LLVMValueRef memory) {
    LLVMTypeRef parameters[] = {g->ptr, g->ptr};
    LLVMTypeRef type = LLVMFunctionType(g->empty, parameters, 2, 0);
    LLVMValueRef args[] = {g->frame->rt, memory};
    LLVMBuildCall2(g->builder, type, gen_rt_member(g, 2), args, 2, "");
}

/* All workspace buffers of constant size below root that belong to this function (not to the body
 * of a parallel loop, which is another function) are allocated here, at its start. */
void gen_reserve(gen *g, hone_node_id root) {
    const hone_func *func = g->func;
    hone_node_id next;
    for (hone_node_id n = hone_func_node(func, root)->first; n != HONE_NO_ID && !g->error;
         n = next) {
        const hone_node *node = hone_func_node(func, n);
        bool is_other = node->kind == HONE_NODE_FOR && node->loop_kind == HONE_LOOP_PARALLEL &&
                        !g->frame->is_parallel;
        next = is_other ? hone_tree_next_over(func, root, n) : hone_tree_next(func, root, n);
        if (node->kind != HONE_NODE_ALLOC) continue;
        const hone_buffer_info *buffer = &func->buffers[node->u.alloc.buffer];
        int64_t bytes = codegen_constant_bytes(buffer);
        if (bytes < 0) continue;
        LLVMTypeRef type = gen_storage_type(g, buffer->dtype);
        int64_t elements = hone_buffer_elements(buffer);
        if (bytes <= MAX_STACK_BUFFER && g->frame->stack_bytes + bytes <= MAX_STACK_FRAME) {
            g->frame->stack_bytes += bytes;
            g->buffers[node->u.alloc.buffer] =
                gen_alloca(g, type, (uint64_t)(elements > 0 ? elements : 1), buffer->name);
            continue;
        }
        if (g->frame->scratch_count == HONE_COUNT(g->frame->scratch)) {
            gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "more than %d large buffers are allocated in one function",
                                   (int)HONE_COUNT(g->frame->scratch)));
            return;
        }
        LLVMValueRef slot = gen_alloca(g, g->ptr, 1, "");
        LLVMBuildStore(g->builder, LLVMConstNull(g->ptr), slot);
        g->frame->scratch[g->frame->scratch_count++] = slot;
        LLVMValueRef memory = workspace(g, gen_i64(g, bytes), buffer->name);
        check_memory(g, memory);
        LLVMBuildStore(g->builder, memory, slot);
        g->buffers[node->u.alloc.buffer] = memory;
    }
}

/* In `leave`: what was allocated is freed in reverse order; slots not reached yet hold NULL. */
void gen_release_all(gen *g) {
    for (uint32_t i = g->frame->scratch_count; i > 0; i--) {
        release(g, LLVMBuildLoad2(g->builder, g->ptr, g->frame->scratch[i - 1], ""));
    }
}

void gen_alloc(gen *g, hone_node_id id) {
    hone_buffer buffer = hone_func_node(g->func, id)->u.alloc.buffer;
    const hone_buffer_info *info = &g->func->buffers[buffer];
    if (g->buffers[buffer] && codegen_constant_bytes(info) >= 0) {
        gen_children(g, id);
        return;
    }
    LLVMValueRef bytes = gen_i64(g, (int64_t)hone_dtype_bytes(info->dtype));
    for (uint32_t d = 0; d < info->rank; d++) {
        bytes = LLVMBuildNSWMul(g->builder, bytes, gen_index(g, info->shape[d]), "");
    }
    LLVMValueRef memory = workspace(g, bytes, info->name);
    check_memory(g, memory);
    g->buffers[buffer] = memory;
    gen_children(g, id);
    g->buffers[buffer] = NULL;
    release(g, memory);
}
