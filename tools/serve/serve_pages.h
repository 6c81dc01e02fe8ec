/* tools/serve/serve_pages.h - the pages of `hone serve`.
 *
 *   /                              the page of tools/report, which asks for the others
 *   /data.json?tag=T               {"tag", "farm", and, unless T is the tag, the data of the page}
 *   /record.json?db=0&record=12    one record as `hone db show --json` prints it
 *
 * Databases are only read, each question in a transaction of its own: a tune that writes to one
 * waits for nobody.
 */
#ifndef HONE_TOOLS_SERVE_SERVE_PAGES_H
#define HONE_TOOLS_SERVE_SERVE_PAGES_H

#include "http/http.h"
#include "tools/report/report.h"
#include "tools/serve/serve_door.h"
#include "tools/serve/serve_farm.h"
#include "tools/serve/serve_maker.h"

typedef struct hone_serve_pages {
    const hone_report_source *sources;
    size_t count;
    hone_serve_farm *farm; /* NULL: none */
    hone_serve_door door;
    hone_serve_maker *maker; /* of the data */
} hone_serve_pages;

/* A hone_http_handler; ctx: hone_serve_pages. */
void hone_serve_answer(void *ctx, const hone_http_request *request, hone_http_answer *answer);

#endif
