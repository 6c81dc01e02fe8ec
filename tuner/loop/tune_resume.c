/* tuner/loop/tune_resume.c - going on with what the database holds of a task, whoever measured it.
 *
 *   own target      every earlier trial, in proposal order; where there are many, the newest, the
 *                   fastest and the default schedule: they fill the elites and teach the model,
 *                   and of all others the database is asked when a program turns up again
 *   targets like it their fastest: where the search begins. They are measured here before they
 *                   count, as times of different targets are not compared; the model learns from
 *                   them in groups of their own
 */
#include <math.h>
#include <string.h>

#include "compile/records/record_variant.h"
#include "measure/failure.h"
#include "schedule/primitive/primitives.h"
#include "tuner/loop/tune_impl.h"

/* Trials of all tasks (the cost model keeps no more), of one, and of one by other targets. */
enum { MOST_READ = 4096, LEAST_READ = 128, OTHERS_READ = 4 * HONE_ELITES };

typedef struct resuming {
    hone_tuning *t;
    hone_tune_task *task;
    hone_hash128 group; /* of the cost model */
    bool is_own;        /* target */
    hone_map128 taken;  /* uids */
    int64_t count;      /* of them, without faults of machines */
    hone_status error;
} resuming;

static bool is_of_same_variant(const hone_trace *a, const hone_trace *b) {
    hone_variant x, y;
    bool has = hone_trace_variant(a, &x);
    return has == hone_trace_variant(b, &y) && (!has || hone_variant_is_same(&x, &y));
}

/* The decisions of a recorded trace, when it begins with the instructions of a sketch. */
static const hone_decision *decisions_for(hone_tune_task *task, int32_t sketch,
                                          const hone_trace *trace) {
    if (sketch < 0 || (uint32_t)sketch >= task->space.count) return NULL;
    const hone_trace *pattern = &task->space.sketches[sketch];
    if (pattern->count > trace->count) return NULL;
    if (!is_of_same_variant(pattern, trace)) return NULL;
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (pattern->insts[i].kind != trace->insts[i].kind) return NULL;
        bool is_open = hone_inst_is_sampling(pattern->insts[i].kind);
        if (is_open && trace->decisions[i].count == 0) return NULL;
    }
    return trace->decisions;
}

/* Steps that are no sketch's: a proposal from outside, or of a space that has changed since. */
static hone_status adopt(hone_tune_task *task, const char *json, hone_candidate *io) {
    hone_trace trace;
    HONE_TRY(hone_tune_task_from_stored(task, json, task->arena, &json));
    HONE_TRY(hone_trace_parse_json(task->arena, json, strlen(json), "record", &trace));
    return hone_tune_task_adopt(task, &trace, hone_rng_from_seed(0), io);
}

/* The sketch and the decisions of a record. One that can't be read or replayed teaches the model
 * only: it has no decisions. */
static hone_status read_decisions(hone_tune_task *task, const hone_db_trial *trial,
                                  hone_candidate *io) {
    hone_trace trace;
    hone_candidate found = *io;
    hone_status st =
        hone_trace_parse_json(task->arena, trial->trace, strlen(trial->trace), "record", &trace);
    if (!st) io->decisions = decisions_for(task, trial->sketch, &trace);
    if (!st && !io->decisions && !task->has_own_space) st = adopt(task, trial->trace, &found);
    if (!st && !io->decisions && found.decisions) *io = found;
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    hone_status_free(st);
    return HONE_OK;
}

/* A confirmed time is what it is known by, until it is timed again. */
static void note_before(hone_tune_task *task, const hone_db_trial *trial) {
    task->has_before = true;
    if (!(task->before_ns > 0) && trial->median_ns > 0) task->before_ns = hone_db_trial_ns(trial);
}

static bool has_features(const hone_db_trial *trial) {
    return trial->feature_version == HONE_FEATURE_VERSION && trial->features &&
           trial->feature_columns == hone_feature_count();
}

/* Those without features of today look like each other. */
static hone_hash128 looks_of(const hone_db_trial *trial) {
    return hone_looks_of(trial->features, has_features(trial) ? trial->feature_rows : 0);
}

/* Folding: only what may become an elite is read. A default schedule that is no longer the default
 * is one trace among others; what is of a variant that is not allowed teaches the model, no more.
 */
static hone_status fold(resuming *r, const hone_db_trial *trial) {
    hone_tune_task *task = r->task;
    bool is_ok = trial->median_ns > 0, is_before = hone_hash128_equal(trial->program, task->before);
    bool is_allowed;
    hone_candidate candidate = {
        .sketch = trial->sketch, .program = trial->program, .looks = looks_of(trial)};
    HONE_TRY(hone_record_is_allowed(trial->trace, &task->rules, &is_allowed));
    if (!is_allowed) return HONE_OK;
    bool may_lead = is_ok && hone_tune_task_is_elite(task, r->is_own ? trial->median_ns : INFINITY);
    if (may_lead && (trial->sketch >= 0 || !is_before))
        HONE_TRY(read_decisions(task, trial, &candidate));
    if (!r->is_own) {
        if (candidate.decisions) hone_tune_task_advise(task, &candidate);
        return HONE_OK;
    }
    if (is_before) note_before(task, trial);
    bool is_of_space = !task->has_own_space || trial->sketch < 0 || candidate.decisions;
    if (!is_of_space) return HONE_OK;
    hone_tune_task_fold(task, &candidate, trial->median_ns);
    bool is_best = trial->confirmed_ns > 0 && !(task->confirmed_ns <= trial->confirmed_ns);
    if (is_best) task->confirmed_ns = trial->confirmed_ns;
    return HONE_OK;
}

static hone_status teach(resuming *r, const hone_db_trial *trial) {
    if (!has_features(trial)) return HONE_OK;
    hone_costmodel_sample sample = {
        .group = r->group,
        .rows = {trial->features, trial->feature_rows},
        .time_ns = trial->median_ns
    };
    return hone_costmodel_add(r->t->model, &sample, 1);
}

static hone_status take(resuming *r, const hone_db_trial *trial) {
    hone_failure failure;
    bool is_known = hone_failure_parse(trial->outcome, &failure);
    if (is_known && hone_failure_fault(failure) == HONE_FAULT_MACHINE) return HONE_OK;
    if (r->is_own && !hone_map128_put(&r->task->seen, trial->program, 0)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "resume");
    }
    if (r->is_own && has_features(trial))
        HONE_TRY(hone_tune_task_note_looks(r->task, looks_of(trial), 1));
    r->count++;
    HONE_TRY(fold(r, trial));
    return teach(r, trial);
}

static bool visit(void *ctx, const hone_db_trial *trial) {
    resuming *r = ctx;
    if (!hone_tuning_is_like(r->t, trial)) return true;
    if (hone_map128_find(&r->taken, trial->uid, NULL)) return true;
    r->error = hone_map128_put(&r->taken, trial->uid, 0)
                   ? take(r, trial)
                   : HONE_ERROR(HONE_CODE_NO_MEMORY, "resume");
    return !r->error;
}

static hone_status read_trials(resuming *r, const hone_db_filter *which) {
    hone_db_filter filter = *which;
    filter.workload = &r->task->task->hash;
    if (!filter.target) filter.target = &r->t->target_hash;
    filter.with_features = true;
    hone_status st = hone_db_trials(r->t->options->db, &filter, visit, r);
    return hone_status_join(st, r->error);
}

/* Labels of the cost model are relative to the best of their group. */
static hone_hash128 group_of(const hone_tune_task *task, hone_hash128 target) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_hash(&hasher, task->task->hash);
    hone_hasher_hash(&hasher, target);
    return hone_hasher_finish(&hasher);
}

static bool note_last(void *ctx, const hone_db_trial *trial) {
    *(int64_t *)ctx = trial->record;
    return false;
}

/* One in five, but enough for the elites, is one of the fastest. Of what is not read the database
 * is asked. */
static hone_status read_some(resuming *r, int64_t count) {
    hone_tune_task *task = r->task;
    int64_t fast = count / 5 > HONE_ELITES ? count / 5 : HONE_ELITES;
    hone_db_filter before = {.program = &task->before, .order = HONE_DB_ORDER_FASTEST, .limit = 1};
    hone_db_filter fastest = {.order = HONE_DB_ORDER_FASTEST, .limit = fast};
    hone_db_filter latest = {.order = HONE_DB_ORDER_LATEST, .limit = count - fast};
    hone_db_filter last = {.order = HONE_DB_ORDER_LAST_RECORD, .limit = 1};
    task->db = r->t->options->db;
    task->target_hash = r->t->target_hash;
    HONE_TRY(hone_db_trials(task->db, &last, note_last, &task->last_record));
    HONE_TRY(read_trials(r, &before));
    HONE_TRY(read_trials(r, &fastest));
    return read_trials(r, &latest);
}

static hone_status read_own(hone_tuning *t, hone_tune_task *task) {
    resuming r = {.t = t, .task = task, .group = task->task->hash, .is_own = true};
    int64_t share = MOST_READ / t->task_count;
    if (share < LEAST_READ) share = LEAST_READ;
    bool is_part = task->known_trials > share;
    hone_db_filter all = {.order = HONE_DB_ORDER_PROPOSAL};
    hone_status st = is_part ? read_some(&r, share) : read_trials(&r, &all);
    if (!is_part) task->known_trials = r.count; /* without the faults of machines */
    hone_map128_deinit(&r.taken);
    return st;
}

/* Of each target like the own as many as there is room for, the most alike first. */
static hone_status read_others(hone_tuning *t, hone_tune_task *task) {
    int64_t left = OTHERS_READ;
    for (size_t i = 1; i < t->alikes.count && left > 0; i++) {
        const hone_hash128 *target = &t->alikes.hashes[i];
        resuming r = {.t = t, .task = task, .group = group_of(task, *target)};
        hone_db_filter fastest = {
            .target = target, .order = HONE_DB_ORDER_FASTEST, .limit = HONE_ELITES};
        hone_status st = read_trials(&r, &fastest);
        hone_map128_deinit(&r.taken);
        if (st) return st;
        left -= r.count;
    }
    return HONE_OK;
}

static hone_status resume(hone_tuning *t, hone_tune_task *task) {
    int64_t others = task->known_elsewhere;
    if (task->known_trials) HONE_TRY(read_own(t, task));
    if (others) HONE_TRY(read_others(t, task));
    task->known_trials += others;
    task->folded = task->failed = task->since_better = 0;
    if (task->confirmed_ns > 0) task->best_ns = task->confirmed_ns;
    task->shown_ns = task->best_ns;
    return HONE_OK;
}

static bool note_count(void *ctx, const hone_db_task *row) {
    hone_tuning *t = ctx;
    size_t at = hone_db_alikes_find(&t->alikes, row->target);
    for (uint32_t i = 0; i < t->task_count && at < t->alikes.count; i++) {
        hone_tune_task *task = t->tasks[i];
        if (!hone_hash128_equal(row->workload, task->task->hash)) continue;
        *(at ? &task->known_elsewhere : &task->known_trials) += row->trials;
    }
    return true;
}

hone_status hone_tuning_resume(hone_tuning *t) {
    int64_t known = 0;
    HONE_TRY(hone_db_tasks(t->options->db, note_count, t));
    for (uint32_t i = 0; i < t->task_count; i++) {
        HONE_TRY(resume(t, t->tasks[i]));
        known += t->tasks[i]->known_trials;
    }
    return known ? hone_costmodel_train(t->model) : HONE_OK;
}
