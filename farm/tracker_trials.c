/* farm/tracker_trials.c - tuners and their trials.
 *
 * A trial is in exactly one list: that of its lane while it waits, else the tracker's active list
 * (assigned, or done and not acknowledged). A tuner whose connection ended keeps its trials for the
 * grace time; those that wait are not handed out meanwhile.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "farm/tracker_impl.h"
#include "measure/wire.h"
#include "support/core/alloc.h"
#include "support/core/number.h"

static tracker_tuner *tuner_of(uint64_t value) {
    return (tracker_tuner *)(uintptr_t)value;
}
static tracker_trial *trial_of(uint64_t value) {
    return (tracker_trial *)(uintptr_t)value;
}

tracker_tuner *tracker_find_tuner(const hone_tracker *t, hone_farm_instance instance) {
    uint64_t value;
    return hone_map128_find(&t->tuners, instance, &value) ? tuner_of(value) : NULL;
}

tracker_trial *tracker_find_trial(const hone_tracker *t, hone_farm_instance tuner,
                                  uint64_t number) {
    uint64_t value;
    tracker_tuner *it = tracker_find_tuner(t, tuner);
    return it && hone_u64map_find(&it->trials, number, &value) ? trial_of(value) : NULL;
}

/* ---- lists ---- */

static void link_lane(tracker_lane *lane) {
    tracker_class *class = lane->class;
    lane->prev = class->last;
    lane->next = NULL;
    *(class->last ? &class->last->next : &class->first) = lane;
    class->last = lane;
}

static void unlink_lane(tracker_lane *lane) {
    tracker_class *class = lane->class;
    *(lane->prev ? &lane->prev->next : &class->first) = lane->next;
    *(lane->next ? &lane->next->prev : &class->last) = lane->prev;
    lane->prev = lane->next = NULL;
}

void tracker_enqueue(hone_tracker *t, tracker_trial *trial, bool in_front) {
    tracker_lane *lane = trial->lane;
    assert(lane && !trial->slot);
    if (!lane->count++) link_lane(lane);
    trial->state = HONE_FARM_TRIAL_WAITING;
    trial->waiting_ns = t->now_ns;
    trial->prev = in_front ? NULL : lane->tail;
    trial->next = in_front ? lane->head : NULL;
    *(trial->prev ? &trial->prev->next : &lane->head) = trial;
    *(trial->next ? &trial->next->prev : &lane->tail) = trial;
    trial->tuner->waiting++;
    t->stats.waiting++;
}

void tracker_dequeue(hone_tracker *t, tracker_trial *trial) {
    tracker_lane *lane = trial->lane;
    assert(trial->state == HONE_FARM_TRIAL_WAITING && lane->count);
    *(trial->prev ? &trial->prev->next : &lane->head) = trial->next;
    *(trial->next ? &trial->next->prev : &lane->tail) = trial->prev;
    trial->prev = trial->next = NULL;
    if (!--lane->count) unlink_lane(lane);
    trial->tuner->waiting--;
    t->stats.waiting--;
}

void tracker_activate(hone_tracker *t, tracker_trial *trial) {
    trial->prev = t->active_last;
    trial->next = NULL;
    *(t->active_last ? &t->active_last->next : &t->active) = trial;
    t->active_last = trial;
}

static void deactivate(hone_tracker *t, tracker_trial *trial) {
    *(trial->prev ? &trial->prev->next : &t->active) = trial->next;
    *(trial->next ? &trial->next->prev : &t->active_last) = trial->prev;
    trial->prev = trial->next = NULL;
}

static tracker_lane *find_lane(const tracker_tuner *tuner, const hone_farm_submit *m) {
    for (size_t i = 0; i < tuner->lanes.count; i++) {
        tracker_lane *lane = tuner->lanes.data[i];
        if (strcmp(lane->class->key, m->device_key) == 0 && strcmp(lane->device, m->device) == 0 &&
            strcmp(lane->target, m->target) == 0) {
            return lane;
        }
    }
    return NULL;
}

static tracker_lane *get_lane(hone_tracker *t, tracker_tuner *tuner, const hone_farm_submit *m) {
    tracker_lane *known = find_lane(tuner, m);
    if (known) return known;
    tracker_class *class = tracker_get_class(t, m->device_key);
    tracker_lane *lane = class ? hone_calloc(1, sizeof *lane) : NULL;
    if (!lane || !hone_vec_push(&tuner->lanes, lane)) {
        if (class) tracker_class_release(t, class);
        hone_free(lane);
        return NULL;
    }
    lane->tuner = tuner;
    lane->class = class;
    hone_farm_set_text(lane->device, sizeof lane->device, m->device);
    hone_farm_set_text(lane->target, sizeof lane->target, m->target);
    class->lanes++;
    return lane;
}

/* ---- trials ---- */

tracker_trial *tracker_make_trial(hone_tracker *t, tracker_tuner *tuner, uint64_t number) {
    (void)t;
    tracker_trial *trial = hone_calloc(1, sizeof *trial);
    if (!trial || !hone_u64map_put(&tuner->trials, number, (uint64_t)(uintptr_t)trial)) {
        hone_free(trial);
        return NULL;
    }
    trial->tuner = tuner;
    trial->number = number;
    return trial;
}

static void release_files(hone_tracker *t, tracker_trial *trial) {
    for (size_t i = 0; i < trial->blob_count; i++)
        tracker_release_blob(t, trial->files[i]);
    trial->blob_count = 0;
}

/* What the trial needed to run, when it will not run again. */
static void drop_request(hone_tracker *t, tracker_trial *trial) {
    release_files(t, trial);
    t->stats.request_bytes -= (int64_t)trial->request_count;
    hone_free(trial->request);
    trial->request = NULL;
    trial->request_count = 0;
}

hone_status tracker_fill_trial(hone_tracker *t, tracker_trial *trial, const hone_farm_submit *m) {
    assert(!trial->is_submitted);
    tracker_lane *lane = get_lane(t, trial->tuner, m);
    uint8_t *request = hone_malloc(m->request.count + 1);
    if (!lane || !request) {
        hone_free(request);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial");
    }
    for (size_t i = 0; i < m->blobs.count; i++) {
        tracker_blob *file = tracker_hold_blob(t, &m->blobs.items[i]);
        if (!file) {
            release_files(t, trial);
            hone_free(request);
            return HONE_ERROR(HONE_CODE_INVALID, "a file is known with another size");
        }
        trial->blobs[trial->blob_count] = m->blobs.items[i];
        trial->files[trial->blob_count++] = file;
    }
    if (m->request.count) memcpy(request, m->request.data, m->request.count);
    trial->request = request;
    trial->request_count = m->request.count;
    t->stats.request_bytes += (int64_t)m->request.count;
    trial->lane = lane;
    trial->timeout_ns = m->timeout_ns;
    trial->wants_time = m->wants_time;
    trial->wants_before = t->blob_wants;
    trial->is_submitted = true;
    return HONE_OK;
}

/* Out of whatever list it is in; assigned trials are taken off their slot before. */
static void unlist(hone_tracker *t, tracker_trial *trial) {
    assert(trial->state != HONE_FARM_TRIAL_ASSIGNED || !trial->slot);
    if (trial->state == HONE_FARM_TRIAL_WAITING && trial->is_submitted) tracker_dequeue(t, trial);
    if (trial->state == HONE_FARM_TRIAL_DONE) deactivate(t, trial);
}

void tracker_free_trial(hone_tracker *t, tracker_trial *trial) {
    drop_request(t, trial);
    t->stats.request_bytes -= (int64_t)trial->result_count;
    trial->tuner->result_bytes -= (int64_t)trial->result_count;
    hone_u64map_remove(&trial->tuner->trials, trial->number);
    hone_free(trial->result);
    hone_free(trial);
}

static void send_outcome(hone_tracker *t, tracker_trial *trial) {
    if (!trial->tuner->peer) return;
    hone_farm_message m = {.kind = HONE_FARM_OUTCOME};
    m.u.outcome = (hone_farm_outcome){
        .trial = trial->number,
        .result = {trial->result, trial->result_count},
        .slot = trial->slot_number,
        .losses = trial->losses,
        .queue_ns = trial->queue_ns,
    };
    hone_farm_set_text(m.u.outcome.runner, sizeof m.u.outcome.runner, trial->runner);
    tracker_send(t, trial->tuner->peer->net, &m);
}

/* There is no memory for the result of a trial that is in no list: it runs again. */
static hone_status cannot_finish(hone_tracker *t, tracker_trial *trial) {
    if (trial->is_submitted) {
        tracker_enqueue(t, trial, true);
    } else {
        trial->state = HONE_FARM_TRIAL_WAITING;
        tracker_free_trial(t, trial);
    }
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "result");
}

hone_status tracker_finish(hone_tracker *t, tracker_trial *trial, hone_farm_bytes result) {
    assert(trial->state != HONE_FARM_TRIAL_DONE && !trial->slot);
    uint8_t *copy = hone_malloc(result.count + 1);
    if (!copy) return cannot_finish(t, trial);
    if (result.count) memcpy(copy, result.data, result.count);
    trial->result = copy;
    trial->result_count = result.count;
    t->stats.request_bytes += (int64_t)result.count;
    trial->tuner->result_bytes += (int64_t)result.count;
    drop_request(t, trial);
    trial->state = HONE_FARM_TRIAL_DONE;
    tracker_activate(t, trial);
    tracker_repeat_start(t, &trial->repeat);
    send_outcome(t, trial);
    return tracker_store_trial(t, trial);
}

hone_status tracker_finish_failed(hone_tracker *t, tracker_trial *trial, hone_failure failure,
                                  const char *format, ...) {
    hone_run_result result;
    char text[HONE_RUN_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    hone_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hone_run_result_init(&result);
    hone_run_result_fail(&result, failure, "%s", text);
    if (failure == HONE_FAILURE_DEVICE_LOST) t->stats.lost++;
    if (failure == HONE_FAILURE_CANCELLED) t->stats.cancelled++;
    hone_str bytes = {0};
    hone_status st = hone_run_result_encode(&result, &bytes);
    if (st) {
        hone_status_free(st);
        st = cannot_finish(t, trial);
    } else {
        st = tracker_finish(t, trial, (hone_farm_bytes){(const uint8_t *)bytes.data, bytes.length});
    }
    hone_str_deinit(&bytes);
    return st;
}

/* ---- tuners ---- */

tracker_tuner *tracker_make_tuner(hone_tracker *t, hone_farm_instance instance) {
    tracker_tuner *tuner = hone_calloc(1, sizeof *tuner);
    if (!tuner || !hone_map128_put(&t->tuners, instance, (uint64_t)(uintptr_t)tuner)) {
        hone_free(tuner);
        return NULL;
    }
    tuner->instance = instance;
    tuner->gone_ns = tuner->heard_ns = t->now_ns;
    tracker_wake_at(t, t->now_ns + t->o.grace_ns);
    return tuner;
}

hone_status tracker_remove_tuner(hone_tracker *t, tracker_tuner *tuner, const char *why) {
    size_t unfinished = hone_u64map_count(&tuner->trials);
    HONE_LOG(t->o.log, HONE_LOG_INFO, "tuner '%s' %s%s", tuner->name, why,
             unfinished ? ": its trials are cancelled" : "");
    HONE_TRY(tracker_unstore_tuner(t, tuner));
    uint64_t number, value;
    for (size_t i = 0; hone_u64map_next(&tuner->trials, &i, &number, &value);) {
        tracker_trial *trial = trial_of(value);
        if (trial->slot) {
            tracker_take_off(t, trial, true);
        } else {
            unlist(t, trial);
        }
        tracker_free_trial(t, trial);
    }
    if (tuner->peer) {
        tuner->peer->tuner = NULL;
        tuner->peer->is_welcome = false;
    }
    tracker_blobs_forget_tuner(t, tuner);
    for (size_t i = 0; i < tuner->lanes.count; i++) {
        tracker_class *class = tuner->lanes.data[i]->class;
        class->lanes--;
        hone_free(tuner->lanes.data[i]);
        tracker_class_release(t, class);
    }
    hone_vec_deinit(&tuner->lanes);
    hone_u64map_deinit(&tuner->trials);
    hone_map128_remove(&t->tuners, tuner->instance);
    hone_free(tuner);
    return HONE_OK;
}

static hone_status new_tuner(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                             tracker_tuner **out_tuner) {
    if (hone_map128_count(&t->tuners) >= t->o.max_tuners) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_BUSY, "there are %u tuners already",
                       t->o.max_tuners);
        return HONE_OK;
    }
    *out_tuner = tracker_make_tuner(t, m->u.hello.instance);
    return *out_tuner ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "tuner");
}

static void name_tuner(const hone_tracker *t, const tracker_peer *peer, const char *name,
                       tracker_tuner *tuner) {
    const hone_allowed *entry =
        t->o.allowed ? hone_allow_list_find(t->o.allowed, &peer->key) : NULL;
    if (!name[0] && entry) name = entry->name;
    hone_farm_set_text(tuner->name, sizeof tuner->name, name[0] ? name : peer->address);
}

/* Outcomes that it may have missed. */
static void repeat_outcomes(hone_tracker *t, const tracker_tuner *tuner) {
    uint64_t number, value;
    for (size_t i = 0; hone_u64map_next(&tuner->trials, &i, &number, &value);) {
        tracker_trial *trial = trial_of(value);
        if (trial->state == HONE_FARM_TRIAL_DONE) tracker_repeat_now(t, &trial->repeat);
    }
}

hone_status tracker_tuner_hello(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    tracker_tuner *tuner = tracker_find_tuner(t, m->u.hello.instance);
    if (peer->tuner && peer->tuner != tuner) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "a connection has one instance");
        return HONE_OK;
    }
    if (tuner && tuner->is_known && !hone_key_equal(&tuner->key, &peer->key)) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_TAKEN, "this instance has another key");
        return HONE_OK;
    }
    if (!tuner) HONE_TRY(new_tuner(t, peer, m, &tuner));
    if (!tuner) return HONE_OK;
    if (tuner->peer && tuner->peer != peer) {
        tracker_peer *old = tuner->peer;
        old->tuner = NULL;
        tracker_drop_peer(t, old);
    }
    bool is_new = !tuner->is_known;
    name_tuner(t, peer, m->u.hello.name, tuner);
    tuner->key = peer->key;
    tuner->is_known = true;
    tuner->peer = peer;
    tuner->heard_ns = t->now_ns;
    peer->tuner = tuner;
    if (is_new) {
        HONE_TRY(tracker_store_tuner(t, tuner));
        HONE_LOG(t->o.log, HONE_LOG_INFO, "tuner '%s' joins from %s", tuner->name, peer->address);
    }
    tracker_welcome(t, peer, m);
    repeat_outcomes(t, tuner);
    return HONE_OK;
}

static hone_status drop_gone_tuners(hone_tracker *t) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->tuners, &i, &key, &value);) {
        tracker_tuner *tuner = tuner_of(value);
        if (tuner->peer) continue;
        int64_t end_ns = tuner->gone_ns + t->o.grace_ns;
        if (end_ns > t->now_ns) {
            tracker_wake_at(t, end_ns);
        } else {
            HONE_TRY(tracker_remove_tuner(t, tuner, "did not come back"));
        }
    }
    return HONE_OK;
}

hone_status tracker_tuner_timers(hone_tracker *t) {
    for (tracker_trial *trial = t->active; trial; trial = trial->next) {
        if (trial->state != HONE_FARM_TRIAL_DONE || !trial->tuner->peer) continue;
        if (tracker_repeat_due(t, &trial->repeat)) send_outcome(t, trial);
    }
    return drop_gone_tuners(t);
}

/* ---- submit ---- */

static void accept(hone_tracker *t, const tracker_peer *peer, const hone_farm_message *m) {
    hone_farm_message answer = tracker_answer(m, HONE_FARM_ACCEPTED);
    answer.u.accepted.trial = m->u.submit.trial;
    tracker_send(t, peer->net, &answer);
}

static bool was_acknowledged(const tracker_tuner *tuner, uint64_t number) {
    uint64_t count = tuner->recent_count < TRACKER_RECENT ? tuner->recent_count : TRACKER_RECENT;
    for (uint64_t i = 0; i < count; i++) {
        if (tuner->recent[i] == number) return true;
    }
    return false;
}

/* NULL: there is room for it. */
static const char *over_limit(const hone_tracker *t, const tracker_tuner *tuner,
                              const hone_farm_submit *m) {
    if (hone_u64map_count(&tuner->trials) >= t->o.max_trials) return "too many unfinished trials";
    if (t->stats.request_bytes + (int64_t)m->request.count > t->o.max_request_bytes) {
        return "the queue has no room for more";
    }
    if (tuner->lanes.count >= TRACKER_MAX_LANES && !find_lane(tuner, m)) {
        return "too many devices and device keys";
    }
    return NULL;
}

static const char *bad_files(const hone_tracker *t, const hone_farm_blobs *blobs) {
    for (size_t i = 0; i < blobs->count; i++) {
        if (blobs->items[i].bytes > t->o.blob_cache_bytes) {
            return "a file is larger than the tracker's cache";
        }
    }
    return NULL;
}

static hone_status submit_new(hone_tracker *t, tracker_tuner *tuner, const hone_farm_submit *m) {
    tracker_trial *trial = tracker_make_trial(t, tuner, m->trial);
    if (!trial) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial");
    hone_status st = tracker_fill_trial(t, trial, m);
    if (st) {
        tracker_free_trial(t, trial);
        return st;
    }
    tracker_enqueue(t, trial, false);
    t->stats.submitted++;
    for (size_t i = 0; i < trial->blob_count; i++)
        tracker_prefetch(t, trial->files[i]);
    return tracker_store_new_trial(t, trial);
}

/* A trial that was known from its runner only, or is known altogether. */
static hone_status submit_known(hone_tracker *t, tracker_trial *trial, const hone_farm_submit *m) {
    if (!trial->is_submitted && trial->state != HONE_FARM_TRIAL_DONE) {
        HONE_TRY(tracker_fill_trial(t, trial, m));
        HONE_TRY(tracker_store_new_trial(t, trial));
    }
    if (trial->state == HONE_FARM_TRIAL_DONE) send_outcome(t, trial);
    return HONE_OK;
}

hone_status tracker_on_submit(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_submit *submit = &m->u.submit;
    tracker_tuner *tuner = peer->tuner;
    tracker_trial *trial = tracker_find_trial(t, tuner->instance, submit->trial);
    if (!trial && was_acknowledged(tuner, submit->trial)) {
        accept(t, peer, m);
        return HONE_OK;
    }
    const char *problem = submit->device_key[0] ? bad_files(t, &submit->blobs) : "no device key";
    if (problem) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "%s", problem);
        return HONE_OK;
    }
    problem = trial ? NULL : over_limit(t, tuner, submit);
    if (problem) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_BUSY, "%s", problem);
        return HONE_OK;
    }
    hone_status st = trial ? submit_known(t, trial, submit) : submit_new(t, tuner, submit);
    if (hone_status_code(st) == HONE_CODE_INVALID) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "%s", hone_status_message(st));
        hone_status_free(st);
        return HONE_OK;
    }
    if (!st) accept(t, peer, m);
    return st;
}

/* ---- outcome and cancel ---- */

hone_status tracker_on_outcome_ack(hone_tracker *t, tracker_peer *peer,
                                   const hone_farm_message *m) {
    tracker_tuner *tuner = peer->tuner;
    tracker_trial *trial = tracker_find_trial(t, tuner->instance, m->u.outcome_ack.trial);
    if (!trial || trial->state != HONE_FARM_TRIAL_DONE) return HONE_OK;
    HONE_TRY(tracker_unstore_trial(t, trial));
    tuner->recent[tuner->recent_count++ % TRACKER_RECENT] = trial->number;
    tuner->done++;
    deactivate(t, trial);
    tracker_free_trial(t, trial);
    return HONE_OK;
}

static hone_status cancel_trial(hone_tracker *t, tracker_trial *trial) {
    switch (trial->state) {
    case HONE_FARM_TRIAL_WAITING:
        tracker_dequeue(t, trial);
        return tracker_finish_failed(t, trial, HONE_FAILURE_CANCELLED, "cancelled in the queue");
    case HONE_FARM_TRIAL_ASSIGNED:
        if (trial->is_cancelled) return HONE_OK;
        trial->is_cancelled = true;
        tracker_repeat_now(t, &trial->repeat);
        return tracker_store_trial(t, trial);
    default:
        send_outcome(t, trial);
        return HONE_OK;
    }
}

hone_status tracker_on_cancel(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    tracker_trial *trial = tracker_find_trial(t, peer->tuner->instance, m->u.cancel.trial);
    hone_farm_message answer = tracker_answer(m, HONE_FARM_CANCELLED);
    answer.u.cancelled = (hone_farm_cancelled){m->u.cancel.trial, trial != NULL};
    tracker_send(t, peer->net, &answer);
    return trial ? cancel_trial(t, trial) : HONE_OK;
}
