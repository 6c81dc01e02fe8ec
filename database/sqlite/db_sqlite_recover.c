/* database/sqlite/db_sqlite_recover.c - salvages what can be read of a damaged file.
 *
 * Works on a private copy, row by row: a damaged page costs the rows on it, not those behind it.
 * Where that leaves something out, or the file cannot be opened at all, each page is looked at for
 * itself, and what is found there put into a database of its own, which is read likewise. What has
 * a checksum must fit it, or be mended (db_sqlite_mend.c); a trial's uid must be that of what it
 * refers to. The rows go through a joiner into a sound database.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "database/sqlite/db_sqlite_schema.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/fs.h"
#include "support/os/scratch.h"
#include "support/text/json.h"

enum { PIECE_BYTES = 1 << 16 };

typedef struct recovery {
    db_sqlite *db;
    hone_db *into;
    hone_db_stats before; /* of it */
    hone_db_joiner *joiner;
    const hone_db_recover_options *options;
    hone_db_recovery *counts;
    HONE_VEC(int64_t) orphan_rows; /* of this pass */
    db_orphans orphans;            /* of the first that had some */
    bool has_sums;
    int64_t row;        /* the one in hand */
    bool took;          /* it */
    bool is_altered;    /* it is not what was written */
    bool is_unsure;     /* its checksum cannot be had: samples or features cannot be read */
    hone_status status; /* of the database that is written */
} recovery;

/* ---- the private copy ---- */

static hone_status copy_bytes(int from, int to, const char *path) {
    char piece[PIECE_BYTES];
    for (;;) {
        size_t got = 0;
        HONE_TRY(
            hone_status_annotate(hone_fd_read_full(from, piece, sizeof piece, &got), "%s", path));
        HONE_TRY(hone_fd_write_full(to, piece, got));
        if (got < sizeof piece) return HONE_OK;
    }
}

static hone_status copy_file(const char *path, const char *copy) {
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return HONE_ERROR(HONE_CODE_IO, "%s: cannot open: %s", path, strerror(errno));
    int to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    hone_status st = to < 0 ? HONE_ERROR(HONE_CODE_IO, "%s: cannot open: %s", copy, strerror(errno))
                            : copy_bytes(from, to, path);
    if (to >= 0) close(to);
    close(from);
    return st;
}

/* The file, and its log where there is one. */
static hone_status copy_database(const char *path, const char *copy) {
    hone_str log = {0}, log_copy = {0};
    hone_str_printf(&log, "%s-wal", path);
    hone_str_printf(&log_copy, "%s-wal", copy);
    hone_status st = hone_status_join(hone_str_check(&log), hone_str_check(&log_copy));
    if (!st) st = copy_file(path, copy);
    if (!st && hone_fs_exists(log.data)) st = copy_file(log.data, log_copy.data);
    hone_str_deinit(&log);
    hone_str_deinit(&log_copy);
    return st;
}

/* Columns that version 1 does not have yet; where they are there, this fails and is right to. */
static void add_columns(db_sqlite *db) {
    static const char *const texts[] = {
        "ALTER TABLE session ADD COLUMN owner TEXT",
        "ALTER TABLE trial ADD COLUMN confirmed_at_ns INTEGER",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        sqlite3_exec(db->sql, texts[i], NULL, NULL, NULL);
}

static bool ask_number(const db_sqlite *db, const char *text, int64_t *out_number) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->sql, text, -1, &stmt, NULL);
    bool found = rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW;
    if (found) *out_number = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return found;
}

static hone_status open_copy(recovery *r, const char *copy, const char *path) {
    db_sqlite *db = r->db;
    int64_t application = 0, version = 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(copy, &db->sql, flags, NULL);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "open a copy");
    /* Takes files that are shorter than they say, and what of the schema can be read. */
    sqlite3_exec(db->sql, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    HONE_TRY(db_sqlite_add_sums(db));
    db_sqlite_bound_steps(db);
    if (!ask_number(db, "PRAGMA application_id", &application) ||
        application != HONE_DB_APPLICATION_ID) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is not a Hone database", path);
    }
    ask_number(db, "PRAGMA user_version", &version);
    if (version > hone_db_schema_latest()) {
        return HONE_ERROR(HONE_CODE_VERSION, "%s: was written by a newer hone", path);
    }
    add_columns(db);
    r->has_sums = true; /* where there are any, whatever the version says: that may be damaged */
    return HONE_OK;
}

/* ---- rows ---- */

/* A row that cannot be (an impossible number, a reference to a lost row) is lost, no failure. */
static bool take(recovery *r, hone_status st) {
    r->took = !st;
    bool is_lost = hone_status_code(st) == HONE_CODE_INVALID;
    if (is_lost) hone_status_free(st);
    r->status = is_lost ? HONE_OK : st;
    return false;
}

static bool take_workload(void *ctx, const hone_db_workload *row) {
    recovery *r = ctx;
    hone_db_workload whole = *row;
    if (r->is_altered && !db_sqlite_mend_workload(r->options, &whole)) return false;
    return take(r, hone_db_join_workload(r->joiner, &whole));
}

static bool take_target(void *ctx, const hone_db_target *row) {
    recovery *r = ctx;
    hone_db_target whole = *row;
    if (r->is_altered && !db_sqlite_mend_target(&whole)) return false;
    return take(r, hone_db_join_target(r->joiner, &whole));
}

static bool take_session(void *ctx, const hone_db_session *row) {
    recovery *r = ctx;
    hone_db_session whole = *row;
    if (r->is_altered && !db_sqlite_mend_session(r->db, r->row, &whole)) return false;
    return take(r, hone_db_join_session(r->joiner, &whole));
}

/* One whose uid is that of other things has lost what it referred to. */
static bool take_trial(void *ctx, const hone_db_trial *row) {
    recovery *r = ctx;
    hone_hash128 uid = hone_db_trial_uid(row->session, &row->workload, &row->target, row->proposal);
    if (r->is_altered || !hone_hash128_equal(uid, row->uid)) return false;
    return take(r, hone_db_join_trial(r->joiner, row));
}

/* Its checksum covers what is lost, so that nobody can tell whether the rest is what was written;
 * at least its trace must be one. */
static bool take_partial(void *ctx, const hone_db_trial *row) {
    hone_json *trace = NULL;
    hone_status st = hone_json_parse(row->trace, strlen(row->trace), &trace);
    hone_json_destroy(trace);
    if (!st) return take_trial(ctx, row);
    return take(ctx, st);
}

static hone_status read_workload(recovery *r, int64_t row) {
    return db_sqlite_workload_at(&r->db->base, row, take_workload, r);
}

static hone_status read_target(recovery *r, int64_t row) {
    return db_sqlite_target_at(&r->db->base, row, take_target, r);
}

static hone_status read_session(recovery *r, int64_t row) {
    return db_sqlite_session_at(&r->db->base, row, take_session, r);
}

static hone_status read_trial(recovery *r, int64_t row) {
    hone_db_query query = {
        .filter = {.record = row, .with_samples = true, .with_features = true}
    };
    hone_status st = HONE_OK;
    if (!r->is_unsure) st = db_sqlite_query(&r->db->base, &query, take_trial, r);
    if (!st && !r->is_unsure) return HONE_OK;
    /* Its row alone, when its samples or features lie on a damaged page. */
    hone_status_free(st);
    query.filter = (hone_db_filter){.record = row};
    st = db_sqlite_query(&r->db->base, &query, take_partial, r);
    r->counts->partial += !st && r->took;
    return st;
}

typedef struct table {
    const char *name, *count, *rows, *sum; /* SQL; sum: 1 when the row is what was written */
    hone_status (*read)(recovery *r, int64_t row);
    size_t saved; /* offset of its count */
} table;

#define TABLE(name, sum, read)                                                                     \
    {                                                                                              \
#name, "SELECT count(*) FROM " #name, "SELECT id FROM " #name " NOT INDEXED",              \
            "SELECT checksum IS " sum " FROM " #name " WHERE id = ?1", read,                       \
            offsetof(hone_db_recovery, name##s)                                                    \
    }

static const table tables[] = {
    TABLE(workload, DB_WORKLOAD_SUM, read_workload),
    TABLE(target, DB_TARGET_SUM, read_target),
    TABLE(session, DB_SESSION_SUM("state", "ended_ns"), read_session),
    TABLE(trial, DB_TRIAL_SUM("confirmed_ns", "confirmed_at_ns"), read_trial),
};

static int64_t *saved_of(recovery *r, const table *t) {
    return (int64_t *)(void *)((char *)r->counts + t->saved);
}

/* Whether a row is what was written; that its checksum cannot be had is noted. */
static bool is_sound(recovery *r, sqlite3_stmt *sum, int64_t row) {
    r->is_unsure = false;
    if (!sum) return true;
    sqlite3_bind_int64(sum, 1, row);
    r->is_unsure = sqlite3_step(sum) != SQLITE_ROW;
    bool is_other = !r->is_unsure && sqlite3_column_int(sum, 0) == 0;
    sqlite3_reset(sum);
    return !is_other;
}

/* Takes one row; what cannot be read, or is not what was written, is lost. */
static hone_status salvage_row(recovery *r, const table *t, sqlite3_stmt *sum, int64_t row) {
    r->took = false;
    r->row = row;
    r->is_altered = !is_sound(r, sum, row);
    bool is_known = sum && !r->is_altered && !r->is_unsure;
    hone_status st = t->read(r, row);
    if (r->status) {
        hone_status_free(st);
        return r->status;
    }
    if (hone_status_code(st) == HONE_CODE_NO_MEMORY) return st;
    *saved_of(r, t) += r->took;
    r->counts->lost += !r->took;
    r->counts->mended += r->took && r->is_altered;
    hone_status_free(st);
    bool is_orphan = is_known && !r->took && t->read == read_trial;
    if (!is_orphan) return HONE_OK;
    r->counts->orphans++;
    return hone_vec_push(&r->orphan_rows, row) ? HONE_OK
                                               : HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", r->db->path);
}

/* Up to where the table can be read. What lies behind that is found in its pages. */
static hone_status salvage_rows(recovery *r, const table *t, sqlite3_stmt *rows,
                                sqlite3_stmt *sum) {
    int rc;
    int64_t last = INT64_MIN;
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW && sqlite3_column_int64(rows, 0) > last) {
        last = sqlite3_column_int64(rows, 0); /* pages that lead in circles repeat themselves */
        HONE_TRY(salvage_row(r, t, sum, last));
    }
    r->counts->lost += rc != SQLITE_DONE;
    return HONE_OK;
}

static hone_status salvage_table(recovery *r, const table *t) {
    int64_t before = r->counts->lost, count = 0;
    sqlite3_stmt *rows = NULL, *sum = NULL;
    hone_status st = HONE_OK;
    bool has_sums =
        r->has_sums && sqlite3_table_column_metadata(r->db->sql, "main", t->name, "checksum", NULL,
                                                     NULL, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_prepare_v2(r->db->sql, t->rows, -1, &rows, NULL);
    if (has_sums) sqlite3_prepare_v2(r->db->sql, t->sum, -1, &sum, NULL);
    if (rows && (sum || !has_sums)) {
        st = salvage_rows(r, t, rows, sum);
    } else {
        r->counts->lost++; /* the whole table: how much that is, nobody can tell */
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(sum);
    /* An index may know how many there were. */
    if (ask_number(r->db, t->count, &count) && count - *saved_of(r, t) > r->counts->lost - before) {
        r->counts->lost = before + count - *saved_of(r, t);
    }
    return st;
}

static hone_status salvage(recovery *r) {
    hone_db_merge_counts counts;
    hone_status st = HONE_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !st; i++)
        st = salvage_table(r, &tables[i]);
    if (!st && !r->orphans.count) {
        st = db_sqlite_group_orphans(r->db, r->orphan_rows.data, r->orphan_rows.count, &r->orphans);
    }
    hone_vec_clear(&r->orphan_rows);
    return hone_status_join(st, hone_db_joiner_finish(r->joiner, &counts));
}

/* ---- what nothing leads to ---- */

static void close_copy(db_sqlite *db) {
    db_sqlite_finalize_all(db);
    sqlite3_close_v2(db->sql);
    db->sql = NULL;
}

/* A copy of the file as it is, and what is found in its pages as the database to be read. */
static hone_status find_rows(recovery *r, const char *path, char *copy, char *found) {
    db_sqlite into = {.path = found};
    db_found_rows rows = {0};
    hone_db_options options = {.path = found, .mode = HONE_DB_CREATE};
    HONE_TRY(copy_database(path, copy));
    close_copy(r->db);
    hone_status st = db_sqlite_connect(&into, &options);
    r->db->sql = into.sql;
    if (!st) st = db_sqlite_find_rows(copy, &into, &rows);
    r->has_sums = rows.has_sums;
    if (st || rows.rows) return st;
    int64_t bytes;
    HONE_TRY(hone_fs_size(path, &bytes));
    if (bytes == 0)
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is empty: there is nothing to recover", path);
    return HONE_ERROR(HONE_CODE_INVALID, "%s: is not a Hone database, or nothing is left of it",
                      path);
}

static int64_t all_of(const hone_db_recovery *counts) {
    return counts->workloads + counts->targets + counts->sessions + counts->trials;
}

/* Adds what is new in them to what was saved before. */
static hone_status salvage_found(recovery *r) {
    hone_db_recovery first = *r->counts, *sum = r->counts;
    hone_db_stats stats;
    *sum = (hone_db_recovery){0};
    HONE_TRY(salvage(r));
    HONE_TRY(hone_db_get_stats(r->into, &stats));
    int64_t lost = all_of(&first) ? first.lost : sum->lost, orphans = sum->orphans;
    *sum = (hone_db_recovery){.workloads = stats.workloads - r->before.workloads,
                              .targets = stats.targets - r->before.targets,
                              .sessions = stats.sessions - r->before.sessions,
                              .trials = stats.trials - r->before.trials,
                              .partial = first.partial,
                              .mended = sum->mended > first.mended ? sum->mended : first.mended};
    int64_t more = all_of(&first) ? all_of(sum) - all_of(&first) : 0;
    sum->lost = lost > more ? lost - more : 0;
    if (sum->lost < orphans) sum->lost = orphans; /* these were seen */
    sum->orphans = orphans;
    return HONE_OK;
}

static hone_status recover_copy(recovery *r, const char *path, const char *dir) {
    char *copy = hone_path_join(dir, "copy.db"), *pages = hone_path_join(dir, "pages.db"),
         *found = hone_path_join(dir, "found.db");
    hone_status st = copy && pages && found ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    if (!st) st = copy_database(path, copy);
    if (!st) st = open_copy(r, copy, path);
    if (!st) st = salvage(r);
    bool is_unreadable = hone_status_code(st) == HONE_CODE_INVALID;
    if (is_unreadable || (!st && r->counts->lost)) {
        hone_status_free(st);
        st = find_rows(r, path, pages, found);
        if (!st) st = salvage_found(r);
    }
    hone_free(copy);
    hone_free(pages);
    hone_free(found);
    return st;
}

hone_status hone_db_recover(const char *path, hone_db *into, const hone_db_recover_options *options,
                            hone_db_recovery *out_counts) {
    hone_scratch dir = {0};
    db_sqlite db = {0};
    recovery r = {.db = &db, .into = into, .options = options, .counts = out_counts};
    *out_counts = (hone_db_recovery){0};
    if (!hone_fs_exists(path)) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: there is no such database", path);
    }
    db.path = hone_strdup(path);
    hone_status st = db.path ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    if (!st) st = hone_scratch_open("hone-recover", &dir);
    if (!st) st = hone_db_joiner_create(into, &r.joiner);
    if (!st) st = hone_db_get_stats(into, &r.before);
    if (!st) st = recover_copy(&r, path, dir.path);
    if (!st) st = db_sqlite_report_orphans(&r.orphans, into, options->report, options->ctx);
    hone_vec_deinit(&r.orphan_rows);
    hone_vec_deinit(&r.orphans);
    hone_db_joiner_destroy(r.joiner);
    close_copy(&db);
    st = hone_status_join(st, hone_scratch_close(&dir));
    hone_free(db.samples);
    hone_free(db.features);
    hone_free(db.path);
    return st;
}
