/* ir/core/expr.h - expressions of tensor programs.
 *
 * A node is immutable and owned by the arena it was made in, so a child may be shared by many
 * parents and nobody frees anything. Variables and buffers are ids: indices into the tables of the
 * function that the expression belongs to (ir/core/func.h); names live there and never matter.
 *
 * Constructors take an hone_ir (the arena and the first error). NULL in gives NULL out, so callers
 * nest calls and ask once, at the end, with hone_ir_finish. They check types and do not simplify;
 * what folds and reorders is ir/arith/simplify.c.
 *
 * Threads: thread-compatible; frozen arenas may be read by many threads.
 */
#ifndef HONE_IR_CORE_EXPR_H
#define HONE_IR_CORE_EXPR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/core/value.h"
#include "support/core/arena.h"
#include "support/core/status.h"
#include "support/data/dtype.h"

typedef uint32_t hone_var;    /* a variable of a function: index into hone_func.vars */
typedef uint32_t hone_buffer; /* a buffer of a function: index into hone_func.buffers */
#define HONE_NO_ID UINT32_MAX

typedef enum hone_op {
#define HONE_OP(name, spelling, named, commutes) HONE_OP_##name,
#include "ir/core/ops.def"
#undef HONE_OP
    HONE_OP_COUNT
} hone_op;

typedef enum hone_intrin {
#define HONE_INTRIN(name, spelling, args, pure, math, result, params) HONE_INTRIN_##name,
#include "ir/core/intrins.def"
#undef HONE_INTRIN
    HONE_INTRIN_COUNT
} hone_intrin;

/* The dtype of a call, by its intrinsic: that of an argument, a fixed one, or the one given. */
typedef enum hone_intrin_result {
    HONE_INTRIN_RESULT_FIRST,
    HONE_INTRIN_RESULT_SECOND,
    HONE_INTRIN_RESULT_INT32,
    HONE_INTRIN_RESULT_BOOL,
    HONE_INTRIN_RESULT_GIVEN,
    HONE_INTRIN_RESULT_HANDLE,
} hone_intrin_result;

typedef enum hone_expr_kind {
    HONE_EXPR_INT,       /* u.i; int, uint and bool constants                             */
    HONE_EXPR_FLOAT,     /* u.f; also nan, inf                                            */
    HONE_EXPR_STRING,    /* u.s; dtype handle                                             */
    HONE_EXPR_VAR,       /* u.var                                                         */
    HONE_EXPR_BINARY,    /* op; args[0], args[1]                                          */
    HONE_EXPR_NOT,       /* args[0], bool                                                 */
    HONE_EXPR_SELECT,    /* args: condition, true, false; both sides may be evaluated     */
    HONE_EXPR_CAST,      /* args[0] converted to dtype, as C converts (float→int truncates) */
    HONE_EXPR_LOAD,      /* u.buffer; args = indices, one per dimension                   */
    HONE_EXPR_CALL,      /* op = hone_intrin; args. CALL_EXTERN: args[0] is the name      */
    HONE_EXPR_RAMP,      /* args: base, stride; dtype.lanes elements                      */
    HONE_EXPR_BROADCAST, /* args[0] repeated dtype.lanes times                            */
    HONE_EXPR_SHUFFLE,   /* args: vectors, then an index into all their lanes for each lane       */
    HONE_EXPR_LET,       /* u.var = args[0] in args[1]                                    */
} hone_expr_kind;

struct hone_expr {
    uint8_t kind;   /* hone_expr_kind */
    uint8_t op;     /* hone_op or hone_intrin */
    uint16_t count; /* number of args */
    hone_dtype dtype;
    union {
        int64_t i;
        double f;
        const char *s;
        hone_var var;
        hone_buffer buffer;
    } u;
    const hone_expr *args[]; /* count children */
};

/* Where expressions are made: an arena and the first error that a constructor met. */
typedef struct hone_ir {
    hone_arena *arena; /* not owned */
    hone_status error; /* owned; the first failure, later constructors return NULL */
} hone_ir;

/* Takes the first error (or HONE_OK) and makes the builder ready for reuse. */
HONE_NODISCARD hone_status hone_ir_finish(hone_ir *ir);
/* Records a failure (takes st; keeps only the first) and returns NULL. */
const hone_expr *hone_ir_fail(hone_ir *ir, hone_status st);

/* ---- constructors: NULL after an error, which is then in ir ---- */
/* A constant; of a dtype with lanes, the same number in each. */
const hone_expr *hone_expr_int(hone_ir *ir, hone_dtype dtype, int64_t value);
const hone_expr *hone_expr_i32(hone_ir *ir, int64_t value);
const hone_expr *hone_expr_bool(hone_ir *ir, bool value);
const hone_expr *hone_expr_float(hone_ir *ir, hone_dtype dtype, double value);
const hone_expr *hone_expr_string(hone_ir *ir, const char *text); /* copies text */
/* The largest (smallest) finite number of a dtype of numbers or booleans, in each lane. */
const hone_expr *hone_expr_highest(hone_ir *ir, hone_dtype dtype);
const hone_expr *hone_expr_lowest(hone_ir *ir, hone_dtype dtype);
/* The identity of min (of max): +infinity (-infinity), in dtypes without infinities the highest
 * (lowest) number. */
const hone_expr *hone_expr_greatest(hone_ir *ir, hone_dtype dtype);
const hone_expr *hone_expr_least(hone_ir *ir, hone_dtype dtype);
const hone_expr *hone_expr_var(hone_ir *ir, hone_dtype dtype, hone_var var);
/* Operands must have one dtype (lanes included), except that a scalar constant is converted to the
 * other side's dtype, int32 to int64 beside an int64, and a scalar is broadcast beside a vector. */
const hone_expr *hone_expr_binary(hone_ir *ir, hone_op op, const hone_expr *lhs,
                                  const hone_expr *rhs);
const hone_expr *hone_expr_not(hone_ir *ir, const hone_expr *value);
const hone_expr *hone_expr_select(hone_ir *ir, const hone_expr *cond, const hone_expr *if_true,
                                  const hone_expr *if_false);
/* Maximum or minimum (op: MAX, MIN) that is NaN where either operand is, as IEEE 754-2019 has it.
 * Since T.max(x, y) gives y where either is NaN, a select keeps x: T.Select(T.isnan(x), x, T.max(x,
 * y)). Plain T.max where x cannot be NaN: integers, constants. */
const hone_expr *hone_expr_extreme(hone_ir *ir, hone_op op, const hone_expr *x, const hone_expr *y);
const hone_expr *hone_expr_cast(hone_ir *ir, hone_dtype dtype, const hone_expr *value);
/* dtype: that of the buffer, with the lanes of a vector index in the last place. */
const hone_expr *hone_expr_load(hone_ir *ir, hone_dtype dtype, hone_buffer buffer, size_t rank,
                                const hone_expr *const *indices);
const hone_expr *hone_expr_call(hone_ir *ir, hone_dtype dtype, hone_intrin intrin, size_t count,
                                const hone_expr *const *args);
const hone_expr *hone_expr_ramp(hone_ir *ir, const hone_expr *base, const hone_expr *stride,
                                uint16_t lanes);
const hone_expr *hone_expr_broadcast(hone_ir *ir, const hone_expr *value, uint16_t lanes);
/* args: vectors of one element type, then the lanes to take (int32 scalars), in a row. */
const hone_expr *hone_expr_shuffle(hone_ir *ir, size_t vector_count, size_t index_count,
                                   const hone_expr *const *args);
const hone_expr *hone_expr_let(hone_ir *ir, hone_var var, const hone_expr *value,
                               const hone_expr *body);
/* e with other children, as many as it has; e itself when none differs. */
const hone_expr *hone_expr_with_args(hone_ir *ir, const hone_expr *e, const hone_expr *const *args);

/* Shorthands for index arithmetic. */
#define hone_expr_add(ir, a, b) hone_expr_binary((ir), HONE_OP_ADD, (a), (b))
#define hone_expr_sub(ir, a, b) hone_expr_binary((ir), HONE_OP_SUB, (a), (b))
#define hone_expr_mul(ir, a, b) hone_expr_binary((ir), HONE_OP_MUL, (a), (b))
#define hone_expr_floordiv(ir, a, b) hone_expr_binary((ir), HONE_OP_FLOORDIV, (a), (b))
#define hone_expr_floormod(ir, a, b) hone_expr_binary((ir), HONE_OP_FLOORMOD, (a), (b))

/* ---- questions ---- */
static inline bool hone_expr_is_int(const hone_expr *e) {
    return e->kind == HONE_EXPR_INT;
}
static inline bool hone_expr_is_int_value(const hone_expr *e, int64_t value) {
    return e->kind == HONE_EXPR_INT && e->u.i == value;
}
static inline bool hone_expr_is_op(const hone_expr *e, hone_op op) {
    return e->kind == HONE_EXPR_BINARY && e->op == op;
}
static inline bool hone_expr_is_call(const hone_expr *e, hone_intrin intrin) {
    return e->kind == HONE_EXPR_CALL && e->op == intrin;
}

/* Whether a call of the intrinsic does nothing but give a value. */
bool hone_intrin_is_pure(hone_intrin intrin);
/* A call that may do more than give a value. Its arguments are not looked at. */
static inline bool hone_expr_is_effect(const hone_expr *e) {
    return e->kind == HONE_EXPR_CALL && !hone_intrin_is_pure((hone_intrin)e->op);
}

/* A call of an intrinsic that has no number of its own: T.NAME(…), its name the first argument. */
bool hone_expr_is_named(const hone_expr *e, const char *name);

/* T.vscale(): how many units the vectors of the machine have; only it knows. */
bool hone_expr_is_vscale(const hone_expr *e);
/* The expression or a part of it is T.vscale(), or a vector of scalable length. */
bool hone_expr_is_scalable(const hone_expr *e);

/* The T.max(x, y) or T.min(x, y) in what hone_expr_extreme makes of it; NULL for anything else. */
const hone_expr *hone_expr_as_extreme(const hone_expr *e);

/* x // y or x % y, of any dtype. */
static inline bool hone_expr_is_divmod(const hone_expr *e) {
    return hone_expr_is_op(e, HONE_OP_FLOORDIV) || hone_expr_is_op(e, HONE_OP_FLOORMOD);
}

/* An integer division or remainder, with any rounding. */
static inline bool hone_expr_divides_ints(const hone_expr *e) {
    return e->kind == HONE_EXPR_BINARY && e->op >= HONE_OP_DIV && e->op <= HONE_OP_TRUNCMOD &&
           !hone_dtype_is_float(e->dtype);
}
/* An integer division or remainder whose divisor is no constant other than 0; or a checked index.
 * Its children are not looked at. */
static inline bool hone_expr_may_trap(const hone_expr *e) {
    if (hone_expr_is_call(e, HONE_INTRIN_CHECKED_INDEX)) return true;
    return hone_expr_divides_ints(e) &&
           !(e->args[1]->kind == HONE_EXPR_INT && e->args[1]->u.i != 0);
}

/* Structurally equal: the same nodes, ids and constants. */
bool hone_expr_same(const hone_expr *a, const hone_expr *b);
bool hone_expr_uses_var(const hone_expr *e, hone_var var);
/* Some variable v with set[v] is used; set has count entries, later ids count as not set. */
bool hone_expr_uses_any(const hone_expr *e, const bool *set, size_t count);
/* It loads from the buffer, or takes the address of an element by T.address_of. */
bool hone_expr_loads(const hone_expr *e, hone_buffer buffer);
/* It holds no load and no call with an effect. */
bool hone_expr_is_pure_index(const hone_expr *e);
/* It must not be evaluated where its value is not needed: it holds a load, a call with an effect,
 * or a division by what may be 0. */
bool hone_expr_may_fail(const hone_expr *e);

/* ---- traversal ---- */
/* e with map[v] in the place of each variable v < count (NULL: stays). What does not change is
 * shared. */
const hone_expr *hone_expr_substitute(hone_ir *ir, const hone_expr *e, const hone_expr *const *map,
                                      size_t count);
const hone_expr *hone_expr_substitute_one(hone_ir *ir, const hone_expr *e, hone_var var,
                                          const hone_expr *value);
/* Calls visit for each node, parents first; visit returns false to skip the children. */
typedef bool (*hone_expr_visit)(void *ctx, const hone_expr *e);
void hone_expr_walk(const hone_expr *e, hone_expr_visit visit, void *ctx);
/* The first part of e, e itself among them and parents first, for which is_it holds; NULL: there is
 * none. */
typedef bool (*hone_expr_test)(const void *ctx, const hone_expr *e);
const hone_expr *hone_expr_find(const hone_expr *e, hone_expr_test is_it, const void *ctx);
/* A hone_expr_test: e is a load, from any buffer. Its ctx is NULL. */
bool hone_expr_is_load(const void *ctx, const hone_expr *e);
/* Rebuilds bottom-up: rewrite gets a node whose children are already rewritten and returns it or
 * another. NULL from rewrite is an error and ends the walk with NULL. */
typedef const hone_expr *(*hone_expr_rewrite)(void *ctx, hone_ir *ir, const hone_expr *e);
const hone_expr *hone_expr_transform(hone_ir *ir, const hone_expr *e, hone_expr_rewrite rewrite,
                                     void *ctx);
/* A copy in another arena. Variable v becomes var_map[v], buffer b buffer_map[b] (NULL: ids stay).
 */
const hone_expr *hone_expr_copy(hone_ir *to, const hone_expr *e, const hone_var *var_map,
                                const hone_buffer *buffer_map);

/* ---- facts of the tables ---- */
const char *hone_op_spelling(hone_op op); /* "+", or the function name where there is none */
const char *hone_op_function(hone_op op); /* "T.Add" */
bool hone_op_commutes(hone_op op);
bool hone_op_is_compare(hone_op op);  /* EQ NE LT LE GT GE */
hone_op hone_op_mirrored(hone_op op); /* the comparison with its sides exchanged: < is > */
const char *hone_intrin_spelling(hone_intrin intrin);
int hone_intrin_arity(hone_intrin intrin); /* -1 = any */
/* The names of the arguments with spaces between; NULL where they have none. */
const char *hone_intrin_params(hone_intrin intrin);
bool hone_intrin_is_math(hone_intrin intrin);
hone_intrin_result hone_intrin_result_rule(hone_intrin intrin);
bool hone_intrin_find(const char *spelling, hone_intrin *out_intrin);

#endif
