/* database/database.c - checks arguments and takes the lock once, so that no backend has to. */
#include "database/database.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "database/database_impl.h"
#include "database/session_owner.h"
#include "measure/run.h"
#include "support/data/vec.h"

void hone_db_init(hone_db *db, const hone_db_vtable *vt) {
    db->vt = vt;
    hone_mutex_init(&db->lock);
}

void hone_db_close(hone_db *db) {
    if (!db) return;
    hone_mutex_deinit(&db->lock);
    db->vt->destroy(db);
}

/* Runs one backend call under the lock. */
#define LOCKED(db, call)                                                                           \
    do {                                                                                           \
        hone_mutex_lock(&(db)->lock);                                                              \
        hone_status locked_ = (call);                                                              \
        hone_mutex_unlock(&(db)->lock);                                                            \
        if (locked_) return hone_status_trail(locked_, __FILE__, __LINE__);                        \
        return HONE_OK;                                                                            \
    } while (0)

static hone_status need_text(const char *text, const char *what) {
    if (text && *text) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "%s is missing", what);
}

hone_status hone_db_need_writable(const hone_db *db) {
    if (!db->read_only) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID, "the database was opened for reading only");
}

/* ---- writing ---- */

hone_status hone_db_put_workload(hone_db *db, const hone_db_workload *workload) {
    assert(db && workload);
    HONE_TRY(hone_db_need_writable(db));
    HONE_TRY(need_text(workload->name, "name of the workload"));
    HONE_TRY(need_text(workload->program, "program of the workload"));
    if (!isfinite(workload->flops) || workload->flops < 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "flops is %g, must be a number of at least 0",
                          workload->flops);
    }
    LOCKED(db, db->vt->put_workload(db, workload));
}

hone_status hone_db_put_target(hone_db *db, const hone_db_target *target) {
    assert(db && target);
    HONE_TRY(hone_db_need_writable(db));
    HONE_TRY(need_text(target->text, "text of the target"));
    if (target->threads < 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "threads is %d, must be at least 1", target->threads);
    }
    LOCKED(db, db->vt->put_target(db, target));
}

hone_status hone_db_begin_session(hone_db *db, const hone_db_session *session) {
    assert(db && session);
    HONE_TRY(hone_db_need_writable(db));
    HONE_TRY(need_text(session->id, "id of the session"));
    HONE_TRY(need_text(session->state, "state of the session"));
    LOCKED(db, db->vt->begin_session(db, session));
}

hone_status hone_db_end_session(hone_db *db, const char *id, const char *state, int64_t ended_ns) {
    assert(db);
    HONE_TRY(hone_db_need_writable(db));
    HONE_TRY(need_text(id, "id of the session"));
    HONE_TRY(need_text(state, "state of the session"));
    LOCKED(db, db->vt->end_session(db, id, state, ended_ns));
}

static hone_status check_numbers(const hone_db_trial *trial) {
    bool ok = strcmp(trial->outcome, HONE_DB_OUTCOME_OK) == 0;
    if (ok && !hone_run_is_time(trial->median_ns)) {
        return HONE_ERROR(HONE_CODE_INVALID, "median_ns of an ok trial is %g, must be at least %g",
                          trial->median_ns, HONE_RUN_LEAST_NS);
    }
    if (!ok && !isnan(trial->median_ns)) {
        return HONE_ERROR(HONE_CODE_INVALID, "median_ns of a failed trial (%s) is %g, must be nan",
                          trial->outcome, trial->median_ns);
    }
    if (!isnan(trial->confirmed_ns) && !(ok && hone_run_is_time(trial->confirmed_ns))) {
        return HONE_ERROR(HONE_CODE_INVALID, "confirmed_ns is %g on a trial with outcome '%s'",
                          trial->confirmed_ns, trial->outcome);
    }
    for (size_t i = 0; i < trial->sample_count; i++) {
        if (!isfinite(trial->samples_ns[i]) || trial->samples_ns[i] < 0) {
            return HONE_ERROR(HONE_CODE_INVALID, "sample %zu is %g, must be at least 0", i,
                              trial->samples_ns[i]);
        }
    }
    return HONE_OK;
}

hone_status hone_db_check_trial(const hone_db_trial *trial) {
    HONE_TRY(need_text(trial->session, "session of the trial"));
    HONE_TRY(need_text(trial->trace, "trace of the trial"));
    HONE_TRY(need_text(trial->outcome, "outcome of the trial"));
    if (trial->proposal < 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "proposal is %" PRId64 ", must be at least 0",
                          trial->proposal);
    }
    if (trial->sample_count && !trial->samples_ns) {
        return HONE_ERROR(HONE_CODE_INVALID, "sample_count is %zu, but there are no samples",
                          trial->sample_count);
    }
    uint64_t cells = (uint64_t)trial->feature_rows * trial->feature_columns;
    if (cells > (UINT64_C(1) << 24)) {
        return HONE_ERROR(HONE_CODE_INVALID, "features of %u rows × %u columns are too many",
                          trial->feature_rows, trial->feature_columns);
    }
    return check_numbers(trial);
}

hone_status hone_db_commit_trial(hone_db *db, const hone_db_trial *trial, int64_t *out_record) {
    assert(db && trial);
    int64_t record = 0;
    if (!out_record) out_record = &record;
    *out_record = 0;
    HONE_TRY(hone_db_need_writable(db));
    HONE_TRY(hone_db_check_trial(trial));
    LOCKED(db, db->vt->commit(db, trial, 1, out_record));
}

hone_status hone_db_commit_trials(hone_db *db, const hone_db_trial *trials, size_t count) {
    assert(db && (trials || !count));
    int64_t record = 0;
    HONE_TRY(hone_db_need_writable(db));
    for (size_t i = 0; i < count; i++)
        HONE_TRY(hone_db_check_trial(&trials[i]));
    if (!count) return HONE_OK;
    LOCKED(db, db->vt->commit(db, trials, count, &record));
}

hone_status hone_db_confirm(hone_db *db, int64_t record, double confirmed_ns,
                            int64_t confirmed_at_ns) {
    assert(db);
    HONE_TRY(hone_db_need_writable(db));
    if (!hone_run_is_time(confirmed_ns)) {
        return HONE_ERROR(HONE_CODE_INVALID, "confirmed_ns is %g, must be at least %g",
                          confirmed_ns, HONE_RUN_LEAST_NS);
    }
    LOCKED(db, db->vt->confirm(db, record, confirmed_ns, confirmed_at_ns));
}

hone_status hone_db_prune(hone_db *db, int64_t keep, int64_t *out_removed) {
    assert(db && out_removed);
    *out_removed = 0;
    HONE_TRY(hone_db_need_writable(db));
    if (keep < 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "trials to keep is %" PRId64 ", must be at least 1",
                          keep);
    }
    LOCKED(db, db->vt->prune(db, keep, out_removed));
}

/* ---- reading trials ---- */

/* Counts what a visit has seen of several queries. */
typedef struct counted_visit {
    hone_db_visit_trial visit;
    void *ctx;
    int64_t count;
    bool stopped;
} counted_visit;

static bool visit_counted(void *ctx, const hone_db_trial *trial) {
    counted_visit *c = ctx;
    c->count++;
    c->stopped = !c->visit(c->ctx, trial);
    return !c->stopped;
}

/* Asks of one target after the other, until there are enough. */
static hone_status query_targets(hone_db *db, hone_db_query query, counted_visit *c) {
    const hone_hash128 *targets = query.filter.target;
    size_t count = targets && query.filter.target_count ? query.filter.target_count : 1;
    int64_t limit = query.filter.limit;
    for (size_t i = 0; i < count && !c->stopped && !(limit > 0 && c->count == limit); i++) {
        query.filter.target = targets ? &targets[i] : NULL;
        query.filter.limit = limit > 0 ? limit - c->count : 0;
        HONE_TRY(db->vt->query(db, &query, visit_counted, c));
    }
    return HONE_OK;
}

static hone_status query_best(hone_db *db, hone_db_query query, counted_visit *c) {
    query.filter.order = HONE_DB_ORDER_FASTEST;
    query.confirmed = HONE_DB_CONFIRMED_ONLY;
    query.by_confirmed = true;
    HONE_TRY(query_targets(db, query, c));
    query.confirmed = HONE_DB_CONFIRMED_NOT;
    query.by_confirmed = false;
    return query_targets(db, query, c);
}

static hone_status query_any(hone_db *db, const hone_db_query *query, hone_db_visit_trial visit,
                             void *ctx) {
    counted_visit c = {.visit = visit, .ctx = ctx};
    bool is_best = query->filter.order == HONE_DB_ORDER_BEST;
    return is_best ? query_best(db, *query, &c) : query_targets(db, *query, &c);
}

hone_status hone_db_trials(hone_db *db, const hone_db_filter *filter, hone_db_visit_trial visit,
                           void *ctx) {
    assert(db && visit);
    hone_db_query query = {0};
    if (filter) query.filter = *filter;
    LOCKED(db, query_any(db, &query, visit, ctx));
}

hone_status hone_db_begin_look(hone_db *db) {
    assert(db);
    if (!db->read_only || !db->vt->begin_look) return HONE_OK;
    LOCKED(db, db->vt->begin_look(db));
}

void hone_db_end_look(hone_db *db) {
    assert(db);
    if (!db->read_only || !db->vt->end_look) return;
    hone_mutex_lock(&db->lock);
    db->vt->end_look(db);
    hone_mutex_unlock(&db->lock);
}

hone_status hone_db_history(hone_db *db, const hone_hash128 *workload, const hone_hash128 *target,
                            hone_db_visit_moment visit, void *ctx) {
    assert(db && workload && target && visit);
    LOCKED(db, db->vt->history(db, workload, target, visit, ctx));
}

double hone_db_trial_ns(const hone_db_trial *trial) {
    return isnan(trial->confirmed_ns) ? trial->median_ns : trial->confirmed_ns;
}

typedef struct keep_one {
    hone_arena *arena;
    hone_db_trial *kept; /* NULL until one was seen */
    bool failed;
} keep_one;

static bool keep_trial(void *ctx, const hone_db_trial *trial) {
    keep_one *keep = ctx;
    keep->kept = hone_db_trial_copy(keep->arena, trial);
    keep->failed = !keep->kept;
    return false;
}

static hone_status query_one(hone_db *db, const hone_db_query *query, hone_arena *arena,
                             const hone_db_trial **out_trial) {
    keep_one keep = {.arena = arena};
    HONE_TRY(query_any(db, query, keep_trial, &keep));
    if (keep.failed) return HONE_ERROR(HONE_CODE_NO_MEMORY, "trial");
    *out_trial = keep.kept;
    return HONE_OK;
}

/* A record number is decimal; a uid prefix has at least 4 hex digits. All-digit text of less than
 * 19 digits is a record number first, and a prefix when there is no such record. */
static bool parse_record(const char *text, int64_t *out_record) {
    size_t length = strspn(text, "0123456789");
    if (!length || text[length] || length > 18) return false;
    *out_record = 0;
    for (const char *c = text; *c; c++)
        *out_record = *out_record * 10 + (*c - '0');
    return *out_record > 0;
}

static bool parse_prefix(const char *text, char out_prefix[33]) {
    size_t length = strlen(text);
    if (length < 4 || length > 32) return false;
    for (size_t i = 0; i <= length; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'F') c = (char)(c - 'A' + 'a');
        if (c && !strchr("0123456789abcdef", c)) return false;
        out_prefix[i] = c;
    }
    return true;
}

static hone_status get_trial(hone_db *db, const char *text, hone_arena *arena,
                             const hone_db_trial **out_trial) {
    hone_db_query query = {
        .filter = {.limit = 1, .with_samples = true, .with_features = true}
    };
    char prefix[33];
    bool is_record = parse_record(text, &query.filter.record);
    if (is_record) HONE_TRY(query_one(db, &query, arena, out_trial));
    if (*out_trial) return HONE_OK;
    if (!parse_prefix(text, prefix)) {
        if (is_record) return HONE_ERROR(HONE_CODE_NOT_FOUND, "no record '%s'", text);
        return HONE_ERROR(HONE_CODE_INVALID,
                          "'%s' is neither a record number nor 4 to 32 hex digits of a uid", text);
    }
    int count = 0;
    HONE_TRY(db->vt->find_uid(db, prefix, &count, &query.filter.record));
    if (!count) return HONE_ERROR(HONE_CODE_NOT_FOUND, "no record '%s'", text);
    if (count > 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "several records begin with '%s'; give more digits",
                          text);
    }
    return query_one(db, &query, arena, out_trial);
}

hone_status hone_db_get_trial(hone_db *db, const char *record_or_uid, hone_arena *arena,
                              const hone_db_trial **out_trial) {
    assert(db && record_or_uid && arena && out_trial);
    *out_trial = NULL;
    LOCKED(db, get_trial(db, record_or_uid, arena, out_trial));
}

hone_status hone_db_has_program(hone_db *db, const hone_hash128 *workload,
                                const hone_hash128 *target, const hone_hash128 *program,
                                int64_t last_record, bool *out_has) {
    assert(db && workload && target && program && out_has);
    *out_has = false;
    LOCKED(db, db->vt->has_program(db, workload, target, program, last_record, out_has));
}

/* ---- reading the rest ---- */

hone_status hone_db_workloads(hone_db *db, const hone_hash128 *hash, hone_db_visit_workload visit,
                              void *ctx) {
    assert(db && visit);
    LOCKED(db, db->vt->workloads(db, hash, visit, ctx));
}

hone_status hone_db_targets(hone_db *db, const hone_hash128 *hash, hone_db_visit_target visit,
                            void *ctx) {
    assert(db && visit);
    LOCKED(db, db->vt->targets(db, hash, visit, ctx));
}

/* Shows sessions whose process is no more as what they are. */
typedef struct session_visit {
    hone_db_visit_session visit;
    void *ctx;
} session_visit;

static bool is_killed(const hone_db_session *session) {
    return strcmp(session->state, "running") == 0 && hone_db_owner_is_gone(session->owner);
}

static bool visit_session(void *ctx, const hone_db_session *session) {
    const session_visit *v = ctx;
    hone_db_session shown = *session;
    if (is_killed(session)) shown.state = "killed";
    return v->visit(v->ctx, &shown);
}

hone_status hone_db_sessions(hone_db *db, const char *id, hone_db_visit_session visit, void *ctx) {
    assert(db && visit);
    session_visit v = {visit, ctx};
    LOCKED(db, db->vt->sessions(db, id, visit_session, &v));
}

typedef struct killed_sessions {
    hone_arena *arena;
    HONE_VEC(const char *) ids;
    bool failed;
} killed_sessions;

static bool note_killed(void *ctx, const hone_db_session *session) {
    killed_sessions *k = ctx;
    if (!is_killed(session)) return true;
    const char *id = hone_arena_strdup(k->arena, session->id);
    k->failed |= !id || !hone_vec_push(&k->ids, id);
    return !k->failed;
}

static bool note_wall_time(void *ctx, const hone_db_trial *trial) {
    *(int64_t *)ctx = trial->wall_ns;
    return false;
}

static hone_status end_killed(hone_db *db, const char *id) {
    int64_t ended_ns = 0;
    hone_db_filter last = {.session = id, .limit = 1, .order = HONE_DB_ORDER_LATEST};
    HONE_TRY(hone_db_trials(db, &last, note_wall_time, &ended_ns));
    return hone_db_end_session(db, id, "killed", ended_ns);
}

hone_status hone_db_end_killed(hone_db *db) {
    killed_sessions k = {.arena = hone_arena_create(1024)};
    hone_status st = k.arena ? db->vt->sessions(db, NULL, note_killed, &k)
                             : HONE_ERROR(HONE_CODE_NO_MEMORY, "sessions");
    if (!st && k.failed) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "sessions");
    for (size_t i = 0; i < k.ids.count && !st; i++)
        st = end_killed(db, k.ids.data[i]);
    hone_vec_deinit(&k.ids);
    hone_arena_destroy(k.arena);
    return st;
}

hone_status hone_db_tasks(hone_db *db, hone_db_visit_task visit, void *ctx) {
    assert(db && visit);
    LOCKED(db, db->vt->tasks(db, visit, ctx));
}

hone_status hone_db_failures(hone_db *db, hone_db_visit_failure visit, void *ctx) {
    assert(db && visit);
    LOCKED(db, db->vt->failures(db, visit, ctx));
}

hone_status hone_db_get_stats(hone_db *db, hone_db_stats *out_stats) {
    assert(db && out_stats);
    *out_stats = (hone_db_stats){0};
    LOCKED(db, db->vt->stats(db, out_stats));
}

hone_status hone_db_check(hone_db *db, hone_db_report report, void *ctx) {
    assert(db && report);
    LOCKED(db, db->vt->check(db, report, ctx));
}

hone_status hone_db_select(hone_db *db, const hone_db_statement *statement, hone_db_visit_row visit,
                           void *ctx) {
    assert(db && statement && statement->sql && visit);
    if (!db->vt->select) {
        return HONE_ERROR(HONE_CODE_UNSUPPORTED, "a database in memory has no SQL; use a file");
    }
    LOCKED(db, db->vt->select(db, statement, visit, ctx));
}

hone_status hone_db_sql(hone_db *db, const char *sql, int64_t timeout_ns, hone_db_visit_row visit,
                        void *ctx) {
    hone_db_statement statement = {.sql = sql, .timeout_ns = timeout_ns};
    return hone_db_select(db, &statement, visit, ctx);
}
