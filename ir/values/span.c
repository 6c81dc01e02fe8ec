/* ir/values/span.c - arithmetic of spans. */
#include "ir/values/span.h"

#include <math.h>

hone_span hone_span_none(void) {
    return (hone_span){INFINITY, -INFINITY};
}

hone_span hone_span_of_type(hone_dtype dtype) {
    if (hone_dtype_is_bool(dtype)) return (hone_span){0, 1};
    if (!hone_dtype_is_integer(dtype)) return (hone_span){-INFINITY, INFINITY};
    return (hone_span){(double)hone_dtype_min_int(hone_dtype_element(dtype)),
                       (double)hone_dtype_max_int(hone_dtype_element(dtype))};
}

hone_span hone_span_join(hone_span a, hone_span b) {
    return (hone_span){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

hone_span hone_span_meet(hone_span a, hone_span b) {
    return (hone_span){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

/* What leaves an integer type wraps around: it may be anything then. */
static hone_span wrapped(hone_dtype dtype, hone_span s) {
    hone_span whole = hone_span_of_type(dtype);
    if (isnan(s.low) || isnan(s.high)) return whole;
    return hone_span_within(s, whole) ? s : whole;
}

static hone_span corners(hone_span x, hone_span y, double (*op)(double, double)) {
    const double v[4] = {op(x.low, y.low), op(x.low, y.high), op(x.high, y.low),
                         op(x.high, y.high)};
    hone_span s = hone_span_at(v[0]);
    for (int i = 0; i < 4; i++) {
        if (isnan(v[i])) return (hone_span){-INFINITY, INFINITY};
        s = hone_span_join(s, hone_span_at(v[i]));
    }
    return s;
}

/* 0 times an infinite end is 0: that end is only never passed. */
static double times(double x, double y) {
    return x == 0 || y == 0 ? 0 : x * y;
}

static double quotient(double x, double y) {
    return x / y;
}

static double floor_quotient(double x, double y) {
    return floor(x / y);
}

static double trunc_quotient(double x, double y) {
    return trunc(x / y);
}

static hone_span remainder_of(hone_op op, hone_span x, hone_span y) {
    double most = fmax(fabs(y.low), fabs(y.high)) - 1;
    bool is_floor = op == HONE_OP_FLOORMOD;
    if (x.low >= 0 && y.low > x.high) return x;
    hone_span s = {-most, most};
    if (is_floor ? y.low > 0 : x.low >= 0) s.low = 0;
    if (is_floor ? y.high < 0 : x.high <= 0) s.high = 0;
    return s;
}

static hone_span divided(hone_op op, hone_dtype dtype, hone_span x, hone_span y) {
    if (hone_span_has(y, 0)) return hone_span_of_type(dtype);
    switch (op) {
    case HONE_OP_DIV:
        return corners(x, y, quotient);
    case HONE_OP_FLOORDIV:
        return corners(x, y, floor_quotient);
    case HONE_OP_TRUNCDIV:
        return corners(x, y, trunc_quotient);
    default:
        if (hone_dtype_is_float(dtype)) return hone_span_of_type(dtype);
        return remainder_of(op, x, y);
    }
}

static hone_span truth(bool is_sure, bool is_never) {
    return (hone_span){is_sure ? 1 : 0, is_never ? 0 : 1};
}

static hone_span compared(hone_op op, hone_span x, hone_span y) {
    bool is_disjoint = x.high < y.low || y.high < x.low;
    bool is_one = x.low == x.high && y.low == y.high && x.low == y.low;
    switch (op) {
    case HONE_OP_LT:
        return truth(x.high < y.low, x.low >= y.high);
    case HONE_OP_LE:
        return truth(x.high <= y.low, x.low > y.high);
    case HONE_OP_GT:
        return truth(x.low > y.high, x.high <= y.low);
    case HONE_OP_GE:
        return truth(x.low >= y.high, x.high < y.low);
    case HONE_OP_EQ:
        return truth(is_one, is_disjoint);
    case HONE_OP_NE:
        return truth(is_disjoint, is_one);
    case HONE_OP_AND:
        return (hone_span){fmin(x.low, y.low), fmin(x.high, y.high)};
    default:
        return (hone_span){fmax(x.low, y.low), fmax(x.high, y.high)};
    }
}

hone_span hone_span_binary(hone_op op, hone_dtype dtype, hone_dtype operands, hone_span x,
                           hone_span y) {
    if (hone_span_is_empty(x) || hone_span_is_empty(y)) return hone_span_none();
    switch (op) {
    case HONE_OP_ADD:
        return wrapped(dtype, (hone_span){x.low + y.low, x.high + y.high});
    case HONE_OP_SUB:
        return wrapped(dtype, (hone_span){x.low - y.high, x.high - y.low});
    case HONE_OP_MUL:
        return wrapped(dtype, corners(x, y, times));
    case HONE_OP_MIN:
        return (hone_span){fmin(x.low, y.low), fmin(x.high, y.high)};
    case HONE_OP_MAX:
        return (hone_span){fmax(x.low, y.low), fmax(x.high, y.high)};
    case HONE_OP_DIV:
    case HONE_OP_FLOORDIV:
    case HONE_OP_FLOORMOD:
    case HONE_OP_TRUNCDIV:
    case HONE_OP_TRUNCMOD:
        return wrapped(dtype, divided(op, operands, x, y));
    default:
        return compared(op, x, y);
    }
}

hone_span hone_span_cast(hone_dtype to, hone_dtype from, hone_span x) {
    if (hone_span_is_empty(x)) return x;
    if (hone_dtype_is_bool(to)) return truth(!hone_span_has(x, 0), x.low == 0 && x.high == 0);
    if (!hone_dtype_is_integer(to)) return x;
    if (!hone_dtype_is_float(from)) return wrapped(to, x);
    hone_span whole = hone_span_of_type(to); /* NaN becomes 0, the rest saturates */
    if (isinf(x.low) || isinf(x.high)) return whole;
    return (hone_span){fmin(fmax(trunc(x.low), whole.low), whole.high),
                       fmax(fmin(trunc(x.high), whole.high), whole.low)};
}

static hone_span absolute(hone_dtype dtype, hone_span x) {
    double low = fabs(x.low), high = fabs(x.high);
    hone_span s = {hone_span_has(x, 0) ? 0 : fmin(low, high), fmax(low, high)};
    return wrapped(dtype, s);
}

/* Of two's complement numbers that are not negative, which are all that is told apart here. */
static hone_span of_bits(hone_intrin intrin, hone_dtype dtype, hone_span x, hone_span y) {
    hone_span whole = hone_span_of_type(dtype);
    bool is_positive = x.low >= 0 && y.low >= 0;
    if (intrin == HONE_INTRIN_BITWISE_AND) {
        if (is_positive) return (hone_span){0, fmin(x.high, y.high)};
        if (x.low >= 0 || y.low >= 0) return (hone_span){0, x.low >= 0 ? x.high : y.high};
        return whole;
    }
    if (!is_positive || isinf(x.high) || isinf(y.high)) return whole;
    double all = exp2(floor(log2(fmax(fmax(x.high, y.high), 1))) + 1) - 1;
    return wrapped(dtype, (hone_span){0, all});
}

static double shifted_left(double x, double y) {
    return times(x, exp2(y));
}

static double shifted_right(double x, double y) {
    return floor(x / exp2(y));
}

static hone_span rising(hone_span x, double (*f)(double)) {
    return (hone_span){f(x.low), f(x.high)};
}

hone_span hone_span_call(hone_intrin intrin, hone_dtype dtype, size_t count,
                         const hone_span *args) {
    for (size_t i = 0; i < count; i++) {
        if (hone_span_is_empty(args[i])) return hone_span_none();
    }
    switch (intrin) {
    case HONE_INTRIN_ABS:
    case HONE_INTRIN_FABS:
        return absolute(dtype, args[0]);
    case HONE_INTRIN_FLOOR:
        return rising(args[0], floor);
    case HONE_INTRIN_CEIL:
        return rising(args[0], ceil);
    case HONE_INTRIN_TRUNC:
        return rising(args[0], trunc);
    case HONE_INTRIN_ROUND:
    case HONE_INTRIN_NEARBYINT:
        return rising(args[0], nearbyint);
    case HONE_INTRIN_EXP:
        return rising(args[0], exp);
    case HONE_INTRIN_EXP2:
        return rising(args[0], exp2);
    case HONE_INTRIN_TANH:
        return rising(args[0], tanh);
    case HONE_INTRIN_SQRT:
        return args[0].low >= 0 ? rising(args[0], sqrt) : hone_span_of_type(dtype);
    case HONE_INTRIN_LOG:
        return args[0].low > 0 ? rising(args[0], log) : hone_span_of_type(dtype);
    case HONE_INTRIN_SIGMOID:
        return (hone_span){0, 1};
    case HONE_INTRIN_SIN:
    case HONE_INTRIN_COS:
    case HONE_INTRIN_ERF:
        return (hone_span){-1, 1};
    case HONE_INTRIN_SHIFT_LEFT:
        return wrapped(dtype, corners(args[0], args[1], shifted_left));
    case HONE_INTRIN_SHIFT_RIGHT:
        return wrapped(dtype, corners(args[0], args[1], shifted_right));
    case HONE_INTRIN_BITWISE_AND:
    case HONE_INTRIN_BITWISE_OR:
    case HONE_INTRIN_BITWISE_XOR:
        return of_bits(intrin, dtype, args[0], args[1]);
    case HONE_INTRIN_LIKELY:
        return args[0];
    case HONE_INTRIN_POPCOUNT:
    case HONE_INTRIN_CLZ:
        return (hone_span){0, 64};
    default:
        return hone_span_of_type(dtype);
    }
}
