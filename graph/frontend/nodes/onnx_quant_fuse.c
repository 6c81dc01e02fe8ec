/* graph/frontend/nodes/onnx_quant_fuse.c - DequantizeLinear, an operator and QuantizeLinear as one
 * operator of whole numbers: Conv is QLinearConv, MatMul and Gemm are QLinearMatMul.
 *
 * QuantizeLinear looks back at the nodes that make its input. Relu and Clip on the way are limits
 * of the whole numbers: rounding keeps the order of numbers. Nodes in between are read as they
 * stand; what nobody uses any more is dropped like all that is dead. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { MAX_LIMITS = 4 };

/* What a DequantizeLinear takes. */
typedef struct quantised {
    hone_garg x, scale, zero; /* zero: NONE where there is none */
    int64_t axis;
} quantised;

/* The chain in front of a QuantizeLinear. */
typedef struct chain {
    const Onnx__NodeProto *core, *limits[MAX_LIMITS];
    uint32_t limit_count;
} chain;

/* ---- nodes and what they take ---- */

static const Onnx__NodeProto *maker_of(const onnx_reader *r, const char *name) {
    uint64_t at;
    return hone_strmap_find(&r->scope->makers, name, &at) ? (const Onnx__NodeProto *)(uintptr_t)at
                                                          : NULL;
}

static bool is_op(const Onnx__NodeProto *node, const char *op) {
    return node && (!node->domain || !node->domain[0]) && strcmp(node->op_type, op) == 0;
}

static hone_garg input_of(const onnx_reader *r, const Onnx__NodeProto *node, size_t i) {
    hone_garg found = {.kind = HONE_GARG_NONE};
    bool is_there = i < node->n_input && onnx_lookup(r, node->input[i], &found);
    return is_there ? found : (hone_garg){.kind = HONE_GARG_NONE};
}

static int64_t int_of(const onnx_reader *r, const Onnx__NodeProto *node, const char *name,
                      int64_t fallback) {
    const Onnx__AttributeProto *attr = onnx_attr_of(r, node, name);
    return attr ? attr->i : fallback;
}

static float float_of(const onnx_reader *r, const Onnx__NodeProto *node, const char *name,
                      float fallback) {
    const Onnx__AttributeProto *attr = onnx_attr_of(r, node, name);
    return attr ? attr->f : fallback;
}

/* The only element of a constant, or NaN. */
static double number_of(const onnx_reader *r, const hone_garg *arg) {
    const hone_tensor *tensor = onnx_constant_of(r, arg);
    return tensor && hone_tensor_count(tensor) == 1 ? hone_tensor_get_f64(tensor, 0) : (double)NAN;
}

static bool is_float32(const onnx_reader *r, const hone_garg *arg) {
    const hone_tensor *tensor = onnx_constant_of(r, arg);
    return tensor && hone_dtype_equal(tensor->dtype, HONE_DTYPE_F32);
}

/* Input i of the node, where a DequantizeLinear with known numbers makes it. */
static bool read_quantised(const onnx_reader *r, const Onnx__NodeProto *node, size_t i,
                           quantised *out) {
    const Onnx__NodeProto *maker = i < node->n_input ? maker_of(r, node->input[i]) : NULL;
    if (!is_op(maker, "DequantizeLinear") || int_of(r, maker, "block_size", 0)) return false;
    out->x = input_of(r, maker, 0);
    out->scale = input_of(r, maker, 1);
    out->zero = input_of(r, maker, 2);
    out->axis = int_of(r, maker, "axis", 1);
    bool is_known = out->zero.kind == HONE_GARG_NONE || onnx_constant_of(r, &out->zero);
    return is_known && is_float32(r, &out->scale);
}

static bool is_short(const onnx_reader *r, const quantised *q) {
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, &q->x, r->arena);
    return info && info->kind == HONE_SINFO_TENSOR && info->rank >= 2 && info->dtype.bits == 8;
}

static bool is_one(const onnx_reader *r, const quantised *q) {
    return !isnan(number_of(r, &q->scale));
}

/* One scale, or one for each place along the axis. */
static bool lies_along(const onnx_reader *r, const quantised *q, int64_t axis) {
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, &q->x, r->arena);
    int64_t at = q->axis < 0 ? q->axis + info->rank : q->axis;
    return is_one(r, q) || at == (axis < 0 ? axis + info->rank : axis);
}

/* A bias counts in the scale of the sums. */
static bool fits_sums(const onnx_reader *r, const quantised *bias, const quantised *a,
                      const quantised *b) {
    const hone_tensor *own = onnx_constant_of(r, &bias->scale),
                      *of_b = onnx_constant_of(r, &b->scale),
                      *zero = onnx_constant_of(r, &bias->zero);
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, &bias->x, r->arena);
    if (!info || info->kind != HONE_SINFO_TENSOR || info->rank != 1 ||
        !hone_dtype_equal(info->dtype, HONE_DTYPE_I32) ||
        hone_tensor_count(own) != hone_tensor_count(of_b)) {
        return false;
    }
    for (int64_t i = 0; zero && i < hone_tensor_count(zero); i++)
        if (hone_tensor_get_i64(zero, i) != 0) return false;
    for (int64_t i = 0; i < hone_tensor_count(own); i++) {
        double is = hone_tensor_get_f64(own, i),
               wanted = number_of(r, &a->scale) * hone_tensor_get_f64(of_b, i);
        if (!(fabs(is - wanted) <= 1e-5 * fabs(wanted))) return false;
    }
    return true;
}

/* ---- cores ---- */

/* The inputs of the operator of whole numbers, all but the scale and zero point of its result. */
typedef struct operands {
    quantised a, b, bias;
    bool has_bias;
} operands;

static bool read_operands(const onnx_reader *r, const Onnx__NodeProto *core, operands *o) {
    o->has_bias = core->n_input > 2 && core->input[2][0];
    if (!read_quantised(r, core, 0, &o->a) || !read_quantised(r, core, 1, &o->b)) return false;
    if (!is_short(r, &o->a) || !is_short(r, &o->b) || !is_one(r, &o->a)) return false;
    return !o->has_bias ||
           (read_quantised(r, core, 2, &o->bias) && fits_sums(r, &o->bias, &o->a, &o->b));
}

static bool is_plain_gemm(const onnx_reader *r, const Onnx__NodeProto *core) {
    return !int_of(r, core, "transA", 0) && float_of(r, core, "alpha", 1) == 1 &&
           float_of(r, core, "beta", 1) == 1;
}

static hone_status turn_factor(onnx_reader *r, const Onnx__NodeProto *core, operands *o) {
    static const int64_t turned[] = {1, 0};
    if (!int_of(r, core, "transB", 0)) return HONE_OK;
    return onnx_emit_permute(r, o->b.x, 2, turned, &o->b.x);
}

/* The converter of the core as an operator of whole numbers, NULL where it cannot be one. */
static const char *whole_op(const onnx_reader *r, const Onnx__NodeProto *core, operands *o) {
    if (is_op(core, "Conv"))
        return read_operands(r, core, o) && lies_along(r, &o->b, 0) ? "QLinearConv" : NULL;
    bool is_gemm = is_op(core, "Gemm") && is_plain_gemm(r, core);
    if (!is_gemm && !is_op(core, "MatMul")) return NULL;
    int64_t axis = is_gemm && int_of(r, core, "transB", 0) ? 0 : -1;
    return read_operands(r, core, o) && lies_along(r, &o->b, axis) ? "QLinearMatMul" : NULL;
}

/* ---- limits ---- */

static bool is_limit(const onnx_reader *r, const Onnx__NodeProto *node) {
    bool is_known = is_op(node, "Relu") || is_op(node, "Clip");
    for (size_t i = 1; is_known && i < node->n_input; i++) {
        hone_garg limit = input_of(r, node, i);
        is_known = !node->input[i][0] || is_float32(r, &limit);
    }
    return is_known;
}

static void read_limits(const onnx_reader *r, const Onnx__NodeProto *node, double *low,
                        double *high) {
    bool is_relu = is_op(node, "Relu");
    hone_garg least = input_of(r, node, 1), most = input_of(r, node, 2);
    double from = is_relu ? 0 : (double)float_of(r, node, "min", -INFINITY),
           to = is_relu ? INFINITY : (double)float_of(r, node, "max", INFINITY);
    if (!is_relu && least.kind != HONE_GARG_NONE) from = number_of(r, &least);
    if (!is_relu && most.kind != HONE_GARG_NONE) to = number_of(r, &most);
    *low = fmin(fmax(*low, from), to); /* of what comes later, these are limits too */
    *high = fmin(fmax(*high, from), to);
}

/* A limit as a whole number; what is beyond the type is no limit. */
static hone_status limit(onnx_reader *r, const char *op, double value, const hone_garg *quantize,
                         hone_garg *io) {
    double scale = number_of(r, &quantize[0]), zero = 0;
    if (isinf(value)) return HONE_OK;
    if (quantize[1].kind != HONE_GARG_NONE) zero = number_of(r, &quantize[1]);
    double whole = (double)rintf((float)value / (float)scale) + zero;
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, io, &info));
    double least = (double)hone_dtype_min_int(info->dtype),
           most = (double)hone_dtype_max_int(info->dtype);
    return onnx_with_scalar(r, op, *io, fmin(fmax(whole, least), most), io);
}

static hone_status apply_limits(onnx_reader *r, const chain *c, const hone_garg *quantize,
                                hone_garg *io) {
    double low = (double)-INFINITY, high = (double)INFINITY;
    for (uint32_t i = c->limit_count; i-- > 0;)
        read_limits(r, c->limits[i], &low, &high);
    HONE_TRY(limit(r, "maximum", low, quantize, io));
    return limit(r, "minimum", high, quantize, io);
}

/* ---- the whole ---- */

static bool find_chain(const onnx_reader *r, chain *c) {
    c->core = maker_of(r, r->node->input[0]);
    c->limit_count = 0;
    while (c->core && is_limit(r, c->core)) {
        if (c->limit_count == MAX_LIMITS) return false;
        c->limits[c->limit_count++] = c->core;
        c->core = maker_of(r, c->core->input[0]);
    }
    return c->core != NULL;
}

/* Scale and zero point of the result are one known number each. */
static bool is_whole_tensor(const onnx_reader *r) {
    const hone_tensor *zero = onnx_has_input(r, 2) ? onnx_constant_of(r, &r->inputs[2]) : NULL;
    return is_float32(r, &r->inputs[1]) && !isnan(number_of(r, &r->inputs[1])) && zero &&
           hone_tensor_count(zero) == 1 && zero->dtype.bits == 8 && !onnx_attr(r, "block_size");
}

static hone_status convert_whole(onnx_reader *r, const char *op, const operands *o,
                                 const hone_garg *quantize, hone_garg *out) {
    const hone_garg none = {.kind = HONE_GARG_NONE};
    const hone_garg inputs[] = {o->a.x,      o->a.scale,  o->a.zero,
                                o->b.x,      o->b.scale,  o->b.zero,
                                quantize[0], quantize[1], o->has_bias ? o->bias.x : none};
    uint32_t count = HONE_COUNT(inputs) - !o->has_bias;
    return onnx_convert_on(r, op, count, inputs, out);
}

hone_status onnx_fuse_quantize(onnx_reader *r, hone_garg *out, bool *out_done) {
    const Onnx__NodeProto *own = r->node;
    const hone_garg quantize[] = {r->inputs[1], r->inputs[2]};
    operands o;
    chain c;
    *out_done = false;
    if (!is_whole_tensor(r) || !find_chain(r, &c)) return HONE_OK;
    const char *op = whole_op(r, c.core, &o);
    if (!op) return HONE_OK;
    *out_done = true;
    if (is_op(c.core, "Gemm")) HONE_TRY(turn_factor(r, c.core, &o));
    r->node = c.core; /* for its attributes */
    hone_status st = convert_whole(r, op, &o, quantize, out);
    r->node = own;
    return st ? st : apply_limits(r, &c, quantize, out);
}
