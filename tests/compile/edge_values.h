/* tests/compile/edge_values.h - what operators of ONNX make of the numbers at the edges: NaN, the
 * infinities, both zeros, the least and the largest. References in plain C, from the standard's
 * formulas, in float64; what is rounded to the type is compared. */
#ifndef HONE_TESTS_COMPILE_EDGE_VALUES_H
#define HONE_TESTS_COMPILE_EDGE_VALUES_H

#include "support/data/tensor.h"

/* Of one or two elements. y is not read where the operator has one input. */
typedef struct edge_element {
    const char *name;         /* of the output */
    const char *node, *attrs; /* "Relu x" and "alpha=0.5" */
    double (*want)(double x, double y);
    bool is_rounded; /* compared within a tolerance, else exactly */
} edge_element;

/* Of a row of elements; the results are one number, or as many as the row has. */
typedef struct edge_row {
    const char *name, *op;
    double (*want)(const double *row, int64_t count, int64_t at);
    enum { EDGE_NUMBER, EDGE_PLACE, EDGE_ROW } kind;
    bool is_rounded;
} edge_row;

/* Ended by one without a name. */
extern const edge_element edge_unary[], edge_binary[], edge_compare[];
extern const edge_row edge_rows[];

/* Numbers of the type at its edges, and some between; the shape is [count of them]. */
hone_status edge_values_create(hone_dtype dtype, hone_tensor **out_values);

#endif
