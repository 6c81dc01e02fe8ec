/* graph/frontend/nodes/learned/onnx_learned.c - the domain ai.onnx.ml, as exporters of scikit-learn
 * write it: features scaled, encoded and filled in, linear models. Sums are of float32. */
#include "graph/frontend/nodes/learned/onnx_learned.h"

#include <stdio.h>

/* ---- attributes and tables ---- */

/* Floats of an attribute; none when it is absent. */
static hone_status attr_floats(const onnx_reader *r, const char *name, const float **out,
                               uint32_t *out_count) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    if (attr && attr->n_floats > INT32_MAX)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' is too long", name);
    *out = attr ? attr->floats : NULL;
    *out_count = attr ? (uint32_t)attr->n_floats : 0;
    return HONE_OK;
}

hone_status onnx_attr_int64s(const onnx_reader *r, const char *name, const int64_t **out,
                             uint32_t *out_count) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    if (attr && attr->n_ints > INT32_MAX)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "attribute '%s' is too long", name);
    *out = attr ? attr->ints : NULL;
    *out_count = attr ? (uint32_t)attr->n_ints : 0;
    return HONE_OK;
}

hone_status onnx_attr_tensor(onnx_reader *r, const char *name, const double **out,
                             uint32_t *out_count) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    hone_tensor *tensor;
    *out = NULL;
    *out_count = 0;
    if (!attr) return HONE_OK;
    if (!attr->t) return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' must be a tensor", name);
    HONE_TRY(onnx_unpack_tensor(r, attr->t, NULL, &tensor));
    const int64_t count = hone_tensor_count(tensor);
    double *numbers =
        count > INT32_MAX ? NULL : hone_arena_alloc(r->arena, (size_t)count * sizeof *numbers + 1);
    for (int64_t i = 0; numbers && i < count; i++)
        numbers[i] = hone_tensor_get_f64(tensor, i);
    hone_tensor_destroy(tensor);
    if (!numbers) return HONE_NO_MEMORY("model");
    *out = numbers;
    *out_count = (uint32_t)count;
    return HONE_OK;
}

hone_status onnx_attr_doubles(onnx_reader *r, const char *name, const double **out,
                              uint32_t *out_count) {
    const float *floats;
    const char *as_tensor = hone_arena_printf(r->arena, "%s_as_tensor", name);
    if (!as_tensor) return HONE_NO_MEMORY("model");
    HONE_TRY(onnx_attr_tensor(r, as_tensor, out, out_count));
    if (*out_count) return HONE_OK;
    HONE_TRY(attr_floats(r, name, &floats, out_count));
    double *numbers = hone_arena_alloc(r->arena, *out_count * sizeof *numbers + 1);
    if (!numbers) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < *out_count; i++)
        numbers[i] = (double)floats[i];
    *out = numbers;
    return HONE_OK;
}

hone_status onnx_number_table(onnx_reader *r, hone_dtype dtype, int64_t rows, int64_t columns,
                              const double *values, hone_garg *out) {
    const int64_t shape[2] = {rows, columns}, count = rows ? rows * columns : columns;
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(dtype, rows ? 2 : 1, rows ? shape : shape + 1, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_f64(tensor, i, values[i]);
    return onnx_add_constant(r, tensor, out);
}

/* A constant of float32, [rows, columns] or, where rows is 0, [columns]. */
static hone_status float_table(onnx_reader *r, int64_t rows, int64_t columns, const float *values,
                               hone_garg *out) {
    int64_t shape[2] = {rows, columns}, count = rows ? rows * columns : columns;
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, rows ? 2 : 1, rows ? shape : shape + 1, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_f64(tensor, i, (double)values[i]);
    return onnx_add_constant(r, tensor, out);
}

hone_status onnx_rows(onnx_reader *r, uint32_t input, hone_dtype dtype, hone_garg *out) {
    const hone_sinfo *info;
    *out = r->inputs[input];
    HONE_TRY(onnx_as_tensor(r, out));
    HONE_TRY(onnx_info(r, out, &info));
    HONE_TRY(onnx_emit_cast(r, *out, dtype, out));
    if (info->rank == 2) return HONE_OK;
    if (info->rank != 1)
        return HONE_ERROR(HONE_CODE_INVALID, "features of %d dimensions", info->rank);
    const hone_expr *shape[] = {hone_extent_int(&r->ir, 1), info->shape[0]};
    return onnx_emit_reshape(r, *out, 2, shape, out);
}

/* ---- scores ---- */

enum {
    TRANSFORM_NONE,
    TRANSFORM_SOFTMAX,
    TRANSFORM_LOGISTIC,
    TRANSFORM_SOFTMAX_ZERO,
    TRANSFORM_PROBIT
};

hone_status onnx_read_transform(const onnx_reader *r, uint32_t *out) {
    static const char *const words[] = {"NONE",         "SOFTMAX", "LOGISTIC",
                                        "SOFTMAX_ZERO", "PROBIT",  NULL};
    return onnx_attr_word(r, "post_transform", words[0], words, out);
}

/* A softmax in which zeros stay zeros, and what is less than 1e-7 counts for nothing. */
static hone_status softmax_of_others(onnx_reader *r, hone_garg *io) {
    hone_garg most, e, size, is_none, zero, scaled, sum;
    HONE_TRY(onnx_emit_along(r, "max", *io, -1, &most));
    HONE_TRY(onnx_emit2(r, "subtract", *io, most, &e));
    HONE_TRY(onnx_emit1(r, "exp", e, &e));
    HONE_TRY(onnx_emit1(r, "abs", *io, &size));
    HONE_TRY(onnx_with_scalar(r, "less_equal", size, (double)0.0000001f, &is_none));
    HONE_TRY(onnx_scalar_like(r, io, 0, &zero));
    HONE_TRY(onnx_emit_where(r, is_none, zero, e, &sum));
    HONE_TRY(onnx_emit_along(r, "sum", sum, -1, &sum));
    HONE_TRY(onnx_emit1(r, "negative", most, &scaled));
    HONE_TRY(onnx_emit1(r, "exp", scaled, &scaled));
    HONE_TRY(onnx_emit2(r, "multiply", *io, scaled, &scaled));
    HONE_TRY(onnx_emit_where(r, is_none, scaled, e, io));
    return onnx_emit2(r, "divide", *io, sum, io);
}

/* sqrt(2) erfinv(2 x - 1), as onnxruntime comes near it (Winitzki 2008): with l = log(1 - y^2),
 * v = 2 / (pi a) + l / 2, erfinv(y) is y's sign times sqrt(sqrt(v^2 - l / a) - v); a = 0.147. */
static hone_status probit(onnx_reader *r, hone_garg *io) {
    static const double a = 0.147, pi = 3.14159265358979;
    hone_garg y, l, v, root, sign;
    HONE_TRY(onnx_with_scalar(r, "multiply", *io, 2, &y));
    HONE_TRY(onnx_with_scalar(r, "subtract", y, 1, &y));
    HONE_TRY(onnx_emit2(r, "multiply", y, y, &l));
    HONE_TRY(onnx_emit1(r, "negative", l, &l));
    HONE_TRY(onnx_with_scalar(r, "add", l, 1, &l));
    HONE_TRY(onnx_emit1(r, "log", l, &l));
    HONE_TRY(onnx_with_scalar(r, "multiply", l, 0.5, &v));
    HONE_TRY(onnx_with_scalar(r, "add", v, 2 / (pi * a), &v));
    HONE_TRY(onnx_with_scalar(r, "divide", l, a, &l));
    HONE_TRY(onnx_emit2(r, "multiply", v, v, &root));
    HONE_TRY(onnx_emit2(r, "subtract", root, l, &root));
    HONE_TRY(onnx_emit1(r, "sqrt", root, &root));
    HONE_TRY(onnx_emit2(r, "subtract", root, v, &root));
    HONE_TRY(onnx_emit1(r, "sqrt", root, &root));
    HONE_TRY(onnx_emit1(r, "sign", y, &sign));
    HONE_TRY(onnx_emit2(r, "multiply", root, sign, io));
    return onnx_with_scalar(r, "multiply", *io, 1.41421356, io);
}

hone_status onnx_transform_by(onnx_reader *r, int64_t transform, hone_garg *io) {
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(-1)};
    switch (transform) {
    case TRANSFORM_NONE:
        return HONE_OK;
    case TRANSFORM_SOFTMAX:
        return onnx_emit(r, "nn.softmax", 1, io, 1, &axis, io);
    case TRANSFORM_LOGISTIC:
        return onnx_emit1(r, "sigmoid", *io, io);
    case TRANSFORM_SOFTMAX_ZERO:
        return softmax_of_others(r, io);
    case TRANSFORM_PROBIT:
        return probit(r, io);
    default:
        return HONE_ERROR(HONE_CODE_INVALID, "attribute 'post_transform' is %lld",
                          (long long)transform);
    }
}

hone_status onnx_post_transform(onnx_reader *r, hone_garg *io) {
    uint32_t transform;
    HONE_TRY(onnx_read_transform(r, &transform));
    return onnx_transform_by(r, transform, io);
}

hone_status onnx_class_labels(onnx_reader *r, const char *ints, hone_garg *out,
                              uint32_t *out_count) {
    const int64_t *labels;
    HONE_TRY(onnx_attr_int64s(r, ints, &labels, out_count));
    if (*out_count) return onnx_int_table(r, *out_count, labels, out);
    const Onnx__AttributeProto *attr = onnx_attr(r, "classlabels_strings");
    *out_count = attr ? (uint32_t)attr->n_strings : 0;
    if (*out_count) return onnx_text_table(r, attr->n_strings, attr->strings, out);
    return HONE_ERROR(HONE_CODE_INVALID, "attribute '%s' is missing", ints);
}

/* The labels at these indices: numbers, or a text. */
static hone_status take_label(onnx_reader *r, hone_garg labels, hone_garg indices, hone_garg *out) {
    if (!onnx_is_text(&labels)) return onnx_emit_take(r, labels, indices, 0, out);
    HONE_TRY(onnx_emit_take(r, labels.u.items[1], indices, 0, out));
    return onnx_make_text(r, labels.u.items[0], *out, out);
}

hone_status onnx_best_label(onnx_reader *r, hone_garg scores, hone_garg labels, hone_garg *out) {
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(1)};
    HONE_TRY(onnx_emit(r, "argmax", 1, &scores, 1, &axis, out));
    return take_label(r, labels, *out, out);
}

static hone_status both_scores(onnx_reader *r, hone_garg score, bool are_mixed, hone_garg *out) {
    uint32_t transform;
    hone_garg parts[2] = {score, score}, one;
    HONE_TRY(onnx_read_transform(r, &transform));
    if (transform == TRANSFORM_PROBIT)
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "PROBIT of one score for two classes");
    const bool is_logistic = transform == TRANSFORM_LOGISTIC;
    if (are_mixed || is_logistic) {
        HONE_TRY(onnx_emit1(r, "negative", score, &parts[0]));
        for (int i = 0; i < 2 && is_logistic; i++)
            HONE_TRY(onnx_emit1(r, "sigmoid", parts[i], &parts[i]));
    } else {
        HONE_TRY(onnx_scalar_like(r, &score, 1, &one));
        HONE_TRY(onnx_emit2(r, "subtract", one, score, &parts[0]));
    }
    return onnx_emit_concat(r, 2, parts, 1, out);
}

hone_status onnx_two_classes(onnx_reader *r, hone_garg score, hone_garg labels, double limit,
                             bool are_mixed, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg is_second;
    HONE_TRY(onnx_info(r, &score, &info));
    HONE_TRY(both_scores(r, score, are_mixed, &out[1]));
    HONE_TRY(onnx_with_scalar(r, "greater", score, limit, &is_second));
    HONE_TRY(onnx_emit_cast(r, is_second, HONE_DTYPE_I64, &is_second));
    HONE_TRY(onnx_emit_reshape(r, is_second, 1, info->shape, &is_second));
    return take_label(r, labels, is_second, &out[0]);
}

/* ---- linear models ---- */

/* X times the coefficients, [rows, targets]; these lie by target. */
static hone_status linear_scores(onnx_reader *r, int64_t targets, hone_garg *out) {
    const float *weights, *shifts;
    uint32_t weight_count, shift_count;
    hone_garg sides[2], shift;
    hone_attr turn = {"transpose_b", HONE_VALUE_OF_BOOL(1)};
    HONE_TRY(attr_floats(r, "coefficients", &weights, &weight_count));
    HONE_TRY(attr_floats(r, "intercepts", &shifts, &shift_count));
    if (targets < 1 || weight_count < targets || weight_count % targets ||
        (shift_count && shift_count != targets))
        return HONE_ERROR(HONE_CODE_INVALID, "%u coefficients and %u intercepts for %lld targets",
                          weight_count, shift_count, (long long)targets);
    HONE_TRY(onnx_rows(r, 0, HONE_DTYPE_F32, &sides[0]));
    HONE_TRY(float_table(r, targets, weight_count / targets, weights, &sides[1]));
    HONE_TRY(onnx_emit(r, "matmul", 2, sides, 1, &turn, out));
    if (!shift_count) return HONE_OK;
    HONE_TRY(float_table(r, 0, shift_count, shifts, &shift));
    return onnx_emit2(r, "add", *out, shift, out);
}

static hone_status convert_linear_regressor(onnx_reader *r, hone_garg *out) {
    int64_t targets;
    HONE_TRY(onnx_attr_int(r, "targets", 1, &targets));
    HONE_TRY(linear_scores(r, targets, out));
    return onnx_post_transform(r, out);
}

static hone_status convert_linear_classifier(onnx_reader *r, hone_garg *out) {
    const float *shifts;
    uint32_t count, targets;
    hone_garg labels, scores;
    HONE_TRY(onnx_class_labels(r, "classlabels_ints", &labels, &count));
    HONE_TRY(attr_floats(r, "intercepts", &shifts, &targets));
    HONE_TRY(linear_scores(r, targets, &scores));
    if (targets == 1 && count == 2) return onnx_two_classes(r, scores, labels, 0, true, out);
    if (targets != count)
        return HONE_ERROR(HONE_CODE_INVALID, "%u labels for %u intercepts", count, targets);
    HONE_TRY(onnx_best_label(r, scores, labels, &out[0]));
    out[1] = scores;
    return onnx_post_transform(r, &out[1]);
}

/* ---- features ---- */

static hone_status convert_scaler(onnx_reader *r, hone_garg *out) {
    const float *numbers;
    uint32_t count;
    hone_garg table;
    static const char *const steps[][2] = {
        {"offset", "subtract"},
        {"scale",  "multiply"}
    };
    HONE_TRY(onnx_rows(r, 0, HONE_DTYPE_F32, out));
    for (int i = 0; i < 2; i++) {
        HONE_TRY(attr_floats(r, steps[i][0], &numbers, &count));
        if (!count) continue;
        HONE_TRY(float_table(r, 0, count, numbers, &table));
        HONE_TRY(onnx_emit2(r, steps[i][1], *out, table, out));
    }
    return HONE_OK;
}

/* Each row by its greatest number, the sum of what is in it, or its length. Of zeros it is left. */
static hone_status convert_normalizer(onnx_reader *r, hone_garg *out) {
    static const char *const words[] = {"MAX", "L1", "L2", NULL};
    uint32_t norm;
    hone_garg x, size, is_zero, one;
    HONE_TRY(onnx_attr_word(r, "norm", words[0], words, &norm));
    HONE_TRY(onnx_rows(r, 0, HONE_DTYPE_F32, &x));
    if (norm == 0) {
        HONE_TRY(onnx_emit_along(r, "max", x, 1, &size));
    } else {
        HONE_TRY(norm == 1 ? onnx_emit1(r, "abs", x, &size)
                           : onnx_emit2(r, "multiply", x, x, &size));
        HONE_TRY(onnx_emit_along(r, "sum", size, 1, &size));
        if (norm == 2) HONE_TRY(onnx_emit1(r, "sqrt", size, &size));
    }
    HONE_TRY(onnx_with_scalar(r, "equal", size, 0, &is_zero));
    HONE_TRY(onnx_scalar_like(r, &size, 1, &one));
    HONE_TRY(onnx_emit_where(r, is_zero, one, size, &size));
    return onnx_emit2(r, "divide", x, size, out);
}

static hone_status convert_binarizer(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    double threshold;
    HONE_TRY(onnx_attr_float(r, "threshold", 0, &threshold));
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_with_scalar(r, "greater", r->inputs[0], threshold, out));
    return onnx_emit_cast(r, *out, info->dtype, out);
}

/* Numbers that are NaN, or another one, are those of the list: one, or one for each column. */
static hone_status convert_imputer(onnx_reader *r, hone_garg *out) {
    const float *numbers;
    const int64_t *whole;
    uint32_t count, whole_count;
    int64_t replaced_whole;
    double replaced;
    hone_garg table, is_gone;
    const hone_sinfo *info;
    HONE_TRY(attr_floats(r, "imputed_value_floats", &numbers, &count));
    HONE_TRY(onnx_attr_int64s(r, "imputed_value_int64s", &whole, &whole_count));
    HONE_TRY(onnx_attr_float(r, "replaced_value_float", 0, &replaced));
    HONE_TRY(onnx_attr_int(r, "replaced_value_int64", 0, &replaced_whole));
    if ((count > 0) == (whole_count > 0))
        return HONE_ERROR(HONE_CODE_INVALID, "one of imputed_value_floats and imputed_value_int64s "
                                             "must be given");
    if (whole_count) replaced = (double)replaced_whole;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(whole_count ? onnx_int_table(r, whole_count, whole, &table)
                         : float_table(r, 0, count, numbers, &table));
    HONE_TRY(onnx_emit_cast(r, table, info->dtype, &table));
    HONE_TRY(replaced != replaced ? onnx_emit1(r, "isnan", r->inputs[0], &is_gone)
                                  : onnx_with_scalar(r, "equal", r->inputs[0], replaced, &is_gone));
    HONE_TRY(onnx_emit_where(r, is_gone, table, r->inputs[0], out));
    return onnx_keeps_shape(r, &r->inputs[0], out, "the list of numbers");
}

/* Columns at these indices. */
static hone_status convert_extractor(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg indices;
    HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_as_tensor(r, &r->inputs[1]));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_emit_flat(r, r->inputs[1], &indices));
    HONE_TRY(onnx_emit_take(r, r->inputs[0], indices, info->rank - 1, out));
    if (info->rank != 1) return HONE_OK;
    hone_attr axis = {"axis", HONE_VALUE_OF_INT(0)};
    return onnx_emit(r, "expand_dims", 1, out, 1, &axis, out);
}

static hone_status convert_vectorizer(onnx_reader *r, hone_garg *out) {
    uint32_t count = r->input_count;
    hone_garg *parts = hone_arena_alloc(r->arena, (count + 1) * sizeof *parts);
    if (!parts) return HONE_NO_MEMORY("model");
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(onnx_rows(r, i, HONE_DTYPE_F32, &parts[i]));
    *out = parts[0];
    return count == 1 ? HONE_OK : onnx_emit_concat(r, count, parts, 1, out);
}

/* ---- LabelEncoder: tables of keys and of values, of any type, in attributes of three spellings
 * ---- */

static const Onnx__TensorProto *tensor_of(const onnx_reader *r, const char *name) {
    const Onnx__AttributeProto *attr = onnx_attr(r, name);
    return attr ? attr->t : NULL;
}

/* As a vector; *out_count = 0 when the attribute is absent. */
static hone_status tensor_table(onnx_reader *r, const char *name, uint32_t *out_count,
                                hone_garg *out) {
    const Onnx__TensorProto *proto = tensor_of(r, name);
    hone_tensor *tensor;
    *out_count = 0;
    if (!proto) return HONE_OK;
    HONE_TRY(onnx_unpack_any(r, proto, NULL, &tensor));
    bool is_text = onnx_is_string_type(proto->data_type);
    int64_t count = hone_tensor_count(tensor);
    if (is_text) count /= tensor->shape[tensor->rank - 1];
    HONE_TRY(onnx_add_any(r, is_text, tensor, out));
    if (count > INT32_MAX) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "'%s' is too long", name);
    *out_count = (uint32_t)count;
    return is_text ? HONE_OK : onnx_emit_flat(r, *out, out);
}

/* keys_... or values_...: of int64, float32, strings, or a tensor. */
static hone_status table_of(onnx_reader *r, const char *which, uint32_t *out_count,
                            hone_garg *out) {
    char name[32];
    const int64_t *ints;
    const float *floats;
    const Onnx__AttributeProto *strings;
    snprintf(name, sizeof name, "%s_int64s", which);
    HONE_TRY(onnx_attr_int64s(r, name, &ints, out_count));
    if (*out_count) return onnx_int_table(r, *out_count, ints, out);
    snprintf(name, sizeof name, "%s_floats", which);
    HONE_TRY(attr_floats(r, name, &floats, out_count));
    if (*out_count) return float_table(r, 0, *out_count, floats, out);
    snprintf(name, sizeof name, "%s_strings", which);
    strings = onnx_attr(r, name);
    *out_count = strings ? (uint32_t)strings->n_strings : 0;
    if (*out_count) return onnx_text_table(r, strings->n_strings, strings->strings, out);
    snprintf(name, sizeof name, "%s_tensor", which);
    HONE_TRY(tensor_table(r, name, out_count, out));
    if (*out_count) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "attribute '%s_strings', or one of another type, is missing", which);
}

/* What stands for all keys that are not there, as a vector of one. */
static hone_status other_value(onnx_reader *r, const hone_garg *values, hone_garg *out) {
    static const uint8_t unused[] = "_Unused";
    const ProtobufCBinaryData usual = {sizeof unused - 1, (uint8_t *)(uintptr_t)unused};
    const Onnx__AttributeProto *text = onnx_attr(r, "default_string");
    const hone_sinfo *info;
    uint32_t count;
    int64_t whole;
    double number;
    HONE_TRY(tensor_table(r, "default_tensor", &count, out));
    if (count == 1) return HONE_OK;
    if (onnx_is_text(values)) return onnx_text_table(r, 1, text ? &text->s : &usual, out);
    HONE_TRY(onnx_info(r, values, &info));
    HONE_TRY(onnx_attr_int(r, "default_int64", -1, &whole));
    HONE_TRY(onnx_attr_float(r, "default_float", 0, &number));
    const float as_float = (float)number;
    HONE_TRY(hone_dtype_is_float(info->dtype) ? float_table(r, 0, 1, &as_float, out)
                                              : onnx_int_table(r, 1, &whole, out));
    return onnx_emit_cast(r, *out, info->dtype, out);
}

/* The values, and behind them what stands for all other keys. */
static hone_status values_of(onnx_reader *r, uint32_t *out_count, hone_garg *out) {
    hone_garg parts[2], pool = {0};
    HONE_TRY(table_of(r, "values", out_count, &parts[0]));
    HONE_TRY(other_value(r, &parts[0], &parts[1]));
    bool is_text = onnx_is_text(&parts[0]);
    if (is_text != onnx_is_text(&parts[1]))
        return HONE_ERROR(HONE_CODE_TYPE, "the default is of another type than the values");
    if (is_text) HONE_TRY(onnx_join_texts(r, 2, parts, &pool));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 0, out));
    return is_text ? onnx_make_text(r, pool, *out, out) : HONE_OK;
}

/* Input 0 beside all keys, of which NaN may be one: truths [..., count]. */
static hone_status compare_keys(onnx_reader *r, hone_garg keys, hone_garg *out) {
    hone_garg x = r->inputs[0], bytes;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    if (onnx_is_text(&keys) != onnx_is_text(&x))
        return HONE_ERROR(HONE_CODE_TYPE, "the keys are of another type than the input");
    if (!onnx_is_text(&x)) {
        HONE_TRY(onnx_as_tensor(r, &x));
        HONE_TRY(onnx_emit(r, "expand_dims", 1, &x, 1, &last, &x));
        return onnx_emit_same(r, x, keys, out);
    }
    HONE_TRY(onnx_text_bytes(r, &x, &bytes));
    HONE_TRY(onnx_text_bytes(r, &keys, &keys));
    return onnx_emit_same_strings(r, bytes, keys, out);
}

/* Which key each element is, of equal ones the first; the number of keys: none. */
static hone_status number_of_key(onnx_reader *r, hone_garg keys, uint32_t count, hone_garg *out) {
    hone_garg same, indices;
    hone_attr last = {"axis", HONE_VALUE_OF_INT(-1)};
    HONE_TRY(compare_keys(r, keys, &same));
    HONE_TRY(onnx_emit_cast(r, same, HONE_DTYPE_I64, &same));
    HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, count), 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "subtract", indices, count, &indices));
    HONE_TRY(onnx_emit2(r, "multiply", same, indices, &same));
    HONE_TRY(onnx_emit(r, "min", 1, &same, 1, &last, out));
    return onnx_with_scalar(r, "add", *out, count, out);
}

static hone_status convert_label_encoder(onnx_reader *r, hone_garg *out) {
    uint32_t key_count, value_count;
    hone_garg keys, values, number;
    HONE_TRY(table_of(r, "keys", &key_count, &keys));
    HONE_TRY(values_of(r, &value_count, &values));
    if (key_count != value_count)
        return HONE_ERROR(HONE_CODE_INVALID, "%u keys for %u values", key_count, value_count);
    HONE_TRY(number_of_key(r, keys, key_count, &number));
    return take_label(r, values, number, out);
}

/* From strings to whole numbers, or back. */
static hone_status convert_category_mapper(onnx_reader *r, hone_garg *out) {
    static const uint8_t unused[] = "_Unused";
    const ProtobufCBinaryData usual = {sizeof unused - 1, (uint8_t *)(uintptr_t)unused};
    const Onnx__AttributeProto *strings = onnx_attr(r, "cats_strings");
    const Onnx__AttributeProto *other = onnx_attr(r, "default_string");
    const int64_t *ints;
    uint32_t count;
    int64_t whole;
    hone_garg names, numbers, more, parts[2], pool, number;
    HONE_TRY(onnx_attr_int64s(r, "cats_int64s", &ints, &count));
    HONE_TRY(onnx_attr_int(r, "default_int64", -1, &whole));
    if (!strings || strings->n_strings != count || count == 0)
        return HONE_ERROR(HONE_CODE_INVALID, "cats_strings and cats_int64s must be as many");
    HONE_TRY(onnx_text_table(r, count, strings->strings, &names));
    HONE_TRY(onnx_int_table(r, count, ints, &numbers));
    bool is_text = onnx_is_text(&r->inputs[0]);
    HONE_TRY(number_of_key(r, is_text ? names : numbers, count, &number));
    HONE_TRY(is_text ? onnx_int_table(r, 1, &whole, &more)
                     : onnx_text_table(r, 1, other ? &other->s : &usual, &more));
    parts[0] = is_text ? numbers : names;
    parts[1] = more;
    if (!is_text) HONE_TRY(onnx_join_texts(r, 2, parts, &pool));
    HONE_TRY(onnx_emit_concat(r, 2, parts, 0, out));
    if (!is_text) HONE_TRY(onnx_make_text(r, pool, *out, out));
    return take_label(r, *out, number, out);
}

/* Which of the categories each element is: ones in a last dimension. Floats are whole numbers. */
static hone_status convert_one_hot_encoder(onnx_reader *r, hone_garg *out) {
    const Onnx__AttributeProto *strings = onnx_attr(r, "cats_strings");
    const int64_t *ints;
    uint32_t count;
    hone_garg keys;
    HONE_TRY(onnx_attr_int64s(r, "cats_int64s", &ints, &count));
    bool is_text = strings && strings->n_strings;
    if (is_text == (count > 0))
        return HONE_ERROR(HONE_CODE_INVALID, "one of cats_strings and cats_int64s must be given");
    HONE_TRY(is_text ? onnx_text_table(r, strings->n_strings, strings->strings, &keys)
                     : onnx_int_table(r, count, ints, &keys));
    if (!is_text) {
        HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
        HONE_TRY(onnx_emit_cast(r, r->inputs[0], HONE_DTYPE_I64, &r->inputs[0]));
    }
    HONE_TRY(compare_keys(r, keys, out));
    return onnx_emit_cast(r, *out, HONE_DTYPE_F32, out);
}

/* ---- ZipMap: maps are no tensors; what they hold, class by class, is ---- */

static hone_status convert_zip_map(onnx_reader *r, hone_garg *out) {
    return onnx_rows(r, 0, HONE_DTYPE_F32, out);
}

const onnx_converter onnx_learned_converters[] = {
    {"Scaler",     convert_scaler, 1, 1, 1, "offset scale", NULL},
    {"Normalizer",           convert_normalizer, 1, 1, 1, "norm", NULL},
    {"Binarizer",           convert_binarizer, 1, 1, 1, "threshold", NULL},
    {"Imputer",        convert_imputer, 1, 1, 1,
     "imputed_value_floats imputed_value_int64s replaced_value_float replaced_value_int64", NULL},
    {"ArrayFeatureExtractor", convert_extractor, 2, 2, 1, "", NULL},
    {"FeatureVectorizer",           convert_vectorizer, 1, 255, 1, "inputdimensions", NULL},
    {"LabelEncoder",           convert_label_encoder, 1, 1, 1,
     "default_float default_int64 keys_floats keys_int64s values_floats values_int64s "
     "default_string keys_strings values_strings default_tensor keys_tensor values_tensor", NULL},
    {"CategoryMapper",        convert_category_mapper, 1, 1, 1,
     "cats_int64s cats_strings default_int64 default_string", NULL},
    {"OneHotEncoder",  convert_one_hot_encoder, 1, 1, 1, "cats_int64s cats_strings zeros", NULL},
    {"LinearRegressor",           convert_linear_regressor, 1, 1, 1,
     "coefficients intercepts post_transform targets", NULL},
    {"LinearClassifier",           convert_linear_classifier, 1, 1, 2,
     "classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform", NULL},
    {"ZipMap",        convert_zip_map, 1, 1, 1, "classlabels_int64s classlabels_strings", NULL},
    {0   },
};
