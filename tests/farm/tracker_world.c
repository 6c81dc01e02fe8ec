/* tests/farm/tracker_world.c - see tracker_world.h. */
#include "tests/farm/tracker_world.h"

#include <math.h>
#include <string.h>

#include "measure/wire.h"
#include "support/core/alloc.h"
#include "tests/support/hone_test.h"

#define ADDRESS "tcp://127.0.0.1:9190"
#define BEAT_ID 99

/* ---- the tracker ---- */

void farm_tracker_start(farm_world *w) {
    if (w->store_path) HONE_ASSERT_OK(hone_farm_store_open(w->store_path, &w->store));
    hone_net_server_options net = {.address = ADDRESS,
                                   .keys = w->keys,
                                   .allow = w->allowed ? hone_allow_list_allows : NULL,
                                   .allow_context = w->allowed,
                                   .is_insecure = !w->allowed};
    HONE_ASSERT_OK(hone_simnet_listen(w->simnet, &net, &w->server));
    hone_tracker_options o = w->options;
    o.net = w->server;
    o.store = w->store;
    o.allowed = w->allowed;
    o.instance = farm_instance(1000000 + w->restarts);
    o.first_token = 1000 * (w->restarts + 1);
    w->restarts++;
    HONE_ASSERT_OK(hone_tracker_create(&o, &w->tracker));
}

/* Its frames of farewell go nowhere, since all its connections are cut first. */
void farm_tracker_stop(farm_world *w) {
    if (w->server) hone_simnet_break(w->simnet, w->server);
    hone_tracker_destroy(w->tracker);
    hone_net_destroy(w->server);
    hone_farm_store_close(w->store);
    w->tracker = NULL;
    w->server = NULL;
    w->store = NULL;
}

void farm_tracker_restart(farm_world *w) {
    farm_tracker_stop(w);
    farm_run(w, HONE_NS_PER_MS); /* its peers notice */
    farm_tracker_start(w);
}

static void init(farm_world *w, uint64_t seed) {
    hone_virtual_clock_init(&w->clock, 1000 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_simnet_create(&w->clock, seed, &w->simnet));
    w->options.heartbeat_ns = FARM_HEARTBEAT_NS;
    if (w->allowed) HONE_ASSERT_OK(hone_key_pair_create(&w->keys));
}

void farm_world_init(farm_world *w, uint64_t seed, const hone_tracker_options *options) {
    *w = (farm_world){0};
    if (options) w->options = *options;
    init(w, seed);
    farm_tracker_start(w);
}

void farm_world_init_keys(farm_world *w, const char *dir, const char *store_path) {
    *w = (farm_world){.store_path = store_path};
    if (dir) HONE_ASSERT_OK(hone_allow_list_open(dir, &w->allowed));
    init(w, 1);
    farm_tracker_start(w);
}

void farm_world_deinit(farm_world *w) {
    while (w->peers.count)
        farm_disconnect(w->peers.data[0]);
    hone_vec_deinit(&w->peers);
    farm_tracker_stop(w);
    hone_simnet_destroy(w->simnet);
    hone_allow_list_close(w->allowed);
}

/* ---- peers ---- */

farm_peer *farm_connect(farm_world *w, const hone_key_pair *keys) {
    farm_peer *peer = hone_calloc(1, sizeof *peer);
    hone_key_pair own = {0};
    assert_non_null(peer);
    if (w->allowed && !keys) HONE_ASSERT_OK(hone_key_pair_create(&own));
    hone_net_client_options net = {.address = ADDRESS,
                                   .server_key = w->keys.public_key,
                                   .keys = keys ? *keys : own,
                                   .is_insecure = !w->allowed};
    HONE_ASSERT_OK(hone_simnet_connect(w->simnet, &net, &peer->net));
    peer->world = w;
    peer->arena = hone_arena_create(4096);
    assert_true(peer->arena && hone_vec_push(&w->peers, peer));
    return peer;
}

void farm_disconnect(farm_peer *peer) {
    farm_world *w = peer->world;
    for (size_t i = 0; i < w->peers.count; i++) {
        if (w->peers.data[i] == peer) {
            memmove(w->peers.data + i, w->peers.data + i + 1,
                    (w->peers.count - i - 1) * sizeof *w->peers.data);
            w->peers.count--;
            break;
        }
    }
    hone_net_destroy(peer->net);
    for (size_t i = 0; i < peer->frames.count; i++)
        hone_free(peer->frames.data[i]);
    hone_vec_deinit(&peer->frames);
    hone_vec_deinit(&peer->inbox);
    hone_arena_destroy(peer->arena);
    hone_free(peer);
}

void farm_send_bytes(farm_peer *peer, const void *bytes, size_t count) {
    if (peer->link) hone_status_free(hone_net_send(peer->net, peer->link, bytes, count));
}

void farm_send(farm_peer *peer, const hone_farm_message *m) {
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(m, &frame));
    farm_send_bytes(peer, frame.data, frame.length);
    hone_str_deinit(&frame);
}

/* Everything that a tracker sends can be read. */
static void take_message(farm_peer *peer, const hone_net_event *event) {
    hone_farm_message m;
    if (peer->on_message) {
        hone_arena_reset(peer->arena);
        HONE_ASSERT_OK(hone_farm_decode(event->bytes, event->count, peer->arena, &m));
        peer->on_message(peer, &m);
        return;
    }
    uint8_t *copy = hone_malloc(event->count); /* exact, for the sanitizer */
    assert_true(copy && hone_vec_push(&peer->frames, copy));
    memcpy(copy, event->bytes, event->count);
    HONE_ASSERT_OK(hone_farm_decode(copy, event->count, peer->arena, &m));
    if (m.kind == HONE_FARM_PING) {
        hone_farm_message pong = {.kind = HONE_FARM_PONG, .id = m.id};
        farm_send(peer, &pong);
    }
    if (m.kind == HONE_FARM_PONG && m.id == BEAT_ID) return;
    assert_true(hone_vec_push(&peer->inbox, m));
}

static void beat(farm_peer *peer) {
    int64_t now_ns = hone_clock_now(&peer->world->clock.clock);
    if (!peer->beats || !peer->link || now_ns < peer->beat_ns) return;
    hone_farm_message ping = {.kind = HONE_FARM_PING, .id = BEAT_ID};
    farm_send(peer, &ping);
    peer->beat_ns = now_ns + FARM_HEARTBEAT_NS;
}

static void pump(farm_peer *peer) {
    for (;;) {
        hone_net_event event;
        hone_status st = hone_net_recv(peer->net, HONE_DEADLINE_NOW, &event);
        if (hone_status_code(st) == HONE_CODE_TIMEOUT) {
            hone_status_free(st);
            break;
        }
        HONE_ASSERT_OK(st);
        if (event.kind == HONE_NET_OPENED) peer->link = event.peer;
        if (event.kind == HONE_NET_CLOSED) peer->link = 0;
        if (event.kind == HONE_NET_FAILED) {
            peer->failed = event.reason;
            peer->failures++;
        }
        if (event.kind == HONE_NET_MESSAGE) take_message(peer, &event);
    }
    beat(peer);
    if (peer->on_time) peer->on_time(peer);
}

/* ---- time ---- */

static void everybody(farm_world *w) {
    if (w->tracker) HONE_ASSERT_OK(hone_tracker_step(w->tracker));
    for (size_t i = 0; i < w->peers.count; i++)
        pump(w->peers.data[i]);
}

static int64_t next_of(const farm_world *w) {
    int64_t next = hone_simnet_next_ns(w->simnet);
    if (w->tracker && hone_tracker_next_ns(w->tracker) < next) {
        next = hone_tracker_next_ns(w->tracker);
    }
    for (size_t i = 0; i < w->peers.count; i++) {
        const farm_peer *peer = w->peers.data[i];
        if (peer->next_ns && peer->next_ns(peer) < next) next = peer->next_ns(peer);
        if (peer->beats && peer->link && peer->beat_ns < next) next = peer->beat_ns;
    }
    return next;
}

/* To the next moment at which something happens, not beyond `end_ns`; false: the end is reached. */
static bool advance(farm_world *w, int64_t end_ns) {
    int64_t now_ns = hone_clock_now(&w->clock.clock), next_ns = next_of(w);
    if (next_ns <= now_ns) return true;
    if (next_ns > end_ns) next_ns = end_ns;
    if (next_ns > now_ns) hone_virtual_clock_advance(&w->clock, next_ns - now_ns);
    return now_ns < end_ns;
}

void farm_run(farm_world *w, int64_t duration_ns) {
    int64_t end_ns = hone_clock_now(&w->clock.clock) + duration_ns;
    do {
        everybody(w);
    } while (advance(w, end_ns));
}

static bool take_kind(farm_peer *peer, hone_farm_kind kind, hone_farm_message *out) {
    for (size_t i = 0; i < peer->inbox.count; i++) {
        if (peer->inbox.data[i].kind != kind) continue;
        *out = peer->inbox.data[i];
        peer->inbox.count -= i + 1;
        memmove(peer->inbox.data, peer->inbox.data + i + 1,
                peer->inbox.count * sizeof *peer->inbox.data);
        return true;
    }
    return false;
}

hone_farm_message farm_expect(farm_peer *peer, hone_farm_kind kind) {
    farm_world *w = peer->world;
    hone_farm_message m = {0};
    int64_t end_ns = hone_clock_now(&w->clock.clock) + 60 * HONE_NS_PER_S;
    for (everybody(w); !take_kind(peer, kind, &m); everybody(w)) {
        if (!advance(w, end_ns)) fail_msg("no '%s' came", hone_farm_kind_name(kind));
    }
    return m;
}

void farm_expect_none(farm_peer *peer, hone_farm_kind kind, int64_t duration_ns) {
    hone_farm_message m;
    farm_run(peer->world, duration_ns);
    if (take_kind(peer, kind, &m)) fail_msg("a '%s' came", hone_farm_kind_name(kind));
}

hone_farm_message farm_expect_refused(farm_peer *peer, hone_farm_refusal code, const char *text) {
    hone_farm_message m = farm_expect(peer, HONE_FARM_REFUSED);
    assert_int_equal(m.u.refused.code, code);
    if (!strstr(m.u.refused.text, text)) {
        fail_msg("refused with '%s', not '%s'", m.u.refused.text, text);
    }
    return m;
}

/* ---- messages ---- */

hone_farm_instance farm_instance(uint64_t number) {
    return (hone_farm_instance){number, number + 1};
}

hone_farm_message farm_plain(hone_farm_kind kind) {
    hone_farm_message m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    m.id = 5;
    return m;
}

hone_farm_message farm_hello_tuner(uint64_t instance, const char *name) {
    hone_farm_message m = farm_plain(HONE_FARM_HELLO);
    m.u.hello.version_min = m.u.hello.version_max = HONE_FARM_VERSION;
    m.u.hello.role = HONE_FARM_TUNER;
    m.u.hello.instance = farm_instance(instance);
    hone_farm_set_text(m.u.hello.name, sizeof m.u.hello.name, name);
    return m;
}

hone_farm_message farm_hello_runner(uint64_t instance, const char *name, const char *device_key,
                                    uint32_t slots) {
    static hone_farm_slot list[HONE_FARM_MAX_SLOTS];
    hone_farm_message m = farm_hello_tuner(instance, name);
    m.u.hello.role = HONE_FARM_RUNNER;
    for (uint32_t i = 0; i < slots; i++) {
        list[i] =
            (hone_farm_slot){.slot = i, .target = "llvm", .cores = 1, .memory_bytes = 1 << 20};
        hone_farm_set_text(list[i].device_key, sizeof list[i].device_key, device_key);
    }
    m.u.hello.slots = (hone_farm_slots){slots, list};
    return m;
}

hone_farm_message farm_submit(uint64_t trial, const char *device_key) {
    static const uint8_t request[] = {0xa0};
    hone_farm_message m = farm_plain(HONE_FARM_SUBMIT);
    m.u.submit.trial = trial;
    m.u.submit.request = (hone_farm_bytes){request, sizeof request};
    m.u.submit.timeout_ns = 10 * HONE_NS_PER_S;
    hone_farm_set_text(m.u.submit.device_key, sizeof m.u.submit.device_key, device_key);
    return m;
}

hone_farm_message farm_lease(hone_farm_kind kind, const hone_farm_assign *assign) {
    hone_farm_message m = farm_plain(kind);
    m.u.lease = (hone_farm_lease){assign->token, assign->tuner, assign->trial};
    return m;
}

hone_farm_message farm_result(const hone_farm_assign *assign, double median_ns) {
    static uint8_t bytes[4096];
    hone_run_result r;
    hone_str out = {0};
    hone_run_result_init(&r);
    r.samples_ns[r.sample_count++] = median_ns;
    hone_run_result_summarize(&r);
    HONE_ASSERT_OK(hone_run_result_encode(&r, &out));
    assert_true(out.length <= sizeof bytes);
    memcpy(bytes, out.data, out.length);
    hone_farm_message m = farm_plain(HONE_FARM_RESULT);
    m.u.result = (hone_farm_result){
        assign->token, assign->tuner, assign->trial, {bytes, out.length}
    };
    hone_str_deinit(&out);
    return m;
}

double farm_outcome_median(const hone_farm_outcome *outcome, hone_failure *out_failure) {
    hone_run_result r;
    HONE_ASSERT_OK(hone_run_result_decode(outcome->result.data, outcome->result.count, &r));
    *out_failure = r.failure;
    double median = r.median_ns;
    hone_run_result_deinit(&r);
    return median;
}

static void wait_link(farm_peer *peer) {
    int64_t end_ns = hone_clock_now(&peer->world->clock.clock) + 60 * HONE_NS_PER_S;
    for (everybody(peer->world); !peer->link; everybody(peer->world)) {
        if (!advance(peer->world, end_ns)) fail_msg("no connection");
    }
}

farm_peer *farm_tuner(farm_world *w, uint64_t instance, const char *name) {
    farm_peer *peer = farm_connect(w, NULL);
    wait_link(peer);
    hone_farm_message hello = farm_hello_tuner(instance, name);
    farm_send(peer, &hello);
    farm_expect(peer, HONE_FARM_WELCOME);
    peer->beats = true;
    return peer;
}

farm_peer *farm_runner(farm_world *w, uint64_t instance, const char *name, const char *device_key,
                       uint32_t slots) {
    farm_peer *peer = farm_connect(w, NULL);
    wait_link(peer);
    hone_farm_message hello = farm_hello_runner(instance, name, device_key, slots);
    farm_send(peer, &hello);
    farm_expect(peer, HONE_FARM_WELCOME);
    peer->beats = true;
    return peer;
}

/* ---- what tests do all the time ---- */

void farm_do_submit(farm_peer *tuner, uint64_t trial, const char *device_key) {
    hone_farm_message m = farm_submit(trial, device_key);
    farm_send(tuner, &m);
    assert_int_equal(farm_expect(tuner, HONE_FARM_ACCEPTED).u.accepted.trial, trial);
}

hone_farm_assign farm_take(farm_peer *runner) {
    hone_farm_assign assign = farm_expect(runner, HONE_FARM_ASSIGN).u.assign;
    hone_farm_message taken = farm_lease(HONE_FARM_TAKEN, &assign);
    farm_send(runner, &taken);
    return assign;
}

void farm_answer(farm_peer *runner, const hone_farm_assign *assign, double median_ns) {
    hone_farm_message result = farm_result(assign, median_ns);
    farm_send(runner, &result);
    assert_int_equal(farm_expect(runner, HONE_FARM_RESULT_ACK).u.lease.token, assign->token);
}

void farm_acknowledge(farm_peer *tuner, uint64_t trial) {
    hone_farm_message ack = farm_plain(HONE_FARM_OUTCOME_ACK);
    ack.u.outcome_ack.trial = trial;
    farm_send(tuner, &ack);
}

hone_farm_outcome farm_expect_outcome(farm_peer *tuner, uint64_t trial, hone_failure failure) {
    hone_farm_outcome outcome = farm_expect(tuner, HONE_FARM_OUTCOME).u.outcome;
    hone_failure got;
    farm_outcome_median(&outcome, &got);
    assert_int_equal(outcome.trial, trial);
    assert_string_equal(hone_failure_name(got), hone_failure_name(failure));
    farm_acknowledge(tuner, trial);
    farm_run(tuner->world, HONE_NS_PER_MS);
    return outcome;
}
