/* ir/arith/itermap_impl.h - what the files of the iterator maps share. */
#ifndef HONE_IR_ARITH_ITERMAP_IMPL_H
#define HONE_IR_ARITH_ITERMAP_IMPL_H

#include "ir/arith/arith_impl.h"
#include "ir/arith/itermap.h"

/* A sum of splits in the making. */
typedef struct imap_sum {
    arith_sum base;
    uint32_t count, capacity;
    hone_iter_split *splits;
} imap_sum;

/* lower <= sum of scale * (loop - its min) <= upper, from the predicate; NULL = no such end. */
typedef struct imap_constraint {
    uint32_t count;
    hone_iter_split *splits;
    const hone_expr *lower, *upper;
    const hone_iter_source *source; /* the constrained number, once a map uses it */
    const hone_expr *source_min;
} imap_constraint;

typedef struct imap {
    hone_arith *a;
    uint32_t iter_count;
    const hone_iter *iters;
    hone_dtype dtype;
    hone_iter_source *loops; /* one per iter; extent NULL for a unit loop that counts as constant */
    const hone_expr **loop_mins;
    uint32_t predicate_pass; /* 0: bounds on one loop shrink it; n: bounds on sums of n loops */
    uint32_t most_loops;     /* in a sum that a condition bounds */
    uint32_t shorter_count;  /* of the constraints, those on fewer loops: the first ones */
    hone_iter_source **fused;
    uint32_t fused_count, fused_capacity;
    imap_constraint *constraints;
    uint32_t constraint_count, constraint_capacity;
    bool predicate_is_lost; /* part of the predicate is no bound on a sum of loops */
    bool is_empty;
    const char *reason;
    uint32_t failed_index;
} imap;

/* Exact integers of extents, scales and divisors; symbolic ones go through the simplifier. */
const hone_expr *imap_mul(imap *m, const hone_expr *x, const hone_expr *y);
const hone_expr *imap_ceildiv(imap *m, const hone_expr *x, const hone_expr *y);
bool imap_equal(imap *m, const hone_expr *x, const hone_expr *y);
bool imap_less_equal(imap *m, const hone_expr *x, const hone_expr *y);
bool imap_is_one(const hone_expr *e);
/* x / y when y surely divides x */
bool imap_divide(imap *m, const hone_expr *x, const hone_expr *y, const hone_expr **out);
const hone_expr *imap_int(imap *m, int64_t value);

/* Index of the loop of this variable, or -1. */
int64_t imap_loop_of(const imap *m, hone_var var);
bool imap_uses_loops(const imap *m, const hone_expr *e);

void imap_sum_init(imap_sum *s);
bool imap_add_split(imap *m, imap_sum *s, hone_iter_split split);
/* Where a digit ends: source % end // lower. Nothing of its source lies above one that reaches the
 * top. */
const hone_expr *imap_end_of(imap *m, const hone_iter_split *digit);
bool imap_reaches_top(imap *m, const hone_iter_split *x);
/* The same digit of the same source, whatever its scale. */
bool imap_same_split(const hone_iter_split *x, const hone_iter_split *y);
/* Largest scale first; false when two scales cannot be compared. */
bool imap_sort_splits(imap *m, hone_iter_split *splits, uint32_t count);
/* The splits, sorted, form a number without gaps: scale_k = scale_k+1 * extent_k+1. */
bool imap_is_compact(imap *m, const hone_iter_split *splits, uint32_t count);
/* An index as a sum of splits. False: m->reason says why not. */
bool imap_parse(imap *m, const hone_expr *e, imap_sum *out);
/* Reads the predicate into constraints. False when memory is short. */
bool imap_read_predicate(imap *m, const hone_expr *predicate);
/* Joins splits that stand together under a constraint into its constrained number, or the quotient
 * of that. modulus (0 = none): the sum counts modulo this only. */
bool imap_apply_constraints(imap *m, imap_sum *s, int64_t modulus);
/* Digits of loops whose constrained number the map uses become digits of that number. */
bool imap_turn_digits(imap *m, uint32_t count, hone_iter_sum *sums);
/* Digits of parts of the largest number in the map become digits of that number. Is the map another
 * one then? */
bool imap_gather_digits(imap *m, uint32_t count, hone_iter_sum *sums);
/* A number made of splits (sorted, compact, last scale 1): finds or makes the source. */
const hone_iter_source *imap_fuse(imap *m, const hone_iter_split *splits, uint32_t count,
                                  const hone_expr *extent, const hone_expr *min);
/* Does the map have the level? */
bool imap_check(imap *m, const hone_itermap *map, hone_itermap_level level);

#endif
