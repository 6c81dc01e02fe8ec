/* farm/tracker_leases.c - which trial runs where, and what becomes of it.
 *
 *              ASSIGN (again and again)     TAKEN          RESULT of that token
 *     waiting ────────────────────────► sent ─────► taken ─────────────────────► done
 *        ▲                                │           │
 *        │  RETURNED; runner lost, lease run out (counted)
 *        └────────────────────────────────┴───────────┘
 *
 * A lease that runs out, or whose tuner is dropped, leaves the slot stuck: the runner is told to
 * abort, and until it has answered (with a result, which is dropped, or a return) the slot gets
 * nothing. What comes under a token that is not the trial's present one is acknowledged, so that
 * the runner forgets it, counted, and dropped.
 */
#include <assert.h>
#include <string.h>

#include "farm/tracker_impl.h"

#define SLACK_HEARTBEATS 3 /* for a lease, beside the timeouts of its trials */

/* ---- slots ---- */

static void start_busy(const hone_tracker *t, tracker_slot *slot) {
    slot->busy_since_ns = t->now_ns;
}

/* Books the time since the slot got a trial, or since the last trial left it. */
static void book_busy(const hone_tracker *t, tracker_slot *slot) {
    int64_t busy_ns = t->now_ns - slot->busy_since_ns;
    slot->busy_ns += busy_ns;
    slot->tuner->device_ns += busy_ns;
    slot->busy_since_ns = t->now_ns;
}

void tracker_put_on(hone_tracker *t, tracker_trial *trial, tracker_slot *slot, uint64_t token) {
    assert(slot->trial_count < TRACKER_LEASE_TRIALS && !trial->slot);
    if (!slot->trial_count) {
        slot->token = token;
        slot->tuner = trial->tuner;
        slot->lease_ns = t->now_ns;
        start_busy(t, slot);
    }
    assert(slot->token == token && slot->tuner == trial->tuner);
    slot->trials[slot->trial_count++] = trial;
    trial->slot = slot;
    trial->token = token;
    trial->is_taken = false;
    trial->state = HONE_FARM_TRIAL_ASSIGNED;
    int64_t timeouts_ns = 0; /* of those before it, and its own; not more than a year */
    const int64_t most_ns = INT64_C(365) * 86400 * HONE_NS_PER_S;
    for (size_t i = 0; i < slot->trial_count; i++) {
        int64_t ns = slot->trials[i]->is_submitted ? slot->trials[i]->timeout_ns : t->o.grace_ns;
        timeouts_ns = ns > most_ns - timeouts_ns ? most_ns : timeouts_ns + ns;
    }
    trial->deadline_ns = t->now_ns + timeouts_ns + SLACK_HEARTBEATS * t->o.heartbeat_ns;
    tracker_wake_at(t, trial->deadline_ns);
    tracker_repeat_start(t, &trial->repeat);
    tracker_activate(t, trial);
    trial->tuner->running++;
    t->stats.running++;
}

void tracker_evict(hone_tracker *t, tracker_slot *slot, const hone_farm_lease *lease) {
    for (size_t i = 0; i < slot->evicted_count; i++) {
        const hone_farm_lease *e = &slot->evicted[i];
        if (e->token == lease->token && e->trial == lease->trial &&
            hone_hash128_equal(e->tuner, lease->tuner)) {
            return;
        }
    }
    if (slot->evicted_count ==
        TRACKER_LEASE_TRIALS) { /* a runner that holds more than it was given */
        memmove(slot->evicted, slot->evicted + 1, sizeof *slot->evicted);
        slot->evicted_count--;
    }
    slot->evicted[slot->evicted_count++] = *lease;
    slot->closed_token = lease->token;
    tracker_repeat_now(t, &slot->evicted_repeat);
}

void tracker_take_off(hone_tracker *t, tracker_trial *trial, bool evict) {
    tracker_slot *slot = trial->slot;
    assert(slot && trial->state == HONE_FARM_TRIAL_ASSIGNED);
    book_busy(t, slot);
    size_t at = 0;
    while (slot->trials[at] != trial)
        at++;
    memmove(slot->trials + at, slot->trials + at + 1,
            (slot->trial_count - at - 1) * sizeof *slot->trials);
    slot->trial_count--;
    if (!slot->trial_count) {
        slot->tuner = NULL;
        tracker_wake_at(t, t->now_ns); /* it may have what others do not get on with */
    }
    if (evict) {
        tracker_evict(t, slot,
                      &(hone_farm_lease){trial->token, trial->tuner->instance, trial->number});
    }
    *(trial->prev ? &trial->prev->next : &t->active) = trial->next;
    *(trial->next ? &trial->next->prev : &t->active_last) = trial->prev;
    trial->prev = trial->next = NULL;
    trial->slot = NULL;
    trial->slot_number = slot->info.slot;
    memcpy(trial->runner, slot->runner->name, sizeof trial->runner);
    trial->tuner->running--;
    t->stats.running--;
}

/* ---- sending ---- */

static void send_assign(hone_tracker *t, tracker_trial *trial) {
    tracker_slot *slot = trial->slot;
    if (!slot->runner->peer || !trial->is_submitted) return;
    hone_farm_message m = {.kind = HONE_FARM_ASSIGN};
    m.u.assign = (hone_farm_assign){
        .token = trial->token,
        .tuner = trial->tuner->instance,
        .trial = trial->number,
        .slot = slot->info.slot,
        .blobs = {trial->blob_count, trial->blobs        },
        .request = {trial->request,    trial->request_count},
        .timeout_ns = trial->timeout_ns,
        .losses = trial->losses,
    };
    tracker_send(t, slot->runner->peer->net, &m);
}

void tracker_send_abort(hone_tracker *t, tracker_peer *peer, const hone_farm_lease *lease) {
    hone_farm_message m = {.kind = HONE_FARM_ABORT};
    m.u.lease = *lease;
    tracker_send(t, peer->net, &m);
}

static void send_result_ack(hone_tracker *t, const tracker_peer *peer, const hone_farm_message *m,
                            uint64_t token, hone_farm_instance tuner, uint64_t trial) {
    hone_farm_message answer = tracker_answer(m, HONE_FARM_RESULT_ACK);
    answer.u.lease = (hone_farm_lease){token, tuner, trial};
    tracker_send(t, peer->net, &answer);
}

/* ---- giving ---- */

static bool is_usable(const tracker_slot *slot) {
    return slot->runner->peer && !slot->is_draining && !tracker_is_benched(slot);
}

bool tracker_is_free_for_more(const hone_tracker *t, const tracker_slot *slot) {
    return is_usable(slot) && !slot->evicted_count && slot->hold_ns <= t->now_ns &&
           !tracker_is_silent(t, slot->runner);
}

bool tracker_is_for(const tracker_lane *lane, const tracker_slot *slot) {
    char name[sizeof lane->device];
    if (lane->target[0] && strcmp(lane->target, slot->info.target) != 0) return false;
    if (!lane->device[0]) return true;
    tracker_slot_name(slot, name, sizeof name);
    return strcmp(lane->device, name) == 0;
}

/* Not for a tuner that is away, or does not acknowledge the results that it has. */
static bool is_served(const hone_tracker *t, const tracker_tuner *tuner) {
    return tuner->peer && tuner->result_bytes <= t->o.max_request_bytes / 4;
}

/* What came to nothing on a slot through its fault waits for another one, if there is one. */
static bool is_shunned(const tracker_class *class, const tracker_lane *lane,
                       const tracker_slot *slot) {
    const tracker_trial *trial = lane->head;
    if (!trial->is_shy || trial->slot_number != slot->info.slot ||
        strcmp(trial->runner, slot->runner->name) != 0) {
        return false;
    }
    for (size_t i = 0; i < class->slots.count; i++) {
        const tracker_slot *other = class->slots.data[i];
        if (other != slot && is_usable(other) && tracker_is_for(lane, other)) return true;
    }
    return false;
}

/* The next lane whose tuner is served, with something for this slot. */
static tracker_lane *next_lane(const hone_tracker *t, const tracker_class *class,
                               const tracker_slot *slot) {
    tracker_lane *lane = class->first;
    while (lane && !(is_served(t, lane->tuner) && tracker_is_for(lane, slot) &&
                     !is_shunned(class, lane, slot)))
        lane = lane->next;
    return lane;
}

static void end_turn(tracker_lane *lane) {
    tracker_class *class = lane->class;
    if (class->last == lane) return;
    *(lane->prev ? &lane->prev->next : &class->first) = lane->next;
    lane->next->prev = lane->prev;
    lane->prev = class->last;
    lane->next = NULL;
    class->last->next = lane;
    class->last = lane;
}

static hone_status give(hone_tracker *t, tracker_slot *slot, tracker_lane *lane) {
    tracker_trial *trial = lane->head;
    uint64_t token = slot->token;
    if (!slot->trial_count) {
        HONE_TRY(tracker_new_token(t, &token));
        end_turn(lane);
    }
    trial->queue_ns = t->now_ns - trial->waiting_ns;
    t->stats.queue_wait_ns += trial->queue_ns;
    t->stats.assigned++;
    tracker_dequeue(t, trial);
    tracker_put_on(t, trial, slot, token);
    send_assign(t, trial);
    return tracker_store_trial(t, trial);
}

static tracker_lane *lane_of(const tracker_class *class, const tracker_slot *slot) {
    for (tracker_lane *lane = class->first; lane; lane = lane->next) {
        if (lane->tuner == slot->tuner && tracker_is_for(lane, slot)) return lane;
    }
    return NULL;
}

static bool others_wait(const hone_tracker *t, const tracker_class *class,
                        const tracker_slot *slot) {
    for (const tracker_lane *lane = class->first; lane; lane = lane->next) {
        if (lane->tuner != slot->tuner && is_served(t, lane->tuner) && tracker_is_for(lane, slot)) {
            return true;
        }
    }
    return false;
}

static bool has_device(const tracker_class *class, const tracker_lane *lane) {
    for (size_t i = 0; i < class->slots.count; i++) {
        const tracker_slot *slot = class->slots.data[i];
        if (tracker_is_for(lane, slot) && !slot->is_draining && !tracker_is_benched(slot))
            return true;
    }
    return false;
}

/* A lane for one device that is not there: its trials are lost, not run elsewhere. */
static tracker_lane *stranded_lane(const tracker_class *class) {
    for (tracker_lane *lane = class->first; lane; lane = lane->next) {
        if (lane->device[0] && !has_device(class, lane)) return lane;
    }
    return NULL;
}

/* After a start runners get the time to come back that they have when they are lost. */
static hone_status end_stranded(hone_tracker *t, const tracker_class *class) {
    int64_t back_ns = t->started_ns + SLACK_HEARTBEATS * t->o.heartbeat_ns;
    if (t->now_ns < back_ns) {
        tracker_wake_at(t, back_ns);
        return HONE_OK;
    }
    for (tracker_lane *lane; (lane = stranded_lane(class));) {
        tracker_trial *trial = lane->head;
        tracker_dequeue(t, trial);
        HONE_TRY(tracker_finish_failed(t, trial, HONE_FAILURE_DEVICE_LOST,
                                       "device '%s' is not there", lane->device));
    }
    return HONE_OK;
}

/* No trial gets one token twice: what was said about its first time would count for the second. */
static bool may_join(const tracker_class *class, const tracker_lane *lane,
                     const tracker_slot *slot) {
    return lane->count && slot->trial_count < TRACKER_LEASE_TRIALS && !slot->errors &&
           slot->token != slot->closed_token && lane->head->token < slot->token &&
           !is_shunned(class, lane, slot);
}

/* Idle slots first, each to the tuner whose turn it is; then a second trial behind the first of
 * the same tuner, unless its quantum is over and others wait. */
static hone_status schedule_class(hone_tracker *t, tracker_class *class) {
    for (size_t i = 0; i < class->slots.count && class->first; i++) {
        tracker_slot *slot = class->slots.data[i];
        if (slot->trial_count || !tracker_is_free_for_more(t, slot)) continue;
        tracker_lane *lane = next_lane(t, class, slot);
        if (lane) HONE_TRY(give(t, slot, lane));
    }
    for (size_t i = 0; i < class->slots.count && class->first; i++) {
        tracker_slot *slot = class->slots.data[i];
        if (!slot->trial_count || !tracker_is_free_for_more(t, slot)) continue;
        bool is_over = t->now_ns - slot->lease_ns >= t->o.quantum_ns;
        if (is_over && others_wait(t, class, slot)) continue;
        tracker_lane *lane = is_served(t, slot->tuner) ? lane_of(class, slot) : NULL;
        while (lane && may_join(class, lane, slot))
            HONE_TRY(give(t, slot, lane));
    }
    return end_stranded(t, class);
}

hone_status tracker_schedule(hone_tracker *t) {
    for (size_t i = 0; i < t->classes.count; i++)
        HONE_TRY(schedule_class(t, t->classes.data[i]));
    return HONE_OK;
}

/* ---- taking back ---- */

/* A trial that only its runner has told of cannot be handed out again: its tuner submits it anew.
 */
static hone_status put_back(hone_tracker *t, tracker_trial *trial) {
    if (!trial->is_submitted) {
        trial->state = HONE_FARM_TRIAL_WAITING;
        tracker_free_trial(t, trial);
        return HONE_OK;
    }
    if (trial->is_cancelled) {
        return tracker_finish_failed(t, trial, HONE_FAILURE_CANCELLED, "cancelled");
    }
    tracker_enqueue(t, trial, true);
    return tracker_store_trial(t, trial);
}

hone_status tracker_lose(hone_tracker *t, tracker_trial *trial, const char *why) {
    trial->losses++;
    if (trial->is_submitted && !trial->is_cancelled) {
        if (trial->losses >= 2) {
            return tracker_finish_failed(t, trial, HONE_FAILURE_DEVICE_LOST,
                                         "%s, as the one before", why);
        }
        t->stats.requeued++;
    }
    return put_back(t, trial);
}

hone_status tracker_requeue(hone_tracker *t, tracker_trial *trial) {
    return put_back(t, trial);
}

/* ---- what runners say ---- */

/* The trial, if it runs on a slot of this peer under this token. */
static tracker_trial *find_leased(const hone_tracker *t, const tracker_peer *peer, uint64_t token,
                                  hone_farm_instance tuner, uint64_t number) {
    tracker_trial *trial = tracker_find_trial(t, tuner, number);
    bool is_it = trial && trial->state == HONE_FARM_TRIAL_ASSIGNED && trial->token == token &&
                 trial->slot->runner == peer->runner;
    return is_it ? trial : NULL;
}

static void clear_evicted(tracker_runner *runner, uint64_t token, hone_farm_instance tuner,
                          uint64_t trial) {
    for (size_t i = 0; i < runner->slot_count; i++) {
        tracker_slot *slot = &runner->slots[i];
        for (size_t k = 0; k < slot->evicted_count; k++) {
            const hone_farm_lease *e = &slot->evicted[k];
            if (e->token != token || e->trial != trial || !hone_hash128_equal(e->tuner, tuner)) {
                continue;
            }
            slot->evicted[k] = slot->evicted[--slot->evicted_count];
            return;
        }
    }
}

hone_status tracker_on_taken(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_lease *l = &m->u.lease;
    tracker_trial *trial = find_leased(t, peer, l->token, l->tuner, l->trial);
    if (!trial) {
        tracker_send_abort(t, peer, l);
        return HONE_OK;
    }
    trial->is_taken = true;
    return HONE_OK;
}

/* Not done, and through no fault of its own: it goes to somebody else, but not for ever. */
static hone_status give_again(hone_tracker *t, tracker_trial *trial, const char *why) {
    if (++trial->returns < TRACKER_MAX_RETURNS || trial->is_cancelled) {
        return tracker_requeue(t, trial);
    }
    return tracker_finish_failed(t, trial, HONE_FAILURE_DEVICE_LOST,
                                 "it came back %d times, the last time: %s", TRACKER_MAX_RETURNS,
                                 why);
}

static hone_status take_result(hone_tracker *t, tracker_trial *trial, hone_farm_bytes bytes) {
    tracker_slot *slot = trial->slot;
    char room[HONE_FARM_NOTE_BYTES];
    const char *problem;
    hone_failure failure;
    HONE_TRY(tracker_judge(trial, bytes, room, &problem, &failure));
    tracker_take_off(t, trial, false);
    if (problem) {
        tracker_slot_erred(t, slot, problem);
        trial->is_shy = true;
        return give_again(t, trial, problem);
    }
    tracker_slot_works(t, slot);
    *(failure == HONE_FAILURE_NONE ? &slot->done : &slot->failed) += 1;
    t->stats.done++;
    return tracker_finish(t, trial, bytes);
}

hone_status tracker_on_result(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_result *r = &m->u.result;
    tracker_trial *trial = find_leased(t, peer, r->token, r->tuner, r->trial);
    if (trial) {
        HONE_TRY(take_result(t, trial, r->result));
    } else {
        clear_evicted(peer->runner, r->token, r->tuner, r->trial);
        t->stats.duplicates++;
    }
    send_result_ack(t, peer, m, r->token, r->tuner, r->trial);
    return HONE_OK;
}

hone_status tracker_on_returned(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_returned *r = &m->u.returned;
    tracker_trial *trial = find_leased(t, peer, r->token, r->tuner, r->trial);
    send_result_ack(t, peer, m, r->token, r->tuner, r->trial);
    if (!trial) {
        clear_evicted(peer->runner, r->token, r->tuner, r->trial);
        return HONE_OK;
    }
    tracker_slot *slot = trial->slot;
    tracker_take_off(t, trial, false);
    slot->hold_ns = t->now_ns + t->o.heartbeat_ns;
    tracker_wake_at(t, slot->hold_ns);
    t->stats.returned++;
    trial->is_shy = true;
    return give_again(t, trial, r->text);
}

/* ---- timers ---- */

/* The lease is over: nothing came of this trial in time. What stood behind it is innocent. */
static hone_status expire(hone_tracker *t, tracker_slot *slot) {
    tracker_log_odd(t, "the lease of runner '%s', slot %u ran out", slot->runner->name,
                    slot->info.slot);
    while (slot->trial_count > 1) {
        tracker_trial *trial = slot->trials[slot->trial_count - 1];
        tracker_take_off(t, trial, true);
        HONE_TRY(tracker_requeue(t, trial));
    }
    tracker_trial *trial = slot->trials[0];
    slot->lost++;
    tracker_take_off(t, trial, true);
    return tracker_lose(t, trial, "the runner did not answer in time");
}

static void repeat_trial(hone_tracker *t, tracker_trial *trial) {
    if (trial->is_taken && !trial->is_cancelled) return;
    if (!tracker_repeat_due(t, &trial->repeat) || !trial->slot->runner->peer) return;
    if (trial->is_cancelled) {
        tracker_send_abort(t, trial->slot->runner->peer,
                           &(hone_farm_lease){trial->token, trial->tuner->instance, trial->number});
    } else {
        send_assign(t, trial);
    }
}

static void repeat_evicted(hone_tracker *t, tracker_slot *slot) {
    if (!slot->evicted_count || !tracker_repeat_due(t, &slot->evicted_repeat)) return;
    for (size_t i = 0; slot->runner->peer && i < slot->evicted_count; i++)
        tracker_send_abort(t, slot->runner->peer, &slot->evicted[i]);
}

static void slot_timers(hone_tracker *t) {
    for (size_t i = 0; i < t->classes.count; i++) {
        for (size_t k = 0; k < t->classes.data[i]->slots.count; k++) {
            tracker_slot *slot = t->classes.data[i]->slots.data[k];
            repeat_evicted(t, slot);
            if (slot->hold_ns > t->now_ns) tracker_wake_at(t, slot->hold_ns);
        }
    }
}

hone_status tracker_lease_timers(hone_tracker *t) {
    for (tracker_trial *trial = t->active, *next; trial; trial = next) {
        next = trial->next;
        if (trial->state != HONE_FARM_TRIAL_ASSIGNED) continue;
        if (trial->deadline_ns > t->now_ns) {
            tracker_wake_at(t, trial->deadline_ns);
            repeat_trial(t, trial);
            continue;
        }
        HONE_TRY(expire(t, trial->slot));
        next = t->active; /* the list has changed */
    }
    slot_timers(t);
    return HONE_OK;
}
