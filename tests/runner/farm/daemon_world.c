/* tests/runner/farm/daemon_world.c - plays the tracker beside a daemon, in virtual time. */
#include "tests/runner/farm/daemon_world.h"

#include <string.h>

#include "measure/wire.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/runner/farm/held_runner.h"

const hone_farm_instance world_tuner = {.lo = 77, .hi = 1}, world_tracker = {.lo = 5, .hi = 5};

/* ---- the tracker's side ---- */

void world_tell(daemon_world *f, const hone_farm_message *message) {
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(message, &frame));
    hone_status_free(hone_net_send(f->server, f->peer, frame.data, frame.length));
    hone_str_deinit(&frame);
}

void world_tell_lease(daemon_world *f, hone_farm_kind kind, uint64_t token, uint64_t trial) {
    const hone_farm_message message = {
        .kind = kind, .u.lease = {token, world_tuner, trial}
    };
    world_tell(f, &message);
}

void world_welcome(daemon_world *f) {
    const hone_farm_message message = {
        .kind = HONE_FARM_WELCOME,
        .u.welcome = {.version = HONE_FARM_VERSION,
                      .heartbeat_ns = WORLD_HEARTBEAT_NS,
                      .expiry_ns = WORLD_EXPIRY_NS,
                      .chunk_bytes = WORLD_CHUNK_BYTES,
                      .max_frame_bytes = HONE_FARM_MAX_FRAME,
                      .tracker = world_tracker}
    };
    world_tell(f, &message);
}

static void send_chunk(daemon_world *f, const hone_farm_blob_want *want) {
    for (size_t i = 0; i < f->file_count; i++) {
        const daemon_file *source = &f->files[i];
        if (!hone_farm_hash_equal(&source->blob.hash, &want->hash)) continue;
        assert_true(want->count <= WORLD_CHUNK_BYTES);
        assert_true(want->offset + want->count <= source->blob.bytes);
        const hone_farm_message message = {
            .kind = HONE_FARM_BLOB_CHUNK,
            .u.blob_chunk = {.hash = want->hash,
                             .total = source->blob.bytes,
                             .offset = want->offset,
                             .bytes = {source->content + want->offset, want->count}}
        };
        world_tell(f, &message);
        return;
    }
    fail_msg("a file was wanted that nobody offered");
}

static void answer(daemon_world *f, const hone_farm_message *m) {
    if (f->is_mute) return;
    if (m->kind == HONE_FARM_HELLO) world_welcome(f);
    if (m->kind == HONE_FARM_PING) {
        const hone_farm_message pong = {.kind = HONE_FARM_PONG, .id = m->id};
        world_tell(f, &pong);
    }
    if (m->kind == HONE_FARM_BLOB_WANT && f->has_files) send_chunk(f, &m->u.blob_want);
    if (m->kind == HONE_FARM_RESULT && f->acks) {
        world_tell_lease(f, HONE_FARM_RESULT_ACK, m->u.result.token, m->u.result.trial);
    }
    if (m->kind == HONE_FARM_RETURNED && f->acks) {
        world_tell_lease(f, HONE_FARM_RESULT_ACK, m->u.returned.token, m->u.returned.trial);
    }
}

static void hear(daemon_world *f) {
    hone_net_event event;
    hone_status st;
    while (!(st = hone_net_recv(f->server, HONE_DEADLINE_NOW, &event))) {
        if (event.kind == HONE_NET_OPENED) f->peer = event.peer;
        if (event.kind != HONE_NET_MESSAGE) continue;
        hone_farm_message m;
        uint8_t *bytes = hone_arena_alloc(f->arena, event.count);
        memcpy(bytes, event.bytes, event.count);
        HONE_ASSERT_OK(hone_farm_decode(bytes, event.count, f->arena, &m));
        assert_true(hone_vec_push(&f->heard, m));
        answer(f, &m);
    }
    assert_int_equal(hone_status_consume(st), HONE_CODE_TIMEOUT);
}

/* ---- time ---- */

/* Nobody listens to a connection whose daemon has left. */
static void drain(hone_net *client) {
    hone_net_event event;
    hone_status st;
    do {
        st = hone_net_recv(client, HONE_DEADLINE_NOW, &event);
    } while (!st);
    hone_status_free(st);
}

void world_run_for(daemon_world *f, int64_t ns) {
    const hone_clock *clock = &f->clock.clock;
    int64_t end = hone_clock_now(clock) + ns;
    for (int rounds = 0;; rounds++) {
        assert_true(rounds < 100000); /* it must not spin */
        if (!f->end) f->end = hone_daemon_step(f->daemon);
        if (hone_daemon_is_over(f->daemon)) drain(f->client);
        hear(f);
        int64_t next = end, at = hone_simnet_next_ns(f->simnet);
        if (at < next) next = at;
        at = f->end ? HONE_DEADLINE_NEVER : hone_daemon_next_ns(f->daemon);
        if (at < next) next = at;
        int64_t now = hone_clock_now(clock);
        if (next > now) hone_virtual_clock_advance(&f->clock, next - now);
        if (now >= end) return;
    }
}

size_t world_count_heard(const daemon_world *f, hone_farm_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < f->heard.count; i++)
        count += f->heard.data[i].kind == kind;
    return count;
}

const hone_farm_message *world_last(const daemon_world *f, hone_farm_kind kind) {
    for (size_t i = f->heard.count; i-- > 0;) {
        if (f->heard.data[i].kind == kind) return &f->heard.data[i];
    }
    fail_msg("no '%s' was heard", hone_farm_kind_name(kind));
    return NULL;
}

void world_forget_heard(daemon_world *f) {
    hone_vec_clear(&f->heard);
}

/* ---- making ---- */

void world_create_daemon(daemon_world *f) {
    hone_daemon_slot slots[WORLD_SLOTS] = {0};
    for (int i = 0; i < WORLD_SLOTS; i++) {
        slots[i].runner = f->runners[i];
        slots[i].facts.cores = 4;
        hone_farm_set_text(slots[i].facts.device_key, HONE_FARM_NAME_BYTES, "board");
        hone_farm_set_text(slots[i].facts.target, HONE_FARM_TARGET_BYTES, "llvm -mcpu=generic");
    }
    const hone_daemon_options options = {.net = f->client,
                                         .cache = f->cache,
                                         .slots = slots,
                                         .slot_count = WORLD_SLOTS,
                                         .name = "desk",
                                         .software = "hone-runner 1",
                                         .self_test = f->self_test,
                                         .idle_ns = f->idle_ns,
                                         .instance = {.lo = 42}};
    HONE_ASSERT_OK(hone_daemon_create(&options, &f->daemon));
}

void world_connect(daemon_world *f) {
    const hone_net_client_options options = {
        .address = WORLD_ADDRESS, .server_key = f->server_keys.public_key, .keys = f->client_keys};
    HONE_ASSERT_OK(hone_simnet_connect(f->simnet, &options, &f->client));
}

int world_set_up(void **state) {
    static daemon_world f;
    f = (daemon_world){.has_files = true, .acks = true};
    *state = &f;
    hone_virtual_clock_init(&f.clock, HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_simnet_create(&f.clock, 1, &f.simnet));
    HONE_ASSERT_OK(hone_key_pair_create(&f.server_keys));
    HONE_ASSERT_OK(hone_key_pair_create(&f.client_keys));
    const hone_net_server_options options = {.address = WORLD_ADDRESS, .keys = f.server_keys};
    HONE_ASSERT_OK(hone_simnet_listen(f.simnet, &options, &f.server));
    world_connect(&f);
    for (int i = 0; i < WORLD_SLOTS; i++)
        HONE_ASSERT_OK(held_runner_create(&f.runners[i]));
    HONE_ASSERT_OK(hone_fs_temp_dir("daemon", &f.dir));
    HONE_ASSERT_OK(hone_blob_cache_open(f.dir, 1 << 20, &f.cache));
    f.arena = hone_arena_create(1 << 16);
    assert_non_null(f.arena);
    world_create_daemon(&f);
    return 0;
}

int world_tear_down(void **state) {
    daemon_world *f = *state;
    hone_status_free(f->end);
    hone_daemon_destroy(f->daemon);
    hone_blob_cache_close(f->cache);
    for (int i = 0; i < WORLD_SLOTS; i++)
        hone_runner_destroy(f->runners[i]);
    hone_net_destroy(f->client);
    hone_net_destroy(f->server);
    hone_simnet_destroy(f->simnet);
    hone_vec_deinit(&f->heard);
    hone_arena_destroy(f->arena);
    HONE_ASSERT_OK(hone_fs_remove_tree(f->dir));
    hone_free(f->dir);
    return 0;
}

const hone_farm_blob *world_offer(daemon_world *f, hone_farm_blob_role role, uint8_t seed,
                                  size_t bytes) {
    daemon_file *made = &f->files[f->file_count++];
    for (size_t i = 0; i < bytes; i++)
        made->content[i] = (uint8_t)(seed + i * 7 + i / 256);
    hone_blob_hash hash = hone_blob_hash_of(made->content, bytes);
    made->blob = (hone_farm_blob){.role = role, .bytes = (int64_t)bytes};
    memcpy(made->blob.hash.bytes, hash.bytes, sizeof hash.bytes);
    return &made->blob;
}

void world_assign(daemon_world *f, daemon_assignment a) {
    hone_farm_blob blobs[4];
    hone_str bytes = {0};
    const hone_run_request request = {
        .artifact_path = "/tuner/kernel.so",
        .check_path = "/tuner/task.check",
        .manifest = {.abi_version = 1, .entry = "kernel", .target = a.target},
        .timeout_ns = 123 * WORLD_MS
    };
    HONE_ASSERT_OK(hone_run_request_encode(&request, &bytes));
    hone_farm_message message = {.kind = HONE_FARM_ASSIGN};
    message.u.assign = (hone_farm_assign){
        .token = a.token,
        .tuner = world_tuner,
        .trial = a.trial,
        .slot = a.slot,
        .request = {(const uint8_t *)bytes.data, bytes.length},
        .timeout_ns = HONE_NS_PER_S
    };
    for (size_t i = 0; a.has_files && i < f->file_count; i++)
        blobs[i] = f->files[i].blob;
    message.u.assign.blobs.count = a.has_files ? f->file_count : 0;
    message.u.assign.blobs.items = blobs;
    world_tell(f, &message);
    hone_str_deinit(&bytes);
}

hone_run_result world_result_of(const hone_farm_message *m) {
    hone_run_result result;
    HONE_ASSERT_OK(
        hone_run_result_decode(m->u.result.result.data, m->u.result.result.count, &result));
    return result;
}

void world_expect_failure(const daemon_world *f, hone_failure failure, const char *part) {
    hone_run_result result = world_result_of(world_last(f, HONE_FARM_RESULT));
    assert_int_equal(result.failure, failure);
    if (!strstr(result.message, part)) fail_msg("message: %s", result.message);
    hone_run_result_deinit(&result);
}

size_t world_held(const daemon_world *f) {
    return hone_daemon_get_stats(f->daemon).held;
}
