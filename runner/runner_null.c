/* runner/runner_null.c - answers at once, with a fixed outcome. The skeleton to copy. */
#include "runner/runner_impl.h"
#include "support/core/alloc.h"

#define QUEUE_DEPTH 1024

typedef struct runner_null {
    hone_runner base; /* first: a runner_null * is an hone_runner * */
    hone_failure failure;
    hone_ticket answered; /* requests are answered in order */
} runner_null;

static void null_destroy(hone_runner *base) {
    hone_free(base);
}

static hone_status null_submit(hone_runner *base, const hone_run_request *request,
                               hone_ticket ticket) {
    (void)base;
    (void)request;
    (void)ticket;
    return HONE_OK;
}

static hone_status null_next_result(hone_runner *base, int64_t deadline_ns, hone_ticket *out_ticket,
                                    hone_run_result *out_result) {
    runner_null *self = (runner_null *)base;
    (void)deadline_ns;
    *out_ticket = ++self->answered;
    if (self->failure != HONE_FAILURE_NONE) {
        hone_run_result_fail(out_result, self->failure, "the null runner runs nothing");
    }
    return HONE_OK;
}

static int null_fd(const hone_runner *base) {
    (void)base;
    return -1;
}

static void null_cancel_all(hone_runner *base) {
    (void)base; /* the answers are there already */
}

static const hone_runner_vtable null_vtable = {
    .destroy = null_destroy,
    .submit = null_submit,
    .next_result = null_next_result,
    .fd = null_fd,
    .cancel_all = null_cancel_all,
};

hone_status hone_runner_create_null(hone_failure failure, hone_runner **out_runner) {
    *out_runner = NULL;
    runner_null *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "null runner");
    hone_runner_init(&self->base, HONE_RUNNER_NULL, &null_vtable, 1, QUEUE_DEPTH);
    self->failure = failure;
    *out_runner = &self->base;
    return HONE_OK;
}
