/* codegen/nvptx/ptx_align.c - how places are aligned, behind LLVM's passes.
 *
 * Four floats are loaded at once only where they are known to begin at a multiple of 16 bytes, and
 * LLVM looks a few steps back only: an index that several terms were added to is as far as it goes.
 * Trailing zeros of sums and products are all that is asked here, any number of steps back. */
#include "codegen/nvptx/nvptx.h"

enum { MOST_ZEROS = 7, MOST_STEPS = 400 };

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static unsigned zeros_of(LLVMValueRef value, unsigned *steps);

static unsigned zeros_of_constant(LLVMValueRef value) {
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return 0;
    unsigned long long bits = LLVMConstIntGetZExtValue(value);
    return bits ? (unsigned)__builtin_ctzll(bits) : 64;
}

/* What begins somewhere and grows by something: the counter of a loop (that is being made: one has
 * no values yet), an address that moves. */
static unsigned zeros_of_phi(LLVMValueRef phi, unsigned *steps) {
    unsigned zeros = LLVMCountIncoming(phi) > 0 ? 64 : 0;
    for (unsigned i = 0; i < LLVMCountIncoming(phi) && zeros; i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        bool is_step = LLVMIsABinaryOperator(value) && LLVMGetInstructionOpcode(value) == LLVMAdd &&
                       LLVMGetOperand(value, 0) == phi;
        zeros = least(zeros, zeros_of(is_step ? LLVMGetOperand(value, 1) : value, steps));
    }
    return zeros;
}

static unsigned zeros_of_instruction(LLVMValueRef value, unsigned *steps) {
    LLVMOpcode op = LLVMGetInstructionOpcode(value);
    if (op == LLVMPHI) return zeros_of_phi(value, steps);
    if (op == LLVMZExt || op == LLVMSExt || op == LLVMTrunc) {
        return zeros_of(LLVMGetOperand(value, 0), steps);
    }
    if (op == LLVMSelect) {
        return least(zeros_of(LLVMGetOperand(value, 1), steps),
                     zeros_of(LLVMGetOperand(value, 2), steps));
    }
    if (!LLVMIsABinaryOperator(value)) return 0;
    LLVMValueRef second = LLVMGetOperand(value, 1);
    unsigned a = zeros_of(LLVMGetOperand(value, 0), steps), b = zeros_of(second, steps);
    bool is_known = LLVMIsAConstantInt(second);
    unsigned by = is_known ? (unsigned)LLVMConstIntGetZExtValue(second) : 0;
    switch (op) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMXor:
    case LLVMURem: /* a less some multiple of b */
    case LLVMSRem:
        return least(a, b);
    case LLVMAnd:
        return a > b ? a : b;
    case LLVMMul:
        return a + b;
    case LLVMShl:
        return a + by;
    case LLVMLShr:
    case LLVMAShr:
        return is_known && a > by ? a - by : 0;
    default:
        return 0;
    }
}

static unsigned zeros_of(LLVMValueRef value, unsigned *steps) {
    if (LLVMIsAConstant(value)) return zeros_of_constant(value);
    if (*steps >= MOST_STEPS || !LLVMIsAInstruction(value)) return 0;
    ++*steps;
    unsigned zeros = zeros_of_instruction(value, steps);
    return zeros < 64 ? zeros : 64;
}

static unsigned zeros_of_bytes(unsigned long long bytes) {
    return bytes ? (unsigned)__builtin_ctzll(bytes) : 64;
}

/* Of an address: what it begins with, and what is added in elements. */
static unsigned zeros_of_pointer(gen *g, LLVMTargetDataRef layout, LLVMValueRef pointer,
                                 unsigned *steps) {
    if (LLVMIsAGlobalVariable(pointer)) return zeros_of_bytes(LLVMGetAlignment(pointer));
    if (LLVMIsAAllocaInst(pointer)) return zeros_of_bytes(LLVMGetAlignment(pointer));
    if (LLVMIsAArgument(pointer)) return MOST_ZEROS - 1; /* 64, as describe_pointer says */
    bool is_offset =
        LLVMIsAGetElementPtrInst(pointer) ||
        (LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr);
    if (!is_offset || LLVMGetNumOperands(pointer) != 2) return 0;
    unsigned long long bytes = LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(pointer));
    unsigned offset = zeros_of(LLVMGetOperand(pointer, 1), steps) + zeros_of_bytes(bytes);
    return least(zeros_of_pointer(g, layout, LLVMGetOperand(pointer, 0), steps), offset);
}

unsigned ptx_alignment(gen *g, LLVMValueRef pointer) {
    unsigned steps = 0;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(g->module);
    return 1u << least(zeros_of_pointer(g, layout, pointer, &steps), MOST_ZEROS);
}

static void align(gen *g, LLVMValueRef access, LLVMValueRef pointer) {
    unsigned known = ptx_alignment(g, pointer);
    if (LLVMGetAlignment(access) < known) LLVMSetAlignment(access, known);
}

void ptx_align(gen *g) {
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsALoadInst(i)) align(g, i, LLVMGetOperand(i, 0));
                if (LLVMIsAStoreInst(i)) align(g, i, LLVMGetOperand(i, 1));
            }
        }
    }
}
