/* database/db_memory_sums.c - the memory backend: what all trials come to, by task, by failure and
 * as a whole. */
#include <math.h>
#include <stdlib.h>

#include "database/db_memory_impl.h"

/* In the order BEST, of ok trials that were committed one after the other. */
static bool is_better(const hone_db_trial *later, const hone_db_trial *earlier) {
    bool is_sure = !isnan(later->confirmed_ns), was_sure = !isnan(earlier->confirmed_ns);
    if (is_sure != was_sure) return is_sure;
    return hone_db_trial_ns(later) < hone_db_trial_ns(earlier);
}

static hone_db_task task_of(const db_memory *db, const hone_db_workload *workload,
                            const hone_db_target *target) {
    hone_db_task task = {
        .workload = workload->hash,
        .target = target->hash,
        .name = workload->name,
        .target_text = target->text,
        .threads = target->threads,
        .flops = workload->flops,
        .best_ns = NAN,
    };
    const hone_db_trial *best = NULL;
    for (size_t i = 0; i < db->trials.count; i++) {
        const hone_db_trial *trial = db->trials.data[i];
        if (!db_memory_is_of(trial, &task.workload, &task.target)) continue;
        task.trials++;
        if (db_memory_is_ok(trial)) task.ok++;
        if (!isnan(trial->confirmed_ns)) task.confirmed++;
        if (db_memory_is_ok(trial) && (!best || is_better(trial, best))) best = trial;
        if (trial->wall_ns > task.last_wall_ns) task.last_wall_ns = trial->wall_ns;
    }
    if (best) task.best_ns = hone_db_trial_ns(best);
    task.failed = task.trials - task.ok;
    return task;
}

static int by_task(const void *a, const void *b) {
    const hone_db_task *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (!order) order = hone_hash128_compare(x->workload, y->workload);
    return order ? order : hone_hash128_compare(x->target, y->target);
}

hone_status db_memory_tasks(hone_db *base, hone_db_visit_task visit, void *ctx) {
    db_memory *db = (db_memory *)base;
    HONE_VEC(hone_db_task) found = {0};
    hone_status st = HONE_OK;
    for (size_t w = 0; w < db->workloads.count && !st; w++) {
        for (size_t t = 0; t < db->targets.count && !st; t++) {
            hone_db_task task = task_of(db, db->workloads.data[w], db->targets.data[t]);
            if (task.trials && !hone_vec_push(&found, task)) st = db_memory_no_memory();
        }
    }
    if (found.count) qsort(found.data, found.count, sizeof *found.data, by_task);
    for (size_t i = 0; i < found.count && !st; i++) {
        if (!visit(ctx, &found.data[i])) break;
    }
    hone_vec_deinit(&found);
    return st;
}

static int by_frequency(const void *a, const void *b) {
    const hone_db_failure_count *x = a, *y = b;
    int order = db_memory_compare(y->count, x->count);
    if (!order) order = strcmp(x->outcome, y->outcome);
    if (!order) order = strcmp(x->workload_name, y->workload_name);
    return order ? order : hone_hash128_compare(x->workload, y->workload);
}

/* Record numbers tell in which order files were merged, not which trial came first. */
static bool is_later(const hone_db_trial *a, const hone_db_trial *b) {
    int order = db_memory_compare(a->wall_ns, b->wall_ns);
    return order ? order > 0 : hone_hash128_compare(a->uid, b->uid) > 0;
}

typedef struct failure_group {
    hone_db_failure_count shown; /* first: they are sorted as such */
    const hone_db_trial *last;
} failure_group;

typedef HONE_VEC(failure_group) failure_groups;

static bool count_failure(const db_memory *db, failure_groups *groups, const hone_db_trial *trial) {
    size_t at = 0;
    while (at < groups->count &&
           !(strcmp(groups->data[at].shown.outcome, trial->outcome) == 0 &&
             hone_hash128_equal(groups->data[at].shown.workload, trial->workload))) {
        at++;
    }
    if (at == groups->count) {
        failure_group fresh = {
            .shown = {.outcome = trial->outcome,
                      .workload = trial->workload,
                      .workload_name = db_memory_workload(db, &trial->workload)->name},
            .last = trial
        };
        if (!hone_vec_push(groups, fresh)) return false;
    }
    failure_group *group = &groups->data[at];
    group->shown.count++;
    if (is_later(trial, group->last)) group->last = trial;
    group->shown.last_message = group->last->message;
    return true;
}

hone_status db_memory_failures(hone_db *base, hone_db_visit_failure visit, void *ctx) {
    db_memory *db = (db_memory *)base;
    failure_groups found = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < db->trials.count && !st; i++) {
        const hone_db_trial *trial = db->trials.data[i];
        if (!db_memory_is_ok(trial) && !count_failure(db, &found, trial))
            st = db_memory_no_memory();
    }
    if (found.count) qsort(found.data, found.count, sizeof *found.data, by_frequency);
    for (size_t i = 0; i < found.count && !st; i++) {
        if (!visit(ctx, &found.data[i].shown)) break;
    }
    hone_vec_deinit(&found);
    return st;
}

hone_status db_memory_stats(hone_db *base, hone_db_stats *out) {
    db_memory *db = (db_memory *)base;
    out->workloads = (int64_t)db->workloads.count;
    out->targets = (int64_t)db->targets.count;
    out->sessions = (int64_t)db->sessions.count;
    out->trials = (int64_t)db->trials.count;
    for (size_t i = 0; i < db->trials.count; i++) {
        const hone_db_trial *trial = db->trials.data[i];
        if (db_memory_is_ok(trial)) out->ok++;
        if (!isnan(trial->confirmed_ns)) out->confirmed++;
        if (!i || trial->wall_ns < out->first_wall_ns) out->first_wall_ns = trial->wall_ns;
        if (!i || trial->wall_ns > out->last_wall_ns) out->last_wall_ns = trial->wall_ns;
        out->times.search += trial->times.search;
        out->times.queue += trial->times.queue;
        out->times.build += trial->times.build;
        out->times.transfer += trial->times.transfer;
        out->times.load += trial->times.load;
        out->times.measure += trial->times.measure;
        out->times.check += trial->times.check;
    }
    out->failed = out->trials - out->ok;
    return HONE_OK;
}
