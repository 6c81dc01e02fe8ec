/* runner/runner.h - runs built kernels on a device and reports how long they took.
 *
 * A runner takes requests and answers each one exactly once, in any order. Where the work happens
 * (a child process, a board behind a tracker, nowhere) is the backend's business: callers see this
 * header only. A kernel that crashes, hangs or is wrong is a result, not a failure of the runner.
 *
 *     submit ──► queue ──► device slot ──► result ──► next_result
 *
 * Lifetime:  one owner, who ends it with _destroy; that stops what is running.
 * Threads:   one thread at a time drives a runner (the loop that polls it).
 * Layer:     may include support/, target/, measure/, runtime/, net/.
 */
#ifndef HONE_RUNNER_RUNNER_H
#define HONE_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/run.h"
#include "support/core/status.h"

typedef struct hone_runner hone_runner;
typedef uint64_t hone_ticket; /* never 0 */

/* What is to be known of a backend, by its row of runners.def. */
typedef enum hone_runner_facts {
    HONE_RUNNER_GIVES_TIMES = 1, /* a request may take time, can be cancelled, and gives samples */
    HONE_RUNNER_TIMES_HERE = 2,  /* hone_runner_times_here */
    HONE_RUNNER_CONNECTS = 4,    /* its devices are elsewhere: a lost connection ends it */
} hone_runner_facts;

typedef struct hone_runner_local_options {
    const char *executor_path;   /* hone-runner; NULL = beside this program, else in PATH */
    const char *const *launcher; /* words before it, an emulator for example; ended by NULL; NULL =
                                    none. Must outlive the runner */
    int32_t slots;               /* executor processes; 0 = 1 */
    int32_t per_card; /* of the slots, so many share a card that is a device apart: one has it, the
                         others load; where there is a quiet gate; 0 = 1 */
    int32_t queue_depth;    /* requests taken at once; 0 = 2 * slots + 2 */
    const char *device;     /* that candidates run on: "cpu" (NULL), "opencl", "cuda:1"; "cuda": of
                               several slots each has a card of its own, or per_card share one */
    const char *quiet_path; /* lock file of the quiet gate; NULL = timings do not take it. A card
                               that times by itself has its own, beside it */
    int64_t memory_bytes;   /* address space limit of an executor; 0 = 3/4 of this machine. With
                               a device apart: of its memory; 0 = all of it */
    int32_t trials_per_executor; /* then it is replaced; 0 = 2000 */
    int64_t start_timeout_ns;    /* until an executor must have started; 0 = 30 s */
    bool unsandboxed;            /* candidates are not held (debuggers, emulators, odd kernels) */
    const char *without;         /* second layers of the sandbox that are left out, to see that the
                                    first holds alone: "user,namespaces,landlock"; or NULL */
} hone_runner_local_options;

/* One executor child per slot, started at the first request. options may be NULL. NOT_FOUND when
 * there is no executor program. */
HONE_NODISCARD hone_status hone_runner_create_local(const hone_runner_local_options *options,
                                                    hone_runner **out_runner);

enum { HONE_RUNNER_LAYERS_BYTES = 128 };

/* What holds the candidates of a local runner, for people: "filter, limits, namespaces, …". Starts
 * its first executor. UNAVAILABLE, with the reason, when they cannot be held, or none can be
 * started. */
HONE_NODISCARD hone_status hone_runner_local_layers(hone_runner *runner,
                                                    char out_layers[HONE_RUNNER_LAYERS_BYTES]);

typedef struct hone_runner_simulated_options {
    int32_t slots;       /* devices that work at the same time; 0 = 1 */
    int32_t queue_depth; /* 0 = 1024 */
    /* Where virtual time starts. Time passes only in next_result, which jumps to the next event. */
    int64_t start_ns;
} hone_runner_simulated_options;

/* Turns request.simulated into a result, deterministically, in virtual time, without running
 * anything. options may be NULL. */
HONE_NODISCARD hone_status hone_runner_create_simulated(
    const hone_runner_simulated_options *options, hone_runner **out_runner);
/* Virtual now of a simulated runner. */
int64_t hone_runner_simulated_now(const hone_runner *runner);

/* A runner whose devices are behind a tracker: runner/farm/runner_remote.h. */

/* Answers every request with `failure` and no times. */
HONE_NODISCARD hone_status hone_runner_create_null(hone_failure failure, hone_runner **out_runner);

void hone_runner_destroy(hone_runner *runner); /* NULL is allowed */

/* How many requests keep the devices busy: submit as long as fewer are in flight. It may change
 * with each call of next_result or tend; 0: no device is there just now. */
int32_t hone_runner_slots(const hone_runner *runner);
int32_t hone_runner_in_flight(const hone_runner *runner);

/* Takes a request; all it points to is copied, but the files must stay until the result. INVALID:
 * the request is not sane. UNAVAILABLE: queue_depth requests are in flight, or the device is gone.
 */
HONE_NODISCARD hone_status hone_runner_submit(hone_runner *runner, const hone_run_request *request,
                                              hone_ticket *out_ticket);

/* Waits for any result until `deadline_ns` of the monotonic clock (a time in the past: just looks;
 * INT64_MAX: for ever). TIMEOUT: none yet. INVALID: nothing is in flight. The result is owned by
 * the caller (hone_run_result_deinit) and is always initialised. */
HONE_NODISCARD hone_status hone_runner_next_result(hone_runner *runner, int64_t deadline_ns,
                                                   hone_ticket *out_ticket,
                                                   hone_run_result *out_result);

/* A descriptor that is readable when next_result has something to do (then call it with a past
 * deadline, until TIMEOUT); -1 when the backend never makes one wait. Owned by the runner. */
int hone_runner_fd(const hone_runner *runner);

/* True when it times what this machine's CPUs do, so that building and timing must take turns. */
bool hone_runner_times_here(const hone_runner *runner);

/* Does what is due without waiting: heartbeats, news of devices. next_result does it, too; call
 * this when hone_runner_fd is readable and nothing is in flight. UNAVAILABLE (from next_result,
 * too): no device is left and none is waited for; what is in flight can only be cancelled. */
HONE_NODISCARD hone_status hone_runner_tend(hone_runner *runner);

/* A few words on its devices for a progress line ("3 devices"); NULL = nothing to say. Valid until
 * the next call. */
const char *hone_runner_note(const hone_runner *runner);

/* Asks to end all that is in flight: each request still gets its result, CANCELLED unless it was
 * done. */
void hone_runner_cancel_all(hone_runner *runner);

#endif
