/* tools/cli/cli_db.h - databases as the verbs use them. */
#ifndef HONE_TOOLS_CLI_CLI_DB_H
#define HONE_TOOLS_CLI_CLI_DB_H

#include "database/database.h"
#include "graph/plan/tasks.h"
#include "target/target.h"
#include "tools/cli/cli.h"

/* Opens with the usual waiting time; messages begin with the path. */
HONE_NODISCARD hone_status hone_cli_open_db(const char *path, hone_db_mode mode, hone_db **out_db);

/* Ends a line about a merge: how many rows took news, when any did. */
void hone_cli_put_news(hone_cli *cli, const hone_db_merge_counts *counts);

/* What the database knows of each task on the target and those like it: one row per task, in arena,
 * with the time of the record that a compilation would take; trials 0 where it knows nothing. */
HONE_NODISCARD hone_status hone_cli_known_tasks(hone_db *db, const hone_task_list *tasks,
                                                const hone_target *target, hone_arena *arena,
                                                hone_db_task **out_known);

/* The target whose hash begins with a text of 4 digits or more; *out_found: there is one. INVALID:
 * there are several. threads > 0 replaces its number of threads. */
HONE_NODISCARD hone_status hone_cli_find_target(hone_db *db, const char *text, int64_t threads,
                                                hone_target *out_target, bool *out_found);

/* A stored target in a column: its text, or where that is long "znver3 (x86_64), 256 bits, 2
 * threads, 2 cores"; in arena. */
const char *hone_cli_short_target(hone_arena *arena, const char *text);

/* "4x6 6x8:float16 ?x8": the tensors of a kernel, element types that are not float32; in arena. */
const char *hone_cli_text_of_shapes(hone_arena *arena, const hone_func *func);

/* All rows of a kind, copied into arena. */
typedef struct hone_db_rows {
    hone_arena *arena;
    hone_db_task *tasks;
    const char **shapes; /* beside tasks, by hone_cli_list_task_shapes */
    hone_db_session *sessions;
    hone_db_target *targets;
    hone_db_failure_count *failures;
    hone_db_trial *trials;
    size_t count, capacity;
    bool failed;
} hone_db_rows;

HONE_NODISCARD hone_status hone_cli_list_tasks(hone_db *db, hone_db_rows *rows);
/* After hone_cli_list_tasks: the shapes of each. */
HONE_NODISCARD hone_status hone_cli_list_task_shapes(hone_db *db, hone_db_rows *rows);
HONE_NODISCARD hone_status hone_cli_list_sessions(hone_db *db, hone_db_rows *rows);
HONE_NODISCARD hone_status hone_cli_list_targets(hone_db *db, hone_db_rows *rows);
HONE_NODISCARD hone_status hone_cli_list_failures(hone_db *db, hone_db_rows *rows);
/* Without samples and features. */
HONE_NODISCARD hone_status hone_cli_list_trials(hone_db *db, const hone_db_filter *filter,
                                                hone_db_rows *rows);

/* Removes the files of a database that came to nothing; fine when there are none. */
HONE_NODISCARD hone_status hone_cli_remove_db(const char *path);

#endif
