/* builder/builder.h - programs and traces to loadable artifacts.
 *
 * A builder takes requests and answers each one exactly once, in any order. A program that does not
 * compile, a compiler that crashes or takes too long is a result, not a failure of the builder.
 * LLVM runs in hone-worker processes; whoever includes this header does not load it.
 *
 *     submit ──► queue ──► worker process ──► result ──► next_result
 *
 * Lifetime:  made with one reference; share with _retain, drop with _release. Releasing the last
 *            one ends the workers.
 * Threads:   one thread at a time drives a builder (the loop that polls it).
 * Layer:     may include support/, target/, measure/; the worker half also schedule/, lower/,
 *            codegen/.
 */
#ifndef HONE_BUILDER_BUILDER_H
#define HONE_BUILDER_BUILDER_H

#include <stdbool.h>

#include "measure/build.h"
#include "support/core/arena.h"
#include "support/core/status.h"

typedef struct hone_builder hone_builder;
typedef uint64_t hone_ticket; /* never 0 */

typedef struct hone_builder_local_options {
    const char *worker_path;   /* hone-worker; NULL = beside this program, else in PATH */
    int32_t workers;           /* processes; 0 = 1 */
    int32_t queue_depth;       /* requests taken at once; 0 = 4 * workers + 4 */
    int64_t memory_bytes;      /* a worker that has grown beyond is replaced; 0 = 1 GiB */
    int32_t builds_per_worker; /* then it is replaced; 0 = 500 */
    bool unsandboxed;          /* what builds is not held (odd kernels) */
} hone_builder_local_options;

/* Workers are started at the first request. options may be NULL. NOT_FOUND: no worker program. */
HONE_NODISCARD hone_status hone_builder_create_local(const hone_builder_local_options *options,
                                                     hone_builder **out_builder);
/* Answers every request with `failure` (NONE: an empty artifact at the path asked for is claimed,
 * not written). */
HONE_NODISCARD hone_status hone_builder_create_null(hone_failure failure,
                                                    hone_builder **out_builder);

hone_builder *hone_builder_retain(hone_builder *builder); /* returns builder */
void hone_builder_release(hone_builder *builder);         /* NULL is allowed */

/* How many builds run at the same time, and how many requests have no result yet. */
int32_t hone_builder_slots(const hone_builder *builder);
int32_t hone_builder_in_flight(const hone_builder *builder);

/* Takes a request; all it points to is copied. INVALID: no program or no target in it.
 * UNAVAILABLE: queue_depth requests are in flight. */
HONE_NODISCARD hone_status hone_builder_submit(hone_builder *builder,
                                               const hone_build_request *request,
                                               hone_ticket *out_ticket);

/* Waits for any result until `deadline_ns` of the monotonic clock (a time in the past: just looks;
 * INT64_MAX: for ever). TIMEOUT: none yet. INVALID: nothing is in flight. What the result points to
 * lives in the arena. */
HONE_NODISCARD hone_status hone_builder_next_result(hone_builder *builder, int64_t deadline_ns,
                                                    hone_arena *arena, hone_ticket *out_ticket,
                                                    hone_build_result *out_result);

/* A descriptor that is readable when next_result has something to do (then call it with a past
 * deadline, until TIMEOUT); -1 when the backend never makes one wait. Owned by the builder. */
int hone_builder_fd(const hone_builder *builder);

/* For the quiet gate: running builds are stopped (SIGSTOP), their timeouts with them, and nothing
 * new starts until resume. Calls do not nest. */
void hone_builder_pause(hone_builder *builder);
void hone_builder_resume(hone_builder *builder);

/* Asks to end all that is in flight: each request still gets its result, CANCELLED unless it was
 * done. */
void hone_builder_cancel_all(hone_builder *builder);

#endif
