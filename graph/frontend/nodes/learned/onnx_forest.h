/* graph/frontend/nodes/learned/onnx_forest.h - trees of decisions, whatever attributes they come
 * from. */
#ifndef HONE_GRAPH_FRONTEND_NODES_LEARNED_ONNX_FOREST_H
#define HONE_GRAPH_FRONTEND_NODES_LEARNED_ONNX_FOREST_H

#include "graph/frontend/nodes/learned/onnx_learned.h"

/* How a node compares its feature with its value; numbers of the attribute nodes_modes. */
enum { ONNX_TREE_COMPARISONS = 6, ONNX_TREE_MEMBER = 6, ONNX_TREE_LEAF = 7 };
enum { ONNX_TREE_MEAN, ONNX_TREE_SUM, ONNX_TREE_MIN, ONNX_TREE_MAX };

/* Nodes by index. A leaf leads to itself. */
typedef struct onnx_forest {
    hone_dtype dtype; /* in which features are compared and weights summed */
    uint32_t count, trees, levels;
    int64_t *features, *yes, *no, *roots;
    double *values;
    uint8_t *modes;
    int64_t *missing; /* whether NaN goes where `yes` is */
} onnx_forest;

/* Room for `count` nodes, all of them leaves. */
HONE_NODISCARD hone_status onnx_forest_make(onnx_reader *r, uint32_t count, onnx_forest *out);
/* Sets levels. UNSUPPORTED: too deep, or in a circle. */
HONE_NODISCARD hone_status onnx_forest_measure(onnx_reader *r, onnx_forest *f);

/* What a leaf gives to a target. */
typedef struct onnx_leaf {
    int64_t index, target;
    double weight;
} onnx_leaf;

/* [rows, targets], of input 0; a target that no leaf gives anything is 0. out_given: the truth of
 * each, whether one does; NONE: all are given something, always. Where there is one target alone, a
 * leaf without a weight gives it 0. */
HONE_NODISCARD hone_status onnx_forest_scores(onnx_reader *r, const onnx_forest *f, uint32_t count,
                                              const onnx_leaf *leaves, int64_t targets,
                                              int64_t aggregate, hone_garg *out,
                                              hone_garg *out_given);

#endif
