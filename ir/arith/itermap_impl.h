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

/* A conjunct of the predicate: lower <= sum of scale * (loop - its min) <= upper; NULL = no such
 * end. Where indices contain this sum, its possible values are a number of their own, the
 * constrained number: i * 8 + j < 60. */
typedef struct imap_constraint {
    uint32_t count;
    hone_iter_split *splits;
    const hone_expr *lower, *upper;
    const hone_iter_source *source; /* the constrained number minus source_min, once it is used */
    const hone_expr *source_min;
} imap_constraint;

/* The detection of one map. */
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

/* Arithmetic on extents, scales and divisors: integers are computed, other expressions simplified;
 * equal, less_equal: proved. */
const hone_expr *imap_mul(imap *m, const hone_expr *x, const hone_expr *y);
const hone_expr *imap_ceildiv(imap *m, const hone_expr *x, const hone_expr *y);
bool imap_equal(imap *m, const hone_expr *x, const hone_expr *y);
bool imap_less_equal(imap *m, const hone_expr *x, const hone_expr *y);
bool imap_is_one(const hone_expr *e);
/* out = x / y; false where y is not shown to divide x. */
bool imap_divide(imap *m, const hone_expr *x, const hone_expr *y, const hone_expr **out);
const hone_expr *imap_int(imap *m, int64_t value);

/* The index of the loop with this variable, or -1. */
int64_t imap_loop_of(const imap *m, hone_var var);
/* The expression uses a loop of the map. */
bool imap_uses_loops(const imap *m, const hone_expr *e);

/* A sum of no digits. */
void imap_sum_init(imap_sum *s);
/* Adds a digit to the sum, to its scale where the sum has it already. False: it has no value (the
 * reason is noted), or memory is short. */
bool imap_add_split(imap *m, imap_sum *s, hone_iter_split split);
/* Where a digit ends in its source, source % end // lower: lower * extent. */
const hone_expr *imap_end_of(imap *m, const hone_iter_split *digit);
/* The digit is the highest of its source: nothing of the source lies above its end. */
bool imap_reaches_top(imap *m, const hone_iter_split *x);
/* They are one digit of one source; scales may differ. */
bool imap_same_split(const hone_iter_split *x, const hone_iter_split *y);
/* Sorts by scale, largest first; false when two scales cannot be compared. */
bool imap_sort_splits(imap *m, hone_iter_split *splits, uint32_t count);
/* The sorted splits form a mixed-radix number without gaps: scale_k = scale_k+1 * extent_k+1. */
bool imap_is_compact(imap *m, const hone_iter_split *splits, uint32_t count);
/* Writes an index as a sum of splits. False: m->reason says why not. */
bool imap_parse(imap *m, const hone_expr *e, imap_sum *out);
/* Reads the predicate into m->constraints. False when memory is short. */
bool imap_read_predicate(imap *m, const hone_expr *predicate);
/* Replaces splits that together are the sum of a constraint by its constrained number, or by a
 * quotient of that. modulus (0 = none): the sum matters modulo this only. False: m->reason says
 * why. */
bool imap_apply_constraints(imap *m, imap_sum *s, int64_t modulus);
/* Where the map uses the constrained number of some loops, turns digits of these loops into digits
 * of that number. False: m->reason says why. */
bool imap_turn_digits(imap *m, uint32_t count, hone_iter_sum *sums);
/* Turns digits of parts of the largest number in the map into digits of that number. Returns
 * whether the map has changed. */
bool imap_gather_digits(imap *m, uint32_t count, hone_iter_sum *sums);
/* The source that is the number of these splits (sorted, compact, the last scale being 1), found or
 * made; NULL when memory is short. */
const hone_iter_source *imap_fuse(imap *m, const hone_iter_split *splits, uint32_t count,
                                  const hone_expr *extent, const hone_expr *min);
/* The map has the level; if not, m->reason says why. */
bool imap_check(imap *m, const hone_itermap *map, hone_itermap_level level);

#endif
