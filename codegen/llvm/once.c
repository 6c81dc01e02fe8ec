/* codegen/llvm/once.c - a kernel that computes what does not change in its first call only.
 *
 *   i32 symbol(ptr rt, ptr buffers, ptr sizes):
 *     if not done: first(rt, [buffers[…], kept[0]…], sizes); kept[1…] = kept[0]; done = true
 *     place = turn; turn = (turn + 1) % places
 *     rest(rt, [buffers[…], kept[place]…], sizes)
 */
#include "codegen/llvm/gen.h"

enum { ALIGNMENT = 64 };

typedef struct once {
    gen *g;
    const hone_codegen_once *what;
    LLVMValueRef entry;
    LLVMTypeRef type;   /* of kernels */
    LLVMValueRef *kept; /* memory: places, one behind the other */
    LLVMValueRef turn;  /* memory: number of the next place */
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

static int64_t place_bytes(const once *o, size_t kept) {
    return (o->what->kept_bytes[kept] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static LLVMValueRef kept_at(const once *o, size_t kept, LLVMValueRef place) {
    gen *g = o->g;
    LLVMValueRef at = LLVMBuildMul(g->builder, place, gen_i64(g, place_bytes(o, kept)), "");
    return LLVMBuildInBoundsGEP2(g->builder, g->i8, o->kept[kept], &at, 1, "");
}

static LLVMValueRef call(const once *o, const char *symbol, LLVMValueRef place, size_t count,
                         const int32_t *args) {
    gen *g = o->g;
    LLVMValueRef given = LLVMGetParam(o->entry, 1);
    LLVMValueRef buffers =
        LLVMBuildArrayAlloca(g->builder, g->ptr, gen_i64(g, (int64_t)(count + 1)), "");
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef buffer =
            args[i] < 0 ? kept_at(o, (size_t)(-1 - args[i]), place)
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

/* Copies what is kept to one place behind the other, from block `before` on, and goes on in `next`.
 */
static void copy_to_places(const once *o, LLVMBasicBlockRef before, LLVMBasicBlockRef next) {
    gen *g = o->g;
    LLVMBasicBlockRef head = block(o, "copy"), body = block(o, "copy.body");
    LLVMBuildBr(g->builder, head);
    LLVMPositionBuilderAtEnd(g->builder, head);
    LLVMValueRef place = LLVMBuildPhi(g->builder, g->i64, "");
    LLVMValueRef is_over =
        LLVMBuildICmp(g->builder, LLVMIntSGE, place, gen_i64(g, o->what->place_count), "");
    LLVMBuildCondBr(g->builder, is_over, next, body);
    LLVMPositionBuilderAtEnd(g->builder, body);
    for (size_t i = 0; i < o->what->kept_count; i++)
        LLVMBuildMemCpy(g->builder, kept_at(o, i, place), ALIGNMENT, o->kept[i], ALIGNMENT,
                        gen_i64(g, o->what->kept_bytes[i]));
    LLVMValueRef values[] = {gen_i64(g, 1), LLVMBuildAdd(g->builder, place, gen_i64(g, 1), "")};
    LLVMBuildBr(g->builder, head);
    LLVMAddIncoming(place, values, (LLVMBasicBlockRef[]){before, body}, 2);
}

/* The number of the place whose turn it is; the next call has the next one. */
static LLVMValueRef take_turn(const once *o) {
    gen *g = o->g;
    LLVMValueRef place = LLVMBuildLoad2(g->builder, g->i64, o->turn, "");
    LLVMValueRef next = LLVMBuildAdd(g->builder, place, gen_i64(g, 1), "");
    LLVMValueRef places = gen_i64(g, o->what->place_count);
    LLVMValueRef is_last = LLVMBuildICmp(g->builder, LLVMIntEQ, next, places, "");
    next = LLVMBuildSelect(g->builder, is_last, gen_i64(g, 0), next, "");
    LLVMBuildStore(g->builder, next, o->turn);
    return place;
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
    LLVMValueRef code =
        call(o, o->what->first, gen_i64(g, 0), o->what->first_count, o->what->first_args);
    LLVMBuildCondBr(g->builder, LLVMBuildIsNull(g->builder, code, ""), note, fail);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    LLVMBuildRet(g->builder, code);
    LLVMPositionBuilderAtEnd(g->builder, note);
    LLVMBuildStore(g->builder, LLVMConstInt(g->i32, 1, 0), done);
    copy_to_places(o, note, rest);
    LLVMPositionBuilderAtEnd(g->builder, rest);
    LLVMValueRef place = take_turn(o);
    LLVMBuildRet(g->builder,
                 call(o, o->what->rest, place, o->what->rest_count, o->what->rest_args));
}

hone_status gen_once(gen *g, const hone_codegen_once *what) {
    LLVMTypeRef parameters[] = {g->ptr, g->ptr, g->ptr};
    once o = {.g = g, .what = what, .type = LLVMFunctionType(g->i32, parameters, 3, 0)};
    o.kept = hone_arena_alloc(g->arena, (what->kept_count + 1) * sizeof *o.kept);
    if (!o.kept) return HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    for (size_t i = 0; i < what->kept_count; i++) {
        int64_t all = place_bytes(&o, i) * what->place_count;
        o.kept[i] = add_global(g, LLVMArrayType(g->i8, (unsigned)all), "once.kept");
    }
    o.turn = add_global(g, g->i64, "once.turn");
    o.entry = LLVMAddFunction(g->module, what->symbol, o.type);
    fill(&o);
    LLVMSetLinkage(LLVMGetNamedFunction(g->module, what->first), LLVMInternalLinkage);
    LLVMSetLinkage(LLVMGetNamedFunction(g->module, what->rest), LLVMInternalLinkage);
    return HONE_OK;
}
