/* measure/run.h - a request to run an artifact on a device, and what came of it.
 *
 * Requests are plain values whose strings and arrays belong to whoever made them (a decoded one: to
 * the arena it was decoded into); a runner copies what it needs before submit returns. Results are
 * values in the caller's storage; outputs, when asked for, are owned by the result: end it with
 * hone_run_result_deinit.
 */
#ifndef HONE_MEASURE_RUN_H
#define HONE_MEASURE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/failure.h"
#include "measure/manifest.h"
#include "support/core/status.h"
#include "support/data/hash.h"

#define HONE_RUN_MAX_SAMPLES 64
#define HONE_RUN_MESSAGE_BYTES 512
#define HONE_RUN_DEVICE_BYTES 80
#define HONE_RUN_LEAST_NS 0.05 /* of a kernel: less than a cycle of any machine */
#define HONE_RUN_MAX_DISTANCE (INT64_C(128) << 20) /* beyond any cache; longer ones are as long */
#define HONE_RUN_NS_PER_MS INT64_C(1000000)

/* Whether some kernel can take so long: finite and not below HONE_RUN_LEAST_NS. */
bool hone_run_is_time(double ns);

typedef enum hone_cache_state {
    HONE_CACHE_HOT,   /* as the run before left it */
    HONE_CACHE_COLD,  /* the arguments are flushed from all caches before each run */
    HONE_CACHE_MODEL, /* as in a model: an argument that is far away there lies at other places in
                         turn, so that it is as far away here; the others are as the run before left
                         them, or, with several threads, as those of other kernels do */
} hone_cache_state;

/* How much effort a measurement may take. Zeroed members mean the default that is named. */
typedef struct hone_timing_policy {
    int64_t min_repeat_ns; /* timed in all for a candidate near the incumbent; default 20 ms */
    int64_t min_sample_ns; /* short kernels are run in batches of at least this, or of
                              min_repeat_ns / max_samples; default 100 us */
    int32_t min_samples;   /* default 3 */
    int32_t max_samples;   /* default 32, at most HONE_RUN_MAX_SAMPLES */
    double incumbent_ns;   /* best known time of this task; 0 = none */
    double slow_ratio;     /* stop early when slower than this many incumbents; default 3 */
} hone_timing_policy;

/* What the simulated runner makes its answer from; ignored by all others. */
typedef struct hone_simulated_facts {
    double cost_ns; /* time of one run */
    double noise;   /* relative standard deviation of the samples */
    uint64_t noise_seed;
    int64_t latency_ns;   /* virtual time until the result is there */
    hone_failure failure; /* what it ends as; NONE = a time */
} hone_simulated_facts;

typedef struct hone_run_request {
    const char *artifact_path;     /* a shared object; or NULL and */
    const uint8_t *artifact_bytes; /* its bytes */
    size_t artifact_byte_count;
    hone_manifest manifest;
    const char *check_path;  /* check bundle file; NULL = inputs by default generators,
                                nothing is compared */
    const char *extern_path; /* shared library with the external functions, or NULL */
    const char *device;      /* name of the one device that shall run it; NULL = any. Decides where
                                it goes, so it is not part of the wire form */
    hone_hash128 owner;      /* whose candidate it is: no process runs those of two owners. Not part
                                of the wire form */
    int32_t threads;         /* that the kernel may use; 0 = 1 */
    hone_cache_state cache;
    uint64_t weights;         /* MODEL: bit i: no kernel makes argument i */
    size_t distance_count;    /* of arguments; those behind them have 0 */
    const int64_t *distances; /* MODEL: by argument: bytes that the model touches from its last use
                                 to this one; 0 = none */
    hone_timing_policy timing;
    int64_t timeout_ns; /* on the device, for load, check and each look; 0 = 10 s */
    uint64_t seed;      /* of inputs when there is no bundle */
    bool want_outputs;  /* run once and return the outputs; no times */
    bool skip_timing;   /* check only */
    hone_simulated_facts simulated;
} hone_run_request;

/* Where the time of a trial went. */
typedef struct hone_run_times {
    int64_t queue_ns;    /* in the runner, before a device was free */
    int64_t transfer_ns; /* moving artifact and bundle */
    int64_t load_ns;     /* loading, making inputs */
    int64_t check_ns;    /* first run and comparison */
    int64_t wait_ns;     /* for the quiet gate */
    int64_t measure_ns;  /* timing, with warm-up and reference kernel */
} hone_run_times;

typedef struct hone_run_result {
    hone_failure failure;
    char message[HONE_RUN_MESSAGE_BYTES]; /* why it failed; "" when it did not */
    int32_t return_code;                  /* of the kernel, when it was not 0 */

    int32_t sample_count;
    double samples_ns[HONE_RUN_MAX_SAMPLES]; /* of one run each (batches are divided) */
    int64_t batch;                           /* runs per sample */
    double median_ns;                        /* NAN when there is no time */
    double best_ns;
    double spread;      /* interquartile range / median; NAN when fewer than 2 samples */
    bool stopped_early; /* clearly slower than the incumbent: fewer samples than usual */

    bool checked;       /* compared with a bundle */
    double max_error;   /* largest |got - reference| over all outputs; NAN when unchecked */
    double error_ratio; /* largest error / bound; <= 1 when right (0/0 = 0); NAN unchecked */

    double reference_ns;  /* the reference kernel, re-timed around this trial; NAN = not timed */
    double drift;         /* reference_ns / its baseline on this runner; 1 = none; NAN unknown */
    bool drift_flagged;   /* |drift - 1| or the change within the trial is above 3 % */
    double round_trip_ns; /* a cache line between the two first cores; NAN when not probed */

    hone_run_times times;
    bool retried;                       /* crashed in a used process, then judged in a fresh one */
    uint32_t executor;                  /* number of the process that ran it, from 1 */
    char device[HONE_RUN_DEVICE_BYTES]; /* who ran it; "" = this machine. Not in the wire form */

    uint8_t *outputs; /* OUT and INOUT tensors, concatenated in order; owned; or NULL */
    size_t output_bytes;
} hone_run_result;

/* A result with no samples, NANs where nothing is known. */
void hone_run_result_init(hone_run_result *result);
void hone_run_result_deinit(hone_run_result *result);

/* Sets failure and message; samples and medians are cleared. */
void hone_run_result_fail(hone_run_result *result, hone_failure failure, const char *format, ...)
    HONE_PRINTF(3, 4);

/* What no device can have answered, for people: a time that is none, or below what a single
 * instruction takes; no time at all where `wants_time`; right, but beyond the bound. NULL: it may
 * be true. */
const char *hone_run_result_problem(const hone_run_result *result, bool wants_time);
/* Whether a request asks for a time. */
bool hone_run_request_wants_time(const hone_run_request *request);

/* Fills median, best and spread from samples_ns[sample_count]. */
void hone_run_result_summarize(hone_run_result *result);

/* The policy with its zeroed members filled in and the others brought into their range. */
hone_timing_policy hone_timing_policy_defaults(const hone_timing_policy *policy);

/* INVALID with the reason: no artifact, a manifest that is not sane, threads not in 1…1024, … */
HONE_NODISCARD hone_status hone_run_request_check(const hone_run_request *request);

/* A copy of everything the request points to, in `arena`; *out_copy points into it. */
struct hone_arena;
HONE_NODISCARD hone_status hone_run_request_copy(const hone_run_request *request,
                                                 struct hone_arena *arena,
                                                 hone_run_request *out_copy);

/* Statistics shared with `hone bench`: the median and the interquartile range / median of a sorted
 * or unsorted array (it is not changed); NAN when empty. Quartiles interpolate linearly. */
double hone_stat_median(const double *values, size_t count);
double hone_stat_spread(const double *values, size_t count);

#endif
