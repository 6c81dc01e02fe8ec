/* tools/verbs/verb_farm.c - `hone farm`: finds the sub-verb. */
#include "support/core/attributes.h"
#include "tools/cli/cli_subverbs.h"
#include "tools/farm/farm_verbs.h"
#include "tools/verbs/verbs.h"

static const hone_cli_subverb sub_verbs[] = {
    {"status", hone_farm_verb_status, "devices, tuners, what waits and what runs"},
    {"drain",  hone_farm_verb_drain,  "give a device nothing new"                },
    {"kick",   hone_farm_verb_kick,   "cut a runner off"                         },
    {"allow",  hone_farm_verb_allow,  "let a key in"                             },
    {"revoke", hone_farm_verb_revoke, "let a key in no longer"                   },
    {"keys",   hone_farm_verb_keys,   "the keys that may come in"                },
};

int hone_verb_farm(int argc, char **argv) {
    static const hone_cli_subverbs verbs = {
        .verb = "farm",
        .usage = "SUBVERB [--options]",
        .summary = "Looks at a farm through its tracker, and changes it.",
        .example = "hone farm status --tracker tcp://127.0.0.1:9190 --insecure",
        .items = sub_verbs,
        .count = HONE_COUNT(sub_verbs),
    };
    return hone_cli_run_subverb(&verbs, argc, argv);
}
