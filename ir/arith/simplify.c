/* ir/arith/simplify.c - the simplifier: dispatch, sums, and what is neither sum nor comparison.
 *
 * Bottom-up, each node once: children become canonical, then the node is made from them. Index
 * arithmetic goes through sums (ir/arith/linear.c). Where a rule made a form that other rules may
 * like better, rule_count grows and the whole is gone over again until it stays the same.
 */
#include "ir/arith/arith.h"

#include "ir/arith/arith_impl.h"

enum { SIMPLIFY_ROUNDS = 6, CHILDREN_ON_STACK = 8 };

static bool is_scalar_bool(hone_dtype dtype) {
    return dtype.lanes == 1 && hone_dtype_is_bool(dtype);
}

static bool enter(hone_arith *a) {
    if (a->depth >= ARITH_MAX_DEPTH || a->fuel == 0) return false;
    a->fuel--;
    a->depth++;
    return true;
}

static void leave(hone_arith *a) {
    a->depth--;
}

bool arith_sum_of(hone_arith *a, arith_sum *s, const hone_expr *e) {
    arith_sum_init(s);
    arith_flatten(a, s, e, 1);
    return arith_sum_finish(a, s);
}

bool arith_number_of(hone_arith *a, arith_sum *s, const hone_expr *e) {
    return arith_sum_of(a, s, e) && arith_sum_is_exact(a, s, e->dtype);
}

bool arith_sum_diff(hone_arith *a, arith_sum *s, const hone_expr *x, const hone_expr *y) {
    arith_sum_init(s);
    arith_flatten(a, s, x, 1);
    arith_flatten(a, s, y, -1);
    if (!arith_sum_finish(a, s)) return false;
    if (s->count == 0 && s->constant == 0 && x->dtype.bits == y->dtype.bits) return true;
    return !s->wraps && arith_is_exact(a, x) && arith_is_exact(a, y);
}

/* ---- sums of what is written ---- */

static void flatten_var(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale) {
    hone_var v = e->u.var;
    if (v < a->count && !a->keeps_units) {
        if (a->bounds[v].min == a->bounds[v].max && a->bounds[v].min != HONE_BOUND_NEG_INF &&
            a->bounds[v].min != HONE_BOUND_POS_INF) {
            arith_sum_add_const(s, a->bounds[v].min, scale);
            return;
        }
        if (a->extents[v] && hone_expr_is_int_value(a->extents[v], 1)) {
            arith_sum_add_expr(a, s, a->mins[v], scale);
            a->rule_count++; /* what is known of the variables in it may say more */
            return;
        }
    }
    arith_sum_add_term(a, s, e, scale);
}

static void flatten_product(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale) {
    arith_sum x, y;
    int64_t c = 0;
    if (!arith_sum_of(a, &x, e->args[0]) || !arith_sum_of(a, &y, e->args[1])) {
        s->failed = true;
    } else if (arith_sum_is_const(&x, &c)) {
        s->failed |= !arith_mul(c, scale, &c);
        arith_sum_add_sum(a, s, &y, c);
    } else if (arith_sum_is_const(&y, &c)) {
        s->failed |= !arith_mul(c, scale, &c);
        arith_sum_add_sum(a, s, &x, c);
    } else if (!arith_sum_add_product(a, s, &x, &y, scale)) {
        const hone_expr *ex = arith_sum_expr(a, &x, e->dtype, e->args[0]);
        const hone_expr *ey = arith_sum_expr(a, &y, e->dtype, e->args[1]);
        arith_sum_add_term(a, s, hone_expr_mul(&a->ir, ex, ey), scale);
    }
}

void arith_flatten(hone_arith *a, arith_sum *s, const hone_expr *e, int64_t scale) {
    if (!e) s->failed = true;
    if (s->failed) return;
    if (e->kind == HONE_EXPR_INT) {
        arith_sum_add_const(s, e->u.i, scale);
        return;
    }
    if (e->kind == HONE_EXPR_VAR) {
        flatten_var(a, s, e, scale);
        return;
    }
    if (!enter(a)) {
        s->failed = true;
        return;
    }
    int64_t inner = 0;
    if (e->kind == HONE_EXPR_CAST && arith_cast_is_exact(a, e)) {
        arith_flatten(a, s, e->args[0], scale);
    } else if (hone_expr_is_op(e, HONE_OP_ADD) || hone_expr_is_op(e, HONE_OP_SUB)) {
        arith_flatten(a, s, e->args[0], scale);
        s->failed |= !arith_mul(scale, e->op == HONE_OP_ADD ? 1 : -1, &inner);
        arith_flatten(a, s, e->args[1], inner);
    } else if (hone_expr_is_op(e, HONE_OP_MUL)) {
        if (e->args[1]->kind == HONE_EXPR_INT) {
            s->failed |= !arith_mul(scale, e->args[1]->u.i, &inner);
            arith_flatten(a, s, e->args[0], inner);
        } else if (e->args[0]->kind == HONE_EXPR_INT) {
            s->failed |= !arith_mul(scale, e->args[0]->u.i, &inner);
            arith_flatten(a, s, e->args[1], inner);
        } else {
            flatten_product(a, s, e, scale);
        }
    } else {
        arith_sum_add_expr(a, s, arith_simp(a, e), scale);
    }
    leave(a);
}

static int64_t low_bits(int64_t value, unsigned bits) {
    if (bits >= 64) return value;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t low = (uint64_t)value & mask;
    if (low >> (bits - 1)) low |= ~mask;
    return (int64_t)low;
}

static const hone_expr *simp_sum(hone_arith *a, const hone_expr *e) {
    arith_sum s;
    if (!arith_sum_of(a, &s, e)) return arith_simp_parts(a, e);
    if (s.count == 0) s.constant = low_bits(s.constant, e->dtype.bits);
    const hone_expr *out = arith_sum_expr(a, &s, e->dtype, e);
    return out ? out : arith_simp_parts(a, e);
}

/* ---- division ---- */

static const hone_expr *simp_floor(hone_arith *a, const hone_expr *e) {
    arith_sum y, d, out;
    if (arith_number_of(a, &y, e->args[0]) && arith_number_of(a, &d, e->args[1]) &&
        arith_divmod(a, &y, &d, e->op == HONE_OP_FLOORMOD, e->dtype, &out)) {
        const hone_expr *r = arith_sum_expr(a, &out, e->dtype, e);
        if (r) return r;
    }
    return arith_simp_parts(a, e);
}

/* Rounding to zero is rounding down where the quotient is not negative. */
static const hone_expr *simp_trunc(hone_arith *a, const hone_expr *e) {
    bool want_mod = e->op == HONE_OP_TRUNCMOD;
    arith_sum y, d, negated, out;
    if (!arith_number_of(a, &y, e->args[0]) || !arith_number_of(a, &d, e->args[1])) {
        return arith_simp_parts(a, e);
    }
    int64_t cy = 0, cd = 0;
    if (arith_sum_is_const(&y, &cy) && arith_sum_is_const(&d, &cd) && cd != 0) {
        int64_t quotient =
            cd == -1 ? low_bits((int64_t)(0 - (uint64_t)cy), e->dtype.bits) : cy / cd;
        return hone_expr_int(&a->ir, e->dtype, !want_mod ? quotient : cd == -1 ? 0 : cy % cd);
    }
    hone_bound by = arith_sum_bound(a, &y), bd = arith_sum_bound(a, &d);
    int64_t sign = 1;
    arith_sum_init(&negated);
    if (by.min >= 0 && bd.min > 0) {
        arith_sum_add_sum(a, &negated, &y, 1);
    } else if (by.max <= 0 && bd.min > 0) {
        arith_sum_add_sum(a, &negated, &y, -1);
        sign = -1;
    } else {
        return arith_simp_parts(a, e);
    }
    const hone_expr *r = NULL;
    if (arith_sum_finish(a, &negated) && arith_divmod(a, &negated, &d, want_mod, e->dtype, &out)) {
        arith_sum signed_out;
        arith_sum_init(&signed_out);
        arith_sum_add_sum(a, &signed_out, &out, sign);
        if (arith_sum_finish(a, &signed_out)) r = arith_sum_expr(a, &signed_out, e->dtype, e);
    }
    if (r) a->rule_count++;
    return r ? r : arith_simp_parts(a, e);
}

/* ---- choices ---- */

/* Both branches of a SELECT may be evaluated: what only one of them may rely on must not change
 * where the other would load from, or what it divides by. */
static bool may_rely(const hone_expr *choice, const hone_expr *branch) {
    return choice->kind != HONE_EXPR_SELECT || !hone_expr_may_fail(branch);
}

static const hone_expr *simp_under(hone_arith *a, const hone_expr *choice, const hone_expr *fact,
                                   const hone_expr *e) {
    if (!may_rely(choice, e)) {
        const hone_expr *r = arith_simp(a, e);
        if (r && r != e && may_rely(choice, r)) a->rule_count++; /* the next round may */
        return r;
    }
    uint32_t mark = hone_arith_push(a, fact);
    const hone_expr *r = arith_simp(a, e);
    hone_arith_pop(a, mark);
    return r;
}

/* SELECT and if_then_else. */
static const hone_expr *simp_choice(hone_arith *a, const hone_expr *e) {
    const hone_expr *cond = arith_simp(a, e->args[0]);
    if (!cond) return NULL;
    if (cond->kind == HONE_EXPR_INT && cond->dtype.lanes == 1) {
        return arith_simp(a, e->args[cond->u.i ? 1 : 2]);
    }
    const hone_expr *args[] = {cond, NULL, NULL};
    if (is_scalar_bool(cond->dtype)) {
        args[1] = simp_under(a, e, cond, e->args[1]);
        args[2] = simp_under(a, e, arith_negate(a, cond), e->args[2]);
    } else {
        args[1] = arith_simp(a, e->args[1]);
        args[2] = arith_simp(a, e->args[2]);
    }
    if (!args[1] || !args[2]) return NULL;
    if (hone_expr_same(args[1], args[2]) && hone_expr_is_pure_index(cond)) return args[1];
    return hone_expr_with_args(&a->ir, e, args);
}

/* ---- the rest ---- */

const hone_expr *arith_simp_children(hone_arith *a, const hone_expr *e) {
    if (e->count == 0) return e;
    const hone_expr *stack_args[CHILDREN_ON_STACK];
    const hone_expr **args = stack_args;
    if (e->count > CHILDREN_ON_STACK) args = arith_alloc(a, e->count * sizeof *args);
    if (!args) return NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        args[i] = arith_simp(a, e->args[i]);
        if (!args[i]) return NULL;
    }
    return hone_expr_with_args(&a->ir, e, args);
}

const hone_expr *arith_simp_parts(hone_arith *a, const hone_expr *e) {
    const hone_expr *r = arith_simp_children(a, e);
    if (r != e) a->rule_count++;
    return r;
}

static const hone_expr *cast_int(hone_arith *a, const hone_expr *cast, int64_t value) {
    hone_dtype to = cast->dtype;
    if (hone_dtype_is_bool(to)) return hone_expr_int(&a->ir, to, value != 0);
    if (hone_dtype_is_int(to)) return hone_expr_int(&a->ir, to, low_bits(value, to.bits));
    bool is_large = hone_dtype_is_uint(cast->args[0]->dtype) && value < 0; /* 2^63 and more */
    bool is_small = !is_large && value >= -(1 << 24) && value <= 1 << 24;
    if (hone_dtype_is_float(to) && to.bits >= 32 && is_small) {
        return hone_expr_float(&a->ir, to, (double)value);
    }
    return NULL;
}

static const hone_expr *simp_cast(hone_arith *a, const hone_expr *e) {
    const hone_expr *r = arith_simp_children(a, e);
    if (!r || r->kind != HONE_EXPR_CAST || r->dtype.lanes != 1) return r;
    if (hone_dtype_equal(r->dtype, r->args[0]->dtype)) return r->args[0];
    if (arith_cast_is_exact(a, r)) { /* seen only now that the inside is simple */
        arith_sum s;
        arith_sum_init(&s);
        arith_sum_add_expr(a, &s, r, 1);
        const hone_expr *bare = arith_sum_finish(a, &s) ? arith_sum_expr(a, &s, e->dtype, r) : NULL;
        return bare ? bare : r;
    }
    if (r->args[0]->kind != HONE_EXPR_INT) return r;
    const hone_expr *constant = cast_int(a, r, r->args[0]->u.i);
    return constant ? constant : r;
}

/* Shifts and masks by constants are divisions and remainders (two's complement). */
static const hone_expr *simp_bits(hone_arith *a, const hone_expr *e) {
    if (e->count != 2 || e->args[1]->kind != HONE_EXPR_INT) return NULL;
    int64_t c = e->args[1]->u.i;
    hone_op op = HONE_OP_MUL;
    if (e->op == HONE_INTRIN_BITWISE_AND) {
        if (c < 0 || c == INT64_MAX || (c & (c + 1))) return NULL;
        op = HONE_OP_FLOORMOD;
        c += 1;
    } else {
        if (e->op != HONE_INTRIN_SHIFT_LEFT && e->op != HONE_INTRIN_SHIFT_RIGHT) return NULL;
        if (c < 0 || c >= e->dtype.bits - 1) return NULL;
        if (e->op == HONE_INTRIN_SHIFT_RIGHT) op = HONE_OP_FLOORDIV;
        c = (int64_t)1 << c;
    }
    if (!arith_fits(e->dtype, c)) return NULL;
    const hone_expr *constant = hone_expr_int(&a->ir, e->dtype, c);
    return arith_simp(a, hone_expr_binary(&a->ir, op, e->args[0], constant));
}

static const hone_expr *simp_call(hone_arith *a, const hone_expr *e) {
    if (e->op == HONE_INTRIN_IF_THEN_ELSE) return simp_choice(a, e);
    const hone_expr *r = arith_is_index(e->dtype) ? simp_bits(a, e) : NULL;
    if (r) return r;
    r = arith_simp_children(a, e);
    if (!r || r->kind != HONE_EXPR_CALL) return r;
    if (r->op == HONE_INTRIN_LIKELY && r->args[0]->kind == HONE_EXPR_INT) return r->args[0];
    if (r->op == HONE_INTRIN_CHECKED_INDEX && hone_arith_is_within(a, r->args[0], r->args[1])) {
        return r->args[0];
    }
    return r;
}

static const hone_expr *simp_let(hone_arith *a, const hone_expr *e) {
    const hone_expr *value = arith_simp(a, e->args[0]);
    if (!value) return NULL;
    if (value->kind == HONE_EXPR_INT || value->kind == HONE_EXPR_VAR) {
        return arith_simp(a, hone_expr_substitute_one(&a->ir, e->args[1], e->u.var, value));
    }
    if (!arith_note_value(a, e->u.var, value)) return NULL;
    const hone_expr *args[] = {value, arith_simp(a, e->args[1])};
    if (!args[1]) return NULL;
    if (!hone_expr_uses_var(args[1], e->u.var) && hone_expr_is_pure_index(value)) return args[1];
    return hone_expr_with_args(&a->ir, e, args);
}

static bool is_value(const hone_expr *e, double value) {
    if (e->kind == HONE_EXPR_BROADCAST) e = e->args[0];
    return (e->kind == HONE_EXPR_FLOAT && e->u.f == value) ||
           (e->kind == HONE_EXPR_INT && (double)e->u.i == value);
}

/* Scalars below a vector operation, lifted: op(broadcast x, broadcast y) = broadcast(op(x, y)), and
 * sums of ramps. NULL when it is neither. */
static const hone_expr *simp_vector(hone_arith *a, const hone_expr *e) {
    const hone_expr *x = e->args[0], *y = e->args[1];
    bool bx = x->kind == HONE_EXPR_BROADCAST, by = y->kind == HONE_EXPR_BROADCAST;
    uint16_t lanes = e->dtype.lanes;
    if (bx && by) {
        const hone_expr *one = hone_expr_binary(&a->ir, (hone_op)e->op, x->args[0], y->args[0]);
        return hone_expr_broadcast(&a->ir, arith_simp(a, one), lanes);
    }
    bool rx = x->kind == HONE_EXPR_RAMP, ry = y->kind == HONE_EXPR_RAMP;
    bool sums = e->op == HONE_OP_ADD || e->op == HONE_OP_SUB;
    bool scales = e->op == HONE_OP_MUL && (bx || by);
    if (!(rx || ry) || !(rx || bx) || !(ry || by) || !(sums || scales)) return NULL;
    hone_dtype scalar = x->args[0]->dtype;
    if (!arith_is_index(scalar)) return NULL;
    const hone_expr *zero = hone_expr_int(&a->ir, scalar, 0);
    const hone_expr *sx = rx ? x->args[1] : scales ? x->args[0] : zero;
    const hone_expr *sy = ry ? y->args[1] : scales ? y->args[0] : zero;
    const hone_expr *base = hone_expr_binary(&a->ir, (hone_op)e->op, x->args[0], y->args[0]);
    const hone_expr *stride = hone_expr_binary(&a->ir, (hone_op)e->op, sx, sy);
    return hone_expr_ramp(&a->ir, arith_simp(a, base), arith_simp(a, stride), lanes);
}

/* Floats, narrow and unsigned integers, vectors: exact identities only. */
static const hone_expr *simp_other_binary(hone_arith *a, const hone_expr *e) {
    const hone_expr *r = arith_simp_children(a, e);
    if (!r || r->kind != HONE_EXPR_BINARY) return r;
    const hone_expr *x = r->args[0], *y = r->args[1];
    if (r->dtype.lanes > 1) {
        const hone_expr *lifted = simp_vector(a, r);
        if (lifted) return lifted;
    }
    bool is_float = hone_dtype_is_float(x->dtype);
    switch ((hone_op)r->op) {
    case HONE_OP_MUL:
        if (is_value(y, 1)) return x;
        if (is_value(x, 1)) return y;
        return r;
    case HONE_OP_DIV:
        return is_float && is_value(y, 1) ? x : r;
    case HONE_OP_ADD:
        if (!is_float && is_value(y, 0)) return x;
        if (!is_float && is_value(x, 0)) return y;
        return r;
    case HONE_OP_SUB:
        return !is_float && is_value(y, 0) ? x : r;
    case HONE_OP_FLOORDIV:
        return !is_float && is_value(y, 1) ? x : r;
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        return hone_expr_same(x, y) && hone_expr_is_pure_index(x) ? x : r;
    default:
        return r;
    }
}

static const hone_expr *simp_binary(hone_arith *a, const hone_expr *e) {
    if (is_scalar_bool(e->dtype)) return arith_simp_bool(a, e);
    if (!arith_is_index(e->dtype)) return simp_other_binary(a, e);
    switch ((hone_op)e->op) {
    case HONE_OP_ADD:
    case HONE_OP_SUB:
    case HONE_OP_MUL:
        return simp_sum(a, e);
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
        return simp_floor(a, e);
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        return simp_trunc(a, e);
    case HONE_OP_MIN:
    case HONE_OP_MAX:
        return arith_simp_minmax(a, e);
    default:
        return arith_simp_children(a, e);
    }
}

static const hone_expr *simp_node(hone_arith *a, const hone_expr *e) {
    switch ((hone_expr_kind)e->kind) {
    case HONE_EXPR_INT:
    case HONE_EXPR_FLOAT:
    case HONE_EXPR_STRING:
        return e;
    case HONE_EXPR_VAR:
        return arith_is_index(e->dtype) ? simp_sum(a, e) : e;
    case HONE_EXPR_BINARY:
        return simp_binary(a, e);
    case HONE_EXPR_NOT:
        return is_scalar_bool(e->dtype) ? arith_simp_bool(a, e) : arith_simp_children(a, e);
    case HONE_EXPR_SELECT:
        return simp_choice(a, e);
    case HONE_EXPR_CAST:
        return arith_cast_is_exact(a, e) ? simp_sum(a, e) : simp_cast(a, e);
    case HONE_EXPR_CALL:
        return simp_call(a, e);
    case HONE_EXPR_LET:
        return simp_let(a, e);
    default:
        return arith_simp_children(a, e);
    }
}

const hone_expr *arith_simp(hone_arith *a, const hone_expr *e) {
    if (!e) return NULL;
    if (e->kind == HONE_EXPR_INT || e->kind == HONE_EXPR_FLOAT) return e;
    if (!enter(a)) return e;
    const hone_expr *r = simp_node(a, e);
    leave(a);
    return r;
}

const hone_expr *hone_simplify(hone_arith *arith, const hone_expr *e) {
    if (!e) return NULL;
    for (int round = 0; round < SIMPLIFY_ROUNDS; round++) {
        arith->fuel = ARITH_FUEL;
        arith->rule_count = 0;
        const hone_expr *r = arith_simp(arith, e);
        if (!r) return NULL;
        bool again = arith->rule_count > 0 && !hone_expr_same(r, e);
        e = r;
        if (!again) break;
    }
    return e;
}

const hone_expr *hone_simplify_plain(hone_ir *ir, const hone_expr *e) {
    hone_arith arith;
    hone_arith_init(&arith, ir->arena);
    const hone_expr *r = hone_simplify(&arith, e);
    if (arith.ir.error) hone_ir_fail(ir, arith.ir.error);
    return r;
}
