/* tools/report/report.h - the page about databases: one self-contained HTML file, and its data.
 *
 * The page (page/, embedded by the build) is the same for a file that `hone report` writes, which
 * has the data inside, and for `hone serve`, which asks for them. It loads nothing from anywhere;
 * text of a database is data to it, never markup.
 */
#ifndef HONE_TOOLS_REPORT_REPORT_H
#define HONE_TOOLS_REPORT_REPORT_H

#include "database/database.h"
#include "support/core/strbuf.h"

typedef struct hone_report_source {
    hone_db *db;
    const char *title; /* usually the name of the file */
} hone_report_source;

/* How large the data of a page that stands alone become at most, about. */
enum { HONE_REPORT_PAGE_BYTES = 4500000 };

/* Appends the data of a page as one line of JSON. bytes: records in full fill them up; 0 = none,
 * the page asks for each. The same databases give the same text. */
HONE_NODISCARD hone_status hone_report_data(const hone_report_source *sources, size_t count,
                                            size_t bytes, hone_str *out);

/* Appends the page with these data inside; NULL: with none, it asks its server for them. */
HONE_NODISCARD hone_status hone_report_page(const char *title, const char *data, hone_str *out);

/* The page with the data of these databases (1 or more) inside, at most some 5 MB of it. */
HONE_NODISCARD hone_status hone_report_print(const hone_report_source *sources, size_t count,
                                             hone_str *out);
/* hone_report_print of one into a file. */
HONE_NODISCARD hone_status hone_report_write(hone_db *db, const char *db_path, const char *path);

#endif
