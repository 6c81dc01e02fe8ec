/* database/farm_store.h - what a tracker must find again after a restart: its tokens, the tuners it
 * knows, their trials with leases and results, and which slots are draining.
 *
 * One SQLite file, one process at a time. Changes gather in a transaction that begins by itself
 * and is made durable by commit: what the tracker promises to a peer it promises after that. A
 * crash of the process loses nothing that was committed; a power failure may lose the last commits,
 * which peers make good (a tuner submits again what has no outcome).
 *
 * Lifetime: open/close. Threads: one thread at a time.
 */
#ifndef HONE_DATABASE_FARM_STORE_H
#define HONE_DATABASE_FARM_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/farm.h"
#include "support/core/status.h"

typedef struct hone_farm_store hone_farm_store;

typedef struct hone_farm_stored_tuner {
    hone_farm_instance instance;
    const char *key; /* public key as text; "" when insecure */
    const char *name;
} hone_farm_stored_tuner;

typedef enum hone_farm_trial_state {
    HONE_FARM_TRIAL_WAITING,
    HONE_FARM_TRIAL_ASSIGNED,
    HONE_FARM_TRIAL_DONE, /* there is a result, not acknowledged by the tuner */
    HONE_FARM_TRIAL_STATE_COUNT,
} hone_farm_trial_state;

/* The part of a trial that never changes, and the part that does. */
typedef struct hone_farm_stored_trial {
    hone_farm_instance tuner;
    uint64_t trial;
    hone_farm_bytes submit; /* the SUBMIT frame, opaque here */

    hone_farm_trial_state state;
    uint32_t losses, returns;
    bool is_cancelled;
    uint64_t token;            /* ASSIGNED: the lease, */
    hone_farm_instance runner; /* on whose */
    const char *runner_name;   /* (DONE: who ran it) */
    uint32_t slot;             /* slot */
    hone_farm_bytes result;    /* DONE */
} hone_farm_stored_trial;

/* Makes the file when there is none. INVALID: not a tracker's file, or damaged. VERSION: written by
 * a newer hone. UNAVAILABLE: another tracker has it open. IO. */
HONE_NODISCARD hone_status hone_farm_store_open(const char *path, hone_farm_store **out_store);
void hone_farm_store_close(hone_farm_store *store); /* what was not committed is lost; NULL: fine */

HONE_NODISCARD hone_status hone_farm_store_commit(hone_farm_store *store);

/* Tokens below this one may have been given out; 0 in a new file. */
HONE_NODISCARD hone_status hone_farm_store_get_token(hone_farm_store *store, uint64_t *out_token);
HONE_NODISCARD hone_status hone_farm_store_put_token(hone_farm_store *store, uint64_t token);

HONE_NODISCARD hone_status hone_farm_store_put_tuner(hone_farm_store *store,
                                                     const hone_farm_stored_tuner *tuner);
/* With its trials. */
HONE_NODISCARD hone_status hone_farm_store_remove_tuner(hone_farm_store *store,
                                                        hone_farm_instance instance);

/* The tuner has been put. */
HONE_NODISCARD hone_status hone_farm_store_put_trial(hone_farm_store *store,
                                                     const hone_farm_stored_trial *trial);
/* Changes what can change; the trial has been put. */
HONE_NODISCARD hone_status hone_farm_store_update_trial(hone_farm_store *store,
                                                        const hone_farm_stored_trial *trial);
HONE_NODISCARD hone_status hone_farm_store_remove_trial(hone_farm_store *store,
                                                        hone_farm_instance tuner, uint64_t trial);

/* "runner/slot". */
HONE_NODISCARD hone_status hone_farm_store_put_drained(hone_farm_store *store, const char *device,
                                                       bool is_drained);

/* Visits all, in the order in which they were put; what rows point to is valid during the call. A
 * failure of a visit ends the walk and is returned. */
HONE_NODISCARD hone_status hone_farm_store_tuners(
    hone_farm_store *store, hone_status (*visit)(void *ctx, const hone_farm_stored_tuner *tuner),
    void *ctx);
HONE_NODISCARD hone_status hone_farm_store_trials(
    hone_farm_store *store, hone_status (*visit)(void *ctx, const hone_farm_stored_trial *trial),
    void *ctx);
HONE_NODISCARD hone_status hone_farm_store_drained(
    hone_farm_store *store, hone_status (*visit)(void *ctx, const char *device), void *ctx);

#endif
