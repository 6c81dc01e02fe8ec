/* database/db_place.h - can SQLite open a file by this path? Its own words for why not are few. */
#ifndef HONE_DATABASE_DB_PLACE_H
#define HONE_DATABASE_DB_PLACE_H

#include "support/core/status.h"

/* INVALID: the path is longer than SQLite's limit; where the file would be made: its name with the
 * ending of a journal is too long (INVALID), the directory is not there or closed (IO). */
HONE_NODISCARD hone_status hone_db_check_place(const char *path);

#endif
