/* include/api_database.c - databases merged, exported, imported, thinned out. */
#include <hone/database.h>

#include "compile/records/stored_program.h"
#include "database/db_jsonl.h"
#include "include/api.h"

static hone_status open_db(const char *path, hone_db_mode mode, hone_db **out) {
    const hone_db_options options = {.path = path, .mode = mode};
    return hone_db_open_sqlite(&options, out);
}

static void put_news(hone_database_news *out, const hone_db_merge_counts *counts) {
    if (!out) return;
    *out = (hone_database_news){.sessions = counts->sessions,
                                .trials = counts->trials,
                                .known = counts->known,
                                .changed = counts->changed};
}

hone_error *hone_database_merge(const char *into, const char *from, hone_database_news *out_news) {
    hone_db *to = NULL, *other = NULL;
    hone_db_merge_counts counts = {0};
    put_news(out_news, &counts);
    HONE_API_NEED(into);
    HONE_API_NEED(from);
    hone_status st = open_db(from, HONE_DB_READ, &other);
    if (!st) st = open_db(into, HONE_DB_CREATE, &to);
    if (!st) st = hone_db_merge(to, other, &counts);
    if (!st) put_news(out_news, &counts);
    hone_db_close(to);
    hone_db_close(other);
    return hone_api_error(st);
}

hone_error *hone_database_export(const char *database, const char *path) {
    hone_db *db = NULL;
    HONE_API_NEED(database);
    HONE_API_NEED(path);
    hone_status st = open_db(database, HONE_DB_READ, &db);
    if (!st) st = hone_db_write_lines_file(db, path);
    hone_db_close(db);
    return hone_api_error(st);
}

hone_error *hone_database_import(const char *into, const char *path, hone_database_news *out_news) {
    hone_db *db = NULL;
    hone_db_merge_counts counts = {0};
    put_news(out_news, &counts);
    HONE_API_NEED(into);
    HONE_API_NEED(path);
    hone_status st = open_db(into, HONE_DB_CREATE, &db);
    if (!st) st = hone_db_read_lines_file(db, path, hone_stored_program_check, &counts);
    if (!st) put_news(out_news, &counts);
    hone_db_close(db);
    return hone_api_error(st);
}

hone_error *hone_database_prune(const char *database, int64_t keep, int64_t *out_removed) {
    hone_db *db = NULL;
    int64_t removed = 0;
    if (out_removed) *out_removed = 0;
    HONE_API_NEED(database);
    if (keep < 1) {
        return hone_api_error(
            HONE_ERROR(HONE_CODE_INVALID, "keep is %lld, must be at least 1", (long long)keep));
    }
    hone_status st = open_db(database, HONE_DB_WRITE, &db);
    if (!st) st = hone_db_prune(db, keep, &removed);
    if (out_removed) *out_removed = removed;
    hone_db_close(db);
    return hone_api_error(st);
}
