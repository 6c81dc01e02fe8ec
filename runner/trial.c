/* runner/trial.c - load, check, time. */
#include "runner/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/bound.h"
#include "runner/heap_fence.h"
#include "runner/left_threads.h"
#include "runner/operands.h"
#include "runtime/probe.h"
#include "runtime/timing.h"
#include "support/core/alloc.h"

#define DEFAULT_TIMEOUT_NS (10 * HONE_NS_PER_S)
#define ROUND_TRIP_EVERY 256 /* trials; sooner when it could not be done */

struct hone_trial_bench {
    hone_trial_options options;
    hone_operands_cache *cache;
    hone_reference_kernel reference;
    int cpus[2]; /* for the round trip probe */
    bool has_cpus;
    double round_trip_ns; /* of the last probe */
    uint32_t trials, next_probe;
    int64_t others_ns; /* of other threads, when the last trial was over */
    int32_t threads;   /* that this one had */
    /* of the running trial, for crash reports */
    const hone_run_request *request;
    hone_operands *operands;
};

/* What the steps of one trial share. */
typedef struct trial {
    hone_trial_bench *bench;
    const hone_run_request *request;
    hone_run_result *result;
    hone_operands *operands;
    hone_device_turns *turns; /* of arguments; NULL = there are none, or not now */
    hone_device_module *module;
    hone_heap_fence fence;
    int64_t first_ns; /* of the first run */
    bool has_gate, is_quiet;
} trial;

hone_status hone_trial_bench_create(const hone_trial_options *options,
                                    hone_trial_bench **out_bench) {
    *out_bench = NULL;
    hone_trial_bench *bench = hone_calloc(1, sizeof *bench);
    if (!bench) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial bench");
    bench->options = *options;
    bench->has_cpus = hone_probe_cpus(bench->cpus);
    bench->round_trip_ns = (double)NAN;
    hone_status st = hone_operands_cache_create(options->device, &bench->cache);
    if (!st && !hone_reference_kernel_init(&bench->reference)) {
        st = HONE_ERROR(HONE_CODE_NO_MEMORY, "reference kernel");
    }
    if (st) {
        hone_trial_bench_destroy(bench);
        return st;
    }
    *out_bench = bench;
    return HONE_OK;
}

void hone_trial_bench_destroy(hone_trial_bench *bench) {
    if (!bench) return;
    hone_operands_cache_destroy(bench->cache);
    hone_reference_kernel_deinit(&bench->reference);
    hone_free(bench);
}

static int64_t now(const trial *t) {
    return hone_clock_now(t->bench->options.clock);
}

static void tell(const trial *t, hone_trial_phase phase) {
    if (t->bench->options.on_phase) t->bench->options.on_phase(t->bench->options.ctx, phase);
}

/* Descriptors, memory, files and threads that there are too few of: the candidate can do nothing
 * for that. */
static bool is_machines(hone_status st) {
    hone_code code = hone_status_code(st);
    return code == HONE_CODE_IO || code == HONE_CODE_NO_MEMORY || code == HONE_CODE_UNSUPPORTED ||
           code == HONE_CODE_UNAVAILABLE;
}

/* Ends a status as a failure of the candidate, or of this machine. */
static bool failed(trial *t, hone_failure failure, hone_status st) {
    if (!st) return false;
    if (is_machines(st)) failure = HONE_FAILURE_DEVICE_LOST;
    hone_run_result_fail(t->result, failure, "%s", hone_status_message(st));
    hone_status_free(st);
    return true;
}

static const char *arg_name(const hone_run_request *request, size_t i) {
    const char *name = request->manifest.args[i].name;
    return name ? name : "";
}

/* ---- steps: each returns false when the trial is over ---- */

/* A check bundle of a later format is one that this machine cannot use. */
static hone_status get_operands(trial *t) {
    hone_status st = hone_operands_get(t->bench->cache, t->request, &t->operands);
    if (hone_status_code(st) != HONE_CODE_VERSION) return st;
    hone_status later = HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s", hone_status_message(st));
    hone_status_free(st);
    return later;
}

static bool prepare(trial *t) {
    const hone_run_request *r = t->request;
    const hone_device_artifact artifact = {r->artifact_path, r->artifact_bytes,
                                           r->artifact_byte_count, r->extern_path};
    hone_device *device = t->bench->options.device;
    hone_status st = get_operands(t);
    if (!st) st = hone_device_set_threads(device, r->threads > 0 ? r->threads : 1);
    if (!st) st = hone_device_load(device, &artifact, &r->manifest, &t->module);
    t->bench->operands = t->operands;
    /* some devices have their compilers here */
    bool is_refused = hone_status_code(st) == HONE_CODE_ILLEGAL;
    return !failed(t, is_refused ? HONE_FAILURE_BUILD_ERROR : HONE_FAILURE_LOAD_ERROR, st);
}

static int32_t run(void *ctx, int64_t count, int64_t *out_ns) {
    trial *t = ctx;
    const hone_device_launch launch = {t->module, t->operands->buffers, count, t->request->cache,
                                       t->turns};
    return hone_device_run(t->bench->options.device, &launch, out_ns);
}

static bool returned_zero(trial *t, int32_t code) {
    if (code == 0) return true;
    if (code == HONE_DEVICE_LEFT_CHANGED) {
        hone_run_result_fail(t->result, HONE_FAILURE_RUN_CRASH,
                             "the kernel left rounding, subnormal numbers or traps of the "
                             "processor otherwise than it found them");
        return false;
    }
    char said[256];
    hone_device_take_error(t->bench->options.device, said, sizeof said);
    hone_run_result_fail(t->result, hone_device_fault(t->bench->options.device),
                         "the kernel returned %d%s%s", code, said[0] ? ": " : "", said);
    t->result->return_code = code;
    return false;
}

static bool guard_holds(trial *t, size_t i, hone_device_buffer *b) {
    int64_t at = hone_device_buffer_damage(t->bench->options.device, b);
    if (at == INT64_MIN) return true;
    bool before = at < 0;
    if (at >= 0 && at < (int64_t)b->bytes) {
        hone_run_result_fail(t->result, HONE_FAILURE_RUN_CRASH,
                             "wrote into argument %zu '%s', which is read-only", i,
                             arg_name(t->request, i));
        return false;
    }
    hone_run_result_fail(
        t->result, HONE_FAILURE_RUN_CRASH, "wrote out of bounds: %lld bytes %s argument %zu '%s'",
        (long long)(before ? -at : at - (int64_t)b->bytes),
        before ? "before the beginning of" : "behind the end of", i, arg_name(t->request, i));
    return false;
}

static bool guards_hold(trial *t) {
    for (size_t i = 0; i < t->operands->count; i++)
        if (!guard_holds(t, i, t->operands->buffers[i])) return false;
    const hone_device_turns *turns = &t->operands->turns;
    for (size_t i = 0; i < turns->count; i++) {
        for (size_t k = 0; k < turns->args[i].count; k++)
            if (!guard_holds(t, i, turns->args[i].buffers[k])) return false;
    }
    return true;
}

/* Of all that the executor owns, the heap is what a candidate's own malloc lies nearest to. */
static bool heap_holds(trial *t) {
    size_t bytes = 0;
    if (hone_heap_fence_holds(&t->fence, &bytes)) return true;
    hone_run_result_fail(
        t->result, HONE_FAILURE_RUN_CRASH,
        "damaged the heap: a block of %zu bytes that is not its own was written to", bytes);
    return false;
}

static void note_error(trial *t, const hone_check_tensor *want, const hone_tensor_difference *d) {
    hone_run_result *r = t->result;
    double ratio = d->max_error == 0 ? 0 : d->max_error / want->bound;
    if (!(r->max_error >= d->max_error)) r->max_error = d->max_error; /* also when it was NAN */
    if (!(r->error_ratio >= ratio)) r->error_ratio = ratio;
}

static bool compare_one(trial *t, size_t i) {
    const hone_check_tensor *want = &t->operands->bundle.tensors[i];
    const void *got = NULL;
    hone_tensor_difference d = {.max_index = -1};
    hone_status st = hone_operands_view(t->bench->cache, t->operands, i, &got);
    if (!st) {
        st = hone_tensor_compare(want->dtype, got, want->reference_dtype, want->reference,
                                 want->count, want->bound, &d);
    }
    if (failed(t, HONE_FAILURE_WRONG_RESULT, st)) return false;
    note_error(t, want, &d);
    if (d.wrong_count == 0) return true;
    hone_run_result_fail(t->result, HONE_FAILURE_WRONG_RESULT,
                         "argument %zu '%s': element %lld is %.9g, must be %.9g within %.3g; %lld "
                         "of %lld elements are wrong",
                         i, arg_name(t->request, i), (long long)d.max_index, d.got, d.want,
                         want->bound, (long long)d.wrong_count, (long long)want->count);
    return false;
}

static bool compare(trial *t) {
    if (!t->operands->is_checked) return true;
    t->result->checked = true;
    for (size_t i = 0; i < t->operands->count; i++) {
        if (t->operands->bundle.tensors[i].role == HONE_ARG_IN) continue;
        if (!compare_one(t, i)) return false;
    }
    return true;
}

/* Without it, where it was not to be had, somebody else may be at work. */
static void take_gate(trial *t) {
    const hone_trial_options *o = &t->bench->options;
    t->is_quiet = true;
    if (!o->take_gate) return;
    tell(t, HONE_TRIAL_WAITING);
    int64_t start = now(t);
    t->is_quiet = o->take_gate(o->ctx, HONE_TRIAL_GATE_PATIENCE_NS);
    t->has_gate = true;
    t->result->times.wait_ns = now(t) - start;
    tell(t, HONE_TRIAL_RUNNING);
}

static void drop_gate(trial *t) {
    if (t->has_gate) t->bench->options.drop_gate(t->bench->options.ctx);
    t->has_gate = false;
}

/* Then this process is of no use for this candidate: it is judged in another. */
static bool give_back(trial *t) {
    hone_run_result_fail(t->result, HONE_FAILURE_LOAD_ERROR,
                         "threads of an earlier candidate are still at work");
    return false;
}

static bool is_alone(trial *t) {
    hone_trial_bench *bench = t->bench;
    bool was_left = bench->trials > 1 && hone_threads_were_left(bench->others_ns, bench->threads);
    bench->threads = t->request->threads;
    bench->others_ns = hone_other_threads_ns();
    return was_left ? give_back(t) : true;
}

/* Nobody races with a kernel of one thread that calls nobody. */
static bool is_single(const trial *t) {
    return t->request->threads <= 1 && t->request->manifest.extern_count == 0;
}

/* A kernel of one thread that calls nobody has used none but its own. */
static bool was_alone(trial *t) {
    bool is_fresh = t->bench->trials == 1 || t->bench->options.is_card;
    if (!is_single(t) || is_fresh) return true;
    return hone_threads_were_left(t->bench->others_ns, 1) ? give_back(t) : true;
}

static bool first_run(trial *t) {
    if (t->bench->options.is_card) take_gate(t);
    if (failed(t, HONE_FAILURE_LOAD_ERROR,
               hone_operands_reset(t->bench->cache, t->operands, true))) {
        return false;
    }
    if (!t->has_gate) tell(t, HONE_TRIAL_RUNNING);
    hone_heap_fence_begin(&t->fence);
    int32_t code = run(t, 1, &t->first_ns);
    return returned_zero(t, code) && guards_hold(t) && heap_holds(t) && compare(t);
}

static bool copy_outputs(trial *t) {
    const hone_manifest *m = &t->request->manifest;
    size_t total = 0;
    for (size_t i = 0; i < m->arg_count; i++) {
        if (m->args[i].role != HONE_ARG_IN) total += t->operands->buffers[i]->bytes;
    }
    t->result->outputs = hone_malloc(total ? total : 1);
    if (!t->result->outputs) {
        return !failed(t, HONE_FAILURE_LOAD_ERROR, HONE_ERROR(HONE_CODE_NO_MEMORY, "outputs"));
    }
    for (size_t i = 0; i < m->arg_count; i++) {
        if (m->args[i].role == HONE_ARG_IN) continue;
        const void *data = NULL;
        hone_status st = hone_operands_view(t->bench->cache, t->operands, i, &data);
        if (failed(t, HONE_FAILURE_LOAD_ERROR, st)) return false;
        memcpy(t->result->outputs + t->result->output_bytes, data, t->operands->buffers[i]->bytes);
        t->result->output_bytes += t->operands->buffers[i]->bytes;
    }
    return true;
}

/* Once more from the beginning: a race between threads often shows in one run out of many, and who
 * does less in later runs finds what the first one left. False when this machine could not. */
static bool last_run(trial *t, int32_t *code) {
    int64_t ns;
    if (!t->operands->is_checked) return true;
    hone_status st = hone_operands_reset(t->bench->cache, t->operands, true);
    if (failed(t, HONE_FAILURE_LOAD_ERROR, st)) return false;
    *code = run(t, 1, &ns);
    return true;
}

/* What is compared is at its own place. */
static bool end_turns(trial *t) {
    t->turns = NULL;
    return !failed(t, HONE_FAILURE_LOAD_ERROR,
                   hone_operands_end_turns(t->bench->cache, t->operands));
}

static void probe_round_trip(trial *t) {
    hone_trial_bench *bench = t->bench;
    if (!bench->has_cpus || t->request->threads < 2 || bench->trials < bench->next_probe) return;
    bench->round_trip_ns = hone_probe_round_trip(bench->cpus);
    bench->next_probe =
        bench->trials + (isnan(bench->round_trip_ns) ? ROUND_TRIP_EVERY / 8 : ROUND_TRIP_EVERY);
}

/* As in a model the first run lays out constants at many places, so its time says nothing. */
static int32_t run_second(trial *t) {
    return t->request->cache == HONE_CACHE_MODEL ? run(t, 1, &t->first_ns) : 0;
}

/* Whether the first run was the kernel and nothing else: no constants were laid out in it, and what
 * other processes did meanwhile is not in its time. */
static bool first_counts(const trial *t) {
    bool is_alike = t->request->weights == 0 || t->request->cache == HONE_CACHE_MODEL;
    return is_alike && is_single(t) && !t->bench->options.is_card;
}

/* How fast this machine is now; NAN: that says nothing of a card. */
static double reference_time(hone_trial_bench *bench) {
    return bench->options.is_card ? (double)NAN : hone_reference_kernel_time(&bench->reference);
}

static bool time_it(trial *t) {
    hone_run_result *r = t->result;
    hone_trial_bench *bench = t->bench;
    const int64_t timeout =
        t->request->timeout_ns > 0 ? t->request->timeout_ns : DEFAULT_TIMEOUT_NS;
    hone_timing_options options = {
        .policy = t->request->timing,
        .budget_ns = timeout / 2,
        .clock = bench->options.clock,
        .max_batch = t->request->cache == HONE_CACHE_COLD ? 1 : 0,
    };
    hone_status st = hone_operands_reset(bench->cache, t->operands, false);
    if (!st) st = hone_operands_take_turns(bench->cache, t->operands, t->request, &t->turns);
    if (failed(t, HONE_FAILURE_LOAD_ERROR, st)) return false;
    if (t->has_gate)
        tell(t, HONE_TRIAL_RUNNING); /* its timeout starts anew */
    else
        take_gate(t);
    int64_t start = now(t);
    probe_round_trip(t);
    double before = reference_time(bench);
    int32_t code = run_second(t);
    options.first_ns = t->first_ns;
    options.first_counts = first_counts(t);
    if (!code) code = hone_timing_measure(&options, run, t, r);
    double after = reference_time(bench);
    r->times.measure_ns = now(t) - start;
    /* who is far behind is not used: of one thread no second comparison is worth a run */
    bool is_judged = code == 0 && r->stopped_early && is_single(t);
    bool has_run = end_turns(t) && (code != 0 || is_judged || last_run(t, &code));
    drop_gate(t);
    r->reference_ns = (before + after) / 2;
    r->drift_flagged = !t->is_quiet || fabs(after / before - 1) > HONE_DRIFT_LIMIT;
    r->round_trip_ns = bench->round_trip_ns;
    has_run = has_run && returned_zero(t, code) && guards_hold(t) && heap_holds(t);
    return has_run && (is_judged || compare(t));
}

void hone_trial_run(hone_trial_bench *bench, const hone_run_request *request,
                    hone_run_result *result) {
    trial t = {.bench = bench, .request = request, .result = result};
    bench->request = request;
    bench->operands = NULL;
    bench->trials++;
    int64_t start = now(&t);
    bool ok = prepare(&t);
    int64_t loaded = now(&t);
    result->times.load_ns = loaded - start;
    ok = ok && is_alone(&t) && first_run(&t);
    if (t.module) result->times.check_ns = now(&t) - loaded - result->times.wait_ns;
    ok = ok && (!request->want_outputs || copy_outputs(&t));
    if (ok && !request->want_outputs && !request->skip_timing) ok = time_it(&t) && was_alone(&t);
    drop_gate(&t);
    hone_device_unload(bench->options.device, t.module);
    hone_heap_fence_end(&t.fence);
    bench->operands = NULL;
    bench->request = NULL;
    bench->others_ns = hone_other_threads_ns();
}

bool hone_trial_explain_address(const hone_trial_bench *bench, const void *address, char *out,
                                size_t capacity) {
    if (!bench || !bench->operands || !bench->request) return false;
    for (size_t i = 0; i < bench->operands->count; i++) {
        const hone_device_buffer *b = bench->operands->buffers[i];
        int64_t at = 0;
        if (!hone_device_buffer_contains(bench->options.device, b, address, &at)) continue;
        const char *name = arg_name(bench->request, i);
        if (at < 0) {
            snprintf(out, capacity, "%lld bytes before the beginning of argument %zu '%s'",
                     (long long)-at, i, name);
        } else if (at >= (int64_t)b->bytes) {
            snprintf(out, capacity, "%lld bytes behind the end of argument %zu '%s'",
                     (long long)(at - (int64_t)b->bytes), i, name);
        } else {
            snprintf(out, capacity, "byte %lld of argument %zu '%s', which is read-only",
                     (long long)at, i, name);
        }
        return true;
    }
    return false;
}
