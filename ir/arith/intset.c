/* ir/arith/intset.c - symbolic intervals: the least and the greatest value of an expression while
 * some variables run over their domains and the others stay.
 *
 * Variables leave the sum one by one, those first whose domain depends on others: where the sum is
 * monotone in the variable, it goes to an end of its domain; else each non-linear term is replaced
 * by its own extreme, which is sound, and exact when the terms share no variable.
 */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

typedef struct relaxation {
    hone_arith *a;
    const bool *relax;
    uint32_t count;
    bool exact;
    uint32_t fuel;
} relaxation;

static bool is_relaxed(const relaxation *r, hone_var v) {
    return v < r->count && r->relax[v];
}

static bool uses_relaxed(const relaxation *r, const hone_expr *e) {
    return hone_expr_uses_any(e, r->relax, r->count);
}

static bool extreme(relaxation *r, const arith_sum *s, bool want_max, arith_sum *out);

/* ---- choosing the variable ---- */

static const hone_expr *first_relaxed(const relaxation *r, const hone_expr *e) {
    if (e->kind == HONE_EXPR_VAR) return is_relaxed(r, e->u.var) ? e : NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        const hone_expr *found = first_relaxed(r, e->args[i]);
        if (found) return found;
    }
    return NULL;
}

static bool domain_uses(const hone_arith *a, hone_var v, hone_var used) {
    if (v >= a->count || !a->mins[v]) return false;
    return hone_expr_uses_var(a->mins[v], used) || hone_expr_uses_var(a->extents[v], used);
}

/* The relaxed variable in e whose domain depends on v, if any. */
static const hone_expr *find_dependent(const relaxation *r, const hone_expr *e, hone_var v) {
    if (e->kind == HONE_EXPR_VAR) {
        bool found = is_relaxed(r, e->u.var) && e->u.var != v && domain_uses(r->a, e->u.var, v);
        return found ? e : NULL;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        const hone_expr *found = find_dependent(r, e->args[i], v);
        if (found) return found;
    }
    return NULL;
}

static const hone_expr *choose_var(const relaxation *r, const arith_sum *s) {
    const hone_expr *v = NULL;
    for (uint32_t i = s->count; i-- > 0 && !v;)
        v = first_relaxed(r, s->terms[i].term);
    for (int step = 0; v && step < 16; step++) {
        const hone_expr *later = NULL;
        for (uint32_t i = 0; i < s->count && !later; i++) {
            later = find_dependent(r, s->terms[i].term, v->u.var);
        }
        if (!later) break;
        v = later;
    }
    return v;
}

/* ---- monotone use ---- */

enum { FALLS = -1, FREE = 0, RISES = 1, UNKNOWN = 2 };

static int join_direction(int x, int y) {
    if (x == FREE || x == y) return y;
    return y == FREE ? x : UNKNOWN;
}

/* How e moves when v grows. */
static int direction(hone_arith *a, const hone_expr *e, hone_var v) {
    if (e->kind == HONE_EXPR_VAR) return e->u.var == v ? RISES : FREE;
    if (!hone_expr_uses_var(e, v)) return FREE;
    if (e->kind == HONE_EXPR_CAST && arith_cast_is_exact(a, e)) return direction(a, e->args[0], v);
    if (e->kind != HONE_EXPR_BINARY) return UNKNOWN;
    int x = direction(a, e->args[0], v), y = direction(a, e->args[1], v);
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        return join_direction(x, y);
    case HONE_OP_SUB:
        return join_direction(x, y == UNKNOWN ? UNKNOWN : -y);
    case HONE_OP_FLOORDIV:
        if (y != FREE || arith_expr_bound(a, e->args[1]).min <= 0) return UNKNOWN;
        return x;
    case HONE_OP_MUL: {
        if (x != FREE && y != FREE) return UNKNOWN;
        hone_bound other = arith_expr_bound(a, e->args[x == FREE ? 0 : 1]);
        int moving = x == FREE ? y : x;
        if (other.min >= 0) return moving;
        return other.max <= 0 && moving != UNKNOWN ? -moving : UNKNOWN;
    }
    default:
        return UNKNOWN;
    }
}

static int sum_direction(hone_arith *a, const arith_sum *s, hone_var v) {
    int total = FREE;
    for (uint32_t i = 0; i < s->count; i++) {
        int d = direction(a, s->terms[i].term, v);
        if (d != UNKNOWN && s->terms[i].coeff < 0) d = -d;
        total = join_direction(total, d);
    }
    return total;
}

/* The first or last value of v. */
static const hone_expr *domain_end(hone_arith *a, const hone_expr *var, bool last) {
    hone_var v = var->u.var;
    if (v < a->count && a->mins[v]) {
        if (!last) return a->mins[v];
        const hone_expr *end = hone_expr_add(&a->ir, a->mins[v], a->extents[v]);
        return hone_expr_sub(&a->ir, end, hone_expr_int(&a->ir, a->mins[v]->dtype, 1));
    }
    hone_bound b = arith_var_bound(a, v);
    int64_t value = last ? b.max : b.min;
    if (value == HONE_BOUND_NEG_INF || value == HONE_BOUND_POS_INF) return NULL;
    return hone_expr_int(&a->ir, var->dtype, value);
}

static bool substitute(hone_arith *a, const arith_sum *s, hone_var v, const hone_expr *value,
                       arith_sum *out) {
    arith_sum_init(out);
    arith_sum_add_const(out, s->constant, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *term = s->terms[i].term;
        if (!hone_expr_uses_var(term, v)) {
            arith_sum_add_term(a, out, term, s->terms[i].coeff);
            continue;
        }
        arith_flatten(a, out, hone_expr_substitute_one(&a->ir, term, v, value), s->terms[i].coeff);
    }
    return arith_sum_finish(a, out);
}

/* ---- terms on their own ---- */

static bool add_constant(relaxation *r, int64_t value, int64_t coeff, arith_sum *out) {
    r->exact = false;
    if (value == HONE_BOUND_NEG_INF || value == HONE_BOUND_POS_INF) return false;
    arith_sum_add_const(out, value, coeff);
    return !out->failed;
}

static bool operand_extreme(relaxation *r, const hone_expr *e, bool want_max, arith_sum *out) {
    arith_sum s;
    return arith_sum_of(r->a, &s, e) && extreme(r, &s, want_max, out);
}

static bool stands_in_one_term(const arith_sum *s, hone_var v) {
    uint32_t uses = 0;
    for (uint32_t i = 0; i < s->count; i++)
        uses += hone_expr_uses_var(s->terms[i].term, v);
    return uses == 1;
}

/* y runs over at least c consecutive values: some variable of step 1 has c of them. */
static bool reaches_all_residues(const relaxation *r, const hone_expr *y, int64_t c) {
    arith_sum s;
    if (!arith_sum_of(r->a, &s, y)) return false;
    for (uint32_t i = 0; i < s.count; i++) {
        const hone_expr *t = s.terms[i].term;
        if (t->kind != HONE_EXPR_VAR || !is_relaxed(r, t->u.var)) continue;
        hone_bound b = arith_var_bound(r->a, t->u.var);
        int64_t gap = 0;
        bool constant = t->u.var < r->a->count && !r->a->mins[t->u.var] &&
                        b.min != HONE_BOUND_NEG_INF && b.max != HONE_BOUND_POS_INF &&
                        !__builtin_sub_overflow(b.max, b.min, &gap);
        if (constant && gap >= c - 1 && stands_in_one_term(&s, t->u.var) &&
            (s.terms[i].coeff == 1 || s.terms[i].coeff == -1)) {
            return true;
        }
    }
    return false;
}

/* x % n is n - 1 at most. */
static bool add_last_residue(relaxation *r, const hone_expr *divisor, int64_t coeff,
                             arith_sum *out) {
    r->exact = false;
    if (arith_expr_bound(r->a, divisor).min < 1 || uses_relaxed(r, divisor)) return false;
    arith_sum_add_expr(r->a, out, divisor, coeff);
    arith_sum_add_const(out, -1, coeff);
    return !out->failed;
}

static bool mod_extreme(relaxation *r, const hone_expr *e, int64_t coeff, bool want_max,
                        arith_sum *out) {
    hone_arith *a = r->a;
    arith_sum lo, hi, qlo, qhi, result;
    int64_t c = hone_expr_is_int(e->args[1]) ? e->args[1]->u.i : 0;
    hone_bound own = arith_expr_bound(a, e);
    if (c <= 0 && want_max && own.max == HONE_BOUND_POS_INF) {
        return add_last_residue(r, e->args[1], coeff, out);
    }
    if (c <= 0) return add_constant(r, want_max ? own.max : own.min, coeff, out);
    bool was_exact = r->exact;
    if (operand_extreme(r, e->args[0], false, &lo) && operand_extreme(r, e->args[0], true, &hi) &&
        arith_divmod_const(a, &lo, c, false, e->dtype, &qlo) &&
        arith_divmod_const(a, &hi, c, false, e->dtype, &qhi)) {
        arith_sum gap;
        arith_sum_init(&gap);
        arith_sum_add_sum(a, &gap, &qhi, 1);
        arith_sum_add_sum(a, &gap, &qlo, -1);
        bool one_block = arith_sum_finish(a, &gap) && gap.count == 0 && gap.constant == 0;
        if (one_block && arith_divmod_const(a, want_max ? &hi : &lo, c, true, e->dtype, &result)) {
            arith_sum_add_sum(a, out, &result, coeff);
            return !out->failed;
        }
    }
    bool all = was_exact && reaches_all_residues(r, e->args[0], c);
    bool ok = add_constant(r, want_max ? own.max : own.min, coeff, out);
    r->exact = all && (want_max ? own.max == c - 1 : own.min == 0);
    return ok;
}

static bool div_extreme(relaxation *r, const hone_expr *e, int64_t coeff, bool want_max,
                        arith_sum *out) {
    arith_sum y, d, q;
    hone_bound divisor = arith_expr_bound(r->a, e->args[1]);
    hone_bound own = arith_expr_bound(r->a, e);
    if (divisor.min <= 0 || uses_relaxed(r, e->args[1])) {
        return add_constant(r, want_max ? own.max : own.min, coeff, out);
    }
    if (!operand_extreme(r, e->args[0], want_max, &y) || !arith_sum_of(r->a, &d, e->args[1]) ||
        !arith_divmod(r->a, &y, &d, false, e->dtype, &q)) {
        return add_constant(r, want_max ? own.max : own.min, coeff, out);
    }
    arith_sum_add_sum(r->a, out, &q, coeff);
    return !out->failed;
}

/* min, max and the values of a choice, whose extreme is the min or max of the sides' extremes */
static bool sides_extreme(relaxation *r, hone_op op, const hone_expr *x, const hone_expr *y,
                          int64_t coeff, bool want_max, hone_dtype dtype, arith_sum *out) {
    arith_sum sx, sy;
    bool shared = uses_relaxed(r, x) && uses_relaxed(r, y);
    bool has_x = operand_extreme(r, x, want_max, &sx), has_y = operand_extreme(r, y, want_max, &sy);
    if (shared) r->exact = false;
    bool one_suffices = (op == HONE_OP_MIN) == want_max; /* max of min(x, y) <= max x */
    if (!has_x || !has_y) {
        r->exact = false;
        if (!one_suffices || (!has_x && !has_y)) return false;
        arith_sum_add_sum(r->a, out, has_x ? &sx : &sy, coeff);
        return !out->failed;
    }
    const hone_expr *ex = arith_sum_expr(r->a, &sx, dtype, NULL);
    const hone_expr *ey = arith_sum_expr(r->a, &sy, dtype, NULL);
    const hone_expr *e = arith_simp_minmax(r->a, hone_expr_binary(&r->a->ir, op, ex, ey));
    arith_sum_add_expr(r->a, out, e, coeff);
    return !out->failed;
}

static bool term_extreme(relaxation *r, const hone_expr *e, int64_t coeff, bool want_max,
                         arith_sum *out) {
    hone_dtype dtype = e->dtype;
    if (e->kind == HONE_EXPR_BINARY) {
        switch ((hone_op)e->op) {
        case HONE_OP_FLOORDIV:
            return div_extreme(r, e, coeff, want_max, out);
        case HONE_OP_FLOORMOD:
            return mod_extreme(r, e, coeff, want_max, out);
        case HONE_OP_MIN:
        case HONE_OP_MAX:
            return sides_extreme(r, (hone_op)e->op, e->args[0], e->args[1], coeff, want_max, dtype,
                                 out);
        default:
            break;
        }
    }
    if (arith_is_index(dtype) &&
        (e->kind == HONE_EXPR_SELECT || hone_expr_is_call(e, HONE_INTRIN_IF_THEN_ELSE))) {
        r->exact = false;
        return sides_extreme(r, want_max ? HONE_OP_MAX : HONE_OP_MIN, e->args[1], e->args[2], coeff,
                             want_max, dtype, out);
    }
    hone_bound own = arith_expr_bound(r->a, e);
    return add_constant(r, want_max ? own.max : own.min, coeff, out);
}

/* Replaces every non-linear term that holds a relaxed variable. */
static bool by_terms(relaxation *r, const arith_sum *s, bool want_max, arith_sum *out) {
    arith_sum_init(out);
    arith_sum_add_const(out, s->constant, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *term = s->terms[i].term;
        int64_t c = s->terms[i].coeff;
        if (term->kind == HONE_EXPR_VAR || !uses_relaxed(r, term)) {
            arith_sum_add_term(r->a, out, term, c);
        } else if (!term_extreme(r, term, c, want_max == (c > 0), out)) {
            return false;
        }
    }
    return arith_sum_finish(r->a, out);
}

static bool stands_alone(const relaxation *r, const arith_sum *s) {
    for (uint32_t v = 0; v < r->count; v++) {
        uint32_t uses = 0;
        if (!r->relax[v]) continue;
        for (uint32_t i = 0; i < s->count; i++)
            uses += hone_expr_uses_var(s->terms[i].term, v);
        if (uses > 1) return false;
    }
    return true;
}

static bool extreme(relaxation *r, const arith_sum *s, bool want_max, arith_sum *out) {
    arith_sum_init(out);
    if (s->failed || r->fuel == 0) return false;
    r->fuel--;
    const hone_expr *var = choose_var(r, s);
    if (!var) {
        arith_sum_add_sum(r->a, out, s, 1);
        return !out->failed;
    }
    arith_sum next;
    int way = sum_direction(r->a, s, var->u.var);
    if (way == RISES || way == FALLS) {
        const hone_expr *end = domain_end(r->a, var, (way == RISES) == want_max);
        if (end) {
            if (!substitute(r->a, s, var->u.var, end, &next)) return false;
            return extreme(r, &next, want_max, out);
        }
        if (s->count && !(s->has & (ARITH_HAS_DIV | ARITH_HAS_MOD | ARITH_HAS_MINMAX)))
            return false;
    }
    if (!stands_alone(r, s)) r->exact = false;
    bool plain = true;
    for (uint32_t i = 0; i < s->count; i++) {
        const hone_expr *t = s->terms[i].term;
        plain = plain && (t->kind == HONE_EXPR_VAR || !uses_relaxed(r, t));
    }
    if (plain || !by_terms(r, s, want_max, &next)) return false;
    return extreme(r, &next, want_max, out);
}

/* ---- facts ---- */

/* s + k*L for a fact L >= 0 is never below s; k cancels the first relaxed term of s. */
static bool beside_fact(relaxation *r, const arith_sum *s, const hone_linear *fact, int64_t sign,
                        arith_sum *out) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (!uses_relaxed(r, s->terms[i].term)) continue;
        for (uint32_t j = 0; j < fact->count; j++) {
            if (arith_order(s->terms[i].term, fact->terms[j].term) != 0) continue;
            int64_t cf = fact->terms[j].coeff;
            if (s->terms[i].coeff % cf) return false;
            int64_t k = -(s->terms[i].coeff / cf);
            if (k * sign <= 0) return false;
            arith_sum_init(out);
            arith_sum_add_sum(r->a, out, s, 1);
            arith_sum_add_linear(r->a, out, fact, k);
            return arith_sum_finish(r->a, out);
        }
        return false;
    }
    return false;
}

/* Takes the end that a fact gives when it is known to be the tighter one (or the only one). */
static void meet_facts(relaxation *r, const arith_sum *s, bool want_max, bool *has_end,
                       arith_sum *end) {
    hone_arith *a = r->a;
    for (uint32_t f = 0; f < a->fact_count; f++) {
        const hone_fact *fact = &a->facts[f];
        if (fact->kind != ARITH_FACT_GE && fact->kind != ARITH_FACT_EQ) continue;
        arith_sum beside, candidate, gap;
        if (!beside_fact(r, s, &fact->linear, want_max ? 1 : -1, &beside)) continue;
        if (!extreme(r, &beside, want_max, &candidate)) continue;
        if (*has_end) {
            arith_sum_init(&gap);
            arith_sum_add_sum(a, &gap, end, want_max ? 1 : -1);
            arith_sum_add_sum(a, &gap, &candidate, want_max ? -1 : 1);
            if (!arith_sum_finish(a, &gap) || !arith_nonneg(a, &gap, ARITH_PROOF_FUEL)) continue;
        }
        arith_sum_init(end);
        arith_sum_add_sum(a, end, &candidate, 1);
        *has_end = !end->failed;
    }
}

static bool facts_touch_relaxed(const relaxation *r) {
    for (uint32_t f = 0; f < r->a->fact_count; f++) {
        if (uses_relaxed(r, r->a->facts[f].condition)) return true;
    }
    return false;
}

/* An end says nothing where constants left int64 (the simplifier could not fold them), or where it
 * may divide by zero: the end of a choice may do so where the choice itself would not. */
static bool is_meaningless(hone_arith *a, const hone_expr *e) {
    if (e->kind == HONE_EXPR_BINARY && e->op <= HONE_OP_MUL && hone_expr_is_int(e->args[0]) &&
        hone_expr_is_int(e->args[1])) {
        return true;
    }
    if (e->kind == HONE_EXPR_BINARY && e->op >= HONE_OP_DIV && e->op <= HONE_OP_TRUNCMOD) {
        hone_bound d = arith_expr_bound(a, e->args[1]);
        if (d.min <= 0 && d.max >= 0) return true;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (is_meaningless(a, e->args[i])) return true;
    }
    return false;
}

static const hone_expr *one_end(relaxation *r, const arith_sum *s, bool want_max, hone_dtype dtype,
                                bool tighten) {
    arith_sum end;
    r->fuel = 64;
    bool has_end = extreme(r, s, want_max, &end);
    if (!has_end) r->exact = false;
    if (tighten) meet_facts(r, s, want_max, &has_end, &end);
    const hone_expr *e = has_end ? arith_sum_expr(r->a, &end, dtype, NULL) : NULL;
    return e && !is_meaningless(r->a, e) ? e : NULL;
}

hone_interval hone_arith_relax(hone_arith *arith, const hone_expr *e, const bool *relax,
                               uint32_t relax_count, bool *out_is_exact) {
    hone_interval interval = {NULL, NULL};
    relaxation r = {.a = arith, .relax = relax, .count = relax_count, .exact = true};
    arith_sum s;
    if (out_is_exact) *out_is_exact = false;
    arith->fuel = ARITH_FUEL;
    bool was_of_indices = arith->is_of_indices;
    arith->is_of_indices = true;
    if (e && arith_is_index(e->dtype) && arith_sum_of(arith, &s, e)) {
        bool tighten = facts_touch_relaxed(&r);
        if (tighten) r.exact = false;
        interval.min = one_end(&r, &s, false, e->dtype, tighten);
        interval.max = one_end(&r, &s, true, e->dtype, tighten);
    }
    arith->is_of_indices = was_of_indices;
    if (out_is_exact) *out_is_exact = r.exact && interval.min && interval.max && !arith->ir.error;
    return interval;
}

/* ---- intervals ---- */

static const hone_expr *combine(hone_arith *a, hone_op op, const hone_expr *x, const hone_expr *y) {
    if (x == y) return x;
    return hone_simplify(a, hone_expr_binary(&a->ir, op, x, y));
}

hone_interval hone_interval_union(hone_arith *arith, hone_interval a, hone_interval b) {
    return (hone_interval){
        .min = a.min && b.min ? combine(arith, HONE_OP_MIN, a.min, b.min) : NULL,
        .max = a.max && b.max ? combine(arith, HONE_OP_MAX, a.max, b.max) : NULL,
    };
}

hone_interval hone_interval_intersect(hone_arith *arith, hone_interval a, hone_interval b) {
    return (hone_interval){
        .min = !a.min   ? b.min
               : !b.min ? a.min
                        : combine(arith, HONE_OP_MAX, a.min, b.min),
        .max = !a.max   ? b.max
               : !b.max ? a.max
                        : combine(arith, HONE_OP_MIN, a.max, b.max),
    };
}

bool hone_interval_range(hone_arith *arith, hone_interval interval, hone_dtype dtype,
                         hone_range *out_range) {
    *out_range = (hone_range){NULL, NULL};
    if (!interval.min || !interval.max) return false;
    hone_ir *ir = &arith->ir;
    const hone_expr *length = hone_expr_sub(ir, interval.max, interval.min);
    length = hone_expr_add(ir, length, hone_expr_int(ir, interval.max->dtype, 1));
    out_range->min = hone_simplify(arith, hone_expr_cast(ir, dtype, interval.min));
    out_range->extent = hone_simplify(arith, hone_expr_cast(ir, dtype, length));
    return out_range->min && out_range->extent;
}
