/* tools/programs/hone.c - `hone`: finds the verb and lets it do the work.
 *
 * One binary, one file per verb (tools/verbs/verb_NAME.c), one row per verb
 * (tools/verbs/verbs.def). It does not load LLVM: what needs it runs in hone-worker.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "support/os/lost_page.h"
#include "support/text/utf8.h"
#include "tools/cli/cli.h"
#include "tools/verbs/verbs.h"

typedef struct verb {
    const char *name; /* first: hone_name_suggest looks at it */
    const char *group, *summary;
    int (*run)(int argc, char **argv);
} verb;

static const verb verbs[] = {
#define HONE_VERB(name, group, summary) {#name, group, summary, hone_verb_##name},
#include "tools/verbs/verbs.def"
#undef HONE_VERB
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static void print_help(FILE *to) {
    fputs("Usage: hone VERB [FILES] [--options]\n"
          "Finds the fastest schedules for tensor programs and makes libraries of them.\n",
          to);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (i == 0 || strcmp(verbs[i].group, verbs[i - 1].group) != 0) {
            fprintf(to, "\n%s\n", verbs[i].group);
        }
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    }
    fputs("\nhone VERB --help says more, with an example.\n", to);
}

static int unknown_verb(const char *name) {
    const char *meant = hone_name_suggest(name, verbs, VERB_COUNT, sizeof verbs[0]);
    fputs("hone: there is no verb '", stderr);
    hone_utf8_put_shown(stderr, name, false);
    if (meant) fprintf(stderr, "'; did you mean '%s'?\n", meant);
    if (!meant) fputs("'; see hone --help\n", stderr);
    return HONE_EXIT_USAGE;
}

static int run_verb(const char *name, int argc, char **argv) {
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(verbs[i].name, name) == 0) return verbs[i].run(argc, argv);
    }
    return unknown_verb(name);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* writing fails instead, and says what failed */
    hone_lost_page_explain("hone", HONE_EXIT_WORLD);
    if (argc < 2) {
        print_help(stderr);
        return HONE_EXIT_USAGE;
    }
    char help_option[] = "--help";
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        if (argc > 2) {
            char *help_argv[] = {argv[2], help_option, NULL};
            return run_verb(argv[2], 2, help_argv);
        }
        print_help(stdout);
        if (fflush(stdout) == 0) return HONE_EXIT_DONE;
        perror("hone: standard output: cannot write");
        return HONE_EXIT_WORLD;
    }
    if (strcmp(argv[1], "--version") == 0) return run_verb("version", argc - 1, argv + 1);
    if (argv[1][0] == '-') {
        fputs("hone: the verb comes first, not '", stderr);
        hone_utf8_put_shown(stderr, argv[1], false);
        fputs("'; see hone --help\n", stderr);
        return HONE_EXIT_USAGE;
    }
    return run_verb(argv[1], argc - 1, argv + 1);
}
