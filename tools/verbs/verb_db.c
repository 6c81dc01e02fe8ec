/* tools/verbs/verb_db.c - `hone db`: finds the sub-verb. */
#include "support/core/attributes.h"
#include "tools/cli/cli_subverbs.h"
#include "tools/db/db_verbs.h"
#include "tools/verbs/verbs.h"

static const hone_cli_subverb sub_verbs[] = {
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
    {"recover",  hone_db_verb_recover,  "save what can be read of a damaged file"           },
    {"merge",    hone_db_verb_merge,    "copy what others know into a database"             },
    {"prune",    hone_db_verb_prune,    "remove all but the best records"                   },
    {"export",   hone_db_verb_export,   "all of it as lines of JSON"                        },
    {"import",   hone_db_verb_import,   "take what `export` wrote"                          },
};

int hone_verb_db(int argc, char **argv) {
    static const hone_cli_subverbs verbs = {
        .verb = "db",
        .usage = "SUBVERB DB [--options]",
        .summary = "Looks into a database of tuning records.",
        .example = "hone db top /tmp/tuned.db -k 3",
        .items = sub_verbs,
        .count = HONE_COUNT(sub_verbs),
    };
    return hone_cli_run_subverb(&verbs, argc, argv);
}
