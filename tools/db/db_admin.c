/* tools/db/db_admin.c - `hone db check|recover|merge|prune`. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compile/records/stored_program.h"
#include "graph/plan/tasks.h"
#include "ir/identity/structural.h"
#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/db/db_verbs.h"

/* ---- check ---- */

static void print_finding(void *ctx, const char *line) {
    hone_cli *cli = ctx;
    hone_str_printf(&cli->out, "%s: %s\n", cli->args[0], line);
}

static hone_status check(hone_cli *cli) {
    hone_db *db = NULL;
    hone_db_options options = {.path = cli->args[0], .mode = HONE_DB_READ, .is_checking = true};
    HONE_TRY(hone_db_open_sqlite(&options, &db));
    hone_status st = hone_db_check(db, print_finding, cli);
    hone_db_close(db);
    if (hone_status_code(st) == HONE_CODE_INVALID) {
        /* The findings are the answer. */
        hone_status_free(st);
        cli->exit_code = HONE_EXIT_NO;
        hone_str_printf(&cli->out, "'hone db recover %s -o NEW' saves what is sound\n",
                        cli->args[0]);
        return HONE_OK;
    }
    if (!st && !cli->quiet) hone_str_printf(&cli->out, "%s: sound\n", cli->args[0]);
    return st;
}

int hone_db_verb_check(int argc, char **argv) {
    static const hone_cli_command command = {
        .name = "db check",
        .usage = "DB",
        .summary = "Looks through the whole file: pages, indices, references, identities, "
                   "checksums. Exit code 1: something is wrong.",
        .example = "hone db check /tmp/tuned.db",
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, check(&cli));
}

/* ---- recover ---- */

typedef struct recovering {
    hone_str losses;
    hone_module *module; /* of the workload that was mended last */
} recovering;

static void note_loss(void *ctx, const char *line) {
    recovering *r = ctx;
    hone_str_printf(&r->losses, "  %s\n", line);
}

/* What a program says of itself. */
static bool mend_workload(void *ctx, hone_db_workload *io_workload) {
    recovering *r = ctx;
    const hone_func *func;
    hone_module_release(r->module);
    hone_status_free(hone_stored_program_read(io_workload->program, &r->module, &func));
    if (!func || !hone_hash128_equal(hone_func_hash(func), io_workload->hash)) return false;
    io_workload->hash_version = HONE_STRUCTURAL_VERSION;
    io_workload->name = func->name;
    io_workload->flops = hone_func_flops(func, NULL);
    return true;
}

static void report_recovery(hone_cli *cli, const hone_db_recovery *r, const hone_str *losses) {
    if (cli->quiet) return;
    hone_str_printf(
        &cli->out,
        "%s: saved %" PRId64 " trials (%" PRId64 " without samples), %" PRId64
        " workloads, %" PRId64 " targets, %" PRId64 " sessions; %" PRId64 " rows are lost",
        cli->args[0], r->trials, r->partial, r->workloads, r->targets, r->sessions, r->lost);
    if (r->orphans) {
        hone_str_printf(&cli->out,
                        ", %" PRId64
                        " of them sound trials whose workload, target or session is lost",
                        r->orphans);
    }
    if (r->mended) {
        hone_str_printf(
            &cli->out,
            "; %" PRId64
            " workloads, targets and sessions were changed: what a hash proves is saved",
            r->mended);
    }
    hone_str_append_char(&cli->out, '\n');
    hone_str_append(&cli->out, hone_str_text(losses));
}

/* Gives a database that was closed its name. */
static hone_status give_name(const char *draft, const char *output) {
    hone_str log = {0};
    hone_str_printf(&log, "%s-wal", draft);
    hone_status st = hone_str_check(&log);
    bool is_whole = !st && !hone_fs_exists(hone_str_text(&log));
    hone_str_deinit(&log);
    if (st || (is_whole && rename(draft, output) == 0)) return st;
    return HONE_ERROR(HONE_CODE_IO, "%s: cannot write: %s", output,
                      is_whole ? strerror(errno) : "its log could not be taken in");
}

/* Into a draft: what is left of it when this is killed must not pass for all that there was. */
static hone_status recover_to(hone_cli *cli, const char *draft, const char *output) {
    hone_db *into = NULL;
    hone_db_recovery counts;
    recovering r = {0};
    const hone_db_recover_options options = {.report = note_loss, .mend = mend_workload, .ctx = &r};
    HONE_TRY(hone_cli_remove_db(draft)); /* of one that was killed */
    hone_status st = hone_cli_open_db(draft, HONE_DB_CREATE, &into);
    if (!st) st = hone_db_recover(cli->args[0], into, &options, &counts);
    hone_db_close(into);
    if (!st) st = hone_str_check(&r.losses);
    if (!st) st = give_name(draft, output);
    if (!st) report_recovery(cli, &counts, &r.losses);
    hone_str_deinit(&r.losses);
    hone_module_release(r.module);
    return st ? hone_status_join(st, hone_cli_remove_db(draft)) : HONE_OK;
}

static hone_status recover(hone_cli *cli, const char *output) {
    if (!output) return HONE_ERROR(HONE_CODE_INVALID, "where to? give -o NEW");
    if (hone_fs_exists(output)) {
        return HONE_ERROR(HONE_CODE_INVALID, "%s: is there already; give the name of a new file",
                          output);
    }
    if (!hone_fs_exists(cli->args[0])) {
        return HONE_ERROR(HONE_CODE_NOT_FOUND, "%s: there is no such database", cli->args[0]);
    }
    hone_str draft = {0};
    hone_str_printf(&draft, "%s.part", output);
    hone_status st = hone_str_check(&draft);
    if (!st) st = recover_to(cli, hone_str_text(&draft), output);
    hone_str_deinit(&draft);
    return st;
}

int hone_db_verb_recover(int argc, char **argv) {
    const char *output = NULL;
    const hone_cli_option options[] = {HONE_CLI_OPTION("output", 'o', "NEW", OUTPUT, &output,
                                                       "the new file, which must not be there yet"),
                                       {0}};
    const hone_cli_command command = {
        .name = "db recover",
        .usage = "DB -o NEW",
        .summary = "Saves what can be read of a damaged database, and is what was written, in a "
                   "new file, and counts what is lost. DB stays as it is.",
        .example = "hone db recover /tmp/tuned.db -o /tmp/saved.db",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, recover(&cli, output));
}

/* ---- merge ---- */

static hone_status merge_one(hone_cli *cli, hone_db *into, const char *path) {
    hone_db *from = NULL;
    hone_db_merge_counts counts = {0};
    HONE_TRY(hone_cli_open_db(path, HONE_DB_READ, &from));
    hone_status st = hone_status_annotate(hone_db_merge(into, from, &counts), "%s", path);
    hone_db_close(from);
    if (!st && !cli->quiet) {
        hone_str_printf(&cli->out,
                        "%s: %" PRId64 " new trials in %" PRId64 " new sessions, %" PRId64
                        " known already",
                        path, counts.trials, counts.sessions, counts.known);
        hone_cli_put_news(cli, &counts);
    }
    return st;
}

static hone_status check_others(const hone_cli *cli) {
    for (int i = 1; i < cli->arg_count; i++) {
        const char *path = cli->args[i];
        if (strcmp(path, cli->args[0]) == 0 || hone_fs_is_same(path, cli->args[0]))
            return HONE_ERROR(HONE_CODE_INVALID, "%s: cannot be merged into itself", path);
    }
    return HONE_OK;
}

static hone_status merge(hone_cli *cli) {
    hone_db *into = NULL;
    HONE_TRY(check_others(cli));
    bool is_empty = !hone_fs_exists(cli->args[0]);
    hone_status st = hone_cli_open_db(cli->args[0], HONE_DB_CREATE, &into);
    for (int i = 1; i < cli->arg_count && !st; i++) {
        st = merge_one(cli, into, cli->args[i]);
        is_empty = is_empty && st;
    }
    hone_db_close(into);
    return is_empty ? hone_status_join(st, hone_cli_remove_db(cli->args[0])) : st;
}

int hone_db_verb_merge(int argc, char **argv) {
    static const hone_cli_command command = {
        .name = "db merge",
        .usage = "INTO FROM...",
        .summary = "Takes what the other databases know and INTO does not, or knows less of or "
                   "earlier; INTO is made when it is not there. Merging again changes nothing.",
        .example = "hone db merge /tmp/all.db /tmp/tuned.db",
        .min_args = 2,
        .max_args = -1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, merge(&cli));
}

/* ---- prune ---- */

static hone_status report_pruning(hone_cli *cli, hone_db *db, const hone_db_stats *before,
                                  int64_t removed) {
    hone_db_stats after;
    HONE_TRY(hone_db_get_stats(db, &after));
    if (cli->quiet) return HONE_OK;
    hone_str_printf(&cli->out,
                    "%s: %" PRId64 " trials removed, %" PRId64 " stay; %.1f MiB, were %.1f\n",
                    cli->args[0], removed, after.trials, (double)after.file_bytes / (1 << 20),
                    (double)before->file_bytes / (1 << 20));
    return HONE_OK;
}

static hone_status prune(hone_cli *cli, int64_t keep) {
    hone_db *db = NULL;
    hone_db_stats before;
    int64_t removed = 0;
    HONE_TRY(hone_cli_open_db(cli->args[0], HONE_DB_WRITE, &db));
    hone_status st = hone_db_get_stats(db, &before);
    if (!st) st = hone_db_prune(db, keep, &removed);
    if (!st) st = report_pruning(cli, db, &before, removed);
    hone_db_close(db);
    return st;
}

int hone_db_verb_prune(int argc, char **argv) {
    int64_t keep = 50;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION("keep", 0, "N", NUMBER, &keep,
                        "the fastest records of each task that stay; default 50", .min = 1,
                        .max = INT32_MAX),
        {0}};
    const hone_cli_command command = {
        .name = "db prune",
        .usage = "DB [--keep 50]",
        .summary = "Removes trials that no longer count: all but the fastest of each task and "
                   "target, those that were confirmed and the default schedules; gives the space "
                   "back. What the others taught the cost model goes with them. Not while "
                   "`hone tune` writes to the database.",
        .example = "hone db prune /tmp/tuned.db --keep 50",
        .options = options,
        .min_args = 1,
        .max_args = 1,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, prune(&cli, keep));
}
