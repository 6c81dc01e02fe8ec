/* codegen/nvptx/ptx_narrow.c - float32 to bfloat16 by instructions, which sm_80 and newer have: two
 * numbers at a time where there are two. (LLVM knows those of float16.) */
#include "codegen/nvptx/nvptx.h"

enum { FIRST_WITH_BFLOATS = 80 };

static LLVMValueRef lane(gen *g, LLVMValueRef value, unsigned i) {
    return LLVMBuildExtractElement(g->builder, value, gen_i32(g, (int32_t)i), "");
}

static LLVMValueRef one(gen *g, LLVMValueRef value) {
    LLVMValueRef near = gen_intrinsic_of(g, "llvm.nvvm.f2bf16.rn", NULL, 0, &value, 1);
    return LLVMBuildBitCast(g->builder, near, g->i16, "");
}

/* Lanes i and i + 1; the instruction names the upper half first. */
static LLVMValueRef two(gen *g, LLVMValueRef value, unsigned i) {
    LLVMValueRef args[] = {lane(g, value, i + 1), lane(g, value, i)};
    LLVMValueRef near = gen_intrinsic_of(g, "llvm.nvvm.ff2bf16x2.rn", NULL, 0, args, 2);
    return LLVMBuildBitCast(g->builder, near, g->i32, "");
}

LLVMValueRef ptx_narrow(gen *g, hone_dtype dtype, LLVMValueRef value) {
    unsigned lanes = dtype.lanes;
    bool is_known = dtype.code == HONE_DTYPE_CODE_BFLOAT && dtype.bits == 16 &&
                    ptx_capability(g->target) >= FIRST_WITH_BFLOATS;
    if (!is_known || (lanes > 1 && lanes % 2 != 0)) return NULL;
    if (lanes == 1) return one(g, value);
    LLVMValueRef words = LLVMGetPoison(gen_vector(g->i32, lanes / 2));
    if (lanes == 2)
        return LLVMBuildBitCast(g->builder, two(g, value, 0), gen_vector(g->i16, 2), "");
    for (unsigned i = 0; i < lanes; i += 2)
        words = LLVMBuildInsertElement(g->builder, words, two(g, value, i),
                                       gen_i32(g, (int32_t)i / 2), "");
    return LLVMBuildBitCast(g->builder, words, gen_vector(g->i16, lanes), "");
}
