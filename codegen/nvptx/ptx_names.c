/* codegen/nvptx/ptx_names.c - names of a module of its own, so that the texts of several can be
 * joined: memory and functions that all modules call by one name begin with that of its first
 * entry, as shared memory does.
 *
 *   hone.sinf.4, hone_dynamic_shared   =>   hone_kernel_7_sin_hone_sinf_4, …
 */
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"

/* One of those that are the same in all modules. */
static bool is_common(const char *name, size_t length) {
    return length > 5 &&
           (memcmp(name, "hone.", 5) == 0 || strcmp(name, "hone_dynamic_shared") == 0 ||
            strcmp(name, "hone_two_over_pi") == 0);
}

static void rename_value(LLVMValueRef value, const char *entry) {
    char name[320];
    size_t length;
    const char *old = LLVMGetValueName2(value, &length);
    if (!is_common(old, length)) return;
    snprintf(name, sizeof name, "%.200s_%.100s", entry, old);
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    LLVMSetValueName2(value, name, strlen(name));
}

void ptx_rename(gen *g) {
    char entry[256] = "";
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        bool is_entry = !LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage;
        if (is_entry && !*entry) snprintf(entry, sizeof entry, "%s", LLVMGetValueName2(f, &length));
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        rename_value(f, entry);
    for (LLVMValueRef m = LLVMGetFirstGlobal(g->module); m; m = LLVMGetNextGlobal(m))
        rename_value(m, entry);
}
