/* runner/trial.h - one trial on a device: load, run once and check, then time.
 *
 *     load ─► reset, poison ─► run ─► guards ─► compare ─► outputs? ─► gate ─► time ─► once more
 *       │                       │        │           │                     │
 *   load_error            run_crash  run_crash  wrong_result             the same
 *
 * On a card the gate stands in front of the first run: what else runs there meanwhile would be in
 * somebody's times; what the CPUs do is not.
 *
 * A trial that is timed runs once more behind that, from poisoned outputs, and is compared again.
 *
 * Everything that a candidate can do wrong without dying ends here as a failure class in the
 * result; what it does by dying or hanging is seen by the process that watches this one.
 * Lifetime: create/destroy by one owner. Threads: thread-compatible.
 */
#ifndef HONE_RUNNER_TRIAL_H
#define HONE_RUNNER_TRIAL_H

#include "measure/run.h"
#include "runtime/device.h"
#include "support/os/clock.h"

/* For the quiet gate; then it is timed without the gate, and flagged. */
#define HONE_TRIAL_GATE_PATIENCE_NS (30 * HONE_NS_PER_S)

typedef struct hone_trial_bench hone_trial_bench; /* what is kept between trials */

typedef enum hone_trial_phase {
    HONE_TRIAL_RUNNING, /* on the device; its timeout starts anew */
    HONE_TRIAL_WAITING, /* for the quiet gate; time does not count */
} hone_trial_phase;

typedef struct hone_trial_options {
    hone_device *device; /* not owned */
    bool is_card;        /* the device times by itself (hone_device_name_is_alone) */
    const hone_clock *clock;
    /* Around each timing; on a card, around all runs: false when the quiet gate is not to be had in
     * time. NULL: there is none. */
    bool (*take_gate)(void *ctx, int64_t patience_ns);
    void (*drop_gate)(void *ctx);
    /* Told at the beginning of each phase. May be NULL. */
    void (*on_phase)(void *ctx, hone_trial_phase phase);
    void *ctx;
} hone_trial_options;

HONE_NODISCARD hone_status hone_trial_bench_create(const hone_trial_options *options,
                                                   hone_trial_bench **out_bench);
void hone_trial_bench_destroy(hone_trial_bench *bench); /* NULL is allowed */

/* Fills *result, which is initialised; never fails: what goes wrong is in the result. */
void hone_trial_run(hone_trial_bench *bench, const hone_run_request *request,
                    hone_run_result *result);

/* For crash reports, callable in a signal handler: "4 bytes behind the end of argument 2 'C'" for
 * an address near a buffer of the running trial; false when it is near none. */
bool hone_trial_explain_address(const hone_trial_bench *bench, const void *address, char *out,
                                size_t capacity);

#endif
