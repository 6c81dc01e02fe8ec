/* runner/runner_local.c - runs kernels in child processes: a crash kills a child, not the tuner.
 *
 *   submit ─► queue ─► idle slot ──REQUEST──► executor child
 *                          ▲                      │ STARTED, WAITING (timeouts)
 *                          │                      ▼
 *   next_result ◄─ done ◄──┴── RESULT, or its death, or the timeout
 *
 * What becomes of a slot is in local_slot.c; here requests come in, executors are listened to and
 * results go out.
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

#include "runner/local_impl.h"
#include "runtime/device.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"

#define DEFAULT_START_NS (30 * HONE_NS_PER_S)
#define RESULT_BYTES (1 << 20) /* of a result without its outputs */
#define DEFAULT_TRIALS 2000
#define ARENA_BLOCK_BYTES 4096
#define MAX_SLOTS 256
#define DONE_KEY UINT64_MAX        /* epoll data of the eventfd … */
#define TIMER_KEY (UINT64_MAX - 1) /* … and of the timer */

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
        local_on_death(self, s, "the executor answered what was not asked");
    } else if (head->kind == HONE_MESSAGE_HELLO) {
        s->process.said_hello = true;
        if (s->job) local_set_deadline(self, s); /* it loads from now on */
        snprintf(self->layers, sizeof self->layers, "%.*s", (int)head->bytes,
                 head->bytes < sizeof self->layers ? (const char *)payload : "");
    } else if (head->kind == HONE_MESSAGE_WAITING) {
        s->is_loading = false;
        s->is_at_gate = s->is_waiting = true;
        local_set_deadline(self, s);
    } else if (head->kind == HONE_MESSAGE_STARTED) {
        s->is_loading = s->is_waiting = false;
        s->starts++;
        local_set_deadline(self, s);
    } else if (head->kind == HONE_MESSAGE_RESULT) {
        local_on_result(self, s, payload, head->bytes);
    }
    return s->process.fd >= 0 && s->number == number;
}

static void on_readable(runner_local *self, slot *s) {
    switch (hone_executor_process_receive(&s->process)) {
    case HONE_EXECUTOR_NOTHING:
        return;
    case HONE_EXECUTOR_CLOSED:
        local_on_death(self, s, NULL);
        return;
    case HONE_EXECUTOR_UNHEARD:
        local_on_want(self, s);
        return;
    case HONE_EXECUTOR_BYTES:
        break;
    }
    hone_message_head head;
    const void *payload = NULL;
    bool ok = true;
    while (hone_message_peek(&s->process.received, longest_message(s), &head, &payload, &ok)) {
        if (!ok) {
            local_on_death(self, s, "the executor's socket was written to");
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
    int64_t now = local_now(self);
    for (int32_t i = 0; i < self->base.slots; i++) {
        slot *s = &self->slots[i];
        if (s->deadline_ns <= now) local_on_deadline(self, s);
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
    local_dispatch(self);
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
    runner_local *self = local_of(base);
    job *j = hone_calloc(1, sizeof *j);
    if (!j) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    hone_run_result_init(&j->result);
    j->ticket = ticket;
    j->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    hone_status st = j->arena ? hone_run_request_copy(request, j->arena, &j->request)
                              : HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    if (!st) st = locate(&j->request.extern_path, j->arena);
    if (st) {
        local_end_job(j);
        return st;
    }
    j->submitted_ns = local_now(self);
    hone_queue_push(&self->queue, &j->link);
    local_dispatch(self);
    arm_timer(self);
    return HONE_OK;
}

static void take_done(runner_local *self, hone_ticket *out_ticket, hone_run_result *out_result) {
    job *j = local_pop(&self->done);
    if (hone_queue_is_empty(&self->done)) {
        uint64_t count;
        ssize_t ignored = read(self->done_fd, &count, sizeof count);
        (void)ignored;
    }
    *out_ticket = j->ticket;
    *out_result = j->result;
    j->result.outputs = NULL; /* now the caller's */
    local_end_job(j);
}

static hone_status local_next_result(hone_runner *base, int64_t deadline_ns,
                                     hone_ticket *out_ticket, hone_run_result *out_result) {
    runner_local *self = local_of(base);
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
    return handle_events(local_of(base), 0);
}

static int local_fd(const hone_runner *base) {
    return ((const runner_local *)base)->epoll_fd;
}

static void local_cancel_all(hone_runner *base) {
    runner_local *self = local_of(base);
    for (job *j = local_pop(&self->queue); j; j = local_pop(&self->queue)) {
        hone_run_result_fail(&j->result, HONE_FAILURE_CANCELLED, "cancelled");
        local_finish(self, j);
    }
    for (int32_t i = 0; i < base->slots; i++) {
        slot *s = &self->slots[i];
        if (!s->job) continue;
        hone_executor_process_end(&s->process);
        hone_run_result_fail(&s->job->result, HONE_FAILURE_CANCELLED, "cancelled");
        local_finish_slot(self, s);
    }
    arm_timer(self);
}

static void local_destroy(hone_runner *base) {
    runner_local *self = local_of(base);
    for (int32_t i = 0; self->slots && i < base->slots; i++) {
        hone_executor_process_deinit(&self->slots[i].process);
        hone_free(self->slots[i].gate_path);
        local_end_job(self->slots[i].job);
    }
    for (job *j = local_pop(&self->queue); j; j = local_pop(&self->queue))
        local_end_job(j);
    for (job *j = local_pop(&self->done); j; j = local_pop(&self->done))
        local_end_job(j);
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

/* An executor that is there, or has died. */
static hone_status await_executor(runner_local *self, slot *s) {
    const int64_t deadline = hone_deadline_after(self->clock, self->start_timeout_ns);
    if (s->process.fd < 0) HONE_TRY(local_start(self, s));
    while (s->process.fd >= 0 && !s->process.said_hello) {
        int wait_ms = hone_deadline_poll_ms(self->clock, deadline);
        if (wait_ms == 0) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the executor does not start");
        HONE_TRY(handle_events(self, wait_ms));
    }
    return HONE_OK;
}

hone_status hone_runner_local_layers(hone_runner *base, char out_layers[HONE_RUNNER_LAYERS_BYTES]) {
    assert(base->vtable == &local_vtable);
    runner_local *self = local_of(base);
    slot *s = &self->slots[0];
    out_layers[0] = 0;
    HONE_TRY(await_executor(self, s));
    /* once more: it may have been ended from outside, for want of memory */
    if (s->process.fd < 0) HONE_TRY(await_executor(self, s));
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
    self->start_timeout_ns =
        options->start_timeout_ns > 0 ? options->start_timeout_ns : DEFAULT_START_NS;
    hone_status st = set_up(self, options);
    if (st) {
        local_destroy(&self->base);
        return st;
    }
    *out_runner = &self->base;
    return HONE_OK;
}
