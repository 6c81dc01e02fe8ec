/* database/db_merge.c - copies what one database knows into another, over any backends. */
#include <assert.h>

#include "database/database_impl.h"
#include "support/core/alloc.h"
#include "support/data/map.h"
#include "support/data/vec.h"

enum { BATCH = 128 }; /* trials per transaction */

typedef HONE_VEC(hone_db_trial) trial_vec;

struct hone_db_joiner {
    hone_db *into;
    hone_arena *arena;   /* of the batch */
    hone_map128 pending; /* uids of the batch */
    hone_map128 known;   /* workloads, targets and sessions that are there */
    trial_vec fresh, changed;
    hone_db_merge_counts counts;
};

hone_status hone_db_joiner_create(hone_db *into, hone_db_joiner **out_joiner) {
    assert(into && out_joiner);
    *out_joiner = NULL;
    HONE_TRY(hone_db_need_writable(into));
    hone_db_joiner *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_NO_MEMORY("merging databases");
    self->into = into;
    self->arena = hone_arena_create(1 << 16);
    if (!self->arena) {
        hone_db_joiner_destroy(self);
        return HONE_NO_MEMORY("merging databases");
    }
    *out_joiner = self;
    return HONE_OK;
}

void hone_db_joiner_destroy(hone_db_joiner *self) {
    if (!self) return;
    hone_vec_deinit(&self->fresh);
    hone_vec_deinit(&self->changed);
    hone_map128_deinit(&self->pending);
    hone_map128_deinit(&self->known);
    hone_arena_destroy(self->arena);
    hone_free(self);
}

/* Runs one call of the backend under the handle's lock. */
#define LOCKED(db, out_status, call)                                                               \
    do {                                                                                           \
        hone_mutex_lock(&(db)->lock);                                                              \
        (out_status) = (call);                                                                     \
        hone_mutex_unlock(&(db)->lock);                                                            \
    } while (0)

/* ---- workloads, targets, sessions ---- */

typedef struct workload_join {
    const hone_db_workload *from;
    hone_db_workload joined; /* the other's whole, or not used */
    bool is_there, is_news;
} workload_join;

static const char *keep_text(hone_arena *arena, const char *text, bool *failed) {
    const char *copy = text ? hone_arena_strdup(arena, text) : NULL;
    *failed |= text && !copy;
    return copy;
}

static bool join_workload(void *ctx, const hone_db_workload *there) {
    workload_join *j = ctx;
    j->is_there = true;
    j->joined = *there;
    j->is_news = hone_db_join_workloads(&j->joined, j->from);
    return false;
}

hone_status hone_db_join_workload(hone_db_joiner *self, const hone_db_workload *workload) {
    workload_join j = {.from = workload};
    hone_status st = HONE_OK;
    HONE_TRY(hone_db_workloads(self->into, &workload->hash, join_workload, &j));
    if (!j.is_there) HONE_TRY(hone_db_put_workload(self->into, workload));
    if (j.is_news) LOCKED(self->into, st, self->into->vt->replace_workload(self->into, &j.joined));
    self->counts.changed += j.is_news;
    return st;
}

hone_status hone_db_join_target(hone_db_joiner *self, const hone_db_target *target) {
    return hone_db_put_target(self->into, target); /* its content is its identity */
}

typedef struct session_join {
    const hone_db_session *from;
    hone_db_session joined;
    hone_arena *arena;
    bool is_there, is_news, failed;
} session_join;

static bool join_session(void *ctx, const hone_db_session *there) {
    session_join *j = ctx;
    hone_db_session *s = &j->joined;
    j->is_there = true;
    *s = *there;
    j->is_news = hone_db_join_sessions(s, j->from);
    s->id = keep_text(j->arena, s->id, &j->failed);
    s->model = keep_text(j->arena, s->model, &j->failed);
    s->command_line = keep_text(j->arena, s->command_line, &j->failed);
    s->hone_version = keep_text(j->arena, s->hone_version, &j->failed);
    s->options_json = keep_text(j->arena, s->options_json, &j->failed);
    s->state = keep_text(j->arena, s->state, &j->failed);
    s->owner = keep_text(j->arena, s->owner, &j->failed);
    return false;
}

hone_status hone_db_join_session(hone_db_joiner *self, const hone_db_session *session) {
    session_join j = {.from = session, .arena = self->arena};
    hone_status st = HONE_OK;
    LOCKED(self->into, st, self->into->vt->sessions(self->into, session->id, join_session, &j));
    if (st) return st;
    if (j.failed) return HONE_NO_MEMORY("merging databases");
    if (j.is_news) LOCKED(self->into, st, self->into->vt->replace_session(self->into, &j.joined));
    if (!st && !j.is_there) st = hone_db_begin_session(self->into, session);
    self->counts.sessions += !st && !j.is_there;
    self->counts.changed += !st && j.is_news;
    return st;
}

/* ---- trials ---- */

static bool see_workload(void *ctx, const hone_db_workload *row) {
    return !row || !(*(bool *)ctx = true);
}
static bool see_target(void *ctx, const hone_db_target *row) {
    return !row || !(*(bool *)ctx = true);
}
static bool see_session(void *ctx, const hone_db_session *row) {
    return !row || !(*(bool *)ctx = true);
}

static hone_status remember(hone_db_joiner *self, hone_hash128 key, bool is_there, const char *what,
                            const char *identity) {
    if (!is_there) return hone_db_missing(what, identity);
    return hone_map128_put(&self->known, key, 0) ? HONE_OK : HONE_NO_MEMORY("merging databases");
}

/* Says at once what the transaction would only say about all of its trials. */
static hone_status check_references(hone_db_joiner *self, const hone_db_trial *trial) {
    char hex[HONE_HASH_HEX_BYTES];
    bool found = false;
    hone_hash128 session = hone_hash128_text(trial->session);
    if (!hone_map128_find(&self->known, session, NULL)) {
        HONE_TRY(hone_db_sessions(self->into, trial->session, see_session, &found));
        HONE_TRY(remember(self, session, found, "session", trial->session));
    }
    found = false;
    if (!hone_map128_find(&self->known, trial->workload, NULL)) {
        HONE_TRY(hone_db_workloads(self->into, &trial->workload, see_workload, &found));
        HONE_TRY(remember(self, trial->workload, found, "workload",
                          hone_hash128_print(trial->workload, hex)));
    }
    found = false;
    if (hone_map128_find(&self->known, trial->target, NULL)) return HONE_OK;
    HONE_TRY(hone_db_targets(self->into, &trial->target, see_target, &found));
    return remember(self, trial->target, found, "target", hone_hash128_print(trial->target, hex));
}

static hone_status flush(hone_db_joiner *self) {
    hone_db *into = self->into;
    hone_status st = hone_db_commit_trials(into, self->fresh.data, self->fresh.count);
    if (!st) self->counts.trials += (int64_t)self->fresh.count;
    if (!st && self->changed.count) {
        LOCKED(into, st, into->vt->replace(into, self->changed.data, self->changed.count));
    }
    if (!st) self->counts.changed += (int64_t)self->changed.count;
    hone_vec_clear(&self->fresh);
    hone_vec_clear(&self->changed);
    hone_map128_clear(&self->pending);
    hone_arena_reset(self->arena);
    return st;
}

typedef struct trial_join {
    hone_arena *arena;
    const hone_db_trial *from;
    hone_db_trial *joined;
    bool is_news;
} trial_join;

static bool join_trial(void *ctx, const hone_db_trial *there) {
    trial_join *j = ctx;
    hone_db_trial joined = *there;
    j->is_news = hone_db_join_trials(&joined, j->from);
    if (j->is_news) j->joined = hone_db_trial_copy(j->arena, &joined);
    return false;
}

static hone_status join_known(hone_db_joiner *self, const hone_db_trial *trial, int64_t record) {
    hone_status st = HONE_OK;
    trial_join j = {.arena = self->arena, .from = trial};
    hone_db_query query = {
        .filter = {.record = record, .limit = 1, .with_samples = true, .with_features = true}
    };
    self->counts.known++;
    LOCKED(self->into, st, self->into->vt->query(self->into, &query, join_trial, &j));
    if (st || !j.is_news) return st;
    return j.joined && hone_vec_push(&self->changed, *j.joined)
               ? HONE_OK
               : HONE_NO_MEMORY("merging databases");
}

hone_status hone_db_join_trial(hone_db_joiner *self, const hone_db_trial *trial) {
    char uid[HONE_HASH_HEX_BYTES];
    int found = 0;
    int64_t record = 0;
    hone_status st = HONE_OK;
    HONE_TRY(hone_db_check_trial(trial));
    HONE_TRY(check_references(self, trial));
    hone_hash128 key =
        hone_db_trial_uid(trial->session, &trial->workload, &trial->target, trial->proposal);
    if (hone_map128_find(&self->pending, key, NULL)) HONE_TRY(flush(self));
    hone_hash128_print(key, uid);
    LOCKED(self->into, st, self->into->vt->find_uid(self->into, uid, &found, &record));
    if (st) return st;
    if (!hone_map128_put(&self->pending, key, 0)) return HONE_NO_MEMORY("merging databases");
    if (found) {
        HONE_TRY(join_known(self, trial, record));
    } else {
        const hone_db_trial *copy = hone_db_trial_copy(self->arena, trial);
        if (!copy || !hone_vec_push(&self->fresh, *copy))
            return HONE_NO_MEMORY("merging databases");
    }
    return hone_map128_count(&self->pending) >= BATCH ? flush(self) : HONE_OK;
}

hone_status hone_db_joiner_finish(hone_db_joiner *self, hone_db_merge_counts *out_counts) {
    hone_status st = flush(self);
    *out_counts = self->counts;
    return st;
}

/* ---- a whole database ---- */

typedef struct merge {
    hone_db_joiner *joiner;
    hone_status status; /* of what went wrong inside of a visit */
} merge;

static bool merge_workload(void *ctx, const hone_db_workload *workload) {
    merge *m = ctx;
    m->status = hone_db_join_workload(m->joiner, workload);
    return !m->status;
}

static bool merge_target(void *ctx, const hone_db_target *target) {
    merge *m = ctx;
    m->status = hone_db_join_target(m->joiner, target);
    return !m->status;
}

static bool merge_session(void *ctx, const hone_db_session *session) {
    merge *m = ctx;
    m->status = hone_db_join_session(m->joiner, session);
    return !m->status;
}

static bool merge_trial(void *ctx, const hone_db_trial *trial) {
    merge *m = ctx;
    m->status = hone_db_join_trial(m->joiner, trial);
    return !m->status;
}

/* The failure of a visit, or that of the call around it. */
static hone_status settle(merge *m, hone_status st) {
    st = hone_status_join(m->status, st);
    m->status = HONE_OK;
    return st;
}

static hone_status merge_all(merge *m, hone_db *from) {
    hone_db_filter everything = {
        .order = HONE_DB_ORDER_RECORD, .with_samples = true, .with_features = true};
    HONE_TRY(settle(m, hone_db_workloads(from, NULL, merge_workload, m)));
    HONE_TRY(settle(m, hone_db_targets(from, NULL, merge_target, m)));
    hone_status st = HONE_OK;
    LOCKED(from, st, from->vt->sessions(from, NULL, merge_session, m)); /* as they are stored */
    HONE_TRY(settle(m, st));
    return settle(m, hone_db_trials(from, &everything, merge_trial, m));
}

hone_status hone_db_merge(hone_db *into, hone_db *from, hone_db_merge_counts *out_counts) {
    assert(into && from && out_counts);
    *out_counts = (hone_db_merge_counts){0};
    if (into == from)
        return HONE_ERROR(HONE_CODE_INVALID, "a database cannot be merged into itself");
    merge m = {0};
    HONE_TRY(hone_db_joiner_create(into, &m.joiner));
    hone_status st = merge_all(&m, from);
    st = hone_status_join(st, hone_db_joiner_finish(m.joiner, out_counts));
    hone_db_joiner_destroy(m.joiner);
    return st;
}
