/* runner/executor_process.h - the runner's end of one executor child: start, talk, end, explain.
 *
 * Its output goes to a memory file, so that the last line can be shown when it dies.
 * Lifetime: a value in the caller's storage; init, then start and end any number of times, deinit.
 * Threads: thread-compatible.
 */
#ifndef HONE_RUNNER_EXECUTOR_PROCESS_H
#define HONE_RUNNER_EXECUTOR_PROCESS_H

#include "measure/run.h"
#include "runner/message.h"
#include "sandbox/held.h"
#include "support/os/clock.h"
#include "support/os/scratch.h"

#define HONE_EXECUTOR_LAUNCHER_WORDS 16

typedef struct hone_executor_program {
    const char *path;
    const char *const *launcher; /* words before the path, ended by NULL; or NULL */
    const char *quiet_path;      /* or NULL */
    const char *device;          /* NULL: "cpu" */
    int64_t memory_bytes;
    bool unsandboxed;
    const char *without; /* layers of the sandbox that are left out, for tests; or NULL */
} hone_executor_program;

typedef struct hone_executor_process {
    hone_held held;
    int fd, log_fd;      /* -1: none */
    hone_scratch folder; /* of a device that compiles; no path: none */
    hone_str received;
    uint64_t nonce; /* of the last request */
    int32_t trials; /* that it has finished */
    bool said_hello;
} hone_executor_process;

void hone_executor_process_init(hone_executor_process *process);
void hone_executor_process_deinit(hone_executor_process *process);

/* Starts the program; what was there before is ended. Fails as hone_proc_spawn does. */
HONE_NODISCARD hone_status hone_executor_process_start(hone_executor_process *process,
                                                       const hone_executor_program *program);
/* Kills it, closes everything; fine when there is none. */
void hone_executor_process_end(hone_executor_process *process);

/* From here to _idle it may open the files of the request, and take the quiet gate. */
HONE_NODISCARD hone_status hone_executor_process_send(hone_executor_process *process,
                                                      uint64_t ticket, uint64_t nonce,
                                                      const hone_run_request *request);
void hone_executor_process_idle(hone_executor_process *process);

typedef enum hone_executor_received {
    HONE_EXECUTOR_NOTHING, /* nothing more for now */
    HONE_EXECUTOR_BYTES,   /* something: look with hone_message_peek */
    HONE_EXECUTOR_CLOSED,  /* it has ended, or closed its socket */
    HONE_EXECUTOR_UNHEARD, /* there was no memory to listen: it must be ended */
} hone_executor_received;
/* Takes what has arrived, without waiting. */
hone_executor_received hone_executor_process_receive(hone_executor_process *process);

/* How it ended ("killed by SIGSEGV", "exit 3") and the last line that it wrote; waits a moment for
 * the end when it is near, kills first when `kill`. The buffers may be "" afterwards. */
void hone_executor_process_explain(hone_executor_process *process, const hone_clock *clock,
                                   bool kill, char *out_end, size_t end_capacity, char *out_said,
                                   size_t said_capacity);

#endif
