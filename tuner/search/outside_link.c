/* tuner/search/outside_link.c - lines to and from a program of the user's, over a socket that is
 * its stdin and stdout. */
#include "tuner/search/outside_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
    MAX_LINE = 1 << 20,
    MAX_UNREAD = 16 << 20,
    CHUNK = 1 << 16,
    END_WAIT_MS = 200,
    END_READS = 64
};

static void give_up(hone_link *link, const char *why) {
    if (link->fd < 0) return;
    hone_fd_close(&link->fd);
    snprintf(link->why, sizeof link->why, "%s", why);
}

/* With how it ended, if it has by now. */
static void note_end(hone_link *link) {
    hone_str text = {0};
    hone_status st =
        hone_proc_wait(&link->proc, hone_clock_system(),
                       hone_clock_now(hone_clock_system()) + END_WAIT_MS * INT64_C(1000000));
    if (st)
        hone_str_append(&text, "it closed its output");
    else
        hone_proc_print_end(&link->proc, &text);
    hone_status_free(st);
    give_up(link, hone_str_text(&text));
    hone_str_deinit(&text);
}

hone_status hone_link_open(const char *command, hone_link *out_link) {
    *out_link = (hone_link){.fd = -1};
    int fds[2];
    HONE_TRY(hone_socket_pair_open(fds));
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    const hone_fd_map map[] = {
        {fds[1], 0},
        {fds[1], 1}
    };
    const hone_proc_options options = {.argv = argv, .fds = map, .fd_count = HONE_COUNT(map)};
    hone_status st = hone_proc_spawn(&options, &out_link->proc);
    hone_fd_close(&fds[1]);
    if (st)
        hone_fd_close(&fds[0]);
    else
        out_link->fd = fds[0];
    return st;
}

/* Gives the program time to see the end of its input and to end itself. */
static void say_goodbye(hone_link *link) {
    char bytes[CHUNK];
    struct pollfd fd = {.fd = link->fd, .events = POLLIN};
    if (link->fd < 0) return;
    (void)shutdown(link->fd, SHUT_WR);
    for (int i = 0; i < END_READS && poll(&fd, 1, END_WAIT_MS) > 0; i++) {
        if (recv(link->fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0) return;
    }
}

void hone_link_close(hone_link *link) {
    say_goodbye(link);
    if (link->proc.pid) hone_proc_deinit(&link->proc);
    hone_fd_close(&link->fd);
    hone_str_deinit(&link->in);
    hone_str_deinit(&link->out);
    hone_str_deinit(&link->line);
    *link = (hone_link){.fd = -1};
}

/* ---- out ---- */

static void flush(hone_link *link) {
    while (link->fd >= 0 && link->out_from < link->out.length) {
        ssize_t n = send(link->fd, hone_str_text(&link->out) + link->out_from,
                         link->out.length - link->out_from, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (n < 0) note_end(link);
        if (n > 0) link->out_from += (size_t)n;
    }
    if (link->out_from < link->out.length) return;
    hone_str_clear(&link->out);
    link->out_from = 0;
}

void hone_link_send(hone_link *link, const hone_str *line) {
    if (link->fd < 0) return;
    hone_str_append_n(&link->out, hone_str_text(line), line->length);
    hone_str_append_char(&link->out, '\n');
    flush(link);
    if (link->out.length - link->out_from > MAX_UNREAD) give_up(link, "it does not read");
}

/* ---- in ---- */

/* Takes away what was taken before. */
static void compact(hone_link *link) {
    size_t left = link->in.length - link->in_from;
    hone_str rest = {0};
    if (left) hone_str_append_n(&rest, hone_str_text(&link->in) + link->in_from, left);
    hone_str_deinit(&link->in);
    link->in = rest;
    link->in_from = 0;
}

/* Whether something came. */
static bool receive(hone_link *link) {
    char bytes[CHUNK];
    ssize_t n = recv(link->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0) hone_str_append_n(&link->in, bytes, (size_t)n);
    bool is_nothing = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (n <= 0 && !is_nothing) note_end(link);
    if (link->in.length - link->in_from > MAX_LINE + CHUNK) give_up(link, "a line is too long");
    return n > 0;
}

static size_t line_length(const hone_link *link) {
    size_t left = link->in.length - link->in_from;
    if (left == 0) return SIZE_MAX;
    const char *from = hone_str_text(&link->in) + link->in_from;
    const char *end = memchr(from, '\n', left);
    return end ? (size_t)(end - from) : SIZE_MAX;
}

const char *hone_link_take(hone_link *link) {
    flush(link);
    size_t length = line_length(link);
    if (length == SIZE_MAX && link->fd >= 0) compact(link);
    while (length == SIZE_MAX && link->fd >= 0 && receive(link))
        length = line_length(link);
    if (length == SIZE_MAX) return NULL;
    hone_str_clear(&link->line);
    hone_str_append_n(&link->line, hone_str_text(&link->in) + link->in_from, length);
    link->in_from += length + 1;
    return hone_str_text(&link->line);
}

void hone_link_await(hone_link *link, int milliseconds) {
    if (link->fd < 0 || line_length(link) != SIZE_MAX) return;
    flush(link);
    if (link->fd < 0) return;
    struct pollfd fd = {.fd = link->fd, .events = POLLIN};
    (void)poll(&fd, 1, milliseconds);
}
