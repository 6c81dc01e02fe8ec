/* tests/runner/farm/test_runner_remote.c - the remote runner beside a tracker that the test plays,
 * in virtual time. */
#include <math.h>
#include <string.h>

#include "measure/wire.h"
#include "net/blob_hash.h"
#include "net/simnet.h"
#include "runner/farm/runner_remote.h"
#include "runtime/model/abi.h"
#include "support/core/alloc.h"
#include "support/data/vec.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

#define ADDRESS "tcp://127.0.0.1:9190"
#define MS HONE_NS_PER_MS
#define HEARTBEAT_NS (1000 * MS)
#define EXPIRY_NS (3000 * MS)
#define CHUNK_BYTES 1024

enum { MAX_DEVICES = 4, FILE_BYTES = 5000 };

typedef struct world {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_net *server;
    hone_runner *runner;
    hone_net_peer peer; /* 0: not connected */
    hone_arena *arena;  /* of what was heard */
    HONE_VEC(hone_farm_message) heard;
    HONE_VEC(uint8_t *) frames;
    char *dir, *artifact, *bundle;
    /* what the tracker does by itself */
    bool is_mute; /* answers no SUBMIT */
    uint32_t devices;
    uint64_t device_number;
    const char *targets[MAX_DEVICES];
    const char *fitting; /* candidates run on devices of this target alone; NULL = on all */
    hone_farm_instance instance;
} world;

/* ---- the tracker's side ---- */

static void tell(world *w, const hone_farm_message *message) {
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(message, &frame));
    hone_status_free(hone_net_send(w->server, w->peer, frame.data, frame.length));
    hone_str_deinit(&frame);
}

static hone_farm_message answer(const hone_farm_message *to, hone_farm_kind kind) {
    return (hone_farm_message){.kind = kind, .id = to ? to->id : 0};
}

static void tell_devices(world *w, const hone_farm_message *to) {
    hone_farm_device devices[MAX_DEVICES] = {0};
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
    tell(w, &m);
}

static void change_devices(world *w, uint32_t count) {
    w->devices = count;
    w->device_number++;
}

static void react(world *w, const hone_farm_message *m) {
    hone_farm_message reply;
    switch (m->kind) {
    case HONE_FARM_HELLO:
        reply = answer(m, HONE_FARM_WELCOME);
        reply.u.welcome =
            (hone_farm_welcome){HONE_FARM_VERSION,   HEARTBEAT_NS, EXPIRY_NS, CHUNK_BYTES,
                                HONE_FARM_MAX_FRAME, w->instance,  64};
        tell(w, &reply);
        return;
    case HONE_FARM_DEVICES:
        tell_devices(w, m);
        return;
    case HONE_FARM_PING:
        reply = answer(m, HONE_FARM_PONG);
        reply.u.pong.devices = w->device_number;
        tell(w, &reply);
        return;
    case HONE_FARM_SUBMIT:
        reply = answer(m, HONE_FARM_ACCEPTED);
        reply.u.accepted.trial = m->u.submit.trial;
        if (!w->is_mute) tell(w, &reply);
        return;
    case HONE_FARM_CANCEL:
        reply = answer(m, HONE_FARM_CANCELLED);
        reply.u.cancelled = (hone_farm_cancelled){m->u.cancel.trial, true};
        tell(w, &reply);
        return;
    default:
        return;
    }
}

static void hear(world *w, const hone_net_event *event) {
    hone_farm_message m;
    uint8_t *copy = hone_malloc(event->count);
    assert_true(copy && hone_vec_push(&w->frames, copy));
    memcpy(copy, event->bytes, event->count);
    HONE_ASSERT_OK(hone_farm_decode(copy, event->count, w->arena, &m));
    assert_true(hone_vec_push(&w->heard, m));
    react(w, &m);
}

static void listen_to_all(world *w) {
    hone_net_event event;
    hone_status st;
    while (w->server && !(st = hone_net_recv(w->server, HONE_DEADLINE_NOW, &event))) {
        if (event.kind == HONE_NET_OPENED) w->peer = event.peer;
        if (event.kind == HONE_NET_CLOSED && event.peer == w->peer) w->peer = 0;
        if (event.kind == HONE_NET_MESSAGE) hear(w, &event);
    }
    if (w->server) HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
}

/* Lets time pass, both sides doing what there is to do. Returns what the runner said last. */
static hone_code run_for(world *w, int64_t duration_ns) {
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

static void forget(world *w) {
    w->heard.count = 0;
}

static int count_of(const world *w, hone_farm_kind kind) {
    int count = 0;
    for (size_t i = 0; i < w->heard.count; i++)
        count += w->heard.data[i].kind == kind;
    return count;
}

static const hone_farm_message *last_of(const world *w, hone_farm_kind kind) {
    for (size_t i = w->heard.count; i-- > 0;) {
        if (w->heard.data[i].kind == kind) return &w->heard.data[i];
    }
    fail_msg("no '%s' was heard", hone_farm_kind_name(kind));
    return NULL;
}

static void start_tracker(world *w) {
    hone_net_server_options o = {.address = ADDRESS, .is_insecure = true};
    HONE_ASSERT_OK(hone_simnet_listen(w->simnet, &o, &w->server));
    w->instance.lo++;
    w->device_number = 1;
}

static void stop_tracker(world *w) {
    hone_net_destroy(w->server);
    w->server = NULL;
    w->peer = 0;
}

static hone_status check_target(const void *ctx, const char *target) {
    const world *w = ctx;
    if (!w->fitting || strcmp(w->fitting, target) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a %s lacks sve", target);
}

/* With the members that are set already: devices, targets, fitting. */
static void open_world_with(world *w, bool stops) {
    w->instance = (hone_farm_instance){7, 7};
    hone_virtual_clock_init(&w->clock, 1000 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_simnet_create(&w->clock, 3, &w->simnet));
    w->arena = hone_arena_create(4096);
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-remote-test", &w->dir));
    w->artifact = hone_path_join(w->dir, "1.so");
    w->bundle = hone_path_join(w->dir, "b.check");
    uint8_t bytes[FILE_BYTES];
    for (int i = 0; i < FILE_BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    HONE_ASSERT_OK(hone_fs_write_atomic(w->artifact, bytes, sizeof bytes));
    HONE_ASSERT_OK(hone_fs_write_atomic(w->bundle, bytes + 1, 100));
    start_tracker(w);
    hone_net *net = NULL;
    hone_net_client_options client = {.address = ADDRESS, .is_insecure = true};
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
    run_for(w, 10 * MS);
}

static void open_world(world *w) {
    *w = (world){.devices = 1};
    open_world_with(w, false);
    assert_int_equal(hone_runner_slots(w->runner), 2);
}

static void close_world(world *w) {
    hone_runner_destroy(w->runner);
    stop_tracker(w);
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

static hone_ticket submit(world *w, const char *device) {
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

static void tell_outcome(world *w, hone_ticket ticket, double median_ns) {
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
    tell(w, &m);
    hone_str_deinit(&bytes);
}

/* Takes a result that is there; 0 = there is none. */
static hone_ticket take(world *w, hone_run_result *out) {
    hone_ticket ticket = 0;
    if (hone_runner_in_flight(w->runner) == 0) return 0;
    hone_status st = hone_runner_next_result(w->runner, HONE_DEADLINE_NOW, &ticket, out);
    hone_run_result_deinit(out);
    if (st) HONE_ASSERT_CODE(st, HONE_CODE_TIMEOUT);
    return ticket;
}

/* ---- tests ---- */

static void learns_devices_and_target(void **state) {
    (void)state;
    world w;
    open_world(&w);
    const hone_farm_hello *hello = &last_of(&w, HONE_FARM_HELLO)->u.hello;
    assert_string_equal(hello->name, "me");
    assert_int_equal(hello->role, HONE_FARM_TUNER);
    assert_true(hello->instance.lo || hello->instance.hi);
    const char *target = NULL;
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, "llvm -mcpu=cortex-a72 -num-cores=4");
    assert_string_equal(hone_runner_note(w.runner), "1 device");
    assert_false(hone_runner_times_here(w.runner));
    change_devices(&w, 3);
    tell_devices(&w, NULL);
    run_for(&w, 10 * MS);
    assert_int_equal(hone_runner_slots(w.runner), 6);
    change_devices(&w, 0); /* and nobody says so: the next PONG does */
    run_for(&w, 3 * HEARTBEAT_NS);
    assert_int_equal(hone_runner_slots(w.runner), 0);
    assert_string_equal(hone_runner_note(w.runner), "no device 'pi4'");
    close_world(&w);
}

/* Two kinds of board under one key are two groups. */
static void devices_that_differ_are_groups(void **state) {
    (void)state;
    world w;
    open_world(&w);
    const char *target = NULL, *chosen = "llvm -mcpu=cortex-a72 -num-cores=4";
    w.targets[1] = "llvm -mcpu=znver3";
    change_devices(&w, 3);
    tell_devices(&w, NULL);
    run_for(&w, 10 * MS);
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, chosen);
    assert_int_equal(hone_runner_slots(w.runner), 4); /* two of the three */
    submit(&w, NULL);
    run_for(&w, 10 * MS);
    assert_string_equal(last_of(&w, HONE_FARM_SUBMIT)->u.submit.target, chosen);
    assert_true(last_of(&w, HONE_FARM_SUBMIT)->u.submit.wants_time);
    w.targets[0] = w.targets[2] = w.targets[1]; /* all boards come back with another processor */
    change_devices(&w, 3);
    tell_devices(&w, NULL);
    run_for(&w, 10 * MS);
    assert_int_equal(hone_runner_slots(w.runner), 0);
    close_world(&w);
}

/* The largest group on which candidates run. */
static void chooses_what_fits(void **state) {
    (void)state;
    const char *target = NULL;
    world w = {
        .devices = 4, .targets = {"a", "a", "b", "c"},
             .fitting = "b"
    };
    open_world_with(&w, false);
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, "b");
    assert_int_equal(hone_runner_slots(w.runner), 2);
    close_world(&w);
    w = (world){
        .devices = 3, .targets = {"a", "b", "b"}
    };
    open_world_with(&w, false);
    HONE_ASSERT_OK(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target));
    assert_string_equal(target, "b");
    close_world(&w);
}

/* What no device can run is refused before the first trial, with the reason. */
static void refuses_what_fits_nowhere(void **state) {
    (void)state;
    const char *target = NULL;
    world w = {
        .devices = 2, .targets = {"a", "b"},
             .fitting = "c"
    };
    open_world_with(&w, false);
    HONE_ASSERT_ERROR(hone_runner_remote_find_target(w.runner, HONE_DEADLINE_NOW, &target),
                      HONE_CODE_UNSUPPORTED, "lacks sve");
    assert_int_equal(hone_runner_slots(w.runner), 0);
    close_world(&w);
}

/* A tracker that does not judge: what no device can have answered is the device's trouble. */
static void impossible_answers_are_the_devices(void **state) {
    (void)state;
    static const double times[] = {0, 1e-300, INFINITY};
    for (size_t i = 0; i < HONE_COUNT(times); i++) {
        world w;
        open_world(&w);
        hone_run_result result;
        hone_ticket ticket = submit(&w, NULL);
        run_for(&w, 10 * MS);
        tell_outcome(&w, ticket, times[i]);
        run_for(&w, 10 * MS);
        assert_int_equal(take(&w, &result), ticket);
        assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
        close_world(&w);
    }
}

static void a_trial_goes_there_and_back(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_ticket ticket = submit(&w, NULL);
    run_for(&w, 10 * MS);
    const hone_farm_submit *s = &last_of(&w, HONE_FARM_SUBMIT)->u.submit;
    assert_int_equal(s->trial, ticket);
    assert_string_equal(s->device_key, "pi4");
    assert_string_equal(s->device, "");
    assert_int_equal(s->blobs.count, 2);
    assert_int_equal(s->blobs.items[0].role, HONE_FARM_BLOB_ARTIFACT);
    assert_int_equal(s->blobs.items[0].bytes, FILE_BYTES);
    assert_int_equal(s->blobs.items[1].role, HONE_FARM_BLOB_BUNDLE);
    assert_true(s->timeout_ns > HONE_NS_PER_S);
    hone_run_request request;
    HONE_ASSERT_OK(hone_run_request_decode(s->request.data, s->request.count, w.arena, &request));
    assert_string_equal(request.manifest.entry, "kernel");
    assert_int_equal(request.threads, 3);
    assert_int_equal(request.seed, 42);
    assert_null(request.check_path);
    hone_run_result result;
    assert_int_equal(take(&w, &result), 0);
    run_for(&w, 100 * MS);
    tell_outcome(&w, ticket, 5000);
    run_for(&w, 10 * MS);
    tell_outcome(&w, ticket, 9999); /* late and doubled: acknowledged and dropped */
    run_for(&w, 10 * MS);
    assert_int_equal(count_of(&w, HONE_FARM_OUTCOME_ACK), 2);
    assert_int_equal(take(&w, &result), ticket);
    assert_true(result.median_ns == 5000);
    assert_string_equal(result.device, "board-9/3");
    assert_true(result.times.queue_ns >= 100 * MS);
    tell_outcome(&w, ticket, 7777);
    run_for(&w, 10 * MS);
    assert_int_equal(take(&w, &result), 0);
    assert_int_equal(hone_runner_in_flight(w.runner), 0);
    assert_int_equal(count_of(&w, HONE_FARM_SUBMIT), 1); /* not repeated once it was accepted */
    close_world(&w);
}

static void names_one_device(void **state) {
    (void)state;
    world w;
    open_world(&w);
    char device[] = "board-0/0";
    submit(&w, device);
    memset(device, 'x', 5); /* it was copied */
    run_for(&w, 10 * MS);
    assert_string_equal(last_of(&w, HONE_FARM_SUBMIT)->u.submit.device, "board-0/0");
    close_world(&w);
}

static void gives_files_in_parts(void **state) {
    (void)state;
    world w;
    open_world(&w);
    submit(&w, NULL);
    run_for(&w, 10 * MS);
    hone_farm_hash hash = last_of(&w, HONE_FARM_SUBMIT)->u.submit.blobs.items[0].hash;
    uint8_t got[FILE_BYTES];
    for (int64_t at = 0; at < FILE_BYTES; at += CHUNK_BYTES) {
        hone_farm_message want = {.kind = HONE_FARM_BLOB_WANT, .id = 55};
        want.u.blob_want = (hone_farm_blob_want){hash, at, CHUNK_BYTES};
        tell(&w, &want);
        run_for(&w, 10 * MS);
        const hone_farm_message *m = last_of(&w, HONE_FARM_BLOB_CHUNK);
        const hone_farm_blob_chunk *c = &m->u.blob_chunk;
        assert_int_equal(m->id, 55);
        assert_int_equal(c->offset, at);
        assert_int_equal(c->total, FILE_BYTES);
        memcpy(got + at, c->bytes.data, c->bytes.count);
    }
    hone_blob_hash found = hone_blob_hash_of(got, sizeof got);
    assert_memory_equal(found.bytes, hash.bytes, sizeof hash.bytes);
    static const struct {
        int hash_off;
        int64_t offset;
    } wrong[] = {
        {1, 0               },
        {0, FILE_BYTES      },
        {0, 100 * FILE_BYTES}
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        hone_farm_message want = {.kind = HONE_FARM_BLOB_WANT, .id = 56};
        want.u.blob_want = (hone_farm_blob_want){hash, wrong[i].offset, CHUNK_BYTES};
        want.u.blob_want.hash.bytes[0] ^= (uint8_t)wrong[i].hash_off;
        forget(&w);
        tell(&w, &want);
        run_for(&w, 10 * MS);
        assert_int_equal(count_of(&w, HONE_FARM_BLOB_MISSING), 1);
        assert_int_equal(count_of(&w, HONE_FARM_BLOB_CHUNK), 0);
    }
    close_world(&w);
}

static void repeats_what_is_not_answered(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.is_mute = true;
    hone_ticket ticket = submit(&w, NULL);
    run_for(&w, 4 * HEARTBEAT_NS);
    int count = count_of(&w, HONE_FARM_SUBMIT);
    assert_true(count >= 2 && count <= 4); /* ever later */
    w.is_mute = false;
    run_for(&w, 8 * HEARTBEAT_NS);
    forget(&w);
    run_for(&w, 20 * HEARTBEAT_NS);
    assert_int_equal(count_of(&w, HONE_FARM_SUBMIT), 0);
    assert_true(count_of(&w, HONE_FARM_PING) >= 10); /* it is alive */
    tell_outcome(&w, ticket, 10);
    run_for(&w, 10 * MS);
    hone_run_result result;
    assert_int_equal(take(&w, &result), ticket);
    close_world(&w);
}

static void survives_the_tracker(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_ticket first = submit(&w, NULL), second = submit(&w, NULL);
    run_for(&w, 10 * MS);
    hone_farm_instance instance = last_of(&w, HONE_FARM_HELLO)->u.hello.instance;
    tell_outcome(&w, first, 10);
    run_for(&w, 10 * MS);
    stop_tracker(&w);
    run_for(&w, 5 * HONE_NS_PER_S);
    assert_string_equal(hone_runner_note(w.runner), "no tracker");
    forget(&w);
    start_tracker(&w);
    run_for(&w, 10 * HONE_NS_PER_S);
    assert_true(hone_hash128_equal(last_of(&w, HONE_FARM_HELLO)->u.hello.instance, instance));
    assert_int_equal(count_of(&w, HONE_FARM_SUBMIT), 1); /* what has no outcome */
    assert_int_equal(last_of(&w, HONE_FARM_SUBMIT)->u.submit.trial, second);
    tell_outcome(&w, second, 20);
    run_for(&w, 10 * MS);
    hone_run_result result;
    assert_int_equal(take(&w, &result), first);
    assert_int_equal(take(&w, &result), second);
    /* a tracker that does not know the connection is greeted again, and told everything */
    hone_ticket third = submit(&w, NULL);
    run_for(&w, 10 * MS);
    forget(&w);
    hone_farm_message m = {.kind = HONE_FARM_REFUSED};
    m.u.refused.code = HONE_FARM_REFUSAL_HELLO;
    tell(&w, &m);
    run_for(&w, HEARTBEAT_NS);
    assert_int_equal(last_of(&w, HONE_FARM_SUBMIT)->u.submit.trial, third);
    close_world(&w);
}

static void a_silent_tracker_is_left(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_simnet_cut(w.simnet, w.server, true);
    run_for(&w, 2 * EXPIRY_NS);
    assert_string_equal(hone_runner_note(w.runner), "no tracker");
    hone_simnet_cut(w.simnet, w.server, false);
    run_for(&w, 30 * HONE_NS_PER_S);
    assert_string_equal(hone_runner_note(w.runner), "1 device");
    close_world(&w);
}

static void cancels_at_once(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_ticket first = submit(&w, NULL), second = submit(&w, NULL);
    run_for(&w, 10 * MS);
    tell_outcome(&w, first, 10);
    run_for(&w, 10 * MS);
    hone_runner_cancel_all(w.runner);
    hone_run_result result;
    assert_int_equal(take(&w, &result), first);
    assert_int_equal(result.failure, HONE_FAILURE_NONE); /* it was done */
    assert_int_equal(take(&w, &result), second);
    assert_int_equal(result.failure, HONE_FAILURE_CANCELLED);
    run_for(&w, 10 * HEARTBEAT_NS);
    assert_int_equal(count_of(&w, HONE_FARM_CANCEL), 1);
    assert_int_equal(last_of(&w, HONE_FARM_CANCEL)->u.cancel.trial, second);
    tell_outcome(&w, second, 10);
    run_for(&w, 10 * MS);
    assert_int_equal(last_of(&w, HONE_FARM_OUTCOME_ACK)->u.outcome_ack.trial, second);
    assert_int_equal(hone_runner_in_flight(w.runner), 0);
    close_world(&w);
}

static void refusals_of_a_trial(void **state) {
    (void)state;
    world w;
    open_world(&w);
    w.is_mute = true;
    hone_ticket ticket = submit(&w, NULL);
    run_for(&w, 10 * MS);
    hone_farm_message m = {.kind = HONE_FARM_REFUSED};
    m.u.refused = (hone_farm_refused){HONE_FARM_REFUSAL_BUSY, "later", HONE_FARM_SUBMIT, ticket};
    tell(&w, &m);
    run_for(&w, 2 * HEARTBEAT_NS);
    assert_true(count_of(&w, HONE_FARM_SUBMIT) >= 2);
    m.u.refused =
        (hone_farm_refused){HONE_FARM_REFUSAL_INVALID, "too large", HONE_FARM_SUBMIT, ticket};
    tell(&w, &m);
    run_for(&w, 10 * MS);
    hone_run_result result;
    assert_int_equal(take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_LOAD_ERROR);
    assert_string_equal(result.message, "too large");
    close_world(&w);
}

static void refusals_for_good(void **state) {
    (void)state;
    static const hone_farm_refusal codes[] = {HONE_FARM_REFUSAL_VERSION, HONE_FARM_REFUSAL_ROLE,
                                              HONE_FARM_REFUSAL_KEY};
    for (size_t i = 0; i < 3; i++) {
        world w;
        open_world(&w);
        submit(&w, NULL);
        hone_farm_message m = {.kind = HONE_FARM_REFUSED};
        m.u.refused = (hone_farm_refused){codes[i], "not you", HONE_FARM_HELLO, 0};
        tell(&w, &m);
        assert_int_equal(run_for(&w, 10 * MS), HONE_CODE_UNAVAILABLE);
        hone_ticket ticket;
        hone_run_result result;
        HONE_ASSERT_ERROR(hone_runner_next_result(w.runner, HONE_DEADLINE_NEVER, &ticket, &result),
                          HONE_CODE_UNAVAILABLE, "not you");
        hone_runner_cancel_all(w.runner); /* what is in flight is still answered */
        assert_int_equal(take(&w, &result), 1);
        close_world(&w);
    }
}

static void bad_results_and_files(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_ticket ticket = submit(&w, NULL);
    run_for(&w, 10 * MS);
    hone_farm_message m = {.kind = HONE_FARM_OUTCOME};
    m.u.outcome = (hone_farm_outcome){
        .trial = ticket, .result = {(const uint8_t *)"\x01garbage", 8},
             .runner = "liar"
    };
    tell(&w, &m);
    run_for(&w, 10 * MS);
    hone_run_result result;
    assert_int_equal(take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_DEVICE_LOST);
    HONE_ASSERT_OK(hone_fs_remove_file(w.artifact));
    ticket = submit(&w, NULL);
    assert_int_equal(take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_LOAD_ERROR);
    HONE_ASSERT_OK(hone_fs_write_atomic(w.artifact, "", 0));
    ticket = submit(&w, NULL);
    assert_int_equal(take(&w, &result), ticket);
    assert_int_equal(result.failure, HONE_FAILURE_LOAD_ERROR);
    close_world(&w);
}

/* Frames that make no sense are answered or dropped, and change nothing. */
static void garbage_from_the_tracker(void **state) {
    (void)state;
    world w;
    open_world(&w);
    hone_ticket ticket = submit(&w, NULL);
    run_for(&w, 10 * MS);
    hone_rng rng = hone_test_rng(5);
    for (int i = 0; i < 200; i++) {
        uint8_t bytes[64];
        size_t count = 1 + (size_t)hone_rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < count; k++)
            bytes[k] = (uint8_t)hone_rng_next(&rng);
        hone_status_free(hone_net_send(w.server, w.peer, bytes, count));
        run_for(&w, MS);
    }
    hone_farm_message m = {.kind = HONE_FARM_ASSIGN};
    m.u.assign.timeout_ns = 1;
    tell(&w, &m);
    run_for(&w, 10 * MS);
    assert_int_equal(last_of(&w, HONE_FARM_REFUSED)->u.refused.about, HONE_FARM_ASSIGN);
    tell_outcome(&w, ticket, 10);
    run_for(&w, 10 * MS);
    hone_run_result result;
    assert_int_equal(take(&w, &result), ticket);
    close_world(&w);
}

static void waits_for_devices_or_not(void **state) {
    (void)state;
    for (int stops = 0; stops < 2; stops++) {
        world w = {.devices = 1};
        open_world_with(&w, stops);
        change_devices(&w, 0);
        tell_devices(&w, NULL);
        assert_int_equal(run_for(&w, 4 * HONE_NS_PER_S), HONE_CODE_OK); /* it has patience */
        change_devices(&w, 1);
        tell_devices(&w, NULL);
        run_for(&w, 10 * MS);
        change_devices(&w, 0);
        tell_devices(&w, NULL);
        assert_int_equal(run_for(&w, 4 * HONE_NS_PER_S), HONE_CODE_OK);
        hone_code want = stops ? HONE_CODE_UNAVAILABLE : HONE_CODE_OK;
        assert_int_equal(run_for(&w, 2 * HONE_NS_PER_S), want);
        close_world(&w);
    }
    world w = {.devices = 1}; /* a tracker that is gone takes its devices with it */
    open_world_with(&w, true);
    stop_tracker(&w);
    assert_int_equal(run_for(&w, 20 * HONE_NS_PER_S), HONE_CODE_UNAVAILABLE);
    close_world(&w);
}

/* Messages are lost, doubled and overtake each other, connections end: each trial is answered once.
 */
static void faults(void **state) {
    (void)state;
    enum { TRIALS = 60 };
    for (uint64_t seed = 0; seed < 5; seed++) {
        world w;
        open_world(&w);
        hone_simnet_set_faults(w.simnet, &(hone_simnet_faults){.delay_min_ns = MS,
                                                               .delay_max_ns = 50 * MS,
                                                               .drop = 0.1,
                                                               .duplicate = 0.1,
                                                               .reorder = 0.2,
                                                               .lose = 0.01});
        int answered = 0, submitted = 0;
        bool seen[TRIALS + 1] = {false};
        for (int round = 0; answered < TRIALS && round < 2000; round++) {
            while (submitted < TRIALS && hone_runner_in_flight(w.runner) < 4) {
                submit(&w, NULL);
                submitted++;
            }
            run_for(&w, 300 * MS);
            for (size_t i = 0; i < w.heard.count; i++) { /* what it was asked, it answers */
                if (w.heard.data[i].kind == HONE_FARM_SUBMIT && w.peer) {
                    tell_outcome(&w, w.heard.data[i].u.submit.trial, 10);
                }
            }
            hone_run_result result;
            for (hone_ticket t; (t = take(&w, &result)); answered++) {
                assert_false(seen[t]);
                seen[t] = true;
                assert_int_equal(result.failure, HONE_FAILURE_NONE);
            }
            if (round % 20 == 19) forget(&w);
        }
        assert_int_equal(answered, TRIALS);
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_devices_and_target),
        cmocka_unit_test(devices_that_differ_are_groups),
        cmocka_unit_test(chooses_what_fits),
        cmocka_unit_test(refuses_what_fits_nowhere),
        cmocka_unit_test(impossible_answers_are_the_devices),
        cmocka_unit_test(a_trial_goes_there_and_back),
        cmocka_unit_test(names_one_device),
        cmocka_unit_test(gives_files_in_parts),
        cmocka_unit_test(repeats_what_is_not_answered),
        cmocka_unit_test(survives_the_tracker),
        cmocka_unit_test(a_silent_tracker_is_left),
        cmocka_unit_test(cancels_at_once),
        cmocka_unit_test(refusals_of_a_trial),
        cmocka_unit_test(refusals_for_good),
        cmocka_unit_test(bad_results_and_files),
        cmocka_unit_test(garbage_from_the_tracker),
        cmocka_unit_test(waits_for_devices_or_not),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests_name("runner/remote", tests, NULL, NULL);
}
