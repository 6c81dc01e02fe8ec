/* runtime/model/opencl_driver.c - see opencl_driver.h. */
#include "runtime/model/opencl_driver.h"

#include "runtime/model/driver_library.h"

static const hone_library_row rows[] = {
#define HONE_OPENCL(member, result, symbol, params) {#symbol, offsetof(hone_opencl_driver, member)},
#include "runtime/model/opencl.def"
#undef HONE_OPENCL
};

static const hone_driver_library library = {
    .file = "libOpenCL.so.1",
    .name = "OpenCL",
    .hint = "",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .table_bytes = sizeof(hone_opencl_driver),
};

bool hone_opencl_driver_open(const char *path, hone_opencl_driver *out_driver, char *out_why,
                             size_t why_capacity) {
    return hone_driver_library_open(&library, path, out_driver, out_why, why_capacity);
}
