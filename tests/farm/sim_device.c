/* tests/farm/sim_device.c - see sim_device.h. */
#include "tests/farm/sim_device.h"

#include <assert.h>
#include <string.h>

#include "runner/runner_impl.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"

typedef struct sim_device {
    hone_runner base; /* first */
    const hone_clock *clock;
    sim_device_counts *counts;
    hone_ticket ticket; /* 0: idle */
    int64_t end_ns;
    hone_run_result result;
} sim_device;

const uint8_t *sim_content(uint32_t file, size_t *out_count) {
    enum { MOST = 2 * SIM_CHUNK_BYTES + 301 }; /* small: farms are many, and all copy them */
    static const size_t sizes[SIM_FILES] = {1, 300, 500, 800, SIM_CHUNK_BYTES, MOST};
    static uint8_t contents[SIM_FILES][MOST]; /* every trial compares one: made once */
    static bool is_made[SIM_FILES];
    assert(file < SIM_FILES);
    *out_count = sizes[file];
    for (size_t i = 0; !is_made[file] && i < sizes[file]; i++)
        contents[file][i] = (uint8_t)(file * 37 + i * 7 + (i >> 8));
    is_made[file] = true;
    return contents[file];
}

uint32_t sim_file_of(uint64_t seed) {
    uint64_t pick = hone_hash_mix(seed) % 32; /* the large ones are of several chunks: seldom */
    return (uint32_t)(pick < SIM_FILES ? pick : pick % (SIM_FILES - 2));
}

double sim_time_of(uint64_t seed) {
    return 1000.0 + (double)(hone_hash_mix(seed + 1) % 1000000);
}

/* Is the file the one that the tuner meant? */
static bool is_right_file(const hone_run_request *request) {
    char *got = NULL;
    size_t got_count = 0, count = 0;
    hone_status st = hone_fs_read(request->artifact_path, 1 << 20, &got, &got_count);
    const uint8_t *want = sim_content(sim_file_of(request->seed), &count);
    bool ok = !st && got_count == count && memcmp(got, want, count) == 0;
    hone_status_free(st);
    hone_free(got);
    return ok;
}

static hone_status device_submit(hone_runner *base, const hone_run_request *request,
                                 hone_ticket ticket) {
    sim_device *self = (sim_device *)base;
    assert(!self->ticket); /* one at a time */
    self->ticket = ticket;
    self->counts->started++;
    self->end_ns = hone_clock_now(self->clock) + request->simulated.latency_ns;
    hone_run_result_init(&self->result);
    if (!is_right_file(request)) {
        hone_run_result_fail(&self->result, HONE_FAILURE_WRONG_RESULT, "the file is another one");
    } else if (request->simulated.failure) {
        hone_run_result_fail(&self->result, request->simulated.failure, "as simulated");
    } else {
        self->result.samples_ns[0] = sim_time_of(request->seed);
        self->result.sample_count = 1;
        hone_run_result_summarize(&self->result);
    }
    return HONE_OK;
}

static hone_status device_next_result(hone_runner *base, int64_t deadline_ns,
                                      hone_ticket *out_ticket, hone_run_result *out_result) {
    sim_device *self = (sim_device *)base;
    (void)deadline_ns;
    if (self->end_ns > hone_clock_now(self->clock)) {
        return HONE_ERROR(HONE_CODE_TIMEOUT, "not done yet");
    }
    *out_result = self->result;
    *out_ticket = self->ticket;
    self->ticket = 0;
    self->counts->ended++;
    return HONE_OK;
}

static void device_cancel_all(hone_runner *base) {
    sim_device *self = (sim_device *)base;
    if (!self->ticket || self->end_ns <= hone_clock_now(self->clock)) return;
    self->end_ns = hone_clock_now(self->clock);
    hone_run_result_fail(&self->result, HONE_FAILURE_CANCELLED, "cancelled");
}

static int device_fd(const hone_runner *base) {
    (void)base;
    return -1;
}

static void device_destroy(hone_runner *base) {
    hone_free(base);
}

int64_t sim_device_next_ns(const hone_runner *runner) {
    const sim_device *self = (const sim_device *)runner;
    return self->ticket ? self->end_ns : HONE_DEADLINE_NEVER;
}

hone_status sim_device_create(const hone_clock *clock, sim_device_counts *counts,
                              hone_runner **out_runner) {
    static const hone_runner_vtable vtable = {
        .destroy = device_destroy,
        .submit = device_submit,
        .next_result = device_next_result,
        .fd = device_fd,
        .cancel_all = device_cancel_all,
    };
    sim_device *self = hone_calloc(1, sizeof *self);
    *out_runner = NULL;
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "device");
    hone_runner_init(&self->base, HONE_RUNNER_SIMULATED, &vtable, 1, 1);
    self->clock = clock;
    self->counts = counts;
    *out_runner = &self->base;
    return HONE_OK;
}
