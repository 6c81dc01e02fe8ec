#include <math.h>
#include <string.h>

#include "ir/structural.h"
#include "measure/failure.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "tuner/tune_impl.h"

/* Rounds: propose, build, measure, commit, fold.
 *
 *   round r:    submit builds ──► (propose round r + 1) ──► wait ──► pause builds ──► measure ──►
 * fold
 */

enum { WAIT_SLICE_NS = 100 * 1000 * 1000, MIN_TIMEOUT_S = 2, MAX_TIMEOUT_S = 20 };
#define NS_PER_S INT64_C(1000000000)

hone_stop hone_tuning_stop(const hone_tuning *t) {
    return t->options->should_stop ? t->options->should_stop(t->options->ctx) : HONE_STOP_NO;
}

/* ---- requests ---- */

hone_status hone_submit_build(hone_tuning *t, const hone_tune_task *task, const char *trace,
                              hone_arena *arena, hone_ticket *out_ticket) {
    const char *path = hone_arena_printf(arena, "%s/%llu.so", t->options->work_dir,
                                         (unsigned long long)t->artifact_number++);
    if (!path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "build request");
    hone_build_request request = {.program = task->program,
                                  .trace = trace,
                                  .target = hone_str_text(&t->target_text),
                                  .entry = "kernel",
                                  .output_path = path,
                                  .threads = t->options->target.num_threads};
    return hone_builder_submit(t->options->builder, &request, out_ticket);
}

/* Long enough for anything that could still win, short enough that a hang costs little. */
static int64_t timeout_for(double incumbent_ns) {
    double wanted = isnan(incumbent_ns) ? MAX_TIMEOUT_S * 1e9 : incumbent_ns * 1000;
    if (wanted < MIN_TIMEOUT_S * 1e9) return MIN_TIMEOUT_S * NS_PER_S;
    if (wanted > MAX_TIMEOUT_S * 1e9) return MAX_TIMEOUT_S * NS_PER_S;
    return (int64_t)wanted;
}

hone_status hone_submit_run(hone_tuning *t, const hone_tune_task *task,
                            const hone_build_result *built, const hone_candidate *candidate,
                            double incumbent_ns, hone_ticket *out_ticket) {
    hone_run_request request = {
        .artifact_path = built->artifact_path,
        .manifest = built->manifest,
        .check_path = task->check_path,
        .extern_path = t->options->extern_path,
        .threads = t->options->target.num_threads,
        .cache = t->options->cache,
        .timing = {.incumbent_ns = isnan(incumbent_ns) ? 0 : incumbent_ns},
        .timeout_ns = timeout_for(task->best_ns),
        .seed = t->options->seed,
    };
    if (t->options->simulate) {
        t->options->simulate(t->options->ctx, candidate->program, candidate->features,
                             candidate->row_count, &request.simulated);
    }
    return hone_runner_submit(t->options->runner, &request, out_ticket);
}

hone_status hone_wait_build(hone_tuning *t, hone_arena *arena, hone_ticket *ticket,
                            hone_build_result *out) {
    for (;;) {
        int64_t deadline = hone_clock_now(t->clock) + WAIT_SLICE_NS;
        hone_status st =
            hone_builder_next_result(t->options->builder, deadline, arena, ticket, out);
        if (!st || hone_status_code(st) != HONE_CODE_TIMEOUT) return st;
        hone_status_free(st);
        if (hone_tuning_stop(t) == HONE_STOP_NOW) hone_builder_cancel_all(t->options->builder);
    }
}

hone_status hone_wait_run(hone_tuning *t, hone_ticket *ticket, hone_run_result *out) {
    for (;;) {
        int64_t deadline = hone_clock_now(t->clock) + WAIT_SLICE_NS;
        hone_status st = hone_runner_next_result(t->options->runner, deadline, ticket, out);
        if (!st || hone_status_code(st) != HONE_CODE_TIMEOUT) return st;
        hone_status_free(st);
        if (hone_tuning_stop(t) == HONE_STOP_NOW) hone_runner_cancel_all(t->options->runner);
    }
}

/* ---- proposing ---- */

static bool has_budget(const hone_tuning *t) {
    if (hone_tuning_stop(t) != HONE_STOP_NO) return false;
    if (hone_clock_now(t->clock) >= t->propose_until_ns) return false;
    if (t->options->until_converged && t->proposed && hone_has_converged(t)) return false;
    return t->options->trials == 0 || t->proposed < t->options->trials;
}

/* Small budgets are shared out: every task shall have its default schedule and a try or two. */
static uint32_t round_size(const hone_tuning *t) {
    if (t->options->trials == 0) return HONE_ROUND;
    int64_t left = t->options->trials - t->proposed;
    int64_t share = t->options->trials / t->task_count;
    int64_t size = share < HONE_ROUND ? share : HONE_ROUND;
    if (size < 1) size = 1;
    return (uint32_t)(left < size ? left : size);
}

/* The first proposal for a task is the default schedule: what tuning has to beat. */
static hone_status propose_default(hone_tune_task *task, hone_candidate *out, uint32_t *io_count) {
    task->has_default = true;
    HONE_TRY(hone_tune_task_default(task, task->arena, out));
    uint64_t where = 0;
    if (hone_map128_find(&task->seen, out->program, &where)) return HONE_OK;
    if (!hone_map128_put(&task->seen, out->program, 0)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "proposal");
    }
    out->score = NAN;
    HONE_TRY(hone_tune_task_trace(task, task->arena, &out->trace));
    ++*io_count;
    return HONE_OK;
}

static hone_status fill_round(hone_tuning *t, hone_tune_task *task, hone_round *round) {
    hone_candidate candidates[HONE_ROUND];
    uint32_t count = 0, more = 0, size = round_size(t);
    if (!task->has_default) HONE_TRY(propose_default(task, &candidates[0], &count));
    hone_rng rng = hone_rng_make(t->options->seed, task->task->hash, (uint64_t)task->proposals);
    if (count < size) {
        HONE_TRY(
            t->strategy->propose(task, t->model, rng, size - count, candidates + count, &more));
    }
    if (more == 0) task->is_exhausted = true;
    round->count = count + more;
    for (uint32_t i = 0; i < round->count; i++) {
        round->trials[i] = (hone_trial){.task = task,
                                        .candidate = candidates[i],
                                        .proposal = task->proposals++,
                                        .time_ns = NAN,
                                        .record = -1};
        hone_run_result_init(&round->trials[i].ran);
    }
    t->proposed += round->count;
    return HONE_OK;
}

/* Thinks out a round for the task that promises most; an empty one when nothing is left to do. */
static hone_status propose(hone_tuning *t, hone_round *round) {
    round->count = 0;
    hone_arena_reset(round->arena);
    int64_t start = hone_clock_now(t->clock);
    while (round->count == 0 && has_budget(t)) {
        hone_tune_task *task = hone_pick_task(t);
        if (!task) return HONE_OK;
        HONE_TRY(fill_round(t, task, round));
    }
    int64_t spent = hone_clock_now(t->clock) - start;
    for (uint32_t i = 0; i < round->count; i++) {
        round->trials[i].times.search = spent / round->count;
    }
    return HONE_OK;
}

/* ---- committing ---- */

static const char *drift_name(const hone_run_result *ran) {
    return isnan(ran->drift) ? NULL : ran->drift_flagged ? "flagged" : "none";
}

static hone_status commit(hone_tuning *t, hone_trial *trial, hone_failure failure,
                          const char *message) {
    const hone_run_result *ran = &trial->ran;
    const hone_candidate *c = &trial->candidate;
    bool is_ok = failure == HONE_FAILURE_NONE;
    hone_db_trial row = {
        .session = t->result->session,
        .workload = trial->task->task->hash,
        .target = t->target_hash,
        .proposal = trial->proposal,
        .sketch = c->sketch,
        .trace = c->trace,
        .program = c->program,
        .outcome = is_ok ? HONE_DB_OUTCOME_OK : hone_failure_name(failure),
        .message = message && *message ? message : NULL,
        .median_ns = is_ok ? ran->median_ns : NAN,
        .spread = is_ok ? ran->spread : NAN,
        .samples_ns = is_ok ? ran->samples_ns : NULL,
        .sample_count = is_ok ? (size_t)ran->sample_count : 0,
        .max_error = ran->max_error,
        .confirmed_ns = NAN,
        .predicted_score = c->score,
        .drift = drift_name(ran),
        .times = trial->times,
        .wall_ns = hone_wall_time_ns(),
        .feature_version = HONE_FEATURE_VERSION,
        .feature_rows = c->row_count,
        .feature_columns = hone_feature_count(),
        .features = c->features,
    };
    HONE_TRY(hone_db_commit_trial(t->options->db, &row, &trial->record));
    trial->is_done = true;
    trial->time_ns = row.median_ns;
    t->result->trials++;
    t->result->failed += !is_ok;
    hone_db_times *sum = &t->result->times;
    sum->search += trial->times.search;
    sum->queue += trial->times.queue;
    sum->build += trial->times.build;
    sum->transfer += trial->times.transfer;
    sum->load += trial->times.load;
    sum->measure += trial->times.measure;
    sum->check += trial->times.check;
    return HONE_OK;
}

static void report(hone_tuning *t, const hone_trial *trial) {
    hone_tune_task *task = trial->task;
    char best[160];
    if (trial->time_ns > 0 && !(task->shown_ns <= trial->time_ns)) task->shown_ns = trial->time_ns;
    double ns = task->best_ns <= task->shown_ns ? task->best_ns : task->shown_ns;
    snprintf(best, sizeof best, isnan(ns) ? "%s: nothing yet" : "%s: %.4g us, %.4g GFLOPS",
             task->task->name, ns / 1e3, task->task->flops / ns);
    hone_progress_state state = {.label = "tune",
                                 .done = t->result->trials,
                                 .total = t->options->trials,
                                 .best = best,
                                 .eta_ns = -1};
    int64_t now = hone_clock_now(t->clock);
    hone_progress_meter_feed(&t->meter, now, &state);
    if (t->deadline_ns != INT64_MAX && (state.eta_ns < 0 || state.eta_ns > t->deadline_ns - now)) {
        state.eta_ns = t->deadline_ns > now ? t->deadline_ns - now : 0;
    }
    hone_progress_update(t->options->progress, &state);
}

static hone_status finish(hone_tuning *t, hone_trial *trial, hone_failure failure,
                          const char *message) {
    if (failure == HONE_FAILURE_CANCELLED) {
        trial->is_done = true; /* it was never judged: nothing to record */
        return HONE_OK;
    }
    HONE_TRY(commit(t, trial, failure, message));
    report(t, trial);
    return HONE_OK;
}

/* ---- building ---- */

static hone_trial *find_trial(hone_round *round, hone_ticket ticket) {
    for (uint32_t i = 0; i < round->count; i++) {
        if (round->trials[i].ticket == ticket && !round->trials[i].is_done)
            return &round->trials[i];
    }
    return NULL;
}

static hone_status submit_builds(hone_tuning *t, hone_round *round) {
    for (uint32_t i = 0; i < round->count; i++) {
        hone_trial *trial = &round->trials[i];
        HONE_TRY(hone_submit_build(t, trial->task, trial->candidate.trace, round->arena,
                                   &trial->ticket));
    }
    return HONE_OK;
}

/* The worker replayed the same trace: it must have come to the same program. The hash travels as 16
 * bytes, most significant first. */
static bool is_same_program(const hone_trial *trial) {
    hone_hash128 built = {0}, unknown = {0};
    for (int i = 0; i < 8; i++) {
        built.hi = built.hi << 8 | trial->built.program_hash[i];
        built.lo = built.lo << 8 | trial->built.program_hash[8 + i];
    }
    return hone_hash128_equal(built, unknown) || /* the null builder replays nothing */
           hone_hash128_equal(built, trial->candidate.program);
}

static hone_status take_build(hone_tuning *t, hone_round *round) {
    hone_ticket ticket;
    hone_build_result built;
    HONE_TRY(hone_wait_build(t, round->arena, &ticket, &built));
    hone_trial *trial = find_trial(round, ticket);
    if (!trial) return HONE_ERROR(HONE_CODE_INTERNAL, "a build answered with an unknown ticket");
    trial->built = built;
    trial->times.queue += built.times.queue_ns;
    trial->times.build =
        built.times.replay_ns + built.times.lower_ns + built.times.codegen_ns + built.times.link_ns;
    if (built.failure) return finish(t, trial, built.failure, built.message);
    trial->artifact = built.artifact_path;
    if (is_same_program(trial)) return HONE_OK;
    return finish(t, trial, HONE_FAILURE_BUILD_ERROR,
                  "the worker's replay of the trace gave another program");
}

/* ---- measuring ---- */

static hone_status take_run(hone_tuning *t, hone_round *round) {
    hone_ticket ticket;
    hone_run_result ran;
    HONE_TRY(hone_wait_run(t, &ticket, &ran));
    hone_trial *trial = find_trial(round, ticket);
    if (!trial) return HONE_ERROR(HONE_CODE_INTERNAL, "a run answered with an unknown ticket");
    hone_run_result_deinit(&trial->ran);
    trial->ran = ran;
    trial->times.queue += ran.times.queue_ns;
    trial->times.transfer = ran.times.transfer_ns;
    trial->times.load = ran.times.load_ns;
    trial->times.check = ran.times.check_ns;
    trial->times.measure = ran.times.measure_ns + ran.times.wait_ns;
    hone_status st = finish(t, trial, ran.failure, ran.message);
    if (trial->artifact) st = hone_status_join(st, hone_fs_remove_file(trial->artifact));
    return st;
}

static hone_status measure(hone_tuning *t, hone_round *round) {
    uint32_t running = 0;
    for (uint32_t i = 0; i < round->count; i++) {
        hone_trial *trial = &round->trials[i];
        if (trial->is_done) continue;
        HONE_TRY(hone_submit_run(t, trial->task, &trial->built, &trial->candidate,
                                 trial->task->best_ns, &trial->ticket));
        running++;
        while (running >= (uint32_t)hone_runner_slots(t->options->runner) + 1) {
            HONE_TRY(take_run(t, round));
            running--;
        }
    }
    for (; running; running--)
        HONE_TRY(take_run(t, round));
    return HONE_OK;
}

/* ---- folding ---- */

static hone_status fold(hone_tuning *t, hone_round *round) {
    hone_costmodel_sample samples[HONE_ROUND];
    uint32_t count = 0;
    for (uint32_t i = 0; i < round->count; i++) {
        hone_trial *trial = &round->trials[i];
        if (trial->record < 0) continue; /* cancelled */
        hone_tune_task_fold(trial->task, &trial->candidate, trial->time_ns, trial->record);
        samples[count++] = (hone_costmodel_sample){
            .group = trial->task->task->hash,
            .rows = {trial->candidate.features, trial->candidate.row_count},
            .time_ns = trial->time_ns
        };
        hone_run_result_deinit(&trial->ran);
    }
    int64_t start = hone_clock_now(t->clock);
    HONE_TRY(hone_costmodel_update(t->model, samples, count));
    t->result->train_ns += hone_clock_now(t->clock) - start;
    return round->count ? hone_note_round(round->trials[0].task) : HONE_OK;
}

/* ---- the loop ---- */

static hone_status run_round(hone_tuning *t, hone_round *round, hone_round *next) {
    int64_t start = hone_clock_now(t->clock);
    HONE_TRY(submit_builds(t, round));
    HONE_TRY(propose(t, next));
    for (uint32_t i = 0; i < round->count; i++)
        HONE_TRY(take_build(t, round));
    hone_builder_pause(t->options->builder);
    hone_status st = measure(t, round);
    hone_builder_resume(t->options->builder);
    if (!st) st = fold(t, round);
    round->trials[0].task->busy_ns += hone_clock_now(t->clock) - start;
    return st;
}

hone_status hone_tuning_loop(hone_tuning *t) {
    hone_round *round = &t->rounds[0], *next = &t->rounds[1];
    HONE_TRY(propose(t, round));
    while (round->count) {
        HONE_TRY(run_round(t, round, next));
        hone_round *swap = round;
        round = next;
        next = swap;
    }
    t->result->was_stopped = hone_tuning_stop(t) != HONE_STOP_NO;
    t->result->has_converged = hone_has_converged(t);
    return HONE_OK;
}
