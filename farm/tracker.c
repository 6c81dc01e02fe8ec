/* farm/tracker.c - the tracker's step:
 *
 *     events ► handlers ─┐
 *     timers ────────────┼► books, store, box ► commit ► the box goes out
 *     free slots ────────┘
 *
 * What a frame makes of the books happens at once; what is said about it leaves after the commit. A
 * frame that cannot be sent (the peer is gone, its queue is full) is dropped: all that matters is
 * said again until it is answered.
 */
#include "farm/tracker.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "farm/tracker_impl.h"
#include "support/core/alloc.h"
#include "support/core/number.h"

#define STEP_EVENTS 512
#define STEPS_UNTIMED 16 /* so long timers wait for what has come: a sign of life may be in it */
#define BOX_BYTES (8u << 20) /* more than this goes out before the next event is looked at */
#define LOG_LINES 20

/* ---- options, create, destroy ---- */

static void default_i64(int64_t *value, int64_t when_zero) {
    if (*value <= 0) *value = when_zero;
}
static void default_u32(uint32_t *value, uint32_t when_zero) {
    if (!*value) *value = when_zero;
}

static hone_tracker_options with_defaults(const hone_tracker_options *options) {
    hone_tracker_options o = *options;
    default_i64(&o.heartbeat_ns, 2 * HONE_NS_PER_S);
    default_i64(&o.grace_ns, 60 * HONE_NS_PER_S);
    default_i64(&o.quantum_ns, 2 * HONE_NS_PER_S);
    default_i64(&o.blob_cache_bytes, INT64_C(512) << 20);
    default_i64(&o.max_request_bytes, INT64_C(256) << 20);
    default_u32(&o.chunk_bytes, 256 << 10);
    default_u32(&o.max_trials, 1024);
    default_u32(&o.max_tuners, 256);
    default_u32(&o.max_runners, 1024);
    default_u32(&o.max_frames_per_s, 4000);
    return o;
}

hone_status hone_tracker_create(const hone_tracker_options *options, hone_tracker **out_tracker) {
    assert(options && options->net && out_tracker);
    assert(!hone_hash128_is_zero(options->instance) && options->first_token);
    *out_tracker = NULL;
    hone_tracker *t = hone_calloc(1, sizeof *t);
    if (!t) return HONE_ERROR(HONE_CODE_NO_MEMORY, "tracker");
    t->o = with_defaults(options);
    t->clock = hone_net_clock(options->net);
    t->now_ns = t->started_ns = hone_clock_now(t->clock);
    t->wake_ns = HONE_DEADLINE_NEVER;
    t->first_token = t->next_token = options->first_token;
    t->devices = options->first_token; /* differs from that of an earlier tracker */
    t->arena = hone_arena_create(64 << 10);
    hone_status st = t->arena ? tracker_restore(t) : HONE_ERROR(HONE_CODE_NO_MEMORY, "tracker");
    if (st) {
        hone_tracker_destroy(t);
        return st;
    }
    *out_tracker = t;
    return HONE_OK;
}

static void say_bye(hone_tracker *t) {
    hone_farm_message bye = {.kind = HONE_FARM_BYE};
    hone_farm_set_text(bye.u.bye.text, sizeof bye.u.bye.text, "the tracker stops");
    hone_str frame = {0};
    hone_status_free(hone_farm_encode_sealed(&bye, &frame));
    uint64_t net;
    for (size_t i = 0; frame.length && hone_u64map_next(&t->peers, &i, &net, NULL);) {
        hone_status_free(hone_net_send(t->o.net, net, frame.data, frame.length));
    }
    hone_str_deinit(&frame);
}

static void free_runners(hone_tracker *t) {
    uint64_t value;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->runners, &i, &key, &value);) {
        tracker_runner *runner = (tracker_runner *)(uintptr_t)value;
        hone_free(runner->slots);
        hone_free(runner);
    }
    hone_map128_deinit(&t->runners);
}

static void free_tuners(hone_tracker *t) {
    uint64_t value, number, trial;
    hone_hash128 key;
    for (size_t i = 0; hone_map128_next(&t->tuners, &i, &key, &value);) {
        tracker_tuner *tuner = (tracker_tuner *)(uintptr_t)value;
        for (size_t k = 0; hone_u64map_next(&tuner->trials, &k, &number, &trial);) {
            tracker_trial *it = (tracker_trial *)(uintptr_t)trial;
            hone_free(it->request);
            hone_free(it->result);
            hone_free(it);
        }
        hone_u64map_deinit(&tuner->trials);
        for (size_t k = 0; k < tuner->lanes.count; k++)
            hone_free(tuner->lanes.data[k]);
        hone_vec_deinit(&tuner->lanes);
        hone_free(tuner);
    }
    hone_map128_deinit(&t->tuners);
}

void hone_tracker_destroy(hone_tracker *t) {
    if (!t) return;
    uint64_t net, value;
    say_bye(t);
    free_runners(t);
    free_tuners(t);
    tracker_free_blobs(t);
    for (size_t i = 0; hone_u64map_next(&t->peers, &i, &net, &value);)
        hone_free((tracker_peer *)(uintptr_t)value);
    hone_u64map_deinit(&t->peers);
    for (size_t i = 0; i < t->classes.count; i++) {
        hone_vec_deinit(&t->classes.data[i]->slots);
        hone_free(t->classes.data[i]);
    }
    hone_vec_deinit(&t->classes);
    hone_strmap_deinit(&t->drained);
    hone_str_deinit(&t->box_bytes);
    hone_str_deinit(&t->scratch);
    hone_vec_deinit(&t->box);
    hone_arena_destroy(t->arena);
    hone_free(t);
}

/* ---- the box ---- */

void tracker_send(hone_tracker *t, hone_net_peer net, const hone_farm_message *m) {
    size_t at = t->box_bytes.length;
    hone_status st = hone_farm_encode_sealed(m, &t->box_bytes);
    if (!st && hone_vec_push(&t->box, (tracker_frame){net, at, t->box_bytes.length - at})) return;
    hone_status_free(st); /* no memory: it is said again later */
    t->box_bytes.failed = false;
    hone_str_truncate(&t->box_bytes, at);
}

void tracker_close(hone_tracker *t, hone_net_peer net) {
    if (!hone_vec_push(&t->box, (tracker_frame){net, 0, 0})) hone_net_close_peer(t->o.net, net);
}

/* Makes what was done durable, then tells the peers. */
static hone_status flush(hone_tracker *t) {
    if (t->o.store) HONE_TRY(hone_farm_store_commit(t->o.store));
    for (size_t i = 0; i < t->box.count; i++) {
        const tracker_frame *f = &t->box.data[i];
        if (!f->count) {
            hone_net_close_peer(t->o.net, f->net);
            continue;
        }
        hone_status st = hone_net_send(t->o.net, f->net, t->box_bytes.data + f->at, f->count);
        hone_code code = hone_status_consume(st);
        if (code == HONE_CODE_INVALID) tracker_log_odd(t, "a frame was too large to be sent");
    }
    hone_vec_clear(&t->box);
    hone_str_clear(&t->box_bytes);
    return HONE_OK;
}

hone_farm_message tracker_answer(const hone_farm_message *m, hone_farm_kind kind) {
    hone_farm_message answer;
    memset(&answer, 0, sizeof answer);
    answer.kind = kind;
    answer.id = m->id;
    return answer;
}

void tracker_refuse(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m,
                    hone_farm_refusal code, const char *format, ...) {
    char text[HONE_FARM_NOTE_BYTES];
    va_list args;
    va_start(args, format);
    hone_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hone_farm_message answer = tracker_answer(m, HONE_FARM_REFUSED);
    hone_farm_refused *refused = &answer.u.refused;
    refused->code = code;
    refused->about = m->kind;
    if (m->kind == HONE_FARM_SUBMIT) refused->trial = m->u.submit.trial;
    hone_farm_set_text(refused->text, sizeof refused->text, text);
    tracker_send(t, peer->net, &answer);
    t->stats.refused++;
    tracker_log_odd(t, "refused %s from %s: %s", hone_farm_kind_name(m->kind), peer->address,
                    refused->text);
}

/* ---- timers ---- */

void tracker_wake_at(hone_tracker *t, int64_t at_ns) {
    if (at_ns < t->wake_ns) t->wake_ns = at_ns;
}

void tracker_repeat_start(hone_tracker *t, tracker_repeat *r) {
    r->pause_ns = t->o.heartbeat_ns / 4 + 1;
    r->next_ns = t->now_ns + r->pause_ns;
    tracker_wake_at(t, r->next_ns);
}

void tracker_repeat_now(hone_tracker *t, tracker_repeat *r) {
    r->pause_ns = t->o.heartbeat_ns / 4 + 1;
    r->next_ns = t->now_ns;
    tracker_wake_at(t, r->next_ns);
}

bool tracker_repeat_due(hone_tracker *t, tracker_repeat *r) {
    bool due = r->next_ns <= t->now_ns;
    if (due) {
        r->next_ns = t->now_ns + r->pause_ns;
        r->pause_ns *= 2;
        if (r->pause_ns > t->o.heartbeat_ns) r->pause_ns = t->o.heartbeat_ns;
    }
    tracker_wake_at(t, r->next_ns);
    return due;
}

void tracker_log_odd(hone_tracker *t, const char *format, ...) {
    if (!hone_log_wants(t->o.log, HONE_LOG_WARNING)) return;
    if (t->now_ns - t->log_window_ns >= HONE_NS_PER_S) {
        if (t->log_dropped) {
            hone_log_line(t->o.log, HONE_LOG_WARNING, "%d more lines like these",
                          (int)t->log_dropped);
        }
        t->log_window_ns = t->now_ns;
        t->log_lines = t->log_dropped = 0;
    }
    if (t->log_lines == LOG_LINES) {
        t->log_dropped++;
        return;
    }
    t->log_lines++;
    char text[HONE_FARM_NOTE_BYTES + 128];
    va_list args;
    va_start(args, format);
    hone_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hone_log_line(t->o.log, HONE_LOG_WARNING, "%s", text);
}

static hone_status run_timers(hone_tracker *t) {
    if (t->now_ns < t->wake_ns) return HONE_OK;
    t->wake_ns = HONE_DEADLINE_NEVER;
    tracker_peer_timers(t);
    tracker_bench_timers(t);
    HONE_TRY(tracker_runner_timers(t));
    HONE_TRY(tracker_lease_timers(t));
    HONE_TRY(tracker_silence_timers(t));
    HONE_TRY(tracker_tuner_timers(t));
    tracker_blob_timers(t);
    return HONE_OK;
}

/* ---- frames ---- */

enum { RUNNER = 1 << HONE_FARM_RUNNER, TUNER = 1 << HONE_FARM_TUNER, ADMIN = 1 << HONE_FARM_ADMIN };

/* Who may send what, once welcome. An admin's connection may also belong to a tuner's key: then it
 * may only look (tracker_admin.c checks the key). */
static const struct handler {
    tracker_handler call;
    unsigned roles; /* 0: anybody, also before HELLO */
} handlers[HONE_FARM_KIND_LIMIT] = {
    [HONE_FARM_HELLO] = {tracker_on_hello,        0                     },
    [HONE_FARM_PING] = {tracker_on_ping,         RUNNER | TUNER | ADMIN},
    [HONE_FARM_BYE] = {tracker_on_bye,          0                     },
    [HONE_FARM_SUBMIT] = {tracker_on_submit,       TUNER                 },
    [HONE_FARM_OUTCOME_ACK] = {tracker_on_outcome_ack,  TUNER                 },
    [HONE_FARM_CANCEL] = {tracker_on_cancel,       TUNER                 },
    [HONE_FARM_TAKEN] = {tracker_on_taken,        RUNNER                },
    [HONE_FARM_RETURNED] = {tracker_on_returned,     RUNNER                },
    [HONE_FARM_RESULT] = {tracker_on_result,       RUNNER                },
    [HONE_FARM_BLOB_WANT] = {tracker_on_blob_want,    RUNNER                },
    [HONE_FARM_BLOB_CHUNK] = {tracker_on_blob_chunk,   TUNER                 },
    [HONE_FARM_BLOB_MISSING] = {tracker_on_blob_missing, TUNER                 },
    [HONE_FARM_DEVICES] = {tracker_on_devices,      TUNER | ADMIN         },
    [HONE_FARM_STATUS] = {tracker_on_status,       TUNER | ADMIN         },
    [HONE_FARM_DRAIN] = {tracker_on_drain,        ADMIN                 },
    [HONE_FARM_KICK] = {tracker_on_kick,         ADMIN                 },
    [HONE_FARM_ALLOW] = {tracker_on_allow,        ADMIN                 },
    [HONE_FARM_REVOKE] = {tracker_on_revoke,       ADMIN                 },
    [HONE_FARM_KEYS] = {tracker_on_keys,         ADMIN                 },
};

static hone_status dispatch(hone_tracker *t, tracker_peer *peer, const hone_farm_message *m) {
    if (m->kind == HONE_FARM_REFUSED || m->kind == HONE_FARM_PONG) return HONE_OK;
    const struct handler *h = &handlers[m->kind];
    if (!h->call) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_INVALID, "a tracker does not take '%s'",
                       hone_farm_kind_name(m->kind));
        return HONE_OK;
    }
    if (h->roles && !peer->is_welcome) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_HELLO, "say hello first");
        return HONE_OK;
    }
    if (h->roles && !(h->roles & 1u << peer->role)) {
        tracker_refuse(t, peer, m, HONE_FARM_REFUSAL_ROLE, "%s may not send '%s'",
                       hone_farm_role_name(peer->role), hone_farm_kind_name(m->kind));
        return HONE_OK;
    }
    return h->call(t, peer, m);
}

static hone_status take_frame(hone_tracker *t, const hone_net_event *event) {
    tracker_peer *peer = tracker_find_peer(t, event->peer);
    if (!peer) return HONE_OK; /* cut off in the meantime */
    if (!tracker_peer_may_send(t, peer)) return HONE_OK;
    hone_farm_message m;
    hone_arena_reset(t->arena);
    hone_status st = hone_farm_decode(event->bytes, event->count, t->arena, &m);
    if (hone_status_code(st) == HONE_CODE_IO) {
        HONE_LOG(t->o.log, HONE_LOG_DEBUG, "%s: %s", peer->address, hone_status_message(st));
        hone_status_free(st);
        return HONE_OK;
    }
    if (st) {
        tracker_refuse(t, peer, &m, HONE_FARM_REFUSAL_MALFORMED, "%s", hone_status_message(st));
        hone_status_free(st);
        return HONE_OK;
    }
    st = dispatch(t, peer, &m);
    if (hone_status_code(st) != HONE_CODE_NO_MEMORY) return st;
    HONE_LOG(t->o.log, HONE_LOG_ERROR, "out of memory: a frame of %zu bytes is dropped",
             event->count);
    hone_status_free(st);
    return HONE_OK;
}

static hone_status take_event(hone_tracker *t, const hone_net_event *event) {
    switch (event->kind) {
    case HONE_NET_OPENED:
        return tracker_peer_opened(t, event);
    case HONE_NET_MESSAGE:
        return take_frame(t, event);
    case HONE_NET_CLOSED:
        return tracker_peer_closed(t, event->peer);
    case HONE_NET_FAILED:
        break;
    }
    return HONE_OK;
}

static hone_status take_events(hone_tracker *t, bool *out_more) {
    *out_more = false;
    for (int i = 0; i < STEP_EVENTS; i++) {
        hone_net_event event;
        hone_status st = hone_net_recv(t->o.net, HONE_DEADLINE_NOW, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            return HONE_OK;
        }
        HONE_TRY(st);
        HONE_TRY(take_event(t, &event));
        if (t->box_bytes.length > BOX_BYTES) HONE_TRY(flush(t));
    }
    *out_more = true;
    return HONE_OK;
}

hone_status hone_tracker_step(hone_tracker *t) {
    t->now_ns = hone_clock_now(t->clock);
    bool more;
    HONE_TRY(take_events(t, &more));
    t->untimed_steps = more ? t->untimed_steps + 1 : 0;
    if (t->untimed_steps % STEPS_UNTIMED == 0) HONE_TRY(run_timers(t));
    if (more) tracker_wake_at(t, t->now_ns);
    HONE_TRY(tracker_schedule(t));
    tracker_tell_devices(t);
    return flush(t);
}

int64_t hone_tracker_next_ns(const hone_tracker *t) {
    return t->wake_ns;
}
