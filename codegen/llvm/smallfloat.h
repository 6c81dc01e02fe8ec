/* codegen/llvm/smallfloat.h - conversions between float and the floats of 16 bits and
 * less. */
#ifndef HONE_CODEGEN_LLVM_SMALLFLOAT_H
#define HONE_CODEGEN_LLVM_SMALLFLOAT_H

#include "codegen/llvm/gen.h"

LLVMTypeRef gen_stored_half(const gen *g); /* half, or i16 where that is better */
LLVMValueRef gen_f16_to_f32(gen *g, LLVMValueRef half, unsigned lanes);
LLVMValueRef gen_f32_to_f16(gen *g, LLVMValueRef value, unsigned lanes);
/* bfloat16 is an integer of 16 bits; shorter ones have a byte each. */
LLVMValueRef gen_small_to_f32(gen *g, hone_dtype dtype, LLVMValueRef bits);
LLVMValueRef gen_f32_to_small(gen *g, hone_dtype dtype, LLVMValueRef value);

#endif
