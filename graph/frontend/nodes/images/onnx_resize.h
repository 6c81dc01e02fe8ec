/* graph/frontend/nodes/images/onnx_resize.h - Resize by sizes or scales that are computed. */
#ifndef HONE_GRAPH_FRONTEND_NODES_IMAGES_ONNX_RESIZE_H
#define HONE_GRAPH_FRONTEND_NODES_IMAGES_ONNX_RESIZE_H

#include "graph/frontend/nodes/onnx_nodes.h"

typedef enum onnx_method { ONNX_NEAREST, ONNX_LINEAR, ONNX_CUBIC } onnx_method;
typedef struct onnx_filter {
    onnx_method method;
    const char *coordinates, *nearest; /* words of the attributes; "simple": that of opset 10 */
    double cubic_a;
    bool excludes_outside, is_smoothed;
} onnx_filter;
/* x along these axes; the numbers are those of an input, one for each axis. */
hone_status onnx_resize_by_data(onnx_reader *r, const onnx_filter *f, uint32_t input,
                                bool are_sizes, uint32_t count, const int32_t *axes, hone_garg *io);

#endif
