/* runtime/pinning.h - one thread of this process per CPU.
 *
 * When a kernel uses every CPU of the affinity mask, two of its threads on one CPU wait for each
 * other while another CPU idles, and the scheduler needs milliseconds to see it: far longer than a
 * sample. Then, and only then, each thread gets a CPU of its own.
 */
#ifndef HONE_RUNTIME_PINNING_H
#define HONE_RUNTIME_PINNING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define HONE_PINNING_MAX_THREADS 256

/* The threads of this process and the CPUs that it may use, before a pool is started. */
typedef struct hone_pinning {
    cpu_set_t mask; /* of the calling thread, as it was */
    int32_t cpus;
    int32_t known_count;
    int32_t known[HONE_PINNING_MAX_THREADS]; /* thread ids */
} hone_pinning;

void hone_pinning_begin(hone_pinning *pinning);

/* Pins the calling thread and those that were started since _begin, one to a CPU; only when they
 * are exactly as many as there are CPUs, at least 2. True when it did. */
bool hone_pinning_apply(const hone_pinning *pinning);

/* Gives the calling thread its mask back. */
void hone_pinning_end(const hone_pinning *pinning);

#endif
