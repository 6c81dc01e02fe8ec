/* tools/farm/farm_verbs.h - the sub-verbs of `hone farm`; argv[0] is the sub-verb's name. */
#ifndef HONE_TOOLS_FARM_FARM_VERBS_H
#define HONE_TOOLS_FARM_FARM_VERBS_H

#define HONE_FARM_VERB_TIMEOUT_NS (10 * HONE_NS_PER_S) /* for a tracker to answer */

int hone_farm_verb_status(int argc, char **argv);
int hone_farm_verb_drain(int argc, char **argv);
int hone_farm_verb_kick(int argc, char **argv);
int hone_farm_verb_allow(int argc, char **argv);
int hone_farm_verb_revoke(int argc, char **argv);
int hone_farm_verb_keys(int argc, char **argv);

#endif
