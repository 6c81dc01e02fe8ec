/* runner/farm/daemon_impl.h - what the files daemon*.c share. */
#ifndef HONE_RUNNER_FARM_DAEMON_IMPL_H
#define HONE_RUNNER_FARM_DAEMON_IMPL_H

#include "runner/farm/daemon.h"
#include "runner/farm/farm_link.h"

enum {
    DAEMON_TRIALS_PER_SLOT = 4, /* a lease covers two; the rest is for a tracker that restarts */
    DAEMON_FINISHED = 128,      /* trials that are remembered, so that a late ASSIGN is known */
    DAEMON_WINDOW = 4,          /* chunks asked for and not here yet, of one file */
    DAEMON_FETCHES = 2,         /* files that are asked for at the same time */
};

/*  FETCHING ─► READY ─► RUNNING ─► DONE ──RESULT_ACK─► (forgotten)
 *      └──────────┴─────────┴────► RETURNED ──┘                       */
typedef enum daemon_state {
    TRIAL_FETCHING,
    TRIAL_READY,
    TRIAL_RUNNING,
    TRIAL_DONE,     /* `result` is repeated until the tracker has it */
    TRIAL_RETURNED, /* `why` is */
} daemon_state;

typedef struct daemon_trial {
    struct daemon_trial *next;
    hone_farm_lease lease;
    uint32_t slot;
    daemon_state state;
    bool is_aborted;   /* its result is of no interest: it is returned instead */
    hone_arena *arena; /* of the request */
    hone_run_request request;
    size_t blob_count;
    hone_farm_blob blobs[HONE_FARM_MAX_BLOBS];
    bool is_pinned[HONE_FARM_MAX_BLOBS];
    int64_t assigned_ns, transfer_ns;
    hone_ticket ticket;
    hone_str result; /* encoded hone_run_result */
    char why[HONE_FARM_NOTE_BYTES];
    uint64_t message_id; /* of RESULT and RETURNED */
    bool is_refused;     /* the result was replaced by one that says so */
    farm_repeat repeat;
} daemon_trial;

typedef struct daemon_chunk {
    int64_t offset; /* -1: free */
    uint32_t count;
    farm_repeat repeat;
} daemon_chunk;

typedef struct daemon_fetch {
    struct daemon_fetch *next;
    hone_blob_draft draft;
    bool was_damaged; /* it arrived once and was not what its hash says */
    int64_t asked, received;
    daemon_chunk window[DAEMON_WINDOW];
} daemon_fetch;

/* Of a slot: daemon_health.c. */
typedef struct daemon_health {
    bool is_untested, is_benched;
    char why[HONE_FARM_REASON_BYTES]; /* it is benched */
    hone_ticket ticket;               /* of the test that runs; 0: none does */
    int64_t test_ns;                  /* when the next one is due */
    int64_t pause_ns;                 /* before it, when it was benched last */
    uint32_t failures, faults;        /* of candidates, of the machine, in a row */
} daemon_health;

struct hone_daemon {
    farm_link link;
    hone_blob_cache *cache;
    const hone_log *log;
    hone_daemon_slot slots[HONE_FARM_MAX_SLOTS];
    size_t slot_count;
    uint64_t lease_floor[HONE_FARM_MAX_SLOTS]; /* the newest token of each slot: older are stale */
    hone_farm_instance tracker;
    int64_t refusal_log_ns; /* when what the tracker refuses for now may be logged again */
    bool is_away_noted;     /* waiting trials were forgotten since the last connection */

    hone_daemon_self_test self_test;
    daemon_health health[HONE_FARM_MAX_SLOTS];

    bool is_stopping, is_over;
    hone_daemon_haste haste; /* of the stop */
    int64_t stop_ns;         /* until then trials may run; NEVER: as long as they take */
    hone_daemon_watcher watcher;
    bool was_connected; /* when it was told last */
    int64_t watch_ns;   /* when it is told next */
    int64_t idle_ns;    /* options.idle_ns */
    int64_t busy_ns;    /* when it had a trial last */

    daemon_trial *trials; /* in order of assignment */
    daemon_fetch *fetches;
    hone_farm_lease finished[DAEMON_FINISHED];
    size_t finished_count; /* so far: a ring */
    hone_daemon_stats stats;
};

static inline int64_t daemon_now(const hone_daemon *d) {
    return farm_link_now(&d->link);
}

/* daemon_trial.c */
void daemon_on_assign(hone_daemon *d, const hone_farm_assign *assign);
void daemon_on_abort(hone_daemon *d, const hone_farm_lease *lease);
void daemon_on_ack(hone_daemon *d, const hone_farm_lease *lease);
void daemon_on_result_refused(hone_daemon *d, uint64_t message_id, const char *why);
void daemon_list_held(const hone_daemon *d, hone_farm_helds *out_held, hone_farm_held *room);
/* Starts what can start, takes what is done, until nothing changes. */
void daemon_work(hone_daemon *d);
void daemon_send_results(hone_daemon *d); /* whose timers rang */
void daemon_resend_all(hone_daemon *d);   /* after a reconnect: timers ring at once */
/* What has not begun: returned when `why`, else forgotten. */
void daemon_give_back(hone_daemon *d, const char *why);
void daemon_cancel_running(hone_daemon *d, const char *why);
bool daemon_is_running(const hone_daemon *d);
int64_t daemon_trials_next_ns(const hone_daemon *d);
void daemon_trials_destroy(hone_daemon *d);
/* A file that trials wait for is there, or will not come. */
void daemon_on_file(hone_daemon *d, const hone_farm_hash *hash);
void daemon_on_file_failed(hone_daemon *d, const hone_farm_hash *hash, hone_failure failure,
                           const char *why);
void daemon_on_file_missing(hone_daemon *d, const hone_farm_hash *hash, const char *why);
/* Whether a trial waits for it. */
bool daemon_is_wanted(const hone_daemon *d, const hone_farm_hash *hash);

bool daemon_is_slot_running(const hone_daemon *d, size_t slot);
void daemon_give_back_slot(hone_daemon *d, size_t slot, const char *why); /* what has not begun */

/* daemon_health.c */
void daemon_health_init(hone_daemon *d, const hone_daemon_self_test *test);
bool daemon_health_work(hone_daemon *d); /* true: something has changed */
int64_t daemon_health_next_ns(const hone_daemon *d);
bool daemon_is_tested(const hone_daemon *d); /* each slot once */
bool daemon_is_testing(const hone_daemon *d, size_t slot);
bool daemon_is_benched(const hone_daemon *d, size_t slot);
void daemon_note_fault(hone_daemon *d, size_t slot, const char *why); /* of this machine */
void daemon_note_result(hone_daemon *d, size_t slot, hone_failure failure);
void daemon_list_benched(const hone_daemon *d, hone_farm_benches *out, hone_farm_bench *room);

/* daemon_fetch.c */
HONE_NODISCARD hone_status daemon_fetch_begin(hone_daemon *d, const hone_farm_blob *blob);
void daemon_on_chunk(hone_daemon *d, const hone_farm_blob_chunk *chunk);
void daemon_on_missing(hone_daemon *d, const hone_farm_blob_missing *missing);
void daemon_fetch_ask(hone_daemon *d); /* sends what may be asked for */
void daemon_fetch_drop_unwanted(hone_daemon *d);
void daemon_fetch_restart(hone_daemon *d); /* after a reconnect: asks again at once */
int64_t daemon_fetch_next_ns(const hone_daemon *d);
void daemon_fetch_destroy(hone_daemon *d);

static inline hone_blob_hash daemon_hash(const hone_farm_hash *hash) {
    hone_blob_hash out;
    for (int i = 0; i < HONE_BLOB_HASH_BYTES; i++)
        out.bytes[i] = hash->bytes[i];
    return out;
}

#endif
