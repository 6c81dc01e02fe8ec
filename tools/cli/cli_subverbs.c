/* tools/cli/cli_subverbs.c - see cli_subverbs.h. */
#include "tools/cli/cli_subverbs.h"

#include <stdio.h>
#include <string.h>

#include "support/text/utf8.h"
#include "tools/cli/cli.h"

static void print_help(const hone_cli_subverbs *verbs, FILE *to) {
    fprintf(to, "Usage: hone %s %s\n%s\n\n", verbs->verb, verbs->usage, verbs->summary);
    for (size_t i = 0; i < verbs->count; i++)
        fprintf(to, "  %-10s %s\n", verbs->items[i].name, verbs->items[i].summary);
    fprintf(to, "\nhone %s SUBVERB --help says more.\n\nExample: %s\n", verbs->verb,
            verbs->example);
}

int hone_cli_run_subverb(const hone_cli_subverbs *verbs, int argc, char **argv) {
    if (argc < 2) {
        print_help(verbs, stderr);
        return HONE_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(verbs, stdout);
        return fflush(stdout) == 0 ? HONE_EXIT_DONE : HONE_EXIT_WORLD;
    }
    for (size_t i = 0; i < verbs->count; i++) {
        if (strcmp(verbs->items[i].name, argv[1]) == 0) {
            return verbs->items[i].run(argc - 1, argv + 1);
        }
    }
    const char *meant =
        hone_name_suggest(argv[1], verbs->items, verbs->count, sizeof verbs->items[0]);
    fprintf(stderr, "hone: there is no verb '%s ", verbs->verb);
    hone_utf8_put_shown(stderr, argv[1], false);
    if (meant) fprintf(stderr, "'; did you mean '%s %s'?\n", verbs->verb, meant);
    if (!meant) fprintf(stderr, "'; see hone %s --help\n", verbs->verb);
    return HONE_EXIT_USAGE;
}
