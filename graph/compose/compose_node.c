/* graph/compose/compose_node.c - operators that the standard of ONNX has too, by another name or
 * with words of its own: a node of it is made, and converted as one of a model. */
#include <string.h>

#include "graph/compose/compose_impl.h"

/* ---- what is chosen ---- */

static hone_status nonzero(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    compose_node n;
    (void)bind;
    compose_node_begin(&n, "NonZero");
    return compose_node_first(r, &n, out);
}

static bool has_axis(const hone_gbind *bind) {
    const hone_value *named = hone_attrs_find(&bind->attrs, "axis");
    bool is_given = bind->arg_count > 5 && bind->args[5].kind == HONE_GARG_PRIM;
    return is_given || (named && named->kind != HONE_VALUE_NONE);
}

/* One tensor, or a tuple where indices, groups or counts are asked for. */
static hone_status unique(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    static const char *const keys[] = {"return_index", "return_inverse", "return_counts"};
    compose_node n;
    int64_t axis;
    hone_garg outputs[ONNX_MAX_OUTPUTS] = {{0}};
    uint32_t count = 1;
    compose_node_begin(&n, "Unique");
    HONE_TRY(compose_int(bind, 5, "axis", 0, &axis));
    if (has_axis(bind)) compose_node_int(&n, "axis", axis);
    compose_node_int(&n, "sorted", compose_flag(bind, 1, "sorted", true));
    HONE_TRY(compose_node_convert(r, &n, outputs));
    for (uint32_t i = 0; i < HONE_COUNT(keys); i++) {
        if (compose_flag(bind, 2 + i, keys[i], false)) outputs[count++] = outputs[1 + i];
    }
    *out = outputs[0];
    return count == 1 ? HONE_OK : compose_tuple(r, count, outputs, out);
}

static hone_status suppress(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    compose_node n;
    hone_garg items[2];
    const char *form = hone_attrs_string(&bind->attrs, "output_format", "onnx");
    if (strcmp(form, "onnx") != 0) return compose_refuse(bind, "an output_format but 'onnx'");
    compose_node_begin(&n, "NonMaxSuppression");
    HONE_TRY(compose_node_first(r, &n, &items[0]));
    HONE_TRY(onnx_info(r, &items[0], &info));
    HONE_TRY(onnx_sizes_tensor(r, 1, info->shape, &items[1]));
    return compose_tuple(r, 2, items, out);
}

static hone_status reverse_sequence(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    compose_node n;
    compose_node_begin(&n, "ReverseSequence");
    HONE_TRY(onnx_emit_cast(r, r->inputs[1], HONE_DTYPE_I64, &r->inputs[1]));
    compose_node_int(&n, "time_axis", hone_attrs_int(&bind->attrs, "seq_axis", 1));
    compose_node_int(&n, "batch_axis", hone_attrs_int(&bind->attrs, "batch_axis", 0));
    return compose_node_first(r, &n, out);
}

/* Each of begin, end and strides is a tensor that may be computed. */
static hone_status dynamic_slice(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    const hone_sinfo *info;
    compose_node n;
    int64_t axes[HONE_MAX_RANK], count;
    hone_tensor *tensor;
    (void)bind;
    HONE_TRY(onnx_input_info(r, 0, &info));
    count = info->rank;
    for (int32_t d = 0; d < info->rank; d++)
        axes[d] = d;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_I64, 1, &count, &tensor));
    for (int64_t d = 0; d < count; d++)
        hone_tensor_set_i64(tensor, d, axes[d]);
    r->inputs[4] = r->inputs[3];
    r->input_count = 5;
    HONE_TRY(onnx_add_constant(r, tensor, &r->inputs[3]));
    compose_node_begin(&n, "Slice");
    return compose_node_first(r, &n, out);
}

/* ---- images ---- */

static hone_status region_of(onnx_reader *r, const hone_gbind *bind, uint32_t rank,
                             const int32_t *axes, uint32_t count, hone_garg *out) {
    const hone_value *roi = hone_attrs_find(&bind->attrs, "roi");
    int64_t extent = 2 * (int64_t)rank;
    hone_tensor *tensor;
    *out = (hone_garg){.kind = HONE_GARG_NONE};
    if (!roi || roi->kind != HONE_VALUE_LIST || roi->count != 2 * count) return HONE_OK;
    HONE_TRY(hone_tensor_create(HONE_DTYPE_F32, 1, &extent, &tensor));
    for (uint32_t i = 0; i < rank; i++)
        hone_tensor_set_f64(tensor, rank + i, 1);
    for (uint32_t i = 0; i < 2 * count; i++) {
        const hone_value *v = &roi->u.items[i];
        double at = v->kind == HONE_VALUE_FLOAT ? v->u.f : (double)v->u.i;
        hone_tensor_set_f64(tensor, (i / count) * rank + (uint32_t)axes[i % count], at);
    }
    return onnx_add_constant(r, tensor, out);
}

/* The axes of space by their letters in the layout, and what they become. */
static hone_status new_sizes(onnx_reader *r, const hone_gbind *bind, const char *letters,
                             const hone_sinfo *info, int32_t *axes, hone_garg *out) {
    const char *layout = hone_attrs_string(&bind->attrs, "layout", "");
    const hone_expr *sizes[HONE_MAX_RANK];
    const hone_garg *size = &r->inputs[1];
    uint32_t count = (uint32_t)strlen(letters);
    bool is_one = size->kind == HONE_GARG_PRIM;
    if (!is_one && (size->kind != HONE_GARG_SHAPE || size->count != count))
        return compose_refuse(bind, "a size that is not written out");
    for (int32_t d = 0; d < info->rank; d++)
        sizes[d] = info->shape[d];
    for (uint32_t i = 0; i < count; i++) {
        const char *index = *layout ? strchr(layout, letters[i]) : NULL;
        axes[i] = !*layout ? info->rank - (int32_t)count + (int32_t)i
                  : index  ? (int32_t)(index - layout)
                           : info->rank;
        if (axes[i] >= info->rank) return compose_refuse(bind, "a layout of other letters");
        sizes[axes[i]] = is_one ? size->u.expr : size->u.exprs[i];
    }
    return onnx_make_ints(r, (uint32_t)info->rank, sizes, 1, out);
}

static const char *method_of(const hone_gbind *bind) {
    const char *method = hone_attrs_string(&bind->attrs, "method", "linear");
    bool is_nearest = strcmp(method, "nearest_neighbor") == 0;
    return is_nearest ? "nearest" : strcmp(method, "bilinear") == 0 ? "linear" : method;
}

/* What is the nearest is said, or follows from the coordinates. */
static const char *rounding_of(const hone_gbind *bind, const char *coordinates) {
    const char *said = hone_attrs_string(&bind->attrs, "rounding_method", "round");
    if (*said) return said;
    return strcmp(coordinates, "align_corners") == 0 ? "round" : "floor";
}

static hone_status resize(onnx_reader *r, const hone_gbind *bind, const char *letters,
                          hone_garg *out) {
    const hone_sinfo *info;
    int32_t axes[3];
    compose_node n;
    const char *coordinates =
        hone_attrs_string(&bind->attrs, "coordinate_transformation_mode", "half_pixel");
    HONE_TRY(onnx_input_info(r, 0, &info));
    HONE_TRY(new_sizes(r, bind, letters, info, axes, &r->inputs[3]));
    r->inputs[2] = (hone_garg){.kind = HONE_GARG_NONE};
    r->input_count = 4;
    HONE_TRY(
        region_of(r, bind, (uint32_t)info->rank, axes, (uint32_t)strlen(letters), &r->inputs[1]));
    compose_node_begin(&n, "Resize");
    compose_node_text(&n, "mode", method_of(bind));
    compose_node_text(&n, "coordinate_transformation_mode", coordinates);
    compose_node_text(&n, "nearest_mode", rounding_of(bind, coordinates));
    compose_node_float(&n, "cubic_coeff_a", compose_number(bind, "cubic_alpha", -0.75));
    compose_node_float(&n, "extrapolation_value", compose_number(bind, "extrapolation_value", 0));
    compose_node_int(&n, "exclude_outside", compose_number(bind, "cubic_exclude", 0) != 0);
    HONE_TRY(compose_node_first(r, &n, out));
    const char *name = hone_attrs_string(&bind->attrs, "out_dtype", "void");
    hone_dtype dtype;
    bool is_said = hone_dtype_parse(name, &dtype) && !hone_dtype_is_void(dtype);
    return is_said ? onnx_emit_cast(r, *out, dtype, out) : HONE_OK;
}

static hone_status resize2d(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    return resize(r, bind, "HW", out);
}

static hone_status resize3d(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    return resize(r, bind, "DHW", out);
}

/* [batch, 2, height, width], the coordinate x in front of y. */
static hone_status affine_grid(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    static const int64_t turned[] = {0, 3, 1, 2};
    const hone_sinfo *info;
    compose_node n;
    const hone_garg size = r->inputs[1];
    HONE_TRY(onnx_input_info(r, 0, &info));
    if (size.kind != HONE_GARG_SHAPE || size.count != 2)
        return compose_refuse(bind, "a size that is not written out");
    const hone_expr *sizes[] = {info->shape[0], hone_extent_int(&r->ir, 1), size.u.exprs[0],
                                size.u.exprs[1]};
    HONE_TRY(onnx_make_ints(r, 4, sizes, 1, &r->inputs[1]));
    compose_node_begin(&n, "AffineGrid");
    compose_node_int(&n, "align_corners", hone_attrs_int(&bind->attrs, "align_corners", 1));
    HONE_TRY(compose_node_first(r, &n, out));
    return onnx_emit_permute(r, *out, 4, turned, out);
}

/* ---- regions: [image, x1, y1, x2, y2] ---- */

static hone_status check_plain_layout(const hone_gbind *bind) {
    const char *layout = hone_attrs_string(&bind->attrs, "layout", "NCHW");
    return strcmp(layout, "NCHW") == 0 ? HONE_OK : compose_refuse(bind, "a layout but NCHW");
}

static hone_status pooled_size(const hone_gbind *bind, int64_t out[2]) {
    return hone_graph_attr_ints(bind, "pooled_size", 2, 1, out);
}

/* The greatest of the points, not of the products that make them, as in models. */
static hone_status roi_align(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    hone_garg args[3] = {r->inputs[0]};
    const char *mode = hone_attrs_string(&bind->attrs, "mode", "avg");
    int64_t size[2], samples = hone_attrs_int(&bind->attrs, "sample_ratio", -1);
    HONE_TRY(check_plain_layout(bind));
    HONE_TRY(pooled_size(bind, size));
    HONE_TRY(onnx_emit_slice(r, r->inputs[1], 1, 1, 5, &args[1]));
    HONE_TRY(onnx_emit_slice(r, r->inputs[1], 1, 0, 1, &args[2]));
    HONE_TRY(onnx_emit_flat(r, args[2], &args[2]));
    HONE_TRY(onnx_emit_cast(r, args[2], HONE_DTYPE_I64, &args[2]));
    hone_attr attrs[] = {
        {"pooled_size", onnx_ints_value(r, 2,                                                              size)},
        {"spatial_scale",             HONE_VALUE_OF_FLOAT(compose_number(bind,                "spatial_scale",                           1))},
        {"sample_ratio",          HONE_VALUE_OF_INT(samples > 0 ? samples : 0)                          },
        {"aligned",             HONE_VALUE_OF_INT(hone_attrs_int(&bind->attrs,"aligned",                                                  0))},
        {"mode",          HONE_VALUE_OF_STRING(strcmp(mode,                           "max") == 0 ? "most" : mode)}
    };
    return onnx_emit(r, "roi_align", 3, args, HONE_COUNT(attrs), attrs, out);
}

static hone_status roi_pool(onnx_reader *r, const hone_gbind *bind, hone_garg *out) {
    int64_t size[2];
    HONE_TRY(check_plain_layout(bind));
    HONE_TRY(pooled_size(bind, size));
    hone_attr attrs[] = {
        {"pooled_size",   onnx_ints_value(r,                       2,               size)},
        {"spatial_scale", HONE_VALUE_OF_FLOAT(compose_number(bind, "spatial_scale", 1))  }
    };
    return onnx_emit(r, "roi_pool", 2, r->inputs, 2, attrs, out);
}

const hone_composer hone_compose_nodes[] = {
    {"nonzero",                              nonzero},
    {"unique",                                      unique},
    {"vision.all_class_non_max_suppression",suppress},
    {"reverse_sequence", reverse_sequence},
    {"dynamic_strided_slice",                                      dynamic_slice},
    {"image.resize2d",                      resize2d},
    {"image.resize3d",                resize3d},
    {"image.affine_grid",                                      affine_grid},
    {"vision.roi_align",         roi_align},
    {"vision.roi_pool",                       roi_pool},
    {0                                     },
};
