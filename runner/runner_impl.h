/* runner/runner_impl.h - for backends only; everybody else includes runner.h. */
#ifndef HONE_RUNNER_RUNNER_IMPL_H
#define HONE_RUNNER_RUNNER_IMPL_H

#include "runner/runner.h"

/* The backends: rows of runners.def. */
typedef enum hone_runner_kind {
#define HONE_RUNNER(id, name, facts) HONE_RUNNER_##id,
#include "runner/runners.def"
#undef HONE_RUNNER
} hone_runner_kind;

/* The dispatcher has checked arguments, cleared outputs and counts what is in flight. A backend
 * answers every request that it took exactly once. */
typedef struct hone_runner_vtable {
    void (*destroy)(hone_runner *self);
    hone_status (*submit)(hone_runner *self, const hone_run_request *request, hone_ticket ticket);
    hone_status (*next_result)(hone_runner *self, int64_t deadline_ns, hone_ticket *out_ticket,
                               hone_run_result *out_result);
    int (*fd)(const hone_runner *self);
    hone_status (*tend)(hone_runner *self);       /* NULL: nothing to do */
    const char *(*note)(const hone_runner *self); /* NULL: none */
    void (*cancel_all)(hone_runner *self);
} hone_runner_vtable;

struct hone_runner {
    hone_runner_kind kind;
    const hone_runner_vtable *vtable;
    int32_t slots, queue_depth, in_flight;
    bool times_here; /* by its row; a backend knows better of what it runs on */
    hone_ticket last_ticket;
};

/* Fills in the base of a backend. queue_depth: how many requests it takes at once. */
void hone_runner_init(hone_runner *runner, hone_runner_kind kind, const hone_runner_vtable *vtable,
                      int32_t slots, int32_t queue_depth);

#endif
