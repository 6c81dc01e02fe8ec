/* ir/text/script_fold.c - arithmetic as the operators of TVMScript do it.
 *
 * Python folds what is constant before TVM sees it (16 * 8 is 128), and TVM's operators fold the
 * plainest identities (x + 0, x * 1, constants). Text is read the same way, so that a program that
 * TVM printed back and one written by hand come out equal; what must stay unfolded is written with
 * a name (T.Add(x, 0)). The printer asks here which form it needs.
 */
#include "ir/text/script_fold.h"

#include <math.h>

#include "ir/core/fold.h"

static bool is_number(const hone_expr *e) {
    return (e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_FLOAT) && e->dtype.lanes == 1;
}

static hone_dtype scalar(hone_dtype dtype) {
    dtype.lanes = 1;
    return dtype;
}

/* ---- casts ---- */

/* A constant of another integer type keeps its value. */
static const hone_expr *cast_int(hone_ir *ir, hone_dtype dtype, int64_t value) {
    int64_t least = hone_dtype_is_uint(dtype) ? 0 : hone_dtype_min_int(dtype);
    if (value < least || (dtype.bits < 64 && value > hone_dtype_max_int(dtype))) {
        return hone_ir_fail(ir, HONE_ERROR(HONE_CODE_TYPE, "%lld does not fit %s", (long long)value,
                                           HONE_DTYPE_NAME(dtype)));
    }
    return hone_expr_int(ir, dtype, value);
}

const hone_expr *script_fold_cast(hone_ir *ir, hone_dtype dtype, const hone_expr *e) {
    if (!e) return NULL;
    dtype.lanes = e->dtype.lanes;
    if (hone_dtype_equal(dtype, e->dtype)) return e;
    if (e->kind == HONE_EXPR_BROADCAST) {
        return hone_expr_broadcast(ir, script_fold_cast(ir, scalar(dtype), e->args[0]),
                                   e->dtype.lanes);
    }
    if (!is_number(e)) return hone_expr_cast(ir, dtype, e);
    bool to_float = hone_dtype_is_float(dtype);
    bool to_int = hone_dtype_is_integer(dtype) || hone_dtype_equal(dtype, HONE_DTYPE_BOOL);
    if (e->kind == HONE_EXPR_INT && to_float) {
        return hone_expr_float(ir, dtype, hone_fold_to_float(e->dtype, e->u.i, dtype));
    }
    if (e->kind == HONE_EXPR_FLOAT && to_float) return hone_expr_float(ir, dtype, e->u.f);
    if (e->kind == HONE_EXPR_INT && hone_dtype_equal(dtype, HONE_DTYPE_BOOL)) {
        return hone_expr_bool(ir, e->u.i != 0);
    }
    if (e->kind == HONE_EXPR_INT && to_int) return cast_int(ir, dtype, e->u.i);
    if (e->kind == HONE_EXPR_FLOAT && to_int && fabs(e->u.f) < 9e18) {
        return hone_expr_int(ir, dtype, (int64_t)e->u.f);
    }
    return hone_expr_cast(ir, dtype, e);
}

static bool is_integral(hone_dtype d) {
    return hone_dtype_is_integer(d) || hone_dtype_equal(scalar(d), HONE_DTYPE_BOOL);
}

/* How much an element type holds beside another one of its kind: the wider one more, of two as wide
 * the unsigned one; a truth value counts as the narrowest integer. */
static int width(hone_dtype d) {
    if (hone_dtype_equal(scalar(d), HONE_DTYPE_BOOL)) return 1;
    return 2 * d.bits + (hone_dtype_is_uint(d) ? 1 : 0);
}

/* Both operands take one type, constants like all others: the float's, else that which holds more.
 */
bool script_unify(hone_ir *ir, const hone_expr **a, const hone_expr **b) {
    const hone_expr *x = *a, *y = *b;
    if (!x || !y) return false;
    if (x->dtype.lanes == 1 && y->dtype.lanes > 1) {
        x = hone_expr_broadcast(ir, x, y->dtype.lanes);
    } else if (y->dtype.lanes == 1 && x->dtype.lanes > 1) {
        y = hone_expr_broadcast(ir, y, x->dtype.lanes);
    }
    if (!x || !y || x->dtype.lanes != y->dtype.lanes) return false;
    if (!hone_dtype_equal(x->dtype, y->dtype)) {
        bool xf = hone_dtype_is_float(x->dtype), yf = hone_dtype_is_float(y->dtype);
        bool are_numbers = (xf || is_integral(x->dtype)) && (yf || is_integral(y->dtype));
        if (!are_numbers) return false;
        bool left_holds_more = xf != yf ? xf : width(x->dtype) >= width(y->dtype);
        if (left_holds_more) {
            y = script_fold_cast(ir, x->dtype, y);
        } else {
            x = script_fold_cast(ir, y->dtype, x);
        }
    }
    if (!x || !y || !hone_dtype_equal(x->dtype, y->dtype)) return false;
    *a = x;
    *b = y;
    return true;
}

/* ---- constant folding ---- */

static int64_t wrap(hone_dtype dtype, int64_t value) {
    if (dtype.bits >= 64) return value;
    uint64_t mask = (UINT64_C(1) << dtype.bits) - 1, low = (uint64_t)value & mask;
    bool negative = hone_dtype_is_int(dtype) && (low >> (dtype.bits - 1));
    return negative ? (int64_t)(low | ~mask) : (int64_t)low;
}

static double round_to(hone_dtype dtype, double value) {
    return dtype.bits == 32 ? (double)(float)value : value;
}

static const hone_expr *fold_floats(hone_ir *ir, hone_op op, const hone_expr *a,
                                    const hone_expr *b) {
    double x = a->u.f, y = b->u.f;
    if (a->dtype.bits < 32) return NULL; /* narrow floats round in ways that differ by target */
    switch (op) {
    case HONE_OP_ADD:
        return hone_expr_float(ir, a->dtype, round_to(a->dtype, x + y));
    case HONE_OP_SUB:
        return hone_expr_float(ir, a->dtype, round_to(a->dtype, x - y));
    case HONE_OP_MUL:
        return hone_expr_float(ir, a->dtype, round_to(a->dtype, x * y));
    case HONE_OP_DIV:
        return y != 0 ? hone_expr_float(ir, a->dtype, round_to(a->dtype, x / y)) : NULL;
    case HONE_OP_MIN:
        return x == y || x != x || y != y ? NULL : x < y ? a : b;
    case HONE_OP_MAX:
        return x == y || x != x || y != y ? NULL : x > y ? a : b;
    case HONE_OP_EQ:
        return hone_expr_bool(ir, x == y);
    case HONE_OP_NE:
        return hone_expr_bool(ir, x != y);
    case HONE_OP_LT:
        return hone_expr_bool(ir, x < y);
    case HONE_OP_LE:
        return hone_expr_bool(ir, x <= y);
    case HONE_OP_GT:
        return hone_expr_bool(ir, x > y);
    case HONE_OP_GE:
        return hone_expr_bool(ir, x >= y);
    default:
        return NULL;
    }
}

static bool is_value(const hone_expr *e, int64_t value) {
    if (e->kind == HONE_EXPR_INT && e->dtype.lanes == 1) return e->u.i == value;
    return e->kind == HONE_EXPR_FLOAT && e->dtype.lanes == 1 && e->u.f == (double)value &&
           !(value == 0 && signbit(e->u.f));
}

/* x + 0, x * 1 and their kin; a float times zero stays, it may be nan. */
static const hone_expr *fold_identity(hone_ir *ir, hone_op op, const hone_expr *a,
                                      const hone_expr *b) {
    bool is_int = a->kind == HONE_EXPR_INT || b->kind == HONE_EXPR_INT;
    switch (op) {
    case HONE_OP_ADD:
        return is_value(a, 0) && is_int ? b : is_value(b, 0) && is_int ? a : NULL;
    case HONE_OP_SUB:
        return is_value(b, 0) ? a : NULL;
    case HONE_OP_MUL:
        if (is_value(a, 1)) return b;
        if (is_value(b, 1)) return a;
        if (is_int && is_value(a, 0)) return a;
        return is_int && is_value(b, 0) ? b : NULL;
    case HONE_OP_DIV:
        return is_value(b, 1) ? a : NULL;
    case HONE_OP_FLOORDIV:
    case HONE_OP_TRUNCDIV:
        if (is_value(b, 1)) return a;
        return is_value(a, 0) && b->kind != HONE_EXPR_INT ? a : NULL;
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCMOD:
        if (is_value(b, 1) && b->kind == HONE_EXPR_INT) return hone_expr_int(ir, a->dtype, 0);
        return is_value(a, 0) && b->kind != HONE_EXPR_INT ? a : NULL;
    case HONE_OP_AND:
        if (is_value(a, 1)) return b;
        if (is_value(b, 1)) return a;
        return is_value(a, 0) ? a : is_value(b, 0) ? b : NULL;
    case HONE_OP_OR:
        if (is_value(a, 0)) return b;
        if (is_value(b, 0)) return a;
        return is_value(a, 1) ? a : is_value(b, 1) ? b : NULL;
    default:
        return NULL;
    }
}

const hone_expr *script_fold_try(hone_ir *ir, hone_op op, const hone_expr *a, const hone_expr *b) {
    if (!hone_dtype_equal(a->dtype, b->dtype) || a->dtype.lanes != 1) return NULL;
    if (a->kind == HONE_EXPR_INT && b->kind == HONE_EXPR_INT) {
        int64_t value = 0;
        if (!hone_fold_constants(op, a->dtype, a->u.i, b->u.i, &value)) return NULL;
        if (hone_op_is_compare(op) || op == HONE_OP_AND || op == HONE_OP_OR) {
            return hone_expr_bool(ir, value != 0);
        }
        if (wrap(a->dtype, value) != value) return NULL;
        return hone_expr_int(ir, a->dtype, value);
    }
    if (a->kind == HONE_EXPR_FLOAT && b->kind == HONE_EXPR_FLOAT) {
        const hone_expr *folded = fold_floats(ir, op, a, b);
        if (folded) return folded;
    }
    return fold_identity(ir, op, a, b);
}

const hone_expr *script_fold_binary(hone_ir *ir, hone_op op, const hone_expr *a,
                                    const hone_expr *b) {
    if (!a || !b) return NULL;
    const hone_expr *x = a, *y = b;
    if (!script_unify(ir, &x, &y)) return hone_expr_binary(ir, op, a, b); /* which says why */
    const hone_expr *folded = script_fold_try(ir, op, x, y);
    return folded ? folded : hone_expr_binary(ir, op, x, y);
}

/* ---- the length of a slice ---- */

enum { MOST_TERMS = 32 };

typedef struct sum {
    const hone_expr *terms[MOST_TERMS];
    int64_t factors[MOST_TERMS];
    int count;
    int64_t constant;
    bool failed;
} sum;

static void add_term(sum *s, const hone_expr *e, int64_t factor) {
    for (int i = 0; i < s->count; i++) {
        if (hone_expr_same(s->terms[i], e)) {
            s->failed |= __builtin_add_overflow(s->factors[i], factor, &s->factors[i]);
            return;
        }
    }
    if (s->count == MOST_TERMS) {
        s->failed = true;
        return;
    }
    s->terms[s->count] = e;
    s->factors[s->count++] = factor;
}

static void flatten(sum *s, const hone_expr *e, int64_t factor) {
    int64_t product = 0;
    if (s->failed) return;
    if (e->kind == HONE_EXPR_INT) {
        s->failed |= __builtin_mul_overflow(e->u.i, factor, &product);
        s->failed |= __builtin_add_overflow(s->constant, product, &s->constant);
    } else if (hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB)) {
        flatten(s, e->args[0], factor);
        flatten(s, e->args[1], hone_expr_is_op(e, HONE_OP_SUB) ? -factor : factor);
    } else if (hone_expr_is_op(e, HONE_OP_MUL) && e->args[1]->kind == HONE_EXPR_INT) {
        s->failed |= __builtin_mul_overflow(e->args[1]->u.i, factor, &product);
        if (!s->failed) flatten(s, e->args[0], product);
    } else {
        add_term(s, e, factor);
    }
}

static const hone_expr *rebuild(hone_ir *ir, hone_dtype dtype, const sum *s) {
    const hone_expr *result = NULL;
    for (int pass = 0; pass < 2; pass++) { /* what is added first, then what is taken away */
        for (int i = 0; i < s->count; i++) {
            int64_t factor = s->factors[i];
            if (!factor || (factor > 0) != (pass == 0)) continue;
            const hone_expr *term =
                script_fold_binary(ir, HONE_OP_MUL, s->terms[i],
                                   hone_expr_int(ir, dtype, pass && result ? -factor : factor));
            result = !result
                         ? term
                         : script_fold_binary(ir, pass ? HONE_OP_SUB : HONE_OP_ADD, result, term);
        }
    }
    if (!result) return hone_expr_int(ir, dtype, s->constant);
    if (s->constant < 0) {
        return script_fold_binary(ir, HONE_OP_SUB, result, hone_expr_int(ir, dtype, -s->constant));
    }
    return script_fold_binary(ir, HONE_OP_ADD, result, hone_expr_int(ir, dtype, s->constant));
}

const hone_expr *script_extent_between(hone_ir *ir, const hone_expr *start, const hone_expr *stop) {
    if (!start || !stop || !script_unify(ir, &start, &stop)) return NULL;
    if (is_value(start, 0)) return stop;
    if (hone_expr_is_op(stop, HONE_OP_ADD) && hone_expr_same(stop->args[0], start)) {
        return stop->args[1];
    }
    sum s = {.count = 0};
    flatten(&s, stop, 1);
    flatten(&s, start, -1);
    if (s.failed || s.constant == INT64_MIN) {
        return script_fold_binary(ir, HONE_OP_SUB, stop, start);
    }
    return rebuild(ir, start->dtype, &s);
}
