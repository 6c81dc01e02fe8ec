/* runner/runner_local.c - runs kernels in child processes: a crash kills a child, not the tuner.
 *
 *   submit ─► queue ─► idle slot ──REQUEST──► executor child
 *                          ▲                      │ STARTED, WAITING (timeouts)
 *                          │                      ▼
 *   next_result ◄─ done ◄──┴── RESULT, or its death, or the timeout
 *
 * An executor is reused while it is healthy. It is replaced after a crash, a timeout, a wrong or
 * out-of-bounds result, or anything that is no message. A candidate that crashed, was wrong or
 * could not be loaded in a used executor is judged again, once, in a fresh one: what an earlier
 * candidate left behind never decides about a later one.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "measure/wire.h"
#include "runner/executor_process.h"
#include "runner/runner_impl.h"
#include "runner/trial.h"
#include "runtime/device.h"
#include "runtime/probe.h"
#include "support/core/alloc.h"
#include "support/core/arena.h"
#include "support/data/hash.h"
#include "support/data/queue.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"

#define DEFAULT_TIMEOUT_NS (10 * HONE_NS_PER_S)
#define LOAD_TIMEOUT_NS (30 * HONE_NS_PER_S) /* starting, loading, making inputs: at least this */
#define START_PATIENCE_NS (30 * HONE_NS_PER_S)
#define GATE_TIMEOUT_NS (2 * HONE_TRIAL_GATE_PATIENCE_NS) /* nobody waits that long at the gate */
#define RESULT_BYTES (1 << 20)                            /* of a result without its outputs */
#define IDLE_NS (10 * HONE_NS_PER_S) /* then an executor ends, and what a candidate left in it */
#define DEFAULT_TRIALS 2000
#define ARENA_BLOCK_BYTES 4096
#define BASELINE_TRIALS 8
#define MAX_SLOTS 256
#define PATIENCE 20                /* for a processor, in limits */
#define DONE_KEY UINT64_MAX        /* epoll data of the eventfd … */
#define TIMER_KEY (UINT64_MAX - 1) /* … and of the timer */

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

static runner_local *as_local(hone_runner *base) {
    return (runner_local *)base;
}

static int64_t now_of(const runner_local *self) {
    return hone_clock_now(self->clock);
}

static job *pop(hone_queue *queue) {
    return (job *)hone_queue_pop(queue);
}

static void end_job(job *j) {
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

/* The job's result is complete: hands it to next_result. */
static void finish(runner_local *self, job *j) {
    int64_t until = j->sent_ns ? j->sent_ns : now_of(self);
    j->result.times.queue_ns = until - j->submitted_ns;
    j->result.retried = j->is_retry;
    judge_drift(self, &j->result);
    hone_queue_push(&self->done, &j->link);
    uint64_t one = 1;
    ssize_t ignored = write(self->done_fd, &one, sizeof one);
    (void)ignored; /* it can only be full, and then it is readable */
}

static void finish_slot(runner_local *self, slot *s) {
    job *j = s->job;
    s->job = NULL;
    s->is_at_gate = s->is_waiting = false;
    s->deadline_ns = hone_deadline_after(self->clock, IDLE_NS);
    j->result.executor = s->number;
    finish(self, j);
}

/* ---- giving work ---- */

static hone_status start_executor(runner_local *self, slot *s) {
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
    if (s->process.fd < 0) HONE_TRY(start_executor(self, s));
    uint64_t nonce = hone_hash_mix((uint64_t)now_of(self) ^ (s->job->ticket << 32) ^ s->number);
    return hone_executor_process_send(&s->process, s->job->ticket, nonce, &s->job->request);
}

static int64_t timeout_of(const job *j) {
    return j->request.timeout_ns > 0 ? j->request.timeout_ns : DEFAULT_TIMEOUT_NS;
}

/* For what goes on now. */
static int64_t limit_of(const slot *s) {
    int64_t limit = timeout_of(s->job);
    if (s->is_waiting) return GATE_TIMEOUT_NS;
    return s->is_loading && limit < LOAD_TIMEOUT_NS ? LOAD_TIMEOUT_NS : limit;
}

static void set_deadline(const runner_local *self, slot *s) {
    s->deadline_ns = hone_deadline_after(self->clock, limit_of(s));
    s->waited_ns = hone_held_waited_ns(&s->process.held);
    s->cpu_ns = hone_held_cpu_ns(&s->process.held);
    s->put_off_ns = 0;
}

/* What it waited for a processor, on a machine that has more to do, does not count: so much more
 * time it gets, up to PATIENCE times its limit. */
static bool put_off(const runner_local *self, slot *s) {
    int64_t waited = hone_held_waited_ns(&s->process.held), more = waited - s->waited_ns;
    int64_t left = PATIENCE * limit_of(s) - s->put_off_ns;
    bool has_had_its_time =
        hone_held_cpu_ns(&s->process.held) - s->cpu_ns > limit_of(s) - limit_of(s) / 10;
    if (s->is_waiting || has_had_its_time || left <= 0) return false;
    if (more < limit_of(s) / 20) {
        if (!hone_held_is_runnable(&s->process.held)) return false;
        more = limit_of(s) / 4; /* how long it waits now is not known */
    }
    if (more > left) more = left;
    s->waited_ns = waited;
    s->put_off_ns += more;
    s->deadline_ns = hone_deadline_after(self->clock, more);
    return true;
}

static void on_death(runner_local *self, slot *s, const char *why);

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
    j->sent_ns = now_of(self);
    hone_status st = send_job(self, s);
    if (st && was_running) {
        hone_executor_process_end(&s->process);
        hone_status_free(st);
        st = send_job(self, s);
    }
    if (hone_status_code(st) == HONE_CODE_UNAVAILABLE && s->process.fd >= 0) {
        hone_status_free(st); /* it died at once: it may have said why */
        on_death(self, s, NULL);
        return;
    }
    if (st) {
        hone_executor_process_end(&s->process);
        hone_run_result_fail(&j->result, HONE_FAILURE_DEVICE_LOST, "%s", hone_status_message(st));
        hone_status_free(st);
        finish_slot(self, s);
        return;
    }
    s->is_loading = true;
    set_deadline(self, s);
}

static void dispatch(runner_local *self) {
    for (int32_t i = 0; i < self->base.slots && !hone_queue_is_empty(&self->queue); i++) {
        if (!self->slots[i].job) assign(self, &self->slots[i], pop(&self->queue));
    }
}

/* Judges a failed candidate again in a fresh process, unless that was one. */
static bool try_again(runner_local *self, slot *s) {
    job *j = s->job;
    if (s->process.trials == 0 || j->is_retry) return false;
    j->is_retry = true;
    hone_run_result_deinit(&j->result);
    hone_run_result_init(&j->result);
    hone_executor_process_end(&s->process);
    assign(self, s, j);
    return true;
}

/* ---- endings ---- */

/* The socket closed, or spoke nonsense (then `why` says so): the executor is of no more use. */
static void on_death(runner_local *self, slot *s, const char *why) {
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
    if (j) finish_slot(self, s);
}

/* Through no fault of the candidate: this process could not do its part. */
static void on_want(runner_local *self, slot *s) {
    hone_executor_process_end(&s->process);
    if (!s->job) return;
    hone_run_result_fail(&s->job->result, HONE_FAILURE_DEVICE_LOST,
                         "no memory for what the executor says");
    finish_slot(self, s);
}

static void on_deadline(runner_local *self, slot *s) {
    char end[64], said[256];
    job *j = s->job;
    if (j && put_off(self, s)) return;
    s->deadline_ns = HONE_DEADLINE_NEVER;
    if (!j) {
        hone_executor_process_end(&s->process);
        return;
    }
    if (s->is_loading && try_again(self, s)) return;
    int64_t limit = limit_of(s);
    hone_executor_process_explain(&s->process, self->clock, true, end, sizeof end, said,
                                  sizeof said);
    hone_run_result_fail(&j->result, HONE_FAILURE_RUN_TIMEOUT, "still %s after %.3g s%s%s",
                         s->is_loading   ? "loading"
                         : s->is_waiting ? "waiting"
                                         : "running",
                         (double)limit / (double)HONE_NS_PER_S, said[0] ? "; its last words: " : "",
                         said);
    hone_executor_process_end(&s->process);
    finish_slot(self, s);
}

static void on_result(runner_local *self, slot *s, const void *payload, size_t bytes) {
    job *j = s->job;
    hone_status st = hone_run_result_decode(payload, bytes, &j->result);
    if (st) {
        if (hone_status_consume(st) == HONE_CODE_NO_MEMORY) {
            on_want(self, s);
        } else {
            on_death(self, s, "the executor answered with something that is no result");
        }
        return;
    }
    hone_failure failure = j->result.failure;
    if (failure != HONE_FAILURE_NONE && hone_held_is_gone(&s->process.held)) {
        on_death(self, s, "the executor's warden was killed");
        return;
    }
    bool tainted = failure == HONE_FAILURE_RUN_CRASH || failure == HONE_FAILURE_WRONG_RESULT;
    if ((tainted || failure == HONE_FAILURE_LOAD_ERROR) && try_again(self, s)) return;
    s->process.trials++;
    hone_executor_process_idle(&s->process);
    finish_slot(self, s);
    if (tainted || s->process.trials >= self->trials_per_executor) {
        hone_executor_process_end(&s->process);
    }
}

/* ---- events ---- */

/* A trial starts, may wait at the gate, once, and then starts again. A candidate that found the
 * socket could say so more often, and put its deadline off for ever. */
static bool is_in_turn(const slot *s, uint32_t kind) {
    if (kind == HONE_MESSAGE_WAITING) return s->gate_path && !s->is_at_gate;
    if (kind == HONE_MESSAGE_STARTED) return s->starts < (s->is_at_gate ? 2 : 1);
    return kind == HONE_MESSAGE_RESULT;
}

static bool is_asked(const slot *s, const hone_message_head *head) {
    if (head->kind == HONE_MESSAGE_HELLO) return !s->process.said_hello;
    return s->job && head->ticket == s->job->ticket && head->nonce == s->process.nonce &&
           is_in_turn(s, head->kind);
}

/* What comes from an executor is gathered until it is whole: no more than can be meant. */
static uint64_t longest_message(const slot *s) {
    uint64_t bytes = RESULT_BYTES;
    if (!s->job || !s->job->request.want_outputs) return bytes;
    const hone_manifest *m = &s->job->request.manifest;
    for (size_t i = 0; i < m->arg_count; i++)
        bytes += (uint64_t)hone_arg_bytes(&m->args[i]);
    return bytes;
}

/* False when the executor of this slot is no longer the one that spoke. */
static bool on_message(runner_local *self, slot *s, const hone_message_head *head,
                       const void *payload) {
    uint32_t number = s->number;
    if (!is_asked(s, head)) {
        on_death(self, s, "the executor answered what was not asked");
    } else if (head->kind == HONE_MESSAGE_HELLO) {
        s->process.said_hello = true;
        snprintf(self->layers, sizeof self->layers, "%.*s", (int)head->bytes,
                 head->bytes < sizeof self->layers ? (const char *)payload : "");
    } else if (head->kind == HONE_MESSAGE_WAITING) {
        s->is_loading = false;
        s->is_at_gate = s->is_waiting = true;
        set_deadline(self, s);
    } else if (head->kind == HONE_MESSAGE_STARTED) {
        s->is_loading = s->is_waiting = false;
        s->starts++;
        set_deadline(self, s);
    } else if (head->kind == HONE_MESSAGE_RESULT) {
        on_result(self, s, payload, head->bytes);
    }
    return s->process.fd >= 0 && s->number == number;
}

static void on_readable(runner_local *self, slot *s) {
    switch (hone_executor_process_receive(&s->process)) {
    case HONE_EXECUTOR_NOTHING:
        return;
    case HONE_EXECUTOR_CLOSED:
        on_death(self, s, NULL);
        return;
    case HONE_EXECUTOR_UNHEARD:
        on_want(self, s);
        return;
    case HONE_EXECUTOR_BYTES:
        break;
    }
    hone_message_head head;
    const void *payload = NULL;
    bool ok = true;
    while (hone_message_peek(&s->process.received, longest_message(s), &head, &payload, &ok)) {
        if (!ok) {
            on_death(self, s, "the executor's socket was written to");
            return;
        }
        if (!on_message(self, s, &head, payload)) return;
        hone_message_drop(&s->process.received, &head);
    }
}

static int64_t earliest_deadline(const runner_local *self) {
    int64_t earliest = HONE_DEADLINE_NEVER;
    for (int32_t i = 0; i < self->base.slots; i++) {
        const slot *s = &self->slots[i];
        if (s->deadline_ns < earliest) earliest = s->deadline_ns;
    }
    return earliest;
}

/* The timer makes hone_runner_fd readable when a timeout is due. */
static void arm_timer(const runner_local *self) {
    int64_t at = earliest_deadline(self);
    struct itimerspec when = {0};
    if (at != HONE_DEADLINE_NEVER) {
        when.it_value.tv_sec = (time_t)(at / HONE_NS_PER_S);
        when.it_value.tv_nsec = (long)(at % HONE_NS_PER_S);
    }
    timerfd_settime(self->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void check_deadlines(runner_local *self) {
    int64_t now = now_of(self);
    for (int32_t i = 0; i < self->base.slots; i++) {
        slot *s = &self->slots[i];
        if (s->deadline_ns <= now) on_deadline(self, s);
    }
}

static hone_status handle_events(runner_local *self, int wait_ms) {
    struct epoll_event events[32];
    int count = epoll_wait(self->epoll_fd, events, 32, wait_ms);
    if (count < 0 && errno != EINTR) {
        return HONE_ERROR(HONE_CODE_IO, "epoll: %s", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        uint64_t key = events[i].data.u64;
        if (key < (uint64_t)self->base.slots && self->slots[key].process.fd >= 0) {
            on_readable(self, &self->slots[key]);
        }
    }
    check_deadlines(self);
    dispatch(self);
    arm_timer(self);
    return HONE_OK;
}

/* ---- the interface ---- */

/* A library finds what lies beside it by its own place, and an executor may not ask where it is. */
static hone_status locate(const char **path, hone_arena *arena) {
    char here[PATH_MAX];
    if (!*path || (*path)[0] == '/' || !getcwd(here, sizeof here)) return HONE_OK;
    *path = hone_arena_printf(arena, "%s/%s", here, *path);
    return *path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
}

static hone_status local_submit(hone_runner *base, const hone_run_request *request,
                                hone_ticket ticket) {
    runner_local *self = as_local(base);
    job *j = hone_calloc(1, sizeof *j);
    if (!j) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    hone_run_result_init(&j->result);
    j->ticket = ticket;
    j->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    hone_status st = j->arena ? hone_run_request_copy(request, j->arena, &j->request)
                              : HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    if (!st) st = locate(&j->request.extern_path, j->arena);
    if (st) {
        end_job(j);
        return st;
    }
    j->submitted_ns = now_of(self);
    hone_queue_push(&self->queue, &j->link);
    dispatch(self);
    arm_timer(self);
    return HONE_OK;
}

static void take_done(runner_local *self, hone_ticket *out_ticket, hone_run_result *out_result) {
    job *j = pop(&self->done);
    if (hone_queue_is_empty(&self->done)) {
        uint64_t count;
        ssize_t ignored = read(self->done_fd, &count, sizeof count);
        (void)ignored;
    }
    *out_ticket = j->ticket;
    *out_result = j->result;
    j->result.outputs = NULL; /* now the caller's */
    end_job(j);
}

static hone_status local_next_result(hone_runner *base, int64_t deadline_ns,
                                     hone_ticket *out_ticket, hone_run_result *out_result) {
    runner_local *self = as_local(base);
    HONE_TRY(handle_events(self, 0));
    while (hone_queue_is_empty(&self->done)) {
        int wait_ms = hone_deadline_poll_ms(self->clock, deadline_ns);
        if (wait_ms == 0) return HONE_ERROR(HONE_CODE_TIMEOUT, "no result yet");
        HONE_TRY(handle_events(self, wait_ms));
    }
    take_done(self, out_ticket, out_result);
    return HONE_OK;
}

/* Executors that nobody needs end. */
static hone_status local_tend(hone_runner *base) {
    return handle_events(as_local(base), 0);
}

static int local_fd(const hone_runner *base) {
    return ((const runner_local *)base)->epoll_fd;
}

static void local_cancel_all(hone_runner *base) {
    runner_local *self = as_local(base);
    for (job *j = pop(&self->queue); j; j = pop(&self->queue)) {
        hone_run_result_fail(&j->result, HONE_FAILURE_CANCELLED, "cancelled");
        finish(self, j);
    }
    for (int32_t i = 0; i < base->slots; i++) {
        slot *s = &self->slots[i];
        if (!s->job) continue;
        hone_executor_process_end(&s->process);
        hone_run_result_fail(&s->job->result, HONE_FAILURE_CANCELLED, "cancelled");
        finish_slot(self, s);
    }
    arm_timer(self);
}

static void local_destroy(hone_runner *base) {
    runner_local *self = as_local(base);
    for (int32_t i = 0; self->slots && i < base->slots; i++) {
        hone_executor_process_deinit(&self->slots[i].process);
        hone_free(self->slots[i].gate_path);
        end_job(self->slots[i].job);
    }
    for (job *j = pop(&self->queue); j; j = pop(&self->queue))
        end_job(j);
    for (job *j = pop(&self->done); j; j = pop(&self->done))
        end_job(j);
    hone_fd_close(&self->epoll_fd);
    hone_fd_close(&self->done_fd);
    hone_fd_close(&self->timer_fd);
    hone_free(self->slots);
    hone_free(self->executor_path);
    hone_free(self->without);
    hone_free(self);
}

static const hone_runner_vtable local_vtable = {
    .destroy = local_destroy,
    .submit = local_submit,
    .next_result = local_next_result,
    .fd = local_fd,
    .tend = local_tend,
    .cancel_all = local_cancel_all,
};

hone_status hone_runner_local_layers(hone_runner *base, char out_layers[HONE_RUNNER_LAYERS_BYTES]) {
    assert(base->vtable == &local_vtable);
    runner_local *self = as_local(base);
    slot *s = &self->slots[0];
    const int64_t deadline = hone_deadline_after(self->clock, START_PATIENCE_NS);
    out_layers[0] = 0;
    if (s->process.fd < 0) HONE_TRY(start_executor(self, s));
    while (s->process.fd >= 0 && !s->process.said_hello) {
        int wait_ms = hone_deadline_poll_ms(self->clock, deadline);
        if (wait_ms == 0) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the executor does not start");
        HONE_TRY(handle_events(self, wait_ms));
    }
    if (s->process.fd < 0) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the executor did not start: %s",
                          self->last_words);
    }
    memcpy(out_layers, self->layers, sizeof self->layers);
    return HONE_OK;
}

/* ---- making ---- */

/* The executor program: as given, beside this program, or by name in PATH. */
static hone_status find_executor(const char *given, char **out_path) {
    if (given) {
        *out_path = hone_strdup(given);
        if (!*out_path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "local runner");
        if (strchr(given, '/') && access(given, X_OK)) {
            return HONE_ERROR(HONE_CODE_NOT_FOUND, "executor '%s': %s", given, strerror(errno));
        }
        return HONE_OK;
    }
    char *dir = NULL;
    HONE_TRY(hone_fs_program_dir(&dir));
    *out_path = hone_path_join(dir, "hone-runner");
    hone_free(dir);
    if (*out_path && access(*out_path, X_OK)) {
        hone_free(*out_path);
        *out_path = hone_strdup("hone-runner");
    }
    return *out_path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "local runner");
}

static int64_t default_memory(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? pages / 4 * 3 * page : 0;
}

static bool is_apart(const hone_runner_local_options *options) {
    return options->device && !hone_device_name_is_host(options->device);
}

static int64_t memory_of(const hone_runner_local_options *options) {
    if (options->memory_bytes > 0) return options->memory_bytes;
    bool has_its_own = is_apart(options) && !hone_device_name_compiles(options->device);
    return has_its_own ? 0 : default_memory();
}

/* Cards are numbered from 0. */
static void name_device(slot *s, const hone_runner_local_options *options, int32_t slot_index) {
    int32_t index = options->per_card > 1 ? slot_index / options->per_card : slot_index;
    if (!is_apart(options)) return;
    if (strchr(options->device, ':') || index == 0) {
        snprintf(s->device, sizeof s->device, "%s", options->device);
    } else {
        snprintf(s->device, sizeof s->device, "%s:%d", options->device, index);
    }
}

static bool is_alone(const hone_runner_local_options *options) {
    return options->device && hone_device_name_is_alone(options->device);
}

/* Who times on a card keeps out others that do, and nobody else. */
static hone_status name_gate(slot *s, const hone_runner_local_options *options) {
    hone_str path = {0};
    if (!options->quiet_path) return HONE_OK;
    hone_str_append(&path, options->quiet_path);
    if (is_alone(options))
        hone_str_printf(&path, "-%s%s", s->device, strchr(s->device, ':') ? "" : ":0");
    s->gate_path = hone_str_take(&path);
    return s->gate_path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "local runner");
}

static hone_status watch(const runner_local *self, int fd, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = key};
    if (fd < 0 || epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
        return HONE_ERROR(HONE_CODE_IO, "local runner: %s", strerror(errno));
    }
    return HONE_OK;
}

static hone_status open_descriptors(runner_local *self) {
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll_fd < 0) return HONE_ERROR(HONE_CODE_IO, "epoll: %s", strerror(errno));
    self->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    HONE_TRY(watch(self, self->done_fd, DONE_KEY));
    self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return watch(self, self->timer_fd, TIMER_KEY);
}

static hone_status set_up(runner_local *self, const hone_runner_local_options *options) {
    HONE_TRY(open_descriptors(self));
    HONE_TRY(find_executor(options->executor_path, &self->executor_path));
    if (options->without) {
        self->without = hone_strdup(options->without);
        if (!self->without) return HONE_ERROR(HONE_CODE_NO_MEMORY, "local runner");
    }
    self->program = (hone_executor_program){.path = self->executor_path,
                                            .launcher = options->launcher,
                                            .memory_bytes = memory_of(options),
                                            .unsandboxed = options->unsandboxed,
                                            .without = self->without};
    self->slots = hone_calloc((size_t)self->base.slots, sizeof *self->slots);
    if (!self->slots) return HONE_ERROR(HONE_CODE_NO_MEMORY, "local runner");
    for (int32_t i = 0; i < self->base.slots; i++) {
        hone_executor_process_init(&self->slots[i].process);
        self->slots[i].deadline_ns = HONE_DEADLINE_NEVER;
        name_device(&self->slots[i], options, i);
        HONE_TRY(name_gate(&self->slots[i], options));
    }
    return HONE_OK;
}

hone_status hone_runner_create_local(const hone_runner_local_options *options,
                                     hone_runner **out_runner) {
    static const hone_runner_local_options defaults;
    if (!options) options = &defaults;
    *out_runner = NULL;
    int32_t slots = options->slots > 0 ? options->slots : 1;
    if (slots > MAX_SLOTS) {
        return HONE_ERROR(HONE_CODE_INVALID, "slots is %d, at most %d can be", slots, MAX_SLOTS);
    }
    runner_local *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "local runner");
    hone_runner_init(&self->base, HONE_RUNNER_LOCAL, &local_vtable, slots,
                     options->queue_depth > 0 ? options->queue_depth : 2 * slots + 2);
    if (is_alone(options)) self->base.times_here = false;
    self->clock = hone_clock_system();
    self->epoll_fd = self->done_fd = self->timer_fd = -1;
    hone_queue_init(&self->queue);
    hone_queue_init(&self->done);
    self->baseline_ns = (double)NAN;
    self->trials_per_executor =
        options->trials_per_executor > 0 ? options->trials_per_executor : DEFAULT_TRIALS;
    hone_status st = set_up(self, options);
    if (st) {
        local_destroy(&self->base);
        return st;
    }
    *out_runner = &self->base;
    return HONE_OK;
}
