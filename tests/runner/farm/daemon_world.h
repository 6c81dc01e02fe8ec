/* tests/runner/farm/daemon_world.h - a daemon, its runners and cache beside a tracker that the test
 * plays, in virtual time: what every test of the daemon begins with. */
#ifndef HONE_TESTS_RUNNER_FARM_DAEMON_WORLD_H
#define HONE_TESTS_RUNNER_FARM_DAEMON_WORLD_H

#include "runner/farm/daemon.h"
#include "support/data/vec.h"
#include "tests/support/hone_test.h"
#include "tests/support/simnet.h"

#define WORLD_ADDRESS "tcp://tracker:9190"
#define WORLD_MS HONE_NS_PER_MS
#define WORLD_HEARTBEAT_NS (1000 * WORLD_MS)
#define WORLD_EXPIRY_NS (3000 * WORLD_MS)
#define WORLD_CHUNK_BYTES 1024

enum { WORLD_SLOTS = 2, WORLD_MAX_FILE = 8192 };

typedef struct daemon_file {
    hone_farm_blob blob;
    uint8_t content[WORLD_MAX_FILE];
} daemon_file;

typedef struct daemon_world {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_net *server, *client;
    hone_key_pair server_keys, client_keys;
    hone_runner *runners[WORLD_SLOTS];
    char *dir;
    hone_blob_cache *cache;
    hone_daemon *daemon;
    hone_daemon_self_test self_test; /* of daemons made from now on */
    int64_t idle_ns;                 /* likewise */
    hone_status end;                 /* what _step said at last */
    hone_net_peer peer;
    hone_arena *arena; /* of what was heard */
    HONE_VEC(hone_farm_message) heard;
    /* what the tracker does by itself */
    bool is_mute, has_files, acks;
    daemon_file files[4];
    size_t file_count;
} daemon_world;

extern const hone_farm_instance world_tuner, world_tracker;

typedef struct daemon_assignment {
    uint64_t token, trial;
    uint32_t slot;
    const char *target; /* NULL: not known */
    bool has_files;     /* all that were offered */
} daemon_assignment;

/* The tracker speaks. */
void world_tell(daemon_world *f, const hone_farm_message *message);
void world_tell_lease(daemon_world *f, hone_farm_kind kind, uint64_t token, uint64_t trial);
/* It greets, and takes the daemon in. */
void world_welcome(daemon_world *f);
/* Time goes by; what the daemon says is collected in heard. */
void world_run_for(daemon_world *f, int64_t ns);
size_t world_count_heard(const daemon_world *f, hone_farm_kind kind);
/* The last one of its kind; there must be one. */
const hone_farm_message *world_last(const daemon_world *f, hone_farm_kind kind);
void world_forget_heard(daemon_world *f);
/* Anew, after an end. */
void world_create_daemon(daemon_world *f);
void world_connect(daemon_world *f);
int world_set_up(void **state);
int world_tear_down(void **state);
/* A file that the tracker has. */
const hone_farm_blob *world_offer(daemon_world *f, hone_farm_blob_role role, uint8_t seed,
                                  size_t bytes);
void world_assign(daemon_world *f, daemon_assignment a);
hone_run_result world_result_of(const hone_farm_message *m);
void world_expect_failure(const daemon_world *f, hone_failure failure, const char *part);
/* Results that wait for the tracker. */
size_t world_held(const daemon_world *f);

#endif
