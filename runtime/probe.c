/* runtime/probe.c - reference kernel and cache line round trip. */
#include "runtime/probe.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "support/core/alloc.h"

#define MEMORY_FLOATS (16 * 1024) /* 64 KiB: beyond L1 on most CPUs, within L2 on all */
#define PASSES 4
#define RUNS 3
#define ROUND_TRIPS 2000
#define ROUND_TRIP_LIMIT_NS INT64_C(20000000)

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool hone_reference_kernel_init(hone_reference_kernel *kernel) {
    *kernel = (hone_reference_kernel){0};
    kernel->memory = hone_aligned_alloc(64, MEMORY_FLOATS * sizeof(float));
    if (!kernel->memory) return false;
    for (int i = 0; i < MEMORY_FLOATS; i++)
        kernel->memory[i] = (float)(i % 17) * 0.0625f;
    return true;
}

void hone_reference_kernel_deinit(hone_reference_kernel *kernel) {
    hone_free(kernel->memory);
    *kernel = (hone_reference_kernel){0};
}

/* Eight independent chains, so that it measures throughput as kernels do, not latency. */
static float work(const float *memory) {
    float chain[8] = {0};
    for (int pass = 0; pass < PASSES; pass++) {
        for (int i = 0; i < MEMORY_FLOATS; i += 8) {
            for (int k = 0; k < 8; k++)
                chain[k] = chain[k] * 0.5f + memory[i + k];
        }
    }
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += chain[k];
    return sum;
}

double hone_reference_kernel_time(hone_reference_kernel *kernel) {
    double best = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        int64_t start = now_ns();
        kernel->sink += (double)work(kernel->memory);
        double took = (double)(now_ns() - start);
        if (took < best) best = took;
    }
    return best;
}

/* ---- cache line round trip ---- */

typedef struct ping_pong {
    _Alignas(64) _Atomic int64_t ball; /* even: ours to raise, odd: the other thread's */
    _Alignas(64) _Atomic bool stop;
    int cpu;
} ping_pong;

static bool pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

static void *answer(void *arg) {
    ping_pong *p = arg;
    pin_to(p->cpu);
    while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        int64_t ball = atomic_load_explicit(&p->ball, memory_order_acquire);
        if (ball & 1) atomic_store_explicit(&p->ball, ball + 1, memory_order_release);
    }
    return NULL;
}

/* One round trip, or false when the deadline passes (the other core is busy elsewhere). */
static bool round_trip(ping_pong *p, int64_t deadline_ns) {
    int64_t ball = atomic_load_explicit(&p->ball, memory_order_relaxed);
    atomic_store_explicit(&p->ball, ball + 1, memory_order_release);
    for (int spin = 1; atomic_load_explicit(&p->ball, memory_order_acquire) == ball + 1; spin++) {
        if (spin % 4096 == 0 && now_ns() > deadline_ns) return false;
    }
    return true;
}

static double best_round_trip(ping_pong *p) {
    int64_t deadline = now_ns() + ROUND_TRIP_LIMIT_NS;
    double best = NAN;
    for (int batch = 0; batch < 5; batch++) {
        int64_t start = now_ns();
        for (int i = 0; i < ROUND_TRIPS / 5; i++) {
            if (!round_trip(p, deadline)) return best;
        }
        double each = (double)(now_ns() - start) / (ROUND_TRIPS / 5.0);
        if (isnan(best) || each < best) best = each;
    }
    return best;
}

bool hone_probe_cpus(int out_cpus[2]) {
    cpu_set_t mask;
    int found = 0;
    out_cpus[0] = out_cpus[1] = -1;
    if (sched_getaffinity(0, sizeof mask, &mask)) return false;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++) {
        if (CPU_ISSET(i, &mask)) out_cpus[found++] = i;
    }
    return found == 2;
}

double hone_probe_round_trip(const int cpus[2]) {
    cpu_set_t before;
    ping_pong p = {.cpu = cpus[1]};
    pthread_t other;
    double best = (double)NAN;
    if (sched_getaffinity(0, sizeof before, &before) || !pin_to(cpus[0])) return best;
    if (pthread_create(&other, NULL, answer, &p) == 0) {
        best = best_round_trip(&p);
        atomic_store(&p.stop, true);
        pthread_join(other, NULL);
    }
    sched_setaffinity(0, sizeof before, &before);
    return best;
}
