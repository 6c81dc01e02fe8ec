/* runner/local_impl.h - what the two halves of the local runner share: its slots, and the jobs that
 * go through them. runner_local.c takes requests and listens; local_slot.c moves slots on.
 */
#ifndef HONE_RUNNER_LOCAL_IMPL_H
#define HONE_RUNNER_LOCAL_IMPL_H

#include "runner/executor_process.h"
#include "runner/runner_impl.h"
#include "support/core/arena.h"
#include "support/data/hash.h"
#include "support/data/queue.h"

/* Made by submit with room for its result, so that answering never needs memory. */
typedef struct job {
    hone_link link; /* first */
    hone_ticket ticket;
    hone_arena *arena; /* of the request */
    hone_run_request request;
    int64_t submitted_ns, sent_ns;
    bool is_retry;
    hone_run_result result;
} job;

typedef struct slot {
    hone_executor_process process;
    char device[HONE_RUN_DEVICE_BYTES]; /* "": the host */
    char *gate_path;                    /* owned; NULL: none */
    uint32_t number;                    /* of the executor */
    hone_hash128 owner;                 /* whose candidates it runs */
    job *job;                           /* NULL: idle */
    int64_t deadline_ns;
    int64_t cpu_ns;     /* used, when the deadline was set */
    int64_t waited_ns;  /* for a processor, when the deadline was set */
    int64_t put_off_ns; /* that the deadline was put off for such waiting */
    bool is_loading;
    bool is_at_gate, is_waiting; /* from asking for it to the result; to being let through */
    int32_t starts;              /* how often the trial said that it starts */
} slot;

typedef struct runner_local {
    hone_runner base;
    char *executor_path, *without; /* owned; without may be NULL */
    hone_executor_program program; /* points to them */
    int32_t trials_per_executor;
    int64_t start_timeout_ns;
    const hone_clock *clock;
    int epoll_fd, done_fd, timer_fd;
    slot *slots;
    hone_queue queue, done;
    uint32_t executors; /* started so far */
    double baseline_ns; /* of the reference kernel: the best of the first trials; NAN = none yet */
    int32_t baseline_trials;
    char layers[HONE_RUNNER_LAYERS_BYTES]; /* that hold its executors, as the last one said */
    char last_words[384];                  /* of the last one that died without a job */
} runner_local;

runner_local *local_of(hone_runner *base);
int64_t local_now(const runner_local *self);
job *local_pop(hone_queue *queue);
void local_end_job(job *j); /* NULL is fine */

/* The job's result is complete: hands it to next_result; _slot: that of a slot, which is idle. */
void local_finish(runner_local *self, job *j);
void local_finish_slot(runner_local *self, slot *s);

/* Starts the executor of a slot that has none. */
HONE_NODISCARD hone_status local_start(runner_local *self, slot *s);
/* Gives waiting jobs to idle slots. */
void local_dispatch(runner_local *self);
/* What goes on in the slot now may take its limit from here on. */
void local_set_deadline(const runner_local *self, slot *s);

/* The socket closed, or spoke nonsense (then `why` says so): the executor is of no more use. */
void local_on_death(runner_local *self, slot *s, const char *why);
/* This process has no memory for what the executor says. */
void local_on_want(runner_local *self, slot *s);
void local_on_deadline(runner_local *self, slot *s);
void local_on_result(runner_local *self, slot *s, const void *payload, size_t bytes);

#endif
