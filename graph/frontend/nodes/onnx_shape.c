/* graph/frontend/nodes/onnx_shape.c - operators that move data, and the arithmetic of shapes around
 * them.
 */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

static hone_status convert_constant(onnx_reader *r, hone_garg *out) {
    const Onnx__NodeProto *node = r->node;
    if (node->n_attribute != 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "%zu attributes, expected one value",
                          node->n_attribute);
    }
    const char *kind = node->attribute[0]->name;
    const Onnx__AttributeProto *attr = onnx_attr(r, kind);
    hone_tensor *tensor = NULL;
    int64_t count;
    if (!attr) return HONE_ERROR(HONE_CODE_INVALID, "the call gives no value for '%s'", kind);
    if (strcmp(kind, "value") == 0) {
        if (!attr->t) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'value' must be a tensor");
        HONE_TRY(onnx_unpack_any(r, attr->t, r->directory, &tensor));
    } else if (strcmp(kind, "sparse_value") == 0) {
        if (!attr->sparse_tensor)
            return HONE_ERROR(HONE_CODE_INVALID,
                              "attribute 'sparse_value' must be a sparse tensor");
        HONE_TRY(onnx_unpack_sparse(r, attr->sparse_tensor, r->directory, &tensor));
    } else if (strcmp(kind, "value_string") == 0) {
        HONE_TRY(onnx_unpack_strings(1, &attr->s, 0, NULL, &tensor));
    } else if (strcmp(kind, "value_strings") == 0) {
        count = (int64_t)attr->n_strings;
        HONE_TRY(onnx_unpack_strings(attr->n_strings, attr->strings, 1, &count, &tensor));
    } else if (strcmp(kind, "value_float") == 0) {
        return onnx_scalar(r, HONE_DTYPE_F32, (double)attr->f, out);
    } else if (strcmp(kind, "value_int") == 0) {
        HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 0, NULL, &tensor));
        hone_tensor_set_i64(tensor, 0, attr->i);
    } else if (strcmp(kind, "value_floats") == 0) {
        count = (int64_t)attr->n_floats;
        HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 1, &count, &tensor));
        if (count) memcpy(tensor->data, attr->floats, attr->n_floats * sizeof *attr->floats);
    } else {
        count = (int64_t)attr->n_ints;
        HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, &tensor));
        if (count) memcpy(tensor->data, attr->ints, attr->n_ints * sizeof *attr->ints);
    }
    bool is_text = strncmp(kind, "value_string", 12) == 0 ||
                   (attr->t && onnx_is_string_type(attr->t->data_type));
    return onnx_add_any(r, is_text, tensor, out);
}

/* ---- shapes as values ---- */

static hone_status convert_shape(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t start, end;
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(onnx_attr_int(r, "start", 0, &start));
    HONE_TRY(onnx_attr_int(r, "end", info->rank, &end));
    if (start < 0) start += info->rank;
    if (end < 0) end += info->rank;
    start = start < 0 ? 0 : start > info->rank ? info->rank : start;
    end = end < start ? start : end > info->rank ? info->rank : end;
    return onnx_make_ints(r, (uint32_t)(end - start), info->shape + start, 1, out);
}

static hone_status convert_size(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 0, &info));
    const hone_expr *size = hone_extent_int(&r->ir, 1);
    for (int32_t i = 0; i < info->rank; i++)
        size = hone_extent_mul(&r->ir, size, info->shape[i]);
    return onnx_make_ints(r, 1, &size, 0, out);
}

static bool is_known_kind(const hone_garg *arg) {
    return arg->kind == HONE_GARG_SHAPE || arg->kind == HONE_GARG_PRIM;
}

/* ---- views ---- */

/* With allowzero 0 is 0: the data must have no elements, and then no other extent follows. */
static hone_status check_zero(const hone_sinfo *data, uint32_t count, const hone_expr *const *shape,
                              uint32_t i) {
    bool is_empty = false, is_open = false;
    if (!hone_expr_is_int_value(shape[i], 0)) return HONE_OK;
    for (int32_t d = 0; d < data->rank; d++)
        is_empty |= hone_expr_is_int_value(data->shape[d], 0);
    for (uint32_t d = 0; d < count; d++)
        is_open |= hone_expr_is_int_value(shape[d], -1);
    if (is_empty && !is_open) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "dimension %u of the shape is 0%s", i,
                      is_open ? " beside one that is to follow" : "");
}

static hone_status reshape_by_data(onnx_reader *r, const hone_sinfo *data, bool allow_zero,
                                   hone_garg *out) {
    const hone_sinfo *target;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_input_info(r, 1, &target));
    int64_t count = target->rank == 1 ? hone_expr_const(target->shape[0]) : -1;
    if (count < 0 || count > HONE_MAX_RANK) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the shape (input 1) must be constant, or of a known length up to %d",
                          HONE_MAX_RANK);
    }
    for (int32_t d = 0; d < data->rank; d++) {
        if (!hone_expr_is_int_value(data->shape[d], 0)) continue;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "the shape (input 1) must be constant for data without elements");
    }
    HONE_TRY(onnx_emit_target(r, r->inputs[1], data, allow_zero, (uint32_t)count, shape));
    return onnx_emit_reshape(r, r->inputs[0], (uint32_t)count, shape, out);
}

/* What the -1 stands for only sizes tell that are known when the model runs: names of the file say
 * less than its data. */
static bool is_rest_open(onnx_reader *r, const hone_sinfo *data, uint32_t count,
                         const hone_expr *const *shape) {
    const hone_expr *others[ONNX_MAX_KNOWN];
    int32_t known = 0;
    bool has_open = false;
    for (uint32_t i = 0; i < count; i++) {
        has_open |= !hone_expr_is_int(shape[i]);
        if (!hone_expr_is_int_value(shape[i], -1)) others[known++] = shape[i];
    }
    bool is_one = known + 1 == (int32_t)count && count <= HONE_MAX_RANK;
    return is_one && has_open && !hone_infer_rest(&r->ir, data, known, others);
}

static hone_status convert_reshape(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *shape[ONNX_MAX_KNOWN];
    uint32_t count;
    int32_t rank;
    int64_t allow_zero, attr_shape[HONE_MAX_RANK];
    HONE_TRY(onnx_attr_int(r, "allowzero", 0, &allow_zero));
    if (is_known_kind(&r->inputs[0])) HONE_TRY(onnx_as_tensor(r, &r->inputs[0]));
    HONE_TRY(onnx_input_info(r, 0, &data));
    if (onnx_has_input(r, 1)) {
        if (!onnx_known_ints(r, &r->inputs[1], &count, shape, &rank)) {
            return reshape_by_data(r, data, allow_zero != 0, out);
        }
    } else {
        HONE_TRY(onnx_attr_ints(r, "shape", HONE_MAX_RANK, attr_shape, &count));
        for (uint32_t i = 0; i < count; i++)
            shape[i] = hone_extent_int(&r->ir, attr_shape[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (allow_zero) HONE_TRY(check_zero(data, count, shape, i));
        if (allow_zero || !hone_expr_is_int_value(shape[i], 0)) continue;
        if (i >= (uint32_t)data->rank) {
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %u of the shape is 0", i);
        }
        shape[i] = data->shape[i];
    }
    if (is_rest_open(r, data, count, shape)) return reshape_by_data(r, data, allow_zero != 0, out);
    return onnx_emit_reshape(r, r->inputs[0], count, shape, out);
}

static hone_status convert_flatten(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t wanted;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", 1, &wanted));
    if (wanted < -data->rank || wanted > data->rank) {
        return HONE_ERROR(HONE_CODE_INVALID, "axis is %lld, must be from %d to %d",
                          (long long)wanted, -data->rank, data->rank);
    }
    int32_t axis = (int32_t)(wanted < 0 ? wanted + data->rank : wanted);
    const hone_expr *shape[2] = {hone_extent_int(&r->ir, 1), hone_extent_int(&r->ir, 1)};
    for (int32_t i = 0; i < data->rank; i++) {
        shape[i >= axis] = hone_extent_mul(&r->ir, shape[i >= axis], data->shape[i]);
    }
    return onnx_emit_reshape(r, r->inputs[0], 2, shape, out);
}

/* Axes as an attribute, or as an input since opset 13. */
static hone_status view_axes(onnx_reader *r, int64_t *axes, uint32_t *out_count) {
    if (onnx_has_input(r, 1)) {
        return onnx_const_ints(r, 1, "axes", HONE_MAX_RANK, axes, out_count);
    }
    return onnx_attr_ints(r, "axes", HONE_MAX_RANK, axes, out_count);
}

/* Without axes, how many dimensions are left is known only where all sizes are. */
static hone_status check_sizes_known(onnx_reader *r) {
    const hone_sinfo *data;
    HONE_TRY(onnx_input_info(r, 0, &data));
    for (int32_t i = 0; i < data->rank; i++) {
        if (hone_expr_is_int(data->shape[i])) continue;
        return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                          "without axes the size of dimension %d must be known, for it is left out "
                          "where it is 1; give it with --shape, or the axes",
                          i);
    }
    return HONE_OK;
}

/* What goes is 1: sizes that come later are checked when they do. */
static hone_status demand_ones(onnx_reader *r, uint32_t count, const int64_t *axes) {
    const hone_sinfo *data;
    int32_t axis;
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(onnx_input_info(r, 0, &data));
        HONE_TRY(onnx_axis(r, axes[i], data->rank, &axis));
        if (!hone_expr_is_int(data->shape[axis]))
            HONE_TRY(onnx_demand_size(r, &r->inputs[0], axis, 1));
    }
    return HONE_OK;
}

static hone_status convert_squeeze(onnx_reader *r, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK];
    uint32_t count;
    HONE_TRY(view_axes(r, axes, &count));
    if (r->inputs[0].kind == HONE_GARG_SHAPE && r->inputs[0].count == 1) {
        return onnx_make_ints(r, 1, r->inputs[0].u.exprs, 0, out);
    }
    HONE_TRY(count ? demand_ones(r, count, axes) : check_sizes_known(r));
    hone_attr attr = {"axis", onnx_ints_value(r, count, axes)};
    return onnx_emit(r, "squeeze", 1, r->inputs, count ? 1 : 0, &attr, out);
}

static hone_status convert_unsqueeze(onnx_reader *r, hone_garg *out) {
    int64_t axes[HONE_MAX_RANK];
    uint32_t count;
    HONE_TRY(view_axes(r, axes, &count));
    if (count == 0) {
        *out = r->inputs[0];
        return HONE_OK;
    }
    if (r->inputs[0].kind == HONE_GARG_PRIM && count == 1) {
        return onnx_make_ints(r, 1, &r->inputs[0].u.expr, 1, out);
    }
    hone_attr attr = {"axis", onnx_ints_value(r, count, axes)};
    return onnx_emit(r, "expand_dims", 1, r->inputs, 1, &attr, out);
}

static hone_status convert_transpose(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axes[HONE_MAX_RANK];
    uint32_t count;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_ints(r, "perm", HONE_MAX_RANK, axes, &count));
    if (!onnx_attr(r, "perm")) {
        count = (uint32_t)data->rank;
        for (uint32_t i = 0; i < count; i++)
            axes[i] = data->rank - 1 - (int64_t)i;
    }
    if (count != (uint32_t)data->rank) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "attribute 'perm' has %u integers, the data %d dimensions", count,
                          data->rank);
    }
    return onnx_emit_permute(r, r->inputs[0], count, axes, out);
}

/* Blocks of b × b positions become channels, or the other way round: reshape, permute, reshape. */
static hone_status convert_depth_space(onnx_reader *r, hone_garg *out) {
    static const int64_t to_space_dcr[] = {0, 3, 4, 1, 5, 2}, to_space_crd[] = {0, 1, 4, 2, 5, 3};
    static const int64_t to_depth_dcr[] = {0, 3, 5, 1, 2, 4}, to_depth_crd[] = {0, 1, 3, 5, 2, 4};
    const hone_sinfo *data;
    int64_t block;
    static const char *const words[] = {"CRD", "DCR", NULL};
    uint32_t word;
    bool to_space = strcmp(r->node->op_type, "DepthToSpace") == 0;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "blocksize", 0, &block));
    HONE_TRY(onnx_attr_word(r, "mode", "DCR", words, &word));
    bool is_dcr = word == 1;
    if (data->rank != 4 || block < 1 || block > 4096) {
        return HONE_ERROR(HONE_CODE_INVALID, "data of %d dimensions with blocks of %lld",
                          data->rank, (long long)block);
    }
    const hone_expr *b = hone_extent_int(&r->ir, block), *n = data->shape[0], *c = data->shape[1];
    const hone_expr *h = data->shape[2], *w = data->shape[3];
    const hone_expr *fewer = hone_extent_div(&r->ir, c, block * block);
    const hone_expr *low = hone_extent_div(&r->ir, h, block),
                    *narrow = hone_extent_div(&r->ir, w, block);
    const hone_expr *dcr[] = {n, b, b, fewer, h, w}, *crd[] = {n, fewer, b, b, h, w};
    const hone_expr *blocks[] = {n, c, low, b, narrow, b};
    const hone_expr *const *split = !to_space ? blocks : is_dcr ? dcr : crd;
    const hone_expr *space[] = {n, fewer, hone_extent_mul(&r->ir, h, b),
                                hone_extent_mul(&r->ir, w, b)};
    const hone_expr *depth[] = {n, hone_extent_mul(&r->ir, c, hone_extent_mul(&r->ir, b, b)), low,
                                narrow};
    const int64_t *to_depth = is_dcr ? to_depth_dcr : to_depth_crd;
    const int64_t *axes = !to_space ? to_depth : is_dcr ? to_space_dcr : to_space_crd;
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], 6, split, out));
    HONE_TRY(onnx_emit_permute(r, *out, 6, axes, out));
    return onnx_emit_reshape(r, *out, 4, to_space ? space : depth, out);
}

/* Sizes that come later are taken not to be 1 beside another, as in sums: a call finds out. */
static hone_status demand_fit(onnx_reader *r, const hone_sinfo *data, const hone_expr *const *fits,
                              hone_garg *io) {
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(onnx_demand_shape(r, io, data->rank, fits));
    return onnx_demand_shape(r, io, data->rank, data->shape);
}

/* A size that is `size` where the other one is as large, or 1; else, as a rule, the other one. */
static const hone_expr *fitting(onnx_reader *r, const hone_expr *size, const hone_expr *other) {
    const hone_expr *from_one = hone_extent_add(&r->ir, other, -1);
    const hone_expr *is_more =
        hone_expr_binary(&r->ir, HONE_OP_MIN, from_one, hone_extent_int(&r->ir, 1));
    const hone_expr *apart = hone_expr_sub(&r->ir, other, size);
    return hone_extent_sum(&r->ir, size, hone_extent_mul(&r->ir, is_more, apart));
}

static hone_status convert_expand(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *shape[ONNX_MAX_KNOWN], *both[HONE_MAX_RANK], *fits[HONE_MAX_RANK];
    uint32_t count;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_sizes(r, 1, "the shape", &count, shape));
    if (data->rank) memcpy(fits, data->shape, (size_t)data->rank * sizeof *fits);
    int32_t rank = data->rank > (int32_t)count ? data->rank : (int32_t)count;
    if (rank > HONE_MAX_RANK) return HONE_ERROR(HONE_CODE_INVALID, "too many dimensions");
    for (int32_t i = 0; i < rank; i++) { /* either side may be 1 */
        int32_t d = i - (rank - data->rank), t = i - (rank - (int32_t)count);
        bool is_kept = t < 0 || (d >= 0 && hone_expr_is_int_value(shape[t], 1));
        bool is_open = !is_kept && d >= 0 && !hone_expr_is_int(shape[t]);
        is_kept |= is_open && !hone_expr_is_int_value(data->shape[d], 1);
        both[i] = is_kept ? data->shape[d] : shape[t];
        if (is_open && is_kept) fits[d] = fitting(r, data->shape[d], shape[t]);
        if (hone_expr_is_int(both[i]) && both[i]->u.i < 0) {
            return HONE_ERROR(HONE_CODE_INVALID, "dimension %d of the shape is %lld", i,
                              (long long)both[i]->u.i);
        }
    }
    hone_garg args[2] = {r->inputs[0]};
    HONE_TRY(demand_fit(r, data, fits, &args[0]));
    HONE_TRY(onnx_make_ints(r, (uint32_t)rank, both, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
}

/* ---- pieces ---- */

/* Known integers joined to known integers. */
static bool concat_ints(onnx_reader *r, hone_garg *out) {
    const hone_expr *all[ONNX_MAX_KNOWN], *part[ONNX_MAX_KNOWN];
    uint32_t total = 0, count;
    int32_t rank;
    bool any = false;
    for (uint32_t i = 0; i < r->input_count; i++) {
        any |= is_known_kind(&r->inputs[i]);
        if (!onnx_known_ints(r, &r->inputs[i], &count, part, &rank) || rank != 1 ||
            total + count > ONNX_MAX_KNOWN) {
            return false;
        }
        memcpy(all + total, part, count * sizeof *all);
        total += count;
    }
    if (!any) return false;
    hone_status st = onnx_make_ints(r, total, all, 1, out);
    if (st) hone_status_free(st);
    return !st;
}

/* What is known of integers that are joined; 0: they are none, or too many. */
static uint32_t join_items(onnx_reader *r, const hone_expr **items) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < r->input_count; i++) {
        const hone_sinfo *info;
        hone_status st = onnx_input_info(r, i, &info);
        bool is_vector = !st && info->rank == 1 && info->dtype.code == HONE_DTYPE_CODE_INT;
        int64_t count = is_vector ? hone_expr_const(info->shape[0]) : -1;
        hone_status_free(st);
        if (count < 0 || count > ONNX_MAX_KNOWN - (int64_t)total) return 0;
        onnx_known_items(r, &r->inputs[i], (uint32_t)count, items + total);
        total += (uint32_t)count;
    }
    return total;
}

static hone_status convert_concat(onnx_reader *r, hone_garg *out) {
    int64_t axis;
    if (!onnx_attr(r, "axis")) return HONE_ERROR(HONE_CODE_INVALID, "attribute 'axis' is missing");
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    if (concat_ints(r, out)) return HONE_OK;
    for (uint32_t i = 0; i < r->input_count; i++)
        if (!onnx_has_input(r, i)) return HONE_ERROR(HONE_CODE_INVALID, "input %u is missing", i);
    const hone_expr *items[ONNX_MAX_KNOWN];
    uint32_t count = join_items(r, items);
    for (uint32_t i = 0; i < r->input_count; i++)
        HONE_TRY(onnx_as_tensor(r, &r->inputs[i]));
    HONE_TRY(onnx_emit_concat(r, r->input_count, r->inputs, axis, out));
    return count ? onnx_note_items(r, out, count, items) : HONE_OK;
}

/* ---- Split ---- */

/* Equal parts, the last one smaller. */
static hone_status equal_parts(onnx_reader *r, const hone_expr *extent, int64_t count,
                               const hone_expr **lengths) {
    if (count < 1 || count > ONNX_MAX_OUTPUTS)
        return HONE_ERROR(HONE_CODE_INVALID, "%lld parts", (long long)count);
    int64_t known = hone_expr_const(extent), part = (known + count - 1) / count;
    const hone_expr *each =
        known >= 0 ? hone_extent_int(&r->ir, part)
                   : hone_extent_div(&r->ir, hone_extent_add(&r->ir, extent, count - 1), count);
    const hone_expr *before = hone_extent_mul(&r->ir, each, hone_extent_int(&r->ir, 1 - count));
    for (int64_t i = 0; i < count; i++) {
        int64_t left = known - part * i;
        bool is_last = known < 0 && i == count - 1;
        lengths[i] = is_last                     ? hone_extent_sum(&r->ir, extent, before)
                     : known >= 0 && left < part ? hone_extent_int(&r->ir, left < 0 ? 0 : left)
                                                 : each;
    }
    return hone_ir_finish(&r->ir);
}

/* More lengths than are tracked while reading, as a constant. */
static bool is_long_list(const onnx_reader *r, const hone_garg *arg) {
    const hone_tensor *list = onnx_constant_of(r, arg);
    return list && list->rank == 1 && hone_dtype_equal(list->dtype, HONE_DTYPE_I64) &&
           hone_tensor_count(list) > ONNX_MAX_KNOWN;
}

static hone_status long_list(onnx_reader *r, const hone_garg *arg, uint32_t *out_count,
                             const hone_expr **lengths) {
    const hone_tensor *list = onnx_constant_of(r, arg);
    int64_t count = hone_tensor_count(list);
    if (count > ONNX_MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "%lld parts, at most %d", (long long)count,
                          ONNX_MAX_OUTPUTS);
    }
    for (int64_t i = 0; i < count; i++)
        lengths[i] = hone_extent_int(&r->ir, hone_tensor_get_i64(list, i));
    *out_count = (uint32_t)count;
    return hone_ir_finish(&r->ir);
}

static hone_status lengths_of_parts(onnx_reader *r, const hone_expr *extent, uint32_t *out_count,
                                    const hone_expr **lengths) {
    int64_t parts, sizes[ONNX_MAX_OUTPUTS];
    HONE_TRY(onnx_attr_int(r, "num_outputs", r->output_count, &parts));
    bool is_empty = hone_expr_const(extent) == 0; /* of which no part is computed */
    if (onnx_has_input(r, 1) && is_long_list(r, &r->inputs[1]))
        return long_list(r, &r->inputs[1], out_count, lengths);
    if (onnx_has_input(r, 1) && !is_empty) return onnx_sizes(r, 1, "split", out_count, lengths);
    HONE_TRY(onnx_has_input(r, 1)
                 ? onnx_const_ints(r, 1, "split", ONNX_MAX_OUTPUTS, sizes, out_count)
                 : onnx_attr_ints(r, "split", ONNX_MAX_OUTPUTS, sizes, out_count));
    for (uint32_t i = 0; i < *out_count; i++)
        lengths[i] = hone_extent_int(&r->ir, sizes[i]);
    if (*out_count) return hone_ir_finish(&r->ir);
    *out_count = (uint32_t)parts;
    return equal_parts(r, extent, parts, lengths);
}

static bool are_numbers(uint32_t count, const hone_expr *const *sizes) {
    for (uint32_t i = 0; i < count; i++)
        if (!hone_expr_is_int(sizes[i])) return false;
    return true;
}

/* Parts of a vector of numbers that are known stay known; false where it is none. */
static bool split_numbers(onnx_reader *r, uint32_t count, const hone_expr *const *lengths,
                          hone_garg *out, hone_status *out_status) {
    const hone_expr *items[ONNX_MAX_KNOWN];
    const hone_sinfo *data;
    uint32_t known, at = 0;
    int32_t rank;
    *out_status = onnx_input_info(r, 0, &data);
    if (*out_status) return true;
    if (!hone_dtype_equal(data->dtype, HONE_DTYPE_I64)) return false;
    if (!onnx_known_ints(r, &r->inputs[0], &known, items, &rank) || rank != 1) return false;
    for (uint32_t i = 0; !*out_status && i < count && i < r->output_count; i++) {
        const uint32_t length = (uint32_t)lengths[i]->u.i;
        *out_status = onnx_make_ints(r, length, items + at, 1, &out[i]);
        at += length;
    }
    return true;
}

static hone_status split_known(onnx_reader *r, int32_t axis, int64_t extent, uint32_t count,
                               const hone_expr *const *lengths, hone_garg *out) {
    int64_t cuts[ONNX_MAX_OUTPUTS], sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t length = lengths[i]->u.i;
        if (length < 0 || length > extent - sum) {
            return HONE_ERROR(HONE_CODE_INVALID, "part %u has %lld of %lld elements", i,
                              (long long)length, (long long)extent);
        }
        cuts[i] = sum += length;
    }
    if (sum != extent) {
        return HONE_ERROR(HONE_CODE_INVALID, "the parts have %lld elements, the axis has %lld",
                          (long long)sum, (long long)extent);
    }
    hone_status st;
    if (split_numbers(r, count, lengths, out, &st)) return st;
    hone_garg tuple;
    hone_attr attrs[] = {
        {"indices_or_sections", onnx_ints_value(r, count - 1, cuts)},
        {"axis",                HONE_VALUE_OF_INT(axis)                                }
    };
    HONE_TRY(onnx_emit(r, "split", 1, r->inputs, 2, attrs, &tuple));
    for (uint32_t i = 0; i < r->output_count; i++)
        HONE_TRY(onnx_emit_get(r, tuple, (int32_t)i, &out[i]));
    return HONE_OK;
}

static hone_status convert_split(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *lengths[ONNX_MAX_OUTPUTS];
    int64_t axis;
    uint32_t count = 0;
    int32_t at;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    HONE_TRY(onnx_axis(r, axis, data->rank, &at));
    HONE_TRY(lengths_of_parts(r, data->shape[at], &count, lengths));
    if (count < r->output_count || count > ONNX_MAX_OUTPUTS) {
        return HONE_ERROR(HONE_CODE_INVALID, "%u parts for %u outputs", count, r->output_count);
    }
    int64_t extent = hone_expr_const(data->shape[at]);
    if (extent >= 0 && are_numbers(count, lengths))
        return split_known(r, at, extent, count, lengths, out);
    return onnx_emit_parts(r, r->inputs[0], at, count, lengths, out);
}

static bool gather_ints(onnx_reader *r, hone_garg *out) {
    const hone_expr *from[ONNX_MAX_KNOWN], *indices[ONNX_MAX_KNOWN], *to[ONNX_MAX_KNOWN];
    uint32_t count, taken;
    int32_t rank, indices_rank;
    if (r->inputs[0].kind != HONE_GARG_SHAPE ||
        !onnx_known_ints(r, &r->inputs[0], &count, from, &rank) ||
        !onnx_known_ints(r, &r->inputs[1], &taken, indices, &indices_rank)) {
        return false;
    }
    for (uint32_t i = 0; i < taken; i++) {
        if (!hone_expr_is_int(indices[i])) return false;
        int64_t at = indices[i]->u.i < 0 ? indices[i]->u.i + count : indices[i]->u.i;
        if (at < 0 || at >= count) return false;
        to[i] = from[at];
    }
    hone_status st = onnx_make_ints(r, taken, to, indices_rank, out);
    if (st) hone_status_free(st);
    return !st;
}

/* Indices that are constant are counted from the front, and none lies outside. Of others the kernel
 * finds out. */
static hone_status convert_gather(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *data;
    int64_t axis;
    int32_t at;
    if (gather_ints(r, out)) return HONE_OK;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_attr_int(r, "axis", 0, &axis));
    HONE_TRY(onnx_axis(r, axis, data->rank, &at));
    int64_t extent = hone_expr_const(data->shape[at]);
    HONE_TRY(onnx_as_tensor(r, &r->inputs[1]));
    const hone_tensor *indices = onnx_constant_of(r, &r->inputs[1]);
    hone_attr attrs[] = {
        {"axis", HONE_VALUE_OF_INT(at)         },
        {"mode", HONE_VALUE_OF_STRING("signed")}
    };
    if (!indices || extent < 0) return onnx_emit(r, "take", 2, r->inputs, 2, attrs, out);
    if (!hone_dtype_is_integer(indices->dtype)) {
        return HONE_ERROR(HONE_CODE_INVALID, "the indices (input 1) must be integers");
    }
    hone_tensor *checked;
    HONE_TRY(hone_tensor_clone(indices, &checked));
    for (int64_t i = 0; i < hone_tensor_count(checked); i++) {
        int64_t index = hone_tensor_get_i64(checked, i);
        if (index < -extent || index >= extent) {
            hone_tensor_destroy(checked);
            return HONE_ERROR(HONE_CODE_INVALID, "index %lld is not from %lld to %lld",
                              (long long)index, (long long)-extent, (long long)(extent - 1));
        }
        if (index < 0) hone_tensor_set_i64(checked, i, index + extent);
    }
    hone_garg args[2] = {r->inputs[0]};
    HONE_TRY(onnx_add_constant(r, checked, &args[1]));
    return onnx_emit(r, "take", 2, args, 1, attrs, out);
}

const onnx_converter onnx_shape_converters[] = {
    {"Constant", convert_constant, 0, 0, 1,
     "sparse_value value value_float value_floats value_int value_ints value_string value_strings", NULL},
    {"Shape",         convert_shape, 1, 1, 1, "start end", NULL},
    {"Size",         convert_size, 1, 1, 1, "", NULL},
    {"Reshape",      convert_reshape, 1, 2, 1, "allowzero shape", NULL},
    {"Flatten",    convert_flatten, 1, 1, 1, "axis", NULL},
    {"Squeeze",         convert_squeeze, 1, 2, 1, "axes", NULL},
    {"Unsqueeze",         convert_unsqueeze, 1, 2, 1, "axes", NULL},
    {"Transpose",      convert_transpose, 1, 1, 1, "perm", NULL},
    {"DepthToSpace",     convert_depth_space, 1, 1, 1, "blocksize mode", NULL},
    {"SpaceToDepth",         convert_depth_space, 1, 1, 1, "blocksize mode", NULL},
    {"Expand",         convert_expand, 2, 2, 1, "", NULL},
    {"Concat",      convert_concat, 1, 255, 1, "axis", NULL},
    {"Split",  convert_split, 1, 2, ONNX_MAX_OUTPUTS, "axis num_outputs split", NULL},
    {"Gather",         convert_gather, 2, 2, 1, "axis", NULL},
    {0        },
};
