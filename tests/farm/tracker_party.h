/* tests/farm/tracker_party.h - a tuner and a runner that follow docs/protocol.md, as small as they
 * can be: the second implementation of it, driven by a farm_world.
 */
#ifndef HONE_TESTS_FARM_TRACKER_PARTY_H
#define HONE_TESTS_FARM_TRACKER_PARTY_H

#include "support/data/rng.h"
#include "tests/farm/tracker_world.h"

enum { PARTY_TRIALS = 24, PARTY_SLOTS = 2 };

typedef struct party_tuner {
    farm_peer *peer;
    uint64_t instance;
    const char *device_key;
    int at_once; /* trials submitted and not over */
    struct {
        int state; /* 0 not submitted, 1 submitted, 2 accepted, 3 over */
        int outcomes;
        hone_failure failure;
        int64_t repeat_ns;
    } trials[PARTY_TRIALS];
    int over, lost;
    bool is_welcome;
    int64_t hello_ns, beat_ns, heard_ns;
} party_tuner;

typedef struct party_runner {
    farm_peer *peer;
    uint64_t instance;
    char name[32];
    const char *device_key;
    hone_rng rng;
    struct party_work {
        int state;               /* 0 free, 1 fetching, 2 waiting, 3 running, 4 done */
        hone_farm_assign assign; /* its lists are not kept */
        hone_farm_blob blob;
        bool has_blob, is_cancelled;
        uint64_t order;
        int64_t end_ns, repeat_ns;
    } work[PARTY_SLOTS * 2 + 4];
    uint64_t tokens[PARTY_SLOTS]; /* the newest on each slot */
    uint64_t orders;
    int runs;
    bool is_welcome;
    int64_t hello_ns, beat_ns, heard_ns;
} party_runner;

/* Takes over storage of the caller, which outlives the world. A start is a new process. */
void party_tuner_start(party_tuner *tuner, farm_world *w, uint64_t instance);
void party_tuner_stop(party_tuner *tuner);
void party_runner_start(party_runner *runner, farm_world *w, uint64_t instance, uint64_t seed);
void party_runner_stop(party_runner *runner);

#endif
