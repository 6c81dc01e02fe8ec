/* tuner/search/outside.h - proposals of a program of the user's (hone tune --propose): it is asked
 * and told by lines of JSON, and answers with traces (docs/tuning.md has the lines).
 *
 *   task, ask ─► program ─► trace ─► legal? ─► verdict ─► program
 *                                      └─► candidate ─► trial ─► result ─► program
 *
 * What it proposes is at most half of a batch, and is used when it is there: nobody waits for a
 * program that takes its time. One that hangs, floods, lies or dies costs its own proposals only.
 * For the tuner only. Threads: one at a time.
 */
#ifndef HONE_TUNER_OUTSIDE_H
#define HONE_TUNER_OUTSIDE_H

#include "support/os/log.h"
#include "tuner/task/tune_task.h"

typedef struct hone_outside hone_outside;

/* Starts the program with a shell. log may be NULL. */
HONE_NODISCARD hone_status hone_outside_open(const char *command, const hone_log *log,
                                             hone_outside **out);
void hone_outside_close(hone_outside *outside); /* NULL is allowed */

/* Asks for so many proposals for a task, and gives those that are there and are new and legal. */
HONE_NODISCARD hone_status hone_outside_propose(hone_outside *outside, hone_tune_task *task,
                                                hone_rng rng, uint32_t count, hone_candidate *out,
                                                uint32_t *out_count);

/* What came of a trial. */
typedef struct hone_outside_result {
    const char *outcome; /* of the database: "ok", or a failure */
    const char *message; /* or NULL */
    double time_ns, spread;
} hone_outside_result;
/* Tells of a trial, whoever proposed it. */
HONE_NODISCARD hone_status hone_outside_tell(hone_outside *outside, hone_tune_task *task,
                                             const hone_candidate *candidate,
                                             const hone_outside_result *result);

#endif
