/* graph/compose/compose_impl.h - between the files that write operators as others.
 *
 *   compose.c         the table, and how a binding is replaced
 *   compose_proto.c   nodes of the standard of ONNX, made and converted
 *   compose_node.c    operators that the standard has too
 *   compose_quant.c   quantised numbers, and operators between them
 *   compose_norm.c    normalisations, statistics, losses, attention
 *   compose_move.c    tensors taken apart and joined
 *   compose_index.c   elements at places that are computed
 *   compose_layout.c  layouts by index maps
 *   compose_order.c   windows over dimensions in another order: NHWC
 *   compose_grad.c    gradients of operators
 *   compose_detect.c  boxes of detectors
 *   compose_shape.c   shapes as data, views, and what does nothing
 *   compose_sizes.c   operands whose sizes have different names
 *
 * A composer is a reader (frontend/reader/) over the function that is being rebuilt: its inputs are
 * the arguments of the call, and what it emits stands in that function.
 */
#ifndef HONE_GRAPH_COMPOSE_COMPOSE_IMPL_H
#define HONE_GRAPH_COMPOSE_COMPOSE_IMPL_H

#include "graph/frontend/nodes/onnx_nodes.h"
#include "graph/module/rewrite.h"

typedef hone_status (*hone_compose_fn)(onnx_reader *r, const hone_gbind *bind, hone_garg *out);

typedef struct hone_composer {
    const char *op;
    hone_compose_fn make;
} hone_composer;

/* A reader of the call, whose arguments are its inputs. The caller ends its size_names. */
hone_status compose_open_reader(hone_rewrite *rw, const hone_gbind *bind, onnx_reader *r);

/* ---- nodes of the standard (compose_proto.c) ---- */
enum { COMPOSE_MOST_ATTRS = 8 };
/* One with attributes, while it is converted; its inputs are the reader's. */
typedef struct compose_node {
    Onnx__NodeProto proto;
    Onnx__AttributeProto attrs[COMPOSE_MOST_ATTRS], *places[COMPOSE_MOST_ATTRS];
    int64_t ints[COMPOSE_MOST_ATTRS * HONE_MAX_RANK];
    size_t int_count;
} compose_node;

void compose_node_begin(compose_node *node, const char *op);
void compose_node_int(compose_node *node, const char *name, int64_t value);
void compose_node_ints(compose_node *node, const char *name, uint32_t count, const int64_t *values);
void compose_node_float(compose_node *node, const char *name, double value);
void compose_node_text(compose_node *node, const char *name, const char *value);
/* All of its outputs: room for ONNX_MAX_OUTPUTS. */
hone_status compose_node_convert(onnx_reader *r, const compose_node *node, hone_garg *outputs);
hone_status compose_node_first(onnx_reader *r, const compose_node *node, hone_garg *out);

/* Each ends with op == NULL. */
extern const hone_composer hone_compose_nodes[];
extern const hone_composer hone_compose_quants[];
extern const hone_composer hone_compose_norms[];
extern const hone_composer hone_compose_moves[];
extern const hone_composer hone_compose_indices[];
extern const hone_composer hone_compose_layouts[];
extern const hone_composer hone_compose_shapes[];
extern const hone_composer hone_compose_grads[];
extern const hone_composer hone_compose_detectors[];
/* For a window whose tensors have another order than the plain one; else NULL. */
const hone_composer *hone_compose_order_of(const hone_gbind *bind);
/* For a strided_slice whose places or extents are sizes that come later; else NULL. */
const hone_composer *hone_compose_slice_of(hone_rewrite *rw, const hone_gbind *bind);
/* A split of an axis whose extent comes later. */
const hone_composer *hone_compose_split_of(hone_rewrite *rw, const hone_gbind *bind);

/* ---- what the call says ---- */
/* Of a literal, whatever its kind; the fallback for all else. */
double compose_number_of(const hone_value *v, double fallback);
double compose_number(const hone_gbind *bind, const char *key, double fallback);
/* The truth of an argument that is a number, or of the attribute where the text names it. */
bool compose_flag(const hone_gbind *bind, uint32_t arg, const char *key, bool fallback);
/* An argument that is a number of known value. UNSUPPORTED where it is not. */
hone_status compose_int(const hone_gbind *bind, uint32_t arg, const char *key, int64_t fallback,
                        int64_t *out);
/* The attribute "axis" or "axes" as axes in [0, rank), in their order; None: all. */
hone_status compose_axes(const onnx_reader *r, const hone_gbind *bind, const char *key,
                         int32_t rank, int64_t out[HONE_MAX_RANK], uint32_t *out_count);
/* UNSUPPORTED: "operator 'x': ..." */
hone_status compose_refuse(const hone_gbind *bind, const char *what);

/* ---- steps ---- */
/* op over axes, which stay as 1 or go. */
hone_status compose_reduce(onnx_reader *r, const char *op, hone_garg x, uint32_t count,
                           const int64_t *axes, bool keeps, hone_garg *out);
/* A vector along one axis of a tensor of this rank. */
hone_status compose_along(onnx_reader *r, hone_garg x, int32_t rank, int32_t axis, hone_garg *out);
hone_status compose_broadcast(onnx_reader *r, hone_garg x, uint32_t rank,
                              const hone_expr *const *shape, hone_garg *out);
/* Another dimension of 1, as number `axis` of the result. */
hone_status compose_expand(onnx_reader *r, hone_garg x, int32_t axis, hone_garg *out);
hone_status compose_tuple(onnx_reader *r, uint32_t count, const hone_garg *items, hone_garg *out);
/* The items of a tuple that is written out, or of one that a value is. */
hone_status compose_items(onnx_reader *r, const hone_garg *tuple, uint32_t most, hone_garg *out,
                          uint32_t *out_count);

#endif
