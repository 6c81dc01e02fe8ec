/* schedule/primitive/tensor/tensor_match.h - does a block compute what a tensor intrinsic
 * describes? */
#ifndef HONE_SCHEDULE_PRIMITIVE_TENSOR_TENSOR_MATCH_H
#define HONE_SCHEDULE_PRIMITIVE_TENSOR_TENSOR_MATCH_H

#include "schedule/state/schedule_impl.h"

/* Where in the program a buffer of a description lies: it is the part of `buffer` that begins at
 * `base` (one index per dimension of buffer, over the block's axes), its dimensions being the last
 * ones of buffer. */
typedef struct tensor_place {
    hone_buffer buffer; /* HONE_NO_ID: not met */
    const hone_expr **base;
} tensor_place;

/* Compares the body of the block with desc, the description of the intrinsic `name`. out_places: by
 * parameter of desc, where it lies; in the arena. ILLEGAL, with the first difference, where they do
 * not compute the same. */
HONE_NODISCARD hone_status tensor_match(hone_schedule *sch, hone_node_id block, const char *name,
                                        const hone_func *desc, tensor_place **out_places);

#endif
