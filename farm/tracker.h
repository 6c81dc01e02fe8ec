/* farm/tracker.h - the broker between tuners, which have trials, and runners, which have devices.
 *
 * A state machine over a hone_net server, a clock (the endpoint's) and, if wanted, a store. Whoever
 * drives it calls step when the endpoint is readable and when next_ns has come; it never waits, has
 * no thread, and does the same for the same events, so a simulation drives it as the program does.
 *
 *     trial    SUBMIT ► waiting ─ASSIGN► assigned ─RESULT► done ─OUTCOME_ACK► forgotten
 *                          ▲                │ runner lost, lease ran out: once more, at the head
 *                          └────────────────┘ of the queue; the second time it is device_lost
 *     slot     idle ► leased to one tuner (token; one trial running, one behind it) ► idle
 *
 * The tuners that wait for the same device key take turns: a slot that becomes free goes to the one
 * that has waited longest since its last turn; a lease ends when its tuner has nothing more, or
 * after a quantum when others wait. What a peer can make the tracker hold is bounded: options.
 *
 * Everything that is promised to a peer is committed to the store first. Without a store a tracker
 * that restarts learns what runs from what runners say they hold, and the rest from tuners, which
 * submit again what has no outcome.
 *
 * Lifetime: create/destroy by one owner; net, store and allow-list stay the caller's and outlive
 * it. Threads: one thread at a time.
 */
#ifndef HONE_FARM_TRACKER_H
#define HONE_FARM_TRACKER_H

#include <stdint.h>

#include "database/farm_store.h"
#include "farm/allow_list.h"
#include "measure/farm.h"
#include "net/net.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/os/log.h"

typedef struct hone_tracker hone_tracker;

/* Zeroed members mean the default that is named. */
typedef struct hone_tracker_options {
    hone_net *net;
    hone_farm_store *store;      /* NULL: nothing survives but what peers know */
    hone_allow_list *allowed;    /* NULL: insecure, everybody may do everything */
    const hone_log *log;         /* NULL: silence */
    const char *software;        /* "hone 0.1.0"; for people */
    hone_farm_instance instance; /* random; not zero */
    uint64_t first_token;        /* above all that an earlier tracker gave out: the wall clock in
                                    microseconds does; at least 1 */
    int64_t heartbeat_ns;        /* 2 s; a peer is gone after three without a sign of life */
    int64_t grace_ns;            /* 60 s: for tuners that are gone to come back */
    int64_t quantum_ns;          /* 2 s: of a lease when others wait */
    int64_t blob_cache_bytes;    /* 512 MiB */
    uint32_t chunk_bytes;        /* 256 KiB: of a file in one message, 1 KiB to 1 MiB */
    uint32_t max_trials;         /* 1024: unfinished ones of a tuner */
    uint32_t max_tuners;         /* 256 */
    uint32_t max_runners;        /* 1024 */
    int64_t max_request_bytes;   /* 256 MiB: requests and results of all trials */
    uint32_t max_frames_per_s;   /* 4000: of one peer; what is beyond is dropped */
} hone_tracker_options;

/* Takes up what the store has. INVALID: the store is damaged. */
HONE_NODISCARD hone_status hone_tracker_create(const hone_tracker_options *options,
                                               hone_tracker **out_tracker);

/* Says BYE to all peers, which goes out when the endpoint is destroyed. NULL is allowed. */
void hone_tracker_destroy(hone_tracker *tracker);

/* Handles what has come (up to a bound: then next_ns is now) and what is due. A failure is the
 * world's (IO: the store cannot be written, the endpoint is broken) and the end of this tracker:
 * nothing that depends on it was promised to anybody. */
HONE_NODISCARD hone_status hone_tracker_step(hone_tracker *tracker);

/* When step is to be called though nothing has come. */
int64_t hone_tracker_next_ns(const hone_tracker *tracker);

/* The allow-list was changed from outside: cuts off whom it no longer has. */
void hone_tracker_apply_allow_list(hone_tracker *tracker);

/* Counters, for metrics and tests. */
typedef struct hone_tracker_stats {
    uint64_t submitted, waiting, running, done, requeued, lost, returned, cancelled;
    uint64_t duplicates; /* results under an old token, dropped */
    uint64_t errors;     /* trials that came to nothing through a slot's fault: given again */
    uint64_t refused;    /* frames that were not understood or not allowed */
    uint64_t throttled;  /* frames dropped because a peer sent too many */
    uint64_t runners, slots, tuners, peers;
    uint64_t blob_pulls;   /* files fetched from tuners */
    int64_t blob_bytes;    /* in the cache */
    int64_t request_bytes; /* held for trials */
    int64_t queue_wait_ns; /* of all trials that were assigned, in all */
    uint64_t assigned;     /* number of those */
} hone_tracker_stats;

hone_tracker_stats hone_tracker_get_stats(const hone_tracker *tracker);

/* Appends the stats, and those of slots, in Prometheus' text form. */
void hone_tracker_print_metrics(const hone_tracker *tracker, hone_str *out);

#endif
