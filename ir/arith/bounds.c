/* ir/arith/bounds.c - constant bounds. An end that leaves int64 is infinite: bounds only ever
 * widen. */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

#define NEG HONE_BOUND_NEG_INF
#define POS HONE_BOUND_POS_INF
static const hone_bound everything = {NEG, POS};

bool arith_bound_is_const(hone_bound b, int64_t *out_value) {
    *out_value = b.min;
    return b.min == b.max && b.min != NEG && b.min != POS;
}

/* A single value; the two that mean infinity become half-open. */
static hone_bound exactly(int64_t v) {
    if (v == POS) return (hone_bound){POS - 1, POS};
    if (v == NEG) return (hone_bound){NEG, NEG + 1};
    return (hone_bound){v, v};
}

hone_bound arith_var_bound(const hone_arith *a, hone_var var) {
    return var < a->count ? a->bounds[var] : everything;
}

static int64_t lower_sum(int64_t x, int64_t y) {
    int64_t sum = 0;
    if (x == NEG || y == NEG || !arith_add(x, y, &sum)) return NEG;
    return sum == POS ? POS - 1 : sum;
}

static int64_t upper_sum(int64_t x, int64_t y) {
    int64_t sum = 0;
    if (x == POS || y == POS || !arith_add(x, y, &sum)) return POS;
    return sum == NEG ? NEG + 1 : sum;
}

hone_bound arith_bound_add(hone_bound x, hone_bound y) {
    return (hone_bound){lower_sum(x.min, y.min), upper_sum(x.max, y.max)};
}

/* A product with signed infinities (0 * inf = 0); clamps to the infinity of its sign. */
static int64_t saturating_mul(int64_t x, int64_t y) {
    int64_t product = 0;
    if (x == 0 || y == 0) return 0;
    bool infinite = x == NEG || x == POS || y == NEG || y == POS;
    if (!infinite && arith_mul(x, y, &product)) return product;
    return (x < 0) == (y < 0) ? POS : NEG;
}

/* A least value is never +inf, a greatest never -inf. */
static hone_bound tidy(int64_t min, int64_t max) {
    return (hone_bound){min == POS ? POS - 1 : min, max == NEG ? NEG + 1 : max};
}

hone_bound arith_bound_scale(hone_bound x, int64_t scale) {
    int64_t p = saturating_mul(x.min, scale), q = saturating_mul(x.max, scale);
    return scale >= 0 ? tidy(p, q) : tidy(q, p);
}

hone_bound arith_bound_meet(hone_bound x, hone_bound y) {
    return (hone_bound){x.min > y.min ? x.min : y.min, x.max < y.max ? x.max : y.max};
}

static hone_bound join(hone_bound x, hone_bound y) {
    return (hone_bound){x.min < y.min ? x.min : y.min, x.max > y.max ? x.max : y.max};
}

static hone_bound corners(hone_bound x, hone_bound y, int64_t (*op)(int64_t, int64_t)) {
    int64_t v[4] = {op(x.min, y.min), op(x.min, y.max), op(x.max, y.min), op(x.max, y.max)};
    hone_bound b = {v[0], v[0]};
    for (int i = 1; i < 4; i++)
        b = join(b, (hone_bound){v[i], v[i]});
    return tidy(b.min, b.max);
}

/* Rounds down; y > 0. An infinite dividend stays so; by infinity it is 0 or -1. */
static int64_t saturating_floordiv(int64_t x, int64_t y) {
    if (x == NEG || x == POS) return x;
    if (y == POS) return x < 0 ? -1 : 0;
    return arith_floordiv(x, y);
}

static bool is_empty(hone_bound b) {
    return b.min > b.max;
}

static hone_bound negated(hone_bound b) {
    return arith_bound_scale(b, -1);
}

/* A quotient by whatever is not 0 is no further from 0 than what is divided. */
static hone_bound quotient_bound(hone_bound x) {
    return join(x, negated(x));
}

static hone_bound floordiv_bound(hone_bound x, hone_bound y) {
    if (y.min > 0) return corners(x, y, saturating_floordiv);
    if (y.max < 0) return corners(negated(x), negated(y), saturating_floordiv);
    return quotient_bound(x);
}

static hone_bound floormod_bound(hone_bound x, hone_bound y) {
    if (y.max < 0) return negated(floormod_bound(negated(x), negated(y)));
    if (y.min <= 0) return everything;
    hone_bound r = {0, y.max == POS ? POS : y.max - 1};
    if (x.min >= 0 && x.max < r.max) r.max = x.max;
    if (x.min == NEG || x.max == POS || y.min != y.max) {
        if (x.min >= 0 && x.max < y.min) return x;
        return r;
    }
    int64_t c = y.min;
    if (arith_floordiv(x.min, c) == arith_floordiv(x.max, c)) {
        return (hone_bound){arith_floormod(x.min, c), arith_floormod(x.max, c)};
    }
    return r;
}

static int64_t saturating_truncdiv(int64_t x, int64_t y) {
    if (x == NEG || x == POS) return x;
    return y == POS ? 0 : x / y;
}

static hone_bound truncdiv_bound(hone_bound x, hone_bound y) {
    if (y.min > 0) return corners(x, y, saturating_truncdiv);
    if (y.max < 0) return corners(negated(x), negated(y), saturating_truncdiv);
    return quotient_bound(x);
}

static hone_bound truncmod_bound(hone_bound x, hone_bound y) {
    if (y.max < 0) y = negated(y);
    if (y.min <= 0) return everything;
    int64_t most = y.max == POS ? POS : y.max - 1;
    hone_bound r = {most == POS ? NEG : -most, most};
    if (x.min >= 0) r.min = 0;
    if (x.max <= 0) r.max = 0;
    if (x.min > r.min && x.min <= 0) r.min = x.min;
    if (x.max < r.max && x.max >= 0) r.max = x.max;
    return r;
}

static hone_bound dtype_bound(hone_dtype dtype) {
    if (dtype.lanes != 1) return everything;
    if (hone_dtype_is_bool(dtype)) return (hone_bound){0, 1};
    if (hone_dtype_is_integer(dtype) && dtype.bits < 64 && !arith_is_index(dtype)) {
        if (hone_dtype_is_int(dtype)) {
            return (hone_bound){-((int64_t)1 << (dtype.bits - 1)),
                                ((int64_t)1 << (dtype.bits - 1)) - 1};
        }
        return (hone_bound){0, ((int64_t)1 << dtype.bits) - 1};
    }
    return everything;
}

hone_bound arith_bound_combine(hone_op op, hone_bound x, hone_bound y) {
    if (is_empty(x) || is_empty(y)) return everything;
    if (op == HONE_OP_MUL) return corners(x, y, saturating_mul);
    return arith_bound_add(x, op == HONE_OP_ADD ? y : negated(y));
}

static hone_bound binary_bound(hone_arith *a, const hone_expr *e) {
    if (e->op <= HONE_OP_MUL) return arith_polynomial_bound(a, e);
    hone_bound x = arith_expr_bound(a, e->args[0]), y = arith_expr_bound(a, e->args[1]);
    if (is_empty(x) || is_empty(y)) return everything;
    if (arith_may_negate_least(a, e, x, y)) return everything;
    switch ((hone_op)e->op) {
    case HONE_OP_FLOORDIV:
        return floordiv_bound(x, y);
    case HONE_OP_FLOORMOD:
        return floormod_bound(x, y);
    case HONE_OP_TRUNCDIV:
        return truncdiv_bound(x, y);
    case HONE_OP_TRUNCMOD:
        return truncmod_bound(x, y);
    case HONE_OP_MIN:
        return (hone_bound){x.min < y.min ? x.min : y.min, x.max < y.max ? x.max : y.max};
    case HONE_OP_MAX:
        return (hone_bound){x.min > y.min ? x.min : y.min, x.max > y.max ? x.max : y.max};
    default:
        return everything;
    }
}

static hone_bound call_bound(hone_arith *a, const hone_expr *e) {
    switch ((hone_intrin)e->op) {
    case HONE_INTRIN_IF_THEN_ELSE:
        return join(arith_expr_bound(a, e->args[1]), arith_expr_bound(a, e->args[2]));
    case HONE_INTRIN_LIKELY:
        return arith_expr_bound(a, e->args[0]);
    case HONE_INTRIN_ABS: {
        hone_bound x = arith_expr_bound(a, e->args[0]), n = negated(x), minus = exactly(-1);
        if (is_empty(x) || arith_may_negate_least(a, e, x, minus)) return everything;
        if (x.min >= 0) return x;
        if (x.max <= 0) return n;
        return (hone_bound){0, x.max > n.max ? x.max : n.max};
    }
    case HONE_INTRIN_BITWISE_AND: {
        hone_bound y = arith_expr_bound(a, e->args[1]);
        if (y.min >= 0 && y.max >= 0) return (hone_bound){0, y.max};
        return everything;
    }
    case HONE_INTRIN_CHECKED_INDEX: {
        hone_bound y = arith_expr_bound(a, e->args[1]);
        return (hone_bound){0, y.max == POS || y.max < 1 ? y.max : y.max - 1};
    }
    default:
        return dtype_bound(e->dtype);
    }
}

static hone_bound cast_bound(hone_arith *a, const hone_expr *e) {
    hone_bound own = dtype_bound(e->dtype);
    hone_dtype from = e->args[0]->dtype;
    if (!hone_dtype_is_integer(from) && !hone_dtype_is_bool(from)) return own;
    hone_bound inner = arith_expr_bound(a, e->args[0]);
    if (is_empty(inner) || inner.min == NEG || inner.max == POS) {
        bool widens =
            arith_is_index(e->dtype) && arith_is_index(from) && from.bits <= e->dtype.bits;
        return widens ? inner : own;
    }
    if (arith_is_index(e->dtype)) {
        return arith_fits(e->dtype, inner.min) && arith_fits(e->dtype, inner.max) ? inner : own;
    }
    return inner.min >= own.min && inner.max <= own.max ? inner : own;
}

hone_bound arith_expr_bound(hone_arith *a, const hone_expr *e) {
    if (e->kind == HONE_EXPR_INT) return exactly(e->u.i);
    if (e->kind == HONE_EXPR_VAR) {
        return arith_bound_meet(arith_var_bound(a, e->u.var), dtype_bound(e->dtype));
    }
    if (a->depth >= ARITH_MAX_DEPTH) return dtype_bound(e->dtype);
    a->depth++;
    hone_bound b = dtype_bound(e->dtype);
    if (e->kind == HONE_EXPR_BINARY) {
        if (arith_is_index(e->dtype)) b = binary_bound(a, e);
    } else if (e->kind == HONE_EXPR_CAST) {
        b = cast_bound(a, e);
    } else if (e->kind == HONE_EXPR_SELECT && e->dtype.lanes == 1 && arith_is_index(e->dtype)) {
        b = join(arith_expr_bound(a, e->args[1]), arith_expr_bound(a, e->args[2]));
    } else if (e->kind == HONE_EXPR_CALL && arith_is_index(e->dtype)) {
        b = call_bound(a, e);
    }
    a->depth--;
    return b;
}

hone_bound arith_sum_bound(hone_arith *a, const arith_sum *s) {
    hone_bound b = exactly(s->constant);
    for (uint32_t i = 0; i < s->count; i++) {
        hone_bound term = arith_expr_bound(a, s->terms[i].term);
        b = arith_bound_add(b, arith_bound_scale(term, s->terms[i].coeff));
    }
    return b;
}

/* A fact L >= 0 with s = k*L + rest (k > 0) gives s >= min(rest); with k < 0, s <= max(rest). */
static hone_bound meet_fact(hone_arith *a, const arith_sum *s, const hone_linear *fact,
                            int64_t sign, hone_bound b) {
    int64_t at = arith_sum_find(s, fact->terms[0].term);
    if (at < 0 || s->terms[at].coeff % fact->terms[0].coeff) return b;
    int64_t k = s->terms[at].coeff / fact->terms[0].coeff;
    arith_sum rest;
    arith_sum_init(&rest);
    arith_sum_add_sum(a, &rest, s, 1);
    arith_sum_add_linear(a, &rest, fact, -k);
    arith_sum_sort(a, &rest);
    if (rest.failed) return b;
    hone_bound r = arith_sum_bound(a, &rest);
    if (k * sign > 0 && r.min > b.min) b.min = r.min;
    if (k * sign < 0 && r.max < b.max) b.max = r.max;
    return b;
}

hone_bound arith_sum_bound_known(hone_arith *a, const arith_sum *s) {
    hone_bound b = arith_sum_bound(a, s);
    if (s->count == 0) return b;
    for (uint32_t f = a->fact_count; f-- > 0;) {
        const hone_fact *fact = &a->facts[f];
        if (fact->kind != ARITH_FACT_GE && fact->kind != ARITH_FACT_EQ) continue;
        if (fact->linear.count == 0) continue;
        b = meet_fact(a, s, &fact->linear, 1, b);
        if (fact->kind == ARITH_FACT_EQ) b = meet_fact(a, s, &fact->linear, -1, b);
    }
    return b;
}

hone_bound hone_arith_bound(hone_arith *arith, const hone_expr *e) {
    if (!e) return everything;
    if (e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_VAR) return arith_expr_bound(arith, e);
    arith_sum s;
    arith->fuel = ARITH_FUEL;
    if (!arith_is_index(e->dtype) || !arith_number_of(arith, &s, e))
        return arith_expr_bound(arith, e);
    return arith_sum_bound_known(arith, &s);
}
