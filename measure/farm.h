/* measure/farm.h - the messages between tracker, runners and tuners, and their wire form.
 *
 * One message is one frame: a CBOR map with integer keys, {0: kind, 1: id, 2…: what the kind says}.
 * Key n of a message is written beside each member. Unknown keys are skipped, a missing key has the
 * zero of its type. docs/protocol.md is the full account: who sends what when, and what is repeated
 * until which answer comes. In short:
 *
 *   runner   HELLO(held) ► WELCOME.  ASSIGN ► TAKEN | RETURNED.  RESULT, RETURNED ► RESULT_ACK.
 *            ABORT ► RESULT | RETURNED.  BLOB_WANT ► BLOB_CHUNK | BLOB_MISSING.
 *   tuner    HELLO ► WELCOME.  SUBMIT ► ACCEPTED | REFUSED.  OUTCOME ► OUTCOME_ACK.
 *            CANCEL ► CANCELLED, then OUTCOME.  It answers BLOB_WANT.  DEVICES ► DEVICE_LIST.
 *   all      PING ► PONG with the same id, at least one frame per heartbeat; BYE.
 *
 * A trial is named by (instance of the tuner, number in that instance) everywhere. A lease is named
 * by its token, which only grows; whoever holds an older one is told to forget it. Any message may
 * be lost, doubled or late: senders repeat until answered, receivers know what they have seen.
 *
 * Memory: encoding reads the message. A decoded one lies in the arena; hone_farm_bytes point into
 * the frame, so both must outlive it. Threads: thread-safe, nothing is shared.
 */
#ifndef HONE_MEASURE_FARM_H
#define HONE_MEASURE_FARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/arena.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/data/hash.h"

/* ---- limits: a decoder refuses what is beyond them ---- */
enum {
    HONE_FARM_VERSION_MIN = 1, /* of this build */
    HONE_FARM_VERSION = 1,
    HONE_FARM_MAX_FRAME = 4 << 20,
    HONE_FARM_MAX_CHUNK = 1 << 20, /* WELCOME says what to use: 256 KiB */
    HONE_FARM_MAX_REQUEST = 256 << 10,
    HONE_FARM_MAX_RESULT = (4 << 20) - (64 << 10),
    HONE_FARM_MAX_SLOTS = 64, /* of one runner */
    HONE_FARM_MAX_HELD = 256,
    HONE_FARM_MAX_BLOBS = 8,      /* of one trial */
    HONE_FARM_MAX_DEVICES = 4096, /* in one list */
    HONE_FARM_MAX_KEYS = 4096,
    HONE_FARM_NAME_BYTES = 64, /* with the NUL, as all that follow */
    HONE_FARM_TARGET_BYTES = 1024,
    HONE_FARM_NOTE_BYTES = 512,
    HONE_FARM_REASON_BYTES = 160, /* in tables: shorter, so that they fit a frame */
    HONE_FARM_HASH_BYTES = 32,    /* BLAKE2b-256 of a file's content */
    HONE_FARM_KEY_BYTES = 41,     /* a public key as Z85 text */
};
#define HONE_FARM_MAX_BLOB (INT64_C(256) << 20)

typedef enum hone_farm_kind {
#define HONE_FARM_KIND(name, number, spelling, from, says) HONE_FARM_##name = number,
#include "measure/farm_kinds.def"
#undef HONE_FARM_KIND
    HONE_FARM_KIND_LIMIT
} hone_farm_kind;

typedef enum hone_farm_role {
    HONE_FARM_RUNNER,
    HONE_FARM_TUNER,
    HONE_FARM_ADMIN,
    HONE_FARM_ROLE_COUNT
} hone_farm_role;

/* Why something was refused. */
typedef enum hone_farm_refusal {
    HONE_FARM_REFUSAL_NONE,
    HONE_FARM_REFUSAL_MALFORMED, /* the frame could not be read: a bug of the sender; do not repeat
                                  */
    HONE_FARM_REFUSAL_VERSION,   /* no common version: update the older side; give up */
    HONE_FARM_REFUSAL_KEY,       /* this key is not (or no longer) allowed: give up */
    HONE_FARM_REFUSAL_ROLE,      /* this key may not do that: give up */
    HONE_FARM_REFUSAL_HELLO,     /* the tracker does not know this connection: say HELLO, go on */
    HONE_FARM_REFUSAL_TAKEN,   /* that name or instance is in use: HELLO again after a heartbeat */
    HONE_FARM_REFUSAL_BUSY,    /* a limit is reached: repeat after a heartbeat */
    HONE_FARM_REFUSAL_UNKNOWN, /* there is no such runner, slot or key; do not repeat */
    HONE_FARM_REFUSAL_INVALID, /* readable, but makes no sense; do not repeat */
    HONE_FARM_REFUSAL_COUNT,
} hone_farm_refusal;

typedef enum hone_farm_blob_role {
    HONE_FARM_BLOB_ARTIFACT, /* hone_run_request.artifact_path */
    HONE_FARM_BLOB_BUNDLE,   /* check_path */
    HONE_FARM_BLOB_EXTERN,   /* extern_path */
    HONE_FARM_BLOB_ROLE_COUNT,
} hone_farm_blob_role;

typedef enum hone_farm_held_state {
    HONE_FARM_HELD_WAITING, /* taken, not running yet */
    HONE_FARM_HELD_RUNNING,
    HONE_FARM_HELD_DONE, /* there is a result that was not acknowledged */
    HONE_FARM_HELD_STATE_COUNT,
} hone_farm_held_state;

typedef enum hone_farm_slot_state {
    HONE_FARM_SLOT_IDLE,
    HONE_FARM_SLOT_BUSY,
    HONE_FARM_SLOT_STUCK,    /* its lease ran out and it has not answered the abort yet */
    HONE_FARM_SLOT_DRAINING, /* gets nothing new */
    HONE_FARM_SLOT_STATE_COUNT,
} hone_farm_slot_state;

/* ---- parts ---- */

typedef struct hone_farm_bytes {
    const uint8_t *data;
    size_t count;
} hone_farm_bytes;

typedef struct hone_farm_hash {
    uint8_t bytes[HONE_FARM_HASH_BYTES];
} hone_farm_hash;

/* Random, made once per process: survives reconnects, not restarts. Never zero. On the wire 16
 * bytes, lo first, each little-endian. */
typedef hone_hash128 hone_farm_instance;

/* A device that runs one trial at a time. */
typedef struct hone_farm_slot {
    uint32_t slot;                         /* 0: number within the runner, below MAX_SLOTS */
    char device_key[HONE_FARM_NAME_BYTES]; /* 1: what tuners ask for */
    char target[HONE_FARM_TARGET_BYTES];   /* 2: canonical text of hone_target */
    int32_t cores;                         /* 3 */
    int64_t memory_bytes;                  /* 4 */
} hone_farm_slot;

/* A slot that cannot work for now, by its runner's own word; what it was given goes back. */
typedef struct hone_farm_bench {
    uint32_t slot;                     /* 0 */
    char text[HONE_FARM_REASON_BYTES]; /* 1: why, for people */
} hone_farm_bench;

typedef struct hone_farm_held {
    uint64_t token;             /* 0 */
    hone_farm_instance tuner;   /* 1 */
    uint64_t trial;             /* 2 */
    uint32_t slot;              /* 3 */
    hone_farm_held_state state; /* 4 */
} hone_farm_held;

typedef struct hone_farm_blob {
    hone_farm_blob_role role; /* 0 */
    hone_farm_hash hash;      /* 1 */
    int64_t bytes;            /* 2: 1 to HONE_FARM_MAX_BLOB */
} hone_farm_blob;

typedef struct hone_farm_slots {
    size_t count;
    hone_farm_slot *items;
} hone_farm_slots;

typedef struct hone_farm_benches {
    size_t count;
    hone_farm_bench *items;
} hone_farm_benches;

typedef struct hone_farm_helds {
    size_t count;
    hone_farm_held *items;
} hone_farm_helds;

typedef struct hone_farm_blobs {
    size_t count;
    hone_farm_blob *items;
} hone_farm_blobs;

/* ---- messages ---- */

typedef struct hone_farm_hello {
    uint32_t version_min, version_max;   /* 2, 3 */
    hone_farm_role role;                 /* 4 */
    char name[HONE_FARM_NAME_BYTES];     /* 5: unique among runners; "" = the name of the key */
    char software[HONE_FARM_NAME_BYTES]; /* 6: "hone-runner 0.1.0", for people */
    hone_farm_instance instance;         /* 7 */
    hone_farm_slots slots;               /* 8: runners only, 1 to MAX_SLOTS */
    hone_farm_helds held;                /* 9: runners only: all it has not been acknowledged */
    hone_farm_benches benched;           /* 10: runners only: slots that cannot work for now */
} hone_farm_hello;

typedef struct hone_farm_welcome {
    uint32_t version;           /* 2: the one to speak */
    int64_t heartbeat_ns;       /* 3: send something at least this often */
    int64_t expiry_ns;          /* 4: a side that was silent for so long is gone */
    uint32_t chunk_bytes;       /* 5: at most so much in a BLOB_CHUNK */
    uint32_t max_frame_bytes;   /* 6 */
    hone_farm_instance tracker; /* 7: changes when the tracker restarts */
    uint32_t max_trials;        /* 8: tuners: unfinished trials at a time */
} hone_farm_welcome;

typedef struct hone_farm_refused {
    hone_farm_refusal code;          /* 2 */
    char text[HONE_FARM_NOTE_BYTES]; /* 3: for people */
    uint32_t about;                  /* 4: kind of what is refused; 0 = could not be read */
    uint64_t trial;                  /* 5: of a SUBMIT */
} hone_farm_refused;

typedef struct hone_farm_ping {
    hone_farm_benches benched; /* 2: runners only: as in HELLO; all others of its slots can work */
} hone_farm_ping;

typedef struct hone_farm_pong {
    uint64_t devices; /* 2: number of the present DEVICE_LIST; differs from yours: ask DEVICES */
} hone_farm_pong;

typedef struct hone_farm_bye {
    char text[HONE_FARM_NOTE_BYTES]; /* 2 */
} hone_farm_bye;

typedef struct hone_farm_submit {
    uint64_t trial;                        /* 2: unique in the tuner's instance */
    char device_key[HONE_FARM_NAME_BYTES]; /* 3 */
    hone_farm_blobs blobs;                 /* 4 */
    hone_farm_bytes request;               /* 5: hone_run_request without the files */
    int64_t timeout_ns;                    /* 6: from files at hand to result; then it is lost */
    /* 7: "runner/slot" = there and nowhere else, without a second try on another device, and lost
     * when it is not there: for times that are compared with each other. "" = any of the key. */
    char device[HONE_FARM_NAME_BYTES + 8];
    char target[HONE_FARM_TARGET_BYTES]; /* 8: only on devices of just this target; "" = of any */
    bool wants_time;                     /* 9: a success without a time is none */
} hone_farm_submit;

typedef struct hone_farm_accepted {
    uint64_t trial; /* 2 */
} hone_farm_accepted;

typedef struct hone_farm_outcome {
    uint64_t trial;                    /* 2 */
    hone_farm_bytes result;            /* 3: hone_run_result */
    char runner[HONE_FARM_NAME_BYTES]; /* 4: who ran it; "" = nobody */
    uint32_t slot;                     /* 5 */
    uint32_t losses;                   /* 6: how many runners were lost with it: 0, 1 or 2 */
    int64_t queue_ns;                  /* 7: in the tracker, before the last assignment */
} hone_farm_outcome;

typedef struct hone_farm_outcome_ack {
    uint64_t trial; /* 2 */
} hone_farm_outcome_ack;

typedef struct hone_farm_cancel {
    uint64_t trial; /* 2 */
} hone_farm_cancel;

typedef struct hone_farm_cancelled {
    uint64_t trial; /* 2 */
    bool is_known;  /* 3: false: the tracker has no such trial, no outcome follows */
} hone_farm_cancelled;

typedef struct hone_farm_assign {
    uint64_t token;           /* 2 */
    hone_farm_instance tuner; /* 3 */
    uint64_t trial;           /* 4 */
    uint32_t slot;            /* 5 */
    hone_farm_blobs blobs;    /* 6 */
    hone_farm_bytes request;  /* 7 */
    int64_t timeout_ns;       /* 8 */
    uint32_t losses;          /* 9: how many runners were lost with it before */
} hone_farm_assign;

/* Names a trial under a lease; TAKEN, RESULT_ACK, ABORT say only this. */
typedef struct hone_farm_lease {
    uint64_t token;           /* 2 */
    hone_farm_instance tuner; /* 3 */
    uint64_t trial;           /* 4 */
} hone_farm_lease;

typedef struct hone_farm_returned {
    uint64_t token;                  /* 2 */
    hone_farm_instance tuner;        /* 3 */
    uint64_t trial;                  /* 4 */
    char text[HONE_FARM_NOTE_BYTES]; /* 5: why */
} hone_farm_returned;

typedef struct hone_farm_result {
    uint64_t token;           /* 2 */
    hone_farm_instance tuner; /* 3 */
    uint64_t trial;           /* 4 */
    hone_farm_bytes result;   /* 5: hone_run_result, at most MAX_RESULT */
} hone_farm_result;

typedef struct hone_farm_blob_want {
    hone_farm_hash hash; /* 2 */
    int64_t offset;      /* 3 */
    uint32_t count;      /* 4: 1 to chunk_bytes */
} hone_farm_blob_want;

typedef struct hone_farm_blob_chunk {
    hone_farm_hash hash;   /* 2 */
    int64_t total;         /* 3: bytes of the whole file */
    int64_t offset;        /* 4 */
    hone_farm_bytes bytes; /* 5: as many as wanted, fewer only at the end of the file */
} hone_farm_blob_chunk;

typedef struct hone_farm_blob_missing {
    hone_farm_hash hash;             /* 2 */
    char text[HONE_FARM_NOTE_BYTES]; /* 3 */
} hone_farm_blob_missing;

typedef struct hone_farm_devices {
    char device_key[HONE_FARM_NAME_BYTES]; /* 2: "" = all */
} hone_farm_devices;

typedef struct hone_farm_device {
    char runner[HONE_FARM_NAME_BYTES];     /* 0 */
    uint32_t slot;                         /* 1 */
    char device_key[HONE_FARM_NAME_BYTES]; /* 2 */
    char target[HONE_FARM_TARGET_BYTES];   /* 3 */
    int32_t cores;                         /* 4 */
    int64_t memory_bytes;                  /* 5 */
    bool is_draining;                      /* 6: gets nothing new */
} hone_farm_device;

typedef struct hone_farm_device_list {
    uint64_t number; /* 2: grows with each change */
    struct {
        size_t count;
        hone_farm_device *items;
    } devices; /* 3 */
} hone_farm_device_list;

typedef struct hone_farm_status_slot {
    char runner[HONE_FARM_NAME_BYTES];     /* 0 */
    uint32_t slot;                         /* 1 */
    char device_key[HONE_FARM_NAME_BYTES]; /* 2 */
    char target[HONE_FARM_TARGET_BYTES];   /* 3 */
    char software[HONE_FARM_NAME_BYTES];   /* 4 */
    hone_farm_slot_state state;            /* 5 */
    bool is_connected;                     /* 6 */
    int64_t connected_ns;                  /* 7: for so long */
    int64_t silent_ns;                     /* 8: since the last frame */
    uint32_t trials;                       /* 9: on it now: 0, 1 or 2 */
    char tuner[HONE_FARM_NAME_BYTES];      /* 10: whose lease; "" = nobody's */
    uint64_t done;                         /* 11: results with a time, since the tracker started */
    uint64_t failed;                       /* 12: results of another kind */
    uint64_t lost;                         /* 13: trials that were lost with it */
    int64_t busy_ns;                       /* 14: with a trial, since the tracker started */
    char trouble[HONE_FARM_REASON_BYTES];  /* 15: why it is benched; "" = it is not */
    uint64_t errors;                       /* 16: trials that came to nothing through its fault */
} hone_farm_status_slot;

typedef struct hone_farm_status_tuner {
    char name[HONE_FARM_NAME_BYTES]; /* 0 */
    hone_farm_instance instance;     /* 1 */
    bool is_connected;               /* 2 */
    int64_t silent_ns;               /* 3 */
    uint64_t waiting;                /* 4: trials */
    uint64_t running;                /* 5 */
    uint64_t done;                   /* 6: outcomes that were acknowledged */
    int64_t device_ns;               /* 7: time that devices spent on it */
} hone_farm_status_tuner;

typedef struct hone_farm_status_table {
    int64_t uptime_ns; /* 2 */
    struct {
        size_t count;
        hone_farm_status_slot *items;
    } slots; /* 3 */
    struct {
        size_t count;
        hone_farm_status_tuner *items;
    } tuners;            /* 4 */
    uint64_t waiting;    /* 5: trials in the queue */
    uint64_t running;    /* 6 */
    uint64_t done;       /* 7: results taken, since the tracker started, as all that follow */
    uint64_t requeued;   /* 8: trials handed out again after a loss */
    uint64_t lost;       /* 9: trials that ended as device_lost */
    uint64_t duplicates; /* 10: results under an old token, dropped */
    uint64_t refused;    /* 11: frames and connections */
    int64_t blob_bytes;  /* 12: in the cache */
    char software[HONE_FARM_NAME_BYTES]; /* 13: of the tracker */
    bool is_truncated;                   /* 14: there are more slots or tuners than fit */
    uint64_t errors;                     /* 15: of all slots */
} hone_farm_status_table;

typedef struct hone_farm_drain {
    char device[HONE_FARM_NAME_BYTES + 8]; /* 2: "runner" or "runner/slot" */
    bool is_over;                          /* 3: true: it gets work again */
} hone_farm_drain;

typedef struct hone_farm_kick {
    char device[HONE_FARM_NAME_BYTES + 8]; /* 2 */
} hone_farm_kick;

/* A key of the allow-list; ALLOW, and a row of KEY_LIST (there the keys are 0, 1, 2, 3). */
typedef struct hone_farm_key {
    char key[HONE_FARM_KEY_BYTES];   /* 2: the public key, 40 characters of Z85 */
    hone_farm_role role;             /* 3 */
    char name[HONE_FARM_NAME_BYTES]; /* 4: for people */
    uint32_t connections;            /* 5: now; KEY_LIST only */
} hone_farm_key;

typedef struct hone_farm_revoke {
    char key[HONE_FARM_KEY_BYTES]; /* 2 */
} hone_farm_revoke;

typedef struct hone_farm_key_list {
    struct {
        size_t count;
        hone_farm_key *items;
    } keys; /* 2 */
} hone_farm_key_list;

typedef struct hone_farm_done {
    char text[HONE_FARM_NOTE_BYTES]; /* 2: what was done, for people */
} hone_farm_done;

typedef struct hone_farm_message {
    hone_farm_kind kind; /* 0 */
    uint64_t id;         /* 1: chosen by who asks, the same in the answer; 0 = none */
    union {
        hone_farm_hello hello;
        hone_farm_welcome welcome;
        hone_farm_refused refused;
        hone_farm_ping ping;
        hone_farm_pong pong; /* STATUS, KEYS say nothing beyond kind and id */
        hone_farm_bye bye;
        hone_farm_submit submit;
        hone_farm_accepted accepted;
        hone_farm_outcome outcome;
        hone_farm_outcome_ack outcome_ack;
        hone_farm_cancel cancel;
        hone_farm_cancelled cancelled;
        hone_farm_assign assign;
        hone_farm_lease lease; /* TAKEN, RESULT_ACK, ABORT */
        hone_farm_returned returned;
        hone_farm_result result;
        hone_farm_blob_want blob_want;
        hone_farm_blob_chunk blob_chunk;
        hone_farm_blob_missing blob_missing;
        hone_farm_devices devices;
        hone_farm_device_list device_list;
        hone_farm_status_table status_table;
        hone_farm_drain drain;
        hone_farm_kick kick;
        hone_farm_key allow;
        hone_farm_revoke revoke;
        hone_farm_key_list key_list;
        hone_farm_done done;
    } u;
} hone_farm_message;

/* Appends the frame to `out`. NO_MEMORY. It is the decoder that checks: what makes no sense is
 * written as it is, so that tests can be hostile. */
HONE_NODISCARD hone_status hone_farm_encode(const hone_farm_message *message, hone_str *out);
/* hone_farm_encode, with a seal (frame_check.h) behind: what is sent. */
HONE_NODISCARD hone_status hone_farm_encode_sealed(const hone_farm_message *message, hone_str *out);

/* INVALID: not a message, or one beyond the limits; *out_message then has as much of kind and id as
 * could be read, for the refusal. UNSUPPORTED: a kind that this build does not know: drop it. IO:
 * its seal says that bits have changed: drop it, as if it had been lost. */
HONE_NODISCARD hone_status hone_farm_decode(const void *bytes, size_t count, hone_arena *arena,
                                            hone_farm_message *out_message);

const char *hone_farm_kind_name(hone_farm_kind kind); /* "hello", …; "unknown" */
const char *hone_farm_role_name(hone_farm_role role); /* "runner", "tuner", "admin"; "unknown" */
HONE_NODISCARD bool hone_farm_role_parse(const char *text, hone_farm_role *out_role);
const char *hone_farm_slot_state_name(hone_farm_slot_state state); /* "idle", …; "unknown" */

/* Copies text into a member of `capacity` bytes: cut when too long, all that is not printable ASCII
 * becomes '?': so that it decodes. */
void hone_farm_set_text(char *member, size_t capacity, const char *text);

static inline bool hone_farm_hash_equal(const hone_farm_hash *a, const hone_farm_hash *b) {
    unsigned differ = 0;
    for (int i = 0; i < HONE_FARM_HASH_BYTES; i++)
        differ |= (unsigned)(a->bytes[i] ^ b->bytes[i]);
    return !differ;
}

#endif
