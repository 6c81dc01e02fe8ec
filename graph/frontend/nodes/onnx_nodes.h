/* graph/frontend/nodes/onnx_nodes.h - converters by families, and what they use of each other. */
#ifndef HONE_GRAPH_FRONTEND_NODES_ONNX_NODES_H
#define HONE_GRAPH_FRONTEND_NODES_ONNX_NODES_H

#include "graph/frontend/reader/onnx_reader.h"

bool onnx_is_plain_domain(const char *domain);
/* The row of an operator that makes no functions or loops, by domain and name; or NULL. */
const onnx_converter *onnx_find_row(const Onnx__NodeProto *node);
/* The row of a table, which ends with op == NULL; or NULL. */
const onnx_converter *onnx_find_in(const onnx_converter *table, const char *op);

/* The families' tables, which end with op == NULL. */
#define HONE_ONNX_FAMILY(name, domain) extern const onnx_converter onnx_##name##_converters[];
#include "graph/frontend/nodes/onnx_families.def"
#undef HONE_ONNX_FAMILY

/* ---- operators of others ---- */
/* That operator of the standard on these inputs, with the attributes of the node. */
hone_status onnx_convert_on(onnx_reader *r, const char *op, uint32_t count, const hone_garg *inputs,
                            hone_garg *out);
/* `convert` on input 0 with its channels first, where they come last; they do in the result, too.
 */
hone_status onnx_convert_channels_last(onnx_reader *r, bool is_last,
                                       hone_status (*convert)(onnx_reader *r, hone_garg *out),
                                       hone_garg *out);

/* A convolution, what is added to it (input 3), and an activation. */
hone_status onnx_convert_fused_conv(onnx_reader *r, hone_garg *out);

/* A product of whole numbers with exact sums, as floats: (a - zero_a) (b - zero_b) scale_a scale_b
 * + bias. The zero points and the bias may be NONE. */
typedef struct onnx_factors {
    hone_garg a, b, scale_a, scale_b, zero_a, zero_b, bias;
} onnx_factors;
hone_status onnx_emit_float_product(onnx_reader *r, const onnx_factors *f, hone_garg *out);
/* Numbers of 2, 4 or 8 bits as bytes of their own, along the last axis; the first one is in the low
 * bits. */
hone_status onnx_unpack_bits(onnx_reader *r, int64_t bits, hone_garg *io);
/* An input of the node, or NONE. */
hone_garg onnx_given(const onnx_reader *r, uint32_t input);

/* ---- strings ---- */
/* The node, of whose inputs some are texts; UNSUPPORTED where its operator takes none. */
hone_status onnx_convert_text(onnx_reader *r, hone_garg *outputs);
/* Which of the strings [..., width] are which of a table [count, width]: truths [..., count]. */
hone_status onnx_emit_same_strings(onnx_reader *r, hone_garg bytes, hone_garg table,
                                   hone_garg *out);

/* The numbers that strings spell. A string that spells none gives any number: nobody checks. */
hone_status onnx_numbers_of_strings(onnx_reader *r, const hone_garg *text, hone_dtype dtype,
                                    hone_garg *out);

/* The states after each byte of strings [..., width], from state 0 on: next[state * kinds +
 * kind_of[byte]]. */
hone_status onnx_run_automaton(onnx_reader *r, hone_garg bytes, uint32_t states, uint32_t kinds,
                               const int32_t *kind_of, const int32_t *next, hone_garg *out);
/* The greatest of the counts, as a size, at most `known` (-1: not known). */
hone_status onnx_most_parts(onnx_reader *r, hone_garg count, int64_t known, const hone_expr **out);
/* Of counts up to each byte [rows, width], where the count becomes a limit [1, parts, 1]: [rows,
 * parts, 1]; the width where it never does. */
hone_status onnx_index_of_number(onnx_reader *r, hone_garg counts, hone_garg limit, hone_garg *out);
/* The bytes of strings [rows, width] from begin to end (not included), [rows, parts, 1] both, with
 * zeros behind them: [rows, parts, width]. */
hone_status onnx_cut_parts(onnx_reader *r, hone_garg bytes, hone_garg begin, hone_garg end,
                           const hone_expr *parts, hone_garg *out);

/* As Python writes them; floats of 32 or 16 bits with the fewest digits that give the number again.
 * UNSUPPORTED: of other floats. */
hone_status onnx_strings_of_numbers(onnx_reader *r, hone_garg x, hone_garg *out);

/* Of float8, held within its finite numbers. */
hone_status onnx_emit_float8(onnx_reader *r, hone_garg x, hone_dtype dtype, hone_garg *out);
/* The indices where a vector of truths is true, in their order; how many there are is a size, at
 * most `most` (-1: all). */
hone_status onnx_emit_chosen(onnx_reader *r, hone_garg truths, int64_t most, hone_garg *out);
/* Of flat indices in a tensor of this shape, as column d of [count, rank]: the index along `axis`.
 */
hone_status onnx_emit_index(onnx_reader *r, uint32_t rank, const hone_expr *const *shape,
                            int32_t axis, hone_garg indices, hone_garg *out);
/* y[indices[i]] = x[i], column by column; y is as long as x, of which all indices are given. */
hone_status onnx_emit_put(onnx_reader *r, hone_garg x, hone_garg indices, hone_garg *out);
/* What is there once of elements of a vector, or of slices along the axis: these, the first index
 * of each, which of them stands at each index, and how often. */
hone_status onnx_emit_unique(onnx_reader *r, hone_garg x, int32_t axis, bool is_sorted,
                             hone_garg *out);
/* The last two sizes of x are equal: checked where they are known later. */
hone_status onnx_make_square(onnx_reader *r, hone_garg *x);
/* a == b, or both are NaN. */
hone_status onnx_emit_same(onnx_reader *r, hone_garg a, hone_garg b, hone_garg *out);
/* How much of x there was up to each index along the axis. */
hone_status onnx_emit_sums(onnx_reader *r, hone_garg x, int64_t axis, hone_garg *out);

/* ---- windows and normalisations ---- */
enum { ONNX_MAX_SPATIAL = 3 };
/* What convolutions and pools have in common. */
typedef struct onnx_window {
    uint32_t spatial;
    int64_t kernel[ONNX_MAX_SPATIAL], strides[ONNX_MAX_SPATIAL], dilations[ONNX_MAX_SPATIAL];
    int64_t pads[2 * ONNX_MAX_SPATIAL];
    bool is_open; /* some size of the kernel is known in a run only, and is 1 here */
    bool comes_later[ONNX_MAX_SPATIAL]; /* pads that follow from an extent that does, and are 0 here
                                         */
    bool has_later_pads, is_upper;      /* of such; SAME_UPPER */
} onnx_window;
/* INVALID where one of an attribute's numbers is below the least, or has more than 31 bits. */
hone_status onnx_check_range(const char *name, uint32_t count, const int64_t *values,
                             int64_t least);
hone_status onnx_open_kernel(void);
/* How many dimensions of space the data has, from 1 to ONNX_MAX_SPATIAL. */
hone_status onnx_spatial_rank(const hone_sinfo *data, uint32_t *out);
/* The attributes strides, dilations and pads; spatial and kernel are filled in. */
hone_status onnx_read_window(onnx_reader *r, onnx_window *io);
/* Those and auto_pad, over the space of the data. */
hone_status onnx_whole_window(onnx_reader *r, const hone_sinfo *data, onnx_window *io);
/* Those and kernel_shape and auto_pad. */
hone_status onnx_pool_window(onnx_reader *r, const hone_sinfo *data, onnx_window *out);
/* Data with `value` around it, as the window says, which says nothing of it afterwards. */
hone_status onnx_pad_with(onnx_reader *r, int64_t value, onnx_window *w, hone_garg *io);
/* Along axes whose pads come later: data with `value` there, or with its first and last elements
 * once more. */
hone_status onnx_pad_later(onnx_reader *r, const onnx_window *w, int64_t value, hone_garg *io);
hone_status onnx_repeat_edges(onnx_reader *r, const onnx_window *w, hone_garg *io);
/* UNSUPPORTED where there are such. */
hone_status onnx_refuse_later(const onnx_window *w);
/* Where the maxima of input 0 lie that a pool found, counted through all of it: row by row, or, in
 * each image, column by column. */
hone_status onnx_pool_indices(onnx_reader *r, const onnx_window *w, bool by_columns,
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
    bool has_sink;
    hone_garg sink; /* [1, heads, 1, 1]: a key more that has this product and gives nothing */
    double scale, softcap;
} onnx_attention;
/* All keys up to the end of the past and of this call, no bias, no lengths; else zeros. */
onnx_attention onnx_no_attention(void);
/* What the queries take of the values, [batch, heads, sequence, size]; stages: the products, these
 * after the cap, with the bias, and the weights. */
hone_status onnx_attend(onnx_reader *r, onnx_attention *a, hone_garg *out, hone_garg stages[4]);
/* What the products are multiplied by: what the node says, or 1 / sqrt(size) of the queries. */
hone_status onnx_attention_scale(onnx_reader *r, onnx_attention *a);
/* [batch, sequence, heads * size] as [batch, heads, sequence, size], and the other way. */
hone_status onnx_split_heads(onnx_reader *r, hone_garg x, int64_t heads, hone_garg *out);
hone_status onnx_join_heads(onnx_reader *r, hone_garg *io);
/* Heads of keys and values serve several of the queries: each is repeated. */
hone_status onnx_repeat_heads(onnx_reader *r, int64_t times, hone_garg *io);
/* Items of `x` along its sequence at the positions [batch, 1, behind, 1], held within it: with the
 * other sizes of `like`. */
hone_status onnx_emit_at_positions(onnx_reader *r, hone_garg x, const hone_sinfo *like,
                                   const hone_expr *behind, hone_garg positions, hone_garg *out);
hone_status onnx_unknown_size(int d);
hone_status onnx_convert_rotary(onnx_reader *r, hone_garg *out);
/* Pairs of numbers turned by the angle of their position. */
typedef struct onnx_rotation {
    hone_garg cosines, sines; /* [positions, half], or [batch, sequence, half] without positions */
    hone_garg positions;      /* [batch, sequence], or NONE */
    int64_t count;            /* how many numbers of a head are turned; 0: all */
    bool is_interleaved;      /* pairs are neighbours, not from both halves */
} onnx_rotation;
/* x: [batch, heads, sequence, size] */
hone_status onnx_rotate(onnx_reader *r, const onnx_rotation *t, hone_garg x, hone_garg *out);
/* Normalised over the dimensions from the first one on. */
hone_status onnx_standardize(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                             hone_garg *out);
/* Each group of so many channels, which come second, over its channels and space. */
hone_status onnx_standardize_groups(onnx_reader *r, hone_garg x, int64_t groups, double epsilon,
                                    hone_garg *out);
hone_status onnx_by_mean_square(onnx_reader *r, hone_garg x, int32_t first, double epsilon,
                                hone_garg *out);
/* ---- several steps ---- */
hone_status onnx_emit_elu(onnx_reader *r, hone_garg x, double alpha, hone_garg *out);
/* The numbers of Selu where a node says none. */
#define ONNX_SELU_ALPHA 1.67326319217681884765625
#define ONNX_SELU_GAMMA 1.05070102214813232421875
hone_status onnx_emit_hard_sigmoid(onnx_reader *r, hone_garg x, double alpha, double beta,
                                   hone_garg *out);
/* x * sigmoid(alpha * x) of input 0, where the node says no alpha of the usual one. */
hone_status onnx_emit_swish(onnx_reader *r, double usual, hone_garg *out);
hone_status onnx_emit_softplus(onnx_reader *r, hone_garg x, hone_garg *out);
hone_status onnx_emit_softsign(onnx_reader *r, hone_garg x, hone_garg *out);
/* x where x > alpha, else 0 */
hone_status onnx_emit_thresholded(onnx_reader *r, hone_garg x, double alpha, hone_garg *out);
/* A convolution of these sides, data and weight, as the attributes of the node say, with `filler`
 * around the data; of out_dtype, or NULL: that of the data. */
hone_status onnx_emit_conv(onnx_reader *r, const hone_garg *sides, const char *out_dtype,
                           int64_t filler, hone_garg *out);
/* A convolution by a kernel that is open, of data that is padded already. */
hone_status onnx_emit_open_conv(onnx_reader *r, const onnx_window *w, int64_t groups,
                                const hone_garg *given, const char *out_dtype, hone_garg *out);
/* A sum of products of the operands. */
hone_status onnx_emit_einsum(onnx_reader *r, const char *equation, uint32_t count,
                             const hone_garg *operands, hone_garg *out);

#endif
