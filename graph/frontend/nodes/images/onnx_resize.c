/* graph/frontend/nodes/images/onnx_resize.c - Resize and Upsample: one dimension after the other is
 * made of numbers that are worked out here: which elements each element of the result comes from,
 * and what each counts.
 *
 * Coordinates are of float32, and take their steps in the order of onnxruntime: which of two
 * elements is the nearest may depend on it. */
#include <math.h>
#include <string.h>

#include "graph/frontend/nodes/images/onnx_resize.h"

enum { MAX_TAPS = 1 << 14 };

typedef struct resizer {
    const hone_sinfo *data;
    onnx_method method;
    const char *coordinates, *nearest;
    double cubic_a, extrapolation;
    bool excludes_outside, is_smoothed;
    uint32_t numbers; /* the input of sizes or scales that are computed; 0 = none */
    uint32_t axis_count;
    int32_t axes[HONE_MAX_RANK];
    bool is_resized[HONE_MAX_RANK];
    int64_t in[HONE_MAX_RANK], out[HONE_MAX_RANK];
    int64_t repeats[HONE_MAX_RANK]; /* each element so often, where the size is not known */
    float scale[HONE_MAX_RANK], first[HONE_MAX_RANK], last[HONE_MAX_RANK]; /* the latter: roi */
} resizer;

/* Which elements along a dimension make each of `count` elements, `taps` for each. */
typedef struct table {
    int64_t count, taps;
    hone_tensor *indices, *weights; /* [count, taps]; without weights: the nearest, [count] */
    hone_tensor *is_inside;         /* NULL = everywhere */
} table;

/* ---- coordinates ---- */

static bool is_mode(const resizer *z, const char *mode) {
    return strcmp(z->coordinates, mode) == 0;
}

/* Index `at` of the result in terms of the data. The length of the result is scale times that of
 * the data, not rounded. */
static float source_of(const resizer *z, int32_t d, float at) {
    float extent = (float)z->in[d], scale = z->scale[d], length = scale * extent;
    if (is_mode(z, "asymmetric")) return at / scale;
    if (is_mode(z, "tf_half_pixel_for_nn")) return (at + 0.5F) / scale;
    if (is_mode(z, "align_corners")) {
        return z->out[d] == 1 ? 0 : at * (extent - 1) / (length - 1);
    }
    if (is_mode(z, "tf_crop_and_resize")) {
        float first = z->first[d], last = z->last[d];
        return z->out[d] > 1
                   ? first * (extent - 1) + (at * (last - first) * (extent - 1)) / (length - 1)
                   : 0.5F * (first + last) * (extent - 1);
    }
    if (is_mode(z, "pytorch_half_pixel") && z->out[d] == 1) return 0;
    float source = (at + 0.5F) / scale - 0.5F;
    if (!is_mode(z, "half_pixel_symmetric")) return source;
    return extent / 2 * (1 - (float)z->out[d] / length) + source;
}

static int64_t within(int64_t index, int64_t extent) {
    return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}

static float nearest_to(const resizer *z, int32_t d, float x) {
    if (strcmp(z->nearest, "floor") == 0) return floorf(x);
    if (strcmp(z->nearest, "ceil") == 0) return ceilf(x);
    if (strcmp(z->nearest, "round") == 0) return rintf(x);
    if (strcmp(z->nearest, "simple") == 0) return z->scale[d] < 1 ? ceilf(x) : truncf(x);
    bool is_half = x == truncf(x) + 0.5F && strcmp(z->nearest, "round_prefer_floor") == 0;
    return is_half ? floorf(x) : roundf(x);
}

/* ---- weights ---- */

static double cubic(double a, double x) {
    x = fabs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double filter_at(const resizer *z, double x) {
    if (z->method == ONNX_CUBIC) return cubic(z->cubic_a, x);
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

/* How much wider than of neighbours the filter is: where many elements become one, and that is to
 * be smooth. */
static double spread_of(const resizer *z, int32_t d) {
    return z->is_smoothed && z->scale[d] < 1 ? 1 / (double)z->scale[d] : 1;
}

static int64_t taps_of(const resizer *z, int32_t d) {
    double reach = (z->method == ONNX_CUBIC ? 2 : 1) * spread_of(z, d);
    return 2 * (int64_t)ceil(reach);
}

/* The elements that count for coordinate x; those outside are the nearest inside, or nothing. */
static void fill_taps(const resizer *z, int32_t d, float x, int64_t row, table *t) {
    double sum = 0, spread = spread_of(z, d);
    int64_t begin = (int64_t)floorf(x) - t->taps / 2 + 1, base = row * t->taps;
    for (int64_t k = 0; k < t->taps; k++) {
        int64_t index = begin + k, inside = within(index, z->in[d]);
        bool counts = index == inside || !z->excludes_outside;
        double weight = counts ? filter_at(z, ((double)index - (double)x) / spread) : 0;
        hone_tensor_set_i64(t->indices, base + k, inside);
        hone_tensor_set_f64(t->weights, base + k, weight);
        sum += weight;
    }
    bool is_sum_kept = !z->is_smoothed && !z->excludes_outside;
    for (int64_t k = 0; !is_sum_kept && sum != 0 && k < t->taps; k++)
        hone_tensor_set_f64(t->weights, base + k, hone_tensor_get_f64(t->weights, base + k) / sum);
}

/* ---- tables ---- */

static void table_deinit(table *t) {
    hone_tensor_destroy(t->indices);
    hone_tensor_destroy(t->weights);
    hone_tensor_destroy(t->is_inside);
}

static hone_status table_init(const resizer *z, int32_t d, hone_dtype dtype, table *t) {
    int64_t shape[2] = {z->out[d], z->method ? taps_of(z, d) : 1};
    int64_t along[HONE_MAX_RANK];
    int32_t behind = z->data->rank - d;
    bool is_cropped = is_mode(z, "tf_crop_and_resize");
    *t = (table){.count = shape[0], .taps = shape[1]};
    if (t->taps > MAX_TAPS) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a scale below 1 / 4096");
    hone_status st = hone_tensor_create(HONE_DTYPE_I32, z->method ? 2 : 1, shape, &t->indices);
    if (!st && z->method) st = hone_tensor_create(dtype, 2, shape, &t->weights);
    for (int32_t i = 0; i < behind; i++)
        along[i] = i ? 1 : t->count;
    if (!st && is_cropped) st = hone_tensor_create(HONE_DTYPE_BOOL, behind, along, &t->is_inside);
    return st;
}

static hone_status make_table(const resizer *z, int32_t d, hone_dtype dtype, table *t) {
    HONE_TRY(table_init(z, d, dtype, t));
    for (int64_t i = 0; i < t->count; i++) {
        float x = source_of(z, d, (float)i);
        if (!(fabsf(x) < 1e9F))
            return HONE_ERROR(HONE_CODE_INVALID, "a coordinate that is no number");
        if (z->method) {
            fill_taps(z, d, x, i, t);
        } else {
            hone_tensor_set_i64(t->indices, i, within((int64_t)nearest_to(z, d, x), z->in[d]));
        }
        bool is_inside = x >= 0 && x <= (float)(z->in[d] - 1);
        if (t->is_inside) hone_tensor_set_i64(t->is_inside, i, is_inside);
    }
    return HONE_OK;
}

/* Hands a tensor of the table to the model. */
static hone_status give(onnx_reader *r, hone_tensor **tensor, hone_garg *out) {
    hone_tensor *given = *tensor;
    *tensor = NULL;
    return onnx_add_constant(r, given, out);
}

/* How often each element stands, one after the other; 0: they lie in another way. */
static int64_t times_each(const resizer *z, int32_t d, const table *t) {
    int64_t times = z->method ? 0 : t->count / z->in[d];
    if (times * z->in[d] != t->count) return 0;
    for (int64_t i = 0; i < t->count; i++)
        if (hone_tensor_get_i64(t->indices, i) != i / times) return 0;
    return times;
}

static hone_status take_indices(onnx_reader *r, const resizer *z, int32_t d, table *t,
                                hone_garg *io) {
    hone_garg args[3] = {*io};
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(d)};
    int64_t times = times_each(z, d, t);
    const hone_attr again[] = {
        {"repeats", HONE_VALUE_OF_INT(times)},
        axis
    };
    if (times > 0) return onnx_emit(r, "repeat", 1, args, 2, again, io);
    HONE_TRY(give(r, &t->indices, &args[1]));
    if (t->weights) HONE_TRY(give(r, &t->weights, &args[2]));
    return onnx_emit(r, z->method ? "resample" : "take", z->method ? 3 : 2, args, 1, &axis, io);
}

static hone_status apply_table(onnx_reader *r, const resizer *z, int32_t d, table *t,
                               hone_garg *io) {
    hone_garg choice[3];
    HONE_TRY(take_indices(r, z, d, t, io));
    if (!t->is_inside) return HONE_OK;
    HONE_TRY(give(r, &t->is_inside, &choice[0]));
    choice[1] = *io;
    HONE_TRY(onnx_scalar_like(r, io, z->extrapolation, &choice[2]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, io);
}

/* ---- what the node says ---- */

static hone_status read_method(onnx_reader *r, resizer *z) {
    static const char *const words[] = {"nearest", "linear", "bilinear", "cubic", NULL};
    static const onnx_method methods[] = {ONNX_NEAREST, ONNX_LINEAR, ONNX_LINEAR, ONNX_CUBIC};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "mode", words[0], words, &word));
    z->method = methods[word];
    return HONE_OK;
}

/* Up to opset 10 there were no other coordinates, and the nearest is that in front, or behind. */
static hone_status read_words(onnx_reader *r, resizer *z) {
    static const char *const coordinates[] = {
        "half_pixel",           "asymmetric",    "pytorch_half_pixel", "half_pixel_symmetric",
        "tf_half_pixel_for_nn", "align_corners", "tf_crop_and_resize", NULL};
    static const char *const standard[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil", NULL};
    static const char *const texts[] = {
        "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "round", NULL};
    const char *const *nearest = r->model ? standard : texts; /* of R.image.resize2d */
    int64_t excludes, smooths;
    uint32_t word;
    HONE_TRY(read_method(r, z));
    z->coordinates = "asymmetric";
    z->nearest = "simple";
    if (r->opset < 11) return HONE_OK;
    HONE_TRY(
        onnx_attr_word(r, "coordinate_transformation_mode", coordinates[0], coordinates, &word));
    z->coordinates = coordinates[word];
    HONE_TRY(onnx_attr_word(r, "nearest_mode", nearest[0], nearest, &word));
    z->nearest = nearest[word];
    HONE_TRY(onnx_attr_float(r, "cubic_coeff_a", -0.75, &z->cubic_a));
    HONE_TRY(onnx_attr_float(r, "extrapolation_value", 0, &z->extrapolation));
    HONE_TRY(onnx_attr_int(r, "exclude_outside", 0, &excludes));
    HONE_TRY(onnx_attr_int(r, "antialias", 0, &smooths));
    z->excludes_outside = excludes != 0;
    z->is_smoothed = smooths != 0;
    return HONE_OK;
}

/* The dimensions that sizes, scales and regions are given for. */
static hone_status read_axes(onnx_reader *r, const resizer *z, int32_t *axes, uint32_t *out_count) {
    int64_t wanted[HONE_MAX_RANK];
    HONE_TRY(onnx_attr_ints(r, "axes", HONE_MAX_RANK, wanted, out_count));
    bool is_all = *out_count == 0;
    if (is_all) *out_count = (uint32_t)z->data->rank;
    for (uint32_t i = 0; i < *out_count; i++)
        HONE_TRY(onnx_axis(r, is_all ? (int64_t)i : wanted[i], z->data->rank, &axes[i]));
    return HONE_OK;
}

static bool is_given(const onnx_reader *r, uint32_t input) {
    const hone_tensor *tensor =
        onnx_has_input(r, input) ? onnx_constant_of(r, &r->inputs[input]) : NULL;
    return onnx_has_input(r, input) && !(tensor && hone_tensor_count(tensor) == 0);
}

/* The numbers of an input; exactly so many. */
static hone_status constant_input(const onnx_reader *r, uint32_t input, const char *what,
                                  uint32_t count, const hone_tensor **out) {
    *out = onnx_constant_of(r, &r->inputs[input]);
    if (!*out)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s (input %u) must be constant", what, input);
    if (hone_tensor_count(*out) == count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s (input %u) has %lld items, must have %u", what, input,
                      (long long)hone_tensor_count(*out), count);
}

static hone_status read_region(onnx_reader *r, const int32_t *axes, uint32_t count, resizer *z) {
    const hone_tensor *roi;
    for (int32_t d = 0; d < z->data->rank; d++)
        z->last[d] = 1;
    if (!is_mode(z, "tf_crop_and_resize")) return HONE_OK;
    if (!is_given(r, 1)) return HONE_ERROR(HONE_CODE_INVALID, "the region (input 1) is missing");
    HONE_TRY(constant_input(r, 1, "the region", 2 * count, &roi));
    for (uint32_t i = 0; i < count; i++) {
        z->first[axes[i]] = (float)hone_tensor_get_f64(roi, i);
        z->last[axes[i]] = (float)hone_tensor_get_f64(roi, count + i);
    }
    return HONE_OK;
}

static hone_status known_extent(resizer *z, int32_t d) {
    z->in[d] = hone_expr_const(z->data->shape[d]);
    if (z->in[d] >= 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "dimension %d is resized and its size not known; give it with --shape", d);
}

/* Is each element there `scale` times, however many there are? */
static bool is_repeated(const resizer *z, float scale) {
    bool is_round = strncmp(z->nearest, "round_", 6) == 0;
    bool is_floor = strcmp(z->nearest, "floor") == 0 || strcmp(z->nearest, "simple") == 0;
    bool is_centred = is_mode(z, "half_pixel") || is_mode(z, "half_pixel_symmetric") ||
                      is_mode(z, "pytorch_half_pixel");
    bool is_left = is_mode(z, "asymmetric") || is_mode(z, "tf_half_pixel_for_nn");
    bool is_number = scale == floorf(scale) && scale < 1024;
    return !z->method && is_number && ((is_centred && is_round) || (is_left && is_floor));
}

static hone_status set_scale(resizer *z, int32_t d, float scale) {
    bool is_whole = z->first[d] == 0 && z->last[d] == 1;
    if (!(scale > 0)) return HONE_ERROR(HONE_CODE_INVALID, "a scale of %g", (double)scale);
    if (scale == 1 && is_whole) return HONE_OK;
    if (hone_expr_const(z->data->shape[d]) < 0 && is_repeated(z, scale)) {
        z->repeats[d] = (int64_t)scale;
        return HONE_OK;
    }
    HONE_TRY(known_extent(z, d));
    z->is_resized[d] = z->in[d] > 0; /* nothing stays nothing */
    z->scale[d] = scale;
    float length = floorf(scale * (float)z->in[d]);
    if (!(length >= 0 && length < 0x1p31F)) {
        return HONE_ERROR(HONE_CODE_INVALID, "scale %g makes %g of %lld", (double)scale,
                          (double)length, (long long)z->in[d]);
    }
    z->out[d] = (int64_t)length;
    return HONE_OK;
}

/* Scales as an attribute (up to opset 8) or an input. */
static hone_status read_scales(onnx_reader *r, uint32_t input, const int32_t *axes, uint32_t count,
                               resizer *z) {
    const Onnx__AttributeProto *attr = onnx_attr(r, "scales");
    const hone_tensor *scales = NULL;
    if (!attr) {
        HONE_TRY(constant_input(r, input, "the scales", count, &scales));
    } else if (attr->n_floats != count) {
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'scales' has %zu numbers, must have %u",
                          attr->n_floats, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        float scale = attr ? attr->floats[i] : (float)hone_tensor_get_f64(scales, i);
        HONE_TRY(set_scale(z, axes[i], scale));
    }
    return HONE_OK;
}

static hone_status set_size(resizer *z, int32_t d, const hone_expr *size) {
    bool is_whole = z->first[d] == 0 && z->last[d] == 1;
    if (is_whole && hone_extent_same(size, z->data->shape[d])) return HONE_OK;
    HONE_TRY(known_extent(z, d));
    z->out[d] = hone_expr_const(size);
    if (!hone_expr_is_int(size)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the size of dimension %d is not known; give it "
                          "with --shape",
                          d);
    }
    if (z->in[d] == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "dimension %d has no elements to make %lld of", d,
                          (long long)z->out[d]);
    }
    if (z->out[d] < 1 || z->out[d] > INT32_MAX) {
        return HONE_ERROR(HONE_CODE_INVALID, "a size of %lld", (long long)z->out[d]);
    }
    z->is_resized[d] = true;
    z->scale[d] = (float)z->out[d] / (float)z->in[d];
    return HONE_OK;
}

/* One scale for all dimensions: the least or the greatest that the sizes ask for. */
static hone_status keep_ratio(onnx_reader *r, const int32_t *axes, uint32_t count, resizer *z) {
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    uint32_t policy;
    HONE_TRY(onnx_attr_word(r, "keep_aspect_ratio_policy", policies[0], policies, &policy));
    if (policy == 0) return HONE_OK;
    bool is_least = policy == 1;
    float chosen = z->is_resized[axes[0]] ? z->scale[axes[0]] : 1;
    for (uint32_t i = 1; i < count; i++) {
        float scale = z->is_resized[axes[i]] ? z->scale[axes[i]] : 1;
        chosen = (scale < chosen) == is_least ? scale : chosen;
    }
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(known_extent(z, axes[i]));
        z->is_resized[axes[i]] = true;
        z->scale[axes[i]] = chosen;
        z->out[axes[i]] = (int64_t)roundf(chosen * (float)z->in[axes[i]]);
        if (z->out[axes[i]] < 1) return HONE_ERROR(HONE_CODE_INVALID, "a size of 0");
    }
    return HONE_OK;
}

static hone_status read_sizes(onnx_reader *r, const int32_t *axes, uint32_t count, resizer *z) {
    const hone_expr *sizes[ONNX_MAX_KNOWN];
    uint32_t given;
    int32_t rank;
    if (!onnx_known_ints(r, &r->inputs[3], &given, sizes, &rank)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "the sizes (input 3) must be constant");
    }
    if (given != count) {
        return HONE_ERROR(HONE_CODE_INVALID, "the sizes (input 3) have %u items, must have %u",
                          given, count);
    }
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(set_size(z, axes[i], sizes[i]));
    return keep_ratio(r, axes, count, z);
}

/* ---- converters ---- */

static hone_status resize_dimension(onnx_reader *r, const resizer *z, int32_t d, hone_garg *io) {
    const hone_sinfo *info;
    table t;
    HONE_TRY(onnx_info(r, io, &info));
    hone_status st = make_table(z, d, info->dtype, &t);
    if (!st) st = apply_table(r, z, d, &t, io);
    table_deinit(&t);
    return st;
}

static hone_status repeat(onnx_reader *r, int64_t times, int32_t d, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *apart[HONE_MAX_RANK + 1], *wide[HONE_MAX_RANK + 1];
    hone_garg args[2];
    HONE_TRY(onnx_info(r, io, &info));
    uint32_t rank = (uint32_t)info->rank;
    if (rank == HONE_MAX_RANK) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "too many dimensions");
    for (uint32_t i = 0; i <= rank; i++) {
        bool is_new = i == (uint32_t)d + 1;
        apart[i] = is_new ? hone_extent_int(&r->ir, 1) : info->shape[i > (uint32_t)d ? i - 1 : i];
        wide[i] = is_new ? hone_extent_int(&r->ir, times) : apart[i];
    }
    HONE_TRY(onnx_emit_reshape(r, *io, rank + 1, apart, &args[0]));
    HONE_TRY(onnx_make_ints(r, rank + 1, wide, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, io));
    memcpy(apart, info->shape, rank * sizeof *apart);
    apart[d] = hone_extent_mul(&r->ir, info->shape[d], hone_extent_int(&r->ir, times));
    return onnx_emit_reshape(r, *io, rank, apart, io);
}

static hone_status resize_by_data(onnx_reader *r, const resizer *z, hone_garg *io) {
    const onnx_filter filter = {z->method,  z->coordinates,      z->nearest,
                                z->cubic_a, z->excludes_outside, z->is_smoothed};
    const Onnx__AttributeProto *policy = onnx_attr(r, "keep_aspect_ratio_policy");
    char word[64];
    HONE_TRY(onnx_attr_text(r, "keep_aspect_ratio_policy", "stretch", word));
    bool is_plain = !policy || strcmp(word, "stretch") == 0;
    if (!is_plain || is_mode(z, "tf_crop_and_resize")) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "sizes or scales (input %u) must be constant for these attributes",
                          z->numbers);
    }
    return onnx_resize_by_data(r, &filter, z->numbers, z->numbers == 3, z->axis_count, z->axes, io);
}

/* Back to whole numbers, held in their type. The standard does not say how: between neighbours
 * fractions are dropped, as onnxruntime does; else the nearest is taken. */
static hone_status make_whole(onnx_reader *r, const resizer *z, hone_dtype dtype, hone_garg *io) {
    bool is_cut = z->method == ONNX_LINEAR && !z->is_smoothed;
    if (is_cut) HONE_TRY(onnx_emit(r, "trunc", 1, io, 0, NULL, io));
    return onnx_emit_saturated(r, *io, dtype, io);
}

/* What interpolates is of float32, or float64. */
static hone_status resize(onnx_reader *r, const resizer *z, hone_garg *out) {
    hone_dtype dtype = z->data->dtype;
    bool is_number = hone_dtype_is_float(dtype), is_wide = dtype.bits > 32;
    *out = r->inputs[0];
    HONE_TRY(onnx_as_tensor(r, out));
    if (z->method) {
        HONE_TRY(onnx_emit_cast(r, *out, is_wide ? HONE_DTYPE_F64 : HONE_DTYPE_F32, out));
    }
    if (z->numbers) HONE_TRY(resize_by_data(r, z, out));
    for (int32_t d = 0; d < z->data->rank; d++) {
        if (z->repeats[d]) HONE_TRY(repeat(r, z->repeats[d], d, out));
        if (z->is_resized[d]) HONE_TRY(resize_dimension(r, z, d, out));
    }
    if (is_number || !z->method) return onnx_emit_cast(r, *out, dtype, out);
    return make_whole(r, z, dtype, out);
}

/* Are these numbers known only when the model runs? */
static bool is_computed(onnx_reader *r, uint32_t input) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    return is_given(r, input) && !onnx_constant_of(r, &r->inputs[input]) &&
           !onnx_known_ints(r, &r->inputs[input], &count, known, &rank);
}

static hone_status convert_resize(onnx_reader *r, hone_garg *out) {
    uint32_t scales = r->opset < 11 ? 1 : 2;
    resizer z = {0};
    HONE_TRY(onnx_input_info(r, 0, &z.data));
    HONE_TRY(read_words(r, &z));
    HONE_TRY(read_axes(r, &z, z.axes, &z.axis_count));
    HONE_TRY(read_region(r, z.axes, z.axis_count, &z));
    bool has_sizes = r->opset >= 11 && is_given(r, 3);
    if (has_sizes == (is_given(r, scales) || onnx_attr(r, "scales"))) {
        return HONE_ERROR(HONE_CODE_INVALID, "wants scales or sizes");
    }
    uint32_t input = has_sizes ? 3 : scales;
    if (is_computed(r, input)) {
        z.numbers = input;
        return resize(r, &z, out);
    }
    hone_status st = has_sizes ? read_sizes(r, z.axes, z.axis_count, &z)
                               : read_scales(r, scales, z.axes, z.axis_count, &z);
    if (hone_status_code(st) == HONE_CODE_UNSUPPORTED && is_given(r, input)) {
        hone_status_free(st); /* an extent is not known */
        memset(z.is_resized, 0, sizeof z.is_resized);
        memset(z.repeats, 0, sizeof z.repeats);
        z.numbers = input;
        st = HONE_OK;
    }
    return st ? st : resize(r, &z, out);
}

const onnx_converter onnx_resize_converters[] = {
    {"Resize", convert_resize, 1, 4, 1,
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
     "extrapolation_value keep_aspect_ratio_policy mode nearest_mode", NULL},
    {"Upsample",       convert_resize, 1, 2, 1, "mode scales", NULL},
    {0      },
};
