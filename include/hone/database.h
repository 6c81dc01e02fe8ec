/* hone/database.h - tuning databases as files: merged, exported, imported, thinned out. Reading
 * them: hone/records.h; filling them: hone/tune.h.
 *
 * A file may be used by several processes at once; each call opens it and closes it again.
 */
#ifndef HONE_DATABASE_H
#define HONE_DATABASE_H

#include <stdint.h>

#include <hone/error.h>

HONE_BEGIN_DECLS

typedef struct hone_database_news {
    int64_t sessions, trials; /* that were new */
    int64_t known;            /* trials that were there already */
    int64_t changed;          /* rows that were there, and took news */
} hone_database_news;

/* Takes into a database, which is made when it is not there, all that another one holds; how often
 * and in which order changes nothing but record numbers. out_news may be NULL. Errors: not_found,
 * invalid (no database of this sort, damaged), version, io, timeout (another process holds it). */
HONE_API hone_error *hone_database_merge(const char *into, const char *from,
                                         hone_database_news *out_news);

/* All of a database as lines of JSON, in a file that is replaced as a whole; and such lines into a
 * database, which is made when it is not there. Errors: those of hone_database_merge; of a line:
 * with its number. */
HONE_API hone_error *hone_database_export(const char *database, const char *path);
HONE_API hone_error *hone_database_import(const char *into, const char *path,
                                          hone_database_news *out_news);

/* Removes the trials that are neither among the `keep` fastest of their task, at least 1, nor
 * confirmed, nor of its default schedule. out_removed may be NULL. Errors: those of
 * hone_database_merge; invalid: keep. */
HONE_API hone_error *hone_database_prune(const char *database, int64_t keep, int64_t *out_removed);

HONE_END_DECLS

#endif
