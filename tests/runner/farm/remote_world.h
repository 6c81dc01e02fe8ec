/* tests/runner/farm/remote_world.h - a remote runner beside a tracker that the test plays, in
 * virtual time: what every test of it begins with. */
#ifndef HONE_TESTS_RUNNER_FARM_REMOTE_WORLD_H
#define HONE_TESTS_RUNNER_FARM_REMOTE_WORLD_H

#include "measure/wire.h"
#include "runner/farm/runner_remote.h"
#include "support/data/vec.h"
#include "tests/support/hone_test.h"
#include "tests/support/simnet.h"

#define REMOTE_ADDRESS "tcp://127.0.0.1:9190"
#define REMOTE_MS HONE_NS_PER_MS
#define REMOTE_HEARTBEAT_NS (1000 * REMOTE_MS)
#define REMOTE_EXPIRY_NS (3000 * REMOTE_MS)
#define REMOTE_CHUNK_BYTES 1024

enum { REMOTE_MAX_DEVICES = 4, REMOTE_FILE_BYTES = 5000 };

typedef struct remote_world {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_net *server;
    hone_runner *runner;
    hone_net_peer peer; /* 0: not connected */
    hone_arena *arena;  /* of what was heard */
    HONE_VEC(hone_farm_message) heard;
    HONE_VEC(uint8_t *) frames;
    char *dir, *artifact, *bundle;
    /* what the tracker does by itself */
    bool is_mute; /* answers no SUBMIT */
    uint32_t devices;
    uint64_t device_number;
    const char *targets[REMOTE_MAX_DEVICES];
    const char *fitting; /* candidates run on devices of this target alone; NULL = on all */
    hone_farm_instance instance;
} remote_world;

/* The tracker speaks. */
void remote_tell(remote_world *w, const hone_farm_message *message);
/* It lists its devices; to: the question, or NULL. */
void remote_tell_devices(remote_world *w, const hone_farm_message *to);
/* It has so many devices now, of which its next PONG tells. */
void remote_change_devices(remote_world *w, uint32_t count);
/* Tells the outcome of a trial: three samples of this time. */
void remote_tell_outcome(remote_world *w, hone_ticket ticket, double median_ns);
void remote_start_tracker(remote_world *w);
void remote_stop_tracker(remote_world *w);

/* Lets time pass, both sides doing what there is to do. Returns what the runner said last. */
hone_code remote_run_for(remote_world *w, int64_t duration_ns);
/* What the tracker has heard: none of it any more, how many of a kind, the last of a kind. */
void remote_forget(remote_world *w);
int remote_count_of(const remote_world *w, hone_farm_kind kind);
const hone_farm_message *remote_last_of(const remote_world *w, hone_farm_kind kind);

/* Opens a world with one device. */
void remote_open(remote_world *w);
/* Opens one with the members that are set already: devices, targets, fitting. */
void remote_open_with(remote_world *w, bool stops_without_devices);
void remote_close(remote_world *w);

/* Submits a trial; device NULL: to any. */
hone_ticket remote_submit(remote_world *w, const char *device);
/* Takes a result that is there; 0 = there is none. */
hone_ticket remote_take(remote_world *w, hone_run_result *out);

#endif
