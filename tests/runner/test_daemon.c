/* tests/runner/test_daemon.c - the daemon beside a tracker that the test plays, in virtual time. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "measure/wire.h"
#include "net/simnet.h"
#include "runner/daemon.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "support/rng.h"
#include "support/vec.h"
#include "tests/runner/held_runner.h"
#include "tests/support/hone_test.h"

#define ADDRESS "tcp://tracker:9190"
#define MS HONE_NS_PER_MS
#define HEARTBEAT_NS (1000 * MS)
#define EXPIRY_NS (3000 * MS)
#define CHUNK_BYTES 1024

enum { SLOTS = 2, MAX_FILE = 8192 };

typedef struct file {
    hone_farm_blob blob;
    uint8_t content[MAX_FILE];
} file;

typedef struct fixture {
    hone_virtual_clock clock;
    hone_simnet *simnet;
    hone_net *server, *client;
    hone_key_pair server_keys, client_keys;
    hone_runner *runners[SLOTS];
    char *dir;
    hone_blob_cache *cache;
    hone_daemon *daemon;
    hone_status end; /* what _step said at last */
    hone_net_peer peer;
    hone_arena *arena; /* of what was heard */
    HONE_VEC(hone_farm_message) heard;
    /* what the tracker does by itself */
    bool is_mute, has_files, acks;
    file files[4];
    size_t file_count;
} fixture;

static const hone_farm_instance tuner = {.lo = 77, .hi = 1}, tracker = {.lo = 5, .hi = 5};

/* ---- the tracker's side ---- */

static void tell(fixture *f, const hone_farm_message *message) {
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(message, &frame));
    hone_status_free(hone_net_send(f->server, f->peer, frame.data, frame.length));
    hone_str_deinit(&frame);
}

static void tell_lease(fixture *f, hone_farm_kind kind, uint64_t token, uint64_t trial) {
    const hone_farm_message message = {
        .kind = kind, .u.lease = {token, tuner, trial}
    };
    tell(f, &message);
}

static void welcome(fixture *f) {
    const hone_farm_message message = {
        .kind = HONE_FARM_WELCOME,
        .u.welcome = {.version = HONE_FARM_VERSION,
                      .heartbeat_ns = HEARTBEAT_NS,
                      .expiry_ns = EXPIRY_NS,
                      .chunk_bytes = CHUNK_BYTES,
                      .max_frame_bytes = HONE_FARM_MAX_FRAME,
                      .tracker = tracker}
    };
    tell(f, &message);
}

static void send_chunk(fixture *f, const hone_farm_blob_want *want) {
    for (size_t i = 0; i < f->file_count; i++) {
        const file *source = &f->files[i];
        if (!hone_farm_hash_equal(&source->blob.hash, &want->hash)) continue;
        assert_true(want->count <= CHUNK_BYTES);
        assert_true(want->offset + want->count <= source->blob.bytes);
        const hone_farm_message message = {
            .kind = HONE_FARM_BLOB_CHUNK,
            .u.blob_chunk = {.hash = want->hash,
                             .total = source->blob.bytes,
                             .offset = want->offset,
                             .bytes = {source->content + want->offset, want->count}}
        };
        tell(f, &message);
        return;
    }
    fail_msg("a file was wanted that nobody offered");
}

static void answer(fixture *f, const hone_farm_message *m) {
    if (f->is_mute) return;
    if (m->kind == HONE_FARM_HELLO) welcome(f);
    if (m->kind == HONE_FARM_PING) {
        const hone_farm_message pong = {.kind = HONE_FARM_PONG, .id = m->id};
        tell(f, &pong);
    }
    if (m->kind == HONE_FARM_BLOB_WANT && f->has_files) send_chunk(f, &m->u.blob_want);
    if (m->kind == HONE_FARM_RESULT && f->acks) {
        tell_lease(f, HONE_FARM_RESULT_ACK, m->u.result.token, m->u.result.trial);
    }
    if (m->kind == HONE_FARM_RETURNED && f->acks) {
        tell_lease(f, HONE_FARM_RESULT_ACK, m->u.returned.token, m->u.returned.trial);
    }
}

static void hear(fixture *f) {
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

static void run_for(fixture *f, int64_t ns) {
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

static size_t count_heard(const fixture *f, hone_farm_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < f->heard.count; i++)
        count += f->heard.data[i].kind == kind;
    return count;
}

/* The last one of its kind; there must be one. */
static const hone_farm_message *last(const fixture *f, hone_farm_kind kind) {
    for (size_t i = f->heard.count; i-- > 0;) {
        if (f->heard.data[i].kind == kind) return &f->heard.data[i];
    }
    fail_msg("no '%s' was heard", hone_farm_kind_name(kind));
    return NULL;
}

static void forget_heard(fixture *f) {
    hone_vec_clear(&f->heard);
}

/* ---- making ---- */

static void create_daemon(fixture *f) {
    hone_daemon_slot slots[SLOTS] = {0};
    for (int i = 0; i < SLOTS; i++) {
        slots[i].runner = f->runners[i];
        slots[i].facts.cores = 4;
        hone_farm_set_text(slots[i].facts.device_key, HONE_FARM_NAME_BYTES, "board");
        hone_farm_set_text(slots[i].facts.target, HONE_FARM_TARGET_BYTES, "llvm -mcpu=generic");
    }
    const hone_daemon_options options = {.net = f->client,
                                         .cache = f->cache,
                                         .slots = slots,
                                         .slot_count = SLOTS,
                                         .name = "desk",
                                         .software = "hone-runner 1",
                                         .instance = {.lo = 42}};
    HONE_ASSERT_OK(hone_daemon_create(&options, &f->daemon));
}

static void connect_client(fixture *f) {
    const hone_net_client_options options = {
        .address = ADDRESS, .server_key = f->server_keys.public_key, .keys = f->client_keys};
    HONE_ASSERT_OK(hone_simnet_connect(f->simnet, &options, &f->client));
}

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.has_files = true, .acks = true};
    *state = &f;
    hone_virtual_clock_init(&f.clock, HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_simnet_create(&f.clock, 1, &f.simnet));
    HONE_ASSERT_OK(hone_key_pair_create(&f.server_keys));
    HONE_ASSERT_OK(hone_key_pair_create(&f.client_keys));
    const hone_net_server_options options = {.address = ADDRESS, .keys = f.server_keys};
    HONE_ASSERT_OK(hone_simnet_listen(f.simnet, &options, &f.server));
    connect_client(&f);
    for (int i = 0; i < SLOTS; i++)
        HONE_ASSERT_OK(held_runner_create(&f.runners[i]));
    HONE_ASSERT_OK(hone_fs_temp_dir("daemon", &f.dir));
    HONE_ASSERT_OK(hone_blob_cache_open(f.dir, 1 << 20, &f.cache));
    f.arena = hone_arena_create(1 << 16);
    assert_non_null(f.arena);
    create_daemon(&f);
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    hone_status_free(f->end);
    hone_daemon_destroy(f->daemon);
    hone_blob_cache_close(f->cache);
    for (int i = 0; i < SLOTS; i++)
        hone_runner_release(f->runners[i]);
    hone_net_destroy(f->client);
    hone_net_destroy(f->server);
    hone_simnet_destroy(f->simnet);
    hone_vec_deinit(&f->heard);
    hone_arena_destroy(f->arena);
    HONE_ASSERT_OK(hone_fs_remove_tree(f->dir));
    hone_free(f->dir);
    return 0;
}

static const hone_farm_blob *offer(fixture *f, hone_farm_blob_role role, uint8_t seed,
                                   size_t bytes) {
    file *made = &f->files[f->file_count++];
    for (size_t i = 0; i < bytes; i++)
        made->content[i] = (uint8_t)(seed + i * 7 + i / 256);
    hone_blob_hash hash = hone_blob_hash_of(made->content, bytes);
    made->blob = (hone_farm_blob){.role = role, .bytes = (int64_t)bytes};
    memcpy(made->blob.hash.bytes, hash.bytes, sizeof hash.bytes);
    return &made->blob;
}

typedef struct assignment {
    uint64_t token, trial;
    uint32_t slot;
    const char *target; /* NULL: not known */
    bool has_files;     /* all that were offered */
} assignment;

static void assign(fixture *f, assignment a) {
    hone_farm_blob blobs[4];
    hone_str bytes = {0};
    const hone_run_request request = {
        .artifact_path = "/tuner/kernel.so",
        .check_path = "/tuner/task.check",
        .manifest = {.abi_version = 1, .entry = "kernel", .target = a.target},
        .timeout_ns = 123 * MS
    };
    HONE_ASSERT_OK(hone_run_request_encode(&request, &bytes));
    hone_farm_message message = {.kind = HONE_FARM_ASSIGN};
    message.u.assign = (hone_farm_assign){
        .token = a.token,
        .tuner = tuner,
        .trial = a.trial,
        .slot = a.slot,
        .request = {(const uint8_t *)bytes.data, bytes.length},
        .timeout_ns = HONE_NS_PER_S
    };
    for (size_t i = 0; a.has_files && i < f->file_count; i++)
        blobs[i] = f->files[i].blob;
    message.u.assign.blobs.count = a.has_files ? f->file_count : 0;
    message.u.assign.blobs.items = blobs;
    tell(f, &message);
    hone_str_deinit(&bytes);
}

static hone_run_result result_of(const hone_farm_message *m) {
    hone_run_result result;
    HONE_ASSERT_OK(
        hone_run_result_decode(m->u.result.result.data, m->u.result.result.count, &result));
    return result;
}

static void expect_failure(const fixture *f, hone_failure failure, const char *part) {
    hone_run_result result = result_of(last(f, HONE_FARM_RESULT));
    assert_int_equal(result.failure, failure);
    if (!strstr(result.message, part)) fail_msg("message: %s", result.message);
    hone_run_result_deinit(&result);
}

static size_t held(const fixture *f) {
    return hone_daemon_get_stats(f->daemon).held;
}

/* ---- greeting ---- */

static void says_who_it_is(void **state) {
    fixture *f = *state;
    f->is_mute = true;
    run_for(f, 2500 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_HELLO), 4); /* 0 s, 0.25 s, 0.75 s, 1.75 s */
    const hone_farm_hello *hello = &last(f, HONE_FARM_HELLO)->u.hello;
    assert_int_equal(hello->version_max, HONE_FARM_VERSION);
    assert_int_equal(hello->role, HONE_FARM_RUNNER);
    assert_string_equal(hello->name, "desk");
    assert_string_equal(hello->software, "hone-runner 1");
    assert_int_equal(hello->instance.lo, 42);
    assert_int_equal(hello->slots.count, SLOTS);
    assert_int_equal(hello->slots.items[1].slot, 1);
    assert_int_equal(hello->slots.items[1].cores, 4);
    assert_string_equal(hello->slots.items[1].device_key, "board");
    assert_int_equal(hello->held.count, 0);
    assert_false(hone_daemon_get_stats(f->daemon).is_connected);
    welcome(f);
    run_for(f, 10 * MS);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

static void keeps_in_touch(void **state) {
    fixture *f = *state;
    run_for(f, 10500 * MS);
    assert_in_range(count_heard(f, HONE_FARM_PING), 9, 11);
    assert_int_equal(count_heard(f, HONE_FARM_HELLO), 1);
    f->is_mute = true; /* a tracker that hangs: the connection is there, but nobody */
    run_for(f, EXPIRY_NS + 1500 * MS);
    assert_true(count_heard(f, HONE_FARM_HELLO) > 1);
    f->is_mute = false;
    run_for(f, 20000 * MS);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

static void gives_up_when_told_so(void **state) {
    static const struct {
        hone_farm_refusal refusal;
        hone_code code;
    } rows[] = {
        {HONE_FARM_REFUSAL_VERSION, HONE_CODE_VERSION},
        {HONE_FARM_REFUSAL_ROLE,    HONE_CODE_INVALID},
    };
    fixture *f = *state;
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        hone_farm_message refused = {.kind = HONE_FARM_REFUSED, .u.refused.code = rows[i].refusal};
        hone_farm_set_text(refused.u.refused.text, HONE_FARM_NOTE_BYTES, "not like this");
        run_for(f, 10 * MS);
        tell(f, &refused);
        run_for(f, 10 * MS);
        hone_status st = f->end;
        f->end = HONE_OK;
        HONE_ASSERT_ERROR(st, rows[i].code, "not like this");
    }
}

static void greets_again_when_unknown(void **state) {
    fixture *f = *state;
    const hone_farm_message refused = {.kind = HONE_FARM_REFUSED,
                                       .u.refused.code = HONE_FARM_REFUSAL_HELLO};
    run_for(f, 10 * MS);
    forget_heard(f);
    tell(f, &refused);
    run_for(f, 10 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_HELLO), 1);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

/* ---- trials ---- */

static void check_file(const fixture *f, const char *path, size_t which) {
    char *bytes;
    size_t count;
    assert_non_null(path);
    assert_int_equal(strncmp(path, f->dir, strlen(f->dir)), 0);
    HONE_ASSERT_OK(hone_fs_read(path, MAX_FILE, &bytes, &count));
    assert_int_equal(count, f->files[which].blob.bytes);
    assert_memory_equal(bytes, f->files[which].content, count);
    hone_free(bytes);
}

static void runs_what_is_assigned(void **state) {
    fixture *f = *state;
    offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 8000);
    offer(f, HONE_FARM_BLOB_BUNDLE, 2, 1);
    offer(f, HONE_FARM_BLOB_EXTERN, 3, CHUNK_BYTES);
    f->acks = false;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 9, .trial = 4, .slot = 1, .has_files = true});
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_TAKEN)->u.lease.token, 9);
    assert_int_equal(last(f, HONE_FARM_TAKEN)->u.lease.trial, 4);
    assert_int_equal(count_heard(f, HONE_FARM_BLOB_WANT), 8 + 1 + 1);
    assert_null(held_runner_running(f->runners[0]));
    const hone_run_request *r = held_runner_running(f->runners[1]);
    assert_non_null(r);
    assert_int_equal(r->timeout_ns, 123 * MS);
    assert_string_equal(r->manifest.entry, "kernel");
    check_file(f, r->artifact_path, 0);
    check_file(f, r->check_path, 1);
    check_file(f, r->extern_path, 2);
    held_runner_finish(f->runners[1], 5000);
    run_for(f, 3500 * MS);
    assert_in_range(count_heard(f, HONE_FARM_RESULT), 4, 6); /* until somebody has it */
    hone_run_result result = result_of(last(f, HONE_FARM_RESULT));
    assert_true(result.median_ns == 5000);
    assert_int_equal(last(f, HONE_FARM_RESULT)->u.result.token, 9);
    assert_int_equal(held(f), 1);
    tell_lease(f, HONE_FARM_RESULT_ACK, 9, 4);
    run_for(f, 10 * MS);
    assert_int_equal(held(f), 0);
    forget_heard(f);
    assign(f, (assignment){.token = 9, .trial = 5, .slot = 1, .has_files = true});
    run_for(f, 10 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_BLOB_WANT), 0); /* the files are there */
    assert_int_equal(held_runner_started(f->runners[1]), 2);
}

static void uses_no_path_of_the_tuner(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1});
    run_for(f, 10 * MS);
    const hone_run_request *r = held_runner_running(f->runners[0]);
    assert_non_null(r);
    assert_null(r->check_path);
    assert_string_not_equal(r->artifact_path, "/tuner/kernel.so");
}

static void runs_one_at_a_time(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    for (uint64_t trial = 1; trial <= 3; trial++)
        assign(f, (assignment){.token = 1, .trial = trial});
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    held_runner_finish(f->runners[0], 1);
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 2);
    assert_int_equal(last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    tell_lease(f, HONE_FARM_ABORT, 1, 3); /* waits */
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 3);
    tell_lease(f, HONE_FARM_ABORT, 1, 2); /* runs */
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    assert_int_equal(held(f), 0);
    tell_lease(f, HONE_FARM_ABORT, 1, 7); /* is not known */
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 7);
    assert_int_equal(count_heard(f, HONE_FARM_RESULT), 1);
}

static void bounds_what_it_takes(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    for (uint64_t trial = 1; trial <= 50; trial++)
        assign(f, (assignment){.token = 1, .trial = trial});
    assign(f, (assignment){.token = 1, .trial = 60, .slot = SLOTS});
    run_for(f, 10 * MS);
    assert_true(held(f) <= 8);
    assert_true(count_heard(f, HONE_FARM_RETURNED) >= 43);
}

static void knows_what_it_has_seen(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    for (int i = 0; i < 3; i++)
        assign(f, (assignment){.token = 5, .trial = 1});
    run_for(f, 10 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_TAKEN), 3);
    assert_int_equal(held(f), 1);
    assign(f, (assignment){.token = 6, .trial = 1}); /* after a restart of the tracker */
    assign(f, (assignment){.token = 4, .trial = 2}); /* of long ago */
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    held_runner_finish(f->runners[0], 1);
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_RESULT)->u.result.token, 6);
    assert_int_equal(held(f), 0);
    assign(f, (assignment){.token = 6, .trial = 1}); /* late, after the acknowledgement */
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
    assign(f, (assignment){.token = 7, .trial = 1}); /* but a new lease is a new run */
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 2);
}

static void survives_a_lost_connection(void **state) {
    fixture *f = *state;
    f->acks = false;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1});
    assign(f, (assignment){.token = 1, .trial = 2});
    assign(f, (assignment){.token = 2, .trial = 3, .slot = 1});
    run_for(f, 10 * MS);
    held_runner_finish(f->runners[1], 1);
    run_for(f, 10 * MS);
    forget_heard(f);
    hone_simnet_break(f->simnet, f->client);
    run_for(f, 2000 * MS);
    const hone_farm_hello *hello = &last(f, HONE_FARM_HELLO)->u.hello;
    assert_int_equal(hello->held.count, 3);
    static const hone_farm_held_state states[] = {HONE_FARM_HELD_RUNNING, HONE_FARM_HELD_WAITING,
                                                  HONE_FARM_HELD_DONE};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hello->held.items[i].trial, i + 1);
        assert_int_equal(hello->held.items[i].state, states[i]);
    }
    assert_int_equal(last(f, HONE_FARM_RESULT)->u.result.trial, 3);
    f->acks = true;
    held_runner_finish(f->runners[0], 1);
    run_for(f, 10 * MS);
    held_runner_finish(f->runners[0], 1);
    run_for(f, 20000 * MS);
    assert_int_equal(held(f), 0);
    assert_int_equal(hone_daemon_get_stats(f->daemon).results, 3);
}

/* A tracker that hears nothing for so long has given the work to somebody else. */
static void forgets_what_waits_when_alone(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1});
    assign(f, (assignment){.token = 1, .trial = 2});
    run_for(f, 10 * MS);
    hone_simnet_cut(f->simnet, f->client, true);
    run_for(f, EXPIRY_NS / 2);
    assert_int_equal(held(f), 2);
    run_for(f, EXPIRY_NS);
    assert_int_equal(held(f), 1);
    held_runner_finish(f->runners[0], 1);
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    hone_simnet_cut(f->simnet, f->client, false);
    forget_heard(f);
    run_for(f, 60000 * MS);
    assert_int_equal(last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    assert_int_equal(held(f), 0);
}

/* ---- what cannot be run ---- */

static void refuses_other_targets(void **state) {
    fixture *f = *state;
    offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 100);
    run_for(f, 10 * MS);
    assign(f,
           (assignment){.token = 1, .trial = 1, .target = "riscv64-linux-gnu", .has_files = true});
    run_for(f, 10 * MS);
    expect_failure(f, HONE_FAILURE_LOAD_ERROR, "riscv64-linux-gnu");
    assign(f, (assignment){.token = 1, .trial = 2, .target = "?!", .has_files = true});
    run_for(f, 10 * MS);
    expect_failure(f, HONE_FAILURE_LOAD_ERROR, "target");
    assert_int_equal(count_heard(f, HONE_FARM_BLOB_WANT), 0);
    assert_int_equal(held_runner_started(f->runners[0]), 0);
}

static void refuses_requests_without_sense(void **state) {
    fixture *f = *state;
    const hone_farm_message message = {
        .kind = HONE_FARM_ASSIGN,
        .u.assign = {.token = 1,
                     .tuner = tuner,
                     .trial = 1,
                     .request = {(const uint8_t *)"?", 1},
                     .timeout_ns = 1}
    };
    run_for(f, 10 * MS);
    tell(f, &message);
    run_for(f, 10 * MS);
    expect_failure(f, HONE_FAILURE_LOAD_ERROR, "run request");
    assert_int_equal(held(f), 0);
}

static void notices_other_content(void **state) {
    fixture *f = *state;
    offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->files[0].content[1500] ^= 1;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1, .has_files = true});
    run_for(f, 10 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_BLOB_WANT), 6); /* tried twice */
    expect_failure(f, HONE_FAILURE_LOAD_ERROR, "hash");
    f->files[0].content[1500] ^= 1;
    assign(f, (assignment){.token = 1, .trial = 2, .has_files = true});
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
}

static void gives_back_what_has_no_file(void **state) {
    fixture *f = *state;
    const hone_farm_blob *blob = offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->has_files = false;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1, .has_files = true});
    run_for(f, 10 * MS);
    hone_farm_message missing = {.kind = HONE_FARM_BLOB_MISSING};
    missing.u.blob_missing.hash = blob->hash;
    tell(f, &missing);
    run_for(f, 10 * MS);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
    assert_int_equal(held(f), 0);
    assert_int_equal(hone_blob_cache_get_stats(f->cache).bytes, 0);
}

static void asks_again_for_what_got_lost(void **state) {
    fixture *f = *state;
    offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 3000);
    f->has_files = false;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1, .has_files = true});
    run_for(f, 500 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_BLOB_WANT), 3);
    f->has_files = true;
    run_for(f, HEARTBEAT_NS);
    assert_int_equal(count_heard(f, HONE_FARM_BLOB_WANT), 6);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
}

static void survives_a_full_disk(void **state) {
    fixture *f = *state;
    struct rlimit before;
    offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 5000);
    run_for(f, 10 * MS);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assign(f, (assignment){.token = 1, .trial = 1, .has_files = true});
    run_for(f, 10 * MS);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_failure(f, HONE_FAILURE_DEVICE_LOST, "no room on disk");
    assign(f, (assignment){.token = 1, .trial = 2, .has_files = true});
    run_for(f, 10 * MS);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
}

static void says_when_outputs_are_too_large(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1});
    run_for(f, 10 * MS);
    held_runner_finish_outputs(f->runners[0], 5 << 20);
    run_for(f, 10 * MS);
    expect_failure(f, HONE_FAILURE_LOAD_ERROR, "outputs");
}

static void replaces_a_refused_result(void **state) {
    fixture *f = *state;
    f->acks = false;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1});
    run_for(f, 10 * MS);
    held_runner_finish(f->runners[0], 1);
    run_for(f, 10 * MS);
    hone_farm_message refused = {
        .kind = HONE_FARM_REFUSED,
        .id = last(f, HONE_FARM_RESULT)->id,
        .u.refused = {.code = HONE_FARM_REFUSAL_INVALID, .about = HONE_FARM_RESULT}
    };
    hone_farm_set_text(refused.u.refused.text, HONE_FARM_NOTE_BYTES, "too odd");
    f->acks = true;
    tell(f, &refused);
    run_for(f, 10 * MS);
    expect_failure(f, HONE_FAILURE_DEVICE_LOST, "too odd");
    assert_int_equal(held(f), 0);
}

/* ---- leaving ---- */

static void leaves_in_order(void **state) {
    fixture *f = *state;
    run_for(f, 10 * MS);
    assign(f, (assignment){.token = 1, .trial = 1});
    assign(f, (assignment){.token = 1, .trial = 2});
    run_for(f, 10 * MS);
    hone_daemon_stop(f->daemon, false);
    run_for(f, 1000 * MS);
    assert_int_equal(count_heard(f, HONE_FARM_BYE), 0);
    held_runner_finish(f->runners[0], 1);
    run_for(f, 100 * MS);
    assert_int_equal(last(f, HONE_FARM_RESULT)->u.result.trial, 1);
    assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 2);
    assert_int_equal(count_heard(f, HONE_FARM_BYE), 1);
    assert_int_equal(held_runner_started(f->runners[0]), 1);
    assert_true(hone_daemon_is_over(f->daemon));
}

static void leaves_at_once(void **state) {
    fixture *f = *state;
    for (int is_urgent = 1; is_urgent >= 0; is_urgent--) {
        run_for(f, 10 * MS);
        assign(f, (assignment){.token = 1, .trial = 1});
        run_for(f, 10 * MS);
        hone_daemon_stop(f->daemon, is_urgent);
        run_for(f, is_urgent ? 10 * MS : 20000 * MS); /* patience has an end */
        assert_int_equal(last(f, HONE_FARM_RETURNED)->u.returned.trial, 1);
        assert_int_equal(count_heard(f, HONE_FARM_BYE), 1);
        assert_true(hone_daemon_is_over(f->daemon));
        hone_daemon_destroy(f->daemon);
        forget_heard(f);
        hone_net_destroy(f->client);
        connect_client(f);
        create_daemon(f);
    }
}

static void leaves_without_a_tracker(void **state) {
    fixture *f = *state;
    hone_simnet_cut(f->simnet, f->client, true);
    run_for(f, 10 * MS);
    hone_daemon_stop(f->daemon, false);
    run_for(f, 10 * MS);
    assert_true(hone_daemon_is_over(f->daemon));
}

/* ---- bad weather ---- */

static void survives_garbage(void **state) {
    fixture *f = *state;
    hone_rng rng = hone_rng_from_seed(3);
    uint8_t bytes[300];
    for (int i = 0; i < 3000; i++) {
        run_for(f, 1 * MS);
        size_t count = 1 + (size_t)hone_rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < count; k++)
            bytes[k] = (uint8_t)hone_rng_next(&rng);
        if (i % 2) bytes[0] = 0xa2, bytes[1] = 0, bytes[2] = (uint8_t)hone_rng_below(&rng, 24);
        hone_status_free(hone_net_send(f->server, f->peer, bytes, count));
        if (f->end) { /* a refusal that happens to be readable */
            hone_status_free(f->end);
            f->end = HONE_OK;
        }
    }
    assert_true(count_heard(f, HONE_FARM_REFUSED) > 0);
    run_for(f, 30000 * MS);
    assert_true(hone_daemon_get_stats(f->daemon).is_connected);
}

/* Every trial comes to its end, whatever the network does to messages; the test's tracker repeats
 * what is not answered, as the real one does. */
static void every_trial_ends(fixture *f, uint64_t seed, uint64_t trials) {
    const hone_simnet_faults faults = {.delay_min_ns = MS,
                                       .delay_max_ns = 300 * MS,
                                       .drop = 0.1,
                                       .duplicate = 0.1,
                                       .reorder = 0.2,
                                       .lose = 0.01};
    hone_rng rng = hone_rng_from_seed(seed);
    hone_simnet_set_faults(f->simnet, &faults);
    for (uint64_t trial = 1; trial <= trials; trial++) {
        const assignment a = {.token = trial,
                              .trial = trial,
                              .slot = (uint32_t)(trial % SLOTS),
                              .has_files = hone_rng_below(&rng, 2) == 1};
        bool has_result = false;
        for (int tries = 0; !has_result; tries++) {
            assert_true(tries < 1000);
            if (f->peer) assign(f, a);
            run_for(f, (int64_t)hone_rng_below(&rng, 2000) * MS);
            hone_runner *runner = f->runners[a.slot];
            if (held_runner_running(runner)) held_runner_finish(runner, (double)trial);
            for (size_t i = 0; i < f->heard.count; i++) {
                const hone_farm_message *m = &f->heard.data[i];
                if (m->kind == HONE_FARM_RESULT && m->u.result.trial == trial) {
                    hone_run_result result = result_of(m);
                    assert_true(result.median_ns == (double)trial);
                    has_result = true;
                }
            }
            forget_heard(f);
        }
        hone_arena_reset(f->arena);
    }
    hone_simnet_set_faults(f->simnet, &(const hone_simnet_faults){0});
    run_for(f, 60000 * MS);
}

static void every_trial_ends_in_bad_weather(void **state) {
    fixture *f = *state;
    offer(f, HONE_FARM_BLOB_ARTIFACT, 1, 8000);
    offer(f, HONE_FARM_BLOB_BUNDLE, 2, 2500);
    every_trial_ends(f, 1, 60);
    assert_true(hone_daemon_get_stats(f->daemon).fetched_files >= 2);
    for (int i = 0; i < SLOTS; i++) {
        if (held_runner_running(f->runners[i])) held_runner_finish(f->runners[i], 1);
    }
    run_for(f, 60000 * MS);
    assert_int_equal(held(f), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(says_who_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_in_touch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gives_up_when_told_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(greets_again_when_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_what_is_assigned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uses_no_path_of_the_tuner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_one_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_what_it_takes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(knows_what_it_has_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_a_lost_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forgets_what_waits_when_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_other_targets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_requests_without_sense, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notices_other_content, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gives_back_what_has_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asks_again_for_what_got_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_a_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_when_outputs_are_too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replaces_a_refused_result, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_without_a_tracker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_garbage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_trial_ends_in_bad_weather, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("runner/daemon", tests, NULL, NULL);
}
