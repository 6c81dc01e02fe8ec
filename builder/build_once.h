/* builder/build_once.h - what a program computes of constants alone, apart from the rest of it: two
 * lowered programs, and how one kernel is made of them (codegen/llvm/once.c).
 *
 * So the time of a candidate is what it takes in a model, where weights are laid out when it is
 * compiled. */
#ifndef HONE_BUILDER_BUILD_ONCE_H
#define HONE_BUILDER_BUILD_ONCE_H

#include "codegen/codegen.h"
#include "lower/ground/lower.h"

typedef struct hone_build_once {
    hone_codegen_kernel kernels[2]; /* what is done once, and the rest */
    hone_codegen_once once;
} hone_build_once;

/* Splits a program without open sizes whose buffer parameters of these bits are constants, and
 * lowers both parts. distance: what is touched between two uses of what is kept, so that it lies at
 * as many places (measure/build.h). *out: in the arena; NULL when nothing depends on constants
 * alone, or it is too large to be kept. entry: the symbol of the whole. Fails as hone_lower_func
 * does. */
HONE_NODISCARD hone_status hone_build_once_split(const hone_func *func, uint64_t constants,
                                                 int64_t distance, const char *entry,
                                                 const hone_lower_options *options,
                                                 hone_arena *arena, const hone_build_once **out);

#endif
