/* tests/runner/farm/remote_world.c - see remote_world.h. */
#include "tests/runner/farm/remote_world.h"

#include <string.h>

#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

/* ---- the tracker's side ---- */

void remote_tell(remote_world *w, const hone_farm_message *message) {
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(message, &frame));
    hone_status_free(hone_net_send(w->server, w->peer, frame.data, frame.length));
    hone_str_deinit(&frame);
}

static hone_farm_message answer(const hone_farm_message *to, hone_farm_kind kind) {
    return (hone_farm_message){.kind = kind, .id = to ? to->id : 0};
}

void remote_tell_devices(remote_world *w, const hone_farm_message *to) {
    hone_farm_device devices[REMOTE_MAX_DEVICES] = {0};
    hone_farm_message m = answer(to, HONE_FARM_DEVICE_LIST);
    for (uint32_t i = 0; i < w->devices; i++) {
        hone_farm_device *d = &devices[i];
        snprintf(d->runner, sizeof d->runner, "board-%u", i);
        snprintf(d->device_key, sizeof d->device_key, "pi4");
        snprintf(d->target, sizeof d->target, "%s",
                 w->targets[i] ? w->targets[i] : "llvm -mcpu=cortex-a72 -num-cores=4");
    }
    m.u.device_list.number = w->device_number;
    m.u.device_list.devices.count = w->devices;
    m.u.device_list.devices.items = devices;
    remote_tell(w, &m);
}

void remote_change_devices(remote_world *w, uint32_t count) {
    w->devices = count;
    w->device_number++;
}

static void react(remote_world *w, const hone_farm_message *m) {
    hone_farm_message reply;
    switch (m->kind) {
    case HONE_FARM_HELLO:
        reply = answer(m, HONE_FARM_WELCOME);
        reply.u.welcome = (hone_farm_welcome){HONE_FARM_VERSION,
                                              REMOTE_HEARTBEAT_NS,
                                              REMOTE_EXPIRY_NS,
                                              REMOTE_CHUNK_BYTES,
                                              HONE_FARM_MAX_FRAME,
                                              w->instance,
                                              64};
        remote_tell(w, &reply);
        return;
    case HONE_FARM_DEVICES:
        remote_tell_devices(w, m);
        return;
    case HONE_FARM_PING:
        reply = answer(m, HONE_FARM_PONG);
        reply.u.pong.devices = w->device_number;
        remote_tell(w, &reply);
        return;
    case HONE_FARM_SUBMIT:
        reply = answer(m, HONE_FARM_ACCEPTED);
        reply.u.accepted.trial = m->u.submit.trial;
        if (!w->is_mute) remote_tell(w, &reply);
        return;
    case HONE_FARM_CANCEL:
        reply = answer(m, HONE_FARM_CANCELLED);
        reply.u.cancelled = (hone_farm_cancelled){m->u.cancel.trial, true};
        remote_tell(w, &reply);
        return;
    default:
        return;
    }
}

static void hear(remote_world *w, const hone_net_event *event) {
    hone_farm_message m;
    uint8_t *copy = hone_malloc(event->count);
    assert_true(copy && hone_vec_push(&w->frames, copy));
    memcpy(copy, event->bytes, event->count);
    HONE_ASSERT_OK(hone_farm_decode(copy, event->count, w->arena, &m));
    assert_true(hone_vec_push(&w->heard, m));
    react(w, &m);
}

static void listen_to_all(remote_world *w) {
    hone_net_event event;
    hone_status st;
    while (w->server && !(st = hone_net_recv(w->server, HONE_DEADLINE_NOW, &event))) {
        if (event.kind == HONE_NET_OPENED) w->peer = event.peer;
        if (event.kind == HONE_NET_CLOSED && event.peer == w->peer) w->peer = 0;
        if (event.kind == HONE_NET_MESSAGE) hear(w, &event);
    }
    if (w->server) HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
}

hone_code remote_run_for(remote_world *w, int64_t duration_ns) {
    int64_t end = hone_clock_now(&w->clock.clock) + duration_ns;
    for (;;) {
        hone_code code = hone_status_consume(hone_runner_tend(w->runner));
        listen_to_all(w);
        int64_t now = hone_clock_now(&w->clock.clock), next = hone_simnet_next_ns(w->simnet);
        int64_t due = hone_runner_remote_next_ns(w->runner);
        if (due < next) next = due;
        if (next < now) next = now;
        if (now >= end && next > now) return code;
        if (next > now) hone_virtual_clock_advance(&w->clock, (next < end ? next : end) - now);
    }
}

void remote_forget(remote_world *w) {
    w->heard.count = 0;
}

int remote_count_of(const remote_world *w, hone_farm_kind kind) {
    int count = 0;
    for (size_t i = 0; i < w->heard.count; i++)
        count += w->heard.data[i].kind == kind;
    return count;
}

const hone_farm_message *remote_last_of(const remote_world *w, hone_farm_kind kind) {
    for (size_t i = w->heard.count; i-- > 0;) {
        if (w->heard.data[i].kind == kind) return &w->heard.data[i];
    }
    fail_msg("no '%s' was heard", hone_farm_kind_name(kind));
    return NULL;
}

void remote_start_tracker(remote_world *w) {
    hone_net_server_options o = {.address = REMOTE_ADDRESS, .is_insecure = true};
    HONE_ASSERT_OK(hone_simnet_listen(w->simnet, &o, &w->server));
    w->instance.lo++;
    w->device_number = 1;
}

void remote_stop_tracker(remote_world *w) {
    hone_net_destroy(w->server);
    w->server = NULL;
    w->peer = 0;
}

static hone_status check_target(const void *ctx, const char *target) {
    const remote_world *w = ctx;
    if (!w->fitting || strcmp(w->fitting, target) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a %s lacks sve", target);
}

void remote_open_with(remote_world *w, bool stops) {
    w->instance = (hone_farm_instance){7, 7};
    hone_virtual_clock_init(&w->clock, 1000 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_simnet_create(&w->clock, 3, &w->simnet));
    w->arena = hone_arena_create(4096);
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-remote-test", &w->dir));
    w->artifact = hone_path_join(w->dir, "1.so");
    w->bundle = hone_path_join(w->dir, "b.check");
    uint8_t bytes[REMOTE_FILE_BYTES];
    for (int i = 0; i < REMOTE_FILE_BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    HONE_ASSERT_OK(hone_fs_write_atomic(w->artifact, bytes, sizeof bytes));
    HONE_ASSERT_OK(hone_fs_write_atomic(w->bundle, bytes + 1, 100));
    remote_start_tracker(w);
    hone_net *net = NULL;
    hone_net_client_options client = {.address = REMOTE_ADDRESS, .is_insecure = true};
    HONE_ASSERT_OK(hone_simnet_connect(w->simnet, &client, &net));
    hone_runner_remote_options o = {.net = net,
                                    .device_key = "pi4",
                                    .name = "me",
                                    .software = "test",
                                    .check_target = check_target,
                                    .ctx = w,
                                    .stops_without_devices = stops,
                                    .patience_ns = 5 * HONE_NS_PER_S};
    HONE_ASSERT_OK(hone_runner_create_remote(&o, &w->runner));
    remote_run_for(w, 10 * REMOTE_MS);
}

void remote_open(remote_world *w) {
    *w = (remote_world){.devices = 1};
    remote_open_with(w, false);
    assert_int_equal(hone_runner_slots(w->runner), 2);
}

void remote_close(remote_world *w) {
    hone_runner_destroy(w->runner);
    remote_stop_tracker(w);
    hone_simnet_destroy(w->simnet);
    for (size_t i = 0; i < w->frames.count; i++)
        hone_free(w->frames.data[i]);
    hone_vec_deinit(&w->frames);
    hone_vec_deinit(&w->heard);
    hone_arena_destroy(w->arena);
    HONE_ASSERT_OK(hone_fs_remove_tree(w->dir));
    hone_free(w->dir);
    hone_free(w->artifact);
    hone_free(w->bundle);
}

/* ---- trials ---- */

hone_ticket remote_submit(remote_world *w, const char *device) {
    hone_arg args[] = {
        {"A", HONE_DTYPE_F32, HONE_ARG_IN,  1, {8}},
        {"C", HONE_DTYPE_F32, HONE_ARG_OUT, 1, {8}}
    };
    hone_run_request request = {
        .artifact_path = w->artifact,
        .manifest = {.abi_version = HONE_ABI_VERSION,
                     .entry = "kernel",
                     .arg_count = 2,
                     .args = args},
        .check_path = w->bundle,
        .device = device,
        .threads = 3,
        .timeout_ns = HONE_NS_PER_S,
        .seed = 42,
    };
    hone_ticket ticket;
    HONE_ASSERT_OK(hone_runner_submit(w->runner, &request, &ticket));
    return ticket;
}

void remote_tell_outcome(remote_world *w, hone_ticket ticket, double median_ns) {
    hone_run_result result;
    hone_str bytes = {0};
    hone_run_result_init(&result);
    result.sample_count = 3;
    for (int i = 0; i < 3; i++)
        result.samples_ns[i] = median_ns;
    HONE_ASSERT_OK(hone_run_result_encode(&result, &bytes));
    hone_farm_message m = {.kind = HONE_FARM_OUTCOME};
    m.u.outcome = (hone_farm_outcome){
        .trial = ticket,
        .result = {(const uint8_t *)bytes.data, bytes.length},
        .runner = "board-9",
        .slot = 3
    };
    remote_tell(w, &m);
    hone_str_deinit(&bytes);
}

hone_ticket remote_take(remote_world *w, hone_run_result *out) {
    hone_ticket ticket = 0;
    if (hone_runner_in_flight(w->runner) == 0) return 0;
    hone_status st = hone_runner_next_result(w->runner, HONE_DEADLINE_NOW, &ticket, out);
    hone_run_result_deinit(out);
    if (st) HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
    return ticket;
}
