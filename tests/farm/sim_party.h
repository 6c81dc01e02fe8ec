/* tests/farm/sim_party.h - the parties of the farm simulation: each can be started, stepped and
 * killed; only files survive a life.
 */
#ifndef HONE_TESTS_FARM_SIM_PARTY_H
#define HONE_TESTS_FARM_SIM_PARTY_H

#include "farm/tracker.h"
#include "runner/farm/daemon.h"
#include "runner/farm/runner_remote.h"
#include "tests/farm/sim_device.h"
#include "tests/farm/sim_watch.h"
#include "tests/support/simnet.h"

#define SIM_ADDRESS "tcp://tracker:9190"

enum { SIM_MAX_RUNNERS = 4, SIM_MAX_TUNERS = 2, SIM_MAX_SLOTS = 2 };

/* What all of them share. */
typedef struct sim_world {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_rng rng;
    const char *dir;
    const hone_log *log; /* NULL: silence */
    hone_key tracker_key;
    sim_device_counts counts;
    sim_watch watch;
    uint64_t instances; /* given out so far */
    bool has_faults;    /* something in this run explains lost trials */
    hone_str why;       /* what went wrong; "" nothing */
} sim_world;

/* Writes down what went wrong; the first one counts. */
void sim_wrong(sim_world *w, const char *format, ...) HONE_PRINTF(2, 3);
/* sim_wrong for a failure, which it takes; HONE_OK is fine. */
void sim_check(sim_world *w, hone_status st, const char *what);
hone_farm_instance sim_instance(sim_world *w);
int64_t sim_now(const sim_world *w);
/* "DIR/name number"; the caller's (hone_free). */
char *sim_path(const sim_world *w, const char *name, unsigned number);

/* ---- the tracker ---- */

typedef struct sim_tracker {
    sim_world *w;
    hone_key_pair keys;
    bool has_store;
    hone_net *net;
    hone_farm_store *store;
    hone_tracker *tracker; /* NULL: it is down */
    uint32_t life;
} sim_tracker;

void sim_tracker_start(sim_tracker *t);
void sim_tracker_kill(sim_tracker *t);

/* ---- a runner ---- */

typedef struct sim_runner {
    sim_world *w;
    uint32_t number, life;
    size_t slot_count;
    const char *device_key;
    hone_key_pair keys;
    hone_net *net;
    hone_blob_cache *cache;
    hone_runner *devices[SIM_MAX_SLOTS];
    hone_daemon *daemon; /* NULL: it is down */
} sim_runner;

void sim_runner_start(sim_runner *r);
void sim_runner_kill(sim_runner *r);
void sim_runner_step(sim_runner *r);
int64_t sim_runner_next_ns(const sim_runner *r);

/* ---- a tuner ---- */

typedef struct sim_trial {
    hone_ticket ticket; /* 0: not submitted */
    uint64_t seed;
    hone_failure failure; /* that its device reports */
    int64_t submit_ns;
    bool is_over, was_cancelled;
} sim_trial;

typedef struct sim_tuner {
    sim_world *w;
    uint32_t number, life;
    const char *device_key;
    hone_key_pair keys;
    hone_net *net;       /* the runner's */
    hone_runner *runner; /* NULL: it is down */
    HONE_VEC(sim_trial) trials;
    size_t submitted, over; /* of this list */
    size_t wanted;          /* it goes on until so many were submitted */
    uint64_t past;          /* submitted in earlier lives */
    uint64_t good, lost, cancelled, abandoned;
} sim_tuner;

void sim_tuner_start(sim_tuner *t);
/* What it had submitted is nobody's any more. */
void sim_tuner_kill(sim_tuner *t);
void sim_tuner_step(sim_tuner *t);
void sim_tuner_finish(sim_tuner *t); /* leaves as a program does at its end */
int64_t sim_tuner_next_ns(const sim_tuner *t);
void sim_tuner_cancel(sim_tuner *t); /* all that is in flight */
bool sim_tuner_is_done(const sim_tuner *t);

#endif
