/* farm/tracker_peers.c - connections: who is at the other end, and is it still there?
 *
 * A connection is welcome after a HELLO that fits its key. It is closed when it was silent for
 * three heartbeats. The frames of a peer are paid from a budget that is kept as time: each frame
 * moves frames_ns forward by 1/rate, and frames_ns may not be more than a second ahead of the
 * clock.
 */
#include <stdio.h>

#include "farm/tracker_impl.h"
#include "support/core/alloc.h"

#define EXPIRY_HEARTBEATS 3

static tracker_peer *peer_of(uint64_t value) {
    return (tracker_peer *)(uintptr_t)value;
}

tracker_peer *tracker_find_peer(const hone_tracker *t, hone_net_peer net) {
    uint64_t value;
    return hone_u64map_find(&t->peers, net, &value) ? peer_of(value) : NULL;
}

bool tracker_key_role(const hone_tracker *t, const hone_key *key, hone_farm_role *out_role) {
    *out_role = HONE_FARM_ADMIN;
    if (!t->o.allowed) return true;
    const hone_allowed *entry = hone_allow_list_find(t->o.allowed, key);
    if (entry) *out_role = entry->role;
    return entry != NULL;
}

hone_status tracker_peer_opened(hone_tracker *t, const hone_net_event *event) {
    tracker_peer *peer = hone_calloc(1, sizeof *peer);
    if (!peer || !hone_u64map_put(&t->peers, event->peer, (uint64_t)(uintptr_t)peer)) {
        hone_free(peer);
        tracker_close(t, event->peer);
        return HONE_OK;
    }
    peer->net = event->peer;
    peer->key = event->key;
    snprintf(peer->address, sizeof peer->address, "%s", event->address);
    peer->heard_ns = peer->frames_ns = t->now_ns;
    tracker_wake_at(t, t->now_ns + EXPIRY_HEARTBEATS * t->o.heartbeat_ns);
    return HONE_OK;
}

/* The objects that the connection spoke for go on without it, for a while. */
static void forget_peer(hone_tracker *t, tracker_peer *peer) {
    if (peer->runner) {
        peer->runner->peer = NULL;
        tracker_wake_at(t, peer->runner->heard_ns + EXPIRY_HEARTBEATS * t->o.heartbeat_ns);
    }
    if (peer->tuner) {
        peer->tuner->peer = NULL;
        peer->tuner->gone_ns = t->now_ns;
        tracker_wake_at(t, t->now_ns + t->o.grace_ns);
        tracker_blobs_forget_tuner(t, peer->tuner);
    }
    hone_u64map_remove(&t->peers, peer->net);
    hone_free(peer);
}

hone_status tracker_peer_closed(hone_tracker *t, hone_net_peer net) {
    tracker_peer *peer = tracker_find_peer(t, net);
    if (peer) forget_peer(t, peer);
    return HONE_OK;
}

void tracker_drop_peer(hone_tracker *t, tracker_peer *peer) {
    tracker_close(t, peer->net);
    forget_peer(t, peer);
}

bool tracker_peer_may_send(hone_tracker *t, tracker_peer *peer) {
    peer->heard_ns = t->now_ns;
    peer->probed_ns = 0;
    if (peer->runner) peer->runner->heard_ns = t->now_ns;
    if (peer->tuner) peer->tuner->heard_ns = t->now_ns;
    if (peer->frames_ns < t->now_ns) peer->frames_ns = t->now_ns;
    if (peer->frames_ns > t->now_ns + HONE_NS_PER_S) {
        t->stats.throttled++;
        return false;
    }
    peer->frames_ns += HONE_NS_PER_S / t->o.max_frames_per_s;
    return true;
}

/* ---- messages ---- */

void tracker_welcome(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    peer->is_welcome = true;
    peer->role = m->u.hello.role;
    hone_farm_message answer = tracker_answer(m, HONE_FARM_WELCOME);
    answer.u.welcome = (hone_farm_welcome){
        .version = HONE_FARM_VERSION,
        .heartbeat_ns = t->o.heartbeat_ns,
        .expiry_ns = EXPIRY_HEARTBEATS * t->o.heartbeat_ns,
        .chunk_bytes = t->o.chunk_bytes,
        .max_frame_bytes = (uint32_t)hone_net_max_frame_bytes(t->o.net),
        .tracker = t->o.instance,
        .max_trials = t->o.max_trials,
    };
    tracker_send(t, peer->net, &answer);
}

static bool version_fits(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    const hone_farm_hello *h = &m->u.hello;
    if (h->version_min <= HONE_FARM_VERSION && h->version_max >= HONE_FARM_VERSION_MIN) return true;
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_VERSION,
                   "this tracker speaks versions %d to %d of the protocol, you speak %u to %u: "
                   "update %s",
                   HONE_FARM_VERSION_MIN, HONE_FARM_VERSION, h->version_min, h->version_max,
                   h->version_min > HONE_FARM_VERSION ? "the tracker" : "your side");
    return false;
}

/* An admin's verbs are checked one by one, so everybody may say that it is one. */
static bool role_fits(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    hone_farm_role allowed, asked = m->u.hello.role;
    if (!tracker_key_role(t, &peer->key, &allowed)) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_KEY, "this key is not allowed here");
        return false;
    }
    if (!t->o.allowed || asked == HONE_FARM_ADMIN || asked == allowed) return true;
    tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_ROLE,
                   "this key belongs to %s %s, it may not be a %s",
                   allowed == HONE_FARM_ADMIN ? "an" : "a", hone_farm_role_name(allowed),
                   hone_farm_role_name(asked)); /* no admin: everybody may say that it is one */
    return false;
}

hone_status tracker_on_hello(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (!version_fits(t, peer, m) || !role_fits(t, peer, m)) return HONE_OK;
    if (peer->is_welcome && peer->role != m->u.hello.role) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "a connection has one role");
        return HONE_OK;
    }
    switch (m->u.hello.role) {
    case HONE_FARM_RUNNER:
        return tracker_runner_hello(t, peer, m);
    case HONE_FARM_TUNER:
        return tracker_tuner_hello(t, peer, m);
    default:
        tracker_welcome(t, peer, m);
        return HONE_OK;
    }
}

hone_status tracker_on_ping(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    hone_farm_message answer = tracker_answer(m, HONE_FARM_PONG);
    if (peer->runner) tracker_note_benched(t, peer->runner, &m->u.ping.benched);
    answer.u.pong.devices = t->devices;
    tracker_send(t, peer->net, &answer);
    return HONE_OK;
}

hone_status tracker_on_bye(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    tracker_runner *runner = peer->runner;
    tracker_tuner *tuner = peer->tuner;
    hone_farm_message answer = tracker_answer(m, HONE_FARM_BYE);
    tracker_send(t, peer->net, &answer);
    tracker_drop_peer(t, peer);
    if (runner) {
        HONE_LOG(t->o.log, HONE_LOG_INFO, "runner '%s' leaves: %s", runner->name, m->u.bye.text);
        HONE_TRY(tracker_remove_runner(t, runner, false));
    }
    return tuner ? tracker_remove_tuner(t, tuner, "has left") : HONE_OK;
}

/* ---- silence, and keys that were revoked ---- */

void tracker_peer_timers(hone_tracker *t) {
    uint64_t net, value;
    for (size_t i = 0; hone_u64map_next(&t->peers, &i, &net, &value);) {
        tracker_peer *peer = peer_of(value);
        int64_t end_ns = peer->heard_ns + EXPIRY_HEARTBEATS * t->o.heartbeat_ns;
        if (end_ns <= t->now_ns) {
            tracker_drop_peer(t, peer);
        } else {
            tracker_wake_at(t, end_ns);
        }
    }
}

void hone_tracker_apply_allow_list(hone_tracker *t) {
    uint64_t net, value;
    for (size_t i = 0; hone_u64map_next(&t->peers, &i, &net, &value);) {
        tracker_peer *peer = peer_of(value);
        hone_farm_role role;
        bool allowed = tracker_key_role(t, &peer->key, &role);
        if (allowed && (!peer->is_welcome || peer->role == HONE_FARM_ADMIN || peer->role == role ||
                        !t->o.allowed)) {
            continue;
        }
        hone_farm_message bye = {.kind = HONE_FARM_REFUSED};
        bye.u.refused.code = HONE_FARM_REFUSAL_KEY;
        hone_farm_set_text(bye.u.refused.text, sizeof bye.u.refused.text,
                           "this key is not allowed any longer");
        tracker_send(t, peer->net, &bye);
        HONE_LOG(t->o.log, HONE_LOG_INFO, "cut off %s: its key was revoked", peer->address);
        if (peer->runner) peer->runner->heard_ns = INT64_MIN / 2; /* gone at the next timer */
        tracker_wake_at(t, t->now_ns);
        tracker_tuner *tuner = peer->tuner;
        tracker_drop_peer(t, peer);
        if (tuner) tuner->gone_ns = INT64_MIN / 2;
    }
}
