/* codegen/nvptx/ptx_libm.c - functions of libm by name, where there is no libm: the polynomials of
 * codegen/llvm/vec_*.c, one lane each. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "support/core/attributes.h"

/* An instruction or a polynomial by its name; that of float has an f behind. */
static LLVMValueRef by_intrinsic(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                                 unsigned count) {
    static const struct {
        const char *libm, *llvm;
        unsigned count;
    } rows[] = {
        {"ceil",      "llvm.ceil",      1},
        {"copysign",  "llvm.copysign",  2},
        {"fabs",      "llvm.fabs",      1},
        {"floor",     "llvm.floor",     1},
        {"fma",       "llvm.fma",       3},
        {"fmax",      "llvm.maxnum",    2},
        {"fmin",      "llvm.minnum",    2},
        {"nearbyint", "llvm.nearbyint", 1},
        {"rint",      "llvm.nearbyint", 1},
        {"round",     "llvm.round",     1},
        {"sqrt",      "llvm.sqrt",      1},
        {"trunc",     "llvm.trunc",     1},
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strcmp(rows[i].libm, name) != 0 || rows[i].count != count) continue;
        return gen_intrinsic(g, rows[i].llvm, type, args, count);
    }
    return NULL;
}

LLVMValueRef ptx_libm(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                      unsigned count) {
    return by_intrinsic(g, name, type, args, count);
}
