/* graph/compose/compose_layout.c - layout_transform: where each element goes is worked out here,
 * and they are taken from there. Sizes are known; indices that no element goes to get the pad
 * value.
 */
#include <string.h>

#include "graph/compose/compose_impl.h"
#include "ir/core/fold.h"

enum { MOST_ELEMENTS = 1 << 26 };

typedef struct layout {
    const hone_lambda *map;
    int64_t *sizes; /* by variable of the function: the index that stands there */
    uint32_t size_count;
    int32_t rank;
    int64_t shape[HONE_MAX_RANK], made[HONE_MAX_RANK], count;
} layout;

static hone_status open_layout(onnx_reader *r, const hone_gbind *bind, const hone_sinfo *data,
                               layout *l) {
    const hone_value *map = hone_attrs_find(&bind->attrs, "index_map");
    if (!map || map->kind != HONE_VALUE_LAMBDA) return compose_refuse(bind, "without an index map");
    *l = (layout){.map = map->u.lambda, .rank = data->rank, .count = 1};
    l->size_count = r->graph->var_count;
    l->sizes = hone_arena_zalloc(r->arena, ((size_t)l->size_count + 1) * sizeof *l->sizes);
    if (!l->sizes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "layout");
    if (l->map->param_count != (uint32_t)data->rank || l->map->body_count > HONE_MAX_RANK)
        return HONE_ERROR(HONE_CODE_TYPE, "an index map of %u indices for %d dimensions",
                          l->map->param_count, data->rank);
    for (int32_t d = 0; d < data->rank; d++) {
        l->shape[d] = hone_expr_const(data->shape[d]);
        if (l->shape[d] < 0 || __builtin_mul_overflow(l->count, l->shape[d], &l->count) ||
            l->count > MOST_ELEMENTS) {
            return compose_refuse(bind, "sizes that are not known, or more than 2^26 elements");
        }
    }
    return HONE_OK;
}

/* Where element number `at` goes. */
static hone_status index_of(const layout *l, int64_t at, int64_t out[HONE_MAX_RANK]) {
    for (int32_t d = l->rank; d-- > 0; at /= l->shape[d])
        l->sizes[l->map->params[d]] = at % l->shape[d];
    for (uint32_t i = 0; i < l->map->body_count; i++) {
        if (!hone_fold_sizes(l->map->bodies[i], l->sizes, l->size_count, &out[i]) || out[i] < 0)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "an index map that cannot be worked out");
    }
    return HONE_OK;
}

/* As far as the elements reach. */
static hone_status find_shape(layout *l, int64_t *out_count) {
    int64_t index[HONE_MAX_RANK];
    *out_count = 1;
    for (int64_t at = 0; at < l->count; at++) {
        HONE_TRY(index_of(l, at, index));
        for (uint32_t i = 0; i < l->map->body_count; i++)
            l->made[i] = index[i] >= l->made[i] ? index[i] + 1 : l->made[i];
    }
    for (uint32_t i = 0; i < l->map->body_count; i++) {
        if (__builtin_mul_overflow(*out_count, l->made[i], out_count) || *out_count > MOST_ELEMENTS)
            return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a layout of more than 2^26 elements");
    }
    return HONE_OK;
}

/* Which element stands at each index, and whether there is one. */
static hone_status fill(const layout *l, hone_tensor *indices, hone_tensor *is_there) {
    int64_t index[HONE_MAX_RANK];
    for (int64_t at = 0; at < l->count; at++) {
        int64_t flat = 0;
        HONE_TRY(index_of(l, at, index));
        for (uint32_t i = 0; i < l->map->body_count; i++)
            flat = flat * l->made[i] + index[i];
        if (hone_tensor_get_i64(is_there, flat))
            return HONE_ERROR(HONE_CODE_TYPE, "an index map that puts two elements at one index");
        hone_tensor_set_i64(indices, flat, at);
        hone_tensor_set_i64(is_there, flat, 1);
    }
    return HONE_OK;
}

static hone_status make_tables(const layout *l, int64_t count, hone_tensor **indices,
                               hone_tensor **is_there) {
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, indices));
    hone_status st = hone_tensor_create(HONE_DTYPE_BOOL, 1, &count, is_there);
    if (!st) st = fill(l, *indices, *is_there);
    if (!st) return HONE_OK;
    hone_tensor_destroy(*indices);
    hone_tensor_destroy(*is_there);
    return st;
}

static hone_status layout_transform(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data;
    const hone_expr *shape[HONE_MAX_RANK];
    hone_tensor *indices, *is_there;
    hone_garg choice[3];
    layout l;
    int64_t count;
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(open_layout(r, bind, data, &l));
    HONE_TRY(find_shape(&l, &count));
    HONE_TRY(make_tables(&l, count, &indices, &is_there));
    hone_status st = onnx_add_constant(r, indices, &choice[1]);
    if (!st && count == l.count) hone_tensor_destroy(is_there);
    if (st || count != l.count)
        st = hone_status_join(st, onnx_add_constant(r, is_there, &choice[0]));
    HONE_TRY(st);
    HONE_TRY(onnx_emit_flat(r, r->inputs[0], out));
    HONE_TRY(onnx_emit_take(r, *out, choice[1], 0, out));
    if (count != l.count) {
        choice[1] = *out;
        HONE_TRY(onnx_scalar(r, data->dtype, compose_number(bind, "pad_value", 0), &choice[2]));
        HONE_TRY(onnx_emit(r, "where", 3, choice, 0, NULL, out));
    }
    for (uint32_t i = 0; i < l.map->body_count; i++)
        shape[i] = hone_extent_int(&r->ir, l.made[i]);
    return onnx_emit_reshape(r, *out, l.map->body_count, shape, out);
}

const hone_composer hone_compose_layouts[] = {
    {"layout_transform", layout_transform},
    {0                 },
};
