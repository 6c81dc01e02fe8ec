/* runtime/model/opencl_driver.c - see opencl_driver.h. */
#include "runtime/model/opencl_driver.h"

#include <stdlib.h>

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

/* PoCL's default ("loopvec") lets work-items that it runs side by side share the arrays that each
 * of them should have: kernels with such arrays give wrong values. It reads this when it is opened.
 */
static void choose_right_way_of_pocl(void) {
    (void)setenv("POCL_WORK_GROUP_METHOD", "loops", 0);
}

bool hone_opencl_driver_open(const char *path, hone_opencl_driver *out_driver, char *out_why,
                             size_t why_capacity) {
    choose_right_way_of_pocl();
    return hone_driver_library_open(&library, path, out_driver, out_why, why_capacity);
}
