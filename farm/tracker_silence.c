/* farm/tracker_silence.c - runners that say nothing while others have nothing to do.
 *
 * A runner is lost after three heartbeats, which is patient: its connection may come back. Those
 * who wait for its results need not be so. As soon as a slot of its kind has nothing to do, one
 * that was silent for half a heartbeat is asked for a sign of life, and without one its trials go
 * to those who can have them; what it says of them later is dropped. A trial moves so only once, so
 * that one that brings down its runners does not go through a whole farm.
 */
#include "farm/tracker_impl.h"

static bool can_move(const hone_tracker *t, const tracker_trial *trial, const tracker_slot *to) {
    return trial->is_submitted && !trial->is_cancelled && !trial->was_moved &&
           tracker_is_for(trial->lane, to) && !to->trial_count && tracker_is_free_for_more(t, to);
}

/* All trials of the slot, or none: they stand under one lease. */
static bool can_move_all(const hone_tracker *t, const tracker_slot *slot) {
    const tracker_class *class = slot->class;
    for (size_t i = 0; i < class->slots.count; i++) {
        const tracker_slot *to = class->slots.data[i];
        size_t movable = 0;
        while (movable < slot->trial_count && can_move(t, slot->trials[movable], to))
            movable++;
        if (to->runner != slot->runner && movable == slot->trial_count) return true;
    }
    return false;
}

static int64_t patience_ns(const hone_tracker *t) {
    return t->o.heartbeat_ns / 4;
}

bool tracker_is_silent(const hone_tracker *t, const tracker_runner *runner) {
    const tracker_peer *peer = runner->peer;
    return !peer || (peer->probed_ns && t->now_ns - peer->probed_ns >= patience_ns(t));
}

/* Asked once for a sign of life. */
static bool is_suspect(hone_tracker *t, tracker_runner *runner) {
    tracker_peer *peer = runner->peer;
    int64_t at_ns = runner->heard_ns + t->o.heartbeat_ns / 2;
    if (at_ns > t->now_ns) {
        tracker_wake_at(t, at_ns);
        return false;
    }
    if (!peer) return true;
    if (!peer->probed_ns) {
        hone_farm_message ping = {.kind = HONE_FARM_PING, .id = 1};
        tracker_send(t, peer->net, &ping);
        peer->probed_ns = t->now_ns;
    }
    tracker_wake_at(t, peer->probed_ns + patience_ns(t));
    return tracker_is_silent(t, runner);
}

static hone_status move_all(hone_tracker *t, tracker_slot *slot) {
    HONE_LOG(t->o.log, HONE_LOG_WARNING,
             "runner '%s' says nothing: %zu trials of slot %u go to others", slot->runner->name,
             slot->trial_count, slot->info.slot);
    while (slot->trial_count) { /* the last one first: the older stands in front of it */
        tracker_trial *trial = slot->trials[slot->trial_count - 1];
        trial->was_moved = slot->trial_count == 1; /* only this one was running */
        tracker_take_off(t, trial, true);
        t->stats.requeued++;
        HONE_TRY(tracker_requeue(t, trial));
    }
    return HONE_OK;
}

static hone_status look_at(hone_tracker *t, tracker_slot *slot) {
    if (!slot->trial_count || !can_move_all(t, slot) || !is_suspect(t, slot->runner))
        return HONE_OK;
    return move_all(t, slot);
}

hone_status tracker_silence_timers(hone_tracker *t) {
    for (size_t i = 0; i < t->classes.count; i++) {
        for (size_t k = 0; k < t->classes.data[i]->slots.count; k++)
            HONE_TRY(look_at(t, t->classes.data[i]->slots.data[k]));
    }
    return HONE_OK;
}

void tracker_count_moved(hone_tracker *t, const tracker_slot *slot) {
    for (size_t i = 0; i < slot->evicted_count; i++) {
        const hone_farm_lease *e = &slot->evicted[i];
        tracker_trial *trial = tracker_find_trial(t, e->tuner, e->trial);
        if (trial && trial->was_moved && trial->state != HONE_FARM_TRIAL_DONE) trial->losses++;
    }
}
