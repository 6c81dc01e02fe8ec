/* database/db_memory.c - the memory backend: plain arrays, for tests and for tuning without a
 * file. Everything it keeps lives in one arena, what is removed too. Queries sort an array of
 * pointers: simple on purpose, it is what the sqlite backend is compared with.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "database/db_memory_impl.h"
#include "support/core/alloc.h"

static db_memory *as_memory(hone_db *base) {
    return (db_memory *)base;
}

static void destroy(hone_db *base) {
    db_memory *db = as_memory(base);
    hone_vec_deinit(&db->workloads);
    hone_vec_deinit(&db->targets);
    hone_vec_deinit(&db->sessions);
    hone_vec_deinit(&db->trials);
    hone_map128_deinit(&db->uids);
    hone_arena_destroy(db->arena);
    hone_free(db);
}

static const char *keep(db_memory *db, const char *text, bool *ok) {
    const char *copy = text ? hone_arena_strdup(db->arena, text) : NULL;
    if (text && !copy) *ok = false;
    return copy;
}

/* ---- lookups ---- */

hone_db_workload *db_memory_workload(const db_memory *db, const hone_hash128 *hash) {
    for (size_t i = 0; i < db->workloads.count; i++) {
        if (hone_hash128_equal(db->workloads.data[i]->hash, *hash)) return db->workloads.data[i];
    }
    return NULL;
}

static hone_db_target *find_target(const db_memory *db, const hone_hash128 *hash) {
    for (size_t i = 0; i < db->targets.count; i++) {
        if (hone_hash128_equal(db->targets.data[i]->hash, *hash)) return db->targets.data[i];
    }
    return NULL;
}

static hone_db_session *find_session(const db_memory *db, const char *id) {
    for (size_t i = 0; i < db->sessions.count; i++) {
        if (strcmp(db->sessions.data[i]->id, id) == 0) return db->sessions.data[i];
    }
    return NULL;
}

static int64_t last_record(const db_memory *db) {
    return db->trials.count ? db->trials.data[db->trials.count - 1]->record : 0;
}

/* Records grow along the array. */
static hone_db_trial *find_record(const db_memory *db, int64_t record) {
    size_t low = 0, high = db->trials.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (db->trials.data[middle]->record < record) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_there = low < db->trials.count && db->trials.data[low]->record == record;
    return is_there ? db->trials.data[low] : NULL;
}

/* ---- writing ---- */

static hone_db_workload *copy_workload(db_memory *db, const hone_db_workload *workload) {
    hone_db_workload *copy = hone_arena_copy(db->arena, workload, sizeof *workload);
    if (!copy) return NULL;
    bool ok = true;
    copy->name = keep(db, workload->name, &ok);
    copy->program = keep(db, workload->program, &ok);
    copy->args_json = keep(db, workload->args_json, &ok);
    return ok ? copy : NULL;
}

static hone_status put_workload(hone_db *base, const hone_db_workload *workload) {
    db_memory *db = as_memory(base);
    if (db_memory_workload(db, &workload->hash)) return HONE_OK;
    hone_db_workload *copy = copy_workload(db, workload);
    return copy && hone_vec_push(&db->workloads, copy) ? HONE_OK : db_memory_no_memory();
}

static hone_status replace_workload(hone_db *base, const hone_db_workload *workload) {
    db_memory *db = as_memory(base);
    hone_db_workload *there = db_memory_workload(db, &workload->hash);
    const hone_db_workload *copy = copy_workload(db, workload);
    if (!copy) return db_memory_no_memory();
    *there = *copy;
    return HONE_OK;
}

static hone_status put_target(hone_db *base, const hone_db_target *target) {
    db_memory *db = as_memory(base);
    if (find_target(db, &target->hash)) return HONE_OK;
    hone_db_target *copy = hone_arena_copy(db->arena, target, sizeof *target);
    if (!copy) return db_memory_no_memory();
    bool ok = true;
    copy->text = keep(db, target->text, &ok);
    return ok && hone_vec_push(&db->targets, copy) ? HONE_OK : db_memory_no_memory();
}

static hone_db_session *copy_session(db_memory *db, const hone_db_session *session) {
    hone_db_session *copy = hone_arena_copy(db->arena, session, sizeof *session);
    if (!copy) return NULL;
    bool ok = true;
    copy->id = keep(db, session->id, &ok);
    copy->model = keep(db, session->model, &ok);
    copy->command_line = keep(db, session->command_line, &ok);
    copy->hone_version = keep(db, session->hone_version, &ok);
    copy->options_json = keep(db, session->options_json, &ok);
    copy->state = keep(db, session->state, &ok);
    copy->owner = keep(db, session->owner, &ok);
    return ok ? copy : NULL;
}

static hone_status begin_session(hone_db *base, const hone_db_session *session) {
    db_memory *db = as_memory(base);
    if (find_session(db, session->id)) {
        return HONE_ERROR(HONE_CODE_INVALID, "there is a session '%s' already", session->id);
    }
    hone_db_session *copy = copy_session(db, session);
    return copy && hone_vec_push(&db->sessions, copy) ? HONE_OK : db_memory_no_memory();
}

static hone_status replace_session(hone_db *base, const hone_db_session *session) {
    db_memory *db = as_memory(base);
    hone_db_session *there = find_session(db, session->id);
    const hone_db_session *copy = copy_session(db, session);
    if (!copy) return db_memory_no_memory();
    *there = *copy;
    return HONE_OK;
}

static hone_status end_session(hone_db *base, const char *id, const char *state, int64_t ended_ns) {
    db_memory *db = as_memory(base);
    hone_db_session *session = find_session(db, id);
    if (!session) return HONE_ERROR(HONE_CODE_NOT_FOUND, "no session '%s'", id);
    bool ok = true;
    const char *copy = keep(db, state, &ok);
    if (!ok) return db_memory_no_memory();
    session->state = copy;
    session->ended_ns = ended_ns;
    return HONE_OK;
}

static hone_status put_trial(db_memory *db, const hone_db_trial *trial) {
    char hex[HONE_HASH_HEX_BYTES];
    if (!find_session(db, trial->session)) return hone_db_missing("session", trial->session);
    if (!db_memory_workload(db, &trial->workload)) {
        return hone_db_missing("workload", hone_hash128_print(trial->workload, hex));
    }
    if (!find_target(db, &trial->target)) {
        return hone_db_missing("target", hone_hash128_print(trial->target, hex));
    }
    hone_hash128 uid =
        hone_db_trial_uid(trial->session, &trial->workload, &trial->target, trial->proposal);
    if (hone_map128_find(&db->uids, uid, NULL)) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "proposal %" PRId64 " of session '%s' was committed before",
                          trial->proposal, trial->session);
    }
    hone_db_trial *copy = hone_db_trial_copy(db->arena, trial);
    if (!copy) return db_memory_no_memory();
    copy->uid = uid;
    copy->record = last_record(db) + 1;
    if (!hone_map128_put(&db->uids, uid, 0)) return db_memory_no_memory();
    if (hone_vec_push(&db->trials, copy)) return HONE_OK;
    hone_map128_remove(&db->uids, uid);
    return db_memory_no_memory();
}

static hone_status commit(hone_db *base, const hone_db_trial *trials, size_t count,
                          int64_t *out_record) {
    db_memory *db = as_memory(base);
    size_t before = db->trials.count;
    hone_status st = HONE_OK;
    for (size_t i = 0; i < count && !st; i++)
        st = put_trial(db, &trials[i]);
    if (!st) {
        *out_record = last_record(db);
        return HONE_OK;
    }
    while (db->trials.count > before) {
        hone_map128_remove(&db->uids, hone_vec_pop(&db->trials)->uid);
    }
    return st;
}

static hone_status replace(hone_db *base, const hone_db_trial *trials, size_t count) {
    db_memory *db = as_memory(base);
    for (size_t i = 0; i < count; i++) {
        hone_db_trial *there = find_record(db, trials[i].record);
        const hone_db_trial *copy = hone_db_trial_copy(db->arena, &trials[i]);
        if (!copy) return db_memory_no_memory();
        *there = *copy;
    }
    return HONE_OK;
}

static hone_status confirm(hone_db *base, int64_t record, double confirmed_ns,
                           int64_t confirmed_at_ns) {
    db_memory *db = as_memory(base);
    hone_db_trial *trial = find_record(db, record);
    if (!trial || !db_memory_is_ok(trial)) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "no ok record %" PRId64, record);
    }
    trial->confirmed_ns = confirmed_ns;
    trial->confirmed_at_ns = confirmed_at_ns;
    return HONE_OK;
}

static int by_speed(const void *a, const void *b) {
    const hone_db_trial *x = *(hone_db_trial *const *)a, *y = *(hone_db_trial *const *)b;
    int order = hone_hash128_compare(x->workload, y->workload);
    if (!order) order = hone_hash128_compare(x->target, y->target);
    if (!order) order = (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
    return order ? order : hone_hash128_compare(x->uid, y->uid);
}

/* Puts the records of the `keep_count` fastest of each task into a map. */
static hone_status mark_fastest(const db_memory *db, int64_t keep_count, hone_map128 *out_marked) {
    trial_vec good = {0};
    hone_status st = HONE_OK;
    for (size_t i = 0; i < db->trials.count && !st; i++) {
        if (db_memory_is_ok(db->trials.data[i]) && !hone_vec_push(&good, db->trials.data[i])) {
            st = db_memory_no_memory();
        }
    }
    if (good.count) qsort(good.data, good.count, sizeof *good.data, by_speed);
    int64_t place = 0;
    for (size_t i = 0; i < good.count && !st; i++) {
        const hone_db_trial *trial = good.data[i];
        bool is_first =
            !i || !db_memory_is_of(trial, &good.data[i - 1]->workload, &good.data[i - 1]->target);
        place = is_first ? 0 : place + 1;
        if (place < keep_count && !hone_map128_put(out_marked, trial->uid, 0))
            st = db_memory_no_memory();
    }
    hone_vec_deinit(&good);
    return st;
}

static hone_status prune(hone_db *base, int64_t keep_count, int64_t *out_removed) {
    db_memory *db = as_memory(base);
    hone_map128 fastest = {0};
    hone_status st = mark_fastest(db, keep_count, &fastest);
    size_t count = 0, before = db->trials.count;
    for (size_t i = 0; i < before && !st; i++) {
        hone_db_trial *trial = db->trials.data[i];
        if (!isnan(trial->confirmed_ns) || trial->sketch < 0 ||
            hone_map128_find(&fastest, trial->uid, NULL)) {
            db->trials.data[count++] = trial;
        } else {
            hone_map128_remove(&db->uids, trial->uid);
        }
    }
    if (!st) db->trials.count = count;
    *out_removed = st ? 0 : (int64_t)(before - count);
    hone_map128_deinit(&fastest);
    return st;
}

/* ---- trials ---- */

static bool matches(const hone_db_query *query, const hone_db_trial *trial) {
    const hone_db_filter *f = &query->filter;
    bool ok_only = f->order == HONE_DB_ORDER_FASTEST || query->by_confirmed;
    bool is_confirmed = !isnan(trial->confirmed_ns);
    if (f->record && trial->record != f->record) return false;
    if (f->workload && !hone_hash128_equal(*f->workload, trial->workload)) return false;
    if (f->target && !hone_hash128_equal(*f->target, trial->target)) return false;
    if (f->program && !hone_hash128_equal(*f->program, trial->program)) return false;
    if (f->session && strcmp(f->session, trial->session) != 0) return false;
    if (f->outcome && strcmp(f->outcome, trial->outcome) != 0) return false;
    if (ok_only && !db_memory_is_ok(trial)) return false;
    if (query->confirmed == HONE_DB_CONFIRMED_ONLY) return is_confirmed;
    if (query->confirmed == HONE_DB_CONFIRMED_NOT) return !is_confirmed;
    return true;
}

/* One chosen trial with the keys that it is sorted by. */
typedef struct sort_entry {
    double time;
    int64_t started_ns;
    const hone_db_trial *trial;
} sort_entry;

static int by_time(const void *a, const void *b) {
    const sort_entry *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return hone_hash128_compare(x->trial->uid, y->trial->uid);
}

static int by_record(const void *a, const void *b) {
    const sort_entry *x = a, *y = b;
    return db_memory_compare(x->trial->record, y->trial->record);
}

static int by_last_record(const void *a, const void *b) {
    return by_record(b, a);
}

static int by_latest(const void *a, const void *b) {
    const sort_entry *x = a, *y = b;
    int order = db_memory_compare(y->trial->wall_ns, x->trial->wall_ns);
    return order ? order : by_last_record(a, b);
}

static int by_proposal(const void *a, const void *b) {
    const sort_entry *x = a, *y = b;
    int order = db_memory_compare(x->started_ns, y->started_ns);
    if (!order) order = strcmp(x->trial->session, y->trial->session);
    if (!order) order = db_memory_compare(x->trial->proposal, y->trial->proposal);
    return order ? order : db_memory_compare(x->trial->record, y->trial->record);
}

static void sort_entries(sort_entry *entries, size_t count, const hone_db_query *query) {
    if (query->by_confirmed || query->filter.order == HONE_DB_ORDER_FASTEST) {
        qsort(entries, count, sizeof *entries, by_time);
    } else if (query->filter.order == HONE_DB_ORDER_RECORD) {
        qsort(entries, count, sizeof *entries, by_record);
    } else if (query->filter.order == HONE_DB_ORDER_LATEST) {
        qsort(entries, count, sizeof *entries, by_latest);
    } else if (query->filter.order == HONE_DB_ORDER_LAST_RECORD) {
        qsort(entries, count, sizeof *entries, by_last_record);
    } else {
        qsort(entries, count, sizeof *entries, by_proposal);
    }
}

static void visit_entries(const sort_entry *entries, size_t count, const hone_db_filter *filter,
                          hone_db_visit_trial visit, void *ctx) {
    if (filter->limit > 0 && (uint64_t)filter->limit < count) count = (size_t)filter->limit;
    for (size_t i = 0; i < count; i++) {
        hone_db_trial shown = *entries[i].trial;
        if (!filter->with_samples) {
            shown.samples_ns = NULL;
            shown.sample_count = 0;
        }
        if (!filter->with_features) {
            shown.features = NULL;
            shown.feature_version = 0;
            shown.feature_rows = shown.feature_columns = 0;
        }
        if (filter->without_trace) {
            shown.trace = NULL;
            shown.confirmed_at_ns = 0;
        }
        if (!visit(ctx, &shown)) return;
    }
}

static hone_status query_trials(hone_db *base, const hone_db_query *query,
                                hone_db_visit_trial visit, void *ctx) {
    db_memory *db = as_memory(base);
    size_t count = 0;
    sort_entry *entries = hone_calloc(db->trials.count + 1, sizeof *entries);
    if (!entries) return db_memory_no_memory();
    for (size_t i = 0; i < db->trials.count; i++) {
        const hone_db_trial *trial = db->trials.data[i];
        if (!matches(query, trial)) continue;
        entries[count++] = (sort_entry){
            .time = query->by_confirmed ? trial->confirmed_ns : trial->median_ns,
            .started_ns = find_session(db, trial->session)->started_ns,
            .trial = trial,
        };
    }
    sort_entries(entries, count, query);
    visit_entries(entries, count, &query->filter, visit, ctx);
    hone_free(entries);
    return HONE_OK;
}

static int by_start(const void *a, const void *b) {
    const hone_db_session *const *x = a, *const *y = b;
    int order = db_memory_compare((*x)->started_ns, (*y)->started_ns);
    return order ? order : strcmp((*x)->id, (*y)->id);
}

/* The place of a session in the order that hone_db_sessions has. */
static int32_t place_of(const db_memory *db, const char *id) {
    const hone_db_session *session = find_session(db, id);
    int32_t place = 0;
    for (size_t i = 0; i < db->sessions.count; i++)
        place += by_start(&db->sessions.data[i], &session) < 0;
    return place;
}

static hone_status history(hone_db *base, const hone_hash128 *workload, const hone_hash128 *target,
                           hone_db_visit_moment visit, void *ctx) {
    db_memory *db = as_memory(base);
    const hone_db_query query = {
        .filter = {.workload = workload, .target = target}
    };
    size_t count = 0;
    sort_entry *entries = hone_calloc(db->trials.count + 1, sizeof *entries);
    if (!entries) return db_memory_no_memory();
    for (size_t i = 0; i < db->trials.count; i++) {
        const hone_db_trial *trial = db->trials.data[i];
        if (matches(&query, trial)) entries[count++] = (sort_entry){.trial = trial};
    }
    qsort(entries, count, sizeof *entries, by_latest);
    while (count--) { /* the latest are last */
        const hone_db_trial *trial = entries[count].trial;
        hone_db_moment moment = {.record = trial->record,
                                 .wall_ns = trial->wall_ns,
                                 .session = place_of(db, trial->session),
                                 .median_ns = trial->median_ns,
                                 .confirmed_ns = trial->confirmed_ns};
        if (!visit(ctx, &moment)) break;
    }
    hone_free(entries);
    return HONE_OK;
}

static hone_status find_uid(hone_db *base, const char *prefix, int *out_count,
                            int64_t *out_record) {
    db_memory *db = as_memory(base);
    *out_count = 0;
    for (size_t i = 0; i < db->trials.count && *out_count < 2; i++) {
        char hex[HONE_HASH_HEX_BYTES];
        hone_hash128_print(db->trials.data[i]->uid, hex);
        if (strncmp(hex, prefix, strlen(prefix)) != 0) continue;
        if (!*out_count) *out_record = db->trials.data[i]->record;
        ++*out_count;
    }
    return HONE_OK;
}

static hone_status has_program(hone_db *base, const hone_hash128 *workload,
                               const hone_hash128 *target, const hone_hash128 *program,
                               int64_t last_record, bool *out_has) {
    db_memory *db = as_memory(base);
    for (size_t i = 0; i < db->trials.count && !*out_has; i++) {
        const hone_db_trial *trial = db->trials.data[i];
        *out_has = db_memory_is_of(trial, workload, target) && trial->record <= last_record &&
                   hone_hash128_equal(trial->program, *program);
    }
    return HONE_OK;
}

/* ---- the rest ---- */

static hone_status workloads(hone_db *base, const hone_hash128 *hash, hone_db_visit_workload visit,
                             void *ctx) {
    db_memory *db = as_memory(base);
    for (size_t i = 0; i < db->workloads.count; i++) {
        const hone_db_workload *workload = db->workloads.data[i];
        if (hash && !hone_hash128_equal(*hash, workload->hash)) continue;
        if (!visit(ctx, workload)) break;
    }
    return HONE_OK;
}

static hone_status targets(hone_db *base, const hone_hash128 *hash, hone_db_visit_target visit,
                           void *ctx) {
    db_memory *db = as_memory(base);
    for (size_t i = 0; i < db->targets.count; i++) {
        const hone_db_target *target = db->targets.data[i];
        if (hash && !hone_hash128_equal(*hash, target->hash)) continue;
        if (!visit(ctx, target)) break;
    }
    return HONE_OK;
}

static hone_status sessions(hone_db *base, const char *id, hone_db_visit_session visit, void *ctx) {
    db_memory *db = as_memory(base);
    if (db->sessions.count) {
        qsort(db->sessions.data, db->sessions.count, sizeof *db->sessions.data, by_start);
    }
    for (size_t i = 0; i < db->sessions.count; i++) {
        const hone_db_session *session = db->sessions.data[i];
        if (id && strcmp(id, session->id) != 0) continue;
        if (!visit(ctx, session)) break;
    }
    return HONE_OK;
}

static hone_status check(hone_db *base, hone_db_report report, void *ctx) {
    (void)base, (void)report, (void)ctx;
    return HONE_OK; /* nothing can be damaged but by a bug */
}

static const hone_db_vtable memory_vtable = {
    .name = "memory",
    .destroy = destroy,
    .put_workload = put_workload,
    .put_target = put_target,
    .begin_session = begin_session,
    .end_session = end_session,
    .commit = commit,
    .replace_workload = replace_workload,
    .replace_session = replace_session,
    .replace = replace,
    .confirm = confirm,
    .prune = prune,
    .query = query_trials,
    .history = history,
    .find_uid = find_uid,
    .has_program = has_program,
    .workloads = workloads,
    .targets = targets,
    .sessions = sessions,
    .tasks = db_memory_tasks,
    .failures = db_memory_failures,
    .stats = db_memory_stats,
    .check = check,
};

hone_status hone_db_create_memory(hone_db **out_db) {
    assert(out_db);
    *out_db = NULL;
    db_memory *db = hone_calloc(1, sizeof *db);
    if (!db) return db_memory_no_memory();
    hone_db_init(&db->base, &memory_vtable);
    db->arena = hone_arena_create(1 << 16);
    if (!db->arena) {
        hone_db_close(&db->base);
        return db_memory_no_memory();
    }
    *out_db = &db->base;
    return HONE_OK;
}
