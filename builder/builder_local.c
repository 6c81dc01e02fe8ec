/* builder/builder_local.c - builds in a pool of hone-worker processes.
 *
 *   submit ─► queue ─► idle worker ──request──► hone-worker
 *                          ▲                        │
 *   next_result ◄─ done ◄──┴──── result, or its death, or the timeout
 *
 * A worker is reused while it is healthy; it is killed and replaced when it crashes, takes too
 * much time or memory, and replaced after many builds. Time is CPU time of the worker, so that
 * a stopped or starved build is not punished; wall-clock time has a generous limit of its own. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "builder/builder_impl.h"
#include "builder/worker.h"
#include "measure/wire.h"
#include "sandbox/held.h"
#include "support/core/alloc.h"
#include "support/core/number.h"
#include "support/data/queue.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "support/os/proc.h"
#include "support/os/scratch.h"

enum { MAX_WORKERS = 256, LOG_BYTES = 400 };
#define DEFAULT_TIMEOUT_NS (30 * HONE_NS_PER_S)
#define CHECK_INTERVAL_NS (50 * HONE_NS_PER_MS)
#define READ_PATIENCE_NS (5 * HONE_NS_PER_S) /* for the rest of a message that has begun */
#define DONE_KEY UINT64_MAX
#define TIMER_KEY (UINT64_MAX - 1)

typedef struct job {
    hone_link link; /* first */
    hone_ticket ticket;
    hone_str message; /* the request in wire form; then the reply */
    int64_t timeout_ns, submitted_ns, started_ns;
    hone_failure failure; /* when there is no reply */
    char text[768];
    bool has_reply;
    char *output_path, *lines_path; /* that its worker may write; owned, or NULL */
} job;

typedef struct worker {
    hone_held held; /* proc.pid 0: not running */
    int fd, log_fd;
    hone_scratch dir;                 /* for its temporary files */
    job *job;                         /* NULL: idle */
    int64_t cpu_at_start_ns, wall_ns; /* of the present build; wall without pauses */
    int32_t builds;
} worker;

typedef struct builder_local {
    hone_builder base; /* first */
    char *worker_path;
    int64_t memory_bytes;
    int32_t builds_per_worker;
    const hone_clock *clock;
    int epoll_fd, done_fd, timer_fd;
    int64_t checked_ns; /* when busy workers were looked at last */
    bool is_paused, is_timing, is_unsandboxed;
    worker *workers; /* base.slots */
    hone_queue queue, done;
} builder_local;

static builder_local *as_local(hone_builder *base) {
    return (builder_local *)base;
}

static int64_t now_of(const builder_local *self) {
    return hone_clock_now(self->clock);
}

/* What a build may take: it has what the ones before it left in the worker as well. */
static int64_t most_memory(const builder_local *self) {
    return 2 * self->memory_bytes;
}

/* ---- jobs ---- */

static job *pop(hone_queue *queue) {
    return (job *)hone_queue_pop(queue);
}

static void end_job(job *j) {
    if (!j) return;
    hone_str_deinit(&j->message);
    hone_free(j->output_path);
    hone_free(j->lines_path);
    hone_free(j);
}

static void finish(builder_local *self, job *j) {
    hone_queue_push(&self->done, &j->link);
    uint64_t one = 1;
    ssize_t ignored = write(self->done_fd, &one, sizeof one);
    (void)ignored; /* it can only be full, and then it is readable */
}

static void fail_job(builder_local *self, job *j, hone_failure failure, const char *text) {
    j->failure = failure;
    snprintf(j->text, sizeof j->text, "%s", text);
    finish(self, j);
}

/* ---- workers ---- */

static void watch(builder_local *self, worker *w, bool on) {
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u64 = (uint64_t)(w - self->workers);
    if (w->fd >= 0) epoll_ctl(self->epoll_fd, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, w->fd, &event);
}

/* Looks at busy workers now and then, as long as there are some. */
static void set_timer(builder_local *self) {
    bool is_busy = false;
    for (int32_t i = 0; i < self->base.slots; i++)
        is_busy |= self->workers[i].job != NULL;
    bool wanted = is_busy && !self->is_paused;
    if (wanted == self->is_timing) return;
    self->is_timing = wanted;
    self->checked_ns = now_of(self);
    struct itimerspec spec = {0};
    if (wanted) spec.it_value.tv_nsec = spec.it_interval.tv_nsec = CHECK_INTERVAL_NS;
    timerfd_settime(self->timer_fd, 0, &spec, NULL);
}

static void end_worker(builder_local *self, worker *w) {
    if (!self->is_paused) watch(self, w, false);
    hone_fd_close(&w->fd);
    hone_fd_close(&w->log_fd);
    hone_held_end(&w->held);
    hone_status_free(hone_scratch_close(&w->dir));
    w->builds = 0;
}

static hone_status spawn_worker(const builder_local *self, worker *w, int child_fd) {
    const char *const argv[] = {self->worker_path, "--serve",
                                self->is_unsandboxed ? "--unsandboxed" : NULL, NULL};
    const hone_fd_map fds[] = {
        {-1,        0             },
        {w->log_fd, 1             },
        {w->log_fd, 2             },
        {child_fd,  HONE_WORKER_FD},
    };
    const hone_proc_options options = {.argv = argv, .fds = fds, .fd_count = HONE_COUNT(fds)};
    hone_str temporary = {0};
    HONE_TRY(hone_scratch_open("hone-builds", &w->dir));
    hone_str_printf(&temporary, "TMPDIR=%s", w->dir.path);
    /* a linker that speaks no language but C opens a dozen files less */
    const char *const extra[] = {hone_str_text(&temporary), "CCACHE_DISABLE=1", "LC_ALL=C", NULL};
    hone_status st = hone_str_check(&temporary);
    if (!st) st = hone_held_start(&w->held, &options, extra);
    hone_str_deinit(&temporary);
    return st;
}

static hone_status start_worker(builder_local *self, worker *w) {
    int pair[2] = {-1, -1};
    HONE_TRY(hone_socket_pair_open(pair));
    w->log_fd = memfd_create("hone-worker-log", MFD_CLOEXEC);
    hone_status st = spawn_worker(self, w, pair[1]);
    hone_fd_close(&pair[1]);
    w->fd = pair[0];
    if (st) {
        end_worker(self, w);
        return st;
    }
    w->builds = 0;
    watch(self, w, true);
    return HONE_OK;
}

/* What the worker may touch while it builds, then the request. */
static hone_status write_job(builder_local *self, worker *w, const job *j) {
    const hone_grant grants[] = {
        {HONE_FILE_FOLDER, w->dir.path   },
        {HONE_FILE_WRITE,  j->output_path},
        {HONE_FILE_WRITE,  j->lines_path }
    };
    int64_t deadline = hone_deadline_after(self->clock, 20 * HONE_NS_PER_S);
    HONE_TRY(hone_held_serve(&w->held, grants, HONE_COUNT(grants)));
    return hone_frame_write(w->fd, j->message.data, j->message.length, self->clock, deadline);
}

static hone_status send_job(builder_local *self, worker *w, job *j) {
    if (w->held.proc.pid == 0) HONE_TRY(start_worker(self, w));
    hone_status st = write_job(self, w, j);
    if (st && hone_status_code(st) == HONE_CODE_UNAVAILABLE) { /* it died while idle */
        hone_status_free(st);
        end_worker(self, w);
        HONE_TRY(start_worker(self, w));
        st = write_job(self, w, j);
    }
    if (st && hone_status_code(st) == HONE_CODE_UNAVAILABLE) { /* and the fresh one at once */
        hone_status_free(st);
        return HONE_OK; /* its end is read where answers are, and becomes the job's result */
    }
    if (st) end_worker(self, w);
    return st;
}

static hone_status dispatch(builder_local *self) {
    for (int32_t i = 0;
         i < self->base.slots && !self->is_paused && !hone_queue_is_empty(&self->queue); i++) {
        worker *w = &self->workers[i];
        if (w->job) continue;
        HONE_TRY(send_job(self, w, (job *)self->queue.first));
        job *j = pop(&self->queue);
        j->started_ns = now_of(self);
        w->job = j;
        w->cpu_at_start_ns = hone_held_cpu_ns(&w->held);
        w->wall_ns = 0;
    }
    set_timer(self);
    return HONE_OK;
}

/* What the worker wrote to its standard error last, if anything. */
static void append_log(const worker *w, hone_str *out) {
    char text[LOG_BYTES + 1];
    off_t end = w->log_fd >= 0 ? lseek(w->log_fd, 0, SEEK_END) : 0;
    if (end <= 0) return;
    off_t from = end > LOG_BYTES ? end - LOG_BYTES : 0;
    ssize_t count = pread(w->log_fd, text, LOG_BYTES, from);
    while (count > 0 && text[count - 1] == '\n')
        count--;
    if (count <= 0) return;
    hone_str_append(out, ": ");
    hone_str_append_n(out, text, (size_t)count);
}

/* Somebody, or the system for want of memory, has ended it, or a page of its files cannot be read:
 * that is not the program's doing. */
static bool was_killed(const hone_proc *proc) {
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGBUS};
    for (size_t i = 0; i < HONE_COUNT(signals); i++) {
        if (proc->term_signal == signals[i]) return true;
    }
    return false;
}

/* What LLVM, the C++ library and the loader say when memory does not come. The worker had not taken
 * more than a build may: it would have been ended for that (check_worker). */
static bool lacked_memory(const char *said) {
    static const char *const parts[] = {"LLVM ERROR: out of memory", "std::bad_alloc",
                                        "error while loading shared libraries"};
    for (size_t i = 0; i < HONE_COUNT(parts); i++) {
        if (strstr(said, parts[i])) return true;
    }
    return false;
}

static bool is_machines(const worker *w, const char *said) {
    const hone_held *held = &w->held;
    const hone_proc *proc = held->inner.is_ended ? &held->inner : &held->proc;
    return (held->proc.is_ended && was_killed(&held->proc)) ||
           (proc->is_ended && (was_killed(proc) || lacked_memory(said)));
}

static void worker_died(builder_local *self, worker *w) {
    job *j = w->job;
    w->job = NULL;
    hone_str text = {0};
    hone_str_append(&text, "the compiler died: ");
    hone_status st =
        hone_held_wait(&w->held, self->clock, hone_deadline_after(self->clock, 2 * HONE_NS_PER_S));
    if (st)
        hone_str_append(&text, "its socket closed");
    else
        hone_held_print_end(&w->held, &text);
    hone_status_free(st);
    append_log(w, &text);
    const char *said = hone_str_text(&text);
    if (j) {
        fail_job(self, j,
                 is_machines(w, said) ? HONE_FAILURE_MACHINE_ERROR : HONE_FAILURE_BUILD_ERROR,
                 said);
    }
    hone_str_deinit(&text);
    end_worker(self, w);
}

static void stop_build(builder_local *self, worker *w, hone_failure failure, const char *text) {
    job *j = w->job;
    w->job = NULL;
    end_worker(self, w); /* kills it */
    fail_job(self, j, failure, text);
}

static bool read_failure(const char *bytes, size_t count, hone_failure *out_failure) {
    hone_build_result result;
    hone_arena *arena = hone_arena_create(4096);
    if (!arena) return false;
    hone_status st = hone_build_result_decode(bytes, count, arena, &result);
    if (!st) *out_failure = result.failure;
    hone_arena_destroy(arena);
    return hone_status_consume(st) == HONE_CODE_OK;
}

/* Of a tool that took too long the worker has ended its driver only: what that had started goes on,
 * and ends with the worker's warden. */
static bool must_end(const builder_local *self, worker *w, hone_failure failure) {
    return failure == HONE_FAILURE_BUILD_TIMEOUT || w->builds >= self->builds_per_worker ||
           hone_held_resident_bytes(&w->held) > self->memory_bytes;
}

/* Takes the bytes. */
static void keep_reply(builder_local *self, worker *w, hone_failure failure, char *bytes,
                       size_t count) {
    job *j = w->job;
    w->job = NULL;
    hone_str_clear(&j->message);
    hone_str_append_n(&j->message, bytes, count);
    hone_free(bytes);
    j->has_reply = !j->message.failed;
    if (j->has_reply)
        finish(self, j);
    else
        fail_job(self, j, HONE_FAILURE_MACHINE_ERROR, "out of memory");
    w->builds++;
    hone_held_idle(&w->held);
    if (must_end(self, w, failure)) end_worker(self, w);
}

static void receive(builder_local *self, worker *w) {
    char *bytes = NULL;
    size_t count = 0;
    size_t most = (size_t)HONE_WIRE_MAX_ARTIFACT + HONE_WIRE_MAX_TEXT;
    hone_status st =
        hone_frame_read(w->fd, most, self->clock,
                        hone_deadline_after(self->clock, READ_PATIENCE_NS), &bytes, &count);
    if (st || !w->job) {
        hone_status_free(st);
        hone_free(bytes);
        worker_died(self, w);
        return;
    }
    hone_failure failure;
    if (!read_failure(bytes, count, &failure)) { /* whoever talks nonsense is not asked again */
        hone_free(bytes);
        stop_build(self, w, HONE_FAILURE_BUILD_ERROR, "the worker's answer cannot be read");
    } else if (failure != HONE_FAILURE_NONE && hone_held_is_gone(&w->held)) {
        hone_free(bytes); /* what it had started died with its warden, and it saw that first */
        worker_died(self, w);
    } else {
        keep_reply(self, w, failure, bytes, count);
    }
}

static void check_worker(builder_local *self, worker *w, int64_t passed_ns) {
    if (!w->job) return;
    char text[128];
    w->wall_ns += passed_ns;
    int64_t limit = w->job->timeout_ns, cpu = hone_held_cpu_ns(&w->held) - w->cpu_at_start_ns;
    int64_t wall_limit = 4 * limit + 10 * HONE_NS_PER_S;
    bool is_wall = cpu <= limit;
    if (cpu > limit || w->wall_ns > wall_limit) {
        hone_snprintf(text, sizeof text, "the build took %.1f s%s, the limit is %.1f s",
                      (double)(is_wall ? w->wall_ns : cpu) * 1e-9, is_wall ? "" : " of CPU time",
                      (double)(is_wall ? wall_limit : limit) * 1e-9);
        stop_build(self, w, HONE_FAILURE_BUILD_TIMEOUT, text);
        return;
    }
    int64_t resident = hone_held_resident_bytes(&w->held);
    if (resident > most_memory(self)) {
        snprintf(text, sizeof text, "the build took %lld MiB of memory, the limit is %lld MiB",
                 (long long)(resident >> 20), (long long)(most_memory(self) >> 20));
        stop_build(self, w, HONE_FAILURE_BUILD_ERROR, text);
    }
}

static void check_workers(builder_local *self) {
    uint64_t ignored;
    ssize_t count = read(self->timer_fd, &ignored, sizeof ignored);
    (void)count;
    int64_t now = now_of(self), passed = now - self->checked_ns;
    self->checked_ns = now;
    for (int32_t i = 0; i < self->base.slots; i++) {
        check_worker(self, &self->workers[i], passed);
    }
}

/* ---- the interface ---- */

static bool copy_path(const char *path, char **out_copy) {
    *out_copy = path ? hone_strdup(path) : NULL;
    return !path || *out_copy;
}

static bool copy_paths(const hone_build_request *request, job *j) {
    return copy_path(request->output_path, &j->output_path) &&
           copy_path(request->lines_path, &j->lines_path);
}

static hone_status local_submit(hone_builder *base, const hone_build_request *request,
                                hone_ticket ticket) {
    builder_local *self = as_local(base);
    hone_build_request bounded = *request;
    job *j = hone_calloc(1, sizeof *j);
    if (!j) return HONE_ERROR(HONE_CODE_NO_MEMORY, "build request");
    bounded.memory_bytes = most_memory(self);
    hone_status st = hone_build_request_encode(&bounded, &j->message);
    if (!st) st = hone_str_check(&j->message);
    if (!st && !copy_paths(request, j)) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "build request");
    if (st) {
        end_job(j);
        return st;
    }
    j->ticket = ticket;
    j->submitted_ns = now_of(self);
    j->timeout_ns = request->timeout_ns > 0 ? request->timeout_ns : DEFAULT_TIMEOUT_NS;
    hone_queue_push(&self->queue, &j->link);
    st = dispatch(self);
    if (!st) return HONE_OK;
    if (hone_queue_remove(&self->queue, &j->link)) end_job(j); /* else it was sent */
    return st;
}

static hone_status take_result(builder_local *self, hone_arena *arena, hone_ticket *out_ticket,
                               hone_build_result *out) {
    job *j = (job *)self->done.first;
    if (j->has_reply) {
        /* artifact bytes point into what is decoded: that must live in the arena too */
        void *bytes = hone_arena_copy(arena, j->message.data, j->message.length);
        if (!bytes) return HONE_ERROR(HONE_CODE_NO_MEMORY, "build result");
        HONE_TRY(hone_build_result_decode(bytes, j->message.length, arena, out));
    } else {
        out->failure = j->failure;
        out->message = hone_arena_strdup(arena, j->text);
    }
    int64_t started = j->started_ns ? j->started_ns : now_of(self);
    out->times.queue_ns = started - j->submitted_ns;
    *out_ticket = j->ticket;
    end_job(pop(&self->done));
    uint64_t ignored;
    ssize_t count =
        !hone_queue_is_empty(&self->done) ? 0 : read(self->done_fd, &ignored, sizeof ignored);
    (void)count;
    return HONE_OK;
}

static void handle(builder_local *self, const struct epoll_event *event) {
    if (event->data.u64 == DONE_KEY) return;
    if (event->data.u64 == TIMER_KEY) {
        check_workers(self);
        return;
    }
    worker *w = &self->workers[event->data.u64];
    if (w->fd >= 0) receive(self, w);
}

static hone_status local_next_result(hone_builder *base, int64_t deadline_ns, hone_arena *arena,
                                     hone_ticket *out_ticket, hone_build_result *out_result) {
    builder_local *self = as_local(base);
    for (bool has_looked = false;; has_looked = true) {
        HONE_TRY(dispatch(self));
        if (!hone_queue_is_empty(&self->done) && has_looked) {
            return take_result(self, arena, out_ticket, out_result);
        }
        int timeout =
            !hone_queue_is_empty(&self->done) ? 0 : hone_deadline_poll_ms(self->clock, deadline_ns);
        struct epoll_event events[16];
        int count = epoll_wait(self->epoll_fd, events, HONE_COUNT(events), timeout);
        for (int i = 0; i < count; i++)
            handle(self, &events[i]);
        bool is_over = hone_queue_is_empty(&self->done) && deadline_ns != HONE_DEADLINE_NEVER &&
                       now_of(self) >= deadline_ns;
        if (is_over) return HONE_ERROR(HONE_CODE_TIMEOUT, "no build is done yet");
    }
}

static int local_fd(const hone_builder *base) {
    return ((const builder_local *)base)->epoll_fd;
}

static void local_pause(hone_builder *base) {
    builder_local *self = as_local(base);
    if (self->is_paused) return;
    for (int32_t i = 0; i < base->slots; i++) {
        worker *w = &self->workers[i];
        if (w->held.proc.pid == 0) continue;
        hone_proc_stop(&w->held.proc);
        watch(self, w, false);
    }
    self->is_paused = true;
    set_timer(self);
}

static void local_resume(hone_builder *base) {
    builder_local *self = as_local(base);
    if (!self->is_paused) return;
    self->is_paused = false;
    for (int32_t i = 0; i < base->slots; i++) {
        worker *w = &self->workers[i];
        if (w->held.proc.pid == 0) continue;
        watch(self, w, true);
        hone_proc_resume(&w->held.proc);
    }
    hone_status_free(dispatch(self)); /* a failure comes again in next_result */
}

static void local_cancel_all(hone_builder *base) {
    builder_local *self = as_local(base);
    for (job *j; (j = pop(&self->queue));) {
        fail_job(self, j, HONE_FAILURE_CANCELLED, "the build was cancelled");
    }
    for (int32_t i = 0; i < base->slots; i++) {
        if (!self->workers[i].job) continue;
        stop_build(self, &self->workers[i], HONE_FAILURE_CANCELLED, "the build was cancelled");
    }
    set_timer(self);
}

static void local_destroy(hone_builder *base) {
    builder_local *self = as_local(base);
    for (int32_t i = 0; self->workers && i < base->slots; i++) {
        end_job(self->workers[i].job);
        end_worker(self, &self->workers[i]);
    }
    for (job *j; (j = pop(&self->queue));)
        end_job(j);
    for (job *j; (j = pop(&self->done));)
        end_job(j);
    hone_fd_close(&self->epoll_fd);
    hone_fd_close(&self->done_fd);
    hone_fd_close(&self->timer_fd);
    hone_free(self->workers);
    hone_free(self->worker_path);
    hone_free(self);
}

static const hone_builder_vtable local_vtable = {
    .name = "local",
    .destroy = local_destroy,
    .submit = local_submit,
    .next_result = local_next_result,
    .fd = local_fd,
    .pause = local_pause,
    .resume = local_resume,
    .cancel_all = local_cancel_all,
};

static hone_status find_worker(const char *given, char **out_path) {
    if (given) {
        *out_path = hone_strdup(given);
        return *out_path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "builder");
    }
    char *dir = NULL;
    HONE_TRY(hone_fs_program_dir(&dir));
    char *beside = hone_path_join(dir, "hone-worker");
    hone_free(dir);
    if (!beside) return HONE_ERROR(HONE_CODE_NO_MEMORY, "builder");
    if (hone_fs_exists(beside)) {
        *out_path = beside;
        return HONE_OK;
    }
    hone_free(beside);
    *out_path = hone_strdup("hone-worker"); /* by PATH */
    return *out_path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "builder");
}

static hone_status add_fd(builder_local *self, int fd, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u64 = key;
    if (fd >= 0 && epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "builder: no more descriptors");
}

static hone_status open_fds(builder_local *self) {
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    self->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    HONE_TRY(add_fd(self, self->done_fd, DONE_KEY));
    return add_fd(self, self->timer_fd, TIMER_KEY);
}

hone_status hone_builder_create_local(const hone_builder_local_options *options,
                                      hone_builder **out_builder) {
    static const hone_builder_local_options defaults = {0};
    if (!options) options = &defaults;
    *out_builder = NULL;
    int32_t slots = options->workers > 0 ? options->workers : 1;
    if (slots > MAX_WORKERS) {
        return HONE_ERROR(HONE_CODE_INVALID, "%d workers, at most %d", (int)slots, MAX_WORKERS);
    }
    int32_t depth = options->queue_depth > 0 ? options->queue_depth : 4 * slots + 4;
    builder_local *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "builder");
    hone_builder_init(&self->base, &local_vtable, slots, depth);
    self->epoll_fd = self->done_fd = self->timer_fd = -1;
    self->clock = hone_clock_system();
    self->memory_bytes = options->memory_bytes > 0 ? options->memory_bytes : INT64_C(1) << 30;
    self->is_unsandboxed = options->unsandboxed;
    self->builds_per_worker = options->builds_per_worker > 0 ? options->builds_per_worker : 500;
    hone_queue_init(&self->queue);
    hone_queue_init(&self->done);
    hone_status st = HONE_OK;
    self->workers = hone_calloc((size_t)slots, sizeof *self->workers);
    if (!self->workers) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "builder");
    for (int32_t i = 0; !st && i < slots; i++) {
        self->workers[i].fd = self->workers[i].log_fd = -1;
        hone_held_init(&self->workers[i].held);
    }
    if (!st) st = find_worker(options->worker_path, &self->worker_path);
    if (!st && strchr(self->worker_path, '/') && !hone_fs_exists(self->worker_path)) {
        st = HONE_ERROR(HONE_CODE_NOT_FOUND, "there is no worker program '%s'", self->worker_path);
    }
    if (!st) st = open_fds(self);
    if (st) {
        hone_builder_release(&self->base);
        return st;
    }
    *out_builder = &self->base;
    return HONE_OK;
}
