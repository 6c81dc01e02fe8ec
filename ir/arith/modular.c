/* ir/arith/modular.c - what is known of a value modulo a constant: coeff * k + base. */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

static const hone_modular anything = {1, 0};

static hone_modular normal(int64_t coeff, int64_t base) {
    if (coeff < 0) coeff = coeff == INT64_MIN ? 1 : -coeff;
    if (coeff == 0) return (hone_modular){0, base};
    return (hone_modular){coeff, arith_floormod(base, coeff)};
}

static hone_modular modular_add(hone_modular x, hone_modular y) {
    int64_t base = 0;
    if (!arith_add(x.base, y.base, &base)) return anything;
    return normal(hone_gcd(x.coeff, y.coeff), base);
}

static hone_modular modular_scale(hone_modular x, int64_t scale) {
    int64_t coeff = 0, base = 0;
    if (!arith_mul(x.coeff, scale, &coeff) || !arith_mul(x.base, scale, &base)) return anything;
    return normal(coeff, base);
}

/* (a k + b)(c l + d) = a c k l + a d k + b c l + b d */
static hone_modular modular_mul(hone_modular x, hone_modular y) {
    int64_t ac = 0, ad = 0, bc = 0, bd = 0;
    if (!arith_mul(x.coeff, y.coeff, &ac) || !arith_mul(x.coeff, y.base, &ad) ||
        !arith_mul(x.base, y.coeff, &bc) || !arith_mul(x.base, y.base, &bd)) {
        return anything;
    }
    return normal(hone_gcd(ac, hone_gcd(ad, bc)), bd);
}

static hone_modular modular_join(hone_modular x, hone_modular y) {
    int64_t gap = 0;
    if (x.base == INT64_MIN || !arith_add(y.base, -x.base, &gap)) return anything;
    return normal(hone_gcd(hone_gcd(x.coeff, y.coeff), gap), x.base);
}

static hone_modular expr_modular(hone_arith *a, const hone_expr *e);

static hone_modular binary_modular(hone_arith *a, const hone_expr *e) {
    hone_modular x = expr_modular(a, e->args[0]), y = expr_modular(a, e->args[1]);
    int64_t c = y.coeff == 0 ? y.base : 0;
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
        return modular_add(x, y);
    case HONE_OP_SUB:
        return modular_add(x, modular_scale(y, -1));
    case HONE_OP_MUL:
        return modular_mul(x, y);
    case HONE_OP_FLOORDIV:
        if (c <= 0 || x.coeff % c) return anything;
        return normal(x.coeff / c, arith_floordiv(x.base, c));
    case HONE_OP_FLOORMOD:
        if (c <= 0) return anything;
        if (x.coeff % c == 0) return normal(0, arith_floormod(x.base, c));
        return normal(hone_gcd(x.coeff, c), x.base);
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        return modular_join(x, y);
    default:
        return anything;
    }
}

/* What is left of it where the value is another one modulo 2^bits. */
static hone_modular wrapped(hone_modular m, unsigned bits) {
    int64_t most = (int64_t)1 << (bits - 2), power = m.coeff & -m.coeff;
    return normal(power == 0 || power > most ? most : power, m.base);
}

static hone_modular expr_modular(hone_arith *a, const hone_expr *e) {
    if (e->kind == HONE_EXPR_INT) return (hone_modular){0, e->u.i};
    if (!arith_is_index(e->dtype) || a->depth >= ARITH_MAX_DEPTH) return anything;
    int64_t value = 0;
    hone_modular m = anything;
    a->depth++;
    if (e->kind == HONE_EXPR_VAR) {
        if (arith_bound_is_const(arith_var_bound(a, e->u.var), &value))
            m = (hone_modular){0, value};
    } else if (e->kind == HONE_EXPR_BINARY) {
        m = binary_modular(a, e);
        if (!arith_is_exact(a, e)) m = wrapped(m, e->dtype.bits);
    } else if (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE)) {
        m = modular_join(expr_modular(a, e->args[1]), expr_modular(a, e->args[2]));
    } else if (e->kind == HONE_EXPR_CAST && arith_cast_is_exact(a, e)) {
        m = expr_modular(a, e->args[0]);
    }
    a->depth--;
    return m;
}

hone_modular arith_sum_modular(hone_arith *a, const arith_sum *s) {
    hone_modular m = {0, s->constant};
    for (uint32_t i = 0; i < s->count; i++) {
        m = modular_add(m, modular_scale(expr_modular(a, s->terms[i].term), s->terms[i].coeff));
    }
    return m;
}

hone_modular hone_arith_modular(hone_arith *arith, const hone_expr *e) {
    arith_sum s;
    arith->fuel = ARITH_FUEL;
    if (!e || !arith_is_index(e->dtype) || !arith_sum_of(arith, &s, e)) return anything;
    hone_modular m = arith_sum_modular(arith, &s);
    return arith_sum_is_exact(arith, &s, e->dtype) ? m : wrapped(m, e->dtype.bits);
}
