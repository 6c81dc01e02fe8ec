/* database/sqlite/db_sqlite_schema.c - see db_sqlite_schema.h. docs/database.md explains the views.
 */
#include "database/sqlite/db_sqlite_schema.h"

#include <assert.h>

/* Long text stands last in its row, so that reading the numbers does not walk overflow pages. */
static const char *const version_1[] = {
    "CREATE TABLE workload("
    " id INTEGER PRIMARY KEY,"
    " hash TEXT NOT NULL UNIQUE CHECK(length(hash) = 32),"
    " hash_version INTEGER NOT NULL,"
    " name TEXT NOT NULL,"
    " flops REAL NOT NULL,"
    " args_json TEXT,"
    " program TEXT NOT NULL"
    ") STRICT",
    "CREATE TABLE target("
    " id INTEGER PRIMARY KEY,"
    " hash TEXT NOT NULL UNIQUE CHECK(length(hash) = 32),"
    " threads INTEGER NOT NULL CHECK(threads >= 1),"
    " text TEXT NOT NULL"
    ") STRICT",
    "CREATE TABLE session("
    " id INTEGER PRIMARY KEY,"
    " uid TEXT NOT NULL UNIQUE,"
    " state TEXT NOT NULL,"
    " started_ns INTEGER NOT NULL,"
    " ended_ns INTEGER,"
    " seed INTEGER NOT NULL," /* the bits of an unsigned number */
    " look_ahead INTEGER NOT NULL,"
    " budget_trials INTEGER,"
    " budget_ns INTEGER,"
    " model TEXT,"
    " hone_version TEXT,"
    " command_line TEXT,"
    " options_json TEXT"
    ") STRICT",
    "CREATE TABLE trial("
    " id INTEGER PRIMARY KEY,"
    " uid TEXT NOT NULL UNIQUE CHECK(length(uid) = 32),"
    " session_id INTEGER NOT NULL REFERENCES session(id),"
    " workload_id INTEGER NOT NULL REFERENCES workload(id),"
    " target_id INTEGER NOT NULL REFERENCES target(id),"
    " proposal INTEGER NOT NULL CHECK(proposal >= 0),"
    " sketch INTEGER NOT NULL,"
    " program TEXT NOT NULL CHECK(length(program) = 32),"
    " outcome TEXT NOT NULL,"
    " median_ns REAL,"
    " spread REAL,"
    " max_error REAL,"
    " confirmed_ns REAL,"
    " predicted_score REAL,"
    " search_ns INTEGER NOT NULL,"
    " queue_ns INTEGER NOT NULL,"
    " build_ns INTEGER NOT NULL,"
    " transfer_ns INTEGER NOT NULL,"
    " load_ns INTEGER NOT NULL,"
    " measure_ns INTEGER NOT NULL,"
    " check_ns INTEGER NOT NULL,"
    " wall_ns INTEGER NOT NULL,"
    " drift TEXT,"
    " device TEXT,"
    " message TEXT,"
    " trace TEXT NOT NULL,"
    " UNIQUE(session_id, workload_id, target_id, proposal),"
    " CHECK((outcome = 'ok') = (median_ns IS NOT NULL)),"
    " CHECK(confirmed_ns IS NULL OR outcome = 'ok')"
    ") STRICT",
    "CREATE INDEX trial_fastest ON trial(workload_id, target_id, median_ns)"
    " WHERE outcome = 'ok'",
    "CREATE INDEX trial_confirmed ON trial(workload_id, target_id, confirmed_ns)"
    " WHERE confirmed_ns IS NOT NULL",
    "CREATE INDEX trial_program ON trial(workload_id, target_id, program)",
    "CREATE INDEX trial_failed ON trial(outcome, workload_id) WHERE outcome <> 'ok'",
    "CREATE TABLE sample("
    " trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL,"
    " ns REAL NOT NULL,"
    " PRIMARY KEY(trial_id, number)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE feature("
    " trial_id INTEGER PRIMARY KEY REFERENCES trial(id) ON DELETE CASCADE,"
    " version INTEGER NOT NULL,"
    " row_count INTEGER NOT NULL,"
    " column_count INTEGER NOT NULL,"
    " data BLOB NOT NULL" /* row_count × column_count little-endian float32 */
    ") STRICT",
    "CREATE VIEW v_workloads AS SELECT"
    " hash AS workload_hash, name AS task, flops, args_json, hash_version, program"
    " FROM workload",
    "CREATE VIEW v_targets AS SELECT"
    " g.hash AS target_hash, g.text AS target, g.threads,"
    " count(t.id) AS trials, count(DISTINCT t.workload_id) AS tasks"
    " FROM target g LEFT JOIN trial t ON t.target_id = g.id GROUP BY g.id",
    "CREATE VIEW v_sessions AS SELECT"
    " s.uid AS session, s.state, s.model,"
    " strftime('%Y-%m-%d %H:%M:%S', s.started_ns / 1000000000, 'unixepoch') AS started_utc,"
    " strftime('%Y-%m-%d %H:%M:%S', s.ended_ns / 1000000000, 'unixepoch') AS ended_utc,"
    " (s.ended_ns - s.started_ns) / 1e9 AS duration_s,"
    " count(t.id) AS trials,"
    " count(t.median_ns) AS ok,"
    " count(t.id) - count(t.median_ns) AS failed,"
    " s.seed, s.look_ahead, s.budget_trials, s.budget_ns / 1e9 AS budget_s,"
    " s.hone_version, s.command_line, s.options_json"
    " FROM session s LEFT JOIN trial t ON t.session_id = s.id GROUP BY s.id",
    "CREATE VIEW v_trials AS SELECT"
    " t.id AS record, t.uid, s.uid AS session, w.name AS task, w.hash AS workload_hash,"
    " g.text AS target, g.threads, g.hash AS target_hash, t.proposal, t.sketch,"
    " t.outcome, t.median_ns, t.spread AS spread_fraction,"
    " CASE WHEN w.flops > 0 THEN w.flops / t.median_ns END AS gflops,"
    " t.confirmed_ns, t.confirmed_ns IS NOT NULL AS confirmed,"
    " t.max_error, t.predicted_score, t.drift, t.device,"
    " t.search_ns, t.queue_ns, t.build_ns, t.transfer_ns, t.load_ns, t.measure_ns, t.check_ns,"
    " strftime('%Y-%m-%d %H:%M:%S', t.wall_ns / 1000000000, 'unixepoch') AS finished_utc,"
    " t.wall_ns AS finished_ns, t.program AS program_hash, t.message, t.trace"
    " FROM trial t JOIN session s ON s.id = t.session_id"
    " JOIN workload w ON w.id = t.workload_id JOIN target g ON g.id = t.target_id",
    "CREATE VIEW v_best AS"
    " WITH task AS (SELECT DISTINCT workload_id AS wid, target_id AS tid FROM trial),"
    " pick AS (SELECT wid, tid,"
    "  (SELECT id FROM trial WHERE workload_id = wid AND target_id = tid"
    "   AND confirmed_ns IS NOT NULL ORDER BY confirmed_ns, id LIMIT 1) AS sure,"
    "  (SELECT id FROM trial WHERE workload_id = wid AND target_id = tid AND outcome = 'ok'"
    "   AND confirmed_ns IS NULL ORDER BY median_ns, id LIMIT 1) AS hopeful FROM task),"
    " choice AS (SELECT CASE WHEN sure IS NULL THEN hopeful WHEN hopeful IS NULL THEN sure"
    "  WHEN (SELECT median_ns FROM trial WHERE id = hopeful) * 1.05 <"
    "   (SELECT confirmed_ns FROM trial WHERE id = sure) THEN hopeful ELSE sure END AS chosen"
    "  FROM pick)"
    " SELECT v.* FROM choice JOIN v_trials v ON v.record = choice.chosen",
    "CREATE VIEW v_tasks AS SELECT"
    " w.name AS task, w.hash AS workload_hash, g.text AS target, g.threads,"
    " g.hash AS target_hash, w.flops,"
    " count(*) AS trials, count(t.median_ns) AS ok, count(*) - count(t.median_ns) AS failed,"
    " count(t.confirmed_ns) AS confirmed, min(t.median_ns) AS best_ns,"
    " CASE WHEN w.flops > 0 THEN w.flops / min(t.median_ns) END AS best_gflops,"
    " sum(t.search_ns) / 1e9 AS search_s, sum(t.build_ns) / 1e9 AS build_s,"
    " sum(t.measure_ns) / 1e9 AS measure_s,"
    " strftime('%Y-%m-%d %H:%M:%S', max(t.wall_ns) / 1000000000, 'unixepoch') AS last_utc"
    " FROM trial t JOIN workload w ON w.id = t.workload_id JOIN target g ON g.id = t.target_id"
    " GROUP BY t.workload_id, t.target_id",
    "CREATE VIEW v_failures AS SELECT"
    " record, uid, session, task, workload_hash, target, threads, proposal, sketch, outcome,"
    " message, device, finished_utc, program_hash, trace"
    " FROM v_trials WHERE outcome <> 'ok'",
    "CREATE VIEW v_samples AS SELECT"
    " s.trial_id AS record, s.number, s.ns FROM sample s",
    "CREATE VIEW v_curve AS SELECT"
    " t.id AS record, s.uid AS session, w.name AS task, w.hash AS workload_hash,"
    " g.text AS target, g.threads, t.proposal,"
    " row_number() OVER task AS trial_number, t.median_ns,"
    " min(t.median_ns) OVER task AS best_so_far_ns,"
    " (t.wall_ns - s.started_ns) / 1e9 AS elapsed_s"
    " FROM trial t JOIN session s ON s.id = t.session_id"
    " JOIN workload w ON w.id = t.workload_id JOIN target g ON g.id = t.target_id"
    " WINDOW task AS (PARTITION BY t.session_id, t.workload_id, t.target_id ORDER BY t.proposal)",
    NULL,
};

/* What is best is said by one order: confirmed records by confirmed_ns, after them the others by
 * median_ns. What is asked often is counted when trials come and go. Each row has a checksum. */
#define BEST_OF(column, order, rest)                                                               \
    "(SELECT " column " FROM trial WHERE workload_id = k.workload_id"                              \
    " AND target_id = k.target_id AND " rest " ORDER BY " order ", uid LIMIT 1)"

static const char *const version_2[] = {
    "ALTER TABLE workload ADD COLUMN checksum INTEGER",
    "ALTER TABLE target ADD COLUMN checksum INTEGER",
    "ALTER TABLE session ADD COLUMN owner TEXT", /* the process that is at it */
    "ALTER TABLE session ADD COLUMN checksum INTEGER",
    "ALTER TABLE trial ADD COLUMN confirmed_at_ns INTEGER", /* when; NULL = not known */
    "ALTER TABLE trial ADD COLUMN checksum INTEGER",
    /* Nobody can tell any more whether these are at it; one that is sets its end itself. */
    "UPDATE session SET state = 'killed', ended_ns ="
    " (SELECT max(wall_ns) FROM trial WHERE session_id = session.id) WHERE state = 'running'",
    "UPDATE workload SET checksum = " DB_WORKLOAD_SUM,
    "UPDATE target SET checksum = " DB_TARGET_SUM,
    "UPDATE session SET checksum = " DB_SESSION_SUM("state", "ended_ns"),
    "UPDATE trial SET checksum = " DB_TRIAL_SUM("confirmed_ns", "confirmed_at_ns"),
    "CREATE INDEX trial_task ON trial(workload_id, target_id)",
    "CREATE TABLE task("
    " workload_id INTEGER NOT NULL REFERENCES workload(id),"
    " target_id INTEGER NOT NULL REFERENCES target(id),"
    " trials INTEGER NOT NULL,"
    " ok INTEGER NOT NULL,"
    " confirmed INTEGER NOT NULL,"
    " last_wall_ns INTEGER NOT NULL,"
    " search_ns INTEGER NOT NULL,"
    " build_ns INTEGER NOT NULL,"
    " measure_ns INTEGER NOT NULL,"
    " PRIMARY KEY(workload_id, target_id)"
    ") STRICT, WITHOUT ROWID",
    "INSERT INTO task SELECT" DB_TASK_COUNTS,
    "CREATE TRIGGER trial_added AFTER INSERT ON trial BEGIN"
    " INSERT INTO task VALUES(new.workload_id, new.target_id, 1, new.median_ns IS NOT NULL,"
    "  new.confirmed_ns IS NOT NULL, new.wall_ns, new.search_ns, new.build_ns, new.measure_ns)"
    " ON CONFLICT DO UPDATE SET trials = trials + 1, ok = ok + excluded.ok,"
    "  confirmed = confirmed + excluded.confirmed,"
    "  last_wall_ns = max(last_wall_ns, excluded.last_wall_ns),"
    "  search_ns = search_ns + excluded.search_ns, build_ns = build_ns + excluded.build_ns,"
    "  measure_ns = measure_ns + excluded.measure_ns;"
    " END",
    "CREATE TRIGGER trial_changed AFTER UPDATE OF median_ns, confirmed_ns, wall_ns, search_ns,"
    " build_ns, measure_ns ON trial BEGIN"
    " UPDATE task SET ok = ok + (new.median_ns IS NOT NULL) - (old.median_ns IS NOT NULL),"
    "  confirmed = confirmed + (new.confirmed_ns IS NOT NULL) - (old.confirmed_ns IS NOT NULL),"
    "  last_wall_ns = max(last_wall_ns, new.wall_ns),"
    "  search_ns = search_ns + new.search_ns - old.search_ns,"
    "  build_ns = build_ns + new.build_ns - old.build_ns,"
    "  measure_ns = measure_ns + new.measure_ns - old.measure_ns"
    " WHERE workload_id = new.workload_id AND target_id = new.target_id;"
    " END",
    /* Who removes trials brings last_wall_ns up to date. */
    "CREATE TRIGGER trial_removed AFTER DELETE ON trial BEGIN"
    " UPDATE task SET trials = trials - 1, ok = ok - (old.median_ns IS NOT NULL),"
    "  confirmed = confirmed - (old.confirmed_ns IS NOT NULL),"
    "  search_ns = search_ns - old.search_ns, build_ns = build_ns - old.build_ns,"
    "  measure_ns = measure_ns - old.measure_ns"
    " WHERE workload_id = old.workload_id AND target_id = old.target_id;"
    " END",
    "DROP VIEW v_targets",
    "CREATE VIEW v_targets AS SELECT"
    " g.hash AS target_hash, g.text AS target, g.threads,"
    " coalesce(sum(k.trials), 0) AS trials, count(k.trials) AS tasks"
    " FROM target g LEFT JOIN task k ON k.target_id = g.id AND k.trials > 0 GROUP BY g.id",
    "DROP VIEW v_best",
    "CREATE VIEW v_best AS"
    " WITH choice AS (SELECT coalesce(" BEST_OF(
        "id", "confirmed_ns",
        "confirmed_ns IS NOT NULL") ", " BEST_OF("id", "median_ns",
                                                 "outcome = 'ok'") ") AS chosen FROM task k)"
                                                                   " SELECT v.* FROM choice CROSS "
                                                                   "JOIN v_trials v ON v.record = "
                                                                   "choice.chosen",
    "DROP VIEW v_tasks",
    "CREATE VIEW v_tasks AS"
    " WITH known AS (SELECT k.*, coalesce(" BEST_OF(
        "confirmed_ns", "confirmed_ns",
        "confirmed_ns IS NOT NULL") ", " BEST_OF("median_ns", "median_ns",
                                                 "outcome = 'ok'") ") AS best_ns"
                                                                   "  FROM task k WHERE trials > 0)"
                                                                   " SELECT w.name AS task, w.hash "
                                                                   "AS workload_hash, g.text AS "
                                                                   "target, g.threads,"
                                                                   " g.hash AS target_hash, "
                                                                   "w.flops, k.trials, k.ok, "
                                                                   "k.trials - k.ok AS failed, "
                                                                   "k.confirmed,"
                                                                   " k.best_ns, CASE WHEN w.flops "
                                                                   "> 0 THEN w.flops / k.best_ns "
                                                                   "END AS best_gflops,"
                                                                   " k.search_ns / 1e9 AS "
                                                                   "search_s, k.build_ns / 1e9 AS "
                                                                   "build_s,"
                                                                   " k.measure_ns / 1e9 AS "
                                                                   "measure_s,"
                                                                   " strftime('%Y-%m-%d %H:%M:%S', "
                                                                   "k.last_wall_ns / 1000000000, "
                                                                   "'unixepoch') AS last_utc,"
                                                                   " k.last_wall_ns AS last_ns"
                                                                   " FROM known k JOIN workload w "
                                                                   "ON w.id = k.workload_id JOIN "
                                                                   "target g ON g.id = k.target_id",
    NULL,
};

/* What is latest is said by time: numbers of merged records say when they came into this file. */
static const char *const version_3[] = {
    "DROP INDEX trial_task",
    "CREATE INDEX trial_latest ON trial(workload_id, target_id, wall_ns)",
    NULL,
};

/* migrations[v] takes a file from version v to v + 1. */
static const char *const *const migrations[] = {version_1, version_2, version_3};

enum { LATEST = sizeof migrations / sizeof migrations[0] };

int hone_db_schema_latest(void) {
    return LATEST;
}

const char *const *hone_db_schema_migration(int from) {
    assert(from >= 0 && from < LATEST);
    return migrations[from];
}
