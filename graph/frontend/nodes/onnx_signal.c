/* graph/frontend/nodes/onnx_signal.c - Fourier transforms, as products with matrices of cosines and
 * sines, and what is made of numbers alone: windows and weights of mel bands. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

enum { MAX_NUMBERS = 1 << 24 }; /* of a matrix */

static const double pi = 3.14159265358979323846;

/* A transform along one dimension: `in` elements of `parts` (real, or real and imaginary) become
 * `out` of 2; from_half: of 1, whose spectrum is of real numbers and given to its middle. */
typedef struct transform {
    int64_t length, in, parts, out, out_parts;
    bool is_inverse, from_half;
    const hone_tensor *window; /* or NULL: by which what comes in is multiplied */
} transform;

/* What part p of element t counts in part q of element k. */
static double coefficient(const transform *f, int64_t t, int64_t p, int64_t k, int64_t q) {
    double angle = 2 * pi * (double)(t * k % f->length) / (double)f->length;
    double sign = f->is_inverse ? -1 : 1, scale = f->is_inverse ? 1 / (double)f->length : 1;
    if (f->window) scale *= hone_tensor_get_f64(f->window, t);
    if (f->from_half) {
        bool is_end = t == 0 || 2 * t == f->length;
        return scale * (is_end ? 1 : 2) * (p ? (is_end ? 0 : -sin(angle)) : cos(angle));
    }
    if (p == q) return scale * cos(angle);
    return scale * sign * (p ? sin(angle) : -sin(angle));
}

static hone_status make_matrix(onnx_reader *r, const transform *f, hone_dtype dtype,
                               hone_garg *out) {
    int64_t shape[] = {f->in, f->parts, f->out, f->out_parts}, at = 0;
    hone_tensor *m;
    if (f->in * f->out > MAX_NUMBERS / (f->parts * f->out_parts)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a transform of %lld elements is too long",
                          (long long)f->length);
    }
    HONE_TRY(hone_tensor_create(dtype, 4, shape, &m));
    for (int64_t t = 0; t < f->in; t++) {
        for (int64_t p = 0; p < f->parts; p++) {
            for (int64_t k = 0; k < f->out; k++) {
                for (int64_t q = 0; q < f->out_parts; q++)
                    hone_tensor_set_f64(m, at++, coefficient(f, t, p, k, q));
            }
        }
    }
    return onnx_add_constant(r, m, out);
}

/* ---- of a length that a run tells ---- */

/* Sizes of a transform whose `in` or length is open. */
typedef struct open_sizes {
    const hone_expr *in, *out, *length;
    bool is_cut; /* elements of `in` may be too many, or the length may be larger */
} open_sizes;

/* Cosines and sines of 2 pi t k / length, [in, out], as float64; the product of t and k is taken
 * within one turn first. */
static hone_status emit_waves(onnx_reader *r, const open_sizes *n, hone_garg *cosines,
                              hone_garg *sines, hone_garg *t, hone_garg *length) {
    hone_garg k, angle, turn;
    HONE_TRY(onnx_indices(r, n->in, 2, 0, t));
    HONE_TRY(onnx_indices(r, n->out, 2, 1, &k));
    HONE_TRY(onnx_sizes_tensor(r, 1, &n->length, length));
    HONE_TRY(onnx_with_scalar(r, "maximum", *length, 1, length)); /* of nothing: divides nothing */
    HONE_TRY(onnx_emit2(r, "multiply", *t, k, &angle));
    HONE_TRY(onnx_emit2(r, "floor_mod", angle, *length, &angle));
    HONE_TRY(onnx_emit_cast(r, angle, HONE_DTYPE_F64, &angle));
    HONE_TRY(onnx_emit_cast(r, *length, HONE_DTYPE_F64, &turn));
    HONE_TRY(onnx_with_scalar(r, "multiply", angle, 2 * pi, &angle));
    HONE_TRY(onnx_emit2(r, "divide", angle, turn, &angle));
    HONE_TRY(onnx_emit1(r, "cos", angle, cosines));
    return onnx_emit1(r, "sin", angle, sines);
}

/* What all coefficients of an element are multiplied by, [in, 1]: nothing of what is cut off; twice
 * where a half stands for both, but at its ends, whose imaginary parts count nothing. */
static hone_status emit_factors(onnx_reader *r, const transform *f, const open_sizes *n,
                                hone_garg t, hone_garg length, hone_garg *real,
                                hone_garg *imaginary) {
    hone_garg is_end, is_middle, twice, number;
    HONE_TRY(onnx_emit_cast(r, length, HONE_DTYPE_F64, &number));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_F64, 1, real));
    if (f->is_inverse) HONE_TRY(onnx_emit2(r, "divide", *real, number, real));
    if (n->is_cut) {
        hone_garg is_inside, limit = length;
        if (f->from_half) {
            HONE_TRY(onnx_with_scalar(r, "floor_divide", length, 2, &limit));
            HONE_TRY(onnx_with_scalar(r, "add", limit, 1, &limit));
        }
        HONE_TRY(onnx_emit2(r, "less", t, limit, &is_inside));
        HONE_TRY(onnx_emit_cast(r, is_inside, HONE_DTYPE_F64, &is_inside));
        HONE_TRY(onnx_emit2(r, "multiply", *real, is_inside, real));
    }
    *imaginary = *real;
    if (!f->from_half) return HONE_OK;
    HONE_TRY(onnx_with_scalar(r, "multiply", t, 2, &twice));
    HONE_TRY(onnx_emit2(r, "floor_mod", twice, length, &is_end)); /* 0, or a whole turn */
    HONE_TRY(onnx_with_scalar(r, "not_equal", is_end, 0, &is_middle));
    HONE_TRY(onnx_emit_cast(r, is_middle, HONE_DTYPE_F64, &is_middle));
    HONE_TRY(onnx_emit2(r, "multiply", *real, is_middle, imaginary));
    HONE_TRY(onnx_emit2(r, "add", *real, *imaginary, real));
    return onnx_with_scalar(r, "multiply", *imaginary, 2, imaginary);
}

/* [in, out] as [in, 1, out, 1]. */
static hone_status as_part(onnx_reader *r, const open_sizes *n, hone_garg *io) {
    const hone_expr *one = hone_extent_int(&r->ir, 1);
    const hone_expr *shape[] = {n->in, one, n->out, one};
    return onnx_emit_reshape(r, *io, 4, shape, io);
}

/* make_matrix of open sizes: what part p counts in part q is next to each other. */
static hone_status emit_matrix(onnx_reader *r, const transform *f, const open_sizes *n,
                               hone_dtype dtype, hone_garg *out) {
    hone_garg c, s, minus, t, length, real, imaginary;
    const double sign = f->is_inverse ? -1 : 1;
    HONE_TRY(emit_waves(r, n, &c, &s, &t, &length));
    HONE_TRY(emit_factors(r, f, n, t, length, &real, &imaginary));
    HONE_TRY(onnx_emit2(r, "multiply", c, real, &c));
    HONE_TRY(onnx_emit2(r, "multiply", s, imaginary, &s));
    HONE_TRY(onnx_with_scalar(r, "multiply", s, sign, &s));
    HONE_TRY(onnx_with_scalar(r, "multiply", s, -1, &minus));
    HONE_TRY(as_part(r, n, &c));
    HONE_TRY(as_part(r, n, &s));
    HONE_TRY(as_part(r, n, &minus));
    hone_garg first[] = {c, minus}, second[] = {s, c}, rows[2] = {c, s};
    if (!f->from_half) {
        HONE_TRY(onnx_emit_concat(r, 2, first, 3, &rows[0]));
        HONE_TRY(onnx_emit_concat(r, 2, second, 3, &rows[1]));
    }
    *out = rows[0];
    if (f->parts == 2) HONE_TRY(onnx_emit_concat(r, 2, rows, 1, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* ---- products ---- */

/* x, whose dimension `axis` is transformed and whose last one are the parts, by a matrix. */
static hone_status emit_product(onnx_reader *r, hone_garg matrix, hone_garg x, int32_t rank,
                                int32_t axis, hone_garg *out) {
    char equation[4 * HONE_MAX_RANK + 8], *at = equation;
    hone_garg *operands = hone_arena_zalloc(r->arena, 2 * sizeof *operands);
    if (!operands) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    operands[0] = x;
    operands[1] = matrix;
    for (int side = 0; side < 2; side++) {
        for (int32_t d = 0; d + 1 < rank; d++)
            *at++ = (char)(d == axis ? (side ? 'K' : 'T') : 'a' + d);
        *at++ = side ? 'Q' : 'P';
        if (side) break;
        memcpy(at, ",TPKQ->", 7);
        at += 7;
    }
    *at = 0;
    hone_garg tuple = {.kind = HONE_GARG_TUPLE, .count = 2, .u.items = operands};
    hone_attr attr = {"subscripts", onnx_text_value(r, equation)};
    return onnx_emit(r, "einsum", 1, &tuple, 1, &attr, out);
}

static hone_status emit_transform(onnx_reader *r, const transform *f, hone_garg x, int32_t rank,
                                  int32_t axis, hone_dtype dtype, hone_garg *out) {
    hone_garg matrix;
    HONE_TRY(make_matrix(r, f, dtype, &matrix));
    return emit_product(r, matrix, x, rank, axis, out);
}

/* ---- DFT ---- */

static hone_status one_int(onnx_reader *r, uint32_t input, const char *what, int64_t *out) {
    uint32_t count;
    int64_t numbers[1];
    HONE_TRY(onnx_const_ints(r, input, what, 1, numbers, &count));
    if (count != 1) return HONE_ERROR(HONE_CODE_INVALID, "%s (input %u) is no number", what, input);
    *out = numbers[0];
    return HONE_OK;
}

/* An attribute up to opset 19, an input since. */
static hone_status transformed_axis(onnx_reader *r, int32_t rank, int32_t *out) {
    int64_t axis = -2;
    if (r->opset < 20) HONE_TRY(onnx_attr_int(r, "axis", 1, &axis));
    if (onnx_has_input(r, 2)) HONE_TRY(one_int(r, 2, "the axis", &axis));
    HONE_TRY(onnx_axis(r, axis, rank, out));
    if (*out < rank - 1) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the axis is that of real and imaginary parts");
}

static hone_status check_parts(const hone_sinfo *data, int32_t least_rank, int64_t *out_parts) {
    *out_parts = data->rank < least_rank ? -1 : hone_expr_const(data->shape[data->rank - 1]);
    if (*out_parts == 1 || *out_parts == 2) return HONE_OK;
    if (*out_parts < 0 && data->rank >= least_rank) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the size of dimension %d is not known; give it with --shape",
                          data->rank - 1);
    }
    return HONE_ERROR(HONE_CODE_INVALID, "the last dimension must hold real, or real and imaginary "
                                         "parts");
}

/* Of an axis whose extent a run tells; a length that is given is a number. */
static hone_status open_dft(onnx_reader *r, transform *f, bool is_half, hone_garg x, int32_t axis,
                            hone_garg *out) {
    const hone_sinfo *data;
    hone_garg matrix;
    HONE_TRY(onnx_info(r, &x, &data));
    open_sizes n = {.in = data->shape[axis], .length = data->shape[axis]};
    if (f->from_half) {
        n.length =
            hone_extent_mul(&r->ir, hone_extent_int(&r->ir, 2), hone_extent_add(&r->ir, n.in, -1));
    }
    if (onnx_has_input(r, 1)) {
        HONE_TRY(one_int(r, 1, "the length", &f->length));
        if (f->length < 1 || f->length > MAX_NUMBERS)
            return HONE_ERROR(HONE_CODE_INVALID, "a transform of %lld elements",
                              (long long)f->length);
        n.length = hone_extent_int(&r->ir, f->length);
        n.is_cut = true;
    }
    n.out = n.length;
    if (is_half) {
        n.out = hone_expr_binary(&r->ir, HONE_OP_FLOORDIV, n.length, hone_extent_int(&r->ir, 2));
        n.out = hone_extent_add(&r->ir, n.out, 1);
    }
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(emit_matrix(r, f, &n, data->dtype, &matrix));
    return emit_product(r, matrix, x, data->rank, axis, out);
}

static hone_status convert_dft(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t inverse, onesided;
    int32_t axis;
    transform f = {.out_parts = 2};
    hone_garg x = r->inputs[0];
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(check_parts(data, 2, &f.parts));
    HONE_TRY(onnx_attr_int(r, "inverse", 0, &inverse));
    HONE_TRY(onnx_attr_int(r, "onesided", 0, &onesided));
    HONE_TRY(transformed_axis(r, data->rank, &axis));
    int64_t extent = hone_expr_const(data->shape[axis]);
    f.is_inverse = inverse != 0;
    f.from_half = inverse && onesided;
    f.out_parts = f.from_half ? 1 : 2;
    if (extent < 0) return open_dft(r, &f, onesided && !inverse, x, axis, out);
    f.length = f.from_half ? 2 * (extent - 1) : extent;
    if (onnx_has_input(r, 1)) HONE_TRY(one_int(r, 1, "the length", &f.length));
    if (f.length < 1 || f.length > MAX_NUMBERS) {
        return HONE_ERROR(HONE_CODE_INVALID, "a transform of %lld elements", (long long)f.length);
    }
    f.in = f.from_half ? f.length / 2 + 1 : f.length;
    f.out = onesided && !inverse ? f.length / 2 + 1 : f.length;
    if (f.in < extent) HONE_TRY(onnx_emit_slice(r, x, axis, 0, f.in, &x));
    if (f.in > extent) f.in = extent; /* zeros behind it count nothing */
    return emit_transform(r, &f, x, data->rank, axis, data->dtype, out);
}

/* ---- STFT ---- */

/* The signal as [batch, elements, parts]. */
static hone_status signal_of(onnx_reader *r, hone_garg *out, const hone_sinfo **out_info) {
    const hone_sinfo *data;
    *out = r->inputs[0];
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank == 2) {
        const hone_expr *shape[] = {data->shape[0], data->shape[1], hone_extent_int(&r->ir, 1)};
        HONE_TRY(onnx_emit_reshape(r, *out, 3, shape, out));
    }
    HONE_TRY(onnx_info(r, out, out_info));
    if ((*out_info)->rank == 3 && hone_expr_const((*out_info)->shape[1]) > 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a signal of unknown length; give it with --shape");
}

/* [batch, frames, length, parts] */
static hone_status cut_frames(onnx_reader *r, hone_garg signal, int64_t count, int64_t step,
                              int64_t length, hone_garg *out) {
    int64_t shape[] = {count, length};
    hone_tensor *indices;
    hone_garg at;
    if (count > MAX_NUMBERS / length) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "too many frames");
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I32, 2, shape, &indices));
    for (int64_t i = 0; i < count * length; i++)
        hone_tensor_set_i64(indices, i, i / length * step + i % length);
    HONE_TRY(onnx_add_constant(r, indices, &at));
    return onnx_emit_take(r, signal, at, 1, out);
}

/* A window that is not known is multiplied with the frames. */
static hone_status apply_window(onnx_reader *r, int64_t length, hone_garg *io) {
    const hone_expr *shape[] = {hone_extent_int(&r->ir, length), hone_extent_int(&r->ir, 1)};
    hone_garg window;
    HONE_TRY(onnx_emit_reshape(r, r->inputs[2], 2, shape, &window));
    return onnx_emit2(r, "multiply", *io, window, io);
}

static hone_status frame_length(onnx_reader *r, int64_t extent, int64_t *out) {
    const hone_sinfo *window;
    *out = extent;
    if (onnx_has_input(r, 2)) {
        HONE_TRY(onnx_input_info(r, 2, &window));
        if (window->rank == 1 && hone_expr_const(window->shape[0]) < 0) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "the size of dimension 0 is not known; give it with --shape");
        }
        *out = window->rank == 1 ? hone_expr_const(window->shape[0]) : 0;
    }
    int64_t wanted = *out;
    if (onnx_has_input(r, 3)) HONE_TRY(one_int(r, 3, "the length of a frame", out));
    bool fits = *out >= 1 && *out <= extent && (*out == wanted || !onnx_has_input(r, 2));
    return fits ? HONE_OK
                : HONE_ERROR(HONE_CODE_INVALID,
                             "frames of %lld elements do not fit window "
                             "and signal",
                             (long long)*out);
}

static hone_status convert_stft(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg x;
    int64_t step, onesided;
    transform f = {.out_parts = 2};
    HONE_TRY(signal_of(r, &x, &data));
    HONE_TRY(check_parts(data, 3, &f.parts));
    HONE_TRY(onnx_attr_int(r, "onesided", 1, &onesided));
    HONE_TRY(one_int(r, 1, "the step between frames", &step));
    int64_t extent = hone_expr_const(data->shape[1]);
    HONE_TRY(frame_length(r, extent, &f.length));
    if (step < 1) return HONE_ERROR(HONE_CODE_INVALID, "a step of %lld", (long long)step);
    f.in = f.length;
    f.out = onesided ? f.length / 2 + 1 : f.length;
    if (onnx_has_input(r, 2)) f.window = onnx_constant_of(r, &r->inputs[2]);
    HONE_TRY(cut_frames(r, x, 1 + (extent - f.length) / step, step, f.length, &x));
    if (onnx_has_input(r, 2) && !f.window) HONE_TRY(apply_window(r, f.length, &x));
    return emit_transform(r, &f, x, 4, 2, data->dtype, out);
}

/* ---- windows ---- */

static hone_status output_dtype(onnx_reader *r, hone_dtype *out) {
    int64_t type;
    HONE_TRY(onnx_attr_int(r, "output_datatype", 1, &type));
    return onnx_dtype(type < 0 || type > INT32_MAX ? -1 : (int32_t)type, out);
}

/* The sum of cosines that a window is: of the angle 0, once and twice. */
static const struct {
    const char *op;
    double terms[3];
} windows[] = {
    {"HannWindow",     {0.5, -0.5, 0}            },
    {"HammingWindow",  {25.0 / 46, -21.0 / 46, 0}},
    {"BlackmanWindow", {0.42, -0.5, 0.08}        },
};

static hone_status convert_window(onnx_reader *r, hone_garg *out) {
    int64_t size, periodic;
    size_t which = 0;
    hone_dtype dtype;
    hone_tensor *tensor;
    HONE_TRY(one_int(r, 0, "the size", &size));
    HONE_TRY(onnx_attr_int(r, "periodic", 1, &periodic));
    HONE_TRY(output_dtype(r, &dtype));
    if (size < 1 || size > MAX_NUMBERS) {
        return HONE_ERROR(size == 0 ? HONE_CODE_UNSUPPORTED : HONE_CODE_INVALID,
                          "a window of %lld elements", (long long)size);
    }
    while (strcmp(windows[which].op, r->node->op_type) != 0)
        which++;
    HONE_TRY(hone_tensor_create(dtype, 1, &size, &tensor));
    const double *terms = windows[which].terms;
    for (int64_t i = 0; i < size; i++) {
        double angle = 2 * pi * (double)i / (double)(periodic ? size : size - 1);
        hone_tensor_set_f64(tensor, i,
                            terms[0] + terms[1] * cos(angle) + terms[2] * cos(2 * angle));
    }
    return onnx_add_constant(r, tensor, out);
}

/* ---- mel bands ---- */

static hone_status one_float(onnx_reader *r, uint32_t input, const char *what, double *out) {
    const hone_tensor *tensor = onnx_constant_of(r, &r->inputs[input]);
    if (!tensor)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s (input %u) must be constant", what, input);
    if (hone_tensor_count(tensor) != 1)
        return HONE_ERROR(HONE_CODE_INVALID, "%s (input %u) is no number", what, input);
    *out = hone_tensor_get_f64(tensor, 0);
    return HONE_OK;
}

static double mel_of(double hertz) {
    return 2595 * log10(1 + hertz / 700);
}

/* The bins where bands begin, have their middle, and end: that of one is the begin of the next. */
static int64_t edge_bin(int64_t i, int64_t bands, int64_t length, int64_t rate, double low,
                        double high) {
    double step = (mel_of(high) - mel_of(low)) / (double)(bands + 2);
    double hertz = 700 * (pow(10, (mel_of(low) + (double)i * step) / 2595) - 1);
    return (int64_t)floor((double)(length + 1) * hertz / (double)rate);
}

/* A triangle over the bins from begin to end, which counts no more. */
static void fill_band(hone_tensor *m, int64_t band, int64_t begin, int64_t middle, int64_t end) {
    int64_t bins = m->shape[0], bands = m->shape[1];
    for (int64_t j = begin < 0 ? 0 : begin; j < bins && (j < end || j <= middle); j++) {
        bool is_down = j >= middle && end > middle;
        double value = middle == begin ? 1 : (double)(j - begin) / (double)(middle - begin);
        if (is_down) value = (double)(end - j) / (double)(end - middle);
        hone_tensor_set_f64(m, j * bands + band, value);
    }
}

static hone_status convert_mel_matrix(onnx_reader *r, hone_garg *out) {
    int64_t bands, length, rate;
    double low, high;
    hone_dtype dtype;
    hone_tensor *m;
    HONE_TRY(one_int(r, 0, "the number of bands", &bands));
    HONE_TRY(one_int(r, 1, "the length of the transform", &length));
    HONE_TRY(one_int(r, 2, "the rate", &rate));
    HONE_TRY(one_float(r, 3, "the lower edge", &low));
    HONE_TRY(one_float(r, 4, "the upper edge", &high));
    HONE_TRY(output_dtype(r, &dtype));
    if (bands < 1 || length < 1 || rate < 1 || low < 0 || !(high >= low) ||
        bands > MAX_NUMBERS / (length / 2 + 1)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%lld bands of %lld elements at a rate of %lld",
                          (long long)bands, (long long)length, (long long)rate);
    }
    int64_t shape[] = {length / 2 + 1, bands};
    HONE_TRY(hone_tensor_create(dtype, 2, shape, &m));
    for (int64_t i = 0; i < bands; i++) {
        fill_band(m, i, edge_bin(i, bands, length, rate, low, high),
                  edge_bin(i + 1, bands, length, rate, low, high),
                  edge_bin(i + 2, bands, length, rate, low, high));
    }
    return onnx_add_constant(r, m, out);
}

#define WINDOW_ATTRS "output_datatype periodic"

const onnx_converter onnx_signal_converters[] = {
    {"DFT",  convert_dft, 1, 3, 1, "axis inverse onesided", NULL},
    {"STFT",     convert_stft, 2, 4, 1, "onesided", NULL},
    {"HannWindow",     convert_window, 1, 1, 1, WINDOW_ATTRS, NULL},
    {"HammingWindow",  convert_window, 1, 1, 1, WINDOW_ATTRS, NULL},
    {"BlackmanWindow", convert_window, 1, 1, 1, WINDOW_ATTRS, NULL},
    {"MelWeightMatrix",     convert_mel_matrix, 5, 5, 1, "output_datatype", NULL},
    {0    },
};
