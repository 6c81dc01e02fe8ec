/* bench/bench_peer.c - starts a peer in Python and asks it by lines. */
#include "bench/bench_peer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_util.h"

void bench_peer_start(bench_peer *peer, const char *script) {
    char python[512], path[512];
    *peer = (bench_peer){.to = -1, .from = -1};
    snprintf(python, sizeof python, "%s/build/peers/venv/bin/python", HONE_SOURCE_DIR);
    snprintf(path, sizeof path, "%s/bench/%s", HONE_SOURCE_DIR, script);
    if (access(python, X_OK) != 0) return;
    int in[2], out[2];
    bench_must(hone_pipe_open(in));
    bench_must(hone_pipe_open(out));
    const char *argv[] = {python, path, NULL};
    hone_fd_map fds[] = {
        {in[0],  0},
        {out[1], 1},
        {-1,     2}
    };
    hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = 3};
    bench_must(hone_proc_spawn(&options, &peer->proc));
    hone_fd_close(&in[0]);
    hone_fd_close(&out[1]);
    peer->to = in[1];
    peer->from = out[0];
    peer->is_there = true;
}

void bench_peer_stop(bench_peer *peer) {
    if (!peer->is_there) return;
    hone_fd_close(&peer->to);
    hone_fd_close(&peer->from);
    hone_proc_deinit(&peer->proc);
    peer->is_there = false;
}

static bool ask(bench_peer *peer, const char *line, char out[BENCH_PEER_LINE]) {
    size_t length = 0;
    out[0] = '\0';
    if (write(peer->to, line, strlen(line)) != (ssize_t)strlen(line)) return false;
    while (length + 1 < BENCH_PEER_LINE) {
        if (read(peer->from, out + length, 1) != 1) return false;
        if (out[length] == '\n') break;
        length++;
    }
    out[length] = '\0';
    return true;
}

bool bench_peer_ask(bench_peer *peer, const char *line, char out[BENCH_PEER_LINE]) {
    if (!peer->is_there) return false;
    bool is_answered = ask(peer, line, out);
    if (!is_answered) bench_peer_stop(peer);
    return is_answered;
}
