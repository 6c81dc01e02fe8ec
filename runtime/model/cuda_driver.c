/* runtime/model/cuda_driver.c - see cuda_driver.h. */
#include "runtime/model/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct row {
    const char *symbol;
    size_t offset;
} rows[] = {
#define HONE_CU(member, symbol, parameters) {#symbol, offsetof(hone_cuda_driver, member)},
#include "runtime/model/cuda_driver.def"
#undef HONE_CU
};

bool hone_cuda_driver_open(const char *path, hone_cuda_driver *out_driver, char *out_why,
                           size_t why_capacity) {
    memset(out_driver, 0, sizeof *out_driver);
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        snprintf(out_why, why_capacity, "no CUDA driver: %s", why ? why : "no reason given");
        return false;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        if (symbol) { /* ISO C has no cast for this */
            memcpy((char *)out_driver + rows[i].offset, &symbol, sizeof symbol);
            continue;
        }
        snprintf(out_why, why_capacity, "the CUDA driver has no %s: it is older than CUDA 12",
                 rows[i].symbol);
        dlclose(library);
        return false;
    }
    dlclose(library); /* stays, by RTLD_NODELETE */
    return true;
}
