/* ir/arith/arith.h - what is known about integer variables, and what follows from it.
 *
 * An hone_arith holds the domain of each variable (an interval with constant or symbolic ends) and
 * a stack of conditions that are known to hold. From these: a canonical simplifier, constant
 * bounds, modular facts, proofs, and symbolic interval sets. Indices (of loop variables, sizes and
 * constants) are mathematical integers; values, which are loaded, cast or passed, wrap around
 * (ir/arith/exact.c). A constant that leaves int64 makes the answer "unknown", never a wrong one.
 *
 * Cost: made for the replay of schedules. All memory comes from the arena given; no call of malloc;
 * a small affine expression is simplified in about a microsecond.
 * Lifetime: a value; the arena must outlive it. Threads: thread-compatible.
 */
#ifndef HONE_IR_ARITH_ARITH_H
#define HONE_IR_ARITH_ARITH_H

#include "ir/core/func.h"

#define HONE_BOUND_NEG_INF INT64_MIN
#define HONE_BOUND_POS_INF INT64_MAX

/* All integers from min to max, both included. Empty when min > max. */
typedef struct hone_bound {
    int64_t min, max;
} hone_bound;

/* All integers coeff * k + base, 0 <= base < coeff (coeff 0: exactly base; coeff 1: anything). */
typedef struct hone_modular {
    int64_t coeff, base;
} hone_modular;

/* A symbolic interval: from min to max, both included; NULL = unbounded on that side. */
typedef struct hone_interval {
    const hone_expr *min, *max;
} hone_interval;

typedef struct hone_fact hone_fact; /* ir/arith/arith_impl.h */
typedef struct hone_bound_undo hone_bound_undo;

typedef struct hone_arith {
    hone_ir ir;             /* ir.arena: where results are made */
    hone_bound *bounds;     /* by variable; count entries; default -inf..inf */
    const hone_expr **mins; /* by variable: symbolic range, or NULL where it is constant */
    const hone_expr **extents;
    bool *values; /* by variable: it holds what was loaded, cast or passed */
    uint32_t count, capacity;
    hone_fact *facts; /* conditions known to hold, innermost last */
    uint32_t fact_count, fact_capacity;
    hone_bound_undo *undo; /* bounds that facts have tightened, to be put back by pop */
    uint32_t undo_count, undo_capacity;
    uint32_t *slots; /* scratch by variable: index of a loop, verified on use */
    uint32_t slot_capacity;
    uint32_t depth, fuel; /* limits of the work in progress */
    uint32_t proofs;      /* in progress: within one, others look at bounds only */
    uint32_t rule_count;  /* rules that fired and may make room for others */
    bool is_of_indices;   /* asked about indices only: nothing wraps, whatever it is made of */
    bool keeps_units;     /* a variable with one value stays a variable in what is simplified */
    bool keeps_numbers;   /* (x*8 + y*4 + z) // 20 stays, though it is (x*2 + y) // 5: what is a
                             mixed-radix number stays the same number wherever it is divided */
    bool cuts_remainders; /* but (x*10 + y*2 + z) % 20 does not stay: it is x % 2 * 10 + y*2 + z */
} hone_arith;

/* Makes a context that knows nothing; what it allocates is in the arena. */
void hone_arith_init(hone_arith *arith, hone_arena *arena);
/* Forgets all variables and facts, keeps the arena. */
void hone_arith_clear(hone_arith *arith);
/* Binds a variable to [min, min + extent), instead of what it was bound to. False when memory is
 * short. */
bool hone_arith_bind(hone_arith *arith, hone_var var, hone_range range);
/* Binds a variable to min … max, both included. */
bool hone_arith_bind_const(hone_arith *arith, hone_var var, int64_t min, int64_t max);
/* Binds a variable to a value that was loaded, cast or passed: it may be any number of its type,
 * and arithmetic on it may wrap around. */
bool hone_arith_bind_value(hone_arith *arith, hone_var var);
/* The range that a variable (of this dtype) is bound to; false where an end is not known. */
bool hone_arith_range_of(hone_arith *arith, hone_var var, hone_dtype dtype, hone_range *out);
/* Binds sizes (vars with is_size or integer parameters used as shapes) of a function to >= 1, and
 * finds out which of its variables are values. */
bool hone_arith_bind_sizes(hone_arith *arith, const hone_func *func);
/* Pushes a condition that is known to hold from now on (a conjunction: each of its conjuncts);
 * returns a mark for hone_arith_pop. */
uint32_t hone_arith_push(hone_arith *arith, const hone_expr *fact);
/* Forgets all conditions that were pushed since hone_arith_push returned this mark. */
void hone_arith_pop(hone_arith *arith, uint32_t mark);
/* A condition on the stack, or the range of another variable, uses this variable. */
bool hone_arith_speaks_of(const hone_arith *arith, hone_var var);

/* ---- simplifier (ir/arith/simplify.c) ---- */
/* A canonical form: equal linear forms print equal; terms in a fixed order (by variable id, then
 * structure), constants folded and last, x*1, x+0, (x//a)*a + x%a, (a*k + b)//k, min/max, selects
 * and comparisons decided by what is known. Floats: only exact identities (x*1, x+0.0 is NOT one).
 * dtype is kept. Never NULL unless e is NULL or memory is short (then e's error is in arith->ir).
 */
const hone_expr *hone_simplify(hone_arith *arith, const hone_expr *e);
/* hone_simplify in a context that knows nothing of any variable. */
const hone_expr *hone_simplify_plain(hone_ir *ir, const hone_expr *e);

/* Turns a comparison with a quotient into one without: x // d < n becomes x - n*d < 0
 * (ir/arith/undivided.c). e itself where there is none; NULL when memory is short. */
const hone_expr *hone_undivided(hone_arith *arith, const hone_expr *e);

/* Drops from a comparison the terms of marked variables that cannot change it, since all other
 * terms are multiples of a number that they stay below: f0*32 + f1*4 + v < 56 becomes f0*8 + f1 <
 * 14 for 0 <= v < 4. marks: by variable, mark_count entries. e itself where there are none. */
const hone_expr *hone_without_rest(hone_arith *arith, const hone_expr *e, const bool *marks,
                                   uint32_t mark_count);

/* ---- wrapping around (ir/arith/exact.c) ---- */
/* No sum or product in e wraps around: each is the number that mathematics gives. */
bool hone_arith_is_exact(hone_arith *arith, const hone_expr *e);
/* e is made of loop variables, sizes and constants only. */
bool hone_arith_is_of_indices(const hone_arith *arith, const hone_expr *e);

/* ---- bounds (ir/arith/bounds.c) ---- */
/* An interval that contains every value of e. */
hone_bound hone_arith_bound(hone_arith *arith, const hone_expr *e);
/* Multiples plus a base that contain every value of e. */
hone_modular hone_arith_modular(hone_arith *arith, const hone_expr *e);

/* ---- proofs (ir/arith/prove.c): true only when it holds for all values allowed; false = don't
 * know ----
 */
bool hone_prove(hone_arith *arith, const hone_expr *condition);
bool hone_prove_equal(hone_arith *arith, const hone_expr *a, const hone_expr *b);
bool hone_prove_less(hone_arith *arith, const hone_expr *a, const hone_expr *b);       /* a <  b */
bool hone_prove_less_equal(hone_arith *arith, const hone_expr *a, const hone_expr *b); /* a <= b */
/* ir/arith/prove_ranges.c; what is NULL is not known, and nothing is shown of it. */
/* 0 <= index < extent: it is one of a dimension of that size. */
bool hone_prove_index(hone_arith *arith, const hone_expr *index, const hone_expr *extent);
/* [min, min + extent) lies in [0, size). */
bool hone_prove_part(hone_arith *arith, hone_range part, const hone_expr *size);
/* Every value of inner is in outer. */
bool hone_prove_contains(hone_arith *arith, hone_interval outer, hone_interval inner);
/* No value is in both: one ends before the other begins. */
bool hone_prove_disjoint(hone_arith *arith, hone_interval a, hone_interval b);
/* 0 <= index < extent. Quick, and may be asked while something is simplified. */
bool hone_arith_is_within(hone_arith *arith, const hone_expr *index, const hone_expr *extent);

/* ---- linear forms (ir/arith/linear_expr.c) ---- */
/* e = constant + sum of coeff * term, terms being maximal non-linear sub-expressions (often plain
 * variables). Fast path of everything above. */
typedef struct hone_linear_term {
    const hone_expr *term;
    int64_t coeff;
} hone_linear_term;
typedef struct hone_linear {
    int64_t constant;
    uint32_t count;
    hone_linear_term *terms; /* in canonical order, no zero coefficients, in the arena */
} hone_linear;
/* The linear form of an integer expression. Where values wrap around, the equation holds modulo
 * 2^bits only. False where a coefficient leaves int64, or memory is short. */
bool hone_linear_of(hone_arith *arith, const hone_expr *e, hone_linear *out);
/* The linear form as an expression of this dtype. */
const hone_expr *hone_linear_expr(hone_arith *arith, const hone_linear *linear, hone_dtype dtype);
/* The coefficient of a variable when e is linear in it (0 when unused); false when it is not. */
bool hone_linear_coeff(hone_arith *arith, const hone_expr *e, hone_var var, int64_t *out_coeff);

/* hone_without_rest for the comparison io < 0; false where nothing was dropped. */
bool hone_drop_rest(hone_arith *arith, hone_linear *io, const bool *marks, uint32_t mark_count);

/* ---- integer sets (ir/arith/intset.c) ---- */
/* The interval of values that e takes while the variables marked in relax[] (by variable,
 * relax_count entries) run over their domains and all others stay symbolic. The interval contains
 * every such value. out_is_exact (may be NULL): both ends are reached and, where e is affine with
 * unit stride, so is everything between; this is about the whole domains of the relaxed variables,
 * whatever other variables or facts would narrow them to (a fact that uses a relaxed variable makes
 * it false). */
hone_interval hone_arith_relax(hone_arith *arith, const hone_expr *e, const bool *relax,
                               uint32_t relax_count, bool *out_is_exact);
hone_interval hone_interval_union(hone_arith *arith, hone_interval a, hone_interval b);
hone_interval hone_interval_intersect(hone_arith *arith, hone_interval a, hone_interval b);
/* The interval as a range {min, max - min + 1}, simplified; false when an end is not known. */
bool hone_interval_range(hone_arith *arith, hone_interval interval, hone_dtype dtype,
                         hone_range *out_range);

#endif
