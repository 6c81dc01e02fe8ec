/* graph/frontend/reader/onnx_parts.c - parts of tensors: indices along an axis, what stands there,
 * slices, and tensors joined. */
#include <string.h>

#include "graph/frontend/reader/onnx_reader.h"

enum { MOST_INDICES = 1 << 28, MOST_FOLDED = 1 << 20 };
enum { MAX_PARTS = 60 }; /* one kernel takes so many tensors */

/* ---- indices along an axis ---- */

hone_status onnx_int_table(onnx_reader *r, int64_t count, const int64_t *values, hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, i, values[i]);
    return onnx_add_constant(r, tensor, out);
}

static hone_status known_indices(onnx_reader *r, int64_t count, hone_garg *out) {
    hone_tensor *tensor;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, &tensor));
    for (int64_t i = 0; i < count; i++)
        hone_tensor_set_i64(tensor, i, i);
    return onnx_add_constant(r, tensor, out);
}

/* How many ones are in front of each. */
static hone_status counted_indices(onnx_reader *r, const hone_expr *extent, hone_garg *out) {
    hone_garg args[2];
    hone_attr attrs[] = {
        {"axis",      HONE_VALUE_OF_INT(0) },
        {"exclusive", HONE_VALUE_OF_BOOL(1)}
    };
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 1, &args[0]));
    HONE_TRY(onnx_make_ints(r, 1, &extent, 1, &args[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out));
    return onnx_emit(r, "cumsum", 1, out, 2, attrs, out);
}

hone_status onnx_indices(onnx_reader *r, const hone_expr *extent, int32_t rank, int32_t axis,
                         hone_garg *out) {
    const hone_expr *shape[HONE_MAX_RANK];
    int64_t count = hone_expr_const(extent);
    if (count > MOST_INDICES) return HONE_ERROR(HONE_CODE_UNSUPPORTED, "more than 2^28 indices");
    bool is_folded = count >= 0 && count <= MOST_FOLDED; /* else they are made in each call */
    HONE_TRY(is_folded ? known_indices(r, count, out) : counted_indices(r, extent, out));
    for (int32_t d = 0; d < rank; d++)
        shape[d] = d == axis ? extent : hone_extent_int(&r->ir, 1);
    return rank == 1 ? HONE_OK : onnx_emit_reshape(r, *out, (uint32_t)rank, shape, out);
}

hone_status onnx_emit_along(onnx_reader *r, const char *op, hone_garg x, int64_t axis,
                            hone_garg *out) {
    hone_attr attrs[] = {
        {"axis",     HONE_VALUE_OF_INT(axis)},
        {"keepdims", HONE_VALUE_OF_BOOL(1)  }
    };
    return onnx_emit(r, op, 1, &x, 2, attrs, out);
}

hone_status onnx_emit_where(onnx_reader *r, hone_garg is_so, hone_garg yes, hone_garg no,
                            hone_garg *out) {
    hone_garg choice[] = {is_so, yes, no};
    return onnx_emit(r, "where", 3, choice, 0, NULL, out);
}

hone_status onnx_emit_take(onnx_reader *r, hone_garg x, hone_garg indices, int64_t axis,
                           hone_garg *out) {
    hone_garg args[] = {x, indices};
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "take", 2, args, 1, &attr, out);
}

hone_status onnx_emit_within(onnx_reader *r, hone_garg x, const hone_expr *extent, hone_garg *out) {
    hone_garg indices;
    HONE_TRY(onnx_indices(r, extent, 1, 0, &indices));
    return onnx_emit_take(r, indices, x, 0, out);
}

hone_status onnx_emit_no_negative(onnx_reader *r, hone_garg x, const hone_expr *extent,
                                  hone_garg *out) {
    hone_garg is_negative, outside;
    HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_I64, &x));
    HONE_TRY(onnx_with_scalar(r, "less", x, 0, &is_negative));
    HONE_TRY(onnx_sizes_tensor(r, 1, &extent, &outside));
    return onnx_emit_where(r, is_negative, outside, x, out);
}

hone_status onnx_emit_flat(onnx_reader *r, hone_garg x, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_info(r, &x, &info));
    const hone_expr *count = hone_extent_int(&r->ir, 1);
    for (int32_t d = 0; d < info->rank; d++)
        count = hone_extent_mul(&r->ir, count, info->shape[d]);
    *out = x;
    return info->rank == 1 ? HONE_OK : onnx_emit_reshape(r, x, 1, &count, out);
}

hone_status onnx_int_items(onnx_reader *r, uint32_t count, const int64_t *values, hone_garg *out) {
    hone_garg *items = hone_arena_zalloc(r->arena, (count + 1) * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    for (uint32_t i = 0; i < count; i++) {
        items[i].kind = HONE_GARG_PRIM;
        items[i].u.expr = hone_extent_int(&r->ir, values[i]);
    }
    *out = (hone_garg){.kind = HONE_GARG_TUPLE, .count = count, .u.items = items};
    return hone_ir_finish(&r->ir);
}

hone_status onnx_emit_slice(onnx_reader *r, hone_garg x, int64_t axis, int64_t begin, int64_t end,
                            hone_garg *out) {
    hone_garg args[4] = {x};
    HONE_TRY(onnx_int_items(r, 1, &axis, &args[1]));
    HONE_TRY(onnx_int_items(r, 1, &begin, &args[2]));
    HONE_TRY(onnx_int_items(r, 1, &end, &args[3]));
    return onnx_emit(r, "strided_slice", 4, args, 0, NULL, out);
}

/* ---- apart ---- */

/* x as what it is when its parts make up the axis; where that is seen later, a reshape demands it.
 */
static hone_status check_whole(onnx_reader *r, int32_t axis, const hone_expr *sum, hone_garg *io) {
    const hone_sinfo *info;
    const hone_expr *shape[HONE_MAX_RANK];
    HONE_TRY(onnx_info(r, io, &info));
    if (hone_extent_same(info->shape[axis], sum)) return HONE_OK;
    if (hone_extent_differs(info->shape[axis], sum))
        return HONE_ERROR(HONE_CODE_INVALID, "the parts do not make up the axis");
    memcpy(shape, info->shape, (size_t)info->rank * sizeof *shape);
    shape[axis] = sum;
    return onnx_emit_reshape(r, *io, (uint32_t)info->rank, shape, io);
}

hone_status onnx_emit_parts(onnx_reader *r, hone_garg x, int32_t axis, uint32_t count,
                            const hone_expr *const *lengths, hone_garg *out) {
    const hone_expr *begin = hone_extent_int(&r->ir, 0), *sum = begin;
    for (uint32_t i = 0; i < count; i++)
        sum = hone_extent_sum(&r->ir, sum, lengths[i]);
    HONE_TRY(hone_ir_finish(&r->ir));
    HONE_TRY(check_whole(r, axis, sum, &x));
    for (uint32_t i = 0; i < count; i++) {
        hone_garg indices, start;
        HONE_TRY(onnx_indices(r, lengths[i], 1, 0, &indices));
        HONE_TRY(onnx_sizes_tensor(r, 1, &begin, &start));
        if (i) HONE_TRY(onnx_emit2(r, "add", indices, start, &indices));
        HONE_TRY(onnx_emit_take(r, x, indices, axis, &out[i]));
        begin = hone_extent_sum(&r->ir, begin, lengths[i]);
    }
    return hone_ir_finish(&r->ir);
}

/* ---- joined ---- */

static hone_status concat_some(onnx_reader *r, uint32_t count, const hone_garg *parts, int64_t axis,
                               hone_garg *out) {
    hone_garg *items = hone_arena_copy(r->arena, parts, count * sizeof *items);
    if (!items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "model");
    HONE_TRY(onnx_unify_joined(r, count, items, axis));
    hone_garg tuple = {.kind = HONE_GARG_TUPLE, .count = count, .u.items = items};
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "concat", 1, &tuple, 1, &attr, out);
}

hone_status onnx_emit_concat(onnx_reader *r, uint32_t count, const hone_garg *parts, int64_t axis,
                             hone_garg *out) {
    hone_garg groups[MAX_PARTS];
    uint32_t size = 1, made = 0;
    while ((count + size - 1) / size > MAX_PARTS)
        size *= MAX_PARTS;
    if (size == 1) return concat_some(r, count, parts, axis, out);
    for (uint32_t at = 0; at < count; at += size, made++) {
        uint32_t some = count - at < size ? count - at : size;
        HONE_TRY(onnx_emit_concat(r, some, parts + at, axis, &groups[made]));
    }
    return concat_some(r, made, groups, axis, out);
}
