#include <math.h>
#include <string.h>

#include "measure/failure.h"
#include "tuner/tune_impl.h"

/* Going on with what the database holds: every earlier trial of a task, in proposal order, whoever
 * measured it. */

typedef struct resuming {
    hone_tuning *t;
    hone_tune_task *task;
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
    task->known_trials++;
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
    r->error = take(r, trial);
    return !r->error;
}

hone_status hone_tuning_resume(hone_tuning *t) {
    int64_t known = 0;
    for (uint32_t i = 0; i < t->task_count; i++) {
        resuming r = {.t = t, .task = t->tasks[i]};
        hone_db_filter filter = {.workload = &t->tasks[i]->task->hash,
                                 .target = &t->target_hash,
                                 .order = HONE_DB_ORDER_PROPOSAL,
                                 .with_features = true};
        hone_status st = hone_db_trials(t->options->db, &filter, visit, &r);
        if (st || r.error) return hone_status_join(st, r.error);
        known += r.task->known_trials;
        r.task->folded = r.task->failed = r.task->since_better = 0;
        r.task->shown_ns = r.task->best_ns;
    }
    return known ? hone_costmodel_train(t->model) : HONE_OK;
}
