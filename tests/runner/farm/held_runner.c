/* tests/runner/farm/held_runner.c - one request at a time, in no hurry. */
#include "tests/runner/farm/held_runner.h"

#include "runner/runner_impl.h"
#include "support/core/alloc.h"
#include "support/core/arena.h"

typedef struct held_runner {
    hone_runner base; /* first */
    hone_arena *arena;
    hone_run_request request;
    hone_ticket ticket; /* 0: idle */
    bool is_done;
    hone_run_result result;
    int started;
} held_runner;

static held_runner *as_held(hone_runner *base) {
    return (held_runner *)base;
}

static void held_destroy(hone_runner *base) {
    hone_run_result_deinit(&as_held(base)->result);
    hone_arena_destroy(as_held(base)->arena);
    hone_free(base);
}

static hone_status held_submit(hone_runner *base, const hone_run_request *request,
                               hone_ticket ticket) {
    held_runner *self = as_held(base);
    hone_arena_reset(self->arena);
    HONE_TRY(hone_run_request_copy(request, self->arena, &self->request));
    self->ticket = ticket;
    self->is_done = false;
    hone_run_result_init(&self->result);
    self->started++;
    return HONE_OK;
}

static hone_status held_next_result(hone_runner *base, int64_t deadline_ns, hone_ticket *out_ticket,
                                    hone_run_result *out_result) {
    held_runner *self = as_held(base);
    (void)deadline_ns;
    if (!self->is_done) return HONE_ERROR(HONE_CODE_TIMEOUT, "still held");
    *out_ticket = self->ticket;
    *out_result = self->result;
    self->ticket = 0;
    hone_run_result_init(&self->result);
    return HONE_OK;
}

static int held_fd(const hone_runner *base) {
    (void)base;
    return -1;
}

static void held_cancel_all(hone_runner *base) {
    held_runner *self = as_held(base);
    if (!self->ticket || self->is_done) return;
    hone_run_result_fail(&self->result, HONE_FAILURE_CANCELLED, "cancelled");
    self->is_done = true;
}

static const hone_runner_vtable held_vtable = {
    .destroy = held_destroy,
    .submit = held_submit,
    .next_result = held_next_result,
    .fd = held_fd,
    .cancel_all = held_cancel_all,
};

hone_status held_runner_create(hone_runner **out_runner) {
    *out_runner = NULL;
    held_runner *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "held runner");
    hone_runner_init(&self->base, HONE_RUNNER_SIMULATED, &held_vtable, 1, 1);
    hone_run_result_init(&self->result);
    self->arena = hone_arena_create(4096);
    if (!self->arena) {
        held_destroy(&self->base);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "held runner");
    }
    *out_runner = &self->base;
    return HONE_OK;
}

const hone_run_request *held_runner_running(const hone_runner *runner) {
    const held_runner *self = (const held_runner *)runner;
    return self->ticket && !self->is_done ? &self->request : NULL;
}

int held_runner_started(const hone_runner *runner) {
    return ((const held_runner *)runner)->started;
}

void held_runner_finish(hone_runner *runner, double ns) {
    held_runner *self = as_held(runner);
    self->result.sample_count = 1;
    self->result.checked = true;
    self->result.samples_ns[0] = ns;
    hone_run_result_summarize(&self->result);
    self->is_done = true;
}

void held_runner_fail(hone_runner *runner, hone_failure failure, const char *message) {
    held_runner *self = as_held(runner);
    hone_run_result_fail(&self->result, failure, "%s", message);
    self->is_done = true;
}

void held_runner_finish_outputs(hone_runner *runner, size_t bytes) {
    held_runner *self = as_held(runner);
    self->result.outputs = hone_calloc(1, bytes);
    self->result.output_bytes = self->result.outputs ? bytes : 0;
    self->is_done = true;
}
