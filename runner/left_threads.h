/* runner/left_threads.h - whether threads that an earlier candidate left compute on, beside the one
 * that is judged now and would be slower for them.
 *
 * Threads of a library that wait for their next work in a loop stop that after a moment; those are
 * no matter.
 */
#ifndef HONE_RUNNER_LEFT_THREADS_H
#define HONE_RUNNER_LEFT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* CPU time of all threads of this process but the calling one, those included that have ended. */
int64_t hone_other_threads_ns(void);

/* since_ns: what hone_other_threads_ns said when the last candidate was done with, which had
 * `threads`, as far as this process gave them. Takes some milliseconds where something may be
 * wrong, else no time. */
bool hone_threads_were_left(int64_t since_ns, int32_t threads);

#endif
