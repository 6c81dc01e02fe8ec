/* codegen/llvm/cpu.c - what CPUs do in their own way: the table of the runtime that kernels are
 * called with (abi.h), libm, and which of LLVM's passes run.
 *
 * A program that a schedule shaped gets a slim list of passes: what the schedule decided is not
 * decided again (no vectoriser, no unroller), and a candidate is built in tens of milliseconds. A
 * program without a schedule gets LLVM's own -O2, vectoriser included. */
#include "codegen/llvm/gen.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/abi.h"
#include "support/core/attributes.h"

static const char slim_passes[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "early-cse<memssa>,sroa,loop-mssa(licm),simplifycfg,dse,adce)";
static const char full_passes[] = "default<O2>";

static const char *passes(bool is_scheduled) {
    return is_scheduled ? slim_passes : full_passes;
}

static hone_status machine(const hone_target *target, LLVMTargetMachineRef *out) {
    return gen_machine(target->triple, target->cpu, target->features, out);
}

/* How wide vectors may be is said to LLVM's x86 alone. */
static void attributes(gen *g, LLVMValueRef function) {
    const hone_target *target = g->target;
    char width[16];
    snprintf(width, sizeof width, "%d", (int)target->vector_bits);
    gen_text_attribute(g, function, "target-cpu", target->cpu);
    if (target->features[0]) gen_text_attribute(g, function, "target-features", target->features);
    if (strncmp(target->triple, "x86_64", 6) != 0) return;
    gen_text_attribute(g, function, "prefer-vector-width", width);
    gen_text_attribute(g, function, "min-legal-vector-width", width);
}

static void threads(gen *g, hone_node_id id) {
    const hone_node *node = hone_func_node(g->func, id);
    gen_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "loop '%s' is bound to thread '%s' on a CPU",
                           g->func->vars[node->u.loop.var].name,
                           node->u.loop.thread_tag ? node->u.loop.thread_tag : "?"));
}

LLVMValueRef gen_rt_member(gen *g, unsigned index) {
    static const size_t offsets[] = {
        offsetof(hone_rt, parallel_for),   offsetof(hone_rt, workspace_alloc),
        offsetof(hone_rt, workspace_free), offsetof(hone_rt, find_extern),
        offsetof(hone_rt, set_error),
    };
    LLVMValueRef offset = gen_i64(g, (int64_t)offsets[index]);
    LLVMValueRef at = LLVMBuildInBoundsGEP2(g->builder, g->i8, g->frame->rt, &offset, 1, "");
    return LLVMBuildLoad2(g->builder, g->ptr, at, "");
}

void gen_set_error(gen *g, int32_t code, const char *message) {
    LLVMTypeRef parameters[] = {g->ptr, g->i32, g->ptr};
    LLVMTypeRef type = LLVMFunctionType(g->empty, parameters, 3, 0);
    LLVMValueRef args[] = {g->frame->rt, gen_i32(g, code),
                           LLVMBuildGlobalStringPtr(g->builder, message, "message")};
    LLVMBuildCall2(g->builder, type, gen_rt_member(g, 4), args, 3, "");
}

static void abandon(gen *g, int32_t code, const char *message) {
    gen_set_error(g, code, message);
    LLVMBuildStore(g->builder, gen_i32(g, code), g->frame->code);
    LLVMBuildBr(g->builder, g->frame->leave);
}

static LLVMValueRef libm(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                         unsigned count) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%s%s", name, type == g->f32 ? "f" : "");
    LLVMTypeRef parameters[4];
    for (unsigned i = 0; i < count; i++)
        parameters[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef signature = LLVMFunctionType(type, parameters, count, 0);
    LLVMValueRef function = LLVMGetNamedFunction(g->module, symbol);
    if (!function) {
        function = LLVMAddFunction(g->module, symbol, signature);
        static const char *const attributes[] = {"nounwind", "willreturn"};
        for (size_t i = 0; i < HONE_COUNT(attributes); i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
            LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                    LLVMCreateEnumAttribute(g->context, kind, 0));
        }
    }
    return LLVMBuildCall2(g->builder, signature, function, args, count, "");
}

const gen_processor gen_cpu = {
    .machine = machine,
    .passes = passes,
    .attributes = attributes,
    .finish = gen_widen_partial,
    .kernel = gen_kernel,
    .threads = threads,
    .alloc = gen_alloc,
    .abandon = abandon,
    .libm = libm,
    .waits = true,
};
