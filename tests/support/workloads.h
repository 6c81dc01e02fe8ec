/* tests/support/workloads.h - the tensor programs that schedule and tuner tests and benchmarks work
 * on: small shapes, with ones, odd numbers and primes. */
#ifndef HONE_TESTS_SUPPORT_WORKLOADS_H
#define HONE_TESTS_SUPPORT_WORKLOADS_H

typedef struct hone_workload {
    const char *name;
    const char *text; /* TVMScript */
} hone_workload;

/* Ends with a row whose name is NULL. */
extern const hone_workload hone_workloads[];

#endif
