/* graph/frontend/nodes/onnx_unique.c - Unique: elements, or slices along an axis, in an order in
 * which equal ones are neighbours; the first of each group is taken. */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* What is found of rows (elements or slices), which are numbered 0, 1, ... */
typedef struct rows {
    hone_garg order;    /* which row comes at each index; equal ones by number */
    hone_garg is_first; /* of its group, by index */
    const hone_expr *count;
} rows;

static hone_status is_nan(onnx_reader *r, hone_garg x, hone_garg *out) {
    return onnx_emit1(r, "isnan", x, out);
}

hone_status onnx_emit_same(onnx_reader *r, hone_garg a, hone_garg b, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg x, y;
    HONE_TRY(onnx_info(r, &a, &info));
    HONE_TRY(onnx_emit2(r, "equal", a, b, out));
    if (!hone_dtype_is_float(info->dtype)) return HONE_OK;
    HONE_TRY(is_nan(r, a, &x));
    HONE_TRY(is_nan(r, b, &y));
    HONE_TRY(onnx_emit2(r, "logical_and", x, y, &x));
    return onnx_emit2(r, "logical_or", *out, x, out);
}

/* a < b, NaN being the largest */
static hone_status is_less(onnx_reader *r, hone_garg a, hone_garg b, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg x, y;
    HONE_TRY(onnx_info(r, &a, &info));
    HONE_TRY(onnx_emit2(r, "less", a, b, out));
    if (!hone_dtype_is_float(info->dtype)) return HONE_OK;
    HONE_TRY(is_nan(r, a, &x));
    HONE_TRY(is_nan(r, b, &y));
    HONE_TRY(onnx_emit1(r, "logical_not", x, &x));
    HONE_TRY(onnx_emit2(r, "logical_and", x, y, &x));
    return onnx_emit2(r, "logical_or", *out, x, out);
}

/* How many items of a vector come before each, equal ones by number. */
static hone_status order_vector(onnx_reader *r, hone_garg x, hone_garg *out) {
    hone_attr attrs[] = {
        {"axis",  HONE_VALUE_OF_INT(0)         },
        {"dtype", HONE_VALUE_OF_STRING("int64")}
    };
    return onnx_emit(r, "argsort", 1, &x, 2, attrs, out);
}

/* x [count, width] beside itself, [count, count, width]: one side */
static hone_status side(onnx_reader *r, hone_garg x, const hone_sinfo *info, int32_t dim,
                        hone_garg *out) {
    const hone_expr *one = hone_extent_int(&r->ir, 1), *count = info->shape[0];
    const hone_expr *thin[] = {dim == 0 ? count : one, dim == 1 ? count : one, info->shape[1]};
    const hone_expr *full[] = {count, count, info->shape[1]};
    hone_garg args[2];
    HONE_TRY(onnx_emit_reshape(r, x, 3, thin, &args[0]));
    HONE_TRY(onnx_make_ints(r, 3, full, 1, &args[1]));
    return onnx_emit(r, "broadcast_to", 2, args, 0, NULL, out);
}

/* The elements of both sides where they differ first. */
static hone_status first_difference(onnx_reader *r, hone_garg *a, hone_garg *b) {
    hone_garg index;
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(2)};
    HONE_TRY(onnx_emit_same(r, *a, *b, &index));
    HONE_TRY(onnx_emit_cast(r, index, HONE_DTYPE_I32, &index));
    HONE_TRY(onnx_emit_along(r, "argmin", index, 2, &index));
    hone_garg first[] = {*a, index}, second[] = {*b, index};
    HONE_TRY(onnx_emit(r, "gather_elements", 2, first, 1, &attr, a));
    return onnx_emit(r, "gather_elements", 2, second, 1, &attr, b);
}

/* Rows of unknown width: each is compared with each, by their first difference, and then by number.
 */
static hone_status order_rows(onnx_reader *r, hone_garg x, const hone_sinfo *info, hone_garg *out) {
    const hone_expr *count = info->shape[0];
    hone_garg own, other, number, other_number, is_less_one, is_same, indices;
    HONE_TRY(side(r, x, info, 0, &own));
    HONE_TRY(side(r, x, info, 1, &other));
    HONE_TRY(first_difference(r, &own, &other));
    HONE_TRY(onnx_indices(r, count, 3, 0, &number));
    HONE_TRY(onnx_indices(r, count, 3, 1, &other_number));
    HONE_TRY(is_less(r, other, own, &is_less_one));
    HONE_TRY(onnx_emit_same(r, other, own, &is_same));
    HONE_TRY(onnx_emit2(r, "less", other_number, number, &number));
    HONE_TRY(onnx_emit2(r, "logical_and", is_same, number, &is_same));
    HONE_TRY(onnx_emit2(r, "logical_or", is_less_one, is_same, out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, out));
    HONE_TRY(onnx_emit_along(r, "sum", *out, 1, out));
    HONE_TRY(onnx_emit_flat(r, *out, out));
    HONE_TRY(onnx_indices(r, count, 1, 0, &indices));
    return onnx_emit_put(r, indices, *out, out);
}

/* The rank of each element in its column, among different ones. */
static hone_status rank_columns(onnx_reader *r, hone_garg x, const hone_expr *count,
                                hone_garg *out) {
    hone_garg order, sorted, indices, before, group;
    hone_attr attrs[] = {
        {"axis",  HONE_VALUE_OF_INT(0)         },
        {"dtype", HONE_VALUE_OF_STRING("int64")}
    };
    HONE_TRY(onnx_emit(r, "argsort", 1, &x, 2, attrs, &order));
    hone_garg gathered[] = {x, order};
    HONE_TRY(onnx_emit(r, "gather_elements", 2, gathered, 1, attrs, &sorted));
    HONE_TRY(onnx_indices(r, count, 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "subtract", indices, 1, &indices));
    HONE_TRY(onnx_with_scalar(r, "maximum", indices, 0, &indices));
    HONE_TRY(onnx_emit_take(r, sorted, indices, 0, &before));
    HONE_TRY(onnx_emit_same(r, sorted, before, &group));
    HONE_TRY(onnx_emit1(r, "logical_not", group, &group));
    HONE_TRY(onnx_emit_cast(r, group, HONE_DTYPE_I64, &group));
    HONE_TRY(onnx_emit_sums(r, group, 0, &group));
    return onnx_emit_put(r, group, order, out);
}

/* Each two columns as one, of which the first counts more: ranks are below 2^31. */
static hone_status join_columns(onnx_reader *r, hone_garg ranks, const hone_expr *count,
                                int64_t width, hone_garg *out) {
    int64_t half = width / 2;
    hone_garg first, second, parts[2];
    const hone_expr *shape[] = {count, hone_extent_int(&r->ir, half), hone_extent_int(&r->ir, 2)};
    HONE_TRY(onnx_emit_slice(r, ranks, 1, 0, 2 * half, &parts[0]));
    HONE_TRY(onnx_emit_reshape(r, parts[0], 3, shape, &parts[0]));
    HONE_TRY(onnx_emit_slice(r, parts[0], 2, 0, 1, &first));
    HONE_TRY(onnx_emit_slice(r, parts[0], 2, 1, 2, &second));
    HONE_TRY(onnx_with_scalar(r, "multiply", first, 0x1p31, &first));
    HONE_TRY(onnx_emit2(r, "add", first, second, &first));
    HONE_TRY(onnx_emit_reshape(r, first, 2, shape, &parts[0]));
    *out = parts[0];
    if (2 * half == width) return HONE_OK;
    HONE_TRY(onnx_emit_slice(r, ranks, 1, width - 1, width, &parts[1]));
    return onnx_emit_concat(r, 2, parts, 1, out);
}

/* Rows of known width become numbers of the same order, two columns at a time. */
static hone_status order_short_rows(onnx_reader *r, hone_garg x, const hone_sinfo *info,
                                    hone_garg *out) {
    hone_garg ranks;
    const hone_expr *count = info->shape[0];
    HONE_TRY(rank_columns(r, x, count, &ranks));
    for (int64_t width = info->shape[1]->u.i; width > 1; width -= width / 2) {
        HONE_TRY(join_columns(r, ranks, count, width, &ranks));
        HONE_TRY(rank_columns(r, ranks, count, &ranks));
    }
    HONE_TRY(onnx_emit_flat(r, ranks, &ranks));
    return order_vector(r, ranks, out);
}

static hone_status order_items(onnx_reader *r, hone_garg x, const hone_sinfo *info,
                               hone_garg *out) {
    if (info->rank == 1) return order_vector(r, x, out);
    bool is_short = hone_expr_is_int(info->shape[1]) && !onnx_is_empty(info);
    return is_short ? order_short_rows(r, x, info, out) : order_rows(r, x, info, out);
}

/* Does each row differ from the one at the index before? */
static hone_status find_firsts(onnx_reader *r, hone_garg x, int32_t rank, rows *out) {
    hone_garg indices, before, is_front, same;
    HONE_TRY(onnx_indices(r, out->count, 1, 0, &indices));
    HONE_TRY(onnx_with_scalar(r, "subtract", indices, 1, &before));
    HONE_TRY(onnx_with_scalar(r, "maximum", before, 0, &before));
    HONE_TRY(onnx_emit_take(r, out->order, before, 0, &before));
    HONE_TRY(onnx_emit_take(r, x, before, 0, &before));
    HONE_TRY(onnx_emit_take(r, x, out->order, 0, &same));
    HONE_TRY(onnx_emit_same(r, same, before, &same));
    if (rank == 2) {
        HONE_TRY(onnx_emit_cast(r, same, HONE_DTYPE_I32, &same));
        HONE_TRY(onnx_emit_along(r, "min", same, 1, &same));
        HONE_TRY(onnx_emit_flat(r, same, &same));
        HONE_TRY(onnx_with_scalar(r, "not_equal", same, 0, &same));
    }
    HONE_TRY(onnx_emit1(r, "logical_not", same, &same));
    HONE_TRY(onnx_with_scalar(r, "equal", indices, 0, &is_front));
    return onnx_emit2(r, "logical_or", same, is_front, &out->is_first);
}

/* x as rows: a vector, or [count, width] */
static hone_status as_rows(onnx_reader *r, hone_garg x, int32_t axis, hone_garg *out) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK];
    const hone_expr *width = hone_extent_int(&r->ir, 1);
    HONE_TRY(onnx_info(r, &x, &info));
    *out = x;
    if (hone_dtype_is_bool(info->dtype)) HONE_TRY(onnx_emit_cast(r, x, HONE_DTYPE_I32, out));
    if (info->rank == 1) return HONE_OK;
    for (int32_t d = 0, next = 1; d < info->rank; d++) {
        axes[d == axis ? 0 : next++] = d;
        if (d != axis) width = hone_extent_mul(&r->ir, width, info->shape[d]);
    }
    const hone_expr *shape[] = {info->shape[axis], width};
    HONE_TRY(onnx_emit_permute(r, *out, (uint32_t)info->rank, axes, out));
    return onnx_emit_reshape(r, *out, 2, shape, out);
}

static hone_status find_rows(onnx_reader *r, hone_garg x, int32_t axis, rows *out) {
    const hone_sinfo *info;
    hone_garg flat;
    HONE_TRY(as_rows(r, x, axis, &flat));
    HONE_TRY(onnx_info(r, &flat, &info));
    out->count = info->shape[0];
    HONE_TRY(order_items(r, flat, info, &out->order));
    return find_firsts(r, flat, info->rank, out);
}

/* ---- results ---- */

typedef struct groups {
    hone_garg first;  /* row of each group that comes first */
    hone_garg of_row; /* group of each row */
    hone_garg sizes;
} groups;

static hone_status count_rows(onnx_reader *r, hone_garg first, hone_garg group, hone_garg *out) {
    const hone_sinfo *info, *rows_info;
    hone_garg args[] = {{0}, group, {0}}, to[2], one;
    hone_attr attrs[] = {
        {"axis",      HONE_VALUE_OF_INT(0)       },
        {"reduction", HONE_VALUE_OF_STRING("add")}
    };
    HONE_TRY(onnx_info(r, &first, &info));
    HONE_TRY(onnx_info(r, &group, &rows_info));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 1, &one));
    to[0] = one;
    HONE_TRY(onnx_make_ints(r, 1, rows_info->shape, 1, &to[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, to, 0, NULL, &args[2]));
    HONE_TRY(onnx_scalar(r, HONE_DTYPE_I64, 0, &to[0]));
    HONE_TRY(onnx_make_ints(r, 1, info->shape, 1, &to[1]));
    HONE_TRY(onnx_emit(r, "broadcast_to", 2, to, 0, NULL, &args[0]));
    return onnx_emit(r, "scatter_elements", 3, args, 2, attrs, out);
}

static hone_status find_groups(onnx_reader *r, const rows *x, groups *out) {
    hone_garg indices, ones, group;
    HONE_TRY(onnx_emit_chosen(r, x->is_first, -1, &indices));
    HONE_TRY(onnx_emit_take(r, x->order, indices, 0, &out->first));
    HONE_TRY(onnx_emit_cast(r, x->is_first, HONE_DTYPE_I64, &ones));
    HONE_TRY(onnx_emit_sums(r, ones, 0, &group));
    HONE_TRY(onnx_with_scalar(r, "subtract", group, 1, &group));
    HONE_TRY(onnx_emit_put(r, group, x->order, &out->of_row));
    return count_rows(r, out->first, group, &out->sizes);
}

/* The groups by their first rows. */
static hone_status order_groups(onnx_reader *r, groups *g) {
    const hone_sinfo *info;
    hone_garg order, indices, index_of;
    HONE_TRY(onnx_info(r, &g->first, &info));
    HONE_TRY(order_vector(r, g->first, &order));
    HONE_TRY(onnx_indices(r, info->shape[0], 1, 0, &indices));
    HONE_TRY(onnx_emit_put(r, indices, order, &index_of));
    HONE_TRY(onnx_emit_take(r, g->first, order, 0, &g->first));
    HONE_TRY(onnx_emit_take(r, g->sizes, order, 0, &g->sizes));
    return onnx_emit_take(r, index_of, g->of_row, 0, &g->of_row);
}

hone_status onnx_emit_unique(onnx_reader *r, hone_garg x, int32_t axis, bool is_sorted,
                             hone_garg *out) {
    rows found;
    groups g;
    HONE_TRY(find_rows(r, x, axis, &found));
    HONE_TRY(find_groups(r, &found, &g));
    if (!is_sorted) HONE_TRY(order_groups(r, &g));
    HONE_TRY(onnx_emit_take(r, x, g.first, axis, &out[0]));
    const hone_garg rest[] = {g.first, g.of_row, g.sizes};
    memcpy(&out[1], rest, sizeof rest);
    return HONE_OK;
}

static hone_status convert_unique(onnx_reader *r, hone_garg *out) {
    const hone_sinfo *info;
    int64_t wanted, is_sorted;
    int32_t axis = 0;
    hone_garg x = r->inputs[0];
    HONE_TRY(onnx_as_tensor(r, &x));
    HONE_TRY(onnx_attr_int(r, "axis", 0, &wanted));
    HONE_TRY(onnx_attr_int(r, "sorted", 1, &is_sorted));
    if (!onnx_attr(r, "axis")) HONE_TRY(onnx_emit_flat(r, x, &x));
    HONE_TRY(onnx_info(r, &x, &info));
    HONE_TRY(onnx_axis(r, wanted, info->rank, &axis));
    return onnx_emit_unique(r, x, axis, is_sorted != 0, out);
}

const onnx_converter onnx_unique_converters[] = {
    {"Unique", convert_unique, 1, 1, 4, "axis sorted", NULL},
    {0      },
};
