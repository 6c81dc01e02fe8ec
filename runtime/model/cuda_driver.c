/* runtime/model/cuda_driver.c - see cuda_driver.h. */
#include "runtime/model/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/driver_library.h"

static const hone_library_row rows[] = {
#define HONE_CU(member, symbol, parameters) {#symbol, offsetof(hone_cuda_driver, member)},
#include "runtime/model/cuda_driver.def"
#undef HONE_CU
};

bool hone_cuda_driver_open(const char *path, hone_cuda_driver *out_driver, char *out_why,
                           size_t why_capacity) {
    memset(out_driver, 0, sizeof *out_driver);
    const char *lacks = hone_library_fill(path ? path : "libcuda.so.1", rows,
                                          sizeof rows / sizeof rows[0], out_driver);
    if (!lacks) return true;
    if (lacks[0]) {
        snprintf(out_why, why_capacity, "the CUDA driver has no %s: it is older than CUDA 12",
                 lacks);
        return false;
    }
    const char *why = dlerror();
    snprintf(out_why, why_capacity, "no CUDA driver: %s", why ? why : "no reason given");
    return false;
}
