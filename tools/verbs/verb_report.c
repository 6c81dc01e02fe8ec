/* tools/verbs/verb_report.c - `hone report`: one self-contained page about a database. */
#include <string.h>

#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/report/report.h"
#include "tools/verbs/verbs.h"

static hone_status report(hone_cli *cli, const char *output) {
    hone_db *db = NULL;
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_READ, &db));
    hone_status st = HONE_OK;
    if (strcmp(output, "-") == 0) {
        st = hone_report_print(db, hone_path_basename(cli->args[0]), &cli->out);
    } else {
        st = hone_report_write(db, cli->args[0], output);
        if (!st && !cli->quiet) hone_str_printf(&cli->out, "wrote %s\n", output);
    }
    hone_db_close(db);
    return st;
}

int hone_verb_report(int argc, char **argv) {
    const char *output = "-";
    const hone_cli_option options[] = {
        {.name = "output",
         .letter = 'o',
         .value = "FILE",
         .kind = HONE_CLI_OUTPUT,
         .to = &output,
         .help = "write the page there; default: standard output"},
        {0 },
    };
    const hone_cli_command command = {
        .name = "report",
        .usage = "DB [-o FILE]",
        .summary = "Makes one HTML page about a database that needs nothing else: curves, tasks, "
                   "best traces, failures, where the time went, sessions.",
        .example = "hone report /tmp/tuned.db -o /tmp/report.html",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    hone_cli cli;
    int code;
    if (!hone_cli_begin(&cli, &command, argc, argv, &code)) return code;
    return hone_cli_end(&cli, report(&cli, output));
}
