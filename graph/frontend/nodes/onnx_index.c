/* graph/frontend/nodes/onnx_index.c - operators of computed indices: gather, scatter, order along
 * an axis.
 */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* ---- gather and scatter ---- */

static hone_status convert_gather_elements(onnx_reader *r, hone_garg *out) {
    int64_t axis;
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "gather_elements", 2, r->inputs, 1, &attr, out);
}

static hone_status convert_gather_nd(onnx_reader *r, hone_garg *out) {
    int64_t batch;
    HONE_TRY(onnx_attr_int(r, "batch_dims", 0, &batch));
    hone_attr attr = {"batch_dims", HONE_VALUE_OF_INT(batch)};
    return onnx_emit(r, "gather_nd", 2, r->inputs, 1, &attr, out);
}

/* Truth values are added as "or" and multiplied as "and": their maximum and minimum. */
static hone_status scatter_reduction(onnx_reader *r, hone_value *out) {
    static const char *const words[] = {"none", "add", "max", "min", "mul", NULL};
    static const char *const numbers[] = {"update", "add", "max", "min", "mul"};
    static const char *const truths[] = {"update", "max", "max", "min", "min"};
    const hone_sinfo *data;
    uint32_t word;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_word(r, "reduction", words[0], words, &word));
    *out = HONE_VALUE_OF_STRING((hone_dtype_is_bool(data->dtype) ? truths : numbers)[word]);
    return HONE_OK;
}

static hone_status convert_scatter_elements(onnx_reader *r, hone_garg *out) {
    int64_t axis;
    hone_value reduction;
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    HONE_TRY(scatter_reduction(r, &reduction));
    hone_attr attrs[] = {
        {"axis",      HONE_VALUE_OF_INT(axis)},
        {"reduction", reduction              }
    };
    return onnx_emit(r, "scatter_elements", 3, r->inputs, 2, attrs, out);
}

static hone_status convert_scatter_nd(onnx_reader *r, hone_garg *out) {
    hone_attr attr = {"reduction", {0}};
    HONE_TRY(scatter_reduction(r, &attr.value));
    return onnx_emit(r, "scatter_nd", 3, r->inputs, 1, &attr, out);
}

/* Where the rows of the update go along the axis, from the first one of each sample on. */
static hone_status cache_indices(onnx_reader *r, const hone_sinfo *cache, const hone_sinfo *update,
                                 int32_t axis, bool is_circular, hone_garg *out) {
    const hone_expr *shape[HONE_MAX_RANK];
    hone_garg size, first, is_before = {.kind = HONE_GARG_NONE}, target[2];
    HONE_TRY(onnx_indices(r, update->shape[axis], update->rank, axis, out));
    HONE_TRY(onnx_sizes_tensor(r, 1, &cache->shape[axis], &size));
    if (onnx_has_input(r, 2)) {
        for (int32_t d = 0; d < update->rank; d++)
            shape[d] = d ? hone_extent_int(&r->ir, 1) : update->shape[0];
        HONE_TRY(onnx_emit_reshape(r, r->inputs[2], (uint32_t)update->rank, shape, &first));
        HONE_TRY(onnx_with_scalar(r, "less", first, 0, &is_before));
        HONE_TRY(onnx_emit2(r, "add", *out, first, out));
    }
    if (is_circular) HONE_TRY(onnx_emit2(r, "floor_mod", *out, size, out));
    if (is_before.kind != HONE_GARG_NONE) /* no index of the cache: an index out of range */
        HONE_TRY(onnx_emit_where(r, is_before, size, *out, out));
    target[0] = *out;
    HONE_TRY(onnx_make_ints(r, (uint32_t)update->rank, update->shape, 1, &target[1]));
    return onnx_emit(r, "broadcast_to", 2, target, 0, NULL, out);
}

/* A cache of keys or values with those of new words: at 0, or where each sample says. */
static hone_status convert_tensor_scatter(onnx_reader *r, hone_garg *out) {
    static const char *const words[] = {"linear", "circular", NULL};
    const hone_sinfo *cache, *update;
    int64_t wanted;
    int32_t axis;
    uint32_t mode;
    HONE_TRY(onnx_input_info(r, 0, &cache));
    HONE_TRY(onnx_input_info(r, 1, &update));
    HONE_TRY(onnx_attr_int(r, "axis", -2, &wanted));
    HONE_TRY(onnx_attr_word(r, "mode", words[0], words, &mode));
    HONE_TRY(onnx_axis(r, wanted, cache->rank, &axis));
    if (update->rank != cache->rank || axis == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "a cache of %d dimensions, an update of %d, axis %d",
                          cache->rank, update->rank, axis);
    }
    hone_garg args[3] = {r->inputs[0], {0}, r->inputs[1]};
    hone_attr attrs[] = {
        {"axis",      HONE_VALUE_OF_INT(axis)       },
        {"reduction", HONE_VALUE_OF_STRING("update")}
    };
    HONE_TRY(cache_indices(r, cache, update, axis, mode == 1, &args[1]));
    return onnx_emit(r, "scatter_elements", 3, args, 2, attrs, out);
}

/* ---- along an axis ---- */

/* The numbers of input 1 stand in the file, or follow from it. */
static bool is_known(onnx_reader *r) {
    const hone_expr *known[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    bool is_number = onnx_known_ints(r, &r->inputs[1], &count, known, &rank) && count == 1 &&
                     hone_expr_is_int(known[0]);
    return is_number || onnx_constant_of(r, &r->inputs[1]);
}

/* As many of all indices in their order as a number that is computed says. */
static hone_status order_by_data(onnx_reader *r, int64_t axis, bool is_descending, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *size;
    hone_garg count, indices;
    int32_t at;
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_axis(r, axis, info->rank, &at));
    hone_attr attrs[] = {
        {"axis",       HONE_VALUE_OF_INT(at)            },
        {"descending", HONE_VALUE_OF_BOOL(is_descending)},
        {"dtype",      HONE_VALUE_OF_STRING("int64")    }
    };
    HONE_TRY(onnx_emit(r, "argsort", 1, r->inputs, HONE_COUNT(attrs), attrs, out));
    HONE_TRY(onnx_emit_item(r, r->inputs[1], 0, &count));
    HONE_TRY(onnx_emit_given_size(r, count, hone_expr_const(info->shape[at]), &size));
    HONE_TRY(onnx_indices(r, size, 1, 0, &indices));
    return onnx_emit_take(r, *out, indices, at, out);
}

static hone_status topk_count(onnx_reader *r, int64_t *out) {
    if (onnx_has_input(r, 1)) return onnx_const_scalar(r, 1, "k", out);
    if (!onnx_attr(r, "k")) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'k' is missing");
    return onnx_attr_int(r, "k", 0, out);
}

/* The indices first; the values are what lies there. */
static hone_status convert_topk(onnx_reader *r, hone_garg *out) {
    int64_t axis, largest, k;
    HONE_TRY(onnx_attr_int(r, "axis", -1, &axis));
    HONE_TRY(onnx_attr_int(r, "largest", 1, &largest));
    if (onnx_has_input(r, 1) && !is_known(r)) {
        HONE_TRY(order_by_data(r, axis, largest != 0, &out[1]));
        hone_garg pair[] = {r->inputs[0], out[1]};
        hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
        return onnx_emit(r, "gather_elements", 2, pair, 1, &attr, &out[0]);
    }
    HONE_TRY(topk_count(r, &k));
    if (k < 0) return HONE_ERROR(HONE_CODE_INVALID, "the first %lld elements", (long long)k);
    if (k == 0) { /* of an axis of any size */
        hone_garg none;
        HONE_TRY(onnx_indices(r, hone_extent_int(&r->ir, 0), 1, 0, &none));
        HONE_TRY(onnx_emit_take(r, r->inputs[0], none, axis, &out[0]));
        return onnx_emit_cast(r, out[0], HONE_DTYPE_I64, &out[1]);
    }
    hone_attr attrs[] = {
        {"k",        HONE_VALUE_OF_INT(k)            },
        {"axis",     HONE_VALUE_OF_INT(axis)         },
        {"ret_type", HONE_VALUE_OF_STRING("indices") },
        {"largest",  HONE_VALUE_OF_BOOL(largest != 0)},
        {"dtype",    HONE_VALUE_OF_STRING("int64")   }
    };
    HONE_TRY(onnx_emit(r, "topk", 1, r->inputs, HONE_COUNT(attrs), attrs, &out[1]));
    hone_garg args[] = {r->inputs[0], out[1]};
    return onnx_emit(r, "gather_elements", 2, args, 1, &attrs[1], &out[0]);
}

static hone_status turned(onnx_reader *r, int64_t axis, hone_garg *io) {
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "flip", 1, io, 1, &attr, io);
}

static hone_status cumulate_along(onnx_reader *r, int64_t axis, hone_garg *out) {
    int64_t is_exclusive, is_reverse;
    HONE_TRY(onnx_attr_int(r, "exclusive", 0, &is_exclusive));
    HONE_TRY(onnx_attr_int(r, "reverse", 0, &is_reverse));
    hone_attr attrs[] = {
        {"axis",      HONE_VALUE_OF_INT(axis)              },
        {"exclusive", HONE_VALUE_OF_BOOL(is_exclusive != 0)}
    };
    *out = r->inputs[0];
    if (is_reverse) HONE_TRY(turned(r, axis, out));
    HONE_TRY(onnx_emit(r, r->row->target, 1, out, 2, attrs, out));
    return is_reverse ? turned(r, axis, out) : HONE_OK;
}

/* The axis that comes when the model runs, a scalar from 0 to rank - 1. Its index in the table is
 * checked as that of any item is. */
static hone_status axis_that_comes(onnx_reader *r, int32_t rank, hone_garg *out) {
    const int64_t count = 2 * rank;
    hone_tensor *axes;
    hone_garg table;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, &axes));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(axes, i, i % rank);
    HONE_TRY(onnx_add_constant(r, axes, &table));
    HONE_TRY(onnx_emit_item(r, r->inputs[1], 0, out));
    HONE_TRY(onnx_with_scalar(r, "add", *out, rank, out));
    HONE_TRY(onnx_emit_take(r, table, *out, 0, out));
    return onnx_emit_reshape(r, *out, 0, NULL, out);
}

/* Along each axis; of the results that one which the axis chooses. */
static hone_status cumulate_later(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    hone_garg axis, is_it, other;
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (data->rank < 1) return HONE_ERROR(HONE_CODE_INVALID, "a number has no axis (input 1)");
    HONE_TRY(axis_that_comes(r, data->rank, &axis));
    HONE_TRY(cumulate_along(r, 0, out));
    for (int32_t d = 1; d < data->rank; d++) {
        HONE_TRY(cumulate_along(r, d, &other));
        HONE_TRY(onnx_with_scalar(r, "equal", axis, d, &is_it));
        HONE_TRY(onnx_emit_where(r, is_it, other, *out, out));
    }
    return HONE_OK;
}

static hone_status convert_cumulate(onnx_reader *r, hone_garg *out) {
    int64_t axis;
    if (!is_known(r)) return cumulate_later(r, out);
    HONE_TRY(onnx_const_scalar(r, 1, "the axis", &axis));
    return cumulate_along(r, axis, out);
}

/* x where it lies in the sequence of its batch, from behind: the index t is length - 1 - t there,
 * else t. A length is from 0 to what the axis has. */
static hone_status convert_reverse_sequence(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data, *lengths;
    int64_t time, batch;
    hone_garg index, length, from_behind, is_inside;
    HONE_TRY(onnx_attr_int(r, "time_axis", 0, &time));
    HONE_TRY(onnx_attr_int(r, "batch_axis", 1, &batch));
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &lengths));
    if (data->rank < 2 || lengths->rank != 1 || time + batch != 1 || time < 0 || batch < 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "axes %lld and %lld of %d dimensions, must be 0 and 1",
                          (long long)time, (long long)batch, data->rank);
    }
    HONE_TRY(onnx_unify_dims(r, &r->inputs[0], (int32_t)batch, &r->inputs[1], 0));
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &lengths));
    const hone_expr *shape[HONE_MAX_RANK];
    for (int32_t d = 0; d < data->rank; d++)
        shape[d] = d == batch ? lengths->shape[0] : hone_extent_int(&r->ir, 1);
    HONE_TRY(onnx_indices(r, data->shape[time], data->rank, (int32_t)time, &index));
    HONE_TRY(
        onnx_emit_within(r, r->inputs[1], hone_extent_add(&r->ir, data->shape[time], 1), &length));
    HONE_TRY(onnx_emit_reshape(r, length, (uint32_t)data->rank, shape, &length));
    HONE_TRY(onnx_emit2(r, "less", index, length, &is_inside));
    HONE_TRY(onnx_with_scalar(r, "subtract", length, 1, &from_behind));
    HONE_TRY(onnx_emit2(r, "subtract", from_behind, index, &from_behind));
    hone_garg choice[] = {is_inside, from_behind, index}, target[2];
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, &target[0]));
    HONE_TRY(onnx_make_ints(r, (uint32_t)data->rank, data->shape, 1, &target[1]));
    hone_garg args[] = {r->inputs[0], {0}};
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, target, 0, NULL, &args[1]));
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(time)};
    return onnx_emit(r, "gather_elements", 2, args, 1, &attr, out);
}

/* ---- one of many ---- */

/* on where `index` points to along `axis`, else off. */
static hone_status choose_indices(onnx_reader *r, hone_garg index, const hone_expr *depth,
                                  int32_t axis, hone_garg on, hone_garg off, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg indices, choice[] = {{0}, on, off};
    HONE_TRY(onnx_info(r, &index, &info));
    HONE_TRY(onnx_indices(r, depth, info->rank, axis, &indices));
    HONE_TRY(onnx_emit2(r, "equal", index, indices, &choice[0]));
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

/* An item of a vector, as a scalar. */
static hone_status item_of(onnx_reader *r, hone_garg vector, int64_t index, hone_garg *out) {
    hone_garg number;
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, (double)index, &number));
    return onnx_emit_take(r, vector, number, 0, out);
}

/* As a size, and as a number. */
static hone_status read_depth(onnx_reader *r, const hone_expr **out_size, hone_garg *out) {
    int64_t depth;
    if (!is_known(r)) {
        HONE_TRY(onnx_emit_item(r, r->inputs[1], 0, out));
        HONE_TRY(onnx_emit_given_size(r, *out, -1, out_size));
        return onnx_emit_reshape(r, *out, 0, NULL, out);
    }
    HONE_TRY(onnx_const_scalar(r, 1, "the depth", &depth));
    if (depth < 1) return HONE_ERROR(HONE_CODE_INVALID, "the depth is %lld", (long long)depth);
    *out_size = hone_extent_int(&r->ir, depth);
    return onnx_scalar(r, HONE_DTYPE_I64, (double)depth, out);
}

/* Negative indices count from the end; what is beyond both is off everywhere. */
static hone_status convert_one_hot(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info, *values;
    int64_t wanted;
    int32_t axis;
    const hone_expr *extent;
    hone_garg index, depth, from_end, on, off;
    HONE_TRY(onnx_input_info(r, 2, &values));
    if (values->rank == 1 && !hone_expr_is_int(values->shape[0])) {
        return HONE_ERROR(
            HONE_CODE_UNSUPPORTED,
            "the values (input 2) of unknown number must be two; give it with --shape");
    }
    if (values->rank != 1 || !hone_expr_is_int_value(values->shape[0], 2)) {
        return HONE_ERROR(HONE_CODE_INVALID, "the values (input 2) must be two");
    }
    HONE_TRY(read_depth(r, &extent, &depth));
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_int(r, "axis", -1, &wanted));
    HONE_TRY(onnx_axis(r, wanted, info->rank + 1, &axis));
    HONE_TRY(onnx_emit_cast(r, r->inputs[0], HONE_DTYPE_I64, &index));
    HONE_TRY(onnx_emit2(r, "add", index, depth, &from_end));
    hone_garg choice[] = {{0}, from_end, index};
    HONE_TRY(onnx_with_scalar(r, "less", index, 0, &choice[0]));
    HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, &index));
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    HONE_TRY(onnx_emit(r, "expand_dims", 1, &index, 1, &attr, &index));
    HONE_TRY(item_of(r, r->inputs[2], 0, &off));
    HONE_TRY(item_of(r, r->inputs[2], 1, &on));
    return choose_indices(r, index, extent, axis, on, off, out);
}

static hone_status one_at_maximum(onnx_reader *r, hone_garg x, int32_t axis, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg index, on, off;
    hone_attr attrs[] = {
        {"axis",     HONE_VALUE_OF_INT(axis)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)  }
    };
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(onnx_emit(r, "argmax", 1, &x, 2, attrs, &index));
    HONE_TRY(onnx_scalar(r, info->dtype, 1, &on));
    HONE_TRY(onnx_scalar(r, info->dtype, 0, &off));
    return choose_indices(r, index, info->shape[axis], axis, on, off, out);
}

/* Up to opset 12 everything from the axis on counts as one dimension. */
static hone_status convert_hardmax(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t wanted;
    int32_t axis;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", r->opset < 13 ? 1 : -1, &wanted));
    HONE_TRY(onnx_axis(r, wanted, data->rank, &axis));
    *out = r->inputs[0];
    if (onnx_is_empty(data)) return HONE_OK;
    if (r->opset >= 13 || axis == data->rank - 1) return one_at_maximum(r, r->inputs[0], axis, out);
    const hone_expr *flat = hone_extent_int(&r->ir, 1), *shape[HONE_MAX_RANK];
    for (int32_t i = axis; i < data->rank; i++)
        flat = hone_extent_mul(&r->ir, flat, data->shape[i]);
    memcpy(shape, data->shape, (size_t)axis * sizeof *shape);
    shape[axis] = flat;
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], (uint32_t)axis + 1, shape, out));
    HONE_TRY(one_at_maximum(r, *out, axis, out));
    return onnx_emit_reshape(r, *out, (uint32_t)data->rank, data->shape, out);
}

const onnx_converter onnx_index_converters[] = {
    {"GatherElements",  convert_gather_elements, 2, 2, 1, "axis", NULL},
    {"GatherND",                convert_gather_nd, 2, 2, 1, "batch_dims", NULL},
    {"Scatter",                convert_scatter_elements, 3, 3, 1, "axis", NULL},
    {"ScatterElements",             convert_scatter_elements, 3, 3, 1, "axis reduction", NULL},
    {"ScatterND",        convert_scatter_nd, 3, 3, 1, "reduction", NULL},
    {"TensorScatter",                convert_tensor_scatter, 2, 3, 1, "axis mode", NULL},
    {"TopK",                convert_topk, 1, 2, 2, "axis k largest sorted", NULL},
    {"CumSum",             convert_cumulate, 2, 2, 1, "exclusive reverse", "cumsum"},
    {"CumProd",         convert_cumulate, 2, 2, 1, "exclusive reverse", "cumprod"},
    {"ReverseSequence",                convert_reverse_sequence, 2, 2, 1, "batch_axis time_axis", NULL},
    {"OneHot",                convert_one_hot, 3, 3, 1, "axis", NULL},
    {"Hardmax",             convert_hardmax, 1, 1, 1, "axis", NULL},
    {0},
};
