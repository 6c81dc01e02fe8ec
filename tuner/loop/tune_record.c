/* tuner/loop/tune_record.c - a finished trial: committed, counted, shown. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "measure/failure.h"
#include "support/core/number.h"
#include "support/os/log.h"
#include "tuner/loop/tune_impl.h"

enum { TRIES = 3, MOST_FAULTS = 24 };

static const char *drift_name(const hone_run_result *ran) {
    return isnan(ran->drift) ? NULL : ran->drift_flagged ? "flagged" : "none";
}

static void add_times(hone_db_times *sum, const hone_db_times *times) {
    sum->search += times->search;
    sum->queue += times->queue;
    sum->build += times->build;
    sum->transfer += times->transfer;
    sum->load += times->load;
    sum->measure += times->measure;
    sum->check += times->check;
}

/* Whose proposal it was stands before what went wrong. */
static hone_status name_source(hone_trial *trial, hone_db_trial *io_row) {
    trial->result = (hone_outside_result){io_row->outcome, NULL, io_row->median_ns, io_row->spread};
    if (io_row->message) {
        trial->result.message = hone_arena_strdup(trial->arena, io_row->message);
        if (!trial->result.message) return HONE_ERROR(HONE_CODE_NO_MEMORY, "record");
    }
    if (!trial->candidate.source) return HONE_OK;
    io_row->message =
        hone_arena_printf(trial->arena, "proposed by '%s'%s%s", trial->candidate.source,
                          io_row->message ? ": " : "", io_row->message ? io_row->message : "");
    return io_row->message ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "record");
}

static hone_status commit(hone_tuning *t, hone_trial *trial, hone_failure failure,
                          const char *message, const hone_run_result *ran) {
    const hone_candidate *c = &trial->candidate;
    bool is_ok = failure == HONE_FAILURE_NONE;
    hone_db_trial row = {
        .session = t->result->session,
        .workload = trial->task->task->hash,
        .target = t->target_hash,
        .proposal = trial->proposal,
        .sketch = c->sketch,
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
        .device = ran->device[0] ? ran->device : NULL,
        .times = trial->times,
        .wall_ns = hone_wall_time_ns(),
        .feature_version = HONE_FEATURE_VERSION,
        .feature_rows = c->row_count,
        .feature_columns = hone_feature_count(),
        .features = c->features,
    };
    HONE_TRY(name_source(trial, &row));
    HONE_TRY(hone_tune_task_to_stored(trial->task, c->trace, trial->arena, &row.trace));
    HONE_TRY(hone_db_commit_trial(t->options->db, &row, &trial->record));
    trial->time_ns = row.median_ns;
    if (hone_tune_task_counts(trial->task, c->sketch)) {
        t->result->trials++;
        t->result->failed += !is_ok;
    }
    add_times(&t->result->times, &trial->times);
    return HONE_OK;
}

/* "12.3 us, 456 GFLOPS" of the task that was recorded last; NULL = nothing yet. */
static const char *print_best(const hone_tune_task *task, char *out, size_t bytes) {
    if (!task) return NULL;
    if (isnan(task->shown_ns)) return "nothing yet";
    hone_snprintf(out, bytes, "%.4g us, %.4g GFLOPS", task->shown_ns / 1e3,
                  task->task->flops / task->shown_ns);
    return out;
}

void hone_tuning_show(hone_tuning *t) {
    char best[80];
    hone_progress_state state = {.label = "tune",
                                 .done = t->result->trials,
                                 .total = t->options->trials,
                                 .name = t->last_task ? t->last_task->task->name : NULL,
                                 .best = print_best(t->last_task, best, sizeof best),
                                 .detail = hone_runner_note(t->options->runner),
                                 .eta_ns = -1};
    int64_t now = hone_clock_now(t->clock);
    hone_progress_meter_feed(&t->meter, now, &state);
    if (t->deadline_ns != INT64_MAX && (state.eta_ns < 0 || state.eta_ns > t->deadline_ns - now)) {
        state.eta_ns = t->deadline_ns > now ? t->deadline_ns - now : 0;
    }
    hone_progress_update(t->options->progress, &state);
}

hone_status hone_tuning_note_fault(hone_tuning *t, hone_trial *trial, const char *message,
                                   bool *out_again) {
    *out_again = ++trial->tries < TRIES;
    if (++t->faults >= MOST_FAULTS) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE,
                          "%" PRIu32 " candidates in a row came to nothing, through no fault of "
                          "theirs; the last one: %s",
                          t->faults, message);
    }
    if (*out_again) return HONE_OK;
    hone_log_line(t->options->log, HONE_LOG_WARNING,
                  "a candidate of '%s' is put off, it could not be judged: %s",
                  trial->task->task->name, message);
    t->result->put_off = hone_arena_strdup(t->result->arena, message);
    trial->was_dropped = true;
    if (hone_tune_task_counts(trial->task, trial->candidate.sketch)) t->dropped++;
    return HONE_OK;
}

hone_status hone_trial_record(hone_tuning *t, hone_trial *trial, hone_failure failure,
                              const char *message, const hone_run_result *ran) {
    if (failure == HONE_FAILURE_CANCELLED || trial->was_dropped) return HONE_OK;
    t->faults = 0;
    hone_run_result none;
    hone_run_result_init(&none);
    HONE_TRY(commit(t, trial, failure, message, ran ? ran : &none));
    hone_tune_task *task = trial->task;
    bool counts = hone_tune_task_counts(task, trial->candidate.sketch);
    if (counts && trial->time_ns > 0 && !(task->shown_ns <= trial->time_ns)) {
        task->shown_ns = trial->time_ns;
    }
    t->last_task = task;
    hone_tuning_show(t);
    return HONE_OK;
}
