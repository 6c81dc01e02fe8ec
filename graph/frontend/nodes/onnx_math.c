/* graph/frontend/nodes/onnx_math.c - elementwise operators, comparisons, matrix products and
 * reductions.
 */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- operators with a counterpart ---- */

static hone_status convert_unary(onnx_reader *r, hone_garg *out) {
    return onnx_emit1(r, r->row->target, r->inputs[0], out);
}

/* Shape arithmetic: integers that are known stay known. */
static bool fold_ints(onnx_reader *r, hone_op op, hone_garg *out) {
    const hone_expr *a[ONNX_MAX_KNOWN], *b[ONNX_MAX_KNOWN], *c[ONNX_MAX_KNOWN];
    uint32_t n, m;
    int32_t rank_a, rank_b;
    if (!onnx_known_ints(r, &r->inputs[0], &n, a, &rank_a) ||
        !onnx_known_ints(r, &r->inputs[1], &m, b, &rank_b)) {
        return false;
    }
    uint32_t count = n == 1 ? m : n;
    if (n != m && n != 1 && m != 1) return false;
    for (uint32_t i = 0; i < count; i++) {
        const hone_expr *x = a[n == 1 ? 0 : i], *y = b[m == 1 ? 0 : i];
        if (op == HONE_OP_ADD) {
            c[i] = hone_extent_sum(&r->ir, x, y);
        } else if (op == HONE_OP_MUL) {
            c[i] = hone_extent_mul(&r->ir, x, y);
        } else if (op == HONE_OP_SUB && hone_expr_is_int(y) && y->u.i != INT64_MIN) {
            c[i] = hone_extent_add(&r->ir, x, -y->u.i);
        } else if (op == HONE_OP_DIV && hone_expr_is_int(y) && y->u.i > 0 &&
                   !(hone_expr_is_int(x) && x->u.i < 0)) {
            c[i] = hone_extent_div(&r->ir, x, y->u.i);
        } else {
            return false;
        }
        if (!c[i]) return false;
    }
    int32_t rank = rank_a > rank_b ? rank_a : rank_b;
    hone_status st = onnx_make_ints(r, count, c, rank, out);
    if (st) hone_status_free(st);
    return !st;
}

static bool is_symbolic_kind(const hone_garg *arg) {
    return arg->kind == HONE_GARG_SHAPE || arg->kind == HONE_GARG_PRIM;
}

/* Up to opset 6 the second operand was laid along the first from `axis` on. */
static hone_status align_from_axis(onnx_reader *r, hone_garg *b) {
    const hone_sinfo *left, *right;
    int64_t axis;
    int32_t at;
    if (!onnx_attr(r, "axis")) return HONE_OK;
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    HONE_TRY(onnx_input_info(r, 0, &left));
    HONE_TRY(onnx_input_info(r, 1, &right));
    HONE_TRY(onnx_axis(r, axis, left->rank, &at));
    if (at + right->rank > left->rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "the second input does not fit at axis %d", at);
    }
    const hone_expr *shape[HONE_MAX_RANK];
    for (int32_t i = 0; i < left->rank - at; i++) {
        shape[i] = i < right->rank ? right->shape[i] : hone_extent_int(&r->ir, 1);
    }
    return onnx_emit_reshape(r, *b, (uint32_t)(left->rank - at), shape, b);
}

static hone_status convert_binary(onnx_reader *r, hone_garg *out) {
    static const struct {
        const char *name;
        hone_op op;
    } foldable[] = {
        {"Add", HONE_OP_ADD},
        {"Sub", HONE_OP_SUB},
        {"Mul", HONE_OP_MUL},
        {"Div", HONE_OP_DIV}
    };
    bool may_fold = is_symbolic_kind(&r->inputs[0]) || is_symbolic_kind(&r->inputs[1]);
    for (size_t i = 0; may_fold && i < HONE_COUNT(foldable); i++) {
        if (strcmp(r->node->op_type, foldable[i].name) == 0 && fold_ints(r, foldable[i].op, out)) {
            return HONE_OK;
        }
    }
    HONE_TRY(align_from_axis(r, &r->inputs[1]));
    return onnx_emit2(r, r->row->target, r->inputs[0], r->inputs[1], out);
}

/* Sum: any number of inputs. */
static hone_status convert_sum(onnx_reader *r, hone_garg *out) {
    *out = r->inputs[0];
    for (uint32_t i = 1; i < r->input_count; i++)
        HONE_TRY(onnx_emit2(r, "add", *out, r->inputs[i], out));
    return HONE_OK;
}

/* Max, Min: any number of inputs. What has come together stands on the right, where an extreme has
 * it once: on the left it would grow threefold with each input when it is inlined. */
static hone_status convert_extreme(onnx_reader *r, hone_garg *out) {
    *out = r->inputs[0];
    for (uint32_t i = 1; i < r->input_count; i++)
        HONE_TRY(onnx_emit2(r, r->row->target, r->inputs[i], *out, out));
    return HONE_OK;
}

static hone_status convert_mean(onnx_reader *r, hone_garg *out) {
    *out = r->inputs[0];
    for (uint32_t i = 1; i < r->input_count; i++) {
        HONE_TRY(onnx_emit2(r, "add", *out, r->inputs[i], out));
    }
    return onnx_with_scalar(r, "divide", *out, r->input_count, out);
}

/* Is it a constant of numbers that the type has? */
static bool has_all(const onnx_reader *r, hone_dtype dtype, const hone_garg *arg) {
    const hone_tensor *constant = onnx_constant_of(r, arg);
    union {
        double f;
        int64_t i;
    } element;
    for (int64_t i = 0; constant && i < hone_tensor_count(constant); i++) {
        double number = hone_tensor_get_f64(constant, i);
        if (!isfinite(number)) return false;
        hone_element_set_f64(dtype, &element, number);
        if (hone_element_get_f64(dtype, &element) != number) return false;
    }
    return constant != NULL;
}

/* What holds the numbers of both types, as far as a float does. */
static hone_dtype wider(hone_dtype a, hone_dtype b) {
    bool is_short = a.bits <= 16 && b.bits <= 16;
    bool has_long_int =
        (!hone_dtype_is_float(a) && a.bits > 16) || (!hone_dtype_is_float(b) && b.bits > 16);
    bool is_single = is_short || (a.bits <= 32 && b.bits <= 32 && !has_long_int);
    return is_single ? HONE_DTYPE_F32 : HONE_DTYPE_F64;
}

/* The exponent may have another type than the base, which the result has. Where that cannot hold
 * it, the power is one of the wider type. */
static hone_status convert_pow(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *base, *power;
    hone_garg args[2] = {r->inputs[0], r->inputs[1]};
    HONE_TRY(onnx_as_tensor(r, &args[1]));
    HONE_TRY(onnx_input_info(r, 0, &base));
    HONE_TRY(onnx_info(r, &args[1], &power));
    bool is_one_type =
        hone_dtype_equal(base->dtype, power->dtype) || has_all(r, base->dtype, &args[1]);
    hone_dtype dtype = is_one_type ? base->dtype : wider(base->dtype, power->dtype);
    for (uint32_t i = 0; i < 2; i++)
        HONE_TRY(onnx_emit_cast(r, args[i], dtype, &args[i]));
    HONE_TRY(onnx_emit2(r, "power", args[0], args[1], out));
    return onnx_emit_cast(r, *out, base->dtype, out);
}

static hone_status convert_where(onnx_reader *r, hone_garg *out) {
    return onnx_emit(r, "where", 3, r->inputs, 0, NULL, out);
}

/* x - floor(x / y) * y, of what C's fmod leaves: infinite y, too. */
static hone_status floats_mod(onnx_reader *r, hone_garg *out) {
    hone_garg rest, is_rest, is_low[2], choice[3];
    HONE_TRY(onnx_emit2(r, "fmod", r->inputs[0], r->inputs[1], &rest));
    HONE_TRY(onnx_with_scalar(r, "not_equal", rest, 0, &is_rest));
    HONE_TRY(onnx_with_scalar(r, "less", rest, 0, &is_low[0]));
    HONE_TRY(onnx_with_scalar(r, "less", r->inputs[1], 0, &is_low[1]));
    HONE_TRY(onnx_emit2(r, "logical_xor", is_low[0], is_low[1], &choice[0]));
    HONE_TRY(onnx_emit2(r, "logical_and", choice[0], is_rest, &choice[0]));
    HONE_TRY(onnx_emit2(r, "add", rest, r->inputs[1], &choice[1]));
    choice[2] = rest;
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

static hone_status convert_mod(onnx_reader *r, hone_garg *out) {
    int64_t fmod_form;
    const hone_sinfo *info;
    HONE_TRY(onnx_attr_int(r, "fmod", 0, &fmod_form));
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (!fmod_form && hone_dtype_is_float(info->dtype)) return floats_mod(r, out);
    return onnx_emit2(r, fmod_form ? "fmod" : "mod", r->inputs[0], r->inputs[1], out);
}

static hone_status convert_identity(onnx_reader *r, hone_garg *out) {
    *out = r->inputs[0];
    return HONE_OK;
}

/* ---- activations ---- */

/* A limit that is known, as input or attribute; without one: what limits nothing. */
static hone_status known_limit(onnx_reader *r, uint32_t input, hone_dtype dtype, hone_garg *out) {
    static const char *const names[] = {"x", "min", "max"};
    bool is_float = hone_dtype_is_float(dtype), is_low = input == 1;
    double value = is_low ? -HUGE_VAL : HUGE_VAL;
    int64_t whole = is_low ? hone_dtype_min_int(dtype) : hone_dtype_max_int(dtype);
    const hone_tensor *constant =
        onnx_has_input(r, input) ? onnx_constant_of(r, &r->inputs[input]) : NULL;
    if (constant && hone_tensor_count(constant) != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s (input %u) must be a scalar", names[input], input);
    }
    if (constant) {
        value = hone_tensor_get_f64(constant, 0);
        whole = hone_tensor_get_i64(constant, 0);
    } else if (!onnx_has_input(r, input)) {
        HONE_TRY(onnx_attr_float(r, names[input], value, &value));
    }
    out->kind = HONE_GARG_PRIM;
    out->u.expr =
        is_float ? hone_expr_float(&r->ir, dtype, value) : hone_expr_int(&r->ir, dtype, whole);
    return hone_ir_finish(&r->ir);
}

/* Limits that are computed, or that no number of a program can be (uint64), are operators of their
 * own. */
static bool is_operand(const onnx_reader *r, uint32_t input, hone_dtype dtype) {
    return onnx_has_input(r, input) &&
           (hone_dtype_equal(dtype, HONE_DTYPE_U64) || !onnx_constant_of(r, &r->inputs[input]));
}

/* min(max, max(x, min)), so that max holds where the limits cross. */
static hone_status convert_clip(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg args[3] = {r->inputs[0]};
    HONE_TRY(onnx_input_info(r, 0, &info));
    bool has_numbers = !hone_dtype_equal(info->dtype, HONE_DTYPE_U64);
    bool is_low_operand = is_operand(r, 1, info->dtype),
         is_high_operand = is_operand(r, 2, info->dtype);
    if (is_low_operand) HONE_TRY(onnx_emit2(r, "maximum", r->inputs[1], args[0], &args[0]));
    if (has_numbers && (!is_low_operand || !is_high_operand)) {
        HONE_TRY(known_limit(r, 1, info->dtype, &args[1]));
        HONE_TRY(known_limit(r, 2, info->dtype, &args[2]));
        HONE_TRY(onnx_emit(r, "clip", 3, args, 0, NULL, &args[0]));
    }
    if (is_high_operand) HONE_TRY(onnx_emit2(r, "minimum", r->inputs[2], args[0], &args[0]));
    *out = args[0];
    return onnx_keeps_shape(r, &r->inputs[0], out, "the limits");
}

static hone_status convert_leaky_relu(onnx_reader *r, hone_garg *out) {
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", 0.01, &alpha));
    hone_attr attr = {"alpha", HONE_VALUE_OF_FLOAT(alpha)};
    return onnx_emit(r, "nn.leakyrelu", 1, r->inputs, 1, &attr, out);
}

/* x where x > 0, else other */
static hone_status where_positive(onnx_reader *r, hone_garg x, hone_garg other, hone_garg *out) {
    hone_garg args[3] = {x, x, other};
    HONE_TRY(onnx_with_scalar(r, "greater", x, 0, &args[0]));
    return onnx_emit(r, "where", 3, args, 0, NULL, out);
}

/* Up to opset 6 the slope was a vector over the channels. */
static hone_status convert_prelu(onnx_reader *r, hone_garg *out) {
    hone_garg scaled;
    const hone_sinfo *data, *slope;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &slope));
    if (r->opset < 7 && slope->rank == 1 && data->rank > 1) {
        const hone_expr *shape[HONE_MAX_RANK] = {slope->shape[0]};
        for (int32_t i = 1; i < data->rank - 1; i++)
            shape[i] = hone_extent_int(&r->ir, 1);
        HONE_TRY(
            onnx_emit_reshape(r, r->inputs[1], (uint32_t)data->rank - 1, shape, &r->inputs[1]));
    }
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[0], r->inputs[1], &scaled));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &scaled, "the slope"));
    hone_garg args[3] = {{0}, scaled, r->inputs[0]}; /* a zero stays one, whatever the slope is */
    HONE_TRY(onnx_with_scalar(r, "less", r->inputs[0], 0, &args[0]));
    return onnx_emit(r, "where", 3, args, 0, NULL, out);
}

/* alpha * (exp(min(x, 0)) - 1) below zero: the exponent never overflows */
hone_status onnx_emit_elu(onnx_reader *r, hone_garg x, double alpha, hone_garg *out) {
    hone_garg below;
    HONE_TRY(onnx_with_scalar(r, "minimum", x, 0, &below));
    HONE_TRY(onnx_emit1(r, "exp", below, &below));
    HONE_TRY(onnx_with_scalar(r, "subtract", below, 1, &below));
    HONE_TRY(onnx_with_scalar(r, "multiply", below, alpha, &below));
    return where_positive(r, x, below, out);
}

static hone_status convert_elu(onnx_reader *r, hone_garg *out) {
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", 1.0, &alpha));
    return onnx_emit_elu(r, r->inputs[0], alpha, out);
}

static hone_status convert_selu(onnx_reader *r, hone_garg *out) {
    double alpha, gamma;
    HONE_TRY(onnx_attr_float(r, "alpha", ONNX_SELU_ALPHA, &alpha));
    HONE_TRY(onnx_attr_float(r, "gamma", ONNX_SELU_GAMMA, &gamma));
    HONE_TRY(onnx_emit_elu(r, r->inputs[0], alpha, out));
    return onnx_with_scalar(r, "multiply", *out, gamma, out);
}

hone_status onnx_emit_hard_sigmoid(onnx_reader *r, hone_garg x, double alpha, double beta,
                                   hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "multiply", x, alpha, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, beta, out));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out, 0, out));
    return onnx_with_scalar(r, "minimum", *out, 1, out);
}

static hone_status convert_hard_sigmoid(onnx_reader *r, hone_garg *out) {
    double alpha, beta;
    HONE_TRY(onnx_attr_float(r, "alpha", 0.2, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 0.5, &beta));
    return onnx_emit_hard_sigmoid(r, r->inputs[0], alpha, beta, out);
}

static hone_status convert_hard_swish(onnx_reader *r, hone_garg *out) {
    hone_garg gate;
    HONE_TRY(onnx_emit_hard_sigmoid(r, r->inputs[0], 1.0 / 6.0, 0.5, &gate));
    return onnx_emit2(r, "multiply", r->inputs[0], gate, out);
}

/* max(x, 0) + log(1 + exp(-|x|)) */
hone_status onnx_emit_softplus(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_garg tail, top;
    HONE_TRY(onnx_emit1(r, "abs", x, &tail));
    HONE_TRY(onnx_emit1(r, "negative", tail, &tail));
    HONE_TRY(onnx_emit1(r, "exp", tail, &tail));
    HONE_TRY(onnx_with_scalar(r, "add", tail, 1, &tail));
    HONE_TRY(onnx_emit1(r, "log", tail, &tail));
    HONE_TRY(onnx_with_scalar(r, "maximum", x, 0, &top));
    return onnx_emit2(r, "add", top, tail, out);
}

static hone_status convert_softplus(onnx_reader *r, hone_garg *out) {
    return onnx_emit_softplus(r, r->inputs[0], out);
}

hone_status onnx_emit_softsign(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_garg below;
    HONE_TRY(onnx_emit1(r, "abs", x, &below));
    HONE_TRY(onnx_with_scalar(r, "add", below, 1, &below));
    return onnx_emit2(r, "divide", x, below, out);
}

static hone_status convert_softsign(onnx_reader *r, hone_garg *out) {
    return onnx_emit_softsign(r, r->inputs[0], out);
}

/* x where x > alpha, else 0, which NaN becomes, too: so the standard has it */
hone_status onnx_emit_thresholded(onnx_reader *r, hone_garg x, double alpha, hone_garg *out) {
    hone_garg args[3] = {{0}, x};
    HONE_TRY(onnx_with_scalar(r, "greater", x, alpha, &args[0]));
    HONE_TRY(onnx_scalar_like(r, &x, 0, &args[2]));
    return onnx_emit(r, "where", 3, args, 0, NULL, out);
}

static hone_status convert_thresholded_relu(onnx_reader *r, hone_garg *out) {
    double alpha;
    HONE_TRY(onnx_attr_float(r, "alpha", 1.0, &alpha));
    return onnx_emit_thresholded(r, r->inputs[0], alpha, out);
}

/* (x > 0) - (x < 0), NaN of NaN */
static hone_status convert_sign(onnx_reader *r, hone_garg *out) {
    hone_garg is_above, is_below, args[3] = {{0}, r->inputs[0]};
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_with_scalar(r, "greater", r->inputs[0], 0, &is_above));
    HONE_TRY(onnx_with_scalar(r, "less", r->inputs[0], 0, &is_below));
    HONE_TRY(onnx_emit_cast(r, is_above, info->dtype, &is_above));
    HONE_TRY(onnx_emit_cast(r, is_below, info->dtype, &is_below));
    HONE_TRY(onnx_emit2(r, "subtract", is_above, is_below, out));
    if (!hone_dtype_is_float(info->dtype)) return HONE_OK;
    args[2] = *out;
    HONE_TRY(onnx_emit2(r, "not_equal", r->inputs[0], r->inputs[0], &args[0]));
    return onnx_emit(r, "where", 3, args, 0, NULL, out);
}

static hone_status convert_reciprocal(onnx_reader *r, hone_garg *out) {
    hone_garg one;
    HONE_TRY(onnx_scalar_like(r, &r->inputs[0], 1, &one));
    return onnx_emit2(r, "divide", one, r->inputs[0], out);
}

static hone_status convert_gelu(onnx_reader *r, hone_garg *out) {
    static const char *const words[] = {"none", "tanh", NULL};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "approximate", words[0], words, &word));
    return onnx_emit1(r, word == 0 ? "nn.gelu" : "nn.gelu_tanh", r->inputs[0], out);
}

/* ---- matrix products ---- */

static hone_status convert_matmul(onnx_reader *r, hone_garg *out) {
    return onnx_emit2(r, "matmul", r->inputs[0], r->inputs[1], out);
}

/* product + beta * C, in the product's shape */
static hone_status add_scaled(onnx_reader *r, hone_garg c, double beta, hone_garg *io_product) {
    hone_garg product = *io_product;
    HONE_TRY(onnx_widen(r, &c));
    if (beta != 1) HONE_TRY(onnx_with_scalar(r, "multiply", c, beta, &c));
    HONE_TRY(onnx_emit2(r, "add", product, c, io_product));
    return onnx_keeps_shape(r, &product, io_product, "C");
}

static hone_status transpose(onnx_reader *r, hone_garg *io_matrix) {
    static const int64_t axes[] = {1, 0};
    return onnx_emit_permute(r, *io_matrix, 2, axes, io_matrix);
}

/* alpha * A' * B' + beta * C. graph/passes/fold_transpose.c turns constant weights, and makes
 * transpositions part of the product. */
static hone_status convert_gemm(onnx_reader *r, hone_garg *out) {
    double alpha, beta;
    int64_t trans_a, trans_b;
    const hone_sinfo *a, *b;
    HONE_TRY(onnx_attr_float(r, "alpha", 1, &alpha));
    HONE_TRY(onnx_attr_float(r, "beta", 1, &beta));
    HONE_TRY(onnx_attr_int(r, "transA", 0, &trans_a));
    HONE_TRY(onnx_attr_int(r, "transB", 0, &trans_b));
    HONE_TRY(onnx_input_info(r, 0, &a));
    HONE_TRY(onnx_input_info(r, 1, &b));
    if (a->rank != 2 || b->rank != 2) {
        return HONE_ERROR(HONE_CODE_INVALID, "A and B must have 2 dimensions, have %d and %d",
                          a->rank, b->rank);
    }
    hone_attr attrs[1];
    uint32_t count = 0;
    hone_dtype dtype = a->dtype;
    bool has_c = onnx_has_input(r, 2) && beta != 0;
    hone_garg sides[] = {r->inputs[0], r->inputs[1]};
    if (trans_a) HONE_TRY(transpose(r, &sides[0]));
    if (trans_b) HONE_TRY(transpose(r, &sides[1]));
    if (has_c || alpha != 1) onnx_wide_product(r, dtype, attrs, &count);
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, count, attrs, out));
    if (alpha != 1) HONE_TRY(onnx_with_scalar(r, "multiply", *out, alpha, out));
    if (has_c) HONE_TRY(add_scaled(r, r->inputs[2], beta, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* ---- reductions ---- */

/* Axes as an attribute, or (sum since opset 13, all since 18) as an input. */
static hone_status reduce_axes(onnx_reader *r, int64_t *axes, uint32_t *out_count, bool *out_noop) {
    int64_t noop;
    HONE_TRY(onnx_attr_int(r, "noop_with_empty_axes", 0, &noop));
    if (onnx_has_input(r, 1)) {
        HONE_TRY(onnx_const_ints(r, 1, "axes", HONE_MAX_RANK, axes, out_count));
    } else {
        HONE_TRY(onnx_attr_ints(r, "axes", HONE_MAX_RANK, axes, out_count));
    }
    *out_noop = *out_count == 0 && noop;
    return HONE_OK;
}

static hone_status emit_reduce(onnx_reader *r, const char *op, hone_garg x, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK], keep;
    uint32_t count = 0;
    bool is_noop = false;
    HONE_TRY(reduce_axes(r, axes, &count, &is_noop));
    HONE_TRY(onnx_attr_int(r, "keepdims", 1, &keep));
    *out = x;
    if (is_noop) return HONE_OK;
    hone_attr attrs[] = {
        {"keepdims", HONE_VALUE_OF_BOOL(keep != 0)},
        { "axis", onnx_ints_value(r,                             count, axes)}
    };
    return onnx_emit(r, op, 1, &x, count ? 2 : 1, attrs, out);
}

static hone_status convert_reduce(onnx_reader *r, hone_garg *out) {
    return emit_reduce(r, r->row->target, r->inputs[0], out);
}

static hone_status convert_reduce_l1(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit1(r, "abs", r->inputs[0], out));
    return emit_reduce(r, "sum", *out, out);
}

static hone_status convert_reduce_square(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[0], r->inputs[0], out));
    HONE_TRY(emit_reduce(r, "sum", *out, out));
    bool is_norm = strcmp(r->node->op_type, "ReduceL2") == 0;
    return is_norm ? onnx_emit1(r, "sqrt", *out, out) : HONE_OK;
}

/* x where it is finite, else 0: what is taken out of exponents must not make NaN of an infinity */
static hone_status finite_or_zero(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_garg args[3] = {{0}, x};
    HONE_TRY(onnx_emit1(r, "abs", x, &args[0]));
    HONE_TRY(onnx_with_scalar(r, "less", args[0], HUGE_VAL, &args[0]));
    HONE_TRY(onnx_scalar_like(r, &x, 0, &args[2]));
    return onnx_emit(r, "where", 3, args, 0, NULL, out);
}

/* log(sum(exp(x - top))) + top, where top is the maximum, over the reduced axes */
static hone_status log_sum_exp(onnx_reader *r, hone_garg x, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK], keep;
    uint32_t count;
    bool is_noop;
    const hone_sinfo *data;
    hone_garg top = x;
    HONE_TRY(onnx_info(r, &x, &data));
    HONE_TRY(reduce_axes(r, axes, &count, &is_noop));
    HONE_TRY(onnx_attr_int(r, "keepdims", 1, &keep));
    bool is_all = count == 0 && !is_noop;
    for (uint32_t i = 0; is_all && i < (uint32_t)data->rank; i++)
        axes[count++] = i;
    hone_attr attrs[] = {
        {"keepdims", HONE_VALUE_OF_BOOL(1)},
        { "axis", onnx_ints_value(r,                     count, axes)}
    };
    if (!is_noop) HONE_TRY(onnx_emit(r, "max", 1, &x, 2, attrs, &top));
    HONE_TRY(finite_or_zero(r, top, &top));
    HONE_TRY(onnx_emit2(r, "subtract", x, top, out));
    HONE_TRY(onnx_emit1(r, "exp", *out, out));
    if (!is_noop) HONE_TRY(onnx_emit(r, "sum", 1, out, 2, attrs, out));
    HONE_TRY(onnx_emit1(r, "log", *out, out));
    HONE_TRY(onnx_emit2(r, "add", *out, top, out));
    if (keep || is_noop) return HONE_OK;
    return onnx_emit(r, "squeeze", 1, out, 1, &attrs[1], out);
}

/* log of a sum, or of a sum of exponentials */
static hone_status convert_reduce_log(onnx_reader *r, hone_garg *out) {
    hone_garg x = r->inputs[0];
    if (strcmp(r->node->op_type, "ReduceLogSum") == 0) {
        HONE_TRY(emit_reduce(r, "sum", x, out));
        return onnx_emit1(r, "log", *out, out);
    }
    return log_sum_exp(r, x, out);
}

/* The last index of the extreme is the first one from behind. */
static hone_status last_index(onnx_reader *r, int64_t axis, uint32_t attr_count,
                              const hone_attr *attrs, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg turned, last;
    int32_t at;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_axis(r, axis, data->rank, &at));
    hone_attr along = {"axis", HONE_VALUE_OF_INT(at)};
    HONE_TRY(onnx_emit(r, "flip", 1, r->inputs, 1, &along, &turned));
    HONE_TRY(onnx_emit(r, r->row->target, 1, &turned, attr_count, attrs, out));
    const hone_expr *end = hone_extent_add(&r->ir, data->shape[at], -1);
    HONE_TRY(onnx_make_ints(r, 1, &end, 0, &last));
    return onnx_emit2(r, "subtract", last, *out, out);
}

static hone_status convert_arg_reduce(onnx_reader *r, hone_garg *out) {
    int64_t axis, keep, last;
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    HONE_TRY(onnx_attr_int(r, "keepdims", 1, &keep));
    HONE_TRY(onnx_attr_int(r, "select_last_index", 0, &last));
    hone_attr attrs[] = {
        {"axis",     HONE_VALUE_OF_INT(axis)      },
        {"keepdims", HONE_VALUE_OF_BOOL(keep != 0)}
    };
    if (last) return last_index(r, axis, 2, attrs, out);
    return onnx_emit(r, r->row->target, 1, r->inputs, 2, attrs, out);
}

/* ---- matrices ---- */

hone_status onnx_make_square(onnx_reader *r, hone_garg *x) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_as_tensor(r, x));
    HONE_TRY(onnx_info(r, x, &info));
    const int32_t rank = info->rank;
    if (rank < 2) return HONE_OK; /* which the operator refuses */
    memcpy(shape, info->shape, (size_t)rank * sizeof *shape);
    const bool is_known = hone_expr_is_int(shape[rank - 1]);
    shape[rank - (is_known ? 2 : 1)] = shape[rank - (is_known ? 1 : 2)];
    return onnx_demand_shape(r, x, rank, shape);
}

static hone_status convert_det(onnx_reader *r, hone_garg *out) {
    HONE_TRY(onnx_make_square(r, &r->inputs[0]));
    return onnx_emit1(r, "det", r->inputs[0], out);
}

#define UNARY(onnx, op)                                                                            \
    { onnx, convert_unary, 1, 1, 1, "", op }
#define BINARY(onnx, op)                                                                           \
    { onnx, convert_binary, 2, 2, 1, "axis broadcast", op }
#define REDUCE(onnx, fn, op)                                                                       \
    { onnx, fn, 1, 2, 1, "axes keepdims noop_with_empty_axes", op }

const onnx_converter onnx_math_converters[] = {
    UNARY("Relu", "nn.relu"),
    UNARY("Sigmoid", "sigmoid"),
    UNARY("Tanh", "tanh"),
    UNARY("Exp", "exp"),
    UNARY("Log", "log"),
    UNARY("Sqrt", "sqrt"),
    UNARY("Abs", "abs"),
    UNARY("Neg", "negative"),
    UNARY("Erf", "erf"),
    {"Det",      convert_det, 1, 1, 1, "", NULL},
    UNARY("Floor", "floor"),
    UNARY("Ceil", "ceil"),
    UNARY("Round", "round"),
    UNARY("Sin", "sin"),
    UNARY("Cos", "cos"),
    UNARY("Tan", "tan"),
    UNARY("Asin", "asin"),
    UNARY("Acos", "acos"),
    UNARY("Atan", "atan"),
    UNARY("Sinh", "sinh"),
    UNARY("Cosh", "cosh"),
    UNARY("Asinh", "asinh"),
    UNARY("Acosh", "acosh"),
    UNARY("Atanh", "atanh"),
    UNARY("Not", "logical_not"),
    BINARY("Add", "add"),
    BINARY("Sub", "subtract"),
    BINARY("Mul", "multiply"),
    BINARY("Div", "divide"),
    BINARY("Equal", "equal"),
    BINARY("Less", "less"),
    BINARY("LessOrEqual", "less_equal"),
    BINARY("Greater", "greater"),
    BINARY("GreaterOrEqual", "greater_equal"),
    BINARY("And", "logical_and"),
    BINARY("Or", "logical_or"),
    BINARY("Xor", "logical_xor"),
    {"Max",         convert_extreme, 1, 255, 1, "", "maximum"},
    {"Min",         convert_extreme, 1, 255, 1, "", "minimum"},
    {"Sum",      convert_sum, 1, 255, 1, "", NULL},
    {"Mean",      convert_mean, 1, 255, 1, "", NULL},
    {"Mod",         convert_mod, 2, 2, 1, "fmod", NULL},
    {"Pow",         convert_pow, 2, 2, 1, "", NULL},
    {"Where", convert_where, 3, 3, 1, "", NULL},
    {"Identity",      convert_identity, 1, 1, 1, "", NULL},
    {"Clip",         convert_clip, 1, 3, 1, "min max", NULL},
    {"LeakyRelu",         convert_leaky_relu, 1, 1, 1, "alpha", NULL},
    {"PRelu", convert_prelu, 2, 2, 1, "", NULL},
    {"Elu",      convert_elu, 1, 1, 1, "alpha", NULL},
    {"Selu",         convert_selu, 1, 1, 1, "alpha gamma", NULL},
    {"HardSigmoid",         convert_hard_sigmoid, 1, 1, 1, "alpha beta", NULL},
    {"HardSwish",      convert_hard_swish, 1, 1, 1, "", NULL},
    {"Softplus",     convert_softplus, 1, 1, 1, "", NULL},
    {"Softsign",         convert_softsign, 1, 1, 1, "", NULL},
    {"ThresholdedRelu",         convert_thresholded_relu, 1, 1, 1, "alpha", NULL},
    {"Sign",      convert_sign, 1, 1, 1, "", NULL},
    {"Reciprocal",      convert_reciprocal, 1, 1, 1, "", NULL},
    {"Gelu",         convert_gelu, 1, 1, 1, "approximate", NULL},
    {"MatMul",         convert_matmul, 2, 2, 1, "", NULL},
    {"Gemm",      convert_gemm, 2, 3, 1, "alpha beta broadcast transA transB", NULL},
    REDUCE("ReduceSum", convert_reduce, "sum"),
    REDUCE("ReduceMean", convert_reduce, "mean"),
    REDUCE("ReduceMax", convert_reduce, "max"),
    REDUCE("ReduceMin", convert_reduce, "min"),
    REDUCE("ReduceProd", convert_reduce, "prod"),
    REDUCE("ReduceL1", convert_reduce_l1, NULL),
    REDUCE("ReduceL2", convert_reduce_square, NULL),
    REDUCE("ReduceSumSquare", convert_reduce_square, NULL),
    REDUCE("ReduceLogSum", convert_reduce_log, NULL),
    REDUCE("ReduceLogSumExp", convert_reduce_log, NULL),
    {"ArgMax",      convert_arg_reduce, 1, 1, 1, "axis keepdims select_last_index", "argmax"},
    {"ArgMin",         convert_arg_reduce, 1, 1, 1, "axis keepdims select_last_index", "argmin"},
    {0        },
};
