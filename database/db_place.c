/* database/db_place.c - see db_place.h. */
#include "database/db_place.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "support/os/fs.h"

/* Of the absolute path, with the ending of a journal (MAX_PATHNAME of SQLite's os_unix.c). */
enum { LONGEST_PATH = 512, ENDING = sizeof "-journal" - 1 };

hone_status hone_db_check_place(const char *path) {
    char here[PATH_MAX];
    if (!hone_fs_exists(path)) HONE_TRY(hone_fs_check_place(path, ENDING));
    size_t bytes = strlen(path);
    if (*path != '/' && getcwd(here, sizeof here)) bytes += strlen(here) + 1;
    if (bytes + ENDING <= LONGEST_PATH) return HONE_OK;
    return HONE_ERROR(HONE_CODE_INVALID,
                      "the path '%.32s...' has %zu bytes from the root on, that of a database must "
                      "have %d at most",
                      path, bytes, LONGEST_PATH - ENDING);
}
