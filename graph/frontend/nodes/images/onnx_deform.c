/* graph/frontend/nodes/images/onnx_deform.c - DeformConv: a convolution whose taps lie where a
 * tensor says.
 *
 *   coordinates   [N * parts, 2, kh * kw * oh, ow]: of each tap, in elements: where it would lie,
 * and the offset added samples  [N, C, kh * kw, oh * ow]: of the data there, between elements,
 * times the mask result   [N, O, oh, ow]: weight · samples, group by group
 */
#include "graph/frontend/nodes/onnx_nodes.h"

/* Limits keep products of sizes within 64 bits. */
enum { SPACE = 2, OFFSET_RANK = 6, MOST_TAPS = 4096, MOST_GROUPS = 65536 };

typedef struct deformed {
    int64_t groups, parts; /* of channels: with weights, with offsets of their own */
    int64_t channels, filters;
    onnx_window w;
    const hone_expr *images, *out[SPACE];
} deformed;

static hone_status refuse(const char *what) {
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s", what);
}

/* A size that is not known may be any. */
static bool may_be(const hone_expr *size, int64_t wanted) {
    int64_t known = hone_expr_const(size);
    return known < 0 || known == wanted;
}

static hone_status check_counts(const deformed *d, const hone_sinfo *data,
                                const hone_sinfo *offset) {
    int64_t numbers = SPACE * d->parts * d->w.kernel[0] * d->w.kernel[1];
    bool fits = d->channels % d->parts == 0 && d->filters % d->groups == 0 &&
                may_be(data->shape[1], d->channels) && may_be(offset->shape[1], numbers);
    if (fits) return HONE_OK;
    return HONE_ERROR(
        HONE_CODE_INVALID,
        "%lld channels, %lld filters in %lld groups and offsets for %lld parts do not "
        "fit each other",
        (long long)d->channels, (long long)d->filters, (long long)d->groups, (long long)d->parts);
}

static hone_status group_attr(const onnx_reader *r, const char *name, int64_t *out) {
    HONE_TRY(onnx_attr_int(r, name, 1, out));
    if (*out >= 1 && *out <= MOST_GROUPS) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' is %lld, must be in [1, %d]", name,
                      (long long)*out, MOST_GROUPS);
}

static hone_status read_weight(onnx_reader *r, deformed *d) {
    const hone_sinfo *weight;
    HONE_TRY(onnx_input_info(r, 1, &weight));
    if (weight->rank != SPACE + 2) return refuse("not 2 dimensions of space");
    int64_t each = hone_expr_const(weight->shape[1]);
    HONE_TRY(group_attr(r, "group", &d->groups));
    d->filters = hone_expr_const(weight->shape[0]);
    d->channels = each * d->groups;
    d->w.spatial = SPACE;
    for (int32_t i = 0; i < SPACE; i++)
        d->w.kernel[i] = hone_expr_const(weight->shape[2 + i]);
    if (each < 1 || d->filters < 1 || d->w.kernel[0] < 1 || d->w.kernel[1] < 1) {
        return refuse("channels of unknown number");
    }
    if (each > INT32_MAX || d->w.kernel[0] > MOST_TAPS || d->w.kernel[1] > MOST_TAPS) {
        return refuse("a kernel beyond 4096 x 4096");
    }
    return onnx_read_window(r, &d->w);
}

static hone_status read_deformed(onnx_reader *r, deformed *d) {
    const hone_sinfo *data, *offset;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 2, &offset));
    if (data->rank != SPACE + 2 || offset->rank != SPACE + 2) {
        return refuse("not 2 dimensions of space");
    }
    d->images = data->shape[0];
    for (int32_t i = 0; i < SPACE; i++)
        d->out[i] = offset->shape[2 + i];
    HONE_TRY(read_weight(r, d));
    HONE_TRY(group_attr(r, "offset_group", &d->parts));
    return check_counts(d, data, offset);
}

/* out * stride + tap * dilation - pad, of dimension i */
static hone_status unmoved(onnx_reader *r, const deformed *d, int32_t i, hone_dtype dtype,
                           hone_garg *out) {
    hone_garg tap;
    const hone_expr *taps = hone_extent_int(&r->ir, d->w.kernel[i]);
    HONE_TRY(onnx_indices(r, d->out[i], OFFSET_RANK, 4 + i, out));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, (double)d->w.strides[i], out));
    HONE_TRY(onnx_with_scalar(r, "subtract", *out, (double)d->w.pads[i], out));
    HONE_TRY(onnx_indices(r, taps, OFFSET_RANK, 1 + i, &tap));
    HONE_TRY(onnx_with_scalar(r, "multiply", tap, (double)d->w.dilations[i], &tap));
    HONE_TRY(onnx_emit2(r, "add", *out, tap, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* The number of images that have offsets of their own, and of coordinates in one, in rows of `out`.
 */
static void planes(onnx_reader *r, const deformed *d, const hone_expr **out_images,
                   const hone_expr **out_rows) {
    hone_ir *ir = &r->ir;
    *out_images = hone_extent_mul(ir, d->images, hone_extent_int(ir, d->parts));
    *out_rows =
        hone_extent_mul(ir, d->out[0], hone_extent_int(ir, d->w.kernel[0] * d->w.kernel[1]));
}

static hone_status coordinates_of(onnx_reader *r, const deformed *d, hone_garg *out) {
    static const int64_t numbers_first[] = {0, 3, 1, 2, 4, 5};
    const hone_sinfo *info;
    const hone_expr *images, *rows, *two = hone_extent_int(&r->ir, SPACE);
    hone_garg all, part[SPACE], base;
    planes(r, d, &images, &rows);
    const hone_expr *apart[OFFSET_RANK] = {images,
                                           hone_extent_int(&r->ir, d->w.kernel[0]),
                                           hone_extent_int(&r->ir, d->w.kernel[1]),
                                           two,
                                           d->out[0],
                                           d->out[1]};
    const hone_expr *grid[] = {images, two, rows, d->out[1]};
    HONE_TRY(onnx_input_info(r, 2, &info));
    HONE_TRY(onnx_emit_reshape(r, r->inputs[2], OFFSET_RANK, apart, &all));
    for (int32_t i = 0; i < SPACE; i++) {
        HONE_TRY(unmoved(r, d, i, info->dtype, &base));
        HONE_TRY(onnx_emit_slice(r, all, 3, i, i + 1, &part[i]));
        HONE_TRY(onnx_emit2(r, "add", part[i], base, &part[i]));
    }
    HONE_TRY(onnx_emit_concat(r, SPACE, part, 3, out));
    HONE_TRY(onnx_emit_permute(r, *out, OFFSET_RANK, numbers_first, out));
    return onnx_emit_reshape(r, *out, SPACE + 2, grid, out);
}

/* [N, groups, channels of one * kh * kw, oh * ow] */
static hone_status samples_of(onnx_reader *r, const deformed *d, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *images, *rows;
    hone_garg args[2], mask;
    planes(r, d, &images, &rows);
    HONE_TRY(onnx_input_info(r, 0, &data));
    const hone_expr *parts[] = {images, hone_extent_int(&r->ir, d->channels / d->parts),
                                data->shape[2], data->shape[3]};
    const hone_expr *masks[] = {images, hone_extent_int(&r->ir, 1), rows, d->out[1]};
    int64_t terms = d->channels / d->groups * d->w.kernel[0] * d->w.kernel[1];
    const hone_expr *groups[] = {d->images, hone_extent_int(&r->ir, d->groups),
                                 hone_extent_int(&r->ir, terms),
                                 hone_extent_mul(&r->ir, d->out[0], d->out[1])};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], SPACE + 2, parts, &args[0]));
    HONE_TRY(coordinates_of(r, d, &args[1]));
    HONE_TRY(onnx_emit(r, "sample_at", 2, args, 0, NULL, out));
    if (onnx_has_input(r, 4)) {
        HONE_TRY(onnx_emit_reshape(r, r->inputs[4], SPACE + 2, masks, &mask));
        HONE_TRY(onnx_emit2(r, "multiply", *out, mask, out));
    }
    return onnx_emit_reshape(r, *out, 4, groups, out);
}

static hone_status convert_deform_conv(onnx_reader *r, hone_garg *out) {
    deformed d = {0};
    hone_garg weight, samples, bias;
    HONE_TRY(read_deformed(r, &d));
    hone_ir *ir = &r->ir;
    int64_t terms = d.channels / d.groups * d.w.kernel[0] * d.w.kernel[1];
    const hone_expr *filters = hone_extent_int(ir, d.filters), *one = hone_extent_int(ir, 1);
    const hone_expr *sides[] = {hone_extent_int(ir, d.groups),
                                hone_extent_int(ir, d.filters / d.groups),
                                hone_extent_int(ir, terms)};
    const hone_expr *shape[] = {d.images, filters, d.out[0], d.out[1]};
    const hone_expr *along[] = {one, filters, one, one};
    HONE_TRY(samples_of(r, &d, &samples));
    HONE_TRY(onnx_emit_reshape(r, r->inputs[1], 3, sides, &weight));
    HONE_TRY(onnx_emit2(r, "matmul", weight, samples, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 4, shape, out));
    if (!onnx_has_input(r, 3)) return HONE_OK;
    HONE_TRY(onnx_emit_reshape(r, r->inputs[3], 4, along, &bias));
    return onnx_emit2(r, "add", *out, bias, out);
}

const onnx_converter onnx_deform_converters[] = {
    {"DeformConv", convert_deform_conv, 3, 5, 1,
     "dilations group kernel_shape offset_group pads strides", NULL},
    {0          },
};
