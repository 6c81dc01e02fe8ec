/* ir/ops/layout.h - layouts by letters: "NHWC" says where the dimensions of "NCHW" stand. Pure
 * functions. */
#ifndef HONE_IR_OPS_LAYOUT_H
#define HONE_IR_OPS_LAYOUT_H

#include "ir/core/graph_func.h"

/* Where each letter of `plain` stands in `layout`: dimension i of the plain order is dimension
 * out[i] of the tensor (room for as many). False unless both have the same letters, each once:
 * blocks ("NCHW4c") are no such layout. */
bool hone_layout_axes(const char *layout, const char *plain, int64_t *out);

/* The layouts of a convolution or pool, by the number in its name. */
typedef struct hone_window_layouts {
    const char *plain, *plain_kernel;  /* "NCHW", "OIHW" (transposed: "IOHW") */
    const char *data, *kernel, *out;   /* what the call says, or the plain ones */
    const char *data_key, *kernel_key; /* attributes that say it; kernel_key NULL: a pool */
} hone_window_layouts;
/* False where the call is none. */
bool hone_layouts_of_window(const hone_gbind *bind, hone_window_layouts *out);
bool hone_layouts_are_plain(const hone_window_layouts *layouts);

#endif
