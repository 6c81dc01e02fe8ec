/* sandbox/held.h - the outside: starts a program that splits itself (sandbox.h), tells its warden
 * what each request may open, and learns how the held process ended.
 *
 * Lifetime: a value in the caller's storage; init, then start and end any number of times.
 * Threads: thread-compatible. Layer: support/ only.
 */
#ifndef HONE_SANDBOX_HELD_H
#define HONE_SANDBOX_HELD_H

#include "sandbox/file_policy.h"
#include "support/os/clock.h"
#include "support/os/proc.h"

#define HONE_HELD_CONTROL_FD 4 /* where the program finds its end of the control socket */

typedef struct hone_held {
    hone_proc proc;  /* the warden; pid 0: none */
    hone_proc inner; /* the held process, which is not waited for here; pid 0: not known (yet) */
    int control_fd;  /* -1: none */
    bool is_gone, has_answered; /* the warden */
} hone_held;

typedef struct hone_grant {
    hone_file_grant_kind kind;
    const char *path; /* NULL: none */
} hone_grant;

void hone_held_init(hone_held *held);

/* As hone_proc_spawn; the descriptor of the control socket is added to those of the options, and
 * of the environment only what a computing program may know is handed on (and `extra`, ended by
 * NULL, or NULL). */
HONE_NODISCARD hone_status hone_held_start(hone_held *held, const hone_proc_options *options,
                                           const char *const *extra);
void hone_held_end(hone_held *held); /* kills it; fine when there is none */

/* Before a request is sent to it: what it may open while it works on that. UNAVAILABLE when it is
 * gone. */
HONE_NODISCARD hone_status hone_held_serve(hone_held *held, const hone_grant *grants, size_t count);
/* After the answer: nothing. */
void hone_held_idle(hone_held *held);

/* Whether the warden has ended, or is about to: then what the held process says counts for nothing,
 * since it could open nothing. Waits a moment for an answer. */
bool hone_held_is_gone(hone_held *held);

/* CPU time and memory of the held process, and of what it started and reaped; 0 when unknown. */
int64_t hone_held_cpu_ns(hone_held *held);
int64_t hone_held_resident_bytes(hone_held *held);
/* As hone_proc_waited_ns and hone_proc_is_runnable. */
int64_t hone_held_waited_ns(hone_held *held);
bool hone_held_is_runnable(hone_held *held);

/* Waits for its end; TIMEOUT leaves it running. */
HONE_NODISCARD hone_status hone_held_wait(hone_held *held, const hone_clock *clock,
                                          int64_t deadline_ns);
void hone_held_print_end(const hone_held *held, hone_str *out); /* "exit 3", "killed by SIGSEGV" */
/* Whether it ended by SIGKILL: of itself, or by somebody else, as the system does for want of
 * memory. */
bool hone_held_was_killed(const hone_held *held);

#endif
