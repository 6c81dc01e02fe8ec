/* database/sqlite/db_sqlite_open.c - connects to a file: whose is it, is it whole, which settings,
 * migrations.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "database/db_place.h"
#include "database/network_fs.h"
#include "database/sqlite/db_sqlite_impl.h"
#include "database/sqlite/db_sqlite_schema.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/fs.h"

#define DEFAULT_BUSY_NS INT64_C(10000000000)

/* What was found out about the file before SQLite saw it. */
typedef struct file_facts {
    int64_t bytes;
    bool is_there, empty;
    bool has_log, has_shared; /* files beside it: in use, or left behind */
    bool has_journal;         /* of a change, by another program, that may have to be taken back */
    bool may_write;           /* the file and beside it, and its mode says that this is meant */
} file_facts;

/* ---- before SQLite ---- */

static hone_status check_file_system(const char *path) {
    struct statfs facts;
    char *dir = hone_path_dirname(path);
    if (!dir) return HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", path);
    bool is_network = statfs(dir, &facts) == 0 && hone_db_is_network_fs((long)facts.f_type);
    hone_free(dir);
    if (!is_network) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNSUPPORTED,
                      "%s: is on a network file system (type 0x%lx), where several processes "
                      "cannot share a database safely; keep it on a local disk",
                      path, (unsigned long)facts.f_type);
}

static bool directory_is_writable(const char *path) {
    char *dir = hone_path_dirname(path);
    bool is_writable = dir && access(dir, W_OK) == 0;
    hone_free(dir);
    return is_writable;
}

static hone_status look_beside(const char *path, const char *suffix, bool with_bytes,
                               bool *out_is_there) {
    struct stat facts;
    hone_str name = {0};
    hone_str_printf(&name, "%s%s", path, suffix);
    HONE_TRY(hone_str_check(&name));
    *out_is_there = stat(name.data, &facts) == 0 && (facts.st_size > 0 || !with_bytes);
    hone_str_deinit(&name);
    return HONE_OK;
}

/* Neither a fault nor a database: a kill may leave that, before anything stood in it. */
static hone_status nothing_there(const char *path) {
    return HONE_ERROR(HONE_CODE_INVALID, "%s: is empty; tune, import and merge make it a database",
                      path);
}

static hone_status look_at_file(const char *path, hone_db_mode mode, file_facts *out_facts) {
    *out_facts = (file_facts){.empty = true};
    struct stat facts;
    HONE_TRY(look_beside(path, "-wal", true, &out_facts->has_log));
    HONE_TRY(look_beside(path, "-shm", false, &out_facts->has_shared));
    HONE_TRY(look_beside(path, "-journal", true, &out_facts->has_journal));
    if (stat(path, &facts) != 0) {
        if (errno == ENAMETOOLONG) HONE_TRY(hone_fs_check_names(path, 0));
        if (errno != ENOENT) {
            return HONE_ERROR(HONE_CODE_IO, "%s: cannot open: %s", path, strerror(errno));
        }
        if (mode == HONE_DB_CREATE) return hone_db_check_place(path);
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: there is no such database", path);
    }
    if (!S_ISREG(facts.st_mode)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is not a regular file", path);
    }
    if (access(path, R_OK) != 0)
        return HONE_ERROR(HONE_CODE_IO, "%s: cannot open: %s", path, strerror(errno));
    out_facts->is_there = true;
    out_facts->bytes = facts.st_size;
    out_facts->empty = facts.st_size == 0;
    out_facts->may_write =
        (facts.st_mode & 0222) && access(path, W_OK) == 0 && directory_is_writable(path);
    /* An empty file may be one that another process is about to fill. */
    if (!out_facts->empty || mode == HONE_DB_CREATE) return HONE_OK;
    return nothing_there(path);
}

/* ---- connecting ---- */

/* "file:///path%3Fx?immutable=1"; "file:./x" of a relative path, as ":memory:" is no file to SQLite
 * and what follows two slashes no path. */
static void append_uri(hone_str *uri, const char *path, const char *query) {
    hone_str_append(uri, *path == '/' ? "file://" : "file:./");
    for (const char *c = path; *c; c++) {
        if (strchr("?#%", *c)) {
            hone_str_printf(uri, "%%%02x", (unsigned)(unsigned char)*c);
        } else {
            hone_str_append_char(uri, *c);
        }
    }
    hone_str_append(uri, query);
}

/* By SQLite's descriptor: to close one of our own would end the locks that this process has on the
 * file by other connections, and writers would take its log away from under them. */
static hone_status check_header(db_sqlite *db, const file_facts *facts) {
    static const char magic[16] = "SQLite format 3";
    char head[16] = {0};
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc == SQLITE_OK) rc = file->pMethods->xRead(file, head, sizeof head, 0);
    if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)
        return db_sqlite_error(db, rc, "read the head");
    if (rc == SQLITE_OK && memcmp(head, magic, sizeof magic) == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "%s: is not a Hone database (%" PRId64 " bytes that are no SQLite file)",
                      db->path, facts->bytes);
}

static hone_status open_connection(db_sqlite *db, int access_flags, const char *query,
                                   const file_facts *facts) {
    int flags = access_flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    HONE_TRY(hone_db_check_place(db->path));
    hone_str uri = {0};
    append_uri(&uri, db->path, query);
    HONE_TRY(hone_str_check(&uri));
    int rc = sqlite3_open_v2(uri.data, &db->sql, flags, NULL);
    hone_str_deinit(&uri);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "open");
    return facts->empty ? HONE_OK : check_header(db, facts);
}

static hone_status apply_settings(db_sqlite *db, int64_t busy_ns) {
    int64_t busy_ms = (busy_ns > 0 ? busy_ns : DEFAULT_BUSY_NS) / 1000000;
    sqlite3_busy_timeout(db->sql, busy_ms > INT32_MAX ? INT32_MAX : (int)busy_ms);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    return db_sqlite_add_sums(db);
}

static hone_status read_number(db_sqlite *db, const char *text, int64_t *out_number) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->sql, text, -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) *out_number = sqlite3_column_int64(stmt, 0);
    hone_status st = rc == SQLITE_ROW ? HONE_OK : db_sqlite_error(db, rc, "read the file");
    sqlite3_finalize(stmt);
    return st;
}

typedef struct identity {
    int64_t application, version, tables;
} identity;

static hone_status read_identity(db_sqlite *db, identity *out) {
    *out = (identity){0};
    HONE_TRY(read_number(db, "PRAGMA application_id", &out->application));
    HONE_TRY(read_number(db, "PRAGMA user_version", &out->version));
    return read_number(db, "SELECT count(*) FROM sqlite_schema", &out->tables);
}

/* All three as they are at one time: another process may be making the file just now. */
static hone_status read_identity_at_once(db_sqlite *db, identity *out) {
    HONE_TRY(db_sqlite_exec(db, "BEGIN", "begin a transaction"));
    hone_status st = read_identity(db, out);
    sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

static bool is_fresh(const identity *id) {
    return !id->application && !id->version && !id->tables;
}

static hone_status check_identity(const db_sqlite *db, const identity *id, hone_db_mode mode) {
    int latest = hone_db_schema_latest();
    if (is_fresh(id) && mode == HONE_DB_CREATE) return HONE_OK;
    if (is_fresh(id)) return nothing_there(db->path);
    if (id->application != HONE_DB_APPLICATION_ID) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "%s: is an SQLite database, but not one of Hone's (application_id is "
                          "%" PRId64 ", must be %d)",
                          db->path, id->application, HONE_DB_APPLICATION_ID);
    }
    if (id->version > latest) {
        return HONE_ERROR(HONE_CODE_VERSION,
                          "%s: has schema version %" PRId64 ", this hone reads up to %d; it was "
                          "written by a newer hone",
                          db->path, id->version, latest);
    }
    if (id->version < 1) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: has schema version %" PRId64 ", must be 1 to %d",
                          db->path, id->version, latest);
    }
    return HONE_OK;
}

/* ---- writers: log, migrations ---- */

/* Two processes that make one file at once meet here: SQLite answers BUSY to the change of the
 * journal mode without waiting, so wait ourselves. */
static hone_status enable_log(db_sqlite *db, int64_t busy_ns) {
    int64_t waited_ns = 0, limit_ns = busy_ns > 0 ? busy_ns : DEFAULT_BUSY_NS;
    const int64_t step_ns = 5000000;
    for (;;) {
        int rc = sqlite3_exec(db->sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (rc == SQLITE_OK) break;
        if ((rc & 0xff) != SQLITE_BUSY || waited_ns >= limit_ns) {
            return db_sqlite_error(db, rc, "turn on the write-ahead log");
        }
        sqlite3_sleep((int)(step_ns / 1000000));
        waited_ns += step_ns;
    }
    return db_sqlite_exec(db, "PRAGMA synchronous = FULL", "change a setting");
}

static hone_status migrate_from(db_sqlite *db, int version) {
    for (const char *const *text = hone_db_schema_migration(version); *text; text++) {
        HONE_TRY(db_sqlite_exec(db, *text, "make the tables"));
    }
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", version + 1);
    return db_sqlite_exec(db, pragma, "set the schema version");
}

static hone_status migrate_all(db_sqlite *db, hone_db_mode mode) {
    identity id;
    HONE_TRY(read_identity(db, &id)); /* again: another process may have been faster */
    HONE_TRY(check_identity(db, &id, mode));
    if (is_fresh(&id)) {
        char pragma[64];
        snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", HONE_DB_APPLICATION_ID);
        HONE_TRY(db_sqlite_exec(db, pragma, "mark the file"));
    }
    for (int version = (int)id.version; version < hone_db_schema_latest(); version++) {
        HONE_TRY(migrate_from(db, version));
    }
    return HONE_OK;
}

static hone_status migrate(db_sqlite *db, hone_db_mode mode) {
    HONE_TRY(db_sqlite_exec(db, "BEGIN IMMEDIATE", "begin a transaction"));
    hone_status st = migrate_all(db, mode);
    if (!st) st = db_sqlite_exec(db, "COMMIT", "commit");
    if (st && !sqlite3_get_autocommit(db->sql)) {
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
    }
    return st;
}

static hone_status open_in_memory(db_sqlite *db, int64_t busy_ns) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(":memory:", &db->sql, flags, NULL);
    if (rc != SQLITE_OK) return db_sqlite_error(db, rc, "make the file");
    return apply_settings(db, busy_ns);
}

/* A file gets its name when all tables are in it: a process that is killed leaves none, or one that
 * is whole. Another process may do the same; the first one's file stays. */
static hone_status make_file(db_sqlite *db, int64_t busy_ns) {
    sqlite3_int64 count = 0;
    hone_status st = open_in_memory(db, busy_ns);
    if (!st) st = migrate(db, HONE_DB_CREATE);
    unsigned char *bytes = st ? NULL : sqlite3_serialize(db->sql, "main", &count, 0);
    if (!st && !bytes) st = HONE_ERROR(HONE_CODE_NO_MEMORY, "%s", db->path);
    if (!st) st = hone_fs_write_new(db->path, bytes, (size_t)count);
    sqlite3_free(bytes);
    sqlite3_close_v2(db->sql);
    db->sql = NULL;
    return st;
}

static hone_status quick_check(db_sqlite *db) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->sql, "PRAGMA quick_check(1)", -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    hone_status st = HONE_OK;
    if (rc != SQLITE_ROW) {
        st = db_sqlite_error(db, rc, "check the file");
    } else if (strcmp(db_column_text(stmt, 0), "ok") != 0) {
        st = HONE_ERROR(HONE_CODE_INVALID, "%s: is damaged: %s%s", db->path,
                        db_column_text(stmt, 0), db_sqlite_damage_advice(db));
    }
    sqlite3_finalize(stmt);
    return st;
}

/* ---- readers ---- */

/* Even readers take back what a program left undone that was killed in the midst of a change. */
static int flags_of_reader(const file_facts *facts) {
    return facts->has_journal && facts->may_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
}

/* Even readers of a log share memory in a file beside it; one made by somebody who may not write
 * the file would keep those out who may. Where none is there and no log is left, nobody is writing:
 * the file is read as it lies. */
static hone_status how_to_read(const char *path, const file_facts *facts, const char **out_query) {
    *out_query = "";
    if (facts->may_write) return HONE_OK;
    if (facts->has_shared) {
        *out_query = "?readonly_shm=1";
    } else if (!facts->has_log && !facts->has_journal) {
        *out_query = "?immutable=1";
    } else {
        return HONE_ERROR(HONE_CODE_IO,
                          "%s: was not closed, and its log can be taken in, or its journal back, "
                          "only by somebody who may write it and its directory",
                          path);
    }
    return HONE_OK;
}

static hone_status copy_pages(db_sqlite *db, sqlite3 *copy) {
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", db->sql, "main");
    if (!backup) return db_sqlite_error(db, sqlite3_errcode(copy), "copy the file");
    sqlite3_backup_step(backup, -1);
    int rc = sqlite3_backup_finish(backup);
    return rc == SQLITE_OK ? HONE_OK : db_sqlite_error(db, rc, "copy the file");
}

/* Readers change no file: they bring a private copy of an older one up to date. */
static hone_status read_a_migrated_copy(db_sqlite *db, int64_t busy_ns) {
    sqlite3 *copy = NULL;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2("", &copy, flags, NULL);
    hone_status st = rc == SQLITE_OK ? copy_pages(db, copy) : db_sqlite_error(db, rc, "copy");
    if (st) {
        sqlite3_close_v2(copy);
        return st;
    }
    sqlite3_close_v2(db->sql);
    db->sql = copy;
    db->is_copy = true;
    HONE_TRY(apply_settings(db, busy_ns));
    db_sqlite_bound_steps(db);
    return migrate(db, HONE_DB_READ);
}

/* ---- all together ---- */

static hone_status connect_reader(db_sqlite *db, const hone_db_options *options,
                                  const file_facts *facts) {
    identity id;
    const char *query;
    HONE_TRY(how_to_read(db->path, facts, &query));
    HONE_TRY(open_connection(db, flags_of_reader(facts), query, facts));
    HONE_TRY(apply_settings(db, options->busy_timeout_ns));
    HONE_TRY(read_identity_at_once(db, &id));
    HONE_TRY(check_identity(db, &id, HONE_DB_READ));
    db_sqlite_bound_steps(db);
    if (options->check_always) HONE_TRY(quick_check(db));
    if (id.version == hone_db_schema_latest()) return HONE_OK;
    return read_a_migrated_copy(db, options->busy_timeout_ns);
}

hone_status db_sqlite_connect(db_sqlite *db, const hone_db_options *options) {
    file_facts facts;
    identity id;
    HONE_TRY(look_at_file(db->path, options->mode, &facts));
    if (options->mode == HONE_DB_READ) return connect_reader(db, options, &facts);
    HONE_TRY(check_file_system(db->path));
    /* A log that is left of a file that was removed would be taken into ours; SQLite drops it when
     * it makes the file. */
    if (!facts.is_there && !facts.has_log && !facts.has_journal) {
        HONE_TRY(make_file(db, options->busy_timeout_ns));
        HONE_TRY(look_at_file(db->path, options->mode, &facts));
    }
    int create = options->mode == HONE_DB_CREATE ? SQLITE_OPEN_CREATE : 0;
    HONE_TRY(open_connection(db, SQLITE_OPEN_READWRITE | create, "", &facts));
    HONE_TRY(apply_settings(db, options->busy_timeout_ns));
    HONE_TRY(read_identity_at_once(db, &id));
    HONE_TRY(check_identity(db, &id, options->mode));
    db_sqlite_bound_steps(db);
    /* A log that was left behind means a crash, or another writer at work: a writer makes sure. */
    if (options->check_always || facts.has_log) HONE_TRY(quick_check(db));
    HONE_TRY(enable_log(db, options->busy_timeout_ns));
    return id.version < hone_db_schema_latest() ? migrate(db, options->mode) : HONE_OK;
}
