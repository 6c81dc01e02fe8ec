/* runtime/native_call.h - calls external functions from outside of compiled code: what the
 * interpreter needs. */
#ifndef HONE_RUNTIME_NATIVE_CALL_H
#define HONE_RUNTIME_NATIVE_CALL_H

#include "support/core/status.h"
#include "support/data/tensor.h"

/* A C function whose types are known now only. Tensors of a rank above 0 are pointers, others
 * numbers; result may be NULL. At most 6 pointers and integers and 8 floating numbers; UNSUPPORTED
 * else, and on processors other than x86-64 and aarch64. */
HONE_NODISCARD hone_status hone_call_c(void *symbol, const char *name, hone_tensor *const *args,
                                       size_t count, hone_tensor *result);

/* A function of the convention of kernels (hone_extern, runtime/model/abi.h). ILLEGAL: it returned
 * something else than 0; UNSUPPORTED: more than 256 arguments. */
HONE_NODISCARD hone_status hone_call_packed(void *symbol, const char *name,
                                            hone_tensor *const *args, size_t count);

#endif
