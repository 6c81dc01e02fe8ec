/* runner/farm/daemon.h - hone-runner as a member of a farm: what a tracker assigns, local runners
 * run.
 *
 *     tracker ──ASSIGN──► fetch files ─► waits for its slot ─► runs ─► result ──RESULT──► tracker
 *             ◄─TAKEN──        │               │                │        (repeated until
 * RESULT_ACK) └───────────────┴──ABORT, stop───┴────► RETURNED, repeated as well
 *
 * A state machine over a hone_net client and its clock: it never waits, so it runs the same over a
 * simulated network in virtual time. The connection may come and go; what runs goes on, results are
 * kept until the tracker has them, and HELLO tells a tracker what is still held. Trials that have
 * not begun are forgotten when the tracker was silent for so long that it must have given them to
 * somebody else. A slot whose machine is at fault is benched (daemon_health.c). What a tracker or
 * tuner sends can fail a trial, never the daemon.
 *
 * Lifetime: create/destroy; what the options point to outlives it. Threads: one at a time.
 * Layer: support, target, net, measure, runtime, runner.
 */
#ifndef HONE_RUNNER_FARM_DAEMON_H
#define HONE_RUNNER_FARM_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/farm.h"
#include "net/net.h"
#include "runner/farm/blob_cache.h"
#include "runner/runner.h"
#include "support/os/log.h"

typedef struct hone_daemon hone_daemon;

typedef struct hone_daemon_slot {
    hone_runner *runner; /* not owned; nobody else submits to it; has one trial at a time */
    hone_farm_slot facts;
} hone_daemon_slot;

/* What a slot runs to see that it can: before the daemon joins, after failures in a row or a fault
 * of the machine, and from time to time while it is benched. */
typedef struct hone_daemon_self_test {
    /* What it points to stays until the next call; a failure is one of the test. NULL: none. */
    hone_status (*make)(void *ctx, hone_run_request *out_request);
    void *ctx;
} hone_daemon_self_test;

typedef struct hone_daemon_stats {
    bool is_connected; /* and welcome */
    uint64_t assigned, results, returned;
    size_t held; /* trials now */
} hone_daemon_stats;

/* Told every few seconds that a daemon lives, and how it is. NULL: nobody is. */
typedef struct hone_daemon_watcher {
    void (*note)(void *ctx, const hone_daemon_stats *stats);
    void *ctx;
} hone_daemon_watcher;

typedef struct hone_daemon_options {
    hone_net *net; /* a client */
    hone_blob_cache *cache;
    const hone_daemon_slot *slots; /* copied */
    size_t slot_count;             /* 1 to HONE_FARM_MAX_SLOTS */
    const char *name;              /* unique in the farm; "" = that of the key */
    const char *software;
    hone_daemon_self_test self_test;
    hone_daemon_watcher watcher;
    hone_farm_instance instance; /* random, not zero */
    int64_t idle_ns;             /* leaves when nothing was given to it for so long; 0: never */
    const hone_log *log;         /* NULL: silence */
} hone_daemon_options;

HONE_NODISCARD hone_status hone_daemon_create(const hone_daemon_options *options,
                                              hone_daemon **out_daemon);
void hone_daemon_destroy(hone_daemon *daemon); /* NULL is allowed; the network is told nothing */

/* Does all that can be done now. VERSION, INVALID: the tracker refuses this program or its key's
 * role for good; IO, NO_MEMORY: the endpoint is of no more use. */
HONE_NODISCARD hone_status hone_daemon_step(hone_daemon *daemon);

/* When _step has to be called at the latest; sooner when the endpoint or a slot's runner has
 * something (hone_net_fd, hone_runner_fd). */
int64_t hone_daemon_next_ns(const hone_daemon *daemon);

/* What may become of a trial that runs when a daemon leaves. */
typedef enum hone_daemon_haste {
    HONE_DAEMON_DRAIN, /* it ends, however long that takes */
    HONE_DAEMON_STOP,  /* it may end within 15 s, else it is given back */
    HONE_DAEMON_NOW,   /* it is given back */
} hone_daemon_haste;

/* Begins to leave: what has not begun is given back, what runs as said above, then the tracker is
 * told. Call _step until _is_over. A later call may make it leave sooner, not later. */
void hone_daemon_stop(hone_daemon *daemon, hone_daemon_haste haste);
bool hone_daemon_is_over(const hone_daemon *daemon);

hone_daemon_stats hone_daemon_get_stats(const hone_daemon *daemon);

/* Steps and waits until it is over. `stop_fd` (a signalfd, or a pipe of bytes; -1: none): what it
 * gives calls for _stop, to drain when it is the signal `drain_signal` (0: none is), and with
 * NOW when that was called for before. */
HONE_NODISCARD hone_status hone_daemon_run(hone_daemon *daemon, int stop_fd, int drain_signal);

#endif
