/* lower/device/launches.h - a lowered program for a GPU as kernels and their launches.
 *
 *   host level            becomes
 *   a nest of threads     a launch of a kernel of its own
 *   other statements      a launch of one thread, for as many as stand in a row
 *   a loop                its iterations one after the other, if it has few
 *   if, let               a part of each kernel below: they are computed again there
 *   an allocation         scratch memory, or a kernel's own where it is no global one
 *
 * A kernel is a function of its own, which the interpreter runs: its parameters are exactly what it
 * uses, buffers in the order of the program's first, then scratch, then numbers. Its loops over
 * threads are where they were: lower_unify has put each once around all. Numbers of a launch
 * (measure/launch.h) are values made of the sizes of the program's signature.
 *
 * Shared buffers have constant sizes. Where all of a kernel's do not fit into what a device takes
 * without being asked, their scope becomes "shared.dyn": one piece of memory, in which each lies at
 * its offset. Memory: the arena given. Thread-compatible.
 */
#ifndef HONE_LOWER_DEVICE_LAUNCHES_H
#define HONE_LOWER_DEVICE_LAUNCHES_H

#include "ir/core/func.h"
#include "measure/launch.h"
#include "target/target.h"

/* Bytes at whose multiples shared buffers lie: of bulk copies, the widest that anybody wants. */
#define HONE_SHARED_ALIGN 128

typedef struct hone_device_kernel {
    const char *symbol;
    const hone_func *func;
    int64_t block[3];
    int64_t shared_bytes;  /* static */
    int64_t dynamic_bytes; /* of buffers with scope "shared.dyn" */
} hone_device_kernel;

typedef struct hone_launches {
    size_t kernel_count;
    const hone_device_kernel *kernels;
    size_t value_count; /* what a manifest has of them, from here on */
    const hone_launch_value *values;
    size_t scratch_count;
    const int32_t *scratch;
    size_t launch_count;
    const hone_launch *launches;
} hone_launches;

/* Of what hone_lower_func made for a GPU. Kernels are called `symbol`, or "symbol_0", "symbol_1",
 * … where there are several. UNSUPPORTED, with the reason: what a host would have to decide while
 * kernels run, memory or threads beyond the target's limits, sizes that are no sums and products.
 */
HONE_NODISCARD hone_status hone_lower_launches(const hone_func *lowered, const char *symbol,
                                               const hone_target *target, hone_arena *arena,
                                               hone_launches *out_launches);

#endif
