/* support/os/thread.h - threads, mutexes, conditions (POSIX threads behind one header).
 *
 * Locks are values in the caller's storage. Failures of lock and unlock are programmer errors and
 * assert; only starting a thread can fail.
 */
#ifndef HONE_SUPPORT_OS_THREAD_H
#define HONE_SUPPORT_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "support/core/attributes.h"
#include "support/core/status.h"

typedef struct hone_mutex {
    pthread_mutex_t native;
} hone_mutex;

void hone_mutex_init(hone_mutex *mutex);
void hone_mutex_deinit(hone_mutex *mutex);
void hone_mutex_lock(hone_mutex *mutex);
void hone_mutex_unlock(hone_mutex *mutex);

typedef struct hone_cond {
    pthread_cond_t native;
} hone_cond;

void hone_cond_init(hone_cond *cond);
void hone_cond_deinit(hone_cond *cond);
void hone_cond_wait(hone_cond *cond, hone_mutex *mutex);
void hone_cond_signal(hone_cond *cond);

typedef struct hone_thread {
    pthread_t native;
    bool is_running;
} hone_thread;

/* Starts a thread with all signals blocked. `name` (at most 15 bytes count) shows in debuggers.
 * UNAVAILABLE: no more threads. */
HONE_NODISCARD hone_status hone_thread_start(hone_thread *out_thread, const char *name,
                                             void (*run)(void *context), void *context);
/* Waits for its end; {0} and a second call are allowed. */
void hone_thread_join(hone_thread *thread);

/* The number of CPUs this process may use; at least 1. */
int hone_thread_cpu_count(void);

#endif
