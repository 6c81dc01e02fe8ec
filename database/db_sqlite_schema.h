/* database/db_sqlite_schema.h - tables, views and migrations of a database file.
 *
 * The application_id in the file's header says that a file is ours, user_version which migrations
 * it has been through. Migrations are append-only: a released one is never changed.
 */
#ifndef HONE_DATABASE_DB_SQLITE_SCHEMA_H
#define HONE_DATABASE_DB_SQLITE_SCHEMA_H

#include <stddef.h>

#define HONE_DB_APPLICATION_ID 0x486f6e65 /* "Hone" */

/* The user_version that this build writes. */
int hone_db_schema_latest(void);

/* The statements that take a file from user_version `from` to from + 1, NULL at the end. */
const char *const *hone_db_schema_migration(int from);

#endif
