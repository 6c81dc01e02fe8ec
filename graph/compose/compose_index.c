/* graph/compose/compose_index.c - elements at indices that are computed, and what is made of
 * indices.
 */
#include <math.h>
#include <string.h>

#include "graph/compose/compose_impl.h"

enum { MOST_INDICES = HONE_MAX_RANK };

/* ---- one index per dimension ---- */

/* Indices that broadcast with each other, as [..., count]. */
static hone_status join_indices(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *infos[MOST_INDICES];
    hone_garg parts[MOST_INDICES], sum;
    uint32_t count;
    HONE_TRY(compose_items(r, &r->inputs[1], MOST_INDICES, parts, &count));
    if (!count) return compose_refuse(bind, "no indices");
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(onnx_emit_cast(r, parts[i], HONE_DTYPE_I64, &parts[i]));
        HONE_TRY(onnx_info(r, &parts[i], &infos[i]));
    }
    sum = parts[0];
    for (uint32_t i = 1; i < count; i++)
        HONE_TRY(onnx_emit2(r, "add", sum, parts[i], &sum));
    HONE_TRY(onnx_info(r, &sum, &infos[0]));
    for (uint32_t i = 0; i < count; i++) {
        HONE_TRY(
            compose_broadcast(r, parts[i], (uint32_t)infos[0]->rank, infos[0]->shape, &parts[i]));
        HONE_TRY(compose_expand(r, parts[i], infos[0]->rank, &parts[i]));
    }
    return onnx_emit_concat(r, count, parts, infos[0]->rank, out);
}

static hone_status check_no_truths(onnx_reader *r, const hone_gbind *bind) {
    hone_garg parts[MOST_INDICES];
    uint32_t count;
    HONE_TRY(compose_items(r, &r->inputs[1], MOST_INDICES, parts, &count));
    for (uint32_t i = 0; i < count; i++) {
        const hone_sinfo *info;
        HONE_TRY(onnx_info(r, &parts[i], &info));
        if (hone_dtype_is_bool(info->dtype)) return compose_refuse(bind, "indices that are truths");
    }
    return HONE_OK;
}

static hone_status index_tensor(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_garg args[2] = {r->inputs[0]};
    HONE_TRY(check_no_truths(r, bind));
    HONE_TRY(join_indices(r, bind, &args[1]));
    return onnx_emit(r, "gather_nd", 2, args, 0, NULL, out);
}

static hone_status index_put(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data, *indices;
    const hone_expr *shape[HONE_MAX_RANK];
    hone_garg args[3] = {r->inputs[0]};
    HONE_TRY(check_no_truths(r, bind));
    HONE_TRY(join_indices(r, bind, &args[1]));
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_info(r, &args[1], &indices));
    int32_t chosen = (int32_t)hone_expr_const(indices->shape[indices->rank - 1]);
    int32_t rank = indices->rank - 1;
    if (rank + data->rank - chosen > HONE_MAX_RANK)
        return compose_refuse(bind, "so many dimensions");
    for (int32_t d = 0; d < rank; d++)
        shape[d] = indices->shape[d];
    for (int32_t d = chosen; d < data->rank; d++)
        shape[rank++] = data->shape[d];
    HONE_TRY(compose_broadcast(r, r->inputs[2], (uint32_t)rank, shape, &args[2]));
    bool adds = hone_attrs_int(&bind->attrs, "accumulate", 0) != 0;
    hone_attr attr = {"reduction", HONE_VALUE_OF_STRING(adds ? "add" : "update")};
    return onnx_emit(r, "scatter_nd", 3, args, 1, &attr, out);
}

/* ---- slices that are written ---- */

static hone_status slice_scatter(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *data, *src;
    int64_t start, end, step;
    int32_t axis;
    hone_garg args[3] = {r->inputs[0], {0}, r->inputs[1]};
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(onnx_input_info(r, 1, &src));
    HONE_TRY(compose_int(bind, 2, "start", 0, &start));
    HONE_TRY(compose_int(bind, 3, "end", 0, &end));
    HONE_TRY(compose_int(bind, 4, "step", 1, &step));
    HONE_TRY(onnx_axis(r, hone_attrs_int(&bind->attrs, "axis", 0), data->rank, &axis));
    int64_t extent = hone_expr_const(data->shape[axis]), count = hone_expr_const(src->shape[axis]);
    if (extent < 0 || count < 0 || step < 1)
        return compose_refuse(bind, "sizes that are not known");
    if (start < 0) start = start + extent < 0 ? 0 : start + extent;
    if (end < 0) end += extent;
    if (end > extent) end = extent;
    int64_t wanted = end > start ? (end - start + step - 1) / step : 0;
    if (wanted != count)
        return HONE_ERROR(HONE_CODE_TYPE, "%lld indices along axis %d for %lld elements",
                          (long long)wanted, axis, (long long)count);
    HONE_TRY(onnx_indices(r, src->shape[axis], src->rank, axis, &args[1]));
    HONE_TRY(onnx_with_scalar(r, "multiply", args[1], (double)step, &args[1]));
    HONE_TRY(onnx_with_scalar(r, "add", args[1], (double)start, &args[1]));
    HONE_TRY(compose_broadcast(r, args[1], (uint32_t)src->rank, src->shape, &args[1]));
    hone_attr attr = {"axis", HONE_VALUE_OF_INT(axis)};
    return onnx_emit(r, "scatter_elements", 3, args, 1, &attr, out);
}

/* ---- counting ---- */

/* How many of the boundaries are below each number. */
static hone_status bucketize(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg numbers;
    bool is_right = hone_attrs_int(&bind->attrs, "right", 0) != 0;
    bool is_short = hone_attrs_int(&bind->attrs, "out_int32", 0) != 0;
    HONE_TRY(onnx_input_info(r, 0, &info));
    int64_t last = info->rank;
    HONE_TRY(compose_expand(r, r->inputs[0], info->rank, &numbers));
    HONE_TRY(onnx_emit2(r, is_right ? "less_equal" : "less", r->inputs[1], numbers, out));
    HONE_TRY(onnx_emit_cast(r, *out, is_short ? HONE_DTYPE_I32 : HONE_DTYPE_I64, out));
    return compose_reduce(r, "sum", *out, 1, &last, false, out);
}

/* Of each sample the class at which the probabilities add up to more. */
static hone_status multinomial(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    hone_garg sums, rows, indices;
    hone_dtype dtype;
    const int64_t last = 1;
    const char *name = hone_attrs_string(&bind->attrs, "dtype", "int64");
    if (!hone_dtype_parse(name, &dtype)) return compose_refuse(bind, "such an element type");
    HONE_TRY(onnx_input_info(r, 0, &info));
    int64_t classes = hone_expr_const(info->shape[1]);
    if (classes < 1) return compose_refuse(bind, "an unknown number of classes");
    HONE_TRY(onnx_emit_sums(r, r->inputs[0], 1, &sums));
    HONE_TRY(onnx_emit_flat(r, r->inputs[2], &indices));
    HONE_TRY(onnx_emit_take(r, sums, indices, 0, &rows));
    HONE_TRY(onnx_emit2(r, "less_equal", rows, r->inputs[1], out));
    HONE_TRY(onnx_emit_cast(r, *out, HONE_DTYPE_I64, out));
    HONE_TRY(compose_reduce(r, "sum", *out, 1, &last, true, out));
    HONE_TRY(onnx_with_scalar(r, "minimum", *out, (double)(classes - 1), out));
    return onnx_emit_cast(r, *out, dtype, out);
}

/* ---- made of indices ---- */

/* Ones along a diagonal. */
static hone_status diagonal(onnx_reader *r, const hone_expr *rows, const hone_expr *columns,
                            int64_t k, hone_dtype dtype, hone_garg *out) {
    hone_garg row, column;
    HONE_TRY(onnx_indices(r, rows, 2, 0, &row));
    HONE_TRY(onnx_indices(r, columns, 2, 1, &column));
    HONE_TRY(onnx_with_scalar(r, "add", row, (double)k, &row));
    HONE_TRY(onnx_emit2(r, "equal", row, column, out));
    return onnx_emit_cast(r, *out, dtype, out);
}

static hone_status dtype_of(const hone_gbind *bind, hone_dtype fallback, hone_dtype *out) {
    const char *name = hone_attrs_string(&bind->attrs, "dtype", "void");
    if (!hone_dtype_parse(name, out)) return compose_refuse(bind, "such an element type");
    if (hone_dtype_is_void(*out)) *out = fallback;
    return HONE_OK;
}

static hone_status eye(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_expr *sizes[2] = {NULL};
    hone_dtype dtype;
    int64_t k;
    for (uint32_t i = 0; i < 2; i++) {
        if (i < r->input_count && r->inputs[i].kind == HONE_GARG_PRIM)
            sizes[i] = r->inputs[i].u.expr;
    }
    if (!sizes[0]) return compose_refuse(bind, "a size that is not written out");
    HONE_TRY(compose_int(bind, 2, "k", 0, &k));
    HONE_TRY(dtype_of(bind, HONE_DTYPE_F32, &dtype));
    return diagonal(r, sizes[0], sizes[1] ? sizes[1] : sizes[0], k, dtype, out);
}

static hone_status eye_like(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    hone_dtype dtype;
    int64_t k;
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (info->rank != 2) return HONE_ERROR(HONE_CODE_TYPE, "wants a matrix");
    HONE_TRY(compose_int(bind, 1, "k", 0, &k));
    HONE_TRY(dtype_of(bind, info->dtype, &dtype));
    return diagonal(r, info->shape[0], info->shape[1], k, dtype, out);
}

static double number_at(const hone_gbind *bind, uint32_t arg, double fallback) {
    const hone_garg *given = arg < bind->arg_count ? &bind->args[arg] : NULL;
    if (!given || given->kind != HONE_GARG_PRIM) return fallback;
    const hone_expr *e = given->u.expr;
    return e->kind == HONE_EXPR_FLOAT ? e->u.f
           : e->kind == HONE_EXPR_INT ? (double)e->u.i
                                      : fallback;
}

/* alpha - beta * cos(2 pi i / period) */
static hone_status hamming(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const double pi = 3.14159265358979323846;
    int64_t size, is_periodic;
    hone_tensor *tensor;
    hone_dtype dtype;
    HONE_TRY(compose_int(bind, 0, "window_size", 0, &size));
    HONE_TRY(compose_int(bind, 1, "periodic", 1, &is_periodic));
    HONE_TRY(dtype_of(bind, HONE_DTYPE_F32, &dtype));
    if (size < 1 || size > 1 << 24) return compose_refuse(bind, "a window of this size");
    double alpha = number_at(bind, 2, 0.54), beta = number_at(bind, 3, 0.46);
    double period = (double)(is_periodic ? size : size - 1);
    HONE_TRY(hone_tensor_create(dtype, 1, &size, &tensor));
    for (int64_t i = 0; i < size; i++)
        hone_tensor_set_f64(tensor, i,
                            size == 1 ? 1 : alpha - beta * cos(2 * pi * (double)i / period));
    return onnx_add_constant(r, tensor, out);
}

const hone_composer hone_compose_indices[] = {
    {"index_tensor",             index_tensor},
    {"index_put",                          index_put},
    {"slice_scatter",slice_scatter},
    {"bucketize",            bucketize},
    {"multinomial_from_uniform",                          multinomial},
    {"eye",      eye},
    {"eye_like", eye_like},
    {"hamming_window",                          hamming},
    {0                 },
};
