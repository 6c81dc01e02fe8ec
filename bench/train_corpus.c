/* bench/train_corpus.c - see train_corpus.h. */
#include "bench/train_corpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/feature.h"
#include "database/database.h"
#include "ir/text/read/script.h"
#include "schedule/replay/trace_apply.h"
#include "schedule/trace/trace.h"
#include "support/core/alloc.h"
#include "support/core/arena.h"

enum { ARENA_BYTES = 1 << 16 };

/* One workload for one target. */
typedef struct replayer {
    hone_db *db;
    train_corpus *corpus;
    HONE_VEC(hone_db_task) tasks;  /* without what points into the database */
    HONE_VEC(hone_target) targets; /* of these */
    hone_hash128 group, workload;
    const hone_target *target;
    hone_module *module;
    hone_schedule *sch;
    hone_feature_state *features;
    hone_arena *arena; /* of one trace */
    hone_status error;
} replayer;

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "training");
}

static hone_hash128 group_of(const hone_db_task *task) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_hash(&hasher, task->workload);
    hone_hasher_hash(&hasher, task->target);
    return hone_hasher_finish(&hasher);
}

/* What disturbs a machine never makes a kernel faster. */
static double least_ns(const hone_db_trial *trial, size_t first, size_t step) {
    double least = first < trial->sample_count ? trial->samples_ns[first] : trial->median_ns;
    for (size_t i = first; i < trial->sample_count; i += step)
        least = fmin(least, trial->samples_ns[i]);
    return least;
}

static hone_status keep(replayer *r, const hone_db_trial *trial) {
    const float *rows;
    train_trial t = {
        .workload = r->workload,
        .number = r->corpus->trials.count,
        .halves_ns = {least_ns(trial, 0, 2), least_ns(trial, 1, 2)},
    };
    uint32_t count;
    HONE_TRY(hone_feature_extract(r->features, r->sch->func, 0, r->target, &rows, &count));
    size_t bytes = sizeof *rows * count * hone_feature_count();
    t.rows = hone_malloc(bytes + 1);
    if (!t.rows) return no_memory();
    if (bytes) memcpy(t.rows, rows, bytes);
    t.of = (hone_costmodel_sample){
        .group = r->group,
        .rows = {t.rows, count},
        .time_ns = fmin(trial->median_ns, least_ns(trial, 0, 1))
    };
    if (hone_vec_push(&r->corpus->trials, t)) return HONE_OK;
    hone_free(t.rows);
    return no_memory();
}

static hone_status replay(replayer *r, const hone_db_trial *trial) {
    hone_trace trace;
    hone_arena_reset(r->arena);
    HONE_TRY(hone_schedule_reset(r->sch));
    HONE_TRY(hone_trace_parse_json(r->arena, trial->trace, strlen(trial->trace), "trial", &trace));
    return hone_trace_apply(&trace, r->sch, NULL);
}

static bool take_trial(void *ctx, const hone_db_trial *trial) {
    replayer *r = ctx;
    hone_status st = replay(r, trial);
    if (!st) {
        r->error = keep(r, trial);
        return !r->error;
    }
    hone_status_free(st);
    r->corpus->refused++;
    return true;
}

static bool take_program(void *ctx, const hone_db_workload *workload) {
    replayer *r = ctx;
    const hone_member *member = NULL;
    r->error =
        hone_script_parse(workload->program, strlen(workload->program), "workload", &r->module);
    if (!r->error) r->error = hone_module_pick(r->module, NULL, &member);
    if (!r->error) r->error = hone_schedule_create(member->func, &r->sch);
    if (!r->error) r->sch->wants_reasons = false;
    return false;
}

static hone_status replay_task(replayer *r, size_t number) {
    const hone_db_task *task = &r->tasks.data[number];
    const hone_db_filter filter = {.workload = &task->workload,
                                   .target = &task->target,
                                   .outcome = HONE_DB_OUTCOME_OK,
                                   .with_samples = true};
    r->group = group_of(task);
    r->workload = task->workload;
    r->target = &r->targets.data[number];
    hone_status st = hone_db_workloads(r->db, &task->workload, take_program, r);
    if (!st && !r->error) st = hone_db_trials(r->db, &filter, take_trial, r);
    hone_schedule_destroy(r->sch);
    hone_module_release(r->module);
    r->sch = NULL;
    r->module = NULL;
    return hone_status_join(r->error, st);
}

/* A visitor may not ask the database anything. */
static bool take_task(void *ctx, const hone_db_task *task) {
    replayer *r = ctx;
    hone_target target;
    r->error = hone_target_parse(task->target_text, &target);
    if (!r->error && !(hone_vec_push(&r->tasks, *task) && hone_vec_push(&r->targets, target)))
        r->error = no_memory();
    return !r->error;
}

/* Stable: what came first stands first. */
static int by_group(const void *a, const void *b) {
    const train_trial *x = a, *y = b;
    int order = hone_hash128_compare(x->of.group, y->of.group);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static hone_status read_all(replayer *r) {
    HONE_TRY(hone_feature_state_create(&r->features));
    r->arena = hone_arena_create(ARENA_BYTES);
    if (!r->arena) return no_memory();
    hone_status st = hone_db_tasks(r->db, take_task, r);
    st = hone_status_join(st, r->error);
    r->error = HONE_OK;
    for (size_t i = 0; i < r->tasks.count && !st; i++)
        st = replay_task(r, i);
    if (!st && r->corpus->trials.count)
        qsort(r->corpus->trials.data, r->corpus->trials.count, sizeof *r->corpus->trials.data,
              by_group);
    return st;
}

hone_status train_corpus_read(const char *path, train_corpus *out) {
    replayer r = {.corpus = out};
    const hone_db_options options = {.path = path, .mode = HONE_DB_READ};
    HONE_TRY(hone_db_open_sqlite(&options, &r.db));
    hone_status st = read_all(&r);
    hone_feature_state_destroy(r.features);
    hone_arena_destroy(r.arena);
    hone_vec_deinit(&r.tasks);
    hone_vec_deinit(&r.targets);
    hone_db_close(r.db);
    return st;
}

void train_corpus_deinit(train_corpus *corpus) {
    for (size_t i = 0; i < corpus->trials.count; i++)
        hone_free(corpus->trials.data[i].rows);
    hone_vec_deinit(&corpus->trials);
}
