/* codegen/llvm/external.c - calls of external functions, and of libm by name.
 *
 * call_pure_extern("float32", "tanhf", x) with a name that libm has (ir/core/libm.h) is a direct
 * call with C's types. Other
 * call_extern follow the rules of C: a function that the program brought along, else one that
 * rt->find_extern knows. call_packed follows hone_extern: an array of pointers, with shapes and
 * ranks; a scalar argument is a rank-0 tensor, and a call that gives a value other than int32 gets
 * one more argument, where the function puts it. */
#include "codegen/llvm/gen.h"
#include "lower/ground/lower.h"
#include "runtime/model/model_rt.h"

static LLVMValueRef libm(gen *g, const hone_expr *e, const hone_libm *called) {
    hone_dtype dtype = called->is_float32 ? HONE_DTYPE_F32 : HONE_DTYPE_F64;
    LLVMTypeRef types[HONE_LIBM_MAX_ARGS];
    LLVMValueRef args[HONE_LIBM_MAX_ARGS];
    for (uint32_t i = 0; i < called->count; i++) {
        const hone_expr *arg = e->args[i + 1];
        args[i] = gen_cast(g, arg->dtype, dtype, gen_value(g, arg));
        types[i] = gen_type(g, dtype);
    }
    LLVMTypeRef type = LLVMFunctionType(gen_type(g, dtype), types, called->count, 0);
    LLVMValueRef function = LLVMGetNamedFunction(g->module, called->name);
    if (!function) function = LLVMAddFunction(g->module, called->name, type);
    LLVMValueRef value = LLVMBuildCall2(g->builder, type, function, args, called->count, "");
    return gen_cast(g, dtype, e->dtype, value);
}

/* An argument: where its data lies, and its shape. */
typedef struct passed {
    LLVMValueRef data, shape;
    int32_t rank;
} passed;

static LLVMValueRef shape_array(gen *g, uint32_t rank, const hone_expr *const *shape) {
    if (rank == 0) return LLVMConstNull(g->ptr);
    LLVMValueRef memory = gen_alloca(g, g->i64, rank, "shape");
    for (uint32_t d = 0; d < rank; d++) {
        LLVMValueRef at = gen_i64(g, d);
        at = LLVMBuildInBoundsGEP2(g->builder, g->i64, memory, &at, 1, "");
        LLVMBuildStore(g->builder, gen_index(g, shape[d]), at);
    }
    return memory;
}

/* A buffer's data variable stands for the whole buffer; a pointer into one for a row of elements.
 */
static passed pass_handle(gen *g, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR) {
        hone_buffer id = codegen_buffer_of_data(g->func, e->u.var);
        if (id != HONE_NO_ID) {
            const hone_buffer_info *buffer = &g->func->buffers[id];
            return (passed){.data = gen_buffer(g, id),
                            .shape = shape_array(g, buffer->rank, buffer->shape),
                            .rank = (int32_t)buffer->rank};
        }
    }
    passed p = {.data = gen_value(g, e), .shape = LLVMConstNull(g->ptr)};
    if (hone_expr_is_call(e, HONE_INTRIN_ACCESS_PTR)) {
        p.rank = 1;
        p.shape = shape_array(g, 1, &e->args[3]);
    } else if (hone_expr_is_call(e, HONE_INTRIN_ADDRESS_OF)) {
        const hone_expr *load = e->args[0];
        const hone_buffer_info *buffer = &g->func->buffers[load->u.buffer];
        const hone_expr *left = hone_expr_sub(&g->ir, buffer->shape[0], load->args[0]);
        p.rank = 1;
        p.shape = left ? shape_array(g, 1, &left) : p.shape;
    }
    return p;
}

static passed pass_scalar(gen *g, const hone_expr *e) {
    LLVMTypeRef type = gen_storage_type(g, e->dtype);
    LLVMValueRef memory = gen_alloca(g, type, 1, "scalar");
    LLVMBuildStore(g->builder, gen_to_storage(g, e->dtype, gen_value(g, e)), memory);
    return (passed){.data = memory, .shape = LLVMConstNull(g->ptr)};
}

static void put(gen *g, LLVMTypeRef type, LLVMValueRef array, uint32_t index, LLVMValueRef value) {
    LLVMValueRef at = gen_i64(g, index);
    LLVMBuildStore(g->builder, value, LLVMBuildInBoundsGEP2(g->builder, type, array, &at, 1, ""));
}

static LLVMValueRef ask(gen *g, const char *name) {
    LLVMTypeRef parameters[] = {g->ptr, g->ptr};
    LLVMTypeRef type = LLVMFunctionType(g->ptr, parameters, 2, 0);
    LLVMValueRef args[] = {g->frame->rt, LLVMBuildGlobalStringPtr(g->builder, name, "name")};
    return LLVMBuildCall2(g->builder, type, gen_rt_member(g, 3), args, 2, "");
}

/* A function of the plain form, or else one that takes DLPack tensors. */
static LLVMValueRef ask_packed(gen *g, const char *name) {
    const char *other = hone_arena_printf(g->arena, "%s" HONE_EXTERN_DLPACK_ENDING, name);
    LLVMValueRef plain = ask(g, name);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder);
    LLVMBasicBlockRef more =
        LLVMAppendBasicBlockInContext(g->context, g->frame->function, "of_tensors");
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMBuildCondBr(g->builder, LLVMBuildIsNull(g->builder, plain, ""), more, next);
    LLVMPositionBuilderAtEnd(g->builder, more);
    LLVMValueRef tensors = ask(g, other ? other : name);
    LLVMBuildBr(g->builder, next);
    LLVMPositionBuilderAtEnd(g->builder, next);
    LLVMValueRef phi = LLVMBuildPhi(g->builder, g->ptr, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){plain, tensors}, (LLVMBasicBlockRef[]){from, more}, 2);
    return phi;
}

static LLVMValueRef find(gen *g, const char *name, bool is_packed) {
    LLVMValueRef function = is_packed ? ask_packed(g, name) : ask(g, name);
    LLVMBasicBlockRef fail =
        LLVMAppendBasicBlockInContext(g->context, g->frame->function, "unknown");
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMBuildCondBr(g->builder, LLVMBuildIsNull(g->builder, function, ""), fail, next);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    const char *message = hone_arena_printf(g->arena, "external function '%s' is unknown", name);
    gen_set_error(g, HONE_KERNEL_NO_EXTERN, message ? message : "an external function is unknown");
    LLVMBuildStore(g->builder, gen_i32(g, HONE_KERNEL_NO_EXTERN), g->frame->code);
    LLVMBuildBr(g->builder, g->frame->leave);
    LLVMPositionBuilderAtEnd(g->builder, next);
    return function;
}

/* Leaves the kernel with the code of a function that said no. */
static void check_code(gen *g, LLVMValueRef code, const char *name) {
    LLVMBasicBlockRef fail =
        LLVMAppendBasicBlockInContext(g->context, g->frame->function, "said_no");
    LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(g->context, g->frame->function, "");
    LLVMValueRef is_wrong = LLVMBuildICmp(g->builder, LLVMIntNE, code, gen_i32(g, 0), "");
    LLVMBuildCondBr(g->builder, is_wrong, fail, next);
    LLVMPositionBuilderAtEnd(g->builder, fail);
    const char *message = hone_arena_printf(g->arena, "external function '%s' failed", name);
    gen_set_error(g, HONE_KERNEL_EXTERN_FAILED, message ? message : "an external function failed");
    LLVMBuildStore(g->builder, code, g->frame->code);
    LLVMBuildBr(g->builder, g->frame->leave);
    LLVMPositionBuilderAtEnd(g->builder, next);
}

static LLVMValueRef call(gen *g, const hone_expr *e, const char *name) {
    bool has_value = codegen_gives_value(e);
    uint32_t given = e->count - 1u, count = given + (has_value ? 1 : 0);
    uint32_t room = count ? count : 1;
    LLVMValueRef data = gen_alloca(g, g->ptr, room, "args");
    LLVMValueRef shapes = gen_alloca(g, g->ptr, room, "shapes");
    LLVMValueRef ranks = gen_alloca(g, g->i32, 2 * room, "ranks"); /* and types */
    LLVMValueRef result = NULL;
    for (uint32_t i = 0; i < count; i++) {
        passed p;
        if (i == given) {
            result = gen_alloca(g, gen_storage_type(g, e->dtype), 1, "result");
            p = (passed){.data = result, .shape = LLVMConstNull(g->ptr)};
        } else {
            const hone_expr *arg = e->args[i + 1];
            p = hone_dtype_is_handle(arg->dtype) ? pass_handle(g, arg) : pass_scalar(g, arg);
        }
        put(g, g->ptr, data, i, p.data);
        put(g, g->ptr, shapes, i, p.shape);
        put(g, g->i32, ranks, i, gen_i32(g, p.rank));
        put(g, g->i32, ranks, count + i, gen_i32(g, codegen_passed_type(g->func, e, i)));
    }
    LLVMTypeRef parameters[] = {g->ptr, g->ptr, g->ptr, g->i32};
    LLVMTypeRef type = LLVMFunctionType(g->i32, parameters, 4, 0);
    LLVMValueRef args[] = {data, shapes, ranks, gen_i32(g, (int32_t)count)};
    LLVMValueRef code = LLVMBuildCall2(g->builder, type, find(g, name, true), args, 4, "");
    check_code(g, code, name);
    if (!has_value) return LLVMConstNull(hone_dtype_is_handle(e->dtype) ? g->ptr : g->i32);
    LLVMTypeRef stored = gen_storage_type(g, e->dtype);
    return gen_from_storage(g, e->dtype, LLVMBuildLoad2(g->builder, stored, result, ""));
}

/* ---- by the rules of C ---- */

static LLVMTypeRef c_type(gen *g, hone_dtype dtype) {
    if (hone_dtype_is_void(dtype)) return g->empty;
    if (hone_dtype_is_handle(dtype)) return g->ptr;
    if (hone_dtype_is_float(dtype)) return dtype.bits == 64 ? g->f64 : g->f32;
    return dtype.bits == 64 ? g->i64 : g->i32;
}

static bool check_c_type(gen *g, const char *name, hone_dtype dtype) {
    if (codegen_is_c_type(dtype)) return true;
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED,
                           "a value of type %s is handed to or from the C function '%s'",
                           HONE_DTYPE_NAME(dtype), name));
    return false;
}

static LLVMValueRef c_argument(gen *g, const hone_expr *e) {
    if (e->kind == HONE_EXPR_STRING) return LLVMBuildGlobalStringPtr(g->builder, e->u.s, "text");
    if (hone_dtype_is_handle(e->dtype)) return gen_value(g, e);
    bool is_narrow = !hone_dtype_is_float(e->dtype) && e->dtype.bits < 32;
    LLVMValueRef value = gen_value(g, e);
    return is_narrow ? gen_cast(g, e->dtype, HONE_DTYPE_I32, value) : value;
}

/* A function that the program brought along, or one that is found at run time. */
static LLVMValueRef c_function(gen *g, LLVMTypeRef type, const char *name) {
    LLVMValueRef known = LLVMGetNamedFunction(g->module, name);
    if (known && LLVMCountBasicBlocks(known) > 0) return known;
    if (!hone_lower_brings_along(g->func, name, true)) return find(g, name, false);
    return known ? known : LLVMAddFunction(g->module, name, type);
}

static LLVMValueRef c_call(gen *g, const hone_expr *e, const char *name) {
    uint32_t count = e->count - 1u;
    LLVMTypeRef *types = hone_arena_alloc(g->arena, (count + 1) * sizeof(LLVMTypeRef));
    LLVMValueRef *args = hone_arena_alloc(g->arena, (count + 1) * sizeof(LLVMValueRef));
    bool is_void = hone_dtype_is_void(e->dtype);
    LLVMValueRef undefined = LLVMGetUndef(is_void ? g->i32 : gen_type(g, e->dtype));
    if (!types || !args) {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
        return undefined;
    }
    if (!is_void && !check_c_type(g, name, e->dtype)) return undefined;
    for (uint32_t i = 0; i < count; i++) {
        hone_dtype dtype = e->args[i + 1]->dtype;
        if (!check_c_type(g, name, dtype)) return undefined;
        types[i] = c_type(g, dtype);
        args[i] = c_argument(g, e->args[i + 1]);
    }
    LLVMTypeRef type = LLVMFunctionType(c_type(g, e->dtype), types, count, 0);
    LLVMValueRef function = c_function(g, type, name);
    LLVMValueRef result = LLVMBuildCall2(g->builder, type, function, args, count, "");
    if (is_void) return LLVMConstNull(g->i32);
    bool is_narrow = hone_dtype_is_integer(e->dtype) && e->dtype.bits < 32;
    return is_narrow ? gen_cast(g, HONE_DTYPE_I32, e->dtype, result) : result;
}

LLVMValueRef gen_extern_call(gen *g, const hone_expr *e) {
    if (e->count == 0 || e->args[0]->kind != HONE_EXPR_STRING) {
        gen_fail(g, HONE_ERROR(HONE_CODE_INVALID, "an external call without a name"));
        return LLVMGetUndef(gen_type(g, e->dtype));
    }
    const char *name = e->args[0]->u.s;
    if (hone_libm_of_call(e)) return libm(g, e, hone_libm_of_call(e));
    return codegen_is_c_call(e) ? c_call(g, e, name) : call(g, e, name);
}
