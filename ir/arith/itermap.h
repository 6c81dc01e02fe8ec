/* ir/arith/itermap.h - quasi-affine iterator maps (TVM: arith/iter_affine_map): is this tuple of
 * index expressions injective or bijective in the loops, and what is its inverse?
 *
 * Each index is written as a base plus a sum of splits, scale * ((source // lower) % extent). A
 * split is a digit of its source, which is a loop variable, or a fused number: a sum of splits that
 * forms one mixed-radix number.
 *
 *     i // 4, i % 4            two digits of i: (i // 4) % 8 and (i // 1) % 4, for i < 32
 *     (i * 8 + j) // 6         one digit of a fused number of i and j
 *
 * Scales are positive: 7 - i, which runs backwards, is a fused number of one split with the scale
 * -1. Two splits of one source must not overlap; for a bijection they must cover it.
 *
 * Memory comes from the arena of the arith context. Thread-compatible.
 */
#ifndef HONE_IR_ARITH_ITERMAP_H
#define HONE_IR_ARITH_ITERMAP_H

#include "ir/arith/arith.h"

typedef enum hone_itermap_level {
    HONE_ITERMAP_NONE,       /* each index is a sum of splits, no more is asked */
    HONE_ITERMAP_INJECTIVE,  /* no two points of the loops give the same tuple of indices */
    HONE_ITERMAP_SURJECTIVE, /* every tuple of the indices' ranges comes; loops may repeat some */
    HONE_ITERMAP_BIJECTIVE,  /* both */
} hone_itermap_level;

/* A loop variable and its range. */
typedef struct hone_iter {
    hone_var var;
    hone_range range;
} hone_iter;

typedef struct hone_iter_source hone_iter_source;

/* scale * ((source // lower) % extent); extent may be symbolic */
typedef struct hone_iter_split {
    const hone_iter_source *source;
    const hone_expr *lower, *extent, *scale;
} hone_iter_split;

/* base + sum of splits, largest scale first */
typedef struct hone_iter_sum {
    const hone_expr *base;
    uint32_t count;
    hone_iter_split *splits;
} hone_iter_sum;

/* A number from 0 to extent - 1. */
struct hone_iter_source {
    bool is_fused; /* a mixed-radix number made of other splits, sum; else a loop variable, var */
    hone_var var;  /* the number is var - min; HONE_NO_ID when fused */
    const hone_expr *var_expr, *min;
    hone_iter_sum sum;
    const hone_expr *extent;
};

typedef struct hone_itermap {
    uint32_t count;
    hone_iter_sum *sums;   /* one per index */
    const char *reason;    /* when detection failed: why, else NULL */
    uint32_t failed_index; /* which index */
} hone_itermap;

/* Writes `count` indices over the iterators as sums of splits. predicate (NULL = true): a
 * conjunction of comparisons that bound sums of iterators, as split leaves them behind. trivial:
 * iterators of extent 1 count as the constant min. Returns whether the map has the level asked for;
 * if not, out->reason says why (static or in the arena). Fast where every index is a variable or an
 * affine sum with constant extents. */
bool hone_itermap_detect(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                         uint32_t iter_count, const hone_iter *iters, const hone_expr *predicate,
                         hone_itermap_level level, bool trivial, hone_itermap *out);
/* Different values of the iterators give different indices: the map is an injective one. */
bool hone_itermap_is_injective(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                               uint32_t iter_count, const hone_iter *iters);
/* The sum as an expression again, simplified by what the map knows. */
const hone_expr *hone_iter_sum_expr(hone_arith *arith, const hone_iter_sum *sum, hone_dtype dtype);
/* TVM's IterMapSimplify: out[i] is index i rewritten by its sum of splits, if all indices have one;
 * else each is simplified by itself. Iterators of extent 1 stay where arith->keeps_units. out has
 * room for count. */
void hone_itermap_simplify(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                           uint32_t iter_count, const hone_iter *iters, const hone_expr *predicate,
                           const hone_expr **out);
/* Solves a bijective map: out[k] is the value of iters[k] (those of the detection) at the given
 * index values; NULL where the map does not depend on it. False where it is not invertible. */
bool hone_itermap_inverse(hone_arith *arith, const hone_itermap *map,
                          const hone_expr *const *index_values, uint32_t iter_count,
                          const hone_iter *iters, const hone_expr **out);
/* hone_itermap_inverse for an injective map with padding: the digits of a loop may have room for
 * more values than it has iterations, so some index values belong to no point of the loops.
 * out_padding: the condition that the given ones do (NULL: none does). False also where an index
 * leaves out values other than at the end of its range. */
bool hone_itermap_inverse_padded(hone_arith *arith, const hone_itermap *map,
                                 const hone_expr *const *index_values, uint32_t iter_count,
                                 const hone_iter *iters, const hone_expr **out,
                                 const hone_expr **out_padding);
/* hone_itermap_detect of a bijection, or of one over longer loops: where the map is injective, its
 * loops are lengthened until each digit runs over all of its values (127 becomes 128 where the
 * indices are i // 16 and i % 16). out_iters: the loops given, or the longer ones, in the arena.
 * False where that makes no bijection. */
bool hone_itermap_detect_lengthened(hone_arith *arith, uint32_t count,
                                    const hone_expr *const *indices, uint32_t iter_count,
                                    const hone_iter *iters, const hone_iter **out_iters,
                                    hone_itermap *out);

#endif
