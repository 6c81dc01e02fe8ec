/* graph/frontend/onnx_impl.h - between the files that walk a model.
 *
 *   onnx_import.c  models: initializers, nodes in order, outputs
 *   onnx_input.c   inputs and the names of their sizes
 *   onnx_order.c   nodes of a file that stand in another order
 *   onnx_function.c, onnx_missing.c  functions of a model; what of it is not implemented
 *   onnx_subgraph.c, onnx_branch.c, onnx_loop.c, onnx_sequence.c (onnx_flow.h)
 *                  control flow, sequences
 */
#ifndef HONE_GRAPH_FRONTEND_ONNX_IMPL_H
#define HONE_GRAPH_FRONTEND_ONNX_IMPL_H

#include "graph/frontend/nodes/onnx_nodes.h"

/* The converter of a node, by domain and name; NULL when there is none. */
const onnx_converter *onnx_find_converter(const Onnx__NodeProto *node);
/* The name of a node, or of its first output; "" where it has neither. */
const char *onnx_node_name(const Onnx__NodeProto *node);
/* "node 'conv1' (Conv): ..." */
hone_status onnx_at_node(const Onnx__NodeProto *node, hone_status st);
/* The initializers and nodes of a graph, in the current scope. */
HONE_NODISCARD hone_status onnx_read_nodes(onnx_reader *r, const Onnx__GraphProto *graph);
/* When a function is complete. */
void onnx_end_blocks(onnx_reader *r);
/* graph: whose nodes these are, to the end; or NULL. */
hone_status onnx_convert_nodes(onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes,
                               const Onnx__GraphProto *graph);
/* The version of the standard's operators that holds from now on; as before where none is named. */
hone_status onnx_set_opset(onnx_reader *r, size_t count, Onnx__OperatorSetIdProto *const *sets);
/* Nodes of the model, its functions and the graphs of nodes come behind what they use, where that
 * can be; otherwise as in the file. */
HONE_NODISCARD hone_status onnx_order_nodes(hone_arena *arena, Onnx__ModelProto *model);
/* UNSUPPORTED: names all operators of the model that are not implemented. */
hone_status onnx_check_operators(const Onnx__ModelProto *model);

/* ---- inputs ---- */
/* All of the model, as parameters of the graph function. */
hone_status onnx_read_inputs(onnx_reader *r, const Onnx__GraphProto *graph);
/* The value that the caller gives to an initializer or an input; or NULL. */
const hone_tensor *onnx_given_weight(const onnx_reader *r, const char *name);
/* The name that a dimension has in the file; or NULL. */
const char *onnx_name_of_dim(const Onnx__TensorShapeProto__Dimension *dim);
/* whose: ONNX_NAME_... */
hone_status onnx_note_size_name(onnx_reader *r, const char *name, uint64_t whose);

/* ---- functions ---- */
/* The function of the model that the node calls, or NULL. */
const Onnx__FunctionProto *onnx_find_function(const Onnx__ModelProto *model,
                                              const Onnx__NodeProto *node);
hone_status onnx_convert_call(onnx_reader *r, const Onnx__NodeProto *node,
                              const Onnx__FunctionProto *function);

#endif
