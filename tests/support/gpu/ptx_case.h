/* tests/support/gpu/ptx_case.h - a kernel with all that a machine with a card needs to try it: its
 * PTX, how it is launched, inputs, and what the interpreter makes of them
 * (tests/peer/ptx_cases.py). */
#ifndef HONE_TESTS_SUPPORT_GPU_PTX_CASE_H
#define HONE_TESTS_SUPPORT_GPU_PTX_CASE_H

#include "ir/core/func.h"
#include "support/core/strbuf.h"

/* Writes dir/name.case, .ptx and the buffers' files. The program: of one nest, its parameters are
 * the kernel's. */
HONE_NODISCARD hone_status test_ptx_keep(const char *dir, const char *name, const hone_func *func,
                                         const hone_str *ptx);

#endif
