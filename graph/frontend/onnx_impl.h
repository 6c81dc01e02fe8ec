/* graph/frontend/onnx_impl.h - between the files of the ONNX reader.
 *
 *   onnx_file.c    bytes → protobuf messages, with limits
 *   onnx_tensor.c  TensorProto → hone_tensor
 *   onnx_attr.c    attributes of a node, checked
 *   onnx_emit.c    graph values: names, operator calls, constants, known integers
 *   onnx_known.c   arithmetic of shapes with sizes that come later
 *   onnx_sizes.c   sizes that are computed when the model runs
 *   onnx_computed.c, onnx_resize_data.c
 *                  operands that are, and what they say of the result
 *   onnx_round.c   operators of several steps are rounded once
 *   onnx_function.c, onnx_missing.c  functions of a model; what of it is not implemented
 *   onnx_import.c  models: inputs, initializers, nodes in order, outputs
 *   onnx_math.c, onnx_nn.c, onnx_shape.c, onnx_index.c, onnx_fill.c, onnx_pad.c, onnx_slice.c,
 *   onnx_simple.c, onnx_train.c, onnx_places.c, onnx_loss.c, onnx_image.c, onnx_einsum.c,
 *   onnx_quant.c, onnx_signal.c, onnx_transformer.c, onnx_recurrent.c, onnx_resize.c,
 *   onnx_ngrams.c, onnx_cast.c, onnx_random.c,
 *   onnx_attention.c, onnx_microsoft.c,
 *   onnx_chosen.c, onnx_unique.c, onnx_suppress.c
 *                  one converter per operator
 *   onnx_subgraph.c, onnx_branch.c, onnx_loop.c, onnx_sequence.c (onnx_flow.h)
 *                  control flow, sequences
 *
 * A converter gets its inputs as graph arguments and gives one argument per output. Integers that
 * are known while reading (shapes) are HONE_GARG_SHAPE (a vector) or HONE_GARG_PRIM (a scalar) of
 * int64 expressions; a constant tensor of integers counts as known as well.
 */
#ifndef HONE_GRAPH_FRONTEND_ONNX_IMPL_H
#define HONE_GRAPH_FRONTEND_ONNX_IMPL_H

#include "graph/frontend/onnx_import.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"
#include "onnx/onnx.pb-c.h"
#include "support/data/map.h"

enum { ONNX_MAX_INPUTS = 256, ONNX_MAX_OUTPUTS = 64 };
enum { ONNX_NAME_FILE = 1, ONNX_NAME_MADE = 2 }; /* whose the name of a size is */

/* Names that hold in a graph: its own, and those of the graph around it. */
typedef struct onnx_scope {
    hone_strmap names;  /* ONNX value name → index into args */
    hone_strmap makers; /* ONNX value name → the node that makes it, as an address */
    struct onnx_scope *around;
} onnx_scope;

void onnx_scope_deinit(onnx_scope *scope);

/* A call of a function that the model brings along (onnx_function.c), while its nodes are read. */
typedef struct onnx_call {
    const Onnx__NodeProto *node;
    const Onnx__FunctionProto *function;
    const struct onnx_call *outer; /* the call whose function this one stands in, or NULL */
} onnx_call;

enum { ONNX_MAX_CALLS = 1 << 16 };  /* of functions in a model */
enum { ONNX_MAX_INSIDE = 1 << 14 }; /* readings of graphs of nodes: turns of loops in loops */

typedef struct onnx_reader {
    hone_module *module;
    hone_graph_func *graph;
    hone_arena *arena; /* the module's */
    hone_ir ir;
    const char *source, *directory;
    const hone_graph_options *options;
    bool dim_used[64]; /* by place in options->dims */
    int64_t opset;
    onnx_scope *scope;
    hone_garg *args;
    uint32_t arg_count, arg_capacity;
    uint32_t initializer_count; /* the first args */
    hone_strmap size_names;     /* that some dimension has, or was given */
    const Onnx__ModelProto *model;
    const onnx_call *call; /* that is being read, or NULL */
    uint32_t call_count;
    struct onnx_found *found; /* sizes that are computed (onnx_sizes.c) */
    uint32_t found_count, found_capacity;
    struct onnx_items *items; /* of vectors of which some are known (onnx_sizes.c) */
    uint32_t items_count, items_capacity;
    uint32_t inside_count;       /* how often a graph of a node was read */
    const Onnx__NodeProto *node; /* being converted */
    uint32_t input_count;        /* its inputs; absent ones are HONE_GARG_NONE */
    hone_garg inputs[ONNX_MAX_INPUTS];
    uint32_t output_count; /* outputs that have a name or come before one that has */
} onnx_reader;

typedef hone_status (*onnx_convert_fn)(onnx_reader *r, hone_garg *outputs);

typedef struct onnx_converter {
    const char *op;
    onnx_convert_fn convert;
    uint8_t least_inputs, most_inputs, most_outputs; /* 255 inputs: any number */
    const char *attrs;                               /* allowed ones, separated by spaces */
    const char *target; /* the operator of the graph, for converters that serve several */
} onnx_converter;

/* Tables end with op == NULL. */
extern const onnx_converter onnx_math_converters[];
extern const onnx_converter onnx_nn_converters[];
extern const onnx_converter onnx_shape_converters[];
extern const onnx_converter onnx_index_converters[];
extern const onnx_converter onnx_fill_converters[];
extern const onnx_converter onnx_pad_converters[];
extern const onnx_converter onnx_slice_converters[];
extern const onnx_converter onnx_simple_converters[];
extern const onnx_converter onnx_train_converters[]; /* of ai.onnx.preview.training */
extern const onnx_converter onnx_places_converters[];
extern const onnx_converter onnx_loss_converters[];
extern const onnx_converter onnx_transformer_converters[];
extern const onnx_converter onnx_microsoft_converters[];     /* of the domain com.microsoft */
extern const onnx_converter onnx_quant_contrib_converters[]; /* more of com.microsoft */
extern const onnx_converter onnx_signal_converters[];
extern const onnx_converter onnx_einsum_converters[];
extern const onnx_converter onnx_recurrent_converters[];
extern const onnx_converter onnx_quant_converters[];
extern const onnx_converter onnx_image_converters[];
extern const onnx_converter onnx_resize_converters[];
extern const onnx_converter onnx_ngram_converters[];
extern const onnx_converter onnx_cast_converters[];
extern const onnx_converter onnx_chosen_converters[];
extern const onnx_converter onnx_unique_converters[];
extern const onnx_converter onnx_suppress_converters[];
extern const onnx_converter onnx_branch_converters[];
extern const onnx_converter onnx_loop_converters[];
extern const onnx_converter onnx_sequence_converters[];
extern const onnx_converter onnx_random_converters[];
extern const onnx_converter onnx_attention_converters[];
/* The converter of a node, by domain and name; NULL when there is none. */
const onnx_converter *onnx_find_converter(const Onnx__NodeProto *node);

bool onnx_is_plain_domain(const char *domain);
/* The name of a node, or of its first output; "" where it has neither. */
const char *onnx_node_name(const Onnx__NodeProto *node);
/* "node 'conv1' (Conv): ..." */
hone_status onnx_at_node(const Onnx__NodeProto *node, hone_status st);
hone_status onnx_define(onnx_reader *r, const char *name, hone_garg arg);
hone_status onnx_convert_nodes(onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes);
/* The version of the standard's operators that holds from now on; as before where none is named. */
hone_status onnx_set_opset(onnx_reader *r, size_t count, Onnx__OperatorSetIdProto *const *sets);
/* UNSUPPORTED: names all operators of the model that are not implemented. */
hone_status onnx_check_operators(const Onnx__ModelProto *model);

/* ---- functions ---- */
/* The function of the model that the node calls, or NULL. */
const Onnx__FunctionProto *onnx_find_function(const Onnx__ModelProto *model,
                                              const Onnx__NodeProto *node);
hone_status onnx_convert_call(onnx_reader *r, const Onnx__NodeProto *node,
                              const Onnx__FunctionProto *function);
/* The attribute itself, or what it refers to of the call; NULL where that has none. */
const Onnx__AttributeProto *onnx_resolve_attr(const onnx_call *call,
                                              const Onnx__AttributeProto *attr);
enum { ONNX_MAX_GIVEN = 16 };
/* That operator of the standard on these inputs, with the attributes of the node. */
hone_status onnx_convert_on(onnx_reader *r, const char *op, uint32_t count, const hone_garg *inputs,
                            hone_garg *out);
/* QuantizeLinear (its inputs and node are the reader's) behind an operator on dequantised numbers:
 * the two as one operator on whole numbers; else *out_done is false. */
hone_status onnx_fuse_quantize(onnx_reader *r, hone_garg *out, bool *out_done);

/* ---- files ---- */
enum { ONNX_MAX_NESTING = 32 };
/* Nesting within limits, so that unpacking cannot exhaust the stack. */
hone_status onnx_check_nesting(const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                               size_t size);
hone_status onnx_unpack_tensor(const onnx_reader *r, const Onnx__TensorProto *proto,
                               const char *directory, hone_tensor **out_tensor);
/* The element type, or UNSUPPORTED with its number. */
hone_status onnx_dtype(int32_t type, hone_dtype *out_dtype);

/* ---- graphs inside of nodes ---- */
bool onnx_lookup(const onnx_reader *r, const char *name, hone_garg *out);
/* The initializers and nodes of a graph, in the current scope. */
HONE_NODISCARD hone_status onnx_read_nodes(onnx_reader *r, const Onnx__GraphProto *graph);
/* When a function is complete. */
void onnx_end_blocks(onnx_reader *r);

/* ---- attributes ---- */
const Onnx__AttributeProto *onnx_attr(const onnx_reader *r, const char *name); /* or NULL */
/* INVALID when present with another type. */
hone_status onnx_attr_int(const onnx_reader *r, const char *name, int64_t fallback, int64_t *out);
hone_status onnx_attr_float(const onnx_reader *r, const char *name, double fallback, double *out);
hone_status onnx_attr_text(const onnx_reader *r, const char *name, const char *fallback,
                           char out[64]);
/* *out: the place of the text among the words, which end with NULL; one of them is the fallback, or
 * the attribute must be there. INVALID lists them. */
hone_status onnx_attr_word(const onnx_reader *r, const char *name, const char *fallback,
                           const char *const *words, uint32_t *out);
/* *out_count = 0 when absent. */
hone_status onnx_attr_ints(const onnx_reader *r, const char *name, uint32_t most, int64_t *out,
                           uint32_t *out_count);
/* Exactly count, or absent (fallback everywhere). */
hone_status onnx_attr_ints_n(const onnx_reader *r, const char *name, uint32_t count,
                             int64_t fallback, int64_t *out);
hone_status onnx_check_attrs(const onnx_reader *r, const char *allowed);

/* ---- graph values ---- */
bool onnx_has_input(const onnx_reader *r, uint32_t index);
/* The tensor info of an argument; INVALID when it is no tensor of known rank. */
hone_status onnx_info(const onnx_reader *r, const hone_garg *arg, const hone_sinfo **out_info);
hone_status onnx_input_info(const onnx_reader *r, uint32_t index, const hone_sinfo **out_info);
/* The constant tensor behind an argument, or NULL. */
const hone_tensor *onnx_constant_of(const onnx_reader *r, const hone_garg *arg);
/* Infers what a new binding makes; one but an if is in a dataflow block. */
hone_status onnx_finish_bind(onnx_reader *r, hone_gbind *bind, hone_garg *out);
/* Adds an operator call, with shape inference; attrs may be NULL. Few numbers that follow from
 * constants are a constant at once. */
hone_status onnx_emit(onnx_reader *r, const char *op, uint32_t arg_count, const hone_garg *args,
                      uint32_t attr_count, const hone_attr *attrs, hone_garg *out);
/* Operands of an operator that broadcasts, or of a product, in which sizes that must be equal have
 * different names: one is cast to the sizes of the other. */
hone_status onnx_unify(onnx_reader *r, const char *op, uint32_t count, hone_garg *args,
                       const hone_attrs *attrs);
/* onnx_unify for tensors that are joined along the axis. */
hone_status onnx_unify_joined(onnx_reader *r, uint32_t count, hone_garg *parts, int64_t axis);
hone_status onnx_emit1(onnx_reader *r, const char *op, hone_garg a, hone_garg *out);
hone_status onnx_emit2(onnx_reader *r, const char *op, hone_garg a, hone_garg b, hone_garg *out);
hone_status onnx_emit_get(onnx_reader *r, hone_garg tuple, int32_t index, hone_garg *out);
hone_status onnx_emit_reshape(onnx_reader *r, hone_garg x, uint32_t rank,
                              const hone_expr *const *shape, hone_garg *out);
hone_status onnx_emit_permute(onnx_reader *r, hone_garg x, uint32_t rank, const int64_t *axes,
                              hone_garg *out);
hone_status onnx_emit_cast(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out);
/* The nearest whole numbers (halves: the even one), held within the type. */
hone_status onnx_emit_saturated(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out);
/* A tensor that has no elements, whatever its other sizes are. */
bool onnx_is_empty(const hone_sinfo *info);
/* Of float8, held within its finite numbers. */
hone_status onnx_emit_float8(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out);
/* INVALID where the result of broadcasting something with x has another shape than x: "what cannot
 * be broadcast". */
hone_status onnx_keeps_shape(const onnx_reader *r, const hone_garg *x, const hone_garg *result,
                             const char *what);
/* A scalar constant of the given type. */
hone_status onnx_scalar(onnx_reader *r, hone_dtype dtype, double value, hone_garg *out);
/* One of the type of x. */
hone_status onnx_scalar_like(onnx_reader *r, const hone_garg *x, double value, hone_garg *out);
/* op(x, value) */
hone_status onnx_with_scalar(onnx_reader *r, const char *op, hone_garg x, double value,
                             hone_garg *out);
/* Takes tensor. */
hone_status onnx_add_constant(onnx_reader *r, hone_tensor *tensor, hone_garg *out);
/* The argument as a tensor: known integers become a constant. */
hone_status onnx_as_tensor(onnx_reader *r, hone_garg *arg);
/* Integers known while reading; false when they are not. *out_rank: 0 for a scalar, else 1. */
bool onnx_known_ints(onnx_reader *r, const hone_garg *arg, uint32_t *out_count,
                     const hone_expr **out, int32_t *out_rank);
/* onnx_known_ints, constants only, at most `most` of them. INVALID when they are not known: `what`
 * names them. */
hone_status onnx_const_ints(onnx_reader *r, uint32_t input, const char *what, uint32_t most,
                            int64_t *out, uint32_t *out_count);
/* One number that is known while reading, of any type. */
hone_status onnx_const_scalar(onnx_reader *r, uint32_t input, const char *what, int64_t *out);
/* Numbers that are known when the model runs, as sizes: those of a tensor of `count` integers, each
 * of which is at most `most` (-1 = not known). Where out[i] is no NULL it must be that. */
hone_status onnx_find_sizes(onnx_reader *r, hone_garg tensor, uint32_t count, int64_t most,
                            const hone_expr **out);
/* Notes what is known of a vector that is joined of the node's inputs, before they are tensors. */
hone_status onnx_note_items(onnx_reader *r, const hone_garg *joined, uint32_t count,
                            const hone_expr *const *items);
/* What is known of `count` integers: NULL for the others. */
void onnx_known_items(onnx_reader *r, const hone_garg *arg, uint32_t count, const hone_expr **out);
/* Input `input` as sizes: those that are known while reading, or else computed ones. INVALID where
 * it is no vector (or scalar) of at most ONNX_MAX_KNOWN integers; `what` names it. */
hone_status onnx_sizes(onnx_reader *r, uint32_t input, const char *what, uint32_t *out_count,
                       const hone_expr **out);
/* The graph function says how great its computed sizes can be. */
hone_status onnx_note_greatest(onnx_reader *r);
/* Sizes as a tensor of int64: a constant where they are numbers. */
hone_status onnx_sizes_tensor(onnx_reader *r, uint32_t count, const hone_expr *const *sizes,
                              hone_garg *out);
/* The places where a vector of truths is true, in their order; how many there are is a size, at
 * most `most` (-1: all). */
hone_status onnx_emit_chosen(onnx_reader *r, hone_garg truths, int64_t most, hone_garg *out);
/* Of flat places in a tensor of this shape, as column d of [count, rank]: the index along `axis`.
 */
hone_status onnx_emit_index(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                            int32_t axis, hone_garg places, hone_garg *out);
/* y[places[i]] = x[i], for vectors; y is as long as x, of which all places are given. */
hone_status onnx_emit_put(onnx_reader *r, hone_garg x, hone_garg places, hone_garg *out);
/* How much of x there was up to each place along the axis. */
hone_status onnx_emit_sums(onnx_reader *r, hone_garg x, int64_t axis, hone_garg *out);
/* x at these places along the axis. */
hone_status onnx_emit_take(onnx_reader *r, hone_garg x, hone_garg places, int64_t axis,
                           hone_garg *out);
/* A HONE_GARG_SHAPE (rank 1) or HONE_GARG_PRIM (rank 0); exprs are copied. */
hone_status onnx_make_ints(onnx_reader *r, uint32_t count, const hone_expr *const *exprs,
                           int32_t rank, hone_garg *out);
/* Numbers as strided_slice takes them. */
hone_status onnx_int_items(onnx_reader *r, uint32_t count, const int64_t *values, hone_garg *out);
/* ---- operands that are computed (onnx_computed.c) ---- */
/* Range of any three numbers. */
hone_status onnx_emit_range(onnx_reader *r, hone_garg *out);
/* The shape that Reshape is given, without its 0s and its -1. */
hone_status onnx_emit_target(onnx_reader *r, hone_garg target, const hone_sinfo *data,
                             bool allow_zero, uint32_t count, const hone_expr **out);
/* What a slice along an axis takes: start, end and step are vectors of one int64. */
typedef struct onnx_slice {
    hone_garg start, end, step;
} onnx_slice;
hone_status onnx_emit_places(onnx_reader *r, const onnx_slice *slice, const hone_expr *extent,
                             hone_garg *out);
/* Item i of a vector of integers, as a vector of one int64. */
hone_status onnx_emit_item(onnx_reader *r, hone_garg vector, uint32_t i, hone_garg *out);
/* The vector of one int64 as a size, at most `most` (-1 = not known); below 0 it is 0. */
hone_status onnx_emit_size(onnx_reader *r, hone_garg number, int64_t most, const hone_expr **out);
/* As one dimension. */
hone_status onnx_emit_flat(onnx_reader *r, hone_garg x, hone_garg *out);
/* 0, 1, 2, ... along an axis of a tensor of int64 that is 1 along the others. */
hone_status onnx_places(onnx_reader *r, const hone_expr *extent, int32_t rank, int32_t axis,
                        hone_garg *out);
/* The node on integers that are known but for sizes that come later: false where the rest is no
 * such arithmetic, or something else is not known. */
bool onnx_fold_known(onnx_reader *r, hone_garg *out);
/* Surely: sizes, their sums and products. */
bool onnx_is_no_negative(const hone_expr *e);
/* An axis in [0, rank). */
hone_status onnx_axis(const onnx_reader *r, int64_t axis, int32_t rank, int32_t *out_axis);

/* ---- windows and normalisations ---- */
enum { ONNX_MAX_SPATIAL = 3 };
/* What convolutions and pools have in common. */
typedef struct onnx_window {
    uint32_t spatial;
    int64_t kernel[ONNX_MAX_SPATIAL], strides[ONNX_MAX_SPATIAL], dilations[ONNX_MAX_SPATIAL];
    int64_t pads[2 * ONNX_MAX_SPATIAL];
} onnx_window;
/* Where the maxima of input 0 lie that a pool found, counted through all of it: row by row, or, in
 * each image, column by column. */
hone_status onnx_pool_places(onnx_reader *r, const onnx_window *w, bool by_columns,
                             hone_garg pooled, hone_garg *out);
/* The mean over axes, which stay as 1, what x is away from it, and the mean of the squares of that.
 */
hone_status onnx_spread(onnx_reader *r, hone_garg x, uint32_t count, const int64_t *axes,
                        hone_garg *out_mean, hone_garg *out_away, hone_garg *out_variance);
/* ---- numbers at random ---- */
/* Input 0 without some of its elements, and which are kept; the ratio is a number. */
hone_status onnx_drop_some(onnx_reader *r, hone_garg ratio, hone_garg *out);

/* ---- transformers ---- */
typedef struct onnx_attention {
    hone_garg q, k, v; /* [batch, heads, sequence, size]; keys and values with those of the past */
    hone_garg bias;    /* added to the products, or NONE */
    hone_garg
        lengths;  /* how many keys count, [batch, 1, 1, 1]: the queries are the last; or NONE */
    int64_t past; /* how many keys come before those of this call; -1: not known */
    int64_t left, right; /* how many keys a query sees before and behind its own; -1: all */
    bool is_causal, may_hide_all; /* of a query all keys may be hidden by -inf: it takes nothing */
    double scale, softcap;
} onnx_attention;
/* What the queries take of the values, [batch, heads, sequence, size]; stages: the products, these
 * after the cap, with the bias, and the weights. */
hone_status onnx_attend(onnx_reader *r, onnx_attention *a, hone_garg *out, hone_garg stages[4]);
/* [batch, sequence, heads * size] as [batch, heads, sequence, size], and the other way. */
hone_status onnx_split_heads(onnx_reader *r, hone_garg x, int64_t heads, hone_garg *out);
hone_status onnx_join_heads(onnx_reader *r, hone_garg *io);
hone_status onnx_unknown_size(int d);
hone_status onnx_convert_rotary(onnx_reader *r, hone_garg *out);
/* Normalised over the dimensions from the first one on. */
hone_status onnx_standardize(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                             hone_garg *out);
hone_status onnx_by_mean_square(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                                hone_garg *out);
/* ---- several steps ---- */
hone_status onnx_emit_elu(onnx_reader *r, hone_garg x, double alpha, hone_garg *out);
hone_status onnx_emit_hard_sigmoid(onnx_reader *r, hone_garg x, double alpha, double beta,
                                   hone_garg *out);
hone_status onnx_emit_softplus(onnx_reader *r, hone_garg x, hone_garg *out);
hone_status onnx_emit_softsign(onnx_reader *r, hone_garg x, hone_garg *out);
/* x where x > alpha, else 0 */
hone_status onnx_emit_thresholded(onnx_reader *r, hone_garg x, double alpha, hone_garg *out);
/* All of them along the axis, however many. */
hone_status onnx_emit_concat(onnx_reader *r, uint32_t count, const hone_garg *parts, int64_t axis,
                             hone_garg *out);
/* A convolution of these sides, data and weight, as the attributes of the node say, with `filler`
 * around the data; of out_dtype, or NULL: that of the data. */
hone_status onnx_emit_conv(onnx_reader *r, const hone_garg *sides, const char *out_dtype,
                           int64_t filler, hone_garg *out);
/* x from begin to end (not included) along the axis. */
hone_status onnx_emit_slice(onnx_reader *r, hone_garg x, int64_t axis, int64_t begin, int64_t end,
                            hone_garg *out);

/* ---- Resize by sizes or scales that are computed (onnx_resize_data.c) ---- */
typedef enum onnx_method { ONNX_NEAREST, ONNX_LINEAR, ONNX_CUBIC } onnx_method;
typedef struct onnx_filter {
    onnx_method method;
    const char *coordinates, *nearest; /* words of the attributes; "simple": that of opset 10 */
    double cubic_a;
    bool excludes_outside;
} onnx_filter;
/* x along these axes; the numbers are those of an input, one for each axis. */
hone_status onnx_resize_by_data(onnx_reader *r, const onnx_filter *f, uint32_t input,
                                bool are_sizes, uint32_t count, const int32_t *axes, hone_garg *io);

/* ---- rounding ---- */
/* The row's converter; what takes several steps takes them in float32 where the inputs are short
 * floats. */
hone_status onnx_convert_rounded(onnx_reader *r, const onnx_converter *row, hone_garg *outputs);
/* Adds out_dtype to the attributes of a product that is not rounded yet: float32, where its factors
 * (of dtype) are short floats. */
void onnx_wide_product(onnx_reader *r, hone_dtype dtype, hone_attr *attrs, uint32_t *io_count);
/* x, and as float32 where it is of short floats. */
hone_status onnx_widen(onnx_reader *r, hone_garg *x);

/* Attribute values in the arena. */
hone_value onnx_ints_value(onnx_reader *r, uint32_t count, const int64_t *ints);
hone_value onnx_text_value(onnx_reader *r, const char *text);

enum { ONNX_MAX_KNOWN = 64 }; /* integers that are tracked while reading */

#endif
