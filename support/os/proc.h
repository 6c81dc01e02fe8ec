/* support/os/proc.h - child processes and framed messages on descriptors.
 *
 * A child runs in its own process group, so it dies with all it started, or in that of its parent,
 * so it is stopped with it; it inherits no descriptors but 0, 1, 2 and those mapped for it.
 * Programs of ours call hone_proc_follow_parent first, so that they do not outlive who started
 * them.
 *
 *     spawn ──► running ──(exits, killed)──► ended, reaped once by poll or wait
 *                 │  ▲
 *             stop│  │resume           (SIGSTOP, SIGCONT for the quiet gate)
 *
 * Lifetime: a value in the caller's storage from _spawn to _deinit, which kills and reaps; what a
 * group leaves to this process, as the first one of a container, is reaped with it.
 *
 * Threads: thread-compatible; but spawn from a thread that outlives the child.
 */
#ifndef HONE_SUPPORT_OS_PROC_H
#define HONE_SUPPORT_OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/core/attributes.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"

/* Who has used up its CPU time gets SIGXCPU, and SIGKILL this much later: so its end is told from
 * that of a process that somebody killed. */
#define HONE_PROC_CPU_GRACE_SECONDS 1

typedef struct hone_fd_map {
    int parent_fd; /* -1: /dev/null */
    int child_fd;
} hone_fd_map;

typedef struct hone_proc_options {
    const char *const *argv; /* argv[0] is the program: a path, or a name looked up in PATH */
    const char *const *env;  /* NULL: this process's environment */
    const hone_fd_map *fds;  /* what the child gets; 0, 1, 2 not mapped: inherited */
    size_t fd_count;
    const char *work_dir;  /* NULL: this one */
    int64_t cpu_seconds;   /* RLIMIT_CPU; 0: none */
    int64_t address_bytes; /* RLIMIT_AS; 0: none */
    int64_t file_bytes;    /* RLIMIT_FSIZE; 0: none */
    int64_t open_files;    /* RLIMIT_NOFILE; 0: as here */
    bool is_core_allowed;  /* false: RLIMIT_CORE is 0 */
    bool shares_group;     /* with this process: signals below are to the child alone */
} hone_proc_options;

typedef struct hone_proc {
    pid_t pid;  /* 0: none */
    int pid_fd; /* readable when the child has ended: give it to poll(2) */
    bool shares_group;
    bool is_ended;      /* reaped; what follows is set */
    int exit_code;      /* when term_signal is 0 */
    int term_signal;    /* 0: it exited */
    int64_t cpu_ns;     /* user and system time of the child and what it reaped */
    int64_t peak_bytes; /* of memory that the child had, or one that it reaped */
} hone_proc;

/* NOT_FOUND (no such program), UNAVAILABLE (no more processes), IO, NO_MEMORY. */
HONE_NODISCARD hone_status hone_proc_spawn(const hone_proc_options *options, hone_proc *out_proc);

/* Called by a child at its start: it gets SIGKILL when the thread that spawned it ends. */
void hone_proc_follow_parent(void);

/* Reaps the child if it has ended; true when it has (now or before). Never waits. */
bool hone_proc_poll(hone_proc *proc);
/* Waits until the child has ended; TIMEOUT leaves it running. */
HONE_NODISCARD hone_status hone_proc_wait(hone_proc *proc, const hone_clock *clock,
                                          int64_t deadline_ns);
/* As hone_proc_wait, of a duration in which this process runs: where time leaps, since this process
 * was stopped, the leap does not count. */
HONE_NODISCARD hone_status hone_proc_wait_awake(hone_proc *proc, const hone_clock *clock,
                                                int64_t most_ns);

/* Signals to the whole group of the child; fine when it has ended. */
void hone_proc_kill(const hone_proc *proc);   /* SIGKILL */
void hone_proc_stop(const hone_proc *proc);   /* SIGSTOP */
void hone_proc_resume(const hone_proc *proc); /* SIGCONT */

/* Kills what is left of the group, reaps, closes pid_fd; leaves {0}. {0} is allowed. */
void hone_proc_deinit(hone_proc *proc);

/* CPU time that the running child has used so far; 0 when it cannot be read. */
int64_t hone_proc_cpu_ns(const hone_proc *proc);

/* How long its thread that has waited longest for a processor has waited for one, since it began: a
 * busy machine, not the child. 0 when the kernel does not say. */
int64_t hone_proc_waited_ns(const hone_proc *proc);

/* Whether its first thread computes, or waits for a processor; not for anything else. */
bool hone_proc_is_runnable(const hone_proc *proc);

/* "exit 3", "killed by SIGSEGV"; for messages. */
void hone_proc_print_end(const hone_proc *proc, hone_str *out);

/* Runs a program to its end with no input and collects what it writes to stdout and stderr
 * (each bounded by max_bytes; more is dropped). A non-zero exit is data: look at *out_proc.
 * TIMEOUT: it was killed at the deadline. */
HONE_NODISCARD hone_status hone_proc_run(const char *const *argv, size_t max_bytes,
                                         const hone_clock *clock, int64_t deadline_ns,
                                         hone_str *out_stdout, hone_str *out_stderr,
                                         hone_proc *out_proc);

/* A pipe or a socket pair, close-on-exec. */
HONE_NODISCARD hone_status hone_pipe_open(int out_fds[2]);
HONE_NODISCARD hone_status hone_socket_pair_open(int out_fds[2]);
void hone_fd_close(int *fd); /* -1 is allowed; leaves -1 */

/* Waits until a descriptor can be read (or has ended); TIMEOUT. */
HONE_NODISCARD hone_status hone_fd_wait_readable(int fd, const hone_clock *clock,
                                                 int64_t deadline_ns);

/* ---- framed messages: u32 length (little endian), bytes ---- */

/* Writes one message. UNAVAILABLE: the other side is gone; TIMEOUT: part may be written, close the
 * descriptor; INVALID: longer than 2^32 - 1. */
HONE_NODISCARD hone_status hone_frame_write(int fd, const void *bytes, size_t count,
                                            const hone_clock *clock, int64_t deadline_ns);

/* Reads one message, owned by the caller (hone_free), a NUL follows it. INVALID: longer than
 * max_bytes, or cut off in the middle: the descriptor is of no more use; UNAVAILABLE: the other
 * side ended before it; TIMEOUT: before its first byte nothing is lost, after it the rest is. */
HONE_NODISCARD hone_status hone_frame_read(int fd, size_t max_bytes, const hone_clock *clock,
                                           int64_t deadline_ns, char **out_bytes,
                                           size_t *out_count);

#endif
