/* tests/compile/edge_values.c - reference results of operators at the edges of their types. */
#include "tests/compile/edge_values.h"

#include <math.h>

#include "support/core/attributes.h"

/* ---- one element ---- */

#define OF_X(name, value)                                                                          \
    static double name(double x, double y) {                                                       \
        (void)y;                                                                                   \
        return (value);                                                                            \
    }
#define OF_BOTH(name, value)                                                                       \
    static double name(double x, double y) {                                                       \
        return (value);                                                                            \
    }

static double maximum(double x, double y) {
    return isnan(x) || isnan(y) ? (double)NAN : x > y ? x : y;
}
static double minimum(double x, double y) {
    return isnan(x) || isnan(y) ? (double)NAN : x < y ? x : y;
}
static double clip(double x, double low, double high) {
    return minimum(high, maximum(x, low));
}
static double hard_sigmoid(double x, double alpha, double beta) {
    return clip(x * alpha + beta, 0, 1);
}
static double elu(double x, double alpha) {
    return x > 0 ? x : alpha * (exp(x) - 1);
}

OF_X(itself, x)
OF_X(relu, maximum(x, 0))
OF_X(leaky_relu, x > 0 ? x : x * 0.5)
OF_X(elu_one, elu(x, 1))
OF_X(selu, 1.05070102214813232421875 * elu(x, 1.67326319217681884765625))
OF_X(hard_sigmoid_fifth, hard_sigmoid(x, (double)0.2F, 0.5)) /* as attributes are */
OF_X(hard_swish, x *hard_sigmoid(x, 1.0 / 6, 0.5))
OF_X(softplus, isnan(x) ? x : maximum(x, 0) + log1p(exp(-fabs(x))))
OF_X(softsign, x / (1 + fabs(x)))
OF_X(thresholded, x > 1 ? x : 0)
OF_X(sign, isnan(x) ? x : (double)((x > 0) - (x < 0)))
OF_X(absolute, fabs(x))
OF_X(negative, -x)
OF_X(sigmoid, 1 / (1 + exp(-x)))
OF_X(reciprocal, 1 / x)
OF_X(gelu, x * 0.5 * (1 + erf(x * sqrt(0.5))))
OF_X(clip_six, clip(x, 0, 6))
OF_X(clip_crossed, clip(x, 4, 1))
OF_X(clip_low, maximum(x, -1))
OF_X(clip_high, minimum(x, 2))
OF_X(clip_up, (double)(isnan(x) ? NAN : INFINITY))
OF_X(root, pow(x, 0.5))
OF_X(square, x *x)
OF_X(cube, pow(x, 3))
OF_X(inverse, pow(x, -1))
OF_X(one, pow(x, 0))
OF_X(floor_of, floor(x))
OF_X(ceil_of, ceil(x))
OF_X(round_of, nearbyint(x))
OF_X(exp_of, exp(x))
OF_X(log_of, log(x))
OF_X(sqrt_of, sqrt(x))
OF_X(erf_of, erf(x))
OF_X(tanh_of, tanh(x))
OF_X(sin_of, sin(x))
OF_X(cos_of, cos(x))
OF_X(tan_of, tan(x))
OF_X(asin_of, asin(x))
OF_X(acos_of, acos(x))
OF_X(atan_of, atan(x))
OF_X(sinh_of, sinh(x))
OF_X(cosh_of, cosh(x))
OF_X(asinh_of, asinh(x))
OF_X(acosh_of, acosh(x))
OF_X(atanh_of, atanh(x))

const edge_element edge_unary[] = {
    {"relu",         "Relu x", "", relu, false},
    {"leaky_relu",            "LeakyRelu x", "alpha=0.5", leaky_relu, false},
    {"elu",         "Elu x", "", elu_one, true},
    {"selu",   "Selu x", "", selu, true},
    {"hard_sigmoid",   "HardSigmoid x", "", hard_sigmoid_fifth, true},
    {"hard_swish",         "HardSwish x", "", hard_swish, true},
    {"softplus",          "Softplus x", "", softplus, true},
    {"softsign",            "Softsign x", "", softsign, true},
    {"thresholded",          "ThresholdedRelu x", "alpha=1.0", thresholded, false},
    {"sign",         "Sign x", "", sign, false},
    {"abs",            "Abs x", "", absolute, false},
    {"neg",          "Neg x", "", negative, false},
    {"sigmoid", "Sigmoid x", "", sigmoid, true},
    {"reciprocal",            "Reciprocal x", "", reciprocal, true},
    {"gelu",          "Gelu x", "", gelu, true},
    {"clip_six",   "Clip x,zero,six", "", clip_six, false},
    {"clip_crossed",            "Clip x,four,one", "", clip_crossed, false},
    {"clip_low",          "Clip x,minus", "", clip_low, false},
    {"clip_high",     "Clip x,,two", "", clip_high, false},
    {"clip_up",            "Clip x,inf", "", clip_up, false},
    {"root",          "Pow x,half", "", root, true},
    {"square",     "Pow x,two", "", square, true},
    {"cube",            "Pow x,three", "", cube, true},
    {"inverse",          "Pow x,minus", "", inverse, true},
    {"power_zero",  "Pow x,zero", "", one, false},
    {"floor",   "Floor x", "", floor_of, false},
    {"ceil",         "Ceil x", "", ceil_of, false},
    {"round",         "Round x", "", round_of, false},
    {"exp",            "Exp x", "", exp_of, true},
    {"log",         "Log x", "", log_of, true},
    {"sqrt",          "Sqrt x", "", sqrt_of, true},
    {"erf",            "Erf x", "", erf_of, true},
    {"tanh",         "Tanh x", "", tanh_of, true},
    {"sin",          "Sin x", "", sin_of, true},
    {"cos",            "Cos x", "", cos_of, true},
    {"tan",         "Tan x", "", tan_of, true},
    {"asin",      "Asin x", "", asin_of, true},
    {"acos",            "Acos x", "", acos_of, true},
    {"atan",          "Atan x", "", atan_of, true},
    {"sinh",   "Sinh x", "", sinh_of, true},
    {"cosh",            "Cosh x", "", cosh_of, true},
    {"asinh",          "Asinh x", "", asinh_of, true},
    {"acosh",         "Acosh x", "", acosh_of, true},
    {"atanh",            "Atanh x", "", atanh_of, true},
    {"noop_max",          "ReduceMax x", "noop_with_empty_axes=1", itself, false},
    {"noop_sum",     "ReduceSum x", "noop_with_empty_axes=1", itself, false},
    {"noop_l1",            "ReduceL1 x", "noop_with_empty_axes=1", absolute, false},
    {"noop_squares",         "ReduceSumSquare x", "noop_with_empty_axes=1", square, true},
    {"noop_log_sum", "ReduceLogSum x", "noop_with_empty_axes=1", log_of, true},
    {"noop_lse",            "ReduceLogSumExp x", "noop_with_empty_axes=1", itself, false},
    {0        },
};

OF_BOTH(sum, x + y)
OF_BOTH(difference, x - y)
OF_BOTH(product, x *y)
OF_BOTH(quotient, x / y)
OF_BOTH(prelu, x < 0 ? x * y : x)
OF_BOTH(power, pow(x, y))

const edge_element edge_binary[] = {
    {"sum",      "Add x,z", "", sum, true},
    {"diff",        "Sub x,z", "", difference, true},
    {"product",      "Mul x,z", "", product, true},
    {"quotient",     "Div x,z", "", quotient, true},
    {"maximum",        "Max x,z", "", maximum, false},
    {"minimum",      "Min x,z", "", minimum, false},
    {"most",  "Max x,z,x", "", maximum, false},
    {"prelu",        "PRelu x,z", "", prelu, true},
    {"power",      "Pow x,z", "", power, true},
    {0},
};

OF_BOTH(is_equal, x == y)
OF_BOTH(is_less, x < y)
OF_BOTH(is_less_equal, x <= y)
OF_BOTH(is_greater, x > y)
OF_BOTH(is_greater_equal, x >= y)

const edge_element edge_compare[] = {
    {"equal", "Equal x,z", "", is_equal, false},
    {"less",     "Less x,z", "", is_less, false},
    {"less_equal",  "LessOrEqual x,z", "", is_less_equal, false},
    {"greater",  "Greater x,z", "", is_greater, false},
    {"greater_equal",     "GreaterOrEqual x,z", "", is_greater_equal, false},
    {0 },
};

/* ---- rows ---- */

static double row_max(const double *row, int64_t count, int64_t at) {
    (void)at;
    double value = -(double)INFINITY;
    for (int64_t i = 0; i < count; i++)
        value = maximum(value, row[i]);
    return value;
}
static double row_min(const double *row, int64_t count, int64_t at) {
    (void)at;
    double value = (double)INFINITY;
    for (int64_t i = 0; i < count; i++)
        value = minimum(value, row[i]);
    return value;
}

/* As numpy: the first NaN, else the first of what is best. */
static double place_of(const double *row, int64_t count, double best) {
    for (int64_t i = 0; i < count; i++) {
        if (row[i] == best || (isnan(best) && isnan(row[i]))) return (double)i;
    }
    return -1;
}
static double place_max(const double *row, int64_t count, int64_t at) {
    return place_of(row, count, row_max(row, count, at));
}
static double place_min(const double *row, int64_t count, int64_t at) {
    return place_of(row, count, row_min(row, count, at));
}

static double total(const double *row, int64_t count, double (*of)(double x, double y)) {
    double value = 0;
    for (int64_t i = 0; i < count; i++)
        value += of(row[i], 0);
    return value;
}
static double row_sum(const double *row, int64_t count, int64_t at) {
    (void)at;
    return total(row, count, itself);
}
static double row_mean(const double *row, int64_t count, int64_t at) {
    return row_sum(row, count, at) / (double)count;
}
static double row_l1(const double *row, int64_t count, int64_t at) {
    (void)at;
    return total(row, count, absolute);
}
static double row_squares(const double *row, int64_t count, int64_t at) {
    (void)at;
    return total(row, count, square);
}
static double row_l2(const double *row, int64_t count, int64_t at) {
    return sqrt(row_squares(row, count, at));
}
static double row_log_sum(const double *row, int64_t count, int64_t at) {
    return log(row_sum(row, count, at));
}
static double row_log_sum_exp(const double *row, int64_t count, int64_t at) {
    (void)at;
    return log(total(row, count, exp_of));
}
static double row_product(const double *row, int64_t count, int64_t at) {
    (void)at;
    double value = 1;
    for (int64_t i = 0; i < count; i++)
        value *= row[i];
    return value;
}
/* x - max is no number where both are infinite */
static double row_log_softmax(const double *row, int64_t count, int64_t at) {
    double top = row_max(row, count, at), value = 0;
    for (int64_t i = 0; i < count; i++)
        value += exp(row[i] - top);
    return row[at] - top - log(value);
}
static double row_softmax(const double *row, int64_t count, int64_t at) {
    return exp(row_log_softmax(row, count, at));
}

const edge_row edge_rows[] = {
    {"max",      "ReduceMax", row_max, EDGE_NUMBER, false},
    {"min",   "ReduceMin", row_min, EDGE_NUMBER, false},
    {"arg_max",     "ArgMax", place_max, EDGE_PLACE, false},
    {"arg_min",      "ArgMin", place_min, EDGE_PLACE, false},
    {"sum",   "ReduceSum", row_sum, EDGE_NUMBER, true},
    {"mean",     "ReduceMean", row_mean, EDGE_NUMBER, true},
    {"l1",  "ReduceL1", row_l1, EDGE_NUMBER, true},
    {"l2", "ReduceL2", row_l2, EDGE_NUMBER, true},
    {"squares",     "ReduceSumSquare", row_squares, EDGE_NUMBER, true},
    {"log_sum",  "ReduceLogSum", row_log_sum, EDGE_NUMBER, true},
    {"log_sum_exp", "ReduceLogSumExp", row_log_sum_exp, EDGE_NUMBER, true},
    {"product",     "ReduceProd", row_product, EDGE_NUMBER, true},
    {"softmax",      "Softmax", row_softmax, EDGE_ROW, true},
    {"log_softmax",   "LogSoftmax", row_log_softmax, EDGE_ROW, true},
    {0     },
};

/* ---- numbers ---- */

hone_status edge_values_create(hone_dtype dtype, hone_tensor **out_values) {
    double most = hone_dtype_max_float(dtype), least_normal = 4 / most;
    double least = least_normal * hone_dtype_epsilon(dtype);
    const double values[] = {
        (double)NAN,
        (double)INFINITY,
        -(double)INFINITY,
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        2,
        -2,
        3,
        0.1,
        -7.25,
        least,
        -least,
        least_normal,
        most,
        -most,
        1000,
        -1000,
    };
    int64_t count = (int64_t)HONE_COUNT(values);
    HONE_TRY(hone_tensor_create(dtype, 1, &count, out_values));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_f64(*out_values, i, values[i]);
    return HONE_OK;
}
