/* lower/device/splitting.h - the state of dividing a program into launches; inside lower/device/
 * only. */
#ifndef HONE_LOWER_DEVICE_SPLITTING_H
#define HONE_LOWER_DEVICE_SPLITTING_H

#include "ir/core/touches.h"
#include "lower/device/launches.h"
#include "lower/signature/signature.h"

/* Children of one node in a row that a kernel is made of. */
typedef struct device_segment {
    hone_node_id first, last;
    bool has_threads; /* it is a nest of threads, else it runs in one */
} device_segment;

/* A list of items of a type, growing in the arena. */
typedef struct device_list {
    void *items;
    uint32_t count, capacity;
} device_list;

typedef struct splitting {
    const hone_func *func;
    const char *symbol;
    const hone_target *target;
    hone_arena *arena;
    hone_ir ir;
    hone_signature signature;
    const hone_usage *usage;
    const hone_expr **lets; /* by variable: what a LET around, or of a kernel, gives it */
    int64_t *iteration;     /* by variable: of a host's loop, where it is in one now */
    bool *is_iterated;      /* by variable: iteration is its value */
    int32_t *kernel_of;     /* by node: 1 + the kernel of the segment that begins there */
    int32_t *scratch_of;    /* by buffer: 1 + number of its scratch memory */
    device_list values, scratch, launches, kernels;
} splitting;

/* Appends a zeroed item; NULL when memory is short. */
void *device_append(splitting *s, device_list *list, size_t item_bytes);

/* The number of the value that an integer expression of sizes has; UNSUPPORTED for others. */
HONE_NODISCARD hone_status device_value(splitting *s, const hone_expr *e, int32_t *out_value);
HONE_NODISCARD hone_status device_constant(splitting *s, int64_t k, int32_t *out_value);
/* The greater of two values. */
HONE_NODISCARD hone_status device_max(splitting *s, int32_t a, int32_t b, int32_t *out_value);

/* The kernel of a segment: the function with what stands around the segment, its parameters. */
HONE_NODISCARD hone_status device_make_kernel(splitting *s, const device_segment *segment,
                                              hone_device_kernel *out_kernel);
/* The arguments of its parameters, for a launch. */
HONE_NODISCARD hone_status device_bind(splitting *s, const hone_device_kernel *kernel,
                                       hone_launch *launch);
/* How much shared memory it has; it is "shared.dyn" where it needs more than is there at once. */
HONE_NODISCARD hone_status device_count_shared(splitting *s, hone_func *func,
                                               hone_device_kernel *kernel);

/* 0, 1, 2 for x, y, z of "blockIdx" or "threadIdx"; -1: another tag. */
int device_axis_of(const hone_node *loop, const char *prefix);

#endif
