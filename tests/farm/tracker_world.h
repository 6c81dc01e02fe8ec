/* tests/farm/tracker_world.h - a tracker and peers of one's own in a simulated network.
 *
 * A peer is a client that sends and receives messages of measure/farm.h and knows nothing of the
 * protocol: tests say what it sends. Time is virtual: farm_run lets it pass.
 */
#ifndef HONE_TESTS_FARM_TRACKER_WORLD_H
#define HONE_TESTS_FARM_TRACKER_WORLD_H

#include "farm/tracker.h"
#include "measure/failure.h"
#include "support/data/vec.h"
#include "support/os/clock.h"
#include "tests/support/simnet.h"

#define FARM_HEARTBEAT_NS HONE_NS_PER_S
#define FARM_EXPIRY_NS (3 * HONE_NS_PER_S)

typedef struct farm_peer farm_peer;

typedef struct farm_world {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_net *server;
    hone_tracker *tracker;
    hone_farm_store *store;   /* of the test: closed and opened with the tracker when store_path */
    const char *store_path;   /* NULL: none */
    hone_allow_list *allowed; /* NULL: insecure */
    hone_key_pair keys;       /* of the tracker */
    hone_tracker_options options;
    HONE_VEC(farm_peer *) peers;
    uint64_t restarts;
} farm_world;

struct farm_peer {
    farm_world *world;
    hone_net *net;
    hone_net_peer link; /* 0: not connected */
    bool beats;         /* sends a PING each heartbeat by itself, and hides the PONG */
    int64_t beat_ns;
    hone_net_reason failed;
    int failures;
    HONE_VEC(hone_farm_message) inbox; /* not looked at yet */
    hone_arena *arena;                 /* what they point to; lives as long as the peer */
    HONE_VEC(uint8_t *) frames;        /* owned */
    /* For parties that answer by themselves: called for each message instead of the inbox. */
    void (*on_message)(farm_peer *peer, const hone_farm_message *m);
    void (*on_time)(farm_peer *peer); /* after each step of time */
    int64_t (*next_ns)(const farm_peer *peer);
    void *party;
};

/* Without faults; options (NULL: none) give what the tracker's defaults are not to be. */
void farm_world_init(farm_world *w, uint64_t seed, const hone_tracker_options *options);
/* farm_world_init with an allow-list in `dir` and, if wanted, state in a file. */
void farm_world_init_keys(farm_world *w, const char *dir, const char *store_path);
void farm_world_deinit(farm_world *w);

void farm_tracker_start(farm_world *w);
void farm_tracker_stop(farm_world *w); /* as if killed: nothing is said to anybody */
void farm_tracker_restart(farm_world *w);

farm_peer *farm_connect(farm_world *w, const hone_key_pair *keys); /* NULL: a pair of its own */
void farm_disconnect(farm_peer *peer);                             /* and gone */

void farm_send(farm_peer *peer, const hone_farm_message *m);
void farm_send_bytes(farm_peer *peer, const void *bytes, size_t count);

/* Lets time pass, everybody doing what there is to do. */
void farm_run(farm_world *w, int64_t duration_ns);
/* The next message of that kind, others before it are dropped; waits for up to a minute, then the
 * test fails. */
hone_farm_message farm_expect(farm_peer *peer, hone_farm_kind kind);
/* Nothing of that kind comes for so long. */
void farm_expect_none(farm_peer *peer, hone_farm_kind kind, int64_t duration_ns);
hone_farm_message farm_expect_refused(farm_peer *peer, hone_farm_refusal code, const char *text);

/* ---- messages as tests need them ---- */
hone_farm_instance farm_instance(uint64_t number);
hone_farm_message farm_hello_tuner(uint64_t instance, const char *name);
/* `slots` slots of one device key. The lists are static: one call at a time. */
hone_farm_message farm_hello_runner(uint64_t instance, const char *name, const char *device_key,
                                    uint32_t slots);
hone_farm_message farm_submit(uint64_t trial, const char *device_key);
/* A good result, static. */
hone_farm_message farm_result(const hone_farm_assign *assign, double median_ns);
hone_farm_message farm_lease(hone_farm_kind kind, const hone_farm_assign *assign);
hone_farm_message farm_plain(hone_farm_kind kind);
double farm_outcome_median(const hone_farm_outcome *outcome, hone_failure *out_failure);

/* Connected, said hello and welcome. */
farm_peer *farm_tuner(farm_world *w, uint64_t instance, const char *name);
farm_peer *farm_runner(farm_world *w, uint64_t instance, const char *name, const char *device_key,
                       uint32_t slots);

/* ---- what tests do all the time ---- */
void farm_do_submit(farm_peer *tuner, uint64_t trial, const char *device_key); /* and is accepted */
hone_farm_assign farm_take(farm_peer *runner);                                 /* ASSIGN, TAKEN */
/* RESULT, RESULT_ACK */
void farm_answer(farm_peer *runner, const hone_farm_assign *assign, double median_ns);
void farm_acknowledge(farm_peer *tuner, uint64_t trial);
/* The next outcome is of that trial and that failure; it is acknowledged. */
hone_farm_outcome farm_expect_outcome(farm_peer *tuner, uint64_t trial, hone_failure failure);

#endif
