/* tests/graph/onnx_text.h - small ONNX models from text, for tests: one statement per line.
 *
 *   opset 13
 *   also 14                       another one of the same domain
 *   ir 10                         the version of the format; else 8
 *   input x f32 1,3,N             a name is a symbolic size; '?' has none; '3 is the text
 *   const w f32 2,2 = 1,2,3,4     or "= random", the same numbers in every run
 *   sparse w f32 2,3 = 0,4 = 5,6  elements by their indices in the whole
 *   external w f32 2,2 w.bin 0 16 data in another file: location, offset, length
 *   node Conv x,w -> y pads=[1,1,1,1] auto_pad='SAME' group=1 alpha=0.5   (a number with a dot is a
 *                                 float, ['a','b'] are strings, [0.5,1.0] floats, {f64:1,2} is a
 *                                 tensor; an empty name is an input left out: x,,w)
 *   node com.microsoft.Gelu x -> y   an operator of another domain
 *   function my.Twice x,k -> y slope add=0.5 opset=17   attributes, some with defaults; its nodes
 *   node LeakyRelu x -> t alpha=@slope                  follow, which refer to attributes by '@'
 *   end
 *   body                          a graph of the node behind it: inputs, nodes, outputs, end;
 *                                 with a name where it is another attribute (body then_branch)
 *   output y                      or with what the file says of it: output y f32 1,3,N
 *
 * A text that is not of this form is a mistake in the test and fails it.
 */
#ifndef HONE_TESTS_GRAPH_ONNX_TEXT_H
#define HONE_TESTS_GRAPH_ONNX_TEXT_H

#include "graph/frontend/onnx_import.h"
#include "support/core/strbuf.h"

/* The model's bytes. */
void onnx_text_encode(const char *text, hone_str *out);
/* Sets an element to a number of such a text: "nan" and "-inf", too; whole numbers are exact. */
void onnx_text_number(hone_tensor *tensor, int64_t index, const char *text);
/* Encodes and reads; source name "test.onnx". */
hone_status onnx_text_load(const char *text, hone_module **out_module);

#endif
