/* runtime/model/device/cuda_driver.c - see cuda_driver.h. */
#include "runtime/model/device/cuda_driver.h"

#include "runtime/model/device/driver_library.h"

static const hone_library_row rows[] = {
#define HONE_CU(member, symbol, parameters) {#symbol, offsetof(hone_cuda_driver, member)},
#include "runtime/model/device/cuda_driver.def"
#undef HONE_CU
};

static const hone_driver_library library = {
    .file = "libcuda.so.1",
    .name = "CUDA driver",
    .hint = ": it is older than CUDA 12",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .table_bytes = sizeof(hone_cuda_driver),
};

bool hone_cuda_driver_open(const char *path, hone_cuda_driver *out_driver, char *out_why,
                           size_t why_capacity) {
    return hone_driver_library_open(&library, path, out_driver, out_why, why_capacity);
}
