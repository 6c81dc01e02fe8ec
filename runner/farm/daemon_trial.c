/* runner/farm/daemon_trial.c - from an assignment to a result that the tracker has. */
#include <stdio.h>

#include "measure/wire.h"
#include "runner/farm/daemon_impl.h"
#include "support/core/alloc.h"
#include "target/target.h"

#define ARENA_BLOCK_BYTES 4096
#define NO_FILE "(no artifact was sent)" /* a path where there is nothing */

/* ---- the list ---- */

static bool same_trial(const hone_farm_lease *a, const hone_farm_lease *b) {
    return a->trial == b->trial && hone_hash128_equal(a->tuner, b->tuner);
}

static bool same_lease(const hone_farm_lease *a, const hone_farm_lease *b) {
    return a->token == b->token && same_trial(a, b);
}

static daemon_trial *find(const hone_daemon *d, const hone_farm_lease *lease) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (same_trial(&t->lease, lease)) return t;
    }
    return NULL;
}

static daemon_trial *running_on(const hone_daemon *d, size_t slot) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (t->slot == slot && t->state == TRIAL_RUNNING) return t;
    }
    return NULL;
}

bool daemon_is_slot_running(const hone_daemon *d, size_t slot) {
    return running_on(d, slot) != NULL;
}

static size_t count_on(const hone_daemon *d, uint32_t slot) {
    size_t count = 0;
    for (const daemon_trial *t = d->trials; t; t = t->next)
        count += t->slot == slot;
    return count;
}

bool daemon_is_running(const hone_daemon *d) {
    for (const daemon_trial *t = d->trials; t; t = t->next) {
        if (t->state == TRIAL_RUNNING) return true;
    }
    return false;
}

static void release_files(hone_daemon *d, daemon_trial *t) {
    for (size_t i = 0; i < t->blob_count; i++) {
        hone_blob_hash hash = daemon_hash(&t->blobs[i].hash);
        if (t->is_pinned[i]) hone_blob_cache_unpin(d->cache, &hash);
        t->is_pinned[i] = false;
    }
}

static void forget(hone_daemon *d, daemon_trial *t) {
    daemon_trial **link = &d->trials;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    release_files(d, t);
    hone_arena_destroy(t->arena);
    hone_str_deinit(&t->result);
    hone_free(t);
}

void daemon_trials_destroy(hone_daemon *d) {
    while (d->trials)
        forget(d, d->trials);
}

static bool is_finished(const hone_daemon *d, const hone_farm_lease *lease) {
    size_t count = d->finished_count < DAEMON_FINISHED ? d->finished_count : DAEMON_FINISHED;
    for (size_t i = 0; i < count; i++) {
        if (same_lease(&d->finished[i], lease)) return true;
    }
    return false;
}

static void note_finished(hone_daemon *d, const hone_farm_lease *lease) {
    d->finished[d->finished_count++ % DAEMON_FINISHED] = *lease;
}

/* ---- endings ---- */

static const char *name_of(const daemon_trial *t, char *room, size_t capacity) {
    char tuner[HONE_HASH_HEX_BYTES];
    snprintf(room, capacity, "trial %llu of tuner %.8s", (unsigned long long)t->lease.trial,
             hone_hash128_print(t->lease.tuner, tuner));
    return room;
}

static void end(hone_daemon *d, daemon_trial *t, daemon_state state) {
    t->state = state;
    t->message_id = ++d->link.last_id;
    farm_repeat_start(&t->repeat, daemon_now(d));
    release_files(d, t);
}

static void give_back(hone_daemon *d, daemon_trial *t, const char *why) {
    char room[64];
    HONE_LOG(d->log, HONE_LOG_INFO, "%s is given back: %s", name_of(t, room, sizeof room), why);
    hone_farm_set_text(t->why, sizeof t->why, why);
    end(d, t, TRIAL_RETURNED);
}

/* Without memory for its result a trial is given back: somebody else may have some. */
static void finish(hone_daemon *d, daemon_trial *t, const hone_run_result *result) {
    char room[64];
    hone_str_clear(&t->result);
    hone_status st = hone_run_result_encode(result, &t->result);
    if (st) {
        hone_status_free(st);
        give_back(d, t, "no memory for its result");
        return;
    }
    if (t->result.length > HONE_FARM_MAX_RESULT) {
        hone_run_result large;
        hone_run_result_init(&large);
        hone_run_result_fail(&large, HONE_FAILURE_LOAD_ERROR,
                             "%zu bytes of outputs are more than a remote runner can send (%d)",
                             result->output_bytes, HONE_FARM_MAX_RESULT);
        finish(d, t, &large);
        return;
    }
    HONE_LOG(d->log, HONE_LOG_DEBUG, "%s: %s%s%s", name_of(t, room, sizeof room),
             result->failure == HONE_FAILURE_NONE ? "done" : hone_failure_name(result->failure),
             result->message[0] ? ": " : "", result->message);
    end(d, t, TRIAL_DONE);
}

static void fail(hone_daemon *d, daemon_trial *t, hone_failure failure, const char *why) {
    hone_run_result result;
    hone_run_result_init(&result);
    hone_run_result_fail(&result, failure, "%s", why);
    result.times.transfer_ns = t->transfer_ns;
    finish(d, t, &result);
}

/* This machine could not do its part: somebody else may. */
static void give_up(hone_daemon *d, daemon_trial *t, const char *why) {
    size_t slot = t->slot;
    give_back(d, t, why);
    daemon_note_fault(d, slot, why);
}

/* ---- running ---- */

static void start(hone_daemon *d, daemon_trial *t) {
    t->request.owner = t->lease.tuner;
    hone_status st = hone_runner_submit(d->slots[t->slot].runner, &t->request, &t->ticket);
    if (!st) {
        t->state = TRIAL_RUNNING;
        return;
    }
    if (hone_status_code(st) == HONE_CODE_INVALID) {
        fail(d, t, HONE_FAILURE_LOAD_ERROR, hone_status_message(st));
    } else {
        give_up(d, t, hone_status_message(st));
    }
    hone_status_free(st);
}

/* In order of assignment, one at a time on each slot. */
static bool start_ready(hone_daemon *d) {
    bool has_started = false;
    if (d->is_stopping) return false;
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (t->state != TRIAL_READY || running_on(d, t->slot)) continue;
        if (daemon_is_testing(d, t->slot)) continue;
        start(d, t);
        has_started = true;
    }
    return has_started;
}

/* Whether what it was run with still lies where it was. */
static bool has_its_files(hone_daemon *d, const daemon_trial *t) {
    bool has_all = true;
    for (size_t i = 0; i < t->blob_count; i++) {
        const hone_blob_hash hash = daemon_hash(&t->blobs[i].hash);
        const char *path;
        if (!t->is_pinned[i]) continue;
        bool is_there =
            hone_status_consume(hone_blob_cache_pin(d->cache, &hash, &path)) == HONE_CODE_OK;
        if (is_there) hone_blob_cache_unpin(d->cache, &hash);
        has_all = has_all && is_there;
    }
    return has_all;
}

static void on_result(hone_daemon *d, daemon_trial *t, hone_run_result *result) {
    hone_fault fault = hone_failure_fault(result->failure);
    result->times.transfer_ns = t->transfer_ns;
    if (t->is_aborted && result->failure == HONE_FAILURE_CANCELLED) {
        give_back(d, t, t->why);
    } else if (fault == HONE_FAULT_MACHINE) {
        give_up(d, t, result->message);
    } else if (fault != HONE_FAULT_NOBODY && !has_its_files(d, t)) {
        give_up(d, t, "its files were removed or changed while it ran");
    } else {
        size_t slot = t->slot;
        finish(d, t, result);
        daemon_note_result(d, slot, result->failure);
    }
}

static bool take_result(hone_daemon *d, size_t slot) {
    daemon_trial *t = running_on(d, slot);
    if (!t && d->health[slot].ticket) return false; /* it tests itself */
    if (!t) {
        hone_status_free(hone_runner_tend(d->slots[slot].runner)); /* the next trial will tell */
        return false;
    }
    hone_ticket ticket;
    hone_run_result result;
    hone_status st =
        hone_runner_next_result(d->slots[slot].runner, HONE_DEADLINE_NOW, &ticket, &result);
    if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
        hone_status_free(st);
        return false;
    }
    if (st) {
        hone_runner_cancel_all(d->slots[slot].runner);
        give_up(d, t, hone_status_message(st));
        hone_status_free(st);
        return true;
    }
    if (ticket == t->ticket) on_result(d, t, &result); /* else of one that was given up above */
    hone_run_result_deinit(&result);
    return true;
}

void daemon_work(hone_daemon *d) {
    bool has_changed;
    do {
        has_changed = daemon_health_work(d);
        has_changed = start_ready(d) || has_changed;
        for (size_t i = 0; i < d->slot_count; i++)
            has_changed = take_result(d, i) || has_changed;
    } while (has_changed);
}

static void cancel(hone_daemon *d, daemon_trial *t, const char *why) {
    t->is_aborted = true;
    hone_farm_set_text(t->why, sizeof t->why, why);
    hone_runner_cancel_all(d->slots[t->slot].runner); /* its result comes with daemon_work */
}

void daemon_cancel_running(hone_daemon *d, const char *why) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (t->state == TRIAL_RUNNING) cancel(d, t, why);
    }
}

/* ---- files ---- */

static const char **path_for(hone_run_request *request, hone_farm_blob_role role) {
    switch (role) {
    case HONE_FARM_BLOB_ARTIFACT:
        return &request->artifact_path;
    case HONE_FARM_BLOB_BUNDLE:
        return &request->check_path;
    case HONE_FARM_BLOB_EXTERN:
        return &request->extern_path;
    default:
        return NULL;
    }
}

/* Pins what is there; true when nothing is missing. */
static bool pin_files(hone_daemon *d, daemon_trial *t) {
    bool has_all = true;
    for (size_t i = 0; i < t->blob_count; i++) {
        hone_blob_hash hash = daemon_hash(&t->blobs[i].hash);
        const char *path = NULL;
        if (t->is_pinned[i]) continue;
        if (hone_status_consume(hone_blob_cache_pin(d->cache, &hash, &path)) != HONE_CODE_OK) {
            has_all = false;
            continue;
        }
        t->is_pinned[i] = true;
        *path_for(&t->request, t->blobs[i].role) = path;
    }
    return has_all;
}

static void begin_fetches(hone_daemon *d, daemon_trial *t) {
    for (size_t i = 0; i < t->blob_count && t->state == TRIAL_FETCHING; i++) {
        if (t->is_pinned[i]) continue;
        hone_status st = daemon_fetch_begin(d, &t->blobs[i]);
        if (!st) continue;
        give_up(d, t, hone_status_message(st));
        hone_status_free(st);
    }
}

static void look_for_files(hone_daemon *d, daemon_trial *t) {
    if (pin_files(d, t)) {
        t->state = TRIAL_READY;
        t->transfer_ns = daemon_now(d) - t->assigned_ns;
    } else {
        begin_fetches(d, t);
    }
}

static bool waits_for(const daemon_trial *t, const hone_farm_hash *hash) {
    if (t->state != TRIAL_FETCHING) return false;
    for (size_t i = 0; i < t->blob_count; i++) {
        if (!t->is_pinned[i] && hone_farm_hash_equal(&t->blobs[i].hash, hash)) return true;
    }
    return false;
}

bool daemon_is_wanted(const hone_daemon *d, const hone_farm_hash *hash) {
    for (const daemon_trial *t = d->trials; t; t = t->next) {
        if (waits_for(t, hash)) return true;
    }
    return false;
}

void daemon_on_file(hone_daemon *d, const hone_farm_hash *hash) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (waits_for(t, hash)) look_for_files(d, t);
    }
}

void daemon_on_file_failed(hone_daemon *d, const hone_farm_hash *hash, hone_failure failure,
                           const char *why) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (!waits_for(t, hash)) continue;
        if (hone_failure_fault(failure) == HONE_FAULT_MACHINE) {
            give_up(d, t, why);
        } else {
            fail(d, t, failure, why);
        }
    }
}

void daemon_on_file_missing(hone_daemon *d, const hone_farm_hash *hash, const char *why) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (waits_for(t, hash)) give_back(d, t, why);
    }
}

/* ---- assignments ---- */

static void send_taken(hone_daemon *d, const hone_farm_lease *lease) {
    const hone_farm_message message = {
        .kind = HONE_FARM_TAKEN, .id = ++d->link.last_id, .u.lease = *lease};
    farm_link_send(&d->link, &message);
}

/* A return that is not kept: whoever wants to know says it again. */
static void turn_down(hone_daemon *d, const hone_farm_lease *lease, const char *why) {
    hone_farm_message message = {.kind = HONE_FARM_RETURNED, .id = ++d->link.last_id};
    message.u.returned.token = lease->token;
    message.u.returned.tuner = lease->tuner;
    message.u.returned.trial = lease->trial;
    hone_farm_set_text(message.u.returned.text, sizeof message.u.returned.text, why);
    farm_link_send(&d->link, &message);
}

/* The files come from the cache whatever the request says; artifacts are not inside of it. */
static hone_status read_request(const hone_farm_assign *assign, daemon_trial *t) {
    hone_run_request request;
    t->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!t->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    HONE_TRY(
        hone_run_request_decode(assign->request.data, assign->request.count, t->arena, &request));
    request.artifact_path = NO_FILE;
    request.artifact_bytes = NULL;
    request.artifact_byte_count = 0;
    request.check_path = request.extern_path = NULL;
    HONE_TRY(hone_run_request_copy(&request, t->arena, &t->request)); /* the frame does not stay */
    hone_target target;
    if (!t->request.manifest.target || !t->request.manifest.target[0]) return HONE_OK;
    HONE_TRY(hone_target_parse(t->request.manifest.target, &target));
    /* a card is asked when the artifact is loaded: there may be several */
    return hone_target_is_gpu(&target) ? HONE_OK : hone_target_check_here(&target);
}

static void add(hone_daemon *d, daemon_trial *t) {
    daemon_trial **link = &d->trials;
    while (*link)
        link = &(*link)->next;
    *link = t;
    d->stats.assigned++;
}

/* True when the assignment is news; else it is answered. */
static bool is_new(hone_daemon *d, const hone_farm_lease *lease, uint32_t slot) {
    daemon_trial *known = find(d, lease);
    if (slot >= d->slot_count) {
        turn_down(d, lease, "there is no such slot");
    } else if (known && known->state == TRIAL_RETURNED) {
        if (known->lease.token == lease->token) return false; /* the return is on its way */
        forget(d, known);
        return lease->token >= d->lease_floor[slot];
    } else if (known && known->state == TRIAL_RUNNING && known->slot != slot) {
        turn_down(d, lease, "it runs on another slot");
    } else if (known && known->lease.token <= lease->token) {
        known->lease.token = lease->token; /* the same work, maybe under a newer lease */
        known->slot = slot;
        send_taken(d, lease);
        if (known->state == TRIAL_DONE) farm_repeat_start(&known->repeat, daemon_now(d));
    } else if (known || lease->token < d->lease_floor[slot]) {
        turn_down(d, lease, "this lease is over");
    } else if (is_finished(d, lease)) {
        turn_down(d, lease, "it is done and was acknowledged");
    } else {
        return true;
    }
    return false;
}

void daemon_on_assign(hone_daemon *d, const hone_farm_assign *assign) {
    const hone_farm_lease lease = {assign->token, assign->tuner, assign->trial};
    if (!is_new(d, &lease, assign->slot)) return;
    d->lease_floor[assign->slot] = lease.token;
    if (count_on(d, assign->slot) >= DAEMON_TRIALS_PER_SLOT) {
        turn_down(d, &lease, "this slot has enough to do");
        return;
    }
    if (daemon_is_benched(d, assign->slot)) {
        turn_down(d, &lease, d->health[assign->slot].why);
        return;
    }
    daemon_trial *t = hone_calloc(1, sizeof *t);
    if (!t) {
        turn_down(d, &lease, "no memory");
        return;
    }
    t->lease = lease;
    t->slot = assign->slot;
    t->assigned_ns = daemon_now(d);
    t->blob_count = assign->blobs.count;
    for (size_t i = 0; i < t->blob_count; i++)
        t->blobs[i] = assign->blobs.items[i];
    add(d, t);
    send_taken(d, &lease);
    hone_status st = read_request(assign, t);
    if (!st) {
        look_for_files(d, t);
        return;
    }
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) {
        give_back(d, t, "no memory");
    } else if (hone_status_code(st) == HONE_CODE_UNSUPPORTED) { /* another device may have it */
        give_back(d, t, hone_status_message(st));
    } else {
        fail(d, t, HONE_FAILURE_LOAD_ERROR, hone_status_message(st));
    }
    hone_status_free(st);
}

void daemon_on_abort(hone_daemon *d, const hone_farm_lease *lease) {
    daemon_trial *t = find(d, lease);
    if (!t || t->lease.token > lease->token) {
        turn_down(d, lease, "it is not here");
    } else if (t->state == TRIAL_RUNNING) {
        if (!t->is_aborted) cancel(d, t, "aborted by the tracker");
    } else if (t->state == TRIAL_DONE || t->state == TRIAL_RETURNED) {
        farm_repeat_start(&t->repeat, daemon_now(d));
    } else {
        give_back(d, t, "aborted by the tracker");
    }
}

/* ---- what the tracker has to know ---- */

void daemon_on_ack(hone_daemon *d, const hone_farm_lease *lease) {
    daemon_trial *t = find(d, lease);
    if (!t || t->lease.token > lease->token) return;
    if (t->state == TRIAL_DONE) {
        d->stats.results++;
        note_finished(d, &t->lease);
        forget(d, t);
    } else if (t->state == TRIAL_RETURNED) {
        d->stats.returned++;
        forget(d, t);
    }
}

void daemon_on_result_refused(hone_daemon *d, uint64_t message_id, const char *why) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (t->state != TRIAL_DONE || t->message_id != message_id) continue;
        if (t->is_refused) {
            give_back(d, t, why);
        } else {
            t->is_refused = true;
            fail(d, t, HONE_FAILURE_LOAD_ERROR, why);
        }
        return;
    }
}

static void send_result(hone_daemon *d, daemon_trial *t) {
    if (t->state == TRIAL_RETURNED) {
        turn_down(d, &t->lease, t->why);
        return;
    }
    hone_farm_message message = {.kind = HONE_FARM_RESULT, .id = t->message_id};
    message.u.result.token = t->lease.token;
    message.u.result.tuner = t->lease.tuner;
    message.u.result.trial = t->lease.trial;
    message.u.result.result = (hone_farm_bytes){(const uint8_t *)t->result.data, t->result.length};
    farm_link_send(&d->link, &message);
}

static bool has_ended(const daemon_trial *t) {
    return t->state == TRIAL_DONE || t->state == TRIAL_RETURNED;
}

void daemon_send_results(hone_daemon *d) {
    int64_t now = daemon_now(d);
    for (daemon_trial *t = d->trials; t && farm_link_is_up(&d->link); t = t->next) {
        if (!has_ended(t) || now < t->repeat.at_ns) continue;
        send_result(d, t);
        farm_repeat_rang(&t->repeat, daemon_now(d), d->link.heartbeat_ns / 4, d->link.heartbeat_ns);
    }
}

void daemon_resend_all(hone_daemon *d) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        if (has_ended(t)) farm_repeat_start(&t->repeat, daemon_now(d));
    }
}

int64_t daemon_trials_next_ns(const hone_daemon *d) {
    int64_t at = HONE_DEADLINE_NEVER;
    if (!farm_link_is_up(&d->link)) return at;
    for (const daemon_trial *t = d->trials; t; t = t->next) {
        if (has_ended(t)) farm_sooner(&at, t->repeat.at_ns);
    }
    return at;
}

void daemon_give_back_slot(hone_daemon *d, size_t slot, const char *why) {
    for (daemon_trial *t = d->trials; t; t = t->next) {
        bool has_begun = t->state != TRIAL_FETCHING && t->state != TRIAL_READY;
        if (t->slot == slot && !has_begun) give_back(d, t, why);
    }
}

void daemon_give_back(hone_daemon *d, const char *why) {
    for (daemon_trial *t = d->trials, *next; t; t = next) {
        next = t->next;
        if (t->state != TRIAL_FETCHING && t->state != TRIAL_READY) continue;
        if (why) {
            give_back(d, t, why);
        } else {
            forget(d, t);
        }
    }
}

void daemon_list_held(const hone_daemon *d, hone_farm_helds *out_held, hone_farm_held *room) {
    static const hone_farm_held_state states[] = {
        [TRIAL_FETCHING] = HONE_FARM_HELD_WAITING,
        [TRIAL_READY] = HONE_FARM_HELD_WAITING,
        [TRIAL_RUNNING] = HONE_FARM_HELD_RUNNING,
        [TRIAL_DONE] = HONE_FARM_HELD_DONE,
    };
    *out_held = (hone_farm_helds){.items = room};
    for (const daemon_trial *t = d->trials; t && out_held->count < HONE_FARM_MAX_HELD;
         t = t->next) {
        if (t->state == TRIAL_RETURNED) continue;
        room[out_held->count++] = (hone_farm_held){.token = t->lease.token,
                                                   .tuner = t->lease.tuner,
                                                   .trial = t->lease.trial,
                                                   .slot = t->slot,
                                                   .state = states[t->state]};
    }
}
