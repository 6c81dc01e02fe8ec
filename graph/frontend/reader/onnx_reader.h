/* graph/frontend/reader/onnx_reader.h - what reads a model, and what converters are made of.
 *
 *   onnx_file.c    bytes → protobuf messages, with limits
 *   onnx_tensor.c  TensorProto → hone_tensor
 *   onnx_sparse.c  SparseTensorProto → hone_tensor
 *   onnx_attr.c    attributes of a node, checked
 *   onnx_names.c   values by their names in the model
 *   onnx_emit.c, onnx_parts.c
 *                  graph values: operator calls, constants, known integers, parts of tensors
 *   onnx_known.c   arithmetic of shapes with sizes that come later
 *   onnx_sizes.c   sizes that are computed when the model runs
 *   onnx_computed.c  operands that are, and what they say of the result
 *   onnx_unify.c   sizes of other names that must be equal
 *   onnx_neutral.c reductions of what may be empty
 *   onnx_bytes.c    tensors of strings
 *   onnx_round.c   operators of several steps are rounded once
 *
 * A converter gets its inputs as graph arguments and gives one argument per output. Integers that
 * are known while reading (shapes) are HONE_GARG_SHAPE (a vector) or HONE_GARG_PRIM (a scalar) of
 * int64 expressions; a constant tensor of integers counts as known as well.
 */
#ifndef HONE_GRAPH_FRONTEND_READER_ONNX_READER_H
#define HONE_GRAPH_FRONTEND_READER_ONNX_READER_H

#include "graph/module/graph_options.h"
#include "ir/core/module.h"
#include "ir/ops/graph_infer.h"
#include "ir/ops/graph_op.h"
#include "onnx/onnx.pb-c.h"
#include "support/data/map.h"

enum { ONNX_MAX_INPUTS = 1 << 16, ONNX_MAX_OUTPUTS = 1024 };
enum { ONNX_FEW_INPUTS = 32 };                   /* more than any operator has that takes no list */
enum { ONNX_NAME_FILE = 1, ONNX_NAME_MADE = 2 }; /* whose the name of a size is */

/* Names that hold in a graph: its own, and those of the graph around it. */
typedef struct onnx_scope {
    hone_strmap names; /* ONNX value name → index into args */
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
    struct hone_rewrite *rewrite; /* whose function this is, where texts are read so (compose/) */
    hone_arena *arena;            /* the module's */
    hone_ir ir;
    const char *source, *directory;
    const hone_graph_options *options;
    bool dim_used[64]; /* by index in options->dims */
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
    bool has_found_around;    /* there are such in the functions around this one */
    struct onnx_items *items; /* of vectors of which some are known (onnx_sizes.c) */
    uint32_t items_count, items_capacity;
    uint32_t inside_count;            /* how often a graph of a node was read */
    uint32_t rest_depth;              /* ifs whose rest is being read in their branches */
    bool can_end_early;               /* the nodes that are read are those of a graph to its end */
    bool ends_in_branches;            /* an if takes what comes behind it along */
    const Onnx__NodeProto *node;      /* being converted */
    const struct onnx_converter *row; /* its converter */
    uint32_t input_count;             /* its inputs; absent ones are HONE_GARG_NONE */
    hone_garg *inputs;                /* with room for ONNX_FEW_INPUTS at least: onnx_room_for */
    uint32_t input_room;
    hone_garg few[ONNX_FEW_INPUTS];
    uint32_t output_count; /* outputs that have a name or come before one that has */
} onnx_reader;

typedef hone_status (*onnx_convert_fn)(onnx_reader *r, hone_garg *outputs);

typedef struct onnx_converter {
    const char *op;
    onnx_convert_fn convert;
    uint8_t least_inputs, most_inputs; /* 255: any number */
    uint16_t most_outputs;
    const char *attrs;  /* allowed ones, separated by spaces */
    const char *target; /* the operator of the graph, for converters that serve several */
} onnx_converter;

/* ---- files ---- */
enum { ONNX_MAX_NESTING = 32 };
/* Nesting within limits, so that unpacking cannot exhaust the stack. */
hone_status onnx_check_nesting(const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                               size_t size);
hone_status onnx_unpack_tensor(const onnx_reader *r, const Onnx__TensorProto *proto,
                               const char *directory, hone_tensor **out_tensor);
/* Strings as uint8[shape..., width]: their bytes, and zeros behind them up to the longest, 1 at
 * least. UNSUPPORTED where one holds a byte that is 0. */
hone_status onnx_unpack_strings(size_t count, const ProtobufCBinaryData *strings, uint32_t rank,
                                const int64_t *shape, hone_tensor **out_tensor);
/* With all its zeros. UNSUPPORTED where these take more than 2 GiB. */
hone_status onnx_unpack_sparse(const onnx_reader *r, const Onnx__SparseTensorProto *proto,
                               const char *directory, hone_tensor **out_tensor);
bool onnx_is_string_type(int32_t type);
/* A tensor, or strings so. */
hone_status onnx_unpack_any(const onnx_reader *r, const Onnx__TensorProto *proto,
                            const char *directory, hone_tensor **out_tensor);
/* The element type, or UNSUPPORTED with its number. */
hone_status onnx_dtype(int32_t type, hone_dtype *out_dtype);

/* ---- names ---- */
hone_status onnx_define(onnx_reader *r, const char *name, hone_garg arg);
bool onnx_lookup(const onnx_reader *r, const char *name, hone_garg *out);

/* ---- attributes ---- */
/* That of a list, or NULL. */
const Onnx__AttributeProto *onnx_attr_named(size_t count, Onnx__AttributeProto *const *attrs,
                                            const char *name);
/* That of the current node; or NULL. */
const Onnx__AttributeProto *onnx_attr(const onnx_reader *r, const char *name);
/* INVALID when present with another type. */
hone_status onnx_attr_int(const onnx_reader *r, const char *name, int64_t fallback, int64_t *out);
/* UNSUPPORTED when it is present and not the usual number. */
hone_status onnx_attr_usual(const onnx_reader *r, const char *name, int64_t usual);
hone_status onnx_attr_float(const onnx_reader *r, const char *name, double fallback, double *out);
hone_status onnx_attr_text(const onnx_reader *r, const char *name, const char *fallback,
                           char out[64]);
/* *out: the index of the text among the words, which end with NULL; one of them is the fallback, or
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
/* Lets r->inputs hold so many, and ONNX_FEW_INPUTS; what they are is lost. */
hone_status onnx_room_for(onnx_reader *r, uint32_t count);
bool onnx_has_input(const onnx_reader *r, uint32_t index);
/* The tensor info of an argument; INVALID when it is no tensor of known rank. */
hone_status onnx_info(const onnx_reader *r, const hone_garg *arg, const hone_sinfo **out_info);
hone_status onnx_input_info(const onnx_reader *r, uint32_t index, const hone_sinfo **out_info);
/* The constant tensor behind an argument, or NULL. */
const hone_tensor *onnx_constant_of(const onnx_reader *r, const hone_garg *arg);
/* What makes the value in the function that is read, or NULL. */
const hone_gbind *onnx_bind_of(const onnx_reader *r, hone_gvalue value);
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
/* Dimension d of one tensor and e of another are equal, where neither is 1. */
hone_status onnx_unify_dims(onnx_reader *r, hone_garg *a, int32_t d, hone_garg *b, int32_t e);
/* Dimension d has this size: checked where it is known. */
hone_status onnx_demand_size(onnx_reader *r, hone_garg *io, int32_t d, int64_t size);
/* Says of an operand's open sizes what the caller gave for them, as operators need that want
 * numbers: the sizes stay open elsewhere, and a run checks them. */
hone_status onnx_demand_given_sizes(onnx_reader *r, hone_garg *io);
/* It has this shape: checked where sizes are known later. INVALID of another number of dimensions.
 */
hone_status onnx_demand_shape(onnx_reader *r, hone_garg *io, int32_t rank,
                              const hone_expr *const *shape);
/* What op reduces, with a number more along axes whose size depends on data and may be 0. */
hone_status onnx_add_neutral(onnx_reader *r, const char *op, const hone_attrs *attrs,
                             hone_garg *io);
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
/* The result of broadcasting something with x has the shape of x: INVALID where it has not, "what
 * cannot be broadcast"; checked, with the sizes of x from then on, where they are known later. */
hone_status onnx_keeps_shape(onnx_reader *r, const hone_garg *x, hone_garg *io_result,
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
/* Takes tensor; is_text: strings, uint8[shape..., width]. */
hone_status onnx_add_any(onnx_reader *r, bool is_text, hone_tensor *tensor, hone_garg *out);
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
/* Does it depend on numbers that are known when the model runs? In a function all sizes may, where
 * there are such around it. */
bool onnx_is_found(const onnx_reader *r, const hone_expr *size);
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
/* Sizes as a tensor of int64: a constant where they are numbers, else counted. */
hone_status onnx_counted_sizes(onnx_reader *r, uint32_t count, const hone_expr *const *sizes,
                               hone_garg *out);
hone_status onnx_sizes_tensor(onnx_reader *r, uint32_t count, const hone_expr *const *sizes,
                              hone_garg *out);
/* All of them along the axis, however many. */
hone_status onnx_emit_concat(onnx_reader *r, uint32_t count, const hone_garg *parts, int64_t axis,
                             hone_garg *out);
/* x from begin to end (not included) along the axis. */
hone_status onnx_emit_slice(onnx_reader *r, hone_garg x, int64_t axis, int64_t begin, int64_t end,
                            hone_garg *out);
/* x in parts of these lengths along the axis, which are sizes; that they make up all of it is
 * demanded. */
hone_status onnx_emit_parts(onnx_reader *r, hone_garg x, int32_t axis, uint32_t count,
                            const hone_expr *const *lengths, hone_garg *out);
/* Numbers as strided_slice takes them. */
hone_status onnx_int_items(onnx_reader *r, uint32_t count, const int64_t *values, hone_garg *out);
/* op along the axis, which stays as 1. */
hone_status onnx_emit_along(onnx_reader *r, const char *op, hone_garg x, int64_t axis,
                            hone_garg *out);
hone_status onnx_emit_where(onnx_reader *r, hone_garg is_so, hone_garg yes, hone_garg no,
                            hone_garg *out);
/* x at these indices along the axis. */
hone_status onnx_emit_take(onnx_reader *r, hone_garg x, hone_garg indices, int64_t axis,
                           hone_garg *out);
/* Whole numbers from 0 to extent - 1, as int64; another one is an index out of range when the model
 * runs. */
hone_status onnx_emit_within(onnx_reader *r, hone_garg x, const hone_expr *extent, hone_garg *out);
/* Indices of an operator that has them count from the end where they are negative, which these may
 * not: they become `extent`, which is no index. int64, with a dimension at least. */
hone_status onnx_emit_no_negative(onnx_reader *r, hone_garg x, const hone_expr *extent,
                                  hone_garg *out);
/* A HONE_GARG_SHAPE (rank 1) or HONE_GARG_PRIM (rank 0); exprs are copied. */
hone_status onnx_make_ints(onnx_reader *r, uint32_t count, const hone_expr *const *exprs,
                           int32_t rank, hone_garg *out);
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
hone_status onnx_emit_indices(onnx_reader *r, const onnx_slice *slice, const hone_expr *extent,
                              hone_garg *out);
/* Item i of a vector of integers, as a vector of one int64. */
hone_status onnx_emit_item(onnx_reader *r, hone_garg vector, uint32_t i, hone_garg *out);
/* The vector of one int64 as a size, at most `most` (-1 = not known); below 0 it is 0. */
hone_status onnx_emit_size(onnx_reader *r, hone_garg number, int64_t most, const hone_expr **out);
/* onnx_emit_size, but below 0 it is an error: INVALID here, or of the model when it runs. */
hone_status onnx_emit_given_size(onnx_reader *r, hone_garg number, int64_t most,
                                 const hone_expr **out);
/* As one dimension. */
hone_status onnx_emit_flat(onnx_reader *r, hone_garg x, hone_garg *out);
/* A constant of so many numbers, int64. */
hone_status onnx_int_table(onnx_reader *r, int64_t count, const int64_t *values, hone_garg *out);
/* 0, 1, 2, ... along an axis of a tensor of int64 that is 1 along the others. */
hone_status onnx_indices(onnx_reader *r, const hone_expr *extent, int32_t rank, int32_t axis,
                         hone_garg *out);
/* The node on integers that are known but for sizes that come later: false where the rest is no
 * such arithmetic, or something else is not known. */
bool onnx_fold_known(onnx_reader *r, hone_garg *out);
/* Surely: sizes, their sums and products, and what is a size of some value that was read. */
bool onnx_is_no_negative(const onnx_reader *r, const hone_expr *e);
/* An axis in [0, rank). */
hone_status onnx_axis(const onnx_reader *r, int64_t axis, int32_t rank, int32_t *out_axis);

/* ---- strings (onnx_bytes.c) ---- */
/* A tensor of strings: a tuple of a pool, uint8[count, width], and of numbers of its rows, int64 of
 * the tensor's shape. */
bool onnx_is_text(const hone_garg *arg);
/* Some input of the node is one. */
bool onnx_takes_text(const onnx_reader *r);
hone_status onnx_make_text(onnx_reader *r, hone_garg pool, hone_garg rows, hone_garg *out);
/* Strings from their bytes, uint8[shape..., width] with zeros behind each string, and back. */
hone_status onnx_text_of_bytes(onnx_reader *r, hone_garg bytes, hone_garg *out);
hone_status onnx_text_bytes(onnx_reader *r, const hone_garg *text, hone_garg *out);
/* onnx_text_bytes, of the width that the longest string takes, at least 1. */
hone_status onnx_trimmed_text(onnx_reader *r, const hone_garg *text, hone_garg *out);
/* How many bytes each string has, int64[shape..., 1]. */
hone_status onnx_text_lengths(onnx_reader *r, hone_garg bytes, hone_garg *out);
/* Appends zeros to the last dimension of one of two arrays of bytes, until both are as wide. */
hone_status onnx_same_width(onnx_reader *r, hone_garg *a, hone_garg *b);
/* Puts the pools of several tensors of strings into one, *out_pool; io: the tensors, afterwards
 * their numbers of its rows. */
hone_status onnx_join_texts(onnx_reader *r, uint32_t count, hone_garg *io, hone_garg *out_pool);
/* A constant vector of strings. */
hone_status onnx_text_table(onnx_reader *r, size_t count, const ProtobufCBinaryData *strings,
                            hone_garg *out);

/* ---- rounding ---- */
/* The row's converter; what takes several steps takes them in float32 where the inputs are short
 * floats. */
hone_status onnx_convert_rounded(onnx_reader *r, const onnx_converter *row, hone_garg *outputs);
/* Adds out_dtype to the attributes of a product that is not rounded yet: float32, where its factors
 * (of dtype) are short floats. */
void onnx_wide_product(onnx_reader *r, hone_dtype dtype, hone_attr *attrs, uint32_t *io_count);
/* x, and as float32 where it is of short floats. */
hone_status onnx_widen(onnx_reader *r, hone_garg *x);
/* The operator's inputs as float32 where the first is of short floats, for one that takes several
 * steps; *out_narrow: what its results are rounded to in the end (onnx_narrow), or void. */
hone_status onnx_widen_inputs(onnx_reader *r, hone_dtype *out_narrow);
/* *x, and rounded to the type where it is not void. */
hone_status onnx_narrow(onnx_reader *r, hone_dtype narrow, hone_garg *x);

/* Attribute values in the arena. */
hone_value onnx_ints_value(onnx_reader *r, uint32_t count, const int64_t *ints);
hone_value onnx_text_value(onnx_reader *r, const char *text);

enum { ONNX_MAX_KNOWN = 64 }; /* integers that are tracked while reading */

#endif
