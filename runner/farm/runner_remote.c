/* runner/farm/runner_remote.c - see runner_remote.h: the trials, and the interface of a runner. */
#include "runner/farm/runner_remote.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "measure/wire.h"
#include "runner/farm/remote_impl.h"
#include "support/core/alloc.h"
#include "support/os/proc.h"

#define QUEUE_DEPTH 512
#define ARENA_BLOCK_BYTES 4096
#define DEFAULT_PATIENCE_NS (20 * HONE_NS_PER_S)
#define DEFAULT_RUN_TIMEOUT_NS (10 * HONE_NS_PER_S)
#define DEVICE_OVERHEAD_NS                                                                         \
    (120 * HONE_NS_PER_S) /* loading, quiet gate: beyond what a run may take */
#define LOOKS 4           /* a trial is load, check, timing, and a retry */

static runner_remote *as_remote(hone_runner *base) {
    return (runner_remote *)base;
}

/* ---- trials ---- */

static remote_trial *find_trial(const runner_remote *r, uint64_t number) {
    for (remote_trial *t = r->trials; t; t = t->next) {
        if (t->ticket == number) return t;
    }
    return NULL;
}

static void free_trial(remote_trial *t) {
    hone_arena_destroy(t->arena);
    hone_str_deinit(&t->request);
    hone_run_result_deinit(&t->result);
    hone_free(t);
}

static void append(runner_remote *r, remote_trial *trial) {
    remote_trial **link = &r->trials;
    while (*link)
        link = &(*link)->next;
    *link = trial;
}

static void fail(remote_trial *t, hone_failure failure, const char *why) {
    hone_run_result_deinit(&t->result);
    hone_run_result_init(&t->result);
    hone_run_result_fail(&t->result, failure, "%s", why);
    t->state = REMOTE_DONE;
}

static bool send_submit(runner_remote *r, remote_trial *t) {
    hone_farm_blob blobs[REMOTE_MAX_FILES];
    hone_farm_message message = {.kind = HONE_FARM_SUBMIT, .id = ++r->link.last_id};
    hone_farm_submit *submit = &message.u.submit;
    for (size_t i = 0; i < t->file_count; i++)
        blobs[i] = t->files[i].blob;
    *submit = (hone_farm_submit){
        .trial = t->ticket,
        .blobs = {t->file_count,                    blobs            },
        .request = {(const uint8_t *)t->request.data, t->request.length},
        .timeout_ns = t->timeout_ns,
        .wants_time = t->wants_time,
    };
    memcpy(submit->target, r->target, sizeof r->target);
    memcpy(submit->device_key, r->device_key, sizeof r->device_key);
    if (t->device) hone_farm_set_text(submit->device, sizeof submit->device, t->device);
    return farm_link_send(&r->link, &message);
}

static bool send_cancel(runner_remote *r, hone_ticket ticket) {
    hone_farm_message message = {.kind = HONE_FARM_CANCEL, .id = ++r->link.last_id};
    message.u.cancel.trial = ticket;
    return farm_link_send(&r->link, &message);
}

/* Sends what is due; stops when the connection takes no more for now. */
static void trial_timers(runner_remote *r) {
    int64_t now = remote_now(r);
    if (!remote_is_up(r)) return;
    for (remote_trial *t = r->trials; t; t = t->next) {
        if (t->state != REMOTE_SUBMITTED || now < t->repeat.at_ns) continue;
        bool was_sent = send_submit(r, t);
        remote_repeat_rang(r, &t->repeat);
        if (!was_sent) return;
    }
    for (size_t i = 0; i < r->cancels.count; i++) {
        remote_cancel *cancel = &r->cancels.data[i];
        if (now < cancel->repeat.at_ns) continue;
        bool was_sent = send_cancel(r, cancel->ticket);
        remote_repeat_rang(r, &cancel->repeat);
        if (!was_sent) return;
    }
}

static bool has_done(const runner_remote *r) {
    for (const remote_trial *t = r->trials; t; t = t->next) {
        if (t->state == REMOTE_DONE) return true;
    }
    return false;
}

static int64_t trials_next_ns(const runner_remote *r) {
    int64_t at = HONE_DEADLINE_NEVER;
    if (!remote_is_up(r)) return at;
    for (const remote_trial *t = r->trials; t; t = t->next) {
        if (t->state == REMOTE_SUBMITTED) farm_sooner(&at, t->repeat.at_ns);
    }
    for (size_t i = 0; i < r->cancels.count; i++)
        farm_sooner(&at, r->cancels.data[i].repeat.at_ns);
    return at;
}

/* ---- what the tracker says of trials ---- */

void remote_on_accepted(runner_remote *r, uint64_t number) {
    remote_trial *t = find_trial(r, number);
    if (t && t->state == REMOTE_SUBMITTED) t->state = REMOTE_WAITED_FOR;
}

static void drop_cancel(runner_remote *r, uint64_t number) {
    for (size_t i = 0; i < r->cancels.count; i++) {
        if (r->cancels.data[i].ticket != number) continue;
        r->cancels.data[i] = r->cancels.data[--r->cancels.count];
        return;
    }
}

void remote_on_cancelled(runner_remote *r, uint64_t number) {
    drop_cancel(r, number); /* an outcome may follow; it is acknowledged and forgotten */
}

/* What was not spent on the device was spent on the way to it. */
static void account(const runner_remote *r, remote_trial *t) {
    hone_run_times *times = &t->result.times;
    int64_t known =
        times->transfer_ns + times->load_ns + times->check_ns + times->wait_ns + times->measure_ns;
    int64_t queue = remote_now(r) - t->submitted_ns - known;
    times->queue_ns = queue > 0 ? queue : 0;
}

static void name_device(remote_trial *t, const hone_farm_outcome *outcome) {
    if (!outcome->runner[0]) return;
    snprintf(t->result.device, sizeof t->result.device, "%s/%u", outcome->runner, outcome->slot);
}

/* A tracker judges as well, but it may be an older one. What was cancelled here is done already. */
static const char *problem_of(const remote_trial *t) {
    if (t->result.failure == HONE_FAILURE_CANCELLED)
        return "a trial that nobody cancelled, as cancelled";
    return hone_run_result_problem(&t->result, t->wants_time);
}

/* False when there was no memory to read it: the tracker says it again. */
static bool take_outcome(runner_remote *r, remote_trial *t, const hone_farm_outcome *outcome) {
    hone_status st =
        hone_run_result_decode(outcome->result.data, outcome->result.count, &t->result);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) {
        hone_status_free(st);
        return false;
    }
    t->state = REMOTE_DONE;
    const char *problem = st ? "something that is no result" : problem_of(t);
    if (problem) {
        char why[HONE_FARM_NOTE_BYTES];
        snprintf(why, sizeof why, "the device answered with %s", problem);
        fail(t, HONE_FAILURE_DEVICE_LOST, why);
    }
    hone_status_free(st);
    name_device(t, outcome);
    account(r, t);
    return true;
}

void remote_on_outcome(runner_remote *r, const hone_farm_outcome *outcome) {
    remote_trial *t = find_trial(r, outcome->trial);
    if (t && t->state != REMOTE_DONE && !take_outcome(r, t, outcome)) return;
    drop_cancel(r, outcome->trial);
    hone_farm_message ack = {.kind = HONE_FARM_OUTCOME_ACK, .id = ++r->link.last_id};
    ack.u.outcome_ack.trial = outcome->trial;
    farm_link_send(&r->link, &ack); /* one that is lost is asked for by the next OUTCOME */
}

void remote_on_submit_refused(runner_remote *r, const hone_farm_refused *refused) {
    remote_trial *t = find_trial(r, refused->trial);
    if (t && t->state != REMOTE_DONE) fail(t, HONE_FAILURE_LOAD_ERROR, refused->text);
}

void remote_submit_again(runner_remote *r) {
    int64_t now = remote_now(r);
    for (remote_trial *t = r->trials; t; t = t->next) {
        if (t->state == REMOTE_DONE) continue;
        t->state = REMOTE_SUBMITTED;
        farm_repeat_start(&t->repeat, now);
    }
    for (size_t i = 0; i < r->cancels.count; i++)
        farm_repeat_start(&r->cancels.data[i].repeat, now);
}

/* ---- submit ---- */

/* The request without the files: they go by their hashes. */
static hone_status encode_request(const hone_run_request *request, hone_str *out) {
    hone_run_request bare = *request;
    bare.artifact_path = "artifact";
    bare.artifact_bytes = NULL;
    bare.artifact_byte_count = 0;
    bare.check_path = bare.extern_path = bare.device = NULL;
    HONE_TRY(hone_run_request_encode(&bare, out));
    if (out->length <= HONE_FARM_MAX_REQUEST) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the run request has %zu bytes, a farm takes at most %d",
                      out->length, HONE_FARM_MAX_REQUEST);
}

static hone_status fill_trial(runner_remote *r, const hone_run_request *request,
                              remote_trial *trial) {
    trial->arena = hone_arena_create(ARENA_BLOCK_BYTES);
    if (!trial->arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    if (request->device) {
        trial->device = hone_arena_strdup(trial->arena, request->device);
        if (!trial->device) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    }
    HONE_TRY(encode_request(request, &trial->request));
    return remote_add_files(r, request, trial);
}

/* Files that cannot be read or are too large are the candidate's failure, as everywhere. */
static hone_status remote_submit(hone_runner *base, const hone_run_request *request,
                                 hone_ticket ticket) {
    runner_remote *r = as_remote(base);
    if (r->link.is_given_up) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", r->trouble);
    remote_trial *trial = hone_calloc(1, sizeof *trial);
    if (!trial) return HONE_ERROR(HONE_CODE_NO_MEMORY, "run request");
    hone_run_result_init(&trial->result);
    hone_status st = fill_trial(r, request, trial);
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) {
        free_trial(trial);
        return st;
    }
    if (st) fail(trial, HONE_FAILURE_LOAD_ERROR, hone_status_message(st));
    hone_status_free(st);
    int64_t run_ns = request->timeout_ns > 0 ? request->timeout_ns : DEFAULT_RUN_TIMEOUT_NS;
    trial->ticket = ticket;
    trial->wants_time = hone_run_request_wants_time(request);
    trial->timeout_ns = DEVICE_OVERHEAD_NS + LOOKS * run_ns;
    trial->submitted_ns = remote_now(r);
    farm_repeat_start(&trial->repeat, trial->submitted_ns);
    append(r, trial);
    trial_timers(r);
    return HONE_OK;
}

/* ---- stepping ---- */

int64_t hone_runner_remote_next_ns(const hone_runner *base) {
    const runner_remote *r = (const runner_remote *)base;
    int64_t at = farm_link_next_ns(&r->link);
    farm_sooner(&at, remote_devices_next_ns(r));
    farm_sooner(&at, trials_next_ns(r));
    return at;
}

/* The timer makes hone_runner_fd readable when something is due, or done and not taken. */
static void arm_timer(const runner_remote *r) {
    if (r->timer_fd < 0) return;
    int64_t at = has_done(r) ? HONE_DEADLINE_NOW : hone_runner_remote_next_ns(&r->base);
    struct itimerspec when = {0};
    if (at != HONE_DEADLINE_NEVER) {
        if (at < 1) at = 1;
        when.it_value.tv_sec = (time_t)(at / HONE_NS_PER_S);
        when.it_value.tv_nsec = (long)(at % HONE_NS_PER_S);
    }
    timerfd_settime(r->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Waits for something to come until the deadline, or until something is due. */
static hone_status step(runner_remote *r, int64_t deadline_ns) {
    int64_t next = hone_runner_remote_next_ns(&r->base);
    HONE_TRY(farm_link_receive(&r->link, deadline_ns < next ? deadline_ns : next));
    farm_link_beat(&r->link);
    remote_devices_timers(r);
    trial_timers(r);
    return HONE_OK;
}

static hone_status check_devices(const runner_remote *r) {
    if (r->link.is_given_up) return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", r->trouble);
    if (!remote_is_abandoned(r)) return HONE_OK;
    const char *why = r->trouble[0] && !remote_is_up(r) ? r->trouble : NULL;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "no device '%s' is left%s%s%s", r->device_key,
                      why ? " (" : "", why ? why : "", why ? ")" : "");
}

static void take_done(runner_remote *r, hone_ticket *out_ticket, hone_run_result *out_result) {
    remote_trial **link = &r->trials;
    while ((*link)->state != REMOTE_DONE)
        link = &(*link)->next;
    remote_trial *t = *link;
    *link = t->next;
    *out_ticket = t->ticket;
    *out_result = t->result;
    t->result.outputs = NULL; /* now the caller's */
    free_trial(t);
}

static hone_status wait_for_done(runner_remote *r, int64_t deadline_ns) {
    HONE_TRY(step(r, HONE_DEADLINE_NOW));
    while (!has_done(r)) {
        HONE_TRY(check_devices(r));
        if (deadline_ns <= remote_now(r)) return HONE_ERROR(HONE_CODE_TIMEOUT, "no result yet");
        HONE_TRY(step(r, deadline_ns));
    }
    return HONE_OK;
}

static hone_status remote_next_result(hone_runner *base, int64_t deadline_ns,
                                      hone_ticket *out_ticket, hone_run_result *out_result) {
    runner_remote *r = as_remote(base);
    hone_status st = wait_for_done(r, deadline_ns);
    if (!st) take_done(r, out_ticket, out_result);
    arm_timer(r);
    return st;
}

static hone_status remote_tend(hone_runner *base) {
    runner_remote *r = as_remote(base);
    hone_status st = step(r, HONE_DEADLINE_NOW);
    if (!st && !has_done(r)) st = check_devices(r);
    arm_timer(r);
    return st;
}

static int remote_fd(const hone_runner *base) {
    return ((const runner_remote *)base)->epoll_fd;
}

static void remote_cancel_all(hone_runner *base) {
    runner_remote *r = as_remote(base);
    for (remote_trial *t = r->trials; t; t = t->next) {
        if (t->state == REMOTE_DONE) continue;
        remote_cancel cancel = {.ticket = t->ticket};
        farm_repeat_start(&cancel.repeat, remote_now(r));
        if (!hone_vec_push(&r->cancels, cancel)) send_cancel(r, t->ticket); /* once, then */
        fail(t, HONE_FAILURE_CANCELLED, "cancelled");
    }
    trial_timers(r);
    arm_timer(r);
}

static void remote_destroy(hone_runner *base) {
    runner_remote *r = as_remote(base);
    farm_link_send_bye(&r->link, "the tuner is done");
    while (r->trials) {
        remote_trial *t = r->trials;
        r->trials = t->next;
        free_trial(t);
    }
    remote_files_destroy(r);
    hone_vec_deinit(&r->cancels);
    hone_net_destroy(r->link.net);
    farm_link_deinit(&r->link);
    hone_fd_close(&r->epoll_fd);
    hone_fd_close(&r->timer_fd);
    hone_free(r);
}

static const hone_runner_vtable remote_vtable = {
    .destroy = remote_destroy,
    .submit = remote_submit,
    .next_result = remote_next_result,
    .fd = remote_fd,
    .tend = remote_tend,
    .note = remote_note,
    .cancel_all = remote_cancel_all,
};

/* ---- the target ---- */

bool hone_runner_remote_is_connected(const hone_runner *base) {
    return remote_is_up((const runner_remote *)base);
}

const char *hone_runner_remote_device_key(const hone_runner *base) {
    return ((const runner_remote *)base)->device_key;
}

static hone_status check_choice(const runner_remote *r) {
    if (!r->other_key[0]) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "the tracker has devices of several keys, '%s' and others: choose with "
                      "--device-key ('hone farm status' lists them)",
                      r->other_key);
}

static hone_status check_fit(const runner_remote *r) {
    return r->misfit[0] ? HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s", r->misfit) : HONE_OK;
}

static hone_status no_target_yet(const runner_remote *r) {
    if (remote_is_up(r) && !r->device_key[0]) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "the tracker has no device that works");
    }
    if (remote_is_up(r)) {
        return HONE_ERROR(
            HONE_CODE_TIMEOUT,
            "the tracker has no device '%s' that works ('hone farm status' shows all)",
            r->device_key);
    }
    const char *why = r->trouble[0] ? r->trouble : "no answer yet";
    return HONE_ERROR(HONE_CODE_TIMEOUT, "no tracker: %s", why);
}

hone_status hone_runner_remote_find_target(hone_runner *base, int64_t deadline_ns,
                                           const char **out_target) {
    runner_remote *r = as_remote(base);
    assert(base->vtable == &remote_vtable);
    *out_target = NULL;
    HONE_TRY(step(r, HONE_DEADLINE_NOW));
    while (r->device_count == 0) {
        HONE_TRY(check_devices(r));
        HONE_TRY(check_choice(r));
        HONE_TRY(check_fit(r));
        if (deadline_ns <= remote_now(r)) return no_target_yet(r);
        HONE_TRY(step(r, deadline_ns));
    }
    arm_timer(r);
    *out_target = r->target;
    return HONE_OK;
}

/* ---- making ---- */

static hone_status watch(const runner_remote *r, int fd) {
    struct epoll_event event = {.events = EPOLLIN};
    if (fd < 0 || epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
        return HONE_ERROR(HONE_CODE_IO, "remote runner: %s", strerror(errno));
    }
    return HONE_OK;
}

static hone_status open_descriptors(runner_remote *r) {
    int net_fd = hone_net_fd(r->link.net);
    if (net_fd < 0) return HONE_OK;
    r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (r->epoll_fd < 0) return HONE_ERROR(HONE_CODE_IO, "epoll: %s", strerror(errno));
    r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    HONE_TRY(watch(r, r->timer_fd));
    return watch(r, net_fd);
}

static hone_status make_instance(const hone_farm_instance *given, hone_farm_instance *out) {
    *out = *given;
    while (!(out->lo | out->hi)) {
        if (getrandom(out, sizeof *out, 0) != (ssize_t)sizeof *out) {
            return HONE_ERROR(HONE_CODE_IO, "no random numbers: %s", strerror(errno));
        }
    }
    return HONE_OK;
}

static hone_status set_up(runner_remote *r, const hone_runner_remote_options *o) {
    hone_farm_instance instance;
    HONE_TRY(make_instance(&o->instance, &instance));
    const farm_link_options link = {.vtable = &remote_link_vtable,
                                    .owner = r,
                                    .net = o->net,
                                    .log = o->log,
                                    .role = HONE_FARM_TUNER,
                                    .instance = instance,
                                    .name = o->name,
                                    .software = o->software};
    HONE_TRY(farm_link_init(&r->link, &link));
    hone_farm_set_text(r->device_key, sizeof r->device_key, o->device_key ? o->device_key : "");
    r->check_target = o->check_target;
    r->ctx = o->ctx;
    r->waits_for_devices = !o->stops_without_devices;
    r->patience_ns = o->patience_ns > 0 ? o->patience_ns : DEFAULT_PATIENCE_NS;
    r->none_since_ns = HONE_DEADLINE_NEVER;
    return open_descriptors(r);
}

hone_status hone_runner_create_remote(const hone_runner_remote_options *options,
                                      hone_runner **out_runner) {
    assert(options->net && out_runner);
    *out_runner = NULL;
    runner_remote *r = hone_calloc(1, sizeof *r);
    if (!r) {
        hone_net_destroy(options->net);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "remote runner");
    }
    hone_runner_init(&r->base, HONE_RUNNER_REMOTE, &remote_vtable, 0,
                     options->queue_depth > 0 ? options->queue_depth : QUEUE_DEPTH);
    r->link.net = options->net;
    r->epoll_fd = r->timer_fd = -1;
    hone_status st = set_up(r, options);
    if (st) {
        remote_destroy(&r->base);
        return st;
    }
    *out_runner = &r->base;
    return HONE_OK;
}
