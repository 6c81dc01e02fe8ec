/* runner/runner_simulated.c - turns the facts in a request into a result, in virtual time.
 *
 * Devices work side by side; each takes the oldest waiting request when it is free. Time passes
 * only in next_result, which jumps to the earliest completion (ties: the lower ticket). So results
 * depend on the requests and their order alone.
 */
#include <assert.h>
#include <math.h>

#include "runner/runner_impl.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"

#define QUEUE_DEPTH 1024
#define SAMPLES 5

typedef struct flight {
    hone_ticket ticket; /* 0 = free entry */
    int64_t submitted_ns, start_ns, done_ns;
    hone_simulated_facts facts;
    bool cancelled;
} flight;

typedef struct runner_simulated {
    hone_runner base;
    int64_t now_ns;
    int64_t *device_free_ns; /* one per slot; owned */
    flight *flights;         /* queue_depth entries; owned */
} runner_simulated;

static runner_simulated *as_simulated(hone_runner *base) {
    return (runner_simulated *)base;
}

static void simulated_destroy(hone_runner *base) {
    runner_simulated *self = as_simulated(base);
    hone_free(self->device_free_ns);
    hone_free(self->flights);
    hone_free(self);
}

static hone_status simulated_submit(hone_runner *base, const hone_run_request *request,
                                    hone_ticket ticket) {
    runner_simulated *self = as_simulated(base);
    flight *f = self->flights;
    while (f->ticket)
        f++; /* the dispatcher keeps us below queue_depth */
    int32_t device = 0;
    for (int32_t i = 1; i < base->slots; i++) {
        if (self->device_free_ns[i] < self->device_free_ns[device]) device = i;
    }
    int64_t free_ns = self->device_free_ns[device];
    int64_t latency = request->simulated.latency_ns > 0 ? request->simulated.latency_ns : 0;
    int64_t start = free_ns > self->now_ns ? free_ns : self->now_ns;
    if (latency > INT64_MAX - start) latency = INT64_MAX - start;
    *f = (flight){.ticket = ticket,
                  .submitted_ns = self->now_ns,
                  .start_ns = start,
                  .done_ns = start + latency,
                  .facts = request->simulated};
    self->device_free_ns[device] = f->done_ns;
    return HONE_OK;
}

/* Irwin-Hall: twelve uniforms make a standard normal without a transcendental function, so that
 * the bits are the same with every libm. */
static double normal(hone_rng *rng) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += hone_rng_uniform(rng);
    return sum;
}

static void make_times(const hone_simulated_facts *facts, hone_run_result *result) {
    hone_rng rng = hone_rng_from_seed(facts->noise_seed);
    result->sample_count = SAMPLES;
    result->batch = 1;
    for (int i = 0; i < SAMPLES; i++) {
        double factor = 1 + facts->noise * normal(&rng);
        result->samples_ns[i] = facts->cost_ns * (factor > 0.01 ? factor : 0.01);
    }
    result->checked = true;
    result->max_error = 0;
    result->error_ratio = 0;
    result->drift = 1;
    hone_run_result_summarize(result);
}

static hone_status simulated_next_result(hone_runner *base, int64_t deadline_ns,
                                         hone_ticket *out_ticket, hone_run_result *out_result) {
    runner_simulated *self = as_simulated(base);
    (void)deadline_ns; /* real time: virtual time never makes anybody wait */
    flight *first = NULL;
    for (int32_t i = 0; i < base->queue_depth; i++) {
        flight *f = &self->flights[i];
        if (!f->ticket) continue;
        if (!first || f->done_ns < first->done_ns ||
            (f->done_ns == first->done_ns && f->ticket < first->ticket)) {
            first = f;
        }
    }
    assert(first);
    if (first->done_ns > self->now_ns) self->now_ns = first->done_ns;
    *out_ticket = first->ticket;
    out_result->times.queue_ns = first->start_ns - first->submitted_ns;
    out_result->times.measure_ns = first->done_ns - first->start_ns;
    out_result->executor = 1;
    if (first->cancelled) {
        hone_run_result_fail(out_result, HONE_FAILURE_CANCELLED, "cancelled");
    } else if (first->facts.failure != HONE_FAILURE_NONE) {
        hone_run_result_fail(out_result, first->facts.failure, "simulated %s",
                             hone_failure_name(first->facts.failure));
    } else {
        make_times(&first->facts, out_result);
    }
    first->ticket = 0;
    return HONE_OK;
}

static int simulated_fd(const hone_runner *base) {
    (void)base;
    return -1;
}

static void simulated_cancel_all(hone_runner *base) {
    runner_simulated *self = as_simulated(base);
    for (int32_t i = 0; i < base->queue_depth; i++) {
        flight *f = &self->flights[i];
        if (!f->ticket) continue;
        f->cancelled = true;
        if (f->start_ns > self->now_ns) f->start_ns = self->now_ns;
        if (f->done_ns > self->now_ns) f->done_ns = self->now_ns;
    }
    for (int32_t i = 0; i < base->slots; i++)
        self->device_free_ns[i] = self->now_ns;
}

static const hone_runner_vtable simulated_vtable = {
    .destroy = simulated_destroy,
    .submit = simulated_submit,
    .next_result = simulated_next_result,
    .fd = simulated_fd,
    .cancel_all = simulated_cancel_all,
};

hone_status hone_runner_create_simulated(const hone_runner_simulated_options *options,
                                         hone_runner **out_runner) {
    static const hone_runner_simulated_options defaults;
    if (!options) options = &defaults;
    *out_runner = NULL;
    runner_simulated *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "simulated runner");
    hone_runner_init(&self->base, HONE_RUNNER_SIMULATED, &simulated_vtable,
                     options->slots > 0 ? options->slots : 1,
                     options->queue_depth > 0 ? options->queue_depth : QUEUE_DEPTH);
    self->now_ns = options->start_ns;
    self->device_free_ns = hone_calloc((size_t)self->base.slots, sizeof *self->device_free_ns);
    self->flights = hone_calloc((size_t)self->base.queue_depth, sizeof *self->flights);
    if (!self->device_free_ns || !self->flights) {
        simulated_destroy(&self->base);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "simulated runner");
    }
    for (int32_t i = 0; i < self->base.slots; i++)
        self->device_free_ns[i] = self->now_ns;
    *out_runner = &self->base;
    return HONE_OK;
}

int64_t hone_runner_simulated_now(const hone_runner *runner) {
    assert(runner->vtable == &simulated_vtable);
    return ((const runner_simulated *)runner)->now_ns;
}
