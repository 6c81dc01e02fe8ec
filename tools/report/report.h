/* tools/report/report.h - one self-contained HTML page about a database. */
#ifndef HONE_TOOLS_REPORT_REPORT_H
#define HONE_TOOLS_REPORT_REPORT_H

#include "database/database.h"
#include "support/core/strbuf.h"

/* Appends the page: curves as inline SVG, tasks, failures, where the time went, best traces,
 * sessions. It loads nothing from anywhere, and all text of the database is escaped. title: shown,
 * usually the name of the file. */
HONE_NODISCARD hone_status hone_report_print(hone_db *db, const char *title, hone_str *out);
/* hone_report_print into a file. */
HONE_NODISCARD hone_status hone_report_write(hone_db *db, const char *db_path, const char *path);

#endif
