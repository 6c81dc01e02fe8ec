/* codegen/llvm/partial.c - vectors that fill a part of a register, behind LLVM's passes.
 *
 * A vector of 14 floats computes in a register of 16, but LLVM would read and write it in pieces of
 * 8, 4 and 2, and take what is the same in all lanes for something else than the same in 16. Here
 * such vectors become whole ones, whose last lanes nobody looks at:
 *
 *   a = load <14 x float>        ──►   A = masked.load <16 x float>, first 14
 *   b = fmul a, splat <14>       ──►   B = fmul A, splat <16>
 *   store <14 x float> b         ──►   masked.store <16 x float> B, first 14
 *
 * Each whole value gets a narrow twin, a shuffle of its first lanes, for users that stay narrow: an
 * instruction that is not known here, or one that must not see any number (divisions of integers).
 * So is a store without AVX-512: a masked one of AVX2 takes some CPUs longer than all its pieces.
 *
 * It is done last, since what LLVM's passes know about plain loads and stores they do not know
 * about masked ones: promotion of local buffers to registers above all. */
#include <string.h>

#include "codegen/llvm/gen.h"

enum { MAX_PARTIAL = 64 };

static unsigned register_lanes(unsigned lanes) {
    unsigned power = lanes == 2 ? 4 : 1;
    while (power < lanes)
        power *= 2;
    return power;
}

/* Elements that parts of registers have: words, and conditions on them; bytes to doubles with
 * AVX-512. */
static bool has_parts(const gen *g, LLVMTypeRef element) {
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    unsigned bits = kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 0;
    if (kind == LLVMFloatTypeKind || bits == 32 || bits == 1) return true;
    bool is_other = kind == LLVMHalfTypeKind || kind == LLVMDoubleTypeKind || bits == 8 ||
                    bits == 16 || bits == 64;
    return is_other && hone_target_has_feature(g->target, "avx512vl") &&
           hone_target_has_feature(g->target, "avx512bw");
}

/* The lanes of a vector type that fills part of a register; 0 = another type. */
static unsigned partial_lanes(const gen *g, LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return 0;
    unsigned lanes = LLVMGetVectorSize(type);
    bool is_partial = lanes >= 2 && lanes <= MAX_PARTIAL && register_lanes(lanes) != lanes;
    return is_partial && has_parts(g, LLVMGetElementType(type)) ? lanes : 0;
}

static unsigned partial_lanes_of(const gen *g, LLVMValueRef value) {
    return partial_lanes(g, LLVMTypeOf(value));
}

static LLVMTypeRef whole_type(LLVMTypeRef type) {
    return LLVMVectorType(LLVMGetElementType(type), register_lanes(LLVMGetVectorSize(type)));
}

/* value with `to` lanes, of which the first ones are its own. */
static LLVMValueRef resize(gen *g, LLVMValueRef value, unsigned from, unsigned to) {
    LLVMValueRef picks[MAX_PARTIAL];
    for (unsigned i = 0; i < to; i++)
        picks[i] = i < from ? gen_i32(g, (int32_t)i) : LLVMGetPoison(g->i32);
    return LLVMBuildShuffleVector(g->builder, value, LLVMGetPoison(LLVMTypeOf(value)),
                                  LLVMConstVector(picks, to), "");
}

/* Is it the narrow twin of a whole value, its operand 0? */
static bool is_twin(const gen *g, LLVMValueRef value) {
    if (!LLVMIsAShuffleVectorInst(value)) return false;
    unsigned lanes = partial_lanes_of(g, value);
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(value, 0));
    if (!lanes || LLVMGetVectorSize(from) != register_lanes(lanes)) return false;
    for (unsigned i = 0; i < lanes; i++) {
        if (LLVMGetMaskValue(value, i) != (int)i) return false;
    }
    return true;
}

/* A constant; the lanes behind its own repeat its last one, so that what is a splat stays one. */
static LLVMValueRef whole_constant(LLVMValueRef value, unsigned lanes) {
    LLVMValueRef elements[MAX_PARTIAL];
    unsigned full = register_lanes(lanes);
    for (unsigned i = 0; i < full; i++) {
        elements[i] = LLVMGetAggregateElement(value, i < lanes ? i : lanes - 1);
        if (!elements[i]) return NULL; /* an expression */
    }
    return LLVMConstVector(elements, full);
}

/* The whole value of a partial one, where the builder stands; of others, themselves. */
static LLVMValueRef whole(gen *g, LLVMValueRef value) {
    unsigned lanes = partial_lanes_of(g, value);
    if (!lanes) return value;
    if (is_twin(g, value)) return LLVMGetOperand(value, 0);
    LLVMValueRef constant = LLVMIsAConstant(value) ? whole_constant(value, lanes) : NULL;
    return constant ? constant : resize(g, value, lanes, register_lanes(lanes));
}

/* ---- instructions, whole; NULL where one has to stay as it is ---- */

static LLVMValueRef first_lanes(gen *g, unsigned lanes) {
    LLVMValueRef bits[MAX_PARTIAL];
    unsigned full = register_lanes(lanes);
    for (unsigned i = 0; i < full; i++)
        bits[i] = LLVMConstInt(g->i1, i < lanes, 0);
    return LLVMConstVector(bits, full);
}

/* Two words, and conditions, are read and written as they are. */
static bool may_mask(const gen *g, LLVMTypeRef type) {
    unsigned lanes = partial_lanes(g, type);
    LLVMTypeRef element = lanes ? LLVMGetElementType(type) : NULL;
    bool is_bit = element && LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
                  LLVMGetIntTypeWidth(element) == 1;
    return lanes > 2 && !is_bit;
}

static LLVMValueRef whole_load(gen *g, LLVMValueRef load) {
    if (!may_mask(g, LLVMTypeOf(load)) || LLVMGetVolatile(load)) return NULL;
    LLVMTypeRef types[] = {whole_type(LLVMTypeOf(load)), g->ptr};
    LLVMValueRef args[] = {LLVMGetOperand(load, 0), gen_i32(g, (int32_t)LLVMGetAlignment(load)),
                           first_lanes(g, partial_lanes_of(g, load)), LLVMGetPoison(types[0])};
    return gen_intrinsic_of(g, "llvm.masked.load", types, 2, args, 4);
}

static void mask_store(gen *g, LLVMValueRef store) {
    LLVMValueRef value = LLVMGetOperand(store, 0);
    if (!may_mask(g, LLVMTypeOf(value)) || LLVMGetVolatile(store)) return;
    if (!hone_target_has_feature(g->target, "avx512vl")) return;
    LLVMPositionBuilderBefore(g->builder, store);
    LLVMTypeRef types[] = {whole_type(LLVMTypeOf(value)), g->ptr};
    LLVMValueRef args[] = {whole(g, value), LLVMGetOperand(store, 1),
                           gen_i32(g, (int32_t)LLVMGetAlignment(store)),
                           first_lanes(g, partial_lanes_of(g, value))};
    gen_intrinsic_of(g, "llvm.masked.store", types, 2, args, 4);
    LLVMInstructionEraseFromParent(store);
}

static LLVMValueRef whole_binary(gen *g, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    bool may_trap =
        opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem;
    if (may_trap) return NULL;
    return LLVMBuildBinOp(g->builder, opcode, whole(g, LLVMGetOperand(i, 0)),
                          whole(g, LLVMGetOperand(i, 1)), "");
}

/* Does a function of vectors work on each lane alone? */
static bool is_by_lane(unsigned id) {
    size_t length;
    const char *name = LLVMIntrinsicGetName(id, &length);
    bool mixes_lanes = strncmp(name, "llvm.vector.", 12) == 0 || strstr(name, "experimental");
    return LLVMIntrinsicIsOverloaded(id) && !mixes_lanes;
}

/* All operands must have the type of the result. */
static LLVMValueRef whole_call(gen *g, LLVMValueRef i) {
    LLVMValueRef args[4];
    LLVMTypeRef type = LLVMTypeOf(i);
    unsigned count = LLVMGetNumArgOperands(i), id = LLVMGetIntrinsicID(LLVMGetCalledValue(i));
    if (id == 0 || count == 0 || count > 4 || !is_by_lane(id)) return NULL;
    for (unsigned a = 0; a < count; a++) {
        if (LLVMTypeOf(LLVMGetOperand(i, a)) != type) return NULL;
    }
    for (unsigned a = 0; a < count; a++)
        args[a] = whole(g, LLVMGetOperand(i, a));
    type = whole_type(type);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, &type, 1);
    return LLVMBuildCall2(g->builder, LLVMIntrinsicGetType(g->context, id, &type, 1), function,
                          args, count, "");
}

static bool is_splat(LLVMValueRef shuffle) {
    for (unsigned k = 1; k < LLVMGetNumMaskElements(shuffle); k++) {
        if (LLVMGetMaskValue(shuffle, k) != LLVMGetMaskValue(shuffle, 0)) return false;
    }
    return true;
}

/* Lanes of the first operand, then those of the second, which begin later now. A splat stays one;
 * otherwise nothing is asked of the lanes behind the result's own. */
static LLVMValueRef whole_shuffle(gen *g, LLVMValueRef i) {
    LLVMValueRef picks[MAX_PARTIAL];
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0));
    unsigned lanes = LLVMGetNumMaskElements(i), partial = partial_lanes(g, LLVMTypeOf(i));
    unsigned full = partial ? register_lanes(lanes) : lanes, own = LLVMGetVectorSize(from);
    unsigned moved = partial_lanes(g, from) ? register_lanes(own) - own : 0;
    bool is_same = is_splat(i);
    if (full > MAX_PARTIAL) return NULL;
    for (unsigned k = 0; k < full; k++) {
        int pick = k < lanes || is_same ? LLVMGetMaskValue(i, k < lanes ? k : 0) : -1;
        if (pick >= (int)own) pick += (int)moved;
        picks[k] = pick < 0 ? LLVMGetPoison(g->i32) : gen_i32(g, pick);
    }
    return LLVMBuildShuffleVector(g->builder, whole(g, LLVMGetOperand(i, 0)),
                                  whole(g, LLVMGetOperand(i, 1)), LLVMConstVector(picks, full), "");
}

static LLVMValueRef whole_cast(gen *g, LLVMValueRef i) {
    LLVMValueRef from = LLVMGetOperand(i, 0);
    if (partial_lanes_of(g, from) != partial_lanes_of(g, i)) return NULL;
    return LLVMBuildCast(g->builder, LLVMGetInstructionOpcode(i), whole(g, from),
                         whole_type(LLVMTypeOf(i)), "");
}

static LLVMValueRef whole_instruction(gen *g, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    switch (opcode) {
    case LLVMLoad:
        return whole_load(g, i);
    case LLVMFNeg:
        return LLVMBuildFNeg(g->builder, whole(g, LLVMGetOperand(i, 0)), "");
    case LLVMFCmp:
        if (!partial_lanes_of(g, LLVMGetOperand(i, 0))) return NULL;
        return LLVMBuildFCmp(g->builder, LLVMGetFCmpPredicate(i), whole(g, LLVMGetOperand(i, 0)),
                             whole(g, LLVMGetOperand(i, 1)), "");
    case LLVMICmp:
        if (!partial_lanes_of(g, LLVMGetOperand(i, 0))) return NULL;
        return LLVMBuildICmp(g->builder, LLVMGetICmpPredicate(i), whole(g, LLVMGetOperand(i, 0)),
                             whole(g, LLVMGetOperand(i, 1)), "");
    case LLVMSelect:
        return LLVMBuildSelect(g->builder, whole(g, LLVMGetOperand(i, 0)),
                               whole(g, LLVMGetOperand(i, 1)), whole(g, LLVMGetOperand(i, 2)), "");
    case LLVMInsertElement:
        return LLVMBuildInsertElement(g->builder, whole(g, LLVMGetOperand(i, 0)),
                                      LLVMGetOperand(i, 1), LLVMGetOperand(i, 2), "");
    case LLVMShuffleVector:
        return whole_shuffle(g, i);
    case LLVMCall:
        return whole_call(g, i);
    default:
        if (LLVMIsABinaryOperator(i)) return whole_binary(g, i);
        return LLVMIsACastInst(i) ? whole_cast(g, i) : NULL;
    }
}

static void make_whole(gen *g, LLVMValueRef i) {
    if (LLVMGetInstructionOpcode(i) == LLVMStore) {
        mask_store(g, i);
        return;
    }
    unsigned lanes = partial_lanes_of(g, i);
    bool is_shuffle_of_partial =
        LLVMIsAShuffleVectorInst(i) && partial_lanes_of(g, LLVMGetOperand(i, 0));
    if ((!lanes && !is_shuffle_of_partial) || LLVMIsAPHINode(i) || is_twin(g, i)) return;
    LLVMPositionBuilderBefore(g->builder, i);
    LLVMValueRef made = whole_instruction(g, i);
    if (!made) return;
    if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(i) &&
        LLVMCanValueUseFastMathFlags(made)) {
        LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(i));
    }
    LLVMReplaceAllUsesWith(i, lanes ? resize(g, made, register_lanes(lanes), lanes) : made);
    LLVMInstructionEraseFromParent(i);
}

/* ---- values that come from several blocks ---- */

/* A whole one in front of each partial one, still without values. */
static void begin_phis(gen *g, LLVMBasicBlockRef block) {
    LLVMValueRef behind = LLVMGetFirstInstruction(block), next;
    while (LLVMIsAPHINode(behind))
        behind = LLVMGetNextInstruction(behind);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(block); LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        unsigned lanes = partial_lanes_of(g, phi);
        if (!lanes) continue;
        LLVMPositionBuilderBefore(g->builder, phi);
        LLVMValueRef made = LLVMBuildPhi(g->builder, whole_type(LLVMTypeOf(phi)), "");
        LLVMPositionBuilderBefore(g->builder, behind);
        LLVMReplaceAllUsesWith(phi, resize(g, made, register_lanes(lanes), lanes));
    }
}

/* What a phi has for a block already: a switch comes several times, with one value. */
static LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        if (LLVMGetIncomingBlock(phi, k) == block) return LLVMGetIncomingValue(phi, k);
    }
    return NULL;
}

/* The values; the partial ones go. */
static void end_phis(gen *g, LLVMBasicBlockRef block) {
    LLVMValueRef next;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(block); phi && LLVMIsAPHINode(phi);
         phi = next) {
        next = LLVMGetNextInstruction(phi);
        if (!partial_lanes_of(g, phi)) continue;
        LLVMValueRef made = LLVMGetPreviousInstruction(phi);
        for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
            LLVMPositionBuilderBefore(g->builder, LLVMGetBasicBlockTerminator(from));
            LLVMValueRef value = incoming_from(made, from);
            if (!value) value = whole(g, LLVMGetIncomingValue(phi, k));
            LLVMAddIncoming(made, &value, &from, 1);
        }
        LLVMInstructionEraseFromParent(phi);
    }
}

static void widen_function(gen *g, LLVMValueRef function) {
    LLVMBasicBlockRef b;
    LLVMValueRef next;
    for (b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        begin_phis(g, b);
    for (b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
            next = LLVMGetNextInstruction(i);
            make_whole(g, i);
        }
    }
    for (b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        end_phis(g, b);
}

void gen_widen_partial(gen *g) {
    if (!hone_target_has_feature(g->target, "avx2")) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        widen_function(g, f);
}
