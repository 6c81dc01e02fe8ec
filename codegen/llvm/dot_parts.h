/* codegen/llvm/dot_parts.h - sums of products of small numbers, between dot.c and its kinds of CPU.
 */
#ifndef HONE_CODEGEN_LLVM_DOT_PARTS_H
#define HONE_CODEGEN_LLVM_DOT_PARTS_H

#include "codegen/llvm/gen.h"

enum { GEN_DOT_MAX_PICKS = 256 };

/* One register's part of a dot4 or dot2. */
typedef struct gen_dots {
    gen *g;
    unsigned lanes;
    unsigned group; /* products per lane */
    bool a_signed, b_signed;
} gen_dots;

/* count elements of x from start on. */
LLVMValueRef gen_dot_lanes(const gen_dots *d, LLVMValueRef x, unsigned start, unsigned count);

/* dot_neon.c: c plus the products of a and b, in four lanes; of integers. */
LLVMValueRef gen_dot_neon(const gen_dots *d, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);

#endif
