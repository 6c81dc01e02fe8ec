/* tools/cli/cli.c - begin and end of every verb: help, usage errors, output, exit codes. */
#include "tools/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "support/os/terminal.h"
#include "support/text/utf8.h"
#include "tools/cli/cli_impl.h"
#include "tools/cli/cli_table.h"

/* ---- help ---- */

static void print_option(hone_str *out, const hone_cli_option *option) {
    char left[64];
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter ? "-" : " ",
             option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
             option->value ? " " : "", option->value ? option->value : "");
    hone_str_printf(out, "  %-28s  %s\n", left, option->help);
}

static void print_help(const hone_cli_command *command, const hone_cli_option *options,
                       hone_str *out) {
    hone_str_printf(out, "Usage: hone %s %s\n%s\n\n", command->name, command->usage,
                    command->summary);
    for (; options->name; options++)
        print_option(out, options);
    if (command->notes) hone_str_printf(out, "\n%s\n", command->notes);
    hone_str_printf(out, "\nExample: %s\n", command->example);
}

/* ---- errors ---- */

int hone_cli_exit_code(hone_code code) {
    switch (code) {
    case HONE_CODE_OK:
        return HONE_EXIT_DONE;
    case HONE_CODE_INVALID:
    case HONE_CODE_TYPE:
    case HONE_CODE_NOT_FOUND:
    case HONE_CODE_UNSUPPORTED:
    case HONE_CODE_ILLEGAL:
    case HONE_CODE_VERSION:
        return HONE_EXIT_USAGE;
    case HONE_CODE_IO:
    case HONE_CODE_UNAVAILABLE:
    case HONE_CODE_TIMEOUT:
    case HONE_CODE_NO_MEMORY:
    case HONE_CODE_EXTERNAL:
        return HONE_EXIT_WORLD;
    case HONE_CODE_CANCELLED:
        return HONE_EXIT_STOPPED;
    case HONE_CODE_INTERNAL:
    case HONE_CODE_COUNT:
        break;
    }
    return HONE_EXIT_BUG;
}

/* True when stderr is a terminal that takes colours (NO_COLOR, TERM=dumb). */
static bool has_color(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

/* What fails often says so in words of others: names in files, output of compilers. */
static void put_error(const char *text) {
    hone_utf8_put_shown(stderr, text, true);
}

/* Prints "hone: …" for a failure, which stays the caller's. */
static void print_error(hone_status st, int verbosity) {
    bool is_bug = hone_status_code(st) == HONE_CODE_INTERNAL;
    const char *head = has_color() ? "\033[1;31mhone:\033[0m" : "hone:";
    if (is_bug || verbosity >= 2) {
        hone_str text = {0};
        hone_status_print(st, &text);
        fprintf(stderr, "%s ", head);
        put_error(hone_str_text(&text));
        hone_str_deinit(&text);
    } else {
        /* What there was no room for is all that such a message says. */
        static const char lacking[] = "out of memory";
        const char *message = hone_status_message(st);
        bool tells = hone_status_code(st) != HONE_CODE_NO_MEMORY || strstr(message, lacking);
        fprintf(stderr, "%s %s%s", head, tells ? "" : lacking, tells ? "" : ": ");
        put_error(message);
        fputc('\n', stderr);
    }
    if (is_bug) {
        fputs("hone: this is a bug in Hone: please report it with the lines above, the command and "
              "its input\n",
              stderr);
    }
}

/* ---- begin and end ---- */

enum { COMMON_OPTIONS = 6 };

static hone_cli_option *all_options(hone_cli *cli, bool *help, const char **config) {
    const hone_cli_option *own = cli->command->options;
    size_t count = 0;
    while (own && own[count].name)
        count++;
    hone_cli_option *all = hone_arena_zalloc(cli->arena, (count + COMMON_OPTIONS) * sizeof *all);
    if (!all) return NULL;
    if (count) memcpy(all, own, count * sizeof *all);
    const hone_cli_option common[] = {
        HONE_CLI_OPTION("json", 0, NULL, SWITCH, &cli->json, "JSON to stdout"),
        HONE_CLI_OPTION("config", 0, "FILE", TEXT, config,
                        "options from FILE instead of the hone.conf beside the first argument"),
        HONE_CLI_OPTION("quiet", 'q', NULL, SWITCH, &cli->quiet, "only results and errors"),
        HONE_CLI_OPTION("verbose", 'v', NULL, COUNT, &cli->verbosity,
                        "say more; twice: debugging output"),
        HONE_CLI_OPTION("help", 'h', NULL, SWITCH, help, "this text"),
    };
    for (size_t i = cli->command->reports ? 0 : 1; i < HONE_COUNT(common); i++) {
        all[count++] = common[i];
    }
    return all;
}

static hone_status check_args(const hone_cli *cli) {
    const hone_cli_command *command = cli->command;
    if (cli->arg_count < command->min_args) {
        return HONE_ERROR(HONE_CODE_INVALID, "too few arguments; usage: hone %s %s", command->name,
                          command->usage);
    }
    if (command->max_args >= 0 && cli->arg_count > command->max_args) {
        return HONE_ERROR(HONE_CODE_INVALID, "unexpected argument '%s'; usage: hone %s %s",
                          cli->args[command->max_args], command->name, command->usage);
    }
    return HONE_OK;
}

static void open_log(hone_cli *cli) {
    static const hone_log_level levels[] = {HONE_LOG_WARNING, HONE_LOG_INFO, HONE_LOG_DEBUG,
                                            HONE_LOG_TRACE};
    int verbosity = cli->verbosity > 3 ? 3 : cli->verbosity;
    cli->printer = (hone_log_printer){.out = stderr, .program = "hone"};
    cli->log = hone_log_to_printer(&cli->printer, cli->quiet ? HONE_LOG_ERROR : levels[verbosity]);
}

bool hone_cli_begin(hone_cli *cli, const hone_cli_command *command, int argc, char **argv,
                    int *out_exit) {
    *cli = (hone_cli){.command = command, .arena = hone_arena_create(4096)};
    bool help = false;
    const char *config = NULL;
    hone_cli_option *options = cli->arena ? all_options(cli, &help, &config) : NULL;
    hone_status st = options ? hone_cli_read_options(cli, options, argc, argv, &config, &help)
                             : HONE_ERROR(HONE_CODE_NO_MEMORY, "out of memory");
    if (help) print_help(command, options, &cli->out);
    if (!st && !help) st = check_args(cli);
    if (!st && !help) {
        open_log(cli);
        return true;
    }
    *out_exit = hone_cli_end(cli, st);
    return false;
}

hone_status hone_cli_flush(hone_cli *cli) {
    hone_str shown = {0};
    hone_status st = hone_str_check(&cli->out);
    hone_utf8_append_shown(&shown, hone_str_text(&cli->out), cli->out.length, true);
    if (!st) st = hone_str_check(&shown);
    if (!st && shown.length) {
        st = hone_status_annotate(hone_fd_write_full(STDOUT_FILENO, shown.data, shown.length),
                                  "standard output");
    }
    hone_str_clear(&cli->out);
    hone_str_deinit(&shown);
    return st;
}

int hone_cli_end(hone_cli *cli, hone_status st) {
    if (cli->arena) st = hone_status_join(st, hone_cli_flush(cli));
    int code = st ? hone_cli_exit_code(hone_status_code(st)) : cli->exit_code;
    if (st) print_error(st, cli->verbosity);
    hone_status_free(st);
    hone_str_deinit(&cli->out);
    hone_arena_destroy(cli->arena);
    cli->arena = NULL;
    return code;
}

/* ---- output ---- */

hone_status hone_cli_put_json(hone_cli *cli, hone_json *json) {
    if (!json) return HONE_ERROR(HONE_CODE_NO_MEMORY, "out of memory");
    hone_json_print(json, &(hone_json_style){.indent = 2}, &cli->out);
    hone_str_append_char(&cli->out, '\n');
    hone_json_destroy(json);
    return HONE_OK;
}

void hone_cli_put_table(hone_cli *cli, const hone_table *table) {
    hone_table_print(table, (size_t)hone_terminal_columns(STDOUT_FILENO), &cli->out);
}

hone_status hone_cli_put_result(hone_cli *cli, const char *path, const hone_str *text) {
    HONE_TRY(hone_str_check(text));
    if (path && strcmp(path, "-") != 0) {
        return hone_fs_write_atomic(path, text->data, text->length);
    }
    hone_str_append_n(&cli->out, hone_str_text(text), text->length);
    return HONE_OK;
}
