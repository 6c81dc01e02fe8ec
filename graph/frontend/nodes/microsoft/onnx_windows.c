/* graph/frontend/nodes/microsoft/onnx_windows.c - windows of com.microsoft: maxima of what a mask
 * leaves (MaxpoolWithMask), and a transposed convolution whose pads are an input
 * (ConvTransposeWithDynamicPads). */
#include <float.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- MaxpoolWithMask ----
 *
 * As onnxruntime has it: each row of a window ends where the mask is 0, but for the first element
 * of an image of more dimensions than one; and the mask of channel c of all begins `c * space mod
 * channels of the mask` elements behind its first one. */

enum { DATA, MASK };

typedef struct pool {
    onnx_window w;
    int32_t rank;
    const hone_expr *channels; /* of all images */
    const hone_expr *space;    /* elements of each */
} pool;

static const hone_expr *product(onnx_reader *r, const hone_sinfo *info, int32_t from, int32_t end) {
    const hone_expr *all = hone_extent_int(&r->ir, 1);
    for (int32_t d = from; d < end; d++)
        all = hone_extent_mul(&r->ir, all, info->shape[d]);
    return all;
}

/* Whether an element counts, [images, channels, space...]. */
static hone_status spread_mask(onnx_reader *r, const pool *p, const hone_sinfo *data,
                               hone_garg *out) {
    const hone_sinfo *mask;
    hone_garg channel, step, count, place;
    HONE_TRY(onnx_input_info(r, MASK, &mask));
    const hone_expr *kept = product(r, mask, 0, 2);
    HONE_TRY(onnx_indices(r, p->channels, 2, 0, &channel));
    HONE_TRY(onnx_sizes_tensor(r, 1, &p->space, &step));
    HONE_TRY(onnx_sizes_tensor(r, 1, &kept, &count));
    HONE_TRY(onnx_emit2(r, "multiply", channel, step, &channel));
    HONE_TRY(onnx_emit2(r, "floor_mod", channel, count, &channel));
    HONE_TRY(onnx_indices(r, p->space, 2, 1, &place));
    HONE_TRY(onnx_emit2(r, "add", channel, place, &channel));
    HONE_TRY(onnx_emit_flat(r, r->inputs[MASK], out));
    HONE_TRY(onnx_emit_take(r, *out, channel, 0, out));
    HONE_TRY(onnx_with_scalar(r, "not_equal", *out, 0, out));
    if (p->w.spatial > 1) {
        HONE_TRY(onnx_with_scalar(r, "equal", place, 0, &place));
        HONE_TRY(onnx_emit2(r, "logical_or", *out, place, out));
    }
    return onnx_emit_reshape(r, *out, (uint32_t)data->rank, data->shape, out);
}

/* How many windows there are along the last axis. */
static const hone_expr *windows_of(onnx_reader *r, const pool *p, const hone_expr *extent) {
    const uint32_t last = p->w.spatial - 1;
    const int64_t more = p->w.pads[last] + p->w.pads[2 * last + 1] - p->w.kernel[last];
    const hone_expr *room = hone_extent_add(&r->ir, extent, more);
    return hone_extent_add(&r->ir, hone_extent_div(&r->ir, room, p->w.strides[last]), 1);
}

/* The indices of windows of the last axis, [windows, kernel], held inside of it, and which of them
 * are inside. */
static hone_status last_windows(onnx_reader *r, const pool *p, const hone_expr *extent,
                                hone_garg *out, hone_garg *out_inside) {
    const uint32_t last = p->w.spatial - 1;
    hone_garg tap, size, edge, low;
    HONE_TRY(onnx_indices(r, windows_of(r, p, extent), 2, 0, out));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, p->w.kernel[last]), 2, 1, &tap));
    HONE_TRY(onnx_with_scalar(r, "multiply", *out, (double)p->w.strides[last], out));
    HONE_TRY(onnx_with_scalar(r, "subtract", tap, (double)p->w.pads[last], &tap));
    HONE_TRY(onnx_emit2(r, "add", *out, tap, out));
    HONE_TRY(onnx_sizes_tensor(r, 1, &extent, &size));
    HONE_TRY(onnx_emit2(r, "less", *out, size, out_inside));
    HONE_TRY(onnx_with_scalar(r, "greater_equal", *out, 0, &low));
    HONE_TRY(onnx_emit2(r, "logical_and", *out_inside, low, out_inside));
    HONE_TRY(onnx_with_scalar(r, "subtract", size, 1, &edge));
    HONE_TRY(onnx_emit2(r, "minimum", *out, edge, out));
    return onnx_with_scalar(r, "maximum", *out, 0, out);
}

/* Maxima along the last axis, of what each row has up to where the mask ends it: a number that is
 * not above the least one of all is that one, as is NaN. */
static hone_status pool_rows(onnx_reader *r, const pool *p, const hone_sinfo *data, hone_garg mask,
                             hone_garg *out) {
    const int32_t last = p->rank - 1;
    const hone_sinfo *made;
    hone_garg indices, inside, ends, least, is_more, x = r->inputs[DATA];
    HONE_TRY(last_windows(r, p, data->shape[last], &indices, &inside));
    HONE_TRY(onnx_emit_take(r, mask, indices, last, &mask));
    HONE_TRY(onnx_emit1(r, "logical_not", mask, &mask));
    HONE_TRY(onnx_emit2(r, "logical_and", mask, inside, &mask));
    HONE_TRY(onnx_emit_cast(r, mask, HONE_DTYPE_I32, &ends));
    HONE_TRY(onnx_emit_sums(r, ends, last + 1, &ends));
    HONE_TRY(onnx_with_scalar(r, "equal", ends, 0, &ends));
    HONE_TRY(onnx_emit2(r, "logical_and", ends, inside, &ends));
    HONE_TRY(onnx_scalar_like(r, &x, -(double)FLT_MAX, &least));
    HONE_TRY(onnx_emit2(r, "greater", x, least, &is_more));
    HONE_TRY(onnx_emit_where(r, is_more, x, least, &x));
    HONE_TRY(onnx_emit_take(r, x, indices, last, &x));
    HONE_TRY(onnx_emit_where(r, ends, x, least, &x));
    HONE_TRY(onnx_emit_along(r, "max", x, last + 1, &x));
    HONE_TRY(onnx_info(r, &x, &made));
    return onnx_emit_reshape(r, x, (uint32_t)p->rank, made->shape, out);
}

/* Maxima along the other axes of space: the rows are one wide already. */
static hone_status pool_others(onnx_reader *r, const pool *p, hone_garg *io) {
    onnx_window w = p->w;
    const uint32_t last = w.spatial - 1;
    const char *op = hone_arena_printf(r->arena, "nn.max_pool%ud", w.spatial);
    if (!op) return HONE_NO_MEMORY("model");
    if (last == 0) return HONE_OK;
    w.kernel[last] = w.strides[last] = 1;
    w.pads[last] = w.pads[last + w.spatial] = 0;
    hone_attr attrs[] = {
        {"pool_size", onnx_ints_value(r, w.spatial,     w.kernel) },
        {"strides",   onnx_ints_value(r, w.spatial,     w.strides)},
        {"padding",   onnx_ints_value(r, 2 * w.spatial, w.pads)   },
    };
    return onnx_emit(r, op, 1, io, HONE_COUNT(attrs), attrs, io);
}

/* The mask has the space of the data, and any number of channels. */
static hone_status check_mask(onnx_reader *r, const hone_sinfo *data) {
    const hone_sinfo *mask;
    HONE_TRY(onnx_input_info(r, MASK, &mask));
    if (mask->rank != data->rank)
        return HONE_ERROR(HONE_CODE_INVALID, "a mask of %d dimensions for data of %d",
                          (int)mask->rank, (int)data->rank);
    for (int32_t d = 2; d < data->rank; d++) {
        if (hone_extent_differs(mask->shape[d], data->shape[d]))
            return HONE_ERROR(HONE_CODE_INVALID, "a mask of %lld along dimension %d of %lld",
                              (long long)mask->shape[d]->u.i, (int)d,
                              (long long)data->shape[d]->u.i);
        HONE_TRY(onnx_unify_dims(r, &r->inputs[DATA], d, &r->inputs[MASK], d));
    }
    return HONE_OK;
}

static hone_status convert_masked_pool(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    pool p = {0};
    hone_garg mask;
    HONE_TRY(onnx_input_info(r, DATA, &data));
    HONE_TRY(onnx_pool_window(r, data, &p.w));
    HONE_TRY(onnx_refuse_later(&p.w));
    HONE_TRY(check_mask(r, data));
    HONE_TRY(onnx_input_info(r, DATA, &data));
    p.rank = data->rank;
    p.channels = product(r, data, 0, 2);
    p.space = product(r, data, 2, data->rank);
    HONE_TRY(spread_mask(r, &p, data, &mask));
    HONE_TRY(pool_rows(r, &p, data, mask, out));
    return pool_others(r, &p, out);
}

/* ---- ConvTransposeWithDynamicPads ---- */

enum { WEIGHT = 1, PADS, BIAS };

/* Without what the pads, which are known in a run only, take off both ends of each axis of space.
 */
static hone_status cut_pads(onnx_reader *r, uint32_t spatial, hone_garg pads, hone_garg *io) {
    hone_garg begin, end, cut, extent;
    HONE_TRY(onnx_emit_cast(r, pads, HONE_DTYPE_I64, &pads));
    HONE_TRY(onnx_demand_size(r, &pads, 0, 2 * spatial));
    for (uint32_t i = 0; i < spatial; i++) {
        const hone_sinfo *info;
        const hone_expr *size;
        HONE_TRY(onnx_info(r, io, &info));
        const hone_expr *before = info->shape[i + 2];
        HONE_TRY(onnx_emit_item(r, pads, i, &begin));
        HONE_TRY(onnx_emit_item(r, pads, i + spatial, &end));
        for (uint32_t k = 0; k < 2; k++) { /* neither is negative */
            hone_garg *pad = k ? &end : &begin;
            HONE_TRY(onnx_emit_within(r, *pad, hone_extent_add(&r->ir, before, 1), pad));
        }
        HONE_TRY(onnx_sizes_tensor(r, 1, &before, &extent));
        HONE_TRY(onnx_emit2(r, "subtract", extent, begin, &cut));
        HONE_TRY(onnx_emit2(r, "subtract", cut, end, &cut));
        HONE_TRY(onnx_emit_given_size(r, cut, hone_expr_const(before), &size));
        HONE_TRY(onnx_indices(r, size, 1, 0, &cut));
        HONE_TRY(onnx_emit2(r, "add", cut, begin, &cut));
        HONE_TRY(onnx_emit_take(r, *io, cut, i + 2, io));
    }
    return HONE_OK;
}

/* The standard's with the attribute pads. */
static hone_status convert_known_pads(onnx_reader *r, const hone_tensor *pads, uint32_t count,
                                      const hone_garg *inputs, hone_garg *out) {
    const Onnx__NodeProto *own = r->node;
    const size_t all = own->n_attribute, size = (size_t)hone_tensor_count(pads);
    Onnx__NodeProto node = *own;
    Onnx__AttributeProto *attr = hone_arena_zalloc(r->arena, sizeof *attr);
    node.attribute = hone_arena_zalloc(r->arena, (all + 1) * sizeof *node.attribute);
    int64_t *ints = hone_arena_zalloc(r->arena, (size + 1) * sizeof *ints);
    if (!attr || !node.attribute || !ints) return HONE_NO_MEMORY("model");
    for (size_t i = 0; i < size; i++)
        ints[i] = hone_tensor_get_i64(pads, (int64_t)i);
    onnx__attribute_proto__init(attr);
    attr->name = hone_arena_strdup(r->arena, "pads");
    attr->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
    attr->ints = ints;
    attr->n_ints = size;
    if (!attr->name) return HONE_NO_MEMORY("model");
    if (all) memcpy(node.attribute, own->attribute, all * sizeof *node.attribute);
    node.attribute[all] = attr;
    node.n_attribute = all + 1;
    r->node = &node;
    hone_status st = onnx_convert_on(r, "ConvTranspose", count, inputs, out);
    r->node = own;
    return st;
}

/* The standard's, with pads that are an input. */
static hone_status convert_dynamic_pads(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const hone_garg inputs[] = {r->inputs[DATA], r->inputs[WEIGHT], onnx_given(r, BIAS)};
    hone_garg pads = onnx_given(r, PADS);
    const uint32_t count = inputs[2].kind == HONE_GARG_NONE ? 2 : 3;
    char mode[64];
    HONE_TRY(onnx_input_info(r, DATA, &data));
    HONE_TRY(onnx_attr_text(r, "auto_pad", "NOTSET", mode));
    const bool has_pads = pads.kind != HONE_GARG_NONE && strcmp(mode, "NOTSET") == 0;
    if (has_pads) HONE_TRY(onnx_as_tensor(r, &pads));
    const hone_tensor *known = has_pads ? onnx_constant_of(r, &pads) : NULL;
    if (known) return convert_known_pads(r, known, count, inputs, out);
    HONE_TRY(onnx_convert_on(r, "ConvTranspose", count, inputs, out));
    if (!has_pads) return HONE_OK;
    return cut_pads(r, (uint32_t)data->rank - 2, pads, out);
}

const onnx_converter onnx_windows_converters[] = {
    {"MaxpoolWithMask", convert_masked_pool, 2, 2, 1,
     "auto_pad kernel_shape pads storage_order strides", NULL},
    {"ConvTransposeWithDynamicPads",                convert_dynamic_pads, 2, 4, 1,
     "auto_pad dilations group kernel_shape output_padding strides", NULL},
    {0               },
};
