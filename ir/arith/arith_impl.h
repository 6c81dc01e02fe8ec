/* ir/arith/arith_impl.h - what the files of the arithmetic share; everybody else includes
 * ir/arith/arith.h.
 *
 * The work is done on sums: constant + sum of coeff * term, a term being a variable, a product of
 * terms, or any other non-linear expression in canonical form. A sum that would leave int64 (or
 * the dtype that it is for) is `failed`: its user then leaves the expression as it was.
 * A sum refers to itself and is never copied by assignment.
 */
#ifndef HONE_IR_ARITH_ARITH_IMPL_H
#define HONE_IR_ARITH_ARITH_IMPL_H

#include "ir/arith/arith.h"
#include "ir/core/fold.h"

enum {
    ARITH_LOCAL_TERMS = 12, /* terms of a sum before it spills to the arena */
    ARITH_MAX_DEPTH = 400,  /* nesting that is simplified; below it, expressions stay as written */
    ARITH_MAX_PRODUCT = 36, /* products of sums are expanded up to this number of terms */
    ARITH_MAX_FACTORS = 12,
    ARITH_FUEL = 20000,     /* nodes looked at by one simplification */
    ARITH_PROOF_FUEL = 160, /* sums looked at by one proof */
    ARITH_QUICK_FUEL = 24,  /* the same, for a comparison met while simplifying */
};

enum {
    ARITH_HAS_DIV = 1,
    ARITH_HAS_MOD = 2,
    ARITH_HAS_MINMAX = 4,
    ARITH_HAS_PRODUCT = 8,
};

typedef struct arith_sum {
    int64_t constant;
    uint32_t count, capacity;
    bool failed;
    uint8_t has;   /* ARITH_HAS_x: what kinds of terms were ever added */
    uint8_t wraps; /* not 0: some added sum of so many bits may have wrapped around */
    hone_linear_term *terms;
    hone_linear_term local[ARITH_LOCAL_TERMS];
} arith_sum;

typedef enum arith_fact_kind {
    ARITH_FACT_GE, /* sum >= 0 */
    ARITH_FACT_EQ, /* sum == 0 */
    ARITH_FACT_NE, /* sum != 0 */
    ARITH_FACT_OTHER,
} arith_fact_kind;

struct hone_fact {
    arith_fact_kind kind;
    const hone_expr *condition; /* as it was pushed, simplified */
    hone_linear linear;         /* unless OTHER */
    uint32_t undo_start;
};

struct hone_bound_undo {
    hone_var var;
    hone_bound old;
};

/* ---- checked integers ---- */
static inline bool arith_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool arith_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
/* b > 0 */
static inline int64_t arith_floordiv(int64_t a, int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}
static inline int64_t arith_floormod(int64_t a, int64_t b) {
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/* ---- dtypes ---- */
/* The dtypes that the arithmetic works on: scalar int32 and int64. */
bool arith_is_index(hone_dtype dtype);
/* The value is one of this dtype. */
bool arith_fits(hone_dtype dtype, int64_t value);
/* The cast of an index expression keeps its value. */
bool arith_cast_is_exact(hone_arith *a, const hone_expr *cast);

/* ---- wrapping around (ir/arith/exact.c) ---- */
/* The sum or product e does not wrap around (its operands aside). True of every other expression.
 */
bool arith_is_exact(hone_arith *a, const hone_expr *e);
/* The finished sum does not wrap around when it is computed in dtype. */
bool arith_sum_is_exact(hone_arith *a, const arith_sum *s, hone_dtype dtype);
/* e negates args[0], or divides it by -1, and args[0] may be the least number of its dtype, which
 * is then what comes out. x, divisor: the bounds of the operands. */
bool arith_may_negate_least(hone_arith *a, const hone_expr *e, hone_bound x, hone_bound divisor);
/* The bound of a sum or product, wrapping around included. */
hone_bound arith_polynomial_bound(hone_arith *a, const hone_expr *e);
/* Notes that a variable is bound (by a let) to `value`. False when memory is short. */
bool arith_note_value(hone_arith *a, hone_var var, const hone_expr *value);
/* Notes which variables of the function hold values instead of indices. False when memory is short.
 */
bool arith_find_values(hone_arith *a, const hone_func *func);

/* ---- memory ---- */
/* Memory of the arena; NULL when it is short, which a->ir notes. */
void *arith_alloc(hone_arith *a, size_t bytes);
/* Makes room for one more item in an array that lives in the arena. False when memory is short. */
bool arith_grow(hone_arith *a, void **items, uint32_t count, uint32_t *capacity, size_t item_bytes);
/* Makes room for this variable in the arrays by variable. False when memory is short. */
bool arith_reserve_var(hone_arith *a, hone_var var);

/* ---- sums (ir/arith/linear.c): adding may make a sum `failed`, which finish reports ---- */
void arith_sum_init(arith_sum *s);
void arith_sum_add_const(arith_sum *s, int64_t value, int64_t scale);
/* s += coeff * term; term is canonical and no sum. */
void arith_sum_add_term(hone_arith *a, arith_sum *s, const hone_expr *term, int64_t coeff);
/* s += scale * e; e is canonical and may be a sum, whose terms are then added one by one. */
void arith_sum_add_expr(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale);
void arith_sum_add_sum(hone_arith *a, arith_sum *s, const arith_sum *other, int64_t scale);
void arith_sum_add_linear(hone_arith *a, arith_sum *s, const hone_linear *linear, int64_t scale);
/* s += scale * x * y, multiplied out; false, and s as it was, where that has too many terms. */
bool arith_sum_add_product(hone_arith *a, arith_sum *s, const arith_sum *x, const arith_sum *y,
                           int64_t scale);
/* Sorts the terms, merges equal ones, and joins quotients with remainders ((x // 4) * 4 + x % 4).
 * False when the sum has failed. */
bool arith_sum_finish(hone_arith *a, arith_sum *s);
/* The first part of finish: sorts and merges. */
void arith_sum_sort(hone_arith *a, arith_sum *s);
/* The sum as an expression; nodes of hint (may be NULL) are reused where they are equal. NULL when
 * the sum has failed. */
const hone_expr *arith_sum_expr(hone_arith *a, const arith_sum *s, hone_dtype dtype,
                                const hone_expr *hint);
/* e is `op` of something by a constant above 0, which is *out_divisor. */
bool arith_is_op_by_const(const hone_expr *e, hone_op op, int64_t *out_divisor);
bool arith_sum_is_const(const arith_sum *s, int64_t *out_value);
int64_t arith_sum_find(const arith_sum *s, const hone_expr *term); /* index or -1 */
/* Total order of expressions: by first variable id, then by structure. 0: they are equal, or one of
 * them has an effect. */
int arith_order(const hone_expr *x, const hone_expr *y);
/* Sorts a few by arith_order; equal ones keep their order. */
void arith_sort(const hone_expr **parts, uint32_t count);
/* x * y, as a product of terms; NULL when it has more than ARITH_MAX_FACTORS. */
const hone_expr *arith_mono_mul(hone_arith *a, const hone_expr *x, const hone_expr *y);
/* x / d, both products of terms; false when d does not divide x; *out NULL means 1. */
bool arith_mono_div(hone_arith *a, const hone_expr *x, const hone_expr *d, const hone_expr **out);
/* The factors of a product of terms, at most ARITH_MAX_FACTORS; returns how many. */
uint32_t arith_mono_factors(const hone_expr *e, const hone_expr **out /* ARITH_MAX_FACTORS */);

/* ---- simplifier ---- */
/* s += scale * e for any index expression e, which is simplified on the way. */
void arith_flatten(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale);
/* s = e, finished. False when the sum has failed. */
bool arith_sum_of(hone_arith *a, arith_sum *s, const hone_expr *e);
/* arith_sum_of, false also where the sum may wrap around when computed: a division needs the number
 * itself. */
bool arith_number_of(hone_arith *a, arith_sum *s, const hone_expr *e);
/* s = x - y, finished; false where x or y may wrap around, unless both are the same expression. */
bool arith_sum_diff(hone_arith *a, arith_sum *s, const hone_expr *x, const hone_expr *y);
/* hone_simplify of one node, with fuel and depth already counted. */
const hone_expr *arith_simp(hone_arith *a, const hone_expr *e);
/* e with its children simplified, its own rules not tried. */
const hone_expr *arith_simp_children(hone_arith *a, const hone_expr *e);
/* arith_simp_children after the node's own rules have failed; counts as a rule where a child has
 * changed, since rules of the node may apply then. */
const hone_expr *arith_simp_parts(hone_arith *a, const hone_expr *e);
/* One rewriting step on a sorted sum (ir/arith/arith_fuse.c); true when something changed. */
bool arith_fuse_once(hone_arith *a, arith_sum *s);
/* out = y // c (want_mod: y % c), finished, for c > 0; y is finished. False when the sum has
 * failed. */
bool arith_divmod_const(hone_arith *a, const arith_sum *y, int64_t c, bool want_mod,
                        hone_dtype dtype, arith_sum *out);
/* arith_divmod_const for a divisor that is any sum; false also when nothing better than the
 * operation itself comes out. */
bool arith_divmod(hone_arith *a, const arith_sum *y, const arith_sum *d, bool want_mod,
                  hone_dtype dtype, arith_sum *out);
/* The rules of min and max, and, or, not; the opposite of a condition, simplified. */
const hone_expr *arith_simp_minmax(hone_arith *a, const hone_expr *e);
const hone_expr *arith_simp_bool(hone_arith *a, const hone_expr *e);
const hone_expr *arith_negate(hone_arith *a, const hone_expr *condition);

/* ---- bounds ---- */
bool arith_bound_is_const(hone_bound b, int64_t *out_value);
hone_bound arith_var_bound(const hone_arith *a, hone_var var);
hone_bound arith_expr_bound(hone_arith *a, const hone_expr *canonical);
/* The bound of a sum by those of its terms. */
hone_bound arith_sum_bound(hone_arith *a, const arith_sum *s);
hone_bound arith_bound_add(hone_bound x, hone_bound y);
/* The bound of x op y; op: ADD, SUB or MUL. */
hone_bound arith_bound_combine(hone_op op, hone_bound x, hone_bound y);
hone_bound arith_bound_scale(hone_bound x, int64_t scale);
hone_bound arith_bound_meet(hone_bound x, hone_bound y);
/* arith_sum_bound, tightened by the facts on the stack. */
hone_bound arith_sum_bound_known(hone_arith *a, const arith_sum *s);
hone_modular arith_sum_modular(hone_arith *a, const arith_sum *s);

/* ---- proofs ---- */
/* Proves s >= 0. fuel: how many sums may be looked at. */
bool arith_nonneg(hone_arith *a, const arith_sum *s, uint32_t fuel);
/* Decides the comparison s op 0 (op: EQ, NE, LT, LE, GT, GE): 1 always true, 0 always false, -1 not
 * known. */
int arith_decide(hone_arith *a, hone_op op, const arith_sum *s, uint32_t fuel);
/* The fact in a condition without conjunctions, for push. False when memory is short. */
bool arith_fact_of(hone_arith *a, const hone_expr *condition, hone_fact *out);

/* e without casts that keep its value. */
const hone_expr *arith_strip_cast(hone_arith *a, const hone_expr *e);

#endif
