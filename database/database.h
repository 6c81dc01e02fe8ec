/* database/database.h - keeps what tuning learned: workloads, targets, sessions, trials.
 *
 * A database holds text, hashes and numbers; it knows nothing of programs or traces. A trial is
 * one measured (or failed) candidate: durable when hone_db_commit_trial returns. Two backends, one
 * behaviour (tests/conformance/test_database_conformance.c): sqlite (a file) and memory.
 *
 * Identity is content, so that databases can be merged: a workload is its structural hash (which
 * covers the version of the serialisation that was hashed), a target is hone_target_hash (threads
 * included), a trial is the hash of (session, workload, target, proposal).
 *
 * Strings: those that go in are copied before the call returns; those that come out belong to the
 * database and are valid during the callback, or to the arena that was passed. NULL means "none",
 * NAN a number that is not there. Times are nanoseconds; wall times count from 1970, UTC.
 *
 * Callbacks return true to go on, false to stop (the call then returns HONE_OK). They must not
 * call into the same handle.
 *
 * Lifetime: one owner, who ends it with _close.
 * Threads:  thread-safe. Calls take turns; give each long reader its own read-only handle.
 * Codes:    INVALID (bad argument, not a database of ours, damaged file), VERSION (the file is
 *           newer than this build), NOT_FOUND (no such file or row), IO (disk full, unwritable,
 *           unreadable: what was committed stays), TIMEOUT (another process held the file for
 *           longer than busy_timeout_ns), UNSUPPORTED (this backend cannot), NO_MEMORY.
 * Layer:    may include support/, target/, measure/.
 */
#ifndef HONE_DATABASE_DATABASE_H
#define HONE_DATABASE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/arena.h"
#include "support/core/status.h"
#include "support/data/hash.h"

typedef struct hone_db hone_db;

/* ---- rows ---- */

typedef struct hone_db_workload {
    hone_hash128 hash;     /* structural hash of the program */
    int32_t hash_version;  /* of the serialisation that was hashed */
    const char *name;      /* for people; not part of the identity */
    const char *program;   /* TVMScript text */
    const char *args_json; /* facts about the arguments, or NULL */
    double flops;          /* of one run; 0 = unknown */
} hone_db_workload;

typedef struct hone_db_target {
    hone_hash128 hash; /* hone_target_hash */
    const char *text;  /* canonical text */
    int32_t threads;   /* that a kernel may use */
} hone_db_target;

typedef struct hone_db_session {
    const char *id; /* unique; hone_db_session_id makes one */
    const char *model;
    const char *command_line;
    const char *hone_version;
    const char *options_json; /* whatever else the tuner wants to keep, or NULL */
    const char *state; /* "running", "done", "stopped", "failed"; out also "killed": its process is
                          no more */
    int64_t started_ns, ended_ns; /* wall time; ended 0 = not yet */
    uint64_t seed;
    int32_t look_ahead;    /* W */
    int64_t budget_trials; /* 0 = none */
    int64_t budget_ns;     /* 0 = none */
    const char *owner;     /* the process that is at it (session_owner.h), or NULL */
} hone_db_session;

/* Where the time of a trial went, in nanoseconds; 0 = did not happen or is not known. */
typedef struct hone_db_times {
    int64_t search, queue, build, transfer, load, measure, check;
} hone_db_times;

#define HONE_DB_OUTCOME_OK "ok"

typedef struct hone_db_trial {
    int64_t record;      /* number in this file, out only; 0 in what is committed */
    hone_hash128 uid;    /* content identity, out only */
    const char *session; /* id; the session, workload and target must be in the database */
    hone_hash128 workload, target;
    int64_t proposal;         /* number of the proposal within (session, workload, target) */
    int32_t sketch;           /* index of the sketch, -1 = none */
    const char *trace;        /* JSON text */
    hone_hash128 program;     /* hash of the program that the trace made */
    const char *outcome;      /* "ok" or the name of a failure class (measure/failure.h) */
    const char *message;      /* why it failed, or NULL */
    double median_ns;         /* of one run; NAN when it failed */
    double spread;            /* relative: interquartile range / median; NAN = unknown */
    const double *samples_ns; /* sample_count values, or NULL */
    size_t sample_count;
    double max_error;        /* largest |got − reference| found by the check; NAN = unchecked */
    double confirmed_ns;     /* median of the interleaved confirmation; NAN = not confirmed */
    int64_t confirmed_at_ns; /* wall time of that; 0 = none, or not known */
    double predicted_score;  /* what the cost model said; NAN = nothing */
    const char *drift;       /* NULL, or how the device drifted meanwhile ("none", "flagged") */
    const char *device;      /* name of the runner or board that measured it, or NULL */
    hone_db_times times;
    int64_t wall_ns;         /* when the result arrived */
    int32_t feature_version; /* of the rows below; 0 = no features */
    uint32_t feature_rows, feature_columns;
    const float *features; /* rows × columns, or NULL; out: only when asked for */
} hone_db_trial;

/* What is known about one (workload, target). */
typedef struct hone_db_task {
    hone_hash128 workload, target;
    const char *name; /* of the workload */
    const char *target_text;
    int32_t threads;
    double flops;
    int64_t trials, ok, failed, confirmed;
    double best_ns; /* of its best record (HONE_DB_ORDER_BEST); NAN when there is none */
    int64_t last_wall_ns;
} hone_db_task;

typedef struct hone_db_failure_count {
    const char *outcome;
    const char *workload_name;
    hone_hash128 workload;
    int64_t count;
    const char *last_message; /* of the latest one by time, of equals the higher uid; or NULL */
} hone_db_failure_count;

typedef struct hone_db_stats {
    int64_t workloads, targets, sessions, trials, ok, failed, confirmed;
    int64_t first_wall_ns, last_wall_ns; /* of trials; 0 = none */
    hone_db_times times;                 /* summed over all trials */
    int64_t file_bytes;                  /* 0 for memory */
    int32_t schema_version;
} hone_db_stats;

/* ---- making ---- */

typedef enum hone_db_mode {
    HONE_DB_READ,   /* must exist; never changes the file */
    HONE_DB_WRITE,  /* must exist; migrates an older schema */
    HONE_DB_CREATE, /* makes the file when it is not there */
} hone_db_mode;

typedef struct hone_db_options {
    const char *path;
    hone_db_mode mode;
    int64_t busy_timeout_ns; /* 0 = 10 s */
    bool is_checking;        /* messages about damage do not send people to 'hone db check' */
    bool check_always;       /* look through the whole file even after a clean close */
} hone_db_options;

HONE_NODISCARD hone_status hone_db_open_sqlite(const hone_db_options *options, hone_db **out_db);
HONE_NODISCARD hone_status hone_db_create_memory(hone_db **out_db);
void hone_db_close(hone_db *db); /* NULL is allowed */

/* ---- identities ---- */

hone_hash128 hone_db_trial_uid(const char *session, const hone_hash128 *workload,
                               const hone_hash128 *target, int64_t proposal);
/* A session id from facts of the caller (seed, wall time, process id): 32 hex digits and NUL. */
void hone_db_session_id(uint64_t seed, int64_t wall_ns, int64_t pid,
                        char out_id[HONE_HASH_HEX_BYTES]);

/* ---- writing ---- */

/* Each puts a row; one that is there already (same identity) is left as it is. */
HONE_NODISCARD hone_status hone_db_put_workload(hone_db *db, const hone_db_workload *workload);
HONE_NODISCARD hone_status hone_db_put_target(hone_db *db, const hone_db_target *target);

/* INVALID when the id is taken. */
HONE_NODISCARD hone_status hone_db_begin_session(hone_db *db, const hone_db_session *session);
/* NOT_FOUND when there is no such session. A resumed session may be ended again. */
HONE_NODISCARD hone_status hone_db_end_session(hone_db *db, const char *id, const char *state,
                                               int64_t ended_ns);

/* One transaction, on disk when it returns. out_record may be NULL. INVALID when the session,
 * workload or target is not there, or when this proposal was committed before. */
HONE_NODISCARD hone_status hone_db_commit_trial(hone_db *db, const hone_db_trial *trial,
                                                int64_t *out_record);
/* All or none, one transaction. */
HONE_NODISCARD hone_status hone_db_commit_trials(hone_db *db, const hone_db_trial *trials,
                                                 size_t count);
/* Marks a record as confirmed, with the time that the confirmation found, and when. NOT_FOUND. */
HONE_NODISCARD hone_status hone_db_confirm(hone_db *db, int64_t record, double confirmed_ns,
                                           int64_t confirmed_at_ns);

/* ---- reading ---- */

typedef enum hone_db_order {
    HONE_DB_ORDER_PROPOSAL, /* by start of the session, its id, then proposal number: for re-folding
                             */
    HONE_DB_ORDER_BEST,     /* ok trials only: those that were confirmed, by confirmed_ns, then the
                               others, by median_ns; of equals the lower uid. A first look that was
                               lucky is     not compared with a confirmation */
    HONE_DB_ORDER_FASTEST,  /* ok trials only, by median_ns, then uid: for whom to confirm */
    HONE_DB_ORDER_RECORD,   /* by record: for reading all of a file */
    HONE_DB_ORDER_LATEST,   /* by wall_ns, latest first; of equals the higher record, whose number
                               alone does not say when: records are merged */
    HONE_DB_ORDER_LAST_RECORD, /* by record, the last of the file first */
} hone_db_order;

/* Which trials; zeroed = all, in proposal order. Members that are NULL or 0 do not restrict. */
typedef struct hone_db_filter {
    int64_t record; /* this one alone */
    const hone_hash128 *workload, *target, *program;
    size_t target_count; /* of those at `target`; 0 = 1. Times of different targets are not
                            compared: what is of the first comes first, and so on; BEST: the
                            confirmed ones of all targets, then the others */
    const char *session;
    const char *outcome; /* "ok", or a failure class */
    int64_t limit;       /* 0 = no limit */
    hone_db_order order;
    bool with_samples, with_features;
    bool without_trace; /* nor confirmed_at_ns: they lie apart from the rest of a row */
} hone_db_filter;

/* The k best of a task, limit k in the order BEST: O(log n + k + confirmed). */
typedef bool (*hone_db_visit_trial)(void *ctx, const hone_db_trial *trial);
HONE_NODISCARD hone_status hone_db_trials(hone_db *db, const hone_db_filter *filter,
                                          hone_db_visit_trial visit, void *ctx);

/* Between these two a handle that was opened for reading sees the file as it is when it first
 * reads: many small reads then agree with each other, and ask for no locks. Nobody who writes
 * waits for it; the log of a file grows meanwhile, so this is for seconds. They do nothing to
 * handles that write, and to files whose readers would hold up writers. Not nested. */
HONE_NODISCARD hone_status hone_db_begin_look(hone_db *db);
void hone_db_end_look(hone_db *db);

/* A trial as a point of its task's history. */
typedef struct hone_db_moment {
    int64_t record, wall_ns;
    int32_t session;     /* its place among hone_db_sessions */
    double median_ns;    /* NAN: it failed */
    double confirmed_ns; /* NAN: it was not confirmed */
} hone_db_moment;

/* All trials of a task in order of wall_ns, then record. It reads no rows but indices, so that of a
 * million trials it takes a second, where hone_db_trials reads gigabytes; it holds 48 bytes for
 * each of them meanwhile. */
typedef bool (*hone_db_visit_moment)(void *ctx, const hone_db_moment *moment);
HONE_NODISCARD hone_status hone_db_history(hone_db *db, const hone_hash128 *workload,
                                           const hone_hash128 *target, hone_db_visit_moment visit,
                                           void *ctx);

/* What counts as the time of an ok trial: the confirmed one, else the median of its samples. */
double hone_db_trial_ns(const hone_db_trial *trial);

/* One trial by its record number ("12") or a unique prefix (≥ 4 digits) of its uid ("9f3c"), with
 * samples and features, in `arena`. NOT_FOUND; INVALID when the prefix fits several. */
HONE_NODISCARD hone_status hone_db_get_trial(hone_db *db, const char *record_or_uid,
                                             hone_arena *arena, const hone_db_trial **out_trial);

/* Whether a program was tried for a task, in the records up to last_record. */
HONE_NODISCARD hone_status hone_db_has_program(hone_db *db, const hone_hash128 *workload,
                                               const hone_hash128 *target,
                                               const hone_hash128 *program, int64_t last_record,
                                               bool *out_has);

typedef bool (*hone_db_visit_workload)(void *ctx, const hone_db_workload *workload);
typedef bool (*hone_db_visit_target)(void *ctx, const hone_db_target *target);
typedef bool (*hone_db_visit_session)(void *ctx, const hone_db_session *session);
typedef bool (*hone_db_visit_task)(void *ctx, const hone_db_task *task);
typedef bool (*hone_db_visit_failure)(void *ctx, const hone_db_failure_count *failure);

/* hash NULL = all, in the order they were put. */
HONE_NODISCARD hone_status hone_db_workloads(hone_db *db, const hone_hash128 *hash,
                                             hone_db_visit_workload visit, void *ctx);
HONE_NODISCARD hone_status hone_db_targets(hone_db *db, const hone_hash128 *hash,
                                           hone_db_visit_target visit, void *ctx);
/* id NULL = all, by start. */
HONE_NODISCARD hone_status hone_db_sessions(hone_db *db, const char *id,
                                            hone_db_visit_session visit, void *ctx);
/* Every (workload, target) that has trials, by name. */
HONE_NODISCARD hone_status hone_db_tasks(hone_db *db, hone_db_visit_task visit, void *ctx);
/* Failed trials counted by class and workload, most frequent first. */
HONE_NODISCARD hone_status hone_db_failures(hone_db *db, hone_db_visit_failure visit, void *ctx);
HONE_NODISCARD hone_status hone_db_get_stats(hone_db *db, hone_db_stats *out_stats);

/* ---- merging ---- */

typedef struct hone_db_merge_counts {
    int64_t sessions, trials; /* that were new */
    int64_t known;            /* trials that were there already */
    int64_t changed;          /* rows that were there, and took news */
} hone_db_merge_counts;

/* Takes rows that other databases hold, one by one, workloads, targets and sessions before the
 * trials that refer to them. A row that is there takes what the other knows later or more of: the
 * end of a session; confirmation, samples and features of a trial (db_join.c). So the order of the
 * rows, and how often they come, changes nothing but record numbers. Trials are written some
 * hundred at a time, the last by _finish; a failure half-way leaves a part. */
typedef struct hone_db_joiner hone_db_joiner;
HONE_NODISCARD hone_status hone_db_joiner_create(hone_db *into, hone_db_joiner **out_joiner);
void hone_db_joiner_destroy(hone_db_joiner *joiner); /* NULL is allowed */
HONE_NODISCARD hone_status hone_db_join_workload(hone_db_joiner *joiner,
                                                 const hone_db_workload *workload);
HONE_NODISCARD hone_status hone_db_join_target(hone_db_joiner *joiner,
                                               const hone_db_target *target);
HONE_NODISCARD hone_status hone_db_join_session(hone_db_joiner *joiner,
                                                const hone_db_session *session);
HONE_NODISCARD hone_status hone_db_join_trial(hone_db_joiner *joiner, const hone_db_trial *trial);
HONE_NODISCARD hone_status hone_db_joiner_finish(hone_db_joiner *joiner,
                                                 hone_db_merge_counts *out_counts);

/* Joins all of `from` into `into`: merging is idempotent, commutative and associative but for
 * record numbers. Two databases must not be merged into each other at the same time. */
HONE_NODISCARD hone_status hone_db_merge(hone_db *into, hone_db *from,
                                         hone_db_merge_counts *out_counts);

/* ---- pruning ---- */

/* Removes, in one transaction, the trials that are neither among the `keep` (≥ 1) fastest of their
 * task, nor confirmed, nor of its default schedule (no sketch), with their samples and features;
 * then gives the space back to the disk, which needs room for a copy of what stays. Workloads,
 * targets and sessions stay. Not while a session goes on: it may confirm what is removed. TIMEOUT
 * or IO from giving back leave the trials removed; *out_removed tells. */
HONE_NODISCARD hone_status hone_db_prune(hone_db *db, int64_t keep, int64_t *out_removed);

/* ---- SQL for people (sqlite only, else UNSUPPORTED) ---- */

typedef enum hone_db_cell_kind {
    HONE_DB_CELL_NULL,
    HONE_DB_CELL_INT,
    HONE_DB_CELL_REAL,
    HONE_DB_CELL_TEXT,
    HONE_DB_CELL_BLOB,
} hone_db_cell_kind;

typedef struct hone_db_cell {
    hone_db_cell_kind kind;
    int64_t i;
    double f;
    const char *text; /* TEXT and BLOB: `length` bytes; TEXT ends with NUL */
    size_t length;
} hone_db_cell;

typedef struct hone_db_row {
    size_t count;
    const char *const *names;
    const hone_db_cell *cells;
} hone_db_row;

typedef bool (*hone_db_visit_row)(void *ctx, const hone_db_row *row);

/* A value for a parameter of a statement: of `?` by its place among these, of `:name`, `@name` and
 * `$name` by `name` (without that sign), or by its place where that is NULL. */
typedef struct hone_db_parameter {
    const char *name;
    hone_db_cell value;
} hone_db_parameter;

typedef struct hone_db_statement {
    const char *sql;
    const hone_db_parameter *parameters;
    size_t parameter_count;
    int64_t timeout_ns; /* 0 = 60 s */
} hone_db_statement;

/* Runs one read-only statement (SELECT, WITH, VALUES, EXPLAIN) over the views of docs/database.md.
 * visit is called once with count columns and cells NULL before the rows. INVALID: bad SQL, more
 * than one statement, or one that writes, attaches or loads; its message quotes SQLite's reason; a
 * parameter without a value, or values by place beyond the parameters. TIMEOUT: ran for too long.
 */
HONE_NODISCARD hone_status hone_db_select(hone_db *db, const hone_db_statement *statement,
                                          hone_db_visit_row visit, void *ctx);

/* hone_db_select of a statement without parameters. */
HONE_NODISCARD hone_status hone_db_sql(hone_db *db, const char *sql, int64_t timeout_ns,
                                       hone_db_visit_row visit, void *ctx);

/* Looks through the whole file: pages, indices, foreign keys, uids. Each finding is a line; INVALID
 * when there was one. */
typedef void (*hone_db_report)(void *ctx, const char *line);
HONE_NODISCARD hone_status hone_db_check(hone_db *db, hone_db_report report, void *ctx);

/* What was saved of a damaged file. */
typedef struct hone_db_recovery {
    int64_t workloads, targets, sessions, trials;
    int64_t partial; /* of the trials: without their samples and features */
    int64_t lost;    /* rows that cannot be read, or are not what was written, and the orphans */
    int64_t orphans; /* trials that are sound, but their workload, target or session is lost */
    int64_t mended;  /* workloads, targets and sessions that are what they were as far as their
                        trials need it; the rest is made anew or left out */
} hone_db_recovery;

/* Is the program of a workload, whose row is not what was written, the one that its hash names? If
 * so it sets the version of the hash, the name (until the next call) and flops. */
typedef bool (*hone_db_mend_workload)(void *ctx, hone_db_workload *io_workload);

typedef struct hone_db_recover_options {
    hone_db_report report;      /* of each thing that took orphans along, by its hash if known */
    hone_db_mend_workload mend; /* NULL: workloads are lost when anything of them is */
    void *ctx;                  /* of both */
} hone_db_recover_options;

/* Joins every row that can be read, and is what was written, into another database. The damaged
 * file stays as it is. INVALID when nothing in the file looks like a row of a database of Hone's.
 */
HONE_NODISCARD hone_status hone_db_recover(const char *path, hone_db *into,
                                           const hone_db_recover_options *options,
                                           hone_db_recovery *out_counts);

#endif
