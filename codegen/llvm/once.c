/* codegen/llvm/once.c - a kernel that computes what does not change in its first call only.
 *
 *   i32 symbol(ptr rt, ptr buffers, ptr sizes):
 *     if not done: first(rt, [buffers[…], kept…], sizes); done = true
 *     rest(rt, [buffers[…], kept…], sizes)
 */
#include "codegen/llvm/gen.h"

enum { ALIGNMENT = 64 };

typedef struct once {
    gen *g;
    const hone_codegen_once *what;
    LLVMValueRef entry;
    LLVMTypeRef type;   /* of kernels */
    LLVMValueRef *kept; /* memory */
} once;

static LLVMValueRef add_global(gen *g, LLVMTypeRef type, const char *name) {
    LLVMValueRef global = LLVMAddGlobal(g->module, type, name);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMConstNull(type));
    LLVMSetAlignment(global, ALIGNMENT);
    return global;
}

static LLVMValueRef slot(gen *g, LLVMValueRef array, size_t index) {
    LLVMValueRef at = gen_i64(g, (int64_t)index);
    return LLVMBuildInBoundsGEP2(g->builder, g->ptr, array, &at, 1, "");
}

static LLVMValueRef call(const once *o, const char *symbol, size_t count, const int32_t *args) {
    gen *g = o->g;
    LLVMValueRef given = LLVMGetParam(o->entry, 1);
    LLVMValueRef buffers =
        LLVMBuildArrayAlloca(g->builder, g->ptr, gen_i64(g, (int64_t)(count + 1)), "");
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef buffer =
            args[i] < 0 ? o->kept[-1 - args[i]]
                        : LLVMBuildLoad2(g->builder, g->ptr, slot(g, given, (size_t)args[i]), "");
        LLVMBuildStore(g->builder, buffer, slot(g, buffers, i));
    }
    LLVMValueRef passed[] = {LLVMGetParam(o->entry, 0), buffers, LLVMGetParam(o->entry, 2)};
    LLVMValueRef callee = LLVMGetNamedFunction(g->module, symbol);
    return LLVMBuildCall2(g->builder, o->type, callee, passed, 3, "");
}

static LLVMBasicBlockRef block(const once *o, const char *name) {
    return LLVMAppendBasicBlockInContext(o->g->context, o->entry, name);
}

static void fill(const once *o) {
    gen *g = o->g;
    LLVMValueRef done = add_global(g, g->i32, "once.done");
    LLVMBasicBlockRef begin = block(o, "entry"), first = block(o, "first"), note = block(o, "note"),
                      rest = block(o, "rest"), fail = block(o, "fail");
    LLVMPositionBuilderAtEnd(g->builder, begin);
    LLVMValueRef is_done = LLVMBuildLoad2(g->builder, g->i32, done, "");
    LLVMBuildCondBr(g->builder, LLVMBuildIsNull(g->builder, is_done, ""), first, rest);
    LLVMPositionBuilderAtEnd(g->builder, first);
    LLVMValueRef code = call(o, o->what->first, o->what->first_count, o->what->first_args);
    LLVMBuildCondBr(g->builder, LLVMBuildIsNull(g->builder, code, ""), note, fail);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    LLVMBuildRet(g->builder, code);
    LLVMPositionBuilderAtEnd(g->builder, note);
    LLVMBuildStore(g->builder, LLVMConstInt(g->i32, 1, 0), done);
    LLVMBuildBr(g->builder, rest);
    LLVMPositionBuilderAtEnd(g->builder, rest);
    LLVMBuildRet(g->builder, call(o, o->what->rest, o->what->rest_count, o->what->rest_args));
}

hone_status gen_once(gen *g, const hone_codegen_once *what) {
    LLVMTypeRef parameters[] = {g->ptr, g->ptr, g->ptr};
    once o = {.g = g, .what = what, .type = LLVMFunctionType(g->i32, parameters, 3, 0)};
    o.kept = hone_arena_alloc(g->arena, (what->kept_count + 1) * sizeof *o.kept);
    if (!o.kept) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    for (size_t i = 0; i < what->kept_count; i++) {
        LLVMTypeRef bytes = LLVMArrayType(g->i8, (unsigned)what->kept_bytes[i]);
        o.kept[i] = add_global(g, bytes, "once.kept");
    }
    o.entry = LLVMAddFunction(g->module, what->symbol, o.type);
    fill(&o);
    LLVMSetLinkage(LLVMGetNamedFunction(g->module, what->first), LLVMInternalLinkage);
    LLVMSetLinkage(LLVMGetNamedFunction(g->module, what->rest), LLVMInternalLinkage);
    return HONE_OK;
}
