/* tests/support/gpu/cuda_tools.h - programs of CUDA's toolkit, where they are installed. */
#ifndef HONE_TESTS_SUPPORT_GPU_CUDA_TOOLS_H
#define HONE_TESTS_SUPPORT_GPU_CUDA_TOOLS_H

#include "support/core/status.h"
#include "support/core/strbuf.h"

typedef struct hone_test_tool {
    char path[512];
} hone_test_tool;

/* "ptxas", "nvcc": in the folder HONE_CUDA_BIN, in PATH, or where the toolkit puts it. False: it is
 * nowhere. */
bool hone_test_find_tool(const char *name, hone_test_tool *out);

/* Calls it for a text, whose name ends with `ending`: options (NULL ends them), then -o /dev/null
 * and the file. INVALID with what it says when it refuses; what it says otherwise goes to
 * out_said, which may be NULL. */
hone_status hone_test_call_tool(const hone_test_tool *tool, const hone_str *text,
                                const char *ending, const char *const options[],
                                hone_str *out_said);

#endif
