/* graph/frontend/nodes/onnx_unpool.c - where the maxima of a pool lie, and putting them back there.
 */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { MOST_ELEMENTS = 1 << 26 }; /* of all windows */

/* The elements that the windows of a pool lie over, window by window. */
typedef struct windows {
    const onnx_window *w;
    int64_t in[ONNX_MAX_SPATIAL], out[ONNX_MAX_SPATIAL]; /* extents */
    int64_t space, count, size; /* elements of an image, windows, their elements */
} windows;

static hone_status known_extents(const hone_sinfo *info, uint32_t spatial, int64_t *extents,
                                 int64_t *out_product) {
    *out_product = 1;
    for (uint32_t i = 0; i < spatial; i++) {
        extents[i] = hone_expr_const(info->shape[i + 2]);
        if (extents[i] < 0) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "the indices of maxima need known extents; give them with --shape");
        }
        *out_product *= extents[i];
    }
    return HONE_OK;
}

static void unflatten(uint32_t spatial, const int64_t *extents, int64_t flat, int64_t *out) {
    for (uint32_t i = spatial; i-- > 0; flat /= extents[i])
        out[i] = flat % extents[i];
}

/* The element, row by row, and as the file wants it counted; false in the padding. */
static bool element_of(const windows *v, int64_t window, int64_t item, bool by_columns,
                       int64_t *out_element, int64_t *out_counted) {
    int64_t at[ONNX_MAX_SPATIAL], step[ONNX_MAX_SPATIAL], column = 1;
    *out_element = *out_counted = 0;
    unflatten(v->w->spatial, v->out, window, at);
    unflatten(v->w->spatial, v->w->kernel, item, step);
    for (uint32_t i = 0; i < v->w->spatial; i++) {
        int64_t x = at[i] * v->w->strides[i] + step[i] * v->w->dilations[i] - v->w->pads[i];
        if (x < 0 || x >= v->in[i]) return false;
        *out_element = *out_element * v->in[i] + x;
        *out_counted += column * x;
        column *= v->in[i];
    }
    if (!by_columns) *out_counted = *out_element;
    return true;
}

/* What lies in the padding is another index of the window: the maximum is the same, and where it
 * lies first. */
static void fill_tables(const windows *v, bool by_columns, hone_tensor *elements,
                        hone_tensor *counted) {
    for (int64_t window = 0; window < v->count; window++) {
        int64_t element = 0, index = 0, first = 0;
        while (first < v->size && !element_of(v, window, first, by_columns, &element, &index))
            first++;
        for (int64_t item = 0; item < v->size; item++) {
            int64_t own_element, own_index, at = window * v->size + item;
            bool is_inside = element_of(v, window, item, by_columns, &own_element, &own_index);
            hone_tensor_set_i64(elements, at, is_inside ? own_element : element);
            hone_tensor_set_i64(counted, at, is_inside ? own_index : index);
        }
    }
}

static hone_status make_tables(onnx_reader *r, const windows *v, bool by_columns,
                               hone_garg *out_elements, hone_garg *out_counted) {
    int64_t shape[] = {v->count, v->size}, all = v->count * v->size;
    hone_tensor *elements, *counted;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 2, shape, &elements));
    hone_status st = hone_tensor_create(HONE_DTYPE_I64, 1, &all, &counted);
    if (st) {
        hone_tensor_destroy(elements);
        return st;
    }
    fill_tables(v, by_columns, elements, counted);
    st = onnx_add_constant(r, elements, out_elements);
    if (!st) return onnx_add_constant(r, counted, out_counted);
    hone_tensor_destroy(counted);
    return st;
}

/* Adds how many elements the images in front of each have. */
static hone_status count_images(onnx_reader *r, const hone_sinfo *data, int64_t space,
                                hone_garg *io) {
    hone_garg image;
    const hone_expr *images = hone_extent_mul(&r->ir, data->shape[0], data->shape[1]);
    const hone_expr *apart[] = {data->shape[0], data->shape[1], hone_extent_int(&r->ir, 1)};
    HONE_TRY(onnx_indices(r, images, 1, 0, &image));
    HONE_TRY(onnx_emit_reshape(r, image, 3, apart, &image));
    HONE_TRY(onnx_with_scalar(r, "multiply", image, (double)space, &image));
    return onnx_emit2(r, "add", *io, image, io);
}

/* The windows' elements beside each other, the first maximum among them, and its index. */
hone_status onnx_pool_indices(onnx_reader *r, const onnx_window *w, bool by_columns,
                              hone_garg pooled, hone_garg *out) {
    const hone_sinfo *data, *info;
    windows v = {.w = w, .size = 1};
    hone_garg elements, counted, first;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_info(r, &pooled, &info));
    HONE_TRY(known_extents(data, w->spatial, v.in, &v.space));
    HONE_TRY(known_extents(info, w->spatial, v.out, &v.count));
    for (uint32_t i = 0; i < w->spatial; i++) {
        if (__builtin_mul_overflow(v.size, w->kernel[i], &v.size)) v.size = INT32_MAX;
    }
    if (v.size > MOST_ELEMENTS / (v.count + 1)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the indices of maxima of so many windows");
    }
    HONE_TRY(make_tables(r, &v, by_columns, &elements, &counted));
    const hone_expr *flat[] = {data->shape[0], data->shape[1], hone_extent_int(&r->ir, v.space)};
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(3)};
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], 3, flat, out));
    HONE_TRY(onnx_emit_take(r, *out, elements, 2, out));
    HONE_TRY(onnx_emit(r, "argmax", 1, out, 1, &attr, out));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, v.count), 3, 2, &first));
    HONE_TRY(onnx_with_scalar(r, "multiply", first, (double)v.size, &first));
    HONE_TRY(onnx_emit2(r, "add", *out, first, out));
    HONE_TRY(onnx_emit_take(r, counted, *out, 0, out));
    HONE_TRY(count_images(r, data, v.space, out));
    return onnx_emit_reshape(r, *out, (uint32_t)info->rank, info->shape, out);
}

/* ---- MaxUnpool ---- */

/* The extents that a pool of these windows had: (n - 1) stride + kernel - pads */
static hone_status pooled_from(onnx_reader *r, const hone_sinfo *data, const hone_expr **shape) {
    uint32_t spatial = (uint32_t)data->rank - 2;
    int64_t kernel[ONNX_MAX_SPATIAL], strides[ONNX_MAX_SPATIAL], pads[2 * ONNX_MAX_SPATIAL];
    HONE_TRY(onnx_attr_ints_n(r, "kernel_shape", spatial, 1, kernel));
    HONE_TRY(onnx_attr_ints_n(r, "strides", spatial, 1, strides));
    HONE_TRY(onnx_attr_ints_n(r, "pads", 2 * spatial, 0, pads));
    memcpy(shape, data->shape, 2 * sizeof *shape);
    for (uint32_t i = 0; i < spatial; i++) {
        const hone_expr *steps = hone_extent_add(&r->ir, data->shape[i + 2], -1);
        steps = hone_extent_mul(&r->ir, steps, hone_extent_int(&r->ir, strides[i]));
        shape[i + 2] = hone_extent_add(&r->ir, steps, kernel[i] - pads[i] - pads[i + spatial]);
    }
    return HONE_OK;
}

/* Indices count in the shape that was pooled; a larger one has zeros behind it. */
static hone_status enlarge(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                           hone_garg *io) {
    int64_t wanted[HONE_MAX_RANK], widths[2 * HONE_MAX_RANK] = {0};
    uint32_t count;
    HONE_TRY(onnx_const_ints(r, 2, "the shape", HONE_MAX_RANK, wanted, &count));
    for (uint32_t d = 0; d < rank; d++) {
        int64_t extent = hone_expr_const(shape[d]);
        widths[2 * d + 1] = count == rank && extent >= 0 ? wanted[d] - extent : -1;
        if (widths[2 * d + 1] < 0) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "a shape (input 2) that is not larger than what was pooled");
        }
    }
    hone_attr attr = {"pad_width", onnx_ints_value(r, 2 * rank, widths)};
    return onnx_emit(r, "nn.pad", 1, io, 1, &attr, io);
}

static hone_status convert_max_unpool(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *shape[HONE_MAX_RANK], *all = hone_extent_int(&r->ir, 1);
    hone_garg args[3], target[2];
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank < 3 || data->rank > ONNX_MAX_SPATIAL + 2) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "data of %d dimensions", data->rank);
    }
    uint32_t rank = (uint32_t)data->rank;
    HONE_TRY(pooled_from(r, data, shape));
    for (uint32_t d = 0; d < rank; d++)
        all = hone_extent_mul(&r->ir, all, shape[d]);
    HONE_TRY(onnx_scalar(r, data->dtype, 0, &target[0]));
    HONE_TRY(onnx_make_ints(r, 1, &all, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[0]));
    HONE_TRY(onnx_emit1(r, "flatten", r->inputs[1], &args[1]));
    HONE_TRY(onnx_emit_no_negative(r, args[1], all, &args[1]));
    HONE_TRY(onnx_emit1(r, "flatten", r->inputs[0], &args[2]));
    HONE_TRY(onnx_emit(r, "scatter_elements", 3, args, 0, NULL, out));
    HONE_TRY(onnx_emit_reshape(r, *out, rank, shape, out));
    return onnx_has_input(r, 2) ? enlarge(r, rank, shape, out) : HONE_OK;
}

const onnx_converter onnx_unpool_converters[] = {
    {"MaxUnpool", convert_max_unpool, 2, 3, 1, "kernel_shape pads strides", NULL},
    {0         },
};
