/* runner/farm/remote_impl.h - what the files of the remote runner share. */
#ifndef HONE_RUNNER_FARM_REMOTE_IMPL_H
#define HONE_RUNNER_FARM_REMOTE_IMPL_H

#include "runner/farm/farm_link.h"
#include "runner/runner_impl.h"
#include "support/data/vec.h"

enum { REMOTE_KNOWN_HASHES = 8, REMOTE_MAX_FILES = HONE_FARM_BLOB_ROLE_COUNT };

/* What a trial needs, as the tracker asks for it: a file, or bytes of the request. */
typedef struct remote_file {
    hone_farm_blob blob;
    const char *path; /* NULL: */
    const uint8_t *data;
} remote_file;

/*  SUBMITTED ──ACCEPTED──► WAITED_FOR ──OUTCOME──► DONE ──next_result──► (forgotten)
 *      └──────────────────────OUTCOME──────────────►┘        a reconnect: SUBMITTED again  */
typedef enum remote_state {
    REMOTE_SUBMITTED, /* repeated until the tracker has it */
    REMOTE_WAITED_FOR,
    REMOTE_DONE,
} remote_state;

/* Made by submit with room for its result. */
typedef struct remote_trial {
    struct remote_trial *next;
    hone_ticket ticket; /* also its number at the tracker */
    remote_state state;
    hone_arena *arena; /* of files and device */
    hone_str request;  /* encoded */
    const char *device;
    int64_t timeout_ns;
    bool wants_time;
    remote_file files[REMOTE_MAX_FILES];
    size_t file_count;
    farm_repeat repeat;
    int64_t submitted_ns;
    hone_run_result result;
} remote_trial;

/* A trial that was answered as cancelled; the tracker is told until it knows. */
typedef struct remote_cancel {
    hone_ticket ticket;
    farm_repeat repeat;
} remote_cancel;

/* Files that many trials share (check bundles) are hashed once. */
typedef struct remote_known_hash {
    char *path; /* owned; NULL = free */
    int64_t bytes, modified_ns, inode;
    hone_farm_hash hash;
} remote_known_hash;

typedef struct runner_remote {
    hone_runner base;
    farm_link link; /* its network is owned */
    bool was_welcome;
    char trouble[HONE_FARM_NOTE_BYTES];    /* why there is no connection, or it was given up */
    char device_key[HONE_FARM_NAME_BYTES]; /* "" = not chosen yet */
    char other_key[HONE_FARM_NAME_BYTES];  /* that there is as well, while none is chosen */
    bool waits_for_devices;
    int64_t patience_ns;

    uint64_t device_number; /* of the list below; 0 = none yet */
    farm_repeat ask_devices;
    uint32_t device_count; /* that take trials */
    bool has_devices;      /* a list was seen */
    bool had_device;
    int64_t none_since_ns; /* since when no device is to be had; NEVER = there is one */
    hone_status (*check_target)(const void *ctx, const char *target);
    const void *ctx;
    char target[HONE_FARM_TARGET_BYTES]; /* of the devices that are used; "" = not chosen yet */
    char misfit[HONE_FARM_NOTE_BYTES];   /* why no device will do; "" = none was looked at */
    uint32_t other_count;                /* devices of the key, but of another target */
    char note[HONE_FARM_NAME_BYTES + 64];

    remote_trial *trials; /* in the order of their submission */
    HONE_VEC(remote_cancel) cancels;
    remote_known_hash known[REMOTE_KNOWN_HASHES];
    uint32_t next_known;
    int epoll_fd, timer_fd; /* -1: a simulated network */
} runner_remote;

static inline int64_t remote_now(const runner_remote *r) {
    return farm_link_now(&r->link);
}

static inline bool remote_is_up(const runner_remote *r) {
    return farm_link_is_up(&r->link);
}

/* After one heartbeat, then ever later up to 8 of them. */
static inline void remote_repeat_rang(const runner_remote *r, farm_repeat *repeat) {
    farm_repeat_rang(repeat, remote_now(r), r->link.heartbeat_ns, 8 * r->link.heartbeat_ns);
}

/* ---- remote_link.c ---- */

/* Of a runner_remote. */
extern const farm_link_vtable remote_link_vtable;

/* ---- remote_devices.c ---- */

void remote_on_device_list(runner_remote *r, const hone_farm_device_list *list);
void remote_on_pong(runner_remote *r, const hone_farm_pong *pong);
void remote_devices_restart(runner_remote *r); /* after a reconnect */
void remote_devices_timers(runner_remote *r);
int64_t remote_devices_next_ns(const runner_remote *r);
/* True when no device is to be had for so long that whoever does not wait gives up. */
bool remote_is_abandoned(const runner_remote *r);
const char *remote_note(const hone_runner *base);

/* ---- remote_files.c ---- */

HONE_NODISCARD hone_status remote_add_files(runner_remote *r, const hone_run_request *request,
                                            remote_trial *trial);
void remote_on_blob_want(runner_remote *r, const hone_farm_message *message);
void remote_files_destroy(runner_remote *r);

/* ---- runner_remote.c ---- */

void remote_on_accepted(runner_remote *r, uint64_t number);
void remote_on_outcome(runner_remote *r, const hone_farm_outcome *outcome);
void remote_on_cancelled(runner_remote *r, uint64_t number);
void remote_on_submit_refused(runner_remote *r, const hone_farm_refused *refused);
void remote_submit_again(runner_remote *r); /* after a reconnect */

#endif
