/* tests/support/program_text.h - programs for tests, from TVMScript text. */
#ifndef HONE_TESTS_SUPPORT_PROGRAM_TEXT_H
#define HONE_TESTS_SUPPORT_PROGRAM_TEXT_H

#include "ir/core/module.h"
#include "support/core/strbuf.h"

/* The only tensor program (or the one named main) of a text; the module owns it. A text that does
 * not parse fails the test with the parser's message. */
const hone_func *hone_test_parse(const char *text, hone_module **out_module);

/* Is what is printed the same program when it is read? Else why not. */
bool hone_test_reads_back(const hone_func *func, hone_str *out_why);

/* The block with this name, or HONE_NO_ID. */
hone_node_id hone_test_block(const hone_func *func, const char *name);

/* D = max(A @ B, 0), of 64 x 64 floats, in the blocks C and D. */
extern const char hone_test_dense_relu[];

#endif
