/* tools/hone_runner.c - `hone-runner`: runs candidates on this machine for others.
 *
 * Small on purpose, so that it fits on a board: no program representation, no code generator, no
 * database is linked.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/executor.h"
#include "support/status.h"

enum exit_code { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_WORLD = 3, EXIT_BUG = 4 };

static const char help[] =
    "Usage: hone-runner --executor [--memory BYTES] [--quiet FILE] [--unsandboxed]\n"
    "Runs built kernels on this machine and reports how long they took.\n"
    "\n"
    "  --executor        serve one local runner over descriptor 3; `hone tune` starts it so\n"
    "  --memory BYTES    limit of the address space, 0 = none\n"
    "  --quiet FILE      lock file of the quiet gate, taken alone while timing\n"
    "  --unsandboxed     let kernels start processes, open sockets, write files\n"
    "      --help        this text\n"
    "      --version     the version\n"
    "\n"
    "Example: hone-runner --version\n";

static int usage(const char *message, const char *what) {
    fprintf(stderr, "hone-runner: %s%s%s%s; see hone-runner --help\n", message, what ? " '" : "",
            what ? what : "", what ? "'" : "");
    return EXIT_USAGE;
}

static bool read_bytes(const char *text, int64_t *out_bytes) {
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    *out_bytes = value;
    return *text && !*end && value >= 0;
}

static int report(hone_status st) {
    if (!st) return EXIT_DONE;
    hone_code code = hone_status_code(st);
    fprintf(stderr, "hone-runner: %s\n", hone_status_message(st));
    hone_status_free(st);
    if (code == HONE_CODE_INTERNAL) return EXIT_BUG;
    return code == HONE_CODE_INVALID ? EXIT_USAGE : EXIT_WORLD;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"executor",    no_argument,       NULL, 'e'},
        {"memory",      required_argument, NULL, 'm'},
        {"quiet",       required_argument, NULL, 'q'},
        {"unsandboxed", no_argument,       NULL, 'u'},
        {"help",        no_argument,       NULL, 'h'},
        {"version",     no_argument,       NULL, 'v'},
        {NULL,          0,                 NULL, 0  },
    };
    hone_executor_options executor = {.fd = HONE_EXECUTOR_FD};
    bool serve = false;
    opterr = 0;
    for (int choice; (choice = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (choice) {
        case 'e':
            serve = true;
            break;
        case 'm':
            if (!read_bytes(optarg, &executor.memory_bytes)) {
                return usage("--memory wants a number of bytes, not", optarg);
            }
            break;
        case 'q':
            executor.quiet_path = optarg;
            break;
        case 'u':
            executor.unsandboxed = true;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        case 'v':
            puts("hone-runner " HONE_RUNNER_VERSION);
            return EXIT_DONE;
        default:
            return usage("unknown option or missing value:", argv[optind - 1]);
        }
    }
    if (optind < argc) return usage("unexpected argument", argv[optind]);
    if (!serve) return usage("nothing to do: --executor is missing", NULL);
    return report(hone_executor_serve(&executor));
}
