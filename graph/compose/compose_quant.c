/* graph/compose/compose_quant.c - quantised numbers: quantize and dequantize in their steps, and
 * what stands between them as operators of whole numbers:
 *   quantize(limits(conv(dequantize(x), dequantize(w)) + dequantize(bias)))  → QLinearConv, limits
 *   the same with matmul                                                     → QLinearMatMul,
 * limits quantize(moved(dequantize(x))), with one scale and zero point            → moved(x) Limits
 * (relu, clip) are limits of the whole numbers: rounding keeps the order of numbers. What stood in
 * between and is used elsewhere stays; what nobody uses any more goes like all that is dead. Scales
 * and zero points of what is fused are constants. */
#include <math.h>
#include <string.h>

#include "graph/compose/compose_impl.h"

enum { MAX_LIMITS = 4, MAX_STEPS = 8 };

/* ---- one call in its steps ---- */

static hone_status element_type(const hone_gbind *bind, const char *fallback, hone_dtype *out) {
    const char *name = hone_attrs_string(&bind->attrs, "out_dtype", fallback);
    bool is_type = hone_dtype_parse(name, out);
    return is_type ? HONE_OK : HONE_ERROR(HONE_CODE_TYPE, "'%s' is no element type", name);
}

/* A vector of scales or zero points along the axis of the call; one number as it is. */
static hone_status along_axis(onnx_reader *r, const hone_gbind *bind, uint32_t input,
                              hone_garg *out) {
    const hone_sinfo *data, *info;
    int32_t axis;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, input, &info));
    *out = r->inputs[input];
    bool is_one = info->rank == 0 || (info->rank == 1 && hone_expr_is_int_value(info->shape[0], 1));
    if (is_one) return onnx_emit_reshape(r, *out, 0, NULL, out);
    HONE_TRY(onnx_axis(r, hone_attrs_int(&bind->attrs, "axis", -1), data->rank, &axis));
    return compose_along(r, *out, data->rank, axis, out);
}

/* round(x / scale) + zero, held in the type */
static hone_status in_steps(onnx_reader *r, const hone_gbind *bind, hone_dtype dtype,
                            hone_garg *out) {
    const hone_sinfo *data, *info;
    hone_garg x = r->inputs[0], scale, zero;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(along_axis(r, bind, 1, &scale));
    HONE_TRY(along_axis(r, bind, 2, &zero));
    HONE_TRY(onnx_widen(r, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(onnx_emit_cast(r, scale, info->dtype, &scale));
    HONE_TRY(onnx_emit_cast(r, zero, info->dtype, &zero));
    HONE_TRY(onnx_emit2(r, "divide", x, scale, &x));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], &x, "the scale"));
    if (!hone_dtype_is_integer(dtype)) {
        HONE_TRY(onnx_emit2(r, "add", x, zero, &x));
        bool is_float8 = hone_dtype_is_float(dtype) && dtype.bits == 8;
        return is_float8 ? onnx_emit_float8(r, x, dtype, out) : onnx_emit_cast(r, x, dtype, out);
    }
    HONE_TRY(onnx_emit1(r, "round", x, &x));
    HONE_TRY(onnx_emit2(r, "add", x, zero, &x));
    return onnx_emit_saturated(r, x, dtype, out);
}

/* (x - zero) * scale */
static hone_status dequantize(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg x, scale, zero;
    hone_dtype dtype;
    HONE_TRY(element_type(bind, "float32", &dtype));
    HONE_TRY(onnx_input_info(r, 0, &data));
    hone_dtype steps = hone_dtype_is_float(data->dtype) ? HONE_DTYPE_F32 : HONE_DTYPE_I32;
    HONE_TRY(along_axis(r, bind, 1, &scale));
    HONE_TRY(along_axis(r, bind, 2, &zero));
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], steps, &x));
    HONE_TRY(onnx_emit_cast(r, zero, steps, &zero));
    HONE_TRY(onnx_emit2(r, "subtract", x, zero, &x));
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_F32, &x));
    HONE_TRY(onnx_emit_cast(r, scale, HONE_DTYPE_F32, &scale));
    HONE_TRY(onnx_emit2(r, "multiply", x, scale, out));
    HONE_TRY(onnx_keeps_shape(r, &r->inputs[0], out, "the scale"));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* ---- what the function that is rebuilt says: arguments are its own, from here on ---- */

static const hone_gbind *maker_of(const onnx_reader *r, const hone_garg *arg) {
    return arg->kind == HONE_GARG_VALUE ? r->rewrite->defs[arg->u.value] : NULL;
}

static const hone_sinfo *info_of(const onnx_reader *r, const hone_garg *arg) {
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->rewrite->old, arg, r->arena);
    bool is_known = info && info->kind == HONE_SINFO_TENSOR && info->rank >= 0 &&
                    (info->rank == 0 || info->shape);
    return is_known ? info : NULL;
}

static const hone_tensor *constant_of(const onnx_reader *r, const hone_garg *arg) {
    return arg->kind == HONE_GARG_CONSTANT ? r->module->constants[arg->u.constant] : NULL;
}

static double number_of(const hone_tensor *tensor) {
    return tensor && hone_tensor_count(tensor) == 1 ? hone_tensor_get_f64(tensor, 0) : (double)NAN;
}

/* What a dequantize takes. */
typedef struct quantised {
    hone_garg x; /* of the old function */
    const hone_tensor *scale, *zero;
    hone_garg scale_arg, zero_arg;
    int64_t axis;
    bool is_turned; /* the last two dimensions are swapped behind it */
} quantised;

/* A dequantize to float32, of constant numbers, whose zero point is of the type of its data. */
static bool read_dequantize(const onnx_reader *r, const hone_gbind *bind, quantised *out) {
    hone_dtype dtype = HONE_DTYPE_VOID;
    if (!hone_gbind_calls(bind, "dequantize") || bind->arg_count != 3) return false;
    const char *name = hone_attrs_string(&bind->attrs, "out_dtype", "float32");
    *out = (quantised){.x = bind->args[0],
                       .scale = constant_of(r, &bind->args[1]),
                       .zero = constant_of(r, &bind->args[2]),
                       .scale_arg = bind->args[1],
                       .zero_arg = bind->args[2],
                       .axis = hone_attrs_int(&bind->attrs, "axis", -1)};
    const hone_sinfo *info = info_of(r, &out->x);
    if (!out->scale || !out->zero || !info || !hone_dtype_parse(name, &dtype)) return false;
    if (out->axis < 0) out->axis += info->rank;
    return hone_dtype_equal(dtype, HONE_DTYPE_F32) &&
           hone_dtype_equal(out->scale->dtype, HONE_DTYPE_F32) && out->scale->rank <= 1 &&
           out->zero->rank <= 1 && hone_dtype_equal(out->zero->dtype, info->dtype);
}

static bool is_turn(const hone_gbind *bind) {
    int64_t axes[2];
    if (!hone_gbind_calls(bind, "permute_dims")) return false;
    const hone_value *value = hone_attrs_find(&bind->attrs, "axes");
    if (!value || value->kind != HONE_VALUE_LIST || value->count != 2) return false;
    hone_status st = hone_graph_attr_ints(bind, "axes", 2, 0, axes);
    bool is_it = !st && axes[0] == 1 && axes[1] == 0;
    hone_status_free(st);
    return is_it;
}

/* A factor: 8 bits, at least two dimensions. */
static bool read_factor(const onnx_reader *r, const hone_garg *arg, quantised *out) {
    const hone_gbind *maker = maker_of(r, arg);
    bool is_turned = is_turn(maker);
    if (is_turned) maker = maker_of(r, &maker->args[0]);
    if (!read_dequantize(r, maker, out)) return false;
    out->is_turned = is_turned;
    const hone_sinfo *info = info_of(r, &out->x);
    return info->rank >= 2 && info->dtype.bits == 8 && hone_dtype_is_integer(info->dtype);
}

/* A bias counts in the scale of the sums; views on the way change nothing of that. */
static bool read_bias(const onnx_reader *r, const hone_garg *arg, const quantised *a,
                      const quantised *b, quantised *out) {
    const hone_gbind *maker = maker_of(r, arg);
    for (int i = 0;
         i < 2 && (hone_gbind_calls(maker, "reshape") || hone_gbind_calls(maker, "expand_dims"));
         i++)
        maker = maker_of(r, &maker->args[0]);
    if (!read_dequantize(r, maker, out)) return false;
    const hone_sinfo *info = info_of(r, &out->x);
    int64_t count = hone_tensor_count(out->scale);
    if (info->rank != 1 || !hone_dtype_equal(info->dtype, HONE_DTYPE_I32) ||
        count != hone_tensor_count(b->scale)) {
        return false;
    }
    for (int64_t i = 0; i < hone_tensor_count(out->zero); i++)
        if (hone_tensor_get_i64(out->zero, i) != 0) return false;
    for (int64_t i = 0; i < count; i++) {
        double is = hone_tensor_get_f64(out->scale, i);
        double wanted = number_of(a->scale) * hone_tensor_get_f64(b->scale, i);
        if (!(fabs(is - wanted) <= 1e-5 * fabs(wanted))) return false;
    }
    return true;
}

/* ---- the chain in front of a quantize ---- */

typedef struct chain {
    const hone_gbind *limits[MAX_LIMITS], *core;
    uint32_t limit_count;
    quantised a, b, bias;
    bool has_bias;
} chain;

static bool is_limit(const hone_gbind *bind) {
    bool is_clip = hone_gbind_calls(bind, "clip") && bind->arg_count == 3;
    for (uint32_t i = 1; is_clip && i < 3; i++)
        is_clip = bind->args[i].kind == HONE_GARG_PRIM;
    bool is_relu = hone_gbind_calls(bind, "nn.relu") || hone_gbind_calls(bind, "nn.relu6");
    return is_clip || is_relu;
}

static bool is_conv(const hone_gbind *core) {
    static const char *const names[] = {"nn.conv1d", "nn.conv2d", "nn.conv3d"};
    static const char *const data[] = {"NCW", "NCHW", "NCDHW"};
    static const char *const kernel[] = {"OIW", "OIHW", "OIDHW"};
    for (size_t i = 0; i < HONE_COUNT(names); i++) {
        if (!hone_gbind_calls(core, names[i])) continue;
        return strcmp(hone_attrs_string(&core->attrs, "data_layout", data[i]), data[i]) == 0 &&
               strcmp(hone_attrs_string(&core->attrs, "kernel_layout", kernel[i]), kernel[i]) == 0;
    }
    return false;
}

static bool is_plain_product(const hone_gbind *core) {
    return hone_gbind_calls(core, "matmul") && !hone_attrs_int(&core->attrs, "transpose_a", 0) &&
           !hone_attrs_int(&core->attrs, "transpose_b", 0);
}

/* One scale, or one for each filter or column. */
static bool lies_well(const onnx_reader *r, const chain *c) {
    const hone_sinfo *info = info_of(r, &c->b.x);
    int64_t wanted = is_conv(c->core) || c->b.is_turned ? 0 : info->rank - 1;
    bool is_one = hone_tensor_count(c->b.scale) == 1;
    bool is_turned_well = !c->b.is_turned || (!is_conv(c->core) && info->rank == 2);
    return !c->a.is_turned && is_turned_well && (is_one || c->b.axis == wanted) &&
           hone_tensor_count(c->a.scale) == 1 && hone_tensor_count(c->a.zero) == 1;
}

static bool read_core(const onnx_reader *r, const hone_garg *arg, chain *c) {
    c->core = maker_of(r, arg);
    if (!is_conv(c->core) && !is_plain_product(c->core)) return false;
    return read_factor(r, &c->core->args[0], &c->a) && read_factor(r, &c->core->args[1], &c->b) &&
           lies_well(r, c);
}

/* The sum of a core and a bias, in either order, or a core alone. */
static bool read_sum(const onnx_reader *r, const hone_garg *arg, chain *c) {
    const hone_gbind *maker = maker_of(r, arg);
    c->has_bias = hone_gbind_calls(maker, "add");
    if (!c->has_bias) return read_core(r, arg, c);
    for (uint32_t i = 0; i < 2; i++) {
        if (!read_core(r, &maker->args[i], c)) continue;
        return read_bias(r, &maker->args[1 - i], &c->a, &c->b, &c->bias);
    }
    return false;
}

static bool read_chain(const onnx_reader *r, const hone_garg *arg, chain *c) {
    const hone_gbind *maker = maker_of(r, arg);
    for (c->limit_count = 0; is_limit(maker); maker = maker_of(r, arg)) {
        if (c->limit_count == MAX_LIMITS) return false;
        c->limits[c->limit_count++] = maker;
        arg = &maker->args[0];
    }
    return read_sum(r, arg, c);
}

/* ---- limits ---- */

static double limit_of(const hone_gbind *bind, uint32_t arg) {
    const hone_expr *e = bind->args[arg].u.expr;
    return e->kind == HONE_EXPR_FLOAT ? e->u.f
           : e->kind == HONE_EXPR_INT ? (double)e->u.i
                                      : (double)NAN;
}

/* Of what comes later, these are limits too. */
static void read_limits(const hone_gbind *bind, double *low, double *high) {
    bool is_clip = hone_gbind_calls(bind, "clip");
    double from = is_clip ? limit_of(bind, 1) : 0;
    double to = is_clip                              ? limit_of(bind, 2)
                : hone_gbind_calls(bind, "nn.relu6") ? 6
                                                     : (double)INFINITY;
    *low = fmin(fmax(*low, from), to);
    *high = fmin(fmax(*high, from), to);
}

/* What the quantize makes of all: one number each. */
typedef struct target {
    hone_garg scale, zero; /* of the new function */
    double scale_is, zero_is;
    hone_dtype dtype;
} target;

/* A limit as a whole number; what is beyond the type is no limit. */
static hone_status limit(onnx_reader *r, const char *op, double value, const target *to,
                         hone_garg *io) {
    if (isinf(value)) return HONE_OK;
    double whole = (double)rintf((float)value / (float)to->scale_is) + to->zero_is;
    double least = (double)hone_dtype_min_int(to->dtype),
           most = (double)hone_dtype_max_int(to->dtype);
    return onnx_with_scalar(r, op, *io, fmin(fmax(whole, least), most), io);
}

static hone_status apply_limits(onnx_reader *r, const chain *c, const target *to, hone_garg *io) {
    double low = (double)-INFINITY, high = (double)INFINITY;
    for (uint32_t i = c->limit_count; i-- > 0;)
        read_limits(c->limits[i], &low, &high);
    HONE_TRY(limit(r, "maximum", low, to, io));
    return limit(r, "minimum", high, to, io);
}

/* ---- the core as an operator of whole numbers ---- */

static hone_status begin_conv(onnx_reader *r, const hone_gbind *core, compose_node *n) {
    int64_t numbers[2 * ONNX_MAX_SPATIAL];
    uint32_t spatial = (uint32_t)info_of(r, &core->args[0])->rank - 2;
    compose_node_begin(n, "QLinearConv");
    HONE_TRY(hone_graph_attr_ints(core, "strides", spatial, 1, numbers));
    compose_node_ints(n, "strides", spatial, numbers);
    HONE_TRY(hone_graph_attr_ints(core, "dilation", spatial, 1, numbers));
    compose_node_ints(n, "dilations", spatial, numbers);
    HONE_TRY(hone_graph_attr_padding(core, spatial, numbers));
    compose_node_ints(n, "pads", 2 * spatial, numbers);
    compose_node_int(n, "group", hone_attrs_int(&core->attrs, "groups", 1));
    return HONE_OK;
}

/* In terms of the new function: x, its scale, its zero point. */
static hone_status put_factor(onnx_reader *r, const quantised *q, hone_garg *out) {
    static const int64_t turned[] = {1, 0};
    HONE_TRY(hone_rewrite_arg(r->rewrite, &q->x, &out[0]));
    if (q->is_turned) HONE_TRY(onnx_emit_permute(r, out[0], 2, turned, &out[0]));
    out[1] = q->scale_arg;
    out[2] = q->zero_arg;
    return HONE_OK;
}

static hone_status fuse(onnx_reader *r, const chain *c, const target *to, hone_garg *out) {
    compose_node n;
    hone_garg inputs[9] = {{0}};
    HONE_TRY(put_factor(r, &c->a, &inputs[0]));
    HONE_TRY(put_factor(r, &c->b, &inputs[3]));
    inputs[6] = to->scale;
    inputs[7] = to->zero;
    if (c->has_bias) HONE_TRY(hone_rewrite_arg(r->rewrite, &c->bias.x, &inputs[8]));
    memcpy(r->inputs, inputs, sizeof inputs);
    r->input_count = 8 + c->has_bias;
    compose_node_begin(&n, "QLinearMatMul");
    if (is_conv(c->core)) HONE_TRY(begin_conv(r, c->core, &n));
    HONE_TRY(compose_node_first(r, &n, out));
    return apply_limits(r, c, to, out);
}

/* ---- numbers that only move ---- */

static bool only_moves(const hone_gbind *bind) {
    static const char *const names[] = {"reshape",       "flatten",       "squeeze",
                                        "expand_dims",   "permute_dims",  "nn.max_pool1d",
                                        "nn.max_pool2d", "nn.max_pool3d", "nn.batch_flatten"};
    for (size_t i = 0; bind && i < HONE_COUNT(names); i++) {
        if (hone_gbind_calls(bind, names[i])) return true;
    }
    return false;
}

/* The steps back from the quantize to a dequantize of the same scale and zero point. */
static uint32_t find_moves(const onnx_reader *r, const hone_garg *arg, const target *to,
                           const hone_gbind **moves, quantised *from) {
    uint32_t count = 0;
    const hone_gbind *maker = maker_of(r, arg);
    for (; only_moves(maker) && count < MAX_STEPS; maker = maker_of(r, &maker->args[0]))
        moves[count++] = maker;
    if (!read_dequantize(r, maker, from)) return 0;
    bool is_same = number_of(from->scale) == to->scale_is && number_of(from->zero) == to->zero_is &&
                   hone_dtype_equal(from->zero->dtype, to->dtype);
    return is_same ? count : 0;
}

static hone_status move(onnx_reader *r, uint32_t count, const hone_gbind *const *moves,
                        const quantised *from, hone_garg *out) {
    HONE_TRY(hone_rewrite_arg(r->rewrite, &from->x, out));
    for (uint32_t i = count; i-- > 0;) {
        hone_garg args[2] = {*out};
        if (moves[i]->arg_count > 1)
            HONE_TRY(hone_rewrite_arg(r->rewrite, &moves[i]->args[1], &args[1]));
        HONE_TRY(hone_rewrite_call(r->rewrite, moves[i]->callee, moves[i]->arg_count, args,
                                   moves[i]->attrs, out));
    }
    return HONE_OK;
}

/* ---- quantize ---- */

static bool read_target(const onnx_reader *r, hone_dtype dtype, target *out) {
    const hone_tensor *scale = onnx_constant_of(r, &r->inputs[1]);
    const hone_tensor *zero = onnx_constant_of(r, &r->inputs[2]);
    *out = (target){r->inputs[1], r->inputs[2], number_of(scale), number_of(zero), dtype};
    return scale && zero && hone_dtype_equal(scale->dtype, HONE_DTYPE_F32) && dtype.bits == 8 &&
           hone_dtype_equal(zero->dtype, dtype) && hone_dtype_is_integer(dtype) &&
           !isnan(out->scale_is) && !isnan(out->zero_is);
}

static hone_status quantize(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_dtype dtype;
    target to;
    chain c = {.limit_count = 0};
    quantised from;
    const hone_gbind *moves[MAX_STEPS];
    HONE_TRY(element_type(bind, "int8", &dtype));
    if (read_target(r, dtype, &to)) {
        if (read_chain(r, &bind->args[0], &c)) return fuse(r, &c, &to, out);
        uint32_t count = find_moves(r, &bind->args[0], &to, moves, &from);
        if (count) return move(r, count, moves, &from, out);
    }
    return in_steps(r, bind, dtype, out);
}

const hone_composer hone_compose_quants[] = {
    {"quantize",  quantize},
    {"dequantize",           dequantize},
    {0},
};
