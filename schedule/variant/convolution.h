/* schedule/variant/convolution.h - which nest of a program is a convolution, and what of it is
 * what.
 *
 *   out[n, f, y, x] = sum over c, r, s of image[n, c, y*stride + r*dilation, x*… + s*…] *
 *                     filter[f, c, r, s]
 *
 * in any order of dimensions (NCHW, NHWC, …), in one group, its padding a block of its own. All
 * sizes are constants.
 */
#ifndef HONE_SCHEDULE_VARIANT_CONVOLUTION_H
#define HONE_SCHEDULE_VARIANT_CONVOLUTION_H

#include "schedule/variant/variant_impl.h"

enum { CONV_MAX_RANK = 4 };

/* Axes of a convolution. */
typedef enum conv_axis {
    CONV_N,
    CONV_F,
    CONV_Y,
    CONV_X,
    CONV_C,
    CONV_R,
    CONV_S,
    CONV_AXES,
    CONV_NONE = CONV_AXES /* a dimension of one element */
} conv_axis;

/* A buffer: which axis each dimension follows; Y and X of the image with its taps. */
typedef struct conv_access {
    hone_buffer buffer;
    uint32_t rank;
    conv_axis dims[CONV_MAX_RANK];
} conv_access;

typedef struct convolution {
    hone_node_id nest; /* child of the root block; it holds nothing else */
    conv_access image, filter, out;
    int64_t extents[CONV_AXES];       /* N is 1 where nothing moves along it */
    int64_t strides[2], dilations[2]; /* along y, x */
    hone_dtype index;
} convolution;

/* The first convolution in the function of operands of a type, with sums of float32. ILLEGAL: there
 * is none. */
HONE_NODISCARD hone_status convolution_find(const hone_func *func, hone_dtype operand,
                                            convolution *out);

/* The variant pairs of a convolution of bfloat16 that was found (bf16_convolution.c). */
HONE_NODISCARD hone_status variant_pair_convolution(hone_func *func, const convolution *c);

/* A load whose dimensions follow the axes as the access says; at[axis]: where (for Y and X of the
 * image: as they are, taps included). */
const hone_expr *convolution_load(hone_te *te, const conv_access *access,
                                  const hone_expr *const at[CONV_AXES]);

/* Begins a stage that is the convolution's output, dimension by dimension. at[axis]: where its
 * element lies along that axis (N where nothing moves along it: 0), for the axes that an output
 * has. */
void convolution_begin_output(hone_te *te, const convolution *c, hone_te_stage *s,
                              const hone_expr *at[CONV_AXES]);

#endif
