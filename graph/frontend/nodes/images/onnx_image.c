/* graph/frontend/nodes/images/onnx_image.c - images at coordinates and in regions that tensors say.
 */
#include <string.h>

#include "graph/frontend/nodes/onnx_nodes.h"

/* Up to opset 19 they were called bilinear and bicubic. */
static hone_status sample_method(onnx_reader *r, const char **out) {
    static const char *const words[] = {"linear", "bilinear", "cubic", "bicubic", "nearest", NULL};
    static const char *const methods[] = {"bilinear", "bilinear", "bicubic", "bicubic", "nearest"};
    uint32_t word;
    HONE_TRY(onnx_attr_word(r, "mode", words[0], words, &word));
    *out = methods[word];
    return HONE_OK;
}

/* The grid is [N, ..., numbers]; the operator wants them in front of the coordinates. */
static hone_status numbers_first(onnx_reader *r, hone_garg grid, hone_garg *out) {
    const hone_sinfo *info;
    int64_t axes[HONE_MAX_RANK] = {0};
    HONE_TRY(onnx_info(r, &grid, &info));
    if (info->rank < 2) return HONE_ERROR(HONE_CODE_INVALID, "a grid of %d dimensions", info->rank);
    axes[1] = info->rank - 1;
    for (int32_t i = 2; i < info->rank; i++)
        axes[i] = i - 1;
    return onnx_emit_permute(r, grid, (uint32_t)info->rank, axes, out);
}

static hone_status convert_grid_sample(onnx_reader *r, hone_garg *out) {
    const char *method;
    char padding[64];
    int64_t aligns;
    const hone_sinfo *data;
    hone_garg args[2] = {r->inputs[0]};
    HONE_TRY(onnx_input_info(r, 0, &data));
    HONE_TRY(sample_method(r, &method));
    HONE_TRY(onnx_attr_text(r, "padding_mode", "zeros", padding));
    HONE_TRY(onnx_attr_int(r, "align_corners", 0, &aligns));
    HONE_TRY(numbers_first(r, r->inputs[1], &args[1]));
    hone_attr attrs[] = {
        {"method",                             onnx_text_value(r, method)},
        {"layout",                                    onnx_text_value(r,                                              data->rank == 5 ? "NCDHW" : "NCHW")},
        {"padding_mode", onnx_text_value(r,padding)},
        {"align_corners",                   HONE_VALUE_OF_BOOL(aligns != 0)                                                       }
    };
    return onnx_emit(r, "image.grid_sample", 2, args, HONE_COUNT(attrs), attrs, out);
}

/* Up to opset 15 there was no half of an element to be taken off. */
static hone_status convert_roi_align(onnx_reader *r, hone_garg *out) {
    static const char *const forms[] = {"half_pixel", "output_half_pixel", NULL};
    char mode[64];
    uint32_t form;
    int64_t size[2], ratio;
    double scale;
    HONE_TRY(onnx_attr_text(r, "mode", "avg", mode));
    HONE_TRY(
        onnx_attr_word(r, "coordinate_transformation_mode", forms[r->opset < 16], forms, &form));
    HONE_TRY(onnx_attr_int(r, "output_height", 1, &size[0]));
    HONE_TRY(onnx_attr_int(r, "output_width", 1, &size[1]));
    HONE_TRY(onnx_attr_int(r, "sampling_ratio", 0, &ratio));
    HONE_TRY(onnx_attr_float(r, "spatial_scale", 1, &scale));
    hone_attr attrs[] = {
        {"pooled_size",                  onnx_ints_value(r,        2,                size)},
        {"spatial_scale",                              HONE_VALUE_OF_FLOAT(scale)                                       },
        {"sample_ratio",                 HONE_VALUE_OF_INT(ratio)},
        {"aligned", HONE_VALUE_OF_BOOL(form == 0)                        },
        {"mode",                         onnx_text_value(r,                                                 mode)}
    };
    return onnx_emit(r, "roi_align", 3, r->inputs, HONE_COUNT(attrs), attrs, out);
}

static hone_status convert_max_roi_pool(onnx_reader *r, hone_garg *out) {
    int64_t size[2];
    double scale;
    HONE_TRY(onnx_attr_ints_n(r, "pooled_shape", 2, 0, size));
    HONE_TRY(onnx_attr_float(r, "spatial_scale", 1, &scale));
    hone_attr attrs[] = {
        {"pooled_size", onnx_ints_value(r, 2, size)},
        {"spatial_scale",        HONE_VALUE_OF_FLOAT(scale)                        },
    };
    return onnx_emit(r, "roi_pool", 2, r->inputs, HONE_COUNT(attrs), attrs, out);
}

const onnx_converter onnx_image_converters[] = {
    {"MaxRoiPool", convert_max_roi_pool, 2, 2, 1, "pooled_shape spatial_scale", NULL},
    {"GridSample",           convert_grid_sample, 2, 2, 1, "align_corners mode padding_mode", NULL},
    {"RoiAlign",           convert_roi_align, 3, 3, 1,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale", NULL},
    {0       },
};
