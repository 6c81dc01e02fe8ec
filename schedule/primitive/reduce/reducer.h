/* schedule/primitive/reduce/reducer.h - what a reduction block does to its buffers in each step:
 * sum, product, min, max (the plain ones, and those that NaN stays in), two sums at once, or the
 * place and value of a maximum or minimum (argmax).
 *
 * A block of one buffer has one store in its init and one in its body. One of two buffers has two
 * stores in its init; its body names both new values before it stores them (T.let), at the same
 * indices.
 */
#ifndef HONE_SCHEDULE_PRIMITIVE_REDUCE_REDUCER_H
#define HONE_SCHEDULE_PRIMITIVE_REDUCE_REDUCER_H

#include "schedule/state/schedule_impl.h"

enum { SCH_REDUCER_BUFFERS = 2 };

typedef struct sch_reducer {
    uint32_t count; /* buffers */
    uint32_t form;  /* how values are combined: a FORM_ of reducer.c */
    hone_buffer buffers[SCH_REDUCER_BUFFERS];
    const hone_expr *identities[SCH_REDUCER_BUFFERS]; /* what init stores */
    const hone_expr *rhs[SCH_REDUCER_BUFFERS];        /* what each step combines with them */
    uint32_t rank;
    const hone_expr *const *indices; /* of all stores in the body */
} sch_reducer;

/* Finds out how the block reduces. ILLEGAL: it is none of these forms. */
HONE_NODISCARD hone_status sch_reducer_match(hone_schedule *sch, hone_node_id block,
                                             sch_reducer *out);
/* Gives a block without children the body buffers[i][indices] = buffers[i][indices] ⊕ rhs[i], ⊕
 * being the reducer's combination, and has_init: the init buffers[i][indices] = identity; without
 * one, the body only stores rhs[i]. Arrays of buffers and rhs: reducer->count entries. */
HONE_NODISCARD hone_status sch_reducer_fill(hone_schedule *sch, const sch_reducer *reducer,
                                            hone_node_id block, const hone_buffer *buffers,
                                            uint32_t rank, const hone_expr *const *indices,
                                            const hone_expr *const *rhs, bool has_init);

/* A reduction by one operation: init buffer[…] = identity; body buffer[…] = buffer[…] op rhs. */
typedef struct sch_one_reduction {
    hone_node_id init_store, store;
    hone_op op; /* ADD, MUL, MIN, MAX */
    const hone_expr *identity, *rhs;
    hone_buffer buffer;
} sch_one_reduction;
/* ILLEGAL unless the block is such a reduction, with the identity of the operation in its init. */
HONE_NODISCARD hone_status sch_match_one_reduction(hone_schedule *sch, hone_node_id block,
                                                   sch_one_reduction *out);

#endif
