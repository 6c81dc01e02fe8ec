/* bench/farm_subject.h - the trials that bench_farm has run: a library of kernels (farm_kernels.c),
 * copies of it that nobody has seen yet, requests for them. A failure ends the bench. */
#ifndef HONE_BENCH_FARM_SUBJECT_H
#define HONE_BENCH_FARM_SUBJECT_H

#include "bench/bench_util.h"
#include "runner/runner.h"

typedef struct farm_subject {
    bench *b;
    char kernels[512]; /* the library */
    char *bytes;       /* its content */
    size_t byte_count;
    char *dir;       /* owned */
    char fresh[512]; /* where a new artifact goes each time */
    uint64_t count;
} farm_subject;

void farm_subject_open(farm_subject *s, bench *b);
void farm_subject_close(farm_subject *s);

/* To check `entry` of the library, without a time. `room` is for its argument. */
hone_run_request farm_subject_request(const farm_subject *s, const char *entry, hone_arg *room);

/* Puts a library that nobody has seen yet to s->fresh. */
void farm_subject_renew(farm_subject *s);

hone_runner *farm_subject_runner(const hone_runner_local_options *options);

/* Waits for a result, which must be good. */
void farm_subject_take(hone_runner *runner);
/* Has it run, alone. */
void farm_subject_run(hone_runner *runner, const hone_run_request *request);

#endif
