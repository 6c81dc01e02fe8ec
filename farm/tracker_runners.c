/* farm/tracker_runners.c - runners and their slots, and the classes of slots with one device key.
 *
 * A runner is an instance (a process). Its connection may end and come back; when nothing was heard
 * from it for three heartbeats it is lost, and its trials are handed out again. A restarted runner
 * is another instance under the same name and key: the older one is lost then, at once if its
 * connection has ended, else when it does not answer a probe.
 *
 * When a runner says hello, what it holds and what the books say are brought together: what the
 * books give it and it does not hold is assigned again, what it holds beyond the books is aborted.
 * A tracker without memory of an earlier life takes over what was leased there.
 */
#include <stdio.h>
#include <string.h>

#include "farm/tracker_impl.h"
#include "support/core/alloc.h"

#define EXPIRY_HEARTBEATS 3

static tracker_runner *runner_of(uint64_t value) {
    return (tracker_runner *)(uintptr_t)value;
}

/* ---- classes ---- */

tracker_class *tracker_get_class(hone_tracker *t, const char *key) {
    for (size_t i = 0; i < t->classes.count; i++) {
        if (strcmp(t->classes.data[i]->key, key) == 0) return t->classes.data[i];
    }
    tracker_class *class = hone_calloc(1, sizeof *class);
    if (!class || !hone_vec_push(&t->classes, class)) {
        hone_free(class);
        return NULL;
    }
    snprintf(class->key, sizeof class->key, "%s", key);
    return class;
}

void tracker_class_release(hone_tracker *t, tracker_class *class) {
    if (class->slots.count || class->lanes) return;
    for (size_t i = 0; i < t->classes.count; i++) {
        if (t->classes.data[i] != class) continue;
        t->classes.data[i] = hone_vec_pop(&t->classes);
        break;
    }
    hone_vec_deinit(&class->slots);
    hone_free(class);
}

static bool join_class(hone_tracker *t, tracker_slot *slot) {
    slot->class = tracker_get_class(t, slot->info.device_key);
    if (!slot->class) return false;
    if (hone_vec_push(&slot->class->slots, slot)) return true;
    tracker_class_release(t, slot->class);
    slot->class = NULL;
    return false;
}

static void leave_class(hone_tracker *t, tracker_slot *slot) {
    tracker_class *class = slot->class;
    if (!class) return;
    for (size_t i = 0; i < class->slots.count; i++) {
        if (class->slots.data[i] != slot) continue;
        class->slots.data[i] = hone_vec_pop(&class->slots);
        break;
    }
    slot->class = NULL;
    tracker_class_release(t, class);
}

/* ---- making and removing ---- */

tracker_runner *tracker_make_runner(hone_tracker *t, hone_farm_instance instance,
                                    const char *name) {
    tracker_runner *runner = hone_calloc(1, sizeof *runner);
    if (!runner || !hone_map128_put(&t->runners, instance, (uint64_t)(uintptr_t)runner)) {
        hone_free(runner);
        return NULL;
    }
    runner->instance = instance;
    snprintf(runner->name, sizeof runner->name, "%s", name);
    runner->since_ns = runner->heard_ns = t->now_ns;
    tracker_wake_at(t, t->now_ns + EXPIRY_HEARTBEATS * t->o.heartbeat_ns);
    return runner;
}

void tracker_slot_name(const tracker_slot *slot, char *out, size_t capacity) {
    snprintf(out, capacity, "%s/%u", slot->runner->name, slot->info.slot);
}

static bool set_slots(hone_tracker *t, tracker_runner *runner, const hone_farm_slots *slots) {
    runner->slots = hone_calloc(slots->count, sizeof *runner->slots);
    if (!runner->slots) return false;
    runner->slot_count = slots->count;
    for (size_t i = 0; i < slots->count; i++) {
        tracker_slot *slot = &runner->slots[i];
        char name[HONE_FARM_NAME_BYTES + 16];
        slot->runner = runner;
        slot->info = slots->items[i];
        tracker_slot_name(slot, name, sizeof name);
        slot->is_draining = hone_strmap_find(&t->drained, name, NULL);
        if (slot->info.device_key[0] && !join_class(t, slot)) return false;
    }
    t->devices++;
    return true;
}

tracker_slot *tracker_runner_slot(const tracker_runner *runner, uint32_t number) {
    for (size_t i = 0; i < runner->slot_count; i++) {
        if (runner->slots[i].info.slot == number) return &runner->slots[i];
    }
    return NULL;
}

hone_status tracker_remove_runner(hone_tracker *t, tracker_runner *runner, bool is_loss) {
    hone_status st = HONE_OK;
    char why[HONE_FARM_NAME_BYTES + 32];
    snprintf(why, sizeof why, "runner '%s' was lost", runner->name);
    for (size_t i = 0; i < runner->slot_count; i++) {
        tracker_slot *slot = &runner->slots[i];
        if (is_loss) tracker_count_moved(t, slot);
        /* Only the oldest, which was running, may be to blame. Last one first, so that the older
         * stands in front of it in the queue. */
        while (slot->trial_count && !st) {
            tracker_trial *trial = slot->trials[slot->trial_count - 1];
            bool counts = is_loss && slot->trial_count == 1;
            tracker_take_off(t, trial, false);
            if (is_loss && !counts) t->stats.requeued++;
            st = counts ? tracker_lose(t, trial, why) : tracker_requeue(t, trial);
        }
        leave_class(t, slot);
    }
    if (runner->peer) {
        runner->peer->runner = NULL;
        runner->peer->is_welcome = false;
    }
    hone_map128_remove(&t->runners, runner->instance);
    hone_free(runner->slots);
    hone_free(runner);
    t->devices++;
    return st;
}

hone_status tracker_runner_timers(hone_tracker *t) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->runners, &i, &key, &value);) {
        tracker_runner *runner = runner_of(value);
        int64_t end_ns = runner->heard_ns + EXPIRY_HEARTBEATS * t->o.heartbeat_ns;
        if (end_ns > t->now_ns) {
            tracker_wake_at(t, end_ns);
            continue;
        }
        HONE_LOG(t->o.log, HONE_LOG_WARNING, "runner '%s' is lost: nothing was heard from it",
                 runner->name);
        HONE_TRY(tracker_remove_runner(t, runner, true));
    }
    return HONE_OK;
}

/* ---- hello ---- */

static tracker_runner *find_by_name(const hone_tracker *t, const char *name) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->runners, &i, &key, &value);) {
        if (strcmp(runner_of(value)->name, name) == 0) return runner_of(value);
    }
    return NULL;
}

static void choose_name(const hone_tracker *t, const tracker_peer *peer,
                        const hone_farm_hello *hello, char out[HONE_FARM_NAME_BYTES]) {
    const hone_allowed *entry =
        t->o.allowed ? hone_allow_list_find(t->o.allowed, &peer->key) : NULL;
    const char *name = hello->name[0] ? hello->name : entry ? entry->name : "";
    hone_farm_set_text(out, HONE_FARM_NAME_BYTES, name[0] ? name : peer->address);
}

/* Is the connection of an instance whose name somebody else claims still alive? It is asked once;
 * who claims comes again after a heartbeat. */
static bool is_alive(hone_tracker *t, tracker_peer *peer) {
    if (!peer) return false;
    if (peer->probed_ns) return t->now_ns - peer->probed_ns < t->o.heartbeat_ns / 2;
    hone_farm_message ping = {.kind = HONE_FARM_PING, .id = 1};
    tracker_send(t, peer->net, &ping);
    peer->probed_ns = t->now_ns;
    return true;
}

/* Makes room for a new instance of that name; false: refused. */
static hone_status claim_name(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                              const char *name, bool *out_is_free) {
    tracker_runner *other = find_by_name(t, name);
    *out_is_free = true;
    if (!other) return HONE_OK;
    bool same_key = !other->is_known || hone_key_equal(&other->key, &peer->key);
    if (!same_key || is_alive(t, other->peer)) {
        *out_is_free = false;
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_TAKEN,
                       "another runner is called '%s'%s; give this one another name", name,
                       same_key ? "" : " and has another key");
        return HONE_OK;
    }
    tracker_peer *old = other->peer;
    HONE_LOG(t->o.log, HONE_LOG_INFO, "runner '%s' was restarted", name);
    HONE_TRY(tracker_remove_runner(t, other, true));
    if (old) tracker_drop_peer(t, old);
    return HONE_OK;
}

static bool same_slots(const tracker_runner *runner, const hone_farm_slots *slots) {
    if (runner->slot_count != slots->count) return false;
    for (size_t i = 0; i < slots->count; i++) {
        const tracker_slot *slot = tracker_runner_slot(runner, slots->items[i].slot);
        if (!slot || strcmp(slot->info.device_key, slots->items[i].device_key) != 0) return false;
    }
    return true;
}

/* A runner that the store told of has slots with trials, but nothing is known about them. */
static hone_status complete_slots(hone_tracker *t, tracker_runner *runner,
                                  const hone_farm_slots *slots) {
    tracker_slot *old = runner->slots;
    size_t old_count = runner->slot_count;
    runner->slots = NULL;
    runner->slot_count = 0;
    if (!set_slots(t, runner, slots)) {
        for (size_t i = 0; i < runner->slot_count; i++)
            leave_class(t, &runner->slots[i]);
        hone_free(runner->slots);
        runner->slots = old;
        runner->slot_count = old_count;
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "slots");
    }
    for (size_t i = 0; i < old_count; i++) {
        tracker_slot *slot = tracker_runner_slot(runner, old[i].info.slot);
        while (old[i].trial_count) {
            tracker_trial *trial = old[i].trials[0];
            uint64_t token = old[i].token;
            tracker_take_off(t, trial, false);
            if (slot) {
                tracker_put_on(t, trial, slot, token);
            } else {
                HONE_TRY(tracker_requeue(t, trial));
            }
        }
    }
    hone_free(old);
    return HONE_OK;
}

static const hone_farm_held *find_held(const hone_farm_helds *held, const tracker_trial *trial) {
    for (size_t i = 0; i < held->count; i++) {
        const hone_farm_held *h = &held->items[i];
        if (h->token == trial->token && h->trial == trial->number &&
            hone_hash128_equal(h->tuner, trial->tuner->instance)) {
            return h;
        }
    }
    return NULL;
}

/* What the books give it: held, or assigned again at once. */
static void confirm_leases(hone_tracker *t, tracker_runner *runner, const hone_farm_helds *held) {
    for (size_t i = 0; i < runner->slot_count; i++) {
        tracker_slot *slot = &runner->slots[i];
        for (size_t k = 0; k < slot->trial_count; k++) {
            tracker_trial *trial = slot->trials[k];
            trial->is_taken = find_held(held, trial) != NULL;
            if (!trial->is_taken || trial->is_cancelled) tracker_repeat_now(t, &trial->repeat);
        }
        if (slot->evicted_count) tracker_repeat_now(t, &slot->evicted_repeat);
    }
}

/* A trial that an earlier tracker, of which nothing was kept, gave to this runner. */
static bool may_adopt(const hone_tracker *t, const tracker_slot *slot, const hone_farm_held *h) {
    if (!slot || t->now_ns - t->started_ns > t->o.grace_ns) return false;
    if (h->token >= t->first_token || slot->trial_count == TRACKER_LEASE_TRIALS) return false;
    if (slot->trial_count &&
        (slot->token != h->token || !hone_hash128_equal(slot->tuner->instance, h->tuner))) {
        return false;
    }
    const tracker_trial *trial = tracker_find_trial(t, h->tuner, h->trial);
    if (trial) return trial->state == HONE_FARM_TRIAL_WAITING && !trial->losses;
    return tracker_find_tuner(t, h->tuner) || hone_map128_count(&t->tuners) < t->o.max_tuners;
}

static hone_status adopt(hone_tracker *t, tracker_slot *slot, const hone_farm_held *h) {
    tracker_tuner *tuner = tracker_find_tuner(t, h->tuner);
    if (!tuner) tuner = tracker_make_tuner(t, h->tuner);
    if (!tuner) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tuner");
    tracker_trial *trial = tracker_find_trial(t, h->tuner, h->trial);
    if (trial) {
        tracker_dequeue(t, trial);
    } else {
        if (hone_u64map_count(&tuner->trials) >= t->o.max_trials) return HONE_OK;
        trial = tracker_make_trial(t, tuner, h->trial);
    }
    if (!trial) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial");
    tracker_put_on(t, trial, slot, h->token);
    slot->closed_token = h->token; /* what trials had larger tokens before is not known */
    trial->is_taken = true;
    return tracker_store_trial(t, trial);
}

static hone_status settle_held(hone_tracker *t, tracker_peer *peer, const hone_farm_held *h) {
    tracker_runner *runner = peer->runner;
    const tracker_trial *trial = tracker_find_trial(t, h->tuner, h->trial);
    if (trial && trial->state == HONE_FARM_TRIAL_ASSIGNED && trial->token == h->token &&
        trial->slot->runner == runner) {
        return HONE_OK;
    }
    tracker_slot *slot = tracker_runner_slot(runner, h->slot);
    if (may_adopt(t, slot, h)) return adopt(t, slot, h);
    if (h->state == HONE_FARM_HELD_DONE) return HONE_OK; /* its RESULT is on its way */
    const hone_farm_lease lease = {h->token, h->tuner, h->trial};
    if (slot) {
        tracker_evict(t, slot, &lease);
    } else {
        tracker_send_abort(t, peer, &lease);
    }
    return HONE_OK;
}

static hone_status settle(hone_tracker *t, tracker_peer *peer, const hone_farm_helds *held) {
    confirm_leases(t, peer->runner, held);
    for (size_t i = 0; i < held->count; i++)
        HONE_TRY(settle_held(t, peer, &held->items[i]));
    return HONE_OK;
}

static void attach(hone_tracker *t, tracker_runner *runner, tracker_peer *peer,
                   const hone_farm_hello *hello) {
    if (runner->peer && runner->peer != peer) {
        tracker_peer *old = runner->peer; /* a connection that ended without our being told */
        old->runner = NULL;
        tracker_drop_peer(t, old);
    }
    runner->peer = peer;
    peer->runner = runner;
    runner->key = peer->key;
    runner->is_known = true;
    runner->heard_ns = t->now_ns;
    snprintf(runner->software, sizeof runner->software, "%s", hello->software);
}

/* A runner that is not there yet; *out_runner stays NULL when it was refused. */
static hone_status new_runner(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                              tracker_runner **out_runner) {
    const hone_farm_hello *hello = &m->u.hello;
    char name[HONE_FARM_NAME_BYTES];
    bool is_free;
    choose_name(t, peer, hello, name);
    HONE_TRY(claim_name(t, peer, m, name, &is_free));
    if (!is_free) return HONE_OK;
    if (hone_map128_count(&t->runners) >= t->o.max_runners) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_BUSY, "there are %u runners already",
                       t->o.max_runners);
        return HONE_OK;
    }
    tracker_runner *runner = tracker_make_runner(t, hello->instance, name);
    if (!runner) return HONE_ERROR(HONE_CODE_NO_MEMORY, "runner");
    if (!set_slots(t, runner, &hello->slots)) {
        hone_status st = tracker_remove_runner(t, runner, false);
        return hone_status_join(st, HONE_ERROR(HONE_CODE_NO_MEMORY, "slots"));
    }
    HONE_LOG(t->o.log, HONE_LOG_INFO, "runner '%s' joins from %s with %zu slot%s of '%s'", name,
             peer->address, hello->slots.count, hello->slots.count == 1 ? "" : "s",
             hello->slots.items[0].device_key);
    *out_runner = runner;
    return HONE_OK;
}

static hone_status known_runner(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                                tracker_runner *runner, bool *out_is_fine) {
    const hone_farm_hello *hello = &m->u.hello;
    *out_is_fine = false;
    if (runner->is_known && !hone_key_equal(&runner->key, &peer->key)) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_TAKEN, "this instance has another key");
        return HONE_OK;
    }
    if (!runner->is_known) HONE_TRY(complete_slots(t, runner, &hello->slots));
    if (!same_slots(runner, &hello->slots)) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID,
                       "the slots of an instance do not change");
        return HONE_OK;
    }
    *out_is_fine = true;
    return HONE_OK;
}

hone_status tracker_runner_hello(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    uint64_t value;
    tracker_runner *runner = NULL;
    if (hone_map128_find(&t->runners, m->u.hello.instance, &value)) runner = runner_of(value);
    if (peer->runner && peer->runner != runner) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "a connection has one instance");
        return HONE_OK;
    }
    bool is_fine = true;
    if (runner) {
        HONE_TRY(known_runner(t, peer, m, runner, &is_fine));
    } else {
        HONE_TRY(new_runner(t, peer, m, &runner));
    }
    if (!runner || !is_fine) return HONE_OK;
    attach(t, runner, peer, &m->u.hello);
    tracker_note_benched(t, runner, &m->u.hello.benched);
    tracker_welcome(t, peer, m);
    return settle(t, peer, &m->u.hello.held);
}
