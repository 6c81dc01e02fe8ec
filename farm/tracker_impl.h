/* farm/tracker_impl.h - what the files of the tracker share.
 *
 *   tracker.c          create, step, timers, the box of frames that go out, the table of handlers
 *   tracker_peers.c    connections: HELLO, heartbeats, silence, roles, frames per second
 *   tracker_runners.c  runners and slots: who is there, what they hold, being lost
 *   tracker_trials.c   trials and tuners: submit, outcome, cancel, being gone
 *   tracker_leases.c   who gets a slot next; assign, taken, result, returned, abort
 *   tracker_bench.c    what runners cannot have meant, and slots that get nothing because of that
 *   tracker_silence.c  runners that say nothing while others have nothing to do
 *   tracker_blobs.c    files between tuners and runners
 *   tracker_admin.c    status, devices, drain, kick, keys; metrics
 *   tracker_state.c    what is written to the store and taken up again
 *
 * Who points to whom: a peer to its runner or tuner and back; a runner owns its slots; a slot
 * points to its tuner and trials; a tuner owns its trials and lanes; a lane is the queue of one
 * tuner for one device key, and the lanes with something in it form the ring of their class, in the
 * order of turns. An object that goes clears all that points to it.
 *
 * Handlers answer peers by tracker_send, which only puts frames into the box: the box is emptied
 * after the store has committed.
 */
#ifndef HONE_FARM_TRACKER_IMPL_H
#define HONE_FARM_TRACKER_IMPL_H

#include "farm/tracker.h"
#include "measure/failure.h"
#include "support/core/arena.h"
#include "support/data/map.h"
#include "support/data/vec.h"

enum {
    TRACKER_LEASE_TRIALS = 2, /* one running, one behind it */
    TRACKER_MAX_LANES = 64,   /* device keys of one tuner */
    TRACKER_RECENT = 1024,    /* acknowledged trials that are remembered per tuner */
    TRACKER_MAX_RETURNS = 8,
    TRACKER_BENCH_ERRORS = 3, /* in a row: then a slot is benched */
    TRACKER_WINDOW = 4,       /* chunks under way from a tuner for one file */
    TRACKER_WAITERS = 256,    /* wants of runners that wait for one file */
};

typedef struct tracker_peer tracker_peer;
typedef struct tracker_runner tracker_runner;
typedef struct tracker_slot tracker_slot;
typedef struct tracker_tuner tracker_tuner;
typedef struct tracker_trial tracker_trial;
typedef struct tracker_lane tracker_lane;
typedef struct tracker_class tracker_class;
typedef struct tracker_blob tracker_blob;

/* When something is said again: pauses double up to a heartbeat. */
typedef struct tracker_repeat {
    int64_t next_ns, pause_ns;
} tracker_repeat;

struct tracker_peer {
    hone_net_peer net;
    hone_key key;
    char address[64];
    hone_farm_role role; /* by HELLO, when it said so */
    bool is_welcome;
    tracker_runner *runner; /* at most one of the two */
    tracker_tuner *tuner;
    int64_t heard_ns;
    int64_t probed_ns; /* when it was asked for a sign of life; 0: there was one since */
    int64_t frames_ns; /* its budget of frames, as time: see tracker_peers.c */
    bool wants_devices;
    char device_key[HONE_FARM_NAME_BYTES];
    uint64_t devices_sent; /* number of the list it was sent last */
};

struct tracker_slot {
    tracker_runner *runner;
    hone_farm_slot info;
    tracker_class *class;
    bool is_draining;
    /* the lease; a slot without trials has none */
    uint64_t token;
    tracker_tuner *tuner;
    tracker_trial *trials[TRACKER_LEASE_TRIALS]; /* in the order of assignment */
    size_t trial_count;
    int64_t lease_ns; /* when it began */
    int64_t hold_ns;  /* nothing is given before: it has just returned something */
    uint32_t errors;  /* in a row, of its own; while there are some it gets one trial at a time */
    int64_t bench_ns; /* benched until then; 0: not by the tracker */
    bool is_benched;  /* by its runner's word */
    char trouble[HONE_FARM_REASON_BYTES]; /* why, while it is benched */
    /* taken away from it, not answered yet: until then the slot is stuck */
    hone_farm_lease evicted[TRACKER_LEASE_TRIALS];
    size_t evicted_count;
    tracker_repeat evicted_repeat;
    uint64_t closed_token; /* a lease that something was taken from, or that an earlier tracker
                            * gave: nothing joins it any more */
    uint64_t done, failed, lost, erred;
    int64_t busy_ns, busy_since_ns;
};

struct tracker_runner {
    char name[HONE_FARM_NAME_BYTES], software[HONE_FARM_NAME_BYTES];
    hone_farm_instance instance;
    hone_key key;
    tracker_peer *peer;         /* NULL: not connected */
    int64_t since_ns, heard_ns; /* since when it is there; its last sign of life */
    bool is_known;              /* false: only the store has told of it */
    size_t slot_count;
    tracker_slot *slots; /* owned */
};

struct tracker_lane {
    tracker_tuner *tuner;
    tracker_class *class;
    char device[HONE_FARM_NAME_BYTES + 8]; /* "runner/slot": for that one alone; "" = any */
    char target[HONE_FARM_TARGET_BYTES];   /* of its devices; "" = any */
    tracker_trial *head, *tail;
    size_t count;
    tracker_lane *prev, *next; /* in the ring of the class, when count > 0 */
};

struct tracker_class {
    char key[HONE_FARM_NAME_BYTES];
    HONE_VEC(tracker_slot *) slots;
    tracker_lane *first, *last; /* lanes with trials; the first one's turn is next */
    size_t lanes;               /* all of them: the class lives while there are lanes or slots */
};

struct tracker_trial {
    tracker_tuner *tuner;
    uint64_t number;
    bool is_submitted; /* false: only its runner has told of it: members below are not set */
    tracker_lane *lane;
    uint8_t *request; /* owned */
    size_t request_count;
    hone_farm_blob blobs[HONE_FARM_MAX_BLOBS];
    tracker_blob *files[HONE_FARM_MAX_BLOBS];
    size_t blob_count;
    int64_t timeout_ns;
    bool wants_time;
    uint64_t wants_before; /* how many wants had gone out to tuners when it was submitted */

    hone_farm_trial_state state;
    uint32_t losses, returns;
    bool is_cancelled;
    bool was_moved; /* once, from a runner that said nothing to one that had nothing to do */
    bool is_shy;    /* where it was last (`runner`, `slot_number`) erred: rather elsewhere */
    tracker_trial *prev, *next; /* in its lane (WAITING), else in the tracker's list of others */
    int64_t waiting_ns;         /* since when */
    uint64_t token;             /* of its lease, or of the last one that it had */
    /* ASSIGNED */
    tracker_slot *slot;
    bool is_taken;
    int64_t deadline_ns;
    tracker_repeat repeat; /* of ASSIGN or ABORT; DONE: of OUTCOME */
    /* DONE */
    uint8_t *result; /* owned */
    size_t result_count;
    char runner[HONE_FARM_NAME_BYTES];
    uint32_t slot_number;
    int64_t queue_ns;
};

struct tracker_tuner {
    hone_farm_instance instance;
    char name[HONE_FARM_NAME_BYTES];
    hone_key key;
    bool is_known;      /* false: only a runner has told of it, its key is not known */
    tracker_peer *peer; /* NULL: not connected */
    int64_t gone_ns, heard_ns;
    hone_u64map trials; /* number → tracker_trial *, owned */
    HONE_VEC(tracker_lane *) lanes;
    uint64_t recent[TRACKER_RECENT]; /* a ring of acknowledged numbers */
    uint64_t recent_count;
    uint64_t waiting, running, done;
    int64_t device_ns;
    int64_t result_bytes; /* that it has not acknowledged */
};

typedef struct tracker_waiter {
    hone_net_peer net;
    uint64_t id;
    int64_t offset;
    uint32_t count;
} tracker_waiter;

typedef struct tracker_want {
    bool is_open;
    int64_t offset;
    tracker_repeat repeat;
} tracker_want;

struct tracker_blob {
    hone_farm_hash hash;
    int64_t bytes;
    size_t refs;   /* of trials */
    uint8_t *data; /* owned; NULL: not here */
    bool is_ready; /* all of it is, and it is what its name says */
    bool is_wanted;
    int64_t used_ns;
    tracker_tuner *source; /* who is asked; NULL: nobody now */
    int64_t asked;         /* offset of the first chunk that was not asked for yet */
    int64_t received;      /* bytes */
    tracker_want wants[TRACKER_WINDOW];
    HONE_VEC(tracker_waiter) waiters;
};

typedef struct tracker_frame {
    hone_net_peer net;
    size_t at, count; /* in box_bytes; count 0: the connection is to be closed */
} tracker_frame;

struct hone_tracker {
    hone_tracker_options o; /* with defaults filled in */
    const hone_clock *clock;
    int64_t now_ns, started_ns, wake_ns;
    unsigned untimed_steps; /* since there were no more events than a step takes */
    uint64_t next_token, stored_token, first_token;
    hone_u64map peers;                   /* number of the connection → tracker_peer *, owned */
    hone_map128 runners;                 /* instance → tracker_runner *, owned */
    hone_map128 tuners;                  /* instance → tracker_tuner *, owned */
    hone_map128 blobs;                   /* first half of the hash → tracker_blob *, owned */
    hone_strmap drained;                 /* "runner/slot" */
    HONE_VEC(tracker_class *) classes;   /* owned */
    tracker_trial *active, *active_last; /* assigned and done trials */
    uint64_t blob_wants;                 /* to tuners; the id of the last one */
    uint64_t devices, devices_told; /* number of the device list; of the last that was sent round */
    hone_arena *arena;              /* for the frame at hand */
    hone_str box_bytes;             /* frames that go out */
    HONE_VEC(tracker_frame) box;
    hone_str scratch;
    int64_t log_window_ns; /* lines about bad peers are counted per second */
    int32_t log_lines, log_dropped;
    hone_tracker_stats stats;
};

typedef hone_status (*tracker_handler)(hone_tracker *t, tracker_peer *peer,
                                       const hone_farm_message *m);

/* ---- tracker.c ---- */
void tracker_send(hone_tracker *t, hone_net_peer net, const hone_farm_message *m);
/* Ends a connection, behind what was sent to it. */
void tracker_close(hone_tracker *t, hone_net_peer net);
/* Answers `m` with kind and id. */
hone_farm_message tracker_answer(const hone_farm_message *m, hone_farm_kind kind);
void tracker_refuse(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                    hone_farm_refusal code, const char *format, ...) HONE_PRINTF(5, 6);
/* Lets step look at its timers at `at_ns` at the latest. */
void tracker_wake_at(hone_tracker *t, int64_t at_ns);
void tracker_repeat_start(hone_tracker *t, tracker_repeat *r); /* said now for the first time */
void tracker_repeat_now(hone_tracker *t, tracker_repeat *r);   /* due at once */
/* True when it is due; then the next time is set. */
bool tracker_repeat_due(hone_tracker *t, tracker_repeat *r);
/* A line about a peer that misbehaves: at most 20 in a second. */
void tracker_log_odd(hone_tracker *t, const char *format, ...) HONE_PRINTF(2, 3);

/* ---- tracker_peers.c ---- */
hone_status tracker_peer_opened(hone_tracker *t, const hone_net_event *event);
hone_status tracker_peer_closed(hone_tracker *t, hone_net_peer net);
tracker_peer *tracker_find_peer(const hone_tracker *t, hone_net_peer net);
/* False: it has sent too much, the frame is to be dropped. */
bool tracker_peer_may_send(hone_tracker *t, tracker_peer *peer);
hone_status tracker_on_hello(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_ping(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_bye(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
void tracker_welcome(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
/* Ends the connection; what hangs on it is as after CLOSED. */
void tracker_drop_peer(hone_tracker *t, tracker_peer *peer);
void tracker_peer_timers(hone_tracker *t);
/* What the key may be; false when it is not allowed (any more). */
bool tracker_key_role(const hone_tracker *t, const hone_key *key, hone_farm_role *out_role);

/* ---- tracker_runners.c ---- */
hone_status tracker_runner_hello(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
/* Its trials are handed out again; `is_loss`: that counts. The object is gone afterwards. */
hone_status tracker_remove_runner(hone_tracker *t, tracker_runner *runner, bool is_loss);
tracker_runner *tracker_make_runner(hone_tracker *t, hone_farm_instance instance, const char *name);
tracker_slot *tracker_runner_slot(const tracker_runner *runner, uint32_t number);
hone_status tracker_runner_timers(hone_tracker *t);
tracker_class *tracker_get_class(hone_tracker *t, const char *key); /* NULL: no memory */
void tracker_class_release(hone_tracker *t, tracker_class *class);  /* if nobody uses it */

/* ---- tracker_trials.c ---- */
hone_status tracker_tuner_hello(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
tracker_tuner *tracker_find_tuner(const hone_tracker *t, hone_farm_instance instance);
tracker_tuner *tracker_make_tuner(hone_tracker *t, hone_farm_instance instance);
hone_status tracker_remove_tuner(hone_tracker *t, tracker_tuner *tuner, const char *why);
tracker_trial *tracker_find_trial(const hone_tracker *t, hone_farm_instance tuner, uint64_t number);
tracker_trial *tracker_make_trial(hone_tracker *t, tracker_tuner *tuner, uint64_t number);
/* Takes over what a SUBMIT says. NO_MEMORY leaves the trial as it was. */
hone_status tracker_fill_trial(hone_tracker *t, tracker_trial *trial, const hone_farm_submit *m);
void tracker_free_trial(hone_tracker *t,
                        tracker_trial *trial); /* from memory, not from the store */
/* Puts a trial that is in no list into its lane, in front or behind. */
void tracker_enqueue(hone_tracker *t, tracker_trial *trial, bool in_front);
void tracker_dequeue(hone_tracker *t, tracker_trial *trial);
void tracker_activate(hone_tracker *t, tracker_trial *trial);
/* The trial ends with these bytes, which are copied; it is in the active list or in none. */
hone_status tracker_finish(hone_tracker *t, tracker_trial *trial, hone_farm_bytes result);
/* The trial ends without a runner's word. */
hone_status tracker_finish_failed(hone_tracker *t, tracker_trial *trial, hone_failure failure,
                                  const char *format, ...) HONE_PRINTF(4, 5);
hone_status tracker_on_submit(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_outcome_ack(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_cancel(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_tuner_timers(hone_tracker *t);

/* ---- tracker_leases.c ---- */
hone_status tracker_schedule(hone_tracker *t);
/* Takes an assigned trial off its slot (it is then in no list). `evict`: the runner may still have
 * it and must say that it has let go before the slot gets anything else. */
void tracker_take_off(hone_tracker *t, tracker_trial *trial, bool evict);
/* The runner is told to let go of a trial, again and again; until it has, the slot gets nothing. */
void tracker_evict(hone_tracker *t, tracker_slot *slot, const hone_farm_lease *lease);
/* Puts a trial that is in no list on a slot. */
/* Whether the trials of a lane may run there. */
bool tracker_is_for(const tracker_lane *lane, const tracker_slot *slot);
bool tracker_is_free_for_more(const hone_tracker *t, const tracker_slot *slot);
void tracker_put_on(hone_tracker *t, tracker_trial *trial, tracker_slot *slot, uint64_t token);
/* The trial, taken off its slot, was lost with it: once more, or device_lost. */
hone_status tracker_lose(hone_tracker *t, tracker_trial *trial, const char *why);
/* tracker_lose without counting. */
hone_status tracker_requeue(hone_tracker *t, tracker_trial *trial);
void tracker_send_abort(hone_tracker *t, tracker_peer *peer, const hone_farm_lease *lease);
hone_status tracker_on_taken(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_result(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_returned(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_lease_timers(hone_tracker *t);

/* ---- tracker_bench.c ---- */
/* What is wrong with a result, other than the candidate; NULL: nothing, and *out_failure is its
 * outcome. NO_MEMORY. `room`, of HONE_FARM_NOTE_BYTES, may hold the text. */
hone_status tracker_judge(const tracker_trial *trial, hone_farm_bytes bytes, char *room,
                          const char **out_problem, hone_failure *out_failure);
/* The slot could not do its part: it gets nothing for a while, the longer the more often. */
void tracker_slot_erred(hone_tracker *t, tracker_slot *slot, const char *why);
void tracker_slot_works(hone_tracker *t,
                        tracker_slot *slot); /* it gave a result that may be true */
bool tracker_is_benched(const tracker_slot *slot);
/* What a runner says of its slots: those in the list are benched, all others are not. */
void tracker_note_benched(hone_tracker *t, tracker_runner *runner, const hone_farm_benches *list);
void tracker_bench_timers(hone_tracker *t);

/* ---- tracker_silence.c ---- */
/* What a silent runner has, others that have nothing to do get. */
hone_status tracker_silence_timers(hone_tracker *t);
/* It was asked for a sign of life and has given none. */
bool tracker_is_silent(const hone_tracker *t, const tracker_runner *runner);
/* A runner is lost: what was moved away from this slot before counts that. */
void tracker_count_moved(hone_tracker *t, const tracker_slot *slot);

/* ---- tracker_blobs.c ---- */
/* The file of that name, with one more reference. NULL: no memory, or it has another size. */
tracker_blob *tracker_hold_blob(hone_tracker *t, const hone_farm_blob *blob);
void tracker_release_blob(hone_tracker *t, tracker_blob *blob);
/* Fetches it now if there is room for it, so that it is here when a runner wants it. */
void tracker_prefetch(hone_tracker *t, tracker_blob *blob);
/* `tuner` is not connected any more: its files are asked for elsewhere. */
void tracker_blobs_forget_tuner(hone_tracker *t, const tracker_tuner *tuner);
hone_status tracker_on_blob_want(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_blob_chunk(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_blob_missing(hone_tracker *t, tracker_peer *peer,
                                    const hone_farm_message *m);
void tracker_blob_timers(hone_tracker *t);
void tracker_free_blobs(hone_tracker *t);

/* ---- tracker_admin.c ---- */
hone_status tracker_on_status(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_devices(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_drain(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_kick(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_allow(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_revoke(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
hone_status tracker_on_keys(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m);
/* Tells who asked about devices that something has changed. */
void tracker_tell_devices(hone_tracker *t);
void tracker_slot_name(const tracker_slot *slot, char *out, size_t capacity); /* "runner/slot" */

/* ---- tracker_state.c ---- (each does nothing without a store) */
hone_status tracker_restore(hone_tracker *t);
hone_status tracker_store_tuner(hone_tracker *t, const tracker_tuner *tuner);
hone_status tracker_store_new_trial(hone_tracker *t, const tracker_trial *trial);
hone_status tracker_store_trial(hone_tracker *t, const tracker_trial *trial);
hone_status tracker_unstore_trial(hone_tracker *t, const tracker_trial *trial);
hone_status tracker_unstore_tuner(hone_tracker *t, const tracker_tuner *tuner);
/* A token that was never given out. */
hone_status tracker_new_token(hone_tracker *t, uint64_t *out_token);

#endif
