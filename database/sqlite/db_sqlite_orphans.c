/* database/sqlite/db_sqlite_orphans.c - what sound trials of a damaged file referred to, when that
 * is lost: an index may still know its hash.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "database/sqlite/db_sqlite_impl.h"

/* A table that trials refer to; its identities, by row, and by an index that has both (+: rows are
 * not looked for). */
#define KIND(name, identity)                                                                       \
    {                                                                                              \
#name, "SELECT " #name "_id FROM trial WHERE id = ?1",                                     \
            "SELECT " #identity " FROM " #name " WHERE id = ?1",                                   \
            "SELECT " #identity " FROM " #name " WHERE +id = ?1"                                   \
    }

static const struct kind {
    const char *name, *column, *by_row, *by_index;
} kinds[] = {KIND(workload, hash), KIND(target, hash), KIND(session, uid)};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static db_orphan_group *group_of(db_orphans *orphans, size_t kind, int64_t row) {
    for (size_t i = orphans->count; i-- > 0;) {
        if (orphans->data[i].kind == kind && orphans->data[i].row == row) return &orphans->data[i];
    }
    db_orphan_group group = {.kind = kind, .row = row};
    return hone_vec_push(orphans, group) ? &orphans->data[orphans->count - 1] : NULL;
}

static bool step_with(sqlite3_stmt *stmt, int64_t number) {
    if (!stmt) return false;
    sqlite3_reset(stmt);
    sqlite3_bind_int64(stmt, 1, number);
    return sqlite3_step(stmt) == SQLITE_ROW;
}

/* Hashes and ids are letters and digits; what is not is no name of anything. */
static void keep_identity(db_orphan_group *group, const char *text) {
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    if (!text || !*text || text[strspn(text, letters)]) return;
    snprintf(group->identity, sizeof group->identity, "%s", text);
}

static void ask_identity(db_sqlite *db, const char *sql, db_orphan_group *group) {
    sqlite3_stmt *stmt = NULL;
    if (group->identity[0]) return;
    sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL);
    if (step_with(stmt, group->row)) {
        keep_identity(group, (const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
}

hone_status db_sqlite_group_orphans(db_sqlite *db, const int64_t *trials, size_t count,
                                    db_orphans *orphans) {
    bool ok = true;
    for (size_t k = 0; k < KINDS; k++) {
        sqlite3_stmt *stmt = NULL;
        sqlite3_prepare_v2(db->sql, kinds[k].column, -1, &stmt, NULL);
        for (size_t i = 0; i < count && ok; i++) {
            if (!step_with(stmt, trials[i])) continue;
            db_orphan_group *group = group_of(orphans, k, sqlite3_column_int64(stmt, 0));
            ok = group != NULL;
            if (ok) group->trials++;
        }
        sqlite3_finalize(stmt);
    }
    for (size_t i = 0; i < orphans->count; i++) {
        ask_identity(db, kinds[orphans->data[i].kind].by_row, &orphans->data[i]);
        ask_identity(db, kinds[orphans->data[i].kind].by_index, &orphans->data[i]);
    }
    return ok ? HONE_OK : HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", db->path);
}

/* ---- what is told ---- */

static bool found_workload(void *ctx, const hone_db_workload *row) {
    (void)row;
    return !(*(bool *)ctx = true);
}

static bool found_target(void *ctx, const hone_db_target *row) {
    (void)row;
    return !(*(bool *)ctx = true);
}

static bool found_session(void *ctx, const hone_db_session *row) {
    (void)row;
    return !(*(bool *)ctx = true);
}

/* What was saved after all took its trials along. */
static hone_status is_saved(hone_db *into, const db_orphan_group *group, bool *out_is_saved) {
    hone_hash128 hash;
    *out_is_saved = false;
    if (strcmp(kinds[group->kind].name, "session") == 0) {
        return group->identity[0]
                   ? hone_db_sessions(into, group->identity, found_session, out_is_saved)
                   : HONE_OK;
    }
    if (!hone_hash128_parse(group->identity, &hash)) return HONE_OK;
    return strcmp(kinds[group->kind].name, "target") == 0
               ? hone_db_targets(into, &hash, found_target, out_is_saved)
               : hone_db_workloads(into, &hash, found_workload, out_is_saved);
}

hone_status db_sqlite_report_orphans(const db_orphans *orphans, hone_db *into,
                                     hone_db_report report, void *ctx) {
    for (size_t i = 0; i < orphans->count; i++) {
        const db_orphan_group *group = &orphans->data[i];
        bool saved;
        char line[160];
        HONE_TRY(is_saved(into, group, &saved));
        if (saved) continue;
        bool is_named = group->identity[0];
        snprintf(line, sizeof line, "%" PRId64 " sound trial%s lost with %s%s %s", group->trials,
                 group->trials == 1 ? " is" : "s are", is_named ? "" : "a ",
                 kinds[group->kind].name,
                 is_named ? group->identity : "that nothing names any more");
        report(ctx, line);
    }
    return HONE_OK;
}
