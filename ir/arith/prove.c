/* ir/arith/prove.c - proofs: is a sum never negative?
 *
 * First by constant bounds. Then the sum is replaced by something not larger, which must be shown
 * not to be negative in its turn: a fact is subtracted, a variable is moved to the end of its
 * (symbolic) range where the sum is least, a quotient is replaced by its real bound, a min or max
 * by its sides. Fuel limits the search; running out means "don't know".
 */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

typedef struct proof {
    hone_arith *a;
    uint32_t fuel;
} proof;

enum { PROOF_DEPTH = 8 };

static bool nonneg(proof *p, const arith_sum *s, uint32_t depth);

static void copy_sum(hone_arith *a, arith_sum *to, const arith_sum *from, int64_t scale) {
    arith_sum_init(to);
    arith_sum_add_sum(a, to, from, scale);
}

static bool finish_nonneg(proof *p, arith_sum *s, uint32_t depth) {
    return arith_sum_finish(p->a, s) && nonneg(p, s, depth);
}

/* ---- facts ---- */

/* q*s - k*L for L >= 0, so that the term at `at` of L goes away. */
static bool by_fact_term(proof *p, const arith_sum *s, const hone_linear *fact, uint32_t at,
                         int64_t sign, uint32_t depth) {
    int64_t i = arith_sum_find(s, fact->terms[at].term);
    if (i < 0) return false;
    int64_t cs = s->terms[i].coeff, cf = fact->terms[at].coeff * sign;
    if ((cs > 0) != (cf > 0)) return false;
    int64_t g = hone_gcd(cs, cf), q = cf / g, k = cs / g;
    if (q < 0) q = -q;
    if (k < 0) k = -k;
    arith_sum t;
    copy_sum(p->a, &t, s, q);
    arith_sum_add_linear(p->a, &t, fact, -k * sign);
    return finish_nonneg(p, &t, depth - 1);
}

static bool by_facts(proof *p, const arith_sum *s, uint32_t depth) {
    for (uint32_t f = p->a->fact_count; f-- > 0 && p->fuel;) {
        const hone_fact *fact = &p->a->facts[f];
        if (fact->kind != ARITH_FACT_GE && fact->kind != ARITH_FACT_EQ) continue;
        for (uint32_t i = 0; i < fact->linear.count && i < 4; i++) {
            if (by_fact_term(p, s, &fact->linear, i, 1, depth)) return true;
            if (fact->kind != ARITH_FACT_EQ) continue;
            if (by_fact_term(p, s, &fact->linear, i, -1, depth)) return true;
        }
    }
    return false;
}

/* ---- variables ---- */

/* s = k * var + rest with k free of var; false when var stands elsewhere. */
static bool split_on_var(hone_arith *a, const arith_sum *s, const hone_expr *var, arith_sum *k,
                         arith_sum *rest) {
    arith_sum_init(k);
    arith_sum_init(rest);
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *term = s->terms[i].term, *other = NULL;
        if (!hone_expr_uses_var(term, var->u.var)) {
            arith_sum_add_term(a, rest, term, s->terms[i].coeff);
        } else if (!arith_mono_div(a, term, var, &other)) {
            return false;
        } else if (!other) {
            arith_sum_add_const(k, s->terms[i].coeff, 1);
        } else if (hone_expr_uses_var(other, var->u.var)) {
            return false;
        } else {
            arith_sum_add_term(a, k, other, s->terms[i].coeff);
        }
    }
    arith_sum_add_const(rest, s->constant, 1);
    return arith_sum_finish(a, k) && arith_sum_finish(a, rest);
}

/* The end of the variable's range where k * var is least. */
static bool least_end(hone_arith *a, hone_var v, bool k_is_positive, arith_sum *end) {
    arith_sum_init(end);
    hone_bound b = arith_var_bound(a, v);
    bool symbolic = v < a->count && a->mins[v];
    if (symbolic) {
        arith_sum_add_expr(a, end, a->mins[v], 1);
        if (!k_is_positive) {
            arith_sum_add_expr(a, end, a->extents[v], 1);
            arith_sum_add_const(end, -1, 1);
        }
        return arith_sum_finish(a, end);
    }
    int64_t value = k_is_positive ? b.min : b.max;
    if (value == HONE_BOUND_NEG_INF || value == HONE_BOUND_POS_INF) return false;
    arith_sum_add_const(end, value, 1);
    return true;
}

static bool by_var(proof *p, const arith_sum *s, const hone_expr *var, uint32_t depth) {
    hone_arith *a = p->a;
    arith_sum k, rest, negated, end;
    if (!split_on_var(a, s, var, &k, &rest)) return false;
    bool positive = nonneg(p, &k, depth - 1);
    if (!positive) {
        copy_sum(a, &negated, &k, -1);
        if (!finish_nonneg(p, &negated, depth - 1)) return false;
    }
    if (!least_end(a, var->u.var, positive, &end)) return false;
    if (!arith_sum_add_product(a, &rest, &k, &end, 1)) return false;
    return finish_nonneg(p, &rest, depth - 1);
}

/* A variable is worth moving when its range is symbolic or when it stands in a product. */
static bool is_worth_moving(const hone_arith *a, const arith_sum *s, hone_var v) {
    if (v < a->count && a->mins[v]) return true;
    if (!(s->has & ARITH_HAS_PRODUCT)) return false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (hone_expr_is_op(s->terms[i].term, HONE_OP_MUL) &&
            hone_expr_uses_var(s->terms[i].term, v)) {
            return true;
        }
    }
    return false;
}

static bool by_vars_of(proof *p, const arith_sum *s, const hone_expr *e, uint32_t depth) {
    if (e->kind == HONE_EXPR_VAR) {
        return is_worth_moving(p->a, s, e->u.var) && by_var(p, s, e, depth);
    }
    if (!hone_expr_is_op(e, HONE_OP_MUL)) return false;
    const hone_expr *factors[ARITH_MAX_FACTORS];
    uint32_t n = arith_mono_factors(e, factors);
    for (uint32_t i = 0; i < n; i++) {
        if (factors[i]->kind != HONE_EXPR_VAR) continue;
        if (is_worth_moving(p->a, s, factors[i]->u.var) && by_var(p, s, factors[i], depth)) {
            return true;
        }
    }
    return false;
}

/* ---- other terms ---- */

/* s with scale * its own value, the term at `at` replaced: scale*s - scale*c*term + k*replacement.
 * s is a whole number: it is not negative when scale*s > -scale. */
static bool with_replaced(proof *p, const arith_sum *s, uint32_t at, int64_t scale,
                          const hone_expr *replacement, int64_t k, int64_t constant,
                          uint32_t depth) {
    arith_sum t;
    arith_sum_init(&t);
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t c = 0;
        if (i == at) continue;
        if (!arith_mul(s->terms[i].coeff, scale, &c)) return false;
        arith_sum_add_term(p->a, &t, s->terms[i].term, c);
    }
    arith_sum_add_const(&t, s->constant, scale);
    arith_sum_add_expr(p->a, &t, replacement, k);
    arith_sum_add_const(&t, constant, k);
    arith_sum_add_const(&t, scale - 1, 1);
    return finish_nonneg(p, &t, depth - 1);
}

/* x // c from below by y // d, where one of c and d is k times the other:
 *
 *     x // c >= y // c + (x - y) // c              and, with the finer of the two below,
 *     x // kd = (x // d) // k >= (y // d + (x - y) // d - (k - 1)) / k
 *     x // c >= y // c + (x - y) // c >= k * (y // kc) + (x - y) // c */
static bool by_pair(proof *p, const arith_sum *s, uint32_t at, uint32_t other, uint32_t depth) {
    const hone_expr *x = s->terms[at].term, *y = s->terms[other].term;
    int64_t c = x->args[1]->u.i, d = y->args[1]->u.i, coeff = s->terms[at].coeff, cancelled, scaled;
    int64_t k = c > d ? c / d : d / c, scale = c > d ? k : 1, share = c > d ? 1 : k;
    if (c % d && d % c) return false;
    if (!arith_mul(s->terms[other].coeff, scale, &cancelled) || !arith_mul(coeff, share, &scaled) ||
        cancelled == INT64_MIN || scaled != -cancelled) {
        return false; /* y // d would stay */
    }
    arith_sum difference, quotient, t;
    arith_sum_init(&difference);
    arith_sum_add_expr(p->a, &difference, x->args[0], 1);
    arith_sum_add_expr(p->a, &difference, y->args[0], -1);
    if (!arith_sum_finish(p->a, &difference) ||
        !arith_divmod_const(p->a, &difference, c > d ? d : c, false, y->dtype, &quotient) ||
        !arith_mul(coeff, scale, &scaled)) {
        return false;
    }
    copy_sum(p->a, &t, s, scale);
    arith_sum_add_term(p->a, &t, x, -scaled);
    arith_sum_add_term(p->a, &t, y, -cancelled);
    arith_sum_add_sum(p->a, &t, &quotient, coeff);
    arith_sum_add_const(&t, 1 - scale, coeff);
    arith_sum_add_const(&t, scale - 1, 1);
    return finish_nonneg(p, &t, depth - 1);
}

static bool by_quotients(proof *p, const arith_sum *s, uint32_t at, uint32_t depth) {
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *term = s->terms[i].term;
        if (s->terms[i].coeff >= 0 || !hone_expr_is_op(term, HONE_OP_FLOORDIV)) continue;
        if (!hone_expr_is_int(term->args[1]) || term->args[1]->u.i <= 0) continue;
        if (by_pair(p, s, at, i, depth)) return true;
    }
    return false;
}

/* y//c + k >= 0 when y + k*c >= 0;  k - y//c >= 0 when k*c + c - 1 - y >= 0 */
static bool by_lone_quotient(proof *p, const arith_sum *s, const hone_expr *y, int64_t c,
                             uint32_t depth) {
    int64_t coeff = s->terms[0].coeff;
    arith_sum t;
    if (s->count != 1 || (coeff != 1 && coeff != -1)) return false;
    arith_sum_init(&t);
    arith_sum_add_expr(p->a, &t, y, coeff);
    arith_sum_add_const(&t, s->constant, c);
    if (coeff < 0) arith_sum_add_const(&t, c - 1, 1);
    return finish_nonneg(p, &t, depth - 1);
}

/* For d > 0: 0 <= y % d <= d - 1;  y // d + k >= 0 when y + k*d >= 0;  k - y // d >= 0 when
 * k*d + d - 1 - y >= 0; k: the rest of the sum. */
static bool by_symbolic_division(proof *p, const arith_sum *s, uint32_t at, uint32_t depth) {
    const hone_expr *term = s->terms[at].term, *y = term->args[0], *d = term->args[1];
    int64_t coeff = s->terms[at].coeff;
    arith_sum t;
    arith_sum_init(&t);
    arith_sum_add_expr(p->a, &t, d, 1);
    arith_sum_add_const(&t, -1, 1);
    if (!finish_nonneg(p, &t, depth - 1)) return false;
    if (term->op == HONE_OP_FLOORMOD) {
        return with_replaced(p, s, at, 1, d, coeff < 0 ? coeff : 0, -1, depth);
    }
    if (coeff != 1 && coeff != -1) return false;
    arith_sum divisor, rest;
    arith_sum_init(&t);
    arith_sum_init(&divisor);
    arith_sum_add_expr(p->a, &divisor, d, 1);
    copy_sum(p->a, &rest, s, 1);
    arith_sum_add_term(p->a, &rest, term, -coeff);
    if (!arith_sum_finish(p->a, &divisor) || !arith_sum_finish(p->a, &rest)) return false;
    arith_sum_add_expr(p->a, &t, y, coeff);
    if (!arith_sum_add_product(p->a, &t, &rest, &divisor, 1)) return false;
    if (coeff < 0) arith_sum_add_expr(p->a, &t, d, 1);
    arith_sum_add_const(&t, coeff < 0 ? -1 : 0, 1);
    return finish_nonneg(p, &t, depth - 1);
}

/* (y - c + 1)/c <= y // c <= y/c and y % c <= y for y >= 0. */
static bool by_division(proof *p, const arith_sum *s, uint32_t at, uint32_t depth) {
    const hone_expr *term = s->terms[at].term;
    int64_t coeff = s->terms[at].coeff;
    if (!hone_expr_is_int(term->args[1])) return by_symbolic_division(p, s, at, depth);
    if (term->args[1]->u.i <= 0) return false;
    int64_t c = term->args[1]->u.i;
    const hone_expr *y = term->args[0];
    if (term->op == HONE_OP_FLOORDIV) {
        if (s->count == 1) return by_lone_quotient(p, s, y, c, depth);
        if (coeff > 0 && by_quotients(p, s, at, depth)) return true;
        return with_replaced(p, s, at, c, y, coeff, coeff > 0 ? 1 - c : 0, depth);
    }
    if (coeff > 0) return false;
    arith_sum operand;
    arith_sum_init(&operand);
    arith_sum_add_expr(p->a, &operand, y, 1);
    if (!finish_nonneg(p, &operand, depth - 1)) return false;
    return with_replaced(p, s, at, 1, y, coeff, 0, depth);
}

/* Two alternatives: in the good direction one suffices, in the other both must hold. */
static bool by_sides(proof *p, const arith_sum *s, uint32_t at, const hone_expr *x,
                     const hone_expr *y, bool one_suffices, uint32_t depth) {
    int64_t c = s->terms[at].coeff;
    bool first = with_replaced(p, s, at, 1, x, c, 0, depth);
    if (first == one_suffices) return first;
    return with_replaced(p, s, at, 1, y, c, 0, depth);
}

static bool by_term(proof *p, const arith_sum *s, uint32_t at, uint32_t depth) {
    const hone_expr *e = s->terms[at].term;
    bool positive = s->terms[at].coeff > 0;
    if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        return by_sides(p, s, at, e->args[1], e->args[2], false, depth);
    }
    if (e->kind != HONE_EXPR_BINARY) return false;
    switch ((hone_op)e->op) {
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
        return by_division(p, s, at, depth);
    case HONE_OP_MIN:
        return by_sides(p, s, at, e->args[0], e->args[1], !positive, depth);
    case HONE_OP_MAX:
        return by_sides(p, s, at, e->args[0], e->args[1], positive, depth);
    default:
        return false;
    }
}

/* ---- the search ---- */

/* g*t + k >= 0 when t + floor(k/g) >= 0. */
static void divide_out(arith_sum *s) {
    int64_t g = 0;
    for (uint32_t i = 0; i < s->count && g != 1; i++)
        g = hone_gcd(g, s->terms[i].coeff);
    if (g <= 1) return;
    for (uint32_t i = 0; i < s->count; i++)
        s->terms[i].coeff /= g;
    s->constant = arith_floordiv(s->constant, g);
}

/* g*t + r >= 0 when t + floor(k/g) >= 0, where r has constant bounds and k is the least of it:
 * 8*n - 8*(x // 2) - b - 1 with b < 8 is not negative where n - x // 2 - 1 is not. */
static bool by_multiples(proof *p, const arith_sum *s, uint32_t depth) {
    arith_sum rest;
    int64_t g = 0;
    arith_sum_init(&rest);
    for (uint32_t i = 0; i < s->count; i++) {
        hone_bound b = arith_expr_bound(p->a, s->terms[i].term);
        int64_t end = s->terms[i].coeff > 0 ? b.min : b.max, part;
        if (b.min == HONE_BOUND_NEG_INF || b.max == HONE_BOUND_POS_INF) {
            arith_sum_add_term(p->a, &rest, s->terms[i].term, s->terms[i].coeff);
            g = hone_gcd(g, s->terms[i].coeff);
        } else {
            if (!arith_mul(s->terms[i].coeff, end, &part)) return false;
            arith_sum_add_const(&rest, part, 1);
        }
    }
    if (g <= 1 || rest.count == s->count) return false;
    arith_sum_add_const(&rest, s->constant, 1);
    return finish_nonneg(p, &rest, depth - 1);
}

/* Constant bounds have the last word when all terms are plain variables of constant range. */
static bool is_plain(const hone_arith *a, const arith_sum *s) {
    if (a->fact_count) return false;
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *t = s->terms[i].term;
        if (t->kind != HONE_EXPR_VAR || (t->u.var < a->count && a->mins[t->u.var])) return false;
    }
    return true;
}

static bool nonneg(proof *p, const arith_sum *original, uint32_t depth) {
    if (original->failed || original->wraps) return false;
    if (original->count == 0) return original->constant >= 0;
    hone_bound b = arith_sum_bound(p->a, original);
    if (b.min >= 0) return true;
    if (b.max < 0 || depth == 0 || p->fuel == 0 || is_plain(p->a, original)) return false;
    p->fuel--;
    arith_sum s;
    copy_sum(p->a, &s, original, 1);
    if (s.failed) return false;
    divide_out(&s);
    if (arith_sum_bound(p->a, &s).min >= 0 || by_multiples(p, &s, depth)) return true;
    for (uint32_t i = s.count; i-- > 0 && p->fuel;) {
        if (by_vars_of(p, &s, s.terms[i].term, depth)) return true;
        if (by_term(p, &s, i, depth)) return true;
    }
    return by_facts(p, &s, depth);
}

bool arith_nonneg(hone_arith *a, const arith_sum *s, uint32_t fuel) {
    if (s->failed || s->wraps) return false;
    if (a->proofs > 0) return arith_sum_bound(a, s).min >= 0;
    proof p = {.a = a, .fuel = fuel};
    a->proofs++;
    bool result = nonneg(&p, s, PROOF_DEPTH);
    a->proofs--;
    return result;
}

/* scale * s + constant >= 0 */
static bool shifted_nonneg(hone_arith *a, const arith_sum *s, int64_t scale, int64_t constant,
                           uint32_t fuel) {
    arith_sum t;
    copy_sum(a, &t, s, scale);
    arith_sum_add_const(&t, constant, 1);
    return !t.failed && arith_nonneg(a, &t, fuel);
}

/* A fact says that sign times the sum is not 0. */
static bool is_fact_unequal(const hone_arith *a, const arith_sum *s, int64_t sign) {
    for (uint32_t f = 0; f < a->fact_count; f++) {
        const hone_linear *l = &a->facts[f].linear;
        if (a->facts[f].kind != ARITH_FACT_NE || l->count != s->count) continue;
        int64_t k = 0;
        if (!arith_mul(s->constant, sign, &k) || k != l->constant) continue;
        uint32_t i = 0;
        while (i < s->count && l->terms[i].coeff == s->terms[i].coeff * sign &&
               arith_order(l->terms[i].term, s->terms[i].term) == 0) {
            i++;
        }
        if (i == s->count) return true;
    }
    return false;
}

static int decide_equal(hone_arith *a, const arith_sum *s, uint32_t fuel) {
    if (s->count == 0) return s->constant == 0;
    hone_modular m = arith_sum_modular(a, s);
    if (m.coeff == 0 ? m.base != 0 : m.base % m.coeff != 0) return 0;
    if (is_fact_unequal(a, s, 1) || is_fact_unequal(a, s, -1)) return 0;
    if (shifted_nonneg(a, s, 1, -1, fuel) || shifted_nonneg(a, s, -1, -1, fuel)) return 0;
    if (arith_nonneg(a, s, fuel) && shifted_nonneg(a, s, -1, 0, fuel)) return 1;
    return -1;
}

int arith_decide(hone_arith *a, hone_op op, const arith_sum *s, uint32_t fuel) {
    int equal = -1;
    switch (op) {
    case HONE_OP_EQ:
        return decide_equal(a, s, fuel);
    case HONE_OP_NE:
        equal = decide_equal(a, s, fuel);
        return equal < 0 ? -1 : !equal;
    case HONE_OP_LT:
        if (shifted_nonneg(a, s, -1, -1, fuel)) return 1;
        return arith_nonneg(a, s, fuel) ? 0 : -1;
    case HONE_OP_GE:
        if (arith_nonneg(a, s, fuel)) return 1;
        return shifted_nonneg(a, s, -1, -1, fuel) ? 0 : -1;
    case HONE_OP_LE:
        if (shifted_nonneg(a, s, -1, 0, fuel)) return 1;
        return shifted_nonneg(a, s, 1, -1, fuel) ? 0 : -1;
    case HONE_OP_GT:
        if (shifted_nonneg(a, s, 1, -1, fuel)) return 1;
        return shifted_nonneg(a, s, -1, 0, fuel) ? 0 : -1;
    default:
        return -1;
    }
}

/* ---- facts from conditions ---- */

static bool keep_linear(hone_arith *a, arith_sum *s, arith_fact_kind kind, hone_fact *out) {
    if (!arith_sum_finish(a, s)) return true; /* stays OTHER */
    out->linear.constant = s->constant;
    out->linear.count = s->count;
    out->linear.terms = arith_alloc(a, (s->count ? s->count : 1) * sizeof *s->terms);
    if (!out->linear.terms) return false;
    for (uint32_t i = 0; i < s->count; i++)
        out->linear.terms[i] = s->terms[i];
    out->kind = kind;
    return true;
}

bool arith_fact_of(hone_arith *a, const hone_expr *condition, hone_fact *out) {
    const hone_expr *e = condition;
    if (e->kind != HONE_EXPR_BINARY || !hone_op_is_compare((hone_op)e->op)) return true;
    if (!arith_is_index(e->args[0]->dtype) || !arith_is_index(e->args[1]->dtype)) return true;
    arith_sum d, s;
    if (a->fuel < 100) a->fuel = 100;
    if (!arith_sum_diff(a, &d, e->args[0], e->args[1])) return true;
    hone_op op = (hone_op)e->op;
    bool flip = op == HONE_OP_LT || op == HONE_OP_LE;
    copy_sum(a, &s, &d, flip ? -1 : 1);
    if (op == HONE_OP_LT || op == HONE_OP_GT) arith_sum_add_const(&s, -1, 1);
    if (op == HONE_OP_EQ) return keep_linear(a, &s, ARITH_FACT_EQ, out);
    if (op == HONE_OP_NE) return keep_linear(a, &s, ARITH_FACT_NE, out);
    return keep_linear(a, &s, ARITH_FACT_GE, out);
}

/* ---- the public face ---- */

static bool is_known_fact(const hone_arith *a, const hone_expr *condition) {
    for (uint32_t f = 0; f < a->fact_count; f++) {
        if (hone_expr_same(a->facts[f].condition, condition)) return true;
    }
    return false;
}

static bool prove(hone_arith *a, const hone_expr *e) {
    if (hone_expr_is_int(e)) return e->u.i != 0;
    if (is_known_fact(a, e)) return true;
    if (hone_expr_is_call(e, HONE_INTRIN_LIKELY)) return prove(a, e->args[0]);
    if (e->kind != HONE_EXPR_BINARY) return false;
    if (e->op == HONE_OP_AND) return prove(a, e->args[0]) && prove(a, e->args[1]);
    if (e->op == HONE_OP_OR) return prove(a, e->args[0]) || prove(a, e->args[1]);
    if (!hone_op_is_compare((hone_op)e->op) || !arith_is_index(e->args[0]->dtype)) return false;
    arith_sum d;
    if (!arith_sum_diff(a, &d, e->args[0], e->args[1])) return false;
    return arith_decide(a, (hone_op)e->op, &d, ARITH_PROOF_FUEL) == 1;
}

bool hone_prove(hone_arith *arith, const hone_expr *condition) {
    if (!condition || condition->dtype.lanes != 1) return false;
    arith->fuel = ARITH_FUEL;
    if (prove(arith, condition)) return true;
    const hone_expr *simple = hone_simplify(arith, condition);
    return simple && simple != condition && prove(arith, simple);
}

static bool prove_diff(hone_arith *a, hone_op op, const hone_expr *x, const hone_expr *y) {
    arith_sum d;
    if (!x || !y || !arith_is_index(x->dtype) || !arith_is_index(y->dtype)) return false;
    if (hone_expr_is_int(x) && hone_expr_is_int(y) && op != HONE_OP_EQ)
        return op == HONE_OP_LT ? x->u.i < y->u.i : x->u.i <= y->u.i;
    a->fuel = ARITH_FUEL;
    if (!arith_sum_diff(a, &d, x, y)) return false;
    return arith_decide(a, op, &d, ARITH_PROOF_FUEL) == 1;
}

bool hone_prove_equal(hone_arith *arith, const hone_expr *a, const hone_expr *b) {
    if (!a || !b) return false;
    if (a == b && hone_expr_is_pure_index(a)) return true;
    if (hone_expr_is_int(a) && hone_expr_is_int(b)) return a->u.i == b->u.i;
    return prove_diff(arith, HONE_OP_EQ, a, b);
}

bool hone_prove_less(hone_arith *arith, const hone_expr *a, const hone_expr *b) {
    return prove_diff(arith, HONE_OP_LT, a, b);
}

bool hone_prove_less_equal(hone_arith *arith, const hone_expr *a, const hone_expr *b) {
    return prove_diff(arith, HONE_OP_LE, a, b);
}

bool hone_arith_is_within(hone_arith *a, const hone_expr *index, const hone_expr *extent) {
    if (!arith_is_index(index->dtype) || !arith_is_index(extent->dtype)) return false;
    hone_bound x = arith_expr_bound(a, index), n = arith_expr_bound(a, extent);
    if (x.min >= 0 && x.min <= x.max && x.max < n.min && x.max != HONE_BOUND_POS_INF) return true;
    arith_sum s, gap;
    if (a->fuel < 100) a->fuel = 100;
    if (!arith_number_of(a, &s, index) || !arith_nonneg(a, &s, ARITH_QUICK_FUEL)) return false;
    if (!arith_sum_diff(a, &gap, extent, index)) return false;
    arith_sum_add_const(&gap, -1, 1);
    return arith_nonneg(a, &gap, ARITH_QUICK_FUEL);
}
