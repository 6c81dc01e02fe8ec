/* measure/run.c - requests and results as values: defaults, checks, copies, statistics. */
#include "measure/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/alloc.h"
#include "support/core/arena.h"
#include "support/core/number.h"

void hone_run_result_init(hone_run_result *result) {
    memset(result, 0, sizeof *result);
    result->median_ns = NAN;
    result->best_ns = NAN;
    result->spread = NAN;
    result->max_error = NAN;
    result->error_ratio = NAN;
    result->reference_ns = NAN;
    result->drift = NAN;
    result->round_trip_ns = NAN;
}

void hone_run_result_deinit(hone_run_result *result) {
    hone_free(result->outputs);
    result->outputs = NULL;
    result->output_bytes = 0;
}

void hone_run_result_fail(hone_run_result *result, hone_failure failure, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hone_vsnprintf(result->message, sizeof result->message, format, args);
    va_end(args);
    result->failure = failure;
    result->sample_count = 0;
    hone_run_result_summarize(result);
}

bool hone_run_is_time(double ns) {
    return isfinite(ns) && ns >= HONE_RUN_LEAST_NS;
}

const char *hone_run_result_problem(const hone_run_result *result, bool wants_time) {
    const hone_run_times *t = &result->times;
    if (t->queue_ns < 0 || t->transfer_ns < 0 || t->load_ns < 0 || t->check_ns < 0 ||
        t->wait_ns < 0 || t->measure_ns < 0) {
        return "a step that took less than no time";
    }
    if (result->failure != HONE_FAILURE_NONE) return NULL;
    if (wants_time && result->sample_count < 1) return "a success without a time";
    for (int32_t i = 0; i < result->sample_count; i++) {
        if (!hone_run_is_time(result->samples_ns[i])) return "a time that no kernel can take";
    }
    return result->error_ratio > 1 ? "a success with an error beyond the bound" : NULL;
}

bool hone_run_request_wants_time(const hone_run_request *request) {
    return !request->want_outputs && !request->skip_timing;
}

void hone_run_result_summarize(hone_run_result *result) {
    size_t count = result->sample_count > 0 ? (size_t)result->sample_count : 0;
    result->median_ns = hone_stat_median(result->samples_ns, count);
    result->spread = hone_stat_spread(result->samples_ns, count);
    result->best_ns = count ? result->samples_ns[0] : NAN;
    for (size_t i = 1; i < count; i++) {
        if (result->samples_ns[i] < result->best_ns) result->best_ns = result->samples_ns[i];
    }
}

hone_timing_policy hone_timing_policy_defaults(const hone_timing_policy *policy) {
    hone_timing_policy p = *policy;
    if (p.min_repeat_ns <= 0) p.min_repeat_ns = 20 * HONE_RUN_NS_PER_MS;
    if (p.min_sample_ns <= 0) p.min_sample_ns = HONE_RUN_NS_PER_MS / 10;
    if (p.max_samples <= 0) p.max_samples = 32;
    if (p.max_samples > HONE_RUN_MAX_SAMPLES) p.max_samples = HONE_RUN_MAX_SAMPLES;
    if (p.min_samples <= 0) p.min_samples = 3;
    if (p.min_samples > p.max_samples) p.min_samples = p.max_samples;
    if (!(p.incumbent_ns > 0)) p.incumbent_ns = 0;
    if (!(p.slow_ratio > 1)) p.slow_ratio = 3;
    return p;
}

hone_status hone_run_request_check(const hone_run_request *request) {
    if (!request->artifact_path && !request->artifact_byte_count) {
        return HONE_ERROR(HONE_CODE_INVALID, "run request has neither an artifact path nor bytes");
    }
    if (request->threads < 0 || request->threads > 1024) {
        return HONE_ERROR(HONE_CODE_INVALID, "threads is %d, must be 1 to 1024", request->threads);
    }
    if (request->timeout_ns < 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "timeout_ns is negative");
    }
    for (size_t i = 0; i < request->distance_count; i++) {
        if (request->distances[i] >= 0) continue;
        return HONE_ERROR(HONE_CODE_INVALID, "the distance of argument %zu is negative", i);
    }
    if ((unsigned)request->cache > HONE_CACHE_MODEL) {
        return HONE_ERROR(HONE_CODE_INVALID, "cache state %d is unknown", (int)request->cache);
    }
    return hone_manifest_check(&request->manifest);
}

static bool copy_text(hone_arena *arena, const char **text) {
    if (!*text) return true;
    *text = hone_arena_strdup(arena, *text);
    return *text != NULL;
}

static bool copy_bytes(hone_arena *arena, const void **bytes, size_t count) {
    if (!count) {
        *bytes = NULL;
        return true;
    }
    void *copy = hone_arena_alloc(arena, count);
    if (copy) memcpy(copy, *bytes, count);
    *bytes = copy;
    return copy != NULL;
}

static bool copy_launches(hone_arena *arena, hone_manifest *m) {
    const void *values = m->values, *scratch = m->scratch;
    hone_launch *own = hone_arena_zalloc(arena, (m->launch_count + 1) * sizeof *own);
    if (!own || !copy_bytes(arena, &values, m->value_count * sizeof *m->values) ||
        !copy_bytes(arena, &scratch, m->scratch_count * sizeof *m->scratch)) {
        return false;
    }
    for (size_t i = 0; i < m->launch_count; i++) {
        own[i] = m->launches[i];
        const void *args = own[i].args;
        if (!copy_text(arena, &own[i].symbol) ||
            !copy_bytes(arena, &args, own[i].arg_count * sizeof *own[i].args)) {
            return false;
        }
        own[i].args = args;
    }
    m->values = values;
    m->scratch = scratch;
    m->launches = own;
    return true;
}

static bool copy_manifest(hone_arena *arena, hone_manifest *m) {
    const void *sizes = m->sizes;
    if (!copy_text(arena, &m->entry) || !copy_text(arena, &m->target) ||
        !copy_bytes(arena, &sizes, m->size_count * sizeof *m->sizes)) {
        return false;
    }
    hone_arg *own_args = NULL;
    if (m->arg_count) {
        own_args = hone_arena_alloc(arena, m->arg_count * sizeof *own_args);
        if (!own_args) return false;
        memcpy(own_args, m->args, m->arg_count * sizeof *own_args);
        for (size_t i = 0; i < m->arg_count; i++) {
            if (!copy_text(arena, &own_args[i].name)) return false;
        }
    }
    m->args = own_args;
    m->sizes = sizes;
    const char **externs = NULL;
    if (m->extern_count) {
        externs = hone_arena_alloc(arena, m->extern_count * sizeof *externs);
        if (!externs) return false;
        for (size_t i = 0; i < m->extern_count; i++) {
            externs[i] = m->externs[i];
            if (!copy_text(arena, &externs[i])) return false;
        }
    }
    m->externs = externs;
    return copy_launches(arena, m);
}

hone_status hone_run_request_copy(const hone_run_request *request, struct hone_arena *arena,
                                  hone_run_request *out_copy) {
    *out_copy = *request;
    const void *bytes = request->artifact_bytes, *distances = request->distances;
    if (!copy_text(arena, &out_copy->artifact_path) ||
        !copy_bytes(arena, &bytes, request->artifact_byte_count) ||
        !copy_bytes(arena, &distances, request->distance_count * sizeof *request->distances) ||
        !copy_text(arena, &out_copy->check_path) || !copy_text(arena, &out_copy->extern_path) ||
        !copy_text(arena, &out_copy->device) || !copy_manifest(arena, &out_copy->manifest)) {
        memset(out_copy, 0, sizeof *out_copy);
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "copying a run request");
    }
    out_copy->artifact_bytes = bytes;
    out_copy->distances = distances;
    return HONE_OK;
}
