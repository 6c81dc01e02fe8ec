/* lower/signature/filled_boxes.h - which boxes of a buffer are surely written; inside this folder
 * only.
 *
 * What a store writes, with the loops and conditions around it, is a box where the iterator map of
 * its indices says so; adjacent boxes make larger ones. Loops outside of the node asked about
 * are symbols: the box is what one of their iterations writes. Memory: the arena of the function.
 */
#ifndef HONE_LOWER_SIGNATURE_FILLED_BOXES_H
#define HONE_LOWER_SIGNATURE_FILLED_BOXES_H

#include "ir/arith/itermap.h"
#include "lower/ground/accesses.h"
#include "support/data/tensor.h"

enum { LOWER_MAX_BOXES = 64 }; /* what is written beyond them counts for nothing */

typedef struct lower_box {
    const hone_expr *begin[HONE_MAX_RANK], *end[HONE_MAX_RANK]; /* end is not inside */
} lower_box;

typedef struct lower_filling {
    hone_lower *lower;
    hone_arith arith; /* the loops of the program are bound */
    hone_buffer buffer;
    uint32_t rank;
    lower_box *boxes; /* what is written */
    uint32_t count;
} lower_filling;

/* Nothing is written yet. NO_MEMORY only. */
HONE_NODISCARD hone_status lower_filling_begin(lower_filling *f, hone_lower *lower,
                                               hone_buffer buffer);
/* What a store below root writes in one run of root. */
void lower_fill(lower_filling *f, hone_node_id root, const lower_access *store);
/* What a store below a loop has written in the iterations before the present one. */
void lower_fill_before(lower_filling *f, hone_node_id loop, const lower_access *store);
/* The element at these indices, constants or loop variables, is surely written. */
bool lower_is_element_filled(lower_filling *f, const hone_expr *const *indices);
/* All of the buffer is surely written. */
bool lower_is_filled(lower_filling *f);

#endif
