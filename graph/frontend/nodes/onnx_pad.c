/* graph/frontend/nodes/onnx_pad.c - padding, with numbers or with copies of the data. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* What is added in front of and behind each dimension, of all or of those that the axes name. */
static hone_status pad_widths(onnx_reader *r, int32_t rank, int64_t *widths) {
    int64_t pads[2 * HONE_MAX_RANK], axes[HONE_MAX_RANK];
    uint32_t count, axis_count = (uint32_t)rank;
    for (int32_t i = 0; i < rank; i++)
        axes[i] = i;
    if (onnx_has_input(r, 1)) {
        HONE_TRY(onnx_const_ints(r, 1, "pads", 2 * HONE_MAX_RANK, pads, &count));
    } else {
        HONE_TRY(onnx_attr_ints(r, "pads", 2 * HONE_MAX_RANK, pads, &count));
    }
    if (onnx_has_input(r, 3)) {
        HONE_TRY(onnx_const_ints(r, 3, "axes", HONE_MAX_RANK, axes, &axis_count));
    }
    if (count != 2 * axis_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u pads for %u dimensions", count, axis_count);
    }
    memset(widths, 0, 2 * (size_t)rank * sizeof *widths);
    for (uint32_t i = 0; i < axis_count; i++) {
        int32_t axis;
        HONE_TRY(onnx_axis(r, axes[i], rank, &axis));
        widths[2 * axis] = pads[i];
        widths[2 * axis + 1] = pads[i + axis_count];
    }
    return HONE_OK;
}

/* How much padding below 0 takes away. */
static int64_t taken_by(int64_t width) {
    return width >= 0 ? 0 : width < -INT64_MAX ? INT64_MAX : -width;
}

/* Padding below 0 cuts off, before anything is added. */
static hone_status cut_off(onnx_reader *r, const hone_sinfo *data, int64_t *widths, hone_garg *io) {
    int64_t axes[HONE_MAX_RANK], begin[HONE_MAX_RANK], end[HONE_MAX_RANK];
    uint32_t count = 0;
    for (int32_t d = 0; d < data->rank; d++) {
        int64_t before = taken_by(widths[2 * d]);
        int64_t after = taken_by(widths[2 * d + 1]);
        if (before == 0 && after == 0) continue;
        int64_t extent = hone_expr_const(data->shape[d]);
        if (extent < 0) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                              "padding below 0: the size of dimension %d is not known; give it "
                              "with --shape",
                              d);
        }
        if (before >= extent || after >= extent - before) {
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "padding that leaves nothing of dimension %d",
                              d);
        }
        axes[count] = d;
        begin[count] = before;
        end[count++] = extent - after;
        if (before) widths[2 * d] = 0;
        if (after) widths[2 * d + 1] = 0;
    }
    if (count == 0) return HONE_OK;
    hone_garg args[4] = {*io};
    HONE_TRY(onnx_int_items(r, count, axes, &args[1]));
    HONE_TRY(onnx_int_items(r, count, begin, &args[2]));
    HONE_TRY(onnx_int_items(r, count, end, &args[3]));
    return onnx_emit(r, "strided_slice", 4, args, 0, NULL, io);
}

static hone_status emit_pad(onnx_reader *r, hone_garg data, uint32_t rank, const int64_t *widths,
                            const char *mode, hone_value value, hone_garg *out) {
    hone_attr attrs[] = {
        {"pad_width",        onnx_ints_value(r, 2 * rank, widths)},
        {"pad_mode",           onnx_text_value(r,                            mode)},
        {"pad_value",value}
    };
    return onnx_emit(r, "nn.pad", 1, &data, 3, attrs, out);
}

/* A number that attributes can say: no whole number above 2^63 - 1. */
static bool is_attribute(const hone_tensor *constant, hone_value *out) {
    if (!constant || hone_tensor_count(constant) != 1) return false;
    *out = HONE_VALUE_OF_FLOAT(hone_tensor_get_f64(constant, 0));
    if (!hone_dtype_is_integer(constant->dtype)) return true;
    *out = HONE_VALUE_OF_INT(hone_tensor_get_i64(constant, 0));
    return !hone_dtype_is_uint(constant->dtype) || out->u.i >= 0;
}

/* A number that is computed, or that no attribute can say, stands where truths that are padded like
 * the data are false. */
static hone_status pad_with_tensor(onnx_reader *r, hone_garg data, uint32_t rank,
                                   const int64_t *widths, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg target[2], choice[3], number = r->inputs[2];
    hone_value zero = HONE_VALUE_OF_INT(0);
    HONE_TRY(onnx_info(r, &data, &info));
    HONE_TRY(onnx_as_tensor(r, &number));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_BOOL, 1, &target[0]));
    HONE_TRY(onnx_make_ints(r, rank, info->shape, 1, &target[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &choice[0]));
    HONE_TRY(emit_pad(r, choice[0], rank, widths, "constant", zero, &choice[0]));
    HONE_TRY(emit_pad(r, data, rank, widths, "constant", zero, &choice[1]));
    HONE_TRY(onnx_emit_reshape(r, number, 0, NULL, &choice[2]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* What Relax calls a mode. */
static hone_status pad_mode(onnx_reader *r, const char **out) {
    static const char *const words[] = {"constant", "edge", "reflect", "wrap", NULL};
    static const char *const modes[] = {"constant", "replicate", "reflect", "circular"};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "mode", words[0], words, &word));
    *out = modes[word];
    return HONE_OK;
}

/* ---- pads that are computed: along each axis, indices are taken of the data ---- */

/* Where `index` lies in a row of `count` elements that goes on as the mode says. */
static hone_status folded(onnx_reader *r, hone_garg index, hone_garg count, const char *mode,
                          hone_garg *out) {
    hone_garg last, period, is_front, back;
    HONE_TRY(onnx_with_scalar(r, "subtract", count, 1, &last));
    if (strcmp(mode, "circular") == 0) return onnx_emit2(r, "floor_mod", index, count, out);
    if (strcmp(mode, "reflect") != 0) {
        HONE_TRY(onnx_with_scalar(r, "maximum", index, 0, out));
        return onnx_emit2(r, "minimum", *out, last, out);
    }
    HONE_TRY(onnx_with_scalar(r, "multiply", last, 2, &period));
    HONE_TRY(onnx_with_scalar(r, "maximum", period, 1, &period));
    HONE_TRY(onnx_emit2(r, "floor_mod", index, period, out));
    HONE_TRY(onnx_emit2(r, "subtract", period, *out, &back));
    HONE_TRY(onnx_emit2(r, "less_equal", *out, last, &is_front));
    hone_garg choice[] = {is_front, *out, back};
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* The index where it lies in a row of `count` elements, else that behind the last one. */
static hone_status or_behind(onnx_reader *r, hone_garg index, hone_garg count, hone_garg *out) {
    hone_garg low, high;
    HONE_TRY(onnx_with_scalar(r, "greater_equal", index, 0, &low));
    HONE_TRY(onnx_emit2(r, "less", index, count, &high));
    HONE_TRY(onnx_emit2(r, "logical_and", low, high, &low));
    hone_garg choice[] = {low, index, count};
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* The value once more along the axis, behind all elements: there may be none of these. */
static hone_status append_value(onnx_reader *r, int32_t axis, hone_garg value, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    hone_garg args[2] = {value}, parts[2] = {*io};
    HONE_TRY(onnx_info(r, io, &info));
    for (int32_t d = 0; d < info->rank; d++)
        shape[d] = d == axis ? hone_extent_int(&r->ir, 1) : info->shape[d];
    HONE_TRY(onnx_make_ints(r, (uint32_t)info->rank, shape, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, &parts[1]));
    return onnx_emit_concat(r, 2, parts, axis, io);
}

/* before, after: vectors of one; value: of what is constant around the data, else NULL */
static hone_status pad_axis(onnx_reader *r, int32_t axis, hone_garg before, hone_garg after,
                            const char *mode, const hone_garg *value, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *size;
    hone_garg count, index, taken;
    HONE_TRY(onnx_info(r, io, &info));
    HONE_TRY(onnx_sizes_tensor(r, 1, &info->shape[axis], &count));
    HONE_TRY(onnx_emit2(r, "add", before, after, &index));
    HONE_TRY(onnx_emit2(r, "add", index, count, &index));
    HONE_TRY(onnx_emit_given_size(r, index, -1, &size));
    HONE_TRY(onnx_indices(r, size, 1, 0, &index));
    HONE_TRY(onnx_emit2(r, "subtract", index, before, &index));
    if (value) {
        HONE_TRY(or_behind(r, index, count, &taken));
        HONE_TRY(append_value(r, axis, *value, io));
    } else {
        HONE_TRY(folded(r, index, count, mode, &taken));
    }
    return onnx_emit_take(r, *io, taken, axis, io);
}

static hone_status pad_value(onnx_reader *r, hone_dtype dtype, hone_garg *out) {
    if (!onnx_has_input(r, 2)) return onnx_scalar(r, dtype, 0, out);
    *out = r->inputs[2];
    HONE_TRY(onnx_as_tensor(r, out));
    HONE_TRY(onnx_emit_reshape(r, *out, 0, NULL, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

static hone_status pad_by_data(onnx_reader *r, hone_garg x, const hone_sinfo *data,
                               const char *mode, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK];
    uint32_t count = (uint32_t)data->rank;
    bool is_constant = strcmp(mode, "constant") == 0;
    hone_garg value = {0}, before, after;
    for (int32_t i = 0; i < data->rank; i++)
        axes[i] = i;
    if (onnx_has_input(r, 3)) HONE_TRY(onnx_const_ints(r, 3, "axes", HONE_MAX_RANK, axes, &count));
    const hone_sinfo *pads;
    HONE_TRY(onnx_input_info(r, 1, &pads));
    if (pads->rank != 1 || !hone_expr_is_int_value(pads->shape[0], 2 * (int64_t)count)) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "pads (input 1) must be constant, or %u integers",
                          2 * count);
    }
    if (is_constant) HONE_TRY(pad_value(r, data->dtype, &value));
    *out = x;
    for (uint32_t i = 0; i < count; i++) {
        int32_t axis;
        HONE_TRY(onnx_axis(r, axes[i], data->rank, &axis));
        HONE_TRY(onnx_emit_item(r, r->inputs[1], i, &before));
        HONE_TRY(onnx_emit_item(r, r->inputs[1], i + count, &after));
        HONE_TRY(pad_axis(r, axis, before, after, mode, is_constant ? &value : NULL, out));
    }
    return HONE_OK;
}

static bool has_known_pads(onnx_reader *r) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t ignored;
    if (!onnx_known_ints(r, &r->inputs[1], &count, known, &ignored)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!hone_expr_is_int(known[i])) return false;
    return true;
}

static hone_status convert_pad(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const char *mode;
    int64_t widths[2 * HONE_MAX_RANK];
    double number;
    hone_garg x = r->inputs[0];
    HONE_TRY(onnx_as_tensor(r, &x));
    HONE_TRY(onnx_info(r, &x, &data));
    HONE_TRY(pad_mode(r, &mode));
    if (onnx_has_input(r, 1) && !has_known_pads(r)) return pad_by_data(r, x, data, mode, out);
    HONE_TRY(pad_widths(r, data->rank, widths));
    HONE_TRY(onnx_attr_float(r, "value", 0, &number));
    HONE_TRY(cut_off(r, data, widths, &x));
    hone_value value = HONE_VALUE_OF_FLOAT(number);
    bool has_number = onnx_has_input(r, 2) && strcmp(mode, "constant") == 0;
    if (has_number && !is_attribute(onnx_constant_of(r, &r->inputs[2]), &value)) {
        return pad_with_tensor(r, x, (uint32_t)data->rank, widths, out);
    }
    return emit_pad(r, x, (uint32_t)data->rank, widths, mode, value, out);
}

const onnx_converter onnx_pad_converters[] = {
    {"Pad", convert_pad, 1, 4, 1, "mode pads value", NULL},
    {0   },
};
