/* graph/frontend/nodes/images/onnx_resize_data.c - Resize by sizes or scales that are known when
 * the model runs: the tables of onnx_resize.c, computed by the graph in the same steps. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/images/onnx_resize.h"

/* What there is to know of one dimension: vectors of one float32. */
typedef struct dimension {
    const onnx_filter *filter;
    const hone_expr *size;          /* of the result */
    hone_garg extent, count, scale; /* of the data, of the result */
    hone_garg at;                   /* [count]: 0, 1, 2, ... */
} dimension;

static bool is_mode(const dimension *d, const char *mode) {
    return strcmp(d->filter->coordinates, mode) == 0;
}

/* ---- numbers ---- */

static hone_status number_at(onnx_reader *r, uint32_t input, uint32_t i, hone_garg *out) {
    const hone_expr *index = hone_extent_int(&r->ir, i);
    hone_garg indices;
    HONE_TRY(onnx_make_ints(r, 1, &index, 1, &indices));
    HONE_TRY(onnx_emit_take(r, r->inputs[input], indices, 0, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_F32, out);
}

/* What a scale makes of the extent, rounded down; below 0 where the scale is none, so that the size
 * is refused. */
static hone_status scaled(onnx_reader *r, const dimension *d, hone_garg *out_count,
                          hone_garg *out_size) {
    enum { TOO_MANY = 40 }; /* bits: nobody has so much memory, and an int64 holds it */
    hone_garg is_scale, is_below, none, refused;
    HONE_TRY(onnx_emit2(r, "multiply", d->scale, d->extent, out_count));
    HONE_TRY(onnx_emit1(r, "floor", *out_count, out_count));
    HONE_TRY(onnx_with_scalar(r, "greater", d->scale, 0, &is_scale));
    HONE_TRY(onnx_with_scalar(r, "less", *out_count, -1, &is_below));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, -1, &none));
    HONE_TRY(onnx_emit_where(r, is_below, *out_count, none, &refused));
    HONE_TRY(onnx_emit_where(r, is_scale, *out_count, refused, out_size));
    HONE_TRY(onnx_with_scalar(r, "minimum", *out_size, ldexp(1, TOO_MANY), out_size));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out_size, -ldexp(1, TOO_MANY), out_size));
    return onnx_emit_cast(r, *out_size, HONE_DTYPE_I64, out_size);
}

/* The size is given, or it is what the scale makes of the extent. */
static hone_status find_size(onnx_reader *r, uint32_t input, bool is_size, uint32_t i,
                             dimension *d) {
    hone_garg count;
    if (is_size) {
        HONE_TRY(onnx_emit_item(r, r->inputs[input], i, &count));
        HONE_TRY(onnx_emit_cast(r, count, HONE_DTYPE_F32, &d->count));
        HONE_TRY(onnx_emit2(r, "divide", d->count, d->extent, &d->scale));
    } else {
        HONE_TRY(number_at(r, input, i, &d->scale));
        HONE_TRY(scaled(r, d, &d->count, &count));
    }
    if (!d->size) HONE_TRY(onnx_emit_given_size(r, count, -1, &d->size));
    HONE_TRY(onnx_indices(r, d->size, 1, 0, &d->at));
    return onnx_emit_cast(r, d->at, HONE_DTYPE_F32, &d->at);
}

/* ---- coordinates: source_of of onnx_resize.c ---- */

/* 0 where there is but one element. */
static hone_status unless_one(onnx_reader *r, const dimension *d, hone_garg source,
                              hone_garg *out) {
    hone_garg is_one, zero;
    HONE_TRY(onnx_with_scalar(r, "equal", d->count, 1, &is_one));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 0, &zero));
    return onnx_emit_where(r, is_one, zero, source, out);
}

static hone_status aligned(onnx_reader *r, const dimension *d, hone_garg *out) {
    hone_garg last, length;
    HONE_TRY(onnx_with_scalar(r, "subtract", d->extent, 1, &last));
    HONE_TRY(onnx_emit2(r, "multiply", d->scale, d->extent, &length));
    HONE_TRY(onnx_with_scalar(r, "subtract", length, 1, &length));
    HONE_TRY(onnx_emit2(r, "multiply", d->at, last, out));
    HONE_TRY(onnx_emit2(r, "divide", *out, length, out));
    return unless_one(r, d, *out, out);
}

/* extent / 2 * (1 - count / length) + source */
static hone_status symmetric(onnx_reader *r, const dimension *d, hone_garg source, hone_garg *out) {
    hone_garg length, half, one;
    HONE_TRY(onnx_emit2(r, "multiply", d->scale, d->extent, &length));
    HONE_TRY(onnx_emit2(r, "divide", d->count, length, &length));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F32, 1, &one));
    HONE_TRY(onnx_emit2(r, "subtract", one, length, &length));
    HONE_TRY(onnx_with_scalar(r, "divide", d->extent, 2, &half));
    HONE_TRY(onnx_emit2(r, "multiply", half, length, &half));
    return onnx_emit2(r, "add", half, source, out);
}

static hone_status source_of(onnx_reader *r, const dimension *d, hone_garg *out) {
    if (is_mode(d, "align_corners")) return aligned(r, d, out);
    if (is_mode(d, "asymmetric")) return onnx_emit2(r, "divide", d->at, d->scale, out);
    HONE_TRY(onnx_with_scalar(r, "add", d->at, 0.5, out));
    HONE_TRY(onnx_emit2(r, "divide", *out, d->scale, out));
    if (is_mode(d, "tf_half_pixel_for_nn")) return HONE_OK;
    HONE_TRY(onnx_with_scalar(r, "subtract", *out, 0.5, out));
    if (is_mode(d, "pytorch_half_pixel")) return unless_one(r, d, *out, out);
    return is_mode(d, "half_pixel_symmetric") ? symmetric(r, d, *out, out) : HONE_OK;
}

/* ---- the nearest element ---- */

/* Halves go up, or down. */
static hone_status rounded(onnx_reader *r, hone_garg x, bool halves_go_up, hone_garg *out) {
    hone_garg low, rest, high;
    HONE_TRY(onnx_emit1(r, "floor", x, &low));
    HONE_TRY(onnx_emit2(r, "subtract", x, low, &rest));
    HONE_TRY(onnx_with_scalar(r, halves_go_up ? "greater_equal" : "greater", rest, 0.5, &rest));
    HONE_TRY(onnx_with_scalar(r, "add", low, 1, &high));
    return onnx_emit_where(r, rest, high, low, out);
}

static hone_status nearest_to(onnx_reader *r, const dimension *d, hone_garg x, hone_garg *out) {
    const char *nearest = d->filter->nearest;
    hone_garg is_less, low, high;
    if (strcmp(nearest, "floor") == 0 || strcmp(nearest, "ceil") == 0) {
        return onnx_emit1(r, nearest, x, out);
    }
    if (strcmp(nearest, "simple") != 0) {
        return rounded(r, x, strcmp(nearest, "round_prefer_ceil") == 0, out);
    }
    HONE_TRY(onnx_with_scalar(r, "less", d->scale, 1, &is_less));
    HONE_TRY(onnx_emit1(r, "ceil", x, &high));
    HONE_TRY(onnx_emit1(r, "trunc", x, &low));
    return onnx_emit_where(r, is_less, high, low, out);
}

/* Held within the data, as int64. */
static hone_status within(onnx_reader *r, const dimension *d, hone_garg index, hone_garg *out) {
    hone_garg last;
    HONE_TRY(onnx_emit_cast(r, d->extent, HONE_DTYPE_I64, &last));
    HONE_TRY(onnx_with_scalar(r, "subtract", last, 1, &last));
    HONE_TRY(onnx_emit_cast(r, index, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_with_scalar(r, "maximum", *out, 0, out));
    return onnx_emit2(r, "minimum", *out, last, out);
}

static hone_status take_nearest(onnx_reader *r, const dimension *d, hone_garg x, int32_t axis,
                                hone_garg *io) {
    hone_garg index;
    HONE_TRY(nearest_to(r, d, x, &index));
    HONE_TRY(within(r, d, index, &index));
    return onnx_emit_take(r, *io, index, axis, io);
}

/* ---- elements that count together ---- */

/* |x| <= 1: ((a + 2) x - (a + 3)) x x + 1; |x| < 2: ((a x - 5 a) x + 8 a) x - 4 a; else 0 */
static hone_status cubic(onnx_reader *r, double a, hone_garg x, hone_garg *out) {
    hone_garg near, far, zero, is_so;
    HONE_TRY(onnx_with_scalar(r, "multiply", x, a + 2, &near));
    HONE_TRY(onnx_with_scalar(r, "subtract", near, a + 3, &near));
    HONE_TRY(onnx_emit2(r, "multiply", near, x, &near));
    HONE_TRY(onnx_emit2(r, "multiply", near, x, &near));
    HONE_TRY(onnx_with_scalar(r, "add", near, 1, &near));
    HONE_TRY(onnx_with_scalar(r, "multiply", x, a, &far));
    HONE_TRY(onnx_with_scalar(r, "subtract", far, 5 * a, &far));
    HONE_TRY(onnx_emit2(r, "multiply", far, x, &far));
    HONE_TRY(onnx_with_scalar(r, "add", far, 8 * a, &far));
    HONE_TRY(onnx_emit2(r, "multiply", far, x, &far));
    HONE_TRY(onnx_with_scalar(r, "subtract", far, 4 * a, &far));
    HONE_TRY(onnx_scalar_like(r, &x, 0, &zero));
    HONE_TRY(onnx_with_scalar(r, "less", x, 2, &is_so));
    HONE_TRY(onnx_emit_where(r, is_so, far, zero, &far));
    HONE_TRY(onnx_with_scalar(r, "less_equal", x, 1, &is_so));
    return onnx_emit_where(r, is_so, near, far, out);
}

/* How much an element counts that is x away. */
static hone_status weight_of(onnx_reader *r, const onnx_filter *f, hone_garg x, hone_garg *out) {
    hone_garg one;
    HONE_TRY(onnx_emit1(r, "abs", x, &x));
    if (f->method == ONNX_CUBIC) return cubic(r, f->cubic_a, x, out);
    HONE_TRY(onnx_scalar_like(r, &x, 1, &one));
    HONE_TRY(onnx_emit2(r, "subtract", one, x, out));
    return onnx_with_scalar(r, "maximum", *out, 0, out);
}

/* Those outside count nothing. */
static hone_status count_inside(onnx_reader *r, hone_garg indices, hone_garg inside,
                                hone_garg *io) {
    hone_garg is_inside, zero;
    HONE_TRY(onnx_emit2(r, "equal", indices, inside, &is_inside));
    HONE_TRY(onnx_scalar_like(r, io, 0, &zero));
    return onnx_emit_where(r, is_inside, *io, zero, io);
}

static hone_status count_to_one(onnx_reader *r, hone_garg *io) {
    hone_garg sum;
    HONE_TRY(onnx_emit_along(r, "sum", *io, 1, &sum));
    return onnx_emit2(r, "divide", *io, sum, io);
}

/* The elements that count, and how much wider than of neighbours the filter is. */
typedef struct window {
    const hone_expr *taps;
    hone_garg half;   /* of the taps: int64 */
    hone_garg spread; /* float64; where nothing is smoothed it is not there */
} window;

/* spread_of and taps_of of onnx_resize.c */
static hone_status find_window(onnx_reader *r, const dimension *d, window *w) {
    int64_t reach = d->filter->method == ONNX_CUBIC ? 2 : 1;
    hone_garg one, taps;
    w->taps = hone_extent_int(&r->ir, 2 * reach);
    if (!d->filter->is_smoothed) return onnx_scalar(r, HONE_DTYPE_I64, (double)reach, &w->half);
    HONE_TRY(onnx_emit_cast(r, d->scale, HONE_DTYPE_F64, &w->spread));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F64, 1, &one));
    HONE_TRY(onnx_emit2(r, "divide", one, w->spread, &w->spread));
    HONE_TRY(onnx_with_scalar(r, "maximum", w->spread, 1, &w->spread));
    HONE_TRY(onnx_with_scalar(r, "multiply", w->spread, (double)reach, &w->half));
    HONE_TRY(onnx_emit1(r, "ceil", w->half, &w->half));
    HONE_TRY(onnx_emit_cast(r, w->half, HONE_DTYPE_I64, &w->half));
    HONE_TRY(onnx_with_scalar(r, "multiply", w->half, 2, &taps));
    return onnx_emit_size(r, taps, -1, &w->taps);
}

/* Rows of the elements around x: floor(x) - taps / 2 + 1, ... */
static hone_status indices_around(onnx_reader *r, hone_garg x, const window *w, hone_garg *out) {
    hone_garg tap;
    HONE_TRY(onnx_indices(r, w->taps, 2, 1, &tap));
    HONE_TRY(onnx_with_scalar(r, "add", tap, 1, &tap));
    HONE_TRY(onnx_emit2(r, "subtract", tap, w->half, &tap));
    HONE_TRY(onnx_emit1(r, "floor", x, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, out));
    return onnx_emit2(r, "add", *out, tap, out);
}

static hone_status resample(onnx_reader *r, const dimension *d, hone_garg x, int32_t axis,
                            hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *column[] = {d->size, hone_extent_int(&r->ir, 1)};
    const onnx_filter *f = d->filter;
    window w;
    hone_garg indices, args[3] = {*io};
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(find_window(r, d, &w));
    HONE_TRY(onnx_emit_reshape(r, x, 2, column, &x));
    HONE_TRY(indices_around(r, x, &w, &indices));
    HONE_TRY(within(r, d, indices, &args[1]));
    HONE_TRY(onnx_emit_cast(r, indices, HONE_DTYPE_F64, &args[2]));
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_F64, &x));
    HONE_TRY(onnx_emit2(r, "subtract", args[2], x, &args[2]));
    if (f->is_smoothed) HONE_TRY(onnx_emit2(r, "divide", args[2], w.spread, &args[2]));
    HONE_TRY(weight_of(r, f, args[2], &args[2]));
    if (f->excludes_outside) HONE_TRY(count_inside(r, indices, args[1], &args[2]));
    if (f->excludes_outside || f->is_smoothed) HONE_TRY(count_to_one(r, &args[2]));
    HONE_TRY(onnx_emit_cast(r, args[2], info->dtype, &args[2]));
    return onnx_emit(r, "resample", 3, args, 1, &attr, io);
}

/* ---- all axes ---- */

static hone_status resize_axis(onnx_reader *r, dimension *d, uint32_t input, bool is_size,
                               uint32_t i, int32_t axis, hone_garg *io) {
    const hone_sinfo *info;
    hone_garg x;
    HONE_TRY(onnx_info(r, io, &info));
    if (d->size && hone_extent_same(d->size, info->shape[axis])) return HONE_OK;
    HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[axis], &d->extent));
    HONE_TRY(onnx_emit_cast(r, d->extent, HONE_DTYPE_F32, &d->extent));
    HONE_TRY(find_size(r, input, is_size, i, d));
    HONE_TRY(source_of(r, d, &x));
    return d->filter->method == ONNX_NEAREST ? take_nearest(r, d, x, axis, io)
                                             : resample(r, d, x, axis, io);
}

hone_status onnx_resize_by_data(onnx_reader *r, const onnx_filter *f, uint32_t input,
                                bool are_sizes, uint32_t count, const int32_t *axes,
                                hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *known[HONE_MAX_RANK] = {NULL};
    HONE_TRY(onnx_input_info(r, input, &info));
    if (info->rank != 1 || !hone_expr_is_int_value(info->shape[0], count)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s (input %u) must be constant, or %u numbers",
                          are_sizes ? "the sizes" : "the scales", input, count);
    }
    if (are_sizes) onnx_known_items(r, &r->inputs[input], count, known);
    for (uint32_t i = 0; i < count; i++) {
        dimension d = {.filter = f, .size = known[i]};
        HONE_TRY(resize_axis(r, &d, input, are_sizes, i, axes[i], io));
    }
    return HONE_OK;
}
