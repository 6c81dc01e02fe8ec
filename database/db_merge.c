/* database/db_merge.c - copies what one database knows into another, over any backends. */
#include <assert.h>

#include "database/database_impl.h"
#include "support/vec.h"

enum { BATCH = 128 }; /* trials per transaction */

typedef struct merge {
    hone_db *into;
    hone_arena *arena; /* of the batch */
    HONE_VEC(hone_db_trial) batch;
    hone_db_merge_counts counts;
    hone_status status; /* of what went wrong inside of a visit */
} merge;

static bool go_on(const merge *m) {
    return m->status == HONE_OK;
}

static bool merge_workload(void *ctx, const hone_db_workload *workload) {
    merge *m = ctx;
    m->status = hone_db_put_workload(m->into, workload);
    return go_on(m);
}

static bool merge_target(void *ctx, const hone_db_target *target) {
    merge *m = ctx;
    m->status = hone_db_put_target(m->into, target);
    return go_on(m);
}

static bool note_session(void *ctx, const hone_db_session *session) {
    (void)session;
    *(bool *)ctx = true;
    return false;
}

static bool merge_session(void *ctx, const hone_db_session *session) {
    merge *m = ctx;
    bool is_there = false;
    m->status = hone_db_sessions(m->into, session->id, note_session, &is_there);
    if (!m->status && !is_there) {
        m->status = hone_db_begin_session(m->into, session);
        m->counts.sessions++;
    }
    return go_on(m);
}

static hone_status flush(merge *m) {
    hone_status st = hone_db_commit_trials(m->into, m->batch.data, m->batch.count);
    if (!st) m->counts.trials += (int64_t)m->batch.count;
    hone_vec_clear(&m->batch);
    hone_arena_reset(m->arena);
    return st;
}

static hone_status keep_trial(merge *m, const hone_db_trial *trial) {
    char uid[HONE_HASH_HEX_BYTES];
    int found = 0;
    int64_t record = 0;
    hone_hash128_print(trial->uid, uid);
    hone_mutex_lock(&m->into->lock);
    hone_status st = m->into->vt->find_uid(m->into, uid, &found, &record);
    hone_mutex_unlock(&m->into->lock);
    if (st) return st;
    if (found) {
        m->counts.known++;
        return HONE_OK;
    }
    const hone_db_trial *copy = hone_db_trial_copy(m->arena, trial);
    if (!copy || !hone_vec_push(&m->batch, *copy)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "merging databases");
    }
    return m->batch.count == BATCH ? flush(m) : HONE_OK;
}

static bool merge_trial(void *ctx, const hone_db_trial *trial) {
    merge *m = ctx;
    m->status = keep_trial(m, trial);
    return go_on(m);
}

/* The failure of a visit, or that of the call around it. */
static hone_status settle(merge *m, hone_status st) {
    st = hone_status_join(m->status, st);
    m->status = HONE_OK;
    return st;
}

static hone_status merge_all(merge *m, hone_db *from) {
    hone_db_filter everything = {.with_samples = true, .with_features = true};
    HONE_TRY(settle(m, hone_db_workloads(from, NULL, merge_workload, m)));
    HONE_TRY(settle(m, hone_db_targets(from, NULL, merge_target, m)));
    HONE_TRY(settle(m, hone_db_sessions(from, NULL, merge_session, m)));
    HONE_TRY(settle(m, hone_db_trials(from, &everything, merge_trial, m)));
    return flush(m);
}

hone_status hone_db_merge(hone_db *into, hone_db *from, hone_db_merge_counts *out_counts) {
    assert(into && from && out_counts);
    *out_counts = (hone_db_merge_counts){0};
    if (into == from)
        return HONE_ERROR(HONE_CODE_INVALID, "a database cannot be merged into itself");
    merge m = {.into = into, .arena = hone_arena_create(1 << 16)};
    if (!m.arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "merging databases");
    hone_status st = merge_all(&m, from);
    *out_counts = m.counts;
    hone_vec_deinit(&m.batch);
    hone_arena_destroy(m.arena);
    return st;
}
