/* lower/signature/signature.h - how a PrimFunc's parameters become a kernel's arguments
 * (runtime/model/abi.h).
 *
 * buffers[]: the buffer parameters in order. sizes[]: walking the parameters in order, each scalar
 * parameter, and of each buffer every variable that stands alone as an extent, a stride or the
 * element offset, at its first appearance. A float scalar travels as the bits of a double.
 */
#ifndef HONE_LOWER_SIGNATURE_SIGNATURE_H
#define HONE_LOWER_SIGNATURE_SIGNATURE_H

#include "ir/core/func.h"

typedef enum hone_param_role {
    HONE_PARAM_IN,    /* never written */
    HONE_PARAM_OUT,   /* surely written as a whole, and never read before that */
    HONE_PARAM_INOUT, /* anything else */
} hone_param_role;

typedef struct hone_signature {
    uint32_t buffer_count, size_count;
    const hone_buffer *buffers;
    const hone_param_role *roles; /* per buffer */
    const hone_var *sizes;
    uint32_t extern_count;
    const char *const *externs; /* names of external functions that are called, each once */
} hone_signature;

/* Of a program before lowering. NO_MEMORY; INVALID for a handle parameter without a buffer. */
HONE_NODISCARD hone_status hone_signature_of(const hone_func *func, hone_arena *arena,
                                             hone_signature *out_signature);

/* Whether the role of a parameter, which has a buffer, is HONE_PARAM_OUT. NO_MEMORY. */
HONE_NODISCARD hone_status hone_writes_whole(const hone_func *func, uint32_t param, bool *out_does);

#endif
