/* ir/ops/graph_einsum.h - equations of Einstein sums ("ij,jk->ik"): which dimension of which
 * operand runs with which.
 *
 * A label is a number: of a letter, or of one of the dimensions that "..." stands for. Threads:
 * plain values.
 */
#ifndef HONE_IR_OPS_GRAPH_EINSUM_H
#define HONE_IR_OPS_GRAPH_EINSUM_H

#include <stdint.h>

#include "support/data/tensor.h"

enum { HONE_EINSUM_MAX_OPERANDS = 16, HONE_EINSUM_LABELS = 52 + HONE_MAX_RANK };

typedef struct hone_einsum {
    uint32_t count; /* of operands */
    uint32_t ranks[HONE_EINSUM_MAX_OPERANDS];
    uint8_t labels[HONE_EINSUM_MAX_OPERANDS][HONE_MAX_RANK]; /* of each dimension */
    uint32_t out_rank;
    uint8_t out[HONE_MAX_RANK];
} hone_einsum;

/* Reads an equation for operands of these ranks, blanks left out; without "->" the result has the
 * dimensions of "...", then the letters that are there once, in their order. Returns NULL, or what
 * is wrong with it, for a message. */
const char *hone_einsum_parse(const char *equation, uint32_t count, const int32_t *ranks,
                              hone_einsum *out);

#endif
