/* lower/signature/split_constants.h - what a program computes of its constant parameters alone,
 * apart.
 *
 *   main(X, W, Y):                            constants(W, P):
 *     P = alloc                                 for …: P[…] = W[…]
 *     for …: P[…] = W[…]              ⇒       rest(X, Y, P):
 *     for …: Y[…] += X[…] * P[…]                for …: Y[…] += X[…] * P[…]
 *
 * so that weights are laid out (or transformed) once, when a model is compiled. Whole nests of the
 * root block move, in their order: those that read constants, and buffers that only such nests
 * write. A nest that waits on anything else, has effects or memory of its own stays. What is packed
 * has the type that lowering gives it (lower/dot/widen_copies.h); for CPUs float32 of short floats
 * that are read often, unless those are many.
 *
 * Lifetime: results share parts of the program that was split, whose arena must outlive them.
 */
#ifndef HONE_LOWER_SIGNATURE_SPLIT_CONSTANTS_H
#define HONE_LOWER_SIGNATURE_SPLIT_CONSTANTS_H

#include "ir/core/func.h"

typedef struct hone_constant_split {
    const hone_func
        *constants;        /* parameters: inputs, then outputs; NULL = there is nothing to do */
    const hone_func *rest; /* parameters: those of the program that it still needs, outputs */
    uint32_t input_count;
    const uint32_t *inputs; /* per input: which buffer parameter of the program it was */
    uint32_t output_count;
    const hone_buffer *outputs; /* in both functions */
    uint32_t arg_count;
    const int32_t *args; /* per buffer parameter of rest: that of the program, or -1 - output */
} hone_constant_split;

/* is_constant: per buffer parameter. Works before and after scheduling; not on lowered programs,
 * which come back unsplit. NO_MEMORY is the only failure. */
HONE_NODISCARD hone_status hone_split_constants(const hone_func *func, const bool *is_constant,
                                                hone_arena *arena, hone_constant_split *out_split);

#endif
