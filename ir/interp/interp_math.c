/* ir/interp/interp_math.c - calls that the language knows. Float functions are computed in double
 * and rounded once to their dtype, which is at least as accurate as the function of that width. */
#include <math.h>

#include "ir/interp/interp_impl.h"

#define A (x_float(e->args[0], m))
#define B (x_float(e->args[1], m))

static double sigmoid(double x) {
    double e = exp(-fabs(x)); /* never too large */
    return (x < 0 ? e : 1.0) / (1.0 + e);
}
static double rsqrt_(double x) {
    return 1.0 / sqrt(x);
}
static double ten_to(double x) {
    return pow(10.0, x);
}

typedef double (*unary_fn)(double);
typedef double (*binary_fn)(double, double);

static const unary_fn unary_fns[HONE_INTRIN_COUNT] = {
    [HONE_INTRIN_EXP] = exp,
    [HONE_INTRIN_EXP2] = exp2,
    [HONE_INTRIN_EXP10] = ten_to,
    [HONE_INTRIN_LOG] = log,
    [HONE_INTRIN_LOG2] = log2,
    [HONE_INTRIN_LOG10] = log10,
    [HONE_INTRIN_LOG1P] = log1p,
    [HONE_INTRIN_SQRT] = sqrt,
    [HONE_INTRIN_RSQRT] = rsqrt_,
    [HONE_INTRIN_SIN] = sin,
    [HONE_INTRIN_COS] = cos,
    [HONE_INTRIN_TAN] = tan,
    [HONE_INTRIN_ASIN] = asin,
    [HONE_INTRIN_ACOS] = acos,
    [HONE_INTRIN_ATAN] = atan,
    [HONE_INTRIN_SINH] = sinh,
    [HONE_INTRIN_COSH] = cosh,
    [HONE_INTRIN_TANH] = tanh,
    [HONE_INTRIN_ASINH] = asinh,
    [HONE_INTRIN_ACOSH] = acosh,
    [HONE_INTRIN_ATANH] = atanh,
    [HONE_INTRIN_ERF] = erf,
    [HONE_INTRIN_FLOOR] = floor,
    [HONE_INTRIN_SIGMOID] = sigmoid,
    [HONE_INTRIN_CEIL] = ceil,
    [HONE_INTRIN_ROUND] = nearbyint,
    [HONE_INTRIN_NEARBYINT] = nearbyint,
    [HONE_INTRIN_TRUNC] = trunc,
    [HONE_INTRIN_FABS] = fabs,
    [HONE_INTRIN_ABS] = fabs,
};

static const binary_fn binary_fns[HONE_INTRIN_COUNT] = {
    [HONE_INTRIN_POW] = pow,     [HONE_INTRIN_FMOD] = fmod,         [HONE_INTRIN_ATAN2] = atan2,
    [HONE_INTRIN_HYPOT] = hypot, [HONE_INTRIN_COPYSIGN] = copysign,
};

static double unary_f(const xexpr *e, machine *m) {
    return round_to(e, unary_fns[e->source->op](A));
}
static double binary_f(const xexpr *e, machine *m) {
    double a = A, b = B;
    return round_to(e, binary_fns[e->source->op](a, b));
}

static double fma_f(const xexpr *e, machine *m) {
    double a = A, b = B, c = x_float(e->args[2], m);
    if (e->type == X_F64) return fma(a, b, c);
    return round_to(e, (double)fmaf((float)a, (float)b, (float)c));
}

/* Exponents beyond those of all numbers do no more than these. */
static double ldexp_f(const xexpr *e, machine *m) {
    enum { MOST = 1 << 14 };
    double a = A;
    int64_t by = x_int(e->args[1], m);
    if (by > MOST || (by < 0 && e->args[1]->is_unsigned)) by = MOST;
    if (by < -MOST) by = -MOST;
    return round_to(e, ldexp(a, (int)by));
}

/* The next number of a short float: bits of one sign count up from zero. */
static double next_short(hone_dtype dtype, double a, double b) {
    uint8_t bytes[8] = {0};
    hone_element_set_f64(dtype, bytes, a);
    unsigned bits = bytes[0] | (unsigned)bytes[1] << 8, sign = 1u << (dtype.bits - 1);
    if (isnan(a) || isnan(b)) return NAN;
    if (a == b) return b;
    if (a == 0)
        bits = b < 0 ? sign | 1 : 1;
    else
        bits += (a < b) == (a > 0) ? 1 : -1u;
    bytes[0] = (uint8_t)bits;
    bytes[1] = (uint8_t)(bits >> 8);
    return hone_element_get_f64(dtype, bytes);
}

/* The next number of the dtype, not of double. */
static double nextafter_f(const xexpr *e, machine *m) {
    double a = A, b = B;
    if (e->type == X_F32) return (double)nextafterf((float)a, (float)b);
    if (e->type == X_F64) return nextafter(a, b);
    return next_short(hone_dtype_element(e->dtype), a, b);
}

static int64_t isnan_i(const xexpr *e, machine *m) {
    return isnan(A) != 0;
}
static int64_t isinf_i(const xexpr *e, machine *m) {
    return isinf(A) != 0;
}
static int64_t isfinite_i(const xexpr *e, machine *m) {
    return isfinite(A) != 0;
}

/* ---- integers ---- */

static int64_t abs_i(const xexpr *e, machine *m) {
    int64_t a = x_int(e->args[0], m);
    return a < 0 && !e->is_unsigned ? wrap_to(e, (int64_t)(0 - (uint64_t)a)) : a;
}

static int64_t pow_i(const xexpr *e, machine *m) {
    uint64_t base = (uint64_t)x_int(e->args[0], m), result = 1;
    int64_t exponent = x_int(e->args[1], m);
    if (exponent < 0 && !e->is_unsigned) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "integer power with the exponent %lld",
                                   (long long)exponent));
    }
    for (uint64_t rest = (uint64_t)exponent; rest; rest >>= 1) {
        if (rest & 1) result *= base;
        base *= base;
    }
    return wrap_to(e, (int64_t)result);
}

static int64_t popcount_i(const xexpr *e, machine *m) {
    uint64_t a = (uint64_t)x_int(e->args[0], m);
    if (e->bits < 64) a &= (UINT64_C(1) << e->bits) - 1;
    return __builtin_popcountll(a);
}

static int64_t clz_i(const xexpr *e, machine *m) {
    int bits = e->args[0]->bits;
    uint64_t a = (uint64_t)x_int(e->args[0], m) << (64 - bits);
    return a ? __builtin_clzll(a) : bits;
}

/* Counts of the width or more, or below 0, move all bits out. */
static bool moves_all_out(const xexpr *e, int64_t by) {
    return by < 0 || by >= e->bits;
}
static int64_t shift_left_i(const xexpr *e, machine *m) {
    uint64_t a = (uint64_t)x_int(e->args[0], m);
    int64_t by = x_int(e->args[1], m);
    return moves_all_out(e, by) ? 0 : wrap_to(e, (int64_t)(a << by));
}
static int64_t shift_right_i(const xexpr *e, machine *m) {
    int64_t a = x_int(e->args[0], m), by = x_int(e->args[1], m);
    if (moves_all_out(e, by)) return !e->is_unsigned && a < 0 ? -1 : 0;
    return e->is_unsigned ? (int64_t)((uint64_t)a >> by) : a >> by;
}
static int64_t checked_index_i(const xexpr *e, machine *m) {
    int64_t at = x_int(e->args[0], m), extent = x_int(e->args[1], m);
    if (at < 0 || at >= extent) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "an index is %lld, must be 0 to %lld",
                                   (long long)at, (long long)extent - 1));
    }
    return at;
}
static int64_t bit_and_i(const xexpr *e, machine *m) {
    int64_t a = x_int(e->args[0], m);
    return a & x_int(e->args[1], m);
}
static int64_t bit_or_i(const xexpr *e, machine *m) {
    int64_t a = x_int(e->args[0], m);
    return a | x_int(e->args[1], m);
}
static int64_t bit_xor_i(const xexpr *e, machine *m) {
    int64_t a = x_int(e->args[0], m);
    return a ^ x_int(e->args[1], m);
}
static int64_t bit_not_i(const xexpr *e, machine *m) {
    return wrap_to(e, ~x_int(e->args[0], m));
}

/* ---- fixed point ---- */

static int checked_shift(machine *m, int64_t by) {
    if (by < 0 || by > 63) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "a product of fixed point is shifted by %lld",
                                   (long long)by));
    }
    return (int)by;
}

/* (x << left) * y / 2^right in 64 bits, halves up. */
static int64_t multiply_shift(const xexpr *e, machine *m, int64_t left, int64_t right) {
    uint64_t x = (uint64_t)x_int(e->args[0], m) << checked_shift(m, left);
    int by = checked_shift(m, right);
    uint64_t half = UINT64_C(1) << checked_shift(m, right - 1);
    int64_t sum = (int64_t)(x * (uint64_t)x_int(e->args[1], m) + half);
    return wrap_to(e, sum >> by);
}
static int64_t q_multiply_shift_i(const xexpr *e, machine *m) {
    int64_t q = x_int(e->args[2], m), s = x_int(e->args[3], m);
    return multiply_shift(e, m, s > 0 ? s : 0, s > 0 ? q : q - s);
}
static int64_t q_multiply_axis_i(const xexpr *e, machine *m) {
    int64_t left = x_int(e->args[5], m) ? x_int(e->args[2], m) : 0;
    return multiply_shift(e, m, left, x_int(e->args[3], m) + x_int(e->args[4], m));
}

/* ---- control and the rest ---- */

static int64_t if_then_else_i(const xexpr *e, machine *m) {
    return x_int(e->args[0], m) ? x_int(e->args[1], m) : x_int(e->args[2], m);
}
static double if_then_else_f(const xexpr *e, machine *m) {
    return x_int(e->args[0], m) ? x_float(e->args[1], m) : x_float(e->args[2], m);
}
static int64_t pass_i(const xexpr *e, machine *m) {
    return x_int(e->args[0], m);
}
static double pass_f(const xexpr *e, machine *m) {
    return A;
}

static int64_t nothing_i(const xexpr *e, machine *m) {
    (void)e;
    (void)m;
    return 0;
}
static double nothing_f(const xexpr *e, machine *m) {
    (void)e;
    (void)m;
    return NAN;
}

static int64_t assume_i(const xexpr *e, machine *m) {
    if (!x_int(e->args[0], m)) {
        machine_fail(m, HONE_ERROR(HONE_CODE_ILLEGAL, "what T.assume states is not true"));
    }
    return 1;
}

/* Reads bits under another dtype: lanes of the one are parts of lanes of the other, the lowest
 * first. Those of a widened float are of what it is rounded to. */
static void reinterpret(const xexpr *e, machine *m, uint8_t *bytes) {
    const xexpr *from = e->args[0];
    uint16_t keep = m->lane;
    uint32_t size = (e->dtype.bits + 7u) / 8, each = (from->dtype.bits + 7u) / 8;
    uint32_t first = (e->lanes > 1 ? keep : 0) * size, last = first + size - 1;
    uint8_t part[8] = {0};
    for (uint32_t lane = first / each; lane <= last / each; lane++) {
        m->lane = (uint16_t)lane;
        if (x_is_float(from))
            hone_element_set_f64(hone_dtype_element(from->dtype), part, x_float(from, m));
        else
            hone_element_set_i64(hone_dtype_element(from->dtype), part, x_int(from, m));
        for (uint32_t i = 0; i < each; i++) {
            uint32_t at = lane * each + i;
            if (at >= first && at <= last) bytes[at - first] = part[i];
        }
    }
    m->lane = keep;
}
static int64_t reinterpret_i(const xexpr *e, machine *m) {
    uint8_t bytes[8] = {0};
    reinterpret(e, m, bytes);
    return hone_element_get_i64(hone_dtype_element(e->dtype), bytes);
}
static double reinterpret_f(const xexpr *e, machine *m) {
    uint8_t bytes[8] = {0};
    reinterpret(e, m, bytes);
    return hone_element_get_f64(hone_dtype_element(e->dtype), bytes);
}

/* Lanes are added up as a tree: those at even places, those at odd ones, then both sums. (start:
 * the first lane of this branch, step: the distance to its next.) */
static int64_t reduce_lanes_from_i(const xexpr *e, machine *m, uint32_t start, uint32_t step) {
    const xexpr *vector = e->args[0];
    if (start + step >= vector->lanes) {
        m->lane = (uint16_t)start;
        return x_int(vector, m);
    }
    int64_t a = reduce_lanes_from_i(e, m, start, 2 * step);
    int64_t b = reduce_lanes_from_i(e, m, start + step, 2 * step);
    switch ((hone_intrin)e->source->op) {
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
        return wrap_to(e, (int64_t)((uint64_t)a + (uint64_t)b));
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
        return wrap_to(e, (int64_t)((uint64_t)a * (uint64_t)b));
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}
static double reduce_lanes_from_f(const xexpr *e, machine *m, uint32_t start, uint32_t step) {
    const xexpr *vector = e->args[0];
    if (start + step >= vector->lanes) {
        m->lane = (uint16_t)start;
        return x_float(vector, m);
    }
    double a = reduce_lanes_from_f(e, m, start, 2 * step);
    double b = reduce_lanes_from_f(e, m, start + step, 2 * step);
    switch ((hone_intrin)e->source->op) {
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
        return round_to(e, a + b);
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
        return round_to(e, a * b);
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
        return a < b ? a : b;
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
        return isnan(a) || a < b ? a : b;
    case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
        return isnan(a) || a > b ? a : b;
    default:
        return a > b ? a : b;
    }
}
static int64_t reduce_lanes_i(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    int64_t result = reduce_lanes_from_i(e, m, 0, 1);
    m->lane = keep;
    return result;
}
static double reduce_lanes_f(const xexpr *e, machine *m) {
    uint16_t keep = m->lane;
    double result = reduce_lanes_from_f(e, m, 0, 1);
    m->lane = keep;
    return result;
}

static int64_t dot_i(const xexpr *e, machine *m) {
    const xexpr *a = e->args[1], *b = e->args[2];
    uint16_t keep = m->lane, group = b->lanes / e->lanes;
    uint64_t sum = (uint64_t)x_int(e->args[0], m);
    for (uint16_t k = 0; k < group; k++) {
        uint16_t lane = (uint16_t)(group * keep + k);
        m->lane = (uint16_t)(lane % a->lanes);
        int64_t left = x_int(a, m);
        m->lane = lane;
        sum += (uint64_t)(left * x_int(b, m));
    }
    m->lane = keep;
    return wrap_to(e, (int64_t)sum);
}

static double dot_f(const xexpr *e, machine *m) {
    const xexpr *a = e->args[1], *b = e->args[2];
    uint16_t keep = m->lane, group = b->lanes / e->lanes;
    double sum = x_float(e->args[0], m);
    for (uint16_t k = 0; k < group; k++) {
        uint16_t lane = (uint16_t)(group * keep + k);
        m->lane = (uint16_t)(lane % a->lanes);
        double left = x_float(a, m);
        m->lane = lane;
        sum = round_to(e, sum + left * x_float(b, m));
    }
    m->lane = keep;
    return sum;
}

/* ---- choosing ---- */

static void refuse(machine *m, hone_intrin intrin) {
    machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "T.%s cannot be interpreted here",
                               hone_intrin_spelling(intrin)));
}

static void refuse_named(machine *m, const xexpr *x) {
    const hone_expr *call = x->source;
    bool names_one = call->count > 1 && call->args[1]->kind == HONE_EXPR_STRING;
    machine_fail(m, HONE_ERROR(HONE_CODE_UNSUPPORTED, "T.%s%s%s%s cannot be interpreted here",
                               call->args[0]->u.s, names_one ? " of '" : "",
                               names_one ? call->args[1]->u.s : "", names_one ? "'" : ""));
}

static bool choose_integer(xexpr *x, hone_intrin intrin) {
    switch (intrin) {
    case HONE_INTRIN_ABS:
        x->eval.i = abs_i;
        return true;
    case HONE_INTRIN_POW:
        x->eval.i = pow_i;
        return true;
    case HONE_INTRIN_POPCOUNT:
        x->eval.i = popcount_i;
        return true;
    case HONE_INTRIN_CLZ:
        x->eval.i = clz_i;
        return true;
    case HONE_INTRIN_Q_MULTIPLY_SHIFT:
        x->eval.i = q_multiply_shift_i;
        return true;
    case HONE_INTRIN_Q_MULTIPLY_AXIS:
        x->eval.i = q_multiply_axis_i;
        return true;
    case HONE_INTRIN_SHIFT_LEFT:
        x->eval.i = shift_left_i;
        return true;
    case HONE_INTRIN_SHIFT_RIGHT:
        x->eval.i = shift_right_i;
        return true;
    case HONE_INTRIN_CHECKED_INDEX:
        x->eval.i = checked_index_i;
        return true;
    case HONE_INTRIN_BITWISE_AND:
        x->eval.i = bit_and_i;
        return true;
    case HONE_INTRIN_BITWISE_OR:
        x->eval.i = bit_or_i;
        return true;
    case HONE_INTRIN_BITWISE_XOR:
        x->eval.i = bit_xor_i;
        return true;
    case HONE_INTRIN_BITWISE_NOT:
        x->eval.i = bit_not_i;
        return true;
    default:
        return false;
    }
}

static void check_predicate_argument(machine *m, xexpr *x, hone_intrin intrin) {
    if (!x_is_float(x->args[0])) {
        x->eval.i = nothing_i; /* no integer is nan or inf */
        if (intrin == HONE_INTRIN_ISFINITE) refuse(m, intrin);
        return;
    }
    x->eval.i = intrin == HONE_INTRIN_ISNAN   ? isnan_i
                : intrin == HONE_INTRIN_ISINF ? isinf_i
                                              : isfinite_i;
}

static void choose_float(machine *m, xexpr *x, hone_intrin intrin) {
    if (intrin == HONE_INTRIN_LDEXP && x_is_float(x->args[0]) && !x_is_float(x->args[1])) {
        x->eval.f = ldexp_f;
        return;
    }
    bool has_float_args = x->count > 0;
    for (uint32_t i = 0; i < x->count; i++)
        has_float_args &= x_is_float(x->args[i]);
    if (!has_float_args) refuse(m, intrin);
    if (intrin == HONE_INTRIN_FMA && x->count == 3)
        x->eval.f = fma_f;
    else if (intrin == HONE_INTRIN_NEXTAFTER && x->count == 2)
        x->eval.f = nextafter_f;
    else if (unary_fns[intrin] && x->count == 1)
        x->eval.f = unary_f;
    else if (binary_fns[intrin] && x->count == 2)
        x->eval.f = binary_f;
    else
        refuse(m, intrin);
}

void choose_intrin(machine *m, xexpr *x, hone_intrin intrin) {
    switch (intrin) {
    case HONE_INTRIN_IF_THEN_ELSE:
        x_choose(x, if_then_else_i, if_then_else_f);
        return;
    case HONE_INTRIN_LIKELY:
    case HONE_INTRIN_RETURN:
        x_choose(x, pass_i, pass_f);
        return;
    case HONE_INTRIN_ISNAN:
    case HONE_INTRIN_ISINF:
    case HONE_INTRIN_ISFINITE:
        check_predicate_argument(m, x, intrin);
        return;
    case HONE_INTRIN_REINTERPRET:
        if (m->options.widen_f64 && x_is_float(x)) refuse(m, intrin);
        if (x->dtype.bits * x->lanes != x->args[0]->dtype.bits * x->args[0]->lanes) {
            machine_fail(m,
                         HONE_ERROR(HONE_CODE_ILLEGAL, "%s is reinterpreted as %s",
                                    HONE_DTYPE_NAME(x->args[0]->dtype), HONE_DTYPE_NAME(x->dtype)));
        }
        x_choose(x, reinterpret_i, reinterpret_f);
        return;
    case HONE_INTRIN_NAMED:
        if (!choose_matrix(x) && !choose_lanes(m, x) && !choose_async(x) &&
            !choose_device_call(x) && !choose_llvm(x)) {
            refuse_named(m, x);
        }
        return;
    case HONE_INTRIN_ASSUME:
        x->eval.i = assume_i;
        return;
    case HONE_INTRIN_UNDEF:
    case HONE_INTRIN_TYPE_ANNOTATION:
    case HONE_INTRIN_STORAGE_SYNC: /* threads run one after the other, see interp.h */
    case HONE_INTRIN_PREFETCH:
        x_choose(x, nothing_i, nothing_f);
        return;
    case HONE_INTRIN_VECTOR_REDUCE_ADD:
    case HONE_INTRIN_VECTOR_REDUCE_MUL:
    case HONE_INTRIN_VECTOR_REDUCE_MIN:
    case HONE_INTRIN_VECTOR_REDUCE_MAX:
    case HONE_INTRIN_VECTOR_REDUCE_MINIMUM:
    case HONE_INTRIN_VECTOR_REDUCE_MAXIMUM:
        x_choose(x, reduce_lanes_i, reduce_lanes_f);
        return;
    case HONE_INTRIN_DOT2:
    case HONE_INTRIN_DOT2_BF16:
    case HONE_INTRIN_DOT4:
        x_choose(x, dot_i, dot_f);
        return;
    case HONE_INTRIN_CALL_EXTERN:
    case HONE_INTRIN_CALL_PURE_EXTERN:
    case HONE_INTRIN_CALL_PACKED:
        choose_extern(m, x);
        return;
    case HONE_INTRIN_ADDRESS_OF:
    case HONE_INTRIN_ACCESS_PTR:
        x->eval.i = nothing_i;
        return; /* read by the call around it */
    default:
        break;
    }
    if (x_is_float(x))
        choose_float(m, x, intrin);
    else if (!choose_integer(x, intrin))
        refuse(m, intrin);
}
