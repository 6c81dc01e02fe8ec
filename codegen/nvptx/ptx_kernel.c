/* codegen/nvptx/ptx_kernel.c - an entry, its threads.
 *
 *   .entry symbol(.ptr .global …, .u64 …)      .reqntid x, y, z
 */
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "ir/core/concurrent.h"

enum { PTX_KERNEL = 71 }; /* LLVM's calling convention of entries */

/* ---- parameters ---- */

/* Memory that another thread may change while this one waits for it is no one's own: LLVM would not
 * load it again behind a barrier. */
static void describe_pointer(gen *g, LLVMValueRef function, unsigned at, hone_buffer buffer) {
    const ptx_buffer *facts = &g->device->buffers[hone_func_storage(g->func, buffer)];
    gen_parameter(g, function, at, "align", 64);
    gen_parameter(g, function, at, "nonnull", 0);
    gen_parameter(g, function, at, "noundef", 0);
    gen_dereferenceable(g, function, at, &g->func->buffers[buffer]);
    bool is_shared = g->device->meets && facts->is_loaded && facts->is_stored;
    if (!is_shared) gen_parameter(g, function, at, "noalias", 0);
    if (!facts->is_stored) gen_parameter(g, function, at, "readonly", 0);
}

static LLVMValueRef declare(gen *g) {
    const hone_func *func = g->func;
    LLVMTypeRef *types = hone_arena_alloc(g->arena, (func->param_count + 1) * sizeof *types);
    if (!types) return NULL;
    for (uint32_t i = 0; i < func->param_count; i++) {
        bool is_buffer = func->params[i].buffer != HONE_NO_ID;
        types[i] = is_buffer ? LLVMPointerTypeInContext(g->context, PTX_GLOBAL) : g->i64;
    }
    LLVMTypeRef type = LLVMFunctionType(g->empty, types, func->param_count, 0);
    LLVMValueRef function = LLVMAddFunction(g->module, g->symbol, type);
    LLVMSetFunctionCallConv(function, PTX_KERNEL);
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].buffer == HONE_NO_ID) continue;
        describe_pointer(g, function, i, func->params[i].buffer);
    }
    return function;
}

static void annotate(gen *g, LLVMValueRef function, const char *key, int64_t value) {
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(function),
                               LLVMMDStringInContext2(g->context, key, strlen(key)),
                               LLVMValueAsMetadata(gen_i32(g, (int32_t)value))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, parts, 3);
    LLVMAddNamedMetadataOperand(g->module, "nvvm.annotations",
                                LLVMMetadataAsValue(g->context, node));
}

static void annotate_launch(gen *g, LLVMValueRef function) {
    static const char *const keys[] = {"reqntidx", "reqntidy", "reqntidz"};
    annotate(g, function, "kernel", 1);
    for (int i = 0; i < 3; i++)
        annotate(g, function, keys[i], g->device->block[i]);
    const hone_value *least = hone_attrs_find(&g->func->attrs, "hone.min_blocks");
    if (least && least->kind == HONE_VALUE_INT) annotate(g, function, "minctasm", least->u.i);
}

static void take_parameters(gen *g, LLVMValueRef function) {
    for (uint32_t i = 0; i < g->func->param_count; i++) {
        const hone_param *param = &g->func->params[i];
        LLVMValueRef value = LLVMGetParam(function, i);
        if (param->buffer != HONE_NO_ID)
            g->buffers[param->buffer] = value;
        else
            g->vars[param->var] = gen_size_value(g, param->var, value);
    }
}

void ptx_kernel(gen *g) {
    hone_status st = ptx_find_facts(g);
    LLVMValueRef function = st ? NULL : declare(g);
    if (!st && (!function || !gen_kernel_begin(g))) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    }
    if (st) {
        gen_fail(g, st);
        return;
    }
    gen_frame frame = {.is_parallel = true}; /* there are no other threads to share loops with */
    gen_frame_begin(g, &frame, function, HONE_NODE_TOP);
    take_parameters(g, function);
    gen_children(g, HONE_NODE_TOP);
    gen_frame_leave(g);
    LLVMBuildRetVoid(g->builder);
    annotate_launch(g, function);
}

/* ---- threads ---- */

/* A special register, which is from 0 to extent - 1. */
static LLVMValueRef read_register(gen *g, const char *name, int64_t extent) {
    LLVMValueRef value = gen_intrinsic_of(g, name, NULL, 0, NULL, 0);
    LLVMMetadataRef ends[] = {LLVMValueAsMetadata(gen_i32(g, 0)),
                              LLVMValueAsMetadata(gen_i32(g, (int32_t)extent))};
    LLVMMetadataRef range = LLVMMDNodeInContext2(g->context, ends, 2);
    LLVMSetMetadata(value, LLVMGetMDKindIDInContext(g->context, "range", 5),
                    LLVMMetadataAsValue(g->context, range));
    return value;
}

static LLVMValueRef thread_index(gen *g, int axis) {
    static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.tid.x",
                                        "llvm.nvvm.read.ptx.sreg.tid.y",
                                        "llvm.nvvm.read.ptx.sreg.tid.z"};
    return read_register(g, names[axis], g->device->block[axis]);
}

static LLVMValueRef block_index(gen *g, int axis, int64_t extent) {
    static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.z"};
    static const int64_t most[] = {0x7fffffff, 65535, 65535};
    bool is_known = extent >= 1 && extent <= most[axis];
    return read_register(g, names[axis], is_known ? extent : most[axis]);
}

int64_t ptx_block_threads(const gen *g) {
    return g->device->block[0] * g->device->block[1] * g->device->block[2];
}

static LLVMValueRef index_of_tag(gen *g, const char *tag, int64_t extent) {
    bool is_thread = strncmp(tag, "threadIdx.", 10) == 0;
    bool is_block = strncmp(tag, "blockIdx.", 9) == 0;
    char axis = is_thread ? tag[10] : is_block ? tag[9] : 0;
    if (axis < 'x' || axis > 'z') return NULL;
    return is_thread ? thread_index(g, axis - 'x') : block_index(g, axis - 'x', extent);
}

void ptx_threads(gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    hone_var var = node->u.loop.var;
    const char *tag = node->u.loop.thread_tag ? node->u.loop.thread_tag : "?";
    int64_t extent = hone_expr_const(node->u.loop.range.extent);
    LLVMValueRef index = index_of_tag(g, tag, extent);
    if (!index && !hone_loop_is_of_threads(node)) {
        gen_serial_loop(g, id);
        return;
    }
    if (!index) {
        gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "loop '%s' is bound to '%s'",
                               g->func->vars[var].name, tag));
        return;
    }
    gen_loop outer = g->loop;
    LLVMBasicBlockRef after = gen_block(g, "");
    LLVMValueRef value = LLVMBuildZExt(g->builder, index, g->i64, "");
    value = LLVMBuildNSWAdd(g->builder, gen_index(g, node->u.loop.range.min), value, "");
    g->loop = (gen_loop){after, after, id};
    g->vars[var] = (gen_var){.value = value, .is_index = true};
    if (!hone_arith_bind(&g->arith, var, node->u.loop.range)) {
        gen_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation"));
    }
    gen_children(g, id);
    g->loop = outer;
    gen_branch(g, after);
    LLVMPositionBuilderAtEnd(g->builder, after);
}
