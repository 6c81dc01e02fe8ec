/* ir/ops/graph_infer_nn.c - shapes of convolutions, pools and normalisations. Spatial dimensions
 * follow N and C: rules work on tensors in that order, whatever the layout is that the call names.
 */
#include <string.h>

#include "ir/ops/graph_infer.h"
#include "ir/ops/layout.h"

enum { MAX_SPATIAL = 3 };

/* "nn.conv2d" -> 2 */
static int32_t spatial_of(const hone_infer *in) {
    const char *digit = strpbrk(in->op->name, "123");
    return *digit - '0';
}

static hone_status check_rank(const hone_infer *in, int32_t spatial) {
    if (in->args[0]->rank == spatial + 2) return HONE_OK;
    return hone_infer_fail(in, "the data must have %d dimensions", spatial + 2);
}

/* ---- layouts ---- */

static hone_status turn(hone_infer *in, const hone_sinfo *info, const char *key, const char *layout,
                        const char *plain, bool is_back, const hone_sinfo **out) {
    const hone_expr *shape[HONE_MAX_RANK];
    int64_t axes[HONE_MAX_RANK];
    *out = info;
    if (!info || strcmp(layout, plain) == 0) return HONE_OK;
    if (!hone_layout_axes(layout, plain, axes))
        return hone_infer_doubt(in, "%s '%s' has other letters than '%s'", key, layout, plain);
    if (info->kind != HONE_SINFO_TENSOR || info->rank != (int32_t)strlen(plain) || !info->shape)
        return HONE_OK;
    for (int32_t d = 0; d < info->rank; d++) {
        if (is_back)
            shape[axes[d]] = info->shape[d];
        else
            shape[d] = info->shape[axes[d]];
    }
    const hone_expr *const *kept =
        hone_arena_copy(in->ir.arena, shape, (size_t)info->rank * sizeof *shape);
    if (kept) *out = hone_sinfo_tensor(in->ir.arena, info->dtype, info->rank, kept);
    return kept && *out ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
}

/* The rule of tensors in the plain order; the result is in the order that the call asks for. */
static hone_status in_plain_order(hone_infer *in, hone_infer_fn rule) {
    const hone_sinfo *given[2] = {in->args[0], in->args[1]};
    hone_window_layouts l;
    bool is_window = hone_layouts_of_window(in->bind, &l);
    assert(is_window);
    if (!is_window || hone_layouts_are_plain(&l)) return rule(in);
    HONE_TRY(turn(in, given[0], l.data_key, l.data, l.plain, false, &in->args[0]));
    if (l.kernel_key)
        HONE_TRY(turn(in, given[1], l.kernel_key, l.kernel, l.plain_kernel, false, &in->args[1]));
    HONE_TRY(rule(in));
    in->args[0] = given[0];
    in->args[1] = given[1];
    return turn(in, in->result, "out_layout", l.out, l.plain, true, &in->result);
}

/* ---- windows ---- */

typedef struct window {
    int64_t strides[MAX_SPATIAL], dilation[MAX_SPATIAL], padding[2 * MAX_SPATIAL];
    bool ceil_mode;
} window;

static hone_status read_window(const hone_infer *in, uint32_t spatial, window *out) {
    HONE_TRY(hone_graph_attr_ints(in->bind, "strides", spatial, 1, out->strides));
    HONE_TRY(hone_graph_attr_ints(in->bind, "dilation", spatial, 1, out->dilation));
    HONE_TRY(hone_graph_attr_padding(in->bind, spatial, out->padding));
    out->ceil_mode = hone_attrs_int(&in->bind->attrs, "ceil_mode", 0) != 0;
    for (uint32_t i = 0; i < spatial; i++) {
        if (out->strides[i] < 1 || out->dilation[i] < 1) {
            return hone_infer_fail(in, "strides and dilations must be at least 1");
        }
        if (out->strides[i] > INT32_MAX || out->dilation[i] > INT32_MAX) {
            return hone_infer_fail(in, "strides and dilations must be below 2^31");
        }
        for (uint32_t side = 0; side < 2; side++) {
            int64_t pad = out->padding[i + side * spatial];
            if (pad < 0 || pad > INT32_MAX) {
                return hone_infer_fail(in, "padding is %lld, must be from 0 to 2^31 - 1",
                                       (long long)pad);
            }
        }
    }
    return HONE_OK;
}

/* Positions of a window of `kernel` elements along dimension i. */
static hone_status window_extent(hone_infer *in, const window *w, uint32_t spatial, uint32_t i,
                                 const hone_expr *extent, int64_t kernel, const hone_expr **out) {
    int64_t reach; /* elements that the dilated kernel spans */
    if (kernel < 1 || __builtin_mul_overflow(kernel - 1, w->dilation[i], &reach) ||
        reach > INT32_MAX) {
        return hone_infer_fail(in, "a kernel extent of %lld", (long long)kernel);
    }
    int64_t before = w->padding[i], after = w->padding[i + spatial];
    const hone_expr *room = hone_extent_add(&in->ir, extent, before + after - reach - 1);
    int64_t added = before + after - reach - 1 + (w->ceil_mode ? w->strides[i] - 1 : 0);
    /* a window that begins in the padding behind the data is none */
    if (w->ceil_mode && added > before - 1) added = before - 1;
    *out = hone_extent_div(&in->ir, hone_extent_add(&in->ir, extent, added), w->strides[i]);
    *out = hone_extent_add(&in->ir, *out, 1);
    if (!*out) return hone_ir_finish(&in->ir);
    if (hone_expr_is_int(room) && room->u.i < 0) {
        return hone_infer_fail(in,
                               "a window of %lld does not fit into dimension %u with its padding",
                               (long long)(reach + 1), i + 2);
    }
    return HONE_OK;
}

static hone_status check_channels(const hone_infer *in, int64_t groups) {
    const hone_expr *data = in->args[0]->shape[1];
    const hone_expr *weight = in->args[1]->shape[1], *filters = in->args[1]->shape[0];
    if (groups < 1)
        return hone_infer_fail(in, "groups is %lld, must be at least 1", (long long)groups);
    int64_t channels = hone_expr_const(data), per_group = hone_expr_const(weight);
    int64_t outputs = hone_expr_const(filters), product;
    if (channels >= 0 && per_group >= 0 &&
        (__builtin_mul_overflow(per_group, groups, &product) || product != channels)) {
        return hone_infer_fail(in,
                               "the data has %lld channels, the weight takes %lld (groups = %lld)",
                               (long long)channels, (long long)per_group, (long long)groups);
    }
    bool is_one = groups == 1 && hone_extent_same(data, weight);
    if (channels < 0 && per_group >= 0 && !is_one) { /* fewer would be read beyond their end */
        return hone_infer_doubt(in, "the number of channels of the data must be known");
    }
    if (outputs >= 0 && outputs % groups != 0) {
        return hone_infer_fail(in, "%lld filters cannot be divided into %lld groups",
                               (long long)outputs, (long long)groups);
    }
    return HONE_OK;
}

static hone_status plain_conv(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *weight = in->args[1];
    int32_t spatial = spatial_of(in);
    HONE_TRY(check_rank(in, spatial));
    if (weight->kind != HONE_SINFO_TENSOR || weight->rank != spatial + 2) {
        return hone_infer_fail(in, "the weight must have %d dimensions", spatial + 2);
    }
    HONE_TRY(hone_infer_factor_dtypes(in));
    HONE_TRY(check_channels(in, hone_attrs_int(&in->bind->attrs, "groups", 1)));
    window w;
    HONE_TRY(read_window(in, (uint32_t)spatial, &w));
    const hone_expr *shape[MAX_SPATIAL + 2] = {data->shape[0], weight->shape[0]};
    for (int32_t i = 0; i < spatial; i++) {
        int64_t kernel = hone_expr_const(weight->shape[i + 2]);
        if (kernel < 0) return hone_infer_doubt(in, "the kernel's size must be known");
        HONE_TRY(window_extent(in, &w, (uint32_t)spatial, (uint32_t)i, data->shape[i + 2], kernel,
                               &shape[i + 2]));
    }
    return hone_infer_tensor(in, hone_infer_out_dtype(in, data->dtype), spatial + 2, shape);
}

hone_status hone_infer_conv(hone_infer *in) {
    return in_plain_order(in, plain_conv);
}

/* ---- transposed convolution ---- */

static hone_status check_turned(const hone_infer *in, int32_t spatial, int64_t groups) {
    const hone_sinfo *data = in->args[0], *weight = in->args[1];
    HONE_TRY(check_rank(in, spatial));
    if (weight->kind != HONE_SINFO_TENSOR || weight->rank != spatial + 2) {
        return hone_infer_fail(in, "the weight must have %d dimensions", spatial + 2);
    }
    HONE_TRY(hone_infer_factor_dtypes(in));
    int64_t channels = hone_expr_const(weight->shape[0]);
    if (channels < 0) return hone_infer_doubt(in, "the number of channels must be known");
    if (groups < 1 || channels % groups != 0) {
        return hone_infer_fail(in, "%lld channels cannot be divided into %lld groups",
                               (long long)channels, (long long)groups);
    }
    if (hone_extent_same(data->shape[1], weight->shape[0])) return HONE_OK;
    return (hone_extent_differs(data->shape[1], weight->shape[0])
                ? hone_infer_fail
                : hone_infer_doubt)(in, "the weight takes %lld channels", (long long)channels);
}

/* (extent - 1) * stride + what the kernel spans + output_padding - padding */
static hone_status turned_extent(hone_infer *in, const window *w, uint32_t spatial, uint32_t i,
                                 int64_t more, const hone_expr **out) {
    int64_t kernel = hone_expr_const(in->args[1]->shape[i + 2]), reach;
    if (kernel < 0) return hone_infer_doubt(in, "the kernel's size must be known");
    if (kernel < 1 || __builtin_mul_overflow(kernel - 1, w->dilation[i], &reach) ||
        reach > INT32_MAX || more < 0 || more > INT32_MAX) {
        return hone_infer_fail(in, "a kernel of %lld, or output_padding of %lld, is beyond measure",
                               (long long)kernel, (long long)more);
    }
    int64_t added = reach + 1 + more - w->padding[i] - w->padding[i + spatial] - w->strides[i];
    *out = hone_extent_mul(&in->ir, in->args[0]->shape[i + 2],
                           hone_extent_int(&in->ir, w->strides[i]));
    *out = hone_extent_add(&in->ir, *out, added);
    if (*out && hone_expr_is_int(*out) && (*out)->u.i < 1) {
        return hone_infer_fail(in, "dimension %u would be %lld", i + 2, (long long)(*out)->u.i);
    }
    return hone_ir_finish(&in->ir);
}

static hone_status plain_conv_transpose(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *weight = in->args[1];
    int32_t spatial = spatial_of(in);
    int64_t groups = hone_attrs_int(&in->bind->attrs, "groups", 1), more[MAX_SPATIAL];
    window w;
    HONE_TRY(check_turned(in, spatial, groups));
    HONE_TRY(read_window(in, (uint32_t)spatial, &w));
    HONE_TRY(hone_graph_attr_ints(in->bind, "output_padding", (uint32_t)spatial, 0, more));
    const hone_expr *shape[MAX_SPATIAL + 2] = {data->shape[0]};
    shape[1] = hone_extent_mul(&in->ir, weight->shape[1], hone_extent_int(&in->ir, groups));
    for (int32_t i = 0; i < spatial; i++) {
        HONE_TRY(turned_extent(in, &w, (uint32_t)spatial, (uint32_t)i, more[i], &shape[i + 2]));
    }
    return hone_infer_tensor(in, hone_infer_out_dtype(in, data->dtype), spatial + 2, shape);
}

hone_status hone_infer_conv_transpose(hone_infer *in) {
    return in_plain_order(in, plain_conv_transpose);
}

static hone_status plain_pool(hone_infer *in) {
    const hone_sinfo *data = in->args[0];
    int32_t spatial = spatial_of(in);
    int64_t kernel[MAX_SPATIAL];
    window w;
    HONE_TRY(check_rank(in, spatial));
    HONE_TRY(hone_graph_attr_ints(in->bind, "pool_size", (uint32_t)spatial, 1, kernel));
    HONE_TRY(read_window(in, (uint32_t)spatial, &w));
    const hone_expr *shape[MAX_SPATIAL + 2] = {data->shape[0], data->shape[1]};
    for (int32_t i = 0; i < spatial; i++) {
        HONE_TRY(window_extent(in, &w, (uint32_t)spatial, (uint32_t)i, data->shape[i + 2],
                               kernel[i], &shape[i + 2]));
    }
    return hone_infer_tensor(in, data->dtype, spatial + 2, shape);
}

hone_status hone_infer_pool(hone_infer *in) {
    return in_plain_order(in, plain_pool);
}

static hone_status plain_adaptive_pool(hone_infer *in) {
    const hone_sinfo *data = in->args[0];
    int32_t spatial = spatial_of(in);
    int64_t sizes[MAX_SPATIAL];
    HONE_TRY(check_rank(in, spatial));
    HONE_TRY(hone_graph_attr_ints(in->bind, "output_size", (uint32_t)spatial, -1, sizes));
    const hone_expr *shape[MAX_SPATIAL + 2] = {data->shape[0], data->shape[1]};
    for (int32_t i = 0; i < spatial; i++) {
        if (sizes[i] == 0 || sizes[i] < -1) {
            return hone_infer_fail(in, "output_size is %lld, must be at least 1",
                                   (long long)sizes[i]);
        }
        shape[i + 2] = sizes[i] < 0 ? data->shape[i + 2] : hone_extent_int(&in->ir, sizes[i]);
    }
    return hone_infer_tensor(in, data->dtype, spatial + 2, shape);
}

hone_status hone_infer_adaptive_pool(hone_infer *in) {
    return in_plain_order(in, plain_adaptive_pool);
}

/* Is argument i a tensor of exactly this shape? What is not known to be might be read beyond its
 * end. */
static hone_status check_shape(const hone_infer *in, uint32_t i, const char *what, int32_t rank,
                               const hone_expr *const *shape) {
    const hone_sinfo *x = in->args[i];
    bool is_sure = x->kind != HONE_SINFO_TENSOR || x->rank != rank, is_same = !is_sure;
    for (int32_t d = 0; !is_sure && d < rank; d++) {
        is_sure = hone_extent_differs(x->shape[d], shape[d]);
        is_same &= hone_extent_same(x->shape[d], shape[d]);
    }
    if (is_same) return HONE_OK;
    return (is_sure ? hone_infer_fail : hone_infer_doubt)(in, "argument %u must have %s", i + 1,
                                                          what);
}

hone_status hone_infer_batch_norm(hone_infer *in) {
    int32_t axis;
    HONE_TRY(
        hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", 1), in->args[0]->rank, &axis));
    for (uint32_t i = 1; i < 5; i++) {
        HONE_TRY(check_shape(in, i, "a number for each channel", 1, in->args[0]->shape + axis));
    }
    const hone_sinfo *fields[] = {in->args[0], in->args[3], in->args[4]};
    in->result = hone_sinfo_tuple(in->ir.arena, 3, fields);
    return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
}

hone_status hone_infer_layer_norm(hone_infer *in) {
    bool is_axis[HONE_MAX_RANK];
    const hone_expr *shape[HONE_MAX_RANK];
    int32_t rank = 0;
    if (!hone_attrs_find(&in->bind->attrs, "axes")) return hone_infer_same(in);
    HONE_TRY(hone_infer_axes(in, "axes", in->args[0]->rank, is_axis));
    for (int32_t d = 0; d < in->args[0]->rank; d++) {
        if (is_axis[d]) shape[rank++] = in->args[0]->shape[d];
    }
    for (uint32_t i = 1; i < 3; i++)
        HONE_TRY(check_shape(in, i, "the shape of the normalised axes", rank, shape));
    return hone_infer_same(in);
}

hone_status hone_infer_dropout(hone_infer *in) {
    const hone_sinfo *fields[] = {in->args[0], in->args[0]};
    in->result = hone_sinfo_tuple(in->ir.arena, 2, fields);
    return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
}

/* pad_width is [before, after] per dimension. */
hone_status hone_infer_pad(hone_infer *in) {
    const hone_sinfo *data = in->args[0];
    int64_t widths[2 * HONE_MAX_RANK];
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(hone_graph_attr_ints(in->bind, "pad_width", 2 * (uint32_t)data->rank, 0, widths));
    for (int32_t i = 0; i < data->rank; i++) {
        if (widths[2 * i] < 0 || widths[2 * i + 1] < 0 || widths[2 * i] > INT32_MAX ||
            widths[2 * i + 1] > INT32_MAX) {
            return hone_infer_fail(in, "padding must be from 0 to 2^31 - 1");
        }
        shape[i] = hone_extent_add(&in->ir, data->shape[i], widths[2 * i] + widths[2 * i + 1]);
    }
    return hone_infer_tensor(in, data->dtype, data->rank, shape);
}
