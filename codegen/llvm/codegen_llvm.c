/* codegen/llvm/codegen_llvm.c - one module per call: types, kernels, attributes, emission. */
#include <string.h>

#include <llvm-c/Analysis.h>

#include "codegen/codegen.h"
#include "codegen/llvm/gen.h"
#include "lower/ground/lower.h"

void gen_fail(gen *g, hone_status st) {
    if (g->error)
        hone_status_free(st);
    else
        g->error = st;
}

static void init_types(gen *g) {
    LLVMContextRef c = g->context;
    g->i1 = LLVMInt1TypeInContext(c);
    g->i8 = LLVMInt8TypeInContext(c);
    g->i16 = LLVMInt16TypeInContext(c);
    g->i32 = LLVMInt32TypeInContext(c);
    g->i64 = LLVMInt64TypeInContext(c);
    g->f16 = LLVMHalfTypeInContext(c);
    g->f32 = LLVMFloatTypeInContext(c);
    g->f64 = LLVMDoubleTypeInContext(c);
    g->ptr = LLVMPointerTypeInContext(c, 0);
    g->empty = LLVMVoidTypeInContext(c);
}

void gen_text_attribute(gen *g, LLVMValueRef function, const char *key, const char *value) {
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(g->context, key, (unsigned)strlen(key),
                                                           value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

/* Every function says for which processor it is. */
static void add_attributes(gen *g) {
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMCountBasicBlocks(f) == 0) continue;
        g->processor->attributes(g, f);
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->context, nounwind, 0));
    }
}

/* Whether somebody shaped the program: only then are LLVM's own choices kept out. */
static bool is_scheduled(const hone_func *func) {
    for (uint32_t i = 0; i < func->attrs.count; i++) {
        if (strcmp(func->attrs.items[i].key, "hone.scheduled") == 0) return true;
    }
    return false;
}

static hone_status verify(gen *g) {
    char *message = NULL;
    hone_status st = HONE_OK;
    if (LLVMVerifyModule(g->module, LLVMReturnStatusAction, &message)) {
        st = HONE_ERROR(HONE_CODE_INTERNAL, "generated code is not valid: %s", message);
    }
    LLVMDisposeMessage(message);
    return st;
}

static hone_status generate(gen *g, const hone_codegen_kernel *kernels, size_t count,
                            const hone_codegen_options *options, LLVMTargetMachineRef machine,
                            hone_str *out) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(g->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(g->module, g->target->triple);
    HONE_TRY(gen_imports(g, kernels, count));
    bool all_scheduled = true;
    for (size_t i = 0; i < count; i++) {
        g->func = kernels[i].func;
        g->is_relaxed = hone_attrs_find(&g->func->attrs, HONE_LOWER_RELAXED) != NULL;
        g->symbol = kernels[i].symbol;
        all_scheduled &= is_scheduled(g->func);
        gen_lines_begin(g, kernels[i].lines);
        g->processor->kernel(g);
        gen_lines_end(g);
        if (g->error) {
            hone_status st = g->error;
            g->error = HONE_OK;
            return hone_status_annotate(st, "function '%s'", kernels[i].symbol);
        }
    }
    if (options->once) HONE_TRY(gen_once(g, options->once));
    add_attributes(g);
    if (options->verify) HONE_TRY(verify(g));
    HONE_TRY(gen_optimise(g, machine, all_scheduled));
    if (g->processor->finish) g->processor->finish(g);
    if (options->verify) HONE_TRY(verify(g));
    return gen_emit(g, machine, (int)options->form, out);
}

hone_status gen_run(const gen_processor *processor, const hone_codegen_kernel *kernels,
                    size_t count, const hone_codegen_options *options, hone_str *out) {
    LLVMTargetMachineRef machine;
    HONE_TRY(processor->machine(options->target, &machine));
    gen g = {.processor = processor, .target = options->target};
    g.arena = hone_arena_create(1 << 16);
    hone_status st = HONE_OK;
    if (!g.arena) {
        LLVMDisposeTargetMachine(machine);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "code generation");
    }
    g.ir.arena = g.arena;
    g.context = LLVMContextCreate();
    g.module = LLVMModuleCreateWithNameInContext("hone", g.context);
    g.builder = LLVMCreateBuilderInContext(g.context);
    init_types(&g);
    st = generate(&g, kernels, count, options, machine, out);
    LLVMDisposeBuilder(g.builder);
    LLVMDisposeModule(g.module);
    LLVMContextDispose(g.context);
    hone_status_free(hone_ir_finish(&g.ir));
    hone_status_free(hone_ir_finish(&g.arith.ir));
    hone_arena_destroy(g.arena);
    LLVMDisposeTargetMachine(machine);
    return st;
}

hone_status hone_codegen_llvm(const hone_codegen_kernel *kernels, size_t count,
                              const hone_codegen_options *options, hone_str *out) {
    return gen_run(&gen_cpu, kernels, count, options, out);
}
