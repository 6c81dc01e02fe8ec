/* codegen/llvm/emit.c - the target machine, LLVM's passes, and the bytes that come out. */
#include "codegen/llvm/gen.h"

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <string.h>

#include "codegen/codegen.h"
#include "support/core/attributes.h"

static hone_status llvm_error(const char *what, char *message) {
    hone_status st =
        HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s: %s", what, message ? message : "unknown error");
    LLVMDisposeMessage(message);
    return st;
}

static void initialise_x86(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}
static void initialise_arm(void) {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
}
static void initialise_nvidia(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

static const struct {
    const char *architecture; /* a triple begins so */
    void (*initialise)(void);
} generators[] = {
    {"x86_64",  initialise_x86   },
    {"aarch64", initialise_arm   },
    {"arm64",   initialise_arm   },
    {"nvptx64", initialise_nvidia},
};

static hone_status find_target(const char *triple, LLVMTargetRef *out) {
    size_t i = 0;
    while (i < HONE_COUNT(generators) &&
           strncmp(triple, generators[i].architecture, strlen(generators[i].architecture)) != 0)
        i++;
    if (i == HONE_COUNT(generators)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "no code generator for '%s'", triple);
    }
    generators[i].initialise();
    char *message = NULL;
    if (LLVMGetTargetFromTriple(triple, out, &message)) {
        return llvm_error(triple, message);
    }
    return HONE_OK;
}

/* Unrolled tiles are one long block of loads and stores, and the scheduler's dependence maps grow
 * with its square: they are thinned early. So do the searches for dead stores and for stores that
 * loads might sink across: they give up early.
 * The same instructions come out, in a fifth of the time.
 * Innermost loops begin at a cache line: elsewhere some run at half their speed.
 * Statements side by side become no vectors: LLVM 19 narrows what they compute as signed numbers
 * and goes on with it as unsigned ones (uitofp of 0 - x gave 65535), and runs that pass whatever
 * the options of the pass builder say.
 * LLVM takes these options once per process only. */
static void set_llvm_options(void) {
    static const char *const options[] = {"hone",
                                          "-vectorize-slp=false",
                                          "-dag-maps-huge-region=200",
                                          "-dag-maps-reduction-size=100",
                                          "-enable-post-misched=false",
                                          "-post-RA-scheduler=false",
                                          "-machine-sink-load-instrs-threshold=100",
                                          "-dse-memoryssa-scanlimit=30",
                                          "-dse-memoryssa-walklimit=20",
                                          "-dse-memoryssa-path-check-limit=5",
                                          "-x86-experimental-pref-innermost-loop-alignment=6"};
    static bool done; /* workers compile in one thread */
    if (done) return;
    done = true;
    LLVMParseCommandLineOptions(sizeof options / sizeof options[0], options, NULL);
}

hone_status gen_machine(const char *triple, const char *cpu, const char *features,
                        LLVMTargetMachineRef *out_machine) {
    LLVMTargetRef llvm;
    *out_machine = NULL;
    set_llvm_options();
    HONE_TRY(find_target(triple, &llvm));
    *out_machine = LLVMCreateTargetMachine(llvm, triple, cpu, features, LLVMCodeGenLevelDefault,
                                           LLVMRelocPIC, LLVMCodeModelDefault);
    if (!*out_machine) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "LLVM makes no machine for '%s'", triple);
    }
    return HONE_OK;
}

hone_status gen_optimise(gen *g, LLVMTargetMachineRef machine, bool is_scheduled) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
    LLVMErrorRef error =
        LLVMRunPasses(g->module, g->processor->passes(is_scheduled), machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return HONE_OK;
    char *message = LLVMGetErrorMessage(error);
    hone_status st = HONE_ERROR(HONE_CODE_INTERNAL, "LLVM passes: %s", message);
    LLVMDisposeErrorMessage(message);
    return st;
}

static hone_status emit_text(gen *g, hone_str *out) {
    char *text = LLVMPrintModuleToString(g->module);
    hone_str_append(out, text);
    LLVMDisposeMessage(text);
    return hone_str_check(out);
}

hone_status gen_emit(gen *g, LLVMTargetMachineRef machine, int emit, hone_str *out) {
    if (emit == HONE_FORM_LLVM) return emit_text(g, out);
    LLVMCodeGenFileType type = emit == HONE_FORM_OBJECT ? LLVMObjectFile : LLVMAssemblyFile;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, g->module, type, &message, &buffer)) {
        return llvm_error("LLVM code generation", message);
    }
    hone_str_append_n(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return hone_str_check(out);
}
