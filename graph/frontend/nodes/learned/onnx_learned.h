/* graph/frontend/nodes/learned/onnx_learned.h - between the converters of the domain ai.onnx.ml. */
#ifndef HONE_GRAPH_FRONTEND_NODES_LEARNED_ONNX_LEARNED_H
#define HONE_GRAPH_FRONTEND_NODES_LEARNED_ONNX_LEARNED_H

#include "graph/frontend/nodes/onnx_nodes.h"

/* Whole numbers of an attribute; none when it is absent. */
HONE_NODISCARD hone_status onnx_attr_int64s(const onnx_reader *r, const char *name,
                                            const int64_t **out, uint32_t *out_count);
/* Numbers of the tensor NAME_as_tensor, or else of the list NAME; none when both are absent. They
 * are in the arena. */
HONE_NODISCARD hone_status onnx_attr_doubles(onnx_reader *r, const char *name, const double **out,
                                             uint32_t *out_count);
/* Numbers of an attribute that is a tensor; none when it is absent. They are in the arena. */
HONE_NODISCARD hone_status onnx_attr_tensor(onnx_reader *r, const char *name, const double **out,
                                            uint32_t *out_count);
/* A constant of the type, [rows, columns] or, where rows is 0, [columns]. */
HONE_NODISCARD hone_status onnx_number_table(onnx_reader *r, hone_dtype dtype, int64_t rows,
                                             int64_t columns, const double *values, hone_garg *out);
/* An input of numbers of any type as such of dtype, of two dimensions; a vector is one row. */
HONE_NODISCARD hone_status onnx_rows(onnx_reader *r, uint32_t input, hone_dtype dtype,
                                     hone_garg *out);
/* The attribute post_transform as its number; 0: NONE. */
HONE_NODISCARD hone_status onnx_read_transform(const onnx_reader *r, uint32_t *out);
/* The attribute post_transform on scores [rows, targets]. */
HONE_NODISCARD hone_status onnx_post_transform(onnx_reader *r, hone_garg *io);
/* By its number: NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT. */
HONE_NODISCARD hone_status onnx_transform_by(onnx_reader *r, int64_t transform, hone_garg *io);
/* Labels of the classes, whole numbers (the attribute `ints`) or a text (classlabels_strings). */
HONE_NODISCARD hone_status onnx_class_labels(onnx_reader *r, const char *ints, hone_garg *out,
                                             uint32_t *out_count);
/* The label of the greatest score of each row. */
HONE_NODISCARD hone_status onnx_best_label(onnx_reader *r, hone_garg scores, hone_garg labels,
                                           hone_garg *out);
/* One score of two classes, [rows, 1]: the second one's label where it is above the limit, and a
 * score for each class: 1 - s and s, or, of mixed signs or through LOGISTIC, -s and s. */
HONE_NODISCARD hone_status onnx_two_classes(onnx_reader *r, hone_garg score, hone_garg labels,
                                            double limit, bool are_mixed, hone_garg *out);

#endif
