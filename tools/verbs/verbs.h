/* tools/verbs/verbs.h - the entry of every verb: argv[0] is its name; the exit code. */
#ifndef HONE_TOOLS_VERBS_VERBS_H
#define HONE_TOOLS_VERBS_VERBS_H

#define HONE_VERB(name, group, summary) int hone_verb_##name(int argc, char **argv);
#include "tools/verbs/verbs.def"
#undef HONE_VERB

#endif
