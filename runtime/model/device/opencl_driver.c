/* runtime/model/device/opencl_driver.c - see opencl_driver.h. */
#include "runtime/model/device/opencl_driver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/model/device/driver_library.h"

static const hone_library_row rows[] = {
#define HONE_OPENCL(member, result, symbol, params) {#symbol, offsetof(hone_opencl_driver, member)},
#include "runtime/model/device/opencl.def"
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
 * of them should have: kernels with such arrays give wrong values. It asks for the way whenever it
 * compiles one, in a thread of its own, and what can tell it is the environment alone. The caller's
 * threads may read that at any time, and setenv may move what they read: so a longer list takes the
 * place of the one that is there, which stays as it is. It lies on the heap, its text too: a model
 * that has this code in it may be unloaded. */
static void choose_right_way_of_pocl(void) {
    static const char way[] = "POCL_WORK_GROUP_METHOD=loops";
    static atomic_flag is_chosen = ATOMIC_FLAG_INIT;
    static char **list; /* for good: environ has it, or who copied that; static: it is not lost */
    size_t count = 0;
    if (atomic_flag_test_and_set(&is_chosen) || getenv("POCL_WORK_GROUP_METHOD")) return;
    char **old = __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
    while (old && old[count])
        count++;
    list = malloc((count + 2) * sizeof *list + sizeof way);
    if (!list) return;
    if (count) memcpy(list, old, count * sizeof *list);
    list[count] = memcpy(&list[count + 2], way, sizeof way);
    list[count + 1] = NULL;
    __atomic_store_n(&environ, list, __ATOMIC_RELEASE);
}

bool hone_opencl_driver_open(hone_opencl_driver *out_driver, char *out_why, size_t why_capacity) {
    choose_right_way_of_pocl();
    return hone_driver_library_open(&library, NULL, out_driver, out_why, why_capacity);
}
