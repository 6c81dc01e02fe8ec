/* schedule/primitive/tensor/tensor_match.h - whether a block is what a tensor intrinsic describes.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_TENSOR_TENSOR_MATCH_H
#define HONE_SCHEDULE_PRIMITIVE_TENSOR_TENSOR_MATCH_H

#include "schedule/state/schedule_impl.h"

/* Where a buffer of a description lies in a program: at base (one index per dimension of buffer,
 * over the block's axes), its dimensions being the last ones there. */
typedef struct tensor_place {
    hone_buffer buffer; /* HONE_NO_ID: not met */
    const hone_expr **base;
} tensor_place;

/* Is the body of the block what desc computes, on parts of the block's buffers? out: one place per
 * parameter of desc, in the arena. Else ILLEGAL with the first difference. */
HONE_NODISCARD hone_status tensor_match(hone_schedule *sch, hone_node_id block, const char *name,
                                        const hone_func *desc, tensor_place **out_places);

#endif
