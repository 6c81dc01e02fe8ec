/* runner/runner.c - checks arguments and clears outputs once, so that no backend has to. */
#include <assert.h>

#include "runner/runner_impl.h"

static const struct runner_row {
    const char *name;
    uint32_t facts;
} rows[] = {
#define HONE_RUNNER(id, name, facts) {#name, facts},
#include "runner/runners.def"
#undef HONE_RUNNER
};

void hone_runner_init(hone_runner *runner, hone_runner_kind kind, const hone_runner_vtable *vtable,
                      int32_t slots, int32_t queue_depth) {
    runner->kind = kind;
    runner->vtable = vtable;
    runner->slots = slots;
    runner->queue_depth = queue_depth;
    runner->times_here = rows[kind].facts & HONE_RUNNER_TIMES_HERE;
}

void hone_runner_destroy(hone_runner *runner) {
    if (runner) runner->vtable->destroy(runner);
}

int32_t hone_runner_slots(const hone_runner *runner) {
    return runner->slots;
}

int32_t hone_runner_in_flight(const hone_runner *runner) {
    return runner->in_flight;
}

hone_status hone_runner_submit(hone_runner *runner, const hone_run_request *request,
                               hone_ticket *out_ticket) {
    assert(runner && request && out_ticket);
    *out_ticket = 0;
    HONE_TRY(hone_run_request_check(request));
    if (runner->in_flight >= runner->queue_depth) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE,
                          "the %s runner has %d requests in flight, which is all it takes",
                          rows[runner->kind].name, runner->in_flight);
    }
    hone_ticket ticket = runner->last_ticket + 1;
    HONE_TRY(runner->vtable->submit(runner, request, ticket));
    runner->last_ticket = ticket;
    runner->in_flight++;
    *out_ticket = ticket;
    return HONE_OK;
}

hone_status hone_runner_next_result(hone_runner *runner, int64_t deadline_ns,
                                    hone_ticket *out_ticket, hone_run_result *out_result) {
    assert(runner && out_ticket && out_result);
    *out_ticket = 0;
    hone_run_result_init(out_result);
    if (runner->in_flight == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "nothing is in flight on the %s runner",
                          rows[runner->kind].name);
    }
    HONE_TRY(runner->vtable->next_result(runner, deadline_ns, out_ticket, out_result));
    assert(*out_ticket);
    runner->in_flight--;
    return HONE_OK;
}

int hone_runner_fd(const hone_runner *runner) {
    return runner->vtable->fd(runner);
}

bool hone_runner_times_here(const hone_runner *runner) {
    return runner->times_here;
}

hone_status hone_runner_tend(hone_runner *runner) {
    return runner->vtable->tend ? runner->vtable->tend(runner) : HONE_OK;
}

const char *hone_runner_note(const hone_runner *runner) {
    return runner->vtable->note ? runner->vtable->note(runner) : NULL;
}

void hone_runner_cancel_all(hone_runner *runner) {
    if (runner->in_flight) runner->vtable->cancel_all(runner);
}
