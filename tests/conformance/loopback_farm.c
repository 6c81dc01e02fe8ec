/* tests/conformance/loopback_farm.c - see loopback_farm.h. */
#include "tests/conformance/loopback_farm.h"

#include <poll.h>
#include <unistd.h>

#include "farm/tracker.h"
#include "net/net_zmq.h"
#include "runner/farm/daemon.h"
#include "runner/farm/runner_remote.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/thread.h"
#include "target/target.h"
#include "tests/support/hone_test.h"

#define DEVICE_KEY "here"
#define HEARTBEAT_NS (500 * HONE_NS_PER_MS)
#define CACHE_BYTES (INT64_C(64) << 20)

enum { MAX_SLOTS = 4 };

struct loopback_farm {
    char *dir; /* owned: keys and the daemon's files */
    hone_key_pair tracker_keys, runner_keys, tuner_keys;
    hone_allow_list *allowed;
    hone_net *server, *client;
    hone_tracker *tracker;
    hone_blob_cache *cache;
    hone_daemon_slot slots[MAX_SLOTS];
    size_t slot_count;
    hone_daemon *daemon;
    int tracker_stop[2], daemon_stop[2]; /* pipes */
    hone_thread tracker_thread, daemon_thread;
    hone_status tracker_end, daemon_end;
};

static void make_keys(loopback_farm *f) {
    HONE_ASSERT_OK(hone_key_pair_create(&f->tracker_keys));
    HONE_ASSERT_OK(hone_key_pair_create(&f->runner_keys));
    HONE_ASSERT_OK(hone_key_pair_create(&f->tuner_keys));
    HONE_ASSERT_OK(hone_allow_list_open(f->dir, &f->allowed));
    HONE_ASSERT_OK(
        hone_allow_list_allow(f->allowed, &f->runner_keys.public_key, HONE_FARM_RUNNER, "runner"));
    HONE_ASSERT_OK(
        hone_allow_list_allow(f->allowed, &f->tuner_keys.public_key, HONE_FARM_TUNER, "tuner"));
}

/* ---- the tracker ---- */

static void run_tracker(void *context) {
    loopback_farm *f = context;
    struct pollfd fds[] = {
        {.fd = f->tracker_stop[0],     .events = POLLIN},
        {.fd = hone_net_fd(f->server), .events = POLLIN},
    };
    while (!f->tracker_end && !(fds[0].revents & POLLIN)) {
        f->tracker_end = hone_tracker_step(f->tracker);
        int64_t next = hone_tracker_next_ns(f->tracker);
        poll(fds, 2, hone_deadline_poll_ms(hone_clock_system(), next));
    }
}

static void start_tracker(loopback_farm *f) {
    const hone_net_server_options net = {.address = "tcp://127.0.0.1:*",
                                         .keys = f->tracker_keys,
                                         .allow = hone_allow_list_allows,
                                         .allow_context = f->allowed};
    HONE_ASSERT_OK(hone_net_zmq_listen(&net, &f->server));
    const hone_tracker_options options = {
        .net = f->server,
        .allowed = f->allowed,
        .software = "test",
        .instance = {1, 2},
        .first_token = 1,
        .heartbeat_ns = HEARTBEAT_NS
    };
    HONE_ASSERT_OK(hone_tracker_create(&options, &f->tracker));
    assert_int_equal(pipe(f->tracker_stop), 0);
    HONE_ASSERT_OK(hone_thread_start(&f->tracker_thread, "tracker", run_tracker, f));
}

static hone_net *connect_as(const loopback_farm *f, const hone_key_pair *keys) {
    hone_net *net = NULL;
    const hone_net_client_options options = {.address = hone_net_address(f->server),
                                             .server_key = f->tracker_keys.public_key,
                                             .keys = *keys};
    HONE_ASSERT_OK(hone_net_zmq_connect(&options, &net));
    return net;
}

/* ---- the daemon ---- */

static void run_daemon(void *context) {
    loopback_farm *f = context;
    f->daemon_end = hone_daemon_run(f->daemon, f->daemon_stop[0], 0);
}

static void make_slots(loopback_farm *f, const runner_fixture *fixture, int32_t slots) {
    hone_target target;
    hone_str text = {0};
    HONE_ASSERT_OK(hone_target_detect(&target));
    hone_target_print(&target, &text);
    for (int32_t i = 0; i < slots; i++) {
        hone_daemon_slot *slot = &f->slots[f->slot_count++];
        slot->runner = runner_fixture_local(fixture, 1);
        hone_farm_set_text(slot->facts.device_key, sizeof slot->facts.device_key, DEVICE_KEY);
        hone_farm_set_text(slot->facts.target, sizeof slot->facts.target, hone_str_text(&text));
        slot->facts.cores = target.num_cores;
        slot->facts.memory_bytes = 1;
    }
    hone_str_deinit(&text);
}

static void start_daemon(loopback_farm *f, const runner_fixture *fixture, int32_t slots) {
    char *cache = hone_path_join(f->dir, "cache");
    HONE_ASSERT_OK(hone_blob_cache_open(cache, CACHE_BYTES, &f->cache));
    hone_free(cache);
    make_slots(f, fixture, slots);
    f->client = connect_as(f, &f->runner_keys);
    const hone_daemon_options options = {
        .net = f->client,
        .cache = f->cache,
        .slots = f->slots,
        .slot_count = f->slot_count,
        .name = "board",
        .software = "test",
        .instance = {3, 4}
    };
    HONE_ASSERT_OK(hone_daemon_create(&options, &f->daemon));
    assert_int_equal(pipe(f->daemon_stop), 0);
    HONE_ASSERT_OK(hone_thread_start(&f->daemon_thread, "daemon", run_daemon, f));
}

/* ---- the whole ---- */

loopback_farm *loopback_farm_start(const runner_fixture *fixture, int32_t slots) {
    loopback_farm *f = hone_calloc(1, sizeof *f);
    assert_non_null(f);
    assert_true(slots <= MAX_SLOTS);
    f->dir = hone_path_join(fixture->dir, "farm");
    HONE_ASSERT_OK(hone_fs_mkdirs(f->dir));
    make_keys(f);
    start_tracker(f);
    start_daemon(f, fixture, slots);
    return f;
}

static void end_thread(int pipe_fds[2], hone_thread *thread) {
    assert_int_equal(write(pipe_fds[1], "!!", 2), 2); /* the daemon: the second one is urgent */
    hone_thread_join(thread);
    hone_fd_close(&pipe_fds[0]);
    hone_fd_close(&pipe_fds[1]);
}

void loopback_farm_stop(loopback_farm *f) {
    end_thread(f->daemon_stop, &f->daemon_thread);
    end_thread(f->tracker_stop, &f->tracker_thread);
    HONE_ASSERT_OK(f->daemon_end);
    HONE_ASSERT_OK(f->tracker_end);
    hone_daemon_destroy(f->daemon);
    hone_net_destroy(f->client);
    for (size_t i = 0; i < f->slot_count; i++)
        hone_runner_destroy(f->slots[i].runner);
    hone_blob_cache_close(f->cache);
    hone_tracker_destroy(f->tracker);
    hone_net_destroy(f->server);
    hone_allow_list_close(f->allowed);
    hone_free(f->dir);
    hone_free(f);
}

hone_runner *loopback_farm_connect(const loopback_farm *f) {
    const char *target = NULL;
    hone_runner *runner = NULL;
    const hone_runner_remote_options options = {
        .net = connect_as(f, &f->tuner_keys), .device_key = DEVICE_KEY, .queue_depth = 8};
    HONE_ASSERT_OK(hone_runner_create_remote(&options, &runner));
    int64_t limit = hone_deadline_after(hone_clock_system(), 100 * HONE_NS_PER_S);
    HONE_ASSERT_OK(hone_runner_remote_find_target(runner, limit, &target));
    return runner;
}
