/* ir/ops/graph_infer.h - shape inference of graph operators: the rules, and helpers for them and
 * for graph/, which makes operators and looks at their shapes.
 *
 * A rule is called when the struct info of all arguments is known, shapes included, and sets that
 * of the result. Extents are int64 expressions; arithmetic on them folds constants.
 */
#ifndef HONE_IR_OPS_GRAPH_INFER_H
#define HONE_IR_OPS_GRAPH_INFER_H

#include "ir/ops/graph_op.h"
#include "support/data/tensor.h"

enum hone_infer_rule {
    HONE_INFER_SAME,
    HONE_INFER_FLOAT,
    HONE_INFER_BINARY,
    HONE_INFER_COMPARE,
    HONE_INFER_LOGICAL,
    HONE_INFER_WHERE,
    HONE_INFER_FMA,
    HONE_INFER_ASTYPE,
    HONE_INFER_MATMUL,
    HONE_INFER_LINEAR,
    HONE_INFER_DET,
    HONE_INFER_INVERSE,
    HONE_INFER_COUPLE,
    HONE_INFER_DESCEND,
    HONE_INFER_TIME_WARP,
    HONE_INFER_MURMUR_HASH,
    HONE_INFER_REDUCE,
    HONE_INFER_ARG_REDUCE,
    HONE_INFER_CONV,
    HONE_INFER_POOL,
    HONE_INFER_ADAPTIVE_POOL,
    HONE_INFER_BATCH_NORM,
    HONE_INFER_LAYER_NORM,
    HONE_INFER_NLL_LOSS,
    HONE_INFER_RESAMPLE,
    HONE_INFER_CONV_TRANSPOSE,
    HONE_INFER_GRID_SAMPLE,
    HONE_INFER_RESIZE,
    HONE_INFER_ROI_ALIGN,
    HONE_INFER_ROI_POOL,
    HONE_INFER_EINSUM,
    HONE_INFER_PAD,
    HONE_INFER_DROPOUT,
    HONE_INFER_RESHAPE,
    HONE_INFER_FLATTEN,
    HONE_INFER_SQUEEZE,
    HONE_INFER_EXPAND_DIMS,
    HONE_INFER_PERMUTE,
    HONE_INFER_BROADCAST_TO,
    HONE_INFER_CONCAT,
    HONE_INFER_SPLIT,
    HONE_INFER_SLICE,
    HONE_INFER_TAKE,
    HONE_INFER_GATHER_ELEMENTS,
    HONE_INFER_GATHER_ND,
    HONE_INFER_SCATTER_ELEMENTS,
    HONE_INFER_SCATTER_ND,
    HONE_INFER_CUMULATE,
    HONE_INFER_SORT,
    HONE_INFER_ARGSORT,
    HONE_INFER_TOPK,
    HONE_INFER_TRIANGLE,
    HONE_INFER_FLIP,
    HONE_INFER_TILE,
    HONE_INFER_REPEAT,
    HONE_INFER_TEST,
    HONE_INFER_BITS,
    HONE_INFER_ONE_HOT,
    HONE_INFER_LOOP,
    HONE_INFER_FILL,
    HONE_INFER_ARANGE,
    HONE_INFER_TO_SHAPE,
    HONE_INFER_SUPPRESS,
    HONE_INFER_QUANTIZE,
    HONE_INFER_OPEN,
    HONE_INFER_COUNT
};

enum { HONE_INFER_MAX_ARGS = 8 };

typedef struct hone_infer {
    const hone_module *module;
    const hone_graph_func *graph;
    const hone_gbind *bind;
    const hone_graph_op *op;
    hone_ir ir; /* makes extents, in the result's arena */
    const hone_sinfo *args[HONE_INFER_MAX_ARGS];
    const hone_sinfo *result;
} hone_infer;

typedef hone_status (*hone_infer_fn)(hone_infer *in);

/* Rules, by what the operators that have them do with the types of their arguments: each sets
 * in->result. TYPE or INVALID: the arguments do not fit the operator. */
hone_status hone_infer_same(hone_infer *in);
hone_status hone_infer_float(hone_infer *in);
hone_status hone_infer_binary(hone_infer *in);
hone_status hone_infer_compare(hone_infer *in);
hone_status hone_infer_logical(hone_infer *in);
hone_status hone_infer_where(hone_infer *in);
hone_status hone_infer_fma(hone_infer *in);
hone_status hone_infer_astype(hone_infer *in);
hone_status hone_infer_matmul(hone_infer *in);
hone_status hone_infer_linear(hone_infer *in);
hone_status hone_infer_det(hone_infer *in);
hone_status hone_infer_inverse(hone_infer *in);
hone_status hone_infer_couple(hone_infer *in);
hone_status hone_infer_descend(hone_infer *in);
hone_status hone_infer_time_warp(hone_infer *in);
hone_status hone_infer_murmur_hash(hone_infer *in);
hone_status hone_infer_reduce(hone_infer *in);
hone_status hone_infer_arg_reduce(hone_infer *in);
hone_status hone_infer_conv(hone_infer *in);
hone_status hone_infer_pool(hone_infer *in);
hone_status hone_infer_adaptive_pool(hone_infer *in);
hone_status hone_infer_batch_norm(hone_infer *in);
hone_status hone_infer_layer_norm(hone_infer *in);
hone_status hone_infer_nll_loss(hone_infer *in);
hone_status hone_infer_resample(hone_infer *in);
hone_status hone_infer_conv_transpose(hone_infer *in);
hone_status hone_infer_grid_sample(hone_infer *in);
hone_status hone_infer_resize(hone_infer *in);
hone_status hone_infer_roi_align(hone_infer *in);
hone_status hone_infer_roi_pool(hone_infer *in);
hone_status hone_infer_einsum(hone_infer *in);
hone_status hone_infer_pad(hone_infer *in);
hone_status hone_infer_dropout(hone_infer *in);
hone_status hone_infer_reshape(hone_infer *in);
hone_status hone_infer_flatten(hone_infer *in);
hone_status hone_infer_squeeze(hone_infer *in);
hone_status hone_infer_expand_dims(hone_infer *in);
hone_status hone_infer_permute(hone_infer *in);
hone_status hone_infer_broadcast_to(hone_infer *in);
hone_status hone_infer_concat(hone_infer *in);
hone_status hone_infer_split(hone_infer *in);
hone_status hone_infer_slice(hone_infer *in);
hone_status hone_infer_take(hone_infer *in);
hone_status hone_infer_gather_elements(hone_infer *in);
hone_status hone_infer_gather_nd(hone_infer *in);
hone_status hone_infer_scatter_elements(hone_infer *in);
hone_status hone_infer_scatter_nd(hone_infer *in);
hone_status hone_infer_cumulate(hone_infer *in);
hone_status hone_infer_sort(hone_infer *in);
hone_status hone_infer_argsort(hone_infer *in);
hone_status hone_infer_topk(hone_infer *in);
hone_status hone_infer_triangle(hone_infer *in);
hone_status hone_infer_flip(hone_infer *in);
hone_status hone_infer_tile(hone_infer *in);
hone_status hone_infer_repeat(hone_infer *in);
hone_status hone_infer_test(hone_infer *in);
hone_status hone_infer_bits(hone_infer *in);
hone_status hone_infer_one_hot(hone_infer *in);
hone_status hone_infer_fill(hone_infer *in);
hone_status hone_infer_arange(hone_infer *in);
hone_status hone_infer_to_shape(hone_infer *in);
hone_status hone_infer_suppress(hone_infer *in);
hone_status hone_infer_quantize(hone_infer *in);

/* Operators by this rule take no tensor first: they make one of a shape, or of numbers. */
bool hone_infer_makes(int rule);

/* ---- helpers ---- */
/* TYPE: "'add' of float32[2, 3] and float32[4]: <reason>". */
hone_status hone_infer_fail(const hone_infer *in, const char *format, ...) HONE_PRINTF(2, 3);
/* UNSUPPORTED with the same text as hone_infer_fail: the call may be right, but we can do nothing
 * with it. */
hone_status hone_infer_doubt(const hone_infer *in, const char *format, ...) HONE_PRINTF(2, 3);
/* Sets the result to a tensor; the shape is copied. */
hone_status hone_infer_tensor(hone_infer *in, hone_dtype dtype, int32_t rank,
                              const hone_expr *const *shape);
/* The attribute "out_dtype", or the fallback when it is void. */
hone_dtype hone_infer_out_dtype(const hone_infer *in, hone_dtype fallback);
/* The attribute "dtype", or the fallback when it is void. */
hone_status hone_infer_dtype(hone_infer *in, hone_dtype fallback, hone_dtype *out);
/* Two element types surely differ: VOID, which is not known, may be any. */
bool hone_dtypes_differ(hone_dtype a, hone_dtype b);
/* TYPE unless the first two arguments have one element type, or "out_dtype" says the result's. */
hone_status hone_infer_factor_dtypes(const hone_infer *in);

/* Extents, int64: a number, and sums and products of extents, folded where they are constant. */
const hone_expr *hone_extent_int(hone_ir *ir, int64_t value);
const hone_expr *hone_extent_add(hone_ir *ir, const hone_expr *a, int64_t b);
const hone_expr *hone_extent_sum(hone_ir *ir, const hone_expr *a, const hone_expr *b);
const hone_expr *hone_extent_mul(hone_ir *ir, const hone_expr *a, const hone_expr *b);
/* floor(a / b), b > 0 */
const hone_expr *hone_extent_div(hone_ir *ir, const hone_expr *a, int64_t b);
/* The elements of x by a product of extents: what a -1 beside these stands for. NULL where it
 * cannot be divided for all sizes. */
const hone_expr *hone_infer_rest(hone_ir *ir, const hone_sinfo *x, int32_t count,
                                 const hone_expr *const *by);
/* The extents are surely equal: the same constant or the same expression. */
bool hone_extent_same(const hone_expr *a, const hone_expr *b);
/* The extents surely differ. */
bool hone_extent_differs(const hone_expr *a, const hone_expr *b);
/* The extents are equal, however they are written: n + n and n * 2. */
bool hone_extent_equals(hone_arena *arena, const hone_expr *a, const hone_expr *b);
bool hone_infer_same_extent(const hone_infer *in, const hone_expr *a, const hone_expr *b);
/* Appends the extent for a message: "(n + 1)". */
void hone_extent_describe(const hone_graph_func *graph, const hone_expr *e, hone_str *out);

/* Brings an axis attribute, which may count from the end, into [0, rank). */
hone_status hone_infer_axis(const hone_infer *in, int64_t axis, int32_t rank, int32_t *out_axis);
/* "axis" as a set: all when None, one integer, or a list. */
hone_status hone_infer_axes(const hone_infer *in, const char *key, int32_t rank,
                            bool out_is_axis[HONE_MAX_RANK]);
/* numpy's broadcasting of several tensors; shape has room for HONE_MAX_RANK. */
hone_status hone_infer_broadcast(hone_infer *in, uint32_t count, const hone_sinfo *const *infos,
                                 const hone_expr **shape, int32_t *out_rank);
/* Padding as [before..., after...] from 1, n or 2n numbers. */
hone_status hone_graph_attr_padding(const hone_gbind *bind, uint32_t spatial, int64_t *out);
/* What arange goes over. */
typedef struct hone_range_facts {
    const hone_expr *start, *end, *step;
    bool is_float; /* one of them is */
} hone_range_facts;
hone_status hone_graph_range(const hone_gbind *bind, hone_ir *ir, hone_range_facts *out);
/* UNSUPPORTED unless the attribute `key` is the plain layout `want`, the only one implemented. */
hone_status hone_graph_check_layout(const hone_gbind *bind, const char *key, const char *want);
/* The integers of a tuple argument (as of strided_slice); returns how many, -1 when it is no tuple
 * of constants. */
int32_t hone_garg_ints(const hone_garg *arg, int64_t out[HONE_MAX_RANK]);

#endif
