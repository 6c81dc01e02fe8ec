/* tools/cli/cli.h - what all verbs of `hone` share: options, help, errors, exit codes, output.
 *
 * A verb is one file, tools/verbs/verb_NAME.c, with one function and a table of options:
 *
 *     hone_cli_begin ──► the verb's work, output into cli.out ──► hone_cli_end ──► exit code
 *
 * Results are collected in cli.out and written to stdout at the end, so that a full disk or a
 * closed pipe is noticed (exit 3). Progress, log and errors go to stderr.
 * Layer: tools/ only. The one place that knows the process: stdout, environment, signals.
 */
#ifndef HONE_TOOLS_CLI_CLI_H
#define HONE_TOOLS_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/arena.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"
#include "support/os/log.h"
#include "support/text/json.h"
#include "support/text/nearest.h"

enum hone_exit {
    HONE_EXIT_DONE = 0,
    HONE_EXIT_NO = 1,    /* the answer is no */
    HONE_EXIT_USAGE = 2, /* bad usage or bad input */
    HONE_EXIT_WORLD = 3, /* disk, network, device, memory */
    HONE_EXIT_BUG = 4,
    HONE_EXIT_STOPPED = 130,
};

/* ---- options ---- */

typedef struct hone_cli_list {
    const char **items; /* in the arena of the cli */
    size_t count;
} hone_cli_list;

typedef enum hone_cli_kind {
    HONE_CLI_SWITCH, /* bool *: takes no value (in hone.conf: yes or no) */
    HONE_CLI_TEXT,   /* const char **; never empty */
    HONE_CLI_OUTPUT, /* const char **: the path of a file to write, or "-" */
    HONE_CLI_NUMBER, /* int64_t *: from min to max */
    HONE_CLI_REAL,   /* double * */
    HONE_CLI_TIME,   /* int64_t *, nanoseconds: "90", "90s", "10m", "1h30m" */
    HONE_CLI_LIST,   /* hone_cli_list *: may be given again */
    HONE_CLI_COUNT,  /* int *: how often it was given; takes no value */
} hone_cli_kind;

typedef struct hone_cli_option {
    const char *name;  /* "trials"; NULL ends a table */
    char letter;       /* 'o', or 0 */
    const char *value; /* how help calls the value, "N"; NULL for switches */
    hone_cli_kind kind;
    void *to; /* where it goes; keeps what is there when the option is not given */
    const char *help;
    int64_t min, max;  /* NUMBER: when they differ; TIME: 0 is refused when min is more */
    bool *was_given;   /* may be NULL */
    bool is_line_only; /* not of hone.conf, which may come along with somebody's model */
} hone_cli_option;

/* A row of a table: name, letter (or 0), value (or NULL), kind without HONE_CLI_, where it goes,
 * help; then what else it has: .min = 1, .max = 8. */
#define HONE_CLI_OPTION(name_, letter_, value_, kind_, to_, ...)                                   \
    {                                                                                              \
        .name = name_, .letter = letter_, .value = value_, .kind = HONE_CLI_##kind_, .to = to_,    \
        .help = __VA_ARGS__                                                                        \
    }

/* The option of each verb that starts what is held (sandbox/): `whom` is a text. */
#define HONE_CLI_UNSANDBOXED_OPTION(where, whom)                                                   \
    HONE_CLI_OPTION("unsandboxed", 0, NULL, SWITCH, (where),                                       \
                    "let " whom " do whatever you may do (debuggers, old kernels)",                \
                    .is_line_only = true)

typedef struct hone_cli_command {
    const char *name;    /* "hash"; also the section of hone.conf */
    const char *usage;   /* "FILE [--func NAME]": what follows the name */
    const char *summary; /* one or two sentences, what it does */
    const char *example; /* a command that works in a checkout of Hone */
    const char *notes;   /* more help behind the options; or NULL */
    const hone_cli_option *options;
    int min_args, max_args; /* of the arguments that are no options; max -1 = any number */
    bool reports;           /* understands --json */
} hone_cli_command;

typedef struct hone_cli {
    const hone_cli_command *command;
    int arg_count;
    char **args;        /* the arguments that are no options */
    const char **given; /* names of the options that stand in the command line; NULL behind them */
    bool json, quiet;
    int verbosity; /* number of -v */
    hone_str out;  /* what goes to stdout at the end */
    int exit_code; /* when nothing fails: HONE_EXIT_NO, HONE_EXIT_STOPPED; 0 at first */
    hone_arena *arena;
    hone_log log; /* to stderr, by -q and -v */
    hone_log_printer printer;
} hone_cli;

/* Reads the command line (argv[0] is the verb's name) and hone.conf. False when the verb is over
 * already (--help, wrong usage): return *out_exit then. Options may stand anywhere; "--" ends them.
 * Common to all: --help, --config, -q, -v, and --json where command->reports. */
bool hone_cli_begin(hone_cli *cli, const hone_cli_command *command, int argc, char **argv,
                    int *out_exit);

/* INVALID when one of these options (names with spaces between) stands in the command line, where
 * it would do nothing: "--db says nothing about WHAT". */
HONE_NODISCARD hone_status hone_cli_refuse(const hone_cli *cli, const char *names,
                                           const char *what);

/* INVALID when anything else than this switch, one of those that all verbs have, or an argument
 * stands in the command line: "--shape says nothing about --list". */
HONE_NODISCARD hone_status hone_cli_refuse_all(const hone_cli *cli, const char *but);

/* Writes cli->out to stdout, prints the failure if there is one (takes it), frees everything. The
 * exit code of the verb. */
int hone_cli_end(hone_cli *cli, hone_status st);

/* All of a verb, at the end of its function: begins a hone_cli under the name `cli`, ends it with
 * the status that `work`, an expression that may use it, gives, and returns the exit code. */
#define HONE_CLI_RUN(cli, command, argc, argv, work)                                               \
    do {                                                                                           \
        hone_cli cli;                                                                              \
        int hone_exit_;                                                                            \
        if (!hone_cli_begin(&cli, command, argc, argv, &hone_exit_)) return hone_exit_;            \
        return hone_cli_end(&cli, work);                                                           \
    } while (0)

/* The exit code that a status code means. */
int hone_cli_exit_code(hone_code code);

/* Appends a JSON value to cli->out, indented, and destroys it; NO_MEMORY when json is NULL. */
HONE_NODISCARD hone_status hone_cli_put_json(hone_cli *cli, hone_json *json);

/* Appends a table (cli_table.h) to cli->out, as wide as the terminal that stdout is, if it is one.
 */
struct hone_table;
void hone_cli_put_table(hone_cli *cli, const struct hone_table *table);

/* Writes a result to the path of -o, or to cli->out when it is NULL or "-". */
HONE_NODISCARD hone_status hone_cli_put_result(hone_cli *cli, const char *path,
                                               const hone_str *text);

/* Writes cli->out to stdout now and empties it (long reports, before something that may wait). */
HONE_NODISCARD hone_status hone_cli_flush(hone_cli *cli);

/* Reads hone.conf: calls back with each key of section `name` (or of none) that stands in it.
 * Part of begin; INVALID with file and line. */
typedef hone_status (*hone_cli_visit_setting)(void *ctx, bool is_of_section, const char *key,
                                              const char *value);
HONE_NODISCARD hone_status hone_cli_read_config(const char *path, const char *section,
                                                hone_cli_visit_setting visit, void *ctx);

#endif
