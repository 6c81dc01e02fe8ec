/* codegen/nvptx/ptx_memory.c - where a device function's buffers live.
 *
 *   shared        a variable of the module in shared memory, one per buffer
 *   shared.dyn    one after the other, each at a multiple of 128 bytes, in the memory that the
 *                 launch asks for
 *   local, …      a thread's own: registers, once all its places are constants; so is what one
 * thread allocates in global memory
 */
#include <stdio.h>
#include <string.h>

#include "codegen/groups.h"
#include "codegen/nvptx/nvptx.h"
#include "ir/core/concurrent.h"

enum { SHARED_ALIGN = 128, MOST_LOCAL = 512 << 10 };

static bool is_scope(const char *scope, const char *word) {
    return scope && strcmp(scope, word) == 0;
}

static LLVMValueRef shared(gen *g, LLVMTypeRef type, uint64_t count, hone_buffer buffer) {
    const char *name = g->func->buffers[buffer].name;
    char symbol[160];
    snprintf(symbol, sizeof symbol, "%.48s_%.48s_%u", g->symbol, name, g->device->shared_count++);
    for (char *c = symbol; *c; c++) {
        if (*c == '.') *c = '_';
    }
    LLVMTypeRef array = LLVMArrayType2(type, count);
    LLVMValueRef memory = LLVMAddGlobalInAddressSpace(g->module, array, symbol, PTX_SHARED);
    LLVMSetLinkage(memory, LLVMInternalLinkage);
    LLVMSetInitializer(memory, LLVMGetUndef(array));
    LLVMSetAlignment(memory, ptx_is_operand(g, buffer) ? GROUPS_ALIGN : SHARED_ALIGN);
    return memory;
}

/* All kernels of a module share the name of this memory, which has no size. */
static LLVMValueRef dynamic_memory(gen *g) {
    static const char name[] = "hone_dynamic_shared";
    LLVMValueRef memory = LLVMGetNamedGlobal(g->module, name);
    if (memory) return memory;
    LLVMTypeRef array = LLVMArrayType2(g->i8, 0);
    memory = LLVMAddGlobalInAddressSpace(g->module, array, name, PTX_SHARED);
    LLVMSetLinkage(memory, LLVMExternalLinkage);
    LLVMSetAlignment(memory, SHARED_ALIGN);
    return memory;
}

static LLVMValueRef dynamic_part(gen *g, hone_buffer buffer, int64_t bytes) {
    LLVMValueRef at = gen_i64(g, g->device->dynamic_bytes);
    if (ptx_is_operand(g, buffer)) {
        LLVMSetAlignment(dynamic_memory(g), GROUPS_ALIGN);
        if (g->device->dynamic_bytes % GROUPS_ALIGN != 0)
            gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                                   "'%s' in shared memory begins at no multiple of %d bytes",
                                   g->func->buffers[buffer].name, (int)GROUPS_ALIGN));
    }
    g->device->dynamic_bytes += (bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
    return LLVMBuildGEP2(g->builder, g->i8, dynamic_memory(g), &at, 1, "");
}

/* A loop over threads stands below: they share what is allocated here. */
static bool has_threads_below(const hone_func *func, hone_node_id id) {
    for (hone_node_id n = id; n != HONE_NO_ID; n = hone_tree_next(func, id, n)) {
        if (hone_loop_is_of_threads(hone_func_node(func, n))) return true;
    }
    return false;
}

static LLVMValueRef allocate(gen *g, hone_node_id id, hone_buffer buffer, int64_t bytes) {
    const hone_buffer_info *info = &g->func->buffers[buffer];
    LLVMTypeRef type = gen_storage_type(g, info->dtype);
    int64_t elements = hone_buffer_elements(info);
    uint64_t count = elements > 0 ? (uint64_t)elements : 1;
    bool is_global = !info->scope || strncmp(info->scope, "global", 6) == 0;
    if (is_scope(info->scope, "shared.dyn")) return dynamic_part(g, buffer, bytes);
    if (info->scope && strncmp(info->scope, "shared", 6) == 0) {
        return shared(g, type, count, buffer);
    }
    if (is_global && has_threads_below(g->func, id)) {
        gen_fail(g,
                 HONE_ERROR(HONE_CODE_UNSUPPORTED,
                            "buffer '%s' in global memory is allocated by a kernel", info->name));
        return NULL;
    }
    if (bytes > MOST_LOCAL) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                               "buffer '%s' takes %lld bytes of each thread's own memory, at most "
                               "%d can be",
                               info->name, (long long)bytes, (int)MOST_LOCAL));
        return NULL;
    }
    return gen_alloca(g, type, count, info->name);
}

void ptx_alloc(gen *g, hone_node_id id) {
    hone_buffer buffer = hone_func_node(g->func, id)->u.alloc.buffer;
    const hone_buffer_info *info = &g->func->buffers[buffer];
    int64_t bytes = codegen_constant_bytes(info);
    if (bytes < 0) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                               "buffer '%s' of a kernel has no constant size", info->name));
        return;
    }
    bool is_fragment = ptx_alloc_fragment(g, buffer, hone_buffer_elements(info));
    g->buffers[buffer] = is_fragment ? NULL : allocate(g, id, buffer, bytes);
    if (!g->error) gen_children(g, id);
    g->buffers[buffer] = NULL;
}
