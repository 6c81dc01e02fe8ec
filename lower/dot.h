/* lower/dot.h - a sum of products that lower_dot found; inside lower/ only. */
#ifndef HONE_LOWER_DOT_H
#define HONE_LOWER_DOT_H

#include "lower/passes.h"

typedef struct lower_dot_match {
    hone_lower *lower;
    hone_arith *arith;
    hone_node_id outer; /* what is replaced: the loop over k, or over j when there is none */
    hone_node_id lanes; /* the loop over j */
    hone_node_id steps; /* the loop over k, or HONE_NO_ID */
    hone_node_id store;
    int group;                  /* products that are summed: 4 of bytes, or 2 */
    int64_t count;              /* of lanes */
    const hone_expr *a, *b, *c; /* indices of the first elements */
    hone_buffer a_buffer, b_buffer;
    bool a_moves;
    bool is_float; /* of bfloat16, summed in float32 */
} lower_dot_match;

/* So many lanes of a buffer from here on; NULL in gives NULL out. */
const hone_expr *lower_dot_load(const lower_dot_match *d, hone_buffer buffer,
                                const hone_expr *start, int64_t lanes);

/* lower_dot_signed.c: makes room for A to be raised by 128, where both are signed and that pays;
 * the loops of the match are still there. b, c: where B and C begin, without those loops. */
HONE_NODISCARD hone_status lower_dot_raise(const lower_dot_match *d, const hone_expr *b,
                                           const hone_expr *c, bool *out_raised);

#endif
