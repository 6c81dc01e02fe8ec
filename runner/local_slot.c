/* runner/local_slot.c - slots of the local runner: jobs are given to them, end, and are judged
 * again.
 *
 * An executor is reused while it is healthy. It is replaced after a crash, a timeout, a wrong or
 * out-of-bounds result, or anything that is no message. A candidate that crashed, was wrong or
 * could not be loaded in a used executor is judged again, once, in a fresh one: what an earlier
 * candidate left behind never decides about a later one. So is one whose process ended by SIGKILL:
 * that may be the system's, for want of memory.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "measure/wire.h"
#include "runner/local_impl.h"
#include "runner/trial.h"
#include "runtime/probe.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"

#define DEFAULT_TIMEOUT_NS (10 * HONE_NS_PER_S)
#define LOAD_TIMEOUT_NS (30 * HONE_NS_PER_S) /* loading, making inputs: at least this */
#define GATE_TIMEOUT_NS (2 * HONE_TRIAL_GATE_PATIENCE_NS) /* nobody waits that long at the gate */
#define IDLE_NS (10 * HONE_NS_PER_S) /* then an executor ends, and what a candidate left in it */
#define BASELINE_TRIALS 8
#define PATIENCE 20 /* for a processor, in limits */

runner_local *local_of(hone_runner *base) {
    return (runner_local *)base;
}

int64_t local_now(const runner_local *self) {
    return hone_clock_now(self->clock);
}

job *local_pop(hone_queue *queue) {
    return (job *)hone_queue_pop(queue);
}

void local_end_job(job *j) {
    if (!j) return;
    hone_arena_destroy(j->arena);
    hone_run_result_deinit(&j->result);
    hone_free(j);
}

/* ---- results ---- */

/* Drift is against the best that this runner has seen in its first trials. */
static void judge_drift(runner_local *self, hone_run_result *r) {
    if (!(r->reference_ns > 0)) return;
    if (self->baseline_trials < BASELINE_TRIALS) {
        self->baseline_trials++;
        if (!(self->baseline_ns <= r->reference_ns)) self->baseline_ns = r->reference_ns;
    }
    r->drift = r->reference_ns / self->baseline_ns;
    if (fabs(r->drift - 1) > HONE_DRIFT_LIMIT) r->drift_flagged = true;
}

void local_finish(runner_local *self, job *j) {
    int64_t until = j->sent_ns ? j->sent_ns : local_now(self);
    j->result.times.queue_ns = until - j->submitted_ns;
    j->result.retried = j->is_retry;
    judge_drift(self, &j->result);
    hone_queue_push(&self->done, &j->link);
    uint64_t one = 1;
    ssize_t ignored = write(self->done_fd, &one, sizeof one);
    (void)ignored; /* it can only be full, and then it is readable */
}

void local_finish_slot(runner_local *self, slot *s) {
    job *j = s->job;
    s->job = NULL;
    s->is_at_gate = s->is_waiting = false;
    s->deadline_ns = hone_deadline_after(self->clock, IDLE_NS);
    j->result.executor = s->number;
    local_finish(self, j);
}

/* ---- giving work ---- */

hone_status local_start(runner_local *self, slot *s) {
    hone_executor_program program = self->program;
    program.device = s->device[0] ? s->device : NULL;
    program.quiet_path = s->gate_path;
    HONE_TRY(hone_executor_process_start(&s->process, &program));
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)(s - self->slots)};
    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, s->process.fd, &event)) {
        hone_executor_process_end(&s->process);
        return HONE_ERROR(HONE_CODE_IO, "epoll: %s", strerror(errno));
    }
    s->number = ++self->executors;
    s->owner = s->job ? s->job->request.owner : (hone_hash128){0};
    return HONE_OK;
}

static hone_status send_job(runner_local *self, slot *s) {
    if (s->process.fd < 0) HONE_TRY(local_start(self, s));
    uint64_t nonce = hone_hash_mix((uint64_t)local_now(self) ^ (s->job->ticket << 32) ^ s->number);
    return hone_executor_process_send(&s->process, s->job->ticket, nonce, &s->job->request);
}

static int64_t timeout_of(const job *j) {
    return j->request.timeout_ns > 0 ? j->request.timeout_ns : DEFAULT_TIMEOUT_NS;
}

/* For what goes on now. */
static int64_t limit_of(const runner_local *self, const slot *s) {
    int64_t limit = timeout_of(s->job);
    if (!s->process.said_hello) return self->start_timeout_ns;
    if (s->is_waiting) return GATE_TIMEOUT_NS;
    return s->is_loading && limit < LOAD_TIMEOUT_NS ? LOAD_TIMEOUT_NS : limit;
}

void local_set_deadline(const runner_local *self, slot *s) {
    s->deadline_ns = hone_deadline_after(self->clock, limit_of(self, s));
    s->waited_ns = hone_held_waited_ns(&s->process.held);
    s->cpu_ns = hone_held_cpu_ns(&s->process.held);
    s->put_off_ns = 0;
}

/* What it waited for a processor, on a machine that has more to do, does not count: so much more
 * time it gets, up to PATIENCE times its limit. */
static bool put_off(const runner_local *self, slot *s) {
    int64_t waited = hone_held_waited_ns(&s->process.held), more = waited - s->waited_ns;
    int64_t left = PATIENCE * limit_of(self, s) - s->put_off_ns;
    bool has_had_its_time =
        hone_held_cpu_ns(&s->process.held) - s->cpu_ns > limit_of(self, s) - limit_of(self, s) / 10;
    if (s->is_waiting || has_had_its_time || left <= 0) return false;
    if (more < limit_of(self, s) / 20) {
        if (!hone_held_is_runnable(&s->process.held)) return false;
        more = limit_of(self, s) / 4; /* how long it waits now is not known */
    }
    if (more > left) more = left;
    s->waited_ns = waited;
    s->put_off_ns += more;
    s->deadline_ns = hone_deadline_after(self->clock, more);
    return true;
}

/* Gives a job to an idle slot; an executor that died while it was idle is replaced, and so is one
 * that has run what somebody else sent. */
static void assign(runner_local *self, slot *s, job *j) {
    bool is_anothers = !hone_hash128_equal(s->owner, j->request.owner);
    bool is_unheld = s->process.fd >= 0 && hone_held_is_gone(&s->process.held);
    if (is_anothers || is_unheld) hone_executor_process_end(&s->process);
    bool was_running = s->process.fd >= 0;
    s->job = j;
    s->is_at_gate = s->is_waiting = false;
    s->starts = 0;
    j->sent_ns = local_now(self);
    hone_status st = send_job(self, s);
    if (st && was_running) {
        hone_executor_process_end(&s->process);
        hone_status_free(st);
        st = send_job(self, s);
    }
    if (hone_status_code(st) == HONE_CODE_UNAVAILABLE && s->process.fd >= 0) {
        hone_status_free(st); /* it died at once: it may have said why */
        local_on_death(self, s, NULL);
        return;
    }
    if (st) {
        hone_executor_process_end(&s->process);
        hone_run_result_fail(&j->result, HONE_FAILURE_DEVICE_LOST, "%s", hone_status_message(st));
        hone_status_free(st);
        local_finish_slot(self, s);
        return;
    }
    s->is_loading = true;
    local_set_deadline(self, s);
}

void local_dispatch(runner_local *self) {
    for (int32_t i = 0; i < self->base.slots && !hone_queue_is_empty(&self->queue); i++) {
        if (!self->slots[i].job) assign(self, &self->slots[i], local_pop(&self->queue));
    }
}

/* Judges a failed candidate again in a fresh process, unless that was one; but where somebody else
 * may have ended it, it may not have been the candidate. */
static bool try_again(runner_local *self, slot *s) {
    job *j = s->job;
    bool is_doubtful = s->process.trials > 0 || hone_held_was_killed(&s->process.held);
    if (!is_doubtful || j->is_retry) return false;
    j->is_retry = true;
    hone_run_result_deinit(&j->result);
    hone_run_result_init(&j->result);
    hone_executor_process_end(&s->process);
    assign(self, s, j);
    return true;
}

/* ---- endings ---- */

void local_on_death(runner_local *self, slot *s, const char *why) {
    char end[64], said[256];
    job *j = s->job;
    bool was_up = s->process.said_hello;
    hone_executor_process_explain(&s->process, self->clock, why != NULL, end, sizeof end, said,
                                  sizeof said);
    if (!j) {
        snprintf(self->last_words, sizeof self->last_words, "%s%s%s%s", why ? why : "",
                 why ? "" : end, said[0] ? ": " : "", said);
    } else {
        const char *what = why ? why : was_up ? "" : "the executor did not start: ";
        hone_run_result_fail(&j->result, was_up ? HONE_FAILURE_RUN_CRASH : HONE_FAILURE_DEVICE_LOST,
                             "%s%s%s%s", what, why ? "" : end, said[0] ? ": " : "", said);
        if (was_up && try_again(self, s)) return;
    }
    hone_executor_process_end(&s->process);
    if (j) local_finish_slot(self, s);
}

/* Through no fault of the candidate: this process could not do its part. */
void local_on_want(runner_local *self, slot *s) {
    hone_executor_process_end(&s->process);
    if (!s->job) return;
    hone_run_result_fail(&s->job->result, HONE_FAILURE_DEVICE_LOST,
                         "no memory for what the executor says");
    local_finish_slot(self, s);
}

void local_on_deadline(runner_local *self, slot *s) {
    char end[64], said[256];
    job *j = s->job;
    if (j && put_off(self, s)) return;
    s->deadline_ns = HONE_DEADLINE_NEVER;
    if (!j) {
        hone_executor_process_end(&s->process);
        return;
    }
    if (s->is_loading && try_again(self, s)) return;
    int64_t limit = limit_of(self, s);
    const char *does = s->is_loading ? "loading" : s->is_waiting ? "waiting" : "running";
    bool was_up = s->process.said_hello; /* else no candidate was in it yet */
    hone_executor_process_explain(&s->process, self->clock, true, end, sizeof end, said,
                                  sizeof said);
    hone_run_result_fail(&j->result, was_up ? HONE_FAILURE_RUN_TIMEOUT : HONE_FAILURE_DEVICE_LOST,
                         "%s%s after %.3g s%s%s", was_up ? "still " : "",
                         was_up ? does : "the executor did not start",
                         (double)limit / (double)HONE_NS_PER_S, said[0] ? "; its last words: " : "",
                         said);
    hone_executor_process_end(&s->process);
    local_finish_slot(self, s);
}

void local_on_result(runner_local *self, slot *s, const void *payload, size_t bytes) {
    job *j = s->job;
    hone_status st = hone_run_result_decode(payload, bytes, &j->result);
    if (st) {
        if (hone_status_consume(st) == HONE_CODE_NO_MEMORY) {
            local_on_want(self, s);
        } else {
            local_on_death(self, s, "the executor answered with something that is no result");
        }
        return;
    }
    hone_failure failure = j->result.failure;
    if (failure != HONE_FAILURE_NONE && hone_held_is_gone(&s->process.held)) {
        local_on_death(self, s, "the executor's warden was killed");
        return;
    }
    bool tainted = failure == HONE_FAILURE_RUN_CRASH || failure == HONE_FAILURE_WRONG_RESULT ||
                   failure == HONE_FAILURE_DEVICE_LOST; /* memory, descriptors may be used up */
    if ((tainted || failure == HONE_FAILURE_LOAD_ERROR) && try_again(self, s)) return;
    s->process.trials++;
    hone_executor_process_idle(&s->process);
    local_finish_slot(self, s);
    if (tainted || s->process.trials >= self->trials_per_executor) {
        hone_executor_process_end(&s->process);
    }
}
