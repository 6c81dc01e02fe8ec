/* farm/tracker_state.c - what a tracker writes down, and how it takes it up again.
 *
 * Leases are restored onto runners that are known by name and instance only: they have an interval
 * of three heartbeats to say hello, as any runner whose connection has ended.
 */
#include <string.h>

#include "farm/tracker_impl.h"
#include "support/core/alloc.h"

#define TOKEN_BLOCK 1024 /* tokens are written down in blocks */

hone_status tracker_new_token(hone_tracker *t, uint64_t *out_token) {
    if (t->o.store && t->next_token >= t->stored_token) {
        t->stored_token = t->next_token + TOKEN_BLOCK;
        HONE_TRY(hone_farm_store_put_token(t->o.store, t->stored_token));
    }
    *out_token = t->next_token++;
    return HONE_OK;
}

hone_status tracker_store_tuner(hone_tracker *t, const tracker_tuner *tuner) {
    if (!t->o.store) return HONE_OK;
    char key[HONE_KEY_TEXT_BYTES] = "";
    if (!hone_key_is_zero(&tuner->key)) hone_key_print(&tuner->key, key);
    return hone_farm_store_put_tuner(t->o.store,
                                     &(hone_farm_stored_tuner){tuner->instance, key, tuner->name});
}

hone_status tracker_unstore_tuner(hone_tracker *t, const tracker_tuner *tuner) {
    if (!t->o.store || !tuner->is_known) return HONE_OK;
    return hone_farm_store_remove_tuner(t->o.store, tuner->instance);
}

static hone_farm_stored_trial row_of(const tracker_trial *trial) {
    hone_farm_stored_trial row = {
        .tuner = trial->tuner->instance,
        .trial = trial->number,
        .state = trial->state,
        .losses = trial->losses,
        .returns = trial->returns,
        .is_cancelled = trial->is_cancelled,
        .token = trial->token,
        .runner_name = trial->runner,
        .slot = trial->slot_number,
        .result = {trial->result, trial->result_count},
    };
    if (trial->slot) {
        row.runner = trial->slot->runner->instance;
        row.runner_name = trial->slot->runner->name;
        row.slot = trial->slot->info.slot;
    }
    return row;
}

hone_status tracker_store_new_trial(hone_tracker *t, const tracker_trial *trial) {
    if (!t->o.store) return HONE_OK;
    hone_farm_message m = {.kind = HONE_FARM_SUBMIT};
    hone_farm_blob blobs[HONE_FARM_MAX_BLOBS];
    memcpy(blobs, trial->blobs, sizeof blobs);
    m.u.submit = (hone_farm_submit){
        .trial = trial->number,
        .blobs = {trial->blob_count, blobs               },
        .request = {trial->request,    trial->request_count},
        .timeout_ns = trial->timeout_ns,
        .wants_time = trial->wants_time,
    };
    hone_farm_set_text(m.u.submit.device_key, sizeof m.u.submit.device_key,
                       trial->lane->class->key);
    memcpy(m.u.submit.device, trial->lane->device, sizeof m.u.submit.device);
    memcpy(m.u.submit.target, trial->lane->target, sizeof m.u.submit.target);
    hone_str_clear(&t->scratch);
    HONE_TRY(hone_farm_encode(&m, &t->scratch));
    hone_farm_stored_trial row = row_of(trial);
    row.submit = (hone_farm_bytes){(const uint8_t *)t->scratch.data, t->scratch.length};
    return hone_farm_store_put_trial(t->o.store, &row);
}

hone_status tracker_store_trial(hone_tracker *t, const tracker_trial *trial) {
    if (!t->o.store || !trial->is_submitted) return HONE_OK;
    hone_farm_stored_trial row = row_of(trial);
    return hone_farm_store_update_trial(t->o.store, &row);
}

hone_status tracker_unstore_trial(hone_tracker *t, const tracker_trial *trial) {
    if (!t->o.store || !trial->is_submitted) return HONE_OK;
    return hone_farm_store_remove_trial(t->o.store, trial->tuner->instance, trial->number);
}

/* ---- taking up ---- */

static hone_status restore_tuner(void *ctx, const hone_farm_stored_tuner *row) {
    hone_tracker *t = ctx;
    tracker_tuner *tuner = tracker_make_tuner(t, row->instance);
    if (!tuner) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuner");
    hone_farm_set_text(tuner->name, sizeof tuner->name, row->name);
    if (row->key[0]) HONE_TRY(hone_key_parse(row->key, strlen(row->key), &tuner->key));
    tuner->is_known = true;
    return HONE_OK;
}

/* The slot that held it, of a runner of which nothing else is known yet. */
static hone_status restore_slot(hone_tracker *t, const hone_farm_stored_trial *row,
                                tracker_slot **out_slot) {
    uint64_t value;
    tracker_runner *runner;
    *out_slot = NULL;
    if (hone_map128_find(&t->runners, row->runner, &value)) {
        runner = (tracker_runner *)(uintptr_t)value;
    } else {
        runner = tracker_make_runner(t, row->runner, row->runner_name);
        if (!runner) return HONE_ERROR(HONE_CODE_NO_MEMORY, "runner");
        runner->slots = hone_calloc(HONE_FARM_MAX_SLOTS, sizeof *runner->slots);
        if (!runner->slots) return HONE_ERROR(HONE_CODE_NO_MEMORY, "slots");
    }
    *out_slot = tracker_runner_slot(runner, row->slot);
    if (*out_slot || row->slot >= HONE_FARM_MAX_SLOTS) return HONE_OK;
    *out_slot = &runner->slots[runner->slot_count++];
    (*out_slot)->runner = runner;
    (*out_slot)->info.slot = row->slot;
    return HONE_OK;
}

static hone_status restore_lease(hone_tracker *t, tracker_trial *trial,
                                 const hone_farm_stored_trial *row) {
    tracker_slot *slot;
    HONE_TRY(restore_slot(t, row, &slot));
    bool fits = slot && slot->trial_count < TRACKER_LEASE_TRIALS &&
                (!slot->trial_count || (slot->tuner == trial->tuner && slot->token == row->token));
    if (fits) {
        tracker_put_on(t, trial, slot, row->token);
    } else {
        tracker_enqueue(t, trial, false);
    }
    return HONE_OK;
}

static hone_status restore_result(hone_tracker *t, tracker_trial *trial,
                                  const hone_farm_stored_trial *row) {
    hone_farm_set_text(trial->runner, sizeof trial->runner, row->runner_name);
    trial->slot_number = row->slot;
    return tracker_finish(t, trial, row->result);
}

static hone_status restore_state(hone_tracker *t, tracker_trial *trial,
                                 const hone_farm_stored_trial *row) {
    trial->token = row->token;
    trial->losses = row->losses;
    trial->returns = row->returns;
    trial->is_cancelled = row->is_cancelled;
    switch (row->state) {
    case HONE_FARM_TRIAL_ASSIGNED:
        return restore_lease(t, trial, row);
    case HONE_FARM_TRIAL_DONE:
        return restore_result(t, trial, row);
    default:
        tracker_enqueue(t, trial, false);
        return HONE_OK;
    }
}

static hone_status restore_trial(void *ctx, const hone_farm_stored_trial *row) {
    hone_tracker *t = ctx;
    tracker_tuner *tuner = tracker_find_tuner(t, row->tuner);
    if (!tuner) return HONE_ERROR(HONE_CODE_INVALID, "the state has a trial of no tuner");
    hone_farm_message m;
    hone_arena_reset(t->arena);
    HONE_TRY(hone_farm_decode(row->submit.data, row->submit.count, t->arena, &m));
    if (m.kind != HONE_FARM_SUBMIT) {
        return HONE_ERROR(HONE_CODE_INVALID, "the state has a trial that is none");
    }
    tracker_trial *trial = tracker_make_trial(t, tuner, row->trial);
    if (!trial) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial");
    HONE_TRY(tracker_fill_trial(t, trial, &m.u.submit));
    return restore_state(t, trial, row);
}

static hone_status restore_drained(void *ctx, const char *device) {
    hone_tracker *t = ctx;
    return hone_strmap_put(&t->drained, device, 1) ? HONE_OK
                                                   : HONE_ERROR(HONE_CODE_NO_MEMORY, "devices");
}

hone_status tracker_restore(hone_tracker *t) {
    if (!t->o.store) return HONE_OK;
    uint64_t token;
    HONE_TRY(hone_farm_store_get_token(t->o.store, &token));
    if (token > t->next_token) t->next_token = t->first_token = token;
    HONE_TRY(hone_farm_store_drained(t->o.store, restore_drained, t));
    HONE_TRY(hone_farm_store_tuners(t->o.store, restore_tuner, t));
    HONE_TRY(hone_farm_store_trials(t->o.store, restore_trial, t));
    size_t trials = t->stats.waiting + t->stats.running;
    if (trials) HONE_LOG(t->o.log, HONE_LOG_INFO, "%zu trials are taken up again", trials);
    return hone_farm_store_commit(t->o.store);
}
