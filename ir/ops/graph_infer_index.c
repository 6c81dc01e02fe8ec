/* ir/ops/graph_infer_index.c - shapes of operators whose places are computed, of those that order
 * or add along an axis, and of those that repeat what they are given. */
#include <string.h>

#include "ir/ops/graph_infer.h"

static hone_status wants_indices(hone_infer *in, uint32_t arg) {
    const hone_sinfo *indices = in->args[arg];
    if (indices->kind != HONE_SINFO_TENSOR) {
        return hone_infer_doubt(in, "argument %u must be a tensor of indices", arg + 1);
    }
    if (hone_dtype_is_void(indices->dtype) || hone_dtype_is_integer(indices->dtype)) return HONE_OK;
    return hone_infer_fail(in, "the indices must be integers");
}

static hone_status axis_of(hone_infer *in, int64_t fallback, int32_t *out) {
    return hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", fallback),
                           in->args[0]->rank, out);
}

/* INVALID where an extent of the indices surely goes beyond that of the data. */
static hone_status fits_beside(hone_infer *in, int32_t axis) {
    const hone_sinfo *data = in->args[0], *indices = in->args[1];
    if (indices->rank != data->rank) {
        return hone_infer_fail(in, "data and indices must have equally many dimensions");
    }
    for (int32_t d = 0; d < data->rank; d++) {
        int64_t least = hone_expr_const(data->shape[d]), most = hone_expr_const(indices->shape[d]);
        if (d == axis || least < 0 || most <= least) continue;
        return hone_infer_fail(in, "dimension %d of the indices is larger than that of the data",
                               d);
    }
    return HONE_OK;
}

hone_status hone_infer_gather_elements(hone_infer *in) {
    int32_t axis;
    HONE_TRY(wants_indices(in, 1));
    HONE_TRY(axis_of(in, 0, &axis));
    HONE_TRY(fits_beside(in, axis));
    return hone_infer_tensor(in, in->args[0]->dtype, in->args[1]->rank, in->args[1]->shape);
}

/* How many dimensions the last one of the indices names; they must be there behind the batch. */
static hone_status places_of(hone_infer *in, int32_t batch, int32_t *out) {
    const hone_sinfo *data = in->args[0], *indices = in->args[1];
    HONE_TRY(wants_indices(in, 1));
    if (indices->rank < 1 || batch < 0 || batch >= indices->rank || batch > data->rank) {
        return hone_infer_fail(in, "%d dimensions of batches do not fit", batch);
    }
    int64_t count = hone_expr_const(indices->shape[indices->rank - 1]);
    if (count < 0) return hone_infer_doubt(in, "the last extent of the indices must be known");
    if (count > data->rank - batch) {
        return hone_infer_fail(in, "indices of %lld places into %d dimensions", (long long)count,
                               data->rank - batch);
    }
    *out = (int32_t)count;
    return HONE_OK;
}

static hone_status same_batch(hone_infer *in, int32_t batch) {
    for (int32_t d = 0; d < batch; d++) {
        const hone_expr *a = in->args[0]->shape[d], *b = in->args[1]->shape[d];
        if (hone_infer_same_extent(in, a, b)) continue;
        if (hone_extent_differs(a, b)) return hone_infer_fail(in, "dimension %d differs", d);
        return hone_infer_doubt(in, "dimension %d is not known to be the same", d);
    }
    return HONE_OK;
}

hone_status hone_infer_gather_nd(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *indices = in->args[1];
    int64_t given = hone_attrs_int(&in->bind->attrs, "batch_dims", 0);
    int32_t batch = given < 0 || given > HONE_MAX_RANK ? -1 : (int32_t)given, count, rank = 0;
    const hone_expr *shape[2 * HONE_MAX_RANK];
    HONE_TRY(places_of(in, batch, &count));
    HONE_TRY(same_batch(in, batch));
    for (int32_t d = 0; d < indices->rank - 1; d++)
        shape[rank++] = indices->shape[d];
    for (int32_t d = batch + count; d < data->rank; d++)
        shape[rank++] = data->shape[d];
    return hone_infer_tensor(in, data->dtype, rank, shape);
}

/* Updates of the type of the data, in a shape of this rank and these extents. */
static hone_status wants_updates(hone_infer *in, int32_t rank, const hone_expr *const *shape) {
    const hone_sinfo *data = in->args[0], *updates = in->args[2];
    if (updates->kind != HONE_SINFO_TENSOR) return hone_infer_doubt(in, "updates must be a tensor");
    if (hone_dtypes_differ(data->dtype, updates->dtype)) {
        return hone_infer_fail(in, "data and updates have other element types");
    }
    if (updates->rank != rank)
        return hone_infer_fail(in, "the updates must have %d dimensions", rank);
    for (int32_t d = 0; d < rank; d++) {
        if (hone_infer_same_extent(in, updates->shape[d], shape[d])) continue;
        if (hone_extent_differs(updates->shape[d], shape[d])) {
            return hone_infer_fail(in, "dimension %d of the updates does not fit", d);
        }
        return hone_infer_doubt(in, "dimension %d of the updates is not known to fit", d);
    }
    return HONE_OK;
}

hone_status hone_infer_scatter_elements(hone_infer *in) {
    int32_t axis;
    HONE_TRY(wants_indices(in, 1));
    HONE_TRY(axis_of(in, 0, &axis));
    HONE_TRY(fits_beside(in, axis));
    HONE_TRY(wants_updates(in, in->args[1]->rank, in->args[1]->shape));
    return hone_infer_same(in);
}

hone_status hone_infer_scatter_nd(hone_infer *in) {
    const hone_sinfo *data = in->args[0], *indices = in->args[1];
    const hone_expr *shape[2 * HONE_MAX_RANK];
    int32_t count, rank = 0;
    HONE_TRY(places_of(in, 0, &count));
    for (int32_t d = 0; d < indices->rank - 1; d++)
        shape[rank++] = indices->shape[d];
    for (int32_t d = count; d < data->rank; d++)
        shape[rank++] = data->shape[d];
    HONE_TRY(wants_updates(in, rank, shape));
    return hone_infer_same(in);
}

/* A dimension more: one number at the index along it, and another everywhere else. */
hone_status hone_infer_one_hot(hone_infer *in) {
    const hone_sinfo *indices = in->args[0], *on = in->args[1], *off = in->args[2];
    const hone_expr *shape[HONE_MAX_RANK + 1];
    int64_t depth = hone_attrs_int(&in->bind->attrs, "depth", 1);
    int32_t axis, rank = indices->rank + 1;
    HONE_TRY(wants_indices(in, 0));
    if (on->kind != HONE_SINFO_PRIM || off->kind != HONE_SINFO_PRIM) {
        return hone_infer_doubt(in, "wants two numbers: R.prim_value(1), R.prim_value(0)");
    }
    if (hone_dtypes_differ(on->dtype, off->dtype))
        return hone_infer_fail(in, "element types differ");
    if (depth < 1) return hone_infer_fail(in, "a depth of %lld", (long long)depth);
    HONE_TRY(hone_infer_axis(in, hone_attrs_int(&in->bind->attrs, "axis", -1), rank, &axis));
    for (int32_t d = 0, next = 0; d < rank; d++)
        shape[d] = d == axis ? hone_extent_int(&in->ir, depth) : indices->shape[next++];
    return hone_infer_tensor(in, on->dtype, rank, shape);
}

/* Sums and products up to each place: along an axis, or of all elements in their order. */
hone_status hone_infer_cumulate(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    const hone_value *axis = hone_attrs_find(&in->bind->attrs, "axis");
    hone_dtype dtype;
    int32_t ignored;
    HONE_TRY(hone_infer_dtype(in, x->dtype, &dtype));
    if (axis && axis->kind != HONE_VALUE_NONE) {
        HONE_TRY(axis_of(in, 0, &ignored));
        return hone_infer_tensor(in, dtype, x->rank, x->shape);
    }
    HONE_TRY(hone_infer_flatten(in));
    return hone_infer_tensor(in, dtype, 1, in->result->shape);
}

hone_status hone_infer_sort(hone_infer *in) {
    int32_t ignored;
    HONE_TRY(axis_of(in, -1, &ignored));
    return hone_infer_same(in);
}

hone_status hone_infer_argsort(hone_infer *in) {
    int32_t ignored;
    hone_dtype dtype;
    HONE_TRY(axis_of(in, -1, &ignored));
    HONE_TRY(hone_infer_dtype(in, HONE_DTYPE_I32, &dtype));
    return hone_infer_tensor(in, dtype, in->args[0]->rank, in->args[0]->shape);
}

/* The k first along an axis: values, indices or both, as ret_type says; all of them for k < 1. */
hone_status hone_infer_topk(hone_infer *in) {
    const hone_sinfo *x = in->args[0], *fields[2];
    const char *kind = hone_attrs_string(&in->bind->attrs, "ret_type", "both");
    const hone_expr *shape[HONE_MAX_RANK];
    hone_dtype dtype;
    int32_t axis;
    HONE_TRY(axis_of(in, -1, &axis));
    HONE_TRY(hone_infer_dtype(in, HONE_DTYPE_I32, &dtype));
    int64_t k = hone_attrs_int(&in->bind->attrs, "k", 1), extent = hone_expr_const(x->shape[axis]);
    if (extent >= 0 && k > extent) {
        return hone_infer_fail(in, "the first %lld of %lld", (long long)k, (long long)extent);
    }
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
    if (k > 0) shape[axis] = hone_extent_int(&in->ir, k);
    HONE_TRY(hone_infer_tensor(in, x->dtype, x->rank, shape));
    fields[0] = in->result;
    if (strcmp(kind, "values") == 0) return HONE_OK;
    HONE_TRY(hone_infer_tensor(in, dtype, x->rank, shape));
    fields[1] = in->result;
    if (strcmp(kind, "indices") == 0) return HONE_OK;
    if (strcmp(kind, "both") != 0) return hone_infer_fail(in, "ret_type '%s'", kind);
    in->result = hone_sinfo_tuple(in->ir.arena, 2, fields);
    return in->result ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "shape");
}

hone_status hone_infer_triangle(hone_infer *in) {
    if (in->args[0]->rank < 2) return hone_infer_fail(in, "wants at least two dimensions");
    return hone_infer_same(in);
}

hone_status hone_infer_flip(hone_infer *in) {
    int32_t ignored;
    HONE_TRY(axis_of(in, 0, &ignored));
    return hone_infer_same(in);
}

/* Numbers for more dimensions than there are count dimensions of 1 in front, and the other way. */
hone_status hone_infer_tile(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    const hone_value *repeats = hone_attrs_find(&in->bind->attrs, "repeats");
    bool is_list = repeats && repeats->kind == HONE_VALUE_LIST;
    int32_t given = is_list ? (int32_t)repeats->count : repeats ? 1 : -1;
    int32_t rank = given > x->rank ? given : x->rank;
    const hone_expr *shape[HONE_MAX_RANK];
    int64_t times[HONE_MAX_RANK];
    if (given < 0) return hone_infer_fail(in, "wants 'repeats'");
    if (rank > HONE_MAX_RANK) return hone_infer_fail(in, "too many dimensions");
    HONE_TRY(hone_graph_attr_ints(in->bind, "repeats", (uint32_t)given, 1, times));
    for (int32_t d = 0; d < rank; d++) {
        int32_t of = d - (rank - x->rank), by = d - (rank - given);
        if (by >= 0 && times[by] < 0) return hone_infer_fail(in, "a number of repeats below 0");
        shape[d] = of < 0 ? hone_extent_int(&in->ir, 1) : x->shape[of];
        if (by >= 0) {
            shape[d] = hone_extent_mul(&in->ir, shape[d], hone_extent_int(&in->ir, times[by]));
        }
    }
    return hone_infer_tensor(in, x->dtype, rank, shape);
}

/* Each element `repeats` times: along an axis, or of all of them in their order. */
hone_status hone_infer_repeat(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    const hone_value *axis = hone_attrs_find(&in->bind->attrs, "axis");
    const hone_expr *shape[HONE_MAX_RANK];
    int64_t times = hone_attrs_int(&in->bind->attrs, "repeats", 1);
    int32_t at = 0;
    if (times < 1) return hone_infer_fail(in, "%lld repeats", (long long)times);
    if (!axis || axis->kind == HONE_VALUE_NONE) {
        HONE_TRY(hone_infer_flatten(in));
        x = in->result;
    } else {
        HONE_TRY(axis_of(in, 0, &at));
    }
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
    shape[at] = hone_extent_mul(&in->ir, shape[at], hone_extent_int(&in->ir, times));
    return hone_infer_tensor(in, x->dtype, x->rank, shape);
}

/* Is each element of a kind? */
hone_status hone_infer_test(hone_infer *in) {
    const hone_sinfo *x = in->args[0];
    return hone_infer_tensor(in, HONE_DTYPE_BOOL, x->rank, x->shape);
}

hone_status hone_infer_bits(hone_infer *in) {
    for (uint32_t i = 0; i < in->bind->arg_count; i++) {
        hone_dtype dtype = in->args[i]->dtype;
        bool is_known = in->args[i]->kind == HONE_SINFO_TENSOR && !hone_dtype_is_void(dtype);
        if (!is_known || hone_dtype_is_integer(dtype) || hone_dtype_is_bool(dtype)) continue;
        return hone_infer_fail(in, "wants tensors of integers");
    }
    return in->bind->arg_count > 1 ? hone_infer_binary(in) : hone_infer_same(in);
}
