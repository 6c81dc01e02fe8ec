/* graph/operators/topi_elementwise.c - everything that computes an element from the elements at the
 * same (broadcast) index. */
#include <math.h>
#include <string.h>

#include "graph/operators/topi_build.h"

enum { MAX_OPERANDS = 4 };

typedef const hone_expr *(*element_fn)(hone_topi *t, const hone_expr *const *x);

static const hone_expr *num(hone_topi *t, const hone_expr *like, double value) {
    return like ? hone_topi_number(t, like->dtype, value) : NULL;
}
static const hone_expr *bin(hone_topi *t, hone_op op, const hone_expr *a, const hone_expr *b) {
    return hone_expr_binary(&t->te->ir, op, a, b);
}

static double number_of(const hone_topi *t, const char *key, double fallback) {
    const hone_value *value = hone_attrs_find(&t->bind->attrs, key);
    if (!value) return fallback;
    return value->kind == HONE_VALUE_FLOAT ? value->u.f : (double)value->u.i;
}

static const hone_expr *maximum(hone_topi *t, const hone_expr *const *x) {
    return hone_expr_extreme(&t->te->ir, HONE_OP_MAX, x[0], x[1]);
}

static const hone_expr *minimum(hone_topi *t, const hone_expr *const *x) {
    return hone_expr_extreme(&t->te->ir, HONE_OP_MIN, x[0], x[1]);
}

static const hone_expr *relu(hone_topi *t, const hone_expr *const *x) {
    return hone_expr_extreme(&t->te->ir, HONE_OP_MAX, x[0], num(t, x[0], 0));
}

static const hone_expr *leaky_relu(hone_topi *t, const hone_expr *const *x) {
    double alpha = number_of(t, "alpha", 0.01);
    const hone_expr *is_positive = bin(t, HONE_OP_GT, x[0], num(t, x[0], 0));
    return hone_expr_select(&t->te->ir, is_positive, x[0],
                            bin(t, HONE_OP_MUL, x[0], num(t, x[0], alpha)));
}

/* x * (1 + erf(x / sqrt 2)) / 2 */
static const hone_expr *gelu(hone_topi *t, const hone_expr *const *x) {
    const hone_expr *scaled = bin(t, HONE_OP_MUL, x[0], num(t, x[0], sqrt(0.5)));
    const hone_expr *tail = hone_topi_intrin(t, HONE_INTRIN_ERF, scaled);
    const hone_expr *half = bin(t, HONE_OP_MUL, x[0], num(t, x[0], 0.5));
    return bin(t, HONE_OP_MUL, half, bin(t, HONE_OP_ADD, tail, num(t, x[0], 1)));
}

/* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2 */
static const hone_expr *gelu_tanh(hone_topi *t, const hone_expr *const *x) {
    const hone_expr *cube = bin(t, HONE_OP_MUL, bin(t, HONE_OP_MUL, x[0], x[0]), x[0]);
    const hone_expr *inner =
        bin(t, HONE_OP_ADD, x[0], bin(t, HONE_OP_MUL, cube, num(t, x[0], 0.044715)));
    const hone_expr *tail = hone_topi_intrin(
        t, HONE_INTRIN_TANH, bin(t, HONE_OP_MUL, inner, num(t, x[0], 0.79788456080286535588)));
    const hone_expr *half = bin(t, HONE_OP_MUL, x[0], num(t, x[0], 0.5));
    return bin(t, HONE_OP_MUL, half, bin(t, HONE_OP_ADD, tail, num(t, x[0], 1)));
}

static const hone_expr *silu(hone_topi *t, const hone_expr *const *x) {
    return bin(t, HONE_OP_MUL, x[0], hone_topi_intrin(t, HONE_INTRIN_SIGMOID, x[0]));
}

/* log(1 + exp(beta * x)) / beta; x itself above the threshold */
static const hone_expr *softplus(hone_topi *t, const hone_expr *const *x) {
    double beta = number_of(t, "beta", 1), threshold = number_of(t, "threshold", 20);
    const hone_expr *scaled = bin(t, HONE_OP_MUL, x[0], num(t, x[0], beta));
    const hone_expr *is_far = bin(t, HONE_OP_GT, scaled, num(t, x[0], threshold));
    const hone_expr *sum =
        bin(t, HONE_OP_ADD, hone_topi_intrin(t, HONE_INTRIN_EXP, scaled), num(t, x[0], 1));
    const hone_expr *log = hone_topi_intrin(t, HONE_INTRIN_LOG, sum);
    return hone_expr_select(&t->te->ir, is_far, x[0],
                            bin(t, HONE_OP_MUL, log, num(t, x[0], 1 / beta)));
}

/* scale * x above 0, scale * alpha * (exp(x) - 1) below */
static const hone_expr *selu(hone_topi *t, const hone_expr *const *x) {
    const double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
    const hone_expr *power = hone_topi_intrin(t, HONE_INTRIN_EXP, x[0]);
    const hone_expr *below =
        bin(t, HONE_OP_MUL, bin(t, HONE_OP_SUB, power, num(t, x[0], 1)), num(t, x[0], alpha));
    const hone_expr *is_above = bin(t, HONE_OP_GT, x[0], num(t, x[0], 0));
    return bin(t, HONE_OP_MUL, hone_expr_select(&t->te->ir, is_above, x[0], below),
               num(t, x[0], scale));
}

static const hone_expr *relu6(hone_topi *t, const hone_expr *const *x) {
    return hone_expr_extreme(&t->te->ir, HONE_OP_MIN, relu(t, x), num(t, x[0], 6));
}

/* log(exp(x) + exp(y)), by the larger of them: the other one's exponential is at most 1 */
static const hone_expr *log_add_exp(hone_topi *t, const hone_expr *const *x) {
    const hone_expr *most = maximum(t, x), *sum = num(t, x[0], 0);
    for (int i = 0; i < 2; i++) {
        const hone_expr *below = bin(t, HONE_OP_SUB, x[i], most);
        sum = bin(t, HONE_OP_ADD, sum, hone_topi_intrin(t, HONE_INTRIN_EXP, below));
    }
    return bin(t, HONE_OP_ADD, most, hone_topi_intrin(t, HONE_INTRIN_LOG, sum));
}

static const hone_expr *absolute(hone_topi *t, const hone_expr *const *x) {
    if (x[0] && (hone_dtype_is_uint(x[0]->dtype) || hone_dtype_is_bool(x[0]->dtype))) return x[0];
    bool is_float = x[0] && hone_dtype_is_float(x[0]->dtype);
    return hone_topi_intrin(t, is_float ? HONE_INTRIN_FABS : HONE_INTRIN_ABS, x[0]);
}

static const hone_expr *negative(hone_topi *t, const hone_expr *const *x) {
    return bin(t, HONE_OP_MUL, x[0], num(t, x[0], -1)); /* keeps the sign of zero */
}

static const hone_expr *divide(hone_topi *t, const hone_expr *const *x) {
    bool is_float = x[0] && hone_dtype_is_float(x[0]->dtype);
    return bin(t, is_float ? HONE_OP_DIV : HONE_OP_TRUNCDIV, x[0], x[1]);
}

static const hone_expr *floor_divide(hone_topi *t, const hone_expr *const *x) {
    if (x[0] && !hone_dtype_is_float(x[0]->dtype)) return bin(t, HONE_OP_FLOORDIV, x[0], x[1]);
    return hone_topi_intrin(t, HONE_INTRIN_FLOOR, bin(t, HONE_OP_DIV, x[0], x[1]));
}

static const hone_expr *modulo(hone_topi *t, const hone_expr *const *x) {
    if (x[0] && !hone_dtype_is_float(x[0]->dtype)) return bin(t, HONE_OP_FLOORMOD, x[0], x[1]);
    return bin(t, HONE_OP_SUB, x[0], bin(t, HONE_OP_MUL, floor_divide(t, x), x[1]));
}

/* C's fmod: the sign of the dividend. */
static const hone_expr *truncated_modulo(hone_topi *t, const hone_expr *const *x) {
    if (!x[0] || !x[1]) return NULL;
    if (!hone_dtype_is_float(x[0]->dtype)) return bin(t, HONE_OP_TRUNCMOD, x[0], x[1]);
    return hone_expr_call(&t->te->ir, x[0]->dtype, HONE_INTRIN_FMOD, 2, x);
}

/* The power of 0.5 is the square root, except of -inf, which has none, and of -0. */
static const hone_expr *square_root(hone_topi *t, const hone_expr *x) {
    const hone_expr *is_least = bin(t, HONE_OP_EQ, x, num(t, x, -HUGE_VAL));
    const hone_expr *root =
        hone_topi_intrin(t, HONE_INTRIN_SQRT, bin(t, HONE_OP_ADD, x, num(t, x, 0)));
    return hone_expr_select(&t->te->ir, is_least, num(t, x, HUGE_VAL), root);
}

/* Small integer powers are products. */
static const hone_expr *power(hone_topi *t, const hone_expr *const *x) {
    if (!x[0] || !x[1]) return NULL;
    bool is_float = hone_dtype_is_float(x[0]->dtype);
    double exponent = x[1]->kind == HONE_EXPR_FLOAT ? x[1]->u.f
                      : x[1]->kind == HONE_EXPR_INT ? (double)x[1]->u.i
                                                    : -1;
    if (exponent == 1) return x[0];
    if (exponent == 2) return bin(t, HONE_OP_MUL, x[0], x[0]);
    if (exponent == 0.5 && is_float) return square_root(t, x[0]);
    const hone_expr *args[] = {x[0], x[1]};
    if (is_float) return hone_expr_call(&t->te->ir, x[0]->dtype, HONE_INTRIN_POW, 2, args);
    for (int i = 0; i < 2; i++)
        args[i] = hone_expr_cast(&t->te->ir, HONE_DTYPE_F64, x[i]);
    return hone_expr_cast(&t->te->ir, x[0]->dtype,
                          hone_expr_call(&t->te->ir, HONE_DTYPE_F64, HONE_INTRIN_POW, 2, args));
}

static const hone_expr *clip(hone_topi *t, const hone_expr *const *x) {
    const hone_expr *y = x[0];
    for (uint32_t i = 1; i <= 2 && y; i++) { /* the upper limit last: it holds where they cross */
        const hone_garg *limit = &t->args[i];
        if (limit->kind != HONE_GARG_PRIM) continue;
        double value = limit->u.expr->kind == HONE_EXPR_FLOAT ? limit->u.expr->u.f
                                                              : (double)limit->u.expr->u.i;
        if (isinf(value) && (value > 0) == (i == 2)) continue; /* none */
        bool is_exact = limit->u.expr->kind == HONE_EXPR_INT && hone_dtype_is_integer(y->dtype) &&
                        limit->u.expr->u.i > hone_dtype_min_int(y->dtype) &&
                        limit->u.expr->u.i < hone_dtype_max_int(y->dtype);
        const hone_expr *bound =
            is_exact ? hone_expr_int(&t->te->ir, y->dtype, limit->u.expr->u.i) : num(t, y, value);
        y = hone_expr_extreme(&t->te->ir, i == 2 ? HONE_OP_MIN : HONE_OP_MAX, y, bound);
    }
    return y;
}

static const hone_expr *where(hone_topi *t, const hone_expr *const *x) {
    return hone_expr_select(&t->te->ir, x[0], x[1], x[2]);
}

static const hone_expr *multiply_add(hone_topi *t, const hone_expr *const *x) {
    return bin(t, HONE_OP_ADD, bin(t, HONE_OP_MUL, x[0], x[1]), x[2]);
}

static const hone_expr *as_type(hone_topi *t, const hone_expr *const *x) {
    if (!x[0]) return NULL;
    hone_dtype to = t->out->dtype;
    if (hone_dtype_is_bool(to)) return bin(t, HONE_OP_NE, x[0], num(t, x[0], 0));
    if (hone_dtype_is_bool(x[0]->dtype)) {
        return hone_expr_select(&t->te->ir, x[0], hone_topi_number(t, to, 1),
                                hone_topi_number(t, to, 0));
    }
    return hone_expr_cast(&t->te->ir, to, x[0]);
}

/* The bits stay; a truth is a byte of 0 or 1. */
static const hone_expr *bit_cast(hone_topi *t, const hone_expr *const *x) {
    hone_dtype to = t->out->dtype;
    if (!x[0] || hone_dtype_equal(x[0]->dtype, to)) return x[0];
    const hone_expr *from = x[0];
    if (hone_dtype_is_bool(from->dtype)) from = hone_expr_cast(&t->te->ir, HONE_DTYPE_U8, from);
    if (hone_dtype_is_bool(to)) to = HONE_DTYPE_U8;
    if (from && !hone_dtype_equal(from->dtype, to))
        from = hone_expr_call(&t->te->ir, to, HONE_INTRIN_REINTERPRET, 1, &from);
    return from && hone_dtype_is_bool(t->out->dtype) ? bin(t, HONE_OP_NE, from, num(t, from, 0))
                                                     : from;
}

static const hone_expr *logical_not(hone_topi *t, const hone_expr *const *x) {
    return hone_expr_not(&t->te->ir, x[0]);
}

/* 1, -1, or what is neither: a zero, NaN */
static const hone_expr *sign(hone_topi *t, const hone_expr *const *x) {
    const hone_expr *zero = num(t, x[0], 0);
    if (x[0] && hone_dtype_is_bool(x[0]->dtype)) return x[0];
    const hone_expr *below = bin(t, HONE_OP_LT, x[0], zero), *minus = num(t, x[0], -1);
    const hone_expr *rest = hone_expr_select(&t->te->ir, below, minus, x[0]);
    return hone_expr_select(&t->te->ir, bin(t, HONE_OP_GT, x[0], zero), num(t, x[0], 1), rest);
}

static const hone_expr *square(hone_topi *t, const hone_expr *const *x) {
    return bin(t, HONE_OP_MUL, x[0], x[0]);
}

static const hone_expr *arc(hone_topi *t, const hone_expr *const *x) {
    if (!x[0] || !x[1]) return NULL;
    if (hone_dtype_is_float(x[0]->dtype))
        return hone_expr_call(&t->te->ir, x[0]->dtype, HONE_INTRIN_ATAN2, 2, x);
    return hone_ir_fail(&t->te->ir, hone_topi_unsupported(t, "of whole numbers"));
}

/* A kind of float; whole numbers are finite. */
static const hone_expr *is_kind(hone_topi *t, const hone_expr *const *x) {
    static const struct {
        const char *op;
        hone_intrin intrin;
    } kinds[] = {
        {"isnan",    HONE_INTRIN_ISNAN   },
        {"isinf",    HONE_INTRIN_ISINF   },
        {"isfinite", HONE_INTRIN_ISFINITE},
    };
    size_t kind = 0;
    if (!x[0]) return NULL;
    while (strcmp(kinds[kind].op, t->op) != 0)
        kind++;
    bool is_float = hone_dtype_is_float(x[0]->dtype);
    if (!is_float) return hone_expr_bool(&t->te->ir, kinds[kind].intrin == HONE_INTRIN_ISFINITE);
    return hone_expr_call(&t->te->ir, HONE_DTYPE_BOOL, kinds[kind].intrin, 1, x);
}

/* A shift by as many bits as there are, or more, shifts all of them out. */
static const hone_expr *shifted(hone_topi *t, hone_intrin intrin, const hone_expr *const *x) {
    if (!x[0] || !x[1]) return NULL;
    hone_dtype dtype = x[0]->dtype;
    bool fills_with_sign = intrin == HONE_INTRIN_SHIFT_RIGHT && hone_dtype_is_int(dtype);
    const hone_expr *is_far = bin(t, HONE_OP_GE, x[1], num(t, x[1], dtype.bits));
    const hone_expr *most = num(t, x[1], dtype.bits - 1);
    const hone_expr *args[] = {x[0], hone_expr_select(&t->te->ir, is_far, most, x[1])};
    const hone_expr *near = hone_expr_call(&t->te->ir, dtype, intrin, 2, args);
    if (fills_with_sign) return near;
    return hone_expr_select(&t->te->ir, is_far, num(t, x[0], 0), near);
}

static const hone_expr *shift_left(hone_topi *t, const hone_expr *const *x) {
    return shifted(t, HONE_INTRIN_SHIFT_LEFT, x);
}

static const hone_expr *shift_right(hone_topi *t, const hone_expr *const *x) {
    return shifted(t, HONE_INTRIN_SHIFT_RIGHT, x);
}

/* Of truths, what has their names there. */
static const hone_expr *bits(hone_topi *t, hone_intrin intrin, hone_op of_truths,
                             const hone_expr *const *x) {
    if (!x[0] || !x[1]) return NULL;
    if (hone_dtype_is_bool(x[0]->dtype)) return bin(t, of_truths, x[0], x[1]);
    return hone_expr_call(&t->te->ir, x[0]->dtype, intrin, 2, x);
}

static const hone_expr *bitwise_and(hone_topi *t, const hone_expr *const *x) {
    return bits(t, HONE_INTRIN_BITWISE_AND, HONE_OP_AND, x);
}

static const hone_expr *bitwise_or(hone_topi *t, const hone_expr *const *x) {
    return bits(t, HONE_INTRIN_BITWISE_OR, HONE_OP_OR, x);
}

static const hone_expr *bitwise_xor(hone_topi *t, const hone_expr *const *x) {
    return bits(t, HONE_INTRIN_BITWISE_XOR, HONE_OP_NE, x);
}

static const hone_expr *bitwise_not(hone_topi *t, const hone_expr *const *x) {
    if (!x[0]) return NULL;
    if (hone_dtype_is_bool(x[0]->dtype)) return hone_expr_not(&t->te->ir, x[0]);
    return hone_expr_call(&t->te->ir, x[0]->dtype, HONE_INTRIN_BITWISE_NOT, 1, x);
}

static const hone_expr *identity(hone_topi *t, const hone_expr *const *x) {
    (void)t;
    return x[0];
}

/* ---- tables ---- */

static const struct {
    const char *op;
    element_fn fn;
    bool has_steps; /* more than one: of short floats these are taken in float32 */
} functions[] = {
    {"maximum",      maximum,          false},
    {"minimum",      minimum,          false},
    {"nn.relu",      relu,             false},
    {"nn.leakyrelu", leaky_relu,       true },
    {"nn.gelu",      gelu,             true },
    {"nn.gelu_tanh", gelu_tanh,        true },
    {"nn.silu",      silu,             true },
    {"nn.softplus",  softplus,         true },
    {"nn.selu",      selu,             true },
    {"nn.relu6",     relu6,            false},
    {"log_add_exp",  log_add_exp,      true },
    {"abs",          absolute,         false},
    {"negative",     negative,         false},
    {"divide",       divide,           false},
    {"floor_divide", floor_divide,     true },
    {"mod",          modulo,           true },
    {"fmod",         truncated_modulo, false},
    {"power",        power,            false},
    {"clip",         clip,             false},
    {"ewise_fma",    multiply_add,     true },
    {"where",        where,            false},
    {"astype",       as_type,          false},
    {"bitcast",      bit_cast,         false},
    {"logical_not",  logical_not,      false},
    {"broadcast_to", identity,         false},
    {"sign",         sign,             false},
    {"square",       square,           false},
    {"atan2",        arc,              false},
    {"floor_mod",    modulo,           true },
    {"isnan",        is_kind,          false},
    {"isinf",        is_kind,          false},
    {"isfinite",     is_kind,          false},
    {"left_shift",   shift_left,       false},
    {"right_shift",  shift_right,      false},
    {"bitwise_and",  bitwise_and,      false},
    {"bitwise_or",   bitwise_or,       false},
    {"bitwise_xor",  bitwise_xor,      false},
    {"bitwise_not",  bitwise_not,      false},
};

static const struct {
    const char *op;
    hone_intrin intrin;
} intrins[] = {
    {"exp",     HONE_INTRIN_EXP      },
    {"log",     HONE_INTRIN_LOG      },
    {"sqrt",    HONE_INTRIN_SQRT     },
    {"rsqrt",   HONE_INTRIN_RSQRT    },
    {"erf",     HONE_INTRIN_ERF      },
    {"sin",     HONE_INTRIN_SIN      },
    {"cos",     HONE_INTRIN_COS      },
    {"tan",     HONE_INTRIN_TAN      },
    {"asin",    HONE_INTRIN_ASIN     },
    {"acos",    HONE_INTRIN_ACOS     },
    {"atan",    HONE_INTRIN_ATAN     },
    {"sinh",    HONE_INTRIN_SINH     },
    {"cosh",    HONE_INTRIN_COSH     },
    {"tanh",    HONE_INTRIN_TANH     },
    {"asinh",   HONE_INTRIN_ASINH    },
    {"acosh",   HONE_INTRIN_ACOSH    },
    {"atanh",   HONE_INTRIN_ATANH    },
    {"sigmoid", HONE_INTRIN_SIGMOID  },
    {"floor",   HONE_INTRIN_FLOOR    },
    {"ceil",    HONE_INTRIN_CEIL     },
    {"round",   HONE_INTRIN_NEARBYINT},
    {"trunc",   HONE_INTRIN_TRUNC    },
};

static const struct {
    const char *op;
    hone_op binary;
} binaries[] = {
    {"add",           HONE_OP_ADD},
    {"subtract",      HONE_OP_SUB},
    {"multiply",      HONE_OP_MUL},
    {"equal",         HONE_OP_EQ },
    {"not_equal",     HONE_OP_NE },
    {"less",          HONE_OP_LT },
    {"less_equal",    HONE_OP_LE },
    {"greater",       HONE_OP_GT },
    {"greater_equal", HONE_OP_GE },
    {"logical_and",   HONE_OP_AND},
    {"logical_or",    HONE_OP_OR },
    {"logical_xor",   HONE_OP_NE },
};

static hone_status element(hone_topi *t, const hone_expr *const *x, const hone_expr **out) {
    for (size_t i = 0; i < HONE_COUNT(binaries); i++) {
        if (strcmp(binaries[i].op, t->op) == 0) {
            *out = bin(t, binaries[i].binary, x[0], x[1]);
            return HONE_OK;
        }
    }
    for (size_t i = 0; i < HONE_COUNT(intrins); i++) {
        if (strcmp(intrins[i].op, t->op) == 0) {
            bool is_whole = hone_dtype_is_integer(x[0]->dtype); /* floor, ceil, round */
            *out = is_whole ? x[0] : hone_topi_intrin(t, intrins[i].intrin, x[0]);
            return HONE_OK;
        }
    }
    for (size_t i = 0; i < HONE_COUNT(functions); i++) {
        if (strcmp(functions[i].op, t->op) == 0) {
            const hone_expr *wide[MAX_OPERANDS];
            for (uint32_t k = 0; k < MAX_OPERANDS; k++)
                wide[k] = functions[i].has_steps ? hone_topi_widen(t, x[k]) : x[k];
            *out = functions[i].fn(t, wide);
            return HONE_OK;
        }
    }
    return hone_topi_unsupported(t, "not implemented");
}

/* "nn.relu" -> "relu": the name of block and buffer */
static const char *block_name(const hone_topi *t) {
    const char *dot = strchr(t->op, '.');
    return dot ? dot + 1 : t->op;
}

hone_status hone_topi_emit_elementwise(hone_topi *t) {
    const hone_expr *x[MAX_OPERANDS] = {NULL}, *value = NULL;
    hone_te_stage stage;
    if (strcmp(t->op, "clip") == 0 && t->count > 1) {
        return hone_topi_unsupported(t, "limits that are tensors");
    }
    hone_topi_stage(t, &stage);
    for (uint32_t i = 0; i < t->count && i < HONE_COUNT(x); i++) {
        x[i] = hone_topi_at(t, i, stage.axis, stage.spatial_count);
    }
    HONE_TRY(element(t, x, &value));
    if (value && !hone_dtype_equal(value->dtype, t->out->dtype)) {
        value = hone_expr_cast(&t->te->ir, t->out->dtype, value);
    }
    t->result = hone_te_compute(t->te, &stage, block_name(t), value);
    return HONE_OK;
}

hone_status hone_topi_emit_broadcast_to(hone_topi *t) {
    return hone_topi_emit_elementwise(t);
}
