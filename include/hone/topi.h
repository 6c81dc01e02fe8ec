/* hone/topi.h - whole operators in formulas, as TVM's topi: arrays in, an array out.
 *
 *   hone_array y = hone_topi_dense(f, x, weight, bias);
 *   y = hone_topi_unary(f, "nn.relu", y);
 *   error = hone_formula_finish(f, 1, &y, &program);
 *
 * The programs are those that models are made of: legalisation of graphs uses the same builders. An
 * operator adds the stages that it needs to the formula; arrays are named after it ("matmul",
 * "softmax_norm"). Shapes may hold sizes (hone_formula_size) except where an operator says so;
 * arrays have at most 12 dimensions. Broadcasting is numpy's. Mistakes stick to the formula, as
 * those of hone/formula.h do: type (shapes or types that do not fit), invalid, not_found (no such
 * operator), unsupported; each names the operator and the shapes. After one the result is
 * HONE_NO_ARRAY. Not between hone_formula_axes and the end of that array.
 */
#ifndef HONE_TOPI_H
#define HONE_TOPI_H

#include <hone/formula.h>
#include <hone/option.h>

HONE_BEGIN_DECLS

/* ---- any operator ---- */

/* An operator of graph programs by its Relax name without "R.": its tensors in order (those of a
 * tuple, as of concat, singly), everything else by options. */
HONE_API hone_array hone_topi_call(hone_formula *formula, const char *op, size_t count,
                                   const hone_array *tensors, size_t option_count,
                                   const hone_option *options);

/* ---- element by element ---- */

/* "nn.relu", "nn.gelu", "nn.silu", "sigmoid", "exp", "sqrt", "tanh", "negative", "abs", … */
HONE_API hone_array hone_topi_unary(hone_formula *formula, const char *op, hone_array x);
/* "add", "subtract", "multiply", "divide", "power", "maximum", "less", "logical_and", … */
HONE_API hone_array hone_topi_binary(hone_formula *formula, const char *op, hone_array a,
                                     hone_array b);
HONE_API hone_array hone_topi_where(hone_formula *formula, hone_array condition, hone_array if_true,
                                    hone_array if_false);
HONE_API hone_array hone_topi_clip(hone_formula *formula, hone_array x, double low, double high);
HONE_API hone_array hone_topi_cast(hone_formula *formula, hone_array x, const char *type);

/* ---- products ---- */

/* numpy's matmul; a flag swaps the last two dimensions of that side. */
HONE_API hone_array hone_topi_matmul(hone_formula *formula, hone_array a, hone_array b,
                                     int transpose_a, int transpose_b);
/* A fully connected layer: data [..., in], weight [out, in], bias [out] or HONE_NO_ARRAY. */
HONE_API hone_array hone_topi_dense(hone_formula *formula, hone_array data, hone_array weight,
                                    hone_array bias);

/* How a window moves over 1 to 3 spatial dimensions; zeros are the defaults. */
typedef struct hone_topi_window {
    int64_t strides[3];    /* 0 = 1 */
    int64_t dilation[3];   /* 0 = 1 */
    int64_t pad_before[3]; /* zeros (max_pool: nothing) around the data */
    int64_t pad_after[3];
    int64_t groups;        /* of conv; 0 = 1 */
    int ceil_mode;         /* of pools: a last window may hang over */
    int count_include_pad; /* of avg_pool: padding counts as elements */
} hone_topi_window;

/* data [batch, channels, spatial...], weight [out channels, channels / groups, kernel...]: 1, 2 or
 * 3 spatial dimensions. Channels and kernel are no sizes. window NULL = {0}. */
HONE_API hone_array hone_topi_conv(hone_formula *formula, hone_array data, hone_array weight,
                                   const hone_topi_window *window);
/* data as of conv; kernel: one extent for each spatial dimension. */
HONE_API hone_array hone_topi_max_pool(hone_formula *formula, hone_array data,
                                       const int64_t *kernel, const hone_topi_window *window);
HONE_API hone_array hone_topi_avg_pool(hone_formula *formula, hone_array data,
                                       const int64_t *kernel, const hone_topi_window *window);
/* Means over all of the spatial dimensions, which are no sizes; their extents become 1. */
HONE_API hone_array hone_topi_global_avg_pool(hone_formula *formula, hone_array data);

/* ---- over axes; a negative axis counts from the last ---- */

/* "sum", "prod", "max", "min", "mean", "argmax", "argmin" (int64) over some axes; axis_count 0 =
 * all of them. keepdims: their extents become 1. */
HONE_API hone_array hone_topi_reduce(hone_formula *formula, const char *op, hone_array x,
                                     size_t axis_count, const int64_t *axes, int keepdims);
HONE_API hone_array hone_topi_softmax(hone_formula *formula, hone_array x, int64_t axis);
HONE_API hone_array hone_topi_log_softmax(hone_formula *formula, hone_array x, int64_t axis);
/* gamma and beta have the shape of the normalised axes. */
HONE_API hone_array hone_topi_layer_norm(hone_formula *formula, hone_array x, hone_array gamma,
                                         hone_array beta, size_t axis_count, const int64_t *axes,
                                         double epsilon);

/* ---- moving data ---- */

/* Dimension d of the result is dimension axes[d]; NULL turns their order round. */
HONE_API hone_array hone_topi_transpose(hone_formula *formula, hone_array x, const int64_t *axes);
/* The elements stay in row-major order; one extent may be -1. The second form takes terms. */
HONE_API hone_array hone_topi_reshape(hone_formula *formula, hone_array x, uint32_t rank,
                                      const int64_t *shape);
HONE_API hone_array hone_topi_reshape_sized(hone_formula *formula, hone_array x, uint32_t rank,
                                            const hone_term *const *shape);
HONE_API hone_array hone_topi_broadcast_to(hone_formula *formula, hone_array x, uint32_t rank,
                                           const int64_t *shape);
HONE_API hone_array hone_topi_concat(hone_formula *formula, size_t count, const hone_array *tensors,
                                     int64_t axis);
/* Elements begin, begin + stride, … before end of one axis, which is no size. */
HONE_API hone_array hone_topi_slice(hone_formula *formula, hone_array x, int64_t axis,
                                    int64_t begin, int64_t end, int64_t stride);
/* Slices of x at places (integers) along an axis. */
HONE_API hone_array hone_topi_take(hone_formula *formula, hone_array x, hone_array places,
                                   int64_t axis);
/* A border of value: before and after have one entry per dimension. */
HONE_API hone_array hone_topi_pad(hone_formula *formula, hone_array x, const int64_t *before,
                                  const int64_t *after, double value);

HONE_END_DECLS

#endif
