/* tests/conformance/test_runner_daemon.c - the program `hone-runner --tracker` over TCP, beside a
 * tracker that the test plays: real keys, real executors, signals. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "measure/farm.h"
#include "measure/wire.h"
#include "net/blob_hash.h"
#include "net/net_zmq.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "tests/conformance/runner_fixture.h"
#include "tests/support/hone_test.h"

#define PATIENCE_NS (100 * HONE_NS_PER_S)
#define CHUNK_BYTES 4096

static runner_fixture fixture;

static const hone_farm_instance tuner = {.lo = 3, .hi = 4}, tracker = {.lo = 1, .hi = 2};

typedef struct world {
    hone_net *server;
    hone_net_peer peer;
    hone_key_pair server_keys, runner_keys;
    char *key_dir, *log_path, *cache_dir;
    char address[64], key_path[512];
    bool is_allowed;
    hone_proc proc;
    hone_arena *arena;
    hone_farm_message message; /* the last one */
    char *files[2];
    size_t file_bytes[2];
    hone_farm_blob blobs[2];
} world;

static bool allow(void *context, const hone_key *key) {
    const world *w = context;
    return w->is_allowed && hone_key_equal(key, &w->runner_keys.public_key);
}

static void listen_at(world *w, const char *address) {
    const hone_net_server_options options = {
        .address = address, .keys = w->server_keys, .allow = allow, .allow_context = w};
    HONE_ASSERT_OK(hone_net_zmq_listen(&options, &w->server));
    snprintf(w->address, sizeof w->address, "%s", hone_net_address(w->server));
}

static void start(world *w, const char *address) {
    char key[HONE_KEY_TEXT_BYTES];
    hone_key_print(&w->server_keys.public_key, key);
    const char *emulator = fixture.launcher[0], *argv[32] = {NULL};
    const char *const words[] = {
        fixture.executor, "--tracker",     address, "--key",        w->key_path, "--name",
        "bench",          "--tracker-key", key,     "--slots",      "2",         "--cache",
        w->cache_dir,     "--quiet",       "none",  "--device-key", "board",     "--verbose"};
    size_t count = 0;
    if (emulator) argv[count++] = emulator;
    for (size_t i = 0; i < HONE_COUNT(words); i++)
        argv[count++] = words[i];
    if (emulator) argv[count++] = "--unsandboxed"; /* which has no filter */
    if (emulator) argv[count++] = "--launcher";
    argv[count] = emulator;
    int log = open(w->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const hone_fd_map fds[] = {
        {-1,  0},
        {log, 1},
        {log, 2},
    };
    const hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = HONE_COUNT(fds)};
    HONE_ASSERT_OK(hone_proc_spawn(&options, &w->proc));
    close(log);
}

static void read_file(world *w, int which, const char *path, hone_farm_blob_role role) {
    HONE_ASSERT_OK(hone_fs_read(path, 1 << 26, &w->files[which], &w->file_bytes[which]));
    hone_blob_hash hash = hone_blob_hash_of(w->files[which], w->file_bytes[which]);
    w->blobs[which] = (hone_farm_blob){.role = role, .bytes = (int64_t)w->file_bytes[which]};
    memcpy(w->blobs[which].hash.bytes, hash.bytes, sizeof hash.bytes);
}

static int set_up(void **state) {
    static world w;
    w = (world){.is_allowed = true};
    *state = &w;
    HONE_ASSERT_OK(hone_key_pair_create(&w.server_keys));
    HONE_ASSERT_OK(hone_key_pair_create(&w.runner_keys));
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-daemon-test", &w.key_dir));
    HONE_ASSERT_OK(hone_key_pair_save(&w.runner_keys, w.key_dir));
    snprintf(w.key_path, sizeof w.key_path, "%s/" HONE_KEY_SECRET_FILE, w.key_dir);
    w.log_path = hone_path_join(w.key_dir, "log");
    w.cache_dir = hone_path_join(w.key_dir, "cache");
    w.arena = hone_arena_create(1 << 16);
    read_file(&w, 0, fixture.candidates, HONE_FARM_BLOB_ARTIFACT);
    read_file(&w, 1, fixture.bundle_path, HONE_FARM_BLOB_BUNDLE);
    listen_at(&w, "tcp://127.0.0.1:*");
    return 0;
}

static int tear_down(void **state) {
    world *w = *state;
    hone_proc_deinit(&w->proc);
    hone_net_destroy(w->server);
    hone_arena_destroy(w->arena);
    HONE_ASSERT_OK(hone_fs_remove_tree(w->key_dir));
    hone_free(w->key_dir);
    hone_free(w->log_path);
    hone_free(w->cache_dir);
    for (int i = 0; i < 2; i++)
        hone_free(w->files[i]);
    return 0;
}

/* ---- the tracker's side ---- */

static void tell(world *w, const hone_farm_message *message) {
    hone_str frame = {0};
    HONE_ASSERT_OK(hone_farm_encode(message, &frame));
    hone_status_free(hone_net_send(w->server, w->peer, frame.data, frame.length));
    hone_str_deinit(&frame);
}

static void tell_lease(world *w, hone_farm_kind kind, uint64_t trial) {
    const hone_farm_message message = {
        .kind = kind, .u.lease = {7, tuner, trial}
    };
    tell(w, &message);
}

static void send_chunk(world *w, const hone_farm_blob_want *want) {
    for (int i = 0; i < 2; i++) {
        if (!hone_farm_hash_equal(&w->blobs[i].hash, &want->hash)) continue;
        const hone_farm_message message = {
            .kind = HONE_FARM_BLOB_CHUNK,
            .u.blob_chunk = {.hash = want->hash,
                             .total = w->blobs[i].bytes,
                             .offset = want->offset,
                             .bytes = {(const uint8_t *)w->files[i] + want->offset, want->count}}
        };
        tell(w, &message);
    }
}

static void answer(world *w) {
    hone_farm_message reply = {.id = w->message.id};
    switch (w->message.kind) {
    case HONE_FARM_HELLO:
        reply.kind = HONE_FARM_WELCOME;
        reply.u.welcome = (hone_farm_welcome){.version = HONE_FARM_VERSION,
                                              .heartbeat_ns = 500 * HONE_NS_PER_MS,
                                              .expiry_ns = 60 * HONE_NS_PER_S,
                                              .chunk_bytes = CHUNK_BYTES,
                                              .max_frame_bytes = HONE_FARM_MAX_FRAME,
                                              .tracker = tracker};
        tell(w, &reply);
        return;
    case HONE_FARM_PING:
        reply.kind = HONE_FARM_PONG;
        tell(w, &reply);
        return;
    case HONE_FARM_BLOB_WANT:
        send_chunk(w, &w->message.u.blob_want);
        return;
    default:
        return;
    }
}

/* Serves until a message of this kind has come. */
static const hone_farm_message *wait_for(world *w, hone_farm_kind kind) {
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    for (;;) {
        hone_net_event event;
        HONE_ASSERT_OK(hone_net_recv(w->server, deadline, &event));
        if (event.kind == HONE_NET_OPENED) w->peer = event.peer;
        if (event.kind != HONE_NET_MESSAGE) continue;
        hone_arena_reset(w->arena);
        uint8_t *bytes = hone_arena_alloc(w->arena, event.count);
        memcpy(bytes, event.bytes, event.count);
        HONE_ASSERT_OK(hone_farm_decode(bytes, event.count, w->arena, &w->message));
        answer(w);
        if (w->message.kind == kind) return &w->message;
    }
}

static void assign(world *w, uint64_t trial, uint32_t slot, const char *entry) {
    hone_run_request request = runner_fixture_request(&fixture, entry);
    hone_str bytes = {0};
    HONE_ASSERT_OK(hone_run_request_encode(&request, &bytes));
    hone_farm_message message = {.kind = HONE_FARM_ASSIGN};
    message.u.assign = (hone_farm_assign){
        .token = 7,
        .tuner = tuner,
        .trial = trial,
        .slot = slot,
        .blobs = {2,                           w->blobs    },
        .request = {(const uint8_t *)bytes.data, bytes.length},
        .timeout_ns = PATIENCE_NS
    };
    tell(w, &message);
    hone_str_deinit(&bytes);
}

static void expect_result(world *w, uint64_t trial, hone_failure failure) {
    const hone_farm_message *m = wait_for(w, HONE_FARM_RESULT);
    hone_run_result result;
    assert_int_equal(m->u.result.trial, trial);
    HONE_ASSERT_OK(
        hone_run_result_decode(m->u.result.result.data, m->u.result.result.count, &result));
    if (result.failure != failure) fail_msg("trial %d: %s", (int)trial, result.message);
    if (failure == HONE_FAILURE_NONE) assert_true(result.checked && result.median_ns > 0);
    hone_run_result_deinit(&result);
    tell_lease(w, HONE_FARM_RESULT_ACK, trial);
}

/* The program alone: its group has an executor in it for the moment in which that is started. */
static void terminate(const world *w) {
    assert_int_equal(kill(w->proc.pid, SIGTERM), 0);
}

static void expect_exit(world *w, int code) {
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    HONE_ASSERT_OK(hone_proc_wait(&w->proc, hone_clock_system(), deadline));
    assert_int_equal(w->proc.term_signal, 0);
    assert_int_equal(w->proc.exit_code, code);
}

/* Until the program's log says it. */
static void wait_for_log(world *w, const char *part) {
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    for (bool is_there = false; !is_there;) {
        char *text = NULL;
        size_t count = 0;
        hone_net_event event;
        int64_t later = hone_deadline_after(hone_clock_system(), 20 * HONE_NS_PER_MS);
        hone_status_free(hone_net_recv(w->server, later, &event)); /* it needs the server to move */
        HONE_ASSERT_OK(hone_fs_read(w->log_path, 1 << 26, &text, &count));
        is_there = strstr(text, part) != NULL;
        bool is_late = hone_clock_now(hone_clock_system()) > deadline;
        if (is_late) print_error("the log:\n%s\n", text);
        hone_free(text);
        assert_false(is_late);
    }
}

/* ---- stories ---- */

static void serves_a_tracker(void **state) {
    world *w = *state;
    start(w, w->address);
    const hone_farm_hello *hello = &wait_for(w, HONE_FARM_HELLO)->u.hello;
    assert_string_equal(hello->name, "bench");
    assert_int_equal(hello->slots.count, 2);
    assert_string_equal(hello->slots.items[1].device_key, "board");
    assert_non_null(strstr(hello->slots.items[0].target, "-mcpu="));
    assert_true(hello->slots.items[0].cores >= 1 && hello->slots.items[0].memory_bytes > 0);
    assign(w, 1, 0, "ok");
    expect_result(w, 1, HONE_FAILURE_NONE);
    assign(w, 2, 1, "segfault");
    expect_result(w, 2, HONE_FAILURE_RUN_CRASH);
    assign(w, 3, 1, "wrong");
    expect_result(w, 3, HONE_FAILURE_WRONG_RESULT);
    assign(w, 4, 0, "ok");
    expect_result(w, 4, HONE_FAILURE_NONE);
    terminate(w);
    wait_for(w, HONE_FARM_BYE);
    expect_exit(w, 0);
}

/* The tracker is restarted while a trial runs: the result comes to the new one. */
static void outlives_its_tracker(void **state) {
    world *w = *state;
    char address[sizeof w->address];
    start(w, w->address);
    wait_for(w, HONE_FARM_HELLO);
    assign(w, 1, 0, "ok");
    wait_for(w, HONE_FARM_RESULT); /* and does not say that it has it */
    memcpy(address, w->address, sizeof address);
    hone_net_destroy(w->server);
    w->server = NULL;
    listen_at(w, address);
    const hone_farm_hello *hello = &wait_for(w, HONE_FARM_HELLO)->u.hello;
    assert_int_equal(hello->held.count, 1);
    assert_int_equal(hello->held.items[0].state, HONE_FARM_HELD_DONE);
    assert_int_equal(hello->held.items[0].token, 7);
    expect_result(w, 1, HONE_FAILURE_NONE);
    assign(w, 2, 1, "ok");
    expect_result(w, 2, HONE_FAILURE_NONE);
}

static void stops_what_runs(void **state) {
    world *w = *state;
    start(w, w->address);
    wait_for(w, HONE_FARM_HELLO);
    assign(w, 1, 0, "ok"); /* the files are there from now on, so that TAKEN means running */
    expect_result(w, 1, HONE_FAILURE_NONE);
    assign(w, 2, 0, "hang");
    wait_for(w, HONE_FARM_TAKEN);
    tell_lease(w, HONE_FARM_ABORT, 2);
    assert_int_equal(wait_for(w, HONE_FARM_RETURNED)->u.returned.trial, 2);
    tell_lease(w, HONE_FARM_RESULT_ACK, 2);
    assign(w, 3, 0, "hang");
    wait_for(w, HONE_FARM_TAKEN);
    terminate(w);
    wait_for_log(w, "stopping");
    terminate(w); /* at once */
    wait_for(w, HONE_FARM_BYE);
    expect_exit(w, 0);
}

static void waits_until_its_key_is_allowed(void **state) {
    world *w = *state;
    w->is_allowed = false;
    start(w, w->address);
    wait_for_log(w, "hone farm allow");
    w->is_allowed = true;
    wait_for(w, HONE_FARM_HELLO);
}

static void says_that_the_tracker_key_is_wrong(void **state) {
    world *w = *state;
    hone_key_pair mine = w->server_keys;
    HONE_ASSERT_OK(hone_key_pair_create(&w->server_keys));
    start(w, w->address);
    w->server_keys = mine;
    wait_for_log(w, "--tracker-key");
    terminate(w);
    expect_exit(w, 0);
}

static void gives_up_on_another_version(void **state) {
    world *w = *state;
    start(w, w->address);
    wait_for(w, HONE_FARM_HELLO);
    hone_farm_message refused = {.kind = HONE_FARM_REFUSED,
                                 .u.refused.code = HONE_FARM_REFUSAL_VERSION};
    tell(w, &refused);
    expect_exit(w, 3);
    wait_for_log(w, "refuses this version");
}

static const char *needed(const char *program) {
    static char room[8192];
    const char *argv[] = {"readelf", "-d", program, NULL};
    hone_str out = {0}, err = {0};
    hone_proc proc;
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    hone_status st =
        hone_proc_run(argv, sizeof room - 1, hone_clock_system(), deadline, &out, &err, &proc);
    if (hone_status_consume(st) != HONE_CODE_OK) hone_test_skip_all("no readelf");
    snprintf(room, sizeof room, "%s", hone_str_text(&out));
    hone_proc_deinit(&proc);
    hone_str_deinit(&out);
    hone_str_deinit(&err);
    return room;
}

/* It is to fit on a board. */
static void has_no_large_library(void **state) {
    (void)state;
    const char *text = needed(fixture.executor);
    assert_non_null(strstr(text, "libzmq"));
    static const char *const large[] = {"LLVM", "xgboost", "sqlite", "protobuf", "stdc++"};
    for (size_t i = 0; i < HONE_COUNT(large); i++) {
        if (strstr(text, large[i])) fail_msg("hone-runner is linked with %s", large[i]);
    }
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        STORY(serves_a_tracker),
        STORY(outlives_its_tracker),
        STORY(stops_what_runs),
        STORY(waits_until_its_key_is_allowed),
        STORY(says_that_the_tracker_key_is_wrong),
        STORY(gives_up_on_another_version),
        cmocka_unit_test(has_no_large_library),
    };
    runner_fixture_init(&fixture);
    int failed = cmocka_run_group_tests_name("hone-runner --tracker", tests, NULL, NULL);
    runner_fixture_deinit(&fixture);
    return failed;
}
