/* bench/farm_processes.c - starts, kills and starts again. */
#include "bench/farm_processes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_util.h"
#include "farm/allow_list.h"
#include "net/net_zmq.h"
#include "runner/farm/runner_remote.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"
#include "support/os/fs.h"

#define PATIENCE_NS (30 * HONE_NS_PER_S)
#define DEVICE_KEY "bench"

static void path_in(const farm_processes *w, const char *name, char out[512]) {
    snprintf(out, 512, "%s/%s", w->dir, name);
}

static hone_proc spawn(const farm_processes *w, const char *program, const char *const *words,
                       size_t count, int out_fd) {
    char path[512], log[512];
    const char *argv[32] = {path};
    hone_proc proc;
    snprintf(path, sizeof path, "%s/%s", w->bin_dir, program);
    path_in(w, "log", log);
    for (size_t i = 0; i < count; i++)
        argv[1 + i] = words[i];
    int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const hone_fd_map fds[] = {
        {-1,                            0},
        {out_fd >= 0 ? out_fd : log_fd, 1},
        {log_fd,                        2},
    };
    const hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = HONE_COUNT(fds)};
    bench_must(hone_proc_spawn(&options, &proc));
    close(log_fd);
    return proc;
}

/* Its first line is "ADDRESS KEY". */
static void read_address(farm_processes *w, int fd) {
    char line[256];
    size_t used = 0;
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    while (used + 1 < sizeof line && (used == 0 || line[used - 1] != '\n')) {
        bench_must(hone_fd_wait_readable(fd, hone_clock_system(), deadline));
        ssize_t got = read(fd, line + used, 1);
        if (got <= 0) {
            fprintf(stderr, "bench: the tracker did not start; see %s/log\n", w->dir);
            exit(1);
        }
        used += (size_t)got;
    }
    line[used] = 0;
    snprintf(w->address, sizeof w->address, "%.*s", (int)strcspn(line, " \n"), line);
}

void farm_processes_start_tracker(farm_processes *w) {
    char state[512];
    int pipe_fds[2];
    path_in(w, "state.db", state);
    const char *words[] = {"tracker", "--listen", w->address, "--keys", w->dir, "--state", state};
    bench_must(hone_pipe_open(pipe_fds));
    w->tracker = spawn(w, "hone", words, HONE_COUNT(words), pipe_fds[1]);
    close(pipe_fds[1]);
    read_address(w, pipe_fds[0]);
    close(pipe_fds[0]);
}

void farm_processes_kill_tracker(farm_processes *w) {
    hone_proc_deinit(&w->tracker);
}

void farm_processes_start_runner(farm_processes *w, int index) {
    char key[512], cache[512], name[16], tracker_key[HONE_KEY_TEXT_BYTES];
    path_in(w, "runner/" HONE_KEY_SECRET_FILE, key);
    snprintf(name, sizeof name, "cache-%d", index);
    path_in(w, name, cache);
    snprintf(name, sizeof name, "bench-%d", index);
    const char *words[] = {
        "--tracker",     w->address,
        "--key",         key,
        "--tracker-key", hone_key_print(&w->tracker_keys.public_key, tracker_key),
        "--name",        name,
        "--device-key",  DEVICE_KEY,
        "--cache",       cache,
        "--quiet", /* sleeping devices do not disturb each other */
        "none"};
    w->runners[index] = spawn(w, "hone-runner", words, HONE_COUNT(words), -1);
}

void farm_processes_kill_runner(farm_processes *w, int index) {
    hone_proc_deinit(&w->runners[index]);
}

static void make_keys(farm_processes *w) {
    char dir[512];
    hone_allow_list *allowed;
    bench_must(hone_key_pair_create(&w->tracker_keys));
    bench_must(hone_key_pair_create(&w->runner_keys));
    bench_must(hone_key_pair_create(&w->tuner_keys));
    bench_must(hone_key_pair_save(&w->tracker_keys, w->dir));
    path_in(w, "runner", dir);
    bench_must(hone_key_pair_save(&w->runner_keys, dir));
    bench_must(hone_allow_list_open(w->dir, &allowed));
    bench_must(hone_allow_list_allow(allowed, &w->runner_keys.public_key, HONE_FARM_RUNNER, "r"));
    bench_must(hone_allow_list_allow(allowed, &w->tuner_keys.public_key, HONE_FARM_TUNER, "t"));
    hone_allow_list_close(allowed);
}

void farm_processes_open(farm_processes *w) {
    *w = (farm_processes){.address = "tcp://127.0.0.1:*"};
    bench_must(hone_fs_temp_dir("bench-farm", &w->dir));
    bench_must(hone_fs_program_dir(&w->bin_dir));
    make_keys(w);
    farm_processes_start_tracker(w);
}

void farm_processes_close(farm_processes *w) {
    for (int i = 0; i < FARM_MAX_RUNNERS; i++)
        hone_proc_deinit(&w->runners[i]);
    hone_proc_deinit(&w->tracker);
    bench_must(hone_fs_remove_tree(w->dir));
    hone_free(w->dir);
    hone_free(w->bin_dir);
}

hone_runner *farm_processes_connect(farm_processes *w, int devices) {
    const hone_net_client_options net = {.address = w->address,
                                         .server_key = w->tracker_keys.public_key,
                                         .keys = w->tuner_keys,
                                         .max_frame_bytes = HONE_FARM_MAX_FRAME};
    hone_runner_remote_options options = {.device_key = DEVICE_KEY, .software = "bench_farm"};
    hone_runner *runner;
    bench_must(hone_net_zmq_connect(&net, &options.net));
    bench_must(hone_runner_create_remote(&options, &runner));
    int64_t deadline = hone_deadline_after(hone_clock_system(), PATIENCE_NS);
    while (hone_runner_slots(runner) < 2 * devices) {
        bench_must(hone_fd_wait_readable(hone_runner_fd(runner), hone_clock_system(), deadline));
        bench_must(hone_runner_tend(runner));
    }
    return runner;
}
