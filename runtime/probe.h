/* runtime/probe.h - what the machine is doing while we measure.
 *
 * The reference kernel is a fixed piece of arithmetic and memory traffic of 10 to 30 us that is
 * timed around every trial: when it gets slower, so did everything. The round trip is the time
 * that a cache line takes between two cores and back: on virtual machines it tells whether two
 * "cores" are near each other today.
 */
#ifndef HONE_RUNTIME_PROBE_H
#define HONE_RUNTIME_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define HONE_DRIFT_LIMIT 0.03

typedef struct hone_reference_kernel {
    float *memory; /* owned */
    double sink;   /* keeps the work from being optimised away */
} hone_reference_kernel;

/* false when memory is short. */
bool hone_reference_kernel_init(hone_reference_kernel *kernel);
void hone_reference_kernel_deinit(hone_reference_kernel *kernel);
/* The best of a few runs, in nanoseconds. */
double hone_reference_kernel_time(hone_reference_kernel *kernel);

/* The first two CPUs of the calling thread's affinity mask; false when there are fewer. Ask before
 * the thread is pinned to one of them. */
bool hone_probe_cpus(int out_cpus[2]);

/* Nanoseconds of one round trip of a cache line between threads on two CPUs; the best of a few
 * batches. The caller's affinity mask is left as it was. NAN when that cannot be done now. */
double hone_probe_round_trip(const int cpus[2]);

#endif
