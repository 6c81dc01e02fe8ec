/* runtime/model/opencl_driver.c - see opencl_driver.h. */
#include "runtime/model/opencl_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/driver_library.h"

static const hone_library_row rows[] = {
#define HONE_OPENCL(member, result, symbol, params) {#symbol, offsetof(hone_opencl_driver, member)},
#include "runtime/model/opencl.def"
#undef HONE_OPENCL
};

bool hone_opencl_driver_open(const char *path, hone_opencl_driver *out_driver, char *out_why,
                             size_t why_capacity) {
    memset(out_driver, 0, sizeof *out_driver);
    const char *lacks = hone_library_fill(path ? path : "libOpenCL.so.1", rows,
                                          sizeof rows / sizeof rows[0], out_driver);
    if (!lacks) return true;
    if (lacks[0]) {
        snprintf(out_why, why_capacity, "OpenCL has no '%s'", lacks);
        return false;
    }
    const char *why = dlerror();
    snprintf(out_why, why_capacity, "no OpenCL: %s", why ? why : "no reason given");
    return false;
}
