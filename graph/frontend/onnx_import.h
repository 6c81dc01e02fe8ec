/* graph/frontend/onnx_import.h - reads ONNX models and tensors into modules.
 *
 * The result has one graph function "main" of operator calls (ir/ops/graph_op.h) with the inputs of
 * the model as parameters and initializers as constants of the module. Named dimensions
 * (dim_param) become symbolic sizes; give their numbers in options, or bind them later
 * (graph/passes/prepare.h). Everything in the file is distrusted: sizes, indices, types and cycles
 * are checked before use. Messages: "model.onnx: node 'conv1' (Conv): attribute 'auto_pad' has
 * value 'FOO'; expected ...".
 */
#ifndef HONE_GRAPH_FRONTEND_ONNX_IMPORT_H
#define HONE_GRAPH_FRONTEND_ONNX_IMPORT_H

#include "graph/module/graph_options.h"

/* IO when the file cannot be read, INVALID when it is not an ONNX model or does not fit together,
 * UNSUPPORTED for operators, attributes and types that are not implemented, with a list of them.
 * options (may be NULL): sizes, and weights for initializers and inputs by their name in the model
 * (which become constants). External data is read from files beside the model.
 * The module is not frozen. */
HONE_NODISCARD hone_status hone_onnx_load(const char *path, const hone_graph_options *options,
                                          hone_module **out_module);
/* hone_onnx_load from memory; source_name stands in messages, directory (may be NULL: refused) is
 * where external data lies. */
HONE_NODISCARD hone_status hone_onnx_parse(const void *bytes, size_t size, const char *source_name,
                                           const char *directory, const hone_graph_options *options,
                                           hone_module **out_module);
/* One tensor from a .pb file (TensorProto), as the ONNX test data holds them. out_name (may be
 * NULL) gets a copy of the name in it, or NULL where it has none. */
HONE_NODISCARD hone_status hone_onnx_load_tensor(const char *path, char **out_name,
                                                 hone_tensor **out_tensor);

#endif
