/* tools/db/db_verbs.h - the sub-verbs of `hone db`; argv[0] is the sub-verb's name. */
#ifndef HONE_TOOLS_DB_DB_VERBS_H
#define HONE_TOOLS_DB_DB_VERBS_H

int hone_db_verb_top(int argc, char **argv);
int hone_db_verb_tasks(int argc, char **argv);
int hone_db_verb_targets(int argc, char **argv);
int hone_db_verb_sessions(int argc, char **argv);
int hone_db_verb_failures(int argc, char **argv);
int hone_db_verb_stats(int argc, char **argv);
int hone_db_verb_show(int argc, char **argv);
int hone_db_verb_explain(int argc, char **argv);
int hone_db_verb_sql(int argc, char **argv);
int hone_db_verb_check(int argc, char **argv);
int hone_db_verb_recover(int argc, char **argv);
int hone_db_verb_merge(int argc, char **argv);
int hone_db_verb_prune(int argc, char **argv);
int hone_db_verb_export(int argc, char **argv);
int hone_db_verb_import(int argc, char **argv);

#endif
