/* tests/conformance/device_cases.h - what every device must do, and what those with memory of their
 * own must. Each case is given a fresh device, which it may break. */
#ifndef HONE_TESTS_CONFORMANCE_DEVICE_CASES_H
#define HONE_TESTS_CONFORMANCE_DEVICE_CASES_H

#include <stdbool.h>

#include "runtime/device.h"

typedef enum device_sort {
    DEVICE_PLAIN = 1, /* kernels are not run, or are code of this process */
    DEVICE_APART = 2, /* kernels of device_kernels.h */
    DEVICE_EVERY = 3,
} device_sort;

typedef struct device_case {
    const char *name;
    device_sort sorts; /* that it is for */
    bool hangs;        /* it is to be killed when it says so */
    void (*run)(hone_device *device);
} device_case;

extern const device_case device_cases[];
extern const int device_case_count;

#endif
