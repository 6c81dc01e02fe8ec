/* builder/tool.c - runs a compiler or linker to its end. */
#include "builder/tool.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
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
                                        "Read-only file system",   "Cannot allocate memory"};
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

static hone_status check_end(const hone_proc *proc, int message_fd, const char *who,
                             bool is_trusted) {
    char text[MAX_MESSAGE];
    hone_str end = {0};
    if (proc->term_signal == 0 && proc->exit_code == 0) return HONE_OK;
    if (proc->term_signal == SIGXCPU) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "%s: it took more than %d s of CPU time", who,
                          HONE_TOOL_CPU_SECONDS);
    }
    HONE_TRY(read_message(message_fd, who, text, sizeof text));
    bool is_of_machine = is_trusted && (was_killed(proc) || blames_machine(text));
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
    st = st ? hone_status_annotate(st, "%s", who) : check_end(&proc, message_fd, who, is_trusted);
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
