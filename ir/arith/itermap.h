/* ir/arith/itermap.h - quasi-affine iterator maps: is this tuple of index expressions a bijection
 * of the loops, and how does one go back?
 *
 * Each index is brought to a sum of splits  base + sum scale_k * ((source_k // lower_k) % extent_k)
 * where a source is a loop variable, or a fused sum of splits that forms one mixed-radix number.
 * Scales are positive: what runs backwards, 7 - i, is a number of its own, fused of one split with
 * the scale -1.
 * The theory is that of TVM's DetectIterMap (arith/iter_affine_map): two splits of one source must
 * not overlap, and for a bijection must cover it.
 *
 * Memory comes from the arena of the arith context. Thread-compatible.
 */
#ifndef HONE_IR_ARITH_ITERMAP_H
#define HONE_IR_ARITH_ITERMAP_H

#include "ir/arith/arith.h"

typedef enum hone_itermap_level {
    HONE_ITERMAP_NONE,       /* only that each index is a sum of splits */
    HONE_ITERMAP_INJECTIVE,  /* independent: no two loop points give the same index tuple */
    HONE_ITERMAP_SURJECTIVE, /* indices run over their full mixed-radix range; loops may repeat */
    HONE_ITERMAP_BIJECTIVE,
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
    bool is_fused; /* sum: a mixed-radix number made of other splits; else a loop variable */
    hone_var var;  /* loop: the number is var - min; HONE_NO_ID when fused */
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

/* predicate (NULL = true): conjunction of comparisons that bound sums, as split leaves behind.
 * Returns true when the map has the level asked for. When false, out->reason says why (a static
 * string or one in the arena). Fast when every index is a plain variable or an affine sum with
 * constant extents. trivial: loops of extent 1 count as the constant min. */
bool hone_itermap_detect(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                         uint32_t iter_count, const hone_iter *iters, const hone_expr *predicate,
                         hone_itermap_level level, bool trivial, hone_itermap *out);
/* The index expressions again, from the sums, simplified by what the map knows. */
const hone_expr *hone_iter_sum_expr(hone_arith *arith, const hone_iter_sum *sum, hone_dtype dtype);
/* TVM's IterMapSimplify: rewrites the indices when each is a sum of splits, else returns them
 * simplified one by one. Loops of extent 1 stay in them where arith->keeps_units. out has room for
 * count. */
void hone_itermap_simplify(hone_arith *arith, uint32_t count, const hone_expr *const *indices,
                           uint32_t iter_count, const hone_iter *iters, const hone_expr *predicate,
                           const hone_expr **out);
/* For a bijective map: the value of each loop variable from given index values. out[k] is for
 * iters[k] of the detection; NULL where the map says nothing of it. False when not invertible. */
bool hone_itermap_inverse(hone_arith *arith, const hone_itermap *map,
                          const hone_expr *const *index_values, uint32_t iter_count,
                          const hone_iter *iters, const hone_expr **out);
/* The same for an injective map whose indices may take values that no loop point gives, because the
 * digits of a loop have room for more than it has iterations: padding. out_padding (NULL = there is
 * none): the condition that the index values are of this kind. False also where an index has gaps
 * in its range other than at the end. */
bool hone_itermap_inverse_padded(hone_arith *arith, const hone_itermap *map,
                                 const hone_expr *const *index_values, uint32_t iter_count,
                                 const hone_iter *iters, const hone_expr **out,
                                 const hone_expr **out_padding);
/* Detects a bijection; where there is none, an injective map whose loops are lengthened until every
 * digit that it takes of them runs over all of its values (127 becomes 128 where the map takes
 * i // 16 and i % 16) and it is one. *out_iters: the loops given, or the longer ones (in the
 * arena). */
bool hone_itermap_detect_lengthened(hone_arith *arith, uint32_t count,
                                    const hone_expr *const *indices, uint32_t iter_count,
                                    const hone_iter *iters, const hone_iter **out_iters,
                                    hone_itermap *out);

#endif
