/* graph/compose/compose_grad.c - gradients of operators, by what comes back from their results. */
#include <string.h>

#include "graph/compose/compose_impl.h"
#include "ir/ops/layout.h"

/* zeros like x, to which the updates are added at their indices along the axis */
static hone_status scatter_sums(onnx_reader *r, hone_garg x, hone_garg indices, hone_garg updates,
                                int64_t axis, hone_garg *out) {
    hone_garg args[] = {{0}, indices, updates};
    hone_attr attrs[] = {
        {"axis",      HONE_VALUE_OF_INT(axis)    },
        {"reduction", HONE_VALUE_OF_STRING("add")}
    };
    HONE_TRY(onnx_emit1(r, "zeros_like", x, &args[0]));
    return onnx_emit(r, "scatter_elements", 3, args, 2, attrs, out);
}

/* ---- of elements that were taken: (gradient, x, indices) ---- */

/* Without an axis the indices count through all of x. */
static hone_status take_backward(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_value *given = hone_attrs_find(&bind->attrs, "axis");
    bool is_flat = !given || given->kind == HONE_VALUE_NONE;
    const hone_sinfo *data, *grad, *indices;
    hone_garg x = r->inputs[1], at;
    int32_t axis = 0;
    HONE_TRY(onnx_input_info(r, 0, &grad));
    HONE_TRY(onnx_input_info(r, 1, &data));
    HONE_TRY(onnx_input_info(r, 2, &indices));
    if (indices->rank != 1) return compose_refuse(bind, "indices that are no vector");
    if (!is_flat)
        HONE_TRY(onnx_axis(r, hone_attrs_int(&bind->attrs, "axis", 0), data->rank, &axis));
    if (is_flat) HONE_TRY(onnx_emit_flat(r, x, &x));
    HONE_TRY(compose_along(r, r->inputs[2], grad->rank, axis, &at));
    HONE_TRY(compose_broadcast(r, at, (uint32_t)grad->rank, grad->shape, &at));
    HONE_TRY(scatter_sums(r, x, at, r->inputs[0], axis, out));
    return onnx_emit_reshape(r, *out, (uint32_t)data->rank, data->shape, out);
}

/* ---- of the negative log likelihood: (gradient, predictions, targets, weights?) ---- */

/* The weight of the target's class at the place of that class, else 0. */
static hone_status weight_of_target(onnx_reader *r, const hone_gbind *bind, const hone_sinfo *data,
                                    int32_t axis, hone_garg *out) {
    hone_garg classes, targets, weights, counts, zero;
    int64_t ignored = hone_attrs_int(&bind->attrs, "ignore_index", -100);
    HONE_TRY(onnx_emit_cast(r, r->inputs[2], HONE_DTYPE_I64, &targets));
    HONE_TRY(compose_expand(r, targets, axis, &targets));
    HONE_TRY(onnx_indices(r, data->shape[axis], data->rank, axis, &classes));
    HONE_TRY(onnx_emit2(r, "equal", targets, classes, out));
    HONE_TRY(onnx_with_scalar(r, "not_equal", targets, (double)ignored, &counts));
    HONE_TRY(onnx_emit2(r, "logical_and", *out, counts, out));
    HONE_TRY(onnx_scalar(r, data->dtype, 0, &zero));
    HONE_TRY(onnx_scalar(r, data->dtype, 1, &weights));
    if (onnx_has_input(r, 3)) HONE_TRY(compose_along(r, r->inputs[3], data->rank, axis, &weights));
    return onnx_emit_where(r, *out, weights, zero, out);
}

static hone_status nll_loss_backward(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const char *reduction = hone_attrs_string(&bind->attrs, "reduction", "mean");
    const hone_sinfo *data;
    hone_garg factor, grad = r->inputs[0], sum;
    HONE_TRY(onnx_input_info(r, 1, &data));
    if (data->rank < 1) return compose_refuse(bind, "predictions without classes");
    int32_t axis = data->rank > 1;
    HONE_TRY(weight_of_target(r, bind, data, axis, &factor));
    if (strcmp(reduction, "none") == 0) HONE_TRY(compose_expand(r, grad, axis, &grad));
    if (strcmp(reduction, "mean") == 0) {
        HONE_TRY(onnx_emit1(r, "sum", factor, &sum));
        HONE_TRY(onnx_emit2(r, "divide", grad, sum, &grad));
    }
    HONE_TRY(onnx_emit2(r, "multiply", factor, grad, out));
    return onnx_emit1(r, "negative", *out, out);
}

/* ---- of pools over two dimensions of space: (gradient, data) ---- */

enum { SPACE = 2 };
/* Tensors are [batch, channels, height, width] here, whatever their layout was. */
typedef struct pool {
    hone_garg grad, data;
    const hone_sinfo *grad_info, *data_info;
    int64_t kernel[SPACE], strides[SPACE], dilation[SPACE], pads[2 * SPACE], back[HONE_MAX_RANK];
} pool;

/* Where the letters N, C, H, W stand in the layout, and the way back. */
static hone_status read_layout(const hone_gbind *bind, int64_t to[HONE_MAX_RANK],
                               int64_t back[HONE_MAX_RANK]) {
    static const char plain[] = "NCHW";
    const char *layout = hone_attrs_string(&bind->attrs, "layout", plain);
    bool is_order = hone_layout_axes(layout, plain, to) && hone_layout_axes(plain, layout, back);
    return is_order ? HONE_OK : compose_refuse(bind, "a layout of blocks");
}

static hone_status take_pool(onnx_reader *r, const hone_gbind *bind, pool *p) {
    int64_t to[HONE_MAX_RANK];
    HONE_TRY(read_layout(bind, to, p->back));
    HONE_TRY(hone_graph_attr_ints(bind, "pool_size", SPACE, 1, p->kernel));
    HONE_TRY(hone_graph_attr_ints(bind, "strides", SPACE, 1, p->strides));
    HONE_TRY(hone_graph_attr_ints(bind, "dilation", SPACE, 1, p->dilation));
    HONE_TRY(hone_graph_attr_ints(bind, "padding", 2 * SPACE, 0, p->pads));
    HONE_TRY(onnx_emit_permute(r, r->inputs[0], 4, to, &p->grad));
    HONE_TRY(onnx_emit_permute(r, r->inputs[1], 4, to, &p->data));
    HONE_TRY(onnx_info(r, &p->grad, &p->grad_info));
    return onnx_info(r, &p->data, &p->data_info);
}

/* The window that is the greatest of pads alone gives nothing back: standards leave it out. */
static hone_status drop_windows(onnx_reader *r, const hone_garg *pooled, pool *p) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, pooled, &info));
    for (int32_t d = 2; d < 4; d++) {
        int64_t have = hone_expr_const(p->grad_info->shape[d]);
        int64_t wanted = hone_expr_const(info->shape[d]);
        if (wanted >= 0 && wanted < have)
            HONE_TRY(onnx_emit_slice(r, p->grad, d, 0, wanted, &p->grad));
    }
    return HONE_OK;
}

/* To the first of the greatest in each window. */
static hone_status max_pool_backward(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    compose_node n;
    pool p;
    hone_garg outputs[ONNX_MAX_OUTPUTS] = {{0}}, flat, indices, updates;
    HONE_TRY(take_pool(r, bind, &p));
    r->inputs[0] = p.data;
    r->input_count = 1;
    compose_node_begin(&n, "MaxPool");
    compose_node_ints(&n, "kernel_shape", SPACE, p.kernel);
    compose_node_ints(&n, "strides", SPACE, p.strides);
    compose_node_ints(&n, "dilations", SPACE, p.dilation);
    compose_node_ints(&n, "pads", 2 * SPACE, p.pads);
    compose_node_int(&n, "ceil_mode", hone_attrs_int(&bind->attrs, "ceil_mode", 0));
    HONE_TRY(compose_node_convert(r, &n, outputs));
    HONE_TRY(drop_windows(r, &outputs[0], &p));
    HONE_TRY(onnx_emit_flat(r, p.data, &flat));
    HONE_TRY(onnx_emit_flat(r, outputs[1], &indices));
    HONE_TRY(onnx_emit_flat(r, p.grad, &updates));
    HONE_TRY(scatter_sums(r, flat, indices, updates, 0, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 4, p.data_info->shape, out));
    return onnx_emit_permute(r, *out, 4, p.back, out);
}

/* How many elements of the data the window begins with `number` strides has along an axis. */
static int64_t elements_under(const pool *p, int axis, int64_t number, int64_t extent) {
    int64_t count = 0, first = number * p->strides[axis] - p->pads[axis];
    for (int64_t k = 0; k < p->kernel[axis]; k++) {
        int64_t at = first + k * p->dilation[axis];
        count += at >= 0 && at < extent;
    }
    return count;
}

/* 1 / what each window was divided by: [height, width] of the pool's results. */
static hone_status shares(onnx_reader *r, const hone_gbind *bind, const pool *p, hone_garg *out) {
    bool with_pads = hone_attrs_int(&bind->attrs, "count_include_pad", 0) != 0;
    int64_t sizes[SPACE], extents[SPACE];
    hone_tensor *tensor;
    for (int i = 0; i < SPACE; i++) {
        sizes[i] = hone_expr_const(p->grad_info->shape[2 + i]);
        extents[i] = hone_expr_const(p->data_info->shape[2 + i]);
        if (sizes[i] < 0 || extents[i] < 0) return compose_refuse(bind, "an image of unknown size");
    }
    HONE_TRY(hone_tensor_create(p->grad_info->dtype, SPACE, sizes, &tensor));
    for (int64_t i = 0; i < sizes[0] * sizes[1]; i++) {
        int64_t rows = elements_under(p, 0, i / sizes[1], extents[0]);
        int64_t columns = elements_under(p, 1, i % sizes[1], extents[1]);
        int64_t count = with_pads ? p->kernel[0] * p->kernel[1] : rows * columns;
        hone_tensor_set_f64(tensor, i, 1.0 / (double)(count ? count : 1));
    }
    return onnx_add_constant(r, tensor, out);
}

/* Each element of x added to all elements under its window: [n, 1, height, width]. */
static hone_status spread_windows(onnx_reader *r, const pool *p, hone_garg *io) {
    const int64_t shape[] = {1, 1, p->kernel[0], p->kernel[1]};
    hone_tensor *ones;
    hone_garg args[2] = {*io};
    hone_attr attrs[] = {
        {"strides",  onnx_ints_value(r, SPACE, p->strides) },
        {"dilation", onnx_ints_value(r, SPACE, p->dilation)}
    };
    HONE_TRY(hone_tensor_create(p->grad_info->dtype, 4, shape, &ones));
    for (int64_t i = 0; i < shape[2] * shape[3]; i++)
        hone_tensor_set_f64(ones, i, 1);
    HONE_TRY(onnx_add_constant(r, ones, &args[1]));
    return onnx_emit(r, "nn.conv2d_transpose", 2, args, 2, attrs, io);
}

/* Without the pads: `extent` elements along the axis, which are 0 behind the last window. */
static hone_status crop(onnx_reader *r, int64_t axis, int64_t begin, int64_t extent,
                        hone_garg *io) {
    const hone_sinfo *info;
    int64_t widths[2 * 4] = {0};
    HONE_TRY(onnx_info(r, io, &info));
    int64_t lacking = begin + extent - hone_expr_const(info->shape[axis]);
    widths[2 * axis + 1] = lacking;
    hone_attr attr = {"pad_width", onnx_ints_value(r, HONE_COUNT(widths), widths)};
    if (lacking > 0) HONE_TRY(onnx_emit(r, "nn.pad", 1, io, 1, &attr, io));
    return onnx_emit_slice(r, *io, axis, begin, begin + extent, io);
}

static hone_status avg_pool_backward(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    pool p;
    hone_garg share;
    HONE_TRY(take_pool(r, bind, &p));
    HONE_TRY(shares(r, bind, &p, &share));
    HONE_TRY(onnx_emit2(r, "multiply", p.grad, share, out));
    const hone_expr *const *shape = p.grad_info->shape;
    const hone_expr *images[] = {hone_extent_mul(&r->ir, shape[0], shape[1]),
                                 hone_extent_int(&r->ir, 1), shape[2], shape[3]};
    HONE_TRY(onnx_emit_reshape(r, *out, 4, images, out));
    HONE_TRY(spread_windows(r, &p, out));
    for (int i = 0; i < SPACE; i++) {
        int64_t extent = hone_expr_const(p.data_info->shape[2 + i]);
        HONE_TRY(crop(r, 2 + i, p.pads[i], extent, out));
    }
    HONE_TRY(onnx_emit_reshape(r, *out, 4, p.data_info->shape, out));
    return onnx_emit_permute(r, *out, 4, p.back, out);
}

const hone_composer hone_compose_grads[] = {
    {"grad.take_backward",       take_backward},
    {"grad.nll_loss_backward",                          nll_loss_backward},
    {"grad.max_pool2d_backward",max_pool_backward},
    {"grad.avg_pool2d_backward", avg_pool_backward},
    {0                         },
};
