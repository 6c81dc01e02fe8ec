/* tools/cli/cli_subverbs.h - verbs that have verbs: `hone db top`, `hone farm status`. */
#ifndef HONE_TOOLS_CLI_CLI_SUBVERBS_H
#define HONE_TOOLS_CLI_CLI_SUBVERBS_H

#include <stddef.h>

typedef struct hone_cli_subverb {
    const char *name;                  /* first: hone_name_suggest looks at it */
    int (*run)(int argc, char **argv); /* argv[0] is the sub-verb's name */
    const char *summary;
} hone_cli_subverb;

typedef struct hone_cli_subverbs {
    const char *verb;    /* "db" */
    const char *usage;   /* "SUBVERB DB [--options]" */
    const char *summary; /* "Looks into …." */
    const char *example; /* "hone db top …" */
    const hone_cli_subverb *items;
    size_t count;
} hone_cli_subverbs;

/* Finds the sub-verb in argv[1] and runs it; --help lists them. The exit code. */
int hone_cli_run_subverb(const hone_cli_subverbs *verbs, int argc, char **argv);

#endif
