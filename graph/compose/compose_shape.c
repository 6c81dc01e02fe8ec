/* graph/compose/compose_shape.c - shapes as data, the same bytes seen otherwise, and what says
 * something to a compiler and does nothing. */
#include <string.h>

#include "graph/compose/compose_impl.h"

/* ---- shapes ---- */

static hone_status shape_of(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    (void)bind;
    HONE_TRY(onnx_input_info(r, 0, &info));
    return onnx_make_ints(r, (uint32_t)info->rank, info->shape, 1, out);
}

static hone_status shape_to_tensor(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_garg *shape = &r->inputs[0];
    const hone_sinfo *info = hone_garg_sinfo(r->module, r->graph, shape, r->arena);
    bool is_known = info && info->kind == HONE_SINFO_SHAPE && (info->shape || info->rank == 0);
    if (!is_known) return compose_refuse(bind, "a shape that is not known");
    return onnx_sizes_tensor(r, (uint32_t)info->rank, info->shape, out);
}

static hone_status size(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    (void)bind;
    HONE_TRY(onnx_input_info(r, 0, &info));
    const hone_expr *count = hone_extent_int(&r->ir, 1);
    for (int32_t d = 0; d < info->rank; d++)
        count = hone_extent_mul(&r->ir, count, info->shape[d]);
    HONE_TRY(onnx_sizes_tensor(r, 1, &count, out));
    return onnx_emit_reshape(r, *out, 0, NULL, out);
}

/* ---- views ---- */

static bool is_given(const onnx_reader *r, uint32_t input) {
    bool is_void = r->inputs[input].kind == HONE_GARG_TUPLE && r->inputs[input].count == 0;
    return onnx_has_input(r, input) && !is_void;
}

/* From an element on, as many as a shape has. */
static hone_status part_of(onnx_reader *r, const hone_gbind *bind, hone_garg flat,
                           const hone_expr *count, int64_t begin, hone_garg *out) {
    const hone_sinfo *info;
    int64_t wanted = hone_expr_const(count);
    HONE_TRY(onnx_info(r, &flat, &info));
    *out = flat;
    if (begin == 0 && hone_extent_same(info->shape[0], count)) return HONE_OK;
    if (wanted < 0) return compose_refuse(bind, "a part of unknown size");
    return onnx_emit_slice(r, flat, 0, begin, begin + wanted, out);
}

static hone_status view_offset(const onnx_reader *r, const hone_gbind *bind, const hone_dtype dtype,
                               int64_t *out_begin) {
    int64_t bytes = 0, each = (int64_t)hone_dtype_bytes(dtype);
    if (is_given(r, 3)) HONE_TRY(compose_int(bind, 3, "relative_byte_offset", 0, &bytes));
    *out_begin = bytes / each;
    bool is_whole = bytes >= 0 && bytes % each == 0;
    return is_whole ? HONE_OK : compose_refuse(bind, "an offset within an element");
}

static hone_status view(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    HONE_TRY(onnx_input_info(r, 0, &info));
    hone_dtype dtype = is_given(r, 2) ? r->inputs[2].dtype : info->dtype;
    bool has_shape = is_given(r, 1) && r->inputs[1].kind == HONE_GARG_SHAPE;
    uint32_t rank = has_shape ? r->inputs[1].count : (uint32_t)info->rank;
    const hone_expr *const *shape = has_shape ? r->inputs[1].u.exprs : info->shape;
    const hone_expr *count = hone_extent_int(&r->ir, 1);
    int64_t begin;
    if (is_given(r, 1) && !has_shape) return compose_refuse(bind, "a shape that is not known");
    for (uint32_t d = 0; d < rank; d++)
        count = hone_extent_mul(&r->ir, count, shape[d]);
    if (hone_dtype_bytes(dtype) != hone_dtype_bytes(info->dtype) ||
        dtype.lanes != info->dtype.lanes)
        return compose_refuse(bind, "elements of another size");
    HONE_TRY(view_offset(r, bind, dtype, &begin));
    HONE_TRY(onnx_emit_flat(r, r->inputs[0], out));
    HONE_TRY(part_of(r, bind, *out, count, begin, out));
    HONE_TRY(onnx_emit_reshape(r, *out, rank, shape, out));
    if (hone_dtype_equal(dtype, info->dtype)) return HONE_OK;
    hone_attr attr = {"dtype", onnx_text_value(r, HONE_DTYPE_NAME(dtype))};
    return onnx_emit(r, "bitcast", 1, out, 1, &attr, out);
}

/* ---- nothing ---- */

static hone_status same(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    if (!bind->arg_count) return compose_refuse(bind, "without a value");
    *out = r->inputs[0];
    return HONE_OK;
}

static hone_status wrap_param(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_dtype dtype;
    const char *name = hone_attrs_string(&bind->attrs, "dtype", "float32");
    if (!hone_dtype_parse(name, &dtype)) return compose_refuse(bind, "such an element type");
    return onnx_emit_cast(r, r->inputs[0], dtype, out);
}

const hone_composer hone_compose_shapes[] = {
    {"shape_of",                  shape_of},
    {"shape_to_tensor",                           shape_to_tensor},
    {"size",size},
    {"memory.view",                      view},
    {"memory.ensure_zero_offset",                           same},
    {"builtin.stop_lift_params",  same},
    {"hint_on_device", same},
    {"to_vdevice",                           same},
    {"grad.no_grad",                      same},
    {"grad.start_checkpoint",            same},
    {"grad.end_checkpoint",                           same},
    {"dist.annotate_sharding",same},
    {"wrap_param",              wrap_param},
    {0                          },
};
