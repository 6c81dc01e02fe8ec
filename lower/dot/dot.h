/* lower/dot/dot.h - a sum of products that lower_dot found; inside lower/ only. */
#ifndef HONE_LOWER_DOT_DOT_H
#define HONE_LOWER_DOT_DOT_H

#include "lower/ground/lanes.h"

typedef struct lower_dot_copy lower_dot_copy; /* lower_dot_raise.c */

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
    /* What is added with each product, as (A - x) * (B - y) has it: A * a_scale, B * b_scale, rest;
     * NULL = 0. They may be computed anywhere in the function. */
    const hone_expr *a_scale, *b_scale, *rest;
    bool a_moves;
    bool is_float;                    /* of bfloat16, summed in float32 */
    const lower_dot_copy **io_copies; /* those that were made in this function */
} lower_dot_match;

/* The operand of dot4 or dot2 for `lanes` sums: group elements of the buffer for each, consecutive
 * from `start` on; bytes are widened to 16 bits for dot2. NULL where start is NULL or memory is
 * short. */
const hone_expr *lower_dot_side(const lower_dot_match *d, hone_buffer buffer,
                                const hone_expr *start, int64_t lanes);
/* Such an operand with ones in it; for dot4 they are unsigned bytes where is_unsigned. */
const hone_expr *lower_dot_ones(const lower_dot_match *d, bool is_unsigned, int64_t lanes);

/* lower_dot_offset.c: adds up B in front of the loops and begins the sums with what b_scale makes
 * of that, less what raising A by 128 adds, where that pays; the loops of the match are still
 * there. b, c: where B and C begin, without those loops. */
HONE_NODISCARD hone_status lower_dot_begin(const lower_dot_match *d, const hone_expr *b,
                                           const hone_expr *c, bool is_raised, bool *out_begun);

/* Whether a buffer may be written below a node, or is allocated there. */
bool lower_dot_is_changed(const hone_func *func, hone_node_id root, hone_buffer buffer);

/* lower_dot_raise.c: a copy of A whose bytes are raised by 128, at the indices of A; HONE_NO_ID
 * where that does not pay. */
HONE_NODISCARD hone_status lower_dot_raise(const lower_dot_match *d, hone_buffer *out_raised);

#endif
