/* tools/verbs/verb_report.c - `hone report`: one self-contained page about a database. */
#include <string.h>

#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/report/report.h"
#include "tools/verbs/verbs.h"

enum { MOST_DATABASES = 8 };

static hone_status put_page(hone_cli *cli, const hone_report_source *sources, size_t count,
                            const char *output) {
    hone_str page = {0};
    hone_status st = hone_report_print(sources, count, &page);
    if (!st) st = hone_cli_put_result(cli, output, &page);
    bool is_file = strcmp(output, "-") != 0;
    if (!st && is_file && !cli->quiet) hone_str_printf(&cli->out, "wrote %s\n", output);
    hone_str_deinit(&page);
    return st;
}

static hone_status report(hone_cli *cli, const char *output) {
    hone_report_source sources[MOST_DATABASES] = {0};
    size_t count = 0, wanted = (size_t)cli->arg_count;
    hone_status st = HONE_OK;
    for (; count < wanted && !st; count++) {
        const char *path = cli->args[count];
        sources[count].title = wanted > 1 ? path : hone_path_basename(path);
        st = hone_cli_open_db(path, HONE_DB_READ, &sources[count].db);
    }
    if (!st) st = put_page(cli, sources, count, output);
    while (count)
        hone_db_close(sources[--count].db);
    return st;
}

int hone_verb_report(int argc, char **argv) {
    const char *output = "-";
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("output", 'o', "FILE", OUTPUT, &output,
                        "write the page there; default: standard output"),
        {0},
    };
    const hone_cli_command command = {
        .name = "report",
        .usage = "DB... [-o FILE]",
        .summary = "Makes one HTML page about databases that needs nothing else: tasks, curves, "
                   "where the time went, the cost model, which decisions mattered, the best "
                   "records beside the default, failures; several databases are compared. "
                   "`hone serve` shows the same page live.",
        .example = "hone report /tmp/tuned.db -o /tmp/report.html",
        .options = options,
        .min_args = 1,
        .max_args = MOST_DATABASES,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, report(&cli, output));
}
