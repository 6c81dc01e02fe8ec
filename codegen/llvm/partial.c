/* codegen/llvm/partial.c - loads and stores of a part of a register, behind LLVM's passes.
 *
 * A vector of 14 floats computes in a register of 16, but LLVM would read and write it in pieces of
 * 8, 4 and 2. Here such accesses become masked ones:
 *
 *   load <14 x float>   ──►   shuffle (masked.load <16 x float>, first 14)
 *   store <14 x float>  ──►   masked.store (shuffle to <16 x float>), first 14
 *
 * It is done last, since what LLVM's passes know about plain loads and stores they do not know
 * about masked ones: promotion of local buffers to registers above all. */
#include "codegen/llvm/gen.h"

enum { MAX_PARTIAL = 64 };

static unsigned register_lanes(unsigned lanes) {
    unsigned power = 1;
    while (power < lanes)
        power *= 2;
    return power;
}

/* The lanes of a vector type that fills part of a register of words; 0 = another type. */
static unsigned partial_lanes(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return 0;
    LLVMTypeRef element = LLVMGetElementType(type);
    bool is_word =
        LLVMGetTypeKind(element) == LLVMFloatTypeKind ||
        (LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 32);
    unsigned lanes = LLVMGetVectorSize(type);
    bool is_partial = is_word && lanes > 2 && lanes <= MAX_PARTIAL && (lanes & (lanes - 1));
    return is_partial ? lanes : 0;
}

/* value with `to` lanes, of which the first ones are its own. */
static LLVMValueRef resize(gen *g, LLVMValueRef value, unsigned from, unsigned to) {
    LLVMValueRef picks[MAX_PARTIAL];
    for (unsigned i = 0; i < to; i++)
        picks[i] = i < from ? gen_i32(g, (int32_t)i) : LLVMGetPoison(g->i32);
    return LLVMBuildShuffleVector(g->builder, value, LLVMGetPoison(LLVMTypeOf(value)),
                                  LLVMConstVector(picks, to), "");
}

static LLVMValueRef first_lanes(gen *g, unsigned lanes, unsigned of) {
    LLVMValueRef bits[MAX_PARTIAL];
    for (unsigned i = 0; i < of; i++)
        bits[i] = LLVMConstInt(g->i1, i < lanes, 0);
    return LLVMConstVector(bits, of);
}

static LLVMValueRef call(gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                         unsigned count) {
    LLVMTypeRef types[] = {type, g->ptr};
    return gen_intrinsic_of(g, name, types, 2, args, count);
}

static void mask_load(gen *g, LLVMValueRef load, unsigned lanes) {
    unsigned full = register_lanes(lanes);
    LLVMTypeRef type = LLVMVectorType(LLVMGetElementType(LLVMTypeOf(load)), full);
    LLVMValueRef args[] = {LLVMGetOperand(load, 0), gen_i32(g, (int32_t)LLVMGetAlignment(load)),
                           first_lanes(g, lanes, full), LLVMGetPoison(type)};
    LLVMPositionBuilderBefore(g->builder, load);
    LLVMValueRef masked = call(g, "llvm.masked.load", type, args, 4);
    LLVMReplaceAllUsesWith(load, resize(g, masked, full, lanes));
    LLVMInstructionEraseFromParent(load);
}

static void mask_store(gen *g, LLVMValueRef store, unsigned lanes) {
    unsigned full = register_lanes(lanes);
    LLVMPositionBuilderBefore(g->builder, store);
    LLVMValueRef value = resize(g, LLVMGetOperand(store, 0), lanes, full);
    LLVMValueRef args[] = {value, LLVMGetOperand(store, 1),
                           gen_i32(g, (int32_t)LLVMGetAlignment(store)),
                           first_lanes(g, lanes, full)};
    call(g, "llvm.masked.store", LLVMTypeOf(value), args, 4);
    LLVMInstructionEraseFromParent(store);
}

static void mask_access(gen *g, LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode == LLVMLoad) {
        unsigned lanes = partial_lanes(LLVMTypeOf(instruction));
        if (lanes) mask_load(g, instruction, lanes);
    } else if (opcode == LLVMStore) {
        unsigned lanes = partial_lanes(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
        if (lanes) mask_store(g, instruction, lanes);
    }
}

void gen_mask_partial(gen *g) {
    if (!hone_target_has_feature(g->target, "avx2")) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef next;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
                next = LLVMGetNextInstruction(i);
                mask_access(g, i);
            }
        }
    }
}
