/* tests/graph/onnx_case.h - one case of the ONNX project's operator tests: a model, its inputs, and
 * the outputs that were recorded for them.
 */
#ifndef HONE_TESTS_GRAPH_ONNX_CASE_H
#define HONE_TESTS_GRAPH_ONNX_CASE_H

#include <stdint.h>

#include "support/core/strbuf.h"

typedef enum onnx_end {
    ONNX_PASS,    /* the recorded outputs, interpreted operator by operator and as a plan */
    ONNX_REFUSED, /* said to be unsupported: nothing was computed */
    ONNX_SLOW,    /* the interpreter came to its limit of steps */
    ONNX_ABSENT,  /* a folder without a model */
    ONNX_WRONG    /* other values, or an error that no model of others should meet */
} onnx_end;

/* Runs the case of a folder; 0 steps = as many as it takes. Appends why it did not pass: one line,
 * without the folder's name, the same on every machine. */
onnx_end onnx_case_run(const char *folder, int64_t max_steps, hone_str *out_why);

#endif
