/* runtime/timing.h - how often to run a kernel, and when to stop.
 *
 *     warm up ─► batch size ─► sample ─► enough? ─no─► sample …
 *                                          │ yes: time spent, samples, or clearly slower
 *
 * The loop knows neither kernels nor devices: it calls `run(ctx, n)`, which runs n times and says
 * how long that took, so it is tested with made-up clocks.
 */
#ifndef HONE_RUNTIME_TIMING_H
#define HONE_RUNTIME_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/run.h"
#include "support/os/clock.h"

/* Runs the kernel `count` times; *out_ns is the time of all of them together. Returns 0, or the
 * kernel's code. */
typedef int32_t (*hone_timing_run)(void *ctx, int64_t count, int64_t *out_ns);

typedef struct hone_timing_options {
    hone_timing_policy policy; /* as given: defaults are filled in */
    int64_t first_ns;          /* how long the first, checked run took; 0 = not known */
    bool first_counts;         /* it did what all runs do, and its time is of nothing else: a long
                                  one settles that a kernel is far behind */
    int64_t budget_ns;         /* never start a sample after this much time; 0 = no limit */
    const hone_clock *clock;   /* of the budget, where more than runs takes time: flushing caches,
                                  what others do between them; NULL = what runs say */
    int64_t max_batch;         /* 1 for cold caches; 0 = 1,000,000 */
} hone_timing_options;

/* Fills samples, batch, median, best, spread, stopped_early. Returns 0, or the code of the first
 * run that failed (then there are no samples). */
int32_t hone_timing_measure(const hone_timing_options *options, hone_timing_run run, void *ctx,
                            hone_run_result *result);

#endif
