/* codegen/nvptx/codegen_ptx.c - PTX by LLVM's NVPTX: which processor and version, which passes. */
#include <stdio.h>
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

/* Loops over a thread's own arrays are unrolled (ptx_kernel.c marks them), so that those become
 * registers. What is left are a few loops, for which LLVM's own choices would only cost registers.
 * correlated-propagation makes divisions of small numbers short ones. */
static const char *passes(bool is_scheduled) {
    (void)is_scheduled; /* a device's program always is */
    return "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
           "loop-mssa(licm),loop(loop-rotate,indvars),loop-unroll<O2;no-partial;no-runtime>,"
           "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,gvn,"
           "correlated-propagation,loop-mssa(licm),simplifycfg,dse,adce,"
           "instcombine<no-verify-fixpoint>)";
}

/* The newest that LLVM 19 knows and that runs on the device: code for sm_90 is taken by all newer
 * ones. What a name ends with ("sm_90a") is that architecture's alone. */
static hone_status machine(const hone_target *target, LLVMTargetMachineRef *out) {
    static const int known[] = {90, 89, 87, 86, 80, 75, 72, 70, 62, 61, 60, 53, 52, 50};
    int have = ptx_capability(target);
    char cpu[16];
    *out = NULL;
    if (target->kind != HONE_TARGET_CUDA || have < known[HONE_COUNT(known) - 1]) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "PTX is made for cuda -arch=sm_50 and newer, not "
                          "for '%s'",
                          target->cpu);
    }
    size_t i = 0;
    while (known[i] > have)
        i++;
    bool is_own = known[i] == 90 && strcmp(target->cpu, "sm_90a") == 0;
    snprintf(cpu, sizeof cpu, "sm_%d%s", known[i], is_own ? "a" : "");
    return gen_machine(target->triple, cpu, "+ptx84", out);
}

static void attributes(gen *g, LLVMValueRef function) {
    (void)g; /* the module's target says it all */
    (void)function;
}

/* As CUDA's assert: nothing more is to be had of this context. */
static void abandon(gen *g, int32_t code, const char *message) {
    (void)code;
    (void)message;
    gen_intrinsic_of(g, "llvm.trap", NULL, 0, NULL, 0);
    LLVMBuildUnreachable(g->builder);
}

static void finish(gen *g) {
    ptx_align(g);
    ptx_rename(g);
}

static const gen_processor nvidia = {
    .machine = machine,
    .passes = passes,
    .attributes = attributes,
    .finish = finish,
    .kernel = ptx_kernel,
    .threads = ptx_threads,
    .alloc = ptx_alloc,
    .unrolls = ptx_unrolls,
    .abandon = abandon,
    .call = ptx_call,
    .copies = ptx_copies,
    .turn = ptx_turn,
    .libm = ptx_libm,
    .narrow = ptx_narrow,
    .has_ex2 = true,
};

hone_status hone_codegen_ptx(const hone_codegen_kernel *kernels, size_t count,
                             const hone_codegen_options *options, hone_str *out) {
    return gen_run(&nvidia, kernels, count, options, out);
}
