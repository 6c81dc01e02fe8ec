/* lower/loops/alike.c - iterations of a loop in which the same conditions hold, whatever the loops
 * inside do, so that one copy of the body serves all of them:
 *
 *   for y in 33: for dy in 3: if 6 <= y + dy * 6: S        y = 0 … 5: not where dy is 0
 *
 * A condition is a sum below 0. Where all terms but those of the loop are multiples of a unit, it
 * is another one only when the rest of the sum passes a multiple of that unit. */
#include "ir/core/fold.h"
#include "lower/loops/partitioning.h"

/* Adds what coeff * term can be. */
static void add_bound(hone_arith *arith, const hone_linear_term *t, lower_alike_sum *out) {
    hone_bound bound = hone_arith_bound(arith, t->term);
    int64_t a = INT64_MIN, b = INT64_MAX;
    bool is_known = bound.min != INT64_MIN && bound.max != INT64_MAX &&
                    !__builtin_mul_overflow(bound.min, t->coeff, &a) &&
                    !__builtin_mul_overflow(bound.max, t->coeff, &b) && out->least != INT64_MIN &&
                    !__builtin_add_overflow(out->least, a < b ? a : b, &out->least) &&
                    !__builtin_add_overflow(out->most, a < b ? b : a, &out->most);
    if (is_known) return;
    out->least = INT64_MIN;
    out->most = INT64_MAX;
}

static bool find_sum(hone_arith *arith, const hone_expr *condition, hone_var var,
                     lower_alike_sum *out) {
    const hone_expr *gap = lower_gap_of(arith, condition);
    hone_linear linear;
    if (!gap || !hone_linear_of(arith, gap, &linear)) return false;
    *out = (lower_alike_sum){.constant = linear.constant};
    for (uint32_t i = 0; i < linear.count; i++) {
        const hone_linear_term *t = &linear.terms[i];
        if (t->coeff == INT64_MIN) return false;
        if (t->term->kind == HONE_EXPR_VAR && t->term->u.var == var)
            out->step = t->coeff;
        else if (hone_expr_uses_var(t->term, var))
            return false;
        else {
            out->unit = hone_gcd(out->unit, t->coeff);
            add_bound(arith, t, out);
        }
    }
    if (out->unit > 1 && out->least != INT64_MIN) {
        out->least /= out->unit;
        out->most /= out->unit;
    }
    return true;
}

void lower_find_alike(lower_conditions *c, hone_var var, lower_alike *out) {
    *out = (lower_alike){.is_known = true};
    for (uint32_t i = 0; i < c->count && out->is_known; i++) {
        out->conditions[i] = c->conditions[i];
        out->is_known = find_sum(&c->scope.arith, c->conditions[i], var, &out->sums[i]);
        out->count++;
    }
}

/* A number that is the same for iterations in which the condition is. */
static bool number_of(const lower_alike_sum *s, int64_t iteration, int64_t *out) {
    int64_t rest;
    if (__builtin_mul_overflow(s->step, iteration, &rest)) return false;
    if (__builtin_add_overflow(rest, s->constant, &rest) || rest == INT64_MAX) return false;
    rest = -rest - 1; /* unit * m + rest < 0: m at most this divided by the unit */
    *out = s->unit ? hone_floor_div(rest, s->unit) : rest >= 0;
    if (s->unit && *out > s->most) *out = s->most;       /* holds always */
    if (s->unit && *out < s->least) *out = s->least - 1; /* never */
    return true;
}

bool lower_is_alike(const lower_alike *alike, int64_t iteration) {
    for (uint32_t i = 0; i < alike->count && alike->is_known; i++) {
        int64_t a, b;
        if (!number_of(&alike->sums[i], iteration - 1, &a) ||
            !number_of(&alike->sums[i], iteration, &b) || a != b) {
            return false;
        }
    }
    return alike->is_known;
}

typedef struct fixer {
    const lower_alike *alike;
    hone_var var;
    const hone_expr *value;
} fixer;

static const hone_expr *fix(void *ctx, hone_ir *ir, const hone_expr *e) {
    const fixer *f = ctx;
    if (!hone_dtype_is_bool(e->dtype) || e->dtype.lanes != 1) return e;
    for (uint32_t i = 0; i < f->alike->count; i++) {
        if (!hone_expr_same(f->alike->conditions[i], e)) continue;
        return hone_expr_substitute_one(ir, e, f->var, f->value);
    }
    return e;
}

hone_status lower_fix_conditions(hone_func *func, hone_node_id root, const lower_alike *alike,
                                 hone_var var, const hone_expr *value) {
    fixer f = {alike, var, value};
    return hone_tree_transform(func, root, fix, &f, false);
}
