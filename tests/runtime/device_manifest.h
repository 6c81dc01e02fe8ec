/* tests/runtime/device_manifest.h - manifests for the kernels of device_kernels.h. */
#ifndef HONE_TESTS_RUNTIME_DEVICE_MANIFEST_H
#define HONE_TESTS_RUNTIME_DEVICE_MANIFEST_H

#include "runtime/device.h"

enum { DEVICE_BLOCK = 128, DEVICE_STEPS = 3, DEVICE_VALUES = 6 };

/* Points into itself: fill it where it stays. */
typedef struct device_manifest {
    hone_manifest manifest;
    hone_arg args[2];
    hone_launch_value values[DEVICE_VALUES];
    hone_launch_arg launch_args[DEVICE_STEPS][3];
    hone_launch launches[DEVICE_STEPS];
    int32_t scratch[1];
    int64_t sizes[1];
} device_manifest;

/* Numbers of its values. */
enum {
    DEVICE_VALUE_N,      /* size 0 of the manifest */
    DEVICE_VALUE_BLOCK,  /* DEVICE_BLOCK */
    DEVICE_VALUE_GRID,   /* as many blocks as elements take */
    DEVICE_VALUE_ONE,    /* of the other axes */
    DEVICE_VALUE_BYTES,  /* of scratch: 4 n */
    DEVICE_VALUE_SHARED, /* 0 */
};

/* One launch of `symbol`; A is read, B is written. */
void device_manifest_init(device_manifest *out, const char *symbol, int64_t elements);
/* Two: the first writes scratch, the second reads it. */
void device_manifest_init_steps(device_manifest *out, const char *first, const char *second,
                                int64_t elements);
hone_device_artifact device_artifact(void); /* their PTX */

#endif
