/* tuner/loop/side_thread.h - one thread that does one piece of work at a time, beside a loop.
 *
 * The owner hands it work, polls the descriptor, and takes the work back when it is done. Between
 * begin and take (or wait) what the work uses belongs to the side thread; otherwise to the owner.
 * Lifetime: init/deinit; deinit waits for what is under way. Threads: one owner.
 */
#ifndef HONE_TUNER_SIDE_THREAD_H
#define HONE_TUNER_SIDE_THREAD_H

#include <stdbool.h>

#include "support/core/status.h"
#include "support/os/thread.h"

typedef struct hone_side_thread {
    hone_thread thread;
    hone_mutex mutex;
    hone_cond changed;
    void (*work)(void *context);
    void *context;
    bool has_work, is_done, is_ending;
    int fd; /* an eventfd: readable when the work is done */
} hone_side_thread;

/* Starts the thread; `work` is what it does whenever it is asked to. Zeroed storage may be given
 * to deinit. IO, UNAVAILABLE: no descriptor or no thread to be had. */
HONE_NODISCARD hone_status hone_side_thread_init(hone_side_thread *side, const char *name,
                                                 void (*work)(void *context), void *context);
void hone_side_thread_deinit(hone_side_thread *side);

void hone_side_thread_begin(hone_side_thread *side); /* no work may be under way */
/* True when the work that was begun is done; it is then the owner's again. */
bool hone_side_thread_take(hone_side_thread *side);

#endif
