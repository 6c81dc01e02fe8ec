/* builder/tool.c - runs a compiler or linker to its end. */
#include "builder/tool.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/core/attributes.h"
#include "support/os/fs.h"

enum { MAX_FDS = 4, MAX_MESSAGE = 2000 };

static hone_status read_message(int fd, const char *who, char *text, size_t capacity) {
    size_t count = 0;
    if (lseek(fd, 0, SEEK_SET) < 0) return HONE_ERROR(HONE_CODE_IO, "%s: what it said", who);
    HONE_TRY(hone_fd_read_full(fd, text, capacity - 1, &count));
    while (count > 0 && text[count - 1] == '\n')
        count--;
    text[count] = 0;
    return HONE_OK;
}

/* What a tool says of the machine, not of what it was given. It speaks C (builder_local.c). */
static bool blames_machine(const char *text) {
    static const char *const parts[] = {"cannot open output file", "No space left on device",
                                        "Disk quota exceeded",     "Too many open files",
                                        "Read-only file system",   "Cannot allocate memory",
                                        "memory exhausted"};
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        if (strstr(text, parts[i])) return true;
    }
    return false;
}

/* SIGBUS: a mapped file had no room. */
static bool was_killed(const hone_proc *proc) {
    return proc->term_signal == SIGKILL || proc->term_signal == SIGTERM ||
           proc->term_signal == SIGBUS;
}

/* A line that a tool says of itself, "cc1: out of memory allocating 8 bytes": from `what` on, or
 * NULL. Lines about a text that it was given have another colon behind, whatever names that text
 * gives itself. */
static const char *of_itself(const char *text, const char *what) {
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *said = line + strcspn(line, ":\n");
        if (strncmp(said, ": ", 2) != 0 || strncmp(said + 2, what, strlen(what)) != 0) continue;
        const char *behind = said + 2 + strlen(what);
        if (behind[strcspn(behind, ":\n")] != ':') return said + 2;
    }
    return NULL;
}

/* What a driver of compilers started was killed: by a limit of its own it ends otherwise. */
static bool had_part_killed(const char *text) {
    return of_itself(text, "fatal error: Killed signal terminated program") ||
           of_itself(text, "fatal error: Terminated signal terminated program") ||
           of_itself(text, "fatal error: Bus error signal terminated program");
}

/* It got no memory although what it had and what it asked for are far from its limit. */
static bool was_kept_short(const hone_proc *proc, int64_t limit, const char *text) {
    static const char asks[] = "out of memory allocating ";
    const char *said = of_itself(text, asks);
    int64_t wanted = said ? strtoll(said + strlen(asks), NULL, 10) : 0;
    if (!said && !of_itself(text, "memory exhausted")) return false;
    return limit == 0 || (wanted < limit / 2 && proc->peak_bytes < limit / 2 - wanted);
}

static bool is_machines(const hone_proc *proc, int64_t limit, const char *text, bool is_trusted) {
    if (was_killed(proc) || had_part_killed(text)) return true;
    return was_kept_short(proc, limit, text) || (is_trusted && blames_machine(text));
}

static hone_status check_end(const hone_proc *proc, int64_t memory_limit, int message_fd,
                             const char *who, bool is_trusted) {
    char text[MAX_MESSAGE];
    hone_str end = {0};
    if (proc->term_signal == 0 && proc->exit_code == 0) return HONE_OK;
    if (proc->term_signal == SIGXCPU) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "%s: it took more than %d s of CPU time", who,
                          HONE_TOOL_CPU_SECONDS);
    }
    HONE_TRY(read_message(message_fd, who, text, sizeof text));
    bool is_of_machine = is_machines(proc, memory_limit, text, is_trusted);
    hone_proc_print_end(proc, &end);
    hone_status st = HONE_ERROR(is_of_machine ? HONE_CODE_IO : HONE_CODE_INVALID, "%s: %s", who,
                                text[0] ? text : hone_str_text(&end));
    hone_str_deinit(&end);
    return st;
}

static hone_status run(const hone_proc_options *options, int message_fd, const char *who,
                       bool is_trusted) {
    hone_fd_map fds[3 + MAX_FDS] = {
        {-1,         0},
        {message_fd, 1},
        {message_fd, 2},
    };
    hone_proc_options with = *options;
    assert(options->fd_count <= MAX_FDS);
    for (size_t i = 0; i < options->fd_count; i++)
        fds[3 + i] = options->fds[i];
    with.fds = fds;
    with.fd_count = 3 + options->fd_count;
    with.cpu_seconds = HONE_TOOL_CPU_SECONDS;
    with.shares_group = true; /* the group of the build is stopped for the quiet gate */
    hone_proc proc = {0};
    HONE_TRY(hone_proc_spawn(&with, &proc));
    hone_status st = hone_proc_wait_awake(&proc, hone_clock_system(), HONE_TOOL_WALL_NS);
    st = st ? hone_status_annotate(st, "%s", who)
            : check_end(&proc, options->address_bytes, message_fd, who, is_trusted);
    hone_proc_deinit(&proc);
    return st;
}

hone_status hone_tool_run(const hone_proc_options *options, const char *who, bool is_trusted) {
    int message_fd = memfd_create("hone-tool", MFD_CLOEXEC);
    if (message_fd < 0)
        return HONE_ERROR(HONE_CODE_IO, "%s: memory file: %s", who, strerror(errno));
    hone_status st = run(options, message_fd, who, is_trusted);
    hone_fd_close(&message_fd);
    return st;
}
