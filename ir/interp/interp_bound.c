/* ir/interp/interp_bound.c - how far rounding may move what a program computes: beside each number
 * goes a bound of how far two evaluations of the program lie apart whose sums are taken in any
 * order, with products rounded or not (fused multiply-add). It is a running error analysis (Higham,
 * Accuracy and Stability of Numerical Algorithms, sections 3.3 and 4.2): a sum of n terms, in any
 * order, is off by at most n roundings of the sum of their magnitudes. So a bound has three parts,
 *
 *     relative * size + other        size: the magnitudes of the terms that were added up
 *                                    relative: the roundings on the way of one of them
 *                                    other: what came with the terms
 *
 * and only a sum of sums keeps them apart. An epsilon is two roundings: one of each evaluation.
 * What is no sum and no product is evaluated again with arguments as far off as they may be.
 */
#include <math.h>

#include "ir/interp/interp_impl.h"

typedef struct xnumber {
    double value;
    xerror bound;
} xnumber;

/* Functions of machine code are right to a few roundings; what is made of whole numbers, signs and
 * exponents is exact. */
static const double FUNCTION_ROUNDINGS = 4;

static xnumber number_of(const xexpr *e, machine *m);

static double total(xerror b) {
    return (b.relative > 0 ? b.relative * b.size : 0) + b.other;
}

static bool is_exact(xerror b) {
    return b.relative == 0 && b.other == 0;
}

HONE_NORETURN static void refuse(machine *m, const char *what) {
    machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s: its rounding is not bounded", what));
}

static double epsilon_of(const xexpr *e) {
    return hone_dtype_epsilon(hone_dtype_element(e->dtype));
}

/* Between the smallest numbers of the type: what a rounding loses there. */
static double least_of(const xexpr *e) {
    double most = hone_dtype_max_float(hone_dtype_element(e->dtype));
    return most > 0 ? 4 * epsilon_of(e) / most : 0;
}

/* ---- evaluating again ---- */

static double value_of(const xexpr *e, machine *m) {
    return x_is_float(e) ? x_float(e, m) : (double)x_int(e, m);
}

static int64_t given_i(const xexpr *e, machine *m) {
    (void)m;
    return e->u.i;
}
static double given_f(const xexpr *e, machine *m) {
    (void)m;
    return e->u.f;
}

static int64_t saturated(double value) {
    if (value >= 0x1p63) return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

/* The argument, this far from its value. */
static void move(xexpr *given, const xexpr *arg, xnumber x, double by) {
    memcpy(given, arg, sizeof *arg);
    if (x_is_float(arg)) {
        given->u.f = x.value + by;
        given->eval.f = given_f;
    } else {
        given->u.i = saturated(x.value + by);
        given->eval.i = given_i;
    }
}

/* The expression with given arguments; there is one for each machine. */
static xexpr *expression_again(machine *m, const xexpr *e) {
    size_t bytes = sizeof *e + INTERP_BOUNDED_ARGS * sizeof e->args[0];
    if (!m->again) m->again = machine_alloc(m, bytes);
    for (uint32_t i = 0; i < INTERP_BOUNDED_ARGS; i++) {
        if (!m->given[i]) m->given[i] = machine_alloc(m, sizeof *e);
    }
    memcpy(m->again, e, sizeof *e);
    return m->again;
}

/* How far the value of e moves when its arguments do, each to either end of where it may be. */
static double spread(const xexpr *e, machine *m, double value, const xnumber *args) {
    xexpr *again = expression_again(m, e);
    double most = 0;
    for (uint32_t ends = 0; ends < 1u << e->count; ends++) {
        for (uint32_t i = 0; i < e->count; i++) {
            double by = total(args[i].bound);
            move(m->given[i], e->args[i], args[i], ends >> i & 1 ? by : -by);
            again->args[i] = is_exact(args[i].bound) ? e->args[i] : m->given[i];
        }
        double far = fabs(value_of(again, m) - value);
        if (!(far <= most)) most = isnan(far) ? INFINITY : far;
    }
    return most;
}

static bool divides(const xexpr *e) {
    if (e->source->kind != HONE_EXPR_BINARY) return false;
    switch ((hone_op)e->source->op) {
    case HONE_OP_DIV:
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        return true;
    default:
        return false;
    }
}

/* Anything that has no side effect and is no sum. */
static xerror bound_again(const xexpr *e, machine *m, double value, double roundings) {
    xnumber args[INTERP_BOUNDED_ARGS];
    xerror b = {.size = fabs(value), .relative = roundings * epsilon_of(e)};
    bool all_exact = true;
    if (roundings > 0) b.other = least_of(e);
    if (e->count > INTERP_BOUNDED_ARGS) refuse(m, "a call with many arguments");
    for (uint32_t i = 0; i < e->count; i++) {
        args[i] = number_of(e->args[i], m);
        all_exact &= is_exact(args[i].bound);
        if (!isfinite(total(args[i].bound))) b.other = INFINITY;
    }
    if (all_exact || isinf(b.other)) return b;
    bool may_be_zero = divides(e) && total(args[1].bound) >= fabs(args[1].value);
    bool is_index = divides(e) && !x_is_float(e) && !is_exact(args[1].bound);
    b.other += may_be_zero || is_index ? INFINITY : spread(e, m, value, args);
    b.size += b.other;
    return b;
}

/* ---- sums and products ---- */

static xerror sum_of(const xexpr *e, xnumber a, xnumber b) {
    double before = fmax(a.bound.relative, b.bound.relative);
    return (xerror){.size = a.bound.size + b.bound.size,
                    .relative = before + epsilon_of(e) * (1 + before),
                    .other = a.bound.other + b.bound.other};
}

static xerror product_of(const xexpr *e, xnumber a, xnumber b) {
    double x = total(a.bound), y = total(b.bound), eps = epsilon_of(e);
    double carried = 0;
    if (x > 0) carried += x * (fabs(b.value) + y);
    if (y > 0) carried += y * fabs(a.value);
    return (xerror){
        .size = fabs(a.value * b.value) + carried, .relative = eps, .other = carried + least_of(e)};
}

static xerror bound_of_binary(const xexpr *e, machine *m, double value) {
    hone_op op = (hone_op)e->source->op;
    bool is_sum = op == HONE_OP_ADD || op == HONE_OP_SUB;
    if (!x_is_float(e) || !(is_sum || op == HONE_OP_MUL)) {
        bool is_rounded = x_is_float(e) && op == HONE_OP_DIV;
        return bound_again(e, m, value, is_rounded ? 1 : 0);
    }
    xnumber a = number_of(e->args[0], m), b = number_of(e->args[1], m);
    return is_sum ? sum_of(e, a, b) : product_of(e, a, b);
}

static xerror bound_of_fma(const xexpr *e, machine *m) {
    xnumber a = number_of(e->args[0], m), b = number_of(e->args[1], m);
    xnumber product = {a.value * b.value, product_of(e, a, b)};
    return sum_of(e, product, number_of(e->args[2], m));
}

/* ---- the rest ---- */

/* A cast to fewer digits rounds once; the order of the terms is that before it. */
static xerror bound_of_cast(const xexpr *e, machine *m, double value) {
    const xexpr *from = e->args[0];
    if (!x_is_float(e)) return bound_again(e, m, value, 0);
    xerror b = number_of(from, m).bound;
    bool is_rounded = !is_exact(b) && (!x_is_float(from) || epsilon_of(e) > epsilon_of(from));
    if (is_rounded) b.other += epsilon_of(e) * fabs(value) + least_of(e);
    return b;
}

/* Where the condition may go either way, the value may be that of either side. */
static xerror bound_of_choice(const xexpr *e, machine *m) {
    if (hone_expr_as_extreme(e->source)) return number_of(e->args[2], m).bound; /* or NaN */
    xnumber condition = number_of(e->args[0], m);
    xnumber taken = number_of(e->args[condition.value != 0 ? 1 : 2], m);
    if (is_exact(condition.bound)) return taken.bound;
    xnumber left = number_of(e->args[condition.value != 0 ? 2 : 1], m);
    double far = fabs(left.value - taken.value) + total(left.bound);
    return (xerror){.size = fabs(taken.value), .other = fmax(far, total(taken.bound))};
}

static xerror bound_of_load(const xexpr *e, machine *m, double value) {
    hone_buffer id = e->u.buffer;
    bool has_lanes = hone_func_buffer(m->func, id)->dtype.lanes > 1;
    int64_t at = has_lanes ? locate_lane(m, id, e->count, e->args, false)
                           : locate(m, id, e->count, e->args, false);
    xerror b = m->buffers[id].store->bounds[at];
    b.size = fmax(b.size, fabs(value)); /* of an argument nothing is known but its value */
    for (uint32_t d = 0; d < e->count; d++) {
        if (!is_exact(number_of(e->args[d], m).bound)) b.other = INFINITY;
    }
    return b;
}

static double roundings_of(hone_intrin intrin) {
    switch (intrin) {
    case HONE_INTRIN_FLOOR:
    case HONE_INTRIN_CEIL:
    case HONE_INTRIN_ROUND:
    case HONE_INTRIN_NEARBYINT:
    case HONE_INTRIN_TRUNC:
    case HONE_INTRIN_FABS:
    case HONE_INTRIN_ABS:
    case HONE_INTRIN_FMOD:
    case HONE_INTRIN_COPYSIGN:
    case HONE_INTRIN_LDEXP:
    case HONE_INTRIN_NEXTAFTER:
    case HONE_INTRIN_REINTERPRET:
        return 0;
    default:
        return FUNCTION_ROUNDINGS;
    }
}

static xerror bound_of_call(const xexpr *e, machine *m, double value) {
    hone_intrin intrin = (hone_intrin)e->source->op;
    switch (intrin) {
    case HONE_INTRIN_IF_THEN_ELSE:
        return bound_of_choice(e, m);
    case HONE_INTRIN_LIKELY:
        return number_of(e->args[0], m).bound;
    case HONE_INTRIN_FMA:
        return bound_of_fma(e, m);
    case HONE_INTRIN_CALL_EXTERN:
    case HONE_INTRIN_CALL_PURE_EXTERN:
        if (hone_libm_of_call(e->source)) return bound_again(e, m, value, FUNCTION_ROUNDINGS);
        refuse(m, hone_intrin_spelling(intrin));
    case HONE_INTRIN_NAMED:
    case HONE_INTRIN_CALL_PACKED:
    case HONE_INTRIN_ADDRESS_OF:
    case HONE_INTRIN_ACCESS_PTR:
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
    case HONE_INTRIN_VECTOR_REDUCE_MAX:
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
    case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
    case HONE_INTRIN_DOT2:
    case HONE_INTRIN_DOT2_BF16:
    case HONE_INTRIN_DOT4:
        refuse(m, hone_intrin_spelling(intrin));
    default:
        return bound_again(e, m, value, roundings_of(intrin));
    }
}

static xerror bound_of_let(const xexpr *e, machine *m) {
    m->slot_bounds[e->u.slot] = number_of(e->args[0], m).bound;
    return number_of(e->args[1], m).bound;
}

static xerror bound_of(const xexpr *e, machine *m, double value) {
    switch ((hone_expr_kind)e->source->kind) {
    case HONE_EXPR_INT:
    case HONE_EXPR_FLOAT:
    case HONE_EXPR_STRING:
        return (xerror){.size = fabs(value)};
    case HONE_EXPR_VAR: {
        xerror b = m->slot_bounds[e->u.slot];
        b.size = fmax(b.size, fabs(value));
        return b;
    }
    case HONE_EXPR_LOAD:
        return bound_of_load(e, m, value);
    case HONE_EXPR_BINARY:
        return bound_of_binary(e, m, value);
    case HONE_EXPR_CAST:
        return bound_of_cast(e, m, value);
    case HONE_EXPR_SELECT:
        return bound_of_choice(e, m);
    case HONE_EXPR_CALL:
        return bound_of_call(e, m, value);
    case HONE_EXPR_LET:
        return bound_of_let(e, m);
    case HONE_EXPR_BROADCAST:
        return number_of(e->args[0], m).bound;
    case HONE_EXPR_NOT:
    case HONE_EXPR_RAMP:
        return bound_again(e, m, value, 0);
    case HONE_EXPR_SHUFFLE:
        break;
    }
    refuse(m, "a vector made of others");
}

/* In another order a sum may leave the numbers of its type. */
static xnumber number_of(const xexpr *e, machine *m) {
    xnumber x = {.value = value_of(e, m)}; /* this also sets the variable of a let */
    x.bound = bound_of(e, m, x.value);
    if (!x_is_float(e) || is_exact(x.bound)) return x;
    double most = hone_dtype_max_float(hone_dtype_element(e->dtype));
    if (!(x.bound.size + total(x.bound) <= most)) x.bound.other = INFINITY;
    return x;
}

/* ---- statements ---- */

void bound_require_exact(machine *m, const xexpr *e) {
    if (!m->options.out_bounds) return;
    if (!is_exact(number_of(e, m).bound)) refuse(m, "a condition or an index that was rounded");
}

void bound_require_no_effect(machine *m, const hone_expr *e) {
    bool is_plain =
        e->kind != HONE_EXPR_CALL || e->op == HONE_INTRIN_RETURN || e->op == HONE_INTRIN_ASSUME;
    if (m->options.out_bounds && !is_plain) refuse(m, "a call for its effect");
}

void bound_let(machine *m, const xstmt *s) {
    if (!m->options.out_bounds) return;
    for (m->lane = 0; m->lane < s->lanes; m->lane++) {
        m->slot_bounds[s->var] = number_of(s->value, m).bound;
        bool is_lane = s->lanes > 1;
        if (is_lane && !is_exact(m->slot_bounds[s->var])) refuse(m, "a vector with a name");
        if (is_lane) m->slot_bounds[s->var] = (xerror){0};
    }
    m->lane = 0;
}

xflow run_bounded_store(const xstmt *s, machine *m) {
    xerror bounds[INTERP_MAX_LANES];
    m->at = s->node;
    for (m->lane = 0; m->lane < s->lanes; m->lane++) {
        if (!m->mask || x_int(m->mask, m)) bounds[m->lane] = number_of(s->value, m).bound;
    }
    m->lane = 0;
    for (uint32_t d = 0; d < s->access.rank; d++)
        bound_require_exact(m, s->access.indices[d]);
    xflow flow = run_any_store(s, m);
    const xbuffer *b = &m->buffers[s->access.buffer];
    for (uint16_t lane = 0; lane < s->lanes; lane++) {
        m->lane = (uint16_t)(lane / b->lanes);
        if (m->mask && !x_int(m->mask, m)) continue;
        b->store->bounds[place_of_lane(s, m) + lane % b->lanes] = bounds[lane];
    }
    m->lane = 0;
    return flow;
}

void bound_return(machine *m) {
    for (uint32_t i = 0; i < m->func->param_count; i++) {
        hone_tensor *out = m->options.out_bounds[i];
        hone_buffer id = m->func->params[i].buffer;
        for (int64_t k = 0; out && id != HONE_NO_ID && k < hone_tensor_count(out); k++)
            hone_tensor_set_f64(out, k, total(m->buffers[id].own.bounds[k]));
    }
}
