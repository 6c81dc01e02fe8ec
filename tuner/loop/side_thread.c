/* tuner/loop/side_thread.c - a thread, and the hand-over of one piece of work. */
#include "tuner/loop/side_thread.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/os/proc.h"

static void signal_done(int fd) {
    uint64_t one = 1;
    ssize_t ignored = write(fd, &one, sizeof one);
    (void)ignored; /* it can only be full, and then it is readable */
}

static void run(void *context) {
    hone_side_thread *side = context;
    hone_mutex_lock(&side->mutex);
    for (;;) {
        while (!side->has_work && !side->is_ending)
            hone_cond_wait(&side->changed, &side->mutex);
        if (!side->has_work) break;
        hone_mutex_unlock(&side->mutex);
        side->work(side->context);
        hone_mutex_lock(&side->mutex);
        side->has_work = false;
        side->is_done = true;
        signal_done(side->fd);
    }
    hone_mutex_unlock(&side->mutex);
}

hone_status hone_side_thread_init(hone_side_thread *side, const char *name,
                                  void (*work)(void *context), void *context) {
    *side = (hone_side_thread){.work = work, .context = context};
    side->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (side->fd < 0) return HONE_ERROR(HONE_CODE_IO, "eventfd: %s", strerror(errno));
    hone_mutex_init(&side->mutex);
    hone_cond_init(&side->changed);
    hone_status st = hone_thread_start(&side->thread, name, run, side);
    if (!st) return HONE_OK;
    hone_cond_deinit(&side->changed);
    hone_mutex_deinit(&side->mutex);
    hone_fd_close(&side->fd);
    *side = (hone_side_thread){0};
    return st;
}

void hone_side_thread_deinit(hone_side_thread *side) {
    if (!side->work) return;
    hone_mutex_lock(&side->mutex);
    side->is_ending = true;
    hone_cond_signal(&side->changed);
    hone_mutex_unlock(&side->mutex);
    hone_thread_join(&side->thread);
    hone_cond_deinit(&side->changed);
    hone_mutex_deinit(&side->mutex);
    hone_fd_close(&side->fd);
    *side = (hone_side_thread){0};
}

void hone_side_thread_begin(hone_side_thread *side) {
    hone_mutex_lock(&side->mutex);
    assert(!side->has_work && !side->is_done);
    side->has_work = true;
    hone_cond_signal(&side->changed);
    hone_mutex_unlock(&side->mutex);
}

bool hone_side_thread_take(hone_side_thread *side) {
    hone_mutex_lock(&side->mutex);
    bool is_done = side->is_done;
    side->is_done = false;
    if (is_done) {
        uint64_t count;
        ssize_t ignored = read(side->fd, &count, sizeof count);
        (void)ignored;
    }
    hone_mutex_unlock(&side->mutex);
    return is_done;
}
