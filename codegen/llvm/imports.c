/* codegen/llvm/imports.c - LLVM IR that a program brings along for its external functions.
 *
 * The text is linked into the module before the kernels are made; its functions become internal and
 * take the target of the module, so that LLVM may inline them. A text that several kernels bring
 * along is linked once. */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

#include "codegen/llvm/gen.h"
#include "lower/ground/lower.h"
#include "support/core/attributes.h"

static hone_status refuse(const char *what, char *message) {
    hone_status st =
        HONE_ERROR(HONE_CODE_INVALID, "pragma_import_llvm: %s: %s", what, message ? message : "?");
    LLVMDisposeMessage(message);
    return st;
}

/* What compilers note for the processor and the options they were called with. */
static void forget_target(LLVMValueRef function) {
    static const char *const texts[] = {"target-cpu", "target-features", "tune-cpu",
                                        "min-legal-vector-width"};
    static const char *const flags[] = {"optnone", "noinline"};
    LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    for (size_t i = 0; i < HONE_COUNT(texts); i++) {
        LLVMRemoveStringAttributeAtIndex(function, at, texts[i], (unsigned)strlen(texts[i]));
    }
    for (size_t i = 0; i < HONE_COUNT(flags); i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(flags[i], strlen(flags[i]));
        LLVMRemoveEnumAttributeAtIndex(function, at, kind);
    }
}

static hone_status import_text(gen *g, const char *text) {
    char *message = NULL;
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "ir");
    if (LLVMParseIRInContext(g->context, bytes, &module, &message)) { /* takes bytes */
        return refuse("no LLVM IR", message);
    }
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) {
        LLVMDisposeModule(module);
        return refuse("not valid", message);
    }
    LLVMDisposeMessage(message);
    LLVMSetTarget(module, LLVMGetTarget(g->module));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(g->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMCountBasicBlocks(f) == 0 || !LLVMGetNamedFunction(g->module, LLVMGetValueName(f))) {
            continue;
        }
        hone_status st = HONE_ERROR(HONE_CODE_INVALID, "pragma_import_llvm: '%s' is defined twice",
                                    LLVMGetValueName(f));
        LLVMDisposeModule(module);
        return st;
    }
    if (!LLVMLinkModules2(g->module, module)) return HONE_OK; /* takes module */
    return HONE_ERROR(HONE_CODE_INVALID, "pragma_import_llvm: the text can't be linked");
}

static bool was_seen(const hone_codegen_kernel *kernels, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++) {
        const hone_value *list = hone_attrs_find(&kernels[i].func->attrs, HONE_LOWER_IMPORT_LLVM);
        for (uint32_t k = 0; list && k < list->count; k++) {
            if (strcmp(list->u.items[k].u.s, text) == 0) return true;
        }
    }
    return false;
}

hone_status gen_imports(gen *g, const hone_codegen_kernel *kernels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const hone_value *list = hone_attrs_find(&kernels[i].func->attrs, HONE_LOWER_IMPORT_LLVM);
        for (uint32_t k = 0; list && k < list->count; k++) {
            const char *text = list->u.items[k].u.s;
            if (!was_seen(kernels, i, text)) HONE_TRY(import_text(g, text));
        }
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMCountBasicBlocks(f) == 0) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        forget_target(f);
    }
    return HONE_OK;
}
