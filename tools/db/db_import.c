/* tools/db/db_import.c - `hone db import`: takes the lines of db_jsonl.h into a database. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compile/records/stored_program.h"
#include "database/db_jsonl.h"
#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/db/db_verbs.h"

static void put_counts(hone_cli *cli, const char *path, const hone_db_merge_counts *counts) {
    if (cli->quiet) return;
    hone_str_printf(&cli->out, "%s: %" PRId64 " new trials, %" PRId64 " known already", path,
                    counts->trials, counts->known);
    hone_cli_put_news(cli, counts);
}

static hone_status import_verb(hone_cli *cli) {
    const char *path = cli->args[1];
    hone_db *db = NULL;
    hone_db_merge_counts counts;
    bool from_stdin = strcmp(path, "-") == 0, is_new = !hone_fs_exists(cli->args[0]);
    hone_status st = hone_cli_open_db(cli->args[0], HONE_DB_CREATE, &db);
    if (!st)
        st = from_stdin ? hone_db_read_lines(db, path, stdin, hone_stored_program_check, &counts)
                        : hone_db_read_lines_file(db, path, hone_stored_program_check, &counts);
    if (!st) put_counts(cli, path, &counts);
    hone_db_close(db);
    if (st && is_new) st = hone_status_join(st, hone_cli_remove_db(cli->args[0]));
    return st;
}

int hone_db_verb_import(int argc, char **argv) {
    static const hone_cli_command command = {
        .name = "db import",
        .usage = "DB FILE",
        .summary = "Takes the lines that `hone db export` wrote; what is there already takes what "
                   "is new. DB is made when it is not there.",
        .example = "hone db import /tmp/all.db /tmp/records.jsonl",
        .min_args = 2,
        .max_args = 2,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, import_verb(&cli));
}
