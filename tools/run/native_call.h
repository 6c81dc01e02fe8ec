/* tools/run/native_call.h - calls a C function whose types are known at run time only. */
#ifndef HONE_TOOLS_RUN_NATIVE_CALL_H
#define HONE_TOOLS_RUN_NATIVE_CALL_H

#include "support/core/status.h"
#include "support/data/tensor.h"

/* Tensors of a rank above 0 are pointers, others numbers; result may be NULL. At most 6 pointers
 * and integers and 8 floating numbers; UNSUPPORTED else, and on processors other than x86-64 and
 * aarch64. */
HONE_NODISCARD hone_status hone_call_c(void *symbol, const char *name, hone_tensor *const *args,
                                       size_t count, hone_tensor *result);

#endif
