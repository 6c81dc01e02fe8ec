/* tools/verbs/verb_verify.c - `hone verify`: well formed, or the reasons with their places. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/text/read/script.h"
#include "ir/verify/verify.h"
#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_model.h"
#include "tools/cli/cli_target.h"
#include "tools/verbs/verbs.h"

static void put_text(hone_cli *cli, const char *source, const hone_findings *findings) {
    const char *path = strcmp(cli->args[0], "-") == 0 ? "<stdin>" : cli->args[0];
    for (uint32_t i = 0; i < findings->count; i++) {
        const hone_finding *f = &findings->items[i];
        if (f->is_warning && cli->quiet) continue;
        hone_str_append(&cli->out, path);
        if (f->line) hone_str_printf(&cli->out, ":%" PRIu32 ":%" PRIu32, f->line, f->column);
        hone_str_printf(&cli->out, ": %s: %s\n", f->is_warning ? "warning" : "error", f->text);
        hone_cli_quote(source, f->line, f->column, &cli->out);
    }
    if (!findings->error_count && !cli->quiet) {
        hone_str_printf(&cli->out, "%s: well formed\n", path);
    }
}

static hone_status put_json(hone_cli *cli, const hone_findings *findings) {
    hone_json *json = hone_json_make_object(), *list = hone_json_make_array();
    bool ok = true;
    for (uint32_t i = 0; i < findings->count; i++) {
        const hone_finding *f = &findings->items[i];
        hone_json *item = hone_json_make_object();
        ok &= hone_json_set_text(item, "severity", f->is_warning ? "warning" : "error");
        ok &= hone_json_set_i64(item, "line", f->line);
        ok &= hone_json_set_i64(item, "column", f->column);
        ok &= hone_json_set_text(item, "text", f->text);
        ok &= hone_json_append(list, item);
    }
    ok &= hone_json_set_bool(json, "well_formed", findings->error_count == 0);
    ok &= hone_json_set(json, "findings", list);
    if (!ok) {
        hone_json_destroy(json);
        json = NULL;
    }
    return hone_cli_put_json(cli, json);
}

/* The message of text that does not parse, "FILE:LINE:COLUMN: text" over the line and a caret, as a
 * finding; one without a place (a damaged model) stays as it is. */
static hone_status find_place(hone_cli *cli, const char *message, hone_finding *finding) {
    const char *path = strcmp(cli->args[0], "-") == 0 ? "<stdin>" : cli->args[0];
    size_t length = strlen(path);
    uint32_t line, column;
    int begin = 0;
    if (strncmp(message, path, length) != 0 ||
        sscanf(message + length, ":%" SCNu32 ":%" SCNu32 ": %n", &line, &column, &begin) != 2 ||
        !begin) {
        return HONE_OK;
    }
    message += length + (size_t)begin;
    char *text = hone_arena_strndup(cli->arena, message, strcspn(message, "\n"));
    if (!text) return HONE_ERROR(HONE_CODE_NO_MEMORY, "verify");
    finding->text = text;
    finding->line = line;
    finding->column = column;
    return HONE_OK;
}

/* Text that does not parse is ill-formed as well: the answer is no, the message says where. */
static hone_status answer_no(hone_cli *cli, hone_status st) {
    hone_code code = hone_status_code(st);
    if (code != HONE_CODE_INVALID && code != HONE_CODE_TYPE) return st;
    hone_findings findings = {.arena = cli->arena, .count = 1, .error_count = 1};
    hone_finding finding = {.node = HONE_NO_ID, .text = hone_status_message(st)};
    findings.items = &finding;
    hone_status put = HONE_OK;
    if (cli->json) {
        put = find_place(cli, hone_status_message(st), &finding);
        if (!put) put = put_json(cli, &findings);
    } else {
        hone_str_printf(&cli->out, "%s\n", finding.text);
    }
    hone_status_free(st);
    cli->exit_code = HONE_EXIT_NO;
    return put;
}

/* target_text NULL: no target is asked about. */
static hone_status verify(hone_cli *cli, const char *target_text) {
    const char *path = cli->args[0];
    hone_module *module = NULL;
    char *source = NULL;
    size_t count = 0;
    hone_findings findings = {.arena = cli->arena};
    hone_target target;
    hone_status st = HONE_OK;
    if (target_text) HONE_TRY(hone_cli_read_target(target_text, 0, &target));
    if (hone_fs_is_dir(path)) return HONE_ERROR(HONE_CODE_INVALID, "%s: is a directory", path);
    if (strcmp(path, "-") == 0) {
        /* Standard input can be read once only, and its lines are quoted. */
        HONE_TRY(hone_fs_read(path, (size_t)1 << 30, &source, &count));
        st = hone_script_parse_outline(source, count, "<stdin>", &module);
    } else {
        st = hone_cli_load_outline(path, &module);
        if (!st && strcmp(hone_path_extension(path), ".py") == 0) {
            HONE_TRY_GOTO(st, hone_fs_read(path, (size_t)1 << 30, &source, &count), done);
        }
    }
    if (st) {
        st = answer_no(cli, st);
        goto done;
    }
    hone_cli_warn_of_file(&cli->log, path, module);
    HONE_TRY_GOTO(st, hone_verify_module(module, &findings), done);
    HONE_TRY_GOTO(st, hone_verify_operators(module, &findings), done);
    HONE_TRY_GOTO(st, hone_verify_trial(module, &findings), done);
    if (target_text) hone_verify_target(module, &target, &findings);
    if (findings.error_count) cli->exit_code = HONE_EXIT_NO;
    if (cli->json) {
        st = put_json(cli, &findings);
    } else {
        put_text(cli, source, &findings);
    }
done:
    hone_free(source);
    hone_module_release(module);
    return st;
}

int hone_verb_verify(int argc, char **argv) {
    const char *target = NULL;
    const hone_cli_option options[] = {
        HONE_CLI_OPTION(
            "target", 0, "TARGET", TEXT, &target,
            "also whether it fits there: the threads and shared memory of a GPU, no loops over "
            "threads for a CPU"),
        {0},
    };
    const hone_cli_command command = {
        .name = "verify",
        .usage = "FILE [--target TARGET]",
        .summary =
            "Says whether a program is well formed, or every reason why not, with its place. "
            "Exit code 1: it is not.",
        .example = "hone verify tests/programs/matmul_relu_bad_axis.py",
        .options = options,
        .min_args = 1,
        .max_args = 1,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, verify(&cli, target));
}
