/* bench/ops/ops_conv.c - convolutions of one image. dims: channels, size (of a square image),
 * filters, kernel, stride, groups, padding;
 * then the width (0: as high as wide), the number of images and the dilation (0: one).
 *
 * NAME_plain: NCHW in and out; NAME_nchwc: inside a layout of 16 channels. Weights are in OIHW,
 * constants or (but for Winograd's method) given at run time; how they are packed is part of the
 * program. */
#include "bench/ops/ops.h"

#define OUT(h, k, s, p) (((h) + 2 * (p) - (k)) / (s) + 1)
#define FLOPS(c, h, f, k, s, g, p)                                                                 \
    (2.0 * (f)*OUT(h, k, s, p) * OUT(h, k, s, p) * (c) / (g) * (k) * (k))
#define WORK(work, kind, weight, c, h, f, k, s, g, p, tolerance, ...)                              \
    {                                                                                              \
        work, NULL, kind, {c, h, f, k, s, g, p}, weight, FLOPS(c, h, f, k, s, g, p), tolerance, {  \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define CONV(name, c, h, f, k, s, g, p)                                                            \
    WORK(name "_plain", "conv2d", 2, c, h, f, k, s, g, p, 0, &ops_onednn_conv, &ops_onnxruntime),  \
        WORK(name "_nchwc", "conv2d_nchwc", 2, c, h, f, k, s, g, p, 0, &ops_onednn_conv)
/* What Winograd's method rounds differently is let pass. */
#define WINOGRAD(name, c, h)                                                                       \
    WORK(name "_plain", "conv2d", -2, c, h, c, 3, 1, 1, 1, 1e-3, &ops_onednn_winograd,             \
         &ops_onednn_conv),                                                                        \
        WORK(name "_nchwc", "conv2d_nchwc", -2, c, h, c, 3, 1, 1, 1, 1e-3, &ops_onednn_winograd,   \
             &ops_onednn_conv)

static const ops_work works[] = {
    CONV("conv2d_64x56", 64, 56, 64, 3, 1, 1, 1),
    CONV("conv2d_256x14", 256, 14, 256, 3, 1, 1, 1),
    CONV("conv2d_64x56_k1", 64, 56, 256, 1, 1, 1, 0),
    CONV("conv2d_1024x14_k1", 1024, 14, 256, 1, 1, 1, 0),
    CONV("conv2d_64x56_s2", 64, 56, 128, 3, 2, 1, 1),
    CONV("depthwise_32x112", 32, 112, 32, 3, 1, 32, 1),
    WINOGRAD("winograd2_64x56", 64, 56),
    WINOGRAD("winograd2_256x14", 256, 14),
    WINOGRAD("winograd4_64x56", 64, 56),
    WINOGRAD("winograd4_256x14", 256, 14),
};

const ops_family ops_conv = {"conv", works, sizeof works / sizeof *works};
