/* tools/report/report_impl.h - between the files of the report only. */
#ifndef HONE_TOOLS_REPORT_REPORT_IMPL_H
#define HONE_TOOLS_REPORT_REPORT_IMPL_H

#include "database/database.h"
#include "support/core/strbuf.h"
#include "support/data/vec.h"

/* Appends text with &, <, >, " and ' written as entities; other control characters become U+FFFD.
 */
void hone_html_text(const char *text, hone_str *out);

/* The trials of a task as a chart shows them, however many there are: some thousand dots, spread
 * evenly, and every step of the best so far. */
typedef struct hone_report_point {
    size_t trial; /* how many came before it */
    double median_ns;
} hone_report_point;

typedef struct hone_report_points {
    HONE_VEC(hone_report_point) dots;
    HONE_VEC(hone_report_point) steps;
    size_t count, stride;
    double low, high, best;
    bool failed; /* out of memory */
} hone_report_points;

void hone_report_points_init(hone_report_points *points);
void hone_report_points_deinit(hone_report_points *points);
void hone_report_add(hone_report_points *points, double median_ns); /* NAN: it failed */

/* Appends an <svg> of one task: each good trial as a dot, the best so far as a line, logarithmic
 * time over trial number. */
void hone_report_curve(const hone_report_points *points, hone_str *out);

/* Appends an <svg> of bars, one row per name: the share of each value. */
typedef struct hone_report_bar {
    const char *name;
    double seconds;
} hone_report_bar;
void hone_report_bars(const hone_report_bar *bars, size_t count, hone_str *out);

#endif
