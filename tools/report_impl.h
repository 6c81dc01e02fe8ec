/* tools/report_impl.h - between the files of the report only. */
#ifndef HONE_TOOLS_REPORT_IMPL_H
#define HONE_TOOLS_REPORT_IMPL_H

#include "database/database.h"
#include "support/strbuf.h"

/* Appends text with &, <, >, " and ' written as entities; other control characters become U+FFFD.
 */
void hone_html_text(const char *text, hone_str *out);

/* Appends an <svg> of one task: each good trial as a dot, the best so far as a line, logarithmic
 * time over trial number. trials: in the order of proposals. */
void hone_report_curve(const hone_db_trial *trials, size_t count, hone_str *out);

/* Appends an <svg> of bars, one row per name: the share of each value. */
typedef struct hone_report_bar {
    const char *name;
    double seconds;
} hone_report_bar;
void hone_report_bars(const hone_report_bar *bars, size_t count, hone_str *out);

#endif
