#include <math.h>
#include <string.h>

#include "measure/failure.h"
#include "tuner/tune_impl.h"

/* Going on with what the database holds of a task, whoever measured it: every earlier trial, in
 * proposal order; where there are very many, the newest, the fastest and the default schedule.
 * They fill the elites and teach the model; of all others it is enough not to try them again. */

enum { MOST_READ = 12000, LEAST_READ = 500 }; /* trials of all tasks, of one */

typedef struct resuming {
    hone_tuning *t;
    hone_tune_task *task;
    hone_map128 taken; /* uids */
    int64_t count;     /* of them, without faults of machines */
    hone_status error;
} resuming;

/* The decisions of a recorded trace, when it begins with the instructions of a sketch. */
static const hone_decision *decisions_for(hone_tune_task *task, int32_t sketch,
                                          const hone_trace *trace) {
    if (sketch < 0 || (uint32_t)sketch >= task->space.count) return NULL;
    const hone_trace *pattern = &task->space.sketches[sketch];
    if (pattern->count > trace->count) return NULL;
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (pattern->insts[i].kind != trace->insts[i].kind) return NULL;
        bool is_open = hone_inst_is_sampling(pattern->insts[i].kind);
        if (is_open && trace->decisions[i].count == 0) return NULL;
    }
    return trace->decisions;
}

static hone_status take(resuming *r, const hone_db_trial *trial) {
    hone_tune_task *task = r->task;
    hone_failure failure;
    bool is_known = hone_failure_parse(trial->outcome, &failure);
    if (is_known && hone_failure_fault(failure) == HONE_FAULT_MACHINE) return HONE_OK;
    if (!hone_map128_put(&task->seen, trial->program, 0)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "resume");
    }
    r->count++;
    bool is_ok = strcmp(trial->outcome, HONE_DB_OUTCOME_OK) == 0;
    hone_candidate candidate = {.sketch = trial->sketch, .program = trial->program};
    hone_trace trace;
    if (is_ok && trial->sketch >= 0) {
        hone_status st = hone_trace_parse_json(task->arena, trial->trace, strlen(trial->trace),
                                               "record", &trace);
        if (!st) candidate.decisions = decisions_for(task, trial->sketch, &trace);
        hone_status_free(st); /* a record that can't be read teaches the model only */
    }
    if (hone_hash128_equal(trial->program, task->before)) task->has_before = true;
    bool is_of_space = !task->has_own_space || trial->sketch < 0 || candidate.decisions;
    if (is_of_space) {
        hone_tune_task_fold(task, &candidate, is_ok ? trial->median_ns : NAN, trial->record);
    }
    if (trial->feature_version != HONE_FEATURE_VERSION || !trial->features ||
        trial->feature_columns != hone_feature_count()) {
        return HONE_OK;
    }
    hone_costmodel_sample sample = {
        .group = task->task->hash,
        .rows = {trial->features, trial->feature_rows},
        .time_ns = is_ok ? trial->median_ns : NAN
    };
    return hone_costmodel_add(r->t->model, &sample, 1);
}

static bool visit(void *ctx, const hone_db_trial *trial) {
    resuming *r = ctx;
    if (hone_map128_find(&r->taken, trial->uid, NULL)) return true;
    r->error = hone_map128_put(&r->taken, trial->uid, 0)
                   ? take(r, trial)
                   : HONE_ERROR(HONE_CODE_NO_MEMORY, "resume");
    return !r->error;
}

static bool note_seen(void *ctx, const hone_hash128 *program) {
    resuming *r = ctx;
    if (hone_map128_put(&r->task->seen, *program, 0)) return true;
    r->error = HONE_ERROR(HONE_CODE_NO_MEMORY, "resume");
    return false;
}

static hone_status read_trials(resuming *r, hone_db_order order, int64_t limit,
                               const hone_hash128 *program) {
    hone_db_filter filter = {.workload = &r->task->task->hash,
                             .target = &r->t->target_hash,
                             .program = program,
                             .limit = limit,
                             .order = order,
                             .with_features = true};
    hone_status st = hone_db_trials(r->t->options->db, &filter, visit, r);
    return hone_status_join(st, r->error);
}

/* One in five is one of the fastest. */
static hone_status read_some(resuming *r, int64_t count) {
    HONE_TRY(hone_db_seen_programs(r->t->options->db, &r->task->task->hash, &r->t->target_hash,
                                   note_seen, r));
    if (r->error) return r->error;
    HONE_TRY(read_trials(r, HONE_DB_ORDER_FASTEST, 1, &r->task->before));
    HONE_TRY(read_trials(r, HONE_DB_ORDER_FASTEST, count / 5, NULL));
    return read_trials(r, HONE_DB_ORDER_LATEST, count - count / 5, NULL);
}

static hone_status resume(hone_tuning *t, hone_tune_task *task) {
    resuming r = {.t = t, .task = task};
    int64_t share = MOST_READ / t->task_count;
    if (share < LEAST_READ) share = LEAST_READ;
    bool is_part = task->known_trials > share;
    hone_status st =
        is_part ? read_some(&r, share) : read_trials(&r, HONE_DB_ORDER_PROPOSAL, 0, NULL);
    if (!is_part) task->known_trials = r.count; /* without the faults of machines */
    hone_map128_deinit(&r.taken);
    task->folded = task->failed = task->since_better = 0;
    task->shown_ns = task->best_ns;
    return st;
}

static bool note_count(void *ctx, const hone_db_task *row) {
    hone_tuning *t = ctx;
    for (uint32_t i = 0; i < t->task_count; i++) {
        hone_tune_task *task = t->tasks[i];
        if (hone_hash128_equal(row->workload, task->task->hash) &&
            hone_hash128_equal(row->target, t->target_hash)) {
            task->known_trials = row->trials;
        }
    }
    return true;
}

hone_status hone_tuning_resume(hone_tuning *t) {
    int64_t known = 0;
    HONE_TRY(hone_db_tasks(t->options->db, note_count, t));
    for (uint32_t i = 0; i < t->task_count; i++) {
        if (t->tasks[i]->known_trials) HONE_TRY(resume(t, t->tasks[i]));
        known += t->tasks[i]->known_trials;
    }
    return known ? hone_costmodel_train(t->model) : HONE_OK;
}
