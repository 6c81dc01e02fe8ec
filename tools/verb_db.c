/* tools/verb_db.c - `hone db`: finds the sub-verb. */
#include <stdio.h>
#include <string.h>

#include "support/attributes.h"
#include "tools/cli.h"
#include "tools/db_verbs.h"
#include "tools/verbs.h"

typedef struct sub_verb {
    const char *name; /* first: hone_cli_suggest looks at it */
    int (*run)(int argc, char **argv);
    const char *summary;
} sub_verb;

static const sub_verb sub_verbs[] = {
    {"top",      hone_db_verb_top,      "the best records of each task"                     },
    {"tasks",    hone_db_verb_tasks,    "what is known of each task and target"             },
    {"targets",  hone_db_verb_targets,  "the targets that were tuned for"                   },
    {"sessions", hone_db_verb_sessions, "when and how `hone tune` ran"                      },
    {"failures", hone_db_verb_failures, "why candidates failed, by class"                   },
    {"stats",    hone_db_verb_stats,    "how much there is, and where the time went"        },
    {"show",     hone_db_verb_show,     "all about one record"                              },
    {"explain",  hone_db_verb_explain,  "which record each kernel of a model would get"     },
    {"sql",      hone_db_verb_sql,      "a reading query over the views of docs/database.md"},
    {"check",    hone_db_verb_check,    "look through the whole file"                       },
    {"merge",    hone_db_verb_merge,    "copy what others know into a database"             },
    {"export",   hone_db_verb_export,   "all of it as lines of JSON"                        },
    {"import",   hone_db_verb_import,   "take what `export` wrote"                          },
};

static void print_help(FILE *to) {
    fputs("Usage: hone db SUBVERB DB [--options]\n"
          "Looks into a database of tuning records.\n\n",
          to);
    for (size_t i = 0; i < HONE_COUNT(sub_verbs); i++) {
        fprintf(to, "  %-10s %s\n", sub_verbs[i].name, sub_verbs[i].summary);
    }
    fputs("\nhone db SUBVERB --help says more.\n\n"
          "Example: hone db top /tmp/tuned.db -k 3\n",
          to);
}

int hone_verb_db(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return HONE_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return fflush(stdout) == 0 ? HONE_EXIT_DONE : HONE_EXIT_WORLD;
    }
    for (size_t i = 0; i < HONE_COUNT(sub_verbs); i++) {
        if (strcmp(sub_verbs[i].name, argv[1]) == 0) return sub_verbs[i].run(argc - 1, argv + 1);
    }
    const char *meant =
        hone_cli_suggest(argv[1], sub_verbs, HONE_COUNT(sub_verbs), sizeof sub_verbs[0]);
    fprintf(stderr, "hone: there is no verb 'db %s'", argv[1]);
    if (meant) fprintf(stderr, "; did you mean 'db %s'?\n", meant);
    if (!meant) fputs("; see hone db --help\n", stderr);
    return HONE_EXIT_USAGE;
}
