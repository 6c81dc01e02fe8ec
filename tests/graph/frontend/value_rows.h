/* tests/graph/frontend/value_rows.h - tests that are a model, its input, and the numbers that it
 * gives: in the interpreter, and as a compiled model would be run (its plan). */
#ifndef HONE_TESTS_GRAPH_FRONTEND_VALUE_ROWS_H
#define HONE_TESTS_GRAPH_FRONTEND_VALUE_ROWS_H

#include "tests/support/hone_test.h"

typedef struct value_row {
    const char *name, *model; /* onnx_text.h, of input x; gives y */
    const char *x;    /* elements; an extent of x that has a name is as large as its place */
    const char *want; /* elements of y; or '!' and a part of what the mistake says */
} value_row;

/* A row of a table of them, which keeps the formatter from making columns of long texts. */
#define ROW(name, model, x, want)                                                                  \
    { name, model, x, want }

/* Checks the value_row that *state is. */
void value_row_check(void **state);

#endif
