/* graph/compose/compose_norm.c - normalisations, statistics, losses and attention. */
#include <math.h>
#include <string.h>

#include "graph/compose/compose_impl.h"

/* ---- normalisations: of short floats in float32, rounded once ---- */

static hone_status narrow(onnx_reader *r, hone_garg x, const hone_sinfo *like, hone_garg *out) {
    return onnx_emit_cast(r, x, like->dtype, out);
}

/* x / sqrt(variance + epsilon) */
static hone_status by_deviation(onnx_reader *r, hone_garg x, hone_garg variance, double epsilon,
                                hone_garg *out) {
    HONE_TRY(onnx_with_scalar(r, "add", variance, epsilon, &variance));
    HONE_TRY(onnx_emit1(r, "rsqrt", variance, &variance));
    return onnx_emit2(r, "multiply", x, variance, out);
}

static hone_status standardize(onnx_reader *r, hone_garg x, uint32_t count, const int64_t *axes,
                               double epsilon, hone_garg *out) {
    hone_garg mean, away, variance;
    HONE_TRY(onnx_spread(r, x, count, axes, &mean, &away, &variance));
    return by_deviation(r, away, variance, epsilon, out);
}

/* io * gamma + beta, both along the axis of channels. */
static hone_status scale_channels(onnx_reader *r, const hone_gbind *bind, int32_t rank,
                                  int32_t axis, hone_garg *io) {
    static const char *const ops[] = {"multiply", "add"}, *const keys[] = {"scale", "center"};
    for (uint32_t i = 0; i < 2; i++) {
        hone_garg by;
        if (!hone_attrs_int(&bind->attrs, keys[i], 1)) continue;
        HONE_TRY(compose_along(r, r->inputs[1 + i], rank, axis, &by));
        HONE_TRY(onnx_widen(r, &by));
        HONE_TRY(onnx_emit2(r, ops[i], *io, by, io));
    }
    return HONE_OK;
}

static hone_status channel_axis(const onnx_reader *r, const hone_gbind *bind, int32_t rank,
                                int32_t *out) {
    return onnx_axis(r, hone_attrs_int(&bind->attrs, "channel_axis", 1), rank, out);
}

/* What is standardized over some axes and has channels along another. */
typedef struct channelled {
    const hone_sinfo *data; /* as it is given */
    hone_garg x;            /* in float32 */
    int64_t axes[HONE_MAX_RANK + 1];
    uint32_t count;
    int32_t channels;
    double epsilon;
} channelled;

static hone_status take_channelled(onnx_reader *r, const hone_gbind *bind, channelled *c) {
    c->x = r->inputs[0];
    c->epsilon = compose_number(bind, "epsilon", 1e-5);
    HONE_TRY(onnx_input_info(r, 0, &c->data));
    HONE_TRY(channel_axis(r, bind, c->data->rank, &c->channels));
    HONE_TRY(compose_axes(r, bind, "axes", c->data->rank, c->axes, &c->count));
    return onnx_widen(r, &c->x);
}

static hone_status instance_norm(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    channelled c;
    HONE_TRY(take_channelled(r, bind, &c));
    HONE_TRY(standardize(r, c.x, c.count, c.axes, c.epsilon, out));
    HONE_TRY(scale_channels(r, bind, c.data->rank, c.channels, out));
    return narrow(r, *out, c.data, out);
}

/* The channels as groups of channels, which are one more dimension. */
static hone_status as_groups(onnx_reader *r, hone_garg x, const hone_sinfo *data, int32_t channels,
                             int64_t groups, hone_garg *out) {
    const hone_expr *shape[HONE_MAX_RANK + 1];
    if (groups < 1 || data->rank == HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%lld groups", (long long)groups);
    for (int32_t d = 0; d <= data->rank; d++)
        shape[d] = data->shape[d - (d > channels)];
    shape[channels] = hone_extent_int(&r->ir, groups);
    shape[channels + 1] = hone_extent_div(&r->ir, data->shape[channels], groups);
    return onnx_emit_reshape(r, x, (uint32_t)data->rank + 1, shape, out);
}

static hone_status group_norm(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    channelled c;
    hone_garg grouped;
    int64_t groups = hone_attrs_int(&bind->attrs, "num_groups", 1);
    HONE_TRY(take_channelled(r, bind, &c));
    HONE_TRY(as_groups(r, c.x, c.data, c.channels, groups, &grouped));
    for (uint32_t i = 0; i < c.count; i++)
        c.axes[i] += c.axes[i] > c.channels;
    c.axes[c.count] = c.channels + 1;
    HONE_TRY(standardize(r, grouped, c.count + 1, c.axes, c.epsilon, out));
    HONE_TRY(onnx_emit_reshape(r, *out, (uint32_t)c.data->rank, c.data->shape, out));
    HONE_TRY(scale_channels(r, bind, c.data->rank, c.channels, out));
    return narrow(r, *out, c.data, out);
}

/* The weight has the shape of the axes, which are the last ones where it has several. */
static hone_status rms_norm(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axes[HONE_MAX_RANK];
    uint32_t count;
    hone_garg x = r->inputs[0], weight = r->inputs[1], squares;
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (hone_attrs_find(&bind->attrs, "axes")) {
        HONE_TRY(compose_axes(r, bind, "axes", data->rank, axes, &count));
    } else {
        axes[0] = data->rank - 1;
        count = 1;
    }
    HONE_TRY(onnx_widen(r, &x));
    HONE_TRY(onnx_widen(r, &weight));
    HONE_TRY(onnx_emit1(r, "square", x, &squares));
    HONE_TRY(compose_reduce(r, "mean", squares, count, axes, true, &squares));
    HONE_TRY(by_deviation(r, x, squares, compose_number(bind, "epsilon", 1e-5), out));
    if (count == 1) HONE_TRY(compose_along(r, weight, data->rank, (int32_t)axes[0], &weight));
    HONE_TRY(onnx_emit2(r, "multiply", *out, weight, out));
    return narrow(r, *out, data, out);
}

/* ---- statistics ---- */

static hone_status variance_of(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axes[HONE_MAX_RANK];
    uint32_t count;
    hone_garg mean;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(compose_axes(r, bind, "axis", data->rank, axes, &count));
    HONE_TRY(compose_reduce(r, "mean", r->inputs[0], count, axes, true, &mean));
    HONE_TRY(onnx_emit2(r, "subtract", r->inputs[0], mean, out));
    HONE_TRY(onnx_emit1(r, "square", *out, out));
    bool keeps = hone_attrs_int(&bind->attrs, "keepdims", 0) != 0;
    return compose_reduce(r, "mean", *out, count, axes, keeps, out);
}

static hone_status deviation_of(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    HONE_TRY(variance_of(r, bind, out));
    return onnx_emit1(r, "sqrt", *out, out);
}

/* x at the middle of the axis, which goes or stays as 1. */
static hone_status middle(onnx_reader *r, hone_garg x, int32_t axis, int64_t extent, bool keeps,
                          hone_garg *out) {
    int64_t index = (extent - 1) / 2, which = axis;
    HONE_TRY(onnx_emit_slice(r, x, axis, index, index + 1, out));
    if (keeps) return HONE_OK;
    hone_attr attr = {"axis", onnx_ints_value(r, 1, &which)};
    return onnx_emit(r, "squeeze", 1, out, 1, &attr, out);
}

/* The lower of the two in the middle; along one axis with its index. */
static hone_status median(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data;
    const hone_value *given = hone_attrs_find(&bind->attrs, "axis");
    bool is_whole = !given || given->kind == HONE_VALUE_NONE;
    bool keeps = hone_attrs_int(&bind->attrs, "keepdims", 0) != 0;
    int64_t axes[HONE_MAX_RANK];
    uint32_t count;
    hone_garg x = r->inputs[0], order, items[2];
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(compose_axes(r, bind, "axis", data->rank, axes, &count));
    if (is_whole) HONE_TRY(onnx_emit_flat(r, x, &x));
    if (!is_whole && count != 1) return compose_refuse(bind, "several axes");
    int32_t axis = is_whole ? 0 : (int32_t)axes[0];
    HONE_TRY(onnx_info(r, &x, &data));
    int64_t extent = hone_expr_const(data->shape[axis]);
    if (extent < 1) return compose_refuse(bind, "an axis of unknown size");
    hone_attr attrs[] = {
        {"axis",  HONE_VALUE_OF_INT(axis)      },
        {"dtype", HONE_VALUE_OF_STRING("int64")}
    };
    HONE_TRY(onnx_emit(r, "argsort", 1, &x, 2, attrs, &order));
    hone_garg args[] = {x, order};
    HONE_TRY(onnx_emit(r, "gather_elements", 2, args, 1, attrs, &items[0]));
    HONE_TRY(middle(r, items[0], axis, extent, keeps, &items[0]));
    HONE_TRY(middle(r, order, axis, extent, keeps, &items[1]));
    *out = items[0];
    return is_whole ? HONE_OK : compose_tuple(r, 2, items, out);
}

/* ---- losses ---- */

/* -sum(predictions * labels), by the size of the batch where there is one. */
static hone_status cross_entropy(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg batch;
    (void)bind;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[0], r->inputs[1], out));
    HONE_TRY(onnx_emit1(r, "sum", *out, out));
    HONE_TRY(onnx_emit1(r, "negative", *out, out));
    if (data->rank < 2) return HONE_OK;
    int64_t known = hone_expr_const(data->shape[0]);
    if (known >= 0) return onnx_with_scalar(r, "divide", *out, (double)known, out);
    HONE_TRY(onnx_sizes_tensor(r, 1, data->shape, &batch));
    HONE_TRY(onnx_emit_reshape(r, batch, 0, NULL, &batch));
    HONE_TRY(onnx_emit_cast(r, batch, data->dtype, &batch));
    return onnx_emit2(r, "divide", *out, batch, out);
}

/* ---- attention: tensors are [batch, sequence, heads, size] ---- */

/* Which keys a query sees: those up to its own index, counted from the first or from the last. */
static hone_status read_mask(onnx_reader *r, const hone_gbind *bind, onnx_attention *a) {
    const char *mask = hone_attrs_string(&bind->attrs, "causal_mask", "");
    const hone_sinfo *q, *k;
    if (hone_attrs_int(&bind->attrs, "window_size", -1) >= 0)
        return compose_refuse(bind, "a window_size");
    a->is_causal = *mask != '\0';
    if (!a->is_causal || strcmp(mask, "TopLeft") == 0) return HONE_OK;
    if (strcmp(mask, "BottomRight") != 0) return compose_refuse(bind, "a causal_mask of this name");
    HONE_TRY(onnx_info(r, &a->q, &q));
    HONE_TRY(onnx_info(r, &a->k, &k));
    int64_t queries = hone_expr_const(q->shape[2]), keys = hone_expr_const(k->shape[2]);
    if (queries < 0 || keys < queries) return compose_refuse(bind, "BottomRight of such sizes");
    a->past = keys - queries;
    return HONE_OK;
}

static hone_status attention(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    static const int64_t turned[] = {0, 2, 1, 3};
    const hone_sinfo *q;
    hone_garg stages[4];
    onnx_attention a = onnx_no_attention();
    hone_garg *sides[] = {&a.q, &a.k, &a.v};
    for (uint32_t i = 0; i < 3; i++)
        HONE_TRY(onnx_emit_permute(r, r->inputs[i], 4, turned, sides[i]));
    if (onnx_has_input(r, 3)) a.bias = r->inputs[3];
    HONE_TRY(onnx_info(r, &a.q, &q));
    int64_t size = hone_expr_const(q->shape[3]);
    if (size < 1) return compose_refuse(bind, "heads of unknown size");
    a.scale = compose_number(bind, "scale", 1 / sqrt((double)size));
    HONE_TRY(read_mask(r, bind, &a));
    HONE_TRY(onnx_attend(r, &a, out, stages));
    return onnx_emit_permute(r, *out, 4, turned, out);
}

/* ---- several steps on elements ---- */

/* x where it is positive, else x times the slope of its channel. */
static hone_status prelu(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data, *slopes;
    hone_garg choice[3], slope = r->inputs[1];
    int32_t axis;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &slopes));
    HONE_TRY(onnx_axis(r, hone_attrs_int(&bind->attrs, "axis", 1), data->rank, &axis));
    if (slopes->rank == 1) HONE_TRY(compose_along(r, slope, data->rank, axis, &slope));
    HONE_TRY(onnx_with_scalar(r, "greater", r->inputs[0], 0, &choice[0]));
    choice[1] = r->inputs[0];
    HONE_TRY(onnx_emit2(r, "multiply", r->inputs[0], slope, &choice[2]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

const hone_composer hone_compose_norms[] = {
    {"nn.instance_norm",             instance_norm},
    {"nn.group_norm",                              group_norm},
    {"nn.rms_norm",rms_norm},
    {"variance",                  variance_of},
    {"std",                              deviation_of},
    {"median",  median},
    {"nn.cross_entropy_with_logits",                          cross_entropy},
    {"nn.attention",                              attention},
    {"nn.attention_bias",                       attention},
    {"nn.prelu", prelu},
    {0                             },
};
