/* tools/db/db_export.c - `hone db export`: a database as lines of JSON (db_jsonl.h). */
#include <string.h>
#include <unistd.h>

#include "database/db_jsonl.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/db/db_verbs.h"

static hone_status export_verb(hone_cli *cli, const char *output) {
    hone_db *db = NULL;
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    bool to_stdout = !output || strcmp(output, "-") == 0;
    hone_status st =
        to_stdout ? hone_db_write_lines(db, STDOUT_FILENO) : hone_db_write_lines_file(db, output);
    hone_db_close(db);
    return st;
}

int hone_db_verb_export(int argc, char **argv) {
    const char *output = NULL;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("output", 'o', "FILE", OUTPUT, &output,
                        "write there; default: standard output"),
        {0},
    };
    const hone_cli_command command = {
        .name = "db export",
        .usage = "DB [-o FILE]",
        .summary = "Writes all of a database as lines of JSON.",
        .example = "hone db export /tmp/tuned.db -o /tmp/records.jsonl",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, export_verb(&cli, output));
}
