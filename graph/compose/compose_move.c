/* graph/compose/compose_move.c - tensors taken apart, turned and joined. */
#include <string.h>

#include "graph/compose/compose_impl.h"

enum { MOST_TENSORS = 64 };

static hone_status batch_flatten(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *shape[2];
    (void)bind;
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (info->rank < 1) return HONE_ERROR(HONE_CODE_TYPE, "a scalar has no batch");
    shape[0] = info->shape[0];
    shape[1] = hone_extent_int(&r->ir, 1);
    for (int32_t d = 1; d < info->rank; d++)
        shape[1] = hone_extent_mul(&r->ir, shape[1], info->shape[d]);
    return onnx_emit_reshape(r, r->inputs[0], 2, shape, out);
}

/* [..., C * f * f, H, W] to [..., C, H * f, W * f] */
static hone_status pixel_shuffle(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    const hone_expr *apart[HONE_MAX_RANK], *joined[HONE_MAX_RANK];
    int64_t factor = hone_attrs_int(&bind->attrs, "upscale_factor", 1), axes[HONE_MAX_RANK];
    HONE_TRY(onnx_input_info(r, 0, &info));
    int32_t c = info->rank - 3;
    if (c < 0 || info->rank + 2 > HONE_MAX_RANK || factor < 1)
        return compose_refuse(bind, "tensors of this rank, or this factor");
    const hone_expr *times = hone_extent_int(&r->ir, factor);
    for (int32_t d = 0; d < info->rank + 2; d++) {
        apart[d] = d <= c ? info->shape[d] : d <= c + 2 ? times : info->shape[d - 2];
        axes[d] = d;
    }
    apart[c] = joined[c] = hone_extent_div(&r->ir, info->shape[c], factor * factor);
    for (int32_t d = 0; d < info->rank; d++) {
        if (d < c) joined[d] = info->shape[d];
        if (d > c) joined[d] = hone_extent_mul(&r->ir, info->shape[d], times);
    }
    const int64_t turned[] = {c + 3, c + 1, c + 4, c + 2};
    memcpy(&axes[c + 1], turned, sizeof turned);
    HONE_TRY(onnx_emit_reshape(r, r->inputs[0], (uint32_t)info->rank + 2, apart, out));
    HONE_TRY(onnx_emit_permute(r, *out, (uint32_t)info->rank + 2, axes, out));
    return onnx_emit_reshape(r, *out, (uint32_t)info->rank, joined, out);
}

static hone_status outer(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_garg column, row;
    (void)bind;
    HONE_TRY(compose_along(r, r->inputs[0], 2, 0, &column));
    HONE_TRY(compose_along(r, r->inputs[1], 2, 1, &row));
    return onnx_emit2(r, "multiply", column, row, out);
}

static hone_status stack(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg parts[MOST_TENSORS];
    uint32_t count;
    int32_t axis;
    HONE_TRY(compose_items(r, &r->inputs[0], MOST_TENSORS, parts, &count));
    if (!count) return compose_refuse(bind, "no tensors");
    HONE_TRY(onnx_info(r, &parts[0], &info));
    HONE_TRY(onnx_axis(r, hone_attrs_int(&bind->attrs, "axis", 0), info->rank + 1, &axis));
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(compose_expand(r, parts[i], axis, &parts[i]));
    return onnx_emit_concat(r, count, parts, axis, out);
}

/* Of vectors of n, m, ...: tensors of [n, m, ...]; with "xy" the first two dimensions change
 * indices. */
static hone_status meshgrid(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_garg parts[HONE_MAX_RANK];
    const hone_expr *shape[HONE_MAX_RANK];
    uint32_t count;
    HONE_TRY(compose_items(r, &r->inputs[0], HONE_MAX_RANK, parts, &count));
    bool is_xy = strcmp(hone_attrs_string(&bind->attrs, "indexing", "ij"), "xy") == 0 && count > 1;
    for (uint32_t i = 0; i < count; i++) {
        const hone_sinfo *info;
        uint32_t axis = is_xy && i < 2 ? 1 - i : i;
        HONE_TRY(onnx_emit_flat(r, parts[i], &parts[i]));
        HONE_TRY(onnx_info(r, &parts[i], &info));
        shape[axis] = info->shape[0];
        HONE_TRY(compose_along(r, parts[i], (int32_t)count, (int32_t)axis, &parts[i]));
    }
    for (uint32_t i = 0; i < count; i++)
        HONE_TRY(compose_broadcast(r, parts[i], count, shape, &parts[i]));
    return compose_tuple(r, count, parts, out);
}

/* ---- sums over what was broadcast ---- */

static hone_status collapse_sum(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                                hone_garg *out) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK];
    uint32_t count = 0;
    HONE_TRY(onnx_input_info(r, 0, &info));
    int32_t ahead = info->rank - (int32_t)rank;
    if (ahead < 0) return HONE_ERROR(HONE_CODE_TYPE, "a sum has no more dimensions than its data");
    for (int32_t d = 0; d < info->rank; d++) {
        bool was_broadcast = d < ahead || (hone_expr_is_int_value(shape[d - ahead], 1) &&
                                           !hone_expr_is_int_value(info->shape[d], 1));
        if (was_broadcast) axes[count++] = d;
    }
    *out = r->inputs[0];
    if (count) HONE_TRY(compose_reduce(r, "sum", *out, count, axes, true, out));
    return onnx_emit_reshape(r, *out, rank, shape, out);
}

static hone_status collapse_sum_like(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *like;
    (void)bind;
    HONE_TRY(onnx_input_info(r, 1, &like));
    return collapse_sum(r, (uint32_t)like->rank, like->shape, out);
}

static hone_status collapse_sum_to(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_garg *shape = &r->inputs[1];
    if (shape->kind != HONE_GARG_SHAPE) return compose_refuse(bind, "a shape that is not known");
    return collapse_sum(r, shape->count, shape->u.exprs, out);
}

/* ---- slices ---- */

static bool is_list_of_numbers(const hone_garg *arg) {
    bool is_so = arg->kind == HONE_GARG_TUPLE && arg->count <= HONE_MAX_RANK;
    for (uint32_t i = 0; is_so && i < arg->count; i++)
        is_so = arg->u.items[i].kind == HONE_GARG_PRIM;
    return is_so;
}

/* A tuple of numbers as Slice takes them: a list. */
static hone_status list_of(onnx_reader *r, const hone_garg *tuple, hone_garg *out) {
    const hone_expr *items[HONE_MAX_RANK];
    for (uint32_t i = 0; i < tuple->count; i++)
        items[i] = tuple->u.items[i].u.expr;
    return onnx_make_ints(r, tuple->count, items, 1, out);
}

/* x, axes, begin, end, strides? become x, starts, ends, axes, steps? */
static hone_status sized_slice(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    compose_node n;
    hone_garg axes;
    (void)bind;
    HONE_TRY(list_of(r, &r->inputs[1], &axes));
    HONE_TRY(list_of(r, &r->inputs[2], &r->inputs[1]));
    HONE_TRY(list_of(r, &r->inputs[3], &r->inputs[2]));
    if (r->input_count > 4) HONE_TRY(list_of(r, &r->inputs[4], &r->inputs[4]));
    r->inputs[3] = axes;
    compose_node_begin(&n, "Slice");
    return compose_node_first(r, &n, out);
}

/* Is an index, or an extent that indices are counted by, known only when it runs? */
static bool is_sized(const hone_gbind *bind, const hone_sinfo *x) {
    int64_t axes[HONE_MAX_RANK], ignored[HONE_MAX_RANK];
    int32_t count = hone_garg_ints(&bind->args[1], axes);
    bool is_so = count < 0;
    for (uint32_t i = 2; i < bind->arg_count; i++)
        is_so |= hone_garg_ints(&bind->args[i], ignored) < 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        is_so |= axis >= 0 && axis < x->rank && !hone_expr_is_int(x->shape[axis]);
    }
    return is_so;
}

const hone_composer *hone_compose_slice_of(hone_rewrite *rw, const hone_gbind *bind) {
    static const hone_composer row = {"a slice", sized_slice};
    hone_garg x;
    bool is_slice = strcmp(bind->callee, "strided_slice") == 0 && bind->arg_count >= 4;
    for (uint32_t i = 1; is_slice && i < bind->arg_count; i++)
        is_slice = is_list_of_numbers(&bind->args[i]) && bind->args[i].count == bind->args[1].count;
    if (!is_slice || hone_status_consume(hone_rewrite_arg(rw, &bind->args[0], &x))) return NULL;
    const hone_sinfo *info = hone_rewrite_info(rw, &x);
    bool is_known = info && info->kind == HONE_SINFO_TENSOR && info->shape;
    return is_known && is_sized(bind, info) ? &row : NULL;
}

/* ---- splits ---- */

static hone_status open_split(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *tuple = r->rewrite->old->values[bind->value].sinfo, *x;
    int32_t axis;
    HONE_TRY(onnx_input_info(r, 0, &x));
    HONE_TRY(onnx_axis(r, hone_attrs_int(&bind->attrs, "axis", 0), x->rank, &axis));
    uint32_t count = tuple && tuple->kind == HONE_SINFO_TUPLE ? tuple->field_count : 0;
    const hone_expr **lengths = hone_arena_alloc(r->arena, ((size_t)count + 1) * sizeof *lengths);
    hone_garg *items = hone_arena_zalloc(r->arena, ((size_t)count + 1) * sizeof *items);
    if (!lengths || !items) return HONE_ERROR(HONE_CODE_NO_MEMORY, "split");
    for (uint32_t i = 0; i < count; i++) {
        if (!tuple->fields[i]->shape) return compose_refuse(bind, "parts that are not known");
        lengths[i] = tuple->fields[i]->shape[axis];
    }
    if (!count) return compose_refuse(bind, "parts that are not known");
    HONE_TRY(onnx_emit_parts(r, r->inputs[0], axis, count, lengths, items));
    return compose_tuple(r, count, items, out);
}

/* Of an axis whose extent is known only when it runs. */
const hone_composer *hone_compose_split_of(hone_rewrite *rw, const hone_gbind *bind) {
    static const hone_composer row = {"a split", open_split};
    hone_garg x;
    if (strcmp(bind->callee, "split") != 0 ||
        hone_status_consume(hone_rewrite_arg(rw, &bind->args[0], &x)))
        return NULL;
    const hone_sinfo *info = hone_rewrite_info(rw, &x);
    if (!info || info->kind != HONE_SINFO_TENSOR || !info->shape) return NULL;
    int64_t axis = hone_attrs_int(&bind->attrs, "axis", 0);
    axis += axis < 0 ? info->rank : 0;
    bool is_axis = axis >= 0 && axis < info->rank;
    return is_axis && !hone_expr_is_int(info->shape[axis]) ? &row : NULL;
}

const hone_composer hone_compose_moves[] = {
    {"nn.batch_flatten", batch_flatten},
    {"nn.pixel_shuffle",                  pixel_shuffle},
    {"outer",outer},
    {"stack",            stack},
    {"meshgrid",                  meshgrid},
    {"collapse_sum_like",  collapse_sum_like},
    {"collapse_sum_to",         collapse_sum_to},
    {0                 },
};
