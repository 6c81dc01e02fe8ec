/* support/os/thread.c - see thread.h. */
#include "support/os/thread.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "support/core/alloc.h"

/* Lock calls fail only when they are used wrongly. */
static void must(int error) {
    assert(error == 0);
    (void)error;
}

void hone_mutex_init(hone_mutex *mutex) {
    must(pthread_mutex_init(&mutex->native, NULL));
}

void hone_mutex_deinit(hone_mutex *mutex) {
    must(pthread_mutex_destroy(&mutex->native));
}

void hone_mutex_lock(hone_mutex *mutex) {
    must(pthread_mutex_lock(&mutex->native));
}

void hone_mutex_unlock(hone_mutex *mutex) {
    must(pthread_mutex_unlock(&mutex->native));
}

void hone_cond_init(hone_cond *cond) {
    must(pthread_cond_init(&cond->native, NULL));
}

void hone_cond_deinit(hone_cond *cond) {
    must(pthread_cond_destroy(&cond->native));
}

void hone_cond_wait(hone_cond *cond, hone_mutex *mutex) {
    must(pthread_cond_wait(&cond->native, &mutex->native));
}

void hone_cond_signal(hone_cond *cond) {
    must(pthread_cond_signal(&cond->native));
}

typedef struct start_args {
    void (*run)(void *context);
    void *context;
    char name[16]; /* what the kernel keeps */
} start_args;

static void *thread_main(void *opaque) {
    start_args args = *(start_args *)opaque;
    hone_free(opaque);
    pthread_setname_np(pthread_self(), args.name);
    args.run(args.context);
    return NULL;
}

/* Signals go to the thread that main chose: the child inherits a mask that blocks them all. */
static int create_masked(pthread_t *out_thread, start_args *args) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(out_thread, NULL, thread_main, args);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

hone_status hone_thread_start(hone_thread *out_thread, const char *name, void (*run)(void *context),
                              void *context) {
    *out_thread = (hone_thread){.is_running = false};
    start_args *args = hone_malloc(sizeof *args);
    if (!args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "thread '%s'", name);
    *args = (start_args){.run = run, .context = context};
    snprintf(args->name, sizeof args->name, "%.15s", name);
    int error = create_masked(&out_thread->native, args);
    if (error) {
        hone_free(args);
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "cannot start thread '%s': %s", name,
                          strerror(error));
    }
    out_thread->is_running = true;
    return HONE_OK;
}

void hone_thread_join(hone_thread *thread) {
    if (!thread->is_running) return;
    must(pthread_join(thread->native, NULL));
    thread->is_running = false;
}

int hone_thread_cpu_count(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}
