/* tools/serve/serve_maker.c - see serve_maker.h. */
#include "tools/serve/serve_maker.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/data/hash.h"
#include "support/os/clock.h"
#include "support/os/thread.h"

enum { BREAKS_BETWEEN = 4, PATIENCE_MS = 300, MOST_SOURCES = 8 };

struct hone_serve_maker {
    hone_report_source sources[MOST_SOURCES]; /* the thread's */
    size_t count;
    hone_thread thread;
    int asked_fd, made_fd; /* events to the thread, and from it */
    /* what the databases were like, and when; the thread's */
    hone_hash128 seen;
    int64_t made_ns, took_ns;
    hone_mutex lock; /* of what follows */
    hone_str data;
    hone_status failure; /* of the last try; or OK */
    uint64_t tag;        /* 0: there are none yet */
    uint64_t asked, answered;
    bool stops;
};

/* ---- the data ---- */

static bool add_task(void *ctx, const hone_db_task *task) {
    hone_hasher_i64(ctx, task->trials);
    hone_hasher_i64(ctx, task->ok);
    hone_hasher_i64(ctx, task->confirmed);
    hone_hasher_i64(ctx, task->last_wall_ns);
    return true;
}

static bool add_session(void *ctx, const hone_db_session *session) {
    hone_hasher_text(ctx, session->state);
    return true;
}

/* What changes when anything does that the page shows. */
static hone_status look(const hone_serve_maker *self, hone_hash128 *out_seen) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    for (size_t i = 0; i < self->count; i++) {
        HONE_TRY(hone_db_tasks(self->sources[i].db, add_task, &hasher));
        HONE_TRY(hone_db_sessions(self->sources[i].db, NULL, add_session, &hasher));
    }
    *out_seen = hone_hasher_finish(&hasher);
    return HONE_OK;
}

static void keep(hone_serve_maker *self, hone_str *data) {
    hone_mutex_lock(&self->lock);
    hone_str old = self->data;
    self->data = *data;
    self->tag++;
    hone_mutex_unlock(&self->lock);
    *data = (hone_str){0};
    hone_str_deinit(&old);
}

static hone_status renew(hone_serve_maker *self) {
    hone_hash128 seen;
    hone_str data = {0};
    int64_t now = hone_clock_now(hone_clock_system());
    if (self->made_ns && now - self->made_ns < BREAKS_BETWEEN * self->took_ns) return HONE_OK;
    HONE_TRY(look(self, &seen));
    if (self->made_ns && hone_hash128_equal(seen, self->seen)) return HONE_OK;
    hone_status st = hone_report_data(self->sources, self->count, 0, &data);
    if (!st) {
        keep(self, &data);
        self->seen = seen;
        self->made_ns = hone_clock_now(hone_clock_system());
        self->took_ns = self->made_ns - now;
    }
    hone_str_deinit(&data);
    return st;
}

/* ---- the thread ---- */

static void send_event(int fd) {
    (void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

/* Waits for an event, and takes it; false: there was none in time. */
static bool take_event(int fd, int wait_ms) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    uint64_t ignored;
    if (poll(&poll_fd, 1, wait_ms) <= 0) return false;
    (void)!read(fd, &ignored, sizeof ignored);
    return true;
}

/* Who asked meanwhile is asked again: data may have changed since. */
static void answer(hone_serve_maker *self) {
    hone_mutex_lock(&self->lock);
    uint64_t asked = self->asked;
    hone_mutex_unlock(&self->lock);
    hone_status st = renew(self);
    hone_mutex_lock(&self->lock);
    hone_status_free(self->failure);
    self->failure = st;
    self->answered = asked;
    hone_mutex_unlock(&self->lock);
    send_event(self->made_fd);
}

static bool is_over(hone_serve_maker *self) {
    hone_mutex_lock(&self->lock);
    bool stops = self->stops;
    hone_mutex_unlock(&self->lock);
    return stops;
}

static void run(void *context) {
    hone_serve_maker *self = context;
    while (!is_over(self)) {
        answer(self);
        take_event(self->asked_fd, -1);
    }
}

/* ---- life ---- */

static hone_status start(hone_serve_maker *self) {
    self->asked_fd = eventfd(0, EFD_CLOEXEC);
    self->made_fd = eventfd(0, EFD_CLOEXEC);
    if (self->asked_fd < 0 || self->made_fd < 0)
        return HONE_ERROR(HONE_CODE_IO, "no descriptor is left");
    return hone_thread_start(&self->thread, "data", run, self);
}

hone_status hone_serve_maker_start(const hone_report_source *sources, size_t count,
                                   hone_serve_maker **out_maker) {
    *out_maker = NULL;
    hone_serve_maker *self = count <= MOST_SOURCES ? hone_calloc(1, sizeof *self) : NULL;
    if (!self) {
        for (size_t i = 0; i < count; i++)
            hone_db_close(sources[i].db);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "data of the page");
    }
    memcpy(self->sources, sources, count * sizeof *sources);
    self->count = count;
    hone_mutex_init(&self->lock);
    hone_status st = start(self);
    if (st) {
        hone_serve_maker_stop(self);
        return st;
    }
    *out_maker = self;
    return HONE_OK;
}

void hone_serve_maker_stop(hone_serve_maker *self) {
    if (!self) return;
    hone_mutex_lock(&self->lock);
    self->stops = true;
    hone_mutex_unlock(&self->lock);
    if (self->asked_fd >= 0) send_event(self->asked_fd);
    hone_thread_join(&self->thread);
    for (size_t i = 0; i < self->count; i++)
        hone_db_close(self->sources[i].db);
    if (self->asked_fd >= 0) close(self->asked_fd);
    if (self->made_fd >= 0) close(self->made_fd);
    hone_mutex_deinit(&self->lock);
    hone_status_free(self->failure);
    hone_str_deinit(&self->data);
    hone_free(self);
}

/* ---- asking ---- */

/* Has it look; the number of the question. */
static uint64_t ask(hone_serve_maker *self) {
    hone_mutex_lock(&self->lock);
    uint64_t number = ++self->asked;
    hone_mutex_unlock(&self->lock);
    send_event(self->asked_fd);
    return number;
}

static bool is_answered(hone_serve_maker *self, uint64_t number, bool *out_has_data) {
    hone_mutex_lock(&self->lock);
    bool is_done = self->answered >= number;
    *out_has_data = self->tag != 0;
    hone_mutex_unlock(&self->lock);
    return is_done;
}

static void wait_for(hone_serve_maker *self, uint64_t number) {
    bool has_data = false;
    const hone_clock *clock = hone_clock_system();
    int64_t end_ns = hone_deadline_after(clock, PATIENCE_MS * HONE_NS_PER_MS);
    while (!is_answered(self, number, &has_data)) {
        int64_t left_ms = (end_ns - hone_clock_now(clock)) / HONE_NS_PER_MS;
        if (has_data && left_ms <= 0) return;
        take_event(self->made_fd, has_data ? (int)left_ms : -1);
    }
}

static hone_status put(const hone_serve_maker *self, const char *tag, hone_str *out_tag,
                       hone_str *out_data) {
    char now[24];
    if (self->failure) {
        return HONE_ERROR(hone_status_code(self->failure), "%s",
                          hone_status_message(self->failure));
    }
    snprintf(now, sizeof now, "%" PRIu64, self->tag);
    hone_str_append(out_tag, now);
    if (!tag || strcmp(tag, now) != 0)
        hone_str_append_n(out_data, self->data.data, self->data.length);
    hone_status st = hone_str_check(out_tag);
    return st ? st : hone_str_check(out_data);
}

hone_status hone_serve_maker_put(hone_serve_maker *self, const char *tag, hone_str *out_tag,
                                 hone_str *out_data) {
    wait_for(self, ask(self));
    hone_mutex_lock(&self->lock);
    hone_status st = put(self, tag, out_tag, out_data);
    hone_mutex_unlock(&self->lock);
    return st;
}
